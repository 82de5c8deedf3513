/* The head of an HTTP/1 request: where it ends, and what it says (RFC 9110, RFC 9112). No I/O.
 *
 * As strict as is needed to never disagree with a proxy in front about where a request ends: no
 * folded lines, no blank before the colon, no second Content-Length of another value, not both
 * Content-Length and Transfer-Encoding. As lenient as Go's server, and therefore kube-apiserver,
 * about lines that end with \n alone and empty lines before the request. */
#ifndef NET_SERVER_HEAD_H
#define NET_SERVER_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/server.h"

enum {
    HTTP_MAX_HEADERS = 256, /* what browsers behind two proxies send is below 60 */
    HTTP_MAX_METHOD = 32,   /* the longest registered one has 17 letters */
};

/* The length of the empty lines that `len` bytes begin with: to be skipped before a request (RFC
 * 9112 section 2.2). */
size_t http_head_blank(const char *p, size_t len);
/* Looks for the end of a head in `len` bytes, of which the first *scanned were looked at by an
 * earlier call (0 at first). Returns its length with the empty line, or 0 when it goes on. */
size_t http_head_end(const char *p, size_t len, size_t *scanned);

struct http_head {
    const char *method, *target, *query; /* as in net/server.h */
    char *path;                          /* owned */
    struct http_header *headers;         /* owned */
    size_t n_headers;
    int64_t length; /* of the body; -1: chunked */
    bool http10;
    bool close;           /* the client wants the connection closed after the reply */
    bool expect_continue; /* it waits for "100 Continue" before it sends the body */
};

/* Reads a head of `len` bytes, all of it up to the end that http_head_end() found. `text` is
 * changed (lines become strings) and referred to by the result, so it must live as long; a byte
 * more, text[len], must be writable. Returns 0, or the status code of the refusal, and then *why
 * says in words what is wrong; nothing is owned then. */
int http_head_parse(char *text, size_t len, struct http_head *out, const char **why);
void http_head_done(struct http_head *head);

/* The value of the first header of that name, or NULL. */
const char *http_head_get(const struct http_head *head, const char *name);
/* Is `token` in a comma-separated list? In any case; blanks around it do not matter. */
bool http_list_has(const char *list, const char *token);
/* Is it a token (RFC 9110 section 5.6.2)? */
bool http_is_token(const char *s, size_t len);

#endif
