/* Tests of api/strategy_pv: PersistentVolumes. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_pv");
}

#define VOLUME(more)                                                                               \
    "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v'},'spec':{"                \
    "'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce']" more "}}"

static void test_creation(void **state) {
    _cleanup_json_ json_t *pv = expect_taken(VOLUME(",'hostPath':{'path':'/tmp'}"));
    (void)state;
    expect_member(pv, "metadata/finalizers", "['kubernetes.io/pv-protection']");
    expect_member(pv, "spec/persistentVolumeReclaimPolicy", "'Retain'");
    expect_member(pv, "spec/volumeMode", "'Filesystem'");
    expect_member(pv, "spec/hostPath/type", "''");
    expect_member(pv, "status/phase", "'Pending'");
}

static void test_sources(void **state) {
    (void)state;
    expect_refused(VOLUME(""), "PersistentVolume \"v\" is invalid: spec: Required value: must "
                               "specify a volume type");
    expect_refused(VOLUME(",'hostPath':{'path':'/a'},'nfs':{'server':'s','path':'/'}"),
                   "PersistentVolume \"v\" is invalid: spec.nfs: Forbidden: may not specify more "
                   "than 1 volume type");
}

static void test_modes(void **state) {
    static const char *const modes[] = {"ReadWriteOncePod", "ReadOnlyMany"};
    _cleanup_json_ json_t *v = json_pack("{s:[s,s]}", "accessModes", modes[0], modes[1]);
    struct field_errors e = {0};
    struct at root = at_root(NULL), spec = at_named(&root, "spec", v);
    (void)state;
    check_access_modes(&e, &spec);
    expect_errors(&e, "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access "
                      "modes");
}

static void test_source_stays(void **state) {
    _cleanup_json_ json_t *pv = expect_taken(VOLUME(",'hostPath':{'path':'/tmp'}"));
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    _cleanup_json_ json_t *done =
        expect_change(pv, STRATEGY_MAIN, "{'spec':{'hostPath':{'path':'/other'}}}", &f);
    (void)state;
    assert_null(done);
    assert_true(str_starts(f.message, "PersistentVolume \"v\" is invalid: "
                                      "spec.persistentvolumesource: Forbidden: "
                                      "spec.persistentvolumesource is immutable after creation\n"));
}

static void test_finalizers(void **state) {
    _cleanup_json_ json_t *obj = json_object();
    (void)state;
    add_finalizer(obj, "x.io/a");
    add_finalizer(obj, "x.io/b");
    add_finalizer(obj, "x.io/a");
    expect_member(obj, "metadata/finalizers", "['x.io/a','x.io/b']");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),     cmocka_unit_test(test_creation),
        cmocka_unit_test(test_sources),      cmocka_unit_test(test_modes),
        cmocka_unit_test(test_source_stays), cmocka_unit_test(test_finalizers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
