/* Results of validating values. */
#include "sim/api/structural_result.h"

#include "structural_test.h"

static void test_paths(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    vpath_print(&out, NULL);
    assert_string_equal(str_get(&out), "");
    vpath_print(&out, SPATH_KEYED(SPATH_AT(SPATH_CHILD(NULL, "a"), 2), "k"));
    assert_string_equal(str_get(&out), "a[2].k");
    str_reset(&out);
    vpath_print(&out, SPATH_KEYED(NULL, "k"));
    assert_string_equal(str_get(&out), ".k");
}

static void test_report(void **state) {
    (void)state;
    struct vresult r = VRESULT_INIT;
    struct field_errors e = {0};
    verror_about(&r, FIELD_INVALID, SPATH_CHILD(NULL, "a"), "5", NULL, "should be %d", 7);
    verror_about(&r, FIELD_REQUIRED, SPATH_KEYED(NULL, "b"), NULL, "", "is required");
    verror_about(&r, FIELD_INVALID, NULL, NULL, NULL, "is odd");
    verror_plain(&r, "%s", "plain");
    vresult_report(&r, NULL, &e);
    assert_errors(&e, "a: Invalid value: 5: a in body should be 7\n"
                      "b: Required value\n"
                      "<nil>: Invalid value: \"\":  in body is odd\n"
                      "<nil>: Invalid value: \"\": plain");
    vresult_report(&r, SPATH_CHILD(NULL, "status"), &e);
    assert_errors(&e, "status.a: Invalid value: 5: a in body should be 7\n"
                      "status.b: Required value\n"
                      "status: Invalid value: \"\":  in body is odd\n"
                      "status: Invalid value: \"\": plain");
    vresult_done(&r);
    assert_true(vresult_ok(&r));
}

static void test_merge(void **state) {
    (void)state;
    struct vresult a = VRESULT_INIT, b = VRESULT_INIT;
    verror_plain(&b, "same");
    verror_plain(&b, "same");
    assert_int_equal(b.errors.len, 1);
    b.matches = 3;
    vresult_merge(&a, &b);
    assert_true(a.errors.len == 1 && a.matches == 3 && vresult_ok(&b) && b.matches == 0);
    verror_plain(&b, "same");
    verror_plain(&b, "other");
    vresult_merge(&a, &b);
    assert_int_equal(a.errors.len, 2);
    vresult_forgive(&a);
    assert_true(vresult_ok(&a) && a.matches == 3);
    vresult_done(&a);
    assert_int_equal(a.matches, 0);
}

static void test_bounded(void **state) {
    (void)state;
    struct vresult r = VRESULT_INIT;
    for (int i = 0; i < STRUCTURAL_MAX_ERRORS + 10; i++)
        verror_plain(&r, "%d", i);
    assert_int_equal(r.errors.len, STRUCTURAL_MAX_ERRORS);
    vresult_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
