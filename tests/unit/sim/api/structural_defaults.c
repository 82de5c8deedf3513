/* Defaults: filled in, and judged. */
#include "structural_test.h"

static void fills(const char *schema, const char *before, const char *after) {
    _cleanup_structural_ struct structural *s = compile_spec(schema);
    _cleanup_json_ json_t *obj = J(before);
    structural_prune(s, obj, NULL);
    structural_default(s, obj);
    assert_json(obj, after);
    structural_default(s, obj); /* nothing more to do */
    assert_json(obj, after);
}

static void test_filling(void **state) {
    (void)state;
    static const char nested[] =
        "{'type':'object','default':{},'properties':{'a':{'type':'string','default':'x'},'o':{"
        "'type':'object','properties':{'b':{'type':'integer','default':7}}}}}";
    fills(nested, "{}", "{'spec':{'a':'x'}}");
    fills(nested, "{'spec':{'a':'y','o':{}}}", "{'spec':{'a':'y','o':{'b':7}}}");
    fills(nested, "{'spec':{'a':null}}", "{'spec':{'a':'x'}}");
    fills(nested, "{'spec':5}", "{'spec':5}");
    fills("{'type':'object','properties':{'a':{'type':'string','nullable':true,'default':'x'}}}",
          "{'spec':{'a':null}}", "{'spec':{'a':null}}");
    fills("{'type':'array','items':{'type':'string','default':'x'}}", "{'spec':['a',null]}",
          "{'spec':['a','x']}");
    fills(
        "{'type':'array','items':{'type':'object','properties':{'a':{'type':'integer','default':1}"
        "}}}",
        "{'spec':[{},null]}", "{'spec':[{'a':1},null]}");
    fills("{'type':'object','additionalProperties':{'type':'object','properties':{'a':{"
          "'type':'integer','default':1}}}}",
          "{'spec':{'k':{}}}", "{'spec':{'k':{'a':1}}}");
}

/* A default is copied: what is done to one object is not done to the next. */
static void test_copies(void **state) {
    (void)state;
    _cleanup_structural_ struct structural *s =
        compile_spec("{'type':'object','default':{'l':[1]},'properties':{'l':{'type':'array',"
                     "'items':{'type':'integer'}}}}");
    _cleanup_json_ json_t *a = J("{}"), *b = J("{}");
    structural_default(s, a);
    json_array_append_new(json_object_get(json_object_get(a, "spec"), "l"), json_integer(2));
    structural_default(s, b);
    assert_json(b, "{'spec':{'l':[1]}}");
}

static void judged(const char *schema, const char *wanted) {
    struct field_errors e = {0};
    _cleanup_free_ char *text = xasprintf("{'type':'object','properties':{'a':%s}}", schema);
    _cleanup_json_ json_t *json = J(text);
    _cleanup_structural_ struct structural *s = structural_compile(json, "s", false, &e);
    assert_int_equal(s == NULL, *wanted != '\0');
    assert_errors(&e, wanted);
}

static void test_judging(void **state) {
    (void)state;
    judged("{'type':'string','default':''}", "");
    judged("{'type':'integer','default':1.0}", "");
    judged("{'x-kubernetes-int-or-string':true,'default':1.5}", ""); /* as the server has it */
    judged("{'type':'string','maxLength':2,'default':'abc'}",
           "s.properties[a].default: Too long: may not be more than 2 bytes");
    judged("{'type':'string','enum':['a','b'],'default':'x'}",
           "s.properties[a].default: Unsupported value: \"x\": supported values: \"a\", \"b\"");
    judged(
        "{'type':'object','properties':{'b':{'type':'string'}},'default':{'b':1,'c':2}}",
        "s.properties[a].default: Invalid value: {\"b\":1,\"c\":2}: must not have unknown "
        "fields\n"
        "s.properties[a].default.b: Invalid value: \"integer\": b in body must be of type string: "
        "\"integer\"");
    judged("{'type':'object','properties':{'b':{'type':'string'}},'required':['b'],'default':{}}",
           "s.properties[a].default.b: Required value");
    judged("{'type':'array','items':{'type':'string','default':1}}",
           "s.properties[a].items.default: Invalid value: \"integer\":  in body must be of type "
           "string: \"integer\"");
}

static void test_judging_metadata(void **state) {
    (void)state;
#define RESOURCE(properties)                                                                       \
    "{'type':'object','x-kubernetes-embedded-resource':true,'properties':{" properties "}}"
    judged(RESOURCE("'kind':{'type':'string','default':'Good'}"), "");
    judged(RESOURCE("'metadata':{'type':'object','properties':{'name':{'type':'string','default':"
                    "'a/b'}}}"),
           "s.properties[a].properties[metadata].properties[name].default: Invalid value: \"a/b\": "
           "must result in valid metadata: metadata.name: Invalid value: \"a/b\": may not contain "
           "'/'");
    judged("{'type':'object','x-kubernetes-embedded-resource':true,"
           "'x-kubernetes-preserve-unknown-fields':true,'default':{'kind':1}}",
           "s.properties[a].default.kind: Invalid value: 1: must be a string");
}

/* Unknown metadata in a default are not filled in. */
static void test_canonical_metadata(void **state) {
    (void)state;
    fills(
        "{'type':'object','properties':{'t':{'type':'object','x-kubernetes-embedded-resource':true,"
        "'x-kubernetes-preserve-unknown-fields':true,'default':{'kind':'K','apiVersion':'v1',"
        "'metadata':{'name':'n','odd':1}}}}}",
        "{'spec':{}}", "{'spec':{'t':{'kind':'K','apiVersion':'v1','metadata':{'name':'n'}}}}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filling),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_judging),
        cmocka_unit_test(test_judging_metadata),
        cmocka_unit_test(test_canonical_metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
