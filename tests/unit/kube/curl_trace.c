/* Tests of kube/curl_trace.c. What is expected was printed by kubectl 1.36.3 -v=6 to -v=10 about
 * the same exchanges (verb, URL, headers, times and process put in place); quoting, hex dumps and
 * the names of headers by Go's strconv.Quote(), hex.Dump() and http.CanonicalHeaderKey(). */
#include "kube/curl_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

#define HEAD "I1115 15:49:00.123456   18761 "

static int64_t then(void) {
    return 1794757740123456; /* 2026-11-15T15:49:00.123456Z */
}

/* What was written since the last time. */
static char *written(struct curl_trace *t) {
    off_t len = lseek(t->fd, 0, SEEK_END);
    char *text = xcalloc((size_t)len + 1, 1);
    assert_int_equal(pread(t->fd, text, (size_t)len, 0), len);
    assert_int_equal(ftruncate(t->fd, 0), 0);
    lseek(t->fd, 0, SEEK_SET);
    return text;
}

#define assert_written(t, expect)                                                                  \
    do {                                                                                           \
        _cleanup_free_ char *text_ = written(t);                                                   \
        assert_string_equal(text_, expect);                                                        \
    } while (0)

static struct curl_trace at_level(int level) {
    struct curl_trace t = {
        .level = level, .fd = memfd_create("trace", MFD_CLOEXEC), .now = then, .pid = 18761};
    assert_true(t.fd >= 0);
    return t;
}

static const struct curl_exchange get = {.method = "GET", .url = "https://h:6443/api/v1/nodes/w1"};

static struct curl_slist *headers_of(const char *const *lines) {
    struct curl_slist *list = NULL;
    for (; *lines; lines++)
        list = curl_slist_append(list, *lines);
    return list;
}

static const char *const sent[] = {"User-Agent: kubectl/v1.36.3 (linux/amd64) kubernetes/$Format",
                                   "Accept: application/json, */*",
                                   "Content-Type:",
                                   "Expect:",
                                   "Authorization: Bearer abc.def",
                                   NULL};

/* A whole answer, in lines as libcurl hands them out. */
static void answer(struct curl_trace *t, struct curl_exchange *x) {
    static const char *const lines[] = {"HTTP/1.1 100 Continue\r\n",
                                        "X-Interim: 1\r\n",
                                        "\r\n",
                                        "HTTP/1.1 200 OK\r\n",
                                        "date: Sun, 15 Nov 2026 16:14:38 GMT\r\n",
                                        "Cache-Control: no-cache, private\r\n",
                                        "audit-id: 5\r\n",
                                        "Warning: 299 - \"one\"\r\n",
                                        "Transfer-Encoding: chunked\r\n",
                                        "warning:   299 - \"two\"  \r\n",
                                        "x-kubernetes-pf-flowschema-uid: 0\r\n",
                                        "Empty:\r\n",
                                        "no header\r\n",
                                        "\r\n"};
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        curl_trace_head_line(t, x, lines[i], strlen(lines[i]));
}

#define ANSWERED                                                                                   \
    "headers=<\n\tAudit-Id: 5\n\tCache-Control: no-cache, private\n\tDate: Sun, 15 Nov 2026 "      \
    "16:14:38 GMT\n\tEmpty: \n\tWarning: 299 - \"one\"\n\tWarning: 299 - \"two\"\n"                \
    "\tX-Kubernetes-Pf-Flowschema-Uid: 0\n >"

/* One exchange at each level. */
static void exchange(int level, const char *expect) {
    struct curl_trace t = at_level(level);
    struct curl_exchange x = get;
    struct curl_slist *list = headers_of(sent);
    struct curl_times times = {.total = 2999, .dns = 999, .dial = 1000, .tls = 1500, .server = 700};
    curl_trace_request(&t, &x, list, NULL, 0);
    curl_trace_dialled(&t, NULL, "127.0.0.1", 6443);
    answer(&t, &x);
    curl_trace_response(&t, &x, 200, "OK", &times);
    curl_trace_data(&t, &x, "{\"kind\":", 8);
    curl_trace_data(&t, &x, "\"Node\"}", 7);
    curl_trace_body(&t, &x);
    assert_written(&t, expect);
    curl_exchange_done(&x);
    curl_slist_free_all(list);
    close(t.fd);
}

static void levels(void **state) {
    (void)state;
    exchange(0, "");
    exchange(5, "");
    exchange(6, HEAD "round_trippers.go:632] \"Response\" verb=\"GET\" "
                     "url=\"https://h:6443/api/v1/nodes/w1\" status=\"200 OK\" milliseconds=2\n");
#define REQUEST                                                                                    \
    HEAD "round_trippers.go:527] \"Request\" verb=\"GET\" url=\"https://h:6443/api/v1/nodes/w1\" " \
         "headers=<\n\tAccept: application/json, */*\n\tAuthorization: Bearer <masked>\n"          \
         "\tUser-Agent: kubectl/v1.36.3 (linux/amd64) kubernetes/$Format\n >\n"
    exchange(7,
             REQUEST HEAD "round_trippers.go:632] \"Response\" status=\"200 OK\" milliseconds=2\n");
#define ASKED HEAD "type.go:165] \"Request Body\" body=\"\"\n"
#define TOLD  HEAD "type.go:165] \"Response Body\" body=\"{\\\"kind\\\":\\\"Node\\\"}\"\n"
    exchange(8, ASKED REQUEST HEAD "round_trippers.go:632] \"Response\" status=\"200 OK\" " ANSWERED
                                   " milliseconds=2\n" TOLD);
    static const char nine[] = ASKED HEAD
        "round_trippers.go:527] \"Request\" curlCommand=<\n"
        "\tcurl -v -XGET  -H \"Accept: application/json, */*\" -H \"Authorization: "
        "Bearer <masked>\" -H \"User-Agent: kubectl/v1.36.3 (linux/amd64) "
        "kubernetes/$Format\" 'https://h:6443/api/v1/nodes/w1'\n >\n" HEAD
        "round_trippers.go:562] \"HTTP Trace: Dial succeed\" network=\"tcp\" "
        "address=\"127.0.0.1:6443\"\n" HEAD "round_trippers.go:632] \"Response\" verb=\"GET\" "
        "url=\"https://h:6443/api/v1/nodes/w1\" status=\"200 OK\" " ANSWERED
        " milliseconds=2 dnsLookupMilliseconds=0 dialMilliseconds=1 "
        "tlsHandshakeMilliseconds=1 serverProcessingMilliseconds=0\n" TOLD;
    exchange(9, nine);
    exchange(10, nine);
    exchange(99, nine);
}

static void connections(void **state) {
    (void)state;
    struct curl_trace t = at_level(9);
    curl_trace_dialled(&t, "localhost", "127.0.0.1", 37607);
    assert_written(&t, HEAD
                   "round_trippers.go:547] \"HTTP Trace: DNS Lookup resolved\" host=\"localhost\" "
                   "address=[{\"IP\":\"127.0.0.1\",\"Zone\":\"\"}]\n" HEAD
                   "round_trippers.go:562] \"HTTP Trace: Dial succeed\" network=\"tcp\" "
                   "address=\"127.0.0.1:37607\"\n");
    curl_trace_dialled(&t, NULL, "::1", 443);
    assert_written(&t, HEAD "round_trippers.go:562] \"HTTP Trace: Dial succeed\" network=\"tcp\" "
                            "address=\"[::1]:443\"\n");
    curl_trace_dial_failed(&t, "127.0.0.1:1", ECONNREFUSED);
    assert_written(&t, HEAD "round_trippers.go:560] \"HTTP Trace: Dial failed\" network=\"tcp\" "
                            "address=\"127.0.0.1:1\" err=\"dial tcp 127.0.0.1:1: connect: "
                            "connection refused\"\n");
    struct curl_times reused = {.reused = true, .connection = 3000, .server = 1000};
    curl_trace_response(&t, &get, 404, "Not Found", &reused);
    assert_written(&t, HEAD "round_trippers.go:632] \"Response\" verb=\"GET\" "
                            "url=\"https://h:6443/api/v1/nodes/w1\" status=\"404 Not Found\" "
                            "headers=\"\" milliseconds=0 getConnectionMilliseconds=3 "
                            "serverProcessingMilliseconds=1\n");
    t.level = 8;
    curl_trace_dialled(&t, "localhost", "127.0.0.1", 37607);
    curl_trace_dial_failed(&t, "127.0.0.1:1", ECONNREFUSED);
    assert_written(&t, "");
    close(t.fd);
}

/* No answer came. */
static void failures(void **state) {
    (void)state;
    static const struct curl_times none;
    struct curl_trace t = at_level(6);
    curl_trace_response(&t, &get, 0, "", &none);
    assert_written(&t, HEAD "round_trippers.go:632] \"Response\" verb=\"GET\" "
                            "url=\"https://h:6443/api/v1/nodes/w1\" status=\"\" milliseconds=0\n");
    t.level = 8;
    curl_trace_response(&t, &get, 0, "", &none);
    assert_written(&t, HEAD
                   "round_trippers.go:632] \"Response\" status=\"\" headers=\"\" milliseconds=0\n");
    t.level = 9;
    curl_trace_response(&t, &get, 0, "", &none);
    assert_written(&t, HEAD "round_trippers.go:632] \"Response\" verb=\"GET\" "
                            "url=\"https://h:6443/api/v1/nodes/w1\" status=\"\" headers=\"\" "
                            "milliseconds=0 dnsLookupMilliseconds=0 dialMilliseconds=0 "
                            "tlsHandshakeMilliseconds=0\n");
    /* Nobody can read it: that is no trouble of ours. */
    close(t.fd);
    t.fd = -1;
    curl_trace_response(&t, &get, 0, "", &none);
}

/* client-go's cases (transport/round_trippers_test.go, TestMaskValue) and what could leak. */
static void secrets(void **state) {
    (void)state;
    static const struct {
        const char *header, *shown;
    } rows[] = {
        {"Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic <masked>"},
        {"Authorization: basic dXNlcjpwYXNz", "Authorization: basic <masked>"},
        {"Authorization: Bearer eyJ.x.y", "Authorization: Bearer <masked>"},
        {"authorization: bearer eyJ.x.y", "Authorization: bearer <masked>"},
        {"AUTHORIZATION: Bearer two words", "Authorization: Bearer <masked>"},
        {"Authorization: Negotiate YII", "Authorization: Negotiate <masked>"},
        {"Authorization: Bearer", "Authorization: Bearer"},
        {"Authorization: Digest username=\"me\"", "Authorization: <masked>"},
        {"Authorization: justatoken", "Authorization: <masked>"},
        {"Other: Bearer x", "Other: Bearer x"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (int level = 7; level <= 10; level++) {
            const char *const lines[] = {rows[i].header, NULL};
            struct curl_slist *list = headers_of(lines);
            struct curl_trace t = at_level(level);
            curl_trace_request(&t, &get, list, NULL, 0);
            _cleanup_free_ char *text = written(&t);
            assert_non_null(strstr(text, rows[i].shown));
            const char *secret = strrchr(rows[i].header, ' ') + 1;
            if (strstr(rows[i].shown, "<masked>"))
                assert_null(strstr(text, secret));
            curl_slist_free_all(list);
            close(t.fd);
        }
    }
}

static void body(struct curl_trace *t, const char *p, size_t len) {
    struct curl_exchange x = get;
    for (size_t i = 0; i < len; i += 700) /* in pieces */
        curl_trace_data(t, &x, p + i, MIN_OF(len - i, (size_t)700));
    curl_trace_body(t, &x);
    curl_exchange_done(&x);
}

#define assert_body(t, bytes, expect)                                                              \
    do {                                                                                           \
        body(t, bytes, sizeof(bytes) - 1);                                                         \
        assert_written(t, HEAD "type.go:165] \"Response Body\" body=" expect "\n");                \
    } while (0)

static void quoting(void **state) {
    (void)state;
    struct curl_trace t = at_level(8);
    assert_body(&t, "plain", "\"plain\"");
    assert_body(&t, "", "\"\"");
    assert_body(&t, "q\"b\\", "\"q\\\"b\\\\\"");
    assert_body(&t, "\f\r\v", "\"\\f\\r\\v\"");
    assert_body(&t, "\x1b[31m\x7f", "\"\\x1b[31m\\x7f\"");
    assert_body(&t, "\xff\xc3", "\"\\xff\\xc3\"");
    assert_body(&t, "é世", "\"é世\"");
    assert_body(&t, "\u00a0\u00ad\u200b\u202e\ufeff", "\"\\u00a0\\u00ad\\u200b\\u202e\\ufeff\"");
    assert_body(&t, "\U000e0001", "\"\\U000e0001\"");
    /* With line ends: as it is, and the one at the end makes no difference. */
    assert_body(&t, "{\n  \"a\": 1\n}\n", "<\n\t{\n\t  \"a\": 1\n\t}\n >");
    assert_body(&t, "{\n}", "<\n\t{\n\t}\n >");
    assert_body(&t, "\n", "<\n\t\n >");
    /* Other than kubectl, nothing that a terminal obeys. */
    assert_body(&t, "a\x1b]0;x\x7f\n\xff\u202e\n",
                "<\n\ta\\x1b]0;x\\x7f\n\t\\xff\\xe2\\x80\\xae\n >");
    close(t.fd);
}

static void dumps(void **state) {
    (void)state;
    struct curl_trace t = at_level(8);
    assert_body(&t, "k8s\0\n\x0c\n\x02v1\x12\x06",
                "<\n\t00000000  6b 38 73 00 0a 0c 0a 02  76 31 12 06              "
                "|k8s.....v1..|\n >");
    assert_body(&t, "\0123456789abcdef\xff\x01",
                "<\n\t00000000  0a 33 34 35 36 37 38 39  61 62 63 64 65 66 ff 01  "
                "|.3456789abcdef..|\n >");
    assert_body(&t, "0123456789abcdef\x01",
                "<\n\t00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  "
                "|0123456789abcdef|\n"
                "\t00000010  01                                                |.|\n >");
    close(t.fd);
}

/* The last line of what was written. */
static void assert_ends(struct curl_trace *t, const char *expect, size_t total) {
    _cleanup_free_ char *text = written(t);
    size_t len = strlen(text), n = strlen(expect);
    if (len < n || strcmp(text + len - n, expect) != 0)
        fail_msg("...%s", len > 80 ? text + len - 80 : text);
    if (total)
        assert_int_equal(len, total);
}

static void truncation(void **state) {
    (void)state;
    static char big[200000];
    memset(big, 'x', sizeof big);
    struct curl_trace t = at_level(8);
    size_t head = strlen(HEAD "type.go:165] \"Response Body\" body=");
    body(&t, big, 1024);
    assert_ends(&t, "xxx\"\n", head + 1024 + 3);
    body(&t, big, 1025);
    assert_ends(&t, "xxx [truncated 1 chars]\"\n",
                head + 1024 + strlen(" [truncated 1 chars]") + 3);
    body(&t, big, 200000);
    assert_ends(&t, "xxx [truncated 198976 chars]\"\n", 0);
    /* kubectl said so about a node of 1375 bytes of protobuf. */
    big[1000] = '\0';
    body(&t, big, 1375);
    assert_ends(&t, "|xxxxxxxxxxxxxxx [truncated 5769 chars]\n >\n", 0);
    /* The byte that makes it binary is far behind what is shown. */
    big[1000] = 'x';
    big[150000] = '\1';
    body(&t, big, 200000);
    assert_ends(&t, " [truncated 986476 chars]\n >\n", 0); /* 12500 lines of 79, less 1024 */
    big[150000] = 'x';
    t.level = 9;
    body(&t, big, 10240);
    assert_ends(&t, "xxx\"\n", head + 10240 + 3);
    body(&t, big, 10250);
    assert_ends(&t, "xxx [truncated 10 chars]\"\n", 0);
    t.level = 10;
    body(&t, big, 200000);
    assert_ends(&t, "xxx\"\n", head + 200000 + 3);
    close(t.fd);
}

/* Which of client-go's lines speaks of a body. */
static void places(void **state) {
    (void)state;
    static const struct {
        struct curl_exchange x;
        const char *place;
    } rows[] = {
        {{.method = "GET", .url = "/api/v1/pods?limit=500"}, "type.go:183"},
        {{.method = "GET", .url = "/api/v1/pods?watch=1", .watch = true}, "type.go:201"},
        {{.method = "POST", .url = "/x"}, "type.go:213"},
        {{.method = "PUT", .url = "/x"}, "type.go:228"},
        {{.method = "DELETE", .url = "/x"}, "type.go:257"},
        {{.method = "PATCH", .url = "/x"}, "type.go:289"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct curl_trace t = at_level(8);
        curl_trace_request(&t, &rows[i].x, NULL, "{\"a\":1}", 7);
        _cleanup_free_ char *want =
            xasprintf(HEAD "%s] \"Request Body\" body=\"{\\\"a\\\":1}\"\n", rows[i].place);
        _cleanup_free_ char *text = written(&t);
        assert_memory_equal(text, want, strlen(want));
        close(t.fd);
    }
}

/* What a watch brings goes on for ever, and kubectl does not show it. */
static void watches(void **state) {
    (void)state;
    struct curl_trace t = at_level(10);
    struct curl_exchange x = {.method = "GET", .url = "/api/v1/pods?watch=1", .watch = true};
    curl_trace_data(&t, &x, "{}", 2);
    curl_trace_body(&t, &x);
    assert_int_equal(x.body.len, 0);
    assert_written(&t, "");
    curl_exchange_done(&x);
    close(t.fd);
}

int main(void) {
    setenv("TZ", "UTC0", 1);
    tzset();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels),     cmocka_unit_test(connections), cmocka_unit_test(failures),
        cmocka_unit_test(secrets),    cmocka_unit_test(quoting),     cmocka_unit_test(dumps),
        cmocka_unit_test(truncation), cmocka_unit_test(places),      cmocka_unit_test(watches),
    };
    return cmocka_run_group_tests_name("kube/curl_trace", tests, NULL, NULL);
}
