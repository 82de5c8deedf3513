/* Tests of api/strategy_pod_spec: the spec of pods. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_pod_spec");
}

#define POD(more)                                                                                  \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','namespace':'d'},'spec':{"             \
    "'automountServiceAccountToken':false,'containers':[{'name':'c','image':'i:1'}]" more "}}"

static void test_policies(void **state) {
    (void)state;
    expect_refused(POD(",'restartPolicy':'Sometimes'"),
                   "Pod \"a\" is invalid: spec.restartPolicy: Unsupported value: \"Sometimes\": "
                   "supported values: \"Always\", \"OnFailure\", \"Never\"");
    expect_refused(POD(",'activeDeadlineSeconds':0"),
                   "Pod \"a\" is invalid: spec.activeDeadlineSeconds: Invalid value: 0: must be "
                   "between 1 and 2147483647, inclusive");
}

static void test_names(void **state) {
    (void)state;
    expect_refused(POD(",'hostname':'a.b'"),
                   "Pod \"a\" is invalid: spec.hostname: Invalid value: \"a.b\": must not contain "
                   "dots");
    expect_refused(POD(",'nodeSelector':{'a':'b c'}"),
                   "Pod \"a\" is invalid: spec.nodeSelector: Invalid value: \"b c\": a valid label "
                   "must be an empty string or consist of alphanumeric characters, '-', '_' or "
                   "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  "
                   "or 'my_value',  or '12345', regex used for validation is "
                   "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
}

static void test_gates(void **state) {
    (void)state;
    expect_refused(POD(",'schedulingGates':[{'name':'a'},{'name':'a'}]"),
                   "Pod \"a\" is invalid: spec.schedulingGates[1]: Duplicate value: \"a\"");
    expect_refused(POD(",'schedulingGates':[{'name':'a'}],'nodeName':'n'"),
                   "Pod \"a\" is invalid: spec.nodeName: Forbidden: cannot be set until all "
                   "schedulingGates have been cleared");
}

static void test_dns(void **state) {
    (void)state;
    expect_refused(POD(",'dnsPolicy':'None'"),
                   "Pod \"a\" is invalid: spec.dnsConfig: Required value: must provide `dnsConfig` "
                   "when `dnsPolicy` is None");
    expect_refused(POD(",'dnsConfig':{'nameservers':['1.1.1.1','1.1.1.2','1.1.1.3','1.1.1.4']}"),
                   "Pod \"a\" is invalid: spec.dnsConfig.nameservers: Invalid value: "
                   "[\"1.1.1.1\",\"1.1.1.2\",\"1.1.1.3\",\"1.1.1.4\"]: must not have more than 3 "
                   "nameservers");
}

/* What the old version had is excused in the new one. */
static void test_options(void **state) {
    _cleanup_json_ json_t *good = expect_json("{'containers':[{'name':'c'}]}");
    _cleanup_json_ json_t *odd = expect_json(
        "{'topologySpreadConstraints':[{'labelSelector':{'matchLabels':{'a b':'c'}}}],"
        "'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"
        "'labelSelector':{'matchExpressions':[{'key':'k','operator':'In','values':['-x']}]}}]}}}");
    struct pod_options none = pod_options(NULL, NULL, true), fine = pod_options(good, NULL, false);
    struct pod_options had = pod_options(odd, NULL, true);
    (void)state;
    assert_true(none.is_pod);
    assert_false(fine.is_pod);
    assert_false(none.any_selector_value || none.any_spread_selector);
    assert_false(fine.any_selector_value || fine.any_spread_selector);
    assert_true(had.any_selector_value);
    assert_true(had.any_spread_selector);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded), cmocka_unit_test(test_policies),
        cmocka_unit_test(test_names),    cmocka_unit_test(test_gates),
        cmocka_unit_test(test_dns),      cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
