/* Tests of src/engine/plan_room.c: where the successors go, and which of them nowhere. */
#include "plan_site.h"

/* It goes, but there is no node that its successor fits; what waits for it waits for ever. */
static void without_room_budgets_are_not_given_back(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 1);
    dw_pod(&f->w, "full", "w1", "{'metadata':{'labels':{'app':'other'}}}");
    dw_pod(&f->w, "a0", "w0", "{}");
    dw_pod(&f->w, "a1", "w0", "{}");
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    make(f, "w0", NULL);
    assert_verdict(f, "a0", PLAN_HOMELESS);
    assert_code(f, "a0", BLOCKER_NO_ROOM);
    assert_non_null(strstr(pod_of(f, "a0")->blocker.message, "0/2 nodes are available"));
    assert_non_null(strstr(pod_of(f, "a0")->blocker.message, "1 Too many pods"));
    assert_verdict(f, "a1", PLAN_NEVER);
    assert_code(f, "a1", BLOCKER_PDB_NO_BUDGET);
    assert_non_null(strstr(pod_of(f, "a1")->blocker.message, "the replacement of a0 fits nowhere"));
    assert_int_equal(f->plan.makespan, PLAN_NO_TIME);
}

/* Its successor goes to a node that is drained after it, and finds no place from there: that is
 * what becomes of it. */
static void what_has_to_go_twice_and_finds_no_second_place(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.in_order = true;
    make(f, "w0", "w1", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_code(f, "a", BLOCKER_NO_ROOM);
    assert_string_equal(pod_of(f, "a")->blocker.object, "default/a");
    assert_int_equal(f->plan.count[PLAN_HOMELESS], 1);
    assert_int_equal(f->plan.makespan, SEC(20)); /* both nodes are drained all the same */
}

static void the_place_that_there_is(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    dw_edit_node(&f->w, "w2", "{'spec':{'unschedulable':true}}");
    dw_pod(&f->w, "a", "w0", "{}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_string_equal(pod_of(f, "a")->to, "w1");
    assert_int_equal(pod_of(f, "a")->back, SEC(5));
}

/* Its node is cordoned before the first pod goes, so that none comes back to it. */
static void none_on_the_node_that_is_drained(void **state) {
    struct plan_site *f = *state;
    nodes(f, 1);
    dw_pod(&f->w, "a", "w0", "{}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_code(f, "a", BLOCKER_NO_ROOM);
    assert_string_equal(pod_of(f, "a")->blocker.object, "default/a");
    assert_null(pod_of(f, "a")->to);
    assert_int_equal(pod_of(f, "a")->back, PLAN_NO_TIME);
    /* the drain itself gets through */
    assert_int_equal(f->plan.makespan, SEC(10));
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_HOMELESS);
}

/* Both are cordoned before either is drained: neither takes what the other gives away. */
static void nodes_that_go_together_do_not_exchange_pods(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "b", "w1", "{}");
    make(f, "w0", "w1", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_verdict(f, "b", PLAN_HOMELESS);
}

/* The scheduler's own sentence: framework.FitError.Error() of pkg/scheduler/framework/types.go, the
 * reasons sorted, those of the plugins as these word them. */
static void why_there_is_no_place(void **state) {
    struct plan_site *f = *state;
    static const char *const more[] = {
        [0] = "{'spec':{'containers':[{'name':'c','resources':{'requests':{'cpu':'9'}}}]}}",
        [1] = "{'spec':{'nodeSelector':{'disk':'ssd'}}}",
    };
    nodes(f, 4);
    dw_edit_node(&f->w, "w3",
                 "{'spec':{'taints':[{'key':'gpu','value':'yes','effect':'NoSchedule'}]}}");
    dw_pod(&f->w, "large", "w0", "%s", more[0]);
    dw_pod(&f->w, "picky", "w0", "%s", more[1]);
    make(f, "w0", NULL);
    assert_verdict(f, "large", PLAN_HOMELESS);
    assert_verdict(f, "picky", PLAN_HOMELESS);
    assert_says(f, "large", "0/4 nodes are available: ");
    assert_says(f, "large", "1 node(s) were unschedulable");
    assert_says(f, "large", "2 Insufficient cpu");
    assert_says(f, "large", "1 node(s) had untolerated taint(s)");
    assert_says(f, "picky", "0/4 nodes are available: ");
    assert_says(f, "picky", "2 node(s) didn't match Pod's node affinity/selector");
    /* What would make it fit; against a selector nothing of that sort does. */
    assert_string_equal(pod_of(f, "large")->blocker.help, "5 cpu more on w1 would do");
    assert_false(pod_of(f, "large")->blocker.helped);
    assert_string_equal(pod_of(f, "picky")->blocker.help,
                        "give another node the labels that its nodeSelector or node affinity asks "
                        "for, or add one like that; or add a node without these taints, or let the "
                        "pod tolerate them");
    assert_true(pod_of(f, "picky")->blocker.helped);
}

static void taints_are_obeyed(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_edit_node(&f->w, "w1",
                 "{'spec':{'taints':[{'key':'gpu','value':'yes','effect':'NoSchedule'}]}}");
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "b", "w0", "{'spec':{'tolerations':[{'key':'gpu','operator':'Exists'}]}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_verdict(f, "b", PLAN_GOES);
    assert_string_equal(pod_of(f, "b")->to, "w1");
}

/* Kubernetes gives a cordoned node a taint: spreading that honours taints leaves the node out from
 * then on, and the pods that are left on it keep nobody from the others. */
static void a_cordon_is_a_taint_where_pods_are_spread(void **state) {
    struct plan_site *f = *state;
    static const char *const spread =
        "{'metadata':{'labels':{'app':'web'}},'spec':{'topologySpreadConstraints':[{'maxSkew':1,"
        "'topologyKey':'kubernetes.io/hostname','whenUnsatisfiable':'DoNotSchedule',"
        "'nodeTaintsPolicy':'Honor','labelSelector':{'matchLabels':{'app':'web'}}}]}}";
    nodes(f, 3);
    pods(f, "a", 2, "w0", spread);
    pods(f, "b", 2, "w1", spread);
    pods(f, "c", 2, "w2", spread);
    dw_budget(&f->w, "web", 1, 6, 5, 6);
    make(f, "w0", NULL);
    assert_verdict(f, "a0", PLAN_GOES);
    assert_verdict(f, "a1", PLAN_WAITS);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_WAITS);
    /* Whether somebody has cordoned it before makes no difference, with the taint or before it. */
    dw_edit_node(&f->w, "w0", "{'spec':{'unschedulable':true}}");
    make(f, "w0", NULL);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_WAITS);
    dw_edit_node(
        &f->w, "w0",
        "{'spec':{'unschedulable':true,'taints':[{'key':'node.kubernetes.io/unschedulable',"
        "'effect':'NoSchedule'}]}}");
    make(f, "w0", NULL);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_WAITS);
}

static void node_affinity_is_obeyed(void **state) {
    struct plan_site *f = *state;
#define NEEDS(zone)                                                                                \
    "{'spec':{'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"       \
    "{'nodeSelectorTerms':[{'matchExpressions':[{'key':'zone','operator':'In','values':['" zone    \
    "']}]}]}}}}}"
    nodes(f, 3);
    dw_edit_node(&f->w, "w1", "{'metadata':{'labels':{'zone':'a'}}}");
    dw_edit_node(&f->w, "w2", "{'metadata':{'labels':{'zone':'b'}}}");
    dw_pod(&f->w, "there", "w0", NEEDS("b"));
    dw_pod(&f->w, "nowhere", "w0", NEEDS("c"));
    make(f, "w0", NULL);
    assert_string_equal(pod_of(f, "there")->to, "w2");
    assert_verdict(f, "nowhere", PLAN_HOMELESS);
    assert_says(f, "nowhere", "2 node(s) didn't match Pod's node affinity/selector");
}

#define CLAIMS "{'spec':{'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'data'}}]}}"

static void put_claim(struct plan_site *f, const char *node_affinity) {
    _cleanup_free_ char *pv = xasprintf(
        "{'metadata':{'name':'disk','uid':'pv'},'spec':{%s'accessModes':['ReadWriteOnce'],"
        "'capacity':{'storage':'1Gi'},'claimRef':{'namespace':'default','name':'data',"
        "'uid':'claim'}},'status':{'phase':'Bound'}}",
        node_affinity);
    add(f, &kind_pv, pv);
    add(f, &kind_pvc,
        "{'metadata':{'namespace':'default','name':'data','uid':'claim','annotations':"
        "{'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'disk','accessModes':"
        "['ReadWriteOnce']},'status':{'phase':'Bound'}}");
}

/* The disk is in the machine. */
static void a_local_volume_ties_the_pod_to_its_node(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    put_claim(f, "'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':"
                 "'kubernetes.io/hostname','operator':'In','values':['w0']}]}]}},");
    dw_pod(&f->w, "db-0", "w0",
           "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet",
                                    "db") "},"
                                          "'spec':{'volumes':[{'name':'d','persistentVolumeClaim':{"
                                          "'claimName':'data'}}]}}");
    make(f, "w0", NULL);
    assert_verdict(f, "db-0", PLAN_HOMELESS);
    assert_code(f, "db-0", BLOCKER_LOCAL_PV);
    /* ErrReasonNodeConflict of pkg/scheduler/framework/plugins/volumebinding/binder.go; 1.36 says
     * PersistentVolume's */
    assert_says(f, "db-0", "node affinity");
    assert_int_equal(f->plan.makespan, SEC(10));
}

/* It goes to the other node that has the disk, unless that goes as well. */
static void a_local_volume_of_two_nodes(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    put_claim(f, "'local':{'path':'/d'},'nodeAffinity':{'required':{'nodeSelectorTerms':[{"
                 "'matchExpressions':[{'key':'kubernetes.io/hostname','operator':'In','values':["
                 "'w0','w2']}]}]}},");
    dw_pod(&f->w, "a", "w0", CLAIMS);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_string_equal(pod_of(f, "a")->to, "w2");
    make(f, "w0", "w2", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_code(f, "a", BLOCKER_NO_ROOM);
    assert_null(strstr(pod_of(f, "a")->blocker.message, "on this node alone"));
    assert_non_null(strstr(pod_of(f, "a")->blocker.help, "on a disk of certain nodes alone"));
    assert_null(strstr(pod_of(f, "a")->blocker.help, "zone"));
}

static void a_volume_that_can_move_does_not(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    put_claim(f, "");
    dw_pod(&f->w, "a", "w0", CLAIMS);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_string_equal(pod_of(f, "a")->to, "w1");
}

/* ErrReasonMaxVolumeCountExceeded of pkg/scheduler/framework/plugins/nodevolumelimits/csi.go. */
static void a_driver_attaches_no_more_volumes(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    put_claim(f, "'csi':{'driver':'ebs','volumeHandle':'h'},");
    dw_pod(&f->w, "a", "w0", CLAIMS);
    add(f, &kind_csi_node,
        "{'metadata':{'name':'w1'},'spec':{'drivers':[{'name':'ebs','nodeID':'i','allocatable':{"
        "'count':1}}]}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    /* what nobody uses there is still attached */
    add(f, &kind_pv,
        "{'metadata':{'name':'old'},'spec':{'csi':{'driver':'ebs','volumeHandle':'i'}}}");
    dw_put(&f->w, &kind_volume_attachment,
           "{'metadata':{'name':'va'},'spec':{'attacher':'ebs','nodeName':'w1','source':{"
           "'persistentVolumeName':'old'}},'status':{'attached':true}}");
    f->w.c.attachments_known = true;
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_code(f, "a", BLOCKER_NO_ROOM);
    assert_says(f, "a",
                "0/2 nodes are available: 1 node(s) exceed max volume count, 1 node(s) were "
                "unschedulable.");
    assert_non_null(strstr(pod_of(f, "a")->blocker.help, "the CSI driver of its volumes can attach "
                                                         "no more of them"));
}

/* Without a look at claims nobody can tell: it is not called homeless, and no place is named. */
static void what_is_not_known_is_not_judged(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", CLAIMS);
    dw_pod(&f->w, "plain", "w0", "{}");
    f->no_storage = true;
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_null(pod_of(f, "a")->to);
    assert_int_equal(pod_of(f, "a")->back, SEC(5));
    assert_string_equal(pod_of(f, "plain")->to, "w1");
    /* but it is not said that all is well */
    const struct plan_node *n = node_of(f, "w0");
    assert_int_equal(n->verdict, PLAN_UNSURE);
    assert_int_equal(n->blocker.code, BLOCKER_FORBIDDEN);
    assert_string_equal(n->blocker.object, "default/a");
    assert_string_equal(n->blocker.message,
                        "whether there is room for the replacements of 1 pod is not known: their "
                        "volumes cannot be looked at");
    /* also after somebody knew better of a pod */
    struct plan_node *node = (struct plan_node *)n;
    plan_correct(&f->plan, node, &node->pods[1], PLAN_WAITS, n->blocker);
    assert_int_equal(n->verdict, PLAN_UNSURE);
    /* with a look, a claim that does not exist is a reason */
    f->no_storage = false;
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_says(f, "a", "persistentvolumeclaim \"data\" not found");
    assert_null(node_of(f, "w0")->blocker.message);
}

/* --- volumes that are made with the pod --- */

#define SCRATCH "'spec':{'volumes':[{'name':'scratch','ephemeral':{'volumeClaimTemplate':{}}}]}"
#define ONE_PLACE(key, value)                                                                      \
    "'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'" key           \
    "','operator':'In','values':['" value "']}]}]}},"

/* A pod with an ephemeral volume, whose claim is bound to a disk in its machine. */
static void scratch_pod(struct plan_site *f, const char *name, const char *more) {
    dw_pod(&f->w, name, "w0", "{%s" SCRATCH "}", more);
    _cleanup_free_ char *claim = xasprintf(
        "{'metadata':{'namespace':'default','name':'%s-scratch','uid':'claim-%s','annotations':"
        "{'pv.kubernetes.io/bind-completed':'yes'},'ownerReferences':[{'apiVersion':'v1','kind':"
        "'Pod','name':'%s','uid':'uid-%s','controller':true}]},'spec':{'volumeName':'disk-%s',"
        "'storageClassName':'fast','accessModes':['ReadWriteOnce'],'resources':{'requests':"
        "{'storage':'1Gi'}}},'status':{'phase':'Bound'}}",
        name, name, name, name, name);
    _cleanup_free_ char *pv = xasprintf(
        "{'metadata':{'name':'disk-%s'},'spec':{" ONE_PLACE(
            "kubernetes.io/hostname",
            "w0") "'storageClassName':'fast','accessModes':['ReadWriteOnce'],'capacity':"
                  "{'storage':'1Gi'},'claimRef':{'namespace':'default','name':'%s-scratch','uid':"
                  "'claim-%s'}},'status':{'phase':'Bound'}}",
        name, name, name);
    add(f, &kind_pvc, claim);
    add(f, &kind_pv, pv);
}

static void put_class(struct plan_site *f, const char *mode, const char *provisioner,
                      const char *more) {
    _cleanup_free_ char *text = xasprintf("{'metadata':{'name':'fast'},'provisioner':'%s',"
                                          "'volumeBindingMode':'%s'%s}",
                                          provisioner, mode, more);
    add(f, &kind_storage_class, text);
}

/* The successor has a claim of its own, and its disk is made where it goes. */
static void an_ephemeral_volume_is_made_anew(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    put_class(f, "WaitForFirstConsumer", "csi.example.com", "");
    scratch_pod(f, "a", "");
    scratch_pod(f, "db-0", "'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "db") "},");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_string_equal(pod_of(f, "a")->to, "w1");
    assert_verdict(f, "db-0", PLAN_GOES);
    assert_string_equal(pod_of(f, "db-0")->to, "w1");
}

/* Twice, when its node comes to be drained as well. */
static void and_once_more(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    dw_edit_node(&f->w, "w2", "{'spec':{'unschedulable':true}}");
    put_class(f, "WaitForFirstConsumer", "csi.example.com", "");
    scratch_pod(f, "a", "");
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.in_order = true;
    f->w.opts.uncordon_when_done = true;
    make(f, "w0", "w1", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_int_equal(f->plan.count[PLAN_HOMELESS], 0);
    assert_int_equal(f->plan.makespan, SEC(20));
}

/* ErrReasonBindConflict of pkg/scheduler/framework/plugins/volumebinding/binder.go. */
#define NO_VOLUME "node(s) didn't find available persistent volumes to bind"

static void none_is_made_beyond_the_topologies(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    dw_edit_node(&f->w, "w1", "{'metadata':{'labels':{'zone':'b'}}}");
    dw_edit_node(&f->w, "w2", "{'metadata':{'labels':{'zone':'c'}}}");
    put_class(f, "WaitForFirstConsumer", "csi.example.com",
              ",'allowedTopologies':[{'matchLabelExpressions':[{'key':'zone','values':"
              "['a','c']}]}]");
    scratch_pod(f, "a", "");
    make(f, "w0", NULL);
    assert_string_equal(pod_of(f, "a")->to, "w2");
    dw_edit_node(&f->w, "w2", "{'metadata':{'labels':{'zone':'d'}}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_code(f, "a", BLOCKER_NO_ROOM);
    assert_says(f, "a", "2 " NO_VOLUME);
}

static void free_disk(struct plan_site *f, const char *name) {
    _cleanup_free_ char *pv =
        xasprintf("{'metadata':{'name':'%s'},'spec':{" ONE_PLACE(
                      "kubernetes.io/hostname",
                      "w1") "'storageClassName':'fast','accessModes':['ReadWriteOnce'],'capacity':"
                            "{'storage':'1Gi'}},'status':{'phase':'Available'}}",
                  name);
    add(f, &kind_pv, pv);
}

/* A StatefulSet's pod and its claim have their names again, but it is not the same claim: its old
 * disk is not given to it. */
static void a_name_is_no_right_to_the_disk(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    put_class(f, "WaitForFirstConsumer", "kubernetes.io/no-provisioner", "");
    scratch_pod(f, "db-0", "'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "db") "},");
    make(f, "w0", NULL);
    assert_verdict(f, "db-0", PLAN_HOMELESS);
    assert_says(f, "db-0", "1 " NO_VOLUME);
    free_disk(f, "free");
    make(f, "w0", NULL);
    assert_verdict(f, "db-0", PLAN_GOES);
    assert_string_equal(pod_of(f, "db-0")->to, "w1");
}

/* A disk that nobody makes has to be there, and serves one. */
static void disks_that_are_there_are_given_once(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    put_class(f, "WaitForFirstConsumer", "kubernetes.io/no-provisioner", "");
    for (int i = 0; i < 3; i++) {
        char name[8];
        snprintf(name, sizeof name, "a%d", i);
        scratch_pod(f, name, "");
    }
    free_disk(f, "free0");
    free_disk(f, "free1");
    make(f, "w0", NULL);
    assert_int_equal(f->plan.count[PLAN_GOES], 2);
    assert_int_equal(f->plan.count[PLAN_HOMELESS], 1);
    assert_verdict(f, "a2", PLAN_HOMELESS);
    assert_says(f, "a2", "1 " NO_VOLUME);
}

/* Where a disk is made before anybody asks for a node, or by rules that may not be read, nobody can
 * tell. */
static void of_unknown_places_nothing_is_said(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    put_class(f, "WaitForFirstConsumer", "csi.example.com", "");
    scratch_pod(f, "a", "");
    f->no_classes = true;
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_null(pod_of(f, "a")->to);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_UNSURE);
    f->no_classes = false;
    put_class(f, "Immediate", "csi.example.com", "");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_null(pod_of(f, "a")->to);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_GOES);
    /* What is bound already needs no class. */
    put_claim(f, "");
    dw_pod(&f->w, "b", "w0", CLAIMS);
    f->no_classes = true;
    make(f, "w0", NULL);
    assert_string_equal(pod_of(f, "b")->to, "w1");
}

/* --- priorities --- */

#define WANTS(cpu, priority)                                                                       \
    "{'spec':{'priority':" priority                                                                \
    ",'containers':[{'name':'c','resources':{'requests':{'cpu':'" cpu "'}}}]}}"

/* The scheduler evicts whoever is less important: the pod finds room, though nobody can tell
 * which. Not if its policy forbids that, or when all the others are not enough or as important. */
static void the_important_push_others_aside(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "there", "w1", WANTS("3", "5"));
    dw_pod(&f->w, "high", "w0", WANTS("2", "10"));
    dw_pod(&f->w, "same", "w0", WANTS("2500m", "5"));
    dw_pod(&f->w, "huge", "w0", WANTS("9", "10"));
    dw_pod(&f->w, "polite", "w0",
           "{'spec':{'priority':10,'preemptionPolicy':'Never','containers':[{'name':'c',"
           "'resources':{'requests':{'cpu':'2'}}}]}}");
    make(f, "w0", NULL);
    assert_verdict(f, "high", PLAN_GOES);
    assert_null(pod_of(f, "high")->to);
    assert_int_equal(pod_of(f, "high")->back, SEC(5));
    assert_verdict(f, "same", PLAN_HOMELESS);
    assert_says(f, "same", "1 No preemption victims found for incoming pod");
    assert_verdict(f, "huge", PLAN_HOMELESS);
    assert_verdict(f, "polite", PLAN_HOMELESS);
    assert_says(f, "polite", "preemption: not eligible due to preemptionPolicy=Never");
}

#define APART                                                                                      \
    "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"           \
    "'topologyKey':'zone','labelSelector':{'matchLabels':{'app':'web'}}}]}}"

/* Both nodes are in one zone, and in that there may be one: the successor fits when its predecessor
 * is gone, and not before. */
static void a_pod_that_leaves_makes_room_for_its_successor(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_edit_node(&f->w, "w0", "{'metadata':{'labels':{'zone':'a'}}}");
    dw_edit_node(&f->w, "w1", "{'metadata':{'labels':{'zone':'a'}}}");
    dw_pod(&f->w, "a", "w0", "{'spec':{" APART "}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_string_equal(pod_of(f, "a")->to, "w1");
    assert_int_equal(pod_of(f, "a")->gone, SEC(10));
    assert_int_equal(pod_of(f, "a")->back, SEC(15));
}

/* countPodsMatchSelector() of pkg/scheduler/framework/plugins/podtopologyspread/common.go leaves
 * out pods that terminate: the successor need not wait until its predecessor is gone. */
static void a_pod_that_leaves_does_not_count_where_pods_are_spread(void **state) {
    struct plan_site *f = *state;
#define SPREAD                                                                                     \
    "{'spec':{'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':" \
    "'DoNotSchedule','labelSelector':{'matchLabels':{'app':'web'}}}]}}"
    nodes(f, 2);
    node(f, "w2", 1);
    dw_edit_node(&f->w, "w0", "{'metadata':{'labels':{'zone':'a'}}}");
    dw_edit_node(&f->w, "w1", "{'metadata':{'labels':{'zone':'a'}}}");
    dw_edit_node(&f->w, "w2", "{'metadata':{'labels':{'zone':'b'}}}");
    dw_pod(&f->w, "a", "w0", SPREAD);
    dw_pod(&f->w, "b", "w1", SPREAD);
    dw_pod(&f->w, "c", "w2", SPREAD);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_string_equal(pod_of(f, "a")->to, "w1");
    assert_int_equal(pod_of(f, "a")->gone, SEC(10));
    assert_int_equal(pod_of(f, "a")->back, SEC(5));
}

/* One that waits until its predecessor is gone, and afterwards another pod is asked about that no
 * pod which leaves could help. */
static void it_is_tried_again_whoever_was_asked_about_last(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_edit_node(&f->w, "w0", "{'metadata':{'labels':{'zone':'a'}}}");
    dw_edit_node(&f->w, "w1", "{'metadata':{'labels':{'zone':'a'}}}");
    dw_pod(&f->w, "a", "w0", "{'spec':{" APART "}}");
    dw_pod(&f->w, "b", "w0",
           "{'metadata':{'labels':{'app':'b'}},'spec':{'nodeSelector':{'disk':'ssd'}}}");
    make(f, "w0", NULL);
    assert_verdict(f, "b", PLAN_HOMELESS);
    assert_verdict(f, "a", PLAN_GOES);
    assert_string_equal(pod_of(f, "a")->to, "w1");
}

/* One that stays holds it up for ever. */
static void a_pod_that_stays_makes_none(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0",
           "{'spec':{'affinity':{'podAntiAffinity':{"
           "'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':"
           "'kubernetes.io/hostname','labelSelector':{'matchLabels':{'app':'web'}}}]}}}}");
    dw_pod(&f->w, "b", "w1", "{}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_says(f, "a", "node(s) didn't match pod anti-affinity rules");
}

/* Room is used up by those that came first. */
static void the_last_place_is_given_once(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 2);
    pods(f, "a", 3, "w0", "{}");
    make(f, "w0", NULL);
    assert_int_equal(f->plan.count[PLAN_GOES], 2);
    assert_int_equal(f->plan.count[PLAN_HOMELESS], 1);
}

/* Pods of one template have the same reasons, which were looked for once: the same text, not an
 * equal one. */
static void many_alike_cost_one_question(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    pods(f, "a", 200, "w0", "{'spec':{'nodeSelector':{'disk':'ssd'}}}");
    dw_pod(&f->w, "other", "w0",
           "{'metadata':{'labels':{'app':'x'}},'spec':{'nodeSelector':{'disk':'ssd'}}}");
    make(f, "w0", NULL);
    assert_int_equal(f->plan.count[PLAN_HOMELESS], 201);
    const char *why = pod_of(f, "a0")->blocker.message;
    assert_true(*why);
    for (size_t i = 0; i < node_of(f, "w0")->n_pods; i++) {
        const struct plan_pod *p = &node_of(f, "w0")->pods[i];
        if (streq(p->pod->meta.name, "other"))
            assert_ptr_not_equal(p->blocker.message, why);
        else
            assert_ptr_equal(p->blocker.message, why);
    }
}

/* A pod that was told to go from another node is as good as gone, unless it should have been for
 * long. */
static void room_of_those_that_leave(void **state) {
    struct plan_site *f = *state;
    char when[TIMEFMT_LEN];
    node(f, "w0", 110);
    node(f, "w1", 1);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "old", "w1", "{'metadata':{'labels':{'app':'other'},'deletionTimestamp':'%s'}}",
           time_format(f->w.now.wall + SEC(20), false, when));
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_string_equal(pod_of(f, "a")->to, "w1");
    dw_pod(&f->w, "old", "w1", "{'metadata':{'labels':{'app':'other'},'deletionTimestamp':'%s'}}",
           time_format(f->w.now.wall - SEC(61), false, when));
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_says(f, "a", "1 Too many pods");
}

/* A node that is given back is room again. */
static void an_uncordoned_node_is_room(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 1);
    dw_pod(&f->w, "full", "w1", "{'metadata':{'labels':{'app':'other'}}}");
    dw_pod(&f->w, "a", "w0", "{}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS);
    f->w.opts.uncordon_when_done = true;
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_string_equal(pod_of(f, "a")->to, "w0");
    assert_int_equal(pod_of(f, "a")->back, SEC(15));
}

/* However many wait for it, and whoever else waits for something that does not come. */
static void an_uncordoned_node_is_room_for_very_many(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 2000);
    node(f, "w1", 1);
    dw_pod(&f->w, "full", "w1", "{'metadata':{'labels':{'app':'other'}}}");
    pods(f, "a", 1100, "w0", "{}");
    f->w.opts.uncordon_when_done = true;
    make(f, "w0", NULL);
    assert_int_equal(f->plan.count[PLAN_HOMELESS], 0);
    assert_string_equal(pod_of(f, "a1099")->to, "w0");
}

/* Of a cordon that keeps a pod out that is said; not of those of the drain itself. */
static void a_cordon_that_keeps_it_out_is_named(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    dw_edit_node(&f->w, "w1",
                 "{'spec':{'unschedulable':true,'taints':[{'key':'slipway.dev/next','effect':"
                 "'PreferNoSchedule'}]}}");
    dw_pod(&f->w, "a", "w0", "{}");
    make(f, "w0", "w2", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_string_equal(pod_of(f, "a")->blocker.help, "it would fit on w1 if that were uncordoned");
    make(f, "w0", "w1", "w2", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_string_equal(pod_of(f, "a")->blocker.help, "");
}

/* Equally good places are told apart by names, not by who was seen first or where it is in memory:
 * plans that are made twice can be compared. */
static void the_order_of_the_store_does_not_matter(void **state) {
    struct plan_site *f = *state;
    void *other;
    plan_setup(&other);
    struct plan_site *g = other;
    for (int i = 0; i < 12; i++) {
        char name[8];
        snprintf(name, sizeof name, "w%02d", i);
        node(f, name, 110);
        snprintf(name, sizeof name, "w%02d", 11 - i);
        node(g, name, 110);
    }
    pods(f, "a", 20, "w00", "{}");
    pods(g, "a", 20, "w00", "{}");
    make(f, "w00", NULL);
    make(g, "w00", NULL);
    for (size_t i = 0; i < 20; i++)
        assert_string_equal(f->plan.nodes[0].pods[i].to, g->plan.nodes[0].pods[i].to);
    plan_teardown(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(without_room_budgets_are_not_given_back),
        PLAN_TEST(what_has_to_go_twice_and_finds_no_second_place),
        PLAN_TEST(the_place_that_there_is),
        PLAN_TEST(none_on_the_node_that_is_drained),
        PLAN_TEST(nodes_that_go_together_do_not_exchange_pods),
        PLAN_TEST(why_there_is_no_place),
        PLAN_TEST(taints_are_obeyed),
        PLAN_TEST(a_cordon_is_a_taint_where_pods_are_spread),
        PLAN_TEST(node_affinity_is_obeyed),
        PLAN_TEST(a_local_volume_ties_the_pod_to_its_node),
        PLAN_TEST(a_local_volume_of_two_nodes),
        PLAN_TEST(a_volume_that_can_move_does_not),
        PLAN_TEST(a_driver_attaches_no_more_volumes),
        PLAN_TEST(what_is_not_known_is_not_judged),
        PLAN_TEST(an_ephemeral_volume_is_made_anew),
        PLAN_TEST(and_once_more),
        PLAN_TEST(none_is_made_beyond_the_topologies),
        PLAN_TEST(a_name_is_no_right_to_the_disk),
        PLAN_TEST(disks_that_are_there_are_given_once),
        PLAN_TEST(of_unknown_places_nothing_is_said),
        PLAN_TEST(the_important_push_others_aside),
        PLAN_TEST(a_pod_that_leaves_makes_room_for_its_successor),
        PLAN_TEST(a_pod_that_leaves_does_not_count_where_pods_are_spread),
        PLAN_TEST(it_is_tried_again_whoever_was_asked_about_last),
        PLAN_TEST(a_pod_that_stays_makes_none),
        PLAN_TEST(the_last_place_is_given_once),
        PLAN_TEST(many_alike_cost_one_question),
        PLAN_TEST(room_of_those_that_leave),
        PLAN_TEST(an_uncordoned_node_is_room),
        PLAN_TEST(an_uncordoned_node_is_room_for_very_many),
        PLAN_TEST(a_cordon_that_keeps_it_out_is_named),
        PLAN_TEST(the_order_of_the_store_does_not_matter),
    };
    return cmocka_run_group_tests_name("engine/plan_room", tests, NULL, NULL);
}
