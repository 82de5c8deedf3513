/* Tests of base/err.c: the error contract of docs/errors.md. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

static void test_set(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(err_set(&err, EINVAL, "line %d", 7), -EINVAL);
    assert_int_equal(err.code, EINVAL);
    assert_string_equal(err_msg(&err), "line 7");
    assert_int_equal(err_set(&err, ENOENT, "other"), -ENOENT);
    assert_int_equal(err.code, ENOENT);
    assert_string_equal(err_msg(&err), "other");
}

static void test_nobody_wants_the_words(void **state) {
    (void)state;
    struct err unset = ERR_INIT;
    assert_int_equal(err_set(NULL, EINVAL, "%s", "x"), -EINVAL);
    assert_int_equal(err_errno(NULL, EPERM, "x"), -EPERM);
    assert_int_equal(err_wrap(NULL, "x"), -EIO);
    assert_int_equal(err_move(NULL, NULL), -EIO);
    assert_string_equal(err_msg(NULL), "unknown error");
    assert_string_equal(err_msg(&unset), "unknown error");
    err_done(NULL);
}

static void test_errno(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(err_errno(&err, ENOENT, "cannot read %s", "f"), -ENOENT);
    assert_string_equal(err_msg(&err), "cannot read f: No such file or directory");
    assert_int_equal(err.code, ENOENT);
}

static void test_wrap(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    err_set(&err, EACCES, "no");
    assert_int_equal(err_wrap(&err, "a"), -EACCES);
    assert_int_equal(err_wrap(&err, "%s %d", "b", 2), -EACCES);
    assert_string_equal(err_msg(&err), "b 2: a: no");
    assert_int_equal(err.code, EACCES);
}

/* There is nothing to put a context in front of; the caller still gets a failure. */
static void test_wrap_of_nothing(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(err_wrap(&err, "a"), -EIO);
    assert_int_equal(err.code, 0);
    assert_null(err.msg);
}

/* The arguments may be the old message. */
static void test_replace_with_itself(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    err_set(&err, EINVAL, "old");
    err_set(&err, EINVAL, "new, not %s", err.msg);
    assert_string_equal(err_msg(&err), "new, not old");
    err_errno(&err, EPERM, "was: %s", err.msg);
    assert_string_equal(err_msg(&err), "was: new, not old: Operation not permitted");
    err_wrap(&err, "%s", err.msg);
    assert_string_equal(err_msg(&err), "was: new, not old: Operation not permitted: "
                                       "was: new, not old: Operation not permitted");
}

/* A percent sign in foreign text is text. */
static void test_percent(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    err_set(&err, EINVAL, "%s", "100%s %n");
    err_errno(&err, EPERM, "%s", err.msg);
    err_wrap(&err, "%s", "50%d");
    assert_string_equal(err_msg(&err), "50%d: 100%s %n: Operation not permitted");
}

static void test_move(void **state) {
    (void)state;
    _cleanup_err_ struct err a = ERR_INIT, b = ERR_INIT;
    err_set(&a, EINVAL, "first");
    err_set(&b, ENOENT, "second");
    assert_int_equal(err_move(&a, &b), -ENOENT);
    assert_string_equal(err_msg(&a), "second");
    assert_int_equal(a.code, ENOENT);
    assert_null(b.msg);
    assert_int_equal(b.code, 0);
    assert_int_equal(err_move(NULL, &a), -ENOENT);
    assert_null(a.msg);
    assert_int_equal(a.code, 0);
}

static void test_long(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    err_set(&err, EINVAL, "%100000s", "x");
    assert_int_equal(strlen(err_msg(&err)), 100000);
    err_done(&err);
    assert_int_equal(err.code, 0);
    assert_null(err.msg);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_nobody_wants_the_words),
        cmocka_unit_test(test_errno),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_wrap_of_nothing),
        cmocka_unit_test(test_replace_with_itself),
        cmocka_unit_test(test_percent),
        cmocka_unit_test(test_move),
        cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
