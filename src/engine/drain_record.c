/* What a drain leaves on the node for others to see: conditions and Events. Nobody waits for them,
 * and a drain does not fail because they cannot be written. */
#include <stdio.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "engine/drain_internal.h"

enum {
    CONDITION_TRIES = 3,
    CONDITION_PATIENCE = 5, /* seconds: nobody waits longer than that for a condition */
    EVENTS_PAUSE = 60,      /* seconds without Events after one that had no answer */
};
/* In bytes: what the server takes of new Events, and of names. */
enum { MESSAGE_LEN = 1024, INSTANCE_LEN = 128, NAME_LEN = 253 };

static uint64_t add_minor(struct drain *d, struct dnode *n, const struct action *a) {
    struct action minor = *a;
    minor.minor = true;
    minor.grace = -1;
    return drain_request(d, &minor, n, NULL, NULL);
}

/* One after the other: of two that are under way at once, the older could win. */
static void send_condition(struct drain *d, struct dnode *n) {
    if (d->no_conditions)
        mem_clear(&n->condition);
    if (n->condition_action || !n->condition)
        return;
    if (n->condition_at > d->now.mono) {
        drain_wake(d, n->condition_at);
        return;
    }
    n->condition_action = add_minor(d, n,
                                    &(struct action){.verb = ACTION_PATCH,
                                                     .kind = &kind_node,
                                                     .name = n->pub.name,
                                                     .subresource = "status",
                                                     .strategic = true,
                                                     .body = n->condition});
    free(n->condition_sent);
    n->condition_sent = TAKE_PTR(n->condition);
}

/* What may not be written is said once and left alone: the drain does not need it. */
static bool may_not(struct drain *d, bool *no, const struct answer *a, const char *what,
                    const char *consequence) {
    if (a->outcome != KUBE_FORBIDDEN)
        return false;
    if (!*no) {
        _cleanup_free_ char *text = xasprintf("cannot %s: %s; %s", what, a->message, consequence);
        drain_tell(d, NOTE_REMARK, NULL, NULL, text);
    }
    *no = true;
    return true;
}

static void condition_answer(struct drain *d, struct dnode *n, const struct answer *a) {
    _cleanup_free_ char *sent = TAKE_PTR(n->condition_sent);
    n->condition_action = 0;
    if (may_not(d, &d->no_conditions, a, "patch nodes/status",
                "the conditions of the nodes do not tell of the drain"))
        mem_clear(&n->condition);
    bool again = kube_outcome_row(a->outcome)->retry && !n->condition &&
                 a->retry_after <= CONDITION_PATIENCE && ++n->condition_tries < CONDITION_TRIES;
    if (!again) {
        n->condition_tries = 0;
        n->condition_at = 0;
        return;
    }
    n->condition = TAKE_PTR(sent);
    int64_t delay = drain_backoff(d, n->condition_tries, SEC(1), SEC(CONDITION_PATIENCE));
    n->condition_at = d->now.mono + MAX_OF(delay, SEC(MAX_OF(a->retry_after, (int64_t)0)));
}

void drain_record_answer(struct drain *d, const struct request *r, const struct answer *a) {
    if (r->node->condition_action == r->id)
        condition_answer(d, r->node, a);
    else if (!may_not(d, &d->no_events, a, "create events", "there are no Events of the drain") &&
             kube_outcome_silent(a->outcome))
        d->events_at = d->now.mono + SEC(EVENTS_PAUSE);
}

void drain_record_step(struct drain *d, struct dnode *n) {
    send_condition(d, n);
}

/* No more of it than `max` bytes, and no half characters. Texts come from servers and people. */
static void add_text(struct jsonw *w, const char *key, const char *text, size_t max) {
    _cleanup_str_ struct str clean = STR_INIT;
    size_t len = 0, n;
    utf8_clean(&clean, strna(text), strnlen(strna(text), max));
    while (len < clean.len && (n = utf8_len(str_get(&clean) + len, clean.len - len)) &&
           len + n <= max)
        len += n;
    jsonw_key(w, key);
    jsonw_strn(w, str_get(&clean), len);
}

/* The same Event has the same name: repeating it after a lost answer makes no second one. */
static void event_name(const struct drain *d, const struct dnode *n, const char *reason,
                       const char *message, char out[static NAME_LEN + 1]) {
    char unique[24];
    uint32_t h = hash_more(hash_bytes(reason, strlen(reason)), &d->now.wall, sizeof d->now.wall);
    h = hash_more(h, strna(message), strlen(strna(message)));
    int tail = snprintf(unique, sizeof unique, ".%08x%08x", (unsigned)(d->now.wall >> 20), h);
    size_t len = strnlen(n->pub.name, NAME_LEN - (size_t)tail);
    /* Cut in the middle of a name, it must still end like one. */
    while (len > 1 && (n->pub.name[len - 1] == '.' || n->pub.name[len - 1] == '-'))
        len--;
    snprintf(out, NAME_LEN + 1, "%.*s%s", (int)len, n->pub.name, unique);
}

static void condition(struct jsonw *w, const char *type, bool on, const char *reason,
                      const char *message, const char *now) {
    jsonw_begin(w, '{');
    jsonw_kstr(w, "type", type);
    jsonw_kstr(w, "status", on ? "True" : "False");
    jsonw_kstr(w, "reason", reason);
    add_text(w, "message", message, MESSAGE_LEN);
    jsonw_kstr(w, "lastTransitionTime", now);
    jsonw_kstr(w, "lastHeartbeatTime", now);
    jsonw_end(w);
}

void drain_record_condition(struct drain *d, struct dnode *n, bool in_progress, bool drained,
                            const char *reason, const char *message) {
    _cleanup_str_ struct str body = STR_INIT;
    struct jsonw w;
    char now[TIMEFMT_LEN];
    if (!d->opts.keep_record || d->no_conditions || d->opts.dry_run != DRY_RUN_NONE || !d->out)
        return;
    time_format(d->now.wall, false, now);
    jsonw_init(&w, &body, false);
    jsonw_begin(&w, '{');
    jsonw_kbegin(&w, "status", '{');
    jsonw_kbegin(&w, "conditions", '[');
    condition(&w, "DrainInProgress", in_progress, reason, message, now);
    condition(&w, "Drained", drained, reason, message, now);
    jsonw_end(&w);
    jsonw_end(&w);
    jsonw_end(&w);
    str_replace(&n->condition, str_get(&body)); /* what was to be written before is out of date */
    send_condition(d, n);
}

void drain_record_event(struct drain *d, struct dnode *n, bool warning, const char *reason,
                        const char *message) {
    _cleanup_str_ struct str body = STR_INIT;
    struct jsonw w;
    char now[TIMEFMT_LEN], name[NAME_LEN + 1];
    if (!d->opts.keep_record || d->no_events || d->opts.dry_run != DRY_RUN_NONE || !d->out)
        return;
    if (d->now.mono < d->events_at)
        return; /* whoever keeps them does not answer */
    event_name(d, n, reason, message, name);
    time_format(d->now.wall, false, now);
    jsonw_init(&w, &body, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "apiVersion", "v1");
    jsonw_kstr(&w, "kind", "Event");
    jsonw_kbegin(&w, "metadata", '{');
    jsonw_kstr(&w, "name", name);
    jsonw_kstr(&w, "namespace", "default");
    jsonw_end(&w);
    /* The name as UID is how kubelets and kubectl describe refer to a node. */
    jsonw_kbegin(&w, "involvedObject", '{');
    jsonw_kstr(&w, "kind", "Node");
    jsonw_kstr(&w, "name", n->pub.name);
    jsonw_kstr(&w, "uid", n->pub.name);
    jsonw_end(&w);
    jsonw_kstr(&w, "type", warning ? "Warning" : "Normal");
    jsonw_kstr(&w, "reason", reason);
    add_text(&w, "message", message, MESSAGE_LEN);
    jsonw_kbegin(&w, "source", '{');
    jsonw_kstr(&w, "component", "slipway");
    jsonw_end(&w);
    jsonw_kstr(&w, "reportingComponent", "slipway");
    const char *by = drain_holder(d, n)->by;
    add_text(&w, "reportingInstance", str_empty(by) ? "slipway" : by, INSTANCE_LEN);
    jsonw_kstr(&w, "firstTimestamp", now);
    jsonw_kstr(&w, "lastTimestamp", now);
    jsonw_kint(&w, "count", 1);
    jsonw_end(&w);
    add_minor(d, n,
              &(struct action){.verb = ACTION_CREATE,
                               .kind = &kind_event,
                               .ns = "default",
                               .name = name,
                               .body = str_get(&body)});
}
