/* Schemas as Go prints its internal type. */
#include "structural_test.h"

/* The server's words for {"type":"object"}. */
#define PLAIN(type, rest)                                                                          \
    "{\"ID\":\"\",\"Schema\":\"\",\"Ref\":null,\"Description\":\"\",\"Type\":\"" type              \
    "\",\"Nullable\":false,\"Format\":\"\",\"Title\":\"\",\"Default\":null,\"Maximum\":null,"      \
    "\"ExclusiveMaximum\":false,\"Minimum\":null,\"ExclusiveMinimum\":false,\"MaxLength\":null,"   \
    "\"MinLength\":null,\"Pattern\":\"\",\"MaxItems\":null,\"MinItems\":null,\"UniqueItems\":"     \
    "false,\"MultipleOf\":null,\"Enum\":null,\"MaxProperties\":null,\"MinProperties\":null,"       \
    "\"Required\":null," rest
#define TAIL                                                                                       \
    "\"PatternProperties\":null,\"Dependencies\":null,\"AdditionalItems\":null,\"Definitions\":"   \
    "null,\"ExternalDocs\":null,\"Example\":null,\"XPreserveUnknownFields\":null,"                 \
    "\"XEmbeddedResource\":false,\"XIntOrString\":false,\"XListMapKeys\":null,\"XListType\":null," \
    "\"XMapType\":null,\"XValidations\":null}"
#define NO_PARTS                                                                                   \
    "\"Items\":null,\"AllOf\":null,\"OneOf\":null,\"AnyOf\":null,\"Not\":null,\"Properties\":"     \
    "null,\"AdditionalProperties\":null,"
#define STRING PLAIN("string", NO_PARTS TAIL)

static void check(const char *schema, const char *wanted) {
    _cleanup_json_ json_t *v = J(schema);
    _cleanup_str_ struct str out = STR_INIT;
    structural_dump(&out, v);
    assert_string_equal(str_get(&out), wanted);
}

static void test_plain(void **state) {
    (void)state;
    check("{'type':'object'}", PLAIN("object", NO_PARTS TAIL));
}

static void test_parts(void **state) {
    (void)state;
    check("{'type':'object','items':{'type':'string'},'not':{'type':'string'},"
          "'properties':{'a':{'type':'string'}},'additionalProperties':false}",
          PLAIN("object",
                "\"Items\":{\"Schema\":" STRING ",\"JSONSchemas\":null},\"AllOf\":null,\"OneOf\":"
                "null,\"AnyOf\":null,\"Not\":" STRING ",\"Properties\":{\"a\":" STRING
                "},\"AdditionalProperties\":{\"Allows\":false,\"Schema\":null}," TAIL));
}

static void test_items(void **state) {
    (void)state;
    _cleanup_json_ json_t *v = J("[{'type':'string'}]");
    _cleanup_str_ struct str out = STR_INIT;
    structural_dump_items(&out, v);
    assert_string_equal(str_get(&out), "{\"Schema\":null,\"JSONSchemas\":[" STRING "]}");
}

static void test_rules_docs_values(void **state) {
    (void)state;
    _cleanup_json_ json_t *v =
        J("{'default':{'b':1,'a':2},'externalDocs':{'url':'u'},'x-kubernetes-validations':[{"
          "'rule':'a<b'}],'dependencies':{'x':['y']}}");
    _cleanup_str_ struct str out = STR_INIT;
    structural_dump(&out, v);
    const char *text = str_get(&out);
    assert_non_null(strstr(text, "\"Default\":{\"a\":2,\"b\":1}"));
    assert_non_null(strstr(text, "\"ExternalDocs\":{\"Description\":\"\",\"URL\":\"u\"}"));
    assert_non_null(strstr(text, "\"XValidations\":[{\"Rule\":\"a\\u003cb\",\"Message\":\"\","
                                 "\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\","
                                 "\"OptionalOldSelf\":null}]"));
    assert_non_null(
        strstr(text, "\"Dependencies\":{\"x\":{\"Schema\":null,\"Property\":[\"y\"]}}"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_rules_docs_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
