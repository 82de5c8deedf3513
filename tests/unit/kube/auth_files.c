/* Tests of kube/auth_files: tokens, and pairs that are replaced one file after the other. */
#include "kube/auth_files.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "pair.h"
#include "scratch.h"

static void tokens(void **state) {
    char *token = NULL;
    const char *path = scratch_put(state, "t", "\n abc.def_-~+/= \r\n");
    assert_int_equal(auth_read_token(path, &token, NULL), 0);
    assert_string_equal(token, "abc.def_-~+/=");
    secret_clear(&token);
    _cleanup_err_ struct err err = ERR_INIT;
    scratch_put(state, "t", " \n");
    assert_int_equal(auth_read_token(path, &token, &err), -EINVAL);
    assert_string_equal(err_msg(&err), scratch_expand(state, "the token file DIR/t is empty"));
    static const char *const bad[] = {"a b", "a\nb", "a\rX-Evil: 1", "a\033b"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        scratch_put(state, "t", bad[i]);
        assert_int_equal(auth_read_token(path, &token, &err), -EINVAL);
        assert_string_equal(err_msg(&err),
                            scratch_expand(state, "the token file DIR/t holds no token: there is a "
                                                  "blank or a control character in it"));
    }
    unlink(path);
    assert_int_equal(auth_read_token(path, &token, &err), -ENOENT);
    assert_string_equal(
        err_msg(&err),
        scratch_expand(state, "cannot read the token file: DIR/t: No such file or directory"));
    assert_int_equal(auth_read_token("/dev/zero", &token, &err), -EFBIG);
    assert_null(token);
}

static void pair_in_files(void **state) {
    struct pair a = pair_new(3600, NULL), b = pair_new(3600, NULL);
    struct kube_pem cert = {.file = xstrdup(scratch_put(state, "c", a.cert))};
    struct kube_pem key = {.file = xstrdup(scratch_put(state, "k", a.key))};
    struct auth_pair p;
    _cleanup_err_ struct err err = ERR_INIT;
    auth_pair_init(&p, &cert, &key);
    assert_int_equal(auth_pair_refresh(&p, false, &err), 1);
    assert_string_equal(p.cert_pem, a.cert);
    assert_string_equal(p.key_pem, a.key);
    assert_int_equal(auth_pair_refresh(&p, false, &err), 0);
    assert_int_equal(auth_pair_refresh(&p, true, &err), 0);
    /* The certificate is replaced, the key not yet: the old pair stays. */
    scratch_put(state, "c", b.cert);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(auth_pair_refresh(&p, false, &err), -EINVAL);
        assert_string_equal(err_msg(&err),
                            "the client key does not belong to the client certificate");
        assert_string_equal(p.cert_pem, a.cert);
        assert_string_equal(p.key_pem, a.key);
    }
    scratch_put(state, "k", b.key);
    assert_int_equal(auth_pair_refresh(&p, false, &err), 1);
    assert_string_equal(p.cert_pem, b.cert);
    assert_string_equal(p.key_pem, b.key);
    /* Gone for a while. */
    unlink(key.file);
    assert_int_equal(auth_pair_refresh(&p, false, &err), -ENOENT);
    assert_string_equal(p.key_pem, b.key);
    scratch_put(state, "k", b.key);
    assert_int_equal(auth_pair_refresh(&p, false, &err), 0);
    /* The same bytes in new files are no new pair. */
    scratch_put(state, "c", b.cert);
    assert_int_equal(auth_pair_refresh(&p, false, &err), 0);
    auth_pair_done(&p);
    free(cert.file);
    free(key.file);
    pair_done(&a);
    pair_done(&b);
}

static void swapped_symbolic_link(void **state) {
    struct pair a = pair_new(3600, NULL), b = pair_new(3600, NULL);
    scratch_mkdir(state, "v1");
    scratch_mkdir(state, "v2");
    scratch_put(state, "v1/c", a.cert);
    scratch_put(state, "v1/k", a.key);
    scratch_put(state, "v2/c", b.cert);
    scratch_put(state, "v2/k", b.key);
    assert_int_equal(symlink("v1", scratch_path(state, "data")), 0);
    struct kube_pem cert = {.file = xstrdup(scratch_path(state, "data/c"))};
    struct kube_pem key = {.file = xstrdup(scratch_path(state, "data/k"))};
    struct auth_pair p;
    auth_pair_init(&p, &cert, &key);
    assert_int_equal(auth_pair_refresh(&p, false, NULL), 1);
    assert_int_equal(symlink("v2", scratch_path(state, "data.new")), 0);
    assert_int_equal(rename(scratch_path(state, "data.new"), scratch_path(state, "data")), 0);
    assert_int_equal(auth_pair_refresh(&p, false, NULL), 1);
    assert_string_equal(p.cert_pem, b.cert);
    auth_pair_done(&p);
    free(cert.file);
    free(key.file);
    pair_done(&a);
    pair_done(&b);
}

static void given_and_mixed(void **state) {
    struct pair a = pair_new(3600, NULL), b = pair_new(3600, NULL);
    struct kube_pem cert = {.data = a.cert}, key = {.data = a.key};
    struct auth_pair p;
    _cleanup_err_ struct err err = ERR_INIT;
    auth_pair_init(&p, &cert, &key);
    assert_int_equal(auth_pair_refresh(&p, false, &err), 1);
    assert_int_equal(auth_pair_refresh(&p, true, &err), 0);
    auth_pair_done(&p);
    key = (struct kube_pem){.file = xstrdup(scratch_put(state, "k", b.key))};
    auth_pair_init(&p, &cert, &key);
    assert_int_equal(auth_pair_refresh(&p, false, &err), -EINVAL);
    assert_null(p.cert_pem);
    scratch_put(state, "k", a.key);
    assert_int_equal(auth_pair_refresh(&p, false, &err), 1);
    assert_string_equal(p.cert_pem, a.cert);
    auth_pair_done(&p);
    free(key.file);
    pair_done(&a);
    pair_done(&b);
}

#define T(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(tokens),
        T(pair_in_files),
        T(swapped_symbolic_link),
        T(given_and_mixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
