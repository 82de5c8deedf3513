/* Building schemas, and words: paths, values, numbers. */
#include "structural_test.h"

static void test_paths(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    spath_print(&out, NULL);
    assert_string_equal(str_get(&out), "<nil>");
    str_reset(&out);
    const struct spath *spec = SPATH_CHILD(NULL, "spec");
    spath_print(&out, SPATH_CHILD(SPATH_AT(SPATH_KEYED(spec, "a.b"), 3), "x"));
    assert_string_equal(str_get(&out), "spec[a.b][3].x");
}

static void test_floats(void **state) {
    (void)state;
    /* fmt.Println() of Go */
    static const struct {
        double v;
        const char *text;
    } cases[] = {{0, "0"},
                 {1, "1"},
                 {-1.5, "-1.5"},
                 {100000, "100000"},
                 {1e6, "1e+06"},
                 {1234567, "1.234567e+06"},
                 {0.1, "0.1"},
                 {1e-4, "0.0001"},
                 {1e-5, "1e-05"},
                 {1e21, "1e+21"},
                 {2.5e-7, "2.5e-07"},
                 {123456.789, "123456.789"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_str_ struct str out = STR_INIT;
        structural_float(&out, cases[i].v);
        assert_string_equal(str_get(&out), cases[i].text);
    }
}

static void test_values_shown(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"'a\\tb'", "\"a\\tb\""},
        {"{'b':1,'a':{'d':[true,null],'c':1.0}}", "{\"a\":{\"c\":1,\"d\":[true,null]},\"b\":1}"},
        {"1000000.0", "1e+06"},
        {"5", "5"},
        {"null", "null"},
        {"[]", "[]"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_str_ struct str out = STR_INIT;
        _cleanup_json_ json_t *v = J(cases[i][0]);
        structural_show(&out, v);
        assert_string_equal(str_get(&out), cases[i][1]);
    }
}

static void test_errors_are_bounded(void **state) {
    (void)state;
    struct field_errors e = {0};
    for (int i = 0; i < STRUCTURAL_MAX_ERRORS + 50; i++)
        spath_error(&e, FIELD_REQUIRED, SPATH_AT(NULL, (size_t)i), NULL, "%s", "");
    assert_int_equal(e.v.len, STRUCTURAL_MAX_ERRORS);
    field_errors_done(&e);
}

static void test_keywords(void **state) {
    (void)state;
    _cleanup_json_ json_t *s = J("{'t':'','n':null,'l':[],'m':{},'f':false,'items':[{}],'s':'x'}");
    assert_null(kw_text(s, "t"));
    assert_null(kw_value(s, "n"));
    assert_null(kw_list(s, "l"));
    assert_null(kw_map(s, "m"));
    assert_false(kw_flag(s, "f") || kw_flag(s, "none"));
    assert_null(kw_items(s));
    assert_string_equal(kw_text(s, "s"), "x");
    assert_non_null(kw_value(s, "f"));
    /* of a wrong type: not there */
    assert_null(kw_text(s, "l"));
    assert_null(kw_list(s, "s"));
    assert_null(kw_map(s, "s"));
    assert_null(kw_text(NULL, "x"));
}

static void test_build(void **state) {
    (void)state;
    _cleanup_json_ json_t *schema =
        J("{'type':'object','properties':{'z':{'type':'string','format':'odd'},'a':{"
          "'x-kubernetes-int-or-string':true}},'x-kubernetes-validations':[{'rule':'true'}]}");
    _cleanup_structural_ struct structural *s = structural_build(schema, NULL);
    assert_non_null(s);
    assert_true(s->has_rules);
    const struct snode *z = snode_property(s->root, "z"), *a = snode_property(s->root, "a");
    assert_int_equal(z->types, STYPE_STRING);
    assert_string_equal(z->raw_format, "odd");
    assert_null(z->format);
    assert_int_equal(a->types, STYPE_INTEGER | STYPE_STRING);
    assert_string_equal(stype_names(a->types), "integer,string");
    assert_null(snode_property(s->root, "b"));
    assert_null(snode_member(s->root, "b"));
    assert_null(snode_property(z, "b"));
    /* it does not need the JSON it was made of */
    json_object_clear(schema);
    assert_string_equal(s->root->properties[0].name, "z");
}

static void test_what_cannot_be_built(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"{'id':'x'}", "OpenAPIV3Schema 'id' is not supported"},
        {"{'$schema':'x'}", "OpenAPIV3Schema 'schema' is not supported"},
        {"{'$ref':'x'}", "OpenAPIV3Schema '$ref' is not supported"},
        {"{'patternProperties':{'x':{}}}", "OpenAPIV3Schema 'patternProperties' is not supported"},
        {"{'additionalItems':false}", "OpenAPIV3Schema 'additionalItems' is not supported"},
        {"{'definitions':{'x':{}}}", "OpenAPIV3Schema 'definitions' is not supported"},
        {"{'properties':{'a':{'items':[{}]}}}",
         "OpenAPIV3Schema 'items' must be a schema, but is an array"},
        {"{'not':{'x-kubernetes-preserve-unknown-fields':false}}",
         "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        _cleanup_json_ json_t *schema = J(cases[i][0]);
        assert_null(structural_build(schema, &err));
        assert_string_equal(err_msg(&err), cases[i][1]);
    }
    structural_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_values_shown),
        cmocka_unit_test(test_errors_are_bounded),
        cmocka_unit_test(test_keywords),
        cmocka_unit_test(test_build),
        cmocka_unit_test(test_what_cannot_be_built),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
