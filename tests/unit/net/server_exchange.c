/* Tests of net/server_exchange.c: replies of every kind, streams, and who lives how long. */
#include "server_site.h"

#include <sys/resource.h>
#include <zlib.h>

/* --- a handler that replies as its test wants --- */

struct plan {
    void (*reply)(struct plan *plan, struct exchange *x);
    struct http_reply head;
    struct str body;
    size_t at;              /* of a source */
    size_t piece, fails_at; /* it yields so much at once; it fails there (0: never) */
    int64_t length;         /* as announced */
    int released, drained, closed;
    struct site *site;
    struct exchange *x; /* a stream */
    void (*on_closed)(struct plan *plan);
    void (*on_drained)(struct plan *plan);
};

static void plan_handle(void *arg, struct exchange *x) {
    struct plan *plan = ((struct site *)arg)->arg;
    plan->reply(plan, x);
}

static void plan_open(struct site *s, struct plan *plan, const struct httpd_options *opts) {
    s->arg = plan;
    s->handle = plan_handle;
    plan->site = s;
    site_open(s, opts);
}

static void fill_body(struct plan *plan, size_t len) {
    str_reset(&plan->body);
    str_reserve(&plan->body, len);
    for (size_t i = 0; i < len; i++)
        plan->body.p[i] = (char)('a' + (i * 7 + i / 251 + i / 70001) % 26);
    plan->body.len = len;
    plan->length = (int64_t)len;
}

static void note_release(void *arg) {
    ((struct plan *)arg)->released++;
}

static void reply_copy(struct plan *plan, struct exchange *x) {
    exchange_reply(x, &plan->head, plan->body.p, plan->body.len);
}

static void reply_ref(struct plan *plan, struct exchange *x) {
    exchange_reply_ref(x, &plan->head,
                       &(struct http_ref){plan->body.p, plan->body.len, note_release, plan});
}

static ssize_t pull(void *arg, void *buf, size_t cap) {
    struct plan *plan = arg;
    assert_int_equal(plan->released, 0);
    assert_true(cap > 0);
    if (plan->fails_at && plan->at >= plan->fails_at)
        return -1;
    size_t n = MIN_OF(MIN_OF(cap, plan->body.len - plan->at), plan->piece);
    if (n)
        memcpy(buf, plan->body.p + plan->at, n);
    plan->at += n;
    return (ssize_t)n;
}

static void reply_pull(struct plan *plan, struct exchange *x) {
    plan->at = 0;
    plan->released = 0;
    exchange_reply_pull(x, &plan->head,
                        &(struct http_source){plan->length, pull, note_release, plan});
    /* Never from inside the call. */
    assert_int_equal(plan->at, 0);
}

static void same_body(const struct answer *a, const struct plan *plan) {
    assert_int_equal(a->body.len, plan->body.len);
    if (a->body.len)
        assert_memory_equal(a->body.p, plan->body.p, a->body.len);
}

/* --- whole replies --- */

static void test_whole(void **state) {
    struct site *s = *state;
    struct plan plan = {.head = {.code = 200}, .piece = 50000};
    static const size_t lengths[] = {0,     1,     100,    4096,   65535,   65536,
                                     65537, 70000, 524288, 600000, 3000000, 20000000};
    static void (*const replies[])(struct plan *, struct exchange *) = {reply_copy, reply_ref,
                                                                        reply_pull, reply_pull};
    plan_open(s, &plan, NULL);
    for (int tls = 0; tls < 2; tls++) {
        struct peer *p = tls ? peer_new_tls(s) : peer_new(s);
        struct answer a = {0};
        for (size_t i = 0; i < ARRAY_LEN(lengths); i++)
            for (size_t k = 0; k < ARRAY_LEN(replies); k++) {
                fill_body(&plan, lengths[i]);
                plan.released = 0;
                plan.reply = replies[k];
                if (k == 3)
                    plan.length = -1;
                peer_puts(p, GET("/"));
                peer_answer(p, &a);
                same_body(&a, &plan);
                assert_int_equal(a.chunks >= 0, k == 3);
                site_until(s, plan.released == (k > 0));
                assert_int_equal(httpd_stats(s->h).exchanges, 0);
            }
        answer_done(&a);
        peer_free(p);
    }
    str_done(&plan.body);
}

/* A source of small pieces makes no more system calls and chunks than it must, and all arrives. */
static void test_small_pieces(void **state) {
    struct site *s = *state;
    struct plan plan = {.reply = reply_pull, .head = {.code = 200}, .piece = 7};
    plan_open(s, &plan, NULL);
    fill_body(&plan, 100000);
    for (int known = 0; known < 2; known++) {
        struct peer *p = peer_new(s);
        struct answer a = {0};
        plan.length = known ? 100000 : -1;
        peer_puts(p, GET("/"));
        peer_answer(p, &a);
        same_body(&a, &plan);
        answer_done(&a);
        peer_free(p);
    }
    str_done(&plan.body);
}

static void test_a_source_that_fails(void **state) {
    struct site *s = *state;
    struct plan plan = {.reply = reply_pull, .head = {.code = 200}, .piece = 1000};
    static const struct {
        size_t len, fails_at;
        int64_t length;
    } cases[] = {
        {5000, 3000, 5000},       /* says so */
        {5000, 3000, -1},         /* the same in chunks */
        {5000, 0, 5001},          /* ends early */
        {2000000, 1500000, -1},   /* after some was sent */
        {2000000, 0, 1000000000}, /* the same */
    };
    plan_open(s, &plan, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct peer *p = peer_new(s);
        struct answer a = {0};
        fill_body(&plan, cases[i].len);
        plan.length = cases[i].length;
        plan.fails_at = cases[i].fails_at;
        peer_puts(p, GET("/"));
        peer_gone(p);
        assert_false(peer_take(p, &a, false));
        assert_int_equal(plan.released, 1);
        answer_done(&a);
        peer_free(p);
    }
    assert_int_equal(httpd_stats(s->h).conns, 0);
    str_done(&plan.body);
}

static void test_without_a_body(void **state) {
    struct site *s = *state;
    struct plan plan = {.head = {.code = 200}, .piece = 50000};
    static void (*const replies[])(struct plan *, struct exchange *) = {reply_copy, reply_ref,
                                                                        reply_pull, reply_pull};
    static const int codes[] = {200, 204, 304};
    plan_open(s, &plan, NULL);
    struct peer *p = peer_new(s);
    struct answer a = {0};
    for (size_t len = 3; len < 1000000; len += 300000)
        for (size_t c = 0; c < ARRAY_LEN(codes); c++)
            for (size_t k = 0; k < ARRAY_LEN(replies); k++) {
                fill_body(&plan, len);
                plan.head.code = codes[c];
                plan.reply = replies[k];
                plan.released = 0;
                if (k == 3)
                    plan.length = -1;
                peer_puts(p, codes[c] == 200 ? "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" : GET("/"));
                site_until(s, peer_take(p, &a, true));
                char want[24];
                snprintf(want, sizeof want, "%zu", len);
                bool counted = codes[c] == 200 && k < 3, chunked = codes[c] == 200 && k == 3;
                assert_true(answer_has(&a, "Content-Length", counted ? want : NULL));
                assert_true(answer_has(&a, "Transfer-Encoding", chunked ? "chunked" : NULL));
                assert_int_equal(plan.released, k > 0);
                site_turn(s);
                assert_int_equal(p->in.len, 0);
            }
    answer_done(&a);
    peer_free(p);
    str_done(&plan.body);
}

static void test_http10(void **state) {
    struct site *s = *state;
    struct plan plan = {.reply = reply_pull, .head = {.code = 200}, .piece = 50000};
    plan_open(s, &plan, NULL);
    fill_body(&plan, 700000);
    for (int known = 0; known < 2; known++) {
        struct peer *p = peer_new(s);
        struct answer a = {0};
        plan.length = known ? 700000 : -1;
        peer_puts(p, "GET / HTTP/1.0\r\n\r\n");
        peer_gone(p);
        assert_true(p->eof);
        assert_true(peer_take(p, &a, false));
        same_body(&a, &plan);
        assert_true(answer_has(&a, "Transfer-Encoding", NULL));
        assert_true(answer_has(&a, "Content-Length", known ? "700000" : NULL));
        answer_done(&a);
        peer_free(p);
    }
    /* A body that ends with the connection, and then is not whole: a reset, no end. */
    struct peer *p = peer_new(s);
    plan.length = -1;
    plan.fails_at = 600000;
    peer_puts(p, "GET / HTTP/1.0\r\n\r\n");
    peer_gone(p);
    assert_true(p->reset);
    peer_free(p);
    str_done(&plan.body);
}

static void gunzip(const struct str *in, struct str *out) {
    z_stream z = {0};
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    z.next_in = (unsigned char *)in->p;
    z.avail_in = (unsigned)in->len;
    int r;
    do {
        unsigned char buf[65536];
        z.next_out = buf;
        z.avail_out = sizeof buf;
        r = inflate(&z, Z_NO_FLUSH);
        assert_true(r == Z_OK || r == Z_STREAM_END);
        str_addn(out, buf, sizeof buf - z.avail_out);
    } while (r != Z_STREAM_END);
    assert_int_equal(z.avail_in, 0);
    inflateEnd(&z);
}

static void test_gzip(void **state) {
    struct site *s = *state;
    struct plan plan = {.head = {.code = 200, .gzip = true}, .piece = 50000};
    static void (*const replies[])(struct plan *, struct exchange *) = {reply_copy, reply_ref,
                                                                        reply_pull, reply_pull};
    static const size_t lengths[] = {131072, 131073, 5000000};
    plan_open(s, &plan, NULL);
    struct peer *p = peer_new(s);
    struct answer a = {0};
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++)
        for (size_t k = 0; k < ARRAY_LEN(replies); k++)
            for (int wanted = 0; wanted < 2; wanted++)
                for (int head = 0; head < 2; head++) {
                    _cleanup_str_ struct str request = STR_INIT;
                    fill_body(&plan, lengths[i]);
                    plan.reply = replies[k];
                    plan.released = 0;
                    if (k == 3)
                        plan.length = -1;
                    str_addf(&request, "%s / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: %s\r\n\r\n",
                             head ? "HEAD" : "GET", wanted ? "br, gzip" : "gzip;q=0, br");
                    peer_puts(p, str_get(&request));
                    site_until(s, peer_take(p, &a, head));
                    bool zipped = wanted && (i > 0 || k == 3);
                    assert_true(answer_has(&a, "Content-Encoding", zipped ? "gzip" : NULL));
                    assert_true(answer_has(&a, "Vary", zipped ? "Accept-Encoding" : NULL));
                    assert_true(
                        answer_has(&a, "Transfer-Encoding", zipped || k == 3 ? "chunked" : NULL));
                    if (zipped && !head) {
                        assert_true(a.body.len < lengths[i]);
                        struct str out = STR_INIT;
                        gunzip(&a.body, &out);
                        str_done(&a.body);
                        a.body = out;
                    }
                    if (!head)
                        same_body(&a, &plan);
                    site_until(s, plan.released == (k > 0));
                }
    answer_done(&a);
    peer_free(p);
    str_done(&plan.body);
}

static void reply_head_only(struct plan *plan, struct exchange *x) {
    (void)plan;
    struct http_header headers[] = {
        {"X-Good", "a\tb"},      {"X-Split", "a\r\nX-Evil: 1"},    {"X Bad", "1"},        {"", "1"},
        {"Content-Length", "5"}, {"transfer-encoding", "chunked"}, {"Retry-After", "10"},
    };
    struct http_reply reply = {
        .code = 429, .headers = headers, .n_headers = ARRAY_LEN(headers), .close = true};
    exchange_reply(x, &reply, "no", 2);
}

static void test_headers_of_a_reply(void **state) {
    struct site *s = *state;
    struct plan plan = {.reply = reply_head_only};
    plan_open(s, &plan, NULL);
    struct peer *p = peer_new(s);
    struct answer a = {0};
    peer_puts(p, GET("/"));
    peer_answer(p, &a);
    assert_true(str_starts(a.head, "HTTP/1.1 429 Too Many Requests\r\n"));
    assert_true(answer_has(&a, "X-Good", "a\tb"));
    assert_true(answer_has(&a, "X-Split", "a  X-Evil: 1"));
    assert_true(answer_has(&a, "X-Evil", NULL));
    assert_true(answer_has(&a, "X Bad", NULL));
    assert_true(answer_has(&a, "Content-Length", "2"));
    assert_true(answer_has(&a, "Transfer-Encoding", NULL));
    assert_true(answer_has(&a, "Retry-After", "10"));
    assert_true(answer_has(&a, "Connection", "close"));
    _cleanup_free_ char *date = answer_header(&a, "Date");
    int64_t usec = 0;
    assert_true(time_parse_http(date, &usec));
    assert_true(loop_wall(s->loop) - usec >= 0 && loop_wall(s->loop) - usec < SEC(60));
    peer_gone(p);
    assert_true(p->eof);
    answer_done(&a);
    peer_free(p);
}

/* --- the request --- */

static void check_request(struct plan *plan, struct exchange *x) {
    size_t n;
    (void)plan;
    assert_string_equal(exchange_method(x), "PATCH");
    assert_string_equal(exchange_target(x), "/a%20b/%C3%A9?x=%20&y");
    assert_string_equal(exchange_path(x), "/a b/\xc3\xa9");
    assert_string_equal(exchange_query(x), "x=%20&y");
    assert_string_equal(exchange_header(x, "content-TYPE"), "text/plain");
    assert_string_equal(exchange_header(x, "Accept"), "a");
    assert_string_equal(exchange_header(x, "Empty"), "");
    assert_null(exchange_header(x, "Accep"));
    const struct http_header *headers = exchange_headers(x, &n);
    assert_int_equal(n, 6);
    assert_string_equal(headers[3].name, "ACCEPT");
    assert_string_equal(headers[3].value, "b");
    struct view body = exchange_body(x);
    assert_int_equal(body.len, 3);
    assert_memory_equal(body.p, "a\0b", 4);
    assert_true(str_starts(exchange_peer(x), "127.0.0.1:"));
    assert_true(exchange_open(x));
    site_say(x, 200, "fine");
}

static void test_the_request(void **state) {
    struct site *s = *state;
    struct plan plan = {.reply = check_request};
    plan_open(s, &plan, NULL);
    struct peer *p = peer_new(s);
    static const char request[] = "PATCH http://host/a%20b/%C3%A9?x=%20&y HTTP/1.1\r\nHost: a\r\n"
                                  "Content-Type: \t text/plain  \r\nAccept:a\r\nACCEPT: b\r\n"
                                  "Empty:\r\nContent-Length: 3\r\n\r\na\0b";
    peer_send(p, request, sizeof request - 1);
    peer_ask(p, NULL, 200, "fine");
    peer_free(p);
}

/* --- streams --- */

static void plan_drained(void *arg) {
    struct plan *plan = arg;
    plan->drained++;
    if (plan->on_drained)
        plan->on_drained(plan);
}

static void plan_closed(void *arg) {
    struct plan *plan = arg;
    plan->closed++;
    if (plan->on_closed)
        plan->on_closed(plan);
}

static const struct exchange_events plan_events = {plan_drained, plan_closed, 0};

static void begin_stream(struct plan *plan, struct exchange *x) {
    struct http_header type = {"Content-Type", "application/json"};
    struct http_reply reply = {.code = 200, .headers = &type, .n_headers = 1};
    exchange_notify(x, &plan_events, plan);
    exchange_begin(x, &reply);
    plan->x = x;
}

static void test_stream(void **state) {
    struct site *s = *state;
    struct plan plan = {.reply = begin_stream};
    plan_open(s, &plan, NULL);
    for (int tls = 0; tls < 2; tls++) {
        struct peer *p = tls ? peer_new_tls(s) : peer_new(s);
        struct answer a = {0};
        peer_puts(p, GET("/watch"));
        /* The head comes at once. */
        site_until(s, strstr(str_get(&p->in), "\r\n\r\n"));
        assert_int_equal(httpd_stats(s->h).exchanges, 1);
        exchange_write(plan.x, "one", 3);
        site_until(s, str_ends(str_get(&p->in), "3\r\none\r\n"));
        exchange_write(plan.x, "", 0);
        exchange_write(plan.x, "two", 3);
        exchange_write_ref(plan.x, &(struct http_ref){"three", 5, note_release, &plan});
        exchange_write_ref(plan.x, &(struct http_ref){"", 0, note_release, &plan});
        site_until(s, str_ends(str_get(&p->in), "5\r\nthree\r\n"));
        assert_int_equal(plan.released, 2);
        assert_int_equal(exchange_queued(plan.x), 0);
        exchange_end(plan.x);
        peer_answer(p, &a);
        assert_string_equal(str_get(&a.body), "onetwothree");
        assert_int_equal(a.chunks, 3);
        assert_int_equal(httpd_stats(s->h).exchanges, 0);
        /* The connection is good for another one. */
        peer_puts(p, GET("/watch"));
        plan.x = NULL;
        site_until(s, plan.x);
        exchange_end(plan.x);
        peer_answer(p, &a);
        assert_int_equal(a.body.len, 0);
        assert_int_equal(plan.closed + plan.drained, 0);
        plan.released = 0;
        answer_done(&a);
        peer_free(p);
    }
}

static void test_stream_without_chunks(void **state) {
    struct site *s = *state;
    struct plan plan = {.reply = begin_stream};
    plan_open(s, &plan, NULL);
    /* HTTP/1.0: ends with the connection. */
    struct peer *p = peer_new(s);
    struct answer a = {0};
    peer_puts(p, "GET / HTTP/1.0\r\n\r\n");
    site_until(s, plan.x);
    exchange_write(plan.x, "one", 3);
    exchange_write(plan.x, "two", 3);
    site_until(s, str_ends(str_get(&p->in), "\r\n\r\nonetwo"));
    exchange_end(plan.x);
    peer_gone(p);
    assert_true(p->eof && peer_take(p, &a, false));
    assert_string_equal(str_get(&a.body), "onetwo");
    peer_free(p);
    /* Broken off, it does not look complete. */
    p = peer_new(s);
    plan.x = NULL;
    peer_puts(p, "GET / HTTP/1.0\r\n\r\n");
    site_until(s, plan.x);
    exchange_write(plan.x, "one", 3);
    exchange_abort(plan.x);
    peer_gone(p);
    assert_true(p->reset);
    peer_free(p);
    /* HEAD: nothing at all follows, and the connection goes on. */
    p = peer_new(s);
    plan.x = NULL;
    peer_puts(p, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    site_until(s, plan.x && peer_take(p, &a, true));
    exchange_write(plan.x, "one", 3);
    exchange_end(plan.x);
    plan.x = NULL;
    peer_puts(p, GET("/"));
    site_until(s, plan.x);
    exchange_end(plan.x);
    peer_answer(p, &a);
    assert_int_equal(a.body.len, 0);
    answer_done(&a);
    peer_free(p);
}

static void test_abort(void **state) {
    struct site *s = *state;
    struct plan plan = {.reply = begin_stream};
    plan_open(s, &plan, NULL);
    struct peer *p = peer_new(s);
    struct answer a = {0};
    peer_puts(p, GET("/"));
    site_until(s, plan.x);
    exchange_write(plan.x, "one", 3);
    site_until(s, str_ends(str_get(&p->in), "one\r\n"));
    exchange_abort(plan.x);
    peer_gone(p);
    assert_false(peer_take(p, &a, false));
    answer_done(&a);
    peer_free(p);
    /* Before anything was said. */
    s->handle = NULL;
    p = peer_new(s);
    peer_puts(p, GET("/hold"));
    site_until(s, s->held.len);
    exchange_abort(site_take(s));
    peer_gone(p);
    assert_int_equal(p->in.len, 0);
    assert_int_equal(plan.closed, 0);
    peer_free(p);
}

/* A client that does not read: its queue grows, and `drained` comes once when it has read. */
static void test_back_pressure(void **state) {
    struct site *s = *state;
    struct plan plan = {.reply = begin_stream};
    plan_open(s, &plan, NULL);
    fill_body(&plan, 100000);
    for (int tls = 0; tls < 2; tls++) {
        struct peer *p = tls ? peer_new_tls(s) : peer_new_narrow(s);
        struct answer a = {0};
        plan.x = NULL;
        peer_puts(p, GET("/"));
        site_until(s, plan.x);
        peer_pause(p);
        size_t written = 0;
        while (exchange_queued(plan.x) < 1000000) {
            exchange_write(plan.x, plan.body.p, plan.body.len);
            written += plan.body.len;
            site_turn(s);
        }
        /* At first the kernel's buffers took it all. */
        int before = plan.drained;
        site_turn(s);
        assert_int_equal(plan.drained, before);
        assert_true(exchange_open(plan.x));
        /* Others do not notice. */
        struct peer *other = peer_new(s);
        struct exchange *x = plan.x;
        plan.x = NULL;
        peer_puts(other, GET("/"));
        site_until(s, plan.x);
        exchange_write(plan.x, "hello", 5);
        site_until(s, str_ends(str_get(&other->in), "hello\r\n"));
        exchange_end(plan.x);
        peer_free(other);
        peer_resume(p);
        site_until(s, plan.drained > before);
        assert_true(exchange_queued(x) <= 64 << 10);
        site_until(s, exchange_queued(x) == 0);
        site_turn(s);
        assert_int_equal(plan.drained, before + 1);
        /* Little writes do not count. */
        exchange_write(x, "end", 3);
        site_until(s, exchange_queued(x) == 0);
        site_turn(s);
        assert_int_equal(plan.drained, before + 1);
        exchange_end(x);
        peer_answer(p, &a);
        assert_int_equal(a.body.len, written + 3);
        answer_done(&a);
        peer_free(p);
    }
    str_done(&plan.body);
}

/* A producer that writes when there is room, and only then: nothing piles up. */
enum { PRODUCED = 30 << 20, HIGH = 200000 };

static void produce(struct plan *plan) {
    while (plan->at < PRODUCED && exchange_queued(plan->x) < HIGH) {
        exchange_write(plan->x, plan->body.p, plan->body.len);
        plan->at += plan->body.len;
        assert_true(exchange_queued(plan->x) < HIGH + 2 * plan->body.len);
    }
    if (plan->at >= PRODUCED && plan->x) {
        exchange_end(plan->x);
        plan->x = NULL;
    }
}

static void begin_production(struct plan *plan, struct exchange *x) {
    begin_stream(plan, x);
    produce(plan);
}

static void test_a_polite_producer(void **state) {
    struct site *s = *state;
    struct plan plan = {.reply = begin_production, .on_drained = produce};
    plan_open(s, &plan, NULL);
    fill_body(&plan, 65536);
    for (int tls = 0; tls < 2; tls++) {
        struct peer *p = tls ? peer_new_tls(s) : peer_new(s);
        struct answer a = {0};
        plan.at = 0;
        peer_puts(p, GET("/"));
        site_until(s, str_ends(str_get(&p->in), "\r\n0\r\n\r\n"));
        assert_true(peer_take(p, &a, false));
        assert_int_equal(a.body.len, PRODUCED);
        assert_true(plan.drained > 10);
        answer_done(&a);
        peer_free(p);
    }
    str_done(&plan.body);
}

/* The low-water mark is the owner's. */
static void test_low_mark(void **state) {
    struct site *s = *state;
    static const struct exchange_events low = {plan_drained, plan_closed, 1000};
    struct plan plan = {.reply = begin_stream};
    plan_open(s, &plan, NULL);
    struct peer *p = peer_new(s);
    peer_puts(p, GET("/"));
    site_until(s, plan.x && exchange_queued(plan.x) == 0);
    exchange_notify(plan.x, &low, &plan);
    fill_body(&plan, 900);
    exchange_write(plan.x, plan.body.p, 900);
    site_until(s, exchange_queued(plan.x) == 0);
    site_turn(s);
    assert_int_equal(plan.drained, 0);
    fill_body(&plan, 2000);
    exchange_write(plan.x, plan.body.p, 2000);
    site_until(s, plan.drained == 1);
    assert_true(exchange_queued(plan.x) <= 1000);
    exchange_notify(plan.x, NULL, NULL);
    fill_body(&plan, 200000);
    exchange_write(plan.x, plan.body.p, 200000);
    site_until(s, exchange_queued(plan.x) == 0);
    assert_int_equal(plan.drained, 1);
    exchange_end(plan.x);
    peer_free(p);
    str_done(&plan.body);
}

/* --- clients that go away --- */

enum leaving { CLOSES, RESETS, SHUTS, LEAVINGS };

static void leave(struct peer *p, enum leaving how) {
    if (how == CLOSES)
        peer_free(p);
    else if (how == RESETS)
        peer_kill(p);
    else
        peer_shut(p);
}

/* Noticed on an idle stream, without a byte being written, and told once. */
static void test_closed(void **state) {
    struct site *s = *state;
    struct plan plan = {.reply = begin_stream};
    plan_open(s, &plan, NULL);
    for (int tls = 0; tls < 2; tls++)
        for (enum leaving how = CLOSES; how < LEAVINGS; how++) {
            struct peer *p = tls ? peer_new_tls(s) : peer_new(s);
            plan.x = NULL;
            plan.closed = 0;
            peer_puts(p, GET("/"));
            site_until(s, plan.x && p->in.len);
            assert_true(exchange_open(plan.x));
            leave(p, how);
            site_until(s, plan.closed == 1);
            assert_false(exchange_open(plan.x));
            /* Still ours: nothing that is done with it goes wrong. */
            int before = plan.released;
            for (int i = 0; i < 3; i++) {
                exchange_write(plan.x, "x", 1);
                exchange_write_ref(plan.x, &(struct http_ref){"x", 1, note_release, &plan});
                site_turn(s);
            }
            site_until(s, plan.released == before + 3);
            assert_int_equal(plan.closed, 1);
            assert_string_equal(exchange_path(plan.x), "/");
            exchange_end(plan.x);
            if (how == SHUTS) {
                peer_gone(p);
                assert_true(p->eof && str_ends(str_get(&p->in), "x\r\n0\r\n\r\n"));
                peer_free(p);
            }
            site_until(s, httpd_stats(s->h).conns == 0);
        }
}

/* While much is queued, too. */
static void test_closed_while_it_does_not_read(void **state) {
    struct site *s = *state;
    struct plan plan = {.reply = begin_stream};
    plan_open(s, &plan, NULL);
    fill_body(&plan, 3000000);
    for (int tls = 0; tls < 2; tls++)
        for (enum leaving how = CLOSES; how < SHUTS; how++) {
            struct peer *p = tls ? peer_new_tls(s) : peer_new_narrow(s);
            plan.x = NULL;
            plan.closed = plan.released = 0;
            peer_puts(p, GET("/"));
            site_until(s, plan.x);
            peer_pause(p);
            for (int i = 0; i < 5; i++)
                exchange_write_ref(
                    plan.x, &(struct http_ref){plan.body.p, plan.body.len, note_release, &plan});
            site_turn(s);
            leave(p, how);
            site_until(s, plan.closed == 1);
            exchange_abort(plan.x);
            site_until(s, httpd_stats(s->h).conns == 0 && plan.released == 5);
        }
    str_done(&plan.body);
}

/* Whole replies to somebody who has gone: bodies are released, nothing else happens. */
static void test_replies_to_the_gone(void **state) {
    struct site *s = *state;
    struct plan plan = {.head = {.code = 200, .gzip = true}, .piece = 1000};
    static void (*const replies[])(struct plan *, struct exchange *) = {reply_copy, reply_ref,
                                                                        reply_pull};
    plan_open(s, &plan, NULL);
    s->handle = NULL;
    fill_body(&plan, 1000000);
    for (size_t k = 0; k < ARRAY_LEN(replies); k++) {
        struct peer *p = peer_new(s);
        plan.released = 0;
        peer_puts(p, GET("/hold"));
        site_until(s, s->held.len);
        struct exchange *x = site_take(s);
        peer_kill(p);
        site_until(s, httpd_stats(s->h).conns == 0);
        assert_false(exchange_open(x));
        assert_int_equal(exchange_queued(x), 0);
        replies[k](&plan, x);
        assert_int_equal(plan.released, k > 0);
    }
    str_done(&plan.body);
}

/* Who goes in the middle of a whole reply: the body is released. */
static void test_gone_in_the_middle(void **state) {
    struct site *s = *state;
    struct plan plan = {.head = {.code = 200}, .piece = 1000};
    static void (*const replies[])(struct plan *, struct exchange *) = {reply_copy, reply_ref,
                                                                        reply_pull};
    plan_open(s, &plan, NULL);
    fill_body(&plan, 20000000);
    for (int tls = 0; tls < 2; tls++)
        for (size_t k = 0; k < ARRAY_LEN(replies); k++)
            for (enum leaving how = CLOSES; how < SHUTS; how++) {
                struct peer *p = tls ? peer_new_tls(s) : peer_new_narrow(s);
                plan.released = 0;
                plan.reply = replies[k];
                peer_puts(p, GET("/"));
                site_until(s, p->in.len > 10000);
                leave(p, how);
                site_until(s, httpd_stats(s->h).conns == 0 && plan.released == (k > 0));
            }
    str_done(&plan.body);
}

/* A request that waited behind another when the client went: told at once. */
static void test_gone_before_its_turn(void **state) {
    struct site *s = *state;
    struct plan plan = {.reply = begin_stream};
    plan_open(s, &plan, NULL);
    s->handle = NULL;
    for (int tls = 0; tls < 2; tls++) {
        struct peer *p = tls ? peer_new_tls(s) : peer_new(s);
        plan.x = NULL;
        plan.closed = 0;
        peer_puts(p, GET("/hold") GET("/watch"));
        site_until(s, s->held.len);
        peer_shut(p);
        struct exchange *x = site_take(s);
        site_until(s, !exchange_open(x));
        s->handle = plan_handle;
        site_say(x, 200, "first");
        site_until(s, plan.x && plan.closed);
        assert_string_equal(exchange_path(plan.x), "/watch");
        assert_false(exchange_open(plan.x));
        exchange_end(plan.x);
        peer_gone(p);
        assert_true(p->eof && str_ends(str_get(&p->in), "\r\n0\r\n\r\n"));
        peer_free(p);
        s->handle = NULL;
    }
}

/* Somebody who asks late is told late. */
static void test_notify_late(void **state) {
    struct site *s = *state;
    struct plan plan = {0};
    plan_open(s, &plan, NULL);
    s->handle = NULL;
    struct peer *p = peer_new(s);
    peer_puts(p, GET("/hold"));
    site_until(s, s->held.len);
    peer_free(p);
    struct exchange *x = site_take(s);
    site_until(s, !exchange_open(x));
    exchange_notify(x, &plan_events, &plan);
    assert_int_equal(plan.closed, 0);
    site_until(s, plan.closed);
    site_turn(s);
    assert_int_equal(plan.closed, 1);
    exchange_notify(x, &plan_events, &plan);
    exchange_abort(x); /* and not at all when it is given up before */
    site_turn(s);
    assert_int_equal(plan.closed, 1);
}

/* --- lifetimes --- */

static void free_server(struct plan *plan) {
    httpd_free(plan->site->h);
    plan->site->h = NULL;
}

static void free_server_in_handler(struct plan *plan, struct exchange *x) {
    free_server(plan);
    plan->x = x;
}

static void reply_then_free_server(struct plan *plan, struct exchange *x) {
    site_say(x, 200, "too late");
    free_server(plan);
}

static void test_server_freed_by_the_handler(void **state) {
    struct site *s = *state;
    for (int tls = 0; tls < 2; tls++) {
        struct plan plan = {.reply = free_server_in_handler};
        plan_open(s, &plan, NULL);
        struct peer *p = tls ? peer_new_tls(s) : peer_new(s);
        struct peer *idle = tls ? peer_new_tls(s) : peer_new(s);
        peer_puts(p, GET("/1") GET("/2"));
        peer_gone(p);
        peer_gone(idle);
        /* The exchange is still there. */
        assert_string_equal(exchange_path(plan.x), "/1");
        assert_true(str_starts(exchange_peer(plan.x), "127.0.0.1:"));
        site_say(plan.x, 200, "nobody hears this");
        peer_free(p);
        peer_free(idle);

        plan.reply = reply_then_free_server;
        plan_open(s, &plan, NULL);
        p = peer_new(s);
        peer_puts(p, GET("/1") GET("/2"));
        peer_gone(p);
        peer_free(p);
    }
}

static void test_server_freed_with_streams(void **state) {
    struct site *s = *state;
    struct plan plans[10] = {0};
    site_open(s, NULL);
    s->handle = plan_handle;
    struct peer *p[10];
    for (int i = 0; i < 10; i++) {
        plans[i] = (struct plan){.reply = begin_stream, .site = s};
        s->arg = &plans[i];
        p[i] = i % 2 ? peer_new_tls(s) : peer_new(s);
        peer_puts(p[i], GET("/"));
        site_until(s, plans[i].x);
        exchange_write_ref(plans[i].x, &(struct http_ref){"x", 1, note_release, &plans[i]});
    }
    httpd_free(s->h);
    s->h = NULL;
    for (int i = 0; i < 10; i++) {
        exchange_write(plans[i].x, "late", 4);
        assert_int_equal(exchange_queued(plans[i].x), 0);
        exchange_end(plans[i].x);
        peer_gone(p[i]);
        peer_free(p[i]);
        assert_int_equal(plans[i].closed, 0); /* httpd_free() tells nobody */
        assert_int_equal(plans[i].released, 1);
    }
}

static void end_it(struct plan *plan) {
    exchange_end(plan->x);
    plan->x = NULL;
}

static void abort_it(struct plan *plan) {
    exchange_abort(plan->x);
    plan->x = NULL;
}

static void abort_and_free_server(struct plan *plan) {
    abort_it(plan);
    free_server(plan);
}

static void free_server_and_abort(struct plan *plan) {
    free_server(plan);
    abort_it(plan);
}

/* Whatever is done in the callbacks. */
static void test_given_up_in_callbacks(void **state) {
    struct site *s = *state;
    static void (*const deeds[])(struct plan *) = {end_it, abort_it, abort_and_free_server,
                                                   free_server_and_abort};
    for (int tls = 0; tls < 2; tls++)
        for (size_t d = 0; d < ARRAY_LEN(deeds); d++) {
            for (enum leaving how = CLOSES; how < LEAVINGS; how++) {
                struct plan plan = {.reply = begin_stream, .on_closed = deeds[d]};
                plan_open(s, &plan, NULL);
                struct peer *p = tls ? peer_new_tls(s) : peer_new(s);
                peer_puts(p, GET("/"));
                site_until(s, plan.x && p->in.len);
                leave(p, how);
                site_until(s, plan.closed);
                assert_null(plan.x);
                if (how == SHUTS) {
                    peer_gone(p);
                    peer_free(p);
                }
                if (s->h)
                    site_until(s, httpd_stats(s->h).conns == 0);
                httpd_free(s->h);
            }
            struct plan plan = {.reply = begin_stream, .on_drained = deeds[d]};
            plan_open(s, &plan, NULL);
            fill_body(&plan, 2000000);
            struct peer *p = tls ? peer_new_tls(s) : peer_new(s);
            peer_puts(p, GET("/"));
            site_until(s, plan.x);
            exchange_write(plan.x, plan.body.p, plan.body.len);
            site_until(s, plan.drained);
            assert_null(plan.x);
            if (d == 0)
                site_until(s, str_ends(str_get(&p->in), "\r\n0\r\n\r\n"));
            else
                peer_gone(p);
            peer_free(p);
            httpd_free(s->h);
            s->h = NULL;
            str_done(&plan.body);
        }
}

/* --- many --- */

static void count_exchange(void *arg, struct exchange *x) {
    struct site *s = arg;
    struct http_reply reply = {.code = 200};
    exchange_notify(x, &plan_events, s->arg);
    exchange_begin(x, &reply);
    *vec_push(&s->held) = x;
}

static void test_2000_streams(void **state) {
    enum { N = 2000 };
    struct site *s = *state;
    struct plan plan = {0};
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < 2 * N + 100) {
        print_message("# skip: %ju open files are too few\n", (uintmax_t)limit.rlim_cur);
        skip();
    }
    site_open(s, NULL);
    s->handle = count_exchange;
    s->arg = &plan;
    struct peer **p = xcalloc(N, sizeof(struct peer *));
    for (int i = 0; i < N; i++) {
        p[i] = i % 10 ? peer_new(s) : peer_new_tls(s);
        peer_puts(p[i], GET("/"));
        if (i % 100 == 99)
            site_until(s, s->held.len == (size_t)i + 1);
    }
    assert_int_equal(httpd_stats(s->h).exchanges, N);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++)
            exchange_write(s->held.p[i], "event\n", 6);
        for (int i = 0; i < N; i++) {
            site_until(s, str_ends(str_get(&p[i]->in), "6\r\nevent\n\r\n"));
            str_reset(&p[i]->in);
        }
    }
    /* Half of them leave, and the others do not notice. */
    for (int i = 0; i < N; i += 2) {
        peer_free(p[i]);
        p[i] = NULL;
    }
    site_until(s, plan.closed == N / 2);
    int open = 0;
    for (int i = 0; i < N; i++)
        open += exchange_open(s->held.p[i]);
    assert_int_equal(open, N / 2);
    while (s->held.len)
        exchange_end(site_take(s));
    for (int i = 1; i < N; i += 2) {
        site_until(s, str_ends(str_get(&p[i]->in), "0\r\n\r\n"));
        peer_free(p[i]);
    }
    site_until(s, httpd_stats(s->h).conns == 0);
    assert_int_equal(plan.closed, N / 2);
    free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SITE_TEST(test_whole),
        SITE_TEST(test_small_pieces),
        SITE_TEST(test_a_source_that_fails),
        SITE_TEST(test_without_a_body),
        SITE_TEST(test_http10),
        SITE_TEST(test_gzip),
        SITE_TEST(test_headers_of_a_reply),
        SITE_TEST(test_the_request),
        SITE_TEST(test_stream),
        SITE_TEST(test_stream_without_chunks),
        SITE_TEST(test_abort),
        SITE_TEST(test_back_pressure),
        SITE_TEST(test_a_polite_producer),
        SITE_TEST(test_low_mark),
        SITE_TEST(test_closed),
        SITE_TEST(test_closed_while_it_does_not_read),
        SITE_TEST(test_replies_to_the_gone),
        SITE_TEST(test_gone_in_the_middle),
        SITE_TEST(test_gone_before_its_turn),
        SITE_TEST(test_notify_late),
        SITE_TEST(test_server_freed_by_the_handler),
        SITE_TEST(test_server_freed_with_streams),
        SITE_TEST(test_given_up_in_callbacks),
        SITE_TEST(test_2000_streams),
    };
    return cmocka_run_group_tests_name("server_exchange", tests, NULL, NULL);
}
