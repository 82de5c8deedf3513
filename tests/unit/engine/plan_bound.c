/* Tests of src/engine/plan_bound.c: the shortest time, computed by hand. */
#include "plan_site.h"

static void several_at_a_time(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    pods(f, "a", 6, "w0", "{}");
    /* expected 6, desired 4: two at a time. Six starts of 5 s; the last two are not waited for:
     * 4 * 5 s / 2, and ten to stop. */
    dw_budget(&f->w, "web", 2, 6, 4, 6);
    make(f, "w0", NULL);
    assert_bound(f, TERM_BUDGET, 20);
    assert_bound(f, TERM_NODE, 20);
    assert_int_equal(f->plan.makespan, SEC(20));
    assert_string_equal(f->plan.bounds[TERM_BUDGET].object, "default/web");
    assert_string_equal(f->plan.bounds[TERM_BUDGET].message,
                        "budget default/web: 6 pods, 2 at a time");
    assert_string_equal(f->plan.bounds[TERM_NODE].message,
                        "node w0 alone takes 20s under budget default/web");
    /* as many as there are pods: no bound but the stop */
    dw_budget(&f->w, "web", 6, 6, 0, 6);
    make(f, "w0", NULL);
    assert_bound(f, TERM_BUDGET, 10);
}

/* A replacement that has the name comes after the pod is gone: stop and start count. */
static void a_stateful_sets_pods_hold_the_budget_for_longer(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    pods(f, "db-", 3, "w0", "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "db") "}}");
    dw_budget(&f->w, "web", 1, 3, 2, 3);
    make(f, "w0", NULL);
    /* twice fifteen, and ten for the last to stop */
    assert_bound(f, TERM_BUDGET, 40);
    assert_bound(f, TERM_NODE, 40);
    assert_int_equal(f->plan.makespan, SEC(40));
}

/* Each budget by itself; the longest counts. */
static void the_worst_of_several_budgets(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    pods(f, "a", 3, "w0", "{}");
    pods(f, "b", 5, "w1", "{'metadata':{'labels':{'app':'big'}}}");
    budget_of(f, "web", "web", 1, 3, 2, 3);
    budget_of(f, "big", "big", 1, 5, 4, 5);
    make(f, "w0", "w1", NULL);
    assert_bound(f, TERM_BUDGET, 4 * 5 + 10);
    assert_string_equal(f->plan.bounds[TERM_BUDGET].object, "default/big");
    assert_bound(f, TERM_NODE, 30);
    assert_string_equal(f->plan.bounds[TERM_NODE].object, "w1");
    assert_int_equal(node_of(f, "w0")->least, SEC(20));
    assert_int_equal(f->plan.makespan, SEC(30));
}

/* A budget whose pods are on several nodes binds where no node alone does. */
static void a_budget_across_nodes_binds(void **state) {
    struct plan_site *f = *state;
    nodes(f, 4);
    pods(f, "a", 1, "w0", "{}");
    pods(f, "b", 1, "w1", "{}");
    pods(f, "c", 1, "w2", "{}");
    dw_budget(&f->w, "web", 1, 3, 2, 3);
    make(f, "w0", "w1", "w2", NULL);
    assert_bound(f, TERM_NODE, 10);
    assert_bound(f, TERM_BUDGET, 20);
    assert_int_equal(f->plan.binds, TERM_BUDGET);
    assert_int_equal(f->plan.makespan, SEC(20));
}

static void slots_bind(void **state) {
    struct plan_site *f = *state;
    nodes(f, 6);
    for (int i = 0; i < 5; i++) {
        char name[8], pod[8];
        snprintf(name, sizeof name, "w%d", i);
        snprintf(pod, sizeof pod, "p%d", i);
        dw_pod(&f->w, pod, name, DW_BARE);
    }
    f->w.opts.force = true;
    f->w.opts.max_unavailable.value = 2;
    make(f, "w0", "w1", "w2", "w3", "w4", NULL);
    /* fifty seconds of nodes in two places: no order is as good as this bound */
    assert_bound(f, TERM_SLOTS, 25);
    assert_int_equal(f->plan.binds, TERM_SLOTS);
    assert_string_equal(f->plan.bounds[TERM_SLOTS].message,
                        "5 nodes, 2 at a time, 10s each on average");
    assert_int_equal(f->plan.makespan, SEC(30));
    /* room for all: it is no limit, and nothing is said of it */
    f->w.opts.max_unavailable.value = 5;
    make(f, "w0", "w1", "w2", "w3", "w4", NULL);
    assert_bound(f, TERM_SLOTS, 0);
    assert_string_equal(f->plan.bounds[TERM_SLOTS].message, "");
    assert_int_equal(f->plan.binds, TERM_NODE);
}

static void the_rate_binds(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    pods(f, "a", 30, "w0", "{}");
    f->w.opts.rate = 0.5;
    make(f, "w0", NULL);
    /* one at once, then one every two seconds; ten for the last to stop */
    assert_bound(f, TERM_RATE, 29 * 2 + 10);
    assert_int_equal(f->plan.binds, TERM_RATE);
    assert_string_equal(f->plan.bounds[TERM_RATE].message, "30 evictions, 0.5 a second");
    assert_true(f->plan.makespan >= SEC(68) && f->plan.makespan < SEC(68) + MSEC(10));
    /* within the burst it is no limit */
    f->w.opts.rate = 30;
    make(f, "w0", NULL);
    assert_string_equal(f->plan.bounds[TERM_RATE].message, "");
    assert_int_equal(f->plan.binds, TERM_NODE);
}

/* What does not happen needs no time: neither pods that never go, nor nodes that are never done. */
static void what_never_goes_does_not_count(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    pods(f, "a", 4, "w0", "{}");
    dw_pod(&f->w, "bare", "w0", DW_BARE);
    dw_pod(&f->w, "free", "w1", "{'metadata':{'labels':{'app':'free'}}}");
    dw_budget(&f->w, "web", 0, 4, 4, 4);
    make(f, "w0", "w1", NULL);
    assert_bound(f, TERM_BUDGET, 0);
    assert_bound(f, TERM_NODE, 10);
    assert_string_equal(f->plan.bounds[TERM_NODE].object, "w1");
    make(f, "w0", NULL);
    assert_bound(f, TERM_NODE, 0);
    assert_string_equal(f->plan.bounds[TERM_NODE].message, "");
}

/* A rule that deletes after a while makes the budget no bound. */
static void what_goes_past_its_budget_does_not_count(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    pods(f, "a", 9, "w0", "{}");
    dw_budget(&f->w, "web", 1, 9, 8, 9);
    rules_are(f, "- {name: web, match: {namespaces: [default]}, escalate: [{after: 1s, to: "
                 "delete}]}\n");
    make(f, "w0", NULL);
    assert_bound(f, TERM_BUDGET, 0);
    assert_bound(f, TERM_NODE, 10);
    assert_int_equal(f->plan.makespan, SEC(11));
}

/* A pod that terminates by itself needs no slot, and may stop long before its grace period ends:
 * that it has one is no reason for a drain to take so long at least. */
static void what_leaves_by_itself_needs_no_slot(void **state) {
    struct plan_site *f = *state;
    char when[TIMEFMT_LEN];
    nodes(f, 3);
    time_format(f->w.now.wall + SEC(300), false, when);
    dw_pod(&f->w, "a", "w0", "{'metadata':{'deletionTimestamp':'%s'}}", when);
    dw_pod(&f->w, "b", "w1", "{'metadata':{'deletionTimestamp':'%s'}}", when);
    dw_pod(&f->w, "c", "w2", "{}");
    f->w.opts.max_unavailable.value = 1;
    make(f, "w0", "w1", "w2", NULL);
    assert_bound(f, TERM_NODE, 10); /* c */
    assert_int_equal(node_of(f, "w0")->least, 0);
    assert_bound(f, TERM_SLOTS, 10);
    assert_true(f->plan.makespan >= SEC(300) && f->plan.makespan <= SEC(310));
}

/* Pods of a later order go when those of an earlier one are gone. */
static void orders_come_one_after_the_other(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    pods(f, "a", 2, "w0", "{}");
    pods(f, "b", 2, "w0", "{'metadata':{'labels':{'app':'b'}}}");
    pods(f, "c", 2, "w0", "{'metadata':{'labels':{'app':'c'}}}");
    rules_are(f, "- {name: b, match: {labels: {matchLabels: {app: b}}}, order: 5}\n"
                 "- {name: c, match: {labels: {matchLabels: {app: c}}}, order: -5}\n");
    make(f, "w0", NULL);
    assert_bound(f, TERM_NODE, 30);
    assert_int_equal(f->plan.makespan, SEC(30));
    assert_string_equal(f->plan.bounds[TERM_NODE].message, "node w0 alone takes 30s");
    dw_budget(&f->w, "web", 1, 2, 1, 2); /* of a0 and a1: five seconds more */
    make(f, "w0", NULL);
    assert_bound(f, TERM_NODE, 35);
    assert_int_equal(f->plan.makespan, SEC(35));
}

/* Each node needs the rate for itself: where they go one by one, that adds up. */
static void slots_know_the_rate(void **state) {
    struct plan_site *f = *state;
    nodes(f, 4);
    pods(f, "a", 11, "w0", "{}");
    pods(f, "b", 11, "w1", "{}");
    pods(f, "c", 1, "w2", "{}");
    f->w.opts.rate = 5; /* five at once: the eleventh after 1.2 seconds */
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.avoid_next = true; /* all go to w3 */
    make(f, "w0", "w1", "w2", NULL);
    assert_int_equal(f->plan.bounds[TERM_SLOTS].least, MSEC(11200 + 11200 + 10000));
    assert_int_equal(f->plan.binds, TERM_SLOTS);
    assert_bound(f, TERM_NODE, 10); /* the rate is a term of its own */
    assert_true(f->plan.makespan >= f->plan.bounds[TERM_SLOTS].least);
    assert_true(f->plan.makespan < f->plan.bounds[TERM_SLOTS].least + MSEC(10));
}

/* Zones that may not be out together add up; those of one zone may go together, as far as slots go.
 */
static void zones_bind(void **state) {
    struct plan_site *f = *state;
    nodes(f, 7);
    for (int i = 0; i < 6; i++) {
        char name[8], pod[8];
        snprintf(name, sizeof name, "w%d", i);
        snprintf(pod, sizeof pod, "p%d", i);
        dw_pod(&f->w, pod, name, "{}");
        dw_edit_node(&f->w, name, "{'metadata':{'labels':{'topology.kubernetes.io/zone':'%c'}}}",
                     'a' + i % 3);
    }
    f->w.opts.max_zones = 1;
    f->w.opts.avoid_next = true; /* all go to w6 */
    make(f, "w0", "w1", "w2", "w3", "w4", "w5", NULL);
    assert_bound(f, TERM_ZONES, 30);
    assert_int_equal(f->plan.binds, TERM_ZONES);
    assert_int_equal(f->plan.makespan, SEC(30));
    assert_string_equal(f->plan.bounds[TERM_ZONES].message,
                        "nodes of 3 zones, 1 zone at a time, 10s each on average");
    f->w.opts.parallel = 1;
    make(f, "w0", "w1", "w2", "w3", "w4", "w5", NULL);
    assert_bound(f, TERM_ZONES, 60);
    f->w.opts.parallel = 0;
    f->w.opts.max_zones = 2;
    make(f, "w0", "w1", "w2", "w3", "w4", "w5", NULL);
    assert_bound(f, TERM_ZONES, 15);
    assert_true(f->plan.makespan >= SEC(15));
    f->w.opts.max_zones = 3;
    make(f, "w0", "w1", "w2", "w3", "w4", "w5", NULL);
    assert_bound(f, TERM_ZONES, 0);
}

/* However fast pods stop and start, evictions come no faster than their rate. */
static void the_rate_alone_is_certain(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    pods(f, "a", 11, "w0", "{}");
    make(f, "w0", NULL);
    assert_int_equal(f->plan.certain, 0);
    f->w.opts.rate = 5;
    make(f, "w0", NULL);
    assert_int_equal(f->plan.certain, MSEC(1200));
}

/* No plan is faster than its bound, whatever it is of. */
static void no_plan_is_faster(void **state) {
    struct plan_site *f = *state;
    nodes(f, 8);
    for (int i = 0; i < 6; i++) {
        char prefix[8], name[8];
        snprintf(prefix, sizeof prefix, "p%d-", i);
        snprintf(name, sizeof name, "w%d", i);
        pods(f, prefix, i + 1, name, i % 2 ? "{}" : "{'metadata':{'labels':{'app':'b'}}}");
    }
    for (int allowed = 1; allowed < 5; allowed++)
        for (unsigned limit = 0; limit < 4; limit++)
            for (int rate = 0; rate < 3; rate++) {
                budget_of(f, "web", "web", allowed, 12, 12 - allowed, 12);
                budget_of(f, "b", "b", 1, 9, 8, 9);
                f->w.opts.max_unavailable.value = limit;
                f->w.opts.rate = rate;
                f->times.start = SEC(3 * allowed);
                make(f, "w0", "w1", "w2", "w3", "w4", "w5", NULL);
                assert_int_not_equal(f->plan.makespan, PLAN_NO_TIME);
                for (int t = 0; t < PLAN_TERMS; t++)
                    assert_true(f->plan.makespan >= f->plan.bounds[t].least);
                for (size_t i = 0; i < f->plan.n; i++)
                    assert_true(f->plan.nodes[i].ends - f->plan.nodes[i].begins >=
                                f->plan.nodes[i].least);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(several_at_a_time),
        PLAN_TEST(a_stateful_sets_pods_hold_the_budget_for_longer),
        PLAN_TEST(the_worst_of_several_budgets),
        PLAN_TEST(a_budget_across_nodes_binds),
        PLAN_TEST(slots_bind),
        PLAN_TEST(the_rate_binds),
        PLAN_TEST(what_never_goes_does_not_count),
        PLAN_TEST(what_goes_past_its_budget_does_not_count),
        PLAN_TEST(what_leaves_by_itself_needs_no_slot),
        PLAN_TEST(orders_come_one_after_the_other),
        PLAN_TEST(slots_know_the_rate),
        PLAN_TEST(zones_bind),
        PLAN_TEST(the_rate_alone_is_certain),
        PLAN_TEST(no_plan_is_faster),
    };
    return cmocka_run_group_tests_name("engine/plan_bound", tests, NULL, NULL);
}
