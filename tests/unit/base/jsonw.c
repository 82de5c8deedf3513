/* Tests of base/jsonw.c. What it writes is read back by jansson. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/jsonw.h"
#include "base/utf8.h"

static void write_sample(struct jsonw *w) {
    jsonw_begin(w, '{');
    jsonw_kstr(w, "name", "n1");
    jsonw_kint(w, "count", -5);
    jsonw_kbool(w, "yes", true);
    jsonw_kbool(w, "no", false);
    jsonw_kopt(w, "left out", "");
    jsonw_kopt(w, "left out too", NULL);
    jsonw_kopt(w, "there", "x");
    jsonw_kstr(w, "null", NULL);
    jsonw_kbegin(w, "list", '[');
    jsonw_int(w, 1);
    jsonw_str(w, "two");
    jsonw_begin(w, '[');
    jsonw_int(w, 3);
    jsonw_end(w);
    jsonw_begin(w, '[');
    jsonw_end(w);
    jsonw_begin(w, '{');
    jsonw_end(w);
    jsonw_raw(w, "{\"raw\":1}");
    jsonw_end(w);
    jsonw_key(w, "last");
    jsonw_null(w);
    jsonw_end(w);
}

static void test_compact(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &out, false);
    write_sample(&w);
    assert_string_equal(str_get(&out),
                        "{\"name\":\"n1\",\"count\":-5,\"yes\":true,\"no\":false,\"there\":\"x\","
                        "\"null\":null,\"list\":[1,\"two\",[3],[],{},{\"raw\":1}],\"last\":null}");
}

static void test_pretty(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &out, true);
    write_sample(&w);
    assert_string_equal(str_get(&out), "{\n"
                                       "  \"name\": \"n1\",\n"
                                       "  \"count\": -5,\n"
                                       "  \"yes\": true,\n"
                                       "  \"no\": false,\n"
                                       "  \"there\": \"x\",\n"
                                       "  \"null\": null,\n"
                                       "  \"list\": [\n"
                                       "    1,\n"
                                       "    \"two\",\n"
                                       "    [\n"
                                       "      3\n"
                                       "    ],\n"
                                       "    [],\n"
                                       "    {},\n"
                                       "    {\"raw\":1}\n"
                                       "  ],\n"
                                       "  \"last\": null\n"
                                       "}");
}

static void test_single_values(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &out, true);
    jsonw_str(&w, "alone");
    assert_string_equal(str_get(&out), "\"alone\"");
}

static void test_integers(void **state) {
    (void)state;
    static const int64_t values[] = {0, 1, -1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        _cleanup_str_ struct str out = STR_INIT;
        struct jsonw w;
        jsonw_init(&w, &out, false);
        jsonw_int(&w, values[i]);
        json_t *v = json_loads(str_get(&out), JSON_DECODE_ANY, NULL);
        assert_non_null(v);
        assert_true(json_is_integer(v));
        assert_int_equal(json_integer_value(v), values[i]);
        json_decref(v);
    }
}

static void test_deepest(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &out, false);
    for (int i = 0; i < JSONW_DEPTH; i++)
        jsonw_begin(&w, '[');
    for (int i = 0; i < JSONW_DEPTH; i++)
        jsonw_end(&w);
    assert_int_equal(out.len, 2 * JSONW_DEPTH);
    json_t *v = json_loads(str_get(&out), 0, NULL);
    assert_non_null(v);
    json_decref(v);
}

/* Reads what json_quote() wrote and compares it with the same bytes, invalid ones replaced. */
static void quote_and_read(const char *bytes, size_t len) {
    _cleanup_str_ struct str out = STR_INIT, expected = STR_INIT;
    json_quote(&out, bytes, len);
    json_t *v = json_loadb(out.p, out.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    assert_non_null(v);
    for (size_t i = 0; i < len;) {
        size_t n = utf8_len(bytes + i, len - i);
        str_addn(&expected, n ? bytes + i : UTF8_REPLACEMENT, n ? n : 3);
        i += n ? n : 1;
    }
    assert_int_equal(json_string_length(v), expected.len);
    assert_memory_equal(json_string_value(v), str_get(&expected), expected.len);
    json_decref(v);
    /* One line, and nothing that a terminal would act upon. */
    for (size_t i = 0; i < out.len; i++)
        assert_true((unsigned char)out.p[i] >= 0x20 && out.p[i] != 0x7f);
}

static void test_quote_single_bytes(void **state) {
    (void)state;
    for (int c = 0; c < 256; c++) {
        char text[3] = {'a', (char)c, 'b'};
        quote_and_read(text, 3);
        quote_and_read(text + 1, 1);
    }
    quote_and_read("", 0);
}

static void test_quote_pairs(void **state) {
    (void)state;
    for (int a = 0; a < 256; a++)
        for (int b = 0; b < 256; b++)
            quote_and_read((const char[]){(char)a, (char)b}, 2);
}

static void test_quote_random(void **state) {
    (void)state;
    static const char *const pieces[] = {
        "\\",           "\"",       "\n",   "\x1b[31m", "é",    "\xe2\x82\xac", "\xf0\x9f\x9a\xa2",
        "\xed\xa0\x80", "\xc0\x80", "\xf5", "plain",    "\x7f", "\xe2\x82",     "\t",
        "\r",           "/"};
    srandom(7);
    for (int i = 0; i < 20000; i++) {
        _cleanup_str_ struct str text = STR_INIT;
        for (long n = random() % 12; n > 0; n--) {
            if (random() % 4)
                str_add(&text, pieces[random() % 16]);
            else
                str_addc(&text, (char)random());
        }
        quote_and_read(str_get(&text), text.len);
    }
}

static void test_quote_text(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    json_quote(&out, "a\"b\\c\nd\te\rf\x01g\xff/é", strlen("a\"b\\c\nd\te\rf\x01g\xff/é"));
    assert_string_equal(str_get(&out), "\"a\\\"b\\\\c\\nd\\te\\rf\\u0001g" UTF8_REPLACEMENT "/é\"");
}

static void test_keys_are_quoted(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &out, false);
    jsonw_begin(&w, '{');
    jsonw_kint(&w, "a\"b", 1);
    jsonw_end(&w);
    assert_string_equal(str_get(&out), "{\"a\\\"b\":1}");
}

static void test_cut(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &out, false);
    jsonw_begin(&w, '{');
    jsonw_kcut(&w, "a", "xé", 2); /* half a character is none */
    jsonw_kcut(&w, "b", "xé", 3);
    jsonw_kcut(&w, "c", NULL, 3);
    jsonw_kcut(&w, "d", "\xff\xff", 4); /* each becomes three bytes */
    jsonw_end(&w);
    assert_string_equal(str_get(&out),
                        "{\"a\":\"x\",\"b\":\"xé\",\"c\":\"\",\"d\":\"" UTF8_REPLACEMENT "\"}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compact),       cmocka_unit_test(test_pretty),
        cmocka_unit_test(test_single_values), cmocka_unit_test(test_integers),
        cmocka_unit_test(test_deepest),       cmocka_unit_test(test_quote_single_bytes),
        cmocka_unit_test(test_quote_pairs),   cmocka_unit_test(test_quote_random),
        cmocka_unit_test(test_quote_text),    cmocka_unit_test(test_keys_are_quoted),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests_name("jsonw", tests, NULL, NULL);
}
