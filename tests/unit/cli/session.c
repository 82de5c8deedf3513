/* Tests of src/cli/session.c, against a real server on loopback. */
#include "cli/session.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "support/server.h"

struct fixture {
    struct server *server;
    char *url;
    struct cli cli;
    struct connection_opts opts;
    struct session session;
    int err[2];
    char said[4096];
};

static void start(struct fixture *f, server_fn *handle) {
    memset(f, 0, sizeof *f);
    f->server = server_start(&(struct server_options){.handle = handle, .arg = f});
    f->url = server_url(f->server, NULL);
    assert_int_equal(pipe2(f->err, O_NONBLOCK | O_CLOEXEC), 0);
    f->cli = (struct cli){.prog = "slipway", .env = getenv, .err = {.fd = f->err[1]}};
    f->opts.flags.server = f->url;
    assert_int_equal(session_open(&f->cli, &f->opts, &f->session), 0);
}

/* What was said on standard error since the last time. */
static const char *said(struct fixture *f) {
    ssize_t n = read(f->err[0], f->said, sizeof f->said - 1);
    f->said[n > 0 ? n : 0] = '\0';
    return f->said;
}

static void end(struct fixture *f) {
    session_close(&f->session);
    server_stop(f->server);
    free(f->url);
    str_done(&f->cli.err.buf);
    arena_done(&f->cli.arena);
    close(f->err[0]);
    close(f->err[1]);
}

#define JSON "Content-Type: application/json\r\n"
#define NODES                                                                                      \
    "{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"},"       \
    "\"items\":[{\"metadata\":{\"name\":\"n1\",\"uid\":\"u\"}}]}"

static void answers_nodes(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)req, (void)arg;
    server_reply(c, 200, JSON, NODES);
}

static void a_store_is_filled_once_and_nothing_watched(void **state) {
    (void)state;
    struct fixture f;
    start(&f, answers_nodes);
    struct store *nodes = session_feed(
        &f.session, &kind_node, &(struct session_feed){.field_selector = "metadata.name=n1"});
    assert_int_equal(session_sync(&f.session), 0);
    assert_int_equal(store_len(nodes), 1);
    assert_int_equal(server_requests(f.server), 1);
    const char *path = server_request(f.server, 0)->path;
    assert_non_null(strstr(path, "fieldSelector=metadata.name%3Dn1"));
    assert_null(strstr(path, "watch"));
    assert_string_equal(said(&f), "");
    end(&f);
}

static void refuses(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)req, (void)arg;
    server_reply(c, 403, JSON,
                 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":403,\"reason\":\"Forbidden\","
                 "\"message\":\"nodes is forbidden\"}");
}

static void what_is_forbidden_ends_at_once(void **state) {
    (void)state;
    struct fixture f;
    start(&f, refuses);
    session_feed(&f.session, &kind_node, &(struct session_feed){0});
    assert_int_equal(session_sync(&f.session), EXIT_ACCESS);
    assert_string_equal(said(&f), "error: cannot list nodes: nodes is forbidden\n");
    assert_int_equal(server_requests(f.server), 1);
    end(&f);
}

static void has_no_such_kind(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)req, (void)arg;
    server_reply(c, 404, "X-Kubernetes-Pf-Flowschema-Uid: 1\r\n", "404 page not found\n");
}

/* What is not there is remarked upon, unless it may be missing; what is forbidden always is. */
static void a_kind_may_be_missing(void **state) {
    (void)state;
    static const struct {
        server_fn *handle;
        bool optional, missing;
    } cases[] = {
        {has_no_such_kind, false, true}, {has_no_such_kind, true, false}, {refuses, true, true}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        bool missing = false;
        start(&f, cases[i].handle);
        struct store *nodes = session_feed(&f.session, &kind_node,
                                           &(struct session_feed){.without = "never mind",
                                                                  .missing = &missing,
                                                                  .optional = cases[i].optional});
        assert_int_equal(session_sync(&f.session), 0);
        assert_int_equal(store_len(nodes), 0);
        assert_int_equal(missing, cases[i].missing);
        assert_int_equal(strstr(said(&f), "; never mind\n") != NULL, cases[i].missing);
        assert_true(cases[i].missing || !*f.said);
        end(&f);
    }
}

static void fails_first(struct server_conn *c, const struct server_request *req, void *arg) {
    struct fixture *f = arg;
    (void)req;
    if (server_requests(f->server) == 1)
        server_reply(c, 503, NULL, "later");
    else
        server_reply(c, 200, JSON, NODES);
}

static void refuses_nodes_last(struct server_conn *c, const struct server_request *req, void *arg) {
    if (strstr(req->path, "/nodes") && server_requests(((struct fixture *)arg)->server) <= 2)
        server_reply(c, 503, NULL, "later");
    else
        refuses(c, req, arg);
}

/* One line, however many lists there are, and whichever is refused first. */
static void what_can_be_done_without_is_no_news_in_a_failure(void **state) {
    (void)state;
    struct fixture f;
    bool missing = false;
    start(&f, refuses_nodes_last);
    session_feed(&f.session, &kind_config_map,
                 &(struct session_feed){.without = "never mind", .missing = &missing});
    session_feed(&f.session, &kind_node, &(struct session_feed){0});
    assert_int_equal(session_sync(&f.session), EXIT_ACCESS);
    assert_null(strstr(said(&f), "never mind"));
    assert_non_null(strstr(f.said, "error: cannot list nodes: nodes is forbidden\n"));
    assert_true(missing);
    end(&f);
}

static void what_passes_is_told_and_tried_again(void **state) {
    (void)state;
    struct fixture f;
    start(&f, fails_first);
    session_feed(&f.session, &kind_node, &(struct session_feed){0});
    assert_int_equal(session_sync(&f.session), 0);
    assert_int_equal(server_requests(f.server), 2);
    said(&f);
    assert_ptr_equal(strstr(f.said, "cannot list nodes: HTTP 503: "), f.said);
    assert_non_null(strstr(f.said, "; trying again in "));
    end(&f);
}

static void a_call_reports_what_it_could_not_do(void **state) {
    (void)state;
    struct fixture f;
    struct kube_held held;
    start(&f, refuses);
    assert_int_equal(session_call(&f.session, &(struct kube_op_spec){.path = "/version"},
                                  "reach the API server", &held),
                     EXIT_ACCESS);
    assert_string_equal(said(&f), "error: cannot reach the API server: nodes is forbidden\n");
    end(&f);
}

static void outcomes_end_in_their_exit_codes(void **state) {
    (void)state;
    struct fixture f;
    start(&f, refuses);
    static const struct {
        enum kube_outcome outcome;
        int code;
    } cases[] = {
        {KUBE_UNREACHABLE, EXIT_ACCESS},    {KUBE_UNKNOWN, EXIT_ACCESS},
        {KUBE_UNAUTHORIZED, EXIT_ACCESS},   {KUBE_NO_CREDENTIALS, EXIT_ACCESS},
        {KUBE_NOT_KUBERNETES, EXIT_ACCESS}, {KUBE_SERVER_ERROR, EXIT_FAILED},
        {KUBE_NOT_FOUND, EXIT_FAILED},      {KUBE_THROTTLED, EXIT_FAILED},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(session_fail(&f.session, "do it", cases[i].outcome, "why"), cases[i].code);
        assert_ptr_equal(strstr(said(&f), "error: cannot do it: "), f.said);
        assert_non_null(strstr(f.said, "why\n"));
    }
    end(&f);
}

static void raise_term(void *arg) {
    (void)arg;
    raise(SIGTERM);
}

static void a_signal_ends_a_run(void **state) {
    (void)state;
    struct fixture f;
    start(&f, answers_nodes);
    struct loop_timer *timer = loop_timer_new(f.session.loop, raise_term, NULL);
    loop_timer_set(timer, 0);
    assert_int_equal(session_run(&f.session), EXIT_SIGTERM);
    loop_timer_free(timer);
    end(&f);
}

static void a_bad_configuration_is_refused_before_anything_is_sent(void **state) {
    (void)state;
    struct fixture f;
    struct session s;
    start(&f, answers_nodes);
    f.opts.flags.kubeconfig = "/nonexistent/kubeconfig";
    int code = session_open(&f.cli, &f.opts, &s);
    assert_true(code == EXIT_USAGE || code == EXIT_ACCESS);
    assert_non_null(strstr(said(&f), "/nonexistent/kubeconfig"));
    assert_int_equal(server_requests(f.server), 0);
    end(&f);
}

/* The minor version that the server says. */
static const char *server_minor;

static void answers_version(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)arg;
    _cleanup_free_ char *body =
        xasprintf("{\"major\":\"1\",\"minor\":\"%s\",\"gitVersion\":\"v1.%s.3\"}", server_minor,
                  server_minor);
    assert_string_equal(req->path, "/version?timeout=32s");
    server_reply(c, 200, JSON, body);
}

static void the_version_is_asked_for_where_it_must_match(void **state) {
    (void)state;
    static const struct {
        const char *minor;
        int code;
    } cases[] = {{"33", 0},           {"36+", 0},         {"32", EXIT_FAILED},
                 {"37", EXIT_FAILED}, {"x", EXIT_FAILED}, {"", EXIT_FAILED}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        struct session s;
        start(&f, answers_version);
        assert_int_equal(server_requests(f.server), 0);
        f.opts.match_version = true;
        server_minor = cases[i].minor;
        assert_int_equal(session_open(&f.cli, &f.opts, &s), cases[i].code);
        assert_int_equal(server_requests(f.server), 1);
        if (!cases[i].code)
            session_close(&s);
        else
            assert_non_null(strstr(said(&f), "server version (v1."));
        end(&f);
    }
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_is_filled_once_and_nothing_watched),
        cmocka_unit_test(what_is_forbidden_ends_at_once),
        cmocka_unit_test(a_kind_may_be_missing),
        cmocka_unit_test(what_can_be_done_without_is_no_news_in_a_failure),
        cmocka_unit_test(what_passes_is_told_and_tried_again),
        cmocka_unit_test(a_call_reports_what_it_could_not_do),
        cmocka_unit_test(outcomes_end_in_their_exit_codes),
        cmocka_unit_test(a_signal_ends_a_run),
        cmocka_unit_test(the_version_is_asked_for_where_it_must_match),
        cmocka_unit_test(a_bad_configuration_is_refused_before_anything_is_sent),
    };
    return cmocka_run_group_tests_name("cli/session", tests, NULL, NULL);
}
