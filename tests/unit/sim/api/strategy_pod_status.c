/* Tests of api/strategy_pod_status: the status of pods. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_pod_status");
}

static json_t *running(void) {
    return expect_taken(
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','namespace':'d'},'spec':{"
        "'nodeName':'n','restartPolicy':'Never','containers':[{'name':'c','image':'i'}]}}");
}

/* The spec is not the kubelet's; deletion and metadata stay as they were. */
static void test_parts(void **state) {
    _cleanup_json_ json_t *pod = running();
    _cleanup_json_ json_t *now = expect_change_taken(
        pod, STRATEGY_STATUS,
        "{'spec':{'hostname':'h'},'status':{'phase':'Running','podIP':'10.0.0.1'}}");
    (void)state;
    expect_member(now, "spec/hostname", NULL);
    expect_member(now, "status/phase", "'Running'");
    expect_member(now, "status/podIPs", "[{'ip':'10.0.0.1'}]");
    expect_member(now, "status/qosClass", "'BestEffort'");
}

/* And the status is not the user's. */
static void test_main_keeps_it(void **state) {
    _cleanup_json_ json_t *pod = running();
    _cleanup_json_ json_t *now =
        expect_change_taken(pod, STRATEGY_MAIN, "{'status':{'phase':'Failed'}}");
    (void)state;
    expect_member(now, "status/phase", "'Pending'");
}

#define ENDED                                                                                      \
    "{'status':{'containerStatuses':[{'name':'c','image':'i','imageID':'','ready':false,"          \
    "'restartCount':0,'state':{'terminated':{'exitCode':1}}}]}}"
#define BACK                                                                                       \
    "{'status':{'containerStatuses':[{'name':'c','image':'i','imageID':'','ready':true,"           \
    "'restartCount':0,'state':{'running':{}}}]}}"

/* What has ended for good does not run again. */
static void test_no_return(void **state) {
    _cleanup_json_ json_t *pod = running();
    _cleanup_json_ json_t *ended = expect_change_taken(pod, STRATEGY_STATUS, ENDED);
    (void)state;
    expect_change_refused(ended, STRATEGY_STATUS, BACK,
                          "Pod \"a\" is invalid: status.containerStatuses[0].state: Forbidden: may "
                          "not be transitioned to non-terminated state");
}

static void test_addresses(void **state) {
    _cleanup_json_ json_t *pod = running();
    (void)state;
    expect_change_refused(pod, STRATEGY_STATUS, "{'status':{'podIPs':[{'ip':'x'}]}}",
                          "Pod \"a\" is invalid: status.podIPs[0]: Invalid value: \"x\": must be a "
                          "valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),      cmocka_unit_test(test_parts),
        cmocka_unit_test(test_main_keeps_it), cmocka_unit_test(test_no_return),
        cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
