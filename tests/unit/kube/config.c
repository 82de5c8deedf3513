/* Tests of kube/config: contexts, flags, in-cluster, and the sentence for everything that is wrong.
 */
#include "kube/config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "scratch.h"

#define PEM "LS0tLS1CRUdJTiBYLS0tLS0K" /* base64 of "-----BEGIN X-----\n" */

static const char usual[] =
    "apiVersion: v1\n"
    "kind: Config\n"
    "current-context: prod\n"
    "clusters:\n"
    "- name: east\n"
    "  cluster:\n"
    "    server: https://east:6443\n"
    "    certificate-authority-data: " PEM "\n"
    "    tls-server-name: kubernetes\n"
    "    proxy-url: http://proxy:3128\n"
    "- name: west\n"
    "  cluster: {server: 'https://west/prefix/', disable-compression: true}\n"
    "- name: lax\n"
    "  cluster: {server: 'https://lax', insecure-skip-tls-verify: true}\n"
    "users:\n"
    "- name: admin\n"
    "  user: {token: secret}\n"
    "- name: reader\n"
    "  user: {username: r, password: w}\n"
    "contexts:\n"
    "- name: prod\n"
    "  context: {cluster: east, user: admin, namespace: apps}\n"
    "- name: staging\n"
    "  context: {cluster: west, user: reader}\n"
    "- name: anonymous\n"
    "  context: {cluster: west}\n"
    "- name: adrift\n"
    "  context: {user: admin}\n";

static struct kube_env env_of(const char *kubeconfig) {
    return (struct kube_env){.kubeconfig = kubeconfig, .account_dir = "/nonexistent"};
}

static struct kube_config *good(const struct kube_config_flags *flags, const struct kube_env *env) {
    struct kube_config *c = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    if (kube_config_load(flags, env, &c, &err) < 0)
        fail_msg("%s", err_msg(&err));
    return c;
}

/* One file and flags. */
static struct kube_config *with(void **state, const char *text, struct kube_config_flags flags) {
    struct kube_env env = env_of(scratch_put(state, "config", text));
    return good(&flags, &env);
}

static void bad(void **state, const char *text, struct kube_config_flags flags,
                const char *message) {
    struct kube_env env = env_of(scratch_put(state, "config", text));
    struct kube_config *c = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    int ret = kube_config_load(&flags, &env, &c, &err);
    assert_true(ret < 0);
    assert_int_equal(-ret, err.code);
    assert_string_equal(err_msg(&err), scratch_expand(state, message));
    assert_null(c);
}

static void current_context(void **state) {
    struct kube_config *c = with(state, usual, (struct kube_config_flags){0});
    assert_string_equal(c->context, "prod");
    assert_string_equal(c->cluster, "east");
    assert_string_equal(c->user, "admin");
    assert_string_equal(c->origin, scratch_path(state, "config"));
    assert_string_equal(c->server, "https://east:6443");
    assert_string_equal(c->ca.data, "-----BEGIN X-----\n");
    assert_string_equal(c->tls_server_name, "kubernetes");
    assert_string_equal(c->proxy_url, "http://proxy:3128");
    assert_string_equal(c->token, "secret");
    assert_string_equal(c->ns, "apps");
    assert_false(c->insecure);
    assert_false(c->in_cluster);
    kube_config_free(c);
    kube_config_free(NULL);
}

static void other_contexts(void **state) {
    struct kube_config *c = with(state, usual, (struct kube_config_flags){.context = "staging"});
    assert_string_equal(c->server, "https://west/prefix");
    assert_true(c->disable_compression);
    assert_string_equal(c->username, "r");
    assert_string_equal(c->ns, "default");
    kube_config_free(c);
    c = with(state, usual, (struct kube_config_flags){.context = "anonymous"});
    assert_null(c->user);
    assert_null(c->token);
    kube_config_free(c);
    /* --cluster and --user pick other entries of the same context. */
    c = with(state, usual,
             (struct kube_config_flags){.cluster = "west", .user = "reader", .ns = "kube-system"});
    assert_string_equal(c->context, "prod");
    assert_string_equal(c->server, "https://west/prefix");
    assert_null(c->tls_server_name);
    assert_string_equal(c->username, "r");
    assert_string_equal(c->ns, "kube-system");
    kube_config_free(c);
    c = with(state, usual, (struct kube_config_flags){.context = "adrift", .cluster = "lax"});
    assert_true(c->insecure);
    assert_string_equal(c->token, "secret");
    kube_config_free(c);
}

static void server_flag(void **state) {
    struct kube_config *c =
        with(state, usual, (struct kube_config_flags){.server = "https://other:1/"});
    assert_string_equal(c->server, "https://other:1");
    assert_null(c->tls_server_name); /* it was east's */
    assert_string_equal(c->ca.data, "-----BEGIN X-----\n");
    assert_string_equal(c->token, "secret");
    kube_config_free(c);
    c = with(state, usual,
             (struct kube_config_flags){.server = "https://other", .tls_server_name = "name"});
    assert_string_equal(c->tls_server_name, "name");
    kube_config_free(c);
    c = with(state, usual, (struct kube_config_flags){.tls_server_name = "name"});
    assert_string_equal(c->server, "https://east:6443");
    assert_string_equal(c->tls_server_name, "name");
    kube_config_free(c);
    /* Without a scheme it is http, and nothing secret goes there. */
    c = with(state, usual, (struct kube_config_flags){.server = "localhost:8080"});
    assert_string_equal(c->server, "http://localhost:8080");
    assert_null(c->token);
    assert_null(c->ca.data);
    kube_config_free(c);
    /* No kubeconfig is needed. */
    struct kube_env env = env_of(scratch_path(state, "nix"));
    struct kube_config_flags flags = {
        .server = "https://h", .token = "t", .insecure = true, .disable_compression = true};
    c = good(&flags, &env);
    assert_string_equal(c->server, "https://h");
    assert_string_equal(c->token, "t");
    assert_string_equal(c->origin, "the command line");
    assert_string_equal(c->ns, "default");
    assert_true(c->insecure);
    assert_true(c->disable_compression);
    assert_null(c->context);
    kube_config_free(c);
    /* Nor a current-context, nor that the context's cluster exists. */
    c = with(state, "contexts: [{name: x, context: {cluster: gone}}]\n",
             (struct kube_config_flags){.server = "https://h", .context = "x"});
    assert_string_equal(c->server, "https://h");
    kube_config_free(c);
    bad(state, usual, (struct kube_config_flags){.server = "ftp://x"},
        "--server: \"ftp://x\" is no server URL: it must begin with https:// or http://");
}

static void trust_flags(void **state) {
    struct kube_config *c = with(state, usual, (struct kube_config_flags){.insecure = true});
    assert_true(c->insecure);
    assert_null(c->ca.data);
    kube_config_free(c);
    scratch_put(state, "ca", "x");
    const char *ca = scratch_path(state, "ca");
    c = with(state, usual, (struct kube_config_flags){.certificate_authority = ca});
    assert_string_equal(c->ca.file, ca);
    assert_null(c->ca.data);
    kube_config_free(c);
    c = with(state, usual,
             (struct kube_config_flags){.certificate_authority = ca, .cluster = "lax"});
    assert_string_equal(c->ca.file, ca);
    assert_false(c->insecure);
    kube_config_free(c);
    bad(state, usual, (struct kube_config_flags){.certificate_authority = ca, .insecure = true},
        "--insecure-skip-tls-verify and --certificate-authority exclude each other");
    bad(state, usual, (struct kube_config_flags){.certificate_authority = "/nonexistent"},
        "unable to read certificate-authority /nonexistent for east due to open /nonexistent: no "
        "such file or directory");
    bad(state, usual, (struct kube_config_flags){.certificate_authority = "/"},
        "--certificate-authority: /: Is a directory");
}

static void trust(void **state) {
#define ONE(cluster)                                                                               \
    "current-context: x\nclusters:\n- name: c\n  cluster:\n" cluster                               \
    "contexts: [{name: x, context: {cluster: c}}]\n"
    scratch_mkdir(state, "pki");
    scratch_put(state, "pki/ca", "x");
    struct kube_config *c =
        with(state, ONE("    server: https://h\n    certificate-authority: pki/ca\n"),
             (struct kube_config_flags){0});
    assert_string_equal(c->ca.file, scratch_path(state, "pki/ca"));
    kube_config_free(c);
    /* Data win. */
    c = with(state,
             ONE("    server: https://h\n    certificate-authority: pki/ca\n"
                 "    certificate-authority-data: " PEM "\n"),
             (struct kube_config_flags){0});
    assert_null(c->ca.file);
    assert_non_null(c->ca.data);
    kube_config_free(c);
    bad(state, ONE("    server: https://h\n    certificate-authority: pki/nix\n"),
        (struct kube_config_flags){0},
        "unable to read certificate-authority DIR/pki/nix for c due to open DIR/pki/nix: no such "
        "file or directory; DIR/config:6:28: certificate-authority: DIR/pki/nix: No such file or "
        "directory");
    bad(state, ONE("    server: https://h\n    certificate-authority-data: Zm9v\n"),
        (struct kube_config_flags){0},
        "DIR/config:6:33: certificate-authority-data is not PEM (after base64 there should stand "
        "-----BEGIN)");
    bad(state,
        ONE("    server: https://h\n    insecure-skip-tls-verify: true\n"
            "    certificate-authority: pki/ca\n"),
        (struct kube_config_flags){0},
        "DIR/config:6:31: insecure-skip-tls-verify and certificate-authority exclude each other");
    /* Without TLS it does not matter, as long as the files are there. */
    c = with(state,
             ONE("    server: http://h\n    insecure-skip-tls-verify: true\n"
                 "    certificate-authority: pki/ca\n"),
             (struct kube_config_flags){0});
    assert_null(c->ca.file);
    assert_false(c->insecure);
    kube_config_free(c);
    bad(state, ONE("    server: http://h\n    certificate-authority: pki/nix\n"),
        (struct kube_config_flags){0},
        "unable to read certificate-authority DIR/pki/nix for c due to open DIR/pki/nix: no such "
        "file or directory; DIR/config:6:28: certificate-authority: DIR/pki/nix: No such file or "
        "directory");
}

static void bad_clusters(void **state) {
    bad(state, ONE("    server: ''\n"), (struct kube_config_flags){0},
        "DIR/config:5:13: cluster \"c\" has no server");
    bad(state, ONE("    tls-server-name: x\n"), (struct kube_config_flags){0},
        "DIR/config:3:3: cluster \"c\" has no server");
    bad(state, ONE("    server: host/path\n"), (struct kube_config_flags){0},
        "host must be a URL or a host:port pair: \"host/path\"; "
        "DIR/config:5:13: server: \"host/path\" is no server URL: write https://host:port/path or "
        "host:port");
    bad(state, ONE("    server: https://h\n    proxy-url: ftp://u:secret@p\n"),
        (struct kube_config_flags){0},
        "DIR/config:6:16: proxy-url: the scheme \"ftp\" is not supported: it must be http, https "
        "or socks5");
    bad(state, usual, (struct kube_config_flags){.proxy_url = "proxy:80"},
        "--proxy-url: it must begin with http://, https:// or socks5://");
    struct kube_config *c =
        with(state, usual, (struct kube_config_flags){.proxy_url = "socks5://s:1"});
    assert_string_equal(c->proxy_url, "socks5://s:1");
    kube_config_free(c);
}

static void names_that_do_not_exist(void **state) {
    bad(state, usual, (struct kube_config_flags){.context = "stagign"},
        "context \"stagign\" does not exist; there are: \"staging\", \"adrift\", \"prod\", "
        "\"anonymous\"");
    bad(state, usual, (struct kube_config_flags){.cluster = "wset"},
        "cluster \"wset\" does not exist; there are: \"west\", \"east\", \"lax\"");
    bad(state, usual, (struct kube_config_flags){.user = "x\033"},
        "user \"x\\x1b\" does not exist; there are: \"admin\", \"reader\"");
    bad(state, "current-context: x\n", (struct kube_config_flags){0},
        "DIR/config:1:18: current-context: context \"x\" does not exist: DIR/config has no "
        "contexts");
    bad(state, "current-context: x\ncontexts: [{name: y}]\n", (struct kube_config_flags){0},
        "DIR/config:1:18: current-context: context \"x\" does not exist; there is: \"y\"");
    bad(state, "current-context: x\n", (struct kube_config_flags){.server = "https://h"},
        "DIR/config:1:18: current-context: context \"x\" does not exist: DIR/config has no "
        "contexts");
    static const char dangling[] =
        "current-context: x\nclusters: [{name: c, cluster: {server: 'https://h'}}]\n"
        "contexts:\n- {name: x, context: {cluster: d, user: v}}\n"
        "- {name: y, context: {cluster: c, user: v}}\n";
    bad(state, dangling, (struct kube_config_flags){0},
        "DIR/config:4:32: cluster \"d\" does not exist; there is: \"c\"");
    bad(state, dangling, (struct kube_config_flags){.context = "y"},
        "DIR/config:5:41: user \"v\" does not exist: DIR/config has no users");
    struct kube_config *c =
        with(state, dangling, (struct kube_config_flags){.context = "y", .token = "t"});
    assert_string_equal(c->token, "t");
    kube_config_free(c);
    bad(state, usual, (struct kube_config_flags){.context = "adrift"},
        "DIR/config:27:3: context \"adrift\" names no cluster: choose one with --cluster");
    struct kube_env env = env_of(scratch_path(state, "nix"));
    struct kube_config_flags flags = {.context = "x"};
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(kube_config_load(&flags, &env, &c, &err), -EINVAL);
    assert_string_equal(err_msg(&err), "context \"x\" does not exist: there is no kubeconfig");
}

static void nothing_chosen(void **state) {
    bad(state, "contexts: [{name: a}, {name: b}]\n", (struct kube_config_flags){0},
        "no context is chosen: DIR/config has no current-context; choose one with --context: "
        "\"a\", \"b\"");
    bad(state, "", (struct kube_config_flags){0},
        "DIR/config names no cluster; give another file with --kubeconfig, or a server with "
        "--server");
    struct kube_config_flags flags = {0};
    struct kube_config *c = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    struct kube_env env = env_of("/no/a:/no/b");
    assert_int_equal(kube_config_load(&flags, &env, &c, &err), -ENOENT);
    assert_string_equal(err_msg(&err),
                        "there is no kubeconfig (/no/a, /no/b do not exist) and this is no pod; "
                        "give one with --kubeconfig or KUBECONFIG");
    env = (struct kube_env){.home = "/no"};
    kube_config_load(&flags, &env, &c, &err);
    assert_string_equal(err_msg(&err),
                        "there is no kubeconfig (/no/.kube/config does not exist) and this is no "
                        "pod; give one with --kubeconfig or KUBECONFIG");
    env = (struct kube_env){0};
    kube_config_load(&flags, &env, &c, &err);
    assert_string_equal(err_msg(&err), "there is no kubeconfig (HOME is not set) and this is no "
                                       "pod; give one with --kubeconfig or KUBECONFIG");
    /* --cluster is enough to choose. */
    c = with(state, "clusters: [{name: c, cluster: {server: 'https://h'}}]\n",
             (struct kube_config_flags){.cluster = "c"});
    assert_string_equal(c->server, "https://h");
    kube_config_free(c);
}

static void nothing_secret_without_tls(void **state) {
    static const char *const users[] = {
        "{token: t, as: x}", "{username: u, password: p, as: x}",
        "{client-certificate-data: " PEM ", client-key-data: " PEM ", as: x}",
        "{exec: {command: p, apiVersion: client.authentication.k8s.io/v1beta1}, as: x}"};
    for (size_t i = 0; i < ARRAY_LEN(users); i++) {
        _cleanup_free_ char *text =
            xasprintf("current-context: x\nclusters: [{name: c, cluster: {server: 'http://h', "
                      "tls-server-name: n, certificate-authority-data: " PEM "}}]\n"
                      "users: [{name: u, user: %s}]\n"
                      "contexts: [{name: x, context: {cluster: c, user: u}}]\n",
                      users[i]);
        struct kube_config *c = with(state, text, (struct kube_config_flags){0});
        assert_null(c->token);
        assert_null(c->username);
        assert_null(c->password);
        assert_null(c->cert.data);
        assert_null(c->key.data);
        assert_null(c->ca.data);
        assert_null(c->exec);
        assert_null(c->tls_server_name);
        assert_string_equal(c->as_user, "x");
        kube_config_free(c);
    }
    struct kube_config *c =
        with(state, usual, (struct kube_config_flags){.server = "http://h", .token = "t"});
    assert_null(c->token);
    kube_config_free(c);
}

static void namespaces(void **state) {
    bad(state, usual, (struct kube_config_flags){.ns = "a/b"},
        "\"a/b\" is no valid namespace: it must be at most 63 small letters, digits and \"-\"");
    bad(state, usual, (struct kube_config_flags){.ns = "-a"},
        "\"-a\" is no valid namespace: it must be at most 63 small letters, digits and \"-\"");
    bad(state,
        "current-context: x\nclusters: [{name: c, cluster: {server: 'https://h'}}]\n"
        "contexts:\n- {name: x, context: {cluster: c, namespace: Apps}}\n",
        (struct kube_config_flags){0},
        "DIR/config:4:46: \"Apps\" is no valid namespace: it must be at most 63 small letters, "
        "digits and \"-\"");
}

static struct kube_env pod(void **state, const char *kubeconfig) {
    scratch_mkdir(state, "account");
    scratch_put(state, "account/token", "abc");
    scratch_put(state, "account/ca.crt", "pem");
    scratch_put(state, "account/namespace", "slipway");
    return (struct kube_env){.kubeconfig = kubeconfig,
                             .service_host = "fd00::1",
                             .service_port = "443",
                             .account_dir = scratch_path(state, "account")};
}

static void in_cluster(void **state) {
    struct kube_config_flags flags = {0};
    struct kube_env env = pod(state, NULL);
    struct kube_config *c = good(&flags, &env);
    assert_true(c->in_cluster);
    assert_string_equal(c->server, "https://[fd00::1]:443");
    assert_string_equal(c->token_file, scratch_path(state, "account/token"));
    assert_string_equal(c->ca.file, scratch_path(state, "account/ca.crt"));
    assert_string_equal(c->ns, "slipway");
    assert_string_equal(c->origin, "in-cluster");
    kube_config_free(c);
    /* Also with kubeconfigs that choose nothing. */
    env.kubeconfig = scratch_put(state, "config", "contexts: [{name: a}]\n");
    c = good(&flags, &env);
    assert_true(c->in_cluster);
    kube_config_free(c);
    /* But a kubeconfig that does wins, and so does one that was asked for. */
    env.kubeconfig = scratch_put(state, "config", usual);
    c = good(&flags, &env);
    assert_false(c->in_cluster);
    kube_config_free(c);
    flags.kubeconfig = scratch_put(state, "config", "");
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(kube_config_load(&flags, &env, &c, &err), -EINVAL);
    /* A server is chosen by flag: the account's token does not go there. */
    flags = (struct kube_config_flags){.server = "https://h"};
    c = good(&flags, &env);
    assert_null(c->token_file);
    assert_string_equal(c->server, "https://h");
    kube_config_free(c);
}

static void in_cluster_with_flags(void **state) {
    static const char *const groups[] = {"g", NULL};
    struct kube_env env = pod(state, NULL);
    struct kube_config_flags flags = {
        .token = "t", .as_user = "a", .as_groups = groups, .ns = "n", .tls_server_name = "k"};
    struct kube_config *c = good(&flags, &env);
    assert_true(c->in_cluster);
    assert_string_equal(c->token, "t");
    assert_null(c->token_file);
    assert_string_equal(c->as_user, "a");
    assert_string_equal(c->as_groups[0], "g");
    assert_string_equal(c->ns, "n");
    assert_string_equal(c->tls_server_name, "k");
    kube_config_free(c);
    flags = (struct kube_config_flags){.insecure = true};
    c = good(&flags, &env);
    assert_true(c->insecure);
    assert_null(c->ca.file);
    assert_non_null(c->token_file);
    kube_config_free(c);
    unlink(scratch_path(state, "account/token"));
    flags = (struct kube_config_flags){0};
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(kube_config_load(&flags, &env, &c, &err), -ENOENT);
    assert_non_null(strstr(err_msg(&err), "automountServiceAccountToken"));
}

static void merged_files(void **state) {
    scratch_mkdir(state, "a");
    scratch_put(state, "a/config", "users: [{name: admin, user: {tokenFile: tok}}]\n");
    scratch_put(state, "a/tok", "x");
    scratch_put(state, "b", usual);
    struct kube_env env = env_of(scratch_expand(state, "DIR/a/config:DIR/nix:DIR/b"));
    struct kube_config_flags flags = {0};
    struct kube_config *c = good(&flags, &env);
    assert_string_equal(c->server, "https://east:6443");
    /* Relative to the file it stands in. */
    assert_string_equal(c->token_file, scratch_path(state, "a/tok"));
    assert_null(c->token);
    assert_string_equal(c->origin, scratch_expand(state, "DIR/a/config:DIR/b"));
    kube_config_free(c);
}

static void context_names(void **state) {
    struct kube_env env = env_of(scratch_put(state, "config", usual));
    struct kube_config_flags flags = {0};
    char **names;
    assert_int_equal(kube_config_contexts(&flags, &env, &names, NULL), 0);
    assert_string_equal(names[0], "prod");
    assert_string_equal(names[3], "adrift");
    assert_null(names[4]);
    kube_config_names_free(names);
    env.kubeconfig = scratch_path(state, "nix");
    assert_int_equal(kube_config_contexts(&flags, &env, &names, NULL), 0);
    assert_null(names[0]);
    kube_config_names_free(names);
    flags.kubeconfig = env.kubeconfig;
    assert_int_equal(kube_config_contexts(&flags, &env, &names, NULL), -ENOENT);
}

static void environment(void **state) {
    (void)state;
    setenv("KUBECONFIG", "a:b", 1);
    setenv("POD_NAMESPACE", "p", 1);
    unsetenv("KUBERNETES_SERVICE_HOST");
    struct kube_env env;
    kube_env_get(&env);
    assert_string_equal(env.kubeconfig, "a:b");
    assert_string_equal(env.pod_namespace, "p");
    assert_null(env.service_host);
    assert_string_equal(env.account_dir, "/var/run/secrets/kubernetes.io/serviceaccount");
}

#define T(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(current_context),
        T(other_contexts),
        T(server_flag),
        T(trust_flags),
        T(trust),
        T(bad_clusters),
        T(names_that_do_not_exist),
        T(nothing_chosen),
        T(nothing_secret_without_tls),
        T(namespaces),
        T(in_cluster),
        T(in_cluster_with_flags),
        T(merged_files),
        T(context_names),
        T(environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
