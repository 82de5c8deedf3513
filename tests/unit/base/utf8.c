/* Tests of base/utf8.c. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"

/* By the book: RFC 3629. */
static size_t encode(uint32_t c, char *out) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* All of them, and none that is cut short. */
static void test_every_character(void **state) {
    (void)state;
    for (uint32_t c = 0; c < 0x200000; c++) {
        char s[4];
        size_t n = encode(c, s);
        bool good = c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
        if (utf8_len(s, n) != (good ? n : 0))
            fail_msg("U+%X", c);
        if (good && utf8_decode(s, n) != c)
            fail_msg("U+%X is read as U+%X", c, utf8_decode(s, n));
        if (utf8_valid(s, n) != good)
            fail_msg("U+%X", c);
        for (size_t cut = 0; good && cut < n; cut++)
            if (utf8_len(s, cut) != 0)
                fail_msg("U+%X cut to %zu", c, cut);
    }
}

/* Of all byte pairs and triples, exactly the encodings are valid. */
static void test_every_short_sequence(void **state) {
    (void)state;
    unsigned valid2 = 0, valid3 = 0;
    for (uint32_t v = 0; v < 0x1000000; v++) {
        char s[3] = {(char)(v >> 16), (char)(v >> 8), (char)v};
        valid3 += utf8_len(s, 3) == 3;
        if (!(v & 0xff))
            valid2 += utf8_len(s, 2) == 2;
    }
    assert_int_equal(valid2, 0x800 - 0x80);
    assert_int_equal(valid3, 0x10000 - 0x800 - 0x800);
}

static void test_invalid(void **state) {
    (void)state;
    static const char *const bad[] = {
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xc2",
        "\xe0\x80\x80",
        "\xe0\x9f\xbf",
        "\xed\xa0\x80",
        "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xfe",
        "\xff",
        "\xc3(",
        "\xe2\x82(",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char padded[64];
        assert_int_equal(utf8_len(bad[i], strlen(bad[i])), 0);
        /* Also anywhere around the eight bytes that are looked at together. */
        for (size_t at = 0; at < 20; at++) {
            memset(padded, 'a', sizeof padded);
            memcpy(padded + at, bad[i], strlen(bad[i]));
            assert_false(utf8_valid(padded, at + strlen(bad[i])));
            assert_false(utf8_valid(padded, 40));
        }
    }
    assert_true(utf8_valid("", 0));
    assert_true(utf8_valid("a\0b", 3));
    assert_true(utf8_valid("plain text that is longer than eight bytes", 42));
}

static void cleaned(const char *bytes, size_t len, const char *expected) {
    _cleanup_str_ struct str out = STR_INIT;
    utf8_clean(&out, bytes, len);
    assert_string_equal(str_get(&out), expected);
    assert_true(utf8_valid(str_get(&out), out.len));
}

static void test_clean(void **state) {
    (void)state;
    cleaned("", 0, "");
    cleaned("é\xe2\x82\xac", 5, "é€");
    cleaned("a\xff"
            "b",
            3, "a" UTF8_REPLACEMENT "b");
    cleaned("a\0b", 3, "a" UTF8_REPLACEMENT "b");
    cleaned("\xe2\x82", 2, UTF8_REPLACEMENT UTF8_REPLACEMENT);
}

static void test_random_bytes(void **state) {
    (void)state;
    srandom(4);
    for (int i = 0; i < 20000; i++) {
        char bytes[40];
        size_t n = (size_t)random() % sizeof bytes;
        for (size_t j = 0; j < n; j++)
            bytes[j] = random() % 3 ? (char)(0xc0 + random() % 64) : (char)random();
        _cleanup_str_ struct str clean = STR_INIT, shown = STR_INIT;
        utf8_clean(&clean, bytes, n);
        assert_true(utf8_valid(str_get(&clean), clean.len));
        assert_int_equal(strlen(str_get(&clean)), clean.len);
        bytes[n < sizeof bytes ? n : n - 1] = '\0';
        utf8_printable(&shown, bytes);
        assert_true(utf8_valid(str_get(&shown), shown.len));
        for (size_t j = 0; j < shown.len; j++)
            assert_true((unsigned char)shown.p[j] >= 0x20 && shown.p[j] != 0x7f);
    }
}

static void test_width(void **state) {
    (void)state;
    if (!setlocale(LC_CTYPE, "C.UTF-8")) {
        print_message("# skip: this machine has no locale C.UTF-8\n");
        skip();
    }
    assert_int_equal(utf8_width(""), 0);
    assert_int_equal(utf8_width("node-1"), 6);
    assert_int_equal(utf8_width("é"), 1);
    assert_int_equal(utf8_width("e\xcc\x81"), 1);        /* e and a combining accent */
    assert_int_equal(utf8_width("\xe8\x88\xb9"), 2);     /* a wide character */
    assert_int_equal(utf8_width("\xf0\x9f\x9a\xa2"), 2); /* an emoji */
    assert_int_equal(utf8_width("a\tb\x1b\x7f"), 2);     /* control characters */
    assert_int_equal(utf8_width("a\xc2\x9b"
                                "b"),
                     2);                         /* one of the upper ones */
    assert_int_equal(utf8_width("\xff\xe2"), 2); /* shown as U+FFFD */
    setlocale(LC_CTYPE, "C");
    assert_int_equal(utf8_width("é"), 1);
    assert_int_equal(utf8_width("\xc2\x9b"), 0);
}

static void printed(const char *text, const char *expected) {
    _cleanup_str_ struct str out = STR_INIT;
    utf8_printable(&out, text);
    assert_string_equal(str_get(&out), expected);
}

static void test_printable(void **state) {
    (void)state;
    printed("", "");
    printed("plain é \xe8\x88\xb9 \\ text", "plain é \xe8\x88\xb9 \\ text");
    printed("a\nb\tc\rd", "a\\nb\\tc\\x0dd");
    printed("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m");
    printed("\x7f\x01", "\\x7f\\x01");
    printed("\xc2\x9b"
            "31m",
            "\\u{9b}31m"); /* the one-character form of ESC [ */
    printed("\xc2\x80\xc2\x9f\xc2\xa0", "\\u{80}\\u{9f}\xc2\xa0"); /* up to the no-break space */
    printed("\xe2\x80\xae", "\\u{202e}");                          /* right-to-left override */
    printed("\xe2\x81\xa6", "\\u{2066}");                          /* left-to-right isolate */
    printed("\xd8\x9c", "\\u{61c}");                               /* Arabic letter mark */
    printed("\xe2\x80\x8f", "\\u{200f}");
    printed("\xe2\x80\xa8", "\\u{2028}"); /* line separator */
    printed("\xef\xbb\xbf", "\\u{feff}"); /* byte order mark */
    printed("\xff\xc0\x80", "\\xff\\xc0\\x80");
    printed("\xe2\x80\x94", "\xe2\x80\x94"); /* a dash is harmless */
}

/* Exactly these, of all characters. */
static void test_unsafe(void **state) {
    (void)state;
    static const struct {
        uint32_t first, last;
    } unsafe[] = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},  {0x200e, 0x200f},
                  {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfeff, 0xfeff}};
    size_t row = 0;
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        while (row < sizeof unsafe / sizeof unsafe[0] && c > unsafe[row].last)
            row++;
        bool want = row < sizeof unsafe / sizeof unsafe[0] && c >= unsafe[row].first;
        if (utf8_unsafe(c) != want)
            fail_msg("U+%X", c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_character), cmocka_unit_test(test_every_short_sequence),
        cmocka_unit_test(test_invalid),         cmocka_unit_test(test_clean),
        cmocka_unit_test(test_random_bytes),    cmocka_unit_test(test_width),
        cmocka_unit_test(test_printable),       cmocka_unit_test(test_unsafe),
    };
    return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
