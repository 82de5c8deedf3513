/* Tests of src/engine/plan_chance.c: what depends on who is quicker, and what does not. */
#include "plan_site.h"

enum { MANY = 1100 };

/* One pod on each of these, under one budget, with nothing else open. */
static void compete(struct plan_site *f, int n) {
    for (int i = 0; i < n; i++) {
        char name[8], where[8];
        snprintf(name, sizeof name, "a%d", i);
        snprintf(where, sizeof where, "w%d", i);
        dw_pod(&f->w, name, where, "{}");
    }
    dw_budget(&f->w, "web", 1, n, n - 1, n);
}

/* The budget lets one go, whose replacement has no room: which of the three is anybody's guess. */
static void nodes_compete_for_the_last_disruption(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    compete(f, 3);
    make(f, "w0", "w1", "w2", NULL);
    for (int i = 0; i < 3; i++) {
        char name[8], where[8];
        snprintf(name, sizeof name, "a%d", i);
        snprintf(where, sizeof where, "w%d", i);
        assert_verdict(f, name, PLAN_UNSURE);
        assert_code(f, name, BLOCKER_PDB_NO_BUDGET);
        assert_says(f, name, "compete for what it allows and for the last places");
        assert_string_equal(pod_of(f, name)->blocker.help,
                            "make room, or let fewer nodes go at a time: --parallel");
        assert_int_equal(pod_of(f, name)->evicted, PLAN_NO_TIME);
        assert_int_equal(node_of(f, where)->verdict, PLAN_UNSURE);
        assert_int_equal(node_of(f, where)->ends, PLAN_NO_TIME);
    }
    assert_int_equal(f->plan.makespan, PLAN_NO_TIME);
    assert_int_equal(f->plan.drained, 0);
}

/* One at a time the first two find room on the next. That is said of the plan of all at once. */
static void fewer_at_a_time_get_more_through(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    compete(f, 3);
    make(f, "w0", "w1", "w2", NULL);
    assert_int_equal(f->plan.better_limit, 1);
    assert_int_equal(f->plan.better_nodes, 2);
    f->w.opts.parallel = 1;
    make(f, "w0", "w1", "w2", NULL);
    assert_int_equal(f->plan.better_limit, 0);
    size_t sure = 0;
    for (size_t i = 0; i < f->plan.n; i++)
        sure += f->plan.nodes[i].ends != PLAN_NO_TIME;
    assert_int_equal(sure, 2);
}

/* Where nobody has said how many, the plan is one of as many as get the most through. */
static void a_better_limit_is_adopted(void **state) {
    struct plan_site *f = *state;
    f->adopt = true;
    nodes(f, 3);
    compete(f, 3);
    make(f, "w0", "w1", "w2", NULL);
    assert_int_equal(f->plan.adopted_limit, 1);
    assert_int_equal(f->plan.without_nodes, 0);
    assert_int_equal(f->plan.better_limit, 0);
    assert_int_equal(f->plan.most_at_once, 1);
    size_t sure = 0;
    for (size_t i = 0; i < f->plan.n; i++)
        sure += f->plan.nodes[i].ends != PLAN_NO_TIME;
    assert_int_equal(sure, 2);
    /* With room for all there is none to be adopted. */
    node(f, "w3", 110);
    make(f, "w0", "w1", "w2", NULL);
    assert_int_equal(f->plan.adopted_limit, 0);
    assert_int_equal(f->plan.most_at_once, 3);
}

/* What was seen of the plan itself is told, not how it went when others were tried: one at a time
 * nothing is short, and fewer tries are enough. */
static void what_else_is_tried_changes_nothing(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    node(f, "w3", 110);
    compete(f, 2);
    pods(f, "x", 3, "w2", "{'metadata':{'labels':{'app':'x'}}}");
    make(f, "w0", "w1", "w2", NULL);
    assert_int_equal(f->plan.count[PLAN_UNSURE], 0);
    dw_edit_node(&f->w, "w3", "{'spec':{'unschedulable':true}}");
    node(f, "w4", 3);
    make(f, "w0", "w1", "w2", NULL); /* three of five places */
    size_t sure = 0;
    for (size_t i = 0; i < f->plan.n; i++)
        sure += f->plan.nodes[i].ends != PLAN_NO_TIME;
    assert_int_equal(node_of(f, "w2")->verdict, PLAN_HOMELESS); /* which no budget holds */
    assert_int_not_equal(node_of(f, "w2")->ends, PLAN_NO_TIME);
    assert_true(sure < 3);
}

/* Where all get through there is nothing better, and nothing is left to chance. */
static void with_room_nothing_is_chance(void **state) {
    struct plan_site *f = *state;
    nodes(f, 5);
    compete(f, 3);
    make(f, "w0", "w1", "w2", NULL);
    assert_int_equal(f->plan.count[PLAN_UNSURE], 0);
    assert_int_equal(f->plan.count[PLAN_NEVER], 0);
    assert_int_not_equal(f->plan.makespan, PLAN_NO_TIME);
    assert_int_equal(f->plan.better_limit, 0);
}

/* Somebody leaves the only other node by himself, some time: what was evicted by then waits for the
 * place, and who gets it does not go by who was first. */
static void a_place_that_is_free_soon_is_not_free_yet(void **state) {
    struct plan_site *f = *state;
    char when[TIMEFMT_LEN];
    nodes(f, 2);
    node(f, "w2", 1);
    dw_pod(&f->w, "a0", "w0", "{}");
    dw_pod(&f->w, "b0", "w1", "{'metadata':{'labels':{'app':'b'}}}");
    f->w.opts.parallel = 1;
    dw_pod(&f->w, "old", "w2", "{'metadata':{'labels':{'app':'old'},'deletionTimestamp':'%s'}}",
           time_format(f->w.now.wall + SEC(600), false, when));
    make(f, "w0", "w1", NULL);
    assert_int_not_equal(f->plan.makespan, PLAN_NO_TIME); /* no budget keeps them */
    assert_verdict(f, "b0", PLAN_HOMELESS);
    assert_says(f, "b0", "is chance");
    assert_verdict(f, "a0", PLAN_HOMELESS);
    assert_says(f, "a0", "is chance");
}

/* It is all the same which pod of a node is first: the node is not drained. */
static void what_never_gets_through_is_certain(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    pods(f, "a", 2, "w0", "{}");
    pods(f, "b", 2, "w1", "{'metadata':{'labels':{'app':'b'}}}");
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    budget_of(f, "b", "b", 1, 2, 1, 2);
    make(f, "w0", "w1", NULL);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_NEVER);
    assert_int_equal(node_of(f, "w1")->verdict, PLAN_NEVER);
    assert_int_equal(f->plan.count[PLAN_UNSURE], 0);
}

/* The same plan, to the byte. */
static void the_same_input_has_the_same_plan(void **state) {
    struct plan_site *f = *state;
    enum plan_verdict first[4];
    nodes(f, 4);
    node(f, "w4", 1);
    compete(f, 4);
    make(f, "w0", "w1", "w2", "w3", NULL);
    for (size_t i = 0; i < 4; i++)
        first[i] = f->plan.nodes[i].verdict;
    make(f, "w0", "w1", "w2", "w3", NULL);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(f->plan.nodes[i].verdict, first[i]);
}

/* In a cluster that is too large to try it often, who competes is told all the same; not where
 * nodes have their turns. */
static void a_large_cluster_is_not_tried(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    for (int i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "full%d", i);
        node(f, name, 0);
    }
    compete(f, 3);
    pods(f, "x", MANY / 2, "w0", "{'metadata':{'labels':{'app':'x'}}}");
    make(f, "w0", "w1", "w2", NULL);
    assert_int_equal(f->plan.better_limit, 0);
    assert_verdict(f, "a0", PLAN_UNSURE);
    assert_verdict(f, "a1", PLAN_UNSURE);
    assert_says(f, "a1", "is chance");
    assert_int_equal(node_of(f, "w1")->ends, PLAN_NO_TIME);
    f->w.opts.parallel = 1;
    f->w.opts.in_order = true;
    make(f, "w1", "w2", "w0", NULL);
    assert_verdict(f, "a1", PLAN_GOES); /* to w2 */
    make(f, "w0", "w1", "w2", NULL);
    assert_verdict(f, "a0", PLAN_GOES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(nodes_compete_for_the_last_disruption),
        PLAN_TEST(fewer_at_a_time_get_more_through),
        PLAN_TEST(a_better_limit_is_adopted),
        PLAN_TEST(what_else_is_tried_changes_nothing),
        PLAN_TEST(with_room_nothing_is_chance),
        PLAN_TEST(a_place_that_is_free_soon_is_not_free_yet),
        PLAN_TEST(what_never_gets_through_is_certain),
        PLAN_TEST(the_same_input_has_the_same_plan),
        PLAN_TEST(a_large_cluster_is_not_tried),
    };
    return cmocka_run_group_tests_name("engine/plan_chance", tests, NULL, NULL);
}
