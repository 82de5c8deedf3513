/* Taking out of objects what is nobody's business. */
#include "cli/snapshot_strip.h"

#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/snapshot_keep.h"
#include "sim/fleet/storage.h"

/* --- annotations --- */

/* Those that Kubernetes' controllers, a drain or Slipway act on, one by one: in a whole domain
 * there may be anything. kubernetes.io/change-cause has command lines in it, and
 * volume.beta.kubernetes.io/mount-options what mounts are opened with. */
static const char *const kept_keys[] = {
    "batch.kubernetes.io/job-completion-index",
    "batch.kubernetes.io/job-index-failure-count",
    "batch.kubernetes.io/job-tracking",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deployment.kubernetes.io/revision",
    "deployment.kubernetes.io/revision-history",
    "deprecated.daemonset.template.generation",
    "kubernetes.io/config.hash",
    "kubernetes.io/config.mirror",
    "kubernetes.io/config.seen",
    "kubernetes.io/config.source",
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
    "pv.kubernetes.io/provisioned-by",
    "slipway.dev/approved",
    "slipway.dev/cordon",
    "slipway.dev/scale-down-disabled",
    "slipway.dev/surge",
    "storageclass.beta.kubernetes.io/is-default-class",
    "storageclass.kubernetes.io/is-default-class",
    "volume.beta.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/selected-node",
    "volume.kubernetes.io/storage-provisioner",
};
/* These also in templates: pods and claims that are made in a rehearsal have them, too. */
static const char *const kept_in_templates[] = {
    "cluster-autoscaler.kubernetes.io/safe-to-evict", "cluster.x-k8s.io/drain",
    "controller.kubernetes.io/pod-deletion-cost",     "karpenter.sh/do-not-disrupt",
    "volume.beta.kubernetes.io/storage-class",
};

static bool is_in(const char *const *list, size_t n, const char *key) {
    for (size_t i = 0; i < n; i++)
        if (streq(key, list[i]))
            return true;
    return false;
}

static bool is_kept(const char *key, bool template) {
    return is_in(kept_in_templates, ARRAY_LEN(kept_in_templates), key) ||
           (!template && is_in(kept_keys, ARRAY_LEN(kept_keys), key));
}

static void strip_meta(json_t *meta, const struct keep *rules) {
    json_t *map = json_object_get(meta, "annotations"), *v;
    bool template = rules == keep_template_meta;
    const char *key;
    void *next;
    keep_only(meta, rules);
    json_object_foreach_safe(map, next, key, v) {
        if (!is_kept(key, template))
            json_object_del(map, key);
    }
    if (map && !json_object_size(map))
        json_object_del(meta, "annotations");
}

/* --- what stands for something that is left out --- */

#define LEFT_OUT "left-out"

/* Some members must be there and say something. */
static void blank(json_t *obj, const char *key, const char *text) {
    if (json_object_get(obj, key))
        json_object_set_new(obj, key, json_string(text));
}

/* A handler must do something, so what it does becomes something that is not. How long a hook
 * sleeps is nobody's secret. */
static void blank_handler(json_t *handler) {
    static const char *const handlers[] = {"exec", "httpGet", "tcpSocket", "grpc"};
    for (size_t i = 0; i < ARRAY_LEN(handlers); i++)
        if (json_object_get(handler, handlers[i])) {
            json_object_del(handler, handlers[i]);
            json_object_set_new(handler, "exec", json_pack("{s:[s]}", "command", LEFT_OUT));
        }
}

/* Two of these are the same on every node; any other is an address. Without one the port is taken
 * on all addresses of its node, which the scheduler sees more strictly. */
static void blank_ports(json_t *ports) {
    static const char *const common[] = {"127.0.0.1", "0.0.0.0", "::1", "::"};
    size_t i;
    json_t *port;
    json_array_foreach(ports, i, port) {
        bool known = false;
        for (size_t k = 0; k < ARRAY_LEN(common); k++)
            known = known || str_same(json_str(port, "hostIP"), common[k]);
        if (!known)
            json_object_del(port, "hostIP");
    }
}

static void blank_container(json_t *c) {
    static const char *const probes[] = {"livenessProbe", "readinessProbe", "startupProbe"};
    static const char *const hooks[] = {"preStop", "postStart"};
    for (size_t i = 0; i < ARRAY_LEN(probes); i++)
        blank_handler(json_object_get(c, probes[i]));
    for (size_t i = 0; i < ARRAY_LEN(hooks); i++)
        blank_handler(json_object_get(json_object_get(c, "lifecycle"), hooks[i]));
    blank_ports(json_object_get(c, "ports"));
}

static bool has_any(const json_t *obj, const char *const *keys) {
    for (; *keys; keys++)
        if (json_object_get(obj, *keys))
            return true;
    return false;
}

/* Of a pod. Whatever else a volume may be, the pod can be evicted and goes where it likes with it:
 * all of these become the same, which has no path, no server and no name in it. */
static void blank_volume(json_t *volume) {
    static const char *const kept[] = {
        "emptyDir", "persistentVolumeClaim", "ephemeral", "csi", "hostPath", NULL};
    blank(json_object_get(volume, "hostPath"), "path", "/" LEFT_OUT);
    if (!has_any(volume, kept))
        json_object_set_new(volume, "downwardAPI", json_object());
    json_t *claim = json_object_get(json_object_get(volume, "ephemeral"), "volumeClaimTemplate");
    strip_meta(json_object_get(claim, "metadata"), keep_template_meta);
}

static void blank_pod_spec(json_t *spec) {
    static const char *const lists[] = {"containers", "initContainers", "ephemeralContainers"};
    size_t i;
    json_t *item;
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        json_array_foreach(json_object_get(spec, lists[l]), i, item) blank_container(item);
    json_array_foreach(json_object_get(spec, "volumes"), i, item) if (json_is_object(item))
        blank_volume(item);
}

/* What containers wait for may have their command in it, but for images, where it says what is
 * wrong with them. */
static void blank_states(json_t *list) {
    static const char *const states[] = {"state", "lastState"};
    static const char *const images[] = {"ErrImagePull", "ImagePullBackOff", "InvalidImageName"};
    size_t i;
    json_t *c;
    json_array_foreach(list, i, c) {
        blank(c, "imageID", "");
        for (size_t k = 0; k < ARRAY_LEN(states); k++) {
            json_t *waits = json_object_get(json_object_get(c, states[k]), "waiting");
            bool image = false;
            for (size_t n = 0; n < ARRAY_LEN(images); n++)
                image = image || str_same(json_str(waits, "reason"), images[n]);
            if (!image)
                json_object_del(waits, "message");
        }
    }
}

/* What a PersistentVolume is made of: on which node it is says nodeAffinity. Its handle may be an
 * address or a path; its own name tells it from others as well. */
static void blank_pv_spec(json_t *spec, const char *name) {
    static const char *const kept[] = {"csi", "local", "hostPath", NULL};
    blank(json_object_get(spec, "csi"), "volumeHandle", name);
    blank(json_object_get(spec, "local"), "path", "/" LEFT_OUT);
    blank(json_object_get(spec, "hostPath"), "path", "/" LEFT_OUT);
    if (json_is_object(spec) && !has_any(spec, kept))
        json_object_set_new(spec, "hostPath", json_pack("{s:s}", "path", "/" LEFT_OUT));
}

/* --- kinds --- */

static void blank_pod(json_t *obj) {
    static const char *const lists[] = {"containerStatuses", "initContainerStatuses",
                                        "ephemeralContainerStatuses"};
    blank_pod_spec(json_object_get(obj, "spec"));
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        blank_states(json_object_get(json_object_get(obj, "status"), lists[i]));
}

static void blank_workload(json_t *obj) {
    json_t *spec = json_object_get(obj, "spec"), *template = json_object_get(spec, "template");
    json_t *claim;
    size_t i;
    strip_meta(json_object_get(template, "metadata"), keep_template_meta);
    blank_pod_spec(json_object_get(template, "spec"));
    json_array_foreach(json_object_get(spec, "volumeClaimTemplates"), i, claim)
        strip_meta(json_object_get(claim, "metadata"), keep_template_meta);
}

static void blank_node(json_t *obj) {
    json_t *info = json_object_get(json_object_get(obj, "status"), "nodeInfo");
    blank(info, "machineID", "");
    blank(info, "systemUUID", "");
}

static void blank_pv(json_t *obj) {
    const char *name = json_str(json_object_get(obj, "metadata"), "name");
    blank_pv_spec(json_object_get(obj, "spec"), name ? name : LEFT_OUT);
}

/* One is found by its name, which is a hash of the volume's handle, its driver and the node: of
 * what became of the handle the hash is another. */
static void rename_attachment(json_t *obj) {
    const json_t *spec = json_object_get(obj, "spec");
    json_t *meta = json_object_get(obj, "metadata");
    const char *pv = json_str(json_object_get(spec, "source"), "persistentVolumeName");
    const char *driver = json_str(spec, "attacher"), *node = json_str(spec, "nodeName");
    char name[ATTACHMENT_NAME_SIZE];
    if (!pv || !driver || !node || !str_starts(strna(json_str(meta, "name")), "csi-"))
        return;
    const struct pv_csi csi = {.driver = driver, .handle = pv};
    json_object_set_new(meta, "name",
                        json_string(attachment_name(&(struct pv){.csi = &csi}, node, name)));
}

static void blank_attachment(json_t *obj) {
    json_t *source = json_object_get(json_object_get(obj, "spec"), "source");
    json_t *inline_spec = json_object_get(source, "inlineVolumeSpec");
    rename_attachment(obj);
    if (inline_spec)
        blank_pv_spec(inline_spec, LEFT_OUT);
}

/* What a driver calls the node may be an address. */
static void blank_csi_node(json_t *obj) {
    json_t *driver;
    size_t i;
    json_array_foreach(json_object_get(json_object_get(obj, "spec"), "drivers"), i, driver)
        blank(driver, "nodeID", LEFT_OUT);
}

static const struct {
    const char *kind;
    void (*blank)(json_t *obj);
} rows[] = {
    {"Pod", blank_pod},
    {"Node", blank_node},
    {"Deployment", blank_workload},
    {"ReplicaSet", blank_workload},
    {"StatefulSet", blank_workload},
    {"DaemonSet", blank_workload},
    {"Job", blank_workload},
    {"PersistentVolume", blank_pv},
    {"VolumeAttachment", blank_attachment},
    {"CSINode", blank_csi_node},
};

/* First what must be there becomes something else, then all that has no rule goes. */
void snapshot_strip(json_t *obj) {
    static const struct keep nothing[] = {{NULL, NULL}};
    static const char *const head[] = {"apiVersion", "kind", "metadata"};
    const char *kind = strna(json_str(obj, "kind"));
    const struct keep *rules = keep_of_kind(kind);
    _cleanup_json_ json_t *made = json_object();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (streq(kind, rows[i].kind))
            rows[i].blank(obj);
    for (size_t i = 0; i < ARRAY_LEN(head); i++)
        if (json_object_get(obj, head[i]))
            json_object_set(made, head[i], json_object_get(obj, head[i]));
    strip_meta(json_object_get(made, "metadata"), keep_meta);
    keep_only(obj, rules ? rules : nothing);
    json_object_update_missing(made, obj);
    json_object_clear(obj); /* in the order in which it is written: what it is comes first */
    json_object_update(obj, made);
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
    strip_meta(json_object_get(made, "metadata"), keep_meta);
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
