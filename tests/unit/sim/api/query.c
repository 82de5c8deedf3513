/* Queries: escapes, options, refusals. */
#include "sim/api/query.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_pairs(void **state) {
    (void)state;
    _cleanup_query_ struct query q;
    query_parse(&q, "a=1&b=x%20y+z&a=2&empty=&flag&bad=%zz&nul=%00");
    assert_string_equal(query_get(&q, "a"), "1");
    assert_string_equal(query_get(&q, "b"), "x y z");
    assert_string_equal(query_get(&q, "empty"), "");
    assert_string_equal(query_get(&q, "flag"), "");
    /* what cannot be decoded is left out, as Go does */
    assert_null(query_get(&q, "bad"));
    /* what has a NUL in it is not to pass for something shorter, nor for nothing */
    assert_string_equal(query_get(&q, "nul"), "\1");
    assert_null(query_get(&q, "none"));
}

static void test_lists(void **state) {
    (void)state;
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    struct list_options o;
    _cleanup_query_ struct query q;
    query_parse(&q, "limit=5&resourceVersion=7&resourceVersionMatch=NotOlderThan&labelSelector=a");
    assert_int_equal(query_list_options(&q, &o, &f), 0);
    assert_int_equal(o.limit, 5);
    assert_int_equal(o.match, MATCH_NOT_OLDER);
    assert_string_equal(o.labels, "a");
    assert_false(o.watch);
    _cleanup_query_ struct query w;
    query_parse(&w, "watch=true&allowWatchBookmarks=1");
    assert_int_equal(query_list_options(&w, &o, &f), 0);
    assert_true(o.watch && o.bookmarks && o.initial_events); /* from nothing: with what there is */
}

static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *query;
        int code;
        const char *words;
    } rows[] = {
        {"limit=x", 400, "invalid syntax"},
        {"resourceVersionMatch=Exact", 422, "forbidden unless resourceVersion is provided"},
        {"resourceVersion=0&resourceVersionMatch=Exact", 422, "is forbidden for resourceVersion"},
        {"sendInitialEvents=true", 422, "forbidden for list"},
        {"watch=1&resourceVersion=1&sendInitialEvents=true", 422, "requires setting"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_failure_ struct failure f = FAILURE_INIT;
        struct list_options o;
        _cleanup_query_ struct query q;
        query_parse(&q, rows[i].query);
        assert_int_equal(query_list_options(&q, &o, &f), -1);
        assert_int_equal(f.code, rows[i].code);
        assert_non_null(strstr(f.message, rows[i].words));
    }
}

static void test_writes(void **state) {
    (void)state;
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    struct write_options o;
    _cleanup_query_ struct query q;
    query_parse(&q, "dryRun=All&fieldValidation=Strict");
    assert_int_equal(query_write_options(&q, "CreateOptions", &o, &f), 0);
    assert_true(o.dry_run);
    assert_int_equal(o.validation, VALIDATE_STRICT);
    _cleanup_query_ struct query bad;
    query_parse(&bad, "dryRun=Some");
    assert_int_equal(query_write_options(&bad, "CreateOptions", &o, &f), -1);
    assert_int_equal(f.code, 422);
    assert_non_null(strstr(f.message, "Unsupported value: [\"Some\"]"));
    uint64_t v;
    assert_int_equal(version_parse("17", 400, &v, &f), 0);
    assert_int_equal(v, 17);
    assert_int_equal(version_parse("-1", 500, &v, &f), -1);
    assert_int_equal(f.code, 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
