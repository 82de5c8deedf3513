/* Which part of an object was which. */
#include "sim/api/structural_ratchet.h"

#include "structural_test.h"

static const char schema[] =
    "{'type':'object','properties':{'a':{'type':'string'},'m':{'type':'object',"
    "'additionalProperties':{'type':'string'}},'any':{'type':'object',"
    "'x-kubernetes-preserve-unknown-fields':true},'l':{'type':'array','x-kubernetes-list-type':'"
    "map',"
    "'x-kubernetes-list-map-keys':['k','n'],'items':{'type':'object','required':['k','n'],"
    "'properties':{'k':{'type':'string'},'n':{'type':'integer'},'v':{'type':'string'}}}},'p':{"
    "'type':'array','items':{'type':'string'}}}}";

static bool unchanged(const char *value, const char *old) {
    _cleanup_structural_ struct structural *s = compile(schema);
    _cleanup_json_ json_t *new = J(value), *before = J(old);
    struct ratchet r = RATCHET(s->root, new, before);
    bool same = ratchet_unchanged(&r);
    ratchet_done(&r);
    return same;
}

static void test_unchanged(void **state) {
    (void)state;
    assert_true(unchanged("{'a':'x','m':{'k':'v'}}", "{'m':{'k':'v'},'a':'x'}"));
    assert_false(unchanged("{'a':'x'}", "{'a':'y'}"));
    assert_false(unchanged("{'a':'x'}", "{'a':'x','m':{}}"));
    assert_false(unchanged("{'a':1}", "{'a':1.0}"));
    assert_true(unchanged("{'a':null}", "{'a':null}"));
    assert_false(unchanged("{'a':null}", "{'a':'x'}"));
    /* what the schema does not know is never the same */
    assert_false(unchanged("{'any':{'z':1}}", "{'any':{'z':1}}"));
    assert_true(unchanged("{'any':{}}", "{'any':{}}"));
    /* plain lists as a whole, lists by key in any order */
    assert_true(unchanged("{'p':['a','b']}", "{'p':['a','b']}"));
    assert_false(unchanged("{'p':['b','a']}", "{'p':['a','b']}"));
    assert_true(unchanged("{'l':[{'k':'a','n':1},{'k':'a','n':2,'v':'x'}]}",
                          "{'l':[{'k':'a','n':2,'v':'x'},{'k':'a','n':1}]}"));
    assert_false(unchanged("{'l':[{'k':'a','n':1},{'k':'b','n':1}]}",
                           "{'l':[{'k':'a','n':1},{'k':'c','n':1}]}"));
    assert_false(unchanged("{'l':[{'k':'a'}]}", "{'l':[{'k':'a'}]}")); /* a key is missing */
    assert_true(unchanged("{'l':[]}", "{'l':[]}"));
}

static void test_children(void **state) {
    (void)state;
    _cleanup_structural_ struct structural *s = compile(schema);
    _cleanup_json_ json_t *new = J("{'a':'x','l':[{'k':'b','n':1,'v':'new'},{'k':'z','n':1},5],"
                                   "'p':['a'],'odd':1}"),
                          *old = J("{'a':'y','l':[{'k':'a','n':1},{'k':'b','n':1,'v':'old'}],"
                                   "'p':['a'],'odd':1}");
    struct ratchet r = RATCHET(s->root, new, old), child, item;
    assert_true(ratchet_key(&r, "a", &child));
    assert_string_equal(json_string_value(child.old), "y");
    ratchet_done(&child);
    assert_false(ratchet_key(&r, "none", &child) || ratchet_key(&r, "odd", &child));
    assert_true(ratchet_key(&r, "l", &child));
    assert_true(ratchet_index(&child, 0, &item));
    assert_string_equal(json_str(item.old, "v"), "old");
    ratchet_done(&item);
    assert_false(ratchet_index(&child, 1, &item) || ratchet_index(&child, 2, &item) ||
                 ratchet_index(&child, 9, &item));
    ratchet_done(&child);
    assert_true(ratchet_key(&r, "p", &child));
    assert_false(ratchet_index(&child, 0, &item));
    ratchet_done(&child);
    ratchet_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unchanged),
        cmocka_unit_test(test_children),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
