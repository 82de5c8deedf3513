/* Tests of kube/config_user: credentials, impersonation, plugins; what contradicts itself. */
#include "kube/config_user.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "scratch.h"

/* base64 of "-----BEGIN X-----\n" */
#define PEM "LS0tLS1CRUdJTiBYLS0tLS0K"

static const char *const no_groups[] = {NULL};

struct given {
    const char *cluster; /* keys of the cluster, YAML flow */
    struct kube_config_flags flags;
};

/* Resolves a user entry, given as the text below "user:", indented by four. */
static int fill(void **state, const char *user, const struct given *g, struct kube_config **out,
                struct err *err) {
    _cleanup_free_ char *text =
        xasprintf("clusters:\n- name: c\n  cluster: {%s}\nusers:\n- name: u\n  user:\n%s",
                  strna(g->cluster), user);
    struct kubefile *f;
    _cleanup_err_ struct err why = ERR_INIT;
    if (kubefile_load(scratch_put(state, "config", text), &f, &why) < 0)
        fail_msg("%s", err_msg(&why));
    struct kube_config *c = xnew(struct kube_config);
    int ret = kube_user_fill(f->users.p[0], f->clusters.p[0], &g->flags, c, err);
    kubefile_free(f);
    if (ret < 0)
        kube_config_free(c);
    else
        *out = c;
    return ret;
}

static struct kube_config *good(void **state, const char *user, struct given g) {
    struct kube_config *c = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    if (fill(state, user, &g, &c, &err) < 0)
        fail_msg("%s", err_msg(&err));
    return c;
}

static void bad(void **state, const char *user, struct given g, const char *message) {
    struct kube_config *c = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    int ret = fill(state, user, &g, &c, &err);
    assert_true(ret < 0);
    assert_int_equal(-ret, err.code);
    assert_string_equal(err_msg(&err), scratch_expand(state, message));
}

static void certificates(void **state) {
    scratch_put(state, "c.pem", "x");
    scratch_put(state, "k.pem", "x");
    struct kube_config *c =
        good(state, "    client-certificate: c.pem\n    client-key: k.pem\n", (struct given){0});
    assert_string_equal(c->cert.file, scratch_path(state, "c.pem"));
    assert_string_equal(c->key.file, scratch_path(state, "k.pem"));
    kube_config_free(c);
    /* Data win over files, which need not even exist. */
    c = good(
        state,
        "    client-certificate: no\n    client-certificate-data: " PEM
        "\n    client-key: no\n    client-key-data: |\n      LS0tLS1CRUdJTiBY\n      LS0tLS0K\n",
        (struct given){0});
    assert_string_equal(c->cert.data, "-----BEGIN X-----\n");
    assert_string_equal(c->key.data, "-----BEGIN X-----\n");
    assert_null(c->cert.file);
    assert_null(c->key.file);
    kube_config_free(c);
    /* Flags win over both. */
    struct given flags = {.flags.client_certificate = scratch_path(state, "c.pem"),
                          .flags.client_key = scratch_path(state, "k.pem")};
    c = good(state, "    client-certificate-data: " PEM "\n    client-key-data: " PEM "\n", flags);
    assert_string_equal(c->cert.file, scratch_path(state, "c.pem"));
    assert_null(c->cert.data);
    assert_string_equal(c->key.file, scratch_path(state, "k.pem"));
    assert_null(c->key.data);
    kube_config_free(c);
}

#define HALF_A_PAIR                                                                                \
    "client-key-data or client-key must be specified for  to use the clientCert authentication "   \
    "method.; "
#define TWO_METHODS                                                                                \
    "more than one authentication method found for ; found [token basicAuth], only one is "        \
    "allowed; "
#define NOBODY "requesting uid, groups or user-extra for  without impersonating a user; "

static void bad_certificates(void **state) {
    bad(state, "    client-certificate-data: " PEM "\n", (struct given){0},
        HALF_A_PAIR
        "DIR/config:7:30: client-certificate-data: a client certificate needs its key as well "
        "(client-key or client-key-data)");
    bad(state, "    client-key-data: " PEM "\n", (struct given){0},
        "DIR/config:7:22: client-key-data: a client key needs its certificate as well "
        "(client-certificate or client-certificate-data)");
    bad(state, "    token: t\n    client-certificate-data: '%'\n", (struct given){0},
        "DIR/config:8:30: client-certificate-data is not base64");
    bad(state, "    client-certificate-data: Zm9v\n", (struct given){0},
        "DIR/config:7:30: client-certificate-data is not PEM (after base64 there should stand "
        "-----BEGIN)");
    bad(state, "    client-certificate: nix\n    client-key: nix\n", (struct given){0},
        "unable to read client-cert DIR/nix for  due to open DIR/nix: no such file or directory; "
        "unable to read client-key DIR/nix for  due to open DIR/nix: no such file or directory; "
        "DIR/config:7:25: client-certificate: DIR/nix: No such file or directory");
    bad(state, "    {}\n", (struct given){.flags.client_key = "/nonexistent"},
        "--client-key: /nonexistent: No such file or directory");
    scratch_put(state, "c.pem", "x");
    bad(state, "    {}\n", (struct given){.flags.client_certificate = scratch_path(state, "c.pem")},
        HALF_A_PAIR "--client-certificate: a client certificate needs its key as well "
                    "(client-key or client-key-data)");
    /* kubectl looks at a key only beside a certificate, and at both. */
    bad(state, "    {}\n",
        (struct given){.flags.client_certificate = "/nonexistent/c",
                       .flags.client_key = "/nonexistent/k"},
        "unable to read client-cert /nonexistent/c for  due to open /nonexistent/c: no such file "
        "or directory; unable to read client-key /nonexistent/k for  due to open /nonexistent/k: "
        "no such file or directory");
    bad(state, "    {}\n", (struct given){.flags.client_certificate = "/nonexistent/c"},
        HALF_A_PAIR "unable to read client-cert /nonexistent/c for  due to open /nonexistent/c: "
                    "no such file or directory");
    bad(state, "    client-key-data: '%'\n",
        (struct given){.flags.client_certificate = "/nonexistent/c"},
        "DIR/config:7:22: client-key-data is not base64");
    /* It opens directories. */
    bad(state, "    {}\n", (struct given){.flags.client_certificate = "/", .flags.client_key = "/"},
        "--client-certificate: /: Is a directory");
}

static void tokens(void **state) {
    struct kube_config *c = good(state, "    token: abc\n", (struct given){0});
    assert_string_equal(c->token, "abc");
    assert_null(c->token_file);
    kube_config_free(c);
    /* Both: the file may be missing for now. */
    c = good(state, "    token: abc\n    tokenFile: tf\n", (struct given){0});
    assert_string_equal(c->token, "abc");
    assert_string_equal(c->token_file, scratch_path(state, "tf"));
    kube_config_free(c);
    bad(state, "    tokenFile: tf\n", (struct given){0},
        "DIR/config:7:16: tokenFile: DIR/tf: No such file or directory");
    bad(state, "    token: |\n      abc\n", (struct given){0},
        "DIR/config:7:12: token: it has a line break in it");
    bad(state, "    token: \"a\\eb\"\n", (struct given){0},
        "DIR/config:7:12: token: it has a control character in it");
    /* The flags win over all that the entry has. */
    static const char user[] = "    tokenFile: tf\n    username: u\n    password: p\n";
    scratch_put(state, "tf", "x");
    c = good(state, user, (struct given){.flags.token = "flag"});
    assert_string_equal(c->token, "flag");
    assert_null(c->token_file);
    assert_null(c->username);
    kube_config_free(c);
    c = good(state, "    token: abc\n",
             (struct given){.flags.token_file = scratch_path(state, "tf")});
    assert_null(c->token);
    assert_string_equal(c->token_file, scratch_path(state, "tf"));
    kube_config_free(c);
    bad(state, "    {}\n", (struct given){.flags.token = "a", .flags.token_file = "b"},
        "--token and --token-file exclude each other");
    bad(state, "    {}\n", (struct given){.flags.token = "a\nb"},
        "--token: it has a line break in it");
    bad(state, "    {}\n", (struct given){.flags.token_file = "/nonexistent"},
        "--token-file: /nonexistent: No such file or directory");
}

static void passwords(void **state) {
    struct kube_config *c = good(state, "    username: u\n    password: p:q\n", (struct given){0});
    assert_string_equal(c->username, "u");
    assert_string_equal(c->password, "p:q");
    kube_config_free(c);
    c = good(state, "    username: u\n", (struct given){0});
    assert_string_equal(c->password, "");
    kube_config_free(c);
    bad(state, "    password: p\n", (struct given){0},
        "DIR/config:7:15: a password needs a username as well");
    bad(state, "    token: t\n    username: u\n", (struct given){0},
        TWO_METHODS
        "DIR/config:8:15: a user has either a token or a username and password, not both");
    bad(state, "    username: 'a:b'\n", (struct given){0},
        "DIR/config:7:15: a username cannot have a \":\" in it");
}

/* --username and --password */
static void password_flags(void **state) {
    struct kube_config *c =
        good(state, "    username: u\n    password: p\n", (struct given){.flags.username = "v"});
    assert_string_equal(c->username, "v");
    assert_string_equal(c->password, "p");
    kube_config_free(c);
    c = good(state, "    username: u\n    password: p\n", (struct given){.flags.password = "q"});
    assert_string_equal(c->username, "u");
    assert_string_equal(c->password, "q");
    kube_config_free(c);
    c = good(state, "    exec: {command: p, apiVersion: client.authentication.k8s.io/v1beta1}\n",
             (struct given){.flags.username = "u", .flags.password = "p"});
    assert_string_equal(c->username, "u");
    assert_null(c->exec);
    kube_config_free(c);
    bad(state, "    {}\n", (struct given){.flags.password = "p"},
        "--password: a password needs a username as well");
    bad(state, "    {}\n", (struct given){.flags.username = "a:b"},
        "--username: a username cannot have a \":\" in it");
    bad(state, "    {}\n", (struct given){.flags.username = "a\nb"},
        "--username: it has a line break in it");
    bad(state, "    username: u\n", (struct given){.flags.password = "a\nb"},
        "--password: it has a line break in it");
    /* client-go: "username/password or bearer token may be set, but not both" */
    bad(state, "    token: t\n", (struct given){.flags.username = "u"},
        TWO_METHODS "--username: a user has either a token or a username and password, not both");
    bad(state, "    {}\n", (struct given){.flags.token = "t", .flags.username = "u"},
        TWO_METHODS "--token and --username exclude each other");
    bad(state, "    {}\n", (struct given){.flags.token_file = "t", .flags.password = "p"},
        "--token-file: t: No such file or directory");
}

static void impersonation(void **state) {
    struct kube_config *c = good(state,
                                 "    as: bob\n    as-uid: '1'\n    as-groups: [a, b]\n"
                                 "    as-user-extra: {k: [v, w], l: [x], m: null}\n",
                                 (struct given){0});
    assert_string_equal(c->as_user, "bob");
    assert_string_equal(c->as_uid, "1");
    assert_string_equal(c->as_groups[0], "a");
    assert_string_equal(c->as_groups[1], "b");
    assert_null(c->as_groups[2]);
    assert_int_equal(c->n_as_extra, 3);
    assert_string_equal(c->as_extra[1].key, "k");
    assert_string_equal(c->as_extra[1].value, "w");
    assert_string_equal(c->as_extra[2].key, "l");
    kube_config_free(c);
    static const char *const groups[] = {"g", NULL};
    c = good(state, "    as: bob\n    as-uid: '1'\n    as-groups: [a, b]\n",
             (struct given){.flags.as_user = "eve", .flags.as_groups = groups});
    assert_string_equal(c->as_user, "eve");
    assert_string_equal(c->as_uid, "1");
    assert_string_equal(c->as_groups[0], "g");
    assert_null(c->as_groups[1]);
    kube_config_free(c);
    c = good(state, "    as: bob\n    as-groups: [a]\n",
             (struct given){.flags.as_groups = no_groups});
    assert_string_equal(c->as_groups[0], "a");
    kube_config_free(c);
    bad(state, "    as-uid: '1'\n", (struct given){0},
        NOBODY
        "DIR/config:7:13: as-uid: it is of no use without whom to impersonate (as, or --as)");
    bad(state, "    as-groups: [a]\n", (struct given){0},
        NOBODY
        "DIR/config:7:16: as-groups: it is of no use without whom to impersonate (as, or --as)");
    bad(state, "    as-user-extra: {a: [b]}\n", (struct given){0},
        NOBODY
        "DIR/config:7:20: as-user-extra: it is of no use without whom to impersonate (as, or "
        "--as)");
    bad(state, "    {}\n", (struct given){.flags.as_groups = groups},
        NOBODY "--as-group: it is of no use without whom to impersonate (as, or --as)");
    bad(state, "    as: \"a\\r\\nX: y\"\n", (struct given){0},
        "DIR/config:7:9: as: it has a line break in it");
    bad(state, "    as: a\n    as-groups: [\"x\\n\"]\n", (struct given){0},
        "DIR/config:8:16: as-groups: it has a line break in it");
    bad(state, "    as: a\n    as-user-extra: {k: [\"x\\n\"]}\n", (struct given){0},
        "DIR/config:8:20: as-user-extra: it has a line break in it");
}

/* --as-user-extra, as cli-runtime and clientcmd merge it: by key. */
static void extra_flags(void **state) {
    static const char *const flags[] = {"k=1", "new=a=b", "k=2", "empty=", NULL};
    static const struct {
        const char *key, *value;
    } want[] = {{"keep", "x"}, {"k", "1"}, {"new", "a=b"}, {"k", "2"}, {"empty", ""}};
    struct kube_config *c = good(state, "    as: bob\n    as-user-extra: {k: [v, w], keep: [x]}\n",
                                 (struct given){.flags.as_extra = flags});
    assert_int_equal(c->n_as_extra, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        assert_string_equal(c->as_extra[i].key, want[i].key);
        assert_string_equal(c->as_extra[i].value, want[i].value);
    }
    kube_config_free(c);
    static const char *const no_value[] = {"k", NULL}, *const no_key[] = {"=v", NULL};
    static const char *const breaks[] = {"k=a\r\nX: y", NULL};
    /* kubectl does nothing with it. */
    c = good(state, "    as: bob\n", (struct given){.flags.as_extra = no_value});
    assert_int_equal(c->n_as_extra, 0);
    kube_config_free(c);
    kube_config_free(good(state, "    {}\n", (struct given){.flags.as_extra = no_value}));
    bad(state, "    as: bob\n", (struct given){.flags.as_extra = no_key},
        "--as-user-extra: \"=v\" is not KEY=VALUE");
    bad(state, "    as: bob\n", (struct given){.flags.as_extra = breaks},
        "--as-user-extra: it has a line break in it");
    bad(state, "    {}\n", (struct given){.flags.as_extra = flags},
        NOBODY "--as-user-extra: it is of no use without whom to impersonate (as, or --as)");
}

#define V1 "client.authentication.k8s.io/v1"

static void plugins(void **state) {
    struct kube_config *c =
        good(state,
             "    exec:\n      command: bin/plugin\n      args: [a, b]\n"
             "      env: [{name: X, value: '1'}, {name: Y}]\n      apiVersion: " V1 "\n"
             "      installHint: get it\n      provideClusterInfo: true\n"
             "      interactiveMode: Always\n",
             (struct given){.cluster = "extensions: [{name: other, extension: 1}, {name: "
                                       "client.authentication.k8s.io/exec, extension: {a: [1]}}]"});
    const struct kube_exec *x = c->exec;
    assert_string_equal(x->command, scratch_path(state, "bin/plugin"));
    assert_string_equal(x->args[0], "a");
    assert_string_equal(x->args[1], "b");
    assert_null(x->args[2]);
    assert_int_equal(x->n_env, 2);
    assert_string_equal(x->env[0].name, "X");
    assert_string_equal(x->env[0].value, "1");
    assert_string_equal(x->env[1].value, "");
    assert_string_equal(x->api_version, V1);
    assert_string_equal(x->install_hint, "get it");
    assert_true(x->provide_cluster_info);
    assert_int_equal(x->interactive, KUBE_EXEC_ALWAYS);
    assert_string_equal(x->cluster_config, "{\"a\":[1]}");
    kube_config_free(c);
    c = good(state, "    exec: {command: plugin, apiVersion: " V1 "beta1}\n", (struct given){0});
    assert_string_equal(c->exec->command, "plugin"); /* from $PATH */
    assert_int_equal(c->exec->interactive, KUBE_EXEC_IF_AVAILABLE);
    assert_null(c->exec->args[0]);
    assert_null(c->exec->cluster_config);
    kube_config_free(c);
}

static void plugins_give_way(void **state) {
    static const char exec[] = "    exec: {command: p, apiVersion: " V1 "beta1}\n";
    scratch_put(state, "f", "x");
    static const char *const others[] = {"    token: t\n", "    tokenFile: f\n",
                                         "    username: u\n",
                                         "    client-certificate: f\n    client-key: f\n"};
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        _cleanup_free_ char *user = xasprintf("%s%s", exec, others[i]);
        struct kube_config *c = good(state, user, (struct given){0});
        assert_null(c->exec);
        kube_config_free(c);
    }
    struct kube_config *c = good(state, exec, (struct given){.flags.token = "t"});
    assert_null(c->exec);
    kube_config_free(c);
    /* A client key alone is nobody. */
    c = good(state, exec, (struct given){.flags.as_user = "x"});
    assert_non_null(c->exec);
    kube_config_free(c);
}

static void bad_plugins(void **state) {
    bad(state, "    exec: {apiVersion: " V1 "}\n", (struct given){0},
        "DIR/config:7:11: exec: command is missing");
    bad(state, "    exec: {command: p}\n", (struct given){0},
        "DIR/config:7:11: exec: apiVersion is missing: client.authentication.k8s.io/v1 or v1beta1");
    bad(state, "    exec: {command: p, apiVersion: " V1 "alpha1}\n", (struct given){0},
        "DIR/config:7:36: exec: client.authentication.k8s.io/v1alpha1 was removed in Kubernetes "
        "1.24: update the plugin and let it write this entry anew, with v1 or v1beta1");
    bad(state, "    exec: {command: p, apiVersion: v1}\n", (struct given){0},
        "DIR/config:7:36: \"v1\" is no valid apiVersion of an exec plugin; valid: "
        "\"client.authentication.k8s.io/v1\", \"client.authentication.k8s.io/v1beta1\"");
    bad(state, "    exec: {command: p, apiVersion: " V1 "}\n", (struct given){0},
        "DIR/config:7:11: exec: interactiveMode is missing: Never, IfAvailable or Always");
    bad(state, "    exec: {command: p, apiVersion: " V1 ", interactiveMode: never}\n",
        (struct given){0},
        "DIR/config:7:86: \"never\" is no valid interactiveMode; did you mean \"Never\"?");
    bad(state, "    exec: {command: p, apiVersion: " V1 "beta1, env: [{name: 'a=b'}]}\n",
        (struct given){0}, "DIR/config:7:87: exec: \"a=b\" is no name of an environment variable");
}

static void auth_providers(void **state) {
    bad(state, "    auth-provider: {name: gcp}\n", (struct given){0},
        "DIR/config:7:20: slipway does not support auth-provider \"gcp\": give this user a "
        "credential plugin (exec) instead, such as gke-gcloud-auth-plugin");
    bad(state, "    auth-provider: {name: oidc}\n", (struct given){0},
        "DIR/config:7:20: slipway does not support auth-provider \"oidc\": give this user a "
        "credential plugin (exec) instead, such as kubectl oidc-login, also called kubelogin");
    bad(state, "    auth-provider: {name: mine}\n", (struct given){0},
        "DIR/config:7:20: slipway does not support auth-provider \"mine\": give this user a "
        "credential plugin (exec) instead");
    struct kube_config *c =
        good(state, "    auth-provider: {name: gcp}\n", (struct given){.flags.token = "t"});
    kube_config_free(c);
}

static void nobody(void **state) {
    (void)state;
    struct kube_config *c = xnew(struct kube_config);
    struct kube_config_flags flags = {0};
    assert_int_equal(kube_user_fill(NULL, NULL, &flags, c, NULL), 0);
    assert_null(c->token);
    kube_config_free(c);
    assert_false(kube_flags_identify(&flags));
    flags.client_certificate = "x";
    assert_true(kube_flags_identify(&flags));
}

#define T(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(certificates),     T(bad_certificates), T(tokens),         T(passwords),
        T(password_flags),   T(impersonation),    T(extra_flags),    T(plugins),
        T(plugins_give_way), T(bad_plugins),      T(auth_providers), T(nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
