/* Tests of schema/text: the expected texts are those of Go's encoding/json. */
#include "sim/schema/text.h"

#include "schema_test.h"

static void string_is(const char *s, size_t len, const char *expected) {
    _cleanup_str_ struct str out = STR_INIT;
    text_string(s, len, &out);
    assert_string_equal(str_get(&out), expected);
}

static void strings(void **state) {
    (void)state;
    string_is("", 0, "\"\"");
    string_is("plain text, 'quoted' / slashed", 30, "\"plain text, 'quoted' / slashed\"");
    string_is("a\"b\\c", 5, "\"a\\\"b\\\\c\"");
    string_is("\b\f\n\r\t\v\a", 7, "\"\\b\\f\\n\\r\\t\\u000b\\u0007\"");
    string_is("\0\x1f\x7f", 3, "\"\\u0000\\u001f\x7f\"");
    string_is("<a&b>", 5, "\"\\u003ca\\u0026b\\u003e\"");
    string_is("\xc3\xa9\xf0\x9f\x98\x80\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa", 15,
              "\"\xc3\xa9\xf0\x9f\x98\x80\\u2028\\u2029\xe2\x80\xaa\"");
    string_is("a\xff\xed\xa0\x80", 5, "\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    string_is("\xc3\xa9", 1, "\"\xef\xbf\xbd\"");
}

static void doubles(void **state) {
    (void)state;
    static const struct {
        double v;
        const char *text;
    } rows[] = {
        {0, "0"},
        {1, "1"},
        {-1, "-1"},
        {0.1, "0.1"},
        {-0.25, "-0.25"},
        {1.5, "1.5"},
        {100, "100"},
        {123.456, "123.456"},
        {1.0 / 3, "0.3333333333333333"},
        {0.000001, "0.000001"},
        {0.0000012345, "0.0000012345"},
        {0.0000001, "1e-7"},
        {1.5e-10, "1.5e-10"},
        {5e-324, "5e-324"},
        {1e20, "100000000000000000000"},
        {123456789012345680000.0, "123456789012345680000"},
        {-9223372036854775808.0, "-9223372036854776000"},
        {1e21, "1e+21"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_str_ struct str out = STR_INIT;
        text_double(rows[i].v, &out);
        assert_string_equal(str_get(&out), rows[i].text);
    }
}

static void values(void **state) {
    (void)state;
    static const char *const texts[] = {
        "null",
        "true",
        "false",
        "0",
        "-9223372036854775808",
        "9223372036854775807",
        "0.5",
        "[]",
        "{}",
        "[1,[2,[]],{}]",
        "{\"z\":1,\"a\":{\"y\":[null]},\"\":\"\"}",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        _cleanup_free_ char *text = text_of(value_of(texts[i]));
        assert_string_equal(text, texts[i]);
    }
}

static void appends(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    _cleanup_json_ json_t *v = value_of("[1]");
    str_add(&out, "x=");
    text_value(v, &out);
    text_value(v, &out);
    assert_string_equal(str_get(&out), "x=[1][1]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings),
        cmocka_unit_test(doubles),
        cmocka_unit_test(values),
        cmocka_unit_test(appends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
