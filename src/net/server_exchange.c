/* An exchange: what its owner can ask about the request and do about the reply. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "net/server_gzip.h"
#include "net/server_internal.h"

enum {
    LOW_WATER = 64 << 10,
    /* A body up to this goes into the socket's buffer at once, behind the head. */
    SMALL_BODY = 64 << 10,
};

/* --- life --- */

int exchange_new(struct conn *c, char *text, size_t len, struct exchange **out, const char **why) {
    struct http_head head;
    int code = http_head_parse(text, len, &head, why);
    if (code) {
        free(text);
        return code;
    }
    struct exchange *x = xnew(struct exchange);
    *x = (struct exchange){.conn = c, .loop = c->h->loop, .text = text, .head = head};
    x->bodiless = streq(head.method, "HEAD");
    memcpy(x->peer, c->peer, sizeof x->peer);
    *out = x;
    return 0;
}

void exchange_free(struct exchange *x) {
    loop_timer_free(x->late);
    http_head_done(&x->head);
    str_done(&x->body);
    free(x->text);
    free(x);
}

/* The owner has given it up and the reply is complete but for `feed`. */
static void finish(struct exchange *x, struct http_feed *feed) {
    if (x->conn)
        conn_finish(x->conn, feed);
    else
        http_feed_free(feed);
    exchange_free(x);
}

void exchange_abort(struct exchange *x) {
    struct conn *c = x->conn;
    if (c) {
        /* Of a body that ends with the connection the end would look right. */
        if (x->begun && !x->chunked && !x->bodiless)
            conn_reset(c);
        conn_close(c);
    }
    exchange_free(x);
}

/* --- the request --- */

const char *exchange_method(const struct exchange *x) {
    return x->head.method;
}

const char *exchange_target(const struct exchange *x) {
    return x->head.target;
}

const char *exchange_path(const struct exchange *x) {
    return x->head.path;
}

const char *exchange_query(const struct exchange *x) {
    return x->head.query;
}

const char *exchange_header(const struct exchange *x, const char *name) {
    return http_head_get(&x->head, name);
}

const struct http_header *exchange_headers(const struct exchange *x, size_t *n) {
    *n = x->head.n_headers;
    return x->head.headers;
}

struct view exchange_body(const struct exchange *x) {
    return (struct view){str_get(&x->body), x->body.len};
}

bool exchange_too_large(const struct exchange *x) {
    return x->too_large;
}

const char *exchange_peer(const struct exchange *x) {
    return x->peer;
}

/* --- whole replies --- */

/* Is there to be a body after the head of this reply? */
static bool has_body(const struct exchange *x, const struct http_reply *reply) {
    return !x->bodiless && reply->code != 204 && reply->code != 304;
}

/* What the head says about a body of that length (HTTP_CHUNKED: not known). */
static int64_t framing(const struct exchange *x, const struct http_reply *reply, int64_t length) {
    if (reply->code == 204 || reply->code == 304)
        return HTTP_BODILESS;
    return length == HTTP_CHUNKED && x->head.http10 ? HTTP_UNFRAMED : length;
}

static bool compresses(const struct exchange *x, const struct http_reply *reply, int64_t length) {
    return reply->gzip && (length < 0 || length > HTTP_GZIP_MIN) &&
           framing(x, reply, length) != HTTP_BODILESS &&
           http_gzip_wanted(exchange_header(x, "Accept-Encoding"));
}

void exchange_reply_pull(struct exchange *x, const struct http_reply *reply,
                         const struct http_source *body) {
    struct http_source src = *body;
    assert(!x->begun);
    if (!x->conn) {
        if (src.release)
            src.release(src.arg);
        exchange_free(x);
        return;
    }
    bool gzip = compresses(x, reply, src.len);
    if (gzip)
        src = http_gzip_source(&src);
    int64_t length = framing(x, reply, src.len < 0 ? HTTP_CHUNKED : src.len);
    conn_add_head(x->conn, reply, length, gzip);
    struct http_feed *feed = http_feed_pull(&src, length == HTTP_CHUNKED);
    if (!has_body(x, reply)) {
        http_feed_free(feed);
        feed = NULL;
    }
    finish(x, feed);
}

void exchange_reply_ref(struct exchange *x, const struct http_reply *reply,
                        const struct http_ref *body) {
    assert(!x->begun);
    if (x->conn && compresses(x, reply, (int64_t)body->len)) {
        struct http_source src = http_ref_source(body);
        exchange_reply_pull(x, reply, &src);
        return;
    }
    if (x->conn)
        conn_add_head(x->conn, reply, framing(x, reply, (int64_t)body->len), false);
    struct http_feed *feed = http_feed_ref(body);
    if (!has_body(x, reply)) {
        http_feed_free(feed);
        feed = NULL;
    }
    finish(x, feed);
}

void exchange_reply(struct exchange *x, const struct http_reply *reply, const void *body,
                    size_t len) {
    assert(!x->begun);
    if (len > SMALL_BODY && x->conn && has_body(x, reply)) {
        void *copy = xmemdup(body, len);
        exchange_reply_ref(x, reply, &(struct http_ref){copy, len, free, copy});
        return;
    }
    if (x->conn) {
        bool gzip = compresses(x, reply, (int64_t)len);
        conn_add_head(x->conn, reply, framing(x, reply, gzip ? HTTP_CHUNKED : (int64_t)len), gzip);
        if (len && has_body(x, reply))
            conn_add(x->conn, body, len);
    }
    finish(x, NULL);
}

/* --- streams --- */

void exchange_begin(struct exchange *x, const struct http_reply *reply) {
    assert(!x->begun);
    int64_t length = framing(x, reply, HTTP_CHUNKED);
    x->begun = true;
    x->chunked = length == HTTP_CHUNKED;
    x->bodiless = !has_body(x, reply);
    if (x->conn)
        conn_add_head(x->conn, reply, length, false);
}

static size_t low_mark(const struct exchange *x) {
    return x->events && x->events->low ? x->events->low : LOW_WATER;
}

/* Puts the frame around what `add` adds. */
static void write_frame(struct exchange *x, const struct http_ref *piece, bool copy) {
    struct conn *c = x->conn;
    if (x->chunked) {
        char size[24];
        int n = snprintf(size, sizeof size, "%zx\r\n", piece->len);
        conn_add(c, size, (size_t)n);
    }
    if (copy)
        conn_add(c, piece->p, piece->len);
    else
        conn_add_ref(c, piece);
    if (x->chunked)
        conn_add(c, "\r\n", 2);
    x->above = x->above || conn_queued(c) > low_mark(x);
}

void exchange_write(struct exchange *x, const void *p, size_t len) {
    assert(x->begun);
    if (x->conn && !x->bodiless && len)
        write_frame(x, &(struct http_ref){p, len, NULL, NULL}, true);
}

void exchange_write_ref(struct exchange *x, const struct http_ref *piece) {
    assert(x->begun);
    if (x->conn && !x->bodiless && piece->len)
        write_frame(x, piece, false);
    else if (piece->release)
        piece->release(piece->arg);
}

void exchange_end(struct exchange *x) {
    assert(x->begun);
    if (x->conn && x->chunked && !x->bodiless)
        conn_add(x->conn, "0\r\n\r\n", 5);
    finish(x, NULL);
}

size_t exchange_queued(const struct exchange *x) {
    return x->conn ? conn_queued(x->conn) : 0;
}

bool exchange_open(const struct exchange *x) {
    return !x->over && x->conn && !conn_hung_up(x->conn);
}

/* --- events --- */

void exchange_drained(struct exchange *x) {
    if (!x->above || exchange_queued(x) > low_mark(x))
        return;
    x->above = false;
    if (x->events && x->events->drained)
        x->events->drained(x->events_arg);
}

void exchange_over(struct exchange *x) {
    if (x->over)
        return;
    x->over = true;
    if (x->events && x->events->closed)
        x->events->closed(x->events_arg);
}

static void on_late(void *arg) {
    struct exchange *x = arg;
    if (x->events && x->events->closed)
        x->events->closed(x->events_arg);
}

void exchange_notify(struct exchange *x, const struct exchange_events *events, void *arg) {
    x->events = events;
    x->events_arg = arg;
    if (x->conn)
        conn_set_low(x->conn, low_mark(x));
    if (x->over && events && events->closed) {
        if (!x->late)
            x->late = loop_timer_new(x->loop, on_late, x);
        loop_timer_set(x->late, 0);
    }
}
