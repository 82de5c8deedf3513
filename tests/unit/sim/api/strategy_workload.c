/* Tests of api/strategy_workload: Deployments, ReplicaSets, DaemonSets, ControllerRevisions. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_workload");
}

#define WORKLOAD(kind, labels, more)                                                               \
    "{'apiVersion':'apps/v1','kind':'" kind "','metadata':{'name':'w','namespace':'d'},"           \
    "'spec':{'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{" labels       \
    "}},'spec':{'containers':[{'name':'c','image':'i'}]}}" more "}}"

static void test_deployment(void **state) {
    _cleanup_json_ json_t *d = expect_taken(WORKLOAD("Deployment", "'a':'b'", ""));
    (void)state;
    expect_member(d, "spec/replicas", "1");
    expect_member(d, "spec/revisionHistoryLimit", "10");
    expect_member(d, "spec/progressDeadlineSeconds", "600");
    expect_member(d, "spec/strategy",
                  "{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':'25%',"
                  "'maxSurge':'25%'}}");
    expect_member(d, "status", "{}");
    expect_member(d, "metadata/generation", "1");
}

/* Annotations of a Deployment count as a change; its labels do not. */
static void test_generation(void **state) {
    _cleanup_json_ json_t *d = expect_taken(WORKLOAD("Deployment", "'a':'b'", ""));
    _cleanup_json_ json_t *labelled =
        expect_change_taken(d, STRATEGY_MAIN, "{'metadata':{'labels':{'x':'y'}}}");
    _cleanup_json_ json_t *noted =
        expect_change_taken(d, STRATEGY_MAIN, "{'metadata':{'annotations':{'x':'y'}}}");
    _cleanup_json_ json_t *scaled =
        expect_change_taken(d, STRATEGY_MAIN, "{'spec':{'replicas':2}}");
    _cleanup_json_ json_t *status = expect_change_taken(
        d, STRATEGY_STATUS, "{'spec':{'replicas':2},'status':{'observedGeneration':1}}");
    (void)state;
    expect_member(labelled, "metadata/generation", "1");
    expect_member(noted, "metadata/generation", "2");
    expect_member(scaled, "metadata/generation", "2");
    expect_member(status, "metadata/generation", "1");
    expect_member(status, "spec/replicas", "1");
    expect_member(status, "status/observedGeneration", "1");
}

static void test_selectors(void **state) {
    _cleanup_json_ json_t *d = expect_taken(WORKLOAD("Deployment", "'a':'b','x':'y'", ""));
    (void)state;
    expect_refused(WORKLOAD("Deployment", "'a':'c'", ""),
                   "Deployment.apps \"w\" is invalid: spec.template.metadata.labels: Invalid "
                   "value: {\"a\":\"c\"}: `selector` does not match template `labels`");
    expect_change_refused(d, STRATEGY_MAIN, "{'spec':{'selector':{'matchLabels':{'x':'y'}}}}",
                          "Deployment.apps \"w\" is invalid: spec.selector: Invalid value: "
                          "{\"matchLabels\":{\"a\":\"b\",\"x\":\"y\"}}: field is immutable");
}

static void test_strategies(void **state) {
    (void)state;
    expect_refused(WORKLOAD("Deployment", "'a':'b'",
                            ",'strategy':{'rollingUpdate':{'maxSurge':0,'maxUnavailable':'0%'}}"),
                   "Deployment.apps \"w\" is invalid: "
                   "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"0%\": may not be "
                   "0 when `maxSurge` is 0");
    expect_refused(
        WORKLOAD("Deployment", "'a':'b'", ",'strategy':{'type':'Recreate','rollingUpdate':{}}"),
        "Deployment.apps \"w\" is invalid: spec.strategy.rollingUpdate: Forbidden: may "
        "not be specified when strategy `type` is 'Recreate'");
}

static void test_daemon_set(void **state) {
    _cleanup_json_ json_t *d = expect_taken(WORKLOAD("DaemonSet", "'a':'b'", ""));
    (void)state;
    expect_member(d, "spec/updateStrategy",
                  "{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':1,'maxSurge':0}}");
    expect_member(d, "spec/revisionHistoryLimit", "10");
    _cleanup_json_ json_t *next =
        expect_change_taken(d, STRATEGY_MAIN, "{'spec':{'minReadySeconds':3}}");
    expect_member(next, "metadata/generation", "2");
}

/* The generation of the template, in an annotation that dates from before there were revisions. */
static void test_template_generation(void **state) {
    _cleanup_json_ json_t *d = expect_taken(WORKLOAD("DaemonSet", "'a':'b'", ""));
    const char *key = "deprecated.daemonset.template.generation";
    (void)state;
    assert_string_equal(meta_annotation(d, key), "1");
    _cleanup_json_ json_t *next = expect_change_taken(
        d, STRATEGY_MAIN, "{'spec':{'template':{'metadata':{'labels':{'x':'y'}}}}}");
    assert_string_equal(meta_annotation(next, key), "2");
    _cleanup_json_ json_t *same =
        expect_change_taken(d, STRATEGY_MAIN, "{'spec':{'minReadySeconds':3}}");
    assert_string_equal(meta_annotation(same, key), "1");
    json_object_set_new(json_object_get(json_object_get(d, "metadata"), "annotations"), key,
                        json_string("9223372036854775807"));
    json_decref(expect_change_taken(d, STRATEGY_MAIN,
                                    "{'spec':{'template':{'metadata':{'labels':{'x':'y'}}}}}"));
}

static void test_replica_set(void **state) {
    _cleanup_json_ json_t *r = expect_taken(WORKLOAD("ReplicaSet", "'a':'b'", ""));
    (void)state;
    expect_member(r, "spec/replicas", "1");
    expect_member(r, "status", "{'replicas':0}");
    expect_refused(WORKLOAD("ReplicaSet", "'a':'b'", ",'replicas':-1"),
                   "ReplicaSet.apps \"w\" is invalid: spec.replicas: Invalid value: -1: must be "
                   "greater than or equal to 0");
}

static void test_revision(void **state) {
    _cleanup_json_ json_t *r =
        expect_taken("{'apiVersion':'apps/v1','kind':'ControllerRevision','metadata':{'name':'r',"
                     "'namespace':'d'},'revision':1,'data':{'a':1}}");
    (void)state;
    expect_change_refused(r, STRATEGY_MAIN, "{'revision':-1}",
                          "ControllerRevision.apps \"r\" is invalid: revision: Invalid value: -1: "
                          "must be greater than or equal to 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_deployment),
        cmocka_unit_test(test_generation),
        cmocka_unit_test(test_selectors),
        cmocka_unit_test(test_strategies),
        cmocka_unit_test(test_daemon_set),
        cmocka_unit_test(test_template_generation),
        cmocka_unit_test(test_replica_set),
        cmocka_unit_test(test_revision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
