/* Tests of sim/api/patch_text. */
#include "patch_check.h"

static void test_operations(void **state) {
    (void)state;
    static const char text[] =
        " [ {\"op\":\"test\", \"value\" : [1, {\"a\":\"]}\\\"\"}] ,\"path\":\"\"}"
        ",null, {\"value\":1,\"x\":{\"value\":2},\"value\":\"a\\\\\"},5 ,"
        "{},{\"value\":null}]";
    static const char *const values[] = {
        "[1, {\"a\":\"]}\\\"\"}]", "", "\"a\\\\\"", "", "", "null", "", "",
    };
    struct view rest;
    assert_true(text_begin(&rest, view_of(text)));
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        struct view value = text_next(&rest);
        assert_int_equal(value.len, strlen(values[i]));
        assert_memory_equal(value.len ? value.p : "", values[i], value.len);
        assert_int_equal(!value.p, !value.len);
    }
}

/* No text makes it read past the end: the sanitizers watch. */
static void test_nonsense(void **state) {
    (void)state;
    static const char *const texts[] = {"",      " ",      "{",       "[",          "[{",
                                        "[{\"",  "[{\"\\", "[{\"a\"", "[{\"a\":",   "[{\"a\":\"",
                                        "[}}]]", "[,,,",   "[{:,}]",  "[{\"a\" 1}", "[[[["};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct view rest;
        size_t len = strlen(texts[i]);
        char *copy = xmemdup(texts[i], len); /* without a NUL */
        if (text_begin(&rest, (struct view){copy, len})) {
            for (int n = 0; n < 5; n++)
                text_next(&rest);
            assert_in_range(rest.p - copy, 0, len);
        } else {
            assert_true(!len || *texts[i] != '[');
        }
        free(copy);
    }
}

static void test_gos(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool gos;
    } rows[] = {
        {"\"a\"", true},
        {"\"\\u0061\"", false},
        {"\"<\"", false},
        {"\"\\u003c\"", true},
        {"\"\\u003C\"", false},
        {"\"\\n\"", true},
        {"\"\\u000a\"", false},
        {"\"\\u0001\"", true},
        {"\"é\"", true},
        {"\"\\u00e9\"", false},
        {"1", true},
        {"1.0", false},
        {"1.5", true},
        {"15e-1", false},
        {"null", true},
        {" [ 1 , { \"a\" : [ ] } ] ", true},
        {"{\"b\":1,\"a\":2}", true},
        /* names are compared as they are read */
        {"{\"\\u0062\" : \"x\", \"<\":{}}", true},
        {"{\"\\u0062\":\"\\u0062\"}", false},
        {"\" \"", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_json_ json_t *v = json_loads(rows[i].text, JSON_DECODE_ANY, NULL);
        assert_non_null(v);
        if (text_is_gos(view_of(rows[i].text), v) != rows[i].gos)
            fail_msg("%s", rows[i].text);
    }
    /* of another value */
    _cleanup_json_ json_t *v = js("[1,2]");
    assert_false(text_is_gos(VIEW("[1,2"), v));
    assert_false(text_is_gos(VIEW("[1,2]]"), v));
    assert_false(text_is_gos(VIEW(""), v));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_nonsense),
        cmocka_unit_test(test_gos),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
