/* Tests of schema/quantity_text: the expected texts are those of apimachinery's resource.Quantity,
 * String() after ParseQuantity(). tests/fixtures compares many more, made at random. */
#include "sim/schema/quantity_text.h"

#include <errno.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

#define FORMAT                                                                                     \
    "quantities must match the regular expression "                                                \
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
#define SUFFIX  "unable to parse quantity's suffix"
#define NUMERIC "unable to parse numeric part of quantity"

static const struct {
    const char *text, *canonical;
} good[] = {
    {"0", "0"},
    {"1", "1"},
    {"1000m", "1"},
    {"1500m", "1500m"},
    {"0.5", "500m"},
    {"1.5", "1500m"},
    {"1024Mi", "1Gi"},
    {"1.5Gi", "1536Mi"},
    {"1536Mi", "1536Mi"},
    {"1023", "1023"},
    {"1024", "1024"},
    {"1Ki", "1Ki"},
    {"8Ki", "8Ki"},
    {"1024Ki", "1Mi"},
    {"1000k", "1M"},
    {"1e3", "1e3"},
    {"12e6", "12e6"},
    {"1E3", "1E3"},
    {"100m", "100m"},
    {"0.1m", "100u"},
    {"0.0000000001", "1n"},
    {"1n", "1n"},
    {"1u", "1u"},
    {"-1", "-1"},
    {"-1.5", "-1500m"},
    {"+1", "+1"},
    {"05", "05"},
    {"1.500", "1.500"},
    {"00", "0"},
    {"-0", "0"},
    {"+", "0"},
    {".", "0"},
    {"Ki", "0"},
    {"0Ki", "0"},
    {"1.", "1."},
    {"1.G", "1.G"},
    {"9223372036854775807", "9223372036854775807"},
    {"9223372036854775808", "9223372036854775808"},
    {"16Ei", "9223372036854775807"},
    {"8Ei", "9223372036854775807"},
    {"-16Ei", "-9223372036854775807"},
    {"1000E", "1"},
    {"1e21", "1e21"},
    {"123456789012345678901234567890", "123456789012345678901234567890"},
    {"1.1Ki", "1126400m"},
    {"0.5Ki", "512"},
    {"512Ki", "512Ki"},
    {"-2Ki", "-2Ki"},
    {"1000Ki", "1000Ki"},
    {"3e-9", "3e-9"},
    {"1e-10", "1e-9"},
    {"0e-10", "0"},
    {"12345.678901234567890123", "12345678901235n"},
    {"5m", "5m"},
    {"10000m", "10"},
    {"100e-3", "100e-3"},
    {"1e2", "100"},
    {"20e20", "2e21"},
};

static const struct {
    const char *text, *error;
} bad[] = {
    {"e-10", NUMERIC},
    {"", FORMAT},
    {"abc", FORMAT},
    {"1x", FORMAT},
    {"1 ", FORMAT},
    {"1Kii", SUFFIX},
    {"1ee", SUFFIX},
    {"1e", SUFFIX},
    {"--1", SUFFIX},
    {"1.2.3", FORMAT},
    {"1i", SUFFIX},
    {"1mm", SUFFIX},
    {"0x10", FORMAT},
    {"\357\274\221", FORMAT},
    {"1e99999999999999999999", SUFFIX},
    {"1-", SUFFIX},
};

static void quantities(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        _cleanup_str_ struct str out = STR_INIT;
        _cleanup_err_ struct err err = ERR_INIT;
        if (quantity_text(good[i].text, strlen(good[i].text), &out, &err))
            fail_msg("%s: %s", good[i].text, err_msg(&err));
        assert_string_equal(str_get(&out), good[i].canonical);
    }
}

/* What is canonical stays so. Not at the far ends: a number without suffix past exa has lost it. */
static void twice(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        _cleanup_str_ struct str out = STR_INIT;
        const char *text = good[i].canonical;
        assert_int_equal(quantity_text(text, strlen(text), &out, NULL), 0);
        assert_string_equal(str_get(&out), text);
    }
}

static void no_quantities(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        _cleanup_str_ struct str out = STR_INIT;
        _cleanup_err_ struct err err = ERR_INIT;
        if (quantity_text(bad[i].text, strlen(bad[i].text), &out, &err) != -EINVAL)
            fail_msg("%s is a quantity: %s", bad[i].text, str_get(&out));
        assert_string_equal(err_msg(&err), bad[i].error);
        assert_int_equal(out.len, 0);
    }
}

/* It appends, and does not read past the end. */
static void a_piece(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    str_add(&out, "x");
    assert_int_equal(quantity_text("1000mKi", 5, &out, NULL), 0);
    assert_string_equal(str_get(&out), "x1");
}

static void long_ones(void **state) {
    (void)state;
    char digits[QUANTITY_TEXT_MOST + 1];
    _cleanup_str_ struct str out = STR_INIT;
    memset(digits, '9', sizeof digits);
    assert_int_equal(quantity_text(digits, QUANTITY_TEXT_MOST, &out, NULL), 0);
    assert_int_equal(out.len, QUANTITY_TEXT_MOST);
    assert_memory_equal(out.p, digits, out.len);
    assert_int_equal(quantity_text(digits, sizeof digits, &out, NULL), -EINVAL);
    /* 9.99... with a thousand digits is rounded up to a whole number. */
    digits[1] = '.';
    str_reset(&out);
    assert_int_equal(quantity_text(digits, QUANTITY_TEXT_MOST, &out, NULL), 0);
    assert_string_equal(str_get(&out), "10");
    /* In binary: more than can be, so the most that can be. */
    memset(digits, '9', sizeof digits);
    memcpy(digits + QUANTITY_TEXT_MOST - 2, "Ei", 2);
    str_reset(&out);
    assert_int_equal(quantity_text(digits, QUANTITY_TEXT_MOST, &out, NULL), 0);
    assert_string_equal(str_get(&out), "9223372036854775807");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantities), cmocka_unit_test(twice),     cmocka_unit_test(no_quantities),
        cmocka_unit_test(a_piece),    cmocka_unit_test(long_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
