/* The ways in which a request to the API server can end. The words are shared by those who ask
 * (src/kube tells them apart) and by the engine, which decides what to do about each. */
#ifndef MODEL_OUTCOME_H
#define MODEL_OUTCOME_H

#include <stdbool.h>

enum kube_outcome {
    KUBE_OK,
    KUBE_NOT_FOUND,        /* 404: gone */
    KUBE_CONFLICT,         /* 409: another version or UID than the precondition says */
    KUBE_EXISTS,           /* 409 AlreadyExists */
    KUBE_INVALID,          /* 400, 422: the server does not accept what we sent */
    KUBE_UNSUPPORTED,      /* 405, 406, 415: it cannot do that at all */
    KUBE_UNAUTHORIZED,     /* 401 */
    KUBE_FORBIDDEN,        /* 403: no permission */
    KUBE_DENIED,           /* an admission webhook or policy says no, with whatever code */
    KUBE_NS_TERMINATING,   /* 403: the namespace is being deleted */
    KUBE_PDB_NO_BUDGET,    /* 429: a PodDisruptionBudget allows no disruption now */
    KUBE_PDB_NOT_OBSERVED, /* 429: its controller has not looked at it yet */
    KUBE_PDB_BROKEN,       /* 403: its status makes no sense (negative, or too many entries) */
    KUBE_PDB_MULTIPLE,     /* 500: more than one selects the pod */
    KUBE_NOT_YET,          /* 429 without a cause: an admission webhook is working on it */
    KUBE_THROTTLED,        /* 429 of priority and fairness, or the server is shutting down */
    KUBE_EXPIRED,          /* 410: that resourceVersion is compacted away */
    KUBE_TOO_NEW,          /* 504: the server has not reached that resourceVersion */
    KUBE_TIMED_OUT,        /* 504: the server gave up, for example on a contended PDB */
    KUBE_SERVER_ERROR,     /* other 5xx */
    KUBE_UNREACHABLE,      /* no answer, and the request was not carried out */
    KUBE_UNKNOWN,          /* no answer; the request may have been carried out */
    KUBE_NOT_KUBERNETES,   /* an answer, but not one of a Kubernetes API server */
    KUBE_NO_CREDENTIALS,   /* nothing to authenticate with could be got */
};

struct kube_outcome_row {
    const char *name;    /* stable, CamelCase */
    const char *meaning; /* half a sentence */
    bool retry;          /* the same request may succeed later without anybody doing anything */
};

const struct kube_outcome_row *kube_outcome_row(enum kube_outcome outcome);
/* Nobody answered, or not in time. */
bool kube_outcome_silent(enum kube_outcome outcome);

#endif
