/* Tests of src/engine/drain_after.c: volumes that detach, owners that are well again. */
#include "engine/drain.h"

#include "support/drain_world.h"

/* --- volumes --- */

static void attach(struct drain_world *w, const char *name, const char *node, const char *pv) {
    dw_put(w, &kind_volume_attachment,
           "{'metadata':{'name':'%s'},'spec':{'attacher':'x','nodeName':'%s','source':"
           "{'persistentVolumeName':'%s'}},'status':{'attached':true}}",
           name, node, pv);
}

static void detach(struct drain_world *w, const char *name) {
    dw_remove(w, &kind_volume_attachment, NULL, name);
}

static void claim(struct drain_world *w, const char *name, const char *pv) {
    dw_put(w, &kind_pvc,
           "{'metadata':{'namespace':'default','name':'%s'},'spec':{'volumeName':'%s'}}", name, pv);
}

#define DAEMON(volumes)                                                                            \
    "{'metadata':{" DW_OWNER("apps/v1", "DaemonSet", "agent") "},'spec':{'volumes':[" volumes "]}" \
                                                              "}"

/* A node on which only a pod of a DaemonSet stays, with this volume. */
#define stays_with(w, volumes)                                                                     \
    do {                                                                                           \
        dw_node(w, "w0");                                                                          \
        dw_put(w, &kind_daemon_set, "{'metadata':{'namespace':'default','name':'agent'}}");        \
        dw_pod(w, "agent-x", "w0", DAEMON(volumes));                                               \
    } while (0)

static void a_node_is_not_drained_while_volumes_are_attached(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    static const char *const names[] = {"va-7", "va-2", "va-9", "va-4", "va-1", "va-3", "va-8"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        attach(w, names[i], "w0", names[i]);
    attach(w, "va-0", "w1", "pv-0"); /* somebody else's */
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(3600));
    assert_phase(w, 0, DRAIN_DETACHING);
    const struct drain_node *n = dw_view(w, 0);
    assert_true(n->blocked);
    assert_int_equal(n->blocker.code, BLOCKER_VOLUME_ATTACHED);
    assert_string_equal(n->blocker.kind, "VolumeAttachment");
    assert_string_equal(n->blocker.object, "va-1"); /* the first by name, not by chance */
    assert_string_equal(n->blocker.message, "volume va-1 is still attached");
    assert_int_equal(dw_told(w, "blocked VolumeStillAttached va-1"), 1);
    detach(w, "va-1");
    dw_settle(w);
    assert_string_equal(n->blocker.object, "va-2");
    assert_int_equal(dw_told(w, "unblocked VolumeStillAttached va-1"), 1);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!streq(names[i], "va-1"))
            detach(w, names[i]);
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    assert_false(n->blocked);
}

static void the_drivers_complaint_is_passed_on(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    attach(w, "va", "w0", "pv-1");
    dw_start(w, "w0", NULL);
    dw_edit(w, &kind_volume_attachment, NULL, "va",
            "{'status':{'detachError':{'message':'device is busy'}}}");
    dw_settle(w);
    assert_string_equal(dw_view(w, 0)->blocker.message,
                        "volume pv-1 is still attached: device is busy");
}

static void the_volume_of_a_pod_that_stays_is_not_waited_for(void **state) {
    struct drain_world *w = *state;
    stays_with(w, "{'name':'v','persistentVolumeClaim':{'claimName':'data'}}");
    claim(w, "data", "pv-1");
    attach(w, "va", "w0", "pv-1");
    dw_edit_node(w, "w0", "{'status':{'volumesInUse':['kubernetes.io/csi/x^1']}}");
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_DONE);
    assert_int_equal(dw_told(w, "blocked"), 0); /* not even while the claim was being read */
    assert_int_equal(dw_asked(w, "read persistentvolumeclaims default/data"), 1);
}

static void other_volumes_beside_it_are(void **state) {
    struct drain_world *w = *state;
    stays_with(w, "{'name':'v','persistentVolumeClaim':{'claimName':'data'}}");
    claim(w, "data", "pv-1");
    attach(w, "va-1", "w0", "pv-1");
    attach(w, "va-2", "w0", "pv-2");
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_DETACHING);
    assert_string_equal(dw_view(w, 0)->blocker.object, "va-2");
    detach(w, "va-2");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

/* Generic ephemeral volumes: the claim has the pod's and the volume's name. */
static void the_claim_of_an_ephemeral_volume_is_known_by_its_name(void **state) {
    struct drain_world *w = *state;
    stays_with(w, "{'name':'scratch','ephemeral':{}}");
    claim(w, "agent-x-scratch", "pv-1");
    attach(w, "va", "w0", "pv-1");
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_DONE);
}

/* A volume written into the pod itself has no PersistentVolume: a claim that is not bound has none
 * either, and is not the same. */
static void an_attachment_without_a_volume_name(void **state) {
    struct drain_world *w = *state;
    stays_with(w, "{'name':'v','persistentVolumeClaim':{'claimName':'unbound'}}");
    dw_put(w, &kind_pvc, "{'metadata':{'namespace':'default','name':'unbound'},'spec':{}}");
    dw_put(w, &kind_volume_attachment,
           "{'metadata':{'name':'va'},'spec':{'attacher':'x','nodeName':'w0','source':{}},"
           "'status':{'attached':true}}");
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_DETACHING);
    assert_string_equal(dw_view(w, 0)->blocker.object, "va");
}

static void a_claim_that_may_not_be_read_is_taken_to_be_the_one(void **state) {
    struct drain_world *w = *state;
    stays_with(w, "{'name':'v','persistentVolumeClaim':{'claimName':'data'}}");
    attach(w, "va", "w0", "pv-1");
    w->by_hand_reads = true;
    dw_start(w, "w0", NULL);
    dw_read(w, dw_open(w, ACTION_READ, "agent"));
    dw_settle(w);
    dw_reply(w, ACTION_READ, "data", KUBE_FORBIDDEN, -1);
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

static void a_claim_that_cannot_be_read_at_the_moment_is_waited_for_and_said(void **state) {
    struct drain_world *w = *state;
    stays_with(w, "{'name':'v','persistentVolumeClaim':{'claimName':'data'}}");
    claim(w, "data", "pv-1");
    attach(w, "va", "w0", "pv-1");
    w->by_hand_reads = true;
    dw_start(w, "w0", NULL);
    dw_read(w, dw_open(w, ACTION_READ, "agent"));
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DETACHING);
    assert_false(dw_view(w, 0)->blocked); /* it is being asked for, nothing is wrong */
    dw_reply(w, ACTION_READ, "data", KUBE_SERVER_ERROR, -1);
    dw_settle(w);
    assert_true(dw_view(w, 0)->blocked);
    assert_int_equal(dw_view(w, 0)->blocker.code, BLOCKER_SERVER_TROUBLE);
    assert_string_equal(dw_view(w, 0)->blocker.object, "default/data");
    w->by_hand_reads = false;
    dw_pass(w, SEC(1));
    assert_phase(w, 0, DRAIN_DONE);
}

static void what_the_kubelet_still_uses_is_waited_for(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_edit_node(w, "w0", "{'status':{'volumesInUse':['kubernetes.io/csi/x^1']}}");
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_DETACHING);
    assert_int_equal(dw_view(w, 0)->blocker.code, BLOCKER_VOLUME_ATTACHED);
    assert_string_equal(dw_view(w, 0)->blocker.kind, "Node");
    assert_non_null(strstr(dw_view(w, 0)->blocker.message, "kubernetes.io/csi/x^1"));
    dw_edit_node(w, "w0", "{'status':{'volumesInUse':[]}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

static void attachments_that_cannot_be_listed_are_done_without(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    attach(w, "va", "w0", "pv-1"); /* as old as it may be */
    w->c.attachments_known = false;
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_DONE);
}

static void the_time_limit_for_volumes_goes_on_and_says_so(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    attach(w, "va", "w0", "pv-1");
    w->opts.detach_timeout = SEC(45);
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(44));
    assert_phase(w, 0, DRAIN_DETACHING);
    dw_pass(w, SEC(1));
    assert_phase(w, 0, DRAIN_DONE);
    assert_int_equal(dw_told(w, "remark w0: volumes are still attached"), 1);
}

static void the_timeout_of_the_drain_counts_for_volumes_too(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    attach(w, "va", "w0", "pv-1");
    w->opts.timeout = SEC(60);
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(60));
    assert_phase(w, 0, DRAIN_TIMED_OUT);
    assert_non_null(strstr(dw_view(w, 0)->error, "volume pv-1 is still attached"));
}

/* --- owners --- */

#define SET(replicas, available)                                                                   \
    "{'metadata':{'namespace':'default','name':'web','uid':'rs-web','generation':1},"              \
    "'spec':{'replicas':" #replicas "},'status':{'replicas':" #replicas                            \
    ",'observedGeneration':1,'availableReplicas':" #available "}}"

#define edit_set(w, ...) dw_edit(w, &kind_replica_set, "default", "web", __VA_ARGS__)

/* Its only pod has left. */
static void left(struct drain_world *w) {
    w->opts.wait_rescheduled = true;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    dw_accept(w, ACTION_EVICT, "a");
    dw_settle(w);
    dw_pass(w, SEC(5));
    dw_remove(w, &kind_pod, "default", "a");
    dw_settle(w);
}

static void a_node_is_done_when_the_owners_are_well_again(void **state) {
    struct drain_world *w = *state;
    w->c.owners_watched = true;
    dw_put(w, &kind_replica_set, SET(3, 3));
    left(w);
    /* That all are available is what was so before the pod left. */
    assert_phase(w, 0, DRAIN_RETURNING);
    assert_string_equal(dw_view(w, 0)->blocker.message,
                        "its status is not of after the eviction yet");
    edit_set(w, "{'status':{'availableReplicas':2}}");
    dw_settle(w);
    const struct drain_node *n = dw_view(w, 0);
    assert_true(n->blocked);
    assert_int_equal(n->blocker.code, BLOCKER_NOT_RESCHEDULED);
    assert_string_equal(n->blocker.kind, "ReplicaSet");
    assert_string_equal(n->blocker.object, "default/web");
    assert_string_equal(n->blocker.message, "2 of 3 replicas are available");
    dw_pass(w, SEC(3600)); /* however long it takes */
    assert_phase(w, 0, DRAIN_RETURNING);
    edit_set(w, "{'status':{'availableReplicas':3}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    assert_int_equal(dw_asked(w, "read"), 0);
}

/* What it waits for does not change to and fro. */
static void of_several_that_are_not_well_one_is_told(void **state) {
    struct drain_world *w = *state;
    w->c.owners_watched = true;
    dw_put(w, &kind_replica_set, SET(3, 3));
    dw_put(w, &kind_replica_set,
           "{'metadata':{'namespace':'default','name':'api','uid':'uid-api','generation':1},"
           "'spec':{'replicas':3},'status':{'replicas':3,'observedGeneration':1,"
           "'availableReplicas':3}}");
    w->opts.wait_rescheduled = true;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w0", "{'metadata':{" DW_OWNER("apps/v1", "ReplicaSet", "api") "}}");
    dw_start(w, "w0", NULL);
    dw_accept(w, ACTION_EVICT, "a");
    dw_accept(w, ACTION_EVICT, "b");
    dw_settle(w);
    edit_set(w, "{'status':{'availableReplicas':2}}");
    dw_edit(w, &kind_replica_set, "default", "api", "{'status':{'availableReplicas':1}}");
    dw_remove(w, &kind_pod, "default", "a");
    dw_remove(w, &kind_pod, "default", "b");
    dw_pass(w, SEC(60));
    assert_phase(w, 0, DRAIN_RETURNING);
    assert_string_equal(dw_view(w, 0)->blocker.object, "default/web");
    assert_int_equal(dw_told(w, "unblocked"), 0);
    edit_set(w, "{'status':{'availableReplicas':3}}");
    dw_settle(w);
    assert_string_equal(dw_view(w, 0)->blocker.object, "default/api");
    dw_edit(w, &kind_replica_set, "default", "api", "{'status':{'availableReplicas':3}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

/* It is tied to its node by what its volume says, or by its own words. */
static void a_pod_that_can_only_come_back_here_is_not_waited_for(void **state) {
    (void)state;
    static const struct {
        const char *volume, *pod;
        bool waits;
    } cases[] = {
        {"'local':{'path':'/data'}",
         "{'spec':{'volumes':[{'name':'v','persistentVolumeClaim':{"
         "'claimName':'data'}}]}}",
         false},
        {"'nfs':{'server':'s','path':'/'}",
         "{'spec':{'volumes':[{'name':'v',"
         "'persistentVolumeClaim':{'claimName':'data'}}]}}",
         true},
        {"'local':{'path':'/data'}", "{'spec':{'nodeSelector':{'kubernetes.io/hostname':'w0'}}}",
         false},
        {"'local':{'path':'/data'}", "{}", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        void *one;
        dw_setup(&one);
        struct drain_world *w = one;
        w->c.owners_watched = w->opts.wait_rescheduled = true;
        dw_put(w, &kind_replica_set, SET(2, 2));
        claim(w, "data", "pv");
        dw_put(w, &kind_pv, "{'metadata':{'name':'pv'},'spec':{%s}}", cases[i].volume);
        dw_node(w, "w0");
        dw_pod(w, "a", "w0", "%s", cases[i].pod);
        dw_start(w, "w0", NULL);
        dw_accept(w, ACTION_EVICT, "a");
        dw_settle(w);
        dw_remove(w, &kind_pod, "default", "a");
        edit_set(w, "{'status':{'availableReplicas':1}}");
        dw_pass(w, SEC(30));
        assert_phase(w, 0, cases[i].waits ? DRAIN_RETURNING : DRAIN_DONE);
        dw_teardown(&one);
    }
}

/* The new pod is there before the old one has gone: it has been seen, and nobody waits. */
static void an_owner_that_was_seen_to_recover_is_well_at_once(void **state) {
    struct drain_world *w = *state;
    w->c.owners_watched = true;
    w->opts.wait_rescheduled = true;
    dw_put(w, &kind_replica_set, SET(3, 3));
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    dw_accept(w, ACTION_EVICT, "a");
    dw_settle(w);
    edit_set(w, "{'status':{'availableReplicas':2}}");
    edit_set(w, "{'status':{'availableReplicas':3}}");
    dw_pass(w, SEC(2)); /* it takes its time to stop */
    dw_remove(w, &kind_pod, "default", "a");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

/* The new pod was faster than the old one left: no change comes any more. */
static void a_status_that_does_not_change_is_believed_after_a_while(void **state) {
    struct drain_world *w = *state;
    w->c.owners_watched = true;
    dw_put(w, &kind_replica_set, SET(3, 3));
    left(w);
    dw_pass(w, SEC(10));
    assert_phase(w, 0, DRAIN_RETURNING);
    dw_pass(w, SEC(1));
    assert_phase(w, 0, DRAIN_DONE);
}

static void a_status_that_is_behind_its_spec_is_not_believed(void **state) {
    struct drain_world *w = *state;
    w->c.owners_watched = true;
    dw_put(w, &kind_replica_set, SET(3, 3));
    left(w);
    edit_set(w, "{'metadata':{'generation':2},'spec':{'replicas':3}}");
    dw_pass(w, SEC(60));
    assert_phase(w, 0, DRAIN_RETURNING);
    edit_set(w, "{'status':{'observedGeneration':2}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

static void scaled_down_is_well_too(void **state) {
    struct drain_world *w = *state;
    w->c.owners_watched = true;
    dw_put(w, &kind_replica_set, SET(3, 2));
    left(w);
    edit_set(w, "{'spec':{'replicas':0},'status':{'availableReplicas':0}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

static void owners_that_are_gone_or_others_are_not_waited_for(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct drain_world w;
        dw_init(&w);
        w.c.owners_watched = true;
        if (i) { /* of the same name, made anew */
            dw_put(&w, &kind_replica_set, SET(3, 0));
            dw_edit(&w, &kind_replica_set, "default", "web", "{'metadata':{'uid':'another'}}");
        }
        left(&w);
        assert_phase(&w, 0, DRAIN_DONE);
        dw_done(&w);
    }
}

/* Kinds that do not say how they are, and sets of other groups (OpenKruise has its own). */
static void owners_that_do_not_tell_are_not_waited_for(void **state) {
    struct drain_world *w = *state;
    w->opts.wait_rescheduled = true;
    w->obedient = true;
    dw_node(w, "w0");
    dw_pod(w, "job", "w0", "{'metadata':{" DW_OWNER("batch/v1", "Job", "once") "}}");
    dw_pod(w, "kruise-0", "w0",
           "{'metadata':{" DW_OWNER("apps.kruise.io/v1beta1", "StatefulSet", "k") "}}");
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(30));
    assert_phase(w, 0, DRAIN_DONE);
    assert_int_equal(dw_asked(w, "read"), 0);
}

static void an_owner_that_nobody_watches_is_asked_now_and_then(void **state) {
    struct drain_world *w = *state;
    dw_put(w, &kind_replica_set, SET(3, 2));
    left(w);
    assert_phase(w, 0, DRAIN_RETURNING);
    unsigned before = dw_asked(w, "read replicasets default/web");
    assert_in_range(before, 1, 2);
    dw_pass(w, SEC(30));
    assert_in_range(dw_asked(w, "read replicasets default/web"), before + 25, before + 31);
    edit_set(w, "{'status':{'availableReplicas':3}}");
    dw_pass(w, SEC(2));
    assert_phase(w, 0, DRAIN_DONE);
}

/* Not one after the other: each takes as long as the server does. */
static void owners_are_read_at_the_same_time(void **state) {
    struct drain_world *w = *state;
    w->opts.wait_rescheduled = true;
    w->by_hand_reads = true;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w0", "{'metadata':{" DW_OWNER("apps/v1", "ReplicaSet", "api") "}}");
    dw_start(w, "w0", NULL);
    dw_reply(w, ACTION_READ, "web", KUBE_SERVER_ERROR, -1);
    dw_reply(w, ACTION_READ, "api", KUBE_SERVER_ERROR, -1);
    dw_accept(w, ACTION_EVICT, "a");
    dw_accept(w, ACTION_EVICT, "b");
    dw_settle(w);
    dw_pass(w, SEC(20));
    unsigned web = dw_asked(w, "read replicasets default/web"),
             api = dw_asked(w, "read replicasets default/api");
    dw_remove(w, &kind_pod, "default", "a");
    dw_remove(w, &kind_pod, "default", "b");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_RETURNING);
    assert_int_equal(dw_asked(w, "read replicasets default/web"), web + 1);
    assert_int_equal(dw_asked(w, "read replicasets default/api"), api + 1);
}

static void an_owner_that_may_not_be_read_is_not_waited_for(void **state) {
    struct drain_world *w = *state;
    w->by_hand_reads = true;
    left(w);
    assert_phase(w, 0, DRAIN_RETURNING);
    dw_reply(w, ACTION_READ, "web", KUBE_FORBIDDEN, -1);
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

static void an_owner_that_cannot_be_read_is_said(void **state) {
    struct drain_world *w = *state;
    w->by_hand_reads = true;
    left(w);
    dw_reply(w, ACTION_READ, "web", KUBE_SERVER_ERROR, -1);
    dw_pass(w, SEC(1));
    assert_phase(w, 0, DRAIN_RETURNING);
    assert_true(dw_view(w, 0)->blocked);
    assert_string_equal(dw_view(w, 0)->blocker.object, "default/web");
    assert_non_null(strstr(dw_view(w, 0)->blocker.message, "the server failed"));
}

/* db-0 of a StatefulSet of one, which is well. */
static void stateful_pod(struct drain_world *w) {
    dw_put(w, &kind_stateful_set,
           "{'metadata':{'namespace':'default','name':'db','uid':'uid-db','generation':1},"
           "'spec':{'replicas':1},'status':{'observedGeneration':1,'availableReplicas':1,"
           "'updatedReplicas':1}}");
    dw_pod(w, "db-0", "w0", "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "db") "}}");
}

/* The StatefulSet was read before anything was touched (for its template): that it was well then
 * says nothing, also when the volumes have taken long. */
static void what_was_read_before_the_drain_is_not_believed_after_it(void **state) {
    struct drain_world *w = *state;
    w->opts.wait_rescheduled = true;
    dw_node(w, "w0");
    stateful_pod(w);
    attach(w, "va", "w0", "pv-1");
    dw_start(w, "w0", NULL);
    dw_accept(w, ACTION_EVICT, "db-0");
    dw_settle(w);
    dw_edit_stateful_set(w, "db", "{'status':{'availableReplicas':0}}");
    dw_remove(w, &kind_pod, "default", "db-0");
    dw_pass(w, SEC(120));
    detach(w, "va");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_RETURNING);
    assert_string_equal(dw_view(w, 0)->blocker.message, "0 of 1 replicas are available");
    dw_edit_stateful_set(w, "db", "{'status':{'availableReplicas':1}}");
    dw_pass(w, SEC(2));
    assert_phase(w, 0, DRAIN_DONE);
}

/* Its pods are available while they terminate, too: only those of a revision count, and only what
 * is written after the pod has left. */
static void a_stateful_set_whose_pod_still_terminates(void **state) {
    struct drain_world *w = *state;
    w->opts.wait_rescheduled = true;
    w->c.owners_watched = true;
    dw_node(w, "w0");
    dw_put(w, &kind_stateful_set,
           "{'metadata':{'namespace':'default','name':'db','uid':'uid-db','generation':1},"
           "'spec':{'replicas':3},'status':{'observedGeneration':1,'availableReplicas':3,"
           "'currentReplicas':3,'updatedReplicas':3,'currentRevision':'a','updateRevision':'a'}}");
    dw_pod(w, "db-0", "w0", "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "db") "}}");
    dw_start(w, "w0", NULL);
    dw_accept(w, ACTION_EVICT, "db-0");
    dw_settle(w);
    dw_edit_stateful_set(w, "db", "{'status':{'currentReplicas':2,'updatedReplicas':2}}");
    dw_remove(w, &kind_pod, "default", "db-0");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_RETURNING);
    assert_string_equal(dw_view(w, 0)->blocker.message, "2 of 3 replicas are available");
    dw_edit_stateful_set(w, "db", "{'status':{'availableReplicas':2}}");
    dw_edit_stateful_set(w, "db", "{'status':{'currentReplicas':3,'updatedReplicas':3}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_RETURNING); /* its successor is there, and not available */
    dw_edit_stateful_set(w, "db", "{'status':{'availableReplicas':3}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

/* A status of before the pod was gone says nothing, however well it looks. */
static void a_stateful_set_that_has_not_seen_its_pod_leave(void **state) {
    struct drain_world *w = *state;
    w->opts.wait_rescheduled = true;
    w->c.owners_watched = true;
    dw_node(w, "w0");
    stateful_pod(w);
    dw_start(w, "w0", NULL);
    dw_accept(w, ACTION_EVICT, "db-0");
    dw_settle(w);
    dw_edit_stateful_set(w, "db", "{'metadata':{'labels':{'x':'y'}}}"); /* not its controller */
    dw_remove(w, &kind_pod, "default", "db-0");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_RETURNING);
}

/* Nor while it is being read again, or cannot be. */
static void what_is_being_read_again_is_not_believed(void **state) {
    struct drain_world *w = *state;
    w->opts.wait_rescheduled = true;
    dw_node(w, "w0");
    stateful_pod(w);
    dw_start(w, "w0", NULL);
    dw_accept(w, ACTION_EVICT, "db-0");
    dw_settle(w);
    w->by_hand_reads = true;
    dw_remove(w, &kind_pod, "default", "db-0");
    dw_pass(w, SEC(60));
    assert_phase(w, 0, DRAIN_RETURNING);
    dw_reply(w, ACTION_READ, "db", KUBE_SERVER_ERROR, -1);
    dw_settle(w);
    assert_phase(w, 0, DRAIN_RETURNING);
    w->by_hand_reads = false;
    dw_pass(w, SEC(2));
    assert_phase(w, 0, DRAIN_DONE);
}

/* Three nodes have taken a pod each: whoever was first is done when two are missing, and so on. As
 * many nodes wait as replicas are missing. */
static void replicas_that_others_have_taken_since_are_theirs(void **state) {
    struct drain_world *w = *state;
    static const char *const pods[] = {"a", "b", "c"};
    w->c.owners_watched = true;
    w->opts.wait_rescheduled = true;
    dw_put(w, &kind_replica_set, SET(5, 5));
    for (unsigned i = 0; i < 3; i++) {
        _cleanup_free_ char *name = xasprintf("w%u", i);
        dw_node(w, name);
        dw_pod(w, pods[i], name, "{}");
    }
    dw_start(w, "w0", "w1", "w2", NULL);
    for (unsigned i = 0; i < 3; i++) {
        dw_accept(w, ACTION_EVICT, pods[i]);
        dw_pass(w, SEC(1));
    }
    edit_set(w, "{'status':{'availableReplicas':2}}");
    for (unsigned i = 0; i < 3; i++)
        dw_remove(w, &kind_pod, "default", pods[i]);
    dw_settle(w);
    for (unsigned i = 0; i < 3; i++)
        assert_phase(w, i, DRAIN_RETURNING);
    edit_set(w, "{'status':{'availableReplicas':3}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    assert_phase(w, 1, DRAIN_RETURNING);
    dw_pass(w, SEC(60)); /* what is missing then is waited for, however long */
    assert_phase(w, 1, DRAIN_RETURNING);
    edit_set(w, "{'status':{'availableReplicas':4}}");
    dw_settle(w);
    assert_phase(w, 1, DRAIN_DONE);
    assert_phase(w, 2, DRAIN_RETURNING);
    edit_set(w, "{'status':{'availableReplicas':5}}");
    dw_settle(w);
    assert_phase(w, 2, DRAIN_DONE);
}

/* Nobody watches it. It was read when its pod was first seen: that it has changed since shows that
 * its controller has noticed, and nobody waits for ten seconds. */
static void an_owner_that_was_read_before_is_believed_when_it_has_changed(void **state) {
    struct drain_world *w = *state;
    w->opts.wait_rescheduled = true;
    dw_put(w, &kind_replica_set, SET(3, 3));
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    dw_accept(w, ACTION_EVICT, "a");
    dw_settle(w);
    edit_set(w, "{'status':{'availableReplicas':2}}");
    edit_set(w, "{'status':{'availableReplicas':3}}");
    dw_pass(w, SEC(2)); /* it takes its time to stop */
    dw_remove(w, &kind_pod, "default", "a");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    assert_int_equal(dw_asked(w, "read"), 2);
}

/* The eviction was faster than the read that began before it: what is read then is what it was, and
 * nobody waits until an unchanged status is believed. */
static void an_owner_that_is_read_while_its_pod_leaves(void **state) {
    struct drain_world *w = *state;
    w->opts.wait_rescheduled = true;
    w->by_hand_reads = true;
    dw_put(w, &kind_replica_set, SET(3, 3));
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    dw_accept(w, ACTION_EVICT, "a");
    dw_settle(w);
    dw_read(w, dw_open(w, ACTION_READ, "web"));
    dw_settle(w);
    w->by_hand_reads = false;
    edit_set(w, "{'status':{'availableReplicas':2}}");
    edit_set(w, "{'status':{'availableReplicas':3}}");
    dw_pass(w, SEC(5));
    assert_phase(w, 0, DRAIN_EVICTING);
    dw_remove(w, &kind_pod, "default", "a");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

/* Long after its pod left, what is watched is current. */
static void an_owner_that_is_watched_is_believed_at_once_when_volumes_took_long(void **state) {
    struct drain_world *w = *state;
    w->c.owners_watched = true;
    dw_put(w, &kind_replica_set, SET(3, 3));
    attach(w, "va", "w0", "pv-1");
    left(w);
    assert_phase(w, 0, DRAIN_DETACHING);
    dw_pass(w, SEC(60));
    detach(w, "va");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

/* Its pods went at once: what has changed in its status may be of the first of them. */
static void an_owner_that_may_not_have_heard_of_the_last_pod(void **state) {
    struct drain_world *w = *state;
    w->c.owners_watched = true;
    w->opts.wait_rescheduled = true;
    dw_put(w, &kind_replica_set, SET(3, 3));
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w0", "{}");
    dw_start(w, "w0", NULL);
    dw_accept(w, ACTION_EVICT, "a");
    dw_accept(w, ACTION_EVICT, "b");
    dw_settle(w);
    edit_set(w, "{'status':{'availableReplicas':2}}");
    edit_set(w, "{'status':{'availableReplicas':3}}"); /* b was not missed yet */
    dw_remove(w, &kind_pod, "default", "a");
    dw_remove(w, &kind_pod, "default", "b");
    dw_pass(w, MSEC(500));
    assert_phase(w, 0, DRAIN_RETURNING);
    edit_set(w, "{'status':{'availableReplicas':2}}");
    dw_pass(w, MSEC(1000));
    assert_phase(w, 0, DRAIN_RETURNING);
    edit_set(w, "{'status':{'availableReplicas':3}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

/* The answer was lost, the eviction was not. */
static void an_owner_whose_eviction_was_answered_by_nobody(void **state) {
    struct drain_world *w = *state;
    w->opts.wait_rescheduled = true;
    w->c.owners_watched = true;
    dw_node(w, "w0");
    dw_put(w, &kind_replica_set, SET(3, 2));
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    dw_reply(w, ACTION_EVICT, "a", KUBE_UNKNOWN, -1);
    dw_edit_pod(w, "a", "{'metadata':{'deletionTimestamp':'2026-11-15T08:00:30Z'}}");
    dw_settle(w);
    dw_remove(w, &kind_pod, "default", "a");
    dw_settle(w);
    dw_pass(w, SEC(2));
    assert_phase(w, 0, DRAIN_RETURNING);
    edit_set(w, "{'status':{'availableReplicas':3}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

/* It was well, and then another of its pods had to go. */
static void an_owner_that_was_well_is_looked_at_again(void **state) {
    struct drain_world *w = *state;
    w->c.owners_watched = true;
    dw_put(w, &kind_replica_set, SET(3, 3));
    dw_put(w, &kind_replica_set,
           "{'metadata':{'namespace':'default','name':'zzz','uid':'uid-zzz','generation':1},"
           "'spec':{'replicas':1},'status':{'observedGeneration':1,'availableReplicas':0}}");
    w->opts.wait_rescheduled = true;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "z", "w0", "{'metadata':{" DW_OWNER("apps/v1", "ReplicaSet", "zzz") "}}");
    w->obedient = true;
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(4)); /* web is well, zzz is not */
    edit_set(w, "{'status':{'replicas':3,'readyReplicas':3}}");
    dw_settle(w);
    dw_pod(w, "b", "w0", "{}"); /* late, and evicted */
    dw_settle(w);
    assert_int_equal(dw_asked(w, "evict default/b"), 1);
    dw_edit(w, &kind_replica_set, "default", "zzz", "{'status':{'availableReplicas':1}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_RETURNING); /* what is known of web is from before b left */
    edit_set(w, "{'status':{'availableReplicas':2}}");
    dw_pass(w, SEC(60));
    assert_phase(w, 0, DRAIN_RETURNING);
    edit_set(w, "{'status':{'availableReplicas':3}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

/* Not waited for itself, but its owner is. */
static void the_owner_of_a_pod_that_was_skipped(void **state) {
    struct drain_world *w = *state;
    w->opts.wait_rescheduled = true;
    w->opts.skip_wait = 5;
    w->c.owners_watched = true;
    dw_node(w, "w0");
    dw_put(w, &kind_replica_set, SET(3, 3));
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    dw_accept(w, ACTION_EVICT, "a");
    dw_pass(w, SEC(36));
    assert_true(dw_pod_view(w, "a")->skipped_wait);
    assert_phase(w, 0, DRAIN_RETURNING); /* what is known is from before */
    edit_set(w, "{'status':{'availableReplicas':2}}");
    dw_pass(w, SEC(60));
    assert_phase(w, 0, DRAIN_RETURNING);
    edit_set(w, "{'status':{'availableReplicas':3}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

static void without_the_flag_nobody_waits_for_owners(void **state) {
    struct drain_world *w = *state;
    w->c.owners_watched = true;
    w->obedient = true;
    dw_put(w, &kind_replica_set, SET(3, 0));
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_DONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DRAIN_TEST(a_node_is_not_drained_while_volumes_are_attached),
        DRAIN_TEST(the_drivers_complaint_is_passed_on),
        DRAIN_TEST(the_volume_of_a_pod_that_stays_is_not_waited_for),
        DRAIN_TEST(other_volumes_beside_it_are),
        DRAIN_TEST(the_claim_of_an_ephemeral_volume_is_known_by_its_name),
        DRAIN_TEST(an_attachment_without_a_volume_name),
        DRAIN_TEST(a_claim_that_may_not_be_read_is_taken_to_be_the_one),
        DRAIN_TEST(a_claim_that_cannot_be_read_at_the_moment_is_waited_for_and_said),
        DRAIN_TEST(what_the_kubelet_still_uses_is_waited_for),
        DRAIN_TEST(attachments_that_cannot_be_listed_are_done_without),
        DRAIN_TEST(the_time_limit_for_volumes_goes_on_and_says_so),
        DRAIN_TEST(the_timeout_of_the_drain_counts_for_volumes_too),
        DRAIN_TEST(a_node_is_done_when_the_owners_are_well_again),
        DRAIN_TEST(of_several_that_are_not_well_one_is_told),
        cmocka_unit_test(a_pod_that_can_only_come_back_here_is_not_waited_for),
        DRAIN_TEST(an_owner_that_was_seen_to_recover_is_well_at_once),
        DRAIN_TEST(a_status_that_does_not_change_is_believed_after_a_while),
        DRAIN_TEST(a_status_that_is_behind_its_spec_is_not_believed),
        DRAIN_TEST(scaled_down_is_well_too),
        cmocka_unit_test(owners_that_are_gone_or_others_are_not_waited_for),
        DRAIN_TEST(owners_that_do_not_tell_are_not_waited_for),
        DRAIN_TEST(an_owner_that_nobody_watches_is_asked_now_and_then),
        DRAIN_TEST(owners_are_read_at_the_same_time),
        DRAIN_TEST(an_owner_that_may_not_be_read_is_not_waited_for),
        DRAIN_TEST(an_owner_that_cannot_be_read_is_said),
        DRAIN_TEST(what_was_read_before_the_drain_is_not_believed_after_it),
        DRAIN_TEST(a_stateful_set_whose_pod_still_terminates),
        DRAIN_TEST(a_stateful_set_that_has_not_seen_its_pod_leave),
        DRAIN_TEST(what_is_being_read_again_is_not_believed),
        DRAIN_TEST(an_owner_that_is_read_while_its_pod_leaves),
        DRAIN_TEST(an_owner_that_is_watched_is_believed_at_once_when_volumes_took_long),
        DRAIN_TEST(replicas_that_others_have_taken_since_are_theirs),
        DRAIN_TEST(an_owner_that_was_read_before_is_believed_when_it_has_changed),
        DRAIN_TEST(an_owner_that_may_not_have_heard_of_the_last_pod),
        DRAIN_TEST(an_owner_whose_eviction_was_answered_by_nobody),
        DRAIN_TEST(an_owner_that_was_well_is_looked_at_again),
        DRAIN_TEST(the_owner_of_a_pod_that_was_skipped),
        DRAIN_TEST(without_the_flag_nobody_waits_for_owners),
    };
    return cmocka_run_group_tests_name("engine/drain_after", tests, NULL, NULL);
}
