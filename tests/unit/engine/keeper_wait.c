/* Tests of src/engine/keeper_wait.c: what maintenances wait for, until when, and what then. */
#include "engine/keeper.h"

#include "engine/stop.h"
#include "support/upkeep_world.h"

/* The command has ended well, and the node has not gone: not at once, since it may be about to. */
static void a_command_that_changes_nothing_halts(void **state) {
    struct kw *w = *state;
    operating(w);
    keeper_operated(w->r[0].k, "m1", NULL);
    kw_pass(w, SEC(290));
    assert_in(w, "m1", "Operating");
    kw_pass(w, SEC(20));
    assert_in(w, "m1", "Halted");
    assert_string_equal(reason(w, "m1"), "StillUp");
    assert_string_equal(blocker(w, "m1", "code"), "OperationFailed");
    assert_string_equal(blocker(w, "m1", "object"), "node/w1");
    assert_slots(w, "w1 granted");
    say(w, "m1", "retry");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Operating");
    assert_int_equal(operations(w, "m1"), 2);
    come_back(w, "w1");
    assert_in(w, "m1", "Complete");
}

/* A node that goes, and never comes back: it keeps its slot, whatever anybody wants. */
static void a_node_that_does_not_come_back_halts(void **state) {
    struct kw *w = *state;
    operating(w);
    kw_status(w, "w1", false, 1);
    kw_pass(w, SEC(60));
    assert_string_equal(blocker(w, "m1", "code"), "NodeAwaited");
    assert_string_equal(blocker(w, "m1", "message"),
                        "it is down, and has not come back with a new boot yet");
    assert_string_equal(blocker(w, "m1", "then"), "it halts: NotBack");
    assert_string_not_equal(blocker(w, "m1", "deadline"), "");
    assert_string_not_equal(blocker(w, "m1", "hint"), "");
    kw_pass(w, SEC(900));
    assert_in(w, "m1", "Halted");
    assert_string_equal(reason(w, "m1"), "NotBack");
    assert_string_equal(blocker(w, "m1", "code"), "NotBack");
    assert_string_equal(blocker(w, "m1", "deadline"), "");
    kw_ask_delete(w, &kind_maintenance, "m1");
    kw_pass(w, SEC(86400));
    assert_in(w, "m1", "Halted");
    assert_slots(w, "w1 granted");
    assert_non_null(strstr(blocker(w, "m1", "message"),
                           "; it was deleted, and is gone when the node is Ready"));
    come_back(w, "w1");
    assert_in(w, "m1", "gone");
    assert_put_back(w, "w1");
}

/* It has rebooted, and does not become Ready. */
static void a_node_that_does_not_become_ready_halts(void **state) {
    struct kw *w = *state;
    operating(w);
    kw_status(w, "w1", false, 2);
    kw_pass(w, SEC(60));
    assert_in(w, "m1", "Returning");
    assert_string_equal(blocker(w, "m1", "message"), "it has rebooted, and is not Ready yet");
    kw_pass(w, SEC(900));
    assert_in(w, "m1", "Halted");
    kw_pass(w, SEC(9000)); /* and stays so */
    assert_string_equal(journal(w, "m1"), WAY_THERE " Returning Halted");
    come_back(w, "w1");
    assert_in(w, "m1", "Complete");
    assert_int_equal(operations(w, "m1"), 1);
}

/* Whoever led has died with it: nobody knows whether it was begun, and the node is up. */
static void words_to_one_that_was_left_alone(void **state) {
    static const char *const words[] = {"retry", "skip", "abort", NULL};
    static const char *const ends[] = {"Operating", "Complete", "Cancelled", "gone"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 2);
        operating(w);
        next_leader(w);
        kw_pass(w, SEC(5));
        if (words[i])
            say(w, "m1", words[i]);
        else
            kw_ask_delete(w, &kind_maintenance, "m1");
        kw_pass(w, SEC(280)); /* it may still be going down */
        assert_in(w, "m1", "Operating");
        assert_int_equal(operations(w, "m1"), 1);
        assert_slots(w, "w1 granted");
        if (i == 3)
            assert_non_null(strstr(blocker(w, "m1", "message"), "it was deleted, and is gone when "
                                                                "the node is back, or has stayed "
                                                                "up for 5m"));
        kw_pass(w, SEC(30));
        assert_in(w, "m1", ends[i]);
        assert_int_equal(operations(w, "m1"), i ? 1 : 2);
        if (i)
            assert_put_back(w, "w1");
        kw_pass(w, SEC(300)); /* one word, one try */
        assert_int_equal(operations(w, "m1"), i ? 1 : 2);
        kw_done(w);
        free(w);
    }
}

/* What was said is not heard of a node that goes after all. */
static void a_word_to_one_that_goes(void **state) {
    struct kw *w = *state;
    operating(w);
    say(w, "m1", "retry");
    kw_pass(w, SEC(60));
    come_back(w, "w1");
    assert_in(w, "m1", "Complete");
    assert_int_equal(operations(w, "m1"), 1);
    assert_string_equal(word_of(w, "m1"), "");
}

/* --- by a FleetLock client --- */

static void by_fleetlock(struct kw *w) {
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    kw_put(w, &kind_maintenance,
           "{'metadata':{'name':'m1','uid':'uid-m1','generation':1},'spec':{'node':'w1',"
           "'operation':'Reboot','policy':'default','executor':{'fleetlock':{}}}}");
    kw_pass(w, SEC(10));
    assert_in(w, "m1", "Drained");
    assert_slots(w, "w1 drained");
}

static void a_client_that_asks_in_time(void **state) {
    struct kw *w = *state;
    by_fleetlock(w);
    assert_string_equal(blocker(w, "m1", "code"), "ClientAwaited");
    assert_string_not_equal(blocker(w, "m1", "deadline"), "");
    kw_pass(w, SEC(800));
    assert_int_equal(kw_answer(w, 0, "w1", KEEPER_MAY_GO)->say, KEEPER_GO);
    kw_pass(w, SEC(10));
    assert_in(w, "m1", "Granted");
    assert_string_equal(blocker(w, "m1", "message"), "it was told that it may go, and is still up");
    come_back(w, "w1");
    assert_in(w, "m1", "Complete");
}

/* Neither the first time nor again, and it may report all the same. */
static void nobody_is_told_to_go_while_it_is_paused(void **state) {
    struct kw *w = *state;
    by_fleetlock(w);
    pause_it(w, "m1", true);
    kw_settle(w);
    assert_int_equal(kw_answer(w, 0, "w1", KEEPER_MAY_GO)->say, KEEPER_BLOCKED);
    assert_slots(w, "w1 drained");
    pause_it(w, "m1", false);
    kw_settle(w);
    assert_int_equal(kw_answer(w, 0, "w1", KEEPER_MAY_GO)->say, KEEPER_GO);
    kw_put(w, &kind_config_map,
           "{'metadata':{'namespace':'" KW_NS "','name':'" STOP_MAP
           "','uid':'u','labels':{'" SLOTS_LABEL "':'" STOP_MAP
           "'}},'data':{'by':'alice','since':'2026-11-15T12:00:00Z'}}");
    for (unsigned i = 0; i < w->n; i++)
        assert_int_equal(kw_answer(w, i, "w1", KEEPER_MAY_GO)->say, KEEPER_BLOCKED);
    kw_delete(w, &kind_config_map, KW_NS, STOP_MAP);
    assert_int_equal(kw_answer(w, 0, "w1", KEEPER_MAY_GO)->say, KEEPER_GO);
}

static void a_client_that_does_not_ask(void **state) {
    struct kw *w = *state;
    by_fleetlock(w);
    pause_it(w, "m1", true); /* that is not its fault */
    kw_pass(w, SEC(2000));
    assert_in(w, "m1", "Drained");
    pause_it(w, "m1", false);
    kw_pass(w, SEC(890));
    assert_in(w, "m1", "Drained");
    kw_pass(w, SEC(30));
    assert_in(w, "m1", "Failed");
    assert_put_back(w, "w1");
}

/* It was told, and does not go: nobody can call it back, and it is said. */
static void a_client_that_does_not_go(void **state) {
    struct kw *w = *state;
    by_fleetlock(w);
    (void)kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    kw_pass(w, SEC(890));
    assert_in(w, "m1", "Granted");
    kw_pass(w, SEC(30));
    assert_in(w, "m1", "Halted");
    assert_string_equal(reason(w, "m1"), "NotBack");
    say(w, "m1", "retry"); /* it is waited for once more: there is nobody to be asked */
    kw_pass(w, SEC(800));
    assert_in(w, "m1", "Operating");
    assert_int_equal(w->operated.len, 0);
    come_back(w, "w1");
    assert_in(w, "m1", "Complete");
}

/* Before the slot it is a gate that says so; this one breaks when the slot is taken. */
static void a_node_that_cannot_be_cordoned_says_so(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    upkeep(w, "m1", "w1", "Reboot");
    for (unsigned i = 0; i < 5000 && !streq(kw_slots(w), "w1 taken"); i++) {
        kw_round(&w->r[0]);
        kw_set_time(w, w->now.mono + MSEC(1));
    }
    assert_slots(w, "w1 taken");
    kw_edit(w, &kind_node, NULL, "w1",
            "{'metadata':{'annotations':{'" CORDON_ANNOTATION "':'nonsense'}}}");
    kw_pass(w, SEC(30));
    assert_in(w, "m1", "Draining");
    assert_string_equal(blocker(w, "m1", "code"), "CordonFailed");
    assert_non_null(strstr(blocker(w, "m1", "message"), "it cannot be cordoned: "));
}

static void what_it_waits_for_is_written(void **state) {
    struct kw *w = *state;
    operating(w);
    upkeep(w, "m2", "w2", "Reboot");
    kw_pass(w, SEC(5));
    json_t *doc = doc_of(w, "m2");
    assert_string_equal(dw_str(doc, "status.blocker.code"),
                        blocker_row(BLOCKER_MAX_UNAVAILABLE)->name);
    assert_string_equal(dw_str(doc, "status.blocker.message"),
                        "1 of 1 slots of policy default are held: w1");
    unsigned writes = dw_count(&w->wanted, "patch maintenances m2\n");
    kw_pass(w, SEC(1000)); /* once is enough */
    assert_int_equal(dw_count(&w->wanted, "patch maintenances m2\n"), writes);
    come_back(w, "w1");
    kw_pass(w, SEC(5));
    assert_in(w, "m2", "Operating");
    assert_string_equal(blocker(w, "m2", "code"), "NodeAwaited");
}

/* A slot is free, and is about to be its own: nothing is written but its finalizer, where it is,
 * and in the end that its node is waited for. */
static void one_that_waits_for_nothing_says_nothing(void **state) {
    struct kw *w = *state;
    operating(w);
    assert_int_equal(dw_count(&w->wanted, "patch maintenances m1\n"), 6);
}

static void nodes_that_are_down_take_slots_and_it_says_so(void **state) {
    struct kw *w = *state;
    w->opts.down_count = true;
    kw_nodes(w, "w1", "w2", NULL);
    kw_status(w, "w2", false, 1);
    kw_start(w);
    upkeep(w, "m1", "w1", "Reboot");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Queued");
    assert_string_equal(dw_str(doc_of(w, "m1"), "status.blocker.message"),
                        "0 of 1 slots of policy default are held; 1 node is down, and takes one");
}

static void one_whose_node_others_have_says_so(void **state) {
    struct kw *w = *state;
    w->opts.max.value = 2;
    operating(w);
    upkeep(w, "m2", "w1", "Drain");
    kw_pass(w, SEC(5));
    assert_in(w, "m2", "Queued");
    assert_string_equal(dw_str(doc_of(w, "m2"), "status.blocker.code"), "NodeTaken");
    assert_string_equal(dw_str(doc_of(w, "m2"), "status.blocker.message"),
                        "node w1 is out of service for maintenance/m1: Reboot");
}

/* Nothing waits silently: a node that no policy has, or more than one. */
static void it_is_said_when_nobody_knows_whose_slot_it_takes(void **state) {
    struct kw *w = *state;
    kw_node_as(w, "w1", "'no-policy':''");
    kw_start(w);
    upkeep(w, "m", "w1", "Drain");
    kw_pass(w, SEC(5));
    assert_string_equal(dw_str(doc_of(w, "m"), "status.blocker.code"), "PolicyUnclear");
    assert_slots(w, "");
    kw_edit(w, &kind_node, NULL, "w1", "{'metadata':{'labels':{'no-policy':null}}}");
    kw_pass(w, SEC(5));
    assert_in(w, "m", "Granted");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        KEEPER_TEST(a_client_that_asks_in_time),
        KEEPER_TEST(a_client_that_does_not_ask),
        KEEPER_TEST(nobody_is_told_to_go_while_it_is_paused),
        KEEPER_TEST(a_client_that_does_not_go),
        KEEPER_TEST(a_node_that_cannot_be_cordoned_says_so),
        KEEPER_TEST(a_command_that_changes_nothing_halts),
        KEEPER_TEST(a_node_that_does_not_come_back_halts),
        KEEPER_TEST(a_node_that_does_not_become_ready_halts),
        KEEPER_TEST(words_to_one_that_was_left_alone),
        KEEPER_TEST(a_word_to_one_that_goes),
        KEEPER_TEST(what_it_waits_for_is_written),
        KEEPER_TEST(one_that_waits_for_nothing_says_nothing),
        KEEPER_TEST(nodes_that_are_down_take_slots_and_it_says_so),
        KEEPER_TEST(one_whose_node_others_have_says_so),
        KEEPER_TEST(it_is_said_when_nobody_knows_whose_slot_it_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
