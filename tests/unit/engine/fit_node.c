/* Tests of src/engine/fit_node.c. Expected values are those of Kubernetes' own tests of the
 * plugins NodeUnschedulable, NodeName, TaintToleration, NodeAffinity and NodePorts. */
#include "fit_scene.h"

#include "engine/fit_internal.h"

#define TAINTED  "!node(s) had untolerated taint(s)"
#define AFFINITY "!node(s) didn't match Pod's node affinity/selector"
#define PORTS    "node(s) didn't have free ports for the requested pod ports"

static void tainted_node(struct scene *s, const char *taints) {
    scene_put(s, &kind_node,
              "{'metadata':{'name':'n'},'spec':{'taints':[%s]},'status':{'allocatable':{'pods':'9'"
              "}}}",
              taints);
}

static void taints_must_be_tolerated(void **state) {
    struct scene *s = *state;
    static const struct {
        const char *taints, *tolerations, *why;
    } rows[] = {
        {"", "", ""},
        {"{'key':'k','value':'v','effect':'NoSchedule'}", "", TAINTED},
        {"{'key':'k','value':'v','effect':'NoExecute'}", "", TAINTED},
        {"{'key':'k','value':'v','effect':'PreferNoSchedule'}", "", ""},
        /* without an operator it is Equal */
        {"{'key':'k','value':'v','effect':'NoSchedule'}", "{'key':'k','value':'v'}", ""},
        {"{'key':'k','value':'v','effect':'NoSchedule'}", "{'key':'k','value':'w'}", TAINTED},
        {"{'key':'k','value':'v','effect':'NoSchedule'}",
         "{'key':'k','operator':'Equal','value':'v','effect':'NoExecute'}", TAINTED},
        {"{'key':'k','effect':'NoSchedule'}", "{'key':'k','operator':'Equal'}", ""},
        {"{'key':'k','value':'v','effect':'NoSchedule'}", "{'key':'k','operator':'Exists'}", ""},
        {"{'key':'k','value':'v','effect':'NoExecute'}", "{'operator':'Exists'}", ""},
        {"{'key':'k','value':'v','effect':'NoExecute'}",
         "{'operator':'Exists','effect':'NoSchedule'}", TAINTED},
        /* all of them */
        {"{'key':'k','effect':'NoSchedule'},{'key':'l','effect':'NoSchedule'}",
         "{'key':'k','operator':'Exists'}", TAINTED},
        {"{'key':'k','effect':'NoSchedule'},{'key':'l','effect':'NoSchedule'}",
         "{'key':'l','operator':'Exists'},{'key':'k','operator':'Exists'}", ""},
        /* comparisons are behind a feature gate that is off, and what is no operator is none */
        {"{'key':'k','value':'5','effect':'NoSchedule'}", "{'key':'k','operator':'Lt','value':'9'}",
         TAINTED},
        {"{'key':'k','value':'v','effect':'NoSchedule'}",
         "{'key':'k','operator':'Nonsense','value':'v'}", TAINTED},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *pod = xasprintf(POD("", "'tolerations':[%s]"), rows[i].tolerations);
        tainted_node(s, rows[i].taints);
        if (!streq(scene_why(s, "n", pod), rows[i].why))
            fail_msg("row %zu: %s", i, str_get(&s->text));
    }
}

static void a_cordon_can_be_tolerated(void **state) {
    struct scene *s = *state;
    scene_put(s, &kind_node,
              "{'metadata':{'name':'n'},'spec':{'unschedulable':true},'status':{'allocatable':{"
              "'pods':'9'}}}");
    assert_why(s, "n", POD("", ""), "!node(s) were unschedulable");
    assert_fits(s, "n",
                POD("", "'tolerations':[{'key':'node.kubernetes.io/unschedulable','operator':"
                        "'Exists','effect':'NoSchedule'}]"));
    assert_fits(s, "n", POD("", "'tolerations':[{'operator':'Exists'}]"));
    assert_why(s, "n",
               POD("", "'tolerations':[{'key':'node.kubernetes.io/unschedulable','operator':"
                       "'Exists','effect':'NoExecute'}]"),
               "!node(s) were unschedulable");
}

static void a_pod_may_name_its_node(void **state) {
    struct scene *s = *state;
    scene_node(s, "n", "");
    scene_node(s, "m", "");
    assert_fits(s, "n", POD("", "'nodeName':'n'"));
    assert_why(s, "m", POD("", "'nodeName':'n'"), "!node(s) didn't match the requested node name");
}

#define REQUIRED(terms)                                                                            \
    "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"               \
    "'nodeSelectorTerms':[" terms "]}}}"

static void labels_must_be_wanted(void **state) {
    struct scene *s = *state;
    static const struct {
        const char *spec, *why;
    } rows[] = {
        {"'nodeSelector':{'foo':'bar'}", ""},
        {"'nodeSelector':{'foo':'baz'}", AFFINITY},
        {"'nodeSelector':{'foo':'bar','baz':'blah'}", AFFINITY},
        {REQUIRED("{'matchExpressions':[{'key':'foo','operator':'In','values':['bar','v']}]}"), ""},
        {REQUIRED("{'matchExpressions':[{'key':'n','operator':'Gt','values':['0203']}]}"), ""},
        {REQUIRED("{'matchExpressions':[{'key':'n','operator':'Lt','values':['205']}]}"), AFFINITY},
        {REQUIRED("{'matchExpressions':[{'key':'foo','operator':'Gt','values':['1']}]}"), AFFINITY},
        {REQUIRED("{'matchExpressions':[{'key':'foo','operator':'NotIn','values':['af']}]}"), ""},
        {REQUIRED("{'matchExpressions':[{'key':'foo','operator':'Exists'}]}"), ""},
        {REQUIRED("{'matchExpressions':[{'key':'foo','operator':'DoesNotExist'}]}"), AFFINITY},
        /* no terms, and terms without anything in them, match nothing */
        {REQUIRED(""), AFFINITY},
        {REQUIRED("{}"), AFFINITY},
        {REQUIRED("{},{'matchExpressions':[{'key':'foo','operator':'Exists'}]}"), ""},
        /* any term, all of its expressions; and the node selector too */
        {REQUIRED("{'matchExpressions':[{'key':'foo','operator':'In','values':['x']}]},"
                  "{'matchExpressions':[{'key':'foo','operator':'In','values':['bar']}]}"),
         ""},
        {REQUIRED("{'matchExpressions':[{'key':'foo','operator':'Exists'},{'key':'foo','operator':"
                  "'NotIn','values':['bar']}]}"),
         AFFINITY},
        {"'nodeSelector':{'foo':'baz'}," REQUIRED(
             "{'matchExpressions':[{'key':'foo','operator':'Exists'}]}"),
         AFFINITY},
        /* an invalid term does not spoil the others */
        {REQUIRED("{'matchExpressions':[{'key':'foo','operator':'Odd','values':['x']}]},"
                  "{'matchExpressions':[{'key':'foo','operator':'Exists'}]}"),
         ""},
        {REQUIRED("{'matchFields':[{'key':'metadata.name','operator':'NotIn','values':['m']}]}"),
         ""},
        {REQUIRED("{'matchFields':[{'key':'metadata.name','operator':'NotIn','values':['n']}]}"),
         AFFINITY},
        {"'affinity':{'nodeAffinity':{}}", ""},
    };
    scene_node(s, "n", "'foo':'bar','n':'206'");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *pod = xasprintf(POD("", "%s"), rows[i].spec);
        if (!streq(scene_why(s, "n", pod), rows[i].why))
            fail_msg("row %zu: %s", i, str_get(&s->text));
    }
}

#define NAME(op, values) "{'key':'metadata.name','operator':'" op "','values':[" values "]}"

/* Terms that name nodes leave the others out before anything else is looked at. */
static void names_in_terms_are_read_first(void **state) {
    struct scene *s = *state;
    static const char others[] = "!node(s) didn't satisfy plugin(s) [NodeAffinity]";
    scene_node(s, "n", "'a':'b'");
    scene_node(s, "m", "");
    const char *one = POD("", REQUIRED("{'matchFields':[" NAME("In", "'n'") "]}"));
    assert_fits(s, "n", one);
    assert_why(s, "m", one, others);
    /* a second field only narrows it down */
    const char *narrow =
        POD("", REQUIRED("{'matchFields':[" NAME(
                    "In", "'n'") "],"
                                 "'matchExpressions':[{'key':'x','operator':'Exists'}]}"));
    assert_why(s, "n", narrow, AFFINITY);
    assert_why(s, "m", narrow, others);
    const char *either = POD("", REQUIRED("{'matchFields':[" NAME(
                                     "In", "'n'") "]},"
                                                  "{'matchFields':[" NAME("In", "'m'") "]}"));
    assert_fits(s, "n", either);
    assert_fits(s, "m", either);
    /* a term without a name may match any node: nothing is left out */
    const char *any =
        POD("", REQUIRED("{'matchFields':[" NAME(
                    "In", "'n'") "]},"
                                 "{'matchExpressions':[{'key':'a','operator':'Exists'}]}"));
    assert_fits(s, "n", any);
    assert_why(s, "m", any, AFFINITY);
    const char *conflict =
        POD("", REQUIRED("{'matchFields':[" NAME("In", "'n'") "," NAME("In", "'m'") "]}"));
    assert_why(s, "n", conflict, "!pod affinity terms conflict");
    assert_string_equal(scene_explain(s, conflict),
                        "0/2 nodes are available: pod affinity terms conflict. not found");
}

#define ONE_PORT(port)                                                                             \
    "{'metadata':{'namespace':'d','name':'p','uid':'p'},'spec':{'nodeName':'n','containers':[{"    \
    "'name':'c','ports':[" port "]}]}}"

static void host_ports_are_taken_once(void **state) {
    struct scene *s = *state;
    static const struct {
        const char *taken, *wanted, *why;
    } rows[] = {
        {"", "{'hostPort':80}", ""},
        {"{'hostPort':80}", "", ""},
        {"{'hostPort':80}", "{'hostPort':80}", PORTS},
        {"{'hostPort':80}", "{'hostPort':81}", ""},
        {"{'hostPort':80}", "{'hostPort':80,'protocol':'UDP'}", ""},
        {"{'hostPort':80,'protocol':'UDP'}", "{'hostPort':80,'protocol':'UDP'}", PORTS},
        /* TCP and all addresses are what is meant when nothing is said */
        {"{'hostPort':80,'protocol':'TCP'}", "{'hostPort':80}", PORTS},
        {"{'hostPort':80,'hostIP':'0.0.0.0'}", "{'hostPort':80}", PORTS},
        {"{'hostPort':80,'hostIP':'127.0.0.1'}", "{'hostPort':80,'hostIP':'127.0.0.2'}", ""},
        {"{'hostPort':80,'hostIP':'127.0.0.1'}", "{'hostPort':80,'hostIP':'127.0.0.1'}", PORTS},
        {"{'hostPort':80,'hostIP':'127.0.0.1'}", "{'hostPort':80}", PORTS},
        {"{'hostPort':80}", "{'hostPort':80,'hostIP':'127.0.0.1'}", PORTS},
        {"{'hostPort':8001},{'hostPort':8080}", "{'hostPort':8080},{'hostPort':9}", PORTS},
        {"{'containerPort':80}", "{'containerPort':80}", ""},
        {"{'hostPort':-1}", "{'hostPort':-1}", ""},
    };
    scene_node(s, "n", "");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *pod =
            xasprintf(POD("", "'containers':[{'name':'c','ports':[%s]}]"), rows[i].wanted);
        scene_put(s, &kind_pod, ONE_PORT("%s"), rows[i].taken);
        if (!streq(scene_why(s, "n", pod), rows[i].why))
            fail_msg("row %zu: %s", i, str_get(&s->text));
    }
    fit_remove_pod(s->fit, "d", "p");
    assert_int_equal(fit_node_find(s->fit, "n")->ports.len, 0);
}

static void init_containers_ports_count_for_sidecars_only(void **state) {
    struct scene *s = *state;
    const char *wants = POD("", "'containers':[{'name':'c','ports':[{'hostPort':80}]}]");
    scene_node(s, "n", "");
    scene_put(s, &kind_pod,
              "{'metadata':{'namespace':'d','name':'p'},'spec':{'nodeName':'n','initContainers':[{"
              "'name':'i','ports':[{'hostPort':80}]}]}}");
    assert_fits(s, "n", wants);
    scene_put(s, &kind_pod,
              "{'metadata':{'namespace':'d','name':'q'},'spec':{'nodeName':'n','initContainers':[{"
              "'name':'i','restartPolicy':'Always','ports':[{'hostPort':80}]}]}}");
    assert_why(s, "n", wants, PORTS);
}

/* Two that were forced onto one node: the port is free when both are gone. */
static void a_port_is_free_when_its_last_user_is_gone(void **state) {
    struct scene *s = *state;
    const char *wants = POD("", "'containers':[{'name':'c','ports':[{'hostPort':80}]}]");
    scene_node(s, "n", "");
    for (const char *name = "pq"; *name; name++)
        scene_put(s, &kind_pod,
                  "{'metadata':{'namespace':'d','name':'%c'},'spec':{'nodeName':'n','containers':[{"
                  "'name':'c','ports':[{'hostPort':80}]}]}}",
                  *name);
    fit_remove_pod(s->fit, "d", "p");
    assert_why(s, "n", wants, PORTS);
    fit_remove_pod(s->fit, "d", "q");
    assert_fits(s, "n", wants);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(taints_must_be_tolerated),
        SCENE_TEST(a_cordon_can_be_tolerated),
        SCENE_TEST(a_pod_may_name_its_node),
        SCENE_TEST(labels_must_be_wanted),
        SCENE_TEST(names_in_terms_are_read_first),
        SCENE_TEST(host_ports_are_taken_once),
        SCENE_TEST(init_containers_ports_count_for_sidecars_only),
        SCENE_TEST(a_port_is_free_when_its_last_user_is_gone),
    };
    return cmocka_run_group_tests_name("engine/fit_node", tests, NULL, NULL);
}
