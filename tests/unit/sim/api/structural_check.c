/* Which schemas are structural. */
#include "structural_test.h"

static void check(const char *text, const char *wanted) {
    struct field_errors e = {0};
    _cleanup_json_ json_t *schema = J(text);
    _cleanup_structural_ struct structural *s = structural_build(schema, NULL);
    assert_non_null(s);
    structural_check(s, SPATH_CHILD(NULL, "s"), &e);
    assert_errors(&e, wanted);
}

static void test_types(void **state) {
    (void)state;
    check("{'type':'object'}", "");
    check("{}", "s.type: Required value: must not be empty at the root");
    check("{'type':'string'}", "s.type: Invalid value: \"string\": must be object at the root");
    check("{'type':'object','properties':{'a':{}}}",
          "s.properties[a].type: Required value: must not be empty for specified object fields");
    check("{'type':'object','properties':{'a':{'type':'array'}}}",
          "s.properties[a].items: Required value: must be specified");
    check(
        "{'type':'object','properties':{'a':{'type':'array','items':{}}}}",
        "s.properties[a].items.type: Required value: must not be empty for specified array items");
    check("{'type':'object','properties':{'a':{'x-kubernetes-preserve-unknown-fields':true},"
          "'b':{'x-kubernetes-int-or-string':true}}}",
          "");
    check("{'type':'object','additionalProperties':{'type':'string'}}",
          "s.additionalProperties: Forbidden: must not be used at the root");
}

static void test_metadata(void **state) {
    (void)state;
    check("{'type':'object','properties':{'metadata':{'type':'object','properties':{'name':{"
          "'type':'string'}}},'kind':{'type':'string'}}}",
          "");
    check("{'type':'object','properties':{'metadata':{'type':'object','description':'d'}}}",
          "s.properties[metadata]: Forbidden: must not specify anything other than name and "
          "generateName, but metadata is implicitly specified");
    check("{'type':'object','properties':{'metadata':{'type':'string'},'kind':{'type':'integer'}}}",
          "s.properties[kind].type: Invalid value: \"integer\": must be string\n"
          "s.properties[metadata].type: Invalid value: \"string\": must be object");
}

static void test_clauses(void **state) {
    (void)state;
    check("{'type':'object','properties':{'a':{'type':'string'}},'anyOf':[{'required':['a']},"
          "{'properties':{'a':{'maxLength':1}}}]}",
          "");
    check("{'type':'object','anyOf':[{'type':'object','title':'t','additionalProperties':true}],"
          "'not':{'properties':{'metadata':{}}}}",
          "s.anyOf[0].additionalProperties: Forbidden: must be undefined to be structural\n"
          "s.anyOf[0].title: Forbidden: must be empty to be structural\n"
          "s.anyOf[0].type: Forbidden: must be empty to be structural\n"
          "s.not.properties[metadata]: Forbidden: must not be specified in a nested context\n"
          "s.properties[metadata]: Required value: because it is defined in "
          "s.not.properties[metadata]");
    /* false is not looked at */
    check("{'type':'object','not':{'additionalProperties':false}}", "");
}

static void test_completeness(void **state) {
    (void)state;
    check("{'type':'object','allOf':[{'properties':{'b':{'items':{'minLength':1}}}}]}",
          "s.properties[b]: Required value: because it is defined in s.allOf[0].properties[b]");
    check("{'type':'object','properties':{'b':{'type':'array','items':{'type':'string'}}},"
          "'allOf':[{'properties':{'b':{'items':{'properties':{'c':{}}}}}}]}",
          "s.properties[b].items.properties[c]: Required value: because it is defined in "
          "s.allOf[0].properties[b].items.properties[c]");
}

static void test_int_or_string(void **state) {
    (void)state;
#define ONE(schema) "{'type':'object','properties':{'a':" schema "}}"
    check(ONE("{'x-kubernetes-int-or-string':true,'anyOf':[{'type':'integer'},{'type':'string'}]}"),
          "");
    check(ONE("{'x-kubernetes-int-or-string':true,'allOf':[{'anyOf':[{'type':'integer'},"
              "{'type':'string'}]},{'pattern':'x'}]}"),
          "");
    check(ONE("{'x-kubernetes-int-or-string':true,'anyOf':[{'type':'string'},{'type':'integer'}]}"),
          "s.properties[a].anyOf[0].type: Forbidden: must be empty to be structural\n"
          "s.properties[a].anyOf[1].type: Forbidden: must be empty to be structural");
    check(
        ONE("{'x-kubernetes-int-or-string':true,'x-kubernetes-preserve-unknown-fields':true}"),
        "s.properties[a].x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false "
        "if x-kubernetes-int-or-string is true");
}

static void test_embedded(void **state) {
    (void)state;
    check(ONE("{'type':'object','x-kubernetes-embedded-resource':true}"),
          "s.properties[a].properties: Required value: must not be empty if "
          "x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields");
    check(ONE("{'type':'string','x-kubernetes-embedded-resource':true,"
              "'x-kubernetes-preserve-unknown-fields':true}"),
          "s.properties[a].type: Invalid value: \"string\": must be object if "
          "x-kubernetes-embedded-resource is true");
}

static void test_patterns(void **state) {
    (void)state;
    check(ONE("{'type':'string','pattern':'('}"),
          "s.properties[a].pattern: Invalid value: \"(\": must be a valid regular expression, but "
          "isn't: error parsing regexp: missing closing ): `(`");
    _cleanup_structural_ struct structural *s = compile(ONE("{'type':'string','pattern':'^x'}"));
    assert_int_equal(s->patterns.len, 1);
    assert_non_null(snode_property(s->root, "a")->matcher);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),         cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_clauses),       cmocka_unit_test(test_completeness),
        cmocka_unit_test(test_int_or_string), cmocka_unit_test(test_embedded),
        cmocka_unit_test(test_patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
