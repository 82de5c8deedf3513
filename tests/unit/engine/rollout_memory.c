/* Tests of src/engine/rollout_memory.c: what is known of nodes whose Maintenances are gone. */
#include "support/rollout_world.h"

static void fleet(struct kw *w, unsigned n) {
    for (unsigned i = 1; i <= n; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%u", i);
        kw_node(w, name);
        kw_pod(w, name);
    }
    rw_start(w);
}

static void until(struct kw *w, const char *node, const char *phase) {
    for (unsigned i = 0; i < 2000 && !streq(rw_node(w, "kernel", node), phase); i++) {
        for (unsigned j = 0; j < w->n; j++)
            kw_round(&w->r[j]);
        kw_set_time(w, w->now.mono + MSEC(20));
    }
    assert_string_equal(rw_node(w, "kernel", node), phase);
    kw_pass(w, SEC(1)); /* and what follows from it */
}

static void until_over(struct kw *w) {
    for (unsigned i = 0; i < 300 && !streq(rw_phase(w, "kernel"), "Complete"); i++) {
        kw_pass(w, SEC(1));
        rw_machines(w);
    }
    assert_string_equal(rw_phase(w, "kernel"), "Complete");
}

static const char *status(struct kw *w, const char *what) {
    _cleanup_free_ char *path = xasprintf("status.%s", what);
    return dw_str(rw_doc(w, "kernel"), path);
}

static unsigned made(struct kw *w, const char *node) {
    _cleanup_free_ char *line = xasprintf("create maintenances kernel-%s\n", node);
    return dw_count(&w->wanted, line);
}

/* Whoever clears away what is over has no node rebooted again. */
static void a_node_that_is_done_stays_so(void **state) {
    struct kw *w = *state;
    fleet(w, 3);
    rw_rollout(w, "kernel", ",'nodes':['w[1-3]']");
    until(w, "w1", "Operating");
    assert_true(rw_machines(w));
    until(w, "w2", "Operating");
    assert_string_equal(rw_node(w, "kernel", "w1"), "Complete");
    kw_ask_delete(w, &kind_maintenance, "kernel-w1");
    kw_pass(w, SEC(5));
    assert_string_equal(rw_node(w, "kernel", "w1"), "");
    assert_int_equal(rw_count(w, "kernel", "complete"), 1);
    assert_string_equal(status(w, "doneNodes"), "w1");
    until_over(w);
    assert_int_equal(made(w, "w1"), 1);
    assert_int_equal(dw_count(&w->operated, "kernel-w1\n"), 1);
    assert_string_equal(status(w, "doneNodes"), "w[1-3]");
}

/* It cannot be called back, and is gone as soon as it is done. */
static void one_that_is_deleted_under_way_is_done_all_the_same(void **state) {
    struct kw *w = *state;
    fleet(w, 2);
    rw_rollout(w, "kernel", ",'nodes':['w[1-2]']");
    until(w, "w1", "Operating");
    kw_ask_delete(w, &kind_maintenance, "kernel-w1");
    until_over(w);
    assert_string_equal(rw_node(w, "kernel", "w1"), "");
    assert_int_equal(rw_count(w, "kernel", "complete"), 2);
    assert_int_equal(dw_count(&w->operated, "kernel-w1\n"), 1);
}

/* One that has ended is kept until its rollout has written that down. */
static void nothing_is_gone_before_it_is_remembered(void **state) {
    struct kw *w = *state;
    fleet(w, 2);
    rw_rollout(w, "kernel", ",'nodes':['w[1-2]']");
    until(w, "w1", "Operating");
    w->fault.verb = ACTION_PATCH;
    w->fault.kind = &kind_rollout;
    w->fault.outcome = KUBE_UNREACHABLE;
    w->fault.times = 1000;
    kw_ask_delete(w, &kind_maintenance, "kernel-w1");
    assert_true(rw_machines(w));
    kw_pass(w, SEC(60));
    assert_string_equal(rw_node(w, "kernel", "w1"), "Complete");
    w->fault.times = 0;
    until_over(w);
    assert_string_equal(rw_node(w, "kernel", "w1"), "");
    assert_int_equal(made(w, "w1"), 1);
}

/* Cancelled: that is given up, and no further node is begun. */
static void a_failure_is_not_forgotten(void **state) {
    struct kw *w = *state;
    fleet(w, 3);
    rw_rollout(w, "kernel", ",'nodes':['w[1-3]']");
    until(w, "w1", "Operating");
    keeper_operated(w->r[0].k, "kernel-w1", "no power");
    kw_pass(w, SEC(5));
    kw_ask_delete(w, &kind_maintenance, "kernel-w1");
    kw_pass(w, SEC(120));
    assert_string_equal(rw_node(w, "kernel", "w1"), "");
    assert_string_equal(status(w, "failedNodes"), "w1");
    assert_string_equal(rw_phase(w, "kernel"), "Failed");
    assert_int_equal(made(w, "w1") + made(w, "w2"), 1);
    /* Heard once. */
    kw_edit(w, &kind_rollout, NULL, "kernel",
            "{'metadata':{'annotations':{'" OWN_RETRY_ANNOTATION "':'now'}}}");
    until(w, "w1", "Operating");
    assert_string_equal(status(w, "failedNodes"), "");
    assert_string_equal(status(w, "retried"), "now");
    keeper_operated(w->r[0].k, "kernel-w1", "no power");
    kw_pass(w, SEC(5));
    kw_ask_delete(w, &kind_maintenance, "kernel-w1");
    kw_pass(w, SEC(120));
    assert_string_equal(status(w, "failedNodes"), "w1");
    assert_int_equal(made(w, "w1"), 2);
}

/* Nobody knows whether its node was told to go. */
static void one_that_is_taken_away_by_force_has_failed(void **state) {
    struct kw *w = *state;
    fleet(w, 2);
    rw_rollout(w, "kernel", ",'nodes':['w[1-2]']");
    until(w, "w1", "Operating");
    kw_pass(w, SEC(2));
    kw_delete(w, &kind_maintenance, NULL, "kernel-w1");
    kw_pass(w, SEC(60));
    assert_string_equal(status(w, "failedNodes"), "w1");
    assert_string_equal(rw_phase(w, "kernel"), "Failed");
    assert_int_equal(made(w, "w1"), 1);
}

/* Also when its status has never said that it was under way: whoever has seen it knows. */
static void one_that_is_taken_away_before_it_was_written_down(void **state) {
    struct kw *w = *state;
    fleet(w, 2);
    rw_rollout(w, "kernel", ",'nodes':['w[1-2]']");
    for (unsigned i = 0; i < 1000 && !made(w, "w1"); i++)
        kw_round(&w->r[0]);
    w->fault.verb = ACTION_PATCH;
    w->fault.kind = &kind_rollout;
    w->fault.outcome = KUBE_UNREACHABLE;
    w->fault.times = 1000;
    until(w, "w1", "Operating");
    assert_int_equal(json_array_size(dw_at(rw_doc(w, "kernel"), "status.current")), 0);
    kw_delete(w, &kind_maintenance, NULL, "kernel-w1");
    kw_pass(w, SEC(5));
    w->fault.times = 0;
    kw_pass(w, SEC(60));
    assert_string_equal(status(w, "failedNodes"), "w1");
    assert_int_equal(made(w, "w1"), 1);
}

/* What could not be made is not missed. */
static void one_that_could_not_be_made_has_not_failed(void **state) {
    struct kw *w = *state;
    fleet(w, 1);
    w->fault.verb = ACTION_CREATE;
    w->fault.kind = &kind_maintenance;
    w->fault.outcome = KUBE_UNREACHABLE;
    w->fault.times = 5;
    rw_rollout(w, "kernel", ",'nodes':['w1']");
    until_over(w);
    assert_string_equal(status(w, "failedNodes"), "");
}

/* Whoever takes over sees that the Maintenance is gone, and not yet what is remembered of it. */
static void a_new_leader_with_an_old_status_begins_nothing(void **state) {
    struct kw *w = *state;
    kw_done(w);
    kw_init(w, 2);
    fleet(w, 2);
    rw_rollout(w, "kernel", ",'nodes':['w[1-2]'],'soak':'10m'");
    until(w, "w1", "Operating");
    w->r[1].late[KW_ROLLOUTS] = true;
    assert_true(rw_machines(w));
    until(w, "w1", "Complete");
    kw_pass(w, SEC(5));
    kw_ask_delete(w, &kind_maintenance, "kernel-w1");
    kw_pass(w, SEC(5));
    assert_string_equal(rw_node(w, "kernel", "w1"), "");
    kw_kill(w, 0);
    keeper_lead(w->r[1].k, 2);
    kw_lead_rollouts(w, 1);
    kw_pass(w, SEC(60));
    assert_int_equal(made(w, "w1"), 1);
    w->r[1].late[KW_ROLLOUTS] = false;
    kw_pass(w, SEC(30));
    /* And what is gone has soaked no less. */
    assert_string_equal(rw_blocker(w, "kernel"), "SoakTime");
    for (unsigned i = 0; i < 80; i++) {
        kw_pass(w, SEC(10));
        kw_renew(w, "w1");
        kw_renew(w, "w2");
    }
    assert_string_equal(rw_node(w, "kernel", "w2"), "Operating");
    assert_int_equal(made(w, "w1"), 1);
}

/* Nobody guesses what is meant by what somebody has written there. */
static void a_status_that_cannot_be_read_begins_nothing(void **state) {
    struct kw *w = *state;
    fleet(w, 2);
    rw_rollout(w, "kernel", ",'nodes':['w[1-2]']");
    kw_edit(w, &kind_rollout, NULL, "kernel", "{'status':{'doneNodes':'w[1-'}}");
    kw_pass(w, SEC(60));
    assert_int_equal(made(w, "w1"), 0);
    assert_string_equal(rw_phase(w, "kernel"), "Failed");
    assert_string_equal(status(w, "doneNodes"), "w[1-");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, kw_setup, kw_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_node_that_is_done_stays_so),
        TEST(one_that_is_deleted_under_way_is_done_all_the_same),
        TEST(nothing_is_gone_before_it_is_remembered),
        TEST(a_failure_is_not_forgotten),
        TEST(one_that_is_taken_away_by_force_has_failed),
        TEST(one_that_is_taken_away_before_it_was_written_down),
        TEST(one_that_could_not_be_made_has_not_failed),
        TEST(a_new_leader_with_an_old_status_begins_nothing),
        TEST(a_status_that_cannot_be_read_begins_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
