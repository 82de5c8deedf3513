/* Through which proxy the API server is reached, if any.
 *
 * proxy-url of the kubeconfig decides alone. Without it the environment does, as for kubectl:
 * HTTPS_PROXY (http_proxy in lower case only for an http:// server, because CGI programs get
 * HTTP_PROXY from strangers), else ALL_PROXY, unless NO_PROXY names the server; a server on the
 * loopback interface never goes through it. */
#ifndef KUBE_CURL_PROXY_H
#define KUBE_CURL_PROXY_H

#include <stdbool.h>

#include "base/err.h"

/* getenv() outside of tests. */
typedef char *curl_getenv_fn(const char *name);

struct curl_proxy {
    char *url;   /* for libcurl; "" : none */
    char *shown; /* the same without a password; NULL: none */
};

/* `host` without brackets, as it stands in the server's URL. Fails when the proxy's URL is none or
 * of an unknown kind. */
int curl_proxy_choose(const char *proxy_url, bool https, const char *host, int port,
                      curl_getenv_fn *env, struct curl_proxy *out, struct err *err);
void curl_proxy_done(struct curl_proxy *p);

/* NO_PROXY's language: "*", names (with everything below them), addresses, CIDR blocks, each with
 * an optional port, between commas or spaces. */
bool no_proxy_names(const char *list, const char *host, int port);

#endif
