/* Tests of src/engine/check_etcd.c. etcd's rule: n/2+1 of n voting members, learners do not vote.
 */
#include "support/checks.h"

/* --- the control plane --- */

static void etcd(struct site *s, const char *node, const char *status) {
    site_addf(
        s, SOURCE_ETCD_PODS,
        "{'metadata':{'name':'etcd-%s','namespace':'kube-system','labels':{'component':'etcd',"
        "'tier':'control-plane'},'annotations':{'kubernetes.io/config.mirror':'x'}},'spec':{"
        "'nodeName':'%s'},%s}",
        node, node, status);
}

static void the_control_plane_keeps_its_majority(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "etcd");
    etcd(&s, "w1", READY);
    etcd(&s, "w2", READY);
    etcd(&s, "w3", READY);
    site_expect(&s, "w1", NULL, NULL,
                "pass CO - w1: control-plane etcd: 2 of 3 members stay healthy, 2 are needed\n");
    site_expect(&s, "w4", NULL, NULL, "");
    site_expect(&s, "w1 w2", NULL, NULL,
                "wait CO QuorumAtRisk w1: control-plane etcd has 3 members, 3 healthy; 1 would be "
                "left, 2 are needed; at the same time: w1, w2\n"
                "wait CO QuorumAtRisk w2: control-plane etcd has 3 members, 3 healthy; 1 would be "
                "left, 2 are needed; at the same time: w1, w2\n");
    assert_string_equal(s.result.list[0].hint,
                        "take one node at a time, and let each come back before the next");
    /* Whoever is out is named: he is the one to wait for. */
    site_expect(&s, "w1", "w3", NULL,
                "wait CO QuorumAtRisk w1: control-plane etcd has 3 members, 3 healthy; 1 would be "
                "left, 2 are needed; out of service: w3\n");
    assert_string_equal(s.result.list[0].hint,
                        "wait until w3 is back in service (slipway uncordon, when that is done)");
    site_done(&s);
    site_init(&s, "etcd");
    etcd(&s, "w1", READY);
    etcd(&s, "w2", UNREADY);
    etcd(&s, "w3", READY);
    site_expect(
        &s, "w1", NULL, NULL,
        "wait CO QuorumAtRisk w1: control-plane etcd has 3 members, 2 healthy (not healthy: "
        "etcd-w2); 1 would be left, 2 are needed\n");
    assert_string_equal(s.result.list[0].hint,
                        "bring the members that are not healthy back: etcd-w2");
    /* The sick one may go: nothing is lost by it. */
    site_run(&s, "w2", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w2", CHECK_CORDON), CHECK_PASS);
    site_done(&s);
}

/* Five members bear the loss of two, four that of one. */
static void larger_control_planes(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "etcd");
    for (int i = 1; i <= 4; i++) {
        char name[8] = {'w', (char)('0' + i), 0};
        etcd(&s, name, READY);
    }
    site_run(&s, "w1 w2", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_WAIT);
    etcd(&s, "w5", READY);
    site_run(&s, "w1 w2", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_PASS);
    site_run(&s, "w1 w2 w3", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_WAIT);
    site_done(&s);
}

/* A drain leaves static pods alone: the only control-plane node may be drained, not rebooted. */
static void the_only_member_gates_the_operation(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "etcd");
    etcd(&s, "w1", READY);
    site_expect(&s, "w1", NULL, NULL,
                "deny O QuorumAtRisk w1: control-plane etcd has 1 member, 1 healthy; 0 would be "
                "left, 1 is needed\n");
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_PASS);
    assert_string_equal(s.result.list[0].hint,
                        "there is no majority without this node: add members on other nodes");
    etcd(&s, "w2", READY); /* of two, none can be missed */
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_OPERATION), CHECK_DENY);
    site_done(&s);
}

/* Managed control planes show no etcd. Pods of that label elsewhere are somebody's own. */
static void no_etcd_here(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "etcd");
    site_expect(&s, "w1", NULL, NULL, "");
    assert_int_equal(s.result.states[check_find("etcd") - checks_table].presence,
                     CHECK_NOT_INSTALLED);
    site_add(&s, SOURCE_ETCD_PODS,
             "{'metadata':{'name':'mine','namespace':'x','labels':{'component':'etcd'}},'spec':{"
             "'nodeName':'w1'}," READY "}");
    site_expect(&s, "w1", NULL, NULL, "");
    site_done(&s);
}

static void after_the_return_the_member_is_ready_first(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "etcd");
    etcd(&s, "w1", UNREADY);
    etcd(&s, "w2", READY);
    etcd(&s, "w3", READY);
    site_expect(&s, "w4", NULL, "w1 w2",
                "wait R QuorumAtRisk w1: control-plane etcd: member etcd-w1 on the node is not "
                "healthy yet\n"
                "pass R - w2: control-plane etcd: member etcd-w2 is healthy\n");
    site_done(&s);
}

/* --- etcd-operator --- */

static void member_pod(struct site *s, const char *name, const char *node, const char *status) {
    site_addf(s, SOURCE_ETCD_CLUSTER_PODS,
              "{'metadata':{'name':'%s','namespace':'x','labels':{'app':'e','controller':'e'}},"
              "'spec':{'nodeName':'%s'},%s}",
              name, node, status);
}

static void pods(struct site *s) {
    member_pod(s, "e-0", "w1", READY);
    member_pod(s, "e-1", "w2", READY);
    member_pod(s, "e-2", "w3", READY);
}

static void cluster(struct site *s, int size, const char *status) {
    site_addf(s, SOURCE_ETCD_CLUSTERS,
              "{'metadata':{'name':'e','namespace':'x'},'spec':{'size':%d},'status':{%s}}", size,
              status);
}

#define PEER(name) "{'name':'" name "','id':'a','isHealthy':true}"

static void by_status(void **state) {
    (void)state;
    static const struct {
        const char *members, *want;
    } cases[] = {
        {PEER("e-0") "," PEER("e-1") "," PEER("e-2"),
         "pass CO - w1: etcd cluster x/e: 2 of 3 members stay healthy, 2 are needed\n"},
        {PEER("e-0") "," PEER("e-1") ",{'name':'e-2','id':'a','isHealthy':false}",
         "wait CO QuorumAtRisk w1 e: etcd cluster x/e has 3 members, 2 healthy (not healthy: e-2); "
         "1 would be left, 2 are needed\n"},
        {PEER("e-0") "," PEER("e-1") ",{'name':'e-2','id':'a','isHealthy':true,'isLearner':true}",
         "wait C QuorumAtRisk w1 e: etcd cluster x/e: learners that wait to be promoted: e-2\n"
         "wait CO QuorumAtRisk w1 e: etcd cluster x/e has 2 members, 2 healthy; 1 would be left, 2 "
         "are needed\n"},
        /* A member that never started has no name and no pod. */
        {PEER("e-0") "," PEER("e-1") ",{'id':'a','isHealthy':true}",
         "wait CO QuorumAtRisk w1 e: etcd cluster x/e has 3 members, 2 healthy (not healthy: "
         "without a name); 1 would be left, 2 are needed\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct site s;
        site_init(&s, "etcd-operator");
        pods(&s);
        _cleanup_free_ char *status = xasprintf("'members':[%s]", cases[i].members);
        cluster(&s, 3, status);
        site_expect(&s, "w1", NULL, NULL, cases[i].want);
        site_done(&s);
    }
}

/* What the operator says is not enough: a member whose pod is not Ready is not there. */
static void pods_count_too(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "etcd-operator");
    member_pod(&s, "e-0", "w1", READY);
    member_pod(&s, "e-1", "w2", UNREADY);
    cluster(&s, 3, "'members':[" PEER("e-0") "," PEER("e-1") "," PEER("e-2") "]");
    site_run(&s, "w1", NULL, NULL);
    assert_non_null(strstr(site_text(&s), "1 healthy (not healthy: e-1, e-2); 0 would be left"));
    site_done(&s);
}

static void by_pods(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "etcd-operator");
    pods(&s);
    cluster(&s, 3, "");
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_PASS);
    site_run(&s, "w1 w2", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_WAIT);
    site_done(&s);
    /* One that is missing counts as a member. */
    site_init(&s, "etcd-operator");
    member_pod(&s, "e-0", "w1", READY);
    member_pod(&s, "e-1", "w2", READY);
    cluster(&s, 3, "");
    site_expect(&s, "w1", NULL, NULL,
                "wait C QuorumAtRisk w1 e: etcd cluster x/e has 2 of 3 members\n"
                "wait CO QuorumAtRisk w1 e: etcd cluster x/e has 3 members, 2 healthy; 1 would be "
                "left, 2 are needed\n");
    site_done(&s);
    /* Hostile numbers. */
    site_init(&s, "etcd-operator");
    pods(&s);
    cluster(&s, INT32_MAX, "");
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_WAIT);
    site_done(&s);
    for (int size = -1; size <= 0; size++) {
        site_init(&s, "etcd-operator");
        pods(&s);
        cluster(&s, size, "");
        site_expect(&s, "w1", NULL, NULL,
                    "wait CO CheckUnknown w1 e: etcd cluster x/e says neither how many members it "
                    "wants (spec.size) nor which it has (status.members)\n");
        site_done(&s);
    }
}

static void member(struct site *s, const char *name, const char *status) {
    site_addf(s, SOURCE_ETCD_MEMBERS,
              "{'metadata':{'name':'%s','namespace':'x'},'spec':{'clusterName':'e'},'status':{%s}}",
              name, status);
}

static void by_members(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "etcd-operator");
    pods(&s);
    cluster(&s, 3, "");
    member(&s, "e-0", "'phase':'Ready','isHealthy':true");
    member(&s, "e-1", "'phase':'Ready','isHealthy':true");
    member(&s, "e-2", "'phase':'Replacing','isHealthy':true");
    site_expect(
        &s, "w1", NULL, NULL,
        "wait C QuorumAtRisk w1 e: etcd cluster x/e: members that are not settled: e-2 "
        "(Replacing)\n"
        "wait CO QuorumAtRisk w1 e: etcd cluster x/e has 3 members, 2 healthy (not healthy: "
        "e-2); 1 would be left, 2 are needed\n");
    site_done(&s);
    site_init(&s, "etcd-operator");
    pods(&s);
    cluster(&s, 3, "");
    member(&s, "e-0", "'phase':'Ready','isHealthy':true");
    member(&s, "e-1", "'phase':'Ready','isHealthy':true");
    member(&s, "e-2", "'phase':'Ready','isHealthy':true");
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_PASS);
    /* A release without EtcdMembers is not a reason to wait. */
    s.world.inputs[SOURCE_ETCD_MEMBERS] = (struct check_input){0};
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_PASS);
    site_done(&s);
    site_init(&s, "etcd-operator");
    pods(&s);
    cluster(&s, 3, "");
    member(&s, "e-0", "");
    site_run(&s, "w1", NULL, NULL);
    assert_non_null(strstr(site_text(&s), "not settled: e-0 (no phase)"));
    site_done(&s);
}

/* With a member left out the others are no majority of two, although they are one of three. */
static void a_member_that_cannot_be_read_denies_nothing(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "etcd-operator");
    pods(&s);
    site_add(&s, SOURCE_ETCD_CLUSTERS, "{'metadata':{'name':'e','namespace':'x'}}");
    member(&s, "e-0", "'phase':'Ready','isHealthy':true");
    member(&s, "e-1", "'phase':'Ready','isHealthy':true");
    site_add_odd(&s, SOURCE_ETCD_MEMBERS,
                 "{'metadata':{'name':'e-2','namespace':'x'},'spec':{'clusterName':'e'},'status':{"
                 "'isHealthy':'yes'}}");
    site_expect(&s, "w1", NULL, NULL,
                "wait CO QuorumAtRisk w1 e: etcd cluster x/e has 2 members, 2 healthy; 1 would be "
                "left, 2 are needed\n"
                "wait CO CheckUnknown w1 e-2: cannot read EtcdMember x/e-2: status.isHealthy: "
                "expected true or false, found a string\n");
    site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_control_plane_keeps_its_majority),
        cmocka_unit_test(larger_control_planes),
        cmocka_unit_test(the_only_member_gates_the_operation),
        cmocka_unit_test(no_etcd_here),
        cmocka_unit_test(after_the_return_the_member_is_ready_first),
        cmocka_unit_test(by_status),
        cmocka_unit_test(pods_count_too),
        cmocka_unit_test(by_pods),
        cmocka_unit_test(by_members),
        cmocka_unit_test(a_member_that_cannot_be_read_denies_nothing),
    };
    return cmocka_run_group_tests_name("engine/check_etcd", tests, NULL, NULL);
}
