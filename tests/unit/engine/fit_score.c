/* Tests of src/engine/fit_score.c: normalising and weights. Expected values are those of
 * Kubernetes' own tests of TaintToleration and NodeAffinity, and its default weights; the parts by
 * themselves are tested in fit_resources.c, fit_spread.c and fit_affinity.c. */
#include "fit_scene.h"

static void node(struct scene *s, const char *name, const char *labels, const char *taints,
                 const char *room) {
    scene_put(s, &kind_node,
              "{'metadata':{'name':'%s','labels':{%s}},'spec':{'taints':[%s]},'status':{"
              "'allocatable':{'pods':'9'%s}}}",
              name, labels, taints, room);
}

#define SOFT(key) "{'key':'" key "','value':'v','effect':'PreferNoSchedule'}"

/* The node with the most taints that are not tolerated gets 0, one with none 100; weight 3. */
static void taints_one_would_rather_avoid(void **state) {
    struct scene *s = *state;
    node(s, "a", "", "", "");
    node(s, "b", "", SOFT("x"), "");
    node(s, "c", "", SOFT("x") "," SOFT("y"), "");
    assert_string_equal(scene_scores(s, POD("", "")), "a:300 b:150 c:0");
    assert_string_equal(scene_scores(s, POD("", "'tolerations':[{'key':'x','value':'v','effect':"
                                                "'PreferNoSchedule'}]")),
                        "a:300 b:300 c:0");
    assert_string_equal(
        scene_scores(s, POD("", "'tolerations':[{'key':'x','value':'v','effect':'NoSchedule'}]")),
        "a:300 b:150 c:0");
    assert_string_equal(scene_scores(s, POD("", "'tolerations':[{'operator':'Exists'}]")),
                        "a:300 b:300 c:300");
}

#define PREFER(weight, key, value)                                                                 \
    "{'weight':" weight ",'preference':{'matchExpressions':[{'key':'" key                          \
    "','operator':'In','values':['" value "']}]}}"
#define LIKES(list)                                                                                \
    "'affinity':{'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[" list "]}}"

static void nodes_one_would_rather_have(void **state) {
    struct scene *s = *state;
    node(s, "a", "'foo':'bar'", "", "");
    node(s, "b", "'key':'value'", "", "");
    node(s, "c", "'foo':'bar','key':'value','az':'1'", "", "");
    /* 2, 4 and 6 points of 6: 33, 66 and 100, twice */
    assert_string_equal(
        scene_scores(s, POD("", LIKES(PREFER("2", "foo", "bar") "," PREFER("4", "key", "value")))),
        "a:366 b:432 c:500");
    assert_string_equal(scene_scores(s, POD("", LIKES(PREFER("2", "foo", "none")))),
                        "a:300 b:300 c:300");
    /* a term without anything in it, or without weight, gives nothing */
    assert_string_equal(scene_scores(s, POD("", LIKES("{'weight':9,'preference':{}}"))),
                        "a:300 b:300 c:300");
    assert_string_equal(
        scene_scores(s, POD("", LIKES("{'weight':5,'preference':{'matchFields':[{'key':"
                                      "'metadata.name','operator':'In','values':['b']}]}}"))),
        "a:300 b:500 c:300");
}

/* LeastAllocated 37 and 50, balance 68 and 75: both with weight 1. */
static void resources_count_twice(void **state) {
    struct scene *s = *state;
    node(s, "a", "", "", ",'cpu':'4','memory':'10000'");
    node(s, "b", "", "", ",'cpu':'6','memory':'10000'");
    assert_string_equal(scene_scores(s, POD("", "'containers':[{'name':'c','resources':{'requests':"
                                                "{'cpu':'3','memory':'5000'}}}]")),
                        "a:405 b:425");
}

static void one_node_needs_no_score(void **state) {
    struct scene *s = *state;
    node(s, "a", "'x':'1'", "", "");
    assert_string_equal(scene_scores(s, POD("", "")), "a:0");
    node(s, "b", "", "", "");
    assert_string_equal(scene_scores(s, POD("", "'nodeSelector':{'x':'1'}")), "a:0");
    assert_string_equal(scene_scores(s, POD("", "'nodeSelector':{'x':'2'}")), "");
    assert_string_equal(scene_scores(s, POD("", "'schedulingGates':[{'name':'g'}]")), "");
    assert_string_equal(
        scene_scores(s, POD("", "'affinity':{'nodeAffinity':{"
                                "'requiredDuringSchedulingIgnoredDuringExecution':{"
                                "'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name',"
                                "'operator':'In','values':['b']}]}]}}}")),
        "b:0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(taints_one_would_rather_avoid),
        SCENE_TEST(nodes_one_would_rather_have),
        SCENE_TEST(resources_count_twice),
        SCENE_TEST(one_node_needs_no_score),
    };
    return cmocka_run_group_tests_name("engine/fit_score", tests, NULL, NULL);
}
