/* Tests of model/store.c: one object per name, never back in time, indexes, listeners.
 */
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
#include "base/prng.h"
#include "base/str.h"
#include "model/store.h"
#include "model/version.h"

/* A store of pods, and what its listener was told last. */
struct fixture {
    struct pool *pool;
    struct store *store;
    int told;
    char before[64], after[64]; /* "ns/name@version" */
};

static void describe(char out[static 64], const struct object *obj) {
    *out = '\0';
    if (obj)
        snprintf(out, 64, "%s/%s@%s", strna(obj->meta.ns), obj->meta.name,
                 strna(obj->meta.version));
}

static void note(void *arg, const struct object *before, const struct object *after) {
    struct fixture *f = arg;
    f->told++;
    describe(f->before, before);
    describe(f->after, after);
    /* It is called after the change. */
    const struct object *obj = before ? before : after;
    assert_ptr_equal(store_get(f->store, obj->meta.ns, obj->meta.name), after);
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    f->pool = pool_new(type_drop);
    f->store = store_new(&kind_pod, f->pool);
    store_listen(f->store, note, f);
    *state = f;
    return 0;
}

/* Whatever a test did, every reference has been given back. */
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

static struct object *make_pod(struct pool *pool, const char *ns, const char *name,
                               const char *version, const char *node, const char *app) {
    struct pod *pod = (struct pod *)object_new(&kind_pod);
    pod->meta.ns = make_str(pool, ns);
    pod->meta.name = make_str(pool, name);
    pod->meta.version = make_str(pool, version);
    pod->node_name = make_str(pool, node);
    pod->meta.labels = app ? make_map(pool, "app", app, NULL) : NULL;
    return (struct object *)pod;
}

static bool put(struct fixture *f, const char *ns, const char *name, const char *version) {
    return store_put(f->store, make_pod(f->pool, ns, name, version, NULL, NULL));
}

#define assert_told(f, n, before_, after_)                                                         \
    do {                                                                                           \
        assert_int_equal((f)->told, n);                                                            \
        assert_string_equal((f)->before, before_);                                                 \
        assert_string_equal((f)->after, after_);                                                   \
    } while (0)

static const char *version_of(struct fixture *f, const char *ns, const char *name) {
    const struct object *obj = store_get(f->store, ns, name);
    return obj ? strna(obj->meta.version) : "none";
}

static void test_empty(void **state) {
    struct fixture *f = *state;
    size_t n = 7;
    uint32_t i = 0;
    assert_ptr_equal(store_kind(f->store), &kind_pod);
    assert_ptr_equal(store_pool(f->store), f->pool);
    assert_int_equal(store_len(f->store), 0);
    assert_false(store_synced(f->store));
    assert_null(store_version(f->store));
    assert_null(store_get(f->store, "a", "b"));
    assert_null(store_get(f->store, NULL, NULL));
    assert_null(store_next(f->store, &i));
    const struct object **all = store_sorted(f->store, &n);
    assert_int_equal(n, 0);
    free(all);
    assert_false(store_remove(f->store, "a", "b", NULL));
    assert_false(store_remove(f->store, NULL, NULL, NULL));
    assert_true(store_fresh(f->store, "a", "b"));
    assert_int_equal(f->told, 0);
}

static void test_put(void **state) {
    struct fixture *f = *state;
    assert_true(put(f, "a", "x", "10"));
    assert_told(f, 1, "", "a/x@10");
    assert_true(put(f, "b", "x", "11"));
    assert_told(f, 2, "", "b/x@11");
    assert_true(put(f, NULL, "x", "12")); /* no namespace is another one than any */
    assert_told(f, 3, "", "/x@12");
    assert_int_equal(store_len(f->store), 3);
    assert_true(put(f, "a", "x", "13"));
    assert_told(f, 4, "a/x@10", "a/x@13");
    assert_int_equal(store_len(f->store), 3);
    assert_string_equal(version_of(f, "a", "x"), "13");
    assert_string_equal(version_of(f, "b", "x"), "11");
    assert_string_equal(version_of(f, NULL, "x"), "12");
    assert_string_equal(version_of(f, "", "x"), "12"); /* the empty namespace is none */
    assert_string_equal(version_of(f, "ax", ""), "none");
    assert_string_equal(version_of(f, "c", "x"), "none");
}

static void test_never_back(void **state) {
    struct fixture *f = *state;
    put(f, "a", "x", "100");
    assert_false(put(f, "a", "x", "99"));
    assert_false(put(f, "a", "x", "9")); /* as text it would be newer */
    assert_false(put(f, "a", "x", NULL));
    assert_false(put(f, "a", "x", "junk"));
    assert_told(f, 1, "", "a/x@100");
    assert_false(put(f, "a", "x", "100")); /* the same again is no change */
    assert_told(f, 1, "", "a/x@100");
    /* The same version with other contents cannot be, but what came last is believed. */
    assert_true(store_put(f->store, make_pod(f->pool, "a", "x", "100", "n1", NULL)));
    assert_told(f, 2, "a/x@100", "a/x@100");
    assert_true(put(f, "a", "x", "101"));
    assert_int_equal(store_len(f->store), 1);
}

/* Of servers that number nothing, whatever comes is taken. */
static void test_no_versions(void **state) {
    struct fixture *f = *state;
    assert_true(put(f, "a", "x", NULL));
    assert_true(put(f, "a", "x", "abc"));
    assert_true(store_put(f->store, make_pod(f->pool, "a", "x", NULL, "n1", NULL)));
    assert_true(put(f, "a", "x", "5"));
    assert_int_equal(store_len(f->store), 1);
    assert_true(store_remove(f->store, "a", "x", NULL));
}

static void test_no_name(void **state) {
    struct fixture *f = *state;
    assert_false(put(f, "a", NULL, "1"));
    assert_false(put(f, "a", "", "1"));
    assert_false(put(f, NULL, NULL, NULL));
    assert_int_equal(store_len(f->store), 0);
    assert_int_equal(f->told, 0);
    store_replace_begin(f->store);
    assert_false(put(f, "a", NULL, "1"));
    store_replace_end(f->store, "2");
    assert_int_equal(store_len(f->store), 0);
}

static void test_remove(void **state) {
    struct fixture *f = *state;
    put(f, "a", "x", "100");
    assert_false(store_remove(f->store, "a", "y", "200"));
    assert_false(store_remove(f->store, "b", "x", "200"));
    assert_false(store_remove(f->store, "a", "x", "99")); /* that was another one, before */
    assert_true(store_remove(f->store, "a", "x", "101"));
    assert_told(f, 2, "a/x@100", "");
    assert_int_equal(store_len(f->store), 0);
    assert_false(store_remove(f->store, "a", "x", "102"));
    put(f, "a", "x", "110");
    assert_true(store_remove(f->store, "a", "x", "110"));
    put(f, "a", "x", "120");
    assert_true(store_remove(f->store, "a", "x", NULL));
    assert_told(f, 6, "a/x@120", "");
}

static void test_replace(void **state) {
    struct fixture *f = *state;
    store_replace_begin(f->store);
    put(f, "a", "x", "1");
    put(f, "a", "y", "2");
    put(f, "a", "z", "3");
    assert_false(store_synced(f->store));
    assert_null(store_version(f->store));
    store_replace_end(f->store, "5");
    assert_true(store_synced(f->store));
    assert_string_equal(store_version(f->store), "5");
    assert_int_equal(store_len(f->store), 3);

    f->told = 0;
    store_replace_begin(f->store);
    put(f, "a", "x", "1"); /* unchanged */
    assert_int_equal(f->told, 0);
    put(f, "a", "y", "7");
    assert_true(store_synced(f->store)); /* what was there still is */
    assert_string_equal(version_of(f, "a", "z"), "3");
    assert_string_equal(store_version(f->store), "5");
    f->told = 0;
    store_replace_end(f->store, "8");
    assert_told(f, 1, "a/z@3", "");
    assert_int_equal(store_len(f->store), 2);
    assert_string_equal(store_version(f->store), "8");

    store_replace_begin(f->store); /* everything gone */
    store_replace_end(f->store, "9");
    assert_int_equal(store_len(f->store), 0);
    assert_true(store_synced(f->store));
}

/* A listing that breaks off removes nothing, and what only it brought goes with the next. */
static void test_broken_replace(void **state) {
    struct fixture *f = *state;
    store_replace_begin(f->store);
    put(f, "a", "x", "1");
    put(f, "a", "y", "2");
    store_replace_end(f->store, "5");

    store_replace_begin(f->store);
    put(f, "a", "x", "6");
    put(f, "a", "new", "7");
    store_replace_begin(f->store); /* it broke off before y */
    assert_int_equal(store_len(f->store), 3);
    assert_string_equal(store_version(f->store), "5");
    put(f, "a", "y", "2");
    store_replace_end(f->store, "9");
    assert_int_equal(store_len(f->store), 1);
    assert_string_equal(version_of(f, "a", "y"), "2");
}

/* A listing that shows an older state of an object says at least that it exists. */
static void test_older_in_replace(void **state) {
    struct fixture *f = *state;
    put(f, "a", "x", "50");
    store_replace_begin(f->store);
    assert_false(put(f, "a", "x", "40"));
    store_replace_end(f->store, "45");
    assert_string_equal(version_of(f, "a", "x"), "50");
}

/* Changes between two listings belong to the last one. */
static void test_watch_after_replace(void **state) {
    struct fixture *f = *state;
    store_replace_begin(f->store);
    put(f, "a", "x", "1");
    store_replace_end(f->store, "5");
    put(f, "a", "y", "6");
    store_replace_begin(f->store);
    put(f, "a", "y", "6");
    store_remove(f->store, "a", "x", "7");
    store_replace_end(f->store, "7");
    assert_int_equal(store_len(f->store), 1);
    assert_non_null(store_get(f->store, "a", "y"));
}

static void test_rewind(void **state) {
    struct fixture *f = *state;
    store_replace_begin(f->store);
    put(f, "a", "x", "50");
    put(f, "a", "y", "51");
    store_replace_end(f->store, "60");
    /* What was written in the history that is gone will never come: nobody waits for it. */
    store_wrote(f->store, "a", "x", "1001");
    assert_false(store_fresh(f->store, "a", "x"));
    store_rewind(f->store);
    store_replace_begin(f->store);
    assert_false(store_fresh(f->store, "a", "x"));
    assert_true(put(f, "a", "x", "20"));
    assert_told(f, 3, "a/x@50", "a/x@20");
    store_replace_end(f->store, "30");
    assert_int_equal(store_len(f->store), 1);
    assert_string_equal(store_version(f->store), "30");
    assert_true(store_fresh(f->store, "a", "x"));
    /* Only that once. */
    assert_false(put(f, "a", "x", "19"));
}

static void count(void *arg, const struct object *before, const struct object *after) {
    (void)before;
    (void)after;
    ++*(int *)arg;
}

static void test_listeners(void **state) {
    struct fixture *f = *state;
    int counts[7] = {0};
    for (int i = 0; i < 7; i++) /* eight with the fixture's */
        store_listen(f->store, count, &counts[i]);
    put(f, "a", "x", "1");
    put(f, "a", "x", "2");
    store_remove(f->store, "a", "x", NULL);
    store_remove(f->store, "a", "x", NULL);
    for (int i = 0; i < 7; i++)
        assert_int_equal(counts[i], 3);
}

static void test_sorted(void **state) {
    struct fixture *f = *state;
    static const char *const names[][2] = {{"b", "a"}, {NULL, "z"}, {"a", "b"}, {"a", "B"},
                                           {"a", "a"}, {NULL, "a"}, {"B", "x"}, {"a", "a-b"}};
    static const char *const expect[] = {"/a@",  "/z@",    "B/x@", "a/B@",
                                         "a/a@", "a/a-b@", "a/b@", "b/a@"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        put(f, names[i][0], names[i][1], NULL);
    size_t n;
    const struct object **all = store_sorted(f->store, &n);
    assert_int_equal(n, ARRAY_LEN(expect));
    for (size_t i = 0; i < n; i++) {
        char text[64];
        describe(text, all[i]);
        assert_string_equal(text, expect[i]);
    }
    free(all);
}

/* --- indexes --- */

static void test_index(void **state) {
    struct fixture *f = *state;
    struct store *s = f->store;
    struct pool *pool = f->pool;
    size_t n;
    store_put(s, make_pod(pool, "a", "x", "1", "n1", "web")); /* before the index is */
    unsigned by_node = store_index(s, store_key_node);
    unsigned by_labels = store_index(s, store_key_labels);
    assert_int_equal(by_node, 0);
    assert_int_equal(by_labels, 1);
    store_put(s, make_pod(pool, "a", "y", "2", "n1", "web"));
    store_put(s, make_pod(pool, "b", "x", "3", "n1", "web"));
    store_put(s, make_pod(pool, "a", "pending", "4", NULL, NULL));

    struct store_key n1 = store_key_node(store_get(s, "a", "x"));
    store_find(s, by_node, n1, &n);
    assert_int_equal(n, 3);
    struct store_key labels = store_key_labels(store_get(s, "a", "x"));
    store_find(s, by_labels, labels, &n);
    assert_int_equal(n, 2); /* the same labels in another namespace are another key */
    store_find(s, by_labels, store_key_labels(store_get(s, "a", "pending")), &n);
    assert_int_equal(n, 1); /* no labels are a label set */
    assert_null(store_find(s, by_node, (struct store_key){NULL, NULL}, &n));
    assert_int_equal(n, 0); /* but no node is not a node */

    store_put(s, make_pod(pool, "a", "pending", "5", "n2", NULL));
    struct store_key n2 = store_key_node(store_get(s, "a", "pending"));
    const struct object *const *found = store_find(s, by_node, n2, &n);
    assert_int_equal(n, 1);
    assert_ptr_equal(found[0], store_get(s, "a", "pending"));
    store_put(s, make_pod(pool, "a", "pending", "6", NULL, NULL));
    store_find(s, by_node, n2, &n);
    assert_int_equal(n, 0);
    store_remove(s, "a", "x", NULL);
    store_find(s, by_node, n1, &n);
    assert_int_equal(n, 2);
    store_replace_begin(s);
    store_replace_end(s, "9");
    store_find(s, by_node, n1, &n);
    assert_int_equal(n, 0);
    uint32_t i = 0;
    struct store_key key;
    assert_false(store_next_key(s, by_node, &i, &key));
}

/* --- random operations against a naive model --- */

enum { NAMES = 24, NODES = 4, APPS = 3 };

struct slot {
    bool exists, listed;
    int version, node, app;
};

struct model {
    struct slot slots[NAMES];
    int changes;
    bool synced;
    int version;
};

static const char *ns_of(int i) {
    static const char *const names[] = {"a", "b", NULL};
    return names[i % 3];
}

static const char *name_of(int i, char buf[static 16]) {
    snprintf(buf, 16, "p%d", i / 3);
    return buf;
}

static const char *or_null(const char *prefix, int i, char buf[static 16]) {
    if (!i)
        return NULL;
    snprintf(buf, 16, "%s%d", prefix, i);
    return buf;
}

static struct object *make_slot(struct pool *pool, int i, const struct slot *slot) {
    char name[16], version[16], node[16], app[16];
    snprintf(version, sizeof version, "%d", slot->version);
    return make_pod(pool, ns_of(i), name_of(i, name), version, or_null("n", slot->node, node),
                    or_null("app", slot->app, app));
}

static bool model_put(struct model *m, int i, const struct slot *new) {
    struct slot *s = &m->slots[i];
    s->listed = true;
    if (s->exists && (new->version < s->version ||
                      (new->version == s->version &&new->node == s->node &&new->app == s->app)))
        return false;
    bool listed = s->listed;
    *s = *new;
    s->exists = true;
    s->listed = listed;
    m->changes++;
    return true;
}

static bool model_remove(struct model *m, int i, int version) {
    struct slot *s = &m->slots[i];
    if (!s->exists || (version && version < s->version))
        return false;
    s->exists = false;
    m->changes++;
    return true;
}

static void compare_slot(struct fixture *f, const struct model *m, int i) {
    char name[16], version[16], node[16];
    const struct slot *slot = &m->slots[i];
    const struct object *obj = store_get(f->store, ns_of(i), name_of(i, name));
    assert_int_equal(obj != NULL, slot->exists);
    if (!obj)
        return;
    snprintf(version, sizeof version, "%d", slot->version);
    assert_string_equal(obj->meta.version, version);
    assert_string_equal(strna(((const struct pod *)obj)->node_name),
                        strna(or_null("n", slot->node, node)));
}

/* Every object is under its key exactly once, and nothing else is anywhere. */
static void compare_index(struct fixture *f, unsigned index, store_key_fn *key_fn) {
    size_t in_index = 0, with_key = 0;
    struct store_key key;
    for (uint32_t i = 0; store_next_key(f->store, index, &i, &key);) {
        size_t n;
        const struct object *const *found = store_find(f->store, index, key, &n);
        assert_true(n > 0);
        in_index += n;
        for (size_t k = 0; k < n; k++) {
            struct store_key own = key_fn(found[k]);
            assert_true(own.a == key.a && own.b == key.b);
            assert_ptr_equal(store_get(f->store, found[k]->meta.ns, found[k]->meta.name), found[k]);
            for (size_t j = 0; j < k; j++)
                assert_ptr_not_equal(found[j], found[k]);
        }
    }
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(f->store, &i));) {
        struct store_key own = key_fn(obj);
        with_key += own.a || own.b;
    }
    assert_int_equal(in_index, with_key);
}

static void compare(struct fixture *f, const struct model *m) {
    size_t len = 0;
    for (int i = 0; i < NAMES; i++) {
        compare_slot(f, m, i);
        len += m->slots[i].exists;
    }
    assert_int_equal(store_len(f->store), len);
    assert_int_equal(f->told, m->changes);
    assert_int_equal(store_synced(f->store), m->synced);
    compare_index(f, 0, store_key_node);
    compare_index(f, 1, store_key_labels);
}

static void random_put(struct fixture *f, struct model *m, struct prng *prng, int i) {
    int64_t version = prng_range(prng, m->version - 30, m->version + 2);
    struct slot new = {
        .version = (int)MAX_OF(version, 1),
        .node = (int)prng_range(prng, 0, NODES),
        .app = (int)prng_range(prng, 0, APPS),
    };
    m->version = MAX_OF(m->version, new.version);
    bool changed = model_put(m, i, &new);
    assert_int_equal(store_put(f->store, make_slot(f->pool, i, &new)), changed);
}

static void random_replace(struct fixture *f, struct model *m, struct prng *prng) {
    char version[16];
    store_replace_begin(f->store);
    for (int i = 0; i < NAMES; i++)
        m->slots[i].listed = false;
    int64_t n = prng_range(prng, 0, NAMES * 2);
    for (int64_t k = 0; k < n; k++)
        random_put(f, m, prng, (int)prng_range(prng, 0, NAMES));
    if (prng_range(prng, 0, 3) == 0)
        return; /* it broke off */
    for (int i = 0; i < NAMES; i++) {
        if (m->slots[i].exists && !m->slots[i].listed) {
            m->slots[i].exists = false;
            m->changes++;
        }
    }
    snprintf(version, sizeof version, "%d", m->version);
    store_replace_end(f->store, version);
    m->synced = true;
    assert_string_equal(store_version(f->store), version);
}

static void test_random(void **state) {
    struct fixture *f = *state;
    struct prng prng = {42};
    struct model m = {.version = 1};
    store_index(f->store, store_key_node);
    store_index(f->store, store_key_labels);
    for (int round = 0; round < 20000; round++) {
        int i = (int)prng_range(&prng, 0, NAMES);
        switch (prng_range(&prng, 0, 100)) {
        case 0:
            random_replace(f, &m, &prng);
            break;
        case 1 ... 30: {
            char name[16], version[16];
            int v = m.version - (int)prng_range(&prng, -1, 20);
            v = prng_range(&prng, 0, 3) ? MAX_OF(v, 1) : 0;
            snprintf(version, sizeof version, "%d", v);
            bool removed = model_remove(&m, i, v);
            assert_int_equal(store_remove(f->store, ns_of(i), name_of(i, name), v ? version : NULL),
                             removed);
            break;
        }
        default:
            random_put(f, &m, &prng, i);
        }
        if (round % 8 == 0)
            compare(f, &m);
    }
    compare(f, &m);
}

/* Tables that grow and shrink again keep everything. */
static void test_many(void **state) {
    struct fixture *f = *state;
    char name[32], node[32];
    unsigned by_node = store_index(f->store, store_key_node);
    for (int i = 0; i < 3000; i++) {
        snprintf(name, sizeof name, "p%d", i);
        snprintf(node, sizeof node, "n%d", i % 100);
        store_put(f->store, make_pod(f->pool, "a", name, "1", node, NULL));
    }
    for (int i = 0; i < 3000; i++) {
        if (i % 100 == 7)
            continue;
        snprintf(name, sizeof name, "p%d", i);
        assert_true(store_remove(f->store, "a", name, "2"));
    }
    assert_int_equal(store_len(f->store), 30);
    size_t n;
    store_find(f->store, by_node, store_key_node(store_get(f->store, "a", "p7")), &n);
    assert_int_equal(n, 30);
    uint32_t i = 0, seen = 0;
    while (store_next(f->store, &i))
        seen++;
    assert_int_equal(seen, 30);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(empty),
        TEST(put),
        TEST(never_back),
        TEST(no_versions),
        TEST(no_name),
        TEST(remove),
        TEST(replace),
        TEST(broken_replace),
        TEST(older_in_replace),
        TEST(watch_after_replace),
        TEST(rewind),
        TEST(listeners),
        TEST(sorted),
        TEST(index),
        TEST(random),
        TEST(many),
    };
    return cmocka_run_group_tests_name("model/store", tests, NULL, NULL);
}
