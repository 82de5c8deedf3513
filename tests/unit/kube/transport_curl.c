/* Tests of kube/transport_curl against a scripted server: connections and answers. Its other sides
 * are in transport_curl_fail.c, transport_curl_cancel.c and transport_curl_tls.c. */
#include "kube/transport_curl.h"

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
#include "kube/curl_head.h"
#include "support/site.h"

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
        tcall_succeeds(&tc, 200, "hello");
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
        tcall_succeeds(&tc, 200, "hello");
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
        tcall_succeeds(&tc[i], 200, "hello");
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
            tcall_succeeds(&tc, 200, "hello");
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
    tcall_succeeds(&tc, 200, "event1\nevent2\nevent3\n");
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
    tcall_succeeds(&tc, 429, "{}");
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
    tcall_succeeds(&tc, 302, "moved");
    assert_int_equal(server_requests(s.server), 1);
    tcall_done(&tc);
    site_done(&s);
}

/* --- requests --- */

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
        tcall_fails(&tc, EINVAL, false, cases[i].msg, "");
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

/* --- the rest --- */

static void compression(void **state) {
    (void)state;
    static const struct {
        bool asked, forbidden;
        const char *sent;
    } cases[] = {{false, false, ""}, {true, false, "gzip"}, {true, true, ""}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct site s;
        site_init(&s);
        site_serve(&s, false, &(struct server_options){.handle = hello});
        s.config.disable_compression = cases[i].forbidden;
        site_connect(&s, false, &(struct kube_curl_options){.compress = cases[i].asked});
        struct tcall tc = {0};
        tcall_get(&tc, s.loop, s.t, "/");
        tcall_wait(&tc);
        tcall_succeeds(&tc, 200, "hello");
        _cleanup_free_ char *sent = server_header(server_request(s.server, 0), "Accept-Encoding");
        assert_string_equal(strna(sent), cases[i].sent);
        tcall_done(&tc);
        site_done(&s);
    }
}

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

/* How often `part` is in `text`. */
static int count_of(const char *text, const char *part) {
    int n = 0;
    for (const char *p = text; (p = strstr(p, part)); p += strlen(part))
        n++;
    return n;
}

/* As kubectl words it (kube/curl_trace.h), and nothing in our own words beside it. */
static void trace_lines(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    site_serve(&s, false, &(struct server_options){.handle = elsewhere});
    site_connect(&s, false, &(struct kube_curl_options){.trace = 6});
    struct tcall tc = {0}, bad = {0};
    tcall_get(&tc, s.loop, s.t, "/here?a=b");
    tcall_wait(&tc);
    _cleanup_free_ char *line = site_logged(&s);
    _cleanup_free_ char *want =
        xasprintf(" round_trippers.go:632] \"Response\" verb=\"GET\" url=\"%s/here?a=b\" "
                  "status=\"302 Found\" milliseconds=",
                  s.config.server);
    assert_int_equal(line[0], 'I');
    assert_non_null(strstr(line, want));
    assert_int_equal(count_of(line, "\n"), 1);
    tcall_done(&tc);
    server_stop(s.server);
    s.server = NULL;
    tcall_get(&bad, s.loop, s.t, "/");
    tcall_wait(&bad);
    _cleanup_free_ char *failed = site_logged(&s);
    assert_non_null(strstr(failed, "status=\"\" milliseconds="));
    assert_int_equal(count_of(failed, "\n"), 1);
    tcall_done(&bad);
    site_done(&s);
}

static void trace_everything(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    site_serve(&s, false, &(struct server_options){.handle = hello});
    site_connect(&s, false, &(struct kube_curl_options){.trace = 9});
    for (int i = 0; i < 2; i++) {
        struct tcall tc = {0};
        tcall_get(&tc, s.loop, s.t, "/x");
        tcall_wait(&tc);
        tcall_succeeds(&tc, 200, "hello");
        _cleanup_free_ char *text = site_logged(&s);
        /* In this order, the connection only where there was none. */
        static const char *const parts[] = {"] \"Request Body\" body=\"\"\n",
                                            "] \"Request\" curlCommand=<\n\tcurl -v -XGET  -H ",
                                            "] \"HTTP Trace: Dial succeed\" network=\"tcp\" ",
                                            "] \"Response\" verb=\"GET\" url=\"https://",
                                            " status=\"200 OK\" headers=<\n",
                                            "\n > milliseconds=",
                                            "] \"Response Body\" body=\"hello\"\n"};
        const char *p = text;
        for (size_t k = 0; k < ARRAY_LEN(parts); k++) {
            if (i && k == 2) {
                assert_null(strstr(text, parts[k]));
                continue;
            }
            p = strstr(p, parts[k]);
            if (!p)
                fail_msg("%s is not in %s", parts[k], text);
        }
        assert_int_equal(count_of(text, " tlsHandshakeMilliseconds="), !i);
        assert_int_equal(count_of(text, " getConnectionMilliseconds="), i);
        tcall_done(&tc);
    }
    server_stop(s.server);
    s.server = NULL;
    struct tcall bad = {0};
    tcall_get(&bad, s.loop, s.t, "/");
    tcall_wait(&bad);
    _cleanup_free_ char *failed = site_logged(&s);
    assert_non_null(strstr(failed, "] \"HTTP Trace: Dial failed\" network=\"tcp\" address=\"127."));
    assert_non_null(strstr(failed, "connect: connection refused\"\n"));
    assert_null(strstr(failed, "Response Body"));
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
        cmocka_unit_test(compression),
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
        cmocka_unit_test(unsendable),
        cmocka_unit_test(log_lines),
        cmocka_unit_test(trace_lines),
        cmocka_unit_test(trace_everything),
        cmocka_unit_test(loop_ends),
        cmocka_unit_test(bad_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
