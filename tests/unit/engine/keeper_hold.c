/* Tests of src/engine/keeper_hold.c: holdings, and the Nodes that are changed for them. */
#include "engine/keeper.h"

#include "support/keeper_world.h"

/* Granted and told. */
static void granted(struct kw *w) {
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    assert_slots(w, "w1 granted");
}

/* Taken, and a pod does not go. */
static void draining(struct kw *w) {
    w->lazy_pods = true;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_DRAINING);
    assert_slots(w, "w1 taken");
    assert_true(kw_is_cordoned(w, "w1"));
}

static void a_report_without_a_reboot_is_not_believed_at_once(void **state) {
    struct kw *w = *state;
    granted(w);
    assert_says(w, 0, "w1", KEEPER_STEADY, KEEPER_NOTED);
    kw_renew(w, "w1");
    kw_pass(w, SEC(250));
    assert_slots(w, "w1 steady"); /* it may still be on its way down */
    kw_pass(w, SEC(60));
    assert_slots(w, "w1 steady");
    kw_renew(w, "w1");
    kw_pass(w, SEC(5));
    assert_slots(w, "");
    assert_false(kw_is_cordoned(w, "w1"));
}

/* It goes down at last, and its status says Ready for most of a minute. */
static void one_that_goes_down_after_its_report(void **state) {
    struct kw *w = *state;
    granted(w);
    assert_says(w, 0, "w1", KEEPER_STEADY, KEEPER_NOTED);
    for (int at = 0; at < 280; at += 10) {
        kw_renew(w, "w1");
        kw_pass(w, SEC(10));
    }
    kw_pass(w, SEC(40));
    kw_status(w, "w1", false, 1);
    kw_pass(w, SEC(600));
    assert_slots(w, "w1 steady");
    assert_true(kw_is_cordoned(w, "w1"));
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(10));
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(10));
    assert_slots(w, "");
}

/* The clock of the replica that was asked is behind, or that of the leader jumps. */
static void no_clock_makes_those_minutes_shorter(void **state) {
    struct kw *w = *state;
    granted(w);
    assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_NOTED);
    kw_pass(w, SEC(1));
    w->now.wall += SEC(3600);
    for (int at = 0; at < 290; at += 10) {
        kw_renew(w, "w1");
        kw_pass(w, SEC(10));
        assert_slots(w, "w1 steady");
    }
    for (int at = 0; at < 30; at += 10) {
        kw_renew(w, "w1");
        kw_pass(w, SEC(10));
    }
    assert_slots(w, "");
}

/* Whoever takes over has not seen it stay up. */
static void a_new_leader_counts_those_minutes_anew(void **state) {
    struct kw *w = *state;
    granted(w);
    assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_NOTED);
    for (int at = 0; at < 560; at += 10) {
        if (at == 280) {
            kw_kill(w, 0);
            keeper_lead(w->r[1].k, 2);
        }
        kw_renew(w, "w1");
        kw_pass(w, SEC(10));
        assert_slots(w, "w1 steady");
    }
    for (int at = 0; at < 60; at += 10) {
        kw_renew(w, "w1");
        kw_pass(w, SEC(10));
    }
    assert_slots(w, "");
}

/* --- what cannot be done is told everywhere --- */

static void cannot(struct kw *w, enum action_verb verb, const struct kind *kind,
                   enum kube_outcome outcome) {
    w->fault.verb = verb;
    w->fault.kind = kind;
    w->fault.outcome = outcome;
    w->fault.times = 1000000;
}

/* Its Node may not be read, or not be written. */
static void a_node_that_may_not_be_cordoned(void **state) {
    (void)state;
    static const enum action_verb verbs[] = {ACTION_READ, ACTION_PATCH};
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 2);
        kw_nodes(w, "w1", NULL);
        kw_start(w);
        cannot(w, verbs[i], &kind_node, KUBE_FORBIDDEN);
        kw_ask(w, 0, "w1", KEEPER_MAY_GO);
        kw_pass(w, SEC(60));
        assert_slots(w, "w1 taken");
        assert_int_equal(dw_count(&w->told, "warning GateShut w1: waits: CordonFailed node/w1: it "
                                            "cannot be cordoned: the test says no"),
                         1);
        for (unsigned r = 0; r < 2; r++) { /* whoever is asked */
            const struct kw_reply *reply = kw_answer(w, r, "w1", KEEPER_MAY_GO);
            assert_int_equal(reply->say, KEEPER_BLOCKED);
            assert_non_null(strstr(reply->text, "cannot be cordoned: the test says no"));
        }
        w->fault.times = 0;
        kw_pass(w, SEC(60));
        assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
        assert_int_equal(dw_count(&w->told, "GatesOpen w1"), 1);
        kw_done(w);
        free(w);
    }
}

/* And what is over within a moment is not. */
static void a_node_that_could_not_be_cordoned_at_once(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    cannot(w, ACTION_PATCH, &kind_node, KUBE_SERVER_ERROR);
    w->fault.times = 3;
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    kw_pass(w, SEC(60));
    assert_slots(w, "w1 granted");
    assert_null(strstr(str_get(&w->told), "GateShut"));
}

static void a_node_that_may_not_be_uncordoned(void **state) {
    struct kw *w = *state;
    granted(w);
    cannot(w, ACTION_PATCH, &kind_node, KUBE_FORBIDDEN);
    kw_set_time(w, w->now.mono + SEC(30));
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(60));
    assert_slots(w, "w1 returned");
    assert_int_equal(dw_count(&w->told, "warning GateShut w1: waits: CordonFailed node/w1: it "
                                        "cannot be uncordoned: the test says no"),
                     1);
    w->fault.times = 0;
    kw_pass(w, SEC(60));
    assert_slots(w, "");
}

/* Of nobody's slot any more: the log has it, once. */
static void a_cordon_that_is_left_and_may_not_be_lifted(void **state) {
    struct kw *w = *state;
    granted(w);
    cannot(w, ACTION_PATCH, &kind_node, KUBE_FORBIDDEN);
    kw_set_record(w, "{'v':1,'fence':1,'slots':[],'waiting':[]}");
    kw_pass(w, SEC(60));
    assert_int_equal(dw_count(&w->told, "warning DrainFailed w1: cannot be uncordoned: "), 1);
}

static bool never_watched(void *arg, const char *node) {
    (void)arg;
    (void)node;
    return false;
}

static void pods_that_may_not_be_listed(void **state) {
    struct kw *w = *state;
    w->opts.watched = never_watched;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    cannot(w, ACTION_CONFIRM, &kind_pod, KUBE_FORBIDDEN);
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_DRAINING);
    kw_pass(w, SEC(60));
    assert_slots(w, "w1 taken");
    assert_int_equal(dw_count(&w->told, "warning GateShut w1: waits: Forbidden node/w1: its pods "
                                        "cannot be listed: the test says no"),
                     1);
    for (unsigned r = 0; r < 2; r++) {
        const struct kw_reply *reply = kw_answer(w, r, "w1", KEEPER_MAY_GO);
        assert_int_equal(reply->say, KEEPER_BLOCKED);
        assert_non_null(strstr(reply->text, "its pods cannot be listed: the test says no"));
    }
}

/* The watch is late for another reason: nothing is wrong with the pods. */
static void pods_that_are_not_watched_yet(void **state) {
    struct kw *w = *state;
    w->opts.watched = never_watched;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_DRAINING);
    kw_pass(w, SEC(60));
    assert_null(strstr(str_get(&w->told), "GateShut"));
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_DRAINING);
}

/* Its status says Ready, and is from before it went. */
static void ready_is_believed_when_something_has_moved(void **state) {
    struct kw *w = *state;
    granted(w);
    kw_edit(w, &kind_node, NULL, "w1", "{'status':{'nodeInfo':{'bootID':'boot-2'}}}");
    kw_pass(w, SEC(600));
    assert_slots(w, "w1 granted");
    kw_renew(w, "w1");
    kw_pass(w, SEC(5));
    assert_slots(w, "");
    assert_false(kw_is_cordoned(w, "w1"));
}

static void one_that_comes_back_without_a_report_is_released(void **state) {
    struct kw *w = *state;
    granted(w);
    kw_set_time(w, w->now.mono + SEC(30));
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(5));
    assert_slots(w, "");
}

/* As people call it: drained when it is, granted when it was told, under way when it has gone. */
static void the_phases_of_a_client(void **state) {
    struct kw *w = *state;
    granted(w);
    assert_string_equal(str_get(&w->ways),
                        "Queued -> Draining; Draining -> Drained; Drained -> Granted; ");
    json_t *record = kw_record(w);
    const json_t *slot = json_array_get(json_object_get(record, "slots"), 0);
    assert_non_null(json_object_get(slot, "drained"));
    json_decref(record);
    str_reset(&w->ways);
    kw_set_time(w, w->now.mono + SEC(30));
    kw_reboot(w, "w1", 2);
    assert_says(w, 0, "w1", KEEPER_STEADY, KEEPER_NOTED);
    kw_pass(w, SEC(60));
    assert_slots(w, "");
    assert_true(str_starts(str_get(&w->ways), "Operating -> "));
    assert_true(str_ends(str_get(&w->ways), "Uncordoning -> Complete; "));
}

static void a_granted_slot_is_never_taken_back_by_time(void **state) {
    struct kw *w = *state;
    granted(w);
    kw_pass(w, SEC(86400));
    assert_slots(w, "w1 granted");
    kw_status(w, "w1", false, 1);
    kw_pass(w, SEC(86400));
    assert_slots(w, "w1 granted");
    assert_true(kw_is_cordoned(w, "w1"));
}

static void a_taken_slot_that_nobody_asks_for_is_put_back(void **state) {
    struct kw *w = *state;
    draining(w);
    kw_pass(w, SEC(1700));
    assert_slots(w, "w1 taken");
    kw_pass(w, SEC(200));
    assert_slots(w, "");
    assert_false(kw_is_cordoned(w, "w1"));
}

static void a_drained_slot_that_nobody_asks_for_is_put_back(void **state) {
    struct kw *w = *state;
    draining(w);
    kw_delete(w, &kind_pod, "default", "p1");
    kw_pass(w, SEC(700));
    assert_slots(w, "w1 drained");
    kw_pass(w, SEC(60));
    assert_slots(w, "");
    assert_false(kw_is_cordoned(w, "w1"));
}

/* And one that does ask keeps it, however long the drain takes. */
static void a_taken_slot_that_is_asked_for_is_kept(void **state) {
    struct kw *w = *state;
    draining(w);
    for (unsigned i = 0; i < 12; i++) {
        kw_pass(w, SEC(700));
        assert_true(kw_answer(w, 1, "w1", KEEPER_MAY_GO)->say != KEEPER_GO);
    }
    assert_slots(w, "w1 taken");
}

static void one_that_reports_while_it_is_drained_is_put_back(void **state) {
    struct kw *w = *state;
    draining(w);
    assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_NOTED);
    kw_pass(w, SEC(5));
    assert_slots(w, "");
    assert_false(kw_is_cordoned(w, "w1"));
    assert_int_equal(kw_pods_on(w, "w1"), 1);
}

/* The next holding of the same node is drained anew, whatever is left of the last one's drain. */
static void every_holding_is_drained_anew(void **state) {
    struct kw *w = *state;
    granted(w);
    kw_set_time(w, w->now.mono + SEC(30));
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(5));
    assert_slots(w, "");
    kw_pod(w, "w1");
    kw_settle(w);
    w->lazy_pods = true;
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_DRAINING);
    kw_pass(w, SEC(60));
    assert_slots(w, "w1 taken");
    assert_int_equal(kw_pods_on(w, "w1"), 1);
}

/* Also when something of it is still under way: it was done, and is nothing of this one's. */
static void what_is_left_of_an_earlier_drain_does_not_count(void **state) {
    struct kw *w = *state;
    w->opts.drain.keep_record = true;
    w->hold_minor = true;
    granted(w);
    kw_set_time(w, w->now.mono + SEC(30));
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(5));
    assert_slots(w, "");
    kw_pod(w, "w1");
    kw_settle(w);
    assert_non_null(drain_node(keeper_drain(w->r[0].k), "w1"));
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_DRAINING);
    assert_slots(w, "w1 taken");
    w->hold_minor = false;
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 drained");
    assert_int_equal(kw_pods_on(w, "w1"), 0);
}

static void one_that_somebody_uncordons_while_it_is_drained(void **state) {
    struct kw *w = *state;
    draining(w);
    kw_edit(w, &kind_node, NULL, "w1", "{'spec':{'unschedulable':null}}");
    kw_pass(w, SEC(5));
    assert_slots(w, "");
    assert_false(kw_is_cordoned(w, "w1"));
    assert_string_equal(kw_cordon(w, "w1"), "");
    assert_int_equal(kw_pods_on(w, "w1"), 1);
}

static void one_that_somebody_uncordons_when_it_is_drained(void **state) {
    struct kw *w = *state;
    draining(w);
    kw_delete(w, &kind_pod, "default", "p1");
    kw_pass(w, SEC(2));
    assert_slots(w, "w1 drained");
    kw_edit(w, &kind_node, NULL, "w1", "{'spec':{'unschedulable':null}}");
    kw_pass(w, SEC(5));
    assert_slots(w, "");
    assert_false(kw_is_cordoned(w, "w1"));
}

/* Ours was lifted: the next one is theirs. */
static void what_people_cordon_after_they_have_uncordoned_it_stays(void **state) {
    for (int again = 0; again < 2; again++) {
        struct kw *w = *state;
        if (again) {
            kw_edit(w, &kind_node, NULL, "w1", "{'spec':{'unschedulable':null}}");
            kw_pass(w, SEC(5));
            assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
        } else {
            granted(w);
        }
        kw_edit(w, &kind_node, NULL, "w1", "{'spec':{'unschedulable':null}}");
        kw_pass(w, SEC(5));
        assert_slots(w, "w1 granted");
        assert_false(kw_is_cordoned(w, "w1"));
        assert_non_null(strstr(kw_cordon(w, "w1"), "\"before\":true"));
        assert_int_equal(kw_answer(w, 0, "w1", KEEPER_MAY_GO)->say, KEEPER_BLOCKED);
        if (!again)
            kw_edit(w, &kind_node, NULL, "w1", "{'spec':{'unschedulable':true}}");
        kw_reboot(w, "w1", again ? 3 : 2);
        kw_pass(w, SEC(30));
        assert_slots(w, "");
        assert_string_equal(kw_cordon(w, "w1"), "");
        assert_int_equal(kw_is_cordoned(w, "w1"), !again);
    }
}

static void a_node_that_is_deleted_gives_its_slot_back(void **state) {
    struct kw *w = *state;
    granted(w);
    kw_delete(w, &kind_node, NULL, "w1");
    kw_pass(w, SEC(5));
    assert_slots(w, "");
}

/* Another one of that name has nothing of it. */
static void a_node_that_is_made_anew_gets_nothing_of_the_old_one(void **state) {
    struct kw *w = *state;
    granted(w);
    w->r[0].frozen = true;
    kw_delete(w, &kind_node, NULL, "w1");
    kw_put(w, &kind_node,
           "{'metadata':{'name':'w1','uid':'uid-new'},'spec':{},'status':{'nodeInfo':{'bootID':"
           "'boot-1'},'conditions':[{'type':'Ready','status':'True'}]}}");
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_BLOCKED);
    w->r[0].frozen = false;
    kw_pass(w, SEC(5));
    assert_slots(w, "");
    assert_false(kw_is_cordoned(w, "w1"));
}

/* Of a leader that was frozen while it lost the slot, and cordoned afterwards. */
static void a_cordon_of_a_holding_that_is_over_is_swept(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    kw_edit(w, &kind_node, NULL, "w1",
            "{'metadata':{'annotations':{'" CORDON_ANNOTATION
            "':'{\\\"v\\\":1,\\\"before\\\":false,"
            "\\\"holders\\\":[{\\\"id\\\":\\\"slot:default:0123456789abcdef\\\","
            "\\\"by\\\":\\\"fleetlock\\\"}]}'}},'spec':{'unschedulable':true}}");
    kw_pass(w, SEC(5));
    assert_string_equal(kw_cordon(w, "w1"), "");
    assert_false(kw_is_cordoned(w, "w1"));
}

static void cordons_of_others_are_not(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    static const char *const ids[] = {"cli/bob", "slot:other:0123456789abcdef"};
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        kw_edit(w, &kind_node, NULL, "w1",
                "{'metadata':{'annotations':{'" CORDON_ANNOTATION
                "':'{\\\"v\\\":1,\\\"before\\\":false,\\\"holders\\\":[{\\\"id\\\":\\\"%s\\\","
                "\\\"by\\\":\\\"x\\\"}]}'}},'spec':{'unschedulable':true}}",
                ids[i]);
        kw_pass(w, SEC(60));
        assert_non_null(strstr(kw_cordon(w, "w1"), ids[i]));
        assert_true(kw_is_cordoned(w, "w1"));
    }
}

/* Somebody else's cordon stays when ours goes. */
static void what_others_hold_stays_cordoned(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_edit(w, &kind_node, NULL, "w1",
            "{'metadata':{'annotations':{'" CORDON_ANNOTATION
            "':'{\\\"v\\\":1,\\\"before\\\":false,\\\"holders\\\":[{\\\"id\\\":\\\"cli/bob\\\","
            "\\\"by\\\":\\\"bob\\\"}]}'}},'spec':{'unschedulable':true}}");
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_set_time(w, w->now.mono + SEC(30));
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(5));
    assert_slots(w, "");
    assert_true(kw_is_cordoned(w, "w1"));
    assert_null(strstr(kw_cordon(w, "w1"), "slot:"));
}

/* "true slot:slipway-system/default": what it says, and for which holding we have said so; "- -"
 * for neither. */
static const char *autoscaler(struct kw *w, const char *node) {
    static char text[128];
    const json_t *meta = json_object_get(kw_doc(w, &kind_node, NULL, node), "metadata");
    const json_t *annotations = json_object_get(meta, "annotations");
    const char *mark = json_string_value(json_object_get(annotations, AUTOSCALER_MARK));
    const char *kept = json_string_value(json_object_get(annotations, KEEPER_KEPT));
    snprintf(text, sizeof text, "%s %.28s", mark ? mark : "-", kept ? kept : "-");
    return text;
}

static void the_autoscaler_is_told_to_leave_it_alone(void **state) {
    struct kw *w = *state;
    granted(w);
    assert_string_equal(autoscaler(w, "w1"), "true slot:slipway-system/default:");
    assert_string_equal(autoscaler(w, "w2"), "- -");
    kw_set_time(w, w->now.mono + SEC(30));
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(5));
    assert_slots(w, "");
    assert_string_equal(autoscaler(w, "w1"), "- -");
}

/* Nobody does later what no machine has done while the node was out. */
static void what_a_machine_was_told_is_called_off(void **state) {
    static const char *const words[][2] = {{"reboot", ""}, {"off", ""}, {"on", "on"}};
    struct kw *w = *state;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (i) {
            kw_done(w);
            kw_init(w, 1);
        }
        granted(w);
        kw_edit(w, &kind_node, NULL, "w1", "{'metadata':{'annotations':{'" SIM_DO "':'%s'}}}",
                words[i][0]);
        kw_set_time(w, w->now.mono + SEC(30));
        kw_reboot(w, "w1", 2);
        kw_pass(w, SEC(5));
        assert_slots(w, "");
        const char *left = json_string_value(json_object_get(
            dw_at(kw_doc(w, &kind_node, NULL, "w1"), "metadata.annotations"), SIM_DO));
        assert_string_equal(strna(left), words[i][1]);
    }
}

/* What somebody has said before stays, and so does what somebody says meanwhile. */
static void what_others_have_told_the_autoscaler_stays(void **state) {
    static const struct {
        const char *before, *meanwhile, *held, *after;
    } cases[] = {{"true", NULL, "true -", "true -"},
                 {"false", NULL, "true slot:slipway-system/default:", "false -"},
                 {"false", "no", "no slot:slipway-system/default:", "no -"},
                 {NULL, "false", "false slot:slipway-system/default:", "false -"}};
    struct kw *w = *state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (i) {
            kw_done(w);
            kw_init(w, 1);
        }
        kw_nodes(w, "w1", "w2", NULL);
        if (cases[i].before)
            kw_edit(w, &kind_node, NULL, "w1", "{'metadata':{'annotations':{'%s':'%s'}}}",
                    AUTOSCALER_MARK, cases[i].before);
        kw_start(w);
        assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
        if (cases[i].meanwhile)
            kw_edit(w, &kind_node, NULL, "w1", "{'metadata':{'annotations':{'%s':'%s'}}}",
                    AUTOSCALER_MARK, cases[i].meanwhile);
        assert_string_equal(autoscaler(w, "w1"), cases[i].held);
        kw_set_time(w, w->now.mono + SEC(30));
        kw_reboot(w, "w1", 2);
        kw_pass(w, SEC(5));
        assert_slots(w, "");
        assert_string_equal(autoscaler(w, "w1"), cases[i].after);
    }
}

/* Whoever uncordons it does not know of that; and neither does one who was killed before. */
static void what_the_autoscaler_was_told_is_not_left_behind(void **state) {
    struct kw *w = *state;
    draining(w);
    kw_edit(w, &kind_node, NULL, "w1",
            "{'spec':{'unschedulable':null},'metadata':{'annotations':{'" CORDON_ANNOTATION
            "':null}}}");
    kw_pass(w, SEC(10));
    assert_slots(w, "");
    assert_string_equal(autoscaler(w, "w1"), "- -");
    kw_edit(w, &kind_node, NULL, "w2",
            "{'metadata':{'annotations':{'" AUTOSCALER_MARK "':'true','" KEEPER_KEPT
            "':'slot:default:of-before'}}}");
    kw_pass(w, SEC(10));
    assert_string_equal(autoscaler(w, "w2"), "- -");
    kw_edit(w, &kind_node, NULL, "w2",
            "{'metadata':{'annotations':{'" AUTOSCALER_MARK "':'true','" KEEPER_KEPT
            "':'slot:other:1'}}}"); /* of another policy */
    kw_pass(w, SEC(10));
    assert_string_equal(autoscaler(w, "w2"), "true slot:other:1");
    kw_edit(w, &kind_node, NULL, "w2",
            "{'metadata':{'annotations':{'" AUTOSCALER_MARK "':'true','" KEEPER_KEPT
            "':'slot:default:of-before,false'}}}");
    kw_pass(w, SEC(10));
    assert_string_equal(autoscaler(w, "w2"), "false -");
}

static void the_marks_of_the_seed_are_kept(void **state) {
    struct kw *w = *state;
    w->opts.seed_marks = true;
    granted(w);
    assert_string_equal(kw_mark(w, "w1"), "Rebooting");
    kw_set_time(w, w->now.mono + SEC(30));
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(5));
    assert_string_equal(kw_mark(w, "w1"), "Ready");
    assert_slots(w, "");
}

/* A Node is written when it was read, and the record after it. */
static void the_node_is_read_then_the_record_then_it_is_written(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    str_reset(&w->wanted);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    assert_non_null(strstr(str_get(&w->wanted), "read nodes w1\n"
                                                "read configmaps slipway-slots-default\n"
                                                "read configmaps slipway-pause\n"
                                                "patch nodes w1\n"));
}

/* The slot was let go while its Node was being read: it is not cordoned any more. */
static void a_cordon_that_is_not_wanted_any_more_is_not_written(void **state) {
    struct kw *w = *state;
    struct kw_replica *r = &w->r[0];
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    for (unsigned i = 0; i < 100 && !dw_count(&w->wanted, "read nodes w1\n"); i++) {
        kw_round(r);
        kw_set_time(w, w->now.mono + MSEC(5));
    }
    assert_slots(w, "w1 taken");
    r->late[KW_MAPS] = true;
    assert_false(kw_is_cordoned(w, "w1"));
    kw_set_record(w, "{'v':1,'fence':1,'slots':[],'waiting':[]}"); /* somebody has taken it away */
    kw_pass(w, SEC(60));
    assert_int_equal(dw_count(&w->wanted, "patch nodes w1\n"), 0);
    assert_false(kw_is_cordoned(w, "w1"));
}

/* What kept the drain from going on may be gone after a while. */
static void a_drain_that_failed_is_begun_again(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    w->fault.verb = ACTION_EVICT;
    w->fault.kind = &kind_pod;
    w->fault.outcome = KUBE_FORBIDDEN;
    w->fault.times = 1;
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    kw_pass(w, SEC(300));
    assert_slots(w, "w1 drained");
    assert_int_equal(kw_pods_on(w, "w1"), 0);
}

/* The slot is kept until the node has been back, and Ready, for a while. */
static void a_slot_is_free_when_the_node_has_settled(void **state) {
    struct kw *w = *state;
    w->opts.settle = SEC(300);
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(1));
    assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_NOTED);
    kw_renew(w, "w1");
    kw_pass(w, SEC(200));
    assert_slots(w, "w1 returned");
    assert_false(kw_is_cordoned(w, "w1"));
    assert_says(w, 0, "w2", KEEPER_MAY_GO, KEEPER_FULL);
    kw_status(w, "w1", false, 2); /* it was too early */
    kw_pass(w, SEC(200));
    kw_status(w, "w1", true, 2);
    kw_pass(w, SEC(200));
    assert_true(strstr(kw_slots(w), "w1 returned"));
    kw_pass(w, SEC(110));
    assert_null(strstr(kw_slots(w), "w1"));
}

/* One that was let go before anybody was told to go has nothing to settle. */
static void what_was_not_granted_need_not_settle(void **state) {
    struct kw *w = *state;
    w->opts.settle = SEC(300);
    w->lazy_pods = true;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 taken");
    assert_says(w, 0, "w1", KEEPER_STEADY, KEEPER_NOTED);
    kw_pass(w, SEC(5));
    assert_slots(w, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        KEEPER_TEST(a_slot_is_free_when_the_node_has_settled),
        KEEPER_TEST(what_was_not_granted_need_not_settle),
        KEEPER_TEST(a_report_without_a_reboot_is_not_believed_at_once),
        KEEPER_TEST(one_that_goes_down_after_its_report),
        cmocka_unit_test(a_node_that_may_not_be_cordoned),
        KEEPER_TEST(a_node_that_could_not_be_cordoned_at_once),
        KEEPER_TEST(a_node_that_may_not_be_uncordoned),
        KEEPER_TEST(a_cordon_that_is_left_and_may_not_be_lifted),
        KEEPER_TEST(pods_that_may_not_be_listed),
        KEEPER_TEST(pods_that_are_not_watched_yet),
        KEEPER_TEST(no_clock_makes_those_minutes_shorter),
        KEEPER_TEST(a_new_leader_counts_those_minutes_anew),
        KEEPER_TEST(ready_is_believed_when_something_has_moved),
        KEEPER_TEST(one_that_comes_back_without_a_report_is_released),
        KEEPER_TEST(the_phases_of_a_client),
        KEEPER_TEST(a_granted_slot_is_never_taken_back_by_time),
        KEEPER_TEST(a_taken_slot_that_nobody_asks_for_is_put_back),
        KEEPER_TEST(a_drained_slot_that_nobody_asks_for_is_put_back),
        KEEPER_TEST(a_taken_slot_that_is_asked_for_is_kept),
        KEEPER_TEST(one_that_reports_while_it_is_drained_is_put_back),
        KEEPER_TEST(every_holding_is_drained_anew),
        KEEPER_TEST(what_is_left_of_an_earlier_drain_does_not_count),
        KEEPER_TEST(one_that_somebody_uncordons_while_it_is_drained),
        KEEPER_TEST(one_that_somebody_uncordons_when_it_is_drained),
        KEEPER_TEST(what_people_cordon_after_they_have_uncordoned_it_stays),
        KEEPER_TEST(a_node_that_is_deleted_gives_its_slot_back),
        KEEPER_TEST(a_node_that_is_made_anew_gets_nothing_of_the_old_one),
        KEEPER_TEST(a_cordon_of_a_holding_that_is_over_is_swept),
        KEEPER_TEST(cordons_of_others_are_not),
        KEEPER_TEST(what_others_hold_stays_cordoned),
        KEEPER_TEST(the_autoscaler_is_told_to_leave_it_alone),
        KEEPER_TEST(what_a_machine_was_told_is_called_off),
        KEEPER_TEST(what_others_have_told_the_autoscaler_stays),
        KEEPER_TEST(what_the_autoscaler_was_told_is_not_left_behind),
        KEEPER_TEST(the_marks_of_the_seed_are_kept),
        KEEPER_TEST(the_node_is_read_then_the_record_then_it_is_written),
        KEEPER_TEST(a_cordon_that_is_not_wanted_any_more_is_not_written),
        KEEPER_TEST(a_drain_that_failed_is_begun_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
