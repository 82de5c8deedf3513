/* Tests of kube/curl_target: addresses, the name on the certificate, headers of impersonation. */
#include "kube/curl_target.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"

static char *no_env(const char *name) {
    (void)name;
    return NULL;
}

static void addresses(void **state) {
    (void)state;
    static const struct {
        const char *server, *shown, *name;
    } cases[] = {
        {"https://127.0.0.1:6443", "https://127.0.0.1:6443", "127.0.0.1"},
        {"https://k8s.example", "https://k8s.example", "k8s.example"},
        {"https://k8s.example/", "https://k8s.example", "k8s.example"},
        {"https://r.example:8443/k8s/clusters/c-1/", "https://r.example:8443/k8s/clusters/c-1",
         "r.example"},
        {"https://[fd00::1]:6443", "https://[fd00::1]:6443", "fd00::1"},
        {"http://localhost:8080", "http://localhost:8080", "localhost"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct kube_config config = {.server = (char *)cases[i].server};
        struct curl_target t;
        struct err err = ERR_INIT;
        assert_int_equal(curl_target_init(&t, &config, no_env, &err), 0);
        assert_string_equal(t.server, cases[i].shown);
        assert_string_equal(t.base, cases[i].shown);
        assert_string_equal(t.name, cases[i].name);
        assert_null(t.connect_to);
        assert_null(t.headers);
        assert_string_equal(t.proxy.url, "");
        curl_target_done(&t);
    }
}

static void server_name(void **state) {
    (void)state;
    static const struct {
        const char *server, *name, *base, *to, *host;
    } cases[] = {
        {"https://127.0.0.1:6443", "kubernetes", "https://kubernetes:6443", "::127.0.0.1:6443",
         "Host: 127.0.0.1:6443"},
        {"https://k8s.example/p/", "10.0.0.1", "https://10.0.0.1:443/p", "::k8s.example:443",
         "Host: k8s.example"},
        {"https://[::1]:6443", "fd00::1", "https://[fd00::1]:6443", "::[::1]:6443",
         "Host: [::1]:6443"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct kube_config config = {.server = (char *)cases[i].server,
                                     .tls_server_name = (char *)cases[i].name};
        struct curl_target t;
        struct err err = ERR_INIT;
        assert_int_equal(curl_target_init(&t, &config, no_env, &err), 0);
        assert_string_equal(t.base, cases[i].base);
        assert_string_equal(t.name, cases[i].name);
        assert_string_equal(t.connect_to->data, cases[i].to);
        assert_string_equal(t.headers->data, cases[i].host);
        curl_target_done(&t);
    }
    /* Without TLS there is nothing to name. */
    struct kube_config plain = {.server = (char *)"http://127.0.0.1:8080",
                                .tls_server_name = (char *)"kubernetes"};
    struct curl_target t;
    struct err err = ERR_INIT;
    assert_int_equal(curl_target_init(&t, &plain, no_env, &err), 0);
    assert_string_equal(t.base, "http://127.0.0.1:8080");
    assert_null(t.connect_to);
    curl_target_done(&t);
}

static void impersonation(void **state) {
    (void)state;
    char *groups[] = {(char *)"system:masters", (char *)"b c", NULL};
    struct kube_extra extra[] = {{(char *)"scopes", (char *)"view"},
                                 {(char *)"acme.com/projec\xc3\xa9%", (char *)"x"}};
    struct kube_config config = {.server = (char *)"https://a",
                                 .as_user = (char *)"jane",
                                 .as_uid = (char *)"u1",
                                 .as_groups = groups,
                                 .as_extra = extra,
                                 .n_as_extra = 2};
    static const char *const want[] = {
        "Impersonate-User: jane",
        "Impersonate-Uid: u1",
        "Impersonate-Group: system:masters",
        "Impersonate-Group: b c",
        "Impersonate-Extra-scopes: view",
        "Impersonate-Extra-acme.com%2Fprojec%C3%A9%25: x",
    };
    struct curl_target t;
    struct err err = ERR_INIT;
    assert_int_equal(curl_target_init(&t, &config, no_env, &err), 0);
    struct curl_slist *h = t.headers;
    for (size_t i = 0; i < ARRAY_LEN(want); i++, h = h->next) {
        assert_non_null(h);
        assert_string_equal(h->data, want[i]);
    }
    assert_null(h);
    curl_target_done(&t);
}

static void refuses(const struct kube_config *config, const char *msg) {
    struct curl_target t;
    struct err err = ERR_INIT;
    assert_int_equal(curl_target_init(&t, config, no_env, &err), -EINVAL);
    assert_string_equal(err_msg(&err), msg);
    err_done(&err);
}

static void refused(void **state) {
    (void)state;
    struct kube_config c = {.server = (char *)"127.0.0.1:6443"};
    refuses(&c, "server \"127.0.0.1:6443\" is not a URL like https://host:port");
    c.server = NULL;
    refuses(&c, "server \"\" is not a URL like https://host:port");
    c.server = (char *)"ftp://a";
    refuses(&c, "server \"ftp://a\": a URL with https:// is needed (http:// works, too), not "
                "ftp://");
    c.server = (char *)"https://me:secret@a";
    refuses(&c, "the server's URL must not hold a user name (put it into the user's entry)");
    c.server = (char *)"https://a/?x=1";
    refuses(&c, "server \"https://a/?x=1\": only a path may follow the host");
    c.server = (char *)"https://a";
    c.as_user = (char *)"jane\r\nX-Evil: 1";
    refuses(&c, "the value for Impersonate-User has control characters in it");
    c.as_user = NULL;
    c.tls_server_name = (char *)"a/b";
    refuses(&c, "tls-server-name \"a/b\" is not a host name");
    c.tls_server_name = NULL;
    c.proxy_url = (char *)"ldap://x";
    refuses(&c, "proxy-url: unknown kind of proxy \"ldap\" (known: http, https, socks5)");
}

static void valid(void **state) {
    (void)state;
    assert_true(header_value_valid(""));
    assert_true(header_value_valid("Bearer a\tb \xc3\xa9"));
    assert_false(header_value_valid("a\nb"));
    assert_false(header_value_valid("a\rb"));
    assert_false(header_value_valid("\x7f"));
    assert_true(request_path_valid("/api/v1/pods?limit=500&labelSelector=a%3Db"));
    assert_false(request_path_valid(""));
    assert_false(request_path_valid("api"));
    assert_false(request_path_valid("/a b"));
    assert_false(request_path_valid("/a#b"));
    assert_false(request_path_valid("/a\r\nHost: evil"));
    assert_false(request_path_valid("/\xc3\xa9"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses), cmocka_unit_test(server_name), cmocka_unit_test(impersonation),
        cmocka_unit_test(refused),   cmocka_unit_test(valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
