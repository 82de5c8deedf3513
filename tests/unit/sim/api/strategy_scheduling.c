/* Tests of api/strategy_scheduling: where pods may run. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_scheduling");
}

static void expect_tolerations(const char *list, const char *text) {
    _cleanup_json_ json_t *v = expect_json(list);
    struct field_errors e = {0};
    struct at root = at_root(NULL), at = at_named(&root, "tolerations", v);
    struct pod_options o = pod_options(NULL, NULL, true);
    check_tolerations(&e, &at, &o);
    expect_errors(&e, text);
}

/* ValidateTolerations(). */
static void test_tolerations(void **state) {
    (void)state;
    expect_tolerations("[{'operator':'Exists'}]", "");
    expect_tolerations("[{'key':'k','operator':'Equal','value':'v','effect':'NoSchedule'}]", "");
    expect_tolerations("[{'operator':'Equal'}]",
                       "tolerations[0].operator: Invalid value: \"Equal\": operator must be Exists "
                       "when `key` is empty, which means \"match all values and all keys\"");
    expect_tolerations("[{'key':'k','operator':'Exists','value':'v'}]",
                       "tolerations[0].operator: Invalid value: \"v\": value must be empty when "
                       "`operator` is 'Exists'");
    expect_tolerations("[{'key':'k','operator':'Exists','effect':'NoSchedule',"
                       "'tolerationSeconds':1}]",
                       "tolerations[0].effect: Invalid value: \"NoSchedule\": effect must be "
                       "'NoExecute' when `tolerationSeconds` is set");
}

static void test_spread(void **state) {
    _cleanup_json_ json_t *spec = expect_json(
        "{'topologySpreadConstraints':[{'maxSkew':0,'topologyKey':'z','whenUnsatisfiable':"
        "'DoNotSchedule'},{'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':'DoNotSchedule'}]}");
    struct field_errors e = {0};
    struct at at = at_root(spec);
    struct pod_options o = pod_options(NULL, NULL, true);
    (void)state;
    check_spread(&e, &at, &o);
    expect_errors(&e, "topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater "
                      "than zero\n"
                      "topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate "
                      "value: \"{z, DoNotSchedule}\"");
}

static void test_node_selector(void **state) {
    _cleanup_json_ json_t *v = expect_json(
        "{'nodeSelectorTerms':[{'matchExpressions':[{'key':'k','operator':'Gt','values':['1','2']},"
        "{'key':'k','operator':'Odd'}],'matchFields':[{'key':'metadata.name','operator':'In',"
        "'values':['a','b']}]}]}");
    struct field_errors e = {0};
    struct at at = at_root(v);
    (void)state;
    check_node_selector(&e, &at, true);
    expect_errors(&e,
                  "nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be "
                  "specified single value when `operator` is 'Lt' or 'Gt'\n"
                  "nodeSelectorTerms[0].matchExpressions[1].operator: Invalid value: \"Odd\": not "
                  "a valid selector operator\n"
                  "nodeSelectorTerms[0].matchFields[0].values: Required value: must be only one "
                  "value when `operator` is 'In' or 'NotIn' for node field selector");
    assert_false(node_selector_has_bad_value(v));
}

static void test_affinity(void **state) {
    _cleanup_json_ json_t *spec = expect_json(
        "{'affinity':{'podAntiAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{"
        "'weight':101,'podAffinityTerm':{'topologyKey':''}}]}}}");
    struct field_errors e = {0};
    struct at at = at_root(spec);
    struct pod_options o = pod_options(NULL, NULL, true);
    (void)state;
    check_affinity(&e, &at, &o);
    assert_true(e.v.len >= 2);
    assert_string_equal(e.v.p[0].field,
                        "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution"
                        "[0].weight");
    assert_string_equal(e.v.p[0].body, "Invalid value: 101: must be in the range 1-100");
    assert_string_equal(e.v.p[1].body, "Required value: can not be empty");
    field_errors_done(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded), cmocka_unit_test(test_tolerations),
        cmocka_unit_test(test_spread),   cmocka_unit_test(test_node_selector),
        cmocka_unit_test(test_affinity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
