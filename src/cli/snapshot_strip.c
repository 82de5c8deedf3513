/* Taking out of objects what is nobody's business. */
#include "cli/snapshot_strip.h"

#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/str.h"

/* --- annotations --- */

/* Those that Kubernetes' controllers, a drain or Slipway act on; what ends in a dot or a slash
 * stands for all that begin so. Not whole domains: kubernetes.io/change-cause has command lines in
 * it, and volume.beta.kubernetes.io/mount-options what mounts are opened with. */
static const char *const kept_keys[] = {
    "batch.kubernetes.io/",
    "cluster-autoscaler.kubernetes.io/safe-to-evict",
    "cluster.x-k8s.io/drain",
    "controller.kubernetes.io/pod-deletion-cost",
    "deployment.kubernetes.io/",
    "deprecated.daemonset.template.generation",
    "karpenter.sh/",
    "kubernetes.io/config.",
    "pv.kubernetes.io/",
    "slipway.dev/",
    "storageclass.beta.kubernetes.io/is-default-class",
    "storageclass.kubernetes.io/is-default-class",
    "volume.beta.kubernetes.io/storage-class",
    "volume.beta.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/selected-node",
    "volume.kubernetes.io/storage-provisioner",
};

static bool is_kept(const char *key) {
    for (size_t i = 0; i < ARRAY_LEN(kept_keys); i++) {
        const char *kept = kept_keys[i];
        char last = kept[strlen(kept) - 1];
        if (last == '/' || last == '.' ? str_starts(key, kept) : streq(key, kept))
            return true;
    }
    return false;
}

static void strip_meta(json_t *meta) {
    json_t *map = json_object_get(meta, "annotations"), *v;
    const char *key;
    void *next;
    json_object_del(meta, "managedFields");
    json_object_del(meta, "selfLink");
    json_object_foreach_safe(map, next, key, v) if (!is_kept(key)) json_object_del(map, key);
    if (map && !json_object_size(map))
        json_object_del(meta, "annotations");
}

/* --- pods --- */

static void del_all(json_t *obj, const char *const *keys) {
    for (; *keys; keys++)
        json_object_del(obj, *keys);
}

/* A handler must say what it does, so what it runs becomes something that it does not. */
static void strip_handler(json_t *handler) {
    json_t *exec = json_object_get(handler, "exec"), *http = json_object_get(handler, "httpGet");
    if (exec)
        json_object_set_new(exec, "command", json_pack("[s]", "left-out"));
    json_object_del(http, "httpHeaders");
    if (http)
        json_object_set_new(http, "path", json_string("/"));
}

static void strip_container(json_t *c) {
    static const char *const values[] = {"env", "envFrom", "command", "args", NULL};
    static const char *const probes[] = {"livenessProbe", "readinessProbe", "startupProbe"};
    static const char *const hooks[] = {"preStop", "postStart"};
    del_all(c, values);
    for (size_t i = 0; i < ARRAY_LEN(probes); i++)
        strip_handler(json_object_get(c, probes[i]));
    for (size_t i = 0; i < ARRAY_LEN(hooks); i++)
        strip_handler(json_object_get(json_object_get(c, "lifecycle"), hooks[i]));
}

/* Of a pod, or what a PersistentVolume is made of. */
static void strip_volume(json_t *volume) {
    json_t *csi = json_object_get(volume, "csi"), *flex = json_object_get(volume, "flexVolume");
    json_t *git = json_object_get(volume, "gitRepo");
    json_object_del(csi, "volumeAttributes");
    json_object_del(flex, "options");
    if (git) /* with a token before the host, often */
        json_object_set_new(git, "repository", json_string("left-out"));
    json_object_del(volume, "mountOptions"); /* of CIFS: a password */
    strip_meta(json_object_get(
        json_object_get(json_object_get(volume, "ephemeral"), "volumeClaimTemplate"), "metadata"));
}

static void strip_pod_spec(json_t *spec) {
    static const char *const lists[] = {"containers", "initContainers", "ephemeralContainers"};
    static const char *const own[] = {"hostAliases", "dnsConfig", NULL};
    size_t i;
    json_t *item;
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        json_array_foreach(json_object_get(spec, lists[l]), i, item) strip_container(item);
    json_array_foreach(json_object_get(spec, "volumes"), i, item) strip_volume(item);
    del_all(spec, own);
}

static void strip_template(json_t *template) {
    strip_meta(json_object_get(template, "metadata"));
    strip_pod_spec(json_object_get(template, "spec"));
}

/* What containers said when they ended may be anything. What they wait for may have their command
 * in it, but for images, where it says what is wrong with them. */
static void strip_states(json_t *list) {
    static const char *const states[] = {"state", "lastState"};
    static const char *const images[] = {"ErrImagePull", "ImagePullBackOff", "InvalidImageName"};
    size_t i;
    json_t *c;
    json_array_foreach(list, i, c) for (size_t k = 0; k < ARRAY_LEN(states); k++) {
        json_t *state = json_object_get(c, states[k]), *waits = json_object_get(state, "waiting");
        bool image = false;
        for (size_t n = 0; n < ARRAY_LEN(images); n++)
            image = image || str_same(json_str(waits, "reason"), images[n]);
        json_object_del(json_object_get(state, "terminated"), "message");
        if (!image)
            json_object_del(waits, "message");
    }
}

static void strip_pod_status(json_t *status) {
    static const char *const own[] = {"podIP", "podIPs", "hostIP", "hostIPs", NULL};
    static const char *const lists[] = {"containerStatuses", "initContainerStatuses",
                                        "ephemeralContainerStatuses"};
    del_all(status, own);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        strip_states(json_object_get(status, lists[i]));
}

/* --- kinds --- */

static void strip_pod(json_t *obj) {
    strip_pod_spec(json_object_get(obj, "spec"));
    strip_pod_status(json_object_get(obj, "status"));
}

static void strip_workload(json_t *obj) {
    json_t *spec = json_object_get(obj, "spec"), *claim;
    size_t i;
    strip_template(json_object_get(spec, "template"));
    json_array_foreach(json_object_get(spec, "volumeClaimTemplates"), i, claim)
        strip_meta(json_object_get(claim, "metadata"));
}

static void strip_node(json_t *obj) {
    static const char *const own[] = {"images", "addresses", "daemonEndpoints", NULL};
    del_all(json_object_get(obj, "status"), own);
}

static void strip_volume_object(json_t *obj) {
    json_t *spec = json_object_get(obj, "spec");
    strip_volume(spec);
}

/* What a driver says about an attachment is between it and the kubelet. */
static void strip_attachment(json_t *obj) {
    json_object_del(json_object_get(obj, "status"), "attachmentMetadata");
    strip_volume(json_object_get(json_object_get(json_object_get(obj, "spec"), "source"),
                                 "inlineVolumeSpec"));
}

static void strip_class(json_t *obj) {
    json_object_del(obj, "parameters");
    json_object_del(obj, "mountOptions");
}

static void strip_revision(json_t *obj) {
    json_object_del(obj, "data");
}

static const struct {
    const char *kind;
    void (*strip)(json_t *obj);
} rows[] = {
    {"Pod", strip_pod},
    {"Node", strip_node},
    {"Deployment", strip_workload},
    {"ReplicaSet", strip_workload},
    {"StatefulSet", strip_workload},
    {"DaemonSet", strip_workload},
    {"Job", strip_workload},
    {"PersistentVolume", strip_volume_object},
    {"VolumeAttachment", strip_attachment},
    {"StorageClass", strip_class},
    {"ControllerRevision", strip_revision},
};

void snapshot_strip(json_t *obj) {
    const char *kind = strna(json_str(obj, "kind"));
    strip_meta(json_object_get(obj, "metadata"));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (streq(kind, rows[i].kind))
            rows[i].strip(obj);
}

bool snapshot_wants(const json_t *obj) {
    if (!str_same(json_str(obj, "kind"), "ReplicaSet"))
        return true;
    const json_t *wanted = json_object_get(json_object_get(obj, "spec"), "replicas");
    const json_t *there = json_object_get(json_object_get(obj, "status"), "replicas");
    return !wanted || json_integer_value(wanted) > 0 || json_integer_value(there) > 0;
}

/* --- custom resources --- */

static bool can_read(struct codec *codec, const struct kind *kind, const json_t *obj) {
    _cleanup_free_ char *text = json_dumps(obj, JSON_COMPACT);
    _cleanup_free_ void *known = xcalloc(1, kind->type->size);
    if (!text || codec_json(codec, kind->type, view_of(text), known, NULL))
        return false;
    type_release(kind->type, codec->pool, known, known);
    return true;
}

/* Something that cannot be read either, and says nothing of the object: without it a check would
 * take the object for one that is well. */
static json_t *unreadable_part(struct codec *codec, const struct kind *kind) {
    for (size_t i = 0; i < kind->type->n_fields; i++) {
        const char *key = kind->type->fields[i].json;
        for (int k = 0; key && !streq(key, "metadata") && k < 2; k++) {
            json_t *value = k ? json_object() : json_string("left-out");
            _cleanup_json_ json_t *part = json_pack("{s:o}", key, value);
            if (!can_read(codec, kind, part))
                return TAKE_PTR(part);
        }
    }
    return json_object();
}

/* What the table of its kind names. */
static json_t *known_part(struct codec *codec, const struct kind *kind, const json_t *obj) {
    _cleanup_free_ char *text = json_dumps(obj, JSON_COMPACT);
    _cleanup_free_ void *known = xcalloc(1, kind->type->size);
    _cleanup_str_ struct str out = STR_INIT;
    if (!text || codec_json(codec, kind->type, view_of(text), known, NULL))
        return unreadable_part(codec, kind);
    struct jsonw w;
    jsonw_init(&w, &out, false);
    jsonw_begin(&w, '{');
    type_print(kind->type, &w, known, known);
    jsonw_end(&w);
    type_release(kind->type, codec->pool, known, known);
    json_t *made = json_loadb(str_get(&out), out.len, 0, NULL);
    return made ? made : json_object();
}

json_t *snapshot_known(struct codec *codec, const struct kind *kind, const json_t *obj) {
    char version[64];
    _cleanup_json_ json_t *part = known_part(codec, kind, obj);
    json_t *made = json_pack("{s:s, s:s, s:O?}", "apiVersion", kind_api_version(kind, version),
                             "kind", kind->name, "metadata", json_object_get(obj, "metadata"));
    strip_meta(json_object_get(made, "metadata"));
    json_object_update_missing(made, part);
    return made;
}

json_t *snapshot_definition(const struct kind *kind) {
    _cleanup_free_ char *name = xasprintf("%s.%s", kind->resource, kind->group);
    return json_pack(
        "{s:s, s:s, s:{s:s}, s:{s:s, s:{s:s, s:s}, s:s, s:[{s:s, s:b, s:b, s:{s:{s:s, s:b}}}]}}",
        "apiVersion", "apiextensions.k8s.io/v1", "kind", "CustomResourceDefinition", "metadata",
        "name", name, "spec", "group", kind->group, "names", "plural", kind->resource, "kind",
        kind->name, "scope", kind->namespaced ? "Namespaced" : "Cluster", "versions", "name",
        kind->version, "served", 1, "storage", 1, "schema", "openAPIV3Schema", "type", "object",
        "x-kubernetes-preserve-unknown-fields", 1);
}
