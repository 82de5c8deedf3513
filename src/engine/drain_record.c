/* What a drain leaves on the node for others to see: conditions and Events. Nobody waits for them,
 * and a drain does not fail because they cannot be written. */
#include <stdio.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "engine/drain_internal.h"
#include "engine/event.h"

enum {
    CONDITION_TRIES = 3,
    CONDITION_PATIENCE = 5, /* seconds: nobody waits longer than that for a condition */
    EVENTS_PAUSE = 60,      /* seconds without Events after one that had no answer */
};

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

static void condition(struct jsonw *w, const char *type, bool on, const char *reason,
                      const char *message, const char *now) {
    jsonw_begin(w, '{');
    jsonw_kstr(w, "type", type);
    jsonw_kstr(w, "status", on ? "True" : "False");
    jsonw_kstr(w, "reason", reason);
    jsonw_kcut(w, "message", message, EVENT_MESSAGE_LEN);
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
    char name[EVENT_NAME_LEN + 1];
    if (!d->opts.keep_record || d->no_events || d->opts.dry_run != DRY_RUN_NONE || !d->out)
        return;
    if (d->now.mono < d->events_at)
        return; /* whoever keeps them does not answer */
    struct event e = {.api_version = "v1",
                      .kind = "Node",
                      .name = n->pub.name,
                      .reason = reason,
                      .message = message,
                      .by = drain_holder(d, n)->by,
                      .warning = warning,
                      .at = d->now.wall};
    event_name(&e, name);
    event_body(&e, name, &body);
    add_minor(d, n,
              &(struct action){.verb = ACTION_CREATE,
                               .kind = &kind_event,
                               .ns = EVENT_NAMESPACE,
                               .name = name,
                               .body = str_get(&body)});
}
