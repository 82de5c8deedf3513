/* What the API's validation says of schemas. */
#include "structural_test.h"

static void check(const char *text, const char *wanted) {
    struct field_errors e = {0};
    _cleanup_json_ json_t *schema = J(text);
    structural_check_openapi(schema, SPATH_CHILD(NULL, "s"), &e);
    assert_errors(&e, wanted);
}

static void test_keywords(void **state) {
    (void)state;
    check("{'type':'object'}", "");
    check(
        "{'type':'odd','id':'x','uniqueItems':true}",
        "s.type: Unsupported value: \"odd\": supported values: \"array\", \"boolean\", "
        "\"integer\", \"number\", \"object\", \"string\"\n"
        "s.id: Forbidden: id is not supported\n"
        "s.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity "
        "becomes quadratic");
    check("{'items':[{'type':'null'}]}",
          "s.items: Forbidden: items must be a schema object and not an array\n"
          "s.items[0].type: Unsupported value: \"null\": supported values: \"array\", \"boolean\", "
          "\"integer\", \"number\", \"object\", \"string\"\n"
          "s.items[0].type: Forbidden: type cannot be set to null, use nullable as an alternative");
    check("{'properties':{'a':{'type':'string'}},'additionalProperties':{'type':'string'}}",
          "s.additionalProperties: Forbidden: additionalProperties and properties are mutual "
          "exclusive");
    check(
        "{'x-kubernetes-preserve-unknown-fields':false}",
        "s.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined");
}

static void test_defaults_in_metadata(void **state) {
    (void)state;
    check("{'properties':{'kind':{'default':'x'},'spec':{'default':{}}}}",
          "s.properties[kind].default: Forbidden: must not be set in top-level kind");
    check(
        "{'properties':{'a':{'x-kubernetes-embedded-resource':true,'properties':{'metadata':{"
        "'additionalProperties':{'default':'x'},'x-kubernetes-embedded-resource':true}}}}}",
        "s.properties[a].properties[metadata].x-kubernetes-embedded-resource: Forbidden: must not "
        "be used inside of resource meta\n"
        "s.properties[a].properties[metadata].additionalProperties.default: Forbidden: must not "
        "be set inside additionalProperties applying to object metadata");
}

static void test_lists(void **state) {
    (void)state;
    check("{'type':'array','x-kubernetes-list-type':'bag','items':{'type':'string'}}",
          "s.x-kubernetes-list-type: Unsupported value: \"bag\": supported values: \"atomic\", "
          "\"set\", \"map\"");
    check("{'x-kubernetes-list-type':'set'}",
          "s.type: Required value: must be array if x-kubernetes-list-type is specified");
    check(
        "{'type':'array','x-kubernetes-list-type':'set','items':{'type':'object'}}",
        "s.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with "
        "x-kubernetes-list-type=set");
    check(
        "{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['a','a','z'],"
        "'items':{'type':'object','properties':{'a':{'type':'string'}}}}",
        "s.x-kubernetes-list-map-keys: Invalid value: [\"a\",\"a\",\"z\"]: must not contain "
        "duplicate entries\n"
        "s.x-kubernetes-list-map-keys: Invalid value: [\"a\",\"a\",\"z\"]: entries must all be "
        "names of item properties\n"
        "s.items.properties[a].default: Required value: this property is in "
        "x-kubernetes-list-map-keys, so it must have a default or be a required property\n"
        "s.items.properties[a].default: Required value: this property is in "
        "x-kubernetes-list-map-keys, so it must have a default or be a required property");
    check("{'type':'array','x-kubernetes-list-map-keys':['a'],'items':{'type':'string'}}",
          "s.x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is "
          "non-empty");
    check("{'type':'array','x-kubernetes-list-type':'map'}",
          "s.x-kubernetes-list-map-keys: Required value: must not be empty if "
          "x-kubernetes-list-type is map\n"
          "s.items: Required value: must have a schema if x-kubernetes-list-type is map");
    check(
        "{'type':'array','x-kubernetes-list-type':'set','items':{'type':'string','nullable':true}}",
        "s.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set");
}

static void test_maps(void **state) {
    (void)state;
    check("{'type':'object','x-kubernetes-map-type':'granular'}", "");
    check(
        "{'type':'string','x-kubernetes-map-type':'odd'}",
        "s.type: Invalid value: \"string\": must be object if x-kubernetes-map-type is specified\n"
        "s.x-kubernetes-map-type: Unsupported value: \"odd\": supported values: \"atomic\", "
        "\"granular\"");
}

static void test_rules(void **state) {
    (void)state;
#define RULE(rule)                                                                                 \
    "{'type':'object','properties':{'a':{'type':'string'}},'x-kubernetes-validations':[" rule "]}"
    check(RULE("{'rule':'self.a == `x`','message':'m','fieldPath':'.a'}"), "");
    check(RULE("{'rule':'\\u00a0 \\n'}"),
          "s.x-kubernetes-validations[0].rule: Required value: rule is not specified");
    check(
        RULE("{'rule':'a\\nb'}"),
        "s.x-kubernetes-validations[0].message: Required value: message must be specified if rule "
        "contains line breaks");
    check(RULE("{'rule':'x','message':' ','reason':'Odd'}"),
          "s.x-kubernetes-validations[0].message: Invalid value: \" \": must be non-empty if "
          "specified\n"
          "s.x-kubernetes-validations[0].reason: Unsupported value: \"Odd\": supported values: "
          "\"FieldValueDuplicate\", \"FieldValueForbidden\", \"FieldValueInvalid\", "
          "\"FieldValueRequired\"");
    check(RULE("{'rule':'x','fieldPath':'.b'}"),
          "s.x-kubernetes-validations[0].fieldPath: Invalid value: \".b\": must be a valid path");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keywords), cmocka_unit_test(test_defaults_in_metadata),
        cmocka_unit_test(test_lists),    cmocka_unit_test(test_maps),
        cmocka_unit_test(test_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
