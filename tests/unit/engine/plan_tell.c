/* Tests of src/engine/plan_tell.c: what is said when the drain has been played through. */
#include "plan_site.h"

/* Pods that do not stop in time say so. */
static void a_timeout_that_is_too_short_is_told(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "b", "w0", "{}");
    f->w.opts.timeout = SEC(5);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_UNSURE);
    assert_int_equal(f->plan.count[PLAN_UNSURE], 2);
    assert_says(f, "a", "it needs 10s to stop, and its node is given up after 5s");
    f->w.opts.timeout = SEC(12);
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_verdict(f, "b", PLAN_UNSURE);
    assert_says(f, "b", "it goes after 5s, needs 10s to stop, and its node is given up after 12s");
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_UNSURE);
}

/* Its data is on a disk of the node: that is the reason, though no other node is open either. */
static void a_local_volume_is_told_first(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    add(f, &kind_pv,
        "{'metadata':{'name':'disk','resourceVersion':'1'},'spec':{'capacity':{'storage':'1Gi'},"
        "'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':"
        "'kubernetes.io/hostname','operator':'In','values':['w0']}]}]}},'claimRef':{'namespace':"
        "'default','name':'data','uid':'c1'}},'status':{'phase':'Bound'}}");
    add(f, &kind_pvc,
        "{'metadata':{'namespace':'default','name':'data','uid':'c1','resourceVersion':'1',"
        "'annotations':{'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'disk'},"
        "'status':{'phase':'Bound'}}");
    dw_pod(&f->w, "a", "w0",
           "{'spec':{'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'data'}}]}}");
    dw_pod(&f->w, "b", "w0", "{}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_code(f, "a", BLOCKER_LOCAL_PV);
    make(f, "w0", "w1", NULL); /* all are cordoned, and that is what the scheduler says first */
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_code(f, "a", BLOCKER_LOCAL_PV);
    assert_says(f, "a", "its volume disk is on this node alone; 0/2 nodes are available");
    assert_verdict(f, "b", PLAN_HOMELESS);
    assert_code(f, "b", BLOCKER_NO_ROOM);
}

/* The budget runs dry because a replacement fits nowhere: what helps that helps this. */
static void a_budget_that_runs_dry_says_what_helps(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 1);
    dw_pod(&f->w, "x", "w1", "{'metadata':{'labels':{'app':'x'}}}");
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "b", "w0", "{}");
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_verdict(f, "b", PLAN_NEVER);
    assert_code(f, "b", BLOCKER_PDB_NO_BUDGET);
    assert_string_equal(pod_of(f, "b")->blocker.help,
                        "until there is room for the replacement: 1 pod more on w1 would do");
    dw_edit_node(&f->w, "w1", "{'spec':{'unschedulable':true}}");
    make(f, "w0", NULL);
    assert_string_equal(pod_of(f, "b")->blocker.help,
                        "until there is room for the replacement: add a node");
}

/* Of one that had to go twice and found no second place, that is told of the pod as it is now. */
static void a_successor_without_a_place_is_told_of_its_pod(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 2);
    node(f, "w1", 1);
    dw_pod(&f->w, "a", "w0", "{}");
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.in_order = true;
    make(f, "w0", "w1", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_code(f, "a", BLOCKER_NO_ROOM);
    assert_says(f, "a", "0/2 nodes are available");
    assert_int_equal(node_of(f, "w0")->ends, SEC(10));
    assert_int_equal(node_of(f, "w1")->ends, SEC(20));
}

/* Those that never begin come last; the others as they begin. */
static void nodes_are_told_as_they_begin(void **state) {
    struct plan_site *f = *state;
    nodes(f, 4);
    dw_pod(&f->w, "bare", "w0", DW_BARE);
    dw_pod(&f->w, "a", "w1", "{}");
    dw_pod(&f->w, "b", "w2", "{}");
    f->w.opts.max_unavailable.value = 1;
    make(f, "w0", "w1", "w2", NULL);
    assert_string_equal(f->plan.nodes[0].name, "w1");
    assert_string_equal(f->plan.nodes[1].name, "w2");
    assert_string_equal(f->plan.nodes[2].name, "w0");
    assert_int_equal(f->plan.nodes[0].verdict, PLAN_GOES);
    assert_int_equal(f->plan.nodes[2].verdict, PLAN_NEVER);
}

/* No pod of w1 is in the way: those that come to it from w0 are. */
static void a_node_that_a_successor_keeps_says_so(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "b", "w0", "{}");
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.in_order = true;
    make(f, "w0", "w1", NULL);
    const struct plan_node *n = node_of(f, "w1");
    assert_null(node_of(f, "w0")->blocker.message);
    assert_int_equal(n->verdict, PLAN_UNSURE);
    assert_int_equal(n->ends, PLAN_NO_TIME);
    assert_int_equal(n->blocker.code, BLOCKER_PDB_NO_BUDGET);
    assert_string_equal(n->blocker.object, "default/web");
    assert_non_null(
        strstr(n->blocker.message, "the replacement of b comes here and does not get away: "));
}

/* Nor of one that nothing is on, and whose turn does not come. */
static void an_empty_node_whose_turn_does_not_come_says_so(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    pods(f, "a", 2, "w0", "{}");
    dw_budget(&f->w, "web", 0, 2, 2, 2);
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.in_order = true;
    make(f, "w0", "w1", NULL);
    const struct plan_node *n = node_of(f, "w1");
    assert_int_equal(n->verdict, PLAN_UNSURE);
    assert_int_equal(n->blocker.code, BLOCKER_MAX_UNAVAILABLE);
    assert_string_equal(n->blocker.message, "its turn does not come: others keep theirs");
}

#define RIVAL "{'metadata':{'labels':{'app':'rival'}}}"

/* One place, and two replacements that want it at the same time: when the other has it, nothing
 * more goes; but it might be otherwise. */
static void a_place_that_is_lost_by_chance_is_not_lost_for_ever(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 1);
    dw_pod(&f->w, "a", "w0", RIVAL);
    dw_pod(&f->w, "x", "w0", "{}");
    dw_pod(&f->w, "y", "w0", "{}");
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    make(f, "w0", NULL);
    assert_string_equal(pod_of(f, "a")->to, "w1");
    assert_verdict(f, "x", PLAN_HOMELESS);
    assert_verdict(f, "y", PLAN_UNSURE);
    assert_code(f, "y", BLOCKER_PDB_NO_BUDGET);
    assert_says(f, "y",
                "the replacement of x fits nowhere when others that leave at the same time "
                "are quicker: who gets the last places is chance");
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_UNSURE);
    assert_null(node_of(f, "w0")->blocker.message);
}

/* With that place one more would go, and the last would not. */
static void luck_that_is_not_enough_is_none_for_the_node(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 1);
    dw_pod(&f->w, "a", "w0", RIVAL);
    pods(f, "x", 3, "w0", "{}");
    dw_budget(&f->w, "web", 1, 3, 2, 3);
    make(f, "w0", NULL);
    assert_verdict(f, "x0", PLAN_HOMELESS);
    assert_verdict(f, "x1", PLAN_UNSURE);
    assert_verdict(f, "x2", PLAN_NEVER);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_NEVER);
}

/* Siblings do not take anything from each other that the budget would have; and who went long
 * before has its place for sure. */
static void a_place_that_is_taken_for_sure_is_no_chance(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 1);
    pods(f, "x", 3, "w0", "{}");
    dw_budget(&f->w, "web", 1, 3, 2, 3);
    make(f, "w0", NULL);
    assert_verdict(f, "x1", PLAN_HOMELESS);
    assert_verdict(f, "x2", PLAN_NEVER);
    assert_null(node_of(f, "w0")->blocker.message);

    node(f, "w2", 110);
    dw_edit_node(&f->w, "w2", "{'spec':{'unschedulable':true}}");
    dw_pod(&f->w, "a", "w2", RIVAL);
    f->times.stop = SEC(60);
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.in_order = true;
    make(f, "w2", "w0", NULL); /* a is placed a minute before the first of w0 goes */
    assert_string_equal(pod_of(f, "a")->to, "w1");
    assert_verdict(f, "x0", PLAN_HOMELESS);
    assert_verdict(f, "x1", PLAN_NEVER);
}

/* The same the other way round: it drains, if the one whose budget others wait for is first. */
static void a_node_that_is_drained_by_chance_says_so(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 1);
    dw_pod(&f->w, "x", "w0", "{}");
    dw_pod(&f->w, "y", "w0", "{}");
    dw_pod(&f->w, "z", "w0", RIVAL);
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    make(f, "w0", NULL);
    const struct plan_node *n = node_of(f, "w0");
    assert_verdict(f, "y", PLAN_HOMELESS);
    assert_verdict(f, "z", PLAN_HOMELESS);
    assert_int_equal(n->verdict, PLAN_HOMELESS);
    assert_int_equal(n->blocker.code, BLOCKER_PDB_NO_BUDGET);
    assert_string_equal(n->blocker.object, "default/web");
    assert_string_equal(n->blocker.message,
                        "whether the node is drained is chance: the replacement of z may get the "
                        "place of that of x, which then keeps what it took of the budget");
    node(f, "w1", 2); /* x and z fit */
    make(f, "w0", NULL);
    assert_null(node_of(f, "w0")->blocker.message);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(a_timeout_that_is_too_short_is_told),
        PLAN_TEST(a_local_volume_is_told_first),
        PLAN_TEST(a_budget_that_runs_dry_says_what_helps),
        PLAN_TEST(a_successor_without_a_place_is_told_of_its_pod),
        PLAN_TEST(nodes_are_told_as_they_begin),
        PLAN_TEST(a_node_that_a_successor_keeps_says_so),
        PLAN_TEST(an_empty_node_whose_turn_does_not_come_says_so),
        PLAN_TEST(a_place_that_is_lost_by_chance_is_not_lost_for_ever),
        PLAN_TEST(luck_that_is_not_enough_is_none_for_the_node),
        PLAN_TEST(a_place_that_is_taken_for_sure_is_no_chance),
        PLAN_TEST(a_node_that_is_drained_by_chance_says_so),
    };
    return cmocka_run_group_tests_name("engine/plan_tell", tests, NULL, NULL);
}
