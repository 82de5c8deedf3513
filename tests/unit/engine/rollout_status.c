/* Tests of src/engine/rollout_status.c: what is said of a rollout, and how often. */
#include "engine/rollout_internal.h"

#include "support/rollout_world.h"

static const char *message(struct kw *w, const char *type) {
    size_t i;
    json_t *one;
    json_array_foreach(dw_at(rw_doc(w, "kernel"), "status.conditions"), i, one) {
        if (streq(dw_str(one, "type"), type))
            return streq(dw_str(one, "status"), "True") ? dw_str(one, "message") : "";
    }
    return "none";
}

static void a_rollout_without_nodes_has_failed(void **state) {
    struct kw *w = *state;
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodeSelector':{'matchLabels':{'pool':'x'}}");
    kw_pass(w, SEC(2));
    assert_string_equal(rw_phase(w, "kernel"), "Failed");
    assert_string_equal(dw_str(rw_doc(w, "kernel"), "status.reason"), "NoNodes");
    assert_true(strstr(message(w, "Failed"), "selects no node"));
    assert_string_equal(message(w, "Complete"), "");
}

static void missing_nodes_are_named(void **state) {
    struct kw *w = *state;
    kw_node(w, "w1");
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w[1-6]']");
    kw_pass(w, SEC(2));
    assert_string_equal(rw_phase(w, "kernel"), "Failed");
    assert_string_equal(message(w, "Failed"), "no further node is begun: w2, w3, w4 and 2 more are "
                                              "not there; at most 0 may fail");
    assert_string_equal(rw_node(w, "kernel", "w1"), "");
}

static void a_node_without_a_policy_is_waited_for(void **state) {
    struct kw *w = *state;
    kw_node_as(w, "w1", "'no-policy':''");
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w1']");
    kw_pass(w, SEC(2));
    assert_string_equal(rw_phase(w, "kernel"), "Progressing");
    assert_string_equal(rw_blocker(w, "kernel"), "PolicyUnclear");
    assert_true(strstr(dw_str(rw_doc(w, "kernel"), "status.blocker.message"), "w1"));
}

/* Nothing is written when nothing is new. */
static void it_is_written_when_something_is_new(void **state) {
    struct kw *w = *state;
    kw_node(w, "w1");
    kw_node(w, "w2");
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w[1-2]']");
    kw_pass(w, SEC(30));
    assert_string_equal(message(w, "Progressing"), "0 of 2 nodes are done, 1 under way");
    size_t before = dw_count(&w->wanted, "patch rollouts kernel");
    assert_true(before && before <= 4);
    kw_edit(w, &kind_node, NULL, "w2", "{'metadata':{'annotations':{'x':'y'}}}");
    kw_pass(w, SEC(30));
    assert_int_equal(dw_count(&w->wanted, "patch rollouts kernel"), before);
}

static void the_time_is_that_of_the_phase(void **state) {
    struct kw *w = *state;
    kw_node(w, "w1");
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w1']");
    kw_pass(w, SEC(1));
    _cleanup_free_ char *since = xstrdup(dw_str(rw_doc(w, "kernel"), "status.since"));
    assert_true(*since);
    kw_pass(w, SEC(60));
    assert_true(rw_machines(w));
    kw_pass(w, SEC(60));
    assert_string_equal(rw_phase(w, "kernel"), "Complete");
    assert_string_not_equal(dw_str(rw_doc(w, "kernel"), "status.since"), since);
    assert_string_equal(message(w, "Complete"), "1 of 1 nodes are done");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, kw_setup, kw_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_rollout_without_nodes_has_failed),    TEST(missing_nodes_are_named),
        TEST(a_node_without_a_policy_is_waited_for), TEST(it_is_written_when_something_is_new),
        TEST(the_time_is_that_of_the_phase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
