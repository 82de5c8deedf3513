/* Tests of sim/api/patch_words. What is expected was printed by Go's fmt. */
#include "patch_check.h"

static void test_values(void **state) {
    (void)state;
    /* value, %v, %s */
    static const char *const rows[][3] = {
        {"'a b'", "a b", "a b"},
        {"''", "", ""},
        {"1", "1", "%!s(int64=1)"},
        {"-9223372036854775808", "-9223372036854775808", "%!s(int64=-9223372036854775808)"},
        {"true", "true", "%!s(bool=true)"},
        {"false", "false", "%!s(bool=false)"},
        {"null", "<nil>", "%!s(<nil>)"},
        {"[]", "[]", "[]"},
        {"{}", "map[]", "map[]"},
        {"['x',true,null]", "[x true <nil>]", "[x %!s(bool=true) <nil>]"},
        {"{'b':null,'a':1,'c':['x',{'d':{}}]}", "map[a:1 b:<nil> c:[x map[d:map[]]]]",
         "map[a:%!s(int64=1) b:<nil> c:[x map[d:map[]]]]"},
        {"1.5", "1.5", "%!s(float64=1.5)"},
        {"3.0", "3", "%!s(float64=3)"},
        {"-0.0", "-0", "%!s(float64=-0)"},
        {"100000.0", "100000", "%!s(float64=100000)"},
        {"123456.0", "123456", "%!s(float64=123456)"},
        {"1000000.0", "1e+06", "%!s(float64=1e+06)"},
        {"1234567.0", "1.234567e+06", "%!s(float64=1.234567e+06)"},
        {"0.0001", "0.0001", "%!s(float64=0.0001)"},
        {"0.00001", "1e-05", "%!s(float64=1e-05)"},
        {"1e100", "1e+100", "%!s(float64=1e+100)"},
        {"0.1", "0.1", "%!s(float64=0.1)"},
        {"0.30000000000000004", "0.30000000000000004", "%!s(float64=0.30000000000000004)"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_str_ struct str value = STR_INIT, string = STR_INIT;
        _cleanup_json_ json_t *v = js(rows[i][0]);
        words_value(&value, v);
        assert_string_equal(str_get(&value), rows[i][1]);
        words_string(&string, v);
        assert_string_equal(str_get(&string), rows[i][2]);
    }
}

static void test_types(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        {"{}", "map[string]interface {}", "object"},
        {"[]", "[]interface {}", "array"},
        {"''", "string", "string"},
        {"1", "int64", "number"},
        {"1.0", "float64", "number"},
        {"true", "bool", "bool"},
        {"false", "bool", "bool"},
        {"null", "%!s(<nil>)", "null"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_json_ json_t *v = js(rows[i][0]);
        assert_string_equal(words_type(v), rows[i][1]);
        assert_string_equal(words_json(v), rows[i][2]);
    }
}

/* A NUL does not end a string. */
static void test_nul(void **state) {
    (void)state;
    _cleanup_str_ struct str text = STR_INIT;
    _cleanup_json_ json_t *v = js("['a\\u0000b']");
    words_value(&text, v);
    assert_int_equal(text.len, 5);
    assert_memory_equal(text.p, "[a\0b]", 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_nul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
