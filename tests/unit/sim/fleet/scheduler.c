/* Pending pods find their nodes. */
#include "sim/fleet/parts.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_places(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"image\":\"i\"}],\"nodeSelector\":{\"disk\":\"ssd\"}}}");
    sim_add_node(&s, "n1");
    sim_pass(&s, SEC(5));
    json_t *p = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/p", NULL);
    assert_string_equal(sim_str(p, "status.conditions.0.reason"), "Unschedulable");
    assert_non_null(strstr(sim_str(p, "status.conditions.0.message"), "0/1 nodes are available"));
    sim_ask(&s, 200, "PATCH", "/api/v1/nodes/n1", "{\"metadata\":{\"labels\":{\"disk\":\"ssd\"}}}");
    sim_pass(&s, SEC(15)); /* and a back-off */
    p = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/p", NULL);
    assert_string_equal(sim_str(p, "spec.nodeName"), "n1");
    /* another scheduler's pods are not ours */
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"q\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"image\":\"i\"}],\"schedulerName\":\"mine\"}}");
    sim_pass(&s, SEC(5));
    assert_null(sim_at(sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/q", NULL),
                       "spec.nodeName"));
    sim_site_done(&s);
}

static void test_spreads(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_add_node(&s, "n2");
    sim_ask(&s, 201, "POST", "/apis/apps/v1/namespaces/default/deployments",
            "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":8,\"selector\":{\"matchLabels\":"
            "{\"app\":\"d\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"d\"}},\"spec\":{"
            "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    sim_pass(&s, SEC(20));
    json_t *a = sim_ask(&s, 200, "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", NULL);
    assert_int_equal(json_array_size(sim_at(a, "items")), 4);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_spreads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
