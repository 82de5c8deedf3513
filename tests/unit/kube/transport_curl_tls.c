/* Tests of kube/transport_curl against a scripted server: certificates, credentials, proxies. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "support/proxy.h"
#include "support/site.h"

static void hello(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)req;
    (void)arg;
    server_reply(c, 200, NULL, "hello");
}

static struct tcall get(struct site *s) {
    struct tcall tc = {0};
    tcall_get(&tc, s->loop, s->t, "/api");
    tcall_wait(&tc);
    return tc;
}

static void succeeds(struct tcall tc, int code, const char *body) {
    tcall_succeeds(&tc, code, body);
    tcall_done(&tc);
}

/* Before an answer. The message is the server's URL and `rest`. */
static void fails(struct site *s, struct tcall tc, int error, bool sent, const char *rest) {
    _cleanup_free_ char *msg = xasprintf("@%s", rest);
    tcall_fails(&tc, error, sent, msg, s->config.server);
    assert_int_equal(tc.end.code, 0);
    assert_int_equal(tc.heads, 0);
    tcall_done(&tc);
}

/* --- the server's certificate --- */

static void server_certificates(void **state) {
    (void)state;
    static const struct {
        struct pki_spec spec;
        bool stranger; /* signed by another CA */
        const char *says;
    } cases[] = {
        {{.cn = "x", .names = "IP:127.0.0.1"},
         true,
         ": the server's certificate is signed by an unknown authority, \"CN=stranger\" (give the "
         "right certificate-authority)"},
        {{.cn = "x", .names = "IP:10.0.0.1,DNS:kubernetes,DNS:kubernetes.default.svc"},
         false,
         ": the server's certificate is not valid for 127.0.0.1 but for 10.0.0.1, kubernetes, "
         "kubernetes.default.svc (is the address right? else give tls-server-name)"},
        {{.cn = "127.0.0.1", .names = "DNS:other"},
         false,
         ": the server's certificate is not valid for 127.0.0.1 but for other (is the address "
         "right? else give tls-server-name)"},
    };
    struct pki_ca *stranger = pki_ca_new("stranger");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct site s;
        site_init(&s);
        struct pki_pair pair = pki_issue(cases[i].stranger ? stranger : s.ca, &cases[i].spec);
        site_serve(&s, false,
                   &(struct server_options){.handle = hello, .cert = pair.cert, .key = pair.key});
        site_connect(&s, false, NULL);
        fails(&s, get(&s), EPROTO, false, cases[i].says);
        assert_int_equal(server_requests(s.server), 0);
        pki_pair_done(&pair);
        site_done(&s);
    }
    pki_ca_free(stranger);
}

static void server_certificate_dates(void **state) {
    (void)state;
    static const struct {
        long from, to;
        const char *begins, *ends;
    } cases[] = {
        {-7200, -3600, ": the server's certificate expired on 20",
         "Z (renew it, or set this machine's clock)"},
        {3600, 7200, ": the server's certificate is not valid before 20",
         "Z (is this machine's clock right?)"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct site s;
        site_init(&s);
        struct pki_pair pair = pki_issue(s.ca, &(struct pki_spec){.cn = "x",
                                                                  .names = "IP:127.0.0.1",
                                                                  .not_before = cases[i].from,
                                                                  .not_after = cases[i].to});
        site_serve(&s, false,
                   &(struct server_options){.handle = hello, .cert = pair.cert, .key = pair.key});
        site_connect(&s, false, NULL);
        struct tcall tc = get(&s);
        _cleanup_free_ char *begins = xasprintf("%s%s", s.config.server, cases[i].begins);
        assert_true(str_starts(tc.msg, begins));
        assert_true(str_ends(tc.msg, cases[i].ends));
        assert_int_equal(tc.end.error, -EPROTO);
        assert_false(tc.end.sent);
        tcall_done(&tc);
        pki_pair_done(&pair);
        site_done(&s);
    }
}

static void no_ca_is_system_roots(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    site_serve(&s, false, &(struct server_options){.handle = hello});
    s.config.ca.data = NULL;
    site_connect(&s, false, NULL);
    fails(&s, get(&s), EPROTO, false,
          ": the server's certificate is signed by an unknown authority, \"CN=site-ca\" (give the "
          "right certificate-authority)");
    site_done(&s);
}

static void insecure(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    struct pki_pair pair = pki_issue(s.ca, &(struct pki_spec){.cn = "x", .names = "DNS:other"});
    site_serve(&s, false,
               &(struct server_options){.handle = hello, .cert = pair.cert, .key = pair.key});
    s.config.ca.data = NULL;
    s.config.insecure = true;
    site_connect(&s, false, NULL);
    succeeds(get(&s), 200, "hello");
    pki_pair_done(&pair);
    site_done(&s);
}

/* The name is asked for and checked; the Host header stays the address. */
static void tls_server_name(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    struct pki_pair pair =
        pki_issue(s.ca, &(struct pki_spec){.cn = "x", .names = "DNS:kubernetes"});
    site_serve(&s, false,
               &(struct server_options){.handle = hello, .cert = pair.cert, .key = pair.key});
    s.config.tls_server_name = (char *)"kubernetes";
    site_connect(&s, false, NULL);
    succeeds(get(&s), 200, "hello");
    succeeds(get(&s), 200, "hello");
    const struct server_request *req = server_request(s.server, 1);
    _cleanup_free_ char *host = server_header(req, "Host");
    _cleanup_free_ char *want = xasprintf("127.0.0.1:%d", server_port(s.server));
    assert_string_equal(req->sni, "kubernetes");
    assert_string_equal(host, want);
    assert_int_equal(server_connections(s.server), 1);
    kube_transport_free(s.t);

    s.config.tls_server_name = (char *)"other";
    site_connect(&s, false, NULL);
    fails(&s, get(&s), EPROTO, false,
          ": the server's certificate is not valid for other but for kubernetes (is the address "
          "right? else give tls-server-name)");
    pki_pair_done(&pair);
    site_done(&s);
}

static void host_name_and_sni(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    site_serve(&s, false, &(struct server_options){.handle = hello});
    free(s.config.server);
    s.config.server = server_url(s.server, "localhost");
    site_connect(&s, false, NULL);
    succeeds(get(&s), 200, "hello");
    assert_string_equal(server_request(s.server, 0)->sni, "localhost");
    site_done(&s);
}

static void tls12(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    site_serve(&s, false, &(struct server_options){.handle = hello, .tls12 = true});
    site_connect(&s, false, NULL);
    succeeds(get(&s), 200, "hello");
    succeeds(get(&s), 200, "hello");
    assert_int_equal(server_connections(s.server), 1);
    site_done(&s);
}

/* As Go's server does. */
static void wants_http(struct server_conn *c, void *arg) {
    (void)arg;
    char first[4096];
    server_read(c, first, sizeof first);
    server_puts(c, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n400 Bad Request");
}

static void not_tls(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    site_serve(&s, true, &(struct server_options){.raw = wants_http});
    free(s.config.server);
    s.config.server = xasprintf("https://127.0.0.1:%d", server_port(s.server));
    s.config.ca.data = (char *)pki_ca_pem(s.ca);
    site_connect(&s, false, NULL);
    fails(&s, get(&s), EPROTO, false,
          ": something that is not TLS answers on that port (is it an http:// address?)");
    site_done(&s);
}

static void hangs_up(struct server_conn *c, void *arg) {
    (void)arg;
    char hello_[4096];
    server_read(c, hello_, sizeof hello_);
    server_reset(c);
}

static void closed_in_the_handshake(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    site_serve(&s, true, &(struct server_options){.raw = hangs_up});
    free(s.config.server);
    s.config.server = xasprintf("https://127.0.0.1:%d", server_port(s.server));
    s.config.ca.data = (char *)pki_ca_pem(s.ca);
    site_connect(&s, false, NULL);
    fails(&s, get(&s), ECONNRESET, false, ": the connection was closed during the TLS handshake");
    site_done(&s);
}

/* http:// to a TLS port: the server does not understand, and what it says is not HTTP. */
static void tls_where_none_is_expected(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    site_serve(&s, false, &(struct server_options){.handle = hello});
    free(s.config.server);
    s.config.server = xasprintf("http://127.0.0.1:%d", server_port(s.server));
    site_connect(&s, false, NULL);
    struct tcall tc = get(&s);
    assert_true(tc.end.error == -EPROTO || tc.end.error == -ECONNRESET);
    assert_int_equal(tc.heads, 0);
    tcall_done(&tc);
    site_done(&s);
}

/* The file has changed without showing it (same size, times and inode): what the failed
 * verification makes us find out, within the same call. */
static void ca_is_read_again_after_a_failure(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    struct pki_ca *old = pki_ca_new("site-ca");
    site_serve(&s, false, &(struct server_options){.handle = hello});
    s.config.ca.data = NULL;
    size_t len = MAX_OF(strlen(pki_ca_pem(old)), strlen(pki_ca_pem(s.ca))) + 1;
    _cleanup_free_ char *first = xasprintf("%-*s", (int)len, pki_ca_pem(old));
    _cleanup_free_ char *second = xasprintf("%-*s", (int)len, pki_ca_pem(s.ca));
    _cleanup_free_ char *path = site_file(&s, "ca.crt", first);
    s.config.ca.file = path;
    site_connect(&s, false, NULL);
    struct tcall tc = get(&s);
    assert_int_equal(tc.end.error, -EPROTO);
    tcall_done(&tc);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(write(fd, second, len), len);
    struct timespec times[2] = {st.st_atim, st.st_mtim};
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
    succeeds(get(&s), 200, "hello");
    pki_ca_free(old);
    site_done(&s);
}

/* --- client certificates --- */

static void mutual_tls(void **state) {
    (void)state;
    for (int old = 0; old < 2; old++) {
        struct site s;
        site_init(&s);
        site_serve(
            &s, false,
            &(struct server_options){.handle = hello, .client_ca = pki_ca_pem(s.ca), .tls12 = old});
        struct pki_pair me =
            pki_issue(s.ca, &(struct pki_spec){.cn = "jane", .org = "system:masters", .client = 1});
        s.config.cert.data = me.cert;
        s.config.key.data = me.key;
        site_connect(&s, true, NULL);
        succeeds(get(&s), 200, "hello");
        assert_string_equal(server_request(s.server, 0)->peer, "jane");
        site_done(&s);
        pki_pair_done(&me);
    }
}

/* TLS 1.2 fails before the request is sent, 1.3 after; in neither case was it carried out. */
static void client_certificate_refused(void **state) {
    (void)state;
    enum { NONE, STRANGE, EXPIRED };
    struct pki_ca *stranger = pki_ca_new("stranger");
    for (int old = 0; old < 2; old++)
        for (int what = NONE; what <= EXPIRED; what++) {
            struct site s;
            site_init(&s);
            struct pki_pair me =
                pki_issue(what == STRANGE ? stranger : s.ca,
                          &(struct pki_spec){.cn = "jane",
                                             .client = true,
                                             .not_before = -7200,
                                             .not_after = what == EXPIRED ? -3600 : 3600});
            site_serve(&s, false,
                       &(struct server_options){
                           .handle = hello, .client_ca = pki_ca_pem(s.ca), .tls12 = old});
            if (what != NONE) {
                s.config.cert.data = me.cert;
                s.config.key.data = me.key;
            }
            site_connect(&s, true, NULL);
            struct tcall tc = {0};
            tcall_start(&tc, s.loop, s.t, &(struct kube_request){.method = "POST", .path = "/"});
            tcall_wait(&tc);
            assert_int_equal(tc.end.error, -EPROTO);
            /* TLS 1.2 has no word for "certificate required" */
            if (!old || what != NONE)
                assert_non_null(strstr(tc.msg, ": the server refuses our client certificate "));
            if (what == EXPIRED)
                assert_non_null(strstr(tc.msg, "expired"));
            assert_false(tc.end.sent);
            assert_int_equal(server_requests(s.server), 0);
            tcall_done(&tc);
            site_done(&s);
            pki_pair_done(&me);
        }
    pki_ca_free(stranger);
}

/* The certificate's files change: no connection made with the old ones is used again. */
static void client_certificate_rotates(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    site_serve(&s, false, &(struct server_options){.handle = hello, .client_ca = pki_ca_pem(s.ca)});
    struct pki_pair one = pki_issue(s.ca, &(struct pki_spec){.cn = "one", .client = true});
    struct pki_pair two = pki_issue(s.ca, &(struct pki_spec){.cn = "two", .client = true});
    _cleanup_free_ char *cert = site_file(&s, "cert", one.cert);
    _cleanup_free_ char *key = site_file(&s, "key", one.key);
    s.config.cert.file = cert;
    s.config.key.file = key;
    site_connect(&s, true, NULL);
    succeeds(get(&s), 200, "hello");
    free(site_file(&s, "cert", two.cert));
    free(site_file(&s, "key", two.key));
    succeeds(get(&s), 200, "hello");
    assert_int_equal(server_connections(s.server), 2);
    assert_string_equal(server_request(s.server, 0)->peer, "one");
    assert_string_equal(server_request(s.server, 1)->peer, "two");
    site_done(&s);
    pki_pair_done(&one);
    pki_pair_done(&two);
}

/* --- tokens --- */

static void only_new(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)arg;
    _cleanup_free_ char *auth = server_header(req, "Authorization");
    if (streq(strna(auth), "Bearer new"))
        server_reply(c, 200, NULL, "hello");
    else
        server_reply(c, 401, NULL, "{\"kind\":\"Status\",\"code\":401}");
}

static void fixed_token(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    site_serve(&s, false, &(struct server_options){.handle = only_new});
    s.config.token = (char *)"old";
    site_connect(&s, true, NULL);
    succeeds(get(&s), 401, "{\"kind\":\"Status\",\"code\":401}");
    assert_int_equal(server_requests(s.server), 1);
    site_done(&s);
}

static void rotated_token(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    site_serve(&s, false, &(struct server_options){.handle = only_new});
    _cleanup_free_ char *path = site_file(&s, "token", "new\n");
    s.config.token_file = path;
    site_connect(&s, true, NULL);
    succeeds(get(&s), 200, "hello");
    kube_transport_free(s.t);
    kube_auth_free(s.auth);

    free(site_file(&s, "token", "old\n"));
    site_connect(&s, true, NULL);
    /* The file still says the same: asking again would not help. */
    succeeds(get(&s), 401, "{\"kind\":\"Status\",\"code\":401}");
    assert_int_equal(server_requests(s.server), 2);
    /* Now it says something else: the receiver sees nothing of the 401. */
    free(site_file(&s, "token", "new\n"));
    struct tcall post = {0};
    tcall_start(
        &post, s.loop, s.t,
        &(struct kube_request){.method = "POST", .path = "/p", .body = "{}", .body_len = 2});
    tcall_wait(&post);
    succeeds(post, 200, "hello");
    assert_int_equal(server_requests(s.server), 4);
    assert_string_equal(server_request(s.server, 2)->body, "{}");
    assert_string_equal(server_request(s.server, 3)->body, "{}");
    site_done(&s);
}

/* The token changes with every request, and is never right. */
static void endless_401(struct server_conn *c, const struct server_request *req, void *arg) {
    FILE *f = fopen(arg, "w");
    fprintf(f, "token-%p", (const void *)req);
    fclose(f);
    server_begin(c, 401, NULL);
    while (server_puts(c, "10\r\n0123456789abcdef\r\n"))
        ;
    server_close(c);
}

static int keep_a_little(struct tcall *tc) {
    return tc->body.len > 100000 ? -EFBIG : 0;
}

/* A 401 with an endless body does not keep us from asking again, but once only. */
static void discards_within_limits(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    _cleanup_free_ char *path = site_file(&s, "token", "first");
    site_serve(&s, false, &(struct server_options){.handle = endless_401, .arg = path});
    s.config.token_file = path;
    site_connect(&s, true, NULL);
    struct tcall tc = {.refuse = keep_a_little};
    tcall_get(&tc, s.loop, s.t, "/");
    tcall_wait(&tc);
    assert_int_equal(tc.end.error, -EFBIG);
    assert_int_equal(tc.head.code, 401);
    assert_int_equal(server_requests(s.server), 2);
    tcall_done(&tc);
    site_done(&s);
}

static void no_credentials(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    site_serve(&s, false, &(struct server_options){.handle = hello});
    _cleanup_free_ char *path = xasprintf("%s/absent", s.dir);
    s.config.token_file = path;
    site_connect(&s, true, NULL);
    struct tcall tc = get(&s);
    assert_int_equal(tc.end.error, -EACCES);
    assert_false(tc.end.sent);
    assert_non_null(strstr(tc.msg, path));
    tcall_done(&tc);
    assert_int_equal(server_connections(s.server), 0);
    /* cancelled while it waits for credentials */
    tc = (struct tcall){0};
    tcall_get(&tc, s.loop, s.t, "/");
    tcall_cancel(&tc);
    run_for(s.loop, MSEC(10));
    assert_int_equal(tc.dones, 0);
    site_done(&s);
}

/* --- proxies --- */

static void http_proxy(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    site_serve(&s, false, &(struct server_options){.handle = hello});
    struct proxy p = {0};
    struct server *proxy = server_start(&(struct server_options){.raw = proxy_http, .arg = &p});
    /* A name that only the proxy knows. */
    free(s.config.server);
    s.config.server = server_url(s.server, "site.example");
    _cleanup_free_ char *url = xasprintf("http://user:pass@127.0.0.1:%d", server_port(proxy));
    s.config.proxy_url = url;
    site_connect(&s, false, NULL);
    succeeds(get(&s), 200, "hello");
    succeeds(get(&s), 200, "hello");
    _cleanup_free_ char *target = xasprintf("site.example:%d", server_port(s.server));
    assert_string_equal(p.target, target);
    assert_string_equal(p.auth, "Basic dXNlcjpwYXNz");
    assert_string_equal(server_request(s.server, 1)->sni, "site.example");
    assert_int_equal(server_connections(proxy), 1);
    assert_int_equal(server_connections(s.server), 1);

    /* without its password in the message */
    p.status = 403;
    server_drop(proxy);
    struct tcall tc = get(&s);
    _cleanup_free_ char *want =
        xasprintf("the proxy http://127.0.0.1:%d does not connect us to %s: it answered 403",
                  server_port(proxy), s.config.server);
    assert_string_equal(tc.msg, want);
    assert_int_equal(tc.end.error, -EHOSTUNREACH);
    assert_false(tc.end.sent);
    tcall_done(&tc);
    int port = server_port(proxy);
    server_stop(proxy);
    tc = get(&s);
    _cleanup_free_ char *gone =
        xasprintf("cannot reach the proxy http://127.0.0.1:%d: connection refused", port);
    assert_string_equal(tc.msg, gone);
    assert_int_equal(tc.end.error, -ECONNREFUSED);
    tcall_done(&tc);
    site_done(&s);
}

static void socks5_proxy(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    site_serve(&s, false, &(struct server_options){.handle = hello});
    struct proxy p = {0};
    struct server *proxy = server_start(&(struct server_options){.raw = proxy_socks5, .arg = &p});
    free(s.config.server);
    s.config.server = server_url(s.server, "site.example");
    _cleanup_free_ char *url = xasprintf("socks5://127.0.0.1:%d", server_port(proxy));
    s.config.proxy_url = url;
    site_connect(&s, false, NULL);
    succeeds(get(&s), 200, "hello");
    _cleanup_free_ char *target = xasprintf("site.example:%d", server_port(s.server));
    assert_string_equal(p.target, target);
    site_done(&s);
    server_stop(proxy);
}

static void name_through_proxy(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    site_serve(&s, false, &(struct server_options){.handle = hello});
    struct proxy p = {0};
    struct server *proxy = server_start(&(struct server_options){.raw = proxy_http, .arg = &p});
    free(s.config.server);
    s.config.server = server_url(s.server, "elsewhere.example");
    s.config.tls_server_name = (char *)"site.example";
    _cleanup_free_ char *url = xasprintf("http://127.0.0.1:%d", server_port(proxy));
    s.config.proxy_url = url;
    site_connect(&s, false, NULL);
    succeeds(get(&s), 200, "hello");
    _cleanup_free_ char *target = xasprintf("elsewhere.example:%d", server_port(s.server));
    _cleanup_free_ char *host = server_header(server_request(s.server, 0), "Host");
    assert_string_equal(p.target, target);
    assert_string_equal(host, target);
    assert_string_equal(server_request(s.server, 0)->sni, "site.example");
    site_done(&s);
    server_stop(proxy);
}

static void https_proxy(void **state) {
    (void)state;
    struct site s;
    site_init(&s);
    site_serve(&s, false, &(struct server_options){.handle = hello});
    struct pki_pair bad = pki_issue(
        s.ca, &(struct pki_spec){
                  .cn = "x", .names = "IP:127.0.0.1", .not_before = -7200, .not_after = -3600});
    /* The relay of the test proxy is not made for TLS, so only the refusal is tried. */
    struct proxy p = {.status = 502};
    struct server *proxy = server_start(&(struct server_options){
        .raw = proxy_http, .arg = &p, .cert = s.cert.cert, .key = s.cert.key});
    _cleanup_free_ char *url = xasprintf("https://127.0.0.1:%d", server_port(proxy));
    s.config.proxy_url = url;
    site_connect(&s, false, NULL);
    struct tcall tc = get(&s);
    _cleanup_free_ char *want =
        xasprintf("the proxy %s does not connect us to %s: it answered 502", url, s.config.server);
    assert_string_equal(tc.msg, want);
    tcall_done(&tc);
    server_use(proxy, bad.cert, bad.key);
    tc = get(&s);
    _cleanup_free_ char *begins = xasprintf("%s: the proxy's certificate expired on ", url);
    assert_true(str_starts(tc.msg, begins));
    tcall_done(&tc);
    site_done(&s);
    server_stop(proxy);
    pki_pair_done(&bad);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(server_certificates),
        cmocka_unit_test(server_certificate_dates),
        cmocka_unit_test(no_ca_is_system_roots),
        cmocka_unit_test(insecure),
        cmocka_unit_test(tls_server_name),
        cmocka_unit_test(host_name_and_sni),
        cmocka_unit_test(tls12),
        cmocka_unit_test(not_tls),
        cmocka_unit_test(closed_in_the_handshake),
        cmocka_unit_test(tls_where_none_is_expected),
        cmocka_unit_test(ca_is_read_again_after_a_failure),
        cmocka_unit_test(mutual_tls),
        cmocka_unit_test(client_certificate_refused),
        cmocka_unit_test(client_certificate_rotates),
        cmocka_unit_test(fixed_token),
        cmocka_unit_test(rotated_token),
        cmocka_unit_test(discards_within_limits),
        cmocka_unit_test(no_credentials),
        cmocka_unit_test(http_proxy),
        cmocka_unit_test(socks5_proxy),
        cmocka_unit_test(name_through_proxy),
        cmocka_unit_test(https_proxy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
