/* Tests of api/gotypes. What is expected was shown by a real API server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/api/gotext.h"
#include "sim/api/gotypes.h"

static void expect(const struct gotype *type, const char *json, const char *up, const char *text) {
    _cleanup_json_ json_t *v = json_loads(json, 0, NULL),
                          *above = up ? json_loads(up, 0, NULL) : NULL;
    _cleanup_json_ json_t *inner = gotype_value(type, v, above);
    _cleanup_str_ struct str out = STR_INIT;
    go_json(&out, inner);
    assert_string_equal(str_get(&out), text);
}

static void test_values(void **state) {
    (void)state;
    expect(&go_taint, "{\"key\":\"k\",\"effect\":\"NoSchedule\"}", NULL,
           "{\"Key\":\"k\",\"Value\":\"\",\"Effect\":\"NoSchedule\",\"TimeAdded\":null}");
    expect(&go_service_port, "{\"protocol\":\"TCP\",\"port\":80}", NULL,
           "{\"Name\":\"\",\"Protocol\":\"TCP\",\"AppProtocol\":null,\"Port\":80,\"TargetPort\":0,"
           "\"NodePort\":0}");
    expect(&go_node_selector_term,
           "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"In\","
           "\"values\":[\"x\"]}]}",
           NULL,
           "{\"MatchExpressions\":[{\"Key\":\"b\",\"Operator\":\"In\",\"Values\":[\"x\"]}],"
           "\"MatchFields\":null}");
    expect(&go_deployment_strategy, "{\"type\":\"x\"}", NULL,
           "{\"Type\":\"x\",\"RollingUpdate\":null}");
    expect(&go_pod_disruption_budget_spec,
           "{\"minAvailable\":\"50%\",\"maxUnavailable\":1,\"selector\":{\"matchLabels\":{\"a\":"
           "\"b\"}}}",
           NULL,
           "{\"MinAvailable\":\"50%\",\"Selector\":{\"matchLabels\":{\"a\":\"b\"}},"
           "\"MaxUnavailable\":1,"
           "\"UnhealthyPodEvictionPolicy\":null}");
}

static void test_lists(void **state) {
    _cleanup_json_ json_t *ips = json_pack("[{s:s}]", "ip", "10.1.1.1");
    _cleanup_json_ json_t *inner = gotype_list(&go_pod_ip, ips),
                          *none = gotype_list(&go_pod_ip, NULL);
    _cleanup_str_ struct str out = STR_INIT;
    (void)state;
    go_json(&out, inner);
    assert_string_equal(str_get(&out), "[{\"IP\":\"10.1.1.1\"}]");
    assert_true(json_is_null(none));
}

/* Members of a pod that the server keeps in its security context. */
static void test_values_from_above(void **state) {
    _cleanup_json_ json_t *spec = json_pack("{s:b,s:{}}", "hostNetwork", 1, "securityContext");
    _cleanup_json_ json_t *inner = gotype_value(&go_pod_spec, spec, NULL);
    const json_t *context = json_object_get(inner, "SecurityContext");
    (void)state;
    assert_true(json_is_true(json_object_get(context, "HostNetwork")));
    assert_true(json_is_false(json_object_get(context, "HostPID")));
    assert_true(json_is_null(json_object_get(context, "HostUsers")));
    assert_null(json_object_get(inner, "HostNetwork"));
}

static void test_metadata_stands_among_the_others(void **state) {
    _cleanup_json_ json_t *tmpl =
        json_pack("{s:{s:{s:s}},s:{}}", "metadata", "labels", "a", "b", "spec");
    _cleanup_json_ json_t *inner = gotype_value(&go_pod_template_spec, tmpl, NULL);
    (void)state;
    assert_string_equal(json_object_iter_key(json_object_iter(inner)), "labels");
    assert_non_null(json_object_get(inner, "Spec"));
    assert_null(json_object_get(inner, "metadata"));
}

static void test_diff(void **state) {
    _cleanup_json_ json_t *was =
        json_pack("{s:{s:{s:s}},s:s,s:s}", "resources", "requests", "storage", "1Gi", "volumeName",
                  "pv-x", "storageClassName", "fast");
    _cleanup_json_ json_t *now =
        json_pack("{s:{},s:s,s:s}", "resources", "volumeName", "pv-x", "storageClassName", "fast");
    _cleanup_str_ struct str out = STR_INIT;
    (void)state;
    gotype_diff(&go_persistent_volume_claim_spec, was, now, &out);
    assert_string_equal(str_get(&out),
                        "@@ -3,9 +3,7 @@\n  \"Selector\": null,\n  \"Resources\": {\n"
                        "   \"Limits\": null,\n-  \"Requests\": {\n"
                        "-   \"storage\": \"1Gi\"\n-  }\n+  \"Requests\": null\n"
                        "  },\n  \"VolumeName\": \"pv-x\",\n"
                        "  \"StorageClassName\": \"fast\",\n");
    str_reset(&out);
    gotype_diff(&go_persistent_volume_claim_spec, was, was, &out);
    assert_string_equal(str_get(&out), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_values_from_above),
        cmocka_unit_test(test_metadata_stands_among_the_others),
        cmocka_unit_test(test_diff),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
