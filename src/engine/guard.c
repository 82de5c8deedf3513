/* The table of budgets that operators keep. */
#include "engine/guard.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/podrole.h"

const struct guard guards[GUARDS] = {
    [GUARD_LONGHORN] =
        {"longhorn", BLOCKER_STORAGE_NOT_OK,
         "Longhorn keeps this budget for its instance manager, and removes it once the node is "
         "cordoned and no volume is attached there any more",
         "nothing, as long as volumes detach or replicas move; Longhorn removes the "
         "budget when its node-drain-policy is satisfied"},
    [GUARD_CNPG_PRIMARY] = {"cnpg", BLOCKER_PRIMARY_ON_NODE,
                            "CloudNativePG keeps this budget for the primary, which moves to "
                            "another instance when the "
                            "operator sees the cordon",
                            "nothing: the operator switches over when it sees the cordon, once all "
                            "other instances are ready; else 'kubectl cnpg promote'"},
    [GUARD_ZALANDO_MASTER] =
        {"zalando", BLOCKER_PRIMARY_ON_NODE,
         "Zalando's postgres-operator keeps this budget for the master: the pod can go when "
         "another "
         "one is the master",
         "the operator moves the master off a cordoned node; where it is configured with a "
         "node_readiness_label, take that label off the node too, or use 'patronictl "
         "switchover'"},
    [GUARD_ROOK_OSD] =
        {"rook-ceph", BLOCKER_STORAGE_NOT_OK,
         "Rook keeps this budget for its OSDs: once one of them is down it frees the others of the "
         "same failure domain, and keeps those of all others",
         "nothing, as long as no other failure domain has OSDs down; Rook changes its budgets "
         "within a minute or so, if its operator runs"},
    [GUARD_ROOK_MON] =
        {"rook-ceph", BLOCKER_QUORUM_AT_RISK,
         "Rook keeps this budget for its monitors: it lets as many go as can be down at a time, "
         "and "
         "no more until those are back",
         "bring the monitors back that are down; Rook changes the budget by itself then"},
};

static bool has_label(const struct pod *pod, const char *key, const char *value) {
    return str_same(map_get(pod->meta.labels, key), value);
}

static bool selects(const struct pdb *pdb, const char *key, const char *value) {
    return pdb->selector && str_same(map_get(pdb->selector->labels, key), value);
}

/* Each has the name of its instance manager, and so has the pod. */
static bool is_longhorn(const struct pdb *pdb, const struct pod *pod) {
    return has_label(pod, "longhorn.io/component", "instance-manager") &&
           str_same(pdb->meta.name, pod->meta.name);
}

/* CLUSTER-primary. */
static bool is_cnpg_primary(const struct pdb *pdb, const struct pod *pod) {
    const char *cluster = map_get(pod->meta.labels, "cnpg.io/cluster");
    const char *name = strna(pdb->meta.name);
    size_t len = strlen(strna(cluster));
    return cluster && !strncmp(name, cluster, len) && streq(name + len, "-primary");
}

/* Its name can be configured, and so can whether it selects masters alone: one that selects all
 * pods of the cluster is an ordinary budget. */
static bool is_zalando_master(const struct pdb *pdb, const struct pod *pod) {
    return map_has(pod->meta.labels, "cluster-name") && selects(pdb, "spilo-role", "master");
}

/* rook-ceph-osd, and rook-ceph-osd-LEVEL-DOMAIN while a domain drains. */
static bool is_rook_osd(const struct pdb *pdb, const struct pod *pod) {
    return has_label(pod, "app", "rook-ceph-osd") &&
           str_starts(strna(pdb->meta.name), "rook-ceph-osd");
}

static bool is_rook_mon(const struct pdb *pdb, const struct pod *pod) {
    return has_label(pod, "app", "rook-ceph-mon") && str_same(pdb->meta.name, "rook-ceph-mon-pdb");
}

const struct guard *guard_of(const struct pdb *pdb, const struct pod *pod) {
    static bool (*const is[GUARDS])(const struct pdb *, const struct pod *) = {
        [GUARD_LONGHORN] = is_longhorn,
        [GUARD_CNPG_PRIMARY] = is_cnpg_primary,
        [GUARD_ZALANDO_MASTER] = is_zalando_master,
        [GUARD_ROOK_OSD] = is_rook_osd,
        [GUARD_ROOK_MON] = is_rook_mon,
    };
    for (size_t i = 0; i < GUARDS; i++)
        if (is[i](pdb, pod))
            return &guards[i];
    return NULL;
}

const struct guard *guard_of_pod(const struct pod *pod, const struct pdb *const *pdbs, size_t n) {
    return n == 1 ? guard_of(pdbs[0], pod) : NULL;
}

bool guard_is_on_disk(const struct pod *pod) {
    return has_label(pod, "app", "rook-ceph-osd") && pod_wants_one_node(pod);
}
