/* Certificates for a server that has none: a certificate authority of its own, made in memory, and
 * one server certificate signed by it. The authority's key is forgotten at once, so that nothing
 * else can ever be signed with it. Clients are given the authority (certificate-authority-data of a
 * kubeconfig). */
#ifndef NET_SELFSIGNED_H
#define NET_SELFSIGNED_H

#include <stdint.h>

#include "base/err.h"

/* PEM texts, owned. */
struct selfsigned {
    char *ca;         /* the authority's certificate */
    char *cert, *key; /* the server's */
};

/* EC P-256, valid from an hour before `now` (wall clock, microseconds) to 365 days after it, for
 * 127.0.0.1, ::1, localhost and `names` (NULL-terminated, or NULL): IP addresses and DNS names,
 * which may begin with "*.". -EINVAL when one of them is neither. `cn` is the common name of the
 * authority, up to 64 bytes. */
int selfsigned_make(const char *cn, const char *const *names, int64_t now, struct selfsigned *out,
                    struct err *err);
/* Wipes the key. */
void selfsigned_done(struct selfsigned *s);
#define _cleanup_selfsigned_ __attribute__((cleanup(selfsigned_done)))

#endif
