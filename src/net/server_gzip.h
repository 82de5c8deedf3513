/* Compressing a body while it is sent. */
#ifndef NET_SERVER_GZIP_H
#define NET_SERVER_GZIP_H

#include <stdbool.h>

#include "net/server.h"

/* Does an Accept-Encoding header (NULL: there is none) want gzip? "*" is no wish. */
bool http_gzip_wanted(const char *accept_encoding);

/* A source whose bytes are those of `in`, compressed as kube-apiserver does: gzip, level 1. Its
 * length is not known. `in` is released with it. */
struct http_source http_gzip_source(const struct http_source *in);

#endif
