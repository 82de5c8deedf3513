/* Tests of api/strategy_meta: metadata. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_meta");
}

static void expect_meta(const char *meta, bool namespaced, const char *text) {
    _cleanup_json_ json_t *v = expect_json(meta);
    struct field_errors e = {0};
    struct at root = at_root(NULL), at = at_named(&root, "metadata", v);
    check_meta(&e, &at, namespaced, name_dns1123_subdomain);
    expect_errors(&e, text);
}

static void test_names(void **state) {
    (void)state;
    expect_meta("{'name':'a','namespace':'d'}", true, "");
    expect_meta("{'name':'a'}", false, "");
    expect_meta("{'name':'a'}", true, "metadata.namespace: Required value");
    expect_meta("{'name':'a','namespace':'d'}", false,
                "metadata.namespace: Forbidden: not allowed on this type");
    expect_meta("{}", false, "metadata.name: Required value: name or generateName is required");
    expect_meta("{'name':'A'}", false,
                "metadata.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist "
                "of lower case alphanumeric characters, '-' or '.', and must start and end with an "
                "alphanumeric character (e.g. 'example.com', regex used for validation is "
                "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
}

static void test_owners(void **state) {
    (void)state;
    expect_meta(
        "{'name':'a','ownerReferences':[{'apiVersion':'v1/','kind':'','name':'','uid':''}]}", false,
        "metadata.ownerReferences.apiVersion: Invalid value: \"v1/\": version must not be "
        "empty\n"
        "metadata.ownerReferences.kind: Invalid value: \"\": must not be empty\n"
        "metadata.ownerReferences.name: Invalid value: \"\": must not be empty\n"
        "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty");
    expect_meta("{'name':'a','ownerReferences':[{'apiVersion':'v1','kind':'Event','name':'e',"
                "'uid':'1'}]}",
                false,
                "metadata.ownerReferences: Invalid value: {\"apiVersion\":\"v1\",\"kind\":"
                "\"Event\",\"name\":\"e\",\"uid\":\"1\"}: /v1, Kind=Event is disallowed from being "
                "an owner");
}

static void test_finalizers(void **state) {
    (void)state;
    expect_meta("{'name':'a','finalizers':['kubernetes','x.io/y','orphan']}", false, "");
    expect_meta("{'name':'a','finalizers':['mine']}", false,
                "metadata.finalizers[0]: Invalid value: \"mine\": name is neither a standard "
                "finalizer name nor is it fully qualified");
    expect_meta("{'name':'a','finalizers':['orphan','foregroundDeletion']}", false,
                "metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\"]: "
                "finalizer orphan and foregroundDeletion cannot be both set");
}

/* No new finalizer keeps what is being deleted; old ones may go. */
static void test_deletion(void **state) {
    _cleanup_json_ json_t *old =
        expect_taken("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'d',"
                     "'finalizers':['x.io/a','x.io/b']}}");
    (void)state;
    json_object_set_new(json_object_get(old, "metadata"), "deletionTimestamp",
                        json_string("2027-01-15T08:00:00Z"));
    json_decref(expect_change_taken(old, STRATEGY_MAIN, "{'metadata':{'finalizers':['x.io/b']}}"));
    expect_change_refused(
        old, STRATEGY_MAIN, "{'metadata':{'finalizers':['x.io/d','x.io/a','x.io/c','x.io/d']}}",
        "ConfigMap \"a\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be "
        "added if the object is being deleted, found new finalizers []string{\"x.io/c\", "
        "\"x.io/d\"}");
}

static void test_immutable(void **state) {
    _cleanup_json_ json_t *old = expect_taken(
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'d'}}");
    (void)state;
    expect_change_refused(
        old, STRATEGY_MAIN, "{'metadata':{'uid':'other'}}",
        "ConfigMap \"a\" is invalid: metadata.uid: Invalid value: \"other\": field is immutable");
}

static void test_generations(void **state) {
    _cleanup_json_ json_t *obj = json_object();
    _cleanup_json_ json_t *old = expect_json("{'metadata':{'generation':4}}");
    (void)state;
    meta_first_generation(obj);
    expect_member(obj, "metadata/generation", "1");
    meta_next_generation(obj, old, false);
    expect_member(obj, "metadata/generation", "1");
    meta_next_generation(obj, old, true);
    expect_member(obj, "metadata/generation", "5");
    json_object_set_new(json_object_get(old, "metadata"), "generation", json_integer(INT64_MAX));
    meta_next_generation(obj, old, true); /* does not overflow */
    expect_member(obj, "metadata/generation", "5");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),    cmocka_unit_test(test_names),
        cmocka_unit_test(test_owners),      cmocka_unit_test(test_finalizers),
        cmocka_unit_test(test_deletion),    cmocka_unit_test(test_immutable),
        cmocka_unit_test(test_generations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
