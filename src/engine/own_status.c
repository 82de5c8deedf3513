/* What the status of Slipway's own resources have in common. */
#include "engine/own_status.h"

#include "base/mem.h"
#include "base/timefmt.h"

void own_patch_begin(struct jsonw *w, struct str *body, const struct meta *meta) {
    jsonw_init(w, body, false);
    jsonw_begin(w, '{');
    jsonw_kbegin(w, "metadata", '{');
    jsonw_kstr(w, "resourceVersion", strna(meta->version));
}

void own_write_time(struct jsonw *w, const char *key, int64_t at) {
    char buf[TIMEFMT_LEN];
    jsonw_kstr(w, key, time_format(at, false, buf));
}

void own_write_condition(struct jsonw *w, const struct own_condition *had, int64_t generation,
                         int64_t now, const struct own_said *said) {
    const char *status = said->is ? "True" : "False";
    int64_t since = now;
    for (size_t i = 0; i < list_len(had); i++)
        if (str_same(had[i].c.type, said->type) && str_same(had[i].c.status, status))
            since = had[i].c.changed;
    jsonw_begin(w, '{');
    jsonw_kstr(w, "type", said->type);
    jsonw_kstr(w, "status", status);
    jsonw_kstr(w, "reason", said->reason);
    jsonw_kstr(w, "message", said->message);
    own_write_time(w, "lastTransitionTime", since);
    jsonw_kint(w, "observedGeneration", generation);
    jsonw_end(w);
}

bool own_blocker_is(const struct own_blocker *was, const struct own_wait *wait) {
    if (!was || !wait)
        return !was && !wait;
    return str_same(was->code, blocker_row(wait->code)->name) &&
           str_same(strna(was->object), wait->object) &&
           str_same(strna(was->message), wait->message) &&
           was->deadline / SEC(1) == wait->deadline / SEC(1) &&
           str_same(strna(was->then), strna(wait->then));
}

/* A merge patch keeps what it does not name. */
static void write_or_clear(struct jsonw *w, const char *key, const char *text, bool had) {
    if (text) {
        jsonw_kstr(w, key, text);
    } else if (had) {
        jsonw_key(w, key);
        jsonw_null(w);
    }
}

void own_write_blocker(struct jsonw *w, const struct own_blocker *was, const struct own_wait *wait,
                       int64_t now) {
    jsonw_key(w, "blocker");
    if (!wait) {
        jsonw_null(w);
        return;
    }
    const struct blocker_row *row = blocker_row(wait->code);
    bool same = was && str_same(was->code, row->name);
    char text[TIMEFMT_LEN];
    jsonw_begin(w, '{');
    jsonw_kstr(w, "code", row->name);
    write_or_clear(w, "object", str_empty(wait->object) ? NULL : wait->object,
                   was && !str_empty(was->object));
    jsonw_kstr(w, "message", wait->message);
    jsonw_kstr(w, "hint", row->hint);
    own_write_time(w, "since", same && was->since ? was->since : now);
    write_or_clear(w, "deadline", wait->deadline ? time_format(wait->deadline, false, text) : NULL,
                   was && was->deadline);
    write_or_clear(w, "then", wait->then, was && was->then);
    jsonw_end(w);
}

void own_blocker_text(const struct own_blocker *b, struct str *out) {
    char time[TIMEFMT_LEN];
    str_add(out, strna(b->code));
    if (!str_empty(b->object))
        str_addf(out, " %s", b->object);
    if (!str_empty(b->message))
        str_addf(out, ": %s", b->message);
    if (b->deadline && b->then)
        str_addf(out, "; at %s %s", time_format(b->deadline, false, time), b->then);
}

bool own_has_finalizer(const struct meta *meta, const char *finalizer) {
    for (size_t i = 0; i < list_len(meta->finalizers); i++)
        if (streq(meta->finalizers[i], finalizer))
            return true;
    return false;
}

void own_write_finalizers(struct jsonw *w, const struct meta *meta, const char *finalizer,
                          bool on) {
    jsonw_kbegin(w, "finalizers", '[');
    for (size_t i = 0; i < list_len(meta->finalizers); i++)
        if (!streq(meta->finalizers[i], finalizer))
            jsonw_str(w, meta->finalizers[i]);
    if (on)
        jsonw_str(w, finalizer);
    jsonw_end(w);
}
