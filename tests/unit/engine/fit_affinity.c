/* Tests of src/engine/fit_affinity.c. Rules as in Kubernetes' own tests of the plugin
 * InterPodAffinity; what namespace selectors do was asked of the real scheduler
 * (tests/cluster/test_fit.py). */
#include "fit_scene.h"

#define NEAR                 "!node(s) didn't match pod affinity rules"
#define FAR                  "node(s) didn't match pod anti-affinity rules"
#define FORBID               "node(s) didn't satisfy existing pods anti-affinity rules"
#define HARD                 "requiredDuringSchedulingIgnoredDuringExecution"
#define SOFT                 "preferredDuringSchedulingIgnoredDuringExecution"
#define APP(a)               "'labelSelector':{'matchLabels':{'app':'" a "'}}"
#define WANT(t)              "'affinity':{'podAffinity':{'" HARD "':[" t "]}}"
#define HATE(t)              "'affinity':{'podAntiAffinity':{'" HARD "':[" t "]}}"
#define LIKE(t)              "'affinity':{'podAffinity':{'" SOFT "':[" t "]}}"
#define SHUN(t)              "'affinity':{'podAntiAffinity':{'" SOFT "':[" t "]}}"
#define TERM(app, key, more) "{" APP(app) ",'topologyKey':'" key "'" more "}"
#define WEIGHT(w, t)         "{'weight':" w ",'podAffinityTerm':" t "}"

/* Zone 1 has a and b, zone 2 has x; y has no zone. */
static void four_nodes(struct scene *s) {
    scene_node(s, "a", "'zone':'1','host':'a'");
    scene_node(s, "b", "'zone':'1','host':'b'");
    scene_node(s, "x", "'zone':'2','host':'x'");
    scene_node(s, "y", "'host':'y'");
}

__attribute__((format(printf, 5, 6))) static void
put_pod(struct scene *s, const char *ns, const char *name, const char *node, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *spec = xvasprintf(fmt, ap);
    va_end(ap);
    scene_put(s, &kind_pod,
              "{'metadata':{'namespace':'%s','name':'%s','uid':'%s/%s','labels':{'app':'%s'}},"
              "'spec':{'nodeName':'%s'%s%s}}",
              ns, name, ns, name, name, node, *spec ? "," : "", spec);
}

static void near_other_pods(void **state) {
    struct scene *s = *state;
    four_nodes(s);
    const char *by_zone = POD("", WANT(TERM("db", "zone", "")));
    const char *by_host = POD("", WANT(TERM("db", "host", "")));
    assert_why(s, "a", by_zone, NEAR);
    put_pod(s, "d", "db", "a", "%s", "");
    assert_fits(s, "a", by_zone);
    assert_fits(s, "b", by_zone);
    assert_why(s, "x", by_zone, NEAR);
    assert_why(s, "y", by_zone, NEAR); /* not in any zone */
    assert_fits(s, "a", by_host);
    assert_why(s, "b", by_host, NEAR);
    /* a pod that is on its way out is still there */
    scene_put(s, &kind_pod,
              "{'metadata':{'namespace':'d','name':'db','uid':'d/db','labels':{'app':'db'},"
              "'deletionTimestamp':'2026-11-15T08:00:00Z'},'spec':{'nodeName':'a'}}");
    assert_fits(s, "a", by_zone);
    fit_remove_pod(s->fit, "d", "db");
    assert_why(s, "a", by_zone, NEAR);
}

static void one_pod_must_meet_all_terms(void **state) {
    struct scene *s = *state;
    four_nodes(s);
    scene_put(s, &kind_pod,
              "{'metadata':{'namespace':'d','name':'p','labels':{'app':'db','tier':'t'}},'spec':{"
              "'nodeName':'a'}}");
    scene_put(s, &kind_pod,
              "{'metadata':{'namespace':'d','name':'q','labels':{'app':'db'}},'spec':{'nodeName':"
              "'x'}}");
#define TIER "{'labelSelector':{'matchLabels':{'tier':'t'}},'topologyKey':'%s'}"
    _cleanup_free_ char *same = xasprintf(POD("", WANT(TERM("db", "zone", "") "," TIER)), "zone");
    _cleanup_free_ char *mixed = xasprintf(POD("", WANT(TERM("db", "zone", "") "," TIER)), "host");
    assert_fits(s, "b", same);
    assert_why(s, "x", same, NEAR); /* its pod has no tier */
    assert_why(s, "b", mixed, NEAR);
    assert_fits(s, "a", mixed);
}

static void the_first_of_a_series_may_come(void **state) {
    struct scene *s = *state;
    four_nodes(s);
    const char *own = POD("'app':'db'", WANT(TERM("db", "zone", "")));
    assert_fits(s, "a", own);
    assert_fits(s, "x", own);
    assert_why(s, "y", own, NEAR); /* the key must be there all the same */
    assert_why(s, "a", POD("'app':'web'", WANT(TERM("db", "zone", ""))), NEAR);
    /* a pod that is in no domain of that key does not count as the first */
    put_pod(s, "d", "db", "y", "%s", "");
    assert_fits(s, "x", own);
    put_pod(s, "d", "db", "a", "%s", "");
    assert_fits(s, "b", own);
    assert_why(s, "x", own, NEAR);
    /* with two terms it must meet both itself */
    assert_why(s, "a",
               POD("'app':'web'", WANT(TERM("web", "zone", "") "," TERM("nobody", "host", ""))),
               NEAR);
}

static void far_from_other_pods(void **state) {
    struct scene *s = *state;
    four_nodes(s);
    put_pod(s, "d", "db", "a", "%s", "");
    const char *by_zone = POD("", HATE(TERM("db", "zone", "")));
    assert_why(s, "a", by_zone, FAR);
    assert_why(s, "b", by_zone, FAR);
    assert_fits(s, "x", by_zone);
    assert_fits(s, "y", by_zone); /* without the key there is no domain to be in */
    assert_fits(s, "b", POD("", HATE(TERM("db", "host", ""))));
    /* any of the terms */
    assert_why(s, "a", POD("", HATE(TERM("nobody", "zone", "") "," TERM("db", "host", ""))), FAR);
    /* one selector that is missing, and one that is empty */
    assert_fits(s, "a", POD("", HATE("{'topologyKey':'host'}")));
    assert_why(s, "a", POD("", HATE("{'topologyKey':'host','labelSelector':{}}")), FAR);
}

static void pods_that_are_there_forbid_others(void **state) {
    struct scene *s = *state;
    four_nodes(s);
    put_pod(s, "d", "alone", "a", HATE(TERM("%s", "zone", "")), "web");
    assert_why(s, "a", POD("'app':'web'", ""), FORBID);
    assert_why(s, "b", POD("'app':'web'", ""), FORBID);
    assert_fits(s, "x", POD("'app':'web'", ""));
    assert_fits(s, "a", POD("'app':'other'", ""));
    assert_fits(s, "a", POD("", ""));
    /* what it wants, and what it only prefers, forbids nothing */
    put_pod(s, "d", "wants", "x", WANT(TERM("%s", "zone", "")), "web");
    put_pod(s, "d", "shuns", "x", SHUN(WEIGHT("1", TERM("%s", "zone", ""))), "web");
    assert_fits(s, "x", POD("'app':'web'", ""));
    /* it moves: without its node's label nobody is near it */
    scene_node(s, "a", "'host':'a'");
    assert_fits(s, "a", POD("'app':'web'", ""));
    assert_fits(s, "b", POD("'app':'web'", ""));
    scene_node(s, "a", "'zone':'2'");
    assert_why(s, "x", POD("'app':'web'", ""), FORBID);
    fit_remove_pod(s->fit, "d", "alone");
    assert_fits(s, "x", POD("'app':'web'", ""));
}

#define SPACE(name, labels) "{'metadata':{'name':'" name "','labels':{" labels "}}}"
#define RED                 ",'namespaceSelector':{'matchLabels':{'team':'red'}}"
#define NOT_RED                                                                                    \
    ",'namespaceSelector':{'matchExpressions':[{'key':'team','operator':'NotIn','values':['red']}" \
    "]}"

static void namespaces_are_named_or_selected(void **state) {
    struct scene *s = *state;
    four_nodes(s);
    scene_put(s, &kind_namespace, SPACE("d", ""));
    scene_put(s, &kind_namespace, SPACE("red", "'team':'red'"));
    put_pod(s, "red", "db", "a", "%s", "");
#define ASK(more) POD("", HATE(TERM("db", "host", more)))
    assert_fits(s, "a", ASK(""));
    assert_why(s, "a", ASK(",'namespaces':['red']"), FAR);
    assert_why(s, "a", ASK(",'namespaces':['x','red','red']"), FAR);
    assert_fits(s, "a", ASK(",'namespaces':['d']"));
    assert_why(s, "a", ASK(",'namespaceSelector':{}"), FAR);
    assert_why(s, "a", ASK(RED), FAR);
    assert_why(s, "a", ASK(",'namespaces':['d']" RED), FAR);
    /* the namespace's labels change while the pod is there */
    scene_put(s, &kind_namespace, SPACE("red", "'team':'blue'"));
    assert_fits(s, "a", ASK(RED));
    scene_put(s, &kind_namespace, SPACE("red", "'team':'red'"));
    assert_why(s, "a", ASK(RED), FAR);
    fit_remove_namespace(s->fit, "red");
    assert_fits(s, "a", ASK(RED));
    /* every namespace, even one that nothing is known of */
    assert_why(s, "a", ASK(",'namespaceSelector':{}"), FAR);
    /* v1.36 asks the selector once more without labels: NotIn alone means everywhere */
    scene_put(s, &kind_namespace, SPACE("red", "'team':'red'"));
    assert_why(s, "a", ASK(NOT_RED), FAR);
}

/* The same in the other direction, where the selector is asked only once. */
static void namespaces_of_those_who_forbid(void **state) {
    struct scene *s = *state;
    four_nodes(s);
    scene_put(s, &kind_namespace, SPACE("d", "'team':'red'"));
    put_pod(s, "other", "own", "a", HATE(TERM("%s", "host", "")), "web");
    put_pod(s, "other", "named", "b", HATE(TERM("%s", "host", ",'namespaces':['d']")), "web");
    put_pod(s, "other", "selected", "x", HATE(TERM("%s", "host", RED)), "web");
    put_pod(s, "other", "not", "y", HATE(TERM("%s", "host", NOT_RED)), "web");
    assert_fits(s, "a", POD("'app':'web'", ""));
    assert_why(s, "b", POD("'app':'web'", ""), FORBID);
    assert_why(s, "x", POD("'app':'web'", ""), FORBID);
    assert_fits(s, "y", POD("'app':'web'", ""));
    scene_put(s, &kind_namespace, SPACE("d", ""));
    assert_fits(s, "x", POD("'app':'web'", ""));
    assert_why(s, "y", POD("'app':'web'", ""), FORBID);
}

/* In templates, where the API server has not yet written them into the selector. */
static void label_keys(void **state) {
    struct scene *s = *state;
    four_nodes(s);
    scene_put(s, &kind_pod,
              "{'metadata':{'namespace':'d','name':'p','labels':{'app':'db','rev':'1'}},'spec':{"
              "'nodeName':'a'}}");
#define SAME  ",'matchLabelKeys':['rev']"
#define OTHER ",'mismatchLabelKeys':['rev']"
    assert_why(s, "a", POD("'rev':'1'", HATE(TERM("db", "host", SAME))), FAR);
    assert_fits(s, "a", POD("'rev':'2'", HATE(TERM("db", "host", SAME))));
    assert_fits(s, "a", POD("'rev':'1'", HATE(TERM("db", "host", OTHER))));
    assert_why(s, "a", POD("'rev':'2'", HATE(TERM("db", "host", OTHER))), FAR);
    /* a label that the pod does not have says nothing */
    assert_why(s, "a", POD("", HATE(TERM("db", "host", SAME))), FAR);
    assert_why(s, "a", POD("", HATE(TERM("db", "host", OTHER))), FAR);
    /* written already: the pod's labels are not looked at again */
    assert_why(s, "a",
               POD("'rev':'2'", HATE("{'labelSelector':{'matchLabels':{'app':'db'},"
                                     "'matchExpressions':[{'key':'rev','operator':'In','values':["
                                     "'1']}]},'topologyKey':'host'" SAME "}")),
               FAR);
}

/* More namespaces than a rule is kept with. */
static void any_number_of_namespaces(void **state) {
    struct scene *s = *state;
    struct str names = STR_INIT;
    four_nodes(s);
    for (int i = 0; i < 300; i++)
        str_addf(&names, "'s%d',", i);
    put_pod(s, "s250", "db", "a", "%s", "");
    put_pod(s, "other", "db", "b", "%s", "");
    _cleanup_free_ char *pod =
        xasprintf(POD("", HATE(TERM("db", "host", ",'namespaces':[%s'last']"))), str_get(&names));
    assert_why(s, "a", pod, FAR);
    assert_fits(s, "b", pod);
    put_pod(s, "last", "db", "b", "%s", "");
    assert_why(s, "b", pod, FAR);
    fit_remove_pod(s->fit, "s250", "db");
    assert_fits(s, "a", pod);
    str_done(&names);
}

/* More topology keys than nodes have slots for. */
static void any_number_of_topology_keys(void **state) {
    struct scene *s = *state;
    enum { KEYS = 30 };
    struct str labels = STR_INIT;
    for (int i = 0; i < KEYS; i++)
        str_addf(&labels, "%s'k%d':'v'", i ? "," : "", i);
    scene_node(s, "a", str_get(&labels));
    scene_node(s, "b", "'k0':'v'");
    put_pod(s, "d", "db", "a", "%s", "");
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < KEYS; i++) {
            _cleanup_free_ char *pod = xasprintf(
                POD("", HATE("{" APP("db") ",'topologyKey':'k%d'}")), round ? i : KEYS - 1 - i);
            assert_why(s, "a", pod, FAR);
            bool first = strstr(pod, "'k0'");
            assert_string_equal(scene_why(s, "b", pod), first ? FAR : "");
        }
    }
    str_done(&labels);
}

/* An empty value is a value like any other. */
static void empty_values_are_a_domain(void **state) {
    struct scene *s = *state;
    scene_node(s, "a", "'rack':''");
    scene_node(s, "b", "'rack':''");
    scene_node(s, "x", "'rack':'1'");
    put_pod(s, "d", "db", "a", "%s", "");
    assert_why(s, "b", POD("", HATE(TERM("db", "rack", ""))), FAR);
    assert_fits(s, "x", POD("", HATE(TERM("db", "rack", ""))));
    assert_fits(s, "b", POD("", WANT(TERM("db", "rack", ""))));
}

/* --- preferences: 300 points come from taints that nobody has, and twice the plugin's score --- */

static void preferences_count_both_ways(void **state) {
    struct scene *s = *state;
    scene_node(s, "a", "'zone':'1'");
    scene_node(s, "b", "'zone':'2'");
    scene_node(s, "x", "'zone':'3'");
    put_pod(s, "d", "db", "a", "%s", "");
    assert_string_equal(scene_scores(s, POD("", "")), "a:300 b:300 x:300");
    assert_string_equal(scene_scores(s, POD("", LIKE(WEIGHT("5", TERM("db", "zone", ""))))),
                        "a:500 b:300 x:300");
    assert_string_equal(scene_scores(s, POD("", SHUN(WEIGHT("5", TERM("db", "zone", ""))))),
                        "a:300 b:500 x:500");
    /* weights: 8 for a, 2 for b: (2-0)*100/8 = 25 */
    put_pod(s, "d", "web", "b", "%s", "");
    assert_string_equal(scene_scores(s, POD("", LIKE(WEIGHT("8", TERM("db", "zone", "")) "," WEIGHT(
                                                    "2", TERM("web", "zone", ""))))),
                        "a:500 b:350 x:300");
    /* a namespace that is named twice counts once */
    assert_string_equal(
        scene_scores(
            s, POD("", LIKE(WEIGHT("5", TERM("db", "zone", ",'namespaces':['d','d']")) "," WEIGHT(
                           "5", TERM("web", "zone", ""))))),
        "a:500 b:500 x:300");
    /* what others like or shun; to be wanted by them counts one */
    put_pod(s, "d", "fan", "x", LIKE(WEIGHT("%s", TERM("me", "zone", ""))), "4");
    put_pod(s, "d", "needy", "b", WANT(TERM("%s", "zone", "")), "me");
    assert_string_equal(scene_scores(s, POD("'app':'me'", "")), "a:300 b:350 x:500");
    put_pod(s, "d", "foe", "x", SHUN(WEIGHT("%s", TERM("me", "zone", ""))), "5");
    /* a 0, b 1, x -1 */
    assert_string_equal(scene_scores(s, POD("'app':'me'", "")), "a:400 b:500 x:300");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(near_other_pods),
        SCENE_TEST(one_pod_must_meet_all_terms),
        SCENE_TEST(the_first_of_a_series_may_come),
        SCENE_TEST(far_from_other_pods),
        SCENE_TEST(pods_that_are_there_forbid_others),
        SCENE_TEST(namespaces_are_named_or_selected),
        SCENE_TEST(namespaces_of_those_who_forbid),
        SCENE_TEST(label_keys),
        SCENE_TEST(any_number_of_namespaces),
        SCENE_TEST(any_number_of_topology_keys),
        SCENE_TEST(empty_values_are_a_domain),
        SCENE_TEST(preferences_count_both_ways),
    };
    return cmocka_run_group_tests_name("engine/fit_affinity", tests, NULL, NULL);
}
