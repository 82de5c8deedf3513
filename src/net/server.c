/* The HTTP/1.1 server: listening, accepting, stopping. */
#include "net/server.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <limits.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "net/server_internal.h"
#include "net/server_tls.h"

static const struct httpd_limits defaults = {
    .max_head = 64 << 10,
    .max_body = 3 << 20,
    .max_bodies = 512 << 20,
    .max_conns = 12000,
    .head_timeout = SEC(32),
    .body_timeout = SEC(60),
    .idle_timeout = SEC(90),
    .write_timeout = SEC(60),
    .reply_timeout = SEC(60),
};

/* While file descriptors are lacking. */
#define RESUME_AFTER   MSEC(250)
#define COMPLAIN_EVERY SEC(60)

/* After many connections have gone: libevent and OpenSSL free what was theirs soon after. */
#define TRIM_AFTER SEC(1)
enum { MANY = 256 };

/* --- accepting --- */

static void set_paused(struct httpd *h, bool paused) {
    struct httpd_listener *l;
    if (h->paused == paused)
        return;
    h->paused = paused;
    LIST_FOREACH(l, &h->listeners, link) {
        if (paused)
            evconnlistener_disable(l->ev);
        else
            evconnlistener_enable(l->ev);
    }
}

static bool could_go(const struct crowd_member *m) {
    return conn_is_open_ended((const struct conn *)m);
}

/* The connection that gives up its place to a new one; NULL: none does. */
static struct conn *gives_way(const struct httpd *h) {
    if (!TAILQ_EMPTY(&h->idle))
        return TAILQ_FIRST(&h->idle);
    return h->opts.crowds_give_way ? (struct conn *)crowd_pick(&h->crowd, could_go) : NULL;
}

static bool has_place(const struct httpd *h) {
    return h->stats.conns < h->opts.limits.max_conns || gives_way(h);
}

void httpd_has_room(struct httpd *h) {
    if (h->paused && !h->starved && has_place(h))
        set_paused(h, false);
}

void httpd_conn_gone(struct httpd *h) {
    h->starved = false;
    httpd_has_room(h);
    if (h->peak >= MANY && h->stats.conns < h->peak / 2 && !loop_timer_pending(h->trim_timer))
        loop_timer_set(h->trim_timer, TRIM_AFTER);
    if (h->stopping && LIST_EMPTY(&h->conns))
        loop_timer_set(h->stop_timer, 0);
}

/* Of thousands of small blocks malloc() gives little back by itself. While connections still go,
 * and once after that, it is done again: the last of them may be scattered over all pages. */
static void on_trim(void *arg) {
    struct httpd *h = arg;
    malloc_trim(0);
    if (h->trimmed != h->stats.conns) {
        h->trimmed = h->stats.conns;
        loop_timer_set(h->trim_timer, TRIM_AFTER);
        return;
    }
    h->peak = h->stats.conns;
    h->trimmed = UINT_MAX;
}

static void on_resume(void *arg) {
    struct httpd *h = arg;
    h->starved = false;
    httpd_has_room(h);
}

static void on_accept(struct evconnlistener *ev, evutil_socket_t fd, struct sockaddr *sa, int len,
                      void *arg) {
    struct httpd_listener *l = arg;
    struct httpd *h = l->h;
    char peer[HTTP_ADDR_LEN];
    (void)ev;
    (void)len;
    struct conn *old = h->stats.conns >= h->opts.limits.max_conns ? gives_way(h) : NULL;
    if (old)
        conn_close(old);
    conn_new(h, fd, l->tls, http_addr_format(sa, peer));
    h->peak = MAX_OF(h->peak, h->stats.conns);
    if (!has_place(h))
        set_paused(h, true);
}

/* Mostly EMFILE: the connection stays in the queue, and accept() would fail again at once. */
static void on_accept_error(struct evconnlistener *ev, void *arg) {
    int code = errno;
    struct httpd_listener *l = arg;
    struct httpd *h = l->h;
    int64_t now = loop_now(h->loop);
    (void)ev;
    if (!h->complained || now - h->complained > COMPLAIN_EVERY) {
        bool files = code == EMFILE || code == ENFILE;
        log_warn(h->opts.log, "%s: cannot accept connections, will go on trying: %s%s", l->address,
                 strerror(code), files ? "; raise the limit of open files (ulimit -n)" : "");
        h->complained = now;
    }
    if (!TAILQ_EMPTY(&h->idle))
        conn_close(TAILQ_FIRST(&h->idle));
    h->starved = true;
    set_paused(h, true);
    loop_timer_set(h->resume_timer, RESUME_AFTER);
}

static void listener_free(struct httpd_listener *l) {
    LIST_REMOVE(l, link);
    evconnlistener_free(l->ev);
    SSL_CTX_free(l->tls);
    free(l);
}

int httpd_listen(struct httpd *h, const char *address, const struct httpd_tls *tls,
                 struct httpd_listener **out, struct err *err) {
    SSL_CTX *ctx = NULL;
    int r = tls ? http_tls_new(tls, &ctx, err) : 0;
    if (r < 0)
        return err_wrap(err, "cannot listen on %s", address);
    int fd = http_addr_listen(address, err);
    if (fd < 0) {
        SSL_CTX_free(ctx);
        return fd;
    }
    struct sockaddr_storage sa = {0};
    socklen_t len = sizeof sa;
    struct httpd_listener *l = xnew(struct httpd_listener);
    l->h = h;
    l->tls = ctx;
    getsockname(fd, (struct sockaddr *)&sa, &len);
    l->port = http_addr_port((struct sockaddr *)&sa);
    http_addr_format((struct sockaddr *)&sa, l->address);
    unsigned flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC;
    if (h->paused)
        flags |= LEV_OPT_DISABLED;
    l->ev = evconnlistener_new(loop_base(h->loop), on_accept, l, flags, 0, fd);
    if (!l->ev) {
        close(fd);
        SSL_CTX_free(ctx);
        free(l);
        return err_set(err, ENOMEM, "cannot listen on %s: the event loop refuses it", address);
    }
    evconnlistener_set_error_cb(l->ev, on_accept_error);
    LIST_INSERT_HEAD(&h->listeners, l, link);
    if (out)
        *out = l;
    return 0;
}

int httpd_listener_renew(struct httpd_listener *l, const struct httpd_tls *tls, struct err *err) {
    SSL_CTX *ctx = NULL;
    if (!l->tls)
        return err_set(err, EINVAL, "%s is no address of HTTPS", l->address);
    int r = http_tls_new(tls, &ctx, err);
    if (r < 0)
        return r;
    SSL_CTX_free(l->tls); /* connections hold it as long as they need it */
    l->tls = ctx;
    return 0;
}

int httpd_listener_port(const struct httpd_listener *l) {
    return l->port;
}

const char *httpd_listener_address(const struct httpd_listener *l) {
    return l->address;
}

void httpd_adopt(struct httpd *h, int fd, struct httpd_listener *l) {
    struct sockaddr_storage sa = {0};
    socklen_t len = sizeof sa;
    char peer[HTTP_ADDR_LEN];
    getpeername(fd, (struct sockaddr *)&sa, &len);
    conn_new(h, fd, l ? l->tls : NULL, http_addr_format((struct sockaddr *)&sa, peer));
}

/* --- beginning and end --- */

static void on_stop(void *arg) {
    struct httpd *h = arg;
    struct conn *c;
    h->refs++;
    while ((c = LIST_FIRST(&h->conns)))
        conn_lost(c); /* its owner may do anything, also free us */
    if (!h->freed) {
        loop_timer_stop(h->stop_timer);
        h->stopped(h->stopped_arg);
    }
    httpd_unref(h);
}

int httpd_new(struct loop *loop, const struct httpd_options *opts, struct httpd **out,
              struct err *err) {
    if (!loop_base(loop))
        return err_set(err, ENOTSUP, "a virtual loop cannot serve HTTP: it has no sockets");
    struct httpd *h = xnew(struct httpd);
    h->loop = loop;
    h->opts = *opts;
    struct httpd_limits *l = &h->opts.limits;
#define DEFAULT(member) l->member = l->member ? l->member : defaults.member
    DEFAULT(max_head);
    DEFAULT(max_body);
    DEFAULT(max_conns);
    DEFAULT(head_timeout);
    DEFAULT(body_timeout);
    DEFAULT(idle_timeout);
    DEFAULT(write_timeout);
    DEFAULT(max_bodies);
    DEFAULT(reply_timeout);
#undef DEFAULT
    h->refs = 1;
    h->date_at = -1;
    LIST_INIT(&h->listeners);
    LIST_INIT(&h->conns);
    TAILQ_INIT(&h->idle);
    crowd_init(&h->crowd);
    h->resume_timer = loop_timer_new(loop, on_resume, h);
    h->stop_timer = loop_timer_new(loop, on_stop, h);
    h->trim_timer = loop_timer_new(loop, on_trim, h);
    h->trimmed = UINT_MAX;
    *out = h;
    return 0;
}

void httpd_stop(struct httpd *h, int64_t grace, loop_fn *done, void *arg) {
    bool first = !h->stopping;
    h->stopping = true;
    h->stopped = done;
    h->stopped_arg = arg;
    while (!LIST_EMPTY(&h->listeners))
        listener_free(LIST_FIRST(&h->listeners));
    for (struct conn *c = LIST_FIRST(&h->conns), *next; c; c = next) {
        next = LIST_NEXT(c, link);
        if (conn_is_fresh(c))
            conn_close(c);
    }
    if (LIST_EMPTY(&h->conns))
        grace = 0;
    if (first || !loop_timer_pending(h->stop_timer) || grace < loop_timer_left(h->stop_timer))
        loop_timer_set(h->stop_timer, grace);
}

void httpd_unref(struct httpd *h) {
    if (--h->refs == 0) {
        crowd_done(&h->crowd);
        str_done(&h->scratch);
        free(h);
    }
}

void httpd_free(struct httpd *h) {
    if (!h)
        return;
    h->freed = true;
    h->stopping = false;
    while (!LIST_EMPTY(&h->listeners))
        listener_free(LIST_FIRST(&h->listeners));
    while (!LIST_EMPTY(&h->conns))
        conn_close(LIST_FIRST(&h->conns));
    loop_timer_free(h->resume_timer);
    loop_timer_free(h->stop_timer);
    loop_timer_free(h->trim_timer);
    h->resume_timer = h->stop_timer = h->trim_timer = NULL;
    httpd_unref(h);
}

struct httpd_stats httpd_stats(const struct httpd *h) {
    return h->stats;
}
