/* Tests of src/engine/fit_volumes.c. Messages and rules are those of the plugins
 * VolumeRestrictions, VolumeBinding and VolumeZone of Kubernetes. */
#include "fit_scene.h"

#include "../support/make.h"

#define USES(claim) "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'" claim "'}}]"
#define POD_WITH(c) POD("", USES(c))
#define ON(node)                                                                                   \
    ",'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'host',"        \
    "'operator':'In','values':['" node "']}]}]}}"
#define ELSEWHERE "!node(s) didn't match PersistentVolume's node affinity"
#define NONE      "!node(s) didn't find available persistent volumes to bind"

/* The tags do not matter, only what they release. */
static const struct field requirement_fields[] = {
    {.json = "key", .pb = 1, .kind = FIELD_STR, .off = offsetof(struct requirement, key)},
    {.json = "values", .pb = 2, .kind = FIELD_STRS, .off = offsetof(struct requirement, values)},
};
static const struct type type_requirement = {.name = "requirement",
                                             .size = sizeof(struct requirement),
                                             .n_fields = ARRAY_LEN(requirement_fields),
                                             .fields = requirement_fields};
static const struct field term_fields[] = {
    {.json = "exprs",
     .pb = 1,
     .kind = FIELD_LIST,
     .off = offsetof(struct node_term, exprs),
     .type = &type_requirement},
};
static const struct type type_term = {.name = "term",
                                      .size = sizeof(struct node_term),
                                      .n_fields = ARRAY_LEN(term_fields),
                                      .fields = term_fields};

static void two_nodes(struct scene *s) {
    scene_node(s, "a", "'host':'a','topology.kubernetes.io/zone':'1'");
    scene_node(s, "b", "'host':'b','topology.kubernetes.io/zone':'2'");
}

static void claim(struct scene *s, const char *name, const char *annotations, const char *spec,
                  const char *rest) {
    scene_put(
        s, &kind_pvc,
        "{'metadata':{'namespace':'d','name':'%s','uid':'%s','annotations':{%s}%s},'spec':{%s}"
        "}",
        name, name, annotations, rest, spec);
}

static void bound(struct scene *s, const char *name, const char *volume, const char *modes) {
    _cleanup_free_ char *spec = xasprintf("'volumeName':'%s','accessModes':[%s]", volume, modes);
    claim(s, name, "'pv.kubernetes.io/bind-completed':'yes'", spec, "");
}

static void volume(struct scene *s, const char *name, const char *labels, const char *spec) {
    scene_put(s, &kind_pv,
              "{'metadata':{'name':'%s','labels':{%s}},'spec':{'storageClassName':'slow'%s},"
              "'status':{'phase':'Available'}}",
              name, labels, spec);
}

static void class(struct scene *s, const char *name, bool waits, bool provisions) {
    const char *interned = make_str(s->pool, name);
    fit_put_class(s->fit,
                  &(struct fit_class){.name = interned, .waits = waits, .provisions = provisions});
    pool_unref(s->pool, interned);
}

static void a_bound_volume_says_where(void **state) {
    struct scene *s = *state;
    two_nodes(s);
    volume(s, "pv", "", ON("a"));
    bound(s, "c", "pv", "");
    assert_fits(s, "a", POD_WITH("c"));
    assert_why(s, "b", POD_WITH("c"), ELSEWHERE);
    /* without an affinity: anywhere; and it may change */
    volume(s, "pv", "", "");
    assert_fits(s, "b", POD_WITH("c"));
    volume(s, "pv", "", ON("b"));
    assert_why(s, "a", POD_WITH("c"), ELSEWHERE);
    /* its terms are about labels alone: fields are not looked at */
    volume(s, "pv", "",
           ",'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchFields':[{'key':"
           "'metadata.name','operator':'In','values':['b']}]}]}}");
    assert_fits(s, "a", POD_WITH("c"));
    volume(s, "pv", "", ",'nodeAffinity':{'required':{'nodeSelectorTerms':[]}}");
    assert_why(s, "a", POD_WITH("c"), ELSEWHERE);
    /* gone */
    fit_remove_volume(s->fit, "pv");
    assert_why(s, "a", POD_WITH("c"), "!persistentvolume \"pv\" not found");
}

static void zones_of_old(void **state) {
    struct scene *s = *state;
    static const char zone[] = "!node(s) had no available volume zone";
    two_nodes(s);
    bound(s, "c", "pv", "");
    static const struct {
        const char *labels, *a, *b;
    } rows[] = {
        {"'topology.kubernetes.io/zone':'1'", "", zone},
        {"'topology.kubernetes.io/zone':'3__1'", "", zone},
        {"'topology.kubernetes.io/zone':'1__2'", "", ""},
        {"'failure-domain.beta.kubernetes.io/zone':'2'", zone, ""},
        {"'topology.kubernetes.io/region':'r'", zone, zone}, /* the nodes are in none */
        {"'topology.kubernetes.io/zone':'1__'", "", ""},     /* what is malformed is ignored */
        {"'topology.kubernetes.io/zone':''", "", ""},
        {"'zone':'9'", "", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        volume(s, "pv", rows[i].labels, "");
        assert_string_equal(scene_why(s, "a", POD_WITH("c")), rows[i].a);
        assert_string_equal(scene_why(s, "b", POD_WITH("c")), rows[i].b);
    }
    /* a cluster without zones needs no labels */
    scene_node(s, "plain", "'host':'plain'");
    volume(s, "pv", "'topology.kubernetes.io/zone':'1'", "");
    assert_fits(s, "plain", POD_WITH("c"));
}

static void claims_must_be_there_and_well(void **state) {
    struct scene *s = *state;
    two_nodes(s);
    assert_why(s, "a", POD_WITH("c"), "!persistentvolumeclaim \"c\" not found");
    claim(s, "c", "", "", "");
    assert_why(s, "a", POD_WITH("c"), "!pod has unbound immediate PersistentVolumeClaims");
    /* named but not yet bound is not bound */
    claim(s, "c", "", "'volumeName':'pv'", "");
    assert_why(s, "a", POD_WITH("c"), "!pod has unbound immediate PersistentVolumeClaims");
    scene_put(s, &kind_pvc,
              "{'metadata':{'namespace':'d','name':'c'},'spec':{'volumeName':'pv'},'status':{"
              "'phase':'Lost'}}");
    assert_why(s, "a", POD_WITH("c"),
               "!persistentvolumeclaim \"c\" bound to non-existent persistentvolume \"pv\"");
    claim(s, "c", "", "", ",'deletionTimestamp':'2026-11-15T08:00:00Z'");
    assert_why(s, "a", POD_WITH("c"), "!persistentvolumeclaim \"c\" is being deleted");
    fit_remove_claim(s->fit, "d", "c");
    assert_why(s, "a", POD_WITH("c"), "!persistentvolumeclaim \"c\" not found");
    /* of another namespace */
    scene_put(s, &kind_pvc, "{'metadata':{'namespace':'e','name':'c'}}");
    assert_why(s, "a", POD_WITH("c"), "!persistentvolumeclaim \"c\" not found");
    /* volumes that are no claims */
    assert_fits(s, "a",
                POD("", "'volumes':[{'name':'v','emptyDir':{}},{'name':'w','hostPath':{}}]"));
}

static void ephemeral_volumes_have_claims_of_their_own(void **state) {
    struct scene *s = *state;
    const char *pod = POD("", "'volumes':[{'name':'v','ephemeral':{}}]");
    two_nodes(s);
    volume(s, "pv", "", ON("a"));
    assert_why(s, "a", pod,
               "!waiting for ephemeral volume controller to create the persistentvolumeclaim "
               "\"new-v\"");
    bound(s, "new-v", "pv", "");
    assert_why(s, "a", pod, "!PVC d/new-v was not created for pod d/new (pod is not owner)");
    scene_put(s, &kind_pvc,
              "{'metadata':{'namespace':'d','name':'new-v','annotations':{"
              "'pv.kubernetes.io/bind-completed':'yes'},'ownerReferences':[{'kind':'Pod','uid':"
              "'new','controller':true}]},'spec':{'volumeName':'pv'}}");
    assert_fits(s, "a", pod);
    assert_why(s, "b", pod, ELSEWHERE);
    /* here the zones are not looked at, so that it is the node's fault */
    fit_remove_volume(s->fit, "pv");
    assert_why(s, "a", pod,
               "!node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
}

static void a_claim_for_one_pod(void **state) {
    struct scene *s = *state;
    static const char taken[] =
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
        "already in-use by another pod";
    two_nodes(s);
    volume(s, "pv", "", "");
    bound(s, "c", "pv", "'ReadWriteOncePod'");
    assert_fits(s, "a", POD_WITH("c"));
    scene_put(s, &kind_pod,
              "{'metadata':{'namespace':'d','name':'p'},'spec':{'nodeName':'b'," USES("c") "}}");
    assert_why(s, "a", POD_WITH("c"), taken);
    assert_why(s, "b", POD_WITH("c"), taken);
    /* only on nodes that exist */
    fit_remove_node(s->fit, "b");
    assert_fits(s, "a", POD_WITH("c"));
    scene_node(s, "b", "");
    assert_why(s, "a", POD_WITH("c"), taken);
    bound(s, "c", "pv", "'ReadWriteOnce'");
    assert_fits(s, "a", POD_WITH("c"));
    bound(s, "c", "pv", "'ReadWriteOncePod'");
    fit_remove_pod(s->fit, "d", "p");
    assert_fits(s, "a", POD_WITH("c"));
}

#define WAITS(size, more)                                                                          \
    "'storageClassName':'slow','accessModes':['ReadWriteOnce'],'resources':{'requests':{"          \
    "'storage':'" size "'}}" more
#define HAS(size, more)                                                                            \
    ",'accessModes':['ReadWriteOnce','ReadOnlyMany'],'capacity':{'storage':'" size "'}" more

static const char *binding(struct scene *s, const char *node, const char *pod) {
    static char out[128];
    size_t n;
    const struct fit_binding *list = fit_bindings(s->fit, scene_pod(s, pod), node, &n);
    out[0] = '\0';
    for (size_t i = 0; i < n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s=%s", i ? " " : "",
                 list[i].claim, list[i].volume ? list[i].volume : "new");
    return out;
}

static void a_claim_that_waits_takes_a_free_volume(void **state) {
    struct scene *s = *state;
    two_nodes(s);
    claim(s, "c", "", WAITS("2Gi", ""), "");
    /* a class that nobody knows does not wait */
    assert_why(s, "a", POD_WITH("c"), "!pod has unbound immediate PersistentVolumeClaims");
    class(s, "slow", false, false);
    assert_why(s, "a", POD_WITH("c"), "!pod has unbound immediate PersistentVolumeClaims");
    class(s, "slow", true, false);
    assert_why(s, "a", POD_WITH("c"), NONE);
    static const struct {
        const char *labels, *spec, *claim, *a;
    } rows[] = {
        {"", HAS("2Gi", ON("a")), "", ""},
        {"", HAS("3Gi", ON("a")), "", ""},
        {"", HAS("1Gi", ON("a")), "", NONE},
        {"", HAS("2Gi", ON("b")), "", NONE},
        {"", HAS("2Gi", ",'volumeMode':'Block'"), "", NONE},
        {"", HAS("2Gi", ",'volumeMode':'Block'"), ",'volumeMode':'Block'", ""},
        {"", HAS("2Gi", ",'volumeMode':'Filesystem'"), "", ""},
        {"", ",'capacity':{'storage':'2Gi'},'accessModes':['ReadWriteMany']", "", NONE},
        {"'k':'v'", HAS("2Gi", ""), ",'selector':{'matchLabels':{'k':'v'}}", ""},
        {"'k':'w'", HAS("2Gi", ""), ",'selector':{'matchLabels':{'k':'v'}}", NONE},
        /* somebody else's; its own; its own by name, whatever the selector; an older one's */
        {"", HAS("2Gi", ",'claimRef':{'namespace':'d','name':'x'}"), "", NONE},
        {"", HAS("2Gi", ",'claimRef':{'namespace':'d','name':'c','uid':'c'}"), "", ""},
        {"", HAS("2Gi", ",'claimRef':{'namespace':'d','name':'c'}"),
         ",'selector':{'matchLabels':{'k':'v'}}", ""},
        {"", HAS("2Gi", ",'claimRef':{'namespace':'d','name':'c','uid':'old'}"), "", NONE},
        {"", HAS("1Gi", ",'claimRef':{'namespace':'d','name':'c'}"), "", NONE},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *spec = xasprintf(WAITS("2Gi", "%s"), rows[i].claim);
        volume(s, "pv", rows[i].labels, rows[i].spec);
        claim(s, "c", "", spec, "");
        if (!streq(scene_why(s, "a", POD_WITH("c")), rows[i].a))
            fail_msg("row %zu: %s", i, str_get(&s->text));
        assert_string_equal(binding(s, "a", POD_WITH("c")), *rows[i].a ? "" : "c=pv");
    }
    /* not while it is released, or going */
    claim(s, "c", "", WAITS("2Gi", ""), "");
    scene_put(s, &kind_pv,
              "{'metadata':{'name':'pv'},'spec':{'storageClassName':'slow'" HAS(
                  "2Gi", "") "},'status':{'phase':'Released'}}");
    assert_why(s, "a", POD_WITH("c"), NONE);
    scene_put(s, &kind_pv,
              "{'metadata':{'name':'pv','deletionTimestamp':'2026-11-15T08:00:00Z'},'spec':{"
              "'storageClassName':'slow'" HAS("2Gi", "") "},'status':{'phase':'Available'}}");
    assert_why(s, "a", POD_WITH("c"), NONE);
    /* the class in the annotation of old */
    scene_put(s, &kind_pv,
              "{'metadata':{'name':'pv','annotations':{'volume.beta.kubernetes.io/storage-class':"
              "'slow'}},'spec':{'storageClassName':'x'" HAS(
                  "2Gi", "") "},'status':{'phase':'Available'}}");
    assert_fits(s, "a", POD_WITH("c"));
}

static void the_smallest_volume_that_will_do(void **state) {
    struct scene *s = *state;
    two_nodes(s);
    class(s, "slow", true, false);
    volume(s, "pv9", "", HAS("9Gi", ""));
    volume(s, "pv3", "", HAS("3Gi", ""));
    volume(s, "pv2", "", HAS("2Gi", ON("b")));
    volume(s, "pv3b", "", HAS("3Gi", ""));
    claim(s, "c", "", WAITS("1Gi", ""), "");
    assert_string_equal(binding(s, "a", POD_WITH("c")), "c=pv3");
    assert_string_equal(binding(s, "b", POD_WITH("c")), "c=pv2");
    /* several claims do not take the same one; the smallest goes first */
    const char *two =
        POD("", "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'big'}},{'name':'w',"
                "'persistentVolumeClaim':{'claimName':'c'}}]");
    claim(s, "big", "", WAITS("3Gi", ""), "");
    assert_string_equal(binding(s, "a", two), "c=pv3 big=pv3b");
    fit_remove_volume(s->fit, "pv3b");
    assert_string_equal(binding(s, "a", two), "c=pv3 big=pv9");
    fit_remove_volume(s->fit, "pv9");
    assert_why(s, "a", two, NONE);
    /* the scheduler wants a volume for each time that a claim is named */
    const char *twice =
        POD("", "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}},{'name':'w',"
                "'persistentVolumeClaim':{'claimName':'c'}}]");
    assert_why(s, "a", twice, NONE);
    assert_string_equal(binding(s, "b", twice), "c=pv2 c=pv3");
    /* reserved for it: that one or none */
    volume(s, "mine", "", HAS("5Gi", ",'claimRef':{'namespace':'d','name':'c'}" ON("b")));
    assert_why(s, "a", POD_WITH("c"), NONE);
    assert_string_equal(binding(s, "b", POD_WITH("c")), "c=mine");
    assert_string_equal(binding(s, "b", twice), "c=mine c=pv2");
}

static void volumes_can_be_made(void **state) {
    struct scene *s = *state;
    two_nodes(s);
    class(s, "slow", true, true);
    claim(s, "c", "", WAITS("1Gi", ""), "");
    assert_string_equal(binding(s, "a", POD_WITH("c")), "c=new");
    /* once it is being made, only there */
    claim(s, "c", "'volume.kubernetes.io/selected-node':'b'", WAITS("1Gi", ""), "");
    assert_why(s, "a", POD_WITH("c"), NONE);
    assert_string_equal(binding(s, "b", POD_WITH("c")), "c=new");
    claim(s, "c", "", WAITS("1Gi", ""), "");
    /* a free one is taken before one is made */
    volume(s, "pv", "", HAS("1Gi", ON("a")));
    assert_string_equal(binding(s, "a", POD_WITH("c")), "c=pv");
    assert_string_equal(binding(s, "b", POD_WITH("c")), "c=new");
    /* not everywhere */
    struct requirement r = {.key = make_str(s->pool, "topology.kubernetes.io/zone"),
                            .values = make_strs(s->pool, "2", "3", NULL)};
    struct node_term term = {.exprs = pool_blob(s->pool, &type_requirement, &r, sizeof r)};
    struct fit_class class = {.name = make_str(s->pool, "slow"),
                              .waits = true,
                              .provisions = true,
                              .topologies = pool_blob(s->pool, &type_term, &term, sizeof term)};
    fit_remove_volume(s->fit, "pv");
    fit_put_class(s->fit, &class);
    pool_unref(s->pool, class.topologies);
    assert_why(s, "a", POD_WITH("c"), NONE);
    assert_string_equal(binding(s, "b", POD_WITH("c")), "c=new");
    /* a term without anything in it allows nothing */
    term.exprs = NULL;
    class.topologies = pool_blob(s->pool, &type_term, &term, sizeof term);
    fit_put_class(s->fit, &class);
    pool_unref(s->pool, class.topologies);
    assert_why(s, "b", POD_WITH("c"), NONE);
    pool_unref(s->pool, class.name);
    fit_remove_class(s->fit, "slow");
    assert_why(s, "b", POD_WITH("c"), "!pod has unbound immediate PersistentVolumeClaims");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(a_bound_volume_says_where),
        SCENE_TEST(zones_of_old),
        SCENE_TEST(claims_must_be_there_and_well),
        SCENE_TEST(ephemeral_volumes_have_claims_of_their_own),
        SCENE_TEST(a_claim_for_one_pod),
        SCENE_TEST(a_claim_that_waits_takes_a_free_volume),
        SCENE_TEST(the_smallest_volume_that_will_do),
        SCENE_TEST(volumes_can_be_made),
    };
    return cmocka_run_group_tests_name("engine/fit_volumes", tests, NULL, NULL);
}
