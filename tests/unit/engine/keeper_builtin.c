/* Tests of src/engine/keeper_builtin.c: a slot of the built-in policy comes after a list of the
 * Policies that has found none. */
#include "engine/keeper.h"

#include "support/keeper_world.h"

static void start(struct kw *w) {
    w->opts.builtin = true;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
}

static unsigned lists(const struct kw *w) {
    unsigned n = 0;
    for (const char *at = str_get(&w->wanted); (at = strstr(at, "confirm policies ")); at++)
        n++;
    return n;
}

static void each_slot_comes_after_a_list(void **state) {
    struct kw *w = *state;
    start(w);
    assert_int_equal(lists(w), 0); /* nobody wants anything */
    kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    assert_int_equal(lists(w), 1);
    assert_slots(w, "w1 granted");
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    assert_int_equal(lists(w), 1); /* who has one needs none */
    kw_answer(w, 0, "w2", KEEPER_MAY_GO);
    kw_pass(w, SEC(60));
    assert_int_equal(lists(w), 1); /* nobody could get one */
    kw_reboot(w, "w1", 2);
    kw_answer(w, 0, "w1", KEEPER_STEADY);
    kw_pass(w, SEC(60));
    assert_slots(w, "w2 drained");
    assert_int_equal(lists(w), 2);
}

static void of_other_policies_nobody_lists_any(void **state) {
    struct kw *w = *state;
    w->policies = true;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    assert_slots(w, "w1 granted");
    assert_int_equal(lists(w), 0);
}

static void where_there_are_policies_nobody_gets_one(void **state) {
    struct kw *w = *state;
    start(w);
    w->policies = true;
    const struct kw_reply *r = kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_BLOCKED);
    assert_non_null(strstr(r->text, "there are Policies by now"));
    kw_pass(w, SEC(60));
    assert_slots(w, "; w1");
    assert_true(lists(w) > 5 && lists(w) < 60); /* again and again, but not all the time */
    w->policies = false;                        /* it was deleted again */
    kw_pass(w, SEC(10));
    assert_slots(w, "w1 drained");
}

static void a_list_that_fails_says_why(void **state) {
    struct kw *w = *state;
    start(w);
    w->fault.verb = ACTION_CONFIRM;
    w->fault.kind = &kind_policy;
    w->fault.outcome = KUBE_SERVER_ERROR;
    w->fault.times = 1000;
    const struct kw_reply *r = kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_BLOCKED);
    assert_non_null(strstr(r->text, "cannot be read: the test says no"));
    assert_slots(w, "; w1");
    w->fault.times = 0;
    kw_pass(w, SEC(10));
    assert_slots(w, "w1 drained");
}

/* The list for w2 is under way when w1 comes, which goes first: it began before that. */
static void a_list_is_for_nobody_who_comes_later(void **state) {
    struct kw *w = *state;
    start(w);
    w->opts.builtin = true;
    w->fault.verb = ACTION_CONFIRM;
    w->fault.kind = &kind_policy;
    w->fault.outcome = KUBE_SERVER_ERROR;
    w->fault.times = 1000;
    kw_answer(w, 0, "w2", KEEPER_MAY_GO);
    kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    w->fault.times = 0;
    str_reset(&w->wanted);
    kw_pass(w, SEC(10));
    assert_slots(w, "w1 drained; w2");
    assert_non_null(strstr(str_get(&w->wanted), "confirm policies w1\n"));
}

/* What the seed's manager has begun is taken over by the built-in policy, not by a guess. */
static void take_overs_come_after_a_list(void **state) {
    struct kw *w = *state;
    w->opts.seed_marks = true;
    w->policies = true;
    start(w);
    json_t *node = kw_doc(w, &kind_node, NULL, "w1");
    json_t *patch = json_pack("{s:{s:{s:s}},s:{s:b}}", "metadata", "annotations", SEED_MARK,
                              SEED_REBOOTING, "spec", "unschedulable", 1);
    kw_write(w, &kind_node, dw_merge(json_deep_copy(node), patch));
    kw_pass(w, SEC(30));
    assert_slots(w, "");
    w->policies = false;
    kw_pass(w, SEC(30));
    assert_slots(w, "w1 drained");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        KEEPER_TEST(each_slot_comes_after_a_list),
        KEEPER_TEST(of_other_policies_nobody_lists_any),
        KEEPER_TEST(where_there_are_policies_nobody_gets_one),
        KEEPER_TEST(a_list_that_fails_says_why),
        KEEPER_TEST(a_list_is_for_nobody_who_comes_later),
        KEEPER_TEST(take_overs_come_after_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
