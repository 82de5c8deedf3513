/* Tests of src/cli/question.c: what counts as a yes. */
#include "cli/question.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

/* Asks with these keys typed, and the end of input after them. */
static bool asks(const char *keys, char said[static 200], char *left) {
    int in[2], err[2];
    assert_int_equal(pipe2(in, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(pipe2(err, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(write(in[1], keys, strlen(keys)), (ssize_t)strlen(keys));
    close(in[1]);
    struct cli cli = {.prog = "slipway", .err = {.fd = err[1]}};
    bool yes = question_ask(&cli, in[0], "Let it go?");
    ssize_t n = read(err[0], said, 199);
    said[n > 0 ? n : 0] = '\0';
    *left = '\0';
    if (read(in[0], left, 1) != 1)
        *left = '\0';
    str_done(&cli.err.buf);
    close(in[0]);
    close(err[0]);
    close(err[1]);
    return yes;
}

static void only_a_yes_is_one(void **state) {
    (void)state;
    char said[200], left, lots[200];
    memset(lots, 'y', sizeof lots);
    lots[198] = '\n';
    lots[199] = '\0';
    static const char *const yes[] = {"y\n", "Y\n", "yes\n", "YES\n"};
    const char *const no[] = {"", "y", "n\n", "\n", "ye\n", "yess\n", " y\n", "no\ny\n", lots};
    for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
        assert_true(asks(yes[i], said, &left));
        assert_string_equal(said, "Let it go? [y/N] ");
    }
    for (size_t i = 0; i < ARRAY_LEN(no); i++)
        assert_false(asks(no[i], said, &left));
}

/* What comes after the line is for somebody else. */
static void one_line_is_read(void **state) {
    (void)state;
    char said[200], left;
    assert_true(asks("y\nx\n", said, &left));
    assert_int_equal(left, 'x');
}

static void there_must_be_a_screen(void **state) {
    (void)state;
    struct cli cli = {.err = {.tty = false}};
    assert_false(question_possible(&cli));
    cli.err.tty = true; /* as SLIPWAY_FORCE_TTY has it: the keys must be real all the same */
    assert_int_equal(question_possible(&cli), isatty(STDIN_FILENO));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_yes_is_one),
        cmocka_unit_test(one_line_is_read),
        cmocka_unit_test(there_must_be_a_screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
