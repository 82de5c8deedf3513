/* Tests of src/engine/drain_request.c: answers find whom they are for, once. */
#include "engine/drain.h"

#include "support/drain_world.h"

static const struct answer fine = {.outcome = KUBE_OK, .message = "", .retry_after = -1};

static void an_answer_counts_once(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    uint64_t id = dw_open(w, ACTION_EVICT, "a")->id;
    assert_false(drain_answer(w->d, 0, &fine, w->now));
    assert_false(drain_answer(w->d, id + 1000, &fine, w->now));
    assert_state(w, "a", DRAIN_POD_SENT);
    dw_accept(w, ACTION_EVICT, "a");
    assert_state(w, "a", DRAIN_POD_LEAVING);
    assert_int_equal(dw_view(w, 0)->leaving, 1);
    assert_false(drain_answer(w->d, id, &fine, w->now));
    assert_int_equal(dw_view(w, 0)->leaving, 1);
}

/* However many are under way, and in whatever order they are answered. */
static void each_gets_its_own(void **state) {
    struct drain_world *w = *state;
    char name[16];
    w->opts.rate = 0;
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "w%d", i);
        dw_node(w, name);
        for (int k = 0; k < 3; k++) {
            char pod[16];
            snprintf(pod, sizeof pod, "p%d-%d", i, k);
            dw_pod(w, pod, name, "{}");
        }
    }
    const char *names[20];
    for (int i = 0; i < 20; i++)
        names[i] = xasprintf("w%d", i);
    w->d = drain_new(&w->opts, &w->c, names, 20, dw_on_note, w);
    dw_settle(w);
    assert_int_equal(dw_under_way(w, ACTION_EVICT), 60);
    for (int i = 19; i >= 0; i--)
        for (int k = 0; k < 3; k++) {
            snprintf(name, sizeof name, "p%d-%d", i, k);
            dw_reply(w, ACTION_EVICT, name, (i + k) % 2 ? KUBE_FORBIDDEN : KUBE_DENIED, -1);
        }
    for (int i = 0; i < 20; i++)
        for (int k = 0; k < 3; k++) {
            snprintf(name, sizeof name, "p%d-%d", i, k);
            assert_state(w, name, (i + k) % 2 ? DRAIN_POD_FAILED : DRAIN_POD_BLOCKED);
        }
    for (int i = 0; i < 20; i++)
        free((char *)names[i]);
}

/* What is decided is sent, and bounded before it is decided: nothing is sent after a stop. */
static void nothing_is_begun_after_a_stop(void **state) {
    struct drain_world *w = *state;
    char name[8];
    w->opts.rate = 0;
    dw_node(w, "w0");
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "p%d", i);
        dw_pod(w, name, "w0", "{}");
    }
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_under_way(w, ACTION_EVICT), 64);
    dw_reply(w, ACTION_EVICT, "p0", KUBE_DENIED, -1);
    dw_settle(w);
    assert_int_equal(dw_under_way(w, ACTION_EVICT), 64); /* the next */
    assert_int_equal(dw_asked(w, "evict"), 65);
    drain_stop(w->d, "interrupted");
    dw_reply(w, ACTION_EVICT, "p1", KUBE_DENIED, -1);
    dw_pass(w, SEC(60));
    assert_int_equal(dw_asked(w, "evict"), 65);
}

/* The same for cordons. */
static void no_node_is_cordoned_after_a_stop(void **state) {
    struct drain_world *w = *state;
    char text[40][8];
    const char *names[40];
    for (int i = 0; i < 40; i++) {
        snprintf(text[i], sizeof text[i], "w%d", i);
        names[i] = text[i];
        dw_node(w, names[i]);
    }
    w->by_hand_cordon = true;
    w->d = drain_new(&w->opts, &w->c, names, 40, dw_on_note, w);
    dw_settle(w);
    assert_int_equal(dw_under_way(w, ACTION_PATCH), 16);
    dw_patched(w, dw_open(w, ACTION_PATCH, "w3"), true);
    dw_settle(w);
    assert_int_equal(dw_under_way(w, ACTION_PATCH), 16);
    drain_stop(w->d, "interrupted");
    w->by_hand_cordon = false;
    dw_pass(w, SEC(60));
    assert_int_equal(dw_asked(w, "patch nodes w"), 17);
    assert_true(drain_over(w->d));
}

/* However many answers come at once, as many others follow; those that ended meanwhile keep nobody.
 */
static void the_next_cordons_follow(void **state) {
    struct drain_world *w = *state;
    char text[60][8];
    const char *names[60];
    for (int i = 0; i < 60; i++) {
        snprintf(text[i], sizeof text[i], "w%d", i);
        names[i] = text[i];
        dw_node(w, names[i]);
    }
    w->by_hand_cordon = true;
    w->d = drain_new(&w->opts, &w->c, names, 60, dw_on_note, w);
    dw_settle(w);
    assert_int_equal(dw_under_way(w, ACTION_PATCH), 16);
    dw_remove(w, &kind_node, NULL, "w16"); /* the first of those that wait */
    dw_remove(w, &kind_node, NULL, "w17");
    for (int i = 0; i < 16; i++) {
        struct action *a = dw_open(w, ACTION_PATCH, names[i]);
        dw_answer(w, a,
                  &(struct answer){.outcome = KUBE_DENIED, .message = "no", .retry_after = 60});
    }
    dw_settle(w);
    assert_int_equal(dw_under_way(w, ACTION_PATCH), 16);
    assert_phase(w, 16, DRAIN_FAILED);
    assert_non_null(dw_open(w, ACTION_PATCH, "w18"));
    assert_non_null(dw_open(w, ACTION_PATCH, "w33"));
}

/* What is under way is waited for, and nothing else. */
static void the_end_waits_for_answers(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w0", "{}");
    dw_start(w, "w0", NULL);
    drain_stop(w->d, "interrupted");
    dw_settle(w);
    dw_accept(w, ACTION_EVICT, "a");
    dw_settle(w);
    assert_false(drain_over(w->d));
    dw_accept(w, ACTION_EVICT, "b");
    dw_settle(w);
    assert_true(drain_over(w->d));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DRAIN_TEST(an_answer_counts_once),         DRAIN_TEST(each_gets_its_own),
        DRAIN_TEST(nothing_is_begun_after_a_stop), DRAIN_TEST(no_node_is_cordoned_after_a_stop),
        DRAIN_TEST(the_next_cordons_follow),       DRAIN_TEST(the_end_waits_for_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
