/* Tests of src/engine/keeper_ask.c: who asks, who reports, and what each is told. */
#include "engine/keeper.h"

#include "support/keeper_world.h"

static void fail_next(struct kw *w, enum action_verb verb, const struct kind *kind,
                      enum kube_outcome outcome, unsigned times) {
    w->fault.verb = verb;
    w->fault.kind = kind;
    w->fault.outcome = outcome;
    w->fault.done = false;
    w->fault.times = times;
}

/* --- may it go? --- */

static void of_two_who_ask_at_once_the_first_by_name_goes(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    uint64_t second = kw_ask(w, 0, "w2", KEEPER_MAY_GO), first = kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    kw_pass(w, SEC(1));
    assert_int_equal(kw_reply(w, first)->say, KEEPER_GO);
    assert_int_equal(kw_reply(w, second)->say, KEEPER_FULL);
    assert_string_equal(kw_reply(w, second)->text, "other nodes rebooting: w1");
    assert_slots(w, "w1 granted; w2");
    assert_false(kw_is_cordoned(w, "w2"));
}

static void a_holder_asks_again_anywhere(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    assert_slots(w, "w1 granted");
    kw_kill(w, 0); /* no leader is needed for it */
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
}

/* The grant is said after a read that began after the question: an old picture says nothing. */
static void a_grant_is_read_before_it_is_said(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_settle(w);
    w->r[1].late[KW_MAPS] = true; /* it believes in the grant from now on */
    assert_says(w, 0, "w1", KEEPER_STEADY, KEEPER_NOTED);
    assert_slots(w, "w1 steady");
    const struct kw_reply *r = kw_answer(w, 1, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_FULL);
    assert_string_equal(r->text, "the slot of its last reboot is being put back");
}

static void a_grant_that_cannot_be_read_is_not_said(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    fail_next(w, ACTION_READ, &kind_config_map, KUBE_SERVER_ERROR, 1000);
    const struct kw_reply *r = kw_answer(w, 1, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_TROUBLE);
    assert_string_equal(r->text, "the test says no");
    fail_next(w, ACTION_READ, &kind_node, KUBE_UNREACHABLE, 1000);
    kw_pass(w, SEC(10));
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_TROUBLE);
    w->fault.times = 0;
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
}

/* A read that was under way when the question came is too old for it. */
static void a_read_that_began_before_does_not_count(void **state) {
    struct kw *w = *state;
    struct kw_replica *r = &w->r[1];
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_pass(w, SEC(1));
    r->frozen = true; /* by hand from here on */
    uint64_t first = kw_ask(w, 1, "w1", KEEPER_MAY_GO);
    kw_step(r);
    assert_int_equal(r->calls.len, 1);
    kw_perform(w, &r->calls.p[0]); /* granted, it says */
    assert_says(w, 0, "w1", KEEPER_STEADY, KEEPER_NOTED);
    uint64_t second = kw_ask(w, 1, "w1", KEEPER_MAY_GO);
    kw_deliver(r, 0);
    r->frozen = false;
    r->late[KW_MAPS] = true;
    kw_pass(w, SEC(1));
    assert_int_equal(kw_reply(w, second)->say, KEEPER_FULL);
    assert_true(kw_reply(w, first)->there);
}

static void one_that_was_uncordoned_is_not_told_to_go(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_edit(w, &kind_node, NULL, "w1", "{'spec':{'unschedulable':null}}");
    w->r[1].late[KW_NODES] = true; /* nobody has told it */
    const struct kw_reply *r = kw_answer(w, 1, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_BLOCKED);
    assert_string_equal(r->text, "somebody has uncordoned the node since it was drained");
}

static void one_that_has_rebooted_is_not_told_to_go_again(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    w->r[0].frozen = true;
    kw_reboot(w, "w1", 2);
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_BLOCKED);
    assert_slots(w, "w1 granted");
}

/* Nobody gets a grant who does not ask at that moment. */
static void a_slot_that_nobody_asks_for_is_not_granted(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    w->lazy_pods = true;
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_DRAINING);
    kw_delete(w, &kind_pod, "default", "p1");
    kw_pass(w, SEC(60));
    assert_slots(w, "w1 drained");
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
    assert_slots(w, "w1 granted");
}

static void how_far_the_drain_is(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_pod(w, "w1");
    kw_start(w);
    w->lazy_pods = true;
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_DRAINING);
    kw_delete(w, &kind_pod, "default", "p1");
    kw_settle(w);
    const struct kw_reply *r = kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_DRAINING);
    assert_string_equal(r->text, "pods still evicting: 1 of 2 gone");
    r = kw_answer(w, 1, "w1", KEEPER_MAY_GO); /* who does not lead knows less */
    assert_int_equal(r->say, KEEPER_DRAINING);
    assert_string_equal(r->text, "pods still evicting");
}

static void what_blocks_it_is_said(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    fail_next(w, ACTION_EVICT, &kind_pod, KUBE_DENIED, 1000);
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    kw_pass(w, SEC(10));
    const struct kw_reply *r = kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_BLOCKED);
    assert_non_null(strstr(r->text, "the test says no"));
}

static void a_cordon_that_is_refused_is_said(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    fail_next(w, ACTION_PATCH, &kind_node, KUBE_FORBIDDEN, 1000);
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    kw_pass(w, SEC(3));
    const struct kw_reply *r = kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_BLOCKED);
    assert_string_equal(r->text,
                        "pods still evicting: the node cannot be cordoned: the test says no");
}

static void one_who_hangs_up_is_not_answered(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    uint64_t ticket = kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    keeper_cancel(w->r[0].k, ticket);
    keeper_cancel(w->r[0].k, 4711);
    kw_pass(w, SEC(5));
    assert_false(kw_reply(w, ticket)->there);
}

/* --- wishes that outlive those who had them --- */

static void one_that_was_frozen_notes_nothing(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    w->r[1].frozen = true;
    uint64_t ticket = kw_ask(w, 1, "w1", KEEPER_MAY_GO);
    kw_pass(w, SEC(20));
    w->r[1].frozen = false;
    kw_pass(w, SEC(20));
    assert_true(kw_reply(w, ticket)->there); /* for nobody */
    assert_slots(w, "");
}

static void what_could_not_be_noted_for_long_is_not(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    fail_next(w, ACTION_PATCH, &kind_config_map, KUBE_SERVER_ERROR, 100000);
    assert_says(w, 1, "w2", KEEPER_MAY_GO, KEEPER_FULL);
    kw_pass(w, SEC(120));
    w->fault.times = 0;
    kw_pass(w, SEC(120));
    assert_slots(w, "w1 granted");
}

/* One without a slot gets the seed's mark the first time it reports, also when somebody else writes
 * to its Node at that moment. */
static void the_first_report_leaves_the_mark(void **state) {
    struct kw *w = *state;
    w->opts.seed_marks = true;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    assert_string_equal(kw_mark(w, "w1"), "");
    fail_next(w, ACTION_PATCH, &kind_node, KUBE_CONFLICT, 2);
    assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_NOTED);
    assert_string_equal(kw_mark(w, "w1"), SEED_READY);
    assert_slots(w, "");
}

static void whoever_reports_waits_no_longer(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    assert_says(w, 1, "w2", KEEPER_MAY_GO, KEEPER_FULL);
    assert_slots(w, "w1 granted; w2");
    assert_says(w, 0, "w2", KEEPER_STEADY, KEEPER_NOTED);
    assert_slots(w, "w1 granted");
    kw_ask(w, 1, "w2", KEEPER_MAY_GO); /* at the same time, by one that is late */
    kw_ask(w, 1, "w2", KEEPER_STEADY);
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 granted");
}

/* It has hung up, and reports to another one: the two do not write against each other. */
static void one_that_asks_here_and_reports_there(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    kw_step(&w->r[0]);
    kw_ask(w, 1, "w1", KEEPER_STEADY);
    kw_step(&w->r[1]);
    str_reset(&w->wanted);
    kw_settle(w); /* which tells when it has no end */
    assert_true(dw_count(&w->wanted, "patch configmaps") < 8);
    kw_pass(w, SEC(5));
    assert_slots(w, "");
    assert_false(kw_is_cordoned(w, "w1"));
}

/* --- is it back? --- */

static void a_report_is_written_before_it_is_answered(void **state) {
    static const enum keeper_say says[] = {KEEPER_GO, KEEPER_DRAINING};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(says); i++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 2);
        kw_nodes(w, "w1", NULL);
        kw_start(w);
        w->lazy_pods = says[i] == KEEPER_DRAINING;
        assert_says(w, 0, "w1", KEEPER_MAY_GO, says[i]);
        if (w->lazy_pods) {
            kw_delete(w, &kind_pod, "default", "p1");
            kw_pass(w, SEC(5));
            assert_slots(w, "w1 drained");
        }
        fail_next(w, ACTION_PATCH, &kind_config_map, KUBE_SERVER_ERROR, 100000);
        assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_TROUBLE);
        w->fault.times = 0;
        kw_pass(w, SEC(10));
        assert_slots(w, w->lazy_pods ? "w1 drained" : "w1 granted");
        assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_NOTED);
        assert_slots(w, w->lazy_pods ? "" : "w1 steady");
        kw_done(w);
        free(w);
    }
}

static void a_report_of_one_that_is_not_ready(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_status(w, "w1", false, 2);
    assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_UNREADY);
    assert_slots(w, "w1 steady");
    assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_UNREADY);
}

static void a_report_of_one_that_holds_nothing(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    str_reset(&w->wanted);
    const struct kw_reply *r = kw_answer(w, 1, "w1", KEEPER_STEADY);
    assert_int_equal(r->say, KEEPER_NOTED);
    assert_string_equal(r->text, "it holds no slot");
    assert_int_equal(dw_count(&w->wanted, "patch"), 0);
    kw_pass(w, SEC(10));
    fail_next(w, ACTION_READ, &kind_config_map, KUBE_SERVER_ERROR, 1000);
    assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_TROUBLE); /* it may hold one by now */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        KEEPER_TEST(of_two_who_ask_at_once_the_first_by_name_goes),
        KEEPER_TEST(a_holder_asks_again_anywhere),
        KEEPER_TEST(a_grant_is_read_before_it_is_said),
        KEEPER_TEST(a_grant_that_cannot_be_read_is_not_said),
        KEEPER_TEST(a_read_that_began_before_does_not_count),
        KEEPER_TEST(one_that_was_uncordoned_is_not_told_to_go),
        KEEPER_TEST(one_that_has_rebooted_is_not_told_to_go_again),
        KEEPER_TEST(a_slot_that_nobody_asks_for_is_not_granted),
        KEEPER_TEST(how_far_the_drain_is),
        KEEPER_TEST(what_blocks_it_is_said),
        KEEPER_TEST(a_cordon_that_is_refused_is_said),
        KEEPER_TEST(one_who_hangs_up_is_not_answered),
        KEEPER_TEST(one_that_was_frozen_notes_nothing),
        KEEPER_TEST(what_could_not_be_noted_for_long_is_not),
        KEEPER_TEST(the_first_report_leaves_the_mark),
        KEEPER_TEST(whoever_reports_waits_no_longer),
        KEEPER_TEST(one_that_asks_here_and_reports_there),
        cmocka_unit_test(a_report_is_written_before_it_is_answered),
        KEEPER_TEST(a_report_of_one_that_is_not_ready),
        KEEPER_TEST(a_report_of_one_that_holds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
