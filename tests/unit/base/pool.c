/* Tests of base/pool.c: equal values have equal addresses, and references are counted right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/htab.h"
#include "base/pool.h"

/* A blob type as decoded objects have them: pairs of pool strings, and lists that refer to other
 * blobs. */
struct pair {
    const char *key, *value;
};
struct nest {
    const struct pair *pairs;
    const struct nest *inner;
};
static const char pair_tag, nest_tag;
static int drops;

static void drop(struct pool *pool, const void *tag, const void *data, size_t len) {
    drops++;
    if (tag == &pair_tag) {
        const struct pair *p = data;
        for (size_t i = 0; i < len / sizeof *p; i++) {
            pool_unref(pool, p[i].key);
            pool_unref(pool, p[i].value);
        }
    } else if (tag == &nest_tag) {
        const struct nest *n = data;
        for (size_t i = 0; i < len / sizeof *n; i++) {
            pool_unref(pool, n[i].pairs);
            pool_unref(pool, n[i].inner);
        }
    }
}

static const char *str_in(struct pool *pool, const char *s) {
    return pool_str(pool, s, strlen(s));
}

/* Is there such a string? Then it is not added once more. */
static bool holds(struct pool *pool, const char *s) {
    size_t before = pool_stats(pool).entries;
    const char *entry = str_in(pool, s);
    bool known = pool_stats(pool).entries == before;
    pool_unref(pool, entry);
    return known;
}

static int setup(void **state) {
    drops = 0;
    *state = pool_new(drop);
    return 0;
}

static int teardown(void **state) {
    pool_free(*state);
    return 0;
}

static void test_strings(void **state) {
    struct pool *pool = *state;
    char buffer[] = "web-0";
    const char *a = str_in(pool, buffer);
    buffer[4] = '1';
    const char *b = str_in(pool, buffer);
    const char *c = pool_str(pool, "web-0 and more", 5);
    assert_string_equal(a, "web-0");
    assert_string_equal(b, "web-1");
    assert_ptr_equal(a, c);
    assert_int_equal(pool_len(a), 5);
    assert_int_equal(pool_stats(pool).entries, 2);
    pool_unref(pool, a);
    assert_string_equal(c, "web-0"); /* the second reference keeps it */
    pool_unref(pool, c);
    pool_unref(pool, b);
    assert_int_equal(pool_stats(pool).entries, 0);
    assert_int_equal(pool_stats(pool).bytes, 0);
}

static void test_empty_is_null(void **state) {
    struct pool *pool = *state;
    assert_null(pool_str(pool, "", 0));
    assert_null(pool_str(pool, NULL, 0));
    assert_null(pool_blob(pool, &pair_tag, NULL, 0));
    assert_null(pool_ref(NULL));
    pool_unref(pool, NULL);
    assert_int_equal(pool_len(NULL), 0);
    pool_free(NULL);
}

static void test_embedded_nul(void **state) {
    struct pool *pool = *state;
    const char *a = pool_str(pool, "a\0b", 3), *b = pool_str(pool, "a\0c", 3),
               *c = str_in(pool, "a");
    assert_ptr_not_equal(a, b);
    assert_ptr_not_equal(a, c);
    assert_memory_equal(a, "a\0b", 4);
}

static const struct pair *pairs_in(struct pool *pool, int n, const char *const *words) {
    struct pair p[8];
    memset(p, 0, sizeof p);
    for (int i = 0; i < n; i++)
        p[i] = (struct pair){str_in(pool, words[2 * i]), str_in(pool, words[2 * i + 1])};
    return pool_blob(pool, &pair_tag, p, (size_t)n * sizeof *p);
}

static void test_blobs(void **state) {
    struct pool *pool = *state;
    static const char *const labels[] = {"app", "web", "tier", "front"};
    const struct pair *a = pairs_in(pool, 2, labels);
    assert_int_equal((uintptr_t)a % 8, 0);
    assert_int_equal(pool_len(a), 2 * sizeof *a);
    assert_int_equal(drops, 0);
    const struct pair *b = pairs_in(pool, 2, labels);
    assert_ptr_equal(a, b);
    assert_int_equal(drops, 1); /* what the second brought along was given back */
    const struct pair *c = pairs_in(pool, 1, labels);
    assert_ptr_not_equal(a, c);
    struct pool_stats st = pool_stats(pool);
    assert_int_equal(st.entries, 6);
    assert_int_equal(st.strings, 4);
    assert_int_equal(st.string_bytes, strlen("appwebtierfront"));
    assert_int_equal(st.bytes, st.string_bytes + 3 * sizeof *a);
    pool_unref(pool, a);
    assert_int_equal(drops, 1);
    assert_string_equal(b[1].value, "front");
    pool_unref(pool, b);
    assert_int_equal(drops, 2);
    assert_false(holds(pool, "tier"));
    assert_true(holds(pool, "app"));
    pool_unref(pool, c);
    assert_int_equal(pool_stats(pool).entries, 0);
}

static void test_tags_keep_types_apart(void **state) {
    struct pool *pool = *state;
    const uint64_t bytes[2] = {1, 2};
    /* Tags that hash alike, because the hash takes only the low half of the address. */
    const void *tag_a = (const void *)0x100001000, *tag_b = (const void *)0x200001000;
    const void *a = pool_blob(pool, tag_a, bytes, sizeof bytes);
    const void *b = pool_blob(pool, tag_b, bytes, sizeof bytes);
    const char *s = pool_str(pool, (const char *)bytes, sizeof bytes);
    assert_ptr_not_equal(a, b);
    assert_ptr_not_equal(a, s);
    assert_ptr_equal(pool_str(pool, (const char *)bytes, sizeof bytes), s);
    pool_unref(pool, a);
    assert_memory_equal(b, bytes, sizeof bytes);
    assert_memory_equal(s, bytes, sizeof bytes);
}

/* The last reference to the outermost gives back everything below it. */
static void test_nested(void **state) {
    struct pool *pool = *state;
    const struct nest *chain = NULL;
    for (int i = 0; i < 100; i++) {
        char word[16];
        snprintf(word, sizeof word, "level-%d", i);
        const char *words[] = {word, "value"};
        struct nest n = {pairs_in(pool, 1, words), chain};
        chain = pool_blob(pool, &nest_tag, &n, sizeof n);
    }
    assert_int_equal(pool_stats(pool).entries, 100 + 100 + 101);
    pool_unref(pool, chain);
    assert_int_equal(pool_stats(pool).entries, 0);
    assert_int_equal(drops, 200);
}

static void test_free_with_references(void **state) {
    struct pool *pool = *state;
    static const char *const words[] = {"a", "b"};
    pool_ref(pairs_in(pool, 1, words));
    str_in(pool, "left"); /* pool_free() in teardown frees them; the sanitizer watches */
    assert_int_equal(pool_stats(pool).entries, 4);
}

/* Random references taken and given back, against counters. */
static void test_random(void **state) {
    struct pool *pool = *state;
    enum { VALUES = 60, STEPS = 40000 };
    const char *strings[VALUES] = {0};
    const struct pair *blobs[VALUES] = {0};
    int str_refs[VALUES] = {0}, blob_refs[VALUES] = {0};
    srandom(11);
    for (int step = 0; step < STEPS; step++) {
        int v = (int)(random() % VALUES);
        char word[32];
        snprintf(word, sizeof word, "value-%d", v);
        switch (random() % 6) {
        case 0: {
            const char *s = str_in(pool, word);
            assert_string_equal(s, word);
            if (str_refs[v])
                assert_ptr_equal(s, strings[v]);
            strings[v] = s;
            str_refs[v]++;
            break;
        }
        case 1:
            if (str_refs[v]) {
                pool_ref(strings[v]);
                str_refs[v]++;
            }
            break;
        case 2: {
            const char *words[] = {word, "shared", "shared", word};
            const struct pair *p = pairs_in(pool, 2, words);
            assert_string_equal(p[0].key, word);
            if (blob_refs[v])
                assert_ptr_equal(p, blobs[v]);
            blobs[v] = p;
            blob_refs[v]++;
            break;
        }
        case 3:
        case 4:
            if (blob_refs[v]) {
                pool_unref(pool, blobs[v]);
                blob_refs[v]--;
            }
            break;
        default:
            if (str_refs[v]) {
                pool_unref(pool, strings[v]);
                str_refs[v]--;
            }
        }
        if (step % 101)
            continue;
        size_t entries = 0, any_blob = 0;
        for (int i = 0; i < VALUES; i++) {
            snprintf(word, sizeof word, "value-%d", i);
            bool alive = str_refs[i] || blob_refs[i];
            entries += alive + (blob_refs[i] > 0);
            any_blob |= blob_refs[i] > 0;
            assert_int_equal(holds(pool, word), alive);
            if (blob_refs[i])
                assert_string_equal(blobs[i][1].value, word);
        }
        assert_int_equal(pool_stats(pool).entries, entries + any_blob);
    }
    for (int v = 0; v < VALUES; v++) {
        while (str_refs[v]--)
            pool_unref(pool, strings[v]);
        while (blob_refs[v]--)
            pool_unref(pool, blobs[v]);
    }
    assert_int_equal(pool_stats(pool).entries, 0);
}

/* Nobody outside can know which strings collide: each pool has a seed of its own. */
static void test_seeds_differ(void **state) {
    (void)state;
    struct pool *one = pool_new(NULL), *other = pool_new(NULL);
    assert_int_not_equal(pool_seed(one), pool_seed(other));
    pool_free(one);
    pool_free(other);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_strings),
        TEST(test_empty_is_null),
        TEST(test_embedded_nul),
        TEST(test_blobs),
        TEST(test_tags_keep_types_apart),
        TEST(test_nested),
        TEST(test_free_with_references),
        TEST(test_random),
        cmocka_unit_test(test_seeds_differ),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
