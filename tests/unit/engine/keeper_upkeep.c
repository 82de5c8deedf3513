/* Tests of src/engine/keeper_upkeep.c: maintenances with an object of their own. */
#include "engine/keeper.h"

#include "engine/stop.h"

#include "support/upkeep_world.h"

static void a_reboot_from_its_beginning_to_its_end(void **state) {
    struct kw *w = *state;
    operating(w);
    assert_string_equal(journal(w, "m1"), WAY_THERE);
    assert_slots(w, "w1 granted");
    assert_int_equal(kw_pods_on(w, "w1"), 0);
    come_back(w, "w1");
    assert_string_equal(journal(w, "m1"), WAY_THERE " " WAY_BACK);
    assert_int_equal(operations(w, "m1"), 1);
    assert_put_back(w, "w1");
    assert_string_equal(dw_str(doc_of(w, "m1"), "status.bootBefore"), "boot-1");
    assert_string_equal(dw_str(doc_of(w, "m1"), "status.bootAfter"), "boot-2");
    assert_int_equal(json_array_size(dw_at(doc_of(w, "m1"), "metadata.finalizers")), 0);
    kw_ask_delete(w, &kind_maintenance, "m1");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "gone");
}

static void a_drain_is_held_until_it_is_deleted(void **state) {
    struct kw *w = *state;
    start(w, "Drain");
    kw_pass(w, SEC(86400));
    assert_in(w, "m1", "Granted");
    assert_slots(w, "w1 granted");
    assert_true(kw_is_cordoned(w, "w1"));
    assert_int_equal(kw_pods_on(w, "w1"), 0);
    kw_ask_delete(w, &kind_maintenance, "m1");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "gone");
    assert_put_back(w, "w1");
    assert_int_equal(w->operated.len, 0);
}

/* It was held for somebody who may have turned it off and on. */
static void a_drain_whose_node_has_rebooted_can_be_deleted(void **state) {
    struct kw *w = *state;
    start(w, "Drain");
    until(w, "m1", "Granted");
    come_back(w, "w1");
    assert_in(w, "m1", "Granted");
    kw_ask_delete(w, &kind_maintenance, "m1");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "gone");
    assert_put_back(w, "w1");
}

/* Somebody wants it in service again, and it is: nobody holds a slot for it, or drains it anew. */
static void a_drain_whose_node_is_uncordoned_is_over(void **state) {
    struct kw *w = *state;
    for (unsigned again = 0; again < 2; again++) {
        if (again) {
            kw_done(w);
            kw_init(w, 2);
        }
        start(w, "Drain");
        until(w, "m1", "Granted");
        if (again) /* he has turned it off and on */
            come_back(w, "w1");
        kw_edit(w, &kind_node, NULL, "w1", "{'spec':{'unschedulable':null}}");
        kw_pass(w, SEC(10));
        assert_in(w, "m1", "Failed");
        assert_string_equal(dw_str(doc_of(w, "m1"), "status.reason"), "UncordonedByOthers");
        assert_put_back(w, "w1");
    }
}

/* A FleetLock client on a node that somebody else is at work on: it neither goes nor lets go. */
static void a_node_in_other_hands_is_not_its_clients(void **state) {
    struct kw *w = *state;
    start(w, "Drain");
    until(w, "m1", "Granted");
    for (unsigned i = 0; i < w->n; i++) {
        const struct kw_reply *r = kw_answer(w, i, "w1", KEEPER_MAY_GO);
        assert_int_equal(r->say, KEEPER_BLOCKED);
        assert_string_equal(r->text, "the node is out of service for maintenance/m1: Drain");
        assert_int_equal(kw_answer(w, i, "w1", KEEPER_STEADY)->say, KEEPER_NOTED);
        assert_slots(w, "w1 granted");
    }
    kw_edit(w, &kind_maintenance, NULL, "m1",
            "{'spec':{'operation':'Reboot','executor':{"
            "'fleetlock':{}}}}");
    kw_settle(w);
    assert_int_equal(kw_answer(w, 0, "w1", KEEPER_MAY_GO)->say, KEEPER_GO);
    (void)kw_answer(w, 0, "w1", KEEPER_STEADY);
    assert_slots(w, "w1 steady");
}

/* --- deletion --- */

static void deleted_while_it_is_queued(void **state) {
    struct kw *w = *state;
    operating(w);
    upkeep(w, "m2", "w2", "Reboot");
    kw_pass(w, SEC(5));
    assert_in(w, "m2", "Queued");
    assert_slots(w, "w1 granted; w2");
    kw_ask_delete(w, &kind_maintenance, "m2");
    kw_pass(w, SEC(5));
    assert_in(w, "m2", "gone");
    assert_slots(w, "w1 granted"); /* nobody waits there any more */
    str_reset(&w->told);
    come_back(w, "w1");
    assert_null(strstr(str_get(&w->told), "SlotTaken w2"));
    assert_put_back(w, "w2");
    assert_int_equal(kw_pods_on(w, "w2"), 1);
}

static void deleted_while_it_is_drained(void **state) {
    struct kw *w = *state;
    w->lazy_pods = true;
    start(w, "Reboot");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Draining");
    assert_true(kw_is_cordoned(w, "w1"));
    kw_ask_delete(w, &kind_maintenance, "m1");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "gone");
    assert_put_back(w, "w1");
    assert_int_equal(w->operated.len, 0);
}

/* Its phase was about to be written: it is not begun any more. */
static void deleted_when_it_is_granted(void **state) {
    struct kw *w = *state;
    start(w, "Reboot");
    until(w, "m1", "Granted");
    kw_ask_delete(w, &kind_maintenance, "m1");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "gone");
    assert_put_back(w, "w1");
    assert_int_equal(w->operated.len, 0);
}

/* The same, found out by a conflict. */
static void deleted_while_its_beginning_is_written(void **state) {
    struct kw *w = *state;
    struct kw_replica *r = &w->r[0];
    start(w, "Reboot");
    until(w, "m1", "Granted");
    for (unsigned i = 0; i < 100 && !kw_show_one(r, KW_UPKEEPS); i++)
        kw_step(r);
    kw_step(r); /* wants Operating written */
    assert_true(r->calls.len > 0);
    kw_ask_delete(w, &kind_maintenance, "m1");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "gone");
    assert_put_back(w, "w1");
    assert_int_equal(w->operated.len, 0);
}

/* What goes on cannot be taken back: it is waited for. */
static void deleted_while_it_is_operating(void **state) {
    struct kw *w = *state;
    operating(w);
    kw_ask_delete(w, &kind_maintenance, "m1");
    kw_pass(w, SEC(60));
    assert_in(w, "m1", "Operating");
    assert_slots(w, "w1 granted");
    come_back(w, "w1");
    assert_in(w, "m1", "gone");
    assert_put_back(w, "w1");
    assert_int_equal(operations(w, "m1"), 1);
}

static void deleted_while_it_is_operating_and_nothing_comes_of_it(void **state) {
    struct kw *w = *state;
    operating(w);
    kw_ask_delete(w, &kind_maintenance, "m1");
    kw_pass(w, SEC(1000));
    assert_in(w, "m1", "gone");
    assert_put_back(w, "w1");
}

static void deleted_when_it_is_halted(void **state) {
    struct kw *w = *state;
    halted(w);
    kw_ask_delete(w, &kind_maintenance, "m1");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "gone");
    assert_put_back(w, "w1");
    assert_int_equal(operations(w, "m1"), 1);
}

/* Somebody has taken its finalizer off: its slot is put back, the others go on. */
static void an_object_that_is_torn_away(void **state) {
    struct kw *w = *state;
    w->opts.max.value = 2;
    w->lazy_pods = true;
    start(w, "Reboot");
    upkeep(w, "m2", "w2", "Reboot");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Draining");
    assert_in(w, "m2", "Draining");
    kw_delete(w, &kind_maintenance, NULL, "m1");
    kw_pass(w, SEC(5));
    assert_slots(w, "w2 taken");
    assert_false(kw_is_cordoned(w, "w1"));
    assert_in(w, "m2", "Draining");
}

/* Two of them at once, and a third wants the node of the first. */
static void an_object_that_is_torn_away_while_it_is_written(void **state) {
    struct kw *w = *state;
    struct kw_replica *r = &w->r[0];
    start(w, "Drain");
    until(w, "m1", "Granted");
    kw_put(w, &kind_maintenance,
           "{'metadata':{'name':'m2','uid':'uid-m2'},'spec':{'node':'w2','operation':'Drain'}}");
    kw_ask_delete(w, &kind_maintenance, "m1");
    while (kw_show_one(r, KW_UPKEEPS)) {
    }
    kw_step(r); /* its next phase is on its way */
    assert_true(r->calls.len > 0);
    kw_delete(w, &kind_maintenance, NULL, "m1");
    while (kw_show_one(r, KW_UPKEEPS)) {
    }
    kw_step(r); /* and its slot is looked at */
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "gone");
    assert_in(w, "m2", "Granted"); /* the node was only held drained */
    assert_slots(w, "w2 granted");
    assert_false(kw_is_cordoned(w, "w1"));
}

/* Its node was told to go, for all that is known: only its new boot, or somebody, frees the slot.
 */
static void an_object_that_is_torn_away_from_a_node_that_was_told_to_go(void **state) {
    struct kw *w = *state;
    operating(w);
    kw_delete(w, &kind_maintenance, NULL, "m1");
    kw_pass(w, SEC(86400));
    assert_slots(w, "w1 granted");
    come_back(w, "w1");
    assert_put_back(w, "w1");
}

/* As one that was frozen would leave it. */
static void one_that_is_over_keeps_no_slot(void **state) {
    struct kw *w = *state;
    start(w, "Drain");
    until(w, "m1", "Granted");
    kw_edit(w, &kind_maintenance, NULL, "m1", "{'status':{'phase':'Failed','reason':'PutBack'}}");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Failed");
    assert_put_back(w, "w1");
}

static void several_objects_that_are_torn_away(void **state) {
    struct kw *w = *state;
    w->opts.max.value = 2;
    w->lazy_pods = true;
    start(w, "Reboot");
    upkeep(w, "m2", "w2", "Reboot");
    kw_pass(w, SEC(5));
    upkeep(w, "m3", "w1", "Drain");
    kw_pass(w, SEC(5));
    assert_in(w, "m3", "Queued");
    kw_delete(w, &kind_maintenance, NULL, "m1");
    kw_delete(w, &kind_maintenance, NULL, "m2");
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 taken");
    assert_in(w, "m3", "Draining");
    assert_false(kw_is_cordoned(w, "w2"));
}

/* The watch brings both at once: that it is gone, and that there is another of its name. */
static void an_object_that_is_made_anew_has_nothing_of_the_old_one(void **state) {
    struct kw *w = *state;
    halted(w);
    kw_ask_delete(w, &kind_maintenance, "m1");
    until(w, "m1", "gone");
    kw_put(w, &kind_maintenance,
           "{'metadata':{'name':'m1','uid':'uid-new'},'spec':{'node':'w1','operation':'Reboot',"
           "'policy':'default'}}");
    kw_pass(w, SEC(5));
    assert_string_equal(journal(w, "m1"), WAY_THERE);
    assert_int_equal(operations(w, "m1"), 2);
}

/* --- what fails --- */

/* Also when its picture of the Maintenance is old: whoever is about to end waits for it. */
static void what_comes_of_an_operation_is_owed_until_it_is_written(void **state) {
    struct kw *w = *state;
    operating(w);
    assert_false(keeper_owes(w->r[0].k));
    w->r[0].late[KW_UPKEEPS] = true;
    kw_edit(w, &kind_maintenance, NULL, "m1", "{'metadata':{'labels':{'a':'b'}}}");
    keeper_operated(w->r[0].k, "m1", "the plug does not answer");
    kw_settle(w); /* written over what it has not seen: refused */
    assert_in(w, "m1", "Operating");
    assert_true(keeper_owes(w->r[0].k));
    w->r[0].late[KW_UPKEEPS] = false;
    kw_pass(w, SEC(2));
    assert_in(w, "m1", "Halted");
    assert_false(keeper_owes(w->r[0].k));
}

/* Nothing is written then: whether its node goes is seen there. */
static void nothing_is_owed_of_an_operation_that_has_succeeded(void **state) {
    struct kw *w = *state;
    operating(w);
    keeper_operated(w->r[0].k, "m1", NULL);
    kw_settle(w);
    assert_in(w, "m1", "Operating");
    assert_false(keeper_owes(w->r[0].k));
}

static void an_operation_that_shows_nothing_halts(void **state) {
    struct kw *w = *state;
    operating(w);
    kw_pass(w, SEC(880));
    assert_in(w, "m1", "Operating");
    kw_pass(w, SEC(30));
    assert_in(w, "m1", "Halted");
}

/* Halted, and the node goes after all. */
static void a_node_that_reboots_after_all(void **state) {
    struct kw *w = *state;
    halted(w);
    come_back(w, "w1");
    assert_in(w, "m1", "Complete");
    assert_put_back(w, "w1");
}

static void stop_all(struct kw *w) {
    kw_put(w, &kind_config_map,
           "{'metadata':{'namespace':'" KW_NS "','name':'" STOP_MAP "','labels':{'" SLOTS_LABEL
           "':'stop'}}}");
}

static void retry_waits_for_the_end_of_a_stop(void **state) {
    struct kw *w = *state;
    halted(w);
    stop_all(w);
    say(w, "m1", "retry");
    kw_pass(w, SEC(3600));
    assert_in(w, "m1", "Halted");
    assert_int_equal(operations(w, "m1"), 1);
    assert_non_null(strstr(blocker(w, "m1", "message"), "heard when it is paused no more"));
    kw_delete(w, &kind_config_map, KW_NS, STOP_MAP);
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Operating");
    assert_int_equal(operations(w, "m1"), 2);
}

/* Its phase says that it has begun; the stop came before the command. */
static void a_stop_right_before_the_command(void **state) {
    struct kw *w = *state;
    start(w, "Reboot");
    until(w, "m1", "Operating");
    assert_int_equal(operations(w, "m1"), 0);
    stop_all(w);
    kw_pass(w, SEC(7200));
    assert_in(w, "m1", "Operating");
    assert_int_equal(operations(w, "m1"), 0);
    assert_string_equal(blocker(w, "m1", "code"), "ManualHold");
    kw_delete(w, &kind_config_map, KW_NS, STOP_MAP);
    kw_pass(w, SEC(5));
    assert_int_equal(operations(w, "m1"), 1);
    come_back(w, "w1");
    assert_in(w, "m1", "Complete");
}

/* The same, and it is deleted meanwhile: nobody knows that there was no command before. */
static void deleted_right_before_the_command(void **state) {
    struct kw *w = *state;
    start(w, "Reboot");
    until(w, "m1", "Operating");
    stop_all(w);
    kw_settle(w);
    kw_ask_delete(w, &kind_maintenance, "m1");
    kw_delete(w, &kind_config_map, KW_NS, STOP_MAP);
    kw_pass(w, SEC(3600));
    assert_in(w, "m1", "gone");
    assert_put_back(w, "w1");
    assert_int_equal(operations(w, "m1"), 0);
}

/* --- a client that is told while it is undone --- */

/* Drained, for a client that has not asked; the leader hears no more of the record. */
static void drained_for_a_client(struct kw *w) {
    start(w, "Reboot");
    kw_edit(w, &kind_maintenance, NULL, "m1", "{'spec':{'executor':{'fleetlock':{}}}}");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Drained");
    w->r[0].late[KW_MAPS] = true;
}

/* Whatever ends it there: the grant stands until the node has gone, or reports. */
static void assert_undone_too_late(struct kw *w) {
    until(w, "m1", "Undoing");
    w->r[0].late[KW_MAPS] = false;
    kw_pass(w, SEC(60));
    assert_in(w, "m1", "Granted");
    assert_string_equal(reason(w, "m1"), "GrantedMeanwhile");
    assert_slots(w, "w1 granted");
    come_back(w, "w1");
    assert_slots(w, "");
}

static void told_while_somebody_uncordons(void **state) {
    struct kw *w = *state;
    drained_for_a_client(w);
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_edit(w, &kind_node, NULL, "w1", "{'spec':{'unschedulable':null}}");
    assert_undone_too_late(w);
    assert_in(w, "m1", "Complete");
}

static void told_while_it_is_deleted(void **state) {
    struct kw *w = *state;
    drained_for_a_client(w);
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_ask_delete(w, &kind_maintenance, "m1");
    assert_undone_too_late(w);
    assert_in(w, "m1", "gone");
}

/* Its kubelet is heard of for as long as it takes. */
static void stay_up(struct kw *w) {
    for (int i = 0; i < 40; i++) {
        kw_renew(w, "w1");
        kw_pass(w, SEC(10));
    }
}

/* Told, and it has reported without having rebooted, before whoever leads knew of either: it may
 * still be about to go, and keeps its slot for as long as any other that has reported so. */
static void told_and_reported(struct kw *w, unsigned leader) {
    drained_for_a_client(w);
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
    assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_NOTED);
    kw_edit(w, &kind_node, NULL, "w1", "{'spec':{'unschedulable':null}}");
    if (leader)
        next_leader(w);
    else
        until(w, "m1", "Undoing");
    w->r[0].late[KW_MAPS] = false;
    kw_pass(w, SEC(240));
    assert_in(w, "m1", "Granted");
    assert_slots(w, "w1 steady");
    stay_up(w);
    assert_in(w, "m1", "Cancelled");
    assert_string_equal(reason(w, "m1"), "SameBoot");
    assert_put_back(w, "w1");
}

static void told_and_reported_before_a_leader_came(void **state) {
    told_and_reported(*state, 1);
}

static void told_and_reported_while_somebody_uncordons(void **state) {
    told_and_reported(*state, 0);
}

/* Its object is taken away by force, and it does not reboot: its report is heard. */
static void told_and_left_alone(void **state) {
    struct kw *w = *state;
    drained_for_a_client(w);
    w->r[0].late[KW_MAPS] = false;
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_delete(w, &kind_maintenance, NULL, "m1");
    kw_pass(w, SEC(60));
    assert_slots(w, "w1 granted");
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_BLOCKED);
    assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_TROUBLE); /* the watch may be late */
    assert_slots(w, "w1 granted");
    assert_says(w, 0, "w1", KEEPER_STEADY, KEEPER_NOTED);
    assert_slots(w, "w1 steady");
    stay_up(w);
    assert_put_back(w, "w1");
}

/* A new leader has not heard of the object yet: what it holds is not taken away. */
static void a_leader_that_does_not_know_it_yet(void **state) {
    struct kw *w = *state;
    w->r[1].late[KW_UPKEEPS] = true;
    start(w, "Drain");
    until(w, "m1", "Granted");
    next_leader(w);
    kw_pass(w, SEC(600));
    assert_in(w, "m1", "Granted");
    assert_slots(w, "w1 granted");
    w->r[1].late[KW_UPKEEPS] = false;
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Granted");
    kw_ask_delete(w, &kind_maintenance, "m1");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "gone");
    assert_put_back(w, "w1");
}

/* Its policy has changed, and it is kept by a new keeper of the same leader, whose watch of the
 * record is late: the slot that it does not see there is not lost. */
static void a_keeper_that_is_made_anew(void **state) {
    struct kw *w = *state;
    start(w, "Drain");
    w->r[0].late[KW_MAPS] = true;
    until(w, "m1", "Granted");
    kw_kill(w, 0);
    kw_keep(w, 0);
    keeper_lead(w->r[0].k, 1);
    kw_pass(w, SEC(60));
    assert_in(w, "m1", "Granted");
    assert_slots(w, "w1 granted");
}

/* Nothing is done to a node that carries a pod again. */
static void a_pod_that_comes_before_the_command(void **state) {
    struct kw *w = *state;
    start(w, "Reboot");
    until(w, "m1", "Granted");
    w->lazy_pods = true;
    kw_pod(w, "w1");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Granted");
    assert_int_equal(operations(w, "m1"), 0);
    assert_non_null(strstr(str_get(&w->wanted), "evict pods p3\n"));
    kw_delete(w, &kind_pod, "default", "p3");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Operating");
    assert_int_equal(operations(w, "m1"), 1);
}

/* The command has failed, maybe because the node it has spoken to goes down. */
static void nothing_is_done_on_the_heels_of_a_failure(void **state) {
    static const char *const words[] = {"retry", "skip", "abort", NULL};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 2);
        operating(w);
        keeper_operated(w->r[0].k, "m1", "connection closed");
        if (words[i])
            say(w, "m1", words[i]);
        else
            kw_ask_delete(w, &kind_maintenance, "m1");
        kw_pass(w, SEC(50));
        assert_in(w, "m1", "Halted");
        assert_non_null(strstr(blocker(w, "m1", "message"), "when it is clear that the node has"));
        assert_slots(w, "w1 granted");
        kw_status(w, "w1", false, 1); /* so it was */
        kw_pass(w, SEC(5));
        assert_int_equal(operations(w, "m1"), 1);
        come_back(w, "w1");
        assert_in(w, "m1", words[i] ? "Complete" : "gone");
        assert_int_equal(operations(w, "m1"), 1);
        assert_put_back(w, "w1");
        kw_done(w);
        free(w);
    }
}

/* What somebody has put back into service is not rebooted any more. */
static void retry_of_one_that_was_uncordoned(void **state) {
    struct kw *w = *state;
    halted(w);
    kw_edit(w, &kind_node, NULL, "w1", "{'spec':{'unschedulable':null}}");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Halted");
    unsigned had = operations(w, "m1");
    say(w, "m1", "retry");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Failed");
    assert_int_equal(operations(w, "m1"), had);
    assert_put_back(w, "w1");
}

/* Nobody asks for it, and nobody is told. */
static void what_a_command_does_is_not_told_to_the_node(void **state) {
    struct kw *w = *state;
    operating(w);
    assert_null(strstr(str_get(&w->told), "may go"));
    assert_non_null(strstr(str_get(&w->told), "is drained\n"));
    assert_non_null(strstr(str_get(&w->told), "is out of service for its Maintenance"));
}

/* --- leaders --- */

static void a_new_leader_goes_on(void **state) {
    static const char *const phases[] = {"Queued",    "Draining",    "Granted",
                                         "Operating", "Uncordoning", "Settling"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(phases); i++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 2);
        start(w, "Reboot");
        if (i > 3) {
            kw_pass(w, SEC(5));
            kw_set_time(w, w->now.mono + SEC(30));
            kw_reboot(w, "w1", 2);
        }
        until(w, "m1", phases[i]);
        next_leader(w);
        unsigned before = operations(w, "m1");
        kw_pass(w, SEC(5));
        if (i < 4)
            assert_in(w, "m1", "Operating");
        assert_int_equal(operations(w, "m1"), i < 3 ? 1 : before);
        if (i < 4)
            come_back(w, "w1");
        kw_renew(w, "w1"); /* it believes only what it has seen move */
        kw_pass(w, SEC(5));
        assert_string_equal(journal(w, "m1"), WAY_THERE " " WAY_BACK);
        assert_int_equal(operations(w, "m1"), i < 3 ? 1 : before);
        assert_put_back(w, "w1");
        kw_done(w);
        free(w);
    }
}

/* What is over at once is written together, and each step of it is told. */
static void back_in_one_write(void **state) {
    struct kw *w = *state;
    operating(w);
    str_reset(&w->wanted);
    str_reset(&w->ways);
    come_back(w, "w1");
    assert_in(w, "m1", "Complete");
    assert_string_equal(journal(w, "m1"), WAY_THERE " " WAY_BACK);
    /* Returning, Restoring and Uncordoning; Settling; Complete; and the finalizer. */
    assert_int_equal(dw_count(&w->wanted, "patch maintenances m1\n"), 4);
    assert_non_null(strstr(str_get(&w->ways), "Operating -> Returning; Returning -> Restoring; "
                                              "Restoring -> Uncordoning; Uncordoning -> Settling; "
                                              "Settling -> Complete; "));
}

/* An earlier release has written each by itself. */
static void one_that_stands_in_a_phase_of_the_way_back(void **state) {
    static const char *const phases[] = {"Returning", "Restoring"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(phases); i++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 2);
        operating(w);
        w->r[0].frozen = true;
        kw_set_time(w, w->now.mono + SEC(30));
        kw_reboot(w, "w1", 2);
        kw_edit(w, &kind_maintenance, NULL, "m1", "{'status':{'phase':'%s'}}", phases[i]);
        w->r[0].frozen = false;
        next_leader(w);
        kw_renew(w, "w1");
        kw_pass(w, SEC(5));
        kw_renew(w, "w1"); /* it believes only what it has seen move */
        kw_pass(w, SEC(5));
        assert_in(w, "m1", "Complete");
        assert_int_equal(operations(w, "m1"), 1);
        assert_put_back(w, "w1");
        kw_done(w);
        free(w);
    }
}

/* Nobody knows whether it was begun. */
static void a_new_leader_does_not_operate_again(void **state) {
    struct kw *w = *state;
    operating(w);
    next_leader(w);
    kw_pass(w, SEC(800));
    assert_in(w, "m1", "Operating");
    kw_pass(w, SEC(200));
    assert_in(w, "m1", "Halted");
    assert_int_equal(operations(w, "m1"), 1);
    say(w, "m1", "retry");
    kw_pass(w, SEC(5));
    assert_int_equal(operations(w, "m1"), 2);
    come_back(w, "w1");
    assert_in(w, "m1", "Complete");
}

/* --- paused --- */

static void one_that_is_paused_does_not_begin(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    upkeep(w, "m1", "w1", "Reboot");
    pause_it(w, "m1", true);
    kw_pass(w, SEC(600));
    assert_string_equal(journal(w, "m1"), "");
    assert_slots(w, "");
    pause_it(w, "m1", false);
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Operating");
}

/* Nor does it get a slot that it would not use. */
static void one_that_is_paused_while_it_is_queued(void **state) {
    struct kw *w = *state;
    operating(w);
    upkeep(w, "m2", "w2", "Reboot");
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 granted; w2");
    pause_it(w, "m2", true);
    kw_pass(w, SEC(5));
    assert_in(w, "m2", "Pending");
    assert_slots(w, "w1 granted");
    come_back(w, "w1");
    kw_pass(w, SEC(60));
    assert_in(w, "m2", "Pending");
    assert_put_back(w, "w2");
}

static void one_that_is_paused_when_it_is_granted(void **state) {
    struct kw *w = *state;
    start(w, "Reboot");
    until(w, "m1", "Granted");
    pause_it(w, "m1", true);
    kw_pass(w, SEC(600));
    assert_in(w, "m1", "Granted");
    assert_int_equal(w->operated.len, 0);
    pause_it(w, "m1", false);
    kw_pass(w, SEC(5));
    assert_int_equal(operations(w, "m1"), 1);
}

/* --- its slot, its node --- */

/* As `slipway unlock` does. */
static void let_go(struct kw *w) {
    json_t *record = kw_record(w), *slot = json_array_get(json_object_get(record, "slots"), 0);
    json_object_set_new(slot, "state", json_string("returned"));
    _cleanup_free_ char *text = json_dumps(record, 0);
    kw_set_record(w, "%s", text);
    json_decref(record);
}

static void a_slot_that_somebody_lets_go_ends_it(void **state) {
    struct kw *w = *state;
    operating(w);
    let_go(w);
    kw_pass(w, SEC(5));
    assert_string_equal(journal(w, "m1"), WAY_THERE " Undoing Failed");
    assert_put_back(w, "w1");
    kw_pass(w, SEC(600));
    assert_in(w, "m1", "Failed");
    assert_int_equal(operations(w, "m1"), 1);
}

static void a_slot_that_is_let_go_while_it_is_drained(void **state) {
    struct kw *w = *state;
    w->lazy_pods = true;
    start(w, "Reboot");
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 taken");
    let_go(w);
    kw_pass(w, SEC(5));
    assert_string_equal(journal(w, "m1"), "Queued Draining Undoing Failed");
    assert_put_back(w, "w1");
    assert_int_equal(kw_pods_on(w, "w1"), 1);
}

static void of_a_node_that_is_not_there(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w2", NULL);
    kw_start(w);
    upkeep(w, "m1", "w1", "Reboot");
    kw_pass(w, SEC(5));
    assert_string_equal(journal(w, "m1"), "Failed");
    assert_string_equal(dw_str(doc_of(w, "m1"), "status.reason"), "NodeGone");
    assert_slots(w, "");
}

static void of_a_node_that_goes_for_good(void **state) {
    struct kw *w = *state;
    operating(w);
    kw_delete(w, &kind_node, NULL, "w1");
    kw_pass(w, SEC(5));
    assert_string_equal(journal(w, "m1"), WAY_THERE " Undoing Failed");
    assert_slots(w, "");
}

/* Where a store has them depends on chance. */
static void they_are_looked_at_in_the_order_of_their_names(void **state) {
    struct kw *w = *state;
    char name[8], line[40];
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    for (unsigned i = 19; i >= 10; i--) {
        (void)snprintf(name, sizeof name, "m%u", i);
        upkeep(w, name, "w1", "Reboot");
    }
    kw_pass(w, SEC(1));
    const char *before = "";
    for (unsigned i = 10; i < 20; i++) {
        (void)snprintf(line, sizeof line, "patch maintenances m%u\n", i);
        const char *at = strstr(str_get(&w->wanted), line);
        assert_non_null(at);
        assert_true(i == 10 || at > before);
        before = at;
    }
}

/* For longer than anybody is remembered who does not ask again. */
static void it_waits_as_long_as_it_takes(void **state) {
    struct kw *w = *state;
    start(w, "Drain");
    kw_pass(w, SEC(5));
    upkeep(w, "m2", "w2", "Reboot");
    kw_pass(w, SEC(86400));
    assert_slots(w, "w1 granted; w2");
    kw_ask_delete(w, &kind_maintenance, "m1");
    kw_pass(w, SEC(10));
    assert_in(w, "m2", "Operating");
}

/* That it waits is no question of the client, who has gone away: its slot ends by that. */
static void one_behind_a_client_that_asks_no_more(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    w->lazy_pods = true;
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_DRAINING);
    kw_delete(w, &kind_pod, "default", "p1");
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 drained");
    upkeep(w, "m1", "w1", "Drain");
    for (int i = 0; i < 60; i++) { /* something happens all the time */
        kw_renew(w, "w2");
        kw_status(w, "w2", true, 1);
        kw_pass(w, SEC(60));
    }
    assert_in(w, "m1", "Granted");
    assert_slots(w, "w1 granted");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        KEEPER_TEST(a_reboot_from_its_beginning_to_its_end),
        KEEPER_TEST(a_drain_is_held_until_it_is_deleted),
        KEEPER_TEST(a_drain_whose_node_has_rebooted_can_be_deleted),
        KEEPER_TEST(a_drain_whose_node_is_uncordoned_is_over),
        KEEPER_TEST(a_node_in_other_hands_is_not_its_clients),
        KEEPER_TEST(deleted_while_it_is_queued),
        KEEPER_TEST(deleted_while_it_is_drained),
        KEEPER_TEST(deleted_when_it_is_granted),
        KEEPER_TEST(deleted_while_its_beginning_is_written),
        KEEPER_TEST(deleted_while_it_is_operating),
        KEEPER_TEST(deleted_while_it_is_operating_and_nothing_comes_of_it),
        KEEPER_TEST(deleted_when_it_is_halted),
        KEEPER_TEST(an_object_that_is_torn_away),
        KEEPER_TEST(an_object_that_is_torn_away_while_it_is_written),
        KEEPER_TEST(an_object_that_is_torn_away_from_a_node_that_was_told_to_go),
        KEEPER_TEST(one_that_is_over_keeps_no_slot),
        KEEPER_TEST(several_objects_that_are_torn_away),
        KEEPER_TEST(an_object_that_is_made_anew_has_nothing_of_the_old_one),
        KEEPER_TEST(what_comes_of_an_operation_is_owed_until_it_is_written),
        KEEPER_TEST(nothing_is_owed_of_an_operation_that_has_succeeded),
        KEEPER_TEST(an_operation_that_shows_nothing_halts),
        KEEPER_TEST(a_node_that_reboots_after_all),
        KEEPER_TEST(retry_waits_for_the_end_of_a_stop),
        KEEPER_TEST(a_stop_right_before_the_command),
        KEEPER_TEST(deleted_right_before_the_command),
        KEEPER_TEST(told_while_somebody_uncordons),
        KEEPER_TEST(told_while_it_is_deleted),
        KEEPER_TEST(told_and_reported_before_a_leader_came),
        KEEPER_TEST(told_and_reported_while_somebody_uncordons),
        KEEPER_TEST(told_and_left_alone),
        KEEPER_TEST(a_leader_that_does_not_know_it_yet),
        KEEPER_TEST(a_keeper_that_is_made_anew),
        KEEPER_TEST(a_pod_that_comes_before_the_command),
        KEEPER_TEST(retry_of_one_that_was_uncordoned),
        KEEPER_TEST(nothing_is_done_on_the_heels_of_a_failure),
        KEEPER_TEST(what_a_command_does_is_not_told_to_the_node),
        KEEPER_TEST(a_new_leader_goes_on),
        KEEPER_TEST(back_in_one_write),
        KEEPER_TEST(one_that_stands_in_a_phase_of_the_way_back),
        KEEPER_TEST(a_new_leader_does_not_operate_again),
        KEEPER_TEST(one_that_is_paused_does_not_begin),
        KEEPER_TEST(one_that_is_paused_while_it_is_queued),
        KEEPER_TEST(one_that_is_paused_when_it_is_granted),
        KEEPER_TEST(a_slot_that_somebody_lets_go_ends_it),
        KEEPER_TEST(a_slot_that_is_let_go_while_it_is_drained),
        KEEPER_TEST(of_a_node_that_is_not_there),
        KEEPER_TEST(of_a_node_that_goes_for_good),
        KEEPER_TEST(they_are_looked_at_in_the_order_of_their_names),
        KEEPER_TEST(it_waits_as_long_as_it_takes),
        KEEPER_TEST(one_behind_a_client_that_asks_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
