/* Tests of kube/reflector.c: every row of the table in its header, on the virtual clock, against
 * answers written by hand. tests/unit/kube/reflector_chaos.c tries everything at once. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "kube/reflector.h"
#include "model/own.h"
#include "support/pbwrite.h"
#include "support/script_transport.h"

#define JSON     "application/json"
#define PROTOBUF "application/vnd.kubernetes.protobuf"
#define STATUS   "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
#define EXPIRED                                                                                    \
    STATUS "\"message\":\"too old resource version: 1 (2)\",\"reason\":\"Expired\",\"code\":410}"
#define TOO_LARGE                                                                                  \
    STATUS "\"message\":\"Timeout: Too large resource version: 9, current: 5\",\"reason\":"        \
           "\"Timeout\",\"details\":{\"causes\":[{\"reason\":\"ResourceVersionTooLarge\","         \
           "\"message\":\"Too large resource version\"}],\"retryAfterSeconds\":1},\"code\":504}"

struct fixture {
    struct loop *loop;
    struct script *script;
    struct kube_client client;
    struct store *store;
    struct reflector *reflector;
    struct reflector_options opts;
    size_t at; /* requests that the test has looked at */
    int syncs, problems, recoveries, polls, unread;
    enum kube_outcome outcome;
    char *message;
    int64_t retry_in;
};

static void on_synced(void *arg) {
    struct fixture *f = arg;
    f->syncs++;
    assert_true(store_synced(f->store));
}

static void on_recovered(void *arg) {
    struct fixture *f = arg;
    f->recoveries++;
}

static void on_problem(void *arg, enum kube_outcome outcome, const char *message,
                       int64_t retry_in) {
    struct fixture *f = arg;
    f->problems++;
    f->outcome = outcome;
    str_replace(&f->message, message);
    f->retry_in = retry_in;
}

static void on_polling(void *arg, const char *message) {
    struct fixture *f = arg;
    f->polls++;
    str_replace(&f->message, message);
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
    f->store = store_new(&kind_pod, f->client.pool);
    f->opts = (struct reflector_options){
        .seed = 1,
        .synced = on_synced,
        .problem = on_problem,
        .recovered = on_recovered,
        .polling = on_polling,
        .arg = f,
    };
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    reflector_free(f->reflector);
    store_free(f->store);
    kube_transport_free(f->client.transport);
    size_t left = pool_stats(f->client.pool).entries;
    pool_free(f->client.pool);
    loop_free(f->loop);
    free(f->message);
    free(f);
    if (left)
        print_error("%zu pool entries are left\n", left);
    return left ? -1 : 0;
}

/* Other answers than by hand. */
static void answer_with(struct fixture *f, script_fn *fn, void *arg) {
    kube_transport_free(f->client.transport);
    f->script = script_new(f->loop, fn, arg);
    f->client.transport = script_transport(f->script);
}

static void start(struct fixture *f) {
    f->reflector = reflector_new(&f->client, f->store, &f->opts);
}

/* The next request that has come; fails when there is none or more than one. */
static struct script_call *next(struct fixture *f) {
    assert_int_equal(script_len(f->script), f->at + 1);
    return script_at(f->script, f->at++);
}

static void none(struct fixture *f) {
    assert_int_equal(script_len(f->script), f->at);
}

/* The next request, which comes after a pause in [low, high). */
static struct script_call *next_after(struct fixture *f, int64_t low, int64_t high) {
    none(f);
    loop_advance(f->loop, low - 1);
    none(f);
    loop_advance(f->loop, high - low + 1);
    return next(f);
}

static struct script_call *next_after_pause(struct fixture *f) {
    return next_after(f, MSEC(800), MSEC(1600));
}

#define assert_query(call, key, value) assert_string_equal(strna(script_query(call, key)), value)

static void assert_is_watch_list(struct script_call *c, const char *version) {
    assert_query(c, "watch", "1");
    assert_query(c, "sendInitialEvents", "true");
    assert_query(c, "resourceVersionMatch", "NotOlderThan");
    assert_query(c, "allowWatchBookmarks", "true");
    assert_query(c, "resourceVersion", version);
    assert_null(script_query(c, "limit"));
    assert_int_equal(c->lane, KUBE_LANE_WATCH);
}

static void assert_is_watch(struct script_call *c, const char *version) {
    assert_query(c, "watch", "1");
    assert_query(c, "allowWatchBookmarks", "true");
    assert_query(c, "resourceVersion", version);
    assert_null(script_query(c, "sendInitialEvents"));
    assert_null(script_query(c, "resourceVersionMatch"));
    assert_null(script_query(c, "limit"));
    assert_int_equal(c->lane, KUBE_LANE_WATCH);
}

static void assert_is_page(struct script_call *c, const char *limit, const char *token) {
    assert_null(script_query(c, "watch"));
    assert_null(script_query(c, "resourceVersion")); /* most recent */
    assert_query(c, "limit", limit);
    assert_query(c, "continue", token);
    assert_int_equal(c->lane, KUBE_LANE_CALL);
}

/* --- what servers send --- */

static char *pod_json(const char *name, int version) {
    return xasprintf("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\","
                     "\"namespace\":\"a\",\"resourceVersion\":\"%d\"}}",
                     name, version);
}

static void event(struct script_call *c, const char *type, const char *name, int version) {
    _cleanup_free_ char *pod = pod_json(name, version);
    _cleanup_free_ char *text = xasprintf("{\"type\":\"%s\",\"object\":%s}\n", type, pod);
    script_text(c, text);
}

static void bookmark(struct script_call *c, int version, bool end) {
    _cleanup_free_ char *text = xasprintf(
        "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{"
        "\"resourceVersion\":\"%d\",\"creationTimestamp\":null%s},\"spec\":{\"containers\":null},"
        "\"status\":{}}}\n",
        version, end ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
    script_text(c, text);
}

static void error_event(struct script_call *c, const char *status) {
    _cleanup_free_ char *text = xasprintf("{\"type\":\"ERROR\",\"object\":%s}\n", status);
    script_text(c, text);
}

/* names: "x@1 y@2" */
static void page(struct script_call *c, const char *names, const char *token, int version) {
    _cleanup_str_ struct str out = STR_INIT;
    str_add(&out, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{");
    if (version)
        str_addf(&out, "\"resourceVersion\":\"%d\"", version);
    if (token)
        str_addf(&out, "%s\"continue\":\"%s\"", version ? "," : "", token);
    str_add(&out, "},\"items\":[");
    _cleanup_free_ char *copy = xstrdup(names);
    char *save = NULL;
    bool first = true;
    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *at = strchr(word, '@');
        *at = '\0';
        _cleanup_free_ char *pod = pod_json(word, atoi(at + 1));
        str_addf(&out, "%s%s", first ? "" : ",", pod);
        first = false;
    }
    str_add(&out, "]}\n");
    script_reply(c, 200, JSON, str_get(&out));
}

/* "x@1 y@2", sorted */
static void assert_store(struct fixture *f, const char *expect) {
    _cleanup_str_ struct str out = STR_INIT;
    size_t n;
    _cleanup_free_ const struct object **all = store_sorted(f->store, &n);
    for (size_t i = 0; i < n; i++)
        str_addf(&out, "%s%s@%s", i ? " " : "", all[i]->meta.name, strna(all[i]->meta.version));
    assert_string_equal(str_get(&out), expect);
}

#define assert_version(f, v) assert_string_equal(strna(store_version((f)->store)), v)

/* Starts, and answers the WatchList with x@3 and version 5. Returns the stream, which is open. */
static struct script_call *sync_up(struct fixture *f) {
    start(f);
    struct script_call *c = next(f);
    script_head(c, 200, JSON);
    event(c, "ADDED", "x", 3);
    bookmark(c, 5, true);
    assert_true(store_synced(f->store));
    assert_version(f, "5");
    return c;
}

/* The same, but the stream has lived long enough to be replaced at once. */
static struct script_call *sync_and_live(struct fixture *f) {
    struct script_call *c = sync_up(f);
    loop_advance(f->loop, SEC(30));
    return c;
}

/* --- the good case --- */

static void test_watch_list(void **state) {
    struct fixture *f = *state;
    f->opts.field_selector = "spec.nodeName=n 1";
    f->opts.label_selector = "a=b,c";
    start(f);
    struct script_call *c = next(f);
    assert_string_equal(c->method, "GET");
    assert_true(str_starts(c->path, "/api/v1/pods?"));
    assert_string_equal(c->accept, PROTOBUF "," JSON);
    assert_is_watch_list(c, "");
    assert_null(script_query(c, "resourceVersion"));
    assert_query(c, "fieldSelector", "spec.nodeName=n 1");
    assert_query(c, "labelSelector", "a=b,c");
    assert_non_null(strstr(c->path, "fieldSelector=spec.nodeName%3Dn%201"));
    int seconds = atoi(script_query(c, "timeoutSeconds"));
    assert_in_range(seconds, 300, 599);
    assert_int_equal(c->idle, SEC(100));
    assert_int_equal(c->timeout, SEC(seconds + 60));

    script_head(c, 200, JSON);
    event(c, "ADDED", "y", 4);
    event(c, "ADDED", "x", 2);
    assert_false(store_synced(f->store));
    assert_null(store_version(f->store)); /* initial events do not advance it */
    bookmark(c, 4, false);                /* not the one that counts */
    assert_false(store_synced(f->store));
    assert_int_equal(f->syncs, 0);
    bookmark(c, 5, true);
    assert_true(store_synced(f->store));
    assert_int_equal(f->syncs, 1);
    assert_version(f, "5");
    assert_store(f, "x@2 y@4");

    /* the same stream goes on */
    event(c, "ADDED", "z", 6);
    assert_version(f, "6");
    event(c, "MODIFIED", "x", 7);
    event(c, "DELETED", "y", 8);
    assert_version(f, "8");
    assert_store(f, "x@7 z@6");
    bookmark(c, 20, false);
    assert_version(f, "20");
    none(f);
}

static void test_stream_ends(void **state) {
    struct fixture *f = *state;
    struct script_call *c = sync_up(f);
    loop_advance(f->loop, SEC(60));
    bookmark(c, 20, false);
    loop_advance(f->loop, SEC(60));
    event(c, "MODIFIED", "x", 21);
    script_end(c);
    c = next(f); /* without any pause */
    assert_is_watch(c, "21");
    assert_int_equal(c->idle, SEC(100));
    script_head(c, 200, JSON);
    event(c, "DELETED", "x", 22);
    assert_store(f, "");
    loop_advance(f->loop, SEC(50));
    script_fail(c, -ECONNRESET, true, "lost"); /* broken off is no worse than ended */
    assert_is_watch(next(f), "22");
    assert_int_equal(f->syncs, 1);
    assert_int_equal(f->problems, 0);
    struct reflector_stats stats = reflector_stats(f->reflector);
    assert_int_equal(stats.lists, 1);
    assert_int_equal(stats.watches, 3);
    assert_int_equal(stats.failures, 0);
    assert_true(stats.bytes > 100);
}

static size_t add_pb_event(struct str *out, const char *type, const char *name, const char *version,
                           bool end) {
    struct str message = STR_INIT, envelope = STR_INIT;
    size_t before = out->len;
    size_t at = pb_open(&message, 1);
    if (name) {
        pb_text(&message, 1, name);
        pb_text(&message, 3, "a");
    }
    pb_text(&message, 6, version);
    if (end)
        pb_pair(&message, 12, "k8s.io/initial-events-end", "true");
    pb_close(&message, at);
    pb_envelope(&envelope, "v1", "Pod", &message);
    pb_event(out, type, &envelope);
    str_done(&message);
    str_done(&envelope);
    return out->len - before;
}

static void test_protobuf(void **state) {
    struct fixture *f = *state;
    _cleanup_str_ struct str bytes = STR_INIT;
    start(f);
    struct script_call *c = next(f);
    script_head(c, 200, PROTOBUF ";stream=watch");
    add_pb_event(&bytes, "ADDED", "x", "3", false);
    add_pb_event(&bytes, "BOOKMARK", NULL, "5", true);
    add_pb_event(&bytes, "ADDED", "y", "6", false);
    add_pb_event(&bytes, "DELETED", "x", "7", false);
    size_t last = add_pb_event(&bytes, "MODIFIED", "y", "8", false);
    for (size_t i = 0; i < bytes.len - last / 2; i++)
        script_data(c, bytes.p + i, 1);
    assert_int_equal(f->syncs, 1);
    assert_store(f, "y@6");
    loop_advance(f->loop, SEC(10));
    script_end(c); /* within the last event */
    c = next(f);
    assert_is_watch(c, "7");
    script_head(c, 200, PROTOBUF ";stream=watch");
    script_data(c, bytes.p + bytes.len - last, last);
    assert_store(f, "y@8");
    assert_int_equal(f->problems, 0);
}

static void test_json_wanted(void **state) {
    struct fixture *f = *state;
    f->opts.json = true;
    f->opts.ns = "kube-system";
    f->opts.silence = SEC(7);
    start(f);
    struct script_call *c = next(f);
    assert_string_equal(c->accept, JSON);
    assert_true(str_starts(c->path, "/api/v1/namespaces/kube-system/pods?"));
    assert_int_equal(c->idle, SEC(7));
}

/* --- lists --- */

static void test_pages(void **state) {
    struct fixture *f = *state;
    f->opts.no_watch_list = true;
    f->opts.page = 2;
    f->opts.label_selector = "app=web";
    start(f);
    struct script_call *c = next(f);
    assert_is_page(c, "2", "");
    assert_query(c, "labelSelector", "app=web");
    assert_int_equal(c->idle, SEC(60));
    assert_int_equal(c->timeout, SEC(300));
    page(c, "a@1 b@2", "to/ken=&1", 9);
    c = next(f);
    assert_is_page(c, "2", "to/ken=&1");
    assert_query(c, "labelSelector", "app=web");
    assert_false(store_synced(f->store));
    page(c, "c@3", NULL, 9);
    assert_int_equal(f->syncs, 1);
    assert_version(f, "9");
    assert_store(f, "a@1 b@2 c@3");
    c = next(f);
    assert_is_watch(c, "9");
    assert_query(c, "labelSelector", "app=web");
    struct reflector_stats stats = reflector_stats(f->reflector);
    assert_int_equal(stats.lists, 1);
    assert_int_equal(stats.watches, 1);
}

/* Older servers refuse WatchList in several ways: pages at once, and from then on. */
static void test_watch_list_refused(void **state) {
    struct fixture *f = *state;
    static const int codes[] = {400, 422, 405, 406};
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        struct fixture *g;
        setup((void **)&g);
        start(g);
        struct script_call *c = next(g);
        script_reply(c, codes[i], JSON,
                     STATUS "\"message\":\"ListOptions.meta.k8s.io \\\"\\\" is invalid: "
                            "sendInitialEvents: Forbidden\",\"reason\":\"Invalid\"}");
        c = next(g);
        assert_is_page(c, "500", "");
        page(c, "x@1", NULL, 5);
        c = next(g);
        assert_is_watch(c, "5");
        script_reply(c, 410, JSON, EXPIRED);
        c = next_after_pause(g);
        assert_is_page(c, "500", ""); /* no second try */
        assert_int_equal(g->problems, 0);
        assert_int_equal(teardown((void **)&g), 0);
    }
    (void)f;
}

/* A WatchList that never says where its initial events end (a proxy, an aggregated API). */
static void test_watch_list_without_end(void **state) {
    struct fixture *f = *state;
    start(f);
    struct script_call *c = next(f);
    script_head(c, 200, JSON);
    event(c, "ADDED", "x", 3);
    loop_advance(f->loop, SEC(90));
    script_end(c);
    assert_int_equal(f->problems, 1);
    c = next_after_pause(f);
    assert_is_page(c, "500", "");
    page(c, "x@3", NULL, 5);
    assert_int_equal(f->syncs, 1);
    c = next(f);
    assert_is_watch(c, "5");
    script_reply(c, 410, JSON, EXPIRED);
    /* That was for once. */
    assert_is_watch_list(next_after(f, MSEC(1600), MSEC(3200)), "5");
}

static void test_token_expired(void **state) {
    struct fixture *f = *state;
    f->opts.no_watch_list = true;
    start(f);
    page(next(f), "a@1 b@2", "t1", 9);
    struct script_call *c = next(f);
    assert_is_page(c, "500", "t1");
    script_reply(c, 410, JSON,
                 STATUS "\"message\":\"The provided continue parameter is too old to display a "
                        "consistent list result.\",\"reason\":\"Expired\",\"code\":410}");
    c = next(f);
    assert_is_page(c, "0", ""); /* everything at once */
    assert_false(store_synced(f->store));
    page(c, "b@2 c@11", NULL, 12);
    assert_store(f, "b@2 c@11"); /* a was gone by then */
    assert_version(f, "12");
    c = next(f);
    assert_is_watch(c, "12");
    script_reply(c, 410, JSON, EXPIRED);
    assert_is_page(next_after_pause(f), "500", ""); /* pages again */
}

/* A server that gives a token even then, and calls it too old, is not asked in a circle. */
static void test_token_expired_always(void **state) {
    struct fixture *f = *state;
    f->opts.no_watch_list = true;
    start(f);
    page(next(f), "a@1", "t1", 9);
    script_reply(next(f), 410, JSON, EXPIRED);
    page(next(f), "a@1", "t2", 9);
    script_reply(next(f), 410, JSON, EXPIRED);
    none(f);
    assert_is_page(next_after_pause(f), "0", "");
}

static void test_page_fails(void **state) {
    struct fixture *f = *state;
    f->opts.no_watch_list = true;
    start(f);
    page(next(f), "a@1 b@2", "t1", 9);
    script_reply(next(f), 500, JSON, STATUS "\"message\":\"etcd\",\"code\":500}");
    assert_int_equal(f->outcome, KUBE_SERVER_ERROR);
    struct script_call *c = next_after_pause(f);
    assert_is_page(c, "500", ""); /* from the beginning: nothing says that the token still holds */
    script_head(c, 200, JSON);
    script_text(c, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
                   "\"9\"},\"items\":[");
    script_fail(c, -ECONNRESET, true, "lost");
    assert_int_equal(f->problems, 2);
    assert_int_equal(f->outcome, KUBE_UNKNOWN);
    assert_string_equal(f->message, "lost");
    c = next_after(f, MSEC(1600), MSEC(3200));
    script_head(c, 200, JSON);
    script_text(c, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
                   "\"9\"},\"items\":[");
    script_end(c); /* complete, says the transport, but it is not */
    assert_int_equal(f->problems, 3);
    assert_false(store_synced(f->store));
    page(next_after(f, MSEC(3200), MSEC(6400)), "b@2", NULL, 10);
    assert_int_equal(f->syncs, 1);
    assert_store(f, "b@2");
}

static void test_once(void **state) {
    struct fixture *f = *state;
    f->opts.once = true;
    start(f);
    page(next(f), "a@1", "t", 9);
    page(next(f), "b@2", NULL, 9);
    assert_int_equal(f->syncs, 1);
    loop_advance(f->loop, SEC(3600));
    none(f);
}

/* --- trouble with a watch --- */

/* What leaves the version as good as it was: the same watch again, after a pause. */
static void test_watch_retries(void **state) {
    (void)state;
    static const struct {
        int code;
        const char *type, *body;
        int error;
        enum kube_outcome outcome;
    } rows[] = {
        {429, "text/plain", "Too many requests", 0, KUBE_THROTTLED},
        {500, JSON, STATUS "\"message\":\"etcdserver: leader changed\",\"code\":500}", 0,
         KUBE_SERVER_ERROR},
        {503, "text/html", "<h1>503</h1>", 0, KUBE_SERVER_ERROR},
        {504, JSON, TOO_LARGE, 0, KUBE_TOO_NEW},
        {401, JSON, STATUS "\"message\":\"Unauthorized\",\"code\":401}", 0, KUBE_UNAUTHORIZED},
        {403, JSON, STATUS "\"message\":\"pods is forbidden\",\"code\":403}", 0, KUBE_FORBIDDEN},
        {404, JSON, STATUS "\"message\":\"not found\",\"code\":404}", 0, KUBE_NOT_FOUND},
        {0, NULL, NULL, -ECONNREFUSED, KUBE_UNREACHABLE},
        {0, NULL, NULL, -EHOSTUNREACH, KUBE_UNREACHABLE},
        {0, NULL, NULL, -EACCES, KUBE_NO_CREDENTIALS},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture *f;
        setup((void **)&f);
        script_end(sync_and_live(f));
        struct script_call *c = next(f);
        assert_is_watch(c, "5");
        if (rows[i].error)
            script_fail(c, rows[i].error, false, "no way");
        else
            script_reply(c, rows[i].code, rows[i].type, rows[i].body);
        assert_int_equal(f->problems, 1);
        assert_int_equal(f->outcome, rows[i].outcome);
        assert_in_range(f->retry_in, MSEC(800), MSEC(1600) - 1);
        c = next_after_pause(f);
        assert_is_watch(c, "5");
        assert_store(f, "x@3");
        assert_true(store_synced(f->store));
        script_head(c, 200, JSON);
        event(c, "DELETED", "x", 6);
        assert_store(f, "");
        assert_int_equal(f->syncs, 1);
        assert_int_equal(teardown((void **)&f), 0);
    }
}

/* What makes the version useless: list again, not older than what we have. */
static void test_watch_relists(void **state) {
    (void)state;
    enum { HTTP_410, HTTP_410_CUT, EVENT_410, EVENT_500, GARBLED, HTML, HTTP_400, WAYS };
    for (int way = 0; way < WAYS; way++) {
        struct fixture *f;
        setup((void **)&f);
        script_end(sync_and_live(f));
        struct script_call *c = next(f);
        switch (way) {
        case HTTP_410:
            script_reply(c, 410, JSON, EXPIRED);
            break;
        case HTTP_410_CUT:
            script_head(c, 410, JSON);
            script_text(c, "{\"kind\":");
            script_fail(c, -ECONNRESET, true, "lost");
            break;
        case EVENT_410:
        case EVENT_500:
            script_head(c, 200, JSON);
            event(c, "ADDED", "y", 6);
            error_event(c, way == EVENT_410 ? EXPIRED
                                            : STATUS
                               "\"message\":\"Internal error\",\"code\":500}");
            assert_false(c->open); /* nothing useful follows */
            break;
        case GARBLED:
            script_head(c, 200, JSON);
            event(c, "ADDED", "y", 6);
            script_text(c, "{\"type\":\"ADD\x80\xff");
            script_text(c, "\",\"object\":7}");
            assert_false(c->open);
            break;
        case HTML:
            script_reply(c, 200, "text/html", "<h1>Log in</h1>");
            break;
        case HTTP_400:
            script_reply(c, 400, JSON, STATUS "\"message\":\"invalid resource version\"}");
            break;
        }
        bool got_y = way == EVENT_410 || way == EVENT_500 || way == GARBLED;
        bool usual = way == HTTP_410 || way == HTTP_410_CUT || way == EVENT_410;
        assert_int_equal(f->problems, usual ? 0 : 1);
        c = next_after_pause(f);
        assert_is_watch_list(c, got_y ? "6" : "5");
        assert_true(store_synced(f->store));
        assert_store(f, got_y ? "x@3 y@6" : "x@3");
        script_head(c, 200, JSON);
        event(c, "ADDED", "z", 30);
        assert_store(f, got_y ? "x@3 y@6 z@30" : "x@3 z@30");
        bookmark(c, 30, true); /* x and y have vanished meanwhile */
        assert_store(f, "z@30");
        assert_version(f, "30");
        assert_int_equal(f->syncs, 1); /* told once */
        assert_int_equal(teardown((void **)&f), 0);
    }
}

static void test_retry_after(void **state) {
    struct fixture *f = *state;
    start(f);
    struct kube_head head = {.code = 429, .content_type = "text/plain", .retry_after = 20};
    script_reply_full(next(f), &head, "Too many", 8);
    assert_int_equal(f->retry_in, SEC(20));
    struct script_call *c = next_after(f, SEC(20), SEC(20) + 1);
    assert_is_watch_list(c, "");
    head.retry_after = 1; /* less than our own pause */
    script_reply_full(c, &head, "Too many", 8);
    assert_in_range(f->retry_in, MSEC(1600), MSEC(3200) - 1);
    c = next_after(f, MSEC(1600), MSEC(3200));
    head.retry_after = 1000000; /* nobody may send us to sleep for good */
    script_reply_full(c, &head, "Too many", 8);
    c = next_after(f, SEC(600), SEC(600) + 1);
    /* also from a Status, and from an ERROR event */
    script_reply(c, 429, JSON, STATUS "\"details\":{\"retryAfterSeconds\":40},\"code\":429}");
    c = next_after(f, SEC(40), SEC(40) + 1);
    script_head(c, 200, JSON);
    error_event(c, STATUS "\"details\":{\"retryAfterSeconds\":90},\"code\":429}");
    next_after(f, SEC(90), SEC(90) + 1);
}

/* A connection that is dead without anybody saying so. */
static void test_silent(void **state) {
    struct fixture *f = *state;
    struct script_call *c = sync_up(f);
    loop_advance(f->loop, SEC(99));
    bookmark(c, 6, false);
    loop_advance(f->loop, SEC(99));
    none(f);
    assert_true(c->open);
    loop_advance(f->loop, SEC(1));
    assert_int_equal(c->result, -ETIMEDOUT);
    assert_int_equal(f->problems, 0);
    c = next(f); /* at once */
    assert_is_page(c, "500", "");
    /* not even a head comes: that is told, the picture may be old */
    loop_advance(f->loop, SEC(15));
    assert_int_equal(c->result, -ETIMEDOUT);
    assert_int_equal(f->problems, 1);
    c = next_after_pause(f);
    assert_is_watch_list(c, "6");
    script_head(c, 200, JSON);
    event(c, "ADDED", "x", 3);
    loop_advance(f->loop, SEC(50)); /* it has as much time as ever */
    assert_int_equal(f->recoveries, 0);
    bookmark(c, 7, true);
    assert_int_equal(f->recoveries, 1);
    event(c, "DELETED", "x", 9);
    assert_int_equal(f->recoveries, 1);
    assert_store(f, "");
}

/* A kind of which nothing changes, where etcd tells of its progress every ten minutes: no bookmark
 * is newer than what the watch began with. The picture is as good as ever, and nobody is told. */
static void test_quiet_kind(void **state) {
    struct fixture *f = *state;
    struct script_call *c = sync_up(f);
    bookmark(c, 6, false);
    for (int i = 0; i < 5; i++) {
        loop_advance(f->loop, SEC(100));
        c = next(f);
        assert_is_page(c, "500", "");
        loop_advance(f->loop, SEC(14)); /* a busy server */
        page(c, "x@3", NULL, 6);
        c = next(f);
        assert_is_watch(c, "6");
        script_head(c, 200, JSON);
    }
    assert_int_equal(f->problems, 0);
    assert_store(f, "x@3");
    /* What a stream that was dead has kept from us is in the list. */
    loop_advance(f->loop, SEC(100));
    page(next(f), "y@8", NULL, 9);
    assert_store(f, "y@8");
    assert_is_watch(next(f), "9");
    assert_int_equal(f->problems, 0);
}

/* Nothing happens, and nothing needs to. */
static void test_idle_again(void **state) {
    struct fixture *f = *state;
    struct script_call *c = sync_up(f);
    loop_advance(f->loop, SEC(10));
    script_end(c);
    for (int i = 0; i < 2;
         i++) { /* one that ends at once is not worth a word, unless it is so again */
        c = i ? next_after_pause(f) : next(f);
        script_head(c, 200, JSON);
        loop_advance(f->loop, SEC(4));
        script_end(c);
    }
    assert_int_equal(f->problems, 1);
    c = next_after(f, MSEC(1600), MSEC(3200));
    loop_advance(f->loop, SEC(20)); /* no answer yet */
    assert_int_equal(f->recoveries, 0);
    script_head(c, 200, JSON);
    loop_advance(f->loop, SEC(4));
    assert_int_equal(f->recoveries, 0);
    loop_advance(f->loop, SEC(1));
    assert_int_equal(f->recoveries, 1);
    assert_true(c->open);
    none(f);
    event(c, "ADDED", "z", 9);
    assert_int_equal(f->recoveries, 1);
}

/* Streams that begin and bring nothing, not even bookmarks: the fifth makes us list again. */
static void test_deaf(void **state) {
    struct fixture *f = *state;
    struct script_call *c = sync_up(f);
    for (int i = 0; i < 4; i++) {
        loop_advance(f->loop, SEC(100));
        c = next(f);
        assert_is_watch(c, "5");
        script_head(c, 200, JSON);
    }
    loop_advance(f->loop, SEC(100));
    c = next_after_pause(f);
    assert_is_watch_list(c, "5");
    script_head(c, 200, JSON);
    event(c, "ADDED", "x", 3);
    bookmark(c, 5, true);
    assert_int_equal(f->problems, 0);
}

static void test_first_attempt_fails(void **state) {
    struct fixture *f = *state;
    start(f);
    script_fail(next(f), -ECONNREFUSED, false, "connection refused");
    assert_int_equal(f->problems, 1);
    assert_string_equal(f->message, "connection refused");
    script_reply(next_after_pause(f), 403, JSON,
                 STATUS "\"message\":\"pods is forbidden: User \\\"jane\\\" cannot list\","
                        "\"reason\":\"Forbidden\",\"code\":403}");
    assert_int_equal(f->outcome, KUBE_FORBIDDEN);
    assert_string_equal(f->message, "pods is forbidden: User \"jane\" cannot list");
    script_reply(next_after(f, MSEC(1600), MSEC(3200)), 404, "text/html", "<h1>404</h1>");
    assert_int_equal(f->outcome, KUBE_NOT_KUBERNETES);
    script_reply(next_after(f, MSEC(3200), MSEC(6400)), 200, "text/html", "<h1>Hello</h1>");
    assert_int_equal(f->outcome, KUBE_NOT_KUBERNETES);
    assert_string_equal(f->message, "the answer is \"text/html\", not a Kubernetes list: is this "
                                    "an API server?");
    script_reply(next_after(f, MSEC(6400), MSEC(12800)), 204, "", "");
    assert_int_equal(f->outcome, KUBE_NOT_KUBERNETES);
    assert_int_equal(f->problems, 5);
    assert_int_equal(reflector_stats(f->reflector).failures, 5);
    assert_int_equal(f->syncs, 0);
    assert_false(store_synced(f->store));
}

/* Initial events that break off leave what was there, and make nothing synced. */
static void test_initial_events_break_off(void **state) {
    struct fixture *f = *state;
    start(f);
    struct script_call *c = next(f);
    script_head(c, 200, JSON);
    event(c, "ADDED", "x", 3);
    event(c, "ADDED", "y", 4);
    script_fail(c, -ECONNRESET, true, "lost");
    assert_false(store_synced(f->store));
    c = next_after_pause(f);
    assert_is_page(c, "500", "");
    script_reply(c, 500, JSON, STATUS "\"code\":500}");
    c = next_after(f, MSEC(1600), MSEC(3200));
    assert_is_watch_list(c, "4"); /* and WatchList again, not older than what we have seen */
    script_head(c, 200, JSON);
    event(c, "ADDED", "y", 4);
    bookmark(c, 9, true);
    assert_store(f, "y@4"); /* x was of the broken one only */
    assert_int_equal(f->syncs, 1);
}

/* Live events may come before the end of the initial ones. */
static void test_deleted_before_end(void **state) {
    struct fixture *f = *state;
    start(f);
    struct script_call *c = next(f);
    script_head(c, 200, JSON);
    event(c, "ADDED", "x", 3);
    event(c, "ADDED", "y", 4);
    event(c, "DELETED", "x", 6);
    event(c, "MODIFIED", "y", 7);
    bookmark(c, 7, true);
    assert_store(f, "y@7");
    assert_version(f, "7");
}

/* The server is behind: a quorum read instead, which any server can do. */
static void test_too_new(void **state) {
    struct fixture *f = *state;
    script_end(sync_and_live(f));
    script_reply(next(f), 410, JSON, EXPIRED);
    struct script_call *c = next_after_pause(f);
    assert_is_watch_list(c, "5");
    script_reply(c, 504, JSON, TOO_LARGE);
    assert_int_equal(f->outcome, KUBE_TOO_NEW);
    c = next_after(f, MSEC(1600), MSEC(3200));
    assert_is_watch_list(c, "");
    script_head(c, 200, JSON);
    bookmark(c, 8, true);
    assert_store(f, "");
    loop_advance(f->loop, SEC(10));
    script_end(c);
    script_reply(next(f), 410, JSON, EXPIRED);
    assert_is_watch_list(next_after(f, MSEC(3200), MSEC(6400)), "8"); /* that was for once */
}

/* A listing that finds our version compacted is asked for without one. */
static void test_watch_list_expired(void **state) {
    struct fixture *f = *state;
    script_end(sync_and_live(f));
    script_reply(next(f), 410, JSON, EXPIRED);
    struct script_call *c = next_after_pause(f);
    assert_is_watch_list(c, "5");
    script_reply(c, 410, JSON, EXPIRED);
    assert_is_watch_list(next_after(f, MSEC(1600), MSEC(3200)), "");
}

/* etcd restored from a backup: everything has older versions than we have seen. */
static void test_restored(void **state) {
    struct fixture *f = *state;
    struct script_call *c = sync_up(f);
    event(c, "ADDED", "y", 100);
    loop_advance(f->loop, SEC(10));
    script_fail(c, -ECONNRESET, true, "lost");
    for (int i = 0; i < 5; i++) {
        c = i ? next_after(f, MSEC(800), SEC(60)) : next(f);
        assert_is_watch(c, "100");
        script_reply(c, 504, JSON, TOO_LARGE);
    }
    c = next_after(f, MSEC(800), SEC(60));
    assert_is_watch_list(c, "100");
    script_reply(c, 504, JSON, TOO_LARGE);
    c = next_after(f, MSEC(800), SEC(60));
    assert_is_watch_list(c, "");
    script_head(c, 200, JSON);
    event(c, "ADDED", "x", 2);
    event(c, "ADDED", "w", 4);
    bookmark(c, 50, true);
    assert_false(c->open); /* read once more before it is believed */
    assert_non_null(strstr(f->message, "restored from a backup"));
    assert_version(f, "100");
    assert_store(f, "w@4 x@3 y@100");
    c = next_after(f, MSEC(800), SEC(60));
    assert_is_page(c, "500", "");
    page(c, "w@4 x@2", NULL, 50);
    assert_store(f, "w@4 x@2");
    assert_version(f, "50");
    c = next(f);
    assert_is_watch(c, "50");
    script_head(c, 200, JSON);
    event(c, "MODIFIED", "x", 51);
    assert_store(f, "w@4 x@51");
    assert_int_equal(f->syncs, 1);
}

/* The same, but new writes have brought it to our version again: one object gives it away. */
static void test_restored_to_our_version(void **state) {
    struct fixture *f = *state;
    f->opts.no_watch_list = true;
    start(f);
    page(next(f), "x@3 y@4", NULL, 5);
    script_reply(next(f), 410, JSON, EXPIRED);
    page(next_after_pause(f), "x@2 y@4", NULL, 5);
    assert_non_null(strstr(f->message, "restored from a backup"));
    assert_store(f, "x@3 y@4");
    page(next_after(f, MSEC(1600), MSEC(3200)), "x@2 y@4", NULL, 5);
    assert_store(f, "x@2 y@4");
    assert_is_watch(next(f), "5");
}

/* --- versions --- */

/* A server that sends what we have seen long ago brings nothing back to life. */
static void test_old_events(void **state) {
    struct fixture *f = *state;
    struct script_call *c = sync_up(f);
    event(c, "DELETED", "x", 10);
    event(c, "ADDED", "x", 9);
    event(c, "ADDED", "old", 4);
    bookmark(c, 8, false);
    assert_store(f, "");
    assert_version(f, "10");
    /* etcd deletes all objects of one lease in one revision */
    event(c, "ADDED", "y", 11);
    event(c, "ADDED", "z", 12);
    event(c, "DELETED", "y", 20);
    event(c, "DELETED", "z", 20);
    assert_store(f, "");
    assert_version(f, "20");
}

static void test_no_version(void **state) {
    struct fixture *f = *state;
    start(f);
    struct script_call *c = next(f);
    script_head(c, 200, JSON);
    event(c, "ADDED", "x", 3);
    script_text(c, "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\","
                   "\"metadata\":{\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n");
    assert_false(c->open);
    assert_false(store_synced(f->store));
    assert_int_equal(f->outcome, KUBE_NOT_KUBERNETES);
    assert_string_equal(f->message, "the list has no resourceVersion");
    page(next_after_pause(f), "x@3", NULL, 0);
    assert_false(store_synced(f->store));
    assert_string_equal(f->message, "the list has no resourceVersion");
    assert_int_equal(f->syncs, 0);
    /* An object without one is taken, and does not move ours. */
    c = next_after(f, MSEC(1600), MSEC(3200));
    script_head(c, 200, JSON);
    bookmark(c, 5, true);
    script_text(c, "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\","
                   "\"metadata\":{\"name\":\"n\"}}}\n");
    script_text(c, "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\","
                   "\"metadata\":{\"resourceVersion\":\"6\"}}}\n"); /* without a name: dropped */
    assert_store(f, "n@");
    assert_version(f, "6");
}

/* --- pauses --- */

static void refuse(void *arg, struct script_call *c) {
    (void)arg;
    script_fail(c, -ECONNREFUSED, false, "refused");
}

static void test_backoff(void **state) {
    struct fixture *f = *state;
    answer_with(f, refuse, NULL);
    start(f);
    loop_advance(f->loop, SEC(1000));
    static const int ms[] = {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000, 30000, 30000};
    bool jitter = false;
    int64_t previous = 0;
    for (size_t i = 0; i < ARRAY_LEN(ms); i++) {
        int64_t pause = script_at(f->script, i + 1)->at - script_at(f->script, i)->at;
        assert_in_range(pause, MSEC(ms[i]), 2 * MSEC(ms[i]) - 1);
        jitter |= i > 7 && pause != previous;
        previous = pause;
    }
    assert_true(jitter);
}

static void test_jitter_follows_seed(void **state) {
    (void)state;
    int64_t at[3];
    for (int i = 0; i < 3; i++) {
        struct fixture *f;
        setup((void **)&f);
        f->opts.seed = i == 2 ? 77 : 5;
        answer_with(f, refuse, NULL);
        start(f);
        loop_advance(f->loop, SEC(100));
        at[i] = script_last(f->script)->at;
        assert_int_equal(teardown((void **)&f), 0);
    }
    assert_int_equal(at[0], at[1]);
    assert_int_not_equal(at[0], at[2]);
}

/* Pauses start over after two minutes without trouble, and not before. */
static void test_backoff_resets(void **state) {
    struct fixture *f = *state;
    script_end(sync_and_live(f));
    script_reply(next(f), 500, JSON, STATUS "\"code\":500}");
    script_reply(next_after_pause(f), 500, JSON, STATUS "\"code\":500}");
    struct script_call *c = next_after(f, MSEC(1600), MSEC(3200));
    script_head(c, 200, JSON);
    bookmark(c, 6, false);
    loop_advance(f->loop, SEC(60));
    script_end(c);
    script_reply(next(f), 500, JSON, STATUS "\"code\":500}");
    c = next_after(f, MSEC(3200), MSEC(6400));
    script_head(c, 200, JSON);
    for (int i = 0; i < 2; i++) {
        loop_advance(f->loop, SEC(60));
        bookmark(c, 7 + i, false);
    }
    script_end(c);
    script_reply(next(f), 500, JSON, STATUS "\"code\":500}");
    next_after_pause(f);
}

/* --- servers that never work: a bounded number of requests, and a report --- */

static void begin_watch(struct script_call *c) {
    script_head(c, 200, JSON);
    if (script_query(c, "sendInitialEvents")) {
        event(c, "ADDED", "x", 3);
        bookmark(c, 5, true);
    }
}

static void reply_500(void *arg, struct script_call *c) {
    (void)arg;
    script_reply(c, 500, JSON, STATUS "\"code\":500}");
}

static void reply_410(void *arg, struct script_call *c) {
    (void)arg;
    script_reply(c, 410, JSON, EXPIRED);
}

static void reply_400(void *arg, struct script_call *c) {
    (void)arg;
    script_reply(c, 400, JSON, STATUS "\"code\":400}");
}

static void reply_too_large(void *arg, struct script_call *c) {
    (void)arg;
    script_reply(c, 504, JSON, TOO_LARGE);
}

static void reply_html(void *arg, struct script_call *c) {
    (void)arg;
    script_reply(c, 200, "text/html", "<html>");
}

static void reply_empty(void *arg, struct script_call *c) {
    (void)arg;
    script_reply(c, 200, JSON, "");
}

static void reply_garbage(void *arg, struct script_call *c) {
    (void)arg;
    script_reply(c, 200, JSON, "{\"type\":\"ADDED\"}{{{{");
}

/* A good list or initial picture, and then ... */
static void sync_then_end(void *arg, struct script_call *c) {
    (void)arg;
    begin_watch(c);
    script_end(c);
}

static void sync_then_event_then_end(void *arg, struct script_call *c) {
    (void)arg;
    begin_watch(c);
    bookmark(c, 6, false);
    script_end(c);
}

static void sync_then_410(void *arg, struct script_call *c) {
    (void)arg;
    begin_watch(c);
    error_event(c, EXPIRED);
}

static void sync_then_garbage(void *arg, struct script_call *c) {
    (void)arg;
    begin_watch(c);
    script_text(c, "garbage");
}

static void sync_then_reset(void *arg, struct script_call *c) {
    (void)arg;
    begin_watch(c);
    script_fail(c, -ECONNRESET, true, "reset");
}

static void sync_then_refuse_watch(void *arg, struct script_call *c) {
    if (script_query(c, "sendInitialEvents"))
        sync_then_end(arg, c);
    else
        reply_410(arg, c);
}

static void list_then_410(void *arg, struct script_call *c) {
    (void)arg;
    if (script_query(c, "sendInitialEvents"))
        script_reply(c, 422, JSON, STATUS "\"code\":422}");
    else if (script_query(c, "watch"))
        script_reply(c, 410, JSON, EXPIRED);
    else
        page(c, "x@3", NULL, 5);
}

static void list_then_end(void *arg, struct script_call *c) {
    if (script_query(c, "watch") && !script_query(c, "sendInitialEvents"))
        sync_then_end(arg, c);
    else
        list_then_410(arg, c);
}

static void initial_events_never_end(void *arg, struct script_call *c) {
    (void)arg;
    if (!script_query(c, "watch")) {
        script_reply(c, 500, JSON, STATUS "\"code\":500}");
        return;
    }
    script_head(c, 200, JSON);
    event(c, "ADDED", "x", 3);
    script_end(c);
}

/* Hands out tokens for ever. */
static void endless(struct script_call *c, const char *items, int n) {
    char token[32];
    snprintf(token, sizeof token, "t%d", n);
    if (script_query(c, "watch"))
        script_reply(c, 422, JSON, STATUS "\"code\":422}");
    else
        page(c, items, token, 5);
}

static void same_token(void *arg, struct script_call *c) {
    (void)arg;
    endless(c, "x@3", 0);
}

static void same_page(void *arg, struct script_call *c) {
    endless(c, "x@3 y@4", ++*(int *)arg);
}

static void empty_pages(void *arg, struct script_call *c) {
    endless(c, "", ++*(int *)arg);
}

static void token_always_expired(void *arg, struct script_call *c) {
    (void)arg;
    if (script_query(c, "watch"))
        script_reply(c, 422, JSON, STATUS "\"code\":422}");
    else if (script_query(c, "continue"))
        script_reply(c, 410, JSON, EXPIRED);
    else
        page(c, "x@3", "t", 5);
}

static void no_list_version(void *arg, struct script_call *c) {
    (void)arg;
    if (script_query(c, "watch"))
        script_reply(c, 422, JSON, STATUS "\"code\":422}");
    else
        page(c, "x@3", NULL, 0);
}

/* The version goes back with every listing. */
static void ever_older(void *arg, struct script_call *c) {
    int *n = arg;
    if (!script_query(c, "sendInitialEvents")) {
        script_reply(c, 410, JSON, EXPIRED);
        return;
    }
    script_head(c, 200, JSON);
    bookmark(c, 1000000 - ++*n, true);
    script_end(c);
}

static void hang(void *arg, struct script_call *c) {
    (void)arg;
    (void)c;
}

static void head_then_hang(void *arg, struct script_call *c) {
    (void)arg;
    script_head(c, 200, JSON);
}

/* One byte of white space every 90 s keeps a stream alive, but not for ever. */
static void trickle_more(void *arg) {
    struct script_call *c = arg;
    script_text(c, " ");
    if (c->open)
        loop_timer_set(c->deliver, SEC(90));
}

static void trickle(void *arg, struct script_call *c) {
    (void)arg;
    script_head(c, 200, JSON);
    loop_timer_free(c->deliver);
    c->deliver = loop_timer_new((struct loop *)arg, trickle_more, c);
    loop_timer_set(c->deliver, SEC(90));
}

static void run_failing(const char *what, script_fn *fn, void *arg, size_t most) {
    struct fixture *f;
    setup((void **)&f);
    answer_with(f, fn, arg ? arg : NULL);
    if (fn == trickle) {
        kube_transport_free(f->client.transport);
        f->script = script_new(f->loop, fn, f->loop);
        f->client.transport = script_transport(f->script);
    }
    start(f);
    loop_advance(f->loop, SEC(3600));
    size_t n = script_len(f->script);
    if (n > most || n < 2)
        fail_msg("%s: %zu requests in an hour, not 2 to %zu", what, n, most);
    if (!f->problems)
        fail_msg("%s: nothing was reported", what);
    /* The last ten minutes are no busier than the cap allows. */
    size_t late = 0;
    for (size_t i = 0; i < n; i++)
        late += script_at(f->script, i)->at > SEC(3000);
    if (late > most / 6 + 2)
        fail_msg("%s: %zu requests in the last ten minutes", what, late);
    assert_int_equal(teardown((void **)&f), 0);
}

static void test_no_hot_loop(void **state) {
    (void)state;
    int n = 0, m = 0;
    /* 3600 s at no less than 30 s, and the shorter pauses in the beginning. */
    enum { CAP = 3600 / 30 + 8 };
#define RUN(fn, arg, most) run_failing(#fn, fn, arg, most)
    RUN(refuse, NULL, CAP);
    RUN(reply_500, NULL, CAP);
    RUN(reply_410, NULL, CAP);
    RUN(reply_400, NULL, CAP);
    RUN(reply_too_large, NULL, CAP);
    RUN(reply_html, NULL, CAP);
    RUN(reply_empty, NULL, CAP);
    RUN(reply_garbage, NULL, CAP);
    RUN(sync_then_end, NULL, CAP);
    RUN(sync_then_event_then_end, NULL, CAP);
    RUN(sync_then_410, NULL, CAP);
    RUN(sync_then_garbage, NULL, CAP);
    RUN(sync_then_reset, NULL, CAP);
    RUN(sync_then_refuse_watch, NULL, CAP);
    RUN(list_then_410, NULL, 2 * CAP); /* a list and a watch each time */
    RUN(list_then_end, NULL, CAP);
    RUN(initial_events_never_end, NULL, CAP);
    RUN(same_token, NULL, 2 * CAP);
    RUN(same_page, &n, 9 * CAP);
    RUN(empty_pages, &n, CAP);
    RUN(token_always_expired, NULL, 4 * CAP);
    RUN(no_list_version, NULL, CAP);
    RUN(ever_older, &m, 2 * CAP);
    RUN(hang, NULL, CAP);
    RUN(head_then_hang, NULL, CAP);
    RUN(trickle, NULL, CAP);
}

/* The same for servers that keep each stream for a while: no more than one request in 5 s. */
static void end_later(void *arg) {
    script_end(arg);
}

static void expire_later(void *arg) {
    error_event(arg, EXPIRED);
}

struct later {
    struct loop *loop;
    loop_fn *fn;
};

static void live_then(void *arg, struct script_call *c) {
    struct later *later = arg;
    begin_watch(c);
    loop_timer_free(c->deliver);
    c->deliver = loop_timer_new(later->loop, later->fn, c);
    loop_timer_set(c->deliver, SEC(6));
}

static void test_short_lives(void **state) {
    (void)state;
    loop_fn *const fns[] = {end_later, expire_later};
    for (int i = 0; i < 2; i++) {
        struct fixture *f;
        setup((void **)&f);
        struct later later = {f->loop, fns[i]};
        answer_with(f, live_then, &later);
        start(f);
        loop_advance(f->loop, SEC(3600));
        /* Ended: watched again each time. Expired: a whole list each time, so with pauses. */
        assert_in_range(script_len(f->script), 50, i ? 120 : 620);
        assert_int_equal(teardown((void **)&f), 0);
    }
}

/* --- where watching is forbidden --- */

/* As the server words it. */
#define FORBIDDEN(verb)                                                                            \
    STATUS "\"message\":\"pods is forbidden: User \\\"u\\\" cannot " verb                          \
           " resource \\\"pods\\\" in API group \\\"\\\" at the cluster scope\",\"reason\":"       \
           "\"Forbidden\",\"details\":{\"kind\":\"pods\"},\"code\":403}"

static void assert_polling_told(struct fixture *f) {
    assert_int_equal(f->polls, 1);
    assert_string_equal(f->message,
                        "pods is forbidden: User \"u\" cannot watch resource \"pods\" in "
                        "API group \"\" at the cluster scope");
}

static void test_poll(void **state) {
    struct fixture *f = *state;
    f->opts.poll = SEC(5);
    start(f);
    struct script_call *c = next(f);
    assert_is_watch_list(c, "");
    script_reply(c, 403, JSON, FORBIDDEN("watch"));
    assert_int_equal(f->polls, 0); /* nothing works yet */
    c = next(f);
    assert_is_page(c, "500", "");
    page(c, "x@3 y@4", NULL, 5);
    assert_int_equal(f->syncs, 1);
    assert_polling_told(f);
    assert_version(f, "5");
    for (int i = 0; i < 3; i++) {
        c = next_after(f, SEC(5), SEC(5) + 1);
        assert_is_page(c, "500", "");
        page(c, i ? "x@7" : "x@7 z@6", NULL, 8 + i);
        assert_store(f, i ? "x@7" : "x@7 z@6");
    }
    assert_version(f, "10");
    assert_int_equal(f->polls, 1);
    assert_int_equal(f->problems, 0);
}

/* The barrier works without watches too. */
static void test_poll_barrier(void **state) {
    struct fixture *f = *state;
    f->opts.poll = SEC(5);
    start(f);
    script_reply(next(f), 403, JSON, FORBIDDEN("watch"));
    page(next(f), "x@3", NULL, 5);
    store_wrote(f->store, "a", "x", "6");
    assert_false(store_fresh(f->store, "a", "x"));
    page(next_after(f, SEC(5), SEC(5) + 1), "", NULL, 6);
    assert_true(store_fresh(f->store, "a", "x"));
}

/* Whoever has written something need not wait for the next list as long as that. A list that was
 * asked for before is not the one; and many who are in a hurry have one in common. */
static void test_poll_hurry(void **state) {
    struct fixture *f = *state;
    f->opts.poll = SEC(5);
    start(f);
    reflector_hurry(f->reflector); /* nothing polls yet */
    script_reply(next(f), 403, JSON, FORBIDDEN("watch"));
    page(next(f), "x@3", NULL, 5);
    struct script_call *c = next_after(f, SEC(5), SEC(5) + 1);
    reflector_hurry(f->reflector); /* under way */
    page(c, "x@3", NULL, 6);
    c = next_after(f, MSEC(100), MSEC(100) + 1);
    page(c, "x@7", NULL, 7);
    loop_advance(f->loop, SEC(1));
    for (int i = 0; i < 10; i++)
        reflector_hurry(f->reflector);
    c = next_after(f, MSEC(100), MSEC(100) + 1);
    page(c, "x@8", NULL, 8);
    assert_store(f, "x@8");
    next_after(f, SEC(5), SEC(5) + 1);
}

/* Without WatchList the list comes first, and is recent when the watch is refused. */
static void test_poll_after_list(void **state) {
    struct fixture *f = *state;
    f->opts.poll = SEC(5);
    f->opts.no_watch_list = true;
    start(f);
    page(next(f), "x@3", NULL, 5);
    struct script_call *c = next(f);
    assert_is_watch(c, "5");
    loop_advance(f->loop, SEC(1));
    script_reply(c, 403, JSON, FORBIDDEN("watch"));
    assert_polling_told(f);
    c = next_after(f, SEC(4), SEC(4) + 1);
    assert_is_page(c, "500", "");
    page(c, "x@3", NULL, 6);
    next_after(f, SEC(5), SEC(5) + 1);
}

/* The permission is taken away: the picture is old, so it is read at once. */
static void test_poll_revoked(void **state) {
    struct fixture *f = *state;
    f->opts.poll = SEC(5);
    script_end(sync_and_live(f));
    script_reply(next(f), 403, JSON, FORBIDDEN("watch"));
    assert_polling_told(f);
    loop_advance(f->loop, 1);
    struct script_call *c = next(f);
    assert_is_page(c, "500", "");
    page(c, "x@8", NULL, 9);
    assert_store(f, "x@8");
}

/* Every five minutes a watch is tried: with the permission it is as it should be, and nobody is
 * told a second time without. */
static void test_poll_granted(void **state) {
    struct fixture *f = *state;
    f->opts.poll = SEC(60);
    start(f);
    script_reply(next(f), 403, JSON, FORBIDDEN("watch"));
    page(next(f), "x@3", NULL, 5);
    for (int i = 0; i < 4; i++)
        page(next_after(f, SEC(60), SEC(60) + 1), "x@3", NULL, 6 + i);
    page(next_after(f, SEC(60), SEC(60) + 1), "x@3", NULL, 20);
    struct script_call *c = next(f);
    assert_is_watch(c, "20");
    script_reply(c, 403, JSON, FORBIDDEN("watch"));
    for (int i = 0; i < 5; i++)
        page(next_after(f, SEC(60), SEC(60) + 1), "x@3", NULL, 21 + i);
    c = next(f);
    assert_is_watch(c, "25");
    script_head(c, 200, JSON);
    event(c, "ADDED", "y", 30);
    assert_store(f, "x@3 y@30");
    loop_advance(f->loop, SEC(30));
    script_end(c);
    assert_is_watch(next(f), "30");
    assert_int_equal(f->polls, 1);
    assert_int_equal(f->problems, 0);
}

/* Neither is allowed: that is a problem, and about the list. */
static void test_poll_nothing_allowed(void **state) {
    struct fixture *f = *state;
    f->opts.poll = SEC(5);
    start(f);
    script_reply(next(f), 403, JSON, FORBIDDEN("watch"));
    script_reply(next(f), 403, JSON, FORBIDDEN("list"));
    assert_int_equal(f->polls, 0);
    assert_int_equal(f->problems, 1);
    assert_int_equal(f->outcome, KUBE_FORBIDDEN);
    assert_non_null(strstr(f->message, "cannot list resource"));
    assert_is_page(next_after_pause(f), "500", "");
}

/* Trouble with a list of many is trouble as ever. */
static void test_poll_fails(void **state) {
    struct fixture *f = *state;
    f->opts.poll = SEC(5);
    start(f);
    script_reply(next(f), 403, JSON, FORBIDDEN("watch"));
    page(next(f), "x@3", NULL, 5);
    script_reply(next_after(f, SEC(5), SEC(5) + 1), 500, JSON, STATUS "\"code\":500}");
    assert_int_equal(f->problems, 1);
    assert_store(f, "x@3");
    struct script_call *c = next_after_pause(f);
    assert_is_page(c, "500", "");
    page(c, "x@3 y@7", NULL, 8);
    assert_int_equal(f->recoveries, 1);
    assert_store(f, "x@3 y@7");
    next_after(f, SEC(5), SEC(5) + 1);
    assert_int_equal(f->polls, 1);
}

/* Not wanted: a problem, as any other 403. */
static void test_poll_not_wanted(void **state) {
    struct fixture *f = *state;
    start(f);
    script_reply(next(f), 403, JSON, FORBIDDEN("watch"));
    assert_int_equal(f->problems, 1);
    assert_int_equal(f->outcome, KUBE_FORBIDDEN);
    assert_int_equal(f->polls, 0);
    assert_is_watch_list(next_after_pause(f), "");
}

/* --- limits --- */

static void test_endless_page(void **state) {
    struct fixture *f = *state;
    f->opts.no_watch_list = true;
    f->opts.page = 2;
    start(f);
    struct script_call *c = next(f);
    script_head(c, 200, JSON);
    script_text(c, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
                   "\"9\"},\"items\":[");
    _cleanup_free_ char *pod = pod_json("x", 1);
    int sent = 0;
    while (c->open && sent < 1000) {
        script_text(c, sent++ ? "," : " ");
        script_text(c, pod);
    }
    assert_int_equal(sent, 201); /* a hundred times the limit */
    assert_string_equal(f->message, "the list does not end");
    /* A server that ignores the limit may be right: its whole list, next time, is taken. */
    c = next_after_pause(f);
    assert_is_page(c, "0", "");
    page(c, "x@1", NULL, 9);
    assert_int_equal(f->syncs, 1);
}

static void test_large_error_body(void **state) {
    struct fixture *f = *state;
    static char junk[10000];
    memset(junk, 'x', sizeof junk);
    start(f);
    struct script_call *c = next(f);
    script_head(c, 503, "text/plain");
    int sent = 0;
    while (c->open && sent++ < 1000)
        script_data(c, junk, sizeof junk);
    assert_in_range(sent, 6, 8); /* 64 KiB */
    assert_int_equal(f->outcome, KUBE_SERVER_ERROR);
    assert_string_equal(f->message, "HTTP 503: the server failed");
    next_after_pause(f);
}

/* --- the end --- */

static void test_free_anywhere(void **state) {
    (void)state;
    for (int where = 0; where < 6; where++) {
        struct fixture *f;
        setup((void **)&f);
        start(f);
        struct script_call *c = next(f);
        if (where >= 1)
            script_head(c, 200, JSON);
        if (where >= 2)
            script_text(c, "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"apiVers");
        if (where >= 3)
            script_fail(c, -ECONNRESET, true, "lost"); /* pausing */
        if (where >= 4)
            c = next_after_pause(f);
        if (where == 5)
            script_head(c, 500, JSON);
        reflector_free(f->reflector);
        f->reflector = NULL;
        assert_int_equal(c->cancelled, where != 3);
        loop_advance(f->loop, SEC(1000));
        assert_int_equal(teardown((void **)&f), 0);
    }
    reflector_free(NULL);
}

static void on_unread(void *arg, const char *name, const char *why) {
    struct fixture *f = arg;
    f->unread++;
    assert_string_equal(name, "b");
    str_replace(&f->message, why);
}

static void own_event(struct script_call *c, const char *type, const char *name, int version,
                      const char *rest) {
    _cleanup_free_ char *text =
        xasprintf("{\"type\":\"%s\",\"object\":{\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\","
                  "\"resourceVersion\":\"%d\"},%s}}\n",
                  type, strstr(c->path, "policies") ? "Policy" : "Rollout", name, version, rest);
    script_text(c, text);
}

/* One that nobody can read does not hide the others: of a Policy it is known that it is there, and
 * how its status is; another one is not there. */
static void test_unread(void **state) {
    struct fixture *f = *state;
    static const struct kind *const own[] = {&kind_policy, &kind_rollout};
    static const char *const bad[] = {"\"spec\":{\"maxUnavailable\":99999999999},"
                                      "\"status\":{\"observedGeneration\":7}",
                                      "\"spec\":{\"maxFailed\":99999999999}"};
    f->opts.unread = on_unread;
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        store_free(f->store);
        f->store = store_new(own[i], f->client.pool);
        f->unread = f->syncs = 0;
        start(f);
        struct script_call *c = next(f);
        script_head(c, 200, JSON);
        own_event(c, "ADDED", "a", 2, "\"spec\":{}");
        own_event(c, "ADDED", "b", 3, bad[i]);
        script_text(c,
                    i ? "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Rollout\",\"metadata\":{"
                        "\"resourceVersion\":\"5\",\"annotations\":{\"k8s.io/initial-events-end\":"
                        "\"true\"}}}}\n"
                      : "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Policy\",\"metadata\":{"
                        "\"resourceVersion\":\"5\",\"annotations\":{\"k8s.io/initial-events-end\":"
                        "\"true\"}}}}\n");
        assert_int_equal(f->syncs, 1);
        assert_int_equal(f->unread, 1);
        assert_int_equal(f->problems, 0);
        assert_non_null(strstr(f->message, " b: spec.max"));
        assert_int_equal(store_len(f->store), i ? 1 : 2);
        const struct policy *p = (const struct policy *)store_get(f->store, NULL, "b");
        assert_int_equal(p != NULL, i == 0);
        if (p) {
            assert_string_equal(p->unread, f->message);
            assert_int_equal(p->observed_generation, 7);
        }
        own_event(c, "MODIFIED", "b", 6, "\"spec\":{}");
        p = (const struct policy *)store_get(f->store, NULL, "b");
        assert_non_null(p);
        if (!i)
            assert_null(p->unread);
        own_event(c, "MODIFIED", "b", 7, bad[i]);
        assert_int_equal(f->unread, 2);
        assert_int_equal(store_len(f->store), i ? 1 : 2);
        own_event(c, "DELETED", "b", 8, bad[i]);
        assert_int_equal(f->unread, 2);
        assert_int_equal(store_len(f->store), 1);
        reflector_free(f->reflector);
        f->reflector = NULL;
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(watch_list),
        TEST(stream_ends),
        TEST(protobuf),
        TEST(json_wanted),
        TEST(pages),
        TEST(watch_list_refused),
        TEST(watch_list_without_end),
        TEST(token_expired),
        TEST(token_expired_always),
        TEST(page_fails),
        TEST(once),
        TEST(watch_retries),
        TEST(watch_relists),
        TEST(retry_after),
        TEST(silent),
        TEST(idle_again),
        TEST(quiet_kind),
        TEST(deaf),
        TEST(first_attempt_fails),
        TEST(initial_events_break_off),
        TEST(deleted_before_end),
        TEST(too_new),
        TEST(watch_list_expired),
        TEST(restored),
        TEST(restored_to_our_version),
        TEST(old_events),
        TEST(no_version),
        TEST(backoff),
        TEST(jitter_follows_seed),
        TEST(backoff_resets),
        TEST(no_hot_loop),
        TEST(short_lives),
        TEST(poll),
        TEST(poll_barrier),
        TEST(poll_hurry),
        TEST(poll_after_list),
        TEST(poll_revoked),
        TEST(poll_granted),
        TEST(poll_nothing_allowed),
        TEST(poll_fails),
        TEST(poll_not_wanted),
        TEST(endless_page),
        TEST(large_error_body),
        TEST(unread),
        TEST(free_anywhere),
    };
    return cmocka_run_group_tests_name("kube/reflector", tests, NULL, NULL);
}
