/* Tests of kube/codec: what the two decoders share. */
#include "kube/codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/decode.h"
#include "base/prng.h"

static const char *add_pair(struct bench *b, struct codec_list *list, const char *key,
                            const char *value) {
    struct pair *p = codec_list_add(&b->codec, list);
    p->key = codec_str(&b->codec, view_of(key));
    p->value = codec_str(&b->codec, view_of(value));
    return p->key;
}

static void lists_grow(void **state) {
    struct bench *b = *state;
    enum { N = 1000 };
    struct codec_list list = {.size = sizeof(struct part)};
    b->codec.room = CODEC_ROOM;
    for (int i = 0; i < N; i++) {
        struct part *p = codec_list_add(&b->codec, &list);
        assert_true(is_zero(p, sizeof *p));
        p->n = i;
        char name[16];
        snprintf(name, sizeof name, "n%d", i % 10);
        p->name = codec_str(&b->codec, view_of(name));
    }
    const struct part *entry = codec_finish(&b->codec, &type_part, &list);
    assert_int_equal(list.n, 0);
    assert_int_equal(list_len(entry), N);
    for (int i = 0; i < N; i++)
        assert_int_equal(entry[i].n, i);
    pool_unref(b->pool, entry);
}

/* What was popped is zero again when it comes back: it is part of what is compared. */
static void pop_and_add(void **state) {
    struct bench *b = *state;
    struct codec_list list = {.size = sizeof(struct part)};
    b->codec.room = CODEC_ROOM;
    struct part *p = codec_list_add(&b->codec, &list);
    memset(p, 0xff, sizeof *p);
    codec_list_pop(&list);
    p = codec_list_add(&b->codec, &list);
    assert_true(is_zero(p, sizeof *p));
    codec_list_pop(&list);
    assert_null(codec_finish(&b->codec, &type_part, &list));
}

static void room(void **state) {
    struct bench *b = *state;
    struct codec_list list = {.size = sizeof(struct part)}, other = {.size = 8};
    b->codec.room = 3 * sizeof(struct part);
    for (int i = 0; i < 3; i++)
        assert_non_null(codec_list_add(&b->codec, &list));
    assert_null(codec_list_add(&b->codec, &list));
    assert_null(codec_list_add(&b->codec, &other));
    assert_int_equal(list.n, 3);
    codec_abandon(&b->codec, &type_part, &list);
}

static void empty_is_null(void **state) {
    struct bench *b = *state;
    struct codec_list list = {.size = sizeof(struct pair)};
    assert_null(codec_finish(&b->codec, &type_pair, &list));
    codec_abandon(&b->codec, &type_pair, &list);
    assert_null(codec_str(&b->codec, (struct view){NULL, 0}));
    assert_null(codec_str(&b->codec, (struct view){"x", 0}));
}

static void strings_are_clean(void **state) {
    struct bench *b = *state;
    const char *a = codec_str(&b->codec, VIEW("a\0\xff")),
               *same = codec_str(&b->codec, VIEW("a\xef\xbf\xbd\xef\xbf\xbd"));
    assert_ptr_equal(a, same);
    pool_unref(b->pool, a);
    pool_unref(b->pool, same);
}

static void set_replaces(void **state) {
    struct bench *b = *state;
    const char *member = NULL;
    codec_set(&b->codec, &member, codec_str(&b->codec, VIEW("one")));
    assert_string_equal(member, "one");
    codec_set(&b->codec, &member, codec_str(&b->codec, VIEW("two")));
    assert_string_equal(member, "two");
    assert_int_equal(pool_stats(b->pool).entries, 1);
    /* By itself: the entry must not die in between. */
    codec_set(&b->codec, &member, codec_str(&b->codec, VIEW("two")));
    assert_string_equal(member, "two");
    codec_set(&b->codec, &member, NULL);
    assert_null(member);
}

/* Any order and any repetition: sorted, and of equal keys the last one. */
static void maps(void **state) {
    struct bench *b = *state;
    struct prng r = {17};
    for (int round = 0; round < 500; round++) {
        struct codec_list list = {.size = sizeof(struct pair)};
        int last[30], n = (int)(prng_next(&r) % 40), distinct = 0;
        memset(last, 0xff, sizeof last);
        b->codec.room = CODEC_ROOM;
        arena_reset(&b->codec.scratch);
        for (int i = 0; i < n; i++) {
            char key[16], value[16];
            int k = (int)(prng_next(&r) % ARRAY_LEN(last));
            snprintf(key, sizeof key, "%s%d", k % 3 ? "k" : "", k);
            snprintf(value, sizeof value, "%d", i);
            add_pair(b, &list, key, value);
            distinct += last[k] < 0;
            last[k] = i;
        }
        const struct pair *map = codec_finish(&b->codec, &type_pair, &list);
        assert_int_equal(list_len(map), distinct);
        for (size_t i = 1; i < list_len(map); i++)
            assert_true(strcmp(map[i - 1].key, map[i].key) < 0);
        for (int k = 0; k < (int)ARRAY_LEN(last); k++) {
            char key[16], value[16];
            snprintf(key, sizeof key, "%s%d", k % 3 ? "k" : "", k);
            snprintf(value, sizeof value, "%d", last[k]);
            if (last[k] < 0)
                assert_null(map_get(map, key));
            else
                assert_string_equal(map_get(map, key), value);
        }
        pool_unref(b->pool, map);
        assert_int_equal(pool_stats(b->pool).entries, 0);
    }
}

static void abandon_gives_back(void **state) {
    struct bench *b = *state;
    struct codec_list pairs = {.size = sizeof(struct pair)}, strs = {.size = sizeof(char *)};
    b->codec.room = CODEC_ROOM;
    add_pair(b, &pairs, "a", "b");
    add_pair(b, &pairs, "a", "c");
    *(const char **)codec_list_add(&b->codec, &strs) = codec_str(&b->codec, VIEW("d"));
    assert_int_equal(pool_stats(b->pool).entries, 4);
    codec_abandon(&b->codec, &type_pair, &pairs);
    codec_abandon(&b->codec, &type_strs, &strs);
    assert_int_equal(pairs.n + strs.n, 0);
}

/* Every kind takes the smallest objects there are, from both formats, and they are the same. */
static void smallest_objects(void **state) {
    struct bench *b = *state;
    for (size_t i = 0; kinds[i]; i++) {
        struct object *json = bench_object(b, kinds[i], KUBE_JSON, VIEW("{}")),
                      *pb = bench_object(b, kinds[i], KUBE_PROTOBUF, VIEW("")),
                      *made = object_new(kinds[i]);
        assert_memory_equal(json, pb, kinds[i]->type->size);
        assert_memory_equal(json, made, kinds[i]->type->size);
        object_free(kinds[i], b->pool, json);
        object_free(kinds[i], b->pool, pb);
        object_free(kinds[i], b->pool, made);
        json = bench_object(b, kinds[i], KUBE_JSON,
                            VIEW("{\"metadata\":{\"name\":\"x\",\"uid\":\"u\"}}"));
        pb = bench_object(b, kinds[i], KUBE_PROTOBUF, VIEW("\x0a\x06\x0a\x01x\x2a\x01u"));
        assert_string_equal(json->meta.name, "x");
        assert_memory_equal(json, pb, kinds[i]->type->size);
        object_free(kinds[i], b->pool, json);
        object_free(kinds[i], b->pool, pb);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        BENCH_TEST(lists_grow),    BENCH_TEST(pop_and_add),        BENCH_TEST(room),
        BENCH_TEST(empty_is_null), BENCH_TEST(strings_are_clean),  BENCH_TEST(set_replaces),
        BENCH_TEST(maps),          BENCH_TEST(abandon_gives_back), BENCH_TEST(smallest_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
