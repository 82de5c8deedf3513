/* Addresses as text: what to listen on, and who is at the other end. */
#ifndef NET_SERVER_ADDR_H
#define NET_SERVER_ADDR_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/err.h"

enum { HTTP_ADDR_LEN = 64 };

struct http_addr {
    struct sockaddr_storage sa;
    socklen_t len;
    bool any; /* ":PORT": all addresses, IPv6 and IPv4 */
};

/* "127.0.0.1:6443", "[::1]:6443" or ":6443"; host names are refused. Zones ("%eth0") are too. */
int http_addr_parse(const char *text, struct http_addr *out, struct err *err);
/* "127.0.0.1:6443", "[::1]:6443"; an IPv4 address that came in over IPv6 reads as IPv4; "" for
 * other kinds of sockets. */
const char *http_addr_format(const struct sockaddr *sa, char buf[static HTTP_ADDR_LEN]);
/* 0 for other kinds of sockets. */
int http_addr_port(const struct sockaddr *sa);

/* A socket that listens there, or a negative errno. */
int http_addr_listen(const char *text, struct err *err);

#endif
