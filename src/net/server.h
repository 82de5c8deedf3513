/* The HTTP/1.1 server: requests come in whole, replies go out whole or as streams.
 *
 * A struct httpd has one handler and any number of addresses to listen on, plain or TLS. Several of
 * them can live on one loop. It is made of libevent's bufferevents. libevent's own evhttp would not
 * do: it has one time-out for everything, no limit on connections, a fixed list of methods, and the
 * only back-pressure it knows is "all of it was written".
 *
 * Ownership, the one rule to know: the handler is given a struct exchange (one request and its
 * reply) and owns it from then on, for as long as it likes. It gives it up by exactly one of
 *
 *     exchange_reply(), exchange_reply_ref(), exchange_reply_pull()    a whole reply
 *     exchange_begin() ... exchange_end()                              a stream
 *     exchange_abort()                                                 nothing (more): hangs up
 *
 * in the handler or later. Nothing else ends an exchange: not a client that goes away, not a
 * time-out, not even httpd_free(). What is written to an exchange whose client has gone is thrown
 * away, so an owner need not care; one who wants to know (to stop a watch) asks for `closed`.
 *
 * Callbacks come from the loop, never from inside a call of these functions, and may call all of
 * them, also httpd_free(), and also for the exchange that the callback is about. Two are different:
 * `release` of a body may come at any time, and neither it nor `pull` may call anything here.
 *
 * Clients are hostile:
 *  - Every wait for them has a limit (struct httpd_limits), every buffer too. Beyond the limits a
 *    client gets 400, 413, 429, 431, 501 or 505 and a closed connection, or just the latter.
 *  - One exchange per connection at a time: pipelined requests wait, at first in a small buffer,
 *    then with the client.
 *  - Whole replies are handed to the socket piece by piece, so that a big one neither fills memory
 *    nor keeps other connections waiting. For streams the owner sees how much is queued.
 *  - The process must ignore SIGPIPE (the program does from its start). */
#ifndef NET_SERVER_H
#define NET_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/log.h"
#include "base/str.h"
#include "net/loop.h"

struct httpd;
struct httpd_listener;
struct exchange;

/* --- the server --- */

typedef void httpd_fn(void *arg, struct exchange *x);

/* What is 0 gets the default. Times are in microseconds. Those marked K are kube-apiserver's. */
struct httpd_limits {
    size_t max_head;       /* request line and headers: 64 KiB */
    size_t max_body;       /* 3 MiB (K) */
    size_t max_bodies;     /* of all requests whose bodies are still coming in: 512 MiB. Beyond it
                            * those who send more get 429 */
    unsigned max_conns;    /* 12,000. At the limit an idle connection is closed to make room, or one
                            * of a crowd (below); when there is none, new clients wait in the
                            * kernel's queue */
    int64_t head_timeout;  /* from the first byte of a request (or the connection, with its TLS
                            * handshake) to the end of its head: 32 s (K) */
    int64_t body_timeout;  /* for the whole body: 60 s (K: of a request) */
    int64_t idle_timeout;  /* between two requests: 90 s (K) */
    int64_t write_timeout; /* without one byte accepted by the client although there are some for
                            * it: 60 s; it takes up to twice as long to be noticed */
    int64_t reply_timeout; /* from a reply's being complete to its last byte's being taken: 60 s (K:
                            * of a request). A client that takes a byte now and then keeps the
                            * whole of it in memory meanwhile */
};

struct httpd_options {
    httpd_fn *handle;
    void *arg;
    struct httpd_limits limits;
    bool handle_too_large; /* a body beyond max_body is the handler's to answer, in its own words:
                            * exchange_too_large(). Else it gets a plain 413 */
    /* The body of a request's refusal by the server itself, and its Content-Type, given `arg`:
     * where clients expect other words than a line of plain text. NULL: that. */
    const char *(*refusal)(void *arg, int code, const char *why, struct str *body);
    bool crowds_give_way; /* at the limit, the address with the most connections gives up the one
                           * that has taken longest to send its request (net/server_crowd.h) */
    int64_t (*date)(void *arg); /* what the Date of replies says, in microseconds since 1970, given
                                 * `arg`; NULL: the wall clock */
    const struct log *log; /* what clients do wrong (debug), and trouble with accepting (warn); must
                            * outlive the server; may be NULL */
};

/* -ENOTSUP on a virtual loop. The options are copied. */
int httpd_new(struct loop *loop, const struct httpd_options *opts, struct httpd **out,
              struct err *err);
/* Closes everything at once. Calls nothing but `release` of bodies under way; exchanges that are
 * not given up yet stay valid (their client has gone). Takes NULL. */
void httpd_free(struct httpd *h);

/* A certificate (its chain after it) and its key, as PEM texts. */
struct httpd_tls {
    const char *cert, *key;
};

/* Listens on "127.0.0.1:6443", "[::1]:6443" or ":6443" (all addresses). Port 0 takes a free one.
 * With `tls` (not needed after the call) only TLS 1.2 or newer is spoken there. *out may be NULL;
 * it is valid until httpd_stop() or httpd_free(). */
int httpd_listen(struct httpd *h, const char *address, const struct httpd_tls *tls,
                 struct httpd_listener **out, struct err *err);
/* New connections get this certificate; those that are there keep theirs. -EINVAL: it cannot be
 * used, and the listener goes on with the one that it has; or it is a plain one. */
int httpd_listener_renew(struct httpd_listener *l, const struct httpd_tls *tls, struct err *err);
/* The real port, and "127.0.0.1:6443" with it. */
int httpd_listener_port(const struct httpd_listener *l);
const char *httpd_listener_address(const struct httpd_listener *l);
/* Serves a connected stream socket, which is then owned by the server, as if it had been accepted
 * by `l` (NULL: a plain one). */
void httpd_adopt(struct httpd *h, int fd, struct httpd_listener *l);

/* Stops in order: no new connections and no new requests; exchanges and replies under way may
 * finish for at most `grace` microseconds, the rest is cut off (`closed` is called). Then calls
 * done(arg) once, from the loop. Whoever has endless streams ends them himself. A second call can
 * only shorten the time: its `done` replaces the first one's. */
void httpd_stop(struct httpd *h, int64_t grace, loop_fn *done, void *arg);

struct httpd_stats {
    unsigned conns;     /* now */
    unsigned exchanges; /* now, with the handler */
    uint64_t accepted;  /* connections */
    uint64_t requests;  /* that reached the handler */
    uint64_t refused;   /* requests that did not: malformed, too large, too slow */
};
struct httpd_stats httpd_stats(const struct httpd *h);

/* --- the request; what is returned is valid until the exchange is given up --- */

struct http_header {
    const char *name, *value;
};

/* Any token, as it came: "GET". */
const char *exchange_method(const struct exchange *x);
/* The target as it came: "/a%20b?limit=1". Of an absolute one ("http://host/a") what follows the
 * host. */
const char *exchange_target(const struct exchange *x);
/* Its path with escapes resolved, "/a b" (any bytes but NUL), and its query as it came, "limit=1"
 * or
 * "". */
const char *exchange_path(const struct exchange *x);
const char *exchange_query(const struct exchange *x);
/* The value of the first header of that name, in any case, or NULL. */
const char *exchange_header(const struct exchange *x, const char *name);
/* All of them in their order. */
const struct http_header *exchange_headers(const struct exchange *x, size_t *n);
/* NUL-terminated. */
struct view exchange_body(const struct exchange *x);
bool exchange_too_large(const struct exchange *x);
/* "127.0.0.1:40112", or "" for a socket without a name. */
const char *exchange_peer(const struct exchange *x);

/* --- the reply --- */

/* Content-Length, Transfer-Encoding, Connection and Date are the server's own business. A line
 * break in a value becomes a blank; a header whose name is no token is left out. */
struct http_reply {
    int code; /* 200 to 599 */
    const struct http_header *headers;
    size_t n_headers;
    bool gzip;  /* a whole reply is compressed if the client takes it and it is longer than
                 * HTTP_GZIP_MIN, or of unknown length */
    bool close; /* the connection after it */
};

/* kube-apiserver's threshold. */
enum { HTTP_GZIP_MIN = 128 << 10 };

/* Bytes that are not copied: they stay valid until release(arg) (NULL: for ever). */
struct http_ref {
    const void *p;
    size_t len;
    void (*release)(void *arg);
    void *arg;
};

/* A body that is made while it is sent. pull() writes at most `cap` bytes to `buf` and returns how
 * many; 0 at the end; -1 when it cannot go on, and then the client sees the reply break off. The
 * same when the sum is not `len`. Called from the loop. After release() neither is called again. */
struct http_source {
    int64_t len; /* -1: not known */
    ssize_t (*pull)(void *arg, void *buf, size_t cap);
    void (*release)(void *arg); /* may be NULL */
    void *arg;
};

/* The body is copied. To HEAD, and with 204 and 304, none is sent. */
void exchange_reply(struct exchange *x, const struct http_reply *reply, const void *body,
                    size_t len);
void exchange_reply_ref(struct exchange *x, const struct http_reply *reply,
                        const struct http_ref *body);
void exchange_reply_pull(struct exchange *x, const struct http_reply *reply,
                         const struct http_source *body);

/* Sends the head of a stream; what is written then goes out in chunks, at once. */
void exchange_begin(struct exchange *x, const struct http_reply *reply);
/* Nothing when len is 0. */
void exchange_write(struct exchange *x, const void *p, size_t len);
void exchange_write_ref(struct exchange *x, const struct http_ref *piece);
/* Ends the stream as it should end. */
void exchange_end(struct exchange *x);
/* Hangs up at any time. A client that got part of a reply can tell that it is not whole. */
void exchange_abort(struct exchange *x);

/* Bytes written, but not taken by the socket yet; 0 when the client has gone. */
size_t exchange_queued(const struct exchange *x);
/* False once the client has gone, or has said that it sends nothing more: as the kernel knows it
 * now, before `closed` tells. The latter is no proof (a client may close one direction only, and
 * wait for the reply: it gets it), but Go's server takes it for the end of a watch too. */
bool exchange_open(const struct exchange *x);

struct exchange_events {
    void (*drained)(void *arg); /* the queue was above `low` and is not any more */
    void (*closed)(void *arg);  /* exchange_open() is false; called once */
    size_t low;                 /* 0: 64 KiB */
};
/* Asks for them, before or after exchange_begin(); NULL: no more. `events` must stay valid. When
 * the client has gone already, `closed` comes in the next turn of the loop. */
void exchange_notify(struct exchange *x, const struct exchange_events *events, void *arg);

#endif
