/* What is the same in every request to a server: its address for libcurl, the way there, the name
 * on its certificate, the headers of impersonation. Made once from the configuration.
 *
 * tls-server-name works as in client-go: that name is asked for (SNI) and must be on the
 * certificate, while the Host header stays the server's. libcurl takes all three from the URL's
 * host, so the URL gets the name, CURLOPT_CONNECT_TO the address and a header of our own the
 * host. */
#ifndef KUBE_CURL_TARGET_H
#define KUBE_CURL_TARGET_H

#include <curl/curl.h>

#include "base/err.h"
#include "kube/config.h"
#include "kube/curl_proxy.h"

struct curl_target {
    char *server;                  /* as configured, without a final slash; for messages */
    char *base;                    /* what a request's path is put behind for libcurl */
    char *host;                    /* the server's, without brackets */
    char *name;                    /* what the certificate must be valid for */
    struct curl_slist *connect_to; /* or NULL */
    struct curl_proxy proxy;
    struct curl_slist *headers; /* "Name: value" */
};

int curl_target_init(struct curl_target *t, const struct kube_config *config, curl_getenv_fn *env,
                     struct err *err);
void curl_target_done(struct curl_target *t);

/* Text that can stand in a header: no control characters. */
bool header_value_valid(const char *s);
/* A path with query that can stand in a request line: printable ASCII from a slash on, no blank, no
 * fragment. */
bool request_path_valid(const char *s);

#endif
