/* Compiling: the checks together. */
#include "structural_test.h"

static void check(const char *text, bool has_status, const char *wanted) {
    struct field_errors e = {0};
    _cleanup_json_ json_t *schema = J(text);
    _cleanup_structural_ struct structural *s = structural_compile(schema, "s", has_status, &e);
    assert_int_equal(s == NULL, *wanted != '\0');
    assert_errors(&e, wanted);
}

static void test_order(void **state) {
    (void)state;
    check("{'type':'object','properties':{'a':{'type':'string','default':'x'}}}", false, "");
    check("{'type':'object','nullable':true}", false,
          "s.nullable: Forbidden: nullable cannot be true at the root");
    /* bad defaults are only looked at in a structural schema */
    check("{'type':'object','properties':{'a':{'type':'string','default':1}}}", false,
          "s.properties[a].default: Invalid value: \"integer\":  in body must be of type string: "
          "\"integer\"");
    check("{'type':'object','properties':{'a':{'type':'string','default':1},'b':{}}}", false,
          "s.properties[b].type: Required value: must not be empty for specified object fields");
    /* what cannot be built is told by its keyword, or else as a whole */
    check("{'type':'object','id':'x'}", false, "s.id: Forbidden: id is not supported");
    check("{'type':'object','$schema':'x'}", false,
          "s: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported");
}

static void test_status(void **state) {
    (void)state;
    check("{'type':'object','description':'d','required':['spec']}", true, "");
    struct field_errors e = {0};
    _cleanup_json_ json_t *schema = J("{'type':'object','minProperties':1}");
    assert_null(structural_compile(schema, "s", true, &e));
    assert_int_equal(e.v.len, 1);
    assert_string_equal(e.v.p[0].field, "s");
    assert_true(str_starts(e.v.p[0].body, "Invalid value: {\"ID\":\"\","));
    assert_true(str_ends(e.v.p[0].body,
                         "\"XValidations\":null}: only [Description Type Format Title Maximum "
                         "ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern "
                         "MaxItems MinItems UniqueItems MultipleOf Required Items Properties "
                         "ExternalDocs Example XPreserveUnknownFields XValidations] fields are "
                         "allowed at the root of the schema if the status subresource is enabled"));
    field_errors_done(&e);
    check("{'type':'array','items':{'type':'string'}}", true,
          "s.type: Invalid value: \"array\": only \"object\" is allowed as the type at the root of "
          "the schema if the status subresource is enabled\n"
          "s.type: Invalid value: \"array\": must be object at the root");
}

static void test_formats(void **state) {
    (void)state;
    _cleanup_json_ json_t *schema =
        J("{'type':'object','format':'x','properties':{'a':{'type':'string','format':'date'},'b':{"
          "'type':'array','items':{'type':'integer','format':'y'}}},'not':{'format':'z'}}");
    struct structural_formats found = {0};
    structural_unknown_formats(schema, &found);
    assert_int_equal(found.v.len, 3);
    assert_string_equal(found.v.p[0], "x");
    assert_string_equal(found.v.p[1], "z");
    assert_string_equal(found.v.p[2], "y");
    vec_done(&found.v);
}

/* As deep as the parser lets anybody go. */
static void test_depth(void **state) {
    (void)state;
    struct str text = STR_INIT;
    const int depth = 900;
    for (int i = 0; i < depth; i++)
        str_add(&text, "{'type':'object','properties':{'a':");
    str_add(&text, "{'type':'string'}");
    for (int i = 0; i < depth; i++)
        str_add(&text, "}}");
    _cleanup_structural_ struct structural *s = compile(str_get(&text));
    str_reset(&text);
    for (int i = 0; i < depth; i++)
        str_add(&text, "{'a':");
    str_add(&text, "5");
    for (int i = 0; i < depth; i++)
        str_addc(&text, '}');
    struct field_errors e = {0};
    _cleanup_json_ json_t *obj = J(str_get(&text));
    structural_prune(s, obj, NULL);
    structural_default(s, obj);
    structural_validate(s, obj, obj, &e);
    assert_int_equal(e.v.len, 0); /* it was wrong before */
    structural_validate(s, obj, NULL, &e);
    assert_int_equal(e.v.len, 1);
    field_errors_done(&e);
    str_done(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
