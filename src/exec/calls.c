/* Requests for actions, so many at a time. */
#include "exec/calls.h"

#include <limits.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "exec/confirm.h"
#include "model/own.h"

enum { MINOR_TIMEOUT = 5 }; /* seconds for what nobody waits for */

enum sort {
    PODS,    /* evictions and deletions: never queued, what was decided may not be so later */
    WRITES,  /* of nodes and Deployments: the same */
    READS,   /* of single objects, and whether there are Policies */
    LISTS,   /* of a node's pods */
    VOLUMES, /* lists of all VolumeAttachments: one serves everybody who waits when it begins */
    CONDITIONS,
    EVENTS,
    SORTS
};

static const unsigned most[SORTS] = {
    [PODS] = UINT_MAX, [WRITES] = UINT_MAX, [READS] = 16, [LISTS] = 4,
    [VOLUMES] = 1,     [CONDITIONS] = 4,    [EVENTS] = 4,
};

/* Waits for its turn; its texts are owned. */
struct held {
    struct action action;
    struct held *next;
};

struct queue {
    struct held *first, **last;
    unsigned under_way;
};

struct call {
    struct calls *calls;
    enum sort sort;
    struct held *held;  /* what it answers; more than one when they share a list */
    struct kube_op *op; /* one of both */
    struct confirm *confirm;
    struct call *next, **link;
};

struct calls {
    struct calls_opts opts;
    struct queue queues[SORTS];
    struct call *calls;
};

/* --- entries --- */

static char *copy(const char *text) {
    return text ? xstrdup(text) : NULL;
}

static struct held *held_new(const struct action *a) {
    struct held *h = xnew(struct held);
    h->action = *a;
    h->action.ns = copy(a->ns);
    h->action.name = copy(a->name);
    h->action.uid = copy(a->uid);
    h->action.subresource = copy(a->subresource);
    h->action.node = copy(a->node);
    h->action.body = copy(a->body);
    return h;
}

static void held_free(struct held *h) {
    while (h) {
        struct held *next = h->next;
        free((char *)h->action.ns);
        free((char *)h->action.name);
        free((char *)h->action.uid);
        free((char *)h->action.subresource);
        free((char *)h->action.node);
        free((char *)h->action.body);
        free(h);
        h = next;
    }
}

static enum sort sort_of(const struct action *a) {
    if (a->minor)
        return a->kind == &kind_event ? EVENTS : CONDITIONS;
    switch (a->verb) {
    case ACTION_EVICT:
    case ACTION_DELETE:
        return PODS;
    case ACTION_PATCH:
    case ACTION_CREATE:
        return WRITES;
    case ACTION_READ:
        return READS;
    case ACTION_CONFIRM:
        return a->kind == &kind_pod ? LISTS : a->kind == &kind_policy ? READS : VOLUMES;
    }
    return WRITES;
}

static void unlink_call(struct call *c) {
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    c->calls->queues[c->sort].under_way--;
}

static void call_free(struct call *c) {
    confirm_free(c->confirm);
    held_free(c->held);
    free(c);
}

/* --- answers --- */

static void start_next(struct calls *s, enum sort sort);

static void tell(struct calls *s, const struct held *held, const struct answer *answer) {
    for (const struct held *h = held; s->opts.ended && h; h = h->next)
        s->opts.ended(s->opts.arg, &h->action, answer);
    for (const struct held *h = held; h; h = h->next)
        s->opts.answer(s->opts.arg, h->action.id, answer);
}

/* Whoever takes these did not answer in time. */
static bool hangs(const struct call *c, const struct answer *answer) {
    return kube_outcome_silent(answer->outcome) && (c->sort == EVENTS || c->sort == CONDITIONS);
}

static struct held *take_all(struct queue *q) {
    struct held *all = q->first;
    q->first = NULL;
    q->last = &q->first;
    return all;
}

static void end(struct call *c, const struct answer *answer) {
    struct calls *s = c->calls;
    enum sort sort = c->sort;
    unlink_call(c);
    /* What nobody waits for is not waited for four at a time, either. */
    struct held *rest = hangs(c, answer) ? take_all(&s->queues[sort]) : NULL;
    tell(s, c->held, answer);
    tell(s, rest, answer);
    held_free(rest);
    call_free(c);
    start_next(s, sort);
}

static void on_reply(void *arg, struct kube_reply *reply) {
    struct call *c = arg;
    const struct action *a = &c->held->action;
    bool wrote = a->kind == &kind_node && a->verb == ACTION_PATCH && !a->dry_run && !a->minor;
    /* Nothing is decided about the node before what we wrote has come back. */
    if (wrote && reply->outcome == KUBE_OK && reply->obj) {
        store_wrote(c->calls->opts.cluster->nodes, NULL, a->name, reply->obj->meta.version);
        c->calls->opts.wrote(c->calls->opts.arg, a->name);
    }
    end(c, &(struct answer){.outcome = reply->outcome,
                            .code = reply->code,
                            .message = reply->message,
                            .cause = reply->cause,
                            .retry_after = reply->retry_after,
                            .date = reply->date,
                            .obj = reply->obj,
                            .kind = a->kind});
}

static void on_confirmed(void *arg, enum kube_outcome outcome, const char *message) {
    end(arg, &(struct answer){.outcome = outcome, .message = message, .retry_after = -1});
}

/* --- requests --- */

static void confirm(struct call *c, const struct action *a) {
    const struct calls_opts *o = &c->calls->opts;
    bool pods = a->kind == &kind_pod;
    if (a->kind == &kind_policy) {
        c->confirm = confirm_new_none(o->client, a->kind, o->page, on_confirmed, c);
        return;
    }
    c->confirm = confirm_new(o->client, o->cluster,
                             pods ? o->scope(o->arg, a->name) : (struct store_scope){0},
                             pods ? a->name : NULL, o->page, on_confirmed, c);
}

static void request(struct call *c, const struct action *a) {
    struct kube_client *client = c->calls->opts.client;
    struct kube_write w = {.kind = a->kind,
                           .ns = a->ns,
                           .name = a->name,
                           .subresource = a->subresource,
                           .dry_run = a->dry_run,
                           .timeout = a->minor ? SEC(MINOR_TIMEOUT) : 0};
    struct kube_delete_options del = {.uid = a->uid, .grace = a->grace};
    struct kube_op_spec read = {.kind = a->kind, .ns = a->ns, .name = a->name, .result = a->kind};
    switch (a->verb) {
    case ACTION_EVICT:
        c->op = kube_evict(client, &w, a->uid, a->grace, on_reply, c);
        break;
    case ACTION_DELETE:
        c->op = kube_delete(client, &w, &del, on_reply, c);
        break;
    case ACTION_PATCH:
        c->op = kube_patch(client, &w, a->strategic ? KUBE_PATCH_STRATEGIC : KUBE_PATCH_MERGE,
                           a->body, on_reply, c);
        break;
    case ACTION_CREATE:
        c->op = kube_create(client, &w, a->body, on_reply, c);
        break;
    case ACTION_READ:
        c->op = kube_op_start(client, &read, on_reply, c);
        break;
    case ACTION_CONFIRM:
        confirm(c, a);
        break;
    }
}

/* The next of its sort, or all that wait when one list does for all of them. */
static struct held *take(struct queue *q, enum sort sort) {
    if (sort == VOLUMES)
        return take_all(q);
    struct held *h = q->first;
    q->first = h->next;
    h->next = NULL;
    if (!q->first)
        q->last = &q->first;
    return h;
}

static void start_next(struct calls *s, enum sort sort) {
    struct queue *q = &s->queues[sort];
    while (q->first && q->under_way < most[sort]) {
        struct call *c = xnew(struct call);
        c->calls = s;
        c->sort = sort;
        c->held = take(q, sort);
        c->next = s->calls;
        c->link = &s->calls;
        if (c->next)
            c->next->link = &c->next;
        s->calls = c;
        q->under_way++;
        request(c, &c->held->action);
    }
}

void calls_add(struct calls *s, const struct action *a) {
    enum sort sort = sort_of(a);
    struct queue *q = &s->queues[sort];
    struct held *h = held_new(a);
    *q->last = h;
    q->last = &h->next;
    start_next(s, sort);
}

/* --- life --- */

struct calls *calls_new(const struct calls_opts *opts) {
    struct calls *s = xnew(struct calls);
    s->opts = *opts;
    for (size_t i = 0; i < SORTS; i++)
        s->queues[i].last = &s->queues[i].first;
    return s;
}

void calls_free(struct calls *s) {
    if (!s)
        return;
    while (s->calls) {
        struct call *c = s->calls;
        if (c->op)
            kube_op_cancel(c->op);
        unlink_call(c);
        call_free(c);
    }
    for (size_t i = 0; i < SORTS; i++)
        held_free(s->queues[i].first);
    free(s);
}
