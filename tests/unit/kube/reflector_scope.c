/* Tests of kube/reflector.c: several reflectors fill one store, each with the pods of its node, on
 * the virtual clock, against answers written by hand. */
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
#include "support/script_transport.h"

#define JSON   "application/json"
#define STATUS "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
#define EXPIRED                                                                                    \
    STATUS "\"message\":\"too old resource version: 1 (2)\",\"reason\":\"Expired\",\"code\":410}"

enum { NODES = 2 };
static const char *const nodes[NODES] = {"a", "b"};

struct fixture {
    struct loop *loop;
    struct script *script;
    struct kube_client client;
    struct store *store;
    struct reflector *reflectors[NODES];
    struct script_call *calls[NODES]; /* the last of each */
    size_t at;
    int syncs, problems;
    bool no_watch_list;
};

static bool on_node(const struct object *obj, const void *arg) {
    return streq(strna(((const struct pod *)obj)->node_name), arg);
}

static struct store_scope scope(int i) {
    return (struct store_scope){on_node, nodes[i]};
}

static struct store_part *part(struct fixture *f, int i) {
    return store_part(f->store, scope(i));
}

static void on_synced(void *arg) {
    ((struct fixture *)arg)->syncs++;
}

static void on_problem(void *arg, enum kube_outcome outcome, const char *message,
                       int64_t retry_in) {
    (void)outcome;
    (void)message;
    (void)retry_in;
    ((struct fixture *)arg)->problems++;
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
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < NODES; i++)
        reflector_free(f->reflectors[i]);
    store_free(f->store);
    kube_transport_free(f->client.transport);
    size_t left = pool_stats(f->client.pool).entries;
    pool_free(f->client.pool);
    loop_free(f->loop);
    free(f);
    if (left)
        print_error("%zu pool entries are left\n", left);
    return left ? -1 : 0;
}

static void start(struct fixture *f, int i) {
    _cleanup_free_ char *selector = xasprintf("spec.nodeName=%s", nodes[i]);
    struct reflector_options opts = {
        .field_selector = selector,
        .scope = scope(i),
        .no_watch_list = f->no_watch_list,
        .seed = 1,
        .synced = on_synced,
        .problem = on_problem,
        .arg = f,
    };
    f->reflectors[i] = reflector_new(&f->client, f->store, &opts);
}

/* The next request, which is that of reflector i. */
static struct script_call *next(struct fixture *f, int i) {
    assert_int_equal(script_len(f->script), f->at + 1);
    struct script_call *c = script_at(f->script, f->at++);
    _cleanup_free_ char *selector = xasprintf("spec.nodeName=%s", nodes[i]);
    assert_string_equal(strna(script_query(c, "fieldSelector")), selector);
    return f->calls[i] = c;
}

static struct script_call *next_after_pause(struct fixture *f, int i) {
    loop_advance(f->loop, MSEC(1600));
    return next(f, i);
}

static void event(struct script_call *c, const char *type, const char *node, const char *name,
                  int version) {
    _cleanup_free_ char *text = xasprintf(
        "{\"type\":\"%s\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{"
        "\"name\":\"%s\",\"namespace\":\"ns\",\"resourceVersion\":\"%d\"},\"spec\":{"
        "\"nodeName\":\"%s\"}}}\n",
        type, name, version, node);
    script_text(c, text);
}

static void bookmark(struct script_call *c, int version, bool end) {
    _cleanup_free_ char *text = xasprintf(
        "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{"
        "\"resourceVersion\":\"%d\"%s}}}\n",
        version, end ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
    script_text(c, text);
}

static void error_event(struct script_call *c, const char *status) {
    _cleanup_free_ char *text = xasprintf("{\"type\":\"ERROR\",\"object\":%s}\n", status);
    script_text(c, text);
}

/* "x@1/a y@2/b", sorted */
static void assert_store(struct fixture *f, const char *expect) {
    _cleanup_str_ struct str out = STR_INIT;
    size_t n;
    _cleanup_free_ const struct object **all = store_sorted(f->store, &n);
    for (size_t i = 0; i < n; i++)
        str_addf(&out, "%s%s@%s/%s", i ? " " : "", all[i]->meta.name, strna(all[i]->meta.version),
                 strna(((const struct pod *)all[i])->node_name));
    assert_string_equal(str_get(&out), expect);
}

#define assert_version(f, i, v) assert_string_equal(strna(store_part_version(part(f, i))), v)

/* Both stream: x@3 on a at version 5, y@4 on b at version 9. */
static void sync_up(struct fixture *f) {
    start(f, 0);
    script_head(next(f, 0), 200, JSON);
    start(f, 1);
    script_head(next(f, 1), 200, JSON);
    event(f->calls[0], "ADDED", "a", "x", 3);
    event(f->calls[1], "ADDED", "b", "y", 4);
    bookmark(f->calls[0], 5, true);
    assert_int_equal(f->syncs, 1);
    assert_true(store_scope_synced(f->store, scope(0)));
    assert_false(store_synced(f->store)); /* b is not */
    bookmark(f->calls[1], 9, true);
    assert_int_equal(f->syncs, 2);
    assert_true(store_synced(f->store));
    assert_store(f, "x@3/a y@4/b");
}

static void test_two(void **state) {
    struct fixture *f = *state;
    sync_up(f);
    assert_version(f, 0, "5");
    assert_version(f, 1, "9");
    event(f->calls[1], "ADDED", "b", "z", 20);
    event(f->calls[0], "MODIFIED", "a", "x", 12); /* older than what b has seen, and new here */
    assert_store(f, "x@12/a y@4/b z@20/b");
    event(f->calls[0], "DELETED", "a", "x", 13);
    assert_store(f, "y@4/b z@20/b");
    assert_version(f, 0, "13");
    assert_version(f, 1, "20");
}

/* Each goes on from its own version, not from where the other is. */
static void test_resumes(void **state) {
    struct fixture *f = *state;
    sync_up(f);
    loop_advance(f->loop, SEC(30));
    bookmark(f->calls[1], 100, false);
    script_end(f->calls[0]);
    struct script_call *c = next(f, 0);
    assert_string_equal(strna(script_query(c, "resourceVersion")), "5");
    script_end(f->calls[1]);
    c = next(f, 1);
    assert_string_equal(strna(script_query(c, "resourceVersion")), "100");
}

/* The version of one is gone, and what happened meanwhile is only in the new list; the other
 * streams on. */
static void test_expired_beside_stream(void **state) {
    struct fixture *f = *state;
    sync_up(f);
    event(f->calls[0], "ADDED", "a", "w", 10);
    loop_advance(f->loop, SEC(30));
    error_event(f->calls[0], EXPIRED);
    assert_store(f, "w@10/a x@3/a y@4/b"); /* a picture that is old, not none */
    event(f->calls[1], "ADDED", "b", "z", 50);
    struct script_call *c = next_after_pause(f, 0);
    assert_string_equal(strna(script_query(c, "sendInitialEvents")), "true");
    assert_string_equal(strna(script_query(c, "resourceVersion")), "10");
    script_head(c, 200, JSON);
    event(c, "ADDED", "a", "v", 40);
    event(f->calls[1], "DELETED", "b", "y", 51);
    event(c, "ADDED", "a", "x", 3);
    event(f->calls[1], "ADDED", "b", "y", 52);
    bookmark(c, 45, true); /* older than what b has: no reason for doubt */
    assert_store(f, "v@40/a x@3/a y@52/b z@50/b");
    assert_version(f, 0, "45");
    assert_version(f, 1, "52");
    assert_int_equal(f->problems, 0);
    assert_int_equal(f->syncs, 2);
}

/* Both list at the same time, in pages. */
static void test_pages_cross(void **state) {
    struct fixture *f = *state;
#define ITEM(node, name, version)                                                                  \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"ns\",\"resourceVersion\":\"" version     \
    "\"},\"spec\":{\"nodeName\":\"" node "\"}}"
#define PAGE(meta, items)                                                                          \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{" meta "},\"items\":[" items "]}"
    f->no_watch_list = true;
    start(f, 0);
    struct script_call *a = next(f, 0);
    start(f, 1);
    struct script_call *b = next(f, 1);
    script_reply(a, 200, JSON,
                 PAGE("\"resourceVersion\":\"9\",\"continue\":\"t\"", ITEM("a", "a1", "1")));
    a = next(f, 0);
    script_reply(b, 200, JSON, PAGE("\"resourceVersion\":\"8\"", ITEM("b", "b1", "2")));
    b = next(f, 1); /* the watch */
    assert_string_equal(strna(script_query(b, "resourceVersion")), "8");
    assert_store(f, "a1@1/a b1@2/b");
    assert_false(store_synced(f->store));
    script_reply(a, 200, JSON, PAGE("\"resourceVersion\":\"9\"", ITEM("a", "a2", "3")));
    a = next(f, 0);
    assert_string_equal(strna(script_query(a, "resourceVersion")), "9");
    assert_store(f, "a1@1/a a2@3/a b1@2/b");
    assert_true(store_synced(f->store));
}

/* A StatefulSet's pod goes from a to b; b hears of it first. */
static void test_name_moves(void **state) {
    struct fixture *f = *state;
    sync_up(f);
    event(f->calls[1], "ADDED", "b", "x", 20);
    event(f->calls[0], "MODIFIED", "a", "x", 10);
    event(f->calls[0], "DELETED", "a", "x", 11);
    assert_store(f, "x@20/b y@4/b");
    /* a's next list has only what it is told, and is believed: it is not older than a itself. */
    loop_advance(f->loop, SEC(30));
    error_event(f->calls[0], EXPIRED);
    struct script_call *c = next_after_pause(f, 0);
    script_head(c, 200, JSON);
    bookmark(c, 15, true);
    assert_store(f, "x@20/b y@4/b");
    assert_int_equal(f->problems, 0);
}

static void test_barrier(void **state) {
    struct fixture *f = *state;
    sync_up(f);
    store_wrote(f->store, "ns", "x", "30");
    bookmark(f->calls[1], 100, false);
    assert_false(store_fresh(f->store, "ns", "x"));
    bookmark(f->calls[0], 29, false);
    assert_false(store_fresh(f->store, "ns", "x"));
    bookmark(f->calls[0], 31, false);
    assert_true(store_fresh(f->store, "ns", "x"));
}

/* A server that does not honour the selector cannot put anything into the part of another. */
static void test_selector_ignored(void **state) {
    struct fixture *f = *state;
    sync_up(f);
    event(f->calls[0], "ADDED", "b", "y", 50);
    event(f->calls[0], "DELETED", "b", "y", 51);
    event(f->calls[0], "ADDED", "c", "q", 52);
    assert_store(f, "x@3/a y@4/b");
    assert_version(f, 0, "52");
}

/* One node is done: its pods are dropped, the other goes on; later it is looked at again. */
static void test_drop(void **state) {
    struct fixture *f = *state;
    sync_up(f);
    reflector_free(f->reflectors[0]);
    f->reflectors[0] = NULL;
    assert_store(f, "x@3/a y@4/b"); /* until somebody says so */
    store_drop_scope(f->store, scope(0));
    assert_store(f, "y@4/b");
    assert_true(store_synced(f->store));
    event(f->calls[1], "ADDED", "b", "z", 60);
    start(f, 0);
    assert_false(store_synced(f->store));
    struct script_call *c = next(f, 0);
    assert_null(script_query(c, "resourceVersion")); /* it starts from nothing */
    script_head(c, 200, JSON);
    event(c, "ADDED", "a", "x", 3);
    bookmark(c, 61, true);
    assert_store(f, "x@3/a y@4/b z@60/b");
}

/* Without dropping it, the next reflector of that scope goes on from what is there. */
static void test_takes_over(void **state) {
    struct fixture *f = *state;
    sync_up(f);
    reflector_free(f->reflectors[0]);
    start(f, 0);
    assert_true(store_synced(f->store));
    struct script_call *c = next(f, 0);
    assert_string_equal(strna(script_query(c, "resourceVersion")), "5");
    script_head(c, 200, JSON);
    bookmark(c, 7, true);
    assert_store(f, "y@4/b");
}

/* The server's data is restored from a backup. One notices: the other, whose version still exists,
 * may have dropped objects for the sake of some that never were, and reads everything anew. */
static void test_restored(void **state) {
    struct fixture *f = *state;
    sync_up(f);
    event(f->calls[1], "ADDED", "b", "moved", 500);
    event(f->calls[0], "ADDED", "a", "moved", 20); /* it is here in the restored history */
    assert_store(f, "moved@500/b x@3/a y@4/b");
    loop_advance(f->loop, SEC(30));
    error_event(f->calls[1], EXPIRED);
    struct script_call *c = next_after_pause(f, 1);
    script_head(c, 200, JSON);
    event(c, "ADDED", "b", "y", 4);
    bookmark(c, 30, true);
    loop_advance(f->loop, SEC(4));
    c = next(f, 1);
    script_reply(c, 200, JSON, PAGE("\"resourceVersion\":\"30\"", ITEM("b", "y", "4")));
    next(f, 1); /* seen twice, it is believed, and watched */
    loop_advance(f->loop, 1);
    assert_true(f->calls[0]->cancelled);
    c = next(f, 0);
    assert_string_equal(strna(script_query(c, "sendInitialEvents")), "true");
    assert_null(script_query(c, "resourceVersion"));
    script_head(c, 200, JSON);
    event(c, "ADDED", "a", "x", 3);
    event(c, "ADDED", "a", "moved", 20);
    bookmark(c, 31, true);
    assert_store(f, "moved@20/a x@3/a y@4/b");
    loop_advance(f->loop, SEC(10));
    assert_int_equal(script_len(f->script), f->at); /* and that is all */
    assert_false(f->calls[0]->cancelled || f->calls[1]->cancelled);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(two),        TEST(resumes),  TEST(expired_beside_stream), TEST(pages_cross),
        TEST(name_moves), TEST(barrier),  TEST(selector_ignored),      TEST(drop),
        TEST(takes_over), TEST(restored),
    };
    return cmocka_run_group_tests_name("kube/reflector (scope)", tests, NULL, NULL);
}
