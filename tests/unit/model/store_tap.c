/* Tests of model/store_tap.c: a store to which the same is done is the same. What streams bring is
 * drawn by chance, from fixed seeds. */
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
#include "model/store.h"

enum { NODES = 3, PODS = 6, SEEDS = 200, MOVES = 120 };

static const char *const nodes[NODES] = {"a", "b", "c"};

static bool on_node(const struct object *obj, const void *arg) {
    return str_same(((const struct pod *)obj)->node_name, arg);
}

static struct store_scope scope(size_t i) {
    return (struct store_scope){on_node, nodes[i]};
}

struct pair_of_stores {
    struct pool *pool;
    struct store *first, *second;
    struct prng random;
    int64_t version;
    bool begun[NODES];
};

static void do_the_same(void *arg, const struct store *s, const struct store_change *change) {
    const struct pair_of_stores *p = arg;
    (void)s;
    store_apply(p->second, change);
}

static void begin(struct pair_of_stores *p, uint64_t seed) {
    *p = (struct pair_of_stores){.pool = pool_new(type_drop), .random = {seed}};
    p->first = store_new(&kind_pod, p->pool);
    p->second = store_new(&kind_pod, p->pool);
    store_tap(p->first, do_the_same, p);
}

static void end(struct pair_of_stores *p) {
    store_free(p->first);
    store_free(p->second);
    assert_int_equal(pool_stats(p->pool).entries, 0);
    pool_free(p->pool);
}

static const char *draw_name(struct pair_of_stores *p, char out[static 8]) {
    snprintf(out, 8, "p%d", (int)prng_range(&p->random, 0, PODS));
    return out;
}

/* Mostly the next one, now and then one that is over. */
static const char *draw_version(struct pair_of_stores *p, char out[static 24]) {
    bool late = prng_range(&p->random, 0, 8) == 0;
    int64_t v = late ? prng_range(&p->random, 1, p->version + 1) : ++p->version;
    snprintf(out, 24, "%lld", (long long)v);
    return out;
}

static struct object *draw_pod(struct pair_of_stores *p, size_t node) {
    char name[8], version[24];
    struct pod *pod = (struct pod *)object_new(&kind_pod);
    pod->meta.ns = make_str(p->pool, "ns");
    pod->meta.name = make_str(p->pool, draw_name(p, name));
    pod->meta.version = make_str(p->pool, draw_version(p, version));
    pod->node_name = make_str(p->pool, nodes[node]);
    return (struct object *)pod;
}

/* What is there already, once more. */
static void put_again(struct pair_of_stores *p, size_t part) {
    char name[8];
    const struct object *obj = store_get(p->first, "ns", draw_name(p, name));
    if (obj)
        store_part_put(store_part(p->first, scope(part)), object_copy(&kind_pod, obj));
}

static void move(struct pair_of_stores *p) {
    size_t i = (size_t)prng_range(&p->random, 0, NODES);
    char name[8], version[24];
    struct store_part *part = store_part(p->first, scope(i));
    switch (prng_range(&p->random, 0, 16)) {
    case 0:
        p->begun[i] = true;
        store_part_begin(part);
        break;
    case 1:
        if (p->begun[i])
            store_part_end(part, draw_version(p, version));
        break;
    case 2:
        p->begun[i] = false;
        store_drop_scope(p->first, scope(i));
        break;
    case 3:
        store_part_rewind(part);
        break;
    case 4:
    case 5:
        store_wrote(p->first, "ns", draw_name(p, name), draw_version(p, version));
        break;
    case 6:
    case 7:
        store_part_remove(part, "ns", draw_name(p, name), draw_version(p, version));
        break;
    case 8:
        store_put(p->first, draw_pod(p, i));
        break;
    case 9:
        store_part_put(part, draw_pod(p, (i + 1) % NODES));
        break;
    case 10:
    case 11:
        put_again(p, i);
        break;
    case 12:
        store_part_set_version(part, draw_version(p, version));
        break;
    default:
        store_part_put(part, draw_pod(p, i));
    }
}

static void assert_same(const struct store *a, const struct store *b, bool all) {
    size_t n, m;
    const struct object **x = store_sorted(a, &n), **y = store_sorted(b, &m);
    assert_int_equal(n, m);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(x[i]->meta.name, y[i]->meta.name);
        assert_string_equal(x[i]->meta.version, y[i]->meta.version);
        assert_ptr_equal(((const struct pod *)x[i])->node_name,
                         ((const struct pod *)y[i])->node_name);
    }
    free(x);
    free(y);
    for (size_t i = 0; i < NODES; i++)
        assert_int_equal(store_scope_synced(a, scope(i)), store_scope_synced(b, scope(i)));
    assert_string_equal(strna(store_version(a)), strna(store_version(b)));
    for (int i = 0; i < PODS; i++) {
        char name[8];
        snprintf(name, sizeof name, "p%d", i);
        /* Of what is gone it is not told again in which part it was when it was written. */
        if (all || store_get(a, "ns", name))
            assert_int_equal(store_fresh(a, "ns", name), store_fresh(b, "ns", name));
    }
}

static void test_the_same(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct pair_of_stores p;
        begin(&p, seed);
        for (int i = 0; i < MOVES; i++) {
            move(&p);
            assert_same(p.first, p.second, true);
        }
        end(&p);
    }
}

/* The second one is told in the middle, also of a replace, what the first one is by then. */
static void test_retold(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct pair_of_stores p;
        begin(&p, seed);
        store_tap(p.first, NULL, NULL);
        int64_t before = prng_range(&p.random, 0, MOVES);
        for (int i = 0; i < before; i++)
            move(&p);
        store_retell(p.first, do_the_same, &p);
        assert_same(p.first, p.second, false);
        store_tap(p.first, do_the_same, &p);
        if (p.begun[0])
            store_part_end(store_part(p.first, scope(0)), "1000");
        assert_same(p.first, p.second, false);
        end(&p);
    }
}

static void count(void *arg, const struct store *s, const struct store_change *change) {
    unsigned *counts = arg;
    (void)s;
    counts[change->op]++;
}

/* Of an object that has not changed only the name is told, and nothing of what does nothing. */
static void test_what_is_told(void **state) {
    (void)state;
    struct pair_of_stores p;
    unsigned counts[STORE_WROTE + 1] = {0};
    begin(&p, 1);
    store_tap(p.first, count, counts);
    struct object *pod = draw_pod(&p, 0);
    struct object *twin = object_copy(&kind_pod, pod);
    store_put(p.first, pod);
    store_put(p.first, twin);
    assert_int_equal(counts[STORE_PUT], 1);
    assert_int_equal(counts[STORE_SAME], 1);
    store_remove(p.first, "ns", "nobody", "9");
    assert_int_equal(counts[STORE_REMOVE], 0);
    store_wrote(p.first, "ns", "x", "not a version");
    assert_int_equal(counts[STORE_WROTE], 0);
    end(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same),
        cmocka_unit_test(test_retold),
        cmocka_unit_test(test_what_is_told),
    };
    return cmocka_run_group_tests_name("model/store_tap", tests, NULL, NULL);
}
