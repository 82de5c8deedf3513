/* Tests of net/server_conn.c: what clients send, in every way and up to every point. */
#include "server_site.h"

#include "base/prng.h"

/* --- good requests --- */

static void test_one_after_the_other(void **state) {
    struct site *s = *state;
    site_open(s, NULL);
    struct peer *p = peer_new(s);
    peer_ask(p, GET("/a"), 200, "/a");
    peer_ask(p, GET("/b?c=d"), 200, "/b?c=d");
    peer_ask(p, "DELETE /c HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", 200, "/c");
    peer_ask(p, "x-ODD~1 /d HTTP/1.1\r\nhost:a\r\n\r\n", 200, "/d");
    assert_string_equal(str_get(&s->log), "GET /a []\nGET /b?c=d []\nDELETE /c [hello]\n"
                                          "x-ODD~1 /d []\n");
    struct httpd_stats stats = httpd_stats(s->h);
    assert_int_equal(stats.accepted, 1);
    assert_int_equal(stats.requests, 4);
    assert_int_equal(stats.conns, 1);
    assert_int_equal(stats.exchanges, 0);
    peer_free(p);
    site_until(s, httpd_stats(s->h).conns == 0);
}

static void test_tls(void **state) {
    struct site *s = *state;
    site_open(s, NULL);
    struct peer *p = peer_new_tls(s);
    peer_ask(p, GET("/a"), 200, "/a");
    peer_ask(p, "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi", 200, "/b");
    assert_string_equal(str_get(&s->log), "GET /a []\nPOST /b [hi]\n");
    assert_true(SSL_version(p->ssl) >= TLS1_2_VERSION);
    peer_free(p);
    site_until(s, httpd_stats(s->h).conns == 0);
}

static const char several[] =
    "\r\n\r\nGET /1 HTTP/1.1\r\nHost: a\r\n\r\n"
    "POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody"
    "PUT /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    "4;ext=1\r\nchun\r\n03\r\nked\r\n0\r\nTrailer: x\r\n\r\n"
    "\r\nGET /4 HTTP/1.1\nHost: a\n\n"
    "PATCH /5 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
static const char several_log[] =
    "GET /1 []\nPOST /2 [body]\nPUT /3 [chunked]\nGET /4 []\nPATCH /5 []\n";

static void check_several(struct site *s, struct peer *p) {
    struct answer a = {0};
    for (int i = 1; i <= 5; i++) {
        char want[3] = {'/', (char)('0' + i), 0};
        peer_answer(p, &a);
        assert_int_equal(a.code, 200);
        assert_string_equal(str_get(&a.body), want);
        assert_true(answer_has(&a, "Connection", i == 5 ? "close" : NULL));
    }
    peer_gone(p);
    assert_true(p->eof);
    assert_int_equal(p->in.len, 0);
    assert_string_equal(str_get(&s->log), several_log);
    str_reset(&s->log);
    answer_done(&a);
    peer_free(p);
}

static void test_pipelined(void **state) {
    struct site *s = *state;
    site_open(s, NULL);
    struct peer *p = peer_new(s);
    peer_puts(p, several);
    check_several(s, p);
    p = peer_new_tls(s);
    peer_puts(p, several);
    check_several(s, p);
}

static void test_byte_by_byte(void **state) {
    struct site *s = *state;
    site_open(s, NULL);
    for (int tls = 0; tls < 2; tls++) {
        struct peer *p = tls ? peer_new_tls(s) : peer_new(s);
        if (tls)
            site_until(s, p->shaken);
        for (const char *c = several; *c; c++) {
            peer_send(p, c, 1);
            site_turn(s);
        }
        check_several(s, p);
    }
}

static void test_random_pieces(void **state) {
    struct site *s = *state;
    site_open(s, NULL);
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct prng rng = {seed};
        struct peer *p = peer_new(s);
        for (const char *c = several, *end = several + sizeof several - 1; c < end;) {
            int64_t n = prng_range(&rng, 1, MIN_OF(end - c, 60) + 1);
            peer_send(p, c, (size_t)n);
            site_turn(s);
            c += n;
        }
        check_several(s, p);
    }
}

/* Pipelined requests wait while one is being answered, however many they are, and in order. */
static void test_pipelined_behind_a_slow_one(void **state) {
    enum { N = 5000 };
    struct site *s = *state;
    site_open(s, NULL);
    struct peer *p = peer_new(s);
    peer_puts(p, GET("/hold"));
    for (int i = 0; i < N; i++)
        peer_puts(p, "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 64\r\n\r\n"
                     "0123456789012345678901234567890123456789012345678901234567890123");
    site_until(s, s->held.len == 1);
    site_turn(s);
    assert_int_equal(httpd_stats(s->h).requests, 1);
    struct exchange *x = site_take(s);
    site_say(x, 200, "first");
    peer_ask(p, NULL, 200, "first");
    for (int i = 0; i < N; i++)
        peer_ask(p, NULL, 200, "/x");
    assert_int_equal(httpd_stats(s->h).requests, N + 1);
    peer_free(p);
}

/* A client that has sent more than is buffered is not read any more, and yet is seen to go. */
static void test_goes_away_behind_a_slow_one(void **state) {
    struct site *s = *state;
    site_open(s, NULL);
    for (int reset = 0; reset < 2; reset++) {
        struct peer *p = peer_new(s);
        _cleanup_free_ char *much = xcalloc(1, 120000);
        memset(much, 'x', 120000);
        peer_puts(p, GET("/hold"));
        peer_puts(p, "POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
        peer_send(p, much, 120000);
        site_until(s, s->held.len == 1 && !p->out.len);
        struct exchange *x = site_take(s);
        site_turn(s);
        assert_true(exchange_open(x));
        if (reset)
            peer_kill(p);
        else
            peer_free(p);
        site_until(s, !exchange_open(x));
        exchange_abort(x);
        site_until(s, httpd_stats(s->h).conns == 0);
    }
    assert_string_equal(str_get(&s->log), "GET /hold []\nGET /hold []\n");
}

static void test_expect_continue(void **state) {
    struct site *s = *state;
    site_open(s, NULL);
    struct peer *p = peer_new(s);
    struct answer a = {0};
    peer_puts(p,
              "POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    peer_answer(p, &a);
    assert_int_equal(a.code, 100);
    peer_ask(p, "abc", 200, "/a");
    /* Whoever sends the body at once is not told to. */
    peer_ask(p,
             "POST /b HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 3\r\n\r\nabc",
             200, "/b");
    /* Nothing to wait for. */
    peer_ask(p, "GET /c HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n", 200, "/c");
    /* Too large: refused before the body comes. */
    peer_ask(p,
             "POST /d HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: "
             "3145729\r\n\r\n",
             413, NULL);
    peer_gone(p);
    assert_true(p->eof);
    answer_done(&a);
    peer_free(p);
}

static void test_http10(void **state) {
    struct site *s = *state;
    site_open(s, NULL);
    struct peer *p = peer_new(s);
    peer_ask(p, "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 200, "/a");
    peer_gone(p);
    assert_true(p->eof);
    peer_free(p);
}

/* A client may close its direction after the request, as `... | nc` does, and gets the reply. */
static void test_half_closed(void **state) {
    struct site *s = *state;
    site_open(s, NULL);
    for (int tls = 0; tls < 2; tls++) {
        struct peer *p = tls ? peer_new_tls(s) : peer_new(s);
        if (tls)
            site_until(s, p->shaken);
        peer_puts(p, GET("/1") GET("/2"));
        peer_shut(p);
        peer_ask(p, NULL, 200, "/1");
        peer_ask(p, NULL, 200, "/2");
        peer_gone(p);
        assert_true(p->eof);
        peer_free(p);
        /* The same when the reply takes its time. */
        p = tls ? peer_new_tls(s) : peer_new(s);
        if (tls)
            site_until(s, p->shaken);
        peer_puts(p, GET("/hold"));
        peer_shut(p);
        site_until(s, s->held.len == 1 && !exchange_open(s->held.p[0]));
        site_say(site_take(s), 200, "late");
        peer_ask(p, NULL, 200, "late");
        peer_gone(p);
        assert_true(p->eof);
        peer_free(p);
    }
}

/* --- bad requests --- */

static const struct {
    const char *bytes;
    int code;
} bad[] = {
    {"\r\n\r\n\r", 0}, /* not even one yet */
    {"GET\r\n\r\n", 400},
    {"GET /\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\n\r\n", 400},
    {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
    {"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400},
    {"GET / http/1.1\r\nHost: a\r\n\r\n", 400},
    {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
    {"GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
    {"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400},
    {"GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
    {"G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n", 400},
    {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400},
    {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
    {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\na", 400},
    {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400},
    {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3145729\r\n\r\n", 413},
    {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
    {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
    {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400},
    {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\nab", 400},
    {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab", 400},
    {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n300001\r\n", 413},
    {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", 413},
    {"POST / HTTP/1.1\r\nHost: a\r\nExpect: a pony\r\nContent-Length: 1\r\n\r\n", 417},
    {"\x16\x03\x01", 400}, /* TLS */
    {"\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
};

static void test_malformed(void **state) {
    struct site *s = *state;
    uint64_t refused = 0;
    site_open(s, NULL);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        for (int tls = 0; tls < 2; tls++) {
            struct peer *p = tls ? peer_new_tls(s) : peer_new(s);
            peer_puts(p, bad[i].bytes);
            if (!bad[i].code) {
                site_until(s, !p->out.len);
                site_turn(s);
                assert_int_equal(p->in.len, 0);
                peer_free(p);
                continue;
            }
            struct answer a = {0};
            peer_answer(p, &a);
            if (a.code != bad[i].code)
                print_error("%s", bad[i].bytes);
            assert_int_equal(a.code, bad[i].code);
            assert_true(answer_has(&a, "Connection", "close"));
            assert_true(answer_has(&a, "Content-Type", "text/plain; charset=utf-8"));
            assert_true(a.body.len > 10);
            peer_gone(p);
            assert_true(p->eof);
            assert_int_equal(httpd_stats(s->h).refused, ++refused);
            answer_done(&a);
            peer_free(p);
        }
    }
    assert_string_equal(str_get(&s->log), "");
    site_until(s, httpd_stats(s->h).conns == 0);
}

static void test_giant_heads(void **state) {
    struct site *s = *state;
    site_open(s, &(struct httpd_options){.limits.max_head = 10000});
    _cleanup_str_ struct str head = STR_INIT;
    /* Just within the limit, and one byte more. */
    for (size_t more = 0; more < 2; more++) {
        struct peer *p = peer_new(s);
        str_reset(&head);
        str_add(&head, "GET /a HTTP/1.1\r\nHost: a\r\nX: ");
        while (head.len < 10000 - 4 + more)
            str_addc(&head, 'y');
        str_add(&head, "\r\n\r\n");
        peer_ask(p, str_get(&head), more ? 431 : 200, NULL);
        peer_free(p);
    }
    /* One that never ends: no more than the limit is kept of it, and the reply arrives although
     * the client is still sending. */
    struct peer *p = peer_new(s);
    str_reset(&head);
    while (head.len < 1 << 20)
        str_add(&head, "GET/");
    peer_ask(p, str_get(&head), 431, NULL);
    peer_gone(p);
    peer_free(p);
    /* Many small ones. */
    p = peer_new(s);
    str_reset(&head);
    str_add(&head, "GET /b HTTP/1.1\r\nHost: a\r\n");
    for (int i = 0; i < 300; i++)
        str_addf(&head, "h%d: x\r\n", i);
    str_add(&head, "\r\n");
    peer_ask(p, str_get(&head), 431, NULL);
    peer_free(p);
    assert_string_equal(str_get(&s->log), "GET /a []\n");
}

static void test_large_bodies(void **state) {
    struct site *s = *state;
    site_open(s, &(struct httpd_options){.limits.max_body = 500000});
    _cleanup_str_ struct str body = STR_INIT;
    while (body.len < 600000)
        str_add(&body, "0123456789");
    for (int chunked = 0; chunked < 2; chunked++)
        for (int tls = 0; tls < 2; tls++) {
            struct peer *p = tls ? peer_new_tls(s) : peer_new(s);
            peer_puts(p, "POST /a HTTP/1.1\r\nHost: a\r\n");
            peer_puts(p, chunked ? "Transfer-Encoding: chunked\r\n\r\n7A120\r\n"
                                 : "Content-Length: 500000\r\n\r\n");
            peer_send(p, body.p, 500000);
            if (chunked)
                peer_puts(p, "\r\n0\r\n\r\n");
            peer_ask(p, NULL, 200, "/a");
            /* A byte too many. */
            peer_puts(p, "POST /a HTTP/1.1\r\nHost: a\r\n");
            peer_puts(p, chunked ? "Transfer-Encoding: chunked\r\n\r\n7A120\r\n"
                                 : "Content-Length: 500001\r\n\r\n");
            peer_send(p, body.p, 500000);
            if (chunked)
                peer_puts(p, "\r\n1\r\nx\r\n0\r\n\r\n");
            peer_ask(p, NULL, 413, NULL);
            peer_gone(p);
            peer_free(p);
        }
    assert_int_equal(httpd_stats(s->h).requests, 4);
}

static void say_too_large(void *arg, struct exchange *x) {
    (void)arg;
    assert_true(exchange_too_large(x));
    assert_int_equal(exchange_body(x).len, 0);
    assert_string_equal(exchange_path(x), "/a");
    site_say(x, 413, "in my own words");
}

static void test_too_large_is_the_handlers(void **state) {
    struct site *s = *state;
    site_open(s, &(struct httpd_options){.limits.max_body = 10, .handle_too_large = true});
    s->handle = say_too_large;
    static const char *const requests[] = {
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n01234567890",
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n",
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n123456\r\n5\r\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        struct peer *p = peer_new(s);
        struct answer a = {0};
        peer_puts(p, requests[i]);
        peer_answer(p, &a);
        assert_int_equal(a.code, 413);
        assert_string_equal(str_get(&a.body), "in my own words");
        assert_true(answer_has(&a, "Connection", "close"));
        peer_gone(p);
        assert_true(p->eof);
        answer_done(&a);
        peer_free(p);
    }
}

/* --- clients that go away --- */

/* After every single byte of a request, in order or by a reset. */
static void test_early_close(void **state) {
    struct site *s = *state;
    uint64_t accepted = 0;
    site_open(s, NULL);
    for (int tls = 0; tls < 2; tls++)
        for (int hard = 0; hard < 2; hard++)
            for (size_t n = 0; n < sizeof several; n += tls ? 7 : 1) {
                struct peer *p = tls ? peer_new_tls(s) : peer_new(s);
                peer_send(p, several, n);
                if (tls && n % 2)
                    site_until(s, p->shaken);
                if (hard)
                    peer_kill(p);
                else
                    peer_free(p);
                accepted++;
                site_until(s,
                           httpd_stats(s->h).conns == 0 && httpd_stats(s->h).accepted == accepted);
            }
    assert_int_equal(httpd_stats(s->h).exchanges, 0);
}

/* Of a TLS handshake every prefix, and every byte of it changed. */
static void test_broken_handshakes(void **state) {
    struct site *s = *state;
    site_open(s, NULL);
    /* What a client says first. */
    SSL *ssl = SSL_new(s->client_tls);
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl, in, out);
    SSL_set_connect_state(ssl);
    SSL_do_handshake(ssl);
    char hello[4096];
    int len = BIO_read(out, hello, sizeof hello);
    assert_true(len > 100);
    uint64_t accepted = 0;
    for (int at = 0; at < len; at++) {
        struct peer *p = peer_of_fd(s, dial(httpd_listener_port(s->tls), 0));
        peer_send(p, hello, (size_t)at);
        peer_shut(p);
        peer_gone(p);
        peer_free(p);
        p = peer_of_fd(s, dial(httpd_listener_port(s->tls), 0));
        hello[at] ^= (char)0xff;
        peer_send(p, hello, (size_t)len);
        hello[at] ^= (char)0xff;
        peer_shut(p);
        peer_gone(p);
        peer_free(p);
        accepted += 2;
    }
    site_until(s, httpd_stats(s->h).conns == 0);
    assert_int_equal(httpd_stats(s->h).accepted, accepted);
    /* It still serves. */
    struct peer *p = peer_new_tls(s);
    peer_ask(p, GET("/a"), 200, "/a");
    peer_free(p);
    SSL_free(ssl);
}

static void test_plain_to_the_tls_port(void **state) {
    struct site *s = *state;
    site_open(s, NULL);
    struct peer *p = peer_of_fd(s, dial(httpd_listener_port(s->tls), 0));
    peer_puts(p, GET("/a"));
    peer_gone(p);
    assert_true(p->eof);
    /* Go's server says the same (net/http/server.go, badRequestError of a tls.RecordHeaderError).
     */
    assert_true(str_starts(str_get(&p->in), "HTTP/1.0 400 Bad Request\r\n"));
    assert_true(
        str_ends(str_get(&p->in), "\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"));
    peer_free(p);
}

/* --- clients that are slow --- */

static void test_timeouts(void **state) {
    struct site *s = *state;
    struct httpd_limits limits = {
        .head_timeout = SEC(1), .body_timeout = MSEC(1500), .idle_timeout = SEC(2)};
    site_open(s, &(struct httpd_options){.limits = limits});
    enum { NO_TLS, TLS, SILENT_TLS };
    static const struct {
        const char *sent;
        int64_t least;
        int tls;
        bool told;
    } cases[] = {
        {"", SEC(1), NO_TLS, false},
        {"", SEC(1), TLS, false},
        {"", SEC(1), SILENT_TLS, false}, /* no handshake */
        {"GET", SEC(1), NO_TLS, true},
        {"GET", SEC(1), TLS, true},
        {"\r\n\r\n", SEC(1), NO_TLS, false},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx", MSEC(1500), NO_TLS, true},
        {GET("/"), SEC(2), NO_TLS, false},
        {GET("/"), SEC(2), TLS, false},
        {GET("/") "GET", SEC(1), NO_TLS, true},
    };
    struct peer *p[ARRAY_LEN(cases)];
    int64_t start = loop_now(s->loop);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        p[i] = cases[i].tls == NO_TLS ? peer_new(s)
               : cases[i].tls == TLS  ? peer_new_tls(s)
                                      : peer_of_fd(s, dial(httpd_listener_port(s->tls), 0));
        peer_puts(p[i], cases[i].sent);
    }
    /* Those that wait least come first: nobody is closed before its time. */
    for (int64_t wait = SEC(1); wait <= SEC(2); wait += MSEC(500))
        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
            if (cases[i].least == wait) {
                peer_gone(p[i]);
                assert_true(loop_now(s->loop) - start >= wait);
                assert_int_equal(strstr(str_get(&p[i]->in), " 408 Request Timeout") != NULL,
                                 cases[i].told);
                peer_free(p[i]);
            }
}

/* One byte after the other does not keep a head alive. */
static void on_drip(void *arg) {
    struct peer *p = arg;
    peer_send(p, "x", 1);
}

static void test_slowloris(void **state) {
    struct site *s = *state;
    site_open(s, &(struct httpd_options){.limits.head_timeout = MSEC(100)});
    struct peer *p = peer_new(s);
    struct loop_timer *drip = loop_timer_new(s->loop, on_drip, p);
    while (!strstr(str_get(&p->in), " 408 ")) {
        loop_timer_set(drip, MSEC(10));
        site_until(s, !loop_timer_pending(drip) || p->in.len);
    }
    loop_timer_free(drip);
    peer_free(p);
}

/* A reply that nobody reads is given up; one that is read slowly is not. */
static void test_write_timeout(void **state) {
    struct site *s = *state;
    site_open(s, &(struct httpd_options){.limits.write_timeout = MSEC(100)});
    for (int tls = 0; tls < 2; tls++) {
        struct peer *p = tls ? peer_new_tls(s) : peer_new_narrow(s);
        if (tls)
            site_until(s, p->shaken);
        peer_puts(p, GET("/hold"));
        site_until(s, s->held.len == 1);
        peer_pause(p);
        size_t len = 32 << 20;
        char *body = xcalloc(1, len);
        struct http_reply reply = {.code = 200};
        int64_t start = loop_now(s->loop);
        exchange_reply_ref(site_take(s), &reply, &(struct http_ref){body, len, free, body});
        site_until(s, httpd_stats(s->h).conns == 0);
        assert_true(loop_now(s->loop) - start >= MSEC(100));
        peer_resume(p);
        peer_gone(p);
        assert_true(p->reset);
        assert_true(p->in.len < len);
        peer_free(p);
    }
}

static void on_sip(void *arg) {
    struct peer *p = arg;
    char buf[65536];
    ssize_t n = recv(p->fd, buf, sizeof buf, 0);
    if (n > 0)
        str_addn(&p->in, buf, (size_t)n);
    p->eof = n == 0;
}

static void test_slow_reader(void **state) {
    struct site *s = *state;
    site_open(s, &(struct httpd_options){.limits.write_timeout = SEC(1)});
    struct peer *p = peer_new_narrow(s);
    peer_puts(p, "GET /hold HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    site_until(s, s->held.len == 1);
    peer_pause(p);
    size_t len = 8 << 20;
    char *body = xcalloc(1, len);
    struct http_reply reply = {.code = 200};
    int64_t start = loop_now(s->loop);
    exchange_reply_ref(site_take(s), &reply, &(struct http_ref){body, len, free, body});
    struct loop_timer *sip = loop_timer_new(s->loop, on_sip, p);
    while (loop_now(s->loop) - start < MSEC(2500)) {
        loop_timer_set(sip, MSEC(10));
        site_until(s, !loop_timer_pending(sip));
    }
    loop_timer_free(sip);
    assert_false(p->eof);
    peer_resume(p);
    peer_gone(p);
    assert_true(p->eof && p->in.len > len);
    peer_free(p);
}

/* A byte now and then does not keep a whole reply in memory for ever. */
static void test_reply_timeout(void **state) {
    struct site *s = *state;
    site_open(s, &(struct httpd_options){
                     .limits = {.write_timeout = SEC(20), .reply_timeout = MSEC(300)}});
    struct peer *p = peer_new_narrow(s);
    peer_puts(p, GET("/hold"));
    site_until(s, s->held.len == 1);
    peer_pause(p);
    size_t len = 64 << 20;
    char *body = xcalloc(1, len);
    struct http_reply reply = {.code = 200};
    int64_t start = loop_now(s->loop);
    exchange_reply_ref(site_take(s), &reply, &(struct http_ref){body, len, free, body});
    struct loop_timer *sip = loop_timer_new(s->loop, on_sip, p);
    while (httpd_stats(s->h).conns) {
        loop_timer_set(sip, MSEC(10));
        site_until(s, !loop_timer_pending(sip));
    }
    loop_timer_free(sip);
    assert_true(loop_now(s->loop) - start >= MSEC(300));
    assert_true(p->in.len < len);
    peer_free(p);
    /* One that is taken in time leaves nothing behind that could hit the next one. */
    struct peer *q = peer_new(s);
    peer_ask(q, GET("/a"), 200, "/a");
    start = loop_now(s->loop);
    site_until(s, loop_now(s->loop) - start > MSEC(500));
    peer_ask(q, GET("/b"), 200, "/b");
    peer_free(q);
}

/* The bodies of all requests together have a limit, whether they are ever complete or not. */
static void test_many_bodies(void **state) {
    struct site *s = *state;
    site_open(s, &(struct httpd_options){.limits.max_bodies = 1000});
    static char bytes[1000];
    memset(bytes, 'x', sizeof bytes);
    struct peer *first = peer_new(s), *gone = peer_new(s), *second = peer_new(s);
    peer_puts(first, "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 700\r\n\r\n");
    peer_send(first, bytes, 600);
    peer_puts(gone, "POST /g HTTP/1.1\r\nHost: a\r\nContent-Length: 700\r\n\r\n");
    peer_send(gone, bytes, 300);
    site_until(s, httpd_stats(s->h).conns == 3);
    for (int i = 0; i < 20; i++)
        site_turn(s);
    peer_kill(gone); /* it frees what it had */
    site_until(s, httpd_stats(s->h).conns == 2);
    peer_puts(second, "POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n12c\r\n");
    peer_send(second, bytes, 300);
    peer_puts(second, "\r\n");
    for (int i = 0; i < 20; i++)
        site_turn(s);
    assert_int_equal(second->in.len, 0);
    peer_puts(second, "12c\r\n");
    peer_send(second, bytes, 300);
    peer_ask(second, NULL, 429, NULL);
    peer_gone(second);
    peer_send(first, bytes, 100);
    peer_ask(first, NULL, 200, "/a");
    for (int i = 0; i < 3; i++) { /* one after the other there is room for any number */
        peer_puts(first, "POST /c HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n");
        peer_send(first, bytes, 900);
        peer_ask(first, NULL, 200, "/c");
    }
    peer_free(first);
    peer_free(second);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SITE_TEST(test_one_after_the_other),
        SITE_TEST(test_tls),
        SITE_TEST(test_pipelined),
        SITE_TEST(test_byte_by_byte),
        SITE_TEST(test_random_pieces),
        SITE_TEST(test_pipelined_behind_a_slow_one),
        SITE_TEST(test_goes_away_behind_a_slow_one),
        SITE_TEST(test_expect_continue),
        SITE_TEST(test_http10),
        SITE_TEST(test_half_closed),
        SITE_TEST(test_malformed),
        SITE_TEST(test_giant_heads),
        SITE_TEST(test_large_bodies),
        SITE_TEST(test_too_large_is_the_handlers),
        SITE_TEST(test_early_close),
        SITE_TEST(test_broken_handshakes),
        SITE_TEST(test_plain_to_the_tls_port),
        SITE_TEST(test_timeouts),
        SITE_TEST(test_slowloris),
        SITE_TEST(test_write_timeout),
        SITE_TEST(test_slow_reader),
        SITE_TEST(test_reply_timeout),
        SITE_TEST(test_many_bodies),
    };
    return cmocka_run_group_tests_name("server_conn", tests, NULL, NULL);
}
