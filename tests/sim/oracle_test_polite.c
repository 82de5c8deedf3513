/* The oracle on how often and how fast (promise 8), and on the paths that everything rests on. */
#include "oracle_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* --- promise 8 --- */

static void test_terminating(void **state) {
    struct site *s = *state;
    site_cordon(s);
    site_evict(s, 201, "p");
    site_pass(s, SEC(1));
    site_fine(s);
    site_evict(s, 0, "p");
    site_found(s, 8, "known to be terminating");
}

static void test_rate(void **state) {
    struct site *s = *state;
    s->plan.rate = 2;
    for (int i = 0; i < 3; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "r%d", i);
        site_add_pod(s, name, OWNED, "");
    }
    site_cordon(s);
    site_evict(s, 0, "r0");
    site_evict(s, 0, "r1");
    site_fine(s);
    site_evict(s, 0, "r2");
    site_found(s, 8, "more than 2 a second");
}

static void test_rate_refills(void **state) {
    struct site *s = *state;
    s->plan.rate = 2;
    site_cordon(s);
    for (int i = 0; i < 12; i++) {
        site_evict(s, 0, "p");
        site_pass(s, SEC(5));
    }
    site_fine(s);
}

static void test_too_often(void **state) {
    struct site *s = *state;
    s->plan.rate = 0;
    site_cordon(s);
    for (int i = 0; i < 15; i++) {
        site_evict(s, 0, "p");
        site_pass(s, SEC(1));
    }
    site_found(s, 8, "15 times within a minute");
}

static void test_retry_after(void **state) {
    struct site *s = *state;
    site_cordon(s);
    struct chaos_request req = {.method = "POST",
                                .path = "/api/v1/namespaces/default/pods/p/eviction"};
    _cleanup_free_ char *uid = site_uid(s, "p");
    char body[128];
    (void)snprintf(body, sizeof body, "{\"deleteOptions\":{\"preconditions\":{\"uid\":\"%s\"}}}",
                   uid);
    req.body = view_of(body);
    chaos_target(req.path, &req.target);
    req.kind = CHAOS_EVICT;
    oracle_told(s->oracle, &req, 429, 10);
    site_pass(s, SEC(10));
    site_evict(s, 0, "p");
    site_fine(s);
    oracle_told(s->oracle, &req, 429, 10);
    site_pass(s, SEC(9));
    site_evict(s, 0, "p");
    site_found(s, 8, "before the Retry-After has passed");
}

static void test_two_at_once(void **state) {
    struct site *s = *state;
    site_cordon(s);
    struct chaos_request req = {.method = "POST",
                                .path = "/api/v1/namespaces/default/pods/p/eviction"};
    _cleanup_free_ char *uid = site_uid(s, "p");
    char body[128];
    (void)snprintf(body, sizeof body, "{\"deleteOptions\":{\"preconditions\":{\"uid\":\"%s\"}}}",
                   uid);
    req.body = view_of(body);
    chaos_target(req.path, &req.target);
    req.kind = CHAOS_EVICT;
    oracle_sent(s->oracle, &req);
    oracle_told(s->oracle, &req, 0, -1);
    oracle_sent(s->oracle, &req);
    site_fine(s);
    oracle_sent(s->oracle, &req);
    site_found(s, 8, "while another one is under way");
}

static void test_storm(void **state) {
    struct site *s = *state;
    for (int i = 0; i < 200; i++)
        site_ours(s, 0, "GET", "/api/v1/nodes/w1", NULL);
    site_found(s, 8, "requests within a minute");
}

static void test_unwanted_record(void **state) {
    struct site *s = *state;
    s->plan.keep_record = false;
    site_ours(s, 0, "POST", "/api/v1/namespaces/default/events", "{}");
    site_found(s, 8, "an Event was written although none was wanted");
}

/* --- the paths that everything rests on --- */

static void test_targets(void **state) {
    (void)state;
    struct chaos_target t;
    chaos_target("/api/v1/namespaces/a/pods/b/eviction?x=y", &t);
    assert_string_equal(t.ns, "a");
    assert_string_equal(t.resource, "pods");
    assert_string_equal(t.name, "b");
    assert_string_equal(t.sub, "eviction");
    assert_int_equal(chaos_kind("POST", "/api/v1/namespaces/a/pods/b/eviction", &t), CHAOS_EVICT);
    chaos_target("/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Dw1&x=y", &t);
    assert_null(t.ns);
    assert_null(t.name);
    assert_string_equal(t.selected, "w1");
    assert_int_equal(chaos_kind("GET", "/api/v1/pods?watch=1", &t), CHAOS_WATCH);
    assert_int_equal(chaos_kind("GET", "/api/v1/pods?limit=500", &t), CHAOS_LIST);
    chaos_target("/api/v1/nodes/w1/status", &t);
    assert_int_equal(chaos_kind("PATCH", "/api/v1/nodes/w1/status", &t), CHAOS_PATCH_STATUS);
    chaos_target("/api/v1/namespaces/x", &t);
    assert_string_equal(t.resource, "namespaces");
    assert_string_equal(t.name, "x");
    chaos_target("/apis/apps/v1/namespaces/a/deployments/d", &t);
    assert_string_equal(t.group, "apps");
    assert_int_equal(chaos_kind("PATCH", "/apis/apps/v1/namespaces/a/deployments/d", &t),
                     CHAOS_PATCH_OTHER);
}

int oracle_test_polite(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_terminating),
        CASE(test_rate),
        CASE(test_rate_refills),
        CASE(test_too_often),
        CASE(test_retry_after),
        CASE(test_two_at_once),
        CASE(test_storm),
        CASE(test_unwanted_record),
        cmocka_unit_test(test_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
