/* Tests of api/strategy_job_policy: policies of Jobs, and lists of indexes. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_job_policy");
}

/* TestValidateIndexesString() of pkg/apis/batch/validation, and more. */
static void test_indexes(void **state) {
    static const struct {
        const char *text;
        int64_t completions, total;
        const char *why;
    } cases[] = {
        {"", 6, 0, ""},
        {"1", 6, 1, ""},
        {"1-3", 6, 3, ""},
        {"0,1-3,5,7-10", 12, 9, ""},
        {"+1", 6, 1, ""},
        {"0,1-3, 5", 6, -1, "cannot convert string to integer for index: \" 5\""},
        {"0,1-3,5", 5, -1, "too large index: \"5\""},
        {"1-3,0,5", 6, -1, "non-increasing order, previous: 3, current: 0"},
        {"0,0,5", 6, -1, "non-increasing order, previous: 0, current: 0"},
        {"0,1-1,5", 6, -1, "non-increasing order, previous: 1, current: 1"},
        {"-1,0", 6, -1, "cannot convert string to integer for index: \"\""},
        {"0,1-", 6, -1, "cannot convert string to integer for index: \"\""},
        {"0,1--3", 6, -1,
         "the fragment \"1--3\" violates the requirement that an index interval can have at most "
         "two parts separated by '-'"},
        {"0,,1,3", 6, -1, "cannot convert string to integer for index: \"\""},
        {",", 6, -1, "cannot convert string to integer for index: \"\""},
        {"0,", 6, -1, "cannot convert string to integer for index: \"\""},
        {"99999999999999999999999", 6, -1,
         "cannot convert string to integer for index: \"99999999999999999999999\""},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_str_ struct str why = STR_INIT;
        if (count_indexes(cases[i].text, cases[i].completions, &why) != cases[i].total)
            fail_msg("%s", cases[i].text);
        assert_string_equal(str_get(&why), cases[i].why);
    }
}

static void test_exit_codes(void **state) {
    _cleanup_json_ json_t *spec = expect_json(
        "{'podFailurePolicy':{'rules':[{'action':'FailJob','onExitCodes':{'operator':'In',"
        "'values':[2,1,2,0]}},{'action':'Odd'}]}}");
    struct field_errors e = {0};
    struct at at = at_root(spec);
    (void)state;
    check_failure_policy(&e, &at);
    expect_errors(&e,
                  "podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 2\n"
                  "podFailurePolicy.rules[0].onExitCodes.values[3]: Invalid value: 0: must not be "
                  "0 for the In operator\n"
                  "podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,1,2,0]: must be "
                  "ordered\n"
                  "podFailurePolicy.rules[1].action: Unsupported value: \"Odd\": supported values: "
                  "\"Count\", \"FailIndex\", \"FailJob\", \"Ignore\"\n"
                  "podFailurePolicy.rules[1]: Invalid value: specifying one of OnExitCodes and "
                  "OnPodConditions is required");
}

static void test_success(void **state) {
    _cleanup_json_ json_t *spec = expect_json(
        "{'completions':5,'successPolicy':{'rules':[{'succeededIndexes':'0-2','succeededCount':4},"
        "{}]}}");
    struct field_errors e = {0};
    struct at at = at_root(spec);
    (void)state;
    check_success_policy(&e, &at, true);
    expect_errors(&e, "successPolicy.rules[0].succeededCount: Invalid value: 4: must be less than "
                      "or equal to 3 (the number of indexes in the specified succeededIndexes "
                      "field)\n"
                      "successPolicy.rules[1]: Required value: at least one of succeededCount or "
                      "succeededIndexes must be specified");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_indexes),
        cmocka_unit_test(test_exit_codes),
        cmocka_unit_test(test_success),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
