/* Tests of src/engine/rollout.c: nodes one after the other, brakes, and whoever leads next. */
#include "engine/rollout.h"

#include "support/rollout_world.h"

static void fleet(struct kw *w, unsigned n) {
    for (unsigned i = 1; i <= n; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%u", i);
        kw_node(w, name);
        kw_pod(w, name);
    }
}

/* Until it is in that phase; never more than `most` are out meanwhile. */
static void until(struct kw *w, const char *rollout, const char *phase, unsigned most) {
    for (unsigned i = 0; i < 2000 && !streq(rw_phase(w, rollout), phase); i++) {
        for (unsigned j = 0; j < w->n; j++)
            kw_round(&w->r[j]);
        assert_true(rw_out(w) <= most);
        if (!rw_machines(w))
            kw_set_time(w, w->now.mono + MSEC(100));
    }
    assert_string_equal(rw_phase(w, rollout), phase);
}

static void all_nodes_two_at_a_time(void **state) {
    struct kw *w = *state;
    w->opts.max.value = 2;
    fleet(w, 7);
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodeSelector':{}");
    until(w, "kernel", "Complete", 2);
    assert_int_equal(rw_count(w, "kernel", "complete"), 7);
    for (unsigned i = 1; i <= 7; i++) {
        char node[16];
        snprintf(node, sizeof node, "w%u", i);
        _cleanup_free_ char *name = rollout_maintenance_name("kernel", node);
        _cleanup_free_ char *line = xasprintf("%s\n", name);
        assert_int_equal(dw_count(&w->operated, line), 1);
        assert_string_equal(rw_node(w, "kernel", node), "Complete");
        assert_false(kw_is_cordoned(w, node));
    }
    json_t *doc = kw_doc(w, &kind_maintenance, NULL, "kernel-w3");
    assert_string_equal(dw_str(json_array_get(dw_at(doc, "metadata.ownerReferences"), 0), "uid"),
                        "uid-kernel");
    assert_string_equal(dw_str(json_array_get(dw_at(doc, "spec.executor.exec.command"), 0), ""),
                        "true");
}

/* It need not be written a second time before it begins. */
static void they_are_made_with_their_finalizer(void **state) {
    struct kw *w = *state;
    fleet(w, 1);
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodeSelector':{}");
    for (unsigned i = 0; i < 1000 && !kw_doc(w, &kind_maintenance, NULL, "kernel-w1"); i++)
        kw_round(&w->r[0]);
    json_t *made = dw_at(kw_doc(w, &kind_maintenance, NULL, "kernel-w1"), "metadata.finalizers");
    assert_string_equal(json_string_value(json_array_get(made, 0)), KEEPER_FINALIZER);
    kw_pass(w, SEC(5));
    assert_int_equal(json_array_size(dw_at(kw_doc(w, &kind_maintenance, NULL, "kernel-w1"),
                                           "metadata.finalizers")),
                     1);
    until(w, "kernel", "Complete", 1);
    kw_pass(w, SEC(5));
    assert_int_equal(json_array_size(dw_at(kw_doc(w, &kind_maintenance, NULL, "kernel-w1"),
                                           "metadata.finalizers")),
                     0);
}

/* An empty argument is one, too: null would be refused by the server. */
static void its_executor_is_theirs(void **state) {
    struct kw *w = *state;
    fleet(w, 1);
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w1']");
    kw_edit(w, &kind_rollout, NULL, "kernel",
            "{'spec':{'executor':{'exec':{'command':['power','','off']}}}}");
    kw_pass(w, SEC(5));
    json_t *doc = kw_doc(w, &kind_maintenance, NULL, "kernel-w1");
    _cleanup_free_ char *command = json_dumps(dw_at(doc, "spec.executor"), JSON_COMPACT);
    assert_string_equal(command, "{\"exec\":{\"command\":[\"power\",\"\",\"off\"]}}");
}

/* No more are made than can begin. */
static void what_waits_is_not_made(void **state) {
    struct kw *w = *state;
    w->opts.max.value = 2;
    fleet(w, 5);
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w[1-5]']");
    kw_pass(w, SEC(5));
    assert_int_equal(rw_count(w, "kernel", "current"), 2);
    assert_int_equal(rw_count(w, "kernel", "waiting"), 3);
    assert_string_equal(rw_node(w, "kernel", "w1"), "Operating");
    assert_string_equal(rw_node(w, "kernel", "w2"), "Operating");
    assert_string_equal(rw_node(w, "kernel", "w3"), "");
    assert_string_equal(rw_blocker(w, "kernel"), "MaxUnavailableReached");
}

/* What a kubelet says every few seconds, and what a node waits for, is nothing to a rollout. */
static void only_what_matters_is_looked_at(void **state) {
    struct kw *w = *state;
    fleet(w, 2);
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w[1-2]']");
    kw_pass(w, SEC(5));
    struct kw_replica *r = &w->r[0];
    const struct node *node = cluster_node(&r->c, "w1");
    const struct object *m = store_get(r->upkeeps, NULL, "kernel-w1");
    assert_non_null(node);
    assert_non_null(m);
    struct node unready = *node;
    struct maintenance waits = *(const struct maintenance *)m, over = waits;
    unready.conditions = NULL;
    waits.blocker = NULL;
    over.phase = "Complete";
    const struct object *old = (const struct object *)node;
    rollouts_poke(r->rs, &kind_node, old, old);
    rollouts_poke(r->rs, &kind_maintenance, m, (const struct object *)&waits);
    rollouts_poke(r->rs, &kind_pod, NULL, NULL);
    assert_true(rollouts_next(r->rs) > 0);
    rollouts_poke(r->rs, &kind_node, old, (const struct object *)&unready);
    assert_int_equal(rollouts_next(r->rs), 0);
    kw_pass(w, SEC(1));
    rollouts_poke(r->rs, &kind_maintenance, m, (const struct object *)&over);
    assert_int_equal(rollouts_next(r->rs), 0);
}

/* Each once, in the words of engine/reason.h. */
static void what_becomes_of_it_is_told(void **state) {
    struct kw *w = *state;
    fleet(w, 2);
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w[1-2]']");
    until(w, "kernel", "Complete", 1);
    const char *told = str_get(&w->told);
    static const char *const lines[] = {
        "NodeBegun kernel: begins with node w1\n",
        "Progressing kernel: is Progressing: ",
        "NodeDone kernel: is done with node w1: 1 of 2 are\n",
        "NodeBegun kernel: begins with node w2\n",
        "NodeDone kernel: is done with node w2: 2 of 2 are\n",
        "AllDone kernel: is Complete: 2 of 2 nodes are done\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        assert_int_equal(dw_count(&w->told, lines[i]), 1);
    assert_null(strstr(told, "warning"));
}

/* Two rollouts share the slots of one policy. */
static void two_rollouts_share_the_slots(void **state) {
    struct kw *w = *state;
    fleet(w, 4);
    rw_start(w);
    rw_rollout(w, "a", ",'nodes':['w[1-2]']");
    rw_rollout(w, "b", ",'nodes':['w[3-4]']");
    until(w, "a", "Complete", 1);
    until(w, "b", "Complete", 1);
}

/* The first by name, wherever the store has them: the same inputs give the same outputs. */
static void rollouts_take_their_turns_by_name(void **state) {
    struct kw *w = *state;
    static const char *const names[] = {"e", "b", "g", "a", "d", "f", "c"};
    fleet(w, 7);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        _cleanup_free_ char *spec = xasprintf(",'nodes':['w%zu']", i + 1);
        rw_rollout(w, names[i], spec);
    }
    rw_start(w);
    until(w, "g", "Complete", 1);
    const char *at = str_get(&w->told);
    for (char name = 'a'; name != 'h'; name++) {
        _cleanup_free_ char *line = xasprintf("NodeBegun %c: begins with node", name);
        at = strstr(at, line);
        assert_non_null(at);
    }
}

/* --- brakes --- */

/* Nobody reports a failure: the node just does not come back. */
static void one_that_does_not_come_back_has_failed(void **state) {
    struct kw *w = *state;
    fleet(w, 3);
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w[1-3]']");
    kw_pass(w, SEC(5));
    kw_status(w, "w1", false, 1);
    kw_pass(w, SEC(890));
    assert_string_equal(rw_phase(w, "kernel"), "Progressing");
    kw_pass(w, SEC(60));
    assert_string_equal(rw_node(w, "kernel", "w1"), "Halted");
    assert_string_equal(rw_node(w, "kernel", "w2"), "");
    assert_string_equal(rw_blocker(w, "kernel"), "TooManyFailed");
}

/* All are begun: what they wait for is what it waits for. */
static void one_that_is_all_begun_says_what_it_waits_for(void **state) {
    struct kw *w = *state;
    fleet(w, 1);
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w1']");
    kw_pass(w, SEC(30));
    assert_string_equal(rw_phase(w, "kernel"), "Progressing");
    assert_string_equal(rw_blocker(w, "kernel"), "NodeAwaited");
}

static void it_stops_when_too_many_fail(void **state) {
    struct kw *w = *state;
    fleet(w, 3);
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w[1-3]']");
    kw_pass(w, SEC(5));
    keeper_operated(w->r[0].k, "kernel-w1", "no power");
    kw_pass(w, SEC(5));
    assert_string_equal(rw_node(w, "kernel", "w1"), "Halted");
    assert_string_equal(rw_phase(w, "kernel"), "Failed");
    assert_string_equal(rw_blocker(w, "kernel"), "TooManyFailed");
    kw_edit(w, &kind_maintenance, NULL, "kernel-w1",
            "{'metadata':{'annotations':{'" OWN_WORD_ANNOTATION "':'abort'}}}");
    kw_pass(w, SEC(60)); /* when its node would be seen to have gone */
    assert_string_equal(rw_node(w, "kernel", "w1"), "Cancelled");
    assert_string_equal(rw_node(w, "kernel", "w2"), "");
    /* Somebody lets it be. */
    kw_edit(w, &kind_rollout, NULL, "kernel",
            "{'metadata':{'generation':2},'spec':{'maxFailed':1}}");
    until(w, "kernel", "Complete", 1);
    assert_int_equal(rw_count(w, "kernel", "failed"), 1);
    assert_int_equal(rw_count(w, "kernel", "complete"), 2);
    assert_string_equal(dw_str(rw_doc(w, "kernel"), "status.reason"), "SomeFailed");
}

/* One that has failed stays so when it is deleted, until somebody wants it begun again. */
static void what_failed_is_tried_again_when_somebody_says_so(void **state) {
    struct kw *w = *state;
    fleet(w, 2);
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w[1-2]']");
    kw_pass(w, SEC(5));
    keeper_operated(w->r[0].k, "kernel-w1", "no power");
    kw_pass(w, SEC(5));
    assert_string_equal(rw_phase(w, "kernel"), "Failed");
    kw_ask_delete(w, &kind_maintenance, "kernel-w1");
    kw_pass(w, SEC(120));
    assert_string_equal(rw_node(w, "kernel", "w1"), "");
    assert_string_equal(rw_phase(w, "kernel"), "Failed");
    assert_string_equal(rw_blocker(w, "kernel"), "TooManyFailed");
    kw_edit(w, &kind_rollout, NULL, "kernel",
            "{'metadata':{'annotations':{'" OWN_RETRY_ANNOTATION "':'1'}}}");
    until(w, "kernel", "Complete", 1);
    assert_int_equal(dw_count(&w->wanted, "create maintenances kernel-w1\n"), 2);
    assert_int_equal(rw_count(w, "kernel", "complete"), 2);
}

static void no_further_node_is_begun_while_it_is_paused(void **state) {
    struct kw *w = *state;
    fleet(w, 3);
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w[1-3]']");
    kw_pass(w, SEC(5));
    kw_edit(w, &kind_rollout, NULL, "kernel",
            "{'metadata':{'generation':2},'spec':{'paused':true}}");
    kw_pass(w, SEC(5));
    assert_string_equal(rw_phase(w, "kernel"), "Paused");
    assert_string_equal(rw_blocker(w, "kernel"), "ManualHold");
    /* The one that is under way is finished. */
    assert_true(rw_machines(w));
    kw_pass(w, SEC(60));
    assert_string_equal(rw_node(w, "kernel", "w1"), "Complete");
    assert_string_equal(rw_node(w, "kernel", "w2"), "");
    kw_edit(w, &kind_rollout, NULL, "kernel",
            "{'metadata':{'generation':3},'spec':{'paused':false}}");
    until(w, "kernel", "Complete", 1);
}

static void the_next_one_waits_until_the_last_has_soaked(void **state) {
    struct kw *w = *state;
    fleet(w, 2);
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w[1-2]'],'soak':'5m'");
    kw_pass(w, SEC(5));
    assert_true(rw_machines(w));
    kw_pass(w, SEC(5));
    assert_string_equal(rw_node(w, "kernel", "w1"), "Complete");
    kw_pass(w, SEC(280));
    assert_string_equal(rw_node(w, "kernel", "w2"), "");
    assert_string_equal(rw_blocker(w, "kernel"), "SoakTime");
    kw_pass(w, SEC(30));
    assert_string_equal(rw_node(w, "kernel", "w2"), "Operating");
}

/* --- faults --- */

/* Somebody looks at what has halted: nobody knows whether the one who was killed has begun it. */
static void help(struct kw *w) {
    for (unsigned i = 1; i <= 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "kernel-w%u", i);
        json_t *doc = kw_doc(w, &kind_maintenance, NULL, name);
        if (doc && streq(dw_str(doc, "status.phase"), "Halted"))
            kw_edit(w, &kind_maintenance, NULL, name,
                    "{'metadata':{'annotations':{'" OWN_WORD_ANNOTATION "':'retry'}}}");
    }
}

/* Killed after any number of its calls: whoever leads next begins nothing twice. */
static void a_new_leader_goes_on_from_every_state(void **state) {
    (void)state;
    for (unsigned after = 0; after < 60; after += 3) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 2);
        fleet(w, 3);
        rw_start(w);
        rw_rollout(w, "kernel", ",'nodes':['w[1-3]']");
        for (unsigned i = 0; i < after; i++) {
            kw_round(&w->r[0]);
            kw_round(&w->r[1]);
            rw_machines(w);
            kw_set_time(w, w->now.mono + MSEC(20));
        }
        kw_kill(w, 0);
        keeper_lead(w->r[1].k, 2);
        kw_lead_rollouts(w, 1);
        for (unsigned i = 0; i < 200 && !streq(rw_phase(w, "kernel"), "Complete"); i++) {
            kw_pass(w, SEC(10));
            rw_machines(w);
            help(w);
            for (unsigned k = 1; k <= 3; k++) { /* kubelets go on */
                char name[8];
                snprintf(name, sizeof name, "w%u", k);
                kw_renew(w, name);
            }
        }
        assert_string_equal(rw_phase(w, "kernel"), "Complete");
        assert_int_equal(rw_count(w, "kernel", "complete"), 3);
        for (unsigned i = 1; i <= 3; i++) {
            char line[32];
            snprintf(line, sizeof line, "kernel-w%u\n", i);
            assert_true(dw_count(&w->operated, line) <= 1);
        }
        kw_done(w);
        free(w);
    }
}

/* Made, and the answer was lost. */
static void a_lost_answer_makes_no_second_one(void **state) {
    struct kw *w = *state;
    fleet(w, 2);
    rw_start(w);
    w->fault.verb = ACTION_CREATE;
    w->fault.kind = &kind_maintenance;
    w->fault.outcome = KUBE_UNREACHABLE;
    w->fault.done = true;
    w->fault.times = 2;
    rw_rollout(w, "kernel", ",'nodes':['w[1-2]']");
    until(w, "kernel", "Complete", 1);
    assert_int_equal(dw_count(&w->operated, "kernel-w1\n"), 1);
}

/* The watch is late: what was made is not made again, and counts. */
static void what_is_not_seen_yet_counts(void **state) {
    struct kw *w = *state;
    fleet(w, 3);
    rw_start(w);
    kw_settle(w);
    w->r[0].late[KW_UPKEEPS] = true;
    rw_rollout(w, "kernel", ",'nodes':['w[1-3]']");
    kw_pass(w, SEC(20));
    assert_int_equal(dw_count(&w->wanted, "create maintenances"), 1);
    assert_int_equal(rw_count(w, "kernel", "current"), 1);
    w->r[0].late[KW_UPKEEPS] = false;
    until(w, "kernel", "Complete", 1);
}

/* One that is somebody else's is in the way, which is said, and nothing is done to it. */
static void a_name_that_is_taken_is_waited_for(void **state) {
    struct kw *w = *state;
    fleet(w, 1);
    kw_put(w, &kind_maintenance,
           "{'metadata':{'name':'kernel-w1','uid':'uid-old','generation':1},'spec':{'node':'w1',"
           "'operation':'Drain','policy':'other'}}");
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w1']");
    kw_pass(w, SEC(30));
    assert_int_equal(dw_count(&w->wanted, "create maintenances"), 0);
    assert_string_equal(rw_phase(w, "kernel"), "Progressing");
    assert_string_equal(rw_blocker(w, "kernel"), "NameTaken");
    assert_string_equal(dw_str(rw_doc(w, "kernel"), "status.blocker.object"), "kernel-w1");
    kw_delete(w, &kind_maintenance, NULL, "kernel-w1");
    until(w, "kernel", "Complete", 1);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, kw_setup, kw_teardown)
    const struct CMUnitTest tests[] = {
        TEST(all_nodes_two_at_a_time),
        TEST(they_are_made_with_their_finalizer),
        TEST(its_executor_is_theirs),
        TEST(what_waits_is_not_made),
        TEST(only_what_matters_is_looked_at),
        TEST(what_becomes_of_it_is_told),
        TEST(two_rollouts_share_the_slots),
        TEST(rollouts_take_their_turns_by_name),
        TEST(it_stops_when_too_many_fail),
        TEST(one_that_does_not_come_back_has_failed),
        TEST(one_that_is_all_begun_says_what_it_waits_for),
        TEST(what_failed_is_tried_again_when_somebody_says_so),
        TEST(no_further_node_is_begun_while_it_is_paused),
        TEST(the_next_one_waits_until_the_last_has_soaked),
        cmocka_unit_test(a_new_leader_goes_on_from_every_state),
        TEST(a_lost_answer_makes_no_second_one),
        TEST(what_is_not_seen_yet_counts),
        TEST(a_name_that_is_taken_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
