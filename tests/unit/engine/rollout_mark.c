/* Tests of src/engine/rollout_mark.c: the nodes that a rollout comes to later are marked. */
#include "engine/rollout_internal.h"

#include "engine/next_mark.h"
#include "support/rollout_world.h"

/* "w1 w3": the nodes that have the mark of a rollout. Valid until the next call. */
static const char *marked(struct kw *w) {
    static char text[256];
    size_t at = 0, j;
    text[0] = '\0';
    for (int i = 0; i < 20; i++) {
        char node[8];
        json_t *taint;
        snprintf(node, sizeof node, "w%d", i);
        json_t *doc = kw_doc(w, &kind_node, NULL, node);
        json_array_foreach(doc ? dw_at(doc, "spec.taints") : NULL, j, taint) {
            if (streq(dw_str(taint, "key"), NEXT_TAINT) && streq(dw_str(taint, "value"), "rollout"))
                at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at ? " " : "", node);
        }
    }
    return text;
}

static void nodes(struct kw *w, int n) {
    for (int i = 0; i < n; i++) {
        char name[8];
        snprintf(name, sizeof name, "w%d", i);
        kw_node(w, name);
    }
}

static void start(struct kw *w, const char *spec) {
    rw_start(w);
    rw_rollout(w, "r", *spec ? spec : ",'nodeSelector':{}");
    kw_settle(w);
}

static unsigned writes(struct kw *w, const char *node) {
    _cleanup_free_ char *line = xasprintf("patch nodes %s\n", node);
    return dw_count(&w->wanted, line);
}

static void those_to_come_are_marked(void **state) {
    struct kw *w = *state;
    nodes(w, 4);
    start(w, "");
    kw_pass(w, SEC(30));
    assert_string_equal(rw_node(w, "r", "w0"), "Operating");
    assert_string_equal(marked(w), "w1 w2 w3");
    assert_int_equal(writes(w, "w3"), 1);
}

/* It goes with the cordon, and none is left in the end. */
static void each_loses_it_with_its_cordon(void **state) {
    struct kw *w = *state;
    nodes(w, 3);
    start(w, "");
    kw_pass(w, SEC(30));
    assert_true(rw_machines(w));
    kw_pass(w, SEC(60));
    assert_string_equal(rw_node(w, "r", "w1"), "Operating");
    assert_string_equal(marked(w), "w2");
    for (int i = 0; i < 10; i++) {
        rw_machines(w);
        kw_pass(w, SEC(60));
    }
    assert_string_equal(rw_phase(w, "r"), "Complete");
    assert_string_equal(marked(w), "");
}

static void who_goes_at_once_is_not_marked_before(void **state) {
    struct kw *w = *state;
    w->opts.max.value = 3;
    w->looks = true;
    nodes(w, 3);
    w->unseen = "w0 w1 w2"; /* so that it is not clear yet who goes first */
    start(w, "");
    assert_string_equal(rw_node(w, "r", "w0"), "");
    assert_string_equal(marked(w), "");
    w->unseen = NULL;
    rollouts_poke(w->r[0].rs, NULL, NULL, NULL);
    kw_pass(w, SEC(30));
    assert_string_equal(rw_node(w, "r", "w2"), "Operating");
    assert_string_equal(marked(w), "");
    assert_int_equal(writes(w, "w1"), 1); /* its cordon */
}

/* Whatever ends it. */
static void what_does_not_go_on_keeps_no_marks(void **state) {
    static const char *const ends[] = {
        "{'spec':{'paused':true}}",
        "{'metadata':{'deletionTimestamp':'2026-11-15T08:00:00Z'}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        struct kw w;
        kw_init(&w, 1);
        w.arg = *state;
        nodes(&w, 12); /* more than are written at a time */
        start(&w, "");
        assert_string_equal(marked(&w), "w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11");
        kw_edit(&w, &kind_rollout, NULL, "r", "%s", ends[i]);
        kw_pass(&w, SEC(5));
        assert_string_equal(marked(&w), "");
        kw_done(&w);
    }
}

static void one_that_is_gone_leaves_none(void **state) {
    struct kw *w = *state;
    nodes(w, 3);
    start(w, "");
    assert_string_equal(marked(w), "w1 w2");
    kw_delete(w, &kind_rollout, NULL, "r");
    kw_pass(w, SEC(5));
    assert_string_equal(marked(w), "");
}

/* What a leader that was killed has left is taken off by the next one; what is wanted stays, and is
 * not written again. */
static void the_next_leader_knows_them(void **state) {
    struct kw *w = *state;
    nodes(w, 4);
    start(w, ",'nodes':['w[0-2]']");
    kw_edit(w, &kind_node, NULL, "w3",
            "{'spec':{'taints':[{'key':'slipway.dev/next','value':'rollout','effect':"
            "'PreferNoSchedule'}]}}");
    assert_string_equal(marked(w), "w1 w2 w3");
    kw_kill(w, 0);
    kw_begin(w, 0);
    keeper_lead(w->r[0].k, 2);
    kw_lead_rollouts(w, 0);
    kw_pass(w, SEC(5));
    assert_string_equal(marked(w), "w1 w2");
    assert_int_equal(writes(w, "w2"), 1);
}

static void marks_of_others_are_let_alone(void **state) {
    struct kw *w = *state;
    nodes(w, 4);
    for (int i = 2; i < 4; i++) {
        char name[8];
        snprintf(name, sizeof name, "w%d", i);
        kw_edit(w, &kind_node, NULL, name,
                "{'spec':{'taints':[{'key':'slipway.dev/next','effect':'PreferNoSchedule'}]}}");
    }
    start(w, ",'nodes':['w[0-2]']"); /* w2 is to come, w3 is none of its */
    kw_pass(w, SEC(5));
    assert_string_equal(marked(w), "w1");
    assert_int_equal(writes(w, "w2") + writes(w, "w3"), 0);
}

static void one_that_waits_for_approval_marks_nobody(void **state) {
    struct kw *w = *state;
    w->rules->approval = true;
    nodes(w, 3);
    start(w, "");
    kw_pass(w, SEC(5));
    assert_string_equal(rw_blocker(w, "r"), "ApprovalNeeded");
    assert_string_equal(marked(w), "");
}

/* Three nodes; the mark of the last is asked for, and nobody has answered. */
static void until_one_is_written(struct kw *w) {
    nodes(w, 3);
    rw_start(w);
    kw_settle(w);
    rw_rollout(w, "r", ",'nodeSelector':{}");
    for (unsigned i = 0; i < 1000 && !writes(w, "w2"); i++)
        kw_round(&w->r[0]);
}

static void a_conflict_is_tried_again(void **state) {
    struct kw *w = *state;
    until_one_is_written(w);
    kw_edit(w, &kind_node, NULL, "w2", "{'metadata':{'labels':{'a':'b'}}}");
    kw_pass(w, SEC(5));
    assert_string_equal(marked(w), "w1 w2");
    assert_int_equal(writes(w, "w2"), 2);
}

/* Nothing waits for them, and nobody tries often. */
static void who_may_not_write_them_goes_on_without(void **state) {
    struct kw *w = *state;
    until_one_is_written(w);
    for (size_t i = 0; i < w->r[0].calls.len; i++) {
        struct kw_call *c = &w->r[0].calls.p[i];
        if (c->a.kind == &kind_node && !streq(c->a.name, "w0"))
            kw_perform_as(w, c, KUBE_FORBIDDEN, false);
    }
    kw_pass(w, SEC(50));
    assert_string_equal(rw_node(w, "r", "w0"), "Operating");
    assert_string_equal(marked(w), "");
    assert_int_equal(writes(w, "w2"), 1);
    kw_pass(w, SEC(20));
    assert_string_equal(marked(w), "w1 w2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        KEEPER_TEST(those_to_come_are_marked),
        KEEPER_TEST(each_loses_it_with_its_cordon),
        KEEPER_TEST(who_goes_at_once_is_not_marked_before),
        KEEPER_TEST(what_does_not_go_on_keeps_no_marks),
        KEEPER_TEST(one_that_is_gone_leaves_none),
        KEEPER_TEST(the_next_leader_knows_them),
        KEEPER_TEST(marks_of_others_are_let_alone),
        KEEPER_TEST(one_that_waits_for_approval_marks_nobody),
        KEEPER_TEST(a_conflict_is_tried_again),
        KEEPER_TEST(who_may_not_write_them_goes_on_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
