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
#define FOLLOW                                                                                     \
    { "list", "watch", NULL }
#define VOLUMES "to see which volumes cannot move"
#define BACK    "to see whether evicted pods are back"
#define AGAIN   "to see which pods cannot be made again"

const struct permission permissions[] = {
    {"", "nodes", NULL, READ, "to see the nodes", false, NULL},
    {"", "nodes", NULL, ONLY("patch"), "to cordon and uncordon nodes", false, NULL},
    {"", "nodes", "status", ONLY("patch"), "to show a drain in the node's conditions", true, NULL},
    {"", "pods", NULL, READ, "to see what runs on a node", false, NULL},
    {"", "pods", "eviction", ONLY("create"), "to evict pods", false, NULL},
    {"", "pods", NULL, ONLY("delete"), "to delete pods where a flag or a rule says so", true, NULL},
    {"policy", "poddisruptionbudgets", NULL, READ, "to know what may be disrupted", false, NULL},
    {"", "namespaces", NULL, GET_LIST, "to see which namespaces are terminating", false, NULL},
    {"apps", "daemonsets", NULL, READ, "to tell which pods stay", false, NULL},
    {"apps", "replicasets", NULL, READ, BACK, false, NULL},
    {"apps", "statefulsets", NULL, READ, BACK, false, NULL},
    {"apps", "deployments", NULL, READ, BACK, false, NULL},
    {"apps", "deployments", NULL, ONLY("patch"), "to add a replica before a drain (--surge)", true,
     NULL},
    {"batch", "jobs", NULL, READ, "to see which pods run to an end", false, NULL},
    {"storage.k8s.io", "volumeattachments", NULL, READ, "to wait until volumes are detached", false,
     NULL},
    {"", "persistentvolumes", NULL, GET_LIST, VOLUMES, false, NULL},
    {"", "persistentvolumeclaims", NULL, GET_LIST, VOLUMES, false, NULL},
    {"", "events", NULL, ONLY("create"), "to tell in Events what happens to a node", true, NULL},
    {"", "events", NULL, ONLY("list"), "to see what drains and kubelets have told", true, NULL},
    {"storage.k8s.io", "storageclasses", NULL, ONLY("list"), "to see where volumes can be made",
     true, NULL},
    {"storage.k8s.io", "csinodes", NULL, ONLY("list"), "to see how many volumes nodes can take",
     true, NULL},
    {"", "resourcequotas", NULL, ONLY("list"), AGAIN, true, NULL},
    {"", "serviceaccounts", NULL, GET_LIST, AGAIN, true, NULL},
/* What the checks read (engine/checks.c). Where the system is there and this is not allowed,
 * its check has no answer, and a drain waits. */
#define CHECKED(group, resource, title)                                                            \
    { group, resource, NULL, FOLLOW, "to ask " title " before a node is drained", true, group }
    CHECKED("longhorn.io", "volumes", "Longhorn"),
    CHECKED("longhorn.io", "replicas", "Longhorn"),
    CHECKED("longhorn.io", "engines", "Longhorn"),
    CHECKED("longhorn.io", "nodes", "Longhorn"),
    CHECKED("longhorn.io", "instancemanagers", "Longhorn"),
    CHECKED("longhorn.io", "settings", "Longhorn"),
    CHECKED("ceph.rook.io", "cephclusters", "Rook Ceph"),
    CHECKED("ceph.rook.io", "cephblockpools", "Rook Ceph"),
    CHECKED("ceph.rook.io", "cephfilesystems", "Rook Ceph"),
    CHECKED("ceph.rook.io", "cephobjectstores", "Rook Ceph"),
    {"", "configmaps", NULL, FOLLOW, "to see which failure domain Rook has let go", true,
     "ceph.rook.io"},
    CHECKED("kubevirt.io", "virtualmachineinstances", "KubeVirt"),
    CHECKED("kubevirt.io", "kubevirts", "KubeVirt"),
    CHECKED("postgresql.cnpg.io", "clusters", "CloudNativePG"),
    CHECKED("acid.zalan.do", "postgresqls", "Zalando's postgres-operator"),
    CHECKED("operator.etcd.io", "etcdclusters", "etcd-operator"),
    CHECKED("operator.etcd.io", "etcdmembers", "etcd-operator"),
#undef CHECKED
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
