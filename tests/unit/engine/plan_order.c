/* Tests of src/engine/plan_order.c: which node goes when. All orders of small clusters are tried in
 * tests/sim/plan_best.c. */
#include "plan_site.h"

#include "base/prng.h"

enum { NODES = 20, APPS = 5 };

/* Three pods on each node, of three of five StatefulSets, each of which lets one go at a time: two
 * nodes always have some of the same. */
static void crowded(struct plan_site *f) {
    struct prng random = {.state = 7};
    nodes(f, NODES + 1);
    for (int i = 0; i < NODES; i++) {
        int apps[APPS] = {0, 1, 2, 3, 4};
        for (int k = 0; k < 3; k++) {
            int other = k + (int)prng_range(&random, 0, APPS - k), app = apps[other];
            char name[16], where[8];
            apps[other] = apps[k];
            snprintf(name, sizeof name, "p%d-%d", i, k);
            snprintf(where, sizeof where, "w%d", i);
            dw_pod(&f->w, name, where,
                   "{'metadata':{'labels':{'app':'a%d'}," DW_OWNER("apps/v1", "StatefulSet",
                                                                   "db") "}}",
                   app);
        }
    }
    for (int a = 0; a < APPS; a++) {
        char name[8];
        snprintf(name, sizeof name, "a%d", a);
        budget_of(f, name, name, 1, NODES, NODES - 1, NODES);
    }
    f->w.opts.rate = 0;
    f->w.opts.avoid_next = true; /* who leaves goes to w20 */
    f->times = (struct pod_durations){.stop = SEC(10), .start = SEC(2), .seen = true};
}

static void make_all(struct plan_site *f) {
    make(f, "w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8", "w9", "w10", "w11", "w12", "w13",
         "w14", "w15", "w16", "w17", "w18", "w19", NULL);
}

/* Nobody could be faster. Two at a time that takes small changes to the best of the drawn orders.
 */
static void crowded_nodes_are_put_in_a_good_order(void **state) {
    struct plan_site *f = *state;
    crowded(f);
    for (unsigned limit = 2; limit <= 5; limit++) {
        f->w.opts.max_unavailable.value = limit;
        make_all(f);
        int64_t least = f->plan.bounds[f->plan.binds].least;
        assert_true(f->plan.makespan >= least);
        assert_true(f->plan.makespan * 100 <= least * 101);
    }
}

/* Who asks for an order gets that one, good or bad. */
static void an_order_that_is_given_is_kept(void **state) {
    struct plan_site *f = *state;
    crowded(f);
    f->w.opts.max_unavailable.value = 2;
    f->w.opts.in_order = true;
    make_all(f);
    for (int i = 0; i < NODES; i++) {
        char name[8];
        snprintf(name, sizeof name, "w%d", i);
        assert_string_equal(f->plan.nodes[i].name, name);
    }
}

/* Nothing is changed that gains nothing: an operator finds the nodes in the order he knows. */
static void without_a_gain_the_order_stays(void **state) {
    struct plan_site *f = *state;
    nodes(f, 7);
    for (int i = 0; i < 6; i++) {
        char name[8], where[8];
        snprintf(name, sizeof name, "a%d", i);
        snprintf(where, sizeof where, "w%d", i);
        dw_pod(&f->w, name, where, "{}");
    }
    dw_budget(&f->w, "web", 1, 6, 5, 6);
    f->w.opts.max_unavailable.value = 2;
    make(f, "w0", "w1", "w2", "w3", "w4", "w5", NULL);
    for (int i = 0; i < 6; i++) {
        char name[8];
        snprintf(name, sizeof name, "w%d", i);
        assert_string_equal(f->plan.nodes[i].name, name);
    }
}

/* A node that would keep its turn for ever, because a replacement finds no room, comes last. */
static void who_finds_no_room_comes_last(void **state) {
    struct plan_site *f = *state;
    nodes(f, 4);
    dw_pod(&f->w, "a0", "w0", "{'spec':{'nodeSelector':{'kubernetes.io/hostname':'w0'}}}");
    dw_pod(&f->w, "a1", "w0", "{'spec':{'nodeSelector':{'kubernetes.io/hostname':'w0'}}}");
    dw_pod(&f->w, "b", "w1", "{'metadata':{'labels':{'app':'b'}}}");
    dw_pod(&f->w, "c", "w2", "{'metadata':{'labels':{'app':'c'}}}");
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    f->w.opts.parallel = 1;
    make(f, "w0", "w1", "w2", NULL);
    assert_string_equal(f->plan.nodes[2].name, "w0");
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_NEVER);
    assert_int_equal(node_of(f, "w1")->verdict, PLAN_GOES);
    assert_int_equal(node_of(f, "w2")->verdict, PLAN_GOES);
    assert_int_equal(f->plan.drained, SEC(20));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(crowded_nodes_are_put_in_a_good_order),
        PLAN_TEST(an_order_that_is_given_is_kept),
        PLAN_TEST(without_a_gain_the_order_stays),
        PLAN_TEST(who_finds_no_room_comes_last),
    };
    return cmocka_run_group_tests_name("engine/plan_order", tests, NULL, NULL);
}
