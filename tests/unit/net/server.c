/* Tests of net/server.c: listening, places for connections, stopping. */
#include "server_site.h"

#include <sys/resource.h>

/* --- listening --- */

static void test_refuses_a_virtual_loop(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    struct loop *loop = loop_new_virtual(0);
    struct httpd *h = NULL;
    assert_int_equal(httpd_new(loop, &(struct httpd_options){0}, &h, &err), -ENOTSUP);
    assert_null(h);
    loop_free(loop);
}

static void test_what_cannot_be_listened_on(void **state) {
    struct site *s = *state;
    site_open(s, NULL);
    char taken[64], want[300];
    snprintf(taken, sizeof taken, "127.0.0.1:%d", httpd_listener_port(s->plain));
    snprintf(want, sizeof want,
             "cannot listen on %s: the port is in use by another program (`ss -ltnp 'sport = :%d'` "
             "shows which); stop it or choose another port",
             taken, httpd_listener_port(s->plain));
    const struct {
        const char *address;
        struct httpd_tls tls;
        int code;
        const char *msg;
    } cases[] = {
        {taken, {0}, EADDRINUSE, want},
        {"203.0.113.1:0", /* TEST-NET-3 of RFC 5737: nobody has it */
         {0},
         EADDRNOTAVAIL,
         "cannot listen on 203.0.113.1:0: this machine does not have that address (`ip address` "
         "shows those it has)"},
        {"localhost:80",
         {0},
         EINVAL,
         "\"localhost:80\" is no address to listen on: write ADDRESS:PORT as in 127.0.0.1:6443 or "
         "[::1]:6443, or :6443 for all addresses"},
        {"127.0.0.1:0",
         {"nonsense", s->certs.key},
         EINVAL,
         "cannot listen on 127.0.0.1:0: the server's certificate is no certificate in PEM"},
        {"127.0.0.1:0",
         {s->certs.cert, "nonsense"},
         EINVAL,
         "cannot listen on 127.0.0.1:0: the server's private key is no private key in PEM"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        struct httpd_listener *l = NULL;
        const struct httpd_tls *tls = cases[i].tls.cert ? &cases[i].tls : NULL;
        assert_int_equal(httpd_listen(s->h, cases[i].address, tls, &l, &err), -cases[i].code);
        assert_string_equal(err_msg(&err), cases[i].msg);
        assert_null(l);
    }
}

static void test_addresses(void **state) {
    struct site *s = *state;
    site_open(s, NULL);
    char want[64];
    assert_true(httpd_listener_port(s->plain) > 0);
    snprintf(want, sizeof want, "127.0.0.1:%d", httpd_listener_port(s->plain));
    assert_string_equal(httpd_listener_address(s->plain), want);
    /* All addresses at once: IPv4 arrives there too, and reads as IPv4. */
    struct httpd_listener *l;
    assert_int_equal(httpd_listen(s->h, ":0", NULL, &l, NULL), 0);
    struct peer *p = peer_of_fd(s, dial(httpd_listener_port(l), 0));
    peer_puts(p, GET("/hold"));
    site_until(s, s->held.len);
    assert_true(str_starts(exchange_peer(s->held.p[0]), "127.0.0.1:"));
    site_say(site_take(s), 200, "x");
    peer_ask(p, NULL, 200, "x");
    peer_free(p);
}

static void test_ipv6(void **state) {
    struct site *s = *state;
    site_open(s, NULL);
    struct httpd_listener *l;
    if (httpd_listen(s->h, "[::1]:0", NULL, &l, NULL) < 0) {
        print_message("# skip: this machine has no IPv6\n");
        skip();
    }
    assert_true(str_starts(httpd_listener_address(l), "[::1]:"));
    struct sockaddr_in6 sa = {.sin6_family = AF_INET6,
                              .sin6_port = htons((uint16_t)httpd_listener_port(l)),
                              .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof sa), 0);
    struct peer *p = peer_of_fd(s, fd);
    peer_puts(p, GET("/hold"));
    site_until(s, s->held.len);
    assert_true(str_starts(exchange_peer(s->held.p[0]), "[::1]:"));
    site_say(site_take(s), 200, "x");
    peer_ask(p, NULL, 200, "x");
    peer_free(p);
}

static void say_two(void *arg, struct exchange *x) {
    (void)arg;
    site_say(x, 200, "two");
}

/* Several servers with handlers of their own, on one loop. */
static void test_two_servers(void **state) {
    struct site *s = *state;
    struct httpd *two;
    struct httpd_listener *l;
    site_open(s, NULL);
    httpd_new(s->loop, &(struct httpd_options){.handle = say_two}, &two, NULL);
    assert_int_equal(httpd_listen(two, "127.0.0.1:0", NULL, &l, NULL), 0);
    struct peer *a = peer_new(s), *b = peer_of_fd(s, dial(httpd_listener_port(l), 0));
    peer_ask(a, GET("/one"), 200, "/one");
    peer_ask(b, GET("/one"), 200, "two");
    httpd_free(two);
    peer_gone(b);
    peer_ask(a, GET("/still"), 200, "/still");
    peer_free(a);
    peer_free(b);
}

static void test_adopted(void **state) {
    struct site *s = *state;
    int fds[2];
    site_open(s, NULL);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    httpd_adopt(s->h, fds[0], NULL);
    struct peer *p = peer_of_fd(s, fds[1]);
    peer_puts(p, GET("/hold"));
    site_until(s, s->held.len);
    assert_string_equal(exchange_peer(s->held.p[0]), "");
    site_say(site_take(s), 200, "x");
    peer_ask(p, NULL, 200, "x");
    peer_free(p);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    httpd_adopt(s->h, fds[0], s->tls);
    p = peer_of_fd(s, fds[1]);
    peer_tls(p);
    peer_ask(p, GET("/a"), 200, "/a");
    peer_free(p);
}

/* --- places --- */

static int count_gone(struct peer **p, int n) {
    int gone = 0;
    for (int i = 0; i < n; i++)
        gone += p[i]->eof;
    return gone;
}

/* Beyond the limit clients wait, and come in as others leave. */
static void test_full(void **state) {
    struct site *s = *state;
    site_open(s, &(struct httpd_options){.limits.max_conns = 5});
    struct peer *p[8];
    for (int i = 0; i < 8; i++) {
        p[i] = peer_new(s);
        peer_puts(p[i], GET("/hold"));
    }
    site_until(s, s->held.len == 5);
    site_turn(s);
    assert_int_equal(httpd_stats(s->h).conns, 5);
    assert_int_equal(s->held.len, 5);
    /* A reply makes its connection idle: it gives up its place to the next. */
    for (int i = 0; i < 2; i++) {
        site_say(site_take(s), 200, "done");
        site_until(s, httpd_stats(s->h).requests == (uint64_t)(6 + i));
        assert_true(httpd_stats(s->h).conns <= 5);
    }
    /* A client that leaves does too. */
    site_until(s, count_gone(p, 8) == 2);
    exchange_abort(site_take(s));
    site_until(s, httpd_stats(s->h).requests == 8);
    while (s->held.len)
        site_say(site_take(s), 200, "done");
    for (int i = 0; i < 8; i++)
        peer_free(p[i]);
    site_until(s, httpd_stats(s->h).conns == 0);
}

/* Of idle connections the longest idle one goes first; those that are busy never. */
static void test_idle_ones_make_room(void **state) {
    struct site *s = *state;
    site_open(s, &(struct httpd_options){.limits.max_conns = 4});
    struct peer *p[6];
    for (int i = 0; i < 4; i++) {
        p[i] = peer_new(s);
        peer_ask(p[i], i == 2 ? GET("/first") : GET("/a"), 200, NULL);
    }
    peer_ask(p[0], GET("/again"), 200, "/again"); /* 1 is the longest idle now */
    peer_puts(p[1], GET("/hold"));                /* and 2 when 1 is busy */
    site_until(s, s->held.len == 1);
    p[4] = peer_new(s);
    peer_ask(p[4], GET("/b"), 200, "/b");
    site_until(s, p[2]->eof);
    p[5] = peer_new(s);
    peer_ask(p[5], GET("/c"), 200, "/c");
    site_until(s, p[3]->eof);
    assert_false(p[0]->eof || p[1]->eof || p[4]->eof);
    site_say(site_take(s), 200, "done");
    peer_ask(p[1], NULL, 200, "done");
    peer_ask(p[0], GET("/alive"), 200, "/alive");
    for (int i = 0; i < 6; i++)
        peer_free(p[i]);
}

/* One address has all places and never ends its requests; those from another one are answered. */
static void test_a_crowd_gives_way(void **state) {
    enum { PLACES = 5 };
    struct site *s = *state;
    site_open(s, &(struct httpd_options){.limits.max_conns = PLACES, .crowds_give_way = true});
    struct peer *slow[PLACES], *good = peer_new(s), *held;
    peer_ask(good, GET("/a"), 200, "/a");
    peer_free(good);
    held = peer_new(s); /* with the handler: it stays, though it came first */
    peer_puts(held, GET("/hold"));
    site_until(s, s->held.len == 1);
    for (int i = 0; i < PLACES; i++) {
        slow[i] = peer_new(s);
        peer_puts(slow[i], "GET / HTTP/1.1\r\nX");
        site_until(s, httpd_stats(s->h).accepted == (uint64_t)(3 + i));
    }
    site_until(s, slow[0]->eof); /* the fifth has come, and the first one has gone */
    good = peer_from(s, "127.0.0.2");
    peer_ask(good, GET("/b"), 200, "/b");
    site_until(s, slow[1]->eof);
    assert_false(slow[2]->eof || slow[3]->eof || slow[4]->eof || held->eof);
    site_say(site_take(s), 200, "done");
    peer_ask(held, NULL, 200, "done");
    peer_free(good);
    peer_free(held);
    for (int i = 0; i < PLACES; i++)
        peer_free(slow[i]);
}

/* Without descriptors it waits instead of spinning, says so once, and goes on when it can. */
static void test_no_descriptors(void **state) {
    struct site *s = *state;
    struct rlimit old, few;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    struct log log = {.level = LOG_WARN, .fd = fds[1]};
    site_open(s, &(struct httpd_options){.log = &log});
    struct peer *busy = peer_new(s);
    peer_puts(busy, GET("/hold"));
    site_until(s, s->held.len == 1);
    struct peer *waiting[3];
    for (int i = 0; i < 3; i++) {
        waiting[i] = peer_new(s);
        peer_puts(waiting[i], GET("/late"));
    }
    getrlimit(RLIMIT_NOFILE, &old);
    few = old;
    few.rlim_cur = 3; /* nothing new; what is open stays open */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    /* Turns of the loop while half a second passes: a server that spins makes thousands. */
    int turns = 0;
    int64_t end = loop_now(s->loop) + MSEC(600);
    struct loop_timer *tick = loop_timer_new(s->loop, site_give_up, s);
    loop_timer_set(tick, MSEC(600));
    while (loop_now(s->loop) < end) {
        event_base_loop(loop_base(s->loop), EVLOOP_ONCE);
        turns++;
    }
    loop_timer_free(tick);
    s->gave_up = false;
    assert_true(turns < 20);
    assert_int_equal(httpd_stats(s->h).accepted, 1);
    setrlimit(RLIMIT_NOFILE, &old);
    for (int i = 0; i < 3; i++) {
        peer_ask(waiting[i], NULL, 200, "/late");
        peer_free(waiting[i]);
    }
    char said[2000];
    ssize_t n = read(fds[0], said, sizeof said - 1);
    assert_true(n > 0);
    said[n] = '\0';
    assert_non_null(strstr(said, "cannot accept connections, will go on trying: Too many open "
                                 "files; raise the limit of open files (ulimit -n)"));
    assert_ptr_equal(strchr(said, '\n'), said + n - 1);
    site_say(site_take(s), 200, "x");
    peer_ask(busy, NULL, 200, "x");
    peer_free(busy);
    close(fds[0]);
    close(fds[1]);
}

/* --- stopping --- */

struct stop {
    struct site *site;
    int done;
    bool free_it;
};

static void on_stopped(void *arg) {
    struct stop *stop = arg;
    stop->done++;
    if (stop->free_it) {
        httpd_free(stop->site->h);
        stop->site->h = NULL;
    }
}

static bool is_refused(int port) {
    struct sockaddr_in sa = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int r = connect(fd, (struct sockaddr *)&sa, sizeof sa);
    int code = errno;
    close(fd);
    return r < 0 && code == ECONNREFUSED;
}

static void test_stop_with_nothing_to_do(void **state) {
    struct site *s = *state;
    struct stop stop = {.site = s, .free_it = true};
    site_open(s, NULL);
    struct peer *idle = peer_new(s), *fresh = peer_new(s), *shaking = peer_new_tls(s);
    peer_ask(idle, GET("/a"), 200, "/a");
    site_until(s, httpd_stats(s->h).conns == 3);
    int port = httpd_listener_port(s->plain);
    httpd_stop(s->h, SEC(3600), on_stopped, &stop);
    assert_int_equal(stop.done, 0); /* never from inside */
    site_until(s, stop.done);
    assert_true(is_refused(port));
    peer_gone(idle);
    peer_gone(fresh);
    peer_gone(shaking);
    peer_free(idle);
    peer_free(fresh);
    peer_free(shaking);
    site_turn(s);
    assert_int_equal(stop.done, 1);
}

static void test_stop_waits(void **state) {
    struct site *s = *state;
    struct stop stop = {.site = s};
    site_open(s, NULL);
    struct peer *asked = peer_new(s), *asking = peer_new(s), *stream = peer_new_tls(s);
    peer_puts(asked, GET("/hold/1"));
    site_until(s, s->held.len == 1);
    peer_puts(stream, GET("/hold/2"));
    site_until(s, s->held.len == 2);
    exchange_begin(s->held.p[1], &(struct http_reply){.code = 200});
    peer_puts(asking, "POST /late HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n");
    site_until(s, httpd_stats(s->h).conns == 3);
    site_turn(s);
    httpd_stop(s->h, SEC(3600), on_stopped, &stop);
    site_turn(s);
    assert_int_equal(stop.done, 0);
    struct answer a = {0};
    /* A request that was half here is answered, */
    peer_puts(asking, "ok");
    peer_answer(asking, &a);
    assert_int_equal(a.code, 200);
    assert_true(answer_has(&a, "Connection", "close"));
    peer_gone(asking);
    peer_free(asking);
    /* a handler may take its time, */
    site_say(site_take(s), 200, "slow");
    peer_answer(asked, &a);
    assert_string_equal(str_get(&a.body), "slow");
    assert_true(answer_has(&a, "Connection", "close"));
    peer_gone(asked);
    assert_true(asked->eof);
    peer_free(asked);
    /* and a stream its own. */
    site_turn(s);
    assert_int_equal(stop.done, 0);
    struct exchange *x = site_take(s);
    exchange_write(x, "end", 3);
    exchange_end(x);
    peer_answer(stream, &a);
    assert_string_equal(str_get(&a.body), "end");
    peer_gone(stream);
    assert_true(stream->eof);
    peer_free(stream);
    site_until(s, stop.done);
    assert_int_equal(httpd_stats(s->h).conns, 0);
    answer_done(&a);
}

static void note_closed(void *arg) {
    ++*(int *)arg;
}

static void free_server(void *arg) {
    struct site *s = arg;
    httpd_free(s->h);
    s->h = NULL;
}

static void test_stop_cuts_off(void **state) {
    struct site *s = *state;
    struct stop stop = {.site = s};
    static const struct exchange_events events = {.closed = note_closed};
    int closed = 0;
    site_open(s, NULL);
    struct peer *p[4];
    for (int i = 0; i < 4; i++) {
        p[i] = i % 2 ? peer_new(s) : peer_new_tls(s);
        peer_puts(p[i], GET("/hold"));
        site_until(s, s->held.len == (size_t)i + 1);
        exchange_notify(s->held.p[i], &events, &closed);
    }
    httpd_stop(s->h, SEC(3600), on_stopped, &stop);
    int64_t start = loop_now(s->loop);
    httpd_stop(s->h, MSEC(100), on_stopped, &stop);
    httpd_stop(s->h, SEC(3600), on_stopped, &stop); /* does not prolong it */
    site_until(s, stop.done);
    assert_true(loop_now(s->loop) - start >= MSEC(100));
    assert_int_equal(closed, 4);
    assert_int_equal(stop.done, 1);
    for (int i = 0; i < 4; i++) {
        peer_gone(p[i]);
        peer_free(p[i]);
    }
}

/* The owner of an exchange that is cut off frees the server: then nobody is told that it stopped.
 */
static void test_freed_while_it_stops(void **state) {
    struct site *s = *state;
    struct stop stop = {.site = s};
    static const struct exchange_events events = {.closed = free_server};
    site_open(s, NULL);
    struct peer *p[4];
    for (int i = 0; i < 4; i++) {
        p[i] = peer_new(s);
        peer_puts(p[i], GET("/hold"));
        site_until(s, s->held.len == (size_t)i + 1);
    }
    exchange_notify(s->held.p[2], &events, s);
    httpd_stop(s->h, 0, on_stopped, &stop);
    site_until(s, !s->h);
    for (int i = 0; i < 4; i++) {
        peer_gone(p[i]);
        peer_free(p[i]);
    }
    site_turn(s);
    assert_int_equal(stop.done, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refuses_a_virtual_loop),
        SITE_TEST(test_what_cannot_be_listened_on),
        SITE_TEST(test_addresses),
        SITE_TEST(test_ipv6),
        SITE_TEST(test_two_servers),
        SITE_TEST(test_adopted),
        SITE_TEST(test_full),
        SITE_TEST(test_idle_ones_make_room),
        SITE_TEST(test_a_crowd_gives_way),
        SITE_TEST(test_no_descriptors),
        SITE_TEST(test_stop_with_nothing_to_do),
        SITE_TEST(test_stop_waits),
        SITE_TEST(test_stop_cuts_off),
        SITE_TEST(test_freed_while_it_stops),
    };
    return cmocka_run_group_tests_name("server", tests, NULL, NULL);
}
