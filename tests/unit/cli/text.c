/* Tests of cli/text: filling, markup. */
#include "cli/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/utf8.h"

static void expands(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    text_expand(&s, "{prog} a {prog}, {program}{prog", "kubectl slipway");
    assert_string_equal(str_get(&s), "kubectl slipway a kubectl slipway, {program}{prog");
}

static void fills(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    text_fill(&s, "  a  b\nc ", 0, 0);
    assert_string_equal(str_get(&s), "a b c\n");
    str_reset(&s);
    text_fill(&s, "", 0, 4);
    assert_string_equal(str_get(&s), "\n");

    /* Exactly 80 columns fit, 81 do not. */
    char word[41];
    memset(word, 'x', 40);
    word[40] = '\0';
    _cleanup_str_ struct str text = STR_INIT;
    str_addf(&text, "%.39s %s", word, word);
    str_reset(&s);
    text_fill(&s, str_get(&text), 0, 2);
    assert_int_equal(s.len, 81);
    assert_ptr_equal(strchr(str_get(&s), '\n'), s.p + 80);
    str_reset(&s);
    text_fill(&s, str_get(&text), 1, 2);
    assert_string_equal(strchr(str_get(&s), '\n'),
                        "\n  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n");
}

static void long_words_stay_whole(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT, text = STR_INIT;
    for (int i = 0; i < 100; i++)
        str_addc(&text, 'y');
    text_fill(&s, str_get(&text), 0, 2);
    assert_int_equal(s.len, 101);
    /* Columns count, not bytes. */
    str_reset(&s);
    str_reset(&text);
    for (int i = 0; i < 40; i++)
        str_add(&text, "\xc3\xa9 ");
    text_fill(&s, str_get(&text), 0, 0);
    assert_int_equal(utf8_width(str_get(&s)), 79);
    assert_ptr_equal(strchr(str_get(&s), '\n'), s.p + s.len - 1);
}

static void blocks(void **state) {
    (void)state;
    _cleanup_str_ struct str block = STR_INIT;
    bool literal;
    const char *p = "\n\none\ntwo\n\n  lit 1\n  lit 2\nafter\n";
    assert_true(text_block(&p, &block, &literal));
    assert_string_equal(str_get(&block), "one\ntwo");
    assert_false(literal);
    assert_true(text_block(&p, &block, &literal));
    assert_string_equal(str_get(&block), "  lit 1\n  lit 2");
    assert_true(literal);
    assert_true(text_block(&p, &block, &literal));
    assert_string_equal(str_get(&block), "after");
    assert_false(text_block(&p, &block, &literal));
    assert_false(text_block(&p, &block, &literal));
}

static void paragraphs(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    text_add(&s, "One\n{prog}.\n\n  literal   {prog}\n\nTwo.", "p", 2);
    assert_string_equal(str_get(&s), "  One p.\n\n    literal   p\n\n  Two.\n");
}

/* No line is wider than the terminal, unless a single word is. */
static void fills_narrow_terminals(void **state) {
    (void)state;
    assert_int_equal(text_width(true, 40), 40);
    assert_int_equal(text_width(true, 200), TEXT_WIDTH);
    assert_int_equal(text_width(false, 40), TEXT_WIDTH);
    assert_int_equal(text_width(true, 3), 20);
    _cleanup_str_ struct str s = STR_INIT;
    str_add(&s, "x CODE ");
    text_fill_to(&s, "a-long-name and more", 7, 4, 16);
    assert_string_equal(str_get(&s), "x CODE\n    a-long-name\n    and more\n");
    /* A word that fits only without the indent has less of it; what was only indented is no line.
     */
    str_reset(&s);
    str_add(&s, "one\n    ");
    text_fill_to(&s, "abcdefghijklmnop x", 4, 4, 18);
    assert_string_equal(str_get(&s), "one\n  abcdefghijklmnop\n    x\n");
    str_reset(&s);
    text_fill_to(&s, "a abcdefghijklmnopqrstuvwxyz b", 0, 2, 20);
    assert_string_equal(str_get(&s), "a\n  abcdefghijklmnopqrstuvwxyz\n  b\n");
}

static void breaks_commands(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    text_command(&s, "kubectl -n a patch pdb b -p '{\"x\": 1}'", 2, 80);
    assert_string_equal(str_get(&s), "  kubectl -n a patch pdb b -p '{\"x\": 1}'\n");
    str_reset(&s);
    text_command(&s, "kubectl -n a patch pdb b -p '{\"x\": 1}'", 2, 20);
    assert_string_equal(str_get(&s),
                        "  kubectl -n a \\\n    patch pdb b -p \\\n    '{\"x\": 1}'\n");
    str_reset(&s);
    text_command(&s, "run '{\"long\": \"words\"}'", 4, 20);
    assert_string_equal(str_get(&s), "    run \\\n '{\"long\": \"words\"}'\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expands),
        cmocka_unit_test(fills),
        cmocka_unit_test(long_words_stay_whole),
        cmocka_unit_test(fills_narrow_terminals),
        cmocka_unit_test(breaks_commands),
        cmocka_unit_test(blocks),
        cmocka_unit_test(paragraphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
