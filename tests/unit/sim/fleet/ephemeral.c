/* Claims that belong to a pod. By pkg/controller/volume/ephemeral. */
#include "storage_cluster.h"

static void make_user(struct cluster *c, const char *name) {
    make(c, c->f->pods, "default",
         "{'metadata': {'name': '%s', 'namespace': 'default'}, 'spec': {'containers': [{'name': "
         "'c', 'image': 'i'}], 'volumes': [{'name': 'tmp', 'ephemeral': {'volumeClaimTemplate': "
         "{'metadata': {'labels': {'l': 'm'}, 'annotations': {'n': 'o'}}, 'spec': {'accessModes': "
         "['ReadWriteOnce'], 'storageClassName': 'fast', 'resources': {'requests': {'storage': "
         "'3Gi'}}}}}}]}}",
         name);
}

static void test_lives_with_pod(void **state) {
    struct cluster *c = *state;
    make_nodes(c, 1);
    make_class(c, "fast", "WaitForFirstConsumer", "");
    make_user(c, "p");
    assert_true(WITHIN(c, SEC(40), is_ready(c, "p")));
    const struct pvc *claim = claim_of(c, "p-tmp");
    assert_string_equal(map_get(claim->meta.labels, "l"), "m");
    assert_string_equal(map_get(claim->meta.annotations, "n"), "o");
    assert_int_equal(map_qty(claim->resources.requests, "storage"), (INT64_C(3) << 30) * 1000);
    assert_int_equal(list_len(claim->meta.owners), 1);
    assert_string_equal(claim->meta.owners[0].kind, "Pod");
    assert_string_equal(claim->meta.owners[0].uid, pod_of(c, "p")->meta.uid);
    assert_true(claim->meta.owners[0].controller);
    _cleanup_free_ char *volume = xstrdup(claim->volume_name);
    assert_true(is_attached(c, volume, "w1"));
    /* And goes with it. */
    delete_now(c, c->f->pods, "default", "p", ABSENT64);
    assert_true(WITHIN(c, SEC(60), !pod_of(c, "p") && !claim_of(c, "p-tmp")));
    assert_true(WITHIN(c, SEC(60), !volume_of(c, volume)));
}

/* A claim of somebody else has the name. */
static void test_taken(void **state) {
    struct cluster *c = *state;
    make_nodes(c, 1);
    make_class(c, "fast", "Immediate", "");
    make_claim(c, "p-tmp", "fast", "");
    make_user(c, "p");
    assert_true(STAYS(c, SEC(60), !is_ready(c, "p")));
    assert_string_equal(event_about(c, "p", "FailedBinding"),
                        "ephemeral volume tmp: PVC default/p-tmp was not created for pod "
                        "default/p (pod is not owner)");
    /* It is not the pod's, so the pod does not keep it. */
    delete_now(c, c->f->pvcs, "default", "p-tmp", ABSENT64);
    assert_true(WITHIN(c, SEC(600), is_ready(c, "p")));
    assert_true(claim_is_of(claim_of(c, "p-tmp"), pod_of(c, "p")));
}

/* One that was deleted before the pod was placed is made again. */
static void test_deleted(void **state) {
    struct cluster *c = *state;
    make_class(c, "fast", "WaitForFirstConsumer", "");
    make_user(c, "p");
    assert_true(WITHIN(c, SEC(1), claim_of(c, "p-tmp")));
    _cleanup_free_ char *uid = xstrdup(claim_of(c, "p-tmp")->meta.uid);
    delete_now(c, c->f->pvcs, "default", "p-tmp", ABSENT64);
    assert_true(
        WITHIN(c, SEC(1), claim_of(c, "p-tmp") && !str_same(claim_of(c, "p-tmp")->meta.uid, uid)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lives_with_pod, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_taken, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_deleted, cluster_setup, cluster_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
