/* Tests of src/controller/core.c: what comes in, what comes of it, and in which order it is told.
 * What is decided is engine/keeper.c's and its kin's. */
#include "support/core_world.h"

#include "base/str.h"

static int setup(void **state) {
    struct core_world *w = xnew(struct core_world);
    cw_init(w);
    *state = w;
    return 0;
}

static int teardown(void **state) {
    cw_done(*state);
    free(*state);
    return 0;
}

#define CORE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static void note_event(void *arg, const struct core_event *e) {
    static const char letters[CORE_WHATS] = "bsrpltaqcolfhukyzWANDREOX";
    str_addc(arg, letters[e->what]);
}

static void without_policies_there_is_the_built_in_one(void **state) {
    struct core_world *w = *state;
    assert_int_equal(core_next(w->core), 0); /* the policies have to be looked at */
    assert_true(core_look(w->core));
    assert_false(core_look(w->core));
    assert_int_equal(policies_len(core_policies(w->core)), 1);
    assert_string_equal(policies_at(core_policies(w->core), 0)->name, "default");
}

static void what_comes_of_something_is_told_after_it(void **state) {
    struct core_world *w = *state;
    _cleanup_str_ struct str told = STR_INIT;
    cw_step(w);
    core_listen(w->core, note_event, &told);
    core_ask(w->core, 1, "w0", KEEPER_MAY_GO, w->now);
    cw_step(w);
    /* The question, a step, and what is to be done. */
    assert_true(str_starts(str_get(&told), "qt"));
    assert_int_equal(w->actions.list.len, told.len - 2);
    core_cancel(w->core, 1);
    core_poke(w->core);
    core_lead(w->core, 3);
    core_follow(w->core);
    core_operated(w->core, "m", NULL);
    core_checks_changed(w->core);
    core_hold(w->core);
    core_blind(w->core, "why");
    cw_node(w, "w1");
    assert_string_equal(str_get(&told) + told.len - 9, "cplfokhus");
    core_listen(w->core, NULL, NULL);
    core_poke(w->core);
    assert_string_equal(str_get(&told) + told.len - 9, "cplfokhus");
}

/* What the checks go by: the listener alone hears of it, and the engine only that it has changed.
 */
static void what_checks_read_is_told_and_no_more(void **state) {
    struct core_world *w = *state;
    _cleanup_str_ struct str told = STR_INIT;
    struct store *s = store_new(&kind_vmi, w->pool);
    core_lead(w->core, 3);
    cw_step(w);
    int64_t next = core_next(w->core);
    core_listen(w->core, note_event, &told);
    core_check_store(w->core, SOURCE_VMIS, s, &(struct store_change){.op = STORE_BEGIN});
    core_check_input(w->core, SOURCE_VMIS, &(struct check_input){.read = READ_DONE, .store = s});
    assert_string_equal(str_get(&told), "yz");
    assert_int_equal(core_next(w->core), next);
    store_free(s);
}

static void one_that_asks_for_a_node_of_nobody_gets_no_reply(void **state) {
    struct core_world *w = *state;
    cw_step(w);
    core_ask(w->core, 1, "nobody", KEEPER_MAY_GO, w->now);
    cw_pass(w, SEC(5));
    assert_int_equal(w->replies, 0);
    core_ask(w->core, 2, "w0", KEEPER_MAY_GO, w->now);
    cw_pass(w, SEC(5)); /* more than its patience */
    assert_int_equal(w->replies, 1);
}

static void who_leads_and_in_which_term(void **state) {
    struct core_world *w = *state;
    int32_t fence;
    assert_false(core_leads(w->core, &fence));
    core_lead(w->core, 0);
    assert_true(core_leads(w->core, &fence));
    assert_int_equal(fence, 0);
    core_lead(w->core, 5);
    assert_true(core_leads(w->core, &fence));
    assert_int_equal(fence, 5);
    core_follow(w->core);
    assert_false(core_leads(w->core, &fence));
}

/* Until it is told so; that it begins anew does not open its eyes. */
static void one_whose_picture_is_old(void **state) {
    struct core_world *w = *state;
    assert_null(core_is_blind(w->core));
    cw_step(w);
    core_blind(w->core, "nodes cannot be watched");
    assert_string_equal(core_is_blind(w->core), "nodes cannot be watched");
    core_restart(w->core);
    assert_string_equal(core_is_blind(w->core), "nodes cannot be watched");
    cw_step(w);
    cw_pass(w, SEC(1));
    core_blind(w->core, NULL);
    assert_null(core_is_blind(w->core));
    assert_true(core_next(w->core) <= w->now.mono); /* whoever waits is looked at again */
}

/* The same as one that has just been started, but for the stores. */
static void restarted_it_begins_anew(void **state) {
    struct core_world *w = *state;
    _cleanup_str_ struct str told = STR_INIT;
    int32_t fence;
    core_lead(w->core, 4);
    cw_step(w);
    const struct keeper *old = policies_at(core_policies(w->core), 0)->keeper;
    assert_non_null(old);
    cluster_look(core_cluster(w->core), &kind_replica_set, "ns", "x");
    core_listen(w->core, note_event, &told);
    core_restart(w->core);
    assert_string_equal(str_get(&told), "b");
    assert_int_equal(w->replaced, 1);
    assert_int_equal(policies_len(core_policies(w->core)), 0);
    assert_int_equal(core_cluster(w->core)->lookups.len, 0);
    assert_int_equal(store_len(core_cluster(w->core)->nodes), 1);
    assert_true(core_leads(w->core, &fence));
    assert_int_equal(fence, 4);
    cw_step(w);
    assert_int_equal(policies_len(core_policies(w->core)), 1);
    assert_non_null(keeper_drain(policies_at(core_policies(w->core), 0)->keeper));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CORE_TEST(without_policies_there_is_the_built_in_one),
        CORE_TEST(what_comes_of_something_is_told_after_it),
        CORE_TEST(what_checks_read_is_told_and_no_more),
        CORE_TEST(one_that_asks_for_a_node_of_nobody_gets_no_reply),
        CORE_TEST(who_leads_and_in_which_term),
        CORE_TEST(one_whose_picture_is_old),
        CORE_TEST(restarted_it_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
