/* What an answer of the API server means. */
#include "kube/outcome.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

static const struct kube_outcome_row rows[] = {
    [KUBE_OK] = {"OK", "done", false},
    [KUBE_NOT_FOUND] = {"NotFound", "there is no such object", false},
    [KUBE_CONFLICT] = {"Conflict", "the object has changed meanwhile", false},
    [KUBE_EXISTS] = {"AlreadyExists", "an object of that name exists already", false},
    [KUBE_INVALID] = {"Invalid", "the server does not accept the request", false},
    [KUBE_UNSUPPORTED] = {"Unsupported", "the server cannot do that", false},
    [KUBE_UNAUTHORIZED] = {"Unauthorized", "the server does not accept the credentials", false},
    [KUBE_FORBIDDEN] = {"Forbidden", "the permission is missing", false},
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

static bool has_cause(const struct status *s, const char *reason) {
    const struct status_cause *causes = s->details ? s->details->causes : NULL;
    for (size_t i = 0; i < list_len(causes); i++)
        if (str_same(causes[i].reason, reason))
            return true;
    return false;
}

static bool about_pdb(const struct status *s) {
    return has_cause(s, "DisruptionBudget") ||
           (s->details && str_same(s->details->kind, "poddisruptionbudget"));
}

static enum kube_outcome of_forbidden(const struct status *s) {
    if (has_cause(s, "NamespaceTerminating"))
        return KUBE_NS_TERMINATING;
    return about_pdb(s) ? KUBE_PDB_BROKEN : KUBE_FORBIDDEN;
}

static enum kube_outcome of_too_many(const struct kube_head *head, const struct status *s,
                                     bool is_status) {
    /* Priority and fairness and a server that shuts down answer in plain text. */
    if (!is_status || (head && head->flow_control))
        return KUBE_THROTTLED;
    if (has_cause(s, "DisruptionBudget")) {
        /* "still being processed by the server" is the one that names a delay. */
        return s->details->retry_after > 0 ? KUBE_PDB_NOT_OBSERVED : KUBE_PDB_NO_BUDGET;
    }
    /* The API server says so when it passes on what a webhook answered, delay or not. */
    if (s->message && str_starts(s->message, "admission webhook "))
        return KUBE_NOT_YET;
    /* Its own ("storage is (re)initializing") names a delay. */
    return s->details && s->details->retry_after > 0 ? KUBE_THROTTLED : KUBE_NOT_YET;
}

static enum kube_outcome of_server_error(int code, const struct status *s, bool is_status) {
    if (code == 504 && is_status) {
        if (has_cause(s, "ResourceVersionTooLarge"))
            return KUBE_TOO_NEW;
        if (str_same(s->reason, "Timeout"))
            return KUBE_TIMED_OUT;
    }
    /* The eviction API has no reason and no cause for this. */
    if (code == 500 && is_status && !s->reason && s->message &&
        strstr(s->message, "more than one PodDisruptionBudget"))
        return KUBE_PDB_MULTIPLE;
    return KUBE_SERVER_ERROR;
}

enum kube_outcome kube_outcome_of(int code, const struct kube_head *head,
                                  const struct status *status, bool is_status) {
    static const struct status nothing;
    const struct status *s = is_status ? status : &nothing;
    if (code >= 200 && code < 300)
        return KUBE_OK;
    switch (code) {
    case 401:
        return KUBE_UNAUTHORIZED;
    case 403:
        return of_forbidden(s);
    case 404:
        /* For a group or version that it does not serve, the API server answers in plain text. */
        return is_status || (head && head->api_server) ? KUBE_NOT_FOUND : KUBE_NOT_KUBERNETES;
    case 405:
    case 406:
    case 415:
        return KUBE_UNSUPPORTED;
    case 409:
        return str_same(s->reason, "AlreadyExists") ? KUBE_EXISTS : KUBE_CONFLICT;
    case 410:
        return KUBE_EXPIRED;
    case 429:
        return of_too_many(head, s, is_status);
    }
    if (code >= 500)
        return of_server_error(code, s, is_status);
    if (code == 400 || code == 422)
        return is_status ? KUBE_INVALID : KUBE_NOT_KUBERNETES;
    return code >= 300 && code < 400 ? KUBE_NOT_KUBERNETES : KUBE_INVALID;
}

enum kube_outcome kube_outcome_of_failure(const struct kube_done *done) {
    if (done->error == -EACCES)
        return KUBE_NO_CREDENTIALS;
    return done->sent ? KUBE_UNKNOWN : KUBE_UNREACHABLE;
}

int64_t kube_retry_after(const struct kube_head *head, const struct status *status) {
    if (head && head->retry_after >= 0)
        return head->retry_after;
    if (status && status->details && status->details->retry_after > 0)
        return status->details->retry_after;
    return -1;
}
