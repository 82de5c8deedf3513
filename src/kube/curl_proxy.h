/* Through which proxy the API server is reached, if any.
 *
 * proxy-url of the kubeconfig decides alone. Without it the environment does, by the rules of Go's
 * net/http and so of kubectl: HTTPS_PROXY, else https_proxy (for an http:// server HTTP_PROXY, else
 * http_proxy), unless NO_PROXY, else no_proxy, names the server. ALL_PROXY means nothing. A server
 * on the loopback interface never goes through a proxy of the environment. In a CGI program
 * (REQUEST_METHOD is set) HTTP_PROXY comes from strangers and is refused. */
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

/* NO_PROXY's language, between commas: "*" (all), "name" (and everything below it), ".name" and
 * "*.name" (only what is below), addresses, each of these with an optional port, and CIDR blocks.
 * What is none of these names nothing. */
bool no_proxy_names(const char *list, const char *host, int port);

#endif
