/* The HTTP face of the simulated API, with a real client on the same loop. */
#include "sim/serve.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <arpa/inet.h>
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
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
