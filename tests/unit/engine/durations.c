/* Tests of src/engine/durations.c: how long pods take, from those that are there. */
#include "engine/durations.h"

#include "support/drain_world.h"

/* A pod of the ReplicaSet web that was ready so many seconds after it was made. */
static void sibling(struct drain_world *w, const char *name, int seconds) {
    char made[TIMEFMT_LEN], ready[TIMEFMT_LEN];
    time_format(w->now.wall - SEC(100000), false, made);
    time_format(w->now.wall - SEC(100000) + SEC(seconds), false, ready);
    dw_pod(w, name, "w0",
           "{'metadata':{'creationTimestamp':'%s'},'status':{'conditions':[{'type':'Ready',"
           "'status':'True','lastTransitionTime':'%s'}]}}",
           made, ready);
}

static struct pod_durations of(struct drain_world *w, const char *name) {
    struct durations *t = durations_new(w->c.pods);
    struct pod_durations d =
        durations_of(t, (const struct pod *)store_get(w->c.pods, "default", name));
    durations_free(t);
    return d;
}

static void the_middle_of_the_siblings(void **state) {
    struct drain_world *w = *state;
    sibling(w, "a", 40);
    assert_int_equal(of(w, "a").start, SEC(40));
    assert_true(of(w, "a").seen);
    sibling(w, "b", 3);
    sibling(w, "c", 7);
    assert_int_equal(of(w, "a").start, SEC(7));
    sibling(w, "d", 900); /* one that hung for long does not spoil it */
    sibling(w, "e", 6);
    assert_int_equal(of(w, "b").start, SEC(7));
}

/* Readiness came when it was restarted: that is no start. */
static void what_was_restarted_does_not_count(void **state) {
    struct drain_world *w = *state;
    sibling(w, "a", 5);
    sibling(w, "b", 3000);
    dw_edit_pod(w, "b", "{'status':{'containerStatuses':[{'name':'c','restartCount':2}]}}");
    sibling(w, "c", 3100);
    dw_edit_pod(w, "c",
                "{'status':{'containerStatuses':[{'name':'c','restartCount':0},"
                "{'name':'d','restartCount':1}]}}");
    assert_int_equal(of(w, "b").start, SEC(5));
}

static void neither_does_what_makes_no_sense(void **state) {
    struct drain_world *w = *state;
    sibling(w, "before-it-was-made", -5);
    sibling(w, "longer-than-an-hour", 3601);
    sibling(w, "unready", 5);
    dw_edit_pod(w, "unready",
                "{'status':{'conditions':[{'type':'Ready','status':'False',"
                "'lastTransitionTime':'2026-11-15T07:00:00Z'}]}}");
    sibling(w, "no-time", 5);
    dw_edit_pod(w, "no-time", "{'status':{'conditions':[{'type':'Ready','status':'True'}]}}");
    sibling(w, "not-made", 5);
    dw_edit_pod(w, "not-made", "{'metadata':{'creationTimestamp':null}}");
    assert_false(of(w, "no-time").seen);
    assert_int_equal(of(w, "no-time").start, ASSUMED_START);
    sibling(w, "an-hour", 3600);
    assert_int_equal(of(w, "no-time").start, SEC(3600));
}

/* Others of the same name and kind are none: the UID tells. */
static void others_are_no_siblings(void **state) {
    struct drain_world *w = *state;
    sibling(w, "a", 77);
    dw_pod(w, "b", "w0",
           "{'metadata':{'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':"
           "'web','uid':'another','controller':true}]}}");
    dw_pod(w, "bare", "w0", DW_BARE);
    assert_int_equal(of(w, "b").start, ASSUMED_START);
    assert_false(of(w, "b").seen);
    assert_int_equal(of(w, "bare").start, ASSUMED_START);
    assert_false(of(w, "bare").seen);
}

/* Of thousands a part is enough, and the middle is still one of them. */
static void many_siblings(void **state) {
    struct drain_world *w = *state;
    for (int i = 0; i < 300; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        sibling(w, name, 20 + i % 3);
    }
    int64_t start = of(w, "p0").start;
    assert_true(start >= SEC(20) && start <= SEC(22));
}

/* A pod stops within its grace period, but hardly in more than ten seconds. */
static void the_stop_is_the_grace_period_or_ten_seconds(void **state) {
    struct drain_world *w = *state;
    static const struct {
        const char *grace;
        int64_t stop;
    } cases[] = {{"30", SEC(10)}, {"10", SEC(10)}, {"4", SEC(4)},
                 {"0", 0},        {"-7", 0},       {"null", SEC(10)}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        dw_pod(w, "a", "w0", "{'spec':{'terminationGracePeriodSeconds':%s}}", cases[i].grace);
        assert_int_equal(of(w, "a").stop, cases[i].stop);
    }
    durations_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DRAIN_TEST(the_middle_of_the_siblings),
        DRAIN_TEST(what_was_restarted_does_not_count),
        DRAIN_TEST(neither_does_what_makes_no_sense),
        DRAIN_TEST(others_are_no_siblings),
        DRAIN_TEST(many_siblings),
        DRAIN_TEST(the_stop_is_the_grace_period_or_ten_seconds),
    };
    return cmocka_run_group_tests_name("engine/durations", tests, NULL, NULL);
}
