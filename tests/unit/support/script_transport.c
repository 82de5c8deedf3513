/* A kube_transport whose answers are given by the test. */
#include "support/script_transport.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/vec.h"

struct script {
    struct kube_transport transport;
    struct loop *loop;
    script_fn *fn;
    void *arg;
    VEC(struct script_call *) calls;
};

struct kube_call {
    struct script_call c;
};

static char *copy(const char *s) {
    return s ? xstrdup(s) : NULL;
}

/* --- ending --- */

static void close_call(struct script_call *c) {
    c->open = false;
    loop_timer_stop(c->deliver);
    loop_timer_stop(c->timeout_timer);
    loop_timer_stop(c->idle_timer);
}

static void finish(struct script_call *c, const struct kube_done *done) {
    if (!c->open)
        return;
    close_call(c);
    c->result = done->error;
    c->handler->done(c->arg, done);
}

void script_fail(struct script_call *c, int error, bool sent, const char *msg) {
    struct kube_done done = {.code = c->code, .error = error, .sent = sent, .msg = msg};
    finish(c, &done);
}

void script_end(struct script_call *c) {
    struct kube_done done = {.code = c->code};
    finish(c, &done);
}

static void on_timeout(void *arg) {
    script_fail(arg, -ETIMEDOUT, true, "no complete answer came in time");
}

static void on_idle(void *arg) {
    script_fail(arg, -ETIMEDOUT, true, "nothing came for too long");
}

/* --- answering --- */

static void alive(struct script_call *c) {
    if (c->idle)
        loop_timer_set(c->idle_timer, c->idle);
}

void script_head_full(struct script_call *c, const struct kube_head *head) {
    if (!c->open)
        return;
    alive(c);
    c->code = head->code;
    if (c->handler->head)
        c->handler->head(c->arg, head);
}

void script_head(struct script_call *c, int code, const char *content_type) {
    struct kube_head head = {.code = code, .content_type = content_type, .retry_after = -1};
    script_head_full(c, &head);
}

void script_data(struct script_call *c, const void *p, size_t len) {
    if (!c->open || !len)
        return;
    alive(c);
    int rc = c->handler->data(c->arg, p, len);
    if (rc)
        script_fail(c, rc, true, "the receiver stopped it");
}

void script_text(struct script_call *c, const char *text) {
    script_data(c, text, strlen(text));
}

void script_reply_full(struct script_call *c, const struct kube_head *head, const void *body,
                       size_t len) {
    script_head_full(c, head);
    script_data(c, body, len);
    script_end(c);
}

void script_reply(struct script_call *c, int code, const char *content_type, const char *body) {
    struct kube_head head = {.code = code, .content_type = content_type, .retry_after = -1};
    script_reply_full(c, &head, body, strlen(body));
}

/* --- the transport --- */

static void on_deliver(void *arg) {
    struct script_call *c = arg;
    c->script->fn(c->script->arg, c);
}

static struct kube_call *start(struct kube_transport *t, const struct kube_request *req,
                               const struct kube_handler *handler, void *arg) {
    struct script *s = (struct script *)t;
    struct kube_call *call = xnew(struct kube_call);
    struct script_call *c = &call->c;
    *c = (struct script_call){
        .method = xstrdup(req->method),
        .path = xstrdup(req->path),
        .accept = copy(req->accept),
        .content_type = copy(req->content_type),
        .body = req->body ? xstrndup(req->body, req->body_len) : NULL,
        .lane = req->lane,
        .timeout = req->timeout,
        .idle = req->idle,
        .at = loop_now(s->loop),
        .open = true,
        .script = s,
        .handler = handler,
        .arg = arg,
        .deliver = loop_timer_new(s->loop, on_deliver, c),
        .timeout_timer = loop_timer_new(s->loop, on_timeout, c),
        .idle_timer = loop_timer_new(s->loop, on_idle, c),
    };
    *vec_push(&s->calls) = c;
    if (s->fn)
        loop_timer_set(c->deliver, 0);
    if (c->timeout)
        loop_timer_set(c->timeout_timer, c->timeout);
    alive(c);
    return call;
}

static void cancel(struct kube_transport *t, struct kube_call *call) {
    (void)t;
    assert_true(call->c.open); /* valid until `done` was called */
    close_call(&call->c);
    call->c.cancelled = true;
}

static void transport_free(struct kube_transport *t) {
    struct script *s = (struct script *)t;
    for (size_t i = 0; i < s->calls.len; i++) {
        struct script_call *c = s->calls.p[i];
        loop_timer_free(c->deliver);
        loop_timer_free(c->timeout_timer);
        loop_timer_free(c->idle_timer);
        free(c->method);
        free(c->path);
        free(c->accept);
        free(c->content_type);
        free(c->body);
        str_done(&c->value);
        free(c);
    }
    vec_done(&s->calls);
    free(s);
}

static const struct kube_transport_ops ops = {start, cancel, transport_free};

struct script *script_new(struct loop *loop, script_fn *fn, void *arg) {
    struct script *s = xnew(struct script);
    s->transport.ops = &ops;
    s->loop = loop;
    s->fn = fn;
    s->arg = arg;
    return s;
}

struct kube_transport *script_transport(struct script *s) {
    return &s->transport;
}

size_t script_len(const struct script *s) {
    return s->calls.len;
}

struct script_call *script_at(const struct script *s, size_t i) {
    if (i >= s->calls.len) {
        print_error("there is no request %zu, only %zu came\n", i, s->calls.len);
        fail();
    }
    return s->calls.p[i];
}

struct script_call *script_last(const struct script *s) {
    return script_at(s, s->calls.len - 1);
}

static int hex(char c) {
    const char *digits = "0123456789ABCDEF", *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

const char *script_query(struct script_call *c, const char *key) {
    size_t len = strlen(key);
    const char *p = strchr(c->path, '?');
    for (; p; p = strchr(p, '&')) {
        p++;
        if (!strncmp(p, key, len) && p[len] == '=')
            break;
    }
    if (!p)
        return NULL;
    str_reset(&c->value);
    for (p += len + 1; *p && *p != '&'; p++) {
        if (*p == '%' && hex(p[1]) >= 0 && hex(p[2]) >= 0) {
            str_addc(&c->value, (char)(hex(p[1]) * 16 + hex(p[2])));
            p += 2;
        } else {
            str_addc(&c->value, *p);
        }
    }
    return str_get(&c->value);
}
