/* What the server says about bad label selectors. */
#include "sim/api/label_words.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_words(void **state) {
    (void)state;
    static const struct {
        const char *selector, *words; /* NULL: nothing */
    } rows[] = {
        {"", NULL},
        {"a", NULL},
        {"!a,b=c,d!=e,f in (g,h),i notin (j),k>1", NULL},
        {"a=", NULL},
        {"=b", "found '=', expected: !, identifier, or 'end of string'"},
        {"a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
        {"a=b c", "found 'c', expected: ',' or 'end of string'"},
        {"a,", "found '', expected: identifier after ','"},
        {"a in b", "unable to parse requirement: found 'b' expected: '('"},
        {"a in (b", "unable to parse requirement: found '', expected: ',' or ')'"},
        {"a>=1", "unable to parse requirement: found '=', expected: identifier"},
        {"a<x", "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' "
                "operators, the value must be an integer"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_str_ struct str out = STR_INIT;
        assert_int_equal(label_refusal(rows[i].selector, &out), rows[i].words != NULL);
        assert_string_equal(str_get(&out), rows[i].words ? rows[i].words : "");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
