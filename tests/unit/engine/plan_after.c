/* Tests of src/engine/plan_after.c: a node is drained when the owners of its pods are well again.
 */
#include "plan_site.h"

/* Of the pods of dw_pod(). */
static void set_of(struct plan_site *f, int replicas, int available) {
    dw_put(&f->w, &kind_replica_set,
           "{'metadata':{'namespace':'default','name':'web','uid':'rs-web'},"
           "'spec':{'replicas':%d},'status':{'availableReplicas':%d}}",
           replicas, available);
    f->w.opts.wait_rescheduled = true;
}

static void a_node_waits_for_replacements(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    set_of(f, 1, 1);
    f->times.start = SEC(30);
    make(f, "w0", NULL);
    assert_int_equal(pod_of(f, "a")->gone, SEC(10));
    assert_int_equal(node_of(f, "w0")->ends, SEC(30));
    f->w.opts.timeout = SEC(20);
    make(f, "w0", NULL);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_UNSURE);
    assert_int_equal(node_of(f, "w0")->blocker.code, BLOCKER_NOT_RESCHEDULED);
    assert_non_null(strstr(node_of(f, "w0")->blocker.message,
                           "the replacement of a runs, which does not in time; its node is given "
                           "up after 20s"));
    f->w.opts.timeout = 0;
    f->w.opts.wait_rescheduled = false;
    make(f, "w0", NULL);
    assert_int_equal(node_of(f, "w0")->ends, SEC(10));
}

/* It keeps its place as long. */
static void the_next_one_comes_after_that(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "b", "w1", "{}");
    set_of(f, 2, 2);
    f->times.start = SEC(30);
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.in_order = true;
    make(f, "w0", "w1", NULL);
    assert_int_equal(node_of(f, "w1")->begins, SEC(30));
}

static void without_room_it_is_not_drained(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 1);
    dw_pod(&f->w, "x", "w1", "{'metadata':{'labels':{'app':'x'}}}");
    dw_pod(&f->w, "a", "w0", "{}");
    set_of(f, 2, 2);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_UNSURE);
    assert_int_equal(node_of(f, "w0")->ends, PLAN_NO_TIME);
    assert_int_equal(f->plan.makespan, PLAN_NO_TIME);
    assert_int_equal(node_of(f, "w0")->blocker.code, BLOCKER_NOT_RESCHEDULED);
    assert_non_null(strstr(node_of(f, "w0")->blocker.message, "the replacement of a runs, which "
                                                              "fits nowhere"));
}

/* As drains do it: what can only come back to the node is not waited for; nor is what nobody makes
 * again. */
static void who_cannot_come_elsewhere_is_not_waited_for(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{'spec':{'nodeSelector':{'kubernetes.io/hostname':'w0'}}}");
    set_of(f, 1, 1);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_int_equal(node_of(f, "w0")->ends, SEC(10));
    dw_remove(&f->w, &kind_replica_set, "default", "web");
    dw_pod(&f->w, "a", "w0", "{}");
    f->times.start = SEC(30);
    make(f, "w0", NULL);
    assert_int_equal(node_of(f, "w0")->ends, SEC(10));
}

static void an_owner_that_is_not_well_before_is_told(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "b", "w1",
           "{'status':{'conditions':[{'type':'Ready','status':'False'}],'containerStatuses':"
           "[{'name':'c','restartCount':7,'state':{'waiting':{'reason':'CrashLoopBackOff'}}}]}}");
    set_of(f, 2, 1);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_UNSURE);
    assert_string_equal(node_of(f, "w0")->blocker.object, "default/web");
    assert_non_null(strstr(node_of(f, "w0")->blocker.message, "1 of 2 replicas are available"));
    dw_edit_pod(&f->w, "b", "{'status':{'containerStatuses':null}}"); /* it has just begun */
    make(f, "w0", NULL);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_GOES);
}

/* One place for two: which node is done is chance. */
static void who_gets_the_last_place_is_chance(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 110);
    node(f, "w2", 1);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "b", "w1", "{}");
    set_of(f, 2, 2);
    make(f, "w0", "w1", NULL);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_UNSURE);
    assert_int_equal(node_of(f, "w1")->verdict, PLAN_UNSURE);
    assert_non_null(strstr(node_of(f, "w0")->blocker.message, PLAN_IS_CHANCE));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(a_node_waits_for_replacements),
        PLAN_TEST(the_next_one_comes_after_that),
        PLAN_TEST(without_room_it_is_not_drained),
        PLAN_TEST(who_cannot_come_elsewhere_is_not_waited_for),
        PLAN_TEST(an_owner_that_is_not_well_before_is_told),
        PLAN_TEST(who_gets_the_last_place_is_chance),
    };
    return cmocka_run_group_tests_name("engine/plan_after", tests, NULL, NULL);
}
