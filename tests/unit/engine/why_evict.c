/* Tests of src/engine/why_evict.c. */
#include "engine/why.h"

#include "engine/rules.h"
#include "why_scene.h"

static void bare_pods_and_emptydir_need_flags(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'a'},'spec':{'nodeName':'n1','volumes':[{'name':"
              "'t','emptyDir':{}}]}," RUNNING "}");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'b'},'spec':{'nodeName':'n1'}," RUNNING "}");
    const struct why *why = scene_why(s, "n1");
    const struct why_link *bare = link_of(why, BLOCKER_BARE_POD);
    const struct why_link *dir = link_of(why, BLOCKER_LOCAL_STORAGE);
    assert_string_equal(why->summary, "a drain would be refused: all of its 2 pods need a flag");
    assert_int_equal(bare->pods, 2);
    assert_int_equal(dir->pods, 1);
    /* one command that does it, whichever is looked at */
    assert_string_equal(remedy_of(bare, "slipway drain")->command,
                        "slipway drain n1 --force --delete-emptydir-data");
    assert_string_equal(dir->remedies[0].command,
                        "slipway drain n1 --force --delete-emptydir-data");
    assert_int_equal(dir->remedies[0].risk, WHY_RISK_DATA);
    assert_string_equal(bare->remedies[0].command, "kubectl -n x get pod a -o yaml > a.yaml");
    assert_int_equal(bare->remedies[0].risk, WHY_RISK_NONE);
}

static void daemon_pods_stay_and_orphans_do_not(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_add(s, &kind_daemon_set, "{'metadata':{'namespace':'x','name':'cni','uid':'u-cni'}}");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'cni-1'," OWNED(
                  "DaemonSet", "cni") "},'spec':{'nodeName':'n1'}," RUNNING "}");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'old-1'," OWNED(
                  "DaemonSet", "old") "},'spec':{'nodeName':'n1'}," RUNNING "}");
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->stays, 1);
    assert_int_equal(why->pods, 1);
    const struct why_link *l = link_of(why, BLOCKER_BARE_POD);
    assert_string_equal(l->example, "x/old-1");
    assert_contains(l->text, "DaemonSet old is gone");
    assert_contains(remedy_of(l, "slipway drain")->command, "--force");
}

/* A DaemonSet that cannot be read is taken to be there: nobody is told to use force on a guess. */
static void an_unreadable_daemon_set_is_there(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'old-1'," OWNED(
                  "DaemonSet", "old") "},'spec':{'nodeName':'n1'}," RUNNING "}");
    s->forbidden = "daemonsets";
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->stays, 1);
    assert_int_equal(why->n_links, 0);
    assert_string_equal(why->unread[0], "daemonsets");
}

static void pinned_pods_come_back(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_add(s, &kind_stateful_set,
              "{'metadata':{'namespace':'x','name':'lic','uid':'u-lic'},'spec':{'replicas':1,"
              "'template':{'spec':{'nodeName':'n1'}}}}");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'lic-0'," OWNED(
                  "StatefulSet", "lic") "},'spec':{'nodeName':'n1'}," RUNNING "}");
    const struct why *why = scene_why(s, "n1");
    const struct why_link *l = link_of(why, BLOCKER_PINNED);
    assert_string_equal(why->summary, "a drain would never end: its one pod can never go");
    assert_string_equal(l->example, "x/lic-0");
    assert_contains(l->text, "statefulset lic");
    assert_non_null(remedy_of(l, "patch statefulset lic --type=json -p "
                                 "'[{\"op\":\"remove\",\"path\":"
                                 "\"/spec/template/spec/nodeName\"}]'"));
    assert_int_equal(remedy_of(l, "kubectl -n x delete statefulset lic")->risk, WHY_RISK_SERVICE);
}

/* A template that names another node says nothing about this one. */
static void pinned_elsewhere_is_not_pinned_here(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_add(s, &kind_stateful_set,
              "{'metadata':{'namespace':'x','name':'lic','uid':'u-lic'},'spec':{'template':{"
              "'spec':{'nodeName':'n2'}}}}");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'lic-0'," OWNED(
                  "StatefulSet", "lic") "},'spec':{'nodeName':'n1'}," RUNNING "}");
    assert_int_equal(scene_why(s, "n1")->n_links, 0);
}

static void marks_of_others_are_honoured(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'a','annotations':{'karpenter.sh/"
              "do-not-disrupt':'true'}," OWNED("Job", "j") "},'spec':{'nodeName':'n1'}," RUNNING
                                                           "}");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'b','annotations':{'cluster-autoscaler."
              "kubernetes.io/safe-to-evict':'false'}," OWNED(
                  "Job", "j") "},'spec':{'nodeName':'n1'}," RUNNING "}");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'c','labels':{'cluster.x-k8s.io/drain':"
              "'wait-completed'}," OWNED("Job", "j") "},'spec':{'nodeName':'n1'}," RUNNING "}");
    scene_add(
        s, &kind_pod,
        "{'metadata':{'namespace':'x','name':'d','labels':{'cluster.x-k8s.io/drain':'skip'}," OWNED(
            "Job", "j") "},'spec':{'nodeName':'n1'}," RUNNING "}");
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->n_links, 3);
    assert_int_equal(why->stays, 1);
    const char *commands[2] = {"", ""};
    for (size_t i = 0, k = 0; i < why->n_links; i++)
        if (why->links[i]->code == BLOCKER_DO_NOT_DISRUPT)
            commands[k++] = why->links[i]->remedies[1].command;
    assert_string_equal(commands[0], "kubectl -n x annotate pod a karpenter.sh/do-not-disrupt-");
    assert_string_equal(
        commands[1], "kubectl -n x annotate pod b cluster-autoscaler.kubernetes.io/safe-to-evict-");
    const struct why_link *job = link_of(why, BLOCKER_JOB_RUNNING);
    assert_string_equal(job->remedies[1].command,
                        "kubectl -n x label pod c cluster.x-k8s.io/drain-");
}

/* What is piped into the drain is a file of rules that does what is said of it. */
static void the_rules_that_are_advised_ignore_marks(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    const char *const names[] = {"a", "b"};
    const struct pod *pod = NULL;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        _cleanup_free_ char *json = xasprintf(
            "{'metadata':{'namespace':'x','name':'%s','annotations':{'karpenter.sh/"
            "do-not-disrupt':'true'}," OWNED("Job", "j") "},'spec':{'nodeName':'n1'}," RUNNING "}",
            names[i]);
        pod = scene_add(s, &kind_pod, json);
    }
    const struct why_link *l = link_of(scene_why(s, "n1"), BLOCKER_DO_NOT_DISRUPT);
    const struct why_remedy *r = remedy_of(l, "slipway drain n1 --rules -");
    assert_non_null(r);
    const char *begin = strchr(r->command, '\'') + 1, *end = strrchr(r->command, '\'');
    struct rules *rules;
    struct rule_verdict verdict;
    _cleanup_err_ struct err err = ERR_INIT;
    if (rules_parse(begin, (size_t)(end - begin), "advice", &rules, &err))
        fail_msg("%s", err_msg(&err));
    rules_apply(rules, pod, &verdict);
    assert_int_equal(verdict.action, RULE_EVICT);
    rules_free(rules);
}

static void finalizers_and_pods_that_do_not_end(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    /* stopped, but kept */
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'fin','finalizers':['example.com/up'],"
              "'deletionTimestamp':'2026-11-15T07:59:50Z'," OWNED(
                  "ReplicaSet", "r") "},'spec':{'nodeName':'n1'},'status':{'phase':'Succeeded'}}");
    /* a minute past its time, and nobody guards it */
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'late','deletionTimestamp':"
              "'2026-11-15T07:58:00Z'," OWNED("ReplicaSet",
                                              "r") "},'spec':{'nodeName':'n1'}," RUNNING "}");
    /* on its way, in time */
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'soon','deletionTimestamp':"
              "'2026-11-15T07:59:30Z'," OWNED("ReplicaSet",
                                              "r") "},'spec':{'nodeName':'n1'}," RUNNING "}");
    /* the Job controller's own finalizer is no news, somebody else's is */
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'job','finalizers':['batch.kubernetes.io/"
              "job-tracking']," OWNED("Job", "j") "},'spec':{'nodeName':'n1'}," RUNNING "}");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'well','finalizers':['example.com/down']," OWNED(
                  "ReplicaSet", "r") "},'spec':{'nodeName':'n1'}," RUNNING "}");
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->n_links, 3);
    assert_contains(why->summary, "3 of its 5 pods cannot go now");
    const struct why_link *fin = link_of(why, BLOCKER_FINALIZER_STUCK), *note = NULL;
    for (size_t i = 0; i < why->n_links; i++)
        if (strstr(why->links[i]->text, "example.com/down"))
            note = why->links[i];
    assert_int_equal(fin->pods, 1);
    assert_contains(fin->text, "it has stopped, but the finalizer example.com/up keeps");
    assert_int_equal(remedy_of(fin, "finalizers\":null")->risk, WHY_RISK_DATA);
    const struct why_link *late = link_of(why, BLOCKER_TERMINATING_STUCK);
    assert_string_equal(late->example, "x/late");
    assert_int_equal(late->since, NOW - SEC(120));
    assert_non_null(note);
    assert_true(note->blocks && note->code == BLOCKER_FINALIZER_STUCK);
    assert_contains(note->text, "a drain waits until that is taken off");
}

static void a_node_that_does_not_answer(void **state) {
    struct scene *s = *state;
    scene_add(
        s, &kind_node,
        "{'metadata':{'name':'n1'},'status':{'conditions':[{'type':'Ready','status':'Unknown',"
        "'reason':'NodeStatusUnknown','lastTransitionTime':'2026-11-15T07:00:00Z'}]}}");
    scene_pod(s, "a", "a", "n1", "'phase':'Running'," UNREADY);
    scene_pod(s, "b", "b", "n1", "'phase':'Running'," UNREADY);
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->n_links, 1);
    const struct why_link *l = link_of(why, BLOCKER_NODE_UNREACHABLE);
    assert_int_equal(l->pods, 2);
    assert_int_equal(l->since, NOW - SEC(3600));
    assert_int_equal(l->remedies[0].risk, WHY_RISK_NONE);
    assert_int_equal(l->remedies[1].risk, WHY_RISK_DATA);
    assert_string_equal(l->remedies[1].command,
                        "kubectl taint node n1 "
                        "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute");
}

static void a_namespace_that_is_being_deleted(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_pod(s, "a", "a", "n1", POD_WELL);
    scene_add(s, &kind_namespace,
              "{'metadata':{'name':'x','deletionTimestamp':'2026-11-15T07:30:00Z'},'status':{"
              "'phase':'Terminating','conditions':[{'type':'NamespaceFinalizersRemaining','status':"
              "'True','message':'example.com/up in 1 resource instances'},{'type':"
              "'NamespaceContentRemaining','status':'False','message':'nothing'}]}}");
    const struct why_link *l = link_of(scene_why(s, "n1"), BLOCKER_NAMESPACE_TERMINATING);
    assert_string_equal(l->object, "x");
    assert_int_equal(l->since, NOW - SEC(1800));
    assert_int_equal(l->n_causes, 1);
    assert_string_equal(l->causes[0]->text, "example.com/up in 1 resource instances");
}

static void data_on_a_disk_of_the_node(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'db-0'," OWNED(
                  "StatefulSet", "db") "},'spec':{'nodeName':'n1','volumes':[{'name':'d',"
                                       "'persistentVolumeClaim':{'claimName':'data'}}]}," RUNNING
                                       "}");
    scene_add(s, &kind_pvc,
              "{'metadata':{'namespace':'x','name':'data'},'spec':{'volumeName':'pv1'}}");
    scene_add(s, &kind_pv,
              "{'metadata':{'name':'pv1'},'spec':{'local':{'path':'/d'},'nodeAffinity':{"
              "'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':"
              "'kubernetes.io/hostname','operator':'In','values':['n1']}]}]}}}}");
    const struct why *why = scene_why(s, "n1");
    const struct why_link *l = link_of(why, BLOCKER_LOCAL_PV);
    /* The drain itself goes through, and leaves the pod without a place: as a plan says it. */
    assert_int_equal(why->state, WHY_BLOCKED);
    assert_string_equal(why->summary, "a drain would leave its one pod without a node");
    assert_contains(l->text, "volume pv1");
    assert_contains(l->text, "Pending until the node is back");
    assert_int_equal(l->remedies[0].risk, WHY_RISK_SERVICE);
}

/* Once a drain is at it the question is whether that ends. */
static void data_on_a_disk_is_in_no_drains_way(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_node,
              "{'metadata':{'name':'n1'},'spec':{'unschedulable':true},'status':{'conditions':["
              "{'type':'Ready','status':'True'},{'type':'DrainInProgress','status':'True'}]}}");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'db-0'," OWNED(
                  "StatefulSet", "db") "},'spec':{'nodeName':'n1','volumes':[{'name':'d',"
                                       "'persistentVolumeClaim':{'claimName':'data'}}]}," RUNNING
                                       "}");
    scene_add(s, &kind_pvc,
              "{'metadata':{'namespace':'x','name':'data'},'spec':{'volumeName':'pv1'}}");
    scene_add(s, &kind_pv, "{'metadata':{'name':'pv1'},'spec':{'local':{'path':'/d'}}}");
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->state, WHY_FREE);
    assert_false(link_of(why, BLOCKER_LOCAL_PV)->blocks);
}

/* What nobody makes again does not wait for the node. */
static void data_of_a_bare_pod_waits_for_nobody(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'db'},'spec':{'nodeName':'n1','volumes':[{"
              "'name':'d','persistentVolumeClaim':{'claimName':'data'}}]}," RUNNING "}");
    scene_add(s, &kind_pvc,
              "{'metadata':{'namespace':'x','name':'data'},'spec':{'volumeName':'pv1'}}");
    scene_add(s, &kind_pv, "{'metadata':{'name':'pv1'},'spec':{'local':{'path':'/d'}}}");
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->n_links, 1);
    assert_int_equal(why->links[0]->code, BLOCKER_BARE_POD);
}

/* A volume of a zone moves within it. */
static void data_of_a_zone_moves(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'db-0'," OWNED(
                  "StatefulSet", "db") "},'spec':{'nodeName':'n1','volumes':[{'name':'d',"
                                       "'persistentVolumeClaim':{'claimName':'data'}}]}," RUNNING
                                       "}");
    scene_add(s, &kind_pvc,
              "{'metadata':{'namespace':'x','name':'data'},'spec':{'volumeName':'pv1'}}");
    scene_add(s, &kind_pv,
              "{'metadata':{'name':'pv1'},'spec':{'csi':{'driver':'d','volumeHandle':'h'},"
              "'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':"
              "'topology.kubernetes.io/zone','operator':'In','values':['a']}]}]}}}}");
    assert_int_equal(scene_why(s, "n1")->n_links, 0);
}

static void who_wants_one_node_or_tolerates_the_cordon(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'a'," OWNED(
                  "ReplicaSet", "r") "},'spec':{'nodeName':'n1','nodeSelector':{"
                                     "'kubernetes.io/hostname':'n1'}}," RUNNING "}");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'b'," OWNED(
                  "ReplicaSet", "r") "},'spec':{'nodeName':'n1','tolerations':[{'operator':"
                                     "'Exists'}]}," RUNNING "}");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'c'," OWNED(
                  "ReplicaSet",
                  "r") "},'spec':{'nodeName':'n1','tolerations':[{'key':"
                       "'node.kubernetes.io/"
                       "unschedulable','operator':'Exists','effect':'NoExecute'}]}," RUNNING "}");
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->n_links, 2);
    assert_int_equal(why->state, WHY_BLOCKED); /* b: nobody but somebody takes it out */
    assert_contains(link_of(why, BLOCKER_NO_ROOM)->text, "for this node alone");
    const struct why_link *r = link_of(why, BLOCKER_RETURNS);
    assert_int_equal(r->pods, 1);
    assert_string_equal(r->example, "x/b");
    assert_true(r->blocks);
    assert_string_equal(why->summary, "a drain would wait: 1 of its 3 pods cannot go now");
    /* a drain that has begun tells when it comes about */
    scene_add(s, &kind_node,
              "{'metadata':{'name':'n1'},'spec':{'unschedulable':true},'status':{'conditions':[{"
              "'type':'Ready','status':'True'},{'type':'DrainInProgress','status':'True'}]}}");
    assert_false(link_of(scene_why(s, "n1"), BLOCKER_RETURNS)->blocks);
}

/* It does not stay Pending: it comes back. */
static void who_tolerates_the_cordon_of_its_only_node(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'a'," OWNED(
                  "ReplicaSet", "r") "},'spec':{'nodeName':'n1','nodeSelector':{"
                                     "'kubernetes.io/hostname':'n1'},'tolerations':[{'operator':"
                                     "'Exists'}]}," RUNNING "}");
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->n_links, 1);
    assert_true(link_of(why, BLOCKER_RETURNS)->blocks);
}

static void what_has_finished_or_mirrors_a_file_is_in_nobodys_way(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'done'},'spec':{'nodeName':'n1','volumes':[{"
              "'name':'t','emptyDir':{}}]},'status':{'phase':'Failed'}}");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'etcd-n1','annotations':{"
              "'kubernetes.io/config.mirror':'h'}},'spec':{'nodeName':'n1'}," RUNNING "}");
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->n_links, 0);
    assert_int_equal(why->stays, 1);
    assert_string_equal(
        why->summary,
        "nothing forbids a drain: 1 pod to move, if it finds room (--room looks for it)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(bare_pods_and_emptydir_need_flags),
        SCENE_TEST(daemon_pods_stay_and_orphans_do_not),
        SCENE_TEST(an_unreadable_daemon_set_is_there),
        SCENE_TEST(pinned_pods_come_back),
        SCENE_TEST(pinned_elsewhere_is_not_pinned_here),
        SCENE_TEST(marks_of_others_are_honoured),
        SCENE_TEST(the_rules_that_are_advised_ignore_marks),
        SCENE_TEST(finalizers_and_pods_that_do_not_end),
        SCENE_TEST(a_node_that_does_not_answer),
        SCENE_TEST(a_namespace_that_is_being_deleted),
        SCENE_TEST(data_on_a_disk_of_the_node),
        SCENE_TEST(data_on_a_disk_is_in_no_drains_way),
        SCENE_TEST(data_of_a_bare_pod_waits_for_nobody),
        SCENE_TEST(data_of_a_zone_moves),
        SCENE_TEST(who_wants_one_node_or_tolerates_the_cordon),
        SCENE_TEST(who_tolerates_the_cordon_of_its_only_node),
        SCENE_TEST(what_has_finished_or_mirrors_a_file_is_in_nobodys_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
