/* The simulated API as a transport in the same process: what Slipway's client code talks to in
 * tests and rehearsals instead of a server. No bytes leave the process, no time passes but the
 * loop's.
 *
 * Every call takes a while, drawn from the transport's own seed, so that replies overtake each
 * other as they do on a network. With a virtual loop the same seeds give the same run. */
#ifndef SIM_TRANSPORT_H
#define SIM_TRANSPORT_H

#include "kube/transport.h"
#include "net/loop.h"
#include "sim/api/api.h"
#include "sim/pace.h"

struct sim_transport_options {
    uint64_t seed;
    int64_t latency_min, latency_max; /* microseconds from request to answer; 0, 0: none */
};

/* The API and the pace must outlive it. */
struct kube_transport *sim_transport_new(struct loop *loop, struct api *api, struct pace *pace,
                                         const struct sim_transport_options *opts);

#endif
