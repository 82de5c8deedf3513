/* Tests of src/engine/drain_checks.c: a drain asks storage and quorums, and obeys. The verdicts
 * themselves are the checks' own tests' (check_*.c); here machines stand for what is denied and for
 * what a drain ends, and the members of an etcd for what only a few nodes may be lost of. */
#include "support/drain_world.h"

/* Cordoned by somebody, with Slipway. */
#define HELD                                                                                       \
    "{'spec':{'unschedulable':true},'metadata':{'annotations':{'slipway.dev/cordon':"              \
    "'{\\\"v\\\":1,\\\"before\\\":false,\\\"holders\\\":[{\\\"id\\\":\\\"cli/somebody\\\"}]}'}}}"

static struct check_world world;
static struct store *machines;

static int setup(void **state) {
    dw_setup(state);
    struct drain_world *w = *state;
    machines = store_new(&kind_vmi, w->pool);
    world = (struct check_world){.nodes = w->c.nodes};
    world.inputs[SOURCE_VMIS] = (struct check_input){.read = READ_DONE, .store = machines};
    world.inputs[SOURCE_ETCD_PODS] = (struct check_input){.read = READ_DONE, .store = w->c.pods};
    w->opts.checks = &world;
    return 0;
}

static int teardown(void **state) {
    struct drain_world *w = *state;
    dw_kill(w);
    store_free(machines);
    return dw_teardown(state);
}

/* `can`: it can be migrated away. "" as the node: it is gone. */
static void machine(struct drain_world *w, const char *name, const char *node, bool can) {
    if (!*node) {
        char version[24];
        snprintf(version, sizeof version, "%llu", (unsigned long long)++w->version);
        store_remove(machines, "x", name, version);
        return;
    }
    json_t *doc = json_pack("{s:{s:s,s:s,s:o},s:{s:s},s:{s:s,s:s,s:[{s:s,s:s,s:s}]}}", "metadata",
                            "namespace", "x", "name", name, "resourceVersion",
                            json_sprintf("%d", (int)++w->version), "spec", "evictionStrategy",
                            "LiveMigrate", "status", "nodeName", node, "phase", "Running",
                            "conditions", "type", "LiveMigratable", "status",
                            can ? "True" : "False", "message", "its disk is not shared");
    store_put(machines, dw_decode(w, &kind_vmi, doc));
    json_decref(doc);
}

/* A node with a pod of its own and a member of the control plane's etcd. */
static void member(struct drain_world *w, const char *node, bool ready) {
    _cleanup_free_ char *name = xasprintf("etcd-%s", node), *pod = xasprintf("a-%s", node);
    dw_node(w, node);
    dw_pod(w, pod, node, "{}");
    dw_put(w, &kind_pod,
           "{'metadata':{'namespace':'kube-system','name':'%s','uid':'uid-%s','labels':{"
           "'component':'etcd'},'annotations':{'kubernetes.io/config.mirror':'x'}},"
           "'spec':{'nodeName':'%s'},'status':{'phase':'Running','conditions':[{'type':'Ready',"
           "'status':'%s'}]}}",
           name, name, node, ready ? "True" : "False");
}

static void members(struct drain_world *w) {
    member(w, "w0", true);
    member(w, "w1", true);
    member(w, "w2", true);
}

static void leave(struct drain_world *w, const char *pod) {
    dw_accept(w, ACTION_EVICT, pod);
    dw_settle(w);
    dw_remove(w, &kind_pod, "default", pod);
    dw_settle(w);
}

static void what_is_denied_is_refused_and_not_touched(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    machine(w, "vm", "w0", false);
    dw_start(w, "w0", NULL);
    const struct drain_node *n = dw_view(w, 0);
    assert_int_equal(n->phase, DRAIN_REFUSED);
    assert_true(n->denied);
    assert_non_null(
        strstr(n->error, "kubevirt: virtual machine x/vm must leave by live migration"));
    assert_non_null(strstr(n->error, "its disk is not shared"));
    assert_non_null(strstr(n->error, "--skip-check kubevirt --reason WHY"));
    assert_int_equal(dw_asked(w, "patch nodes w0"), 0);
    assert_int_equal(dw_asked(w, "evict"), 0);
    assert_null(json_object_get(dw_at(dw_doc(w, &kind_node, NULL, "w0"), "spec"), "unschedulable"));
    assert_true(drain_over(w->d));
}

static void the_others_go_all_the_same(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_node(w, "w1");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w1", "{}");
    machine(w, "vm", "w0", false);
    dw_start(w, "w0", "w1", NULL);
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_REFUSED);
    assert_int_equal(dw_view(w, 1)->phase, DRAIN_EVICTING);
    leave(w, "b");
    assert_int_equal(dw_view(w, 1)->phase, DRAIN_DONE);
}

static void what_is_skipped_is_not_asked(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    machine(w, "vm", "w0", false);
    w->opts.skip_checks = 1u << (check_find("kubevirt") - checks_table);
    w->opts.holder.reason = "the machine is a test";
    w->opts.keep_record = w->by_hand_minor = true;
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_EVICTING);
    unsigned told = 0;
    for (size_t i = 0; i < w->open.len; i++)
        told += w->open.p[i].verb == ACTION_CREATE &&
                strstr(w->open.p[i].body, "\"ChecksSkipped\"") &&
                strstr(w->open.p[i].body,
                       "checks that were not asked: kubevirt; reason: the machine is a test");
    assert_int_equal(told, 1);
}

/* What the drain ends is waited for at its end. */
static void a_machine_that_leaves_is_waited_for(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    machine(w, "vm", "w0", true);
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_EVICTING);
    leave(w, "a");
    dw_pass(w, SEC(30));
    const struct drain_node *n = dw_view(w, 0);
    assert_int_equal(n->phase, DRAIN_DETACHING);
    assert_true(n->blocked);
    assert_int_equal(n->blocker.code, BLOCKER_EVICTION_IN_PROGRESS);
    assert_string_equal(n->blocker.object, "x/vm");
    machine(w, "vm", "", true);
    drain_checks_changed(w->d);
    dw_pass(w, SEC(1)); /* not at once: what changes all the time is looked at once a second */
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_DONE);
}

static unsigned blocked_events(const struct drain_world *w) {
    unsigned n = 0;
    for (size_t i = 0; i < w->open.len; i++)
        n += w->open.p[i].verb == ACTION_CREATE && strstr(w->open.p[i].body, "\"DrainBlocked\"");
    return n;
}

/* As everything else that lasts. */
static void an_event_tells_of_a_wait_at_the_end(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    machine(w, "vm", "w0", true);
    w->opts.keep_record = w->by_hand_minor = true;
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(50));
    assert_int_equal(blocked_events(w), 0);
    dw_pass(w, SEC(20));
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_DETACHING);
    assert_int_equal(blocked_events(w), 1);
    dw_pass(w, SEC(1200));
    assert_int_equal(blocked_events(w), 1);
}

/* Before the cordon it is all there is to see of the drain: soon, and again. */
static void events_tell_of_a_wait_before_the_cordon(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_node(w, "w1");
    dw_node(w, "w2");
    member(w, "w0", true);
    member(w, "w1", false);
    member(w, "w2", true);
    w->opts.keep_record = w->by_hand_minor = true;
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_WAITING);
    assert_int_equal(blocked_events(w), 0);
    dw_pass(w, SEC(5));
    assert_int_equal(blocked_events(w), 1);
    dw_pass(w, SEC(500));
    assert_int_equal(blocked_events(w), 1);
    dw_pass(w, SEC(200));
    assert_int_equal(blocked_events(w), 2);
}

/* Of three members one may be away; the next one when it is back. */
static void one_after_the_other(void **state) {
    struct drain_world *w = *state;
    members(w);
    w->opts.uncordon_when_done = true;
    dw_start(w, "w0", "w1", "w2", NULL);
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_EVICTING);
    for (size_t i = 1; i < 3; i++) {
        const struct drain_node *n = dw_view(w, i);
        assert_int_equal(n->phase, DRAIN_WAITING);
        assert_true(n->blocked);
        assert_int_equal(n->blocker.code, BLOCKER_QUORUM_AT_RISK);
        assert_non_null(strstr(n->blocker.message, "etcd: "));
    }
    leave(w, "a-w0");
    dw_pass(w, SEC(1));
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_DONE);
    assert_int_equal(dw_view(w, 1)->phase, DRAIN_EVICTING);
    assert_int_equal(dw_view(w, 2)->phase, DRAIN_WAITING);
    leave(w, "a-w1");
    dw_pass(w, SEC(1));
    assert_int_equal(dw_view(w, 2)->phase, DRAIN_EVICTING);
}

/* It stays cordoned, so it is still away. */
static void a_drained_node_is_not_back(void **state) {
    struct drain_world *w = *state;
    members(w);
    dw_start(w, "w0", "w1", NULL);
    leave(w, "a-w0");
    dw_pass(w, SEC(60));
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_DONE);
    assert_int_equal(dw_view(w, 1)->phase, DRAIN_WAITING);
    assert_int_equal(dw_view(w, 1)->blocker.code, BLOCKER_QUORUM_AT_RISK);
    dw_edit_node(w, "w0", "{'spec':{'unschedulable':null},'metadata':{'annotations':null}}");
    drain_checks_changed(w->d);
    dw_pass(w, SEC(2));
    assert_int_equal(dw_view(w, 1)->phase, DRAIN_EVICTING);
}

/* Nodes that matter to nobody do not wait for those that do. */
static void nodes_without_members_go_together(void **state) {
    struct drain_world *w = *state;
    members(w);
    dw_node(w, "w3");
    dw_pod(w, "a-w3", "w3", "{}");
    dw_node(w, "w4");
    dw_pod(w, "a-w4", "w4", "{}");
    dw_start(w, "w1", "w2", "w3", "w4", NULL);
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_EVICTING);
    assert_int_equal(dw_view(w, 1)->phase, DRAIN_WAITING);
    assert_int_equal(dw_view(w, 2)->phase, DRAIN_EVICTING);
    assert_int_equal(dw_view(w, 3)->phase, DRAIN_EVICTING);
}

static void a_member_that_is_ill_is_waited_for(void **state) {
    struct drain_world *w = *state;
    member(w, "w0", true);
    member(w, "w1", true);
    member(w, "w2", false);
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_WAITING);
    assert_int_equal(dw_view(w, 0)->blocker.code, BLOCKER_QUORUM_AT_RISK);
    dw_pass(w, SEC(300)); /* without a timeout it waits, and rests meanwhile */
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_WAITING);
    assert_int_equal(dw_asked(w, "patch nodes"), 0);
    member(w, "w2", true);
    drain_checks_changed(w->d);
    dw_pass(w, SEC(2));
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_EVICTING);
    assert_int_equal(dw_told(w, "unblocked"), 1);
}

static void a_timeout_ends_the_wait(void **state) {
    struct drain_world *w = *state;
    member(w, "w0", true);
    member(w, "w1", true);
    member(w, "w2", false);
    w->opts.timeout = SEC(20);
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(19));
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_WAITING);
    dw_pass(w, SEC(2));
    const struct drain_node *n = dw_view(w, 0);
    assert_int_equal(n->phase, DRAIN_TIMED_OUT);
    assert_non_null(strstr(n->error, "global timeout reached: 20s: etcd: "));
    assert_int_equal(dw_asked(w, "patch nodes"), 0);
}

/* The time that it waited for others is not its own. */
static void the_timeout_begins_anew(void **state) {
    struct drain_world *w = *state;
    member(w, "w0", true);
    member(w, "w1", true);
    member(w, "w2", false);
    w->opts.timeout = SEC(20);
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(15));
    member(w, "w2", true);
    drain_checks_changed(w->d);
    dw_pass(w, SEC(15));
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_EVICTING);
    dw_pass(w, SEC(6));
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_TIMED_OUT);
}

/* Whoever only asks is told at once. */
static void a_dry_run_does_not_wait(void **state) {
    struct drain_world *w = *state;
    member(w, "w0", true);
    member(w, "w1", true);
    member(w, "w2", false);
    w->opts.dry_run = DRY_RUN_SERVER;
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_TIMED_OUT);
    assert_non_null(strstr(dw_view(w, 0)->error, "it would have to wait: etcd: "));
}

/* The only member goes on running when its node is drained; what comes after that is not ours. */
static void the_only_control_plane_is_drained_with_a_remark(void **state) {
    struct drain_world *w = *state;
    member(w, "w0", true);
    dw_start(w, "w0", NULL);
    leave(w, "a-w0");
    dw_pass(w, SEC(1));
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_DONE);
    assert_int_equal(dw_told(w, "it is drained, but nothing more may be done to it: etcd: "), 1);
}

static void what_cannot_be_read_is_waited_for(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    world.inputs[SOURCE_VMIS] = (struct check_input){.read = READ_FAILED, .why = "forbidden"};
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_WAITING);
    assert_int_equal(dw_view(w, 0)->blocker.code, BLOCKER_CHECK_UNKNOWN);
    drain_stop(w->d, "interrupted");
    dw_settle(w);
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_STOPPED);
    assert_true(drain_over(w->d));
}

/* One that an earlier run has taken out and did not bring back is out for the others, whichever is
 * named first. */
static void what_an_earlier_run_left_goes_first(void **state) {
    struct drain_world *w = *state;
    members(w);
    dw_start(w, "w1", NULL);
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_EVICTING);
    dw_kill(w);
    dw_start(w, "w0", "w1", NULL);
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_WAITING);
    assert_int_equal(dw_view(w, 0)->blocker.code, BLOCKER_QUORUM_AT_RISK);
    assert_int_equal(dw_view(w, 1)->phase, DRAIN_EVICTING);
    leave(w, "a-w1");
    dw_pass(w, SEC(15));
    assert_int_equal(dw_view(w, 1)->phase, DRAIN_DONE);
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_WAITING);
    dw_edit_node(w, "w1", "{'spec':{'unschedulable':null},'metadata':{'annotations':null}}");
    dw_pass(w, SEC(15)); /* nobody told that it has changed: it is looked at now and then */
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_EVICTING);
}

/* All of them cordoned beforehand: that is no reason for each to wait for the others. */
static void nodes_that_are_held_do_not_wait_for_each_other(void **state) {
    struct drain_world *w = *state;
    members(w);
    w->opts.uncordon_when_done = true;
    dw_edit_node(w, "w0", HELD);
    dw_edit_node(w, "w1", HELD);
    dw_start(w, "w0", "w1", NULL);
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_EVICTING);
    assert_int_equal(dw_view(w, 1)->phase, DRAIN_WAITING);
    leave(w, "a-w0");
    dw_pass(w, SEC(2));
    assert_int_equal(dw_view(w, 1)->phase, DRAIN_EVICTING);
}

/* Many nodes that are empty are looked at at once. */
static void many_that_leave_are_waited_for_together(void **state) {
    struct drain_world *w = *state;
    enum { N = 40 };
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    const char *names[N];
    for (int i = 0; i < N; i++) {
        names[i] = arena_printf(&arena, "w%d", i);
        dw_node(w, names[i]);
        machine(w, names[i], names[i], true);
    }
    w->d = drain_new(&w->opts, &w->c, names, N, dw_on_note, w);
    dw_settle(w);
    dw_pass(w, SEC(5));
    for (int i = 0; i < N; i++) {
        assert_int_equal(dw_view(w, (size_t)i)->phase, DRAIN_DETACHING);
        assert_int_equal(dw_view(w, (size_t)i)->blocker.code, BLOCKER_EVICTION_IN_PROGRESS);
        assert_string_equal(strchr(dw_view(w, (size_t)i)->blocker.object, '/') + 1, names[i]);
    }
    for (int i = 0; i < N; i += 2)
        machine(w, names[i], "", true);
    drain_checks_changed(w->d);
    dw_pass(w, SEC(1));
    for (int i = 0; i < N; i++)
        assert_int_equal(dw_view(w, (size_t)i)->phase, i % 2 ? DRAIN_DETACHING : DRAIN_DONE);
}

/* A node that is deleted while it waits does not wait for ever. */
static void a_node_that_is_deleted_ends(void **state) {
    struct drain_world *w = *state;
    member(w, "w0", true);
    member(w, "w1", true);
    member(w, "w2", false);
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_WAITING);
    dw_remove(w, &kind_node, NULL, "w0");
    dw_pass(w, SEC(15));
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_FAILED);
    assert_non_null(strstr(dw_view(w, 0)->error, "there is no such node"));
}

/* What is not because of the others is not waited for either. */
static void denied_beside_others_is_refused(void **state) {
    struct drain_world *w = *state;
    members(w);
    machine(w, "vm", "w2", false);
    dw_start(w, "w0", "w1", "w2", NULL);
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_EVICTING);
    assert_int_equal(dw_view(w, 1)->phase, DRAIN_WAITING);
    assert_int_equal(dw_view(w, 2)->phase, DRAIN_REFUSED); /* by itself, too */
}

/* What an operator said is old after a while, when nobody says it again; but not in a copy, where
 * there is nobody to do so. */
static void what_was_said_ages(void **state) {
    struct drain_world *w = *state;
    struct store *cephs = store_new(&kind_ceph_cluster, w->pool);
    world.inputs[SOURCE_CEPH_CLUSTERS] = (struct check_input){.read = READ_DONE, .store = cephs};
    world.inputs[SOURCE_CEPH_PODS] = (struct check_input){.read = READ_DONE, .store = w->c.pods};
    char now[TIMEFMT_LEN];
    json_t *doc =
        json_pack("{s:{s:s,s:s,s:s},s:{s:s,s:{s:s,s:s}}}", "metadata", "namespace", "x", "name",
                  "my", "resourceVersion", "1", "status", "phase", "Ready", "ceph", "health",
                  "HEALTH_ERR", "lastChecked", time_format(w->now.wall, false, now));
    store_put(cephs, dw_decode(w, &kind_ceph_cluster, doc));
    json_decref(doc);
    dw_node(w, "w0");
    dw_put(
        w, &kind_pod,
        "{'metadata':{'namespace':'x','name':'osd','uid':'u','labels':{'app':'rook-ceph-osd',"
        "'topology-location-host':'w0'}},'spec':{'nodeName':'w0'},'status':{'phase':'Running'}}");
    w->opts.checks_now = w->now.wall;
    dw_start(w, "w0", NULL);
    assert_true(dw_view(w, 0)->gated);
    dw_pass(w, SEC(3600));
    assert_non_null(strstr(dw_view(w, 0)->blocker.message, "HEALTH_ERR"));
    dw_kill(w);
    w->opts.checks_now = 0;
    dw_start(w, "w0", NULL);
    assert_true(dw_view(w, 0)->gated);
    assert_int_equal(dw_view(w, 0)->blocker.code, BLOCKER_CHECK_UNKNOWN);
    dw_kill(w);
    store_free(cephs);
}

#define CHECKS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CHECKS_TEST(what_is_denied_is_refused_and_not_touched),
        CHECKS_TEST(the_others_go_all_the_same),
        CHECKS_TEST(what_is_skipped_is_not_asked),
        CHECKS_TEST(a_machine_that_leaves_is_waited_for),
        CHECKS_TEST(an_event_tells_of_a_wait_at_the_end),
        CHECKS_TEST(events_tell_of_a_wait_before_the_cordon),
        CHECKS_TEST(one_after_the_other),
        CHECKS_TEST(a_drained_node_is_not_back),
        CHECKS_TEST(nodes_without_members_go_together),
        CHECKS_TEST(a_member_that_is_ill_is_waited_for),
        CHECKS_TEST(a_timeout_ends_the_wait),
        CHECKS_TEST(the_timeout_begins_anew),
        CHECKS_TEST(a_dry_run_does_not_wait),
        CHECKS_TEST(the_only_control_plane_is_drained_with_a_remark),
        CHECKS_TEST(what_cannot_be_read_is_waited_for),
        CHECKS_TEST(what_an_earlier_run_left_goes_first),
        CHECKS_TEST(nodes_that_are_held_do_not_wait_for_each_other),
        CHECKS_TEST(many_that_leave_are_waited_for_together),
        CHECKS_TEST(a_node_that_is_deleted_ends),
        CHECKS_TEST(denied_beside_others_is_refused),
        CHECKS_TEST(what_was_said_ages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
