/* Tests of kube/config_file: every key, every refusal with its place. */
#include "kube/config_file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "scratch.h"

static struct kubefile *load(void **state, const char *text) {
    struct kubefile *f = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    if (kubefile_load(scratch_put(state, "config", text), &f, &err) < 0)
        fail_msg("%s", err_msg(&err));
    return f;
}

static void assert_refused(void **state, const char *text, const char *message) {
    struct kubefile *f = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(kubefile_load(scratch_put(state, "config", text), &f, &err), -EINVAL);
    assert_string_equal(err_msg(&err), scratch_expand(state, message));
    assert_null(f);
}

static const char whole[] = "apiVersion: v1\n"
                            "kind: Config\n"
                            "preferences: {colors: true, extensions: [{name: p, extension: 1}]}\n"
                            "extensions: [{name: e, extension: {any: [thing]}}]\n"
                            "current-context: ctx\n"
                            "clusters:\n"
                            "- name: c\n"
                            "  cluster:\n"
                            "    server: https://host:6443\n"
                            "    tls-server-name: other\n"
                            "    insecure-skip-tls-verify: false\n"
                            "    certificate-authority: ca.pem\n"
                            "    certificate-authority-data: Zm8=\n"
                            "    proxy-url: http://proxy\n"
                            "    disable-compression: true\n"
                            "    extensions:\n"
                            "    - name: client.authentication.k8s.io/exec\n"
                            "      extension: {audience: x}\n"
                            "users:\n"
                            "- name: u\n"
                            "  user:\n"
                            "    client-certificate: c.pem\n"
                            "    client-certificate-data: Yw==\n"
                            "    client-key: k.pem\n"
                            "    client-key-data: aw==\n"
                            "    token: t\n"
                            "    tokenFile: tf\n"
                            "    as: a\n"
                            "    as-uid: '7'\n"
                            "    as-groups: [g, h]\n"
                            "    as-user-extra: {scopes: [x, y], none: null}\n"
                            "    username: n\n"
                            "    password: p\n"
                            "    auth-provider: {name: gcp, config: {}}\n"
                            "    extensions: []\n"
                            "    exec:\n"
                            "      command: plugin\n"
                            "      args: [get, token]\n"
                            "      env: [{name: A, value: b}, {name: C}]\n"
                            "      apiVersion: client.authentication.k8s.io/v1\n"
                            "      installHint: install it\n"
                            "      provideClusterInfo: true\n"
                            "      interactiveMode: Never\n"
                            "contexts:\n"
                            "- name: ctx\n"
                            "  context: {cluster: c, user: u, namespace: ns, extensions: null}\n"
                            "- name: bare\n";

static void every_key(void **state) {
    struct kubefile *f = load(state, whole);
    assert_string_equal(f->current_context, "ctx");
    assert_int_equal(f->clusters.len, 1);
    const struct kubefile_cluster *c = f->clusters.p[0];
    assert_string_equal(c->e.name, "c");
    assert_int_equal(c->e.pos.line, 7);
    assert_ptr_equal(c->e.file, f);
    assert_string_equal(c->server, "https://host:6443");
    assert_string_equal(c->tls_server_name, "other");
    assert_string_equal(c->ca_file, "ca.pem");
    assert_string_equal(c->ca_data, "Zm8=");
    assert_string_equal(c->proxy_url, "http://proxy");
    assert_false(c->insecure);
    assert_true(c->disable_compression);
    assert_int_equal(json_array_size(c->extensions), 1);
    const struct kubefile_user *u = f->users.p[0];
    assert_string_equal(u->cert_file, "c.pem");
    assert_string_equal(u->cert_data, "Yw==");
    assert_string_equal(u->key_file, "k.pem");
    assert_string_equal(u->key_data, "aw==");
    assert_string_equal(u->token, "t");
    assert_string_equal(u->token_file, "tf");
    assert_string_equal(u->as_user, "a");
    assert_string_equal(u->as_uid, "7");
    assert_string_equal(u->as_groups[1], "h");
    assert_int_equal(json_object_size(u->as_extra), 2);
    assert_string_equal(u->username, "n");
    assert_string_equal(u->password, "p");
    assert_non_null(u->auth_provider);
    assert_string_equal(u->exec.command, "plugin");
    assert_string_equal(u->exec.args[1], "token");
    assert_int_equal(json_array_size(u->exec.env), 2);
    assert_string_equal(u->exec.api_version, "client.authentication.k8s.io/v1");
    assert_string_equal(u->exec.install_hint, "install it");
    assert_true(u->exec.provide_cluster_info);
    assert_string_equal(u->exec.interactive_mode, "Never");
    assert_int_equal(f->contexts.len, 2);
    assert_string_equal(f->contexts.p[0]->cluster, "c");
    assert_string_equal(f->contexts.p[0]->user, "u");
    assert_string_equal(f->contexts.p[0]->ns, "ns");
    assert_null(f->contexts.p[1]->cluster);
    kubefile_free(f);
    kubefile_free(NULL);
}

static void nothing_in_it(void **state) {
    static const char *const texts[] = {"",
                                        "\n# c\n",
                                        "null\n",
                                        "{}",
                                        "clusters: null\nusers:\n",
                                        "kind: ''\napiVersion: null\ncurrent-context: ''\n"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct kubefile *f = load(state, texts[i]);
        assert_int_equal(f->clusters.len + f->users.len + f->contexts.len, 0);
        assert_null(f->current_context);
        kubefile_free(f);
    }
}

static void json_too(void **state) {
    struct kubefile *f = load(state, "{\"kind\":\"Config\",\"apiVersion\":\"v1\",\n"
                                     "\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":"
                                     "\"https:\\/\\/h\"}}],\"users\":null}");
    assert_string_equal(f->clusters.p[0]->server, "https://h");
    kubefile_free(f);
}

static void unknown_keys(void **state) {
    assert_refused(state, "curent-context: x\n",
                   "DIR/config:1:1: unknown key \"curent-context\" in kubeconfig; did you mean "
                   "\"current-context\"?");
    assert_refused(state, "clusters:\n- name: c\n  cluster:\n    sever: x\n",
                   "DIR/config:4:5: unknown key \"sever\" in cluster; did you mean \"server\"?");
    assert_refused(state, "clusters:\n- name: c\n  clustr: {}\n",
                   "DIR/config:3:3: unknown key \"clustr\" in entry of clusters; did you mean "
                   "\"cluster\"?");
    assert_refused(state, "users:\n- name: u\n  user:\n    token-file: x\n",
                   "DIR/config:4:5: unknown key \"token-file\" in user; did you mean "
                   "\"tokenFile\"?");
    assert_refused(state, "users:\n- name: u\n  user:\n    exec:\n      interactive: x\n",
                   "DIR/config:5:7: unknown key \"interactive\" in exec; valid keys: \"command\", "
                   "\"args\", \"env\", \"apiVersion\", \"installHint\", \"provideClusterInfo\", "
                   "\"interactiveMode\"");
    assert_refused(state, "users:\n- name: u\n  user: {exec: {env: [{name: a, val: b}]}}\n",
                   "DIR/config:3:33: unknown key \"val\" in exec env; did you mean \"value\"?");
    assert_refused(state, "contexts:\n- name: c\n  context: {nmaespace: x}\n",
                   "DIR/config:3:13: unknown key \"nmaespace\" in context; did you mean "
                   "\"namespace\"?");
    assert_refused(state, "preferences: {colour: true}\n",
                   "DIR/config:1:15: unknown key \"colour\" in preferences; did you mean "
                   "\"colors\"?");
    assert_refused(state, "extensions: [{name: a, ext: 1}]\n",
                   "DIR/config:1:24: unknown key \"ext\" in extension; valid keys: \"name\", "
                   "\"extension\"");
    assert_refused(state, "contexts:\n- name: c\n  context: {extensions: [{nam: x}]}\n",
                   "DIR/config:3:27: unknown key \"nam\" in extension; did you mean \"name\"?");
    /* Also where nobody would use it. */
    assert_refused(state, "current-context: a\nusers:\n- {name: a}\n- {name: b, user: {tokn: x}}\n",
                   "DIR/config:4:20: unknown key \"tokn\" in user; did you mean \"token\"?");
}

static void wrong_types(void **state) {
    assert_refused(state, "- a\n", "DIR/config:1:1: kubeconfig must be a mapping, not a list");
    assert_refused(state, "clusters: {}\n",
                   "DIR/config:1:11: kubeconfig: clusters must be a list, not a mapping");
    assert_refused(state, "clusters: [x]\n",
                   "DIR/config:1:12: entry of clusters must be a mapping, not a string");
    assert_refused(state, "users: [{name: 7}]\n",
                   "DIR/config:1:16: entry of users: name must be a string, not a number: put it "
                   "in quotes");
    assert_refused(state, "users: [{name: u, user: []}]\n",
                   "DIR/config:1:25: entry of users: user must be a mapping, not a list");
    assert_refused(state, "users: [{name: u, user: {token: 123}}]\n",
                   "DIR/config:1:33: user: token must be a string, not a number: put it in quotes");
    assert_refused(state, "users: [{name: u, user: {as-groups: g}}]\n",
                   "DIR/config:1:37: user: as-groups must be a list of strings, not a string");
    assert_refused(state, "users: [{name: u, user: {as-user-extra: {k: v}}}]\n",
                   "DIR/config:1:45: as-user-extra: each value must be a list of strings, not a "
                   "string");
    assert_refused(state, "users: [{name: u, user: {as-user-extra: {k: [1]}}}]\n",
                   "DIR/config:1:46: as-user-extra: each value must be a list of strings, not of "
                   "numbers: put them in quotes");
    assert_refused(state, "users: [{name: u, user: {exec: sh}}]\n",
                   "DIR/config:1:32: user: exec must be a mapping, not a string");
    assert_refused(state, "users: [{name: u, user: {exec: {args: [1]}}}]\n",
                   "DIR/config:1:40: exec: args[0] must be a string, not a number: put it in "
                   "quotes");
    assert_refused(state, "clusters: [{name: c, cluster: {insecure-skip-tls-verify: yes}}]\n",
                   "DIR/config:1:58: cluster: insecure-skip-tls-verify must be written as "
                   "true or false");
}

static void names(void **state) {
    assert_refused(state, "users: [{user: {}}]\n",
                   "DIR/config:1:9: entry of users: name is missing");
    assert_refused(state, "users: [{name: ''}]\n",
                   "DIR/config:1:16: entry of users: name is empty");
    assert_refused(state, "users:\n- name: a\n- name: b\n- name: a\n",
                   "DIR/config:4:3: a second user named \"a\" (the first is in line 2)");
    assert_refused(state, "clusters: [~]\n", "DIR/config:1:12: entry of clusters: name is missing");
}

static void other_kinds(void **state) {
    assert_refused(state, "apiVersion: v1\nkind: Pod\n",
                   "DIR/config:2:7: this is no kubeconfig: kind is \"Pod\", not \"Config\"");
    assert_refused(state, "apiVersion: v2\nkind: Config\n",
                   "DIR/config:1:13: this is no kubeconfig: apiVersion is \"v2\", not \"v1\"");
}

static void paths(void **state) {
    struct kubefile *f = load(state, "");
    _cleanup_free_ char *a = kubefile_path(f, "pki/ca.crt"), *b = kubefile_path(f, "/etc/ca.crt");
    assert_string_equal(a, scratch_expand(state, "DIR/pki/ca.crt"));
    assert_string_equal(b, "/etc/ca.crt");
    kubefile_free(f);

    char *cwd = getcwd(NULL, 0);
    assert_int_equal(chdir(scratch_path(state, "")), 0);
    assert_int_equal(kubefile_load("config", &f, NULL), 0);
    assert_string_equal(f->dir, ((struct scratch *)*state)->dir);
    kubefile_free(f);
    assert_int_equal(mkdir("sub", 0700), 0);
    scratch_put(state, "sub/config", "");
    assert_int_equal(kubefile_load("sub/config", &f, NULL), 0);
    assert_string_equal(f->dir, scratch_expand(state, "DIR/sub"));
    kubefile_free(f);
    assert_int_equal(chdir(cwd), 0);
    free(cwd);
}

static void places(void **state) {
    struct kubefile *f = load(state, "clusters:\n- name: c\n  cluster:\n    server: x\n");
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(kubefile_err(&f->clusters.p[0]->e, "server", &err, "no %d", 1), -EINVAL);
    assert_string_equal(err_msg(&err), scratch_expand(state, "DIR/config:4:13: no 1"));
    kubefile_err(&f->clusters.p[0]->e, "proxy-url", &err, "no");
    assert_string_equal(err_msg(&err), scratch_expand(state, "DIR/config:2:3: no"));
    kubefile_free(f);
}

static void unreadable(void **state) {
    struct kubefile *f = NULL;
    assert_int_equal(kubefile_load(scratch_path(state, "nix"), &f, NULL), -ENOENT);
    assert_int_equal(kubefile_load(scratch_path(state, ""), &f, NULL), -EISDIR);
    assert_null(f);
}

/* Every prefix of a whole file is either read or refused, and nothing leaks. */
static void cut_off(void **state) {
    char text[sizeof whole];
    for (size_t n = 0; n < sizeof whole; n += 3) {
        memcpy(text, whole, n);
        text[n] = '\0';
        struct kubefile *f = NULL;
        _cleanup_err_ struct err err = ERR_INIT;
        if (kubefile_load(scratch_put(state, "config", text), &f, &err) == 0)
            kubefile_free(f);
        else
            assert_non_null(strstr(err_msg(&err), "/config:"));
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(every_key), T(nothing_in_it), T(json_too),    T(unknown_keys), T(wrong_types), T(names),
        T(paths),     T(places),        T(other_kinds), T(unreadable),   T(cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
