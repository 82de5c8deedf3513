/* Tests of base/arena.c. */
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"

/* With the address sanitizer an allocation that cannot be is fatal unless told otherwise. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}

static void test_empty(void **state) {
    (void)state;
    struct arena a = ARENA_INIT;
    arena_reset(&a);
    arena_done(&a);
    arena_done(&a);
    arena_done(NULL);
    assert_null(a.head);
}

/* Every size up to some blocks' worth: zeroed, aligned, and nobody writes into his neighbour. */
static void test_no_overlap(void **state) {
    (void)state;
    enum { N = 3000 };
    _cleanup_arena_ struct arena a = ARENA_INIT;
    unsigned char **p = malloc(N * sizeof *p);
    for (size_t i = 0; i < N; i++) {
        p[i] = arena_alloc(&a, i);
        assert_int_equal((uintptr_t)p[i] % alignof(max_align_t), 0);
        for (size_t j = 0; j < i; j++)
            assert_int_equal(p[i][j], 0);
        memset(p[i], (int)(i % 255) + 1, i);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < i; j++)
            assert_int_equal(p[i][j], i % 255 + 1);
    free(p);
}

static void test_zero_bytes_are_distinct(void **state) {
    (void)state;
    _cleanup_arena_ struct arena a = ARENA_INIT;
    assert_ptr_not_equal(arena_alloc(&a, 0), arena_alloc(&a, 0));
}

static void test_larger_than_any_block(void **state) {
    (void)state;
    enum { SIZE = 5 << 20 };
    _cleanup_arena_ struct arena a = ARENA_INIT;
    char *before = arena_strndup(&a, "before", 6);
    char *big = arena_alloc(&a, SIZE);
    memset(big, 1, SIZE);
    char *after = arena_strndup(&a, "after", 5);
    assert_string_equal(before, "before");
    assert_string_equal(after, "after");
    assert_int_equal(big[SIZE - 1], 1);
}

static void test_strings(void **state) {
    (void)state;
    _cleanup_arena_ struct arena a = ARENA_INIT;
    assert_string_equal(arena_strndup(&a, "abcdef", 3), "abc");
    assert_string_equal(arena_strndup(&a, NULL, 0), "");
    assert_memory_equal(arena_strndup(&a, "a\0b", 3), "a\0b", 4);
    assert_string_equal(arena_printf(&a, "%s-%d", "x", 42), "x-42");
    assert_string_equal(arena_printf(&a, "%s", ""), "");
    char *long_one = arena_printf(&a, "%100000d", 7);
    assert_int_equal(strlen(long_one), 100000);
    assert_int_equal(long_one[99999], '7');
}

/* A reused arena has the same memory again, and again zeroed. */
static void test_reset(void **state) {
    (void)state;
    _cleanup_arena_ struct arena a = ARENA_INIT;
    char *first = arena_alloc(&a, 100);
    memset(first, 'x', 100);
    for (int i = 0; i < 100; i++)
        arena_alloc(&a, 1000);
    arena_reset(&a);
    char *again = arena_alloc(&a, 100);
    assert_ptr_equal(again, first);
    for (int i = 0; i < 100; i++)
        assert_int_equal(again[i], 0);
    for (int turn = 0; turn < 10; turn++) {
        arena_reset(&a);
        assert_ptr_equal(arena_alloc(&a, 64), first);
    }
}

static void test_new(void **state) {
    (void)state;
    struct thing {
        int a;
        char *b;
    };
    _cleanup_arena_ struct arena a = ARENA_INIT;
    struct thing *t = arena_new(&a, struct thing);
    assert_int_equal(t->a, 0);
    assert_null(t->b);
}

/* A size that rounds up to less than itself must not come back as a small allocation. */
static void test_impossible_size(void **state) {
    (void)state;
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX / 2, PTRDIFF_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            close(STDERR_FILENO);
            struct arena a = ARENA_INIT;
            arena_alloc(&a, sizes[i]);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_no_overlap),
        cmocka_unit_test(test_zero_bytes_are_distinct),
        cmocka_unit_test(test_larger_than_any_block),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_new),
        cmocka_unit_test(test_impossible_size),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
