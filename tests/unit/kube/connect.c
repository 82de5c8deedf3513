/* Tests of kube/connect.c: from a kubeconfig to an answer of a server, and what a bad one says. */
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
#include "kube/connect.h"
#include "support/pki.h"
#include "support/site.h"

static void handle(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)arg;
    if (strstr(req->path, "/nodes/"))
        server_reply(c, 200, "Content-Type: application/json\r\n",
                     "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n1\"}}");
    else
        server_reply(c, 200, "Content-Type: application/json\r\n", "{\"major\":\"1\"}");
}

static int setup(void **state) {
    struct site *s = xnew(struct site);
    site_init(s);
    struct server_options opts = {.handle = handle};
    site_serve(s, false, &opts);
    *state = s;
    return 0;
}

static int teardown(void **state) {
    site_done(*state);
    free(*state);
    return 0;
}

/* Writes a kubeconfig and returns its path; `ca` is the path of a file. */
static char *kubeconfig(struct site *s, const char *ca) {
    _cleanup_free_ char *url = server_url(s->server, "127.0.0.1");
    _cleanup_free_ char *text = xasprintf("apiVersion: v1\n"
                                          "kind: Config\n"
                                          "current-context: c\n"
                                          "contexts:\n"
                                          "- name: c\n"
                                          "  context: {cluster: k, user: u, namespace: ops}\n"
                                          "clusters:\n"
                                          "- name: k\n"
                                          "  cluster:\n"
                                          "    server: %s\n"
                                          "    certificate-authority: %s\n"
                                          "users:\n"
                                          "- name: u\n"
                                          "  user: {token: secret-token}\n",
                                          url, ca);
    return site_file(s, "config", text);
}

static void test_connects(void **state) {
    struct site *s = *state;
    _cleanup_free_ char *ca = site_file(s, "ca.pem", s->config.ca.data);
    _cleanup_free_ char *path = kubeconfig(s, ca);
    struct kube_config_flags flags = {.kubeconfig = path};
    struct kube_curl_options opts = {.user_agent = "slipway/test"};
    struct kube_connection c;
    _cleanup_err_ struct err err = ERR_INIT;
    int rc = kube_connect(s->loop, &flags, &opts, NULL, &c, &err);
    if (rc)
        fail_msg("%s", err_msg(&err));
    assert_string_equal(c.config->ns, "ops");
    assert_ptr_equal(c.client.loop, s->loop);
    assert_non_null(c.client.pool);
    assert_int_equal(server_connections(s->server), 0); /* nothing is sent yet */

    struct kube_held held;
    struct kube_op_spec spec = {.path = "/version"};
    kube_run(&c.client, &spec, &held);
    assert_int_equal(held.reply.outcome, KUBE_OK);
    assert_string_equal(held.reply.body.p, "{\"major\":\"1\"}");
    kube_held_done(&c.client, NULL, &held);

    spec = (struct kube_op_spec){.kind = &kind_node, .name = "n1", .result = &kind_node};
    kube_run(&c.client, &spec, &held);
    assert_int_equal(held.reply.outcome, KUBE_OK);
    assert_string_equal(held.reply.obj->meta.name, "n1");
    kube_held_done(&c.client, &kind_node, &held);

    const struct server_request *req = server_request(s->server, 1);
    assert_string_equal(req->path, "/api/v1/nodes/n1");
    _cleanup_free_ char *authorization = server_header(req, "Authorization");
    _cleanup_free_ char *agent = server_header(req, "User-Agent");
    assert_string_equal(authorization, "Bearer secret-token");
    assert_string_equal(agent, "slipway/test");
    assert_int_equal(pool_stats(c.client.pool).entries, 0);
    kube_connection_done(&c);
    assert_null(c.config);
    kube_connection_done(&c); /* nothing left to do */
}

/* What cannot work is said at once, names the file, and leaves nothing behind. */
static void test_bad_configuration(void **state) {
    struct site *s = *state;
    struct kube_connection c, before;
    memset(&c, 0x55, sizeof c);
    before = c;
    struct kube_config_flags flags = {.kubeconfig = "/nonexistent/config"};
    _cleanup_err_ struct err err = ERR_INIT;
    assert_true(kube_connect(s->loop, &flags, NULL, NULL, &c, &err) < 0);
    assert_non_null(strstr(err_msg(&err), "/nonexistent/config"));
    assert_memory_equal(&c, &before, sizeof c);

    _cleanup_free_ char *junk = site_file(s, "ca.pem", "this is no certificate\n");
    _cleanup_free_ char *path = kubeconfig(s, junk);
    flags.kubeconfig = path;
    assert_true(kube_connect(s->loop, &flags, NULL, NULL, &c, &err) < 0);
    assert_non_null(strstr(err_msg(&err), "ca.pem"));
    assert_memory_equal(&c, &before, sizeof c);

    _cleanup_free_ char *broken = site_file(s, "config", "clusters: [\n");
    flags.kubeconfig = broken;
    assert_true(kube_connect(s->loop, &flags, NULL, NULL, &c, &err) < 0);
    assert_non_null(strstr(err_msg(&err), "config:2:")); /* file, line and column */
    assert_memory_equal(&c, &before, sizeof c);
    assert_int_equal(server_connections(s->server), 0);
}

/* A mistake in the files (-EINVAL), not trouble with access; but over http:// nobody looks. */
static void test_a_key_of_another_certificate(void **state) {
    struct site *s = *state;
    struct kube_connection c;
    _cleanup_err_ struct err err = ERR_INIT;
    struct pki_ca *issuer = pki_ca_new("clients");
    struct pki_pair a = pki_issue(issuer, &(struct pki_spec){.cn = "a"});
    struct pki_pair b = pki_issue(issuer, &(struct pki_spec){.cn = "b"});
    _cleanup_free_ char *ca = site_file(s, "ca.pem", s->config.ca.data);
    _cleanup_free_ char *path = kubeconfig(s, ca);
    _cleanup_free_ char *cert = site_file(s, "cert.pem", a.cert);
    _cleanup_free_ char *key = site_file(s, "key.pem", b.key);
    struct kube_config_flags flags = {
        .kubeconfig = path, .client_certificate = cert, .client_key = key};
    assert_int_equal(kube_connect(s->loop, &flags, NULL, NULL, &c, &err), -EINVAL);
    assert_string_equal(err_msg(&err), "the client key does not belong to the client certificate");
    free(site_file(s, "key.pem", a.key));
    assert_int_equal(kube_connect(s->loop, &flags, NULL, NULL, &c, NULL), 0);
    kube_connection_done(&c);
    free(site_file(s, "key.pem", b.key));
    flags.server = "http://127.0.0.1:1";
    assert_int_equal(kube_connect(s->loop, &flags, NULL, NULL, &c, NULL), 0);
    kube_connection_done(&c);
    pki_pair_done(&a);
    pki_pair_done(&b);
    pki_ca_free(issuer);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(connects), TEST(bad_configuration),
                                       TEST(a_key_of_another_certificate)};
    return cmocka_run_group_tests_name("kube/connect", tests, NULL, NULL);
}
