/* Nodes that are not heard of, and taints. */
#include "sim/fleet/parts.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_lost(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_add_node(&s, "n2");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"image\":\"i\"}],\"nodeName\":\"n1\"}}");
    sim_pass(&s, SEC(10));
    sim_ask(&s, 200, "PATCH", "/api/v1/nodes/n1",
            "{\"metadata\":{\"annotations\":{\"sim.slipway.dev/do\":\"hang\"}}}");
    sim_pass(&s, SEC(40));
    json_t *n = sim_ask(&s, 200, "GET", "/api/v1/nodes/n1", NULL);
    assert_string_equal(sim_str(n, "status.conditions.3.status"), "True"); /* not yet */
    sim_pass(&s, SEC(30));
    n = sim_ask(&s, 200, "GET", "/api/v1/nodes/n1", NULL);
    assert_string_equal(sim_str(n, "status.conditions.3.status"), "Unknown");
    assert_string_equal(sim_str(n, "spec.taints.0.key"), "node.kubernetes.io/unreachable");
    assert_int_equal(json_array_size(sim_at(n, "spec.taints")), 2);
    json_t *p = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/p", NULL);
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(json_object_get(p, "status"), "conditions"), i,
                       c) if (strcmp(sim_str(c, "type"), "Ready") == 0)
        assert_string_equal(sim_str(c, "status"), "False");
    sim_ask(&s, 200, "PATCH", "/api/v1/nodes/n1",
            "{\"metadata\":{\"annotations\":{\"sim.slipway.dev/do\":\"on\"}}}");
    sim_pass(&s, SEC(30));
    n = sim_ask(&s, 200, "GET", "/api/v1/nodes/n1", NULL);
    assert_string_equal(sim_str(n, "status.conditions.3.status"), "True");
    assert_int_equal(json_array_size(sim_at(n, "spec.taints")), 0);
    sim_ask(&s, 200, "PATCH", "/api/v1/nodes/n2", "{\"spec\":{\"unschedulable\":true}}");
    sim_pass(&s, SEC(1));
    n = sim_ask(&s, 200, "GET", "/api/v1/nodes/n2", NULL);
    assert_string_equal(sim_str(n, "spec.taints.0.key"), "node.kubernetes.io/unschedulable");
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
