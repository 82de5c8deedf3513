/* Tests of model/quantity: the expected values are what k8s.io/apimachinery's ParseQuantity() makes
 * of the same text, times 1000, rounded away from zero, cut at the ends of int64_t. */
#include "model/quantity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define MOST INT64_MAX

static const struct {
    const char *text;
    int64_t milli;
} good[] = {
    /* plain numbers */
    {"0", 0},
    {"1", 1000},
    {"-1", -1000},
    {"+1", 1000},
    {"007", 7000},
    {"1.5", 1500},
    {"-1.5", -1500},
    {".5", 500},
    {"5.", 5000},
    {"0.1", 100},
    {"0.000", 0},
    {"-0", 0},
    /* thousandths and less: rounded away from zero */
    {"100m", 100},
    {"1500m", 1500},
    {"1m", 1},
    {"1u", 1},
    {"1001u", 2},
    {"-1001u", -2},
    {"1n", 1},
    {"999n", 1},
    {"-1n", -1},
    {"0.0001", 1},
    {"0.0000000001", 1},
    {"1.0000000001", 1001},
    {"0.123456789123456789123456789k", 123457},
    /* decimal suffixes */
    {"1k", 1000000},
    {"1M", 1000000000},
    {"1G", 1000000000000},
    {"1T", 1000000000000000},
    {"1P", 1000000000000000000},
    {"1E", MOST},
    {"0.001E", 1000000000000000000},
    /* binary suffixes */
    {"1Ki", 1024000},
    {"1Mi", 1048576000},
    {"1Gi", 1073741824000},
    {"1Ti", 1099511627776000},
    {"1Pi", 1125899906842624000},
    {"1Ei", MOST},
    {"1.5Gi", 1610612736000},
    {"0.5Mi", 524288000},
    {".1Ki", 102400},
    {"0.001Ki", 1024},
    {"5.Ki", 5120000},
    {"7.9Ei", MOST},
    /* exponents */
    {"1e3", 1000000},
    {"1E3", 1000000},
    {"1e+3", 1000000},
    {"1e-3", 1},
    {"1e0", 1000},
    {"1.5e3", 1500000},
    {"12e-4", 2},
    {"1e05", 100000000},
    {"1e15", 1000000000000000000},
    {"1e16", MOST},
    {"1e1000", MOST},
    {"-1e1000", -MOST},
    {"1e-1000", 1},
    {"-1e-1000", -1},
    {"0e1000", 0},
    {"1e99999999999999999999", MOST},
    /* the ends, and more digits than fit */
    {"9223372036854775", 9223372036854775000},
    {"9223372036854775.807", 9223372036854775807},
    {"9223372036854775.808", MOST},
    {"9223372036854776", MOST},
    {"9223372036854775807", MOST},
    {"-9223372036854775807", -MOST},
    {"9007199254740992Ki", MOST},
    {"99999999999999999999999", MOST},
    {"100000000000000000000000e-20", 1000000},
    {"0.00000000000000000010000000000000000000Ei", 116},
    {"0.000000000000000000100000000000000000000000000000000Ei", 116},
    {"-.0008007050070030930700051204230000Ei", -923150021420242008},
};

static void values(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        int64_t milli = 42;
        if (!quantity_parse(good[i].text, strlen(good[i].text), &milli))
            fail_msg("%s was refused", good[i].text);
        if (milli != good[i].milli)
            fail_msg("%s: %lld and not %lld", good[i].text, (long long)milli,
                     (long long)good[i].milli);
    }
}

static const char *const bad[] = {
    "",
    " ",
    "a",
    "1K",
    "1ki",
    "1mi",
    "1kI",
    "1KiB",
    "1kk",
    "1i",
    "1iK",
    "1e",
    "1E-",
    "1e+",
    "1e1.5",
    "1e1e1",
    "1e3k",
    "1..2",
    "1,5",
    "0x10",
    "1_000",
    "--1",
    "+-1",
    "1 ",
    " 1",
    "1 k",
    "1m1",
    "12E3Ki",
    "1Ei ",
    "Inf",
    "NaN",
    "1Mi2",
    "1\xc2\xb5",
    "1.2.3",
    /* These Go reads as 0, for want of a look at whether there are digits; no server writes them.
     */
    "+",
    "-",
    ".",
    "-.",
    "k",
    "e3",
    ".Ki",
};

static void garbage(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        int64_t milli = 42;
        if (quantity_parse(bad[i], strlen(bad[i]), &milli))
            fail_msg("\"%s\" was taken for %lld", bad[i], (long long)milli);
        assert_int_equal(milli, 42);
    }
}

/* The length counts, not a NUL. */
static void length(void **state) {
    (void)state;
    int64_t milli;
    assert_true(quantity_parse("12Ki", 1, &milli));
    assert_int_equal(milli, 1000);
    assert_true(quantity_parse("12Ki", 2, &milli));
    assert_int_equal(milli, 12000);
    assert_false(quantity_parse("12Ki", 3, &milli));
    assert_false(quantity_parse("1\0", 2, &milli));
}

/* A megabyte of digits costs time, not correctness. */
static void endless(void **state) {
    (void)state;
    enum { N = 1 << 20 };
    _cleanup_free_ char *text = xmalloc(N);
    int64_t milli;
    memset(text, '9', N);
    assert_true(quantity_parse(text, N, &milli));
    assert_int_equal(milli, MOST);
    memset(text, '0', N);
    assert_true(quantity_parse(text, N, &milli));
    assert_int_equal(milli, 0);
    text[1] = '.';
    text[N - 1] = '1';
    assert_true(quantity_parse(text, N, &milli));
    assert_int_equal(milli, 1);
    text[0] = '1';
    assert_true(quantity_parse(text, N, &milli));
    assert_int_equal(milli, 1001);
}

static void format(void **state) {
    (void)state;
    char buf[QUANTITY_LEN];
    assert_string_equal(quantity_format(0, buf), "0");
    assert_string_equal(quantity_format(2000, buf), "2");
    assert_string_equal(quantity_format(1500, buf), "1500m");
    assert_string_equal(quantity_format(-1, buf), "-1m");
    assert_string_equal(quantity_format(-3000, buf), "-3");
    assert_string_equal(quantity_format(INT64_MAX, buf), "9223372036854775807m");
    assert_string_equal(quantity_format(INT64_MIN, buf), "-9223372036854775808m");
}

static void round_trip(void **state) {
    (void)state;
    char buf[QUANTITY_LEN];
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        int64_t milli = 42;
        quantity_format(good[i].milli, buf);
        assert_true(quantity_parse(buf, strlen(buf), &milli));
        assert_int_equal(milli, good[i].milli);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),  cmocka_unit_test(garbage), cmocka_unit_test(length),
        cmocka_unit_test(endless), cmocka_unit_test(format),  cmocka_unit_test(round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
