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

/* An object as it is stored can be judged again; one that could not be there is found out. */
static void test_check(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
            "\"i\"}]}}");
    const struct resource *res = s.fleet->pods;
    _cleanup_json_ json_t *pod = record_json(shelf_get(res->shelf, "default", "p"));
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    assert_int_equal(rules_check(s.api, res, NULL, pod, &failure), 0);
    assert_int_equal(rules_check(s.api, res, "status", pod, &failure), 0);
    _cleanup_json_ json_t *before = json_deep_copy(pod);
    json_array_clear(json_object_get(json_object_get(pod, "spec"), "containers"));
    assert_int_equal(rules_check(s.api, res, NULL, pod, &failure), -1);
    assert_non_null(strstr(failure.message, "spec.containers"));
    assert_false(json_equal(before, pod));
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pods),
        cmocka_unit_test(test_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
