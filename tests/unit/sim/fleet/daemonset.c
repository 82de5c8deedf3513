/* DaemonSets: one on every node that should have one. */
#include "sim/fleet/parts.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_nodes(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_add_node(&s, "n2");
    sim_ask(&s, 201, "POST", "/apis/apps/v1/namespaces/default/daemonsets",
            "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"selector\":{\"matchLabels\":{\"app\":\"d\"}"
            "},\"template\":{\"metadata\":{\"labels\":{\"app\":\"d\"}},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"image\":\"i\"}]}}}}");
    sim_pass(&s, SEC(20));
    json_t *d = sim_ask(&s, 200, "GET", "/apis/apps/v1/namespaces/default/daemonsets/d", NULL);
    assert_int_equal(sim_int(d, "status.desiredNumberScheduled"), 2);
    assert_int_equal(sim_int(d, "status.numberReady"), 2);
    /* a cordoned node too; one with a taint that it does not tolerate not */
    sim_ask(&s, 201, "POST", "/api/v1/nodes",
            "{\"metadata\":{\"name\":\"n3\",\"annotations\":{\"sim.slipway.dev/"
            "machine\":\"\"}},\"spec\":{\"unschedulable\":true}}");
    sim_ask(&s, 201, "POST", "/api/v1/nodes",
            "{\"metadata\":{\"name\":\"n4\",\"annotations\":{\"sim.slipway.dev/"
            "machine\":\"\"}},\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]}}");
    sim_pass(&s, SEC(20));
    d = sim_ask(&s, 200, "GET", "/apis/apps/v1/namespaces/default/daemonsets/d", NULL);
    assert_int_equal(sim_int(d, "status.desiredNumberScheduled"), 3);
    assert_int_equal(sim_int(d, "status.numberReady"), 3);
    sim_ask(&s, 200, "PATCH", "/apis/apps/v1/namespaces/default/daemonsets/d",
            "{\"spec\":{\"template\":{\"spec\":{\"terminationGracePeriodSeconds\":5}}}}");
    sim_pass(&s, SEC(120));
    d = sim_ask(&s, 200, "GET", "/apis/apps/v1/namespaces/default/daemonsets/d", NULL);
    assert_int_equal(sim_int(d, "status.updatedNumberScheduled"), 3);
    assert_int_equal(sim_int(d, "status.numberAvailable"), 3);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
