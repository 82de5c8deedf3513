/* What an answer of the API server means. */
#include "kube/outcome.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

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

/* Whoever refuses chooses the code, and may choose any; only the sentence is the API server's. A
 * webhook that fails or cannot do a dry run has not refused anything. */
static bool is_denied(const struct status *s) {
    const char *m = strna(s->message);
    if (str_starts(m, "admission webhook \""))
        return strstr(m, "\" denied the request") != NULL;
    const char *object = strstr(m, " is forbidden: ValidatingAdmissionPolicy '");
    const char *policy = object ? object : m;
    return (object || str_starts(m, "policy '") || str_starts(m, "policy \"")) &&
           strstr(policy, " denied request: ");
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
    /* With 429 it says when: that is not a no. */
    if (code >= 400 && code != 429 && is_denied(s))
        return KUBE_DENIED;
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
