/* Tests of src/engine/why_budget.c. Budgets' numbers are what the disruption controller computes
 * (pkg/controller/disruption/disruption.go: both percentages round up). */
#include "engine/why.h"

#include "why_scene.h"

static void a_budget_that_needs_all_wants_one_more(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_deployment(s, "web", 3);
    scene_pod(s, "web-1", "web", "n1", POD_WELL);
    scene_pod(s, "web-2", "web", "n2", POD_WELL);
    scene_pod(s, "web-3", "web", "n3", POD_WELL);
    scene_budget(s, "web", "'minAvailable':3", 3, 3, 3);
    const struct why *why = scene_why(s, "n1");
    const struct why_link *l = link_of(why, BLOCKER_PDB_UNSATISFIABLE);
    assert_int_equal(why->state, WHY_BLOCKED);
    assert_string_equal(l->object, "x/web");
    assert_int_equal(l->pods, 1);
    assert_string_equal(l->example, "x/web-1");
    assert_contains(l->text, "minAvailable 3, needs 3 healthy of 3, has 3, allows 0: never");
    assert_int_equal(l->n_causes, 0);
    assert_int_equal(l->n_remedies, 3);
    assert_string_equal(l->remedies[0].command, "kubectl -n x scale deployment web --replicas=4");
    assert_int_equal(l->remedies[0].risk, WHY_RISK_LOW);
    assert_string_equal(l->remedies[1].command, "kubectl -n x patch pdb web --type=merge -p "
                                                "'{\"spec\":{\"minAvailable\":null,"
                                                "\"maxUnavailable\":1}}'");
    assert_int_equal(l->remedies[1].risk, WHY_RISK_SERVICE);
    assert_string_equal(l->remedies[1].cost, "2 of 3 serve meanwhile");
    assert_string_equal(l->remedies[2].command, "slipway drain n1 --disable-eviction");
}

static void a_single_replica_is_surged(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_deployment(s, "one", 1);
    scene_pod(s, "one-1", "one", "n1", POD_WELL);
    scene_budget(s, "one", "'minAvailable':1", 1, 1, 1);
    const struct why_link *l = link_of(scene_why(s, "n1"), BLOCKER_PDB_UNSATISFIABLE);
    assert_string_equal(l->remedies[0].command, "slipway drain n1 --surge");
    assert_string_equal(l->remedies[1].command, "kubectl -n x scale deployment one --replicas=2");
    const struct why_remedy *r = remedy_of(l, "patch pdb");
    assert_contains(r->command, "\"maxUnavailable\":1");
    assert_string_equal(r->cost, "none serves until the new one is ready");
}

static void a_stateful_set_gets_a_member(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_add(s, &kind_stateful_set,
              "{'metadata':{'namespace':'x','name':'db','uid':'u-db'},'spec':{'replicas':3}}");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'db-0','labels':{'app':'db'}," OWNED(
                  "StatefulSet", "db") "},'spec':{'nodeName':'n1'}," RUNNING "}");
    scene_budget(s, "db", "'minAvailable':3", 3, 3, 3);
    const struct why_link *l = link_of(scene_why(s, "n1"), BLOCKER_PDB_UNSATISFIABLE);
    assert_string_equal(l->remedies[0].command, "kubectl -n x scale statefulset db --replicas=4");
    assert_contains(l->remedies[0].cost, "a new member joins");
}

/* No number of replicas makes room in these. */
static void where_more_replicas_do_not_help_none_are_advised(void **state) {
    static const char *const specs[] = {"'maxUnavailable':0", "'maxUnavailable':'0%'",
                                        "'minAvailable':'100%'"};
    for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
        struct scene *s;
        scene_setup((void **)&s);
        scene_node(s, "n1");
        scene_deployment(s, "web", 2);
        scene_pod(s, "web-1", "web", "n1", POD_WELL);
        scene_budget(s, "web", specs[i], 2, 2, 2);
        const struct why_link *l = link_of(scene_why(s, "n1"), BLOCKER_PDB_UNSATISFIABLE);
        assert_null(remedy_of(l, "scale"));
        assert_null(remedy_of(l, "--surge"));
        assert_non_null(remedy_of(l, "\"maxUnavailable\":1"));
        assert_int_equal(scene_teardown((void **)&s), 0);
    }
    (void)state;
}

/* 60% of 2 is 1.2, so 2 must stay; of 3 it is 1.8, so 2 must stay and one may go. */
static void percentages_round_up(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_deployment(s, "web", 2);
    scene_pod(s, "web-1", "web", "n1", POD_WELL);
    scene_pod(s, "web-2", "web", "n2", POD_WELL);
    scene_budget(s, "web", "'minAvailable':'60%'", 2, 2, 2);
    const struct why_link *l = link_of(scene_why(s, "n1"), BLOCKER_PDB_UNSATISFIABLE);
    assert_non_null(remedy_of(l, "--replicas=3"));
}

static void what_starts_is_waited_for(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_node(s, "n2");
    scene_deployment(s, "web", 2);
    scene_pod(s, "web-1", "web", "n1", POD_WELL);
    scene_pod(s, "web-2", "web", "n2", "'phase':'Pending'," UNREADY);
    scene_budget(s, "web", "'maxUnavailable':1", 2, 1, 1);
    const struct why *why = scene_why(s, "n1");
    const struct why_link *l = link_of(why, BLOCKER_PDB_NO_BUDGET);
    assert_int_equal(why->state, WHY_WAITS);
    assert_int_equal(l->n_causes, 1);
    assert_string_equal(l->causes[0]->object, "x/web-2");
    assert_string_equal(l->causes[0]->text, "starting on n2");
    assert_int_equal(l->n_remedies, 1);
    assert_string_equal(l->remedies[0].text, "wait until they are ready");
    assert_int_equal(l->remedies[0].risk, WHY_RISK_NONE);
}

static void equal_pods_are_one_line(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_deployment(s, "web", 60);
    for (int i = 0; i < 30; i++) {
        char name[16];
        snprintf(name, sizeof name, "web-%02d", i);
        scene_pod(s, name, "web", "n1", POD_WELL);
    }
    scene_budget(s, "web", "'maxUnavailable':1", 60, 30, 59);
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->n_links, 1);
    assert_int_equal(why->links[0]->pods, 30);
    assert_string_equal(why->links[0]->example, "x/web-00");
    assert_string_equal(why->summary, "a drain would wait: none of its 30 pods can go now");
}

/* A quota keeps the ReplicaSet from making its pods: nobody would find a pod to look at. */
static void replicas_that_nobody_made_are_told(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_add(
        s, &kind_replica_set,
        "{'metadata':{'namespace':'x','name':'web-1','uid':'u'," OWNED("Deployment", "web") "}}");
    scene_add(s, &kind_deployment,
              "{'metadata':{'namespace':'x','name':'web'},'spec':{'replicas':3},'status':{"
              "'conditions':[{'type':'ReplicaFailure','status':'True','reason':'FailedCreate',"
              "'message':'exceeded quota: small'}]}}");
    scene_pod(s, "web-1", "web", "n1", POD_WELL);
    scene_pod(s, "web-2", "web", "n2", POD_WELL);
    scene_budget(s, "web", "'maxUnavailable':1", 3, 2, 2);
    const struct why_link *l = link_of(scene_why(s, "n1"), BLOCKER_PDB_NO_BUDGET);
    const struct why_link *c = cause_of(l, "1 replica that it counts on is not there");
    assert_non_null(c);
    assert_contains(c->text, "exceeded quota: small");
    assert_string_equal(c->object, "x/web");
    assert_non_null(remedy_of(l, "kubectl -n x describe deployment web"));
}

static void pods_that_are_not_ready_anyway_may_be_let_go(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_deployment(s, "web", 2);
    scene_pod(s, "web-1", "web", "n1",
              "'phase':'Running'," UNREADY ",'containerStatuses':[{'name':'c','restartCount':7,"
              "'state':{'waiting':{'reason':'CrashLoopBackOff'}}}]");
    scene_budget(s, "web", "'minAvailable':1", 2, 0, 1);
    const struct why_link *l = link_of(scene_why(s, "n1"), BLOCKER_PDB_NO_BUDGET);
    const struct why_remedy *r = remedy_of(l, "unhealthyPodEvictionPolicy");
    assert_non_null(r);
    assert_contains(r->command, "'{\"spec\":{\"unhealthyPodEvictionPolicy\":\"AlwaysAllow\"}}'");
    assert_int_equal(r->risk, WHY_RISK_LOW);
    /* a second copy of what crashes would crash too; a budget of none healthy has none to give */
    assert_null(remedy_of(l, "scale"));
    assert_null(remedy_of(l, "minAvailable"));
    assert_contains(l->remedies[0].command, "logs web-1 -c c --previous");
}

static void two_budgets_are_told_together(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_deployment(s, "web", 3);
    scene_pod(s, "web-1", "web", "n1", POD_WELL);
    scene_pod(s, "web-2", "web", "n1", POD_WELL);
    scene_budget(s, "web", "'maxUnavailable':1", 3, 3, 2);
    scene_add(
        s, &kind_pdb,
        "{'metadata':{'namespace':'x','name':'all'},'spec':{'maxUnavailable':2,'selector':{}},"
        "'status':{'expectedPods':3,'currentHealthy':3,'desiredHealthy':1,"
        "'disruptionsAllowed':2}}");
    const struct why_link *l = link_of(scene_why(s, "n1"), BLOCKER_MULTIPLE_PDBS);
    assert_int_equal(l->pods, 2);
    assert_string_equal(l->object, "x/all,web");
    assert_int_equal(l->n_causes, 2);
    assert_string_equal(l->causes[0]->object, "x/all");
    /* as many pods are in both: the looser one is the one that is not needed */
    assert_string_equal(l->remedies[0].command, "kubectl -n x delete pdb all");
    assert_contains(l->remedies[0].text, "web");
}

/* No pod is left without any budget when the narrower one goes. */
static void the_wider_of_two_budgets_is_kept(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_deployment(s, "web", 3);
    scene_pod(s, "web-1", "web", "n1", POD_WELL);
    scene_budget(s, "web", "'maxUnavailable':1", 3, 3, 2);
    scene_add(
        s, &kind_pdb,
        "{'metadata':{'namespace':'x','name':'all'},'spec':{'maxUnavailable':5,'selector':{}},"
        "'status':{'expectedPods':9,'currentHealthy':9,'desiredHealthy':4,"
        "'disruptionsAllowed':5}}");
    const struct why_link *l = link_of(scene_why(s, "n1"), BLOCKER_MULTIPLE_PDBS);
    assert_string_equal(l->remedies[0].command, "kubectl -n x delete pdb web");
    assert_string_equal(l->remedies[0].cost, "all alone guards the pods then");
}

/* With the strict one nothing would go at all. */
static void the_one_of_two_budgets_that_allows_something_is_kept(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_deployment(s, "web", 3);
    scene_pod(s, "web-1", "web", "n1", POD_WELL);
    scene_budget(s, "web", "'maxUnavailable':1", 3, 3, 2);
    scene_add(
        s, &kind_pdb,
        "{'metadata':{'namespace':'x','name':'all'},'spec':{'maxUnavailable':0,'selector':{}},"
        "'status':{'expectedPods':3,'currentHealthy':3,'desiredHealthy':3}}");
    const struct why_link *l = link_of(scene_why(s, "n1"), BLOCKER_MULTIPLE_PDBS);
    assert_string_equal(l->remedies[0].command, "kubectl -n x delete pdb all");
}

static void a_budget_that_cannot_be_computed(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_pod(s, "a", "a", "n1", POD_WELL);
    scene_add(s, &kind_pdb,
              "{'metadata':{'namespace':'x','name':'a'},'spec':{'maxUnavailable':1,'selector':{"
              "'matchLabels':{'app':'a'}}},'status':{'conditions':[{'type':'DisruptionAllowed',"
              "'status':'False','reason':'SyncFailed','message':'no scale',"
              "'lastTransitionTime':'2026-11-15T06:00:00Z'}]}}");
    const struct why_link *l = link_of(scene_why(s, "n1"), BLOCKER_PDB_SYNC_FAILED);
    assert_contains(l->text, "no scale");
    assert_int_equal(l->since, NOW - SEC(7200));
    assert_non_null(remedy_of(l, "kubectl -n x describe pdb a"));
}

static void a_budget_that_nobody_has_looked_at(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_pod(s, "a", "a", "n1", POD_WELL);
    scene_add(s, &kind_pdb,
              "{'metadata':{'namespace':'x','name':'a','generation':2},'spec':{'maxUnavailable':1,"
              "'selector':{'matchLabels':{'app':'a'}}},'status':{'observedGeneration':1,"
              "'expectedPods':1}}");
    const struct why_link *l = link_of(scene_why(s, "n1"), BLOCKER_PDB_NO_BUDGET);
    assert_contains(l->remedies[0].text, "kube-controller-manager");
}

/* Only the pods of the budget are asked for, by its selector. */
static void the_pods_are_asked_for_by_selector(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_pod(s, "a", "a", "n1", POD_WELL);
    scene_add(s, &kind_pdb,
              "{'metadata':{'namespace':'x','name':'a'},'spec':{'maxUnavailable':1,'selector':{"
              "'matchLabels':{'app':'a'},'matchExpressions':[{'key':'tier','operator':"
              "'DoesNotExist'}]}},'status':{'expectedPods':3,'currentHealthy':2,"
              "'desiredHealthy':2}}");
    s->unread = "budget-pods";
    const struct why *why = scene_why(s, "n1");
    assert_false(why->complete);
    assert_contains(str_get(&s->asked), "budget-pods x  app=a,!tier\n");
    /* what is known is told already */
    assert_contains(link_of(why, BLOCKER_PDB_NO_BUDGET)->text, "has 2");
}

/* Whatever the status says: no undefined behaviour (the sanitizers look), and an answer. */
static void absurd_budgets(void **state) {
    static const char *const specs[] = {"'minAvailable':2147483647",
                                        "'minAvailable':-2147483648",
                                        "'maxUnavailable':'99999999999999999999%'",
                                        "'maxUnavailable':'-5%'",
                                        "'minAvailable':'nonsense'",
                                        "'maxUnavailable':''"};
    static const int numbers[] = {INT32_MIN, -1, 0, 1, INT32_MAX};
    for (size_t i = 0; i < ARRAY_LEN(specs); i++)
        for (size_t k = 0; k < ARRAY_LEN(numbers) * ARRAY_LEN(numbers); k++) {
            struct scene *s;
            scene_setup((void **)&s);
            scene_node(s, "n1");
            scene_deployment(s, "web", numbers[k % 5]);
            scene_pod(s, "web-1", "web", "n1", POD_WELL);
            _cleanup_free_ char *json = xasprintf(
                "{'metadata':{'namespace':'x','name':'web'},'spec':{%s,'selector':{}},'status':{"
                "'expectedPods':%d,'currentHealthy':%d,'desiredHealthy':%d,'disruptionsAllowed':0}"
                "}",
                specs[i], numbers[k % 5], numbers[k / 5], numbers[(k + i) % 5]);
            scene_add(s, &kind_pdb, json);
            const struct why *why = scene_why(s, "n1");
            assert_true(why->complete);
            assert_int_equal(why->n_links, 1);
            assert_int_equal(scene_teardown((void **)&s), 0);
        }
    (void)state;
}

/* Objects with nothing in them but their names, and owners without any. */
/* A command that is refused as it is pasted helps nobody. */
static void the_flags_that_it_needs(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_node(s, "n2");
    scene_deployment(s, "a", 2);
    scene_pod(s, "a-1", "a", "n1", POD_WELL);
    scene_pod(s, "a-2", "a", "n2", POD_WELL);
    scene_budget(s, "a", "'maxUnavailable':0", 2, 2, 2);
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'bare'},'spec':{'nodeName':'n1','volumes':[{"
              "'name':'t','emptyDir':{}}]},'status':{'phase':'Running'}}");
    const struct why *why = scene_why(s, "n1");
    const char *command = NULL;
    for (size_t i = 0; i < why->n_links; i++)
        for (size_t k = 0; k < why->links[i]->n_remedies; k++)
            if (why->links[i]->remedies[k].command &&
                strstr(why->links[i]->remedies[k].command, "--disable-eviction"))
                command = why->links[i]->remedies[k].command;
    assert_non_null(command);
    assert_string_equal(command,
                        "slipway drain n1 --disable-eviction --force --delete-emptydir-data");
}

static void bare_bones(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_node, "{'metadata':{'name':'n1'},'spec':{'unschedulable':true}}");
    scene_add(
        s, &kind_pod,
        "{'metadata':{'namespace':'x','name':'a','ownerReferences':[{'controller':true}]},"
        "'spec':{'nodeName':'n1'},'status':{'phase':'Running','containerStatuses':[{},{'state':"
        "{'waiting':{}}}]}}");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'b','ownerReferences':[{'apiVersion':'apps/v1',"
              "'kind':'DaemonSet','controller':true}]},'spec':{'nodeName':'n1'}}");
    scene_add(s, &kind_pdb, "{'metadata':{'namespace':'x','name':'p'},'spec':{'selector':{}}}");
    scene_add(s, &kind_pdb, "{'metadata':{'namespace':'x','name':'q'}}");
    scene_add(s, &kind_volume_attachment, "{'metadata':{'name':'v'}}");
    scene_add(s, &kind_event, "{'metadata':{'namespace':'x','name':'e'}}");
    assert_true(scene_why(s, "n1")->complete);
    assert_true(scene_why_pod(s, "a")->complete);
    assert_true(scene_why_pod(s, "b")->complete);
}

static void a_budget_that_counts_no_pods(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'bare-1','labels':{'app':'bare'}},'spec':{"
              "'nodeName':'n1'}," RUNNING "}");
    scene_add(s, &kind_pdb,
              "{'metadata':{'namespace':'x','name':'bare'},'spec':{'maxUnavailable':1,'selector':{"
              "'matchLabels':{'app':'bare'}}},'status':{'currentHealthy':4}}");
    const struct why_link *l = link_of(scene_why(s, "n1"), BLOCKER_PDB_UNSATISFIABLE);
    assert_contains(l->text, "counts none of its 4 healthy pods");
    assert_null(strstr(l->text, "not even with all pods healthy"));
    assert_contains(remedy_of(l, "patch pdb")->command,
                    "\"maxUnavailable\":null,\"minAvailable\":3");
}

/* Nothing is in the way before the cordon, which makes its operator let go; after it, that is what
 * is waited for. No remedy takes the budget away. */
static void what_an_operator_guards_is_left_alone(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'db-1','labels':{'app':'db-primary',"
              "'cnpg.io/cluster':'db'}," OWNED("Cluster",
                                               "db") "},'spec':{'nodeName':'n1'}," RUNNING "}");
    scene_budget(s, "db-primary", "'minAvailable':1", 1, 1, 1);
    const struct why *why = scene_why(s, "n1");
    const struct why_link *l = link_of(why, BLOCKER_PRIMARY_ON_NODE);
    assert_int_equal(why->state, WHY_FREE);
    assert_string_equal(l->object, "x/db-primary");
    assert_contains(l->text, "CloudNativePG keeps this budget");
    assert_false(l->blocks);
    assert_int_equal(l->n_remedies, 1);
    assert_string_equal(l->remedies[0].command, "slipway checks n1");
    scene_add(s, &kind_node,
              "{'metadata':{'name':'n1'},'spec':{'unschedulable':true},'status':{'conditions':[{"
              "'type':'Ready','status':'True'}]}}");
    why = scene_why(s, "n1");
    l = link_of(why, BLOCKER_PRIMARY_ON_NODE);
    assert_int_equal(why->state, WHY_WAITS);
    assert_true(l->blocks);
    assert_int_equal(l->n_remedies, 1);
    assert_contains(why->summary, "a drain would wait: its one pod cannot go now");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(a_budget_that_needs_all_wants_one_more),
        SCENE_TEST(a_single_replica_is_surged),
        cmocka_unit_test(where_more_replicas_do_not_help_none_are_advised),
        SCENE_TEST(percentages_round_up),
        SCENE_TEST(a_stateful_set_gets_a_member),
        SCENE_TEST(what_starts_is_waited_for),
        SCENE_TEST(equal_pods_are_one_line),
        SCENE_TEST(replicas_that_nobody_made_are_told),
        SCENE_TEST(pods_that_are_not_ready_anyway_may_be_let_go),
        SCENE_TEST(two_budgets_are_told_together),
        SCENE_TEST(the_wider_of_two_budgets_is_kept),
        SCENE_TEST(the_one_of_two_budgets_that_allows_something_is_kept),
        SCENE_TEST(a_budget_that_cannot_be_computed),
        SCENE_TEST(a_budget_that_nobody_has_looked_at),
        SCENE_TEST(the_pods_are_asked_for_by_selector),
        cmocka_unit_test(absurd_budgets),
        SCENE_TEST(the_flags_that_it_needs),
        SCENE_TEST(bare_bones),
        SCENE_TEST(a_budget_that_counts_no_pods),
        SCENE_TEST(what_an_operator_guards_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
