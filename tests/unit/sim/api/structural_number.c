/* Numbers against a schema. */
#include "sim/api/structural_number.h"

#include <math.h>

#include "structural_test.h"

static void test_whole(void **state) {
    (void)state;
    assert_true(number_is_whole(0) && number_is_whole(1) && number_is_whole(-5));
    assert_true(number_is_whole(9007199254740991.0) && !number_is_whole(9007199254740992.0));
    assert_false(number_is_whole(1.5) || number_is_whole(0.1) || number_is_whole(-1.5));
    assert_true(number_is_whole(2.0000000001)); /* a rounding error */
    assert_false(number_is_whole(-2.0000000001));
    assert_false(number_is_whole((double)INFINITY) || number_is_whole((double)NAN));
}

static void test_to_int(void **state) {
    (void)state;
    assert_int_equal(number_to_int(1.9), 1);
    assert_int_equal(number_to_int(-1.9), -1);
    assert_true(number_to_int(1e300) == INT64_MIN && number_to_int(-1e300) == INT64_MIN);
    assert_true(number_to_int((double)NAN) == INT64_MIN);
}

static void check(const char *schema, const char *value, const char *wanted) {
    _cleanup_structural_ struct structural *s = compile_spec(schema);
    _cleanup_free_ char *text = xasprintf("{'spec':%s}", value);
    _cleanup_json_ json_t *obj = J(text);
    struct field_errors e = {0};
    structural_validate(s, obj, NULL, &e);
    assert_errors(&e, wanted);
}

static void test_bounds(void **state) {
    (void)state;
    static const char bounded[] =
        "{'type':'integer','maximum':10,'minimum':0,'exclusiveMinimum':true}";
    check(bounded, "10", "");
    check(bounded, "1", "");
    check(bounded, "11",
          "spec: Invalid value: 11: spec in body should be less than or equal to 10");
    check(bounded, "0", "spec: Invalid value: 0: spec in body should be greater than 0");
    check("{'type':'number','maximum':1000000,'exclusiveMaximum':true}", "2000000.5",
          "spec: Invalid value: 2.0000005e+06: spec in body should be less than 1e+06");
    /* an integer is compared with what is left of the bound */
    check("{'type':'number','maximum':1.5}", "2",
          "spec: Invalid value: 2: spec in body should be less than or equal to 1");
    check("{'type':'integer','maximum':1.5}", "2",
          "<nil>: Invalid value: \"\": Maximum boundary value must be of type integer (default "
          "format) in spec\n"
          "spec: Invalid value: 2: spec in body should be less than or equal to 1.5");
}

static void test_multiples(void **state) {
    (void)state;
    check("{'type':'integer','multipleOf':3}", "9", "");
    check("{'type':'integer','multipleOf':3}", "10",
          "spec: Invalid value: 10: spec in body should be a multiple of 3");
    check("{'type':'number','multipleOf':0.1}", "0.3", "");
    check("{'type':'number','multipleOf':0.5}", "0.7",
          "spec: Invalid value: 0.7: spec in body should be a multiple of 0.5");
    check("{'type':'number','multipleOf':0.5}", "2",
          "spec: Invalid value: 0: factor MultipleOf declared for spec must be positive: 0");
    check("{'type':'integer','multipleOf':-3}", "3",
          "spec: Invalid value: -3: factor MultipleOf declared for spec must be positive: -3");
}

static void test_ranges(void **state) {
    (void)state;
    check("{'type':'integer','format':'int32'}", "2147483647", "");
    check("{'type':'integer','format':'int32'}", "2147483648",
          "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in "
          "spec");
    check("{'type':'integer','format':'int64'}", "9223372036854775807", "");
    check("{'type':'number','format':'float'}", "1e38", "");
    check("{'type':'number','format':'float'}", "1e39",
          "<nil>: Invalid value: \"\": Checked value must be of type number with format float in "
          "spec");
    check("{'type':'number','format':'double'}", "1e300", "");
    check("{'type':'integer'}", "1e18",
          "spec: Invalid value: \"number\": spec in body must be of "
          "type integer: \"number\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),  cmocka_unit_test(test_to_int),
        cmocka_unit_test(test_bounds), cmocka_unit_test(test_multiples),
        cmocka_unit_test(test_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
