/* Tests of api/strategy_pod_admit: the admission plug-ins that change pods. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_pod_admit");
}

#define POD(more)                                                                                  \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','namespace':'d'" more                  \
    "'containers':[{'name':'c','image':'i'}]}}"

static json_t *among(const char *world, const char *pod, struct failure *f) {
    _cleanup_json_ json_t *sent = expect_json(pod);
    return expect_way(sent, NULL, STRATEGY_MAIN, world, f);
}

/* ServiceAccount: the token's volume and its mount. */
static void test_token(void **state) {
    _cleanup_json_ json_t *pod = expect_taken(POD("},'spec':{"));
    const char *name = json_str(
        json_array_get(json_object_get(json_object_get(pod, "spec"), "volumes"), 0), "name");
    (void)state;
    assert_true(str_starts(name, "kube-api-access-"));
    assert_int_equal(strlen(name), 21);
    expect_member(pod, "spec/serviceAccountName", "'default'");
    expect_member(pod, "spec/serviceAccount", "'default'");
    _cleanup_free_ char *mounts =
        xasprintf("[{'name':'%s','readOnly':true,"
                  "'mountPath':'/var/run/secrets/kubernetes.io/serviceaccount'}]",
                  name);
    expect_member(pod, "spec/containers/0/volumeMounts", mounts);
    expect_member(
        pod, "spec/volumes/0/projected",
        "{'defaultMode':420,'sources':[{'serviceAccountToken':{'expirationSeconds':3607,"
        "'path':'token'}},{'configMap':{'name':'kube-root-ca.crt','items':[{'key':'ca.crt',"
        "'path':'ca.crt'}]}},{'downwardAPI':{'items':[{'path':'namespace','fieldRef':{"
        "'apiVersion':'v1','fieldPath':'metadata.namespace'}}]}}]}");
}

static void test_no_account(void **state) {
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    _cleanup_json_ json_t *pod = among("[]", POD("},'spec':{"), &f);
    (void)state;
    assert_null(pod);
    assert_int_equal(f.code, 403);
    assert_string_equal(f.message, "pods \"a\" is forbidden: error looking up service account "
                                   "d/default: serviceaccount \"default\" not found");
}

/* A pod that a kubelet made from a file asks for nothing. */
static void test_mirror(void **state) {
    _cleanup_json_ json_t *pod = expect_taken(
        POD(",'annotations':{'kubernetes.io/config.mirror':'x'}},'spec':{'nodeName':'n',"));
    (void)state;
    expect_member(pod, "spec/volumes", NULL);
    expect_member(pod, "spec/serviceAccountName", NULL);
    expect_refused(POD(",'annotations':{'kubernetes.io/config.mirror':'x'}},'spec':{"
                       "'nodeName':'n','serviceAccountName':'default',"),
                   "pods \"a\" is forbidden: a mirror pod may not reference service accounts");
}

/* DefaultTolerationSeconds. */
static void test_tolerations(void **state) {
    _cleanup_json_ json_t *pod = expect_taken(POD("},'spec':{"));
    _cleanup_json_ json_t *own = expect_taken(
        POD("},'spec':{'tolerations':[{'key':'node.kubernetes.io/not-ready','operator':'Exists',"
            "'tolerationSeconds':9,'effect':'NoExecute'}],"));
    _cleanup_json_ json_t *all =
        expect_taken(POD("},'spec':{'tolerations':[{'operator':'Exists'}],"));
    (void)state;
    expect_member(pod, "spec/tolerations",
                  "[{'key':'node.kubernetes.io/not-ready','operator':'Exists','effect':'NoExecute',"
                  "'tolerationSeconds':300},{'key':'node.kubernetes.io/unreachable',"
                  "'operator':'Exists','effect':'NoExecute','tolerationSeconds':300}]");
    expect_member(own, "spec/tolerations/0/tolerationSeconds", "9");
    expect_member(own, "spec/tolerations/1/key", "'node.kubernetes.io/unreachable'");
    expect_member(own, "spec/tolerations/2", NULL);
    expect_member(all, "spec/tolerations", "[{'operator':'Exists'}]");
}

#define WORLD(classes)                                                                             \
    "[{'apiVersion':'v1','kind':'ServiceAccount','metadata':{'name':'default',"                    \
    "'namespace':'d'}}" classes "]"
#define CLASS(name, value, more)                                                                   \
    ",{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass','metadata':{'name':'" name       \
    "'},'value':" value more "}"

/* Priority: a class by name, the default one, none. */
static void test_priority(void **state) {
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    const char *world = WORLD(CLASS("high", "1000", ",'preemptionPolicy':'Never'")
                                  CLASS("std", "5", ",'globalDefault':true"));
    _cleanup_json_ json_t *none = expect_taken(POD("},'spec':{"));
    _cleanup_json_ json_t *named = among(world, POD("},'spec':{'priorityClassName':'high',"), &f);
    _cleanup_json_ json_t *standard = among(world, POD("},'spec':{"), &f);
    (void)state;
    expect_member(none, "spec/priority", "0");
    expect_member(none, "spec/priorityClassName", NULL);
    expect_member(none, "spec/preemptionPolicy", "'PreemptLowerPriority'");
    expect_member(named, "spec/priority", "1000");
    expect_member(named, "spec/preemptionPolicy", "'Never'");
    expect_member(standard, "spec/priorityClassName", "'std'");
    expect_member(standard, "spec/priority", "5");
    expect_refused(POD("},'spec':{'priorityClassName':'none',"),
                   "pods \"a\" is forbidden: no PriorityClass with name none was found");
    expect_refused(POD("},'spec':{'priority':7,"),
                   "pods \"a\" is forbidden: the integer value of priority (7) must not be "
                   "provided in pod spec; priority admission controller computed 0 from the given "
                   "PriorityClass name");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),    cmocka_unit_test(test_token),
        cmocka_unit_test(test_no_account),  cmocka_unit_test(test_mirror),
        cmocka_unit_test(test_tolerations), cmocka_unit_test(test_priority),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
