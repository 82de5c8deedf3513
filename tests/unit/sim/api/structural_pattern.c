/* The syntax of patterns: what Go accepts, and its words for what it does not. */
#include "sim/api/structural_pattern.h"

#include <errno.h>

#include "structural_test.h"

static void good(const char *text) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct pattern *p = NULL;
    if (pattern_compile(text, &p, &err))
        fail_msg("%s", err_msg(&err));
    pattern_free(p);
}

static void bad(const char *text, const char *why) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct pattern *p = NULL;
    assert_int_equal(pattern_compile(text, &p, &err), -EINVAL);
    assert_null(p);
    _cleanup_free_ char *wanted = xasprintf("error parsing regexp: %s", why);
    assert_string_equal(err_msg(&err), wanted);
    assert_int_equal(pattern_compile(text, &p, NULL), -EINVAL);
}

static void test_good(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "a|b",
        "(|)",
        "()",
        "a{,2}",
        "a{",
        "}",
        "{",
        "x{2}?",
        "^*",
        "$+",
        "\\b*",
        "[]a]",
        "[a-]",
        "[-a]",
        "[\\d-z]",
        "(?i)a",
        "(?-i)x",
        "(?U)x",
        "(?P<n>x)",
        "(?<n>x)",
        "\\Qa(b\\E",
        "\\Qx",
        "\\07",
        "\\x41",
        "\\_",
        "\\pL",
        "\\p{Lu}",
        "\\P{^Lu}",
        "\\p{han}",
        "[[:^digit:]]",
        "[[:alpha]",
        "a(?i)*",
        "a*(?i)*",
        "a{1000}",
        "(a{10}){100}",
        "\xc3\xa9+",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        good(texts[i]);
}

/* Go 1.26's regexp.Compile() said so. */
static void test_bad(void **state) {
    (void)state;
    bad("(", "missing closing ): `(`");
    bad("x(a", "missing closing ): `x(a`");
    bad("a)", "unexpected ): `a)`");
    bad("[a", "missing closing ]: `[a`");
    bad("x[]", "missing closing ]: `[]`");
    bad("[z-a]", "invalid character class range: `z-a`");
    bad("[[:foo:]]", "invalid character class range: `[:foo:]`");
    bad("*", "missing argument to repetition operator: `*`");
    bad("|*?", "missing argument to repetition operator: `*?`");
    bad("(?i)*", "missing argument to repetition operator: `*`");
    bad("a**", "invalid nested repetition operator: `**`");
    bad("a{1}{2}?b", "invalid nested repetition operator: `{1}{2}?`");
    bad("a{2,1}", "invalid repeat count: `{2,1}`");
    bad("a{1001}", "invalid repeat count: `{1001}`");
    bad("a{99999999999}", "invalid repeat count: `{99999999999}`");
    bad("(a{100}){11}", "invalid repeat count: `{11}`");
    bad("\\", "trailing backslash at end of expression: ``");
    bad("\\8", "invalid escape sequence: `\\8`");
    bad("\\1", "invalid escape sequence: `\\1`");
    bad("\\C", "invalid escape sequence: `\\C`");
    bad("\\x{110000}", "invalid escape sequence: `\\x{110000`");
    bad("\\x{}", "invalid escape sequence: `\\x{}`");
    bad("\\xg", "invalid escape sequence: `\\xg`");
    bad("\\p", "invalid character class range: `\\p`");
    bad("\\pX", "invalid character class range: `\\pX`");
    bad("\\p{Nope}", "invalid character class range: `\\p{Nope}`");
    bad("\\p{Lu", "invalid character class range: `\\p{Lu`");
    bad("(?=x)", "invalid or unsupported Perl syntax: `(?=`");
    bad("(?<=x)", "invalid named capture: `(?<=x)`");
    bad("(?<=x>)", "invalid named capture: `(?<=x>`");
    bad("(?i-)", "invalid or unsupported Perl syntax: `(?i-)`");
    bad("(?", "invalid or unsupported Perl syntax: `(?`");
    bad("(?P<a b>x)", "invalid named capture: `(?P<a b>`");
    bad("\xff", "invalid UTF-8: `\xff`");
}

static void test_limits(void **state) {
    (void)state;
    struct str deep = STR_INIT;
    for (int i = 0; i < 5000; i++)
        str_addc(&deep, '(');
    _cleanup_err_ struct err err = ERR_INIT;
    struct pattern *p;
    assert_int_equal(pattern_compile(str_get(&deep), &p, &err), -EINVAL);
    assert_true(
        str_starts(err_msg(&err), "error parsing regexp: expression nests too deeply: `(("));
    str_reset(&deep);
    /* many flags between: repetitions within repetitions */
    str_addc(&deep, 'a');
    for (int i = 0; i < 1500; i++)
        str_add(&deep, "*(?i)");
    assert_int_equal(pattern_compile(str_get(&deep), &p, &err), -EINVAL);
    str_reset(&deep);
    /* 101 thousand instructions; a hundred thousand classes of letters */
    for (int i = 0; i < 101; i++)
        str_add(&deep, "a{1000}");
    assert_int_equal(pattern_compile(str_get(&deep), &p, &err), -EINVAL);
    assert_non_null(strstr(err_msg(&err), "expression too large"));
    str_reset(&deep);
    for (int i = 0; i < 5000; i++)
        str_add(&deep, "\\pL");
    assert_int_equal(pattern_compile(str_get(&deep), &p, &err), -EINVAL);
    assert_non_null(strstr(err_msg(&err), "expression too large"));
    str_done(&deep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
