/* Tests of base/nodeset_axis: ranks against a list of all short numbers, trees against a grid of
 * bits. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/nodeset_internal.h"
#include "base/prng.h"

/* ---- ranks ---- */

static void ranks_are_places(void **state) {
    (void)state;
    uint64_t place = 0, top = 1;
    for (unsigned digits = 1; digits <= 4; digits++) {
        top *= 10;
        for (uint64_t v = 0; v < top; v++, place++) {
            uint64_t value = UINT64_MAX;
            assert_int_equal(rank_of(digits, v), place);
            assert_int_equal(rank_digits(place, &value), digits);
            assert_int_equal(value, v);
        }
    }
}

static void longest_ranks(void **state) {
    (void)state;
    for (unsigned digits = 1; digits <= NODESET_DIGITS_MAX; digits++) {
        uint64_t all_nines = 0, value;
        for (unsigned i = 0; i < digits; i++)
            all_nines = all_nines * 10 + 9;
        assert_int_equal(powers_of_ten[digits], all_nines + 1);
        assert_int_equal(rank_digits(rank_of(digits, all_nines), &value), digits);
        assert_int_equal(value, all_nines);
        assert_int_equal(rank_digits(rank_of(digits, 0), &value), digits);
        assert_int_equal(value, 0);
        if (digits > 1)
            assert_int_equal(rank_of(digits, 0), rank_of(digits - 1, all_nines / 10) + 1);
    }
}

/* ---- one level ---- */

static void ranges_become_spans(void **state) {
    (void)state;
    struct range r[] = {{5, 9}, {20, 30}, {1, 1}, {2, 2}, {7, 12}, {20, 20}, {32, 32}};
    const struct axis *a = axis_from_ranges(r, ARRAY_LEN(r), AXIS_END);
    static const struct range want[] = {{1, 2}, {5, 12}, {20, 30}, {32, 32}};
    assert_int_equal(a->n, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        assert_int_equal(a->spans[i].lo, want[i].lo);
        assert_int_equal(a->spans[i].hi, want[i].hi);
        assert_ptr_equal(a->spans[i].below, AXIS_END);
    }
    assert_int_equal(a->count, 2 + 8 + 11 + 1);
    assert_int_equal(a->pieces, 4);
    for (uint64_t rank = 0; rank < 40; rank++) {
        bool in = false;
        for (size_t i = 0; i < ARRAY_LEN(want); i++)
            in |= rank >= want[i].lo && rank <= want[i].hi;
        const struct span *s = axis_find(a, rank);
        assert_int_equal(s != NULL, in);
        assert_true(!s || (s->lo <= rank && rank <= s->hi));
    }
    axis_unref(a);
}

static void nothing_is_null(void **state) {
    (void)state;
    const struct axis *out = AXIS_END;
    uint64_t steps = 0;
    assert_null(axis_from_ranges(NULL, 0, AXIS_END));
    assert_int_equal(axis_combine(NODESET_UNION, NULL, NULL, &steps, &out), 0);
    assert_null(out);
    assert_int_equal(axis_combine(NODESET_XOR, AXIS_END, AXIS_END, &steps, &out), 0);
    assert_null(out);
    assert_int_equal(axis_combine(NODESET_DIFFERENCE, AXIS_END, AXIS_END, &steps, &out), 0);
    assert_null(out);
    assert_int_equal(axis_combine(NODESET_INTERSECTION, AXIS_END, AXIS_END, &steps, &out), 0);
    assert_ptr_equal(out, AXIS_END);
    assert_int_equal(axis_combine(NODESET_DIFFERENCE, NULL, AXIS_END, &steps, &out), 0);
    assert_null(out);
    axis_unref(NULL);
    axis_unref(AXIS_END);
}

static void counts_saturate(void **state) {
    (void)state;
    const struct axis *a = AXIS_END;
    struct range all = {0, rank_of(NODESET_DIGITS_MAX, powers_of_ten[NODESET_DIGITS_MAX] - 1)};
    a = axis_from_ranges(&all, 1, a);
    assert_int_equal(a->count, UINT64_C(1111111111111111110)); /* 10 + 100 + ... + 10^18 */
    a = axis_from_ranges(&all, 1, a);
    assert_int_equal(a->count, UINT64_MAX);
    axis_unref(a);
}

/* ---- trees against grids ---- */

enum { SIDE = 6 };
struct grid {
    bool bit[SIDE][SIDE][SIDE];
};

static struct range random_range(struct prng *r) {
    uint64_t lo = (uint64_t)prng_range(r, 0, SIDE);
    return (struct range){lo, (uint64_t)prng_range(r, (int64_t)lo, SIDE)};
}

static const struct axis *random_box(struct prng *r, struct grid *g) {
    struct range x = random_range(r), y = random_range(r), z = random_range(r);
    *g = (struct grid){0};
    for (uint64_t i = x.lo; i <= x.hi; i++)
        for (uint64_t j = y.lo; j <= y.hi; j++)
            for (uint64_t k = z.lo; k <= z.hi; k++)
                g->bit[i][j][k] = true;
    return axis_from_ranges(&x, 1, axis_from_ranges(&y, 1, axis_from_ranges(&z, 1, AXIS_END)));
}

static bool bit_op(enum nodeset_op op, bool a, bool b) {
    return op == NODESET_UNION          ? a || b
           : op == NODESET_DIFFERENCE   ? a && !b
           : op == NODESET_INTERSECTION ? a && b
                                        : a != b;
}

/* The tree made bit by bit, which is the normal form by another way. */
static const struct axis *from_grid(const struct grid *g) {
    const struct axis *all = NULL, *next;
    uint64_t steps = 0;
    for (uint64_t i = 0; i < SIDE; i++)
        for (uint64_t j = 0; j < SIDE; j++)
            for (uint64_t k = 0; k < SIDE; k++) {
                if (!g->bit[i][j][k])
                    continue;
                struct range x = {i, i}, y = {j, j}, z = {k, k};
                const struct axis *one = axis_from_ranges(
                    &x, 1, axis_from_ranges(&y, 1, axis_from_ranges(&z, 1, AXIS_END)));
                assert_int_equal(axis_combine(NODESET_UNION, all, one, &steps, &next), 0);
                axis_unref(all);
                axis_unref(one);
                all = next;
            }
    return all;
}

static bool in_tree(const struct axis *a, uint64_t i, uint64_t j, uint64_t k) {
    const struct span *s = a ? axis_find(a, i) : NULL;
    s = s ? axis_find(s->below, j) : NULL;
    s = s ? axis_find(s->below, k) : NULL;
    return s != NULL;
}

static void check_tree(const struct axis *a, const struct grid *g) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < SIDE; i++)
        for (uint64_t j = 0; j < SIDE; j++)
            for (uint64_t k = 0; k < SIDE; k++) {
                assert_int_equal(in_tree(a, i, j, k), g->bit[i][j][k]);
                count += g->bit[i][j][k];
            }
    assert_int_equal(a ? a->count : 0, count);
}

static void trees_are_grids(void **state) {
    (void)state;
    struct prng r = {.state = 5};
    for (int round = 0; round < 150; round++) {
        struct grid have = {0}, more;
        const struct axis *a = NULL, *next;
        uint64_t steps = 0;
        for (int i = 0; i < 12; i++) {
            enum nodeset_op op = (enum nodeset_op)prng_range(&r, 0, 4);
            if (i < 3 && op == NODESET_INTERSECTION)
                op = NODESET_XOR;
            const struct axis *box = random_box(&r, &more);
            assert_int_equal(axis_combine(op, a, box, &steps, &next), 0);
            axis_unref(a);
            axis_unref(box);
            a = next;
            for (size_t b = 0; b < SIDE * SIDE * SIDE; b++)
                (&have.bit[0][0][0])[b] =
                    bit_op(op, (&have.bit[0][0][0])[b], (&more.bit[0][0][0])[b]);
            check_tree(a, &have);
        }
        const struct axis *same = from_grid(&have);
        assert_true(axis_equal(a, same));
        assert_true(axis_equal(same, a));
        axis_unref(same);
        axis_unref(a);
    }
}

static void unequal_trees(void **state) {
    (void)state;
    struct range x = {1, 3}, y = {1, 4};
    const struct axis *a = axis_from_ranges(&x, 1, AXIS_END);
    const struct axis *b = axis_from_ranges(&y, 1, AXIS_END);
    assert_false(axis_equal(a, b));
    assert_false(axis_equal(a, NULL));
    assert_false(axis_equal(NULL, b));
    assert_true(axis_equal(NULL, NULL));
    assert_true(axis_equal(a, a));
    axis_unref(a);
    axis_unref(b);
}

/* ---- limits ---- */

/* n single numbers, every second one from `first` on. */
static const struct axis *comb(uint64_t first, uint64_t n, const struct axis *below) {
    struct range *r = xcalloc(n, sizeof *r);
    for (uint64_t i = 0; i < n; i++)
        r[i] = (struct range){first + 2 * i, first + 2 * i};
    const struct axis *a = axis_from_ranges(r, n, below);
    free(r);
    return a;
}

static void pieces_are_limited(void **state) {
    (void)state;
    const uint64_t half = NODESET_PIECES_MAX / 2;
    const struct axis *a = comb(0, half, AXIS_END), *b = comb(2 * half, half, AXIS_END);
    const struct axis *c = comb(4 * half, 1, AXIS_END), *out = NULL, *over = NULL;
    uint64_t steps = 0;
    assert_int_equal(axis_combine(NODESET_UNION, a, b, &steps, &out), 0);
    assert_int_equal(out->pieces, NODESET_PIECES_MAX);
    assert_int_equal(out->count, NODESET_PIECES_MAX);
    assert_int_equal(axis_combine(NODESET_UNION, out, c, &steps, &over), -EFBIG);
    assert_null(over);
    axis_unref(a);
    axis_unref(b);
    axis_unref(c);
    axis_unref(out);
}

/* Combs across each other: as many pieces as one has teeth times the other's. */
static void work_is_limited(void **state) {
    (void)state;
    struct range one = {0, 1 << 20}, wide = {0, 1 << 20};
    const struct axis *a = axis_from_ranges(&one, 1, comb(0, 100000, AXIS_END));
    const struct axis *b = comb(0, 100000, axis_from_ranges(&wide, 1, AXIS_END));
    const struct axis *out = NULL;
    uint64_t steps = 0;
    assert_int_equal(axis_combine(NODESET_XOR, a, b, &steps, &out), -EFBIG);
    assert_null(out);
    /* What nothing comes of is work all the same. */
    steps = NODESET_STEPS_MAX - 10;
    assert_int_equal(axis_combine(NODESET_DIFFERENCE, a, b, &steps, &out), -EFBIG);
    axis_unref(a);
    axis_unref(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_places),    cmocka_unit_test(longest_ranks),
        cmocka_unit_test(ranges_become_spans), cmocka_unit_test(nothing_is_null),
        cmocka_unit_test(counts_saturate),     cmocka_unit_test(trees_are_grids),
        cmocka_unit_test(unequal_trees),       cmocka_unit_test(pieces_are_limited),
        cmocka_unit_test(work_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
