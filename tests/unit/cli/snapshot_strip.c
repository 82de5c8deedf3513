/* Tests of src/cli/snapshot_strip.c: nothing that could be a secret is left, and what is needed is.
 */
#include "cli/snapshot_strip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/snapshot_take.h"
#include "model/foreign.h"

/* S stands for something that nobody is to see. */
#define CONTAINER                                                                                  \
    "{\"name\":\"c\",\"image\":\"i:1\",\"command\":[\"S\"],\"args\":[\"S\"],\"env\":[{\"name\":"   \
    "\"S\",\"value\":\"S\"}],\"envFrom\":[{\"prefix\":\"S\"}],\"resources\":{\"requests\":{"       \
    "\"cpu\":\"1\"}},\"livenessProbe\":{\"exec\":{\"command\":[\"S\"]},\"periodSeconds\":7},"      \
    "\"readinessProbe\":{\"httpGet\":{\"path\":\"/?S\",\"port\":80,\"httpHeaders\":[{\"name\":"    \
    "\"Authorization\",\"value\":\"S\"}]}},\"startupProbe\":{\"httpGet\":{\"path\":\"/S\"}},"      \
    "\"lifecycle\":{\"preStop\":{\"exec\":{\"command\":[\"S\"]}},\"postStart\":{\"httpGet\":{"     \
    "\"httpHeaders\":[{\"value\":\"S\"}]}}}}"
#define SPEC                                                                                       \
    "{\"nodeName\":\"w1\",\"containers\":[" CONTAINER "],\"initContainers\":[" CONTAINER           \
    "],\"ephemeralContainers\":[" CONTAINER                                                        \
    "],\"volumes\":[{\"name\":\"v\",\"csi\":{\"driver\":\"d\",\"volumeAttributes\":{\"k\":\"S\"}}" \
    "},{\"name\":\"g\",\"gitRepo\":{\"repository\":\"S\"}},{\"name\":\"e\",\"ephemeral\":{"        \
    "\"volumeClaimTemplate\":{\"metadata\":{\"annotations\":{\"a\":\"S\"}}}}"                      \
    "},{\"name\":\"f\",\"flexVolume\":{\"driver\":\"d\",\"options\":{\"k\":\"S\"}}},{\"name\":"    \
    "\"s\",\"secret\":{\"secretName\":\"key\"}}],\"hostAliases\":[{\"ip\":\"S\"}],"                \
    "\"tolerations\":[{\"operator\":\"Exists\"}]}"
#define META                                                                                       \
    "{\"name\":\"n\",\"labels\":{\"app\":\"a\"},\"managedFields\":[{\"manager\":\"S\"}],"          \
    "\"annotations\":{\"kubectl.kubernetes.io/last-applied-configuration\":\"S\","                 \
    "\"example.com/token\":\"S\",\"token\":\"S\",\"sim.slipway.dev/start\":\"S\","                 \
    "\"evil-kubernetes.io/a\":\"S\",\"kubernetes.io.evil.com/a\":\"S\","                           \
    "\"kubernetes.io/change-cause\":\"S\",\"kubernetes.io/description\":\"S\","                    \
    "\"volume.beta.kubernetes.io/mount-options\":\"S\",\"app.k8s.io/a\":\"S\","                    \
    "\"alpha.kubernetes.io/provided-node-ip\":\"S\",\"deployment.kubernetes.io/foo\":\"S\","       \
    "\"batch.kubernetes.io/x\":\"S\",\"karpenter.sh/x\":\"S\",\"pv.kubernetes.io/x\":\"S\","       \
    "\"kubernetes.io/config.x\":\"S\",\"slipway.dev/x\":\"S\","                                    \
    "\"cluster-autoscaler.kubernetes.io/safe-to-evict\":\"false\","                                \
    "\"karpenter.sh/do-not-disrupt\":\"true\",\"slipway.dev/cordon\":\"{}\","                      \
    "\"deprecated.daemonset.template.generation\":\"3\",\"kubernetes.io/config.mirror\":\"m\"}}"
#define WORKLOAD(kind)                                                                             \
    "{\"kind\":\"" kind "\",\"metadata\":" META ",\"spec\":{\"template\":{\"metadata\":" META      \
    ",\"spec\":" SPEC "}}}"

static char *stripped(const char *text) {
    json_t *obj = json_loads(text, 0, NULL);
    if (!obj)
        fail_msg("no JSON: %s", text);
    snapshot_strip(obj);
    char *out = json_dumps(obj, JSON_COMPACT);
    json_decref(obj);
    return out;
}

static void clean(const char *text, const char *const *kept) {
    _cleanup_free_ char *out = stripped(text);
    /* as a value, or part of one: no other capital S is in the samples but in kinds */
    const char *bad = strstr(out, "\"S\"");
    if (bad || strstr(out, "/S") || strstr(out, "?S"))
        fail_msg("something is left: %s", out);
    for (; *kept; kept++)
        if (!strstr(out, *kept))
            fail_msg("%s is gone: %s", *kept, out);
}

static void test_secrets(void **state) {
    (void)state;
    static const char *const pod_kept[] = {"\"nodeName\":\"w1\"",
                                           "\"image\":\"i:1\"",
                                           "\"cpu\":\"1\"",
                                           "\"app\":\"a\"",
                                           "safe-to-evict\":\"false\"",
                                           "karpenter.sh/do-not-disrupt",
                                           "slipway.dev/cordon",
                                           "config.mirror",
                                           "template.generation",
                                           "{\"name\":\"s\",\"downwardAPI\":{}}",
                                           "\"periodSeconds\":7",
                                           "\"operator\":\"Exists\"",
                                           "\"restartCount\":2",
                                           "\"message\":\"no such\"",
                                           NULL};
    clean("{\"kind\":\"Pod\",\"metadata\":" META ",\"spec\":" SPEC
          ",\"status\":{\"podIP\":\"S\",\"podIPs\":[{\"ip\":\"S\"}],\"hostIP\":\"S\",\"hostIPs\":[{"
          "\"ip\":\"S\"}],\"containerStatuses\":[{\"restartCount\":2,\"state\":{\"terminated\":{"
          "\"message\":\"S\",\"exitCode\":1}},\"lastState\":{\"terminated\":{\"message\":\"S\"}}}],"
          "\"initContainerStatuses\":[{\"state\":{\"terminated\":{\"message\":\"S\"}}},"
          "{\"state\":{\"waiting\":{\"reason\":\"RunContainerError\",\"message\":\"S\"}}},"
          "{\"state\":{\"waiting\":{\"reason\":\"ErrImagePull\",\"message\":\"no such\"}}}]}}",
          pod_kept);
    static const char *const kept[] = {"\"app\":\"a\"", "\"image\":\"i:1\"", NULL};
    clean(WORKLOAD("Deployment"), kept);
    clean(WORKLOAD("ReplicaSet"), kept);
    clean(WORKLOAD("StatefulSet"), kept);
    clean(WORKLOAD("DaemonSet"), kept);
    clean(WORKLOAD("Job"), kept);
    static const char *const name[] = {"\"name\":\"n\"", NULL};
    clean("{\"kind\":\"ControllerRevision\",\"metadata\":" META
          ",\"data\":{\"spec\":{\"env\":\"S\"}},\"revision\":3}",
          (const char *const[]){"\"revision\":3", NULL});
    clean("{\"kind\":\"StorageClass\",\"metadata\":" META
          ",\"parameters\":{\"k\":\"S\"},\"mountOptions\":[\"S\"],\"provisioner\":\"p\"}",
          (const char *const[]){"\"provisioner\":\"p\"", NULL});
    clean("{\"kind\":\"PersistentVolume\",\"metadata\":" META
          ",\"spec\":{\"csi\":{\"driver\":\"d\",\"volumeHandle\":\"S\",\"volumeAttributes\":{\"k\":"
          "\"S\"}}}}",
          (const char *const[]){"\"volumeHandle\":\"n\"", NULL});
    clean("{\"kind\":\"PersistentVolume\",\"metadata\":" META
          ",\"spec\":{\"nfs\":{\"server\":\"S\",\"path\":\"/S\"}}}",
          (const char *const[]){"\"hostPath\":{\"path\":\"/left-out\"}", NULL});
    clean("{\"kind\":\"PersistentVolume\",\"metadata\":" META
          ",\"spec\":{\"mountOptions\":[\"S\"],\"storageClassName\":\"slow\"}}",
          (const char *const[]){"\"storageClassName\":\"slow\"", NULL});
    clean("{\"kind\":\"VolumeAttachment\",\"metadata\":" META
          ",\"spec\":{\"source\":{\"inlineVolumeSpec\":{\"csi\":{\"volumeAttributes\":{\"k\":"
          "\"S\"}}}}},\"status\":{\"attached\":true,\"attachmentMetadata\":{\"k\":\"S\"}}}",
          (const char *const[]){"\"attached\":true", NULL});
    clean("{\"kind\":\"StatefulSet\",\"metadata\":" META
          ",\"spec\":{\"volumeClaimTemplates\":[{\"metadata\":{\"name\":\"data\",\"annotations\":{"
          "\"a\":\"S\"}}}]}}",
          (const char *const[]){"\"name\":\"data\"", NULL});
    clean("{\"kind\":\"Node\",\"metadata\":" META
          ",\"status\":{\"images\":[{\"names\":[\"S\"]}],\"addresses\":[{\"address\":\"S\"}],"
          "\"allocatable\":{\"cpu\":\"8\"}}}",
          (const char *const[]){"\"cpu\":\"8\"", NULL});
    clean("{\"kind\":\"Namespace\",\"metadata\":" META "}", name);
}

/* An attachment is found by a name that follows from the handle, which has become another. */
static void test_attachment(void **state) {
    (void)state;
    clean("{\"kind\":\"VolumeAttachment\",\"metadata\":{\"name\":\"csi-0123\"},\"spec\":{"
          "\"attacher\":\"d\",\"nodeName\":\"w1\",\"source\":{\"persistentVolumeName\":"
          "\"pv1\"}}}",
          /* sha256sum of "pv1dw1" */
          (const char *const[]){
              "csi-4c78f1af68925e81301731754f7fab730d8032a7c7652a8952810f52a358cd15", NULL});
    clean("{\"kind\":\"VolumeAttachment\",\"metadata\":{\"name\":\"mine\"},\"spec\":{"
          "\"attacher\":\"d\",\"nodeName\":\"w1\",\"source\":{\"persistentVolumeName\":"
          "\"pv1\"}}}",
          (const char *const[]){"\"name\":\"mine\"", NULL});
}

/* Of a template only what the pods of a rehearsal need. */
static void test_template(void **state) {
    (void)state;
    clean("{\"kind\":\"Deployment\",\"metadata\":{\"name\":\"n\",\"annotations\":{"
          "\"deployment.kubernetes.io/revision\":\"3\"}},\"spec\":{\"template\":{\"metadata\":{"
          "\"annotations\":{\"deployment.kubernetes.io/revision\":\"S\","
          "\"kubernetes.io/config.mirror\":\"S\",\"slipway.dev/cordon\":\"S\","
          "\"cluster-autoscaler.kubernetes.io/safe-to-evict\":\"false\"}}}}}",
          (const char *const[]){"\"deployment.kubernetes.io/revision\":\"3\"",
                                "safe-to-evict\":\"false\"", NULL});
}

/* A Deployment finds its ReplicaSet by the template: what was equal stays equal. */
static void test_equal(void **state) {
    (void)state;
    json_t *a = json_loads(WORKLOAD("Deployment"), 0, NULL);
    json_t *b = json_loads(WORKLOAD("ReplicaSet"), 0, NULL);
    snapshot_strip(a);
    snapshot_strip(b);
    assert_true(json_equal(json_object_get(a, "spec"), json_object_get(b, "spec")));
    json_decref(a);
    json_decref(b);
}

/* What has other types than it should does not bring it down. */
static void test_odd(void **state) {
    (void)state;
    static const char *const odd[] = {
        "{}",
        "[]",
        "{\"kind\":7}",
        "{\"kind\":\"Pod\",\"metadata\":[],\"spec\":7,\"status\":\"x\"}",
        ("{\"kind\":\"Pod\",\"metadata\":{\"annotations\":[]},\"spec\":{\"containers\":{},"
         "\"volumes\":[7],\"initContainers\":[[],7,{\"livenessProbe\":[],\"lifecycle\":7}]}}"),
        "{\"kind\":\"Deployment\",\"spec\":{\"template\":[]}}",
        "{\"kind\":\"Node\",\"status\":[]}",
    };
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        free(stripped(odd[i]));
}

static bool wants(const char *text) {
    json_t *obj = json_loads(text, 0, NULL);
    bool yes = snapshot_wants(obj);
    json_decref(obj);
    return yes;
}

static void test_wants(void **state) {
    (void)state;
    assert_true(wants("{\"kind\":\"Pod\"}"));
    assert_true(wants("{\"kind\":\"Deployment\",\"spec\":{\"replicas\":0}}"));
    assert_false(
        wants("{\"kind\":\"ReplicaSet\",\"spec\":{\"replicas\":0},\"status\":{\"replicas\":0}}"));
    assert_false(wants("{\"kind\":\"ReplicaSet\",\"spec\":{\"replicas\":0}}"));
    assert_true(wants("{\"kind\":\"ReplicaSet\",\"spec\":{}}")); /* one */
    assert_true(wants("{\"kind\":\"ReplicaSet\",\"spec\":{\"replicas\":1}}"));
    assert_true(
        wants("{\"kind\":\"ReplicaSet\",\"spec\":{\"replicas\":0},\"status\":{\"replicas\":2}}"));
}

/* Of a custom resource nothing but what is known of its kind. */
static void test_known(void **state) {
    (void)state;
    struct pool *pool = pool_new(type_drop);
    struct codec codec;
    codec_init(&codec, pool);
    static const char *const cases[][2] = {
        {"{\"apiVersion\":\"kubevirt.io/v1\",\"kind\":\"VirtualMachineInstance\",\"metadata\":" META
         ",\"spec\":{\"evictionStrategy\":\"LiveMigrate\",\"volumes\":[{\"cloudInitNoCloud\":{"
         "\"userData\":\"S\"}}]},\"status\":{\"nodeName\":\"w1\",\"interfaces\":[{\"ip\":\"S\"}]}}",
         "\"evictionStrategy\":\"LiveMigrate\""},
        /* a shape that nobody knows: what it is called, and that it cannot be read */
        {"{\"kind\":\"x\",\"metadata\":" META ",\"spec\":\"S\",\"status\":[\"S\"]}",
         "\"name\":\"n\""},
        {"{\"metadata\":{\"name\":\"n\"}}", "\"name\":\"n\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_json_ json_t *obj = json_loads(cases[i][0], 0, NULL);
        _cleanup_json_ json_t *known = snapshot_known(&codec, &kind_vmi, obj);
        _cleanup_free_ char *out = json_dumps(known, JSON_COMPACT);
        if (strstr(out, "\"S\"") || !strstr(out, cases[i][1]))
            fail_msg("%s: %s", cases[i][1], out);
        assert_true(str_starts(out, "{\"apiVersion\":\"kubevirt.io/v1\",\"kind\":"
                                    "\"VirtualMachineInstance\",\"metadata\":{"));
        _cleanup_json_ json_t *again = snapshot_known(&codec, &kind_vmi, known);
        assert_true(i > 0 || json_equal(again, known));
    }
    codec_done(&codec);
    pool_free(pool);
}

/* What no check can read stays so: else it would be taken for something that is well. */
static void test_unreadable(void **state) {
    (void)state;
    struct pool *pool = pool_new(type_drop);
    struct codec codec;
    codec_init(&codec, pool);
    for (size_t i = 0; i < SNAPSHOT_KINDS; i++) {
        const struct kind *kind = snapshot_kinds[i].custom;
        if (!kind)
            continue;
        for (size_t k = 0; k < kind->type->n_fields; k++) {
            const char *key = kind->type->fields[k].json;
            if (!key || streq(key, "metadata"))
                continue;
            _cleanup_json_ json_t *obj =
                json_pack("{s:{s:s}, s:[[s]]}", "metadata", "name", "n", key, "secret");
            _cleanup_json_ json_t *known = snapshot_known(&codec, kind, obj);
            _cleanup_free_ char *out = json_dumps(known, JSON_COMPACT);
            _cleanup_free_ void *read = xcalloc(1, kind->type->size);
            if (strstr(out, "secret") || !strstr(out, "\"name\":\"n\"") ||
                !codec_json(&codec, kind->type, view_of(out), read, NULL))
                fail_msg("%s %s: %s", kind->name, key, out);
        }
    }
    codec_done(&codec);
    pool_free(pool);
}

static void test_definition(void **state) {
    (void)state;
    _cleanup_json_ json_t *v = snapshot_definition(&kind_cnpg_cluster);
    _cleanup_free_ char *out = json_dumps(v, JSON_COMPACT);
    assert_string_equal(
        out, "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
             "\"metadata\":{\"name\":\"clusters.postgresql.cnpg.io\"},\"spec\":{\"group\":"
             "\"postgresql.cnpg.io\",\"names\":{\"plural\":\"clusters\",\"kind\":\"Cluster\"},"
             "\"scope\":\"Namespaced\",\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":"
             "true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\","
             "\"x-kubernetes-preserve-unknown-fields\":true}}}]}}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secrets),    cmocka_unit_test(test_attachment),
        cmocka_unit_test(test_template),   cmocka_unit_test(test_equal),
        cmocka_unit_test(test_known),      cmocka_unit_test(test_definition),
        cmocka_unit_test(test_odd),        cmocka_unit_test(test_wants),
        cmocka_unit_test(test_unreadable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
