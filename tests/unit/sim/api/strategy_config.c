/* Tests of api/strategy_config: ConfigMaps, Secrets and ServiceAccounts. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_config");
}

/* An object with one value of so many bytes. */
static json_t *of_size(const char *kind, const char *member, size_t bytes) {
    _cleanup_free_ char *value = xmalloc(bytes + 1);
    memset(value, 'x', bytes);
    value[bytes] = '\0';
    return json_pack("{s:s,s:s,s:{s:s,s:s},s:{s:s}}", "apiVersion", "v1", "kind", kind, "metadata",
                     "name", "a", "namespace", "d", member, "k", value);
}

static void expect_size(const char *kind, const char *member, size_t bytes, const char *message) {
    _cleanup_json_ json_t *sent = of_size(kind, member, bytes);
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    _cleanup_json_ json_t *done = expect_way(sent, NULL, STRATEGY_MAIN, EXPECT_WORLD, &f);
    assert_int_equal(!done, message != NULL);
    if (message)
        assert_string_equal(f.message, message);
}

/* MaxSecretSize. */
static void test_sizes(void **state) {
    (void)state;
    expect_size("ConfigMap", "data", 1 << 20, NULL);
    expect_size("ConfigMap", "data", (1 << 20) + 1,
                "ConfigMap \"a\" is invalid: []: Too long: may not be more than 1048576 bytes");
    expect_size("Secret", "stringData", 1 << 20, NULL);
    expect_size("Secret", "stringData", (1 << 20) + 1,
                "Secret \"a\" is invalid: data: Too long: may not be more than 1048576 bytes");
}

static void test_string_data(void **state) {
    _cleanup_json_ json_t *secret =
        expect_taken("{'apiVersion':'v1','kind':'Secret','metadata':{'name':'a','namespace':'d'},"
                     "'data':{'a':'b2xk','b':'b2xk'},'stringData':{'a':'new','c':''}}");
    (void)state;
    expect_member(secret, "data", "{'a':'bmV3','b':'b2xk','c':''}");
    expect_member(secret, "stringData", NULL);
    expect_member(secret, "type", "'Opaque'");
}

static void test_immutable(void **state) {
    _cleanup_json_ json_t *map = expect_taken(
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'d'},"
        "'data':{'a':'1'},'immutable':true}");
    (void)state;
    expect_change_refused(map, STRATEGY_MAIN, "{'data':{'a':'2'},'immutable':null}",
                          "ConfigMap \"a\" is invalid: [immutable: Forbidden: field is immutable "
                          "when `immutable` is set, data: Forbidden: field is immutable when "
                          "`immutable` is set]");
    json_decref(expect_change_taken(map, STRATEGY_MAIN, "{'metadata':{'labels':{'a':'b'}}}"));
}

static void test_keys(void **state) {
    (void)state;
    expect_refused("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'d'},"
                   "'data':{'..':'1'}}",
                   "ConfigMap \"a\" is invalid: data[..]: Invalid value: \"..\": must not be '..'");
    expect_refused("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'d'},"
                   "'data':{'a':'1'},'binaryData':{'a':'AA=='}}",
                   "ConfigMap \"a\" is invalid: data[a]: Invalid value: \"a\": duplicate of key "
                   "present in binaryData");
}

static void test_types(void **state) {
    (void)state;
    expect_refused("{'apiVersion':'v1','kind':'Secret','metadata':{'name':'a','namespace':'d'},"
                   "'type':'kubernetes.io/tls','data':{'tls.crt':''}}",
                   "Secret \"a\" is invalid: data[tls.key]: Required value");
    expect_refused("{'apiVersion':'v1','kind':'Secret','metadata':{'name':'a','namespace':'d'},"
                   "'type':'kubernetes.io/basic-auth'}",
                   "Secret \"a\" is invalid: [data[username]: Required value, data[password]: "
                   "Required value]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),    cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_string_data), cmocka_unit_test(test_immutable),
        cmocka_unit_test(test_keys),        cmocka_unit_test(test_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
