/* Tests of src/engine/check_postgres.c. Objects have the shapes of postgresql.cnpg.io/v1 and
 * acid.zalan.do/v1. */
#include "support/checks.h"

/* --- CloudNativePG --- */

static void cluster(struct site *s, int instances, int ready, const char *primary,
                    const char *target, const char *phase) {
    site_addf(s, SOURCE_CNPG_CLUSTERS,
              "{'metadata':{'name':'db','namespace':'x'},'spec':{'instances':%d},'status':{"
              "'readyInstances':%d,'currentPrimary':'%s','targetPrimary':'%s','phase':'%s'}}",
              instances, ready, primary, target, phase);
}

#define HEALTHY "Cluster in healthy state"

static void instance(struct site *s, const char *name, const char *node, const char *more,
                     const char *status) {
    site_addf(s, SOURCE_CNPG_PODS,
              "{'metadata':{'name':'%s','namespace':'x','labels':{'cnpg.io/cluster':'db'%s}},"
              "'spec':{'nodeName':'%s'},%s}",
              name, more, node, status);
}

static void three(struct site *s) {
    site_init(s, "cnpg");
    instance(s, "db-1", "w1", "", READY);
    instance(s, "db-2", "w2", "", READY);
    instance(s, "db-3", "w3", "", READY);
}

static void replicas_go_and_primaries_move(void **state) {
    (void)state;
    struct site s;
    three(&s);
    cluster(&s, 3, 3, "db-1", "db-1", HEALTHY);
    site_expect(&s, "w2", NULL, NULL,
                "pass CO - w2: PostgreSQL cluster x/db: 2 of 3 instances are ready on nodes that "
                "stay\n");
    site_expect(
        &s, "w1", NULL, NULL,
        "wait O PrimaryOnNode w1 db: the primary of PostgreSQL cluster x/db, pod db-1, runs "
        "here; 2 ready instances are elsewhere\n");
    assert_string_equal(s.result.list[0].ends, "status.currentPrimary is a pod on another node");
    /* It must be cordoned for the operator to move the primary. */
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_PASS);
    site_expect(&s, "w5", NULL, NULL, "");
    site_done(&s);
}

static void what_cannot_be_read_is_named_and_the_rest_is_judged(void **state) {
    (void)state;
    struct site s;
    three(&s);
    cluster(&s, 1, 1, "db-1", "db-1", HEALTHY);
    site_add_odd(&s, SOURCE_CNPG_CLUSTERS,
                 "{'metadata':{'name':'odd','namespace':'y'},'spec':{'instances':3},'status':{"
                 "'readyInstances':'3'}}");
    site_run(&s, "w1 w4", NULL, NULL);
    const char *text = site_text(&s);
    assert_non_null(strstr(text, " w1 db: PostgreSQL cluster x/db"));
    assert_non_null(strstr(text, "wait CO CheckUnknown w1 odd: cannot read Cluster y/odd: "
                                 "status.readyInstances: expected a number, found a string\n"));
    assert_non_null(strstr(text, "wait CO CheckUnknown w4 odd: "));
    assert_null(strstr(text, "pass"));
    site_done(&s);
}

static void somebody_must_be_left(void **state) {
    (void)state;
    struct site s;
    three(&s);
    cluster(&s, 3, 3, "db-1", "db-1", HEALTHY);
    site_run(&s, "w1 w2", NULL, NULL);
    assert_int_equal(check_worst(&s.result, NULL, CHECK_CORDON), CHECK_PASS);
    site_expect(&s, "w1", "w2 w3", NULL,
                "wait CO LastReplica w1 db: PostgreSQL cluster x/db has 3 of 3 instances ready, "
                "none of them on a node that stays in service\n");
    s.req.alone = true;
    site_run(&s, "w1 w2 w3", NULL, NULL);
    assert_int_equal(check_worst(&s.result, NULL, CHECK_CORDON), CHECK_PASS);
    site_done(&s);
}

static void an_unfinished_cluster_gates_the_cordon(void **state) {
    (void)state;
    static const struct {
        int ready;
        const char *primary, *target, *phase, *want;
    } cases[] = {
        {2, "db-1", "db-1", "Creating a new replica",
         "wait C StorageNotOkToStop w2 db: PostgreSQL cluster x/db has 2 of 3 instances ready "
         "(Creating a new replica)\n"},
        {3, "db-1", "db-3", "Switchover in progress",
         "wait C StorageNotOkToStop w2 db: PostgreSQL cluster x/db is switching its primary from "
         "db-1 to db-3\n"},
        {3, "db-1", "db-1", "Upgrading cluster",
         "wait C StorageNotOkToStop w2 db: PostgreSQL cluster x/db: Upgrading cluster\n"},
        {3, "db-1", "db-1", "",
         "wait C CheckUnknown w2 db: PostgreSQL cluster x/db says nothing about its state "
         "(status.phase)\n"},
        {3, "db-9", "db-9", HEALTHY,
         "wait CO CheckUnknown w2 db: nobody can tell which pod is the primary of PostgreSQL "
         "cluster x/db (status.currentPrimary)\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct site s;
        three(&s);
        cluster(&s, 3, cases[i].ready, cases[i].primary, cases[i].target, cases[i].phase);
        site_expect(&s, "w2", NULL, NULL, cases[i].want);
        site_done(&s);
    }
}

/* ... unless the operator is at work: where a primary fails over, an instance that is about to take
 * its place must not go. */
static void what_the_operator_does_is_waited_for(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "cnpg");
    instance(&s, "db-1", "w1", "", READY);
    instance(&s, "db-2", "w2", "", UNREADY);
    cluster(&s, 2, 1, "db-1", "db-1", "Failing over");
    site_expect(&s, "w2", NULL, NULL,
                "wait C StorageNotOkToStop w2 db: PostgreSQL cluster x/db has 1 of 2 instances "
                "ready (Failing over)\n");
    site_done(&s);
}

/* Somebody goes to mend the node whose instance is not ready: that must not wait for it. */
static void the_node_with_the_broken_instance_may_go(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "cnpg");
    instance(&s, "db-1", "w1", "", READY);
    instance(&s, "db-2", "w2", "", UNREADY);
    cluster(&s, 2, 1, "db-1", "db-1", "Waiting for the instances to become active");
    site_expect(&s, "w2", NULL, NULL,
                "pass CO - w2: PostgreSQL cluster x/db: 1 of 2 instances are ready on nodes that "
                "stay\n"
                "pass C StorageNotOkToStop w2 db: PostgreSQL cluster x/db has 1 of 2 instances "
                "ready (Waiting for the instances to become active); those that are not ready are "
                "on this node\n");
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_WAIT);
    site_done(&s);
    /* One that is not even there, or is moving, is not of this node. */
    site_init(&s, "cnpg");
    instance(&s, "db-1", "w1", "", READY);
    instance(&s, "db-2", "w2", "", UNREADY);
    cluster(&s, 3, 1, "db-1", "db-1", "Creating a new replica");
    site_run(&s, "w2", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w2", CHECK_CORDON), CHECK_WAIT);
    site_done(&s);
    site_init(&s, "cnpg");
    instance(&s, "db-1", "w1", "", READY);
    instance(&s, "db-2", "w2", "", UNREADY);
    cluster(&s, 2, 1, "db-1", "db-2", "Switchover in progress");
    site_run(&s, "w2", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w2", CHECK_CORDON), CHECK_WAIT);
    site_done(&s);
}

/* The operator leaves zeros out: nothing ready is not the same as nothing known, but no better. */
static void half_filled_clusters_wait(void **state) {
    (void)state;
    struct site s;
    three(&s);
    site_add(&s, SOURCE_CNPG_CLUSTERS,
             "{'metadata':{'name':'db','namespace':'x'},'spec':{'instances':3},'status':{"
             "'currentPrimary':'db-1','targetPrimary':'db-1','phase':'" HEALTHY "'}}");
    site_run(&s, "w2", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w2", CHECK_CORDON), CHECK_WAIT);
    site_done(&s);
    three(&s);
    site_add(&s, SOURCE_CNPG_CLUSTERS, "{'metadata':{'name':'db','namespace':'x'}}");
    site_expect(&s, "w2", NULL, NULL,
                "wait CO CheckUnknown w2 db: PostgreSQL cluster x/db does not say how many "
                "instances it wants (spec.instances)\n");
    site_done(&s);
}

static void a_single_instance_is_denied_without_a_window(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "cnpg");
    instance(&s, "db-1", "w1", "", READY);
    cluster(&s, 1, 1, "db-1", "db-1", HEALTHY);
    site_expect(
        &s, "w1", NULL, NULL,
        "deny CO LastReplica w1 db: PostgreSQL cluster x/db has one instance, which runs on "
        "this node: it can go nowhere\n");
    site_done(&s);
    site_init(&s, "cnpg");
    instance(&s, "db-1", "w1", "", READY);
    site_add(&s, SOURCE_CNPG_CLUSTERS,
             "{'metadata':{'name':'db','namespace':'x'},'spec':{'instances':1,"
             "'nodeMaintenanceWindow':{'inProgress':true}}}");
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_PASS);
    site_done(&s);
}

/* Poolers and jobs are labelled with the cluster as well; so are clusters of the same name in other
 * namespaces. */
static void only_instances_count(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "cnpg");
    cluster(&s, 2, 2, "db-1", "db-1", HEALTHY);
    instance(&s, "db-1", "w1", "", READY);
    instance(&s, "pool", "w2", ",'cnpg.io/poolerName':'p'", READY);
    instance(&s, "join", "w2", ",'cnpg.io/jobRole':'join'", READY);
    site_add(
        &s, SOURCE_CNPG_PODS,
        "{'metadata':{'name':'db-2','namespace':'y','labels':{'cnpg.io/cluster':'db'}},'spec':{"
        "'nodeName':'w2'}," READY "}");
    site_expect(&s, "w2", NULL, NULL, "");
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_WAIT);
    site_done(&s);
}

static void after_the_return_all_are_ready_first(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "cnpg");
    instance(&s, "db-1", "w1", "", READY);
    instance(&s, "db-2", "", "", "'status':{'phase':'Pending'}");
    cluster(&s, 2, 1, "db-1", "db-1", "Waiting for the instances to become active");
    site_expect(&s, NULL, NULL, "w2",
                "wait R StorageNotOkToStop w2 db: PostgreSQL cluster x/db has 1 of 2 instances "
                "ready (Waiting for the instances to become active)\n");
    site_done(&s);
    three(&s);
    cluster(&s, 3, 3, "db-1", "db-1", HEALTHY);
    site_expect(&s, NULL, NULL, "w2",
                "pass R - w2: PostgreSQL cluster x/db: all instances are ready (3)\n");
    site_done(&s);
}

/* --- Zalando --- */

static void postgresql(struct site *s, int instances, const char *status) {
    site_addf(s, SOURCE_POSTGRESQLS,
              "{'metadata':{'name':'acid-db','namespace':'x'},'spec':{'numberOfInstances':%d},"
              "'status':{'PostgresClusterStatus':'%s'}}",
              instances, status);
}

static void spilo(struct site *s, const char *name, const char *node, const char *role,
                  const char *status) {
    site_addf(s, SOURCE_POSTGRESQL_PODS,
              "{'metadata':{'name':'%s','namespace':'x','labels':{'application':'spilo',"
              "'cluster-name':'acid-db','spilo-role':'%s'}},'spec':{'nodeName':'%s'},%s}",
              name, role, node, status);
}

static void zalandos_master_has_to_move(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "zalando");
    postgresql(&s, 2, "Running");
    spilo(&s, "acid-db-0", "w1", "master", READY);
    spilo(&s, "acid-db-1", "w2", "replica", READY);
    site_expect(&s, "w1", NULL, NULL,
                "wait O PrimaryOnNode w1 acid-db: the primary of PostgreSQL cluster x/acid-db, pod "
                "acid-db-0, runs here; 1 ready instance is elsewhere\n");
    assert_non_null(strstr(s.result.list[0].hint, "node_readiness_label"));
    site_expect(&s, "w2", NULL, NULL,
                "pass CO - w2: PostgreSQL cluster x/acid-db: 1 of 2 instances are ready on nodes "
                "that stay\n");
    site_done(&s);
}

static void zalandos_states(void **state) {
    (void)state;
    static const struct {
        int instances;
        const char *status, *role, *ready, *want;
    } cases[] = {
        {1, "Running", "master", READY,
         "deny CO LastReplica w1 acid-db: PostgreSQL cluster x/acid-db has one instance, which "
         "runs "
         "on this node: it can go nowhere\n"},
        {2, "SyncFailed", "master", READY,
         "wait C StorageNotOkToStop w1 acid-db: PostgreSQL cluster x/acid-db is SyncFailed\n"},
        {2, "", "master", READY,
         "wait C CheckUnknown w1 acid-db: PostgreSQL cluster x/acid-db says nothing about its "
         "state (status.PostgresClusterStatus)\n"},
        {2, "Running", "replica", READY,
         "wait CO CheckUnknown w1 acid-db: nobody can tell which pod is the primary of PostgreSQL "
         "cluster x/acid-db (the pods' label spilo-role)\n"},
        {2, "Running", "master", UNREADY,
         "wait C StorageNotOkToStop w1 acid-db: PostgreSQL cluster x/acid-db has 1 of 2 instances "
         "ready\n"
         "wait CO LastReplica w1 acid-db: PostgreSQL cluster x/acid-db has 1 of 2 instances ready, "
         "none of them on a node that stays in service\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct site s;
        site_init(&s, "zalando");
        postgresql(&s, cases[i].instances, cases[i].status);
        spilo(&s, "acid-db-0", "w1", "replica", READY);
        spilo(&s, "acid-db-1", "w2", cases[i].role, cases[i].ready);
        site_expect(&s, "w1", NULL, NULL, cases[i].want);
        site_done(&s);
    }
}

/* Scaled to nothing while its pods are still there; or nonsense. */
static void zalandos_odd_numbers(void **state) {
    (void)state;
    for (int n = -1; n <= 0; n++) {
        struct site s;
        site_init(&s, "zalando");
        postgresql(&s, n, "Running");
        spilo(&s, "acid-db-0", "w1", "master", READY);
        site_run(&s, "w1", NULL, "w2");
        assert_int_equal(s.result.n, 1);
        assert_int_equal(s.result.list[0].code, BLOCKER_CHECK_UNKNOWN);
        assert_int_equal(s.result.list[0].verdict, CHECK_WAIT);
        site_done(&s);
    }
}

static void zalandos_cluster_is_complete_after_the_return(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "zalando");
    postgresql(&s, 2, "Running");
    spilo(&s, "acid-db-0", "w1", "master", READY);
    spilo(&s, "acid-db-1", "w2", "replica", UNREADY);
    site_expect(&s, NULL, NULL, "w2",
                "wait R StorageNotOkToStop w2 acid-db: PostgreSQL cluster x/acid-db has 1 of 2 "
                "instances ready\n");
    site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replicas_go_and_primaries_move),
        cmocka_unit_test(what_cannot_be_read_is_named_and_the_rest_is_judged),
        cmocka_unit_test(somebody_must_be_left),
        cmocka_unit_test(an_unfinished_cluster_gates_the_cordon),
        cmocka_unit_test(what_the_operator_does_is_waited_for),
        cmocka_unit_test(the_node_with_the_broken_instance_may_go),
        cmocka_unit_test(half_filled_clusters_wait),
        cmocka_unit_test(a_single_instance_is_denied_without_a_window),
        cmocka_unit_test(only_instances_count),
        cmocka_unit_test(after_the_return_all_are_ready_first),
        cmocka_unit_test(zalandos_master_has_to_move),
        cmocka_unit_test(zalandos_states),
        cmocka_unit_test(zalandos_odd_numbers),
        cmocka_unit_test(zalandos_cluster_is_complete_after_the_return),
    };
    return cmocka_run_group_tests_name("engine/check_postgres", tests, NULL, NULL);
}
