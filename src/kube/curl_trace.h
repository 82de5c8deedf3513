/* What goes over the wire, in kubectl's words: `kubectl -v=6` to `-v=10` of 1.36.
 *
 * A trace has a level and a file descriptor; each entry is written at once, so that lines of
 * several requests do not mix. Levels add up as kubectl's do:
 *
 *     6  a line for each response: verb, URL, status, milliseconds
 *     7  the request with its headers, and the response's status
 *     8  also the response's headers and both bodies, these cut off at 1,024 characters
 *     9  a curl command, connections and their times; bodies up to 10,240 characters
 *    10  whole bodies
 *
 * Credentials in the Authorization header are masked as kubectl masks them. Other than kubectl's,
 * what a server sends cannot get at the terminal: control characters are shown as \xNN. The body of
 * a watch is not shown, as with kubectl. */
#ifndef KUBE_CURL_TRACE_H
#define KUBE_CURL_TRACE_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"

struct curl_trace {
    int level; /* below 6: silent */
    int fd;
    int64_t (*now)(void); /* the time of day in microseconds; NULL: the clock's */
    int64_t pid;          /* 0: ours */
};

/* One exchange. All zero to begin with. */
struct curl_exchange {
    const char *method, *url; /* not owned */
    bool watch;
    VEC(char *) headers; /* of the response, "Name: value" */
    struct str body;     /* of the response: as much as may be shown */
    uint64_t body_len;
    bool binary; /* there are bytes in it that are no text */
};
void curl_exchange_done(struct curl_exchange *x);

/* How long things took, microseconds; as libcurl tells them. */
struct curl_times {
    int64_t total;
    bool reused; /* the connection was there */
    int64_t dns, dial, tls, connection, server;
};

/* About to be sent. `headers`: "Name: value"; those without a value are not sent. */
void curl_trace_request(const struct curl_trace *t, const struct curl_exchange *x,
                        const struct curl_slist *headers, const void *body, size_t body_len);
/* A new connection. `host` is the name that was looked up, NULL when it is an address. */
void curl_trace_dialled(const struct curl_trace *t, const char *host, const char *address,
                        int port);
void curl_trace_dial_failed(const struct curl_trace *t, const char *address, int error);
/* A line of the response's head, with or without its line end. */
void curl_trace_head_line(const struct curl_trace *t, struct curl_exchange *x, const char *line,
                          size_t len);
/* The head is there; code 0 and status "": there will be none. */
void curl_trace_response(const struct curl_trace *t, const struct curl_exchange *x, int code,
                         const char *status, const struct curl_times *times);
void curl_trace_data(const struct curl_trace *t, struct curl_exchange *x, const char *p,
                     size_t len);
/* All of it has come. */
void curl_trace_body(const struct curl_trace *t, const struct curl_exchange *x);

#endif
