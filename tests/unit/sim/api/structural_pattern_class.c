/* Sets of characters in patterns. */
#include <errno.h>

#include "sim/api/structural_pattern.h"
#include "sim/api/structural_pattern_internal.h"
#include "structural_test.h"

static struct parser parser_of(const char *text, unsigned flags) {
    return (struct parser){.text = text, .at = text, .end = text + strlen(text), .flags = flags};
}

/* The members of a class below U+0250, in order. */
static void check(const char *class, unsigned flags, const char *members) {
    struct parser p = parser_of(class, flags);
    _cleanup_runes_ struct runes set = RUNES_INIT;
    assert_int_equal(parser_class(&p, &set), 0);
    assert_ptr_equal(p.at, p.end);
    _cleanup_str_ struct str seen = STR_INIT;
    for (uint32_t c = 1; c < 0x80; c++)
        if (runes_has(&set, c))
            str_addc(&seen, (char)c);
    assert_string_equal(str_get(&seen), members);
}

static void test_members(void **state) {
    (void)state;
    check("[a-cx]", 0, "abcx");
    check("[]a]", 0, "]a");
    check("[a-]", 0, "-a");
    check("[-a]", 0, "-a");
    check("[\\d-x]", 0, "-0123456789x");
    check("[\\]\\\\]", 0, "\\]");
    check("[^\\x01-.0-\\x7e]", 0, "/\x7f");
    check("[[:digit:]_]", 0, "0123456789_");
    check("[[:^print:]]", 0,
          "\x01\x02\x03\x04\x05\x06\a\b\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19"
          "\x1a\x1b\x1c\x1d\x1e\x1f\x7f");
    check("[[:alpha]", 0, ":[ahlp"); /* not closed: brackets like others */
    check("[\\pN\\P{Any}]", 0, "0123456789");
    check("[k-l]", PATTERN_FOLD, "KLkl");
    check("[^\\W\\d_a-y]", PATTERN_FOLD, "Zz");
}

static void refused(const char *class, const char *why) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct parser p = parser_of(class, 0);
    p.err = &err;
    _cleanup_runes_ struct runes set = RUNES_INIT;
    assert_int_equal(parser_class(&p, &set), -EINVAL);
    assert_string_equal(err_msg(&err), why);
}

static void test_refused(void **state) {
    (void)state;
    refused("[", "error parsing regexp: missing closing ]: `[`");
    refused("[a-", "error parsing regexp: missing closing ]: `[a-`");
    refused("[^]", "error parsing regexp: missing closing ]: `[^]`");
    refused("[b-a]", "error parsing regexp: invalid character class range: `b-a`");
    refused("[a-\\d]", "error parsing regexp: invalid escape sequence: `\\d`");
    refused("[\\pX]", "error parsing regexp: invalid character class range: `\\pX`");
    refused("[[:nope:]]", "error parsing regexp: invalid character class range: `[:nope:]`");
    refused("[\\", "error parsing regexp: trailing backslash at end of expression: ``");
}

static void test_escapes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t rune;
    } cases[] = {{"\\a", '\a'},
                 {"\\v", '\v'},
                 {"\\.", '.'},
                 {"\\0", 0},
                 {"\\101", 'A'},
                 {"\\12", '\n'},
                 {"\\x4a", 'J'},
                 {"\\x{1F600}", 0x1f600},
                 {"\\-", '-'},
                 {"\\_", '_'},
                 {"\\x{10FFFF}", RUNE_MAX}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct parser p = parser_of(cases[i].text, 0);
        uint32_t rune = 1;
        assert_int_equal(parser_escape(&p, &rune), 0);
        assert_int_equal(rune, cases[i].rune);
        assert_ptr_equal(p.at, p.end);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
