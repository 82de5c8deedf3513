/* Proxies for tests, as what a struct server does with a raw connection. */
#ifndef SUPPORT_PROXY_H
#define SUPPORT_PROXY_H

#include "support/server.h"

struct proxy {
    int status;       /* what CONNECT is answered with; 0: 200 and the tunnel */
    char target[300]; /* "host:port" that was last asked for */
    char auth[300];   /* Proxy-Authorization of the last CONNECT, or "" */
};

/* `arg` is a struct proxy. Everything is connected to 127.0.0.1 at the port asked for, whatever the
 * host, so that names which exist nowhere can be tried. */
void proxy_http(struct server_conn *c, void *arg);
void proxy_socks5(struct server_conn *c, void *arg);

#endif
