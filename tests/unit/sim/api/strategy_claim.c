/* Tests of api/strategy_claim: PersistentVolumeClaims. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_claim");
}

#define CLAIM                                                                                      \
    "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'a','namespace':'d'},"   \
    "'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}"

static json_t *created_among(const char *world) {
    _cleanup_json_ json_t *sent = expect_json(CLAIM);
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    return expect_way(sent, NULL, STRATEGY_MAIN, world, &f);
}

#define CLASS(name, time, value)                                                                   \
    "{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'" name            \
    "','creationTimestamp':'" time                                                                 \
    "','annotations':{'storageclass.kubernetes.io/is-default-class':'" value                       \
    "'}},'provisioner':'p'}"

/* DefaultStorageClass: the newest of several, the first by name of those. */
static void test_default_class(void **state) {
    _cleanup_json_ json_t *none =
        created_among("[" CLASS("a", "2020-01-01T00:00:00Z", "false") "]");
    _cleanup_json_ json_t *newest =
        created_among("[" CLASS("a", "2020-01-01T00:00:00Z", "true") "," CLASS(
            "c", "2021-01-01T00:00:00Z",
            "true") "," CLASS("b", "2021-01-01T00:00:00Z",
                              "true") "," CLASS("d", "2022-01-01T00:00:00Z", "no") "]");
    (void)state;
    expect_member(none, "spec/storageClassName", NULL);
    expect_member(newest, "spec/storageClassName", "'b'");
}

static void test_finalizer_and_status(void **state) {
    _cleanup_json_ json_t *made = expect_taken(CLAIM);
    (void)state;
    expect_member(made, "metadata/finalizers", "['kubernetes.io/pvc-protection']");
    expect_member(made, "status", "{'phase':'Pending'}");
    expect_member(made, "spec/volumeMode", "'Filesystem'");
}

/* PersistentVolumeClaimResize. */
static void test_growth(void **state) {
    _cleanup_json_ json_t *old = expect_taken(CLAIM);
    (void)state;
    json_object_set_new(json_object_get(old, "status"), "phase", json_string("Bound"));
    expect_change_refused(old, STRATEGY_MAIN,
                          "{'spec':{'resources':{'requests':{'storage':'2Gi'}}}}",
                          "persistentvolumeclaims \"a\" is forbidden: only dynamically provisioned "
                          "pvc can be resized and the storageclass that provisions the pvc must "
                          "support resize");
    /* the same size in other words is no change */
    json_decref(expect_change_taken(old, STRATEGY_MAIN,
                                    "{'spec':{'resources':{'requests':{'storage':'1024Mi'}}}}"));
}

static void test_modes(void **state) {
    (void)state;
    expect_refused("{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'a',"
                   "'namespace':'d'},'spec':{'resources':{'requests':{'storage':'0'}}}}",
                   "PersistentVolumeClaim \"a\" is invalid: [spec.accessModes: Required value: at "
                   "least 1 access mode is required, spec.resources[storage]: Invalid value: "
                   "\"0\": must be greater than zero]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_default_class),
        cmocka_unit_test(test_finalizer_and_status),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
