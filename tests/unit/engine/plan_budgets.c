/* Tests of src/engine/plan_budgets.c: the budgets that a plan rests on, and how much of each it
 * needs. */
#include "plan_site.h"

static void of_each_what_it_asks_for(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    pods(f, "a", 3, "w0", "{}");
    dw_pod(&f->w, "other", "w0", "{'metadata':{'labels':{'app':'db'}}}");
    dw_pod(&f->w, "elsewhere", "w1", "{'metadata':{'labels':{'app':'idle'}}}");
    dw_put(&f->w, &kind_pdb,
           "{'metadata':{'namespace':'default','name':'web','uid':'u','generation':1},"
           "'spec':{'minAvailable':'50%%','unhealthyPodEvictionPolicy':'AlwaysAllow','selector':{"
           "'matchLabels':{'app':'web'},'matchExpressions':[{'key':'a','operator':'DoesNotExist'}"
           "]}},'status':{'observedGeneration':1,'disruptionsAllowed':2,'currentHealthy':4,"
           "'desiredHealthy':2,'expectedPods':4}}");
    budget_of(f, "db", "db", 0, 0, 0, 0); /* its controller has not seen a pod yet */
    budget_of(f, "idle", "idle", 1, 1, 0, 1);
    make(f, "w0", NULL);
    assert_int_equal(f->plan.n_budgets, 2); /* that of a node which stays is nothing to it */
    const struct plan_budget *db = &f->plan.budgets[0], *web = &f->plan.budgets[1];
    assert_string_equal(db->name, "default/db");
    assert_int_equal(db->spare, PLAN_NO_COUNT);
    assert_int_equal(db->needs, 0);
    assert_string_equal(web->name, "default/web");
    assert_string_equal(web->rule, "minAvailable 50%");
    assert_string_equal(web->selector, "!a,app=web");
    assert_string_equal(web->unhealthy, "AlwaysAllow");
    assert_int_equal(web->spare, 2);
    assert_int_equal(web->needs, 2);
}

/* Of those that go one after the other it needs one. */
static void it_needs_what_is_away_at_the_same_time(void **state) {
    struct plan_site *f = *state;
    nodes(f, 4);
    pods(f, "a", 2, "w0", "{}");
    pods(f, "b", 2, "w1", "{}");
    dw_budget(&f->w, "web", 1, 3, 2, 3);
    make(f, "w0", "w1", NULL);
    assert_int_equal(f->plan.budgets[0].spare, 1);
    assert_int_equal(f->plan.budgets[0].needs, 1);
    dw_budget(&f->w, "web", 4, 6, 2, 6);
    make(f, "w0", "w1", NULL);
    assert_int_equal(f->plan.budgets[0].needs, 4);
    /* The second node begins when the pods of the first have stopped. */
    f->w.opts.max_unavailable.value = 1;
    make(f, "w0", "w1", NULL);
    assert_int_equal(f->plan.budgets[0].needs, 2);
}

/* A replacement that has no room is away for ever. */
static void what_does_not_come_back_stays_away(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 0);
    pods(f, "a", 2, "w0", "{}");
    dw_budget(&f->w, "web", 1, 3, 2, 3);
    make(f, "w0", NULL);
    assert_int_equal(f->plan.budgets[0].needs, 1);
    dw_budget(&f->w, "web", 2, 4, 2, 4);
    make(f, "w0", NULL);
    assert_int_equal(f->plan.budgets[0].needs, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(of_each_what_it_asks_for),
        PLAN_TEST(it_needs_what_is_away_at_the_same_time),
        PLAN_TEST(what_does_not_come_back_stays_away),
    };
    return cmocka_run_group_tests_name("engine/plan_budgets", tests, NULL, NULL);
}
