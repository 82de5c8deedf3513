/* Tests of src/engine/drain_block.c: blockers begin, last and end, and each is told once. */
#include "engine/drain.h"

#include "support/drain_world.h"

/* Pods p0, p1, ... of one budget that says no. */
static void begin(struct drain_world *w, int n) {
    dw_node(w, "w0");
    for (int i = 0; i < n; i++) {
        char name[8];
        snprintf(name, sizeof name, "p%d", i);
        dw_pod(w, name, "w0", "{}");
    }
    dw_budget(w, "web", 0, n, n - 1, n);
    dw_start(w, "w0", NULL);
}

#define allow(w, n) dw_edit_budget(w, "web", "{'status':{'disruptionsAllowed':%d}}", n)

/* What ends by itself in a moment is no news. */
static void what_passes_quickly_is_not_told(void **state) {
    struct drain_world *w = *state;
    begin(w, 1);
    assert_blocked(w, "p0", BLOCKER_PDB_NO_BUDGET); /* but it can be read at any time */
    dw_pass(w, MSEC(2900));
    allow(w, 1);
    dw_settle(w);
    dw_accept(w, ACTION_EVICT, "p0");
    dw_pass(w, SEC(20));
    assert_int_equal(dw_told(w, "blocked"), 0);
}

static void what_lasts_is_told_once_and_so_is_its_end(void **state) {
    struct drain_world *w = *state;
    begin(w, 1);
    int64_t since = w->now.wall;
    dw_pass(w, SEC(3));
    assert_int_equal(dw_told(w, "blocked PDBNoBudget default/web"), 1);
    for (int i = 0; i < 5; i++) { /* the numbers change, the reason does not */
        dw_edit_budget(w, "web", "{'status':{'currentHealthy':%d}}", i);
        dw_pass(w, SEC(5));
    }
    assert_int_equal(dw_told(w, "blocked"), 1);
    assert_int_equal(dw_pod_view(w, "p0")->blocker.since, since);
    assert_non_null(strstr(dw_pod_view(w, "p0")->blocker.message, "has 4"));
    allow(w, 1);
    dw_settle(w);
    dw_accept(w, ACTION_EVICT, "p0");
    dw_settle(w);
    assert_int_equal(dw_told(w, "unblocked PDBNoBudget default/web"), 1);
    assert_int_equal(dw_told(w, "blocked"), 2);
    assert_false(dw_pod_view(w, "p0")->blocked);
}

/* What somebody must do something about is told at once. */
static void what_does_not_pass_is_told_at_once(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{'metadata':{'annotations':{'karpenter.sh/do-not-disrupt':'true'}}}");
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_told(w, "blocked DoNotDisrupt default/a"), 1);
}

static void pods_that_wait_for_the_same_are_told_together(void **state) {
    struct drain_world *w = *state;
    begin(w, 4);
    dw_pass(w, SEC(10));
    assert_int_equal(dw_told(w, "blocked"), 1);
    assert_int_equal(dw_view(w, 0)->blocked_pods, 4);
    allow(w, 2);
    dw_settle(w);
    dw_accept(w, ACTION_EVICT, "p0");
    dw_accept(w, ACTION_EVICT, "p1");
    allow(w, 0);
    dw_settle(w);
    assert_int_equal(dw_view(w, 0)->blocked_pods, 2);
    assert_int_equal(dw_told(w, "unblocked"), 0); /* two are left */
    allow(w, 2);
    dw_settle(w);
    dw_accept(w, ACTION_EVICT, "p2");
    dw_settle(w);
    assert_int_equal(dw_told(w, "unblocked"), 0);
    dw_accept(w, ACTION_EVICT, "p3");
    dw_settle(w);
    assert_int_equal(dw_told(w, "unblocked"), 1);
    assert_int_equal(dw_view(w, 0)->blocked_pods, 0);
}

static void each_node_tells_for_itself(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w1");
    dw_pod(w, "q", "w1", "{}");
    dw_node(w, "w0");
    dw_pod(w, "p", "w0", "{}");
    dw_budget(w, "web", 0, 2, 1, 2);
    dw_start(w, "w0", "w1", NULL);
    dw_pass(w, SEC(3));
    assert_int_equal(dw_told(w, "blocked PDBNoBudget default/web"), 2);
}

static void another_reason_ends_the_first(void **state) {
    struct drain_world *w = *state;
    begin(w, 1);
    dw_pass(w, SEC(5));
    dw_edit_budget(w, "web", "{'spec':{'maxUnavailable':0}}");
    dw_settle(w);
    assert_blocked(w, "p0", BLOCKER_PDB_UNSATISFIABLE);
    assert_int_equal(dw_pod_view(w, "p0")->blocker.since, w->now.wall);
    assert_int_equal(dw_told(w, "unblocked PDBNoBudget default/web"), 1);
    assert_int_equal(dw_told(w, "blocked PDBUnsatisfiable default/web"), 1);
    assert_int_equal(dw_view(w, 0)->blocked_pods, 1);
}

/* On and off, each time long enough to be told. */
static void the_same_reason_again_is_told_again(void **state) {
    struct drain_world *w = *state;
    begin(w, 3);
    for (unsigned i = 1; i <= 3; i++) {
        char name[8];
        snprintf(name, sizeof name, "p%u", i - 1);
        dw_pass(w, SEC(4));
        allow(w, 1);
        dw_settle(w);
        dw_accept(w, ACTION_EVICT, name);
        allow(w, 0);
        dw_settle(w);
    }
    /* The group did not end in between: there were always some that waited. */
    assert_int_equal(dw_told(w, "unblocked"), 1);
    assert_int_equal(dw_told(w, "blocked"), 2);
}

static void attempts_are_counted(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    for (unsigned i = 1; i <= 4; i++) {
        dw_reply(w, ACTION_EVICT, "a", KUBE_NOT_YET, -1);
        dw_settle(w);
        dw_pass(w, SEC(45));
        assert_int_equal(dw_pod_view(w, "a")->blocker.attempts, i);
    }
}

/* --- Events of what lasts --- */

/* Nobody finds it by looking at objects. */
static void a_webhook_that_refuses_is_recorded_soon(void **state) {
    struct drain_world *w = *state;
    w->opts.keep_record = true;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    unsigned before = dw_asked(w, "create events");
    dw_reply(w, ACTION_EVICT, "a", KUBE_DENIED, -1);
    dw_pass(w, MSEC(2900));
    assert_int_equal(dw_asked(w, "create events"), before);
    dw_pass(w, MSEC(200));
    assert_int_equal(dw_asked(w, "create events"), before + 1);
}

/* It does not end by itself: nothing is gained by waiting. */
static void a_budget_that_lets_none_go_is_recorded_soon(void **state) {
    struct drain_world *w = *state;
    w->opts.keep_record = true;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{'metadata':{'labels':{'app':'web'}}}");
    dw_put(w, &kind_pdb,
           "{'metadata':{'name':'web','namespace':'default','generation':1},'spec':{"
           "'maxUnavailable':0,'selector':{'matchLabels':{'app':'web'}}},'status':{"
           "'observedGeneration':1,'currentHealthy':1,'desiredHealthy':1,'expectedPods':1,"
           "'disruptionsAllowed':0}}");
    dw_start(w, "w0", NULL);
    unsigned before = dw_asked(w, "create events");
    dw_pass(w, MSEC(2900));
    assert_int_equal(dw_pod_view(w, "a")->blocker.code, BLOCKER_PDB_UNSATISFIABLE);
    assert_int_equal(dw_asked(w, "create events"), before);
    dw_pass(w, MSEC(200));
    assert_int_equal(dw_asked(w, "create events"), before + 1);
}

static void a_blocker_that_lasts_a_minute_is_recorded_and_so_is_its_end(void **state) {
    struct drain_world *w = *state;
    w->opts.keep_record = true;
    begin(w, 2);
    unsigned before = dw_asked(w, "create events");
    w->by_hand_minor = true;
    dw_pass(w, SEC(59));
    assert_int_equal(dw_asked(w, "create events"), before);
    dw_pass(w, SEC(1));
    assert_int_equal(dw_asked(w, "create events"), before + 1);
    struct action *a = NULL;
    for (size_t i = 0; i < w->open.len; i++)
        if (w->open.p[i].verb == ACTION_CREATE)
            a = &w->open.p[i];
    assert_non_null(a);
    assert_non_null(strstr(a->body, "\"DrainBlocked\""));
    assert_non_null(strstr(a->body, "\"Warning\""));
    assert_non_null(strstr(a->body, "PDBNoBudget default/web"));
    w->by_hand_minor = false;
    for (int i = 0; i < 100; i++) { /* probes are refused: that is nothing new */
        if (dw_under_way(w, ACTION_EVICT))
            dw_reply(w, ACTION_EVICT, w->open.p[0].name, KUBE_PDB_NO_BUDGET, -1);
        dw_pass(w, SEC(10));
    }
    assert_int_equal(dw_asked(w, "create events"), before + 1);
    allow(w, 2);
    dw_settle(w);
    while (dw_under_way(w, ACTION_EVICT)) {
        _cleanup_free_ char *name = xstrdup(w->open.p[0].name);
        dw_accept(w, ACTION_EVICT, name);
        dw_settle(w);
    }
    dw_pass(w, SEC(1));
    assert_int_equal(dw_asked(w, "create events"), before + 2); /* DrainUnblocked */
}

static void waiting_for_room_is_not_recorded(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w1");
    w->opts.keep_record = true;
    w->opts.max_unavailable.value = 1;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", "w1", NULL);
    dw_pass(w, SEC(3600));
    assert_int_equal(dw_asked(w, "create events default/w1."), 0);
}

static void a_node_that_waits_is_recorded_once(void **state) {
    struct drain_world *w = *state;
    w->opts.keep_record = true;
    dw_node(w, "w0");
    dw_put(w, &kind_volume_attachment,
           "{'metadata':{'name':'va'},'spec':{'attacher':'x','nodeName':'w0','source':"
           "{'persistentVolumeName':'pv-1'}},'status':{'attached':true}}");
    dw_start(w, "w0", NULL);
    unsigned before = dw_asked(w, "create events");
    dw_pass(w, SEC(3600));
    assert_int_equal(dw_asked(w, "create events"), before + 1);
    assert_int_equal(dw_told(w, "blocked VolumeStillAttached va"), 1);
    assert_true(w->steps < 50); /* and nobody is busy meanwhile */
}

/* A drain without anybody who listens is a drain all the same. */
static void nobody_needs_to_listen(void **state) {
    struct drain_world *w = *state;
    const char *names[] = {"w0"};
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_budget(w, "web", 0, 1, 1, 2);
    w->d = drain_new(&w->opts, &w->c, names, 1, NULL, NULL);
    dw_pass(w, SEC(20));
    assert_blocked(w, "a", BLOCKER_PDB_NO_BUDGET);
    w->obedient = true;
    allow(w, 1);
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DRAIN_TEST(what_passes_quickly_is_not_told),
        DRAIN_TEST(what_lasts_is_told_once_and_so_is_its_end),
        DRAIN_TEST(what_does_not_pass_is_told_at_once),
        DRAIN_TEST(pods_that_wait_for_the_same_are_told_together),
        DRAIN_TEST(each_node_tells_for_itself),
        DRAIN_TEST(another_reason_ends_the_first),
        DRAIN_TEST(the_same_reason_again_is_told_again),
        DRAIN_TEST(attempts_are_counted),
        DRAIN_TEST(a_webhook_that_refuses_is_recorded_soon),
        DRAIN_TEST(a_budget_that_lets_none_go_is_recorded_soon),
        DRAIN_TEST(a_blocker_that_lasts_a_minute_is_recorded_and_so_is_its_end),
        DRAIN_TEST(waiting_for_room_is_not_recorded),
        DRAIN_TEST(a_node_that_waits_is_recorded_once),
        DRAIN_TEST(nobody_needs_to_listen),
    };
    return cmocka_run_group_tests_name("engine/drain_block", tests, NULL, NULL);
}
