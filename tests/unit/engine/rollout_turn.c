/* Tests of src/engine/rollout_turn.c: which node of a rollout is begun next. */
#include "engine/rollout_internal.h"

#include "support/rollout_world.h"

__attribute__((format(printf, 2, 3))) static void put_budget(struct kw *w, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    json_t *doc = dw_vjson(fmt, ap);
    va_end(ap);
    store_put(w->r[0].c.budgets, kw_decode(w->r[0].pool, &kind_pdb, doc));
    json_decref(doc);
}

/* "w0 w3": the nodes that were begun. Valid until the next call. */
static const char *begun(struct kw *w) {
    static char text[256];
    size_t at = 0;
    text[0] = '\0';
    for (int i = 0; i < 10; i++) {
        char node[8];
        snprintf(node, sizeof node, "w%d", i);
        _cleanup_free_ char *name = rollout_maintenance_name("r", node);
        if (kw_doc(w, &kind_maintenance, NULL, name))
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at ? " " : "", node);
    }
    return text;
}

static void start(struct kw *w, unsigned slots) {
    w->opts.max.value = slots;
    w->lazy_pods = true;
    rw_start(w);
    put_budget(w,
               "{'metadata':{'namespace':'default','name':'web','uid':'u','generation':1},'spec':{"
               "'maxUnavailable':1,'selector':{'matchLabels':{'app':'web'}}},'status':{"
               "'observedGeneration':1,'disruptionsAllowed':%d,'currentHealthy':4,"
               "'desiredHealthy':3,'expectedPods':4}}",
               1);
    rw_rollout(w, "r", ",'nodeSelector':{}");
}

static void the_next_that_is_in_nobodys_way(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w0", "w1", NULL); /* with a pod each */
    kw_node(w, "w2");
    kw_node(w, "w3");
    w->looks = true;
    start(w, 2);
    kw_settle(w);
    assert_string_equal(begun(w), "w0 w2");
}

static void without_a_look_they_come_by_name(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w0", "w1", NULL);
    kw_node(w, "w2");
    start(w, 2);
    kw_settle(w);
    assert_string_equal(begun(w), "w0 w1");
    assert_false(rollouts_needs_pods(w->r[0].rs, "w2"));
}

/* Nobody is in anybody's way: of no node the pods have to be known before. */
static void one_at_a_time_they_come_by_name(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w0", "w1", "w2", NULL);
    w->looks = true;
    w->unseen = "w0 w1 w2";
    start(w, 1);
    kw_settle(w);
    assert_string_equal(begun(w), "w0");
    assert_false(rollouts_needs_pods(w->r[0].rs, "w1"));
}

static void pods_are_waited_for_a_moment(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w0", "w1", NULL);
    kw_node(w, "w2");
    w->looks = true;
    w->unseen = "w0 w1 w2";
    start(w, 2);
    kw_settle(w);
    assert_string_equal(begun(w), "");
    assert_true(rollouts_needs_pods(w->r[0].rs, "w0"));
    assert_true(rollouts_needs_pods(w->r[0].rs, "w2"));
    w->unseen = "w0 w1";
    rollouts_poke(w->r[0].rs, NULL, NULL, NULL);
    kw_settle(w);
    assert_string_equal(begun(w), "w2"); /* of which they are known */
    kw_pass(w, MSEC(1100));
    assert_string_equal(begun(w), "w0 w2"); /* and no longer than that */
}

/* From before their turn until they hold a slot, without a gap: what was read is read once. */
static void pods_stay_known(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w0", "w1", "w2", "w3", NULL);
    w->looks = true;
    start(w, 2);
    for (unsigned i = 0; i < 1000 && !*begun(w); i++)
        kw_round(&w->r[0]);
    assert_string_equal(begun(w), "w0");
    for (unsigned i = 0; i < 1000 && !keeper_needs_pods(w->r[0].k, "w0"); i++) {
        assert_true(rollouts_needs_pods(w->r[0].rs, "w0"));
        kw_round(&w->r[0]);
    }
    assert_true(keeper_needs_pods(w->r[0].k, "w0"));
    assert_true(rollouts_needs_pods(w->r[0].rs, "w3"));
    kw_settle(w);
    assert_false(rollouts_needs_pods(w->r[0].rs, "w0"));
}

static void a_rollout_that_is_paused_looks_at_nobody(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w0", "w1", "w2", "w3", NULL);
    w->looks = true;
    start(w, 2);
    kw_settle(w);
    assert_true(rollouts_needs_pods(w->r[0].rs, "w3"));
    kw_edit(w, &kind_rollout, NULL, "r", "{'spec':{'paused':true}}");
    kw_pass(w, SEC(2));
    assert_false(rollouts_needs_pods(w->r[0].rs, "w3"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        KEEPER_TEST(the_next_that_is_in_nobodys_way),
        KEEPER_TEST(without_a_look_they_come_by_name),
        KEEPER_TEST(one_at_a_time_they_come_by_name),
        KEEPER_TEST(pods_are_waited_for_a_moment),
        KEEPER_TEST(pods_stay_known),
        KEEPER_TEST(a_rollout_that_is_paused_looks_at_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
