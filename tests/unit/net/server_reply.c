/* Tests of net/server_reply.c. */
#include "net/server_reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/timefmt.h"

static void test_date(void **state) {
    (void)state;
    char buf[HTTP_DATE_LEN];
    /* RFC 9110 section 5.6.7, and the first and last seconds of days and years. */
    assert_string_equal(http_date(SEC(784111777), buf), "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_string_equal(http_date(0, buf), "Thu, 01 Jan 1970 00:00:00 GMT");
    assert_string_equal(http_date(SEC(1709251199), buf), "Thu, 29 Feb 2024 23:59:59 GMT");
    assert_string_equal(http_date(SEC(1735689599) + 999999, buf), "Tue, 31 Dec 2024 23:59:59 GMT");
    for (int64_t t = SEC(1700000000); t < SEC(1800000000); t += SEC(1234567)) {
        int64_t back;
        assert_true(time_parse_http(http_date(t, buf), &back));
        assert_true(back == t);
    }
}

static void test_reasons(void **state) {
    (void)state;
    assert_string_equal(http_reason(200), "OK");
    assert_string_equal(http_reason(422), "Unprocessable Entity");
    assert_string_equal(http_reason(299), "OK");
    assert_string_equal(http_reason(418), "Client Error");
    assert_string_equal(http_reason(599), "Server Error");
    assert_string_equal(http_reason(1000), "Server Error");
    assert_string_equal(http_reason(-5), "Server Error");
}

static void expect(const struct http_reply *reply, int64_t length, bool gzip, bool close,
                   const char *want) {
    _cleanup_str_ struct str out = STR_INIT;
    http_reply_head(&out, reply, length, gzip, close, "now");
    assert_string_equal(str_get(&out), want);
}

static void test_heads(void **state) {
    (void)state;
    struct http_header headers[] = {
        {"A", "b"},  {"date", "x"}, {"Connection", "x"},
        {"E", NULL}, {"c\nd", "e"}, {"F", "\x7f\xe9\n"},
    };
    struct http_reply plain = {.code = 404};
    struct http_reply many = {.code = 201, .headers = headers, .n_headers = ARRAY_LEN(headers)};
    expect(&plain, 0, false, false,
           "HTTP/1.1 404 Not Found\r\nDate: now\r\nContent-Length: 0\r\n\r\n");
    expect(&plain, HTTP_CHUNKED, false, true,
           "HTTP/1.1 404 Not Found\r\nDate: now\r\nTransfer-Encoding: chunked\r\n"
           "Connection: close\r\n\r\n");
    expect(&plain, HTTP_UNFRAMED, false, true,
           "HTTP/1.1 404 Not Found\r\nDate: now\r\nConnection: close\r\n\r\n");
    expect(&plain, HTTP_BODILESS, false, false, "HTTP/1.1 404 Not Found\r\nDate: now\r\n\r\n");
    expect(&many, INT64_MAX, true, false,
           "HTTP/1.1 201 Created\r\nA: b\r\nE: \r\nF:  \xe9 \r\nContent-Encoding: gzip\r\n"
           "Vary: Accept-Encoding\r\nDate: now\r\nContent-Length: 9223372036854775807\r\n\r\n");
    /* A code that is none must not become a status line that is none. */
    expect(&(struct http_reply){.code = 7}, HTTP_BODILESS, false, false,
           "HTTP/1.1 500 Internal Server Error\r\nDate: now\r\n\r\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_date),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_heads),
    };
    return cmocka_run_group_tests_name("server_reply", tests, NULL, NULL);
}
