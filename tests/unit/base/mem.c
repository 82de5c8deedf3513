/* Tests of base/mem.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

/* With the address sanitizer an allocation that cannot be is fatal unless told otherwise. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}

static void test_copies(void **state) {
    (void)state;
    _cleanup_free_ char *a = xstrdup("text");
    _cleanup_free_ char *b = xstrndup("text", 2);
    _cleanup_free_ char *c = xstrndup(NULL, 0);
    _cleanup_free_ char *d = xmemdup("a\0b", 3);
    _cleanup_free_ void *e = xmemdup(NULL, 0);
    _cleanup_free_ char *f = xasprintf("%s=%d", "n", 1);
    assert_string_equal(a, "text");
    assert_string_equal(b, "te");
    assert_string_equal(c, "");
    assert_memory_equal(d, "a\0b", 3);
    assert_non_null(e);
    assert_string_equal(f, "n=1");
}

static void test_nothing_is_something(void **state) {
    (void)state;
    _cleanup_free_ void *a = xmalloc(0);
    _cleanup_free_ void *b = xcalloc(0, 0);
    _cleanup_free_ void *c = xrealloc(NULL, 0, 8);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
}

static void test_zeroed(void **state) {
    (void)state;
    _cleanup_free_ unsigned char *p = xcalloc(1000, 3);
    for (int i = 0; i < 3000; i++)
        assert_int_equal(p[i], 0);
    struct pair {
        int a;
        void *b;
    };
    _cleanup_free_ struct pair *pair = xnew(struct pair);
    assert_int_equal(pair->a, 0);
    assert_null(pair->b);
}

static void test_realloc_keeps(void **state) {
    (void)state;
    int *p = NULL;
    for (size_t n = 1; n <= 1000; n++) {
        p = xrealloc(p, n, sizeof *p);
        p[n - 1] = (int)n;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(p[i], i + 1);
    free(p);
}

static void test_str_replace(void **state) {
    (void)state;
    _cleanup_free_ char *s = NULL;
    str_replace(&s, "one");
    assert_string_equal(s, "one");
    str_replace(&s, s + 1); /* part of itself */
    assert_string_equal(s, "ne");
    str_replace(&s, s);
    assert_string_equal(s, "ne");
    str_replace(&s, NULL);
    assert_null(s);
}

static void test_clear_and_take(void **state) {
    (void)state;
    char *p = xstrdup("x");
    char *taken = TAKE_PTR(p);
    assert_null(p);
    assert_string_equal(taken, "x");
    mem_clear(&taken);
    assert_null(taken);
    mem_clear(&taken);
}

static void test_wipe(void **state) {
    (void)state;
    char secret[] = "secret";
    mem_wipe(secret, 3);
    assert_memory_equal(secret, "\0\0\0ret", 6);
    mem_wipe(NULL, 0);
}

static void test_macros(void **state) {
    (void)state;
    struct outer {
        int a, b;
    } o = {1, 2};
    int three[3];
    assert_ptr_equal(CONTAINER_OF(&o.b, struct outer, b), &o);
    assert_int_equal(ARRAY_LEN(three), 3);
    assert_int_equal(MIN_OF(1, 2), 1);
    assert_int_equal(MAX_OF(1, 2), 2);
}

/* Runs fn in a child, with standard error in a pipe; returns the exit status and what it said. */
static int dies(void (*fn)(void), char *said, size_t size) {
    int fds[2], status;
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        fn();
        _exit(0);
    }
    close(fds[1]);
    size_t n = 0;
    ssize_t got;
    while (n < size - 1 && (got = read(fds[0], said + n, size - 1 - n)) > 0)
        n += (size_t)got;
    said[n] = '\0';
    close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Opaque to the compiler, which otherwise warns about the size. */
static volatile size_t huge = SIZE_MAX / 4;
static volatile size_t eighth = SIZE_MAX / 8 + 2; /* eight times this is 8, in a size_t */

static void try_malloc(void) {
    free(xmalloc(huge));
}
static void try_calloc(void) {
    free(xcalloc(huge, 4));
}
static void try_calloc_overflow(void) {
    free(xcalloc(eighth, 8));
}
static void try_realloc(void) {
    free(xrealloc(NULL, huge, 1));
}
static void try_realloc_overflow(void) {
    free(xrealloc(NULL, eighth, 8));
}

static void test_out_of_memory(void **state) {
    (void)state;
    void (*const tries[])(void) = {try_malloc, try_calloc, try_calloc_overflow, try_realloc,
                                   try_realloc_overflow};
    for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
        char said[4096];
        assert_int_equal(dies(tries[i], said, sizeof said), 1);
        assert_non_null(strstr(said, "slipway: out of memory\n"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),        cmocka_unit_test(test_nothing_is_something),
        cmocka_unit_test(test_zeroed),        cmocka_unit_test(test_realloc_keeps),
        cmocka_unit_test(test_str_replace),   cmocka_unit_test(test_clear_and_take),
        cmocka_unit_test(test_wipe),          cmocka_unit_test(test_macros),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
