/* What the driver does about VolumeAttachments, whoever made them. By kubernetes-csi's
 * external-attacher. */
#include "storage_cluster.h"

#define FINALIZER "external-attacher/disk-sim-slipway-dev"

/* A bound volume of the driver, "v". `modes`: one access mode. */
static void make_disk(struct cluster *c, const char *mode, const char *annotations) {
    make(c, c->f->pvs, NULL,
         "{'metadata': {'name': 'v', 'annotations': {%s}}, 'spec': {'capacity': {'storage': "
         "'1Gi'}, 'accessModes': ['%s'], 'csi': {'driver': '" DISK_DRIVER
         "', 'volumeHandle': 'h-1'}}}",
         annotations, mode);
    cluster_run(c, SEC(1));
}

/* An attachment that is not the controller's. */
static void make_attachment(struct cluster *c, const char *name, const char *node,
                            const char *volume) {
    make(c, c->f->attachments, NULL,
         "{'metadata': {'name': '%s'}, 'spec': {'attacher': '" DISK_DRIVER
         "', 'nodeName': '%s', 'source': {'persistentVolumeName': '%s'}}}",
         name, node, volume);
}

static const struct volume_attachment *get(const struct cluster *c, const char *name) {
    const struct record *r = shelf_get(c->f->attachments->shelf, NULL, name);
    return r ? record_as(volume_attachment, r) : NULL;
}

static const char *attach_error(const struct cluster *c, const char *name) {
    const struct volume_attachment *a = get(c, name);
    return a && a->attach_error ? a->attach_error->message : NULL;
}

static void test_attach_and_detach(void **state) {
    struct cluster *c = *state;
    make_disk(c, "ReadWriteOnce", "");
    int64_t begin = c->clock->now;
    make_attachment(c, "x", "n1", "v");
    assert_true(WITHIN(c, SEC(5), get(c, "x")->attached));
    assert_in_range(c->clock->now - begin, MSEC(500), MSEC(3100));
    assert_true(finalizer_has(&get(c, "x")->meta, FINALIZER));
    assert_string_equal(map_get(get(c, "x")->meta.annotations, "csi.alpha.kubernetes.io/node-id"),
                        "n1");
    assert_true(finalizer_has(&volume_of(c, "v")->meta, FINALIZER));
    begin = c->clock->now;
    delete_now(c, c->f->attachments, NULL, "x", ABSENT64);
    assert_true(get(c, "x")->meta.deleted && get(c, "x")->attached);
    assert_true(WITHIN(c, SEC(5), !get(c, "x")));
    assert_in_range(c->clock->now - begin, MSEC(500), MSEC(3100));
    /* The volume keeps its finalizer until it is deleted, and is then let go. */
    assert_true(STAYS(c, SEC(10), finalizer_has(&volume_of(c, "v")->meta, FINALIZER)));
    delete_now(c, c->f->pvs, NULL, "v", ABSENT64);
    assert_true(WITHIN(c, SEC(1), !volume_of(c, "v")));
}

/* A volume that is deleted while it is attached stays until it is not. */
static void test_volume_deleted(void **state) {
    struct cluster *c = *state;
    make_disk(c, "ReadWriteOnce", "");
    make_attachment(c, "x", "n1", "v");
    assert_true(WITHIN(c, SEC(5), get(c, "x")->attached));
    delete_now(c, c->f->pvs, NULL, "v", ABSENT64);
    assert_true(STAYS(c, SEC(60), volume_of(c, "v")));
    make_attachment(c, "y", "n2", "v");
    assert_true(WITHIN(c, SEC(1), attach_error(c, "y")));
    assert_string_equal(attach_error(c, "y"), "PersistentVolume \"v\" is marked for deletion");
    delete_now(c, c->f->attachments, NULL, "y", ABSENT64);
    assert_null(get(c, "y")); /* nothing was done yet: no finalizer */
    delete_now(c, c->f->attachments, NULL, "x", ABSENT64);
    assert_true(WITHIN(c, SEC(5), !volume_of(c, "v")));
    assert_null(get(c, "x"));
}

static void test_one_node(void **state) {
    struct cluster *c = *state;
    make_disk(c, "ReadWriteOnce", "");
    make_attachment(c, "x", "n1", "v");
    assert_true(WITHIN(c, SEC(5), get(c, "x")->attached));
    make_attachment(c, "y", "n2", "v");
    assert_true(WITHIN(c, SEC(5), attach_error(c, "y")));
    assert_string_equal(attach_error(c, "y"), "rpc error: code = FailedPrecondition desc = disk "
                                              "h-1 is attached to node n1");
    assert_true(STAYS(c, SEC(600), !get(c, "y")->attached));
    delete_now(c, c->f->attachments, NULL, "x", ABSENT64);
    /* The back-off may have grown to five minutes. */
    assert_true(WITHIN(c, SEC(310), get(c, "y")->attached));
    assert_null(get(c, "y")->attach_error);
}

static void test_many_nodes(void **state) {
    struct cluster *c = *state;
    make_disk(c, "ReadOnlyMany", "");
    make_attachment(c, "x", "n1", "v");
    make_attachment(c, "y", "n2", "v");
    assert_true(WITHIN(c, SEC(5), get(c, "x")->attached && get(c, "y")->attached));
}

/* A call is waited for no longer than fifteen seconds; the driver goes on. */
static void test_slow(void **state) {
    struct cluster *c = *state;
    make_disk(c, "ReadWriteOnce",
              "'sim.slipway.dev/attach': '40s', 'sim.slipway.dev/detach': "
              "'1s-2s'");
    int64_t begin = c->clock->now;
    make_attachment(c, "x", "n1", "v");
    assert_true(STAYS(c, SEC(15), !attach_error(c, "x")));
    assert_true(WITHIN(c, SEC(1), attach_error(c, "x")));
    assert_string_equal(attach_error(c, "x"),
                        "rpc error: code = DeadlineExceeded desc = context deadline exceeded");
    assert_true(WITHIN(c, SEC(60), get(c, "x")->attached));
    /* 15 s, a pause of 1 s, 15 s, a pause of 2 s, and in the third call it is done. */
    assert_in_range(c->clock->now - begin, SEC(40), MSEC(40400));
    assert_null(get(c, "x")->attach_error);
    begin = c->clock->now;
    delete_now(c, c->f->attachments, NULL, "x", ABSENT64);
    assert_true(WITHIN(c, SEC(3), !get(c, "x")));
    assert_in_range(c->clock->now - begin, SEC(1), MSEC(2100));
}

/* The class says how long, unless the volume does. */
static void test_class(void **state) {
    struct cluster *c = *state;
    make(c, c->f->storage_classes, NULL,
         "{'metadata': {'name': 'slow', 'annotations': {'sim.slipway.dev/attach': '9s', "
         "'sim.slipway.dev/detach': 'never'}}, 'provisioner': '" DISK_DRIVER "'}");
    for (int i = 0; i < 2; i++)
        make(c, c->f->pvs, NULL,
             "{'metadata': {'name': 'v%d', 'annotations': {%s}}, 'spec': {'capacity': {'storage': "
             "'1Gi'}, 'accessModes': ['ReadWriteOnce'], 'storageClassName': 'slow', 'csi': "
             "{'driver': '" DISK_DRIVER "', 'volumeHandle': 'h-%d'}}}",
             i, i ? "'sim.slipway.dev/attach': '5s'" : "", i);
    int64_t begin = c->clock->now;
    make_attachment(c, "x0", "n1", "v0");
    make_attachment(c, "x1", "n1", "v1");
    assert_true(WITHIN(c, SEC(20), get(c, "x1")->attached));
    assert_in_range(c->clock->now - begin, SEC(5), MSEC(5200));
    assert_true(WITHIN(c, SEC(20), get(c, "x0")->attached));
    assert_in_range(c->clock->now - begin, SEC(9), MSEC(9200));
    delete_now(c, c->f->attachments, NULL, "x0", ABSENT64);
    delete_now(c, c->f->attachments, NULL, "x1", ABSENT64);
    assert_true(STAYS(c, SEC(3600), get(c, "x0") && get(c, "x1")));
    assert_non_null(get(c, "x0")->detach_error);
    /* Another word, and it goes at once. */
    struct record *class = shelf_get(c->f->storage_classes->shelf, NULL, "slow");
    assert_true(fleet_set_meta(c->f, c->f->storage_classes, class, "annotations",
                               "sim.slipway.dev/detach", "2s"));
    assert_true(WITHIN(c, SEC(3), !get(c, "x0") && !get(c, "x1")));
}

/* An attachment that is deleted while it is made is unmade. */
static void test_changed_mind(void **state) {
    struct cluster *c = *state;
    make_disk(c, "ReadWriteOnce",
              "'sim.slipway.dev/attach': '10s', 'sim.slipway.dev/detach': '2s'");
    make_attachment(c, "x", "n1", "v");
    cluster_run(c, SEC(5));
    delete_now(c, c->f->attachments, NULL, "x", ABSENT64);
    assert_non_null(get(c, "x"));
    assert_true(WITHIN(c, SEC(3), !get(c, "x")));
}

static void test_not_there(void **state) {
    struct cluster *c = *state;
    make_attachment(c, "x", "n1", "nothing");
    assert_true(WITHIN(c, SEC(1), attach_error(c, "x")));
    assert_string_equal(attach_error(c, "x"), "persistentvolume \"nothing\" not found");
    make(c, c->f->attachments, NULL,
         "{'metadata': {'name': 'foreign'}, 'spec': {'attacher': 'other.example.com', 'nodeName': "
         "'n', 'source': {'persistentVolumeName': 'v'}}}");
    make_disk(c, "ReadWriteOnce", "");
    cluster_run(c, SEC(60));
    assert_false(get(c, "foreign")->attached || get(c, "foreign")->attach_error);
    /* A volume that is written in the attachment itself: from long ago. */
    make(c, c->f->attachments, NULL,
         "{'metadata': {'name': 'inline'}, 'spec': {'attacher': '" DISK_DRIVER
         "', 'nodeName': 'n', 'source': {'inlineVolumeSpec': {"
         "'accessModes': ['ReadWriteOnce'], 'csi': {'driver': '" DISK_DRIVER
         "', 'volumeHandle': 'h'}}}}}");
    cluster_run(c, SEC(60));
    assert_false(get(c, "inline")->attached);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_attach_and_detach, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_volume_deleted, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_one_node, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_many_nodes, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_slow, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_class, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_changed_mind, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_not_there, cluster_setup, cluster_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
