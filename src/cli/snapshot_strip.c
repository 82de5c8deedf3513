/* Taking out of objects what is nobody's business. */
#include "cli/snapshot_strip.h"

#include <string.h>

#include "base/str.h"

/* --- annotations --- */

/* Whose annotations are kept: a domain stands for those below it. */
static const char *const kept_domains[] = {"kubernetes.io", "k8s.io", "karpenter.sh",
                                           "slipway.dev"};
/* And single ones without a domain. */
static const char *const kept_keys[] = {"deprecated.daemonset.template.generation"};

static bool is_below(const char *domain, size_t len, const char *top) {
    size_t n = strlen(top);
    return len >= n && !memcmp(domain + len - n, top, n) &&
           (len == n || domain[len - n - 1] == '.');
}

static bool is_kept(const char *key) {
    const char *slash = strchr(key, '/');
    for (size_t i = 0; i < ARRAY_LEN(kept_keys); i++)
        if (streq(key, kept_keys[i]))
            return true;
    /* kubectl's have whole objects in them; the simulator's are of another world. */
    if (!slash || str_starts(key, "kubectl.kubernetes.io/") || str_starts(key, "sim.slipway.dev/"))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(kept_domains); i++)
        if (is_below(key, (size_t)(slash - key), kept_domains[i]))
            return true;
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

static void strip_volume(json_t *volume) {
    json_t *csi = json_object_get(volume, "csi"), *flex = json_object_get(volume, "flexVolume");
    json_object_del(csi, "volumeAttributes");
    json_object_del(flex, "options");
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

/* What containers said when they ended may be anything. */
static void strip_states(json_t *list) {
    static const char *const states[] = {"state", "lastState"};
    size_t i;
    json_t *c;
    json_array_foreach(list, i, c) for (size_t k = 0; k < ARRAY_LEN(states); k++) {
        json_t *ended = json_object_get(json_object_get(c, states[k]), "terminated");
        json_object_del(ended, "message");
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
    strip_template(json_object_get(json_object_get(obj, "spec"), "template"));
}

static void strip_node(json_t *obj) {
    static const char *const own[] = {"images", "addresses", "daemonEndpoints", NULL};
    del_all(json_object_get(obj, "status"), own);
}

static void strip_volume_object(json_t *obj) {
    json_t *spec = json_object_get(obj, "spec");
    strip_volume(spec);
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
