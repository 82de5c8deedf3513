/* Tests of src/cli/leftovers.c, against a real server on loopback that has two Deployments. */
#include "cli/leftovers.h"

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
    char told[4096];
    /* What the server does. */
    int list_code;                     /* 200 when 0 */
    int conflicts, refuse, lost;       /* of patches */
    int version, patches, replicas[2]; /* of a and b */
    bool marked[2], dry;
};

static char *print(const struct fixture *f, int i) {
    _cleanup_json_ json_t *v =
        json_pack("{ss ss s{ss ss so} s{si}}", "kind", "Deployment", "apiVersion", "apps/v1",
                  "metadata", "name", i ? "b" : "a", "namespace", "web", "resourceVersion",
                  json_sprintf("%d", f->version), "spec", "replicas", f->replicas[i]);
    json_t *meta = json_object_get(v, "metadata");
    if (f->marked[i]) {
        json_object_set_new(meta, "labels", json_pack("{ss}", SURGE_MARK, "true"));
        json_object_set_new(
            meta, "annotations",
            json_pack(
                "{ss}", SURGE_MARK,
                i ? "{\"v\":2}"
                  : "{\"v\":1,\"replicas\":1,\"node\":\"w1\",\"pod\":\"u1\",\"by\":\"eve\"}"));
    }
    return json_dumps(v, 0);
}

static void fail_with(struct server_conn *c, int code, const char *reason) {
    _cleanup_free_ char *text =
        xasprintf("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":"
                  "\"%s\",\"message\":\"it is so\",\"code\":%d}",
                  reason, code);
    server_reply(c, code, JSON, text);
}

static void patch(struct server_conn *c, struct fixture *f, const struct server_request *req) {
    _cleanup_json_ json_t *body = json_loads(req->body, 0, NULL);
    f->patches++;
    f->dry = strstr(req->path, "dryRun=All") != NULL;
    if (f->refuse) {
        fail_with(c, f->refuse, "Forbidden");
        return;
    }
    if (f->conflicts) {
        f->conflicts--;
        f->version++;
    }
    if (atoi(strna(json_str(json_object_get(body, "metadata"), "resourceVersion"))) != f->version) {
        fail_with(c, 409, "Conflict");
        return;
    }
    const json_t *count = json_object_get(json_object_get(body, "spec"), "replicas");
    if (!f->dry) {
        f->version++;
        f->marked[0] = false;
        if (count)
            f->replicas[0] = (int)json_integer_value(count);
    }
    if (f->lost) {
        f->lost--;
        server_reset(c);
        return;
    }
    _cleanup_free_ char *text = print(f, 0);
    server_reply(c, 200, JSON, text);
}

static void handle(struct server_conn *c, const struct server_request *req, void *arg) {
    struct fixture *f = arg;
    _cleanup_free_ char *a = print(f, 0), *b = print(f, 1);
    if (streq(req->method, "PATCH")) {
        patch(c, f, req);
    } else if (str_starts(req->path, "/apis/apps/v1/namespaces/web/deployments/a")) {
        server_reply(c, 200, JSON, a);
    } else if (f->list_code) {
        fail_with(c, f->list_code, "Forbidden");
    } else {
        _cleanup_free_ char *all =
            xasprintf("{\"kind\":\"DeploymentList\",\"apiVersion\":\"apps/v1\",\"metadata\":{"
                      "\"resourceVersion\":\"9\"},\"items\":[%s,%s]}",
                      a, b);
        server_reply(c, 200, JSON, all);
    }
}

static char *no_env(const char *name) {
    (void)name;
    return NULL;
}

static void start(struct fixture *f) {
    memset(f, 0, sizeof *f);
    f->version = 5;
    f->replicas[0] = f->replicas[1] = 2;
    f->marked[0] = f->marked[1] = true;
    f->server = server_start(&(struct server_options){.handle = handle, .arg = f});
    f->url = server_url(f->server, NULL);
    assert_int_equal(pipe2(f->err, O_NONBLOCK | O_CLOEXEC), 0);
    f->cli =
        (struct cli){.prog = "slipway", .env = no_env, .out = {.fd = -1}, .err = {.fd = f->err[1]}};
    f->opts.flags.server = f->url;
    assert_int_equal(session_open(&f->cli, &f->opts, &f->session), 0);
}

static const char *told(struct fixture *f) {
    ssize_t n = read(f->err[0], f->told, sizeof f->told - 1);
    f->told[n > 0 ? n : 0] = '\0';
    return f->told;
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

static const char *const w1[] = {"w1"}, *const w2[] = {"w2"};

static void undo(struct fixture *f, const struct leftovers_wish *wish) {
    struct leftovers l;
    leftovers_read(&f->session, &l);
    assert_int_equal(l.outcome, KUBE_OK);
    leftovers_undo(&l, wish);
    leftovers_done(&l);
}

static void only_records_that_are_understood_are_found(void **state) {
    (void)state;
    struct fixture f;
    struct leftovers l;
    _cleanup_str_ struct str text = STR_INIT, commands = STR_INIT;
    start(&f);
    leftovers_read(&f.session, &l);
    assert_int_equal(l.outcome, KUBE_OK);
    assert_int_equal(l.n, 1);
    leftover_text(&l.list[0], &text);
    assert_string_equal(
        str_get(&text),
        "Deployment web/a has 2 replicas instead of 1 since the drain of node w1 by "
        "eve");
    leftover_commands(&l.list[0], &commands);
    assert_string_equal(str_get(&commands),
                        "kubectl -n web scale deployment a --replicas=1 && kubectl -n web label "
                        "deployment a slipway.dev/surge- && kubectl -n web annotate deployment a "
                        "slipway.dev/surge-");
    leftovers_done(&l);
    end(&f);
}

static void a_list_that_is_not_permitted_is_asked_for_once(void **state) {
    (void)state;
    static const int codes[] = {403, 404, 500};
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        struct fixture f;
        struct leftovers l;
        start(&f);
        f.list_code = codes[i];
        leftovers_read(&f.session, &l);
        assert_int_not_equal(l.outcome, KUBE_OK);
        assert_string_equal(l.message, "it is so");
        assert_int_equal(l.n, 0);
        assert_int_equal(server_requests(f.server), 1);
        assert_string_equal(told(&f), "");
        leftovers_done(&l);
        end(&f);
    }
}

static void only_what_is_wanted_is_undone(void **state) {
    (void)state;
    static const struct leftovers_wish wishes[] = {
        {.nodes = w2, .n_nodes = 1, .holder = "eve"},
        {.nodes = w1, .n_nodes = 1, .holder = "bob"},
        {.nodes = w2, .n_nodes = 1},
        {.nodes = NULL},
        {.nodes = w1, .n_nodes = 1, .holder = "ev"},
    };
    for (size_t i = 0; i < ARRAY_LEN(wishes); i++) {
        struct fixture f;
        start(&f);
        undo(&f, &wishes[i]);
        assert_int_equal(f.patches, 0);
        assert_string_equal(told(&f), "");
        end(&f);
    }
}

static void conflicts_are_looked_at_again(void **state) {
    (void)state;
    struct fixture f;
    start(&f);
    f.conflicts = 3;
    undo(&f, &(struct leftovers_wish){.nodes = w1, .n_nodes = 1, .holder = "eve"});
    assert_int_equal(f.replicas[0], 1);
    assert_int_equal(f.patches, 4);
    assert_non_null(strstr(told(&f), "Deployment web/a has 1 replica again"));
    end(&f);
    start(&f);
    f.conflicts = 1000;
    undo(&f, &(struct leftovers_wish){.nodes = w1, .n_nodes = 1, .holder = "eve"});
    assert_int_equal(f.patches, 8);
    assert_non_null(strstr(told(&f), "and cannot be changed: others change it all the time"));
    end(&f);
}

static void a_lost_answer_is_ours(void **state) {
    (void)state;
    struct fixture f;
    start(&f);
    f.lost = 1;
    undo(&f, &(struct leftovers_wish){.nodes = w1, .n_nodes = 1});
    assert_int_equal(f.replicas[0], 1);
    assert_string_equal(told(&f), "Deployment web/a has 1 replica again: the drain of node w1 had "
                                  "given it one more\n");
    end(&f);
}

static void where_it_may_not_be_changed_the_commands_are_told(void **state) {
    (void)state;
    struct fixture f;
    start(&f);
    f.refuse = 403;
    f.cli.general.quiet = true; /* it is told all the same */
    undo(&f, &(struct leftovers_wish){.nodes = w1, .n_nodes = 1});
    assert_string_equal(
        told(&f),
        "warning: Deployment web/a has 2 replicas instead of 1 since the drain of node w1 by eve, "
        "and cannot be changed: it is so. Have somebody who may do it run: kubectl -n web scale "
        "deployment a --replicas=1 && kubectl -n web label deployment a slipway.dev/surge- && "
        "kubectl -n web annotate deployment a slipway.dev/surge-\n");
    assert_int_equal(f.patches, 1);
    end(&f);
}

static void dry_runs_change_nothing(void **state) {
    (void)state;
    for (int server = 0; server < 2; server++) {
        struct fixture f;
        start(&f);
        undo(&f, &(struct leftovers_wish){
                     .nodes = w1, .n_nodes = 1, .dry_client = !server, .dry_server = server});
        assert_int_equal(f.patches, server);
        assert_int_equal(f.dry, server);
        assert_int_equal(f.replicas[0], 2);
        assert_non_null(strstr(told(&f), "would have 1 replica again"));
        end(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_records_that_are_understood_are_found),
        cmocka_unit_test(a_list_that_is_not_permitted_is_asked_for_once),
        cmocka_unit_test(only_what_is_wanted_is_undone),
        cmocka_unit_test(conflicts_are_looked_at_again),
        cmocka_unit_test(a_lost_answer_is_ours),
        cmocka_unit_test(where_it_may_not_be_changed_the_commands_are_told),
        cmocka_unit_test(dry_runs_change_nothing),
    };
    return cmocka_run_group_tests_name("cli/leftovers", tests, NULL, NULL);
}
