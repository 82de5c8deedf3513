/* Tests of cli/exit: the table, and which error ends in which code. */
#include "cli/exit.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static void rows_are_complete_and_ordered(void **state) {
    (void)state;
    for (size_t i = 0; i < n_exit_rows; i++) {
        assert_true(strlen(exit_rows[i].name) > 0);
        assert_int_equal(exit_rows[i].meaning[strlen(exit_rows[i].meaning) - 1], '.');
        if (i)
            assert_true(exit_rows[i - 1].code < exit_rows[i].code);
    }
}

static void codes_are_the_promised_numbers(void **state) {
    (void)state;
    assert_int_equal(EXIT_DONE, 0);
    assert_int_equal(EXIT_FAILED, 1);
    assert_int_equal(EXIT_CHANGES, 2);
    assert_int_equal(EXIT_BLOCKED, 3);
    assert_int_equal(EXIT_ACCESS, 4);
    assert_int_equal(EXIT_REFUSED, 5);
    assert_int_equal(EXIT_PARTIAL, 6);
    assert_int_equal(EXIT_USAGE, 64);
    assert_int_equal(EXIT_SIGINT, 130);
    assert_int_equal(EXIT_SIGPIPE, 141);
    assert_int_equal(EXIT_SIGTERM, 143);
}

static void errors(void **state) {
    (void)state;
    static const struct {
        int error;
        enum exit_code code;
    } t[] = {{0, EXIT_DONE},           {EINVAL, EXIT_USAGE},        {ECONNREFUSED, EXIT_ACCESS},
             {EACCES, EXIT_ACCESS},    {EHOSTUNREACH, EXIT_ACCESS}, {ETIMEDOUT, EXIT_ACCESS},
             {EPROTO, EXIT_ACCESS},    {ECANCELED, EXIT_SIGINT},    {ENOSPC, EXIT_FAILED},
             {EIO, EXIT_FAILED},       {ENOENT, EXIT_USAGE},        {12345, EXIT_FAILED},
             {ECONNRESET, EXIT_ACCESS}};
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        assert_int_equal(exit_from_errno(t[i].error), t[i].code);
        assert_int_equal(exit_from_errno(-t[i].error), t[i].code);
    }
}

static void the_graver_of_two(void **state) {
    (void)state;
    assert_int_equal(exit_graver(EXIT_DONE, EXIT_DONE), EXIT_DONE);
    assert_int_equal(exit_graver(EXIT_DONE, EXIT_BLOCKED), EXIT_BLOCKED);
    assert_int_equal(exit_graver(EXIT_REFUSED, EXIT_BLOCKED), EXIT_REFUSED);
    assert_int_equal(exit_graver(EXIT_REFUSED, EXIT_FAILED), EXIT_FAILED);
    assert_int_equal(exit_graver(EXIT_ACCESS, EXIT_FAILED), EXIT_ACCESS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete_and_ordered),
        cmocka_unit_test(codes_are_the_promised_numbers),
        cmocka_unit_test(errors),
        cmocka_unit_test(the_graver_of_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
