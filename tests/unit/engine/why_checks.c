/* Tests of src/engine/why_checks.c: what storage and quorums say is part of the chain. The verdicts
 * are the checks' own tests'; here machines and the members of an etcd stand for them. */
#include "engine/why.h"

#include "why_scene.h"

struct stage {
    struct scene *s;
    struct store *machines;
    struct check_world checks;
};

static int setup(void **state) {
    struct stage *t = xnew(struct stage);
    void *scene;
    scene_setup(&scene);
    t->s = scene;
    t->machines = store_new(&kind_vmi, t->s->pool);
    t->checks.nodes = t->s->world.nodes;
    t->checks.inputs[SOURCE_VMIS] = (struct check_input){.read = READ_DONE, .store = t->machines};
    t->checks.inputs[SOURCE_ETCD_PODS] =
        (struct check_input){.read = READ_DONE, .store = t->s->world.pods};
    t->s->world.checks = &t->checks;
    *state = t;
    return 0;
}

static int teardown(void **state) {
    struct stage *t = *state;
    void *scene = t->s;
    store_free(t->machines);
    free(t);
    return scene_teardown(&scene);
}

static void machine(struct stage *t, const char *name, const char *node, bool can) {
    _cleanup_free_ char *json = xasprintf(
        "{\"metadata\":{\"namespace\":\"x\",\"name\":\"%s\"},\"spec\":{\"evictionStrategy\":"
        "\"LiveMigrate\"},\"status\":{\"nodeName\":\"%s\",\"phase\":\"Running\",\"conditions\":[{"
        "\"type\":\"LiveMigratable\",\"status\":\"%s\",\"message\":\"its disk is not shared\"}]}}",
        name, node, can ? "True" : "False");
    struct object *obj = object_new(&kind_vmi);
    struct codec codec;
    codec_init(&codec, t->s->pool);
    assert_int_equal(codec_json(&codec, kind_vmi.type, view_of(json), obj, NULL), 0);
    codec_done(&codec);
    assert_true(store_put(t->machines, obj));
}

static void member(struct stage *t, const char *node, const char *conditions) {
    _cleanup_free_ char *json = xasprintf(
        "{'metadata':{'namespace':'kube-system','name':'etcd-%s','labels':{'component':'etcd'},"
        "'annotations':{'kubernetes.io/config.mirror':'x'}},'spec':{'nodeName':'%s'},'status':{"
        "'phase':'Running',%s}}",
        node, node, conditions);
    scene_add(t->s, &kind_pod, json);
}

#define HELD                                                                                       \
    "{'metadata':{'name':'n2','annotations':{'slipway.dev/cordon':'{\\\"v\\\":1,\\\"before\\\":"   \
    "false,\\\"holders\\\":[{\\\"id\\\":\\\"i\\\"}]}'}},'spec':{'unschedulable':true},'status':"   \
    "{" READY "}}"

static void what_denies_is_in_the_way(void **state) {
    struct stage *t = *state;
    scene_node(t->s, "n1");
    scene_node(t->s, "n2");
    machine(t, "vm", "n1", false);
    const struct why *why = scene_why(t->s, "n1");
    assert_int_equal(why->state, WHY_BLOCKED);
    assert_string_equal(why->summary, "a drain would be refused because of KubeVirt");
    assert_int_equal(why->n_links, 1);
    const struct why_link *l = link_of(why, BLOCKER_NOT_MIGRATABLE);
    assert_true(l->blocks);
    assert_string_equal(l->kind, "VirtualMachineInstance");
    assert_string_equal(l->object, "x/vm");
    assert_contains(l->text, "kubevirt: virtual machine x/vm must leave by live migration");
    assert_contains(l->text, "its disk is not shared");
    /* What helps comes first, doing without the check last, with what it costs. */
    assert_int_equal(l->n_remedies, 2);
    assert_int_equal(l->remedies[0].risk, WHY_RISK_NONE);
    assert_string_equal(l->remedies[0].command, "");
    assert_int_equal(l->remedies[1].risk, WHY_RISK_DATA);
    assert_string_equal(l->remedies[1].command,
                        "slipway drain n1 --skip-check kubevirt --reason \"$WHY\"");
    assert_string_equal(l->remedies[1].cost, "what it guards may stop, or be lost");
}

static void another_node_is_free(void **state) {
    struct stage *t = *state;
    scene_node(t->s, "n1");
    scene_node(t->s, "n2");
    machine(t, "vm", "n1", false);
    const struct why *why = scene_why(t->s, "n2");
    assert_int_equal(why->state, WHY_FREE);
    assert_int_equal(why->n_links, 0);
    assert_string_equal(why->summary, "a drain has nothing to move");
}

static void nobody_is_asked_without_a_world(void **state) {
    struct stage *t = *state;
    scene_node(t->s, "n1");
    machine(t, "vm", "n1", false);
    t->s->world.checks = NULL;
    assert_int_equal(scene_why(t->s, "n1")->state, WHY_FREE);
}

/* What a drain would wait for at its end is told before it has begun, by the rule of a plan. */
static void the_end_of_a_drain_is_told(void **state) {
    struct stage *t = *state;
    scene_node(t->s, "n1");
    scene_add(t->s, &kind_node, HELD);
    machine(t, "here", "n1", true);
    machine(t, "there", "n2", true);
    const struct why *why = scene_why(t->s, "n1");
    const struct why_link *l = link_of(why, BLOCKER_EVICTION_IN_PROGRESS);
    assert_int_equal(why->state, WHY_WAITS);
    assert_string_equal(why->summary,
                        "a drain has nothing to move; at its end it would wait for KubeVirt");
    assert_string_equal(l->object, "x/here");
    assert_true(l->blocks);
    assert_contains(l->text, "when its pods are gone the drain waits: kubevirt: virtual machine "
                             "x/here runs here");
    why = scene_why(t->s, "n2"); /* cordoned, but not drained */
    assert_string_equal(link_of(why, BLOCKER_EVICTION_IN_PROGRESS)->object, "x/there");
    assert_int_equal(why->state, WHY_WAITS);
}

#define CONDITION(type) "{'type':'" type "','status':'True'},{'type':'Ready','status':'True'}"
#define HELD_WITH(conditions)                                                                      \
    "{'metadata':{'name':'n1','annotations':{'slipway.dev/cordon':'{\\\"v\\\":1,\\\"before\\\":"   \
    "false,\\\"holders\\\":[{\\\"id\\\":\\\"i\\\"}]}'}},'spec':{'unschedulable':true},'status':"   \
    "{'conditions':[" conditions "]}}"

/* Whoever is past a gate does not stand before it again. */
static void a_drain_that_has_begun_waits_for_its_end_alone(void **state) {
    struct stage *t = *state;
    scene_add(t->s, &kind_node, HELD_WITH(CONDITION("DrainInProgress")));
    machine(t, "vm", "n1", true);
    const struct why *why = scene_why(t->s, "n1");
    assert_contains(why->summary, ": its pods are gone, it waits for KubeVirt");
    const struct why_link *l = link_of(why, BLOCKER_EVICTION_IN_PROGRESS);
    assert_true(l->blocks);
    assert_contains(l->text, "kubevirt: virtual machine x/vm runs here");
    assert_non_null(remedy_of(l, "--skip-check kubevirt"));
}

/* A wait and a deny are both in the way of whatever the node was drained for, and no drain helps.
 */
static void a_drained_node_has_only_what_comes_next(void **state) {
    struct stage *t = *state;
    scene_add(t->s, &kind_node, HELD_WITH(CONDITION("Drained")));
    machine(t, "vm", "n1", true);
    const struct why *why = scene_why(t->s, "n1");
    assert_int_equal(why->state, WHY_WAITS);
    assert_contains(why->summary, "; KubeVirt is against more");
    const struct why_link *l = link_of(why, BLOCKER_EVICTION_IN_PROGRESS);
    assert_contains(l->text, "; it is drained, but nothing more may be done to it");
    assert_null(remedy_of(l, "--skip-check kubevirt"));
    machine(t, "bad", "n1", false);
    why = scene_why(t->s, "n1");
    assert_int_equal(why->state, WHY_BLOCKED);
    l = link_of(why, BLOCKER_NOT_MIGRATABLE);
    assert_true(l->blocks);
    assert_null(remedy_of(l, "--skip-check kubevirt"));
}

/* What is out of service is counted, whoever holds it. */
static void nodes_that_are_held_are_out(void **state) {
    struct stage *t = *state;
    scene_node(t->s, "n1");
    scene_node(t->s, "n2");
    scene_node(t->s, "n3");
    member(t, "n1", READY);
    member(t, "n2", READY);
    member(t, "n3", READY);
    assert_int_equal(scene_why(t->s, "n1")->n_links, 0);
    store_remove(t->s->world.nodes, NULL, "n2", "9");
    scene_add(t->s, &kind_node, HELD);
    const struct why *why = scene_why(t->s, "n1");
    assert_string_equal(why->summary, "a drain would wait for control-plane etcd");
    assert_contains(link_of(why, BLOCKER_QUORUM_AT_RISK)->text,
                    "control-plane etcd has 3 members, 3 healthy; 1 would be left, 2 are needed");
    /* It does not stand in its own way. */
    assert_int_equal(scene_why(t->s, "n2")->n_links, 0);
}

/* The only member goes on running when its node is drained. */
static void what_forbids_the_operation_alone_does_not_block(void **state) {
    struct stage *t = *state;
    scene_node(t->s, "n1");
    member(t, "n1", READY);
    const struct why *why = scene_why(t->s, "n1");
    const struct why_link *l = link_of(why, BLOCKER_QUORUM_AT_RISK);
    assert_false(l->blocks);
    assert_contains(l->text, "; it can be drained, but nothing more may be done to it");
    assert_null(strstr(why->summary, "refused"));
}

static void what_cannot_be_read_is_said(void **state) {
    struct stage *t = *state;
    scene_node(t->s, "n1");
    t->checks.inputs[SOURCE_VMIS] =
        (struct check_input){.read = READ_FAILED, .why = "forbidden: no"};
    const struct why *why = scene_why(t->s, "n1");
    const struct why_link *l = link_of(why, BLOCKER_CHECK_UNKNOWN);
    assert_string_equal(l->object, "");
    assert_contains(l->text, "virtualmachineinstances.kubevirt.io cannot be read: forbidden: no");
    assert_non_null(remedy_of(l, "--skip-check kubevirt"));
    assert_string_equal(why->summary, "a drain would wait for KubeVirt");
}

/* The name of a node is somebody else's word, also in a command to be copied. */
static void names_are_quoted_in_commands(void **state) {
    struct stage *t = *state;
    scene_node(t->s, "n1; rm x");
    machine(t, "vm", "n1; rm x", false);
    const struct why_link *l = link_of(scene_why(t->s, "n1; rm x"), BLOCKER_NOT_MIGRATABLE);
    assert_non_null(remedy_of(l, "slipway drain 'n1; rm x' --skip-check kubevirt"));
}

#define WHY_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WHY_TEST(what_denies_is_in_the_way),
        WHY_TEST(another_node_is_free),
        WHY_TEST(nobody_is_asked_without_a_world),
        WHY_TEST(the_end_of_a_drain_is_told),
        WHY_TEST(a_drain_that_has_begun_waits_for_its_end_alone),
        WHY_TEST(a_drained_node_has_only_what_comes_next),
        WHY_TEST(nodes_that_are_held_are_out),
        WHY_TEST(what_forbids_the_operation_alone_does_not_block),
        WHY_TEST(what_cannot_be_read_is_said),
        WHY_TEST(names_are_quoted_in_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
