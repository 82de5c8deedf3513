/* Tests of net/server_head.c: where a head ends, and what it says. */
#include "net/server_head.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/prng.h"

/* --- the end --- */

static void test_end(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t end;
    } cases[] = {
        {"", 0},
        {"G", 0},
        {"\r", 0},
        {"GET / HTTP/1.1\r\n", 0},
        {"GET / HTTP/1.1\r\n\r", 0},
        {"GET / HTTP/1.1\r\n\r\n", 18},
        {"GET / HTTP/1.1\r\n\r\nGET", 18},
        {"GET / HTTP/1.1\n\n", 16},
        {"GET / HTTP/1.1\r\n\n", 17},
        {"GET / HTTP/1.1\n\r\n", 17},
        {"GET / HTTP/1.1\r\nA: b\r\n\r\nbody\r\n\r\n", 24},
        {"a\r\r\n\r\r\n", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *text = cases[i].text;
        size_t scanned = 0, len = strlen(text);
        assert_int_equal(http_head_end(text, len, &scanned), cases[i].end);
        /* The same when it comes byte by byte: not earlier, not later. */
        scanned = 0;
        for (size_t n = 0; n <= len; n++) {
            /* a copy of just that size, so that reading further is seen */
            char *copy = xmemdup(text, n);
            size_t end = http_head_end(copy, n, &scanned);
            free(copy);
            assert_int_equal(end, cases[i].end && n >= cases[i].end ? cases[i].end : 0);
            assert_true(scanned <= n);
            if (end)
                break;
        }
    }
}

/* No byte is looked at more than twice. */
static void test_end_of_long_heads(void **state) {
    (void)state;
    char text[100000];
    memset(text, 'x', sizeof text);
    size_t scanned = 0;
    for (size_t n = 1; n <= sizeof text; n++) {
        assert_int_equal(http_head_end(text, n, &scanned), 0);
        assert_int_equal(scanned, n);
    }
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 2 ? '\n' : 'x';
    scanned = 0;
    for (size_t n = 1; n <= sizeof text; n++) {
        assert_int_equal(http_head_end(text, n, &scanned), 0);
        assert_true(scanned + 1 >= n);
    }
}

static void test_blank(void **state) {
    (void)state;
    assert_int_equal(http_head_blank("", 0), 0);
    assert_int_equal(http_head_blank("GET", 3), 0);
    assert_int_equal(http_head_blank("\r\nGET", 5), 2);
    assert_int_equal(http_head_blank("\n\r\n\nGET", 7), 4);
    assert_int_equal(http_head_blank("\r\n\r", 3), 2);
    assert_int_equal(http_head_blank("\rG", 2), 0);
}

/* --- the contents --- */

/* Parses a copy, which is freed by parsed_done(). */
struct parsed {
    char *text;
    struct http_head head;
    int code;
    const char *why;
};

static struct parsed parse_bytes(const char *bytes, size_t len) {
    struct parsed p = {.text = xmalloc(len + 1)};
    memcpy(p.text, bytes, len);
    p.code = http_head_parse(p.text, len, &p.head, &p.why);
    if (p.code) {
        assert_true(p.code >= 400 && p.code < 600);
        assert_true(strlen(p.why) > 5);
        assert_null(p.head.headers);
        assert_null(p.head.path);
    }
    return p;
}

static struct parsed parse(const char *text) {
    return parse_bytes(text, strlen(text));
}

static void parsed_done(struct parsed *p) {
    http_head_done(&p->head);
    free(p->text);
}

static void test_targets(void **state) {
    (void)state;
    static const struct {
        const char *target, *seen, *path, *query;
    } cases[] = {
        {"/", "/", "/", ""},
        {"/a/b", "/a/b", "/a/b", ""},
        {"/a?b", "/a?b", "/a", "b"},
        {"/a?", "/a?", "/a", ""},
        {"/a?b?c=/d", "/a?b?c=/d", "/a", "b?c=/d"},
        {"/%41%2f%3F?%41", "/%41%2f%3F?%41", "/A/?", "%41"},
        {"//x", "//x", "//x", ""},
        {"/\xc3\xa9", "/\xc3\xa9", "/\xc3\xa9", ""},
        {"http://host:1/a?b", "/a?b", "/a", "b"},
        {"HTTPS://host/a", "/a", "/a", ""},
        {"http://host", "/", "/", ""},
        {"http://host?q", "?q", "/", "q"},
        {"/http://x/y", "/http://x/y", "/http://x/y", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *text = xasprintf("GET %s HTTP/1.1\r\nHost: a\r\n\r\n", cases[i].target);
        struct parsed p = parse(text);
        assert_int_equal(p.code, 0);
        assert_string_equal(p.head.method, "GET");
        assert_string_equal(p.head.target, cases[i].seen);
        assert_string_equal(p.head.path, cases[i].path);
        assert_string_equal(p.head.query, cases[i].query);
        assert_int_equal(p.head.n_headers, 1);
        assert_int_equal(p.head.length, 0);
        assert_false(p.head.close || p.head.http10 || p.head.expect_continue);
        parsed_done(&p);
        free(text);
    }
    struct parsed p = parse("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_int_equal(p.code, 0);
    assert_string_equal(p.head.path, "*");
    parsed_done(&p);
}

static void test_framing(void **state) {
    (void)state;
    static const struct {
        const char *headers;
        int64_t length;
        bool close, expect;
    } cases[] = {
        {"Host: a\r\nContent-Length: 12\r\n", 12, false, false},
        {"Host: a\r\ncontent-length:012\r\n", 12, false, false},
        {"Host: a\r\nContent-Length: 7\r\nContent-Length: 7\r\n", 7, false, false},
        {"Host: a\r\nContent-Length: 9223372036854775807\r\n", INT64_MAX, false, false},
        {"Host: a\r\nTransfer-Encoding: Chunked\r\n", -1, false, false},
        {"Host: a\r\nConnection: close\r\n", 0, true, false},
        {"Host: a\r\nConnection: Upgrade, CLOSE\r\n", 0, true, false},
        {"Host: a\r\nConnection: closed\r\n", 0, false, false},
        {"Host: a\r\nConnection: keep-alive\r\nConnection: close\r\n", 0, true, false},
        {"Host:\r\nExpect: 100-CONTINUE\r\n", 0, false, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *text = xasprintf("POST / HTTP/1.1\r\n%s\r\n", cases[i].headers);
        struct parsed p = parse(text);
        assert_int_equal(p.code, 0);
        assert_true(p.head.length == cases[i].length);
        assert_int_equal(p.head.close, cases[i].close);
        assert_int_equal(p.head.expect_continue, cases[i].expect);
        parsed_done(&p);
        free(text);
    }
    struct parsed p = parse("GET / HTTP/1.0\r\n\r\n");
    assert_int_equal(p.code, 0);
    assert_true(p.head.http10 && p.head.close);
    assert_int_equal(p.head.n_headers, 0);
    parsed_done(&p);
}

static void test_refused(void **state) {
    (void)state;
#define H "Host: a\r\n"
    static const struct {
        const char *text;
        int code;
    } cases[] = {
        {"", 400},
        {"\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a", 400},
        {"GET\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n\r\n", 400},
        {" GET / HTTP/1.1\r\n" H "\r\n", 400},
        {"GET / / HTTP/1.1\r\n" H "\r\n", 400},
        {"GET\t/ HTTP/1.1\r\n" H "\r\n", 400},
        {"GET / HTTP/1.10\r\n" H "\r\n", 400},
        {"GET / HTTP/11\r\n" H "\r\n", 400},
        {"GET / HTTP/1\r\n" H "\r\n", 400},
        {"GET / HTTP/0.9\r\n" H "\r\n", 505},
        {"GET / HTTP/3.0\r\n" H "\r\n", 505},
        {"GET * HTTP/1.1\r\n" H "\r\n", 400},
        {"GET ?a HTTP/1.1\r\n" H "\r\n", 400},
        {"CONNECT host:443 HTTP/1.1\r\n" H "\r\n", 400},
        {"GET ftp://host/ HTTP/1.1\r\n" H "\r\n", 400},
        {"GET /% HTTP/1.1\r\n" H "\r\n", 400},
        {"GET /%4 HTTP/1.1\r\n" H "\r\n", 400},
        {"GET /%4g HTTP/1.1\r\n" H "\r\n", 400},
        {"GET /%00 HTTP/1.1\r\n" H "\r\n", 400},
        {"GET /\x7f HTTP/1.1\r\n" H "\r\n", 400},
        {"GET /\x01 HTTP/1.1\r\n" H "\r\n", 400},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG / HTTP/1.1\r\n" H "\r\n", 501},
        {"GET / HTTP/1.1\r\n" H " folded\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n folded: a\r\n" H "\r\n", 400},
        {"GET / HTTP/1.1\r\n" H "no colon\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" H ": no name\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" H "a b: c\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" H "a : c\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" H "a: b\rc\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" H "a: b\x7f\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" H H "\r\n", 400},
        {"POST / HTTP/1.1\r\n" H "Content-Length:\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\n" H "Content-Length: 0x1\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\n" H "Content-Length: +1\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\n" H "Content-Length: 1 2\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\n" H "Content-Length: 9223372036854775808\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\n" H "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\n" H "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\n" H "Transfer-Encoding: identity\r\n\r\n", 501},
        {"POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked, chunked\r\n\r\n", 501},
        {"POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
         501},
        {"POST / HTTP/1.1\r\n" H "Transfer-Encoding:\r\n\r\n", 501},
        {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\n" H "Expect: 200-ok\r\n\r\n", 417},
    };
#undef H
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct parsed p = parse(cases[i].text);
        if (p.code != cases[i].code)
            print_error("%s", cases[i].text);
        assert_int_equal(p.code, cases[i].code);
        parsed_done(&p);
    }
    static const char nul[] = "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n";
    struct parsed p = parse_bytes(nul, sizeof nul - 1);
    assert_int_equal(p.code, 400);
    parsed_done(&p);
}

static void test_headers(void **state) {
    (void)state;
    struct parsed p = parse("GET / HTTP/1.1\nHost: a\nX-One:  1 \t \r\nx-one: 2\nUtf: \xc3\xa9\n"
                            "Empty: \n\n");
    assert_int_equal(p.code, 0);
    assert_int_equal(p.head.n_headers, 5);
    assert_string_equal(http_head_get(&p.head, "x-ONE"), "1");
    assert_string_equal(p.head.headers[2].value, "2");
    assert_string_equal(http_head_get(&p.head, "utf"), "\xc3\xa9");
    assert_string_equal(http_head_get(&p.head, "EMPTY"), "");
    assert_null(http_head_get(&p.head, "x-on"));
    assert_null(http_head_get(&p.head, ""));
    parsed_done(&p);
}

static void test_many_headers(void **state) {
    (void)state;
    for (int n = 250; n < 260; n++) {
        _cleanup_str_ struct str text = STR_INIT;
        str_add(&text, "GET / HTTP/1.1\r\nHost: a\r\n");
        for (int i = 1; i < n; i++)
            str_addf(&text, "h%d: v%d\r\n", i, i);
        str_add(&text, "\r\n");
        struct parsed p = parse(str_get(&text));
        assert_int_equal(p.code, n > HTTP_MAX_HEADERS ? 431 : 0);
        if (!p.code) {
            assert_int_equal(p.head.n_headers, n);
            assert_string_equal(http_head_get(&p.head, "H249"), "v249");
        }
        parsed_done(&p);
    }
}

static void test_lists(void **state) {
    (void)state;
    assert_true(http_list_has("close", "close"));
    assert_true(http_list_has(" a ,\tClose , b", "close"));
    assert_true(http_list_has(",,close", "close"));
    assert_false(http_list_has("", "close"));
    assert_false(http_list_has(",", "close"));
    assert_false(http_list_has("clos, e", "close"));
    assert_false(http_list_has("close d", "close"));
}

/* Whatever the bytes are: an answer, and no byte beyond them is touched (by the sanitizer). */
static void test_any_bytes(void **state) {
    (void)state;
    struct prng rng = {1};
    static const char good[] = "POST http://h/a%20b?c HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
                               "Connection: close\r\nExpect: 100-continue\r\n\r\n";
    int ok = 0;
    for (int i = 0; i < 50000; i++) {
        char text[sizeof good];
        size_t len = sizeof good - 1;
        memcpy(text, good, len);
        for (int64_t k = prng_range(&rng, 0, 4); k > 0; k--)
            text[prng_range(&rng, 0, (int64_t)len)] = (char)prng_next(&rng);
        if (i % 3 == 0)
            len = (size_t)prng_range(&rng, 0, (int64_t)len + 1);
        struct parsed p = parse_bytes(text, len);
        ok += p.code == 0;
        parsed_done(&p);
    }
    assert_true(ok > 1000 && ok < 49000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end),     cmocka_unit_test(test_end_of_long_heads),
        cmocka_unit_test(test_blank),   cmocka_unit_test(test_targets),
        cmocka_unit_test(test_framing), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_headers), cmocka_unit_test(test_many_headers),
        cmocka_unit_test(test_lists),   cmocka_unit_test(test_any_bytes),
    };
    return cmocka_run_group_tests_name("server_head", tests, NULL, NULL);
}
