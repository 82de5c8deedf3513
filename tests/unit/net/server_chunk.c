/* Tests of net/server_chunk.c. */
#include "net/server_chunk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

/* Feeds it in pieces of `piece` bytes, each a copy of its own. */
static enum http_chunk_result feed(const char *text, size_t len, size_t piece, size_t max,
                                   struct str *body, size_t *total) {
    struct http_chunks c = {0};
    *total = 0;
    while (*total < len) {
        size_t n = MIN_OF(piece, len - *total), used = SIZE_MAX;
        char *copy = xmemdup(text + *total, n);
        enum http_chunk_result r = http_chunks_feed(&c, copy, n, body, max, &used);
        free(copy);
        assert_true(used <= n);
        assert_true(body->len <= max);
        *total += used;
        if (r != HTTP_CHUNK_MORE)
            return r;
        assert_int_equal(used, n);
    }
    return HTTP_CHUNK_MORE;
}

static void expect(const char *text, enum http_chunk_result want, const char *data, size_t end) {
    for (size_t piece = 1; piece <= strlen(text) + 1; piece++) {
        _cleanup_str_ struct str body = STR_INIT;
        size_t total;
        enum http_chunk_result r = feed(text, strlen(text), piece, 20, &body, &total);
        if (r != want)
            print_error("%s in pieces of %zu\n", text, piece);
        assert_int_equal(r, want);
        assert_string_equal(str_get(&body), data);
        if (r == HTTP_CHUNK_DONE)
            assert_int_equal(total, end);
    }
}

static void test_good(void **state) {
    (void)state;
    expect("0\r\n\r\n", HTTP_CHUNK_DONE, "", 5);
    expect("5\r\nhello\r\n0\r\n\r\n", HTTP_CHUNK_DONE, "hello", 15);
    expect("5\r\nhello\r\n0\r\n\r\nGET", HTTP_CHUNK_DONE, "hello", 15);
    expect("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", HTTP_CHUNK_DONE, "hello world", 26);
    expect("a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", HTTP_CHUNK_DONE,
           "01234567890123456789", 35);
    expect("0005\r\nhello\r\n00\r\n\r\n", HTTP_CHUNK_DONE, "hello", 19);
    expect("5;a=b\r\nhello\r\n0;x\r\n\r\n", HTTP_CHUNK_DONE, "hello", 21);
    expect("5 \r\nhello\r\n0\t\r\n\r\n", HTTP_CHUNK_DONE, "hello", 17);
    expect("0\r\nA: b\r\nC:\r\n\r\n", HTTP_CHUNK_DONE, "", 15);
    expect("4\r\n\r\n\r\n\r\n0\r\n\r\n", HTTP_CHUNK_DONE, "\r\n\r\n", 14);
}

static void test_unfinished(void **state) {
    (void)state;
    expect("5", HTTP_CHUNK_MORE, "", 0);
    expect("5\r\nhel", HTTP_CHUNK_MORE, "hel", 0);
    expect("5\r\nhello\r\n0\r\n", HTTP_CHUNK_MORE, "hello", 0);
    expect("0\r\nA: b\r\n", HTTP_CHUNK_MORE, "", 0);
}

static void test_bad(void **state) {
    (void)state;
    static const char *const bad[] = {
        "\r\n",      "x\r\n",   "-1\r\n",   "+1\r\n",        " 1\r\n", "0x1\r\n",
        "\n",        "1\n",     ";\r\n",    "1;a\nb\r\n",    "1\rx",   "g",
        "0\r\n\r\r", "0\r\n\n", "0\r\nA\n", "0\r\nA: b\r\r", "0\r\r",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        expect(bad[i], HTTP_CHUNK_BAD, "", 0);
    expect("1\r\nab", HTTP_CHUNK_BAD, "a", 0);
    expect("1\r\na\n", HTTP_CHUNK_BAD, "a", 0);
    expect("1\r\na\r\r", HTTP_CHUNK_BAD, "a", 0);
    expect("1\r\na\r\n\r\n", HTTP_CHUNK_BAD, "a", 0); /* no last chunk */
}

static void test_too_large(void **state) {
    (void)state;
    expect("14\r\n01234567890123456789\r\n0\r\n\r\n", HTTP_CHUNK_DONE, "01234567890123456789", 31);
    expect("15\r\n", HTTP_CHUNK_TOO_LARGE, "", 0);
    expect("5\r\nhello\r\n10\r\n", HTTP_CHUNK_TOO_LARGE, "hello", 0);
    expect("ffffffffffffffff\r\n", HTTP_CHUNK_TOO_LARGE, "", 0);
    expect("10000000000000000\r\n", HTTP_CHUNK_TOO_LARGE, "", 0);
}

/* What is skipped has a limit too. */
static void test_endless_extras(void **state) {
    (void)state;
    static const char *const forms[] = {"%s1;", "0\r\n%sA: ", "%s", "1;\r\na\r\n%s1;"};
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        for (int more = 0; more < 2; more++) {
            _cleanup_str_ struct str text = STR_INIT, body = STR_INIT;
            size_t total;
            str_addn(&text, forms[i], strcspn(forms[i], "%"));
            str_add(&text, strchr(forms[i], '%') + 2);
            char filler = i == 2 ? '0' : 'x';
            for (int k = 0; k < (more ? HTTP_CHUNK_EXTRA + 1 : HTTP_CHUNK_EXTRA - 10); k++)
                str_addc(&text, filler);
            assert_int_equal(feed(text.p, text.len, 1000, 20, &body, &total),
                             more ? HTTP_CHUNK_BAD : HTTP_CHUNK_MORE);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_unfinished),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_endless_extras),
    };
    return cmocka_run_group_tests_name("server_chunk", tests, NULL, NULL);
}
