/* The tables of the Kubernetes objects. Field numbers are those of the generated.proto files of
 * k8s.io/api; the judge of every row is Kubernetes' own test data (tests/fixtures). */
#include "model/object.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "model/table.h"

/* --- metadata --- */

/* kubectl's copy of the whole object: as large as the object and of no use to us. */
static bool keep_annotation(const char *key) {
    return !streq(key, "kubectl.kubernetes.io/last-applied-configuration");
}

/* Pods carry many annotations of others (checksums, meshes, networks), different in each pod. Kept
 * are those that mean something to a drain. */
static bool keep_pod_annotation(const char *key) {
    static const char *const prefixes[] = {
        "kubernetes.io/config.",
        "cluster-autoscaler.kubernetes.io/",
        "karpenter.sh/",
        "cluster.x-k8s.io/",
        "controller.kubernetes.io/",
        "slipway.dev/",
        "sim.slipway.dev/",
        "batch.kubernetes.io/",
        "kubevirt.io/",
        "k8s.io/",
        "vpa", /* vpaUpdates, vpaInPlaceUpdated: who has set its requests */
    };
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (str_starts(key, prefixes[i]))
            return true;
    return false;
}

TYPE(type_owner, "OwnerReference", owner, F("kind", 1, STR, owner, kind),
     F("name", 3, STR, owner, name), F("uid", 4, STR, owner, uid),
     F("apiVersion", 5, STR, owner, api_version), F("controller", 6, BOOL, owner, controller));

#define META_FIELDS(keep_annotation_)                                                              \
    F("name", 1, STR, meta, name), F("namespace", 3, STR, meta, ns), F("uid", 5, STR, meta, uid),  \
        F("resourceVersion", 6, STR, meta, version), F("generation", 7, I64, meta, generation),    \
        F("creationTimestamp", 8, TIME, meta, created),                                            \
        F("deletionTimestamp", 9, TIME, meta, deleted),                                            \
        F("deletionGracePeriodSeconds", 10, OPT_I64, meta, deletion_grace),                        \
        F("labels", 11, MAP, meta, labels),                                                        \
        {.json = "annotations",                                                                    \
         .pb = 12,                                                                                 \
         .kind = FIELD_MAP,                                                                        \
         .off = offsetof(struct meta, annotations),                                                \
         .keep_key = (keep_annotation_)},                                                          \
        FM("ownerReferences", 13, LIST, meta, owners, type_owner),                                 \
        F("finalizers", 14, STRS, meta, finalizers)

static const struct field meta_fields[] = {META_FIELDS(keep_annotation)};
const struct type type_meta = {
    .name = "ObjectMeta",
    .size = sizeof(struct meta),
    .n_fields = ARRAY_LEN(meta_fields),
    .fields = meta_fields,
};
TYPE(type_pod_meta, "ObjectMeta", meta, META_FIELDS(keep_pod_annotation));

TYPE(type_requirement, "LabelSelectorRequirement", requirement, F("key", 1, STR, requirement, key),
     F("operator", 2, STR, requirement, op), F("values", 3, STRS, requirement, values));

static const struct field selector_fields[] = {
    F("matchLabels", 1, MAP, label_selector, labels),
    FM("matchExpressions", 2, LIST, label_selector, exprs, type_requirement),
};
const struct type type_selector = {
    .name = "LabelSelector",
    .size = sizeof(struct label_selector),
    .n_fields = ARRAY_LEN(selector_fields),
    .fields = selector_fields,
};

TYPE(type_object_ref, "ObjectReference", object_ref, F("kind", 1, STR, object_ref, kind),
     F("namespace", 2, STR, object_ref, ns), F("name", 3, STR, object_ref, name),
     F("uid", 4, STR, object_ref, uid), F("apiVersion", 5, STR, object_ref, api_version),
     F("fieldPath", 7, STR, object_ref, field_path));

TYPE(type_resources, "ResourceRequirements", resources, F("limits", 1, MAP_QTY, resources, limits),
     F("requests", 2, MAP_QTY, resources, requests));

/* Conditions: the same members everywhere, other numbers in each group. */
#define CONDITION_FIELDS(changed_pb, reason_pb, message_pb)                                        \
    F("type", 1, STR, condition, type), F("status", 2, STR, condition, status),                    \
        F("lastTransitionTime", changed_pb, TIME, condition, changed),                             \
        F("reason", reason_pb, STR, condition, reason),                                            \
        F("message", message_pb, STR, condition, message)

TYPE(type_condition, "Condition", condition, CONDITION_FIELDS(4, 5, 6));
TYPE(type_deployment_condition, "DeploymentCondition", condition,
     F("type", 1, STR, condition, type), F("status", 2, STR, condition, status),
     F("reason", 4, STR, condition, reason), F("message", 5, STR, condition, message),
     F("lastTransitionTime", 7, TIME, condition, changed));

/* --- Node --- */

TYPE(type_taint, "Taint", taint, F("key", 1, STR, taint, key), F("value", 2, STR, taint, value),
     F("effect", 3, STR, taint, effect), F("timeAdded", 4, TIME, taint, added));
TYPE(type_node_condition, "NodeCondition", node_condition,
     F("type", 1, STR, node_condition, c.type), F("status", 2, STR, node_condition, c.status),
     F("lastHeartbeatTime", 3, TIME, node_condition, heartbeat),
     F("lastTransitionTime", 4, TIME, node_condition, c.changed),
     F("reason", 5, STR, node_condition, c.reason),
     F("message", 6, STR, node_condition, c.message));
TYPE(type_address, "NodeAddress", node_address, F("type", 1, STR, node_address, type),
     F("address", 2, STR, node_address, address));
TYPE(type_node_info, "NodeSystemInfo", node_info, F("machineID", 1, STR, node_info, machine_id),
     F("systemUUID", 2, STR, node_info, system_uuid), F("bootID", 3, STR, node_info, boot_id),
     F("kernelVersion", 4, STR, node_info, kernel), F("osImage", 5, STR, node_info, os_image),
     F("containerRuntimeVersion", 6, STR, node_info, runtime),
     F("kubeletVersion", 7, STR, node_info, kubelet), F("operatingSystem", 9, STR, node_info, os),
     F("architecture", 10, STR, node_info, arch));
TYPE(type_attached, "AttachedVolume", attached_volume, F("name", 1, STR, attached_volume, name),
     F("devicePath", 2, STR, attached_volume, device));
TYPE(type_node_spec, "NodeSpec", node, F("providerID", 3, STR, node, provider_id),
     F("unschedulable", 4, BOOL, node, unschedulable),
     FM("taints", 5, LIST, node, taints, type_taint));
TYPE(type_node_status, "NodeStatus", node, F("capacity", 1, MAP_QTY, node, capacity),
     F("allocatable", 2, MAP_QTY, node, allocatable),
     FM("conditions", 4, LIST, node, conditions, type_node_condition),
     FM("addresses", 5, LIST, node, addresses, type_address),
     FM("nodeInfo", 7, MSG, node, info, type_node_info),
     F("volumesInUse", 9, STRS, node, volumes_in_use),
     FM("volumesAttached", 10, LIST, node, volumes_attached, type_attached));
TYPE(type_node, "Node", node, FM("metadata", 1, MSG, node, meta, type_meta),
     FLAT("spec", 2, type_node_spec), FLAT("status", 3, type_node_status));

/* --- Pod --- */

TYPE(type_claim_source, "PersistentVolumeClaimVolumeSource", claim_source,
     F("claimName", 1, STR, claim_source, claim), F("readOnly", 2, BOOL, claim_source, read_only));
TYPE(type_csi_source, "CSIVolumeSource", csi_source, F("driver", 1, STR, csi_source, driver));

static bool keep_volume(const void *entry) {
    const struct volume *v = entry;
    return v->host_path || v->empty_dir || v->ephemeral || v->claim || v->csi;
}

TYPE(type_volume_source, "VolumeSource", volume, F("hostPath", 1, PRESENT, volume, host_path),
     F("emptyDir", 2, PRESENT, volume, empty_dir),
     FM("persistentVolumeClaim", 10, PTR, volume, claim, type_claim_source),
     FM("csi", 28, PTR, volume, csi, type_csi_source),
     F("ephemeral", 29, PRESENT, volume, ephemeral));
TYPE_KEEP(type_volume, "Volume", volume, keep_volume, F("name", 1, STR, volume, name),
          FLAT(NULL, 2, type_volume_source));

static bool keep_port(const void *entry) {
    return ((const struct port *)entry)->host_port != 0;
}
TYPE_KEEP(type_port, "ContainerPort", port, keep_port, F("hostPort", 2, I32, port, host_port),
          F("protocol", 4, STR, port, protocol), F("hostIP", 5, STR, port, host_ip));
TYPE(type_container, "Container", container, F("name", 1, STR, container, name),
     F("image", 2, STR, container, image), FM("ports", 6, LIST, container, ports, type_port),
     FM("resources", 8, MSG, container, resources, type_resources),
     F("restartPolicy", 24, STR, container, restart_policy));
TYPE(type_toleration, "Toleration", toleration, F("key", 1, STR, toleration, key),
     F("operator", 2, STR, toleration, op), F("value", 3, STR, toleration, value),
     F("effect", 4, STR, toleration, effect),
     F("tolerationSeconds", 5, OPT_I64, toleration, seconds));

TYPE(type_node_term, "NodeSelectorTerm", node_term,
     FM("matchExpressions", 1, LIST, node_term, exprs, type_requirement),
     FM("matchFields", 2, LIST, node_term, fields, type_requirement));
TYPE(type_node_selector, "NodeSelector", node_selector,
     FM("nodeSelectorTerms", 1, LIST, node_selector, terms, type_node_term));
TYPE(type_preferred_node, "PreferredSchedulingTerm", preferred_node_term,
     F("weight", 1, I32, preferred_node_term, weight),
     FM("preference", 2, MSG, preferred_node_term, term, type_node_term));
TYPE(type_node_affinity, "NodeAffinity", node_affinity,
     FM("requiredDuringSchedulingIgnoredDuringExecution", 1, PTR, node_affinity, required,
        type_node_selector),
     FM("preferredDuringSchedulingIgnoredDuringExecution", 2, LIST, node_affinity, preferred,
        type_preferred_node));
TYPE(type_pod_term, "PodAffinityTerm", pod_term,
     FM("labelSelector", 1, PTR, pod_term, selector, type_selector),
     F("namespaces", 2, STRS, pod_term, namespaces),
     F("topologyKey", 3, STR, pod_term, topology_key),
     FM("namespaceSelector", 4, PTR, pod_term, ns_selector, type_selector),
     F("matchLabelKeys", 5, STRS, pod_term, match_keys),
     F("mismatchLabelKeys", 6, STRS, pod_term, mismatch_keys));
TYPE(type_weighted_pod, "WeightedPodAffinityTerm", weighted_pod_term,
     F("weight", 1, I32, weighted_pod_term, weight),
     FM("podAffinityTerm", 2, MSG, weighted_pod_term, term, type_pod_term));
TYPE(type_pod_affinity, "PodAffinity", pod_affinity,
     FM("requiredDuringSchedulingIgnoredDuringExecution", 1, LIST, pod_affinity, required,
        type_pod_term),
     FM("preferredDuringSchedulingIgnoredDuringExecution", 2, LIST, pod_affinity, preferred,
        type_weighted_pod));
TYPE(type_affinity, "Affinity", affinity,
     FM("nodeAffinity", 1, PTR, affinity, node, type_node_affinity),
     FM("podAffinity", 2, PTR, affinity, pod, type_pod_affinity),
     FM("podAntiAffinity", 3, PTR, affinity, anti, type_pod_affinity));

TYPE(type_spread, "TopologySpreadConstraint", spread, F("maxSkew", 1, I32, spread, max_skew),
     F("topologyKey", 2, STR, spread, topology_key), F("whenUnsatisfiable", 3, STR, spread, when),
     FM("labelSelector", 4, PTR, spread, selector, type_selector),
     F("minDomains", 5, OPT_I32, spread, min_domains),
     F("nodeAffinityPolicy", 6, STR, spread, affinity_policy),
     F("nodeTaintsPolicy", 7, STR, spread, taints_policy),
     F("matchLabelKeys", 8, STRS, spread, match_keys));
TYPE(type_named, "name", named, F("name", 1, STR, named, name));
TYPE(type_responder, "EvictionResponder", responder, F("name", 1, STR, responder, name),
     F("priority", 2, I32, responder, priority));

#define POD_SPEC_HEAD                                                                              \
    FM("volumes", 1, LIST, pod_spec, volumes, type_volume),                                        \
        FM("containers", 2, LIST, pod_spec, containers, type_container),                           \
        F("restartPolicy", 3, STR, pod_spec, restart_policy),                                      \
        F("terminationGracePeriodSeconds", 4, OPT_I64, pod_spec, grace),                           \
        F("nodeSelector", 7, MAP, pod_spec, node_selector),                                        \
        F("serviceAccountName", 8, STR, pod_spec, account)
#define POD_SPEC_TAIL                                                                              \
    F("hostNetwork", 11, BOOL, pod_spec, host_network),                                            \
        FM("affinity", 18, PTR, pod_spec, affinity, type_affinity),                                \
        F("schedulerName", 19, STR, pod_spec, scheduler),                                          \
        FM("initContainers", 20, LIST, pod_spec, init_containers, type_container),                 \
        FM("tolerations", 22, LIST, pod_spec, tolerations, type_toleration),                       \
        F("priorityClassName", 24, STR, pod_spec, priority_class),                                 \
        F("priority", 25, OPT_I32, pod_spec, priority),                                            \
        F("preemptionPolicy", 31, STR, pod_spec, preemption),                                      \
        F("overhead", 32, MAP_QTY, pod_spec, overhead),                                            \
        FM("topologySpreadConstraints", 33, LIST, pod_spec, spread, type_spread),                  \
        FM("schedulingGates", 38, LIST, pod_spec, gates, type_named),                              \
        FM("resourceClaims", 39, LIST, pod_spec, claims, type_named),                              \
        FM("resources", 40, PTR, pod_spec, resources, type_resources),                             \
        FM("evictionResponders", 44, LIST, pod_spec, responders, type_responder)

TYPE(type_pod_spec, "PodSpec", pod_spec, POD_SPEC_HEAD,
     {.json = "nodeName",
      .pb = 10,
      .kind = FIELD_STR,
      .flags = FIELD_OF_ROOT,
      .off = offsetof(struct pod, node_name)},
     POD_SPEC_TAIL);
TYPE(type_template_spec, "PodSpec", pod_spec, POD_SPEC_HEAD,
     F("nodeName", 10, STR, pod_spec, node_name), POD_SPEC_TAIL);

/* The steps of every pod's start: Ready and PodScheduled say the same and more. */
static bool keep_pod_condition(const void *entry) {
    const char *type = strna(((const struct condition *)entry)->type);
    return !streq(type, "Initialized") && !streq(type, "ContainersReady") &&
           !streq(type, "PodReadyToStartContainers");
}
TYPE_KEEP(type_pod_condition, "PodCondition", condition, keep_pod_condition,
          CONDITION_FIELDS(4, 5, 6));

TYPE(type_waiting, "ContainerStateWaiting", state_waiting,
     F("reason", 1, STR, state_waiting, reason), F("message", 2, STR, state_waiting, message));
TYPE(type_terminated, "ContainerStateTerminated", state_terminated,
     F("exitCode", 1, I32, state_terminated, exit_code),
     F("reason", 3, STR, state_terminated, reason),
     F("message", 4, STR, state_terminated, message));
TYPE(type_container_state, "ContainerState", container_state,
     FM("waiting", 1, PTR, container_state, waiting, type_waiting),
     F("running", 2, PRESENT, container_state, running),
     FM("terminated", 3, PTR, container_state, terminated, type_terminated));
TYPE(type_container_status, "ContainerStatus", container_status,
     F("name", 1, STR, container_status, name),
     FM("state", 2, MSG, container_status, state, type_container_state),
     FM("lastState", 3, MSG, container_status, last, type_container_state),
     F("ready", 4, BOOL, container_status, ready),
     F("restartCount", 5, I32, container_status, restarts),
     F("started", 9, BOOL, container_status, started),
     F("allocatedResources", 10, MAP_QTY, container_status, allocated),
     FM("resources", 11, PTR, container_status, resources, type_resources));
TYPE(type_pod_status, "PodStatus", pod, F("phase", 1, STR, pod, phase),
     FM("conditions", 2, LIST, pod, conditions, type_pod_condition),
     F("message", 3, STR, pod, message), F("reason", 4, STR, pod, reason),
     F("startTime", 7, TIME, pod, started),
     FM("containerStatuses", 8, LIST, pod, containers, type_container_status),
     F("qosClass", 9, STR, pod, qos),
     FM("initContainerStatuses", 10, LIST, pod, init_containers, type_container_status),
     F("nominatedNodeName", 11, STR, pod, nominated));
TYPE(type_pod, "Pod", pod,
     {.kind = FIELD_STR, .flags = FIELD_OWNED, .off = offsetof(struct pod, node_name)},
     FM("metadata", 1, MSG, pod, meta, type_pod_meta), FM("spec", 2, PTR, pod, spec, type_pod_spec),
     FLAT("status", 3, type_pod_status));

TYPE(type_template_meta, "ObjectMeta", pod_template, F("labels", 11, MAP, pod_template, labels));
TYPE(type_template, "PodTemplateSpec", pod_template, FLAT("metadata", 1, type_template_meta),
     FM("spec", 2, MSG, pod_template, spec, type_template_spec));

/* --- PodDisruptionBudget, Lease --- */

TYPE(type_pdb_spec, "PodDisruptionBudgetSpec", pdb,
     F("minAvailable", 1, INTSTR, pdb, min_available),
     FM("selector", 2, PTR, pdb, selector, type_selector),
     F("maxUnavailable", 3, INTSTR, pdb, max_unavailable),
     F("unhealthyPodEvictionPolicy", 4, STR, pdb, unhealthy_policy));
TYPE(type_pdb_status, "PodDisruptionBudgetStatus", pdb,
     F("observedGeneration", 1, I64, pdb, observed_generation),
     F("disruptedPods", 2, MAP_TIME, pdb, disrupted), F("disruptionsAllowed", 3, I32, pdb, allowed),
     F("currentHealthy", 4, I32, pdb, healthy), F("desiredHealthy", 5, I32, pdb, desired),
     F("expectedPods", 6, I32, pdb, expected),
     FM("conditions", 7, LIST, pdb, conditions, type_condition));
TYPE(type_pdb, "PodDisruptionBudget", pdb, FM("metadata", 1, MSG, pdb, meta, type_meta),
     FLAT("spec", 2, type_pdb_spec), FLAT("status", 3, type_pdb_status));

TYPE(type_lease_spec, "LeaseSpec", lease, F("holderIdentity", 1, STR, lease, holder),
     F("leaseDurationSeconds", 2, OPT_I32, lease, duration),
     F("acquireTime", 3, MICROTIME, lease, acquired), F("renewTime", 4, MICROTIME, lease, renewed),
     F("leaseTransitions", 5, OPT_I32, lease, transitions), F("strategy", 6, STR, lease, strategy),
     F("preferredHolder", 7, STR, lease, preferred_holder));
TYPE(type_lease, "Lease", lease, FM("metadata", 1, MSG, lease, meta, type_meta),
     FLAT("spec", 2, type_lease_spec));

/* --- storage --- */

TYPE(type_volume_error, "VolumeError", volume_error, F("time", 1, TIME, volume_error, time),
     F("message", 2, STR, volume_error, message));
TYPE(type_va_source, "VolumeAttachmentSource", volume_attachment,
     F("persistentVolumeName", 1, STR, volume_attachment, pv),
     F("inlineVolumeSpec", 2, PRESENT, volume_attachment, inline_spec));
TYPE(type_va_spec, "VolumeAttachmentSpec", volume_attachment,
     F("attacher", 1, STR, volume_attachment, attacher), FLAT("source", 2, type_va_source),
     F("nodeName", 3, STR, volume_attachment, node_name));
TYPE(type_va_status, "VolumeAttachmentStatus", volume_attachment,
     F("attached", 1, BOOL, volume_attachment, attached),
     FM("attachError", 3, PTR, volume_attachment, attach_error, type_volume_error),
     FM("detachError", 4, PTR, volume_attachment, detach_error, type_volume_error));
TYPE(type_va, "VolumeAttachment", volume_attachment,
     FM("metadata", 1, MSG, volume_attachment, meta, type_meta), FLAT("spec", 2, type_va_spec),
     FLAT("status", 3, type_va_status));

TYPE(type_pv_csi, "CSIPersistentVolumeSource", pv_csi, F("driver", 1, STR, pv_csi, driver),
     F("volumeHandle", 2, STR, pv_csi, handle));
TYPE(type_pv_source, "PersistentVolumeSource", pv, F("hostPath", 3, PRESENT, pv, host_path),
     F("local", 20, PRESENT, pv, local), FM("csi", 22, PTR, pv, csi, type_pv_csi));
TYPE(type_pv_affinity, "VolumeNodeAffinity", pv_affinity,
     FM("required", 1, PTR, pv_affinity, required, type_node_selector));
TYPE(type_pv_spec, "PersistentVolumeSpec", pv, F("capacity", 1, MAP_QTY, pv, capacity),
     FLAT(NULL, 2, type_pv_source), F("accessModes", 3, STRS, pv, access_modes),
     FM("claimRef", 4, PTR, pv, claim, type_object_ref),
     F("persistentVolumeReclaimPolicy", 5, STR, pv, reclaim),
     F("storageClassName", 6, STR, pv, storage_class), F("volumeMode", 8, STR, pv, volume_mode),
     FM("nodeAffinity", 9, PTR, pv, affinity, type_pv_affinity));
TYPE(type_pv_status, "PersistentVolumeStatus", pv, F("phase", 1, STR, pv, phase),
     F("reason", 3, STR, pv, reason));
TYPE(type_pv, "PersistentVolume", pv, FM("metadata", 1, MSG, pv, meta, type_meta),
     FLAT("spec", 2, type_pv_spec), FLAT("status", 3, type_pv_status));

TYPE(type_pvc_spec, "PersistentVolumeClaimSpec", pvc, F("accessModes", 1, STRS, pvc, access_modes),
     FM("resources", 2, MSG, pvc, resources, type_resources),
     F("volumeName", 3, STR, pvc, volume_name),
     FM("selector", 4, PTR, pvc, selector, type_selector),
     F("storageClassName", 5, STR, pvc, storage_class), F("volumeMode", 6, STR, pvc, volume_mode));
TYPE(type_pvc_status, "PersistentVolumeClaimStatus", pvc, F("phase", 1, STR, pvc, phase),
     F("capacity", 3, MAP_QTY, pvc, capacity),
     FM("conditions", 4, LIST, pvc, conditions, type_condition));
TYPE(type_pvc, "PersistentVolumeClaim", pvc, FM("metadata", 1, MSG, pvc, meta, type_meta),
     FLAT("spec", 2, type_pvc_spec), FLAT("status", 3, type_pvc_status));

TYPE(type_topology_expr, "TopologySelectorLabelRequirement", requirement,
     F("key", 1, STR, requirement, key), F("values", 2, STRS, requirement, values));
TYPE(type_topology, "TopologySelectorTerm", node_term,
     FM("matchLabelExpressions", 1, LIST, node_term, exprs, type_topology_expr));
TYPE(type_storage_class, "StorageClass", storage_class,
     FM("metadata", 1, MSG, storage_class, meta, type_meta),
     F("provisioner", 2, STR, storage_class, provisioner),
     F("volumeBindingMode", 7, STR, storage_class, binding_mode),
     FM("allowedTopologies", 8, LIST, storage_class, topologies, type_topology));

TYPE(type_csi_allocatable, "VolumeNodeResources", csi_node_driver,
     F("count", 1, OPT_I32, csi_node_driver, count));
TYPE(type_csi_node_driver, "CSINodeDriver", csi_node_driver,
     F("name", 1, STR, csi_node_driver, name), FLAT("allocatable", 4, type_csi_allocatable));
TYPE(type_csi_node_spec, "CSINodeSpec", csi_node,
     FM("drivers", 1, LIST, csi_node, drivers, type_csi_node_driver));
TYPE(type_csi_node, "CSINode", csi_node, FM("metadata", 1, MSG, csi_node, meta, type_meta),
     FLAT("spec", 2, type_csi_node_spec));

/* --- workloads --- */

TYPE(type_ds_spec, "DaemonSetSpec", daemon_set,
     FM("selector", 1, PTR, daemon_set, selector, type_selector),
     FM("template", 2, PTR, daemon_set, template, type_template),
     F("minReadySeconds", 4, I32, daemon_set, min_ready_seconds));
TYPE(type_ds_status, "DaemonSetStatus", daemon_set,
     F("currentNumberScheduled", 1, I32, daemon_set, current),
     F("numberMisscheduled", 2, I32, daemon_set, misscheduled),
     F("desiredNumberScheduled", 3, I32, daemon_set, desired),
     F("numberReady", 4, I32, daemon_set, ready),
     F("observedGeneration", 5, I64, daemon_set, observed_generation),
     F("updatedNumberScheduled", 6, I32, daemon_set, updated),
     F("numberAvailable", 7, I32, daemon_set, available),
     F("numberUnavailable", 8, I32, daemon_set, unavailable));
TYPE(type_ds, "DaemonSet", daemon_set, FM("metadata", 1, MSG, daemon_set, meta, type_meta),
     FLAT("spec", 2, type_ds_spec), FLAT("status", 3, type_ds_status));

TYPE(type_rs_spec, "ReplicaSetSpec", replica_set, F("replicas", 1, OPT_I32, replica_set, replicas),
     FM("selector", 2, PTR, replica_set, selector, type_selector),
     FM("template", 3, PTR, replica_set, template, type_template),
     F("minReadySeconds", 4, I32, replica_set, min_ready_seconds));
TYPE(type_rs_status, "ReplicaSetStatus", replica_set, F("replicas", 1, I32, replica_set, now),
     F("fullyLabeledReplicas", 2, I32, replica_set, labeled),
     F("observedGeneration", 3, I64, replica_set, observed_generation),
     F("readyReplicas", 4, I32, replica_set, ready),
     F("availableReplicas", 5, I32, replica_set, available),
     F("terminatingReplicas", 7, I32, replica_set, terminating));
TYPE(type_rs, "ReplicaSet", replica_set, FM("metadata", 1, MSG, replica_set, meta, type_meta),
     FLAT("spec", 2, type_rs_spec), FLAT("status", 3, type_rs_status));

TYPE(type_sts_spec, "StatefulSetSpec", stateful_set,
     F("replicas", 1, OPT_I32, stateful_set, replicas),
     FM("selector", 2, PTR, stateful_set, selector, type_selector),
     FM("template", 3, PTR, stateful_set, template, type_template),
     F("serviceName", 5, STR, stateful_set, service),
     F("podManagementPolicy", 6, STR, stateful_set, pod_management),
     F("minReadySeconds", 9, I32, stateful_set, min_ready_seconds));
TYPE(type_sts_status, "StatefulSetStatus", stateful_set,
     F("observedGeneration", 1, I64, stateful_set, observed_generation),
     F("replicas", 2, I32, stateful_set, now), F("readyReplicas", 3, I32, stateful_set, ready),
     F("currentReplicas", 4, I32, stateful_set, current),
     F("updatedReplicas", 5, I32, stateful_set, updated),
     F("currentRevision", 6, STR, stateful_set, current_revision),
     F("updateRevision", 7, STR, stateful_set, update_revision),
     F("availableReplicas", 11, I32, stateful_set, available));
TYPE(type_sts, "StatefulSet", stateful_set, FM("metadata", 1, MSG, stateful_set, meta, type_meta),
     FLAT("spec", 2, type_sts_spec), FLAT("status", 3, type_sts_status));

TYPE(type_rolling, "RollingUpdateDeployment", rolling_update,
     F("maxUnavailable", 1, INTSTR, rolling_update, max_unavailable),
     F("maxSurge", 2, INTSTR, rolling_update, max_surge));
TYPE(type_strategy, "DeploymentStrategy", update_strategy, F("type", 1, STR, update_strategy, type),
     FM("rollingUpdate", 2, PTR, update_strategy, rolling, type_rolling));
TYPE(type_deployment_spec, "DeploymentSpec", deployment,
     F("replicas", 1, OPT_I32, deployment, replicas),
     FM("selector", 2, PTR, deployment, selector, type_selector),
     FM("template", 3, PTR, deployment, template, type_template),
     FM("strategy", 4, MSG, deployment, strategy, type_strategy),
     F("minReadySeconds", 5, I32, deployment, min_ready_seconds),
     F("paused", 7, BOOL, deployment, paused));
TYPE(type_deployment_status, "DeploymentStatus", deployment,
     F("observedGeneration", 1, I64, deployment, observed_generation),
     F("replicas", 2, I32, deployment, now), F("updatedReplicas", 3, I32, deployment, updated),
     F("availableReplicas", 4, I32, deployment, available),
     F("unavailableReplicas", 5, I32, deployment, unavailable),
     FM("conditions", 6, LIST, deployment, conditions, type_deployment_condition),
     F("readyReplicas", 7, I32, deployment, ready));
TYPE(type_deployment, "Deployment", deployment, FM("metadata", 1, MSG, deployment, meta, type_meta),
     FLAT("spec", 2, type_deployment_spec), FLAT("status", 3, type_deployment_status));

TYPE(type_exit_codes, "PodFailurePolicyOnExitCodesRequirement", exit_codes,
     F("containerName", 1, STR, exit_codes, container), F("operator", 2, STR, exit_codes, op),
     F("values", 3, INTS, exit_codes, values));
TYPE(type_condition_pattern, "PodFailurePolicyOnPodConditionsPattern", condition_pattern,
     F("type", 1, STR, condition_pattern, type), F("status", 2, STR, condition_pattern, status));
TYPE(type_failure_rule, "PodFailurePolicyRule", failure_rule,
     F("action", 1, STR, failure_rule, action),
     FM("onExitCodes", 2, PTR, failure_rule, codes, type_exit_codes),
     FM("onPodConditions", 3, LIST, failure_rule, conditions, type_condition_pattern));
TYPE(type_failure_policy, "PodFailurePolicy", failure_policy,
     FM("rules", 1, LIST, failure_policy, rules, type_failure_rule));
TYPE(type_job_spec, "JobSpec", job, F("parallelism", 1, OPT_I32, job, parallelism),
     F("completions", 2, OPT_I32, job, completions),
     F("activeDeadlineSeconds", 3, OPT_I64, job, deadline),
     FM("selector", 4, PTR, job, selector, type_selector),
     FM("template", 6, PTR, job, template, type_template),
     F("backoffLimit", 7, OPT_I32, job, backoff_limit),
     F("ttlSecondsAfterFinished", 8, OPT_I32, job, ttl),
     F("completionMode", 9, STR, job, completion_mode), F("suspend", 10, BOOL, job, suspend),
     FM("podFailurePolicy", 11, PTR, job, policy, type_failure_policy),
     F("backoffLimitPerIndex", 12, OPT_I32, job, index_limit),
     F("maxFailedIndexes", 13, OPT_I32, job, max_failed_indexes),
     F("podReplacementPolicy", 14, STR, job, replacement_policy),
     F("managedBy", 15, STR, job, managed_by));
TYPE(type_job_status, "JobStatus", job, FM("conditions", 1, LIST, job, conditions, type_condition),
     F("startTime", 2, TIME, job, started), F("completionTime", 3, TIME, job, completed),
     F("active", 4, I32, job, active), F("succeeded", 5, I32, job, succeeded),
     F("failed", 6, I32, job, failed), F("ready", 9, OPT_I32, job, ready),
     F("failedIndexes", 10, STR, job, failed_indexes),
     F("terminating", 11, OPT_I32, job, terminating));
TYPE(type_job, "Job", job, FM("metadata", 1, MSG, job, meta, type_meta),
     FLAT("spec", 2, type_job_spec), FLAT("status", 3, type_job_status));

/* --- the rest --- */

TYPE(type_quota_scope, "ScopedResourceSelectorRequirement", quota_scope,
     F("scopeName", 1, STR, quota_scope, name), F("operator", 2, STR, quota_scope, op),
     F("values", 3, STRS, quota_scope, values));
TYPE(type_quota_selector, "ScopeSelector", quota_selector,
     FM("matchExpressions", 1, LIST, quota_selector, exprs, type_quota_scope));
TYPE(type_quota_spec, "ResourceQuotaSpec", resource_quota,
     F("hard", 1, MAP_QTY, resource_quota, hard), F("scopes", 2, STRS, resource_quota, scopes),
     FM("scopeSelector", 3, PTR, resource_quota, selector, type_quota_selector));
TYPE(type_quota_status, "ResourceQuotaStatus", resource_quota,
     F("used", 2, MAP_QTY, resource_quota, used));
TYPE(type_quota, "ResourceQuota", resource_quota,
     FM("metadata", 1, MSG, resource_quota, meta, type_meta), FLAT("spec", 2, type_quota_spec),
     FLAT("status", 3, type_quota_status));
TYPE(type_account, "ServiceAccount", service_account,
     FM("metadata", 1, MSG, service_account, meta, type_meta));

TYPE(type_ns_spec, "NamespaceSpec", ns, F("finalizers", 1, STRS, ns, finalizers));
TYPE(type_ns_status, "NamespaceStatus", ns, F("phase", 1, STR, ns, phase),
     FM("conditions", 2, LIST, ns, conditions, type_condition));
TYPE(type_ns, "Namespace", ns, FM("metadata", 1, MSG, ns, meta, type_meta),
     FLAT("spec", 2, type_ns_spec), FLAT("status", 3, type_ns_status));

TYPE(type_event_source, "EventSource", event_source,
     F("component", 1, STR, event_source, component), F("host", 2, STR, event_source, host));
TYPE(type_event_series, "EventSeries", event_series, F("count", 1, I32, event_series, count),
     F("lastObservedTime", 2, MICROTIME, event_series, last));
TYPE(type_event, "Event", kube_event, FM("metadata", 1, MSG, kube_event, meta, type_meta),
     FM("involvedObject", 2, MSG, kube_event, object, type_object_ref),
     F("reason", 3, STR, kube_event, reason), F("message", 4, STR, kube_event, message),
     FM("source", 5, MSG, kube_event, source, type_event_source),
     F("firstTimestamp", 6, TIME, kube_event, first), F("lastTimestamp", 7, TIME, kube_event, last),
     F("count", 8, I32, kube_event, count), F("type", 9, STR, kube_event, type),
     F("eventTime", 10, MICROTIME, kube_event, time),
     FM("series", 11, PTR, kube_event, series, type_event_series),
     F("action", 12, STR, kube_event, action),
     FM("related", 13, PTR, kube_event, related, type_object_ref),
     F("reportingComponent", 14, STR, kube_event, reporter),
     F("reportingInstance", 15, STR, kube_event, instance));

TYPE(type_cause, "StatusCause", status_cause, F("reason", 1, STR, status_cause, reason),
     F("message", 2, STR, status_cause, message), F("field", 3, STR, status_cause, field));
TYPE(type_details, "StatusDetails", status_details, F("name", 1, STR, status_details, name),
     F("group", 2, STR, status_details, group), F("kind", 3, STR, status_details, kind),
     FM("causes", 4, LIST, status_details, causes, type_cause),
     F("retryAfterSeconds", 5, I32, status_details, retry_after),
     F("uid", 6, STR, status_details, uid));

TYPE(type_config_map, "ConfigMap", config_map, FM("metadata", 1, MSG, config_map, meta, type_meta),
     F("data", 2, MAP, config_map, data));

TYPE(type_any, "Object", object, FM("metadata", 1, MSG, object, meta, type_meta));

static const struct field status_fields[] = {
    F("status", 2, STR, status, status), F("message", 3, STR, status, message),
    F("reason", 4, STR, status, reason), FM("details", 5, PTR, status, details, type_details),
    F("code", 6, I32, status, code),
};
const struct type type_status = {"Status", sizeof(struct status), ARRAY_LEN(status_fields),
                                 status_fields, NULL};

static const struct field list_meta_fields[] = {
    F("resourceVersion", 2, STR, list_meta, version),
    F("continue", 3, STR, list_meta, token),
    F("remainingItemCount", 4, OPT_I64, list_meta, remaining),
};
const struct type type_list_meta = {"ListMeta", sizeof(struct list_meta),
                                    ARRAY_LEN(list_meta_fields), list_meta_fields, NULL};

/* --- kinds --- */

#define KIND(var, name_, group_, resource_, namespaced_, type_)                                    \
    const struct kind var = {                                                                      \
        name_, group_, "v1", resource_, .namespaced = (namespaced_), .type = &(type_)}

KIND(kind_node, "Node", "", "nodes", false, type_node);
KIND(kind_pod, "Pod", "", "pods", true, type_pod);
KIND(kind_pdb, "PodDisruptionBudget", "policy", "poddisruptionbudgets", true, type_pdb);
KIND(kind_lease, "Lease", "coordination.k8s.io", "leases", true, type_lease);
KIND(kind_volume_attachment, "VolumeAttachment", "storage.k8s.io", "volumeattachments", false,
     type_va);
KIND(kind_daemon_set, "DaemonSet", "apps", "daemonsets", true, type_ds);
KIND(kind_replica_set, "ReplicaSet", "apps", "replicasets", true, type_rs);
KIND(kind_stateful_set, "StatefulSet", "apps", "statefulsets", true, type_sts);
KIND(kind_deployment, "Deployment", "apps", "deployments", true, type_deployment);
KIND(kind_job, "Job", "batch", "jobs", true, type_job);
KIND(kind_pv, "PersistentVolume", "", "persistentvolumes", false, type_pv);
KIND(kind_pvc, "PersistentVolumeClaim", "", "persistentvolumeclaims", true, type_pvc);
KIND(kind_storage_class, "StorageClass", "storage.k8s.io", "storageclasses", false,
     type_storage_class);
KIND(kind_csi_node, "CSINode", "storage.k8s.io", "csinodes", false, type_csi_node);
KIND(kind_namespace, "Namespace", "", "namespaces", false, type_ns);
KIND(kind_event, "Event", "", "events", true, type_event);
KIND(kind_config_map, "ConfigMap", "", "configmaps", true, type_config_map);
KIND(kind_resource_quota, "ResourceQuota", "", "resourcequotas", true, type_quota);
KIND(kind_service_account, "ServiceAccount", "", "serviceaccounts", true, type_account);
KIND(kind_any, "Object", "", "", true, type_any);

const struct kind *const kinds[] = {
    &kind_node,
    &kind_pod,
    &kind_pdb,
    &kind_lease,
    &kind_volume_attachment,
    &kind_daemon_set,
    &kind_replica_set,
    &kind_stateful_set,
    &kind_deployment,
    &kind_job,
    &kind_pv,
    &kind_pvc,
    &kind_storage_class,
    &kind_csi_node,
    &kind_namespace,
    &kind_event,
    &kind_config_map,
    &kind_resource_quota,
    &kind_service_account,
    NULL,
};

const struct kind *kind_find(const char *name) {
    for (size_t i = 0; kinds[i]; i++)
        if (streq(kinds[i]->name, name) || streq(kinds[i]->resource, name))
            return kinds[i];
    return NULL;
}

const char *kind_api_version(const struct kind *kind, char buf[static 64]) {
    snprintf(buf, 64, "%s%s%s", kind->group, *kind->group ? "/" : "", kind->version);
    return buf;
}

struct object *object_new(const struct kind *kind) {
    struct object *obj = xcalloc(1, kind->type->size);
    type_init(kind->type, obj, obj);
    return obj;
}

void object_free(const struct kind *kind, struct pool *pool, struct object *obj) {
    if (!obj)
        return;
    type_release(kind->type, pool, obj, obj);
    free(obj);
}

struct object *object_copy(const struct kind *kind, const struct object *obj) {
    struct object *copy = xmemdup(obj, kind->type->size);
    type_retain(kind->type, copy, copy);
    copy->meta.store_hash = copy->meta.store_epoch = 0;
    return copy;
}

void object_print(const struct kind *kind, struct jsonw *w, const struct object *obj) {
    char buf[64];
    jsonw_begin(w, '{');
    jsonw_kstr(w, "apiVersion", kind_api_version(kind, buf));
    jsonw_kstr(w, "kind", kind->name);
    type_print(kind->type, w, obj, obj);
    jsonw_end(w);
}

const struct condition *condition_find(const struct condition *list, const char *type) {
    for (size_t i = 0; i < list_len(list); i++)
        if (str_same(list[i].type, type))
            return &list[i];
    return NULL;
}

const struct node_condition *node_condition_find(const struct node_condition *list,
                                                 const char *type) {
    for (size_t i = 0; i < list_len(list); i++)
        if (str_same(list[i].c.type, type))
            return &list[i];
    return NULL;
}

bool node_is_ready(const struct node *node) {
    const struct node_condition *c = node_condition_find(node->conditions, "Ready");
    return c && str_same(c->c.status, "True");
}

const char *node_zone(const struct node *node) {
    return strna(map_get(node->meta.labels, "topology.kubernetes.io/zone"));
}

bool node_is_control_plane(const struct node *node) {
    return map_has(node->meta.labels, "node-role.kubernetes.io/control-plane") ||
           map_has(node->meta.labels, "node-role.kubernetes.io/master");
}

const struct owner *meta_controller(const struct meta *meta) {
    for (size_t i = 0; i < list_len(meta->owners); i++)
        if (meta->owners[i].controller)
            return &meta->owners[i];
    return NULL;
}
