/* Matching patterns. */
#include <errno.h>

#include "base/prng.h"
#include "sim/api/structural_pattern.h"
#include "structural_test.h"

static int match(const char *pattern, const char *text) {
    struct pattern *p;
    assert_int_equal(pattern_compile(pattern, &p, NULL), 0);
    int rc = pattern_match(p, view_of(text));
    pattern_free(p);
    return rc;
}

/* Facts from Go. */
static void test_matches(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *yes, *no;
    } cases[] = {
        {"", "anything", NULL},
        {"b", "abc", "ac"},
        {"^b", "bc", "abc"},
        {"b$", "ab", "abc"},
        {"^$", "", "a"},
        {"a|b", "b", "c"},
        {"^(a|ab)(c|bcd)$", "abcd", "abd"},
        {"^a{2,3}$", "aaa", "aaaa"},
        {"^a{2,}$", "aaaaa", "a"},
        {"^a{0,2}b$", "b", "aaab"},
        {"^(ab){2}$", "abab", "ab"},
        {"^(a*)*$", "aaa", "b"},
        {"^a+?$", "aa", ""},
        {"^.$", "\xc3\xa9", "ab"}, /* one character, two bytes */
        {"^.$", "a", "\n"},
        {"(?s)^.$", "\n", NULL},
        {"(?m)^b$", "a\nb\nc", "ab"},
        {"^b$", "b", "a\nb"},
        {"\\Ab\\z", "b", "b\n"},
        {"\\bfoo\\b", "a foo b", "food"},
        {"o\\B", "foo", "o o"},
        {"(?i)^abc$", "aBC", "abd"},
        {"(?i)k", "\xe2\x84\xaa", "x"}, /* the Kelvin sign */
        {"a(?i)b", "aB", "AB"},
        {"(?i:a)b", "Ab", "AB"},
        {"^[^a-c]+$", "xyz", "xbz"},
        {"^\\w+@\\w+$", "a_1@b", "a-b@c"},
        {"^\\D\\S\\W$", "ab-", "1b-"},
        {"^[[:alpha:]_]+$", "aZ_", "a1"},
        {"^\\p{Greek}+$", "\xce\xb1\xcf\x89", "a"},
        {"^\\PL$", "1", "a"},
        {"^\\Qa.b\\E$", "a.b", "axb"},
        {"^\\x41\\101$", "AA", "Aa"},
        {"x{0}y", "y", "x"},
        {"a{,2}", "a{,2}", "aa"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (match(cases[i].pattern, cases[i].yes) != 1)
            fail_msg("%s does not match %s", cases[i].pattern, cases[i].yes);
        if (cases[i].no && match(cases[i].pattern, cases[i].no) != 0)
            fail_msg("%s matches %s", cases[i].pattern, cases[i].no);
    }
}

static void test_bytes_that_are_no_text(void **state) {
    (void)state;
    struct pattern *p;
    assert_int_equal(pattern_compile("^a.b$", &p, NULL), 0);
    assert_int_equal(pattern_match(p, (struct view){"a\xff"
                                                    "b",
                                                    3}),
                     1);
    assert_int_equal(pattern_match(p, (struct view){"a\0b", 3}), 1);
    assert_int_equal(pattern_match(p, (struct view){"", 0}), 0);
    pattern_free(p);
}

/* What makes backtracking take for ever. */
static void test_hostile(void **state) {
    (void)state;
    struct str text = STR_INIT;
    for (int i = 0; i < 20000; i++)
        str_addc(&text, 'a');
    assert_int_equal(match("^(a|a)*b$", str_get(&text)), 0);
    assert_int_equal(match("^(a+)+$", str_get(&text)), 1);
    assert_int_equal(match("(a*)*(a*)*(a*)*b", str_get(&text)), 0);
    str_reset(&text);
    struct prng random = {1};
    for (int i = 0; i < 20000; i++)
        str_addc(&text, "ab"[prng_next(&random) & 1]);
    assert_int_equal(match("^(a|b)*a(a|b){800}c$", str_get(&text)), 0);
    str_done(&text);
}

/* Too much to do: it says so instead of a verdict. */
static void test_gives_up(void **state) {
    (void)state;
    struct str text = STR_INIT;
    for (int i = 0; i < 4000; i++)
        str_addc(&text, 'a');
    struct str pattern = STR_INIT;
    for (int i = 0; i < 30; i++)
        str_add(&pattern, "a{0,1000}");
    str_addc(&pattern, 'b');
    assert_int_equal(match(str_get(&pattern), str_get(&text)), -E2BIG);
    str_done(&text);
    str_done(&pattern);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches),
        cmocka_unit_test(test_bytes_that_are_no_text),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_gives_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
