/* Tests of model/version.c: resourceVersions compare as decimal numbers of any length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/prng.h"
#include "base/str.h"
#include "model/version.h"

static void test_valid(void **state) {
    (void)state;
    static const char *const good[] = {"1", "9", "10", "18446744073709551615",
                                       "123456789012345678901234567890"};
    static const char *const bad[] = {NULL, "",   "0",  "00", "01",  "-1",  "+1",
                                      " 1", "1 ", "1a", "a",  "1.0", "0x1", "1\n",
                                      "١",  "1,", "1-", "v1", "007", "1e3"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (!version_valid(good[i]))
            fail_msg("\"%s\" is a version", good[i]);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (version_valid(bad[i]))
            fail_msg("\"%s\" is no version", strna(bad[i]));
}

static int sign(int n) {
    return (n > 0) - (n < 0);
}

/* Every pair of an ascending list, both ways. */
static void test_order(void **state) {
    (void)state;
    static const char *const ascending[] = {
        "1",
        "2",
        "9",
        "10",
        "11",
        "99",
        "100",
        "4294967295",
        "4294967296",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999999999999999",
        "100000000000000000000000000000000",
    };
    for (int i = 0; i < (int)ARRAY_LEN(ascending); i++)
        for (int k = 0; k < (int)ARRAY_LEN(ascending); k++)
            if (sign(version_compare(ascending[i], ascending[k])) != sign(i - k))
                fail_msg("%s against %s", ascending[i], ascending[k]);
}

static void test_numbers(void **state) {
    (void)state;
    struct prng prng = {1};
    for (int i = 0; i < 20000; i++) {
        char a[32], b[32];
        int64_t x = prng_range(&prng, 1, INT64_C(1) << prng_range(&prng, 1, 62));
        int64_t y = prng_range(&prng, 0, 4)
                        ? prng_range(&prng, 1, INT64_C(1) << prng_range(&prng, 1, 62))
                        : x + prng_range(&prng, 0, 2);
        snprintf(a, sizeof a, "%lld", (long long)x);
        snprintf(b, sizeof b, "%lld", (long long)y);
        if (sign(version_compare(a, b)) != (x > y) - (x < y))
            fail_msg("%s against %s", a, b);
    }
}

static void test_no_version(void **state) {
    (void)state;
    static const char *const none[] = {NULL, "", "0", "x", "01"};
    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        assert_true(version_compare(none[i], "1") < 0);
        assert_true(version_compare("1", none[i]) > 0);
        for (size_t k = 0; k < ARRAY_LEN(none); k++)
            assert_int_equal(version_compare(none[i], none[k]), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_no_version),
    };
    return cmocka_run_group_tests_name("model/version", tests, NULL, NULL);
}
