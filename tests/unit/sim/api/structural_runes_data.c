/* The generated tables hold what the lookups rely on. */
#include "sim/api/structural_runes_data.h"

#include "structural_test.h"

static size_t count(const char *const *names) {
    size_t n = 0;
    while (names[n])
        n++;
    return n;
}

static void check_runs(const uint32_t *runs, size_t n, size_t values) {
    assert_int_equal(runs[0] >> 8, 0);
    for (size_t i = 0; i < n; i++) {
        assert_true((runs[i] & 0xff) < values);
        if (i) {
            assert_true(runs[i] >> 8 > runs[i - 1] >> 8);
            assert_true((runs[i] & 0xff) != (runs[i - 1] & 0xff));
        }
    }
    assert_true(runs[n - 1] >> 8 <= 0x10ffff);
}

static void test_runs(void **state) {
    (void)state;
    assert_int_equal(count(rune_categories), 30); /* Unicode's two-letter ones */
    check_runs(rune_category_runs, rune_category_n_runs, 30);
    /* one value more: characters of no script */
    check_runs(rune_script_runs, rune_script_n_runs, count(rune_scripts) + 1);
}

static void test_case_tables(void **state) {
    (void)state;
    for (size_t i = 0; i < rune_n_pairs; i++) {
        const struct rune_pairs *p = &rune_pairs[i];
        assert_true(p->step && p->distance && p->lo <= p->last);
        assert_int_equal((p->last - p->lo) % p->step, 0);
        assert_true(!i || p->lo > rune_pairs[i - 1].lo); /* runes_fold() stops by it */
    }
    for (size_t i = 0; i < rune_n_nexts; i++) {
        assert_true(!i || rune_nexts[i].rune > rune_nexts[i - 1].rune);
        uint32_t at = rune_nexts[i].rune;
        int steps = 0;
        do { /* every circle closes */
            size_t k = 0;
            while (k < rune_n_nexts && rune_nexts[k].rune != at)
                k++;
            assert_true(k < rune_n_nexts);
            at = rune_nexts[k].next;
            assert_true(++steps <= 4);
        } while (at != rune_nexts[i].rune);
        assert_true(steps >= 3);
    }
}

static void test_aliases_lead_to_categories(void **state) {
    (void)state;
    size_t n = 0;
    for (; rune_aliases[n].name; n++) {
        bool known = streq(rune_aliases[n].category, "LC");
        for (size_t i = 0; rune_categories[i]; i++)
            known |= str_starts(rune_categories[i], rune_aliases[n].category);
        assert_true(known);
    }
    assert_true(n > 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_case_tables),
        cmocka_unit_test(test_aliases_lead_to_categories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
