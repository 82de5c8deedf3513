/* The body of a whole reply on its way out: put into the socket's buffer piece by piece, as there
 * is room, so that its size costs neither memory nor the patience of other connections. */
#ifndef NET_SERVER_FEED_H
#define NET_SERVER_FEED_H

#include <stdbool.h>

#include "net/server.h"

struct evbuffer;
struct http_feed;

enum {
    /* Put into the buffer at once. One TLS write of this size is four records. */
    HTTP_FEED_PIECE = 64 << 10,
    /* Enough to keep a socket busy until the loop comes around again. */
    HTTP_FEED_FULL = 512 << 10,
    /* The same of a source: these bytes take memory, for each client that reads slowly. */
    HTTP_FEED_MADE = 128 << 10,
};

/* Bytes in memory, not copied. Released when the last of them has left the buffer and the feed is
 * freed. */
struct http_feed *http_feed_ref(const struct http_ref *ref);
/* A source; `chunked`: in chunks and with the last chunk at its end. With a known length it must
 * yield that much. */
struct http_feed *http_feed_pull(const struct http_source *src, bool chunked);
/* A source that yields the bytes of a ref; it copies them. */
struct http_source http_ref_source(const struct http_ref *ref);

/* Adds pieces until the buffer holds HTTP_FEED_FULL (of a source HTTP_FEED_MADE). 1: there is more;
 * 0: that was all; -1: the source failed, and the reply cannot be completed. */
int http_feed_fill(struct http_feed *f, struct evbuffer *out);
void http_feed_free(struct http_feed *f); /* takes NULL */

/* evbuffer_add_reference() for a ref that is used once: released with its bytes. */
int http_ref_add(struct evbuffer *out, const struct http_ref *ref);

#endif
