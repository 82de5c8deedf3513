/* Lines about pods. */
#include "cli/history.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "model/workload.h"

enum { LINE_MAX_BYTES = 16 << 10 };

static bool is_time(const json_t *v) {
    double s = json_number_value(v);
    return json_is_number(v) && isfinite(s) && s >= 0 && s < (double)INT64_MAX / 1e6;
}

/* Seconds as a habit; -1 when there are none, or so many that nothing takes as long by habit: one
 * pod that a finalizer held for days says nothing about the next. */
static int64_t seconds(const json_t *v) {
    double s = json_number_value(v);
    return is_time(v) && s <= (double)HABITS_MOST / 1e6 ? (int64_t)(s * 1e6) : -1;
}

/* -EILSEQ: it was cut off. */
static int read_line(const char *text, size_t len, struct habits *to, struct lags *lags,
                     struct history_seen *seen, struct err *err) {
    _cleanup_json_ json_t *v = len <= LINE_MAX_BYTES ? json_loadb(text, len, 0, NULL) : NULL;
    if (!v && *text == '{')
        return err_set(err, EILSEQ, "this is no line of a history: it is not whole");
    const json_t *version = json_object_get(v, "v");
    const char *workload = json_str(v, "workload");
    if (!json_is_integer(version) || str_empty(workload))
        return err_set(err, EINVAL,
                       "this is no line of a history: it needs \"v\" and \"workload\"");
    if (json_integer_value(version) > HISTORY_VERSION)
        return err_set(err, EINVAL, "a newer slipway has written it (\"v\":%lld): use that one",
                       (long long)json_integer_value(version));
    int64_t stop = seconds(json_object_get(v, "stop")), up = seconds(json_object_get(v, "up"));
    if (!is_time(json_object_get(v, "stop")) && !is_time(json_object_get(v, "up")))
        return err_set(err, EINVAL, "neither \"stop\" nor \"up\" is a number of seconds");
    if (stop >= 0)
        habits_note(to, workload, HABIT_STOP, stop);
    if (up >= 0)
        habits_note(to, workload, HABIT_UP, up);
    if (lags)
        lags_note(lags, strna(json_str(v, "drain")),
                  &(struct lags_seen){.answer = seconds(json_object_get(v, "answer")),
                                      .place = seconds(json_object_get(v, "place")),
                                      .turn = seconds(json_object_get(v, "turn")),
                                      .begin = seconds(json_object_get(v, "begin"))});
    seen->observations += (size_t)(stop >= 0) + (size_t)(up >= 0);
    seen->ups += up >= 0;
    return 0;
}

int history_read(const char *path, struct habits *to, struct lags *lags, struct history_seen *seen,
                 struct err *err) {
    _cleanup_free_ char *text = NULL;
    size_t len, line = 0, whole = 0;
    *seen = (struct history_seen){0};
    int rc = file_read(path, HISTORY_MAX, &text, &len, err);
    if (rc)
        return rc;
    const char *end;
    for (const char *p = text; (end = memchr(p, '\n', len - (size_t)(p - text))); p = end + 1) {
        _cleanup_err_ struct err why = ERR_INIT;
        line++;
        int wrong = end > p ? read_line(p, (size_t)(end - p), to, lags, seen, &why) : 0;
        seen->cut += wrong == -EILSEQ;
        whole += end > p && !wrong;
        if (wrong && wrong != -EILSEQ)
            return err_set(err, EINVAL, "%s:%zu: %s", path, line, err_msg(&why));
    }
    if (seen->cut && !whole)
        return err_set(err, EINVAL, "%s: no line of it is whole", path);
    return 0;
}

int history_load(struct cli *cli, const char *path, struct habits *to, struct lags *lags,
                 struct history_seen *seen) {
    _cleanup_err_ struct err err = ERR_INIT;
    *seen = (struct history_seen){0};
    int rc = path ? history_read(path, to, lags, seen, &err) : 0;
    if (rc)
        return cli_fail(cli, EXIT_USAGE, "--history: %s%s", err_msg(&err),
                        rc == -ENOENT ? " ('slipway drain --history FILE' writes one)" : "");
    if (seen->cut)
        cli_note(cli, "%s: %zu line%s cut off and left out", path, seen->cut,
                 seen->cut == 1 ? " is" : "s are");
    return 0;
}

static void key_seconds(struct jsonw *w, const char *key, int64_t usec) {
    char text[32];
    (void)snprintf(text, sizeof text, "%.3f", (double)usec / 1e6);
    jsonw_key(w, key);
    jsonw_raw(w, text);
}

/* What both lines begin with. */
static void begin_line(struct jsonw *w, struct str *out, const char *drain, int64_t now,
                       const struct str *workload, const char *pod, const char *node) {
    char time[TIMEFMT_LEN];
    jsonw_init(w, out, false);
    jsonw_begin(w, '{');
    jsonw_kint(w, "v", HISTORY_VERSION);
    jsonw_kstr(w, "time", time_format(now, false, time));
    jsonw_kstr(w, "drain", drain);
    jsonw_kstr(w, "workload", str_get(workload));
    jsonw_kstr(w, "pod", pod);
    jsonw_kstr(w, "node", node);
}

void history_log_done(struct history_log *log) {
    for (size_t i = 0; i < log->readies.len; i++)
        free(log->readies.p[i].workload);
    vec_done(&log->readies);
}

/* How long ago, when it was told to go, the pod had got ready that it had waited for; -1 when it
 * has not waited. */
static int64_t turn_of(const struct history_log *log, const char *workload,
                       const struct drain_pod *pod) {
    for (size_t i = log->readies.len; i-- > 0;) {
        const struct history_ready *r = &log->readies.p[i];
        if (r->time <= pod->first_try)
            return -1;
        if (r->time <= pod->accepted && streq(r->workload, workload))
            return pod->accepted - r->time;
    }
    return -1;
}

void history_waits(struct history_log *log, const struct drain_node *node,
                   const struct drain_blocker *blocker) {
    /* Those that wait for their turn wait for others that have begun. */
    if (node->phase < DRAIN_EVICTING && !blocker_is_turn(blocker->code))
        log->begun = true;
}

void history_line(struct history_log *log, const struct drain_node *node,
                  const struct drain_pod *pod, int64_t now, struct str *out) {
    if (pod->state != DRAIN_POD_GONE || !pod->accepted || pod->gone < pod->accepted)
        return;
    /* The first that is gone was among the first that were asked. */
    if (!log->asked)
        log->asked = pod->first_try;
    if (pod->odd)
        return;
    const char *slash = strchr(strna(pod->owner), '/');
    _cleanup_free_ char *kind =
        slash ? xstrndup(pod->owner, (size_t)(slash - pod->owner)) : xstrdup("");
    _cleanup_str_ struct str workload = STR_INIT;
    workload_name_of(pod->ns, strna(pod->name), kind, slash ? slash + 1 : NULL, &workload);
    int64_t turn = turn_of(log, str_get(&workload), pod);
    struct jsonw w;
    begin_line(&w, out, log->drain, now, &workload, pod->name, node ? node->name : "");
    key_seconds(&w, "stop", pod->gone - pod->accepted);
    if (pod->answer > 0)
        key_seconds(&w, "answer", pod->answer);
    if (turn >= 0)
        key_seconds(&w, "turn", turn);
    if (log->started && !log->begun && log->asked >= log->started)
        key_seconds(&w, "begin", log->asked - log->started);
    log->begun = true;
    jsonw_end(&w);
    str_addc(out, '\n');
}

void history_start_line(struct history_log *log, const struct start_seen *start, int64_t now,
                        struct str *out) {
    _cleanup_str_ struct str workload = STR_INIT;
    workload_name(start->pod, &workload);
    struct jsonw w;
    begin_line(&w, out, log->drain, now, &workload, strna(start->pod->meta.name),
               strna(start->pod->node_name));
    key_seconds(&w, "up", start->up);
    if (start->place >= 0)
        key_seconds(&w, "place", start->place);
    jsonw_end(&w);
    str_addc(out, '\n');
    *vec_push(&log->readies) = (struct history_ready){str_take(&workload), now};
}
