/* Tests of src/cli/stops.c: which objects are stops, and what is said of each. */
#include "cli/stops.h"

#include "support/keeper_world.h"

#define NOW SEC(1794830700) /* 2026-11-16T12:05:00Z */

struct fixture {
    struct pool *pool;
    struct store *maps;
    struct arena arena;
    struct stops stops;
};

static int begin(void **state) {
    struct fixture *f = xnew(struct fixture);
    f->pool = pool_new(type_drop);
    f->maps = store_new(&kind_config_map, f->pool);
    f->arena = ARENA_INIT;
    *state = f;
    return 0;
}

static int end(void **state) {
    struct fixture *f = *state;
    store_free(f->maps);
    pool_free(f->pool);
    arena_done(&f->arena);
    free(f);
    return 0;
}

static void put(struct fixture *f, const char *ns, const char *name, const char *record) {
    json_t *doc = json_pack("{s:{s:s,s:s,s:s,s:s},s:{s:s}}", "metadata", "namespace", ns, "name",
                            name, "uid", ns, "resourceVersion", "1", "data", STOP_KEY, record);
    assert_true(store_put(f->maps, kw_decode(f->pool, &kind_config_map, doc)));
    json_decref(doc);
}

static void says(struct fixture *f, size_t i, const char *wanted) {
    _cleanup_str_ struct str text = STR_INIT;
    stops_take(f->maps, &f->arena, &f->stops);
    assert_true(i < f->stops.n);
    stops_text(&f->stops.rows[i], "slipway", NOW, &text);
    assert_string_equal(str_get(&text), wanted);
}

static void who_and_why_and_how_it_ends(void **state) {
    struct fixture *f = *state;
    put(f, "a", STOP_MAP,
        "{\"v\":1,\"by\":\"ops\",\"reason\":\"red\",\"since\":\"2026-11-16T12:01:00Z\"}");
    put(f, "b", STOP_MAP, "{\"v\":1,\"by\":\"ops\"}");
    put(f, "c", STOP_MAP, "?");
    put(f, "c", "slipway-slots-default", "{}");
    says(f, 0,
         "Everything is paused by ops since 12:01 UTC, in namespace a: red; 'slipway resume --all' "
         "ends it");
    says(f, 1, "Everything is paused by ops, in namespace b; 'slipway resume --all' ends it");
    says(f, 2,
         "Everything is paused, in namespace c: by whom and why cannot be read from its ConfigMap "
         "slipway-pause; 'slipway resume --all' ends it");
    assert_int_equal(f->stops.n, 3);
}

static void the_document(void **state) {
    struct fixture *f = *state;
    _cleanup_str_ struct str json = STR_INIT;
    struct jsonw w;
    put(f, "a", STOP_MAP,
        "{\"v\":1,\"by\":\"ops\",\"reason\":\"red\",\"since\":\"2026-11-16T12:01:00Z\"}");
    stops_take(f->maps, &f->arena, &f->stops);
    jsonw_init(&w, &json, false);
    jsonw_begin(&w, '{');
    stops_write(&w, &f->stops);
    jsonw_end(&w);
    assert_string_equal(str_get(&json),
                        "{\"paused\":[{\"namespace\":\"a\",\"by\":\"ops\",\"reason\":\"red\","
                        "\"since\":\"2026-11-16T12:01:00Z\"}]}");
}

static void nothing(void **state) {
    struct fixture *f = *state;
    put(f, "c", "slipway-slots-default", "{}");
    stops_take(f->maps, &f->arena, &f->stops);
    assert_int_equal(f->stops.n, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_and_why_and_how_it_ends, begin, end),
        cmocka_unit_test_setup_teardown(the_document, begin, end),
        cmocka_unit_test_setup_teardown(nothing, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
