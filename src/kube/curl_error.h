/* What a libcurl failure means, in one sentence and one errno. */
#ifndef KUBE_CURL_ERROR_H
#define KUBE_CURL_ERROR_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/curl_tls.h"

struct curl_failure {
    CURLcode code;
    const char *detail;      /* libcurl's words; may be "" */
    const char *server;      /* https://127.0.0.1:6443 */
    const char *host;        /* in it */
    const char *name;        /* what the certificate had to be valid for */
    const char *proxy;       /* without password; NULL: none */
    long os_errno;           /* of connect(), 0: unknown */
    long connect_code;       /* what the proxy answered to CONNECT, 0: nothing */
    bool proxy_unverified;   /* it was the proxy's certificate that failed */
    bool sent;               /* the request may have gone out */
    bool answered;           /* a head has arrived */
    int64_t connect_timeout; /* microseconds */
    const struct curl_tls_peer *peer;
};

/* Fills `err` and returns the negative errno (transport.h says which). *sent becomes false when the
 * failure proves that the server cannot have carried out the request. */
int curl_error_explain(const struct curl_failure *f, bool *sent, struct err *err);

#endif
