/* For tests of net/server: a server and raw clients on one loop.
 *
 * Nothing sleeps. A test says what it waits for, and the loop turns until that is so; after half a
 * minute the test fails. Clients read as soon as something comes, unless they are told not to. */
#ifndef NET_SERVER_SITE_H
#define NET_SERVER_SITE_H

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "net/selfsigned.h"
#include "net/server.h"

struct site {
    struct loop *loop;
    struct httpd *h;
    struct httpd_listener *plain, *tls;
    struct selfsigned certs;
    SSL_CTX *client_tls;
    int fds;                     /* open before the site was */
    bool gave_up;                /* waited in vain */
    struct str log;              /* "METHOD target [body]\n" of each request */
    VEC(struct exchange *) held; /* those that site_handle() keeps: its path begins with /hold */
    httpd_fn *handle;            /* in place of the default; arg is the site */
    void *arg;                   /* the test's own */
};

static inline int open_fds(void) {
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* --- the loop --- */

static inline void site_give_up(void *arg) {
    ((struct site *)arg)->gave_up = true;
}

/* Runs the loop until `condition` is true. */
#define site_until(site, condition)                                                                \
    do {                                                                                           \
        struct loop_timer *guard_ = loop_timer_new((site)->loop, site_give_up, (site));            \
        loop_timer_set(guard_, SEC(30));                                                           \
        while (!(condition) && !(site)->gave_up)                                                   \
            event_base_loop(loop_base((site)->loop), EVLOOP_ONCE);                                 \
        loop_timer_free(guard_);                                                                   \
        if ((site)->gave_up)                                                                       \
            fail_msg("%s:%d: waited in vain for %s", __FILE__, __LINE__, #condition);              \
    } while (0)

/* Runs what is there to do, without waiting for anything. */
static inline void site_turn(struct site *s) {
    for (int i = 0; i < 20; i++)
        event_base_loop(loop_base(s->loop), EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

/* --- the server --- */

static inline void site_say(struct exchange *x, int code, const char *text) {
    struct http_header type = {"Content-Type", "text/plain"};
    struct http_reply reply = {.code = code, .headers = &type, .n_headers = 1};
    exchange_reply(x, &reply, text, strlen(text));
}

static inline void site_handle(void *arg, struct exchange *x) {
    struct site *s = arg;
    struct view body = exchange_body(x);
    str_addf(&s->log, "%s %s [%.*s]\n", exchange_method(x), exchange_target(x),
             (int)MIN_OF(body.len, (size_t)40), body.p);
    if (s->handle)
        s->handle(s, x);
    else if (str_starts(exchange_path(x), "/hold"))
        *vec_push(&s->held) = x;
    else
        site_say(x, 200, exchange_target(x));
}

static inline void site_open(struct site *s, const struct httpd_options *given) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct httpd_options opts = given ? *given : (struct httpd_options){0};
    opts.handle = site_handle;
    opts.arg = s;
    assert_int_equal(httpd_new(s->loop, &opts, &s->h, NULL), 0);
    assert_int_equal(httpd_listen(s->h, "127.0.0.1:0", NULL, &s->plain, &err), 0);
    struct httpd_tls tls = {s->certs.cert, s->certs.key};
    assert_int_equal(httpd_listen(s->h, "127.0.0.1:0", &tls, &s->tls, &err), 0);
}

static inline int site_setup(void **state) {
    struct site *s = xnew(struct site);
    signal(SIGPIPE, SIG_IGN); /* as the program does */
    s->fds = open_fds();
    if (loop_new(&s->loop, NULL) < 0)
        return -1;
    if (selfsigned_make("test", NULL, loop_wall(s->loop), &s->certs, NULL) < 0)
        return -1;
    s->client_tls = SSL_CTX_new(TLS_client_method());
    *state = s;
    return 0;
}

/* Nothing may be left: no descriptor, no exchange that the test has not given up. */
static inline int site_teardown(void **state) {
    struct site *s = *state;
    httpd_free(s->h);
    for (size_t i = 0; i < s->held.len; i++)
        exchange_abort(s->held.p[i]);
    vec_done(&s->held);
    loop_free(s->loop);
    SSL_CTX_free(s->client_tls);
    selfsigned_done(&s->certs);
    str_done(&s->log);
    int left = open_fds() - s->fds;
    if (left)
        fprintf(stderr, "%d descriptors were left open\n", left);
    free(s);
    return left ? -1 : 0;
}

#define SITE_TEST(f) cmocka_unit_test_setup_teardown(f, site_setup, site_teardown)

/* Takes a held exchange, the oldest first. */
static inline struct exchange *site_take(struct site *s) {
    assert_true(s->held.len > 0);
    struct exchange *x = s->held.p[0];
    memmove(s->held.p, s->held.p + 1, --s->held.len * sizeof *s->held.p);
    return x;
}

/* --- a client --- */

struct peer {
    struct site *site;
    int fd;
    SSL *ssl;
    struct event *read_event, *write_event;
    struct str in, out;
    bool shaken; /* hands, of TLS */
    bool eof, reset;
};

static inline void peer_flush(struct peer *p) {
    while (p->out.len && !p->reset && (!p->ssl || p->shaken)) {
        ssize_t n = p->ssl ? SSL_write(p->ssl, p->out.p, (int)p->out.len)
                           : send(p->fd, p->out.p, p->out.len, MSG_NOSIGNAL);
        if (n <= 0) {
            bool again =
                p->ssl ? SSL_get_error(p->ssl, (int)n) == SSL_ERROR_WANT_WRITE : errno == EAGAIN;
            p->reset = !again;
            if (again)
                event_add(p->write_event, NULL);
            return;
        }
        str_drop(&p->out, (size_t)n);
    }
}

static inline void peer_on_write(evutil_socket_t fd, short what, void *arg) {
    (void)fd;
    (void)what;
    peer_flush(arg);
}

static inline void peer_shake(struct peer *p) {
    int r = SSL_do_handshake(p->ssl);
    if (r == 1) {
        p->shaken = true;
        peer_flush(p);
        return;
    }
    int e = SSL_get_error(p->ssl, r);
    if (e == SSL_ERROR_WANT_WRITE)
        event_add(p->write_event, NULL);
    else if (e != SSL_ERROR_WANT_READ)
        p->reset = true;
}

static inline void peer_on_read(evutil_socket_t fd, short what, void *arg) {
    struct peer *p = arg;
    char buf[16384];
    (void)fd;
    (void)what;
    ERR_clear_error();
    if (p->ssl && !p->shaken)
        peer_shake(p);
    while (!p->eof && !p->reset && (!p->ssl || p->shaken)) {
        ssize_t n = p->ssl ? SSL_read(p->ssl, buf, sizeof buf) : recv(p->fd, buf, sizeof buf, 0);
        if (n > 0) {
            str_addn(&p->in, buf, (size_t)n);
            continue;
        }
        if (p->ssl) {
            int e = SSL_get_error(p->ssl, (int)n);
            p->eof = e == SSL_ERROR_ZERO_RETURN;
            p->reset = !p->eof && e != SSL_ERROR_WANT_READ;
        } else {
            p->eof = n == 0;
            p->reset = n < 0 && errno != EAGAIN;
        }
        break;
    }
    if (p->eof || p->reset)
        event_del(p->read_event);
}

static inline void peer_pause(struct peer *p) {
    event_del(p->read_event);
}

static inline void peer_resume(struct peer *p) {
    event_add(p->read_event, NULL);
    event_active(p->read_event, EV_READ, 0);
}

static inline struct peer *peer_of_fd(struct site *s, int fd) {
    struct peer *p = xnew(struct peer);
    p->site = s;
    p->fd = fd;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    p->read_event = event_new(loop_base(s->loop), fd, EV_READ | EV_PERSIST, peer_on_read, p);
    p->write_event = event_new(loop_base(s->loop), fd, EV_WRITE, peer_on_write, p);
    event_add(p->read_event, NULL);
    return p;
}

/* `from`: one of the machine's addresses, NULL: any. */
static inline int dial_from(const char *from, int port, int rcvbuf) {
    struct sockaddr_in sa = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (rcvbuf)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rcvbuf, sizeof rcvbuf);
    if (from) {
        struct sockaddr_in own = {.sin_family = AF_INET};
        assert_int_equal(inet_pton(AF_INET, from, &own.sin_addr), 1);
        assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof own), 0);
    }
    assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof sa), 0);
    return fd;
}

static inline int dial(int port, int rcvbuf) {
    return dial_from(NULL, port, rcvbuf);
}

static inline struct peer *peer_new(struct site *s) {
    return peer_of_fd(s, dial(httpd_listener_port(s->plain), 0));
}

static inline struct peer *peer_from(struct site *s, const char *address) {
    return peer_of_fd(s, dial_from(address, httpd_listener_port(s->plain), 0));
}

/* With a small window, so that the server soon notices that nothing is read. */
static inline struct peer *peer_new_narrow(struct site *s) {
    return peer_of_fd(s, dial(httpd_listener_port(s->plain), 4096));
}

static inline void peer_tls(struct peer *p) {
    p->ssl = SSL_new(p->site->client_tls);
    SSL_set_fd(p->ssl, p->fd);
    SSL_set_connect_state(p->ssl);
    SSL_set_mode(p->ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    peer_shake(p);
}

static inline struct peer *peer_new_tls(struct site *s) {
    struct peer *p = peer_of_fd(s, dial(httpd_listener_port(s->tls), 0));
    peer_tls(p);
    return p;
}

static inline void peer_send(struct peer *p, const void *bytes, size_t len) {
    str_addn(&p->out, bytes, len);
    peer_flush(p);
}

static inline void peer_puts(struct peer *p, const char *text) {
    peer_send(p, text, strlen(text));
}

static inline void peer_free(struct peer *p) {
    event_free(p->read_event);
    event_free(p->write_event);
    SSL_free(p->ssl);
    close(p->fd);
    str_done(&p->in);
    str_done(&p->out);
    free(p);
}

/* Closes by a reset. */
static inline void peer_kill(struct peer *p) {
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    peer_free(p);
}

/* Sends nothing more, but reads on. */
static inline void peer_shut(struct peer *p) {
    if (p->ssl)
        SSL_shutdown(p->ssl);
    else
        shutdown(p->fd, SHUT_WR);
}

/* --- replies --- */

struct answer {
    int code;
    char *head;      /* without the empty line */
    struct str body; /* its chunks put together */
    int chunks;      /* not counting the last one; -1: not chunked */
};

static inline void answer_done(struct answer *a) {
    mem_clear(&a->head);
    str_done(&a->body);
}

/* The value of a header (copied), or NULL. */
static inline char *answer_header(const struct answer *a, const char *name) {
    size_t n = strlen(name);
    for (const char *p = strstr(a->head, "\r\n"); p; p = strstr(p, "\r\n")) {
        p += 2;
        if (!strncasecmp(p, name, n) && p[n] == ':') {
            p += n + 1 + strspn(p + n + 1, " ");
            return xstrndup(p, strcspn(p, "\r"));
        }
    }
    return NULL;
}

static inline bool answer_has(const struct answer *a, const char *name, const char *value) {
    _cleanup_free_ char *got = answer_header(a, name);
    return value ? got && streq(got, value) : !got;
}

/* The length of the chunks at p up to and with the last one, or 0. */
static inline size_t unchunk(const char *p, size_t len, struct answer *a) {
    const char *at = p, *end = p + len;
    assert_non_null(p);
    for (;;) {
        const char *nl = at && at < end ? memmem(at, (size_t)(end - at), "\r\n", 2) : NULL;
        if (!nl)
            return 0;
        size_t n = strtoul(at, NULL, 16);
        at = nl + 2;
        if ((size_t)(end - at) < n + 2)
            return 0;
        assert_memory_equal(at + n, "\r\n", 2);
        if (n == 0)
            return (size_t)(at + 2 - p);
        str_addn(&a->body, at, n);
        a->chunks++;
        at += n + 2;
    }
}

/* Takes one whole reply out of what came in, if it is there. `head_only`: to a HEAD request. */
static inline bool peer_take(struct peer *p, struct answer *a, bool head_only) {
    const char *in = str_get(&p->in);
    const char *end = strstr(in, "\r\n\r\n");
    if (!end)
        return false;
    answer_done(a);
    size_t head = (size_t)(end - in) + 4, used = head, left = p->in.len - head;
    *a = (struct answer){.head = xstrndup(in, head - 4), .chunks = -1};
    assert_int_equal(sscanf(in, "HTTP/1.1 %d ", &a->code), 1);
    _cleanup_free_ char *length = answer_header(a, "Content-Length");
    bool chunked = answer_has(a, "Transfer-Encoding", "chunked");
    assert_false(length && chunked);
    if (head_only || a->code == 204 || a->code == 304 || a->code == 100) {
    } else if (length) {
        size_t n = strtoul(length, NULL, 10);
        if (left < n)
            return false;
        str_addn(&a->body, in + head, n);
        used += n;
    } else if (chunked) {
        a->chunks = 0;
        /* Taking a long one apart again and again would be slow. */
        if (left > 100000 && !p->eof && memcmp(in + p->in.len - 5, "0\r\n\r\n", 5) != 0)
            return false;
        size_t n = unchunk(in + head, left, a);
        if (!n)
            return false;
        used += n;
    } else {
        if (!p->eof)
            return false;
        str_addn(&a->body, in + head, left);
        used += left;
    }
    str_drop(&p->in, used);
    return true;
}

/* Waits for a whole reply. */
static inline void peer_answer(struct peer *p, struct answer *a) {
    site_until(p->site, peer_take(p, a, false) || p->eof || p->reset);
    if (!a->head)
        fail_msg("no reply; what came is: %s", str_get(&p->in));
}

/* Sends a request and expects this reply. */
static inline void peer_ask(struct peer *p, const char *request, int code, const char *body) {
    struct answer a = {0};
    if (request)
        peer_puts(p, request);
    peer_answer(p, &a);
    assert_int_equal(a.code, code);
    if (body)
        assert_string_equal(str_get(&a.body), body);
    answer_done(&a);
}

static inline void peer_gone(struct peer *p) {
    site_until(p->site, p->eof || p->reset);
}

#define GET(target) "GET " target " HTTP/1.1\r\nHost: a\r\n\r\n"

#endif
