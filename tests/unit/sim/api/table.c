/* The document of a Table: its head, its columns, what a row carries of its object. */
#include "sim/api/table.h"

#include <errno.h>

#include "sim/api/resource.h"
#include "table_expect.h"

static const struct view none = {NULL, 0};

static void test_whole_document(void **state) {
    (void)state;
    struct api_table_options options = {.version = "v1", .now = time_now()};
    _cleanup_json_ json_t *object =
        json_of("{'kind':'Lease','metadata':{'name':'a','resourceVersion':'5',"
                "'creationTimestamp':'2026-11-15T07:55:00Z'},'spec':{'holderIdentity':'me'}}");
    _cleanup_str_ struct str out = STR_INIT;
    api_table_object(api_table_find("coordination.k8s.io", "Lease"), &options, object, none, &out);
    assert_string_equal(
        str_get(&out),
        "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{\"resourceVersion\":"
        "\"5\"},\"columnDefinitions\":["
        "{\"name\":\"Name\",\"type\":\"string\",\"format\":\"name\",\"description\":\"\","
        "\"priority\":0},"
        "{\"name\":\"Holder\",\"type\":\"string\",\"format\":\"\",\"description\":\"\","
        "\"priority\":0},"
        "{\"name\":\"Age\",\"type\":\"string\",\"format\":\"\",\"description\":\"\","
        "\"priority\":0}],"
        "\"rows\":[{\"cells\":[\"a\",\"me\",\"5m\"],\"object\":{\"kind\":\"PartialObjectMetadata\","
        "\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"5\","
        "\"creationTimestamp\":\"2026-11-15T07:55:00Z\"}}}]}");
}

static void test_list(void **state) {
    (void)state;
    struct api_table_options options = {
        .version = "v1beta1", .now = time_now(), .include = API_TABLE_NONE};
    struct list_meta meta = {.version = "9", .token = "abc", .remaining = 7};
    struct api_table t;
    _cleanup_str_ struct str out = STR_INIT, rest = STR_INIT;
    api_table_begin(&t, api_table_find("", "ServiceAccount"), &options, &meta, &out);
    api_table_row(&t, NULL, view_of("{\"metadata\":{\"name\":\"a\"}}"), &out);
    api_table_row(&t, NULL, view_of("{\"metadata\":{\"name\":\"b\"}}"), &rest);
    api_table_end(&t, &rest);
    assert_string_equal(str_get(&rest), ",{\"cells\":[\"b\",\"<unknown>\"],\"object\":null}]}");
    str_add(&out, str_get(&rest));
    _cleanup_json_ json_t *table = json_loads(str_get(&out), 0, NULL);
    assert_string_equal(json_str(table, "apiVersion"), "meta.k8s.io/v1beta1");
    expect_json(json_object_get(table, "metadata"),
                "{'resourceVersion':'9','continue':'abc','remainingItemCount':7}");
    assert_int_equal(json_array_size(json_object_get(table, "rows")), 2);
}

/* Go's nil slices where the server has them. */
static void test_empty_list(void **state) {
    (void)state;
    static const struct {
        const char *group, *kind, *end;
    } rows[] = {{"", "Pod", "\"rows\":[]}"},
                {"apiextensions.k8s.io", "CustomResourceDefinition", "\"rows\":null}"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct api_table_options options = {.version = "v1", .now = time_now()};
        struct list_meta meta = {.version = "9", .remaining = ABSENT64};
        struct api_table t;
        _cleanup_str_ struct str out = STR_INIT;
        api_table_begin(&t, api_table_find(rows[i].group, rows[i].kind), &options, &meta, &out);
        api_table_end(&t, &out);
        assert_true(str_ends(str_get(&out), rows[i].end));
        assert_non_null(strstr(str_get(&out), "\"metadata\":{\"resourceVersion\":\"9\"}"));
    }
}

static void test_headers_once(void **state) {
    (void)state;
    struct api_table_options options = {.version = "v1", .now = time_now(), .no_headers = true};
    _cleanup_json_ json_t *table = table_of(api_table_find("", "Secret"), "{}", &options);
    assert_true(json_is_null(json_object_get(table, "columnDefinitions")));
    expect_json(json_object_get(table, "metadata"), "{}");
    expect_json(json_object_get(row_of(table), "cells"), "['','',0,'<unknown>']");
}

static void test_included_object(void **state) {
    (void)state;
    static const char object[] =
        "{'kind':'Secret','metadata':{'name':'a','annotations':{'k8s.io/initial-events-end':"
        "'no'}},'data':{'k':'v'}}";
    struct api_table_options options = {.version = "v1", .now = time_now()};
    const struct api_table_kind *kind = api_table_find("", "Secret");
    options.include = API_TABLE_OBJECT;
    _cleanup_json_ json_t *whole = table_of(kind, object, &options);
    expect_json(json_object_get(row_of(whole), "object"), object);
    options.include = API_TABLE_NONE;
    _cleanup_json_ json_t *without = table_of(kind, object, &options);
    assert_true(json_is_null(json_object_get(row_of(without), "object")));

    /* As text it is copied, byte by byte. */
    static const char text[] = "{ \"metadata\": {\"name\" :\"a\"} }";
    _cleanup_str_ struct str out = STR_INIT;
    options.include = API_TABLE_OBJECT;
    api_table_object(kind, &options, NULL, view_of(text), &out);
    assert_non_null(strstr(str_get(&out), "\"object\":{ \"metadata\": {\"name\" :\"a\"} }}"));
}

/* The bookmark that ends a watch's initial events has its metadata in any case. */
static void test_bookmark(void **state) {
    (void)state;
    static const char bookmark[] =
        "{'kind':'Pod','metadata':{'resourceVersion':'7','creationTimestamp':null,"
        "'annotations':{'k8s.io/initial-events-end':'true'}},'spec':{'containers':null},"
        "'status':{}}";
    static const char cells[] = "['','0/0','','0','<unknown>','<none>','<none>','<none>','<none>']";
    struct api_table_options options = {
        .version = "v1", .now = time_now(), .include = API_TABLE_NONE};
    _cleanup_json_ json_t *table = table_of(api_table_find("", "Pod"), bookmark, &options);
    expect_json(json_object_get(row_of(table), "cells"), cells);
    expect_json(json_object_get(row_of(table), "object"),
                "{'kind':'PartialObjectMetadata','apiVersion':'meta.k8s.io/v1','metadata':{"
                "'resourceVersion':'7','creationTimestamp':null,"
                "'annotations':{'k8s.io/initial-events-end':'true'}}}");
    /* Also when it is text, of which only what the columns need is parsed. */
    _cleanup_json_ json_t *value = json_of(bookmark);
    _cleanup_free_ char *text = json_dumps(value, JSON_COMPACT);
    _cleanup_str_ struct str out = STR_INIT;
    struct list_meta meta = {.version = "7", .remaining = ABSENT64};
    struct api_table t;
    api_table_begin(&t, api_table_find("", "Pod"), &options, &meta, &out);
    api_table_row(&t, NULL, view_of(text), &out);
    api_table_end(&t, &out);
    _cleanup_json_ json_t *again = json_loads(str_get(&out), 0, NULL);
    assert_true(json_equal(table, again));
}

static void test_text_that_is_none(void **state) {
    (void)state;
    static const char *const bad[] = {"", "{", "nonsense", "{\"metadata\":{\"name\":\"a\"}"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct api_table_options options = {.version = "v1", .now = time_now()};
        struct list_meta meta = {.version = "7", .remaining = ABSENT64};
        struct api_table t;
        _cleanup_str_ struct str out = STR_INIT;
        api_table_begin(&t, api_table_find("", "Pod"), &options, &meta, &out);
        api_table_row(&t, NULL, view_of(bad[i]), &out);
        api_table_end(&t, &out);
        _cleanup_json_ json_t *table = json_loads(str_get(&out), 0, NULL);
        assert_non_null(table);
        assert_int_equal(json_array_size(json_object_get(row_of(table), "cells")), 9);
    }
}

static void test_drop(void **state) {
    (void)state;
    struct api_table_options options = {.version = "v1", .now = time_now()};
    struct list_meta meta = {.version = "7", .remaining = ABSENT64};
    struct api_table t;
    _cleanup_str_ struct str out = STR_INIT;
    api_table_begin(&t, api_table_find("", "Pod"), &options, &meta, &out);
    api_table_row(&t, NULL, view_of("{}"), &out);
    api_table_drop(&t);
    api_table_drop(&t); /* nothing is left to give back */
    assert_null(t.row);
}

static void test_include_parse(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum api_table_include include;
    } good[] = {{NULL, API_TABLE_METADATA},
                {"", API_TABLE_METADATA},
                {"Metadata", API_TABLE_METADATA},
                {"None", API_TABLE_NONE},
                {"Object", API_TABLE_OBJECT}};
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        enum api_table_include include = (enum api_table_include)77;
        assert_int_equal(api_table_include_parse(good[i].text, &include, NULL), 0);
        assert_int_equal(include, good[i].include);
    }
    enum api_table_include include = (enum api_table_include)77;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(api_table_include_parse("none", &include, &err), -EINVAL);
    assert_string_equal(err_msg(&err),
                        "Unable to convert to Table as requested: includeObject: Invalid value: "
                        "\"none\": must be 'Metadata', 'Object', 'None', or empty");
    assert_int_equal(include, 77);
}

/* Every resource that is stored can be printed, and nothing breaks on what is in it. */
static void test_every_resource(void **state) {
    (void)state;
    size_t n;
    const struct resource_info *rows = resource_builtin(&n);
    for (size_t i = 0; i < n; i++) {
        if (!rows[i].list_kind)
            continue;
        assert_non_null(api_table_find(rows[i].group, rows[i].kind));
        expect_unbroken(rows[i].group, rows[i].kind);
    }
    expect_unbroken("autoscaling", "Scale");
    assert_null(api_table_find("", "Deployment"));
    assert_null(api_table_find("apps", "Pod"));
    assert_null(api_table_find("", ""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_document),    cmocka_unit_test(test_list),
        cmocka_unit_test(test_empty_list),        cmocka_unit_test(test_headers_once),
        cmocka_unit_test(test_included_object),   cmocka_unit_test(test_bookmark),
        cmocka_unit_test(test_text_that_is_none), cmocka_unit_test(test_drop),
        cmocka_unit_test(test_include_parse),     cmocka_unit_test(test_every_resource),
    };
    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
