/* Tests of src/engine/keeper_recover.c: a record of slots is deleted, or emptied. Those of
 * clients whose nodes are up are in keeper.c. */
#include "support/upkeep_world.h"

/* Everybody is killed, somebody deletes the record, and they begin again, in that term. */
static void lose(struct kw *w, int32_t fence) {
    for (unsigned i = 0; i < w->n; i++)
        kw_kill(w, i);
    kw_delete(w, &kind_config_map, KW_NS, KW_MAP);
    for (unsigned i = 0; i < w->n; i++)
        kw_begin(w, i);
    keeper_lead(w->r[0].k, fence);
    kw_settle(w);
}

/* With the namespace the Lease is gone as well: terms begin at 0. */
static const int32_t fences[] = {2, 0};

static void each_term(void (*test)(struct kw *w, int32_t fence)) {
    for (size_t i = 0; i < ARRAY_LEN(fences); i++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 2);
        test(w, fences[i]);
        kw_done(w);
        free(w);
    }
}

static void told_to_reboot(struct kw *w, int32_t fence) {
    operating(w);
    lose(w, fence);
    kw_pass(w, SEC(60));
    assert_in(w, "m1", "Operating");
    assert_slots(w, "w1 granted");
    assert_true(kw_is_cordoned(w, "w1"));
    assert_int_equal(dw_count(&w->told, "warning RecordLost w1: is cordoned for a slot"), 1);
    assert_says(w, 0, "w2", KEEPER_MAY_GO, KEEPER_FULL);
    come_back(w, "w1");
    assert_in(w, "m1", "Complete");
    assert_int_equal(operations(w, "m1"), 1);
    assert_false(kw_is_cordoned(w, "w1"));
}

static void one_that_was_told_to_reboot(void **state) {
    (void)state;
    each_term(told_to_reboot);
}

static void held_drained(struct kw *w, int32_t fence) {
    start(w, "Drain");
    until(w, "m1", "Granted");
    lose(w, fence);
    kw_pass(w, SEC(3600));
    assert_in(w, "m1", "Granted");
    assert_slots(w, "w1 granted");
    assert_true(kw_is_cordoned(w, "w1"));
    kw_ask_delete(w, &kind_maintenance, "m1");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "gone");
    assert_put_back(w, "w1");
}

static void one_that_is_held_drained(void **state) {
    (void)state;
    each_term(held_drained);
}

static void being_drained(struct kw *w, int32_t fence) {
    w->lazy_pods = true;
    start(w, "Reboot");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Draining");
    lose(w, fence);
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Draining");
    assert_slots(w, "w1 taken");
    kw_delete(w, &kind_pod, "default", "p1");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Operating");
    come_back(w, "w1");
    assert_in(w, "m1", "Complete");
}

static void one_that_is_being_drained(void **state) {
    (void)state;
    each_term(being_drained);
}

static void has_halted(struct kw *w, int32_t fence) {
    halted(w);
    lose(w, fence);
    kw_pass(w, SEC(600));
    assert_in(w, "m1", "Halted");
    assert_slots(w, "w1 granted");
    say(w, "m1", "abort");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Cancelled");
    assert_put_back(w, "w1");
}

static void one_that_has_halted(void **state) {
    (void)state;
    each_term(has_halted);
}

static void being_undone(struct kw *w, int32_t fence) {
    start(w, "Drain");
    until(w, "m1", "Granted");
    kw_ask_delete(w, &kind_maintenance, "m1");
    until(w, "m1", "Undoing");
    lose(w, fence);
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "gone");
    assert_put_back(w, "w1");
}

static void one_that_is_being_undone(void **state) {
    (void)state;
    each_term(being_undone);
}

/* Never by mere time: nobody knows what it is doing. */
static void client_went(struct kw *w, int32_t fence) {
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_status(w, "w1", false, 1);
    lose(w, fence);
    for (int i = 0; i < 48; i++) {
        kw_pass(w, SEC(1800));
        assert_int_not_equal(kw_answer(w, 0, "w2", KEEPER_MAY_GO)->say, KEEPER_GO);
    }
    assert_slots(w, "w1 steady; w2");
    assert_true(kw_is_cordoned(w, "w1"));
    for (int i = 0; i < 3; i++) { /* what it says is believed when it goes on saying it */
        kw_status(w, "w1", true, 2);
        kw_pass(w, SEC(10));
    }
    assert_false(kw_is_cordoned(w, "w1"));
    assert_int_equal(kw_answer(w, 0, "w2", KEEPER_MAY_GO)->say, KEEPER_GO);
}

static void a_client_whose_node_is_down(void **state) {
    (void)state;
    each_term(client_went);
}

/* Its object was taken away by force as well. */
static void is_left(struct kw *w, int32_t fence) {
    operating(w);
    kw_delete(w, &kind_maintenance, NULL, "m1");
    kw_status(w, "w1", false, 1);
    lose(w, fence);
    for (int i = 0; i < 4; i++)
        kw_pass(w, SEC(1800));
    assert_slots(w, "w1 steady");
    assert_true(kw_is_cordoned(w, "w1"));
    come_back(w, "w1");
    come_back(w, "w1");
    assert_put_back(w, "w1");
}

static void one_whose_maintenance_is_gone(void **state) {
    (void)state;
    each_term(is_left);
}

/* Nothing is made of what is not there. */
static void nobody_held_one(void **state) {
    for (size_t i = 0; i < ARRAY_LEN(fences); i++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 2);
        operating(w);
        come_back(w, "w1");
        assert_in(w, "m1", "Complete");
        lose(w, fences[i]);
        kw_pass(w, SEC(5));
        assert_slots(w, "");
        assert_null(strstr(str_get(&w->told), "RecordLost"));
        kw_done(w);
        free(w);
    }
    (void)state;
}

/* --- emptied, not deleted --- */

/* As `kubectl patch` takes the data away, an editor the text, or as a copy of earlier is put back.
 */
static void empty(struct kw *w, unsigned how) {
    if (how == 0)
        kw_edit(w, &kind_config_map, KW_NS, KW_MAP, "{'data':null}");
    else if (how == 1)
        kw_edit(w, &kind_config_map, KW_NS, KW_MAP, "{'data':{'" SLOTS_KEY "':null}}");
    else if (how == 2)
        kw_set_record(w, "%s", "");
    else
        kw_set_record(w, "{'v':1,'fence':0,'slots':[],'waiting':[]}");
}

enum { WAYS_TO_EMPTY = 4 };

static void assert_still_out(struct kw *w, const char *want) {
    kw_pass(w, SEC(60));
    assert_in(w, "m1", want);
    assert_slots(w, "w1 granted");
    assert_true(kw_is_cordoned(w, "w1"));
    assert_non_null(strstr(str_get(&w->told), "warning RecordLost w1: "));
    assert_null(strstr(str_get(&w->told), "SlotLost"));
    assert_says(w, 0, "w2", KEEPER_MAY_GO, KEEPER_FULL);
}

static void one_that_is_emptied_under_a_leader(void **state) {
    (void)state;
    for (unsigned how = 0; how < WAYS_TO_EMPTY; how++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 2);
        operating(w);
        empty(w, how);
        assert_still_out(w, "Operating");
        assert_int_equal(dw_count(&w->told, "warning RecordLost w1: "), 1);
        assert_int_equal(kw_fence(w), 1);
        come_back(w, "w1");
        assert_in(w, "m1", "Complete");
        assert_int_equal(operations(w, "m1"), 1);
        kw_done(w);
        free(w);
    }
}

static void operating_in_term_0(struct kw *w) {
    kw_nodes(w, "w1", "w2", NULL);
    for (unsigned i = 0; i < w->n; i++)
        kw_begin(w, i);
    keeper_lead(w->r[0].k, 0);
    upkeep(w, "m1", "w1", "Reboot");
    until(w, "m1", "Operating");
}

/* Terms begin at 0: what is empty looks as if it were of this one. */
static void one_that_is_emptied_in_the_first_term(void **state) {
    (void)state;
    for (unsigned how = 0; how < WAYS_TO_EMPTY; how++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 2);
        operating_in_term_0(w);
        empty(w, how);
        assert_still_out(w, "Operating");
        come_back(w, "w1");
        assert_in(w, "m1", "Complete");
        kw_done(w);
        free(w);
    }
}

static void one_that_is_emptied_while_nobody_leads(void **state) {
    (void)state;
    for (unsigned how = 0; how < WAYS_TO_EMPTY; how++)
        for (size_t i = 0; i < ARRAY_LEN(fences); i++) {
            struct kw *w = xnew(struct kw);
            kw_init(w, 2);
            operating(w);
            kw_kill(w, 0);
            kw_kill(w, 1);
            empty(w, how);
            kw_begin(w, 0);
            kw_begin(w, 1);
            keeper_lead(w->r[0].k, fences[i]);
            assert_still_out(w, "Operating");
            kw_done(w);
            free(w);
        }
}

/* Another replica, asked in that moment, has found nothing, and writes that somebody waits. What it
 * writes looks as if it were of the first term. */
static void written_first(bool term_0) {
    for (unsigned how = 0; how <= WAYS_TO_EMPTY; how++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 2);
        if (term_0)
            operating_in_term_0(w);
        else
            operating(w);
        w->r[0].frozen = true;
        if (how < WAYS_TO_EMPTY)
            empty(w, how);
        else
            kw_delete(w, &kind_config_map, KW_NS, KW_MAP);
        kw_ask(w, 1, "w2", KEEPER_MAY_GO);
        kw_pass(w, SEC(2));
        assert_slots(w, "; w2");
        w->r[0].frozen = false;
        kw_settle(w);
        assert_still_out(w, "Operating");
        come_back(w, "w1");
        assert_in(w, "m1", "Complete");
        kw_done(w);
        free(w);
    }
}

static void one_that_another_replica_writes_first(void **state) {
    (void)state;
    written_first(false);
}

static void one_that_another_replica_writes_first_in_the_first_term(void **state) {
    (void)state;
    written_first(true);
}

/* Whoever leads was about to take the last of them away: so it does. Its reply may be lost. */
static void one_that_is_lost_before_the_last_is_over(void **state) {
    (void)state;
    for (unsigned how = 0; how < 8; how++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 2);
        if (how & 1)
            operating_in_term_0(w);
        else
            operating(w);
        kw_set_time(w, w->now.mono + SEC(30));
        kw_reboot(w, "w1", 2);
        until(w, "m1", "Settling");
        if (how & 2)
            kw_delete(w, &kind_config_map, KW_NS, KW_MAP);
        if (how & 4) {
            w->fault.verb = how & 2 ? ACTION_CREATE : ACTION_PATCH;
            w->fault.kind = &kind_config_map;
            w->fault.outcome = KUBE_UNKNOWN;
            w->fault.done = true;
            w->fault.times = 1;
        }
        kw_pass(w, SEC(60));
        assert_in(w, "m1", "Complete");
        assert_slots(w, "");
        kw_done(w);
        free(w);
    }
}

/* A client's report, written after the record was put back with the reply lost, is no old one. */
static void a_report_to_a_record_that_was_written_again(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    empty(w, 0);
    w->fault.verb = ACTION_PATCH;
    w->fault.kind = &kind_config_map;
    w->fault.outcome = KUBE_UNKNOWN;
    w->fault.done = true;
    w->fault.times = 1;
    for (unsigned i = 0; i < 100 && w->fault.times; i++)
        kw_round(&w->r[0]);
    assert_slots(w, "w1 granted");
    w->r[0].frozen = true;
    assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_NOTED);
    assert_slots(w, "w1 steady");
    w->r[0].frozen = false;
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 steady");
}

/* Nobody leads: there is nothing that its report could be written to, and it does not report twice.
 */
static void a_report_while_the_record_is_lost(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_kill(w, 0);
    kw_reboot(w, "w1", 2);
    kw_delete(w, &kind_config_map, KW_NS, KW_MAP);
    assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_TROUBLE);
    assert_says(w, 1, "w2", KEEPER_STEADY, KEEPER_NOTED); /* which held none */
    kw_ask(w, 1, "w2", KEEPER_MAY_GO);
    kw_settle(w); /* the record is there again, without w1 */
    assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_TROUBLE);
    keeper_lead(w->r[1].k, 2);
    kw_settle(w);
    assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_NOTED);
    for (int i = 0; i < 40; i++) { /* which boot it was told in, nobody knows any more */
        kw_renew(w, "w1");
        kw_pass(w, SEC(10));
    }
    assert_false(kw_is_cordoned(w, "w1"));
}

/* It has reported already, and does neither ask nor report again: it is back, as its boot tells. */
static void a_client_that_was_back_already(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_kill(w, 0);
    kw_reboot(w, "w1", 2);
    assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_NOTED);
    kw_delete(w, &kind_config_map, KW_NS, KW_MAP);
    kw_status(w, "w1", false, 2);
    keeper_lead(w->r[1].k, 2);
    kw_pass(w, SEC(3600));
    assert_slots(w, "w1 granted"); /* it is not Ready */
    for (int i = 0; i < 3; i++) {
        kw_renew(w, "w1");
        kw_status(w, "w1", true, 2);
        kw_pass(w, SEC(10));
    }
    assert_put_back(w, "w1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_was_told_to_reboot),
        cmocka_unit_test(one_that_is_held_drained),
        cmocka_unit_test(one_that_is_being_drained),
        cmocka_unit_test(one_that_has_halted),
        cmocka_unit_test(one_that_is_being_undone),
        cmocka_unit_test(a_client_whose_node_is_down),
        cmocka_unit_test(one_whose_maintenance_is_gone),
        cmocka_unit_test(nobody_held_one),
        cmocka_unit_test(one_that_is_emptied_under_a_leader),
        cmocka_unit_test(one_that_is_emptied_in_the_first_term),
        cmocka_unit_test(one_that_is_emptied_while_nobody_leads),
        cmocka_unit_test(one_that_another_replica_writes_first),
        cmocka_unit_test(one_that_another_replica_writes_first_in_the_first_term),
        cmocka_unit_test(one_that_is_lost_before_the_last_is_over),
        KEEPER_TEST(a_client_that_was_back_already),
        KEEPER_TEST(a_report_while_the_record_is_lost),
        KEEPER_TEST(a_report_to_a_record_that_was_written_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
