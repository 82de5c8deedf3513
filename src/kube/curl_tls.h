/* Whom we trust and how we prove who we are, for libcurl's TLS: certificates from memory only.
 *
 * The CA is inline data or a file. A file is read again when it changed, and once more when a
 * server's certificate could not be verified, because cluster CAs rotate; a new version that is no
 * PEM (half written) is not taken. Without a CA the system's roots are used.
 *
 * libcurl itself keeps apart connections and TLS sessions made with different certificates: after a
 * change the old ones are not used again. */
#ifndef KUBE_CURL_TLS_H
#define KUBE_CURL_TLS_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "kube/auth.h"
#include "kube/config.h"

struct curl_tls;

/* The last server certificate that was looked at, to explain a refusal. */
struct curl_tls_peer {
    char *issuer;                  /* "CN=kubernetes-ca", or NULL */
    char *names;                   /* "kubernetes, 10.0.0.1", "" when it has none, or NULL */
    int64_t not_before, not_after; /* of the certificate that failed, else of the server's */
    long error;                    /* X509_V_... */
};

/* `config` and `log` must outlive it. Fails when the CA cannot be read or is no certificate. */
int curl_tls_new(const struct kube_config *config, const struct log *log, struct curl_tls **out,
                 struct err *err);
void curl_tls_free(struct curl_tls *tls);

/* Makes a transfer use what is current. Fails when the client certificate or key of `cred` (which
 * may be NULL) cannot be used. */
int curl_tls_apply(struct curl_tls *tls, const struct kube_credentials *cred, CURL *easy,
                   struct err *err);

/* After a certificate could not be verified: reads the CA file again. True when it is another one
 * now, so that trying again makes sense. */
bool curl_tls_reread(struct curl_tls *tls);

const struct curl_tls_peer *curl_tls_peer(const struct curl_tls *tls);

#endif
