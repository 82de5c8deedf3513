/* Tests of src/engine/drain_look.c: what is looked at before anything is touched. Dry runs are in
 * drain_evict.c. */
#include "engine/drain.h"

#include "support/drain_world.h"

static json_t *node_doc(struct drain_world *w, const char *name) {
    return dw_doc(w, &kind_node, NULL, name);
}

static bool cordoned(struct drain_world *w, const char *name) {
    return json_is_true(dw_at(node_doc(w, name), "spec.unschedulable"));
}

static void pods_that_need_a_flag_are_named_as_kubectl_does(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "alone", "w0", DW_BARE);
    dw_pod(w, "bare", "w0", DW_BARE);
    dw_pod(w, "data", "w0", "{'spec':{'volumes':[{'name':'v','emptyDir':{}}]}}");
    dw_pod(w, "fine", "w0", "{}");
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_REFUSED);
    assert_string_equal(dw_view(w, 0)->error,
                        "[cannot delete Pods that declare no controller (use --force to override): "
                        "default/alone, default/bare, cannot delete Pods with local storage (use "
                        "--delete-emptydir-data to override): default/data]");
    assert_wanted(w, "patch nodes w0\n"); /* nothing is evicted */
    assert_true(cordoned(w, "w0"));
    assert_int_equal(dw_told(w, "warning"), 0);
    assert_state(w, "alone", DRAIN_POD_REFUSED);
    assert_true(drain_over(w->d));
}

static void warnings_are_one_line(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    w->opts.force = true;
    w->opts.delete_emptydir = true;
    dw_put(w, &kind_daemon_set, "{'metadata':{'namespace':'default','name':'agent'}}");
    dw_pod(w, "bare1", "w0", DW_BARE);
    dw_pod(w, "bare2", "w0", DW_BARE);
    dw_pod(w, "d", "w0", "{'metadata':{" DW_OWNER("apps/v1", "DaemonSet", "agent") "}}");
    dw_pod(w, "data", "w0", "{'spec':{'volumes':[{'name':'v','emptyDir':{}}]}}");
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_told(w, "warning w0: deleting Pods that declare no controller: "
                                "default/bare1, default/bare2; ignoring DaemonSet-managed Pods: "
                                "default/d; deleting Pods with local storage: default/data\n"),
                     1);
    assert_int_equal(dw_told(w, "warning"), 1);
}

/* A server that does not answer must not make the check last for ever, nor silently. */
static void the_timeout_bounds_the_check_too(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "d", "w0", "{'metadata':{" DW_OWNER("apps/v1", "DaemonSet", "agent") "}}");
    w->opts.timeout = SEC(60);
    w->by_hand_reads = true;
    dw_start(w, "w0", NULL);
    for (int i = 0; i < 61; i++) {
        if (dw_under_way(w, ACTION_READ))
            dw_reply(w, ACTION_READ, "agent", KUBE_SERVER_ERROR, -1);
        dw_pass(w, SEC(1));
        if (i == 30) {
            assert_phase(w, 0, DRAIN_CHECKING);
            assert_true(dw_view(w, 0)->blocked);
            assert_int_equal(dw_view(w, 0)->blocker.code, BLOCKER_SERVER_TROUBLE);
        }
    }
    assert_phase(w, 0, DRAIN_TIMED_OUT);
}

/* As kubectl does: what leaves one node is not put on another that is about to be drained. */
static void all_are_cordoned_before_anything_is_evicted(void **state) {
    (void)state;
    for (int stuck = 0; stuck < 2; stuck++) {
        struct drain_world w;
        dw_init(&w);
        dw_node(&w, "w0");
        dw_node(&w, "w1");
        dw_pod(&w, "a", "w0", "{}");
        dw_pod(&w, "b", "w1", "{}");
        w.by_hand_cordon = true;
        dw_start(&w, "w0", "w1", NULL);
        dw_patched(&w, dw_open(&w, ACTION_PATCH, "w0"), true);
        dw_settle(&w);
        assert_phase(&w, 0, DRAIN_CHECKING);
        assert_int_equal(dw_asked(&w, "evict"), 0);
        assert_false(dw_view(&w, 0)->blocked); /* they are cordoned one after the other */
        if (stuck) {
            dw_pass(&w, SEC(2));
            assert_true(dw_view(&w, 0)->blocked);
            dw_pass(&w, SEC(4)); /* one that cannot be cordoned holds up nobody */
        } else {
            dw_patched(&w, dw_open(&w, ACTION_PATCH, "w1"), true);
            dw_settle(&w);
        }
        assert_phase(&w, 0, DRAIN_EVICTING);
        assert_int_equal(dw_asked(&w, "evict default/a"), 1);
        assert_int_equal(dw_asked(&w, "evict default/b"), !stuck);
        dw_done(&w);
    }
}

/* Those that begin later wait for nobody that is stuck. */
static void a_node_that_cannot_be_cordoned_holds_up_nobody_later(void **state) {
    struct drain_world *w = *state;
    w->opts.max_unavailable.value = 2;
    for (int i = 0; i < 5; i++)
        dw_node(w, (const char *const[]){"w0", "w1", "w2", "w3", "w4"}[i]);
    w->by_hand_cordon = true;
    dw_start(w, "w0", "w1", "w2", "w3", "w4", NULL);
    dw_reply(w, ACTION_PATCH, "w0", KUBE_DENIED, -1);
    dw_settle(w);
    dw_patched(w, dw_open(w, ACTION_PATCH, "w1"), true);
    dw_pass(w, SEC(6));
    assert_phase(w, 1, DRAIN_DONE);
    for (int i = 2; i < 5; i++) {
        dw_patched(w, dw_open(w, ACTION_PATCH, (const char *const[]){"w2", "w3", "w4"}[i - 2]),
                   true);
        dw_settle(w);
        assert_phase(w, i, DRAIN_DONE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DRAIN_TEST(pods_that_need_a_flag_are_named_as_kubectl_does),
        DRAIN_TEST(warnings_are_one_line),
        DRAIN_TEST(the_timeout_bounds_the_check_too),
        cmocka_unit_test(all_are_cordoned_before_anything_is_evicted),
        DRAIN_TEST(a_node_that_cannot_be_cordoned_holds_up_nobody_later),
    };
    return cmocka_run_group_tests_name("engine/drain_look", tests, NULL, NULL);
}
