/* Tests of src/engine/drain.c: life, steps, answers, the end. */
#include "engine/drain.h"

#include "base/prng.h"
#include "support/drain_world.h"

static void an_empty_node_is_drained_with_one_patch(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    w->by_hand_cordon = true;
    dw_start(w, "w0", NULL);
    assert_wanted(w, "patch nodes w0\n");
    assert_phase(w, 0, DRAIN_CORDONING);
    assert_false(drain_over(w->d));
    assert_int_equal(drain_next(w->d), INT64_MAX); /* an answer wakes it, time does not */
    dw_patched(w, dw_open(w, ACTION_PATCH, "w0"), true);
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    assert_true(drain_over(w->d));
    assert_told(w, "waiting -> cordoning w0\n"
                   "cordoned w0\n"
                   "cordoning -> checking w0\n"
                   "checking -> draining w0\n"
                   "draining -> detaching w0\n"
                   "detaching -> drained w0\n");
    assert_wanted(w, "");
}

static void a_node_with_pods_from_the_cordon_to_the_end(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_node(w, "w1");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w0", "{}");
    dw_pod(w, "c", "w1", "{}");
    int64_t begin = w->now.wall;
    dw_start(w, "w0", NULL);
    assert_wanted(w, "patch nodes w0\nevict default/a\nevict default/b\n");
    const struct drain_node *n = dw_view(w, 0);
    assert_int_equal(n->total, 2);
    assert_int_equal(n->started, begin);
    assert_true(n->cordoned_by_us);
    assert_false(n->was_cordoned);
    assert_state(w, "a", DRAIN_POD_SENT);
    assert_string_equal(dw_pod_view(w, "a")->owner, "ReplicaSet/web");
    dw_pass(w, SEC(1));
    dw_accept(w, ACTION_EVICT, "a");
    dw_settle(w);
    assert_state(w, "a", DRAIN_POD_LEAVING);
    assert_int_equal(n->leaving, 1);
    assert_int_equal(dw_pod_view(w, "a")->accepted, begin + SEC(1));
    dw_accept(w, ACTION_EVICT, "b");
    dw_pass(w, SEC(5));
    dw_remove(w, &kind_pod, "default", "a");
    dw_settle(w);
    assert_int_equal(n->gone, 1);
    assert_int_equal(n->leaving, 1);
    assert_int_equal(dw_pod_view(w, "a")->gone, begin + SEC(6));
    assert_phase(w, 0, DRAIN_EVICTING);
    dw_remove(w, &kind_pod, "default", "b");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    assert_int_equal(n->gone, 2);
    assert_int_equal(n->ended, begin + SEC(6));
    assert_null(n->error);
    assert_true(drain_over(w->d));
    assert_int_equal(dw_told(w, "evicting default/a\n"), 1);
    assert_int_equal(dw_told(w, "evicting default/b\n"), 1);
    assert_int_equal(dw_told(w, "gone default/a\n"), 1);
    assert_int_equal(dw_told(w, "gone default/b\n"), 1);
    assert_int_equal(dw_told(w, "default/c"), 0);
    assert_wanted(w, "");
}

static void an_answer_to_nothing_is_none_of_ours(void **state) {
    struct drain_world *w = *state;
    struct answer ok = {.outcome = KUBE_OK, .message = "", .retry_after = -1};
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    uint64_t id = dw_open(w, ACTION_EVICT, "a")->id;
    assert_false(drain_answer(w->d, 0, &ok, w->now));
    assert_false(drain_answer(w->d, id + 1000, &ok, w->now));
    assert_state(w, "a", DRAIN_POD_SENT);
    dw_accept(w, ACTION_EVICT, "a");
    dw_settle(w);
    assert_false(drain_answer(w->d, id, &ok, w->now)); /* twice */
    assert_state(w, "a", DRAIN_POD_LEAVING);
    assert_int_equal(dw_view(w, 0)->leaving, 1);
}

static void a_node_that_does_not_exist_fails_alone(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_start(w, "w9", "w0", NULL);
    assert_phase(w, 0, DRAIN_FAILED);
    assert_string_equal(dw_view(w, 0)->error, "there is no such node");
    assert_phase(w, 1, DRAIN_DONE);
    assert_true(drain_over(w->d));
}

static void nothing_to_drain_is_over_at_once(void **state) {
    struct drain_world *w = *state;
    dw_start(w, NULL);
    assert_true(drain_over(w->d));
    assert_int_equal(drain_next(w->d), INT64_MAX);
    assert_told(w, "");
}

/* The node that makes room ends in the same step in which the next one begins. */
static void the_next_node_begins_without_another_event(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_node(w, "w1");
    dw_node(w, "w2");
    dw_pod(w, "a", "w0", "{}");
    w->opts.max_unavailable.value = 1;
    dw_start(w, "w0", "w1", "w2", NULL);
    assert_phase(w, 1, DRAIN_WAITING);
    dw_accept(w, ACTION_EVICT, "a");
    dw_settle(w);
    dw_remove(w, &kind_pod, "default", "a");
    dw_pass(w, SEC(1));
    assert_phase(w, 0, DRAIN_DONE);
    assert_phase(w, 1, DRAIN_DONE);
    assert_phase(w, 2, DRAIN_DONE);
    assert_true(drain_over(w->d));
}

/* --- stop --- */

static void stopped_before_it_began(void **state) {
    struct drain_world *w = *state;
    const char *names[] = {"w0"};
    dw_node(w, "w0");
    w->d = drain_new(&w->opts, &w->c, names, 1, dw_on_note, w);
    drain_stop(w->d, "interrupted");
    drain_stop(w->d, "again");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_STOPPED);
    assert_string_equal(dw_view(w, 0)->error, "interrupted: not begun");
    assert_wanted(w, "");
    assert_told(w, "waiting -> stopped w0\n");
    assert_true(drain_over(w->d));
}

static void stopped_in_the_middle_it_waits_for_answers_and_for_nothing_else(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_node(w, "w1");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w0", "{}");
    w->opts.max_unavailable.value = 1;
    dw_start(w, "w0", "w1", NULL);
    dw_accept(w, ACTION_EVICT, "a");
    dw_settle(w);
    dw_forget(w);
    drain_stop(w->d, "interrupted");
    dw_settle(w);
    /* What is said at the end must be true: the answer for b is on its way. */
    assert_phase(w, 0, DRAIN_EVICTING);
    assert_phase(w, 1, DRAIN_STOPPED);
    assert_false(drain_over(w->d));
    assert_int_equal(drain_next(w->d), INT64_MAX);
    dw_reply(w, ACTION_EVICT, "b", KUBE_PDB_NO_BUDGET, -1);
    dw_pass(w, SEC(600));
    assert_phase(w, 0, DRAIN_STOPPED);
    assert_string_equal(dw_view(w, 0)->error,
                        "interrupted; still there: default/a, default/b (PDBNoBudget)");
    assert_true(drain_over(w->d));
    assert_wanted(w, ""); /* nothing more, and not uncordoned */
    assert_true(json_is_true(dw_at(dw_doc(w, &kind_node, NULL, "w0"), "spec.unschedulable")));
}

static void more_pods_than_fit_are_counted_in_the_last_sentence(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    for (int i = 0; i < 5; i++) {
        char name[8];
        snprintf(name, sizeof name, "p%d", i);
        dw_pod(w, name, "w0", "{}");
    }
    dw_start(w, "w0", NULL);
    drain_stop(w->d, "interrupted");
    for (size_t i = 0; i < 5; i++)
        dw_answer(w, &w->open.p[0],
                  &(struct answer){.outcome = KUBE_OK, .message = "", .retry_after = -1});
    dw_settle(w);
    assert_string_equal(dw_view(w, 0)->error, "interrupted; still there: default/p0, default/p1, "
                                              "default/p2 and 2 more");
}

static void a_drain_is_not_over_while_a_record_is_being_written(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    w->opts.keep_record = true;
    w->by_hand_minor = true;
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_DONE);
    assert_false(drain_over(w->d));
    w->by_hand_minor = false;
    dw_settle(w);
    assert_true(drain_over(w->d));
}

/* What cannot be recorded does not matter. */
static void a_record_that_fails_changes_nothing(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    w->opts.keep_record = true;
    w->by_hand_minor = true;
    dw_start(w, "w0", NULL);
    assert_true(w->open.len > 0);
    while (w->open.len) {
        dw_answer(w, &w->open.p[0],
                  &(struct answer){.outcome = KUBE_FORBIDDEN, .message = "no", .retry_after = -1});
        dw_settle(w);
    }
    assert_phase(w, 0, DRAIN_DONE);
    assert_true(drain_over(w->d));
    assert_int_equal(w->open.len, 0);
}

/* --- reads --- */

static void a_read_that_fails_is_tried_again_later(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "d", "w0", "{'metadata':{" DW_OWNER("apps/v1", "DaemonSet", "agent") "}}");
    dw_put(w, &kind_daemon_set, "{'metadata':{'namespace':'default','name':'agent'}}");
    w->by_hand_reads = true;
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_asked(w, "read daemonsets default/agent\n"), 1);
    for (unsigned i = 1; i <= 6; i++) {
        dw_reply(w, ACTION_READ, "agent", KUBE_SERVER_ERROR, -1);
        dw_settle(w);
        assert_int_equal(dw_asked(w, "read daemonsets"), i); /* not at once */
        dw_pass(w, SEC(15));
        assert_int_equal(dw_asked(w, "read daemonsets"), i + 1);
    }
    assert_phase(w, 0, DRAIN_CHECKING);
    w->by_hand_reads = false;
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

static void many_pods_of_one_daemonset_ask_once(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_node(w, "w1");
    for (int i = 0; i < 4; i++) {
        char name[8];
        snprintf(name, sizeof name, "d%d", i);
        dw_pod(w, name, i % 2 ? "w0" : "w1",
               "{'metadata':{" DW_OWNER("apps/v1", "DaemonSet", "agent") "}}");
    }
    dw_put(w, &kind_daemon_set, "{'metadata':{'namespace':'default','name':'agent'}}");
    dw_start(w, "w0", "w1", NULL);
    assert_int_equal(dw_asked(w, "read"), 1);
    assert_phase(w, 0, DRAIN_DONE);
    assert_phase(w, 1, DRAIN_DONE);
}

static void one_rejected_token_does_not_spoil_a_read(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "d", "w0", "{'metadata':{" DW_OWNER("apps/v1", "DaemonSet", "agent") "}}");
    dw_put(w, &kind_daemon_set, "{'metadata':{'namespace':'default','name':'agent'}}");
    w->by_hand_reads = true;
    dw_start(w, "w0", NULL);
    dw_reply(w, ACTION_READ, "agent", KUBE_UNAUTHORIZED, -1);
    w->by_hand_reads = false;
    dw_pass(w, SEC(20));
    assert_phase(w, 0, DRAIN_DONE);
}

static void a_read_comes_back_when_the_server_has_asked_for_it(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "d", "w0", "{'metadata':{" DW_OWNER("apps/v1", "DaemonSet", "agent") "}}");
    w->by_hand_reads = true;
    dw_start(w, "w0", NULL);
    dw_reply(w, ACTION_READ, "agent", KUBE_THROTTLED, 40);
    dw_pass(w, SEC(40) - 1);
    assert_int_equal(dw_asked(w, "read"), 1);
    dw_pass(w, SEC(1));
    assert_int_equal(dw_asked(w, "read"), 2);
}

/* --- words --- */

static void every_phase_has_a_word_of_its_own(void **state) {
    (void)state;
    for (int i = 0; i <= DRAIN_STOPPED; i++) {
        assert_true(strlen(drain_phase_word((enum drain_phase)i)) > 3);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(drain_phase_word((enum drain_phase)i),
                                    drain_phase_word((enum drain_phase)k));
        assert_int_equal(drain_ended((enum drain_phase)i), i >= DRAIN_DONE);
    }
}

/* --- whatever happens --- */

/* --- nodes that come and go while it lives --- */

static const struct cordon_holder slot_holder = {.id = "slot:a:1", .by = "fleetlock"};

/* A drain of no node yet, whose caller cordons. */
static void start_empty(struct drain_world *w) {
    w->opts.cordoned = true;
    w->opts.holder = (struct cordon_holder){0};
    w->d = drain_new(&w->opts, &w->c, NULL, 0, dw_on_note, w);
    dw_settle(w);
}

/* As the caller does it. */
static void cordon_for(struct drain_world *w, const char *node, const char *id) {
    _cleanup_free_ char *record = xasprintf(
        "{\"v\":1,\"before\":false,\"holders\":[{\"id\":\"%s\",\"by\":\"fleetlock\"}]}", id);
    dw_patch(w, &kind_node, NULL, node,
             json_pack("{s:{s:{s:s}},s:{s:b}}", "metadata", "annotations", CORDON_ANNOTATION,
                       record, "spec", "unschedulable", 1));
    dw_show(w, &kind_node, NULL, node);
}

static void a_node_is_added_while_it_lives(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    start_empty(w);
    assert_null(drain_node(w->d, "w0"));
    assert_true(drain_add(w->d, "w0", &slot_holder));
    assert_false(drain_add(w->d, "w0", &slot_holder)); /* it is there */
    w->obedient = true;
    dw_settle(w);
    assert_wanted(w, ""); /* the caller cordons, and has not done so */
    cordon_for(w, "w0", "slot:a:1");
    dw_settle(w);
    assert_int_equal(drain_node(w->d, "w0")->phase, DRAIN_DONE);
    assert_wanted(w, "evict default/a\n"); /* and nothing was written to the node */
}

/* Somebody else's cordon is not the caller's, nor is that of an earlier holding. */
static void it_begins_when_its_own_holder_has_cordoned(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    start_empty(w);
    drain_add(w->d, "w0", &slot_holder);
    dw_edit_node(w, "w0", "{'spec':{'unschedulable':true}}");
    dw_pass(w, SEC(600));
    assert_wanted(w, "");
    cordon_for(w, "w0", "slot:a:0");
    dw_pass(w, SEC(600));
    assert_wanted(w, "");
    assert_false(drain_ended(drain_node(w->d, "w0")->phase));
    cordon_for(w, "w0", "slot:a:1");
    dw_settle(w);
    assert_wanted(w, "evict default/a\n");
}

static void nothing_is_evicted_from_one_that_is_uncordoned(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    start_empty(w);
    drain_add(w->d, "w0", &slot_holder);
    cordon_for(w, "w0", "slot:a:1");
    dw_settle(w);
    dw_reply(w, ACTION_EVICT, "a", KUBE_PDB_NO_BUDGET, -1);
    dw_settle(w);
    dw_forget(w);
    dw_edit_node(w, "w0", "{'spec':{'unschedulable':null}}");
    dw_pass(w, SEC(60));
    assert_int_equal(drain_node(w->d, "w0")->phase, DRAIN_FAILED);
    assert_wanted(w, ""); /* it is not cordoned again */
}

static void a_node_that_is_dropped_is_forgotten(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_node(w, "w1");
    dw_pod(w, "a", "w0", "{}");
    start_empty(w);
    drain_add(w->d, "w0", &slot_holder);
    cordon_for(w, "w0", "slot:a:1");
    dw_settle(w);
    drain_drop(w->d, "w0", "its slot is gone");
    drain_drop(w->d, "w0", "twice is once");
    drain_drop(w->d, "w9", "there is none");
    dw_settle(w);
    assert_non_null(drain_node(w->d, "w0")); /* an answer is still to come */
    assert_false(drain_add(w->d, "w0", &slot_holder));
    dw_reply(w, ACTION_EVICT, "a", KUBE_PDB_NO_BUDGET, -1);
    dw_settle(w);
    assert_null(drain_node(w->d, "w0"));
    dw_pass(w, SEC(600));
    assert_wanted(w, "evict default/a\n"); /* no more of it */
    /* and comes anew, for another holder */
    struct cordon_holder second = {.id = "slot:a:2", .by = "fleetlock"};
    assert_true(drain_add(w->d, "w0", &second));
    dw_settle(w);
    assert_wanted(w, "");
    cordon_for(w, "w0", "slot:a:2");
    w->obedient = true;
    dw_settle(w);
    assert_int_equal(drain_node(w->d, "w0")->phase, DRAIN_DONE);
    drain_drop(w->d, "w0", "it was granted");
    dw_settle(w);
    assert_null(drain_node(w->d, "w0"));
}

static void dropped_before_it_began(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    start_empty(w);
    drain_add(w->d, "w0", &slot_holder);
    drain_drop(w->d, "w0", "it is not wanted any more");
    dw_settle(w);
    assert_null(drain_node(w->d, "w0"));
    cordon_for(w, "w0", "slot:a:1");
    dw_settle(w);
    assert_wanted(w, "");
    assert_true(drain_over(w->d));
}

/* One that ends leaves the others alone, whatever they are called. */
static void the_others_go_on_when_one_is_dropped(void **state) {
    struct drain_world *w = *state;
    static const char *const nodes[] = {"w0", "w1", "w2", "w3", "w4"};
    static const char *const pods[] = {"p0", "p1", "p2", "p3", "p4"};
    start_empty(w);
    for (unsigned i = 0; i < ARRAY_LEN(nodes); i++) {
        dw_node(w, nodes[i]);
        dw_pod(w, pods[i], nodes[i], "{}");
        assert_true(drain_add(w->d, nodes[i], &slot_holder));
        cordon_for(w, nodes[i], slot_holder.id);
    }
    dw_settle(w);
    assert_int_equal(dw_under_way(w, ACTION_EVICT), 5);
    dw_obey(w, dw_open(w, ACTION_EVICT, "p2"));
    drain_drop(w->d, "w2", "it is over");
    dw_settle(w);
    assert_null(drain_node(w->d, "w2"));
    w->obedient = true;
    dw_settle(w);
    for (unsigned i = 0; i < ARRAY_LEN(nodes); i++)
        if (i != 2)
            assert_int_equal(drain_node(w->d, nodes[i])->phase, DRAIN_DONE);
}

/* A server, a watch and people that do anything at any time, from a seed. */
struct chaos {
    struct drain_world w;
    struct prng r;
    uint64_t checked; /* actions up to this one */
    unsigned serial;  /* of pods that come late */
    bool lifted;      /* somebody has uncordoned a node or deleted it */
};

static bool chance(struct chaos *c, int percent) {
    return prng_range(&c->r, 0, 100) < percent;
}

static const char *node_name(int i) {
    static const char *const names[] = {"w0", "w1", "w2", "w3"};
    return names[i];
}

static void chaos_pod(struct chaos *c) {
    static const char *const sorts[] = {
        "{}",
        "{'metadata':{'labels':{'app':'db'}}}",
        DW_BARE,
        "{'metadata':{" DW_OWNER("apps/v1", "DaemonSet", "agent") "}}",
        "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "db") "}}",
        "{'metadata':{'annotations':{'kubernetes.io/config.mirror':'x'}}}",
        "{'status':{'phase':'Succeeded'}}",
        "{'status':{'conditions':[{'type':'Ready','status':'False'}]}}",
        "{'spec':{'tolerations':[{'operator':'Exists'}]}}",
    };
    char name[16];
    /* Names come again, with another UID. */
    snprintf(name, sizeof name, "p%d", (int)prng_range(&c->r, 0, 12));
    if (dw_doc(&c->w, &kind_pod, "default", name))
        return;
    const char *node = node_name((int)prng_range(&c->r, 0, 4));
    dw_pod(&c->w, name, node, "%s", sorts[prng_range(&c->r, 0, ARRAY_LEN(sorts))]);
    char now[TIMEFMT_LEN];
    dw_edit_pod(&c->w, name, "{'metadata':{'uid':'u%u','creationTimestamp':'%s'}}", ++c->serial,
                time_format(c->w.now.wall, false, now));
}

/* The watch catches up. */
static void chaos_show(struct chaos *c) {
    const char *key;
    json_t *doc;
    json_object_foreach(c->w.docs, key, doc) {
        if (str_starts(key, "pods/"))
            dw_show(&c->w, &kind_pod, "default", dw_str(doc, "metadata.name"));
        else if (str_starts(key, "nodes/"))
            dw_show(&c->w, &kind_node, NULL, dw_str(doc, "metadata.name"));
    }
}

static void refuse(struct chaos *c, struct action *a) {
    static const enum kube_outcome outcomes[] = {
        KUBE_PDB_NO_BUDGET, KUBE_PDB_NOT_OBSERVED, KUBE_NOT_YET,      KUBE_DENIED,
        KUBE_THROTTLED,     KUBE_TIMED_OUT,        KUBE_SERVER_ERROR, KUBE_UNREACHABLE,
        KUBE_UNKNOWN,       KUBE_NS_TERMINATING,   KUBE_PDB_BROKEN,   KUBE_PDB_MULTIPLE,
    };
    enum kube_outcome o = outcomes[prng_range(&c->r, 0, ARRAY_LEN(outcomes))];
    dw_answer(&c->w, a,
              &(struct answer){.outcome = o,
                               .message = kube_outcome_row(o)->meaning,
                               .retry_after = chance(c, 30) ? prng_range(&c->r, 0, 20) : -1});
}

static void plain(struct chaos *c, struct action *a, enum kube_outcome o) {
    dw_answer(
        &c->w, a,
        &(struct answer){.outcome = o, .message = kube_outcome_row(o)->meaning, .retry_after = -1});
}

static void answer_pod_call(struct chaos *c, struct action *a) {
    json_t *doc = dw_doc(&c->w, &kind_pod, a->ns, a->name);
    char at[TIMEFMT_LEN];
    if (!doc || !streq(dw_str(doc, "metadata.uid"), a->uid)) {
        plain(c, a, doc ? KUBE_CONFLICT : KUBE_NOT_FOUND);
        return;
    }
    if (chance(c, 50)) {
        refuse(c, a);
        return;
    }
    _cleanup_free_ char *name = xstrdup(a->name);
    bool lost = chance(c, 20), seen = chance(c, 60);
    if (!*dw_str(doc, "metadata.deletionTimestamp"))
        dw_patch(&c->w, &kind_pod, "default", name,
                 json_pack("{s:{s:s}}", "metadata", "deletionTimestamp",
                           time_format(c->w.now.wall + SEC(30), false, at)));
    if (seen)
        dw_show(&c->w, &kind_pod, "default", name);
    plain(c, a, lost ? KUBE_UNKNOWN : KUBE_OK);
}

static void answer_patch(struct chaos *c, struct action *a) {
    json_t *doc = dw_doc(&c->w, a->kind, NULL, a->name);
    json_t *body = json_loads(a->body, 0, NULL);
    bool stale = !doc || !streq(dw_str(doc, "metadata.resourceVersion"),
                                dw_str(body, "metadata.resourceVersion"));
    if (!doc) {
        plain(c, a, KUBE_NOT_FOUND);
    } else if (stale || chance(c, 10)) {
        plain(c, a, KUBE_CONFLICT);
    } else if (chance(c, 20)) {
        plain(c, a, chance(c, 50) ? KUBE_SERVER_ERROR : KUBE_UNKNOWN); /* not carried out */
    } else if (chance(c, 20)) {
        dw_patch(&c->w, a->kind, NULL, a->name, json_incref(body));
        plain(c, a, KUBE_UNKNOWN); /* carried out */
    } else {
        dw_patched(&c->w, a, chance(c, 60));
    }
    json_decref(body);
}

static void answer_any(struct chaos *c) {
    struct drain_world *w = &c->w;
    if (!w->open.len)
        return;
    struct action *a = &w->open.p[prng_range(&c->r, 0, (int64_t)w->open.len)];
    if (a->minor)
        plain(c, a, chance(c, 80) ? KUBE_OK : KUBE_FORBIDDEN);
    else if (a->verb == ACTION_READ && chance(c, 70))
        dw_read(w, a);
    else if (a->verb == ACTION_READ)
        plain(c, a, chance(c, 50) ? KUBE_SERVER_ERROR : KUBE_UNKNOWN);
    else if (a->verb == ACTION_CONFIRM && chance(c, 60))
        dw_confirm(w, a);
    else if (a->verb == ACTION_CONFIRM)
        plain(c, a, chance(c, 50) ? KUBE_SERVER_ERROR : KUBE_FORBIDDEN);
    else if (a->verb == ACTION_PATCH)
        answer_patch(c, a);
    else
        answer_pod_call(c, a);
}

/* A pod that terminates is gone, or one that does not finishes. */
static void change_a_pod(struct chaos *c) {
    char name[16];
    snprintf(name, sizeof name, "p%d", (int)prng_range(&c->r, 0, 12));
    json_t *doc = dw_doc(&c->w, &kind_pod, "default", name);
    if (!doc)
        return;
    if (*dw_str(doc, "metadata.deletionTimestamp"))
        dw_remove(&c->w, &kind_pod, "default", name);
    else if (chance(c, 10))
        dw_edit_pod(&c->w, name, "{'status':{'phase':'Succeeded'}}");
}

static void meddle(struct chaos *c, int nodes) {
    const char *node = node_name((int)prng_range(&c->r, 0, nodes));
    if (!dw_doc(&c->w, &kind_node, NULL, node))
        return;
    if (chance(c, 90)) {
        dw_edit_node(&c->w, node, "{'metadata':{'labels':{'n':'%u'}}}", ++c->serial);
    } else if (chance(c, 70)) {
        c->lifted = true;
        dw_edit_node(&c->w, node, "{'spec':{'unschedulable':null}}");
    } else {
        c->lifted = true;
        dw_remove(&c->w, &kind_node, NULL, node);
    }
}

static void change_a_volume(struct chaos *c) {
    char name[16];
    snprintf(name, sizeof name, "va%d", (int)prng_range(&c->r, 0, 3));
    if (dw_doc(&c->w, &kind_volume_attachment, NULL, name))
        dw_remove(&c->w, &kind_volume_attachment, NULL, name);
    else
        dw_put(&c->w, &kind_volume_attachment,
               "{'metadata':{'name':'%s'},'spec':{'nodeName':'%s','source':"
               "{'persistentVolumeName':'pv-1'}},'status':{'attached':true}}",
               name, node_name((int)prng_range(&c->r, 0, 4)));
}

/* What is asked now rests on a cordon that is ours, and is a pod that may be asked. */
static void check_calls(struct chaos *c) {
    for (size_t i = 0; i < c->w.open.len; i++) {
        const struct action *a = &c->w.open.p[i];
        if (a->id <= c->checked || !dw_is_pod_call(a))
            continue;
        assert_int_equal(a->verb, ACTION_EVICT); /* no rule allows more */
        const struct pod *pod = (const struct pod *)store_get(c->w.c.pods, a->ns, a->name);
        assert_non_null(pod);
        assert_string_equal(pod->meta.uid, a->uid);
        assert_false(pod->meta.deleted);
        assert_false(map_has(pod->meta.annotations, "kubernetes.io/config.mirror"));
        json_t *node = dw_doc(&c->w, &kind_node, NULL, pod->node_name);
        assert_non_null(node);
        assert_true(json_is_true(dw_at(node, "spec.unschedulable")));
        json_t *notes = dw_at(node, "metadata.annotations");
        assert_non_null(strstr(strna(json_string_value(json_object_get(notes, CORDON_ANNOTATION))),
                               "cli/test"));
    }
    c->checked = c->w.last_id;
}

/* The numbers are those of the pods. */
static void check_counts(const struct chaos *c) {
    size_t n;
    const struct drain_node *const *list = drain_nodes(c->w.d, &n);
    for (size_t i = 0; i < n; i++) {
        unsigned count[DRAIN_POD_FAILED + 1] = {0}, blocked = 0;
        for (size_t k = 0; k < list[i]->n_pods; k++) {
            const struct drain_pod *p = list[i]->pods[k];
            count[p->state]++;
            blocked += p->blocked;
            assert_true(!k || strcmp(list[i]->pods[k - 1]->name, p->name) <= 0);
        }
        assert_int_equal(list[i]->leaving, count[DRAIN_POD_LEAVING]);
        assert_int_equal(list[i]->stays, count[DRAIN_POD_STAYS]);
        assert_int_equal(list[i]->failed, count[DRAIN_POD_FAILED]);
        assert_int_equal(list[i]->blocked_pods, blocked);
        assert_true(list[i]->gone <= list[i]->total);
        assert_true(list[i]->total + list[i]->stays <= list[i]->n_pods);
    }
}

/* Everybody becomes reasonable: then it must come to its end. */
static void calm_down(struct chaos *c) {
    struct drain_world *w = &c->w;
    const char *key;
    json_t *doc;
    void *next;
    chaos_show(c);
    while (w->open.len)
        answer_any(c);
    chaos_show(c);
    w->obedient = true;
    dw_edit_budget(w, "web", "{'status':{'disruptionsAllowed':1000}}");
    for (int i = 0; i < 40 && !drain_over(w->d); i++) {
        dw_pass(w, SEC(200));
        json_object_foreach_safe(w->docs, next, key, doc) {
            _cleanup_free_ char *name = xstrdup(dw_str(doc, "metadata.name"));
            if (str_starts(key, "pods/") && *dw_str(doc, "metadata.deletionTimestamp"))
                dw_remove(w, &kind_pod, "default", name);
            else if (str_starts(key, "volumeattachments/"))
                dw_remove(w, &kind_volume_attachment, NULL, name);
        }
    }
}

static void check_end(struct chaos *c) {
    size_t n;
    const struct drain_node *const *list = drain_nodes(c->w.d, &n);
    assert_true(drain_over(c->w.d));
    /* No end without a beginning ("unblocked " has "blocked " in it). */
    assert_true(dw_told(&c->w, "blocked ") >= 2 * dw_told(&c->w, "unblocked "));
    assert_int_equal(dw_told(&c->w, " -> cordoning "), dw_told(&c->w, "waiting -> cordoning "));
    for (size_t i = 0; i < n; i++) {
        const struct drain_node *d = list[i];
        assert_true(drain_ended(d->phase));
        assert_int_equal(d->phase == DRAIN_DONE, d->error == NULL);
        /* What is not drained has a reason that somebody can read. */
        if (d->phase == DRAIN_TIMED_OUT)
            assert_true(d->blocked_pods > 0 || d->blocked);
        if (d->phase == DRAIN_FAILED)
            assert_true(c->lifted || d->failed);
        if (d->phase != DRAIN_DONE)
            continue;
        const char *key;
        json_t *doc;
        json_object_foreach(c->w.docs, key, doc) {
            if (!str_starts(key, "pods/") || !streq(dw_str(doc, "spec.nodeName"), d->name))
                continue;
            int64_t created = 0;
            const char *since = dw_str(doc, "metadata.creationTimestamp");
            assert_true(time_parse(since, strlen(since), &created));
            if (created + SEC(1) >= d->ended)
                continue; /* it came later */
            json_t *notes = dw_at(doc, "metadata.annotations");
            bool overdue = c->w.opts.skip_wait && *dw_str(doc, "metadata.deletionTimestamp");
            bool stays = overdue ||
                         streq(dw_str(doc, "metadata.ownerReferences.0.kind"), "DaemonSet") ||
                         json_object_get(notes, "kubernetes.io/config.mirror");
            if (!stays)
                fail_msg("%s is drained and has %s", d->name, key);
        }
    }
}

static void run_chaos(uint64_t seed) {
    struct chaos c = {.r = {seed}};
    struct drain_world *w = &c.w;
    dw_init(w);
    w->c.owners_watched = true;
    w->opts.seed = seed;
    w->opts.force = true;
    w->opts.timeout = SEC(3600);
    w->opts.keep_record = chance(&c, 50);
    w->opts.uncordon_on_abort = chance(&c, 30);
    w->opts.wait_rescheduled = chance(&c, 30);
    w->opts.max_unavailable.value = (unsigned)prng_range(&c.r, 0, 3);
    w->opts.rate = chance(&c, 50) ? 2 : 0;
    w->opts.skip_wait = chance(&c, 20) ? 5 : 0;
    w->by_hand_cordon = w->by_hand_reads = w->by_hand_minor = w->by_hand_confirm = true;
    int nodes = 1 + (int)prng_range(&c.r, 0, 4);
    for (int i = 0; i < 4; i++)
        dw_node(w, node_name(i));
    dw_put(w, &kind_daemon_set, "{'metadata':{'namespace':'default','name':'agent'}}");
    dw_budget(w, "web", 1, 3, 2, 3);
    for (int i = 0; i < 12; i++)
        chaos_pod(&c);
    const char *names[] = {"w0", "w1", "w2", "w3"};
    w->d = drain_new(&w->opts, &w->c, names, (size_t)nodes, dw_on_note, w);
    bool stops = chance(&c, 20);
    for (int i = 0; i < 250; i++) {
        int64_t what = prng_range(&c.r, 0, 100);
        if (what < 45)
            answer_any(&c);
        else if (what < 60)
            change_a_pod(&c);
        else if (what < 68)
            chaos_show(&c);
        else if (what < 74)
            dw_edit_budget(w, "web", "{'status':{'disruptionsAllowed':%d}}",
                           (int)prng_range(&c.r, 0, 3));
        else if (what < 77)
            chaos_pod(&c);
        else if (what < 80)
            meddle(&c, nodes);
        else if (what < 82)
            change_a_volume(&c);
        else
            dw_pass(w, prng_range(&c.r, 0, SEC(8)));
        if (stops && i == 150)
            drain_stop(w->d, "interrupted");
        dw_settle(w);
        check_calls(&c);
        check_counts(&c);
    }
    w->by_hand_cordon = w->by_hand_reads = w->by_hand_minor = w->by_hand_confirm = false;
    calm_down(&c);
    check_counts(&c);
    check_end(&c);
    dw_done(w);
}

enum { SEEDS = 200 };

static int seed_setup(void **state) {
    *state = xnew(uint64_t);
    return 0;
}

/* DRAIN_SEED=N runs that one alone. */
static void whatever_happens_it_is_safe_and_comes_to_an_end(void **state) {
    uint64_t *seed = *state;
    const char *one = getenv("DRAIN_SEED");
    if (one)
        run_chaos(*seed = strtoull(one, NULL, 10));
    for (*seed = 1; !one && *seed <= SEEDS; ++*seed)
        run_chaos(*seed);
}

static int seed_teardown(void **state) {
    uint64_t seed = *(uint64_t *)*state;
    if (seed <= SEEDS)
        print_message("the last one was DRAIN_SEED=%llu\n", (unsigned long long)seed);
    free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DRAIN_TEST(an_empty_node_is_drained_with_one_patch),
        DRAIN_TEST(a_node_with_pods_from_the_cordon_to_the_end),
        DRAIN_TEST(an_answer_to_nothing_is_none_of_ours),
        DRAIN_TEST(a_node_that_does_not_exist_fails_alone),
        DRAIN_TEST(nothing_to_drain_is_over_at_once),
        DRAIN_TEST(the_next_node_begins_without_another_event),
        DRAIN_TEST(stopped_before_it_began),
        DRAIN_TEST(stopped_in_the_middle_it_waits_for_answers_and_for_nothing_else),
        DRAIN_TEST(more_pods_than_fit_are_counted_in_the_last_sentence),
        DRAIN_TEST(a_drain_is_not_over_while_a_record_is_being_written),
        DRAIN_TEST(a_record_that_fails_changes_nothing),
        DRAIN_TEST(a_read_that_fails_is_tried_again_later),
        DRAIN_TEST(many_pods_of_one_daemonset_ask_once),
        DRAIN_TEST(every_phase_has_a_word_of_its_own),
        DRAIN_TEST(a_node_is_added_while_it_lives),
        DRAIN_TEST(it_begins_when_its_own_holder_has_cordoned),
        DRAIN_TEST(nothing_is_evicted_from_one_that_is_uncordoned),
        DRAIN_TEST(a_node_that_is_dropped_is_forgotten),
        DRAIN_TEST(dropped_before_it_began),
        DRAIN_TEST(the_others_go_on_when_one_is_dropped),
        cmocka_unit_test_setup_teardown(whatever_happens_it_is_safe_and_comes_to_an_end, seed_setup,
                                        seed_teardown),
        DRAIN_TEST(one_rejected_token_does_not_spoil_a_read),
        DRAIN_TEST(a_read_comes_back_when_the_server_has_asked_for_it),
    };
    return cmocka_run_group_tests_name("engine/drain", tests, NULL, NULL);
}
