/* Tests of base/str.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"

static void invariants(const struct str *s) {
    if (!s->p) {
        assert_int_equal(s->len, 0);
        assert_int_equal(s->cap, 0);
    } else {
        assert_true(s->len < s->cap);
        assert_int_equal(s->p[s->len], 0);
    }
}

static void test_empty(void **state) {
    (void)state;
    struct str s = STR_INIT;
    assert_string_equal(str_get(&s), "");
    str_reset(&s);
    str_drop(&s, 5);
    str_addf(&s, "%s", "");
    assert_string_equal(str_get(&s), "");
    invariants(&s);
    char *taken = str_take(&s);
    assert_string_equal(taken, "");
    free(taken);
    str_done(&s);
    str_done(NULL);
}

static void test_add(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    str_add(&s, "ab");
    str_addc(&s, 'c');
    str_addn(&s, "d\0e", 3);
    str_addn(&s, NULL, 0);
    str_addf(&s, "%d-%s", 5, "f");
    assert_int_equal(s.len, 9);
    assert_memory_equal(s.p, "abcd\0e5-f", 10);
    invariants(&s);
}

/* Random growth, compared with a plain buffer. */
static void test_growth(void **state) {
    (void)state;
    enum { MAX = 100000 };
    _cleanup_str_ struct str s = STR_INIT;
    char *model = malloc(MAX);
    size_t len = 0;
    srandom(3);
    while (len < MAX - 600) {
        char piece[600];
        size_t n = (size_t)random() % sizeof piece;
        for (size_t i = 0; i < n; i++)
            piece[i] = (char)('a' + random() % 26);
        if (random() % 2) {
            str_addn(&s, piece, n);
        } else if (n) {
            piece[n - 1] = '\0';
            n = strlen(piece);
            str_addf(&s, "%s", piece);
        }
        memcpy(model + len, piece, n);
        len += n;
        if (random() % 5 == 0) {
            size_t drop = (size_t)random() % 300;
            str_drop(&s, drop);
            drop = drop < len ? drop : len;
            memmove(model, model + drop, len - drop);
            len -= drop;
        }
        assert_int_equal(s.len, len);
        invariants(&s);
    }
    assert_memory_equal(s.p, model, len);
    free(model);
}

/* Text that just fits, for every length around a boundary. */
static void test_format_at_every_length(void **state) {
    (void)state;
    for (int n = 0; n < 200; n++) {
        _cleanup_str_ struct str s = STR_INIT;
        str_addf(&s, "%*s", n, "");
        assert_int_equal(s.len, n);
        str_addf(&s, "%*s", n, "x");
        assert_int_equal(s.len, n + (n ? n : 1));
        invariants(&s);
    }
}

static void test_reset_keeps_memory(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    str_add(&s, "something");
    char *p = s.p;
    str_reset(&s);
    assert_string_equal(str_get(&s), "");
    str_add(&s, "else");
    assert_ptr_equal(s.p, p);
    assert_string_equal(str_get(&s), "else");
}

static void test_reserve(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    str_reserve(&s, 1000);
    char *p = s.p;
    for (int i = 0; i < 1000; i++)
        str_addc(&s, 'x');
    assert_ptr_equal(s.p, p);
    assert_int_equal(s.len, 1000);
    invariants(&s);
}

static void test_take(void **state) {
    (void)state;
    struct str s = STR_INIT;
    str_add(&s, "mine");
    char *p = str_take(&s);
    assert_string_equal(p, "mine");
    assert_null(s.p);
    invariants(&s);
    free(p);
    str_add(&s, "again");
    assert_string_equal(str_get(&s), "again");
    str_done(&s);
    invariants(&s);
}

static void test_drop(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    str_add(&s, "abcdef");
    str_drop(&s, 0);
    assert_string_equal(str_get(&s), "abcdef");
    str_drop(&s, 2);
    assert_string_equal(str_get(&s), "cdef");
    str_drop(&s, 4);
    assert_string_equal(str_get(&s), "");
    str_add(&s, "x");
    str_drop(&s, SIZE_MAX);
    assert_string_equal(str_get(&s), "");
    invariants(&s);
}

static void test_url(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    str_add_url(&s, "azAZ09-._~");
    assert_string_equal(str_get(&s), "azAZ09-._~");
    str_reset(&s);
    str_add_url(&s, "a b/c?d=e&f%g:é+\x7f\x01");
    assert_string_equal(str_get(&s), "a%20b%2Fc%3Fd%3De%26f%25g%3A%C3%A9%2B%7F%01");
    str_reset(&s);
    str_add_url(&s, "");
    assert_string_equal(str_get(&s), "");
}

static void test_views(void **state) {
    (void)state;
    assert_true(view_eq(VIEW("abc"), view_of("abc")));
    assert_false(view_eq(VIEW("abc"), view_of("abd")));
    assert_false(view_eq(VIEW("abc"), view_of("ab")));
    assert_true(view_eq(view_of(NULL), VIEW("")));
    assert_int_equal(view_of(NULL).len, 0);
}

static void test_comparisons(void **state) {
    (void)state;
    assert_true(streq("a", "a"));
    assert_false(streq("a", "A"));
    assert_string_equal(strna(NULL), "");
    assert_true(str_empty(NULL));
    assert_true(str_empty(""));
    assert_false(str_empty(" "));
    assert_true(str_same(NULL, ""));
    assert_false(str_same(NULL, "a"));
    assert_true(str_starts("abc", "ab"));
    assert_true(str_starts("abc", ""));
    assert_false(str_starts("ab", "abc"));
    assert_true(str_ends("abc", "bc"));
    assert_true(str_ends("abc", ""));
    assert_true(str_ends("abc", "abc"));
    assert_false(str_ends("bc", "abc"));
    assert_false(str_ends("abc", "ab"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_add),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_format_at_every_length),
        cmocka_unit_test(test_reset_keeps_memory),
        cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_take),
        cmocka_unit_test(test_drop),
        cmocka_unit_test(test_url),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_comparisons),
    };
    return cmocka_run_group_tests_name("str", tests, NULL, NULL);
}
