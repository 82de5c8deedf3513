/* What the parts of net/server share: the server, its connections and their exchanges.
 *
 *     server.c           listening, accepting, stopping
 *     server_conn.c      a connection: its states, what it reads
 *     server_exchange.c  an exchange: the request, what is written
 *
 * Who owns whom: the server its connections; a connection the exchange that it is still reading.
 * Once the handler has an exchange, that and its connection (conn->x, exchange->conn) only know
 * each other, and each forgets the other when it ends. */
#ifndef NET_SERVER_INTERNAL_H
#define NET_SERVER_INTERNAL_H

#include <openssl/ssl.h>
#include <sys/queue.h>

#include "base/str.h"
#include "net/server.h"
#include "net/server_addr.h"
#include "net/server_chunk.h"
#include "net/server_crowd.h"
#include "net/server_feed.h"
#include "net/server_head.h"
#include "net/server_reply.h"

struct bufferevent;
struct evconnlistener;

struct httpd_listener {
    struct httpd *h;
    LIST_ENTRY(httpd_listener) link;
    struct evconnlistener *ev;
    SSL_CTX *tls; /* NULL: plain */
    int port;
    char address[HTTP_ADDR_LEN];
};

struct httpd {
    struct loop *loop;
    struct httpd_options opts;
    struct httpd_stats stats;
    LIST_HEAD(, httpd_listener) listeners;
    LIST_HEAD(, conn) conns;
    TAILQ_HEAD(, conn) idle;         /* the longest idle one first */
    struct crowd crowd;              /* all of them, by their clients */
    bool paused;                     /* nothing is accepted for now */
    bool starved;                    /* because there are no file descriptors left */
    struct loop_timer *resume_timer; /* tries again then */
    int64_t complained;              /* when that was last logged */
    unsigned peak;                   /* connections, since memory was last given back */
    unsigned trimmed;                /* connections at that time; UINT_MAX: enough was given back */
    struct loop_timer *trim_timer;   /* gives it back */
    bool stopping;
    struct loop_timer *stop_timer;
    loop_fn *stopped;
    void *stopped_arg;
    int refs; /* the owner's, and one while a callback may free it */
    bool freed;
    size_t bodies;            /* bytes of those that are still coming in */
    struct str scratch;       /* for heads of replies */
    int64_t date_at;          /* the second that `date` is about */
    char date[HTTP_DATE_LEN]; /* made once a second */
};

enum conn_state {
    CONN_HANDSHAKE, /* TLS is not there yet */
    CONN_HEAD,      /* reads the head of a request */
    CONN_BODY,      /* reads its body */
    CONN_BUSY,      /* the handler has the exchange */
    CONN_FLUSH,     /* the reply is complete and on its way out */
    CONN_IDLE,      /* waits for the first byte of the next request */
    CONN_LINGER,    /* we have said goodbye, and read until the client has noticed: closing with
                     * bytes unread would be a reset, and the client could lose the reply */
};

struct conn {
    struct crowd_member member; /* comes first */
    struct httpd *h;
    LIST_ENTRY(conn) link;
    TAILQ_ENTRY(conn) idle;  /* only in CONN_IDLE */
    struct bufferevent *bev; /* NULL: closed; the struct lives on until nobody uses it */
    SSL *ssl;                /* of bev; NULL: plain */
    int refs;                /* one while it is open, one in each callback */
    enum conn_state state;
    struct loop_timer *timer;   /* of the state */
    struct loop_timer *stall;   /* looks whether the client takes what we have for it */
    uint64_t added, stalled_at; /* bytes put into the output; sent when the stall timer was set */
    struct exchange *x;
    struct http_chunks chunks;
    size_t scanned;         /* of a head that is not complete */
    size_t body_held;       /* bytes of the body in CONN_BODY, counted in httpd->bodies */
    int64_t flush_by;       /* in CONN_FLUSH: when the client must have taken it */
    size_t dropped;         /* while lingering */
    struct http_feed *feed; /* the rest of the reply, or NULL */
    bool eof;               /* the client sends nothing more */
    bool close;             /* after this reply */
    bool broken;            /* closing is a reset */
    bool paused;            /* not read from: too much waits already */
    char peer[HTTP_ADDR_LEN];
};

struct exchange {
    struct conn *conn; /* NULL: gone */
    struct loop *loop;
    char *text; /* of the head */
    struct http_head head;
    struct str body;
    bool too_large;
    bool begun;    /* a stream */
    bool chunked;  /* its framing */
    bool bodiless; /* nothing may follow the head: HEAD, 204, 304 */
    bool over;     /* the client has gone, or sends nothing more */
    bool above;    /* the queue was above the low-water mark */
    const struct exchange_events *events;
    void *events_arg;
    struct loop_timer *late; /* tells somebody who asked after it was over; else NULL */
    char peer[HTTP_ADDR_LEN];
};

/* --- server_conn.c --- */

/* Takes the socket over. */
void conn_new(struct httpd *h, int fd, SSL_CTX *tls, const char *peer);
/* Closes it now; nobody is told. */
void conn_close(struct conn *c);
/* Closes it now, and tells the owner of its exchange. Comes last: the owner may free everything. */
void conn_lost(struct conn *c);
void conn_unref(struct conn *c);
bool conn_is_fresh(const struct conn *c); /* no byte of a request has come */
/* It has nothing to answer: the client has not sent a whole request, or has its reply. */
bool conn_is_open_ended(const struct conn *c);
/* The client has closed its side, as the kernel has it: we may not have read as far yet. */
bool conn_hung_up(const struct conn *c);

size_t conn_queued(const struct conn *c);
void conn_add(struct conn *c, const void *p, size_t len);
void conn_add_ref(struct conn *c, const struct http_ref *ref);
/* The reply is complete but for `feed` (taken over; may be NULL). */
void conn_finish(struct conn *c, struct http_feed *feed);
/* Its closing shall not look like the proper end of a reply. */
void conn_reset(struct conn *c);
/* The low-water mark of a stream. */
void conn_set_low(struct conn *c, size_t low);
/* Head of a reply, with the server's clock. */
void conn_add_head(struct conn *c, const struct http_reply *reply, int64_t length, bool gzip);

/* --- server_exchange.c --- */

/* `text` is taken over. Returns the code of a refusal. */
int exchange_new(struct conn *c, char *text, size_t len, struct exchange **out, const char **why);
void exchange_free(struct exchange *x);
/* The queue is below the low-water mark. */
void exchange_drained(struct exchange *x);
/* The client has gone or sends nothing more: tells the owner, once. Comes last. */
void exchange_over(struct exchange *x);

/* --- server.c --- */

/* One connection less, or one that could make room. */
void httpd_has_room(struct httpd *h);
void httpd_conn_gone(struct httpd *h);
void httpd_unref(struct httpd *h);

#endif
