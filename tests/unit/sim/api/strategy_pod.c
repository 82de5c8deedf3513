/* Tests of api/strategy_pod: what becomes of pods. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_pod");
}

#define POD(more)                                                                                  \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','namespace':'d'},'spec':{"             \
    "'automountServiceAccountToken':false,'containers':[{'name':'c','image':'i:1'}]" more "}}"

static void test_creation(void **state) {
    _cleanup_json_ json_t *pod = expect_taken(POD(""));
    (void)state;
    expect_member(pod, "status", "{'phase':'Pending','qosClass':'BestEffort'}");
    expect_member(pod, "metadata/generation", "1");
}

/* What the client says of the status is dropped on creation. */
static void test_status_dropped(void **state) {
    _cleanup_json_ json_t *pod = expect_taken(
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','namespace':'d'},'spec':{"
        "'containers':[{'name':'c','image':'i'}]},'status':{'phase':'Running','podIP':'1.2.3.4'}}");
    (void)state;
    expect_member(pod, "status", "{'phase':'Pending','qosClass':'BestEffort'}");
}

static void test_gates(void **state) {
    _cleanup_json_ json_t *pod = expect_taken(POD(",'schedulingGates':[{'name':'x.io/g'}]"));
    (void)state;
    expect_member(pod, "status/conditions/0/type", "'PodScheduled'");
    expect_member(pod, "status/conditions/0/reason", "'SchedulingGated'");
    expect_member(pod, "status/conditions/0/message",
                  "'Scheduling is blocked due to non-empty scheduling gates'");
    json_decref(expect_change_taken(pod, STRATEGY_MAIN, "{'spec':{'schedulingGates':null}}"));
    expect_change_refused(pod, STRATEGY_MAIN,
                          "{'spec':{'schedulingGates':[{'name':'x.io/g'},{'name':'x.io/h'}]}}",
                          "Pod \"a\" is invalid: spec.schedulingGates[1].name: Forbidden: only "
                          "deletion is allowed, but found new scheduling gate 'x.io/h'");
}

static void test_allowed_changes(void **state) {
    _cleanup_json_ json_t *pod = expect_taken(POD(",'activeDeadlineSeconds':9"));
    (void)state;
    _cleanup_json_ json_t *image = expect_change_taken(
        pod, STRATEGY_MAIN,
        "{'spec':{'containers':[{'name':'c','image':'other:2','imagePullPolicy':'IfNotPresent',"
        "'terminationMessagePath':'/dev/termination-log','terminationMessagePolicy':'File',"
        "'resources':{}}],'activeDeadlineSeconds':8}}");
    expect_member(image, "spec/containers/0/image", "'other:2'");
    expect_member(image, "metadata/generation", "2");
    expect_change_refused(pod, STRATEGY_MAIN, "{'spec':{'activeDeadlineSeconds':10}}",
                          "Pod \"a\" is invalid: spec.activeDeadlineSeconds: Invalid value: 10: "
                          "must be less than or equal to previous value");
}

/* The rest is refused, and the message shows what changed in the server's inner words. */
static void test_other_changes(void **state) {
    _cleanup_json_ json_t *pod = expect_taken(POD(""));
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    _cleanup_json_ json_t *done =
        expect_change(pod, STRATEGY_MAIN, "{'spec':{'hostname':'h'}}", &f);
    (void)state;
    assert_null(done);
    assert_true(str_starts(
        f.message,
        "Pod \"a\" is invalid: spec: Forbidden: pod updates may not change fields other than "
        "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
        "`spec.tolerations` (only additions to existing tolerations),"
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
        "negative)\n@@ -"));
    assert_non_null(strstr(f.message, "\n- \"Hostname\": \"\",\n+ \"Hostname\": \"h\",\n"));
}

static void test_tolerations(void **state) {
    _cleanup_json_ json_t *pod =
        expect_taken(POD(",'tolerations':[{'key':'k','operator':'Exists','effect':'NoExecute'}]"));
    const json_t *had = json_object_get(json_object_get(pod, "spec"), "tolerations");
    (void)state;
    assert_int_equal(json_array_size(had), 3); /* not-ready and unreachable */
    expect_change_refused(pod, STRATEGY_MAIN, "{'spec':{'tolerations':[{'operator':'Exists'}]}}",
                          "Pod \"a\" is invalid: spec.tolerations: Forbidden: existing toleration "
                          "can not be modified except its tolerationSeconds");
}

/* One's template is no pod: it has no status and no generation. */
static void test_templates(void **state) {
    _cleanup_json_ json_t *made = expect_taken(
        "{'apiVersion':'v1','kind':'PodTemplate','metadata':{'name':'a','namespace':'d'},"
        "'template':{'spec':{'containers':[{'name':'c','image':'i'}]}}}");
    (void)state;
    expect_member(made, "template/spec/restartPolicy", "'Always'");
    expect_member(made, "template/spec/serviceAccountName", NULL);
    expect_member(made, "template/spec/tolerations", NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),        cmocka_unit_test(test_creation),
        cmocka_unit_test(test_status_dropped),  cmocka_unit_test(test_gates),
        cmocka_unit_test(test_allowed_changes), cmocka_unit_test(test_other_changes),
        cmocka_unit_test(test_tolerations),     cmocka_unit_test(test_templates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
