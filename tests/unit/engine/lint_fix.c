/* Tests of src/engine/lint_fix.c: the commands, to the letter. That they help is tried on a real
 * cluster (tests/cluster/test_doctor.py). */
#include "engine/lint_internal.h"

#include "lint_site.h"

#define RS        "ReplicaSet"
#define HEALTH(n) "'currentHealthy':" #n ",'desiredHealthy':" #n ",'expectedPods':" #n

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

static void max_unavailable_zero(void **state) {
    struct site *s = *state;
    site_deployment(s, "a", 3, "'containers':[]");
    site_pod(s, "a-1", "w1", "a", SITE_OWNER(RS, "a-1"), true, "");
    site_budget(s, "a", "'maxUnavailable':0", HEALTH(3));
    const struct lint_finding *f = site_only(site_lint(s), LINT_MAX_ZERO);
    /* More replicas would not help: none may be missing, however many there are. */
    assert_int_equal(f->n_fixes, 1);
    assert_fix(f, 0, WHY_RISK_SERVICE,
               "kubectl -n x patch pdb a --type=merge -p '{\"spec\":{\"maxUnavailable\":1}}'");
    assert_string_equal(f->fixes[0].cost, "2 of 3 serve meanwhile");
}

static void a_single_replica(void **state) {
    struct site *s = *state;
    site_deployment(s, "a", 1, "'containers':[]");
    site_pod(s, "a-1", "w1", "a", SITE_OWNER(RS, "a-1"), true, "");
    site_budget(s, "a", "'minAvailable':1", HEALTH(1));
    const struct lint_finding *f = site_only(site_lint(s), LINT_SINGLE);
    assert_int_equal(f->n_fixes, 3);
    assert_fix(f, 0, WHY_RISK_LOW, "slipway drain w1 --surge");
    assert_fix(f, 1, WHY_RISK_LOW, "kubectl -n x scale deployment a --replicas=2");
    assert_fix(f, 2, WHY_RISK_SERVICE,
               "kubectl -n x patch pdb a --type=merge -p "
               "'{\"spec\":{\"minAvailable\":null,\"maxUnavailable\":1}}'");
    assert_string_equal(f->fixes[2].cost, "none serves until the new one is ready");
}

/* A second replica would wait for the volume of the first; all of two are as many as all of one. */
static void a_second_replica_that_would_not_help(void **state) {
    struct site *s = *state;
    site_deployment(s, "a", 1,
                    "'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'d'}}]");
    site_pod(s, "a-1", "w1", "a", SITE_OWNER(RS, "a-1"), true, "");
    site_budget(s, "a", "'minAvailable':1", HEALTH(1));
    assert_int_equal(site_only(site_lint(s), LINT_SINGLE)->n_fixes, 1);
    site_deployment(s, "b", 1, "'containers':[]");
    site_pod(s, "b-1", "w1", "b", SITE_OWNER(RS, "b-1"), true, "");
    site_budget(s, "b", "'minAvailable':'100%'", HEALTH(1));
    const struct lint_group *g = site_group(site_lint(s), LINT_SINGLE);
    assert_int_equal(g->n, 2);
    assert_int_equal(g->findings[1].n_fixes, 1);
    assert_int_equal(g->findings[1].fixes[0].risk, WHY_RISK_SERVICE);
}

static void a_stateful_set_that_is_needed_whole(void **state) {
    struct site *s = *state;
    site_put(s, &kind_stateful_set,
             "{'metadata':{'namespace':'x','name':'db','uid':'uid-db'},'spec':{'replicas':3,"
             "'template':{'spec':{'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':"
             "'d'}}]}}},'status':{'readyReplicas':3}}");
    site_pod(s, "db-0", "w1", "db", SITE_OWNER("StatefulSet", "db"), true, "");
    site_budget(s, "db", "'minAvailable':3", HEALTH(3));
    const struct lint_finding *f = site_only(site_lint(s), LINT_MIN_ALL);
    assert_int_equal(f->n_fixes, 2);
    assert_fix(f, 0, WHY_RISK_LOW, "kubectl -n x scale statefulset db --replicas=4");
    assert_string_equal(f->fixes[0].cost, "a new member joins; it needs room and a volume");
}

/* Of an owner whose number nobody can ask for, the budget stays a number. */
static void pods_of_an_unknown_controller(void **state) {
    struct site *s = *state;
    static const char odd[] = ",'ownerReferences':[{'apiVersion':'example.com/v1','kind':'Odd',"
                              "'name':'odd','uid':'o','controller':true}]";
    site_pod(s, "a-1", "w1", "a", odd, true, "");
    site_pod(s, "a-2", "w1", "a", odd, true, "");
    site_budget(s, "a", "'minAvailable':2", HEALTH(2));
    const struct lint_finding *f = site_only(site_lint(s), LINT_MIN_ALL);
    assert_int_equal(f->n_fixes, 1);
    assert_fix(f, 0, WHY_RISK_SERVICE,
               "kubectl -n x patch pdb a --type=merge -p '{\"spec\":{\"minAvailable\":1}}'");
    site_pod(s, "b-1", "w1", "b", odd, true, "");
    site_pod(s, "b-2", "w1", "b", odd, true, "");
    site_budget(s, "b", "'maxUnavailable':1",
                "'conditions':[{'type':'DisruptionAllowed','status':'False','reason':"
                "'SyncFailed','message':'no scale'}]");
    f = site_only(site_lint(s), LINT_SYNC_FAILED);
    assert_fix(f, 0, WHY_RISK_NONE, "kubectl -n x describe pdb b");
    assert_fix(f, 1, WHY_RISK_SERVICE,
               "kubectl -n x patch pdb b --type=merge -p "
               "'{\"spec\":{\"maxUnavailable\":null,\"minAvailable\":1}}'");
    assert_string_equal(f->text, "maxUnavailable 1, its controller cannot compute it: no scale");
}

/* As the real controller leaves it when it has never succeeded: the condition, and nothing else. */
static void a_budget_that_was_never_computed(void **state) {
    struct site *s = *state;
    site_pod(s, "a-1", "w1", "a", SITE_OWNER(RS, "a-1"), true, "");
    site_put(s, &kind_pdb,
             "{'metadata':{'namespace':'x','name':'a','generation':1},'spec':{'maxUnavailable':1,"
             "'selector':{'matchLabels':{'app':'a'}}},'status':{'conditions':[{'type':"
             "'DisruptionAllowed','status':'False','reason':'SyncFailed','message':'no scale'}]}}");
    const struct lint_finding *f = site_only(site_lint(s), LINT_SYNC_FAILED);
    assert_string_equal(f->text, "maxUnavailable 1, its controller cannot compute it: no scale");
    assert_fix(f, 1, WHY_RISK_SERVICE,
               "kubectl -n x patch pdb a --type=merge -p "
               "'{\"spec\":{\"maxUnavailable\":null,\"minAvailable\":0}}'");
}

/* An operator that keeps the budget would set it back: that is said first. */
static void a_budget_that_an_operator_keeps(void **state) {
    struct site *s = *state;
    site_pod(s, "a-1", "w1", "a", SITE_OWNER(RS, "a-1"), true, "");
    site_put(s, &kind_pdb,
             "{'metadata':{'namespace':'x','name':'a','ownerReferences':[{'apiVersion':"
             "'postgresql.cnpg.io/v1','kind':'Cluster','name':'pg','uid':'u','controller':true}]},"
             "'spec':{'maxUnavailable':0,'selector':{'matchLabels':{'app':'a'}}},'status':{" HEALTH(
                 1) "}}");
    const struct lint_finding *f = site_only(site_lint(s), LINT_MAX_ZERO);
    assert_int_equal(f->n_fixes, 2);
    assert_string_equal(f->fixes[0].text, "Cluster pg keeps this budget: change it there");
    assert_string_equal(f->fixes[0].command, "");
    assert_non_null(strstr(f->fixes[1].cost, "Cluster pg may set it back"));
}

static void nothing_to_spare(void **state) {
    struct site *s = *state;
    site_pod(s, "a-1", "w1", "a", SITE_OWNER(RS, "a-1"), true, "");
    site_pod(s, "a-2", "w2", "a", SITE_OWNER(RS, "a-1"), true, "");
    site_pod(s, "a-3", "w3", "a", SITE_OWNER(RS, "a-1"), false, "");
    site_budget(s, "a", "'maxUnavailable':1",
                "'currentHealthy':1,'desiredHealthy':2,'expectedPods':3");
    const struct lint *l = site_lint(s);
    const struct lint_finding *f = site_only(l, LINT_SHORT);
    assert_int_equal(f->n_fixes, 2);
    assert_fix(f, 0, WHY_RISK_NONE, "slipway why x/a-3");
    assert_fix(f, 1, WHY_RISK_SERVICE,
               "kubectl -n x patch pdb a --type=merge -p '{\"spec\":{\"maxUnavailable\":3}}'");
    f = site_only(l, LINT_UNHEALTHY);
    assert_fix(f, 0, WHY_RISK_NONE, "slipway why x/a-3");
    assert_fix(f, 1, WHY_RISK_LOW,
               "kubectl -n x patch pdb a --type=merge -p "
               "'{\"spec\":{\"unhealthyPodEvictionPolicy\":\"AlwaysAllow\"}}'");
}

/* The one that allows something is kept; what only the other guards is counted. */
static void overlapping_budgets(void **state) {
    struct site *s = *state;
    site_pod(s, "a-1", "w1", "a", SITE_OWNER(RS, "a-1"), true, "");
    site_pod(s, "b-1", "w1", "b", SITE_OWNER(RS, "b-1"), true, "");
    site_budget(s, "a", "'maxUnavailable':1", "'disruptionsAllowed':1,'expectedPods':1");
    site_put(s, &kind_pdb,
             "{'metadata':{'namespace':'x','name':'all'},'spec':{'maxUnavailable':0,'selector':{}},"
             "'status':{'desiredHealthy':2,'expectedPods':2}}");
    const struct lint_finding *f = site_only(site_lint(s), LINT_OVERLAP);
    assert_fix(f, 0, WHY_RISK_LOW, "kubectl -n x delete pdb all");
    assert_string_equal(f->fixes[0].text, "keep a, delete the other");
    assert_string_equal(f->fixes[0].cost, "1 other pod has no budget then");
}

/* A drain that needs two flags is given both. */
static void flags_of_a_drain(void **state) {
    struct site *s = *state;
    site_pod(s, "bare", "w1", "bare", "", true, "");
    site_pod(s, "alone", "w2", "bare", "", true, "");
    site_pod(s, "tmp", "w1", "tmp", SITE_OWNER(RS, "t-1"), true,
             ",'volumes':[{'name':'t','emptyDir':{}}]");
    const struct lint *l = site_lint(s);
    const struct lint_group *g = site_group(l, LINT_BARE);
    assert_int_equal(g->n, 2);
    assert_fix(&g->findings[0], 0, WHY_RISK_NONE,
               "kubectl -n x get pod alone -o yaml > alone.yaml");
    assert_fix(&g->findings[0], 1, WHY_RISK_SERVICE, "slipway drain w2 --force");
    assert_fix(&g->findings[1], 1, WHY_RISK_SERVICE,
               "slipway drain w1 --force --delete-emptydir-data");
    assert_fix(site_only(l, LINT_EMPTY_DIR), 0, WHY_RISK_DATA,
               "slipway drain w1 --force --delete-emptydir-data");
}

static void templates(void **state) {
    struct site *s = *state;
    site_deployment(s, "pin", 1, "'nodeName':'w1'");
    site_pod(s, "pin-1-a", "w1", "pin", SITE_OWNER(RS, "pin-1"), true, "");
    site_deployment(s, "tol", 1,
                    "'tolerations':[{'key':'other','operator':'Exists'},{'key':"
                    "'node.kubernetes.io/unschedulable','operator':'Exists'}]");
    site_pod(s, "tol-1-a", "w1", "tol", SITE_OWNER(RS, "tol-1"), true,
             ",'tolerations':[{'key':'node.kubernetes.io/unschedulable','operator':'Exists'}]");
    const struct lint *l = site_lint(s);
    assert_fix(site_only(l, LINT_PINNED), 0, WHY_RISK_LOW,
               "kubectl -n x patch deployment pin --type=json -p "
               "'[{\"op\":\"remove\",\"path\":\"/spec/template/spec/nodeName\"}]'");
    assert_fix(site_only(l, LINT_RETURNS), 0, WHY_RISK_LOW,
               "kubectl -n x patch deployment tol --type=json -p "
               "'[{\"op\":\"remove\",\"path\":\"/spec/template/spec/tolerations/1\"}]'");
}

static void marks_and_finalizers(void **state) {
    struct site *s = *state;
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'job','annotations':{"
             "'karpenter.sh/do-not-disrupt':'true'}" SITE_OWNER(
                 "Job", "j") "},'spec':{'nodeName':'w1'},'status':{'phase':'Running'}}");
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'late','finalizers':['example.com/f'],"
             "'deletionTimestamp':'2026-11-15T07:55:00Z'" SITE_OWNER(
                 RS, "l-1") "},'spec':{'nodeName':'w1'},'status':{'phase':'Running'}}");
    const struct lint *l = site_lint(s);
    assert_fix(site_only(l, LINT_MARK), 1, WHY_RISK_SERVICE,
               "kubectl -n x annotate pod job karpenter.sh/do-not-disrupt-");
    const struct lint_finding *f = site_only(l, LINT_HELD);
    assert_string_equal(f->text, "should have stopped by 2026-11-15T07:55:00Z; its finalizers: "
                                 "example.com/f");
    assert_fix(f, 1, WHY_RISK_DATA,
               "kubectl -n x patch pod late --type=merge -p "
               "'{\"metadata\":{\"finalizers\":null}}'");
}

static void set_pod(struct site *s, int n, const char *node, bool ready, const char *revision) {
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'db-%d','labels':{'controller-revision-hash':"
             "'%s'}" SITE_OWNER("StatefulSet", "db") "},'spec':{'nodeName':'%s'},'status':{"
                                                     "'phase':'Running','conditions':[{'type':"
                                                     "'Ready','status':'%s'}]}}",
             n, revision, node, ready ? "True" : "False");
}

/* Only those after the one that is not ready are held up, and only where the order matters. */
/* Its pods go with it, whatever a drain does. */
static void a_namespace_that_is_being_deleted(void **state) {
    struct site *s = *state;
    site_put(s, &kind_namespace,
             "{'metadata':{'name':'x','deletionTimestamp':'2026-11-15T07:00:00Z'},'status':{"
             "'phase':'Terminating'}}");
    site_pod(s, "a", "w1", "a", SITE_OWNER("ReplicaSet", "a-1"), true, "");
    site_pod(s, "b", "w2", "b", SITE_OWNER("ReplicaSet", "b-1"), true, "");
    const struct lint_finding *f = site_only(site_lint(s), LINT_NAMESPACE);
    assert_string_equal(f->kind, "Namespace");
    assert_string_equal(f->name, "x");
    assert_int_equal(f->pods, 2);
    assert_int_equal(f->n_nodes, 2);
    assert_fix(f, 0, WHY_RISK_NONE, "kubectl get namespace x -o yaml");
    assert_int_equal(s->lint.n_blocked, 2);
}

/* The same code as in why, status and a plan; a pod that leaves there is no finding of its own. */
static void a_node_that_does_not_answer(void **state) {
    struct site *s = *state;
    site_put(s, &kind_node,
             "{'metadata':{'name':'w1'},'status':{'conditions':[{'type':'Ready','status':'Unknown',"
             "'reason':'NodeStatusUnknown','lastHeartbeatTime':'2026-11-15T06:59:10Z',"
             "'lastTransitionTime':'2026-11-15T07:00:00Z'}]}}");
    site_put(s, &kind_node,
             "{'metadata':{'name':'w2'},'status':{'conditions':[{'type':'Ready','status':"
             "'Unknown'}]}}"); /* nothing has to stop there */
    site_pod(s, "a", "w1", "a", SITE_OWNER("ReplicaSet", "a-1"), true, "");
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'late','deletionTimestamp':'2026-11-15T07:55:"
             "00Z'" SITE_OWNER("ReplicaSet", "a-1") "},'spec':{'nodeName':'w1'},'status':{'phase':"
                                                    "'Running'}}");
    const struct lint_finding *f = site_only(site_lint(s), LINT_LOST);
    assert_string_equal(f->kind, "Node");
    assert_string_equal(f->ns, "");
    assert_string_equal(f->name, "w1");
    assert_int_equal(f->pods, 2);
    assert_string_equal(f->text, "it does not answer (NodeStatusUnknown): last heard of at "
                                 "2026-11-15T06:59:10Z, or soon after");
    assert_int_equal(lint_severity(LINT_LOST), SEVERITY_ERROR); /* as why and status mark it */
    assert_fix(f, 0, WHY_RISK_NONE, "kubectl describe node w1");
    assert_fix(f, 1, WHY_RISK_DATA,
               "kubectl taint node w1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute");
    assert_null(site_group(&s->lint, LINT_STUCK));
    assert_int_equal(lint_row(LINT_LOST)->code, BLOCKER_NODE_UNREACHABLE);
    assert_int_equal(s->lint.n_blocked, 1);
}

/* A drain waits for whoever takes it off; Kubernetes' own finalizers are no finding. */
static void pods_with_finalizers(void **state) {
    struct site *s = *state;
    site_deployment(s, "a", 2, "'containers':[]");
    for (int i = 0; i < 2; i++)
        site_put(
            s, &kind_pod,
            "{'metadata':{'namespace':'x','name':'a%d','finalizers':['example.com/f']" SITE_OWNER(
                "ReplicaSet", "a-1") "},'spec':{'nodeName':'w%d'},'status':{'phase':'Running'}"
                                     "}",
            i, i);
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'j','finalizers':["
             "'batch.kubernetes.io/job-tracking']" SITE_OWNER(
                 "Job", "j") "},'spec':{'nodeName':'w0'},'status':{'phase':'Running'}}");
    const struct lint_finding *f = site_only(site_lint(s), LINT_FINALIZER);
    assert_string_equal(f->kind, "Deployment");
    assert_string_equal(f->text, "the finalizer example.com/f");
    assert_int_equal(f->pods, 2);
    assert_fix(f, 0, WHY_RISK_NONE, "kubectl -n x describe pod a0");
    /* one that has stopped and is still there is told by itself */
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'done','finalizers':['example.com/f'],"
             "'deletionTimestamp':'2026-11-15T07:59:59Z'" SITE_OWNER(
                 "ReplicaSet", "a-1") "},'spec':{'nodeName':'w0'},'status':{'phase':'Failed'}}");
    assert_string_equal(site_only(site_lint(s), LINT_HELD)->name, "done");
}

static void a_stateful_set_that_is_stuck(void **state) {
    struct site *s = *state;
    static const char set[] =
        "{'metadata':{'namespace':'x','name':'db','uid':'uid-db','resourceVersion':'%d'},'spec':{"
        "'replicas':12,'podManagementPolicy':'%s'},'status':{'readyReplicas':3,'updateRevision':"
        "'db-2'}}";
    site_put(s, &kind_stateful_set, set, 1, "OrderedReady");
    set_pod(s, 0, "w1", true, "db-1");
    set_pod(s, 2, "w2", false, "db-1");
    set_pod(s, 3, "w3", true, "db-1");
    set_pod(s, 10, "w3", true, "db-1"); /* by number, not by name */
    const struct lint *l = site_lint(s);
    const struct lint_finding *f = site_only(l, LINT_ORDERED);
    assert_string_equal(f->text,
                        "db-2 is not ready: evicted, 2 pods after it would not be made anew");
    assert_int_equal(f->n_nodes, 1);
    assert_string_equal(f->nodes[0], "w3");
    assert_int_equal(f->pods, 2);
    assert_fix(f, 0, WHY_RISK_NONE, "slipway why x/db-2");
    assert_fix(f, 1, WHY_RISK_LOW, "kubectl -n x delete pod db-2");
    assert_int_equal(l->n_blocked, 0);
    site_put(s, &kind_stateful_set, set, 2, "Parallel");
    assert_null(site_group(site_lint(s), LINT_ORDERED));
}

/* The last one is not ready: nothing comes after it. */
static void a_stateful_set_whose_last_pod_is_sick(void **state) {
    struct site *s = *state;
    site_put(s, &kind_stateful_set,
             "{'metadata':{'namespace':'x','name':'db','uid':'uid-db'},'spec':{'replicas':2},"
             "'status':{'readyReplicas':1,'updateRevision':'db-1'}}");
    set_pod(s, 0, "w1", true, "db-1");
    set_pod(s, 1, "w2", false, "db-1");
    assert_null(site_group(site_lint(s), LINT_ORDERED));
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(max_unavailable_zero),
        TEST(a_single_replica),
        TEST(a_second_replica_that_would_not_help),
        TEST(a_stateful_set_that_is_needed_whole),
        TEST(pods_of_an_unknown_controller),
        TEST(a_budget_that_was_never_computed),
        TEST(a_budget_that_an_operator_keeps),
        TEST(nothing_to_spare),
        TEST(overlapping_budgets),
        TEST(flags_of_a_drain),
        TEST(templates),
        TEST(marks_and_finalizers),
        TEST(a_namespace_that_is_being_deleted),
        TEST(a_node_that_does_not_answer),
        TEST(pods_with_finalizers),
        TEST(a_stateful_set_that_is_stuck),
        TEST(a_stateful_set_whose_last_pod_is_sick),
    };
    return cmocka_run_group_tests_name("engine/lint_fix", tests, NULL, NULL);
}
