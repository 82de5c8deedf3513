/* Claims and volumes find each other, and part, as the real controller has them do. What is
 * expected is from pkg/controller/volume/persistentvolume and its tests, and from a real cluster.
 */
#include "sim/fleet/volumes.h"

#include "storage_cluster.h"

/* `more`: further members of the spec, after a comma. */
static void make_volume(struct cluster *c, const char *name, const char *size, const char *more) {
    make(c, c->f->pvs, NULL,
         "{'metadata': {'name': '%s'}, 'spec': {'capacity': {'storage': '%s'}, 'accessModes': "
         "['ReadWriteOnce'], 'hostPath': {'path': '/tmp/%s'}%s}}",
         name, size, name, more);
}

static const char *annotation(const struct meta *m, const char *key) {
    return map_get(m->annotations, key);
}

static void test_binds(void **state) {
    struct cluster *c = *state;
    make_volume(c, "large", "5Gi", "");
    make_volume(c, "small", "2Gi", "");
    assert_true(volume_is(c, "small", "Pending"));
    cluster_run(c, SEC(1));
    assert_true(volume_is(c, "small", "Available") && volume_is(c, "large", "Available"));
    make_claim(c, "a", "", "");
    assert_true(WITHIN(c, SEC(1), claim_is(c, "a", "Bound")));

    const struct pvc *claim = claim_of(c, "a");
    const struct pv *volume = volume_of(c, "small");
    assert_string_equal(claim->volume_name, "small");
    assert_string_equal(annotation(&claim->meta, ANN_BIND_COMPLETED), "yes");
    assert_string_equal(annotation(&claim->meta, ANN_BOUND_BY_US), "yes");
    /* What it got, not what it asked for. */
    assert_int_equal(map_qty(claim->capacity, "storage"), (INT64_C(2) << 30) * 1000);
    assert_string_equal(volume->phase, "Bound");
    assert_string_equal(volume->claim->kind, "PersistentVolumeClaim");
    assert_string_equal(volume->claim->api_version, "v1");
    assert_string_equal(volume->claim->ns, "default");
    assert_string_equal(volume->claim->name, "a");
    assert_string_equal(volume->claim->uid, claim->meta.uid);
    assert_string_equal(annotation(&volume->meta, ANN_BOUND_BY_US), "yes");
    _cleanup_json_ json_t *obj = json_of(c->f->pvcs, "default", "a");
    const json_t *modes = json_object_get(json_object_get(obj, "status"), "accessModes");
    assert_int_equal(json_array_size(modes), 1);
    assert_string_equal(json_string_value(json_array_get(modes, 0)), "ReadWriteOnce");
    /* The other one is left alone. */
    assert_true(STAYS(c, SEC(60), volume_is(c, "large", "Available")));
    assert_null(volume_of(c, "large")->claim);
}

static void test_waits_for_volume(void **state) {
    struct cluster *c = *state;
    make_claim(c, "a", "", "");
    cluster_run(c, SEC(1));
    assert_true(claim_is(c, "a", "Pending"));
    assert_string_equal(event_about(c, "a", "FailedBinding"),
                        "no persistent volumes available for this claim and no storage class is "
                        "set");
    make_volume(c, "tiny", "1Mi", "");
    assert_true(STAYS(c, SEC(40), claim_is(c, "a", "Pending")));
    make_volume(c, "v", "1Gi", "");
    /* The controller looks every fifteen seconds. */
    assert_true(WITHIN(c, SEC(16), claim_is(c, "a", "Bound")));
    assert_string_equal(claim_of(c, "a")->volume_name, "v");
}

static void test_named_volume(void **state) {
    struct cluster *c = *state;
    make_volume(c, "v", "2Gi", "");
    make_volume(c, "smaller", "1Gi", "");
    make_volume(c, "tiny", "1Mi", "");
    make_volume(c, "other", "1Gi", ", 'storageClassName': 'x'");
    make_claim(c, "a", "", ", 'volumeName': 'v'");
    make_claim(c, "b", "", ", 'volumeName': 'tiny'");
    make_claim(c, "c", "", ", 'volumeName': 'other'");
    make_claim(c, "d", "", ", 'volumeName': 'not-there'");
    cluster_run(c, SEC(1));
    assert_true(claim_is(c, "a", "Bound") && volume_is(c, "v", "Bound"));
    /* The claim said so itself, so nothing says that the controller did. */
    assert_null(annotation(&claim_of(c, "a")->meta, ANN_BOUND_BY_US));
    assert_string_equal(annotation(&claim_of(c, "a")->meta, ANN_BIND_COMPLETED), "yes");
    assert_string_equal(annotation(&volume_of(c, "v")->meta, ANN_BOUND_BY_US), "yes");
    assert_string_equal(event_about(c, "b", "VolumeMismatch"),
                        "Cannot bind to requested volume \"tiny\": requested PV is too small");
    assert_string_equal(event_about(c, "c", "VolumeMismatch"),
                        "Cannot bind to requested volume \"other\": storageClassName does not "
                        "match");
    for (const char *p = "bcd"; *p; p++)
        assert_true(claim_is(c, (char[]){*p, 0}, "Pending"));
    make_claim(c, "e", "", ", 'volumeName': 'v'");
    cluster_run(c, SEC(1));
    assert_true(claim_is(c, "e", "Pending"));
    assert_string_equal(event_about(c, "e", "FailedBinding"),
                        "volume \"v\" already bound to a different claim.");
    make_volume(c, "not-there", "1Gi", "");
    assert_true(WITHIN(c, SEC(16), claim_is(c, "d", "Bound")));
}

static void test_reserved_volume(void **state) {
    struct cluster *c = *state;
    make_volume(c, "v", "9Gi", ", 'claimRef': {'namespace': 'default', 'name': 'a'}");
    make_volume(c, "small", "1Gi", "");
    cluster_run(c, SEC(1));
    assert_true(volume_is(c, "v", "Available"));
    make_claim(c, "b", "", ", 'volumeName': 'v'"); /* not for this one */
    make_claim(c, "a", "", "");
    cluster_run(c, SEC(1));
    assert_true(claim_is(c, "a", "Bound") && claim_is(c, "b", "Pending"));
    assert_string_equal(claim_of(c, "a")->volume_name, "v");
    assert_string_equal(volume_of(c, "v")->claim->uid, claim_of(c, "a")->meta.uid);
    assert_null(annotation(&volume_of(c, "v")->meta, ANN_BOUND_BY_US));
    assert_string_equal(annotation(&claim_of(c, "a")->meta, ANN_BOUND_BY_US), "yes");
}

/* A volume for a claim that has another one already. */
static void test_second_volume(void **state) {
    struct cluster *c = *state;
    make_volume(c, "v", "1Gi", "");
    make_claim(c, "a", "", "");
    assert_true(WITHIN(c, SEC(20), claim_is(c, "a", "Bound")));
    const char *uid = claim_of(c, "a")->meta.uid;
    make(c, c->f->pvs, NULL,
         "{'metadata': {'name': 'mine', 'annotations': {'" ANN_BOUND_BY_US "': 'yes'}}, 'spec': "
         "{'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteOnce'], 'hostPath': {'path': "
         "'/tmp/x'}, 'claimRef': {'namespace': 'default', 'name': 'a', 'uid': '%s'}}}",
         uid);
    make_volume(c, "yours", "1Gi",
                ", 'claimRef': {'namespace': 'default', 'name': 'a', 'uid': "
                "'00000000-0000-4000-8000-000000000000'}");
    char more[200];
    (void)snprintf(more, sizeof more,
                   ", 'claimRef': {'namespace': 'default', 'name': 'a', 'uid': '%s'}", uid);
    make_volume(c, "theirs", "1Gi", more);
    cluster_run(c, SEC(1));
    /* What the controller bound it unbinds; what a human reserved stays so. */
    assert_true(volume_is(c, "mine", "Available"));
    assert_null(volume_of(c, "mine")->claim);
    assert_null(annotation(&volume_of(c, "mine")->meta, ANN_BOUND_BY_US));
    assert_true(volume_is(c, "theirs", "Available"));
    assert_string_equal(volume_of(c, "theirs")->claim->name, "a");
    assert_null(volume_of(c, "theirs")->claim->uid);
    /* That claim is gone, and another has its name. */
    assert_true(volume_is(c, "yours", "Released"));
    assert_true(claim_is(c, "a", "Bound"));
    assert_string_equal(claim_of(c, "a")->volume_name, "v");
}

static void take_finalizers(struct cluster *c, struct resource *res, const char *ns,
                            const char *name) {
    json_t *obj = json_of(res, ns, name);
    json_object_del(meta_of(obj), "finalizers");
    assert_true(fleet_update(c->f, res, NULL, obj, NULL));
}

static void test_lost(void **state) {
    struct cluster *c = *state;
    make_volume(c, "v", "1Gi", "");
    make_claim(c, "a", "", "");
    assert_true(WITHIN(c, SEC(20), claim_is(c, "a", "Bound")));
    delete_now(c, c->f->pvs, NULL, "v", ABSENT64);
    take_finalizers(c, c->f->pvs, NULL, "v");
    assert_null(volume_of(c, "v"));
    assert_true(WITHIN(c, SEC(1), claim_is(c, "a", "Lost")));
    assert_string_equal(event_about(c, "a", "ClaimLost"),
                        "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
    assert_null(claim_of(c, "a")->capacity);
    assert_string_equal(claim_of(c, "a")->volume_name, "v");
    delete_now(c, c->f->pvcs, "default", "a", ABSENT64);
    assert_true(WITHIN(c, SEC(1), !claim_of(c, "a")));
}

static void test_retain(void **state) {
    struct cluster *c = *state;
    make_volume(c, "v", "1Gi", "");
    make_claim(c, "a", "", "");
    assert_true(WITHIN(c, SEC(20), claim_is(c, "a", "Bound")));
    delete_now(c, c->f->pvcs, "default", "a", ABSENT64);
    assert_true(WITHIN(c, SEC(1), volume_is(c, "v", "Released")));
    assert_null(claim_of(c, "a"));
    /* A new claim of the same name is another claim. */
    make_claim(c, "a", "", "");
    assert_true(STAYS(c, SEC(60), claim_is(c, "a", "Pending") && volume_is(c, "v", "Released")));
    /* Until somebody takes the reference away. */
    json_t *obj = json_of(c->f->pvs, NULL, "v");
    json_object_del(json_object_get(obj, "spec"), "claimRef");
    assert_true(fleet_update(c->f, c->f->pvs, NULL, obj, NULL));
    assert_true(WITHIN(c, SEC(16), claim_is(c, "a", "Bound")));
}

static void test_delete_in_tree(void **state) {
    struct cluster *c = *state;
    static const char *const rows[][2] = {
        {"tmp", "'hostPath': {'path': '/tmp/x'}"},
        {"srv", "'hostPath': {'path': '/srv/x'}"},
        {"nfs", "'nfs': {'server': 's', 'path': '/x'}"},
        {"fc", "'fc': {'wwids': ['1']}"},
        {"foreign", "'csi': {'driver': 'other.example.com', 'volumeHandle': 'h'}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        make(c, c->f->pvs, NULL,
             "{'metadata': {'name': '%s'}, 'spec': {'capacity': {'storage': '1Gi'}, 'accessModes': "
             "['ReadWriteOnce'], 'persistentVolumeReclaimPolicy': 'Delete', %s}}",
             rows[i][0], rows[i][1]);
        char more[64];
        (void)snprintf(more, sizeof more, ", 'volumeName': '%s'", rows[i][0]);
        make_claim(c, rows[i][0], "", more);
        cluster_run(c, SEC(1));
        assert_true(claim_is(c, rows[i][0], "Bound"));
        delete_now(c, c->f->pvcs, "default", rows[i][0], ABSENT64);
    }
    cluster_run(c, SEC(30));
    assert_null(volume_of(c, "tmp"));
    assert_true(volume_is(c, "srv", "Failed"));
    assert_string_equal(event_about(c, "srv", "VolumeFailedDelete"),
                        "host_path deleter only supports /tmp/.+ but received provided /srv/x");
    assert_true(volume_is(c, "nfs", "Failed"));
    assert_string_equal(event_about(c, "nfs", "VolumeFailedDelete"),
                        "error getting deleter volume plugin for volume \"nfs\": no deletable "
                        "volume plugin matched");
    assert_true(volume_is(c, "fc", "Failed"));
    assert_string_equal(event_about(c, "fc", "VolumeFailedDelete"),
                        "error getting deleter volume plugin for volume \"fc\": no volume plugin "
                        "matched");
    /* Its driver would have to, and is not there. */
    assert_true(volume_is(c, "foreign", "Released"));
}

static void test_wait_for_consumer(void **state) {
    struct cluster *c = *state;
    make_nodes(c, 1);
    make_class(c, "late", "WaitForFirstConsumer", "");
    make_volume(c, "v", "1Gi", ", 'storageClassName': 'late'");
    make_claim(c, "a", "late", "");
    cluster_run(c, SEC(20));
    /* There is a volume, but the scheduler chooses. */
    assert_true(claim_is(c, "a", "Pending") && volume_is(c, "v", "Available"));
    assert_string_equal(event_about(c, "a", "WaitForFirstConsumer"),
                        "waiting for first consumer to be created before binding");
    make(c, c->f->pods, "default",
         "{'metadata': {'name': 'p', 'namespace': 'default'}, 'spec': {'nodeSelector': {'x': 'y'}, "
         "'containers': [{'name': 'c', 'image': 'i'}], 'volumes': [{'name': 'd', "
         "'persistentVolumeClaim': {'claimName': 'a'}}]}}");
    cluster_run(c, SEC(20));
    assert_true(claim_is(c, "a", "Pending"));
    assert_string_equal(event_about(c, "a", "WaitForPodScheduled"),
                        "waiting for pod p to be scheduled");
    assert_true(fleet_set_meta(c->f, c->f->nodes, shelf_get(c->f->nodes->shelf, NULL, "w1"),
                               "labels", "x", "y"));
    assert_true(WITHIN(c, SEC(30), claim_is(c, "a", "Bound")));
    assert_string_equal(claim_of(c, "a")->volume_name, "v");
    assert_true(WITHIN(c, SEC(10), is_ready(c, "p"))); /* needs no attaching */
}

static void test_no_provisioner(void **state) {
    struct cluster *c = *state;
    static const char *const classes[][2] = {
        {"other", "example.com/nobody"},
        {"ebs", "kubernetes.io/aws-ebs"},
        {"none", "kubernetes.io/no-provisioner"},
        {"path", "kubernetes.io/host-path"},
        {"nfs", "kubernetes.io/nfs"},
    };
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        make(c, c->f->storage_classes, NULL, "{'metadata': {'name': '%s'}, 'provisioner': '%s'}",
             classes[i][0], classes[i][1]);
        make_claim(c, classes[i][0], classes[i][0], "");
    }
    make_claim(c, "missing", "missing", "");
    cluster_run(c, SEC(60));
    assert_string_equal(
        event_about(c, "other", "ExternalProvisioning"),
        "Waiting for a volume to be created either by the external provisioner "
        "'example.com/nobody' or manually by the system administrator. If volume creation is "
        "delayed, please verify that the provisioner is running and correctly registered.");
    const struct meta *m = &claim_of(c, "other")->meta;
    assert_string_equal(annotation(m, ANN_PROVISIONER), "example.com/nobody");
    assert_string_equal(annotation(m, ANN_OLD_PROVISIONER), "example.com/nobody");
    assert_string_equal(annotation(&claim_of(c, "ebs")->meta, ANN_PROVISIONER), "ebs.csi.aws.com");
    assert_string_equal(event_about(c, "none", "ProvisioningFailed"),
                        "no volume plugin matched name: kubernetes.io/no-provisioner");
    assert_null(annotation(&claim_of(c, "none")->meta, ANN_PROVISIONER));
    assert_string_equal(event_about(c, "path", "ProvisioningFailed"),
                        "Failed to create provisioner: provisioning in volume plugin "
                        "\"kubernetes.io/host-path\" is disabled");
    assert_string_equal(annotation(&claim_of(c, "path")->meta, ANN_PROVISIONER),
                        "kubernetes.io/host-path");
    assert_string_equal(event_about(c, "nfs", "ProvisioningFailed"),
                        "no provisionable volume plugin matched");
    assert_string_equal(event_about(c, "missing", "ProvisioningFailed"),
                        "storageclass.storage.k8s.io \"missing\" not found");
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        assert_true(claim_is(c, classes[i][0], "Pending"));
    assert_true(claim_is(c, "missing", "Pending"));
    assert_int_equal(shelf_len(c->f->pvs->shelf), 0);
}

static void test_default_class(void **state) {
    struct cluster *c = *state;
    make_claim(c, "a", NULL, "");
    make_claim(c, "none", "", "");
    cluster_run(c, SEC(1));
    assert_null(claim_of(c, "a")->storage_class);
    make(c, c->f->storage_classes, NULL,
         "{'metadata': {'name': 'fast', 'annotations': "
         "{'storageclass.kubernetes.io/is-default-class': 'true'}}, 'provisioner': '" DISK_DRIVER
         "'}");
    assert_true(WITHIN(c, SEC(20), claim_is(c, "a", "Bound")));
    assert_string_equal(claim_of(c, "a")->storage_class, "fast");
    /* The empty class is an answer, too. */
    assert_true(STAYS(c, SEC(40), claim_is(c, "none", "Pending")));
    assert_null(claim_of(c, "none")->storage_class);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_binds, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_waits_for_volume, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_named_volume, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_reserved_volume, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_second_volume, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_lost, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_retain, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_delete_in_tree, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_wait_for_consumer, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_no_provisioner, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_default_class, cluster_setup, cluster_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
