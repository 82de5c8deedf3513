/* YAML of requests: values and words are those of a real server's answers
 * (tests/cluster/test_conformance_badinput.py asks it). */
#include "sim/api/body_yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static json_t *read_yaml(const char *text, struct schema_notes *notes, struct err *err) {
    json_t *v = NULL;
    int rc = body_yaml(view_of(text), notes, &v, err);
    assert_int_equal(rc == 0, v != NULL);
    return v;
}

static void test_values(void **state) {
    (void)state;
    static const struct {
        const char *text, *json;
    } rows[] = {
        {"", "null"},
        {"# nothing", "null"},
        {"--- x\n--- y\n", "\"x\""},
        {"[y, Yes, ON, true, n, No, off, FALSE]", "[true,true,true,true,false,false,false,false]"},
        {"[~, null, NULL, ]", "[null,null,null]"},
        {"['yes', \"1\", !!str 1, !foo 2]", "[\"yes\",\"1\",\"1\",\"2\"]"},
        {"[0, 010, 0x10, 0b11, 0o17, 1_000, +5, -7, 08]", "[0,8,16,3,15,1000,5,-7,8]"},
        {"[1e2, 1., .5, 3.0, -1.5]", "[100,1,0.5,3,-1.5]"},
        {"[1e400, 1e, 0x, '', 2001-01-01, 1.2.3, -, +]",
         "[\"1e400\",\"1e\",\"0x\",\"\",\"2001-01-01\",\"1.2.3\",\"-\",\"+\"]"},
        {"[9223372036854775807, -9223372036854775808]",
         "[9223372036854775807,-9223372036854775808]"},
        {"{1: a, true: b, 1.5: c}", "{\"1\":\"a\",\"true\":\"b\",\"1.5\":\"c\"}"},
        {"!!binary aGk=", "\"hi\""},
        {"!!binary /w==", "\"\xef\xbf\xbd\""},
        {"\"a\\0b\"", "\"a\\u0000b\""},
        {"x: &x {a: b}\nz: *x", "{\"x\":{\"a\":\"b\"},\"z\":{\"a\":\"b\"}}"},
        {"x: &x {a: b}\nz: {<<: *x, c: d}",
         "{\"x\":{\"a\":\"b\"},\"z\":{\"a\":\"b\",\"c\":\"d\"}}"},
        {"x: &x {a: b}\nz: {a: c, <<: *x}", "{\"x\":{\"a\":\"b\"},\"z\":{\"a\":\"b\"}}"},
        {"x: {<<: [{a: 1}, {a: 2, b: 3}]}", "{\"x\":{\"a\":1,\"b\":3}}"},
        {"x: {'<<': 1}", "{\"x\":{\"<<\":1}}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        struct schema_notes notes = {0};
        _cleanup_json_ json_t *v = read_yaml(rows[i].text, &notes, &err);
        if (!v)
            fail_msg("%s: %s", rows[i].text, err_msg(&err));
        _cleanup_json_ json_t *want =
            json_loads(rows[i].json, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        assert_non_null(want);
        if (!json_equal(v, want)) {
            _cleanup_free_ char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
            fail_msg("%s: %s", rows[i].text, text);
        }
        schema_notes_done(&notes);
    }
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"zz: *nope", "yaml: unknown anchor 'nope' referenced"},
        {"zz: &a [*a]", "yaml: anchor 'a' value contains itself"},
        {"metadata:\n\tname: x", "yaml: line 2: found character that cannot start any token"},
        {"metadata: {name: x", "yaml: line 1: did not find expected ',' or '}'"},
        {"metadata:\n  name: x\n bad: y", "yaml: line 2: did not find expected key"},
        {"%YAML 9.9\n---\na: b", "yaml: found incompatible YAML document"},
        {"a: \1", "yaml: control characters are not allowed"},
        {"a: \xff", "yaml: invalid leading UTF-8 octet"},
        {"a: !!binary '#'", "yaml: !!binary value contains invalid base64 data"},
        {"a: .nan", "json: unsupported value: NaN"},
        {"a: -.Inf", "json: unsupported value: -Inf"},
        {"a: +.inf", "json: unsupported value: +Inf"},
        {"a: {<<: 1}", "yaml: map merge requires map or sequence of maps as the value"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        struct schema_notes notes = {0};
        assert_null(read_yaml(rows[i].text, &notes, &err));
        assert_string_equal(err_msg(&err), rows[i].why);
        assert_int_equal(notes.texts.len, 0);
    }
}

static void test_doubled(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    struct schema_notes notes = {0};
    _cleanup_json_ json_t *v = read_yaml("a: 1\nb: {c: 1, c: 2}\na: 3\n", &notes, &err);
    assert_int_equal(json_integer_value(json_object_get(v, "a")), 3);
    assert_int_equal(notes.texts.len, 1);
    assert_string_equal(notes.texts.p[0], "yaml: unmarshal errors:\n"
                                          "  line 2: key \"c\" already set in map\n"
                                          "  line 3: key \"a\" already set in map");
    schema_notes_done(&notes);
}

/* What is small and becomes large, or deep. */
static void test_bombs(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT, deep_err = ERR_INIT;
    struct schema_notes notes = {0};
    _cleanup_str_ struct str bomb = STR_INIT, deep = STR_INIT, anchors = STR_INIT;
    str_add(&bomb, "a: &a [x,x,x,x,x,x,x,x,x]\n");
    for (int c = 'b'; c < 'k'; c++) {
        str_addf(&bomb, "%c: &%c [", c, c);
        for (int i = 0; i < 9; i++)
            str_addf(&bomb, "*%c,", c - 1);
        str_add(&bomb, "]\n");
    }
    assert_null(read_yaml(str_get(&bomb), &notes, &err));
    assert_string_equal(err_msg(&err), "yaml: document contains excessive aliasing");
    for (int i = 0; i < 100000; i++)
        str_addc(&deep, '[');
    assert_null(read_yaml(str_get(&deep), &notes, &deep_err));
    assert_string_equal(err_msg(&deep_err), "yaml: line 1: exceeded max depth of 10000");
    /* Anchors around anchors: each is remembered, none is copied. */
    for (int i = 0; i < 400; i++)
        str_addf(&anchors, "&a%d [", i);
    for (int i = 0; i < 200000; i++)
        str_add(&anchors, "1,");
    for (int i = 0; i < 400; i++)
        str_addc(&anchors, ']');
    _cleanup_json_ json_t *v = read_yaml(str_get(&anchors), &notes, NULL);
    assert_non_null(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_doubled),
        cmocka_unit_test(test_bombs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
