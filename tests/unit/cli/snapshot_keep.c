/* Tests of src/cli/snapshot_keep.c: what is left of an object in which every field that Kubernetes
 * knows has a mark. */
#include "cli/snapshot_keep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/snapshot_strip.h"
#include "cli/snapshot_take.h"
#include "sim/schema/schema.h"

#define MARK "hush"

enum { DEPTH_MOST = 16 };

/* --- an object with a mark in each field --- */

static json_t *marked(const struct schema *s, int depth);

static json_t *marked_value(const struct schema_field *f, int depth) {
    switch ((enum schema_kind)f->kind) {
    case SCHEMA_OBJECT:
        return marked(f->of, depth + 1);
    case SCHEMA_BOOL:
        return json_true();
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_DOUBLE:
        return json_integer(1);
    default:
        return json_string(MARK);
    }
}

static void add_marked(json_t *to, const struct schema *s, int depth) {
    for (size_t i = 0; i < s->n_fields && depth < DEPTH_MOST; i++) {
        const struct schema_field *f = &s->fields[i];
        if (f->flags & SCHEMA_INLINE) {
            add_marked(to, f->of, depth + 1);
            continue;
        }
        json_t *v = marked_value(f, depth);
        if (f->flags & SCHEMA_LIST)
            v = json_pack("[o]", v);
        else if (f->flags & SCHEMA_MAP)
            v = json_pack("{s:o}", MARK, v);
        json_object_set_new(to, f->json, v);
    }
}

static json_t *marked(const struct schema *s, int depth) {
    json_t *made = json_object();
    add_marked(made, s, depth);
    return made;
}

static const struct schema *schema_of(const char *version, const char *kind) {
    const char *slash = strchr(version, '/');
    _cleanup_free_ char *group = slash ? xstrndup(version, (size_t)(slash - version)) : xstrdup("");
    return schema_find(group, slash ? slash + 1 : version, kind);
}

/* --- where marks are --- */

static void find(const json_t *v, const char *path, struct str *out) {
    size_t i;
    const char *key;
    json_t *item;
    if (json_is_string(v) && strstr(json_string_value(v), MARK))
        str_addf(out, "%s\n", path);
    json_array_foreach(v, i, item) find(item, path, out);
    json_object_foreach((json_t *)v, key, item) {
        _cleanup_free_ char *below =
            *path ? xasprintf("%s.%s", path, streq(key, MARK) ? "*" : key) : xstrdup(key);
        find(item, below, out);
    }
}

/* Names, words of the API, numbers with units, times, selectors; and what controllers, the
 * scheduler and drivers have to say. */
static const char *const harmless[] = {
    "*",
    "accessModes",
    "action",
    "apiVersion",
    "architecture",
    "attacher",
    "bootID",
    "claimName",
    "completedIndexes",
    "completionMode",
    "completionTime",
    "conditionType",
    "containerName",
    "containerRuntimeVersion",
    "creationTimestamp",
    "currentRevision",
    "driver",
    "effect",
    "failed",
    "failedIndexes",
    "finalizers",
    "finishedAt",
    "fsType",
    "image",
    "imagePullPolicy",
    "kernelVersion",
    "key",
    "kind",
    "kubeProxyVersion",
    "kubeletVersion",
    "lastHeartbeatTime",
    "lastPhaseTransitionTime",
    "lastProbeTime",
    "lastTransitionTime",
    "lastUpdateTime",
    "managedBy",
    "matchLabelKeys",
    "maxSurge",
    "maxUnavailable",
    "medium",
    "message",
    "minAvailable",
    "mismatchLabelKeys",
    "name",
    "namespace",
    "namespaces",
    "nodeAffinityPolicy",
    "nodeName",
    "nodeTaintsPolicy",
    "nominatedNodeName",
    "operatingSystem",
    "operator",
    "osImage",
    "persistentVolumeName",
    "persistentVolumeReclaimPolicy",
    "phase",
    "podManagementPolicy",
    "podReplacementPolicy",
    "preemptionPolicy",
    "priorityClassName",
    "protocol",
    "provisioner",
    "qosClass",
    "reason",
    "reclaimPolicy",
    "request",
    "resourceClaimName",
    "resourceClaimTemplateName",
    "resourceName",
    "resourceVersion",
    "restartPolicy",
    "runtimeClassName",
    "schedulerName",
    "serviceName",
    "sizeLimit",
    "startTime",
    "startedAt",
    "status",
    "stopSignal",
    "storageClassName",
    "succeeded",
    "succeededIndexes",
    "targetContainerName",
    "terminationMessagePolicy",
    "time",
    "timeAdded",
    "topologyKey",
    "type",
    "uid",
    "unhealthyPodEvictionPolicy",
    "updateRevision",
    "value",
    "values",
    "volumeBindingMode",
    "volumeMode",
    "volumeName",
    "whenDeleted",
    "whenScaled",
    "whenUnsatisfiable",
};

static bool is_harmless(const char *path) {
    const char *dot = strrchr(path, '.');
    const char *word = dot ? dot + 1 : path;
    for (size_t i = 0; i < ARRAY_LEN(harmless); i++)
        if (streq(word, harmless[i]))
            return true;
    return false;
}

/* With a mark in every field of every kind that is read. A field that Kubernetes adds is not in the
 * list, whatever it is called. */
static void nothing_but_what_is_on_the_list(void **state) {
    (void)state;
    size_t seen = 0;
    for (size_t i = 0; i < SNAPSHOT_KINDS; i++) {
        const struct snapshot_kind *k = &snapshot_kinds[i];
        const struct schema *s = k->custom ? NULL : schema_of(k->version, k->kind);
        if (!s) /* custom ones have a rule of their own, and of CSIDrivers there is no schema */
            continue;
        seen++;
        json_t *obj = marked(s, 0);
        json_object_set_new(obj, "apiVersion", json_string(k->version));
        json_object_set_new(obj, "kind", json_string(k->kind));
        json_object_set_new(obj, "metadata", json_pack("{s:s}", "name", "n"));
        snapshot_strip(obj);
        _cleanup_str_ struct str found = STR_INIT;
        find(obj, "", &found);
        json_decref(obj);
        for (char *path = strtok(found.p, "\n"); path; path = strtok(NULL, "\n"))
            if (!is_harmless(path))
                fail_msg("%s: %s is left", k->kind, path);
    }
    assert_int_equal(seen, 16);
}

/* Each kind that is read has its rules. */
static void every_kind(void **state) {
    (void)state;
    for (size_t i = 0; i < SNAPSHOT_KINDS; i++)
        if (!snapshot_kinds[i].custom && !keep_of_kind(snapshot_kinds[i].kind))
            fail_msg("%s has no rules", snapshot_kinds[i].kind);
    assert_null(keep_of_kind("Secret"));
}

/* Lists are gone through, and what has another type than it should is nothing that we know. */
static void lists_and_odd_types(void **state) {
    (void)state;
    static const struct keep inner[] = {{"a", NULL}, {NULL, NULL}};
    static const struct keep rules[] = {
        {"list", inner}, {"all", NULL}, {"odd", inner}, {NULL, NULL}};
    json_t *obj = json_pack("{s:[{s:i,s:i}],s:{s:s},s:s,s:i}", "list", "a", 1, "b", 2, "all", "x",
                            "y", "odd", MARK, "more", 3);
    json_t *wanted = json_pack("{s:[{s:i}],s:{s:s}}", "list", "a", 1, "all", "x", "y");
    keep_only(obj, rules);
    assert_true(json_equal(obj, wanted));
    json_decref(obj);
    json_decref(wanted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_but_what_is_on_the_list),
        cmocka_unit_test(every_kind),
        cmocka_unit_test(lists_and_odd_types),
    };
    return cmocka_run_group_tests_name("snapshot_keep", tests, NULL, NULL);
}
