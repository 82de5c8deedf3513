/* Tests of src/engine/lint.c. */
#include "engine/lint.h"

#include "support/world.h"

#define OWNED(kind) "'ownerReferences':[{'kind':'" kind "','name':'o','uid':'u','controller':true}]"

static void finds_budgets_that_never_allow(void **state) {
    (void)state;
    struct world w;
    struct lint lint;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    world_add(
        &w, &kind_pod,
        "{'metadata':{'namespace':'x','name':'a','labels':{'app':'a'}," OWNED("ReplicaSet") "}}");
    world_add(
        &w, &kind_pod,
        "{'metadata':{'namespace':'x','name':'b','labels':{'app':'b'}," OWNED("ReplicaSet") "}}");
    world_add(&w, &kind_pdb,
              "{'metadata':{'namespace':'x','name':'never'},'spec':{'maxUnavailable':0,'selector':{"
              "'matchLabels':{'app':'a'}}},'status':{'currentHealthy':1,'desiredHealthy':1,'"
              "expectedPods':1}}");
    world_add(&w, &kind_pdb,
              "{'metadata':{'namespace':'x','name':'fine'},'spec':{'maxUnavailable':1,'selector':{'"
              "matchLabels':{'app':'b'}}},'status':{'disruptionsAllowed':1,'currentHealthy':1,'"
              "expectedPods':1}}");
    world_add(&w, &kind_pdb,
              "{'metadata':{'namespace':'x','name':'empty'},'spec':{'maxUnavailable':0,'selector':{"
              "'matchLabels':{'app':'c'}}},'status':{}}");
    lint_budgets(w.pods, w.budgets, w.pdbs, &arena, &lint);
    assert_int_equal(lint.budgets, 3);
    assert_int_equal(lint.n_never, 1);
    assert_string_equal(lint.never[0].pdb->meta.name, "never");
    assert_int_equal(lint.never[0].pods, 1);
    assert_string_equal(lint.never[0].why,
                        "maxUnavailable 0, needs 1 healthy of 1, has 1, allows 0");
    assert_int_equal(lint.n_overlaps, 0);
    world_done(&w);
}

static void groups_pods_under_the_same_budgets(void **state) {
    (void)state;
    struct world w;
    struct lint lint;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    world_add(
        &w, &kind_pod,
        "{'metadata':{'namespace':'x','name':'p1','labels':{'app':'a'}," OWNED("ReplicaSet") "}}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'p2','labels':{'app':'a','v':'2'}," OWNED(
                  "ReplicaSet") "}}");
    /* a finished pod and a DaemonSet's are never asked about */
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'p3','labels':{'app':'a','z':'3'}," OWNED(
                  "Job") "},'status':{'phase':'Succeeded'}}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'p4','labels':{'app':'a','z':'4'}," OWNED(
                  "DaemonSet") "}}");
    /* the same names in another namespace */
    world_add(
        &w, &kind_pod,
        "{'metadata':{'namespace':'y','name':'p1','labels':{'app':'a'}," OWNED("ReplicaSet") "}}");
    world_add(&w, &kind_pdb,
              "{'metadata':{'namespace':'x','name':'b'},'spec':{'selector':{'matchLabels':{'app':'"
              "a'}}},'status':{'disruptionsAllowed':1}}");
    world_add(&w, &kind_pdb,
              "{'metadata':{'namespace':'x','name':'a'},'spec':{'selector':{}},'status':{'"
              "disruptionsAllowed':1}}");
    world_add(&w, &kind_pdb,
              "{'metadata':{'namespace':'y','name':'a'},'spec':{'selector':{}},'status':{'"
              "disruptionsAllowed':1}}");
    lint_budgets(w.pods, w.budgets, w.pdbs, &arena, &lint);
    assert_int_equal(lint.n_overlaps, 1);
    assert_int_equal(lint.overlaps[0].pods, 2);
    assert_int_equal(lint.overlaps[0].n_pdbs, 2);
    assert_string_equal(lint.overlaps[0].pdbs[0]->meta.name, "a");
    assert_string_equal(lint.overlaps[0].pdbs[1]->meta.name, "b");
    assert_string_equal(lint.overlaps[0].example->meta.name, "p1");
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_budgets_that_never_allow),
        cmocka_unit_test(groups_pods_under_the_same_budgets),
    };
    return cmocka_run_group_tests_name("engine/lint", tests, NULL, NULL);
}
