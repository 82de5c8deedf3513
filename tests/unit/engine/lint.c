/* Tests of src/engine/lint.c. */
#include "engine/lint.h"

#include "lint_site.h"

#define RS "ReplicaSet"

static int begin(void **state) {
    struct site *s = xnew(struct site);
    site_init(s);
    *state = s;
    return 0;
}

static int end(void **state) {
    site_done(*state);
    free(*state);
    return 0;
}

static void nothing_is_found_in_a_cluster_that_is_well(void **state) {
    struct site *s = *state;
    site_node(s, "w1");
    site_deployment(s, "web", 3, "'containers':[]");
    site_pod(s, "web-1-a", "w1", "web", SITE_OWNER(RS, "web-1"), true, "");
    site_budget(s, "web", "'maxUnavailable':1",
                "'disruptionsAllowed':1,'currentHealthy':3,'desiredHealthy':2,'expectedPods':3");
    const struct lint *l = site_lint(s);
    assert_int_equal(l->n, 0);
    assert_int_equal(l->n_blocked, 0);
    assert_int_equal(l->nodes, 1);
    assert_int_equal(l->pods, 1);
    assert_int_equal(l->budgets, 1);
}

/* The three ways of never: each is a group of its own, with its nodes and pods. */
static void budgets_that_never_allow_are_told_apart(void **state) {
    struct site *s = *state;
    site_pod(s, "a-1", "w2", "a", SITE_OWNER(RS, "a-1"), true, "");
    site_pod(s, "a-2", "w1", "a", SITE_OWNER(RS, "a-1"), true, "");
    site_pod(s, "a-3", "w1", "a", SITE_OWNER(RS, "a-1"), true, "");
    site_pod(s, "b-1", "w1", "b", SITE_OWNER(RS, "b-1"), true, "");
    site_pod(s, "c-1", "w3", "c", SITE_OWNER(RS, "c-1"), true, "");
    site_pod(s, "c-2", "w3", "c", SITE_OWNER(RS, "c-1"), true, "");
    site_budget(s, "a", "'maxUnavailable':'0%'",
                "'currentHealthy':3,'desiredHealthy':3,'expectedPods':3");
    site_budget(s, "b", "'minAvailable':'50%'",
                "'currentHealthy':1,'desiredHealthy':1,'expectedPods':1");
    site_budget(s, "c", "'minAvailable':2",
                "'currentHealthy':2,'desiredHealthy':2,'expectedPods':2");
    const struct lint *l = site_lint(s);
    assert_int_equal(l->n, 3);
    const struct lint_finding *f = site_only(l, LINT_MAX_ZERO);
    assert_string_equal(f->kind, "PodDisruptionBudget");
    assert_string_equal(f->ns, "x");
    assert_string_equal(f->name, "a");
    assert_string_equal(f->text, "maxUnavailable 0%, needs 3 healthy of 3, has 3, allows 0");
    assert_int_equal(f->pods, 3);
    assert_string_equal(f->example, "a-1");
    assert_int_equal(f->n_nodes, 2);
    assert_string_equal(f->nodes[0], "w1");
    assert_string_equal(f->nodes[1], "w2");
    assert_string_equal(site_only(l, LINT_SINGLE)->name, "b");
    assert_string_equal(site_only(l, LINT_MIN_ALL)->name, "c");
    assert_int_equal(l->n_blocked, 3);
    assert_string_equal(l->blocked[2], "w3");
    for (size_t i = 0; i < l->n; i++)
        assert_true(lint_blocks(lint_row(l->groups[i].cause)->effect));
}

/* What has no pod on a node, or only such as nobody asks a budget about, blocks nothing. */
static void only_pods_that_a_drain_meets_count(void **state) {
    struct site *s = *state;
    site_budget(s, "a", "'maxUnavailable':0", "'expectedPods':1,'desiredHealthy':1");
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'pending','labels':{'app':'a'}" SITE_OWNER(
                 RS, "a-1") "},'status':{'phase':'Pending'}}");
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'daemon','labels':{'app':'a'}" SITE_OWNER(
                 "DaemonSet", "d") "},'spec':{'nodeName':'w1'},'status':{'phase':'Running'}}");
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'done','labels':{'app':'a'}},'spec':{'nodeName':"
             "'w1'},'status':{'phase':'Succeeded'}}");
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'mirror','labels':{'app':'a'},'annotations':{"
             "'kubernetes.io/config.mirror':'h'}},'spec':{'nodeName':'w1'},'status':{'phase':"
             "'Running'}}");
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'y','name':'other','labels':{'app':'a'}" SITE_OWNER(
                 RS, "o-1") "},'spec':{'nodeName':'w1'},'status':{'phase':'Running'}}");
    assert_int_equal(site_lint(s)->n, 0);
}

static void budgets_with_nothing_to_spare(void **state) {
    struct site *s = *state;
    site_pod(s, "a-1", "w1", "a", SITE_OWNER(RS, "a-1"), true, "");
    site_pod(s, "a-2", "w2", "a", SITE_OWNER(RS, "a-1"), false, "");
    site_budget(s, "a", "'minAvailable':2",
                "'currentHealthy':1,'desiredHealthy':2,'expectedPods':3");
    /* Of this one those that are not ready may go: it has as many as it needs. */
    site_pod(s, "b-1", "w3", "b", SITE_OWNER(RS, "b-1"), false, "");
    site_budget(s, "b", "'minAvailable':2",
                "'currentHealthy':2,'desiredHealthy':2,'expectedPods':3");
    site_pod(s, "c-1", "w3", "c", SITE_OWNER(RS, "c-1"), false, "");
    site_budget(s, "c", "'minAvailable':1,'unhealthyPodEvictionPolicy':'AlwaysAllow'",
                "'currentHealthy':0,'desiredHealthy':1,'expectedPods':2");
    const struct lint *l = site_lint(s);
    assert_int_equal(l->n, 2);
    assert_string_equal(site_only(l, LINT_SHORT)->example, "a-1");
    assert_string_equal(site_only(l, LINT_UNHEALTHY)->example, "a-2");
    assert_int_equal(l->n_blocked, 2);
}

static void pods_under_the_same_budgets_are_one_finding(void **state) {
    struct site *s = *state;
    site_pod(s, "a-1", "w1", "a", SITE_OWNER(RS, "a-1"), true, "");
    site_pod(s, "a-2", "w2", "a", SITE_OWNER(RS, "a-1"), true, "");
    site_pod(s, "b-1", "w1", "b", SITE_OWNER(RS, "b-1"), true, "");
    site_budget(s, "a", "'maxUnavailable':1", "'disruptionsAllowed':1,'expectedPods':2");
    site_put(s, &kind_pdb,
             "{'metadata':{'namespace':'x','name':'all'},'spec':{'minAvailable':1,'selector':{}},"
             "'status':{'disruptionsAllowed':2,'expectedPods':3}}");
    const struct lint *l = site_lint(s);
    assert_int_equal(l->n, 1);
    const struct lint_finding *f = site_only(l, LINT_OVERLAP);
    assert_string_equal(f->name, "a,all");
    assert_int_equal(f->pods, 2);
    assert_int_equal(f->n_nodes, 2);
}

static void a_budget_without_pods_is_a_remark(void **state) {
    struct site *s = *state;
    site_budget(s, "gone", "'maxUnavailable':0", "'expectedPods':0");
    /* These are kept by an operator for what comes. */
    site_put(s, &kind_pdb,
             "{'metadata':{'namespace':'x','name':'postgres-a-critical-op-pdb'},'spec':{"
             "'selector':{'matchLabels':{'critical-operation':'true'}}},'status':{}}");
    site_put(s, &kind_pdb,
             "{'metadata':{'namespace':'x','name':'osd','ownerReferences':[{'apiVersion':"
             "'ceph.rook.io/v1','kind':'CephCluster','name':'c','uid':'u','controller':true}]},"
             "'spec':{'selector':{'matchLabels':{'app':'osd'}}},'status':{}}");
    const struct lint *l = site_lint(s);
    assert_int_equal(l->n, 1);
    assert_string_equal(site_only(l, LINT_NOTHING)->name, "gone");
    assert_false(lint_blocks(lint_row(LINT_NOTHING)->effect));
    assert_int_equal(l->n_blocked, 0);
}

static void workloads_that_a_drain_stumbles_over(void **state) {
    struct site *s = *state;
    site_pod(s, "bare", "w1", "bare", "", true, "");
    site_deployment(s, "tmp", 1, "'containers':[]");
    site_pod(s, "tmp-1-a", "w2", "tmp", SITE_OWNER(RS, "tmp-1"), true,
             ",'volumes':[{'name':'t','emptyDir':{}}]");
    site_deployment(s, "pin", 1, "'nodeName':'w3','containers':[]");
    site_pod(s, "pin-1-a", "w3", "pin", SITE_OWNER(RS, "pin-1"), true, "");
    site_deployment(s, "tol", 1, "'tolerations':[{'operator':'Exists'}]");
    site_pod(s, "tol-1-a", "w4", "tol", SITE_OWNER(RS, "tol-1"), true,
             ",'tolerations':[{'operator':'Exists'}]");
    site_put(
        s, &kind_pod,
        "{'metadata':{'namespace':'x','name':'job','annotations':{"
        "'cluster-autoscaler.kubernetes.io/safe-to-evict':'false'}" SITE_OWNER_OF(
            "batch/v1", "Job", "j") "},'spec':{'nodeName':'w5'},'status':{'phase':'Running'}}");
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'late','deletionTimestamp':'2026-11-15T07:55:"
             "00Z'" SITE_OWNER(RS, "l-1") "},'spec':{'nodeName':'w6'},'status':{'phase':"
                                          "'Running'}}");
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'leaving','deletionTimestamp':'2026-11-15T07:59:"
             "30Z'" SITE_OWNER(RS, "l-1") "},'spec':{'nodeName':'w7'},'status':{'phase':"
                                          "'Running'}}");
    const struct lint *l = site_lint(s);
    assert_string_equal(site_only(l, LINT_BARE)->name, "bare");
    assert_string_equal(site_only(l, LINT_BARE)->kind, "Pod");
    assert_string_equal(site_only(l, LINT_EMPTY_DIR)->kind, "Deployment");
    assert_string_equal(site_only(l, LINT_EMPTY_DIR)->name, "tmp");
    assert_string_equal(site_only(l, LINT_PINNED)->name, "pin");
    assert_string_equal(site_only(l, LINT_RETURNS)->name, "tol");
    assert_string_equal(site_only(l, LINT_MARK)->name, "job");
    assert_string_equal(site_only(l, LINT_STUCK)->name, "late");
    assert_int_equal(l->n, 6);
    /* The worst first: never, refused, waits, remark. */
    for (size_t i = 1; i < l->n; i++)
        assert_true(lint_row(l->groups[i - 1].cause)->effect <=
                    lint_row(l->groups[i].cause)->effect);
    assert_int_equal(l->n_blocked, 6);
    assert_int_equal(lint_row(LINT_RETURNS)->effect, LINT_WAITS);
}

static void volumes_on_a_disk_of_the_node(void **state) {
    struct site *s = *state;
    static const char *const names[] = {"local", "host", "cloud"};
    site_put(s, &kind_pv,
             "{'metadata':{'name':'pv-local'},'spec':{'local':{'path':'/d'},'nodeAffinity':{"
             "'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'rack','operator':'In',"
             "'values':['1','2']}]}]}}}}");
    site_put(s, &kind_pv,
             "{'metadata':{'name':'pv-host'},'spec':{'hostPath':{'path':'/d'},'nodeAffinity':{"
             "'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':"
             "'kubernetes.io/hostname','operator':'In','values':['w1']}]}]}}}}");
    site_put(s, &kind_pv,
             "{'metadata':{'name':'pv-cloud'},'spec':{'csi':{'driver':'d','volumeHandle':'h'},"
             "'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':"
             "'topology.kubernetes.io/zone','operator':'In','values':['a']}]}]}}}}");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        _cleanup_free_ char *volumes = xasprintf(
            ",'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'%s'}}]", names[i]);
        site_put(s, &kind_pvc,
                 "{'metadata':{'namespace':'x','name':'%s'},'spec':{'volumeName':'pv-%s'}}",
                 names[i], names[i]);
        site_pod(s, names[i], "w1", "db", SITE_OWNER("StatefulSet", "db"), true, volumes);
    }
    const struct lint_finding *f = site_only(site_lint(s), LINT_LOCAL);
    assert_int_equal(f->pods, 2);
    assert_string_equal(f->kind, "StatefulSet");
    assert_string_equal(f->name, "db");
    assert_int_equal(s->lint.n_blocked, 0); /* the drain itself ends */
}

/* Those on the most nodes first, then by name; the group has the nodes of all, each once. */
static void findings_are_in_order(void **state) {
    struct site *s = *state;
    static const char *const names[] = {"c", "a", "b"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        site_pod(s, names[i], "w1", names[i], SITE_OWNER(RS, "r-1"), true, "");
        site_budget(s, names[i], "'maxUnavailable':0", "'expectedPods':1,'desiredHealthy':1");
    }
    site_pod(s, "b2", "w2", "b", SITE_OWNER(RS, "r-1"), true, "");
    const struct lint_group *g = site_group(site_lint(s), LINT_MAX_ZERO);
    assert_int_equal(g->n, 3);
    assert_string_equal(g->findings[0].name, "b");
    assert_string_equal(g->findings[1].name, "a");
    assert_string_equal(g->findings[2].name, "c");
    assert_int_equal(g->pods, 4);
    assert_int_equal(g->n_nodes, 2);
}

/* Owners that cannot be read: pods are told by what they name themselves. */
static void without_owners_their_names_must_do(void **state) {
    struct site *s = *state;
    site_pod(s, "a", "w1", "a", SITE_OWNER(RS, "unknown"), true,
             ",'volumes':[{'name':'t','emptyDir':{}}]");
    site_pod(s, "b", "w1", "a",
             ",'ownerReferences':[{'apiVersion':'example.com/v1','kind':'Odd','name':'odd',"
             "'uid':'o','controller':true}]",
             true, ",'volumes':[{'name':'t','emptyDir':{}}]");
    const struct lint_group *g = site_group(site_lint(s), LINT_EMPTY_DIR);
    assert_int_equal(g->n, 2);
    assert_string_equal(g->findings[0].kind, "Odd");
    assert_string_equal(g->findings[1].kind, "ReplicaSet");
}

static void every_cause_has_its_words(void **state) {
    (void)state;
    for (int i = 0; i < LINT_CAUSES; i++) {
        const struct lint_row *row = lint_row((enum lint_cause)i);
        assert_non_null(row->name);
        assert_non_null(row->one);
        assert_non_null(row->few);
        assert_string_not_equal(row->one, row->few);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(row->name, lint_row((enum lint_cause)k)->name);
        assert_true(row->effect < LINT_EFFECTS);
        assert_true(*lint_effect_word(row->effect) != '\0');
    }
}

/* Volumes that no pod of the node uses and that its driver does not get off it: a drain waits. */
static void volumes_that_do_not_get_off_a_node(void **state) {
    struct site *s = *state;
    site_node(s, "w1");
    site_node(s, "w2");
    for (int i = 1; i < 4; i++)
        site_put(s, &kind_volume_attachment,
                 "{'metadata':{'name':'va%d'},'spec':{'nodeName':'%s','source':{"
                 "'persistentVolumeName':'pv%d'}},'status':{'attached':true%s}}",
                 i, i < 3 ? "w1" : "w2", i, i < 3 ? ",'detachError':{'message':'busy'}" : "");
    const struct lint *l = site_lint(s);
    const struct lint_finding *f = site_only(l, LINT_ATTACHED);
    assert_string_equal(f->kind, "Node");
    assert_string_equal(f->name, "w1");
    assert_string_equal(f->text,
                        "2 volumes are still attached, though no pod here uses them: busy");
    assert_string_equal(f->fixes[0].command, "kubectl describe volumeattachment va1");
    assert_string_equal(f->fixes[1].command, "slipway drain w1 --volume-detach-timeout=1m");
    assert_int_equal(l->n_blocked, 1);
    assert_string_equal(l->blocked[0], "w1");
}

/* Bare pods under maxUnavailable: all are healthy, and none ever goes. */
static void a_budget_that_counts_no_pods(void **state) {
    struct site *s = *state;
    site_node(s, "w1");
    for (int i = 0; i < 2; i++)
        site_pod(s, i ? "b" : "a", "w1", "bare", "", true, "");
    site_budget(s, "bare", "'maxUnavailable':1", "'currentHealthy':2");
    const struct lint_finding *f = site_only(site_lint(s), LINT_UNCOUNTED);
    assert_int_equal(f->pods, 2);
    assert_int_equal(f->n_fixes, 2);
    assert_string_equal(f->fixes[1].command,
                        "kubectl -n x patch pdb bare --type=merge -p "
                        "'{\"spec\":{\"maxUnavailable\":null,\"minAvailable\":1}}'");
}

/* Nobody is told to change what an operator keeps, and no node is blocked by it. */
static void what_operators_keep_is_a_remark(void **state) {
    struct site *s = *state;
    site_node(s, "w1");
    site_put(
        s, &kind_pod,
        "{'metadata':{'namespace':'x','name':'im','labels':{'app':'im','longhorn.io/component'"
        ":'instance-manager'}" SITE_OWNER_OF(
            "longhorn.io/v1beta2", "InstanceManager",
            "im") "},'spec':{'nodeName':'w1'},"
                  "'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True'}]}}");
    site_budget(s, "im", "'minAvailable':1",
                "'currentHealthy':1,'desiredHealthy':1,'expectedPods':1");
    const struct lint *l = site_lint(s);
    assert_int_equal(l->n, 1);
    assert_int_equal(l->n_blocked, 0);
    const struct lint_finding *f = site_only(l, LINT_GUARD);
    assert_string_equal(f->name, "im");
    assert_non_null(strstr(f->text, "Longhorn keeps this budget"));
    assert_int_equal(f->n_fixes, 1);
    assert_string_equal(f->fixes[0].command, "slipway checks w1");
}

/* OSDs find no room elsewhere, and nobody shall take them off their node; their budget is Rook's.
 */
static void osds_are_on_their_disks(void **state) {
    struct site *s = *state;
    s->room = true;
    site_node(s, "w1");
    site_node(s, "w2");
    for (int i = 0; i < 2; i++)
        site_pod(s, i ? "osd-b" : "osd-a", "w1", "rook-ceph-osd", SITE_OWNER("ReplicaSet", "osd-1"),
                 true, ",'nodeSelector':{'kubernetes.io/hostname':'w1'}");
    site_budget(s, "rook-ceph-osd", "'maxUnavailable':1",
                "'disruptionsAllowed':1,'currentHealthy':6,'desiredHealthy':5,'expectedPods':6");
    const struct lint *l = site_lint(s);
    assert_int_equal(l->n, 1);
    assert_int_equal(l->n_blocked, 0);
    const struct lint_finding *f = site_only(l, LINT_LOCAL);
    assert_string_equal(f->text, "2 pods with data on disks of the node");
    assert_int_equal(f->n_fixes, 1);
    assert_string_equal(f->fixes[0].command, "");
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_found_in_a_cluster_that_is_well),
        TEST(budgets_that_never_allow_are_told_apart),
        TEST(only_pods_that_a_drain_meets_count),
        TEST(budgets_with_nothing_to_spare),
        TEST(pods_under_the_same_budgets_are_one_finding),
        TEST(a_budget_without_pods_is_a_remark),
        TEST(workloads_that_a_drain_stumbles_over),
        TEST(volumes_on_a_disk_of_the_node),
        TEST(findings_are_in_order),
        TEST(without_owners_their_names_must_do),
        TEST(every_cause_has_its_words),
        TEST(volumes_that_do_not_get_off_a_node),
        TEST(a_budget_that_counts_no_pods),
        TEST(what_operators_keep_is_a_remark),
        TEST(osds_are_on_their_disks),
    };
    return cmocka_run_group_tests_name("engine/lint", tests, NULL, NULL);
}
