/* Disks are made and deleted as by a real driver's side car. Names, annotations and finalizers are
 * those of kubernetes-csi's external-provisioner. */
#include "storage_cluster.h"

static char *volume_for(const struct cluster *c, const char *claim) {
    return xasprintf("pvc-%s", claim_of(c, claim)->meta.uid);
}

static void test_immediate(void **state) {
    struct cluster *c = *state;
    make_class(c, "fast", "Immediate", ", 'mountOptions': ['discard']");
    int64_t begin = c->clock->now;
    make_claim(c, "a", "fast", "");
    assert_true(WITHIN(c, SEC(10), claim_is(c, "a", "Bound")));
    assert_in_range(c->clock->now - begin, MSEC(200), SEC(3));
    _cleanup_free_ char *name = volume_for(c, "a");
    assert_string_equal(claim_of(c, "a")->volume_name, name);

    const struct pv *pv = volume_of(c, name);
    assert_non_null(pv);
    assert_string_equal(pv->csi->driver, DISK_DRIVER);
    assert_int_equal(strlen(pv->csi->handle), UUID_LEN);
    assert_string_equal(pv->storage_class, "fast");
    assert_string_equal(pv->reclaim, "Delete");
    assert_int_equal(map_qty(pv->capacity, "storage"), (INT64_C(1) << 30) * 1000);
    assert_null(pv->affinity);
    assert_string_equal(map_get(pv->meta.annotations, ANN_PROVISIONED_BY), DISK_DRIVER);
    /* It came with its claim: the controller had nothing to say. */
    assert_false(map_has(pv->meta.annotations, ANN_BOUND_BY_US));
    assert_true(finalizer_has(&pv->meta, "kubernetes.io/pv-protection"));
    assert_true(finalizer_has(&pv->meta, "external-provisioner.volume.kubernetes.io/finalizer"));
    _cleanup_json_ json_t *obj = json_of(c->f->pvs, NULL, name);
    const json_t *spec = json_object_get(obj, "spec");
    assert_string_equal(json_str(json_object_get(spec, "capacity"), "storage"), "1Gi");
    assert_string_equal(json_str(json_object_get(spec, "csi"), "fsType"), "ext4");
    assert_string_equal(json_string_value(json_array_get(json_object_get(spec, "mountOptions"), 0)),
                        "discard");

    assert_string_equal(event_about(c, "a", "Provisioning"),
                        "External provisioner is provisioning volume for claim \"default/a\"");
    _cleanup_free_ char *said = xasprintf("Successfully provisioned volume %s", name);
    assert_string_equal(event_about(c, "a", "ProvisioningSucceeded"), said);
    assert_non_null(event_about(c, "a", "ExternalProvisioning"));
}

/* The sizes that a disk can have are whole bytes, and say so shortly. */
static void test_sizes(void **state) {
    struct cluster *c = *state;
    static const char *const rows[][2] = {
        {"1G", "1G"}, {"1536Mi", "1536Mi"}, {"2048Gi", "2Ti"},
        {"1", "1"},   {"1500m", "2"},       {"3Ki", "3Ki"},
    };
    make_class(c, "fast", "Immediate", "");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "c%zu", i);
        make(c, c->f->pvcs, "default",
             "{'metadata': {'name': '%s', 'namespace': 'default'}, 'spec': {'accessModes': "
             "['ReadWriteMany'], 'volumeMode': 'Block', 'storageClassName': 'fast', 'resources': "
             "{'requests': {'storage': '%s'}}}}",
             name, rows[i][0]);
        assert_true(WITHIN(c, SEC(10), claim_is(c, name, "Bound")));
        _cleanup_json_ json_t *obj = json_of(c->f->pvs, NULL, claim_of(c, name)->volume_name);
        const json_t *spec = json_object_get(obj, "spec");
        assert_string_equal(json_str(json_object_get(spec, "capacity"), "storage"), rows[i][1]);
        assert_string_equal(json_str(spec, "volumeMode"), "Block");
        assert_null(json_object_get(json_object_get(spec, "csi"), "fsType"));
    }
}

static const char *zone_of(const struct pv *pv) {
    const struct node_term *terms = pv->affinity ? pv->affinity->required->terms : NULL;
    if (list_len(terms) != 1 || list_len(terms[0].exprs) != 1 ||
        list_len(terms[0].exprs[0].values) != 1)
        return NULL;
    assert_string_equal(terms[0].exprs[0].key, "topology.kubernetes.io/zone");
    assert_string_equal(terms[0].exprs[0].op, "In");
    return terms[0].exprs[0].values[0];
}

static void test_zones(void **state) {
    struct cluster *c = *state;
    make_node(c, "w1", "a");
    make_node(c, "w2", "b");
    make_node(c, "w3", NULL);
    cluster_run(c, SEC(5));
    make_class(c, "late", "WaitForFirstConsumer", "");
    static const char *const zones[] = {"a", "b", NULL};
    for (int i = 0; i < 3; i++) {
        char name[8], more[100];
        (void)snprintf(name, sizeof name, "p%d", i + 1);
        make_claim(c, name, "late", "");
        (void)snprintf(more, sizeof more, "w%d", i + 1);
        make(c, c->f->pods, "default",
             "{'metadata': {'name': '%s', 'namespace': 'default'}, 'spec': {'nodeSelector': "
             "{'kubernetes.io/hostname': '%s'}, 'containers': [{'name': 'c', 'image': 'i'}], "
             "'volumes': [{'name': 'data', 'persistentVolumeClaim': {'claimName': '%s'}}]}}",
             name, more, name);
        assert_true(WITHIN(c, SEC(30), is_ready(c, name)));
        const char *zone = zone_of(volume_of(c, claim_of(c, name)->volume_name));
        if (zones[i])
            assert_string_equal(zone, zones[i]);
        else
            assert_null(zone);
    }
    /* A pod with the disk of zone a goes nowhere else. */
    delete_now(c, c->f->pods, "default", "p1", 0);
    assert_true(fleet_set_meta(c->f, c->f->nodes, shelf_get(c->f->nodes->shelf, NULL, "w1"),
                               "labels", "topology.kubernetes.io/zone", "elsewhere"));
    make_pod(c, "again", "p1", NULL, "");
    assert_true(STAYS(c, SEC(60), !pod_of(c, "again")->node_name));
    assert_non_null(strstr(event_about(c, "again", "FailedScheduling"),
                           "didn't match PersistentVolume's node affinity"));
}

static void test_allowed_topologies(void **state) {
    struct cluster *c = *state;
    make_class(c, "here", "Immediate",
               ", 'allowedTopologies': [{'matchLabelExpressions': [{'key': "
               "'topology.kubernetes.io/zone', 'values': ['x']}]}]");
    make_claim(c, "a", "here", "");
    assert_true(WITHIN(c, SEC(10), claim_is(c, "a", "Bound")));
    assert_string_equal(zone_of(volume_of(c, claim_of(c, "a")->volume_name)), "x");
}

static void test_node_gone(void **state) {
    struct cluster *c = *state;
    make_class(c, "late", "WaitForFirstConsumer", "");
    make(c, c->f->pvcs, "default",
         "{'metadata': {'name': 'a', 'namespace': 'default', 'annotations': {'" ANN_SELECTED_NODE
         "': 'w9'}}, 'spec': {'accessModes': ['ReadWriteOnce'], 'storageClassName': 'late', "
         "'resources': {'requests': {'storage': '1Gi'}}}}");
    assert_true(
        WITHIN(c, SEC(10), !map_has(claim_of(c, "a")->meta.annotations, ANN_SELECTED_NODE)));
    assert_string_equal(event_about(c, "a", "ProvisioningFailed"), "node \"w9\" not found");
    assert_true(STAYS(c, SEC(60), claim_is(c, "a", "Pending")));
    assert_int_equal(shelf_len(c->f->pvs->shelf), 0);
}

static void test_never(void **state) {
    struct cluster *c = *state;
    make(c, c->f->storage_classes, NULL,
         "{'metadata': {'name': 'slow', 'annotations': {'sim.slipway.dev/provision': 'never'}}, "
         "'provisioner': '" DISK_DRIVER "'}");
    make_claim(c, "a", "slow", "");
    assert_true(STAYS(c, SEC(3600), claim_is(c, "a", "Pending")));
    struct record *class = shelf_get(c->f->storage_classes->shelf, NULL, "slow");
    assert_true(fleet_set_meta(c->f, c->f->storage_classes, class, "annotations",
                               "sim.slipway.dev/provision", "30s"));
    int64_t begin = c->clock->now;
    assert_true(WITHIN(c, SEC(60), claim_is(c, "a", "Bound")));
    assert_in_range(c->clock->now - begin, SEC(30), SEC(31));
}

/* A claim that goes while its disk is being made leaves none. */
static void test_changed_mind(void **state) {
    struct cluster *c = *state;
    make(c, c->f->storage_classes, NULL,
         "{'metadata': {'name': 'slow', 'annotations': {'sim.slipway.dev/provision': '10s'}}, "
         "'provisioner': '" DISK_DRIVER "'}");
    make_claim(c, "a", "slow", "");
    cluster_run(c, SEC(5));
    delete_now(c, c->f->pvcs, "default", "a", ABSENT64);
    cluster_run(c, SEC(60));
    assert_null(claim_of(c, "a"));
    assert_int_equal(shelf_len(c->f->pvs->shelf), 0);
}

static void test_delete(void **state) {
    struct cluster *c = *state;
    make_class(c, "fast", "Immediate", "");
    make_class(c, "kept", "Immediate", ", 'reclaimPolicy': 'Retain'");
    make_claim(c, "a", "fast", "");
    make_claim(c, "b", "kept", "");
    assert_true(WITHIN(c, SEC(10), claim_is(c, "a", "Bound") && claim_is(c, "b", "Bound")));
    cluster_run(c, SEC(1));
    _cleanup_free_ char *gone = volume_for(c, "a"), *kept = volume_for(c, "b");
    /* One that is to be kept needs no protection from its disk. */
    assert_false(finalizer_has(&volume_of(c, kept)->meta,
                               "external-provisioner.volume.kubernetes.io/finalizer"));
    delete_now(c, c->f->pvcs, "default", "a", ABSENT64);
    delete_now(c, c->f->pvcs, "default", "b", ABSENT64);
    assert_true(WITHIN(c, SEC(1), volume_is(c, gone, "Released")));
    assert_true(WITHIN(c, SEC(5), !volume_of(c, gone)));
    assert_true(STAYS(c, SEC(600), volume_is(c, kept, "Released")));
}

/* A volume that is deleted before its claim waits for it, and then goes with its disk. */
static void test_volume_first(void **state) {
    struct cluster *c = *state;
    make_class(c, "fast", "Immediate", "");
    make_claim(c, "a", "fast", "");
    assert_true(WITHIN(c, SEC(10), claim_is(c, "a", "Bound")));
    cluster_run(c, SEC(1));
    _cleanup_free_ char *name = volume_for(c, "a");
    delete_now(c, c->f->pvs, NULL, name, ABSENT64);
    assert_true(STAYS(c, SEC(600), volume_is(c, name, "Bound") && claim_is(c, "a", "Bound")));
    delete_now(c, c->f->pvcs, "default", "a", ABSENT64);
    assert_true(WITHIN(c, SEC(10), !volume_of(c, name)));
}

static void test_delete_attached(void **state) {
    struct cluster *c = *state;
    make_nodes(c, 1);
    make_class(c, "fast", "Immediate", "");
    make_claim(c, "a", "fast", "");
    make_pod(c, "p", "a", NULL, "");
    assert_true(WITHIN(c, SEC(40), is_ready(c, "p")));
    _cleanup_free_ char *name = volume_for(c, "a");
    assert_true(fleet_set_meta(c->f, c->f->pvs, shelf_get(c->f->pvs->shelf, NULL, name),
                               "annotations", "sim.slipway.dev/detach", "60s"));
    delete_now(c, c->f->pvcs, "default", "a", ABSENT64);
    delete_now(c, c->f->pods, "default", "p", ABSENT64);
    assert_true(WITHIN(c, SEC(30), volume_is(c, name, "Released")));
    assert_true(STAYS(c, SEC(45), volume_of(c, name)));
    _cleanup_free_ char *said = xasprintf("persistentvolume %s is still attached to node w1", name);
    assert_string_equal(event_about(c, name, "VolumeFailedDelete"), said);
    assert_true(WITHIN(c, SEC(60), !volume_of(c, name)));
}

/* A volume of the driver that somebody made by hand. */
static void test_static(void **state) {
    struct cluster *c = *state;
    make(c, c->f->pvs, NULL,
         "{'metadata': {'name': 'mine'}, 'spec': {'capacity': {'storage': '1Gi'}, 'accessModes': "
         "['ReadWriteOnce'], 'persistentVolumeReclaimPolicy': 'Delete', 'csi': {'driver': "
         "'" DISK_DRIVER "', 'volumeHandle': 'vol-1'}}}");
    make_claim(c, "a", "", "");
    assert_true(WITHIN(c, SEC(20), claim_is(c, "a", "Bound")));
    cluster_run(c, SEC(1));
    assert_true(finalizer_has(&volume_of(c, "mine")->meta,
                              "external-provisioner.volume.kubernetes.io/finalizer"));
    delete_now(c, c->f->pvcs, "default", "a", ABSENT64);
    assert_true(WITHIN(c, SEC(10), !volume_of(c, "mine")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_immediate, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_sizes, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_zones, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_allowed_topologies, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_node_gone, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_never, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_changed_mind, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_delete, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_volume_first, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_delete_attached, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_static, cluster_setup, cluster_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
