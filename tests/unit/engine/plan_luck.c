/* Tests of src/engine/plan_luck.c: what is said of chance. */
#include "plan_site.h"

enum { MANY = 1100 };

#define RIVAL "{'metadata':{'labels':{'app':'rival'}}}"

/* One place, and two replacements that want it at the same time: when the other has it, nothing
 * more goes; but it might be otherwise. */
static void a_place_that_is_lost_by_chance_is_not_lost_for_ever(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 1);
    dw_pod(&f->w, "a", "w0", RIVAL);
    dw_pod(&f->w, "x", "w0", "{}");
    dw_pod(&f->w, "y", "w0", "{}");
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    make(f, "w0", NULL);
    assert_null(pod_of(f, "a")->to);
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_says(f, "a", "whether its replacement finds a place is chance");
    assert_verdict(f, "x", PLAN_HOMELESS);
    assert_says(f, "x", "1 Too many pods"); /* or y: one of them has none each time */
    assert_verdict(f, "y", PLAN_UNSURE);
    assert_code(f, "y", BLOCKER_PDB_NO_BUDGET);
    assert_says(f, "y",
                "pods that leave at the same time compete for the last places: which of them get "
                "away is chance");
    assert_string_equal(pod_of(f, "y")->blocker.help, "make room");
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_UNSURE);
    assert_null(node_of(f, "w0")->blocker.message);
    assert_int_equal(node_of(f, "w0")->ends, PLAN_NO_TIME);
    assert_int_equal(f->plan.makespan, PLAN_NO_TIME);
}

/* With that place one more would go, and the last would not. */
static void luck_that_is_not_enough_is_none_for_the_node(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 1);
    dw_pod(&f->w, "a", "w0", RIVAL);
    pods(f, "x", 3, "w0", "{}");
    dw_budget(&f->w, "web", 1, 3, 2, 3);
    make(f, "w0", NULL);
    assert_verdict(f, "x0", PLAN_HOMELESS);
    assert_verdict(f, "x1", PLAN_UNSURE);
    assert_verdict(f, "x2", PLAN_NEVER);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_NEVER);
}

/* Siblings do not take anything from each other that the budget would have; and who went long
 * before has its place for sure. */
static void a_place_that_is_taken_for_sure_is_no_chance(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 1);
    pods(f, "x", 3, "w0", "{}");
    dw_budget(&f->w, "web", 1, 3, 2, 3);
    make(f, "w0", NULL);
    assert_verdict(f, "x1", PLAN_HOMELESS);
    assert_verdict(f, "x2", PLAN_NEVER);
    assert_null(node_of(f, "w0")->blocker.message);

    node(f, "w2", 110);
    dw_edit_node(&f->w, "w2", "{'spec':{'unschedulable':true}}");
    dw_pod(&f->w, "a", "w2", RIVAL);
    f->times.stop = SEC(60);
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.in_order = true;
    make(f, "w2", "w0", NULL); /* a is placed a minute before the first of w0 goes */
    assert_string_equal(pod_of(f, "a")->to, "w1");
    assert_verdict(f, "x0", PLAN_HOMELESS);
    assert_verdict(f, "x1", PLAN_NEVER);
}

/* The same the other way round: it drains, if the one whose budget others wait for is first. What
 * is said of the node is what is said of its pods, and it has no end that anybody could tell. */
static void a_node_that_is_drained_by_chance_says_so(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 1);
    dw_pod(&f->w, "x", "w0", "{}");
    dw_pod(&f->w, "y", "w0", "{}");
    dw_pod(&f->w, "z", "w0", RIVAL);
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    make(f, "w0", NULL);
    const struct plan_node *n = node_of(f, "w0");
    assert_verdict(f, "x", PLAN_HOMELESS);
    assert_verdict(f, "y", PLAN_UNSURE);
    assert_code(f, "y", BLOCKER_PDB_NO_BUDGET);
    assert_verdict(f, "z", PLAN_HOMELESS);
    assert_int_equal(n->verdict, PLAN_UNSURE);
    assert_int_equal(n->ends, PLAN_NO_TIME);
    assert_int_equal(f->plan.makespan, PLAN_NO_TIME);
    assert_int_equal(f->plan.drained, 0);
    node(f, "w1", 2); /* x and z fit */
    make(f, "w0", NULL);
    assert_null(node_of(f, "w0")->blocker.message);
    assert_int_not_equal(node_of(f, "w0")->ends, PLAN_NO_TIME);
}

/* In a cluster that is too large to try it often, that is found by a thought, and the node says so
 * itself. */
static void what_is_not_tried_is_thought_of(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 1);
    for (int i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "full%d", i);
        node(f, name, 0);
    }
    dw_pod(&f->w, "x", "w0", "{}");
    dw_pod(&f->w, "y", "w0", "{}");
    dw_pod(&f->w, "z", "w0", RIVAL);
    pods(f, "bare", MANY / 2, "w0",
         "{'metadata':{'ownerReferences':null,'labels':{'app':'bare'}}}");
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    f->w.opts.force = true;
    make(f, "w0", NULL);
    const struct plan_node *n = node_of(f, "w0");
    assert_int_equal(n->verdict, PLAN_UNSURE);
    assert_int_equal(n->blocker.code, BLOCKER_PDB_NO_BUDGET);
    assert_string_equal(n->blocker.object, "default/web");
    assert_string_equal(n->blocker.message,
                        "whether the node is drained is chance: the replacement of z may get the "
                        "place of that of x, which then keeps what it took of the budget");
    assert_int_equal(n->ends, PLAN_NO_TIME);
    assert_int_equal(f->plan.makespan, PLAN_NO_TIME);
}

/* Each has one pod that is marked, and one of two that want the only place: which of these gets
 * away is chance, and nothing says that a node never does. */
static void a_mark_beside_chance_is_not_never(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 110);
    for (int i = 0; i < 2; i++) {
        char name[8], where[8];
        snprintf(name, sizeof name, "a%d", i);
        snprintf(where, sizeof where, "w%d", i);
        dw_pod(&f->w, name, where, "{}");
        snprintf(name, sizeof name, "m%d", i);
        dw_pod(&f->w, name, where,
               "{'metadata':{'labels':{'app':'m'},'annotations':{"
               "'cluster-autoscaler.kubernetes.io/safe-to-evict':'false'}}}");
    }
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    make(f, "w0", "w1", NULL);
    assert_verdict(f, "a0", PLAN_UNSURE);
    assert_verdict(f, "a1", PLAN_UNSURE);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_UNSURE);
    assert_int_equal(node_of(f, "w1")->verdict, PLAN_UNSURE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(a_place_that_is_lost_by_chance_is_not_lost_for_ever),
        PLAN_TEST(luck_that_is_not_enough_is_none_for_the_node),
        PLAN_TEST(a_place_that_is_taken_for_sure_is_no_chance),
        PLAN_TEST(a_node_that_is_drained_by_chance_says_so),
        PLAN_TEST(what_is_not_tried_is_thought_of),
        PLAN_TEST(a_mark_beside_chance_is_not_never),
    };
    return cmocka_run_group_tests_name("engine/plan_luck", tests, NULL, NULL);
}
