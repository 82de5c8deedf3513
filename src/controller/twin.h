/* Another Slipway: a controller in another namespace of the same cluster, by its Lease. Two of them
 * have records of their own, would let out twice as many nodes, and get in each other's way. The
 * one whose Lease was made later does nothing as long as the other one's is renewed, and says so.
 *
 * Whether it is renewed is seen by its changes, as in an election, not by comparing clocks; one
 * that was renewed long ago when it is first seen is nobody's. */
#ifndef CONTROLLER_TWIN_H
#define CONTROLLER_TWIN_H

#include "base/log.h"
#include "kube/client.h"

struct twin;

struct twin_opts {
    const char *ns; /* our own */
    const struct log *log;
    uint64_t seed;
    /* twin_ahead() may have another answer. */
    void (*changed)(void *arg);
    void *arg;
};

struct twin *twin_new(struct kube_client *client, const struct twin_opts *opts);
void twin_free(struct twin *t);

/* Why this one must not do anything, in a sentence; NULL: it may. Valid until the next change. */
const char *twin_ahead(const struct twin *t);

#endif
