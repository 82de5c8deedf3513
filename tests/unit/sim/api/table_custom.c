/* The columns of custom resources. How Go prints numbers and JSON was taken from Go's own fmt and
 * encoding/json; tests/cluster/test_tables.py compares with a living server. */
#include "sim/api/table_internal.h"
#include "table_expect.h"

/* Paths that are members with points between: ".spec.size"; one with a ! is none. */
static void *compile(const char *path) {
    return *path == '.' && !strchr(path, '!') ? xstrdup(path + 1) : NULL;
}
static const json_t *find(const void *path, const json_t *object) {
    return json_at(object, path);
}
static const struct api_table_paths paths = {compile, find, free};

/* The cell of a column of that type over that value, both as JSON. */
static void expect_cell(const char *type, const char *value, const char *cell) {
    _cleanup_json_ json_t *columns =
        json_pack("[{s:s, s:s, s:s}]", "name", "V", "type", type, "jsonPath", ".v");
    struct api_table_kind *kind = api_table_custom(columns, &paths);
    _cleanup_free_ char *object = *value ? xasprintf("{'metadata':{'name':'x'},'v':%s}", value)
                                         : xstrdup("{'metadata':{'name':'x'}}");
    struct api_table_options options = {.version = "v1", .now = time_now()};
    _cleanup_json_ json_t *table = table_of(kind, object, &options);
    api_table_kind_free(kind);
    const json_t *cells = json_object_get(row_of(table), "cells");
    expect_json(json_array_get(cells, 0), "'x'");
    expect_json(json_array_get(cells, 1), cell);
}

static void test_string(void **state) {
    (void)state;
    static const struct {
        const char *value, *cell;
    } rows[] = {
        {"", "null"},
        {"null", "'<no value>'"},
        {"''", "''"},
        {"'text'", "'text'"},
        {"true", "'true'"},
        {"-12", "'-12'"},
        {"9223372036854775807", "'9223372036854775807'"},
        {"[]", "'[]'"},
        {"{}", "'{}'"},
        {"[1,null,true,[],{}]", "'[1,null,true,[],{}]'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_cell("string", rows[i].value, rows[i].cell);
}

/* Keys sorted; <, > and & escaped, as encoding/json does. */
static void test_string_json(void **state) {
    (void)state;
    _cleanup_json_ json_t *columns =
        json_pack("[{s:s, s:s, s:s}]", "name", "V", "type", "string", "jsonPath", ".v");
    struct api_table_kind *kind = api_table_custom(columns, &paths);
    _cleanup_json_ json_t *object = json_of(
        "{'v':{'b<>&':'\\u2028\\b\\f\\u0001\\t\\n\\r/\\u00e9','a':[null,true,3,2.0,1e-9]}}");
    struct api_table_options options = {.version = "v1", .now = time_now()};
    _cleanup_str_ struct str out = STR_INIT;
    api_table_object(kind, &options, object, (struct view){NULL, 0}, &out);
    api_table_kind_free(kind);
    _cleanup_json_ json_t *table = json_loads(str_get(&out), 0, NULL);
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(row_of(table), "cells"), 1)),
        "{\"a\":[null,true,3,2,1e-9],\"b\\u003c\\u003e\\u0026\":"
        "\"\\u2028\\b\\f\\u0001\\t\\n\\r/\xc3\xa9\"}");
}

/* value, fmt.Sprint(value), json.Marshal(value) */
static void test_floats(void **state) {
    (void)state;
    static const struct {
        const char *value, *text, *json;
    } rows[] = {
        {"1e8", "1e+08", "100000000"},
        {"123456789.0", "1.23456789e+08", "123456789"},
        {"1e20", "1e+20", "100000000000000000000"},
        {"1e21", "1e+21", "1e+21"},
        {"-1.5e21", "-1.5e+21", "-1.5e+21"},
        {"0.0001", "0.0001", "0.0001"},
        {"0.00001", "1e-05", "0.00001"},
        {"0.000012", "1.2e-05", "0.000012"},
        {"0.000001", "1e-06", "0.000001"},
        {"0.0000001", "1e-07", "1e-7"},
        {"9.9e-7", "9.9e-07", "9.9e-7"},
        {"1e-10", "1e-10", "1e-10"},
        {"1.25e-12", "1.25e-12", "1.25e-12"},
        {"0.0", "0", "0"},
        {"1.0", "1", "1"},
        {"-0.5", "-0.5", "-0.5"},
        {"5e-324", "5e-324", "5e-324"},
        {"1.7976931348623157e308", "1.7976931348623157e+308", "1.7976931348623157e+308"},
        {"0.1", "0.1", "0.1"},
        {"0.3333333333333333", "0.3333333333333333", "0.3333333333333333"},
        {"123456.0", "123456", "123456"},
        {"1234567.0", "1.234567e+06", "1234567"},
        {"2e6", "2e+06", "2000000"},
        {"12345678901234567890.0", "1.2345678901234567e+19", "12345678901234567000"},
        {"12.25", "12.25", "12.25"},
        {"1e100", "1e+100", "1e+100"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *text = xasprintf("'%s'", rows[i].text);
        expect_cell("string", rows[i].value, text);
        _cleanup_free_ char *list = xasprintf("[%s]", rows[i].value);
        _cleanup_free_ char *json = xasprintf("'[%s]'", rows[i].json);
        expect_cell("string", list, json);
    }
}

static void test_numbers(void **state) {
    (void)state;
    static const struct {
        const char *type, *value, *cell;
    } rows[] = {
        {"integer", "", "null"},
        {"integer", "null", "null"},
        {"integer", "7", "7"},
        {"integer", "-7.9", "-7"},
        {"integer", "1e300", "-9223372036854775808"},
        {"integer", "-1e300", "-9223372036854775808"},
        {"integer", "9.3e18", "-9223372036854775808"},
        {"integer", "'7'", "null"},
        {"integer", "true", "null"},
        {"integer", "[7]", "null"},
        {"number", "7", "7"},
        {"number", "7.5", "7.5"},
        {"number", "1e21", "1e21"},
        {"number", "'7'", "null"},
        {"number", "null", "null"},
        {"boolean", "true", "true"},
        {"boolean", "false", "false"},
        {"boolean", "'true'", "null"},
        {"boolean", "1", "null"},
        {"boolean", "", "null"},
        {"odd", "1", "null"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_cell(rows[i].type, rows[i].value, rows[i].cell);
}

static void test_dates(void **state) {
    (void)state;
    static const struct {
        const char *value, *cell;
    } rows[] = {
        {"", "null"},
        {"null", "null"},
        {"7", "null"},
        {"''", "'<unknown>'"},
        {"'null'", "'<unknown>'"},
        {"'0001-01-01T00:00:00Z'", "'<unknown>'"},
        {"'2026-11-15T07:59:50Z'", "'10s'"},
        {"'2026-11-15T07:59:50.5Z'", "'9s'"},
        {"'2026-11-15T09:55:00+02:00'", "'5m'"},
        {"'2026-11-15T09:00:00Z'", "'<invalid>'"},
        {"'2026-11-15'", "'<invalid>'"},
        {"'2026-11-15t07:59:50z'", "'<invalid>'"},
        {"'2026-11-15T07:59:50z'", "'<invalid>'"},
        {"'2026-11-15T07:59:60Z'", "'<invalid>'"},
        {"'2026-11-15T07:59:50'", "'<invalid>'"},
        {"'yesterday'", "'<invalid>'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_cell("date", rows[i].value, rows[i].cell);
}

static void test_headers(void **state) {
    (void)state;
    _cleanup_json_ json_t *columns =
        json_of("[{'name':'A','type':'integer','format':'int32','jsonPath':'.a','priority':1},"
                "{'name':'B','type':'string','jsonPath':'.b.c','description':'of b'}]");
    struct api_table_kind *kind = api_table_custom(columns, &paths);
    struct api_table_options options = {.version = "v1", .now = time_now()};
    _cleanup_json_ json_t *table = table_of(kind, "{'a':1,'b':{'c':'d'}}", &options);
    expect_json(json_object_get(table, "columnDefinitions"),
                "[{'name':'Name','type':'string','format':'name','description':'','priority':0},"
                "{'name':'A','type':'integer','format':'int32','description':"
                "'Custom resource definition column (in JSONPath format): .a','priority':1},"
                "{'name':'B','type':'string','format':'','description':'of b','priority':0}]");
    expect_json(json_object_get(row_of(table), "cells"), "['',1,'d']");
    api_table_kind_free(kind);
}

/* Without columns of its own a resource shows its age. */
static void test_defaults(void **state) {
    (void)state;
    _cleanup_json_ json_t *empty = json_array();
    const json_t *given[] = {NULL, empty, json_null()};
    for (size_t i = 0; i < ARRAY_LEN(given); i++) {
        struct api_table_kind *kind = api_table_custom(given[i], &paths);
        expect_kind_cells(kind,
                          "{'metadata':{'name':'x','creationTimestamp':'2026-11-15T07:55:00Z'}}",
                          "['x','5m']");
        api_table_kind_free(kind);
    }
    struct api_table_kind *kind = api_table_custom_scale(&paths);
    expect_kind_cells(kind, "{'metadata':{'name':'x'},'spec':{'replicas':3},'status':{}}",
                      "['x',3,null,null]");
    api_table_kind_free(kind);
    api_table_kind_free(NULL);
}

/* From a path that is none on, columns are left out. */
static void test_bad_path(void **state) {
    (void)state;
    _cleanup_json_ json_t *columns = json_of("[{'name':'A','type':'string','jsonPath':'.a'},"
                                             "{'name':'B','type':'string','jsonPath':'.b!'},"
                                             "{'name':'C','type':'string','jsonPath':'.c'}]");
    struct api_table_kind *kind = api_table_custom(columns, &paths);
    expect_kind_cells(kind, "{'a':'1','b':'2','c':'3'}", "['','1']");
    api_table_kind_free(kind);
    /* Columns that are no columns at all. */
    _cleanup_json_ json_t *odd = json_of("[7,'x',null]");
    kind = api_table_custom(odd, &paths);
    expect_kind_cells(kind, "{'metadata':{'name':'x'}}", "['x']");
    api_table_kind_free(kind);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_string),   cmocka_unit_test(test_string_json),
        cmocka_unit_test(test_floats),   cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_dates),    cmocka_unit_test(test_headers),
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_bad_path),
    };
    return cmocka_run_group_tests_name("table_custom", tests, NULL, NULL);
}
