/* Tests of src/cli/rehearse_many.c. */
#include "cli/rehearse_many.h"
#include "rehearse_site.h"

static const struct drain_opts usual = {
    .ignore_daemonsets = true, .grace = -1, .rate = 20, .holder = {.id = "r", .by = "r"}};

static void on_run(void *arg, size_t done) {
    size_t *last = arg;
    assert_int_equal(done, *last + 1);
    *last = done;
}

/* Each run has the copy for itself, its own chances, and the same ones when it is done again. */
static void test_runs(void **state) {
    (void)state;
    static const char *const names[] = {"w1"};
    enum { RUNS = 9 };
    struct site s;
    site_open(&s, "happy");
    struct rehearsal first[RUNS], second[RUNS];
    struct rehearse_drawn drawn;
    size_t told = 0;
    struct rehearse_many m = {
        .sim = s.copy,
        .habits = s.habits,
        .opts = {.drain = &usual, .names = names, .n_names = 1, .seed = 5},
        .runs = RUNS,
        .told = on_run,
        .arg = &told,
    };
    uint64_t version = sim_world(s.copy)->version;
    assert_int_equal(rehearse_many(&m, first, &drawn, NULL), 0);
    assert_int_equal(told, RUNS);
    assert_true(drawn.stop.workloads > 0 && drawn.stop.assumed == drawn.stop.workloads);
    m.told = NULL;
    assert_int_equal(rehearse_many(&m, second, &drawn, NULL), 0);
    assert_int_equal(sim_world(s.copy)->version, version); /* ours is as it was */
    size_t differ = 0;
    for (size_t i = 0; i < RUNS; i++) {
        assert_int_equal(first[i].seed, 5 + i);
        assert_int_equal(first[i].nodes.p[0].phase, DRAIN_DONE);
        assert_int_equal(first[i].took, second[i].took);
        differ += first[i].took != first[0].took;
        rehearsal_done(&first[i]);
        rehearsal_done(&second[i]);
    }
    assert_true(differ >= RUNS / 2);
    site_close(&s);
}

/* A run that cannot begin is an error of all. */
static void test_error(void **state) {
    (void)state;
    static const char *const names[] = {"../x"};
    struct site s;
    site_open(&s, "happy");
    struct rehearsal runs[3];
    struct rehearse_drawn drawn;
    _cleanup_err_ struct err err = ERR_INIT;
    struct rehearse_many m = {.sim = s.copy,
                              .habits = s.habits,
                              .opts = {.drain = &usual, .names = names, .n_names = 1, .seed = 5},
                              .runs = 3};
    int rc = rehearse_many(&m, runs, &drawn, &err);
    if (rc)
        assert_true(strlen(err_msg(&err)) > 0);
    for (size_t i = 0; !rc && i < 3; i++) {
        assert_int_not_equal(runs[i].code, 0);
        rehearsal_done(&runs[i]);
    }
    site_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
