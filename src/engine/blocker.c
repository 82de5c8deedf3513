/* The table of blockers. */
#include "engine/blocker.h"

#include <assert.h>

#include "base/mem.h"
#include "base/str.h"

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
         "a volume of the pod is on a disk of its node, so that the pod cannot run elsewhere",
         "bring its node back, or move the data to another volume first",
         "the node that has the volume is schedulable again"},
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
         "look at what the webhook or policy says, and at whoever runs it",
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
    [BLOCKER_JOB_WOULD_FAIL] =
        {"JobWouldFail", SEVERITY_WARN, false,
         "the eviction is one failure too many for the Job of the pod: the Job fails for good and "
         "makes no pod any more",
         "let it finish first (a rule with 'action: wait'), raise its backoffLimit, or have its "
         "podFailurePolicy ignore pods with the condition DisruptionTarget; or start it again "
         "afterwards",
         "the Job has finished, or may have another failure. A drain does not wait for it: it says "
         "so, and evicts the pod"},
    [BLOCKER_REPLACEMENT_REFUSED] =
        {"ReplacementRefused", SEVERITY_WARN, false,
         "no replacement of the pod can be made: a ResourceQuota is below what is in use, or "
         "demands requests or limits that it does not set, its ServiceAccount is gone, or its "
         "owner is being deleted",
         "raise the quota or use less of it, set what it demands, make the ServiceAccount again, "
         "or make anew what the "
         "owner was for",
         "the replacement can be made. A drain does not wait for it"},
    [BLOCKER_OTHER_SCHEDULER] =
        {"OtherScheduler", SEVERITY_INFO, true,
         "the pod is placed by a scheduler of its own, so that nobody here can tell where its "
         "replacement goes, or whether it finds room",
         "look at whether that scheduler runs, and at what room it has",
         "the replacement runs. A drain does not wait for it"},
    [BLOCKER_ROOM_UNKNOWN] =
        {"RoomUnknown", SEVERITY_INFO, true,
         "nobody here can tell where the pod's replacement goes, whether it finds room, or whether "
         "there is one: the pod asks for something that Slipway does not look at (devices, by "
         "ResourceClaims); or its owner's template has changed since it was made, or has "
         "scheduling "
         "gates; or its owner is of a kind that is not known to make pods again",
         "look at whether other nodes have what the replacement will ask for, and whether its "
         "owner makes one",
         "the replacement runs. A drain does not wait for it"},
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
    [BLOCKER_MAX_ZONES] = {"MaxZonesReached", SEVERITY_INFO, true,
                           "nodes of as many zones are out of service as may be",
                           "wait until a zone has all of its nodes back",
                           "the nodes of a zone that are worked on are done or have failed"},
    [BLOCKER_NODE_TAKEN] = {"NodeTaken", SEVERITY_INFO, true,
                            "the node is out of service already, for somebody else",
                            "wait until that is over; 'slipway locks' says how far it is",
                            "its slot is released"},
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
         "bring the members that are not healthy back first; take one node at a time, and let each "
         "come back before the next (drain with --uncordon, or wait)",
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
    [BLOCKER_MANUAL_HOLD] = {"ManualHold", SEVERITY_WARN, false, "somebody has paused it",
                             "look at who has paused it and why, then resume",
                             "it is not paused any more"},
    [BLOCKER_SOAK_TIME] = {"SoakTime", SEVERITY_INFO, true,
                           "a node has just come back, and the next one waits for a while, so that "
                           "what is wrong with it is seen before more of them have it",
                           "wait; the policy or the rollout says how long",
                           "the time has passed since the last node was done"},
    [BLOCKER_TOO_MANY_FAILED] =
        {"TooManyFailed", SEVERITY_ERROR, false,
         "more nodes of a rollout have failed than may, so that no further node is begun",
         "look at why they have failed, mend it, and try these again; or let more of them fail",
         "fewer nodes count as failed, or more may fail"},
    [BLOCKER_POLICY_UNCLEAR] =
        {"PolicyUnclear", SEVERITY_ERROR, false,
         "no policy has the node, or more than one, so that nobody knows whose slot it takes",
         "change the node selectors of the policies so that exactly one has the node",
         "exactly one policy has the node"},
    [BLOCKER_NAME_TAKEN] =
        {"NameTaken", SEVERITY_ERROR, false,
         "there is a Maintenance already, not of this rollout, that has the name of one that it "
         "has to make",
         "look at what the message names: delete it when it is over, or make a Rollout of another "
         "name",
         "the other Maintenance is gone"},
    [BLOCKER_APPROVAL_NEEDED] =
        {"ApprovalNeeded", SEVERITY_WARN, false,
         "the policy wants somebody to approve of it before the node is taken out of service",
         "look at it, then 'slipway approve NAME'", "somebody has approved of it"},
    [BLOCKER_RECORD_UNREADABLE] =
        {"RecordUnreadable", SEVERITY_ERROR, false,
         "the record of who holds the slots of the policy cannot be read, so that nothing is done "
         "for its nodes",
         "if a newer release has written it, let that one go on; else look at the ConfigMap that "
         "is "
         "named",
         "the record can be read"},
    [BLOCKER_CLIENT_AWAITED] =
        {"ClientAwaited", SEVERITY_INFO, true,
         "the node is drained, and may go when its FleetLock client asks, which has not asked yet",
         "wait, or look at the client on the node: Zincati asks only when it has an update to "
         "boot into, and within its own windows",
         "the client asks, or its time is over, and the node is put back into service"},
    [BLOCKER_NODE_AWAITED] =
        {"NodeAwaited", SEVERITY_INFO, true,
         "the node was told to go, or its operation was begun, and it is not back yet",
         "wait; if it takes long, look at the machine's console",
         "the node is Ready with a new boot, or its time is over, and the maintenance halts"},
    [BLOCKER_NOT_BACK] =
        {"NotBack", SEVERITY_ERROR, false,
         "the node was told to go, or its operation was begun, and it was not back in time; it "
         "stays cordoned and keeps its slot, since nobody knows what it is doing",
         "look at the machine's console and bring the node up: then it goes on by itself. "
         "'slipway retry' tries once more, 'slipway skip' takes it for done, 'slipway abort' gives "
         "it up",
         "the node is Ready with a new boot, or somebody has said how it goes on"},
    [BLOCKER_OPERATION_FAILED] =
        {"OperationFailed", SEVERITY_ERROR, false,
         "the operation has failed, or nothing has come of it; the node stays cordoned and "
         "drained, and keeps its slot",
         "look at why, then 'slipway retry' (once more), 'slipway skip' (done by hand) or "
         "'slipway abort' (given up)",
         "somebody has said how it goes on, or the node has rebooted after all"},
    [BLOCKER_CORDON_FAILED] =
        {"CordonFailed", SEVERITY_ERROR, false,
         "the node holds a slot and cannot be cordoned, or not be uncordoned again",
         "mend what the message says; it is tried again by itself. 'slipway unlock NODE' gives "
         "the slot up",
         "the Node is written"},
    [BLOCKER_EXECUTOR_REFUSED] =
        {"ExecutorRefused", SEVERITY_ERROR, false,
         "nobody would carry the operation out, so that the node is not even drained for it",
         "start the controller with what the message names, or delete it and name another "
         "executor",
         "the controller can carry it out"},
};

static_assert(ARRAY_LEN(rows) == BLOCKER_CODES, "every blocker has its row");

const struct blocker_row *blocker_row(enum blocker_code code) {
    return &rows[code];
}

enum blocker_code blocker_find(const char *name) {
    for (unsigned i = 0; i < BLOCKER_CODES; i++)
        if (str_same(rows[i].name, name))
            return (enum blocker_code)i;
    return BLOCKER_CODES;
}

bool blocker_is_turn(enum blocker_code code) {
    return code == BLOCKER_MAX_UNAVAILABLE || code == BLOCKER_MAX_ZONES;
}
