/* Tests of model/type: maps, and what a table does to a struct. */
#include "model/type.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../support/everything.h"
#include "../support/make.h"
#include "base/timefmt.h"

static int setup(void **state) {
    *state = pool_new(type_drop);
    return 0;
}

/* Whatever a test has made must have been given back. */
static int teardown(void **state) {
    size_t left = pool_stats(*state).entries;
    pool_free(*state);
    return left ? -1 : 0;
}

static void lookup(void **state) {
    struct pool *pool = *state;
    const struct pair *map =
        make_map(pool, "", "nameless", "a", "1", "aa", "", "b", "2", "c", "3", NULL);
    assert_int_equal(list_len(map), 5);
    assert_string_equal(map_get(map, ""), "nameless");
    assert_string_equal(map_get(map, "a"), "1");
    assert_string_equal(map_get(map, "aa"), "");
    assert_string_equal(map_get(map, "b"), "2");
    assert_string_equal(map_get(map, "c"), "3");
    assert_true(map_has(map, "aa"));
    static const char *const missing[] = {"A", "aaa", "ab", "0", "d", "\xc3\xa9"};
    for (size_t i = 0; i < ARRAY_LEN(missing); i++) {
        assert_null(map_get(map, missing[i]));
        assert_false(map_has(map, missing[i]));
    }
    assert_null(map_get(NULL, "a"));
    assert_false(map_has(NULL, ""));
    pool_unref(pool, map);
}

/* Sorted as bytes: letters past ASCII come last, not first. */
static void lookup_bytes(void **state) {
    struct pool *pool = *state;
    const struct pair *map = make_map(pool, "z", "1", "\xc3\xa9", "2", NULL);
    assert_string_equal(map_get(map, "z"), "1");
    assert_string_equal(map_get(map, "\xc3\xa9"), "2");
    pool_unref(pool, map);
}

static const struct pair_qty *make_qty(struct pool *pool) {
    const struct pair_qty items[] = {{make_str(pool, "cpu"), 1500},
                                     {make_str(pool, "memory"), 2048000}};
    return pool_blob(pool, &type_pair_qty, items, sizeof items);
}

static void quantities(void **state) {
    struct pool *pool = *state;
    const struct pair_qty *map = make_qty(pool);
    assert_int_equal(map_qty(map, "cpu"), 1500);
    assert_int_equal(map_qty(map, "memory"), 2048000);
    assert_int_equal(map_qty(map, "pods"), 0);
    assert_int_equal(map_qty(NULL, "cpu"), 0);
    pool_unref(pool, map);
}

static void init(void **state) {
    (void)state;
    struct everything e;
    memset(&e, 0, sizeof e);
    e.owner = "untouched";
    type_init(&type_everything, &e, &e);
    assert_int_equal(e.maybe, ABSENT8);
    assert_int_equal(e.opt32, ABSENT32);
    assert_int_equal(e.opt64, ABSENT64);
    assert_int_equal(e.msg.opt, ABSENT32);
    assert_int_equal(e.flat_opt, ABSENT64);
    assert_int_equal(e.i32, 0);
    assert_string_equal(e.owner, "untouched");
    /* Nothing else has changed. */
    e.maybe = 0;
    e.opt32 = e.msg.opt = 0;
    e.opt64 = e.flat_opt = 0;
    e.owner = NULL;
    struct everything zero;
    memset(&zero, 0, sizeof zero);
    assert_memory_equal(&e, &zero, sizeof e);
}

static const struct part *make_part(struct pool *pool, const struct type *type, const char *name,
                                    int32_t n) {
    struct part p;
    memset(&p, 0, sizeof p);
    p.name = make_str(pool, name);
    p.n = n;
    return pool_blob(pool, type, &p, sizeof p);
}

static void fill(struct pool *pool, struct everything *e) {
    memset(e, 0, sizeof *e);
    type_init(&type_everything, e, e);
    const struct pair_time when[] = {{make_str(pool, "p1"), SEC(1)}, {make_str(pool, "p2"), 0}};
    const struct shared shared = {make_str(pool, "w")};
    e->str = make_str(pool, "\"text\"\n");
    e->yes = e->present = true;
    e->i32 = -1;
    e->i64 = INT64_MAX;
    e->opt32 = 0;
    e->opt64 = -7;
    e->time = SEC(1763193600);
    e->micro = SEC(1763193600) + 123456;
    e->intstr = (struct intstr){.str = make_str(pool, "50%"), .set = 1, .is_str = 1};
    e->msg = (struct inner){make_str(pool, "in"), 5};
    e->flat_text = make_str(pool, "flat");
    e->flat_opt = 6;
    e->among = make_str(pool, "us");
    e->ptr = make_part(pool, &type_part, "pointed", 0);
    e->list = make_part(pool, &type_part, "listed", 8);
    e->odd = make_part(pool, &type_odd, NULL, 1);
    e->strs = make_strs(pool, "x", "", "y", NULL);
    e->map = make_map(pool, "k", "v", "l", "", NULL);
    e->some = make_map(pool, "kept", "1", NULL);
    e->qty = make_qty(pool);
    e->times = pool_blob(pool, &type_pair_time, when, sizeof when);
    e->shared = pool_blob(pool, &type_shared, &shared, sizeof shared);
    e->owner = make_str(pool, "me");
    e->maybe = 0;
    e->raw = make_str(pool, "{\"a\": [1]}");
}

static void print(void **state) {
    struct pool *pool = *state;
    struct everything e;
    memset(&e, 0, sizeof e);
    type_init(&type_everything, &e, &e);
    _cleanup_free_ char *nothing = everything_text(&e);
    assert_string_equal(nothing, NOTHING);
    fill(pool, &e);
    _cleanup_free_ char *text = everything_text(&e);
    assert_string_equal(
        text,
        "{\"str\":\"\\\"text\\\"\\n\",\"yes\":true,\"i32\":-1,\"i64\":9223372036854775807,"
        "\"opt32\":0,\"opt64\":-7,\"time\":\"2025-11-15T08:00:00Z\","
        "\"micro\":\"2025-11-15T08:00:00.123456Z\",\"intstr\":\"50%\",\"present\":{},"
        "\"msg\":{\"text\":\"in\",\"opt\":5},\"flat\":{\"text\":\"flat\",\"opt\":6},"
        "\"among\":\"us\",\"ptr\":{\"name\":\"pointed\"},\"list\":[{\"name\":\"listed\",\"n\":8}],"
        "\"strs\":[\"x\",\"\",\"y\"],\"map\":{\"k\":\"v\",\"l\":\"\"},"
        "\"qty\":{\"cpu\":\"1500m\",\"memory\":\"2048\"},"
        "\"times\":{\"p1\":\"1970-01-01T00:00:01Z\",\"p2\":null},\"odd\":[{\"n\":1}],"
        "\"some\":{\"kept\":\"1\"},\"maybe\":false,\"raw\":{\"a\": [1]},"
        "\"shared\":{\"owner\":\"me\",\"what\":\"w\"}}");
    pool_unref(pool, e.intstr.str);
    e.intstr = (struct intstr){.val = 3, .set = 1};
    _cleanup_free_ char *number = everything_text(&e);
    assert_non_null(strstr(number, "\"intstr\":3,"));
    type_release(&type_everything, pool, &e, &e);
}

static void release(void **state) {
    struct pool *pool = *state;
    struct everything e;
    fill(pool, &e);
    assert_true(pool_stats(pool).entries > 20);
    type_release(&type_everything, pool, &e, &e);
    assert_int_equal(pool_stats(pool).entries, 0);
    assert_null(e.str);
    assert_null(e.owner);
    assert_null(e.list);
    assert_null(e.intstr.str);
    assert_null(e.msg.text);
    /* Once more is nothing. */
    type_release(&type_everything, pool, &e, &e);
}

/* A copy of the bytes with references of its own is a copy. */
static void retain(void **state) {
    struct pool *pool = *state;
    struct everything a, b;
    fill(pool, &a);
    size_t one = pool_stats(pool).entries;
    memcpy(&b, &a, sizeof b);
    type_retain(&type_everything, &b, &b);
    type_release(&type_everything, pool, &a, &a);
    assert_int_equal(pool_stats(pool).entries, one);
    assert_string_equal(b.list[0].name, "listed");
    type_release(&type_everything, pool, &b, &b);
    assert_int_equal(pool_stats(pool).entries, 0);
}

/* As good as new. */
static void clear(void **state) {
    struct pool *pool = *state;
    struct everything e, fresh;
    memset(&fresh, 0, sizeof fresh);
    type_init(&type_everything, &fresh, &fresh);
    memset(&e, 0, sizeof e);
    fill(pool, &e);
    type_clear(&type_everything, pool, &e, &e);
    assert_int_equal(pool_stats(pool).entries, 0);
    assert_memory_equal(&e, &fresh, sizeof e);
}

/* Two owners of one blob: the strings inside live until the last one goes. */
static void shared_blobs(void **state) {
    struct pool *pool = *state;
    struct everything a, b;
    fill(pool, &a);
    size_t one = pool_stats(pool).entries;
    fill(pool, &b);
    assert_int_equal(pool_stats(pool).entries, one);
    assert_memory_equal(&a, &b, sizeof a);
    type_release(&type_everything, pool, &a, &a);
    assert_int_equal(pool_stats(pool).entries, one);
    assert_string_equal(b.list[0].name, "listed");
    assert_string_equal(map_get(b.map, "k"), "v");
    type_release(&type_everything, pool, &b, &b);
    assert_int_equal(pool_stats(pool).entries, 0);
}

/* Blobs of equal bytes and different types are different entries. */
static void tags(void **state) {
    struct pool *pool = *state;
    const struct part *a = make_part(pool, &type_part, "same", 1),
                      *b = make_part(pool, &type_odd, "same", 1);
    assert_ptr_not_equal(a, b);
    assert_ptr_equal(a->name, b->name);
    pool_unref(pool, a);
    pool_unref(pool, b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        T(lookup),  T(lookup_bytes), T(quantities), T(init),   T(print),
        T(release), T(shared_blobs), T(tags),       T(retain), T(clear),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
