/* Tests of schema/scalar: each kind of value, alone; tests of canonical have them in objects. */
#include "schema_test.h"
#include "sim/schema/decoder.h"

/* The text of what is decoded, "zero" for none, or the complaint. */
static char *decoded(enum schema_kind k, uint16_t flags, const char *text) {
    struct schema_field f = {.json = "x", .kind = (uint8_t)k, .flags = flags};
    struct decoder d = {0};
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_json_ json_t *v = value_of(text);
    json_t *found = scalar_decode(&d, &f, v);
    char *out;
    if (d.complained) {
        assert_null(found);
        decoder_error(&d, &err);
        out = xasprintf("%s%s", d.ended ? "end: " : "", err_msg(&err));
    } else {
        out = found ? text_of(found) : xstrdup("zero");
    }
    decoder_done(&d);
    return out;
}

#define JSON(value, type) "json: cannot unmarshal " value " into Go value of type " type

static const struct {
    enum schema_kind kind;
    uint16_t flags;
    const char *in, *expected;
} rows[] = {
    {SCHEMA_STRING, 0, "\"x\"", "\"x\""},
    {SCHEMA_STRING, 0, "\"\"", "zero"},
    {SCHEMA_STRING, SCHEMA_POINTER, "\"\"", "\"\""},
    {SCHEMA_STRING, 0, "\"a\\u0000b\"", "\"a\\u0000b\""},
    {SCHEMA_STRING, 0, "1", JSON("number", "string")},
    {SCHEMA_BOOL, 0, "true", "true"},
    {SCHEMA_BOOL, 0, "false", "zero"},
    {SCHEMA_BOOL, SCHEMA_POINTER, "false", "false"},
    {SCHEMA_BOOL, 0, "0", JSON("number", "bool")},
    {SCHEMA_INT32, 0, "5", "5"},
    {SCHEMA_INT32, 0, "0", "zero"},
    {SCHEMA_INT32, SCHEMA_POINTER, "0", "0"},
    {SCHEMA_INT32, 0, "2147483647", "2147483647"},
    {SCHEMA_INT32, 0, "-2147483648", "-2147483648"},
    {SCHEMA_INT32, 0, "2147483648", JSON("number 2147483648", "int32")},
    {SCHEMA_INT32, 0, "-2147483649", JSON("number -2147483649", "int32")},
    {SCHEMA_INT32, 0, "1.5", JSON("number 1.5", "int32")},
    {SCHEMA_INT32, 0, "1.0", JSON("number 1.0", "int32")},
    {SCHEMA_INT32, 0, "\"5\"", JSON("string", "int32")},
    {SCHEMA_INT64, 0, "9223372036854775807", "9223372036854775807"},
    {SCHEMA_INT64, 0, "[]", JSON("array", "int64")},
    {SCHEMA_DOUBLE, SCHEMA_POINTER, "5.0", "5"},
    {SCHEMA_DOUBLE, SCHEMA_POINTER, "0.1", "0.1"},
    {SCHEMA_DOUBLE, SCHEMA_POINTER, "0", "0"},
    {SCHEMA_DOUBLE, 0, "0", "zero"},
    {SCHEMA_DOUBLE, 0, "true", JSON("bool", "float64")},
    {SCHEMA_BYTES, 0, "\"AQID\"", "\"AQID\""},
    {SCHEMA_BYTES, 0, "\"AQ\\r\\nID\\n\"", "\"AQID\""},
    {SCHEMA_BYTES, 0, "\"AR==\"", "\"AQ==\""}, /* the bits that are not used */
    {SCHEMA_BYTES, 0, "\"\"", "zero"},
    {SCHEMA_BYTES, 0, "[]", "zero"},
    {SCHEMA_BYTES, 0, "[1,2,null]", "\"AQIA\""},
    {SCHEMA_BYTES, 0, "5", JSON("number", "[]uint8")},
    {SCHEMA_BYTES, 0, "\"AQI\"", "illegal base64 data at input byte 0"},
    {SCHEMA_BYTES, 0, "\"AQI\\n\"", "illegal base64 data at input byte 1"},
    {SCHEMA_BYTES, 0, "\"AQIDA\"", "illegal base64 data at input byte 4"},
    {SCHEMA_BYTES, 0, "\"AQ*D\"", "illegal base64 data at input byte 2"},
    {SCHEMA_BYTES, 0, "\"A=\"", "illegal base64 data at input byte 1"},
    {SCHEMA_BYTES, 0, "\"AQ=\"", "illegal base64 data at input byte 3"},
    {SCHEMA_BYTES, 0, "\"AQ=x\"", "illegal base64 data at input byte 2"},
    {SCHEMA_BYTES, 0, "\"AQI=x\"", "illegal base64 data at input byte 4"},
    {SCHEMA_BYTES, 0, "\"AQ==x\"", "illegal base64 data at input byte 4"},
    {SCHEMA_TIME, 0, "\"2026-11-15T09:00:00+01:00\"", "\"2026-11-15T08:00:00Z\""},
    {SCHEMA_TIME, 0, "\"0001-01-01T00:00:00Z\"", "zero"},
    {SCHEMA_TIME, SCHEMA_POINTER, "\"0001-01-01T00:00:00Z\"", "null"},
    {SCHEMA_TIME, 0, "\"2026\"",
     "end: parsing time \"2026\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\" as \"-\""},
    {SCHEMA_TIME, 0, "{}", "end: " JSON("object", "string")},
    {SCHEMA_MICROTIME, 0, "\"2026-11-15T09:00:00.123456+01:00\"",
     "\"2026-11-15T08:00:00.123456Z\""},
    {SCHEMA_QUANTITY, 0, "\" 1000m\\n\"", "\"1\""},
    {SCHEMA_QUANTITY, 0, "5", "\"5\""},
    {SCHEMA_QUANTITY, 0, "0.5", "\"500m\""},
    {SCHEMA_QUANTITY, 0, "\"1Kii\"", "end: unable to parse quantity's suffix"},
    {SCHEMA_QUANTITY, 0, "[]",
     "end: quantities must match the regular expression "
     "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
    {SCHEMA_INTSTR, 0, "5", "5"},
    {SCHEMA_INTSTR, 0, "0", "zero"},
    {SCHEMA_INTSTR, SCHEMA_POINTER, "0", "0"},
    {SCHEMA_INTSTR, 0, "\"5\"", "\"5\""},
    {SCHEMA_INTSTR, 0, "\"\"", "\"\""},
    {SCHEMA_INTSTR, 0, "true", "end: " JSON("bool", "int32")},
    {SCHEMA_INTSTR, 0, "2147483648", "end: " JSON("number 2147483648", "int32")},
    {SCHEMA_RAW, 0, "{\"b\":[1.5,null],\"a\":{}}", "{\"b\":[1.5,null],\"a\":{}}"},
    {SCHEMA_STRINGS, 0, "[\"a\",null,\"\"]", "[\"a\",\"\",\"\"]"},
    {SCHEMA_STRINGS, 0, "[]", "zero"},
    {SCHEMA_STRINGS, 0, "{}", JSON("object", "v1.ExtraValue")},
};

static void all(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *text = decoded(rows[i].kind, rows[i].flags, rows[i].in);
        assert_string_equal(text, rows[i].expected);
    }
}

/* It goes on behind a wrong element, to the end of the list. */
static void strings(void **state) {
    (void)state;
    struct decoder d = {0};
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_json_ json_t *in = value_of("[\"a\",5,\"b\"]");
    _cleanup_json_ json_t *out = scalar_strings(&d, in, "[]string");
    assert_int_equal(json_array_size(out), 3);
    assert_false(d.ended);
    decoder_error(&d, &err);
    assert_string_equal(err_msg(&err), JSON("number", "string"));
    decoder_done(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all), cmocka_unit_test(strings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
