/* Tests of src/engine/fit_place.c: which node is taken, and how many are looked at. */
#include "fit_scene.h"

#include "engine/fit_internal.h"

#define CPU(n) "'containers':[{'name':'c','resources':{'requests':{'cpu':'" n "'}}}]"

static void node(struct scene *s, const char *name, const char *cpu) {
    scene_put(s, &kind_node,
              "{'metadata':{'name':'%s'},'status':{'allocatable':{'pods':'9','cpu':'%s','memory':"
              "'64Gi'}}}",
              name, cpu);
}

static const char *place(struct scene *s, const char *pod, uint64_t random) {
    return fit_place(s->fit, scene_pod(s, pod), random);
}

static void the_best_of_those_that_fit(void **state) {
    struct scene *s = *state;
    assert_null(place(s, POD("", ""), 0));
    assert_int_equal(fit_codes(s->fit), 1u << FIT_NO_NODE);
    node(s, "small", "1");
    node(s, "large", "8");
    for (uint64_t r = 0; r < 9; r++)
        assert_string_equal(place(s, POD("", CPU("1")), r), "large");
    assert_string_equal(place(s, POD("", CPU("4")), 0), "large"); /* the only one */
    assert_null(place(s, POD("", CPU("9")), 0));
    assert_int_equal(fit_codes(s->fit), 1u << FIT_RESOURCE);
    assert_null(place(s, POD("", "'schedulingGates':[{'name':'g'}]"), 0));
    assert_int_equal(fit_codes(s->fit), 1u << FIT_GATED);
    /* those of all nodes together */
    scene_put(s, &kind_node, "{'metadata':{'name':'small'},'spec':{'unschedulable':true}}");
    assert_null(place(s, POD("", CPU("9")), 0));
    assert_int_equal(fit_codes(s->fit), (1u << FIT_RESOURCE) | (1u << FIT_UNSCHEDULABLE));
}

/* Equally good ones by turns of the caller's number: each can be hit. */
static void ties_are_broken_by_the_caller(void **state) {
    struct scene *s = *state;
    unsigned hits[3] = {0};
    node(s, "a", "4");
    node(s, "b", "4");
    node(s, "c", "4");
    node(s, "worse", "3");
    for (uint64_t r = 0; r < 30; r++) {
        const char *name = place(s, POD("", CPU("1")), r);
        assert_true(*name >= 'a' && *name <= 'c' && !name[1]);
        s->fit->next = 0; /* so that only the number counts */
        hits[*name - 'a']++;
        const char *first = place(s, POD("", CPU("1")), r);
        s->fit->next = 0;
        assert_ptr_equal(place(s, POD("", CPU("1")), r), first);
        s->fit->next = 0;
    }
    assert_int_equal(hits[0] + hits[1] + hits[2], 30);
    assert_true(hits[0] && hits[1] && hits[2]);
    place(s, POD("", CPU("1")), UINT64_MAX);
}

static void nothing_changes_until_it_is_assumed(void **state) {
    struct scene *s = *state;
    node(s, "a", "1");
    assert_string_equal(place(s, POD("", CPU("1")), 0), "a");
    assert_string_equal(place(s, POD("", CPU("1")), 0), "a");
    fit_assume(s->fit, scene_pod(s, POD("", CPU("1"))), "a");
    assert_null(place(s, "{'metadata':{'namespace':'d','name':'next'},'spec':{" CPU("1") "}}", 0));
}

static void the_nominated_node_comes_first(void **state) {
    struct scene *s = *state;
#define FOR(node)                                                                                  \
    "{'metadata':{'namespace':'d','name':'new','uid':'new'},'spec':{" CPU(                         \
        "1") "},'status':{"                                                                        \
             "'nominatedNodeName':'" node "'}}"
    node(s, "large", "8");
    node(s, "small", "1");
    assert_string_equal(place(s, FOR("small"), 0), "small");
    assert_string_equal(place(s, FOR("gone"), 0), "large");
    scene_put(s, &kind_pod,
              "{'metadata':{'namespace':'d','name':'p'},'spec':{'nodeName':'small'," CPU("1") "}}");
    assert_string_equal(place(s, FOR("small"), 0), "large");
}

static void only_the_nodes_that_it_names(void **state) {
    struct scene *s = *state;
#define ONLY(names)                                                                                \
    POD("", "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"       \
            "'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In',"         \
            "'values':['" names "']}]}]}}}")
    node(s, "a", "8");
    node(s, "b", "1");
    assert_string_equal(place(s, ONLY("b"), 0), "b");
    assert_null(place(s, ONLY("nobody"), 0));
}

/* numFeasibleNodesToFind() of the real scheduler: 10 of 10, 420 of 1000, 300 of 6000. */
static void large_clusters_are_not_searched_to_the_end(void **state) {
    struct scene *s = *state;
    static const struct {
        size_t nodes, found;
    } rows[] = {{10, 10}, {99, 99}, {100, 100}, {150, 100}, {1000, 420}, {6000, 300}};
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (; n < rows[i].nodes; n++) {
            char name[16];
            snprintf(name, sizeof name, "n%zu", n);
            scene_node(s, name, "");
        }
        assert_non_null(place(s, POD("", ""), 0));
        assert_int_equal(s->fit->found.len, rows[i].found);
    }
    /* each search goes on where the last one ended, so that all nodes have their turn */
    size_t next = s->fit->next;
    place(s, POD("", ""), 0);
    assert_int_equal(s->fit->next, (next + 300) % 6000);
    assert_string_equal(s->fit->found.p[0]->meta.name, s->fit->nodes.p[next]->meta.name);
    /* nodes that do not fit are passed over */
    scene_node(s, "special", "'only':'one'");
    assert_string_equal(place(s, POD("", "'nodeSelector':{'only':'one'}"), 0), "special");
    /* nodes go while the search stands somewhere behind them */
    for (size_t i = 0; i < 5995; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%zu", i);
        fit_remove_node(s->fit, name);
    }
    assert_non_null(place(s, POD("", ""), 7));
    assert_int_equal(s->fit->found.len, 6);
}

/* Any will do, but all have their turn, and the codes tell why there is none. */
static void any_node_that_fits(void **state) {
    struct scene *s = *state;
    unsigned hits[3] = {0};
    assert_null(fit_any(s->fit, scene_pod(s, POD("", CPU("1")))));
    node(s, "small", "1");
    assert_null(fit_any(s->fit, scene_pod(s, POD("", CPU("2")))));
    assert_int_equal(fit_codes(s->fit), 1u << FIT_RESOURCE);
    node(s, "a", "4");
    node(s, "b", "4");
    node(s, "c", "4");
    for (int i = 0; i < 9; i++) {
        const char *name = fit_any(s->fit, scene_pod(s, POD("", CPU("2"))));
        assert_non_null(name);
        assert_true(*name >= 'a' && *name <= 'c' && !name[1]);
        assert_int_equal(s->fit->found.len, 1); /* it does not look any further */
        hits[*name - 'a']++;
    }
    assert_true(hits[0] && hits[1] && hits[2]);
    /* nothing is taken by a question */
    fit_assume(s->fit, scene_pod(s, POD("", CPU("4"))), "b");
    for (int i = 0; i < 4; i++)
        assert_string_not_equal(
            fit_any(s->fit, scene_pod(s, "{'metadata':{'namespace':'d','name':'next'},'spec':{" CPU(
                                             "4") "}}")),
            "b");
}

static void tainted(struct scene *s, const char *name, const char *taints) {
    scene_put(s, &kind_node,
              "{'metadata':{'name':'%s'},'spec':{'taints':[%s]},'status':{'allocatable':{'pods':"
              "'9','cpu':'4','memory':'64Gi'}}}",
              name, taints);
}

#define RATHER_NOT(key) "{'key':'" key "','effect':'PreferNoSchedule'}"

/* PreferNoSchedule taints are the one thing that any node is not as good as another by. */
static void any_node_but_rather_not_these(void **state) {
    struct scene *s = *state;
    unsigned twice = 0;
    tainted(s, "a", RATHER_NOT("x"));
    node(s, "b", "4");
    tainted(s, "c", RATHER_NOT("x") "," RATHER_NOT("y"));
    for (int i = 0; i < 9; i++)
        assert_string_equal(fit_any(s->fit, scene_pod(s, POD("", CPU("2")))), "b");
    /* who tolerates it sees no difference */
    for (int i = 0; i < 9; i++)
        twice +=
            streq(fit_any(s->fit,
                          scene_pod(s, POD("", "'tolerations':[{'operator':'Exists'}]," CPU("2")))),
                  "c");
    assert_in_range(twice, 2, 4);
    /* the lesser evil, when there is nothing else */
    scene_put(s, &kind_node, "{'metadata':{'name':'b'},'spec':{'unschedulable':true}}");
    for (int i = 0; i < 9; i++)
        assert_string_equal(fit_any(s->fit, scene_pod(s, POD("", CPU("2")))), "a");
}

/* What comes is what the taint itself would bring. */
static void nodes_to_be_avoided(void **state) {
    struct scene *s = *state;
    static const char *const pods[] = {
        POD("", CPU("1")),
        POD("", "'tolerations':[{'operator':'Exists'}]," CPU("1")),
        POD("", "'tolerations':[{'key':'slipway.dev/next','operator':'Exists'}]," CPU("1")),
        POD("", "'tolerations':[{'key':'other','operator':'Exists'}]," CPU("1")),
    };
    node(s, "a", "4");
    node(s, "b", "4");
    for (size_t i = 0; i < ARRAY_LEN(pods); i++) {
        node(s, "b", "4");
        fit_avoid_node(s->fit, "b");
        _cleanup_free_ char *avoided = xstrdup(scene_scores(s, pods[i]));
        tainted(s, "b", RATHER_NOT("slipway.dev/next"));
        assert_string_equal(scene_scores(s, pods[i]), avoided);
        fit_avoid_node(s->fit, "b"); /* it counts once */
        assert_string_equal(scene_scores(s, pods[i]), avoided);
    }
    assert_string_equal(place(s, pods[0], 0), "a");
    assert_string_equal(fit_any(s->fit, scene_pod(s, pods[0])), "a");
    /* until it is put again */
    node(s, "b", "4");
    unsigned hits = 0;
    for (uint64_t r = 0; r < 8; r++)
        hits += streq(place(s, pods[0], r), "b");
    assert_int_equal(hits, 4);
    /* it forbids nothing */
    fit_avoid_node(s->fit, "b");
    fit_avoid_node(s->fit, "nobody");
    scene_put(s, &kind_node, "{'metadata':{'name':'a'},'spec':{'unschedulable':true}}");
    assert_string_equal(place(s, pods[0], 0), "b");
    assert_fits(s, "b", POD("", CPU("1")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(the_best_of_those_that_fit),
        SCENE_TEST(ties_are_broken_by_the_caller),
        SCENE_TEST(nothing_changes_until_it_is_assumed),
        SCENE_TEST(the_nominated_node_comes_first),
        SCENE_TEST(only_the_nodes_that_it_names),
        SCENE_TEST(any_node_that_fits),
        SCENE_TEST(any_node_but_rather_not_these),
        SCENE_TEST(nodes_to_be_avoided),
        SCENE_TEST(large_clusters_are_not_searched_to_the_end),
    };
    return cmocka_run_group_tests_name("engine/fit_place", tests, NULL, NULL);
}
