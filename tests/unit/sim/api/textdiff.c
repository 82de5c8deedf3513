/* Tests of api/textdiff. What is expected was printed by Python's difflib.unified_diff(), without
 * the two lines that name the files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/api/textdiff.h"

static void expect_diff(const char *a, const char *b, const char *text) {
    _cleanup_str_ struct str out = STR_INIT;
    text_diff(a, b, 10000, &out);
    assert_string_equal(str_get(&out), text);
}

static void test_small(void **state) {
    (void)state;
    expect_diff("a\nb\nc", "a\nB\nc", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
    expect_diff("a", "a\nb", "@@ -1 +1,2 @@\n a\n+b\n");
    expect_diff("", "x", "@@ -1 +1 @@\n-\n+x\n");
    expect_diff("x\ny\nz", "p\nq", "@@ -1,3 +1,2 @@\n-x\n-y\n-z\n+p\n+q\n");
}

static void test_equal(void **state) {
    (void)state;
    expect_diff("", "", "");
    expect_diff("a\nb\n", "a\nb\n", "");
}

/* Three lines around a change, and two places when they are further apart than that. */
static void test_context(void **state) {
    (void)state;
    expect_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12", "1\n2\nX\n4\n5\n6\n7\n8\n9\n10\nY\n12",
                "@@ -1,6 +1,6 @@\n 1\n 2\n-3\n+X\n 4\n 5\n 6\n"
                "@@ -8,5 +8,5 @@\n 8\n 9\n 10\n-11\n+Y\n 12\n");
    expect_diff("1\n2\n3\n4\n5\n6\n7\n8\n9", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9",
                "@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n");
}

/* Of the runs that are equally long the first is what is common. */
static void test_choice(void **state) {
    (void)state;
    expect_diff("a\na\na\nb", "a\nb\na\na", "@@ -1,4 +1,4 @@\n+a\n+b\n a\n a\n-a\n-b\n");
}

/* Too much text is not compared: the time it takes grows with the square. */
static void test_limit(void **state) {
    _cleanup_str_ struct str out = STR_INIT;
    (void)state;
    text_diff("a\nb\nc", "a", 2, &out);
    assert_string_equal(str_get(&out), "");
    text_diff("a", "a\nb\nc", 2, &out);
    assert_string_equal(str_get(&out), "");
    text_diff("a\nb", "a", 2, &out);
    assert_string_equal(str_get(&out), "@@ -1,2 +1 @@\n a\n-b\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),  cmocka_unit_test(test_equal), cmocka_unit_test(test_context),
        cmocka_unit_test(test_choice), cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
