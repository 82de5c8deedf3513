/* Tests of api/field_error. The texts are what apimachinery's field.Error and Aggregate print. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/api/field_error.h"

static void expect(const struct field_errors *e, const char *text) {
    _cleanup_str_ struct str out = STR_INIT;
    field_errors_text(e, &out);
    assert_string_equal(str_get(&out), text);
}

static void expect_body(const json_t *value, enum field_error_type type, const char *detail,
                        const char *body) {
    struct field_errors e = {0};
    field_error(&e, type, "f", value, "%s", detail);
    assert_string_equal(e.v.p[0].body, body);
    assert_string_equal(e.v.p[0].field, "f");
    field_errors_done(&e);
}

static void test_bodies(void **state) {
    _cleanup_json_ json_t *text = json_string("a\"b\n\x01\xc3\xa9"), *n = json_integer(-3);
    _cleanup_json_ json_t *list = json_pack("[s,i,b,n]", "<x>", 1, 1),
                          *map = json_pack("{s:{}}", "a");
    _cleanup_json_ json_t *yes = json_true();
    (void)state;
    expect_body(NULL, FIELD_REQUIRED, "", "Required value");
    expect_body(n, FIELD_REQUIRED, "why", "Required value: why");
    expect_body(text, FIELD_INVALID, "must be",
                "Invalid value: \"a\\\"b\\n\\x01\xc3\xa9\": must be");
    expect_body(n, FIELD_INVALID, "x", "Invalid value: -3: x");
    expect_body(NULL, FIELD_INVALID, "x", "Invalid value: x");
    expect_body(yes, FIELD_TYPE_INVALID, "", "Invalid value: true");
    expect_body(list, FIELD_INVALID, "x", "Invalid value: [\"\\u003cx\\u003e\",1,true,null]: x");
    expect_body(map, FIELD_DUPLICATE, "", "Duplicate value: {\"a\":{}}");
    expect_body(text, FIELD_FORBIDDEN, "no", "Forbidden: no");
    expect_body(text, FIELD_TOO_LONG, "may not be more than 5 bytes",
                "Too long: may not be more than 5 bytes");
    expect_body(n, FIELD_TOO_MANY, "must have at most 2 items",
                "Too many: -3: must have at most 2 items");
    expect_body(n, FIELD_NOT_FOUND, "", "Not found: -3");
    expect_body(n, FIELD_NOT_SUPPORTED, "supported values: \"A\"",
                "Unsupported value: -3: supported values: \"A\"");
    expect_body(n, FIELD_INTERNAL, "oops", "Internal error: oops");
}

static void test_shown(void **state) {
    struct field_errors e = {0};
    (void)state;
    field_error_shown(&e, FIELD_INVALID, "f", "{\"A\":1}", "%d%%", 5);
    assert_string_equal(e.v.p[0].body, "Invalid value: {\"A\":1}: 5%");
    field_errors_done(&e);
}

static void test_reasons(void **state) {
    (void)state;
    assert_string_equal(field_error_reason(FIELD_REQUIRED), "FieldValueRequired");
    assert_string_equal(field_error_reason(FIELD_INVALID), "FieldValueInvalid");
    assert_string_equal(field_error_reason(FIELD_TYPE_INVALID), "FieldValueTypeInvalid");
    assert_string_equal(field_error_reason(FIELD_NOT_SUPPORTED), "FieldValueNotSupported");
    assert_string_equal(field_error_reason(FIELD_DUPLICATE), "FieldValueDuplicate");
    assert_string_equal(field_error_reason(FIELD_FORBIDDEN), "FieldValueForbidden");
    assert_string_equal(field_error_reason(FIELD_TOO_LONG), "FieldValueTooLong");
    assert_string_equal(field_error_reason(FIELD_TOO_MANY), "FieldValueTooMany");
    assert_string_equal(field_error_reason(FIELD_NOT_FOUND), "FieldValueNotFound");
    assert_string_equal(field_error_reason(FIELD_INTERNAL), "InternalError");
}

static void test_lists(void **state) {
    struct field_errors e = {0};
    (void)state;
    expect(&e, "");
    field_error(&e, FIELD_REQUIRED, "a.b", NULL, "%s", "");
    expect(&e, "a.b: Required value");
    field_error(&e, FIELD_REQUIRED, "a.b", NULL, "%s", "");
    expect(&e, "a.b: Required value"); /* the same once, and then without brackets */
    field_error(&e, FIELD_FORBIDDEN, "c", NULL, "x");
    field_error(&e, FIELD_REQUIRED, "a.b", NULL, "%s", "");
    expect(&e, "[a.b: Required value, c: Forbidden: x]");
    assert_int_equal(e.v.len, 4);
    field_errors_done(&e);
    assert_int_equal(e.v.len, 0);
}

/* As many as a request can hold: each is looked at, none of them with all the others. */
static void test_very_many(void **state) {
    (void)state;
    struct field_errors e = {0};
    for (int i = 0; i < 200000; i++) {
        char field[32];
        snprintf(field, sizeof field, "a[%d]", i % 100000);
        field_error(&e, FIELD_REQUIRED, field, NULL, "a long text that is the same for all");
    }
    _cleanup_str_ struct str out = STR_INIT;
    field_errors_text(&e, &out);
    size_t n = 0;
    for (size_t i = 0; i < out.len; i++)
        n += out.p[i] == 'R';
    assert_int_equal(n, 100000);
    assert_true(str_starts(str_get(&out), "[a[0]: Required value: a long"));
    field_errors_done(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies),    cmocka_unit_test(test_shown),
        cmocka_unit_test(test_reasons),   cmocka_unit_test(test_lists),
        cmocka_unit_test(test_very_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
