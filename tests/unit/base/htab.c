/* Tests of base/htab.c, mostly against a model: an array that says who is in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/htab.h"

enum { KEYS = 400 };

struct item {
    int key;
    uint32_t hash;
    bool in; /* what the model says */
};

static uint32_t item_hash(const void *entry) {
    return ((const struct item *)entry)->hash;
}

static bool item_equal(const void *entry, const void *key) {
    return ((const struct item *)entry)->key == *(const int *)key;
}

static const struct htab_ops ops = {item_hash, item_equal};

/* Hash functions from good to hostile. */
static uint32_t spread(int key) {
    return hash_bytes(&key, sizeof key);
}
static uint32_t same(int key) {
    (void)key;
    return 0xffffffff;
}
static uint32_t eight(int key) {
    return (uint32_t)key % 8;
}
static uint32_t runs(int key) {
    return (uint32_t)key / 16 * 7;
}
/* Homes at the end of the table, so that runs wrap around. */
static uint32_t wrap(int key) {
    return 0xfffffffe + (uint32_t)key % 4;
}

static uint32_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static void check_all(const struct htab *t, struct item *items) {
    uint32_t in = 0, seen = 0;
    int visits[KEYS] = {0};
    for (int k = 0; k < KEYS; k++) {
        in += items[k].in;
        assert_ptr_equal(htab_find(t, items[k].hash, &k), items[k].in ? &items[k] : NULL);
    }
    assert_int_equal(t->len, in);
    struct item *e;
    for (uint32_t i = 0; (e = htab_next(t, &i)); seen++) {
        assert_true(e->in);
        visits[e->key]++;
    }
    assert_int_equal(seen, in);
    for (int k = 0; k < KEYS; k++)
        assert_int_equal(visits[k], items[k].in ? 1 : 0);
}

static void against_model(uint32_t (*hash)(int), uint64_t seed) {
    struct htab t;
    struct item items[KEYS];
    htab_init(&t, &ops);
    for (int k = 0; k < KEYS; k++)
        items[k] = (struct item){.key = k, .hash = hash(k)};
    /* Phases that mostly insert and phases that mostly remove: the table grows and shrinks. */
    for (int step = 0; step < 12000; step++) {
        int k = (int)(next_random(&seed) % KEYS);
        bool inserting = step / 1500 % 2 == 0;
        bool insert = next_random(&seed) % 8 ? inserting : !inserting;
        if (insert && !items[k].in) {
            htab_insert(&t, &items[k]);
            items[k].in = true;
        } else if (!insert) {
            assert_ptr_equal(htab_remove(&t, items[k].hash, &k), items[k].in ? &items[k] : NULL);
            items[k].in = false;
        }
        if (step % 97 == 0)
            check_all(&t, items);
    }
    for (int k = 0; k < KEYS; k++)
        assert_ptr_equal(htab_remove(&t, items[k].hash, &k), items[k].in ? &items[k] : NULL);
    for (int k = 0; k < KEYS; k++)
        items[k].in = false;
    check_all(&t, items);
    assert_int_equal(t.mask + 1, 16); /* it has shrunk back */
    htab_done(&t);
}

static void test_model_spread(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++)
        against_model(spread, seed);
}
static void test_model_one_hash(void **state) {
    (void)state;
    against_model(same, 6);
}
static void test_model_few_hashes(void **state) {
    (void)state;
    against_model(eight, 7);
}
static void test_model_runs(void **state) {
    (void)state;
    against_model(runs, 8);
}
static void test_model_wrapping(void **state) {
    (void)state;
    for (uint64_t seed = 9; seed <= 12; seed++)
        against_model(wrap, seed);
}

static void test_empty(void **state) {
    (void)state;
    struct htab t;
    int key = 1;
    uint32_t i = 0;
    htab_init(&t, &ops);
    assert_null(htab_find(&t, 5, &key));
    assert_null(htab_remove(&t, 5, &key));
    assert_null(htab_next(&t, &i));
    htab_done(&t);
    htab_done(&t);
    assert_null(htab_find(&t, 5, &key));
}

static void test_usable_after_done(void **state) {
    (void)state;
    struct htab t;
    struct item a = {.key = 1, .hash = 1};
    htab_init(&t, &ops);
    htab_insert(&t, &a);
    htab_done(&t);
    assert_null(htab_find(&t, 1, &a.key));
    htab_insert(&t, &a);
    assert_ptr_equal(htab_find(&t, 1, &a.key), &a);
    htab_done(&t);
}

/* Many keys with the hash in use: no hash value twice, all bits move. */
static void test_hash(void **state) {
    (void)state;
    enum { N = 20000 };
    uint32_t *h = malloc(N * sizeof *h);
    int buckets[256] = {0}, collisions = 0;
    uint32_t ones = 0, zeros = 0xffffffff;
    for (int i = 0; i < N; i++) {
        char name[32];
        int n = snprintf(name, sizeof name, "node-%06d", i);
        h[i] = hash_bytes(name, (size_t)n);
        ones |= h[i];
        zeros &= h[i];
        buckets[h[i] & 255]++;
    }
    assert_int_equal(ones, 0xffffffff);
    assert_int_equal(zeros, 0);
    /* 20,000 values out of 2^32: 0.05 collisions are expected. */
    struct htab t;
    struct item *items = calloc(N, sizeof *items);
    htab_init(&t, &ops);
    for (int i = 0; i < N; i++) {
        items[i] = (struct item){.key = (int)(h[i] & 0x7fffffff), .hash = h[i]};
        if (htab_find(&t, h[i], &items[i].key))
            collisions++;
        else
            htab_insert(&t, &items[i]);
    }
    htab_done(&t);
    assert_in_range(collisions, 0, 3);
    /* 78 each; 6 standard deviations. */
    for (int i = 0; i < 256; i++)
        assert_in_range(buckets[i], 25, 131);
    free(items);
    free(h);
}

static void test_hash_of_every_length(void **state) {
    (void)state;
    char zeros[64] = {0};
    uint32_t h[65];
    for (size_t n = 0; n <= 64; n++) {
        h[n] = hash_bytes(zeros, n);
        assert_int_equal(h[n], hash_bytes(zeros, n));
        for (size_t m = 0; m < n; m++)
            assert_int_not_equal(h[n], h[m]);
    }
    assert_int_equal(hash_bytes(NULL, 0), h[0]);
    assert_int_not_equal(hash_more(1, "abc", 3), hash_more(2, "abc", 3));
    assert_int_equal(hash_more(0, "abc", 3), hash_bytes("abc", 3));
    /* Only the given bytes count, wherever they lie. */
    char shifted[] = "xabcdefghijky";
    assert_int_equal(hash_bytes(shifted + 1, 11), hash_bytes("abcdefghijk", 11));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_spread),         cmocka_unit_test(test_model_one_hash),
        cmocka_unit_test(test_model_few_hashes),     cmocka_unit_test(test_model_runs),
        cmocka_unit_test(test_model_wrapping),       cmocka_unit_test(test_empty),
        cmocka_unit_test(test_usable_after_done),    cmocka_unit_test(test_hash),
        cmocka_unit_test(test_hash_of_every_length),
    };
    return cmocka_run_group_tests_name("htab", tests, NULL, NULL);
}
