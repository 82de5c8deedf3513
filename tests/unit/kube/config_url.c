/* Tests of kube/config_url: normal forms, and every refusal. */
#include "kube/config_url.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static void good_servers(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
    } t[] = {
        {"https://1.2.3.4:6443", "https://1.2.3.4:6443"},
        {"https://host", "https://host"},
        {"https://host/", "https://host"},
        {"https://host:443/a/b//", "https://host:443/a/b"},
        {"HTTPS://Host/k8s/clusters/c-1", "https://Host/k8s/clusters/c-1"},
        {"https://host/a?q=1#f", "https://host/a"},
        {"https://host?q", "https://host"},
        {"https://host#f", "https://host"},
        {"https://[::1]:6443", "https://[::1]:6443"},
        {"https://[fe80::1%25eth0]/x", "https://[fe80::1%25eth0]/x"},
        {"https://host:", "https://host"},
        {"http://localhost:8080", "http://localhost:8080"},
        /* rest.DefaultServerURL of client-go: no scheme is http */
        {"host", "http://host"},
        {"host:6443", "http://host:6443"},
        {"1.2.3.4:6443/", "http://1.2.3.4:6443"},
        {"[::1]:6443", "http://[::1]:6443"},
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        char *out = NULL;
        _cleanup_err_ struct err err = ERR_INIT;
        if (kube_url_server(t[i].in, &out, &err) < 0)
            fail_msg("%s", err_msg(&err));
        assert_string_equal(out, t[i].out);
        free(out);
    }
}

static void bad_servers(void **state) {
    (void)state;
    static const struct {
        const char *in, *why;
    } t[] = {
        {"", "\"\" is no server URL: the host is missing"},
        {"https://", "\"https://\" is no server URL: the host is missing"},
        {"https://:6443", "\"https://:6443\" is no server URL: the host is missing"},
        {"https:///path", "\"https:///path\" is no server URL: the host is missing"},
        {"ftp://host", "\"ftp://host\" is no server URL: it must begin with https:// or http://"},
        {"unix:///run/x", "\"unix:///run/x\" is no server URL: it must begin with https:// or "
                          "http://"},
        {"host/path", "\"host/path\" is no server URL: write https://host:port/path or host:port"},
        {"https:/host", "\"https:/host\" is no server URL: write https://host:port/path or "
                        "host:port"},
        {"https:host", "\"https:host\" is no server URL: the port must be a number from 1 to "
                       "65535"},
        {"https://ho st", "\"https://ho st\" is no server URL: it has a blank or a control "
                          "character in it"},
        {"https://host\n", "\"https://host\\n\" is no server URL: it has a blank or a control "
                           "character in it"},
        {"https://host/a b", "\"https://host/a b\" is no server URL: it has a blank or a control "
                             "character in it"},
        {"https://host:0", "\"https://host:0\" is no server URL: the port must be a number from 1 "
                           "to 65535"},
        {"https://host:65536", "\"https://host:65536\" is no server URL: the port must be a number "
                               "from 1 to 65535"},
        {"https://host:6443x", "\"https://host:6443x\" is no server URL: the port must be a number "
                               "from 1 to 65535"},
        {"https://host:123456", "\"https://host:123456\" is no server URL: the port must be a "
                                "number from 1 to 65535"},
        {"https://::1:6443", "\"https://::1:6443\" is no server URL: an IPv6 address must stand in "
                             "brackets: [::1]:6443"},
        {"https://[::1", "\"https://[::1\" is no server URL: a \"]\" is missing after the IPv6 "
                         "address"},
        {"https://[]", "\"https://[]\" is no server URL: what stands in brackets is no IPv6 "
                       "address"},
        {"https://[host]", "\"https://[host]\" is no server URL: what stands in brackets is no "
                           "IPv6 address"},
        {"https://[::1]x", "\"https://[::1]x\" is no server URL: only a port may follow the IPv6 "
                           "address"},
        {"https://ho\"st", "\"https://ho\"st\" is no server URL: the host has a character that no "
                           "host name has"},
        {"https://user:secret@host", "a server URL must not hold a user name or password: use the "
                                     "user's username and password instead"},
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        char *out = NULL;
        _cleanup_err_ struct err err = ERR_INIT;
        assert_int_equal(kube_url_server(t[i].in, &out, &err), -EINVAL);
        assert_string_equal(err_msg(&err), t[i].why);
        assert_null(out);
    }
}

static void proxies(void **state) {
    (void)state;
    static const char *const good[] = {"http://proxy:3128", "https://user:pass@proxy",
                                       "socks5://[::1]:1080/", "HTTP://p", "http://a@b:c@host:1"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_int_equal(kube_url_proxy(good[i], NULL), 0);
    static const struct {
        const char *in, *why;
    } bad[] = {
        {"proxy:3128", "it must begin with http://, https:// or socks5://"},
        {"", "it must begin with http://, https:// or socks5://"},
        {"ftp://user:secret@proxy",
         "the scheme \"ftp\" is not supported: it must be http, https or socks5"},
        {"socks5h://x",
         "the scheme \"socks5h\" is not supported: it must be http, https or socks5"},
        {"http://", "the host is missing"},
        {"http://user:secret@", "the host is missing"},
        {"http://pro xy", "it has a blank or a control character in it"},
        {"http://user:secret@proxy:x", "the port must be a number from 1 to 65535"},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        assert_int_equal(kube_url_proxy(bad[i].in, &err), -EINVAL);
        assert_string_equal(err_msg(&err), bad[i].why);
    }
}

static void joining(void **state) {
    (void)state;
    static const char *const t[][2] = {
        {"10.0.0.1", "10.0.0.1:443"}, {"fd00::1", "[fd00::1]:443"}, {"[fd00::1]", "[fd00::1]:443"}};
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        _cleanup_free_ char *s = kube_url_join(t[i][0], "443");
        assert_string_equal(s, t[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_servers),
        cmocka_unit_test(bad_servers),
        cmocka_unit_test(proxies),
        cmocka_unit_test(joining),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
