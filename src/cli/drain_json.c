/* A drain as events. */
#include "cli/drain_json.h"

#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "cli/drain_summary.h"
#include "cli/drain_words.h"
#include "cli/exit.h"

enum { PODS_LISTED = 10000 }; /* in the summary: a line that a reader can hold */

/* --- pieces --- */

static void put_time(struct jsonw *w, const char *key, int64_t t) {
    char buf[TIMEFMT_LEN];
    if (t)
        jsonw_kstr(w, key, time_format(t, true, buf));
}

/* What every line begins with. */
static void begin(struct drain_json *j, struct jsonw *w, struct str *out, const char *type,
                  int64_t now) {
    char buf[TIMEFMT_LEN];
    /* What the engine tells has the time of its step, which began before lines of ours. */
    j->last = MAX_OF(j->last, now);
    jsonw_init(w, out, false);
    jsonw_begin(w, '{');
    jsonw_kstr(w, "type", type);
    jsonw_kint(w, "seq", (int64_t)++j->seq);
    jsonw_kstr(w, "ts", time_format(j->last, true, buf));
    jsonw_kstr(w, "run", j->run);
}

static void end(struct jsonw *w) {
    jsonw_end(w);
    str_addc(w->out, '\n');
}

static void put_counts(struct jsonw *w, const struct drain_node *n) {
    jsonw_kbegin(w, "pods", '{');
    jsonw_kint(w, "total", n->total);
    jsonw_kint(w, "gone", n->gone);
    jsonw_kint(w, "leaving", n->leaving);
    jsonw_kint(w, "blocked", n->blocked_pods);
    jsonw_kint(w, "failed", n->failed);
    jsonw_kint(w, "stays", n->stays);
    jsonw_end(w);
}

static void put_node(struct jsonw *w, const struct drain_node *n) {
    jsonw_kstr(w, "node", n->name);
    jsonw_kstr(w, "phase", drain_phase_word(n->phase));
}

static void put_pod(struct jsonw *w, const struct drain_pod *p) {
    jsonw_kbegin(w, "pod", '{');
    jsonw_kopt(w, "ns", p->ns);
    jsonw_kstr(w, "name", strna(p->name));
    jsonw_kopt(w, "uid", p->uid);
    jsonw_kopt(w, "owner", p->owner);
    jsonw_end(w);
}

/* {"kind":"PodDisruptionBudget","ns":"web","name":"frontend"} from "web/frontend". */
static void put_object(struct jsonw *w, const struct drain_blocker *b) {
    if (str_empty(b->kind) && str_empty(b->object))
        return;
    const char *object = strna(b->object), *slash = strchr(object, '/');
    jsonw_kbegin(w, "object", '{');
    jsonw_kopt(w, "kind", b->kind);
    if (slash) {
        jsonw_key(w, "ns");
        jsonw_strn(w, object, (size_t)(slash - object));
    }
    jsonw_kopt(w, "name", slash ? slash + 1 : object);
    jsonw_end(w);
}

static void put_blocker(struct jsonw *w, const struct drain_blocker *b) {
    static const char *const severities[] = {
        [SEVERITY_INFO] = "info", [SEVERITY_WARN] = "warn", [SEVERITY_ERROR] = "error"};
    const struct blocker_row *row = blocker_row(b->code);
    jsonw_kstr(w, "code", row->name);
    put_object(w, b);
    jsonw_kstr(w, "message", str_empty(b->message) ? row->meaning : b->message);
    put_time(w, "since", b->since);
    jsonw_kint(w, "attempts", b->attempts);
    jsonw_kstr(w, "severity", severities[row->severity]);
    jsonw_kstr(w, "clears", row->clears_itself ? "auto" : "operator");
    jsonw_kstr(w, "hint", drain_hint(b));
}

/* --- lines --- */

void drain_json_hello(struct drain_json *j, int64_t now, bool dry_run, struct str *out) {
    struct jsonw w;
    begin(j, &w, out, "hello", now);
    jsonw_kstr(&w, "schema", EVENTS_SCHEMA);
    jsonw_kstr(&w, "version", SLIPWAY_VERSION);
    jsonw_kstr(&w, "verb", "drain");
    jsonw_kbool(&w, "dryRun", dry_run);
    end(&w);
}

static void add_node(struct jsonw *w, const struct drain_node *n) {
    put_time(w, "since", n->since);
    put_time(w, "started", n->started);
    put_time(w, "ended", n->ended);
    put_time(w, "deadline", n->deadline);
    put_counts(w, n);
    jsonw_kopt(w, "error", n->error);
}

void drain_json_node(struct drain_json *j, const struct drain_node *n, int64_t now,
                     struct str *out) {
    struct jsonw w;
    begin(j, &w, out, "node", now);
    jsonw_kstr(&w, "event", "state");
    put_node(&w, n);
    add_node(&w, n);
    end(&w);
}

void drain_json_log(struct drain_json *j, enum log_level level, const char *text, int64_t now,
                    struct str *out) {
    struct jsonw w;
    begin(j, &w, out, "log", now);
    jsonw_kstr(&w, "level", level_word(level));
    jsonw_kstr(&w, "msg", text);
    end(&w);
}

void drain_json_note(struct drain_json *j, const struct drain_note *note, struct str *out) {
    static const struct {
        const char *type, *event;
    } names[] = {
        [NOTE_CORDONED] = {"node", "cordoned"},
        [NOTE_ALREADY_CORDONED] = {"node", "alreadyCordoned"},
        [NOTE_CORDON_FAILED] = {"node", "cordonFailed"},
        [NOTE_UNCORDONED] = {"node", "uncordoned"},
        [NOTE_PHASE] = {"node", "phase"},
        [NOTE_WARNINGS] = {"node", "warnings"},
        [NOTE_POD_EVICTING] = {"pod", "evicting"},
        [NOTE_POD_DELETING] = {"pod", "deleting"},
        [NOTE_POD_GONE] = {"pod", "gone"},
        [NOTE_POD_LATE] = {"pod", "late"},
        [NOTE_POD_SKIPPED_WAIT] = {"pod", "notWaitedFor"},
        [NOTE_POD_FAILED] = {"pod", "failed"},
        [NOTE_BLOCKED] = {"blocker", "began"},
        [NOTE_UNBLOCKED] = {"blocker", "ended"},
        [NOTE_ESCALATED] = {"pod", "escalated"},
        [NOTE_SURGE] = {"pod", "surge"},
        [NOTE_REMARK] = {"log", NULL},
    };
    struct jsonw w;
    _cleanup_str_ struct str msg = STR_INIT;
    drain_note_text(note, &msg);
    begin(j, &w, out, names[note->kind].type, note->time);
    if (names[note->kind].event)
        jsonw_kstr(&w, "event", names[note->kind].event);
    jsonw_kstr(&w, "level", level_word(drain_note_level(note)));
    if (note->node)
        put_node(&w, note->node);
    if (note->kind == NOTE_PHASE)
        jsonw_kstr(&w, "prev", drain_phase_word(note->before));
    if (note->pod)
        put_pod(&w, note->pod);
    if (note->blocker)
        put_blocker(&w, note->blocker);
    jsonw_kstr(&w, "msg", str_get(&msg));
    if (note->node && streq(names[note->kind].type, "node"))
        add_node(&w, note->node);
    end(&w);
}

/* --- the summary --- */

static const char *exit_name(int code) {
    for (size_t i = 0; i < n_exit_rows; i++)
        if ((int)exit_rows[i].code == code)
            return exit_rows[i].name;
    return "failed";
}

/* {"drained":{"count":11,"nodes":"w[001-011]"}}: the phases that there are nodes of. */
static void put_phases(struct jsonw *w, const struct drain_node *const *nodes, size_t n,
                       const struct drain_totals *t) {
    const struct drain_node **list = xcalloc(n + 1, sizeof *list);
    jsonw_kbegin(w, "phases", '{');
    for (enum drain_phase p = DRAIN_WAITING; p <= DRAIN_STOPPED; p++) {
        if (!t->of[p])
            continue;
        _cleanup_str_ struct str names = STR_INIT;
        size_t k = 0;
        for (size_t i = 0; i < n; i++)
            if (nodes[i]->phase == p)
                list[k++] = nodes[i];
        drain_fold(list, k, &names);
        jsonw_kbegin(w, drain_phase_word(p), '{');
        jsonw_kint(w, "count", t->of[p]);
        jsonw_kstr(w, "nodes", str_get(&names));
        jsonw_end(w);
    }
    jsonw_end(w);
    free(list);
}

/* Nodes that ended badly, and why. */
static void put_errors(struct jsonw *w, const struct drain_node *const *nodes, size_t n) {
    jsonw_kbegin(w, "errors", '[');
    for (size_t i = 0; i < n; i++) {
        if (str_empty(nodes[i]->error))
            continue;
        jsonw_begin(w, '{');
        put_node(w, nodes[i]);
        jsonw_kstr(w, "error", nodes[i]->error);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void put_remaining(struct jsonw *w, const struct drain_node *const *nodes, size_t n) {
    unsigned listed = 0, omitted = 0;
    jsonw_kbegin(w, "remaining", '[');
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < nodes[i]->n_pods; k++) {
            const struct drain_pod *p = nodes[i]->pods[k];
            if (!drain_pod_remains(p))
                continue;
            if (listed == PODS_LISTED) {
                omitted++;
                continue;
            }
            listed++;
            _cleanup_str_ struct str why = STR_INIT;
            drain_remains_text(p, &why);
            jsonw_begin(w, '{');
            jsonw_kstr(w, "node", nodes[i]->name);
            put_pod(w, p);
            jsonw_kstr(w, "msg", str_get(&why));
            put_time(w, "since", drain_remains_since(p));
            if (p->blocked) {
                jsonw_kbegin(w, "blocker", '{');
                put_blocker(w, &p->blocker);
                jsonw_end(w);
            }
            jsonw_end(w);
        }
    }
    jsonw_end(w);
    if (omitted)
        jsonw_kint(w, "remainingOmitted", omitted);
}

void drain_json_summary(struct drain_json *j, const struct drain_node *const *nodes, size_t n,
                        int exit_code, int64_t started, int64_t now, struct str *out) {
    struct drain_totals t;
    struct jsonw w;
    drain_totals_take(nodes, n, &t);
    begin(j, &w, out, "summary", now);
    jsonw_kint(&w, "exit", exit_code);
    jsonw_kstr(&w, "result", exit_name(exit_code));
    jsonw_kopt(&w, "error", j->error);
    jsonw_kint(&w, "elapsedMs", MAX_OF(now - started, 0) / USEC_PER_MSEC);
    jsonw_kint(&w, "nodes", t.nodes);
    put_phases(&w, nodes, n, &t);
    jsonw_kbegin(&w, "pods", '{');
    jsonw_kint(&w, "evicted", t.evicted);
    jsonw_kint(&w, "deleted", t.deleted);
    jsonw_kint(&w, "vanished", t.vanished);
    jsonw_kint(&w, "notWaitedFor", t.skipped);
    jsonw_kint(&w, "remaining", t.remaining);
    jsonw_end(&w);
    put_errors(&w, nodes, n);
    put_remaining(&w, nodes, n);
    end(&w);
}
