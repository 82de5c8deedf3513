/* Budgets are computed. */
#include "sim/fleet/parts.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_numbers(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_add_node(&s, "n2");
    sim_ask(&s, 201, "POST", "/apis/apps/v1/namespaces/default/deployments",
            "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":7,\"selector\":{\"matchLabels\":"
            "{\"app\":\"d\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"d\"}},\"spec\":{"
            "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    sim_ask(&s, 201, "POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            "{\"metadata\":{\"name\":\"half\"},\"spec\":{\"minAvailable\":\"50%\",\"selector\":{"
            "\"matchLabels\":{\"app\":\"d\"}}}}");
    sim_ask(&s, 201, "POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            "{\"metadata\":{\"name\":\"none\"},\"spec\":{\"maxUnavailable\":0,\"selector\":{"
            "\"matchLabels\":{\"app\":\"d\"}}}}");
    sim_pass(&s, SEC(30));
    json_t *h = sim_ask(&s, 200, "GET",
                        "/apis/policy/v1/namespaces/default/poddisruptionbudgets/half", NULL);
    assert_int_equal(sim_int(h, "status.desiredHealthy"), 4); /* rounded up */
    assert_int_equal(sim_int(h, "status.currentHealthy"), 7);
    assert_int_equal(sim_int(h, "status.disruptionsAllowed"), 3);
    assert_string_equal(sim_str(h, "status.conditions.0.reason"), "SufficientPods");
    json_t *n = sim_ask(&s, 200, "GET",
                        "/apis/policy/v1/namespaces/default/poddisruptionbudgets/none", NULL);
    assert_int_equal(sim_int(n, "status.disruptionsAllowed"), 0);
    assert_string_equal(sim_str(n, "status.conditions.0.reason"), "InsufficientPods");
    /* a controller that has no scale */
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"odd\",\"labels\":{\"app\":\"x\"},\"ownerReferences\":[{"
            "\"apiVersion\":\"example.com/"
            "v1\",\"kind\":\"Robot\",\"name\":\"r\",\"uid\":\"u\",\"controller\":"
            "true}]},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
    sim_ask(&s, 201, "POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            "{\"metadata\":{\"name\":\"odd\"},\"spec\":{\"maxUnavailable\":1,\"selector\":{"
            "\"matchLabels\":{\"app\":\"x\"}}}}");
    sim_pass(&s, MSEC(100));
    json_t *o = sim_ask(&s, 200, "GET",
                        "/apis/policy/v1/namespaces/default/poddisruptionbudgets/odd", NULL);
    assert_string_equal(sim_str(o, "status.conditions.0.reason"), "SyncFailed");
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
