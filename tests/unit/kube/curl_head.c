/* Tests of kube/curl_head: heads in pieces, interim answers, trailers, limits, nonsense. */
#include "kube/curl_head.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/timefmt.h"

static int line(struct curl_head *h, const char *s) {
    return curl_head_line(h, s, strlen(s));
}

/* All lines but the last must ask for more. */
static int lines(struct curl_head *h, const char *const *s) {
    int r = 0;
    for (; *s; s++) {
        assert_int_equal(r, 0);
        r = line(h, *s);
    }
    return r;
}
#define LINES(h, ...) lines((h), (const char *const[]){__VA_ARGS__, NULL})

static void whole(void **state) {
    (void)state;
    struct curl_head h = {0};
    assert_int_equal(LINES(&h, "HTTP/1.1 201 Created\r\n", "Content-Type: application/json\r\n",
                           "date: Sun, 15 Nov 2026 08:00:00 GMT\r\n",
                           "Warning: 299 - \"v1 \\\"Old\\\" is deprecated\"\r\n",
                           "Warning: 299 - \"second\"\r\n", "Retry-After: 7 \r\n", "\r\n"),
                     1);
    struct kube_head k;
    curl_head_show(&h, &k);
    assert_int_equal(k.code, 201);
    assert_string_equal(k.content_type, "application/json");
    assert_string_equal(k.warning, "v1 \"Old\" is deprecated");
    assert_int_equal(k.retry_after, 7);
    int64_t t;
    assert_true(time_parse("2026-11-15T08:00:00Z", 20, &t));
    assert_int_equal(k.date, t);
    assert_false(k.flow_control);
    curl_head_done(&h);
}

static void bare(void **state) {
    (void)state;
    struct curl_head h = {0};
    assert_int_equal(LINES(&h, "HTTP/2 204 \r\n", "\r\n"), 1);
    struct kube_head k;
    curl_head_show(&h, &k);
    assert_int_equal(k.code, 204);
    assert_string_equal(k.content_type, "");
    assert_null(k.warning);
    assert_int_equal(k.retry_after, -1);
    assert_int_equal(k.date, 0);
    curl_head_done(&h);
}

/* Fields of a 1xx do not leak into the answer. */
static void interim(void **state) {
    (void)state;
    struct curl_head h = {0};
    assert_int_equal(LINES(&h, "HTTP/1.1 100 Continue\r\n", "\r\n", "HTTP/1.1 103 Early Hints\r\n",
                           "Content-Type: text/x-hint\r\n", "Retry-After: 3\r\n", "\r\n"),
                     0);
    assert_false(h.complete);
    assert_int_equal(LINES(&h, "HTTP/1.1 200 OK\r\n", "\r\n"), 1);
    struct kube_head k;
    curl_head_show(&h, &k);
    assert_int_equal(k.code, 200);
    assert_string_equal(k.content_type, "");
    assert_int_equal(k.retry_after, -1);
    curl_head_done(&h);
}

/* After the head come trailers: nothing of them counts, not even what looks like a head. */
static void trailers(void **state) {
    (void)state;
    struct curl_head h = {0};
    assert_int_equal(LINES(&h, "HTTP/1.1 200 OK\r\n", "Content-Type: a/b\r\n", "\r\n"), 1);
    assert_int_equal(line(&h, "Content-Type: c/d\r\n"), 0);
    assert_int_equal(line(&h, "HTTP/1.1 500 Oops\r\n"), 0);
    assert_int_equal(line(&h, "\r\n"), 0);
    assert_int_equal(h.code, 200);
    assert_string_equal(h.content_type, "a/b");
    curl_head_done(&h);
}

/* A status line inside a head is an odd header line, not a new head. */
static void smuggled(void **state) {
    (void)state;
    struct curl_head h = {0};
    assert_int_equal(LINES(&h, "HTTP/1.1 403 Forbidden\r\n", "HTTP/1.1 200 OK\r\n",
                           " folded: Content-Type: x/y\r\n", "no colon\r\n", ": nameless\r\n",
                           "\r\n"),
                     1);
    assert_int_equal(h.code, 403);
    assert_null(h.content_type);
    curl_head_done(&h);
}

static void not_http(void **state) {
    (void)state;
    static const char *const bad[] = {"HTTP/1.1\r\n",        "HTTP/1.1 20 OK\r\n",
                                      "HTTP/1.1 2000 x\r\n", "HTTP/1.1 abc x\r\n",
                                      "SSH-2.0-OpenSSH\r\n", "\r\n",
                                      "HTTP/1.1 099 x\r\n",  "ICY 200 OK\r\n"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct curl_head h = {0};
        assert_int_equal(line(&h, bad[i]), -EPROTO);
        curl_head_done(&h);
    }
    struct curl_head h = {0};
    assert_int_equal(line(&h, "HTTP/1.1 200 OK\r\n"), 0);
    assert_int_equal(curl_head_line(&h, "A: b\0c\r\n", 8), -EPROTO);
    curl_head_done(&h);
}

static void too_much(void **state) {
    (void)state;
    struct curl_head h = {0};
    assert_int_equal(line(&h, "HTTP/1.1 200 OK\r\n"), 0);
    int r = 0, n = 1;
    for (; !r; n++)
        r = line(&h, "X: y\r\n");
    assert_int_equal(r, -E2BIG);
    assert_int_equal(n - 1, CURL_HEAD_MAX_LINES);
    curl_head_done(&h);

    _cleanup_free_ char *big = xmalloc(CURL_HEAD_MAX_BYTES);
    memset(big, 'a', CURL_HEAD_MAX_BYTES);
    big[1] = ':';
    assert_int_equal(line(&h, "HTTP/1.1 200 OK\r\n"), 0);
    assert_int_equal(curl_head_line(&h, big, CURL_HEAD_MAX_BYTES - 17), 0);
    assert_int_equal(line(&h, "\r\n"), -E2BIG);
    curl_head_done(&h);

    /* endless interim answers */
    for (r = 0, n = 0; !r; n++)
        r = line(&h, n % 2 ? "\r\n" : "HTTP/1.1 100 Continue\r\n");
    assert_int_equal(r, -E2BIG);
    curl_head_done(&h);
}

static int64_t retry_after(const char *value, const char *date) {
    struct curl_head h = {0};
    assert_int_equal(line(&h, "HTTP/1.1 429 x\r\n"), 0);
    _cleanup_free_ char *a = xasprintf("Retry-After: %s\r\n", value);
    assert_int_equal(line(&h, a), 0);
    if (date) {
        _cleanup_free_ char *d = xasprintf("Date: %s\r\n", date);
        assert_int_equal(line(&h, d), 0);
    }
    assert_int_equal(line(&h, "\r\n"), 1);
    struct kube_head k;
    curl_head_show(&h, &k);
    curl_head_done(&h);
    return k.retry_after;
}

static void waits(void **state) {
    (void)state;
    const char *now = "Sun, 15 Nov 2026 08:00:00 GMT";
    assert_int_equal(retry_after("0", NULL), 0);
    assert_int_equal(retry_after("32", NULL), 32);
    assert_int_equal(retry_after("99999999999999999999", NULL), INT32_MAX);
    assert_int_equal(retry_after("-5", NULL), -1);
    assert_int_equal(retry_after("soon", NULL), -1);
    assert_int_equal(retry_after("", NULL), -1);
    assert_int_equal(retry_after("1.5", NULL), -1);
    assert_int_equal(retry_after("Sun, 15 Nov 2026 08:01:30 GMT", now), 90);
    assert_int_equal(retry_after("Sun, 15 Nov 2026 07:00:00 GMT", now), 0);
    assert_int_equal(retry_after("Sun, 15 Nov 2026 08:01:30 GMT", NULL), -1);
    assert_int_equal(retry_after("Sun, 15 Nov 2026 08:01:30 GMT", "rubbish"), -1);
}

/* Every answer has the flow schema's header; only a plain text 429 is a refusal by it. */
static void flow_control(void **state) {
    (void)state;
    static const struct {
        const char *status, *type;
        bool marked, refused;
    } cases[] = {
        {"HTTP/1.1 429 x\r\n", "Content-Type: text/plain; charset=utf-8\r\n", true, true},
        {"HTTP/1.1 429 x\r\n", "Content-Type: application/json\r\n", true, false},
        {"HTTP/1.1 429 x\r\n", "Content-Type: text/plain\r\n", false, false},
        {"HTTP/1.1 200 x\r\n", "Content-Type: text/plain\r\n", true, false},
        {"HTTP/1.1 429 x\r\n", "A: b\r\n", true, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct curl_head h = {0};
        assert_int_equal(
            LINES(&h, cases[i].status,
                  cases[i].marked ? "x-kubernetes-pf-flowschema-uid: 1\r\n" : "C: d\r\n",
                  cases[i].type, "\r\n"),
            1);
        struct kube_head k;
        curl_head_show(&h, &k);
        assert_int_equal(k.flow_control, cases[i].refused);
        curl_head_done(&h);
    }
}

static void warnings(void **state) {
    (void)state;
    static const struct {
        const char *line, *text;
    } cases[] = {
        {"Warning: 299 - \"a\"\r\n", "a"},
        {"Warning: 299 slipway \"a \\\\ b\" \"Sun, 15 Nov 2026 08:00:00 GMT\"\r\n", "a \\ b"},
        {"Warning: 199 - \"a\"\r\n", NULL},
        {"Warning: 299 - a\r\n", NULL},
        {"Warning: 299 - \"open\r\n", NULL},
        {"Warning: 299 - \"open\\\r\n", NULL},
        {"Warning: 299 - \"\"\r\n", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct curl_head h = {0};
        assert_int_equal(LINES(&h, "HTTP/1.1 200 x\r\n", cases[i].line, "\r\n"), 1);
        if (cases[i].text)
            assert_string_equal(h.warnings.p[0], cases[i].text);
        else
            assert_int_equal(h.warnings.len, 0);
        curl_head_done(&h);
    }
}

/* A server may have several to give; the first is shown with the head. */
static void many_warnings(void **state) {
    (void)state;
    struct curl_head h = {0};
    struct kube_head k;
    assert_int_equal(LINES(&h, "HTTP/1.1 200 x\r\n", "Warning: 299 - \"a\"\r\n",
                           "Warning: 199 - \"no\"\r\n", "warning: 299 - \"b\"\r\n", "\r\n"),
                     1);
    assert_int_equal(h.warnings.len, 2);
    assert_string_equal(h.warnings.p[0], "a");
    assert_string_equal(h.warnings.p[1], "b");
    curl_head_show(&h, &k);
    assert_string_equal(k.warning, "a");
    curl_head_done(&h);
    assert_int_equal(h.warnings.len, 0);
}

static void texts(void **state) {
    (void)state;
    assert_string_equal(http_status_text(200), "OK");
    assert_string_equal(http_status_text(410), "Gone");
    assert_string_equal(http_status_text(299), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),    cmocka_unit_test(bare),          cmocka_unit_test(interim),
        cmocka_unit_test(trailers), cmocka_unit_test(smuggled),      cmocka_unit_test(not_http),
        cmocka_unit_test(too_much), cmocka_unit_test(waits),         cmocka_unit_test(flow_control),
        cmocka_unit_test(warnings), cmocka_unit_test(many_warnings), cmocka_unit_test(texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
