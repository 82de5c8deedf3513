/* Tests of kube/transport_curl against a scripted server: cancelling, freeing and starting calls
 * from everywhere. */
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
#include "support/site.h"

static void hello(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)req;
    (void)arg;
    server_reply(c, 200, NULL, "hello");
}

static void stream(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)req;
    (void)arg;
    server_begin(c, 200, NULL);
    for (int i = 1; i <= 3; i++) {
        char text[32];
        snprintf(text, sizeof text, "event%d\n", i);
        if (!server_await(c, i))
            return;
        server_chunk(c, text);
    }
    if (server_await(c, 4))
        server_end(c);
}

static void silent(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)arg;
    if (streq(req->path, "/head")) {
        server_begin(c, 200, NULL);
        server_chunk(c, "first");
    }
    if (!server_await(c, 1))
        return;
    server_chunk(c, "second");
    server_await(c, 1000);
}

static bool has_head(void *arg) {
    struct tcall *tc = arg;
    return tc->heads == 1;
}

enum { CROWD = 20 };

/* --- cancelling and freeing, from everywhere --- */

static void cancel_self(struct tcall *tc) {
    tcall_cancel(tc);
}

static void cancel_other(struct tcall *tc) {
    tcall_cancel(tc->arg);
}

static void free_all(struct tcall *tc) {
    struct site *s = tc->arg;
    tc->call = NULL;
    kube_transport_free(s->t);
    s->t = NULL;
}

static void start_other(struct tcall *tc) {
    tcall_get(tc->arg, tc->loop, tc->t, "/");
}

/* Puts `fn` where `where` says. */
static struct tcall hooked(int where, tcall_fn *fn, void *arg) {
    return (struct tcall){.on_head = where == 0 ? fn : NULL,
                          .on_data = where == 1 ? fn : NULL,
                          .on_done = where == 2 ? fn : NULL,
                          .arg = arg};
}

static bool was_called(void *arg) {
    struct tcall *tc = arg;
    return (tc->on_head && tc->heads) || (tc->on_data && tc->datas) || (tc->on_done && tc->dones);
}

static void cancel_in_callbacks(void **state) {
    (void)state;
    for (int where = 0; where < 2; where++) {
        struct site s;
        site_start(&s, hello, NULL);
        struct tcall tc = hooked(where, cancel_self, NULL), next = {0};
        tcall_get(&tc, s.loop, s.t, "/");
        run_until(s.loop, was_called, &tc);
        tcall_get(&next, s.loop, s.t, "/");
        tcall_wait(&next);
        tcall_succeeds(&next, 200, "hello");
        assert_int_equal(tc.dones, 0);
        assert_int_equal(tc.datas, where);
        tcall_done(&tc);
        tcall_done(&next);
        site_done(&s);
    }
}

static void cancel_another_in_callbacks(void **state) {
    (void)state;
    for (int where = 0; where < 3; where++)
        for (int lane = KUBE_LANE_CALL; lane <= KUBE_LANE_LEASE; lane++) {
            struct site s;
            site_start(&s, where == 2 ? hello : stream, NULL);
            struct tcall other = {0}, tc = hooked(where, cancel_other, &other);
            tcall_start(
                &other, s.loop, s.t,
                &(struct kube_request){.method = "GET", .path = "/", .lane = (enum kube_lane)lane});
            if (where < 2)
                run_until(s.loop, has_head, &other);
            tcall_get(&tc, s.loop, s.t, "/");
            server_step(s.server);
            run_until(s.loop, was_called, &tc);
            run_for(s.loop, MSEC(5));
            assert_null(other.call);
            tcall_done(&tc);
            tcall_done(&other);
            site_done(&s); /* `tc` may still be under way */
        }
}

static void free_in_callbacks(void **state) {
    (void)state;
    for (int where = 0; where < 3; where++) {
        struct site s;
        site_start(&s, hello, NULL);
        struct tcall other = {0}, third = {0}, tc = hooked(where, free_all, &s);
        tcall_start(&other, s.loop, s.t,
                    &(struct kube_request){.method = "GET", .path = "/", .lane = KUBE_LANE_WATCH});
        tcall_get(&tc, s.loop, s.t, "/");
        tcall_get(&third, s.loop, s.t, "/");
        run_until(s.loop, was_called, &tc);
        int seen = other.dones + third.dones;
        run_for(s.loop, MSEC(5));
        assert_int_equal(other.dones + third.dones, seen);
        assert_null(s.t);
        tcall_done(&other);
        tcall_done(&third);
        tcall_done(&tc);
        site_done(&s);
    }
}

static void start_in_callbacks(void **state) {
    (void)state;
    for (int where = 0; where < 3; where++) {
        struct site s;
        site_start(&s, hello, NULL);
        struct tcall other = {0}, tc = hooked(where, start_other, &other);
        tcall_get(&tc, s.loop, s.t, "/");
        tcall_wait(&tc);
        tcall_wait(&other);
        tcall_succeeds(&tc, 200, "hello");
        tcall_succeeds(&other, 200, "hello");
        tcall_done(&tc);
        tcall_done(&other);
        site_done(&s);
    }
}

/* Cancelled at once, and freed while everything is under way. */
static void early_ends(void **state) {
    (void)state;
    struct site s;
    site_start(&s, silent, NULL);
    struct tcall tc[CROWD] = {0};
    for (int i = 0; i < CROWD; i++) {
        tcall_start(&tc[i], s.loop, s.t,
                    &(struct kube_request){.method = i % 2 ? "GET" : "POST",
                                           .path = i % 3 ? "/" : "/head",
                                           .lane = (enum kube_lane)(i % 3)});
        if (i % 4 == 0)
            tcall_cancel(&tc[i]);
        if (i % 5 == 0)
            run_for(s.loop, MSEC(2));
    }
    run_for(s.loop, MSEC(20));
    kube_transport_free(s.t);
    s.t = NULL;
    run_for(s.loop, MSEC(5));
    for (int i = 0; i < CROWD; i++) {
        assert_int_equal(tc[i].dones, 0);
        tcall_done(&tc[i]);
    }
    site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cancel_in_callbacks), cmocka_unit_test(cancel_another_in_callbacks),
        cmocka_unit_test(free_in_callbacks),   cmocka_unit_test(start_in_callbacks),
        cmocka_unit_test(early_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
