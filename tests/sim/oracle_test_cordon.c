/* The oracle on nodes: who holds a cordon (promise 3), stale decisions (7), and counts that must
 * not be lost (4). */
#include "oracle_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* --- promise 3 --- */

static void test_not_cordoned(void **state) {
    struct site *s = *state;
    site_evict(s, 0, "p");
    site_found(s, 3, "not cordoned by us");
}

static void test_cordoned_by_others_only(void **state) {
    struct site *s = *state;
    sim_ask(&s->sim, 200, "PATCH", "/api/v1/nodes/w1", "{\"spec\":{\"unschedulable\":true}}");
    site_pass(s, SEC(1));
    site_evict(s, 0, "p");
    site_found(s, 3, "not cordoned by us");
}

static void test_lifted(void **state) {
    struct site *s = *state;
    site_cordon(s);
    int64_t before = site_now(s);
    site_pass(s, SEC(1));
    sim_ask(&s->sim, 200, "PATCH", "/api/v1/nodes/w1", "{\"spec\":{\"unschedulable\":null}}");
    s->known_nodes = before; /* it has not heard of it */
    site_evict(s, 0, "p");
    site_fine(s);
    s->known_nodes = 0;
    site_pass(s, SEC(5));
    site_evict(s, 0, "p");
    site_found(s, 3, "after somebody else uncordoned node w1");
}

static void test_others_hold(void **state) {
    struct site *s = *state;
    sim_ask(&s->sim, 200, "PATCH", "/api/v1/nodes/w1", CORDON(RECORD("true", HOLDER("ops"))));
    site_write_node(s, 200, CORDON_AT("%s", RECORD("true", HOLDER("ops") "," HOLDER(PLAN_HOLDER))));
    site_fine(s);
    site_write_node(s, 200, CORDON_AT("%s", RECORD("true", HOLDER(PLAN_HOLDER))));
    site_found(s, 3, "holder ops of node w1 was removed");
}

#define SINCE(id, since) "{\\\"id\\\":\\\"" id "\\\",\\\"since\\\":\\\"" since "\\\"}"

#define TAINT                                                                                      \
    "{\"spec\":{\"taints\":[{\"key\":\"node.kubernetes.io/unschedulable\",\"effect\":"             \
    "\"NoSchedule\",\"timeAdded\":\"2026-11-15T00:00:30Z\"}]}}"

/* Somebody has cordoned the node long after the record was written: who is in it holds nothing, and
 * the cordon was there before us. */
static void test_of_an_earlier_cordon(void **state) {
    struct site *s = *state;
    sim_ask(&s->sim, 200, "PATCH", "/api/v1/nodes/w1",
            CORDON(RECORD("false", SINCE("ops", "2026-11-14T00:00:00Z"))));
    sim_ask(&s->sim, 200, "PATCH", "/api/v1/nodes/w1", TAINT);
    site_write_node(s, 200, CORDON_AT("%s", RECORD("true", HOLDER(PLAN_HOLDER))));
    site_fine(s);
}

static void test_of_this_cordon(void **state) {
    struct site *s = *state;
    sim_ask(&s->sim, 200, "PATCH", "/api/v1/nodes/w1",
            CORDON(RECORD("false", SINCE("ops", "2026-11-15T00:00:00Z"))));
    sim_ask(&s->sim, 200, "PATCH", "/api/v1/nodes/w1", TAINT);
    site_write_node(s, 200, CORDON_AT("%s", RECORD("true", HOLDER(PLAN_HOLDER))));
    site_found(s, 3, "holder ops of node w1 was removed");
}

static void test_before(void **state) {
    struct site *s = *state;
    sim_ask(&s->sim, 200, "PATCH", "/api/v1/nodes/w1", "{\"spec\":{\"unschedulable\":true}}");
    site_write_node(s, 200, CORDON_AT("%s", RECORD("false", HOLDER(PLAN_HOLDER))));
    site_found(s, 3, "says before=0, and it was 1");
}

static void test_twice(void **state) {
    struct site *s = *state;
    site_write_node(s, 200,
                    CORDON_AT("%s", RECORD("false", HOLDER(PLAN_HOLDER) "," HOLDER(PLAN_HOLDER))));
    site_found(s, 3, "2 times");
}

static void test_no_name(void **state) {
    struct site *s = *state;
    site_write_node(
        s, 200, "{\"metadata\":{\"resourceVersion\":\"%s\"},\"spec\":{\"unschedulable\":true}}");
    site_found(s, 3, "without our name");
}

static void test_uncordon(void **state) {
    struct site *s = *state;
    const char *undo = "{\"metadata\":{\"resourceVersion\":\"%s\",\"annotations\":{"
                       "\"slipway.dev/cordon\":null}},\"spec\":{\"unschedulable\":null}}";
    s->plan.uncordon_on_abort = true;
    site_cordon(s);
    site_write_node(s, 200, undo);
    site_fine(s);
    site_cordon(s);
    s->plan.uncordon_on_abort = false;
    site_write_node(s, 200, undo);
    site_found(s, 3, "which nobody asked for");
}

static void test_uncordon_others(void **state) {
    struct site *s = *state;
    s->plan.uncordon_on_abort = true;
    sim_ask(&s->sim, 200, "PATCH", "/api/v1/nodes/w1",
            CORDON(RECORD("false", HOLDER("ops") "," HOLDER(PLAN_HOLDER))));
    site_write_node(
        s, 200,
        "{\"metadata\":{\"resourceVersion\":\"%s\",\"annotations\":{\"slipway.dev/cordon\":"
        "null}},\"spec\":{\"unschedulable\":null}}");
    site_found(s, 3, "others hold cordoned");
}

static void test_newer_record(void **state) {
    struct site *s = *state;
    sim_ask(&s->sim, 200, "PATCH", "/api/v1/nodes/w1", CORDON("{\\\"v\\\":2}"));
    site_write_node(s, 200, CORDON_AT("%s", RECORD("true", HOLDER(PLAN_HOLDER))));
    site_found(s, 3, "that we do not understand");
}

static void test_stopped(void **state) {
    struct site *s = *state;
    site_cordon(s);
    oracle_stop(s->oracle);
    site_evict(s, 0, "p");
    site_found(s, 3, "after the drain was stopped");
}

/* --- promise 7 --- */

static void test_before_it_came_back(void **state) {
    struct site *s = *state;
    site_cordon(s);
    s->known_nodes = site_now(s) - SEC(2);
    site_evict(s, 0, "p");
    site_found(s, 7, "before the cordon of node w1 came back");
}

static void test_no_compare(void **state) {
    struct site *s = *state;
    site_ours(s, 200, "PATCH", "/api/v1/nodes/w1", CORDON(RECORD("false", HOLDER(PLAN_HOLDER))));
    site_found(s, 7, "without comparing its version");
}

static void test_gone(void **state) {
    struct site *s = *state;
    site_cordon(s);
    _cleanup_free_ char *uid = site_uid(s, "p");
    char options[128];
    (void)snprintf(options, sizeof options, "\"preconditions\":{\"uid\":\"%s\"}", uid);
    sim_ask(&s->sim, 200, "DELETE", "/api/v1/namespaces/default/pods/p",
            "{\"gracePeriodSeconds\":0}");
    int64_t then = site_now(s);
    site_pass(s, SEC(1));
    s->known_pods = then - 1;
    site_evict_with(s, 0, "p", options);
    site_fine(s); /* it could not know */
    s->known_pods = 0;
    site_evict_with(s, 0, "p", options);
    site_found(s, 7, "known to be gone");
}

/* --- promise 4 --- */

static void test_counts(void **state) {
    struct site *s = *state;
    s->plan.surge = true;
    sim_ask(&s->sim, 201, "POST", "/apis/apps/v1/namespaces/default/deployments",
            "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":1,\"selector\":{"
            "\"matchLabels\":{\"app\":\"d\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":"
            "\"d\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    oracle_end_counts(s->oracle);
    site_fine(s);
    _cleanup_free_ char *version = xstrdup(sim_str(
        sim_ask(&s->sim, 200, "GET", "/apis/apps/v1/namespaces/default/deployments/d", NULL),
        "metadata.resourceVersion"));
    char body[256];
    (void)snprintf(body, sizeof body,
                   "{\"metadata\":{\"resourceVersion\":\"%s\",\"labels\":{\"slipway.dev/surge\":"
                   "\"true\"}},\"spec\":{\"replicas\":2}}",
                   version);
    site_ours(s, 200, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d", body);
    site_fine(s);
    oracle_end_counts(s->oracle);
    site_found(s, 4, "still has the mark of a surge");
    site_found(s, 4, "had 1 replicas and has 2");
}

int oracle_test_cordon(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_not_cordoned),
        CASE(test_cordoned_by_others_only),
        CASE(test_lifted),
        CASE(test_others_hold),
        CASE(test_of_an_earlier_cordon),
        CASE(test_of_this_cordon),
        CASE(test_before),
        CASE(test_twice),
        CASE(test_no_name),
        CASE(test_uncordon),
        CASE(test_uncordon_others),
        CASE(test_newer_record),
        CASE(test_stopped),
        CASE(test_before_it_came_back),
        CASE(test_no_compare),
        CASE(test_gone),
        CASE(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
