/* Who leads: the election on the Lease of the controllers (kube/leader.h), and the hand-over before
 * its own node is drained (controller/handover.h). Whoever has given the Lease away is a candidate
 * again after a while. */
#ifndef CONTROLLER_ELECTION_H
#define CONTROLLER_ELECTION_H

#include "base/log.h"
#include "engine/cluster.h"
#include "kube/client.h"

struct election;

struct election_opts {
    const char *ns, *identity; /* of the Lease; of this replica, unique */
    const char *pod;           /* that it runs in; NULL: none */
    const struct cluster *cluster;
    const struct log *log;
    uint64_t seed;
    /* It leads, in that term; it does not any more. */
    void (*lead)(void *arg, int32_t fence);
    void (*follow)(void *arg);
    /* election_may_drain() may have another answer. */
    void (*decided)(void *arg);
    void *arg;
};

/* It is a candidate at once. */
int election_new(struct kube_client *client, const struct election_opts *opts,
                 struct election **out, struct err *err);
void election_free(struct election *e);

/* False of a NULL. */
bool election_leads(const struct election *e);
/* Why neither this one leads nor it is known that another one does: a sentence. NULL: it is known;
 * that the Lease cannot be read or written for a moment is no problem. */
const char *election_problem(const struct election *e);

/* Why none of these replicas does anything, whoever holds the Lease (controller/twin.h); NULL: they
 * may, or of a NULL. */
const char *election_barred(const struct election *e);

/* Whether whoever leads may begin to drain the node. */
bool election_may_drain(struct election *e, const char *node);
/* A record says that such a term was there before: ours has to be a later one. */
void election_raise(struct election *e, int32_t fence);
/* Gives the Lease up for good; `done` is called then. What it guards must have ended. */
void election_resign(struct election *e, loop_fn *done, void *arg);

#endif
