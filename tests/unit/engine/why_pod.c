/* Tests of src/engine/why_pod.c. */
#include "engine/why.h"

#include "why_scene.h"

static void a_pod_that_is_well(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_pod(s, "a", "a", "n1", POD_WELL);
    const struct why *why = scene_why_pod(s, "a");
    assert_true(why->found);
    assert_string_equal(why->kind, "Pod");
    assert_string_equal(why->summary, "on n1, well; nothing keeps it from being evicted");
    assert_int_equal(why->state, WHY_FREE);
    assert_null(strstr(str_get(&s->asked), "node-pods"));
    assert_contains(str_get(&s->asked), "budgets x  \n"); /* of its namespace alone */
}

static void a_pod_that_its_budget_holds(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_deployment(s, "a", 1);
    scene_pod(s, "a-1", "a", "n1", POD_WELL);
    scene_budget(s, "a", "'minAvailable':1", 1, 1, 1);
    const struct why *why = scene_why_pod(s, "a-1");
    assert_string_equal(why->summary, "on n1, well; it can never be evicted");
    assert_int_equal(link_of(why, BLOCKER_PDB_UNSATISFIABLE)->pods, 1);
}

static void a_pod_that_holds_up_a_drain(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_node(s, "n2");
    scene_add(s, &kind_node,
              "{'metadata':{'name':'n3'},'spec':{'unschedulable':true},'status':{'conditions':[{"
              "'type':'Ready','status':'True'},{'type':'DrainInProgress','status':'True'}]}}");
    scene_deployment(s, "a", 3);
    scene_pod(s, "a-1", "a", "n1", POD_WELL);
    scene_pod(s, "a-2", "a", "n2",
              "'phase':'Running'," UNREADY ",'containerStatuses':[{'name':'c','restartCount':5,"
              "'state':{'waiting':{'reason':'CrashLoopBackOff'}}}]");
    scene_pod(s, "a-3", "a", "n3", POD_WELL);
    scene_budget(s, "a", "'maxUnavailable':1", 3, 2, 2);
    const struct why *why = scene_why_pod(s, "a-2");
    assert_string_equal(why->summary, "on n2, not ready; nothing keeps it from being evicted");
    assert_int_equal(why->state, WHY_BLOCKED);
    const struct why_link *l = why->links[0];
    assert_int_equal(l->code, WHY_NO_CODE);
    assert_contains(l->text, "crashes again and again");
    const struct why_link *held = cause_of(l, "the drain of n3 waits for it");
    assert_non_null(held);
    assert_int_equal(held->code, BLOCKER_PDB_NO_BUDGET);
    assert_string_equal(held->object, "x/a");
    assert_contains(l->remedies[0].command, "--previous");
}

static void a_pod_that_would_hold_up_drains(void **state) {
    struct scene *s = *state;
    char name[8], node[8];
    scene_deployment(s, "a", 6);
    for (int i = 1; i <= 5; i++) {
        snprintf(name, sizeof name, "a-%d", i);
        snprintf(node, sizeof node, "n%d", i);
        scene_node(s, node);
        scene_pod(s, name, "a", node, POD_WELL);
    }
    scene_pod(s, "a-6", "a", "n1", "'phase':'Running'," UNREADY);
    scene_budget(s, "a", "'maxUnavailable':1", 6, 5, 5);
    const struct why_link *l = scene_why_pod(s, "a-6")->links[0];
    assert_non_null(cause_of(l, "a drain of n1, n2, n3 and 2 more would wait for it"));
}

static void a_pod_without_a_node(void **state) {
    struct scene *s = *state;
    scene_pod(s, "a", "a", "",
              "'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False','reason':"
              "'Unschedulable','message':'0/3 nodes are available: 3 Insufficient cpu. no new "
              "claims to deallocate, preemption: 0/3 nodes are available.'}]");
    const struct why *why = scene_why_pod(s, "a");
    assert_string_equal(why->summary, "has no node");
    assert_string_equal(why->links[0]->text,
                        "Pending: 0/3 nodes are available: 3 Insufficient cpu");
    assert_int_equal(why->state, WHY_BLOCKED);
}

static void a_pod_that_waits_for_the_scheduler(void **state) {
    struct scene *s = *state;
    scene_pod(s, "a", "a", "", "'phase':'Pending'");
    const struct why *why = scene_why_pod(s, "a");
    assert_string_equal(why->links[0]->text, "waits for the scheduler");
    assert_int_equal(why->state, WHY_WAITS);
}

static void pods_that_are_on_their_way_out(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_add(
        s, &kind_pod,
        "{'metadata':{'namespace':'x','name':'a','deletionTimestamp':'2026-11-15T08:00:20Z'," OWNED(
            "ReplicaSet", "r") "},'spec':{'nodeName':'n1'}," RUNNING "}");
    assert_string_equal(scene_why_pod(s, "a")->summary, "on n1, terminating");
    scene_add(
        s, &kind_pod,
        "{'metadata':{'namespace':'x','name':'b','deletionTimestamp':'2026-11-15T07:00:00Z'," OWNED(
            "ReplicaSet", "r") "},'spec':{'nodeName':'n1'}," RUNNING "}");
    const struct why *why = scene_why_pod(s, "b");
    assert_string_equal(why->summary, "on n1, terminating, and does not end");
    assert_int_equal(why->links[0]->code, BLOCKER_TERMINATING_STUCK);
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'c'},'spec':{'nodeName':'n1'},'status':{'phase':"
              "'Succeeded'}}");
    assert_string_equal(scene_why_pod(s, "c")->summary,
                        "on n1, finished (Succeeded); nothing keeps it from being evicted");
}

static void a_pod_that_a_drain_leaves_alone(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_add(s, &kind_daemon_set, "{'metadata':{'namespace':'x','name':'d','uid':'u-d'}}");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'d-1'," OWNED(
                  "DaemonSet", "d") "},'spec':{'nodeName':'n1'}," RUNNING "}");
    assert_string_equal(scene_why_pod(s, "d-1")->summary,
                        "on n1, well; a drain leaves it where it is");
}

static void a_bare_pod(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'b'},'spec':{'nodeName':'n1'}," RUNNING "}");
    const struct why *why = scene_why_pod(s, "b");
    assert_string_equal(why->summary, "on n1, well; a drain needs a flag to evict it");
    assert_int_equal(why->links[0]->code, BLOCKER_BARE_POD);
}

/* Nobody has said yet that the pod is not ready: its condition is as old as the node's silence. */
static void a_pod_on_a_node_that_does_not_answer(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_node,
              "{'metadata':{'name':'n1'},'status':{'conditions':[{'type':'Ready','status':"
              "'Unknown'}]}}");
    scene_pod(s, "a", "a", "n1", POD_WELL);
    const struct why *why = scene_why_pod(s, "a");
    assert_string_equal(why->summary, "on n1, which does not answer; it cannot be evicted now");
    assert_int_equal(why->links[0]->code, BLOCKER_NODE_UNREACHABLE);
}

/* Its node may be gone, and everything about it may be missing. */
static void a_pod_of_which_little_is_known(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_pod, "{'metadata':{'namespace':'x','name':'a'},'spec':{'nodeName':'gone'}}");
    const struct why *why = scene_why_pod(s, "a");
    assert_true(why->found);
    assert_true(why->complete);
    assert_false(scene_why_pod(s, "none")->found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(a_pod_that_is_well),
        SCENE_TEST(a_pod_that_its_budget_holds),
        SCENE_TEST(a_pod_that_holds_up_a_drain),
        SCENE_TEST(a_pod_that_would_hold_up_drains),
        SCENE_TEST(a_pod_without_a_node),
        SCENE_TEST(a_pod_that_waits_for_the_scheduler),
        SCENE_TEST(pods_that_are_on_their_way_out),
        SCENE_TEST(a_pod_that_a_drain_leaves_alone),
        SCENE_TEST(a_bare_pod),
        SCENE_TEST(a_pod_on_a_node_that_does_not_answer),
        SCENE_TEST(a_pod_of_which_little_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
