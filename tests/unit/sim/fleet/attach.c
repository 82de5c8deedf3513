/* Volumes go where their pods are: attached, moved, stuck. Order, events and times are those of
 * pkg/controller/volume/attachdetach with kube-controller-manager's defaults. */
#include "storage_cluster.h"

static struct record *node_record(const struct cluster *c, const char *name) {
    return shelf_get(c->f->nodes->shelf, NULL, name);
}

static void cordon(struct cluster *c, const char *node, bool on) {
    json_t *obj = record_json(node_record(c, node));
    json_object_set_new(json_object_get(obj, "spec"), "unschedulable", json_boolean(on));
    assert_true(fleet_update(c->f, c->f->nodes, NULL, obj, NULL));
}

static void annotate_volume(struct cluster *c, const char *volume, const char *key,
                            const char *value) {
    assert_true(fleet_set_meta(c->f, c->f->pvs, shelf_get(c->f->pvs->shelf, NULL, volume),
                               "annotations", key, value));
}

static void taint(struct cluster *c, const char *node, const char *key, const char *effect) {
    json_t *obj = record_json(node_record(c, node));
    json_t *spec = json_object_get(obj, "spec"), *list = json_object_get(spec, "taints");
    if (!list) {
        list = json_array();
        json_object_set_new(spec, "taints", list);
    }
    json_array_append_new(list, json_pack("{s:s, s:s}", "key", key, "effect", effect));
    assert_true(fleet_update(c->f, c->f->nodes, NULL, obj, NULL));
}

static const char *other_of(const char *node) {
    return streq(node, "w1") ? "w2" : "w1";
}

/* A pod "p" with a disk, ready; returns the names of its volume and its node. */
struct placed {
    char *volume, *node;
};
static void placed_done(struct placed *p) {
    free(p->volume);
    free(p->node);
}
#define _cleanup_placed_ __attribute__((cleanup(placed_done)))

static struct placed place(struct cluster *c, const char *mode) {
    make_nodes(c, 2);
    make_class(c, "fast", "WaitForFirstConsumer", "");
    make(c, c->f->pvcs, "default",
         "{'metadata': {'name': 'a', 'namespace': 'default'}, 'spec': {'accessModes': ['%s'], "
         "'storageClassName': 'fast', 'resources': {'requests': {'storage': '1Gi'}}}}",
         mode);
    make_pod(c, "p", "a", NULL, "");
    assert_true(WITHIN(c, SEC(40), is_ready(c, "p")));
    return (struct placed){xstrdup(claim_of(c, "a")->volume_name),
                           xstrdup(pod_of(c, "p")->node_name)};
}

static void test_attaches(void **state) {
    struct cluster *c = *state;
    _cleanup_placed_ struct placed p = place(c, "ReadWriteOnce");
    const struct volume_attachment *a = attachment_of(c, p.volume, p.node);
    assert_non_null(a);
    assert_string_equal(a->attacher, DISK_DRIVER);
    assert_string_equal(a->node_name, p.node);
    assert_string_equal(a->pv, p.volume);
    assert_true(a->attached);
    assert_null(attachment_of(c, p.volume, other_of(p.node)));
    assert_true(is_in_use(c, p.volume, p.node) && is_reported(c, p.volume, p.node));
    _cleanup_free_ char *said =
        xasprintf("AttachVolume.Attach succeeded for volume \"%s\" ", p.volume);
    assert_string_equal(event_about(c, "p", "SuccessfulAttachVolume"), said);
    /* As kubelet and controller write them. */
    const struct pv *pv = volume_of(c, p.volume);
    _cleanup_free_ char *name = xasprintf("kubernetes.io/csi/" DISK_DRIVER "^%s", pv->csi->handle);
    const struct node *node = node_of(c, p.node);
    assert_int_equal(list_len(node->volumes_in_use), 1);
    assert_string_equal(node->volumes_in_use[0], name);
    assert_int_equal(list_len(node->volumes_attached), 1);
    assert_string_equal(node->volumes_attached[0].name, name);
    assert_null(node->volumes_attached[0].device);
    /* Nothing moves that need not. */
    uint64_t version = shelf_get(c->f->attachments->shelf, NULL, a->meta.name)->version;
    cluster_run(c, SEC(3600));
    assert_int_equal(shelf_get(c->f->attachments->shelf, NULL, a->meta.name)->version, version);
}

/* Each step waits for the one before it. */
static void test_moves(void **state) {
    struct cluster *c = *state;
    _cleanup_placed_ struct placed p = place(c, "ReadWriteOnce");
    const char *to = other_of(p.node);
    cordon(c, p.node, true);
    delete_now(c, c->f->pods, "default", "p", ABSENT64);
    assert_true(STAYS(c, MSEC(150), is_attached(c, p.volume, p.node)));
    assert_true(WITHIN(c, SEC(10), !pod_of(c, "p")));
    make_pod(c, "q", "a", NULL, "");
    assert_true(WITHIN(c, SEC(5), pod_of(c, "q")->node_name));
    assert_string_equal(pod_of(c, "q")->node_name, to);
    /* While the old node's kubelet says that it uses the volume, it stays there. */
    assert_true(is_in_use(c, p.volume, p.node));
    assert_true(WITHIN(c, SEC(11), !is_in_use(c, p.volume, p.node)));
    assert_true(is_attached(c, p.volume, p.node) && is_reported(c, p.volume, p.node));
    _cleanup_free_ char *said =
        xasprintf("Multi-Attach error for volume \"%s\" Volume is already exclusively attached to "
                  "one node and can't be attached to another",
                  p.volume);
    assert_string_equal(event_about(c, "q", "FailedAttachVolume"), said);
    assert_null(attachment_of(c, p.volume, to));
    /* Not reported before it is detached. */
    assert_true(WITHIN(c, SEC(1), attachment_of(c, p.volume, p.node)->meta.deleted));
    assert_false(is_reported(c, p.volume, p.node));
    assert_null(attachment_of(c, p.volume, to));
    assert_true(WITHIN(c, SEC(4), !attachment_of(c, p.volume, p.node)));
    assert_null(attachment_of(c, p.volume, to));
    assert_true(WITHIN(c, SEC(1), attachment_of(c, p.volume, to)));
    assert_false(is_attached(c, p.volume, to));
    assert_true(WITHIN(c, SEC(4), is_attached(c, p.volume, to)));
    assert_true(WITHIN(c, SEC(20), is_ready(c, "q")));
    assert_true(is_reported(c, p.volume, to) && is_in_use(c, p.volume, to));
}

static void test_stateful_set(void **state) {
    struct cluster *c = *state;
    make_nodes(c, 4);
    make_class(c, "fast", "WaitForFirstConsumer", "");
    make_set(c, "db", 3, "fast");
    assert_true(
        WITHIN(c, SEC(180), is_ready(c, "db-0") && is_ready(c, "db-1") && is_ready(c, "db-2")));
    assert_int_equal(shelf_len(c->f->attachments->shelf), 3);
    assert_int_equal(shelf_len(c->f->pvs->shelf), 3);
    _cleanup_free_ char *volume = xstrdup(claim_of(c, "data-db-1")->volume_name);
    _cleanup_free_ char *from = xstrdup(pod_of(c, "db-1")->node_name);
    _cleanup_free_ char *uid = xstrdup(pod_of(c, "db-1")->meta.uid);
    assert_true(is_attached(c, volume, from));
    cordon(c, from, true);
    delete_now(c, c->f->pods, "default", "db-1", ABSENT64);
    assert_true(
        WITHIN(c, SEC(120), is_ready(c, "db-1") && !str_same(pod_of(c, "db-1")->meta.uid, uid)));
    /* The same data, elsewhere. */
    assert_string_equal(claim_of(c, "data-db-1")->volume_name, volume);
    assert_string_not_equal(pod_of(c, "db-1")->node_name, from);
    assert_true(is_attached(c, volume, pod_of(c, "db-1")->node_name));
    assert_null(attachment_of(c, volume, from));
    assert_int_equal(shelf_len(c->f->attachments->shelf), 3);
}

/* Two pods that want one disk on two nodes: the second waits for as long as the first is there. */
static void test_two_nodes(void **state) {
    struct cluster *c = *state;
    _cleanup_placed_ struct placed p = place(c, "ReadWriteOnce");
    const char *to = other_of(p.node);
    make_pod(c, "q", "a", to, "");
    assert_true(STAYS(c, SEC(600), !is_ready(c, "q") && !attachment_of(c, p.volume, to)));
    _cleanup_free_ char *said = xasprintf(
        "Multi-Attach error for volume \"%s\" Volume is already used by pod(s) p", p.volume);
    assert_string_equal(event_about(c, "q", "FailedAttachVolume"), said);
    assert_int_equal(event_count(c, "q", "FailedAttachVolume"), 1);
    assert_true(is_ready(c, "p"));
    delete_now(c, c->f->pods, "default", "p", ABSENT64);
    assert_true(WITHIN(c, SEC(60), is_ready(c, "q")));
}

/* Who comes while the volume is already on its way is not told anything: it will come. */
static void test_on_its_way(void **state) {
    struct cluster *c = *state;
    _cleanup_placed_ struct placed p = place(c, "ReadWriteOnce");
    annotate_volume(c, p.volume, "sim.slipway.dev/detach", "10s");
    delete_now(c, c->f->pods, "default", "p", ABSENT64);
    assert_true(WITHIN(c, SEC(20), attachment_of(c, p.volume, p.node)->meta.deleted));
    make_pod(c, "q", "a", other_of(p.node), "");
    assert_true(
        STAYS(c, SEC(9),
              attachment_of(c, p.volume, p.node) && !attachment_of(c, p.volume, other_of(p.node))));
    assert_true(WITHIN(c, SEC(30), is_ready(c, "q")));
    assert_null(event_about(c, "q", "FailedAttachVolume"));
}

static void test_shared(void **state) {
    struct cluster *c = *state;
    _cleanup_placed_ struct placed p = place(c, "ReadWriteMany");
    make_pod(c, "q", "a", other_of(p.node), "");
    assert_true(WITHIN(c, SEC(40), is_ready(c, "q")));
    assert_true(is_attached(c, p.volume, "w1") && is_attached(c, p.volume, "w2"));
    assert_null(event_about(c, "q", "FailedAttachVolume"));
    /* Another pod on a node that has it keeps it there. */
    make_pod(c, "r", "a", p.node, "");
    assert_true(WITHIN(c, SEC(40), is_ready(c, "r")));
    delete_now(c, c->f->pods, "default", "p", ABSENT64);
    assert_true(STAYS(c, SEC(60), is_attached(c, p.volume, p.node)));
    delete_now(c, c->f->pods, "default", "r", ABSENT64);
    assert_true(WITHIN(c, SEC(30), !attachment_of(c, p.volume, p.node)));
    assert_true(is_attached(c, p.volume, other_of(p.node)) && is_ready(c, "q"));
}

/* A pod that has ended needs its disk no longer, though it is still there. */
static void test_ended(void **state) {
    struct cluster *c = *state;
    make_nodes(c, 1);
    make_class(c, "fast", "Immediate", "");
    make_claim(c, "a", "fast", "");
    make(c, c->f->pods, "default",
         "{'metadata': {'name': 'job', 'namespace': 'default', 'annotations': "
         "{'sim.slipway.dev/run': '5s'}}, 'spec': {'restartPolicy': 'Never', 'containers': "
         "[{'name': 'c', 'image': 'i'}], 'volumes': [{'name': 'd', 'persistentVolumeClaim': "
         "{'claimName': 'a'}}]}}");
    assert_true(WITHIN(c, SEC(60), str_same(pod_of(c, "job")->phase, "Succeeded")));
    const char *volume = claim_of(c, "a")->volume_name;
    assert_true(is_attached(c, volume, "w1"));
    assert_true(WITHIN(c, SEC(20), !attachment_of(c, volume, "w1")));
    assert_false(is_reported(c, volume, "w1") || is_in_use(c, volume, "w1"));
    assert_non_null(pod_of(c, "job"));
}

/* The kubelet of a node without power unmounts nothing: after six minutes the volume is taken. */
static void test_node_down(void **state) {
    struct cluster *c = *state;
    _cleanup_placed_ struct placed p = place(c, "ReadWriteOnce");
    machine_off(machine_find(c->f, p.node));
    cordon(c, p.node, true);
    assert_true(WITHIN(c, SEC(90), !node_is_ready(node_of(c, p.node))));
    delete_now(c, c->f->pods, "default", "p", 0);
    make_pod(c, "q", "a", NULL, "");
    int64_t begin = c->clock->now;
    assert_true(STAYS(c, SEC(359), is_attached(c, p.volume, p.node) && !is_ready(c, "q")));
    assert_true(is_in_use(c, p.volume, p.node));
    assert_true(WITHIN(c, SEC(30), is_ready(c, "q")));
    assert_in_range(c->clock->now - begin, SEC(360), SEC(385));
    assert_string_equal(pod_of(c, "q")->node_name, other_of(p.node));
    /* The dead node's status says what it said last. */
    assert_true(is_in_use(c, p.volume, p.node));
    assert_false(is_reported(c, p.volume, p.node));
    /* When it is back, it says what is so. */
    machine_on(machine_find(c->f, p.node));
    assert_true(WITHIN(c, SEC(20), !is_in_use(c, p.volume, p.node)));
}

static void test_out_of_service(void **state) {
    struct cluster *c = *state;
    _cleanup_placed_ struct placed p = place(c, "ReadWriteOnce");
    machine_off(machine_find(c->f, p.node));
    cordon(c, p.node, true);
    assert_true(WITHIN(c, SEC(90), !node_is_ready(node_of(c, p.node))));
    delete_now(c, c->f->pods, "default", "p", 0);
    make_pod(c, "q", "a", NULL, "");
    assert_true(STAYS(c, SEC(60), is_attached(c, p.volume, p.node)));
    taint(c, p.node, "node.kubernetes.io/out-of-service", "NoExecute");
    assert_true(WITHIN(c, SEC(4), !attachment_of(c, p.volume, p.node)));
    assert_true(WITHIN(c, SEC(30), is_ready(c, "q")));
}

/* A node that is well but still has it mounted is never hurried: here a kubelet that hangs for less
 * than the node controller's patience. */
static void test_mounted(void **state) {
    struct cluster *c = *state;
    _cleanup_placed_ struct placed p = place(c, "ReadWriteOnce");
    machine_hang(machine_find(c->f, p.node));
    delete_now(c, c->f->pods, "default", "p", 0);
    assert_true(STAYS(c, SEC(30), is_attached(c, p.volume, p.node)));
    assert_true(node_is_ready(node_of(c, p.node)));
    machine_on(machine_find(c->f, p.node));
    assert_true(WITHIN(c, SEC(25), !attachment_of(c, p.volume, p.node)));
}

/* The kubelet's part, by hand: a Node that is heard of, and has these volumes mounted. */
static void beat(struct cluster *c, const char *node, const char *disk) {
    char now[TIMEFMT_LEN];
    time_format(c->clock->now, false, now);
    _cleanup_json_ json_t *obj = record_json(node_record(c, node));
    json_t *status = json_deep_copy(json_object_get(obj, "status"));
    json_object_set_new(status, "conditions",
                        json_pack("[{s:s, s:s, s:s, s:s}]", "type", "Ready", "status", "True",
                                  "lastHeartbeatTime", now, "lastTransitionTime", now));
    json_object_set_new(status, "volumesInUse", disk ? json_pack("[s]", disk) : json_array());
    fleet_put_status(c->f, c->f->nodes, node_record(c, node), status);
}

/* However long it takes, as long as the node is well. */
static void test_mounted_for_long(void **state) {
    struct cluster *c = *state;
    make(c, c->f->nodes, NULL, "{'metadata': {'name': 'by-hand'}}");
    make_class(c, "fast", "Immediate", "");
    make_claim(c, "a", "fast", "");
    make_pod(c, "p", "a", "by-hand", "");
    beat(c, "by-hand", NULL);
    assert_true(WITHIN(c, SEC(10), claim_is(c, "a", "Bound")));
    _cleanup_free_ char *volume = xstrdup(claim_of(c, "a")->volume_name);
    _cleanup_free_ char *disk = disk_name(volume_of(c, volume));
    assert_true(WITHIN(c, SEC(5), is_attached(c, volume, "by-hand")));
    beat(c, "by-hand", disk);
    delete_now(c, c->f->pods, "default", "p", 0);
    for (int i = 0; i < 40; i++) { /* thirteen minutes */
        assert_true(STAYS(c, SEC(20), is_attached(c, volume, "by-hand")));
        beat(c, "by-hand", disk);
    }
    assert_true(node_is_ready(node_of(c, "by-hand")));
    beat(c, "by-hand", NULL);
    assert_true(WITHIN(c, SEC(4), !attachment_of(c, volume, "by-hand")));
}

/* A node that is deleted with what it had mounted: nobody says that it is unmounted. */
static void test_node_deleted(void **state) {
    struct cluster *c = *state;
    _cleanup_placed_ struct placed p = place(c, "ReadWriteOnce");
    delete_now(c, c->f->nodes, NULL, p.node, ABSENT64);
    delete_now(c, c->f->pods, "default", "p", 0);
    make_pod(c, "q", "a", NULL, "");
    assert_true(STAYS(c, SEC(355), is_attached(c, p.volume, p.node)));
    assert_true(WITHIN(c, SEC(60), is_ready(c, "q")));
    assert_null(attachment_of(c, p.volume, p.node));
}

static void test_stuck_detach(void **state) {
    struct cluster *c = *state;
    _cleanup_placed_ struct placed p = place(c, "ReadWriteOnce");
    const char *to = other_of(p.node);
    annotate_volume(c, p.volume, "sim.slipway.dev/detach", "never");
    cordon(c, p.node, true);
    delete_now(c, c->f->pods, "default", "p", ABSENT64);
    assert_true(WITHIN(c, SEC(10), !pod_of(c, "p")));
    make_pod(c, "q", "a", NULL, "");
    assert_true(WITHIN(c, SEC(15), attachment_of(c, p.volume, p.node)->meta.deleted));
    /* It is on its way out for ever, and says why. */
    assert_true(STAYS(c, SEC(1800), attachment_of(c, p.volume, p.node) && !is_ready(c, "q")));
    const struct volume_attachment *a = attachment_of(c, p.volume, p.node);
    assert_true(a->attached && a->meta.deleted);
    assert_string_equal(a->detach_error->message,
                        "rpc error: code = DeadlineExceeded desc = context deadline exceeded");
    assert_false(is_reported(c, p.volume, p.node));
    /* The controller tries the other node when it no longer knows; the driver knows. */
    assert_false(is_attached(c, p.volume, to));
    _cleanup_free_ char *refused = xasprintf(
        "AttachVolume.Attach failed for volume \"%s\" : rpc error: code = FailedPrecondition desc "
        "= disk %s is attached to node %s",
        p.volume, volume_of(c, p.volume)->csi->handle, p.node);
    assert_true(event_says(c, "q", "FailedAttachVolume", refused));
    /* Somebody mends it. */
    annotate_volume(c, p.volume, "sim.slipway.dev/detach", NULL);
    assert_true(WITHIN(c, SEC(5), !attachment_of(c, p.volume, p.node)));
    assert_true(WITHIN(c, SEC(600), is_ready(c, "q")));
    assert_true(is_attached(c, p.volume, to));
}

static void test_stuck_attach(void **state) {
    struct cluster *c = *state;
    make_nodes(c, 2);
    make(c, c->f->storage_classes, NULL,
         "{'metadata': {'name': 'slow', 'annotations': {'sim.slipway.dev/attach': 'never'}}, "
         "'provisioner': '" DISK_DRIVER "'}");
    make_claim(c, "a", "slow", "");
    make_pod(c, "p", "a", "w1", "");
    assert_true(STAYS(c, SEC(600), !is_ready(c, "p")));
    const char *volume = claim_of(c, "a")->volume_name;
    _cleanup_free_ char *said =
        xasprintf("AttachVolume.Attach failed for volume \"%s\" : rpc error: code = "
                  "DeadlineExceeded desc = context deadline exceeded",
                  volume);
    assert_string_equal(event_about(c, "p", "FailedAttachVolume"), said);
    assert_false(is_reported(c, volume, "w1"));
    /* The pod gives up; what may have been attached is detached. */
    delete_now(c, c->f->pods, "default", "p", 0);
    assert_true(WITHIN(c, SEC(200), !attachment_of(c, volume, "w1")));
}

/* An attachment that is gone before the driver has seen it: after two minutes a new one is made. */
static void test_timeout(void **state) {
    struct cluster *c = *state;
    make_nodes(c, 1);
    make_class(c, "fast", "Immediate", "");
    make_claim(c, "a", "fast", "");
    assert_true(WITHIN(c, SEC(10), claim_is(c, "a", "Bound")));
    _cleanup_free_ char *volume = xstrdup(claim_of(c, "a")->volume_name);
    make_pod(c, "p", "a", "w1", "");
    assert_true(WITHIN(c, SEC(1), attachment_of(c, volume, "w1")));
    _cleanup_free_ char *name = xstrdup(attachment_of(c, volume, "w1")->meta.name);
    delete_now(c, c->f->attachments, NULL, name, ABSENT64);
    assert_null(attachment_of(c, volume, "w1"));
    assert_true(STAYS(c, SEC(119), !attachment_of(c, volume, "w1")));
    assert_true(WITHIN(c, SEC(10), is_ready(c, "p")));
    _cleanup_free_ char *said =
        xasprintf("AttachVolume.Attach failed for volume \"%s\" : timed out waiting for "
                  "external-attacher of disk.sim.slipway.dev CSI driver to attach volume %s",
                  volume, volume_of(c, volume)->csi->handle);
    assert_string_equal(event_about(c, "p", "FailedAttachVolume"), said);
}

/* Somebody deletes the attachment of a pod that runs: it is made again. */
static void test_taken_away(void **state) {
    struct cluster *c = *state;
    _cleanup_placed_ struct placed p = place(c, "ReadWriteOnce");
    const struct volume_attachment *a = attachment_of(c, p.volume, p.node);
    _cleanup_free_ char *uid = xstrdup(a->meta.uid), *name = xstrdup(a->meta.name);
    delete_now(c, c->f->attachments, NULL, name, ABSENT64);
    assert_true(WITHIN(c, SEC(5), !attachment_of(c, p.volume, p.node)));
    assert_true(WITHIN(c, SEC(10), is_attached(c, p.volume, p.node)));
    assert_string_not_equal(attachment_of(c, p.volume, p.node)->meta.uid, uid);
    assert_true(WITHIN(c, SEC(1), is_reported(c, p.volume, p.node)));
}

/* An attachment that was there before: nobody wants it, so it goes. */
static void test_left_over(void **state) {
    struct cluster *c = *state;
    make_nodes(c, 1);
    make_class(c, "fast", "Immediate", "");
    make_claim(c, "a", "fast", "");
    assert_true(WITHIN(c, SEC(10), claim_is(c, "a", "Bound")));
    const char *volume = claim_of(c, "a")->volume_name;
    char name[ATTACHMENT_NAME_SIZE];
    attachment_name(volume_of(c, volume), "w1", name);
    make(c, c->f->attachments, NULL,
         "{'metadata': {'name': '%s'}, 'spec': {'attacher': '" DISK_DRIVER
         "', 'nodeName': 'w1', 'source': {'persistentVolumeName': '%s'}}}",
         name, volume);
    make(c, c->f->attachments, NULL,
         "{'metadata': {'name': 'by-hand'}, 'spec': {'attacher': '" DISK_DRIVER
         "', 'nodeName': 'w1', 'source': {'persistentVolumeName': '%s'}}}",
         volume);
    assert_true(WITHIN(c, SEC(420), !attachment_of(c, volume, "w1")));
    /* One of another name is none of the controller's. */
    assert_non_null(shelf_get(c->f->attachments->shelf, NULL, "by-hand"));
}

/* Volumes of other drivers are not touched. */
static void test_foreign(void **state) {
    struct cluster *c = *state;
    make_nodes(c, 1);
    make(c, c->f->pvs, NULL,
         "{'metadata': {'name': 'v'}, 'spec': {'capacity': {'storage': '1Gi'}, 'accessModes': "
         "['ReadWriteOnce'], 'csi': {'driver': 'other.example.com', 'volumeHandle': 'h'}}}");
    make_claim(c, "a", "", "");
    make_pod(c, "p", "a", NULL, "");
    assert_true(WITHIN(c, SEC(40), is_ready(c, "p")));
    assert_int_equal(shelf_len(c->f->attachments->shelf), 0);
    assert_int_equal(list_len(node_of(c, "w1")->volumes_in_use), 0);
}

static void write_down(void *arg, const struct kind *kind, const struct change *change) {
    struct str *log = arg;
    str_addf(log, "%lld %d %s %.*s\n", (long long)change->time, (int)change->type, kind->name,
             (int)change->after->len, change->after->json);
}

/* A day in the life of a set with disks, written down. */
static void live(uint64_t seed, struct str *log) {
    struct sim *sim = sim_new(&(struct sim_options){.seed = seed, .start = START, .speed = 1});
    struct cluster c = {sim, sim_fleet(sim), &sim_world(sim)->clock};
    sim_world(sim)->log = write_down;
    sim_world(sim)->log_arg = log;
    cluster_run(&c, SEC(1));
    make_nodes(&c, 3);
    make_class(&c, "fast", "WaitForFirstConsumer", "");
    make_set(&c, "db", 3, "fast");
    cluster_run(&c, SEC(120));
    machine_reboot(machine_find(c.f, "w2"));
    delete_now(&c, c.f->pods, "default", "db-1", ABSENT64);
    cluster_run(&c, SEC(600));
    machine_off(machine_find(c.f, "w1"));
    cluster_run(&c, SEC(1200));
    sim_free(sim);
}

/* The same seed, the same run, to the byte; another seed, another one. */
static void test_repeats(void **state) {
    (void)state;
    _cleanup_str_ struct str a = STR_INIT, b = STR_INIT, other = STR_INIT;
    live(11, &a);
    live(11, &b);
    live(12, &other);
    assert_true(a.len > 100000);
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.p, b.p, a.len);
    assert_false(view_eq((struct view){a.p, a.len}, (struct view){other.p, other.len}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_attaches, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_moves, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_stateful_set, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_two_nodes, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_on_its_way, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_shared, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_ended, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_node_down, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_out_of_service, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_mounted, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_mounted_for_long, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_node_deleted, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_stuck_detach, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_stuck_attach, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_timeout, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_taken_away, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_left_over, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_foreign, cluster_setup, cluster_teardown),
        cmocka_unit_test(test_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
