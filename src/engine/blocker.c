/* The table of blockers. */
#include "engine/blocker.h"

#include <assert.h>

#include "base/mem.h"

static const struct blocker_row rows[] = {
    [BLOCKER_MULTIPLE_PDBS] =
        {"MultiplePDBs", SEVERITY_ERROR, false,
         "more than one PodDisruptionBudget selects the pod, so the API server refuses every "
         "eviction",
         "change the selectors so that one PodDisruptionBudget is left for the pod"},
    [BLOCKER_PDB_UNSATISFIABLE] =
        {"PDBUnsatisfiable", SEVERITY_ERROR, false,
         "the PodDisruptionBudget never allows a disruption, not even with all pods healthy",
         "raise the replicas or let the budget allow at least one disruption"},
    [BLOCKER_PDB_SYNC_FAILED] =
        {"PDBSyncFailed", SEVERITY_ERROR, false,
         "the controller cannot compute the PodDisruptionBudget, so that it "
         "allows nothing",
         "look at the budget's condition DisruptionAllowed: its pods need a "
         "controller with a scale, or use minAvailable as a number"},
    [BLOCKER_PDB_NO_BUDGET] =
        {"PDBNoBudget", SEVERITY_WARN, true,
         "the PodDisruptionBudget allows no disruption at the moment",
         "wait until its pods are healthy again, or look at why they are not"},
    [BLOCKER_BARE_POD] = {"BarePod", SEVERITY_WARN, false,
                          "the pod has no controller and will not come back",
                          "delete it yourself, or drain with --force"},
    [BLOCKER_LOCAL_STORAGE] = {"LocalStorage", SEVERITY_WARN, false,
                               "the pod has emptyDir data, which is lost when it goes",
                               "save the data, or drain with --delete-emptydir-data"},
    [BLOCKER_TERMINATING_STUCK] = {"PodTerminatingStuck", SEVERITY_WARN, false,
                                   "the pod should have been gone long ago but still terminates",
                                   "look at its finalizers and at the kubelet of its node"},
    [BLOCKER_NODE_NOT_READY] = {"NodeNotReady", SEVERITY_WARN, true,
                                "the node is not Ready: its pods may not stop",
                                "look at the kubelet of the node"},
};

static_assert(ARRAY_LEN(rows) == BLOCKER_CODES, "every blocker has its row");

const struct blocker_row *blocker_row(enum blocker_code code) {
    return &rows[code];
}
