/* Tests of src/cli/govalue.c. The expected values and words are those of Go 1.26's strconv and
 * time, as kubectl 1.36.3 prints them. */
#include "cli/govalue.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/timefmt.h"

static void quotes(void **state) {
    (void)state;
    static const struct {
        const char *text, *quoted;
    } t[] = {
        {"", "\"\""},
        {"x y", "\"x y\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"\a\b\f\n\r\t\v", "\"\\a\\b\\f\\n\\r\\t\\v\""},
        {"\u00e4", "\"\u00e4\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        _cleanup_str_ struct str out = STR_INIT;
        govalue_quote(&out, t[i].text);
        assert_string_equal(str_get(&out), t[i].quoted);
    }
}

static void booleans(void **state) {
    (void)state;
    static const char *const yes[] = {"1", "t", "T", "true", "TRUE", "True"};
    static const char *const no[] = {"0", "f", "F", "false", "FALSE", "False"};
    static const char *const neither[] = {"", "yes", "on", "tRUE", "2", " true", "true "};
    for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
        bool v = false;
        assert_int_equal(govalue_bool(yes[i], &v, NULL), 0);
        assert_true(v);
        assert_int_equal(govalue_bool(no[i], &v, NULL), 0);
        assert_false(v);
    }
    for (size_t i = 0; i < ARRAY_LEN(neither); i++) {
        bool v = true;
        assert_int_equal(govalue_bool(neither[i], &v, NULL), -EINVAL);
        assert_true(v);
    }
    _cleanup_err_ struct err err = ERR_INIT;
    bool v;
    govalue_bool("maybe", &v, &err);
    assert_string_equal(err_msg(&err), "strconv.ParseBool: parsing \"maybe\": invalid syntax");
}

static void whole_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } t[] = {
        {"0", 0},
        {"-0", 0},
        {"7", 7},
        {"+7", 7},
        {"-7", -7},
        {"010", 8},
        {"0o17", 15},
        {"0O17", 15},
        {"0x1F", 31},
        {"0XfF", 255},
        {"-0x10", -16},
        {"0b101", 5},
        {"1_000", 1000},
        {"0_7", 7},
        {"0x_1f", 31},
        {"0x1_0", 16},
        {"00", 0},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"0x7fffffffffffffff", INT64_MAX},
        {"000000000000000000000000000000000000001", 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        int64_t v = -99;
        if (govalue_int(t[i].text, INT64_MIN, INT64_MAX, &v, NULL))
            fail_msg("%s was refused", t[i].text);
        if (v != t[i].value)
            fail_msg("%s: %lld", t[i].text, (long long)v);
    }
}

static void no_whole_numbers(void **state) {
    (void)state;
    static const char *const bad[] = {"",     "x",   "-",   "+",   "1.5", "1e3", " 1", "1 ",   "0x",
                                      "0b",   "0o",  "08",  "0b2", "0xg", "_1",  "1_", "1__0", "0_",
                                      "0x1_", "--1", "+-1", "1x",  "0x_", "\n",  "١",  "-_1"};
    static const char *const far[] = {"9223372036854775808", "-9223372036854775809",
                                      "99999999999999999999", "0xffffffffffffffff",
                                      "99999999999999999999999999999999999999999999999999x"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        int64_t v = -99;
        if (!govalue_int(bad[i], INT64_MIN, INT64_MAX, &v, &err))
            fail_msg("\"%s\" was taken as %lld", bad[i], (long long)v);
        assert_int_equal(v, -99);
        assert_non_null(strstr(err_msg(&err), "invalid syntax"));
    }
    for (size_t i = 0; i < ARRAY_LEN(far); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        int64_t v = -99;
        assert_int_equal(govalue_int(far[i], INT64_MIN, INT64_MAX, &v, &err), -EINVAL);
        assert_int_equal(v, -99);
        assert_non_null(strstr(err_msg(&err), "value out of range"));
    }
    _cleanup_err_ struct err err = ERR_INIT;
    int64_t v;
    govalue_int("1.5", 0, 10, &v, &err);
    assert_string_equal(err_msg(&err), "strconv.ParseInt: parsing \"1.5\": invalid syntax");
    govalue_int("11", 0, 10, &v, &err);
    assert_string_equal(err_msg(&err), "strconv.ParseInt: parsing \"11\": value out of range");
    assert_int_equal(govalue_int("-1", 0, 10, &v, NULL), -EINVAL);
    assert_int_equal(govalue_int("10", 0, 10, &v, NULL), 0);
}

static void durations(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t usec;
    } t[] = {
        {"0", 0},
        {"0s", 0},
        {"+0", 0},
        {"-0", 0},
        {"90s", SEC(90)},
        {"1.5s", MSEC(1500)},
        {"1h30m", SEC(5400)},
        {".5s", MSEC(500)},
        {"1.s", SEC(1)},
        {"20us", 20},
        {"20\u00b5s", 20},
        {"20\u03bcs", 20},
        {"1ns", 1},
        {"999ns", 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        int64_t v = -99;
        if (govalue_duration(t[i].text, false, &v, NULL))
            fail_msg("%s was refused", t[i].text);
        if (v != t[i].usec)
            fail_msg("%s: %lld", t[i].text, (long long)v);
    }
    int64_t v = -99;
    assert_int_equal(govalue_duration("5", true, &v, NULL), 0);
    assert_int_equal(v, SEC(5));
}

static void no_durations(void **state) {
    (void)state;
    static const struct {
        const char *text, *msg;
    } t[] = {
        {"", "time: invalid duration \"\""},
        {"x", "time: invalid duration \"x\""},
        {"-", "time: invalid duration \"-\""},
        {".s", "time: invalid duration \".s\""},
        {"s", "time: invalid duration \"s\""},
        {" 5s", "time: invalid duration \" 5s\""},
        {"5", "time: missing unit in duration \"5\""},
        {"-5", "time: missing unit in duration \"-5\""},
        {"00", "time: missing unit in duration \"00\""},
        {"1.5", "time: missing unit in duration \"1.5\""},
        {"1m30", "time: missing unit in duration \"1m30\""},
        {"1.5.5s", "time: missing unit in duration \"1.5.5s\""},
        {"5d", "time: unknown unit \"d\" in duration \"5d\""},
        {"5 s", "time: unknown unit \" s\" in duration \"5 s\""},
        {"1mm", "time: unknown unit \"mm\" in duration \"1mm\""},
        {"1h5d3s", "time: unknown unit \"d\" in duration \"1h5d3s\""},
        {"9999999999h", "time: invalid duration \"9999999999h\""},
        {"99999999999999999999999s", "time: invalid duration \"99999999999999999999999s\""},
        {"-5s", "it cannot be negative"}, /* ours: kubectl takes it, and gives up at once */
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        int64_t v = -99;
        if (!govalue_duration(t[i].text, false, &v, &err))
            fail_msg("\"%s\" was taken as %lld", t[i].text, (long long)v);
        assert_int_equal(v, -99);
        assert_string_equal(err_msg(&err), t[i].msg);
    }
    int64_t v;
    assert_int_equal(govalue_duration("x", true, &v, NULL), -EINVAL);
    assert_int_equal(govalue_duration("-5", true, &v, NULL), -EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes),        cmocka_unit_test(booleans),
        cmocka_unit_test(whole_numbers), cmocka_unit_test(no_whole_numbers),
        cmocka_unit_test(durations),     cmocka_unit_test(no_durations),
    };
    return cmocka_run_group_tests_name("cli/govalue", tests, NULL, NULL);
}
