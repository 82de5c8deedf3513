/* How bytes get to an API server and back: one interface, several implementations (libcurl, the
 * simulator in the same process, and a wrapper that injects faults).
 *
 * A call is started with kube_start() and ends with exactly one `done`, unless it is cancelled:
 * then nothing more is called. No callback ever runs inside kube_start() or kube_cancel(); they
 * come from the loop. The request is copied. In any callback the receiver may cancel this or any
 * other call, or start new ones.
 *
 * Lanes keep apart what must not wait for each other: ordinary calls share a small pool of
 * connections, every watch has a connection of its own, and lease renewals have theirs. */
#ifndef KUBE_TRANSPORT_H
#define KUBE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum kube_lane { KUBE_LANE_CALL, KUBE_LANE_WATCH, KUBE_LANE_LEASE };

struct kube_request {
    const char *method;
    const char *path; /* with query, below the server's URL: "/api/v1/pods?limit=500" */
    const char *accept;
    const char *content_type; /* of the body; NULL when there is none */
    const void *body;
    size_t body_len;
    enum kube_lane lane;
    int64_t timeout; /* microseconds for the whole exchange; 0: none */
    int64_t idle;    /* microseconds without a byte until it ends with ETIMEDOUT; 0: none */
};

struct kube_head {
    int code;                 /* HTTP status */
    const char *content_type; /* with its parameters; "" when absent */
    int64_t retry_after;      /* seconds, -1 when absent */
    int64_t date;             /* the server's clock, microseconds; 0 when absent */
    const char *warning;      /* text of the first Warning: 299 header, or NULL */
    bool api_server;          /* it has marks that only a Kubernetes API server leaves */
    bool flow_control;        /* rejected by API priority and fairness (X-Kubernetes-PF-*) */
};

/* How a call ended. */
struct kube_done {
    int code;        /* HTTP status, 0 when none arrived */
    int error;       /* 0: the whole response arrived; else a negative errno:
                      * -ECONNREFUSED, -EHOSTUNREACH (also DNS), -ETIMEDOUT, -ECONNRESET, -EPROTO (TLS,
                      * not       HTTP), -EACCES (no credentials to be had), -ECANCELED (data callback
                      * said so)
                      * ... */
    bool sent;       /* with error: the server may have received and carried out the request */
    const char *msg; /* with error: one sentence */
};

struct kube_handler {
    void (*head)(void *arg, const struct kube_head *head); /* may be NULL */
    /* Non-zero (a negative errno) ends the call with that error. */
    int (*data)(void *arg, const char *p, size_t len);
    void (*done)(void *arg, const struct kube_done *done);
};

struct kube_call;

struct kube_transport {
    const struct kube_transport_ops *ops;
};

struct kube_transport_ops {
    struct kube_call *(*start)(struct kube_transport *t, const struct kube_request *req,
                               const struct kube_handler *handler, void *arg);
    void (*cancel)(struct kube_transport *t, struct kube_call *call);
    void (*free)(struct kube_transport *t); /* cancels what is under way */
};

static inline struct kube_call *kube_start(struct kube_transport *t, const struct kube_request *req,
                                           const struct kube_handler *handler, void *arg) {
    return t->ops->start(t, req, handler, arg);
}
/* Valid until `done` was called. */
static inline void kube_cancel(struct kube_transport *t, struct kube_call *call) {
    if (call)
        t->ops->cancel(t, call);
}
static inline void kube_transport_free(struct kube_transport *t) {
    if (t)
        t->ops->free(t);
}

#endif
