/* The head of an HTTP response, put together line by line as libcurl hands them out.
 *
 * Interim answers (1xx) are swallowed; trailers after the head are ignored. The server is not
 * trusted: what it may send before the body, interim answers and trailers included, is bounded. */
#ifndef KUBE_CURL_HEAD_H
#define KUBE_CURL_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "kube/transport.h"

/* An API server sends about 1 KiB in 12 lines; long audit ids, warnings and what proxies add stay
 * far below this. */
enum { CURL_HEAD_MAX_BYTES = 64 * 1024, CURL_HEAD_MAX_LINES = 256 };

struct curl_head {
    int code;      /* of the last status line; 0 before there was one */
    bool complete; /* the final head is there */
    bool open;     /* inside a head: a status line was seen, its empty line not yet */
    size_t bytes, lines;
    char *content_type, *retry_after; /* owned or NULL; retry_after as it was sent */
    VEC(char *) warnings;             /* texts of the Warning: 299 headers */
    int64_t date;
    bool priority; /* has an X-Kubernetes-PF-* header */
};

/* `line` with its line end. Returns 1 when it completes the final head, 0 when more is needed (or
 * it was a trailer), -E2BIG when there is too much, -EPROTO when it is no HTTP. */
int curl_head_line(struct curl_head *h, const char *line, size_t len);
/* What the receiver is told; points into `h`. */
void curl_head_show(const struct curl_head *h, struct kube_head *out);
/* Empties it; the limits count anew. */
void curl_head_done(struct curl_head *h);

/* "Not Found" for 404; "" for a code without a name. HTTP/2 does not transmit them. */
const char *http_status_text(int code);

#endif
