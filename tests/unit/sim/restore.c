/* Tests of src/sim/restore.c: a copy is what its original was, and stays so. */
#include "copy_site.h" /* before cmocka, whose fail() is a macro */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/fleet/original.h"
#include "sim/scenario.h"

/* --- clusters at rest --- */

/* Every pod by uid, node and state: "ns/name uid node phase ready". */
static char *pods_of(struct sim_site *s) {
    struct str out = STR_INIT;
    struct snapshot *snap = shelf_snapshot(s->fleet->pods->shelf);
    for (size_t i = 0; i < snap->n; i++) {
        const struct pod *p = record_as(pod, snap->items[i]);
        const struct condition *ready = condition_find(p->conditions, "Ready");
        str_addf(&out, "%s/%s %s %s %s %s\n", p->meta.ns, p->meta.name, p->meta.uid,
                 strna(p->node_name), strna(p->phase), ready ? ready->status : "-");
    }
    snapshot_unref(snap);
    return str_take(&out);
}

static char *budgets_of(struct sim_site *s) {
    struct str out = STR_INIT;
    struct snapshot *snap = shelf_snapshot(s->fleet->pdbs->shelf);
    for (size_t i = 0; i < snap->n; i++) {
        const struct pdb *p = record_as(pdb, snap->items[i]);
        str_addf(&out, "%s/%s %d %d %d %d\n", p->meta.ns, p->meta.name, p->allowed, p->healthy,
                 p->desired, p->expected);
    }
    snapshot_unref(snap);
    return str_take(&out);
}

static size_t count(struct sim_site *s, const char *group, const char *plural) {
    return shelf_len(api_resource(s->api, group, "v1", plural)->shelf);
}

static void check_rest(const char *name) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct scenario *scenario;
    assert_int_equal(scenario_load(name, &scenario, &err), 0);
    struct sim_site from;
    sim_site_init(&from, true);
    assert_int_equal(scenario_begin(scenario, from.sim, 0, &err), 0);
    sim_pass(&from, SEC(600));
    struct copy_site c;
    copy_begin(&c, from.world->clock.now);
    copy_all(&c, &from);
    copy_end(&c);
    _cleanup_free_ char *was = pods_of(&from), *budgets = budgets_of(&from);
    _cleanup_free_ char *at_once = pods_of(&c.to);
    assert_string_equal(at_once, was);
    size_t sets = count(&from, "apps", "replicasets");
    size_t revisions = count(&from, "apps", "controllerrevisions");
    sim_pass(&c.to, SEC(1800));
    _cleanup_free_ char *later = pods_of(&c.to), *budgets_later = budgets_of(&c.to);
    if (strcmp(later, was) != 0)
        fail_msg("%s did not stay as it was:\n%s\nbecame\n%s", name, was, later);
    assert_string_equal(budgets_later, budgets);
    assert_int_equal(count(&c.to, "apps", "replicasets"), sets);
    assert_int_equal(count(&c.to, "apps", "controllerrevisions"), revisions);
    copy_done(&c);
    scenario_stop(scenario);
    sim_site_done(&from);
    scenario_free(scenario);
}

static void test_rest(void **state) {
    (void)state;
    static const char *const names[] = {
        "happy", "zones",  "stateful",    "control-plane", "pdb-stuck",
        "full",  "pinned", "two-budgets", "slow-pods",     "webhook-less-edge"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        check_rest(names[i]);
}

/* --- it goes on --- */

#define WEB                                                                                        \
    "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"replicas\":3,\"selector\":{\"matchLabels\":{"    \
    "\"app\":\"web\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"web\"}},\"spec\":{"       \
    "\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"envFrom\":[{\"configMapRef\":{\"name\":"    \
    "\"settings\"}}]}],\"volumes\":[{\"name\":\"s\",\"secret\":{\"secretName\":\"key\"}}]}}}}"

static size_t ready_pods(struct sim_site *s) {
    _cleanup_free_ char *all = pods_of(s);
    size_t n = 0;
    for (const char *p = all; (p = strstr(p, " Running True\n")); p++)
        n++;
    return n;
}

/* A pod that goes is replaced, though its Secret, its account and all that is not in the copy. */
static void test_goes_on(void **state) {
    (void)state;
    struct sim_site from;
    sim_site_init(&from, true);
    sim_add_node(&from, "w1");
    sim_add_node(&from, "w2");
    sim_ask(&from, 201, "POST", "/api/v1/namespaces/default/secrets",
            "{\"metadata\":{\"name\":\"key\"}}");
    sim_ask(&from, 201, "POST", "/apis/apps/v1/namespaces/default/deployments", WEB);
    sim_pass(&from, SEC(60));
    assert_int_equal(ready_pods(&from), 3);
    struct copy_site c;
    copy_begin(&c, from.world->clock.now);
    copy_all(&c, &from);
    copy_end(&c);
    assert_int_equal(count(&c.to, "", "secrets"), 0);
    const json_t *list = sim_ask(&c.to, 200, "GET", "/api/v1/namespaces/default/pods", NULL);
    char path[256];
    (void)snprintf(path, sizeof path, "/api/v1/namespaces/default/pods/%s",
                   sim_str(list, "items.0.metadata.name"));
    sim_ask(&c.to, 200, "DELETE", path, NULL);
    sim_pass(&c.to, SEC(120));
    sim_ask(&c.to, 404, "GET", path, NULL);
    assert_int_equal(ready_pods(&c.to), 3);
    copy_done(&c);
    sim_site_done(&from);
}

/* --- what is stuck stays so --- */

#define POD(name, node, more, status)                                                              \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name                       \
    "\",\"namespace\":\"default\",\"creationTimestamp\":\"2026-11-14T23:00:00Z\"" more             \
    "},\"spec\":{\"nodeName\":\"" node                                                             \
    "\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]},\"status\":" status "}"
#define CONDITION(type, value, time)                                                               \
    "{\"type\":\"" type "\",\"status\":\"" value "\",\"lastTransitionTime\":\"" time "\"}"
#define RUNNING(ready, since)                                                                      \
    "{\"phase\":\"Running\",\"conditions\":[" CONDITION(                                           \
        "PodScheduled", "True",                                                                    \
        "2026-11-14T23:00:00Z") "," CONDITION("Ready", ready,                                      \
                                              since) "],\"containerStatuses\":[{\"name\":\"c\","   \
                                                     "\"ready\":true,"                             \
                                                     "\"restartCount\":0,\"image\":\"i\","         \
                                                     "\"imageID\":\"\",\"state\":{"                \
                                                     "\"running\":{\"startedAt\":\"2026-11-14T23:" \
                                                     "00:03Z\"}}}]}"
#define NODE(name, ready)                                                                          \
    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" name                      \
    "\"},\"status\":{\"conditions\":[" CONDITION("Ready", ready, "2026-11-14T22:00:00Z") "]}}"

static void put(struct copy_site *c, const char *json) {
    _cleanup_err_ struct err err = ERR_INIT;
    if (copy_put(c, json, &err))
        fail_msg("%s: %s", json, err_msg(&err));
}

static const char *pod_field(struct copy_site *c, const char *name, const char *field) {
    char path[128];
    (void)snprintf(path, sizeof path, "/api/v1/namespaces/default/pods/%s", name);
    return sim_str(sim_ask(&c->to, 200, "GET", path, NULL), field);
}

static bool is_ready(struct copy_site *c, const char *name) {
    const struct record *r = shelf_get(c->to.fleet->pods->shelf, "default", name);
    assert_non_null(r);
    const struct condition *ready = condition_find(record_as(pod, r)->conditions, "Ready");
    return ready && str_same(ready->status, "True");
}

static void test_stuck(void **state) {
    (void)state;
    struct copy_site c;
    copy_begin(&c, SIM_START);
    put(&c, NODE("w1", "True"));
    put(&c, POD("well", "w1", "", RUNNING("True", "2026-11-14T23:00:05Z")));
    put(&c, POD("ill", "w1", "", RUNNING("False", "2026-11-14T23:00:05Z")));
    put(&c, POD("unstarted", "w1", "",
                "{\"phase\":\"Pending\",\"conditions\":[" CONDITION("PodScheduled", "True",
                                                                    "2026-11-14T23:00:00Z") "]}"));
    put(&c, POD("starting", "w1", "",
                "{\"phase\":\"Pending\",\"conditions\":[" CONDITION("PodScheduled", "True",
                                                                    "2026-11-14T23:59:58Z") "]}"));
    put(&c, POD("ending", "w1",
                ",\"deletionTimestamp\":\"2026-11-15T00:00:20Z\",\"deletionGracePeriodSeconds\":30",
                RUNNING("True", "2026-11-14T23:00:05Z")));
    put(&c, POD("unended", "w1",
                ",\"deletionTimestamp\":\"2026-11-14T23:10:00Z\",\"deletionGracePeriodSeconds\":30",
                RUNNING("True", "2026-11-14T23:00:05Z")));
    /* as soon as a drain calls it stuck */
    put(&c, POD("overdue", "w1",
                ",\"deletionTimestamp\":\"2026-11-14T23:58:50Z\",\"deletionGracePeriodSeconds\":30",
                RUNNING("True", "2026-11-14T23:00:05Z")));
    put(&c, POD("slow", "w1",
                ",\"deletionTimestamp\":\"2026-11-14T23:59:30Z\",\"deletionGracePeriodSeconds\":30",
                RUNNING("True", "2026-11-14T23:00:05Z")));
    copy_end(&c);
    /* They came without most of what a server sets by default; what is stored has it in its order,
     * or it could not be shown as protobuf. */
    sim_ask_as(&c.to, 200, "GET", "/api/v1/pods", "application/vnd.kubernetes.protobuf", NULL,
               NULL);
    sim_ask_as(&c.to, 200, "GET", "/api/v1/nodes", "application/vnd.kubernetes.protobuf", NULL,
               NULL);
    assert_string_equal(pod_field(&c, "well", "spec.restartPolicy"), "Always");
    sim_pass(&c.to, SEC(900));
    assert_true(is_ready(&c, "well"));
    assert_false(is_ready(&c, "ill"));
    assert_string_equal(pod_field(&c, "ill", "status.phase"), "Running");
    assert_string_equal(pod_field(&c, "unstarted", "status.phase"), "Pending");
    assert_true(is_ready(&c, "starting"));
    sim_ask(&c.to, 404, "GET", "/api/v1/namespaces/default/pods/ending", NULL);
    assert_non_null(pod_field(&c, "unended", "metadata.deletionTimestamp"));
    assert_non_null(pod_field(&c, "overdue", "metadata.deletionTimestamp"));
    sim_ask(&c.to, 404, "GET", "/api/v1/namespaces/default/pods/slow", NULL);
    copy_done(&c);
}

/* A disk that did not get off its node there does not here. */
static void test_stuck_disk(void **state) {
    (void)state;
    static const char *const ends[] = {"\"2026-11-14T23:10:00Z\"", "\"2026-11-14T23:59:58Z\""};
    for (int i = 0; i < 2; i++) {
        struct copy_site c;
        copy_begin(&c, SIM_START);
        put(&c, NODE("w1", "True"));
        put(&c,
            "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\",\"metadata\":{\"name\":\"v\"},"
            "\"spec\":{\"capacity\":{\"storage\":\"1Gi\"},\"accessModes\":[\"ReadWriteOnce\"],"
            "\"csi\":{\"driver\":\"d.example\",\"volumeHandle\":\"h\"}},\"status\":{\"phase\":"
            "\"Available\"}}");
        _cleanup_free_ char *va = xasprintf(
            "{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"VolumeAttachment\",\"metadata\":{"
            "\"name\":\"a\",\"finalizers\":[\"external-attacher/d-example\"],"
            "\"deletionTimestamp\":%s,\"deletionGracePeriodSeconds\":0},\"spec\":{\"attacher\":"
            "\"d.example\",\"nodeName\":\"w1\",\"source\":{\"persistentVolumeName\":\"v\"}},"
            "\"status\":{\"attached\":true}}",
            ends[i]);
        put(&c, va);
        copy_end(&c);
        sim_pass(&c.to, SEC(900));
        sim_ask(&c.to, i ? 404 : 200, "GET", "/apis/storage.k8s.io/v1/volumeattachments/a", NULL);
        copy_done(&c);
    }
}

/* --- hostile lines --- */

static void test_bad(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "x",
        "[]",
        "{}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}",
        "{\"apiVersion\":1,\"kind\":\"Pod\",\"metadata\":{}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":[]}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"a\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"..\",\"namespace\":\"a\"}"
        "}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"namespace\":\"a/"
        "b\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"namespace\":\"a\"},"
        "\"spec\":7}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\",\"namespace\":\"a\"}"
        "}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":7}}",
    };
    struct copy_site c;
    copy_begin(&c, SIM_START);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        if (copy_put(&c, bad[i], &err) != -EINVAL || !err.msg)
            fail_msg("it was taken: %s", bad[i]);
    }
    assert_int_equal(restore_kept(c.restore), 0);
    copy_end(&c);
    copy_done(&c);
}

/* Objects without most of what objects have, and with what none has, do not bring it down. */
static void test_odd(void **state) {
    (void)state;
    static const char *const odd[] = {
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"namespace\":"
        "\"none\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\",\"namespace\":"
        "\"none\","
        "\"annotations\":null},\"spec\":{\"nodeName\":\"nowhere\",\"serviceAccountName\":\"../x\"},"
        "\"status\":{\"conditions\":null,\"phase\":\"What\"}}",
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\","
        "\"namespace\":\"none\"},\"spec\":{\"replicas\":-5}}",
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\",\"metadata\":{\"name\":\"d\","
        "\"namespace\":\"none\"}}",
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"metadata\":{\"name\":\"s\","
        "\"namespace\":\"none\"},\"spec\":{\"replicas\":2}}",
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"metadata\":{\"name\":\"r\","
        "\"namespace\":\"none\",\"ownerReferences\":[{}]}}",
        "{\"apiVersion\":\"policy/"
        "v1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{\"name\":\"p\","
        "\"namespace\":\"none\"},\"spec\":{\"maxUnavailable\":\"x%\"},\"status\":"
        "{\"disruptionsAllowed\":-3}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\",\"metadata\":{\"name\":\"v\"},"
        "\"spec\":"
        "{\"csi\":{\"driver\":\"d\"},\"claimRef\":{}}}",
        "{\"apiVersion\":\"storage.k8s.io/"
        "v1\",\"kind\":\"VolumeAttachment\",\"metadata\":{\"name\":"
        "\"va\",\"finalizers\":[\"external-attacher/"
        "x\"]},\"spec\":{\"attacher\":\"d\",\"nodeName\":"
        "\"nowhere\",\"source\":{\"persistentVolumeName\":\"v\"}}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\",\"uid\":\"same\"},"
        "\"spec\":{\"taints\":[{}]}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\",\"uid\":\"same\"}}",
        "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"j\",\"namespace\":"
        "\"none\"},\"spec\":{\"parallelism\":3}}",
        "{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"CSIDriver\",\"metadata\":{}}",
    };
    struct copy_site c;
    copy_begin(&c, SIM_START);
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        put(&c, odd[i]);
    copy_end(&c);
    sim_pass(&c.to, SEC(600));
    copy_done(&c);
}

/* Secrets are not kept, even where somebody put one into the file; nor what machines say anew. */
static void test_dropped(void **state) {
    (void)state;
    struct copy_site c;
    copy_begin(&c, SIM_START);
    put(&c, "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"a\",\"namespace\":"
            "\"default\"}}");
    put(&c, "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"a\",\"namespace\":"
            "\"default\"}}");
    put(&c, "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":"
            "\"a\",\"namespace\":\"default\"}}");
    put(&c, "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"a\"}}");
    put(&c, "{\"apiVersion\":\"policy/v1beta1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{"
            "\"name\":\"a\",\"namespace\":\"default\"}}");
    assert_int_equal(restore_dropped(c.restore), 5);
    assert_int_equal(restore_kept(c.restore), 0);
    assert_int_equal(count(&c.to, "", "secrets"), 0);
    copy_end(&c);
    copy_done(&c);
}

/* A copy whose chances begin with the seed of its original gives out other uids all the same. */
static void test_same_seed(void **state) {
    (void)state;
    struct sim_site from;
    sim_site_init(&from, true);
    struct prng seed = from.world->random;
    char theirs[50][UUID_LEN + 1], ours[UUID_LEN + 1];
    for (size_t i = 0; i < ARRAY_LEN(theirs); i++)
        world_uuid(from.world, theirs[i]);
    struct copy_site c;
    copy_begin(&c, SIM_START);
    restore_free(c.restore);
    c.to.world->random = seed;
    original_free(c.to.fleet->original);
    c.restore = restore_new(c.to.sim, c.habits, true);
    for (size_t i = 0; i < ARRAY_LEN(theirs); i++) {
        world_uuid(c.to.world, ours);
        for (size_t k = 0; k < ARRAY_LEN(theirs); k++)
            assert_string_not_equal(ours, theirs[k]);
    }
    copy_end(&c);
    copy_done(&c);
    sim_site_done(&from);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest),    cmocka_unit_test(test_goes_on),
        cmocka_unit_test(test_stuck),   cmocka_unit_test(test_stuck_disk),
        cmocka_unit_test(test_bad),     cmocka_unit_test(test_odd),
        cmocka_unit_test(test_dropped), cmocka_unit_test(test_same_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
