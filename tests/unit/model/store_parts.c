/* Tests of model/store_parts.c: several parts in one store. The parts are the pods of a node, as a
 * drain of several nodes has them; what streams bring when is played by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../support/make.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/store.h"

struct fixture {
    struct pool *pool;
    struct store *store;
    struct store_part *a, *b;
    struct str told; /* "+x@1 -y@2 x@1>x@3 " */
};

static bool on_node(const struct object *obj, const void *arg) {
    return streq(strna(((const struct pod *)obj)->node_name), arg);
}

static const char node_a[] = "a", node_b[] = "b", node_c[] = "c";

static struct store_scope scope(const char *node) {
    return (struct store_scope){on_node, node};
}

static void note(void *arg, const struct object *before, const struct object *after) {
    struct fixture *f = arg;
    if (before && after)
        str_addf(&f->told, "%s@%s>%s ", before->meta.name, before->meta.version,
                 after->meta.version);
    else if (after)
        str_addf(&f->told, "+%s@%s ", after->meta.name, after->meta.version);
    else
        str_addf(&f->told, "-%s@%s ", before->meta.name, before->meta.version);
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    f->pool = pool_new(type_drop);
    f->store = store_new(&kind_pod, f->pool);
    f->a = store_part(f->store, scope(node_a));
    f->b = store_part(f->store, scope(node_b));
    store_index(f->store, store_key_node);
    store_listen(f->store, note, f);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    store_free(f->store);
    size_t left = pool_stats(f->pool).entries;
    pool_free(f->pool);
    str_done(&f->told);
    free(f);
    if (left)
        print_error("%zu pool entries are left\n", left);
    return left ? -1 : 0;
}

static struct object *make_pod(struct fixture *f, const char *node, const char *name,
                               const char *version) {
    struct pod *pod = (struct pod *)object_new(&kind_pod);
    pod->meta.ns = make_str(f->pool, "ns");
    pod->meta.name = make_str(f->pool, name);
    pod->meta.version = make_str(f->pool, version);
    pod->node_name = make_str(f->pool, node);
    return (struct object *)pod;
}

/* The part hears of a pod on that node. */
static bool put_on(struct fixture *f, struct store_part *p, const char *node, const char *name,
                   const char *version) {
    return store_part_put(p, make_pod(f, node, name, version));
}

/* A pod of the part's own. */
static bool put(struct fixture *f, struct store_part *p, const char *name, const char *version) {
    return put_on(f, p, p == f->a ? node_a : node_b, name, version);
}

/* The part's stream says that the pod is deleted or has left the part. */
static bool deleted(struct store_part *p, const char *name, const char *version) {
    store_part_set_version(p, version);
    return store_part_remove(p, "ns", name, version);
}

static bool fresh(struct fixture *f, const char *name) {
    return store_fresh(f->store, "ns", name);
}

static void both_synced(struct fixture *f) {
    store_part_begin(f->a);
    put(f, f->a, "x", "3");
    store_part_begin(f->b);
    put(f, f->b, "y", "4");
    store_part_end(f->b, "10");
    store_part_end(f->a, "8");
    str_reset(&f->told);
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

#define assert_told(f, expect)                                                                     \
    do {                                                                                           \
        assert_string_equal(str_get(&(f)->told), expect);                                          \
        str_reset(&(f)->told);                                                                     \
    } while (0)

static void test_registered(void **state) {
    struct fixture *f = *state;
    assert_ptr_equal(store_part(f->store, scope(node_a)), f->a);
    assert_ptr_not_equal(f->a, f->b);
    assert_false(store_scope_synced(f->store, scope(node_a)));
    assert_false(store_scope_synced(f->store, scope(node_c))); /* asking makes no part of it */
    store_part_begin(f->a);
    store_part_end(f->a, "5");
    assert_true(store_part_synced(f->a));
    assert_true(store_scope_synced(f->store, scope(node_a)));
    assert_false(store_part_synced(f->b));
    assert_false(store_synced(f->store));
    store_part_begin(f->b);
    store_part_end(f->b, "6");
    assert_true(store_synced(f->store));
    /* One that comes later is not complete yet. */
    struct store_part *c = store_part(f->store, scope(node_c));
    assert_false(store_synced(f->store));
    store_part_begin(c);
    assert_false(store_synced(f->store));
    store_part_end(c, "7");
    assert_true(store_synced(f->store));
}

static void test_versions(void **state) {
    struct fixture *f = *state;
    assert_null(store_version(f->store));
    store_part_set_version(f->b, "9");
    assert_null(store_part_version(f->a));
    assert_string_equal(store_version(f->store), "9");
    store_part_set_version(f->a, "10"); /* as text it would be older */
    assert_string_equal(store_part_version(f->a), "10");
    assert_string_equal(store_part_version(f->b), "9");
    assert_string_equal(store_version(f->store), "10");
}

/* Two listings at the same time: each removes only what is its own. */
static void test_replaces_cross(void **state) {
    struct fixture *f = *state;
    store_part_begin(f->a);
    put(f, f->a, "a1", "1");
    put(f, f->a, "a2", "2");
    store_part_begin(f->b);
    put(f, f->b, "b1", "3");
    put(f, f->b, "b2", "4");
    store_part_end(f->a, "5");
    assert_store(f, "a1@1/a a2@2/a b1@3/b b2@4/b");
    store_part_end(f->b, "6");
    assert_store(f, "a1@1/a a2@2/a b1@3/b b2@4/b");
    str_reset(&f->told);

    store_part_begin(f->b);
    store_part_begin(f->a);
    put(f, f->b, "b2", "4");
    put(f, f->a, "a1", "7");
    assert_told(f, "a1@1>7 ");
    store_part_end(f->a, "8");
    assert_told(f, "-a2@2 ");
    store_part_end(f->b, "9");
    assert_told(f, "-b1@3 ");
    assert_store(f, "a1@7/a b2@4/b");
}

/* One breaks off and starts over, the other goes on. */
static void test_broken_replace(void **state) {
    struct fixture *f = *state;
    both_synced(f);
    store_part_begin(f->a);
    put(f, f->a, "new", "11");
    store_part_begin(f->b);
    store_part_begin(f->a); /* again, and without "new" */
    put(f, f->b, "y", "4");
    put(f, f->a, "x", "3");
    store_part_end(f->b, "20");
    assert_store(f, "new@11/a x@3/a y@4/b");
    store_part_end(f->a, "21");
    assert_store(f, "x@3/a y@4/b");
}

/* While one lists, the other streams. */
static void test_stream_beside_replace(void **state) {
    struct fixture *f = *state;
    both_synced(f);
    store_part_begin(f->a);
    put(f, f->b, "late", "30");
    deleted(f->b, "y", "31");
    store_part_end(f->a, "32"); /* x is gone */
    assert_told(f, "+late@30 -y@4 -x@3 ");
    assert_store(f, "late@30/b");
    assert_string_equal(store_part_version(f->b), "31");
}

/* What is put by others (an answer to a write of ours) belongs to the part that it is in. */
static void test_plain_put(void **state) {
    struct fixture *f = *state;
    both_synced(f);
    store_part_begin(f->a);
    assert_true(store_put(f->store, make_pod(f, node_a, "x", "12")));
    store_part_end(f->a, "13");
    assert_store(f, "x@12/a y@4/b");
    /* Nobody looks at node c: nothing removes it, but then nobody put it there in good faith. */
    assert_true(store_put(f->store, make_pod(f, node_c, "z", "14")));
    store_part_begin(f->a);
    store_part_end(f->a, "15");
    assert_store(f, "y@4/b z@14/c");
    assert_true(store_remove(f->store, "ns", "z", "16"));
}

/* A server that sends what was not asked for. */
static void test_not_in_scope(void **state) {
    struct fixture *f = *state;
    both_synced(f);
    assert_false(put_on(f, f->a, node_b, "y", "50")); /* b's business */
    assert_false(put_on(f, f->a, node_c, "z", "50"));
    assert_false(put_on(f, f->a, NULL, "pending", "50"));
    assert_false(put_on(f, f->a, node_a, NULL, "50"));
    assert_false(put_on(f, f->a, node_c, NULL, "50"));
    assert_told(f, "");
    /* One of ours that is elsewhere now has left, unless that is old news. */
    assert_false(put_on(f, f->a, node_c, "x", "2"));
    assert_told(f, "");
    assert_true(put_on(f, f->a, node_c, "x", "51"));
    assert_told(f, "-x@3 ");
    assert_store(f, "y@4/b");
}

static void test_get(void **state) {
    struct fixture *f = *state;
    both_synced(f);
    assert_ptr_equal(store_part_get(f->a, "ns", "x"), store_get(f->store, "ns", "x"));
    assert_non_null(store_part_get(f->a, "ns", "x"));
    assert_null(store_part_get(f->b, "ns", "x"));
    assert_null(store_part_get(f->a, "other", "x"));
    assert_null(store_part_get(f->a, NULL, NULL));
}

/* --- a name that is in one part and then in the other --- */

/* Under one version, as when a label moves it: whichever stream is first. */
static void test_moves(void **state) {
    struct fixture *f = *state;
    both_synced(f);
    deleted(f->a, "x", "20");
    assert_true(put_on(f, f->b, node_b, "x", "20"));
    assert_told(f, "-x@3 +x@20 ");

    assert_true(put_on(f, f->a, node_a, "x", "21"));
    assert_told(f, "x@20>21 ");
    assert_false(deleted(f->b, "x", "21")); /* it has left b, but is not gone */
    assert_store(f, "x@21/a y@4/b");
}

/* web-0 is deleted on a and made anew on b, and b's stream is faster. */
static void test_recreated(void **state) {
    struct fixture *f = *state;
    both_synced(f);
    assert_true(put_on(f, f->b, node_b, "x", "40"));
    assert_told(f, "x@3>40 ");
    assert_false(put_on(f, f->a, node_a, "x", "30")); /* a is behind */
    assert_false(deleted(f->a, "x", "35"));
    assert_store(f, "x@40/b y@4/b");
    store_part_begin(f->a);
    store_part_end(f->a, "50"); /* a's list does not have it: b does */
    assert_store(f, "x@40/b y@4/b");
    /* An old list of a that still has it marks nothing in b's. */
    store_part_begin(f->b);
    put_on(f, f->b, node_b, "x", "40");
    put_on(f, f->a, node_a, "x", "30");
    put_on(f, f->b, node_b, "y", "4");
    store_part_end(f->b, "60");
    assert_store(f, "x@40/b y@4/b");
}

/* It came and went on b before a has heard of any of it. */
static void test_no_return(void **state) {
    struct fixture *f = *state;
    both_synced(f);
    put_on(f, f->b, node_b, "x", "40");
    deleted(f->b, "x", "50");
    str_reset(&f->told);
    assert_false(put_on(f, f->a, node_a, "x", "30"));
    assert_false(put_on(f, f->a, node_a, "x", "49"));
    assert_told(f, "");
    /* Back on a, under the version with which it left b. */
    assert_true(put_on(f, f->a, node_a, "x", "50"));
    assert_told(f, "+x@50 ");
}

/* It is missed in a list of b: when it went is not known, only that this state is over. */
static void test_no_return_after_list(void **state) {
    struct fixture *f = *state;
    both_synced(f);
    put_on(f, f->b, node_b, "x", "40");
    store_part_begin(f->b);
    put_on(f, f->b, node_b, "y", "4");
    store_part_end(f->b, "90");
    str_reset(&f->told);
    assert_false(put_on(f, f->a, node_a, "x", "40"));
    assert_false(put_on(f, f->a, node_a, "x", "39"));
    assert_true(put_on(f, f->a, node_a, "x", "41")); /* it had moved at 41: a is only behind */
    assert_told(f, "+x@41 ");
}

/* What is remembered of things gone is forgotten when nobody is behind any more. */
static void test_gone_many(void **state) {
    struct fixture *f = *state;
    char name[32], version[32];
    both_synced(f);
    for (int i = 100; i < 5000; i++) {
        snprintf(name, sizeof name, "p%d", i);
        snprintf(version, sizeof version, "%d", i);
        put_on(f, f->b, node_b, name, version);
        snprintf(version, sizeof version, "%d", i + 1);
        deleted(f->b, name, version);
        if (i == 4000)
            store_part_set_version(f->a, "3000");
    }
    str_reset(&f->told);
    for (int i = 3001; i < 5000; i++) {
        snprintf(name, sizeof name, "p%d", i);
        snprintf(version, sizeof version, "%d", i);
        assert_false(put_on(f, f->a, node_a, name, version));
    }
    assert_told(f, "");
    assert_store(f, "x@3/a y@4/b");
}

/* --- the end of a part --- */

static void test_drop(void **state) {
    struct fixture *f = *state;
    both_synced(f);
    put(f, f->a, "w", "11");
    store_wrote(f->store, "ns", "x", "20");
    str_reset(&f->told);
    store_drop_scope(f->store, scope(node_a));
    assert_store(f, "y@4/b");
    assert_int_equal(f->told.len, strlen("-x@3 -w@11 ")); /* in no particular order */
    assert_non_null(strstr(str_get(&f->told), "-x@3 "));
    assert_non_null(strstr(str_get(&f->told), "-w@11 "));
    assert_false(store_scope_synced(f->store, scope(node_a)));
    assert_true(store_synced(f->store)); /* b is */
    assert_string_equal(store_version(f->store), "10");
    /* A write to what nobody looks at any more is seen when those who are left have passed it. */
    assert_false(fresh(f, "x"));
    store_part_set_version(f->b, "20");
    assert_true(fresh(f, "x"));

    store_drop_scope(f->store, scope(node_c)); /* never was one */
    assert_store(f, "y@4/b");
    store_drop_scope(f->store, scope(node_b));
    assert_store(f, "");
    assert_false(store_synced(f->store));
    assert_null(store_version(f->store));
    /* And again. */
    f->a = store_part(f->store, scope(node_a));
    assert_false(store_part_synced(f->a));
    assert_null(store_part_version(f->a));
    store_part_begin(f->a);
    put(f, f->a, "x", "3");
    store_part_end(f->a, "60");
    assert_true(store_synced(f->store));
    assert_store(f, "x@3/a");
}

/* Nobody looked for a while, and nothing has changed: it is there again, also beside a part that
 * has not come as far. What is older than it was is still not taken. */
static void test_drop_and_back(void **state) {
    struct fixture *f = *state;
    both_synced(f);
    put(f, f->a, "w", "11");
    store_drop_scope(f->store, scope(node_a));
    assert_store(f, "y@4/b");
    put(f, f->b, "w", "10"); /* it had been there before */
    assert_store(f, "y@4/b");
    f->a = store_part(f->store, scope(node_a));
    store_part_begin(f->a);
    put(f, f->a, "w", "11");
    put(f, f->a, "x", "3");
    store_part_end(f->a, "12");
    assert_store(f, "w@11/a x@3/a y@4/b");
}

/* The server's data was restored: each part finds out by itself. */
static void test_rewind(void **state) {
    struct fixture *f = *state;
    both_synced(f);
    put_on(f, f->b, node_b, "moved", "500"); /* before the restored state it was on a */
    put(f, f->a, "gone", "501");
    deleted(f->a, "gone", "502");
    store_wrote(f->store, "ns", "x", "600");
    store_wrote(f->store, "ns", "y", "601");
    store_wrote(f->store, "ns", "unknown", "602");
    store_part_set_version(f->a, "510");
    store_part_set_version(f->b, "510");

    store_part_rewind(f->a);
    store_part_begin(f->a);
    assert_true(put_on(f, f->a, node_a, "x", "2"));
    assert_true(put_on(f, f->a, node_a, "moved", "200"));
    assert_true(put_on(f, f->a, node_a, "gone", "201"));
    store_part_end(f->a, "300");
    assert_store(f, "gone@201/a moved@200/a x@2/a y@4/b");
    assert_string_equal(store_part_version(f->a), "300");
    assert_true(fresh(f, "x")); /* its history is gone: the version may never come */
    assert_true(fresh(f, "unknown"));
    assert_false(fresh(f, "y"));
    assert_false(put_on(f, f->b, node_b, "y", "3")); /* b has not gone back */
    assert_false(put_on(f, f->a, node_a, "x", "1")); /* and a only that once */

    store_part_rewind(f->b);
    store_part_begin(f->b);
    assert_true(put_on(f, f->b, node_b, "y", "3"));
    store_part_end(f->b, "301");
    assert_true(fresh(f, "y"));
    assert_store(f, "gone@201/a moved@200/a x@2/a y@3/b");
}

static void count(void *arg) {
    ++*(int *)arg;
}

/* Who notices first tells the others, each restore once. */
static void test_restored(void **state) {
    struct fixture *f = *state;
    int a = 0, b = 0;
    both_synced(f);
    store_part_on_restored(f->a, count, &a);
    store_part_on_restored(f->b, count, &b);
    store_part_begin(f->a);
    store_part_end(f->a, "20"); /* an ordinary one */
    assert_int_equal(a + b, 0);
    store_part_rewind(f->a);
    store_part_begin(f->a);
    store_part_end(f->a, "2");
    assert_int_equal(a, 0);
    assert_int_equal(b, 1);
    store_part_rewind(f->b); /* as it was told to: no news for a */
    store_part_begin(f->b);
    store_part_end(f->b, "3");
    assert_int_equal(a, 0);
    assert_int_equal(b, 1);
    store_part_rewind(f->b); /* another restore */
    store_part_begin(f->b);
    store_part_end(f->b, "1");
    assert_int_equal(a, 1);
    assert_int_equal(b, 1);
    store_part_on_restored(f->a, NULL, NULL);
    store_part_rewind(f->a);
    store_part_begin(f->a);
    store_part_end(f->a, "2");
    assert_int_equal(a + b, 2);
}

/* Catching up with a restore takes nothing from a part that has done so already. */
static void test_rewind_beside_new_history(void **state) {
    struct fixture *f = *state;
    both_synced(f);
    store_part_rewind(f->a);
    store_part_begin(f->a);
    put_on(f, f->a, node_a, "moved", "50");
    store_part_end(f->a, "60");
    store_part_rewind(f->b);
    store_part_begin(f->b);
    assert_false(put_on(f, f->b, node_b, "moved", "40")); /* it went to a at 50 */
    assert_true(put_on(f, f->b, node_b, "y", "3"));
    store_part_end(f->b, "45");
    assert_store(f, "moved@50/a y@3/b");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(registered),
        TEST(versions),
        TEST(replaces_cross),
        TEST(broken_replace),
        TEST(stream_beside_replace),
        TEST(plain_put),
        TEST(not_in_scope),
        TEST(get),
        TEST(moves),
        TEST(recreated),
        TEST(no_return),
        TEST(no_return_after_list),
        TEST(gone_many),
        TEST(drop),
        TEST(drop_and_back),
        TEST(rewind),
        TEST(restored),
        TEST(rewind_beside_new_history),
    };
    return cmocka_run_group_tests_name("model/store_parts", tests, NULL, NULL);
}
