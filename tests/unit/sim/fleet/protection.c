/* What is used is not deleted. The cases are those of pkg/controller/volume/pvcprotection and
 * pvprotection. */
#include "storage_cluster.h"

static void make_bound(struct cluster *c) {
    make_nodes(c, 1);
    make_class(c, "fast", "Immediate", "");
    make_claim(c, "a", "fast", "");
    assert_true(WITHIN(c, SEC(10), claim_is(c, "a", "Bound")));
}

static void test_unused(void **state) {
    struct cluster *c = *state;
    make_bound(c);
    assert_true(finalizer_has(&claim_of(c, "a")->meta, "kubernetes.io/pvc-protection"));
    delete_now(c, c->f->pvcs, "default", "a", ABSENT64);
    assert_non_null(claim_of(c, "a")); /* the controller has to see it first */
    assert_true(WITHIN(c, SEC(1), !claim_of(c, "a")));
}

static void test_used(void **state) {
    struct cluster *c = *state;
    make_bound(c);
    make_pod(c, "p", "a", NULL, "");
    make_pod(c, "q", "a", NULL, "");
    assert_true(WITHIN(c, SEC(40), is_ready(c, "p") && is_ready(c, "q")));
    delete_now(c, c->f->pvcs, "default", "a", ABSENT64);
    assert_true(STAYS(c, SEC(600), claim_of(c, "a")));
    assert_true(claim_of(c, "a")->meta.deleted && claim_is(c, "a", "Bound"));
    delete_now(c, c->f->pods, "default", "p", ABSENT64);
    assert_true(STAYS(c, SEC(60), claim_of(c, "a")));
    delete_now(c, c->f->pods, "default", "q", ABSENT64);
    assert_true(STAYS(c, MSEC(100), claim_of(c, "a")));
    assert_true(WITHIN(c, SEC(5), !claim_of(c, "a")));
    assert_null(pod_of(c, "q"));
}

/* A pod that has ended still has its claim; one that was never placed does not. */
static void test_ended(void **state) {
    struct cluster *c = *state;
    make_bound(c);
    make(c, c->f->pods, "default",
         "{'metadata': {'name': 'job', 'namespace': 'default', 'annotations': "
         "{'sim.slipway.dev/run': '1s'}}, 'spec': {'restartPolicy': 'Never', 'containers': "
         "[{'name': 'c', 'image': 'i'}], 'volumes': [{'name': 'd', 'persistentVolumeClaim': "
         "{'claimName': 'a'}}]}}");
    assert_true(WITHIN(c, SEC(60), str_same(pod_of(c, "job")->phase, "Succeeded")));
    make_claim(c, "b", "fast", "");
    make(c, c->f->pods, "default",
         "{'metadata': {'name': 'nowhere', 'namespace': 'default'}, 'spec': {'nodeSelector': "
         "{'x': 'y'}, 'containers': [{'name': 'c', 'image': 'i'}], 'volumes': [{'name': 'd', "
         "'persistentVolumeClaim': {'claimName': 'b'}}]}}");
    cluster_run(c, SEC(5));
    delete_now(c, c->f->pvcs, "default", "a", ABSENT64);
    delete_now(c, c->f->pvcs, "default", "b", ABSENT64);
    assert_true(WITHIN(c, SEC(1), !claim_of(c, "b")));
    assert_true(STAYS(c, SEC(60), claim_of(c, "a")));
    delete_now(c, c->f->pods, "default", "job", 0);
    assert_true(WITHIN(c, SEC(1), !claim_of(c, "a")));
}

static void test_volume(void **state) {
    struct cluster *c = *state;
    make_bound(c);
    static const char *const names[] = {"taken", "free"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        make(c, c->f->pvs, NULL,
             "{'metadata': {'name': '%s'}, 'spec': {'capacity': {'storage': '1Gi'}, 'accessModes': "
             "['ReadWriteOnce'], 'hostPath': {'path': '/tmp/x'}}}",
             names[i]);
    make_claim(c, "b", "", ", 'volumeName': 'taken'");
    assert_true(WITHIN(c, SEC(20), claim_is(c, "b", "Bound")));
    delete_now(c, c->f->pvs, NULL, "taken", ABSENT64);
    delete_now(c, c->f->pvs, NULL, "free", ABSENT64);
    assert_true(WITHIN(c, SEC(1), !volume_of(c, "free")));
    assert_true(STAYS(c, SEC(600), volume_is(c, "taken", "Bound")));
    assert_true(volume_of(c, "taken")->meta.deleted);
    delete_now(c, c->f->pvcs, "default", "b", ABSENT64);
    assert_true(WITHIN(c, SEC(1), !volume_of(c, "taken")));
}

/* A pod that its kubelet is done with, but that a finalizer keeps: its own claims may go, and so it
 * cannot wait for itself. Claims that it only uses stay. */
static void test_shut_down(void **state) {
    struct cluster *c = *state;
    make_bound(c);
    make(c, c->f->pods, "default",
         "{'metadata': {'name': 'p', 'namespace': 'default', 'finalizers': ['x.example/y']}, "
         "'spec': {'containers': [{'name': 'c', 'image': 'i'}], 'volumes': [{'name': 'd', "
         "'persistentVolumeClaim': {'claimName': 'a'}}, {'name': 't', 'ephemeral': "
         "{'volumeClaimTemplate': {'spec': {'accessModes': ['ReadWriteOnce'], 'storageClassName': "
         "'fast', 'resources': {'requests': {'storage': '1Gi'}}}}}}]}}");
    assert_true(WITHIN(c, SEC(60), is_ready(c, "p")));
    delete_now(c, c->f->pvcs, "default", "a", ABSENT64);
    delete_now(c, c->f->pvcs, "default", "p-t", ABSENT64);
    assert_true(STAYS(c, SEC(60), claim_of(c, "a") && claim_of(c, "p-t")));
    delete_now(c, c->f->pods, "default", "p", 0);
    assert_true(WITHIN(c, SEC(1), !claim_of(c, "p-t")));
    assert_true(STAYS(c, SEC(60), claim_of(c, "a")));
    finalizer_remove(c->f, c->f->pods, shelf_get(c->f->pods->shelf, "default", "p"), "x.example/y");
    assert_null(pod_of(c, "p"));
    assert_true(WITHIN(c, SEC(1), !claim_of(c, "a")));
}

/* Somebody took the finalizer away: it comes back. */
static void test_comes_back(void **state) {
    struct cluster *c = *state;
    make_bound(c);
    struct fleet *f = c->f;
    _cleanup_free_ char *volume = xstrdup(claim_of(c, "a")->volume_name);
    finalizer_remove(f, f->pvcs, shelf_get(f->pvcs->shelf, "default", "a"),
                     "kubernetes.io/pvc-protection");
    finalizer_remove(f, f->pvs, shelf_get(f->pvs->shelf, NULL, volume),
                     "kubernetes.io/pv-protection");
    cluster_run(c, SEC(1));
    assert_true(finalizer_has(&claim_of(c, "a")->meta, "kubernetes.io/pvc-protection"));
    assert_true(finalizer_has(&volume_of(c, volume)->meta, "kubernetes.io/pv-protection"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_unused, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_used, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_ended, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_volume, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_shut_down, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_comes_back, cluster_setup, cluster_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
