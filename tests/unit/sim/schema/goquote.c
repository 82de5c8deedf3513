/* Tests of schema/goquote: the expected texts are those of Go's strconv.Quote(). */
#include "sim/schema/goquote.h"

#include "schema_test.h"

static void quoted(const char *s, size_t len, const char *expected) {
    _cleanup_str_ struct str out = STR_INIT;
    goquote(&out, s, len);
    assert_string_equal(str_get(&out), expected);
}

static void texts(void **state) {
    (void)state;
    quoted("", 0, "\"\"");
    quoted("spec.a", 6, "\"spec.a\"");
    quoted("a\"b\\c'", 6, "\"a\\\"b\\\\c'\"");
    quoted("\a\b\f\n\r\t\v", 7, "\"\\a\\b\\f\\n\\r\\t\\v\"");
    quoted("\0\x01\x1f\x7f", 4, "\"\\x00\\x01\\x1f\\x7f\"");
}

static void beyond_ascii(void **state) {
    (void)state;
    quoted("\xc3\xa9\xf0\x9f\x98\x80", 6, "\"\xc3\xa9\xf0\x9f\x98\x80\"");
    quoted("\xe2\x80\xa8\xe2\x80\xae\xef\xbb\xbf", 9, "\"\\u2028\\u202e\\ufeff\"");
    quoted("\xc2\x9b", 2, "\"\\u009b\"");
    quoted("a\xff\xc3", 3, "\"a\\xff\\xc3\"");
    /* Cut off at the length, in the middle of a character. */
    quoted("\xc3\xa9", 1, "\"\\xc3\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(beyond_ascii)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
