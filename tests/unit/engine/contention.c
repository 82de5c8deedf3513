/* Tests of src/engine/contention.c: which nodes get in each other's way. */
#include "engine/contention.h"

#include "support/drain_world.h"

static void fleet(struct drain_world *w) {
    dw_node(w, "w0");
    dw_node(w, "w1");
    dw_node(w, "w2");
    dw_pod(w, "web0", "w0", "{}");
    dw_pod(w, "web1", "w1", "{}");
    dw_pod(w, "web2", "w1", "{}");
}

static void nobody_is_in_the_way_of_nobody(void **state) {
    struct drain_world *w = *state;
    struct contention c;
    fleet(w);
    dw_budget(w, "web", 1, 3, 2, 3);
    contention_init(&c, &w->c, NULL);
    assert_int_equal(contention_of(&c, "w1", false), 0); /* waits for its own pods alone */
    assert_int_equal(contention_of(&c, "nowhere", true), 0);
    contention_done(&c);
}

/* A node that is drained, or soon will be: its pods are gone and their replacements not ready. */
static void pods_wait_for_what_is_used_up_already(void **state) {
    struct drain_world *w = *state;
    struct contention c;
    fleet(w);
    dw_budget(w, "web", 0, 2, 2, 3);
    contention_init(&c, &w->c, NULL);
    assert_int_equal(contention_of(&c, "w1", false), 2);
    assert_int_equal(contention_of(&c, "w0", false), 1);
    assert_int_equal(contention_of(&c, "w2", false), 0);
    contention_done(&c);
}

static void pods_wait_for_what_others_use_up(void **state) {
    struct drain_world *w = *state;
    struct contention c;
    fleet(w);
    dw_budget(w, "web", 1, 3, 2, 3);
    contention_init(&c, &w->c, NULL);
    contention_add(&c, "w0");
    assert_int_equal(contention_of(&c, "w1", true), 2);
    assert_int_equal(contention_of(&c, "w2", true), 0); /* has no pod */
    contention_done(&c);
    dw_edit_budget(w, "web", "{'status':{'disruptionsAllowed':2}}");
    contention_init(&c, &w->c, NULL);
    contention_add(&c, "w0");
    assert_int_equal(contention_of(&c, "w1", true), 1);
    contention_done(&c);
}

/* Of those that go already nobody asks anything. */
static void pods_that_go_already_want_nothing(void **state) {
    struct drain_world *w = *state;
    struct contention c;
    fleet(w);
    dw_budget(w, "web", 1, 3, 2, 3);
    dw_edit_pod(w, "web0", "{'metadata':{'deletionTimestamp':'2026-11-15T08:00:10Z'}}");
    contention_init(&c, &w->c, NULL);
    contention_add(&c, "w0");
    assert_int_equal(contention_of(&c, "w1", true), 0);
    contention_done(&c);
}

static void what_never_goes_is_hopeless_when_budgets_are_asked(void **state) {
    struct drain_world *w = *state;
    struct contention c;
    fleet(w);
    dw_put(w, &kind_pdb,
           "{'metadata':{'namespace':'default','name':'never','uid':'u','generation':1},'spec':{"
           "'maxUnavailable':0,'selector':{}},'status':{'observedGeneration':1,"
           "'disruptionsAllowed':0,'currentHealthy':3,'desiredHealthy':3,'expectedPods':3}}");
    contention_init(&c, &w->c, NULL);
    assert_int_equal(contention_of(&c, "w0", true), CONTENTION_HOPELESS);
    assert_int_equal(contention_of(&c, "w0", false), 0);
    assert_int_equal(contention_of(&c, "w2", true), 0);
    contention_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DRAIN_TEST(nobody_is_in_the_way_of_nobody),
        DRAIN_TEST(pods_wait_for_what_is_used_up_already),
        DRAIN_TEST(pods_wait_for_what_others_use_up),
        DRAIN_TEST(pods_that_go_already_want_nothing),
        DRAIN_TEST(what_never_goes_is_hopeless_when_budgets_are_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
