/* An authority, and the certificates of servers that it signs: made, and looked at again.
 *
 *     authority_make({"slipway", names, now, TEN_YEARS}, &ca)
 *     authority_issue(&ca, {"fleetlock", names, now, NINETY_DAYS}, &leaf)
 *     authority_check(ca.cert, &leaf, names, now + MONTH)     is it good for all of that then?
 *
 * Texts are PEM, keys EC P-256. Times are of the wall clock, microseconds. */
#ifndef NET_AUTHORITY_H
#define NET_AUTHORITY_H

#include <stdint.h>

#include "base/err.h"

/* Owned. */
struct cert_pair {
    char *cert, *key;
};
/* Wipes the key. */
void cert_pair_done(struct cert_pair *pair);
#define _cleanup_cert_pair_ __attribute__((cleanup(cert_pair_done)))

struct cert_spec {
    const char *cn; /* the common name, up to 64 bytes */
    /* IP addresses and DNS names, which may begin with "*."; NULL-terminated. Of an authority:
     * those that it may sign for, whoever has its key (name constraints), and DNS names below
     * them; NULL: any. */
    const char *const *names;
    int64_t now;   /* valid from an hour before that */
    int64_t lasts; /* and so long after it; never longer than the authority */
};

/* -EINVAL when a name is neither an address nor a DNS name. */
int authority_make(const struct cert_spec *spec, struct cert_pair *out, struct err *err);
/* The same; or when the authority cannot be read, is over by then, or may not sign for one of
 * these names. */
int authority_issue(const struct cert_pair *ca, const struct cert_spec *spec, struct cert_pair *out,
                    struct err *err);

/* Whether a client that trusts the authority takes the certificate for each of these names at that
 * time, and the key is its own. -EINVAL: it does not, and why. */
int authority_check(const char *ca, const struct cert_pair *server, const char *const *names,
                    int64_t at, struct err *err);

/* When the first certificate of the text ends. -EINVAL: there is none. */
int cert_ends(const char *cert, int64_t *out, struct err *err);

#endif
