/* Tests of src/engine/survey_sum.c. */
#include "engine/survey_sum.h"

#include "support/world.h"

#include "base/str.h"
#include "base/timefmt.h"

#define NOW (INT64_C(1794729600) * 1000000) /* 2026-11-15T08:00:00Z */

static struct survey_blocker blocker(enum blocker_code code, const char *object, unsigned pods,
                                     int64_t since) {
    return (struct survey_blocker){
        .code = code, .object = object, .message = "m", .pods = pods, .since = since};
}

static struct survey_node node(const struct node *n, enum node_phase phase, const char *holder,
                               struct cordon_holder *place) {
    struct survey_node sn = {.node = n,
                             .ready = NODE_READY,
                             .ready_reason = "",
                             .phase = phase,
                             .pods = 5,
                             .moves = 3,
                             .leaving = 1,
                             .phase_since = NOW - 10};
    if (holder) {
        *place = (struct cordon_holder){.id = holder, .by = "", .reason = "", .since = NOW - 20};
        sn.cordon = (struct cordon){
            .owner = CORDON_SLIPWAY, .holders = place, .n_holders = 1, .since = NOW - 15};
    }
    return sn;
}

static const struct node names[] = {{.meta = {.name = "w1"}},
                                    {.meta = {.name = "w2"}},
                                    {.meta = {.name = "w3"}},
                                    {.meta = {.name = "w4"}}};

/* Equal reasons over nodes are one, errors first, then those on the most nodes. */
static void blockers_are_put_together(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct survey_sum sum;
    struct survey_blocker a[] = {blocker(BLOCKER_BARE_POD, "x/p", 1, 0),
                                 blocker(BLOCKER_PDB_NO_BUDGET, "x/b", 2, NOW - 5)};
    struct survey_blocker b[] = {blocker(BLOCKER_PDB_NO_BUDGET, "x/b", 1, NOW - 9),
                                 blocker(BLOCKER_PDB_NO_BUDGET, "x/c", 1, 0)};
    struct survey_blocker c[] = {blocker(BLOCKER_PDB_UNSATISFIABLE, "x/d", 1, 0)};
    struct survey_node nodes[3];
    for (size_t i = 0; i < 3; i++)
        nodes[i] = node(&names[i], NODE_IDLE, NULL, NULL);
    nodes[0].blockers = a, nodes[0].n_blockers = 2;
    nodes[1].blockers = b, nodes[1].n_blockers = 2;
    nodes[2].blockers = c, nodes[2].n_blockers = 1;
    survey_sum(&(struct survey){.nodes = nodes, .n = 3, .now = NOW}, &arena, &sum);
    assert_int_equal(sum.n_blockers, 4);
    assert_string_equal(sum.blockers[0].object, "x/d");
    assert_string_equal(sum.blockers[1].object, "x/b");
    assert_int_equal(sum.blockers[1].pods, 3);
    assert_int_equal(sum.blockers[1].since, NOW - 9);
    assert_int_equal(sum.blockers[1].nodes.len, 2);
    assert_string_equal(sum.blockers[1].nodes.p[0], "w1");
    assert_string_equal(sum.blockers[1].nodes.p[1], "w2");
    assert_int_equal(sum.n_nodes, 0);
    assert_int_equal(sum.phases[NODE_IDLE], 3);
}

/* Pods under the same budgets are one reason, whatever their names. */
static void several_budgets(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct survey_sum sum;
    struct survey_blocker a[] = {blocker(BLOCKER_MULTIPLE_PDBS, "x/p1", 1, 0),
                                 blocker(BLOCKER_MULTIPLE_PDBS, "x/p2", 1, 0)};
    struct survey_node n = node(&names[0], NODE_IDLE, NULL, NULL);
    a[0].budgets = a[1].budgets = "x/a,b";
    n.blockers = a, n.n_blockers = 2;
    survey_sum(&(struct survey){.nodes = &n, .n = 1, .now = NOW}, &arena, &sum);
    assert_int_equal(sum.n_blockers, 1);
    assert_string_equal(sum.blockers[0].object, "x/a,b");
    assert_int_equal(sum.blockers[0].pods, 2);
    assert_int_equal(sum.blockers[0].nodes.len, 1); /* each node once */
}

/* While something is going on, only what is in its way; checks of storage are gates. */
static void a_drain_at_work(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct survey_sum sum;
    struct cordon_holder holders[3];
    struct survey_blocker a[] = {blocker(BLOCKER_BARE_POD, "x/p", 1, 0),
                                 blocker(BLOCKER_PDB_NO_BUDGET, "x/b", 2, 0),
                                 blocker(BLOCKER_LAST_REPLICA, "x/v", 1, 0)};
    struct survey_blocker b[] = {blocker(BLOCKER_PDB_UNSATISFIABLE, "x/d", 1, 0)};
    struct survey_node nodes[] = {node(&names[0], NODE_BLOCKED, "night", &holders[0]),
                                  node(&names[1], NODE_DRAINED, "night", &holders[1]),
                                  node(&names[2], NODE_CORDONED, "day", &holders[2]),
                                  node(&names[3], NODE_IDLE, NULL, NULL)};
    nodes[0].blockers = a, nodes[0].n_blockers = 3;
    nodes[3].blockers = b, nodes[3].n_blockers = 1;
    nodes[3].needs_reboot = true;
    survey_sum(&(struct survey){.nodes = nodes, .n = 4, .now = NOW}, &arena, &sum);
    assert_int_equal(sum.n_blockers, 1);
    assert_string_equal(sum.blockers[0].object, "x/b");
    assert_int_equal(sum.n_gates, 1);
    assert_string_equal(sum.gates[0].object, "x/v");
    assert_int_equal(sum.n_waves, 1);
    assert_string_equal(sum.waves[0].holder, "night");
    assert_int_equal(sum.waves[0].nodes.len, 2);
    assert_int_equal(sum.waves[0].phases[NODE_BLOCKED], 1);
    assert_int_equal(sum.waves[0].phases[NODE_DRAINED], 1);
    assert_int_equal(sum.waves[0].pods_left, 4);
    assert_int_equal(sum.draining.len, 1);
    assert_int_equal(sum.pods_left, 4);
    /* Three that are not idle, the blocked one first; two holders. */
    assert_int_equal(sum.n_nodes, 3);
    assert_int_equal(sum.nodes[0].phase, NODE_BLOCKED);
    assert_int_equal(sum.n_locks, 2);
    assert_string_equal(sum.locks[0].holder, "night");
    assert_int_equal(sum.locks[0].since, NOW - 20);
    assert_int_equal(sum.reboot.len, 1);
    assert_string_equal(sum.reboot.p[0], "w4");
}

/* Alike are those of one state, one phase and one reason. */
static void nodes_that_look_alike(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct survey_sum sum;
    struct survey_node nodes[4];
    for (size_t i = 0; i < 4; i++)
        nodes[i] = node(&names[i], NODE_IDLE, NULL, NULL);
    nodes[0].ready = nodes[2].ready = NODE_UNKNOWN;
    nodes[0].ready_reason = nodes[2].ready_reason = "NodeStatusUnknown";
    nodes[3].ready = NODE_NOT_READY;
    nodes[3].ready_reason = "KubeletNotReady";
    survey_sum(&(struct survey){.nodes = nodes, .n = 4, .now = NOW}, &arena, &sum);
    assert_int_equal(sum.unready, 3);
    assert_int_equal(sum.n_nodes, 2);
    assert_int_equal(sum.nodes[0].ready, NODE_UNKNOWN);
    assert_int_equal(sum.nodes[0].nodes.len, 2);
    assert_int_equal(sum.nodes[0].pods, 10);
    assert_string_equal(sum.nodes[0].nodes.p[1], "w3");
    assert_string_equal(sum.nodes[1].reason, "KubeletNotReady");
}

static void of_nothing(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct survey_sum sum;
    survey_sum(&(struct survey){.nodes = NULL, .n = 0, .now = NOW}, &arena, &sum);
    assert_int_equal(sum.n, 0);
    assert_int_equal(sum.n_blockers + sum.n_gates + sum.n_waves + sum.n_nodes + sum.n_locks, 0);
}

/* A node that waits for a check is not cordoned, and still the one that matters. */
static void gates_are_told_while_others_drain(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct survey_sum sum;
    struct survey_blocker a[] = {blocker(BLOCKER_QUORUM_AT_RISK, "", 0, 0),
                                 blocker(BLOCKER_BARE_POD, "x/p", 1, 0)};
    struct survey_node nodes[2] = {node(&names[0], NODE_DRAINING, NULL, NULL),
                                   node(&names[1], NODE_IDLE, NULL, NULL)};
    nodes[1].blockers = a, nodes[1].n_blockers = 2;
    survey_sum(&(struct survey){.nodes = nodes, .n = 2, .now = NOW}, &arena, &sum);
    assert_int_equal(sum.n_gates, 1);
    assert_int_equal(sum.gates[0].code, BLOCKER_QUORUM_AT_RISK);
    assert_int_equal(sum.n_blockers, 0);
}

/* Marks are told of when no drain seems to be at work; a drain when nothing was heard of it. */
static void what_drains_leave_behind(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct survey_sum sum;
    struct cordon_holder place[2];
    struct survey_node nodes[4] = {
        node(&names[0], NODE_BLOCKED, "night", &place[0]), node(&names[1], NODE_IDLE, NULL, NULL),
        node(&names[2], NODE_IDLE, NULL, NULL), node(&names[3], NODE_DRAINED, "night", &place[1])};
    nodes[0].heard = NOW - SEC(10);
    nodes[0].leaving = 0;
    nodes[1].next_mark = nodes[2].next_mark = true;
    survey_sum(&(struct survey){.nodes = nodes, .n = 4, .now = NOW}, &arena, &sum);
    assert_int_equal(sum.n_left, 0); /* it is at work */
    nodes[0].heard = NOW - SEC(16 * 60);
    survey_sum(&(struct survey){.nodes = nodes, .n = 4, .now = NOW}, &arena, &sum);
    assert_int_equal(sum.n_left, 2);
    assert_int_equal(sum.left[0].what, LEFT_DRAIN);
    assert_string_equal(sum.left[0].nodes.p[0], "w1");
    assert_string_equal(sum.left[0].holder, "night");
    assert_int_equal(sum.left[0].since, NOW - SEC(16 * 60));
    assert_int_equal(sum.left[1].what, LEFT_MARK);
    assert_int_equal(sum.left[1].nodes.len, 2);
    assert_string_equal(sum.left[1].nodes.p[1], "w3");
    nodes[0].leaving = 1; /* a pod has been asked to go, and has not gone */
    survey_sum(&(struct survey){.nodes = nodes, .n = 4, .now = NOW}, &arena, &sum);
    assert_int_equal(sum.n_left, 0);
    nodes[0].stuck = 1; /* it should have long ago: that is no sign of a drain */
    survey_sum(&(struct survey){.nodes = nodes, .n = 4, .now = NOW}, &arena, &sum);
    assert_int_equal(sum.n_left, 2);
    assert_int_equal(sum.left[0].what, LEFT_DRAIN);
    nodes[0].phase = NODE_IDLE; /* nobody drains at all */
    survey_sum(&(struct survey){.nodes = nodes, .n = 4, .now = NOW}, &arena, &sum);
    assert_int_equal(sum.n_left, 1);
    assert_int_equal(sum.left[0].what, LEFT_MARK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_drains_leave_behind),
        cmocka_unit_test(blockers_are_put_together),
        cmocka_unit_test(gates_are_told_while_others_drain),
        cmocka_unit_test(several_budgets),
        cmocka_unit_test(a_drain_at_work),
        cmocka_unit_test(nodes_that_look_alike),
        cmocka_unit_test(of_nothing),
    };
    return cmocka_run_group_tests_name("engine/survey_sum", tests, NULL, NULL);
}
