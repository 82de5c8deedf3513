/* Tests of kube/codec_json: every kind of field, everything that JSON may be and may not be. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/decode.h"
#include "base/timefmt.h"

/* --- helpers --- */

static void decode(struct bench *b, struct view text, struct everything *e) {
    _cleanup_err_ struct err err = ERR_INIT;
    memset(e, 0, sizeof *e);
    if (codec_json(&b->codec, &type_everything, text, e, &err))
        fail_msg("%.*s: %s", (int)text.len, text.p, err_msg(&err));
}

static void release(struct bench *b, struct everything *e) {
    type_release(&type_everything, b->pool, e, e);
}

/* The text decodes to what prints as `expected`. */
static void good_view(struct bench *b, struct view text, const char *expected) {
    struct everything e;
    decode(b, text, &e);
    _cleanup_free_ char *printed = everything_text(&e);
    assert_string_equal(printed, expected);
    release(b, &e);
}

static void good(struct bench *b, const char *text, const char *expected) {
    good_view(b, view_of(text), expected);
}

/* The text is refused with this message, and nothing is left behind. */
static void bad_view(struct bench *b, struct view text, const char *message) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct everything e;
    memset(&e, 0, sizeof e);
    if (!codec_json(&b->codec, &type_everything, text, &e, &err))
        fail_msg("%.*s was taken", (int)text.len, text.p);
    assert_int_equal(err.code, EBADMSG);
    if (message)
        assert_string_equal(err_msg(&err), message);
    assert_true(is_zero(&e, sizeof e));
    assert_int_equal(pool_stats(b->pool).entries, 0);
}

static void bad(struct bench *b, const char *text, const char *message) {
    bad_view(b, view_of(text), message);
}

#define WITH(member) "{" member ",\"msg\":{},\"flat\":{}}"

static const char full[] =
    "{\"str\":\"text\",\"yes\":true,\"i32\":-1,\"i64\":9223372036854775807,\"opt32\":0,"
    "\"opt64\":-7,\"time\":\"2025-11-15T08:00:00Z\",\"micro\":\"2025-11-15T08:00:00.123456Z\","
    "\"intstr\":\"50%\",\"present\":{},\"msg\":{\"text\":\"in\",\"opt\":5},"
    "\"flat\":{\"text\":\"flat\",\"opt\":6},\"among\":\"us\",\"ptr\":{\"name\":\"pointed\"},"
    "\"list\":[{\"name\":\"a\",\"n\":8},{\"n\":9}],\"strs\":[\"x\",\"\",\"y\"],"
    "\"map\":{\"k\":\"v\",\"l\":\"\"},\"qty\":{\"cpu\":\"1500m\",\"memory\":\"2048\"},"
    "\"times\":{\"p1\":\"1970-01-01T00:00:01Z\",\"p2\":null},\"odd\":[{\"n\":1},{\"n\":3}],"
    "\"some\":{\"kept\":\"1\"},\"maybe\":false,\"ints\":[5,-6],"
    "\"shared\":{\"owner\":\"me\",\"what\":\"w\"}}";

/* --- what is there --- */

static void every_kind_of_field(void **state) {
    struct bench *b = *state;
    struct everything e;
    decode(b, view_of(full), &e);
    assert_string_equal(e.str, "text");
    assert_true(e.yes);
    assert_true(e.present);
    assert_int_equal(e.i32, -1);
    assert_int_equal(e.i64, INT64_MAX);
    assert_int_equal(e.opt32, 0);
    assert_int_equal(e.opt64, -7);
    assert_int_equal(e.time, SEC(1763193600));
    assert_int_equal(e.micro, SEC(1763193600) + 123456);
    assert_string_equal(e.intstr.str, "50%");
    assert_int_equal(e.intstr.val, 0);
    assert_true(e.intstr.set && e.intstr.is_str);
    assert_string_equal(e.msg.text, "in");
    assert_int_equal(e.msg.opt, 5);
    assert_string_equal(e.flat_text, "flat");
    assert_int_equal(e.flat_opt, 6);
    assert_string_equal(e.among, "us");
    assert_int_equal(list_len(e.ptr), 1);
    assert_string_equal(e.ptr->name, "pointed");
    assert_int_equal(list_len(e.list), 2);
    assert_int_equal(e.list[0].n, 8);
    assert_null(e.list[1].name);
    assert_int_equal(list_len(e.strs), 3);
    assert_int_equal(list_len(e.ints), 2);
    assert_int_equal(e.ints[1], -6);
    assert_string_equal(e.strs[2], "y");
    assert_null(e.strs[1]);
    assert_string_equal(map_get(e.map, "k"), "v");
    assert_string_equal(map_get(e.map, "l"), "");
    assert_int_equal(map_qty(e.qty, "cpu"), 1500);
    assert_int_equal(e.times[0].time, SEC(1));
    assert_int_equal(e.times[1].time, 0);
    assert_int_equal(list_len(e.odd), 2);
    assert_string_equal(map_get(e.some, "kept"), "1");
    assert_string_equal(e.shared->what, "w");
    assert_string_equal(e.owner, "me");
    _cleanup_free_ char *printed = everything_text(&e);
    assert_string_equal(printed, full);
    release(b, &e);
}

static void empty(void **state) {
    struct bench *b = *state;
    good(b, "{}", NOTHING);
    good(b, " \t\r\n{ \t\r\n} \t\r\n", NOTHING);
    struct everything e, zero;
    decode(b, view_of("{}"), &e);
    memset(&zero, 0, sizeof zero);
    type_init(&type_everything, &zero, &zero);
    assert_memory_equal(&e, &zero, sizeof e);
}

static void blanks_everywhere(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str text = STR_INIT;
    bool in_text = false;
    for (const char *p = full; *p; p++) {
        bool mark = !in_text && strchr("{}[]:,", *p);
        in_text ^= *p == '"';
        str_add(&text, mark ? " \n\t\r " : "");
        str_addc(&text, *p);
        str_add(&text, mark ? "\n " : "");
    }
    good(b, str_get(&text), full);
}

static void nulls(void **state) {
    struct bench *b = *state;
    for (size_t i = 0; i < type_everything.n_fields; i++) {
        char text[64];
        if (!type_everything.fields[i].json)
            continue;
        snprintf(text, sizeof text, "{\"%s\": null }", type_everything.fields[i].json);
        good(b, text, NOTHING);
    }
    good(b, "{\"msg\":{\"text\":null},\"flat\":{\"opt\":null},\"among\":null}", NOTHING);
    good(b, "{\"list\":[null,{\"n\":1}]}", "{\"msg\":{},\"flat\":{},\"list\":[{},{\"n\":1}]}");
    good(b, "{\"ints\":[null,3]}", "{\"msg\":{},\"flat\":{},\"ints\":[0,3]}");
    good(b, "{\"strs\":[null]}", "{\"msg\":{},\"flat\":{},\"strs\":[\"\"]}");
    good(b, "{\"map\":{\"a\":null}}", "{\"msg\":{},\"flat\":{},\"map\":{\"a\":\"\"}}");
    good(b, "{\"qty\":{\"a\":null}}", "{\"msg\":{},\"flat\":{},\"qty\":{\"a\":\"0\"}}");
    bad(b, "{\"str\":nul}", "bad JSON at byte 7: unexpected character");
    bad(b, "{\"str\":nullx}", "bad JSON at byte 11: unexpected character");
    bad(b, "null", "bad JSON at byte 0: unexpected character");
}

static void empty_values(void **state) {
    struct bench *b = *state;
    good(b, "{\"str\":\"\",\"yes\":false,\"i32\":0,\"i64\":-0,\"time\":\"\",\"micro\":\"\"}",
         NOTHING);
    good(b, "{\"list\":[],\"strs\":[ ],\"map\":{},\"qty\":{ },\"times\":{},\"odd\":[]}", NOTHING);
    good(b, "{\"ptr\":{}}", "{\"msg\":{},\"flat\":{},\"ptr\":{}}");
    good(b, "{\"qty\":{\"a\":\"\"}}", "{\"msg\":{},\"flat\":{},\"qty\":{\"a\":\"0\"}}");
    good(b, "{\"map\":{\"\":\"\"}}", "{\"msg\":{},\"flat\":{},\"map\":{\"\":\"\"}}");
    good(b, "{\"intstr\":\"\"}", "{\"intstr\":\"\",\"msg\":{},\"flat\":{}}");
    good(b, "{\"opt32\":0,\"opt64\":0}", WITH("\"opt32\":0,\"opt64\":0"));
}

/* An object's own text, blanks and all; nothing else is one. */
static void raw_objects(void **state) {
    struct bench *b = *state;
    struct everything e;
    decode(b, view_of("{\"raw\" : { \"a\":[ 1,\"}\" ] } ,\"maybe\":true}"), &e);
    assert_string_equal(e.raw, "{ \"a\":[ 1,\"}\" ] }");
    assert_int_equal(e.maybe, 1);
    release(b, &e);
    good(b, "{\"raw\":{\"a\":1},\"raw\":{}}", "{\"msg\":{},\"flat\":{},\"raw\":{}}");
    bad(b, "{\"raw\":[]}", "expected an object, found a list");
    bad(b, "{\"raw\":{\"a\":}}", "bad JSON at byte 12: expected a number");
    bad(b, "{\"raw\":{\"a\":1}", "bad JSON at byte 14: it ends too early");
    bad(b, "{\"maybe\":1}", "expected true or false, found a number");
}

/* A key that begins, continues or almost is one of ours is not ours. */
static void keys(void **state) {
    struct bench *b = *state;
    good(b, "{\"st\":1,\"strs2\":2,\"STR\":3,\"\":4,\"text\":5,\"opt\":6,\"str \":7}", NOTHING);
    good(b, "{\"\\u0073tr\":\"escaped\"}", WITH("\"str\":\"escaped\""));
    good(b, "{\"str\\u0000\":\"x\"}", NOTHING);
}

static void duplicates(void **state) {
    struct bench *b = *state;
    good(b, "{\"str\":\"a\",\"str\":\"b\"}", WITH("\"str\":\"b\""));
    good(b, "{\"str\":\"a\",\"str\":\"\"}", NOTHING);
    good(b, "{\"i32\":1,\"i32\":2}", WITH("\"i32\":2"));
    good(b, "{\"intstr\":\"1%\",\"intstr\":2}", WITH("\"intstr\":2"));
    good(b, "{\"intstr\":2,\"intstr\":\"1%\"}", WITH("\"intstr\":\"1%\""));
    good(b, "{\"strs\":[\"a\",\"b\"],\"strs\":[\"c\"]}",
         "{\"msg\":{},\"flat\":{},\"strs\":[\"c\"]}");
    good(b, "{\"list\":[{\"name\":\"a\"}],\"list\":[]}", NOTHING);
    good(b, "{\"ptr\":{\"name\":\"a\"},\"ptr\":{\"n\":1}}",
         "{\"msg\":{},\"flat\":{},\"ptr\":{\"n\":1}}");
    good(b, "{\"map\":{\"a\":\"1\"},\"map\":{\"b\":\"2\"}}",
         "{\"msg\":{},\"flat\":{},\"map\":{\"b\":\"2\"}}");
    good(b, "{\"map\":{\"a\":\"1\",\"a\":\"2\",\"a\":\"3\"}}",
         "{\"msg\":{},\"flat\":{},\"map\":{\"a\":\"3\"}}");
    good(b, "{\"shared\":{\"owner\":\"a\"},\"shared\":{\"owner\":\"b\"}}",
         "{\"msg\":{},\"flat\":{},\"shared\":{\"owner\":\"b\"}}");
}

static void maps_are_sorted(void **state) {
    struct bench *b = *state;
    good(
        b,
        "{\"map\":{\"b\":\"1\",\"c\":\"2\",\"a\":\"3\",\"b\":\"4\",\"\":\"5\",\"\xc3\xa9\":\"6\"}}",
        "{\"msg\":{},\"flat\":{},\"map\":{\"\":\"5\",\"a\":\"3\",\"b\":\"4\",\"c\":\"2\","
        "\"\xc3\xa9\":\"6\"}}");
    good(b, "{\"qty\":{\"b\":\"1\",\"a\":2,\"b\":\"3\"},\"times\":{\"z\":null,\"y\":null}}",
         "{\"msg\":{},\"flat\":{},\"qty\":{\"a\":\"2\",\"b\":\"3\"},\"times\":{\"y\":null,\"z\":"
         "null}}");
}

static void filters(void **state) {
    struct bench *b = *state;
    good(b, "{\"odd\":[{\"n\":1},{\"name\":\"even\",\"n\":2},{\"n\":3},null]}",
         "{\"msg\":{},\"flat\":{},\"odd\":[{\"n\":1},{\"n\":3}]}");
    good(b, "{\"odd\":[{\"name\":\"even\",\"n\":2}]}", NOTHING);
    good(b, "{\"some\":{\"dropped\":\"x\",\"a\":\"1\",\"drop\":\"y\"}}",
         "{\"msg\":{},\"flat\":{},\"some\":{\"a\":\"1\"}}");
    good(b, "{\"some\":{\"dropped\":\"x\"}}", NOTHING);
    bad(b, "{\"some\":{\"dropped\":1}}", "expected a string, found a number");
}

/* --- strings --- */

static void string_is(struct bench *b, const char *inside, const char *expected) {
    _cleanup_free_ char *text = xasprintf("{\"str\":\"%s\"}", inside);
    struct everything e;
    decode(b, view_of(text), &e);
    assert_string_equal(strna(e.str), expected);
    assert_int_equal(pool_len(e.str), strlen(expected));
    release(b, &e);
}

static void escapes(void **state) {
    struct bench *b = *state;
    string_is(b, "\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t");
    string_is(b, "a\\nb\\nc", "a\nb\nc");
    string_is(b, "\\u0041\\u00e9\\u20aC\\uFFFD", "A\xc3\xa9\xe2\x82\xac\xef\xbf\xbd");
    string_is(b, "\\u007f\\u0080\\u07ff\\u0800\\uffff",
              "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf");
    string_is(b, "\\ud83d\\ude00", "\xf0\x9f\x98\x80");
    string_is(b, "\\ud800\\udc00\\udbff\\udfff", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
    string_is(b, "", "");
}

#define REPLACED "\xef\xbf\xbd"

static void broken_characters(void **state) {
    struct bench *b = *state;
    /* Surrogates that have no other half. */
    string_is(b, "\\ud83d", REPLACED);
    string_is(b, "\\ude00", REPLACED);
    string_is(b, "\\ude00\\ud83d", REPLACED REPLACED);
    string_is(b, "\\ud83d\\ud83d\\ude00", REPLACED "\xf0\x9f\x98\x80");
    string_is(b, "\\ud83dx", REPLACED "x");
    string_is(b, "\\ud83d\\n", REPLACED "\n");
    string_is(b, "\\ud83d\\u0041", REPLACED "A");
    string_is(b, "\\ud83d\\\\u0041", REPLACED "\\u0041");
    /* Bytes that are no UTF-8, and NUL. */
    string_is(b, "\xff", REPLACED);
    string_is(b, "a\xc3", "a" REPLACED);
    string_is(b, "\xc3(", REPLACED "(");
    string_is(b, "\xed\xa0\x80", REPLACED REPLACED REPLACED);
    string_is(b, "\xc0\x80", REPLACED REPLACED);
    string_is(b, "\\u0000", REPLACED);
    string_is(b, "a\\u0000\xff\\n", "a" REPLACED REPLACED "\n");
    /* Two names that are the same once they are clean. */
    good(b, "{\"map\":{\"\xff\":\"1\",\"\xfe\":\"2\"}}",
         "{\"msg\":{},\"flat\":{},\"map\":{\"" REPLACED "\":\"2\"}}");
}

static void broken_strings(void **state) {
    struct bench *b = *state;
    bad(b, "{\"str\":\"\\x41\"}", "bad JSON at byte 10: bad escape in a string");
    bad(b, "{\"str\":\"\\u12g4\"}", "bad JSON at byte 13: bad \\u escape");
    bad(b, "{\"str\":\"\\u12", "bad JSON at byte 10: unfinished \\u escape");
    bad(b, "{\"str\":\"\\ud83d\\u12g4\"}", "bad JSON at byte 19: bad \\u escape");
    bad(b, "{\"str\":\"\\", "bad JSON at byte 9: unfinished string");
    bad(b, "{\"str\":\"abc", "bad JSON at byte 11: unfinished string");
    bad(b, "{\"str\":\"a\nb\"}", "bad JSON at byte 9: control character in a string");
    bad(b, "{\"str\":\"a\\n\tb\"}", "bad JSON at byte 11: control character in a string");
    bad_view(b, VIEW("{\"str\":\"a\0b\"}"), "bad JSON at byte 9: control character in a string");
    bad(b, "{\"skipped\":\"a\nb\"}", "bad JSON at byte 13: control character in a string");
    bad(b, "{\"skipped\":\"abc\\", "bad JSON at byte 16: unfinished string");
    bad(b, "{\"str\":'a'}", "bad JSON at byte 7: unexpected character");
}

/* --- numbers, times, quantities --- */

static void numbers(void **state) {
    struct bench *b = *state;
    good(b, "{\"i32\":2147483647}", WITH("\"i32\":2147483647"));
    good(b, "{\"i32\":-2147483648}", WITH("\"i32\":-2147483648"));
    good(b, "{\"i64\":-9223372036854775808}", WITH("\"i64\":-9223372036854775808"));
    /* The lowest number stands for "not there": it cannot be told apart, and nobody has it. */
    good(b, "{\"opt32\":-2147483648,\"opt64\":-9223372036854775808}", NOTHING);
    bad(b, "{\"i32\":2147483648}", "number out of range");
    bad(b, "{\"i32\":-2147483649}", "number out of range");
    bad(b, "{\"i64\":9223372036854775808}", "number out of range");
    bad(b, "{\"i64\":-9223372036854775809}", "number out of range");
    bad(b, "{\"i64\":99999999999999999999999}", "number out of range");
    bad(b, "{\"i64\":18446744073709551616}", "number out of range");
    bad(b, "{\"i32\":1.0}", "expected a whole number");
    bad(b, "{\"i32\":1e3}", "expected a whole number");
    static const char *const broken[] = {"01",  "-",   "+1",  ".5", "1.",    "1.e1", "1e", "1e+",
                                         "0x1", "1_0", "--1", "-a", "\"1\"", "true", "{}", "[]",
                                         "NaN", "",    "- 1", "00", "-01",   "1 2"};
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        char text[64];
        snprintf(text, sizeof text, "{\"i32\":%s}", broken[i]);
        bad(b, text, NULL);
        snprintf(text, sizeof text, "{\"intstr\":%s}", broken[i]);
        if (*broken[i] != '"')
            bad(b, text, NULL);
        /* What is skipped must be JSON as well. */
        snprintf(text, sizeof text, "{\"skip\":%s}", broken[i]);
        if (!strchr("\"t{[", *broken[i]) || !*broken[i])
            bad(b, text, NULL);
    }
    bad(b, "{\"intstr\":2147483648}", "number out of range");
    bad(b, "{\"intstr\":1.5}", "expected a whole number");
    bad(b, "{\"intstr\":true}", "expected a number or a string");
}

static void times(void **state) {
    struct bench *b = *state;
    good(b, "{\"time\":\"2025-11-15T10:00:00.999999999+02:00\"}",
         WITH("\"time\":\"2025-11-15T08:00:00Z\""));
    good(b, "{\"micro\":\"2025-11-15T08:00:00.9999999Z\"}",
         WITH("\"micro\":\"2025-11-15T08:00:00.999999Z\""));
    good(b, "{\"micro\":\"2025-11-15T08:00:00Z\"}",
         WITH("\"micro\":\"2025-11-15T08:00:00.000000Z\""));
    /* Downwards also before 1970. */
    good(b, "{\"time\":\"1969-12-31T23:59:58.5Z\"}", WITH("\"time\":\"1969-12-31T23:59:58Z\""));
    good(b, "{\"micro\":\"1969-12-31T23:59:58.5Z\"}",
         WITH("\"micro\":\"1969-12-31T23:59:58.500000Z\""));
    good(b, "{\"time\":\"0001-01-01T00:00:00Z\"}", WITH("\"time\":\"0001-01-01T00:00:00Z\""));
    good(b, "{\"micro\":\"9999-12-31T23:59:59.999999Z\"}",
         WITH("\"micro\":\"9999-12-31T23:59:59.999999Z\""));
    bad(b, "{\"time\":\"0000-12-31T23:59:59Z\"}", "time out of range");
    bad(b, "{\"time\":\"0001-01-01T00:00:00+00:01\"}", "time out of range");
    bad(b, "{\"time\":\"9999-12-31T23:59:59-00:01\"}", "time out of range");
    bad(b, "{\"time\":\"9999-12-31T23:59:60Z\"}", "time out of range");
    static const char *const broken[] = {"\"yesterday\"",
                                         "\"2025-13-01T00:00:00Z\"",
                                         "\"2025-11-15\"",
                                         "1763193600",
                                         "{}",
                                         "\"2025-11-15T08:00:00\"",
                                         "true"};
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        char text[64];
        snprintf(text, sizeof text, "{\"time\":%s}", broken[i]);
        bad(b, text, NULL);
        snprintf(text, sizeof text, "{\"times\":{\"a\":%s}}", broken[i]);
        bad(b, text, NULL);
    }
    bad(b, "{\"time\":\"now\"}", "expected a time");
}

static void quantities(void **state) {
    struct bench *b = *state;
    good(
        b, "{\"qty\":{\"a\":\"1Ki\",\"b\":2,\"c\":0.5,\"d\":1e3,\"e\":\"-3m\"}}",
        "{\"msg\":{},\"flat\":{},\"qty\":{\"a\":\"1024\",\"b\":\"2\",\"c\":\"500m\",\"d\":\"1000\","
        "\"e\":\"-3m\"}}");
    bad(b, "{\"qty\":{\"a\":\"much\"}}", "expected a quantity");
    bad(b, "{\"qty\":{\"a\":{}}}", "expected a quantity");
    bad(b, "{\"qty\":[]}", "expected an object, found a list");
}

/* --- the wrong thing in the right place --- */

static void wrong_values(void **state) {
    struct bench *b = *state;
    static const struct {
        const char *key, *not_for; /* not_for: first characters of values that are good */
    } fields[] = {
        {"str", "\""},   {"yes", "t"},    {"i32", "1"},   {"i64", "1"},      {"opt32", "1"},
        {"opt64", "1"},  {"time", ""},    {"micro", ""},  {"intstr", "\"1"}, {"present", "{"},
        {"msg", "{"},    {"flat", "{"},   {"ptr", "{"},   {"list", "["},     {"strs", "["},
        {"map", "{"},    {"qty", "{"},    {"times", "{"}, {"odd", "["},      {"some", "{"},
        {"shared", "{"}, {"among", "\""},
    };
    static const char *const values[] = {"\"x\"", "true", "1", "{}", "[]", "*", "]", "}", ",", ":"};
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        for (size_t k = 0; k < ARRAY_LEN(values); k++) {
            char text[64];
            if (strchr(fields[i].not_for, values[k][0]))
                continue;
            snprintf(text, sizeof text, "{\"%s\":%s}", fields[i].key, values[k]);
            bad(b, text, NULL);
        }
    }
    bad(b, "{\"yes\":1}", "expected true or false, found a number");
    bad(b, "{\"yes\":truth}", "bad JSON at byte 7: expected true or false");
    bad(b, "{\"present\":1}", "expected an object, found a number");
    bad(b, "{\"list\":[1]}", "expected an object, found a number");
    bad(b, "{\"strs\":[{}]}", "expected a string, found an object");
    bad(b, "{\"ints\":[\"1\"]}", NULL);
    bad(b, "{\"ints\":[2147483648]}", NULL);
    bad(b, "{\"map\":{\"a\":1}}", "expected a string, found a number");
    bad(b, "{\"map\":{a:\"1\"}}", "bad JSON at byte 8: unexpected character");
}

static void broken_structure(void **state) {
    struct bench *b = *state;
    static const char *const broken[] = {
        "",
        " ",
        "x",
        "[]",
        "\"\"",
        "1",
        "{",
        "{{}}",
        "{,}",
        "{\"str\"}",
        "{\"str\":}",
        "{\"str\" \"a\"}",
        "{\"str\":\"a\",}",
        "{\"str\":\"a\" \"i32\":1}",
        "{\"str\":\"a\"]",
        "{\"list\":[{}}",
        "{\"list\":[{},]}",
        "{\"list\":[,{}]}",
        "{\"list\":[{} {}]}",
        "{\"strs\":[\"a\",]}",
        "{\"map\":{\"a\":\"b\",}}",
        "{\"skip\":[1,]}",
        "{\"skip\":[,1]}",
        "{\"skip\":[1 2]}",
        "{\"skip\":{\"a\":1,}}",
        "{\"skip\":{\"a\"}}",
        "{\"skip\":{1:2}}",
        "{\"skip\":{]}}",
        "{\"skip\":[}}",
        "{\"skip\":tru}",
        "{\"skip\":}",
        "{str:\"a\"}",
        "{}{}",
        "{} x",
        "{\"str\":\"a\"},",
        "\xef\xbb\xbf{}",
        "{/**/}",
    };
    for (size_t i = 0; i < ARRAY_LEN(broken); i++)
        bad(b, broken[i], NULL);
    bad_view(b, VIEW("{}\0"), "bad JSON at byte 2: something follows the object");
    bad(b, "{}{}", "bad JSON at byte 2: something follows the object");
    bad(b, "{\"str\":\"a\"", "bad JSON at byte 10: it ends too early");
    bad_view(b, (struct view){"", 0}, "bad JSON at byte 0: it ends too early");
    bad_view(b, (struct view){NULL, 0}, "bad JSON at byte 0: it ends too early");
}

/* --- what is skipped --- */

static void unknown_fields(void **state) {
    struct bench *b = *state;
    good(
        b,
        "{\"a\":null,\"b\":true,\"c\":false,\"d\":-1.5e+10,\"e\":\"\\\"}]\\u12\",\"f\":[],\"g\":{},"
        "\"h\":[[],{},[{\"str\":\"no\"}],1,\"]\"],\"i\":{\"str\":\"no\",\"j\":{\"k\":[{}]}},"
        "\"str\":\"yes\",\"l\":[ [ 1 , 2 ] , { \"m\" : 3 } ],\"msg\":{\"x\":[1],\"text\":\"t\"}}",
        "{\"str\":\"yes\",\"msg\":{\"text\":\"t\"},\"flat\":{}}");
    good(b, "{\"present\":{\"a\":[1,{\"b\":2}],\"str\":\"no\"}}", WITH("\"present\":{}"));
}

static void add_times(struct str *s, const char *text, int n) {
    for (int i = 0; i < n; i++)
        str_add(s, text);
}

static void nesting(void **state) {
    struct bench *b = *state;
    enum { MAX = 512 };
    static const struct {
        const char *open, *inside, *close;
    } shapes[] = {{"[", "1", "]"}, {"{\"a\":", "1", "}"}, {"[", "", "]"}, {"{\"a\":", "{}", "}"}};
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        for (int extra = 0; extra < 2; extra++) {
            _cleanup_str_ struct str text = STR_INIT;
            int depth = MAX + extra - (i == 3);
            str_add(&text, "{\"skip\":");
            add_times(&text, shapes[i].open, depth);
            str_add(&text, shapes[i].inside);
            add_times(&text, shapes[i].close, depth);
            str_add(&text, "}");
            if (!extra)
                good(b, str_get(&text), NOTHING);
            else
                bad(b, str_get(&text), NULL);
        }
    }
    /* A million brackets cost nothing but time. */
    _cleanup_str_ struct str text = STR_INIT;
    str_add(&text, "{\"skip\":");
    add_times(&text, "[", 1000000);
    bad(b, str_get(&text), "bad JSON at byte 520: nested too deeply");
    str_reset(&text);
    str_add(&text, "{\"skip\":[");
    add_times(&text, "[{}],", 100000);
    str_add(&text, "0]}");
    good(b, str_get(&text), NOTHING);
}

/* --- attacks --- */

static void truncated(void **state) {
    struct bench *b = *state;
    for (size_t n = 0; n < sizeof full - 1; n++) {
        /* A copy of its own, so that the address sanitizer sees a byte too many. */
        _cleanup_free_ char *copy = xmemdup(full, n);
        bad_view(b, (struct view){copy, n}, NULL);
    }
}

/* One byte changed, everywhere, to all that means something in JSON: whatever comes of it, nothing
 * is left behind. */
static void changed(void **state) {
    struct bench *b = *state;
    static const char to[] = "{}[]\",:\\ 0-tn\x01\xff";
    size_t taken = 0, refused = 0;
    for (size_t i = 0; i < sizeof full - 1; i++) {
        for (size_t k = 0; k < sizeof to; k++) {
            _cleanup_free_ char *copy = xmemdup(full, sizeof full - 1);
            struct everything e;
            memset(&e, 0, sizeof e);
            copy[i] = to[k];
            int rc = codec_json(&b->codec, &type_everything, (struct view){copy, sizeof full - 1},
                                &e, NULL);
            rc ? refused++ : taken++;
            if (rc)
                assert_true(is_zero(&e, sizeof e));
            release(b, &e);
            assert_int_equal(pool_stats(b->pool).entries, 0);
        }
    }
    assert_true(taken > 100 && refused > 100);
}

/* Few bytes that want to become much memory. */
static void bombs(void **state) {
    struct bench *b = *state;
    static const struct {
        const char *head, *element, *tail;
        size_t size;
    } shapes[] = {
        {"{\"list\":[", "{},", "{}]}", sizeof(struct part)},
        {"{\"strs\":[", "\"\",", "\"\"]}", sizeof(char *)},
        {"{\"ints\":[", "0,", "0]}", sizeof(int32_t)},
        {"{\"map\":{", "\"\":\"\",", "\"\":\"\"}}", sizeof(struct pair)},
        {"{\"odd\":[", "{\"n\":0},", "{}]}", sizeof(struct part)},
    };
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        int most = (int)(CODEC_ROOM / shapes[i].size);
        _cleanup_str_ struct str text = STR_INIT;
        struct everything e;
        str_add(&text, shapes[i].head);
        add_times(&text, shapes[i].element, most - 1);
        size_t fits = text.len;
        str_add(&text, shapes[i].tail);
        decode(b, (struct view){text.p, text.len}, &e);
        release(b, &e);
        text.len = fits;
        str_add(&text, shapes[i].element);
        str_add(&text, shapes[i].tail);
        _cleanup_err_ struct err err = ERR_INIT;
        memset(&e, 0, sizeof e);
        assert_int_equal(
            codec_json(&b->codec, &type_everything, (struct view){text.p, text.len}, &e, &err),
            -EBADMSG);
        assert_non_null(strstr(err_msg(&err), "more list elements than any object has"));
        assert_int_equal(pool_stats(b->pool).entries, 0);
    }
    /* The next object has the whole room again. */
    good(b, full, full);
}

/* --- sharing --- */

static void equal_objects_are_equal_bytes(void **state) {
    struct bench *b = *state;
    struct everything one, two;
    decode(b, view_of(full), &one);
    size_t entries = pool_stats(b->pool).entries;
    /* What fails in between takes nothing along. */
    memset(&two, 0, sizeof two);
    assert_int_equal(
        codec_json(&b->codec, &type_everything, (struct view){full, sizeof full - 2}, &two, NULL),
        -EBADMSG);
    assert_int_equal(pool_stats(b->pool).entries, entries);
    /* The same in another order, with noise. */
    decode(
        b,
        view_of("{\"noise\":[1,2],\"ints\":[5,-6],\"maybe\":false,\"shared\":{\"what\":\"w\","
                "\"owner\":\"me\"},"
                "\"some\":"
                "{\"drop\":\"x\",\"kept\":\"1\"},\"odd\":[{\"n\":1},{\"n\":2},{\"n\":3}],"
                "\"times\":{\"p2\":null,\"p1\":\"1970-01-01T01:00:01+01:00\"},"
                "\"qty\":{\"memory\":\"2Ki\",\"cpu\":1.5},\"map\":{\"l\":null,\"k\":\"\\u0076\"},"
                "\"strs\":[\"x\",null,\"y\"],\"list\":[{\"n\":8,\"name\":\"a\"},{\"n\":9}],"
                "\"ptr\":{\"n\":0,\"name\":\"pointed\"},\"among\":\"us\",\"flat\":{\"opt\":6,"
                "\"text\":\"flat\"},\"msg\":{\"opt\":5,\"text\":\"in\"},\"present\":{\"a\":1},"
                "\"intstr\":\"50%\",\"micro\":\"2025-11-15T08:00:00.1234567Z\","
                "\"time\":\"2025-11-15T08:00:00.9Z\",\"opt64\":-7,\"opt32\":0,"
                "\"i64\":9223372036854775807,\"i32\":-1,\"yes\":true,\"str\":\"text\"}"),
        &two);
    assert_memory_equal(&one, &two, sizeof one);
    assert_int_equal(pool_stats(b->pool).entries, entries);
    release(b, &one);
    release(b, &two);
}

static void root_fields(void **state) {
    struct bench *b = *state;
    struct everything one, two;
    decode(b, view_of("{\"shared\":{\"owner\":\"one\",\"what\":\"same\"}}"), &one);
    decode(b, view_of("{\"shared\":{\"what\":\"same\",\"owner\":\"two\"}}"), &two);
    assert_ptr_equal(one.shared, two.shared);
    assert_string_equal(one.owner, "one");
    assert_string_equal(two.owner, "two");
    release(b, &one);
    assert_string_equal(two.shared->what, "same");
    release(b, &two);
    /* Filled, and then it fails. */
    bad(b, "{\"shared\":{\"owner\":\"one\",\"what\":1}}", NULL);
    bad(b, "{\"shared\":{\"owner\":\"one\"},\"str\":1}", NULL);
}

/* --- real kinds --- */

static struct pod *pod(struct bench *b, const char *text) {
    return bench_object(b, &kind_pod, KUBE_JSON, view_of(text));
}

static void free_pod(struct bench *b, struct pod *p) {
    object_free(&kind_pod, b->pool, (struct object *)p);
}

static void pods_of_one_template(void **state) {
    struct bench *b = *state;
    static const char *const spec =
        "\"containers\":[{\"name\":\"c\",\"image\":\"i:1\",\"resources\":{\"requests\":{\"cpu\":"
        "\"1\"}},"
        "\"env\":[{\"name\":\"X\",\"value\":\"%d\"}]}],\"volumes\":[{\"name\":\"kube-api-access-%"
        "d\","
        "\"projected\":{\"sources\":[]}},{\"name\":\"scratch\",\"emptyDir\":{}}],"
        "\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\",\"tolerationSeconds\":300}]";
    struct pod *p[3];
    for (int i = 0; i < 3; i++) {
        _cleanup_free_ char *inside = xasprintf(spec, i, i);
        _cleanup_free_ char *text = xasprintf("{\"metadata\":{\"name\":\"p-%d\",\"labels\":{"
                                              "\"app\":\"web\"},\"managedFields\":[{\"x\":%d}]},"
                                              "\"spec\":{%s,\"nodeName\":\"n%d\"}}",
                                              i, i, inside, i);
        p[i] = pod(b, text);
    }
    assert_ptr_equal(p[0]->spec, p[1]->spec);
    assert_ptr_equal(p[1]->spec, p[2]->spec);
    assert_ptr_equal(p[0]->meta.labels, p[2]->meta.labels);
    assert_string_equal(p[0]->node_name, "n0");
    assert_string_equal(p[2]->node_name, "n2");
    assert_null(p[0]->spec->node_name);
    assert_int_equal(list_len(p[0]->spec->volumes), 1);
    assert_string_equal(p[0]->spec->volumes[0].name, "scratch");
    for (int i = 0; i < 3; i++)
        free_pod(b, p[i]);
}

static void pod_filters(void **state) {
    struct bench *b = *state;
    struct pod *p = pod(
        b, "{\"metadata\":{\"annotations\":{\"kubernetes.io/config.mirror\":\"1\",\"kubernetes.io/"
           "psp\":\"x\","
           "\"checksum/config\":\"abc\",\"slipway.dev/a\":\"b\","
           "\"cluster-autoscaler.kubernetes.io/safe-to-evict\":\"false\","
           "\"kubectl.kubernetes.io/last-applied-configuration\":\"{}\"}},"
           "\"spec\":{\"volumes\":[{\"name\":\"a\",\"hostPath\":{\"path\":\"/x\"}},"
           "{\"name\":\"b\",\"configMap\":{\"name\":\"c\"}},{\"name\":\"d\",\"emptyDir\":{}},"
           "{\"name\":\"e\",\"persistentVolumeClaim\":{\"claimName\":\"pvc\",\"readOnly\":true}},"
           "{\"name\":\"f\",\"csi\":{\"driver\":\"d\"}},{\"name\":\"g\",\"ephemeral\":{}},"
           "{\"name\":\"h\",\"secret\":{}},{\"name\":\"i\"}],"
           "\"containers\":[{\"name\":\"c\",\"ports\":[{\"containerPort\":80},"
           "{\"containerPort\":81,\"hostPort\":8081,\"protocol\":\"TCP\"},{\"hostPort\":0}]}]},"
           "\"status\":{\"conditions\":[{\"type\":\"Initialized\",\"status\":\"True\"},"
           "{\"type\":\"Ready\",\"status\":\"True\"},{\"type\":\"ContainersReady\",\"status\":"
           "\"True\"},"
           "{\"type\":\"PodScheduled\",\"status\":\"True\"},"
           "{\"type\":\"PodReadyToStartContainers\",\"status\":\"True\"},"
           "{\"type\":\"DisruptionTarget\",\"status\":\"True\"}]}}");
    assert_int_equal(list_len(p->meta.annotations), 3);
    assert_true(map_has(p->meta.annotations, "kubernetes.io/config.mirror"));
    assert_true(map_has(p->meta.annotations, "slipway.dev/a"));
    assert_string_equal(
        map_get(p->meta.annotations, "cluster-autoscaler.kubernetes.io/safe-to-evict"), "false");
    const struct volume *v = p->spec->volumes;
    assert_int_equal(list_len(v), 5);
    assert_true(v[0].host_path && !v[0].empty_dir);
    assert_true(v[1].empty_dir);
    assert_string_equal(v[2].claim->claim, "pvc");
    assert_true(v[2].claim->read_only);
    assert_string_equal(v[3].csi->driver, "d");
    assert_true(v[4].ephemeral);
    assert_int_equal(list_len(p->spec->containers[0].ports), 1);
    assert_int_equal(p->spec->containers[0].ports[0].host_port, 8081);
    assert_int_equal(list_len(p->conditions), 3);
    assert_string_equal(p->conditions[0].type, "Ready");
    assert_string_equal(p->conditions[1].type, "PodScheduled");
    assert_string_equal(p->conditions[2].type, "DisruptionTarget");
    free_pod(b, p);
    /* Of other kinds only kubectl's copy of the whole is dropped. */
    struct node *n =
        bench_object(b, &kind_node, KUBE_JSON,
                     VIEW("{\"metadata\":{\"annotations\":{\"checksum/config\":\"abc\","
                          "\"kubectl.kubernetes.io/last-applied-configuration\":\"{}\"}}}"));
    assert_int_equal(list_len(n->meta.annotations), 1);
    assert_string_equal(map_get(n->meta.annotations, "checksum/config"), "abc");
    object_free(&kind_node, b->pool, (struct object *)n);
}

/* A template has no object of its own that its node name could go to. */
static void template_node_name(void **state) {
    struct bench *b = *state;
    struct daemon_set *d = bench_object(
        b, &kind_daemon_set, KUBE_JSON,
        VIEW("{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"},\"name\":\"no\"},"
             "\"spec\":{\"nodeName\":\"n1\",\"priority\":5}}}}"));
    assert_string_equal(d->template->spec.node_name, "n1");
    assert_int_equal(d->template->spec.priority, 5);
    assert_int_equal(d->template->spec.grace, ABSENT64);
    assert_string_equal(map_get(d->template->labels, "a"), "b");
    assert_null(d->meta.name);
    object_free(&kind_daemon_set, b->pool, (struct object *)d);
}

/* --- finding members --- */

static void next(void **state) {
    struct bench *b = *state;
    struct view list = VIEW(" [ 1 ,{\"a\":[2,3]}, \"x,]\" ] "), item;
    assert_true(codec_json_next(&b->codec, &list, &item));
    assert_true(view_eq(item, VIEW("1")));
    assert_true(codec_json_next(&b->codec, &list, &item));
    assert_true(view_eq(item, VIEW("{\"a\":[2,3]}")));
    assert_true(codec_json_next(&b->codec, &list, &item));
    assert_true(view_eq(item, VIEW("\"x,]\"")));
    assert_false(codec_json_next(&b->codec, &list, &item));
    static const char *const none[] = {"", "[]", "[ ]", "{}", "null", "[", "[,]", "[tru]", "x"};
    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        list = view_of(none[i]);
        assert_false(codec_json_next(&b->codec, &list, &item));
    }
}

/* One member again: the rest stays, what it had before goes. */
static void member(void **state) {
    struct bench *b = *state;
    struct everything e;
    decode(b, VIEW("{\"str\":\"kept\",\"msg\":{\"text\":\"old\"},\"flat\":{}}"), &e);
    size_t before = pool_stats(b->pool).entries;
    assert_int_equal(codec_json_member(&b->codec, &type_everything, VIEW("msg"),
                                       VIEW("{\"text\":\"new\"}"), &e, NULL),
                     0);
    assert_string_equal(e.str, "kept");
    assert_string_equal(e.msg.text, "new");
    assert_int_equal(pool_stats(b->pool).entries, before);
    assert_int_equal(
        codec_json_member(&b->codec, &type_everything, VIEW("msg"), VIEW("{}"), &e, NULL), 0);
    assert_null(e.msg.text);
    /* not in the table, or not a message that could be taken alone */
    assert_int_equal(
        codec_json_member(&b->codec, &type_everything, VIEW("none"), VIEW("{}"), &e, NULL), 0);
    assert_int_equal(
        codec_json_member(&b->codec, &type_everything, VIEW("str"), VIEW("\"x\""), &e, NULL),
        -ENOENT);
    assert_string_equal(e.str, "kept");
    /* after a failure nothing is held */
    assert_int_equal(
        codec_json_member(&b->codec, &type_everything, VIEW("msg"), VIEW("{\"text\":1}"), &e, NULL),
        -EBADMSG);
    assert_true(is_zero(&e, sizeof e));
    assert_int_equal(pool_stats(b->pool).entries, 0);
}

static void find(void **state) {
    struct bench *b = *state;
    static const struct view keys[] = {VIEW("kind"), VIEW("apiVersion")};
    struct view v[2];
    _cleanup_err_ struct err err = ERR_INIT;
#define FIND(text) codec_json_find(&b->codec, view_of(text), keys, 2, v, &err)
    assert_int_equal(FIND(" { \"a\":[1], \"apiVersion\" : \"v1\" , \"kind\":{\"x\":[ ]}} trailing"),
                     0);
    assert_true(view_eq(v[0], VIEW("{\"x\":[ ]}")));
    assert_true(view_eq(v[1], VIEW("\"v1\"")));
    /* It stops where it has everything. */
    assert_int_equal(FIND("{\"kind\":1,\"apiVersion\":2,garbage"), 0);
    assert_true(view_eq(v[0], VIEW("1")));
    assert_int_equal(FIND("{}"), 0);
    assert_null(v[0].p);
    assert_null(v[1].p);
    assert_int_equal(FIND("{\"\\u006bind\":null}"), 0);
    assert_true(view_eq(v[0], VIEW("null")));
    assert_null(v[1].p);
    assert_int_equal(FIND("{\"kind\":1,\"kind\":2}"), 0);
    assert_true(view_eq(v[0], VIEW("2")));
    assert_int_equal(FIND("{\"kind\":1,garbage"), -EBADMSG);
    assert_string_equal(err_msg(&err), "bad JSON at byte 10: unexpected character");
    assert_int_equal(FIND(""), -EBADMSG);
    assert_int_equal(FIND("[]"), -EBADMSG);
    assert_int_equal(FIND("{\"kind\""), -EBADMSG);
    assert_int_equal(FIND("{\"kind\":"), -EBADMSG);
    assert_int_equal(FIND("{\"kind\":[1}"), -EBADMSG);
#undef FIND
}

int main(void) {
    const struct CMUnitTest tests[] = {
        BENCH_TEST(every_kind_of_field),
        BENCH_TEST(empty),
        BENCH_TEST(blanks_everywhere),
        BENCH_TEST(nulls),
        BENCH_TEST(empty_values),
        BENCH_TEST(raw_objects),
        BENCH_TEST(keys),
        BENCH_TEST(duplicates),
        BENCH_TEST(maps_are_sorted),
        BENCH_TEST(filters),
        BENCH_TEST(escapes),
        BENCH_TEST(broken_characters),
        BENCH_TEST(broken_strings),
        BENCH_TEST(numbers),
        BENCH_TEST(times),
        BENCH_TEST(quantities),
        BENCH_TEST(wrong_values),
        BENCH_TEST(broken_structure),
        BENCH_TEST(unknown_fields),
        BENCH_TEST(nesting),
        BENCH_TEST(truncated),
        BENCH_TEST(changed),
        BENCH_TEST(bombs),
        BENCH_TEST(equal_objects_are_equal_bytes),
        BENCH_TEST(root_fields),
        BENCH_TEST(pods_of_one_template),
        BENCH_TEST(pod_filters),
        BENCH_TEST(template_node_name),
        BENCH_TEST(next),
        BENCH_TEST(member),
        BENCH_TEST(find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
