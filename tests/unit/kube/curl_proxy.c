/* Tests of kube/curl_proxy: NO_PROXY's language, and which proxy it is. */
#include "kube/curl_proxy.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"

static void names(void **state) {
    (void)state;
    static const struct {
        const char *list, *host;
        int port;
        bool named;
    } cases[] = {
        {"", "a.example", 443, false},
        {" , ,", "a.example", 443, false},
        {"*", "a.example", 443, true},
        {"example", "a.example", 443, true},
        {".example", "a.example", 443, true},
        {"EXAMPLE", "a.example", 443, true},
        {"example", "example", 443, true},
        {".example", "example", 443, false},
        {"*.corp.invalid", "k8s.corp.invalid", 443, true},
        {"*.corp.invalid", "a.b.CORP.invalid", 443, true},
        {"*.corp.invalid", "corp.invalid", 443, false},
        {"*.corp.invalid", "xcorp.invalid", 443, false},
        {"*.corp.invalid:6443", "k8s.corp.invalid", 6443, true},
        {"*.corp.invalid:6443", "k8s.corp.invalid", 443, false},
        {"*corp.invalid", "k8s.corp.invalid", 443, false},
        {"example.", "a.example", 443, false},
        {"ample", "a.example", 443, false},
        {"a.example", "example", 443, false},
        {"x, b.example,\ta.example ", "a.example", 443, true},
        {"b.example a.example", "a.example", 443, false}, /* only commas part */
        {"a.example:", "a.example", 443, true},
        {":443", "a.example", 443, false},
        {"]", "a.example", 443, false},
        {"[", "a.example", 443, false},
        {"[:", "a.example", 443, false},
        {"[]:443", "a.example", 443, false},
        {"a.example:6443", "a.example", 443, false},
        {"a.example:443", "a.example", 443, true},
        {"10.0.0.1", "10.0.0.1", 443, true},
        {"10.0.0.1:6443", "10.0.0.1", 6443, true},
        {"10.0.0.1:6443", "10.0.0.1", 443, false},
        {"10.0.0.1", "10.0.0.11", 443, false},
        {"0.0.1", "10.0.0.1", 443, false},
        {"10.0.0.0/8", "10.200.3.4", 443, true},
        {"10.0.0.0/8", "11.0.0.1", 443, false},
        {"192.168.0.0/23", "192.168.1.255", 443, true},
        {"192.168.0.0/23", "192.168.2.0", 443, false},
        {"0.0.0.0/0", "8.8.8.8", 443, true},
        {"10.0.0.0/33", "10.0.0.0", 443, false},
        {"10.0.0.0/", "10.0.0.0", 443, false},
        {"10.0.0.0/8x", "10.0.0.0", 443, false},
        {"10.0.0.0/-1", "10.0.0.0", 443, false},
        {"10.0.0.0/+8", "10.0.0.0", 443, false},
        {"10.0.0.0/99999999999999999999", "10.0.0.0", 443, false},
        {"10.0.0.0/8", "::ffff:10.1.1.1", 443, true},
        {"::ffff:10.0.0.1", "10.0.0.1", 443, true},
        {"10.0.0.0/8", "name", 443, false},
        {"fd00::/8", "fd12::1", 443, true},
        {"fd00::/8", "fe80::1", 443, false},
        {"::1", "::1", 443, true},
        {"[fd00::1]", "fd00::1", 443, false}, /* Go reads brackets only before a port */
        {"[fd00::1]:6443", "fd00::1", 6443, true},
        {"[fd00::1]:6443", "fd00::1", 443, false},
        {"fd00:0:0::1", "fd00::1", 443, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (no_proxy_names(cases[i].list, cases[i].host, cases[i].port) != cases[i].named)
            fail_msg("\"%s\" and %s:%d", cases[i].list, cases[i].host, cases[i].port);
}

static const char *const *environment;

static char *env(const char *name) {
    for (const char *const *e = environment; e && *e; e += 2)
        if (streq(e[0], name))
            return (char *)e[1];
    return NULL;
}
#define ENV(...) (environment = (const char *const[]){__VA_ARGS__, NULL})

static void is(const char *proxy_url, bool https, const char *host, const char *url,
               const char *shown) {
    struct curl_proxy p;
    struct err err = ERR_INIT;
    assert_int_equal(curl_proxy_choose(proxy_url, https, host, 6443, env, &p, &err), 0);
    assert_string_equal(p.url, url);
    assert_string_equal(strna(p.shown), shown);
    curl_proxy_done(&p);
}

static void configured(void **state) {
    (void)state;
    environment = NULL;
    is(NULL, true, "k8s", "", "");
    is("", true, "k8s", "", "");
    is("http://proxy:3128", true, "k8s", "http://proxy:3128/", "http://proxy:3128");
    is("https://u:p%40ss@proxy/ignored", true, "k8s", "https://u:p%40ss@proxy/", "https://proxy");
    is("socks5://[::1]:1080", true, "k8s", "socks5h://[::1]:1080/", "socks5://[::1]:1080");
    /* It decides alone: neither the environment nor the loopback rule matters. */
    ENV("NO_PROXY", "*", "HTTPS_PROXY", "http://other");
    is("http://proxy:3128", true, "127.0.0.1", "http://proxy:3128/", "http://proxy:3128");
}

static void from_environment(void **state) {
    (void)state;
    ENV("HTTPS_PROXY", "http://big:1", "https_proxy", "", "ALL_PROXY", "http://all:2", "HTTP_PROXY",
        "http://plain:3", "NO_PROXY", "near");
    is(NULL, true, "k8s", "http://big:1/", "http://big:1");
    is(NULL, true, "k8s.near", "", "");
    is(NULL, false, "k8s", "http://plain:3/", "http://plain:3");
    is(NULL, true, "127.0.0.1", "", "");
    is(NULL, true, "127.3.2.1", "", "");
    is(NULL, true, "::1", "", "");
    is(NULL, true, "localhost", "", "");
    /* Upper case wins. */
    ENV("https_proxy", "small:1", "HTTPS_PROXY", "http://big:1", "no_proxy", "x", "NO_PROXY",
        "k8s");
    is(NULL, true, "k8s", "", "");
    is(NULL, true, "x", "http://big:1/", "http://big:1");
    ENV("https_proxy", "small:1", "HTTPS_PROXY", "", "no_proxy", "*.near");
    is(NULL, true, "k8s", "http://small:1/", "http://small:1");
    is(NULL, true, "k8s.near", "", "");
    ENV("ALL_PROXY", "http://all:2", "all_proxy", "http://all:2");
    is(NULL, true, "k8s", "", "");
    is(NULL, false, "k8s", "", "");
    ENV("http_proxy", "http://plain:1");
    is(NULL, false, "k8s", "http://plain:1/", "http://plain:1");
    is(NULL, true, "k8s", "", "");
}

static void refuses(const char *proxy_url, const char *msg) {
    struct curl_proxy p;
    struct err err = ERR_INIT;
    assert_int_equal(curl_proxy_choose(proxy_url, true, "k8s", 6443, env, &p, &err), -EINVAL);
    assert_string_equal(err_msg(&err), msg);
    err_done(&err);
}

static void refused(void **state) {
    (void)state;
    environment = NULL;
    refuses("ftp://proxy", "proxy-url: unknown kind of proxy \"ftp\" (known: http, https, socks5)");
    refuses("http://pro xy:1", "proxy-url is not a URL like http://host:port");
    refuses("http://proxy:70000", "proxy-url is not a URL like http://host:port");
    ENV("HTTPS_PROXY", "quic://proxy");
    refuses(NULL, "HTTPS_PROXY: unknown kind of proxy \"quic\" (known: http, https, socks5)");
    ENV("https_proxy", "quic://proxy");
    refuses(NULL, "https_proxy: unknown kind of proxy \"quic\" (known: http, https, socks5)");
}

static void in_a_cgi_program(void **state) {
    (void)state;
    ENV("HTTP_PROXY", "http://evil", "HTTPS_PROXY", "http://big:1", "REQUEST_METHOD", "GET");
    is(NULL, true, "k8s", "http://big:1/", "http://big:1");
    struct curl_proxy p;
    struct err err = ERR_INIT;
    assert_int_equal(curl_proxy_choose(NULL, false, "k8s", 80, env, &p, &err), -EINVAL);
    assert_true(str_starts(err_msg(&err), "HTTP_PROXY is not trusted in a CGI program"));
    err_done(&err);
    is("http://proxy:3128", false, "k8s", "http://proxy:3128/", "http://proxy:3128");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(configured),
        cmocka_unit_test(from_environment),
        cmocka_unit_test(refused),
        cmocka_unit_test(in_a_cgi_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
