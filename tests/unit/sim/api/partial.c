/* Objects reduced to their metadata. The expected documents are those of a 1.36.3 API server. */
#include "sim/api/partial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct view none = {NULL, 0};

static void check_partial(const json_t *object, struct view text, const char *version,
                          const char *expected) {
    _cleanup_str_ struct str out = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &out, false);
    partial_write(&w, version, object, text);
    assert_string_equal(str_get(&out), expected);
}

static void test_object(void **state) {
    (void)state;
    static const char text[] =
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":"
        "\"}\\\"{\"}},\"spec\":{\"metadata\":{}}}";
    static const char expected[] =
        "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{"
        "\"name\":\"a\",\"labels\":{\"x\":\"}\\\"{\"}}}";
    _cleanup_json_ json_t *value = json_loads(text, 0, NULL);
    assert_non_null(value);
    check_partial(value, none, "v1", expected);
    check_partial(NULL, view_of(text), "v1", expected);
    check_partial(value, view_of(text), "v1", expected);
    check_partial(NULL, none, "v1beta1",
                  "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1beta1\","
                  "\"metadata\":{}}");
    check_partial(NULL, view_of("{}"), "v1",
                  "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","
                  "\"metadata\":{}}");
    /* A text that is broken before the metadata: the value stands in. */
    check_partial(value, view_of("{\"kind\""), "v1", expected);
}

static void test_list(void **state) {
    (void)state;
    struct partial_list l;
    struct list_meta meta = {.version = "17", .token = "next", .remaining = 3};
    _cleanup_str_ struct str out = STR_INIT, rest = STR_INIT;
    partial_list_begin(&l, "v1", &meta, &out);
    partial_list_item(&l, NULL, view_of("{\"metadata\":{\"name\":\"a\"}}"), &out);
    assert_string_equal(
        str_get(&out),
        "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{"
        "\"resourceVersion\":\"17\",\"continue\":\"next\",\"remainingItemCount\":3},\"items\":[{"
        "\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{"
        "\"name\":\"a\"}}");
    /* What has been written may have been sent meanwhile. */
    partial_list_item(&l, NULL, view_of("{\"metadata\":{}}"), &rest);
    partial_list_end(&l, &rest);
    assert_string_equal(str_get(&rest),
                        ",{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","
                        "\"metadata\":{}}]}");
}

static void test_empty_list(void **state) {
    (void)state;
    struct partial_list l;
    struct list_meta meta = {.version = "17", .remaining = ABSENT64};
    _cleanup_str_ struct str out = STR_INIT;
    partial_list_begin(&l, "v1", &meta, &out);
    partial_list_end(&l, &out);
    assert_string_equal(
        str_get(&out),
        "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{"
        "\"resourceVersion\":\"17\"},\"items\":null}");
}

static void test_member(void **state) {
    (void)state;
    static const struct {
        const char *text, *key, *value;
    } rows[] = {
        {"{\"a\":1}", "a", "1"},
        {"{\"a\":1,\"b\":2}", "b", "2"},
        {" { \"a\" : [1,{\"b\":3}] , \"b\" : {\"c\":[]} } ", "b", "{\"c\":[]} "},
        {"{\"ab\":1,\"a\":2}", "a", "2"},
        {"{\"x\":\"\\\"a\\\":9\",\"a\":2}", "a", "2"},
        {"{\"x\":\"\\\\\",\"a\":2}", "a", "2"},
        {"{\"x\":{\"a\":1},\"a\":\"},\"}", "a", "\"},\""},
        {"{\"a\":null}", "a", "null"},
        {"{}", "a", NULL},
        {"{\"b\":1}", "a", NULL},
        {"[{\"a\":1}]", "a", NULL},
        {"", "a", NULL},
        {"{", "a", NULL},
        {"{\"a", "a", NULL},
        {"{\"a\"", "a", NULL},
        {"{\"a\":", "a", NULL},
        {"{\"a\":}", "a", NULL},
        {"{\"a\":1", "a", NULL},
        {"{\"a\":\"x\\", "a", NULL},
        {"{\"a\":[1", "a", NULL},
        {"{\"b\":1 \"a\":2}", "a", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        /* In memory that ends where the text does, so that a sanitizer sees a step too far. */
        size_t len = strlen(rows[i].text);
        _cleanup_free_ char *exact = xmemdup(rows[i].text, len);
        struct view v = json_member((struct view){exact, len}, rows[i].key);
        if (!rows[i].value) {
            assert_null(v.p);
            continue;
        }
        assert_non_null(v.p);
        assert_int_equal(v.len, strlen(rows[i].value));
        assert_memory_equal(v.p, rows[i].value, v.len);
    }
}

static void test_write(void **state) {
    (void)state;
    static const char text[] = "[1,{\"a\":null,\"b\":[true,\"\xc3\xa4\"]}]";
    _cleanup_json_ json_t *value = json_loads(text, 0, NULL);
    _cleanup_str_ struct str out = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &out, false);
    jsonw_begin(&w, '[');
    json_write(&w, value);
    json_write(&w, NULL);
    json_write(&w, json_array_get(value, 0));
    jsonw_end(&w);
    assert_string_equal(str_get(&out), "[[1,{\"a\":null,\"b\":[true,\"\xc3\xa4\"]}],null,1]");
}

/* What is an annotation of a whole DaemonSet only. */
static void test_daemon_set(void **state) {
    (void)state;
#define GENERATION "\"deprecated.daemonset.template.generation\":\"12\""
    static const char *const rows[][2] = {
        {"{\"name\":\"a\",\"annotations\":{" GENERATION "}}", "{\"name\":\"a\"}"},
        {"{\"annotations\":{" GENERATION "},\"name\":\"a\"}", "{\"name\":\"a\"}"},
        {"{\"annotations\":{" GENERATION "}}", "{}"},
        {"{\"annotations\":{\"a\":\"b\"," GENERATION "}}", "{\"annotations\":{\"a\":\"b\"}}"},
        {"{\"annotations\":{" GENERATION ",\"x\":\"y\"}}", "{\"annotations\":{\"x\":\"y\"}}"},
        {"{\"annotations\":{\"a\":\"b\"," GENERATION ",\"x\":\"y\"}}",
         "{\"annotations\":{\"a\":\"b\",\"x\":\"y\"}}"},
        {"{\"labels\":{" GENERATION "}}", "{\"labels\":{" GENERATION "}}"},
        {"{\"annotations\":{\"a\":\"\\\"deprecated.daemonset.template.generation\\\":\"}}",
         "{\"annotations\":{\"a\":\"\\\"deprecated.daemonset.template.generation\\\":\"}}"},
    };
#undef GENERATION
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_str_ struct str out = STR_INIT, whole = STR_INIT, wanted = STR_INIT;
        partial_metadata(view_of(rows[i][0]), &out);
        assert_string_equal(str_get(&out), rows[i][1]);
        str_addf(&whole, "{\"metadata\":%s}", rows[i][0]);
        str_addf(&wanted,
                 "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","
                 "\"metadata\":%s}",
                 rows[i][1]);
        _cleanup_json_ json_t *value = json_loads(str_get(&whole), 0, NULL);
        check_partial(NULL, view_of(str_get(&whole)), "v1", str_get(&wanted));
        check_partial(value, none, "v1", str_get(&wanted));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_daemon_set), cmocka_unit_test(test_object),
        cmocka_unit_test(test_list),       cmocka_unit_test(test_empty_list),
        cmocka_unit_test(test_member),     cmocka_unit_test(test_write),
    };
    return cmocka_run_group_tests_name("partial", tests, NULL, NULL);
}
