/* What Slipway must be allowed to do. */
#include "kube/permissions.h"

#include "base/jsonw.h"
#include "base/mem.h"

#define READ                                                                                       \
    { "get", "list", "watch", NULL }

const struct permission permissions[] = {
    {"", "nodes", NULL, READ, "to see the nodes"},
    {"", "nodes", NULL, {"patch", NULL}, "to cordon and uncordon nodes"},
    {"", "pods", NULL, READ, "to see what runs on a node"},
    {"", "pods", "eviction", {"create", NULL}, "to evict pods"},
    {"policy", "poddisruptionbudgets", NULL, READ, "to know what may be disrupted"},
    {"", "namespaces", NULL, {"get", "list", NULL}, "to see which namespaces are terminating"},
    {"apps", "daemonsets", NULL, READ, "to tell which pods stay"},
    {"apps", "replicasets", NULL, READ, "to see whether evicted pods are back"},
    {"apps", "statefulsets", NULL, READ, "to see whether evicted pods are back"},
    {"apps", "deployments", NULL, READ, "to see whether evicted pods are back"},
    {"batch", "jobs", NULL, READ, "to see which pods run to an end"},
    {"storage.k8s.io", "volumeattachments", NULL, READ, "to wait until volumes are detached"},
    {"", "persistentvolumes", NULL, {"get", "list", NULL}, "to see which volumes cannot move"},
    {"", "persistentvolumeclaims", NULL, {"get", "list", NULL}, "to see which volumes cannot move"},
};
const size_t n_permissions = ARRAY_LEN(permissions);

void permission_name(const struct permission *p, struct str *out) {
    str_add(out, p->resource);
    if (*p->group)
        str_addf(out, ".%s", p->group);
    if (p->subresource)
        str_addf(out, "/%s", p->subresource);
}

void permission_review(const struct permission *p, const char *verb, struct str *out) {
    struct jsonw w;
    jsonw_init(&w, out, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "apiVersion", "authorization.k8s.io/v1");
    jsonw_kstr(&w, "kind", "SelfSubjectAccessReview");
    jsonw_kbegin(&w, "spec", '{');
    jsonw_kbegin(&w, "resourceAttributes", '{');
    jsonw_kstr(&w, "verb", verb);
    jsonw_kstr(&w, "group", p->group);
    jsonw_kstr(&w, "resource", p->resource);
    jsonw_kopt(&w, "subresource", p->subresource);
    jsonw_end(&w);
    jsonw_end(&w);
    jsonw_end(&w);
}
