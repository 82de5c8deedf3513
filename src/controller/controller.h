/* The controller: the daemon that runs in the cluster, in one to three replicas.
 *
 * It keeps a picture of the cluster (controller/feeds.h), takes part in the election of a leader,
 * keeps the slots of each policy (engine/keeper.h) and answers FleetLock clients
 * (fleetlock/server.h). All replicas answer; only the leader gives slots out, drains and releases.
 */
#ifndef CONTROLLER_CONTROLLER_H
#define CONTROLLER_CONTROLLER_H

#include "base/log.h"
#include "kube/client.h"
#include "net/server.h"

struct controller;

struct controller_opts {
    const char *ns;              /* of the records and the Lease */
    const char *identity;        /* of this replica, unique */
    const char *fleetlock;       /* address to listen on; NULL: FleetLock is off */
    const struct httpd_tls *tls; /* of that listener; NULL: plain */
    const char *http;            /* address of health and metrics; NULL: none */
    bool commands;               /* Maintenances may have them run: see operate.h */
    const struct log *log;
    uint64_t seed; /* another one for each process */
};

/* Begins at once. */
int controller_new(struct kube_client *client, const struct controller_opts *opts,
                   struct controller **out, struct err *err);
void controller_free(struct controller *c);

/* Where FleetLock is served, "" when it is not; the same of health and metrics. */
const char *controller_fleetlock_address(const struct controller *c);
const char *controller_http_address(const struct controller *c);

/* Gives up what it leads, so that another takes over at once; `done` is called then. */
void controller_stop(struct controller *c, loop_fn *done, void *arg);

#endif
