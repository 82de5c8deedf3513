/* Paths into schemas. */
#include <errno.h>

#include "structural_test.h"

static const char schema[] =
    "{'type':'object','properties':{'spec':{'type':'object','properties':{'n':{'type':'integer'},"
    "'a.b':{'type':'string'},'m':{'type':'object','additionalProperties':{'type':'boolean'}},'any':"
    "{"
    "'type':'object','additionalProperties':true}}}}}";

static void good(const char *path, bool brackets, const char *type, const char *name) {
    _cleanup_structural_ struct structural *s = compile(schema);
    _cleanup_err_ struct err err = ERR_INIT;
    const char *found;
    _cleanup_free_ char *seen = NULL;
    if (structural_find(s, path, brackets, &found, &seen, &err))
        fail_msg("%s: %s", path, err_msg(&err));
    assert_string_equal(found, type);
    assert_string_equal(seen, name);
}

static void bad(const char *path, bool brackets, const char *why) {
    _cleanup_structural_ struct structural *s = compile(schema);
    _cleanup_err_ struct err err = ERR_INIT;
    const char *found;
    char *name = NULL;
    assert_int_equal(structural_find(s, path, brackets, &found, &name, &err), -EINVAL);
    assert_null(name);
    assert_string_equal(err_msg(&err), why);
}

static void test_paths(void **state) {
    (void)state;
    good(".spec.n", false, "integer", "spec.n");
    good(".spec", false, "object", "spec");
    good(".spec.m.x", false, "boolean", "spec.m[x]");
    good(".spec['a.b']", true, "string", "spec.a.b");
    good("['spec'].m['it\\'s']", true, "boolean", "spec.m[it's]");
}

static void test_errors(void **state) {
    (void)state;
    static const char unknown[] = "does not refer to a valid field";
    bad(".spec.x", false, unknown);
    bad(".spec.n.x", false, unknown);
    bad(".spec.any.x", false, unknown);
    bad("spec", false, "expected [ or . but got: spec");
    bad(".", false, "unexpected end of JSON path");
    bad(".spec['n']", false, "array notation is not allowed");
    bad(".spec[n]", true, "expected single quoted string but got n");
    bad(".spec['n'", true, "unexpected end of JSON path");
    bad(".spec['n'.", true, "expected ] but got .");
    bad(".spec['\\q']", true, "invalid string literal: invalid escape char \\q");
    bad(".spec[", true, "unexpected end of JSON path");
    bad(".spec['", true, "expected single quoted string but got '");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
