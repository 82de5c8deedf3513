/* Tests of api/strategy_security: security contexts and operating systems. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_security");
}

#define POD(more)                                                                                  \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','namespace':'d'},'spec':{"             \
    "'automountServiceAccountToken':false,'containers':[{'name':'c','image':'i:1'}]" more "}}"

static void count_visit(void *arg, const struct at *container) {
    _cleanup_str_ struct str path = STR_INIT;
    at_path(container, NULL, &path);
    str_addf(arg, "%s ", str_get(&path));
}

static void test_containers(void **state) {
    _cleanup_json_ json_t *spec =
        expect_json("{'containers':[{},{}],'initContainers':[{}],'ephemeralContainers':[{}]}");
    _cleanup_str_ struct str seen = STR_INIT;
    struct at at = at_root(spec);
    (void)state;
    each_container(&at, count_visit, &seen);
    assert_string_equal(str_get(&seen),
                        "initContainers[0] containers[0] containers[1] ephemeralContainers[0] ");
}

static void expect_security(const char *context, const char *text) {
    _cleanup_json_ json_t *v = expect_json(context);
    struct field_errors e = {0};
    struct at root = at_root(NULL), at = at_named(&root, "securityContext", v);
    check_container_security(&e, &at, true);
    expect_errors(&e, text);
}

static void test_contexts(void **state) {
    (void)state;
    expect_security("{}", "");
    expect_security("{'runAsUser':-1}", "securityContext.runAsUser: Invalid value: -1: must be "
                                        "between 0 and 2147483647, inclusive");
    expect_security("{'privileged':true,'allowPrivilegeEscalation':false}",
                    "securityContext: Invalid value: {\"Capabilities\":null,\"Privileged\":true,"
                    "\"SELinuxOptions\":null,\"WindowsOptions\":null,\"RunAsUser\":null,"
                    "\"RunAsGroup\":null,\"RunAsNonRoot\":null,\"ReadOnlyRootFilesystem\":null,"
                    "\"AllowPrivilegeEscalation\":false,\"ProcMount\":null,\"SeccompProfile\":null,"
                    "\"AppArmorProfile\":null}: cannot set `allowPrivilegeEscalation` to false and "
                    "`privileged` to true");
}

static void test_users(void **state) {
    (void)state;
    expect_refused(POD(",'securityContext':{'fsGroup':-1}"),
                   "Pod \"a\" is invalid: spec.securityContext.fsGroup: Invalid value: -1: must be "
                   "between 0 and 2147483647, inclusive");
    expect_refused(POD(",'securityContext':{'sysctls':[{'name':'a..b','value':'1'}]}"),
                   "Pod \"a\" is invalid: spec.securityContext.sysctls[0].name: Invalid value: "
                   "\"a..b\": must have at most 253 characters and match regex "
                   "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$");
}

static void test_windows(void **state) {
    (void)state;
    expect_refused(POD(",'os':{'name':'windows'},'hostPID':true"),
                   "Pod \"a\" is invalid: spec.hostPID: Forbidden: cannot be set for a windows "
                   "pod");
    expect_refused(POD(",'os':{'name':'plan9'}"),
                   "Pod \"a\" is invalid: spec.os: Unsupported value: \"plan9\": supported "
                   "values: \"linux\", \"windows\"");
}

static void test_sysctls(void **state) {
    _cleanup_json_ json_t *none = expect_json("{}");
    _cleanup_json_ json_t *host = expect_json(
        "{'hostNetwork':true,'securityContext':{'sysctls':[{'name':'net.ipv4.x','value':'1'}]}}");
    _cleanup_json_ json_t *own =
        expect_json("{'securityContext':{'sysctls':[{'name':'net.ipv4.x','value':'1'}]}}");
    (void)state;
    assert_false(pod_has_host_sysctl(none));
    assert_true(pod_has_host_sysctl(host));
    assert_false(pod_has_host_sysctl(own));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded), cmocka_unit_test(test_containers),
        cmocka_unit_test(test_contexts), cmocka_unit_test(test_users),
        cmocka_unit_test(test_windows),  cmocka_unit_test(test_sysctls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
