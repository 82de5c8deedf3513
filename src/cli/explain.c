/* How each blocker is found. */
#include "cli/explain.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "cli/text.h"

/* What has no row yet is a code that is younger than this table; a test tells. */
static const char *const found[BLOCKER_CODES] = {
    [BLOCKER_MULTIPLE_PDBS] = "the selectors of the namespace's budgets are matched with the "
                              "pod's labels before it is evicted; the API server answers such an "
                              "eviction with 500",
    [BLOCKER_PDB_UNSATISFIABLE] =
        "maxUnavailable is 0 or minAvailable 100%, or the budget's status says that it needs as "
        "many healthy pods (desiredHealthy) as there are in all (expectedPods). Where minAvailable "
        "is a number, these are the pods that exist: what their StatefulSets and ReplicaSets want "
        "counts then, and as long as that is not known, whether all of them are healthy",
    [BLOCKER_PDB_SYNC_FAILED] = "the budget's condition DisruptionAllowed has the reason "
                                "SyncFailed",
    [BLOCKER_PDB_NO_BUDGET] =
        "the budget's status says disruptionsAllowed 0, or is older than "
        "its spec; the API server answers an eviction with 429 and the "
        "cause DisruptionBudget. Beforehand, that it allows something and "
        "the replacements of the first pods to go would find no room, so that "
        "it stays at 0",
    [BLOCKER_BARE_POD] = "no owner of the pod is its controller, or the DaemonSet that it names "
                         "does not exist",
    [BLOCKER_DAEMON_POD] = "the pod's controller is a DaemonSet, of whatever group, "
                           "and --ignore-daemonsets=false was given",
    [BLOCKER_LOCAL_STORAGE] = "one of the pod's volumes is an emptyDir, in memory or on disk",
    [BLOCKER_LOCAL_PV] = "the PersistentVolume of one of the pod's claims is local, or its node "
                         "affinity names this node (kubernetes.io/hostname). One that names a zone "
                         "is not local: it moves within its zone",
    [BLOCKER_NO_ROOM] = "a scheduling simulation, with the rules of kube-scheduler, finds no node "
                        "for the pod's replacement",
    [BLOCKER_TERMINATING_STUCK] = "a minute after the end of its grace period (deletionTimestamp) "
                                  "the pod is still there",
    [BLOCKER_NODE_NOT_READY] = "the node's condition Ready is False, or it has none yet",
    [BLOCKER_FINALIZER_STUCK] = "the pod has been deleted, has finished or is past its grace "
                                "period, and metadata.finalizers is not empty; beforehand, that "
                                "the pod has a finalizer which is not one of Kubernetes' own",
    [BLOCKER_NODE_UNREACHABLE] = "the node's condition Ready is Unknown: its lease was not "
                                 "renewed; the pods that were asked to go are still there",
    [BLOCKER_VOLUME_ATTACHED] = "a VolumeAttachment names the node and a volume that no pod there "
                                "uses any more, or the node's status.volumesInUse lists it",
    [BLOCKER_NAMESPACE_TERMINATING] = "the namespace has a deletionTimestamp; the API server "
                                      "answers evictions in it with 403 and the cause "
                                      "NamespaceTerminating",
    [BLOCKER_ADMISSION_DENIED] = "the answer to the eviction names an admission webhook or policy "
                                 "that denied it",
    [BLOCKER_EVICTION_IN_PROGRESS] = "the answer to the eviction is 429 without the cause "
                                     "DisruptionBudget and without the marks of rate limiting",
    [BLOCKER_PDB_BROKEN] = "the answer to the eviction is 403 with the cause DisruptionBudget",
    [BLOCKER_FORBIDDEN] = "the API server answers 403 without any further cause",
    [BLOCKER_SERVER_TROUBLE] = "an answer of 5xx, one that cannot be read, or none at all",
    [BLOCKER_RATE_LIMITED] = "an answer of 429 from the server's priority and fairness, or with a "
                             "Retry-After while it shuts down",
    [BLOCKER_PINNED] = "the template of the pod's StatefulSet or ReplicaSet has this node in "
                       "spec.nodeName, or pods come to the cordoned node past the scheduler",
    [BLOCKER_RETURNS] = "pods of the same owner were put on the cordoned node again and again, "
                        "and tolerate node.kubernetes.io/unschedulable",
    [BLOCKER_DO_NOT_DISRUPT] = "an annotation of the pod: "
                               "cluster-autoscaler.kubernetes.io/safe-to-evict=false or "
                               "karpenter.sh/do-not-disrupt",
    [BLOCKER_JOB_RUNNING] = "a rule with 'action: wait', or the pod's label "
                            "cluster.x-k8s.io/drain=wait-completed",
    [BLOCKER_JOB_WOULD_FAIL] =
        "beforehand: the first rule of the Job's podFailurePolicy that matches a pod which was "
        "evicted (condition DisruptionTarget, containers that end with 143) says FailJob or "
        "FailIndex; or, with the pods that go together, more of them would have failed than "
        "backoffLimit or backoffLimitPerIndex allows. One whose containers end well (exit code 0) "
        "when they are asked to stop counts as done instead",
    [BLOCKER_REPLACEMENT_REFUSED] =
        "beforehand: the status of a ResourceQuota without scopes counts more of a resource that "
        "the pod uses than its spec allows, or there is no ServiceAccount of the name that the pod "
        "has",
    [BLOCKER_OTHER_SCHEDULER] = "the pod's spec.schedulerName is not default-scheduler",
    [BLOCKER_ROOM_UNKNOWN] =
        "beforehand: the pod's spec.resourceClaims is not empty; or the template of its "
        "StatefulSet, ReplicaSet or Job has schedulingGates, or asks for other requests, "
        "selectors, "
        "affinity, spread, tolerations, claims, host ports, scheduler or priority than the pod "
        "has; or its controller is none that is known to make an evicted pod anew",
    [BLOCKER_SURGE_PENDING] = "with --surge: the Deployment was given one replica more, and its "
                              "status does not count it as available",
    [BLOCKER_NOT_RESCHEDULED] = "with --wait-rescheduled: the status of the owner counts fewer "
                                "replicas as available than its spec wants. In a plan and in "
                                "doctor: a StatefulSet makes its pods in order (OrderedReady), and "
                                "one with a lower number is not ready or finds no room",
    [BLOCKER_MAX_UNAVAILABLE] =
        "so many nodes are being worked on as --max-unavailable or --parallel allows",
    [BLOCKER_MAX_ZONES] = "nodes of so many zones (label topology.kubernetes.io/zone) are being "
                          "worked on as --max-zones allows, and this one is in another",
    [BLOCKER_NODE_TAKEN] = "the record of the policy's slots has the node, and for another",
    [BLOCKER_CORDON_CONTENDED] = "the patch that cordons the node is answered with 409 again and "
                                 "again: its resourceVersion was changed in between",
    [BLOCKER_LAST_REPLICA] = "a check reads the storage system's own objects and finds no healthy "
                             "copy of a volume outside of the nodes that would be gone",
    [BLOCKER_QUORUM_AT_RISK] = "a check counts the members that would be healthy without the "
                               "node, and they are no majority",
    [BLOCKER_STORAGE_NOT_OK] = "a check reads the health that the storage system or database "
                               "reports of itself",
    [BLOCKER_PRIMARY_ON_NODE] = "a check finds the pod of the database's primary on the node",
    [BLOCKER_NOT_MIGRATABLE] = "a check reads the virtual machine's condition LiveMigratable and "
                               "its eviction strategy",
    [BLOCKER_CHECK_UNKNOWN] = "a check could not read what it needs, or found it empty",
    [BLOCKER_MANUAL_HOLD] = "spec.paused of the maintenance or of its rollout",
    [BLOCKER_SOAK_TIME] = "soak of the policy or of the rollout, counted from when the last of its "
                          "nodes was done",
    [BLOCKER_TOO_MANY_FAILED] = "the nodes of the rollout that were given up, or wait for somebody "
                                "to say how they go on, are more than its maxFailed",
    [BLOCKER_POLICY_UNCLEAR] = "the node selectors of the policies are compared with the labels of "
                               "the node",
    [BLOCKER_NAME_TAKEN] = "a Maintenance ROLLOUT-NODE is there, and the rollout is not its owner",
    [BLOCKER_APPROVAL_NEEDED] = "spec.approval of the policy is required, and the Maintenance, its "
                                "Rollout, or the Node of a FleetLock client has no annotation "
                                "slipway.dev/approved (of the Node: none of this boot)",
    [BLOCKER_RECORD_UNREADABLE] = "the ConfigMap slipway-slots-POLICY is of a newer version, or no "
                                  "record at all",
    [BLOCKER_CLIENT_AWAITED] = "executor fleetlock, and the slot of the node is drained: no "
                               "question of its client has come since that could be granted",
    [BLOCKER_NODE_AWAITED] = "the phase is Granted (by FleetLock), Operating or Returning, and the "
                             "Node is not Ready with another boot than when it was drained",
    [BLOCKER_NOT_BACK] = "the returnTimeout of the policy has passed since the node was told to "
                         "go, since the operation began, or since the new boot was seen",
    [BLOCKER_OPERATION_FAILED] =
        "the executor has reported a failure; or it has reported none, and five minutes later the "
        "node is Ready in the boot that it was drained in",
    [BLOCKER_CORDON_FAILED] = "the Node cannot be written, or its annotation slipway.dev/cordon "
                              "cannot be read",
    [BLOCKER_EXECUTOR_REFUSED] = "the controller was begun without --allow-commands or "
                                 "--allow-hooks, or what it is to run or ask is none",
};

const char *const explain_words[BLOCKER_CODES + 2] = {
    [BLOCKER_MULTIPLE_PDBS] = "MultiplePDBs",
    [BLOCKER_PDB_UNSATISFIABLE] = "PDBUnsatisfiable",
    [BLOCKER_PDB_SYNC_FAILED] = "PDBSyncFailed",
    [BLOCKER_PDB_NO_BUDGET] = "PDBNoBudget",
    [BLOCKER_BARE_POD] = "BarePod",
    [BLOCKER_DAEMON_POD] = "DaemonPod",
    [BLOCKER_LOCAL_STORAGE] = "LocalStorage",
    [BLOCKER_LOCAL_PV] = "LocalPV",
    [BLOCKER_NO_ROOM] = "CapacityInsufficient",
    [BLOCKER_TERMINATING_STUCK] = "PodTerminatingStuck",
    [BLOCKER_NODE_NOT_READY] = "NodeNotReady",
    [BLOCKER_FINALIZER_STUCK] = "FinalizerStuck",
    [BLOCKER_NODE_UNREACHABLE] = "NodeUnreachable",
    [BLOCKER_VOLUME_ATTACHED] = "VolumeStillAttached",
    [BLOCKER_NAMESPACE_TERMINATING] = "NamespaceTerminating",
    [BLOCKER_ADMISSION_DENIED] = "AdmissionDenied",
    [BLOCKER_EVICTION_IN_PROGRESS] = "EvictionInProgress",
    [BLOCKER_PDB_BROKEN] = "PDBBroken",
    [BLOCKER_FORBIDDEN] = "Forbidden",
    [BLOCKER_SERVER_TROUBLE] = "ServerTrouble",
    [BLOCKER_RATE_LIMITED] = "RateLimited",
    [BLOCKER_PINNED] = "PinnedToNode",
    [BLOCKER_RETURNS] = "ReturnsToNode",
    [BLOCKER_DO_NOT_DISRUPT] = "DoNotDisrupt",
    [BLOCKER_JOB_RUNNING] = "JobRunning",
    [BLOCKER_JOB_WOULD_FAIL] = "JobWouldFail",
    [BLOCKER_REPLACEMENT_REFUSED] = "ReplacementRefused",
    [BLOCKER_OTHER_SCHEDULER] = "OtherScheduler",
    [BLOCKER_ROOM_UNKNOWN] = "RoomUnknown",
    [BLOCKER_SURGE_PENDING] = "SurgePending",
    [BLOCKER_NOT_RESCHEDULED] = "NotRescheduled",
    [BLOCKER_MAX_UNAVAILABLE] = "MaxUnavailableReached",
    [BLOCKER_MAX_ZONES] = "MaxZonesReached",
    [BLOCKER_NODE_TAKEN] = "NodeTaken",
    [BLOCKER_CORDON_CONTENDED] = "CordonContended",
    [BLOCKER_LAST_REPLICA] = "LastReplica",
    [BLOCKER_QUORUM_AT_RISK] = "QuorumAtRisk",
    [BLOCKER_STORAGE_NOT_OK] = "StorageNotOkToStop",
    [BLOCKER_PRIMARY_ON_NODE] = "PrimaryOnNode",
    [BLOCKER_NOT_MIGRATABLE] = "NotMigratable",
    [BLOCKER_CHECK_UNKNOWN] = "CheckUnknown",
    [BLOCKER_MANUAL_HOLD] = "ManualHold",
    [BLOCKER_SOAK_TIME] = "SoakTime",
    [BLOCKER_TOO_MANY_FAILED] = "TooManyFailed",
    [BLOCKER_POLICY_UNCLEAR] = "PolicyUnclear",
    [BLOCKER_NAME_TAKEN] = "NameTaken",
    [BLOCKER_APPROVAL_NEEDED] = "ApprovalNeeded",
    [BLOCKER_RECORD_UNREADABLE] = "RecordUnreadable",
    [BLOCKER_CLIENT_AWAITED] = "ClientAwaited",
    [BLOCKER_NODE_AWAITED] = "NodeAwaited",
    [BLOCKER_NOT_BACK] = "NotBack",
    [BLOCKER_OPERATION_FAILED] = "OperationFailed",
    [BLOCKER_CORDON_FAILED] = "CordonFailed",
    [BLOCKER_EXECUTOR_REFUSED] = "ExecutorRefused",
    [BLOCKER_CODES] = EXPLAIN_STATES,
};

const char *explain_found(enum blocker_code code) {
    return strna(found[code]);
}

enum blocker_code explain_find(const char *name) {
    for (int i = 0; i < BLOCKER_CODES; i++)
        if (strcasecmp(blocker_row((enum blocker_code)i)->name, name) == 0)
            return (enum blocker_code)i;
    return BLOCKER_CODES;
}

const char *explain_severity(enum severity severity) {
    static const char *const words[] = {
        [SEVERITY_INFO] = "info", [SEVERITY_WARN] = "warn", [SEVERITY_ERROR] = "error"};
    return words[severity];
}

/* "Text." from half a sentence, below a heading. */
static void add_part(struct str *out, const char *title, const char *text, size_t width) {
    char first = *text;
    size_t small = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    if (!first)
        return;
    /* "maxUnavailable" is a name, also where it begins a sentence. */
    bool word = small && !(text[small] >= 'A' && text[small] <= 'Z');
    _cleanup_free_ char *sentence = xasprintf("%c%s.", word ? first - 'a' + 'A' : first, text + 1);
    str_addf(out, "\n%s\n    ", title);
    text_fill_to(out, sentence, 4, 4, width);
}

void explain_print(struct str *out, enum blocker_code code, size_t width) {
    const struct blocker_row *row = blocker_row(code);
    static const char *const how[] = {
        [SEVERITY_INFO] = "is as it should be",
        [SEVERITY_WARN] = "may need somebody",
        [SEVERITY_ERROR] = "will not pass by itself",
    };
    _cleanup_free_ char *head =
        xasprintf("%s (%s: %s)", row->name, explain_severity(row->severity),
                  row->clears_itself && row->severity != SEVERITY_INFO ? "may pass by itself"
                                                                       : how[row->severity]);
    text_fill_to(out, head, 0, 4, width);
    add_part(out, "What it means", row->meaning, width);
    add_part(out, "How it is found", explain_found(code), width);
    add_part(out, "What to do", row->hint, width);
    add_part(out, "What ends it", row->ends, width);
}

void explain_list(struct str *out, size_t width) {
    enum { COLUMN = 24, BESIDE = 30 }; /* columns of a meaning that can stand beside its code */
    bool beside = width >= COLUMN + BESIDE;
    size_t indent = beside ? COLUMN : 4;
    for (int i = 0; i < BLOCKER_CODES; i++) {
        const struct blocker_row *row = blocker_row((enum blocker_code)i);
        if (beside)
            str_addf(out, "%-*s", COLUMN, row->name);
        else
            str_addf(out, "%s\n%*s", row->name, (int)indent, "");
        text_fill_to(out, row->meaning, indent, indent, width);
    }
}
