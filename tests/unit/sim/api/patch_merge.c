/* Tests of sim/api/patch_merge: the examples of RFC 7386, and where the server's library differs.
 */
#include "patch_check.h"

static const struct patch merge = {.kind = PATCH_MERGE};

/* Appendix A: a target, a patch, what comes of it. The server patches objects only, so that those
 * of other types are members of one here. */
static void test_rfc7386(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        {"{'a':'b'}", "{'a':'c'}", "{'a':'c'}"},
        {"{'a':'b'}", "{'b':'c'}", "{'a':'b','b':'c'}"},
        {"{'a':'b'}", "{'a':null}", "{}"},
        {"{'a':'b','b':'c'}", "{'a':null}", "{'b':'c'}"},
        {"{'a':['b']}", "{'a':'c'}", "{'a':'c'}"},
        {"{'a':'c'}", "{'a':['b']}", "{'a':['b']}"},
        {"{'a':{'b':'c'}}", "{'a':{'b':'d','c':null}}", "{'a':{'b':'d'}}"},
        {"{'a':[{'b':'c'}]}", "{'a':[1]}", "{'a':[1]}"},
        {"['a','b']", "['c','d']", "['c','d']"},
        {"{'a':'b'}", "['c']", "['c']"},
        {"{'a':'foo'}", "'bar'", "'bar'"},
        {"{'e':null}", "{'a':1}", "{'e':null,'a':1}"},
        {"[1,2]", "{'a':'b','c':null}", "{'a':'b'}"},
        {"{}", "{'a':{'bb':{'ccc':null}}}", "{'a':{'bb':{}}}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *current = xasprintf("{'x':%s}", rows[i][0]);
        _cleanup_free_ char *body = xasprintf("{'x':%s}", rows[i][1]);
        _cleanup_free_ char *expected = xasprintf("{'x':%s}", rows[i][2]);
        patch_gives(merge, current, body, expected);
        if (rows[i][0][0] == '{' && rows[i][1][0] == '{')
            patch_gives(merge, rows[i][0], rows[i][1], rows[i][2]);
    }
    patch_gives(merge, "{'x':{'a':'foo'},'y':1}", "{'x':null}", "{'y':1}");
}

/* evanphx/json-patch: nulls vanish from mappings in lists too, except where the list takes the
 * place of a mapping; null items stay. */
static void test_nulls_in_lists(void **state) {
    (void)state;
    const char *body = "{'a':[null,{'b':null,'c':[{'d':null}]}]}";
    const char *pruned = "{'a':[null,{'c':[{}]}]}";
    patch_gives(merge, "{}", body, pruned);
    patch_gives(merge, "{'a':1}", body, pruned);
    patch_gives(merge, "{'a':null}", body, pruned);
    patch_gives(merge, "{'a':[{'b':1}]}", body, pruned);
    patch_gives(merge, "{'a':{}}", body, body);
}

static void test_bodies(void **state) {
    (void)state;
    struct patch loose = {.kind = PATCH_MERGE, .unchecked = true};
    patch_gives(merge, "{'a':1}", "{}", "{'a':1}");
    patch_gives(loose, "{'a':1}", "[1,{'a':null}]", "[1,{}]");
    patch_refused(merge, "{}", "null", 400, "Invalid JSON Patch");
    patch_refused(loose, "{}", "null", 400, "Invalid JSON Patch");
    patch_refused(loose, "{}", "'x'", 400, "Invalid JSON Patch");
    patch_refused(merge, "{}", "'x'", 400,
                  "error decoding patch: json: cannot unmarshal string into Go value of type "
                  "map[string]interface {}");
}

/* As deep as anything that jansson reads. */
static void test_deep(void **state) {
    (void)state;
    _cleanup_str_ struct str deep = STR_INIT, other = STR_INIT;
    const int levels = JSON_PARSER_MAX_DEPTH - 1; /* and the scalar in them */
    for (int i = 0; i < levels; i++) {
        str_add(&deep, "{'a':");
        str_add(&other, i == levels / 2 ? "{'b':1,'a':" : "{'a':");
    }
    str_add(&deep, "1");
    str_add(&other, "null");
    for (int i = 0; i < levels; i++) {
        str_add(&deep, "}");
        str_add(&other, "}");
    }
    _cleanup_json_ json_t *live = js(str_get(&deep)), *body = js(str_get(&other)), *out = NULL;
    struct patch patch = {.kind = PATCH_MERGE, .body = body};
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    assert_int_equal(patch_apply(&patch, live, &out, NULL, &failure, NULL), 0);
    const json_t *at = out;
    for (int i = 0; i < levels - 1; i++) {
        assert_int_equal(json_object_size(at), i == levels / 2 ? 2 : 1);
        at = json_object_get(at, "a");
    }
    assert_json(at, "{}");
}

/* Go writes maps in the order of their names, and so it writes whatever it has looked into: what is
 * unknown to the decoder is told in this order. */
static void test_order(void **state) {
    (void)state;
    _cleanup_json_ json_t *live = js("{'z':1,'m':{'y':1,'b':2},'k':{'r':1,'q':2}}");
    _cleanup_json_ json_t *body = js("{'m':{'x':1,'a':[{'d':1,'c':2}]},'c':{'f':1,'e':{}}}");
    _cleanup_json_ json_t *out = NULL;
    struct patch patch = {.kind = PATCH_MERGE, .body = body};
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    assert_int_equal(patch_apply(&patch, live, &out, NULL, &failure, NULL), 0);
    _cleanup_free_ char *text = json_dumps(out, JSON_COMPACT);
    assert_string_equal(text, "{\"c\":{\"e\":{},\"f\":1},\"k\":{\"r\":1,\"q\":2},"
                              "\"m\":{\"a\":[{\"c\":2,\"d\":1}],\"b\":2,\"x\":1,\"y\":1},"
                              "\"z\":1}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rfc7386), cmocka_unit_test(test_nulls_in_lists),
        cmocka_unit_test(test_bodies),  cmocka_unit_test(test_deep),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
