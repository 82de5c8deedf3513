/* Tests of src/model/job.c. */
#include "model/job.h"

#include "../support/decode.h"

static void read_into(struct bench *b, const struct kind *kind, const char *text, void *obj) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *json = xstrdup(text);
    for (char *c = json; *c; c++)
        if (*c == '\'')
            *c = '"';
    if (codec_json(&b->codec, kind->type, view_of(json), obj, &err))
        fail_msg("%s in %s", err_msg(&err), text);
}

static void drop(struct bench *b, const struct kind *kind, void *obj) {
    type_release(kind->type, b->pool, obj, obj);
}

static enum job_action judge(struct bench *b, const char *rules, const char *status,
                             enum job_end end, int *rule) {
    struct job job = {0};
    struct pod pod = {0};
    _cleanup_free_ char *text = xasprintf("{'spec':{'podFailurePolicy':{'rules':[%s]}}}", rules);
    _cleanup_free_ char *body = xasprintf("{'status':{%s}}", status);
    read_into(b, &kind_job, text, &job);
    read_into(b, &kind_pod, body, &pod);
    enum job_action action = job_judge_pod(&job, &pod, end, rule);
    drop(b, &kind_job, &job);
    drop(b, &kind_pod, &pod);
    return action;
}

#define FAIL_42   "{'action':'FailJob','onExitCodes':{'operator':'In','values':[42]}}"
#define IGNORE    "{'action':'Ignore','onPodConditions':[{'type':'DisruptionTarget'}]}"
#define RUNNING   "'containerStatuses':[{'name':'main','state':{'running':{}}}]"
#define ENDED(n)  "'containerStatuses':[{'name':'main','state':{'terminated':{'exitCode':" n "}}}]"
#define CONDITION "'conditions':[{'type':'DisruptionTarget','status':'True'}]"

/* The first rule that matches decides, as the documentation's own example has them. */
static void the_first_rule_that_matches_decides(void **state) {
    int rule;
    assert_int_equal(judge(*state, FAIL_42 "," IGNORE, ENDED("42"), JOB_POD_ENDED, &rule),
                     JOB_FAIL);
    assert_int_equal(rule, 0);
    assert_int_equal(
        judge(*state, FAIL_42 "," IGNORE, ENDED("143") "," CONDITION, JOB_POD_ENDED, &rule),
        JOB_IGNORE);
    assert_int_equal(rule, 1);
    assert_int_equal(judge(*state, FAIL_42 "," IGNORE, ENDED("1"), JOB_POD_ENDED, &rule),
                     JOB_COUNT);
    assert_int_equal(rule, -1);
    assert_int_equal(judge(*state,
                           "{'action':'Count','onExitCodes':{'operator':'In','values':[1]}},"
                           "{'action':'FailJob','onExitCodes':{'operator':'NotIn',"
                           "'values':[0]}}",
                           ENDED("1"), JOB_POD_ENDED, &rule),
                     JOB_COUNT);
    assert_int_equal(rule, 0);
}

/* One that runs is thought of as evicted: it gets the condition, and ends by the signal. */
static void what_if_it_were_evicted(void **state) {
    const char *by_signal = "{'action':'FailJob','onExitCodes':{'operator':'In','values':[143]}}";
    const char *not_in = "{'action':'FailJob','onExitCodes':{'operator':'NotIn','values':[42]}}";
    assert_int_equal(judge(*state, FAIL_42 "," IGNORE, RUNNING, JOB_POD_EVICTED, NULL), JOB_IGNORE);
    assert_int_equal(judge(*state, IGNORE, RUNNING, JOB_POD_DELETED, NULL), JOB_COUNT);
    assert_int_equal(judge(*state, by_signal, RUNNING, JOB_POD_EVICTED, NULL), JOB_FAIL);
    assert_int_equal(judge(*state, by_signal, RUNNING, JOB_POD_DELETED, NULL), JOB_FAIL);
    assert_int_equal(judge(*state, not_in, RUNNING, JOB_POD_EVICTED, NULL), JOB_FAIL);
    assert_int_equal(judge(*state, by_signal, RUNNING, JOB_POD_ENDED, NULL), JOB_COUNT);
}

static void a_rule_may_be_about_one_container(void **state) {
    const char *other = "{'action':'FailIndex','onExitCodes':{'containerName':'other','operator':"
                        "'In','values':[3]}}";
    const char *main_one = "{'action':'FailIndex','onExitCodes':{'containerName':'main','operator':"
                           "'In','values':[3]}}";
    assert_int_equal(judge(*state, other, ENDED("3"), JOB_POD_ENDED, NULL), JOB_COUNT);
    assert_int_equal(judge(*state, main_one, ENDED("3"), JOB_POD_ENDED, NULL), JOB_FAIL_INDEX);
    /* the end of an init container counts as well; one that ended well does not */
    assert_int_equal(judge(*state, main_one,
                           "'initContainerStatuses':[{'name':'main','state':{'terminated':{"
                           "'exitCode':3}}}]",
                           JOB_POD_ENDED, NULL),
                     JOB_FAIL_INDEX);
    assert_int_equal(judge(*state,
                           "{'action':'FailJob','onExitCodes':{'operator':'NotIn',"
                           "'values':[9]}}",
                           ENDED("0"), JOB_POD_ENDED, NULL),
                     JOB_COUNT);
}

static void limits(void **state) {
    static const struct {
        const char *spec;
        int32_t limit;
        bool waits;
    } rows[] = {
        {"'suspend':false", 6, false},
        {"'backoffLimit':0", 0, false},
        {"'backoffLimitPerIndex':1", INT32_MAX, false},
        {"'backoffLimitPerIndex':1,'backoffLimit':4", 4, false},
        {"'podReplacementPolicy':'Failed'", 6, true},
        {"'podFailurePolicy':{'rules':[]}", 6, true},
        {"'podFailurePolicy':{'rules':[]},'podReplacementPolicy':'TerminatingOrFailed'", 6, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct job job = {0};
        _cleanup_free_ char *text = xasprintf("{'spec':{%s}}", rows[i].spec);
        read_into(*state, &kind_job, text, &job);
        assert_int_equal(job_limit(&job), rows[i].limit);
        assert_int_equal(job_waits_for_end(&job), rows[i].waits);
        assert_false(job_is_over(&job));
        drop(*state, &kind_job, &job);
    }
}

static void over(void **state) {
    static const char *const types[] = {"Complete", "Failed", "FailureTarget",
                                        "SuccessCriteriaMet"};
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        for (int yes = 0; yes < 2; yes++) {
            struct job job = {0};
            _cleanup_free_ char *text = xasprintf(
                "{'status':{'conditions':[{'type':'Suspended','status':'True'},{'type':'%s',"
                "'status':'%s'}]}}",
                types[i], yes ? "True" : "False");
            read_into(*state, &kind_job, text, &job);
            assert_int_equal(job_is_over(&job), yes);
            drop(*state, &kind_job, &job);
        }
    }
}

static void failures_of_an_index(void **state) {
    struct pod pod = {0};
    read_into(*state, &kind_pod, "{'metadata':{'name':'a'}}", &pod);
    assert_int_equal(job_index_failures(&pod), 0);
    drop(*state, &kind_pod, &pod);
    read_into(*state, &kind_pod, "{'metadata':{'annotations':{'" JOB_INDEX_FAILURES "':'3'}}}",
              &pod);
    assert_int_equal(job_index_failures(&pod), 3);
    drop(*state, &kind_pod, &pod);
}

static void indexes_that_failed(void **state) {
    static const struct {
        const char *text;
        int64_t count;
    } rows[] = {{"", 0},       {"3", 1},      {"1,3-5,7", 5}, {"5-3", 0},
                {"0-9,x", 10}, {"nobody", 0}, {"1,", 1},      {"0-99999999999999999999", 0}};
    (void)state;
    assert_int_equal(job_failed_indexes(&(struct job){0}), 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(job_failed_indexes(&(struct job){.failed_indexes = rows[i].text}),
                         rows[i].count);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_first_rule_that_matches_decides, bench_setup,
                                        bench_teardown),
        cmocka_unit_test_setup_teardown(what_if_it_were_evicted, bench_setup, bench_teardown),
        cmocka_unit_test_setup_teardown(a_rule_may_be_about_one_container, bench_setup,
                                        bench_teardown),
        cmocka_unit_test_setup_teardown(limits, bench_setup, bench_teardown),
        cmocka_unit_test_setup_teardown(over, bench_setup, bench_teardown),
        cmocka_unit_test_setup_teardown(failures_of_an_index, bench_setup, bench_teardown),
        cmocka_unit_test(indexes_that_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
