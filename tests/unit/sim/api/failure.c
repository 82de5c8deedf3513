/* Status objects. */
#include "sim/api/failure.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_words(void **state) {
    (void)state;
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    assert_int_equal(fail_not_found(&f, "apps", "deployments", "x"), -1);
    assert_string_equal(f.message, "deployments.apps \"x\" not found");
    assert_int_equal(f.code, 404);
    fail_exists(&f, "", "pods", "p");
    assert_string_equal(f.message, "pods \"p\" already exists");
    fail_conflict(&f, "", "pods", "p", "why %d", 7);
    assert_string_equal(f.message, "Operation cannot be fulfilled on pods \"p\": why 7");
    fail_forbidden(&f, "apps", "deployments", "", "no");
    assert_string_equal(f.message, "deployments.apps is forbidden: no");
}

/* Names come from paths: they are quoted as Go quotes. */
static void test_odd_names(void **state) {
    (void)state;
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    fail_not_found(&f, "", "pods", "a\"b\n\xff");
    assert_string_equal(f.message, "pods \"a\\\"b\\n\\xff\" not found");
    fail_not_found(&f, "apps", "deployments", "");
    assert_string_equal(f.message, "deployments.apps \"\" not found");
}

static void shout(char *text) {
    *text = *text ? '!' : *text;
}

static void test_mended(void **state) {
    (void)state;
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    fail_bad_request(&f, "message");
    failure_cause(&f, "R", "cause", "field");
    failure_mend(&f, shout);
    assert_string_equal(f.message, "!essage");
    assert_string_equal(f.causes.p[0].message, "!ause");
    assert_string_equal(f.causes.p[0].field, "!ield");
}

static void test_document(void **state) {
    (void)state;
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    (fail)(&f, 429, "TooManyRequests", "slow down");
    failure_cause(&f, "DisruptionBudget", "none left", "");
    f.retry_after = 10;
    _cleanup_str_ struct str text = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &text, false);
    failure_print(&f, &w);
    assert_string_equal(str_get(&text),
                        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                        "\"Failure\",\"message\":\"slow down\",\"reason\":\"TooManyRequests\","
                        "\"details\":{\"causes\":[{\"reason\":\"DisruptionBudget\",\"message\":"
                        "\"none left\"}],\"retryAfterSeconds\":10},\"code\":429}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_document),
        cmocka_unit_test(test_odd_names),
        cmocka_unit_test(test_mended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
