/* Dropping what is unknown. */
#include "structural_test.h"

static void check(const char *schema, const char *before, const char *after, const char *noted) {
    _cleanup_structural_ struct structural *s = compile(schema);
    _cleanup_json_ json_t *obj = J(before);
    struct schema_notes notes = {0};
    structural_prune(s, obj, &notes);
    assert_json(obj, after);
    assert_notes(&notes, noted);
    _cleanup_json_ json_t *again = J(before);
    structural_prune(s, again, NULL);
    assert_json(again, after);
}

#define SPEC(properties)                                                                           \
    "{'type':'object','properties':{'spec':{'type':'object','properties':{" properties "}}}}"

static void test_unknown(void **state) {
    (void)state;
    check(
        SPEC("'a':{'type':'string'}"),
        "{'kind':'K','apiVersion':'v','metadata':{'x':1},'spec':{'a':'1','z':2,'b':{'c':1}},'y':1}",
        "{'kind':'K','apiVersion':'v','metadata':{'x':1},'spec':{'a':'1'}}",
        "unknown field \"spec.b\"\nunknown field \"spec.z\"\nunknown field \"y\"");
    check(
        SPEC("'l':{'type':'array','items':{'type':'object','properties':{'a':{'type':'string'}}}}"),
        "{'spec':{'l':[{'a':'x','z':1},5,null,[{'q':1}]]}}",
        "{'spec':{'l':[{'a':'x'},5,null,[{}]]}}",
        "unknown field \"spec.l[0].z\"\nunknown field \"spec.l[3][0].q\"");
    check(SPEC("'m':{'type':'object','additionalProperties':{'type':'object','properties':{"
               "'a':{'type':'string'}}}}"),
          "{'spec':{'m':{'x.y':{'a':'1','b':2}}}}", "{'spec':{'m':{'x.y':{'a':'1'}}}}",
          "unknown field \"spec.m.x.y.b\"");
    /* true or false: members stay, what is in them is unknown */
    check(SPEC("'m':{'type':'object','additionalProperties':true}"),
          "{'spec':{'m':{'a':1,'b':{'c':1}}}}", "{'spec':{'m':{'a':1,'b':{}}}}",
          "unknown field \"spec.m.b.c\"");
}

static void test_preserved(void **state) {
    (void)state;
    check(SPEC("'a':{'x-kubernetes-preserve-unknown-fields':true}"),
          "{'spec':{'a':{'b':{'c':[{'d':1}]}}}}", "{'spec':{'a':{'b':{'c':[{'d':1}]}}}}", "");
    /* until the schema knows better */
    check(
        SPEC("'a':{'type':'object','x-kubernetes-preserve-unknown-fields':true,'properties':{'k':{"
             "'type':'object','properties':{'x':{'type':'string'}}}}}"),
        "{'spec':{'a':{'other':{'y':1},'k':{'x':'1','y':2}}}}",
        "{'spec':{'a':{'other':{'y':1},'k':{'x':'1'}}}}", "unknown field \"spec.a.k.y\"");
}

static void test_embedded(void **state) {
    (void)state;
    check(SPEC("'t':{'type':'object','x-kubernetes-embedded-resource':true,'properties':{'spec':{"
               "'type':'object'}}}"),
          "{'spec':{'t':{'kind':'K','apiVersion':'v','metadata':{'z':1},'spec':{'q':1},'w':1}}}",
          "{'spec':{'t':{'kind':'K','apiVersion':'v','metadata':{'z':1},'spec':{}}}}",
          "unknown field \"spec.t.spec.q\"\nunknown field \"spec.t.w\"");
    /* below the root of something that is no resource they are names like others */
    check(SPEC("'a':{'type':'string'}"), "{'spec':{'kind':'x'}}", "{'spec':{}}",
          "unknown field \"spec.kind\"");
}

static void test_nulls(void **state) {
    (void)state;
    check(SPEC("'a':{'type':'string'},'n':{'type':'string','nullable':true},'d':{'type':'string',"
               "'default':'x'},'l':{'type':'array','items':{'type':'string'}}"),
          "{'spec':{'a':null,'n':null,'d':null,'l':[null]}}",
          "{'spec':{'n':null,'d':null,'l':[null]}}", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_preserved),
        cmocka_unit_test(test_embedded),
        cmocka_unit_test(test_nulls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
