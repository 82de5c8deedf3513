/* Tests of src/engine/why_room.c. The scheduler's words are those of kube-scheduler v1.36
 * (pkg/scheduler/framework/types.go, FitError). */
#include "engine/why.h"

#include "engine/why_internal.h"
#include "why_scene.h"

#define SAID(text)                                                                                 \
    "'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False','reason':"            \
    "'Unschedulable','message':'" text "','lastTransitionTime':'2026-11-15T07:59:00Z'}]"

static void node(struct scene *s, const char *name, const char *cpu, const char *spec) {
    _cleanup_free_ char *json =
        xasprintf("{'metadata':{'name':'%s'},'spec':{%s},'status':{'allocatable':{'cpu':'%s',"
                  "'memory':'8Gi','pods':'110'}," READY "}}",
                  name, spec, cpu);
    scene_add(s, &kind_node, json);
}

/* Each pod asks for one CPU. n1 has 500m left, n2 200m: n1 is nearer. */
static void the_nearest_node_is_named(void **state) {
    struct scene *s = *state;
    node(s, "n1", "2500m", "");
    node(s, "n2", "1200m", "");
    scene_pod(s, "a", "a", "n1", POD_WELL);
    scene_pod(s, "b", "a", "n1", POD_WELL);
    scene_pod(s, "c", "a", "n2", POD_WELL);
    scene_pod(s, "p", "p", "", SAID("0/2 nodes are available: 2 Insufficient cpu."));
    scene_room(s);
    const struct why_link *l = scene_why_pod(s, "p")->links[0];
    assert_string_equal(l->text, "Pending: 0/2 nodes are available: 2 Insufficient cpu");
    assert_int_equal(l->since, NOW - SEC(60));
    assert_int_equal(l->n_causes, 1);
    assert_string_equal(l->causes[0]->text,
                        "2 nodes are too full; the nearest is n1: 500m cpu more would do");
    assert_string_equal(l->remedies[0].text, "add a node, or free 500m cpu on n1");
}

static void a_cordon_keeps_it_out(void **state) {
    struct scene *s = *state;
    node(s, "n1", "4", "'unschedulable':true");
    node(s, "n2", "500m", "");
    scene_pod(s, "p", "p", "",
              SAID("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable."));
    scene_room(s);
    const struct why_link *l = scene_why_pod(s, "p")->links[0];
    assert_non_null(cause_of(l, "node n1 would take it if it were not cordoned"));
    const struct why_remedy *r = remedy_of(l, "slipway uncordon n1");
    assert_non_null(r);
    assert_string_equal(r->cost, "cordoned by somebody else");
    /* asking has not changed the picture */
    assert_non_null(cause_of(scene_why_pod(s, "p")->links[0], "node n1 would take it"));
}

/* A node with another taint would not take it, cordoned or not. */
static void a_cordon_that_is_not_the_reason(void **state) {
    struct scene *s = *state;
    node(s, "n1", "4", "'unschedulable':true,'taints':[{'key':'gpu','effect':'NoSchedule'}]");
    scene_pod(s, "p", "p", "", SAID("0/1 nodes are available: 1 node(s) were unschedulable."));
    scene_room(s);
    const struct why_link *l = scene_why_pod(s, "p")->links[0];
    assert_null(cause_of(l, "if it were not cordoned"));
    assert_null(remedy_of(l, "uncordon"));
}

static void the_cluster_has_changed_since(void **state) {
    struct scene *s = *state;
    node(s, "n1", "4", "");
    scene_pod(s, "p", "p", "", SAID("0/1 nodes are available: 1 Insufficient cpu."));
    scene_room(s);
    const struct why_link *l = scene_why_pod(s, "p")->links[0];
    assert_non_null(cause_of(l, "node n1 has room for it now"));
}

/* The scheduler knows something that is not looked at: there being room is no answer to that. */
static void a_reason_that_nobody_knows(void **state) {
    struct scene *s = *state;
    node(s, "n1", "4", "");
    node(s, "n2", "4", "'unschedulable':true");
    scene_pod(s, "p", "p", "",
              SAID("0/2 nodes are available: 1 node(s) did not have enough free storage, 1 node(s) "
                   "were unschedulable. no new claims to deallocate, preemption: none"));
    scene_room(s);
    const struct why_link *l = scene_why_pod(s, "p")->links[0];
    assert_null(cause_of(l, "has room for it now;"));
    assert_null(cause_of(l, "if it were not cordoned"));
    assert_null(remedy_of(l, "uncordon"));
    assert_non_null(cause_of(l, "whether a node has room for it now is not known: not all that the "
                                "scheduler says is looked at"));
}

static void another_reason_than_the_scheduler_saw(void **state) {
    struct scene *s = *state;
    node(s, "n1", "500m", "");
    scene_pod(s, "p", "p", "", SAID("0/1 nodes are available: 1 Too many pods."));
    scene_room(s);
    const struct why_link *l = scene_why_pod(s, "p")->links[0];
    assert_non_null(
        cause_of(l, "as the cluster is now: 0/1 nodes are available: 1 Insufficient cpu"));
}

/* A pod for which all nodes are asked costs time: of many the first few are enough. */
static void not_every_pod_asks_all_nodes(void **state) {
    struct scene *s = *state;
    char name[8];
    size_t judged = 0;
    node(s, "n1", "9500m", ""); /* is to be emptied: no room there is of any use */
    node(s, "n2", "500m", "");
    for (int i = 0; i < 9; i++) {
        snprintf(name, sizeof name, "a%d", i);
        scene_deployment(s, name, 2);
        scene_budget(s, name, "'maxUnavailable':1", 2, 1, 1);
        scene_pod(s, name, name, "n1", POD_WELL);
        snprintf(name, sizeof name, "p%d", i);
        _cleanup_free_ char *app = xasprintf("a%d", i);
        scene_pod(s, name, app, "", SAID("0/1 nodes are available: 1 Insufficient cpu."));
    }
    scene_room(s);
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->n_links, 9);
    for (size_t i = 0; i < why->n_links; i++) {
        const struct why_link *pending = cause_of(why->links[i], "1 Insufficient cpu");
        assert_non_null(pending);
        judged += cause_of(pending, "500m cpu more would do") != NULL;
    }
    assert_int_equal(judged, 4);
}

/* Numbers that no sane cluster has are no undefined behaviour (the sanitizers look). */
static void absurd_quantities(void **state) {
    static const char *const sizes[] = {
        "9223372036854775807", "-9223372036854775808", "8Ei", "-1", "0", "1e18"};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
            struct scene *s;
            scene_setup((void **)&s);
            _cleanup_free_ char *json = xasprintf("{'metadata':{'name':'n1'},'status':{'"
                                                  "allocatable':{'cpu':'%s','memory':'%s','pods':"
                                                  "'%s','example.com/gpu':'%s'}}}",
                                                  sizes[i], sizes[i], sizes[i], sizes[i]);
            scene_add(s, &kind_node, json);
            static const char *const names[] = {"a", "b", "p"};
            for (size_t n = 0; n < ARRAY_LEN(names); n++) {
                _cleanup_free_ char *pod = xasprintf(
                    "{'metadata':{'namespace':'x','name':'%s'},'spec':{%s'containers':[{'name':'c',"
                    "'resources':{'requests':{'cpu':'%s','memory':'%s','example.com/gpu':'%s'}}}]},"
                    "'status':{" SAID("no") "}}",
                    names[n], n < 2 ? "'nodeName':'n1'," : "", sizes[k], sizes[k], sizes[k]);
                scene_add(s, &kind_pod, pod);
            }
            scene_room(s);
            assert_true(scene_why_pod(s, "p")->complete);
            assert_int_equal(scene_teardown((void **)&s), 0);
        }
    (void)state;
}

static void bytes_are_rounded_up(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_node,
              "{'metadata':{'name':'n1'},'status':{'allocatable':{'cpu':'4','memory':'1Gi','pods':"
              "'9'}}}");
    scene_add(
        s, &kind_pod,
        "{'metadata':{'namespace':'x','name':'p'},'spec':{'containers':[{'name':'c','resources'"
        ":{'requests':{'memory':'1183842305'}}}]},'status':{" SAID("no") "}}");
    scene_room(s);
    /* 1183842305 - 1073741824 = 110100481 bytes, which is 105 Mi and one byte */
    assert_non_null(cause_of(scene_why_pod(s, "p")->links[0], "n1: 106Mi memory more would do"));
}

static void gates_are_somebody_elses(void **state) {
    struct scene *s = *state;
    scene_pod(s, "p", "p", "",
              "'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False','reason':"
              "'SchedulingGated'}]");
    assert_contains(scene_why_pod(s, "p")->links[0]->text, "scheduling gates");
    assert_null(strstr(str_get(&s->asked), "room"));
}

static void gates_are_named(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'p','uid':'p'},'spec':{'schedulingGates':[{"
              "'name':'kueue.x-k8s.io/admission'},{'name':'example.com/quota'}]},'status':{"
              "'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False','reason':"
              "'SchedulingGated'}]}}");
    const struct why_link *l = scene_why_pod(s, "p")->links[0];
    assert_int_equal(l->n_causes, 2);
    assert_string_equal(l->causes[0]->text, "scheduling gate kueue.x-k8s.io/admission");
    assert_int_equal(l->n_remedies, 2);
    assert_string_equal(l->remedies[0].command, "kubectl -n x get workloads.kueue.x-k8s.io");
    assert_contains(l->remedies[1].text, "example.com/quota");
}

/* Without the whole cluster the scheduler's message still is an answer. */
static void what_may_not_be_read_is_done_without(void **state) {
    struct scene *s = *state;
    scene_pod(s, "p", "p", "", SAID("0/1 nodes are available: 1 Insufficient cpu."));
    s->forbidden = "room";
    const struct why *why = scene_why_pod(s, "p");
    assert_true(why->complete);
    assert_contains(why->links[0]->text, "1 Insufficient cpu");
    assert_int_equal(why->links[0]->n_causes, 0);
    assert_string_equal(why->unread[0], "pods");
}

static void pods_of_a_node_that_find_no_room(void **state) {
    struct scene *s = *state;
    node(s, "n1", "4", "");
    node(s, "n2", "2500m", "");
    scene_pod(s, "a", "a", "n1", POD_WELL);
    scene_pod(s, "b", "a", "n1", POD_WELL);
    scene_pod(s, "c", "a", "n1", POD_WELL);
    scene_pod(s, "d", "a", "n2", POD_WELL);
    scene_room(s);
    assert_int_equal(scene_why(s, "n1")->n_links, 0); /* nobody has asked for it */
    s->world.room = true;
    for (int i = 0; i < 2; i++) { /* the picture is as it was before */
        const struct why *why = scene_why(s, "n1");
        assert_string_equal(why->summary, "a drain would leave 2 of its 3 pods without a node");
        assert_int_equal(why->state, WHY_BLOCKED);
        assert_int_equal(why->links[0]->pods, 2);
        assert_string_equal(why->links[0]->example, "x/b");
        assert_contains(
            why->links[0]->text,
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable");
        assert_non_null(cause_of(why->links[0], "the nearest is n2: 500m cpu more would do"));
    }
    assert_int_equal(scene_why(s, "n2")->n_links, 0);
}

static void port_pod(struct scene *s, const char *name, const char *where) {
    _cleanup_free_ char *json = xasprintf(
        "{'metadata':{'namespace':'x','name':'%s','uid':'u-%s'," OWNED(
            "ReplicaSet", "hp") "},'spec':{'nodeName':'%s','containers':[{'name':'c',"
                                "'ports':[{'containerPort':80,'hostPort':80}]}]}," RUNNING "}",
        name, name, where);
    scene_add(s, &kind_pod, json);
}

/* What one lacks is not what the other does, and has its own remedy. */
static void each_reason_is_told(void **state) {
    struct scene *s = *state;
    node(s, "n1", "4", "");
    node(s, "n2", "1500m", "");
    port_pod(s, "a-hp", "n1");
    port_pod(s, "hp", "n2");
    scene_pod(s, "b", "b", "n1", POD_WELL);
    scene_pod(s, "c", "b", "n1", POD_WELL);
    scene_pod(s, "d", "b", "n2", POD_WELL);
    scene_room(s);
    s->world.room = true;
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->n_links, 2);
    for (size_t i = 0; i < 2; i++) {
        bool port = why->links[i]->pods == 1;
        assert_contains(why->links[i]->text, port ? "free ports" : "Insufficient cpu");
        assert_true(port || why->links[i]->pods == 2);
        assert_true(port || cause_of(why->links[i], "500m cpu more would do"));
    }
}

/* A plan says of this: a stays Pending (CapacityInsufficient), b and c never go (PDBNoBudget). */
static void a_budget_runs_dry(void **state) {
    struct scene *s = *state;
    node(s, "n1", "4", "");
    node(s, "n2", "500m", "");
    scene_deployment(s, "web", 3);
    scene_budget(s, "web", "'minAvailable':2", 3, 3, 2);
    scene_pod(s, "a", "web", "n1", POD_WELL);
    scene_pod(s, "b", "web", "n1", POD_WELL);
    scene_pod(s, "c", "web", "n1", POD_WELL);
    scene_room(s);
    assert_int_equal(scene_why(s, "n1")->n_links, 0); /* nobody has asked for it */
    s->world.room = true;
    const struct why *why = scene_why(s, "n1");
    assert_string_equal(why->summary, "a drain would never end: 2 of its 3 pods can never go");
    assert_int_equal(why->state, WHY_BLOCKED);
    assert_int_equal(why->n_links, 2);
    const struct why_link *dry = why->links[0], *room = why->links[1];
    assert_int_equal(dry->code, BLOCKER_PDB_NO_BUDGET);
    assert_int_equal(dry->severity, SEVERITY_ERROR);
    assert_true(dry->blocks && dry->lasts);
    assert_string_equal(dry->object, "x/web");
    assert_string_equal(dry->text, "minAvailable 2, needs 2 healthy of 3, has 3, allows 1; the "
                                   "replacement of a fits nowhere");
    assert_int_equal(dry->pods, 2);
    assert_string_equal(dry->example, "x/b");
    const struct why_remedy *r = remedy_of(dry, "patch pdb web");
    assert_non_null(r);
    assert_contains(r->command, "{\"minAvailable\":0}");
    assert_string_equal(r->cost, "none serves until there is room");
    assert_int_equal(room->code, BLOCKER_NO_ROOM);
    assert_int_equal(room->pods, 1);
    assert_string_equal(room->example, "x/a");
    /* as soon as there is room nothing is in the way */
    node(s, "n3", "4", "");
    scene_room(s);
    assert_int_equal(scene_why(s, "n1")->state, WHY_FREE);
}

/* A plan says of this: who gets the place of n2 is chance, and so whether c goes. */
static void the_last_place_is_chance(void **state) {
    struct scene *s = *state;
    node(s, "n1", "4", "");
    node(s, "n2", "1", "");
    scene_deployment(s, "web", 2);
    scene_budget(s, "web", "'minAvailable':1", 2, 2, 1);
    scene_pod(s, "a", "other", "n1", POD_WELL);
    scene_pod(s, "b", "web", "n1", POD_WELL);
    scene_pod(s, "c", "web", "n1", POD_WELL);
    scene_room(s);
    s->world.room = true;
    const struct why *why = scene_why(s, "n1");
    assert_string_equal(why->summary, "a drain may not end: 1 of its 3 pods goes only with luck");
    const struct why_link *dry = link_of(why, BLOCKER_PDB_NO_BUDGET);
    assert_non_null(dry);
    assert_int_equal(dry->severity, SEVERITY_WARN);
    assert_int_equal(dry->pods, 1);
    assert_string_equal(dry->example, "x/c");
    assert_contains(dry->text, "the replacement of b fits nowhere when others that leave at the "
                               "same time are quicker: who gets the last places is chance");
}

/* The same, where b has the place: all go, and might not. */
static void that_it_ends_is_luck(void **state) {
    struct scene *s = *state;
    node(s, "n1", "4", "");
    node(s, "n2", "1", "");
    scene_deployment(s, "web", 2);
    scene_budget(s, "web", "'minAvailable':1", 2, 2, 1);
    scene_pod(s, "b", "web", "n1", POD_WELL);
    scene_pod(s, "c", "web", "n1", POD_WELL);
    scene_pod(s, "d", "other", "n1", POD_WELL);
    scene_room(s);
    s->world.room = true;
    const struct why *why = scene_why(s, "n1");
    assert_string_equal(why->summary, "a drain would leave 2 of its 3 pods without a node, and "
                                      "whether it ends is chance");
    const struct why_link *luck = link_of(why, BLOCKER_PDB_NO_BUDGET);
    assert_non_null(luck);
    assert_string_equal(luck->object, "x/web");
    assert_string_equal(luck->text,
                        "whether the node is drained is chance: the replacement of d may get the "
                        "place of that of b, which then keeps what it took of the budget");
}

/* What is kept by something else is told of once: it does not go, and so needs no room. */
static void who_does_not_go_needs_no_room(void **state) {
    struct scene *s = *state;
    node(s, "n1", "4", "");
    scene_deployment(s, "web", 1);
    scene_budget(s, "web", "'maxUnavailable':0", 1, 1, 1);
    scene_pod(s, "a", "web", "n1", POD_WELL);
    scene_room(s);
    s->world.room = true;
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->n_links, 1);
    assert_int_equal(why->links[0]->code, BLOCKER_PDB_UNSATISFIABLE);
}

#define LOCAL_DISK                                                                                 \
    "{'metadata':{'name':'pv1'},'spec':{'local':{'path':'/d'},'nodeAffinity':{'required':{"        \
    "'nodeSelectorTerms':[{'matchExpressions':[{'key':'kubernetes.io/hostname','operator':'In',"   \
    "'values':['n1']}]}]}}}}"

static void disk_pod(struct scene *s, const char *claim) {
    node(s, "n1", "4", "");
    node(s, "n2", "4", "");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'db-0','uid':'u'," OWNED(
                  "StatefulSet", "db") "},'spec':{'nodeName':'n1','volumes':[{'name':'d',"
                                       "'persistentVolumeClaim':{'claimName':'data'}}]}," RUNNING
                                       "}");
    scene_add(s, &kind_pvc, claim);
}

/* One that cannot leave the disk of its node is told of once, as LocalPV. */
static void a_local_volume_is_told_once(void **state) {
    struct scene *s = *state;
    disk_pod(s, "{'metadata':{'namespace':'x','name':'data','annotations':{"
                "'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'pv1'}}");
    scene_add(s, &kind_pv, LOCAL_DISK);
    scene_room(s);
    s->world.room = true;
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->n_links, 1);
    assert_int_equal(why->links[0]->code, BLOCKER_LOCAL_PV);
    assert_true(why->links[0]->blocks);
    assert_string_equal(why->summary, "a drain would leave its one pod without a node");
    assert_int_equal(why->state, WHY_BLOCKED);
}

/* A volume of a zone whose nodes have no room: not local, and the code is a plan's. */
static void a_volume_that_others_cannot_use(void **state) {
    struct scene *s = *state;
    disk_pod(s, "{'metadata':{'namespace':'x','name':'data','annotations':{"
                "'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'pv1'}}");
    scene_add(s, &kind_pv,
              "{'metadata':{'name':'pv1'},'spec':{'nodeAffinity':{'required':{'nodeSelectorTerms':["
              "{'matchExpressions':[{'key':'zone','operator':'In','values':['a']}]}]}}}}");
    scene_room(s);
    s->world.room = true;
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->n_links, 1);
    assert_int_equal(why->links[0]->code, BLOCKER_NO_ROOM);
    assert_contains(why->links[0]->text, "no room elsewhere: evicted, it stays Pending: 0/2 nodes");
}

/* What is not known is not well. */
static void what_cannot_be_read_is_not_free(void **state) {
    struct scene *s = *state;
    disk_pod(s, "{'metadata':{'namespace':'x','name':'data','annotations':{"
                "'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'pv1'}}");
    scene_room(s);
    s->world.room = true;
    s->world.room_volumes = false;
    const struct why *why = scene_why(s, "n1");
    assert_string_equal(why->summary,
                        "nothing forbids a drain as far as could be read: 1 pod to move, and "
                        "whether there is room for it is not known");
    assert_int_equal(why->state, WHY_BLOCKED);
    assert_int_equal(why->links[0]->code, BLOCKER_FORBIDDEN);
    assert_string_equal(why->links[0]->text,
                        "whether there is room for the replacements of 1 pod is not known: their "
                        "volumes cannot be looked at");
    /* nor the rest of the cluster */
    s->forbidden = "room";
    fit_free(s->world.fit);
    s->world.fit = NULL;
    why = scene_why(s, "n1");
    assert_int_equal(why->state, WHY_BLOCKED);
    assert_contains(why->summary, "whether there is room for it is not known");
    assert_contains(why->links[0]->text, "the nodes and pods of the cluster cannot be looked at");
}

/* A claim that waits for a node: its StorageClass says where the volume can be made. */
static void storage_classes_count(void **state) {
    struct scene *s = *state;
    node(s, "n1", "4", "");
    scene_add(s, &kind_storage_class,
              "{'metadata':{'name':'zonal'},'provisioner':'example.com/disk','volumeBindingMode':"
              "'WaitForFirstConsumer','allowedTopologies':[{'matchLabelExpressions':[{'key':'zone',"
              "'values':['far']}]}]}");
    scene_add(s, &kind_pvc,
              "{'metadata':{'namespace':'x','name':'data'},'spec':{'storageClassName':'zonal',"
              "'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}");
    scene_add(
        s, &kind_pod,
        "{'metadata':{'namespace':'x','name':'p'},'spec':{'containers':[{'name':'c'}],"
        "'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'data'}}]},'status':{" SAID(
            "something else") "}}");
    scene_room(s);
    const struct why_link *l = scene_why_pod(s, "p")->links[0];
    assert_non_null(cause_of(l, "as the cluster is now: 0/1 nodes are available: 1 node(s) didn't "
                                "find available persistent volumes to bind"));
    /* without them nobody can tell, and that is told */
    s->world.room_classes = false;
    const struct why *why = scene_why_pod(s, "p");
    assert_int_equal(why->links[0]->n_causes, 0);
    assert_string_equal(why->unread[0], "storageclasses");
}

/* Neither of one that is Pending nor of one that is to go is it said that there is room, or none.
 */
static void devices_are_not_judged(void **state) {
    struct scene *s = *state;
    node(s, "n1", "4", "");
    node(s, "n2", "4", "");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'p'},'spec':{'containers':[{'name':'c'}],"
              "'resourceClaims':[{'name':'gpu'}]},'status':{" SAID(
                  "0/2 nodes are available: 2 cannot allocate all claims.") "}}");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'r','uid':'u'," OWNED(
                  "ReplicaSet", "web-1") "},'spec':{'nodeName':'n1','containers':[{'name':'c'}],"
                                         "'nodeSelector':{'no':'such'},"
                                         "'resourceClaims':[{'name':'gpu'}]}," RUNNING "}");
    scene_room(s);
    s->world.room = true;
    const struct why_link *l = scene_why_pod(s, "p")->links[0];
    assert_int_equal(l->n_causes, 1);
    assert_string_equal(l->causes[0]->text, "whether a node has room for it now is not known: the "
                                            "devices of ResourceClaims are not looked at");
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->state, WHY_FREE);
    assert_int_equal(why->n_links, 1);
    assert_int_equal(why->links[0]->code, BLOCKER_ROOM_UNKNOWN);
    assert_false(why->links[0]->blocks);
    assert_contains(why->links[0]->text, "the replacements of 1 pod go, and whether there is room, "
                                         "is not known: the devices of ResourceClaims");
}

/* Whatever another scheduler would say: ours is not asked about its pods. */
static void pods_of_other_schedulers_are_not_judged(void **state) {
    struct scene *s = *state;
    node(s, "n1", "4", "");
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'p'},'spec':{'containers':[{'name':'c'}],"
              "'schedulerName':'mine'},'status':{" SAID("not yet") "}}");
    scene_room(s);
    assert_int_equal(scene_why_pod(s, "p")->links[0]->n_causes, 0);
}

/* Where a driver has a limit, what is attached is asked for, and counts. */
static void volumes_are_counted(void **state) {
    struct scene *s = *state;
    disk_pod(s, "{'metadata':{'namespace':'x','name':'data','annotations':{"
                "'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'pv1'}}");
    scene_add(s, &kind_pv,
              "{'metadata':{'name':'pv1'},'spec':{'csi':{'driver':'ebs','volumeHandle':'1'}}}");
    scene_add(s, &kind_pv,
              "{'metadata':{'name':'pv2'},'spec':{'csi':{'driver':'ebs','volumeHandle':'2'}}}");
    scene_add(s, &kind_volume_attachment,
              "{'metadata':{'name':'va'},'spec':{'attacher':'ebs','nodeName':'n2','source':{"
              "'persistentVolumeName':'pv2'}}}");
    scene_room(s);
    s->world.room = true;
    assert_int_equal(scene_why(s, "n1")->state, WHY_FREE);
    scene_add(s, &kind_csi_node,
              "{'metadata':{'name':'n2'},'spec':{'drivers':[{'name':'ebs','allocatable':{'count':1}"
              "}]}}");
    scene_room(s);
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->n_links, 1);
    assert_int_equal(why->links[0]->code, BLOCKER_NO_ROOM);
    assert_contains(why->links[0]->text, "1 node(s) exceed max volume count");
    assert_contains(why->links[0]->remedies[0].text, "move pods with volumes off one");
    s->world.no_limits = true;
    assert_string_equal(scene_why(s, "n1")->unread[0], "csinodes");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(the_nearest_node_is_named),
        SCENE_TEST(volumes_are_counted),
        SCENE_TEST(devices_are_not_judged),
        SCENE_TEST(pods_of_other_schedulers_are_not_judged),
        SCENE_TEST(a_cordon_keeps_it_out),
        SCENE_TEST(a_cordon_that_is_not_the_reason),
        SCENE_TEST(the_cluster_has_changed_since),
        SCENE_TEST(another_reason_than_the_scheduler_saw),
        SCENE_TEST(a_reason_that_nobody_knows),
        SCENE_TEST(not_every_pod_asks_all_nodes),
        cmocka_unit_test(absurd_quantities),
        SCENE_TEST(bytes_are_rounded_up),
        SCENE_TEST(gates_are_somebody_elses),
        SCENE_TEST(gates_are_named),
        SCENE_TEST(what_may_not_be_read_is_done_without),
        SCENE_TEST(pods_of_a_node_that_find_no_room),
        SCENE_TEST(each_reason_is_told),
        SCENE_TEST(a_budget_runs_dry),
        SCENE_TEST(the_last_place_is_chance),
        SCENE_TEST(that_it_ends_is_luck),
        SCENE_TEST(what_cannot_be_read_is_not_free),
        SCENE_TEST(who_does_not_go_needs_no_room),
        SCENE_TEST(a_local_volume_is_told_once),
        SCENE_TEST(a_volume_that_others_cannot_use),
        SCENE_TEST(storage_classes_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
