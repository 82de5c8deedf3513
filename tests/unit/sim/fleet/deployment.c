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
    assert_int_equal(
        json_array_size(
            sim_at(sim_ask(&s, 200, "GET", "/apis/apps/v1/namespaces/default/replicasets", NULL),
                   "items")),
        2);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roll),
        cmocka_unit_test(test_recreate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
