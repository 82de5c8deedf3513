/* Tests of src/engine/lint_remake.c. */
#include "engine/lint.h"

#include "lint_site.h"

#define JOB                                                                                        \
    ",'ownerReferences':[{'apiVersion':'batch/v1','kind':'Job','name':'j','uid':'j','controller':" \
    "true}]"

static int begin(void **state) {
    struct site *s = xnew(struct site);
    site_init(s);
    site_node(s, "w1");
    site_node(s, "w2");
    *state = s;
    return 0;
}

static int end(void **state) {
    site_done(*state);
    free(*state);
    return 0;
}

/* Each node is drained by itself: two pods on one node are one too many, one on each are not. */
static void each_node_by_itself(void **state) {
    struct site *s = *state;
    site_put(s, &kind_job, "{'metadata':{'namespace':'x','name':'j'},'spec':{'backoffLimit':1}}");
    site_pod(s, "j-1", "w1", "j", JOB, true, "");
    site_pod(s, "j-2", "w2", "j", JOB, true, "");
    assert_int_equal(site_lint(s)->n, 0);
    site_pod(s, "j-3", "w2", "j", JOB, true, "");
    const struct lint_finding *f = site_only(site_lint(s), LINT_JOB_FAILS);
    assert_string_equal(f->kind, "Job");
    assert_string_equal(f->name, "j");
    assert_int_equal(f->pods, 2); /* the other is not made again either */
    assert_int_equal(f->n_nodes, 1);
    assert_string_equal(f->nodes[0], "w2");
    assert_string_equal(f->text, "evicting it makes Job j fail for good: backoffLimit 1, 1 goes "
                                 "before it");
    assert_string_equal(f->fixes[1].command, "kubectl -n x patch job j --type=merge -p "
                                             "'{\"spec\":{\"backoffLimit\":2}}'");
    assert_int_equal(s->lint.n_blocked, 0); /* a drain ends all the same */
}

/* What is not made again gives nothing back to its budget: the next one never goes. */
static void a_budget_runs_dry(void **state) {
    struct site *s = *state;
    s->room = true;
    site_deployment(s, "web", 2, "'containers':[]");
    site_pod(s, "web-1-a", "w1", "web", SITE_OWNER("ReplicaSet", "web-1"), true,
             ",'serviceAccountName':'gone'");
    site_pod(s, "web-1-b", "w1", "web", SITE_OWNER("ReplicaSet", "web-1"), true,
             ",'serviceAccountName':'gone'");
    site_budget(s, "web", "'maxUnavailable':1",
                "'disruptionsAllowed':1,'currentHealthy':2,'desiredHealthy':1,'expectedPods':2");
    const struct lint *l = site_lint(s);
    assert_int_equal(l->n, 2);
    assert_non_null(
        strstr(site_only(l, LINT_DRY)->text, "; the replacement of web-1-a is not made"));
    assert_string_equal(site_only(l, LINT_UNMADE)->text,
                        "no replacement can be made: its ServiceAccount gone is gone");
    assert_string_equal(site_only(l, LINT_UNMADE)->fixes[0].command,
                        "kubectl -n x create serviceaccount gone");
}

static void another_scheduler_is_a_remark(void **state) {
    struct site *s = *state;
    s->room = true;
    site_pod(s, "a-1-a", "w1", "a", SITE_OWNER("ReplicaSet", "a-1"), true,
             ",'schedulerName':'mine','nodeSelector':{'no':'such'}");
    site_pod(s, "b-1-a", "w1", "b", SITE_OWNER("ReplicaSet", "b-1"), true,
             ",'schedulerName':'default-scheduler'");
    const struct lint *l = site_lint(s);
    assert_int_equal(l->n, 1);
    assert_string_equal(site_only(l, LINT_SCHEDULER)->text, "scheduler mine");
    assert_int_equal(l->n_blocked, 0);
}

static void devices_are_a_remark(void **state) {
    struct site *s = *state;
    s->room = true;
    site_pod(s, "a-1-a", "w1", "a", SITE_OWNER("ReplicaSet", "a-1"), true,
             ",'resourceClaims':[{'name':'gpu'}],'nodeSelector':{'no':'such'}");
    const struct lint *l = site_lint(s);
    assert_int_equal(l->n, 1);
    assert_string_equal(site_only(l, LINT_BEYOND)->text,
                        "the devices of ResourceClaims are not looked at");
    assert_int_equal(l->n_blocked, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_node_by_itself, begin, end),
        cmocka_unit_test_setup_teardown(a_budget_runs_dry, begin, end),
        cmocka_unit_test_setup_teardown(another_scheduler_is_a_remark, begin, end),
        cmocka_unit_test_setup_teardown(devices_are_a_remark, begin, end),
    };
    return cmocka_run_group_tests_name("lint_remake", tests, NULL, NULL);
}
