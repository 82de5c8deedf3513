/* Tests of api/gotext against what Go's encoding/json prints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/api/gotext.h"

static void expect(const char *json, const char *line, const char *pretty) {
    _cleanup_str_ struct str one = STR_INIT, many = STR_INIT;
    _cleanup_json_ json_t *v = json_loads(json, JSON_DECODE_ANY, NULL);
    assert_non_null(v);
    go_json(&one, v);
    assert_string_equal(str_get(&one), line);
    go_json_pretty(&many, v);
    assert_string_equal(str_get(&many), pretty);
}

static void test_values(void **state) {
    (void)state;
    expect(
        "{\"a\":[1,\"x\",true,false,null],\"b\":{},\"c\":[]}",
        "{\"a\":[1,\"x\",true,false,null],\"b\":{},\"c\":[]}",
        "{\n \"a\": [\n  1,\n  \"x\",\n  true,\n  false,\n  null\n ],\n \"b\": {},\n \"c\": []\n}");
    expect("9223372036854775807", "9223372036854775807", "9223372036854775807");
    expect("[0.1, 2.0, 1e21]", "[0.1,2,1e+21]", "[\n 0.1,\n 2,\n 1e+21\n]");
}

static void test_strings(void **state) {
    _cleanup_str_ struct str out = STR_INIT;
    _cleanup_json_ json_t *v =
        json_string("<a>&\"\\\b\f\n\r\t\x01\x7f \xc3\xa9\xe2\x80\xa8\xe2\x80\xa9");
    (void)state;
    go_json(&out, v);
    assert_string_equal(str_get(&out),
                        "\"\\u003ca\\u003e\\u0026\\\"\\\\\\b\\f\\n\\r\\t\\u0001\x7f \xc3\xa9"
                        "\\u2028\\u2029\"");
    str_reset(&out);
    go_json(&out, NULL);
    assert_string_equal(str_get(&out), "null");
}

static void test_sorted(void **state) {
    _cleanup_json_ json_t *map = json_pack("{s:i,s:i,s:i}", "b", 1, "a", 2, "B", 3),
                          *empty = json_object();
    _cleanup_json_ json_t *sorted = go_sorted(map), *none = go_sorted(empty);
    _cleanup_str_ struct str out = STR_INIT;
    (void)state;
    go_json(&out, sorted);
    assert_string_equal(str_get(&out), "{\"B\":3,\"a\":2,\"b\":1}");
    assert_int_equal(json_object_size(none), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
