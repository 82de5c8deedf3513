/* Tests of cli/drain_blockers: what is put together, and in which order. */
#include "cli/drain_blockers.h"

#include "drain_sample.h"

#define NOW (T0 + SEC(1000))

static void sample(void **state) {
    (void)state;
    struct fleet f;
    struct drain_groups g;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    fleet_sample(&f, NOW);
    drain_groups_take(fleet_nodes(&f), f.n, true, NOW, &arena, &g);
    /* The error first; nodes that ended, wait for room or get on are not among them. */
    assert_int_equal(g.n, 2);
    assert_int_equal(g.list[0].blocker->code, BLOCKER_PINNED);
    assert_int_equal(g.list[0].n_nodes, 1);
    assert_int_equal(g.list[0].nodes[0], 30);
    assert_int_equal(g.list[0].pods, 1);
    assert_int_equal(g.list[1].blocker->code, BLOCKER_PDB_NO_BUDGET);
    assert_int_equal(g.list[1].n_nodes, 2);
    assert_int_equal(g.list[1].nodes[0], 18);
    assert_int_equal(g.list[1].nodes[1], 22);
    assert_int_equal(g.list[1].pods, 2);
    assert_int_equal(g.list[1].attempts, 41);
    assert_int_equal(g.list[1].blocker->since, NOW - SEC(380));
    /* Of all that are at work: node 13 waits for the same budget. */
    drain_groups_take(fleet_nodes(&f), f.n, false, NOW, &arena, &g);
    assert_int_equal(g.n, 2);
    assert_int_equal(g.list[1].n_nodes, 3);
    assert_int_equal(g.list[1].nodes[0], 12);
    assert_int_equal(g.list[1].pods, 3);
    fleet_done(&f);
}

static struct drain_blocker blocker(enum blocker_code code, const char *object, int64_t since) {
    return (struct drain_blocker){.code = code, .kind = "Pod", .object = object, .since = since};
}

static void order(void **state) {
    (void)state;
    struct fleet f = {0};
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct drain_groups g;
    for (int i = 0; i < 3; i++) {
        struct drain_node *n = fleet_add(&f, "w", DRAIN_EVICTING);
        pod_block(n, pod_add(&f, n, "a", "b", DRAIN_POD_BLOCKED),
                  blocker(BLOCKER_JOB_RUNNING, "a/info", NOW));
        if (i < 2)
            pod_block(n, pod_add(&f, n, "a", "b", DRAIN_POD_BLOCKED),
                      blocker(BLOCKER_BARE_POD, "a/two", NOW));
        if (!i) {
            pod_block(n, pod_add(&f, n, "a", "b", DRAIN_POD_BLOCKED),
                      blocker(BLOCKER_BARE_POD, "a/young", NOW));
            pod_block(n, pod_add(&f, n, "a", "b", DRAIN_POD_BLOCKED),
                      blocker(BLOCKER_BARE_POD, "a/old", NOW - 1));
            pod_block(n, pod_add(&f, n, "a", "b", DRAIN_POD_BLOCKED),
                      blocker(BLOCKER_BARE_POD, "a/xyoung", NOW));
            node_block(n, blocker(BLOCKER_NODE_UNREACHABLE, "w", NOW));
        }
    }
    drain_groups_take(fleet_nodes(&f), f.n, false, NOW, &arena, &g);
    static const char *const want[] = {"w", "a/two", "a/old", "a/xyoung", "a/young", "a/info"};
    assert_int_equal(g.n, ARRAY_LEN(want));
    for (size_t i = 0; i < g.n; i++)
        assert_string_equal(g.list[i].blocker->object, want[i]);
    assert_int_equal(g.list[0].pods, 0); /* the node itself */
    assert_int_equal(g.list[5].n_nodes, 3);
    fleet_done(&f);
}

/* Several pods of one node: the node is named once. A pod that is gone waits for nothing. */
static void one_node(void **state) {
    (void)state;
    struct fleet f = {0};
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct drain_groups g;
    struct drain_node *n = fleet_add(&f, "w", DRAIN_EVICTING);
    for (int i = 0; i < 3; i++)
        pod_block(n, pod_add(&f, n, "a", "b", DRAIN_POD_BLOCKED),
                  PDB_BLOCKER(NOW - i, (unsigned)i));
    n->pods[2]->state = DRAIN_POD_GONE;
    drain_groups_take(fleet_nodes(&f), 1, false, NOW, &arena, &g);
    assert_int_equal(g.n, 1);
    assert_int_equal(g.list[0].n_nodes, 1);
    assert_int_equal(g.list[0].pods, 2);
    assert_int_equal(g.list[0].attempts, 1);
    assert_int_equal(g.list[0].blocker->since, NOW - 1);
    drain_groups_take(NULL, 0, false, NOW, &arena, &g);
    assert_int_equal(g.n, 0);
    fleet_done(&f);
}

static void same(void **state) {
    (void)state;
    struct drain_blocker a = blocker(BLOCKER_BARE_POD, "a/b", NOW), b = a;
    b.since = 7;
    b.message = "other";
    assert_true(drain_blocker_same(&a, &b));
    b.object = "a/c";
    assert_false(drain_blocker_same(&a, &b));
    b = a;
    b.code = BLOCKER_PINNED;
    assert_false(drain_blocker_same(&a, &b));
    b = a;
    b.kind = NULL;
    assert_false(drain_blocker_same(&a, &b));
    a.kind = "";
    assert_true(drain_blocker_same(&a, &b));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sample),
        cmocka_unit_test(order),
        cmocka_unit_test(one_node),
        cmocka_unit_test(same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
