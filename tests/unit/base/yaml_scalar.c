/* Tests of base/yaml_scalar: the tables of YAML 1.2's core schema, and their edges. */
#include "base/yaml_scalar.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

static const struct {
    enum yaml_scalar kind;
    const char *texts[24];
} kinds[] = {
    {YAML_SCALAR_NULL, {"", "~", "null", "Null", "NULL"}},
    {YAML_SCALAR_TRUE, {"true", "True", "TRUE"}},
    {YAML_SCALAR_FALSE, {"false", "False", "FALSE"}},
    {YAML_SCALAR_INT, {"0", "-0", "+12", "007", "0o7", "0x1F"}},
    {YAML_SCALAR_FLOAT,
     {"1.5", ".5", "5.", "1e3", "-1.E+3", ".inf", ".Inf", "-.INF", "+.inf", ".nan", ".NaN",
      ".NAN"}},
    {YAML_SCALAR_STR,
     {"nUll", "tRue", "yes", "no", "on", "off", "y", "n", "Y", "N", "-", "+", ".", "1_000"}},
    {YAML_SCALAR_STR,
     {"0o8", "0xg", "-0x1", "0x", "0o", "0b1", "0x1p3", "1 ", "1f", "1e", "e3", ".e1", "1.2.3",
      "-.nan", "inf", "nan", "12:30", "2026-11-15", "10.0.0.1"}},
};

static void all_kinds(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        for (const char *const *t = kinds[i].texts; *t; t++)
            if (yaml_scalar_kind(*t) != kinds[i].kind)
                fail_msg("\"%s\" is of kind %d", *t, (int)yaml_scalar_kind(*t));
}

static void numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        json_int_t value;
    } ints[] = {
        {"0", 0},
        {"-0", 0},
        {"+7", 7},
        {"0777", 777},
        {"0o777", 511},
        {"0xff", 255},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"0x7fffffffffffffff", INT64_MAX},
    };
    for (size_t i = 0; i < ARRAY_LEN(ints); i++) {
        json_t *v = yaml_scalar_number(ints[i].text);
        assert_true(json_is_integer(v));
        assert_true(json_integer_value(v) == ints[i].value);
        json_decref(v);
    }
    json_t *v = yaml_scalar_number("-1.5e2");
    assert_true(json_is_real(v));
    assert_true(json_real_value(v) == -150.0);
    json_decref(v);
    static const char *const none[] = {"9223372036854775808",
                                       "-9223372036854775809",
                                       "0x8000000000000000",
                                       "0o7777777777777777777777",
                                       "1e400",
                                       ".inf",
                                       "-.Inf",
                                       ".NaN"};
    for (size_t i = 0; i < ARRAY_LEN(none); i++)
        assert_null(yaml_scalar_number(none[i]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds),
        cmocka_unit_test(numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
