/* Calls through a kube_transport, written down. */
#include "support/calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/timefmt.h"

static void note_head(void *arg, const struct kube_head *head) {
    struct tcall *tc = arg;
    assert_int_equal(tc->dones, 0);
    assert_int_equal(tc->datas, 0);
    tc->heads++;
    tc->head = *head;
    tc->head.content_type = xstrdup(head->content_type);
    tc->head.warning = head->warning ? xstrdup(head->warning) : NULL;
    if (tc->on_head)
        tc->on_head(tc);
}

static int note_data(void *arg, const char *p, size_t len) {
    struct tcall *tc = arg;
    assert_int_equal(tc->dones, 0);
    assert_int_equal(tc->heads, 1);
    assert_true(len > 0);
    tc->datas++;
    tc->last_len = len;
    str_addn(&tc->body, p, len);
    int r = tc->refuse ? tc->refuse(tc) : 0;
    if (tc->on_data)
        tc->on_data(tc);
    return r;
}

static void note_done(void *arg, const struct kube_done *done) {
    struct tcall *tc = arg;
    assert_int_equal(tc->dones, 0);
    tc->dones++;
    tc->call = NULL;
    tc->end = *done;
    tc->msg = done->msg ? xstrdup(done->msg) : NULL;
    tc->end.msg = tc->msg;
    if (tc->on_done)
        tc->on_done(tc);
}

void tcall_start(struct tcall *tc, struct loop *loop, struct kube_transport *t,
                 const struct kube_request *req) {
    static const struct kube_handler handler = {note_head, note_data, note_done};
    tc->t = t;
    tc->loop = loop;
    struct kube_call *call = kube_start(t, req, &handler, tc);
    assert_non_null(call);
    assert_int_equal(tc->heads + tc->datas + tc->dones, 0);
    tc->call = call;
}

void tcall_get(struct tcall *tc, struct loop *loop, struct kube_transport *t, const char *path) {
    struct kube_request req = {.method = "GET", .path = path, .accept = "application/json"};
    tcall_start(tc, loop, t, &req);
}

void tcall_cancel(struct tcall *tc) {
    struct kube_call *call = tc->call;
    tc->call = NULL;
    kube_cancel(tc->t, call);
}

static bool call_over(void *arg) {
    struct tcall *tc = arg;
    return tc->dones > 0;
}

void tcall_wait(struct tcall *tc) {
    run_until(tc->loop, call_over, tc);
}

void tcall_succeeds(const struct tcall *tc, int code, const char *body) {
    assert_string_equal(strna(tc->msg), "");
    assert_int_equal(tc->dones, 1);
    assert_int_equal(tc->end.error, 0);
    assert_int_equal(tc->end.code, code);
    assert_int_equal(tc->heads, 1);
    assert_int_equal(tc->head.code, code);
    assert_string_equal(str_get(&tc->body), body);
}

void tcall_fails(const struct tcall *tc, int error, bool sent, const char *msg, const char *url) {
    _cleanup_str_ struct str want = STR_INIT;
    for (; *msg; msg++) {
        if (*msg == '@')
            str_add(&want, url);
        else
            str_addc(&want, *msg);
    }
    assert_int_equal(tc->dones, 1);
    assert_string_equal(strna(tc->msg), str_get(&want));
    assert_int_equal(tc->end.error, -error);
    assert_int_equal(tc->end.sent, sent);
}

void tcall_done(struct tcall *tc) {
    free((char *)tc->head.content_type);
    free((char *)tc->head.warning);
    str_done(&tc->body);
    free(tc->msg);
}

/* --- the loop --- */

struct waiting {
    struct loop *loop;
    struct loop_timer *timer;
    until_fn *fn;
    void *arg;
    int64_t limit, pause;
    bool met;
};

static void look(void *arg) {
    struct waiting *w = arg;
    w->met = w->fn && w->fn(w->arg);
    if (w->met || loop_now(w->loop) >= w->limit)
        loop_stop(w->loop);
    else
        loop_timer_set(w->timer, w->pause);
}

static bool turn(struct loop *loop, until_fn *fn, void *arg, int64_t limit) {
    struct waiting w = {
        .loop = loop, .fn = fn, .arg = arg, .limit = loop_now(loop) + limit, .pause = MSEC(1)};
    w.timer = loop_timer_new(loop, look, &w);
    loop_timer_set(w.timer, 0);
    loop_run(loop);
    loop_timer_free(w.timer);
    return w.met;
}

void run_until_(struct loop *loop, until_fn *fn, void *arg, const char *what, const char *file,
                int line) {
    if (!turn(loop, fn, arg, SEC(30))) {
        print_error("%s:%d: waited in vain for %s\n", file, line, what);
        fail();
    }
}

void run_for(struct loop *loop, int64_t usec) {
    turn(loop, NULL, NULL, usec);
}
