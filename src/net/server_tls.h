/* TLS for the server. */
#ifndef NET_SERVER_TLS_H
#define NET_SERVER_TLS_H

#include <openssl/ssl.h>

#include "base/err.h"
#include "net/server.h"

/* TLS 1.2 or newer, HTTP/1 by ALPN (whoever offers only other protocols is refused), stateless
 * session tickets, no renegotiation, and no buffers held by idle connections. Refuses a certificate
 * and key that are not readable or do not belong together. */
int http_tls_new(const struct httpd_tls *tls, SSL_CTX **out, struct err *err);

#endif
