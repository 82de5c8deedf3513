/* Tests of api/strategy_volume: volumes of pods. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_volume");
}

#define POD(more)                                                                                  \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','namespace':'d'},'spec':{"             \
    "'automountServiceAccountToken':false,'containers':[{'name':'c','image':'i:1'}]" more "}}"

static void test_backsteps(void **state) {
    (void)state;
    assert_true(path_has_backsteps(".."));
    assert_true(path_has_backsteps("a/../b"));
    assert_true(path_has_backsteps("/.."));
    assert_false(path_has_backsteps("..a/b.."));
    assert_false(path_has_backsteps(""));
    assert_false(path_has_backsteps("..."));
}

static void expect_relative(const char *path, const char *text) {
    struct field_errors e = {0};
    struct at root = at_root(NULL);
    check_relative_path(&e, &root, "path", path);
    expect_errors(&e, text);
}

/* validateLocalNonReservedPath() and validateLocalDescendingPath(). */
static void test_relative_paths(void **state) {
    (void)state;
    expect_relative("a/b", "");
    expect_relative("/a", "path: Invalid value: \"/a\": must be a relative path");
    expect_relative("a/..", "path: Invalid value: \"a/..\": must not contain '..'");
    expect_relative("..a", "");
    expect_refused(POD(",'volumes':[{'name':'v','secret':{'secretName':'s','items':[{'key':'k',"
                       "'path':'..a'}]}}]"),
                   "Pod \"a\" is invalid: spec.volumes[0].secret.items[0].path: Invalid value: "
                   "\"..a\": must not start with '..'");
}

static void test_volumes(void **state) {
    (void)state;
    expect_refused(POD(",'volumes':[{'name':'v','emptyDir':{}},{'name':'v','emptyDir':{}}]"),
                   "Pod \"a\" is invalid: spec.volumes[1].name: Duplicate value: \"v\"");
    expect_refused(POD(",'volumes':[{'name':'v','emptyDir':{},'hostPath':{'path':'/'}}]"),
                   "Pod \"a\" is invalid: spec.volumes[0].hostPath: Forbidden: may not specify "
                   "more than 1 volume type");
    expect_refused(POD(",'volumes':[{'name':'v','secret':{'secretName':'s','defaultMode':512}}]"),
                   "Pod \"a\" is invalid: spec.volumes[0].secret.defaultMode: Invalid value: 512: "
                   "must be a number between 0 and 0777 (octal), both inclusive");
}

static void expect_host_path(const char *source, const char *text) {
    _cleanup_json_ json_t *v = expect_json(source);
    struct field_errors e = {0};
    struct at root = at_root(NULL), at = at_named(&root, "hostPath", v);
    check_host_path(&e, &at);
    expect_errors(&e, text);
}

static void test_host_path(void **state) {
    (void)state;
    expect_host_path("{'path':'/a'}", "");
    expect_host_path("{}", "hostPath.path: Required value");
    expect_host_path("{'path':'/a/../b'}",
                     "hostPath.path: Invalid value: \"/a/../b\": must not contain '..'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),       cmocka_unit_test(test_backsteps),
        cmocka_unit_test(test_relative_paths), cmocka_unit_test(test_volumes),
        cmocka_unit_test(test_host_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
