/* Tests of src/base/shell.c. A shell is the judge. */
#include "base/shell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static void plain_words_stay_as_they_are(void **state) {
    static const char *const words[] = {"w1",         "web-7c9d",    "a/b",
                                        "--flag=x,y", "node@host:1", "50%"};
    struct arena arena = ARENA_INIT;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        assert_string_equal(shell_word(&arena, words[i]), words[i]);
    arena_done(&arena);
}

static void the_rest_is_quoted(void **state) {
    struct arena arena = ARENA_INIT;
    (void)state;
    assert_string_equal(shell_word(&arena, ""), "''");
    assert_string_equal(shell_word(&arena, "a b"), "'a b'");
    assert_string_equal(shell_word(&arena, "it's"), "'it'\\''s'");
    assert_string_equal(shell_word(&arena, "w[1-3]"), "'w[1-3]'");
    assert_string_equal(shell_word(&arena, "a b;rm -rf"), "'a b;rm -rf'");
    assert_string_equal(shell_word(&arena, "a'$(x)"), "'a'\\''$(x)'");
    arena_done(&arena);
}

/* What the command prints. */
static void run(const char *command, char *out, size_t size) {
    int pipes[2], status;
    assert_int_equal(pipe(pipes), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        dup2(pipes[1], STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(pipes[1]);
    size_t len = 0;
    for (ssize_t n; len + 1 < size && (n = read(pipes[0], out + len, size - len - 1)) > 0;)
        len += (size_t)n;
    out[len] = '\0';
    close(pipes[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void a_shell_gives_them_back(void **state) {
    static const char *const words[] = {"",        "$(touch x)", "`id`", "a;b", "a\\b", "'",
                                        "''\"'\"", "~",          "#x",   "!",   "a\tb", "\xc3\xa9"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        _cleanup_str_ struct str command = STR_INIT;
        char got[64];
        str_add(&command, "printf %s ");
        shell_add(&command, words[i]);
        run(str_get(&command), got, sizeof got);
        assert_string_equal(got, words[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_words_stay_as_they_are),
        cmocka_unit_test(the_rest_is_quoted),
        cmocka_unit_test(a_shell_gives_them_back),
    };
    return cmocka_run_group_tests_name("base/shell", tests, NULL, NULL);
}
