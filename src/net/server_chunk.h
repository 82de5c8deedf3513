/* Chunked bodies (RFC 9112 section 7.1): taken apart as they come in. No I/O.
 *
 * Strict: lines end with \r\n, sizes are hexadecimal digits and nothing else; extensions and
 * trailers are skipped, up to a limit. */
#ifndef NET_SERVER_CHUNK_H
#define NET_SERVER_CHUNK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum {
    /* Extensions of all chunks, and trailers: nobody sends any. */
    HTTP_CHUNK_EXTRA = 4096,
};

enum http_chunk_state {
    HTTP_CHUNK_SIZE, /* the digits of a size */
    HTTP_CHUNK_EXT,  /* the rest of that line */
    HTTP_CHUNK_SIZE_LF,
    HTTP_CHUNK_DATA,
    HTTP_CHUNK_DATA_CR,
    HTTP_CHUNK_DATA_LF,
    HTTP_CHUNK_TRAILER,    /* at the beginning of a line */
    HTTP_CHUNK_TRAILER_IN, /* inside of one */
    HTTP_CHUNK_TRAILER_LF,
    HTTP_CHUNK_END_LF,
    HTTP_CHUNK_END,
};

/* All zero at first. */
struct http_chunks {
    enum http_chunk_state state;
    bool digits; /* the size has at least one */
    size_t left; /* of the current chunk */
    size_t extra;
};

enum http_chunk_result {
    HTTP_CHUNK_MORE,      /* all bytes used, the body goes on */
    HTTP_CHUNK_DONE,      /* the body ended after *used bytes */
    HTTP_CHUNK_TOO_LARGE, /* `body` would become longer than `max` */
    HTTP_CHUNK_BAD,
};

/* Takes the next `len` bytes and appends what is data to `body`. After anything but MORE it must
 * not be called again. */
enum http_chunk_result http_chunks_feed(struct http_chunks *c, const char *p, size_t len,
                                        struct str *body, size_t max, size_t *used);

#endif
