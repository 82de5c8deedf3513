/* YAML as kubectl writes it. */
#include "base/yaml_emit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void test_block_style(void **state) {
    (void)state;
    json_t *v = json_pack("{s:s, s:s, s:b, s:i, s:[s, {s:n}], s:{}, s:[]}", "plain", "text",
                          "looks", "yes", "flag", 1, "num", 7, "list", "a", "x", "empty", "none");
    _cleanup_str_ struct str out = STR_INIT;
    assert_int_equal(yaml_emit(v, false, &out, NULL), 0);
    assert_string_equal(str_get(&out), "plain: text\n"
                                       "looks: \"yes\"\n"
                                       "flag: true\n"
                                       "num: 7\n"
                                       "list:\n"
                                       "- a\n"
                                       "- x: null\n"
                                       "empty: {}\n"
                                       "none: []\n");
    json_decref(v);
}

static void test_ascii(void **state) {
    (void)state;
    json_t *v = json_pack("{s:s}", "a", "gr\xc3\xbc\xc3\x9f");
    _cleanup_str_ struct str plain = STR_INIT, ascii = STR_INIT;
    assert_int_equal(yaml_emit(v, false, &plain, NULL), 0);
    assert_string_equal(str_get(&plain), "a: gr\xc3\xbc\xc3\x9f\n");
    assert_int_equal(yaml_emit(v, true, &ascii, NULL), 0);
    assert_string_equal(str_get(&ascii), "a: \"gr\\xFC\\xDF\"\n");
    json_decref(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block_style),
        cmocka_unit_test(test_ascii),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
