/* What is done to objects before they are stored. */
#include "sim/api/rules.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_pods(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    json_t *p = sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
                        "{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"x\"}},\"spec\":{"
                        "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
    assert_string_equal(sim_str(p, "spec.restartPolicy"), "Always");
    assert_string_equal(sim_str(p, "status.phase"), "Pending");
    assert_string_equal(sim_str(p, "status.qosClass"), "BestEffort");
    assert_int_equal(sim_int(p, "spec.priority"), 0);
    json_t *e = sim_ask(&s, 422, "POST", "/api/v1/namespaces/default/pods",
                        "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"containers\":[]}}");
    assert_string_equal(sim_str(e, "details.causes.0.field"), "spec.containers");
    json_t *c = sim_ask(
        &s, 201, "POST", "/api/v1/namespaces/default/pods",
        "{\"metadata\":{\"name\":\"crit\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
        "\"name\":\"c\",\"image\":\"i\"}],\"priorityClassName\":\"system-node-critical\"}}");
    assert_int_equal(sim_int(c, "spec.priority"), 2000001000);
    sim_ask(&s, 400, "POST", "/apis/apps/v1/namespaces/default/deployments",
            "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":\"many\",\"selector\":{"
            "\"matchLabels\":{\"app\":\"x\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":"
            "\"x\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
