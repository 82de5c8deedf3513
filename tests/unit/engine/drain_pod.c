/* Tests of src/engine/drain_pod.c: the pods of a drain, found and waited for. */
#include "engine/drain.h"

#include "support/drain_world.h"

/* One node with one pod that has been asked to go. */
static void one_pod(struct drain_world *w) {
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_under_way(w, ACTION_EVICT), 1);
    dw_forget(w);
}

static void an_eviction_that_does_not_show_is_asked_for_again(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    dw_reply(w, ACTION_EVICT, "a", KUBE_OK, -1);
    dw_pass(w, SEC(29));
    assert_state(w, "a", DRAIN_POD_LEAVING);
    assert_int_equal(dw_asked(w, "evict"), 0);
    dw_pass(w, SEC(2));
    assert_int_equal(dw_asked(w, "evict default/a\n"), 1);
    assert_state(w, "a", DRAIN_POD_SENT);
    assert_int_equal(dw_view(w, 0)->leaving, 0);
    assert_int_equal(dw_told(w, "evicting"), 0);
}

static void a_lost_answer_to_an_eviction_that_was_carried_out(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    dw_reply(w, ACTION_EVICT, "a", KUBE_UNKNOWN, -1);
    dw_edit_pod(w, "a", "{'metadata':{'deletionTimestamp':'2026-11-15T08:00:30Z'}}");
    dw_pass(w, SEC(20));
    assert_state(w, "a", DRAIN_POD_LEAVING);
    assert_int_equal(dw_asked(w, "evict"), 0); /* not a second time */
    assert_false(dw_pod_view(w, "a")->blocked);
}

/* --- pods of the same name --- */

static void a_pod_replaced_on_another_node_is_done_and_the_new_one_is_left_alone(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    dw_reply(w, ACTION_EVICT, "a", KUBE_PDB_NO_BUDGET, -1);
    dw_settle(w);
    dw_pod(w, "a", "w1", "{'metadata':{'uid':'uid-new'}}");
    dw_pass(w, SEC(600));
    assert_phase(w, 0, DRAIN_DONE);
    assert_state(w, "a", DRAIN_POD_GONE);
    assert_int_equal(dw_told(w, "gone default/a"), 1);
    assert_int_equal(dw_asked(w, "evict"), 0);
}

static void replaced_while_the_request_was_under_way(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    dw_pod(w, "a", "w1", "{'metadata':{'uid':'uid-new'}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_EVICTING);
    assert_false(drain_over(w->d));
    dw_reply(w, ACTION_EVICT, "a", KUBE_CONFLICT, -1);
    dw_pass(w, SEC(600));
    assert_phase(w, 0, DRAIN_DONE);
    assert_int_equal(dw_asked(w, "evict"), 0);
}

/* With the same name on the same node it is another pod, and one that came late. */
static void replaced_on_the_same_node_it_is_a_new_pod(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    dw_accept(w, ACTION_EVICT, "a");
    dw_pass(w, SEC(1));
    dw_pod(w, "a", "w0", "{'metadata':{'uid':'uid-new'}}");
    dw_settle(w);
    assert_int_equal(dw_told(w, "gone default/a"), 1);
    assert_int_equal(dw_told(w, "late default/a: came back to the cordoned node"), 1);
    assert_string_equal(dw_open(w, ACTION_EVICT, "a")->uid, "uid-new");
    assert_int_equal(dw_view(w, 0)->total, 2);
    assert_int_equal(dw_view(w, 0)->gone, 1);
    assert_true(dw_pod_view(w, "a")->late);
}

/* --- terminating pods --- */

static void a_pod_that_terminates_already_is_waited_for_and_not_asked(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{'metadata':{'deletionTimestamp':'2026-11-15T08:00:20Z'}}");
    dw_start(w, "w0", NULL);
    assert_state(w, "a", DRAIN_POD_LEAVING);
    dw_pass(w, SEC(19));
    dw_remove(w, &kind_pod, "default", "a");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    assert_wanted(w, "patch nodes w0\n");
}

static void stuck_is_said_when_the_grace_period_is_long_over(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    dw_accept(w, ACTION_EVICT, "a"); /* until 08:00:30 */
    dw_pass(w, SEC(89));
    assert_false(dw_pod_view(w, "a")->blocked);
    dw_pass(w, SEC(2));
    assert_blocked(w, "a", BLOCKER_TERMINATING_STUCK);
    assert_state(w, "a", DRAIN_POD_LEAVING);
    dw_pass(w, SEC(3600));
    assert_int_equal(dw_told(w, "blocked PodTerminatingStuck default/a"), 1);
    assert_wanted(w, ""); /* never by force of its own accord */
    dw_remove(w, &kind_pod, "default", "a");
    dw_settle(w);
    assert_int_equal(dw_told(w, "unblocked PodTerminatingStuck default/a"), 1);
    assert_phase(w, 0, DRAIN_DONE);
}

static void a_finalizer_is_named(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    dw_edit_pod(w, "a", "{'metadata':{'finalizers':['example.com/keep']}}");
    dw_accept(w, ACTION_EVICT, "a");
    dw_pass(w, SEC(91));
    assert_blocked(w, "a", BLOCKER_FINALIZER_STUCK);
    assert_non_null(strstr(dw_pod_view(w, "a")->blocker.message, "example.com/keep"));
    dw_edit_pod(w, "a", "{'status':{'phase':'Succeeded'}}");
    dw_settle(w);
    assert_string_equal(dw_pod_view(w, "a")->blocker.message,
                        "it has stopped, but the finalizer example.com/keep keeps it");
    assert_int_equal(dw_told(w, "blocked FinalizerStuck"), 1);
}

/* What has stopped waits for nobody but whoever set the finalizer: that is said soon, and since
 * when it terminates. */
static void a_finalizer_of_a_pod_that_has_stopped_is_named_soon(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    dw_edit_pod(w, "a", "{'metadata':{'finalizers':['example.com/keep']}}");
    int64_t asked = w->now.wall;
    dw_accept(w, ACTION_EVICT, "a"); /* until 08:00:30 */
    dw_pass(w, SEC(2));
    dw_edit_pod(w, "a",
                "{'metadata':{'deletionGracePeriodSeconds':30},'status':{'phase':'Failed'}}");
    dw_pass(w, SEC(9));
    assert_false(dw_pod_view(w, "a")->blocked);
    dw_pass(w, SEC(2));
    assert_blocked(w, "a", BLOCKER_FINALIZER_STUCK);
    assert_int_equal(dw_pod_view(w, "a")->blocker.since, asked);
}

static void an_unreachable_node_is_told_of_at_once(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_edit_node(w, "w0", "{'status':{'conditions':[{'type':'Ready','status':'Unknown'}]}}");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    dw_accept(w, ACTION_EVICT, "a");
    dw_settle(w);
    assert_blocked(w, "a", BLOCKER_NODE_UNREACHABLE);
    assert_int_equal(dw_told(w, "blocked NodeUnreachable w0"), 1);
    /* It is back in time: the pod has the rest of its grace period. */
    dw_edit_node(w, "w0", "{'status':{'conditions':[{'type':'Ready','status':'True'}]}}");
    dw_settle(w);
    assert_false(dw_pod_view(w, "a")->blocked);
    assert_int_equal(dw_told(w, "unblocked NodeUnreachable w0"), 1);
}

static void of_an_unreachable_node_nothing_can_be_known(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    dw_accept(w, ACTION_EVICT, "a");
    dw_pass(w, SEC(1));
    dw_edit_node(w, "w0", "{'status':{'conditions':[{'type':'Ready','status':'Unknown'}]}}");
    dw_pass(w, SEC(90));
    assert_blocked(w, "a", BLOCKER_NODE_UNREACHABLE);
    assert_string_equal(dw_pod_view(w, "a")->blocker.object, "w0");
    dw_edit_node(w, "w0", "{'status':{'conditions':[{'type':'Ready','status':'True'}]}}");
    dw_settle(w);
    assert_blocked(w, "a", BLOCKER_TERMINATING_STUCK);
    assert_int_equal(dw_told(w, "unblocked NodeUnreachable w0"), 1);
    assert_wanted(w, "");
}

static void those_of_one_unreachable_node_are_told_together(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_edit_node(w, "w0", "{'status':{'conditions':[{'type':'Ready','status':'Unknown'}]}}");
    for (int i = 0; i < 4; i++) {
        char name[8];
        snprintf(name, sizeof name, "p%d", i);
        dw_pod(w, name, "w0", "{'metadata':{'deletionTimestamp':'2026-11-15T07:00:00Z'}}");
    }
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_told(w, "blocked NodeUnreachable"), 1);
    assert_int_equal(dw_view(w, 0)->blocked_pods, 4);
}

static void not_waited_for_when_told_so(void **state) {
    struct drain_world *w = *state;
    w->opts.skip_wait = 5;
    one_pod(w);
    dw_accept(w, ACTION_EVICT, "a"); /* until 08:00:30 */
    dw_pass(w, SEC(34));
    assert_state(w, "a", DRAIN_POD_LEAVING);
    dw_pass(w, SEC(2));
    assert_phase(w, 0, DRAIN_DONE);
    assert_true(dw_pod_view(w, "a")->skipped_wait);
    assert_int_equal(dw_told(w, "skipped default/a"), 1);
    assert_int_equal(dw_told(w, "gone"), 0);
    assert_int_equal(dw_view(w, 0)->leaving, 0);
    assert_true(drain_over(w->d));
}

/* --- late pods --- */

static void a_late_pod_is_named_and_evicted(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    dw_pass(w, SEC(1));
    dw_pod(w, "b", "w0", "{'metadata':{" DW_OWNER("apps/v1", "ReplicaSet", "other") "}}");
    dw_settle(w);
    assert_int_equal(dw_told(w, "late default/b: came to the cordoned node"), 1);
    assert_wanted(w, "read replicasets default/other\nevict default/b\n");
    assert_true(dw_pod_view(w, "b")->late);
    assert_false(dw_pod_view(w, "a")->late);
}

static void a_late_daemonset_pod_stays_and_is_no_news(void **state) {
    struct drain_world *w = *state;
    dw_put(w, &kind_daemon_set, "{'metadata':{'namespace':'default','name':'agent'}}");
    one_pod(w);
    dw_pod(w, "d", "w0", "{'metadata':{" DW_OWNER("apps/v1", "DaemonSet", "agent") "}}");
    dw_settle(w);
    assert_state(w, "d", DRAIN_POD_STAYS);
    assert_int_equal(dw_told(w, "default/d"), 0);
    dw_accept(w, ACTION_EVICT, "a");
    dw_remove(w, &kind_pod, "default", "a");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

static void a_late_daemonset_pod_that_is_refused_says_what_it_is(void **state) {
    struct drain_world *w = *state;
    w->opts.ignore_daemonsets = false;
    dw_put(w, &kind_daemon_set, "{'metadata':{'namespace':'default','name':'agent'}}");
    one_pod(w);
    dw_pod(w, "d", "w0", "{'metadata':{" DW_OWNER("apps/v1", "DaemonSet", "agent") "}}");
    dw_settle(w);
    assert_state(w, "d", DRAIN_POD_REFUSED);
    assert_blocked(w, "d", BLOCKER_DAEMON_POD);
}

static void a_late_bare_pod_is_not_touched_and_says_why(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    dw_pod(w, "b", "w0", DW_BARE);
    dw_settle(w);
    assert_state(w, "b", DRAIN_POD_REFUSED);
    assert_blocked(w, "b", BLOCKER_BARE_POD);
    dw_accept(w, ACTION_EVICT, "a");
    dw_remove(w, &kind_pod, "default", "a");
    dw_pass(w, SEC(600));
    assert_phase(w, 0, DRAIN_EVICTING);
    assert_int_equal(dw_asked(w, "default/b"), 0);
    assert_int_equal(dw_told(w, "blocked BarePod default/b"), 1);
    dw_remove(w, &kind_pod, "default", "b");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

/* A debugging pod, for instance: it ends by itself, and its object stays. */
static void a_late_bare_pod_that_has_finished_can_go(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    dw_pod(w, "b", "w0", DW_BARE);
    dw_settle(w);
    assert_blocked(w, "b", BLOCKER_BARE_POD);
    dw_edit_pod(w, "b", "{'status':{'phase':'Succeeded'}}");
    dw_settle(w);
    assert_int_equal(dw_asked(w, "evict default/b"), 1);
}

/* Our clock is ten minutes ahead, and the server has told us its own. */
static void whether_a_pod_is_stuck_is_asked_of_the_servers_clock(void **state) {
    struct drain_world *w = *state;
    char at[TIMEFMT_LEN];
    w->skew = -SEC(600);
    w->opts.skip_wait = 300;
    one_pod(w);
    dw_reply(w, ACTION_EVICT, "a", KUBE_OK, -1);
    dw_edit_pod(w, "a", "{'metadata':{'deletionTimestamp':'%s'}}",
                time_format(w->now.wall + w->skew + SEC(30), false, at));
    dw_pass(w, SEC(20));
    assert_state(w, "a", DRAIN_POD_LEAVING);
    assert_false(dw_pod_view(w, "a")->blocked);
    dw_pass(w, SEC(80));
    assert_blocked(w, "a", BLOCKER_TERMINATING_STUCK);
}

#define JOBS_POD "{'metadata':{" DW_OWNER("batch/v1", "Job", "once") "}}"
#define WEB_SET(node)                                                                              \
    "{'metadata':{'namespace':'default','name':'web','uid':'rs-web'},"                             \
    "'spec':{'template':{'spec':{" node "}}}}"

/* Long after the cordon no scheduler puts a pod here: it names the node. */
static void pinned_when_it_comes_long_after_the_cordon(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    dw_pass(w, SEC(7));
    dw_pod(w, "b", "w0", JOBS_POD);
    dw_pass(w, SEC(600));
    assert_blocked(w, "b", BLOCKER_PINNED);
    assert_int_equal(dw_asked(w, "default/b"), 0);
    assert_int_equal(dw_told(w, "late default/b: came to the cordoned node: it names the node in "
                                "spec.nodeName"),
                     1);
    assert_non_null(strstr(dw_pod_view(w, "b")->blocker.message, "Job/once"));
}

static void a_late_pod_whose_replica_set_names_the_node(void **state) {
    struct drain_world *w = *state;
    dw_put(w, &kind_replica_set, WEB_SET("'nodeName':'w0'"));
    one_pod(w);
    dw_pass(w, SEC(1));
    dw_pod(w, "b", "w0", "{}");
    dw_pass(w, SEC(600));
    assert_blocked(w, "b", BLOCKER_PINNED);
    assert_int_equal(dw_asked(w, "evict default/b"), 0);
    assert_non_null(strstr(dw_pod_view(w, "b")->blocker.message, "ReplicaSet/web"));
}

static void a_late_pod_whose_replica_set_does_not(void **state) {
    struct drain_world *w = *state;
    dw_put(w, &kind_replica_set, WEB_SET(""));
    one_pod(w);
    dw_pass(w, SEC(60));
    dw_pod(w, "b", "w0", "{}");
    dw_settle(w);
    assert_int_equal(dw_asked(w, "evict default/b"), 1);
    assert_int_equal(dw_told(w, "it names the node"), 0);
}

/* It comes back whatever is done: that has an end, too, for whatever reason it comes. */
static void one_that_something_else_puts_back_is_not_evicted_for_ever(void **state) {
    struct drain_world *w = *state;
    dw_put(w, &kind_replica_set, WEB_SET(""));
    w->obedient = true;
    dw_node(w, "w0");
    dw_pod(w, "stays", "w0", "{'metadata':{'annotations':{'karpenter.sh/do-not-disrupt':'true'}}}");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    for (int i = 1; i <= 20; i++) {
        dw_pass(w, SEC(20));
        if (dw_pod_view(w, "a")->state == DRAIN_POD_GONE)
            dw_pod(w, "a", "w0", "{'metadata':{'uid':'again-%d'}}", i);
        dw_settle(w);
    }
    assert_true(dw_asked(w, "evict default/a") < 10);
    assert_blocked(w, "a", BLOCKER_RETURNS);
}

static void a_replica_set_that_may_not_be_read_is_judged_by_the_time(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    w->by_hand_reads = true;
    dw_pass(w, SEC(60));
    dw_pod(w, "b", "w0", "{}");
    dw_settle(w);
    dw_reply(w, ACTION_READ, "web", KUBE_FORBIDDEN, -1);
    dw_settle(w);
    assert_blocked(w, "b", BLOCKER_PINNED);
}

/* What names the node and has run to its end does not come back. */
static void a_pinned_pod_that_has_finished_can_go(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    dw_pass(w, SEC(7));
    dw_pod(w, "b", "w0", JOBS_POD);
    dw_settle(w);
    assert_blocked(w, "b", BLOCKER_PINNED);
    dw_edit_pod(w, "b", "{'status':{'phase':'Succeeded'}}");
    dw_settle(w);
    assert_int_equal(dw_asked(w, "evict default/b\n"), 1);
}

static void one_that_comes_back_twice_right_after_the_cordon_is_pinned(void **state) {
    struct drain_world *w = *state;
    w->obedient = true;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", JOBS_POD);
    dw_pod(w, "stays", "w0", "{'metadata':{'labels':{'app':'db'}}}");
    dw_put(w, &kind_pdb,
           "{'metadata':{'namespace':'default','name':'db','uid':'u','generation':1},"
           "'spec':{'maxUnavailable':1,'selector':{'matchLabels':{'app':'db'}}},"
           "'status':{'observedGeneration':1,'expectedPods':2,'desiredHealthy':1,"
           "'currentHealthy':1}}");
    dw_start(w, "w0", NULL);
    for (int i = 1; i <= 2; i++) {
        dw_pass(w, SEC(1));
        dw_pod(w, "a", "w0",
               "{'metadata':{'uid':'again-%d'," DW_OWNER("batch/v1", "Job", "once") "}}", i);
        dw_settle(w);
    }
    assert_int_equal(dw_asked(w, "evict default/a"), 2);
    assert_blocked(w, "a", BLOCKER_PINNED);
}

#define TOLERATES                                                                                  \
    "{'metadata':{'uid':'again-%d'},'spec':{'tolerations':[{'key':"                                \
    "'node.kubernetes.io/unschedulable','operator':'Exists'}]}}"

static void tolerating_pods_are_evicted_a_few_times(struct drain_world *w) {
    w->obedient = true;
    if (!cluster_node(&w->c, "w0"))
        dw_node(w, "w0");
    dw_pod(w, "stays", "w0", "{'metadata':{'annotations':{'karpenter.sh/do-not-disrupt':'true'}}}");
    dw_pod(w, "a", "w0", TOLERATES, 0);
    dw_start(w, "w0", NULL);
    for (int i = 1; i <= 6; i++) {
        dw_pass(w, SEC(20));
        if (dw_pod_view(w, "a")->state == DRAIN_POD_GONE)
            dw_pod(w, "a", "w0", TOLERATES, i);
        dw_settle(w);
    }
    assert_int_equal(dw_asked(w, "evict default/a"), 4);
    assert_blocked(w, "a", BLOCKER_RETURNS);
    assert_int_equal(dw_told(w, "late default/a: came back to the cordoned node: it tolerates "
                                "node.kubernetes.io/unschedulable"),
                     4);
    assert_non_null(strstr(dw_pod_view(w, "a")->blocker.message,
                           "it tolerates node.kubernetes.io/unschedulable"));
}

/* One that ends at once leaves the node empty for a moment: that is not drained. */
static void a_node_is_not_drained_between_two_lives_of_a_pod(void **state) {
    (void)state;
    for (int back = 0; back < 2; back++) {
        struct drain_world w;
        dw_init(&w);
        dw_node(&w, "w0");
        dw_pod(&w, "a", "w0", TOLERATES, 0);
        dw_start(&w, "w0", NULL);
        dw_accept(&w, ACTION_EVICT, "a");
        dw_settle(&w);
        dw_remove(&w, &kind_pod, "default", "a");
        dw_pass(&w, SEC(2));
        assert_phase(&w, 0, DRAIN_DETACHING);
        if (back)
            dw_pod(&w, "a", "w0", TOLERATES, 1);
        dw_pass(&w, SEC(2));
        assert_phase(&w, 0, back ? DRAIN_EVICTING : DRAIN_DONE);
        dw_done(&w);
    }
}

static void one_that_tolerates_the_cordon_is_evicted_a_few_times(void **state) {
    tolerating_pods_are_evicted_a_few_times(*state);
}

/* Whose clock is wrong does not matter. */
static void the_same_with_clocks_that_differ(void **state) {
    (void)state;
    static const int64_t skews[] = {-7200, -3, 3, 7200};
    for (size_t i = 0; i < ARRAY_LEN(skews); i++) {
        struct drain_world w;
        dw_init(&w);
        w.skew = SEC(skews[i]);
        tolerating_pods_are_evicted_a_few_times(&w);
        dw_done(&w);
    }
}

/* Nothing is written when an earlier run goes on, so that nobody tells us the server's time. */
static void and_in_a_run_that_goes_on(void **state) {
    (void)state;
    static const int64_t skews[] = {-7200, 7200};
    for (size_t i = 0; i < ARRAY_LEN(skews); i++) {
        struct drain_world w;
        dw_init(&w);
        w.skew = SEC(skews[i]);
        dw_node(&w, "w0");
        dw_start(&w, "w0", NULL);
        dw_kill(&w);
        dw_forget(&w);
        tolerating_pods_are_evicted_a_few_times(&w);
        assert_int_equal(dw_asked(&w, "patch"), 0);
        dw_done(&w);
    }
}

/* --- pinned by its StatefulSet --- */

static void a_stateful_set_that_names_the_node(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_put(w, &kind_stateful_set,
           "{'metadata':{'namespace':'default','name':'db','uid':'uid-db'},"
           "'spec':{'replicas':1,'template':{'spec':{'nodeName':'w0'}}}}");
    dw_pod(w, "db-0", "w0", "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "db") "}}");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_asked(w, "read statefulsets default/db"), 1);
    assert_blocked(w, "db-0", BLOCKER_PINNED);
    assert_string_equal(dw_pod_view(w, "db-0")->blocker.message,
                        "StatefulSet/db declares spec.nodeName w0: deleting the pod is not enough, "
                        "the StatefulSet must be deleted");
    assert_int_equal(dw_asked(w, "evict default/a"), 1); /* the others are not held up */
    dw_pass(w, SEC(3600));
    assert_int_equal(dw_asked(w, "default/db-0"), 0);
}

static void a_stateful_set_that_names_another_node_or_none_is_like_any_other(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_put(w, &kind_stateful_set,
           "{'metadata':{'namespace':'default','name':'db','uid':'uid-db'},"
           "'spec':{'template':{'spec':{'nodeName':'w1'}}}}");
    /* Of the same name, but another one: made anew since. */
    dw_put(w, &kind_stateful_set,
           "{'metadata':{'namespace':'default','name':'kv','uid':'another'},"
           "'spec':{'template':{'spec':{'nodeName':'w0'}}}}");
    dw_pod(w, "db-0", "w0", "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "db") "}}");
    dw_pod(w, "kv-0", "w0", "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "kv") "}}");
    dw_pod(w, "no-0", "w0", "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "gone") "}}");
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_asked(w, "evict default/db-0"), 1);
    assert_int_equal(dw_asked(w, "evict default/kv-0"), 1);
    assert_int_equal(dw_asked(w, "evict default/no-0"), 1);
}

static void a_stateful_set_that_may_not_be_read_holds_nobody_up(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "db-0", "w0", "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "db") "}}");
    w->by_hand_reads = true;
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_CHECKING);
    dw_reply(w, ACTION_READ, "db", KUBE_FORBIDDEN, -1);
    dw_settle(w);
    assert_int_equal(dw_asked(w, "evict default/db-0"), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DRAIN_TEST(an_eviction_that_does_not_show_is_asked_for_again),
        DRAIN_TEST(a_lost_answer_to_an_eviction_that_was_carried_out),
        DRAIN_TEST(a_pod_replaced_on_another_node_is_done_and_the_new_one_is_left_alone),
        DRAIN_TEST(replaced_while_the_request_was_under_way),
        DRAIN_TEST(replaced_on_the_same_node_it_is_a_new_pod),
        DRAIN_TEST(a_pod_that_terminates_already_is_waited_for_and_not_asked),
        DRAIN_TEST(stuck_is_said_when_the_grace_period_is_long_over),
        DRAIN_TEST(a_finalizer_is_named),
        DRAIN_TEST(a_finalizer_of_a_pod_that_has_stopped_is_named_soon),
        DRAIN_TEST(an_unreachable_node_is_told_of_at_once),
        DRAIN_TEST(of_an_unreachable_node_nothing_can_be_known),
        DRAIN_TEST(those_of_one_unreachable_node_are_told_together),
        DRAIN_TEST(not_waited_for_when_told_so),
        DRAIN_TEST(a_late_pod_is_named_and_evicted),
        DRAIN_TEST(a_late_daemonset_pod_stays_and_is_no_news),
        DRAIN_TEST(a_late_daemonset_pod_that_is_refused_says_what_it_is),
        DRAIN_TEST(a_late_bare_pod_is_not_touched_and_says_why),
        DRAIN_TEST(pinned_when_it_comes_long_after_the_cordon),
        DRAIN_TEST(a_late_pod_whose_replica_set_names_the_node),
        DRAIN_TEST(a_late_pod_whose_replica_set_does_not),
        DRAIN_TEST(one_that_something_else_puts_back_is_not_evicted_for_ever),
        DRAIN_TEST(a_replica_set_that_may_not_be_read_is_judged_by_the_time),
        DRAIN_TEST(a_pinned_pod_that_has_finished_can_go),
        DRAIN_TEST(one_that_comes_back_twice_right_after_the_cordon_is_pinned),
        cmocka_unit_test(a_node_is_not_drained_between_two_lives_of_a_pod),
        DRAIN_TEST(one_that_tolerates_the_cordon_is_evicted_a_few_times),
        cmocka_unit_test(the_same_with_clocks_that_differ),
        cmocka_unit_test(and_in_a_run_that_goes_on),
        DRAIN_TEST(a_stateful_set_that_names_the_node),
        DRAIN_TEST(a_stateful_set_that_names_another_node_or_none_is_like_any_other),
        DRAIN_TEST(a_stateful_set_that_may_not_be_read_holds_nobody_up),
        DRAIN_TEST(a_late_bare_pod_that_has_finished_can_go),
        DRAIN_TEST(whether_a_pod_is_stuck_is_asked_of_the_servers_clock),
    };
    return cmocka_run_group_tests_name("engine/drain_pod", tests, NULL, NULL);
}
