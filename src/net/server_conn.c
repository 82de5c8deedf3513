/* A connection of the server: a state machine between the socket and its exchanges. */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "net/server_internal.h"

enum {
    LOW_WATER = 64 << 10,
    /* Bytes that may wait behind the request that is being answered. */
    PIPELINE_MAX = 64 << 10,
    /* One write of a plain socket; libevent's 16 KiB would be a system call each. */
    WRITE_MAX = 256 << 10,
    /* While lingering: a client that still sends more does not listen. */
    DROP_MAX = 8 << 20,
    /* A peer whose machine is gone is noticed by probes after 2 minutes. */
    KEEPALIVE_IDLE = 60,
    KEEPALIVE_INTERVAL = 15,
    KEEPALIVE_COUNT = 4,
};

#define LINGER_TIME SEC(2)
/* At clients that are not read from. */
#define LOOK_EVERY SEC(1)

static void conn_process(struct conn *c);

static const char *state_name(enum conn_state state) {
    static const char *const names[] = {
        [CONN_HANDSHAKE] = "TLS handshake", [CONN_HEAD] = "head of a request",
        [CONN_BODY] = "body of a request",  [CONN_BUSY] = "answer being made",
        [CONN_FLUSH] = "reply on its way",  [CONN_IDLE] = "idle",
        [CONN_LINGER] = "closing",
    };
    return names[state];
}

static struct evbuffer *input_of(const struct conn *c) {
    return bufferevent_get_input(c->bev);
}

static struct evbuffer *output_of(const struct conn *c) {
    return bufferevent_get_output(c->bev);
}

/* --- states --- */

/* Its body is no longer coming in. */
static void forget_body(struct conn *c) {
    c->h->bodies -= c->body_held;
    c->body_held = 0;
}

/* Every transition, with what it does to the timer and the list of idle connections. */
static void set_state(struct conn *c, enum conn_state state) {
    const struct httpd_limits *limits = &c->h->opts.limits;
    enum conn_state old = c->state;
    if (old == CONN_IDLE)
        TAILQ_REMOVE(&c->h->idle, c, idle);
    if (old == CONN_BODY)
        forget_body(c);
    c->state = state;
    switch (state) {
    case CONN_HANDSHAKE:
        loop_timer_set(c->timer, limits->head_timeout);
        break;
    case CONN_HEAD:
        if (old != CONN_HANDSHAKE) /* its time counts */
            loop_timer_set(c->timer, limits->head_timeout);
        break;
    case CONN_BODY:
        c->chunks = (struct http_chunks){0};
        loop_timer_set(c->timer, limits->body_timeout);
        break;
    case CONN_BUSY:
        loop_timer_stop(c->timer);
        break;
    case CONN_FLUSH:
        c->flush_by = loop_now(c->h->loop) + limits->reply_timeout;
        loop_timer_set(c->timer, limits->reply_timeout);
        break;
    case CONN_IDLE:
        TAILQ_INSERT_TAIL(&c->h->idle, c, idle);
        loop_timer_set(c->timer, limits->idle_timeout);
        httpd_has_room(c->h);
        break;
    case CONN_LINGER:
        loop_timer_set(c->timer, LINGER_TIME);
        break;
    }
}

bool conn_is_open_ended(const struct conn *c) {
    return c->state != CONN_BUSY && c->state != CONN_FLUSH;
}

bool conn_is_fresh(const struct conn *c) {
    if (c->state == CONN_HEAD)
        return evbuffer_get_length(input_of(c)) == 0;
    return c->state == CONN_IDLE || c->state == CONN_HANDSHAKE;
}

bool conn_hung_up(const struct conn *c) {
    if (!c->bev || c->eof)
        return true;
    struct pollfd fd = {.fd = bufferevent_getfd(c->bev), .events = POLLRDHUP};
    return poll(&fd, 1, 0) == 1 && (fd.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

/* --- closing --- */

void conn_unref(struct conn *c) {
    if (--c->refs == 0)
        free(c);
}

/* Forgets its exchange; frees it if the handler does not have it yet. Returns it if it has. */
static struct exchange *detach(struct conn *c) {
    struct exchange *x = c->x;
    if (!x)
        return NULL;
    c->x = NULL;
    if (c->state != CONN_BUSY) {
        exchange_free(x);
        return NULL;
    }
    x->conn = NULL;
    c->h->stats.exchanges--;
    return x;
}

/* TLS's own, if there is room for it in the socket. */
static void say_goodbye(struct conn *c) {
    if (!c->ssl || c->state == CONN_HANDSHAKE)
        return;
    ERR_clear_error();
    SSL_shutdown(c->ssl);
    ERR_clear_error();
}

static struct exchange *conn_destroy(struct conn *c) {
    struct httpd *h = c->h;
    struct exchange *x = detach(c);
    forget_body(c);
    if (c->state == CONN_IDLE)
        TAILQ_REMOVE(&h->idle, c, idle);
    LIST_REMOVE(c, link);
    crowd_leave(&h->crowd, &c->member);
    loop_timer_free(c->timer);
    loop_timer_free(c->stall);
    http_feed_free(c->feed);
    c->feed = NULL;
    if (!c->broken)
        say_goodbye(c);
    bufferevent_free(c->bev);
    c->bev = NULL;
    h->stats.conns--;
    httpd_conn_gone(h);
    conn_unref(c);
    return x;
}

void conn_close(struct conn *c) {
    conn_destroy(c);
}

void conn_lost(struct conn *c) {
    struct exchange *x = conn_destroy(c);
    if (x)
        exchange_over(x);
}

void conn_reset(struct conn *c) {
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    c->broken = true;
    setsockopt(bufferevent_getfd(c->bev), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
}

/* All is said: closes our direction and waits for the client to close the other. */
static void conn_linger(struct conn *c) {
    if (c->eof) {
        conn_close(c);
        return;
    }
    say_goodbye(c);
    set_state(c, CONN_LINGER);
    shutdown(bufferevent_getfd(c->bev), SHUT_WR);
}

/* --- what goes out --- */

size_t conn_queued(const struct conn *c) {
    return evbuffer_get_length(output_of(c));
}

static uint64_t conn_sent(const struct conn *c) {
    return c->added - conn_queued(c);
}

static void on_stall(void *arg) {
    struct conn *c = arg;
    if (!conn_queued(c))
        return;
    if (conn_sent(c) == c->stalled_at) {
        log_debug(c->h->opts.log, "%s: closed, because it takes nothing although %zu bytes wait",
                  c->peer, conn_queued(c));
        conn_reset(c);
        conn_lost(c);
        return;
    }
    c->stalled_at = conn_sent(c);
    loop_timer_set(c->stall, c->h->opts.limits.write_timeout);
}

/* After something was put into the output, which was `before` bytes long. */
static void note_added(struct conn *c, size_t before, int r) {
    if (r < 0) /* libevent has no memory: as good as a broken connection */
        bufferevent_trigger_event(c->bev, BEV_EVENT_ERROR, BEV_TRIG_DEFER_CALLBACKS);
    c->added += conn_queued(c) - before;
    if (!loop_timer_pending(c->stall) && conn_queued(c)) {
        c->stalled_at = conn_sent(c);
        loop_timer_set(c->stall, c->h->opts.limits.write_timeout);
    }
}

void conn_add(struct conn *c, const void *p, size_t len) {
    size_t before = conn_queued(c);
    note_added(c, before, evbuffer_add(output_of(c), p, len));
}

void conn_add_ref(struct conn *c, const struct http_ref *ref) {
    size_t before = conn_queued(c);
    note_added(c, before, http_ref_add(output_of(c), ref));
}

void conn_add_head(struct conn *c, const struct http_reply *reply, int64_t length, bool gzip) {
    struct httpd *h = c->h;
    int64_t now = h->opts.date ? h->opts.date(h->opts.arg) : loop_wall(h->loop);
    if (now / USEC_PER_SEC != h->date_at) {
        h->date_at = now / USEC_PER_SEC;
        http_date(now, h->date);
    }
    c->close = c->close || reply->close || h->stopping || length == HTTP_UNFRAMED;
    str_reset(&h->scratch);
    http_reply_head(&h->scratch, reply, length, gzip, c->close, h->date);
    conn_add(c, h->scratch.p, h->scratch.len);
}

void conn_set_low(struct conn *c, size_t low) {
    bufferevent_setwatermark(c->bev, EV_WRITE, low, 0);
}

static int conn_fill(struct conn *c) {
    size_t before = conn_queued(c);
    int r = http_feed_fill(c->feed, output_of(c));
    note_added(c, before, 0);
    if (r == 0) {
        http_feed_free(c->feed);
        c->feed = NULL;
    }
    return r;
}

void conn_finish(struct conn *c, struct http_feed *feed) {
    if (c->state == CONN_BUSY)
        c->h->stats.exchanges--;
    c->x = NULL;
    c->feed = feed;
    conn_set_low(c, LOW_WATER);
    set_state(c, CONN_FLUSH);
    /* The rest happens when the socket has taken something, or soon if there is more for it. */
    if (feed || !conn_queued(c))
        bufferevent_trigger(c->bev, EV_WRITE,
                            BEV_TRIG_DEFER_CALLBACKS | BEV_TRIG_IGNORE_WATERMARKS);
}

/* Its Content-Type. */
static const char *refusal(const struct conn *c, int code, const char *why, struct str *body) {
    const struct httpd_options *o = &c->h->opts;
    if (o->refusal)
        return o->refusal(o->arg, code, why, body);
    str_addf(body, "%d %s: %s\n", code, http_reason(code), why);
    return "text/plain; charset=utf-8";
}

/* Answers in our own words, and closes. */
static void refuse(struct conn *c, int code, const char *why) {
    _cleanup_str_ struct str body = STR_INIT;
    struct http_header type = {"Content-Type", refusal(c, code, why, &body)};
    struct http_reply reply = {.code = code, .headers = &type, .n_headers = 1, .close = true};
    log_debug(c->h->opts.log, "%s: refused with %d: %s", c->peer, code, why);
    c->h->stats.refused++;
    detach(c);
    conn_add_head(c, &reply, (int64_t)body.len, false);
    conn_add(c, str_get(&body), body.len);
    conn_finish(c, NULL);
}

/* In CONN_FLUSH, when there is room in the output. */
static void flush_on(struct conn *c) {
    if (c->feed && conn_fill(c) < 0) {
        conn_reset(c);
        conn_close(c);
        return;
    }
    if (c->feed || conn_queued(c))
        return;
    if (c->close || c->h->stopping)
        conn_linger(c);
    else
        set_state(c, CONN_IDLE);
}

/* --- what comes in --- */

/* Hands the exchange to the handler. The connection may be closed after it. */
static void dispatch(struct conn *c) {
    struct httpd *h = c->h;
    set_state(c, CONN_BUSY);
    h->stats.requests++;
    h->stats.exchanges++;
    h->opts.handle(h->opts.arg, c->x);
    /* One that waited behind another may be without its client from the start. */
    if (c->bev && c->state == CONN_BUSY && c->eof)
        exchange_over(c->x);
}

static void body_too_large(struct conn *c) {
    if (!c->h->opts.handle_too_large) {
        refuse(c, 413, "the body is too large");
        return;
    }
    str_done(&c->x->body);
    c->x->too_large = true;
    c->close = true; /* the rest of the body is not read */
    dispatch(c);
}

/* These return whether the state has changed, so that there may be more to do. */

static bool read_head(struct conn *c) {
    struct evbuffer *in = input_of(c);
    size_t max = c->h->opts.limits.max_head;
    size_t len = MIN_OF(evbuffer_get_length(in), max);
    const char *p = len ? (const char *)evbuffer_pullup(in, (ssize_t)len) : NULL;
    size_t blank = p && !c->scanned ? http_head_blank(p, len) : 0;
    if (blank) {
        evbuffer_drain(in, blank);
        return true;
    }
    if (!p) {
        if (c->eof)
            conn_close(c);
        return false;
    }
    if (c->state == CONN_IDLE)
        set_state(c, CONN_HEAD);
    /* Who speaks something else may never send a line break. */
    if (p[0] != '\r' && !http_is_token(p, 1)) {
        refuse(c, 400, "this does not look like HTTP (is it TLS, on a port without it?)");
        return false;
    }
    size_t end = http_head_end(p, len, &c->scanned);
    if (!end) {
        if (len == max)
            refuse(c, 431, "the head of the request is too large");
        else if (c->eof)
            conn_close(c);
        return false;
    }
    c->scanned = 0;
    char *text = xmalloc(end + 1);
    evbuffer_remove(in, text, end);
    const char *why;
    int code = exchange_new(c, text, end, &c->x, &why);
    if (code) {
        refuse(c, code, why);
        return false;
    }
    const struct http_head *head = &c->x->head;
    c->close = c->close || head->close;
    set_state(c, CONN_BODY);
    if (head->length > (int64_t)c->h->opts.limits.max_body) {
        body_too_large(c);
        return true;
    }
    if (head->expect_continue && head->length && !evbuffer_get_length(in))
        conn_add(c, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    return true;
}

/* Counts what came of a body; false when there is no room for more of them all. */
static bool count_body(struct conn *c, size_t n) {
    c->body_held += n;
    c->h->bodies += n;
    if (c->h->bodies <= c->h->opts.limits.max_bodies)
        return true;
    refuse(c, 429, "Too many requests, please try again later.");
    return false;
}

/* Moves `n` bytes of the input to the end of the body. */
static void take_body(struct conn *c, size_t n) {
    struct str *body = &c->x->body;
    str_reserve(body, n);
    evbuffer_remove(input_of(c), body->p + body->len, n);
    body->len += n;
    body->p[body->len] = '\0';
}

static bool read_sized_body(struct conn *c) {
    size_t left = (size_t)c->x->head.length - c->x->body.len;
    size_t n = MIN_OF(left, evbuffer_get_length(input_of(c)));
    if (n)
        take_body(c, n);
    if (n && !count_body(c, n))
        return true;
    if (n == left) {
        dispatch(c);
        return true;
    }
    if (c->eof)
        conn_close(c);
    return false;
}

static bool read_chunked_body(struct conn *c) {
    struct evbuffer *in = input_of(c);
    struct evbuffer_iovec piece;
    while (evbuffer_peek(in, -1, NULL, &piece, 1) > 0 && piece.iov_len) {
        size_t used, before = c->x->body.len;
        enum http_chunk_result r = http_chunks_feed(&c->chunks, piece.iov_base, piece.iov_len,
                                                    &c->x->body, c->h->opts.limits.max_body, &used);
        evbuffer_drain(in, used);
        if (!count_body(c, c->x->body.len - before))
            return true;
        switch (r) {
        case HTTP_CHUNK_MORE:
            break;
        case HTTP_CHUNK_DONE:
            dispatch(c);
            return true;
        case HTTP_CHUNK_TOO_LARGE:
            body_too_large(c);
            return true;
        case HTTP_CHUNK_BAD:
            refuse(c, 400, "the chunks of the body are malformed");
            return true;
        }
    }
    if (c->eof)
        conn_close(c);
    return false;
}

static bool drop_input(struct conn *c) {
    c->dropped += evbuffer_get_length(input_of(c));
    evbuffer_drain(input_of(c), evbuffer_get_length(input_of(c)));
    if (c->eof || c->dropped > DROP_MAX)
        conn_close(c);
    return false;
}

static bool process_some(struct conn *c) {
    switch (c->state) {
    case CONN_HEAD:
    case CONN_IDLE:
        return read_head(c);
    case CONN_BODY:
        return c->x->head.length < 0 ? read_chunked_body(c) : read_sized_body(c);
    case CONN_LINGER:
        return drop_input(c);
    case CONN_HANDSHAKE:
    case CONN_BUSY:
    case CONN_FLUSH:
        break;
    }
    return false;
}

/* Not reading leaves the bytes with the client. */
static void update_reading(struct conn *c) {
    bool waits = c->state == CONN_BUSY || c->state == CONN_FLUSH;
    bool pause = waits && !c->eof && evbuffer_get_length(input_of(c)) >= PIPELINE_MAX;
    if (pause == c->paused)
        return;
    c->paused = pause;
    if (pause) {
        bufferevent_disable(c->bev, EV_READ);
        loop_timer_set(c->timer, LOOK_EVERY);
        return;
    }
    if (!c->eof)
        bufferevent_enable(c->bev, EV_READ);
    if (c->state == CONN_FLUSH) /* it did not come to an end by looking */
        loop_timer_set(c->timer, c->flush_by - loop_now(c->h->loop));
}

static void conn_process(struct conn *c) {
    while (c->bev && process_some(c))
        ;
    if (c->bev)
        update_reading(c);
}

/* --- events --- */

static void on_read(struct bufferevent *bev, void *arg) {
    struct conn *c = arg;
    (void)bev;
    c->refs++;
    conn_process(c);
    conn_unref(c);
}

static void on_write(struct bufferevent *bev, void *arg) {
    struct conn *c = arg;
    (void)bev;
    c->refs++;
    if (c->state == CONN_FLUSH)
        flush_on(c);
    else if (c->state == CONN_BUSY && c->x)
        exchange_drained(c->x);
    /* There may be another request already, or the end of them. */
    if (c->bev && (c->state == CONN_IDLE || c->state == CONN_LINGER))
        conn_process(c);
    conn_unref(c);
}

/* The client sends nothing more. It may still want to read. */
static void on_eof(struct conn *c) {
    c->eof = true;
    bufferevent_disable(c->bev, EV_READ);
    /* After TLS's goodbye libevent stops both directions. */
    if (conn_queued(c))
        bufferevent_enable(c->bev, EV_WRITE);
    if (c->state == CONN_HANDSHAKE)
        conn_close(c);
    else if (c->state == CONN_BUSY)
        exchange_over(c->x);
    else
        conn_process(c);
}

/* Has a client gone that is not read from? libevent's EV_CLOSED would spin after a reset, which it
 * takes for something to read. */
static void look_for_hangup(struct conn *c) {
    struct pollfd pfd = {.fd = bufferevent_getfd(c->bev), .events = POLLRDHUP};
    if (poll(&pfd, 1, 0) > 0)
        on_eof(c);
    else
        loop_timer_set(c->timer, LOOK_EVERY);
}

static void on_timer(void *arg) {
    struct conn *c = arg;
    if (c->state == CONN_FLUSH && loop_now(c->h->loop) >= c->flush_by) {
        log_debug(c->h->opts.log, "%s: closed, because it takes its reply too slowly", c->peer);
        conn_reset(c);
        conn_close(c);
        return;
    }
    if (c->state == CONN_BUSY || c->state == CONN_FLUSH) {
        c->refs++;
        look_for_hangup(c);
        conn_unref(c);
        return;
    }
    if ((c->state == CONN_HEAD && !conn_is_fresh(c)) || c->state == CONN_BODY) {
        refuse(c, 408, "the request did not come in time");
        return;
    }
    log_debug(c->h->opts.log, "%s: closed, because it was too slow (%s)", c->peer,
              state_name(c->state));
    conn_close(c);
}

/* Somebody speaks HTTP to a TLS port: he is told, in Go's words. */
static void answer_plain(struct conn *c) {
    static const char why[] = "Client sent an HTTP request to an HTTPS server.";
    const struct httpd_options *o = &c->h->opts;
    _cleanup_str_ struct str text = STR_INIT, body = STR_INIT;
    str_add(&text, "HTTP/1.0 400 Bad Request\r\nConnection: close\r\n");
    if (o->refusal)
        str_addf(&text, "Content-Type: %s\r\n", o->refusal(o->arg, 400, why, &body));
    else
        str_addf(&body, "%s\n", why);
    str_addf(&text, "\r\n%s", str_get(&body));
    char rest[4096];
    int fd = bufferevent_getfd(c->bev);
    ssize_t n = send(fd, str_get(&text), text.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    /* What is not read would become a reset that overtakes the answer. */
    for (int i = 0; n > 0 && i < 16; i++)
        n = recv(fd, rest, sizeof rest, MSG_DONTWAIT);
}

static void handshake_failed(struct conn *c) {
    bool plain = false;
    unsigned long code, last = 0;
    while ((code = bufferevent_get_openssl_error(c->bev))) {
        plain = plain || ERR_GET_REASON(code) == SSL_R_HTTP_REQUEST;
        last = ERR_GET_LIB(code) ? code : last;
    }
    if (plain)
        answer_plain(c);
    const char *reason = last ? ERR_reason_error_string(last) : NULL;
    log_debug(c->h->opts.log, "%s: no TLS handshake: %s", c->peer,
              reason ? reason : "the client went away");
}

static void on_event(struct bufferevent *bev, short what, void *arg) {
    struct conn *c = arg;
    (void)bev;
    c->refs++;
    if (what & BEV_EVENT_CONNECTED) {
        if (c->state == CONN_HANDSHAKE)
            set_state(c, CONN_HEAD);
    } else if (what & (BEV_EVENT_ERROR | BEV_EVENT_WRITING)) {
        /* After TLS's goodbye libevent takes a failed write for another end of input. */
        if (c->state == CONN_HANDSHAKE)
            handshake_failed(c);
        conn_lost(c);
    } else if (what & BEV_EVENT_EOF) {
        on_eof(c);
    }
    conn_unref(c);
}

/* --- the beginning --- */

static void tune_socket(int fd) {
    int on = 1, idle = KEEPALIVE_IDLE, interval = KEEPALIVE_INTERVAL, count = KEEPALIVE_COUNT;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

/* Callbacks are deferred: none comes from inside a call of ours. */
static struct bufferevent *open_bufferevent(struct httpd *h, int fd, SSL_CTX *tls, SSL **ssl) {
    int flags = BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS;
    struct event_base *base = loop_base(h->loop);
    if (!tls)
        return bufferevent_socket_new(base, fd, flags);
    *ssl = SSL_new(tls);
    return *ssl ? bufferevent_openssl_socket_new(base, fd, *ssl, BUFFEREVENT_SSL_ACCEPTING, flags)
                : NULL;
}

void conn_new(struct httpd *h, int fd, SSL_CTX *tls, const char *peer) {
    SSL *ssl = NULL;
    evutil_make_socket_nonblocking(fd);
    tune_socket(fd);
    struct bufferevent *bev = open_bufferevent(h, fd, tls, &ssl);
    if (!bev) {
        close(fd);
        return;
    }
    struct conn *c = xnew(struct conn);
    *c = (struct conn){.h = h, .bev = bev, .ssl = ssl, .refs = 1};
    memcpy(c->peer, peer, strlen(peer) + 1);
    c->timer = loop_timer_new(h->loop, on_timer, c);
    c->stall = loop_timer_new(h->loop, on_stall, c);
    LIST_INSERT_HEAD(&h->conns, c, link);
    crowd_join(&h->crowd, &c->member, c->peer);
    h->stats.conns++;
    h->stats.accepted++;
    bufferevent_setcb(bev, on_read, on_write, on_event, c);
    bufferevent_set_max_single_write(bev, WRITE_MAX);
    conn_set_low(c, LOW_WATER);
    bufferevent_enable(bev, EV_READ | EV_WRITE);
    set_state(c, CONN_HANDSHAKE);
    if (!tls)
        set_state(c, CONN_HEAD);
}
