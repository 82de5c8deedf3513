/* The oracle on pods and budgets: promise 2. */
#include "oracle_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* --- promise 2 --- */

static void test_good_eviction(void **state) {
    struct site *s = *state;
    site_cordon(s);
    site_evict(s, 201, "p");
    site_fine(s);
}

static void test_uid(void **state) {
    struct site *s = *state;
    site_cordon(s);
    site_evict_with(s, 0, "p", "");
    site_found(s, 2, "without its UID");
    site_evict_with(s, 0, "p",
                    "\"preconditions\":{\"uid\":\"00000000-0000-4000-8000-00000000000f\"}");
    site_found(s, 2, "not its own");
}

static void test_deletion(void **state) {
    struct site *s = *state;
    site_cordon(s);
    site_delete(s, 0, "p", "");
    site_found(s, 2, "deleted instead of evicted");
    site_delete(s, 0, "p", "\"gracePeriodSeconds\":0,");
    site_found(s, 2, "by force");
}

static void test_deletion_by_flag_and_rule(void **state) {
    struct site *s = *state;
    s->plan.disable_eviction = true;
    site_cordon(s);
    site_delete(s, 0, "p", "");
    site_fine(s);
    s->plan.disable_eviction = false;
    *vec_push(&s->plan.rules) = (struct plan_rule){
        .ns = "default", .grace = -1, .delete_after = SEC(30), .force_after = SEC(60)};
    site_delete(s, 0, "p", ""); /* too early */
    site_found(s, 2, "deleted instead of evicted");
}

static void test_escalation_in_time(void **state) {
    struct site *s = *state;
    *vec_push(&s->plan.rules) = (struct plan_rule){
        .ns = "default", .grace = -1, .delete_after = SEC(30), .force_after = SEC(60)};
    site_cordon(s);
    site_pass(s, SEC(31));
    site_delete(s, 0, "p", "");
    site_pass(s, SEC(31));
    site_delete(s, 0, "p", "\"gracePeriodSeconds\":0,");
    site_fine(s);
}

static void test_grace(void **state) {
    struct site *s = *state;
    site_cordon(s);
    _cleanup_free_ char *uid = site_uid(s, "p");
    char options[128];
    (void)snprintf(options, sizeof options,
                   "\"gracePeriodSeconds\":5,\"preconditions\":{\"uid\":\"%s\"}", uid);
    s->plan.grace = 5;
    site_evict_with(s, 0, "p", options);
    site_fine(s);
    s->plan.grace = -1;
    site_evict_with(s, 0, "p", options);
    site_found(s, 2, "with grace 5");
}

static void test_who_stays(void **state) {
    struct site *s = *state;
    sim_ask(&s->sim, 201, "POST", "/apis/apps/v1/namespaces/default/daemonsets",
            "{\"metadata\":{\"name\":\"ds\"},\"spec\":{\"selector\":{\"matchLabels\":{\"app\":"
            "\"a\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"a\"}},\"spec\":{"
            "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    site_add_pod(
        s, "daemon",
        ",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\",\"name\":"
        "\"ds\",\"uid\":\"00000000-0000-4000-8000-000000000002\",\"controller\":true}]",
        "");
    site_add_pod(s, "foreign",
                 ",\"ownerReferences\":[{\"apiVersion\":\"apps.kruise.io/v1alpha1\",\"kind\":"
                 "\"DaemonSet\",\"name\":\"ds\",\"uid\":\"00000000-0000-4000-8000-000000000003\","
                 "\"controller\":true}]",
                 "");
    site_add_pod(s, "kept", OWNED ",\"annotations\":{\"karpenter.sh/do-not-disrupt\":\"true\"}",
                 "");
    site_add_pod(s, "bare", "", "");
    site_add_pod(s, "local", OWNED, ",\"volumes\":[{\"name\":\"e\",\"emptyDir\":{}}]");
    site_cordon(s);
    site_fine(s);
    site_evict(s, 0, "daemon");
    site_found(s, 2, "daemon, which has to stay");
    site_evict(s, 0, "foreign");
    site_found(s, 2, "foreign, which has to stay");
    site_evict(s, 0, "kept");
    site_found(s, 2, "kept, which has to be waited for");
    site_evict(s, 0, "bare");
    site_found(s, 2, "bare, which needs a flag");
    site_evict(s, 0, "local");
    site_found(s, 2, "local, which needs a flag");
}

static void test_refused_node(void **state) {
    struct site *s = *state;
    site_add_pod(s, "bare", "", "");
    site_pass(s, SEC(1));
    oracle_begin(s->oracle);
    site_cordon(s);
    site_evict(s, 0, "p");
    site_found(s, 2, "forbids to drain node w1");
}

static void test_selector_and_other_nodes(void **state) {
    struct site *s = *state;
    site_cordon(s);
    sim_ask(&s->sim, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"q\"" OWNED "},\"spec\":{\"nodeName\":\"w2\",\"containers\":["
            "{\"name\":\"c\",\"image\":\"i\"}]}}");
    site_evict(s, 0, "q");
    site_found(s, 2, "q, which is on w2");
}

static void test_budget(void **state) {
    struct site *s = *state;
    sim_ask(&s->sim, 201, "POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"minAvailable\":1,\"selector\":{"
            "\"matchLabels\":{\"app\":\"a\"}}}}");
    site_pass(s, SEC(10));
    site_cordon(s);
    site_delete(s, 200, "p", "");
    site_found(s, 2, "budget default/b has 1 healthy pods and wants 1");
}

static void test_budget_with_room(void **state) {
    struct site *s = *state;
    site_add_pod(s, "p2", OWNED, "");
    sim_ask(&s->sim, 201, "POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"minAvailable\":1,\"selector\":{"
            "\"matchLabels\":{\"app\":\"a\"}}}}");
    site_pass(s, SEC(10));
    s->plan.disable_eviction = true;
    site_cordon(s);
    site_delete(s, 200, "p", "");
    site_fine(s);
    s->plan.disable_eviction = false;
    site_delete(s, 200, "p2", "");
    site_found(s, 2, "wants 1");
}

static void test_order(void **state) {
    struct site *s = *state;
    site_add_pod(s, "first", OWNED, "");
    site_pass(s, SEC(1));
    oracle_begin(s->oracle);
    *vec_push(&s->plan.rules) = (struct plan_rule){.app = "a",
                                                   .owner = "Bare",
                                                   .grace = -1,
                                                   .delete_after = -1,
                                                   .force_after = -1,
                                                   .order = 5};
    s->plan.force = true;
    site_add_pod(s, "bare", "", "");
    site_cordon(s);
    site_evict(s, 0, "bare");
    site_found(s, 2, "(order 5) was asked to go before default/");
}

static void test_dry_run(void **state) {
    struct site *s = *state;
    s->plan.dry_run = true;
    site_evict(s, 201, "p");
    site_found(s, 2, "in earnest during a dry run");
    site_found(s, 2, "a dry run changed Pod p");
}

static void test_strange_writes(void **state) {
    struct site *s = *state;
    site_ours(s, 0, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d", "{}");
    site_found(s, 2, "deployments d was written");
    site_ours(s, 0, "POST", "/api/v1/namespaces/default/pods", "{}");
    site_found(s, 2, "nothing that a drain does");
    site_ours(s, 0, "PATCH", "/api/v1/nodes/w1/status", "{\"status\":{\"phase\":\"x\"}}");
    site_found(s, 3, "the status of node w1");
    site_ours(s, 0, "PATCH", "/api/v1/nodes/w1",
              "{\"metadata\":{\"resourceVersion\":\"1\",\"labels\":{\"a\":\"b\"}}}");
    site_found(s, 3, "more than the cordon");
}

int oracle_test_evict(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_good_eviction),
        CASE(test_uid),
        CASE(test_deletion),
        CASE(test_deletion_by_flag_and_rule),
        CASE(test_escalation_in_time),
        CASE(test_grace),
        CASE(test_who_stays),
        CASE(test_refused_node),
        CASE(test_selector_and_other_nodes),
        CASE(test_budget),
        CASE(test_budget_with_room),
        CASE(test_order),
        CASE(test_dry_run),
        CASE(test_strange_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
