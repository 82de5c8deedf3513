/* Tests of src/engine/keeper_late.c: pods that come to a node after it was drained. */
#include "engine/keeper.h"

#include "engine/stop.h"
#include "support/keeper_world.h"
#include "support/make.h"

/* It is drained; whoever asked for it has not asked again. */
static void drain_it(struct kw *w) {
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    w->lazy_pods = true;
    kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    kw_delete(w, &kind_pod, "default", "p1");
    kw_pass(w, SEC(10));
    assert_slots(w, "w1 drained");
    w->lazy_pods = false;
}

/* The watch of one that leads brings it: nobody need ask. */
static void a_pod_that_comes_sends_it_back(void **state) {
    struct kw *w = *state;
    drain_it(w);
    w->lazy_pods = true;
    kw_pod(w, "w1");
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 taken");
    assert_non_null(strstr(str_get(&w->told), "warning DrainedAgain w1: is drained again"));
    const struct kw_reply *r = kw_answer(w, 1, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_DRAINING);
    kw_delete(w, &kind_pod, "default", "p3");
    kw_pass(w, SEC(10));
    assert_slots(w, "w1 drained");
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
}

/* That it is drained cannot be written for a while, and a pod comes meanwhile. */
static void a_pod_that_comes_before_it_is_written(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    w->lazy_pods = true;
    kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 taken");
    w->fault.verb = ACTION_PATCH;
    w->fault.kind = &kind_config_map;
    w->fault.outcome = KUBE_SERVER_ERROR;
    w->fault.times = 1;
    kw_delete(w, &kind_pod, "default", "p1");
    for (unsigned i = 0; i < 1000 && w->fault.times; i++)
        kw_pass(w, MSEC(1));
    assert_int_equal(w->fault.times, 0);
    kw_pod(w, "w1");
    kw_pass(w, SEC(40));
    assert_slots(w, "w1 taken");
    assert_null(strstr(str_get(&w->told), "DrainedAgain")); /* it was never said to be */
    assert_non_null(strstr(str_get(&w->wanted), "evict pods p3\n"));
    kw_delete(w, &kind_pod, "default", "p3");
    kw_pass(w, SEC(10));
    assert_slots(w, "w1 drained");
}

/* The watch is late, and tells of a pod that is gone: it is looked for first. */
static void a_pod_that_only_seems_to_come(void **state) {
    struct kw *w = *state;
    drain_it(w);
    kw_pod(w, "w1");
    while (kw_show_one(&w->r[0], KW_PODS))
        ;
    w->r[0].late[KW_PODS] = true;
    kw_delete(w, &kind_pod, "default", "p3");
    kw_pass(w, SEC(60));
    assert_slots(w, "w1 drained");
    assert_null(strstr(str_get(&w->told), "DrainedAgain"));
}

/* The watches are late: whoever answers lists the pods, leader or not. */
static void whoever_answers_lists_the_pods(void **state) {
    struct kw *w = *state;
    drain_it(w);
    w->lazy_pods = true;
    w->r[0].late[KW_PODS] = w->r[1].late[KW_PODS] = true;
    for (unsigned i = 0; i < 2; i++) {
        kw_pod(w, "w1");
        const struct kw_reply *r = kw_answer(w, 1 - i, "w1", KEEPER_MAY_GO);
        assert_int_equal(r->say, KEEPER_DRAINING);
        assert_null(strstr(kw_slots(w), "granted"));
    }
}

static void a_list_that_fails_is_no_grant(void **state) {
    struct kw *w = *state;
    drain_it(w);
    w->fault.verb = ACTION_CONFIRM;
    w->fault.kind = &kind_pod;
    w->fault.outcome = KUBE_SERVER_ERROR;
    w->fault.times = 1;
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_TROUBLE);
    assert_slots(w, "w1 drained");
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
    w->fault.times = 1;
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_TROUBLE); /* the repeated one */
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
}

/* It was told, and has not gone: it is told no more, what has come is evicted, and then it is. */
static void the_repeated_answer_looks_too(void **state) {
    struct kw *w = *state;
    drain_it(w);
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
    w->lazy_pods = true;
    kw_pod(w, "w1");
    for (unsigned i = 0; i < 2; i++) {
        const struct kw_reply *r = kw_answer(w, i, "w1", KEEPER_MAY_GO);
        assert_int_equal(r->say, KEEPER_DRAINING);
        assert_string_equal(
            r->text,
            "pod default/p3 has come to the node since it was drained, and has to go first");
    }
    assert_slots(w, "w1 granted");
    assert_non_null(strstr(str_get(&w->wanted), "evict pods p3\n"));
    kw_delete(w, &kind_pod, "default", "p3");
    kw_pass(w, SEC(5));
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_pod(w, "w1"); /* once more */
    kw_pass(w, SEC(5));
    assert_non_null(strstr(str_get(&w->wanted), "evict pods p4\n"));
    kw_delete(w, &kind_pod, "default", "p4");
    kw_reboot(w, "w1", 2);
    kw_pod(w, "w1"); /* in the next boot it is none of ours */
    kw_pass(w, SEC(60));
    assert_slots(w, "");
    assert_null(strstr(str_get(&w->wanted), "evict pods p5\n"));
}

/* Nothing is evicted while everything is paused. */
static void not_while_all_is_paused(void **state) {
    struct kw *w = *state;
    drain_it(w);
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_put(w, &kind_config_map,
           "{'metadata':{'namespace':'" KW_NS "','name':'" STOP_MAP "','labels':{'" SLOTS_LABEL
           "':'stop'}}}");
    kw_settle(w);
    kw_pod(w, "w1");
    kw_pass(w, SEC(60));
    assert_null(strstr(str_get(&w->wanted), "evict pods p3\n"));
}

/* Pods that a drain leaves alone do not count, nor those that have ended. */
static void what_stays_does_not_count(void **state) {
    struct kw *w = *state;
    drain_it(w);
    kw_put(w, &kind_pod,
           "{'metadata':{'namespace':'default','name':'d1','uid':'uid-d1','ownerReferences':["
           "{'apiVersion':'apps/v1','kind':'DaemonSet','name':'net','uid':'ds','controller':true}]}"
           ",'spec':{'nodeName':'w1'},'status':{'phase':'Running'}}");
    kw_put(w, &kind_pod,
           "{'metadata':{'namespace':'default','name':'m1','uid':'uid-m1','annotations':"
           "{'kubernetes.io/config.mirror':'x'}},'spec':{'nodeName':'w1'},'status':{'phase':"
           "'Running'}}");
    kw_put(w, &kind_pod,
           "{'metadata':{'namespace':'default','name':'e1','uid':'uid-e1'},'spec':{'nodeName':"
           "'w1'},'status':{'phase':'Succeeded'}}");
    kw_put(w, &kind_pod,
           "{'metadata':{'namespace':'default','name':'s1','uid':'uid-s1','labels':"
           "{'cluster.x-k8s.io/drain':'skip'}},'spec':{'nodeName':'w1'},'status':{'phase':"
           "'Running'}}");
    kw_pass(w, SEC(10));
    assert_slots(w, "w1 drained");
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
}

/* A Maintenance whose operation somebody else carries out: the grant is written by the leader. */
static void a_maintenance_is_not_granted_either(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    w->lazy_pods = true;
    kw_put(w, &kind_maintenance,
           "{'metadata':{'name':'m1','uid':'uid-m1','generation':1},'spec':{'node':'w1',"
           "'operation':'Drain','policy':'default'}}");
    kw_pass(w, SEC(10));
    w->r[0].late[KW_PODS] = true; /* a pod comes that the watch does not tell of */
    kw_delete(w, &kind_pod, "default", "p1");
    while (kw_show_one(&w->r[0], KW_PODS))
        ;
    for (unsigned i = 0; i < 1000 && !strstr(kw_slots(w), "drained"); i++)
        if (!kw_round(&w->r[0]))
            kw_set_time(w, w->now.mono + MSEC(10));
    assert_slots(w, "w1 drained");
    kw_pod(w, "w1");
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 taken");
    kw_delete(w, &kind_pod, "default", "p2");
    w->r[0].late[KW_PODS] = false;
    kw_pass(w, SEC(20));
    assert_slots(w, "w1 granted");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        KEEPER_TEST(a_pod_that_comes_sends_it_back),
        KEEPER_TEST(a_pod_that_comes_before_it_is_written),
        KEEPER_TEST(a_pod_that_only_seems_to_come),
        KEEPER_TEST(whoever_answers_lists_the_pods),
        KEEPER_TEST(a_list_that_fails_is_no_grant),
        KEEPER_TEST(the_repeated_answer_looks_too),
        KEEPER_TEST(not_while_all_is_paused),
        KEEPER_TEST(what_stays_does_not_count),
        KEEPER_TEST(a_maintenance_is_not_granted_either),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
