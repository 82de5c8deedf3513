/* Tests of api/strategy_budget: PodDisruptionBudgets. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_budget");
}

#define BUDGET(spec)                                                                               \
    "{'apiVersion':'policy/v1','kind':'PodDisruptionBudget',"                                      \
    "'metadata':{'name':'a','namespace':'d'},'spec':" spec "}"

static void test_both_limits(void **state) {
    (void)state;
    expect_refused(BUDGET("{'minAvailable':1,'maxUnavailable':'10%'}"),
                   "PodDisruptionBudget.policy \"a\" is invalid: spec: Invalid value: "
                   "{\"MinAvailable\":1,\"Selector\":null,\"MaxUnavailable\":\"10%\","
                   "\"UnhealthyPodEvictionPolicy\":null}: minAvailable and maxUnavailable cannot "
                   "be both set");
}

static void test_percentages(void **state) {
    (void)state;
    json_decref(expect_taken(BUDGET("{'minAvailable':'100%'}")));
    json_decref(expect_taken(BUDGET("{'maxUnavailable':'0%'}")));
    expect_refused(BUDGET("{'minAvailable':'101%'}"),
                   "PodDisruptionBudget.policy \"a\" is invalid: spec.minAvailable: Invalid value: "
                   "\"101%\": must not be greater than 100%");
    expect_refused(BUDGET("{'maxUnavailable':-1}"),
                   "PodDisruptionBudget.policy \"a\" is invalid: spec.maxUnavailable: Invalid "
                   "value: -1: must be greater than or equal to 0");
}

/* The controller's part and the user's: neither changes the other's. */
static void test_parts(void **state) {
    _cleanup_json_ json_t *old = expect_taken(BUDGET("{'minAvailable':1}"));
    (void)state;
    expect_member(old, "metadata/generation", "1");
    _cleanup_json_ json_t *status = expect_change_taken(
        old, STRATEGY_STATUS, "{'spec':{'minAvailable':5},'status':{'currentHealthy':3}}");
    expect_member(status, "spec/minAvailable", "1");
    expect_member(status, "status/currentHealthy", "3");
    expect_member(status, "metadata/generation", "1");
    _cleanup_json_ json_t *spec = expect_change_taken(
        old, STRATEGY_MAIN, "{'spec':{'minAvailable':5},'status':{'currentHealthy':3}}");
    expect_member(spec, "spec/minAvailable", "5");
    expect_member(spec, "status/currentHealthy", "0");
    expect_member(spec, "metadata/generation", "2");
}

static void test_conditions(void **state) {
    _cleanup_json_ json_t *old = expect_taken(BUDGET("{'minAvailable':1}"));
    (void)state;
    expect_change_refused(
        old, STRATEGY_STATUS,
        "{'status':{'conditions':[{'type':'A','status':'True','reason':'R','message':'',"
        "'lastTransitionTime':'2020-01-01T00:00:00Z'},{'type':'A','status':'Maybe','reason':'',"
        "'message':'','lastTransitionTime':'2020-01-01T00:00:00Z'}]}}",
        "PodDisruptionBudget.policy \"a\" is invalid: [status.conditions[1].type: Duplicate value: "
        "\"A\", status.conditions[1].status: Unsupported value: \"Maybe\": supported values: "
        "\"False\", \"True\", \"Unknown\", status.conditions[1].reason: Required value]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),    cmocka_unit_test(test_both_limits),
        cmocka_unit_test(test_percentages), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
