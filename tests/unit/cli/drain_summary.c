/* Tests of cli/drain_summary: golden files of several ends, totals, what remains. */
#include "cli/drain_summary.h"

#include "drain_sample.h"

#define NOW (T0 + SEC(760))

static void summarize(const struct fleet *f, const struct screen *s, bool dry_run,
                      struct str *out) {
    struct drain_summary m = {.nodes = fleet_nodes(f),
                              .n = f->n,
                              .now = NOW,
                              .started = T0,
                              .undo = "slipway uncordon",
                              .dry_run = dry_run};
    drain_summary_text(&m, s, out);
}

static const struct screen utf8 = {.columns = 80, .rows = 24, .utf8 = true};

/* Interrupted in the middle: some done, some failed, some on their way, some not begun. */
static void golden_stopped(void **state) {
    (void)state;
    struct fleet f;
    fleet_sample(&f, NOW);
    for (size_t i = 0; i < f.n; i++)
        if (!drain_ended(f.nodes[i]->phase))
            f.nodes[i]->phase = DRAIN_STOPPED;
    _cleanup_str_ struct str out = STR_INIT, color = STR_INIT, ascii = STR_INIT;
    summarize(&f, &utf8, false, &out);
    assert_golden("drain-summary-stopped.txt", &out);
    summarize(&f, &(struct screen){.utf8 = true, .color = true}, false, &color);
    assert_golden("drain-summary-color.txt", &color);
    summarize(&f, &(struct screen){0}, false, &ascii);
    assert_golden("drain-summary-ascii.txt", &ascii);
    for (size_t i = 0; i < ascii.len; i++)
        assert_true((unsigned char)ascii.p[i] < 0x80);
    fleet_done(&f);
}

static void all_done(void **state) {
    (void)state;
    struct fleet f = {0};
    _cleanup_str_ struct str out = STR_INIT;
    for (int i = 0; i < 2; i++) {
        struct drain_node *n = fleet_add(&f, i ? "w2" : "w1", DRAIN_DONE);
        n->started = T0;
        n->ended = T0 + SEC(60);
        n->cordoned_by_us = true;
        pods_fill(&f, n, 2, 2);
    }
    f.nodes[1]->pods[0]->deleted = true;
    f.nodes[1]->pods[1]->first_try = 0;
    summarize(&f, &utf8, false, &out);
    assert_string_equal(str_get(&out),
                        "Drained 2 nodes in 12m40s: 2 pods evicted, 1 deleted, 1 gone by "
                        "themselves\n"
                        " \u2713 w[1-2]  drained in 1m00s (median)\n"
                        "To put the nodes back into service:  slipway uncordon 'w[1-2]'\n");
    /* One node, cordoned by somebody else before. */
    str_reset(&out);
    f.n = 1;
    f.nodes[0]->cordoned_by_us = false;
    summarize(&f, &utf8, false, &out);
    assert_string_equal(str_get(&out), "Drained 1 node in 12m40s: 2 pods evicted\n"
                                       " \u2713 w1  drained in 1m00s\n");
    str_reset(&out);
    f.nodes[0]->cordoned_by_us = true;
    summarize(&f, &utf8, false, &out);
    assert_non_null(strstr(str_get(&out), "To put the node back into service:  slipway uncordon "
                                          "w1\n"));
    fleet_done(&f);
}

/* --uncordon-on-abort: what is uncordoned again need not be undone. */
static void released(void **state) {
    (void)state;
    struct fleet f = {0};
    _cleanup_str_ struct str out = STR_INIT;
    for (int i = 0; i < 2; i++) {
        struct drain_node *n = fleet_add(&f, i ? "w2" : "w1", i ? DRAIN_STOPPED : DRAIN_DONE);
        n->started = n->ended = T0;
        n->cordoned_by_us = true;
    }
    struct drain_summary m = {.nodes = fleet_nodes(&f),
                              .n = f.n,
                              .now = NOW,
                              .started = T0,
                              .undo = "slipway uncordon",
                              .released = fleet_nodes(&f) + 1,
                              .n_released = 1};
    drain_summary_text(&m, &utf8, &out);
    assert_non_null(strstr(str_get(&out), "back into service:  slipway uncordon w1\n"));
    fleet_done(&f);
}

static void dry_run(void **state) {
    (void)state;
    struct fleet f = {0};
    _cleanup_str_ struct str out = STR_INIT;
    struct drain_node *n = fleet_add(&f, "w1", DRAIN_DONE);
    n->started = n->ended = T0;
    n->cordoned_by_us = true;
    pods_fill(&f, n, 1, 3); /* a client's dry run asks for nothing, a server's for all */
    pod_add(&f, n, "kube-system", "proxy", DRAIN_POD_STAYS);
    summarize(&f, &utf8, true, &out);
    assert_string_equal(str_get(&out), "Dry run: 1 of 1 node would be drained, 3 pods would go\n"
                                       " \u2713 w1  would be drained\n"
                                       "Nothing was changed.\n");
    /* what a drain would wait for: kubectl's dry run says that it is drained all the same */
    str_reset(&out);
    pod_block(n, f.nodes[0]->pods[0], PDB_BLOCKER(T0, 0));
    summarize(&f, &utf8, true, &out);
    assert_non_null(strstr(str_get(&out), "Dry run: 0 of 1 node would be drained, 2 pods would go\n"
                                          " ! w1  would wait for 1 pod\n"
                                          "     "));
    assert_non_null(strstr(str_get(&out), ": PDBNoBudget "));
    assert_null(strstr(str_get(&out), "w1  would be drained"));
    fleet_done(&f);
}

static void refused(void **state) {
    (void)state;
    struct fleet f = {0};
    _cleanup_str_ struct str out = STR_INIT;
    for (int i = 0; i < 2; i++) {
        struct drain_node *n = fleet_add(&f, i ? "w2" : "w1", DRAIN_REFUSED);
        n->started = n->ended = T0;
        n->error = "pods must not be touched without a flag";
        pod_add(&f, n, "dev", i ? "debug-2" : "debug-1", DRAIN_POD_REFUSED)->why =
            "cannot delete Pods that declare no controller (use --force to override)";
    }
    summarize(&f, &utf8, false, &out);
    assert_string_equal(
        str_get(&out),
        "Drained 0 of 2 nodes in 12m40s: 2 pods left\n"
        " \u2717 w[1-2]  refused: pods must not be touched without a flag\n"
        "     dev/debug-1: refused: cannot delete Pods that declare no controller (use --force to "
        "override)\n"
        "     dev/debug-2: refused: cannot delete Pods that declare no controller (use --force to "
        "override)\n"
        "See to the pods that were refused, or add the flags that they need.\n"
        "To go on, run the same command again.\n");
    struct drain_summary m = {.nodes = fleet_nodes(&f),
                              .n = f.n,
                              .now = NOW,
                              .started = T0,
                              .undo = "slipway uncordon",
                              .again = "slipway drain 'w[1-2]'\n"};
    str_reset(&out);
    drain_summary_text(&m, &utf8, &out);
    assert_non_null(strstr(str_get(&out), "\nTo go on:  slipway drain 'w[1-2]'\\n\n"));
    fleet_done(&f);
}

/* What is to be done about a check is not what is to be done about a pod. */
static void refused_by_a_check(void **state) {
    (void)state;
    static const char pods[] = "See to the pods that were refused";
    static const char check[] = "See to what the check found, or do without it: --skip-check";
    struct fleet f = {0};
    _cleanup_str_ struct str one = STR_INIT, both = STR_INIT;
    struct drain_node *n = fleet_add(&f, "w1", DRAIN_REFUSED);
    n->started = n->ended = T0;
    n->error = "longhorn: the last copy of a volume is there";
    n->denied = true;
    summarize(&f, &utf8, false, &one);
    assert_null(strstr(str_get(&one), pods));
    assert_non_null(strstr(str_get(&one), check));
    n = fleet_add(&f, "w2", DRAIN_REFUSED);
    n->started = n->ended = T0;
    n->error = "pods must not be touched without a flag";
    summarize(&f, &utf8, false, &both);
    assert_non_null(strstr(str_get(&both), pods));
    assert_non_null(strstr(str_get(&both), check));
    fleet_done(&f);
}

static void many_pods(void **state) {
    (void)state;
    struct fleet f = {0};
    _cleanup_str_ struct str out = STR_INIT;
    struct drain_node *n = fleet_add(&f, "w1", DRAIN_STOPPED);
    n->started = T0;
    for (int i = 0; i < 50; i++)
        pod_add(&f, n, "a", "b", DRAIN_POD_LEAVING);
    summarize(&f, &utf8, false, &out);
    size_t lines = 0;
    for (const char *p = str_get(&out); (p = strchr(p, '\n')); p++)
        lines++;
    assert_int_equal(lines, 1 + 1 + 20 + 1 + 1);
    assert_non_null(strstr(str_get(&out), "     and 30 more pods\n"));
    /* Nodes that come after those are one line. */
    for (int i = 0; i < 9; i++) {
        n = fleet_add(&f, arena_printf(&f.arena, "x%d", i), DRAIN_STOPPED);
        n->started = T0;
        pod_add(&f, n, "a", "b", DRAIN_POD_LEAVING);
    }
    str_reset(&out);
    summarize(&f, &utf8, false, &out);
    assert_non_null(strstr(str_get(&out), " \u2013 x[0-8]  stopped, 9 of 9 pods left\n"
                                          "     and 39 more pods\n"));
    fleet_done(&f);
}

/* Pods that follow each other with the same advice: it is given once. */
static void hints(void **state) {
    (void)state;
    struct fleet f = {0};
    _cleanup_str_ struct str out = STR_INIT;
    struct drain_node *n = fleet_add(&f, "w1", DRAIN_STOPPED);
    n->started = T0;
    for (int i = 0; i < 2; i++)
        pod_block(n, pod_add(&f, n, "web", i ? "b" : "a", DRAIN_POD_BLOCKED),
                  PDB_BLOCKER(NOW - SEC(5), 0));
    summarize(&f, &utf8, false, &out);
    assert_string_equal(
        str_get(&out),
        "Drained 0 of 1 node in 12m40s: 2 pods left\n"
        " \u2013 w1  stopped, 2 of 2 pods left\n"
        "     web/a: PDBNoBudget web/frontend: needs 3 healthy pods, has 2 of 3, for 5s\n"
        "       \u2192 wait until its pods are healthy again, or look at why they are not\n"
        "     web/b: PDBNoBudget web/frontend: needs 3 healthy pods, has 2 of 3, for 5s\n"
        "     \u2192 slipway why w1\n"
        "To go on, run the same command again.\n");
    fleet_done(&f);
}

/* The same cluster, as the same user; whose cordon it was does not matter. */
static void why_is_asked_where_the_drain_was(void **state) {
    (void)state;
    static const struct {
        const char *undo, *why;
    } cases[] = {
        {"kubectl slipway uncordon", "-> kubectl slipway why w1\n"},
        {"slipway uncordon --context prod --holder night", "-> slipway why --context prod w1\n"},
        {"slipway uncordon --holder=night --as 'a b'", "-> slipway why --as 'a b' w1\n"},
        {"slipway uncordon --holder 'a b' -s x", "-> slipway why -s x w1\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fleet f = {0};
        _cleanup_str_ struct str out = STR_INIT;
        struct drain_node *n = fleet_add(&f, "w1", DRAIN_STOPPED);
        n->started = T0;
        pod_block(n, pod_add(&f, n, "web", "a", DRAIN_POD_BLOCKED), PDB_BLOCKER(NOW - SEC(5), 0));
        struct drain_summary m = {
            .nodes = fleet_nodes(&f), .n = f.n, .now = NOW, .started = T0, .undo = cases[i].undo};
        drain_summary_text(&m, &(struct screen){0}, &out);
        if (!strstr(str_get(&out), cases[i].why))
            fail_msg("no %s in %s", cases[i].why, str_get(&out));
        str_reset(&out);
        m.dry_run = true;
        drain_summary_text(&m, &(struct screen){0}, &out);
        assert_null(strstr(str_get(&out), "slipway why"));
        fleet_done(&f);
    }
}

static void totals(void **state) {
    (void)state;
    struct fleet f;
    struct drain_totals t;
    fleet_sample(&f, NOW);
    drain_totals_take(fleet_nodes(&f), f.n, &t);
    assert_int_equal(t.nodes, 40);
    assert_int_equal(t.of[DRAIN_DONE], 10);
    assert_int_equal(t.of[DRAIN_WAITING], 22);
    assert_int_equal(t.of[DRAIN_TIMED_OUT], 1);
    /* 10 * 5 of those that are done, 2 + 2 * 4 + 1 of the blocked ones, 18 + 3 */
    assert_int_equal(t.evicted, 82);
    /* 1 + 2 + 1 that wait, 8 of 26, 4 of 7 and the two besides */
    assert_int_equal(t.remaining, 18);
    assert_int_equal(t.median, SEC(255) + SEC(1) / 2);
    drain_totals_take(NULL, 0, &t);
    assert_int_equal(t.nodes, 0);
    assert_int_equal(t.median, 0);
    fleet_done(&f);
}

static void what_remains(void **state) {
    (void)state;
    struct drain_blocker b = PDB_BLOCKER(T0 + 3, 1);
    static const struct {
        enum drain_pod_state state;
        bool blocked, remains;
        const char *text;
        int64_t since;
    } rows[] = {
        {DRAIN_POD_STAYS, false, false, NULL, 0},
        {DRAIN_POD_GONE, false, false, NULL, 0},
        {DRAIN_POD_QUEUED, false, true, "its turn had not come", T0 + 2},
        {DRAIN_POD_BLOCKED, true, true,
         "PDBNoBudget web/frontend: needs 3 healthy pods, has 2 of 3", T0 + 3},
        {DRAIN_POD_SENT, false, true, "was asked to go, there is no answer", T0 + 2},
        {DRAIN_POD_LEAVING, false, true, "is terminating", T0 + 2},
        {DRAIN_POD_REFUSED, false, true, "refused: W", T0 + 2},
        {DRAIN_POD_FAILED, false, true, "E", T0 + 2},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct drain_pod p = {.state = rows[i].state,
                              .blocked = rows[i].blocked,
                              .blocker = b,
                              .why = "W",
                              .error = "E",
                              .first_try = T0 + 1,
                              .accepted = T0 + 2};
        assert_int_equal(drain_pod_remains(&p), rows[i].remains);
        if (!rows[i].remains)
            continue;
        _cleanup_str_ struct str out = STR_INIT;
        drain_remains_text(&p, &out);
        assert_string_equal(str_get(&out), rows[i].text);
        assert_int_equal(drain_remains_since(&p), rows[i].since);
        p.skipped_wait = true;
        assert_false(drain_pod_remains(&p));
    }
    /* What blocks it is the pod itself. */
    struct drain_pod p = {.ns = "zk", .name = "zk-0", .state = DRAIN_POD_BLOCKED, .blocked = true};
    p.blocker = (struct drain_blocker){
        .code = BLOCKER_PINNED, .kind = "Pod", .object = "zk/zk-0", .message = "M"};
    _cleanup_str_ struct str out = STR_INIT;
    drain_remains_text(&p, &out);
    assert_string_equal(str_get(&out), "PinnedToNode: M");
}

static void hostile(void **state) {
    (void)state;
    struct fleet f = {0};
    _cleanup_str_ struct str out = STR_INIT;
    struct drain_node *n = fleet_add(&f, "w1\033[2J", DRAIN_FAILED);
    n->started = T0;
    n->error = "a\nb\033[2J";
    pod_add(&f, n, "a\n", "b\033", DRAIN_POD_FAILED)->error = "\007\xff";
    n = fleet_add(&f, "w2\n", DRAIN_STOPPED);
    n->started = T0;
    summarize(&f, &utf8, false, &out);
    for (size_t i = 0; i < out.len; i++)
        assert_true((unsigned char)out.p[i] >= 0x20 || out.p[i] == '\n');
    assert_non_null(strstr(str_get(&out), "failed: a\\nb\\x1b[2J\n"));
    fleet_done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_stopped),
        cmocka_unit_test(all_done),
        cmocka_unit_test(dry_run),
        cmocka_unit_test(released),
        cmocka_unit_test(refused),
        cmocka_unit_test(refused_by_a_check),
        cmocka_unit_test(many_pods),
        cmocka_unit_test(hints),
        cmocka_unit_test(why_is_asked_where_the_drain_was),
        cmocka_unit_test(totals),
        cmocka_unit_test(what_remains),
        cmocka_unit_test(hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
