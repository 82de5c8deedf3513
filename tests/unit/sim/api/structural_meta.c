/* Metadata of embedded resources. */
#include <errno.h>

#include "structural_test.h"

static const char schema[] =
    "{'type':'object','properties':{'spec':{'type':'object','properties':{'t':{'type':'object',"
    "'x-kubernetes-embedded-resource':true,'x-kubernetes-preserve-unknown-fields':true},'l':{"
    "'type':'array','items':{'type':'object','x-kubernetes-embedded-resource':true,"
    "'x-kubernetes-preserve-unknown-fields':true}},'m':{'type':'object','additionalProperties':{"
    "'type':'object','x-kubernetes-embedded-resource':true,"
    "'x-kubernetes-preserve-unknown-fields':true}}}}}}";

static void test_coerce(void **state) {
    (void)state;
    _cleanup_structural_ struct structural *s = compile(schema);
    _cleanup_json_ json_t *obj = J(
        "{'metadata':{'odd':1},'spec':{'t':{'kind':'K','metadata':{'name':'x','odd':1,'labels':{},"
        "'creationTimestamp':null},'other':{'odd':1}},'l':[{'metadata':{'odd':2}}],'m':{'a.b':{"
        "'metadata':{'odd':3}}}}}");
    struct schema_notes notes = {0};
    assert_int_equal(structural_coerce(s, obj, &notes, NULL), 0);
    assert_json(obj, "{'metadata':{'odd':1},'spec':{'t':{'kind':'K','metadata':{'name':'x'},"
                     "'other':{'odd':1}},'l':[{'metadata':{}}],'m':{'a.b':{'metadata':{}}}}}");
    assert_notes(&notes, "unknown field \"spec.t.metadata.odd\"\n"
                         "unknown field \"spec.l[0].metadata.odd\"\n"
                         "unknown field \"spec.m[a.b].metadata.odd\"");
}

static void refused(const char *value, const char *why) {
    _cleanup_structural_ struct structural *s = compile(schema);
    _cleanup_free_ char *text = xasprintf("{'spec':{'t':%s}}", value);
    _cleanup_json_ json_t *obj = J(text);
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(structural_coerce(s, obj, NULL, &err), -EINVAL);
    assert_string_equal(err_msg(&err), why);
}

static void test_refused(void **state) {
    (void)state;
    refused("{'kind':5}", "spec.t.kind: Invalid value: 5: must be a string");
    refused("{'metadata':{'labels':1}}",
            "spec.t.metadata: Invalid value: {\"labels\":1}: json: cannot unmarshal number into Go "
            "struct field ObjectMeta.labels of type map[string]string");
    refused("{'metadata':'x'}", "spec.t.metadata: Invalid value: \"x\": json: cannot unmarshal "
                                "string into Go value of type v1.ObjectMeta");
}

static void checked(const char *value, const char *wanted) {
    _cleanup_structural_ struct structural *s = compile(schema);
    _cleanup_free_ char *text = xasprintf("{'spec':%s}", value);
    _cleanup_json_ json_t *obj = J(text);
    struct field_errors e = {0};
    structural_validate_embedded(s, obj, &e);
    assert_errors(&e, wanted);
}

static void test_checked(void **state) {
    (void)state;
    checked("{'t':{'apiVersion':'a/b','kind':'Kind','metadata':{'name':'A b','namespace':'x'}}}",
            "");
    checked("{'t':{}}", "spec.t.apiVersion: Required value\nspec.t.kind: Required value");
    checked("{'t':{'apiVersion':'','kind':''}}",
            "spec.t.apiVersion: Invalid value: \"\": must not be empty\n"
            "spec.t.kind: Invalid value: \"\": must not be empty");
    checked(
        "{'m':{'k':{'apiVersion':'a/b/c','kind':'bad kind'}}}",
        "spec.m[k].apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c\n"
        "spec.m[k].kind: Invalid value: \"bad kind\": may have mixed case, but should otherwise "
        "match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
        "start with an alphabetic character, and end with an alphanumeric character (e.g. "
        "'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')");
    checked("{'l':[{'apiVersion':'v1','kind':'K','metadata':{'name':'a/b','labels':{'a':'c d'}}}]}",
            "spec.l[0].metadata.name: Invalid value: \"a/b\": may not contain '/'\n"
            "spec.l[0].metadata.labels: Invalid value: \"c d\": a valid label must be an empty "
            "string or consist of alphanumeric characters, '-', '_' or '.', and must start and end "
            "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex "
            "used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
    checked("{'t':5,'l':5,'m':null}", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coerce),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
