/* Tests of src/engine/drain_record.c: conditions and Events on the node. */
#include "engine/drain.h"

#include "support/drain_world.h"

/* The records of a drain so far, in order; those that are not answered yet. */
static json_t *record(struct drain_world *w, size_t i, enum action_verb verb) {
    for (size_t k = 0; k < w->open.len; k++)
        if (w->open.p[k].minor && w->open.p[k].verb == verb && !i--)
            return json_loads(w->open.p[k].body, 0, NULL);
    return NULL;
}

static const struct action *raw(struct drain_world *w, size_t i, enum action_verb verb) {
    for (size_t k = 0; k < w->open.len; k++)
        if (w->open.p[k].minor && w->open.p[k].verb == verb && !i--)
            return &w->open.p[k];
    return NULL;
}

static void event_is(struct drain_world *w, size_t i, const char *type, const char *reason,
                     const char *message) {
    json_t *e = record(w, i, ACTION_CREATE);
    assert_non_null(e);
    assert_string_equal(dw_str(e, "reason"), reason);
    assert_string_equal(dw_str(e, "type"), type);
    assert_memory_equal(dw_str(e, "message"), message, strlen(message)); /* begins so */
    json_decref(e);
}

/* The one that is being written; there is never a second one at a time, which could overtake it. */
static void condition_is(struct drain_world *w, const char *in_progress, const char *drained,
                         const char *reason) {
    json_t *p = record(w, 0, ACTION_PATCH);
    assert_non_null(p);
    assert_null(raw(w, 1, ACTION_PATCH));
    json_t *list = dw_at(p, "status.conditions");
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(dw_str(list, "0.type"), "DrainInProgress");
    assert_string_equal(dw_str(list, "0.status"), in_progress);
    assert_string_equal(dw_str(list, "0.reason"), reason);
    assert_string_equal(dw_str(list, "1.type"), "Drained");
    assert_string_equal(dw_str(list, "1.status"), drained);
    /* Ours begin with this, so that only ours are cleared. */
    assert_memory_equal(reason, "Slipway", 7);
    json_decref(p);
}

/* It is answered; the next one may come. */
static void condition_written(struct drain_world *w, enum kube_outcome outcome) {
    for (size_t k = 0; k < w->open.len; k++)
        if (w->open.p[k].minor && w->open.p[k].verb == ACTION_PATCH) {
            dw_answer(w, &w->open.p[k],
                      &(struct answer){.outcome = outcome, .message = "", .retry_after = -1});
            dw_settle(w);
            return;
        }
    fail_msg("no condition is being written");
}

static void begin(struct drain_world *w) {
    w->opts.keep_record = true;
    w->by_hand_minor = true;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
}

static void what_a_drain_leaves_behind(void **state) {
    struct drain_world *w = *state;
    w->opts.holder.reason = "kernel update";
    begin(w);
    event_is(w, 0, "Normal", "Cordoned", "cordoned by alice: kernel update");
    event_is(w, 1, "Normal", "DrainStarted", "1 pod to go, 0 to stay");
    condition_is(w, "True", "False", "SlipwayDrain");
    condition_written(w, KUBE_OK);
    assert_null(record(w, 2, ACTION_CREATE));
    dw_accept(w, ACTION_EVICT, "a");
    dw_settle(w);
    dw_remove(w, &kind_pod, "default", "a");
    dw_settle(w);
    event_is(w, 2, "Normal", "Drained", "all pods that can go are gone");
    condition_is(w, "False", "True", "SlipwayDrained");
    condition_written(w, KUBE_OK);
    assert_null(raw(w, 3, ACTION_CREATE));
    assert_null(raw(w, 0, ACTION_PATCH));
}

/* Written one after the other: what is out of date by then is not written at all. */
static void a_condition_does_not_overtake_another(void **state) {
    struct drain_world *w = *state;
    w->opts.uncordon_when_done = true;
    begin(w);
    condition_is(w, "True", "False", "SlipwayDrain");
    dw_accept(w, ACTION_EVICT, "a");
    dw_settle(w);
    dw_remove(w, &kind_pod, "default", "a");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    condition_is(w, "True", "False", "SlipwayDrain"); /* its answer has not come */
    condition_written(w, KUBE_SERVER_ERROR);          /* whatever it is */
    condition_is(w, "False", "False", "SlipwayUncordoned");
    assert_false(drain_over(w->d));
    condition_written(w, KUBE_OK);
    assert_null(raw(w, 0, ACTION_PATCH));
}

/* The node is not left with a condition that is not so because a server failed once. */
static void a_condition_that_fails_is_tried_again_a_few_times(void **state) {
    struct drain_world *w = *state;
    begin(w);
    condition_written(w, KUBE_OK);
    dw_accept(w, ACTION_EVICT, "a");
    dw_settle(w);
    dw_remove(w, &kind_pod, "default", "a");
    dw_settle(w);
    unsigned before = dw_asked(w, "patch nodes/status"), tries = 1;
    condition_written(w, KUBE_SERVER_ERROR);
    assert_null(raw(w, 0, ACTION_PATCH)); /* not at once */
    assert_false(drain_over(w->d));
    dw_pass(w, SEC(2));
    condition_is(w, "False", "True", "SlipwayDrained");
    for (; raw(w, 0, ACTION_PATCH) && tries < 20; tries++) {
        condition_written(w, KUBE_SERVER_ERROR);
        dw_pass(w, SEC(10));
    }
    assert_in_range(dw_asked(w, "patch nodes/status") - before, 1, 4);
    w->by_hand_minor = false;
    dw_settle(w);
    assert_true(drain_over(w->d)); /* but nobody waits for ever for it */
}

static void a_condition_that_is_forbidden_is_not_tried_again(void **state) {
    struct drain_world *w = *state;
    begin(w);
    condition_written(w, KUBE_FORBIDDEN);
    dw_pass(w, SEC(600));
    assert_int_equal(dw_asked(w, "patch nodes/status"), 1);
}

/* Said once, and not tried again for any node. */
static void what_may_not_be_written_is_said_once(void **state) {
    struct drain_world *w = *state;
    w->opts.keep_record = true;
    dw_node(w, "w0");
    dw_node(w, "w1");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w1", "{}");
    w->minor_outcome = KUBE_FORBIDDEN;
    dw_start(w, "w0", "w1", NULL);
    dw_settle(w);
    assert_int_equal(dw_told(w, "remark: cannot create events: "), 1);
    assert_int_equal(dw_told(w, "remark: cannot patch nodes/status: "), 1);
    dw_forget(w);
    dw_accept(w, ACTION_EVICT, "a");
    dw_accept(w, ACTION_EVICT, "b");
    dw_remove(w, &kind_pod, "default", "a");
    dw_remove(w, &kind_pod, "default", "b");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    assert_phase(w, 1, DRAIN_DONE);
    assert_int_equal(dw_asked(w, "create events"), 0);
    assert_int_equal(dw_asked(w, "patch nodes/status"), 0);
    assert_true(drain_over(w->d));
}

static void the_patch_of_the_conditions(void **state) {
    struct drain_world *w = *state;
    begin(w);
    const struct action *a = raw(w, 0, ACTION_PATCH);
    assert_ptr_equal(a->kind, &kind_node);
    assert_string_equal(a->name, "w0");
    assert_null(a->ns);
    assert_string_equal(a->subresource, "status");
    assert_true(a->strategic); /* a merge patch would replace all conditions */
    json_t *p = record(w, 0, ACTION_PATCH);
    /* Nothing but the two: whatever else is in the status stays. */
    assert_int_equal(json_object_size(p), 1);
    assert_int_equal(json_object_size(dw_at(p, "status")), 1);
    assert_string_equal(dw_str(p, "status.conditions.0.lastTransitionTime"),
                        "2026-11-15T08:00:00Z");
    assert_string_equal(dw_str(p, "status.conditions.0.lastHeartbeatTime"), "2026-11-15T08:00:00Z");
    assert_string_equal(dw_str(p, "status.conditions.0.message"), "is being drained by alice");
    json_decref(p);
}

/* As kubelets write them, so that kubectl describe node finds them: by the name as UID. */
static void the_fields_of_an_event(void **state) {
    struct drain_world *w = *state;
    begin(w);
    const struct action *a = raw(w, 0, ACTION_CREATE);
    json_t *e = record(w, 0, ACTION_CREATE);
    assert_ptr_equal(a->kind, &kind_event);
    assert_string_equal(a->ns, "default");
    assert_string_equal(dw_str(e, "apiVersion"), "v1");
    assert_string_equal(dw_str(e, "kind"), "Event");
    assert_string_equal(dw_str(e, "metadata.namespace"), "default");
    assert_string_equal(dw_str(e, "metadata.name"), a->name);
    assert_string_equal(dw_str(e, "involvedObject.kind"), "Node");
    assert_string_equal(dw_str(e, "involvedObject.name"), "w0");
    assert_string_equal(dw_str(e, "involvedObject.uid"), "w0");
    assert_null(dw_at(e, "involvedObject.namespace"));
    assert_string_equal(dw_str(e, "source.component"), "slipway");
    assert_string_equal(dw_str(e, "reportingComponent"), "slipway");
    assert_string_equal(dw_str(e, "reportingInstance"), "alice");
    assert_string_equal(dw_str(e, "firstTimestamp"), "2026-11-15T08:00:00Z");
    assert_string_equal(dw_str(e, "lastTimestamp"), "2026-11-15T08:00:00Z");
    assert_int_equal(json_integer_value(dw_at(e, "count")), 1);
    json_decref(e);
}

static void names_of_events_are_their_own(void **state) {
    struct drain_world *w = *state;
    begin(w);
    dw_pass(w, SEC(1));
    drain_stop(w->d, "x");
    dw_reply(w, ACTION_EVICT, "a", KUBE_FORBIDDEN, -1);
    dw_settle(w);
    const struct action *a, *b;
    for (size_t i = 0; (a = raw(w, i, ACTION_CREATE)); i++)
        for (size_t k = 0; k < i; k++) {
            b = raw(w, k, ACTION_CREATE);
            assert_string_not_equal(a->name, b->name);
        }
}

/* DNS-1123: at most 253 letters, digits, '-' and '.', each part begins and ends with a letter or
 * digit. Node names may be that long themselves. */
static void names_of_events_are_valid_for_any_node(void **state) {
    (void)state;
    char longest[254], dashes[254];
    memset(longest, 'n', 253);
    longest[253] = '\0';
    for (int i = 63; i < 253; i += 64)
        longest[i] = '.';
    memcpy(dashes, longest, sizeof dashes);
    for (int i = 225; i < 252; i++) /* wherever it is cut */
        dashes[i] = i % 9 ? '-' : 'x';
    const char *const names[] = {"w0", "node.example.com", longest, dashes};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct drain_world w;
        dw_init(&w);
        w.opts.keep_record = true;
        w.by_hand_minor = true;
        dw_node(&w, names[i]);
        dw_start(&w, names[i], NULL);
        const struct action *a = raw(&w, 0, ACTION_CREATE);
        assert_non_null(a);
        size_t len = strlen(a->name);
        assert_true(len <= 253);
        for (size_t k = 0; k < len; k++) {
            char c = a->name[k];
            bool alnum = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
            bool edge = k == 0 || k + 1 == len || a->name[k - 1] == '.' || a->name[k + 1] == '.';
            if (!alnum && (edge ? c != '.' || k == 0 || k + 1 == len || a->name[k + 1] == '.'
                                : c != '-' && c != '.'))
                fail_msg("%s at %zu", a->name, k);
        }
        dw_done(&w);
    }
}

/* What is said comes from servers and people: quotes, control characters, broken UTF-8, novels. */
static void hostile_texts(void **state) {
    (void)state;
    char novel[5001];
    memset(novel, 0xff, sizeof novel - 1);
    novel[5000] = '\0';
    char umlauts[3001];
    for (int i = 0; i < 1500; i++)
        memcpy(umlauts + (size_t)i * 2, "\xc3\xa4", 2);
    umlauts[3000] = '\0';
    const char *const texts[] = {"a \"quoted\" \\ thing\n\x1b[31m\x01", novel, umlauts, ""};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct drain_world w;
        dw_init(&w);
        w.opts.holder.reason = texts[i];
        w.opts.holder.by = texts[i];
        begin(&w); /* dw_step() reads each body */
        json_t *e = record(&w, 0, ACTION_CREATE);
        assert_true(strlen(dw_str(e, "message")) <= 1024);
        assert_true(strlen(dw_str(e, "reportingInstance")) <= 128);
        assert_true(*dw_str(e, "reportingInstance") != '\0');
        json_decref(e);
        json_t *p = record(&w, 0, ACTION_PATCH);
        assert_true(strlen(dw_str(p, "status.conditions.0.message")) <= 1024);
        json_decref(p);
        dw_done(&w);
    }
}

static void a_drain_that_ends_badly_says_so(void **state) {
    (void)state;
    static const struct {
        int how;
        const char *type, *reason;
    } cases[] = {{0, "Warning", "DrainTimedOut"},
                 {1, "Warning", "DrainFailed"},
                 {2, "Normal", "DrainStopped"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct drain_world w;
        dw_init(&w);
        w.opts.timeout = SEC(30);
        begin(&w);
        if (cases[i].how)
            dw_reply(&w, ACTION_EVICT, "a", cases[i].how == 1 ? KUBE_FORBIDDEN : KUBE_DENIED, -1);
        if (cases[i].how == 2)
            drain_stop(w.d, "interrupted");
        dw_pass(&w, SEC(31));
        assert_true(drain_ended(dw_view(&w, 0)->phase));
        condition_written(&w, KUBE_OK);
        condition_is(&w, "False", "False", "SlipwayDrainEnded");
        event_is(&w, 2, cases[i].type, cases[i].reason, dw_view(&w, 0)->error);
        dw_done(&w);
    }
}

/* What is left is said once, whoever says it. */
static void what_is_left_is_said_once(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct drain_world w;
        dw_init(&w);
        w.opts.timeout = SEC(30);
        begin(&w);
        if (how)
            dw_reply(&w, ACTION_EVICT, "a", how == 1 ? KUBE_FORBIDDEN : KUBE_DENIED, -1);
        if (how == 2)
            drain_stop(w.d, "interrupted");
        dw_pass(&w, SEC(31));
        condition_written(&w, KUBE_OK);
        json_t *p = record(&w, 0, ACTION_PATCH);
        const char *message = dw_str(p, "status.conditions.0.message");
        const char *first = strstr(message, "still there");
        if (first && strstr(first + 1, "still there"))
            fail_msg("%s", message);
        assert_non_null(strstr(message, "default/a"));
        json_decref(p);
        dw_done(&w);
    }
}

static void refused_nodes_have_an_event_and_no_condition(void **state) {
    struct drain_world *w = *state;
    w->opts.keep_record = true;
    w->by_hand_minor = true;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", DW_BARE);
    dw_start(w, "w0", NULL);
    event_is(w, 1, "Warning", "DrainFailed", dw_view(w, 0)->error);
    assert_null(record(w, 0, ACTION_PATCH)); /* it was never in progress */
}

static void a_rehearsal_clears_its_condition(void **state) {
    struct drain_world *w = *state;
    w->opts.uncordon_when_done = true;
    begin(w);
    dw_accept(w, ACTION_EVICT, "a");
    dw_settle(w);
    dw_remove(w, &kind_pod, "default", "a");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    event_is(w, 3, "Normal", "Uncordoned", "");
    condition_written(w, KUBE_OK);
    condition_is(w, "False", "False", "SlipwayUncordoned");
}

static void nothing_is_recorded_unless_asked_for(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct drain_world w;
        dw_init(&w);
        w.opts.keep_record = i > 0;
        w.opts.dry_run = i == 0 ? DRY_RUN_NONE : i == 1 ? DRY_RUN_CLIENT : DRY_RUN_SERVER;
        w.obedient = i == 0;
        dw_node(&w, "w0");
        dw_pod(&w, "a", "w0", "{}");
        dw_start(&w, "w0", NULL);
        if (i == 2)
            dw_reply(&w, ACTION_EVICT, "a", KUBE_OK, -1);
        dw_settle(&w);
        assert_phase(&w, 0, DRAIN_DONE);
        assert_int_equal(dw_asked(&w, "create"), 0);
        assert_int_equal(dw_asked(&w, "nodes/status"), 0);
        dw_done(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DRAIN_TEST(what_a_drain_leaves_behind),
        DRAIN_TEST(a_condition_does_not_overtake_another),
        DRAIN_TEST(a_condition_that_fails_is_tried_again_a_few_times),
        DRAIN_TEST(a_condition_that_is_forbidden_is_not_tried_again),
        DRAIN_TEST(what_may_not_be_written_is_said_once),
        DRAIN_TEST(the_patch_of_the_conditions),
        DRAIN_TEST(the_fields_of_an_event),
        DRAIN_TEST(names_of_events_are_their_own),
        cmocka_unit_test(names_of_events_are_valid_for_any_node),
        cmocka_unit_test(hostile_texts),
        cmocka_unit_test(a_drain_that_ends_badly_says_so),
        cmocka_unit_test(what_is_left_is_said_once),
        DRAIN_TEST(refused_nodes_have_an_event_and_no_condition),
        DRAIN_TEST(a_rehearsal_clears_its_condition),
        cmocka_unit_test(nothing_is_recorded_unless_asked_for),
    };
    return cmocka_run_group_tests_name("engine/drain_record", tests, NULL, NULL);
}
