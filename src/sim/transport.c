/* Calls on the simulated API. */
#include "sim/transport.h"

#include <errno.h>

#include "base/mem.h"
#include "base/prng.h"

struct sim_transport {
    struct kube_transport base;
    struct loop *loop;
    struct api *api;
    struct pace *pace;
    struct prng random;
    int64_t min, max;
    struct kube_call *calls; /* under way */
};

enum state { SENT, STREAMING };

struct kube_call {
    struct sim_transport *t;
    struct kube_call *next, **link;
    struct loop_timer *timer, *limit;
    const struct kube_handler *handler;
    void *arg;
    /* Copies of the request. */
    char *method, *path, *accept, *content_type, *body;
    size_t body_len;
    enum state state;
    struct api_reply reply;
    bool *gone; /* set when the call is freed while a callback runs */
};

static void call_free(struct kube_call *c) {
    if (c->gone)
        *c->gone = true;
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    loop_timer_free(c->timer);
    loop_timer_free(c->limit);
    api_reply_done(&c->reply);
    free(c->method);
    free(c->path);
    free(c->accept);
    free(c->content_type);
    free(c->body);
    free(c);
}

static void finish(struct kube_call *c, int error, bool sent, const char *msg) {
    const struct kube_handler *h = c->handler;
    void *arg = c->arg;
    struct kube_done done = {.code = c->reply.code, .error = error, .sent = sent, .msg = msg};
    call_free(c);
    h->done(arg, &done);
}

/* Hands over what is in the body; false when the call is over. */
static bool deliver(struct kube_call *c) {
    if (!c->reply.body.len)
        return true;
    bool gone = false;
    c->gone = &gone;
    /* The receiver may free the call, and the bytes with it. */
    struct str bytes = c->reply.body;
    c->reply.body = STR_INIT;
    int rc = c->handler->data(c->arg, bytes.p, bytes.len);
    str_done(&bytes);
    if (gone)
        return false;
    c->gone = NULL;
    if (rc) {
        finish(c, rc, true, "the receiver stopped");
        return false;
    }
    return true;
}

static void woken(void *arg) {
    struct kube_call *c = arg;
    loop_timer_set(c->timer, 0);
}

/* Pulls until the stream has nothing more for now. */
static void stream(struct kube_call *c) {
    for (;;) {
        enum api_pull state = api_stream_pull(c->reply.stream, &c->reply.body);
        if (!deliver(c))
            return;
        if (state == API_WAIT)
            return;
        if (state == API_END) {
            finish(c, 0, true, NULL);
            return;
        }
    }
}

static void answer(struct kube_call *c) {
    struct api_request req = {
        .method = c->method,
        .target = c->path,
        .accept = c->accept,
        .content_type = c->content_type,
        .body = {c->body, c->body_len},
    };
    pace_catch_up(c->t->pace);
    api_serve(c->t->api, &req, &c->reply);
    pace_update(c->t->pace);
    c->state = STREAMING;
    if (c->reply.stream) {
        c->reply.stream->wake = woken;
        c->reply.stream->wake_arg = c;
    }
    if (c->handler->head) {
        struct kube_head head = {
            .code = c->reply.code,
            .content_type = c->reply.content_type,
            .retry_after = c->reply.retry_after ? c->reply.retry_after : -1,
            .date = pace_time(c->t->pace),
            .warning = c->reply.warnings.len ? c->reply.warnings.p[0] : NULL,
            .api_server = true,
        };
        bool gone = false;
        c->gone = &gone;
        c->handler->head(c->arg, &head);
        if (gone)
            return;
        c->gone = NULL;
    }
    if (!deliver(c))
        return;
    if (c->reply.stream)
        stream(c);
    else
        finish(c, 0, true, NULL);
}

static void due(void *arg) {
    struct kube_call *c = arg;
    if (c->state == SENT)
        answer(c);
    else
        stream(c);
}

static void timed_out(void *arg) {
    finish(arg, -ETIMEDOUT, true, "the call took too long");
}

static struct kube_call *start(struct kube_transport *base, const struct kube_request *req,
                               const struct kube_handler *handler, void *arg) {
    struct sim_transport *t = CONTAINER_OF(base, struct sim_transport, base);
    struct kube_call *c = xnew(struct kube_call);
    *c = (struct kube_call){
        .t = t,
        .next = t->calls,
        .link = &t->calls,
        .handler = handler,
        .arg = arg,
        .method = xstrdup(req->method),
        .path = xstrdup(req->path),
        .accept = req->accept ? xstrdup(req->accept) : NULL,
        .content_type = req->content_type ? xstrdup(req->content_type) : NULL,
        .body = req->body_len ? xmemdup(req->body, req->body_len) : NULL,
        .body_len = req->body_len,
    };
    if (c->next)
        c->next->link = &c->next;
    t->calls = c;
    c->timer = loop_timer_new(t->loop, due, c);
    loop_timer_set(c->timer, prng_range(&t->random, t->min, t->max + 1));
    if (req->timeout) {
        c->limit = loop_timer_new(t->loop, timed_out, c);
        loop_timer_set(c->limit, req->timeout);
    }
    return c;
}

static void cancel(struct kube_transport *base, struct kube_call *call) {
    (void)base;
    call_free(call);
}

static void transport_free(struct kube_transport *base) {
    struct sim_transport *t = CONTAINER_OF(base, struct sim_transport, base);
    while (t->calls)
        call_free(t->calls);
    free(t);
}

static const struct kube_transport_ops ops = {start, cancel, transport_free};

struct kube_transport *sim_transport_new(struct loop *loop, struct api *api, struct pace *pace,
                                         const struct sim_transport_options *opts) {
    struct sim_transport *t = xnew(struct sim_transport);
    *t = (struct sim_transport){
        .base.ops = &ops,
        .loop = loop,
        .api = api,
        .pace = pace,
        .random = {opts->seed},
        .min = opts->latency_min,
        .max = opts->latency_max,
    };
    return &t->base;
}
