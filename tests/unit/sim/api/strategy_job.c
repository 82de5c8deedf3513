/* Tests of api/strategy_job: Jobs. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_job");
}

#define JOB(spec)                                                                                  \
    "{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'a','namespace':'d'},'spec':{" spec  \
    "'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'i'}]}}}}"

/* The Job's uid labels its pods, in the old way and in the new one. */
static void test_generated_selector(void **state) {
    _cleanup_json_ json_t *job = expect_taken(JOB(""));
    const char *uid = json_str(json_object_get(job, "metadata"), "uid");
    const json_t *labels = json_object_get(
        json_object_get(json_object_get(json_object_get(job, "spec"), "template"), "metadata"),
        "labels");
    const json_t *selector =
        json_object_get(json_object_get(json_object_get(job, "spec"), "selector"), "matchLabels");
    (void)state;
    assert_string_equal(json_str(labels, "controller-uid"), uid);
    assert_string_equal(json_str(labels, "batch.kubernetes.io/controller-uid"), uid);
    assert_string_equal(json_str(labels, "job-name"), "a");
    assert_string_equal(json_str(labels, "batch.kubernetes.io/job-name"), "a");
    assert_int_equal(json_object_size(selector), 1);
    assert_string_equal(json_str(selector, "batch.kubernetes.io/controller-uid"), uid);
    expect_equal("labels", json_object_get(json_object_get(job, "metadata"), "labels"), labels);
}

static void test_defaults(void **state) {
    _cleanup_json_ json_t *job = expect_taken(JOB(""));
    _cleanup_json_ json_t *queue = expect_taken(JOB("'parallelism':3,"));
    (void)state;
    expect_member(job, "spec/completions", "1");
    expect_member(job, "spec/parallelism", "1");
    expect_member(job, "spec/backoffLimit", "6");
    expect_member(job, "spec/completionMode", "'NonIndexed'");
    expect_member(job, "spec/suspend", "false");
    expect_member(job, "spec/manualSelector", "false");
    expect_member(job, "spec/podReplacementPolicy", "'TerminatingOrFailed'");
    expect_member(job, "metadata/generation", "1");
    expect_member(job, "status", "{}");
    expect_member(queue, "spec/completions", NULL);
}

static void test_selector(void **state) {
    _cleanup_json_ json_t *sent = expect_json(JOB("'selector':{'matchLabels':{'a':'b'}},"));
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    _cleanup_json_ json_t *done = expect_way(sent, NULL, STRATEGY_MAIN, EXPECT_WORLD, &f);
    (void)state;
    assert_null(done);
    _cleanup_free_ char *text = expect_normal_text(f.message);
    assert_string_equal(
        text, "Job.batch \"a\" is invalid: [spec.selector: Invalid value: {\"matchLabels\":"
              "{\"a\":\"b\",\"batch.kubernetes.io/controller-uid\":\"UID\"}}: `selector` not "
              "auto-generated, spec.template.metadata.labels: Invalid value: "
              "{\"batch.kubernetes.io/controller-uid\":\"UID\",\"batch.kubernetes.io/job-name\":"
              "\"a\",\"controller-uid\":\"UID\",\"job-name\":\"a\"}: `selector` does not match "
              "template `labels`]");
}

static void test_immutable(void **state) {
    _cleanup_json_ json_t *job = expect_taken(JOB("'completions':3,"));
    (void)state;
    expect_change_refused(
        job, STRATEGY_MAIN, "{'spec':{'completions':4}}",
        "Job.batch \"a\" is invalid: spec.completions: Invalid value: 4: field is immutable");
    _cleanup_json_ json_t *more =
        expect_change_taken(job, STRATEGY_MAIN, "{'spec':{'parallelism':2}}");
    expect_member(more, "metadata/generation", "2");
}

static void test_restart_policy(void **state) {
    (void)state;
    expect_refused("{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'a','namespace':'d'},"
                   "'spec':{'template':{'spec':{'containers':[{'name':'c','image':'i'}]}}}}",
                   "Job.batch \"a\" is invalid: spec.template.spec.restartPolicy: Required value: "
                   "valid values: \"OnFailure\", \"Never\"");
}

/* A Job that is sent without labels gets those of its template when it is read back. One that goes
 * with its last finalizer is not read back: it is answered as it was sent. */
static void test_last_finalizer(void **state) {
#define BARE "'spec':{'template':{'metadata':null}}"
    _cleanup_json_ json_t *job = expect_taken(JOB(""));
    (void)state;
    _cleanup_json_ json_t *stays =
        expect_change_taken(job, STRATEGY_STATUS, "{'metadata':{'labels':null}," BARE "}");
    expect_member(stays, "metadata/labels/job-name", "'a'");
    json_t *meta = json_object_get(job, "metadata");
    json_object_set_new(meta, "deletionTimestamp", json_string("2026-01-02T03:04:05Z"));
    json_object_set_new(meta, "deletionGracePeriodSeconds", json_integer(0));
    json_object_set_new(meta, "finalizers", json_pack("[s]", "foregroundDeletion"));
    _cleanup_json_ json_t *waits =
        expect_change_taken(job, STRATEGY_STATUS, "{'metadata':{'labels':null}," BARE "}");
    expect_member(waits, "metadata/labels/job-name", "'a'");
    _cleanup_json_ json_t *goes = expect_change_taken(
        job, STRATEGY_STATUS, "{'metadata':{'labels':null,'finalizers':null}," BARE "}");
    expect_member(goes, "metadata/labels", NULL);
    expect_member(goes, "spec/template/metadata/labels/job-name", "'a'");
#undef BARE
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),       cmocka_unit_test(test_generated_selector),
        cmocka_unit_test(test_defaults),       cmocka_unit_test(test_selector),
        cmocka_unit_test(test_immutable),      cmocka_unit_test(test_restart_policy),
        cmocka_unit_test(test_last_finalizer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
