/* The table of outcomes. */
#include "model/outcome.h"

static const struct kube_outcome_row rows[] = {
    [KUBE_OK] = {"OK", "done", false},
    [KUBE_NOT_FOUND] = {"NotFound", "there is no such object", false},
    [KUBE_CONFLICT] = {"Conflict", "the object has changed meanwhile", false},
    [KUBE_EXISTS] = {"AlreadyExists", "an object of that name exists already", false},
    [KUBE_INVALID] = {"Invalid", "the server does not accept the request", false},
    [KUBE_UNSUPPORTED] = {"Unsupported", "the server cannot do that", false},
    [KUBE_UNAUTHORIZED] = {"Unauthorized", "the server does not accept the credentials", false},
    [KUBE_FORBIDDEN] = {"Forbidden", "the permission is missing", false},
    [KUBE_DENIED] = {"Denied", "an admission webhook or policy does not allow it", true},
    [KUBE_NS_TERMINATING] = {"NamespaceTerminating", "the namespace is being deleted", true},
    [KUBE_PDB_NO_BUDGET] = {"PDBNoBudget", "a PodDisruptionBudget allows no disruption now", true},
    [KUBE_PDB_NOT_OBSERVED] = {"PDBNotObserved",
                               "the controller has not processed the PodDisruptionBudget yet",
                               true},
    [KUBE_PDB_BROKEN] = {"PDBBroken", "the status of a PodDisruptionBudget makes no sense", true},
    [KUBE_PDB_MULTIPLE] = {"MultiplePDBs", "more than one PodDisruptionBudget selects the pod",
                           false},
    [KUBE_NOT_YET] = {"NotYet", "an admission webhook asks to wait", true},
    [KUBE_THROTTLED] = {"Throttled", "the server is overloaded or shutting down", true},
    [KUBE_EXPIRED] = {"Expired", "the server no longer has that version", false},
    [KUBE_TOO_NEW] = {"TooNew", "the server has not seen that version yet", true},
    [KUBE_TIMED_OUT] = {"TimedOut", "the server gave up in time", true},
    [KUBE_SERVER_ERROR] = {"ServerError", "the server failed", true},
    [KUBE_UNREACHABLE] = {"Unreachable", "the server was not reached", true},
    [KUBE_UNKNOWN] = {"Unknown", "no answer came; the request may have been carried out", true},
    [KUBE_NOT_KUBERNETES] = {"NotKubernetes", "the answer is not one of a Kubernetes API server",
                             false},
    [KUBE_NO_CREDENTIALS] = {"NoCredentials", "no credentials could be got", false},
};

const struct kube_outcome_row *kube_outcome_row(enum kube_outcome outcome) {
    return &rows[outcome];
}

bool kube_outcome_silent(enum kube_outcome outcome) {
    return outcome == KUBE_UNKNOWN || outcome == KUBE_UNREACHABLE || outcome == KUBE_TIMED_OUT;
}
