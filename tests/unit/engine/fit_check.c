/* Tests of src/engine/fit_check.c: the order of the rules, and room that is kept for others. */
#include "fit_scene.h"

#define CPU(n) "'containers':[{'name':'c','resources':{'requests':{'cpu':'" n "'}}}]"

/* A node with everything against it: what is mended uncovers the next reason. */
static void the_first_rule_that_says_no(void **state) {
    struct scene *s = *state;
    static const char node[] =
        "{'metadata':{'name':'n','labels':{%s}},'spec':{'unschedulable':%s,'taints':[%s]},'status':"
        "{'allocatable':{'pods':'9','cpu':'%s'}}}";
    static const char taint[] = "{'key':'t','effect':'NoSchedule'}", label[] = "'a':'b'";
    const char *pod = POD(
        "'app':'x'",
        "'nodeSelector':{'a':'b'},'containers':[{'name':'c','ports':[{'hostPort':80}],'resources':{"
        "'requests':{'cpu':'2'}}}],'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}"
        "}],'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':"
        "'DoNotSchedule','labelSelector':{}}],'affinity':{'podAffinity':{"
        "'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'a','labelSelector':{"
        "'matchLabels':{'app':'y'}}}]}}");
    scene_put(s, &kind_node, node, "", "true", taint, "1");
    scene_put(
        s, &kind_pod,
        "{'metadata':{'namespace':'d','name':'p','labels':{'app':'x'}},'spec':{'nodeName':'n',"
        "'containers':[{'name':'c','ports':[{'hostPort':80}]}]}}");
    scene_put(s, &kind_pvc,
              "{'metadata':{'namespace':'d','name':'c','annotations':{"
              "'pv.kubernetes.io/bind-completed':''}},'spec':{'volumeName':'v'}}");
    scene_put(s, &kind_pv,
              "{'metadata':{'name':'v'},'spec':{'nodeAffinity':{'required':{'nodeSelectorTerms':[{"
              "'matchExpressions':[{'key':'z','operator':'Exists'}]}]}}}}");
    assert_why(s, "n", pod, "!node(s) were unschedulable");
    scene_put(s, &kind_node, node, "", "false", taint, "1");
    assert_why(s, "n", pod, "!node(s) had untolerated taint(s)");
    scene_put(s, &kind_node, node, "", "false", "", "1");
    assert_why(s, "n", pod, "!node(s) didn't match Pod's node affinity/selector");
    scene_put(s, &kind_node, node, label, "false", "", "1");
    assert_why(s, "n", pod, "node(s) didn't have free ports for the requested pod ports");
    scene_pods(s, 1, "n", "'app':'x'");
    fit_remove_pod(s->fit, "d", "p");
    assert_why(s, "n", pod, "!Insufficient cpu");
    scene_put(s, &kind_node, node, label, "false", "", "2");
    assert_why(s, "n", pod, "!node(s) didn't match PersistentVolume's node affinity");
    scene_put(s, &kind_pv, "{'metadata':{'name':'v'}}");
    assert_why(s, "n", pod,
               "!node(s) didn't match pod topology spread constraints (missing required label)");
    scene_put(s, &kind_node, node, "'a':'b','z':'1'", "false", "", "2");
    assert_why(s, "n", pod, "!node(s) didn't match pod affinity rules");
    scene_pods(s, 1, "n", "'app':'y'");
    assert_fits(s, "n", pod);
}

static void nodes_that_are_not_there(void **state) {
    struct scene *s = *state;
    assert_why(s, "n", POD("", ""), "!no such node");
    scene_pods(s, 1, "n", ""); /* a pod that names it makes no node of it */
    assert_why(s, "n", POD("", ""), "!no such node");
    scene_node(s, "n", "");
    assert_fits(s, "n", POD("", ""));
    fit_remove_node(s->fit, "n");
    assert_why(s, "n", POD("", ""), "!no such node");
}

static void gates_keep_a_pod_waiting(void **state) {
    struct scene *s = *state;
    scene_node(s, "n", "");
    const char *gated = POD("", "'schedulingGates':[{'name':'g'}]");
    struct fit_verdict v;
    assert_false(fit_check(s->fit, scene_pod(s, gated), "n", &v));
    assert_int_equal(v.reasons[0].code, FIT_GATED);
    assert_string_equal(v.reasons[0].text,
                        "Scheduling is blocked due to non-empty scheduling gates");
}

static void codes_say_which_rule(void **state) {
    struct scene *s = *state;
    struct fit_verdict v;
    scene_put(s, &kind_node,
              "{'metadata':{'name':'n'},'status':{'allocatable':{'pods':'0','cpu':'1'}}}");
    fit_check(s->fit, scene_pod(s, POD("", CPU("2"))), "n", &v);
    assert_int_equal(v.n, 2);
    assert_int_equal(v.reasons[0].code, FIT_PODS);
    assert_int_equal(v.reasons[1].code, FIT_RESOURCE);
    assert_true(v.final);
    fit_check(s->fit, scene_pod(s, POD("", "")), "n", &v);
    assert_int_equal(v.n, 1);
    assert_false(v.final); /* nothing of the last question is left over */
}

/* What no sane pod has is refused; a pod that has it already and is there does no harm. */
static void lists_beyond_measure(void **state) {
    struct scene *s = *state;
    static const char refused[] =
        "!pod has more than 256 affinity terms or topology spread constraints";
    static const char term[] = "{'topologyKey':'k','labelSelector':{'matchLabels':{'a':'%d'}}}";
    scene_node(s, "n", "'k':'v'");
    for (int n = 256; n <= 257; n++) {
        struct str terms = STR_INIT, constraints = STR_INIT;
        for (int i = 0; i < n; i++) {
            str_add(&terms, i ? "," : "");
            str_addf(&terms, term, i);
            str_addf(&constraints,
                     "%s{'maxSkew':1,'topologyKey':'k','whenUnsatisfiable':'DoNotSchedule'}",
                     i ? "," : "");
        }
        _cleanup_free_ char *apart =
            xasprintf("'affinity':{'podAntiAffinity':{'"
                      "requiredDuringSchedulingIgnoredDuringExecution':[%s]}}",
                      str_get(&terms));
        _cleanup_free_ char *one = xasprintf(POD("", "%s"), apart);
        _cleanup_free_ char *two =
            xasprintf(POD("", "'topologySpreadConstraints':[%s]"), str_get(&constraints));
        assert_string_equal(scene_why(s, "n", one), n > 256 ? refused : "");
        assert_string_equal(scene_why(s, "n", two), n > 256 ? refused : "");
        scene_put(s, &kind_pod,
                  "{'metadata':{'namespace':'d','name':'p'},'spec':{'nodeName':'n',%s}}", apart);
        assert_why(s, "n", POD("'a':'255'", ""),
                   "node(s) didn't satisfy existing pods anti-affinity rules");
        assert_fits(s, "n", POD("'a':'256'", ""));
        fit_remove_pod(s->fit, "d", "p");
        str_done(&terms);
        str_done(&constraints);
    }
}

/* --- room that was made for another --- */

#define NOMINATED(name, node, priority, spec)                                                      \
    "{'metadata':{'namespace':'d','name':'" name "','uid':'" name                                  \
    "'},'spec':{'priority':" priority "," spec "},'status':{'nominatedNodeName':'" node "'}}"

static void room_is_kept_for_the_more_important(void **state) {
    struct scene *s = *state;
    scene_put(s, &kind_node,
              "{'metadata':{'name':'n'},'status':{'allocatable':{'pods':'9','cpu':'2'}}}");
    scene_put(s, &kind_pod, NOMINATED("first", "n", "10", CPU("1500m")));
    assert_why(s, "n", POD("", "'priority':10," CPU("1")), "Insufficient cpu");
    assert_why(s, "n", POD("", CPU("1")), "Insufficient cpu");
    assert_fits(s, "n", POD("", "'priority':11," CPU("1")));
    assert_fits(s, "n", POD("", CPU("500m")));
    /* it does not stand in its own way */
    assert_fits(s, "n", NOMINATED("first", "n", "10", CPU("1500m")));
    /* the room is kept, not taken */
    assert_null(fit_pod_node(s->fit, "d", "first"));
    /* it goes elsewhere, it is bound, it is gone */
    scene_put(s, &kind_pod, NOMINATED("first", "m", "10", CPU("1500m")));
    assert_fits(s, "n", POD("", CPU("1")));
    scene_put(s, &kind_pod,
              "{'metadata':{'namespace':'d','name':'first','uid':'first'},'spec':{'nodeName':'n',"
              "'priority':10," CPU("1500m") "},'status':{'nominatedNodeName':'m'}}");
    assert_why(s, "n", POD("", "'priority':11," CPU("1")), "Insufficient cpu");
    fit_remove_pod(s->fit, "d", "first");
    assert_fits(s, "n", POD("", CPU("2")));
}

/* With them and without them: what only their coming would allow is not allowed. */
static void who_is_awaited_does_not_help(void **state) {
    struct scene *s = *state;
    scene_node(s, "n", "'host':'n'");
    scene_put(s, &kind_pod,
              "{'metadata':{'namespace':'d','name':'db','uid':'db','labels':{'app':'db'}},'spec':{"
              "},'status':{'nominatedNodeName':'n'}}");
    const char *near = POD("", "'affinity':{'podAffinity':{"
                               "'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':"
                               "'host','labelSelector':{'matchLabels':{'app':'db'}}}]}}");
    const char *far = POD("", "'affinity':{'podAntiAffinity':{"
                              "'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':"
                              "'host','labelSelector':{'matchLabels':{'app':'db'}}}]}}");
    assert_why(s, "n", near, "!node(s) didn't match pod affinity rules");
    assert_why(s, "n", far, "node(s) didn't match pod anti-affinity rules");
    /* and everything is as it was */
    const char *spread =
        POD("'app':'db'", "'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'host',"
                          "'whenUnsatisfiable':'DoNotSchedule','minDomains':2,'labelSelector':{"
                          "'matchLabels':{'app':'db'}}}]");
    assert_why(s, "n", spread, "node(s) didn't match pod topology spread constraints");
    fit_remove_pod(s->fit, "d", "db");
    assert_fits(s, "n", spread);
    assert_fits(s, "n", far);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(the_first_rule_that_says_no),  SCENE_TEST(nodes_that_are_not_there),
        SCENE_TEST(gates_keep_a_pod_waiting),     SCENE_TEST(codes_say_which_rule),
        SCENE_TEST(lists_beyond_measure),         SCENE_TEST(room_is_kept_for_the_more_important),
        SCENE_TEST(who_is_awaited_does_not_help),
    };
    return cmocka_run_group_tests_name("engine/fit_check", tests, NULL, NULL);
}
