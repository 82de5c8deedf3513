/* Tests of src/cli/rehearse_run.c: the real drain on copies of clusters. */
#include "cli/rehearse_run.h"
#include "rehearse_site.h"

static const char *const w1[] = {"w1"};
static const struct drain_opts usual = {
    .ignore_daemonsets = true, .grace = -1, .rate = 20, .holder = {.id = "r", .by = "r"}};

static void run_seed(const char *scenario, const struct drain_opts *drain, const char *const *names,
                     size_t n, uint64_t seed, struct rehearsal *out) {
    struct site s;
    _cleanup_err_ struct err err = ERR_INIT;
    site_open(&s, scenario);
    if (rehearse_run(
            s.copy,
            &(struct rehearse_opts){.drain = drain, .names = names, .n_names = n, .seed = seed},
            out, &err))
        fail_msg("%s", err_msg(&err));
    site_close(&s);
}

static void run(const char *scenario, const struct drain_opts *drain, const char *const *names,
                size_t n, struct rehearsal *out) {
    run_seed(scenario, drain, names, n, 3, out);
}

static void test_drained(void **state) {
    (void)state;
    struct rehearsal r;
    run("happy", &usual, w1, 1, &r);
    assert_false(r.halted);
    assert_int_equal(r.code, 0);
    assert_int_equal(r.moved, 0);
    assert_true(r.took > SEC(1) && r.took < SEC(300));
    assert_int_equal(r.nodes.len, 1);
    const struct rehearsal_node *n = &r.nodes.p[0];
    assert_int_equal(n->phase, DRAIN_DONE);
    assert_true(n->began >= 0 && n->ended > n->began && n->ended <= r.took);
    assert_true(n->total > 0 && n->pods.len == n->total && n->left == 0);
    for (size_t i = 0; i < n->pods.len; i++) {
        const struct rehearsal_pod *p = &n->pods.p[i];
        assert_int_equal(p->state, DRAIN_POD_GONE);
        assert_true(p->asked >= 0 && p->gone >= p->asked && p->gone <= n->ended);
        assert_null(p->why);
        assert_int_equal(p->code, -1);
    }
    /* a pod less is a disruption less, for a while */
    assert_true(r.budgets.len > 0);
    for (size_t i = 0; i < r.budgets.len; i++) {
        assert_true(r.budgets.p[i].least < r.budgets.p[i].before);
        assert_true(!i || r.budgets.p[i - 1].least <= r.budgets.p[i].least);
    }
    rehearsal_done(&r);
}

/* It would wait for ever: told, with the reason, and when the last thing moved. */
static void test_halted(void **state) {
    (void)state;
    struct rehearsal r;
    run("pdb-stuck", &usual, w1, 1, &r);
    assert_true(r.halted);
    assert_int_equal(r.code, EXIT_BLOCKED);
    assert_true(r.took < SEC(60));
    assert_int_equal(r.nodes.p[0].phase, DRAIN_EVICTING);
    assert_true(r.nodes.p[0].left > 0);
    size_t stuck = 0;
    for (size_t i = 0; i < r.nodes.p[0].pods.len; i++) {
        const struct rehearsal_pod *p = &r.nodes.p[0].pods.p[i];
        if (p->code < 0)
            continue;
        stuck++;
        assert_int_equal(p->code, BLOCKER_PDB_UNSATISFIABLE);
        assert_int_equal(p->gone, -1);
        assert_non_null(strstr(p->why, "PDBUnsatisfiable"));
    }
    assert_int_equal(stuck, r.nodes.p[0].left);
    assert_true(r.waits.len > 0);
    assert_true(r.waits.p[0].open && r.waits.p[0].waited > SEC(1000) && r.waits.p[0].pods > 0);
    assert_string_equal(r.waits.p[0].kind, "PodDisruptionBudget");
    assert_true(r.budgets.len > 0 && r.budgets.p[0].before == 0);
    rehearsal_done(&r);
}

/* When the first pod is asked to go: a few requests after the beginning. */
static int64_t first_asked(uint64_t seed) {
    struct rehearsal r;
    int64_t first = INT64_MAX;
    run_seed("happy", &usual, w1, 1, seed, &r);
    for (size_t i = 0; i < r.nodes.p[0].pods.len; i++)
        first = MIN_OF(first, r.nodes.p[0].pods.p[i].asked);
    rehearsal_done(&r);
    return first;
}

/* How fast the server will be is not known: in some runs it is much slower than in others. */
static void test_latency(void **state) {
    (void)state;
    int64_t least = INT64_MAX, most = 0;
    for (uint64_t seed = 0; seed < 16; seed++) {
        int64_t first = first_asked(seed);
        least = MIN_OF(least, first);
        most = MAX_OF(most, first);
    }
    assert_in_range(least, MSEC(20), MSEC(150));
    assert_in_range(most, MSEC(400), SEC(3));
    assert_int_equal(first_asked(5), first_asked(5));
}

/* With a time limit the drain itself gives up. */
static void test_timeout(void **state) {
    (void)state;
    struct rehearsal r;
    struct drain_opts o = usual;
    o.timeout = SEC(90);
    run("pdb-stuck", &o, w1, 1, &r);
    assert_false(r.halted);
    assert_int_equal(r.code, EXIT_BLOCKED);
    assert_int_equal(r.nodes.p[0].phase, DRAIN_TIMED_OUT);
    assert_in_range(r.took, SEC(85), SEC(100));
    rehearsal_done(&r);
}

/* What needs a flag is refused, as by drain. */
static void test_refused(void **state) {
    (void)state;
    struct rehearsal r;
    run("pinned", &usual, w1, 1, &r);
    assert_int_equal(r.nodes.p[0].phase, DRAIN_REFUSED);
    assert_int_equal(r.code, 1);
    assert_non_null(r.nodes.p[0].error);
    assert_int_equal(r.nodes.p[0].code, -1); /* no check has denied it */
    unsigned refused = 0;
    for (size_t i = 0; i < r.nodes.p[0].pods.len; i++) {
        const struct rehearsal_pod *p = &r.nodes.p[0].pods.p[i];
        bool is = p->state == DRAIN_POD_REFUSED;
        assert_int_equal(p->code, is ? BLOCKER_BARE_POD : -1);
        refused += is;
    }
    assert_true(refused > 0);
    rehearsal_done(&r);
}

/* A program that took an hour to begin does so here, too, and goes on from there. */
static void test_slow_start(void **state) {
    (void)state;
    struct site s;
    struct rehearsal r;
    struct lags lags = {0};
    _cleanup_err_ struct err err = ERR_INIT;
    lags_note(&lags, "a", &(struct lags_seen){MSEC(10), -1, -1, SEC(3600)});
    site_open(&s, "happy");
    struct rehearse_opts o = {.drain = &usual, .names = w1, .n_names = 1, .seed = 3, .lags = &lags};
    assert_int_equal(rehearse_run(s.copy, &o, &r, &err), 0);
    assert_false(r.halted);
    assert_int_equal(r.code, 0);
    assert_int_equal(r.nodes.len, 1);
    assert_int_equal(r.nodes.p[0].phase, DRAIN_DONE);
    assert_true(r.nodes.p[0].began > SEC(2000) && r.took > r.nodes.p[0].began);
    rehearsal_done(&r);
    site_close(&s);
    lags_done(&lags);
}

/* A server that answers nothing in half an hour: its nodes are there, and none is drained. */
static void test_no_beginning(void **state) {
    (void)state;
    struct site s;
    struct rehearsal r;
    struct lags lags = {0};
    _cleanup_err_ struct err err = ERR_INIT;
    lags_note(&lags, "a", &(struct lags_seen){SEC(7200), -1, -1, -1});
    site_open(&s, "happy");
    struct rehearse_opts o = {.drain = &usual, .names = w1, .n_names = 1, .seed = 3, .lags = &lags};
    assert_int_equal(rehearse_run(s.copy, &o, &r, &err), 0);
    assert_true(r.halted);
    assert_int_equal(r.code, EXIT_BLOCKED);
    assert_int_equal(r.nodes.len, 1);
    assert_string_equal(r.nodes.p[0].name, "w1");
    assert_int_equal(r.nodes.p[0].phase, DRAIN_WAITING);
    assert_int_equal(r.nodes.p[0].began, -1);
    rehearsal_done(&r);
    site_close(&s);
    lags_done(&lags);
}

/* What nobody could read of a system is not the same as no such system. */
static void test_unread(void **state) {
    (void)state;
    assert_int_equal(rehearse_source("volumes.longhorn.io"), SOURCE_LONGHORN_VOLUMES);
    static const char *const others[] = {"pods", "statefulsets.apps",  "longhorn.io",
                                         "",     "volume.longhorn.io", "volumes.longhorn.io.x"};
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_int_equal(rehearse_source(others[i]), CHECK_SOURCES);
    const char *unread[CHECK_SOURCES] = {[SOURCE_LONGHORN_VOLUMES] = "forbidden"};
    for (int skip = 0; skip < 2; skip++) {
        struct site s;
        struct rehearsal r;
        struct drain_opts o = usual;
        _cleanup_err_ struct err err = ERR_INIT;
        o.skip_checks = skip ? 1u << (check_find("longhorn") - checks_table) : 0;
        site_open(&s, "happy");
        struct rehearse_opts opts = {
            .drain = &o, .names = w1, .n_names = 1, .seed = 3, .unread = unread};
        assert_int_equal(rehearse_run(s.copy, &opts, &r, &err), 0);
        assert_int_equal(r.code, skip ? 0 : EXIT_BLOCKED);
        assert_int_equal(r.halted, !skip);
        assert_true(skip || r.waits.p[0].code == BLOCKER_CHECK_UNKNOWN);
        assert_true(skip || strstr(r.waits.p[0].message, "forbidden"));
        rehearsal_done(&r);
        site_close(&s);
    }
}

static void test_many_nodes(void **state) {
    (void)state;
    static const char *const names[] = {"w3", "w1", "w2"};
    struct rehearsal r;
    struct drain_opts o = usual;
    o.parallel = 1;
    run("happy", &o, names, 3, &r);
    assert_int_equal(r.code, 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(r.nodes.p[i].phase, DRAIN_DONE);
        if (i) /* one after another */
            assert_true(r.nodes.p[i].began >= r.nodes.p[i - 1].ended);
    }
    rehearsal_done(&r);
}

/* The same seed gives the same run. */
static void test_again(void **state) {
    (void)state;
    struct rehearsal a, b;
    run("zones", &usual, w1, 1, &a);
    run("zones", &usual, w1, 1, &b);
    assert_int_equal(a.took, b.took);
    assert_int_equal(a.nodes.p[0].ended, b.nodes.p[0].ended);
    rehearsal_done(&a);
    rehearsal_done(&b);
}

static void test_no_node(void **state) {
    (void)state;
    static const char *const none[] = {"nowhere"};
    struct site s;
    struct rehearsal r;
    _cleanup_err_ struct err err = ERR_INIT;
    site_open(&s, "happy");
    int rc = rehearse_run(
        s.copy, &(struct rehearse_opts){.drain = &usual, .names = none, .n_names = 1, .seed = 1},
        &r, &err);
    /* it cannot begin, or it fails: never a drain of nothing that succeeds */
    assert_true(rc || r.code);
    if (!rc)
        rehearsal_done(&r);
    site_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drained),      cmocka_unit_test(test_halted),
        cmocka_unit_test(test_latency),      cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_many_nodes),
        cmocka_unit_test(test_again),        cmocka_unit_test(test_no_node),
        cmocka_unit_test(test_slow_start),   cmocka_unit_test(test_unread),
        cmocka_unit_test(test_no_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
