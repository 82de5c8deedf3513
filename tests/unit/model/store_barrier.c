/* Tests of model/store_barrier.c: what we wrote is not fresh until the store has seen it, in a
 * store that is one part and in one of several. */
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
    struct store_part *a, *b; /* the pods of nodes a and b, where a test has parts */
};

static bool on_node(const struct object *obj, const void *arg) {
    return streq(strna(((const struct pod *)obj)->node_name), arg);
}

static const char node_a[] = "a", node_b[] = "b", node_c[] = "c";

static struct store_scope scope(const char *node) {
    return (struct store_scope){on_node, node};
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    f->pool = pool_new(type_drop);
    f->store = store_new(&kind_pod, f->pool);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    store_free(f->store);
    size_t left = pool_stats(f->pool).entries;
    pool_free(f->pool);
    free(f);
    if (left)
        print_error("%zu pool entries are left\n", left);
    return left ? -1 : 0;
}

static struct object *make_pod(struct fixture *f, const char *ns, const char *node,
                               const char *name, const char *version) {
    struct pod *pod = (struct pod *)object_new(&kind_pod);
    pod->meta.ns = make_str(f->pool, ns);
    pod->meta.name = make_str(f->pool, name);
    pod->meta.version = make_str(f->pool, version);
    pod->node_name = make_str(f->pool, node);
    return (struct object *)pod;
}

/* --- one part --- */

static bool put_plain(struct fixture *f, const char *ns, const char *name, const char *version) {
    return store_put(f->store, make_pod(f, ns, NULL, name, version));
}

static void test_barrier(void **state) {
    struct fixture *f = *state;
    struct store *s = f->store;
    store_replace_begin(s);
    put_plain(f, "a", "x", "10");
    put_plain(f, "a", "y", "10");
    store_replace_end(s, "20");
    assert_true(store_fresh(s, "a", "x"));

    store_wrote(s, "a", "x", "30");
    assert_false(store_fresh(s, "a", "x"));
    assert_true(store_fresh(s, "a", "y")); /* the others are not concerned */
    assert_true(store_fresh(s, "b", "x"));
    put_plain(f, "a", "x", "29");
    assert_false(store_fresh(s, "a", "x"));
    put_plain(f, "a", "x", "30");
    assert_true(store_fresh(s, "a", "x"));
    assert_true(store_fresh(s, "a", "x"));

    /* Of two writes the later one counts, in whatever order their answers came. */
    store_wrote(s, "a", "x", "50");
    store_wrote(s, "a", "x", "40");
    put_plain(f, "a", "x", "45");
    assert_false(store_fresh(s, "a", "x"));
    put_plain(f, "a", "x", "51");
    assert_true(store_fresh(s, "a", "x"));

    /* What is gone, or not selected, is seen when the store has come that far. */
    store_wrote(s, "a", "gone", "60");
    store_wrote(s, NULL, "gone", "61");
    assert_false(store_fresh(s, "a", "gone"));
    store_set_version(s, "60");
    assert_true(store_fresh(s, "a", "gone"));
    assert_false(store_fresh(s, NULL, "gone"));
    store_set_version(s, "100");
    assert_true(store_fresh(s, NULL, "gone"));

    /* No version, no barrier. */
    store_wrote(s, "a", "x", NULL);
    store_wrote(s, "a", "y", "");
    store_wrote(s, "a", "z", "new");
    assert_true(store_fresh(s, "a", "x"));
    assert_true(store_fresh(s, "a", "y"));
    assert_true(store_fresh(s, "a", "z"));
}

/* An empty store that has seen nothing has not seen our writes either. */
static void test_barrier_before_sync(void **state) {
    struct fixture *f = *state;
    store_wrote(f->store, "a", "x", "5");
    assert_false(store_fresh(f->store, "a", "x"));
    store_replace_begin(f->store);
    store_replace_end(f->store, "4");
    assert_false(store_fresh(f->store, "a", "x"));
    store_replace_begin(f->store);
    store_replace_end(f->store, "5");
    assert_true(store_fresh(f->store, "a", "x"));
}

/* Writes that nobody asks about again are forgotten in time, those not seen yet never. */
static void test_barrier_many(void **state) {
    struct fixture *f = *state;
    char name[32], version[32];
    for (int i = 1; i <= 5000; i++) {
        snprintf(name, sizeof name, "p%d", i);
        snprintf(version, sizeof version, "%d", i);
        store_wrote(f->store, "a", name, version);
        if (i > 300) {
            snprintf(version, sizeof version, "%d", i - 300);
            store_set_version(f->store, version);
        }
    }
    for (int i = 1; i <= 5000; i++) {
        snprintf(name, sizeof name, "p%d", i);
        assert_int_equal(store_fresh(f->store, "a", name), i <= 4700);
    }
}

/* --- several parts --- */

/* The part hears of a pod on that node. */
static bool put_on(struct fixture *f, struct store_part *p, const char *node, const char *name,
                   const char *version) {
    return store_part_put(p, make_pod(f, "ns", node, name, version));
}

/* The part's stream says that the pod is deleted or has left the part. */
static bool deleted(struct store_part *p, const char *name, const char *version) {
    store_part_set_version(p, version);
    return store_part_remove(p, "ns", name, version);
}

static bool fresh(struct fixture *f, const char *name) {
    return store_fresh(f->store, "ns", name);
}

/* x@3 on a at version 8, y@4 on b at version 10. */
static void both_synced(struct fixture *f) {
    f->a = store_part(f->store, scope(node_a));
    f->b = store_part(f->store, scope(node_b));
    store_part_begin(f->a);
    put_on(f, f->a, node_a, "x", "3");
    store_part_end(f->a, "8");
    store_part_begin(f->b);
    put_on(f, f->b, node_b, "y", "4");
    store_part_end(f->b, "10");
}

static void test_fresh(void **state) {
    struct fixture *f = *state;
    both_synced(f);
    store_wrote(f->store, "ns", "x", "20");
    store_wrote(f->store, "ns", "y", "21");
    assert_false(fresh(f, "x"));
    /* How far b is says nothing about a's pod. */
    store_part_set_version(f->b, "100");
    assert_string_equal(store_version(f->store), "100");
    assert_false(fresh(f, "x"));
    assert_true(fresh(f, "y"));
    store_part_set_version(f->a, "20");
    assert_true(fresh(f, "x"));
}

/* It is deleted by our write: its part is remembered. */
static void test_fresh_gone(void **state) {
    struct fixture *f = *state;
    both_synced(f);
    store_wrote(f->store, "ns", "x", "20");
    store_part_remove(f->a, "ns", "x", "15");
    store_part_set_version(f->b, "100");
    assert_false(fresh(f, "x"));
    store_part_set_version(f->a, "25");
    assert_true(fresh(f, "x"));
    /* A newer state elsewhere is newer than our write. */
    put_on(f, f->a, node_a, "x", "30");
    store_wrote(f->store, "ns", "x", "40");
    put_on(f, f->b, node_b, "x", "110");
    assert_true(fresh(f, "x"));
}

/* Nobody knows where it is: everybody must have come that far. */
static void test_fresh_unknown(void **state) {
    struct fixture *f = *state;
    both_synced(f);
    store_wrote(f->store, "ns", "z", "20");
    assert_false(fresh(f, "z"));
    store_part_set_version(f->a, "20");
    assert_false(fresh(f, "z"));
    store_part_set_version(f->b, "21");
    assert_true(fresh(f, "z"));
    store_wrote(f->store, "ns", "z", "30");
    store_part_set_version(f->a, "40");
    store_part_set_version(f->b, "41");
    store_part(f->store, scope(node_c)); /* has seen nothing */
    assert_false(fresh(f, "z"));
}

/* What was called fresh stays so, also for a name that turns up in a part that is behind. */
static void test_fresh_stays(void **state) {
    struct fixture *f = *state;
    both_synced(f);
    store_wrote(f->store, "ns", "x", "50"); /* x is in a */
    deleted(f->a, "x", "60");
    assert_true(fresh(f, "x"));
    assert_false(put_on(f, f->b, node_b, "x", "49"));
    assert_false(put_on(f, f->b, node_b, "x", "59"));
    store_wrote(f->store, "ns", "x", "70");
    store_part_set_version(f->a, "80");
    assert_false(fresh(f, "x")); /* nobody knows where it is, and b is not that far */
    assert_true(put_on(f, f->b, node_b, "x", "65"));
    assert_false(fresh(f, "x"));
    assert_true(put_on(f, f->b, node_b, "x", "70"));
    assert_true(fresh(f, "x"));
}

/* The same when the pod was missed in a list: when it went is not known, but our write is older. */
static void test_fresh_missed(void **state) {
    struct fixture *f = *state;
    both_synced(f);
    store_wrote(f->store, "ns", "x", "50");
    store_part_begin(f->a);
    store_part_end(f->a, "60");
    assert_true(fresh(f, "x"));
    assert_false(put_on(f, f->b, node_b, "x", "49"));
    assert_true(put_on(f, f->b, node_b, "x", "50")); /* it had moved by our write */
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(barrier),    TEST(barrier_before_sync), TEST(barrier_many), TEST(fresh),
        TEST(fresh_gone), TEST(fresh_unknown),       TEST(fresh_stays),  TEST(fresh_missed),
    };
    return cmocka_run_group_tests_name("model/store_barrier", tests, NULL, NULL);
}
