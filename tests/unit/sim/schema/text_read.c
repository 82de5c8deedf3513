/* Tests of schema/text_read. What is expected is what Kubernetes' decoder says
 * (tools/schema/judge). */
#include "sim/schema/text_read.h"

#include <errno.h>

#include "schema_test.h"

struct row {
    const char *in, *expected;
};

static const struct row good[] = {
    {" \011\015\0121 \012", "1"},
    {"[ ]", "[]"},
    {"{ }", "{}"},
    {"[1 , 2]", "[1,2]"},
    {"{ \"a\" : 1 , \"b\" : [ ] }", "{\"a\":1,\"b\":[]}"},
    {"1e3", "1000"},
    {"1.0", "1"},
    {"-0", "0"},
    {"-0.5e-1", "-0.05"},
    {"9223372036854775807", "9223372036854775807"},
    {"9223372036854775808", "9223372036854776000"},
    {"-9223372036854775809", "-9223372036854776000"},
    {"123456789012345678901234567890", "1.2345678901234568e+29"},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
    {"\"\\u00e9\\u20ac\\u0000\"", "\"\303\251\342\202\254\\u0000\""},
    {"\"\\ud83d\\ude00\"", "\"\360\237\230\200\""},
    {"\"\\ud83d\"", "\"\357\277\275\""},
    {"\"\\ude00\"", "\"\357\277\275\""},
    {"\"\\ud83dx\"", "\"\357\277\275x\""},
    {"\"\\ud83d\\ud83d\\ude00\"", "\"\357\277\275\360\237\230\200\""},
    {"\"\\ud83d\\u0041\"", "\"\357\277\275A\""},
    {"\"\303\251\"", "\"\303\251\""},
    {"{\"a\":1,\"a\":2}", "{\"a\":2}"},
    {"{\"\\u0061\":1,\"a\":2}", "{\"a\":2}"},
};

static const struct row bad[] = {
    {"", "unexpected end of JSON input"},
    {" ", "unexpected end of JSON input"},
    {"x", "invalid character 'x' looking for beginning of value"},
    {"[", "unexpected end of JSON input"},
    {"[1", "unexpected end of JSON input"},
    {"[1,", "unexpected end of JSON input"},
    {"[1,]", "invalid character ']' looking for beginning of value"},
    {"[1 2]", "invalid character '2' after array element"},
    {"{", "unexpected end of JSON input"},
    {"{\"a\"", "unexpected end of JSON input"},
    {"{\"a\":", "unexpected end of JSON input"},
    {"{\"a\":1", "unexpected end of JSON input"},
    {"{\"a\":1,", "unexpected end of JSON input"},
    {"{\"a\":1,}", "invalid character '}' looking for beginning of object key string"},
    {"{\"a\" 1}", "invalid character '1' after object key"},
    {"{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair"},
    {"{a:1}", "invalid character 'a' looking for beginning of object key string"},
    {"{1:1}", "invalid character '1' looking for beginning of object key string"},
    {"{'a':1}", "invalid character '\\'' looking for beginning of object key string"},
    {"1 2", "invalid character '2' after top-level value"},
    {"[]]", "invalid character ']' after top-level value"},
    {"nul", "invalid character ' ' in literal null (expecting 'l')"},
    {"nulx", "invalid character 'x' in literal null (expecting 'l')"},
    {"tru", "invalid character ' ' in literal true (expecting 'e')"},
    {"fals", "invalid character ' ' in literal false (expecting 'e')"},
    {"True", "invalid character 'T' looking for beginning of value"},
    {"\"", "unexpected end of JSON input"},
    {"\"a", "unexpected end of JSON input"},
    {"\"\\", "invalid character ' ' in string escape code"},
    {"\"\\x\"", "invalid character 'x' in string escape code"},
    {"\"\\u12", "invalid character ' ' in \\u hexadecimal character escape"},
    {"\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape"},
    {"\"a\012b\"", "invalid character '\\n' in string literal"},
    {"\"\011\"", "invalid character '\\t' in string literal"},
    {"-", "invalid character ' ' in numeric literal"},
    {"-x", "invalid character 'x' in numeric literal"},
    {"+1", "invalid character '+' looking for beginning of value"},
    {".5", "invalid character '.' looking for beginning of value"},
    {"1.", "invalid character ' ' after decimal point in numeric literal"},
    {"1.x", "invalid character 'x' after decimal point in numeric literal"},
    {"1e", "invalid character ' ' in exponent of numeric literal"},
    {"1e+", "invalid character ' ' in exponent of numeric literal"},
    {"1ex", "invalid character 'x' in exponent of numeric literal"},
    {"01", "invalid character '1' after top-level value"},
    {"0x10", "invalid character 'x' after top-level value"},
    {"1e999", "json: cannot unmarshal number 1e999 into Go value of type float64"},
    {"-1e999", "json: cannot unmarshal number -1e999 into Go value of type float64"},
    {"\303\251", "invalid character '\303\203' looking for beginning of value"},
    {"{\"a\":1e999,}", "invalid character '}' looking for beginning of object key string"},
};

static const struct row doubled[] = {
    {"{\"a\":1,\"a\":2,\"a\":3}", "duplicate field \"a\""},
    {"{\"a\":{\"b\":1,\"b\":2},\"c\":[{\"d\":1,\"d\":2},{\"d\":1}]}",
     "duplicate field \"a.b\"; duplicate field \"c[0].d\""},
    {"[{\"x\":1,\"x\":2}]", "duplicate field \"[0].x\""},
    {"{\"\":{\"a\":1,\"a\":2}}", "duplicate field \".a\""},
    {"{\"a.b\":1,\"a.b\":2,\"q\\\"\":1,\"q\\\"\":2}",
     "duplicate field \"a.b\"; duplicate field \"q\\\"\""},
    {"{\"a\":1,\"A\":2}", ""},
};

static void values(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        _cleanup_free_ char *text = text_of(value_of(good[i].in));
        assert_string_equal(text, good[i].expected);
    }
}

static void no_values(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        json_t *v = NULL;
        if (text_read(view_of(bad[i].in), NULL, &v, &err) != -EINVAL)
            fail_msg("%s was read", bad[i].in);
        assert_null(v);
        assert_string_equal(err_msg(&err), bad[i].expected);
    }
}

static void twice(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(doubled); i++) {
        struct schema_notes notes = {0};
        _cleanup_str_ struct str all = STR_INIT;
        json_t *v = NULL;
        assert_int_equal(text_read(view_of(doubled[i].in), &notes, &v, NULL), 0);
        json_decref(v);
        for (size_t j = 0; j < notes.texts.len; j++)
            str_addf(&all, "%s%s", j ? "; " : "", notes.texts.p[j]);
        schema_notes_done(&notes);
        assert_string_equal(str_get(&all), doubled[i].expected);
    }
}

/* Integers are integers, all else is not. */
static void numbers(void **state) {
    (void)state;
    _cleanup_json_ json_t *v = value_of("[9223372036854775807,-9223372036854775808,1.0,1e0,"
                                        "9223372036854775808]");
    assert_int_equal(json_integer_value(json_array_get(v, 0)), INT64_MAX);
    assert_int_equal(json_integer_value(json_array_get(v, 1)), INT64_MIN);
    for (size_t i = 2; i < 5; i++)
        assert_true(json_is_real(json_array_get(v, i)));
}

/* NULs, and bytes that are not UTF-8, in keys and values. */
static void odd_strings(void **state) {
    (void)state;
    _cleanup_json_ json_t *v = value_of("{\"a\\u0000b\":\"c\\u0000d\",\"\xff\":\"\xc3\"}");
    const json_t *c = json_object_getn(v, "a\0b", 3), *d = json_object_get(v, "\xef\xbf\xbd");
    assert_int_equal(json_string_length(c), 3);
    assert_memory_equal(json_string_value(c), "c\0d", 3);
    assert_string_equal(json_string_value(d), "\xef\xbf\xbd");
}

/* Every beginning of a text is none, and nothing behind its end is looked at. */
static void cut_off(void **state) {
    (void)state;
    static const char text[] = "{\"a\":[1.5e3,true,null,\"\\u00e9x\"],\"b\":{\"c\":false}}";
    for (size_t n = 0; n < sizeof text - 1; n++) {
        _cleanup_err_ struct err err = ERR_INIT;
        char *copy = xmemdup(text, n);
        json_t *v = NULL;
        assert_int_equal(text_read((struct view){copy, n}, NULL, &v, &err), -EINVAL);
        assert_true(*err_msg(&err));
        free(copy);
    }
}

static int nested(size_t depth, const char *open, const char *close, struct err *err) {
    _cleanup_str_ struct str text = STR_INIT;
    json_t *v = NULL;
    for (size_t i = 0; i < depth; i++)
        str_add(&text, open);
    str_add(&text, "1");
    for (size_t i = 0; i < depth; i++)
        str_add(&text, close);
    int rc = text_read((struct view){text.p, text.len}, NULL, &v, err);
    json_decref(v);
    return rc;
}

static void depth(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(nested(TEXT_DEPTH, "[", "]", NULL), 0);
    assert_int_equal(nested(TEXT_DEPTH, "{\"a\":", "}", NULL), 0);
    assert_int_equal(nested(TEXT_DEPTH + 1, "[", "]", &err), -EINVAL);
    assert_string_equal(err_msg(&err), "invalid character '[' exceeded max depth");
    assert_int_equal(nested(100000, "{\"a\":[", "]}", &err), -EINVAL);
}

static void bombs(void **state) {
    (void)state;
    _cleanup_str_ struct str text = STR_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    json_t *v = NULL;
    str_add(&text, "[{}");
    for (int i = 0; i < TEXT_MOST_PARTS; i++)
        str_add(&text, ",{}");
    str_add(&text, "]");
    assert_int_equal(text_read((struct view){text.p, text.len}, NULL, &v, &err), -EINVAL);
    assert_string_equal(err_msg(&err), "more lists and objects than any object has");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),  cmocka_unit_test(no_values),   cmocka_unit_test(twice),
        cmocka_unit_test(numbers), cmocka_unit_test(odd_strings), cmocka_unit_test(cut_off),
        cmocka_unit_test(depth),   cmocka_unit_test(bombs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
