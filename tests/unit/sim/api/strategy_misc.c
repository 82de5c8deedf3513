/* Tests of api/strategy_misc: Namespaces, Leases, PriorityClasses, EndpointSlices. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_misc");
}

static void test_namespace(void **state) {
    _cleanup_json_ json_t *ns =
        expect_taken("{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'a',"
                     "'labels':{'kubernetes.io/metadata.name':'other'}}}");
    (void)state;
    assert_string_equal(json_str(json_object_get(json_object_get(ns, "metadata"), "labels"),
                                 "kubernetes.io/metadata.name"),
                        "a");
    expect_member(ns, "spec/finalizers", "['kubernetes']");
    expect_member(ns, "status/phase", "'Active'");
    /* only the subresource takes the finalizer away */
    _cleanup_json_ json_t *kept =
        expect_change_taken(ns, STRATEGY_MAIN, "{'spec':{'finalizers':null}}");
    expect_member(kept, "spec/finalizers", "['kubernetes']");
    _cleanup_json_ json_t *gone =
        expect_change_taken(ns, STRATEGY_FINALIZE, "{'spec':{'finalizers':null}}");
    expect_member(gone, "spec/finalizers", NULL);
}

static void test_lease(void **state) {
    (void)state;
    expect_refused("{'apiVersion':'coordination.k8s.io/v1','kind':'Lease','metadata':{'name':'a',"
                   "'namespace':'d'},'spec':{'leaseDurationSeconds':0,'leaseTransitions':-1}}",
                   "Lease.coordination.k8s.io \"a\" is invalid: [spec.leaseDurationSeconds: "
                   "Invalid value: 0: must be greater than 0, spec.leaseTransitions: Invalid "
                   "value: -1: must be greater than or equal to 0]");
}

static void test_priority_class(void **state) {
    _cleanup_json_ json_t *class = expect_taken(
        "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass','metadata':{'name':'a'},"
        "'value':1000000000}");
    (void)state;
    expect_member(class, "preemptionPolicy", "'PreemptLowerPriority'");
    expect_change_refused(class, STRATEGY_MAIN, "{'value':5}",
                          "PriorityClass.scheduling.k8s.io \"a\" is invalid: value: Forbidden: may "
                          "not be changed in an update.");
    expect_refused("{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass','metadata':{"
                   "'name':'a'},'value':1000000001}",
                   "PriorityClass.scheduling.k8s.io \"a\" is invalid: value: Forbidden: maximum "
                   "allowed value of a user defined priority is 1000000000");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_namespace),
        cmocka_unit_test(test_lease),
        cmocka_unit_test(test_priority_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
