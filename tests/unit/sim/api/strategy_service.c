/* Tests of api/strategy_service: Services. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_service");
}

#define SERVICE(spec)                                                                              \
    "{'apiVersion':'v1','kind':'Service','metadata':{'name':'s','namespace':'d'},'spec':{" spec "}}"

static void test_defaults(void **state) {
    _cleanup_json_ json_t *s = expect_taken(SERVICE("'ports':[{'port':80}]"));
    (void)state;
    expect_member(s, "spec/type", "'ClusterIP'");
    expect_member(s, "spec/sessionAffinity", "'None'");
    expect_member(s, "spec/internalTrafficPolicy", "'Cluster'");
    expect_member(s, "spec/ports", "[{'protocol':'TCP','port':80,'targetPort':80}]");
    expect_member(s, "spec/clusterIP", "'10.0.0.99'");
    expect_member(s, "spec/clusterIPs", "['10.0.0.99']");
    expect_member(s, "spec/ipFamilies", "['IPv4']");
    expect_member(s, "spec/ipFamilyPolicy", "'SingleStack'");
    expect_member(s, "status", "{'loadBalancer':{}}");
}

/* Without someone to hand out addresses there are none, and that is no fault of the client. */
static void test_no_allocation(void **state) {
    _cleanup_json_ json_t *obj = expect_json(SERVICE("'clusterIP':'None'"));
    _cleanup_json_ json_t *none = json_array();
    struct expect_world w = {none, {1}};
    struct strategy_context ctx = expect_context(&w);
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    const struct strategy *s = strategy_find("", "Service");
    (void)state;
    ctx.allocate = NULL;
    strategy_default(s, obj);
    assert_int_equal(strategy_create(s, &ctx, obj, &f), 0);
    expect_member(obj, "spec/clusterIPs", "['None']");
}

/* A refusal of the one who hands out addresses is the answer. */
static int refuse(void *cookie, json_t *service, const json_t *old, struct failure *f) {
    (void)cookie;
    (void)service;
    (void)old;
    return fail_bad_request(f, "no more addresses");
}

static void test_refused_allocation(void **state) {
    _cleanup_json_ json_t *obj = expect_json(SERVICE("'ports':[{'port':80}]"));
    _cleanup_json_ json_t *none = json_array();
    struct expect_world w = {none, {1}};
    struct strategy_context ctx = expect_context(&w);
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    const struct strategy *s = strategy_find("", "Service");
    (void)state;
    ctx.allocate = refuse;
    strategy_default(s, obj);
    assert_int_equal(strategy_create(s, &ctx, obj, &f), -1);
    assert_string_equal(f.message, "no more addresses");
}

static void test_addresses_stay(void **state) {
    _cleanup_json_ json_t *s = expect_taken(SERVICE("'ports':[{'port':80}]"));
    (void)state;
    _cleanup_json_ json_t *kept = expect_change_taken(
        s, STRATEGY_MAIN, "{'spec':{'clusterIP':null,'clusterIPs':null,'ports':[{'port':81}]}}");
    expect_member(kept, "spec/clusterIP", "'10.0.0.99'");
    expect_change_refused(s, STRATEGY_MAIN,
                          "{'spec':{'clusterIP':'10.0.0.98','clusterIPs':['10.0.0.98']}}",
                          "Service \"s\" is invalid: spec.clusterIPs[0]: Invalid value: "
                          "[\"10.0.0.98\"]: may not change once set");
}

static void test_ports(void **state) {
    (void)state;
    expect_refused(SERVICE("'ports':[{'port':80},{'port':81}]"),
                   "Service \"s\" is invalid: [spec.ports[0].name: Required value, "
                   "spec.ports[1].name: Required value]");
    expect_refused(SERVICE("'ports':[{'name':'a','port':80},{'name':'b','port':80}]"),
                   "Service \"s\" is invalid: spec.ports[1]: Duplicate value: {\"Name\":\"\","
                   "\"Protocol\":\"TCP\",\"AppProtocol\":null,\"Port\":80,\"TargetPort\":0,"
                   "\"NodePort\":0}");
    expect_refused(SERVICE("'clusterIP':''"),
                   "Service \"s\" is invalid: spec.ports: Required value");
}

static void test_external_name(void **state) {
    _cleanup_json_ json_t *s =
        expect_taken(SERVICE("'type':'ExternalName','externalName':'x.org'"));
    (void)state;
    expect_member(s, "spec/clusterIP", NULL);
    expect_member(s, "spec/ipFamilies", NULL);
    expect_refused(SERVICE("'type':'ExternalName'"),
                   "Service \"s\" is invalid: spec.externalName: Required value");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),       cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_no_allocation),  cmocka_unit_test(test_refused_allocation),
        cmocka_unit_test(test_addresses_stay), cmocka_unit_test(test_ports),
        cmocka_unit_test(test_external_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
