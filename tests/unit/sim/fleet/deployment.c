/* Deployments roll within their bounds. */
#include "sim/fleet/parts.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_roll(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_add_node(&s, "n2");
    sim_ask(&s, 201, "POST", "/apis/apps/v1/namespaces/default/deployments",
            "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":4,\"strategy\":{"
            "\"rollingUpdate\":{\"maxSurge\":1,\"maxUnavailable\":1}},\"selector\":{"
            "\"matchLabels\":{\"app\":\"d\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":"
            "\"d\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    sim_pass(&s, SEC(30));
    json_t *d = sim_ask(&s, 200, "GET", "/apis/apps/v1/namespaces/default/deployments/d", NULL);
    assert_int_equal(sim_int(d, "status.availableReplicas"), 4);
    assert_string_equal(json_string_value(json_object_get(sim_at(d, "metadata.annotations"),
                                                          "deployment.kubernetes.io/revision")),
                        "1");
    sim_ask(&s, 200, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d",
            "{\"spec\":{\"template\":{\"spec\":{\"terminationGracePeriodSeconds\":5}}}}");
    sim_ask(&s, 200, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d",
            "{\"metadata\":{\"annotations\":{\"kubernetes.io/change-cause\":\"why\","
            "\"kubectl.kubernetes.io/last-applied-configuration\":\"{}\"}},\"spec\":{"
            "\"minReadySeconds\":1}}");
    for (int i = 0; i < 600; i++) { /* at no moment too many or too few */
        sim_pass(&s, MSEC(100));
        json_t *l = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods", NULL);
        size_t k, here = 0, ready = 0;
        json_t *p;
        json_array_foreach(json_object_get(l, "items"), k, p) {
            if (sim_at(p, "metadata.deletionTimestamp"))
                continue;
            here++;
            ready += json_is_true(sim_at(p, "status.containerStatuses.0.ready"));
        }
        assert_true(here <= 5 && ready >= 3);
    }
    d = sim_ask(&s, 200, "GET", "/apis/apps/v1/namespaces/default/deployments/d", NULL);
    assert_int_equal(sim_int(d, "status.updatedReplicas"), 4);
    assert_int_equal(sim_int(d, "status.replicas"), 4);
    json_t *sets = sim_ask(&s, 200, "GET", "/apis/apps/v1/namespaces/default/replicasets", NULL);
    assert_int_equal(json_array_size(sim_at(sets, "items")), 2);
    /* what changed of the deployment went along to the new set alone, and kubectl's own did not */
    size_t k, told = 0, later = 0;
    json_t *rs;
    json_array_foreach(json_object_get(sets, "items"), k, rs) {
        const json_t *pairs = sim_at(rs, "metadata.annotations");
        bool is_new = sim_int(rs, "spec.replicas") == 4;
        const char *why = json_str(pairs, "kubernetes.io/change-cause");
        told += is_new ? why && streq(why, "why") : !why;
        later += sim_at(rs, "spec.minReadySeconds") ? is_new : !is_new;
        assert_null(json_str(pairs, "kubectl.kubernetes.io/last-applied-configuration"));
    }
    assert_int_equal(told, 2);
    assert_int_equal(later, 2);
    sim_site_done(&s);
}

static void test_recreate(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_add_node(&s, "n2");
    sim_ask(&s, 201, "POST", "/apis/apps/v1/namespaces/default/deployments",
            "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":2,\"strategy\":{\"type\":"
            "\"Recreate\"},\"selector\":{\"matchLabels\":{\"app\":\"d\"}},\"template\":{"
            "\"metadata\":{\"labels\":{\"app\":\"d\"}},\"spec\":{\"containers\":[{\"name\":\"c\","
            "\"image\":\"i\"}]}}}}");
    sim_pass(&s, SEC(30));
    sim_ask(&s, 200, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d",
            "{\"spec\":{\"template\":{\"spec\":{\"terminationGracePeriodSeconds\":5}}}}");
    sim_pass(&s, SEC(60));
    json_t *d = sim_ask(&s, 200, "GET", "/apis/apps/v1/namespaces/default/deployments/d", NULL);
    assert_int_equal(sim_int(d, "status.updatedReplicas"), 2);
    assert_int_equal(sim_int(d, "status.availableReplicas"), 2);
    sim_ask(&s, 200, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d",
            "{\"spec\":{\"replicas\":5}}");
    sim_pass(&s, SEC(30));
    d = sim_ask(&s, 200, "GET", "/apis/apps/v1/namespaces/default/deployments/d", NULL);
    assert_int_equal(sim_int(d, "status.availableReplicas"), 5);
    sim_site_done(&s);
}

/* Of type Progressing. */
static const json_t *progress(const json_t *d) {
    size_t i;
    json_t *c;
    json_array_foreach(sim_at(d, "status.conditions"), i,
                       c) if (streq(sim_str(c, "type"), "Progressing")) return c;
    return NULL;
}

/* As a kube-controller-manager 1.36.3 tells it. */
static void test_paused(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    const char *path = "/apis/apps/v1/namespaces/default/deployments/d";
    sim_ask(
        &s, 201, "POST", "/apis/apps/v1/namespaces/default/deployments",
        "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":2,\"revisionHistoryLimit\":0,"
        "\"selector\":{\"matchLabels\":{\"app\":\"d\"}},\"template\":{\"metadata\":{\"labels\":{"
        "\"app\":\"d\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    sim_pass(&s, SEC(30));
    sim_ask(&s, 200, "PATCH", path,
            "{\"spec\":{\"paused\":true,\"replicas\":3,\"template\":{\"spec\":{"
            "\"terminationGracePeriodSeconds\":5}}}}");
    sim_pass(&s, SEC(30));
    json_t *d = sim_ask(&s, 200, "GET", path, NULL);
    assert_string_equal(sim_str(progress(d), "status"), "Unknown");
    assert_string_equal(sim_str(progress(d), "reason"), "DeploymentPaused");
    assert_string_equal(sim_str(progress(d), "message"), "Deployment is paused");
    /* it is scaled, and not rolled out */
    assert_int_equal(sim_int(d, "status.readyReplicas"), 3);
    assert_null(sim_at(d, "status.updatedReplicas"));
    json_t *sets = sim_ask(&s, 200, "GET", "/apis/apps/v1/namespaces/default/replicasets", NULL);
    assert_int_equal(json_array_size(sim_at(sets, "items")), 1);
    sim_pass(&s, SEC(700)); /* longer than progressDeadlineSeconds */
    sim_ask(&s, 200, "PATCH", path, "{\"spec\":{\"paused\":null}}");
    sim_pass(&s, SEC(1));
    d = sim_ask(&s, 200, "GET", path, NULL);
    assert_string_not_equal(sim_str(progress(d), "reason"), "DeploymentPaused");
    assert_string_not_equal(sim_str(progress(d), "reason"), "ProgressDeadlineExceeded");
    sim_pass(&s, SEC(60));
    d = sim_ask(&s, 200, "GET", path, NULL);
    assert_string_equal(sim_str(progress(d), "status"), "True");
    assert_string_equal(sim_str(progress(d), "reason"), "NewReplicaSetAvailable");
    assert_int_equal(sim_int(d, "status.updatedReplicas"), 3);
    sim_site_done(&s);
}

/* syncRolloutStatus() in pkg/controller/deployment/progress.go: scaling is no rollout. */
static void test_scaled(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    const char *path = "/apis/apps/v1/namespaces/default/deployments/d";
    sim_ask(
        &s, 201, "POST", "/apis/apps/v1/namespaces/default/deployments",
        "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":0,\"selector\":{\"matchLabels\":{"
        "\"app\":\"d\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"d\"}},\"spec\":{"
        "\"nodeSelector\":{\"no\":\"where\"},\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}"
        "}");
    sim_pass(&s, SEC(5));
    sim_ask(&s, 200, "PATCH", path, "{\"spec\":{\"replicas\":1}}");
    sim_pass(&s, SEC(5));
    json_t *d = sim_ask(&s, 200, "GET", path, NULL);
    assert_int_equal(sim_int(d, "status.unavailableReplicas"), 1);
    assert_string_equal(sim_str(progress(d), "reason"), "NewReplicaSetAvailable");
    /* without pods too it is the new set that has progressed */
    sim_ask(&s, 200, "PATCH", path, "{\"spec\":{\"replicas\":0}}");
    sim_pass(&s, SEC(5));
    sim_ask(&s, 200, "PATCH", path,
            "{\"spec\":{\"template\":{\"spec\":{\"terminationGracePeriodSeconds\":5}}}}");
    sim_pass(&s, SEC(5));
    d = sim_ask(&s, 200, "GET", path, NULL);
    assert_string_equal(sim_str(progress(d), "reason"), "NewReplicaSetAvailable");
    _cleanup_free_ char *said = xstrdup(sim_str(progress(d), "message"));
    json_t *sets = sim_ask(&s, 200, "GET", "/apis/apps/v1/namespaces/default/replicasets", NULL);
    assert_int_equal(json_array_size(sim_at(sets, "items")), 2);
    size_t k;
    json_t *rs;
    json_array_foreach(sim_at(sets, "items"), k, rs) {
        bool is_new = sim_int(rs, "spec.template.spec.terminationGracePeriodSeconds") == 5;
        assert_int_equal(strstr(said, sim_str(rs, "metadata.name")) != NULL, is_new);
    }
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scaled),
        cmocka_unit_test(test_paused),
        cmocka_unit_test(test_roll),
        cmocka_unit_test(test_recreate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
