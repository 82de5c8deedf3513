/* Tests of src/engine/drain_node.c: the phases of a node, above all its cordon. */
#include "engine/drain.h"

#include "support/drain_world.h"

/* The node as somebody else left it. */
static void hold(struct drain_world *w, const char *name, const char *record) {
    json_t *patch = json_pack("{s:{s:{s:s}},s:{s:b}}", "metadata", "annotations", CORDON_ANNOTATION,
                              record, "spec", "unschedulable", 1);
    dw_patch(w, &kind_node, NULL, name, patch);
    dw_show(w, &kind_node, NULL, name);
}

#define RECORD(holders) "{\"v\":1,\"before\":false,\"holders\":[" holders "]}"
#define OURS            "{\"id\":\"cli/test\",\"by\":\"alice\"}"
#define BOBS            "{\"id\":\"cli/bob\",\"by\":\"bob\",\"reason\":\"disk\"}"

static json_t *node_doc(struct drain_world *w, const char *name) {
    return dw_doc(w, &kind_node, NULL, name);
}

static bool cordoned(struct drain_world *w, const char *name) {
    return json_is_true(dw_at(node_doc(w, name), "spec.unschedulable"));
}

static const char *record_of(struct drain_world *w, const char *name) {
    json_t *annotations = dw_at(node_doc(w, name), "metadata.annotations");
    return strna(json_string_value(json_object_get(annotations, CORDON_ANNOTATION)));
}

/* A node with a pod that does not go, in the middle of its drain. */
static void in_the_middle(struct drain_world *w) {
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    dw_reply(w, ACTION_EVICT, "a", KUBE_DENIED, -1);
    dw_settle(w);
    assert_phase(w, 0, DRAIN_EVICTING);
    dw_forget(w);
}

/* --- the cordon --- */

static void the_cordon_is_recorded_with_its_holder(void **state) {
    struct drain_world *w = *state;
    w->opts.holder.reason = "kernel";
    dw_node(w, "w0");
    dw_start(w, "w0", NULL);
    assert_true(cordoned(w, "w0"));
    assert_string_equal(record_of(w, "w0"),
                        "{\"v\":1,\"before\":false,\"holders\":[{\"id\":\"cli/test\",\"by\":"
                        "\"alice\",\"reason\":\"kernel\",\"since\":\"2026-11-15T08:00:00Z\"}]}");
}

/* Promise 7: nothing is decided before our own write has come back. */
static void nothing_is_evicted_before_the_cordon_is_seen(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    w->by_hand_cordon = true;
    dw_start(w, "w0", NULL);
    dw_patched(w, dw_open(w, ACTION_PATCH, "w0"), false);
    dw_pass(w, SEC(60));
    assert_phase(w, 0, DRAIN_CORDONING);
    assert_wanted(w, "patch nodes w0\n"); /* and it is not written again */
    assert_int_equal(dw_told(w, "cordoned"), 0);
    dw_show(w, &kind_node, NULL, "w0");
    dw_settle(w);
    assert_wanted(w, "evict default/a\n");
    assert_int_equal(dw_told(w, "cordoned w0\n"), 1);
}

static void a_conflict_is_tried_again_with_what_is_there_now(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    w->by_hand_cordon = true;
    dw_start(w, "w0", NULL);
    dw_edit_node(w, "w0", "{'metadata':{'labels':{'a':'b'}}}");
    dw_settle(w);
    assert_int_equal(dw_asked(w, "patch"), 1); /* one at a time */
    dw_reply(w, ACTION_PATCH, "w0", KUBE_CONFLICT, -1);
    dw_settle(w);
    assert_int_equal(dw_asked(w, "patch"), 1); /* not at once */
    dw_pass(w, MSEC(150));
    assert_int_equal(dw_asked(w, "patch"), 2); /* dw_step() compares the resourceVersion */
    w->by_hand_cordon = false;
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    assert_int_equal(dw_told(w, "cordoned w0\n"), 1);
    assert_int_equal(dw_told(w, "blocked"), 0);
}

static void conflicts_without_end_are_said(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    w->by_hand_cordon = true;
    dw_start(w, "w0", NULL);
    for (int i = 0; i < 12; i++) {
        dw_reply(w, ACTION_PATCH, "w0", KUBE_CONFLICT, -1);
        dw_settle(w);
        assert_int_equal(dw_view(w, 0)->blocked, i >= 4);
        dw_pass(w, SEC(15));
    }
    assert_int_equal(dw_view(w, 0)->blocker.code, BLOCKER_CORDON_CONTENDED);
    assert_int_equal(dw_asked(w, "patch"), 13);
    assert_int_equal(dw_told(w, "blocked CordonContended w0"), 1);
    w->by_hand_cordon = false;
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    assert_int_equal(dw_told(w, "unblocked CordonContended w0"), 1);
}

static void a_lost_answer_to_a_cordon_that_was_written(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    w->by_hand_cordon = true;
    dw_start(w, "w0", NULL);
    struct action *a = dw_open(w, ACTION_PATCH, "w0");
    dw_patch(w, &kind_node, NULL, "w0", json_loads(a->body, 0, NULL));
    dw_reply(w, ACTION_PATCH, "w0", KUBE_UNKNOWN, -1);
    dw_settle(w);
    dw_show(w, &kind_node, NULL, "w0");
    dw_pass(w, SEC(1));
    assert_phase(w, 0, DRAIN_DONE);
    assert_int_equal(dw_asked(w, "patch"), 1);
    assert_int_equal(dw_told(w, "cordoned w0\n"), 1);
    assert_int_equal(dw_told(w, "already-cordoned"), 0);
    assert_true(dw_view(w, 0)->cordoned_by_us);
}

static void a_lost_answer_to_a_cordon_that_was_not_written(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    w->by_hand_cordon = true;
    dw_start(w, "w0", NULL);
    dw_reply(w, ACTION_PATCH, "w0", KUBE_UNKNOWN, -1);
    w->by_hand_cordon = false;
    dw_pass(w, SEC(1));
    assert_phase(w, 0, DRAIN_DONE);
    assert_int_equal(dw_asked(w, "patch"), 2);
    assert_int_equal(dw_told(w, "cordoned w0\n"), 1);
}

static void server_trouble_is_said_and_retry_after_honoured(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    w->by_hand_cordon = true;
    dw_start(w, "w0", NULL);
    dw_reply(w, ACTION_PATCH, "w0", KUBE_THROTTLED, 8);
    dw_pass(w, SEC(8) - 1);
    assert_int_equal(dw_asked(w, "patch"), 1);
    assert_true(dw_view(w, 0)->blocked);
    assert_int_equal(dw_view(w, 0)->blocker.code, BLOCKER_SERVER_TROUBLE);
    dw_pass(w, 1);
    assert_int_equal(dw_asked(w, "patch"), 2);
}

/* Where kubectl goes on to evict from a schedulable node. */
static void a_cordon_that_is_forbidden_stops_the_node(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_node(w, "w1");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w1", "{}");
    w->by_hand_cordon = true;
    w->opts.keep_record = true;
    dw_start(w, "w0", "w1", NULL);
    dw_reply(w, ACTION_PATCH, "w0", KUBE_FORBIDDEN, -1);
    w->by_hand_cordon = false;
    dw_settle(w);
    assert_phase(w, 0, DRAIN_FAILED);
    assert_string_equal(dw_view(w, 0)->error, "cannot cordon: the permission is missing");
    assert_true(dw_view(w, 0)->access);
    assert_int_equal(dw_told(w, "cordon-failed w0: the permission is missing"), 1);
    assert_int_equal(dw_asked(w, "default/a"), 0);
    assert_int_equal(dw_asked(w, "evict default/b"), 1);           /* the other one goes on */
    assert_int_equal(dw_asked(w, "create events default/w0."), 1); /* DrainFailed */
}

static void a_cordon_that_a_webhook_denies_is_called_so(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    w->by_hand_cordon = true;
    dw_start(w, "w0", NULL);
    dw_reply(w, ACTION_PATCH, "w0", KUBE_DENIED, -1);
    dw_settle(w);
    assert_true(dw_view(w, 0)->blocked);
    assert_int_equal(dw_view(w, 0)->blocker.code, BLOCKER_ADMISSION_DENIED);
}

static void one_rejected_token_after_conflicts_is_not_the_end(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    w->by_hand_cordon = true;
    dw_start(w, "w0", NULL);
    for (int i = 0; i < 8; i++) {
        dw_reply(w, ACTION_PATCH, "w0", KUBE_CONFLICT, -1);
        dw_pass(w, SEC(15));
    }
    dw_reply(w, ACTION_PATCH, "w0", KUBE_UNAUTHORIZED, -1);
    dw_pass(w, SEC(15));
    assert_phase(w, 0, DRAIN_CORDONING);
    for (int i = 0; i < 20 && dw_under_way(w, ACTION_PATCH); i++) {
        dw_reply(w, ACTION_PATCH, "w0", KUBE_UNAUTHORIZED, -1);
        dw_pass(w, SEC(15));
    }
    assert_phase(w, 0, DRAIN_FAILED); /* one that is never accepted is */
    assert_true(dw_view(w, 0)->access);
}

static void somebody_elses_cordon_is_remembered_and_our_hold_added(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_edit_node(w, "w0", "{'spec':{'unschedulable':true}}");
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_DONE);
    assert_true(dw_view(w, 0)->was_cordoned);
    assert_false(dw_view(w, 0)->cordoned_by_us);
    assert_int_equal(dw_told(w, "already-cordoned w0\n"), 1);
    assert_int_equal(dw_told(w, "cordoned w0\n"), 1); /* the tail of that line */
    assert_non_null(strstr(record_of(w, "w0"), "\"before\":true"));
}

static void another_holder_stays_one(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    hold(w, "w0", RECORD(BOBS));
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_DONE);
    assert_non_null(strstr(record_of(w, "w0"), "cli/bob"));
    assert_non_null(strstr(record_of(w, "w0"), "cli/test"));
    assert_true(dw_view(w, 0)->was_cordoned);
}

static void our_own_hold_of_an_earlier_run_is_gone_on_with(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    hold(w, "w0", RECORD(OURS));
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    assert_wanted(w, "evict default/a\n"); /* nothing is written */
    assert_int_equal(dw_told(w, "already-cordoned w0\n"), 1);
}

/* Whoever it is, also oneself: a second process, or one that was killed. A cordon alone is no
 * drain. */
static void another_drain_of_the_node_is_told(void **state) {
    (void)state;
    static const char in_progress[] =
        "{'status':{'conditions':[{'type':'DrainInProgress','status':'True',"
        "'reason':'SlipwayDrain','lastTransitionTime':'2026-11-15T08:00:00Z'}]}}";
    static const char *const records[] = {RECORD(BOBS), RECORD(OURS)};
    static const char *const holders[] = {"bob: disk", "test (alice)"};
    for (int i = 0; i < 4; i++) {
        struct drain_world w;
        dw_init(&w);
        dw_node(&w, "w0");
        hold(&w, "w0", records[i % 2]);
        if (i < 2)
            dw_edit_node(&w, "w0", in_progress);
        dw_pod(&w, "a", "w0", "{}");
        dw_start(&w, "w0", NULL);
        assert_int_equal(dw_told(&w, "another drain of it, begun at 2026-11-15T08:00:00Z"), i < 2);
        assert_int_equal(dw_told(&w, holders[i % 2]), i != 3);
        assert_int_equal(dw_told(&w, "it is held by bob: disk as well"), i == 2);
        dw_done(&w);
    }
}

/* Both began at once, and both are in the record. */
static void another_holder_that_comes_later_is_told_once(void **state) {
    struct drain_world *w = *state;
    in_the_middle(w);
    for (int i = 0; i < 2; i++) {
        hold(w, "w0", RECORD(OURS "," BOBS));
        dw_settle(w);
    }
    assert_phase(w, 0, DRAIN_EVICTING);
    assert_int_equal(dw_told(w, "it is held by bob: disk as well"), 1);
}

/* Somebody with our name was faster: the record is ours, and we have not written it. */
static void a_cordon_in_our_name_at_the_same_moment_is_told(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    w->by_hand_cordon = true;
    dw_start(w, "w0", NULL);
    hold(w, "w0", RECORD(OURS));
    dw_reply(w, ACTION_PATCH, "w0", KUBE_CONFLICT, -1);
    dw_pass(w, MSEC(150));
    assert_phase(w, 0, DRAIN_EVICTING);
    assert_int_equal(dw_told(w, "another process has cordoned it as cli/test"), 1);
}

static void a_record_of_a_newer_version_is_refused(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    hold(w, "w0", "{\"v\":2,\"who\":\"knows\"}");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_FAILED);
    assert_wanted(w, "");
    assert_int_equal(dw_told(w, "cordon-failed w0: "), 1);
    assert_non_null(strstr(dw_view(w, 0)->error, CORDON_ANNOTATION));
}

static void the_timeout_bounds_the_cordon_too(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    w->opts.timeout = SEC(30);
    w->by_hand_cordon = true;
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_view(w, 0)->deadline, w->now.wall + SEC(30));
    dw_reply(w, ACTION_PATCH, "w0", KUBE_SERVER_ERROR, -1);
    for (int i = 0; i < 31; i++) {
        dw_pass(w, SEC(1));
        if (dw_under_way(w, ACTION_PATCH))
            dw_reply(w, ACTION_PATCH, "w0", KUBE_SERVER_ERROR, -1);
    }
    dw_settle(w);
    assert_phase(w, 0, DRAIN_TIMED_OUT);
    assert_true(drain_over(w->d));
}

/* --- losing it --- */

static void a_foreign_uncordon_stops_it(void **state) {
    struct drain_world *w = *state;
    in_the_middle(w);
    dw_edit_node(w, "w0", "{'spec':{'unschedulable':null}}");
    dw_pass(w, SEC(600));
    assert_phase(w, 0, DRAIN_FAILED);
    assert_non_null(strstr(dw_view(w, 0)->error, "somebody uncordoned the node"));
    assert_wanted(w, "");
    assert_true(drain_over(w->d));
}

static void a_hold_that_was_taken_off_stops_it(void **state) {
    struct drain_world *w = *state;
    in_the_middle(w);
    hold(w, "w0", RECORD(BOBS));
    dw_pass(w, SEC(600));
    assert_phase(w, 0, DRAIN_FAILED);
    assert_non_null(strstr(dw_view(w, 0)->error, "somebody took our hold off the node"));
    assert_wanted(w, "");
}

static void a_record_that_became_unreadable_stops_it(void **state) {
    struct drain_world *w = *state;
    in_the_middle(w);
    hold(w, "w0", "not JSON at all");
    dw_pass(w, SEC(600));
    assert_phase(w, 0, DRAIN_FAILED);
    assert_wanted(w, "");
}

static void other_changes_of_the_node_do_not(void **state) {
    struct drain_world *w = *state;
    in_the_middle(w);
    hold(w, "w0", RECORD(BOBS "," OURS));
    dw_edit_node(w, "w0",
                 "{'metadata':{'labels':{'x':'y'}},'spec':{'taints':[{'key':'k','effect':"
                 "'NoSchedule'}]}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_EVICTING);
}

static void a_node_that_is_deleted_ends_its_drain(void **state) {
    struct drain_world *w = *state;
    in_the_middle(w);
    dw_remove(w, &kind_node, NULL, "w0");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_FAILED);
    assert_string_equal(dw_view(w, 0)->error, "the node was deleted during the drain");
    assert_true(drain_over(w->d));
}

/* One of the same name that was made anew is another machine: it is not held, and not undone. */
static void a_node_that_is_made_anew_is_not_ours(void **state) {
    struct drain_world *w = *state;
    w->opts.uncordon_on_abort = true;
    in_the_middle(w);
    assert_true(dw_view(w, 0)->cordoned_by_us);
    dw_forget(w);
    dw_edit_node(w, "w0", "{'metadata':{'uid':'another'}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_FAILED);
    assert_string_equal(dw_view(w, 0)->error, "the node was deleted during the drain");
    assert_false(dw_view(w, 0)->cordoned_by_us);
    assert_wanted(w, "");
    assert_true(drain_over(w->d));
}

/* What was sent before comes back after the end, and nothing follows from it. */
static void answers_after_the_end_change_nothing(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    dw_edit_node(w, "w0", "{'spec':{'unschedulable':null}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_FAILED);
    assert_false(drain_over(w->d)); /* the eviction is under way */
    dw_forget(w);
    dw_reply(w, ACTION_EVICT, "a", KUBE_PDB_NO_BUDGET, -1);
    dw_pass(w, SEC(600));
    assert_wanted(w, "");
    assert_true(drain_over(w->d));
}

/* --- time limits --- */

static void the_timeout_begins_with_the_evictions(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    w->opts.timeout = SEC(60);
    w->by_hand_cordon = true;
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(50));
    w->by_hand_cordon = false;
    dw_settle(w);
    assert_phase(w, 0, DRAIN_EVICTING);
    assert_int_equal(dw_view(w, 0)->deadline, w->now.wall + SEC(60));
    dw_pass(w, SEC(59));
    assert_phase(w, 0, DRAIN_EVICTING);
    dw_pass(w, SEC(1));
    assert_phase(w, 0, DRAIN_TIMED_OUT);
    assert_non_null(strstr(dw_view(w, 0)->error, "global timeout reached: "));
}

static void one_node_that_is_stuck_does_not_hold_up_the_others(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_node(w, "w1");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w1", "{}");
    dw_start(w, "w0", "w1", NULL);
    dw_reply(w, ACTION_EVICT, "a", KUBE_DENIED, -1);
    dw_accept(w, ACTION_EVICT, "b");
    dw_settle(w);
    dw_remove(w, &kind_pod, "default", "b");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_EVICTING);
    assert_phase(w, 1, DRAIN_DONE);
}

/* --- after the pods --- */

#define ATTACHED                                                                                   \
    "{'metadata':{'name':'va'},'spec':{'attacher':'x','nodeName':'w0','source':"                   \
    "{'persistentVolumeName':'pv-1'}},'status':{'attached':true}}"

static void a_pod_that_comes_while_volumes_detach_is_evicted(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_put(w, &kind_volume_attachment, ATTACHED);
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_DETACHING);
    dw_pod(w, "late", "w0", "{}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_EVICTING);
    assert_int_equal(dw_asked(w, "evict default/late"), 1);
    dw_accept(w, ACTION_EVICT, "late");
    dw_settle(w);
    dw_remove(w, &kind_pod, "default", "late");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DETACHING);
    dw_remove(w, &kind_volume_attachment, NULL, "va");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

/* How long ago the cordon was does not begin anew with each pod that comes. */
static void the_cordon_is_as_old_as_it_is(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_put(w, &kind_volume_attachment, ATTACHED);
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(60));
    dw_pod(w, "late1", "w0", "{'metadata':{" DW_OWNER("batch/v1", "Job", "once") "}}");
    dw_pass(w, SEC(1));
    assert_phase(w, 0, DRAIN_EVICTING);
    dw_pod(w, "late2", "w0", "{'metadata':{" DW_OWNER("batch/v1", "Job", "once") "}}");
    dw_settle(w);
    assert_int_equal(dw_told(w, "came to the cordoned node: it names the node in spec.nodeName"),
                     2);
}

/* Something has to be read before it is known what it is: that is no reason to be done. */
static void nor_is_it_done_while_a_late_pod_is_being_looked_at(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_put(w, &kind_volume_attachment, ATTACHED);
    dw_start(w, "w0", NULL);
    w->by_hand_reads = true;
    dw_pod(w, "db-0", "w0", "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "db") "}}");
    dw_settle(w);
    dw_remove(w, &kind_volume_attachment, NULL, "va");
    dw_settle(w);
    if (dw_view(w, 0)->phase == DRAIN_DONE)
        fail_msg("drained, with a pod on it");
    w->by_hand_reads = false;
    dw_settle(w);
    assert_phase(w, 0, DRAIN_EVICTING);
    assert_int_equal(dw_asked(w, "evict default/db-0"), 1);
}

/* Somebody wants the node in service: it is not cordoned again and again. */
static void a_cordon_that_is_undone_at_once(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    w->by_hand_cordon = true;
    dw_start(w, "w0", NULL);
    struct action *a = dw_open(w, ACTION_PATCH, "w0");
    dw_patched(w, a, false);
    dw_edit_node(w, "w0", "{'spec':{'unschedulable':null}}");
    dw_pass(w, SEC(60));
    assert_phase(w, 0, DRAIN_FAILED);
    assert_string_equal(dw_view(w, 0)->error,
                        "somebody uncordoned the node at once: nothing is evicted");
    assert_int_equal(dw_asked(w, "patch nodes w0"), 1);
    assert_int_equal(dw_asked(w, "evict"), 0);
}

/* A StatefulSet's pod is deleted and made again elsewhere, and both are heard of at once. */
static void a_name_that_has_moved_to_another_node(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_node(w, "w1");
    dw_pod(w, "db-0", "w0", "{}");
    dw_start(w, "w0", NULL);
    dw_accept(w, ACTION_EVICT, "db-0");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_EVICTING);
    dw_pod(w, "db-0", "w1", "{'metadata':{'uid':'another'}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

/* --- taking it back --- */

/* Said, and why not. */
static void what_others_had_cordoned_stays_so(void **state) {
    struct drain_world *w = *state;
    w->opts.uncordon_when_done = true;
    dw_node(w, "w0");
    dw_edit_node(w, "w0", "{'spec':{'unschedulable':true}}");
    dw_start(w, "w0", NULL);
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    assert_true(cordoned(w, "w0"));
    assert_string_equal(record_of(w, "w0"), "");
    assert_int_equal(dw_told(w, "remark w0: it stays cordoned: "), 1);
    assert_int_equal(dw_told(w, "uncordoned w0"), 0);
}

static void uncordoned_when_stopped_and_told_so(void **state) {
    struct drain_world *w = *state;
    w->opts.uncordon_on_abort = true;
    in_the_middle(w);
    drain_stop(w->d, "interrupted");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_STOPPED);
    assert_false(cordoned(w, "w0"));
    assert_string_equal(record_of(w, "w0"), "");
    assert_int_equal(dw_told(w, "uncordoned w0\n"), 1);
    assert_int_equal(dw_told(w, "draining -> uncordoning w0\nuncordoned w0\nuncordoning -> stopped "
                                "w0\n"),
                     1);
    assert_true(drain_over(w->d));
}

static void uncordoned_after_each_bad_end(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct drain_world w;
        dw_init(&w);
        w.opts.uncordon_on_abort = true;
        w.opts.timeout = SEC(60);
        dw_node(&w, "w0");
        dw_pod(&w, "a", "w0", how == 0 ? DW_BARE : "{}");
        dw_start(&w, "w0", NULL);
        if (how == 1)
            dw_reply(&w, ACTION_EVICT, "a", KUBE_FORBIDDEN, -1);
        dw_pass(&w, SEC(61));
        static const enum drain_phase ends[] = {DRAIN_REFUSED, DRAIN_FAILED, DRAIN_TIMED_OUT};
        assert_phase(&w, 0, ends[how]);
        assert_non_null(dw_view(&w, 0)->error);
        assert_false(cordoned(&w, "w0"));
        dw_done(&w);
    }
}

/* The process was killed and its successor is stopped: what the first took is given back. A cordon
 * that was asked for by itself stays. */
static void uncordoned_when_a_run_that_goes_on_is_stopped(void **state) {
    (void)state;
    for (int drained = 0; drained < 2; drained++) {
        struct drain_world w;
        dw_init(&w);
        w.opts.keep_record = true;
        w.opts.uncordon_on_abort = true;
        dw_node(&w, "w0");
        dw_pod(&w, "a", "w0", "{}");
        dw_start(&w, "w0", NULL);
        assert_true(cordoned(&w, "w0"));
        if (drained) /* `slipway cordon` writes none */
            dw_edit_node(&w, "w0",
                         "{'status':{'conditions':[{'type':'DrainInProgress','status':'True',"
                         "'reason':'SlipwayDrain'}]}}");
        dw_kill(&w);
        dw_start(&w, "w0", NULL);
        assert_phase(&w, 0, DRAIN_EVICTING);
        drain_stop(w.d, "interrupted");
        dw_reply(&w, ACTION_EVICT, "a", KUBE_SERVER_ERROR, -1);
        dw_pass(&w, SEC(10));
        assert_phase(&w, 0, DRAIN_STOPPED);
        assert_int_equal(cordoned(&w, "w0"), !drained);
        dw_done(&w);
    }
}

/* The cordon was written a moment before: it is ours, too. */
static void uncordoned_when_stopped_before_the_cordon_was_seen(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    w->opts.uncordon_on_abort = true;
    w->by_hand_cordon = true;
    dw_start(w, "w0", NULL);
    drain_stop(w->d, "interrupted");
    dw_settle(w);
    assert_false(drain_over(w->d));
    dw_patched(w, dw_open(w, ACTION_PATCH, "w0"), false);
    w->by_hand_cordon = false;
    dw_settle(w);
    dw_show(w, &kind_node, NULL, "w0");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_STOPPED);
    assert_false(cordoned(w, "w0"));
    assert_true(drain_over(w->d));
}

static void what_was_cordoned_before_stays_so(void **state) {
    struct drain_world *w = *state;
    w->opts.uncordon_on_abort = true;
    dw_node(w, "w0");
    dw_edit_node(w, "w0", "{'spec':{'unschedulable':true}}");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    dw_reply(w, ACTION_EVICT, "a", KUBE_DENIED, -1);
    dw_settle(w);
    drain_stop(w->d, "interrupted");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_STOPPED);
    assert_true(cordoned(w, "w0"));
    assert_string_equal(record_of(w, "w0"), ""); /* our hold is gone */
    assert_int_equal(dw_told(w, "uncordoned"), 0);
}

static void the_hold_of_another_keeps_it_cordoned(void **state) {
    struct drain_world *w = *state;
    w->opts.uncordon_on_abort = true;
    in_the_middle(w);
    hold(w, "w0", RECORD(OURS "," BOBS));
    drain_stop(w->d, "interrupted");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_STOPPED);
    assert_true(cordoned(w, "w0"));
    assert_null(strstr(record_of(w, "w0"), "cli/test"));
    assert_non_null(strstr(record_of(w, "w0"), "cli/bob"));
}

/* "What we cordoned": a hold of an earlier run is not this run's to lift. */
static void the_hold_of_an_earlier_run_stays(void **state) {
    struct drain_world *w = *state;
    w->opts.uncordon_on_abort = true;
    dw_node(w, "w0");
    hold(w, "w0", RECORD(OURS));
    dw_pod(w, "a", "w0", DW_BARE);
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_REFUSED);
    assert_true(cordoned(w, "w0"));
}

/* Also when this run has written a new reason to it. */
static void a_new_reason_is_written_and_makes_it_no_hold_of_this_run(void **state) {
    struct drain_world *w = *state;
    w->opts.uncordon_on_abort = true;
    w->opts.holder.reason = "firmware";
    dw_node(w, "w0");
    hold(w, "w0", RECORD(OURS));
    dw_pod(w, "a", "w0", DW_BARE);
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_REFUSED);
    assert_non_null(strstr(record_of(w, "w0"), "firmware"));
    assert_true(cordoned(w, "w0"));
    assert_int_equal(dw_asked(w, "patch nodes w0\n"), 1);
}

/* Somebody has lifted our earlier cordon and left the record: this one is of this run. */
static void a_record_on_a_schedulable_node_is_no_hold(void **state) {
    struct drain_world *w = *state;
    w->opts.uncordon_on_abort = true;
    dw_node(w, "w0");
    hold(w, "w0", RECORD(OURS));
    dw_edit_node(w, "w0", "{'spec':{'unschedulable':null}}");
    dw_pod(w, "a", "w0", DW_BARE);
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_REFUSED);
    assert_int_equal(dw_told(w, "already-cordoned"), 0);
    assert_false(cordoned(w, "w0"));
    assert_int_equal(dw_told(w, "uncordoned w0"), 1);
}

static void taking_it_back_survives_conflicts_and_trouble(void **state) {
    struct drain_world *w = *state;
    w->opts.uncordon_on_abort = true;
    in_the_middle(w);
    w->by_hand_cordon = true;
    drain_stop(w->d, "interrupted");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_UNDOING);
    dw_edit_node(w, "w0", "{'metadata':{'labels':{'x':'y'}}}");
    dw_reply(w, ACTION_PATCH, "w0", KUBE_CONFLICT, -1);
    dw_pass(w, SEC(1));
    dw_reply(w, ACTION_PATCH, "w0", KUBE_SERVER_ERROR, -1);
    dw_settle(w);
    assert_true(dw_view(w, 0)->blocked);
    dw_pass(w, SEC(1));
    w->by_hand_cordon = false;
    dw_settle(w);
    assert_phase(w, 0, DRAIN_STOPPED);
    assert_false(cordoned(w, "w0"));
    assert_int_equal(dw_asked(w, "patch"), 3);
    assert_false(dw_view(w, 0)->blocked);
}

static void taking_it_back_ends_when_it_is_forbidden_or_the_node_is_gone(void **state) {
    (void)state;
    for (int how = 0; how < 2; how++) {
        struct drain_world w;
        dw_init(&w);
        w.opts.uncordon_on_abort = true;
        in_the_middle(&w);
        w.by_hand_cordon = true;
        drain_stop(w.d, "interrupted");
        dw_settle(&w);
        if (how)
            dw_remove(&w, &kind_node, NULL, "w0");
        dw_reply(&w, ACTION_PATCH, "w0", how ? KUBE_NOT_FOUND : KUBE_FORBIDDEN, -1);
        dw_settle(&w);
        assert_phase(&w, 0, DRAIN_STOPPED);
        assert_true(drain_over(w.d));
        assert_int_equal(dw_told(&w, "uncordoned w0"), 0);
        assert_int_equal(dw_asked(&w, "patch"), 1);
        dw_done(&w);
    }
}

static void a_rehearsal_uncordons_each_node_when_it_is_drained(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_node(w, "w1");
    w->opts.uncordon_when_done = true;
    w->opts.max_unavailable.value = 1;
    dw_start(w, "w0", "w1", NULL);
    dw_pass(w, SEC(1));
    assert_phase(w, 0, DRAIN_DONE);
    assert_phase(w, 1, DRAIN_DONE);
    assert_false(cordoned(w, "w0"));
    assert_false(cordoned(w, "w1"));
    assert_int_equal(dw_told(w, "uncordoned"), 2);
    assert_null(dw_view(w, 0)->error);
}

/* Promise 5: nothing waits silently, our own write included. */
static void a_cordon_that_the_watch_does_not_show_is_said(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    w->by_hand_cordon = true;
    dw_start(w, "w0", NULL);
    dw_patched(w, dw_open(w, ACTION_PATCH, "w0"), false);
    dw_pass(w, SEC(5));
    assert_phase(w, 0, DRAIN_CORDONING);
    assert_true(dw_view(w, 0)->blocked);
    assert_int_equal(dw_told(w, "blocked ServerTrouble w0"), 1);
    dw_show(w, &kind_node, NULL, "w0");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

static void taking_it_back_has_an_end(void **state) {
    struct drain_world *w = *state;
    w->opts.uncordon_on_abort = true;
    w->opts.timeout = SEC(60);
    in_the_middle(w);
    w->by_hand_cordon = true;
    for (int i = 0; i < 1200 && !drain_over(w->d); i++) {
        if (dw_under_way(w, ACTION_PATCH))
            dw_reply(w, ACTION_PATCH, "w0", KUBE_UNREACHABLE, -1);
        if (dw_under_way(w, ACTION_EVICT))
            dw_reply(w, ACTION_EVICT, "a", KUBE_UNREACHABLE, -1);
        dw_pass(w, SEC(1));
    }
    assert_true(drain_over(w->d));
    assert_phase(w, 0, DRAIN_TIMED_OUT);
    assert_int_equal(dw_told(w, "uncordoned w0"), 0);
    assert_true(dw_told(w, "remark") >= 1); /* that it stays cordoned */
}

static void what_somebody_else_lifted_is_not_said_to_be_ours(void **state) {
    struct drain_world *w = *state;
    w->opts.uncordon_on_abort = true;
    in_the_middle(w);
    dw_edit_node(w, "w0", "{'metadata':{'annotations':null},'spec':{'unschedulable':null}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_FAILED);
    assert_int_equal(dw_told(w, "uncordoned w0\n"), 0);
    assert_wanted(w, "");
}

/* Killed anywhere and started again, the drain goes on with what there is. */
static void killed_and_started_again(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w0", "{}");
    w->by_hand_cordon = true;
    dw_start(w, "w0", NULL);
    struct action *a = dw_open(w, ACTION_PATCH, "w0");
    dw_patch(w, &kind_node, NULL, "w0", json_loads(a->body, 0, NULL));
    dw_kill(w); /* after the write, before its answer */
    dw_show(w, &kind_node, NULL, "w0");
    w->by_hand_cordon = false;
    dw_start(w, "w0", NULL);
    dw_accept(w, ACTION_EVICT, "a");
    dw_kill(w);
    dw_forget(w);
    dw_start(w, "w0", NULL);
    assert_wanted(w, "evict default/b\n"); /* a is on its way */
    assert_state(w, "a", DRAIN_POD_LEAVING);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DRAIN_TEST(the_cordon_is_recorded_with_its_holder),
        DRAIN_TEST(nothing_is_evicted_before_the_cordon_is_seen),
        DRAIN_TEST(a_conflict_is_tried_again_with_what_is_there_now),
        DRAIN_TEST(conflicts_without_end_are_said),
        DRAIN_TEST(a_lost_answer_to_a_cordon_that_was_written),
        DRAIN_TEST(a_lost_answer_to_a_cordon_that_was_not_written),
        DRAIN_TEST(server_trouble_is_said_and_retry_after_honoured),
        DRAIN_TEST(a_cordon_that_is_forbidden_stops_the_node),
        DRAIN_TEST(a_cordon_that_a_webhook_denies_is_called_so),
        DRAIN_TEST(one_rejected_token_after_conflicts_is_not_the_end),
        DRAIN_TEST(somebody_elses_cordon_is_remembered_and_our_hold_added),
        DRAIN_TEST(another_holder_stays_one),
        DRAIN_TEST(our_own_hold_of_an_earlier_run_is_gone_on_with),
        DRAIN_TEST(a_record_of_a_newer_version_is_refused),
        cmocka_unit_test(another_drain_of_the_node_is_told),
        DRAIN_TEST(another_holder_that_comes_later_is_told_once),
        DRAIN_TEST(a_cordon_in_our_name_at_the_same_moment_is_told),
        DRAIN_TEST(the_timeout_bounds_the_cordon_too),
        DRAIN_TEST(a_foreign_uncordon_stops_it),
        DRAIN_TEST(a_hold_that_was_taken_off_stops_it),
        DRAIN_TEST(a_record_that_became_unreadable_stops_it),
        DRAIN_TEST(other_changes_of_the_node_do_not),
        DRAIN_TEST(a_node_that_is_deleted_ends_its_drain),
        DRAIN_TEST(a_node_that_is_made_anew_is_not_ours),
        DRAIN_TEST(answers_after_the_end_change_nothing),
        DRAIN_TEST(the_timeout_begins_with_the_evictions),
        DRAIN_TEST(one_node_that_is_stuck_does_not_hold_up_the_others),
        DRAIN_TEST(a_pod_that_comes_while_volumes_detach_is_evicted),
        DRAIN_TEST(the_cordon_is_as_old_as_it_is),
        DRAIN_TEST(nor_is_it_done_while_a_late_pod_is_being_looked_at),
        DRAIN_TEST(a_cordon_that_is_undone_at_once),
        DRAIN_TEST(a_name_that_has_moved_to_another_node),
        DRAIN_TEST(what_others_had_cordoned_stays_so),
        DRAIN_TEST(uncordoned_when_stopped_and_told_so),
        cmocka_unit_test(uncordoned_after_each_bad_end),
        cmocka_unit_test(uncordoned_when_a_run_that_goes_on_is_stopped),
        DRAIN_TEST(uncordoned_when_stopped_before_the_cordon_was_seen),
        DRAIN_TEST(what_was_cordoned_before_stays_so),
        DRAIN_TEST(the_hold_of_another_keeps_it_cordoned),
        DRAIN_TEST(the_hold_of_an_earlier_run_stays),
        DRAIN_TEST(a_new_reason_is_written_and_makes_it_no_hold_of_this_run),
        DRAIN_TEST(a_record_on_a_schedulable_node_is_no_hold),
        DRAIN_TEST(taking_it_back_survives_conflicts_and_trouble),
        cmocka_unit_test(taking_it_back_ends_when_it_is_forbidden_or_the_node_is_gone),
        DRAIN_TEST(a_rehearsal_uncordons_each_node_when_it_is_drained),
        DRAIN_TEST(killed_and_started_again),
        DRAIN_TEST(a_cordon_that_the_watch_does_not_show_is_said),
        DRAIN_TEST(taking_it_back_has_an_end),
        DRAIN_TEST(what_somebody_else_lifted_is_not_said_to_be_ours),
    };
    return cmocka_run_group_tests_name("engine/drain_node", tests, NULL, NULL);
}
