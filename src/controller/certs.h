/* The certificate of FleetLock over HTTPS, where nobody has given one: made and renewed by Slipway,
 * and kept in the cluster, so that all replicas serve the same.
 *
 *     c = certs_new(client, &opts)      ... have(arg, {cert, key}) ... have(arg, {its successor})
 *
 * Two Secrets in the controller's namespace: CERTS_CA has the authority, which hosts are made to
 * trust, and CERTS_TLS the server's certificate, its key, and the authority's certificate once more
 * (ca.crt) for those who fetch it. Both are written by compare-and-swap, so that of several
 * replicas that begin at once one makes them and the others take what it has made. The authority
 * may sign for the addresses and DNS names of the Service alone: hosts trust it for everything they
 * do.
 *
 * A Secret of these names without the label CERTS_LABEL is somebody else's (cert-manager's, for
 * one): it is used as it is and never written. */
#ifndef CONTROLLER_CERTS_H
#define CONTROLLER_CERTS_H

#include "base/log.h"
#include "kube/client.h"
#include "net/server.h"

#define CERTS_CA    "slipway-fleetlock-ca"
#define CERTS_TLS   "slipway-fleetlock-tls"
#define CERTS_LABEL "app.kubernetes.io/managed-by"
#define CERTS_OWNER "slipway"

/* Microseconds. The authority is renewed by whoever looks after the hosts; the certificate by us,
 * with a month in which something may be wrong with us. */
#define CERTS_CA_LASTS (INT64_C(10) * 365 * 86400 * 1000000)
#define CERTS_LASTS    (INT64_C(90) * 86400 * 1000000)
#define CERTS_RENEW    (INT64_C(30) * 86400 * 1000000)
/* What another replica has written is seen by then. */
#define CERTS_EVERY (INT64_C(300) * 1000000)

struct certs;

struct certs_opts {
    const char *ns, *service; /* whose addresses and names it is for */
    const struct log *log;
    /* There is one, or another one. Negative: it cannot be used, and why. */
    int (*have)(void *arg, const struct httpd_tls *tls, struct err *err);
    void *arg;
    int64_t every; /* looks again, microseconds; 0: CERTS_EVERY */
    uint64_t seed;
};

struct certs *certs_new(struct kube_client *client, const struct certs_opts *opts);
void certs_free(struct certs *c);

/* What is the matter; NULL: nothing, or nothing has been found out yet. */
const char *certs_trouble(const struct certs *c);

#endif
