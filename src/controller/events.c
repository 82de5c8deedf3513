/* Events of slots and maintenances. */
#include "controller/events.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "engine/reason.h"
#include "model/own.h"

enum { KEPT = 128 }; /* that may happen again: the oldest makes room */

struct kept {
    char *kind, *object, *reason, *message;
    char *name; /* of the Event */
    unsigned count;
    int64_t last; /* monotonic */
};

struct events {
    struct events_opts opts;
    struct kept kept[KEPT];
    double tokens;
    int64_t filled; /* monotonic: when they were counted */
};

struct events *events_new(const struct events_opts *opts) {
    struct events *e = xnew(struct events);
    e->opts = *opts;
    e->tokens = EVENTS_BURST;
    return e;
}

static void forget(struct kept *k) {
    free(k->kind);
    free(k->object);
    free(k->reason);
    free(k->message);
    free(k->name);
    *k = (struct kept){0};
}

void events_free(struct events *e) {
    if (!e)
        return;
    for (size_t i = 0; i < KEPT; i++)
        forget(&e->kept[i]);
    free(e);
}

static bool may(struct events *e, int64_t now) {
    double more = (double)(now - e->filled) / (double)USEC_PER_SEC * EVENTS_RATE;
    e->tokens = MIN_OF(e->tokens + (e->filled ? more : 0), (double)EVENTS_BURST);
    e->filled = now;
    if (e->tokens < 1)
        return false;
    e->tokens -= 1;
    return true;
}

/* The same, lately; else the one that makes room for it. */
static struct kept *find(struct events *e, const struct event *event, int64_t now) {
    struct kept *oldest = &e->kept[0];
    for (size_t i = 0; i < KEPT; i++) {
        struct kept *k = &e->kept[i];
        if (k->name && now - k->last < EVENTS_SAME && streq(k->reason, event->reason) &&
            streq(k->object, event->name) && streq(k->kind, event->kind) &&
            streq(k->message, event->message))
            return k;
        if (!k->name || (oldest->name && k->last < oldest->last))
            oldest = k;
    }
    forget(oldest);
    return oldest;
}

static void again(struct events *e, struct kept *k, const struct event *event) {
    _cleanup_str_ struct str body = STR_INIT;
    event_again(event, ++k->count, &body);
    e->opts.send(e->opts.arg, &(struct action){.verb = ACTION_PATCH,
                                               .kind = &kind_event,
                                               .ns = EVENT_NAMESPACE,
                                               .name = k->name,
                                               .body = str_get(&body),
                                               .grace = -1,
                                               .minor = true});
}

static void first(struct events *e, struct kept *k, const struct event *event) {
    _cleanup_str_ struct str body = STR_INIT;
    char name[EVENT_NAME_LEN + 1];
    event_name(event, name);
    event_body(event, name, &body);
    *k = (struct kept){.kind = xstrdup(event->kind),
                       .object = xstrdup(event->name),
                       .reason = xstrdup(event->reason),
                       .message = xstrdup(event->message),
                       .name = xstrdup(name),
                       .count = 1};
    e->opts.send(e->opts.arg, &(struct action){.verb = ACTION_CREATE,
                                               .kind = &kind_event,
                                               .ns = EVENT_NAMESPACE,
                                               .name = name,
                                               .body = str_get(&body),
                                               .grace = -1,
                                               .minor = true});
}

void events_tell(struct events *e, struct event event, struct now now) {
    event.by = e->opts.by;
    event.at = now.wall;
    if (!may(e, now.mono)) {
        e->opts.dropped(e->opts.arg);
        return;
    }
    struct kept *k = find(e, &event, now.mono);
    if (k->name)
        again(e, k, &event);
    else
        first(e, k, &event);
    k->last = now.mono;
}

void events_note(struct events *e, const struct keeper_note *n, const char *uid, struct now now) {
    struct event on_node = {.api_version = "v1",
                            .kind = kind_node.name,
                            .name = n->node,
                            .reason = n->reason,
                            .message = n->text,
                            .warning = n->warning};
    struct event on_maintenance = on_node;
    if (n->maintenance && !str_empty(uid)) {
        on_maintenance.api_version = OWN_API_VERSION;
        on_maintenance.kind = kind_maintenance.name;
        on_maintenance.name = n->maintenance;
        on_maintenance.uid = uid;
        events_tell(e, on_maintenance, now);
    }
    bool by_drain = streq(n->reason, REASON_DRAINED);
    if (n->maintenance ? n->warning : !by_drain)
        events_tell(e, on_node, now);
}

void events_rollout(struct events *e, const struct rollout_note *n, struct now now) {
    events_tell(e,
                (struct event){.api_version = OWN_API_VERSION,
                               .kind = kind_rollout.name,
                               .name = n->rollout,
                               .uid = n->uid,
                               .reason = n->reason,
                               .message = n->text,
                               .warning = n->warning},
                now);
}
