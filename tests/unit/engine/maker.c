/* Tests of src/engine/maker.c. */
#include "engine/maker.h"

#include "lint_site.h"

struct ground {
    struct site site;
    int puts;
};

static int begin(void **state) {
    struct ground *g = xnew(struct ground);
    site_init(&g->site);
    *state = g;
    return 0;
}

static int end(void **state) {
    struct ground *g = *state;
    site_done(&g->site);
    free(g);
    return 0;
}

/* What is said of a pod with this spec, made by a workload with that template. */
static const char *doubt_of(struct ground *g, const struct kind *kind, const char *revision,
                            const char *pod, const char *template) {
    struct site *s = &g->site;
    site_put(s, kind,
             "{'metadata':{'namespace':'x','name':'a','uid':'u','resourceVersion':'%d'},'spec':{'"
             "template':{'spec':{%s}}},"
             "'status':{'updateRevision':'new'}}",
             ++g->puts, template);
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'p','uid':'p','resourceVersion':'%d','labels':{"
             "'controller-revision-hash':'%s'},'ownerReferences':[{'apiVersion':'%s/v1',"
             "'kind':'%s','name':'a','uid':'u','controller':true}]},'spec':{'nodeName':'n',%s}}",
             g->puts, revision, kind == &kind_job ? "batch" : "apps", kind->name, pod);
    const struct pod *p = (const struct pod *)store_get(s->w.pods, "x", "p");
    struct maker m = maker_find(p, s->replica_sets, s->stateful_sets, s->jobs);
    assert_non_null(m.template);
    return maker_doubt(&s->arena, p, &m);
}

#define C(cpu) "'containers':[{'name':'c','resources':{'requests':{'cpu':'" cpu "'}}}]"

static void a_copy_is_no_doubt(void **state) {
    /* A sidecar, a service account's default, tolerations and a selector are admission's. */
    static const char pod[] =
        "'containers':[{'name':'c','resources':{'requests':{'cpu':'1','memory':'1Gi'}}},"
        "{'name':'istio-proxy','resources':{'requests':{'cpu':'100m'}}}],"
        "'nodeSelector':{'pool':'a'},'tolerations':[{'key':'node.kubernetes.io/not-ready',"
        "'operator':'Exists','effect':'NoExecute','tolerationSeconds':300}]";
    assert_null(doubt_of(*state, &kind_replica_set, "", pod, C("1000m")));
    assert_null(doubt_of(*state, &kind_job, "", pod, C("1000m")));
    assert_null(doubt_of(*state, &kind_stateful_set, "new", pod, C("1")));
}

static void other_requests(void **state) {
    assert_string_equal(doubt_of(*state, &kind_stateful_set, "old", C("1"), C("16")),
                        "the template of StatefulSet a asks for other requests than the pod has");
    assert_non_null(doubt_of(*state, &kind_replica_set, "", C("1"), C("16")));
    assert_non_null(doubt_of(*state, &kind_job, "", C("1"), C("16")));
}

static void other_places(void **state) {
    static const char *const asked[] = {
        "'nodeSelector':{'gpu':'yes'}",
        "'tolerations':[{'key':'a','operator':'Exists'}]",
        "'priorityClassName':'high'",
        "'hostNetwork':true",
        "'schedulerName':'mine'",
        "'resourceClaims':[{'name':'gpu'}]",
        "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'v'}}]",
        "'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'zone'}]",
        ("'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"
         "'topologyKey':'zone'}]}}"),
        ("'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
         "'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'Exists'}]}]}}}"),
        "'schedulingGates':[{'name':'example.com/quota'}]",
    };
    for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
        _cleanup_free_ char *both = xasprintf(C("1") ",%s", asked[i]);
        assert_non_null(doubt_of(*state, &kind_replica_set, "", C("1"), both));
        if (i + 1 < ARRAY_LEN(asked)) /* gates are taken off */
            assert_null(doubt_of(*state, &kind_replica_set, "", both, both));
    }
}

/* The API server puts the labels of the keys into the pod's own selector. */
static void match_label_keys(void **state) {
#define SPREAD(more)                                                                               \
    C("1")                                                                                         \
    ",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'zone','matchLabelKeys':["           \
    "'pod-template-hash'],'labelSelector':{'matchLabels':{'app':'a'" more "}}}]"
    assert_null(
        doubt_of(*state, &kind_replica_set, "", SPREAD(",'pod-template-hash':'1'"), SPREAD("")));
}

/* What a StatefulSet's new template does not ask for any more. */
static void asks_for_less(void **state) {
    static const char bound[] = C("1") ",'nodeSelector':{'gpu':'yes'}";
    assert_non_null(doubt_of(*state, &kind_stateful_set, "old", bound, C("1")));
    assert_null(doubt_of(*state, &kind_stateful_set, "new", bound, C("1")));
}

static void kinds_that_make_pods(void **state) {
    (void)state;
    assert_true(maker_is_known(&(struct owner){.api_version = "apps/v1", .kind = "ReplicaSet"}));
    assert_true(
        maker_is_known(&(struct owner){.api_version = "v1", .kind = "ReplicationController"}));
    assert_true(
        maker_is_known(&(struct owner){.api_version = "apps.kruise.io/v1", .kind = "CloneSet"}));
    assert_false(
        maker_is_known(&(struct owner){.api_version = "tekton.dev/v1", .kind = "TaskRun"}));
    assert_false(maker_is_known(&(struct owner){.api_version = "example.com/v1", .kind = "Job"}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_copy_is_no_doubt, begin, end),
        cmocka_unit_test_setup_teardown(other_requests, begin, end),
        cmocka_unit_test_setup_teardown(other_places, begin, end),
        cmocka_unit_test_setup_teardown(match_label_keys, begin, end),
        cmocka_unit_test_setup_teardown(asks_for_less, begin, end),
        cmocka_unit_test(kinds_that_make_pods),
    };
    return cmocka_run_group_tests_name("maker", tests, NULL, NULL);
}
