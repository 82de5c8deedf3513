/* Tests of src/engine/fit_counts.c. */
#include "engine/fit_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/prng.h"

static void what_is_zero_is_not_there(void **state) {
    (void)state;
    struct fit_counts c = {0};
    int a = 0, b = 0;
    uint32_t i = 0;
    assert_int_equal(fit_counts_get(&c, &a), 0);
    assert_null(fit_counts_next(&c, &i));
    fit_counts_add(&c, &a, 0);
    assert_int_equal(c.len, 0);
    fit_counts_add(&c, &a, 3);
    fit_counts_add(&c, &b, -2);
    assert_int_equal(fit_counts_get(&c, &a), 3);
    assert_int_equal(fit_counts_get(&c, &b), -2);
    assert_int_equal(c.len, 2);
    fit_counts_add(&c, &a, -3);
    assert_int_equal(fit_counts_get(&c, &a), 0);
    i = 0;
    const struct fit_count *e = fit_counts_next(&c, &i);
    assert_ptr_equal(e->key, &b);
    assert_int_equal(e->n, -2);
    assert_null(fit_counts_next(&c, &i));
    fit_counts_add(&c, &b, 2);
    assert_int_equal(c.len, 0);
    assert_null(c.slots); /* an empty one takes no memory */
}

/* Against an array: keys that lie side by side collide in all ways. */
static void counts_like_an_array(void **state) {
    (void)state;
    enum { KEYS = 300, STEPS = 40000 };
    static long keys[KEYS];
    static int64_t want[KEYS];
    struct fit_counts c = {0};
    struct prng r = {7};
    for (int step = 0; step < STEPS; step++) {
        size_t k = (size_t)prng_range(&r, 0, KEYS);
        /* down as often as up, and to zero again and again */
        int64_t delta = want[k] && prng_range(&r, 0, 2) ? -want[k] : prng_range(&r, -3, 4);
        want[k] += delta;
        fit_counts_add(&c, &keys[k], delta);
        if (step % 997 && step != STEPS - 1)
            continue;
        size_t nonzero = 0, seen = 0;
        for (size_t i = 0; i < KEYS; i++) {
            assert_int_equal(fit_counts_get(&c, &keys[i]), want[i]);
            nonzero += want[i] != 0;
        }
        const struct fit_count *e;
        for (uint32_t i = 0; (e = fit_counts_next(&c, &i)); seen++)
            assert_int_equal(e->n, want[(const long *)e->key - keys]);
        assert_int_equal(seen, nonzero);
        assert_int_equal(c.len, nonzero);
    }
    fit_counts_done(&c);
    assert_int_equal(fit_counts_get(&c, &keys[0]), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_zero_is_not_there),
        cmocka_unit_test(counts_like_an_array),
    };
    return cmocka_run_group_tests_name("engine/fit_counts", tests, NULL, NULL);
}
