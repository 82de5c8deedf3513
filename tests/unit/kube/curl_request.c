/* Tests of kube/curl_request: what a real server receives, and what comes of its answer. */
#include "kube/curl_request.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "support/server.h"

struct fixture {
    struct server *server;
    struct kube_config config;
    struct curl_target target;
    CURL *easy;
    struct str body; /* of the last answer */
    long code;
};

static char *no_env(const char *name) {
    (void)name;
    return NULL;
}

/* "/zipped" and "/damaged" are compressed, "/there" is where "/moved" leads, "/204" has no body. */
static void answer(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)arg;
    if (streq(req->path, "/moved")) {
        server_reply(c, 302, "Location: /there\r\n", "moved");
    } else if (streq(req->path, "/204")) {
        server_puts(c, "HTTP/1.1 204 No Content\r\n\r\n");
    } else if (streq(req->method, "HEAD")) {
        server_puts(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    } else if (!streq(req->path, "/zipped") && !streq(req->path, "/damaged")) {
        server_reply(c, 200, NULL, "hello");
    } else {
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
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    f->server = server_start(&(struct server_options){.handle = answer});
    f->config.server = server_url(f->server, NULL);
    f->config.as_user = (char *)"jane";
    f->easy = curl_easy_init();
    *state = f;
    return curl_target_init(&f->target, &f->config, no_env, NULL);
}

static int teardown(void **state) {
    struct fixture *f = *state;
    curl_easy_cleanup(f->easy);
    server_stop(f->server);
    curl_target_done(&f->target);
    free(f->config.server);
    str_done(&f->body);
    free(f);
    curl_global_cleanup();
    return 0;
}

static size_t keep(char *p, size_t one, size_t len, void *arg) {
    (void)one;
    struct fixture *f = arg;
    str_addn(&f->body, p, len);
    return len;
}

static CURLcode perform(struct fixture *f, struct curl_request req) {
    struct curl_slist *headers;
    struct err err = ERR_INIT;
    req.user_agent = req.user_agent ? req.user_agent : "test";
    req.connect_timeout = SEC(30);
    str_reset(&f->body);
    curl_easy_reset(f->easy); /* keeps the connection */
    curl_easy_setopt(f->easy, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(f->easy, CURLOPT_WRITEDATA, f);
    if (curl_request_apply(f->easy, &f->target, &req, &headers, &err) < 0)
        fail_msg("%s", err_msg(&err));
    CURLcode r = curl_easy_perform(f->easy);
    curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &f->code);
    curl_request_headers_free(headers);
    return r;
}

static void has(struct fixture *f, int i, const char *name, const char *value) {
    _cleanup_free_ char *got = server_header(server_request(f->server, i), name);
    assert_string_equal(got ? got : "(none)", value);
}

static void writes(void **state) {
    struct fixture *f = *state;
    /* More than libcurl would send without asking first, and with zero bytes in it. */
    size_t len = 2 * 1024 * 1024;
    _cleanup_free_ char *body = xmalloc(len);
    for (size_t i = 0; i < len; i++)
        body[i] = (char)(i * 31);
    static const char *const methods[] = {"POST", "PUT", "PATCH", "DELETE"};
    for (int i = 0; i < (int)ARRAY_LEN(methods); i++) {
        assert_int_equal(
            perform(f, (struct curl_request){.method = methods[i],
                                             .path = "/a/../b?x=%2F&y=1",
                                             .accept = "application/vnd.kubernetes.protobuf",
                                             .content_type = "application/merge-patch+json",
                                             .authorization = "Bearer t",
                                             .user_agent = "slipway/1 (test)",
                                             .body = body,
                                             .body_len = len}),
            CURLE_OK);
        const struct server_request *req = server_request(f->server, i);
        assert_string_equal(req->method, methods[i]);
        assert_string_equal(req->path, "/a/../b?x=%2F&y=1");
        assert_int_equal(req->body_len, len);
        assert_memory_equal(req->body, body, len);
        has(f, i, "Accept", "application/vnd.kubernetes.protobuf");
        has(f, i, "Content-Type", "application/merge-patch+json");
        has(f, i, "User-Agent", "slipway/1 (test)");
        has(f, i, "Authorization", "Bearer t");
        has(f, i, "Impersonate-User", "jane");
        has(f, i, "Expect", "(none)");
        has(f, i, "Accept-Encoding", "(none)");
    }
    assert_int_equal(server_connections(f->server), 1);
}

static void without_body(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *method, *length;
    } cases[] = {{"GET", "(none)"}, {"HEAD", "(none)"}, {"DELETE", "(none)"}, {"POST", "0"},
                 {"PUT", "0"},      {"HEAD", "(none)"}, {"OPTIONS", "(none)"}};
    for (int i = 0; i < (int)ARRAY_LEN(cases); i++) {
        bool head = streq(cases[i].method, "HEAD");
        assert_int_equal(perform(f, (struct curl_request){.method = cases[i].method, .path = "/"}),
                         CURLE_OK);
        assert_string_equal(server_request(f->server, i)->method, cases[i].method);
        assert_string_equal(str_get(&f->body), head ? "" : "hello");
        has(f, i, "Content-Length", cases[i].length);
        has(f, i, "Content-Type", "(none)");
        has(f, i, "Accept", "*/*");
        has(f, i, "Authorization", "(none)");
    }
    assert_int_equal(perform(f, (struct curl_request){.method = "POST", .path = "/204"}), CURLE_OK);
    assert_int_equal(f->code, 204);
    assert_int_equal(server_connections(f->server), 1);
}

static void redirect(void **state) {
    struct fixture *f = *state;
    assert_int_equal(perform(f, (struct curl_request){.method = "GET", .path = "/moved"}),
                     CURLE_OK);
    assert_int_equal(f->code, 302);
    assert_string_equal(str_get(&f->body), "moved");
    assert_int_equal(server_requests(f->server), 1);
}

/* Asked for or not, it is decoded. */
static void compressed(void **state) {
    struct fixture *f = *state;
    for (int ask = 0; ask < 2; ask++) {
        struct curl_request req = {.method = "GET", .path = "/zipped", .compress = ask};
        assert_int_equal(perform(f, req), CURLE_OK);
        assert_string_equal(str_get(&f->body), "a compressed answer");
        has(f, ask * 2, "Accept-Encoding", ask ? "gzip" : "(none)");
        req.path = "/damaged";
        assert_int_equal(perform(f, req), CURLE_BAD_CONTENT_ENCODING);
    }
}

/* Children must not inherit it, and a peer that is gone must be noticed. */
static void socket_options(void **state) {
    struct fixture *f = *state;
    assert_int_equal(perform(f, (struct curl_request){.method = "GET", .path = "/"}), CURLE_OK);
    int seen = 0;
    for (int fd = 3; fd < 256; fd++) {
        struct sockaddr_in peer;
        socklen_t len = sizeof peer, one = sizeof(int);
        int user_timeout = 0, keepalive = 0, nodelay = 0;
        if (getpeername(fd, (struct sockaddr *)&peer, &len) < 0 || peer.sin_family != AF_INET ||
            ntohs(peer.sin_port) != server_port(f->server))
            continue;
        seen++;
        assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout, &one);
        getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &keepalive, &one);
        getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &nodelay, &one);
        assert_int_equal(user_timeout, 30000);
        assert_true(keepalive);
        assert_true(nodelay);
    }
    assert_int_equal(seen, 1);
}

static void refused(void **state) {
    struct fixture *f = *state;
    static const char evil[] = "a\r\nX-Evil: 1";
    static const struct {
        struct curl_request req;
        const char *msg;
    } cases[] = {
        {{.accept = evil}, "the value for the header Accept has control characters in it"},
        {{.content_type = evil},
         "the value for the header Content-Type has control characters in it"},
        {{.authorization = evil},
         "the value for the header Authorization has control characters in it"},
        {{.user_agent = evil}, "the value for the header User-Agent has control characters in it"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct curl_request req = cases[i].req;
        struct curl_slist *headers;
        struct err err = ERR_INIT;
        req.method = "GET";
        req.path = "/";
        req.user_agent = req.user_agent ? req.user_agent : "test";
        assert_int_equal(curl_request_apply(f->easy, &f->target, &req, &headers, &err), -EINVAL);
        assert_string_equal(err_msg(&err), cases[i].msg);
        curl_request_headers_free(headers);
        err_done(&err);
    }
}

static void checked(void **state) {
    (void)state;
    assert_null(curl_request_check("GET", "/api/v1/nodes?limit=1"));
    assert_string_equal(curl_request_check("", "/"), "its method is not one");
    assert_string_equal(curl_request_check("get", "/"), "its method is not one");
    assert_string_equal(curl_request_check("GET /evil HTTP/1.1\r\n", "/"), "its method is not one");
    assert_string_equal(curl_request_check("GET", "api"), "its path is not one");
    assert_string_equal(curl_request_check("GET", "/a b"), "its path is not one");
    assert_string_equal(curl_request_check("GET", "/a#b"), "its path is not one");
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(writes),
        CASE(without_body),
        CASE(redirect),
        CASE(compressed),
        CASE(socket_options),
        CASE(refused),
        cmocka_unit_test(checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
