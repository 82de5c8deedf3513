/* Tests of src/engine/why_node.c. */
#include "engine/why.h"

#include "why_scene.h"

#define DRAINING                                                                                   \
    "'metadata':{'name':'n1','annotations':{'slipway.dev/cordon':'{\\\"v\\\":1,\\\"before\\\":"    \
    "false,\\\"holders\\\":[{\\\"id\\\":\\\"i\\\",\\\"by\\\":\\\"alice\\\",\\\"reason\\\":"        \
    "\\\"kernel\\\",\\\"since\\\":\\\"2026-11-15T07:50:00Z\\\"}]}'}},'spec':{'unschedulable':"     \
    "true},'status':{'conditions':[{'type':'Ready','status':'True'},{'type':'DrainInProgress',"    \
    "'status':'True','lastTransitionTime':'2026-11-15T07:50:00Z'}]}"

static void event(struct scene *s, const char *name, const char *reason, const char *message,
                  const char *time) {
    _cleanup_free_ char *json =
        xasprintf("{'metadata':{'namespace':'default','name':'%s'},'involvedObject':{'kind':'Node',"
                  "'name':'n1','uid':'n1'},'reason':'%s','message':'%s','firstTimestamp':"
                  "'2026-11-15T%sZ','lastTimestamp':'2026-11-15T%sZ'}",
                  name, reason, message, time, time);
    scene_add(s, &kind_event, json);
}

static void a_node_without_troubles(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    assert_string_equal(scene_why(s, "n1")->summary, "a drain has nothing to move");
    scene_pod(s, "a", "a", "n1", POD_WELL);
    const struct why *why = scene_why(s, "n1");
    /* what was not looked at is not promised */
    assert_string_equal(why->summary, "nothing forbids a drain: 1 pod to move, if it finds room "
                                      "(--room looks for it)");
    assert_int_equal(why->state, WHY_FREE);
    assert_true(why->complete);
    assert_false(why->draining);
    /* nothing was asked for that a healthy node does not need */
    assert_null(strstr(str_get(&s->asked), "budget-pods"));
    assert_null(strstr(str_get(&s->asked), "room"));
    assert_null(strstr(str_get(&s->asked), "events"));
}

/* The worst decides what would become of a drain. */
static void what_a_drain_would_meet(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_node(s, "n2");
    scene_deployment(s, "a", 2);
    scene_deployment(s, "b", 2);
    scene_pod(s, "a-1", "a", "n1", POD_WELL);
    scene_pod(s, "a-2", "a", "n1", POD_WELL);
    scene_budget(s, "a", "'maxUnavailable':1", 3, 2, 2);
    assert_string_equal(scene_why(s, "n1")->summary,
                        "a drain would wait: none of its 2 pods can go now");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'bare'},'spec':{'nodeName':'n1'}," RUNNING "}");
    assert_string_equal(scene_why(s, "n1")->summary,
                        "a drain would be refused: 1 of its 3 pods needs a flag, 2 cannot go now");
    scene_pod(s, "b-1", "b", "n1", POD_WELL);
    scene_budget(s, "b", "'maxUnavailable':0", 2, 2, 2);
    assert_string_equal(scene_why(s, "n1")->summary,
                        "a drain would be refused: 1 of its 4 pods needs a flag, 1 can never go, 2 "
                        "cannot go now");
}

static void a_drain_at_work(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_node, "{" DRAINING "}");
    scene_pod(s, "a-1", "a", "n1", POD_WELL);
    scene_pod(s, "b-1", "b", "n1", POD_WELL);
    scene_budget(s, "a", "'maxUnavailable':1", 3, 2, 2);
    event(s, "e", "DrainBlocked", "PDBNoBudget x/a: needs 2", "07:52:00");
    const struct why *why = scene_why(s, "n1");
    assert_true(why->draining);
    assert_int_equal(why->draining_since, NOW - SEC(600));
    assert_string_equal(why->held_by, "i (alice): kernel");
    assert_string_equal(why->summary,
                        "being drained for 10m (i (alice): kernel): 1 of its 2 pods waits");
    assert_int_equal(link_of(why, BLOCKER_PDB_NO_BUDGET)->since, NOW - SEC(480));
}

/* It was given the flags that it needs, else it would not have begun; unless it says otherwise. */
static void a_drain_at_work_needs_no_flags(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_node, "{" DRAINING "}");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'bare'},'spec':{'nodeName':'n1'}," RUNNING "}");
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->state, WHY_FREE);
    assert_contains(why->summary, "1 pod has to go, nothing holds it up");
    assert_false(link_of(why, BLOCKER_BARE_POD)->blocks);
    event(s, "e", "DrainBlocked", "BarePod x/bare: came during the drain", "07:52:00");
    why = scene_why(s, "n1");
    assert_int_equal(why->state, WHY_BLOCKED);
    assert_true(link_of(why, BLOCKER_BARE_POD)->blocks);
}

/* A condition that a killed drain left on a node that is in service again means nothing. */
static void an_old_condition_is_no_drain(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_node,
              "{'metadata':{'name':'n1'},'status':{'conditions':[{'type':'Ready','status':'True'},{"
              "'type':'DrainInProgress','status':'True'}]}}");
    assert_false(scene_why(s, "n1")->draining);
}

static void a_node_that_is_drained(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_node,
              "{'metadata':{'name':'n1'},'spec':{'unschedulable':true},'status':{'conditions':[{"
              "'type':'Ready','status':'True'},{'type':'Drained','status':'True'}]}}");
    assert_string_equal(scene_why(s, "n1")->summary, "drained and cordoned (somebody else)");
    scene_pod(s, "late", "a", "n1", POD_WELL);
    assert_string_equal(scene_why(s, "n1")->summary,
                        "cordoned (somebody else); nothing forbids a drain: 1 pod to move, if it "
                        "finds room (--room looks for it)");
}

static void a_node_that_is_not_ready(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_node,
              "{'metadata':{'name':'n1'},'status':{'conditions':[{'type':'Ready','status':'False',"
              "'message':'PLEG is not healthy','lastTransitionTime':'2026-11-15T07:00:00Z'}]}}");
    const struct why *why = scene_why(s, "n1");
    const struct why_link *l = link_of(why, BLOCKER_NODE_NOT_READY);
    assert_contains(l->text, "PLEG is not healthy");
    assert_false(l->blocks);
    assert_int_equal(why->state, WHY_FREE);
}

/* Both lists that everything depends on are asked for in the first round. */
static void pods_and_budgets_are_asked_for_together(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    s->unread = "node-pods budgets";
    const struct why *why = scene_why(s, "n1");
    assert_false(why->complete);
    assert_contains(str_get(&s->asked), "node-pods  n1 \n");
    assert_contains(str_get(&s->asked), "budgets   \n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(a_node_without_troubles),
        SCENE_TEST(what_a_drain_would_meet),
        SCENE_TEST(a_drain_at_work),
        SCENE_TEST(a_drain_at_work_needs_no_flags),
        SCENE_TEST(an_old_condition_is_no_drain),
        SCENE_TEST(a_node_that_is_drained),
        SCENE_TEST(a_node_that_is_not_ready),
        SCENE_TEST(pods_and_budgets_are_asked_for_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
