/* The URLs of a kubeconfig: the API server's and the proxy's. */
#ifndef KUBE_CONFIG_URL_H
#define KUBE_CONFIG_URL_H

#include <stdbool.h>

#include "base/err.h"

/* Checks a server as it stands in a kubeconfig or after --server and gives it its normal form,
 * http[s]://host[:port][/prefix] without a final slash. As client-go: what has no scheme is host or
 * host:port and gets http://; query and fragment are dropped. */
int kube_url_server(const char *text, char **out, struct err *err);

/* Checks a proxy-url: http, https or socks5, with a host. Messages never show it whole, since it
 * may hold a password. */
int kube_url_proxy(const char *text, struct err *err);

/* host:port, with brackets around an IPv6 address. */
char *kube_url_join(const char *host, const char *port);

#endif
