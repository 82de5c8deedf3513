/* Tests of src/fleetlock/server.c: real requests on loopback. */
#include "fleetlock/server.h"

#include "net/server_site.h"

#include "base/json.h"
#include "support/world.h"

#define W1    "1c09ca98649c4c7abc779cd04c96812e" /* machine ids */
#define W2    "ec210b3de22b7e2f65111257854e5299"
#define TWINS "2e074e9b299c41a59923c51ae16f279b"

#define BODY(id)   "{\"client_params\":{\"id\":\"" id "\",\"group\":\"default\"}}"
#define HEADERS    "Host: a\r\nfleet-lock-protocol: true\r\n"
#define PRE_REBOOT "POST /v1/pre-reboot HTTP/1.1\r\n"
#define STEADY     "POST /v1/steady-state HTTP/1.1\r\n"

enum { BIG = 64 << 10, CONNS = 20 };

/* One who was asked, and has not answered. */
struct asked {
    uint64_t ticket;
    enum fleetlock_api api;
    char *node, *group, *id;
};

struct fixture {
    struct site *site;
    struct world w;
    struct roster *roster;
    struct fleetlock_server *s;
    VEC(struct asked) asked;
    bool ready;
    struct fleetlock_terms terms;
    unsigned address_rate;
    uint64_t gone; /* the last ticket of which that was said */
    bool at_once;  /* every question is answered with a grant, from the callback */
    unsigned answered[FLEETLOCK_KINDS];
};

static void node(struct fixture *f, const char *name, const char *machine, int version) {
    _cleanup_free_ char *json = xasprintf("{'metadata':{'name':'%s','resourceVersion':'%d'},"
                                          "'status':{'nodeInfo':{'machineID':'%s'}}}",
                                          name, version, machine);
    world_add(&f->w, &kind_node, json);
}

static bool is_ready(void *arg) {
    return ((struct fixture *)arg)->ready;
}

static void on_ask(void *arg, const struct fleetlock_question *q) {
    struct fixture *f = arg;
    assert_true(str_starts(q->peer, "127.0.0."));
    *vec_push(&f->asked) =
        (struct asked){q->ticket, q->api, xstrdup(q->node), xstrdup(q->group), xstrdup(q->id)};
    if (f->at_once)
        fleetlock_server_reply(f->s, q->ticket, &(struct fleetlock_reply){FLEETLOCK_OK, "granted"},
                               404);
}

static struct fleetlock_terms on_terms(void *arg, const struct node *node) {
    (void)node;
    return ((struct fixture *)arg)->terms;
}

static void on_gone(void *arg, uint64_t ticket) {
    ((struct fixture *)arg)->gone = ticket;
}

static void on_answered(void *arg, enum fleetlock_api api, enum fleetlock_kind kind, int status) {
    struct fixture *f = arg;
    assert_true(api == FLEETLOCK_PRE_REBOOT || api == FLEETLOCK_STEADY_STATE);
    assert_int_equal(status == 200, kind == FLEETLOCK_OK);
    f->answered[kind]++;
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    void *site;
    if (site_setup(&site))
        return -1;
    f->site = site;
    f->ready = true;
    world_init(&f->w);
    node(f, "w1", W1, 1);
    node(f, "w2", W2, 2);
    node(f, "w3", TWINS, 3);
    node(f, "w4", TWINS, 4);
    f->roster = roster_new(f->w.nodes, &(struct roster_options){0});
    assert_int_equal(fleetlock_server_new(f->site->loop,
                                          &(struct fleetlock_server_opts){.roster = f->roster,
                                                                          .nodes = f->w.nodes,
                                                                          .terms = on_terms,
                                                                          .ready = is_ready,
                                                                          .ask = on_ask,
                                                                          .gone = on_gone,
                                                                          .answered = on_answered,
                                                                          .deny_status = 404,
                                                                          .max_conns = CONNS,
                                                                          .arg = f},
                                          &f->s, NULL),
                     0);
    assert_string_equal(fleetlock_server_address(f->s), "");
    assert_int_equal(fleetlock_server_listen(f->s, "127.0.0.1:0", NULL, NULL, NULL), 0);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    void *site = f->site;
    fleetlock_server_free(f->s);
    world_done(&f->w);
    roster_free(f->roster);
    for (size_t i = 0; i < f->asked.len; i++) {
        free(f->asked.p[i].node);
        free(f->asked.p[i].group);
        free(f->asked.p[i].id);
    }
    vec_done(&f->asked);
    free(f);
    return site_teardown(&site);
}

#define SERVER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static struct peer *client(struct fixture *f) {
    const char *address = fleetlock_server_address(f->s);
    assert_true(str_starts(address, "127.0.0.1:"));
    return peer_of_fd(f->site, dial((int)strtol(strrchr(address, ':') + 1, NULL, 10), 0));
}

static void send_body(struct peer *p, const char *head, const char *body) {
    _cleanup_free_ char *text =
        xasprintf("%sContent-Length: %zu\r\n\r\n%s", head, strlen(body), body);
    peer_puts(p, text);
}

/* The answer is JSON of this kind, and nothing that a client would take for something else. */
static void expect(struct peer *p, int code, const char *kind, const char *value) {
    struct answer a = {0};
    peer_answer(p, &a);
    assert_int_equal(a.code, code);
    _cleanup_json_ json_t *root = json_loads(str_get(&a.body), 0, NULL);
    assert_string_equal(strna(json_string_value(json_object_get(root, "kind"))), kind);
    const char *text = strna(json_string_value(json_object_get(root, "value")));
    if (value)
        assert_string_equal(text, value);
    else
        assert_true(*text != '\0');
    assert_true(answer_has(&a, "Content-Type", "application/json"));
    assert_true(answer_has(&a, "Cache-Control", "no-store"));
    assert_null(answer_header(&a, "Location"));
    answer_done(&a);
}

/* --- requests that nobody has to decide about --- */

static void what_is_no_request_of_the_protocol(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *head, *body;
        int code;
        const char *kind;
    } cases[] = {
        {"GET /v1/pre-reboot HTTP/1.1\r\n" HEADERS, "", 405, "method_not_allowed"},
        {"PUT /v1/steady-state HTTP/1.1\r\n" HEADERS, BODY(W1), 405, "method_not_allowed"},
        {"POST / HTTP/1.1\r\n" HEADERS, BODY(W1), 404, "unknown_path"},
        {"GET / HTTP/1.1\r\n" HEADERS, "", 404, "unknown_path"},
        {"POST /v1/pre-reboot/ HTTP/1.1\r\n" HEADERS, BODY(W1), 404, "unknown_path"},
        {"POST /v1//pre-reboot HTTP/1.1\r\n" HEADERS, BODY(W1), 404, "unknown_path"},
        {"POST /v1/../v1/pre-reboot HTTP/1.1\r\n" HEADERS, BODY(W1), 404, "unknown_path"},
        {"POST /V1/pre-reboot HTTP/1.1\r\n" HEADERS, BODY(W1), 404, "unknown_path"},
        {PRE_REBOOT "Host: a\r\n", BODY(W1), 400, "missing_header"},
        {PRE_REBOOT "Host: a\r\nfleet-lock-protocol: false\r\n", BODY(W1), 400, "missing_header"},
        {PRE_REBOOT HEADERS "fleet-lock-protocol: false\r\n", BODY(W1), 400, "missing_header"},
        {PRE_REBOOT "fleet-lock-protocol: false\r\n" HEADERS, BODY(W1), 400, "missing_header"},
        {PRE_REBOOT HEADERS, "", 400, "bad_request"},
        {PRE_REBOOT HEADERS, "{}", 400, "bad_request"},
        {PRE_REBOOT HEADERS, "[", 400, "bad_request"},
        {PRE_REBOOT HEADERS, "{\"client_params\":{\"id\":\"" W1 "\"}}", 400, "bad_request"},
        {PRE_REBOOT HEADERS, "{\"client_params\":{\"id\":7,\"group\":\"default\"}}", 400,
         "bad_request"},
    };
    struct peer *p = client(f); /* all on one connection */
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        send_body(p, cases[i].head, cases[i].body);
        expect(p, cases[i].code, cases[i].kind, NULL);
    }
    assert_int_equal(f->asked.len, 0);
    assert_int_equal(f->answered[FLEETLOCK_BAD_PATH], 6);
    assert_int_equal(f->answered[FLEETLOCK_BAD_REQUEST], 5);
    peer_free(p);
}

static void a_body_that_is_too_large(void **state) {
    struct fixture *f = *state;
    _cleanup_free_ char *body = xmalloc(BIG + 1);
    memset(body, ' ', BIG);
    body[BIG] = '\0';
    struct peer *p = client(f);
    send_body(p, PRE_REBOOT HEADERS, body);
    expect(p, 413, "too_large", NULL);
    assert_int_equal(f->asked.len, 0);
    peer_free(p);
}

static void is_json_of(const char *body, const char *kind) {
    _cleanup_json_ json_t *root = json_loads(body, 0, NULL);
    assert_string_equal(strna(json_string_value(json_object_get(root, "kind"))), kind);
    assert_true(*strna(json_string_value(json_object_get(root, "value"))) != '\0');
}

/* What is not HTTP at all gets no 2xx and no redirect either, and JSON as everything else. */
static void what_is_not_http(void **state) {
    struct fixture *f = *state;
    _cleanup_free_ char *much = xmalloc(BIG + 1);
    memset(much, 'a', BIG);
    much[BIG] = '\0';
    const struct {
        const char *text;
        int code;
        const char *kind;
    } cases[] = {
        {"nonsense\r\n\r\n", 400, "bad_request"},
        {"\x16\x03\x01", 400, "bad_request"}, /* TLS */
        {"POST /v1/pre-reboot HTTP/1.1\r\n\r\n", 400, "bad_request"},
        {PRE_REBOOT "Host: a\r\nContent-Length: -1\r\n\r\n", 400, "bad_request"},
        {PRE_REBOOT "Host: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400,
         "bad_request"},
        {PRE_REBOOT "Host: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400, "bad_request"},
        {PRE_REBOOT "Host: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501, "bad_request"},
        {PRE_REBOOT "Host: a\r\nExpect: a pony\r\nContent-Length: 1\r\n\r\n", 417, "bad_request"},
        {"POST /v1/pre-reboot HTTP/9.9\r\nHost: a\r\n\r\n", 505, "bad_request"},
        {much, 431, "too_large"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct answer a = {0};
        struct peer *p = client(f);
        peer_puts(p, cases[i].text);
        peer_answer(p, &a);
        assert_int_equal(a.code, cases[i].code);
        assert_true(answer_has(&a, "Content-Type", "application/json"));
        is_json_of(str_get(&a.body), cases[i].kind);
        answer_done(&a);
        peer_free(p);
    }
    assert_int_equal(f->asked.len, 0);
}

/* --- whose request it is --- */

static void ids_that_are_unknown_or_ambiguous(void **state) {
    struct fixture *f = *state;
    struct peer *p = client(f);
    send_body(p, PRE_REBOOT HEADERS, BODY("11111111111111111111111111111111"));
    expect(p, 400, "unknown_node", NULL);
    send_body(p, PRE_REBOOT HEADERS, BODY("w1")); /* names are not ids here */
    expect(p, 400, "unknown_node", NULL);
    send_body(p, STEADY HEADERS, BODY(TWINS));
    expect(p, 409, "ambiguous_node", NULL);
    assert_int_equal(f->asked.len, 0);
    peer_free(p);
}

static void before_the_nodes_are_known(void **state) {
    struct fixture *f = *state;
    struct peer *p = client(f);
    f->ready = false;
    send_body(p, PRE_REBOOT HEADERS, BODY(W1));
    expect(p, 503, "unavailable", NULL);
    assert_int_equal(f->asked.len, 0);
    f->ready = true;
    send_body(p, PRE_REBOOT HEADERS, BODY(W1));
    site_until(f->site, f->asked.len);
    peer_free(p);
}

/* --- answers --- */

static void a_question_and_its_answer(void **state) {
    struct fixture *f = *state;
    struct peer *p = client(f);
    send_body(p, PRE_REBOOT HEADERS, BODY(W1));
    site_until(f->site, f->asked.len == 1);
    const struct asked *a = &f->asked.p[0];
    assert_int_equal(a->api, FLEETLOCK_PRE_REBOOT);
    assert_string_equal(a->node, "w1");
    assert_string_equal(a->group, "default");
    assert_string_equal(a->id, W1);
    site_turn(f->site);
    assert_int_equal(p->in.len, 0); /* it is answered later */
    fleetlock_server_reply(f->s, a->ticket,
                           &(struct fleetlock_reply){FLEETLOCK_SLOTS_FULL, "w2 \"goes\""}, 404);
    expect(p, 404, "slots_full", "w2 \"goes\"");
    /* the same connection, the other question */
    send_body(p, STEADY HEADERS, BODY(W2));
    site_until(f->site, f->asked.len == 2);
    assert_int_equal(f->asked.p[1].api, FLEETLOCK_STEADY_STATE);
    assert_string_equal(f->asked.p[1].node, "w2");
    fleetlock_server_reply(f->s, f->asked.p[1].ticket,
                           &(struct fleetlock_reply){FLEETLOCK_OK, "noted"}, 404);
    expect(p, 200, "ok", "noted");
    assert_int_equal(f->answered[FLEETLOCK_OK], 1);
    peer_free(p);
}

/* Of all kinds there is one of 2xx, and none of 3xx; the policy's own status is used. */
static void only_ok_is_a_success(void **state) {
    struct fixture *f = *state;
    struct peer *p = client(f);
    for (unsigned kind = 0; kind < FLEETLOCK_KINDS; kind++) {
        struct answer a = {0};
        send_body(p, PRE_REBOOT HEADERS, BODY(W1));
        site_until(f->site, f->asked.len == kind + 1);
        fleetlock_server_reply(f->s, f->asked.p[kind].ticket,
                               &(struct fleetlock_reply){(enum fleetlock_kind)kind, "text"}, 423);
        peer_answer(p, &a);
        assert_int_equal(a.code < 300, kind == FLEETLOCK_OK);
        assert_true(a.code == 200 || a.code >= 400);
        assert_int_equal(a.code == 423, !fleetlock_kinds[kind].status);
        answer_done(&a);
    }
    peer_free(p);
}

static void an_answer_from_the_callback(void **state) {
    struct fixture *f = *state;
    struct peer *p = client(f);
    f->at_once = true;
    send_body(p, PRE_REBOOT HEADERS, BODY(W1));
    expect(p, 200, "ok", "granted");
    peer_free(p);
}

/* Each gets its own answer, in whatever order they come. */
static void two_at_once(void **state) {
    struct fixture *f = *state;
    struct peer *a = client(f), *b = client(f);
    send_body(a, PRE_REBOOT HEADERS, BODY(W1));
    site_until(f->site, f->asked.len == 1);
    send_body(b, PRE_REBOOT HEADERS, BODY(W2));
    site_until(f->site, f->asked.len == 2);
    assert_true(f->asked.p[0].ticket != f->asked.p[1].ticket);
    fleetlock_server_reply(f->s, f->asked.p[1].ticket,
                           &(struct fleetlock_reply){FLEETLOCK_DRAINING, "second"}, 404);
    expect(b, 404, "draining", "second");
    assert_int_equal(a->in.len, 0);
    fleetlock_server_reply(f->s, f->asked.p[0].ticket,
                           &(struct fleetlock_reply){FLEETLOCK_OK, "first"}, 404);
    expect(a, 200, "ok", "first");
    peer_free(a);
    peer_free(b);
}

/* --- who asks --- */

static void give_addresses(struct fixture *f) {
    world_add(
        &f->w, &kind_node,
        "{'metadata':{'name':'w1','resourceVersion':'11'},'status':{'nodeInfo':{'machineID':'" W1
        "'},'addresses':[{'type':'InternalIP','address':'127.0.0.1'}]}}");
    world_add(
        &f->w, &kind_node,
        "{'metadata':{'name':'w2','resourceVersion':'12'},'status':{'nodeInfo':{'machineID':'" W2
        "'},'addresses':[{'type':'InternalIP','address':'192.0.2.2'}]}}");
}

/* A server of its own. */
static void serve(struct fixture *f, enum fleetlock_check check, unsigned rate) {
    fleetlock_server_free(f->s);
    struct fleetlock_server_opts opts = {.roster = f->roster,
                                         .nodes = f->w.nodes,
                                         .terms = on_terms,
                                         .ready = is_ready,
                                         .ask = on_ask,
                                         .gone = on_gone,
                                         .deny_status = 404,
                                         .address_rate = f->address_rate,
                                         .arg = f};
    assert_int_equal(fleetlock_server_new(f->site->loop, &opts, &f->s, NULL), 0);
    assert_int_equal(fleetlock_server_listen(f->s, "127.0.0.1:0", NULL, NULL, NULL), 0);
    f->at_once = true;
    f->terms = (struct fleetlock_terms){check, rate};
}

static void a_stranger(void **state) {
    struct fixture *f = *state;
    static const struct {
        enum fleetlock_check check;
        int code;
        const char *kind;
        unsigned counted;
    } cases[] = {{FLEETLOCK_CHECK_OFF, 200, "ok", 0},
                 {FLEETLOCK_CHECK_REPORT, 200, "ok", 2},
                 {FLEETLOCK_CHECK_ENFORCE, 403, "caller_mismatch", 2}};
    give_addresses(f);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        serve(f, cases[i].check, 0);
        struct peer *p = client(f);
        send_body(p, PRE_REBOOT HEADERS, BODY(W1));
        expect(p, 200, "ok", NULL);
        assert_int_equal(fleetlock_server_stats(f->s).strangers, 0);
        send_body(p, PRE_REBOOT HEADERS, BODY(W2));
        expect(p, cases[i].code, cases[i].kind, NULL);
        send_body(p, STEADY HEADERS, BODY(W2));
        expect(p, cases[i].code, cases[i].kind, NULL);
        assert_int_equal(fleetlock_server_stats(f->s).strangers, cases[i].counted);
        peer_free(p);
    }
}

/* The first few are heard, then it is enough; somebody else is heard all the same. */
static void one_who_asks_too_often(void **state) {
    struct fixture *f = *state;
    serve(f, FLEETLOCK_CHECK_OFF, 5);
    struct peer *p = client(f);
    unsigned refused = 0;
    for (int i = 0; i < 20; i++) {
        struct answer a = {0};
        send_body(p, PRE_REBOOT HEADERS, BODY(W1));
        peer_answer(p, &a);
        assert_true(a.code == 200 || a.code == 429);
        refused += a.code == 429;
        answer_done(&a);
    }
    assert_true(refused >= 10);
    assert_int_equal(fleetlock_server_stats(f->s).limited, refused);
    send_body(p, PRE_REBOOT HEADERS, BODY(W2));
    expect(p, 200, "ok", NULL);
    peer_free(p);
}

/* The same of an address: whatever it sends, and many nodes may be behind it. */
static void an_address_that_asks_too_often(void **state) {
    struct fixture *f = *state;
    static const char *const bodies[] = {BODY("11111111111111111111111111111111"), "{"};
    f->address_rate = 1000;
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        serve(f, FLEETLOCK_CHECK_OFF, 0);
        struct peer *p = client(f);
        for (unsigned n = 0; n < f->address_rate; n++) {
            send_body(p, PRE_REBOOT HEADERS, bodies[i]);
            expect(p, 400, i ? "bad_request" : "unknown_node", NULL);
        }
        unsigned refused = 0;
        for (unsigned n = 0; n < f->address_rate; n++) {
            struct answer a = {0};
            send_body(p, PRE_REBOOT HEADERS, bodies[i]);
            peer_answer(p, &a);
            refused += a.code == 429;
            answer_done(&a);
        }
        assert_true(refused > 0);
        assert_int_equal(fleetlock_server_stats(f->s).limited, refused);
        const char *port = strrchr(fleetlock_server_address(f->s), ':') + 1;
        struct peer *other =
            peer_of_fd(f->site, dial_from("127.0.0.2", (int)strtol(port, NULL, 10), 0));
        send_body(other, PRE_REBOOT HEADERS, BODY(W1));
        expect(other, 200, "ok", NULL);
        peer_free(other);
        peer_free(p);
    }
}

/* --- clients --- */

/* It sends byte by byte: nobody else waits for it. */
static void a_slow_client_holds_up_nobody(void **state) {
    struct fixture *f = *state;
    _cleanup_free_ char *request =
        xasprintf(PRE_REBOOT HEADERS "Content-Length: %zu\r\n\r\n%s", strlen(BODY(W1)), BODY(W1));
    struct peer *slow = client(f), *fast = client(f);
    f->at_once = true;
    for (const char *c = request; *c; c++) {
        peer_send(slow, c, 1);
        site_turn(f->site);
        if ((c - request) % 64 == 0) {
            send_body(fast, PRE_REBOOT HEADERS, BODY(W2));
            expect(fast, 200, "ok", "granted");
        }
    }
    expect(slow, 200, "ok", "granted");
    peer_free(slow);
    peer_free(fast);
}

/* One address takes all connections with requests that never end, and as many again: whoever comes
 * from another one is heard. */
static void a_crowd_of_slow_clients_keeps_nobody_out(void **state) {
    struct fixture *f = *state;
    const char *address = fleetlock_server_address(f->s);
    struct peer *slow[2 * CONNS];
    f->at_once = true;
    for (size_t i = 0; i < ARRAY_LEN(slow); i++) {
        slow[i] = client(f);
        peer_puts(slow[i], PRE_REBOOT HEADERS "Content-Length: 100\r\n\r\n{");
        site_turn(f->site);
    }
    struct peer *good = peer_of_fd(
        f->site, dial_from("127.0.0.2", (int)strtol(strrchr(address, ':') + 1, NULL, 10), 0));
    send_body(good, PRE_REBOOT HEADERS, BODY(W1));
    expect(good, 200, "ok", "granted");
    assert_false(slow[ARRAY_LEN(slow) - 1]->eof); /* it is not for want of slow ones */
    peer_free(good);
    for (size_t i = 0; i < ARRAY_LEN(slow); i++)
        peer_free(slow[i]);
}

static void one_who_has_gone_is_answered_to_nobody(void **state) {
    struct fixture *f = *state;
    struct peer *p = client(f), *next = client(f);
    send_body(p, PRE_REBOOT HEADERS, BODY(W1));
    site_until(f->site, f->asked.len == 1);
    peer_kill(p);
    site_until(f->site, f->gone == f->asked.p[0].ticket);
    struct fleetlock_reply ok = {FLEETLOCK_OK, "granted"};
    fleetlock_server_reply(f->s, f->asked.p[0].ticket, &ok, 404);
    fleetlock_server_reply(f->s, f->asked.p[0].ticket, &ok, 404); /* once is enough */
    fleetlock_server_reply(f->s, 4711, &ok, 404);
    send_body(next, PRE_REBOOT HEADERS, BODY(W2));
    site_until(f->site, f->asked.len == 2);
    site_turn(f->site);
    assert_int_equal(next->in.len, 0); /* the answer was not for this one */
    fleetlock_server_reply(f->s, f->asked.p[1].ticket,
                           &(struct fleetlock_reply){FLEETLOCK_BLOCKED, "no"}, 404);
    expect(next, 404, "blocked", "no");
    peer_free(next);
}

/* As a process finds it that was stopped meanwhile: the request, and behind it the end. */
static void one_who_has_gone_before_it_was_heard(void **state) {
    struct fixture *f = *state;
    for (int reset = 0; reset < 2; reset++) {
        const char *address = fleetlock_server_address(f->s);
        int fd = dial((int)strtol(strrchr(address, ':') + 1, NULL, 10), 0);
        _cleanup_free_ char *request = xasprintf(PRE_REBOOT HEADERS "Content-Length: %zu\r\n\r\n%s",
                                                 strlen(BODY(W1)), BODY(W1));
        assert_int_equal(write(fd, request, strlen(request)), (ssize_t)strlen(request));
        if (reset)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1},
                       sizeof(struct linger));
        close(fd);
    }
    struct peer *p = client(f); /* whoever comes after them is heard after them */
    send_body(p, PRE_REBOOT HEADERS, BODY(W2));
    site_until(f->site, f->asked.len);
    assert_string_equal(f->asked.p[0].node, "w2");
    peer_free(p);
}

/* It has said that it sends nothing more, and listens: it is told that this is no way to ask. */
static void one_who_closes_its_side_is_not_told_to_go(void **state) {
    struct fixture *f = *state;
    struct peer *p = client(f);
    send_body(p, PRE_REBOOT HEADERS, BODY(W1));
    site_until(f->site, f->asked.len == 1);
    peer_shut(p);
    expect(p, 503, "unavailable", "the connection was closed before the request was answered");
    assert_true(f->gone == f->asked.p[0].ticket);
    peer_free(p);
}

/* It ends while somebody waits: the connection is closed, and nothing is said. */
static void freed_while_somebody_waits(void **state) {
    struct fixture *f = *state;
    struct peer *p = client(f);
    send_body(p, PRE_REBOOT HEADERS, BODY(W1));
    site_until(f->site, f->asked.len == 1);
    fleetlock_server_free(f->s);
    f->s = NULL;
    peer_gone(p);
    assert_int_equal(p->in.len, 0);
    peer_free(p);
}

static void an_address_that_cannot_be_had(void **state) {
    struct fixture *f = *state;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *taken = xstrdup(fleetlock_server_address(f->s));
    assert_int_equal(fleetlock_server_listen(f->s, taken, NULL, NULL, &err), -EADDRINUSE);
    assert_true(*err_msg(&err) != '\0');
    assert_string_equal(fleetlock_server_address(f->s), taken);
}

static void over_tls(void **state) {
    struct fixture *f = *state;
    struct fleetlock_server *s;
    struct httpd_tls tls = {f->site->certs.cert, f->site->certs.key};
    assert_int_equal(fleetlock_server_new(f->site->loop,
                                          &(struct fleetlock_server_opts){.roster = f->roster,
                                                                          .nodes = f->w.nodes,
                                                                          .terms = on_terms,
                                                                          .ready = is_ready,
                                                                          .ask = on_ask,
                                                                          .gone = on_gone,
                                                                          .arg = f},
                                          &s, NULL),
                     0);
    assert_int_equal(fleetlock_server_listen(s, "127.0.0.1:0", &tls, NULL, NULL), 0);
    fleetlock_server_free(f->s);
    f->s = s;
    struct peer *p = client(f);
    peer_tls(p);
    f->at_once = true;
    send_body(p, STEADY HEADERS, BODY(W1));
    expect(p, 200, "ok", "granted");
    peer_free(p);
    p = client(f); /* without it */
    peer_puts(p, PRE_REBOOT HEADERS "\r\n");
    peer_gone(p);
    assert_true(str_starts(str_get(&p->in), "HTTP/1.0 400 Bad Request\r\n"));
    assert_non_null(strstr(str_get(&p->in), "\r\nContent-Type: application/json\r\n"));
    is_json_of(strstr(str_get(&p->in), "\r\n\r\n"), "bad_request");
    peer_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SERVER_TEST(what_is_no_request_of_the_protocol),
        SERVER_TEST(a_body_that_is_too_large),
        SERVER_TEST(what_is_not_http),
        SERVER_TEST(ids_that_are_unknown_or_ambiguous),
        SERVER_TEST(before_the_nodes_are_known),
        SERVER_TEST(a_question_and_its_answer),
        SERVER_TEST(only_ok_is_a_success),
        SERVER_TEST(an_answer_from_the_callback),
        SERVER_TEST(two_at_once),
        SERVER_TEST(a_stranger),
        SERVER_TEST(one_who_asks_too_often),
        SERVER_TEST(an_address_that_asks_too_often),
        SERVER_TEST(a_slow_client_holds_up_nobody),
        SERVER_TEST(a_crowd_of_slow_clients_keeps_nobody_out),
        SERVER_TEST(one_who_has_gone_is_answered_to_nobody),
        SERVER_TEST(one_who_has_gone_before_it_was_heard),
        SERVER_TEST(one_who_closes_its_side_is_not_told_to_go),
        SERVER_TEST(freed_while_somebody_waits),
        SERVER_TEST(an_address_that_cannot_be_had),
        SERVER_TEST(over_tls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
