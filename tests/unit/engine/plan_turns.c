/* Tests of src/engine/plan_turns.c: whose turn it is. */
#include "plan_site.h"

/* Three pods, one at a time; each is made up for after five seconds, the last stops after ten. */
static void a_budget_lets_them_go_one_by_one(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 110);
    for (int i = 0; i < 3; i++) {
        char name[8];
        snprintf(name, sizeof name, "a%d", i);
        dw_pod(&f->w, name, "w0", "{}");
    }
    dw_budget(&f->w, "web", 1, 3, 2, 3);
    make(f, "w0", NULL);
    assert_verdict(f, "a0", PLAN_GOES);
    assert_verdict(f, "a1", PLAN_WAITS);
    assert_code(f, "a1", BLOCKER_PDB_NO_BUDGET);
    assert_string_equal(pod_of(f, "a1")->blocker.object, "default/web");
    assert_int_equal(pod_of(f, "a1")->evicted, SEC(5));
    assert_int_equal(pod_of(f, "a2")->evicted, SEC(10));
    assert_int_equal(f->plan.makespan, SEC(20));
    assert_int_equal(f->plan.bounds[TERM_BUDGET].least, SEC(20));
    assert_int_equal(f->plan.bounds[TERM_NODE].least, SEC(20));
}

static void the_rate_is_kept(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 110);
    for (int i = 0; i < 12; i++) {
        char name[8];
        snprintf(name, sizeof name, "p%02d", i);
        dw_pod(&f->w, name, "w0", "{}");
    }
    f->w.opts.rate = 2;
    make(f, "w0", NULL);
    /* two at once, then two a second */
    assert_int_equal(f->plan.bounds[TERM_RATE].least, SEC(15));
    assert_int_equal(f->plan.binds, TERM_RATE);
    assert_true(f->plan.makespan >= SEC(15) && f->plan.makespan < SEC(15) + MSEC(10));
}

/* Requests are sent node by node: a pod that has waited for its budget is not behind all those of
 * the nodes after its own. Else the budget would lie idle while others are sent. */
static void the_rate_is_for_the_first_nodes_first(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    pods(f, "a", 2, "w0", "{}");
    pods(f, "b", 30, "w1", "{'metadata':{'labels':{'app':'free'}}}");
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    f->w.opts.rate = 1;
    make(f, "w0", "w1", NULL);
    assert_int_equal(pod_of(f, "a0")->evicted, 0);
    assert_in_range(pod_of(f, "a1")->evicted, SEC(5), SEC(6)); /* back after five seconds */
    assert_in_range(node_of(f, "w0")->ends, SEC(15), SEC(16));
    /* and within a node who takes longest first */
    dw_pod(&f->w, "z", "w1",
           "{'metadata':{'labels':{'app':'free'}},'spec':{'terminationGracePeriodSeconds':90}}");
    make(f, "w0", "w1", NULL);
    assert_in_range(pod_of(f, "z")->evicted, SEC(1), SEC(2));
}

/* Those that are sent one a second have taken of the budget before they are asked: whoever comes
 * after them, when the first of them are back, has waited for the rate alone. */
static void the_rate_is_no_budget(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    pods(f, "a", 10, "w0", "{}");
    dw_budget(&f->w, "web", 6, 10, 4, 10);
    f->w.opts.rate = 1;
    make(f, "w0", NULL);
    for (int i = 0; i < 10; i++) {
        char name[8];
        snprintf(name, sizeof name, "a%d", i);
        assert_verdict(f, name, PLAN_GOES);
        assert_in_range(pod_of(f, name)->evicted, SEC(i), SEC(i) + MSEC(10));
    }
    /* They are back after five seconds: of two there is none left in the third. */
    dw_budget(&f->w, "web", 2, 10, 8, 10);
    make(f, "w0", NULL);
    assert_verdict(f, "a1", PLAN_GOES);
    assert_verdict(f, "a2", PLAN_WAITS);
    assert_code(f, "a2", BLOCKER_PDB_NO_BUDGET);
    /* Nor is it the rate when others, of nodes after its own, are sent meanwhile. */
    pods(f, "b", 30, "w1", "{'metadata':{'labels':{'app':'free'}}}");
    make(f, "w0", "w1", NULL);
    assert_verdict(f, "a2", PLAN_WAITS);
}

/* A rule that does not wait for the budget: after a minute it is deleted. */
static void a_rule_goes_past_the_budget(void **state) {
    struct plan_site *f = *state;
    rules_are(f, "- {name: web, match: {namespaces: [default]}, escalate: [{after: 1m, to: "
                 "delete}]}\n");
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_budget(&f->w, "web", 0, 3, 3, 3);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_WAITS);
    assert_int_equal(pod_of(f, "a")->evicted, SEC(60));
    assert_int_equal(f->plan.makespan, SEC(70));
    /* one that it allows in time is not deleted */
    dw_budget(&f->w, "web", 1, 3, 2, 3);
    make(f, "w0", NULL);
    assert_int_equal(pod_of(f, "a")->evicted, 0);
}

/* Those of a lower order are gone before the next ones begin. */
static void the_order_of_rules_is_kept(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "web", "w0", "{}");
    dw_pod(&f->w, "db", "w0", "{'metadata':{'labels':{'app':'db'}}}");
    dw_pod(&f->w, "last", "w0", "{'metadata':{'labels':{'app':'last'}}}");
    rules_are(f, "- {name: db, match: {labels: {matchLabels: {app: db}}}, order: 10}\n"
                 "- {name: last, match: {labels: {matchLabels: {app: last}}}, order: 2000}\n");
    make(f, "w0", NULL);
    assert_int_equal(pod_of(f, "web")->evicted, 0);
    assert_int_equal(pod_of(f, "db")->evicted, SEC(10));
    assert_int_equal(pod_of(f, "last")->evicted, SEC(20));
    assert_int_equal(f->plan.makespan, SEC(30));
}

/* What comes after a pod that never goes never gets its turn. */
static void what_never_goes_holds_up_what_comes_after_it(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "web", "w0", "{}");
    dw_pod(&f->w, "db", "w0", "{'metadata':{'labels':{'app':'db'}}}");
    dw_budget(&f->w, "web", 0, 3, 3, 3);
    rules_are(f, "- {name: db, match: {labels: {matchLabels: {app: db}}}, order: 10}\n");
    make(f, "w0", NULL);
    assert_verdict(f, "web", PLAN_NEVER);
    assert_verdict(f, "db", PLAN_UNSURE);
    assert_says(f, "db", "pods that go before it do not");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(a_budget_lets_them_go_one_by_one),
        PLAN_TEST(the_rate_is_kept),
        PLAN_TEST(the_rate_is_for_the_first_nodes_first),
        PLAN_TEST(the_rate_is_no_budget),
        PLAN_TEST(a_rule_goes_past_the_budget),
        PLAN_TEST(the_order_of_rules_is_kept),
        PLAN_TEST(what_never_goes_holds_up_what_comes_after_it),
    };
    return cmocka_run_group_tests_name("engine/plan_turns", tests, NULL, NULL);
}
