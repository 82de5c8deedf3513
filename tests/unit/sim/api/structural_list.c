/* Sets and maps. */
#include "structural_test.h"

static void check(const char *schema, const char *value, const char *wanted) {
    _cleanup_structural_ struct structural *s = compile_spec(schema);
    _cleanup_free_ char *text = xasprintf("{'spec':%s}", value);
    _cleanup_json_ json_t *obj = J(text);
    struct field_errors e = {0};
    structural_validate_lists(s, obj, NULL, &e);
    assert_errors(&e, wanted);
    /* nothing new is wrong */
    structural_validate_lists(s, obj, obj, &e);
    assert_errors(&e, "");
}

static void test_sets(void **state) {
    (void)state;
    static const char set[] = "{'type':'array','x-kubernetes-list-type':'set','items':{"
                              "'x-kubernetes-preserve-unknown-fields':true}}";
    check(set, "['a','b']", "");
    check(set, "['a','b','a','a']", "spec[2]: Duplicate value: \"a\"");
    check(set, "[1,1.0,'1',true,null]", "");
    check(set, "[1.5,1.5,null,null]",
          "spec[1]: Duplicate value: 1.5\nspec[3]: Duplicate value: null");
    check(set, "[{'a':1,'b':2},{'b':2,'a':1},{'a':1}]",
          "spec[1]: Duplicate value: {\"a\":1,\"b\":2}");
    check(set, "5", "");
}

#define MAP(keys)                                                                                  \
    "{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':[" keys           \
    "],'items':{'type':'object','required':['k','l'],'properties':{'k':{'type':'string'},'l':{"    \
    "'type':'integer'},'v':{'type':'string'}}}}"

static void test_maps(void **state) {
    (void)state;
    check(MAP("'k'"), "[{'k':'a','v':'1'},{'k':'b'}]", "");
    check(MAP("'k'"), "[{'k':'a','v':'1'},{'k':'a','v':'2'}]",
          "spec[1]: Duplicate value: {\"k\":\"a\"}");
    check(MAP("'k'"), "[{},null,{'k':'a'}]", "spec[1]: Duplicate value: {}");
    check(MAP("'k'"), "[{'k':{}},{}]", ""); /* no key is not an empty one */
    check(MAP("'k'"), "['x',{}]",
          "spec[0]: Invalid value: \"x\": must be an object for an array of list-type map");
    check(MAP("'k','l'"), "[{'k':'a','l':1},{'k':'a','l':2},{'l':1,'k':'a'},{'k':'a'}]",
          "spec[2]: Duplicate value: {\"k\":\"a\",\"l\":1}");
}

static void test_within(void **state) {
    (void)state;
    check("{'type':'object','additionalProperties':{'type':'array','items':" MAP("'k'") "}}",
          "{'x':[[{'k':'a'}],[{'k':'a'},{'k':'a'}]]}",
          "spec[x][1][1]: Duplicate value: {\"k\":\"a\"}");
}

/* What was wrong before may stay wrong, and get worse. */
static void test_ratchet(void **state) {
    (void)state;
    _cleanup_structural_ struct structural *s = compile_spec(MAP("'k'"));
    _cleanup_json_ json_t *good = J("{'spec':[{'k':'a'}]}"),
                          *bad = J("{'spec':[{'k':'a'},{'k':'a'}]}"),
                          *worse = J("{'spec':[{'k':'b'},{'k':'b'},{'k':'a'},{'k':'a'}]}");
    struct field_errors e = {0};
    structural_validate_lists(s, bad, good, &e);
    assert_errors(&e, "spec[1]: Duplicate value: {\"k\":\"a\"}");
    structural_validate_lists(s, worse, bad, &e);
    assert_errors(&e, "");
}

static void test_many(void **state) {
    (void)state;
    _cleanup_structural_ struct structural *s = compile_spec(MAP("'k'"));
    _cleanup_json_ json_t *obj = json_object(), *list = json_array();
    for (int i = 0; i < 50000; i++)
        json_array_append_new(list, json_pack("{s:o}", "k", json_sprintf("%d", i)));
    json_object_set(obj, "spec", list);
    struct field_errors e = {0};
    structural_validate_lists(s, obj, NULL, &e);
    assert_int_equal(e.v.len, 0);
    json_array_append_new(list, json_pack("{s:s}", "k", "7"));
    structural_validate_lists(s, obj, NULL, &e);
    assert_errors(&e, "spec[50000]: Duplicate value: {\"k\":\"7\"}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),    cmocka_unit_test(test_maps), cmocka_unit_test(test_within),
        cmocka_unit_test(test_ratchet), cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
