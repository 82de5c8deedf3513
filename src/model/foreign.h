/* Custom resources of storage systems, databases and virtual machines that Slipway looks at before
 * it takes a node away, reduced to what the checks (engine/checks.h) need. As model/object.h, but
 * only as JSON: custom resources have no protobuf.
 *
 * A member that is absent in the object is NULL, false, 0 or ABSENT32; none of these means
 * healthy.
 *
 * Kinds that gate something have `unread`: why an object could not be read, which field of it is
 * odd. NULL: it could. Of one that could not there is nothing to go by but its metadata. No server
 * sends this: what a schema does not have is pruned. */
#ifndef MODEL_FOREIGN_H
#define MODEL_FOREIGN_H

#include "model/object.h"

/* A condition without its times: some systems write an empty string where a time belongs. */
struct foreign_condition {
    const char *type, *status, *reason, *message;
};
/* NULL when there is none of this type. */
const struct foreign_condition *foreign_condition(const struct foreign_condition *list,
                                                  const char *type);

/* --- Longhorn, longhorn.io/v1beta2 --- */

struct longhorn_volume {
    struct meta meta;
    const char *unread;
    int32_t replicas; /* wanted; ABSENT32 */
    const char *locality /* disabled, best-effort, strict-local */, *access /* rwo, rwop, rwx */;
    const char *engine;     /* v1, v2 */
    const char *layout;     /* sharded: erasure-coded, without replicas; else NULL or replicated */
    const char *state;      /* creating, attached, detached, attaching, detaching, deleting */
    const char *robustness; /* healthy, degraded, faulted, unknown (when detached) */
    const char *node;       /* where it is attached */
};

struct longhorn_replica {
    struct meta meta;
    const char *unread;
    const char *volume, *node, *engine;
    const char *healthy_at, *failed_at; /* both NULL: never used */
    const char *desired, *state;        /* running, stopped, ... */
    bool evicting;                      /* its node or disk is to be emptied */
};

struct longhorn_engine {
    struct meta meta;
    const char *unread;
    const char *volume, *node, *state;
};

struct longhorn_node {
    struct meta meta;
    const char *unread;
    bool auto_evicting; /* Longhorn moves its replicas away because the node is cordoned */
    const struct foreign_condition *conditions;
};

struct longhorn_manager { /* an InstanceManager: the pod that engines and replicas run in */
    struct meta meta;
    const char *unread;
    const char *node, *type, *engine;
    const char *state; /* running, stopped, starting, error, unknown */
};

struct longhorn_setting {
    struct meta meta;
    const char *unread;
    const char *value;
};

/* --- Rook, ceph.rook.io/v1 --- */

struct ceph_cluster {
    struct meta meta;
    const char *unread;
    bool external;       /* the cluster runs elsewhere: none of its data is here */
    bool manage_budgets; /* Rook keeps PodDisruptionBudgets for it */
    int32_t mons;        /* wanted; ABSENT32 */
    const char *phase, *message;
    const char *health; /* HEALTH_OK, HEALTH_WARN, HEALTH_ERR */
    const char *last_checked;
    /* Ceph's health checks that do not pass, as they came: {"OSD_DOWN": {"severity", "message"}}.
     * Ceph has dozens of them and gets new ones with each release: all of them count. */
    const char *details;
};

struct ceph_pool {
    const char *failure_domain; /* NULL: host */
};

/* A CephBlockPool, CephFilesystem or CephObjectStore: where its copies must be apart. */
struct ceph_pools {
    struct meta meta;
    struct ceph_pool block, metadata, data;
    const struct ceph_pool *list;
};

/* The ConfigMap rook-ceph-pdbstatemap: which failure domain Rook lets drain. Of its data only these
 * keys are kept: draining-failure-domain, set-no-out. */
#define ROOK_STATE_NAME "rook-ceph-pdbstatemap"
struct rook_state {
    struct meta meta;
    const struct pair *data;
};

/* --- kured --- */

/* A DaemonSet, for the lock that kured keeps in an annotation of its own one (engine/rivals.h): of
 * all DaemonSets, since that one may have any name, nothing else is kept. */
#define KURED_LOCK "weave.works/kured-node-lock"
struct kured_lock {
    struct meta
        meta; /* name, namespace, version, and the annotation KURED_LOCK (or what ends a list) */
};

/* --- KubeVirt, kubevirt.io/v1 --- */

struct vmi_migration {
    const char *source_node, *target_node, *failure;
    bool completed, failed;
};

struct vmi {
    struct meta meta;
    const char *unread;
    const char *strategy;  /* None, LiveMigrate, LiveMigrateIfPossible, External; NULL: default */
    const char *node_name; /* where it runs */
    const char *phase, *evacuation_node;
    const struct foreign_condition *conditions;
    const struct vmi_migration *migration;
};

struct kubevirt {
    struct meta meta;
    const char *strategy; /* the cluster's default; NULL: None */
    const char *phase;
};

/* --- PostgreSQL --- */

/* CloudNativePG, postgresql.cnpg.io/v1 Cluster. */
struct cnpg_cluster {
    struct meta meta;
    const char *unread;
    int32_t instances; /* wanted; ABSENT32 */
    bool maintenance;  /* spec.nodeMaintenanceWindow.inProgress */
    int32_t ready;     /* 0 when absent: the operator leaves zeros out */
    const char *primary, *target_primary;
    const char *phase, *phase_reason;
};

/* Zalando, acid.zalan.do/v1 postgresql. */
struct postgresql {
    struct meta meta;
    const char *unread;
    int32_t instances;  /* wanted; ABSENT32 */
    const char *status; /* Running, Creating, Updating, UpdateFailed, SyncFailed, ... */
};

/* --- etcd-operator, operator.etcd.io/v1alpha1 --- */

struct etcd_peer {
    const char *name; /* also of its pod */
    bool healthy, learner;
};

struct etcd_cluster {
    struct meta meta;
    const char *unread;
    int32_t size; /* wanted; ABSENT32 */
    const struct etcd_peer *peers;
};

struct etcd_member {
    struct meta meta;
    const char *unread;
    const char *cluster;
    const char *phase; /* Pending, Provisioning, Ready, Recreating, Replacing, Terminating */
    bool healthy, learner;
};

extern const struct kind kind_longhorn_volume, kind_longhorn_replica, kind_longhorn_engine,
    kind_longhorn_node, kind_longhorn_manager, kind_longhorn_setting, kind_ceph_cluster,
    kind_ceph_block_pool, kind_ceph_filesystem, kind_ceph_object_store, kind_rook_state,
    kind_kured_lock, kind_vmi, kind_kubevirt, kind_cnpg_cluster, kind_postgresql, kind_etcd_cluster,
    kind_etcd_member;

/* All of them, NULL-terminated. Not in `kinds`: no cluster has them by itself, or, of two, not as a
 * whole. */
extern const struct kind *const foreign_kinds[];

#endif
