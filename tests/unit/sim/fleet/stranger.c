/* Tests of src/sim/fleet/stranger.c: pods of controllers that are not simulated come back. */
#include "../copy_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define OWNER(kind)                                                                                \
    "\"ownerReferences\":[{\"apiVersion\":\"example.com/v1\",\"kind\":\"" kind                     \
    "\",\"name\":\"pg\",\"uid\":\"u-1\",\"controller\":true}]"
#define POD(name, meta, phase)                                                                     \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name                       \
    "\",\"namespace\":\"default\",\"labels\":{\"app\":\"pg\"}," meta                               \
    "},\"spec\":{\"nodeName\":\"w1\",\"containers\":[{\"name\":\"c\",\"image\":\"i:1\","           \
    "\"imagePullPolicy\":\"Always\"}],\"restartPolicy\":\"Always\",\"dnsPolicy\":"                 \
    "\"ClusterFirst\",\"schedulerName\":\"special\",\"terminationGracePeriodSeconds\":30,"         \
    "\"securityContext\":{}},\"status\":{\"phase\":\"" phase                                       \
    "\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"lastTransitionTime\":"           \
    "\"2026-11-14T23:00:00Z\"}]}}"
#define NODE(name)                                                                                 \
    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" name                      \
    "\"},\"status\":{\"allocatable\":{\"cpu\":\"8\",\"memory\":\"32Gi\",\"pods\":\"110\"},"        \
    "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"

static void put(struct copy_site *c, const char *json) {
    _cleanup_err_ struct err err = ERR_INIT;
    if (copy_put(c, json, &err))
        fail_msg("%s", err_msg(&err));
    assert_int_equal(restore_refused(c->restore, NULL), 0);
}

static size_t pods(struct copy_site *c) {
    return shelf_len(c->to.fleet->pods->shelf);
}

static void test_comes_back(void **state) {
    (void)state;
    struct copy_site c;
    copy_begin(&c, SIM_START);
    put(&c, NODE("w1"));
    put(&c, POD("pg-1", OWNER("Cluster"), "Running"));
    put(&c, POD("job-1", OWNER("Cluster"), "Succeeded"));
    put(&c, POD("made-x2x4z", "\"generateName\":\"made-\"," OWNER("Cluster"), "Running"));
    copy_end(&c);
    sim_pass(&c.to, SEC(60));
    static const char *const paths[] = {"/api/v1/namespaces/default/pods/pg-1",
                                        "/api/v1/namespaces/default/pods/job-1",
                                        "/api/v1/namespaces/default/pods/made-x2x4z"};
    _cleanup_free_ char *uid =
        xstrdup(sim_str(sim_ask(&c.to, 200, "GET", paths[0], NULL), "metadata.uid"));
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        sim_ask(&c.to, 200, "DELETE", paths[i], NULL);
    sim_pass(&c.to, SEC(120));
    /* under its own name, another pod, and running again; whoever its scheduler was */
    const json_t *pod = sim_ask(&c.to, 200, "GET", paths[0], NULL);
    assert_string_not_equal(sim_str(pod, "metadata.uid"), uid);
    assert_string_equal(sim_str(pod, "status.phase"), "Running");
    assert_string_equal(sim_str(pod, "spec.nodeName"), "w1");
    assert_string_equal(sim_str(pod, "metadata.ownerReferences.0.uid"), "u-1");
    assert_string_equal(sim_str(pod, "metadata.labels.app"), "pg");
    sim_ask(&c.to, 404, "GET", paths[1], NULL); /* it had done its work */
    sim_ask(&c.to, 404, "GET", paths[2], NULL); /* under another name */
    assert_int_equal(pods(&c), 2);
    copy_done(&c);
}

/* Where the controller is known, it is its business; and without a controller it is nobody's. */
static void test_not_ours(void **state) {
    (void)state;
    struct copy_site c;
    copy_begin(&c, SIM_START);
    put(&c, NODE("w1"));
    put(&c, POD("bare", "\"annotations\":{}", "Running"));
    copy_end(&c);
    sim_pass(&c.to, SEC(10));
    sim_ask(&c.to, 200, "DELETE", "/api/v1/namespaces/default/pods/bare", NULL);
    sim_pass(&c.to, SEC(120));
    assert_int_equal(pods(&c), 0);
    copy_done(&c);
}

#define BUDGET(reason)                                                                             \
    "{\"apiVersion\":\"policy/"                                                                    \
    "v1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{\"name\":\"pg\","                         \
    "\"namespace\":\"default\",\"generation\":1},\"spec\":{\"maxUnavailable\":1,\"selector\":{"    \
    "\"matchLabels\":{\"app\":\"pg\"}}},\"status\":{\"observedGeneration\":1,\"expectedPods\":2,"  \
    "\"disruptionsAllowed\":1,\"currentHealthy\":2,\"desiredHealthy\":1,\"conditions\":[{"         \
    "\"type\":"                                                                                    \
    "\"DisruptionAllowed\",\"status\":\"True\",\"reason\":\"" reason                               \
    "\",\"message\":\"\",\"lastTransitionTime\":\"2026-11-14T23:00:00Z\",\"observedGeneration\":"  \
    "1}]}}"

static int64_t allowed(const char *budget) {
    struct copy_site c;
    copy_begin(&c, SIM_START);
    put(&c, NODE("w1"));
    put(&c, POD("pg-1", OWNER("Cluster"), "Running"));
    put(&c, POD("pg-2", OWNER("Cluster"), "Running"));
    put(&c, budget);
    copy_end(&c);
    sim_pass(&c.to, SEC(60));
    int64_t n = sim_int(sim_ask(&c.to, 200, "GET",
                                "/apis/policy/v1/namespaces/default/poddisruptionbudgets/pg", NULL),
                        "status.disruptionsAllowed");
    copy_done(&c);
    return n;
}

/* How many there should be only their controller knows: as many as in the original. Where nobody
 * could tell there either, nobody can here. */
static void test_budget(void **state) {
    (void)state;
    assert_int_equal(allowed(BUDGET("SufficientPods")), 1);
    assert_int_equal(allowed(BUDGET("SyncFailed")), 0);
}

/* Claims of any driver's class get their volume. */
static void test_claims(void **state) {
    (void)state;
    struct copy_site c;
    copy_begin(&c, SIM_START);
    put(&c, NODE("w1"));
    put(&c,
        "{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"StorageClass\",\"metadata\":{\"name\":"
        "\"fast\"},\"provisioner\":\"ebs.csi.aws.com\",\"reclaimPolicy\":\"Delete\","
        "\"volumeBindingMode\":\"Immediate\"}");
    put(&c,
        "{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"StorageClass\",\"metadata\":{\"name\":"
        "\"by-hand\"},\"provisioner\":\"kubernetes.io/no-provisioner\",\"reclaimPolicy\":"
        "\"Delete\",\"volumeBindingMode\":\"Immediate\"}");
    copy_end(&c);
    static const char *const names[] = {"fast", "by-hand"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char body[512];
        (void)snprintf(body, sizeof body,
                       "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"storageClassName\":\"%s\","
                       "\"accessModes\":[\"ReadWriteOnce\"],\"resources\":{\"requests\":{"
                       "\"storage\":\"1Gi\"}}}}",
                       names[i], names[i]);
        sim_ask(&c.to, 201, "POST", "/api/v1/namespaces/default/persistentvolumeclaims", body);
    }
    sim_pass(&c.to, SEC(60));
    const char *path = "/api/v1/namespaces/default/persistentvolumeclaims/fast";
    assert_string_equal(sim_str(sim_ask(&c.to, 200, "GET", path, NULL), "status.phase"), "Bound");
    path = "/api/v1/namespaces/default/persistentvolumeclaims/by-hand";
    assert_string_equal(sim_str(sim_ask(&c.to, 200, "GET", path, NULL), "status.phase"), "Pending");
    copy_done(&c);
}

/* The cluster is freed with one on its way. */
static void test_freed(void **state) {
    (void)state;
    struct copy_site c;
    copy_begin(&c, SIM_START);
    put(&c, NODE("w1"));
    put(&c, POD("pg-1", OWNER("Cluster"), "Running"));
    copy_end(&c);
    sim_pass(&c.to, SEC(10));
    sim_ask(&c.to, 200, "DELETE", "/api/v1/namespaces/default/pods/pg-1?gracePeriodSeconds=0",
            NULL);
    assert_int_equal(pods(&c), 0);
    copy_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comes_back), cmocka_unit_test(test_not_ours),
        cmocka_unit_test(test_budget),     cmocka_unit_test(test_claims),
        cmocka_unit_test(test_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
