/* Validating values: kube-openapi's words. */
#include "structural_test.h"

static void check(const char *schema, const char *value, const char *wanted) {
    _cleanup_structural_ struct structural *s = compile_spec(schema);
    _cleanup_free_ char *text = xasprintf("{'spec':%s}", value);
    _cleanup_json_ json_t *obj = J(text);
    struct field_errors e = {0};
    structural_validate(s, obj, NULL, &e);
    assert_errors(&e, wanted);
}

static void test_types(void **state) {
    (void)state;
    check("{'type':'string'}", "'x'", "");
    check("{'type':'string'}", "5",
          "spec: Invalid value: \"integer\": spec in body must be of type string: \"integer\"");
    check("{'type':'string'}", "null",
          "spec: Invalid value: \"null\": spec in body must be of type string: \"null\"");
    check("{'type':'string','nullable':true}", "null", "");
    check("{'type':'integer'}", "1.0", "");
    check("{'type':'integer'}", "1.5",
          "spec: Invalid value: \"number\": spec in body must be of type integer: \"number\"\n"
          "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in "
          "spec");
    check("{'type':'number'}", "1", "");
    check("{'type':'boolean'}", "'true'",
          "spec: Invalid value: \"string\": spec in body must be of type boolean: \"string\"");
    check("{'x-kubernetes-int-or-string':true}", "true",
          "spec: Invalid value: \"boolean\": spec in body must be of type integer,string: "
          "\"boolean\"");
    check("{'x-kubernetes-int-or-string':true}", "'50%'", "");
    check("{'x-kubernetes-preserve-unknown-fields':true}", "[null,{'a':1}]", "");
}

static void test_texts(void **state) {
    (void)state;
    check("{'type':'string','maxLength':2}", "'\xc3\xa4\xc3\xb6'", "");
    check("{'type':'string','maxLength':1}", "'ab'", "spec: Too long: may not be more than 1 byte");
    check("{'type':'string','minLength':3}", "'ab'",
          "spec: Invalid value: \"ab\": spec in body should be at least 3 chars long");
    check("{'type':'string','pattern':'^x'}", "'ab'",
          "spec: Invalid value: \"ab\": spec in body should match '^x'");
    check("{'type':'string','format':'date-time'}", "'ab'",
          "spec: Invalid value: \"ab\": spec in body must be of type date-time: \"ab\"");
    check("{'type':'string','format':'odd'}", "'ab'", "");
}

static void test_enums(void **state) {
    (void)state;
    check("{'type':'string','enum':['a','b']}", "'b'", "");
    check("{'type':'string','enum':['a','b']}", "'c'",
          "spec: Unsupported value: \"c\": supported values: \"a\", \"b\"");
    check("{'type':'number','enum':[1,2.5]}", "3",
          "spec: Unsupported value: 3: supported values: \"1\", \"2.5\"");
    check("{'type':'number','enum':[2.0]}", "2", "");
    check("{'type':'string','nullable':true,'enum':['a']}", "null",
          "spec: Unsupported value: null: supported values: \"a\"");
    /* Go converts: 1.5 becomes 1, 65 becomes "A" */
    check("{'type':'number','enum':[1]}", "1.5", "");
    check("{'x-kubernetes-int-or-string':true,'enum':['A']}", "65", "");
}

static void test_lists_and_objects(void **state) {
    (void)state;
    check(
        "{'type':'array','items':{'type':'integer'},'minItems':3}", "[1,'x']",
        "spec[1]: Invalid value: \"string\": spec[1] in body must be of type integer: \"string\"\n"
        "spec: Invalid value: 2: spec in body should have at least 3 items");
    check("{'type':'array','items':{'type':'integer'},'maxItems':1}", "[1,2]",
          "spec: Too many: 2: must have at most 1 item");
    check("{'type':'object','properties':{'a':{'type':'string'}},'required':['a','b']}", "{'a':1}",
          "spec.a: Invalid value: \"integer\": spec.a in body must be of type string: \"integer\"\n"
          "spec.b: Required value");
    check("{'type':'object','additionalProperties':{'type':'string'},'maxProperties':0}",
          "{'k.l':1}",
          "spec: Too many: 1: must have at most 0 items\n"
          "spec.k.l: Invalid value: \"integer\": spec.k.l in body must be of type string: "
          "\"integer\"");
    check("{'type':'object','additionalProperties':false}", "{'k':1}",
          "spec: Invalid value: \"k\": spec.k in body is a forbidden property");
    check("{'type':'object','minProperties':1}", "{}",
          "spec: Invalid value: 0: spec in body should have at least 1 properties");
}

static void test_clauses(void **state) {
    (void)state;
    check("{'type':'string','anyOf':[{'maxLength':1},{'pattern':'^x'}]}", "'xyz'", "");
    /* of two failures the one that got further is told */
    check("{'type':'string','anyOf':[{'maxLength':1},{'minLength':9}]}", "'xyz'",
          "<nil>: Invalid value: \"\": \"spec\" must validate at least one schema (anyOf)\n"
          "spec: Too long: may not be more than 1 byte");
    check(
        "{'type':'string','oneOf':[{'maxLength':9},{'minLength':1}]}", "'x'",
        "<nil>: Invalid value: \"\": \"spec\" must validate one and only one schema (oneOf). Found "
        "2 valid alternatives");
    check(
        "{'type':'string','oneOf':[{'minLength':9}]}", "'x'",
        "<nil>: Invalid value: \"\": \"spec\" must validate one and only one schema (oneOf). Found "
        "none valid\n"
        "spec: Invalid value: \"x\": spec in body should be at least 9 chars long");
    check("{'type':'string','allOf':[{'minLength':9},{'maxLength':9}]}", "'x'",
          "spec: Invalid value: \"x\": spec in body should be at least 9 chars long\n"
          "<nil>: Invalid value: \"\": \"spec\" must validate all the schemas (allOf)");
    check("{'type':'string','allOf':[{'minLength':9}]}", "'x'",
          "spec: Invalid value: \"x\": spec in body should be at least 9 chars long\n"
          "<nil>: Invalid value: \"\": \"spec\" must validate all the schemas (allOf). None "
          "validated");
    check("{'type':'string','not':{'maxLength':9}}", "'x'",
          "<nil>: Invalid value: \"\": \"spec\" must not validate the schema (not)");
    check("{'type':'object','properties':{'a':{'type':'string'},'b':{'type':'string'}},'oneOf':[{"
          "'required':['a']},{'required':['b']}]}",
          "{'b':'x'}", "");
}

static const char strict[] =
    "{'type':'object','properties':{'s':{'type':'string','maxLength':1},'n':{'type':'integer'},"
    "'l':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k'],'items':"
    "{"
    "'type':'object','required':['k'],'properties':{'k':{'type':'string'},'v':{'type':'string',"
    "'maxLength':1}}}}}}";

static void test_ratcheting(void **state) {
    (void)state;
    _cleanup_structural_ struct structural *s = compile_spec(strict);
    _cleanup_json_ json_t *old = J("{'spec':{'s':'long','n':1,'l':[{'k':'a','v':'long'}]}}"),
                          *touched = J("{'spec':{'s':'long','n':2,'l':[{'k':'b','v':'x'},{'k':'a',"
                                       "'v':'long'}]}}"),
                          *worse = J("{'spec':{'s':'longer','n':1,'l':[{'k':'b','v':'long'}]}}");
    struct field_errors e = {0};
    structural_validate(s, old, NULL, &e);
    assert_errors(&e, "spec.s: Too long: may not be more than 1 byte\n"
                      "spec.l[0].v: Too long: may not be more than 1 byte");
    structural_validate(s, touched, old, &e);
    assert_errors(&e, "");
    structural_validate(s, worse, old, &e);
    assert_errors(&e, "spec.s: Too long: may not be more than 1 byte\n"
                      "spec.l[0].v: Too long: may not be more than 1 byte");
}

static void test_status(void **state) {
    (void)state;
    _cleanup_structural_ struct structural *s =
        compile("{'type':'object','properties':{'spec':{'type':'string'},'status':{'type':'object',"
                "'properties':{'n':{'type':'integer'}}}}}");
    _cleanup_json_ json_t *obj = J("{'spec':5,'status':{'n':'x'}}"), *none = J("{'spec':5}");
    struct field_errors e = {0};
    structural_validate_status(s, obj, none, &e);
    assert_errors(&e, "status.n: Invalid value: \"string\": n in body must be of type integer: "
                      "\"string\"");
    structural_validate_status(s, obj, obj, &e);
    assert_errors(&e, "");
    structural_validate_status(s, none, obj, &e);
    assert_errors(&e, "");
}

static void test_rules(void **state) {
    (void)state;
    _cleanup_structural_ struct structural *s = compile_spec(
        "{'type':'object','properties':{'a':{'type':'string','minLength':2}},'required':['a'],"
        "'x-kubernetes-validations':[{'rule':'false'}]}");
    _cleanup_json_ json_t *missing = J("{'spec':{}}"), *small = J("{'spec':{'a':'x'}}");
    struct field_errors e = {0};
    structural_validate(s, missing, NULL, &e);
    structural_note_rules(s, 0, &e);
    assert_errors(&e, "spec.a: Required value\n"
                      "<nil>: Invalid value: null: some validation rules were not checked because "
                      "the object was invalid; correct the existing errors to complete validation");
    structural_validate(s, small, NULL, &e); /* not one of the graver kinds */
    structural_note_rules(s, 0, &e);
    assert_errors(&e,
                  "spec.a: Invalid value: \"x\": spec.a in body should be at least 2 chars long");
}

/* A million wrong items: bounded errors, in bounded time. */
static void test_many_errors(void **state) {
    (void)state;
    _cleanup_structural_ struct structural *s =
        compile_spec("{'type':'array','items':{'type':'string','minLength':2}}");
    _cleanup_json_ json_t *obj = json_object(), *list = json_array();
    for (int i = 0; i < 300000; i++)
        json_array_append_new(list, json_integer(1));
    json_object_set(obj, "spec", list);
    struct field_errors e = {0};
    structural_validate(s, obj, NULL, &e);
    assert_int_equal(e.v.len, STRUCTURAL_MAX_ERRORS);
    field_errors_done(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),       cmocka_unit_test(test_texts),
        cmocka_unit_test(test_enums),       cmocka_unit_test(test_lists_and_objects),
        cmocka_unit_test(test_clauses),     cmocka_unit_test(test_ratcheting),
        cmocka_unit_test(test_status),      cmocka_unit_test(test_rules),
        cmocka_unit_test(test_many_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
