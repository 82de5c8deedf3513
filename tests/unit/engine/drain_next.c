/* Tests of src/engine/drain_next.c: nodes whose turn is still to come are marked. */
#include "engine/next_mark.h"

#include "support/drain_world.h"

static void site(struct drain_world *w) {
    for (int i = 0; i < 3; i++) {
        char node[8], pod[8];
        snprintf(node, sizeof node, "w%d", i);
        snprintf(pod, sizeof pod, "a%d", i);
        dw_node(w, node);
        dw_pod(w, pod, node, "{}");
    }
    w->opts.max_unavailable.value = 1;
    w->opts.avoid_next = w->opts.in_order = true;
}

static bool marked(struct drain_world *w, const char *name) {
    return next_marked((const struct node *)store_get(w->c.nodes, NULL, name));
}

static bool cordoned(struct drain_world *w, const char *name) {
    return ((const struct node *)store_get(w->c.nodes, NULL, name))->unschedulable;
}

static void leave(struct drain_world *w, const char *pod) {
    dw_accept(w, ACTION_EVICT, pod);
    dw_settle(w);
    dw_remove(w, &kind_pod, "default", pod);
    dw_pass(w, SEC(1));
}

/* The write of a mark under way, or NULL. */
static struct action *mark_of(struct drain_world *w, const char *name) {
    for (size_t i = 0; i < w->open.len; i++)
        if (w->open.p[i].verb == ACTION_PATCH && w->open.p[i].minor &&
            streq(w->open.p[i].name, name))
            return &w->open.p[i];
    return NULL;
}

static void refuse(struct drain_world *w, const char *name, enum kube_outcome outcome) {
    dw_answer(w, mark_of(w, name),
              &(struct answer){.outcome = outcome, .message = "no", .retry_after = -1});
}

static void those_that_wait_are_marked_until_their_turn(void **state) {
    struct drain_world *w = *state;
    site(w);
    dw_start(w, "w0", "w1", "w2", NULL);
    dw_pass(w, SEC(1));
    assert_true(cordoned(w, "w0") && !marked(w, "w0"));
    assert_true(!cordoned(w, "w1") && marked(w, "w1"));
    assert_true(!cordoned(w, "w2") && marked(w, "w2"));
    leave(w, "a0");
    assert_true(cordoned(w, "w1") && !marked(w, "w1")); /* with the cordon */
    assert_true(marked(w, "w2"));
    leave(w, "a1");
    leave(w, "a2");
    assert_true(drain_over(w->d));
    assert_false(marked(w, "w0") || marked(w, "w1") || marked(w, "w2"));
    /* One write each, and one cordon each. */
    assert_int_equal(dw_asked(w, "patch nodes w1\n"), 2);
    assert_int_equal(dw_asked(w, "patch nodes w0\n"), 1);
}

static void without_it_nothing_is_written(void **state) {
    struct drain_world *w = *state;
    site(w);
    w->opts.avoid_next = false;
    dw_start(w, "w0", "w1", "w2", NULL);
    dw_pass(w, SEC(5));
    assert_int_equal(dw_asked(w, "patch nodes w1"), 0);
}

static void all_at_once_need_none(void **state) {
    struct drain_world *w = *state;
    site(w);
    w->opts.max_unavailable.value = 0;
    dw_start(w, "w0", "w1", "w2", NULL);
    assert_int_equal(dw_asked(w, "patch nodes w1\n"), 1); /* the cordon */
    assert_false(marked(w, "w1"));
}

static void what_was_not_come_to_is_as_before(void **state) {
    struct drain_world *w = *state;
    site(w);
    dw_start(w, "w0", "w1", "w2", NULL);
    dw_pass(w, SEC(1));
    assert_true(marked(w, "w2"));
    drain_stop(w->d, "interrupted");
    dw_accept(w, ACTION_EVICT, "a0");
    dw_pass(w, SEC(1));
    assert_false(marked(w, "w1") || marked(w, "w2"));
    assert_true(drain_over(w->d));
}

/* Killed, and started again: the marks of the first run are the second one's. */
static void the_next_run_takes_them_over(void **state) {
    struct drain_world *w = *state;
    site(w);
    dw_start(w, "w0", "w1", "w2", NULL);
    dw_pass(w, SEC(1));
    dw_kill(w);
    dw_forget(w);
    dw_start(w, "w0", "w1", "w2", NULL);
    dw_pass(w, SEC(1));
    assert_int_equal(dw_asked(w, "patch nodes w2"), 0);
    drain_stop(w->d, "interrupted");
    dw_pass(w, SEC(1));
    assert_false(marked(w, "w1") || marked(w, "w2"));
}

/* Somebody takes it off: they have their reasons. */
static void it_is_put_on_once(void **state) {
    struct drain_world *w = *state;
    site(w);
    dw_start(w, "w0", "w1", "w2", NULL);
    dw_pass(w, SEC(1));
    dw_edit_node(w, "w2", "{'spec':{'taints':null}}");
    dw_pass(w, SEC(60));
    assert_false(marked(w, "w2"));
}

/* It may not be written: the drain goes on without. */
static void a_refusal_is_no_failure(void **state) {
    struct drain_world *w = *state;
    site(w);
    w->by_hand_minor = true;
    dw_start(w, "w0", "w1", "w2", NULL);
    refuse(w, "w1", KUBE_FORBIDDEN);
    refuse(w, "w2", KUBE_CONFLICT);
    dw_pass(w, SEC(1));
    assert_non_null(mark_of(w, "w2")); /* tried again */
    assert_null(mark_of(w, "w1"));
    dw_patched(w, mark_of(w, "w2"), true);
    leave(w, "a0");
    assert_true(cordoned(w, "w1"));
    leave(w, "a1");
    leave(w, "a2");
    assert_int_equal(dw_view(w, 2)->phase, DRAIN_DONE);
    assert_false(marked(w, "w2"));
}

/* The cordon does not race against the mark. */
static void a_mark_under_way_is_waited_for(void **state) {
    struct drain_world *w = *state;
    site(w);
    w->by_hand_minor = true;
    dw_start(w, "w0", "w1", "w2", NULL);
    assert_non_null(mark_of(w, "w1"));
    leave(w, "a0");
    assert_int_equal(dw_view(w, 1)->phase, DRAIN_CORDONING);
    assert_false(cordoned(w, "w1"));
    dw_patched(w, mark_of(w, "w1"), true);
    dw_pass(w, SEC(1));
    assert_true(cordoned(w, "w1") && !marked(w, "w1"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DRAIN_TEST(those_that_wait_are_marked_until_their_turn),
        DRAIN_TEST(without_it_nothing_is_written),
        DRAIN_TEST(all_at_once_need_none),
        DRAIN_TEST(what_was_not_come_to_is_as_before),
        DRAIN_TEST(the_next_run_takes_them_over),
        DRAIN_TEST(it_is_put_on_once),
        DRAIN_TEST(a_refusal_is_no_failure),
        DRAIN_TEST(a_mark_under_way_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
