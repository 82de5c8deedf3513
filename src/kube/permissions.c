/* What Slipway must be allowed to do. */
#include "kube/permissions.h"

#include "base/jsonw.h"
#include "base/mem.h"

#define READ                                                                                       \
    { "get", "list", "watch", NULL }
#define GET_LIST                                                                                   \
    { "get", "list", NULL }
#define ONLY(verb)                                                                                 \
    { verb, NULL }
#define VOLUMES "to see which volumes cannot move"
#define BACK    "to see whether evicted pods are back"

const struct permission permissions[] = {
    {"", "nodes", NULL, READ, "to see the nodes", false},
    {"", "nodes", NULL, ONLY("patch"), "to cordon and uncordon nodes", false},
    {"", "nodes", "status", ONLY("patch"), "to show a drain in the node's conditions", true},
    {"", "pods", NULL, READ, "to see what runs on a node", false},
    {"", "pods", "eviction", ONLY("create"), "to evict pods", false},
    {"", "pods", NULL, ONLY("delete"), "to delete pods where a flag or a rule says so", true},
    {"policy", "poddisruptionbudgets", NULL, READ, "to know what may be disrupted", false},
    {"", "namespaces", NULL, GET_LIST, "to see which namespaces are terminating", false},
    {"apps", "daemonsets", NULL, READ, "to tell which pods stay", false},
    {"apps", "replicasets", NULL, READ, BACK, false},
    {"apps", "statefulsets", NULL, READ, BACK, false},
    {"apps", "deployments", NULL, READ, BACK, false},
    {"apps", "deployments", NULL, ONLY("patch"), "to add a replica before a drain (--surge)", true},
    {"batch", "jobs", NULL, READ, "to see which pods run to an end", false},
    {"storage.k8s.io", "volumeattachments", NULL, READ, "to wait until volumes are detached",
     false},
    {"", "persistentvolumes", NULL, GET_LIST, VOLUMES, false},
    {"", "persistentvolumeclaims", NULL, GET_LIST, VOLUMES, false},
    {"", "events", NULL, ONLY("create"), "to tell in Events what happens to a node", true},
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
