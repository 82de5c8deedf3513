/* Tests of src/cli/cordoning.c, against a real server on loopback that has one node. What users see
 * of it is in tests/cli/test_cordon.py. */
#include "cli/cordoning.h"

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

/* The node of the server, and what shall go wrong. Requests come one at a time. */
struct cluster_of_one {
    bool cordoned;
    char *record;
    int version;
    const char *condition; /* reason of DrainInProgress=True, or NULL */
    int conflicts;         /* patches that somebody is faster than */
    int lost;              /* patches that are carried out without an answer */
    int refuse;            /* code of every patch, 0 */
    int patches, status_patches, events;
    bool deaf;          /* nobody answers to Events */
    const char *added;  /* time of the taint of a cordoned node, or NULL */
    const char *date;   /* header of every node that is read, or NULL */
    const char *raised; /* the holder whose drain of w1 has raised a Deployment, or NULL */
    int replicas, lists, lowered;
    char *event; /* the last body */
    char *query; /* of the last patch */
};

struct fixture {
    struct server *server;
    char *url;
    struct cli cli;
    struct connection_opts opts;
    struct session session;
    struct target target;
    struct cordoning c;
    struct cluster_of_one node;
    int out[2], err[2];
    char said[4096], told[4096];
};

static char *print_node(const struct cluster_of_one *n) {
    _cleanup_json_ json_t *v = json_pack(
        "{ss ss s{ss so} s{} s{s[]}}", "kind", "Node", "apiVersion", "v1", "metadata", "name", "w1",
        "resourceVersion", json_sprintf("%d", n->version), "spec", "status", "conditions");
    if (n->cordoned)
        json_object_set_new(json_object_get(v, "spec"), "unschedulable", json_true());
    if (n->cordoned && n->added)
        json_object_set_new(json_object_get(v, "spec"), "taints",
                            json_pack("[{ss ss ss}]", "key", "node.kubernetes.io/unschedulable",
                                      "effect", "NoSchedule", "timeAdded", n->added));
    if (n->record)
        json_object_set_new(json_object_get(v, "metadata"), "annotations",
                            json_pack("{ss}", CORDON_ANNOTATION, n->record));
    if (n->condition)
        json_array_append_new(json_object_get(json_object_get(v, "status"), "conditions"),
                              json_pack("{ss ss ss}", "type", "DrainInProgress", "status", "True",
                                        "reason", n->condition));
    return json_dumps(v, 0);
}

static void reply_node(struct server_conn *c, const struct cluster_of_one *n) {
    _cleanup_free_ char *text = print_node(n);
    _cleanup_free_ char *headers =
        n->date ? xasprintf(JSON "Date: %s\r\n", n->date) : xstrdup(JSON);
    server_reply(c, 200, headers, text);
}

static char *print_deployment(const struct cluster_of_one *n) {
    _cleanup_free_ char *record =
        n->raised ? xasprintf("{\"v\":1,\"replicas\":1,\"node\":\"w1\",\"pod\":\"u1\",\"by\":"
                              "\"%s\"}",
                              n->raised)
                  : NULL;
    _cleanup_json_ json_t *v =
        json_pack("{ss ss s{ss ss ss s{ss} s{ss}} s{si}}", "kind", "Deployment", "apiVersion",
                  "apps/v1", "metadata", "name", "solo", "namespace", "web", "resourceVersion", "7",
                  "labels", "slipway.dev/surge", "true", "annotations", "slipway.dev/surge",
                  record ? record : "x", "spec", "replicas", n->replicas);
    return json_dumps(v, 0);
}

static void reply_deployments(struct server_conn *c, struct cluster_of_one *n) {
    _cleanup_free_ char *one = print_deployment(n);
    _cleanup_free_ char *all =
        xasprintf("{\"kind\":\"DeploymentList\",\"apiVersion\":\"apps/v1\",\"metadata\":{"
                  "\"resourceVersion\":\"7\"},\"items\":[%s]}",
                  n->raised ? one : "");
    n->lists++;
    server_reply(c, 200, JSON, all);
}

static void lower(struct server_conn *c, struct cluster_of_one *n, const struct server_request *r) {
    _cleanup_json_ json_t *body = json_loads(r->body, 0, NULL);
    const json_t *meta = json_object_get(body, "metadata");
    assert_string_equal(json_str(meta, "resourceVersion"), "7");
    assert_true(
        json_is_null(json_object_get(json_object_get(meta, "labels"), "slipway.dev/surge")));
    const json_t *count = json_object_get(json_object_get(body, "spec"), "replicas");
    n->lowered++;
    if (count)
        n->replicas = (int)json_integer_value(count);
    _cleanup_free_ char *text = print_deployment(n);
    n->raised = NULL;
    server_reply(c, 200, JSON, text);
}

static void reply_status(struct server_conn *c, int code, const char *reason) {
    _cleanup_free_ char *text =
        xasprintf("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":"
                  "\"%s\",\"message\":\"it is so\",\"code\":%d}",
                  reason, code);
    server_reply(c, code, JSON, text);
}

static void patch(struct server_conn *c, struct cluster_of_one *n, const struct server_request *r) {
    _cleanup_json_ json_t *body = json_loads(r->body, 0, NULL);
    json_t *meta = json_object_get(body, "metadata");
    json_t *note = json_object_get(json_object_get(meta, "annotations"), CORDON_ANNOTATION);
    json_t *mark = json_object_get(json_object_get(body, "spec"), "unschedulable");
    n->patches++;
    str_replace(&n->query, strchr(r->path, '?'));
    if (n->refuse) {
        reply_status(c, n->refuse, "Forbidden");
        return;
    }
    if (n->conflicts) {
        n->conflicts--;
        n->version++;
    }
    if (atoi(strna(json_str(meta, "resourceVersion"))) != n->version) {
        reply_status(c, 409, "Conflict");
        return;
    }
    if (!strstr(r->path, "dryRun=All")) {
        n->version++;
        n->cordoned = json_is_true(mark);
        str_replace(&n->record, json_string_value(note));
    }
    if (n->lost) {
        n->lost--;
        server_reset(c);
        return;
    }
    reply_node(c, n);
}

static void handle(struct server_conn *c, const struct server_request *req, void *arg) {
    struct cluster_of_one *n = &((struct fixture *)arg)->node;
    if (streq(req->method, "GET") && streq(req->path, "/api/v1/nodes/w1")) {
        reply_node(c, n);
    } else if (streq(req->method, "PATCH") && str_starts(req->path, "/api/v1/nodes/w1/status?")) {
        n->status_patches++;
        n->condition = NULL;
        reply_node(c, n);
    } else if (streq(req->method, "PATCH") && str_starts(req->path, "/api/v1/nodes/w1?")) {
        patch(c, n, req);
    } else if (str_starts(req->path, "/api/v1/namespaces/default/events?")) {
        n->events++;
        str_replace(&n->event, req->body);
        if (!n->deaf)
            server_reply(c, 201, JSON, req->body);
    } else if (n->replicas && str_starts(req->path, "/apis/apps/v1/deployments?")) {
        assert_non_null(strstr(req->path, "labelSelector=slipway.dev"));
        reply_deployments(c, n);
    } else if (str_starts(req->path, "/apis/apps/v1/namespaces/web/deployments/solo?")) {
        if (n->refuse)
            reply_status(c, n->refuse, "Forbidden");
        else
            lower(c, n, req);
    } else {
        reply_status(c, 404, "NotFound");
    }
}

static char *no_env(const char *name) {
    (void)name;
    return NULL;
}

static void start(struct fixture *f, const struct cluster_of_one *node) {
    memset(f, 0, sizeof *f);
    f->node = *node;
    f->node.record = node->record ? xstrdup(node->record) : NULL;
    f->node.version = 10;
    f->server = server_start(&(struct server_options){.handle = handle, .arg = f});
    f->url = server_url(f->server, NULL);
    assert_int_equal(pipe2(f->out, O_NONBLOCK | O_CLOEXEC), 0);
    assert_int_equal(pipe2(f->err, O_NONBLOCK | O_CLOEXEC), 0);
    f->cli = (struct cli){
        .prog = "slipway", .env = no_env, .out = {.fd = f->out[1]}, .err = {.fd = f->err[1]}};
    f->opts.flags.server = f->url;
    assert_int_equal(session_open(&f->cli, &f->opts, &f->session), 0);
    f->c = (struct cordoning){
        .session = &f->session,
        .holder = {.id = "cli/eve", .by = "eve@x", .reason = "disk", .since = SEC(1794733200)}};
}

static int change(struct fixture *f, bool cordon) {
    *vec_push(&f->target.names) = "w1";
    int rc = target_read(&f->session, &f->target);
    if (!rc)
        rc = cordoning_run(&f->c, &f->target, cordon);
    target_done(&f->session, &f->target);
    return rc;
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
    free(f->node.record);
    free(f->node.event);
    free(f->node.query);
    str_done(&f->cli.out.buf);
    str_done(&f->cli.err.buf);
    arena_done(&f->cli.arena);
    for (int i = 0; i < 2; i++) {
        close(f->out[i]);
        close(f->err[i]);
    }
}

#define HELD(id) "{\"v\":1,\"before\":false,\"holders\":[{\"id\":\"" id "\"}]}"

static void there_and_back(void **state) {
    (void)state;
    struct fixture f;
    start(&f, &(struct cluster_of_one){0});
    assert_int_equal(change(&f, true), EXIT_DONE);
    assert_string_equal(said(&f), "node/w1 cordoned\n");
    assert_true(f.node.cordoned);
    assert_non_null(strstr(f.node.record, "\"cli/eve\""));
    assert_string_equal(f.node.query, "?fieldManager=slipway");
    _cleanup_json_ json_t *event = json_loads(f.node.event, 0, NULL);
    assert_string_equal(json_str(event, "reason"), "Cordoned");
    assert_string_equal(json_str(event, "message"), "Node w1 cordoned by eve@x: disk");
    assert_string_equal(json_str(json_object_get(event, "involvedObject"), "uid"), "w1");
    assert_int_equal(change(&f, true), EXIT_DONE);
    assert_string_equal(said(&f), "node/w1 already cordoned\n");
    assert_int_equal(change(&f, false), EXIT_DONE);
    assert_string_equal(said(&f), "node/w1 uncordoned\n");
    assert_false(f.node.cordoned);
    assert_null(f.node.record);
    assert_int_equal(f.node.patches, 2);
    assert_int_equal(f.node.events, 2);
    assert_string_equal(told(&f), "");
    end(&f);
}

static void dry_runs_leave_no_trace(void **state) {
    (void)state;
    static const struct {
        enum dry_run how;
        int patches;
        const char *said;
    } cases[] = {{DRY_RUN_CLIENT, 0, "node/w1 cordoned (dry run)\n"},
                 {DRY_RUN_SERVER, 1, "node/w1 cordoned (server dry run)\n"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        start(&f, &(struct cluster_of_one){0});
        f.c.dry_run = cases[i].how;
        assert_int_equal(change(&f, true), EXIT_DONE);
        assert_string_equal(said(&f), cases[i].said);
        assert_int_equal(f.node.patches, cases[i].patches);
        assert_int_equal(f.node.events, 0);
        assert_false(f.node.cordoned);
        if (cases[i].patches)
            assert_string_equal(f.node.query, "?fieldManager=slipway&dryRun=All");
        end(&f);
    }
}

static void conflicts_are_decided_again(void **state) {
    (void)state;
    struct fixture f;
    start(&f, &(struct cluster_of_one){.conflicts = 3});
    assert_int_equal(change(&f, true), EXIT_DONE);
    assert_string_equal(said(&f), "node/w1 cordoned\n");
    assert_int_equal(f.node.patches, 4);
    end(&f);
    start(&f, &(struct cluster_of_one){.conflicts = 1000});
    assert_int_equal(change(&f, true), EXIT_FAILED);
    assert_string_equal(said(&f), "");
    assert_non_null(strstr(told(&f), "unable to cordon node \"w1\": others change the node"));
    assert_int_equal(f.node.patches, 8);
    end(&f);
}

static void a_lost_answer_is_looked_after(void **state) {
    (void)state;
    struct fixture f;
    start(&f, &(struct cluster_of_one){.lost = 1});
    assert_int_equal(change(&f, true), EXIT_DONE);
    assert_string_equal(said(&f), "node/w1 cordoned\n");
    assert_int_equal(f.node.events, 1);
    end(&f);
    start(&f, &(struct cluster_of_one){.cordoned = true, .record = HELD("cli/eve"), .lost = 1});
    assert_int_equal(change(&f, false), EXIT_DONE);
    assert_string_equal(said(&f), "node/w1 uncordoned\n");
    assert_false(f.node.cordoned);
    end(&f);
}

static void what_others_hold_stays(void **state) {
    (void)state;
    struct fixture f;
    start(&f, &(struct cluster_of_one){.cordoned = true, .record = HELD("bob")});
    assert_int_equal(change(&f, false), EXIT_REFUSED);
    assert_string_equal(said(&f), "");
    assert_string_equal(told(&f),
                        "error: node \"w1\" is held cordoned by bob: you do not hold it, and "
                        "nothing was changed; 'slipway uncordon w1 --any-holder' makes it "
                        "schedulable all the same\n");
    assert_int_equal(f.node.patches, 0);
    f.c.any = true;
    assert_int_equal(change(&f, false), EXIT_DONE);
    assert_string_equal(said(&f), "node/w1 uncordoned\n");
    end(&f);
}

static void no_permission_is_an_access_error(void **state) {
    (void)state;
    struct fixture f;
    start(&f, &(struct cluster_of_one){.refuse = 403});
    assert_int_equal(change(&f, true), EXIT_ACCESS);
    assert_string_equal(said(&f), "");
    assert_string_equal(told(&f), "error: unable to cordon node \"w1\": it is so\n");
    assert_int_equal(f.node.events, 0);
    end(&f);
}

static void only_our_conditions_are_ended(void **state) {
    (void)state;
    struct fixture f;
    start(&f, &(struct cluster_of_one){.condition = "SlipwayDraining"});
    assert_int_equal(change(&f, false), EXIT_DONE);
    assert_string_equal(said(&f), "node/w1 already uncordoned\n");
    assert_int_equal(f.node.status_patches, 1);
    end(&f);
    start(&f, &(struct cluster_of_one){.condition = "OtherTool"});
    assert_int_equal(change(&f, false), EXIT_DONE);
    assert_int_equal(f.node.status_patches, 0);
    end(&f);
}

/* An endpoint that takes Events and never answers must cost little, and only once. */
static void events_are_not_waited_for(void **state) {
    (void)state;
    struct fixture f;
    start(&f, &(struct cluster_of_one){.deaf = true});
    int64_t began = loop_now(f.session.loop);
    assert_int_equal(change(&f, true), EXIT_DONE);
    assert_int_equal(change(&f, false), EXIT_DONE);
    assert_true(loop_now(f.session.loop) - began < SEC(9));
    assert_int_equal(f.node.events, 1);
    assert_string_equal(said(&f), "node/w1 cordoned\nnode/w1 uncordoned\n");
    assert_string_equal(told(&f), "");
    end(&f);
}

/* Ours was lifted, and somebody else has cordoned it since. */
static void a_record_of_an_earlier_cordon_lifts_nothing(void **state) {
    (void)state;
    static char record[] = "{\"v\":1,\"before\":false,\"holders\":[{\"id\":\"cli/eve\",\"since\":"
                           "\"2026-11-15T08:00:00Z\"}]}"; /* eve looks at 09:00:00 */
    struct fixture f;
    start(&f, &(struct cluster_of_one){
                  .cordoned = true, .record = record, .added = "2026-11-15T08:30:00Z"});
    assert_int_equal(change(&f, false), EXIT_REFUSED);
    assert_true(f.node.cordoned);
    const char *text = told(&f);
    assert_non_null(strstr(text, "somebody who left no record"));
    assert_non_null(strstr(text, "since 2026-11-15T08:30:00Z"));
    assert_non_null(strstr(text, "'slipway uncordon w1 --any-holder'"));
    assert_int_equal(change(&f, true), EXIT_DONE);
    assert_string_equal(said(&f), "node/w1 already cordoned\n");
    assert_non_null(strstr(f.node.record, "\"before\":true"));
    f.c.any = true;
    assert_int_equal(change(&f, false), EXIT_DONE);
    assert_false(f.node.cordoned);
    end(&f);
}

/* The times of a record are compared with the cluster's. */
static void the_record_has_the_servers_time(void **state) {
    (void)state;
    struct fixture f;
    char since[TIMEFMT_LEN];
    start(&f, &(struct cluster_of_one){.date = "Sun, 06 Nov 1994 08:49:37 GMT"});
    f.c.holder.since = loop_wall(f.session.loop);
    assert_int_equal(change(&f, true), EXIT_DONE);
    /* Somebody may be slow between the two looks at the clock. */
    bool found = false;
    for (int late = 0; late < 60 && !found; late++)
        found = strstr(f.node.record,
                       time_format((INT64_C(784111777) - late) * USEC_PER_SEC, false, since));
    assert_true(found);
    end(&f);
}

static void what_a_surge_left_is_undone(void **state) {
    (void)state;
    static const struct {
        const char *by;
        int replicas, lowered, left;
        bool any;
        const char *told;
    } cases[] = {
        {"cli/eve", 2, 1, 1, false,
         "Deployment web/solo has 1 replica again: the drain of node w1 had given it one more\n"},
        /* Somebody else's drain may be at work. */
        {"cli/bob", 2, 0, 2, false, ""},
        {"cli/bob", 2, 1, 1, true,
         "Deployment web/solo has 1 replica again: the drain of node w1 had given it one more\n"},
        /* A count that was set since stays. */
        {"cli/eve", 5, 1, 5, false,
         "Deployment web/solo: the marks that the drain of node w1 had left are removed; its count "
         "was changed since and stays\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        start(&f, &(struct cluster_of_one){.cordoned = true,
                                           .record = HELD("cli/eve"),
                                           .raised = cases[i].by,
                                           .replicas = cases[i].replicas});
        f.c.any = cases[i].any;
        assert_int_equal(change(&f, false), EXIT_DONE);
        assert_string_equal(said(&f), "node/w1 uncordoned\n");
        assert_string_equal(told(&f), cases[i].told);
        assert_int_equal(f.node.lowered, cases[i].lowered);
        assert_int_equal(f.node.replicas, cases[i].left);
        assert_int_equal(f.node.lists, 1);
        end(&f);
    }
}

/* Taking a node is no reason to look, and one that stays ours keeps what it has. */
static void surges_are_looked_for_when_we_leave(void **state) {
    (void)state;
    struct fixture f;
    start(&f, &(struct cluster_of_one){.raised = "cli/eve", .replicas = 2});
    assert_int_equal(change(&f, true), EXIT_DONE);
    assert_int_equal(f.node.lists, 0);
    end(&f);
    start(&f, &(struct cluster_of_one){
                  .cordoned = true, .record = HELD("bob"), .raised = "cli/eve", .replicas = 2});
    assert_int_equal(change(&f, false), EXIT_REFUSED);
    assert_int_equal(f.node.lists, 0);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(dry_runs_leave_no_trace),
        cmocka_unit_test(conflicts_are_decided_again),
        cmocka_unit_test(a_lost_answer_is_looked_after),
        cmocka_unit_test(what_others_hold_stays),
        cmocka_unit_test(no_permission_is_an_access_error),
        cmocka_unit_test(only_our_conditions_are_ended),
        cmocka_unit_test(events_are_not_waited_for),
        cmocka_unit_test(a_record_of_an_earlier_cordon_lifts_nothing),
        cmocka_unit_test(the_record_has_the_servers_time),
        cmocka_unit_test(what_a_surge_left_is_undone),
        cmocka_unit_test(surges_are_looked_for_when_we_leave),
    };
    return cmocka_run_group_tests_name("cli/cordoning", tests, NULL, NULL);
}
