/* NUL in objects. */
#include "sim/api/body_nul.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "sim/schema/text_read.h"

static json_t *read_json(const char *text) {
    json_t *v = NULL; /* jansson's reader has no such keys */
    assert_int_equal(text_read(view_of(text), NULL, &v, NULL), 0);
    return v;
}

static void test_tamed(void **state) {
    (void)state;
    static const struct {
        const char *text, *want; /* NULL: nothing to do */
    } rows[] = {
        {"{\"metadata\":{\"name\":\"a\"}}", NULL},
        {"{\"metadata\":{\"name\":\"a\\u0000b\",\"labels\":{\"c\\u0000\":\"\\u0000\"}}}",
         "{\"metadata\":{\"name\":\"a\\u0001b\",\"labels\":{\"c\\u0001\":\"\\u0001\"}}}"},
        {"{\"metadata\":{\"finalizers\":[\"a\\u0000\"],\"ownerReferences\":[{\"uid\":\"\\u0000\"}]}"
         "}",
         "{\"metadata\":{\"finalizers\":[\"a\\u0001\"],\"ownerReferences\":[{\"uid\":\"\\u0001\"}]}"
         "}"},
        /* annotations may hold anything, but not under any key */
        {"{\"metadata\":{\"annotations\":{\"a\":\"b\\u0000\"}}}", NULL},
        {"{\"metadata\":{\"annotations\":{\"a\\u0000\":\"b\\u0000\"}}}",
         "{\"metadata\":{\"annotations\":{\"a\\u0001\":\"b\\u0000\"}}}"},
        {"{\"kind\":\"A\\u0000\",\"apiVersion\":\"v\\u0000\"}",
         "{\"kind\":\"A\\u0001\",\"apiVersion\":\"v\\u0001\"}"},
        /* elsewhere keys only */
        {"{\"data\":{\"a\":\"\\u0000\"}}", NULL},
        {"{\"data\":{\"z\":\"1\",\"a\\u0000\":\"\\u0000\",\"b\":\"2\"}}",
         "{\"data\":{\"z\":\"1\",\"a\\u0001\":\"\\u0000\",\"b\":\"2\"}}"},
        {"{\"spec\":[{\"x\":[{\"\\u0000\":1}]}]}", "{\"spec\":[{\"x\":[{\"\\u0001\":1}]}]}"},
        {"{\"metadata\":5}", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_json_ json_t *v = read_json(rows[i].text);
        assert_int_equal(body_nul_tame(v), rows[i].want != NULL);
        _cleanup_free_ char *text = json_dumps(v, JSON_COMPACT);
        assert_string_equal(text, rows[i].want ? rows[i].want : rows[i].text);
    }
}

/* As many keys as a request can have: their number does not count twice. */
static void test_many(void **state) {
    (void)state;
    _cleanup_json_ json_t *v = json_object(), *data = json_object();
    for (int i = 0; i < 200000; i++) {
        char key[16] = {0};
        int n = snprintf(key, sizeof key, "x%d", i);
        json_object_setn_new(data, key, (size_t)n + 1, json_true());
    }
    json_object_set(v, "data", data);
    assert_true(body_nul_tame(v));
    assert_int_equal(json_object_size(data), 200000);
    assert_false(body_nul_tame(v));
    assert_non_null(json_object_get(data, "x199999\1"));
}

static void test_mended(void **state) {
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"", ""},
        {"a \"x\\x01y\\x01\" b", "a \"x\\x00y\\x00\" b"},
        {"\"\\\\x01\"", "\"\\\\x01\""}, /* a backslash and x01 */
        {"\\", "\\"},
        {"\\x0", "\\x0"},
        {"\1", "\1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *text = xstrdup(rows[i].text);
        body_nul_mend(text);
        assert_string_equal(text, rows[i].want);
    }
    body_nul_mend(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tamed),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_mended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
