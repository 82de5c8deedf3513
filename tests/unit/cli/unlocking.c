/* Tests of src/cli/unlocking.c, against a real server on loopback that has one record. What users
 * see of it is in tests/cli/test_locks.py. */
#include "cli/unlocking.h"

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
#include "engine/keeper.h"
#include "support/server.h"

#define JSON "Content-Type: application/json\r\n"
#define SLOT(node, id, state)                                                                      \
    "{\"id\":\"" id "\",\"node\":\"" node                                                          \
    "\",\"uid\":\"u\",\"operation\":\"Reboot\",\"by\":\"fleetlock\",\"state\":\"" state            \
    "\",\"boot\":\"b\"}"
#define WISH(node) "{\"node\":\"" node "\",\"operation\":\"Reboot\",\"by\":\"fleetlock\"}"
#define RECORD(slots, waiting)                                                                     \
    "{\"v\":1,\"fence\":3,\"slots\":[" slots "],\"waiting\":[" waiting "]}"

/* The server's record, and what shall go wrong. Requests come one at a time. */
struct one_record {
    const char *record;
    const char *meanwhile; /* what somebody else writes before our first patch; NULL: nobody does */
    int conflicts;         /* patches that somebody is faster than */
    int lost;              /* patches that are carried out without an answer */
    int refuse;            /* code of every patch, 0 */
    int lease;             /* code of the Lease; 200: somebody leads */
};

struct fixture {
    struct server *server;
    char *url;
    struct cli cli;
    struct connection_opts opts;
    struct session session;
    struct store *maps;
    struct unlocking u;
    struct unlock_items items;
    struct one_record now;
    char *record;
    int version, patches, events;
    char *event, *query;
    int out[2], err[2];
    char said[4096], told[4096];
};

static char *print_map(const struct fixture *f) {
    _cleanup_json_ json_t *v = json_pack(
        "{ss ss s{ss ss so s{ss}} s{ss}}", "kind", "ConfigMap", "apiVersion", "v1", "metadata",
        "name", "slipway-slots-p", "namespace", "sys", "resourceVersion",
        json_sprintf("%d", f->version), "labels", SLOTS_LABEL, "p", "data", SLOTS_KEY, f->record);
    return json_dumps(v, 0);
}

static void reply_status(struct server_conn *c, int code, const char *reason) {
    _cleanup_free_ char *text =
        xasprintf("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":"
                  "\"%s\",\"message\":\"it is so\",\"code\":%d}",
                  reason, code);
    server_reply(c, code, JSON, text);
}

static void patch(struct server_conn *c, struct fixture *f, const struct server_request *r) {
    _cleanup_json_ json_t *body = json_loads(r->body, 0, NULL);
    const char *version = json_str(json_object_get(body, "metadata"), "resourceVersion");
    f->patches++;
    str_replace(&f->query, strchr(r->path, '?'));
    if (f->now.refuse) {
        reply_status(c, f->now.refuse, "Forbidden");
        return;
    }
    if (f->now.conflicts || f->now.meanwhile) {
        f->now.conflicts -= f->now.conflicts > 0;
        f->version++;
        if (f->now.meanwhile)
            str_replace(&f->record, f->now.meanwhile);
        f->now.meanwhile = NULL;
    }
    if (atoi(strna(version)) != f->version) {
        reply_status(c, 409, "Conflict");
        return;
    }
    if (!strstr(r->path, "dryRun=All")) {
        f->version++;
        str_replace(&f->record, json_str(json_object_get(body, "data"), SLOTS_KEY));
    }
    if (f->now.lost) {
        f->now.lost--;
        server_reset(c);
        return;
    }
    _cleanup_free_ char *text = print_map(f);
    server_reply(c, 200, JSON, text);
}

static void handle(struct server_conn *c, const struct server_request *req, void *arg) {
    struct fixture *f = arg;
    _cleanup_free_ char *map = print_map(f);
    if (str_starts(req->path, "/api/v1/configmaps?")) {
        _cleanup_free_ char *list =
            xasprintf("{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{"
                      "\"resourceVersion\":\"7\"},\"items\":[%s]}",
                      map);
        server_reply(c, 200, JSON, list);
    } else if (streq(req->method, "PATCH")) {
        patch(c, f, req);
    } else if (streq(req->path, "/api/v1/namespaces/sys/configmaps/slipway-slots-p")) {
        server_reply(c, 200, JSON, map);
    } else if (str_starts(req->path, "/api/v1/namespaces/default/events?")) {
        f->events++;
        str_replace(&f->event, req->body);
        server_reply(c, 201, JSON, req->body);
    } else if (f->now.lease == 200 && strstr(req->path, "/leases/slipway-controller")) {
        server_reply(c, 200, JSON,
                     "{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{"
                     "\"name\":\"slipway-controller\"},\"spec\":{\"holderIdentity\":\"x\","
                     "\"leaseDurationSeconds\":15,\"renewTime\":\"2026-11-16T12:04:55.000000Z\"}}");
    } else {
        reply_status(c, f->now.lease ? f->now.lease : 404,
                     f->now.lease == 403 ? "Forbidden" : "NotFound");
    }
}

static char *env(const char *name) {
    static char now[] = "2026-11-16T12:05:00Z";
    return streq(name, "SLIPWAY_FAKE_NOW") ? now : NULL;
}

static void start(struct fixture *f, const struct one_record *now) {
    memset(f, 0, sizeof *f);
    f->now = *now;
    f->record = xstrdup(now->record);
    f->version = 10;
    f->server = server_start(&(struct server_options){.handle = handle, .arg = f});
    f->url = server_url(f->server, NULL);
    assert_int_equal(pipe2(f->out, O_NONBLOCK | O_CLOEXEC), 0);
    assert_int_equal(pipe2(f->err, O_NONBLOCK | O_CLOEXEC), 0);
    f->cli = (struct cli){
        .prog = "slipway", .env = env, .out = {.fd = f->out[1]}, .err = {.fd = f->err[1]}};
    f->opts.flags.server = f->url;
    assert_int_equal(session_open(&f->cli, &f->opts, &f->session), 0);
    f->maps = session_feed(&f->session, &kind_config_map, &(struct session_feed){0});
    assert_int_equal(session_sync(&f->session), 0);
    f->u = (struct unlocking){.session = &f->session, .by = "eve@x", .reason = "dead"};
}

/* What is known of the node when the user is asked. */
static size_t find(struct fixture *f, const char *node, const char **unreadable) {
    f->items.list.len = 0;
    unlocking_find(f->maps, node, &f->cli.arena, &f->items, unreadable);
    return f->items.list.len;
}

static int unlock(struct fixture *f, const char *node) {
    const char *unreadable;
    assert_int_equal(find(f, node, &unreadable), 1);
    return unlocking_run(&f->u, &f->items);
}

static const char *take(int fd, char *buf, size_t size) {
    ssize_t n = read(fd, buf, size - 1);
    buf[n > 0 ? n : 0] = '\0';
    return buf;
}

static const char *said(struct fixture *f) {
    return take(f->out[0], f->said, sizeof f->said);
}

static const char *told(struct fixture *f) {
    return take(f->err[0], f->told, sizeof f->told);
}

static void end(struct fixture *f) {
    session_close(&f->session);
    server_stop(f->server);
    free(f->url);
    free(f->record);
    free(f->event);
    free(f->query);
    vec_done(&f->items.list);
    str_done(&f->cli.out.buf);
    str_done(&f->cli.err.buf);
    arena_done(&f->cli.arena);
    for (int i = 0; i < 2; i++) {
        close(f->out[i]);
        close(f->err[i]);
    }
}

static void what_the_records_say(void **state) {
    (void)state;
    struct fixture f;
    const char *unreadable;
    start(&f, &(struct one_record){
                  .record = RECORD(SLOT("w1", "h1", "returned"), WISH("w1") "," WISH("w2"))});
    assert_int_equal(find(&f, "w1", &unreadable), 1);
    const struct unlock_item *item = &f.items.list.p[0];
    assert_true(item->holds);
    assert_true(item->waits);
    assert_string_equal(item->policy, "p");
    assert_string_equal(item->ns, "sys");
    assert_string_equal(item->slot.id, "h1");
    assert_int_equal(find(&f, "w2", &unreadable), 1);
    assert_false(f.items.list.p[0].holds);
    assert_int_equal(find(&f, "w3", &unreadable), 0);
    assert_string_equal(unreadable, "");
    end(&f);
    start(&f, &(struct one_record){.record = "{\"v\":2}"});
    assert_int_equal(find(&f, "w1", &unreadable), 0);
    assert_non_null(strstr(unreadable, "ConfigMap sys/slipway-slots-p: "));
    end(&f);
}

static void there_and_no_further(void **state) {
    (void)state;
    struct fixture f;
    start(&f, &(struct one_record){
                  .record = RECORD(SLOT("w1", "h1", "taken") "," SLOT("w2", "h2", "taken"), "")});
    assert_int_equal(unlock(&f, "w1"), EXIT_DONE);
    assert_string_equal(said(&f), "node/w1 unlocked\n");
    assert_string_equal(f.record,
                        RECORD(SLOT("w1", "h1", "returned") "," SLOT("w2", "h2", "taken"), ""));
    assert_string_equal(f.query, "?fieldManager=slipway");
    _cleanup_json_ json_t *event = json_loads(f.event, 0, NULL);
    assert_string_equal(json_str(event, "message"),
                        "Slot of policy p (taken) let go by eve@x: dead");
    assert_int_equal(unlock(&f, "w1"), EXIT_DONE);
    assert_string_equal(said(&f), "node/w1 already unlocked\n");
    assert_int_equal(f.patches, 1);
    assert_int_equal(f.events, 1);
    end(&f);
}

static void a_wish_ends(void **state) {
    (void)state;
    struct fixture f;
    start(&f, &(struct one_record){.record = RECORD("", WISH("w1") "," WISH("w2"))});
    assert_int_equal(unlock(&f, "w1"), EXIT_DONE);
    assert_string_equal(said(&f), "node/w1 waits no longer\n");
    assert_string_equal(f.record, RECORD("", WISH("w2")));
    /* the picture that the items are made from is of before */
    assert_int_equal(unlock(&f, "w1"), EXIT_DONE);
    assert_string_equal(said(&f), "node/w1 already not waiting\n");
    end(&f);
}

static void granted_ones_stay_unless_told(void **state) {
    (void)state;
    struct fixture f;
    start(&f, &(struct one_record){.record = RECORD(SLOT("w1", "h1", "granted"), "")});
    assert_int_equal(unlock(&f, "w1"), EXIT_REFUSED);
    assert_string_equal(said(&f), "");
    assert_non_null(strstr(told(&f), "may still reboot"));
    assert_int_equal(f.patches, 0);
    f.u.anyway = true;
    assert_int_equal(unlock(&f, "w1"), EXIT_DONE);
    assert_string_equal(f.record, RECORD(SLOT("w1", "h1", "returned"), ""));
    _cleanup_json_ json_t *event = json_loads(f.event, 0, NULL);
    assert_string_equal(json_str(event, "type"), "Warning");
    end(&f);
}

static void a_maintenance_has_a_way_of_its_own(void **state) {
    (void)state;
    struct fixture f;
    start(&f, &(struct one_record){
                  .record = "{\"v\":1,\"fence\":3,\"slots\":[{\"id\":\"h1\",\"node\":\"w1\","
                            "\"uid\":\"u\",\"operation\":\"Upgrade\",\"by\":\"maintenance/m1\","
                            "\"state\":\"taken\"}],\"waiting\":[]}"});
    assert_int_equal(unlock(&f, "w1"), EXIT_REFUSED);
    assert_string_equal(told(&f), "error: node \"w1\" holds its slot for Maintenance m1: 'kubectl "
                                  "delete maintenance m1' ends both; --anyway lets the slot go all "
                                  "the same\n");
    assert_int_equal(f.patches, 0);
    f.u.anyway = true;
    assert_int_equal(unlock(&f, "w1"), EXIT_DONE);
    assert_non_null(strstr(f.record, "\"state\":\"returned\""));
    end(&f);
}

/* Between the look and the write. */
static void it_is_granted_in_the_meantime(void **state) {
    (void)state;
    struct fixture f;
    start(&f, &(struct one_record){.record = RECORD(SLOT("w1", "h1", "drained"), ""),
                                   .meanwhile = RECORD(SLOT("w1", "h1", "granted"), "")});
    assert_int_equal(unlock(&f, "w1"), EXIT_REFUSED);
    assert_string_equal(f.record, RECORD(SLOT("w1", "h1", "granted"), ""));
    assert_int_equal(f.events, 0);
    end(&f);
}

static void another_holding_is_left_alone(void **state) {
    (void)state;
    struct fixture f;
    start(&f, &(struct one_record){.record = RECORD(SLOT("w1", "h1", "taken"), ""),
                                   .meanwhile = RECORD(SLOT("w1", "h2", "taken"), "")});
    assert_int_equal(unlock(&f, "w1"), EXIT_DONE);
    assert_string_equal(said(&f), "node/w1 already unlocked\n");
    assert_string_equal(f.record, RECORD(SLOT("w1", "h2", "taken"), ""));
    assert_int_equal(f.patches, 1);
    assert_int_equal(f.events, 0);
    end(&f);
}

static void conflicts_are_decided_again(void **state) {
    (void)state;
    struct fixture f;
    start(&f,
          &(struct one_record){.record = RECORD(SLOT("w1", "h1", "taken"), ""), .conflicts = 3});
    assert_int_equal(unlock(&f, "w1"), EXIT_DONE);
    assert_int_equal(f.patches, 4);
    end(&f);
    start(&f,
          &(struct one_record){.record = RECORD(SLOT("w1", "h1", "taken"), ""), .conflicts = 1000});
    assert_int_equal(unlock(&f, "w1"), EXIT_FAILED);
    assert_string_equal(told(&f), "error: unable to unlock node \"w1\": others change the record "
                                  "all the time; try again\n");
    assert_int_equal(f.patches, 8);
    end(&f);
}

static void a_lost_answer_is_looked_after(void **state) {
    (void)state;
    struct fixture f;
    start(&f, &(struct one_record){.record = RECORD(SLOT("w1", "h1", "taken"), ""), .lost = 1});
    assert_int_equal(unlock(&f, "w1"), EXIT_DONE);
    assert_string_equal(said(&f), "node/w1 unlocked\n");
    assert_int_equal(f.events, 1);
    end(&f);
}

static void no_permission_is_an_access_error(void **state) {
    (void)state;
    struct fixture f;
    start(&f, &(struct one_record){.record = RECORD(SLOT("w1", "h1", "taken"), ""), .refuse = 403});
    assert_int_equal(unlock(&f, "w1"), EXIT_ACCESS);
    assert_string_equal(told(&f), "error: unable to unlock node \"w1\": it is so\n");
    assert_int_equal(f.events, 0);
    end(&f);
}

static void dry_runs_leave_no_trace(void **state) {
    (void)state;
    static const struct {
        enum dry_run how;
        int patches;
        const char *said;
    } cases[] = {{DRY_RUN_CLIENT, 0, "node/w1 unlocked (dry run)\n"},
                 {DRY_RUN_SERVER, 1, "node/w1 unlocked (server dry run)\n"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        start(&f, &(struct one_record){.record = RECORD(SLOT("w1", "h1", "taken"), "")});
        f.u.dry_run = cases[i].how;
        assert_int_equal(unlock(&f, "w1"), EXIT_DONE);
        unlocking_tell(&f.u, &f.items);
        assert_string_equal(said(&f), cases[i].said);
        assert_string_equal(told(&f), "");
        assert_int_equal(f.patches, cases[i].patches);
        assert_int_equal(f.events, 0);
        assert_string_equal(f.record, RECORD(SLOT("w1", "h1", "taken"), ""));
        if (cases[i].patches)
            assert_string_equal(f.query, "?fieldManager=slipway&dryRun=All");
        end(&f);
    }
}

static void who_frees_it(void **state) {
    (void)state;
    static const struct {
        int lease;
        const char *told;
    } cases[] = {
        {200, "w1: the controller uncordons it and frees the slot\n"},
        {404, "w1: no controller runs in namespace sys; nothing uncordons it, and the slot stays "
              "held, until one does\n"},
        {403, "w1: the controller uncordons it and frees the slot; while none runs in namespace "
              "sys, nothing does\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        start(&f, &(struct one_record){.record = RECORD(SLOT("w1", "h1", "taken"), ""),
                                       .lease = cases[i].lease});
        assert_int_equal(unlock(&f, "w1"), EXIT_DONE);
        assert_string_equal(told(&f), "");
        unlocking_tell(&f.u, &f.items);
        assert_string_equal(told(&f), cases[i].told);
        end(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_records_say),
        cmocka_unit_test(there_and_no_further),
        cmocka_unit_test(a_wish_ends),
        cmocka_unit_test(granted_ones_stay_unless_told),
        cmocka_unit_test(a_maintenance_has_a_way_of_its_own),
        cmocka_unit_test(it_is_granted_in_the_meantime),
        cmocka_unit_test(another_holding_is_left_alone),
        cmocka_unit_test(conflicts_are_decided_again),
        cmocka_unit_test(a_lost_answer_is_looked_after),
        cmocka_unit_test(no_permission_is_an_access_error),
        cmocka_unit_test(dry_runs_leave_no_trace),
        cmocka_unit_test(who_frees_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
