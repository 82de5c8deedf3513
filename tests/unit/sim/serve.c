/* The HTTP face of the simulated API, with a real client on the same loop. */
#include "sim/serve.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* A client that sends one text and collects what comes until `want` is in it or the other side
 * closes. */
struct client {
    struct loop *loop;
    int fd;
    struct event *event;
    struct str in;
    const char *want;
    bool closed;
};

static void on_readable(evutil_socket_t fd, short what, void *arg) {
    struct client *c = arg;
    char buf[65536];
    (void)what;
    ssize_t n = read(fd, buf, sizeof buf);
    if (n <= 0) {
        c->closed = true;
        loop_stop(c->loop);
        return;
    }
    str_addn(&c->in, buf, (size_t)n);
    if (c->want && strstr(str_get(&c->in), c->want))
        loop_stop(c->loop);
}

static void client_open(struct client *c, struct loop *loop, const char *address) {
    const char *colon = strrchr(address, ':');
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(colon + 1))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *c = (struct client){.loop = loop, .fd = socket(AF_INET, SOCK_STREAM, 0)};
    assert_int_equal(connect(c->fd, (struct sockaddr *)&to, sizeof to), 0);
    c->event = event_new(loop_base(loop), c->fd, EV_READ | EV_PERSIST, on_readable, c);
    event_add(c->event, NULL);
}

static void client_close(struct client *c) {
    event_free(c->event);
    close(c->fd);
    str_done(&c->in);
}

static const char *talk(struct client *c, const char *request, const char *want) {
    str_reset(&c->in);
    c->want = want;
    assert_int_equal(write(c->fd, request, strlen(request)), (ssize_t)strlen(request));
    loop_run(c->loop);
    assert_non_null(strstr(str_get(&c->in), want));
    return str_get(&c->in);
}

static void test_face(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    _cleanup_err_ struct err err = ERR_INIT;
    struct loop *loop;
    assert_int_equal(loop_new(&loop, &err), 0);
    struct pace *pace = pace_new(loop, s.world, 1);
    struct sim_server *server;
    assert_int_equal(
        sim_server_new(loop, s.api, pace,
                       &(struct sim_server_options){.address = "127.0.0.1:0", .token = "secret"},
                       &server, &err),
        0);
    struct client c, w;
    client_open(&c, loop, sim_server_address(server));
    talk(&c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "\r\n\r\nok");
    talk(&c, "GET /api/v1/nodes HTTP/1.1\r\nHost: x\r\n\r\n", "403 Forbidden");
    talk(&c, "GET /api/v1/nodes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong\r\n\r\n",
         "401 Unauthorized");
#define AUTH "Host: x\r\nAuthorization: Bearer secret\r\n"
    const char *text = talk(&c, "GET /api/v1/namespaces HTTP/1.1\r\n" AUTH "\r\n", "kube-system");
    assert_non_null(strstr(text, "X-Kubernetes-Pf-Flowschema-Uid:"));
    assert_non_null(strstr(text, "Content-Type: application/json"));
    /* an unknown field comes back as a warning */
    talk(&c,
         "POST /api/v1/namespaces?dryRun=All HTTP/1.1\r\n" AUTH
         "Content-Type: application/json\r\nContent-Length: 34\r\n\r\n"
         "{\"metadata\":{\"name\":\"a\"},\"nope\":1}",
         "Warning: 299 - \"unknown field \\\"nope\\\"\"");
    /* and so do many */
    talk(&c,
         "POST /api/v1/namespaces?dryRun=All HTTP/1.1\r\n" AUTH
         "Content-Type: application/json\r\nContent-Length: 121\r\n\r\n"
         "{\"metadata\":{\"name\":\"a\"},\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,"
         "\"h\":1,\"i\":1,\"j\":1,\"k\":1,\"l\":1,\"m\":1,\"n\":1,\"o\":1,\"p\":1}",
         "Warning: 299 - \"unknown field \\\"p\\\"\"");
    /* a watch hears of what another connection does */
    client_open(&w, loop, sim_server_address(server));
    talk(&w, "GET /api/v1/namespaces?watch=1 HTTP/1.1\r\n" AUTH "\r\n", "kube-system");
    assert_non_null(strstr(str_get(&w.in), "Transfer-Encoding: chunked"));
    str_reset(&w.in);
    w.want = "\"name\":\"fresh\"";
    sim_ask(&s, 201, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"fresh\"}}");
    loop_run(loop);
    assert_non_null(strstr(str_get(&w.in), "\"ADDED\""));
    /* the server goes with the watch still open */
    sim_server_free(server);
    w.want = NULL;
    loop_run(loop);
    assert_true(w.closed || c.closed);
    client_close(&c);
    client_close(&w);
    pace_free(pace);
    loop_free(loop);
    sim_site_done(&s);
}

/* Of what the simulated cluster does the time is told by its own clock, so the server's too. */
static void test_date(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    _cleanup_err_ struct err err = ERR_INIT;
    struct loop *loop;
    assert_int_equal(loop_new(&loop, &err), 0);
    sim_pass(&s, SEC(86400 * 400)); /* away from the wall clock, wherever that stands */
    struct pace *pace = pace_new(loop, s.world, 3600);
    struct sim_server *server;
    assert_int_equal(
        sim_server_new(loop, s.api, pace,
                       &(struct sim_server_options){.address = "127.0.0.1:0", .token = "secret"},
                       &server, &err),
        0);
    struct client c;
    client_open(&c, loop, sim_server_address(server));
    /* by the handler, and by the HTTP server itself, before it hangs up */
    static const char *const requests[][2] = {
        {"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "\r\n\r\nok"},
        {"GET / HTTP/1.1\r\nnonsense\r\n\r\n", "400 Bad Request"},
    };
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        int64_t before = s.world->clock.now;
        const char *at = strstr(talk(&c, requests[i][0], requests[i][1]), "\r\nDate: ");
        assert_non_null(at);
        at += strlen("\r\nDate: ");
        _cleanup_free_ char *text = xstrndup(at, strcspn(at, "\r"));
        int64_t date = 0;
        assert_true(time_parse_http(text, &date));
        assert_in_range(date / SEC(1), before / SEC(1), s.world->clock.now / SEC(1));
    }
    client_close(&c);
    sim_server_free(server);
    (void)event_base_loop(loop_base(loop), EVLOOP_NONBLOCK);
    pace_free(pace);
    loop_free(loop);
    sim_site_done(&s);
}

/* --- clients that do not read --- */

struct bench {
    struct sim_site site;
    struct loop *loop;
    struct pace *pace;
    struct sim_server *server;
    struct loop_timer *tick;
};

static void on_tick(void *arg) {
    loop_stop(arg);
}

/* With config maps of `size` bytes in it. */
static void bench_open(struct bench *b, struct sim_server_limits limits, int maps, size_t size) {
    _cleanup_err_ struct err err = ERR_INIT;
    sim_site_init(&b->site, false);
    assert_int_equal(loop_new(&b->loop, &err), 0);
    b->pace = pace_new(b->loop, b->site.world, 1);
    b->tick = loop_timer_new(b->loop, on_tick, b->loop);
    struct sim_server_options o = {.address = "127.0.0.1:0", .token = "secret", .limits = limits};
    assert_int_equal(sim_server_new(b->loop, b->site.api, b->pace, &o, &b->server, &err), 0);
    for (int i = 0; i < maps; i++) {
        _cleanup_str_ struct str body = STR_INIT;
        str_addf(&body, "{\"metadata\":{\"name\":\"m%d\"},\"data\":{\"a\":\"", i);
        for (size_t k = 0; k < size; k++)
            str_addc(&body, 'x');
        str_add(&body, "\"}}");
        sim_ask(&b->site, 201, "POST", "/api/v1/namespaces/default/configmaps", str_get(&body));
    }
}

static void pass(struct bench *b, int64_t usec) {
    loop_timer_set(b->tick, usec);
    loop_run(b->loop);
}

static void bench_close(struct bench *b) {
    sim_server_free(b->server);
    pass(b, 0); /* libevent lets go of a connection in its next turn if something was due for it */
    loop_timer_free(b->tick);
    pace_free(b->pace);
    loop_free(b->loop);
    sim_site_done(&b->site);
}

/* A client with a small window that asks and does not read. */
static void ask_silently(struct bench *b, struct client *c, const char *request) {
    client_open(c, b->loop, sim_server_address(b->server));
    event_del(c->event);
    assert_int_equal(write(c->fd, request, strlen(request)), (ssize_t)strlen(request));
}

/* Whether the server has hung up on it, after what it had sent. */
static bool hung_up(struct client *c) {
    char buf[65536];
    ssize_t n;
    while ((n = recv(c->fd, buf, sizeof buf, MSG_DONTWAIT)) > 0)
        ;
    return n == 0 || (n < 0 && errno == ECONNRESET);
}

#define MAPS "/api/v1/namespaces/default/configmaps"

/* More than the sockets hold is not made for them, and who waits for room gets it. */
static void test_streams_have_a_limit(void **state) {
    (void)state;
    struct bench b;
    bench_open(&b, (struct sim_server_limits){.queued = 1 << 20, .patience = MSEC(100)}, 60,
               500 << 10);
    struct client silent[8], reader;
    for (size_t i = 0; i < ARRAY_LEN(silent); i++)
        ask_silently(&b, &silent[i],
                     i % 2 ? "GET " MAPS "?watch=1 HTTP/1.1\r\n" AUTH "\r\n"
                           : "GET " MAPS " HTTP/1.1\r\n" AUTH "\r\n");
    pass(&b, MSEC(50));
    /* Another one is served, although there is no room for it at first. */
    client_open(&reader, b.loop, sim_server_address(b.server));
    talk(&reader, "GET " MAPS " HTTP/1.1\r\n" AUTH "\r\n", "\"name\":\"m9\"");
    size_t cut = 0;
    for (size_t i = 0; i < ARRAY_LEN(silent); i++)
        cut += hung_up(&silent[i]);
    assert_true(cut > 0);
    for (size_t i = 0; i < ARRAY_LEN(silent); i++)
        client_close(&silent[i]);
    client_close(&reader);
    bench_close(&b);
}

/* A list must be taken in time; a watch may take its time. */
static void test_lists_have_a_time(void **state) {
    (void)state;
    struct bench b;
    bench_open(&b, (struct sim_server_limits){.request_timeout = MSEC(200)}, 40, 500 << 10);
    struct client list, watch;
    ask_silently(&b, &list, "GET " MAPS " HTTP/1.1\r\n" AUTH "\r\n");
    ask_silently(&b, &watch, "GET " MAPS "?watch=1 HTTP/1.1\r\n" AUTH "\r\n");
    pass(&b, MSEC(500));
    assert_true(hung_up(&list));
    assert_false(hung_up(&watch));
    client_close(&list);
    client_close(&watch);
    bench_close(&b);
}

/* Answers in protobuf are whole: when too many are on their way the next ones are refused. */
static void test_whole_answers_have_a_limit(void **state) {
    (void)state;
    struct bench b;
#define PB "Accept: application/vnd.kubernetes.protobuf\r\n"
    bench_open(&b, (struct sim_server_limits){.held = 50 << 20}, 40, 500 << 10);
    struct client silent[3], c;
    for (size_t i = 0; i < ARRAY_LEN(silent); i++)
        ask_silently(&b, &silent[i], "GET " MAPS " HTTP/1.1\r\n" AUTH PB "\r\n");
    pass(&b, MSEC(50));
    client_open(&c, b.loop, sim_server_address(b.server));
    const char *text = talk(&c, "GET " MAPS " HTTP/1.1\r\n" AUTH PB "\r\n", "try again later.\n");
    assert_non_null(strstr(text, "HTTP/1.1 429 Too Many Requests\r\n"));
    assert_non_null(strstr(text, "\r\nRetry-After: 1\r\n"));
    /* small ones are not, and the room is free again when they have gone */
    talk(&c, "GET " MAPS "/none HTTP/1.1\r\n" AUTH PB "\r\n", "404 Not Found");
    for (size_t i = 0; i < ARRAY_LEN(silent); i++)
        client_close(&silent[i]);
    client_close(&c);
    for (int i = 0; i < 1000; i++) { /* when that is, is the server's affair */
        client_open(&c, b.loop, sim_server_address(b.server));
        text = talk(&c, "GET " MAPS " HTTP/1.1\r\n" AUTH PB "\r\n", "HTTP/1.1 ");
        bool served = strstr(text, "HTTP/1.1 200 OK\r\n") != NULL;
        client_close(&c);
        if (served)
            break;
        assert_true(i < 999);
        pass(&b, MSEC(20));
    }
    bench_close(&b);
}

static void test_refusals(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    _cleanup_err_ struct err err = ERR_INIT;
    struct loop *loop;
    assert_int_equal(loop_new(&loop, &err), 0);
    struct pace *pace = pace_new(loop, s.world, 1);
    struct sim_server *server = NULL;
    struct sim_server_options bad = {.address = "nonsense", .token = "t"};
    assert_true(sim_server_new(loop, s.api, pace, &bad, &server, &err) < 0);
    assert_non_null(err.msg);
    pace_free(pace);
    loop_free(loop);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_face),
        cmocka_unit_test(test_date),
        cmocka_unit_test(test_streams_have_a_limit),
        cmocka_unit_test(test_lists_have_a_time),
        cmocka_unit_test(test_whole_answers_have_a_limit),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
