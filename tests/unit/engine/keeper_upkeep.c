/* Tests of src/engine/keeper_upkeep.c: maintenances with an object of their own. */
#include "engine/keeper.h"

#include "support/keeper_world.h"

#define WAY_THERE "Queued Draining Granted Operating"
#define WAY_BACK  "Returning Restoring Uncordoning Settling Complete"

static json_t *doc_of(struct kw *w, const char *name) {
    return kw_doc(w, &kind_maintenance, NULL, name);
}

static void upkeep(struct kw *w, const char *name, const char *node, const char *operation) {
    kw_put(w, &kind_maintenance,
           "{'metadata':{'name':'%s','uid':'uid-%s','generation':1},'spec':{'node':'%s',"
           "'operation':'%s','policy':'default'}}",
           name, name, node, operation);
}

static void say(struct kw *w, const char *name, const char *word) {
    kw_edit(w, &kind_maintenance, NULL, name,
            "{'metadata':{'annotations':{'" OWN_WORD_ANNOTATION "':'%s'}}}", word);
}

static const char *word_of(struct kw *w, const char *name) {
    json_t *annotations = dw_at(doc_of(w, name), "metadata.annotations");
    return strna(json_string_value(json_object_get(annotations, OWN_WORD_ANNOTATION)));
}

static void pause_it(struct kw *w, const char *name, bool paused) {
    kw_edit(w, &kind_maintenance, NULL, name, "{'spec':{'paused':%s}}", paused ? "true" : "false");
}

static const char *phase(struct kw *w, const char *name) {
    json_t *doc = doc_of(w, name);
    return doc ? dw_str(doc, "status.phase") : "gone";
}

#define assert_in(w, name, text) assert_string_equal(phase(w, name), text)

/* Where it has been, in order. Valid until the next call. */
static const char *journal(struct kw *w, const char *name) {
    static char text[512];
    size_t i, at = 0;
    json_t *one;
    text[0] = '\0';
    json_array_foreach(dw_at(doc_of(w, name), "status.journal"), i, one) at +=
        (size_t)snprintf(text + at, sizeof text - at, "%s%s", i ? " " : "", dw_str(one, "to"));
    return text;
}

static unsigned operations(struct kw *w, const char *name) {
    _cleanup_free_ char *line = xasprintf("%s\n", name);
    return dw_count(&w->operated, line);
}

/* Round by round, until it is there. */
static void until(struct kw *w, const char *name, const char *want) {
    for (unsigned i = 0; i < 1000 && !streq(phase(w, name), want); i++) {
        for (unsigned j = 0; j < w->n; j++)
            kw_round(&w->r[j]);
        kw_set_time(w, w->now.mono + MSEC(5));
    }
    assert_in(w, name, want);
}

static void come_back(struct kw *w, const char *node) {
    kw_set_time(w, w->now.mono + SEC(30));
    kw_reboot(w, node, 2);
    kw_pass(w, SEC(5));
}

static void start(struct kw *w, const char *operation) {
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    upkeep(w, "m1", "w1", operation);
}

static void operating(struct kw *w) {
    start(w, "Reboot");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Operating");
    assert_int_equal(operations(w, "m1"), 1);
}

static void halted(struct kw *w) {
    operating(w);
    keeper_operated(w->r[0].k, "m1", "the plug does not answer");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Halted");
}

/* Nothing of it is left, but maybe its object. */
static void assert_put_back(struct kw *w, const char *node) {
    assert_slots(w, "");
    assert_false(kw_is_cordoned(w, node));
    assert_string_equal(kw_cordon(w, node), "");
}

static void next_leader(struct kw *w) {
    kw_kill(w, 0);
    keeper_lead(w->r[1].k, 2);
}

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

static void retry_does_it_once_more(void **state) {
    struct kw *w = *state;
    halted(w);
    say(w, "m1", "retry");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Operating");
    assert_int_equal(operations(w, "m1"), 2);
    assert_string_equal(word_of(w, "m1"), "");
    keeper_operated(w->r[0].k, "m1", "again");
    kw_pass(w, SEC(5));
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

/* --- leaders --- */

static void a_new_leader_goes_on(void **state) {
    static const char *const phases[] = {"Queued",    "Draining",  "Granted",     "Operating",
                                         "Returning", "Restoring", "Uncordoning", "Settling"};
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

/* --- why it waits --- */

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
    assert_string_equal(dw_str(doc_of(w, "m2"), "status.blocker.code"), "");
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

int main(void) {
    const struct CMUnitTest tests[] = {
        KEEPER_TEST(a_reboot_from_its_beginning_to_its_end),
        KEEPER_TEST(it_ends_for_those_who_wait_for_conditions),
        KEEPER_TEST(a_drain_is_held_until_it_is_deleted),
        KEEPER_TEST(deleted_while_it_is_queued),
        KEEPER_TEST(deleted_while_it_is_drained),
        KEEPER_TEST(deleted_when_it_is_granted),
        KEEPER_TEST(deleted_while_its_beginning_is_written),
        KEEPER_TEST(deleted_while_it_is_operating),
        KEEPER_TEST(deleted_while_it_is_operating_and_nothing_comes_of_it),
        KEEPER_TEST(deleted_when_it_is_halted),
        KEEPER_TEST(an_object_that_is_torn_away),
        KEEPER_TEST(several_objects_that_are_torn_away),
        KEEPER_TEST(an_object_that_is_made_anew_has_nothing_of_the_old_one),
        KEEPER_TEST(an_operation_that_fails_halts),
        KEEPER_TEST(an_operation_that_shows_nothing_halts),
        KEEPER_TEST(a_node_that_reboots_after_all),
        KEEPER_TEST(retry_does_it_once_more),
        KEEPER_TEST(skip_leads_on),
        KEEPER_TEST(skip_waits_for_the_node),
        KEEPER_TEST(abort_puts_back),
        KEEPER_TEST(a_new_leader_goes_on),
        KEEPER_TEST(a_new_leader_does_not_operate_again),
        KEEPER_TEST(writes_that_conflict_are_made_again),
        KEEPER_TEST(writes_without_an_answer_are_not_made_twice),
        KEEPER_TEST(a_beginning_without_an_answer_is_not_begun),
        KEEPER_TEST(one_that_is_paused_does_not_begin),
        KEEPER_TEST(one_that_is_paused_while_it_is_queued),
        KEEPER_TEST(one_that_is_paused_when_it_is_granted),
        KEEPER_TEST(a_slot_that_somebody_lets_go_ends_it),
        KEEPER_TEST(a_slot_that_is_let_go_while_it_is_drained),
        KEEPER_TEST(of_a_node_that_is_not_there),
        KEEPER_TEST(of_a_node_that_goes_for_good),
        KEEPER_TEST(what_it_waits_for_is_written),
        KEEPER_TEST(it_waits_as_long_as_it_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
