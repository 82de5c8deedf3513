/* Doing harm to requests: what meets each of them is drawn when it is sent. */
#include "chaos.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "chaos_internal.h"

/* How long a request and its answer take when nothing is wrong. */
#define LATENCY_MIN  MSEC(1)
#define LATENCY_MAX  MSEC(30)
#define LATENCY_SLOW SEC(2)

int64_t chaos_wall(const struct chaos *c) {
    return loop_wall(c->loop);
}

int64_t chaos_latency(struct chaos *c) {
    return prng_range(&c->random, LATENCY_MIN, c->opts.slow ? LATENCY_SLOW : LATENCY_MAX);
}

/* --- drawing --- */

static bool chance(struct prng *r, double share) {
    return (double)(prng_next(r) >> 11) * 0x1p-53 < share;
}

/* The server is not there, for whatever it is asked. */
static bool draw_outage(struct kube_call *s) {
    struct chaos *c = s->chaos;
    if (loop_now(c->loop) >= c->outage)
        return false;
    s->fault = chance(&c->random, 0.5) ? CHAOS_REFUSED : CHAOS_503;
    s->applied = false;
    return true;
}

static void draw(struct kube_call *s) {
    struct chaos *c = s->chaos;
    struct prng *r = &c->random;
    bool write = s->req.kind < CHAOS_WRITES;
    s->fault = -1;
    s->applied = true;
    if (draw_outage(s))
        return;
    double share = write ? c->opts.write_faults : c->opts.read_faults;
    /* What is rare meets more, so that each of its faults happens often enough. */
    if (s->req.kind == CHAOS_DELETE_POD || s->req.kind == CHAOS_PATCH_OTHER)
        share = MIN_OF(share * 5, 0.85);
    if (c->quiet || !chance(r, share))
        return;
    s->applied = !write || chance(r, 0.5);
    do {
        s->fault = (int)prng_range(r, 0, CHAOS_FAULTS);
    } while (!chaos_possible(s->req.kind, s->fault, write && s->applied));
    /* A read that gets an answer of ours is not carried out. */
    if (!write)
        s->applied = s->fault == CHAOS_LATE || s->fault == CHAOS_CUT ||
                     (s->fault == CHAOS_SILENCE && chance(r, 0.5));
}

static struct kube_call *start(struct kube_transport *base, const struct kube_request *req,
                               const struct kube_handler *handler, void *arg) {
    struct chaos *c = CONTAINER_OF(base, struct chaos, base);
    struct kube_call *s = xnew(struct kube_call);
    *s = (struct kube_call){
        .chaos = c,
        .next = c->calls,
        .link = &c->calls,
        .handler = handler,
        .arg = arg,
        .accept = req->accept ? xstrdup(req->accept) : NULL,
        .content_type = req->content_type ? xstrdup(req->content_type) : NULL,
        .method = xstrdup(req->method),
        .path = xstrdup(req->path),
        .body = req->body_len ? xmemdup(req->body, req->body_len) : NULL,
        .idle = req->idle,
    };
    if (s->next)
        s->next->link = &s->next;
    c->calls = s;
    s->req = (struct chaos_request){.number = ++c->number,
                                    .method = s->method,
                                    .path = s->path,
                                    .body = {s->body, req->body_len},
                                    .process = c->process};
    chaos_target(req->path, &s->req.target);
    s->req.kind = chaos_kind(req->method, req->path, &s->req.target);
    c->opts.counts->calls[s->req.kind]++;
    draw(s);
    struct prng *r = &c->random;
    int64_t on_its_way = chaos_latency(c);
    s->lag = chance(r, 0.5) ? 0 : prng_range(r, 0, MSEC(10));
    if (s->req.kind == CHAOS_WATCH || s->req.kind == CHAOS_LIST) {
        if (s->fault == CHAOS_LATE)
            s->lag = MSEC(prng_range(r, 100, 30000));
        if (s->fault == CHAOS_CUT)
            s->break_at = chaos_wall(c) + on_its_way + MSEC(prng_range(r, 0, 20000));
    }
    /* A request of which nothing is heard may be carried out when its sender has long gone on. */
    if (s->req.kind < CHAOS_WRITES && s->fault == CHAOS_SILENCE && chance(r, 0.5))
        on_its_way = MSEC(prng_range(r, 1000, 90000));
    s->timer = loop_timer_new(c->loop, chaos_call_due, s);
    loop_timer_set(s->timer, on_its_way);
    s->limit = loop_timer_new(c->loop, chaos_call_timed_out, s);
    if (req->timeout)
        loop_timer_set(s->limit, req->timeout);
    if (req->idle) {
        s->quiet = loop_timer_new(c->loop, chaos_call_timed_out, s);
        loop_timer_set(s->quiet, req->idle);
    }
    if (c->opts.hooks.sent)
        c->opts.hooks.sent(c->opts.hooks.arg, &s->req);
    return s;
}

static void cancel(struct kube_transport *base, struct kube_call *s) {
    struct chaos *c = CONTAINER_OF(base, struct chaos, base);
    if (c->killing && s->req.kind < CHAOS_WRITES && s->fault < 0) {
        s->fault = CHAOS_KILLED;
        if (s->state == CALL_ON_ITS_WAY)
            s->applied = chance(&c->random, 0.5);
    }
    chaos_known_stream(s);
    chaos_call_count(s);
    chaos_call_abandon(s);
}

static void transport_free(struct kube_transport *base) {
    (void)base; /* chaos_free() */
}

static const struct kube_transport_ops ops = {start, cancel, transport_free};

static void on_kill(void *arg) {
    struct chaos *c = arg;
    c->kill_wanted = false;
    c->opts.hooks.kill(c->opts.hooks.arg);
}

struct chaos *chaos_new(struct loop *loop, struct api *api, struct pace *pace,
                        const struct chaos_options *opts) {
    struct chaos *c = xnew(struct chaos);
    *c = (struct chaos){
        .base.ops = &ops,
        .loop = loop,
        .api = api,
        .pace = pace,
        .opts = *opts,
        .random = {opts->seed},
    };
    c->kill_timer = loop_timer_new(loop, on_kill, c);
    return c;
}

void chaos_free(struct chaos *c) {
    if (!c)
        return;
    while (c->calls)
        chaos_call_free(c->calls);
    loop_timer_free(c->kill_timer);
    vec_done(&c->known);
    free(c);
}

struct kube_transport *chaos_transport(struct chaos *c) {
    return &c->base;
}

void chaos_quiet(struct chaos *c) {
    c->quiet = true;
    c->opts.slow = false;
}

void chaos_outage(struct chaos *c, int64_t until) {
    c->outage = until;
}

void chaos_freeze(struct chaos *c, bool frozen) {
    c->frozen = frozen;
    for (struct kube_call *s = c->calls; s && frozen; s = s->next)
        s->unread = s->unread ? s->unread : chaos_wall(c);
    for (struct kube_call *s = c->calls; s && !frozen; s = s->next) {
        if (s->state == CALL_ANSWERED || s->state == CALL_STREAMING)
            loop_timer_set(s->timer, 0);
        if (s->overdue)
            loop_timer_set(s->limit, 0);
    }
}

void chaos_killing(struct chaos *c) {
    c->killing = true;
    c->kill_wanted = false;
    loop_timer_stop(c->kill_timer);
}

void chaos_killed(struct chaos *c) {
    c->killing = false;
    c->process++;
    c->known.len = 0; /* the next one knows nothing */
}
