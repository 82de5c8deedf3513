/* A transport that does harm. */
#include "kube/transport_fault.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/prng.h"
#include "base/str.h"
#include "base/vec.h"
#include "kube/curl_head.h"

/* What a stalled call may pile up before it is cut off. */
enum { HELD_MAX = 64 * 1024 * 1024 };

struct rule {
    struct kube_fault_rule r; /* its strings are ours */
    unsigned matched, fired;
};

struct kube_fault {
    struct kube_transport base;
    struct kube_transport *inner;
    struct loop *loop;
    struct prng prng;
    VEC(struct rule) rules;
    struct faulty_call *calls;
    struct kube_fault_stats stats;
};

/* A call, as the user sees it. */
struct faulty_call {
    struct kube_fault *f;
    struct faulty_call *prev, *next;
    const struct kube_handler *handler;
    void *arg;
    struct kube_call *inner; /* NULL when it was not forwarded, or has ended */
    bool harmed;
    struct kube_fault_rule rule; /* with `harmed`; a copy whose strings are ours */
    int64_t idle, deadline;      /* of the request; 0: none */
    size_t passed;               /* bytes of the body so far */
    uint64_t flip;               /* CORRUPT */
    struct loop_timer *timer;
    bool overdue; /* the timer stands for `idle` or `deadline` */

    /* STALL: what came meanwhile */
    bool silent;
    struct kube_head head;
    char *content_type, *warning;
    bool have_head, have_done;
    struct str held;
    struct kube_done ended;
    char *msg;

    int depth; /* callbacks of the user's on the stack */
    bool gone; /* ended or cancelled: freed when they have returned */
};

/* --- chance --- */

static bool chance(struct prng *prng, double p) {
    return (double)(prng_next(prng) >> 11) * 0x1p-53 < p;
}

/* --- rules --- */

static void copy_rule(struct kube_fault_rule *to, const struct kube_fault_rule *from) {
    *to = *from;
    to->method = from->method ? xstrdup(from->method) : NULL;
    to->path = from->path ? xstrdup(from->path) : NULL;
    to->body = from->body ? xstrdup(from->body) : NULL;
}

static void rule_done(struct kube_fault_rule *r) {
    free((char *)r->method);
    free((char *)r->path);
    free((char *)r->body);
}

static bool matches(const struct kube_fault_rule *r, const struct kube_request *req) {
    return (!r->method || streq(r->method, req->method)) &&
           (!r->path || strstr(req->path, r->path)) && (!r->lanes || r->lanes & 1U << req->lane);
}

static struct rule *pick(struct kube_fault *f, const struct kube_request *req) {
    for (size_t i = 0; i < f->rules.len; i++) {
        struct rule *r = &f->rules.p[i];
        if (!matches(&r->r, req))
            continue;
        r->matched++;
        if ((r->r.nth && r->matched != r->r.nth) || (r->r.count && r->fired >= r->r.count) ||
            (r->r.probability > 0 && !chance(&f->prng, r->r.probability)))
            continue;
        r->fired++;
        return r;
    }
    return NULL;
}

size_t kube_fault_add(struct kube_fault *f, const struct kube_fault_rule *rule) {
    struct rule *r = vec_push(&f->rules);
    *r = (struct rule){0};
    copy_rule(&r->r, rule);
    return f->rules.len - 1;
}

void kube_fault_clear(struct kube_fault *f) {
    for (size_t i = 0; i < f->rules.len; i++)
        rule_done(&f->rules.p[i].r);
    vec_done(&f->rules);
}

const struct kube_fault_stats *kube_fault_stats(const struct kube_fault *f) {
    return &f->stats;
}

unsigned kube_fault_fired(const struct kube_fault *f, size_t i) {
    return i < f->rules.len ? f->rules.p[i].fired : 0;
}

/* --- the end of a call --- */

static void free_call(struct faulty_call *c) {
    loop_timer_free(c->timer);
    rule_done(&c->rule);
    free(c->content_type);
    free(c->warning);
    free(c->msg);
    str_done(&c->held);
    free(c);
}

/* No callback of the user's from here on; inner must be over or cancelled by now. */
static void retire(struct faulty_call *c) {
    if (c->prev)
        c->prev->next = c->next;
    else
        c->f->calls = c->next;
    if (c->next)
        c->next->prev = c->prev;
    c->gone = true;
    loop_timer_stop(c->timer);
}

/* Around each callback of the user's, in which the call can end. */
static void enter(struct faulty_call *c) {
    c->depth++;
}

/* True when it is still there. */
static bool leave(struct faulty_call *c) {
    if (--c->depth == 0 && c->gone) {
        free_call(c);
        return false;
    }
    return !c->gone;
}

static void tell_done(struct faulty_call *c, const struct kube_done *done) {
    enter(c);
    retire(c);
    c->handler->done(c->arg, done);
    leave(c);
}

static void end(struct faulty_call *c, int error, bool sent, const char *msg) {
    if (c->inner) {
        kube_cancel(c->f->inner, c->inner);
        c->inner = NULL;
    }
    struct kube_done done = {
        .code = c->have_head ? c->head.code : 0, .error = error, .sent = sent, .msg = msg};
    tell_done(c, &done);
}

/* Sets the timer for `delay` (-1: for ever), or for the request's own limits if they come first. */
static void wait_for(struct faulty_call *c, int64_t delay) {
    int64_t wait = delay, left = c->deadline - loop_now(c->f->loop);
    if (c->idle && (wait < 0 || c->idle < wait))
        wait = c->idle;
    if (c->deadline && (wait < 0 || left < wait))
        wait = MAX_OF(left, 0);
    c->overdue = wait != delay;
    if (wait >= 0)
        loop_timer_set(c->timer, wait);
}

/* --- passing on --- */

static bool tell_head(struct faulty_call *c) {
    enter(c);
    if (c->handler->head)
        c->handler->head(c->arg, &c->head);
    return leave(c);
}

/* 0, the user's refusal, or 1 when the call is gone. */
static int tell_data(struct faulty_call *c, const char *p, size_t len) {
    enter(c);
    int r = len ? c->handler->data(c->arg, p, len) : 0;
    return leave(c) ? r : 1;
}

static int harm_data(struct faulty_call *c, const char *p, size_t len) {
    size_t at = c->passed;
    c->passed += len;
    if (!c->harmed)
        return tell_data(c, p, len);
    size_t bytes = c->rule.bytes;
    int r = 0;
    switch (c->rule.kind) {
    case KUBE_FAULT_SPLIT:
        for (size_t n, size = bytes ? bytes : 1; len && !r; p += n, len -= n) {
            n = MIN_OF(len, size);
            r = tell_data(c, p, n);
        }
        return r;
    case KUBE_FAULT_CORRUPT:
        if (bytes >= at && bytes - at < len) {
            _cleanup_free_ char *copy = xmemdup(p, len);
            copy[bytes - at] ^= (char)(1 + c->flip % 255);
            return tell_data(c, copy, len);
        }
        return tell_data(c, p, len);
    case KUBE_FAULT_TRUNCATE:
        r = tell_data(c, p, at < bytes ? MIN_OF(len, bytes - at) : 0);
        if (r || at + len < bytes)
            return r;
        end(c, -ECONNRESET, true, "the connection broke in the middle of the answer (injected)");
        return 1;
    case KUBE_FAULT_STATUS:
    case KUBE_FAULT_REFUSE:
    case KUBE_FAULT_LOSE:
    case KUBE_FAULT_STALL:
        break;
    }
    return tell_data(c, p, len);
}

/* --- silence --- */

static void fall_silent(struct faulty_call *c) {
    c->silent = true;
    wait_for(c, c->rule.delay ? c->rule.delay : -1);
}

/* Everything that was held back. */
static void speak(struct faulty_call *c) {
    c->silent = false;
    c->harmed = false;
    bool head_due = c->have_head && !c->rule.bytes;
    if (head_due && !tell_head(c))
        return;
    _cleanup_str_ struct str held = c->held;
    c->held = STR_INIT;
    int r = tell_data(c, held.p, held.len);
    if (r > 0)
        return;
    if (r < 0)
        end(c, r, true, "the answer was given up");
    else if (c->have_done)
        tell_done(c, &c->ended);
}

/* --- from the inner transport --- */

static void keep_head(struct faulty_call *c, const struct kube_head *head) {
    c->head = *head;
    c->have_head = true;
    c->head.content_type = c->content_type = xstrdup(head->content_type);
    if (head->warning)
        c->head.warning = c->warning = xstrdup(head->warning);
}

static void on_head(void *arg, const struct kube_head *head) {
    struct faulty_call *c = arg;
    keep_head(c, head);
    if (c->harmed && c->rule.kind == KUBE_FAULT_LOSE)
        return;
    if (!c->silent)
        tell_head(c);
}

/* 0 goes on, as does what makes the inner transport end an unharmed call by itself. */
static int on_data(void *arg, const char *p, size_t len) {
    struct faulty_call *c = arg;
    if (c->harmed && c->rule.kind == KUBE_FAULT_LOSE)
        return 0;
    if (c->harmed && c->rule.kind == KUBE_FAULT_STALL && !c->silent &&
        c->passed + len >= c->rule.bytes) {
        size_t n = c->rule.bytes - c->passed;
        c->passed = c->rule.bytes;
        int r = tell_data(c, p, n);
        if (r)
            return r > 0 ? 0 : r;
        p += n;
        len -= n;
        fall_silent(c);
    }
    if (c->silent) {
        if (c->rule.delay)
            str_addn(&c->held, p, len);
        if (c->held.len <= HELD_MAX)
            return 0;
        end(c, -ECONNRESET, true, "the connection broke (injected)");
        return 0;
    }
    int r = harm_data(c, p, len);
    return r > 0 ? 0 : r;
}

static void on_done(void *arg, const struct kube_done *done) {
    struct faulty_call *c = arg;
    c->inner = NULL;
    if (c->silent) {
        c->have_done = true;
        c->ended = *done;
        if (done->msg)
            c->ended.msg = c->msg = xstrdup(done->msg);
        return;
    }
    /* What never got there is not lost on its way back. */
    if (c->harmed && c->rule.kind == KUBE_FAULT_LOSE && (!done->error || done->sent)) {
        c->have_head = false;
        end(c, -ECONNRESET, true, "the connection broke before an answer came (injected)");
    } else if (c->harmed && c->rule.kind == KUBE_FAULT_TRUNCATE && !done->error) {
        end(c, -ECONNRESET, true, "the connection broke in the middle of the answer (injected)");
    } else {
        tell_done(c, done);
    }
}

static const struct kube_handler inner_handler = {
    .head = on_head, .data = on_data, .done = on_done};

/* --- answers of our own --- */

static char *status_body(int code) {
    return xasprintf("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                     "\"Failure\",\"message\":\"%s (injected)\",\"code\":%d}\n",
                     http_status_text(code), code);
}

static void answer(struct faulty_call *c) {
    const struct kube_fault_rule *r = &c->rule;
    struct kube_head head = {
        .code = r->code,
        .content_type = r->flow_control ? "text/plain; charset=utf-8" : "application/json",
        .retry_after = r->retry_after ? r->retry_after : -1,
        .date = loop_wall(c->f->loop),
        .flow_control = r->flow_control,
    };
    _cleanup_free_ char *body = r->body           ? xstrdup(r->body)
                                : r->flow_control ? xstrdup("Too many requests, please try again "
                                                            "later.\n")
                                                  : status_body(r->code);
    keep_head(c, &head);
    if (!tell_head(c))
        return;
    int refused = tell_data(c, body, strlen(body));
    if (refused > 0)
        return;
    end(c, refused, refused < 0, refused < 0 ? "the answer was given up" : NULL);
}

static void on_timer(void *arg) {
    struct faulty_call *c = arg;
    if (c->overdue) {
        end(c, -ETIMEDOUT, c->rule.kind != KUBE_FAULT_REFUSE,
            "nothing was received in time (injected)");
        return;
    }
    switch (c->rule.kind) {
    case KUBE_FAULT_STATUS:
        answer(c);
        break;
    case KUBE_FAULT_REFUSE:
        end(c, -ECONNREFUSED, false, "cannot reach the server: connection refused (injected)");
        break;
    case KUBE_FAULT_STALL:
        speak(c);
        break;
    case KUBE_FAULT_LOSE:
    case KUBE_FAULT_TRUNCATE:
    case KUBE_FAULT_SPLIT:
    case KUBE_FAULT_CORRUPT:
        break; /* have no timer */
    }
}

/* --- the interface --- */

static struct kube_call *op_start(struct kube_transport *base, const struct kube_request *req,
                                  const struct kube_handler *handler, void *arg) {
    struct kube_fault *f = CONTAINER_OF(base, struct kube_fault, base);
    struct faulty_call *c = xnew(struct faulty_call);
    c->f = f;
    c->handler = handler;
    c->arg = arg;
    c->timer = loop_timer_new(f->loop, on_timer, c);
    c->idle = req->idle;
    c->deadline = req->timeout ? loop_now(f->loop) + req->timeout : 0;
    c->next = f->calls;
    if (c->next)
        c->next->prev = c;
    f->calls = c;
    f->stats.calls++;
    struct rule *rule = pick(f, req);
    if (rule) {
        c->harmed = true;
        copy_rule(&c->rule, &rule->r);
        c->flip = rule->r.kind == KUBE_FAULT_CORRUPT ? prng_next(&f->prng) : 0;
        f->stats.injected[rule->r.kind]++;
    }
    if (c->harmed && (c->rule.kind == KUBE_FAULT_STATUS || c->rule.kind == KUBE_FAULT_REFUSE)) {
        wait_for(c, c->rule.delay);
    } else {
        if (c->harmed && c->rule.kind == KUBE_FAULT_STALL && !c->rule.bytes)
            fall_silent(c);
        c->inner = kube_start(f->inner, req, &inner_handler, c);
    }
    return (struct kube_call *)c;
}

static void cancel(struct faulty_call *c) {
    if (c->inner)
        kube_cancel(c->f->inner, c->inner);
    c->inner = NULL;
    retire(c);
    if (!c->depth)
        free_call(c);
}

static void op_cancel(struct kube_transport *base, struct kube_call *call) {
    (void)base;
    cancel((struct faulty_call *)call);
}

static void op_free(struct kube_transport *base) {
    struct kube_fault *f = CONTAINER_OF(base, struct kube_fault, base);
    while (f->calls)
        cancel(f->calls);
    kube_transport_free(f->inner);
    kube_fault_clear(f);
    free(f);
}

static const struct kube_transport_ops ops = {
    .start = op_start, .cancel = op_cancel, .free = op_free};

struct kube_fault *kube_fault_new(struct kube_transport *inner, struct loop *loop, uint64_t seed,
                                  const struct kube_fault_rule *rules, size_t n) {
    struct kube_fault *f = xnew(struct kube_fault);
    *f = (struct kube_fault){.base.ops = &ops, .inner = inner, .loop = loop, .prng = {seed}};
    for (size_t i = 0; i < n; i++)
        kube_fault_add(f, &rules[i]);
    return f;
}

struct kube_transport *kube_fault_transport(struct kube_fault *f) {
    return &f->base;
}
