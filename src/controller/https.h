/* FleetLock over HTTPS: the listener, and where its certificate comes from.
 *
 * Files that were given are read again every half a minute, since cert-manager replaces them under
 * a program that runs; without them it is the one that Slipway makes (controller/certs.h), and the
 * listener is there as soon as that is. A certificate that cannot be used leaves the one before it
 * in place. */
#ifndef CONTROLLER_HTTPS_H
#define CONTROLLER_HTTPS_H

#include "fleetlock/server.h"
#include "kube/client.h"

struct https;

struct https_opts {
    const char *address;      /* to listen on */
    const char *cert, *key;   /* files; both or neither */
    const char *ns, *service; /* of a certificate that is made: whose it is */
    int64_t every;            /* files are read again, microseconds; 0: as above */
    const struct log *log;
    uint64_t seed;
};

/* Files that are given must be usable at once. */
int https_new(struct kube_client *client, struct fleetlock_server *server,
              const struct https_opts *opts, struct https **out, struct err *err);
void https_free(struct https *h);

/* Why nobody is served yet; NULL: somebody may be. Valid until something happens. */
const char *https_problem(const struct https *h);

#endif
