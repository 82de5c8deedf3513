/* Tests of kube/transport_curl against a scripted server: connections, answers, time, cancelling.
 * Certificates, credentials and proxies are in transport_curl_tls.c. */
#include "kube/transport_curl.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "kube/curl_head.h"
#include "support/site.h"

static void fails(const struct tcall *tc, int error, bool sent, const char *fmt, const char *url) {
    _cleanup_str_ struct str want = STR_INIT;
    for (const char *p = fmt; *p; p++) {
        if (*p == '@')
            str_add(&want, url);
        else
            str_addc(&want, *p);
    }
    assert_string_equal(strna(tc->msg), str_get(&want));
    assert_int_equal(tc->end.error, -error);
    assert_int_equal(tc->end.sent, sent);
}

static void succeeds(const struct tcall *tc, int code, const char *body) {
    assert_string_equal(strna(tc->msg), "");
    assert_int_equal(tc->end.error, 0);
    assert_int_equal(tc->end.code, code);
    assert_int_equal(tc->heads, 1);
    assert_int_equal(tc->head.code, code);
    assert_string_equal(str_get(&tc->body), body);
}

static void hello(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)req;
    (void)arg;
    server_reply(c, 200, NULL, "hello");
}

/* --- connections --- */

static void keeps_alive(void **state) {
    (void)state;
    struct site s;
    site_start(&s, hello, NULL);
    for (int i = 0; i < 10; i++) {
        struct tcall tc = {0};
        tcall_get(&tc, s.loop, s.t, "/api");
        tcall_wait(&tc);
        succeeds(&tc, 200, "hello");
        assert_string_equal(tc.head.content_type, "application/json");
        assert_int_equal(tc.head.retry_after, -1);
        tcall_done(&tc);
    }
    assert_int_equal(server_connections(s.server), 1);
    assert_int_equal(server_handshakes(s.server), 1);
    assert_int_equal(server_requests(s.server), 10);
    site_done(&s);
}

/* The server has closed what was idle: a new connection, but no new handshake from scratch. */
static void resumes_tls(void **state) {
    (void)state;
    struct site s;
    site_start(&s, hello, NULL);
    for (int i = 0; i < 3; i++) {
        struct tcall tc = {0};
        tcall_get(&tc, s.loop, s.t, "/api");
        tcall_wait(&tc);
        succeeds(&tc, 200, "hello");
        tcall_done(&tc);
        server_drop(s.server);
    }
    assert_int_equal(server_connections(s.server), 3);
    assert_int_equal(server_handshakes(s.server), 1);
    site_done(&s);
}

enum { CROWD = 20 };

static bool crowd_over(void *arg) {
    struct tcall *tc = arg;
    for (int i = 0; i < CROWD; i++)
        if (!tc[i].dones)
            return false;
    return true;
}

static void small_pool(void **state) {
    (void)state;
    struct site s;
    site_start(&s, hello, NULL);
    struct tcall tc[CROWD] = {0};
    for (int i = 0; i < CROWD; i++)
        tcall_get(&tc[i], s.loop, s.t, "/api");
    run_until(s.loop, crowd_over, tc);
    for (int i = 0; i < CROWD; i++) {
        succeeds(&tc[i], 200, "hello");
        tcall_done(&tc[i]);
    }
    assert_in_range(server_connections(s.server), 1, 6);
    site_done(&s);
}

static void lanes_are_apart(void **state) {
    (void)state;
    struct site s;
    site_start(&s, hello, NULL);
    for (int round = 0; round < 2; round++)
        for (int lane = KUBE_LANE_CALL; lane <= KUBE_LANE_LEASE; lane++) {
            struct tcall tc = {0};
            tcall_start(&tc, s.loop, s.t,
                        &(struct kube_request){
                            .method = "GET", .path = "/x", .lane = (enum kube_lane)lane});
            tcall_wait(&tc);
            succeeds(&tc, 200, "hello");
            tcall_done(&tc);
            /* each lane its own, and the same again */
            assert_int_equal(server_request(s.server, round * 3 + lane)->conn, lane + 1);
        }
    assert_int_equal(server_connections(s.server), 3);
    site_done(&s);
}

/* --- answers --- */

static void stream(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)req;
    (void)arg;
    server_begin(c, 200, NULL);
    for (int i = 1; i <= 3; i++) {
        char text[32];
        snprintf(text, sizeof text, "event%d\n", i);
        if (!server_await(c, i))
            return;
        server_chunk(c, text);
    }
    if (server_await(c, 4))
        server_end(c);
}

static bool has_head(void *arg) {
    struct tcall *tc = arg;
    return tc->heads == 1;
}

static bool has_more(void *arg) {
    struct tcall *tc = arg;
    return tc->datas == (int)(intptr_t)tc->arg;
}

/* Each piece arrives before the next is sent, while ordinary calls go on beside it. */
static void watch_streams(void **state) {
    (void)state;
    struct site s;
    site_start(&s, stream, NULL);
    struct tcall tc = {0};
    tcall_start(&tc, s.loop, s.t,
                &(struct kube_request){.method = "GET", .path = "/watch", .lane = KUBE_LANE_WATCH});
    run_until(s.loop, has_head, &tc);
    for (int i = 1; i <= 3; i++) {
        server_step(s.server);
        tc.arg = (void *)(intptr_t)i;
        run_until(s.loop, has_more, &tc);
        assert_int_equal(tc.body.len, i * 7);
        assert_int_equal(tc.dones, 0);
    }
    server_step(s.server);
    tcall_wait(&tc);
    succeeds(&tc, 200, "event1\nevent2\nevent3\n");
    tcall_done(&tc);
    site_done(&s);
}

static void watches_do_not_share(void **state) {
    (void)state;
    struct site s;
    site_start(&s, stream, NULL);
    struct tcall tc[3] = {0};
    for (int i = 0; i < 3; i++) {
        tcall_start(
            &tc[i], s.loop, s.t,
            &(struct kube_request){.method = "GET", .path = "/watch", .lane = KUBE_LANE_WATCH});
        run_until(s.loop, has_head, &tc[i]);
    }
    assert_int_equal(server_connections(s.server), 3);
    for (int i = 0; i < 3; i++) {
        tcall_cancel(&tc[i]);
        tcall_done(&tc[i]);
    }
    site_done(&s);
}

/* A cancelled stream is hung up on, not kept. */
static void cancelled_watch_is_closed(void **state) {
    (void)state;
    struct site s;
    site_start(&s, stream, NULL);
    struct kube_request req = {.method = "GET", .path = "/watch", .lane = KUBE_LANE_WATCH};
    struct tcall one = {0}, two = {0};
    tcall_start(&one, s.loop, s.t, &req);
    run_until(s.loop, has_head, &one);
    tcall_cancel(&one);
    tcall_start(&two, s.loop, s.t, &req);
    run_until(s.loop, has_head, &two);
    assert_int_equal(server_connections(s.server), 2);
    assert_int_equal(one.dones, 0);
    tcall_done(&one);
    tcall_cancel(&two);
    tcall_done(&two);
    site_done(&s);
}

static void big(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)req;
    struct str *text = arg;
    server_begin(c, 200, NULL);
    server_chunk(c, str_get(text));
    server_end(c);
}

static void large_body(void **state) {
    (void)state;
    _cleanup_str_ struct str text = STR_INIT;
    for (int i = 0; text.len < 4 * 1024 * 1024; i++)
        str_addf(&text, "%d ", i);
    struct site s;
    site_start(&s, big, &text);
    struct tcall tc = {0};
    tcall_get(&tc, s.loop, s.t, "/big");
    tcall_wait(&tc);
    assert_int_equal(tc.end.error, 0);
    assert_int_equal(tc.body.len, text.len);
    assert_memory_equal(tc.body.p, text.p, text.len);
    tcall_done(&tc);
    site_done(&s);
}

static void interim(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)req;
    (void)arg;
    server_puts(c, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
    server_reply(c, 429,
                 "Retry-After: 5\r\nX-Kubernetes-PF-FlowSchema-UID: u\r\n"
                 "Warning: 299 - \"careful\"\r\nDate: Sun, 15 Nov 2026 08:00:00 GMT\r\n",
                 "{}");
}

static void head_fields(void **state) {
    (void)state;
    struct site s;
    site_start(&s, interim, NULL);
    struct tcall tc = {0};
    tcall_get(&tc, s.loop, s.t, "/");
    tcall_wait(&tc);
    succeeds(&tc, 429, "{}");
    assert_int_equal(tc.head.retry_after, 5);
    assert_string_equal(tc.head.warning, "careful");
    assert_int_equal(tc.head.date, SEC(1794729600));
    assert_false(tc.head.flow_control); /* it is JSON */
    tcall_done(&tc);
    site_done(&s);
}

static void elsewhere(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)arg;
    if (streq(req->path, "/there"))
        server_reply(c, 200, NULL, "followed");
    else
        server_reply(c, 302, "Location: /there\r\n", "moved");
}

static void redirects_are_not_followed(void **state) {
    (void)state;
    struct site s;
    site_start(&s, elsewhere, NULL);
    struct tcall tc = {0};
    tcall_get(&tc, s.loop, s.t, "/here");
    tcall_wait(&tc);
    succeeds(&tc, 302, "moved");
    assert_int_equal(server_requests(s.server), 1);
    tcall_done(&tc);
    site_done(&s);
}

static void empty(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)arg;
    if (streq(req->method, "HEAD"))
        server_puts(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    else
        server_puts(c, "HTTP/1.1 204 No Content\r\n\r\n");
}

static void no_body(void **state) {
    (void)state;
    struct site s;
    site_start(&s, empty, NULL);
    static const char *const methods[] = {"HEAD", "DELETE", "HEAD", "POST"};
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        struct tcall tc = {0};
        tcall_start(&tc, s.loop, s.t, &(struct kube_request){.method = methods[i], .path = "/"});
        tcall_wait(&tc);
        succeeds(&tc, i % 2 ? 204 : 200, "");
        assert_string_equal(server_request(s.server, (int)i)->method, methods[i]);
        tcall_done(&tc);
    }
    assert_int_equal(server_connections(s.server), 1);
    site_done(&s);
}

/* --- compression --- */

static void zipped(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)arg;
    unsigned char out[256];
    z_stream z = {0};
    deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    z.next_in = (unsigned char *)"a compressed answer";
    z.avail_in = 19;
    z.next_out = out;
    z.avail_out = sizeof out;
    deflate(&z, Z_FINISH);
    size_t len = z.total_out;
    deflateEnd(&z);
    if (streq(req->path, "/damaged"))
        out[len - 6] ^= 1;
    char head[128];
    snprintf(head, sizeof head,
             "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n", len);
    server_puts(c, head);
    server_write(c, out, len);
}

static void gzip(void **state) {
    (void)state;
    static const struct {
        struct kube_curl_options opts;
        bool disabled;
        const char *asks;
    } cases[] = {
        {{0}, false, ""}, {{.compress = true}, false, "gzip"}, {{.compress = true}, true, ""}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct site s;
        site_init(&s);
        site_serve(&s, false, &(struct server_options){.handle = zipped});
        s.config.disable_compression = cases[i].disabled;
        site_connect(&s, false, &cases[i].opts);
        struct tcall tc = {0}, bad = {0};
        tcall_get(&tc, s.loop, s.t, "/");
        tcall_wait(&tc);
        succeeds(&tc, 200, "a compressed answer");
        _cleanup_free_ char *asked = server_header(server_request(s.server, 0), "Accept-Encoding");
        assert_string_equal(strna(asked), cases[i].asks);
        tcall_done(&tc);
        tcall_get(&bad, s.loop, s.t, "/damaged");
        tcall_wait(&bad);
        fails(&bad, EPROTO, true, "@: the compressed answer is damaged", s.config.server);
        tcall_done(&bad);
        site_done(&s);
    }
}

/* --- requests --- */

static void request_as_sent(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    site_serve(&s, false, &(struct server_options){.handle = hello});
    s.config.as_user = (char *)"jane";
    site_connect(&s, false, &(struct kube_curl_options){.user_agent = "slipway/1 (test)"});
    /* More than libcurl would send without asking first, and with a zero byte in it. */
    size_t len = 2 * 1024 * 1024;
    _cleanup_free_ char *body = xmalloc(len);
    for (size_t i = 0; i < len; i++)
        body[i] = (char)(i * 31);
    static const char *const methods[] = {"POST", "PUT", "PATCH", "DELETE"};
    for (int i = 0; i < (int)ARRAY_LEN(methods); i++) {
        struct tcall tc = {0};
        tcall_start(&tc, s.loop, s.t,
                    &(struct kube_request){.method = methods[i],
                                           .path = "/a/../b?x=%2F&y=1",
                                           .accept = "application/vnd.kubernetes.protobuf",
                                           .content_type = "application/merge-patch+json",
                                           .body = body,
                                           .body_len = len});
        tcall_wait(&tc);
        succeeds(&tc, 200, "hello");
        const struct server_request *req = server_request(s.server, i);
        static const char *const headers[][2] = {
            {"Accept", "application/vnd.kubernetes.protobuf"},
            {"Content-Type", "application/merge-patch+json"},
            {"User-Agent", "slipway/1 (test)"},
            {"Impersonate-User", "jane"},
            {"Expect", ""},
            {"Accept-Encoding", ""},
            {"Authorization", ""},
        };
        for (size_t h = 0; h < ARRAY_LEN(headers); h++) {
            _cleanup_free_ char *value = server_header(req, headers[h][0]);
            assert_string_equal(strna(value), headers[h][1]);
        }
        assert_string_equal(req->method, methods[i]);
        assert_string_equal(req->path, "/a/../b?x=%2F&y=1");
        assert_int_equal(req->body_len, len);
        assert_memory_equal(req->body, body, len);
        tcall_done(&tc);
    }
    struct tcall tc = {0};
    tcall_start(&tc, s.loop, s.t, &(struct kube_request){.method = "POST", .path = "/"});
    tcall_wait(&tc);
    const struct server_request *req = server_request(s.server, 4);
    _cleanup_free_ char *length = server_header(req, "Content-Length");
    _cleanup_free_ char *type = server_header(req, "Content-Type");
    assert_string_equal(strna(length), "0");
    assert_null(type);
    tcall_done(&tc);
    assert_int_equal(server_connections(s.server), 1);
    site_done(&s);
}

static void unsendable(void **state) {
    (void)state;
    static const struct {
        struct kube_request req;
        const char *msg;
    } cases[] = {
        {{.method = "GET", .path = "api"}, "the request cannot be sent: its path is not one"},
        {{.method = "GET", .path = "/a b"}, "the request cannot be sent: its path is not one"},
        {{.method = "GET /evil", .path = "/"}, "the request cannot be sent: its method is not one"},
        {{.method = "", .path = "/"}, "the request cannot be sent: its method is not one"},
        {{.method = "PUT", .path = "/", .content_type = "a\r\nX: y"},
         "the value for the header Content-Type has control characters in it"},
    };
    struct site s;
    site_start(&s, hello, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tcall tc = {0};
        tcall_start(&tc, s.loop, s.t, &cases[i].req);
        tcall_wait(&tc);
        fails(&tc, EINVAL, false, cases[i].msg, "");
        assert_int_equal(tc.heads, 0);
        tcall_done(&tc);
    }
    /* and cancelled before it could fail */
    struct tcall tc = {0};
    tcall_start(&tc, s.loop, s.t, &cases[0].req);
    tcall_cancel(&tc);
    run_for(s.loop, MSEC(10));
    assert_int_equal(tc.dones, 0);
    assert_int_equal(server_requests(s.server), 0);
    site_done(&s);
}

/* --- what breaks --- */

static void breaks(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)arg;
    if (streq(req->path, "/short")) {
        server_puts(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
        server_close(c);
    } else if (streq(req->path, "/chunked")) {
        server_begin(c, 200, NULL);
        server_chunk(c, "only this");
        server_close(c);
    } else if (streq(req->path, "/badchunk")) {
        server_begin(c, 200, NULL);
        server_puts(c, "zz\r\nnonsense\r\n");
        server_close(c);
    } else if (streq(req->path, "/nothing")) {
        server_close(c);
    } else if (streq(req->path, "/reset")) {
        server_reset(c);
    } else if (streq(req->path, "/halfhead")) {
        server_puts(c, "HTTP/1.1 200 OK\r\nContent-Ty");
        server_close(c);
    }
}

static void broken_answers(void **state) {
    (void)state;
    const char *middle = "@: the connection broke in the middle of the answer",
               *before = "@: the connection broke before an answer came";
    static const char *const methods[] = {"GET", "POST"};
    for (int plain = 0; plain < 2; plain++)
        for (size_t m = 0; m < 2; m++) {
            struct {
                const char *path;
                int error, code;
                const char *msg, *body;
            } cases[] = {
                {"/short", ECONNRESET, 200, middle, "only this"},
                {"/chunked", ECONNRESET, 200, middle, "only this"},
                {"/nothing", ECONNRESET, 0, before, ""},
                {"/reset", ECONNRESET, 0, before, ""},
                {"/halfhead", ECONNRESET, 0, before, ""},
            };
            struct site s;
            site_init(&s);
            site_serve(&s, plain, &(struct server_options){.handle = breaks});
            site_connect(&s, false, NULL);
            for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct tcall tc = {0};
                tcall_start(&tc, s.loop, s.t,
                            &(struct kube_request){.method = methods[m], .path = cases[i].path});
                tcall_wait(&tc);
                fails(&tc, cases[i].error, true, cases[i].msg, s.config.server);
                assert_int_equal(tc.end.code, cases[i].code);
                assert_string_equal(str_get(&tc.body), cases[i].body);
                tcall_done(&tc);
            }
            struct tcall tc = {0};
            tcall_get(&tc, s.loop, s.t, "/badchunk");
            tcall_wait(&tc);
            assert_int_equal(tc.end.error, -EPROTO);
            assert_true(tc.end.sent);
            tcall_done(&tc);
            site_done(&s);
        }
}

/* The first request of a connection is answered, the second swallowed with the connection. */
static void dies_on_reuse(struct server_conn *c, const struct server_request *req, void *arg) {
    int *last = arg; /* number of the last connection on which something was answered */
    if (*last == req->conn) {
        server_reset(c);
        return;
    }
    *last = req->conn;
    server_reply(c, 200, NULL, "hello");
}

/* libcurl would send a request again when a kept connection dies under it. A write must not be:
 * the server may have carried it out. */
static void writes_are_not_repeated(void **state) {
    (void)state;
    static const struct {
        const char *method;
        bool body;
    } writes[] = {{"POST", true},  {"POST", false},   {"PUT", true},
                  {"PATCH", true}, {"DELETE", false}, {"DELETE", true}};
    for (size_t i = 0; i < ARRAY_LEN(writes); i++) {
        int last = 0;
        struct site s;
        site_start(&s, dies_on_reuse, &last);
        struct tcall first = {0}, tc = {0};
        tcall_get(&first, s.loop, s.t, "/first");
        tcall_wait(&first);
        succeeds(&first, 200, "hello");
        tcall_start(&tc, s.loop, s.t,
                    &(struct kube_request){.method = writes[i].method,
                                           .path = "/write",
                                           .body = "{}",
                                           .body_len = writes[i].body ? 2 : 0});
        tcall_wait(&tc);
        fails(&tc, ECONNRESET, true, "@: the connection broke before an answer came",
              s.config.server);
        assert_int_equal(server_requests(s.server), 2);
        tcall_done(&first);
        tcall_done(&tc);
        site_done(&s);
    }
}

static void reads_are_repeated(void **state) {
    (void)state;
    int last = 0;
    struct site s;
    site_start(&s, dies_on_reuse, &last);
    for (int i = 0; i < 2; i++) {
        struct tcall tc = {0};
        tcall_get(&tc, s.loop, s.t, "/");
        tcall_wait(&tc);
        succeeds(&tc, 200, "hello");
        tcall_done(&tc);
    }
    assert_int_equal(server_requests(s.server), 3);
    assert_int_equal(server_connections(s.server), 2);
    site_done(&s);
}

static void refused(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    site_serve(&s, false, &(struct server_options){.handle = hello});
    site_connect(&s, false, NULL);
    server_stop(s.server);
    s.server = NULL;
    struct tcall tc = {0};
    tcall_get(&tc, s.loop, s.t, "/");
    tcall_wait(&tc);
    fails(&tc, ECONNREFUSED, false, "cannot reach @: connection refused", s.config.server);
    assert_int_equal(tc.end.code, 0);
    assert_int_equal(tc.heads, 0);
    tcall_done(&tc);
    site_done(&s);
}

/* A label of 64 letters is no name at all, so no DNS server is asked. */
static void unresolvable(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    s.config.server = xstrdup("https://"
                              "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                              ".invalid:6443");
    site_connect(&s, false, NULL);
    struct tcall tc = {0};
    tcall_get(&tc, s.loop, s.t, "/");
    tcall_wait(&tc);
    fails(&tc, EHOSTUNREACH, false,
          "cannot reach @: the name "
          "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.invalid cannot be "
          "resolved (DNS)",
          s.config.server);
    tcall_done(&tc);
    site_done(&s);
}

static void says_ssh(struct server_conn *c, void *arg) {
    char buf[4096];
    server_read(c, buf, sizeof buf);
    server_puts(c, arg);
}

static void not_http(void **state) {
    (void)state;
    static const char *const texts[] = {
        "SSH-2.0-OpenSSH_9.2\r\n",
        "\x15\x03\x03\x00\x02\x02\x16",
        "HTTP/1.1 OK\r\n\r\n",
        "hello",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct site s;
        site_init(&s);
        site_serve(&s, true,
                   &(struct server_options){.raw = says_ssh, .arg = (void *)(uintptr_t)texts[i]});
        site_connect(&s, false, NULL);
        struct tcall tc = {0};
        tcall_get(&tc, s.loop, s.t, "/");
        tcall_wait(&tc);
        fails(&tc, EPROTO, true, "@ answered with something that is not HTTP", s.config.server);
        assert_int_equal(tc.heads, 0);
        tcall_done(&tc);
        site_done(&s);
    }
}

static void chatters(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)arg;
    _cleanup_free_ char *value = xmalloc(200000);
    memset(value, 'v', 199999);
    value[199999] = '\0';
    if (!streq(req->path, "/interim"))
        server_puts(c, "HTTP/1.1 200 OK\r\n");
    if (streq(req->path, "/line")) {
        server_puts(c, "X-Long: ");
        server_puts(c, value);
        server_puts(c, "\r\n\r\n");
    } else if (streq(req->path, "/lines")) {
        while (server_puts(c, "X-Again: and again\r\n"))
            ;
    } else if (streq(req->path, "/interim")) {
        while (server_puts(c, "HTTP/1.1 100 Continue\r\n\r\n"))
            ;
    }
    server_close(c);
}

static void too_many_headers(void **state) {
    (void)state;
    struct site s;
    site_start(&s, chatters, NULL);
    static const char *const paths[] = {"/line", "/lines", "/interim"};
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct tcall tc = {0};
        tcall_get(&tc, s.loop, s.t, paths[i]);
        tcall_wait(&tc);
        fails(&tc, EPROTO, true,
              i ? "@ answered with more than 64 KiB of headers"
                : "@ answered with headers that are too long",
              s.config.server);
        assert_int_equal(tc.heads, 0);
        tcall_done(&tc);
    }
    site_done(&s);
}

/* --- without end --- */

static void endless(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)req;
    (void)arg;
    server_begin(c, 200, NULL);
    while (server_puts(c, "10\r\n0123456789abcdef\r\n"))
        ;
    server_close(c);
}

static int until_a_megabyte(struct tcall *tc) {
    return tc->body.len > 1024 * 1024 ? -EFBIG : 0;
}

static void refused_by_receiver(void **state) {
    (void)state;
    struct site s;
    site_start(&s, endless, NULL);
    struct tcall tc = {.refuse = until_a_megabyte};
    tcall_get(&tc, s.loop, s.t, "/");
    tcall_wait(&tc);
    fails(&tc, EFBIG, true, "@: the answer was given up: File too large", s.config.server);
    assert_in_range(tc.body.len, 1024 * 1024, 1024 * 1024 + 65536);
    tcall_done(&tc);
    site_done(&s);
}

/* --- time --- */

static void silent(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)arg;
    if (streq(req->path, "/head")) {
        server_begin(c, 200, NULL);
        server_chunk(c, "first");
    }
    if (!server_await(c, 1))
        return;
    server_chunk(c, "second");
    server_await(c, 1000);
}

static void timeouts(void **state) {
    (void)state;
    static const struct {
        struct kube_request req;
        const char *msg;
        int heads;
    } cases[] = {
        {{.method = "GET", .path = "/", .timeout = MSEC(50)}, "@: no answer within 50ms", 0},
        {{.method = "GET", .path = "/head", .timeout = SEC(1)},
         "@: the answer is not complete after 1s",
         1},
        {{.method = "POST", .path = "/", .idle = SEC(1)}, "@: nothing was received for 1s", 0},
        {{.method = "GET", .path = "/head", .idle = SEC(1), .timeout = SEC(100)},
         "@: nothing was received for 1s",
         1},
        {{.method = "GET", .path = "/head", .idle = SEC(1), .lane = KUBE_LANE_WATCH},
         "@: nothing was received for 1s",
         1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct site s;
        site_start(&s, silent, NULL);
        int64_t start = loop_now(s.loop);
        struct tcall tc = {0};
        tcall_start(&tc, s.loop, s.t, &cases[i].req);
        tcall_wait(&tc);
        if (i > 0) /* 50 ms may not be enough to get a connection on a busy machine */
            fails(&tc, ETIMEDOUT, true, cases[i].msg, s.config.server);
        assert_int_equal(tc.end.error, -ETIMEDOUT);
        assert_int_equal(tc.heads, cases[i].heads);
        assert_int_equal(tc.end.code, cases[i].heads ? 200 : 0);
        assert_true(loop_now(s.loop) - start >= MSEC(50));
        tcall_done(&tc);
        site_done(&s);
    }
}

/* Bytes put the end off. */
static void idle_counts_from_the_last_byte(void **state) {
    (void)state;
    struct site s;
    site_start(&s, silent, NULL);
    struct tcall tc = {0};
    tcall_start(&tc, s.loop, s.t,
                &(struct kube_request){.method = "GET", .path = "/head", .idle = SEC(2)});
    run_until(s.loop, has_head, &tc);
    run_for(s.loop, MSEC(700));
    server_step(s.server);
    tc.arg = (void *)2;
    run_until(s.loop, has_more, &tc);
    int64_t heard = loop_now(s.loop);
    tcall_wait(&tc);
    fails(&tc, ETIMEDOUT, true, "@: nothing was received for 2s", s.config.server);
    /* run_until() looks every millisecond */
    assert_true(loop_now(s.loop) - heard >= SEC(2) - MSEC(100));
    tcall_done(&tc);
    site_done(&s);
}

static void default_timeout(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    site_serve(&s, false, &(struct server_options){.handle = silent});
    site_connect(&s, false, &(struct kube_curl_options){.timeout = MSEC(300)});
    struct tcall call = {0}, lease = {0}, watch = {0}, own = {0};
    tcall_get(&call, s.loop, s.t, "/");
    tcall_start(&lease, s.loop, s.t,
                &(struct kube_request){.method = "GET", .path = "/", .lane = KUBE_LANE_LEASE});
    tcall_start(&watch, s.loop, s.t,
                &(struct kube_request){.method = "GET", .path = "/", .lane = KUBE_LANE_WATCH});
    tcall_start(&own, s.loop, s.t,
                &(struct kube_request){.method = "GET", .path = "/", .timeout = SEC(100)});
    tcall_wait(&call);
    tcall_wait(&lease);
    assert_int_equal(call.end.error, -ETIMEDOUT);
    assert_int_equal(lease.end.error, -ETIMEDOUT);
    assert_int_equal(watch.dones, 0);
    assert_int_equal(own.dones, 0);
    tcall_done(&call);
    tcall_done(&lease);
    site_done(&s); /* with two under way */
}

/* A port on which nobody accepts: the queue of length 0 is full after one connection. */
static void accepts_but_never_speaks(struct server_conn *c, void *arg) {
    (void)arg;
    server_await(c, 1);
}

static void connect_timeout(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    /* It takes the connection, but no TLS comes of it. */
    site_serve(&s, true, &(struct server_options){.raw = accepts_but_never_speaks});
    free(s.config.server);
    s.config.server = xasprintf("https://127.0.0.1:%d", server_port(s.server));
    s.config.ca.data = (char *)pki_ca_pem(s.ca);
    site_connect(&s, false, &(struct kube_curl_options){.connect_timeout = SEC(1)});
    struct tcall tc = {0};
    tcall_get(&tc, s.loop, s.t, "/");
    tcall_wait(&tc);
    fails(&tc, ETIMEDOUT, false, "cannot reach @: no connection within 1 s", s.config.server);
    tcall_done(&tc);
    site_done(&s);
}

/* --- cancelling and freeing, from everywhere --- */

static void cancel_self(struct tcall *tc) {
    tcall_cancel(tc);
}

static void cancel_other(struct tcall *tc) {
    tcall_cancel(tc->arg);
}

static void free_all(struct tcall *tc) {
    struct site *s = tc->arg;
    tc->call = NULL;
    kube_transport_free(s->t);
    s->t = NULL;
}

static void start_other(struct tcall *tc) {
    tcall_get(tc->arg, tc->loop, tc->t, "/");
}

/* Puts `fn` where `where` says. */
static struct tcall hooked(int where, tcall_fn *fn, void *arg) {
    return (struct tcall){.on_head = where == 0 ? fn : NULL,
                          .on_data = where == 1 ? fn : NULL,
                          .on_done = where == 2 ? fn : NULL,
                          .arg = arg};
}

static bool was_called(void *arg) {
    struct tcall *tc = arg;
    return (tc->on_head && tc->heads) || (tc->on_data && tc->datas) || (tc->on_done && tc->dones);
}

static void cancel_in_callbacks(void **state) {
    (void)state;
    for (int where = 0; where < 2; where++) {
        struct site s;
        site_start(&s, hello, NULL);
        struct tcall tc = hooked(where, cancel_self, NULL), next = {0};
        tcall_get(&tc, s.loop, s.t, "/");
        run_until(s.loop, was_called, &tc);
        tcall_get(&next, s.loop, s.t, "/");
        tcall_wait(&next);
        succeeds(&next, 200, "hello");
        assert_int_equal(tc.dones, 0);
        assert_int_equal(tc.datas, where);
        tcall_done(&tc);
        tcall_done(&next);
        site_done(&s);
    }
}

static void cancel_another_in_callbacks(void **state) {
    (void)state;
    for (int where = 0; where < 3; where++)
        for (int lane = KUBE_LANE_CALL; lane <= KUBE_LANE_LEASE; lane++) {
            struct site s;
            site_start(&s, where == 2 ? hello : stream, NULL);
            struct tcall other = {0}, tc = hooked(where, cancel_other, &other);
            tcall_start(
                &other, s.loop, s.t,
                &(struct kube_request){.method = "GET", .path = "/", .lane = (enum kube_lane)lane});
            if (where < 2)
                run_until(s.loop, has_head, &other);
            tcall_get(&tc, s.loop, s.t, "/");
            server_step(s.server);
            run_until(s.loop, was_called, &tc);
            run_for(s.loop, MSEC(5));
            assert_null(other.call);
            tcall_done(&tc);
            tcall_done(&other);
            site_done(&s); /* `tc` may still be under way */
        }
}

static void free_in_callbacks(void **state) {
    (void)state;
    for (int where = 0; where < 3; where++) {
        struct site s;
        site_start(&s, hello, NULL);
        struct tcall other = {0}, third = {0}, tc = hooked(where, free_all, &s);
        tcall_start(&other, s.loop, s.t,
                    &(struct kube_request){.method = "GET", .path = "/", .lane = KUBE_LANE_WATCH});
        tcall_get(&tc, s.loop, s.t, "/");
        tcall_get(&third, s.loop, s.t, "/");
        run_until(s.loop, was_called, &tc);
        int seen = other.dones + third.dones;
        run_for(s.loop, MSEC(5));
        assert_int_equal(other.dones + third.dones, seen);
        assert_null(s.t);
        tcall_done(&other);
        tcall_done(&third);
        tcall_done(&tc);
        site_done(&s);
    }
}

static void start_in_callbacks(void **state) {
    (void)state;
    for (int where = 0; where < 3; where++) {
        struct site s;
        site_start(&s, hello, NULL);
        struct tcall other = {0}, tc = hooked(where, start_other, &other);
        tcall_get(&tc, s.loop, s.t, "/");
        tcall_wait(&tc);
        tcall_wait(&other);
        succeeds(&tc, 200, "hello");
        succeeds(&other, 200, "hello");
        tcall_done(&tc);
        tcall_done(&other);
        site_done(&s);
    }
}

/* Cancelled at once, and freed while everything is under way. */
static void early_ends(void **state) {
    (void)state;
    struct site s;
    site_start(&s, silent, NULL);
    struct tcall tc[CROWD] = {0};
    for (int i = 0; i < CROWD; i++) {
        tcall_start(&tc[i], s.loop, s.t,
                    &(struct kube_request){.method = i % 2 ? "GET" : "POST",
                                           .path = i % 3 ? "/" : "/head",
                                           .lane = (enum kube_lane)(i % 3)});
        if (i % 4 == 0)
            tcall_cancel(&tc[i]);
        if (i % 5 == 0)
            run_for(s.loop, MSEC(2));
    }
    run_for(s.loop, MSEC(20));
    kube_transport_free(s.t);
    s.t = NULL;
    run_for(s.loop, MSEC(5));
    for (int i = 0; i < CROWD; i++) {
        assert_int_equal(tc[i].dones, 0);
        tcall_done(&tc[i]);
    }
    site_done(&s);
}

/* --- the rest --- */

static void log_lines(void **state) {
    (void)state;
    struct site s;
    site_start(&s, elsewhere, NULL);
    struct tcall tc = {0}, bad = {0};
    tcall_get(&tc, s.loop, s.t, "/here?a=b");
    tcall_wait(&tc);
    _cleanup_free_ char *line = site_logged(&s);
    _cleanup_free_ char *want =
        xasprintf("debug: \"Response\" verb=\"GET\" url=\"%s/here?a=b\" status=\"302 Found\" "
                  "milliseconds=",
                  s.config.server);
    assert_true(str_starts(line, want));
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
    tcall_done(&tc);
    server_stop(s.server);
    s.server = NULL;
    tcall_get(&bad, s.loop, s.t, "/");
    tcall_wait(&bad);
    _cleanup_free_ char *failed = site_logged(&s);
    assert_non_null(strstr(failed, "status=\"\" milliseconds="));
    assert_non_null(strstr(failed, "err=\"cannot reach https://127.0.0.1:"));
    tcall_done(&bad);
    site_done(&s);
}

static void loop_ends(void **state) {
    (void)state;
    struct site s;
    site_start(&s, hello, NULL);
    struct tcall tc = {0};
    tcall_get(&tc, s.loop, s.t, "/");
    loop_run(s.loop); /* returns: nothing is left to wait for */
    assert_int_equal(tc.dones, 1);
    tcall_done(&tc);
    site_done(&s);
}

static void bad_configuration(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    struct kube_transport *t = NULL;
    struct err err = ERR_INIT;
    s.config.server = xstrdup("tcp://127.0.0.1");
    assert_int_equal(kube_transport_curl_new(s.loop, &s.config, NULL, NULL, NULL, &t, &err),
                     -EINVAL);
    assert_string_equal(err_msg(&err), "server \"tcp://127.0.0.1\": a URL with https:// is needed "
                                       "(http:// works, too), not tcp://");
    free(s.config.server);
    s.config.server = xstrdup("https://127.0.0.1");
    s.config.ca.data = (char *)"nonsense";
    assert_int_equal(kube_transport_curl_new(s.loop, &s.config, NULL, NULL, NULL, &t, &err),
                     -EINVAL);
    assert_string_equal(err_msg(&err), "certificate-authority-data holds no valid PEM certificate");
    assert_null(t);
    err_done(&err);
    site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_alive),
        cmocka_unit_test(resumes_tls),
        cmocka_unit_test(small_pool),
        cmocka_unit_test(lanes_are_apart),
        cmocka_unit_test(watch_streams),
        cmocka_unit_test(watches_do_not_share),
        cmocka_unit_test(cancelled_watch_is_closed),
        cmocka_unit_test(large_body),
        cmocka_unit_test(head_fields),
        cmocka_unit_test(redirects_are_not_followed),
        cmocka_unit_test(no_body),
        cmocka_unit_test(gzip),
        cmocka_unit_test(request_as_sent),
        cmocka_unit_test(unsendable),
        cmocka_unit_test(broken_answers),
        cmocka_unit_test(writes_are_not_repeated),
        cmocka_unit_test(reads_are_repeated),
        cmocka_unit_test(refused),
        cmocka_unit_test(unresolvable),
        cmocka_unit_test(not_http),
        cmocka_unit_test(too_many_headers),
        cmocka_unit_test(refused_by_receiver),
        cmocka_unit_test(timeouts),
        cmocka_unit_test(idle_counts_from_the_last_byte),
        cmocka_unit_test(default_timeout),
        cmocka_unit_test(connect_timeout),
        cmocka_unit_test(cancel_in_callbacks),
        cmocka_unit_test(cancel_another_in_callbacks),
        cmocka_unit_test(free_in_callbacks),
        cmocka_unit_test(start_in_callbacks),
        cmocka_unit_test(early_ends),
        cmocka_unit_test(log_lines),
        cmocka_unit_test(loop_ends),
        cmocka_unit_test(bad_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
