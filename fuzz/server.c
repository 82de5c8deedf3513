/* Bytes that a client sends to the HTTP server: whatever they are, the server answers in replies
 * that are whole and ends the connection; how they are cut into pieces makes no difference; and
 * nothing is left behind.
 *
 * The first byte of an input says how the rest is cut. */
#include "net/server.h"

#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/timefmt.h"
#include "base/vec.h"
#include "fuzz.h"

/* Small, so that a fuzzer reaches them. */
static const struct httpd_limits limits = {.max_head = 600, .max_body = 300, .max_conns = 4};

struct run {
    struct loop *loop;
    struct httpd *h;
    struct loop_timer *later;
    VEC(struct exchange *) held;
};

static ssize_t pull(void *arg, void *buf, size_t cap) {
    size_t *left = arg, n = MIN_OF(cap, MIN_OF(*left, (size_t)100));
    memset(buf, 'p', n);
    *left -= n;
    return (ssize_t)n;
}

/* What the server understood, so that two runs can be compared. */
static void describe(const struct exchange *x, struct str *out) {
    size_t n;
    struct view body = exchange_body(x);
    const struct http_header *headers = exchange_headers(x, &n);
    str_addf(out, "%s %s %s %s %d\n", exchange_method(x), exchange_target(x), exchange_path(x),
             exchange_query(x), exchange_too_large(x));
    for (size_t i = 0; i < n; i++) {
        FUZZ_CHECK(exchange_header(x, headers[i].name));
        str_addf(out, "%s: %s\n", headers[i].name, headers[i].value);
    }
    FUZZ_CHECK(body.len <= limits.max_body && body.p[body.len] == '\0');
    FUZZ_CHECK(*exchange_path(x) == '/' || streq(exchange_path(x), "*"));
    str_addn(out, body.p, body.len);
}

static void answer(struct exchange *x, char how) {
    struct http_header type = {"Content-Type", "text/plain"};
    struct http_reply reply = {.code = 200, .headers = &type, .n_headers = 1};
    _cleanup_str_ struct str text = STR_INIT;
    size_t *left;
    describe(x, &text);
    switch (how) {
    case 's': /* a stream */
        exchange_begin(x, &reply);
        exchange_write(x, text.p, text.len);
        exchange_write(x, "end", 3);
        exchange_end(x);
        break;
    case 'p': /* pulled, of known or unknown length */
        left = xmalloc(sizeof *left);
        *left = text.len * 3;
        exchange_reply_pull(
            x, &reply, &(struct http_source){text.len % 2 ? (int64_t)*left : -1, pull, free, left});
        break;
    case 'r': /* a reference */
        exchange_reply_ref(x, &reply, &(struct http_ref){"reference", 9, NULL, NULL});
        break;
    case 'n': /* nothing in it */
        reply.code = 204;
        exchange_reply(x, &reply, NULL, 0);
        break;
    case 'c':
        reply.close = true;
        exchange_reply(x, &reply, text.p, text.len);
        break;
    case 'a':
        exchange_abort(x);
        break;
    default:
        exchange_reply(x, &reply, text.p, text.len);
    }
}

/* "/l..." is answered in another turn of the loop. */
static void handle(void *arg, struct exchange *x) {
    struct run *r = arg;
    const char *path = exchange_path(x);
    if (path[0] == '/' && path[1] == 'l') {
        *vec_push(&r->held) = x;
        loop_timer_set(r->later, 0);
    } else {
        answer(x, path[0] ? path[1] : '\0');
    }
}

static void on_later(void *arg) {
    struct run *r = arg;
    for (size_t i = 0; i < r->held.len; i++)
        answer(r->held.p[i], exchange_path(r->held.p[i])[2]);
    r->held.len = 0;
}

static void turn(struct run *r) {
    event_base_loop(loop_base(r->loop), EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

static bool receive(int fd, struct str *out) {
    char buf[4096];
    ssize_t n = recv(fd, buf, sizeof buf, MSG_DONTWAIT);
    if (n > 0)
        str_addn(out, buf, (size_t)n);
    return n > 0;
}

/* Sends it in pieces of `piece` bytes and collects the replies. */
static void converse(const char *bytes, size_t len, size_t piece, struct str *out) {
    struct run r = {0};
    int fds[2];
    FUZZ_CHECK(loop_new(&r.loop, NULL) == 0);
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    struct httpd_options opts = {
        .handle = handle, .arg = &r, .limits = limits, .handle_too_large = len % 2};
    FUZZ_CHECK(httpd_new(r.loop, &opts, &r.h, NULL) == 0);
    r.later = loop_timer_new(r.loop, on_later, &r);
    httpd_adopt(r.h, fds[0], NULL);
    for (size_t at = 0; at < len;) {
        ssize_t n = send(fds[1], bytes + at, MIN_OF(piece, len - at), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0)
            at += (size_t)n;
        else if (httpd_stats(r.h).conns == 0)
            break; /* hung up */
        turn(&r);
        receive(fds[1], out);
    }
    shutdown(fds[1], SHUT_WR);
    while (httpd_stats(r.h).conns || receive(fds[1], out)) {
        turn(&r);
        receive(fds[1], out);
    }
    FUZZ_CHECK(httpd_stats(r.h).exchanges == 0 && r.held.len == 0);
    loop_timer_free(r.later);
    httpd_free(r.h);
    loop_free(r.loop);
    close(fds[1]);
    vec_done(&r.held);
}

/* Removes every line that begins with `what`, and what follows it up to `until`. */
static void blank(struct str *s, const char *what, const char *until) {
    char *p = s->p;
    while (p && (p = memmem(p, s->len - (size_t)(p - s->p), what, strlen(what)))) {
        size_t at = (size_t)(p - s->p);
        char *end = memmem(p, s->len - at, until, strlen(until));
        size_t n = end ? (size_t)(end - p) + strlen(until) : s->len - at;
        memmove(p, p + n, s->len - at - n);
        s->len -= n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > 5000)
        return 0;
    signal(SIGPIPE, SIG_IGN);
    const char *bytes = (const char *)data + 1;
    size_t len = size - 1;
    _cleanup_str_ struct str whole = STR_INIT, pieces = STR_INIT;
    converse(bytes, len, len + 1, &whole);
    converse(bytes, len, 1 + data[0], &pieces);
    /* Whether a client must be told to go on depends on what it has sent already; times differ. */
    blank(&whole, "HTTP/1.1 100 Continue\r\n", "\r\n\r\n");
    blank(&pieces, "HTTP/1.1 100 Continue\r\n", "\r\n\r\n");
    blank(&whole, "Date: ", "\r\n");
    blank(&pieces, "Date: ", "\r\n");
    FUZZ_CHECK(whole.len == 0 || str_starts(whole.p, "HTTP/1.1 "));
    FUZZ_CHECK(whole.len == pieces.len);
    FUZZ_CHECK(whole.len == 0 || !memcmp(whole.p, pieces.p, whole.len));
    return 0;
}
