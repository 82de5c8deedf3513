/* Pending pods find their nodes. */
#include "sim/fleet/parts.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_places(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"image\":\"i\"}],\"nodeSelector\":{\"disk\":\"ssd\"}}}");
    sim_add_node(&s, "n1");
    sim_pass(&s, SEC(5));
    json_t *p = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/p", NULL);
    assert_string_equal(sim_str(p, "status.conditions.0.reason"), "Unschedulable");
    assert_non_null(strstr(sim_str(p, "status.conditions.0.message"), "0/1 nodes are available"));
    sim_ask(&s, 200, "PATCH", "/api/v1/nodes/n1", "{\"metadata\":{\"labels\":{\"disk\":\"ssd\"}}}");
    sim_pass(&s, SEC(15)); /* and a back-off */
    p = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/p", NULL);
    assert_string_equal(sim_str(p, "spec.nodeName"), "n1");
    /* another scheduler's pods are not ours */
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"q\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"image\":\"i\"}],\"schedulerName\":\"mine\"}}");
    sim_pass(&s, SEC(5));
    assert_null(sim_at(sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/q", NULL),
                       "spec.nodeName"));
    sim_site_done(&s);
}

static void test_spreads(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_add_node(&s, "n2");
    sim_ask(&s, 201, "POST", "/apis/apps/v1/namespaces/default/deployments",
            "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":8,\"selector\":{\"matchLabels\":"
            "{\"app\":\"d\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"d\"}},\"spec\":{"
            "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    sim_pass(&s, SEC(20));
    json_t *a = sim_ask(&s, 200, "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", NULL);
    assert_int_equal(json_array_size(sim_at(a, "items")), 4);
    sim_site_done(&s);
}

/* A scheduler that is busy sees pods late, but places as many in a second as another. */
static void test_lag(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_pass(&s, SEC(60));
    s.world->lag = SEC(2);
    for (int i = 0; i < 8; i++) {
        _cleanup_free_ char *pod =
            xasprintf("{\"metadata\":{\"name\":\"p%d\"},\"spec\":{\"containers\":[{\"name\":"
                      "\"c\",\"image\":\"i\"}]}}",
                      i);
        sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods", pod);
    }
    static const char there[] = "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1";
    sim_pass(&s, MSEC(990));
    assert_int_equal(json_array_size(sim_at(sim_ask(&s, 200, "GET", there, NULL), "items")), 0);
    sim_pass(&s, MSEC(2400));
    assert_int_equal(json_array_size(sim_at(sim_ask(&s, 200, "GET", there, NULL), "items")), 8);
    sim_site_done(&s);
}

/* A pod whose disk has yet to be made goes where its class allows disks, and nowhere else. */
static void test_allowed_topologies(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_add_node(&s, "n2");
    sim_ask(&s, 200, "PATCH", "/api/v1/nodes/n1",
            "{\"metadata\":{\"labels\":{\"topology.kubernetes.io/zone\":\"a\"}}}");
    sim_ask(&s, 200, "PATCH", "/api/v1/nodes/n2",
            "{\"metadata\":{\"labels\":{\"topology.kubernetes.io/zone\":\"b\"}}}");
    static const char *const zones[] = {"b", "c"};
    for (int i = 0; i < 2; i++) {
        _cleanup_free_ char *class = xasprintf(
            "{\"metadata\":{\"name\":\"near-%s\"},\"provisioner\":\"disk.sim.slipway.dev\","
            "\"volumeBindingMode\":\"WaitForFirstConsumer\",\"allowedTopologies\":[{"
            "\"matchLabelExpressions\":[{\"key\":\"topology.kubernetes.io/zone\",\"values\":["
            "\"%s\"]}]}]}",
            zones[i], zones[i]);
        sim_ask(&s, 201, "POST", "/apis/storage.k8s.io/v1/storageclasses", class);
        for (int k = 0; k < 4; k++) { /* one may be there by chance */
            _cleanup_free_ char *pod = xasprintf(
                "{\"metadata\":{\"name\":\"p-%s-%d\"},\"spec\":{\"containers\":[{\"name\":\"c\","
                "\"image\":\"i\"}],\"volumes\":[{\"name\":\"d\",\"ephemeral\":{"
                "\"volumeClaimTemplate\":{\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],"
                "\"storageClassName\":\"near-%s\",\"resources\":{\"requests\":{\"storage\":"
                "\"1Gi\"}}}}}}]}}",
                zones[i], k, zones[i]);
            sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods", pod);
        }
    }
    sim_pass(&s, SEC(30));
    for (int k = 0; k < 4; k++) {
        _cleanup_free_ char *in_b = xasprintf("/api/v1/namespaces/default/pods/p-b-%d", k);
        _cleanup_free_ char *in_c = xasprintf("/api/v1/namespaces/default/pods/p-c-%d", k);
        assert_string_equal(sim_str(sim_ask(&s, 200, "GET", in_b, NULL), "spec.nodeName"), "n2");
        json_t *none = sim_ask(&s, 200, "GET", in_c, NULL);
        assert_null(sim_at(none, "spec.nodeName"));
        assert_string_equal(
            sim_str(none, "status.conditions.0.message"),
            "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind. "
            "no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not "
            "helpful for scheduling.");
    }
    sim_site_done(&s);
}

/* A driver attaches so many volumes to a node as its CSINode says, and then no more. */
static void test_volume_limits(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_ask(&s, 201, "POST", "/apis/storage.k8s.io/v1/storageclasses",
            "{\"metadata\":{\"name\":\"late\"},\"provisioner\":\"disk.sim.slipway.dev\","
            "\"volumeBindingMode\":\"WaitForFirstConsumer\"}");
    sim_ask(&s, 201, "POST", "/apis/storage.k8s.io/v1/csinodes",
            "{\"metadata\":{\"name\":\"n1\"},\"spec\":{\"drivers\":[{\"name\":"
            "\"disk.sim.slipway.dev\",\"nodeID\":\"x\",\"allocatable\":{\"count\":1}}]}}");
    for (int k = 0; k < 2; k++) {
        _cleanup_free_ char *pod = xasprintf(
            "{\"metadata\":{\"name\":\"p-%d\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
            "\"i\"}],\"volumes\":[{\"name\":\"d\",\"ephemeral\":{\"volumeClaimTemplate\":{\"spec\":"
            "{"
            "\"accessModes\":[\"ReadWriteOnce\"],\"storageClassName\":\"late\",\"resources\":{"
            "\"requests\":{\"storage\":\"1Gi\"}}}}}}]}}",
            k);
        sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods", pod);
        sim_pass(&s, SEC(20));
    }
    static const char second[] = "/api/v1/namespaces/default/pods/p-1";
    assert_string_equal(
        sim_str(sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/p-0", NULL),
                "spec.nodeName"),
        "n1");
    json_t *none = sim_ask(&s, 200, "GET", second, NULL);
    assert_null(sim_at(none, "spec.nodeName"));
    assert_non_null(strstr(sim_str(none, "status.conditions.0.message"),
                           "0/1 nodes are available: 1 node(s) exceed max volume count."));
    /* the first one goes, and its volume is detached */
    sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/pods/p-0", NULL);
    sim_pass(&s, SEC(600));
    assert_string_equal(sim_str(sim_ask(&s, 200, "GET", second, NULL), "spec.nodeName"), "n1");
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_spreads),
        cmocka_unit_test(test_lag),
        cmocka_unit_test(test_volume_limits),
        cmocka_unit_test(test_allowed_topologies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
