/* Certificates for tests, made in memory: a CA and what it signs. */
#ifndef SUPPORT_PKI_H
#define SUPPORT_PKI_H

#include <stdbool.h>

struct pki_ca;

struct pki_spec {
    const char *cn, *org;
    const char *names;          /* "DNS:localhost,IP:127.0.0.1", or NULL */
    long not_before, not_after; /* seconds from now; both 0: an hour around now */
    bool client;                /* else for a server */
};

struct pki_pair {
    char *cert, *key; /* PEM */
};

struct pki_ca *pki_ca_new(const char *cn);
const char *pki_ca_pem(const struct pki_ca *ca);
void pki_ca_free(struct pki_ca *ca);

struct pki_pair pki_issue(struct pki_ca *ca, const struct pki_spec *spec);
void pki_pair_done(struct pki_pair *pair);

#endif
