/* Lists of names by key. */
#include "sim/fleet/lists.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "model/type.h"

static void expect(const struct lists *l, const char *a, const char *b, const char *wanted) {
    _cleanup_str_ struct str text = STR_INIT;
    struct names n = lists_get(l, a, b);
    for (size_t i = 0; i < n.len; i++)
        str_addf(&text, "%s ", n.p[i]);
    assert_string_equal(str_get(&text), wanted);
}

static void test_lists(void **state) {
    (void)state;
    struct pool *pool = pool_new(type_drop);
    struct lists l;
    lists_init(&l, pool);
    expect(&l, "a", "b", "");
    lists_remove(&l, "a", "b", "x");
    lists_add(&l, "a", "b", "x");
    lists_add(&l, "a", "b", "y");
    lists_add(&l, "a", "b", "z");
    lists_add(&l, "ab", NULL, "other"); /* not the same key */
    lists_add(&l, NULL, "ab", "third");
    expect(&l, "a", "b", "x y z ");
    expect(&l, "ab", "", "other ");
    expect(&l, "", "ab", "third ");
    lists_remove(&l, "a", "b", "x");
    lists_remove(&l, "a", "b", "not there");
    expect(&l, "a", "b", "y z ");
    lists_add(&l, "a", "b", "y"); /* twice, so twice to be removed */
    expect(&l, "a", "b", "y z y ");
    lists_remove(&l, "a", "b", "y");
    expect(&l, "a", "b", "z y ");
    lists_remove(&l, "a", "b", "y");
    lists_remove(&l, "a", "b", "z");
    expect(&l, "a", "b", "");
    lists_done(&l);
    assert_int_equal(pool_stats(pool).entries, 0); /* every name was given back */
    pool_free(pool);
}

static void test_many(void **state) {
    (void)state;
    struct pool *pool = pool_new(type_drop);
    struct lists l;
    lists_init(&l, pool);
    char key[16], name[16];
    for (int i = 0; i < 20000; i++) {
        (void)snprintf(key, sizeof key, "k%d", i % 1000);
        (void)snprintf(name, sizeof name, "n%d", i);
        lists_add(&l, "ns", key, name);
    }
    for (int i = 0; i < 20000; i++) {
        if (i % 7 == 0)
            continue;
        (void)snprintf(key, sizeof key, "k%d", i % 1000);
        (void)snprintf(name, sizeof name, "n%d", i);
        lists_remove(&l, "ns", key, name);
    }
    size_t left = 0;
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(key, sizeof key, "k%d", i);
        left += lists_get(&l, "ns", key).len;
    }
    assert_int_equal(left, 20000 / 7 + 1);
    expect(&l, "ns", "k0", "n0 n7000 n14000 ");
    lists_done(&l);
    assert_int_equal(pool_stats(pool).entries, 0);
    pool_free(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
