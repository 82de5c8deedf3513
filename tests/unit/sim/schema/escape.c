/* Tests of schema/escape. */
#include "sim/schema/escape.h"

#include "schema_test.h"

static void is(const char *in, const char *expected, size_t len) {
    _cleanup_str_ struct str out = STR_INIT;
    char *copy = xmemdup(in, strlen(in)); /* of exactly its size */
    assert_true(escape_undo(&out, (struct view){copy, strlen(in)}));
    assert_int_equal(out.len, len);
    assert_memory_equal(str_get(&out), expected, len);
    free(copy);
}

static void bad(const char *in) {
    _cleanup_str_ struct str out = STR_INIT;
    char *copy = xmemdup(in, strlen(in));
    assert_false(escape_undo(&out, (struct view){copy, strlen(in)}));
    free(copy);
}

static void undone(void **state) {
    (void)state;
    is("", "", 0);
    is("a/b", "a/b", 3);
    is("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t", 8);
    is("\\u0041\\u00e9\\u20AC\\u0000x", "A\xc3\xa9\xe2\x82\xac\0x", 8);
}

static void pairs(void **state) {
    (void)state;
    is("\\ud83d\\ude00", "\xf0\x9f\x98\x80", 4);
    is("\\udbff\\udfff", "\xf4\x8f\xbf\xbf", 4);
    is("\\ud83d", "\xef\xbf\xbd", 3);
    is("\\ude00", "\xef\xbf\xbd", 3);
    is("\\ude00\\ud83d", "\xef\xbf\xbd\xef\xbf\xbd", 6);
    is("\\ud83d\\u0041",
       "\xef\xbf\xbd"
       "A",
       4);
    is("\\ud83d\\n", "\xef\xbf\xbd\n", 4);
    is("\\ud83d\\ud83d\\ude00", "\xef\xbf\xbd\xf0\x9f\x98\x80", 7);
}

static void bytes(void **state) {
    (void)state;
    is("\xc3\xa9", "\xc3\xa9", 2);
    is("\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd", 6);
    is("\xc3", "\xef\xbf\xbd", 3);
    is("a\xc3\\n", "a\xef\xbf\xbd\n", 5);
}

static void no_escapes(void **state) {
    (void)state;
    bad("\\");
    bad("a\\");
    bad("\\x");
    bad("\\u");
    bad("\\u123");
    bad("\\u12g4");
    bad("\\U0041");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undone),
        cmocka_unit_test(pairs),
        cmocka_unit_test(bytes),
        cmocka_unit_test(no_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
