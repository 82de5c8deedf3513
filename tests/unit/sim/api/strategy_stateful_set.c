/* Tests of api/strategy_stateful_set: StatefulSets. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_stateful_set");
}

#define SET(more)                                                                                  \
    "{'apiVersion':'apps/v1','kind':'StatefulSet','metadata':{'name':'s','namespace':'d'},"        \
    "'spec':{'selector':{'matchLabels':{'a':'b'}},'serviceName':'x','template':{'metadata':{"      \
    "'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'i'}]}}" more "}}"

static void test_defaults(void **state) {
    _cleanup_json_ json_t *set = expect_taken(SET(""));
    (void)state;
    expect_member(set, "spec/replicas", "1");
    expect_member(set, "spec/revisionHistoryLimit", "10");
    expect_member(set, "spec/podManagementPolicy", "'OrderedReady'");
    expect_member(set, "spec/updateStrategy",
                  "{'type':'RollingUpdate','rollingUpdate':{'partition':0}}");
    expect_member(set, "spec/persistentVolumeClaimRetentionPolicy",
                  "{'whenDeleted':'Retain','whenScaled':'Retain'}");
    expect_member(set, "metadata/generation", "1");
}

static void test_changes(void **state) {
    _cleanup_json_ json_t *set = expect_taken(SET(""));
    (void)state;
    _cleanup_json_ json_t *more =
        expect_change_taken(set, STRATEGY_MAIN, "{'spec':{'replicas':3}}");
    expect_member(more, "metadata/generation", "2");
    expect_change_refused(set, STRATEGY_MAIN, "{'spec':{'serviceName':'y'}}",
                          "StatefulSet.apps \"s\" is invalid: spec: Forbidden: updates to "
                          "statefulset spec for fields other than 'replicas', 'ordinals', "
                          "'template', 'updateStrategy', 'revisionHistoryLimit', "
                          "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are "
                          "forbidden");
}

static void test_claims(void **state) {
    _cleanup_json_ json_t *set =
        expect_taken(SET(",'volumeClaimTemplates':[{'metadata':{'name':'v'},'spec':{'accessModes':["
                         "'ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}]"));
    (void)state;
    expect_member(set, "spec/volumeClaimTemplates/0/status/phase", "'Pending'");
    expect_member(set, "spec/volumeClaimTemplates/0/spec/volumeMode", "'Filesystem'");
    expect_member(set, "spec/volumeClaimTemplates/0/kind", "'PersistentVolumeClaim'");
}

static void test_counts(void **state) {
    (void)state;
    expect_refused(SET(",'replicas':-1"),
                   "StatefulSet.apps \"s\" is invalid: spec.replicas: Invalid value: -1: must be "
                   "greater than or equal to 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded), cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_changes),  cmocka_unit_test(test_claims),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
