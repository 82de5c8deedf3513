/* Tests of kube/config_account: what a pod finds, and what it may lack. */
#include "kube/config_account.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scratch.h"

static struct kube_env pod(void **state) {
    scratch_put(state, "token", "abc");
    scratch_put(state, "ca.crt", "pem");
    scratch_put(state, "namespace", " slipway\n");
    return (struct kube_env){.service_host = "10.96.0.1",
                             .service_port = "443",
                             .account_dir = ((struct scratch *)*state)->dir};
}

static void filled(void **state) {
    struct kube_env env = pod(state);
    struct kube_config *c = xnew(struct kube_config);
    assert_true(kube_account_present(&env));
    assert_int_equal(kube_account_fill(&env, c, NULL), 0);
    assert_string_equal(c->server, "https://10.96.0.1:443");
    assert_string_equal(c->token_file, scratch_path(state, "token"));
    assert_string_equal(c->ca.file, scratch_path(state, "ca.crt"));
    assert_null(c->token); /* it rotates */
    assert_string_equal(c->ns, "slipway");
    assert_string_equal(c->origin, "in-cluster");
    assert_true(c->in_cluster);
    kube_config_free(c);
}

static void ipv6(void **state) {
    struct kube_env env = pod(state);
    env.service_host = "fd00:10:96::1";
    struct kube_config *c = xnew(struct kube_config);
    assert_int_equal(kube_account_fill(&env, c, NULL), 0);
    assert_string_equal(c->server, "https://[fd00:10:96::1]:443");
    kube_config_free(c);
}

static void namespaces(void **state) {
    struct kube_env env = pod(state);
    env.pod_namespace = "mine";
    struct kube_config *c = xnew(struct kube_config);
    assert_int_equal(kube_account_fill(&env, c, NULL), 0);
    assert_string_equal(c->ns, "mine");
    kube_config_free(c);
    env.pod_namespace = "";
    scratch_put(state, "namespace", "\n");
    c = xnew(struct kube_config);
    assert_int_equal(kube_account_fill(&env, c, NULL), 0);
    assert_null(c->ns);
    kube_config_free(c);
}

static void no_pod(void **state) {
    struct kube_env env = pod(state);
    env.service_host = NULL;
    assert_false(kube_account_present(&env));
    env = pod(state);
    env.service_port = "";
    assert_false(kube_account_present(&env));
}

static void lacking(void **state) {
    struct kube_env env = pod(state);
    _cleanup_err_ struct err err = ERR_INIT;
    struct kube_config *c = xnew(struct kube_config);
    unlink(scratch_path(state, "ca.crt"));
    assert_int_equal(kube_account_fill(&env, c, &err), 0);
    assert_null(c->ca.file);
    kube_config_free(c);
    c = xnew(struct kube_config);
    scratch_mkdir(state, "ca.crt");
    assert_int_equal(kube_account_fill(&env, c, &err), -EISDIR);
    assert_string_equal(
        err_msg(&err),
        scratch_expand(state, "cannot read the service account's CA: DIR/ca.crt: Is a directory"));
    rmdir(scratch_path(state, "ca.crt"));
    unlink(scratch_path(state, "token"));
    assert_int_equal(kube_account_fill(&env, c, &err), -ENOENT);
    assert_string_equal(err_msg(&err),
                        scratch_expand(state, "this is a pod (KUBERNETES_SERVICE_HOST is set) "
                                              "without a service account token: DIR/token: No such "
                                              "file or directory; is automountServiceAccountToken "
                                              "false?"));
    env = pod(state);
    env.service_port = "tcp://x";
    assert_int_equal(kube_account_fill(&env, c, &err), -EINVAL);
    assert_string_equal(
        err_msg(&err), "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT: "
                       "\"https://10.96.0.1:tcp://x\" is no server URL: an IPv6 address must stand "
                       "in brackets: [::1]:6443");
    assert_null(c->server);
    kube_config_free(c);
}

#define T(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(filled), T(ipv6), T(namespaces), T(no_pod), T(lacking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
