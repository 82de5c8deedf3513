/* The head of a reply as bytes. No I/O. */
#ifndef NET_SERVER_REPLY_H
#define NET_SERVER_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "net/server.h"

enum {
    HTTP_DATE_LEN = 40,
    /* Lengths that are none: */
    HTTP_CHUNKED = -1,  /* comes in chunks */
    HTTP_UNFRAMED = -2, /* ends with the connection (HTTP/1.0) */
    HTTP_BODILESS = -3, /* there is none, and nothing may be said about it: 204, 304 */
};

/* "Sun, 15 Nov 2026 08:00:00 GMT", which is RFC 9110's form of a date. */
const char *http_date(int64_t usec, char buf[static HTTP_DATE_LEN]);

/* "Not Found"; for a code that has no name the one of its class. */
const char *http_reason(int code);

/* Appends status line, headers and the empty line. */
void http_reply_head(struct str *out, const struct http_reply *reply, int64_t length, bool gzip,
                     bool close, const char *date);

#endif
