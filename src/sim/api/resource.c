/* The built-in resources, and look-ups in a row. */
#include "sim/api/resource.h"

#include <assert.h>

#include "base/mem.h"

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SUBS(s)    .subresources = (s), .n_subresources = ARRAY_LEN(s)

static const char *const in_all[] = {"all", NULL};

static const struct subresource_info namespace_subs[] = {
    {"finalize", NULL, NULL, "Namespace", VERB_UPDATE},
};
static const struct subresource_info pod_subs[] = {
    {"binding", NULL, NULL, "Binding", VERB_CREATE},
    {"eviction", "policy", "v1", "Eviction", VERB_CREATE},
};

/* What most rows have in common. */
#define ROW(group_, version_, kind_, plural_, singular_)                                           \
    .group = (group_), .version = (version_), .kind = (kind_), .list_kind = kind_ "List",          \
    .plural = (plural_), .singular = (singular_), .verbs = VERBS_ALL

static const struct resource_info builtin[] = {
    {ROW("", "v1", "ConfigMap", "configmaps", "configmap"), .short_names = NAMES("cm"),
     .namespaced = true},
    {ROW("", "v1", "Event", "events", "event"), .short_names = NAMES("ev"), .namespaced = true},
    {.group = "",
     .version = "v1",
     .kind = "Namespace",
     .list_kind = "NamespaceList",
     .plural = "namespaces",
     .singular = "namespace",
     .verbs = VERBS_ALL & ~(unsigned)VERB_DELETECOLLECTION,
     .short_names = NAMES("ns"),
     .has_status = true,
     SUBS(namespace_subs)},
    {ROW("", "v1", "Node", "nodes", "node"), .short_names = NAMES("no"), .has_status = true},
    {ROW("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "persistentvolumeclaim"),
     .short_names = NAMES("pvc"), .namespaced = true, .has_status = true},
    {ROW("", "v1", "PersistentVolume", "persistentvolumes", "persistentvolume"),
     .short_names = NAMES("pv"), .has_status = true},
    {ROW("", "v1", "Pod", "pods", "pod"), .short_names = NAMES("po"), .categories = in_all,
     .namespaced = true, .has_status = true, SUBS(pod_subs)},
    {ROW("", "v1", "Secret", "secrets", "secret"), .namespaced = true},
    {ROW("", "v1", "ServiceAccount", "serviceaccounts", "serviceaccount"),
     .short_names = NAMES("sa"), .namespaced = true},
    {ROW("", "v1", "Service", "services", "service"), .short_names = NAMES("svc"),
     .categories = in_all, .namespaced = true, .has_status = true},

    {ROW("apps", "v1", "ControllerRevision", "controllerrevisions", "controllerrevision"),
     .namespaced = true},
    {ROW("apps", "v1", "DaemonSet", "daemonsets", "daemonset"), .short_names = NAMES("ds"),
     .categories = in_all, .namespaced = true, .has_status = true},
    {ROW("apps", "v1", "Deployment", "deployments", "deployment"), .short_names = NAMES("deploy"),
     .categories = in_all, .namespaced = true, .has_status = true, .has_scale = true},
    {ROW("apps", "v1", "ReplicaSet", "replicasets", "replicaset"), .short_names = NAMES("rs"),
     .categories = in_all, .namespaced = true, .has_status = true, .has_scale = true},
    {ROW("apps", "v1", "StatefulSet", "statefulsets", "statefulset"), .short_names = NAMES("sts"),
     .categories = in_all, .namespaced = true, .has_status = true, .has_scale = true},

    {.group = "authorization.k8s.io",
     .version = "v1",
     .kind = "SelfSubjectAccessReview",
     .plural = "selfsubjectaccessreviews",
     .singular = "selfsubjectaccessreview",
     .verbs = VERB_CREATE},

    {ROW("batch", "v1", "Job", "jobs", "job"), .categories = in_all, .namespaced = true,
     .has_status = true},

    {ROW("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", "poddisruptionbudget"),
     .short_names = NAMES("pdb"), .namespaced = true, .has_status = true},

    {ROW("storage.k8s.io", "v1", "CSINode", "csinodes", "csinode")},
    {ROW("storage.k8s.io", "v1", "StorageClass", "storageclasses", "storageclass"),
     .short_names = NAMES("sc")},
    {ROW("storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", "volumeattachment"),
     .has_status = true},

    {ROW("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions",
         "customresourcedefinition"),
     .short_names = NAMES("crd", "crds"), .categories = NAMES("api-extensions"), .has_status = true,
     .stored = "v1beta1"},

    {ROW("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", "priorityclass"),
     .short_names = NAMES("pc")},

    {ROW("coordination.k8s.io", "v1", "Lease", "leases", "lease"), .namespaced = true},

    {ROW("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", "endpointslice"),
     .namespaced = true},
};

const struct resource_info *resource_builtin(size_t *n) {
    *n = ARRAY_LEN(builtin);
    return builtin;
}

const struct resource_info *resource_find(const char *group, const char *version,
                                          const char *plural) {
    for (size_t i = 0; i < ARRAY_LEN(builtin); i++)
        if (streq(builtin[i].plural, plural) && streq(builtin[i].group, group) &&
            streq(builtin[i].version, version))
            return &builtin[i];
    return NULL;
}

const struct resource_info *resource_find_kind(const char *group, const char *version,
                                               const char *kind) {
    for (size_t i = 0; i < ARRAY_LEN(builtin); i++)
        if (streq(builtin[i].kind, kind) && streq(builtin[i].group, group) &&
            streq(builtin[i].version, version))
            return &builtin[i];
    return NULL;
}

size_t resource_subresources(const struct resource_info *r, struct subresource_info *out) {
    const struct subresource_info scale = {"scale", "autoscaling", "v1", "Scale", VERBS_PART};
    const struct subresource_info status = {"status", NULL, NULL, r->kind, VERBS_PART};
    size_t n = 0;
    for (size_t i = 0; i < r->n_subresources; i++)
        out[n++] = r->subresources[i];
    if (r->custom) {
        if (r->has_status)
            out[n++] = status;
        if (r->has_scale)
            out[n++] = scale;
        return n;
    }
    if (r->has_scale)
        out[n++] = scale;
    if (r->has_status)
        out[n++] = status;
    /* The last two may have to go before some of the row's own. */
    for (size_t i = r->n_subresources; i < n; i++)
        for (size_t k = i; k > 0 && strcmp(out[k - 1].name, out[k].name) > 0; k--) {
            struct subresource_info t = out[k];
            out[k] = out[k - 1];
            out[k - 1] = t;
        }
    return n;
}

bool resource_subresource(const struct resource_info *r, const char *name,
                          struct subresource_info *out) {
    struct subresource_info *all = xcalloc(r->n_subresources + 2, sizeof *all);
    size_t n = resource_subresources(r, all);
    bool found = false;
    for (size_t i = 0; i < n && !found; i++)
        if (streq(all[i].name, name)) {
            *out = all[i];
            found = true;
        }
    free(all);
    return found;
}

const char *api_verb_name(enum api_verb verb) {
    static const char *const names[VERB_COUNT] = {"create", "delete", "deletecollection", "get",
                                                  "list",   "patch",  "update",           "watch"};
    assert(verb > 0 && verb < 1 << VERB_COUNT && (verb & (verb - 1)) == 0);
    return names[__builtin_ctz((unsigned)verb)];
}

void group_version_add(struct str *out, const char *group, const char *version) {
    if (*group) {
        str_add(out, group);
        str_addc(out, '/');
    }
    str_add(out, version);
}
