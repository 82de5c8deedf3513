/* Tests of base/json. */
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void type_words(void **state) {
    (void)state;
    static const struct {
        const char *json, *words;
    } t[] = {{"{}", "a mapping"},        {"[]", "a list"},    {"\"\"", "a string"},
             {"1", "a number"},          {"1.5", "a number"}, {"true", "true or false"},
             {"false", "true or false"}, {"null", "null"}};
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        _cleanup_json_ json_t *v = json_loads(t[i].json, JSON_DECODE_ANY, NULL);
        assert_non_null(v);
        assert_string_equal(json_type_words(v), t[i].words);
    }
    assert_string_equal(json_type_words(NULL), "nothing");
}

static void strings(void **state) {
    (void)state;
    _cleanup_json_ json_t *v = json_loads("{\"a\":\"x\",\"b\":1,\"c\":null}", 0, NULL);
    assert_string_equal(json_str(v, "a"), "x");
    assert_null(json_str(v, "b"));
    assert_null(json_str(v, "c"));
    assert_null(json_str(v, "d"));
    assert_null(json_str(NULL, "d"));
}

static void wipes_every_string(void **state) {
    (void)state;
    json_t *v =
        json_loads("{\"a\":\"secret\",\"b\":[1,\"secret\",{\"c\":\"secret\"},null,true]}", 0, NULL);
    json_t *a = json_incref(json_object_get(v, "a"));
    json_t *b = json_incref(json_array_get(json_object_get(v, "b"), 1));
    json_t *c = json_incref(json_object_get(json_array_get(json_object_get(v, "b"), 2), "c"));
    json_wipe(v);
    static const char zero[6];
    assert_memory_equal(json_string_value(a), zero, 6);
    assert_memory_equal(json_string_value(b), zero, 6);
    assert_memory_equal(json_string_value(c), zero, 6);
    json_decref(a);
    json_decref(b);
    json_decref(c);
    json_wipe(NULL);
}

static void numbers_are_as_short_as_they_can_be(void **state) {
    (void)state;
    static const char text[] =
        "{\"a\":[70.597,1,-0.1,2.0,1e300,0.30000000000000004],\"b\":{\"c\":null,"
        "\"d\":\"x\\\"y\",\"e\":true},\"f\":[],\"g\":{}}";
    json_t *v = json_loads(text, 0, NULL);
    _cleanup_str_ struct str out = STR_INIT;
    json_add_text(v, &out);
    assert_string_equal(str_get(&out),
                        "{\"a\":[70.597,1,-0.1,2.0,1e+300,0.30000000000000004],\"b\":{\"c\":null,"
                        "\"d\":\"x\\\"y\",\"e\":true},\"f\":[],\"g\":{}}");
    json_decref(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(type_words),
        cmocka_unit_test(strings),
        cmocka_unit_test(wipes_every_string),
        cmocka_unit_test(numbers_are_as_short_as_they_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
