/* Tests of schema/decoder: which complaint counts, how it reads, and which notes are kept. */
#include "sim/schema/decoder.h"

#include <errno.h>

#include "schema_test.h"
#include "sim/schema/build.h"

static void error_is(const struct decoder *d, const char *expected) {
    _cleanup_err_ struct err err = ERR_INIT;
    assert_true(d->complained);
    assert_int_equal(decoder_error(d, &err), -EINVAL);
    assert_string_equal(err_msg(&err), expected);
}

static void paths(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    decoder_push(&s, "spec", 4);
    assert_string_equal(str_get(&s), "spec");
    decoder_push(&s, "containers...", 10);
    assert_string_equal(str_get(&s), "spec.containers");
    decoder_cut(&s, 4);
    assert_string_equal(str_get(&s), "spec");
    decoder_cut(&s, 40);
    assert_string_equal(str_get(&s), "spec");
    decoder_cut(&s, 0);
    assert_string_equal(str_get(&s), "");
}

static void the_first_counts(void **state) {
    (void)state;
    struct decoder d = {0};
    decoder_wrong_type(&d, xstrdup("array"), xstrdup("v1.Pod"), false);
    decoder_wrong_type(&d, xstrdup("string"), xstrdup("int32"), false);
    decoder_wrong(&d, xstrdup("x"), false);
    assert_false(d.ended);
    error_is(&d, "json: cannot unmarshal array into Go value of type v1.Pod");
    decoder_done(&d);
}

static void an_end_counts_more(void **state) {
    (void)state;
    struct decoder d = {.holder = kind("Pod")};
    decoder_push(&d.stack, "spec", 4);
    decoder_wrong(&d, xstrdup("not this"), false);
    decoder_wrong_type(&d, xstrdup("string"), xstrdup("int32"), true);
    assert_true(d.ended);
    decoder_wrong(&d, xstrdup("nor this"), true);
    error_is(&d, "json: cannot unmarshal string into Go struct field Pod.spec of type int32");
    decoder_done(&d);
}

static void inner_ones(void **state) {
    (void)state;
    struct decoder d = {.holder = kind("Pod")}, quiet = {0}, inner = {.holder = kind("Node")};
    decoder_push(&d.stack, "spec", 4);
    decoder_adopt(&d, &quiet);
    assert_false(d.complained);
    decoder_push(&inner.stack, "a", 1);
    decoder_push(&inner.stack, "b", 1);
    decoder_wrong_type(&inner, xstrdup("bool"), xstrdup("string"), false);
    decoder_adopt(&d, &inner);
    assert_true(d.ended);
    error_is(&d, "json: cannot unmarshal bool into Go struct field Pod.spec.a.b of type string");
    decoder_done(&d);
    decoder_done(&inner);
}

static void inner_text(void **state) {
    (void)state;
    struct decoder d = {0}, inner = {0};
    decoder_wrong(&inner, xstrdup("boolean or JSON schema expected"), true);
    decoder_adopt(&d, &inner);
    error_is(&d, "boolean or JSON schema expected");
    decoder_done(&d);
    decoder_done(&inner);
}

/* Each once, and no more than a hundred. */
static void notes(void **state) {
    (void)state;
    struct schema_notes n = {0};
    struct decoder d = {.notes = &n}, deaf = {0};
    decoder_unknown(&deaf, "x", 1);
    decoder_push(&d.path, "spec", 4);
    decoder_unknown(&d, "foo", 3);
    decoder_unknown(&d, "foo", 3);
    assert_int_equal(n.texts.len, 1);
    assert_string_equal(n.texts.p[0], "unknown field \"spec.foo\"");
    assert_string_equal(str_get(&d.path), "spec");
    for (int i = 0; i < 200; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        decoder_unknown(&d, key, strlen(key));
    }
    assert_int_equal(n.texts.len, 100);
    assert_string_equal(n.texts.p[99], "unknown field \"spec.k98\"");
    schema_notes_done(&n);
    decoder_done(&d);
}

static void counting(void **state) {
    (void)state;
    struct decoder d = {.elements = SCHEMA_MOST_ELEMENTS - 1};
    assert_true(decoder_count(&d));
    assert_false(decoder_count(&d));
    assert_true(d.ended);
    decoder_done(&d);
}

static void type_is(const struct schema_field *f, const char *whole, const char *element) {
    _cleanup_free_ char *a = decoder_whole_type(f), *b = decoder_element_type(f);
    assert_string_equal(a, whole);
    assert_string_equal(b, element);
}

/* As reflect.Type.String() names them. */
static void types(void **state) {
    (void)state;
    const struct schema *pod = kind("Pod"), *meta = schema_field(pod, "metadata", 8)->of;
    const struct schema *spec = schema_field(pod, "spec", 4)->of;
    type_is(schema_field(meta, "name", 4), "string", "string");
    type_is(schema_field(meta, "uid", 3), "types.UID", "types.UID");
    type_is(schema_field(meta, "labels", 6), "map[string]string", "string");
    type_is(schema_field(meta, "finalizers", 10), "[]string", "string");
    type_is(schema_field(spec, "containers", 10), "[]v1.Container", "v1.Container");
    type_is(schema_field(spec, "overhead", 8), "v1.ResourceList", "resource.Quantity");
    type_is(schema_field(kind("Secret"), "data", 4), "map[string][]uint8", "[]uint8");
    type_is(schema_field(pod, "spec", 4), "v1.PodSpec", "v1.PodSpec");
    _cleanup_free_ char *name = decoder_object_type(pod);
    assert_string_equal(name, "v1.Pod");
    assert_string_equal(decoder_short_name(pod), "Pod");
}

static void value_names(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"{}", "object"},  {"[]", "array"}, {"\"\"", "string"}, {"true", "bool"},
        {"false", "bool"}, {"1", "number"}, {"1.5", "number"},  {"null", "null"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_json_ json_t *v = value_of(rows[i][0]);
        _cleanup_free_ char *name = decoder_value_name(v);
        assert_string_equal(name, rows[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths),
        cmocka_unit_test(the_first_counts),
        cmocka_unit_test(an_end_counts_more),
        cmocka_unit_test(inner_ones),
        cmocka_unit_test(inner_text),
        cmocka_unit_test(notes),
        cmocka_unit_test(counting),
        cmocka_unit_test(types),
        cmocka_unit_test(value_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
