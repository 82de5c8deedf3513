/* Tests of src/engine/check_stateful.c: when it speaks, and above all when it does not. */
#include "support/checks.h"

static void set(struct site *s, int replicas, const char *meta) {
    site_addf(s, SOURCE_STATEFUL_SETS,
              "{'metadata':{'name':'zk','namespace':'x','uid':'u'%s},'spec':{'replicas':%d}}", meta,
              replicas);
}

static void pod(struct site *s, const char *name, const char *node, const char *status) {
    site_addf(s, SOURCE_STATEFUL_PODS,
              "{'metadata':{'name':'%s','namespace':'x','labels':{'app':'zk',"
              "'statefulset.kubernetes.io/pod-name':'%s'},'ownerReferences':[{'kind':'StatefulSet',"
              "'name':'zk','uid':'u','controller':true}]},'spec':{'nodeName':'%s'},%s}",
              name, name, node, status);
}

static void three(struct site *s) {
    site_init(s, "statefulset");
    pod(s, "zk-0", "w1", READY);
    pod(s, "zk-1", "w1", READY);
    pod(s, "zk-2", "w2", READY);
}

static void a_lost_majority_is_remarked_and_nothing_more(void **state) {
    (void)state;
    struct site s;
    three(&s);
    set(&s, 3, "");
    site_expect(&s, "w1", NULL, NULL,
                "pass C QuorumAtRisk w1 zk: StatefulSet x/zk has no PodDisruptionBudget: 1 of 3 "
                "pods would stay, less than a majority\n");
    site_expect(&s, "w2", NULL, NULL, "");
    site_run(&s, "w1 w2", NULL, NULL);
    assert_int_equal(s.result.n, 2);
    assert_int_equal(check_worst(&s.result, NULL, CHECK_CORDON), CHECK_PASS);
    s.req.alone = true; /* w2 alone takes no majority away */
    site_run(&s, "w1 w2", NULL, NULL);
    assert_int_equal(s.result.n, 1);
    assert_string_equal(s.result.list[0].node, "w1");
    site_done(&s);
}

static void it_does_not_speak_otherwise(void **state) {
    (void)state;
    struct site s;
    /* Guarded by a budget. */
    three(&s);
    set(&s, 3, "");
    site_add(&s, SOURCE_BUDGETS,
             "{'metadata':{'name':'b','namespace':'x'},'spec':{'selector':{'matchLabels':{'app':"
             "'zk'}}}}");
    site_expect(&s, "w1", NULL, NULL, "");
    site_done(&s);
    /* A budget of another namespace guards nothing here. */
    three(&s);
    set(&s, 3, "");
    site_add(&s, SOURCE_BUDGETS,
             "{'metadata':{'name':'b','namespace':'y'},'spec':{'selector':{'matchLabels':{'app':"
             "'zk'}}}}");
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(s.result.n, 1);
    site_done(&s);
    /* Two replicas have no majority; an operator knows better. */
    three(&s);
    set(&s, 2, "");
    site_expect(&s, "w1", NULL, NULL, "");
    site_done(&s);
    three(&s);
    set(&s, 3, ",'ownerReferences':[{'kind':'Kafka','name':'k','uid':'v','controller':true}]");
    site_expect(&s, "w1", NULL, NULL, "");
    site_done(&s);
    /* It has no majority to lose. */
    site_init(&s, "statefulset");
    set(&s, 3, "");
    pod(&s, "zk-0", "w1", READY);
    pod(&s, "zk-1", "w2", UNREADY);
    pod(&s, "zk-2", "w3", UNREADY);
    site_expect(&s, "w1", NULL, NULL, "");
    site_done(&s);
    /* Nobody can tell whether it is guarded. */
    three(&s);
    set(&s, 3, "");
    s.world.inputs[SOURCE_BUDGETS] = (struct check_input){READ_FAILED, "forbidden", NULL};
    site_expect(&s, "w1", NULL, NULL, "");
    site_done(&s);
    /* The kinds cannot be read: a remark is not worth a wait. */
    three(&s);
    set(&s, 3, "");
    s.world.inputs[SOURCE_STATEFUL_SETS] = (struct check_input){READ_FAILED, "forbidden", NULL};
    site_expect(&s, "w1", NULL, NULL, "");
    site_done(&s);
    /* Pods of a StatefulSet of the same name that was deleted and made anew. */
    site_init(&s, "statefulset");
    site_add(&s, SOURCE_STATEFUL_SETS,
             "{'metadata':{'name':'zk','namespace':'x','uid':'other'},'spec':{'replicas':3}}");
    pod(&s, "zk-0", "w1", READY);
    pod(&s, "zk-1", "w1", READY);
    site_expect(&s, "w1", NULL, NULL, "");
    site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_majority_is_remarked_and_nothing_more),
        cmocka_unit_test(it_does_not_speak_otherwise),
    };
    return cmocka_run_group_tests_name("engine/check_stateful", tests, NULL, NULL);
}
