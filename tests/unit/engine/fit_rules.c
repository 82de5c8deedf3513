/* Tests of src/engine/fit_rules.c: which rules are linked to which groups, and that their counts
 * are those of a count from scratch after any steps. */
#include "fit_scene.h"

#include "base/prng.h"
#include "engine/fit_internal.h"

#define HATES(app, key)                                                                            \
    "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"           \
    "'labelSelector':{'matchLabels':{'app':'" app "'}},'topologyKey':'" key "'}]}}"
#define POD_JSON                                                                                   \
    "{'metadata':{'namespace':'%s','name':'%s','labels':{'app':'%s'}},'spec':{'nodeName':'%s'%s}}"

static void equal_rules_are_one(void **state) {
    struct scene *s = *state;
    scene_node(s, "n", "'host':'n'");
    scene_put(s, &kind_pod, POD_JSON, "d", "p", "a", "n", "," HATES("x", "host"));
    scene_put(s, &kind_pod, POD_JSON, "d", "q", "b", "n", "," HATES("x", "host"));
    assert_int_equal(s->fit->rules.len, 1);
    assert_int_equal(s->fit->topos.len, 1);
    /* in another namespace it means other pods */
    scene_put(s, &kind_pod, POD_JSON, "e", "p", "a", "n", "," HATES("x", "host"));
    assert_int_equal(s->fit->rules.len, 2);
    assert_int_equal(s->fit->topos.len, 1);
    scene_put(s, &kind_pod, POD_JSON, "d", "r", "a", "n", "," HATES("x", "zone"));
    assert_int_equal(s->fit->rules.len, 3);
    assert_int_equal(s->fit->topos.len, 2);
}

static void groups_are_made_by_labels_and_owner(void **state) {
    struct scene *s = *state;
    scene_node(s, "n", "");
    scene_put(s, &kind_pod, POD_JSON, "d", "p", "a", "n", "");
    scene_put(s, &kind_pod, POD_JSON, "d", "q", "a", "n", ",'hostNetwork':true");
    assert_int_equal(s->fit->groups.len, 1);
    assert_int_equal(s->fit->cohorts.len, 2);
    scene_put(s, &kind_pod, POD_JSON, "e", "p", "a", "n", "");
    scene_put(s, &kind_pod, POD_JSON, "d", "r", "b", "n", "");
    assert_int_equal(s->fit->groups.len, 3);
    assert_int_equal(s->fit->spaces.len, 2);
    scene_put(s, &kind_pod,
              "{'metadata':{'namespace':'d','name':'o','labels':{'app':'a'},'ownerReferences':[{"
              "'apiVersion':'apps/v1','kind':'ReplicaSet','uid':'u','controller':true}]},'spec':{"
              "'nodeName':'n'}}");
    assert_int_equal(s->fit->groups.len, 4);
    const struct fit_pod *p = fit_node_find(s->fit, "n")->pods.p[0];
    assert_int_equal(p->cohort->group->pods.len, 2);
}

static void topology_values_are_at_hand(void **state) {
    struct scene *s = *state;
    scene_node(s, "n", "'a':'1','b':''");
    const char *key = pool_str(s->pool, "a", 1), *other = pool_str(s->pool, "b", 1),
               *none = pool_str(s->pool, "c", 1);
    struct fit_topo *t = fit_topo_get(s->fit, key), *u = fit_topo_get(s->fit, other),
                    *w = fit_topo_get(s->fit, none);
    struct fit_node *n = fit_node_find(s->fit, "n");
    assert_ptr_equal(fit_topo_get(s->fit, key), t);
    assert_string_equal(fit_topo_value(t, n), "1");
    assert_string_equal(fit_topo_value(u, n), "");
    assert_null(fit_topo_value(w, n));
    scene_node(s, "m", "'b':''"); /* a node that comes later; equal values have equal addresses */
    assert_null(fit_topo_value(t, fit_node_find(s->fit, "m")));
    assert_ptr_equal(fit_topo_value(u, fit_node_find(s->fit, "m")), fit_topo_value(u, n));
    scene_node(s, "n", "'a':'2'");
    assert_string_equal(fit_topo_value(t, n), "2");
    assert_null(fit_topo_value(u, n));
    fit_topo_put(s->fit, t);
    fit_topo_put(s->fit, t);
    fit_topo_put(s->fit, u);
    fit_topo_put(s->fit, w);
    assert_int_equal(s->fit->topos.len, 0);
    pool_unref(s->pool, key);
    pool_unref(s->pool, other);
    pool_unref(s->pool, none);
}

/* --- counts --- */

static int64_t holders(const struct fit *f, const struct fit_rule *r, const char *value) {
    int64_t n = 0;
    for (size_t i = 0; i < f->nodes.len; i++) {
        const struct fit_node *node = f->nodes.p[i];
        if (fit_topo_value(r->tallies[0].topo, node) != value)
            continue;
        for (size_t k = 0; k < node->pods.len; k++) {
            const struct fit_cohort *c = node->pods.p[k]->cohort;
            for (size_t h = 0; h < c->held.len; h++)
                n += c->held.p[h] == r;
        }
    }
    return n;
}

static bool linked(const struct fit_rule *r, const struct fit_group *g) {
    for (size_t i = 0; i < g->links.len; i++)
        if (g->links.p[i].rule == r)
            return g->links.p[i].forward;
    return false;
}

static int64_t meeting(const struct fit *f, const struct fit_rule *r, uint32_t tally,
                       const void *where) {
    int64_t n = 0;
    bool alive = r->key.role == FIT_ROLE_SPREAD || r->key.role == FIT_ROLE_OWNER;
    for (size_t i = 0; i < f->nodes.len; i++) {
        const struct fit_node *node = f->nodes.p[i];
        const struct fit_topo *topo = r->tallies[tally].topo;
        if ((topo ? (const void *)fit_topo_value(topo, node) : node) != where)
            continue;
        for (size_t k = 0; k < node->pods.len; k++)
            if (linked(r, node->pods.p[k]->cohort->group) && !(alive && node->pods.p[k]->leaving))
                n++;
    }
    return n;
}

static void check_counts(const struct fit *f) {
    const struct fit_rule *r;
    for (uint32_t i = 0; (r = htab_next(&f->rules, &i));) {
        const struct fit_count *e;
        int64_t sum = 0;
        for (uint32_t k = 0; (e = fit_counts_next(&r->held, &k));)
            assert_int_equal(e->n, holders(f, r, e->key));
        for (uint32_t t = 0; t < r->n_tallies; t++) {
            for (uint32_t k = 0; (e = fit_counts_next(&r->tallies[t].matched, &k)); sum += e->n)
                assert_int_equal(e->n, meeting(f, r, t, e->key));
        }
        if (!r->counting) {
            assert_int_equal(sum, 0);
            continue;
        }
        /* and nothing is missing */
        for (size_t k = 0; k < f->nodes.len; k++) {
            for (uint32_t t = 0; t < r->n_tallies; t++) {
                const struct fit_topo *topo = r->tallies[t].topo;
                const void *where =
                    topo ? (const void *)fit_topo_value(topo, f->nodes.p[k]) : f->nodes.p[k];
                if (where)
                    assert_int_equal(fit_counts_get(&r->tallies[t].matched, where),
                                     meeting(f, r, t, where));
            }
        }
    }
}

/* Links go both ways and fit together. */
static void check_links(const struct fit *f) {
    const struct fit_group *g;
    for (uint32_t i = 0; (g = htab_next(&f->groups, &i));) {
        for (size_t k = 0; k < g->links.len; k++) {
            const struct fit_link *l = &g->links.p[k];
            assert_true(l->forward || l->reverse);
            assert_ptr_equal(l->rule->members.p[l->at].group, g);
            assert_int_equal(l->rule->members.p[l->at].at, k);
        }
        for (size_t k = 0; k < g->pods.len; k++)
            assert_int_equal(g->pods.p[k]->group_at, k);
    }
}

static void counts_are_right_after_any_steps(void **state) {
    struct scene *s = *state;
    static const char *const specs[] = {
        "",
        "," HATES("a", "host"),
        "," HATES("b", "zone"),
        ",'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"
        "'labelSelector':{'matchLabels':{'app':'a'}},'topologyKey':'zone'},{'labelSelector':{},"
        "'topologyKey':'host','namespaceSelector':{'matchLabels':{'t':'1'}}}]}}",
        ",'affinity':{'podAntiAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{"
        "'weight':1,'podAffinityTerm':{'labelSelector':{'matchLabels':{'app':'b'}},'topologyKey':"
        "'zone','namespaceSelector':{'matchExpressions':[{'key':'t','operator':'Exists'}]}}}]}}",
        (",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':"
         "'DoNotSchedule','labelSelector':{'matchLabels':{'app':'a'}}}]"),
    };
    static const char *const spaces[] = {"d", "e"}, *const apps[] = {"a", "b", "c"};
    struct prng r = {11};
#define PICK(list) list[prng_range(&r, 0, ARRAY_LEN(list))]
    for (int step = 0; step < 3000; step++) {
        char pod[8], node[8];
        snprintf(pod, sizeof pod, "p%d", (int)prng_range(&r, 0, 40));
        snprintf(node, sizeof node, "n%d", (int)prng_range(&r, 0, 6));
        const char *ns = PICK(spaces);
        switch (prng_range(&r, 0, 12)) {
        case 0:
            scene_put(s, &kind_node,
                      "{'metadata':{'name':'%s','labels':{'host':'%s'%s}},'status':{'allocatable':{"
                      "'pods':'99'}}}",
                      node, node,
                      prng_range(&r, 0, 3) ? prng_range(&r, 0, 2) ? ",'zone':'1'" : ",'zone':'2'"
                                           : "");
            break;
        case 1:
            fit_remove_node(s->fit, node);
            break;
        case 2:
        case 3:
            fit_remove_pod(s->fit, ns, pod);
            break;
        case 4:
            scene_put(s, &kind_namespace, "{'metadata':{'name':'%s','labels':{%s}}}", ns,
                      prng_range(&r, 0, 2) ? "'t':'1'" : "");
            break;
        case 5: {
            struct fit_verdict v;
            _cleanup_free_ char *json = xasprintf(
                "{'metadata':{'namespace':'%s','name':'new','uid':'new','labels':{'app':'%s'}},"
                "'spec':{'hostIPC':true%s}}",
                ns, PICK(apps), PICK(specs));
            fit_check(s->fit, scene_pod(s, json), node, &v);
            break;
        }
        case 6:
            scene_put(s, &kind_pod,
                      "{'metadata':{'namespace':'%s','name':'%s','labels':{'app':'%s'},"
                      "'deletionTimestamp':'2026-11-15T08:00:00Z'},'spec':{'nodeName':'%s'%s}}",
                      ns, pod, PICK(apps), node, PICK(specs));
            break;
        default:
            scene_put(s, &kind_pod, POD_JSON, ns, pod, PICK(apps), node, PICK(specs));
        }
        if (step % 50 == 0) {
            check_counts(s->fit);
            check_links(s->fit);
        }
    }
}

/* When all pods are gone and the idle ones are swept away, nothing is left. */
static void nothing_piles_up(void **state) {
    struct scene *s = *state;
    scene_node(s, "n", "'host':'n'");
    for (int i = 0; i < 3000; i++) {
        char app[16];
        snprintf(app, sizeof app, "a%d", i);
        scene_put(s, &kind_pod, POD_JSON, "d", "p", app, "n", "," HATES("x", "host"));
        struct fit_verdict v;
        _cleanup_free_ char *json = xasprintf(
            "{'metadata':{'namespace':'d','name':'q','labels':{'app':'b%d'}},'spec':{" HATES(
                "y", "host") "}}",
            i);
        fit_check(s->fit, scene_pod(s, json), "n", &v);
    }
    assert_true(s->fit->cohorts.len < 200);
    assert_true(s->fit->groups.len < 200);
    assert_int_equal(s->fit->rules.len, 2);
    assert_true(pool_stats(s->pool).entries < 2000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(equal_rules_are_one),
        SCENE_TEST(groups_are_made_by_labels_and_owner),
        SCENE_TEST(topology_values_are_at_hand),
        SCENE_TEST(counts_are_right_after_any_steps),
        SCENE_TEST(nothing_piles_up),
    };
    return cmocka_run_group_tests_name("engine/fit_rules", tests, NULL, NULL);
}
