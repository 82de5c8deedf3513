/* Tests of src/cli/patient.c, against a real server on loopback. */
#include "cli/patient.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "support/server.h"

struct fixture {
    struct server *server;
    char *url;
    struct cli cli;
    struct connection_opts opts;
    struct session session;
    int troubles; /* answers of trouble before the good one */
    void (*trouble)(struct server_conn *c);
};

#define JSON "Content-Type: application/json\r\n"
#define STATUS(code, reason)                                                                       \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":\"" reason       \
    "\",\"message\":\"it is so\",\"code\":" code "}"
#define NODE "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"w1\"}}"

static void handle(struct server_conn *c, const struct server_request *req, void *arg) {
    struct fixture *f = arg;
    (void)req;
    if (f->troubles > 0) { /* one request at a time */
        f->troubles--;
        f->trouble(c);
    } else {
        server_reply(c, 200, JSON, NODE);
    }
}

static void start(struct fixture *f, int troubles, void (*trouble)(struct server_conn *c)) {
    memset(f, 0, sizeof *f);
    f->troubles = troubles;
    f->trouble = trouble;
    f->server = server_start(&(struct server_options){.handle = handle, .arg = f});
    f->url = server_url(f->server, NULL);
    f->cli = (struct cli){.prog = "slipway", .env = getenv, .err = {.fd = -1}};
    f->opts.flags.server = f->url;
    assert_int_equal(session_open(&f->cli, &f->opts, &f->session), 0);
}

static void end(struct fixture *f) {
    session_close(&f->session);
    server_stop(f->server);
    free(f->url);
    arena_done(&f->cli.arena);
}

static void get(struct fixture *f, struct patient *p) {
    patient_call(&f->session,
                 &(struct kube_op_spec){.kind = &kind_node, .name = "w1", .result = &kind_node}, p);
}

static void busy(struct server_conn *c) {
    server_reply(c, 429, JSON "Retry-After: 1\r\n", STATUS("429", "TooManyRequests"));
}

static void very_busy(struct server_conn *c) {
    server_reply(c, 429, JSON "Retry-After: 3600\r\n", STATUS("429", "TooManyRequests"));
}

static void broken(struct server_conn *c) {
    server_reply(c, 500, JSON, STATUS("500", "InternalError"));
}

static void hangs_up(struct server_conn *c) {
    server_reset(c);
}

static void conflicts(struct server_conn *c) {
    server_reply(c, 409, JSON, STATUS("409", "Conflict"));
}

static void forbids(struct server_conn *c) {
    server_reply(c, 403, JSON, STATUS("403", "Forbidden"));
}

/* The time of RFC 9110's example. */
static void dated(struct server_conn *c) {
    server_reply(c, 200, JSON "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n", NODE);
}

static void the_answer_is_decoded(void **state) {
    (void)state;
    struct fixture f;
    struct patient p;
    start(&f, 0, NULL);
    get(&f, &p);
    assert_int_equal(p.outcome, KUBE_OK);
    assert_string_equal(p.obj->meta.name, "w1");
    assert_false(p.lost);
    patient_done(&f.session, &kind_node, &p);
    end(&f);
}

static void what_passes_is_waited_for(void **state) {
    (void)state;
    static const struct {
        void (*trouble)(struct server_conn *c);
        int64_t at_least;
        bool lost;
    } cases[] = {{busy, SEC(1), false}, {broken, MSEC(500), true}, {hangs_up, MSEC(500), true}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        struct patient p;
        start(&f, 1, cases[i].trouble);
        int64_t began = loop_now(f.session.loop);
        get(&f, &p);
        assert_int_equal(p.outcome, KUBE_OK);
        assert_true(loop_now(f.session.loop) - began >= cases[i].at_least);
        assert_int_equal(p.lost, cases[i].lost);
        assert_null(p.reason); /* that of the answer that counts */
        assert_int_equal(server_requests(f.server), 2);
        patient_done(&f.session, &kind_node, &p);
        end(&f);
    }
}

static void what_nothing_depends_on_is_tried_once(void **state) {
    (void)state;
    static void (*const troubles[])(struct server_conn * c) = {busy, broken, hangs_up};
    static const enum kube_outcome outcomes[] = {KUBE_NOT_YET, KUBE_SERVER_ERROR, KUBE_UNKNOWN};
    for (size_t i = 0; i < ARRAY_LEN(troubles); i++) {
        struct fixture f;
        struct patient p;
        start(&f, 100, troubles[i]);
        patient_try(&f.session,
                    &(struct kube_op_spec){.kind = &kind_node, .name = "w1", .result = &kind_node},
                    &p);
        assert_int_equal(p.outcome, outcomes[i]);
        assert_int_equal(server_requests(f.server), 1);
        patient_done(&f.session, &kind_node, &p);
        end(&f);
    }
}

static void the_servers_clock_is_told(void **state) {
    (void)state;
    struct fixture f;
    struct patient p;
    start(&f, 1, dated);
    get(&f, &p);
    assert_int_equal(p.date, INT64_C(784111777) * 1000000);
    patient_done(&f.session, &kind_node, &p);
    end(&f);
}

static void patience_ends(void **state) {
    (void)state;
    struct fixture f;
    struct patient p;
    start(&f, 100, broken);
    get(&f, &p);
    assert_int_equal(p.outcome, KUBE_SERVER_ERROR);
    assert_string_equal(p.message, "it is so");
    assert_string_equal(p.reason, "InternalError");
    assert_int_equal(server_requests(f.server), 4);
    patient_done(&f.session, &kind_node, &p);
    end(&f);
}

static void what_does_not_pass_is_told_at_once(void **state) {
    (void)state;
    static const struct {
        void (*trouble)(struct server_conn *c);
        enum kube_outcome outcome;
    } cases[] = {{conflicts, KUBE_CONFLICT}, {forbids, KUBE_FORBIDDEN}, {very_busy, KUBE_NOT_YET}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        struct patient p;
        start(&f, 1, cases[i].trouble);
        get(&f, &p);
        assert_int_equal(p.outcome, cases[i].outcome);
        assert_null(p.obj);
        assert_int_equal(server_requests(f.server), 1);
        patient_done(&f.session, &kind_node, &p);
        end(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_answer_is_decoded),
        cmocka_unit_test(what_passes_is_waited_for),
        cmocka_unit_test(what_nothing_depends_on_is_tried_once),
        cmocka_unit_test(the_servers_clock_is_told),
        cmocka_unit_test(patience_ends),
        cmocka_unit_test(what_does_not_pass_is_told_at_once),
    };
    return cmocka_run_group_tests_name("cli/patient", tests, NULL, NULL);
}
