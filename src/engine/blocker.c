/* The table of blockers. */
#include "engine/blocker.h"

#include <assert.h>

#include "base/mem.h"

static const struct blocker_row rows[] = {
    [BLOCKER_MULTIPLE_PDBS] =
        {"MultiplePDBs", SEVERITY_ERROR, false,
         "more than one PodDisruptionBudget selects the pod, so the API server refuses every "
         "eviction",
         "change the selectors so that one PodDisruptionBudget is left for the pod",
         "no more than one PodDisruptionBudget selects the pod, or a rule escalates. A node on "
         "which nothing else is left to do gives up after half a minute, with a timeout or "
         "without"},
    [BLOCKER_PDB_UNSATISFIABLE] =
        {"PDBUnsatisfiable", SEVERITY_ERROR, false,
         "the PodDisruptionBudget never allows a disruption, not even with all pods healthy",
         "raise the replicas or let the budget allow at least one disruption",
         "the budget or the number of its pods has changed so that it can allow a disruption"},
    [BLOCKER_PDB_SYNC_FAILED] =
        {"PDBSyncFailed", SEVERITY_ERROR, false,
         "the controller cannot compute the PodDisruptionBudget, so that it "
         "allows nothing",
         "look at the budget's condition DisruptionAllowed: its pods need a "
         "controller with a scale, or use minAvailable as a number",
         "the budget's condition DisruptionAllowed does not say SyncFailed any more"},
    [BLOCKER_PDB_NO_BUDGET] =
        {"PDBNoBudget", SEVERITY_WARN, true,
         "the PodDisruptionBudget allows no disruption at the moment",
         "wait until its pods are healthy again, or look at why they are not",
         "the budget's status allows a disruption again; the eviction is tried at once"},
    [BLOCKER_BARE_POD] =
        {"BarePod", SEVERITY_WARN, false, "the pod has no controller and will not come back",
         "delete it yourself, or drain with --force",
         "the pod is gone. A drain that finds it at the start refuses the node instead of waiting"},
    [BLOCKER_DAEMON_POD] =
        {"DaemonPod", SEVERITY_WARN, false,
         "the pod belongs to a DaemonSet, which would make it again on the same node",
         "drain with --ignore-daemonsets (the default): it stays where it is",
         "the pod is gone. A drain that finds it at the start refuses the node instead of waiting"},
    [BLOCKER_LOCAL_STORAGE] =
        {"LocalStorage", SEVERITY_WARN, false,
         "the pod has emptyDir data, which is lost when it goes",
         "save the data, or drain with --delete-emptydir-data",
         "the pod is gone. A drain that finds it at the start refuses the node instead of waiting"},
    [BLOCKER_LOCAL_PV] =
        {"LocalPV", SEVERITY_WARN, false,
         "a volume of the pod exists on certain nodes only, so that the pod cannot run elsewhere",
         "bring its node back, or move the data to another volume first",
         "a node that has the volume is schedulable and has room"},
    [BLOCKER_NO_ROOM] = {"CapacityInsufficient", SEVERITY_WARN, false,
                         "the pod fits on no other node: its replacement stays Pending",
                         "add a node, free some room, or relax what the pod asks for",
                         "a node is there that the pod fits on"},
    [BLOCKER_TERMINATING_STUCK] = {"PodTerminatingStuck", SEVERITY_WARN, false,
                                   "the pod should have been gone long ago but still terminates",
                                   "look at its finalizers and at the kubelet of its node",
                                   "the object of the pod is gone"},
    [BLOCKER_NODE_NOT_READY] = {"NodeNotReady", SEVERITY_WARN, true,
                                "the node is not Ready: its pods may not stop",
                                "look at the kubelet of the node",
                                "the node is Ready again, or its pods are gone"},
    [BLOCKER_FINALIZER_STUCK] =
        {"FinalizerStuck", SEVERITY_WARN, false,
         "the pod has stopped, but a finalizer keeps its object",
         "look at whoever set the finalizer; take it off only when you know what it guards",
         "the object of the pod is gone, which it is when its last finalizer is taken off"},
    [BLOCKER_NODE_UNREACHABLE] =
        {"NodeUnreachable", SEVERITY_ERROR, false,
         "the node does not answer: nobody can tell whether its pods have stopped",
         "bring the node back, or power it off for certain and set the taint "
         "node.kubernetes.io/out-of-service; --skip-wait-for-delete-timeout goes on without them",
         "the kubelet reports again, or the object of the pod is gone"},
    [BLOCKER_VOLUME_ATTACHED] =
        {"VolumeStillAttached", SEVERITY_WARN, true,
         "volumes of the pods that left are still attached to the node",
         "look at the VolumeAttachment's detachError and at the CSI driver; "
         "--volume-detach-timeout goes on without them",
         "no VolumeAttachment of these volumes is left and the node's "
         "status does not list them as in use"},
    [BLOCKER_NAMESPACE_TERMINATING] =
        {"NamespaceTerminating", SEVERITY_INFO, true,
         "the namespace is being deleted: its pods go without being evicted",
         "wait; if it does not end, look at the namespace's conditions", "the pod is gone"},
    [BLOCKER_ADMISSION_DENIED] =
        {"AdmissionDenied", SEVERITY_WARN, false,
         "an admission webhook or policy does not allow the eviction",
         "look at what the webhook says, and at whoever runs it",
         "a later try is let through; it is tried again and again, with pauses that grow"},
    [BLOCKER_EVICTION_IN_PROGRESS] =
        {"EvictionInProgress", SEVERITY_INFO, true,
         "an admission webhook has taken the eviction on and is working on it (KubeVirt moves the "
         "virtual machine away, for instance)",
         "wait; the message says what it is doing", "the pod leaves the node"},
    [BLOCKER_PDB_BROKEN] =
        {"PDBBroken", SEVERITY_ERROR, false,
         "the status of the PodDisruptionBudget makes no sense, so the API server refuses",
         "look at the budget's status: too many disruptedPods, or a negative number",
         "the budget's status has changed"},
    [BLOCKER_FORBIDDEN] = {"Forbidden", SEVERITY_ERROR, false, "the permission is missing",
                           "run 'slipway doctor' to see what is missing",
                           "the permission is given, or the pod is gone. A drain that finds it at "
                           "the start refuses the node instead of waiting"},
    [BLOCKER_SERVER_TROUBLE] = {"ServerTrouble", SEVERITY_WARN, true,
                                "the API server failed or was not reached",
                                "it is tried again; look at the API server if it lasts",
                                "a later try succeeds"},
    [BLOCKER_RATE_LIMITED] = {"RateLimited", SEVERITY_INFO, true,
                              "the API server asks to be left alone for a while",
                              "wait; fewer evictions a second make it rarer",
                              "the time that the server has asked for (Retry-After) has passed"},
    [BLOCKER_PINNED] =
        {"PinnedToNode", SEVERITY_ERROR, false,
         "the pod names this node in spec.nodeName, so that it is put back here however often it "
         "is evicted",
         "take spec.nodeName out of what creates it; deleting the pod is not enough when a "
         "StatefulSet declares it: delete the StatefulSet",
         "the pod is gone and none of its kind has come back"},
    [BLOCKER_RETURNS] =
        {"ReturnsToNode", SEVERITY_WARN, false,
         "the pod tolerates node.kubernetes.io/unschedulable and comes back to the cordoned node",
         "take the toleration out of its template, or scale it down for the time being",
         "the pod is gone and none of its kind has come back"},
    [BLOCKER_DO_NOT_DISRUPT] =
        {"DoNotDisrupt", SEVERITY_WARN, false, "a mark on the pod says that it must not be evicted",
         "wait until it is done, take the mark off, or drain with rules that say 'marks: ignore'",
         "the mark is taken off, or the pod has finished or is gone"},
    [BLOCKER_JOB_RUNNING] = {"JobRunning", SEVERITY_INFO, true,
                             "the pod shall finish by itself: a rule or a mark says so",
                             "wait until it has finished", "the pod has finished or is gone"},
    [BLOCKER_SURGE_PENDING] = {"SurgePending", SEVERITY_INFO, true,
                               "its Deployment gets one replica more first, which is not available "
                               "yet",
                               "wait; if it does not become available, look at the new pod",
                               "the second replica is available"},
    [BLOCKER_NOT_RESCHEDULED] =
        {"NotRescheduled", SEVERITY_WARN, true,
         "the owner of the evicted pods has not all of its replicas "
         "available again",
         "look at the new pods, and whether there is room for them",
         "the owner has as many replicas available as it wants, or is gone"},
    [BLOCKER_MAX_UNAVAILABLE] = {"MaxUnavailableReached", SEVERITY_INFO, true,
                                 "as many nodes are out of service as may be",
                                 "wait until one is done",
                                 "a node that is worked on is done or has failed"},
    [BLOCKER_CORDON_CONTENDED] = {"CordonContended", SEVERITY_WARN, true,
                                  "the node changes faster than it can be cordoned",
                                  "it is tried again; look at who writes to the node",
                                  "the cordon is written"},
    [BLOCKER_LAST_REPLICA] =
        {"LastReplica", SEVERITY_WARN, false,
         "the last healthy copy of some data is on this node, or on nodes that would be out of "
         "service together",
         "let the missing copies be rebuilt first, add a copy elsewhere, or take the nodes one "
         "after another",
         "a healthy copy is on a node that stays in service"},
    [BLOCKER_QUORUM_AT_RISK] =
        {"QuorumAtRisk", SEVERITY_WARN, true,
         "without this node too few members would be left for a majority",
         "bring the members that are not healthy back first; one node at a time",
         "enough members are healthy on other nodes, or the nodes that are out are back"},
    [BLOCKER_STORAGE_NOT_OK] =
        {"StorageNotOkToStop", SEVERITY_WARN, true,
         "a storage system or a database is not healthy enough to do without this node now",
         "wait until it has recovered; if it does not, look at what its operator says",
         "its own status says that everything is healthy again"},
    [BLOCKER_PRIMARY_ON_NODE] =
        {"PrimaryOnNode", SEVERITY_INFO, true,
         "the primary of a database runs on this node and has to move first",
         "wait: its operator moves it when it sees the cordon; if it does not, switch over by hand",
         "the primary runs on another node"},
    [BLOCKER_NOT_MIGRATABLE] =
        {"NotMigratable", SEVERITY_ERROR, false,
         "a virtual machine may only leave by live migration, and cannot be migrated",
         "stop the virtual machine, or mend what its condition LiveMigratable names",
         "the virtual machine can be migrated, or does not run on the node any more"},
    [BLOCKER_CHECK_UNKNOWN] =
        {"CheckUnknown", SEVERITY_WARN, false,
         "what a check needs to know cannot be read or is not there, so that nobody can tell "
         "whether the node may go",
         "look at what the message names: a missing permission, an operator that does not run, an "
         "object that is not filled in",
         "the check can read what it needs"},
};

static_assert(ARRAY_LEN(rows) == BLOCKER_CODES, "every blocker has its row");

const struct blocker_row *blocker_row(enum blocker_code code) {
    return &rows[code];
}
