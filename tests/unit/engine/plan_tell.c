/* Tests of src/engine/plan_tell.c: what is said when the drain has been played through. */
#include "plan_site.h"

#include "engine/budget.h"

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
    assert_says(f, "a", "it may need 10s to stop (assumed), and its node is given up after 5s");
    f->w.opts.timeout = SEC(12);
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_verdict(f, "b", PLAN_UNSURE);
    assert_says(f, "b",
                "it goes after 5s, may need 10s to stop (assumed), and its node is given up after "
                "12s");
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_UNSURE);
}

/* A rule gives a pod up, and its node with it; those of a higher order are not tried. */
static void a_deadline_that_is_too_short_is_told(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "b", "w0", "{'metadata':{'labels':{'app':'b'}}}");
    dw_pod(&f->w, "c", "w1", "{}");
    rules_are(f, "- {name: slow, match: {labels: {matchLabels: {app: web}}}, deadline: 5s}\n"
                 "- {name: rest, match: {namespaces: ['*']}, order: 1}\n");
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.in_order = true;
    make(f, "w0", "w1", NULL);
    assert_verdict(f, "a", PLAN_UNSURE);
    assert_says(f, "a", "it may need 10s to stop (assumed), and the deadline of rule slow is 5s");
    assert_verdict(f, "b", PLAN_UNSURE);
    assert_says(f, "b", "its node is given up because of others, whose deadline has passed");
    assert_int_equal(node_of(f, "w0")->ends, PLAN_NO_TIME);
    assert_int_equal(node_of(f, "w1")->begins, SEC(5)); /* its place is free again */
    f->w.opts.max_unavailable.value = 0;
    dw_budget(&f->w, "web", 0, 2, 2, 3);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_UNSURE);
    assert_code(f, "a", BLOCKER_PDB_NO_BUDGET);
    assert_says(f, "a", "; the deadline of rule slow is 5s");
    dw_budget(&f->w, "web", 1, 3, 2, 3);
    f->times.stop = SEC(4);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_int_equal(node_of(f, "w0")->ends, SEC(8));
}

/* What is forced by then has not to be given up. */
static void a_rule_that_forces_ends_in_time(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    rules_are(f, "- {name: r, match: {namespaces: ['*']}, deadline: 5s, escalate: [{after: 3s, to: "
                 "force}]}\n");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_int_equal(node_of(f, "w0")->ends, SEC(3));
    dw_budget(&f->w, "web", 0, 1, 1, 1);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_WAITS);
    assert_int_equal(pod_of(f, "a")->evicted, SEC(3));
    assert_int_equal(node_of(f, "w0")->ends, SEC(3));
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

/* Each of several that wait needs a place when it goes. */
static void what_helps_the_first_is_not_all(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 1);
    dw_pod(&f->w, "x", "w1", "{'metadata':{'labels':{'app':'x'}}}");
    pods(f, "a", 4, "w0", "{}");
    dw_budget(&f->w, "web", 1, 4, 3, 4);
    make(f, "w0", NULL);
    assert_verdict(f, "a3", PLAN_NEVER);
    assert_string_equal(pod_of(f, "a3")->blocker.help,
                        "until there is room for the replacement: 1 pod more on w1 would do for "
                        "the first of 4");
}

/* No room makes up for pods that nobody makes again. */
static void bare_pods_that_compete_do_not_ask_for_room(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    dw_pod(&f->w, "a", "w0", DW_BARE);
    dw_pod(&f->w, "b", "w1", DW_BARE);
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    f->w.opts.force = true;
    make(f, "w0", "w1", NULL);
    assert_verdict(f, "a", PLAN_UNSURE);
    assert_says(f, "a",
                "nothing makes pods of it again that have gone: which of them get away is "
                "chance");
    assert_string_equal(pod_of(f, "a")->blocker.help,
                        "let a controller make them, or change the budget");
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

/* A volume of a zone moves within its zone, also when there is only one node in that today: what it
 * lacks is room there. */
static void a_volume_of_a_zone_is_not_local(void **state) {
    struct plan_site *f = *state;
    static const struct {
        const char *key, *value;
        enum blocker_code code;
    } cases[] = {
        {"topology.kubernetes.io/zone", "a", BLOCKER_NO_ROOM},
        {"topology.ebs.csi.aws.com/zone", "a", BLOCKER_NO_ROOM},
        {"topology.topolvm.io/node", "w0", BLOCKER_LOCAL_PV},
        {"kubernetes.io/hostname", "w0", BLOCKER_LOCAL_PV},
    };
    nodes(f, 2);
    add(f, &kind_pvc,
        "{'metadata':{'namespace':'default','name':'data','uid':'c1','resourceVersion':'1',"
        "'annotations':{'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'disk'},"
        "'status':{'phase':'Bound'}}");
    dw_pod(&f->w, "a", "w0",
           "{'spec':{'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'data'}}]}}");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        dw_edit_node(&f->w, "w0", "{'metadata':{'labels':{'%s':'%s'}}}", cases[i].key,
                     cases[i].value);
        _cleanup_free_ char *pv = xasprintf(
            "{'metadata':{'name':'disk','resourceVersion':'%zu'},'spec':{'capacity':{'storage':"
            "'1Gi'},'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':"
            "'%s','operator':'In','values':['%s']}]}]}},'claimRef':{'namespace':'default','name':"
            "'data','uid':'c1'}},'status':{'phase':'Bound'}}",
            i + 1, cases[i].key, cases[i].value);
        add(f, &kind_pv, pv);
        make(f, "w0", NULL);
        assert_verdict(f, "a", PLAN_HOMELESS);
        assert_code(f, "a", cases[i].code);
        assert_says(f, "a", "node affinity");
    }
}

/* With places left it is zones that nodes wait for. */
static void zones_that_are_kept_are_told(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    dw_edit_node(&f->w, "w0", "{'metadata':{'labels':{'topology.kubernetes.io/zone':'a'}}}");
    dw_edit_node(&f->w, "w1", "{'metadata':{'labels':{'topology.kubernetes.io/zone':'b'}}}");
    dw_pod(&f->w, "stuck", "w0", "{'metadata':{'finalizers':['example.com/guard']}}");
    dw_pod(&f->w, "held", "w1", "{'metadata':{'finalizers':['example.com/guard']}}");
    f->w.opts.max_zones = 1;
    make(f, "w0", "w1", NULL);
    size_t waits = 0;
    for (size_t i = 0; i < f->plan.n; i++)
        for (size_t k = 0; k < f->plan.nodes[i].n_pods; k++)
            waits += f->plan.nodes[i].pods[k].blocker.code == BLOCKER_MAX_ZONES;
    assert_int_equal(waits, 1);
    f->w.opts.max_zones = 0;
    f->w.opts.max_unavailable.value = 1;
    make(f, "w0", "w1", NULL);
    waits = 0;
    for (size_t i = 0; i < f->plan.n; i++)
        for (size_t k = 0; k < f->plan.nodes[i].n_pods; k++)
            waits += f->plan.nodes[i].pods[k].blocker.code == BLOCKER_MAX_UNAVAILABLE;
    assert_int_equal(waits, 1);
}

/* Its driver cannot detach a volume that no pod there uses any more: the drain waits for it. */
static void a_volume_that_does_not_get_off_the_node(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_put(&f->w, &kind_volume_attachment,
           "{'metadata':{'name':'va'},'spec':{'nodeName':'w0','source':{'persistentVolumeName':"
           "'pv'}},'status':{'attached':true,'detachError':{'message':'device is busy'}}}");
    make(f, "w0", "w1", NULL);
    const struct plan_node *n = node_of(f, "w0");
    assert_int_equal(n->verdict, PLAN_UNSURE);
    assert_int_equal(n->ends, PLAN_NO_TIME);
    assert_int_equal(n->blocker.code, BLOCKER_VOLUME_ATTACHED);
    assert_string_equal(n->blocker.object, "va");
    assert_string_equal(n->blocker.message,
                        PLAN_AT_THE_END ": 1 volume is still attached, though no pod here uses it: "
                                        "device is busy");
    assert_verdict(f, "a", PLAN_GOES);
    assert_int_equal(node_of(f, "w1")->verdict, PLAN_GOES);
    f->w.opts.detach_timeout = SEC(60); /* it goes on without */
    make(f, "w0", NULL);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_GOES);
    f->w.opts.detach_timeout = 0;
    f->no_storage = true; /* whose it is cannot be told */
    make(f, "w0", NULL);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_GOES);
}

/* All are healthy, and the budget counts none of them. */
static void a_budget_of_pods_without_a_controller(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    f->w.opts.force = true;
    dw_pod(&f->w, "a", "w0", DW_BARE);
    budget_of(f, "web", "web", 0, 1, 0, 0);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_NEVER);
    assert_code(f, "a", BLOCKER_PDB_UNSATISFIABLE);
    assert_says(f, "a", "counts none of its 1 healthy pod");
    assert_string_equal(pod_of(f, "a")->blocker.help, BUDGET_UNCOUNTED_HELP);
}

/* By its numbers it never lets the primary go; its operator moves the primary. */
static void what_an_operator_guards_is_not_lost(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "db-1", "w0", "{'metadata':{'labels':{'cnpg.io/cluster':'db','app':'db'}}}");
    budget_of(f, "db-primary", "db", 0, 1, 1, 1);
    make(f, "w0", NULL);
    assert_verdict(f, "db-1", PLAN_UNSURE);
    assert_code(f, "db-1", BLOCKER_PRIMARY_ON_NODE);
    assert_string_equal(pod_of(f, "db-1")->blocker.object, "default/db-primary");
    assert_says(f, "db-1", "CloudNativePG keeps this budget");
    assert_non_null(strstr(pod_of(f, "db-1")->blocker.help, "switches over"));
    /* It is Pending again: that is the operator's as well. */
    dw_edit_budget(&f->w, "db-primary", "{'status':{'expectedPods':2}}");
    make(f, "w0", NULL);
    assert_verdict(f, "db-1", PLAN_UNSURE);
    assert_code(f, "db-1", BLOCKER_PRIMARY_ON_NODE);
}

/* Two OSDs of one host, one at a time, and the first does not come back before the node does: Rook
 * frees the second. */
static void osds_of_one_host_do_not_wait_for_each_other(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    for (int i = 0; i < 2; i++) {
        char name[8] = {'o', (char)('0' + i), 0};
        dw_pod(&f->w, name, "w0",
               "{'metadata':{'labels':{'app':'rook-ceph-osd'}},'spec':{'nodeSelector':{"
               "'kubernetes.io/hostname':'w0'}}}");
    }
    budget_of(f, "rook-ceph-osd", "rook-ceph-osd", 1, 6, 5, 6);
    make(f, "w0", NULL);
    assert_verdict(f, "o0", PLAN_HOMELESS);
    assert_code(f, "o0", BLOCKER_LOCAL_PV);
    assert_says(f, "o0", "its data is on disks of this node");
    assert_string_equal(pod_of(f, "o0")->blocker.help, "");
    assert_verdict(f, "o1", PLAN_UNSURE);
    assert_code(f, "o1", BLOCKER_STORAGE_NOT_OK);
    assert_says(f, "o1", "Rook keeps this budget");
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_UNSURE);
}

#define DEVICE "{'spec':{'resourceClaims':[{'name':'gpu','resourceClaimTemplateName':'gpu'}]}}"

/* Nobody here reckons with devices: that is said, and nothing of where the pods go. */
static void pods_with_devices_are_not_judged(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", DEVICE);
    dw_pod(&f->w, "b", "w0", DEVICE);
    dw_pod(&f->w, "c", "w0", "{}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_null(pod_of(f, "a")->to);
    assert_non_null(pod_of(f, "c")->to);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_GOES);
    assert_int_equal(node_of(f, "w0")->blocker.code, BLOCKER_ROOM_UNKNOWN);
    assert_string_equal(node_of(f, "w0")->blocker.message,
                        "where the replacements of 2 pods go, and whether there is room, is not "
                        "known: the devices of ResourceClaims are not looked at");
    assert_true(node_of(f, "w0")->ends >= 0);
    f->w.opts.wait_rescheduled = true; /* it is not drained before they run */
    make(f, "w0", NULL);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_UNSURE);
    assert_int_equal(node_of(f, "w0")->ends, PLAN_NO_TIME);
}

/* Whether the first gives back what it took of the budget is not known either. */
static void a_budget_waits_for_what_is_not_judged(void **state) {
    static const char *const rows[][2] = {
        {DEVICE, "the devices of ResourceClaims are not looked at"},
        {"{'spec':{'schedulerName':'mine'}}", "scheduler mine places it"},
    };
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        dw_pod(&f->w, "a", "w0", "%s", rows[i][0]);
        dw_pod(&f->w, "b", "w0", "%s", rows[i][0]);
        make(f, "w0", NULL);
        assert_verdict(f, "a", PLAN_GOES);
        assert_verdict(f, "b", PLAN_UNSURE);
        assert_code(f, "b", BLOCKER_PDB_NO_BUDGET);
        assert_says(f, "b",
                    "; whether the replacement of a runs, and gives back what it took, is "
                    "not known: ");
        assert_says(f, "b", rows[i][1]);
        assert_int_equal(pod_of(f, "b")->gone, PLAN_NO_TIME);
        assert_int_equal(node_of(f, "w0")->verdict, PLAN_UNSURE);
        assert_int_equal(node_of(f, "w0")->ends, PLAN_NO_TIME);
    }
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "b", "w0", "{}");
    make(f, "w0", NULL);
    assert_verdict(f, "b", PLAN_WAITS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(a_timeout_that_is_too_short_is_told),
        PLAN_TEST(a_deadline_that_is_too_short_is_told),
        PLAN_TEST(a_rule_that_forces_ends_in_time),
        PLAN_TEST(a_local_volume_is_told_first),
        PLAN_TEST(a_volume_of_a_zone_is_not_local),
        PLAN_TEST(zones_that_are_kept_are_told),
        PLAN_TEST(a_budget_that_runs_dry_says_what_helps),
        PLAN_TEST(what_helps_the_first_is_not_all),
        PLAN_TEST(bare_pods_that_compete_do_not_ask_for_room),
        PLAN_TEST(a_successor_without_a_place_is_told_of_its_pod),
        PLAN_TEST(nodes_are_told_as_they_begin),
        PLAN_TEST(a_node_that_a_successor_keeps_says_so),
        PLAN_TEST(an_empty_node_whose_turn_does_not_come_says_so),
        PLAN_TEST(a_volume_that_does_not_get_off_the_node),
        PLAN_TEST(a_budget_of_pods_without_a_controller),
        PLAN_TEST(what_an_operator_guards_is_not_lost),
        PLAN_TEST(osds_of_one_host_do_not_wait_for_each_other),
        PLAN_TEST(pods_with_devices_are_not_judged),
        PLAN_TEST(a_budget_waits_for_what_is_not_judged),
    };
    return cmocka_run_group_tests_name("engine/plan_tell", tests, NULL, NULL);
}
