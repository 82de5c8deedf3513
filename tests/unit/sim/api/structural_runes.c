/* Sets of characters. */
#include "sim/api/structural_runes.h"

#include "structural_test.h"

static void test_ranges(void **state) {
    (void)state;
    _cleanup_runes_ struct runes s = RUNES_INIT;
    assert_false(runes_has(&s, 'a'));
    runes_add(&s, 'm', 'p');
    runes_add(&s, 'a', 'c');
    runes_add(&s, 'd', 'd');
    runes_add(&s, 'n', 'z');
    runes_tidy(&s);
    assert_int_equal(s.len, 2); /* a-d touches, m-z overlaps */
    assert_true(runes_has(&s, 'a') && runes_has(&s, 'd') && runes_has(&s, 'z'));
    assert_false(runes_has(&s, 'e') || runes_has(&s, 'l') || runes_has(&s, '{'));
    runes_negate(&s);
    assert_true(runes_has(&s, 'e') && runes_has(&s, 0) && runes_has(&s, RUNE_MAX));
    assert_false(runes_has(&s, 'a') || runes_has(&s, 'z'));
}

static void test_negate_everything(void **state) {
    (void)state;
    _cleanup_runes_ struct runes s = RUNES_INIT;
    runes_negate(&s);
    assert_int_equal(s.len, 1);
    assert_true(runes_has(&s, 0) && runes_has(&s, RUNE_MAX));
    runes_negate(&s);
    assert_int_equal(s.len, 0);
}

static bool named_has(const char *name, uint32_t rune) {
    _cleanup_runes_ struct runes s = RUNES_INIT;
    assert_true(runes_add_named(&s, view_of(name)));
    runes_tidy(&s);
    return runes_has(&s, rune);
}

static void test_names(void **state) {
    (void)state;
    assert_true(named_has("L", 'a') && named_has("L", 0x3b1) && named_has("L", 0x4e00));
    assert_false(named_has("L", '1') || named_has("Lu", 'a'));
    assert_true(named_has("Lu", 'A') && named_has("Nd", '7') && named_has("Sm", '+'));
    assert_true(named_has("LC", 'a') && named_has("LC", 0x1c5) && !named_has("LC", 0x4e00));
    assert_true(named_has("Greek", 0x3b1) && !named_has("Greek", 'a'));
    assert_true(named_has("Han", 0x6f22) && named_has("Any", RUNE_MAX));
    assert_true(named_has("ASCII", 0x7f) && !named_has("ASCII", 0x80));
    assert_true(named_has("Assigned", 'a') && !named_has("Assigned", 0x378));
    assert_true(named_has("Cn", 0x378));
    /* spelling does not matter, aliases are known */
    assert_true(named_has("lu", 'A') && named_has("L_u", 'A') && named_has("GREEK", 0x3b1));
    assert_true(named_has("Uppercase_Letter", 'A') && named_has("punct", '!'));
    static const char *const unknown[] = {
        "", "Nope", "Old_Italic", "L&", "\xc3\xa9", "Luu", "A very long name that no category has"};
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
        _cleanup_runes_ struct runes s = RUNES_INIT;
        assert_false(runes_add_named(&s, view_of(unknown[i])));
        assert_int_equal(s.len, 0);
    }
}

static bool folds_to(uint32_t a, uint32_t b) {
    _cleanup_runes_ struct runes s = RUNES_INIT;
    runes_add(&s, a, a);
    runes_fold(&s);
    runes_tidy(&s);
    assert_true(runes_has(&s, a));
    return runes_has(&s, b);
}

static void test_case(void **state) {
    (void)state;
    assert_true(folds_to('a', 'A') && folds_to('A', 'a') && folds_to('z', 'Z'));
    assert_true(folds_to('k', 0x212a) && folds_to(0x212a, 'K') && folds_to('S', 0x17f));
    assert_true(folds_to(0xe9, 0xc9) && folds_to(0x3c3, 0x3c2) && folds_to(0x3c2, 0x3a3));
    assert_true(folds_to(0x10400, 0x10428) && folds_to(0x1e943, 0x1e921));
    assert_false(folds_to('1', '2') || folds_to('a', 'b') || folds_to(0xdf, 's'));
    assert_true(folds_to(0xdf, 0x1e9e)); /* sharp s */
}

static void test_one_category(void **state) {
    (void)state;
    assert_true(rune_in('a', 'L') && rune_in('$', 'S') && rune_in(' ', 'Z') && rune_in(0, 'C'));
    assert_true(rune_in(0x2603, 'S') && rune_in(RUNE_MAX, 'C') && rune_in(0x4e00, 'L'));
    assert_false(rune_in('1', 'L') || rune_in('a', 'S'));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),       cmocka_unit_test(test_negate_everything),
        cmocka_unit_test(test_names),        cmocka_unit_test(test_case),
        cmocka_unit_test(test_one_category),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
