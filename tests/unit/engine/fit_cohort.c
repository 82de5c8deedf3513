/* Tests of src/engine/fit_cohort.c: what is shared by which pods, and for how long. */
#include "fit_scene.h"

#include "engine/fit_internal.h"

static struct fit_cohort *cohort(struct scene *s, const char *json) {
    return fit_cohort_get(s->fit, scene_pod(s, json));
}

static void alike_is_one(void **state) {
    struct scene *s = *state;
    struct fit_cohort *c = cohort(s, "{'metadata':{'namespace':'d','name':'a','labels':{'x':'1'}},"
                                     "'spec':{'priority':7}}");
    assert_ptr_equal(cohort(s, "{'metadata':{'namespace':'d','name':'b','uid':'u','labels':{'x':"
                               "'1'}},'spec':{'nodeName':'n','priority':7}}"),
                     c);
    static const char *const others[] = {
        "{'metadata':{'namespace':'e','labels':{'x':'1'}},'spec':{'priority':7}}",
        "{'metadata':{'namespace':'d','labels':{'x':'2'}},'spec':{'priority':7}}",
        "{'metadata':{'namespace':'d','labels':{'x':'1'}},'spec':{'priority':8}}",
        ("{'metadata':{'namespace':'d','labels':{'x':'1'},'ownerReferences':[{'apiVersion':"
         "'apps/v1','kind':'StatefulSet','uid':'o','controller':true}]},'spec':{'priority':7}}"),
    };
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_ptr_not_equal(cohort(s, others[i]), c);
    assert_int_equal(c->shape->priority, 7);
    /* the spec is shared by three of them */
    assert_int_equal(c->shape->refs, 4);
    assert_int_equal(s->fit->shapes.len, 2);
}

/* Only controllers that the scheduler spreads the pods of; others make no difference. */
static void owners_that_matter(void **state) {
    struct scene *s = *state;
    static const struct {
        const char *version, *kind, *controller;
        bool matters;
    } rows[] = {
        {"apps/v1", "ReplicaSet", "true", true},
        {"apps/v1", "StatefulSet", "true", true},
        {"v1", "ReplicationController", "true", true},
        {"apps/v1", "ReplicaSet", "false", false},
        {"example.com/v1", "ReplicaSet", "true", false},
        {"apps/v1", "DaemonSet", "true", false},
        {"batch/v1", "Job", "true", false},
    };
    struct fit_cohort *bare = cohort(s, "{'metadata':{'namespace':'d'}}");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *json = xasprintf(
            "{'metadata':{'namespace':'d','ownerReferences':[{'apiVersion':'%s','kind':'%s','uid':"
            "'o%zu','controller':%s}]}}",
            rows[i].version, rows[i].kind, i, rows[i].controller);
        struct fit_cohort *c = cohort(s, json);
        assert_int_equal(c != bare, rows[i].matters);
        fit_cohort_ask(s->fit, c);
        assert_int_equal(c->soft.len, rows[i].matters ? 2 : 0);
        assert_int_equal(c->soft_default, rows[i].matters);
    }
}

static void constraints_are_parsed(void **state) {
    struct scene *s = *state;
    struct fit_cohort *c = cohort(
        s,
        "{'metadata':{'namespace':'d','labels':{'a':'b'},'ownerReferences':[{'apiVersion':"
        "'apps/v1','kind':'ReplicaSet','uid':'o','controller':true}]},'spec':{"
        "'topologySpreadConstraints':["
        "{'maxSkew':2,'topologyKey':'zone','whenUnsatisfiable':'DoNotSchedule','minDomains':3,"
        "'nodeTaintsPolicy':'Honor','nodeAffinityPolicy':'Ignore','labelSelector':{'matchLabels':"
        "{'a':'b'}}},"
        "{'maxSkew':1,'topologyKey':'host','whenUnsatisfiable':'ScheduleAnyway'},"
        "{'maxSkew':1,'topologyKey':'host','whenUnsatisfiable':'Nonsense'}]}}");
    assert_false(c->asked);
    fit_cohort_ask(s->fit, c);
    assert_int_equal(c->hard.len, 1);
    assert_int_equal(c->hard.p[0].max_skew, 2);
    assert_int_equal(c->hard.p[0].min_domains, 3);
    assert_string_equal(c->hard.p[0].topo->key, "zone");
    assert_true(c->hard.p[0].by_taints && !c->hard.p[0].by_affinity && c->hard.p[0].self);
    assert_int_equal(c->soft.len, 1);
    assert_int_equal(c->soft.p[0].min_domains, 1);
    assert_true(c->soft.p[0].by_affinity && !c->soft.p[0].by_taints && !c->soft.p[0].self);
    assert_false(c->soft_default); /* it has constraints of its own */
    fit_cohort_ask(s->fit, c);     /* twice is once */
    assert_int_equal(c->hard.len, 1);
}

/* A pod without a spec is a pod that wants nothing. */
static void no_spec_at_all(void **state) {
    struct scene *s = *state;
    scene_node(s, "n", "");
    assert_fits(s, "n", "{'metadata':{'namespace':'d','name':'p'}}");
    assert_fits(s, "n", "{}");
    struct fit_cohort *c = cohort(s, "{}");
    assert_int_equal(c->shape->priority, 0);
    assert_null(c->shape->spec);
}

/* Those without pods stay for a while, since they will be asked about again; then they go. */
static void the_idle_are_swept_away(void **state) {
    struct scene *s = *state;
    scene_node(s, "n", "");
    scene_put(s, &kind_pod,
              "{'metadata':{'namespace':'d','name':'stays','labels':{'x':'stays'}},'spec':{"
              "'nodeName':'n'}}");
    struct fit_cohort *busy = fit_node_find(s->fit, "n")->pods.p[0]->cohort;
    for (int i = 0; i < 500; i++) {
        _cleanup_free_ char *json =
            xasprintf("{'metadata':{'namespace':'d','labels':{'x':'%d'}}}", i);
        struct fit_cohort *c = cohort(s, json);
        assert_ptr_equal(cohort(s, json), c);
        assert_true(s->fit->idle <= 200);
    }
    assert_int_equal(busy->pods, 1);
    assert_ptr_equal(fit_node_find(s->fit, "n")->pods.p[0]->cohort, busy);
    fit_remove_pod(s->fit, "d", "stays");
    assert_int_equal(s->fit->idle, s->fit->cohorts.len);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(alike_is_one),
        SCENE_TEST(owners_that_matter),
        SCENE_TEST(constraints_are_parsed),
        SCENE_TEST(no_spec_at_all),
        SCENE_TEST(the_idle_are_swept_away),
    };
    return cmocka_run_group_tests_name("engine/fit_cohort", tests, NULL, NULL);
}
