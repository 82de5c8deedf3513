/* Tests of src/kube/config_words.c. The sentences are kubectl 1.36.3's; tests/cli compares. */
#include "kube/config_words.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define CERT "unable to read client-cert /n/c for jo due to open /n/c: no such file or directory"
#define KEY  "unable to read client-key /n/k for  due to open /n/k: permission denied"
#define METHODS                                                                                    \
    "more than one authentication method found for jo; found [token basicAuth], only one is "      \
    "allowed"

static void made(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    kube_words_unreadable(&s, "client-cert", "/n/c", "jo", ENOENT);
    assert_string_equal(str_get(&s), CERT);
    kube_words_unreadable(&s, "client-key", "/n/k", NULL, EACCES);
    assert_string_equal(str_get(&s), CERT "; " KEY);
    err_set(&err, EACCES, "f:1:2: it is so");
    assert_int_equal(kube_words_first(&err, "a %s", "b"), -EACCES);
    assert_string_equal(err_msg(&err), "a b; f:1:2: it is so");
    assert_true(kube_words_first(NULL, "nobody listens") < 0);
}

static void taken_apart(void **state) {
    (void)state;
    static const struct {
        const char *message, *first, *rest;
    } t[] = {
        {CERT, CERT, ""},
        {CERT "; " KEY "; f:1:2: ours; and more", CERT, KEY "; f:1:2: ours; and more"},
        {METHODS, METHODS, ""},
        {METHODS "; --token and --username exclude each other", METHODS,
         "--token and --username exclude each other"},
        {"host must be a URL or a host:port pair: \"://x\"; --server: ours",
         "host must be a URL or a host:port pair: \"://x\"", "--server: ours"},
        {"requesting uid, groups or user-extra for ", "requesting uid, groups or user-extra for ",
         ""},
        {"f:1:2: ours; and more", "", "f:1:2: ours; and more"},
        {"", "", ""},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const char *next;
        size_t len = kube_words_take(t[i].message, &next);
        assert_int_equal(len, strlen(t[i].first));
        assert_memory_equal(t[i].message, t[i].first, len);
        assert_string_equal(next, t[i].rest);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made),
        cmocka_unit_test(taken_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
