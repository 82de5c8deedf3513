/* Tests of kube/transport_curl against a scripted server: what breaks, never ends, or takes too
 * long. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "support/site.h"

static void hello(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)req;
    (void)arg;
    server_reply(c, 200, NULL, "hello");
}

static bool has_head(void *arg) {
    struct tcall *tc = arg;
    return tc->heads == 1;
}

static bool has_more(void *arg) {
    struct tcall *tc = arg;
    return tc->datas == (int)(intptr_t)tc->arg;
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
                tcall_fails(&tc, cases[i].error, true, cases[i].msg, s.config.server);
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
        tcall_succeeds(&first, 200, "hello");
        tcall_start(&tc, s.loop, s.t,
                    &(struct kube_request){.method = writes[i].method,
                                           .path = "/write",
                                           .body = "{}",
                                           .body_len = writes[i].body ? 2 : 0});
        tcall_wait(&tc);
        tcall_fails(&tc, ECONNRESET, true, "@: the connection broke before an answer came",
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
        tcall_succeeds(&tc, 200, "hello");
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
    tcall_fails(&tc, ECONNREFUSED, false, "cannot reach @: connection refused", s.config.server);
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
    tcall_fails(
        &tc, EHOSTUNREACH, false,
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
        tcall_fails(&tc, EPROTO, true, "@ answered with something that is not HTTP",
                    s.config.server);
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
        tcall_fails(&tc, EPROTO, true,
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
    char chunk[6 + 4096 + 2];
    memset(chunk, 'x', sizeof chunk);
    memcpy(chunk, "1000\r\n", 6);
    memcpy(chunk + 6 + 4096, "\r\n", 2);
    server_begin(c, 200, NULL);
    while (server_write(c, chunk, sizeof chunk))
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
    tcall_fails(&tc, EFBIG, true, "@: the answer was given up: File too large", s.config.server);
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

/* All at once, and with room for a busy machine to get as far as they say. */
static void timeouts(void **state) {
    (void)state;
    static const struct {
        struct kube_request req;
        const char *msg;
        int heads;
    } cases[] = {
        {{.method = "GET", .path = "/", .timeout = SEC(3)}, "@: no answer within 3s", 0},
        {{.method = "GET", .path = "/head", .timeout = SEC(3)},
         "@: the answer is not complete after 3s",
         1},
        {{.method = "POST", .path = "/", .idle = SEC(3)}, "@: nothing was received for 3s", 0},
        {{.method = "GET", .path = "/head", .idle = SEC(3), .timeout = SEC(100)},
         "@: nothing was received for 3s",
         1},
        {{.method = "GET", .path = "/head", .idle = SEC(3), .lane = KUBE_LANE_WATCH},
         "@: nothing was received for 3s",
         1},
    };
    struct site s;
    struct tcall tc[ARRAY_LEN(cases)] = {0};
    site_start(&s, silent, NULL);
    int64_t start = loop_now(s.loop);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        tcall_start(&tc[i], s.loop, s.t, &cases[i].req);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        tcall_wait(&tc[i]);
        tcall_fails(&tc[i], ETIMEDOUT, true, cases[i].msg, s.config.server);
        assert_int_equal(tc[i].heads, cases[i].heads);
        assert_int_equal(tc[i].end.code, cases[i].heads ? 200 : 0);
        tcall_done(&tc[i]);
    }
    assert_true(loop_now(s.loop) - start >= SEC(3));
    site_done(&s);
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
    tcall_fails(&tc, ETIMEDOUT, true, "@: nothing was received for 2s", s.config.server);
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
    tcall_fails(&tc, ETIMEDOUT, false, "cannot reach @: no connection within 1 s", s.config.server);
    tcall_done(&tc);
    site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_answers),     cmocka_unit_test(writes_are_not_repeated),
        cmocka_unit_test(reads_are_repeated), cmocka_unit_test(refused),
        cmocka_unit_test(unresolvable),       cmocka_unit_test(not_http),
        cmocka_unit_test(too_many_headers),   cmocka_unit_test(refused_by_receiver),
        cmocka_unit_test(timeouts),           cmocka_unit_test(idle_counts_from_the_last_byte),
        cmocka_unit_test(default_timeout),    cmocka_unit_test(connect_timeout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
