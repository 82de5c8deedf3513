/* What a kubelet reports. */
#include "sim/fleet/pod_status.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_stages(void **state) {
    (void)state;
    _cleanup_json_ json_t *pod = json_loads(
        "{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
        "\"name\":\"c\",\"image\":\"i\"}],\"initContainers\":[{\"name\":\"i\",\"image\":\"x\"}]}}",
        0, NULL);
    struct pod_report r = {
        .stage = POD_RUNNING, .now = SIM_START, .host_ip = "1.2.3.4", .pod_ip = "5.6.7.8"};
    _cleanup_json_ json_t *a = pod_status(pod, &r);
    assert_string_equal(sim_str(a, "phase"), "Running");
    assert_string_equal(sim_str(a, "podIPs.0.ip"), "5.6.7.8");
    assert_string_equal(sim_str(a, "initContainerStatuses.0.state.terminated.reason"), "Completed");
    json_object_set(pod, "status", a);
    r.stage = POD_READY;
    r.now += SEC(5);
    _cleanup_json_ json_t *b = pod_status(pod, &r);
    size_t i;
    json_t *c;
    bool ready = false;
    json_array_foreach(json_object_get(b, "conditions"), i, c) {
        if (strcmp(sim_str(c, "type"), "Ready") == 0) {
            ready = true;
            assert_string_equal(sim_str(c, "lastTransitionTime"), "2026-11-15T00:00:05Z");
        }
        if (strcmp(sim_str(c, "type"), "Initialized") == 0) /* has not changed since */
            assert_string_equal(sim_str(c, "lastTransitionTime"), "2026-11-15T00:00:00Z");
    }
    assert_true(ready);
    json_object_set(pod, "status", b);
    r.stage = POD_RUNNING;
    r.restarted = true;
    _cleanup_json_ json_t *d = pod_status(pod, &r);
    assert_int_equal(sim_int(d, "containerStatuses.0.restartCount"), 1);
    assert_non_null(sim_at(d, "containerStatuses.0.lastState.terminated"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
