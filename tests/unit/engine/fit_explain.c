/* Tests of src/engine/fit_explain.c. The sentences are those that a kube-scheduler v1.36.3 wrote
 * (tests/cluster/test_fit.py compares more of them). */
#include "fit_scene.h"

#define CPU(n) "'containers':[{'name':'c','resources':{'requests':{'cpu':'" n "'}}}]"
#define TAIL   " no new claims to deallocate, preemption: "

static void node(struct scene *s, const char *name, const char *cpu, const char *spec) {
    scene_put(s, &kind_node,
              "{'metadata':{'name':'%s','labels':{'host':'%s'}},'spec':{%s},'status':{'allocatable'"
              ":{'pods':'9','cpu':'%s'}}}",
              name, name, spec, cpu);
}

static void busy(struct scene *s, const char *name, const char *node_name, const char *priority,
                 const char *cpu) {
    scene_put(s, &kind_pod,
              "{'metadata':{'namespace':'d','name':'%s','labels':{'app':'%s'}},'spec':{'nodeName':"
              "'%s','priority':%s," CPU("%s") "}}",
              name, name, node_name, priority, cpu);
}

static void a_pod_that_fits_needs_no_words(void **state) {
    struct scene *s = *state;
    node(s, "a", "1", "");
    node(s, "b", "1", "'unschedulable':true");
    assert_string_equal(scene_explain(s, POD("", CPU("1"))), "");
}

static void no_nodes(void **state) {
    struct scene *s = *state;
    assert_string_equal(scene_explain(s, POD("", "")), "no nodes available to schedule pods");
    assert_string_equal(scene_explain(s, POD("", "'schedulingGates':[{'name':'g'}]")),
                        "Scheduling is blocked due to non-empty scheduling gates");
}

static void reasons_are_counted_and_sorted(void **state) {
    struct scene *s = *state;
    node(s, "a", "2", "");
    node(s, "b", "2", "");
    node(s, "c", "2", "'unschedulable':true");
    node(s, "e", "2", "'taints':[{'key':'k','effect':'NoSchedule'}]");
    busy(s, "p", "a", "0", "1");
    assert_string_equal(
        scene_explain(s, POD("", CPU("5"))),
        "0/4 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were "
        "unschedulable, 2 Insufficient cpu." TAIL
        "0/4 nodes are available: 4 Preemption is not helpful for scheduling.");
    busy(s, "q", "b", "0", "1");
    assert_string_equal(
        scene_explain(s, POD("", CPU("1500m"))),
        "0/4 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were "
        "unschedulable, 2 Insufficient cpu." TAIL
        "0/4 nodes are available: 2 No preemption victims found for incoming pod, 2 Preemption is "
        "not helpful for scheduling.");
}

/* "10 x" comes before "2 x", as in the real message. */
static void counts_are_sorted_as_text(void **state) {
    struct scene *s = *state;
    for (int i = 0; i < 12; i++) {
        char name[8];
        snprintf(name, sizeof name, "n%d", i);
        node(s, name, "1", i < 10 ? "'unschedulable':true" : "");
    }
    assert_string_equal(
        scene_explain(s, POD("", CPU("2"))),
        "0/12 nodes are available: 10 node(s) were unschedulable, 2 Insufficient cpu." TAIL
        "0/12 nodes are available: 12 Preemption is not helpful for scheduling.");
}

static void nodes_that_were_not_asked(void **state) {
    struct scene *s = *state;
    node(s, "a", "1", "");
    node(s, "b", "1", "");
    node(s, "c", "1", "");
#define ONLY(names)                                                                                \
    "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"               \
    "'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In','values':[" names \
    "]}]}]}}}"
    assert_string_equal(
        scene_explain(s, POD("", CPU("2") "," ONLY("'b'"))),
        "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) "
        "[NodeAffinity]." TAIL
        "0/3 nodes are available: 3 Preemption is not helpful for scheduling.");
    assert_string_equal(
        scene_explain(s, POD("", ONLY("'nobody'"))),
        "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity]." TAIL
        "0/3 nodes are available: 3 Preemption is not helpful for scheduling.");
    assert_string_equal(scene_explain(s, POD("", ONLY("'b'"))), "");
    /* a node that is named twice is one */
    assert_string_equal(
        scene_explain(s, POD("",
                             CPU("2") ",'affinity':{'nodeAffinity':{"
                                      "'requiredDuringSchedulingIgnoredDuringExecution':{"
                                      "'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name',"
                                      "'operator':'In','values':['b']}]},{'matchFields':[{'key':"
                                      "'metadata.name','operator':'In','values':['b']}]}]}}}")),
        "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) "
        "[NodeAffinity]." TAIL
        "0/3 nodes are available: 3 Preemption is not helpful for scheduling.");
}

static void trouble_with_the_pod_itself(void **state) {
    struct scene *s = *state;
    node(s, "a", "1", "");
    assert_string_equal(
        scene_explain(s, POD("", "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':"
                                 "'nope'}}]")),
        "0/1 nodes are available: persistentvolumeclaim \"nope\" not found. not found");
}

static void who_would_be_evicted(void **state) {
    struct scene *s = *state;
    node(s, "a", "2", "");
    node(s, "b", "2", "");
    busy(s, "low", "a", "0", "1");
    busy(s, "high", "b", "9", "1");
    /* room can be made on a: then nothing is said of preemption */
    const char *pushy = POD("", "'priority':5," CPU("1500m"));
    assert_string_equal(scene_explain(s, pushy), "0/2 nodes are available: 2 Insufficient cpu.");
    /* the victim is still there */
    assert_string_equal(fit_pod_node(s->fit, "d", "low"), "a");
    assert_string_equal(scene_explain(s, pushy), "0/2 nodes are available: 2 Insufficient cpu.");
    assert_string_equal(
        scene_explain(s, POD("", "'priority':5,'preemptionPolicy':'Never'," CPU("1500m"))),
        "0/2 nodes are available: 2 Insufficient cpu." TAIL
        "not eligible due to preemptionPolicy=Never.");
    /* not enough room, even so; the other node has nobody less important */
    busy(s, "high2", "a", "9", "1");
    assert_string_equal(
        scene_explain(s, pushy),
        "0/2 nodes are available: 2 Insufficient cpu." TAIL
        "0/2 nodes are available: 1 Insufficient cpu, 1 No preemption victims found "
        "for incoming pod.");
}

static void evicting_does_not_help_against_everything(void **state) {
    struct scene *s = *state;
    node(s, "a", "4", "");
    busy(s, "low", "a", "0", "1");
    busy(s, "db", "a", "9", "1");
#define APART                                                                                      \
    "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"           \
    "'topologyKey':'host','labelSelector':{'matchLabels':{'app':'%s'}}}]}}"
    _cleanup_free_ char *db = xasprintf(POD("", "'priority':5," APART), "db");
    _cleanup_free_ char *low = xasprintf(POD("", "'priority':5," APART), "low");
    assert_string_equal(
        scene_explain(s, db),
        "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules." TAIL
        "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.");
    assert_string_equal(scene_explain(s, low),
                        "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.");
    assert_why(s, "a", low, "node(s) didn't match pod anti-affinity rules"); /* as before */
}

/* Words of kube-scheduler v1.36 (pkg/scheduler/framework/plugins), older ones and others'. */
static void reasons_that_are_known(void **state) {
    static const char *const known[] = {
        "",
        "no nodes available to schedule pods",
        "0/3 nodes are available: 1 Insufficient cpu, 2 Too many pods.",
        "0/3 nodes are available: 1 Insufficient example.com/gpu, 2 node(s) were unschedulable",
        "0/2 nodes are available: 2 node(s) had untolerated taint(s)",
        "0/2 nodes are available: 1 node(s) had taint {a: b}, that the pod, 1 Too many pods",
        "0/2 nodes are available: 2 node(s) had volume node affinity conflict",
        "0/2 nodes are available: persistentvolumeclaim \"a\" not found. not found",
        "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found",
    };
    static const char *const unknown[] = {
        "0/3 nodes are available: 1 Insufficient cpu, 2 cannot allocate all claims",
        "0/3 nodes are available: 3 node(s) did not have enough free storage.",
        "0/3 nodes are available: 3 node(s) had no available disk.",
        "0/3 nodes are available: 3 node(s) were unschedulable by somebody",
        "0/3 nodes are available: resourceclaim not created yet",
        "running PreBind plugin \"VolumeBinding\": binding volumes: timed out",
        "0/3 nodes are available: 3 ",
        "0/3 nodes are available: ",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        assert_true(fit_knows(known[i]));
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++)
        assert_false(fit_knows(unknown[i]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(a_pod_that_fits_needs_no_words),
        SCENE_TEST(no_nodes),
        SCENE_TEST(reasons_are_counted_and_sorted),
        SCENE_TEST(counts_are_sorted_as_text),
        SCENE_TEST(nodes_that_were_not_asked),
        SCENE_TEST(trouble_with_the_pod_itself),
        SCENE_TEST(who_would_be_evicted),
        SCENE_TEST(evicting_does_not_help_against_everything),
        cmocka_unit_test(reasons_that_are_known),
    };
    return cmocka_run_group_tests_name("engine/fit_explain", tests, NULL, NULL);
}
