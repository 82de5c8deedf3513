/* The tables of the custom resources. Keys are those of the projects' Go types; numbers in the
 * place of protobuf's only keep the rows apart, since none of these travels as protobuf (but for
 * Rook's ConfigMap and kured's DaemonSet, whose numbers are real). */
#include "model/foreign.h"

#include "base/str.h"
#include "model/table.h"

TYPE(type_foreign_condition, "Condition", foreign_condition,
     F("type", 1, STR, foreign_condition, type), F("status", 2, STR, foreign_condition, status),
     F("reason", 3, STR, foreign_condition, reason),
     F("message", 4, STR, foreign_condition, message));

const struct foreign_condition *foreign_condition(const struct foreign_condition *list,
                                                  const char *type) {
    for (size_t i = 0; i < list_len(list); i++)
        if (str_same(list[i].type, type))
            return &list[i];
    return NULL;
}

#define OBJECT(var, name_, st, spec_, status_)                                                     \
    TYPE(var, name_, st, FM("metadata", 1, MSG, st, meta, type_meta), FLAT("spec", 2, spec_),      \
         FLAT("status", 3, status_))

/* One that gates something: where it cannot be read it is there all the same, and says why. */
#define GATING(var, name_, st, spec_, status_)                                                     \
    TYPE(var, name_, st, FM("metadata", 1, MSG, st, meta, type_meta), FLAT("spec", 2, spec_),      \
         FLAT("status", 3, status_), F("unread", 4, STR, st, unread))

/* --- Longhorn --- */

TYPE(type_volume_layout, "VolumeDataLayout", longhorn_volume,
     F("type", 1, STR, longhorn_volume, layout));
TYPE(type_volume_spec, "VolumeSpec", longhorn_volume,
     F("numberOfReplicas", 1, OPT_I32, longhorn_volume, replicas),
     F("dataLocality", 2, STR, longhorn_volume, locality),
     F("accessMode", 3, STR, longhorn_volume, access),
     F("dataEngine", 4, STR, longhorn_volume, engine), FLAT("dataLayout", 5, type_volume_layout));
TYPE(type_volume_status, "VolumeStatus", longhorn_volume,
     F("state", 1, STR, longhorn_volume, state),
     F("robustness", 2, STR, longhorn_volume, robustness),
     F("currentNodeID", 3, STR, longhorn_volume, node));
GATING(type_longhorn_volume, "Volume", longhorn_volume, type_volume_spec, type_volume_status);

TYPE(type_replica_spec, "ReplicaSpec", longhorn_replica,
     F("volumeName", 1, STR, longhorn_replica, volume), F("nodeID", 2, STR, longhorn_replica, node),
     F("dataEngine", 3, STR, longhorn_replica, engine),
     F("healthyAt", 4, STR, longhorn_replica, healthy_at),
     F("failedAt", 5, STR, longhorn_replica, failed_at),
     F("desireState", 6, STR, longhorn_replica, desired),
     F("evictionRequested", 7, BOOL, longhorn_replica, evicting));
TYPE(type_replica_status, "ReplicaStatus", longhorn_replica,
     F("currentState", 1, STR, longhorn_replica, state));
GATING(type_longhorn_replica, "Replica", longhorn_replica, type_replica_spec, type_replica_status);

TYPE(type_engine_spec, "EngineSpec", longhorn_engine,
     F("volumeName", 1, STR, longhorn_engine, volume), F("nodeID", 2, STR, longhorn_engine, node));
TYPE(type_engine_status, "EngineStatus", longhorn_engine,
     F("currentState", 1, STR, longhorn_engine, state));
GATING(type_longhorn_engine, "Engine", longhorn_engine, type_engine_spec, type_engine_status);

TYPE(type_longhorn_node_status, "NodeStatus", longhorn_node,
     FM("conditions", 1, LIST, longhorn_node, conditions, type_foreign_condition),
     F("autoEvicting", 2, BOOL, longhorn_node, auto_evicting));
TYPE(type_longhorn_node, "Node", longhorn_node,
     FM("metadata", 1, MSG, longhorn_node, meta, type_meta),
     FLAT("status", 3, type_longhorn_node_status), F("unread", 4, STR, longhorn_node, unread));

TYPE(type_manager_spec, "InstanceManagerSpec", longhorn_manager,
     F("nodeID", 1, STR, longhorn_manager, node), F("type", 2, STR, longhorn_manager, type),
     F("dataEngine", 3, STR, longhorn_manager, engine));
TYPE(type_manager_status, "InstanceManagerStatus", longhorn_manager,
     F("currentState", 1, STR, longhorn_manager, state));
GATING(type_longhorn_manager, "InstanceManager", longhorn_manager, type_manager_spec,
       type_manager_status);

TYPE(type_longhorn_setting, "Setting", longhorn_setting,
     FM("metadata", 1, MSG, longhorn_setting, meta, type_meta),
     F("value", 2, STR, longhorn_setting, value), F("unread", 4, STR, longhorn_setting, unread));

/* --- Rook --- */

TYPE(type_ceph_external, "ExternalSpec", ceph_cluster,
     F("enable", 1, BOOL, ceph_cluster, external));
TYPE(type_ceph_disruption, "DisruptionManagementSpec", ceph_cluster,
     F("managePodBudgets", 1, BOOL, ceph_cluster, manage_budgets));
TYPE(type_ceph_mon, "MonSpec", ceph_cluster, F("count", 1, OPT_I32, ceph_cluster, mons));
TYPE(type_ceph_spec, "ClusterSpec", ceph_cluster, FLAT("external", 1, type_ceph_external),
     FLAT("disruptionManagement", 2, type_ceph_disruption), FLAT("mon", 3, type_ceph_mon));
TYPE(type_ceph_health, "CephStatus", ceph_cluster, F("health", 1, STR, ceph_cluster, health),
     F("details", 2, JSON, ceph_cluster, details),
     F("lastChecked", 3, STR, ceph_cluster, last_checked));
TYPE(type_ceph_status, "ClusterStatus", ceph_cluster, F("phase", 1, STR, ceph_cluster, phase),
     F("message", 2, STR, ceph_cluster, message), FLAT("ceph", 3, type_ceph_health));
GATING(type_ceph_cluster, "CephCluster", ceph_cluster, type_ceph_spec, type_ceph_status);

TYPE(type_ceph_pool, "PoolSpec", ceph_pool, F("failureDomain", 1, STR, ceph_pool, failure_domain));
TYPE(type_ceph_block_pool, "CephBlockPool", ceph_pools,
     FM("metadata", 1, MSG, ceph_pools, meta, type_meta),
     FM("spec", 2, MSG, ceph_pools, block, type_ceph_pool));
TYPE(type_ceph_filesystem_spec, "FilesystemSpec", ceph_pools,
     FM("metadataPool", 1, MSG, ceph_pools, metadata, type_ceph_pool),
     FM("dataPools", 2, LIST, ceph_pools, list, type_ceph_pool));
TYPE(type_ceph_filesystem, "CephFilesystem", ceph_pools,
     FM("metadata", 1, MSG, ceph_pools, meta, type_meta),
     FLAT("spec", 2, type_ceph_filesystem_spec));
TYPE(type_ceph_store_spec, "ObjectStoreSpec", ceph_pools,
     FM("metadataPool", 1, MSG, ceph_pools, metadata, type_ceph_pool),
     FM("dataPool", 2, MSG, ceph_pools, data, type_ceph_pool));
TYPE(type_ceph_store, "CephObjectStore", ceph_pools,
     FM("metadata", 1, MSG, ceph_pools, meta, type_meta), FLAT("spec", 2, type_ceph_store_spec));

static bool keep_rook_key(const char *key) {
    return streq(key, "draining-failure-domain") || streq(key, "set-no-out");
}
TYPE(type_rook_state, "ConfigMap", rook_state, FM("metadata", 1, MSG, rook_state, meta, type_meta),
     {.json = "data",
      .pb = 2,
      .kind = FIELD_MAP,
      .off = offsetof(struct rook_state, data),
      .keep_key = keep_rook_key});

/* --- kured --- */

/* The other one is of bookmarks: without it the first picture would never be complete. */
static bool keep_lock(const char *key) {
    return streq(key, KURED_LOCK) || streq(key, "k8s.io/initial-events-end");
}
TYPE(type_kured_meta, "ObjectMeta", meta, F("name", 1, STR, meta, name),
     F("namespace", 3, STR, meta, ns), F("resourceVersion", 6, STR, meta, version),
     {.json = "annotations",
      .pb = 12,
      .kind = FIELD_MAP,
      .off = offsetof(struct meta, annotations),
      .keep_key = keep_lock});
TYPE(type_kured_lock, "DaemonSet", kured_lock,
     FM("metadata", 1, MSG, kured_lock, meta, type_kured_meta));

/* --- KubeVirt --- */

TYPE(type_vmi_migration, "VirtualMachineInstanceMigrationState", vmi_migration,
     F("sourceNode", 1, STR, vmi_migration, source_node),
     F("targetNode", 2, STR, vmi_migration, target_node),
     F("failureReason", 3, STR, vmi_migration, failure),
     F("completed", 4, BOOL, vmi_migration, completed),
     F("failed", 5, BOOL, vmi_migration, failed));
TYPE(type_vmi_spec, "VirtualMachineInstanceSpec", vmi,
     F("evictionStrategy", 1, STR, vmi, strategy));
TYPE(type_vmi_status, "VirtualMachineInstanceStatus", vmi, F("nodeName", 1, STR, vmi, node_name),
     F("phase", 2, STR, vmi, phase), F("evacuationNodeName", 3, STR, vmi, evacuation_node),
     FM("conditions", 4, LIST, vmi, conditions, type_foreign_condition),
     FM("migrationState", 5, PTR, vmi, migration, type_vmi_migration));
GATING(type_vmi, "VirtualMachineInstance", vmi, type_vmi_spec, type_vmi_status);

TYPE(type_kubevirt_config, "KubeVirtConfiguration", kubevirt,
     F("evictionStrategy", 1, STR, kubevirt, strategy));
TYPE(type_kubevirt_spec, "KubeVirtSpec", kubevirt, FLAT("configuration", 1, type_kubevirt_config));
TYPE(type_kubevirt_status, "KubeVirtStatus", kubevirt, F("phase", 1, STR, kubevirt, phase));
OBJECT(type_kubevirt, "KubeVirt", kubevirt, type_kubevirt_spec, type_kubevirt_status);

/* --- PostgreSQL --- */

TYPE(type_cnpg_window, "NodeMaintenanceWindow", cnpg_cluster,
     F("inProgress", 1, BOOL, cnpg_cluster, maintenance));
TYPE(type_cnpg_spec, "ClusterSpec", cnpg_cluster,
     F("instances", 1, OPT_I32, cnpg_cluster, instances),
     FLAT("nodeMaintenanceWindow", 2, type_cnpg_window));
TYPE(type_cnpg_status, "ClusterStatus", cnpg_cluster,
     F("readyInstances", 1, I32, cnpg_cluster, ready),
     F("currentPrimary", 2, STR, cnpg_cluster, primary),
     F("targetPrimary", 3, STR, cnpg_cluster, target_primary),
     F("phase", 4, STR, cnpg_cluster, phase), F("phaseReason", 5, STR, cnpg_cluster, phase_reason));
GATING(type_cnpg_cluster, "Cluster", cnpg_cluster, type_cnpg_spec, type_cnpg_status);

TYPE(type_postgresql_spec, "PostgresSpec", postgresql,
     F("numberOfInstances", 1, OPT_I32, postgresql, instances));
TYPE(type_postgresql_status, "PostgresStatus", postgresql,
     F("PostgresClusterStatus", 1, STR, postgresql, status));
GATING(type_postgresql, "postgresql", postgresql, type_postgresql_spec, type_postgresql_status);

/* --- etcd-operator --- */

TYPE(type_etcd_peer, "MemberStatus", etcd_peer, F("name", 1, STR, etcd_peer, name),
     F("isHealthy", 2, BOOL, etcd_peer, healthy), F("isLearner", 3, BOOL, etcd_peer, learner));
TYPE(type_etcd_cluster_spec, "EtcdClusterSpec", etcd_cluster,
     F("size", 1, OPT_I32, etcd_cluster, size));
TYPE(type_etcd_cluster_status, "EtcdClusterStatus", etcd_cluster,
     FM("members", 1, LIST, etcd_cluster, peers, type_etcd_peer));
GATING(type_etcd_cluster, "EtcdCluster", etcd_cluster, type_etcd_cluster_spec,
       type_etcd_cluster_status);

TYPE(type_etcd_member_spec, "EtcdMemberSpec", etcd_member,
     F("clusterName", 1, STR, etcd_member, cluster));
TYPE(type_etcd_member_status, "EtcdMemberStatus", etcd_member,
     F("phase", 1, STR, etcd_member, phase), F("isHealthy", 2, BOOL, etcd_member, healthy),
     F("isLearner", 3, BOOL, etcd_member, learner));
GATING(type_etcd_member, "EtcdMember", etcd_member, type_etcd_member_spec, type_etcd_member_status);

/* --- kinds --- */

#define KIND(var, type_, ...)                                                                      \
    const struct kind var = {__VA_ARGS__, .namespaced = true, .type = &(type_)}
#define KIND_GATING(st, type_, ...)                                                                \
    const struct kind kind_##st = {__VA_ARGS__, .namespaced = true, .type = &(type_),              \
                                   .unread = offsetof(struct st, unread)}
#define LONGHORN "longhorn.io", "v1beta2"
#define CEPH     "ceph.rook.io", "v1"
#define ETCD     "operator.etcd.io", "v1alpha1"

KIND_GATING(longhorn_volume, type_longhorn_volume, "Volume", LONGHORN, "volumes");
KIND_GATING(longhorn_replica, type_longhorn_replica, "Replica", LONGHORN, "replicas");
KIND_GATING(longhorn_engine, type_longhorn_engine, "Engine", LONGHORN, "engines");
KIND_GATING(longhorn_node, type_longhorn_node, "Node", LONGHORN, "nodes");
KIND_GATING(longhorn_manager, type_longhorn_manager, "InstanceManager", LONGHORN,
            "instancemanagers");
KIND_GATING(longhorn_setting, type_longhorn_setting, "Setting", LONGHORN, "settings");
KIND_GATING(ceph_cluster, type_ceph_cluster, "CephCluster", CEPH, "cephclusters");
KIND(kind_ceph_block_pool, type_ceph_block_pool, "CephBlockPool", CEPH, "cephblockpools");
KIND(kind_ceph_filesystem, type_ceph_filesystem, "CephFilesystem", CEPH, "cephfilesystems");
KIND(kind_ceph_object_store, type_ceph_store, "CephObjectStore", CEPH, "cephobjectstores");
KIND(kind_rook_state, type_rook_state, "ConfigMap", "", "v1", "configmaps");
KIND(kind_kured_lock, type_kured_lock, "DaemonSet", "apps", "v1", "daemonsets");
KIND_GATING(vmi, type_vmi, "VirtualMachineInstance", "kubevirt.io", "v1",
            "virtualmachineinstances");
KIND(kind_kubevirt, type_kubevirt, "KubeVirt", "kubevirt.io", "v1", "kubevirts");
KIND_GATING(cnpg_cluster, type_cnpg_cluster, "Cluster", "postgresql.cnpg.io", "v1", "clusters");
KIND_GATING(postgresql, type_postgresql, "postgresql", "acid.zalan.do", "v1", "postgresqls");
KIND_GATING(etcd_cluster, type_etcd_cluster, "EtcdCluster", ETCD, "etcdclusters");
KIND_GATING(etcd_member, type_etcd_member, "EtcdMember", ETCD, "etcdmembers");

const struct kind *const foreign_kinds[] = {
    &kind_longhorn_volume,
    &kind_longhorn_replica,
    &kind_longhorn_engine,
    &kind_longhorn_node,
    &kind_longhorn_manager,
    &kind_longhorn_setting,
    &kind_ceph_cluster,
    &kind_ceph_block_pool,
    &kind_ceph_filesystem,
    &kind_ceph_object_store,
    &kind_rook_state,
    &kind_kured_lock,
    &kind_vmi,
    &kind_kubevirt,
    &kind_cnpg_cluster,
    &kind_postgresql,
    &kind_etcd_cluster,
    &kind_etcd_member,
    NULL,
};
