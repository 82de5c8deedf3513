/* Tests of src/sim/restore_end.c: what was not copied is made up where it is needed. */
#include "copy_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void put(struct copy_site *c, const char *json) {
    _cleanup_err_ struct err err = ERR_INIT;
    if (copy_put(c, json, &err))
        fail_msg("%s: %s", json, err_msg(&err));
    assert_int_equal(restore_refused(c->restore, NULL), 0);
}

#define SPEC                                                                                       \
    "{\"serviceAccountName\":\"app\",\"priorityClassName\":\"high\",\"priority\":1000,"            \
    "\"preemptionPolicy\":\"PreemptLowerPriority\",\"restartPolicy\":\"Always\",\"dnsPolicy\":"    \
    "\"ClusterFirst\",\"schedulerName\":\"default-scheduler\",\"terminationGracePeriodSeconds\":"  \
    "30,"                                                                                          \
    "\"securityContext\":{},\"containers\":[{\"name\":\"c\",\"image\":\"i:1\","                    \
    "\"imagePullPolicy\":\"IfNotPresent\"}]"
#define POD(name, owner, uid, labels, more)                                                        \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name                       \
    "\",\"namespace\":\"shop\",\"labels\":{\"app\":\"a\"" labels                                   \
    "},\"ownerReferences\":[{\"apiVersion\":\"" owner "\",\"name\":\"o\",\"uid\":\"" uid           \
    "\",\"controller\":true}]},\"spec\":" SPEC more                                                \
    "},\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"," \
    "\"lastTransitionTime\":\"2026-11-14T23:00:00Z\"}]}}"
#define NODE(name, ready)                                                                          \
    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" name                      \
    "\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"" ready                      \
    "\",\"lastTransitionTime\":\"2026-11-14T22:00:00Z\"}]}}"
#define TEMPLATE                                                                                   \
    "{\"metadata\":{\"labels\":{\"app\":\"a\"}},\"spec\":{\"serviceAccountName\":\"app\","         \
    "\"priorityClassName\":\"high\",\"containers\":[{\"name\":\"c\",\"image\":\"i:1\"}]}}"

/* Namespaces, accounts and classes that the pods name. */
static void test_needs(void **state) {
    (void)state;
    struct copy_site c;
    copy_begin(&c, SIM_START);
    put(&c, NODE("w1", "True"));
    put(&c, POD("p", "apps/v1\",\"kind\":\"ReplicaSet", "u-r", "", ",\"nodeName\":\"w1\""));
    copy_end(&c);
    sim_ask(&c.to, 200, "GET", "/api/v1/namespaces/shop", NULL);
    sim_ask(&c.to, 200, "GET", "/api/v1/namespaces/shop/serviceaccounts/app", NULL);
    const json_t *class =
        sim_ask(&c.to, 200, "GET", "/apis/scheduling.k8s.io/v1/priorityclasses/high", NULL);
    assert_int_equal(sim_int(class, "value"), 1000);
    copy_done(&c);
}

/* Its ReplicaSet was not copied, which is no reason to delete the pod; neither is an owner of a
 * kind that nobody knows. */
static void test_strangers(void **state) {
    (void)state;
    struct copy_site c;
    copy_begin(&c, SIM_START);
    put(&c, NODE("w1", "True"));
    put(&c, POD("p", "apps/v1\",\"kind\":\"ReplicaSet", "u-r", "", ",\"nodeName\":\"w1\""));
    put(&c, POD("q", "example.com/v1\",\"kind\":\"Cluster", "u-c", "", ",\"nodeName\":\"w1\""));
    copy_end(&c);
    sim_pass(&c.to, SEC(600));
    sim_ask(&c.to, 200, "GET", "/api/v1/namespaces/shop/pods/p", NULL);
    sim_ask(&c.to, 200, "GET", "/api/v1/namespaces/shop/pods/q", NULL);
    copy_done(&c);
}

#define DAEMON_SET                                                                                 \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\",\"metadata\":{\"name\":\"o\","             \
    "\"namespace\":\"shop\",\"uid\":\"u-ds\",\"generation\":1},\"spec\":{\"selector\":{"           \
    "\"matchLabels\":{\"app\":\"a\"}},\"template\":" TEMPLATE                                      \
    ",\"updateStrategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"maxUnavailable\":1,"     \
    "\"maxSurge\":0}}}}"
#define REVISION(name, number)                                                                     \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"ControllerRevision\",\"metadata\":{\"name\":\"o-" name \
    "\",\"namespace\":\"shop\",\"labels\":{\"controller-revision-hash\":\"" name                   \
    "\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\",\"name\":\"o\","  \
    "\"uid\":\"u-ds\",\"controller\":true}]},\"revision\":" number "}"
#define DAEMON_POD                                                                                 \
    POD("d", "apps/v1\",\"kind\":\"DaemonSet", "u-ds", ",\"controller-revision-hash\":\"bbbbb\"",  \
        ",\"nodeName\":\"w1\",\"tolerations\":[{\"operator\":\"Exists\"}],\"affinity\":{"          \
        "\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"                   \
        "\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":"        \
        "\"In\",\"values\":[\"w1\"]}]}]}}}")

static void check_daemon(struct copy_site *c, const char *kept) {
    _cleanup_free_ char *uid = xstrdup(sim_str(
        sim_ask(&c->to, 200, "GET", "/api/v1/namespaces/shop/pods/d", NULL), "metadata.uid"));
    sim_pass(&c->to, SEC(600));
    const json_t *pod = sim_ask(&c->to, 200, "GET", "/api/v1/namespaces/shop/pods/d", NULL);
    assert_string_equal(sim_str(pod, "metadata.uid"), uid); /* nobody has replaced it */
    const json_t *list =
        sim_ask(&c->to, 200, "GET", "/apis/apps/v1/namespaces/shop/controllerrevisions", NULL);
    bool found = false;
    for (size_t i = 0; i < json_array_size(sim_at(list, "items")); i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "items.%zu.metadata.name", i);
        found |= str_same(sim_str(list, path), kept);
    }
    assert_true(found);
    const json_t *set =
        sim_ask(&c->to, 200, "GET", "/apis/apps/v1/namespaces/shop/daemonsets/o", NULL);
    assert_int_equal(sim_int(set, "status.updatedNumberScheduled"), 1);
}

/* Revisions come without their templates: the newest has the present one. */
static void test_revisions(void **state) {
    (void)state;
    struct copy_site c;
    copy_begin(&c, SIM_START);
    put(&c, NODE("w1", "True"));
    put(&c, DAEMON_SET);
    put(&c, REVISION("aaaaa", "1"));
    put(&c, REVISION("bbbbb", "2"));
    put(&c, DAEMON_POD);
    copy_end(&c);
    check_daemon(&c, "o-bbbbb");
    copy_done(&c);
}

/* They could not be read at all: the pods tell which one there must be. */
static void test_no_revisions(void **state) {
    (void)state;
    struct copy_site c;
    copy_begin(&c, SIM_START);
    put(&c, NODE("w1", "True"));
    put(&c, DAEMON_SET);
    put(&c, DAEMON_POD);
    copy_end(&c);
    check_daemon(&c, "o-bbbbb");
    copy_done(&c);
}

static const char *ready_of(struct copy_site *c, const char *node) {
    const struct record *r = shelf_get(c->to.fleet->nodes->shelf, NULL, node);
    return node_condition_find(record_as(node, r)->conditions, "Ready")->c.status;
}

/* What admission has added to pods that are there, those that replace them have, too. */
static void test_overhead(void **state) {
    (void)state;
    struct copy_site c;
    copy_begin(&c, SIM_START);
    put(&c, NODE("w1", "True"));
    put(&c, "{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"metadata\":{\"name\":\"o\","
            "\"namespace\":\"shop\",\"uid\":\"u-r\"},\"spec\":{\"replicas\":1,\"selector\":{"
            "\"matchLabels\":{\"app\":\"a\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":"
            "\"a\"}},\"spec\":{\"runtimeClassName\":\"kata\",\"containers\":[{\"name\":\"c\","
            "\"image\":\"i:1\"}]}}}}");
    put(&c, POD("p", "apps/v1\",\"kind\":\"ReplicaSet", "u-r", "",
                ",\"nodeName\":\"w1\",\"runtimeClassName\":\"kata\",\"overhead\":{\"cpu\":"
                "\"250m\"}"));
    copy_end(&c);
    sim_ask(&c.to, 200, "DELETE", "/api/v1/namespaces/shop/pods/p", NULL);
    sim_pass(&c.to, SEC(60));
    const json_t *list = sim_ask(&c.to, 200, "GET", "/api/v1/namespaces/shop/pods", NULL);
    const json_t *made = json_array_get(json_object_get(list, "items"), 0);
    assert_string_not_equal(json_str(json_object_get(made, "metadata"), "name"), "p");
    const json_t *overhead = json_object_get(json_object_get(made, "spec"), "overhead");
    assert_non_null(overhead);
    assert_string_equal(json_str(overhead, "cpu"), "250m");
    copy_done(&c);
}

/* Nodes stay as they were; on one that is not ready pods end all the same, on one that is lost not.
 */
static void test_machines(void **state) {
    (void)state;
    struct copy_site c;
    copy_begin(&c, SIM_START);
    put(&c, NODE("w1", "True"));
    put(&c, NODE("w2", "False"));
    put(&c, NODE("w3", "Unknown"));
    put(&c, POD("p", "example.com/v1\",\"kind\":\"Node", "u-c", "",
                ",\"nodeName\":\"w2\",\"tolerations\":[{\"operator\":\"Exists\"}]"));
    put(&c, POD("q", "example.com/v1\",\"kind\":\"Node", "u-c", "",
                ",\"nodeName\":\"w3\",\"tolerations\":[{\"operator\":\"Exists\"}]"));
    copy_end(&c);
    sim_pass(&c.to, SEC(400));
    assert_string_equal(ready_of(&c, "w1"), "True");
    assert_string_equal(ready_of(&c, "w2"), "False");
    assert_string_equal(ready_of(&c, "w3"), "Unknown");
    sim_ask(&c.to, 200, "DELETE", "/api/v1/namespaces/shop/pods/p", NULL);
    sim_ask(&c.to, 200, "DELETE", "/api/v1/namespaces/shop/pods/q", NULL);
    sim_pass(&c.to, SEC(120));
    sim_ask(&c.to, 404, "GET", "/api/v1/namespaces/shop/pods/p", NULL);
    sim_ask(&c.to, 200, "GET", "/api/v1/namespaces/shop/pods/q", NULL);
    copy_done(&c);
}

/* Nothing can be watched from before it began. */
static void test_forgets(void **state) {
    (void)state;
    struct copy_site c;
    copy_begin(&c, SIM_START);
    put(&c, NODE("w1", "True"));
    copy_end(&c);
    sim_ask(&c.to, 200, "GET", "/api/v1/nodes?watch=1&resourceVersion=1", NULL);
    assert_non_null(strstr(sim_text(&c.to), "\"reason\":\"Expired\""));
    copy_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_needs),     cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_revisions), cmocka_unit_test(test_no_revisions),
        cmocka_unit_test(test_overhead),  cmocka_unit_test(test_machines),
        cmocka_unit_test(test_forgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
