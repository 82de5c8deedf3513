/* Tests of src/engine/keeper_phase.c: what stands in the object of a Maintenance. */
#include "engine/keeper.h"

#include "support/upkeep_world.h"

/* --- phases --- */

static void it_ends_for_those_who_wait_for_conditions(void **state) {
    struct kw *w = *state;
    operating(w);
    come_back(w, "w1");
    json_t *conditions = dw_at(doc_of(w, "m1"), "status.conditions"), *one;
    size_t i;
    assert_int_equal(json_array_size(conditions), 3);
    json_array_foreach(conditions, i, one) assert_string_equal(
        dw_str(one, "status"), streq(dw_str(one, "type"), "Complete") ? "True" : "False");
}

static void an_operation_that_fails_halts(void **state) {
    struct kw *w = *state;
    halted(w);
    assert_string_equal(journal(w, "m1"), WAY_THERE " Halted");
    assert_slots(w, "w1 granted"); /* the node is in an unknown state */
    assert_true(kw_is_cordoned(w, "w1"));
    json_t *conditions = dw_at(doc_of(w, "m1"), "status.conditions");
    _cleanup_free_ char *text = json_dumps(conditions, 0);
    assert_non_null(strstr(text, "the plug does not answer"));
    assert_non_null(strstr(str_get(&w->told), "warning OperationFailed w1"));
    kw_pass(w, SEC(86400));
    assert_in(w, "m1", "Halted");
    assert_int_equal(operations(w, "m1"), 1);
}

static void one_that_was_uncordoned_before_it_began(void **state) {
    struct kw *w = *state;
    start(w, "Reboot");
    until(w, "m1", "Granted");
    pause_it(w, "m1", true);
    kw_pass(w, SEC(60));
    assert_in(w, "m1", "Granted");
    kw_edit(w, &kind_node, NULL, "w1", "{'spec':{'unschedulable':null}}");
    pause_it(w, "m1", false);
    kw_pass(w, SEC(60));
    assert_in(w, "m1", "Failed");
    assert_int_equal(operations(w, "m1"), 0);
    assert_put_back(w, "w1");
    /* It says why it has failed, and not only that it was undone. */
    json_t *failed = json_array_get(dw_at(doc_of(w, "m1"), "status.conditions"), 1);
    assert_string_equal(dw_str(doc_of(w, "m1"), "status.reason"), "UncordonedByOthers");
    assert_string_equal(dw_str(failed, "type"), "Failed");
    assert_string_equal(dw_str(failed, "reason"), "UncordonedByOthers");
    assert_string_equal(dw_str(failed, "message"),
                        "Somebody else has uncordoned the node. The node is what it was.");
}

static void one_whose_node_has_gone_says_so(void **state) {
    struct kw *w = *state;
    w->lazy_pods = true;
    start(w, "Reboot");
    until(w, "m1", "Draining");
    kw_delete(w, &kind_node, NULL, "w1");
    kw_pass(w, SEC(120));
    assert_in(w, "m1", "Failed");
    json_t *failed = json_array_get(dw_at(doc_of(w, "m1"), "status.conditions"), 1);
    assert_string_equal(dw_str(failed, "reason"), "NodeGone");
    assert_string_equal(dw_str(failed, "message"), "Its node is gone.");
}

/* Those of long ago are left out. */
static void a_journal_does_not_grow_for_ever(void **state) {
    struct kw *w = *state;
    operating(w);
    upkeep(w, "m2", "w2", "Reboot");
    for (unsigned i = 0; i < 15; i++) { /* to Queued and back */
        kw_pass(w, SEC(5));
        assert_in(w, "m2", "Queued");
        pause_it(w, "m2", true);
        kw_pass(w, SEC(5));
        assert_in(w, "m2", "Pending");
        pause_it(w, "m2", false);
    }
    json_t *steps = dw_at(doc_of(w, "m2"), "status.journal");
    assert_int_equal(json_array_size(steps), 20);
    assert_string_equal(dw_str(json_array_get(steps, 19), "to"), "Pending");
    for (size_t i = 1; i < 20; i++) /* the last ones, in their order */
        assert_true(strcmp(dw_str(json_array_get(steps, i - 1), "time"),
                           dw_str(json_array_get(steps, i), "time")) < 0);
}

/* --- what it waits for --- */

/* As of one that is being deleted. */
static void a_policy_without_slots_says_so(void **state) {
    struct kw *w = *state;
    w->opts.max.value = 0;
    start(w, "Reboot");
    kw_pass(w, SEC(10));
    assert_string_equal(
        dw_str(doc_of(w, "m1"), "status.blocker.message"),
        "policy default lets no node out: it is being deleted, or its maxUnavailable is 0");
}

/* Nothing is done, and that is said. */
static void a_record_that_cannot_be_read_is_a_blocker(void **state) {
    struct kw *w = *state;
    kw_set_record(w, "{'v':2,'fence':1,'slots':[]}");
    start(w, "Reboot");
    kw_pass(w, SEC(10));
    assert_string_equal(dw_str(doc_of(w, "m1"), "status.blocker.code"), "RecordUnreadable");
    assert_string_equal(dw_str(doc_of(w, "m1"), "status.blocker.object"), "configmap/" KW_MAP);
    assert_non_null(strstr(dw_str(doc_of(w, "m1"), "status.blocker.message"), "version 2"));
    assert_in(w, "m1", "Pending");
    kw_set_record(w, "{'v':1,'fence':0,'slots':[]}");
    until(w, "m1", "Operating");
}

static void one_that_halts_says_at_once_what_it_waits_for(void **state) {
    struct kw *w = *state;
    operating(w);
    kw_pass(w, SEC(1));
    keeper_operated(w->r[0].k, "m1", "no power");
    kw_pass(w, MSEC(500));
    assert_in(w, "m1", "Halted");
    assert_string_equal(dw_str(doc_of(w, "m1"), "status.blocker.code"), "OperationFailed");
}

/* --- what somebody has said --- */

static void retry_does_it_once_more(void **state) {
    struct kw *w = *state;
    halted(w);
    say(w, "m1", "retry");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Operating");
    assert_int_equal(operations(w, "m1"), 2);
    assert_string_equal(word_of(w, "m1"), "");
    keeper_operated(w->r[0].k, "m1", "again");
    kw_pass(w, SEC(60));
    assert_in(w, "m1", "Halted"); /* one word, one try */
    say(w, "m1", "retry");
    kw_pass(w, SEC(5));
    come_back(w, "w1");
    assert_in(w, "m1", "Complete");
    assert_int_equal(operations(w, "m1"), 3);
}

static void skip_leads_on(void **state) {
    struct kw *w = *state;
    halted(w);
    say(w, "m1", "skip");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Complete");
    assert_put_back(w, "w1");
    assert_int_equal(operations(w, "m1"), 1);
}

/* It is not Ready yet when that is said. */
static void skip_waits_for_the_node(void **state) {
    struct kw *w = *state;
    halted(w);
    kw_status(w, "w1", false, 1);
    say(w, "m1", "skip");
    kw_pass(w, SEC(60));
    assert_in(w, "m1", "Returning");
    assert_true(kw_is_cordoned(w, "w1"));
    kw_status(w, "w1", true, 1);
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Complete");
    assert_put_back(w, "w1");
}

static void abort_puts_back(void **state) {
    struct kw *w = *state;
    halted(w);
    say(w, "m1", "abort");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Cancelled");
    assert_put_back(w, "w1");
    assert_int_equal(operations(w, "m1"), 1);
}

/* --- writes --- */

static void fault(struct kw *w, enum kube_outcome outcome, bool done, unsigned times) {
    w->fault.verb = ACTION_PATCH;
    w->fault.kind = &kind_maintenance;
    w->fault.outcome = outcome;
    w->fault.done = done;
    w->fault.times = times;
}

static void writes_that_conflict_are_made_again(void **state) {
    static const char *const phases[] = {"", "Queued", "Draining", "Granted"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(phases); i++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 2);
        start(w, "Reboot");
        until(w, "m1", phases[i]);
        fault(w, KUBE_CONFLICT, false, 3);
        kw_pass(w, SEC(5));
        assert_int_equal(w->fault.times, 0);
        assert_string_equal(journal(w, "m1"), WAY_THERE);
        assert_int_equal(operations(w, "m1"), 1);
        kw_done(w);
        free(w);
    }
}

/* The answer is lost, what was written is there. */
static void writes_without_an_answer_are_not_made_twice(void **state) {
    static const char *const phases[] = {"", "Queued", "Draining"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(phases); i++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 2);
        start(w, "Reboot");
        until(w, "m1", phases[i]);
        fault(w, KUBE_UNKNOWN, true, 1);
        kw_pass(w, SEC(5));
        assert_int_equal(w->fault.times, 0);
        assert_string_equal(journal(w, "m1"), WAY_THERE);
        assert_int_equal(operations(w, "m1"), 1);
        kw_done(w);
        free(w);
    }
}

/* Then it is not begun at all: never twice is worth more. */
static void a_beginning_without_an_answer_is_not_begun(void **state) {
    struct kw *w = *state;
    start(w, "Reboot");
    until(w, "m1", "Granted");
    fault(w, KUBE_UNKNOWN, true, 1);
    kw_pass(w, SEC(5));
    assert_int_equal(w->fault.times, 0);
    assert_in(w, "m1", "Operating");
    assert_int_equal(operations(w, "m1"), 0);
    kw_pass(w, SEC(1000));
    assert_in(w, "m1", "Halted");
    say(w, "m1", "retry");
    kw_pass(w, SEC(5));
    assert_int_equal(operations(w, "m1"), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        KEEPER_TEST(it_ends_for_those_who_wait_for_conditions),
        KEEPER_TEST(an_operation_that_fails_halts),
        KEEPER_TEST(one_that_was_uncordoned_before_it_began),
        KEEPER_TEST(one_whose_node_has_gone_says_so),
        KEEPER_TEST(a_journal_does_not_grow_for_ever),
        KEEPER_TEST(a_policy_without_slots_says_so),
        KEEPER_TEST(a_record_that_cannot_be_read_is_a_blocker),
        KEEPER_TEST(one_that_halts_says_at_once_what_it_waits_for),
        KEEPER_TEST(retry_does_it_once_more),
        KEEPER_TEST(skip_leads_on),
        KEEPER_TEST(skip_waits_for_the_node),
        KEEPER_TEST(abort_puts_back),
        KEEPER_TEST(writes_that_conflict_are_made_again),
        KEEPER_TEST(writes_without_an_answer_are_not_made_twice),
        KEEPER_TEST(a_beginning_without_an_answer_is_not_begun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
