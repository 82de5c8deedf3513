/* A request of ours on a libcurl handle: address and way, method, headers, body, socket options. */
#ifndef KUBE_CURL_REQUEST_H
#define KUBE_CURL_REQUEST_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/curl_target.h"

struct curl_request {
    const char *method, *path;
    const char *accept, *content_type; /* or NULL */
    const char *authorization;         /* or NULL */
    const char *user_agent;
    const void *body; /* not copied: must stay as long as the transfer */
    size_t body_len;
    bool http2;    /* else 1.1 */
    bool compress; /* ask for gzip; an answer that comes compressed is decoded in any case */
    int64_t connect_timeout; /* microseconds */
};

/* NULL when method and path can be sent, else what is wrong with them. */
const char *curl_request_check(const char *method, const char *path);

/* Sets it all on `easy`. Redirects are not followed. *headers must be given to
 * curl_request_headers_free() after the transfer, also when this fails. */
int curl_request_apply(CURL *easy, const struct curl_target *target, const struct curl_request *req,
                       struct curl_slist **headers, struct err *err);
/* Wipes them, since there is a token among them; takes NULL. */
void curl_request_headers_free(struct curl_slist *headers);

#endif
