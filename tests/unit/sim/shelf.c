/* Objects by name, their history, snapshots of any moment. */
#include "sim/shelf.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/world.h"

static json_t *thing(const char *ns, const char *name, int value) {
    return json_pack("{s:{s:s, s:s, s:s}, s:i}", "metadata", "name", name, "namespace", ns, "uid",
                     name, "value", value);
}

static void put(struct shelf *s, const char *ns, const char *name, int value) {
    _cleanup_json_ json_t *v = thing(ns, name, value);
    assert_non_null(shelf_put(s, v, NULL));
}

static char *shown(const struct snapshot *snap) {
    struct str out = STR_INIT;
    for (size_t i = 0; i < snap->n; i++) {
        _cleanup_json_ json_t *v = record_json(snap->items[i]);
        str_addf(&out, "%s/%s=%d ", snap->items[i]->obj->meta.ns, snap->items[i]->obj->meta.name,
                 (int)json_integer_value(json_object_get(v, "value")));
    }
    return str_take(&out);
}

static void test_order(void **state) {
    (void)state;
    struct world *w = world_new(1, SIM_START);
    struct shelf *s = shelf_new(w, &kind_any);
    put(s, "b", "x", 1);
    put(s, "a", "z", 2);
    put(s, "a", "y", 3);
    struct snapshot *snap = shelf_snapshot(s);
    _cleanup_free_ char *text = shown(snap);
    assert_string_equal(text, "a/y=3 a/z=2 b/x=1 ");
    assert_int_equal(snapshot_seek(snap, "a", ""), 0);
    assert_int_equal(snapshot_seek(snap, "b", ""), 2);
    shelf_remove(s, shelf_get(s, "a", "z"));
    assert_null(shelf_get(s, "a", "z"));
    assert_int_equal(shelf_len(s), 2);
    put(s, "a", "z", 4); /* again, before anybody looked */
    struct snapshot *later = shelf_snapshot(s);
    _cleanup_free_ char *after = shown(later);
    assert_string_equal(after, "a/y=3 a/z=4 b/x=1 ");
    /* the old picture is unchanged, and can be had by its version */
    struct snapshot *again = shelf_snapshot_at(s, snap->version);
    _cleanup_free_ char *then = shown(again);
    assert_string_equal(then, "a/y=3 a/z=2 b/x=1 ");
    snapshot_unref(snap);
    snapshot_unref(later);
    snapshot_unref(again);
    shelf_free(s);
    world_free(w);
}

static void test_every_moment(void **state) {
    (void)state;
    /* random changes; each version is remembered by us and asked for afterwards */
    struct world *w = world_new(7, SIM_START);
    struct shelf *s = shelf_new(w, &kind_any);
    struct prng r = {3};
    enum { STEPS = 300 };
    char *wanted[STEPS];
    uint64_t versions[STEPS];
    for (int i = 0; i < STEPS; i++) {
        char name[2] = {(char)('a' + prng_range(&r, 0, 9)), 0};
        struct record *there = shelf_get(s, "n", name);
        if (there && prng_range(&r, 0, 3) == 0)
            shelf_remove(s, there);
        else
            put(s, "n", name, i);
        struct snapshot *snap = shelf_snapshot(s);
        wanted[i] = shown(snap);
        versions[i] = w->version;
        snapshot_unref(snap);
    }
    for (int i = 0; i < STEPS; i++) {
        struct snapshot *snap = shelf_snapshot_at(s, versions[i]);
        assert_non_null(snap);
        _cleanup_free_ char *text = shown(snap);
        assert_string_equal(text, wanted[i]);
        free(wanted[i]);
        snapshot_unref(snap);
    }
    uint64_t position;
    assert_true(shelf_position(s, versions[10], &position));
    assert_int_equal(shelf_change(s, position)->after->version, versions[11]);
    shelf_compact(s);
    assert_false(shelf_position(s, versions[10], &position));
    assert_null(shelf_snapshot_at(s, versions[10]));
    shelf_free(s);
    world_free(w);
}

static void test_forgets(void **state) {
    (void)state;
    struct world *w = world_new(7, SIM_START);
    struct shelf *s = shelf_new(w, &kind_any);
    put(s, "n", "a", 1);
    uint64_t old = w->version, position;
    put(s, "n", "a", 2);
    clock_run(&w->clock, SIM_START + SHELF_MEMORY + SEC(1));
    assert_true(shelf_position(s, old, &position));
    put(s, "n", "a", 3); /* what is older than the memory goes with the next change */
    assert_false(shelf_position(s, old, &position));
    shelf_free(s);
    world_free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_every_moment),
        cmocka_unit_test(test_forgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
