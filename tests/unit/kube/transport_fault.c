/* Tests of kube/transport_fault on the virtual loop, around a small deterministic transport. */
#include "kube/transport_fault.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "support/calls.h"

/* --- the inner transport: head after 1 ms, then a piece of the body every millisecond --- */

static const char *const pieces[] = {"abcd", "efgh", "ijkl"};

struct inner {
    struct kube_transport base;
    struct loop *loop;
    struct kube_call *calls;
    int started, cancelled, ended;
    int error; /* calls end with it before anything was sent */
    bool *freed;
};

struct kube_call {
    struct inner *in;
    struct kube_call *next;
    const struct kube_handler *handler;
    void *arg;
    struct loop_timer *timer;
    int at;
};

static void drop(struct kube_call *c) {
    struct kube_call **p = &c->in->calls;
    while (*p != c)
        p = &(*p)->next;
    *p = c->next;
    loop_timer_free(c->timer);
    free(c);
}

static void finish(struct kube_call *c, const struct kube_done *done) {
    const struct kube_handler *h = c->handler;
    void *arg = c->arg;
    c->in->ended++;
    drop(c);
    h->done(arg, done);
}

static void inner_tick(void *arg) {
    struct kube_call *c = arg;
    struct inner *in = c->in;
    int at = c->at++;
    if (in->error) {
        finish(c, &(struct kube_done){.error = in->error, .msg = "inner"});
        return;
    }
    if (at > (int)ARRAY_LEN(pieces)) {
        finish(c, &(struct kube_done){.code = 200});
        return;
    }
    loop_timer_set(c->timer, MSEC(1));
    /* the last use of c: it may be cancelled now */
    if (at == 0) {
        struct kube_head head = {.code = 200, .content_type = "text/x", .retry_after = -1};
        c->handler->head(c->arg, &head);
        return;
    }
    int before = in->cancelled;
    int r = c->handler->data(c->arg, pieces[at - 1], strlen(pieces[at - 1]));
    if (r && in->cancelled == before)
        finish(c, &(struct kube_done){.code = 200, .error = r, .sent = true, .msg = "refused"});
}

static struct kube_call *inner_start(struct kube_transport *t, const struct kube_request *req,
                                     const struct kube_handler *handler, void *arg) {
    (void)req;
    struct inner *in = CONTAINER_OF(t, struct inner, base);
    struct kube_call *c = xnew(struct kube_call);
    *c = (struct kube_call){.in = in, .next = in->calls, .handler = handler, .arg = arg};
    c->timer = loop_timer_new(in->loop, inner_tick, c);
    loop_timer_set(c->timer, MSEC(1));
    in->calls = c;
    in->started++;
    return c;
}

static void inner_cancel(struct kube_transport *t, struct kube_call *call) {
    (void)t;
    call->in->cancelled++;
    drop(call);
}

static void inner_free(struct kube_transport *t) {
    struct inner *in = CONTAINER_OF(t, struct inner, base);
    while (in->calls)
        drop(in->calls);
    *in->freed = true;
    free(in);
}

static const struct kube_transport_ops inner_ops = {inner_start, inner_cancel, inner_free};

/* --- the fixture --- */

struct fixture {
    struct loop *loop;
    struct inner *in;
    struct kube_fault *f;
    struct kube_transport *t;
    bool freed;
};

static void begin(struct fixture *x, uint64_t seed, const struct kube_fault_rule *rules, size_t n) {
    x->freed = false;
    x->loop = loop_new_virtual(SEC(1000));
    x->in = xnew(struct inner);
    *x->in = (struct inner){.base.ops = &inner_ops, .loop = x->loop, .freed = &x->freed};
    x->f = kube_fault_new(&x->in->base, x->loop, seed, rules, n);
    x->t = kube_fault_transport(x->f);
}
#define BEGIN(x, ...)                                                                              \
    begin((x), 1, (const struct kube_fault_rule[]){__VA_ARGS__},                                   \
          sizeof((const struct kube_fault_rule[]){__VA_ARGS__}) / sizeof(struct kube_fault_rule))

static void end(struct fixture *x) {
    if (!x->freed)
        kube_transport_free(x->t);
    assert_true(x->freed);
    assert_int_equal(loop_next(x->loop), -1); /* no timer is left behind */
    loop_free(x->loop);
}

/* A GET, until nothing happens any more. */
static struct tcall get(struct fixture *x, const char *path) {
    struct tcall tc = {0};
    tcall_get(&tc, x->loop, x->t, path);
    loop_run(x->loop);
    return tc;
}

static void ok(struct tcall *tc, const char *body) {
    assert_int_equal(tc->dones, 1);
    assert_int_equal(tc->end.error, 0);
    assert_int_equal(tc->end.code, 200);
    assert_int_equal(tc->heads, 1);
    assert_string_equal(tc->head.content_type, "text/x");
    assert_string_equal(str_get(&tc->body), body);
    tcall_done(tc);
}

static void failed(struct tcall *tc, int error, bool sent, int code, const char *body) {
    assert_int_equal(tc->dones, 1);
    assert_int_equal(tc->end.error, -error);
    assert_int_equal(tc->end.sent, sent);
    assert_int_equal(tc->end.code, code);
    assert_non_null(tc->msg);
    assert_non_null(strstr(tc->msg, "(injected)"));
    assert_string_equal(str_get(&tc->body), body);
    tcall_done(tc);
}

static uint64_t injected(const struct fixture *x, enum kube_fault_kind kind) {
    return kube_fault_stats(x->f)->injected[kind];
}

/* --- tests --- */

static void harmless(void **state) {
    (void)state;
    struct fixture x;
    begin(&x, 1, NULL, 0);
    struct tcall tc = get(&x, "/a");
    ok(&tc, "abcdefghijkl");
    assert_int_equal(tc.datas, 3);
    assert_int_equal(kube_fault_stats(x.f)->calls, 1);
    x.in->error = -EPROTO;
    tc = get(&x, "/a");
    assert_int_equal(tc.end.error, -EPROTO);
    assert_string_equal(tc.msg, "inner");
    tcall_done(&tc);
    end(&x);
}

static void status(void **state) {
    (void)state;
    struct fixture x;
    BEGIN(&x,
          {.kind = KUBE_FAULT_STATUS, .code = 429, .retry_after = 7, .nth = 1, .delay = MSEC(5)},
          {.kind = KUBE_FAULT_STATUS, .code = 410, .nth = 2},
          {.kind = KUBE_FAULT_STATUS, .code = 429, .flow_control = true, .nth = 3},
          {.kind = KUBE_FAULT_STATUS, .code = 500, .body = "boom", .nth = 4});
    int64_t start = loop_now(x.loop);
    struct tcall tc = get(&x, "/a");
    assert_int_equal(loop_now(x.loop) - start, MSEC(5));
    assert_int_equal(tc.end.error, 0);
    assert_int_equal(tc.end.code, 429);
    assert_int_equal(tc.head.code, 429);
    assert_int_equal(tc.head.retry_after, 7);
    assert_int_equal(tc.head.date, SEC(1000) + MSEC(5));
    assert_false(tc.head.flow_control);
    assert_string_equal(tc.head.content_type, "application/json");
    assert_string_equal(str_get(&tc.body),
                        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                        "\"Failure\",\"message\":\"Too Many Requests (injected)\",\"code\":429}\n");
    tcall_done(&tc);
    /* a rule that has fired, or has not yet, lets the next one have its turn */
    tc = get(&x, "/a");
    ok(&tc, "abcdefghijkl");
    tc = get(&x, "/a");
    assert_int_equal(tc.head.code, 410);
    assert_int_equal(tc.head.retry_after, -1);
    tcall_done(&tc);
    end(&x);
}

static void status_forms(void **state) {
    (void)state;
    struct fixture x;
    BEGIN(&x, {.kind = KUBE_FAULT_STATUS, .code = 429, .flow_control = true, .count = 1},
          {.kind = KUBE_FAULT_STATUS, .code = 503, .body = "boom"});
    struct tcall tc = get(&x, "/a");
    assert_true(tc.head.flow_control);
    assert_string_equal(tc.head.content_type, "text/plain; charset=utf-8");
    assert_string_equal(str_get(&tc.body), "Too many requests, please try again later.\n");
    tcall_done(&tc);
    tc = get(&x, "/a");
    assert_int_equal(tc.end.code, 503);
    assert_string_equal(str_get(&tc.body), "boom");
    tcall_done(&tc);
    assert_int_equal(x.in->started, 0); /* nothing was forwarded */
    assert_int_equal(injected(&x, KUBE_FAULT_STATUS), 2);
    assert_int_equal(kube_fault_fired(x.f, 0), 1);
    assert_int_equal(kube_fault_fired(x.f, 1), 1);
    assert_int_equal(kube_fault_fired(x.f, 2), 0);
    end(&x);
}

static void refuse(void **state) {
    (void)state;
    struct fixture x;
    BEGIN(&x, {.kind = KUBE_FAULT_REFUSE});
    struct tcall tc = get(&x, "/a");
    failed(&tc, ECONNREFUSED, false, 0, "");
    assert_int_equal(x.in->started, 0);
    end(&x);
}

static void lose(void **state) {
    (void)state;
    struct fixture x;
    BEGIN(&x, {.kind = KUBE_FAULT_LOSE});
    struct tcall tc = get(&x, "/a");
    assert_int_equal(tc.heads, 0);
    failed(&tc, ECONNRESET, true, 0, "");
    assert_int_equal(x.in->ended, 1); /* carried out to its end */
    /* What never arrived cannot be lost on the way back. */
    x.in->error = -ECONNREFUSED;
    tc = get(&x, "/a");
    assert_int_equal(tc.end.error, -ECONNREFUSED);
    assert_false(tc.end.sent);
    tcall_done(&tc);
    end(&x);
}

static void truncate_at(void **state) {
    (void)state;
    static const struct {
        size_t bytes;
        const char *body;
    } cases[] = {
        {0, ""}, {1, "a"}, {4, "abcd"}, {6, "abcdef"}, {12, "abcdefghijkl"}, {100, "abcdefghijkl"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture x;
        BEGIN(&x, {.kind = KUBE_FAULT_TRUNCATE, .bytes = cases[i].bytes});
        struct tcall tc = get(&x, "/a");
        assert_int_equal(tc.heads, 1);
        failed(&tc, ECONNRESET, true, 200, cases[i].body);
        assert_int_equal(x.in->cancelled, cases[i].bytes <= 12);
        end(&x);
    }
}

static void stall_for_a_time(void **state) {
    (void)state;
    for (size_t bytes = 0; bytes < 8; bytes++) {
        struct fixture x;
        BEGIN(&x, {.kind = KUBE_FAULT_STALL, .bytes = bytes, .delay = SEC(60)});
        int64_t start = loop_now(x.loop);
        struct tcall tc = {0};
        tcall_get(&tc, x.loop, x.t, "/a");
        loop_advance(x.loop, SEC(30));
        assert_int_equal(tc.body.len, bytes);
        assert_int_equal(tc.heads, bytes > 0);
        assert_int_equal(tc.dones, 0);
        loop_run(x.loop);
        assert_in_range(loop_now(x.loop) - start, SEC(60), SEC(60) + MSEC(10));
        ok(&tc, "abcdefghijkl");
        end(&x);
    }
}

/* The silence is over before the inner transport is. */
static void short_stall(void **state) {
    (void)state;
    struct fixture x;
    BEGIN(&x, {.kind = KUBE_FAULT_STALL, .delay = 100}, );
    struct tcall tc = get(&x, "/a");
    ok(&tc, "abcdefghijkl");
    end(&x);
    BEGIN(&x, {.kind = KUBE_FAULT_STALL, .bytes = 5, .delay = 100}, );
    tc = get(&x, "/a");
    ok(&tc, "abcdefghijkl");
    end(&x);
}

static void stall_for_ever(void **state) {
    (void)state;
    static const struct kube_request limits[] = {
        {.method = "GET", .path = "/", .idle = SEC(90)},
        {.method = "GET", .path = "/", .timeout = SEC(90)},
        {.method = "GET", .path = "/", .timeout = SEC(900), .idle = SEC(90)},
        {.method = "GET", .path = "/", .timeout = SEC(90), .idle = SEC(900)},
    };
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        struct fixture x;
        BEGIN(&x, {.kind = KUBE_FAULT_STALL, .bytes = 6});
        int64_t start = loop_now(x.loop);
        struct tcall tc = {0};
        tcall_start(&tc, x.loop, x.t, &limits[i]);
        loop_run(x.loop);
        assert_in_range(loop_now(x.loop) - start, SEC(90), SEC(90) + MSEC(10));
        failed(&tc, ETIMEDOUT, true, 200, "abcdef");
        end(&x);
    }
    /* Without a limit it never ends; it can be cancelled. */
    struct fixture x;
    BEGIN(&x, {.kind = KUBE_FAULT_STALL});
    struct tcall tc = {0};
    tcall_get(&tc, x.loop, x.t, "/a");
    loop_advance(x.loop, SEC(3600));
    assert_int_equal(tc.heads + tc.datas + tc.dones, 0);
    tcall_cancel(&tc);
    tcall_done(&tc);
    end(&x);
}

/* The request's limits also hold while an answer of our own is late. */
static void late_answer(void **state) {
    (void)state;
    struct fixture x;
    BEGIN(&x, {.kind = KUBE_FAULT_STATUS, .code = 500, .delay = SEC(100), .count = 1},
          {.kind = KUBE_FAULT_REFUSE, .delay = SEC(100)});
    struct kube_request req = {.method = "GET", .path = "/", .timeout = SEC(5)};
    for (int i = 0; i < 2; i++) {
        int64_t start = loop_now(x.loop);
        struct tcall tc = {0};
        tcall_start(&tc, x.loop, x.t, &req);
        loop_run(x.loop);
        assert_int_equal(loop_now(x.loop) - start, SEC(5));
        failed(&tc, ETIMEDOUT, i == 0, 0, "");
    }
    end(&x);
}

static void split(void **state) {
    (void)state;
    static const struct {
        size_t bytes;
        int datas;
    } cases[] = {{0, 12}, {1, 12}, {3, 6}, {4, 3}, {100, 3}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture x;
        BEGIN(&x, {.kind = KUBE_FAULT_SPLIT, .bytes = cases[i].bytes});
        struct tcall tc = get(&x, "/a");
        assert_int_equal(tc.datas, cases[i].datas);
        ok(&tc, "abcdefghijkl");
        end(&x);
    }
}

static void corrupt(void **state) {
    (void)state;
    for (size_t at = 0; at < 13; at++) {
        struct fixture x;
        BEGIN(&x, {.kind = KUBE_FAULT_CORRUPT, .bytes = at});
        struct tcall tc = get(&x, "/a");
        assert_int_equal(tc.end.error, 0);
        assert_int_equal(tc.body.len, 12);
        for (size_t i = 0; i < 12; i++)
            assert_int_equal(tc.body.p[i] != "abcdefghijkl"[i], i == at);
        tcall_done(&tc);
        end(&x);
    }
}

static void picks_by_request(void **state) {
    (void)state;
    struct fixture x;
    BEGIN(&x, {.kind = KUBE_FAULT_REFUSE,
               .method = "POST",
               .path = "/eviction",
               .lanes = 1U << KUBE_LANE_CALL | 1U << KUBE_LANE_LEASE});
    static const struct {
        struct kube_request req;
        bool harmed;
    } cases[] = {
        {{.method = "POST", .path = "/pods/a/eviction?x"}, true},
        {{.method = "POST", .path = "/pods/a/eviction", .lane = KUBE_LANE_LEASE}, true},
        {{.method = "POST", .path = "/pods/a/eviction", .lane = KUBE_LANE_WATCH}, false},
        {{.method = "GET", .path = "/pods/a/eviction"}, false},
        {{.method = "POST", .path = "/pods/a"}, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tcall tc = {0};
        tcall_start(&tc, x.loop, x.t, &cases[i].req);
        loop_run(x.loop);
        assert_int_equal(tc.end.error, cases[i].harmed ? -ECONNREFUSED : 0);
        tcall_done(&tc);
    }
    end(&x);
}

static void count_and_nth(void **state) {
    (void)state;
    struct fixture x;
    BEGIN(&x, {.kind = KUBE_FAULT_REFUSE, .count = 2}, {.kind = KUBE_FAULT_LOSE, .nth = 3});
    static const int want[] = {-ECONNREFUSED, -ECONNREFUSED, 0, 0, -ECONNRESET, 0};
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        struct tcall tc = get(&x, "/a");
        assert_int_equal(tc.end.error, want[i]);
        tcall_done(&tc);
    }
    end(&x);
}

/* The seed decides, and nothing else does. */
static void chance(void **state) {
    (void)state;
    enum { N = 1000 };
    bool harmed[3][N];
    for (int run = 0; run < 3; run++) {
        struct fixture x;
        const struct kube_fault_rule rule = {.kind = KUBE_FAULT_REFUSE, .probability = 0.3};
        begin(&x, run < 2 ? 42 : 43, &rule, 1);
        for (int i = 0; i < N; i++) {
            struct tcall tc = get(&x, "/a");
            harmed[run][i] = tc.end.error != 0;
            tcall_done(&tc);
        }
        assert_in_range(injected(&x, KUBE_FAULT_REFUSE), 250, 350);
        end(&x);
    }
    assert_memory_equal(harmed[0], harmed[1], sizeof harmed[0]);
    assert_memory_not_equal(harmed[0], harmed[2], sizeof harmed[0]);
}

static void rules_at_run_time(void **state) {
    (void)state;
    struct fixture x;
    begin(&x, 1, NULL, 0);
    struct tcall tc = get(&x, "/a");
    ok(&tc, "abcdefghijkl");
    char path[] = "/a";
    assert_int_equal(
        kube_fault_add(x.f, &(struct kube_fault_rule){.kind = KUBE_FAULT_REFUSE, .path = path}), 0);
    path[1] = 'z'; /* it was copied */
    tc = get(&x, "/a");
    failed(&tc, ECONNREFUSED, false, 0, "");
    /* A call under way keeps its rule. */
    kube_fault_clear(x.f);
    kube_fault_add(x.f, &(struct kube_fault_rule){.kind = KUBE_FAULT_TRUNCATE, .bytes = 5});
    struct tcall under_way = {0};
    tcall_get(&under_way, x.loop, x.t, "/a");
    kube_fault_clear(x.f);
    loop_run(x.loop);
    failed(&under_way, ECONNRESET, true, 200, "abcde");
    tc = get(&x, "/a");
    ok(&tc, "abcdefghijkl");
    end(&x);
}

/* --- cancelling and freeing, from everywhere --- */

static const struct kube_fault_rule all_kinds[] = {
    {.kind = KUBE_FAULT_STATUS, .code = 500},
    {.kind = KUBE_FAULT_REFUSE},
    {.kind = KUBE_FAULT_LOSE},
    {.kind = KUBE_FAULT_TRUNCATE, .bytes = 5},
    {.kind = KUBE_FAULT_TRUNCATE, .bytes = 100},
    {.kind = KUBE_FAULT_STALL, .delay = SEC(1)},
    {.kind = KUBE_FAULT_STALL, .bytes = 5, .delay = SEC(1)},
    {.kind = KUBE_FAULT_SPLIT},
    {.kind = KUBE_FAULT_CORRUPT, .bytes = 1},
    {.kind = KUBE_FAULT_CORRUPT, .path = "no such path"}, /* no harm done */
};

static void cancel_now(struct tcall *tc) {
    if (tc->call)
        tcall_cancel(tc);
}

static void free_now(struct tcall *tc) {
    tc->call = NULL;
    kube_transport_free(tc->t);
}

static int refuse_now(struct tcall *tc) {
    (void)tc;
    return -EFBIG;
}

static void from_callbacks(void **state) {
    (void)state;
    static tcall_fn *const acts[] = {cancel_now, free_now};
    for (size_t k = 0; k < ARRAY_LEN(all_kinds); k++)
        for (size_t a = 0; a < ARRAY_LEN(acts); a++)
            for (int where = 0; where < 3; where++) {
                struct fixture x;
                begin(&x, 1, &all_kinds[k], 1);
                struct tcall other = {0}, tc = {.on_head = where == 0 ? acts[a] : NULL,
                                                .on_data = where == 1 ? acts[a] : NULL,
                                                .on_done = where == 2 ? acts[a] : NULL};
                tcall_get(&tc, x.loop, x.t, "/a");
                tcall_get(&other, x.loop, x.t, "/a");
                loop_run(x.loop);
                if (where < 2 && tc.heads + tc.datas > where)
                    assert_int_equal(tc.dones, 0);
                assert_true(other.dones == 1 || a == 1);
                tcall_done(&tc);
                tcall_done(&other);
                end(&x);
            }
}

static void receiver_refuses(void **state) {
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(all_kinds); k++) {
        struct fixture x;
        begin(&x, 1, &all_kinds[k], 1);
        struct tcall tc = {.refuse = refuse_now};
        tcall_get(&tc, x.loop, x.t, "/a");
        loop_run(x.loop);
        assert_int_equal(tc.dones, 1);
        assert_true(tc.datas <= 1);
        if (tc.datas)
            assert_int_equal(tc.end.error, -EFBIG);
        tcall_done(&tc);
        end(&x);
    }
}

static void at_every_moment(void **state) {
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(all_kinds); k++)
        for (int64_t at = 0; at < 8; at++) {
            struct fixture x;
            begin(&x, 1, &all_kinds[k], 1);
            struct tcall one = {0}, two = {0};
            tcall_get(&one, x.loop, x.t, "/a");
            tcall_get(&two, x.loop, x.t, "/a");
            loop_advance(x.loop, MSEC(at));
            int before = one.dones;
            tcall_cancel(&one);
            loop_advance(x.loop, MSEC(at));
            assert_int_equal(one.dones, before);
            tcall_done(&one);
            end(&x); /* with the other perhaps under way */
            tcall_done(&two);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(harmless),
        cmocka_unit_test(status),
        cmocka_unit_test(status_forms),
        cmocka_unit_test(refuse),
        cmocka_unit_test(lose),
        cmocka_unit_test(truncate_at),
        cmocka_unit_test(stall_for_a_time),
        cmocka_unit_test(short_stall),
        cmocka_unit_test(stall_for_ever),
        cmocka_unit_test(late_answer),
        cmocka_unit_test(split),
        cmocka_unit_test(corrupt),
        cmocka_unit_test(picks_by_request),
        cmocka_unit_test(count_and_nth),
        cmocka_unit_test(chance),
        cmocka_unit_test(rules_at_run_time),
        cmocka_unit_test(from_callbacks),
        cmocka_unit_test(receiver_refuses),
        cmocka_unit_test(at_every_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
