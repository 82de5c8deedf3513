/* Tests of cli/drain_line: columns, cuts, filling, rows. */
#include "cli/drain_line.h"

#include "drain_sample.h"

#include "base/utf8.h"

static const struct screen narrow = {.columns = 11, .utf8 = true};

static void columns(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    struct screen s = {.columns = 80};
    struct line l = line_begin(&out, &s);
    line_put(&l, STYLE_RED, "ab");
    line_to(&l, 5);
    line_to(&l, 3); /* it is past that */
    line_put(&l, STYLE_NONE, "c ");
    line_skip(&l, 1);
    line_putf(&l, STYLE_NONE, "%d", 7);
    line_put(&l, STYLE_NONE, "");
    line_skip(&l, 9);
    line_end(&l);
    assert_string_equal(str_get(&out), "ab   c  7\n");
}

static void styles(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    struct screen s = {.columns = 80, .color = true};
    struct line l = line_begin(&out, &s);
    line_put(&l, STYLE_RED, "a ");
    line_put(&l, STYLE_NONE, "b");
    line_put(&l, STYLE_RED, "  "); /* nothing to colour */
    line_end(&l);
    assert_string_equal(str_get(&out), "\033[31ma\033[0m b\n");
}

static void cuts(void **state) {
    (void)state;
    static const struct {
        const char *text, *utf8, *ascii;
    } rows[] = {
        {"0123456789", "0123456789", "0123456789"}, /* one column less than there are */
        {"0123456789a", "012345678\u2026", "0123456..."},
        {"\u65e5\u672c\u8a9e\u65e5\u672c", "\u65e5\u672c\u8a9e\u65e5\u672c",
         "\u65e5\u672c\u8a9e\u65e5\u672c"},
        {"\u65e5\u672c\u8a9e\u65e5\u672c\u8a9e", "\u65e5\u672c\u8a9e\u65e5\u2026",
         "\u65e5\u672c\u8a9e..."},
        {"a\nb\033", "a\\nb\\x1b", "a\\nb\\x1b"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (int utf8 = 0; utf8 < 2; utf8++) {
            _cleanup_str_ struct str out = STR_INIT;
            struct screen s = {.columns = 11, .utf8 = utf8};
            struct line l = line_begin(&out, &s);
            line_put(&l, STYLE_NONE, rows[i].text);
            assert_string_equal(str_get(&out), utf8 ? rows[i].utf8 : rows[i].ascii);
        }
    }
}

/* After a cut nothing follows: it would seem to belong to what was cut. */
static void nothing_after_a_cut(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    struct line l = line_begin(&out, &narrow);
    line_put(&l, STYLE_NONE, "01234567 89ab");
    line_put(&l, STYLE_NONE, "x");
    assert_int_equal(line_room(&l), 0);
    line_end(&l);
    assert_string_equal(str_get(&out), "01234567 \u2026\n");
}

/* A column that is full is no end. */
static void at_most(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    struct line l = line_begin(&out, &narrow);
    line_put_max(&l, STYLE_NONE, "abcdefgh", 4);
    assert_int_equal(line_room(&l), 6);
    line_to(&l, 5);
    line_put(&l, STYLE_NONE, "x");
    assert_string_equal(str_get(&out), "abc\u2026 x");
}

static void tiny(void **state) {
    (void)state;
    for (int c = -1; c < 5; c++) {
        for (int utf8 = 0; utf8 < 2; utf8++) {
            _cleanup_str_ struct str out = STR_INIT;
            struct screen s = {.columns = c, .utf8 = utf8};
            struct line l = line_begin(&out, &s);
            line_put(&l, STYLE_NONE, "abcdef");
            line_fill(&l, STYLE_NONE, "abc def ghi", 3, 4);
            line_end(&l);
            const char *p = str_get(&out);
            for (size_t n; *p; p += n + 1) {
                n = strcspn(p, "\n");
                _cleanup_free_ char *line = xstrndup(p, n);
                assert_in_range(utf8_width(line), 0, MAX_OF(c - 1, 1));
            }
        }
    }
}

/* Accents without end take no column; a terminal still does not get them all. */
static void flood(void **state) {
    (void)state;
    _cleanup_str_ struct str text = STR_INIT, out = STR_INIT;
    for (int i = 0; i < 10000; i++)
        str_add(&text, i ? "\u0301" : "e");
    struct line l = line_begin(&out, &narrow);
    line_put(&l, STYLE_NONE, str_get(&text));
    assert_in_range(out.len, 1, 200);
    assert_true(utf8_valid(str_get(&out), out.len));
}

static void filling(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t lines;
        const char *want;
        size_t begun;
    } rows[] = {
        {"ab cd", 3, "> ab cd", 0},
        {"ab cd efgh i", 3, "> ab cd\n  efgh i", 1},
        {"ab   cd   ", 3, "> ab   cd", 0},
        {"ab cd efgh ijkl mn", 2, "> ab cd\n  efgh ij\u2026", 1},
        {"ab cdefghijklmn", 3, "> ab\n  cdefghi\u2026", 1}, /* no line is long enough */
        {"", 3, ">", 0},
        {"   ", 3, ">", 0},
        {"ab cd efgh", 1, "> ab cd e\u2026", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_str_ struct str out = STR_INIT;
        struct line l = line_begin(&out, &narrow);
        line_put(&l, STYLE_NONE, "> ");
        assert_int_equal(line_fill(&l, STYLE_NONE, rows[i].text, 2, rows[i].lines), rows[i].begun);
        assert_string_equal(str_get(&out), rows[i].want);
    }
    /* A word that does not fit here but does below goes there whole. */
    _cleanup_str_ struct str out = STR_INIT;
    struct line l = line_begin(&out, &narrow);
    line_put(&l, STYLE_NONE, "012345 ");
    assert_int_equal(line_fill(&l, STYLE_NONE, "abcdef", 1, 2), 1);
    assert_string_equal(str_get(&out), "012345\n abcdef");
}

static void rows_of(void **state) {
    (void)state;
    assert_int_equal(line_rows("", 10), 0);
    assert_int_equal(line_rows("\n", 10), 1);
    assert_int_equal(line_rows("0123456789\n", 10), 1);
    assert_int_equal(line_rows("0123456789a\n\n", 10), 3);
    assert_int_equal(line_rows("\033[31m0123456789\033[0m\n", 10), 1);
    assert_int_equal(line_rows("\u65e5\u672c\u8a9e\n", 4), 2);
    assert_int_equal(line_rows("abc\n", 0), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns), cmocka_unit_test(styles),
        cmocka_unit_test(cuts),    cmocka_unit_test(nothing_after_a_cut),
        cmocka_unit_test(at_most), cmocka_unit_test(tiny),
        cmocka_unit_test(flood),   cmocka_unit_test(filling),
        cmocka_unit_test(rows_of),
    };
    return cmocka_run_group_tests(tests, use_utf8, NULL);
}
