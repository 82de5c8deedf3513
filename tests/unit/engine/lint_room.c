/* Tests of src/engine/lint_room.c. */
#include "lint_site.h"

#define RS "ReplicaSet"

static int begin(void **state) {
    struct site *s = xnew(struct site);
    site_init(s);
    s->room = true;
    *state = s;
    return 0;
}

static int end(void **state) {
    site_done(*state);
    free(*state);
    return 0;
}

/* Nodes have 4 CPUs. */
static void put(struct site *s, const char *name, const char *node, int cpu) {
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'%s'" SITE_OWNER(
                 RS, "a-1") "},'spec':{"
                            "'nodeName':'%s','containers':[{'name':'c','resources':{'requests':{'"
                            "cpu':'%d'}}}]},"
                            "'status':{'phase':'Running'}}",
             name, node, cpu);
}

static void pods_that_fit_elsewhere_are_no_finding(void **state) {
    struct site *s = *state;
    site_node(s, "w1");
    site_node(s, "w2");
    put(s, "a", "w1", 2);
    put(s, "b", "w2", 2);
    assert_int_equal(site_lint(s)->n, 0);
    assert_int_equal(s->lint.roomed, 2);
}

/* Each node by itself: 3 of 4 CPUs are taken on each, none has 3 left. */
static void a_full_cluster(void **state) {
    struct site *s = *state;
    site_deployment(s, "a", 2, "'containers':[]");
    site_node(s, "w1");
    site_node(s, "w2");
    put(s, "a", "w1", 3);
    put(s, "b", "w2", 3);
    const struct lint_finding *f = site_only(site_lint(s), LINT_NO_ROOM);
    assert_string_equal(f->kind, "Deployment");
    assert_string_equal(f->name, "a");
    assert_int_equal(f->pods, 2);
    assert_int_equal(f->n_nodes, 2);
    assert_string_equal(f->text, "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were "
                                 "unschedulable");
    assert_fix(f, 0, WHY_RISK_NONE, "slipway why w1 --room");
    assert_int_equal(s->lint.n_blocked, 0);
}

/* Two leave and there is room for one: the second is the one without, and what was tried for one
 * node is undone for the next. */
static void those_who_leave_together_need_room_together(void **state) {
    struct site *s = *state;
    site_node(s, "w1");
    site_node(s, "w2");
    put(s, "a", "w1", 2);
    put(s, "b", "w1", 2);
    put(s, "c", "w2", 2);
    const struct lint_finding *f = site_only(site_lint(s), LINT_NO_ROOM);
    /* w1 leaves b without a place; w2 leaves c, for w1 is full. */
    assert_int_equal(f->pods, 2);
    assert_int_equal(f->n_nodes, 2);
    assert_string_equal(f->example, "b");
}

/* Neither DaemonSets' pods nor finished ones, bare ones or those of a local volume look for a
 * place. */
static void who_does_not_look_for_room(void **state) {
    struct site *s = *state;
    site_node(s, "w1");
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'d'" SITE_OWNER(
                 "DaemonSet", "d") "},'spec':{'nodeName':'w1'},'status':{'phase':'Running'}}");
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'f'" SITE_OWNER(
                 "Job", "j") "},'spec':{'nodeName':'w1'},'status':{'phase':'Succeeded'}}");
    site_pod(s, "bare", "w1", "b", "", true, "");
    site_pod(s, "claim", "w1", "c", SITE_OWNER(RS, "c-1"), true,
             ",'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'unknown'}}]");
    s->no_volumes = true; /* nobody can tell where its volume may be */
    assert_null(site_group(site_lint(s), LINT_NO_ROOM));
    const struct lint_finding *f = site_only(&s->lint, LINT_UNREAD);
    assert_string_equal(f->text,
                        "whether there is room for the replacements of 1 pod is not known: "
                        "their volumes cannot be looked at");
    assert_int_equal(f->n_nodes, 1);
    assert_int_equal(lint_row(LINT_UNREAD)->code, BLOCKER_FORBIDDEN);
    s->no_volumes = false; /* there is no such claim: made anew, the pod would stay Pending */
    assert_string_equal(
        site_only(site_lint(s), LINT_NO_ROOM)->text,
        "0/1 nodes are available: persistentvolumeclaim \"unknown\" not found. not found");
    assert_null(site_group(&s->lint, LINT_UNREAD));
}

/* As plan_room.c's without_room_budgets_are_not_given_back: the first goes and stays Pending, and
 * the budget has nothing left for the others. */
static void a_budget_runs_dry(void **state) {
    struct site *s = *state;
    site_deployment(s, "a", 3, "'containers':[]");
    site_node(s, "w1");
    site_node(s, "w2");
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'full'" SITE_OWNER(
                 RS, "b-1") "},'spec':{'nodeName':'w2','containers':[{'name':'c','resources':{"
                            "'requests':{'cpu':'4'}}}]},'status':{'phase':'Running'}}");
    for (int i = 0; i < 3; i++)
        site_put(s, &kind_pod,
                 "{'metadata':{'namespace':'x','name':'a%d','labels':{'app':'a'}" SITE_OWNER(
                     RS, "a-1") "},'spec':{'nodeName':'w1','containers':[{'name':'c','resources':{"
                                "'requests':{'cpu':'1'}}}]},'status':{'phase':'Running',"
                                "'conditions':[{'type':'Ready','status':'True'}]}}",
                 i);
    site_budget(s, "a", "'maxUnavailable':1",
                "'expectedPods':3,'currentHealthy':3,'desiredHealthy':2,'disruptionsAllowed':1");
    const struct lint_finding *f = site_only(site_lint(s), LINT_DRY);
    assert_string_equal(f->kind, "PodDisruptionBudget");
    assert_string_equal(f->name, "a");
    assert_string_equal(f->text, "maxUnavailable 1, needs 2 healthy of 3, has 3, allows 1; the "
                                 "replacement of a0 fits nowhere");
    assert_int_equal(f->pods, 2);
    assert_string_equal(f->example, "a1");
    assert_fix(f, 0, WHY_RISK_NONE, "slipway why w1 --room");
    assert_fix(f, 1, WHY_RISK_SERVICE,
               "kubectl -n x patch pdb a --type=merge -p '{\"spec\":{\"maxUnavailable\":3}}'");
    assert_string_equal(f->fixes[1].cost, "none serves, until there is room");
    assert_int_equal(lint_row(LINT_DRY)->code, BLOCKER_PDB_NO_BUDGET);
    assert_int_equal(lint_row(LINT_DRY)->effect, LINT_NEVER);
    assert_int_equal(s->lint.n_blocked, 1);
    assert_string_equal(s->lint.blocked[0], "w1");
    /* the one that stays Pending, and the one of w2 */
    assert_int_equal(site_group(&s->lint, LINT_NO_ROOM)->pods, 2);
}

/* What a budget keeps anyway takes no room away from others, so that these do not keep their own
 * budgets dry. */
static void who_does_not_go_takes_no_room(void **state) {
    struct site *s = *state;
    site_node(s, "w1");
    site_node(s, "w2");
    for (int i = 0; i < 2; i++) /* first by name */
        site_put(s, &kind_pod,
                 "{'metadata':{'namespace':'x','name':'%c'" SITE_OWNER(
                     RS, "b-1") "},'spec':{'nodeName':'w1','containers':[{'name':'c','resources':{"
                                "'requests':{'cpu':'3'}}}]},'status':{'phase':'Running',"
                                "'conditions':[{'type':'Ready','status':'True'}]}}",
                 'a' + i);
    site_put(s, &kind_pdb,
             "{'metadata':{'namespace':'x','name':'all'},'spec':{'maxUnavailable':0,'selector':{}},"
             "'status':{'expectedPods':1,'currentHealthy':1,'desiredHealthy':1}}");
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'y','name':'c'" SITE_OWNER(
                 RS, "c-1") "},'spec':{'nodeName':'w1','containers':[{'name':'c','resources':{"
                            "'requests':{'cpu':'3'}}}]},'status':{'phase':'Running'}}");
    const struct lint_group *g = site_group(site_lint(s), LINT_NO_ROOM);
    for (size_t i = 0; i < g->n; i++)
        assert_string_not_equal(g->findings[i].example, "c");
    assert_int_equal(g->pods, 2); /* a and b, should somebody mend their budget */
}

/* Of more workloads than one wants to read about, the reasons are told in fewer words. */
static void many_workloads_without_room(void **state) {
    struct site *s = *state;
    unsigned told = 0, brief = 0;
    site_node(s, "w1");
    for (int i = 0; i < 80; i++)
        site_put(s, &kind_pod,
                 "{'metadata':{'namespace':'x','name':'p%d','labels':{'app':'a%d'},"
                 "'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'r%d',"
                 "'uid':'u%d','controller':true}]},'spec':{'nodeName':'w1','containers':[]},"
                 "'status':{'phase':'Running'}}",
                 i, i, i, i);
    const struct lint_group *g = site_group(site_lint(s), LINT_NO_ROOM);
    assert_int_equal(g->n, 80);
    for (size_t i = 0; i < g->n; i++) {
        told += strstr(g->findings[i].text, "0/1 nodes are available") != NULL;
        brief += streq(g->findings[i].text, "no other node fits its pods");
    }
    assert_int_equal(told, 64);
    assert_int_equal(brief, 16);
}

/* Without the pool nobody looks. */
static void only_when_asked_for(void **state) {
    struct site *s = *state;
    site_node(s, "w1");
    put(s, "a", "w1", 3);
    assert_non_null(site_group(site_lint(s), LINT_NO_ROOM));
    s->room = false;
    assert_int_equal(site_lint(s)->n, 0);
    assert_int_equal(s->lint.roomed, 0);
}

/* As moveout.c's who_gets_the_last_place_is_chance: what a plan calls unsure is not called never.
 */
static void the_last_place_is_chance(void **state) {
    struct site *s = *state;
    site_deployment(s, "b", 2, "'containers':[]");
    site_node(s, "w1");
    site_node(s, "w2");
    put(s, "full", "w2", 3);
    put(s, "a", "w1", 1);
    for (int i = 0; i < 2; i++)
        site_put(s, &kind_pod,
                 "{'metadata':{'namespace':'x','name':'b%d','labels':{'app':'b'}" SITE_OWNER(
                     RS, "b-1") "},'spec':{'nodeName':'w1','containers':[{'name':'c','resources':{"
                                "'requests':{'cpu':'1'}}}]},'status':{'phase':'Running',"
                                "'conditions':[{'type':'Ready','status':'True'}]}}",
                 i);
    site_budget(s, "b", "'maxUnavailable':1",
                "'expectedPods':2,'currentHealthy':2,'desiredHealthy':1,'disruptionsAllowed':1");
    assert_null(site_group(site_lint(s), LINT_DRY));
    const struct lint_finding *f = site_only(&s->lint, LINT_CHANCE);
    assert_string_equal(f->name, "b");
    assert_string_equal(f->example, "b1");
    assert_string_equal(f->text, "maxUnavailable 1, needs 1 healthy of 2, has 2, allows 1; the "
                                 "replacement of b0 fits nowhere when others that leave at the "
                                 "same time are quicker: who gets the last places is chance");
    assert_int_equal(lint_row(LINT_CHANCE)->effect, LINT_WAITS);
}

/* The other node has as many volumes as its driver can attach. */
static void a_driver_attaches_no_more_volumes(void **state) {
    struct site *s = *state;
    s->room = true;
    site_node(s, "w1");
    site_node(s, "w2");
    for (int i = 1; i <= 2; i++) {
        site_put(s, &kind_pvc,
                 "{'metadata':{'namespace':'x','name':'c%d','annotations':{"
                 "'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'v%d'}}",
                 i, i);
        site_put(s, &kind_pv,
                 "{'metadata':{'name':'v%d'},'spec':{'csi':{'driver':'ebs','volumeHandle':'%d'}}}",
                 i, i);
    }
    site_put(s, &kind_csi_node,
             "{'metadata':{'name':'w2'},'spec':{'drivers':[{'name':'ebs','nodeID':'i',"
             "'allocatable':{'count':1}}]}}");
    site_pod(s, "a", "w1", "a", SITE_OWNER("ReplicaSet", "a-1"), true,
             ",'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'c1'}}]");
    assert_null(site_group(site_lint(s), LINT_NO_ROOM));
    site_pod(s, "b", "w2", "b", SITE_OWNER("ReplicaSet", "b-1"), true,
             ",'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'c2'}}]");
    assert_non_null(
        strstr(site_only(site_lint(s), LINT_NO_ROOM)->text, "1 node(s) exceed max volume count"));
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(pods_that_fit_elsewhere_are_no_finding),
        TEST(a_full_cluster),
        TEST(a_driver_attaches_no_more_volumes),
        TEST(those_who_leave_together_need_room_together),
        TEST(who_does_not_look_for_room),
        TEST(a_budget_runs_dry),
        TEST(the_last_place_is_chance),
        TEST(who_does_not_go_takes_no_room),
        TEST(many_workloads_without_room),
        TEST(only_when_asked_for),
    };
    return cmocka_run_group_tests_name("engine/lint_room", tests, NULL, NULL);
}
