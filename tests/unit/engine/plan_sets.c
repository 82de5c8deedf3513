/* Tests of src/engine/plan_sets.c: StatefulSets that make one pod after the other. */
#include "plan_site.h"

#define DB "{'metadata':{'labels':{'app':'db'}," DW_OWNER("apps/v1", "StatefulSet", "db") "}%s}"

static void set(struct plan_site *f, const char *policy, int min_ready) {
    dw_put(&f->w, &kind_stateful_set,
           "{'metadata':{'namespace':'default','name':'db','uid':'uid-db'},'spec':{'replicas':3,"
           "'podManagementPolicy':'%s','minReadySeconds':%d}}",
           policy, min_ready);
}

/* Three of them on w0, which stop in ten seconds and start in five; room for so many on w1. */
static void site(struct plan_site *f, const char *policy, int room) {
    node(f, "w0", 110);
    node(f, "w1", room);
    set(f, policy, 0);
    dw_pod(&f->w, "db-0", "w0", DB, "");
    dw_pod(&f->w, "db-1", "w0", DB, "");
    dw_pod(&f->w, "db-2", "w0", DB, "");
}

static void one_after_the_other(void **state) {
    struct plan_site *f = *state;
    site(f, "OrderedReady", 110);
    make(f, "w0", NULL);
    for (int i = 0; i < 3; i++) {
        char name[8];
        snprintf(name, sizeof name, "db-%d", i);
        assert_verdict(f, name, PLAN_GOES);
        assert_int_equal(pod_of(f, name)->gone, SEC(10));
        assert_int_equal(pod_of(f, name)->back, SEC(15 + 5 * i));
    }
    set(f, "OrderedReady", 30); /* ready for so long before the next is made */
    make(f, "w0", NULL);
    assert_int_equal(pod_of(f, "db-2")->back, SEC(15 + 2 * 35));
    set(f, "Parallel", 0);
    make(f, "w0", NULL);
    assert_int_equal(pod_of(f, "db-2")->back, SEC(15));
}

/* What is not made is not Pending either, and nobody finds a message of the scheduler about it. */
static void behind_one_without_room_none_is_made(void **state) {
    struct plan_site *f = *state;
    site(f, "OrderedReady", 1);
    make(f, "w0", NULL);
    assert_verdict(f, "db-0", PLAN_GOES);
    assert_verdict(f, "db-1", PLAN_HOMELESS);
    assert_code(f, "db-1", BLOCKER_NO_ROOM);
    assert_verdict(f, "db-2", PLAN_HOMELESS);
    assert_code(f, "db-2", BLOCKER_NOT_RESCHEDULED);
    assert_string_equal(pod_of(f, "db-2")->blocker.object, "default/db-1");
    assert_says(f, "db-2", "its replacement is made after db-1, which fits nowhere");
    assert_string_equal(pod_of(f, "db-2")->blocker.help, "1 pod more on w1 would do");
    assert_int_equal(pod_of(f, "db-2")->back, PLAN_NO_TIME);
    assert_int_equal(f->plan.makespan, SEC(10)); /* the node is drained all the same */
    set(f, "Parallel", 0);
    make(f, "w0", NULL);
    assert_code(f, "db-2", BLOCKER_NO_ROOM);
}

/* A pod of another node that is not ready, and nobody knows when it will be. */
static void behind_one_that_is_sick_none_is_made(void **state) {
    struct plan_site *f = *state;
    site(f, "OrderedReady", 110);
    dw_remove(&f->w, &kind_pod, "default", "db-0");
    dw_pod(&f->w, "db-0", "w1", DB,
           ",'status':{'conditions':[{'type':'Ready','status':'False'}],'containerStatuses':[{"
           "'name':'c','restartCount':4}]}");
    make(f, "w0", NULL);
    assert_verdict(f, "db-1", PLAN_HOMELESS);
    assert_code(f, "db-1", BLOCKER_NOT_RESCHEDULED);
    assert_says(f, "db-1", "its replacement is made after db-0, which is not ready");
    assert_code(f, "db-2", BLOCKER_NOT_RESCHEDULED);
    assert_string_equal(pod_of(f, "db-2")->blocker.object, "default/db-0");
}

/* One that has just been made will be: the others follow. */
static void behind_one_that_starts_they_wait(void **state) {
    struct plan_site *f = *state;
    site(f, "OrderedReady", 110);
    dw_remove(&f->w, &kind_pod, "default", "db-0");
    dw_pod(&f->w, "db-0", "w1", DB, ",'status':{'conditions':[{'type':'Ready','status':'False'}]}");
    make(f, "w0", NULL);
    assert_verdict(f, "db-1", PLAN_GOES);
    assert_true(pod_of(f, "db-1")->back >= SEC(15));
    assert_int_equal(pod_of(f, "db-2")->back, pod_of(f, "db-1")->back + SEC(5));
}

/* What was spent on one that is not made is not given back, and those that wait wait for ever. */
static void its_budget_runs_dry(void **state) {
    struct plan_site *f = *state;
    site(f, "OrderedReady", 1);
    dw_pod(&f->w, "db-3", "w0", DB, "");
    budget_of(f, "db", "db", 3, 4, 1, 4);
    make(f, "w0", NULL);
    assert_verdict(f, "db-0", PLAN_GOES);
    assert_code(f, "db-1", BLOCKER_NO_ROOM);
    assert_code(f, "db-2", BLOCKER_NOT_RESCHEDULED);
    /* db-0 is back and gives its own */
    assert_verdict(f, "db-3", PLAN_HOMELESS);
    budget_of(f, "db", "db", 2, 4, 2, 4);
    make(f, "w0", NULL);
    assert_verdict(f, "db-0", PLAN_GOES);
    assert_code(f, "db-1", BLOCKER_NO_ROOM);
    assert_code(f, "db-2", BLOCKER_NOT_RESCHEDULED);
    assert_verdict(f, "db-3", PLAN_NEVER);
    assert_code(f, "db-3", BLOCKER_PDB_NO_BUDGET);
    assert_says(f, "db-3", "fits nowhere");
    assert_string_equal(pod_of(f, "db-3")->blocker.help,
                        "until there is room for the replacement: 1 pod more on w1 would do");
}

/* A name that no StatefulSet gives has no place in the order. */
static void names_of_others_do_not_count(void **state) {
    struct plan_site *f = *state;
    site(f, "OrderedReady", 110);
    dw_remove(&f->w, &kind_pod, "default", "db-0");
    dw_pod(&f->w, "db-0x", "w0", DB, "");
    make(f, "w0", NULL);
    assert_verdict(f, "db-0x", PLAN_GOES);
    assert_int_equal(pod_of(f, "db-0x")->back, SEC(15));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(one_after_the_other),
        PLAN_TEST(behind_one_without_room_none_is_made),
        PLAN_TEST(behind_one_that_is_sick_none_is_made),
        PLAN_TEST(behind_one_that_starts_they_wait),
        PLAN_TEST(its_budget_runs_dry),
        PLAN_TEST(names_of_others_do_not_count),
    };
    return cmocka_run_group_tests_name("engine/plan_sets", tests, NULL, NULL);
}
