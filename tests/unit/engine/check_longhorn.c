/* Tests of src/engine/check_longhorn.c. Objects have the shapes of longhorn.io/v1beta2; which
 * replica is safe to lose is what Longhorn's canDeleteInstanceManagerPDB says. */
#include "support/checks.h"

#include <stdio.h>

#define LH "'namespace':'longhorn-system'"

static void volume(struct site *s, const char *name, int replicas, const char *state,
                   const char *robustness, const char *more) {
    site_addf(s, SOURCE_LONGHORN_VOLUMES,
              "{'metadata':{'name':'%s'," LH "},'spec':{'numberOfReplicas':%d,'dataEngine':'v1'%s},"
              "'status':{'state':'%s','robustness':'%s'}}",
              name, replicas, more, state, robustness);
}

static void replica_as(struct site *s, const char *name, const char *vol, const char *node,
                       const char *healthy, const char *failed, const char *state) {
    site_addf(s, SOURCE_LONGHORN_REPLICAS,
              "{'metadata':{'name':'%s'," LH "},'spec':{'volumeName':'%s','nodeID':'%s',"
              "'dataEngine':'v1','healthyAt':'%s','failedAt':'%s','desireState':'%s'},'status':{"
              "'currentState':'%s'}}",
              name, vol, node, healthy, failed, state, state);
}

static void replica(struct site *s, const char *name, const char *vol, const char *node) {
    replica_as(s, name, vol, node, "2026-11-01T00:00:00Z", "", "running");
}

static void manager(struct site *s, const char *node, const char *state) {
    site_addf(s, SOURCE_LONGHORN_MANAGERS,
              "{'metadata':{'name':'im-%s'," LH "},'spec':{'nodeID':'%s','type':'aio','dataEngine':"
              "'v1'},'status':{'currentState':'%s'}}",
              node, node, state);
}

static void policy(struct site *s, const char *value) {
    site_addf(s, SOURCE_LONGHORN_SETTINGS,
              "{'metadata':{'name':'node-drain-policy'," LH "},'value':'%s'}", value);
}

static void start(struct site *s) {
    site_init(s, "longhorn");
    manager(s, "w1", "running");
    manager(s, "w2", "running");
    manager(s, "w3", "running");
}

static void a_healthy_volume_passes(void **state) {
    (void)state;
    struct site s;
    start(&s);
    volume(&s, "a", 2, "attached", "healthy", "");
    replica(&s, "a-1", "a", "w1");
    replica(&s, "a-2", "a", "w2");
    site_expect(&s, "w1", NULL, NULL,
                "pass CO - w1: 1 volume with a healthy replica here, and another on a node "
                "that stays\n");
    /* A node without replicas has nothing to lose. */
    site_expect(&s, "w5", NULL, NULL,
                "pass CO - w5: 0 volumes with a healthy replica here, each with another on a node "
                "that stays\n");
    site_done(&s);
}

static void the_last_replica_waits_or_is_denied(void **state) {
    (void)state;
    struct site s;
    start(&s);
    volume(&s, "one", 1, "attached", "healthy", "");
    replica(&s, "one-1", "one", "w1");
    volume(&s, "strict", 1, "attached", "healthy", ",'dataLocality':'strict-local'");
    replica(&s, "strict-1", "strict", "w1");
    volume(&s, "three", 3, "attached", "degraded", "");
    replica(&s, "three-1", "three", "w1");
    replica_as(&s, "three-2", "three", "w2", "2026-11-01T00:00:00Z", "2026-11-15T07:00:00Z",
               "stopped");
    replica_as(&s, "three-3", "three", "w3", "", "", "running"); /* being rebuilt */
    site_expect(
        &s, "w1", NULL, NULL,
        "deny CO LastReplica w1 one: volume one has its only healthy replica one-1 on node w1 (1 "
        "of 1 healthy)\n"
        "deny CO LastReplica w1 strict: volume strict has its only healthy replica strict-1 on "
        "node w1 (1 of 1 healthy, strict-local)\n"
        "wait CO LastReplica w1 three: volume three has its only healthy replica three-1 on node "
        "w1 (1 of 3 healthy)\n");
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_DENY);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_RETURN), CHECK_PASS);
    assert_int_equal(check_worst(&s.result, "w2", CHECK_CORDON), CHECK_PASS);
    assert_string_equal(s.result.list[2].ends,
                        "volume three has a healthy replica on another node");
    /* The failed and the unfinished replica can go. */
    site_expect(&s, "w2 w3", NULL, NULL,
                "pass CO - w2: 0 volumes with a healthy replica here, each with another on a node "
                "that stays\n"
                "pass CO - w3: 0 volumes with a healthy replica here, each with another on a node "
                "that stays\n");
    site_done(&s);
}

/* One that cannot be read hides no other, and is never taken for a good sign. */
static void what_cannot_be_read_is_named_and_the_rest_is_judged(void **state) {
    (void)state;
    struct site s;
    start(&s);
    volume(&s, "one", 1, "attached", "healthy", "");
    replica(&s, "one-1", "one", "w1");
    volume(&s, "two", 2, "attached", "healthy", "");
    replica(&s, "two-1", "two", "w2");
    replica(&s, "two-2", "two", "w3");
    site_add_odd(&s, SOURCE_LONGHORN_REPLICAS,
                 "{'metadata':{'name':'odd-1'," LH ",'labels':{'longhornvolume':'odd'}},'spec':{"
                 "'volumeName':'odd','nodeID':7,'healthyAt':'2026-11-01T00:00:00Z'}}");
    site_expect(&s, "w1 w2", NULL, "w5",
                "deny CO LastReplica w1 one: volume one has its only healthy replica one-1 on node "
                "w1 (1 of 1 healthy)\n"
                "wait CO CheckUnknown w1 odd-1: cannot read Replica longhorn-system/odd-1: "
                "spec.nodeID: expected a string, found a number\n"
                "wait CO CheckUnknown w2 odd-1: cannot read Replica longhorn-system/odd-1: "
                "spec.nodeID: expected a string, found a number\n"
                "wait R CheckUnknown w5 odd-1: cannot read Replica longhorn-system/odd-1: "
                "spec.nodeID: expected a string, found a number\n");
    /* It may be the second replica of the volume: then nothing is denied for good. */
    site_add_odd(&s, SOURCE_LONGHORN_REPLICAS,
                 "{'metadata':{'name':'one-2'," LH "},'spec':{'volumeName':[]}}");
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_WAIT);
    assert_non_null(strstr(site_text(&s), "wait CO LastReplica w1 one: "));
    site_done(&s);
}

/* Its replicas are not those of a volume that is gone, which somebody would delete. */
static void replicas_of_a_volume_that_cannot_be_read(void **state) {
    (void)state;
    struct site s;
    start(&s);
    site_add_odd(&s, SOURCE_LONGHORN_VOLUMES,
                 "{'metadata':{'name':'odd'," LH "},'spec':{'numberOfReplicas':'2'}}");
    replica(&s, "odd-1", "odd", "w1");
    replica(&s, "odd-2", "odd", "w2");
    site_expect(&s, "w1", NULL, NULL,
                "wait CO CheckUnknown w1 odd: cannot read Volume longhorn-system/odd: "
                "spec.numberOfReplicas: expected a number, found a string\n");
    site_done(&s);
}

static void other_kinds_that_cannot_be_read(void **state) {
    (void)state;
    static const struct {
        enum check_source_id source;
        const char *json, *want;
    } cases[] = {
        {SOURCE_LONGHORN_SETTINGS, "{'metadata':{'name':'node-drain-policy'," LH "},'value':true}",
         "cannot read Setting longhorn-system/node-drain-policy: value: expected a string, found "
         "true or false"},
        {SOURCE_LONGHORN_MANAGERS, "{'metadata':{'name':'im'," LH "},'spec':{'nodeID':{}}}",
         "cannot read InstanceManager longhorn-system/im: spec.nodeID: expected a string, found an "
         "object"},
        {SOURCE_LONGHORN_ENGINES, "{'metadata':{'name':'e'," LH "},'status':'no'}",
         "cannot read Engine longhorn-system/e: status: expected an object, found a string"},
        {SOURCE_LONGHORN_NODES, "{'metadata':{'name':'w2'," LH "},'status':{'conditions':{}}}",
         "cannot read Node longhorn-system/w2: status.conditions: expected a list, found an "
         "object"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct site s;
        start(&s);
        volume(&s, "two", 2, "attached", "healthy", "");
        replica(&s, "two-1", "two", "w1");
        replica(&s, "two-2", "two", "w3");
        site_add_odd(&s, cases[i].source, cases[i].json);
        site_run(&s, "w1", NULL, "w2");
        assert_int_equal(s.result.n, 2);
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(s.result.list[k].verdict, CHECK_WAIT);
            assert_int_equal(s.result.list[k].code, BLOCKER_CHECK_UNKNOWN);
            assert_string_equal(s.result.list[k].evidence, cases[i].want);
        }
        site_done(&s);
    }
}

/* A release that changes a field makes all of them odd. */
static void of_many_that_cannot_be_read_some_are_named(void **state) {
    (void)state;
    struct site s;
    start(&s);
    for (int i = 9; i > 0; i--) {
        char json[128];
        (void)snprintf(json, sizeof json, "{'metadata':{'name':'r%d'," LH "},'spec':7}", i);
        site_add_odd(&s, SOURCE_LONGHORN_REPLICAS, json);
    }
    site_expect(
        &s, "w1", NULL, NULL,
        "wait CO CheckUnknown w1 r1: cannot read Replica longhorn-system/r1: spec: expected "
        "an object, found a number\n"
        "wait CO CheckUnknown w1 r2: cannot read Replica longhorn-system/r2: spec: expected "
        "an object, found a number\n"
        "wait CO CheckUnknown w1 r3: cannot read Replica longhorn-system/r3: spec: expected "
        "an object, found a number; and 6 more replicas\n");
    site_done(&s);
}

static void a_detached_volume_is_rebuilt_when_attached(void **state) {
    (void)state;
    struct site s;
    start(&s);
    volume(&s, "d", 2, "detached", "unknown", "");
    replica_as(&s, "d-1", "d", "w1", "2026-11-01T00:00:00Z", "", "stopped");
    replica_as(&s, "d-2", "d", "w2", "2026-11-01T00:00:00Z", "2026-11-15T07:00:00Z", "stopped");
    site_run(&s, "w1", NULL, NULL);
    assert_string_equal(s.result.list[0].hint,
                        "attach the volume so that Longhorn rebuilds the missing replicas");
    site_done(&s);
}

/* Robustness is "unknown" while a volume is detached: as it should be. */
static void a_detached_volume_with_two_replicas_passes(void **state) {
    (void)state;
    struct site s;
    start(&s);
    volume(&s, "d", 2, "detached", "unknown", "");
    replica_as(&s, "d-1", "d", "w1", "2026-11-01T00:00:00Z", "", "stopped");
    replica_as(&s, "d-2", "d", "w2", "2026-11-01T00:00:00Z", "", "stopped");
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(check_worst(&s.result, NULL, CHECK_CORDON), CHECK_PASS);
    site_done(&s);
}

static void nodes_that_go_together_count_together(void **state) {
    (void)state;
    struct site s;
    start(&s);
    volume(&s, "a", 2, "attached", "healthy", "");
    replica(&s, "a-1", "a", "w1");
    replica(&s, "a-2", "a", "w2");
    site_expect(&s, "w1 w2", NULL, NULL,
                "wait CO LastReplica w1 a: volume a has all its 2 healthy replicas on nodes that "
                "would be out of service together: w1, w2\n"
                "wait CO LastReplica w2 a: volume a has all its 2 healthy replicas on nodes that "
                "would be out of service together: w1, w2\n");
    assert_string_equal(s.result.list[0].hint, "take these nodes one after another");
    site_expect(&s, "w1", "w2", NULL,
                "wait CO LastReplica w1 a: volume a has all its 2 healthy replicas on nodes that "
                "would be out of service together: w1, w2\n");
    assert_string_equal(s.result.list[0].hint,
                        "wait until the node that is out is back and the volume is rebuilt");
    /* A third replica elsewhere makes it safe. */
    replica(&s, "a-3", "a", "w3");
    site_run(&s, "w1 w2", NULL, NULL);
    assert_int_equal(check_worst(&s.result, NULL, CHECK_CORDON), CHECK_PASS);
    site_run(&s, "w1 w2", "w3", NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_WAIT);
    site_done(&s);
}

/* Longhorn counts only replicas on schedulable nodes with a running instance manager. */
static void a_replica_on_an_unfit_node_does_not_count(void **state) {
    (void)state;
    struct site s;
    start(&s);
    volume(&s, "a", 2, "attached", "healthy", "");
    replica(&s, "a-1", "a", "w1");
    replica(&s, "a-4", "a", "w4"); /* has no instance manager */
    site_expect(&s, "w1", NULL, NULL,
                "wait CO LastReplica w1 a: volume a: the only other healthy replica that is not on "
                "a node which goes, a-4, is on node w4, which has no running instance manager\n");
    manager(&s, "w4", "unknown");
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_WAIT);
    site_node(&s, "w2", "'unschedulable':true");
    volume(&s, "b", 2, "attached", "healthy", "");
    replica(&s, "b-1", "b", "w1");
    replica(&s, "b-2", "b", "w2");
    site_run(&s, "w1", NULL, NULL);
    assert_non_null(strstr(site_text(&s), "is on node w2, which is cordoned"));
    volume(&s, "c", 2, "attached", "healthy", "");
    replica(&s, "c-1", "c", "w1");
    replica(&s, "c-9", "c", "w9");
    site_run(&s, "w1", NULL, NULL);
    assert_non_null(strstr(site_text(&s), "is on node w9, which does not exist"));
    site_done(&s);
}

static void a_degraded_volume_gates_the_cordon_only(void **state) {
    (void)state;
    struct site s;
    start(&s);
    volume(&s, "a", 3, "attached", "degraded", "");
    replica(&s, "a-1", "a", "w1");
    replica(&s, "a-2", "a", "w2");
    site_expect(&s, "w1", NULL, NULL,
                "wait C StorageNotOkToStop w1 a: volume a is degraded (2 of 3 healthy), and its "
                "replica a-1 on the node is one of the healthy ones\n");
    assert_int_equal(check_worst(&s.result, "w1", CHECK_OPERATION), CHECK_PASS);
    assert_string_equal(s.result.list[0].ends, "volume a is healthy");
    site_done(&s);
}

static void what_detaches_by_itself_gates_the_operation_only(void **state) {
    (void)state;
    struct site s;
    start(&s);
    site_add(&s, SOURCE_LONGHORN_VOLUMES,
             "{'metadata':{'name':'a'," LH "},'spec':{'numberOfReplicas':2,'accessMode':'rwx'},"
             "'status':{'state':'attached','robustness':'healthy','currentNodeID':'w1'}}");
    replica(&s, "a-1", "a", "w1");
    replica(&s, "a-2", "a", "w2");
    site_run(&s, "w1", NULL, NULL);
    assert_string_equal(
        site_text(&s),
        "wait O VolumeStillAttached w1: 1 volume is attached to the node: a\n"
        "pass O VolumeStillAttached w1: 1 shared volume served from the node moves with it: their "
        "clients pause for a while: a\n");
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_PASS);
    site_done(&s);
    /* An engine that still runs holds the instance manager too. */
    start(&s);
    site_add(&s, SOURCE_LONGHORN_ENGINES,
             "{'metadata':{'name':'a-e'," LH "},'spec':{'volumeName':'a','nodeID':'w1'},'status':{"
             "'currentState':'running'}}");
    site_add(&s, SOURCE_LONGHORN_ENGINES,
             "{'metadata':{'name':'b-e'," LH "},'spec':{'volumeName':'b','nodeID':'w1'},'status':{"
             "'currentState':'stopped'}}");
    site_expect(&s, "w1", NULL, NULL,
                "wait O VolumeStillAttached w1: 1 engine still runs on the node: a-e\n");
    site_done(&s);
}

static void longhorns_own_budget_is_waited_for_once_cordoned(void **state) {
    (void)state;
    struct site s;
    start(&s);
    site_add(&s, SOURCE_BUDGETS, "{'metadata':{'name':'im-w1'," LH "},'spec':{'minAvailable':1}}");
    site_run(&s, "w1", NULL, NULL); /* before the cordon it is as it should be */
    assert_int_equal(check_worst(&s.result, "w1", CHECK_OPERATION), CHECK_PASS);
    site_node(&s, "w1", "'unschedulable':true");
    site_expect(&s, "w1", NULL, NULL,
                "wait O StorageNotOkToStop w1 im-w1: Longhorn still guards instance manager im-w1 "
                "with a PodDisruptionBudget\n");
    assert_string_equal(s.result.list[0].ends,
                        "the PodDisruptionBudget longhorn-system/im-w1 is gone");
    site_done(&s);
}

/* By its name, not by where it happens to be in the store: somebody plays this again. */
static void of_several_policies_it_is_the_first(void **state) {
    (void)state;
    for (int ns = 'b'; ns < 'z'; ns++) {
        struct site s;
        start(&s);
        site_addf(&s, SOURCE_LONGHORN_SETTINGS,
                  "{'metadata':{'name':'node-drain-policy','namespace':'%c'},'value':'surprise'}",
                  ns);
        site_add(&s, SOURCE_LONGHORN_SETTINGS,
                 "{'metadata':{'name':'node-drain-policy','namespace':'a'},'value':"
                 "'always-allow'}");
        volume(&s, "one", 1, "attached", "healthy", "");
        replica(&s, "one-1", "one", "w1");
        site_run(&s, "w1", NULL, NULL);
        assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_PASS);
        site_done(&s);
    }
}

static void the_drain_policy_is_obeyed(void **state) {
    (void)state;
    static const struct {
        const char *policy, *want;
    } cases[] = {
        {"block-for-eviction-if-contains-last-replica",
         "wait O LastReplica w1 one: volume one has its only healthy replica one-1 on node w1 (1 "
         "of 1 healthy)\n"},
        {"block-for-eviction",
         "wait O StorageNotOkToStop w1: Longhorn moves 1 replica away from the node before it lets "
         "go (node-drain-policy block-for-eviction)\n"
         "wait O LastReplica w1 one: volume one has its only healthy replica one-1 on node w1 (1 "
         "of 1 healthy)\n"},
        {"always-allow",
         "pass CO LastReplica w1 one: volume one has no healthy replica elsewhere; Longhorn's "
         "node-drain-policy always-allow allows that\n"},
        /* It runs. */
        {"allow-if-replica-is-stopped",
         "deny CO LastReplica w1 one: volume one has its only healthy replica one-1 on node w1 (1 "
         "of 1 healthy)\n"},
        {"block-if-contains-last-replica",
         "deny CO LastReplica w1 one: volume one has its only healthy replica one-1 on node w1 (1 "
         "of 1 healthy)\n"},
        {"surprise",
         "deny CO LastReplica w1 one: volume one has its only healthy replica one-1 on node w1 (1 "
         "of 1 healthy)\n"
         "wait CO CheckUnknown w1 node-drain-policy: Longhorn's setting node-drain-policy has the "
         "value surprise, which this check does not know\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct site s;
        start(&s);
        policy(&s, cases[i].policy);
        volume(&s, "one", 1, "attached", "healthy", "");
        replica(&s, "one-1", "one", "w1");
        site_expect(&s, "w1", NULL, NULL, cases[i].want);
        site_done(&s);
    }
    struct site s;
    start(&s);
    policy(&s, "allow-if-replica-is-stopped");
    volume(&s, "one", 1, "detached", "unknown", "");
    replica_as(&s, "one-1", "one", "w1", "2026-11-01T00:00:00Z", "", "stopped");
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_PASS);
    site_done(&s);
    /* A strict-local volume is not moved by any policy. */
    start(&s);
    policy(&s, "block-for-eviction-if-contains-last-replica");
    volume(&s, "one", 1, "attached", "healthy", ",'dataLocality':'strict-local'");
    replica(&s, "one-1", "one", "w1");
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_DENY);
    site_done(&s);
}

static void what_is_half_filled_waits(void **state) {
    (void)state;
    struct site s;
    start(&s);
    /* A volume without status, one attached without robustness, a replica of nothing, one that was
     * never used, shards. */
    site_add(&s, SOURCE_LONGHORN_VOLUMES, "{'metadata':{'name':'a'," LH "}}");
    replica(&s, "a-1", "a", "w1");
    replica(&s, "a-2", "a", "w2");
    site_add(&s, SOURCE_LONGHORN_VOLUMES,
             "{'metadata':{'name':'b'," LH "},'status':{'state':'attached'}}");
    replica(&s, "b-1", "b", "w1");
    replica(&s, "b-2", "b", "w2");
    replica(&s, "lone", "gone", "w1");
    site_add(&s, SOURCE_LONGHORN_REPLICAS, "{'metadata':{'name':'void'," LH "}}");
    volume(&s, "n", 1, "detached", "unknown", "");
    replica_as(&s, "n-1", "n", "w1", "", "", "stopped");
    volume(&s, "s", 0, "attached", "healthy", ",'dataLayout':{'type':'sharded'}");
    site_expect(
        &s, "w1", NULL, NULL,
        "wait CO CheckUnknown w1: 1 healthy replica on the node of a volume that is not there: "
        "lone\n"
        "wait CO CheckUnknown w1: 1 volume with erasure coding, whose shards this check does not "
        "understand: s\n"
        "wait CO CheckUnknown w1 a: volume a has a replica here and says nothing about its state "
        "(status.state)\n"
        "wait C StorageNotOkToStop w1 b: volume b is of unknown health (2 healthy), and its "
        "replica b-1 on the node is one of the healthy ones\n");
    site_done(&s);
}

/* Replicas in another namespace are another installation's. */
static void namespaces_are_kept_apart(void **state) {
    (void)state;
    struct site s;
    start(&s);
    volume(&s, "a", 2, "attached", "healthy", "");
    replica(&s, "a-1", "a", "w1");
    site_add(&s, SOURCE_LONGHORN_REPLICAS,
             "{'metadata':{'name':'a-2','namespace':'other'},'spec':{'volumeName':'a','nodeID':"
             "'w2','healthyAt':'2026-11-01T00:00:00Z'}}");
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_WAIT);
    site_done(&s);
}

static void after_the_return_volumes_are_rebuilt_first(void **state) {
    (void)state;
    struct site s;
    start(&s);
    volume(&s, "a", 2, "attached", "degraded", "");
    replica_as(&s, "a-1", "a", "w1", "2026-11-01T00:00:00Z", "2026-11-15T07:55:00Z", "stopped");
    replica(&s, "a-2", "a", "w2");
    volume(&s, "b", 2, "detached", "unknown", "");
    replica(&s, "b-1", "b", "w1");
    replica(&s, "b-2", "b", "w2");
    site_expect(&s, NULL, NULL, "w1",
                "wait R StorageNotOkToStop w1: 1 of 2 volumes with a replica on the node is not "
                "healthy yet: a (degraded)\n");
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_PASS);
    site_add(&s, SOURCE_LONGHORN_NODES,
             "{'metadata':{'name':'w2'," LH "},'status':{'conditions':[{'type':'Ready','status':"
             "'False','reason':'ManagerPodMissing'}]}}");
    site_run(&s, NULL, NULL, "w2");
    assert_non_null(strstr(site_text(&s), "Longhorn's node is not Ready: ManagerPodMissing"));
    site_done(&s);
    start(&s);
    volume(&s, "a", 2, "attached", "healthy", "");
    replica(&s, "a-1", "a", "w1");
    site_expect(&s, NULL, NULL, "w1",
                "pass R - w1: 1 volume with a replica on the node, none that still has to be "
                "rebuilt\n");
    site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_healthy_volume_passes),
        cmocka_unit_test(the_last_replica_waits_or_is_denied),
        cmocka_unit_test(what_cannot_be_read_is_named_and_the_rest_is_judged),
        cmocka_unit_test(replicas_of_a_volume_that_cannot_be_read),
        cmocka_unit_test(other_kinds_that_cannot_be_read),
        cmocka_unit_test(of_many_that_cannot_be_read_some_are_named),
        cmocka_unit_test(a_detached_volume_is_rebuilt_when_attached),
        cmocka_unit_test(a_detached_volume_with_two_replicas_passes),
        cmocka_unit_test(nodes_that_go_together_count_together),
        cmocka_unit_test(a_replica_on_an_unfit_node_does_not_count),
        cmocka_unit_test(a_degraded_volume_gates_the_cordon_only),
        cmocka_unit_test(what_detaches_by_itself_gates_the_operation_only),
        cmocka_unit_test(longhorns_own_budget_is_waited_for_once_cordoned),
        cmocka_unit_test(of_several_policies_it_is_the_first),
        cmocka_unit_test(the_drain_policy_is_obeyed),
        cmocka_unit_test(what_is_half_filled_waits),
        cmocka_unit_test(namespaces_are_kept_apart),
        cmocka_unit_test(after_the_return_volumes_are_rebuilt_first),
    };
    return cmocka_run_group_tests_name("engine/check_longhorn", tests, NULL, NULL);
}
