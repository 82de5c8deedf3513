/* Tests of src/engine/podrole.c. */
#include "engine/podrole.h"

#include "support/world.h"

#define OWNED(kind)                                                                                \
    "'ownerReferences':[{'apiVersion':'apps/v1','kind':'" kind                                     \
    "','name':'o','uid':'u','controller':true}]"

static void roles(void **state) {
    (void)state;
    static const struct {
        const char *json;
        enum pod_role role;
    } cases[] = {
        {"{'metadata':{'name':'p'}}", POD_BARE},
        {"{'metadata':{'name':'p'," OWNED("ReplicaSet") "}}", POD_MOVES},
        {"{'metadata':{'name':'p'," OWNED("DaemonSet") "}}", POD_DAEMON},
        /* OpenKruise's own DaemonSet */
        {"{'metadata':{'name':'p','ownerReferences':[{'apiVersion':'apps.kruise.io/"
         "v1alpha1','kind':"
         "'DaemonSet','name':'o','uid':'u','controller':true}]}}",
         POD_DAEMON},
        /* an owner that does not control is none */
        {"{'metadata':{'name':'p','ownerReferences':[{'kind':'DaemonSet','name':'o','uid':'u'}]}}",
         POD_BARE},
        {"{'metadata':{'name':'p','annotations':{'kubernetes.io/config.mirror':'h'}," OWNED(
             "Node") "}}",
         POD_MIRROR},
        {"{'metadata':{'name':'p'},'status':{'phase':'Succeeded'}}", POD_FINISHED},
        {"{'metadata':{'name':'p'},'status':{'phase':'Failed'}}", POD_FINISHED},
        {"{'metadata':{'name':'p'," OWNED("DaemonSet") "},'status':{'phase':'Failed'}}",
         POD_FINISHED},
        {"{'metadata':{'name':'p','deletionTimestamp':'2026-11-15T08:00:00Z'," OWNED(
             "ReplicaSet") "}}",
         POD_LEAVING},
        {"{'metadata':{'name':'p','deletionTimestamp':'2026-11-15T08:00:00Z'," OWNED(
             "DaemonSet") "}}",
         POD_DAEMON},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        world_init(&w);
        assert_int_equal(pod_role(world_add(&w, &kind_pod, cases[i].json)), cases[i].role);
        world_done(&w);
    }
}

static void local_data_is_an_empty_dir_of_a_pod_that_runs(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    const char *with = "{'metadata':{'name':'p'},'spec':{'volumes':[{'name':'a','configMap':{}},"
                       "{'name':'b','emptyDir':{}}]}}";
    const char *done = "{'metadata':{'name':'q'},'spec':{'volumes':[{'name':'b','emptyDir':{}}]},"
                       "'status':{'phase':'Succeeded'}}";
    const char *host = "{'metadata':{'name':'r'},'spec':{'volumes':[{'name':'b','hostPath':{}}]}}";
    assert_true(pod_has_local_data(world_add(&w, &kind_pod, with)));
    assert_false(pod_has_local_data(world_add(&w, &kind_pod, done)));
    assert_false(pod_has_local_data(world_add(&w, &kind_pod, host)));
    assert_false(pod_has_local_data(world_add(&w, &kind_pod, "{'metadata':{'name':'s'}}")));
    world_done(&w);
}

static void ready_is_the_condition(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    assert_true(pod_ready(world_add(&w, &kind_pod,
                                    "{'metadata':{'name':'a'},'status':{'conditions':[{'type':"
                                    "'PodScheduled','status':'False'},{'type':'Ready','status':"
                                    "'True'}]}}")));
    assert_false(pod_ready(world_add(&w, &kind_pod,
                                     "{'metadata':{'name':'b'},'status':{'conditions':[{'type':"
                                     "'Ready','status':'False'}]}}")));
    assert_false(pod_ready(world_add(&w, &kind_pod, "{'metadata':{'name':'c'}}")));
    world_done(&w);
}

/* ToleratesTaint() of k8s.io/api/core/v1/toleration.go, for node.kubernetes.io/unschedulable with
 * an empty value and the effect NoSchedule, as nodeunschedulable.go asks it. */
static void what_tolerates_a_cordon(void **state) {
    (void)state;
    static const struct {
        const char *toleration;
        bool tolerates;
    } cases[] = {
        {"", false},
        {"{'operator':'Exists'}", true}, /* everything */
        {"{'operator':'Exists','effect':'NoSchedule'}", true},
        {"{'operator':'Exists','effect':'NoExecute'}", false},
        {"{'key':'node.kubernetes.io/unschedulable','operator':'Exists'}", true},
        {"{'key':'node.kubernetes.io/unschedulable'}", true}, /* Equal, to an empty value */
        {"{'key':'node.kubernetes.io/unschedulable','operator':'Equal','value':''}", true},
        {"{'key':'node.kubernetes.io/unschedulable','operator':'Equal','value':'x'}", false},
        {"{'key':'node.kubernetes.io/unschedulable','value':'x'}", false},
        {"{'key':'node.kubernetes.io/unschedulable','operator':'Exists','effect':'NoExecute'}",
         false},
        {"{'key':'node.kubernetes.io/unschedulable','operator':'Lt','value':'5'}", false},
        {"{'key':'node.kubernetes.io/not-ready','operator':'Exists'}", false},
        {"{'key':'other','operator':'Exists'},{'key':'node.kubernetes.io/unschedulable',"
         "'operator':'Exists','effect':'NoSchedule'}",
         true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        world_init(&w);
        _cleanup_free_ char *json =
            xasprintf("{'metadata':{'name':'p'},'spec':{'tolerations':[%s]}}", cases[i].toleration);
        if (pod_tolerates_cordon(world_add(&w, &kind_pod, json)) != cases[i].tolerates)
            fail_msg("[%s]: %d is wanted", cases[i].toleration, cases[i].tolerates);
        world_done(&w);
    }
    struct world w;
    world_init(&w);
    assert_false(pod_tolerates_cordon(world_add(&w, &kind_pod, "{'metadata':{'name':'p'}}")));
    world_done(&w);
}

static void who_wants_one_node(void **state) {
    static const struct {
        const char *spec;
        bool wants;
    } cases[] = {
        {"{}", false},
        {"{'nodeSelector':{'kubernetes.io/hostname':'w1'}}", true},
        {"{'nodeSelector':{'disk':'fast'}}", false},
#define TERMS(terms)                                                                               \
    "{'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"              \
    "'nodeSelectorTerms':[" terms "]}}}}"
        {TERMS("{'matchExpressions':[{'key':'kubernetes.io/hostname','operator':'In','values':["
               "'w1']}]}"),
         true},
        {TERMS("{'matchExpressions':[{'key':'kubernetes.io/hostname','operator':'In','values':["
               "'w1','w2']}]}"),
         false},
        {TERMS("{'matchFields':[{'key':'metadata.name','operator':'In','values':['w1']}]}"), true},
        {TERMS("{'matchFields':[{'key':'metadata.name','operator':'In','values':['w1']}]},{"
               "'matchFields':[{'key':'metadata.name','operator':'In','values':['w2']}]}"),
         false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        world_init(&w);
        _cleanup_free_ char *json = xasprintf("{'metadata':{'name':'p'},'spec':%s}", cases[i].spec);
        if (pod_wants_one_node(world_add(&w, &kind_pod, json)) != cases[i].wants)
            fail_msg("%s: %d is wanted", cases[i].spec, cases[i].wants);
        world_done(&w);
    }
}

static void whose_finalizers(void **state) {
    struct world w;
    _cleanup_str_ struct str names = STR_INIT;
    (void)state;
    world_init(&w);
    pod_foreign_finalizers(world_add(&w, &kind_pod,
                                     "{'metadata':{'name':'p','finalizers':["
                                     "'batch.kubernetes.io/job-tracking','a.example/x',"
                                     "'foregroundDeletion','b.example/y']}}"),
                           &names);
    assert_string_equal(str_get(&names), "a.example/x, b.example/y");
    assert_string_equal(
        pod_finalizer(world_add(&w, &kind_pod,
                                "{'metadata':{'name':'q','finalizers':['orphan','a.example/x']}}")),
        "a.example/x");
    assert_null(pod_finalizer(
        world_add(&w, &kind_pod, "{'metadata':{'name':'r','finalizers':['orphan']}}")));
    world_done(&w);
}

/* Nobody brings back one that has no controller or has finished; a DaemonSet's is not evicted. */
static void who_may_come_back(void **state) {
    struct world w;
    (void)state;
    world_init(&w);
#define TOLERANT(name, owner, phase)                                                               \
    world_add(&w, &kind_pod,                                                                       \
              "{'metadata':{'namespace':'x','name':'" name "'" owner "},'spec':{'tolerations':[{"  \
              "'operator':'Exists'}]},'status':{'phase':'" phase "'}}")
#define BY(kind) ",'ownerReferences':[{'kind':'" kind "','name':'o','uid':'u','controller':true}]"
    assert_true(pod_may_return(TOLERANT("a", BY("ReplicaSet"), "Running")));
    assert_false(pod_may_return(TOLERANT("b", "", "Running")));
    assert_false(pod_may_return(TOLERANT("c", BY("Job"), "Succeeded")));
    assert_false(pod_may_return(TOLERANT("d", BY("DaemonSet"), "Running")));
    world_done(&w);
}

static void nodes_that_do_not_answer(void **state) {
    struct world w;
    (void)state;
    world_init(&w);
    assert_false(node_is_lost(NULL));
    assert_false(node_is_lost(world_add(&w, &kind_node, "{'metadata':{'name':'new'}}")));
    assert_false(node_is_lost(world_add(&w, &kind_node,
                                        "{'metadata':{'name':'sick'},'status':{'conditions':[{"
                                        "'type':'Ready','status':'False'}]}}")));
    assert_true(node_is_lost(world_add(&w, &kind_node,
                                       "{'metadata':{'name':'lost'},'status':{'conditions':[{"
                                       "'type':'Ready','status':'Unknown'}]}}")));
    world_done(&w);
}

static void the_order_of_pods(void **state) {
    const struct pod a = {.meta = {.ns = "x", .name = "b"}}, b = {.meta = {.ns = "y", .name = "a"}},
                     c = {.meta = {.ns = "x", .name = "c"}};
    const struct pod *pa = &a, *pb = &b, *pc = &c;
    (void)state;
    assert_true(pod_compare(&pa, &pb) < 0);
    assert_true(pod_compare(&pc, &pa) > 0);
    assert_int_equal(pod_compare(&pa, &pa), 0);
}

#define HOSTS(values)                                                                              \
    "'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':"                \
    "'kubernetes.io/hostname','operator':'In','values':[" values "]}]}]}}"

/* A disk that another node has as well is not on one alone. */
static void a_volume_is_local_on_one_node(void **state) {
    static const struct {
        const char *spec;
        bool local, named;
    } rows[] = {
        {"'local':{'path':'/d'}", true, false},
        {"'local':{'path':'/d'}," HOSTS("'a'"), true, true},
        {"'local':{'path':'/d'}," HOSTS("'a','b'"), false, true},
        {HOSTS("'a'"), true, true},
        {HOSTS("'a','b'"), false, true},
        {"'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':"
         "'topology.kubernetes.io/zone','operator':'In','values':['a']}]}]}}",
         false, false},
        {"", false, false},
    };
    struct world w;
    (void)state;
    world_init(&w);
    struct store *volumes = store_new(&kind_pv, w.pool);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *text =
            xasprintf("{'metadata':{'name':'v%zu'},'spec':{%s}}", i, rows[i].spec);
        const struct pv *pv = world_put(&w, volumes, text);
        assert_int_equal(volume_is_local(pv), rows[i].local);
        assert_int_equal(volume_names_nodes(pv->affinity ? pv->affinity->required : NULL),
                         rows[i].named);
    }
    store_free(volumes);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles),
        cmocka_unit_test(local_data_is_an_empty_dir_of_a_pod_that_runs),
        cmocka_unit_test(a_volume_is_local_on_one_node),
        cmocka_unit_test(ready_is_the_condition),
        cmocka_unit_test(what_tolerates_a_cordon),
        cmocka_unit_test(who_wants_one_node),
        cmocka_unit_test(whose_finalizers),
        cmocka_unit_test(who_may_come_back),
        cmocka_unit_test(nodes_that_do_not_answer),
        cmocka_unit_test(the_order_of_pods),
    };
    return cmocka_run_group_tests_name("engine/podrole", tests, NULL, NULL);
}
