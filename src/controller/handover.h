/* Hand-over: whoever leads, and is about to drain the node that it runs on, gives the lease away
 * first, to a replica that is ready on another node, so that nothing is interrupted when its own
 * pod goes. Where there is none it goes on, and its own pod is the last to be evicted
 * (RULES_OWN_LABEL in engine/rules.h).
 *
 *     handover_may_drain() -> false, and it asks for the other replicas' pods ->
 *         give() | decided(), after which handover_may_drain() is true */
#ifndef CONTROLLER_HANDOVER_H
#define CONTROLLER_HANDOVER_H

#include "base/log.h"
#include "kube/client.h"

struct handover;

struct handover_opts {
    const char *ns, *pod; /* of this replica; the pod's name may be NULL: it runs in none */
    const struct log *log;
    /* Whether a replica on that node could lead: it is not about to go as well. */
    bool (*stays)(void *arg, const char *node);
    /* The lease is to be given away. */
    void (*give)(void *arg);
    /* There is nobody to give it to. */
    void (*decided)(void *arg);
    void *arg;
};

struct handover *handover_new(struct kube_client *client, const struct handover_opts *opts);
void handover_free(struct handover *h);

/* Whether whoever leads may begin to drain the node; `own`: its own pod is there. */
bool handover_may_drain(struct handover *h, const char *node, bool own);
/* It leads no longer: what was decided counts no more. */
void handover_reset(struct handover *h);

#endif
