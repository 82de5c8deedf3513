/* Tests of src/cli/rehearse_sum.c. */
#include "cli/rehearse_sum.h"

#include "base/prng.h"
#include "rehearse_sample.h"

static void test_quantile(void **state) {
    (void)state;
    static const int64_t one[] = {7}, two[] = {10, 20},
                         many[] = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
    assert_int_equal(sum_quantile(one, 1, 0.1), 7);
    assert_int_equal(sum_quantile(one, 1, 0.9), 7);
    assert_int_equal(sum_quantile(two, 2, 0.5), 15);
    assert_int_equal(sum_quantile(two, 2, 0), 10);
    assert_int_equal(sum_quantile(two, 2, 1), 20);
    /* the first of eleven is that of 1/12 */
    assert_int_equal(sum_quantile(many, 11, 1.0 / 12), 0);
    assert_int_equal(sum_quantile(many, 11, 0.1), 2);
    assert_int_equal(sum_quantile(many, 11, 0.25), 20);
    assert_int_equal(sum_quantile(many, 11, 0.5), 50);
    assert_int_equal(sum_quantile(many, 11, 0.9), 98);
    assert_int_equal(sum_quantile(many, 11, 0.01), 0);
    assert_int_equal(sum_quantile(many, 11, 0.99), 100);
}

/* Of what comes next, as often as they say is between p10 and p90, however few came before. */
static void test_coverage(void **state) {
    (void)state;
    struct prng random = {11};
    for (size_t n = 10; n <= 90; n += 40) {
        int inside = 0;
        for (int trial = 0; trial < 4000; trial++) {
            int64_t v[90];
            for (size_t i = 0; i < n; i++) {
                int64_t one = prng_range(&random, 0, 1000000);
                size_t k = i;
                for (; k && v[k - 1] > one; k--)
                    v[k] = v[k - 1];
                v[k] = one;
            }
            int64_t next = prng_range(&random, 0, 1000000);
            inside += sum_quantile(v, n, 0.1) <= next && next <= sum_quantile(v, n, 0.9);
        }
        assert_in_range(inside, 3100, 3300); /* four standard deviations */
    }
}

static void test_good(void **state) {
    (void)state;
    struct rehearsal runs[5];
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct rehearse_sum s;
    static const int ends[] = {50, 10, 40, 20, 30};
    for (size_t i = 0; i < 5; i++)
        sample_good(&runs[i], i, ends[i]);
    rehearse_sum(runs, 5, &arena, &s);
    assert_int_equal(s.whole, 5);
    assert_int_equal(s.halted, 0);
    assert_int_equal(s.code, 0);
    assert_int_equal(s.took.p50, SEC(30));
    assert_int_equal(s.took.p10, SEC(10)); /* of five, the least */
    assert_int_equal(s.took.p90, SEC(50));
    assert_ptr_equal(s.middle, &runs[4]);
    assert_int_equal(s.n_nodes, 2);
    assert_int_equal(s.nodes[1].drained, 5);
    assert_int_equal(s.nodes[1].took.p50, SEC(30));
    assert_int_equal(s.n_waits, 1);
    assert_int_equal(s.waits[0].runs, 5);
    assert_int_equal(s.waits[0].waited.p50, SEC(15));
    assert_int_equal(s.waits[0].example->waited, SEC(25)); /* the longest */
    assert_int_equal(s.n_budgets, 1);
    assert_int_equal(s.budgets[0].closed_runs, 5);
    assert_int_equal(s.n_pods, 0);
    sample_done(runs, 5);
}

/* Runs that halt are no measure for how long it takes, as long as some do not. */
static void test_mixed(void **state) {
    (void)state;
    struct rehearsal runs[3];
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct rehearse_sum s;
    sample_bad(&runs[0], 1);
    sample_good(&runs[1], 2, 40);
    sample_bad(&runs[2], 3);
    rehearse_sum(runs, 3, &arena, &s);
    assert_int_equal(s.whole, 1);
    assert_int_equal(s.halted, 2);
    assert_int_equal(s.code, EXIT_BLOCKED);
    assert_int_equal(s.took.p50, SEC(40));
    assert_ptr_equal(s.middle, &runs[1]);
    assert_string_equal(s.nodes[1].name, "w2");
    assert_int_equal(s.nodes[1].drained, 1);
    assert_int_equal(s.nodes[1].example->phase, DRAIN_EVICTING);
    assert_int_equal(s.nodes[0].drained, 3);
    /* what never ends comes first */
    assert_int_equal(s.n_waits, 2);
    assert_int_equal(s.waits[0].example->code, BLOCKER_PDB_UNSATISFIABLE);
    assert_int_equal(s.waits[0].runs, 2);
    assert_int_equal(s.waits[0].open, 2);
    /* of budgets those with the least room */
    assert_int_equal(s.n_budgets, 2);
    assert_int_equal(s.budgets[0].example->least, 0);
    assert_int_equal(s.budgets[1].example->least, 0); /* of the run in which it was least */
    assert_int_equal(s.n_pods, 1);
    assert_string_equal(s.pods[0].pod->name, "db-0");
    assert_int_equal(s.pods[0].runs, 2);
    sample_done(runs, 3);
}

static void add_pending(struct rehearsal *r, const char *workload, unsigned pods) {
    *vec_push(&r->pending) = (struct rehearsal_pending){xstrdup(workload), xstrdup("p"),
                                                        xstrdup("0/3 nodes are available"), pods};
}

/* By workload: the pods of a Deployment have other names in each run. */
static void test_pending(void **state) {
    (void)state;
    struct rehearsal runs[3];
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct rehearse_sum s;
    for (size_t i = 0; i < 3; i++)
        sample_good(&runs[i], i, 10);
    add_pending(&runs[0], "x/Deployment/b", 1);
    add_pending(&runs[2], "x/Deployment/a", 1);
    add_pending(&runs[2], "x/Deployment/b", 3);
    rehearse_sum(runs, 3, &arena, &s);
    assert_int_equal(s.n_pending, 2);
    assert_string_equal(s.pending[0].example->workload, "x/Deployment/a");
    assert_int_equal(s.pending[0].runs, 1);
    assert_int_equal(s.pending[1].runs, 2);
    assert_int_equal(s.pending[1].example->pods, 3);
    for (size_t i = 0; i < 3; i++)
        rehearsal_done(&runs[i]);
}

static void test_all_halt(void **state) {
    (void)state;
    struct rehearsal runs[2];
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct rehearse_sum s;
    sample_bad(&runs[0], 1);
    sample_bad(&runs[1], 2);
    rehearse_sum(runs, 2, &arena, &s);
    assert_int_equal(s.whole, 0);
    assert_int_equal(s.took.p50, SEC(5));
    assert_non_null(s.middle);
    assert_int_equal(s.nodes[1].drained, 0);
    assert_int_equal(s.nodes[1].took.p50, -1);
    sample_done(runs, 2);
}

/* Nothing at all is fine too. */
static void test_empty(void **state) {
    (void)state;
    struct rehearsal run = {.took = 0};
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct rehearse_sum s;
    rehearse_sum(&run, 1, &arena, &s);
    assert_int_equal(s.whole, 1);
    assert_int_equal(s.n_nodes + s.n_waits + s.n_budgets + s.n_pods, 0);
}

/* One that came to a halt before it had any nodes has drained none. */
static void test_no_beginning(void **state) {
    (void)state;
    struct rehearsal runs[2];
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct rehearse_sum s;
    sample_good(&runs[0], 1, 10);
    runs[1] = (struct rehearsal){.seed = 2, .halted = true, .code = EXIT_BLOCKED};
    rehearse_sum(runs, 2, &arena, &s);
    assert_int_equal(s.whole, 1);
    assert_int_equal(s.halted, 1);
    assert_int_equal(s.code, EXIT_BLOCKED);
    assert_int_equal(s.nodes[0].drained, 1);
    sample_done(runs, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantile), cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_good),     cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_pending),  cmocka_unit_test(test_all_halt),
        cmocka_unit_test(test_empty),    cmocka_unit_test(test_no_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
