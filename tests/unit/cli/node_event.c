/* Tests of src/cli/node_event.c, against a real server on loopback. */
#include "cli/node_event.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "support/server.h"

#define JSON "Content-Type: application/json\r\n"

struct fixture {
    struct server *server;
    char *url;
    struct cli cli;
    struct connection_opts opts;
    struct session session;
    int err[2];
    int code; /* of every answer; 0: there is none */
};

static void handle(struct server_conn *c, const struct server_request *req, void *arg) {
    const struct fixture *f = arg;
    if (f->code)
        server_reply(c, f->code, JSON,
                     f->code == 201 ? req->body : "{\"kind\":\"Status\",\"message\":\"no\"}");
}

static char *env(const char *name) {
    static char now[] = "2026-11-16T12:05:00Z";
    return streq(name, "SLIPWAY_FAKE_NOW") ? now : NULL;
}

static void start(struct fixture *f, int code) {
    memset(f, 0, sizeof *f);
    f->code = code;
    f->server = server_start(&(struct server_options){.handle = handle, .arg = f});
    f->url = server_url(f->server, NULL);
    assert_int_equal(pipe2(f->err, O_NONBLOCK | O_CLOEXEC), 0);
    f->cli = (struct cli){.prog = "slipway", .env = env, .err = {.fd = f->err[1]}};
    f->opts.flags.server = f->url;
    assert_int_equal(session_open(&f->cli, &f->opts, &f->session), 0);
}

static void end(struct fixture *f) {
    char said[64];
    assert_true(read(f->err[0], said, sizeof said) <= 0); /* nobody is bothered with it */
    session_close(&f->session);
    server_stop(f->server);
    free(f->url);
    str_done(&f->cli.err.buf);
    arena_done(&f->cli.arena);
    close(f->err[0]);
    close(f->err[1]);
}

static void as_kubelets_write_them(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 201);
    assert_true(node_event_write(&f.session, &(struct node_event){.node = "w1",
                                                                  .reason = "Unlocked",
                                                                  .message = "by \"eve\"",
                                                                  .warning = true}));
    assert_int_equal(server_requests(f.server), 1);
    const struct server_request *r = server_request(f.server, 0);
    assert_string_equal(r->method, "POST");
    assert_string_equal(r->path, "/api/v1/namespaces/default/events?fieldManager=slipway");
    _cleanup_json_ json_t *v = json_loads(r->body, 0, NULL);
    assert_string_equal(json_str(v, "reason"), "Unlocked");
    assert_string_equal(json_str(v, "message"), "by \"eve\"");
    assert_string_equal(json_str(v, "type"), "Warning");
    assert_string_equal(json_str(v, "lastTimestamp"), "2026-11-16T12:05:00Z");
    assert_string_equal(json_str(json_object_get(v, "involvedObject"), "uid"), "w1");
    assert_ptr_equal(strstr(json_str(json_object_get(v, "metadata"), "name"), "w1."),
                     json_str(json_object_get(v, "metadata"), "name"));
    end(&f);
}

static void a_long_name_is_cut_where_one_may_end(void **state) {
    (void)state;
    struct fixture f;
    char node[254];
    memset(node, 'a', sizeof node);
    memcpy(node + 230, "......", 6);
    node[253] = '\0';
    start(&f, 201);
    assert_true(node_event_write(&f.session,
                                 &(struct node_event){node, "Cordoned", "so", .warning = false}));
    _cleanup_json_ json_t *v = json_loads(server_request(f.server, 0)->body, 0, NULL);
    const char *name = json_str(json_object_get(v, "metadata"), "name");
    assert_true(strlen(name) <= 253);
    assert_int_equal(name[230], '.');
    assert_int_not_equal(name[231], '.');
    assert_string_equal(json_str(v, "type"), "Normal");
    end(&f);
}

static void nothing_fails_without_it(void **state) {
    (void)state;
    struct fixture f;
    const struct node_event event = {"w1", "Cordoned", "so", .warning = false};
    start(&f, 403);
    assert_true(node_event_write(&f.session, &event)); /* the next may fare better */
    assert_int_equal(server_requests(f.server), 1);
    end(&f);
    start(&f, 0);
    assert_false(node_event_write(&f.session, &event));
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_kubelets_write_them),
        cmocka_unit_test(a_long_name_is_cut_where_one_may_end),
        cmocka_unit_test(nothing_fails_without_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
