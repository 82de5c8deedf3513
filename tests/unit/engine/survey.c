/* Tests of src/engine/survey.c. */
#include "engine/survey.h"

#include "support/world.h"

#include "base/str.h"

#define NOW         (INT64_C(1794729600) * 1000000) /* 2026-11-15T08:00:00Z */
#define OWNED(kind) "'ownerReferences':[{'kind':'" kind "','name':'o','uid':'u','controller':true}]"
#define READY                                                                                      \
    "'status':{'conditions':[{'type':'Ready','status':'True','lastTransitionTime':'2026-11-15T07:" \
    "00:00Z'}]}"

#define POD_READY "'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True'}]}"

static void counts_pods_by_what_a_drain_does_with_them(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    world_add(&w, &kind_node, "{'metadata':{'name':'n2'}," READY "}");
    world_add(&w, &kind_node, "{'metadata':{'name':'n1'}," READY "}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'a'," OWNED(
                  "ReplicaSet") "},'spec':{'nodeName':'n1'}}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'b'," OWNED(
                  "DaemonSet") "},'spec':{'nodeName':'n1'}}");
    world_add(
        &w, &kind_pod,
        "{'metadata':{'namespace':'x','name':'c','deletionTimestamp':'2026-11-15T07:59:30Z'," OWNED(
            "ReplicaSet") "},'spec':{'nodeName':'n1'}}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'d'," OWNED(
                  "Job") "},'spec':{'nodeName':'n1'},'status':{'phase':'Succeeded'}}");
    world_add(&w, &kind_pod, "{'metadata':{'namespace':'x','name':'pending'," OWNED("Job") "}}");
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NOW, &arena, &s);
    assert_int_equal(s.n, 2);
    assert_string_equal(s.nodes[0].node->meta.name, "n1");
    assert_int_equal(s.nodes[0].ready, NODE_READY);
    assert_int_equal(s.nodes[0].ready_since, NOW - INT64_C(3600) * 1000000);
    assert_int_equal(s.nodes[0].pods, 4);
    assert_int_equal(s.nodes[0].moves, 2);
    assert_int_equal(s.nodes[0].stays, 1);
    assert_int_equal(s.nodes[0].leaving, 1);
    assert_int_equal(s.nodes[0].n_blockers, 0);
    assert_int_equal(s.nodes[1].pods, 0);
    world_done(&w);
}

static void names_what_blocks_the_worst_first(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    world_add(&w, &kind_node,
              "{'metadata':{'name':'n1'},'status':{'conditions':[{'type':'Ready','status':'False','"
              "reason':'KubeletNotReady'}]}}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'bare'},'spec':{'nodeName':'n1','volumes':[{'"
              "name':'t','emptyDir':{}}]}}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'w1','labels':{'app':'w'}," OWNED(
                  "ReplicaSet") "},'spec':{'nodeName':'n1'}," POD_READY "}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'w2','labels':{'app':'w'}," OWNED(
                  "ReplicaSet") "},'spec':{'nodeName':'n1'}," POD_READY "}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'one','labels':{'app':'one'}," OWNED(
                  "ReplicaSet") "},'spec':{'nodeName':'n1'}," POD_READY "}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'two','labels':{'app':'w','tier':'t'}," OWNED(
                  "ReplicaSet") "},'spec':{'nodeName':'n1'}," POD_READY "}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'late','deletionTimestamp':'2026-11-15T07:55:"
              "00Z'," OWNED("ReplicaSet") "},'spec':{'nodeName':'n1'}," POD_READY "}");
    /* the same labels in another namespace are none of the budget's business */
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'y','name':'w1','labels':{'app':'w'}," OWNED(
                  "ReplicaSet") "},'spec':{'nodeName':'n1'}," POD_READY "}");
    world_add(&w, &kind_pdb,
              "{'metadata':{'namespace':'x','name':'w'},'spec':{'maxUnavailable':1,'selector':{'"
              "matchLabels':{'app':'w'}}},'status':{'currentHealthy':2,'desiredHealthy':2,'"
              "expectedPods':3}}");
    world_add(&w, &kind_pdb,
              "{'metadata':{'namespace':'x','name':'t'},'spec':{'maxUnavailable':1,'selector':{'"
              "matchLabels':{'tier':'t'}}},'status':{'disruptionsAllowed':1,'currentHealthy':2,'"
              "desiredHealthy':1,'expectedPods':2}}");
    world_add(&w, &kind_pdb,
              "{'metadata':{'namespace':'x','name':'one'},'spec':{'minAvailable':1,'selector':{'"
              "matchLabels':{'app':'one'}}},'status':{'currentHealthy':1,'desiredHealthy':1,'"
              "expectedPods':1}}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'z','name':'odd','labels':{'app':'odd'}," OWNED(
                  "Odd") "},'spec':{'nodeName':'n1'}," POD_READY "}");
    world_add(&w, &kind_pdb,
              "{'metadata':{'namespace':'z','name':'odd'},'spec':{'maxUnavailable':1,'selector':{"
              "'matchLabels':{'app':'odd'}}},'status':{'conditions':[{'type':'DisruptionAllowed',"
              "'status':'False','reason':'SyncFailed','message':'no scale'}]}}");
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NOW, &arena, &s);
    static const struct {
        enum blocker_code code;
        const char *object;
        unsigned pods;
        const char *message;
    } want[] = {
        {BLOCKER_MULTIPLE_PDBS, "x/two", 1, "pod x/two is selected by 2 budgets: t, w"},
        {BLOCKER_PDB_UNSATISFIABLE, "x/one", 1,
         "budget x/one: minAvailable 1, needs 1 healthy of 1, has 1, allows 0"},
        {BLOCKER_PDB_SYNC_FAILED, "z/odd", 1,
         "budget z/odd: maxUnavailable 1, its controller cannot compute it: no scale"},
        {BLOCKER_PDB_NO_BUDGET, "x/w", 2,
         "budget x/w: maxUnavailable 1, needs 2 healthy of 3, has 2, allows 0"},
        {BLOCKER_BARE_POD, "x/bare", 1, "pod x/bare has no controller"},
        {BLOCKER_LOCAL_STORAGE, "", 1, "pods with emptyDir data"},
        {BLOCKER_TERMINATING_STUCK, "x/late", 1,
         "pod x/late should have stopped by 2026-11-15T07:55:00Z"},
        {BLOCKER_NODE_NOT_READY, "", 0, "the node is not Ready: KubeletNotReady"},
    };
    assert_int_equal(s.n, 1);
    assert_int_equal(s.nodes[0].ready, NODE_NOT_READY);
    assert_int_equal(s.nodes[0].n_blockers, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        const struct survey_blocker *b = &s.nodes[0].blockers[i];
        assert_int_equal(b->code, want[i].code);
        assert_string_equal(b->object, want[i].object);
        assert_int_equal(b->pods, want[i].pods);
        assert_string_equal(b->message, want[i].message);
    }
    world_done(&w);
}

static bool only_n2(void *arg, const struct node *node) {
    return streq(node->meta.name, arg);
}

static void a_filter_leaves_the_others_out(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    world_add(&w, &kind_node, "{'metadata':{'name':'n1'}}");
    world_add(&w, &kind_node, "{'metadata':{'name':'n2'}}");
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, only_n2, "n2", NOW, &arena, &s);
    assert_int_equal(s.n, 1);
    assert_string_equal(s.nodes[0].node->meta.name, "n2");
    assert_int_equal(s.nodes[0].ready, NODE_UNKNOWN); /* no condition at all */
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, only_n2, "n3", NOW, &arena, &s);
    assert_int_equal(s.n, 0);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_pods_by_what_a_drain_does_with_them),
        cmocka_unit_test(names_what_blocks_the_worst_first),
        cmocka_unit_test(a_filter_leaves_the_others_out),
    };
    return cmocka_run_group_tests_name("engine/survey", tests, NULL, NULL);
}
