/* The list of what a snapshot keeps. What decides a drain, a scheduler and a simulator is here:
 * names, numbers, words of the API, selectors; and what `why` passes on, the messages of
 * conditions. Paths, addresses, handles, commands and whatever else people may write into an object
 * are not. */
#include "cli/snapshot_keep.h"

#include "base/mem.h"
#include "base/str.h"

#define ALL(name)                                                                                  \
    { name, NULL }
#define END                                                                                        \
    { NULL, NULL }

/* --- metadata --- */

/* Annotations are gone through one by one (snapshot_strip.c). */
const struct keep keep_meta[] = {
    ALL("name"),
    ALL("generateName"),
    ALL("namespace"),
    ALL("uid"),
    ALL("resourceVersion"),
    ALL("generation"),
    ALL("creationTimestamp"),
    ALL("deletionTimestamp"),
    ALL("deletionGracePeriodSeconds"),
    ALL("labels"),
    ALL("annotations"),
    ALL("ownerReferences"),
    ALL("finalizers"),
    END,
};

const struct keep keep_template_meta[] = {
    ALL("name"),       ALL("labels"), ALL("annotations"), ALL("creationTimestamp"),
    ALL("finalizers"), END,
};

/* --- containers --- */

/* Of a handler nothing: snapshot_strip.c puts one in its place that does nothing. */
static const struct keep probe[] = {
    ALL("initialDelaySeconds"),
    ALL("timeoutSeconds"),
    ALL("periodSeconds"),
    ALL("successThreshold"),
    ALL("failureThreshold"),
    ALL("terminationGracePeriodSeconds"),
    ALL("exec"),
    END,
};
static const struct keep sleep_seconds[] = {ALL("seconds"), END};
static const struct keep hook[] = {ALL("exec"), {"sleep", sleep_seconds}, END};
static const struct keep lifecycle[] = {
    {"preStop", hook}, {"postStart", hook}, ALL("stopSignal"), END};
static const struct keep ports[] = {ALL("name"),   ALL("containerPort"), ALL("hostPort"),
                                    ALL("hostIP"), ALL("protocol"),      END};
static const struct keep container[] = {
    ALL("name"),
    ALL("image"),
    ALL("imagePullPolicy"),
    ALL("resources"),
    ALL("resizePolicy"),
    ALL("restartPolicy"),
    ALL("terminationMessagePolicy"),
    ALL("targetContainerName"),
    {"ports", ports},
    {"livenessProbe", probe},
    {"readinessProbe", probe},
    {"startupProbe", probe},
    {"lifecycle", lifecycle},
    END,
};

/* --- volumes --- */

static const struct keep claim_spec[] = {
    ALL("accessModes"),
    ALL("resources"),
    ALL("selector"),
    ALL("storageClassName"),
    ALL("volumeMode"),
    ALL("volumeName"),
    END,
};
static const struct keep claim_template[] = {
    {"metadata", keep_template_meta}, {"spec", claim_spec}, END};
static const struct keep ephemeral[] = {{"volumeClaimTemplate", claim_template}, END};
static const struct keep inline_csi[] = {ALL("driver"), ALL("readOnly"), END};
static const struct keep claim[] = {ALL("claimName"), ALL("readOnly"), END};
static const struct keep empty_dir[] = {ALL("medium"), ALL("sizeLimit"), END};
static const struct keep path[] = {ALL("path"), END}; /* which snapshot_strip.c has blanked */
static const struct keep nothing[] = {END};
/* One that is none of these becomes an empty downwardAPI. */
static const struct keep volume[] = {
    ALL("name"),
    {"hostPath", path},
    {"downwardAPI", nothing},
    {"emptyDir", empty_dir},
    {"persistentVolumeClaim", claim},
    {"ephemeral", ephemeral},
    {"csi", inline_csi},
    END,
};

/* --- pods --- */

static const struct keep pod_spec[] = {
    ALL("activeDeadlineSeconds"),
    ALL("affinity"),
    ALL("hostIPC"),
    ALL("hostNetwork"),
    ALL("hostPID"),
    ALL("hostUsers"),
    ALL("nodeName"),
    ALL("nodeSelector"),
    ALL("os"),
    ALL("overhead"),
    ALL("preemptionPolicy"),
    ALL("priority"),
    ALL("priorityClassName"),
    ALL("readinessGates"),
    ALL("resourceClaims"),
    ALL("resources"),
    ALL("restartPolicy"),
    ALL("runtimeClassName"),
    ALL("schedulerName"),
    ALL("schedulingGates"),
    ALL("terminationGracePeriodSeconds"),
    ALL("tolerations"),
    ALL("topologySpreadConstraints"),
    {"containers", container},
    {"initContainers", container},
    {"ephemeralContainers", container},
    {"volumes", volume},
    END,
};
static const struct keep pod_template[] = {
    {"metadata", keep_template_meta}, {"spec", pod_spec}, END};

static const struct keep running[] = {ALL("startedAt"), END};
static const struct keep waiting[] = {ALL("reason"), ALL("message"), END};
static const struct keep terminated[] = {ALL("exitCode"),  ALL("signal"),     ALL("reason"),
                                         ALL("startedAt"), ALL("finishedAt"), END};
static const struct keep state[] = {
    {"running", running}, {"waiting", waiting}, {"terminated", terminated}, END};
static const struct keep container_status[] = {
    ALL("name"),      ALL("image"),     ALL("imageID"), /* validation wants one; snapshot_strip.c
                                                           takes what is in it */
    ALL("ready"),     ALL("started"),   ALL("restartCount"),  ALL("allocatedResources"),
    ALL("resources"), {"state", state}, {"lastState", state}, END,
};
static const struct keep pod_status[] = {
    ALL("phase"),
    ALL("conditions"),
    ALL("reason"),
    ALL("startTime"),
    ALL("qosClass"),
    ALL("nominatedNodeName"),
    ALL("observedGeneration"),
    ALL("resourceClaimStatuses"),
    {"containerStatuses", container_status},
    {"initContainerStatuses", container_status},
    {"ephemeralContainerStatuses", container_status},
    END,
};
static const struct keep pod[] = {{"spec", pod_spec}, {"status", pod_status}, END};

/* --- nodes --- */

static const struct keep node_spec[] = {ALL("unschedulable"), ALL("taints"), END};
static const struct keep node_info[] = {
    ALL("architecture"),
    ALL("bootID"),
    ALL("containerRuntimeVersion"),
    ALL("kernelVersion"),
    ALL("kubeProxyVersion"),
    ALL("kubeletVersion"),
    ALL("operatingSystem"),
    ALL("osImage"),
    ALL("machineID"),
    ALL("systemUUID"), /* both are required; snapshot_strip.c empties them */
    END,
};
/* What is in use and attached is named by its handle; a simulated kubelet finds it anew. */
static const struct keep node_status[] = {
    ALL("allocatable"), ALL("capacity"), ALL("conditions"), {"nodeInfo", node_info}, END,
};
static const struct keep node[] = {{"spec", node_spec}, {"status", node_status}, END};

/* --- workloads: all members of their specs are numbers, words of the API and selectors --- */

static const struct keep workload_spec[] = {
    ALL("replicas"),
    ALL("selector"),
    ALL("strategy"),
    ALL("updateStrategy"),
    ALL("minReadySeconds"),
    ALL("revisionHistoryLimit"),
    ALL("paused"),
    ALL("progressDeadlineSeconds"),
    ALL("serviceName"),
    ALL("podManagementPolicy"),
    ALL("persistentVolumeClaimRetentionPolicy"),
    ALL("ordinals"),
    ALL("parallelism"),
    ALL("completions"),
    ALL("completionMode"),
    ALL("activeDeadlineSeconds"),
    ALL("podFailurePolicy"),
    ALL("successPolicy"),
    ALL("backoffLimit"),
    ALL("backoffLimitPerIndex"),
    ALL("maxFailedIndexes"),
    ALL("manualSelector"),
    ALL("ttlSecondsAfterFinished"),
    ALL("suspend"),
    ALL("podReplacementPolicy"),
    ALL("managedBy"),
    {"template", pod_template},
    {"volumeClaimTemplates", claim_template},
    END,
};
static const struct keep workload[] = {{"spec", workload_spec}, ALL("status"), END};
static const struct keep revision[] = {ALL("revision"), END};

/* --- storage --- */

static const struct keep pv_claim[] = {
    ALL("apiVersion"),      ALL("kind"), ALL("namespace"), ALL("name"), ALL("uid"),
    ALL("resourceVersion"), END};
static const struct keep pv_csi[] = {ALL("driver"), ALL("readOnly"), ALL("fsType"),
                                     ALL("volumeHandle"), END};
static const struct keep pv_spec[] = {
    ALL("accessModes"),      ALL("capacity"),
    ALL("nodeAffinity"),     ALL("persistentVolumeReclaimPolicy"),
    ALL("storageClassName"), ALL("volumeMode"),
    {"hostPath", path}, /* also of every source that is not here */
    {"local", path},         {"claimRef", pv_claim},
    {"csi", pv_csi},         END,
};
static const struct keep pv_status[] = {ALL("phase"), ALL("reason"), ALL("lastPhaseTransitionTime"),
                                        END};
static const struct keep pv[] = {{"spec", pv_spec}, {"status", pv_status}, END};
static const struct keep pvc_status[] = {ALL("phase"), ALL("accessModes"), ALL("capacity"),
                                         ALL("conditions"), END};
static const struct keep pvc[] = {{"spec", claim_spec}, {"status", pvc_status}, END};
static const struct keep attachment_source[] = {
    ALL("persistentVolumeName"), {"inlineVolumeSpec", pv_spec}, END};
static const struct keep attachment_spec[] = {
    ALL("attacher"), ALL("nodeName"), {"source", attachment_source}, END};
static const struct keep attachment_status[] = {ALL("attached"), ALL("attachError"),
                                                ALL("detachError"), END};
static const struct keep attachment[] = {
    {"spec", attachment_spec}, {"status", attachment_status}, END};
static const struct keep storage_class[] = {ALL("provisioner"),       ALL("reclaimPolicy"),
                                            ALL("volumeBindingMode"), ALL("allowVolumeExpansion"),
                                            ALL("allowedTopologies"), END};
static const struct keep driver_spec[] = {
    ALL("attachRequired"),       ALL("podInfoOnMount"),
    ALL("requiresRepublish"),    ALL("storageCapacity"),
    ALL("volumeLifecycleModes"), ALL("fsGroupPolicy"),
    ALL("seLinuxMount"),         END,
};
static const struct keep driver[] = {{"spec", driver_spec}, END};

static const struct keep csi_node_driver[] = {
    ALL("name"), ALL("nodeID"), /* validation wants one; snapshot_strip.c takes what is in it */
    ALL("allocatable"), END};
static const struct keep csi_node_spec[] = {{"drivers", csi_node_driver}, END};
static const struct keep csi_node[] = {{"spec", csi_node_spec}, END};

/* --- the rest --- */

static const struct keep namespace_spec[] = {ALL("finalizers"), END};
static const struct keep namespace[] = {{"spec", namespace_spec}, ALL("status"), END};
static const struct keep priority_class[] = {ALL("value"), ALL("globalDefault"),
                                             ALL("preemptionPolicy"), END};
static const struct keep budget[] = {ALL("spec"), ALL("status"), END};

static const struct {
    const char *kind;
    const struct keep *rules;
} kinds[] = {
    {"Pod", pod},
    {"Node", node},
    {"Namespace", namespace},
    {"PriorityClass", priority_class},
    {"Deployment", workload},
    {"ReplicaSet", workload},
    {"StatefulSet", workload},
    {"DaemonSet", workload},
    {"Job", workload},
    {"ControllerRevision", revision},
    {"PodDisruptionBudget", budget},
    {"PersistentVolume", pv},
    {"PersistentVolumeClaim", pvc},
    {"VolumeAttachment", attachment},
    {"StorageClass", storage_class},
    {"CSIDriver", driver},
    {"CSINode", csi_node},
};

const struct keep *keep_of_kind(const char *kind) {
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (streq(kind, kinds[i].kind))
            return kinds[i].rules;
    return NULL;
}

static const struct keep *rule_of(const struct keep *rules, const char *key) {
    for (; rules->key; rules++)
        if (streq(rules->key, key))
            return rules;
    return NULL;
}

void keep_only(json_t *value, const struct keep *rules) {
    size_t i;
    const char *key;
    void *next;
    json_t *v;
    json_array_foreach(value, i, v) keep_only(v, rules);
    json_object_foreach_safe(value, next, key, v) {
        const struct keep *rule = rule_of(rules, key);
        bool odd = rule && rule->below && !json_is_object(v) && !json_is_array(v);
        if (!rule || odd) /* what has another type than it should may be anything */
            json_object_del(value, key);
        else if (rule->below)
            keep_only(v, rule->below);
    }
}
