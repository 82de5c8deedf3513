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

/* By which a wish is told apart from one that an earlier boot has left. */
static void whoever_waits_does_so_in_a_boot(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    assert_says(w, 1, "w2", KEEPER_MAY_GO, KEEPER_FULL);
    kw_pass(w, SEC(1));
    json_t *record = kw_record(w);
    json_t *wish = json_array_get(json_object_get(record, "waiting"), 0);
    assert_string_equal(dw_str(wish, "node"), "w2");
    assert_string_equal(dw_str(wish, "boot"), "boot-1");
    json_decref(record);
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
    assert_int_equal(r->calls.len, 2); /* the record, and the stop of everything */
    kw_perform(w, &r->calls.p[0]);     /* granted, it says */
    kw_perform(w, &r->calls.p[1]);
    assert_says(w, 0, "w1", KEEPER_STEADY, KEEPER_NOTED);
    uint64_t second = kw_ask(w, 1, "w1", KEEPER_MAY_GO);
    kw_deliver(r, 0);
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

/* Whoever leads is frozen: nothing is drained, and nobody says so. */
static void a_slot_that_nobody_gives(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    w->r[0].frozen = true;
    const struct kw_reply *r = kw_answer(w, 1, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_DRAINING);
    assert_string_equal(r->text, "a slot is free: it waits to be given it");
    kw_pass(w, SEC(15));
    r = kw_answer(w, 1, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_TROUBLE);
    assert_string_equal(r->text,
                        "a slot is free, and it is not given it: no controller leads, or the one "
                        "that leads does not come to it");
    w->r[0].frozen = false;
    kw_pass(w, SEC(15));
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
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

/* Nothing is drained of which nobody can be told: that is no answer to give. */
static void a_record_that_cannot_be_written_is_said(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    assert_null(keeper_refused(w->r[0].k));
    fail_next(w, ACTION_PATCH, &kind_config_map, KUBE_FORBIDDEN, 1000);
    for (unsigned i = 0; i < 2; i++) {
        const struct kw_reply *r = kw_answer(w, i, "w1", KEEPER_MAY_GO);
        assert_int_equal(r->say, KEEPER_TROUBLE);
        assert_non_null(strstr(r->text, "cannot be written: the test says no"));
        assert_null(keeper_refused(w->r[i].k)); /* to whoever asks, and to nobody else yet */
    }
    kw_pass(w, SEC(20));
    for (unsigned i = 0; i < 2; i++)
        assert_non_null(strstr(keeper_refused(w->r[i].k), "cannot be written: the test says no"));
    w->fault.times = 0;
    kw_pass(w, SEC(60)); /* it is tried again */
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_pass(w, SEC(60)); /* the other one has nothing to write any more */
    assert_null(keeper_refused(w->r[0].k));
    assert_null(keeper_refused(w->r[1].k));
}

/* A connection that was idle for too long, or an API server that is being replaced. Each time
 * counts anew. */
static void a_write_that_fails_a_few_times_wakes_nobody(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    for (unsigned i = 0; i < 20; i++) {
        fail_next(w, ACTION_PATCH, &kind_config_map, KUBE_UNKNOWN, 3);
        kw_ask(w, 1, "w1", i % 2 ? KEEPER_STEADY : KEEPER_MAY_GO);
        for (unsigned j = 0; j < 20; j++) {
            kw_pass(w, MSEC(100));
            assert_null(keeper_refused(w->r[0].k));
            assert_null(keeper_refused(w->r[1].k));
        }
        assert_int_equal(w->fault.times, 0);
        if (i % 2)
            kw_reboot(w, "w1", i + 2);
        kw_pass(w, SEC(60));
    }
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

/* Nor is its wish written; that of another one who asks for the same node is. */
static void one_who_hangs_up_wishes_nothing(void **state) {
    struct kw *w = *state;
    struct kw_replica *r = &w->r[1];
    kw_nodes(w, "w1", "w2", "w3", NULL);
    w->opts.max.value = 2;
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_pass(w, SEC(5));
    fail_next(w, ACTION_PATCH, &kind_config_map, KUBE_SERVER_ERROR, 1);
    uint64_t gone = kw_ask(w, 1, "w2", KEEPER_MAY_GO), also = kw_ask(w, 1, "w3", KEEPER_MAY_GO);
    kw_ask(w, 1, "w3", KEEPER_MAY_GO);
    kw_step(r); /* it is being written */
    keeper_cancel(r->k, gone);
    keeper_cancel(r->k, also);
    kw_pass(w, SEC(5));
    assert_int_equal(w->fault.times, 0);
    assert_slots(w, "w1 granted, w3 granted");
}

/* --- wishes that outlive those who had them --- */

/* What was asked in one boot and is written in the next is of the first: it has had what it wanted.
 */
static void a_wish_is_of_the_boot_that_it_was_made_in(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    fail_next(w, ACTION_PATCH, &kind_config_map, KUBE_SERVER_ERROR, 100000);
    assert_says(w, 1, "w2", KEEPER_MAY_GO, KEEPER_FULL);
    kw_reboot(w, "w2", 2);
    w->fault.times = 0;
    kw_pass(w, SEC(10));
    assert_slots(w, "w1 granted; w2");
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(10));
    assert_false(kw_is_cordoned(w, "w2"));
    kw_pass(w, SEC(120));
    assert_slots(w, "");
}

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

/* And one whose mark says something else has it set right; what is cordoned is left alone. */
static void a_mark_that_is_left_over_is_set_right(void **state) {
    struct kw *w = *state;
    w->opts.seed_marks = true;
    kw_nodes(w, "w1", "w2", NULL);
    kw_edit(w, &kind_node, NULL, "w1",
            "{'metadata':{'annotations':{'" SEED_MARK "':'Rebooting'}}}");
    kw_edit(w, &kind_node, NULL, "w2",
            "{'metadata':{'annotations':{'" SEED_MARK "':'Rebooting','" CORDON_ANNOTATION
            "':'{}'}},'spec':{'unschedulable':true}}");
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_STEADY, KEEPER_NOTED);
    assert_string_equal(kw_mark(w, "w1"), SEED_READY);
    assert_says(w, 0, "w2", KEEPER_STEADY, KEEPER_NOTED);
    assert_string_equal(kw_mark(w, "w2"), SEED_REBOOTING);
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
/* What somebody else wants done to its node is not its to take back. */
static void a_report_leaves_the_wishes_of_others(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_put(w, &kind_maintenance,
           "{'metadata':{'name':'m1','uid':'uid-m1'},'spec':{'node':'w2','operation':'Drain'}}");
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 granted; w2");
    for (unsigned i = 0; i < w->n; i++)
        assert_says(w, i, "w2", KEEPER_STEADY, KEEPER_NOTED);
    assert_slots(w, "w1 granted; w2");
}

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

/* Whether the report is answered by what is known already: no answer of the server comes. */
static bool is_noted_at_once(struct kw *w, unsigned replica, const char *node) {
    uint64_t ticket = kw_ask(w, replica, node, KEEPER_STEADY);
    kw_step(&w->r[replica]);
    bool there = kw_reply(w, ticket)->there;
    if (there)
        assert_int_equal(kw_reply(w, ticket)->say, KEEPER_NOTED);
    kw_settle(w);
    return there;
}

/* Whoever leads knows of every slot, and has read the record a moment ago. */
static void whoever_leads_needs_no_read_for_those_that_hold_nothing(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", "w3", "w4", NULL);
    kw_start(w);
    assert_says(w, 0, "w3", KEEPER_MAY_GO, KEEPER_GO);
    assert_says(w, 0, "w2", KEEPER_MAY_GO, KEEPER_FULL);
    kw_edit(w, &kind_node, NULL, "w4", "{'spec':{'unschedulable':true}}");
    kw_pass(w, SEC(5));
    assert_false(is_noted_at_once(w, 0, "w1")); /* reads */
    assert_true(is_noted_at_once(w, 0, "w1"));
    assert_false(is_noted_at_once(w, 1, "w1")); /* does not lead */
    assert_false(is_noted_at_once(w, 1, "w1"));
    assert_false(is_noted_at_once(w, 0, "w4")); /* is cordoned */
    assert_false(is_noted_at_once(w, 0, "w2")); /* waits for one */
    assert_false(is_noted_at_once(w, 0, "w3")); /* holds a slot */
}

/* What was read is believed for a second, and read again before that is over. */
static void a_report_needs_a_record_that_is_fresh(void **state) {
    static const struct {
        int64_t age;
        bool at_once, reads;
    } cases[] = {{MSEC(400), true, false}, {MSEC(600), true, true}, {MSEC(1100), false, true}};
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        kw_pass(w, SEC(5));
        assert_false(is_noted_at_once(w, 0, "w1"));
        w->now.mono += cases[i].age;
        w->now.wall += cases[i].age;
        str_reset(&w->wanted);
        assert_int_equal(is_noted_at_once(w, 0, "w1"), cases[i].at_once);
        assert_int_equal(dw_count(&w->wanted, "read configmaps") > 0, cases[i].reads);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        KEEPER_TEST(of_two_who_ask_at_once_the_first_by_name_goes),
        KEEPER_TEST(whoever_waits_does_so_in_a_boot),
        KEEPER_TEST(a_holder_asks_again_anywhere),
        KEEPER_TEST(a_grant_is_read_before_it_is_said),
        KEEPER_TEST(a_grant_that_cannot_be_read_is_not_said),
        KEEPER_TEST(a_read_that_began_before_does_not_count),
        KEEPER_TEST(one_that_was_uncordoned_is_not_told_to_go),
        KEEPER_TEST(one_that_has_rebooted_is_not_told_to_go_again),
        KEEPER_TEST(a_slot_that_nobody_asks_for_is_not_granted),
        KEEPER_TEST(how_far_the_drain_is),
        KEEPER_TEST(a_slot_that_nobody_gives),
        KEEPER_TEST(what_blocks_it_is_said),
        KEEPER_TEST(a_cordon_that_is_refused_is_said),
        KEEPER_TEST(a_record_that_cannot_be_written_is_said),
        KEEPER_TEST(a_write_that_fails_a_few_times_wakes_nobody),
        KEEPER_TEST(one_who_hangs_up_is_not_answered),
        KEEPER_TEST(one_who_hangs_up_wishes_nothing),
        KEEPER_TEST(a_wish_is_of_the_boot_that_it_was_made_in),
        KEEPER_TEST(one_that_was_frozen_notes_nothing),
        KEEPER_TEST(what_could_not_be_noted_for_long_is_not),
        KEEPER_TEST(the_first_report_leaves_the_mark),
        KEEPER_TEST(a_mark_that_is_left_over_is_set_right),
        KEEPER_TEST(whoever_reports_waits_no_longer),
        KEEPER_TEST(a_report_leaves_the_wishes_of_others),
        KEEPER_TEST(one_that_asks_here_and_reports_there),
        cmocka_unit_test(a_report_is_written_before_it_is_answered),
        KEEPER_TEST(a_report_of_one_that_is_not_ready),
        KEEPER_TEST(a_report_of_one_that_holds_nothing),
        KEEPER_TEST(whoever_leads_needs_no_read_for_those_that_hold_nothing),
        KEEPER_TEST(a_report_needs_a_record_that_is_fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
