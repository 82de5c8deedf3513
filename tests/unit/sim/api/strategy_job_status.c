/* Tests of api/strategy_job_status: the status of Jobs. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_job_status");
}

static json_t *started(void) {
    return expect_taken(
        "{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'a','namespace':'d'},'spec':{"
        "'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'i'}]}}}}");
}

#define CONDITION(type)                                                                            \
    "{'type':'" type "','status':'True','lastTransitionTime':'2020-01-01T00:00:00Z',"              \
    "'lastProbeTime':'2020-01-01T00:00:00Z'}"

static void test_completion(void **state) {
    _cleanup_json_ json_t *job = started();
    (void)state;
    expect_change_refused(
        job, STRATEGY_STATUS,
        "{'status':{'startTime':'2020-01-01T00:00:00Z','conditions':[" CONDITION("Complete") "]}}",
        "Job.batch \"a\" is invalid: [status.completionTime: Required value: completionTime is "
        "required for Complete jobs, status.conditions: Invalid value: cannot set Complete=True "
        "condition without the SuccessCriteriaMet=true condition]");
    json_decref(expect_change_taken(
        job, STRATEGY_STATUS,
        "{'status':{'startTime':'2020-01-01T00:00:00Z','completionTime':'2020-01-01T00:00:01Z',"
        "'succeeded':1,'conditions':[" CONDITION("SuccessCriteriaMet") "," CONDITION(
            "Complete") "]}}"));
}

static void test_both(void **state) {
    _cleanup_json_ json_t *job = started();
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    _cleanup_json_ json_t *done =
        expect_change(job, STRATEGY_STATUS,
                      "{'status':{'startTime':'2020-01-01T00:00:00Z','conditions':[" CONDITION(
                          "Complete") "," CONDITION("Failed") "]}}",
                      &f);
    (void)state;
    assert_null(done);
    assert_non_null(strstr(f.message, "cannot set Complete=True and Failed=true conditions"));
}

static void test_counts(void **state) {
    _cleanup_json_ json_t *job = started();
    (void)state;
    expect_change_refused(job, STRATEGY_STATUS, "{'status':{'active':-1,'failed':-1}}",
                          "Job.batch \"a\" is invalid: [status.active: Invalid value: -1: must be "
                          "greater than or equal to 0, status.failed: Invalid value: -1: must be "
                          "greater than or equal to 0, status.failed: Invalid value: -1: cannot "
                          "decrease the failed counter]");
    /* validateJobStatus() in pkg/apis/batch/validation: unless nobody has counted them */
    expect_change_refused(job, STRATEGY_STATUS, "{'status':{'active':1,'ready':2}}",
                          "Job.batch \"a\" is invalid: status.ready: Invalid value: 2: cannot set "
                          "more ready pods than active");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_completion),
        cmocka_unit_test(test_both),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
