/* Tests of src/engine/fit_spread.c. Cases and expected values are those of Kubernetes' own tests of
 * the plugin PodTopologySpread (filtering_test.go, scoring_test.go). */
#include "fit_scene.h"

#include "engine/fit_internal.h"

#define SKEW    "node(s) didn't match pod topology spread constraints"
#define MISSING "!" SKEW " (missing required label)"
#define FOO     "'labelSelector':{'matchExpressions':[{'key':'foo','operator':'Exists'}]}"
#define SPREAD(skew, key, when, rest)                                                              \
    "{'maxSkew':" skew ",'topologyKey':'" key "','whenUnsatisfiable':'" when "'," rest "}"
#define HARD(skew, key, rest) SPREAD(skew, key, "DoNotSchedule", rest)
#define SOFT(skew, key)       SPREAD(skew, key, "ScheduleAnyway", FOO)
#define BY(list)              "'topologySpreadConstraints':[" list "]"

/* Two zones of two nodes: a and b, x and y. */
static void four_nodes(struct scene *s) {
    scene_node(s, "a", "'zone':'1','node':'a','kubernetes.io/hostname':'a'");
    scene_node(s, "b", "'zone':'1','node':'b','kubernetes.io/hostname':'b'");
    scene_node(s, "x", "'zone':'2','node':'x','kubernetes.io/hostname':'x'");
    scene_node(s, "y", "'zone':'2','node':'y','kubernetes.io/hostname':'y'");
}

static void pods_on(struct scene *s, unsigned a, unsigned b, unsigned x, unsigned y) {
    scene_pods(s, a, "a", "'foo':''");
    scene_pods(s, b, "b", "'foo':''");
    scene_pods(s, x, "x", "'foo':''");
    scene_pods(s, y, "y", "'foo':''");
}

/* The nodes that fit, as a string; a node that fails must fail by the skew. */
static const char *fitting(struct scene *s, const char *pod) {
    static const char *const names[] = {"a", "b", "x", "y"};
    static char out[8];
    size_t n = 0;
    for (size_t i = 0; i < 4; i++) {
        const char *why = scene_why(s, names[i], pod);
        if (!*why)
            out[n++] = *names[i];
        else
            assert_string_equal(why, SKEW);
    }
    out[n] = '\0';
    return out;
}

static void the_skew_is_limited(void **state) {
    struct scene *s = *state;
    const char *by_zone = POD("'foo':''", BY(HARD("1", "zone", FOO)));
    const char *by_node = POD("'foo':''", BY(HARD("1", "node", FOO)));
    four_nodes(s);
    assert_string_equal(fitting(s, by_zone), "abxy");
    pods_on(s, 2, 1, 0, 3);
    assert_string_equal(fitting(s, by_zone), "abxy");
    assert_string_equal(fitting(s, by_node), "x");
    assert_string_equal(fitting(s, POD("'foo':''", BY(HARD("2", "node", FOO)))), "bx");
    /* a pod that is none of its own kind changes nothing by coming */
    assert_string_equal(fitting(s, POD("'bar':''", BY(HARD("1", "node", FOO)))), "bx");
    assert_string_equal(
        fitting(s, POD("'foo':''", BY(HARD("1", "zone", FOO) "," HARD("1", "node", FOO)))), "x");
}

static void who_counts(void **state) {
    struct scene *s = *state;
    four_nodes(s);
    /* other namespaces do not */
    for (int i = 0; i < 3; i++)
        scene_put(s, &kind_pod,
                  "{'metadata':{'namespace':'other','name':'o%d','labels':{'foo':''}},'spec':{"
                  "'nodeName':'a'}}",
                  i);
    pods_on(s, 0, 0, 1, 1);
    const char *by_zone = POD("'foo':''", BY(HARD("1", "zone", FOO)));
    assert_string_equal(fitting(s, by_zone), "ab");
    /* no selector matches nobody; the empty one matches the pod itself and counts nobody */
    assert_string_equal(fitting(s, POD("'foo':''", BY(HARD("1", "zone", "'x':1")))), "abxy");
    assert_string_equal(fitting(s, POD("'foo':''", BY(HARD("1", "zone", "'labelSelector':{}")))),
                        "abxy");
    /* pods on their way out do not */
    for (int i = 0; i < 2; i++)
        scene_put(s, &kind_pod,
                  "{'metadata':{'namespace':'d','name':'placed-%d','uid':'u%d','labels':{'foo':''},"
                  "'deletionTimestamp':'2026-11-15T08:00:00Z'},'spec':{'nodeName':'%s'}}",
                  i, i, i ? "y" : "x");
    assert_string_equal(fitting(s, by_zone), "abxy");
}

static void nodes_without_the_label_are_out(void **state) {
    struct scene *s = *state;
    const char *by_zone = POD("'foo':''", BY(HARD("1", "zone", FOO)));
    four_nodes(s);
    scene_node(s, "b", "'zon':'1'"); /* a typo */
    pods_on(s, 1, 1, 1, 1);
    assert_fits(s, "a", by_zone);
    assert_why(s, "b", by_zone, MISSING);
    assert_why(s, "x", by_zone, SKEW);
    assert_why(s, "a", POD("", BY(HARD("1", "rack", FOO))), MISSING);
    /* a node that lacks the key of one constraint does not count for the others */
    scene_node(s, "a", "'zone':'1','rack':'r'");
    scene_node(s, "x", "'zone':'2','rack':'r'");
    scene_pods(s, 1, "y", "'foo':''"); /* zone 2 has three pods, but only one that counts */
    const char *both = POD("'foo':''", BY(HARD("1", "zone", FOO) "," HARD("9", "rack", FOO)));
    assert_fits(s, "a", both);
    assert_fits(s, "x", both);
    assert_why(s, "y", both, MISSING);
    assert_why(s, "x", by_zone, SKEW);
}

#define IN(list)                                                                                   \
    "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"               \
    "'nodeSelectorTerms':[{'matchExpressions':[{'key':'node','operator':'In','values':[" list      \
    "]}]}]}}},"

static void nodes_that_the_pod_cannot_use_are_left_out(void **state) {
    struct scene *s = *state;
    static const char elsewhere[] = "!node(s) didn't match Pod's node affinity/selector";
    four_nodes(s);
    pods_on(s, 2, 1, 0, 3);
    const char *two = POD("'foo':''", IN("'a','y'") BY(HARD("1", "node", FOO)));
    assert_fits(s, "a", two); /* 2 and 3: the others, with 1 and 0, do not count */
    assert_why(s, "b", two, elsewhere);
    assert_why(s, "y", two, SKEW);
    const char *all =
        POD("'foo':''", IN("'a','y'") BY(HARD("1", "node", FOO ",'nodeAffinityPolicy':'Ignore'")));
    assert_why(s, "a", all, SKEW);
    /* tainted nodes count unless the pod says otherwise */
    const char *plain = POD("'foo':''", BY(HARD("1", "node", FOO)));
    const char *honor = POD("'foo':''", BY(HARD("1", "node", FOO ",'nodeTaintsPolicy':'Honor'")));
    scene_put(s, &kind_node,
              "{'metadata':{'name':'x','labels':{'zone':'2','node':'x'}},'spec':{'taints':[{'key':"
              "'t','effect':'NoSchedule'}]},'status':{'allocatable':{'pods':'9'}}}");
    assert_why(s, "b", plain, SKEW);
    assert_fits(s, "b", honor);
    assert_why(s, "x", honor, "!node(s) had untolerated taint(s)");
    /* the taint goes: the same nodes, another answer */
    scene_node(s, "x", "'zone':'2','node':'x'");
    assert_why(s, "b", honor, SKEW);
    /* a cordon that is played has one; whoever tolerates it counts the node */
    fit_cordon_node(s->fit, "x", true);
    assert_why(s, "b", plain, SKEW);
    assert_fits(s, "b", honor);
    assert_why(s, "x", honor, "!node(s) were unschedulable");
    const char *bears = POD("'foo':''", "'tolerations':[{'operator':'Exists'}]," BY(
                                            HARD("1", "node", FOO ",'nodeTaintsPolicy':'Honor'")));
    assert_why(s, "b", bears, SKEW);
    assert_fits(s, "x", bears);
    fit_cordon_node(s->fit, "x", false);
    assert_why(s, "b", honor, SKEW);
    /* the end of a cordon takes away the taint that the node says it has */
    scene_put(s, &kind_node,
              "{'metadata':{'name':'x','labels':{'zone':'2','node':'x'}},'spec':{'unschedulable':"
              "true,'taints':[{'key':'node.kubernetes.io/unschedulable','effect':'NoSchedule'}]},"
              "'status':{'allocatable':{'pods':'9'}}}");
    assert_fits(s, "b", honor);
    fit_cordon_node(s->fit, "x", false);
    assert_why(s, "b", honor, SKEW);
    assert_fits(s, "x", honor);
    scene_node(s, "x", "'zone':'2','node':'x'");
    assert_fits(s, "x", honor);
}

static void domains_that_are_still_to_come_are_empty(void **state) {
    struct scene *s = *state;
    scene_node(s, "a", "'node':'a'");
    scene_node(s, "b", "'node':'b'");
    scene_node(s, "x", "'node':'x'");
    pods_on(s, 2, 2, 1, 0);
#define MIN(n) POD("'foo':''", BY(HARD("2", "node", FOO ",'minDomains':" n)))
    assert_why(s, "a", MIN("4"), SKEW);
    assert_fits(s, "x", MIN("4"));
    assert_fits(s, "a", MIN("2"));
    assert_fits(s, "a", MIN("3"));
    /* nodes that the pod cannot use make no domains */
    const char *narrow = POD("'foo':''", IN("'a'") BY(HARD("2", "node", FOO ",'minDomains':2")));
    assert_why(s, "a", narrow, SKEW);
}

static void only_pods_with_the_same_label_values(void **state) {
    struct scene *s = *state;
    four_nodes(s);
    scene_pods(s, 2, "a", "'foo':'','rev':'1'");
    scene_pods(s, 1, "y", "'foo':'','rev':'2'");
#define KEYS ",'matchLabelKeys':['rev']"
    assert_string_equal(fitting(s, POD("'foo':'','rev':'2'", BY(HARD("1", "zone", FOO KEYS)))),
                        "ab");
    assert_string_equal(fitting(s, POD("'foo':'','rev':'1'", BY(HARD("1", "zone", FOO KEYS)))),
                        "xy");
    assert_string_equal(fitting(s, POD("'foo':'','rev':'3'", BY(HARD("1", "zone", FOO KEYS)))),
                        "abxy");
    /* without the label the key says nothing; and the empty selector with a key counts */
    assert_string_equal(fitting(s, POD("'foo':''", BY(HARD("1", "zone", FOO KEYS)))), "xy");
    assert_string_equal(
        fitting(s, POD("'foo':'','rev':'2'", BY(HARD("1", "zone", "'labelSelector':{}" KEYS)))),
        "ab");
    assert_string_equal(
        fitting(s, POD("'foo':''", BY(HARD("1", "zone", "'labelSelector':{}" KEYS)))), "abxy");
    /* the API server has written the key into the selector already */
    assert_string_equal(fitting(s, POD("'foo':'','rev':'2'",
                                       BY(HARD("1", "zone",
                                               "'labelSelector':{'matchLabels':{'foo':''},"
                                               "'matchExpressions':[{'key':'rev','operator':'In',"
                                               "'values':['2']}]}" KEYS)))),
                        "ab");
}

/* More specs than tables are kept, asked in turn, while nodes change. */
static void answers_stay_right_when_tables_are_thrown_away(void **state) {
    struct scene *s = *state;
    four_nodes(s);
    pods_on(s, 1, 0, 0, 0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 40; i++) {
            _cleanup_free_ char *pod = xasprintf(
                POD("'foo':''", "'terminationGracePeriodSeconds':%d," BY(HARD("1", "zone", FOO))),
                i);
            assert_string_equal(fitting(s, pod), round == 1 ? "abxy" : "xy");
        }
        /* all in one zone, and back */
        scene_node(s, "x", round ? "'zone':'2'" : "'zone':'1'");
        scene_node(s, "y", round ? "'zone':'2'" : "'zone':'1'");
    }
}

/* --- soft constraints --- */

/* Nodes and pods are such that nothing else gives points, but for 300 from taints that nobody has:
 * twice the score of the plugin remains. */
static void assert_scores(struct scene *s, const char *pod, const char *want) {
    struct str got = STR_INIT;
    size_t n;
    const struct fit_score *list = fit_scores(s->fit, scene_pod(s, pod), &n);
    for (size_t i = 0; i < n; i++)
        str_addf(&got, "%s%s %lld", i ? ", " : "", list[i].node,
                 (long long)(list[i].score - 300) / 2);
    assert_string_equal(str_get(&got), want);
    str_done(&got);
}

static void nodes(struct scene *s, const char *names) {
    for (; *names; names++)
        scene_put(s, &kind_node,
                  "{'metadata':{'name':'%c','labels':{'kubernetes.io/hostname':'%c'}},'status':{"
                  "'allocatable':{'pods':'100'}}}",
                  *names, *names);
}

static void by_node_the_fewer_the_better(void **state) {
    struct scene *s = *state;
    nodes(s, "abcd");
    scene_pods(s, 2, "a", "'foo':''");
    scene_pods(s, 1, "b", "'foo':''");
    scene_pods(s, 3, "d", "'foo':''");
    assert_scores(s, POD("'foo':''", BY(SOFT("1", "kubernetes.io/hostname"))),
                  "a 20, b 60, c 100, d 0");
    assert_scores(s, POD("'foo':''", BY(SOFT("2", "kubernetes.io/hostname"))),
                  "a 33, b 66, c 100, d 16");
    scene_pods(s, 2, "a", "'foo':''");
    scene_pods(s, 2, "b", "'foo':''");
    scene_pods(s, 2, "c", "'foo':''");
    for (unsigned i = 4; i < 6; i++) { /* two of the three on d */
        char name[32];
        snprintf(name, sizeof name, "placed-%u", i);
        fit_remove_pod(s->fit, "d", name);
    }
    assert_scores(s, POD("'foo':''", BY(SOFT("3", "kubernetes.io/hostname"))),
                  "a 44, b 66, c 77, d 100");
}

static void a_node_that_does_not_fit_is_no_candidate(void **state) {
    struct scene *s = *state;
    four_nodes(s);
    scene_put(s, &kind_node,
              "{'metadata':{'name':'y','labels':{'zone':'2','kubernetes.io/hostname':'y'}},'spec':{"
              "'unschedulable':true}}");
    pods_on(s, 4, 2, 1, 3);
    assert_scores(s, POD("'foo':''", BY(SOFT("1", "kubernetes.io/hostname"))), "a 33, b 83, x 100");
    /* but its pods count for its zone */
    assert_scores(s, POD("'foo':''", BY(SOFT("1", "zone"))), "a 75, b 75, x 100");
    scene_node(s, "b", "'n':'b'");
    assert_scores(s, POD("'foo':''", BY(SOFT("1", "kubernetes.io/hostname"))), "a 16, b 0, x 100");
}

static void two_soft_constraints(void **state) {
    struct scene *s = *state;
    four_nodes(s);
    pods_on(s, 2, 1, 2, 4);
    for (const char *n = "by"; *n; n++)
        scene_put(s, &kind_node,
                  "{'metadata':{'name':'%c','labels':{'zone':'%d','kubernetes.io/hostname':'%c'}},"
                  "'spec':{'unschedulable':true}}",
                  *n, *n == 'b' ? 1 : 2, *n);
    assert_scores(s, POD("'foo':''", BY(SOFT("1", "zone") "," SOFT("1", "kubernetes.io/hostname"))),
                  "a 100, x 63");
}

static void pods_of_a_controller_are_spread_by_default(void **state) {
    struct scene *s = *state;
    static const char owned[] =
        "{'metadata':{'namespace':'d','name':'%s','uid':'%s','ownerReferences':[{'apiVersion':"
        "'apps/v1','kind':'%s','name':'o','uid':'o','controller':true}]},'spec':{%s}}";
    static const struct {
        char node;
        unsigned pods;
    } rows[] = {{'a', 4}, {'b', 3}, {'c', 2}, {'d', 1}};
    nodes(s, "abcd");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (unsigned k = 0; k < rows[i].pods; k++) {
            char name[16], spec[32];
            snprintf(name, sizeof name, "%c%u", rows[i].node, k);
            snprintf(spec, sizeof spec, "'nodeName':'%c'", rows[i].node);
            scene_put(s, &kind_pod, owned, name, name, "ReplicaSet", spec);
        }
    }
    scene_pods(s, 9, "d", ""); /* somebody else's */
    _cleanup_free_ char *mine = xasprintf(owned, "new", "new", "ReplicaSet", "");
    _cleanup_free_ char *daemon = xasprintf(owned, "new", "new", "DaemonSet", "");
    assert_scores(s, mine, "a 44, b 66, c 77, d 100"); /* the nodes have no zones */
    assert_scores(s, daemon, "a 0, b 0, c 0, d 0");
    /* constraints of its own, even hard ones alone, take the place of the default */
    _cleanup_free_ char *own =
        xasprintf(owned, "new", "new", "ReplicaSet", BY(HARD("9", "kubernetes.io/hostname", FOO)));
    assert_scores(s, own, "a 0, b 0, c 0, d 0");
}

/* By node with a skew of 3 and by zone with one of 5: for the node with a pod each gives ln 4,
 * since there are two domains, and the skew less one: 2 (ln 4) + 2 + 4 = 9 rounded, against 6. Of 9
 * + 6 the first keeps 6/9. */
static void zones_count_by_default_too(void **state) {
    struct scene *s = *state;
    static const char owned[] =
        "{'metadata':{'namespace':'d','name':'%s','uid':'%s','ownerReferences':[{'apiVersion':"
        "'apps/v1','kind':'StatefulSet','name':'o','uid':'o','controller':true}]},'spec':{%s}}";
    for (const char *n = "ab"; *n; n++)
        scene_put(s, &kind_node,
                  "{'metadata':{'name':'%c','labels':{'kubernetes.io/hostname':'%c',"
                  "'topology.kubernetes.io/zone':'%c'}},'status':{'allocatable':{'pods':'100'}}}",
                  *n, *n, *n);
    scene_put(s, &kind_pod, owned, "p", "p", "'nodeName':'a'");
    _cleanup_free_ char *mine = xasprintf(owned, "new", "new", "");
    assert_scores(s, mine, "a 66, b 100");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(the_skew_is_limited),
        SCENE_TEST(who_counts),
        SCENE_TEST(nodes_without_the_label_are_out),
        SCENE_TEST(nodes_that_the_pod_cannot_use_are_left_out),
        SCENE_TEST(domains_that_are_still_to_come_are_empty),
        SCENE_TEST(only_pods_with_the_same_label_values),
        SCENE_TEST(answers_stay_right_when_tables_are_thrown_away),
        SCENE_TEST(by_node_the_fewer_the_better),
        SCENE_TEST(a_node_that_does_not_fit_is_no_candidate),
        SCENE_TEST(two_soft_constraints),
        SCENE_TEST(pods_of_a_controller_are_spread_by_default),
        SCENE_TEST(zones_count_by_default_too),
    };
    return cmocka_run_group_tests_name("engine/fit_spread", tests, NULL, NULL);
}
