/* Tests of kube/client.c: what is sent, and what is made of every sort of answer. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "kube/client.h"
#include "support/pbwrite.h"
#include "support/script_transport.h"

#define JSON     "application/json"
#define PROTOBUF "application/vnd.kubernetes.protobuf"
#define POD                                                                                        \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web-1\",\"namespace\":"      \
    "\"a\","                                                                                       \
    "\"resourceVersion\":\"7\"},\"spec\":{\"nodeName\":\"n1\"}}"

struct fixture {
    struct loop *loop;
    struct script *script;
    struct kube_client client;
    /* the last reply, copied */
    int replies;
    enum kube_outcome outcome;
    int code;
    char *message, *cause, *warning, *body;
    int64_t retry_after, date;
    bool has_status;
    struct object *taken; /* reply->obj when `take` */
    bool take, had_obj;
    struct kube_op *cancel_in_callback;
};

static void on_reply(void *arg, struct kube_reply *r) {
    struct fixture *f = arg;
    f->replies++;
    f->outcome = r->outcome;
    f->code = r->code;
    str_replace(&f->message, r->message);
    str_replace(&f->cause, r->cause);
    str_replace(&f->warning, r->warning);
    free(f->body);
    f->body = r->body.p ? xstrndup(r->body.p, r->body.len) : NULL;
    f->retry_after = r->retry_after;
    f->date = r->date;
    f->has_status = r->status != NULL;
    f->had_obj = r->obj != NULL;
    if (f->take) {
        f->taken = r->obj;
        r->obj = NULL;
    }
    kube_op_cancel(f->cancel_in_callback);
    f->cancel_in_callback = NULL;
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    f->loop = loop_new_virtual(SEC(1700000000));
    f->script = script_new(f->loop, NULL, NULL);
    f->client = (struct kube_client){
        .transport = script_transport(f->script),
        .loop = f->loop,
        .pool = pool_new(type_drop),
    };
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    kube_transport_free(f->client.transport);
    size_t left = pool_stats(f->client.pool).entries;
    pool_free(f->client.pool);
    loop_free(f->loop);
    free(f->message);
    free(f->cause);
    free(f->warning);
    free(f->body);
    free(f);
    if (left)
        print_error("%zu pool entries are left\n", left);
    return left ? -1 : 0;
}

static struct script_call *get(struct fixture *f, const struct kube_op_spec *spec) {
    kube_op_start(&f->client, spec, on_reply, f);
    return script_last(f->script);
}

static struct script_call *get_pod(struct fixture *f) {
    struct kube_op_spec spec = {.kind = &kind_pod, .ns = "a", .name = "web-1", .result = &kind_pod};
    return get(f, &spec);
}

/* --- what is sent --- */

static void test_paths(void **state) {
    (void)state;
    static const struct {
        const struct kind *kind;
        const char *ns, *name, *sub, *path;
    } rows[] = {
        {&kind_pod, NULL, NULL, NULL, "/api/v1/pods"},
        {&kind_pod, "a", NULL, NULL, "/api/v1/namespaces/a/pods"},
        {&kind_pod, "a", "web-1", NULL, "/api/v1/namespaces/a/pods/web-1"},
        {&kind_pod, "a", "web-1", "eviction", "/api/v1/namespaces/a/pods/web-1/eviction"},
        {&kind_node, NULL, "n1", NULL, "/api/v1/nodes/n1"},
        {&kind_node, "ignored", "n1", "status", "/api/v1/nodes/n1/status"},
        {&kind_namespace, NULL, "a", NULL, "/api/v1/namespaces/a"},
        {&kind_pdb, "a", "b", "status",
         "/apis/policy/v1/namespaces/a/poddisruptionbudgets/b/status"},
        {&kind_lease, "kube-system", "x", NULL,
         "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x"},
        {&kind_volume_attachment, NULL, NULL, NULL, "/apis/storage.k8s.io/v1/volumeattachments"},
        {&kind_pod, "a b", "w?x#y&z", NULL, "/api/v1/namespaces/a%20b/pods/w%3Fx%23y%26z"},
        {&kind_node, NULL, "n\xc3\xbc.example", NULL, "/api/v1/nodes/n%C3%BC.example"},
        {&kind_node, NULL, "system:node", NULL, "/api/v1/nodes/system%3Anode"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_str_ struct str path = STR_INIT;
        kube_path(&path, rows[i].kind, rows[i].ns, rows[i].name, rows[i].sub);
        assert_string_equal(str_get(&path), rows[i].path);
    }
}

static void test_request(void **state) {
    struct fixture *f = *state;
    struct script_call *c = get_pod(f);
    assert_string_equal(c->method, "GET");
    assert_string_equal(c->path, "/api/v1/namespaces/a/pods/web-1");
    assert_string_equal(c->accept, PROTOBUF "," JSON);
    assert_null(c->body);
    assert_null(c->content_type);
    assert_int_equal(c->timeout, SEC(60));
    assert_int_equal(c->lane, KUBE_LANE_CALL);
    assert_int_equal(f->replies, 0);

    f->client.timeout = SEC(7);
    struct kube_op_spec spec = {.path = "/version", .query = "timeout=5s", .lane = KUBE_LANE_LEASE};
    c = get(f, &spec);
    assert_string_equal(c->path, "/version?timeout=5s");
    assert_string_equal(c->accept, JSON); /* bytes for us to read */
    assert_int_equal(c->timeout, SEC(7));
    assert_int_equal(c->lane, KUBE_LANE_LEASE);

    spec = (struct kube_op_spec){
        .path = "/apis?x=1", .query = "y=2", .method = "POST", .body = "{}", .timeout = SEC(3)};
    c = get(f, &spec);
    assert_string_equal(c->path, "/apis?x=1&y=2");
    assert_string_equal(c->content_type, JSON);
    assert_string_equal(c->body, "{}");
    assert_int_equal(c->timeout, SEC(3));
    for (size_t i = 0; i < 3; i++)
        script_fail(script_at(f->script, i), -ECONNRESET, true, "lost");
    assert_int_equal(f->replies, 3);
}

static void on_seen(void *arg, const struct kube_seen *seen) {
    struct str *out = arg;
    str_addf(out, "%s %s/%s %d %lld\n", seen->method, seen->kind ? seen->kind->resource : "-",
             strna(seen->subresource), seen->code, (long long)seen->took);
}

/* Whoever counts is told of each, also of those that nobody answered. */
static void test_seen(void **state) {
    struct fixture *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    f->client.seen = on_seen;
    f->client.seen_arg = &out;
    struct script_call *c = get_pod(f);
    script_fail(c, -ECONNRESET, true, "lost");
    struct kube_op_spec spec = {
        .kind = &kind_node, .name = "n1", .subresource = "status", .method = "PATCH", .body = "{}"};
    c = get(f, &spec);
    script_reply(c, 404, JSON, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":404}");
    assert_int_equal(f->replies, 2);
    assert_string_equal(str_get(&out), "GET pods/ 0 0\nPATCH nodes/status 404 0\n");
}

static json_t *body_of(const struct script_call *c) {
    json_error_t error;
    json_t *v = c->body ? json_loads(c->body, JSON_REJECT_DUPLICATES, &error) : NULL;
    assert_non_null(v);
    return v;
}

/* Compares with JSON in which quotes are written as apostrophes. */
static void assert_body(const struct script_call *c, const char *expect) {
    _cleanup_free_ char *text = xstrdup(expect);
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    _cleanup_json_ json_t *want = json_loads(text, 0, NULL), *have = body_of(c);
    assert_non_null(want);
    if (!json_equal(want, have))
        fail_msg("sent %s, not %s", c->body, text);
}

static const struct kube_write pod_write = {.kind = &kind_pod, .ns = "a", .name = "web-1"};

static void test_evict(void **state) {
    struct fixture *f = *state;
    struct kube_write w = pod_write;
    kube_evict(&f->client, &w, "uid-1", -1, on_reply, f);
    struct script_call *c = script_last(f->script);
    assert_string_equal(c->method, "POST");
    assert_string_equal(c->path, "/api/v1/namespaces/a/pods/web-1/eviction?fieldManager=slipway");
    assert_string_equal(c->content_type, JSON);
    assert_body(c, "{'apiVersion':'policy/v1','kind':'Eviction','metadata':{'name':'web-1',"
                   "'namespace':'a'},'deleteOptions':{'preconditions':{'uid':'uid-1'}}}");
    script_reply(c, 201, JSON,
                 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                 "\"status\":\"Success\",\"code\":201}");
    assert_int_equal(f->replies, 1);
    assert_int_equal(f->outcome, KUBE_OK);
    assert_int_equal(f->code, 201);
    assert_true(f->has_status);

    w.kind = NULL; /* an eviction is one of a pod */
    w.dry_run = true;
    w.field_manager = "slipway drain";
    w.timeout = SEC(9);
    kube_evict(&f->client, &w, "uid-1", 0, on_reply, f);
    c = script_last(f->script);
    assert_string_equal(c->path, "/api/v1/namespaces/a/pods/web-1/eviction?fieldManager="
                                 "slipway%20drain&dryRun=All");
    assert_int_equal(c->timeout, SEC(9));
    assert_body(c, "{'apiVersion':'policy/v1','kind':'Eviction','metadata':{'name':'web-1',"
                   "'namespace':'a'},'deleteOptions':{'gracePeriodSeconds':0,'preconditions':"
                   "{'uid':'uid-1'},'dryRun':['All']}}");
    script_reply(c, 429, JSON,
                 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                 "\"Failure\",\"message\":\"Cannot evict pod as it would violate the pod's "
                 "disruption budget.\",\"reason\":\"TooManyRequests\",\"details\":{\"causes\":[{"
                 "\"reason\":\"DisruptionBudget\",\"message\":\"The disruption budget web needs 2 "
                 "healthy pods and has 2 currently\"}]},\"code\":429}");
    assert_int_equal(f->outcome, KUBE_PDB_NO_BUDGET);
    assert_string_equal(f->message,
                        "Cannot evict pod as it would violate the pod's disruption budget.");
    assert_string_equal(f->cause,
                        "The disruption budget web needs 2 healthy pods and has 2 currently");
    assert_int_equal(f->retry_after, -1);
}

static void test_delete(void **state) {
    struct fixture *f = *state;
    struct kube_delete_options opts = {
        .uid = "u", .version = "9", .grace = 30, .propagation = "Background"};
    kube_delete(&f->client, &pod_write, &opts, on_reply, f);
    struct script_call *c = script_last(f->script);
    assert_string_equal(c->method, "DELETE");
    assert_string_equal(c->path, "/api/v1/namespaces/a/pods/web-1");
    assert_body(c, "{'apiVersion':'v1','kind':'DeleteOptions','gracePeriodSeconds':30,"
                   "'propagationPolicy':'Background','preconditions':{'uid':'u',"
                   "'resourceVersion':'9'}}");
    /* still terminating: the object */
    script_reply(c, 200, JSON, POD);
    assert_int_equal(f->outcome, KUBE_OK);
    assert_true(f->had_obj);

    /* gone at once: a Status */
    struct kube_write w = pod_write;
    w.dry_run = true;
    opts = (struct kube_delete_options){.grace = -1};
    kube_delete(&f->client, &w, &opts, on_reply, f);
    c = script_last(f->script);
    assert_string_equal(c->path, "/api/v1/namespaces/a/pods/web-1?dryRun=All");
    /* the server does not look at the query of a DELETE that has a body */
    assert_body(c, "{'apiVersion':'v1','kind':'DeleteOptions','dryRun':['All']}");
    script_reply(c, 200, JSON,
                 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Success\","
                 "\"details\":{\"name\":\"web-1\",\"kind\":\"pods\",\"uid\":\"u\"}}");
    assert_int_equal(f->outcome, KUBE_OK);
    assert_false(f->had_obj);
    assert_true(f->has_status);
}

static void test_create_replace_patch(void **state) {
    struct fixture *f = *state;
    struct kube_write w = {.kind = &kind_lease, .ns = "a", .name = "x", .lane = KUBE_LANE_LEASE};
    kube_create(&f->client, &w, "{\"a\":1}", on_reply, f);
    struct script_call *c = script_last(f->script);
    assert_string_equal(c->method, "POST");
    assert_string_equal(c->path, "/apis/coordination.k8s.io/v1/namespaces/a/leases?fieldManager="
                                 "slipway");
    assert_string_equal(c->body, "{\"a\":1}");
    assert_string_equal(c->accept, PROTOBUF "," JSON);
    assert_int_equal(c->lane, KUBE_LANE_LEASE);
    script_fail(c, -ECONNRESET, true, "lost");

    kube_replace(&f->client, &w, "{}", on_reply, f);
    c = script_last(f->script);
    assert_string_equal(c->method, "PUT");
    assert_string_equal(c->path, "/apis/coordination.k8s.io/v1/namespaces/a/leases/x?fieldManager="
                                 "slipway");
    script_fail(c, -ECONNRESET, true, "lost");

    static const char *const types[] = {"application/json-patch+json",
                                        "application/merge-patch+json",
                                        "application/strategic-merge-patch+json"};
    struct kube_write node = {.kind = &kind_node, .name = "n1", .subresource = "status"};
    for (int how = KUBE_PATCH_JSON; how <= KUBE_PATCH_STRATEGIC; how++) {
        kube_patch(&f->client, &node, (enum kube_patch)how, "[]", on_reply, f);
        c = script_last(f->script);
        assert_string_equal(c->method, "PATCH");
        assert_string_equal(c->path, "/api/v1/nodes/n1/status?fieldManager=slipway");
        assert_string_equal(c->content_type, types[how]);
        assert_string_equal(c->body, "[]");
        script_fail(c, -ECONNRESET, true, "lost");
    }
    assert_int_equal(f->replies, 5);
}

/* What would mean something else in a path is never sent. */
static void test_bad_names(void **state) {
    struct fixture *f = *state;
    static const char *const bad[] = {"", ".", "..", "a/b", "../../nodes/n1", "a%2fb"};
    struct kube_delete_options opts = {.grace = -1};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct kube_write w = pod_write;
        w.name = bad[i];
        f->replies = 0;
        kube_delete(&f->client, &w, &opts, on_reply, f);
        assert_int_equal(f->replies, 0); /* from the loop, as ever */
        loop_advance(f->loop, 1);
        assert_int_equal(f->replies, 1);
        assert_int_equal(f->outcome, KUBE_INVALID);
        assert_non_null(strstr(f->message, "cannot be the name of a Kubernetes object"));
        w = pod_write;
        w.ns = bad[i];
        kube_delete(&f->client, &w, &opts, on_reply, f);
        loop_advance(f->loop, 1);
        assert_int_equal(f->replies, 2);
        /* and it can be cancelled */
        kube_op_cancel(kube_delete(&f->client, &w, &opts, on_reply, f));
        loop_advance(f->loop, 1);
        assert_int_equal(f->replies, 2);
    }
    assert_int_equal(script_len(f->script), 0);
}

/* --- answers --- */

static void test_json_object(void **state) {
    struct fixture *f = *state;
    f->take = true;
    struct script_call *c = get_pod(f);
    struct kube_head head = {.code = 200,
                             .content_type = JSON "; charset=utf-8",
                             .retry_after = -1,
                             .date = SEC(42),
                             .warning = "v1 Thing is old"};
    script_head_full(c, &head);
    for (const char *p = POD; *p; p++)
        script_data(c, p, 1);
    assert_int_equal(f->replies, 0);
    script_end(c);
    assert_int_equal(f->replies, 1);
    assert_int_equal(f->outcome, KUBE_OK);
    assert_int_equal(f->date, SEC(42));
    assert_int_equal(f->client.ahead, SEC(42) - loop_wall(f->loop)); /* is so for all */
    assert_string_equal(f->warning, "v1 Thing is old");
    assert_false(f->has_status);
    const struct pod *pod = (const struct pod *)f->taken;
    assert_string_equal(pod->meta.name, "web-1");
    assert_string_equal(pod->meta.version, "7");
    assert_string_equal(pod->node_name, "n1");
    object_free(&kind_pod, f->client.pool, f->taken);
}

static void test_protobuf_object(void **state) {
    struct fixture *f = *state;
    f->take = true;
    struct str message = STR_INIT, body = STR_INIT;
    size_t at = pb_open(&message, 1);
    pb_text(&message, 1, "web-1");
    pb_text(&message, 3, "a");
    pb_text(&message, 6, "8");
    pb_close(&message, at);
    pb_envelope(&body, "v1", "Pod", &message);
    struct kube_head head = {.code = 200, .content_type = PROTOBUF, .retry_after = -1};
    script_reply_full(get_pod(f), &head, body.p, body.len);
    assert_int_equal(f->outcome, KUBE_OK);
    assert_string_equal(f->taken->meta.version, "8");
    object_free(&kind_pod, f->client.pool, f->taken);
    str_done(&message);
    str_done(&body);
}

/* Nobody took the object: it is freed (teardown checks the pool). */
static void test_object_not_taken(void **state) {
    struct fixture *f = *state;
    script_reply(get_pod(f), 200, JSON, POD);
    assert_true(f->had_obj);
}

static void test_raw(void **state) {
    struct fixture *f = *state;
    struct kube_op_spec spec = {.path = "/version"};
    script_reply(get(f, &spec), 200, JSON, "{\"major\":\"1\"}");
    assert_int_equal(f->outcome, KUBE_OK);
    assert_string_equal(f->body, "{\"major\":\"1\"}");
    spec.path = "/healthz";
    script_reply(get(f, &spec), 200, "text/plain; charset=utf-8", "ok");
    assert_int_equal(f->outcome, KUBE_OK);
    assert_string_equal(f->body, "ok");
    script_reply(get(f, &spec), 200, "text/plain; charset=utf-8", "");
    assert_string_equal(f->body, "");
}

static void test_status(void **state) {
    struct fixture *f = *state;
    script_reply(get_pod(f), 404, JSON,
                 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\""
                 ",\"message\":\"pods \\\"web-1\\\" not found\",\"reason\":\"NotFound\",\"code\":"
                 "404}");
    assert_int_equal(f->outcome, KUBE_NOT_FOUND);
    assert_string_equal(f->message, "pods \"web-1\" not found");
    assert_null(f->cause);
    assert_true(f->has_status);
    /* one without words */
    script_reply(get_pod(f), 500, JSON, "{\"kind\":\"Status\",\"apiVersion\":\"v1\"}");
    assert_int_equal(f->outcome, KUBE_SERVER_ERROR);
    assert_non_null(strstr(f->message, "GET /api/v1/namespaces/a/pods/web-1: HTTP 500"));
    struct kube_head head = {
        .code = 429, .content_type = "text/plain", .retry_after = 3, .flow_control = true};
    script_reply_full(get_pod(f), &head, "Too many requests", 17);
    assert_int_equal(f->outcome, KUBE_THROTTLED);
    assert_int_equal(f->retry_after, 3);
    assert_string_equal(f->message,
                        "GET /api/v1/namespaces/a/pods/web-1: HTTP 429: Too many requests");
}

static void test_not_kubernetes(void **state) {
    struct fixture *f = *state;
    script_reply(get_pod(f), 200, "text/html; charset=utf-8", "<html>Please log in</html>");
    assert_int_equal(f->outcome, KUBE_NOT_KUBERNETES);
    assert_string_equal(f->message, "the answer to GET /api/v1/namespaces/a/pods/web-1 is "
                                    "\"text/html; charset=utf-8\", not a Kubernetes object");
    script_reply(get_pod(f), 404, "text/html", "<h1>\r\n\tNot   Found</h1>\n");
    assert_int_equal(f->outcome, KUBE_NOT_KUBERNETES);
    assert_string_equal(f->message, "GET /api/v1/namespaces/a/pods/web-1: HTTP 404: <h1> Not "
                                    "Found</h1>");
    script_reply(get_pod(f), 502, "text/html", "<h1>Bad Gateway</h1>");
    assert_int_equal(f->outcome, KUBE_SERVER_ERROR);
    script_reply(get_pod(f), 302, "", "");
    assert_int_equal(f->outcome, KUBE_NOT_KUBERNETES);
    assert_string_equal(f->message, "GET /api/v1/namespaces/a/pods/web-1: HTTP 302");
    script_reply(get_pod(f), 200, "", POD); /* it does not say what it is */
    assert_int_equal(f->outcome, KUBE_NOT_KUBERNETES);
}

/* A portal that answers everything with 200 must not look like a pod that was evicted. */
static void test_write_not_kubernetes(void **state) {
    struct fixture *f = *state;
    kube_evict(&f->client, &pod_write, "u", -1, on_reply, f);
    script_reply(script_last(f->script), 200, "text/html", "<html>Please log in</html>");
    assert_int_equal(f->outcome, KUBE_NOT_KUBERNETES);
    assert_non_null(strstr(f->message, "text/html"));
}

/* 200, but the Status in it says that nothing was done. */
static void test_failure_in_disguise(void **state) {
    struct fixture *f = *state;
    kube_evict(&f->client, &pod_write, "u", -1, on_reply, f);
    script_reply(script_last(f->script), 200, JSON,
                 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"code\":409,"
                 "\"reason\":\"Conflict\",\"message\":\"another uid\"}");
    assert_int_equal(f->outcome, KUBE_CONFLICT);
    assert_string_equal(f->message, "another uid");
    kube_evict(&f->client, &pod_write, "u", -1, on_reply, f);
    script_reply(script_last(f->script), 201, JSON,
                 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\"}");
    assert_int_equal(f->outcome, KUBE_SERVER_ERROR);
    kube_evict(&f->client, &pod_write, "u", -1, on_reply, f);
    script_reply(script_last(f->script), 201, JSON,
                 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Success\",\"code\":201}");
    assert_int_equal(f->outcome, KUBE_OK);
}

static void test_garbage(void **state) {
    struct fixture *f = *state;
    static const char *const bodies[] = {
        "",
        "{",
        "[]",
        "null",
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"x\"}",
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":7}",
        "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"x\"}}",
        "{\"kind\":\"Pod\",\"apiVersion\":\"v2\",\"metadata\":{\"name\":\"x\"}}",
        "{\"metadata\":{\"name\":\"x\"}}",
        "k8s",
    };
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        script_reply(get_pod(f), 200, JSON, bodies[i]);
        assert_int_equal(f->outcome, KUBE_NOT_KUBERNETES);
        assert_false(f->had_obj);
        assert_true(strlen(f->message) > 10);
        script_reply(get_pod(f), 200, PROTOBUF, bodies[i]);
        assert_int_equal(f->outcome, KUBE_NOT_KUBERNETES);
    }
}

/* What a foreign server says is shown on one line, without anything a terminal would act on. */
static void test_snippet(void **state) {
    struct fixture *f = *state;
    static const char evil[] = "\x1b[2Jhello\0wor\xffld\x07\x7f\x80";
    struct kube_head head = {.code = 500, .content_type = "text/plain", .retry_after = -1};
    script_reply_full(get_pod(f), &head, evil, sizeof evil - 1);
    assert_string_equal(f->message, "GET /api/v1/namespaces/a/pods/web-1: HTTP 500: [2Jhello wor"
                                    "\xef\xbf\xbdld \xef\xbf\xbd");
    char long_body[5000];
    memset(long_body, 'x', sizeof long_body);
    script_reply_full(get_pod(f), &head, long_body, sizeof long_body);
    assert_in_range(strlen(f->message), 200, 300);
}

static void test_too_large(void **state) {
    struct fixture *f = *state;
    static char mib[1 << 20];
    memset(mib, ' ', sizeof mib);
    struct script_call *c = get_pod(f);
    script_head(c, 200, JSON);
    int sent = 0;
    while (c->open && sent++ < 100)
        script_data(c, mib, sizeof mib);
    assert_int_equal(sent, KUBE_BODY_MAX / (int)sizeof mib + 1);
    assert_int_equal(c->result, -EMSGSIZE);
    assert_int_equal(f->replies, 1);
    assert_int_equal(f->outcome, KUBE_NOT_KUBERNETES);
    assert_string_equal(f->message, "GET /api/v1/namespaces/a/pods/web-1: the answer is longer "
                                    "than 16 MiB and was cut off");
    /* 16 MiB exactly are fine by us */
    c = get_pod(f);
    script_head(c, 200, JSON);
    script_text(c, POD);
    for (int i = 0; i < KUBE_BODY_MAX / (int)sizeof mib - 1; i++)
        script_data(c, mib, sizeof mib);
    script_end(c);
    assert_int_equal(f->outcome, KUBE_OK);
}

/* --- no answer --- */

static void test_failures(void **state) {
    struct fixture *f = *state;
    script_fail(get_pod(f), -ECONNREFUSED, false, "cannot connect to 10.0.0.1:6443: refused");
    assert_int_equal(f->outcome, KUBE_UNREACHABLE);
    assert_string_equal(f->message, "cannot connect to 10.0.0.1:6443: refused");
    assert_int_equal(f->code, 0);
    assert_int_equal(f->retry_after, -1);
    script_fail(get_pod(f), -EACCES, false, "the credential plugin failed");
    assert_int_equal(f->outcome, KUBE_NO_CREDENTIALS);
    script_fail(get_pod(f), -ECONNRESET, false, NULL);
    assert_string_equal(f->message, strerror(ECONNRESET));
    assert_false(f->had_obj);
}

/* Sent, and the answer lost, wherever it broke off: nobody knows whether it was carried out. */
static void test_ambiguous(void **state) {
    struct fixture *f = *state;
    for (int cut = 0; cut < 3; cut++) {
        kube_evict(&f->client, &pod_write, "u", -1, on_reply, f);
        struct script_call *c = script_last(f->script);
        if (cut > 0)
            script_head(c, 201, JSON);
        if (cut > 1)
            script_text(c, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"sta");
        script_fail(c, -ECONNRESET, true, "the connection was lost");
        assert_int_equal(f->outcome, KUBE_UNKNOWN);
        assert_string_equal(f->message, "the connection was lost");
        assert_int_equal(f->code, cut ? 201 : 0);
    }
}

static void test_timeout(void **state) {
    struct fixture *f = *state;
    struct kube_op_spec spec = {.kind = &kind_pod, .result = &kind_pod, .timeout = SEC(5)};
    get(f, &spec);
    loop_advance(f->loop, SEC(5) - 1);
    assert_int_equal(f->replies, 0);
    loop_advance(f->loop, 1);
    assert_int_equal(f->replies, 1);
    assert_int_equal(f->outcome, KUBE_UNKNOWN);
}

static void test_cancel(void **state) {
    struct fixture *f = *state;
    kube_op_cancel(NULL);
    struct kube_op_spec spec = {.kind = &kind_pod, .name = "x", .ns = "a", .result = &kind_pod};
    struct kube_op *op = kube_op_start(&f->client, &spec, on_reply, f);
    struct script_call *c = script_last(f->script);
    kube_op_cancel(op);
    assert_true(c->cancelled);
    op = kube_op_start(&f->client, &spec, on_reply, f);
    c = script_last(f->script);
    script_head(c, 200, JSON);
    script_text(c, "{\"kind\":");
    kube_op_cancel(op);
    assert_true(c->cancelled);
    /* another one, from a callback */
    f->cancel_in_callback = kube_op_start(&f->client, &spec, on_reply, f);
    struct script_call *other = script_last(f->script);
    script_reply(get_pod(f), 200, JSON, POD);
    assert_true(other->cancelled);
    loop_advance(f->loop, SEC(100));
    assert_int_equal(f->replies, 1);
}

/* --- one thing after another --- */

static void answer(void *arg, struct script_call *call) {
    (void)arg;
    if (strstr(call->path, "/pods/"))
        script_reply(call, 200, JSON, POD);
    else if (strstr(call->path, "/version"))
        script_reply(call, 200, JSON, "{}");
    else
        script_reply(call, 403, JSON,
                     "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"no\",\"details\":{"
                     "\"causes\":[{\"reason\":\"x\",\"message\":\"because\"}]}}");
}

static void test_run(void **state) {
    struct fixture *f = *state;
    kube_transport_free(f->client.transport);
    f->script = script_new(f->loop, answer, NULL);
    f->client.transport = script_transport(f->script);
    struct kube_held held;
    struct kube_op_spec spec = {.kind = &kind_pod, .ns = "a", .name = "x", .result = &kind_pod};
    kube_run(&f->client, &spec, &held);
    assert_int_equal(held.reply.outcome, KUBE_OK);
    assert_string_equal(held.reply.obj->meta.name, "web-1");
    kube_held_done(&f->client, &kind_pod, &held);
    kube_held_done(&f->client, &kind_pod, &held); /* leaves nothing */

    spec = (struct kube_op_spec){.path = "/version"};
    kube_run(&f->client, &spec, &held);
    assert_string_equal(held.reply.body.p, "{}");
    assert_int_equal(held.reply.body.len, 2);
    kube_held_done(&f->client, NULL, &held);

    spec = (struct kube_op_spec){.kind = &kind_node, .result = &kind_node};
    kube_run(&f->client, &spec, &held);
    assert_int_equal(held.reply.outcome, KUBE_FORBIDDEN);
    assert_string_equal(held.reply.message, "no");
    assert_string_equal(held.reply.cause, "because");
    kube_held_done(&f->client, &kind_node, &held);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(paths),
        TEST(request),
        TEST(seen),
        TEST(evict),
        TEST(delete),
        TEST(create_replace_patch),
        TEST(bad_names),
        TEST(json_object),
        TEST(protobuf_object),
        TEST(object_not_taken),
        TEST(raw),
        TEST(status),
        TEST(not_kubernetes),
        TEST(write_not_kubernetes),
        TEST(failure_in_disguise),
        TEST(garbage),
        TEST(snippet),
        TEST(too_large),
        TEST(failures),
        TEST(ambiguous),
        TEST(timeout),
        TEST(cancel),
        TEST(run),
    };
    return cmocka_run_group_tests_name("kube/client", tests, NULL, NULL);
}
