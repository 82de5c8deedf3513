/* Who uses what, and the names and rules of storage. */
#include "sim/fleet/original.h"
#include "storage_cluster.h"

static char *joined(struct names n) {
    struct str s = STR_INIT;
    for (size_t i = 0; i < n.len; i++)
        str_addf(&s, "%s ", n.p[i]);
    return str_take(&s);
}

#define EXPECT(names, wanted)                                                                      \
    do {                                                                                           \
        _cleanup_free_ char *text_ = joined(names);                                                \
        assert_string_equal(text_, wanted);                                                        \
    } while (0)

/* Pods that are on no node change only when somebody changes them. */
static void make_idle(struct cluster *c, const char *name, const char *volumes) {
    make(c, c->f->pods, "default",
         "{'metadata': {'name': '%s', 'namespace': 'default'}, 'spec': {'schedulerName': 'nobody', "
         "'containers': [{'name': 'c', 'image': 'i'}], 'volumes': [%s]}}",
         name, volumes);
}

static void test_pods_of_claims(void **state) {
    struct cluster *c = *state;
    struct fleet *f = c->f;
    EXPECT(claim_pods(f, "default", "a"), "");
    make_idle(c, "p", "{'name': 'x', 'persistentVolumeClaim': {'claimName': 'a'}}");
    /* One claim under two names is one user. */
    make_idle(c, "q",
              "{'name': 'x', 'persistentVolumeClaim': {'claimName': 'a'}}, {'name': 'y', "
              "'persistentVolumeClaim': {'claimName': 'a'}}, {'name': 'z', "
              "'persistentVolumeClaim': {'claimName': 'b'}}");
    make_idle(c, "r", "{'name': 'e', 'emptyDir': {}}");
    make_idle(c, "s",
              "{'name': 'tmp', 'ephemeral': {'volumeClaimTemplate': {'spec': {'accessModes': "
              "['ReadWriteOnce'], 'resources': {'requests': {'storage': '1Gi'}}}}}}");
    EXPECT(claim_pods(f, "default", "a"), "p q ");
    EXPECT(claim_pods(f, "default", "b"), "q ");
    EXPECT(claim_pods(f, "default", "s-tmp"), "s ");
    EXPECT(claim_pods(f, "other", "a"), "");
    assert_true(pod_has_claims(pod_of(c, "q")) && pod_has_claims(pod_of(c, "s")));
    assert_false(pod_has_claims(pod_of(c, "r")));
    delete_now(c, f->pods, "default", "q", 0);
    EXPECT(claim_pods(f, "default", "a"), "p ");
    EXPECT(claim_pods(f, "default", "b"), "");
}

static void make_plain(struct cluster *c, const char *name, const char *more) {
    make(c, c->f->pvs, NULL,
         "{'metadata': {'name': '%s'}, 'spec': {'capacity': {'storage': '1Gi'}, 'accessModes': "
         "['ReadWriteOnce'], 'csi': {'driver': 'd', 'volumeHandle': 'h'}%s}}",
         name, more);
}

static void test_volumes(void **state) {
    struct cluster *c = *state;
    struct fleet *f = c->f;
    make_plain(c, "a", "");
    make_plain(c, "b", "");
    make_plain(c, "x", ", 'storageClassName': 'x'");
    make_plain(c, "r", ", 'claimRef': {'namespace': 'default', 'name': 'c'}");
    make(c, f->pvs, NULL,
         "{'metadata': {'name': 'old', 'annotations': {'volume.beta.kubernetes.io/storage-class': "
         "'x'}}, 'spec': {'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteOnce'], 'csi': "
         "{'driver': 'd', 'volumeHandle': 'h'}, 'storageClassName': 'y'}}");
    EXPECT(free_volumes(f, ""), "a b ");
    EXPECT(free_volumes(f, NULL), "a b ");
    EXPECT(free_volumes(f, "x"), "x old ");
    EXPECT(free_volumes(f, "y"), "");
    EXPECT(claim_volumes(f, "default", "c"), "r ");
    json_t *obj = json_of(f->pvs, NULL, "a");
    json_object_set_new(json_object_get(obj, "spec"), "claimRef",
                        json_pack("{s:s, s:s}", "namespace", "default", "name", "c"));
    assert_true(fleet_update(f, f->pvs, NULL, obj, NULL));
    EXPECT(free_volumes(f, ""), "b ");
    EXPECT(claim_volumes(f, "default", "c"), "r a ");
    json_t *back = json_of(f->pvs, NULL, "r");
    json_object_del(json_object_get(back, "spec"), "claimRef");
    assert_true(fleet_update(f, f->pvs, NULL, back, NULL));
    EXPECT(free_volumes(f, ""), "b r ");
    EXPECT(claim_volumes(f, "default", "c"), "a ");
}

static void test_attachments(void **state) {
    struct cluster *c = *state;
    struct fleet *f = c->f;
    for (int i = 0; i < 3; i++)
        make(c, f->attachments, NULL,
             "{'metadata': {'name': 'x%d'}, 'spec': {'attacher': 'd', 'nodeName': 'n%d', 'source': "
             "{'persistentVolumeName': 'v%d'}}}",
             i, i, i / 2);
    EXPECT(volume_attachments(f, "v0"), "x0 x1 ");
    EXPECT(volume_attachments(f, "v1"), "x2 ");
    delete_now(c, f->attachments, NULL, "x0", ABSENT64);
    EXPECT(volume_attachments(f, "v0"), "x1 ");
}

/* IsPodTerminated of pkg/volume/util. */
static void test_let_go(void **state) {
    struct cluster *c = *state;
    struct fleet *f = c->f;
    static const struct {
        const char *status;
        bool before, when_deleted;
    } rows[] = {
        {"{'phase': 'Pending'}", false, true},
        {"{'phase': 'Running', 'containerStatuses': [{'name': 'c', 'state': {'running': {}}, "
         "'ready': true, 'restartCount': 0, 'image': 'i', 'imageID': ''}]}",
         false, false},
        {"{'phase': 'Running', 'containerStatuses': [{'name': 'c', 'state': {'waiting': {}}, "
         "'ready': false, 'restartCount': 0, 'image': 'i', 'imageID': ''}]}",
         false, true},
        {"{'phase': 'Running', 'containerStatuses': [{'name': 'c', 'state': {'terminated': "
         "{'exitCode': 0}}, 'ready': false, 'restartCount': 0, 'image': 'i', 'imageID': ''}]}",
         false, true},
        {"{'phase': 'Pending', 'initContainerStatuses': [{'name': 'c', 'state': {'running': {}}, "
         "'ready': true, 'restartCount': 0, 'image': 'i', 'imageID': ''}]}",
         false, false},
        {"{'phase': 'Succeeded'}", true, true},
        {"{'phase': 'Failed'}", true, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "p%zu", i);
        make(c, f->pods, "default",
             "{'metadata': {'name': '%s', 'namespace': 'default', 'finalizers': ['x.example/y']}, "
             "'spec': {'nodeName': 'n', 'containers': [{'name': 'c', 'image': 'i'}]}}",
             name);
        _cleanup_free_ char *text = xstrdup(rows[i].status);
        for (char *p = text; *p; p++)
            if (*p == '\'')
                *p = '"';
        struct record *r = shelf_get(f->pods->shelf, "default", name);
        fleet_put_status(f, f->pods, r, json_loads(text, 0, NULL));
        assert_int_equal(pod_let_go(pod_of(c, name)), rows[i].before);
        delete_now(c, f->pods, "default", name, 30);
        assert_int_equal(pod_let_go(pod_of(c, name)), rows[i].when_deleted);
    }
}

static void test_names(void **state) {
    (void)state;
    struct pv_csi csi = {.driver = DISK_DRIVER, .handle = "vol-1"};
    struct pv pv = {.csi = &csi};
    char name[ATTACHMENT_NAME_SIZE];
    /* As the real controller named it. */
    assert_string_equal(attachment_name(&pv, "node-0", name),
                        "csi-fabf125251293512f4530d15666a9ea1bc9d04e12755fe4ad9e98ec927d4186c");
    _cleanup_free_ char *disk = disk_name(&pv);
    assert_string_equal(disk, "kubernetes.io/csi/disk.sim.slipway.dev^vol-1");
    struct fleet plain = {0};
    assert_true(volume_is_disk(&plain, &pv));
    csi.driver = "other";
    assert_false(volume_is_disk(&plain, &pv));
    /* in a copy of another cluster there is somebody for every driver, but for those that attach
     * nothing */
    struct fleet copy = {.original = original_new(NULL)};
    original_add_detached_driver(copy.original, "nfs");
    assert_true(volume_is_disk(&copy, &pv));
    assert_true(driver_is_ours(&copy, "other") && driver_is_ours(&copy, DISK_DRIVER));
    csi.driver = "nfs";
    assert_false(volume_is_disk(&copy, &pv));
    original_free(copy.original);
    pv.csi = NULL;
    assert_false(volume_is_disk(&plain, &pv));
}

static void test_claim_names(void **state) {
    (void)state;
    char buf[CLAIM_NAME_SIZE], pod_name[254], volume_name[64];
    memset(pod_name, 'p', 253);
    memset(volume_name, 'v', 63);
    pod_name[253] = volume_name[63] = 0;
    struct pod pod = {.meta.name = pod_name};
    struct claim_source source = {.claim = "a"};
    assert_string_equal(volume_claim(&pod, &(struct volume){.claim = &source}, buf), "a");
    assert_null(volume_claim(&pod, &(struct volume){.empty_dir = true}, buf));
    /* The longest that there can be. */
    const char *long_one =
        volume_claim(&pod, &(struct volume){.name = volume_name, .ephemeral = true}, buf);
    assert_int_equal(strlen(long_one), 253 + 1 + 63);
    assert_true(str_ends(long_one, volume_name));
}

static void test_bound(void **state) {
    struct cluster *c = *state;
    make_plain(c, "v", "");
    make_claim(c, "a", "", "");
    assert_null(claim_volume(c->f, claim_of(c, "a")));
    assert_true(WITHIN(c, SEC(20), claim_is(c, "a", "Bound")));
    assert_string_equal(claim_volume(c->f, claim_of(c, "a"))->obj->meta.name, "v");
    assert_true(volume_refers(volume_of(c, "v"), claim_of(c, "a")));
    /* The volume has to agree. */
    struct pvc other = *claim_of(c, "a");
    other.meta.uid = "another";
    assert_null(claim_volume(c->f, &other));
    assert_false(volume_refers(volume_of(c, "v"), &other));
}

static void test_finalizers(void **state) {
    struct cluster *c = *state;
    struct fleet *f = c->f;
    make_claim(c, "a", "", "");
    const char *mine = "x.example/y";
    struct record *r = shelf_get(f->pvcs->shelf, "default", "a");
    assert_false(finalizer_has(&r->obj->meta, mine));
    assert_true(finalizer_add(f, f->pvcs, r, mine));
    r = shelf_get(f->pvcs->shelf, "default", "a");
    assert_true(finalizer_has(&r->obj->meta, mine));
    uint64_t version = r->version;
    assert_true(finalizer_add(f, f->pvcs, r, mine)); /* nothing to write */
    assert_int_equal(shelf_get(f->pvcs->shelf, "default", "a")->version, version);
    finalizer_remove(f, f->pvcs, r, mine);
    r = shelf_get(f->pvcs->shelf, "default", "a");
    assert_false(finalizer_has(&r->obj->meta, mine));
    assert_true(finalizer_has(&r->obj->meta, "kubernetes.io/pvc-protection"));
    version = r->version;
    finalizer_remove(f, f->pvcs, r, mine);
    assert_int_equal(shelf_get(f->pvcs->shelf, "default", "a")->version, version);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pods_of_claims, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_volumes, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_attachments, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_let_go, cluster_setup, cluster_teardown),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_claim_names),
        cmocka_unit_test_setup_teardown(test_bound, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_finalizers, cluster_setup, cluster_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
