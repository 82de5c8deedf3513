/* Tests of kube/config_merge: which files, and whose entries win. */
#include "kube/config_merge.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scratch.h"

static const char first[] = "clusters:\n- {name: c1, cluster: {server: 'https://first'}}\n"
                            "- {name: shared, cluster: {tls-server-name: only-in-first}}\n"
                            "contexts:\n- {name: x, context: {cluster: c1}}\n";
static const char second[] =
    "current-context: from-second\n"
    "clusters:\n- {name: shared, cluster: {server: 'https://second'}}\n- {name: c2}\n"
    "users:\n- {name: u2}\n"
    "contexts:\n- {name: y}\n- {name: x, context: {cluster: c2}}\n";
static const char third[] = "current-context: from-third\ncontexts:\n- {name: z}\n";

static struct kubefiles load(const char *flag, const char *list, const char *home) {
    struct kubefiles set = {0};
    struct kube_config_flags flags = {.kubeconfig = flag};
    struct kube_env env = {.kubeconfig = list, .home = home};
    _cleanup_err_ struct err err = ERR_INIT;
    if (kubefiles_load(&flags, &env, &set, &err) < 0)
        fail_msg("%s", err_msg(&err));
    return set;
}

static const char *list_of(void **state, const char *text) {
    scratch_put(state, "1", first);
    scratch_put(state, "2", second);
    scratch_put(state, "3", third);
    return scratch_expand(state, text);
}

static void assert_names(const struct kubefiles *set, enum kubefile_kind kind, const char *want) {
    _cleanup_str_ struct str s = STR_INIT;
    size_t n;
    char **names = kubefiles_names(set, kind, &n);
    for (size_t i = 0; i < n; i++)
        str_addf(&s, "%s ", names[i]);
    assert_null(names[n]);
    assert_string_equal(str_get(&s), want);
    kube_config_names_free(names);
}

static void the_first_wins(void **state) {
    _cleanup_kubefiles_ struct kubefiles set =
        load(NULL, list_of(state, "DIR/1:DIR/2:DIR/3"), NULL);
    assert_int_equal(set.files.len, 3);
    assert_false(set.explicit);
    /* The whole entry, not key by key. */
    const struct kubefile_cluster *shared = kubefiles_cluster(&set, "shared");
    assert_string_equal(shared->tls_server_name, "only-in-first");
    assert_null(shared->server);
    assert_string_equal(kubefiles_cluster(&set, "c1")->server, "https://first");
    assert_non_null(kubefiles_cluster(&set, "c2"));
    assert_string_equal(kubefiles_context(&set, "x")->cluster, "c1");
    assert_non_null(kubefiles_user(&set, "u2"));
    assert_null(kubefiles_user(&set, "u1"));
    assert_null(kubefiles_context(&set, "c1"));
    assert_string_equal(kubefiles_current(&set)->current_context, "from-second");
    assert_names(&set, KUBEFILE_CLUSTER, "c1 shared c2 ");
    assert_names(&set, KUBEFILE_USER, "u2 ");
    assert_names(&set, KUBEFILE_CONTEXT, "x y z ");
    _cleanup_str_ struct str origin = STR_INIT;
    kubefiles_origin(&set, &origin);
    assert_string_equal(str_get(&origin), scratch_expand(state, "DIR/1:DIR/2:DIR/3"));
}

static void the_order_counts(void **state) {
    _cleanup_kubefiles_ struct kubefiles set =
        load(NULL, list_of(state, "DIR/3:DIR/2:DIR/1"), NULL);
    assert_string_equal(kubefiles_current(&set)->current_context, "from-third");
    assert_string_equal(kubefiles_cluster(&set, "shared")->server, "https://second");
    assert_string_equal(kubefiles_context(&set, "x")->cluster, "c2");
}

static void gaps_in_the_list(void **state) {
    _cleanup_kubefiles_ struct kubefiles set =
        load(NULL, list_of(state, ":DIR/nix::DIR/1:DIR/1:DIR/gone:DIR/2:DIR/1:"), NULL);
    assert_int_equal(set.files.len, 2);
    assert_int_equal(set.missing.len, 2);
    assert_string_equal(set.missing.p[1], scratch_path(state, "gone"));
}

static void nothing_there(void **state) {
    _cleanup_kubefiles_ struct kubefiles set = load(NULL, ":", NULL);
    assert_int_equal(set.files.len + set.missing.len, 0);
    assert_null(kubefiles_current(&set));
    assert_names(&set, KUBEFILE_CONTEXT, "");
    kubefiles_done(&set);
    set = load(NULL, NULL, NULL);
    assert_int_equal(set.files.len + set.missing.len, 0);
    kubefiles_done(&set);
    set = load(NULL, "", "/dev/null");
    assert_int_equal(set.missing.len, 1);
    assert_string_equal(set.missing.p[0], "/dev/null/.kube/config");
    (void)state;
}

static void which_files(void **state) {
    scratch_mkdir(state, ".kube");
    scratch_put(state, ".kube/config", third);
    const char *home = scratch_path(state, "");
    _cleanup_kubefiles_ struct kubefiles set = load(NULL, NULL, home);
    assert_int_equal(set.files.len, 1);
    kubefiles_done(&set);
    set = load(NULL, list_of(state, "DIR/1"), home);
    assert_null(kubefiles_current(&set));
    kubefiles_done(&set);
    set = load(scratch_path(state, "2"), list_of(state, "DIR/1"), home);
    assert_true(set.explicit);
    assert_int_equal(set.files.len, 1);
    assert_string_equal(kubefiles_current(&set)->current_context, "from-second");
}

static void failures(void **state) {
    struct kubefiles set = {0};
    _cleanup_err_ struct err err = ERR_INIT;
    struct kube_config_flags flags = {.kubeconfig = scratch_path(state, "nix")};
    struct kube_env env = {.home = "/"};
    assert_int_equal(kubefiles_load(&flags, &env, &set, &err), -ENOENT);
    assert_string_equal(
        err_msg(&err),
        scratch_expand(state, "cannot read the kubeconfig: DIR/nix: No such file or directory"));
    flags.kubeconfig = NULL;
    env.kubeconfig = list_of(state, "DIR/1:DIR:DIR/2");
    assert_int_equal(kubefiles_load(&flags, &env, &set, &err), -EISDIR);
    scratch_put(state, "bad", "kind: [\n");
    env.kubeconfig = scratch_expand(state, "DIR/1:DIR/bad");
    assert_int_equal(kubefiles_load(&flags, &env, &set, &err), -EINVAL);
    assert_int_equal(strncmp(err_msg(&err), scratch_expand(state, "DIR/bad:2:1: "), 10), 0);
    if (geteuid()) {
        chmod(scratch_path(state, "2"), 0);
        env.kubeconfig = scratch_expand(state, "DIR/1:DIR/2");
        assert_int_equal(kubefiles_load(&flags, &env, &set, &err), -EACCES);
        assert_string_equal(
            err_msg(&err),
            scratch_expand(state, "cannot read the kubeconfig: DIR/2: Permission denied"));
    }
    assert_int_equal(set.files.len, 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(the_first_wins), T(the_order_counts), T(gaps_in_the_list),
        T(nothing_there),  T(which_files),      T(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
