/* Tests of sim/api/patch_json: the examples of RFC 6902, where evanphx/json-patch is more generous,
 * its errors, and the limits. */
#include "patch_check.h"

static const struct patch json = {.kind = PATCH_JSON};
static const struct patch loose = {.kind = PATCH_JSON, .unchecked = true};

/* Appendix A, by number. */
static void test_rfc6902(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        /* A.1 */ {"{'foo':'bar'}", "[{'op':'add','path':'/baz','value':'qux'}]",
                   "{'baz':'qux','foo':'bar'}"},
        /* A.2 */
        {"{'foo':['bar','baz']}", "[{'op':'add','path':'/foo/1','value':'qux'}]",
         "{'foo':['bar','qux','baz']}"},
        /* A.3 */ {"{'baz':'qux','foo':'bar'}", "[{'op':'remove','path':'/baz'}]", "{'foo':'bar'}"},
        /* A.4 */
        {"{'foo':['bar','qux','baz']}", "[{'op':'remove','path':'/foo/1'}]",
         "{'foo':['bar','baz']}"},
        /* A.5 */
        {"{'baz':'qux','foo':'bar'}", "[{'op':'replace','path':'/baz','value':'boo'}]",
         "{'baz':'boo','foo':'bar'}"},
        /* A.6 */
        {"{'foo':{'bar':'baz','waldo':'fred'},'qux':{'corge':'grault'}}",
         "[{'op':'move','from':'/foo/waldo','path':'/qux/thud'}]",
         "{'foo':{'bar':'baz'},'qux':{'corge':'grault','thud':'fred'}}"},
        /* A.7 */
        {"{'foo':['all','grass','cows','eat']}", "[{'op':'move','from':'/foo/1','path':'/foo/3'}]",
         "{'foo':['all','cows','eat','grass']}"},
        /* A.8 */
        {"{'baz':'qux','foo':['a',2,'c']}",
         "[{'op':'test','path':'/baz','value':'qux'},"
         "{'op':'test','path':'/foo/1','value':2}]",
         "{'baz':'qux','foo':['a',2,'c']}"},
        /* A.10 */
        {"{'foo':'bar'}", "[{'op':'add','path':'/child','value':{'grandchild':{}}}]",
         "{'foo':'bar','child':{'grandchild':{}}}"},
        /* A.11 */
        {"{'foo':'bar'}", "[{'op':'add','path':'/baz','value':'qux','xyz':123}]",
         "{'foo':'bar','baz':'qux'}"},
        /* A.14 */
        {"{'/':9,'~1':10}", "[{'op':'test','path':'/~01','value':10}]", "{'/':9,'~1':10}"},
        /* A.16 */
        {"{'foo':['bar']}", "[{'op':'add','path':'/foo/-','value':['abc','def']}]",
         "{'foo':['bar',['abc','def']]}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        patch_gives(json, rows[i][0], rows[i][1], rows[i][2]);
    /* A.9 */
    patch_refused(json, "{'baz':'qux'}", "[{'op':'test','path':'/baz','value':'bar'}]", 422,
                  "testing value /baz failed: test failed");
    /* A.12 */
    patch_refused(json, "{'foo':'bar'}", "[{'op':'add','path':'/baz/bat','value':'qux'}]", 422,
                  "add operation does not apply: doc is missing path: \"/baz/bat\": missing value");
    /* A.15 */
    patch_refused(json, "{'/':9,'~1':10}", "[{'op':'test','path':'/~01','value':'10'}]", 422,
                  "testing value /~01 failed: test failed");
}

/* Beyond the RFC. */
static void test_generous(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        /* the empty patch, and null for it */
        {"{'a':1}", "[]", "{'a':1}"},
        {"{'a':1}", "null", "{'a':1}"},
        /* "replace" adds, "add" without value adds null, so does a copy of nothing */
        {"{}", "[{'op':'replace','path':'/a','value':1}]", "{'a':1}"},
        {"{}", "[{'op':'add','path':'/a'}]", "{'a':null}"},
        {"{}", "[{'op':'copy','from':'/b','path':'/a'}]", "{'a':null}"},
        /* indexes */
        {"{'a':[1,2,3]}", "[{'op':'remove','path':'/a/-1'}]", "{'a':[1,2]}"},
        {"{'a':[1,2,3]}", "[{'op':'remove','path':'/a/01'}]", "{'a':[1,3]}"},
        {"{'a':[1,2,3]}", "[{'op':'replace','path':'/a/+1','value':0}]", "{'a':[1,0,3]}"},
        {"{'a':[1,2]}", "[{'op':'add','path':'/a/2','value':3}]", "{'a':[1,2,3]}"},
        {"{'a':[1,2]}", "[{'op':'add','path':'/a/-1','value':3}]", "{'a':[1,2,3]}"},
        {"{'a':[1,2]}", "[{'op':'add','path':'/a/-3','value':0}]", "{'a':[0,1,2]}"},
        {"{'a':[]}", "[{'op':'add','path':'/a/0','value':0}]", "{'a':[0]}"},
        /* what stands before the first slash does not matter; the key may be empty */
        {"{'a':1}", "[{'op':'remove','path':'x/a'}]", "{}"},
        {"{}", "[{'op':'add','path':'/','value':1}]", "{'':1}"},
        /* '-' is a key of a mapping, digits are too */
        {"{'a':{}}", "[{'op':'add','path':'/a/-','value':1},{'op':'add','path':'/a/0','value':2}]",
         "{'a':{'-':1,'0':2}}"},
        /* nothing is there, and that is what null is */
        {"{}", "[{'op':'test','path':'/a','value':null}]", "{}"},
        {"{}", "[{'op':'test','path':'/a'}]", "{}"},
        {"{'a':null}", "[{'op':'test','path':'/a','value':null}]", "{'a':null}"},
        /* the order of members does not matter, nor of operations on other things */
        {"{'a':{'b':[{}],'c':null,'d':1.5}}",
         "[{'op':'test','path':'','value':{'a':{'d':1.5,'c':null,'b':[{}]}}}]",
         "{'a':{'b':[{}],'c':null,'d':1.5}}"},
        /* the whole document */
        {"{'a':1}", "[{'op':'replace','path':'','value':{'b':2}}]", "{'b':2}"},
        {"{'a':1}",
         "[{'op':'replace','path':'','value':[1]},{'op':'add','path':'/-','value':2},"
         "{'op':'test','path':'','value':[1,2]}]",
         "[1,2]"},
        /* a copy is not what it was copied from */
        {"{'a':{'b':1}}",
         "[{'op':'copy','from':'/a','path':'/c'},{'op':'add','path':'/c/d','value':2}]",
         "{'a':{'b':1},'c':{'b':1,'d':2}}"},
        /* into itself, over itself */
        {"{'a':{'b':1}}", "[{'op':'copy','from':'/a','path':'/a/c'}]", "{'a':{'b':1,'c':{'b':1}}}"},
        {"{'a':{'b':1}}", "[{'op':'move','from':'/a/b','path':'/a'}]", "{'a':1}"},
        {"{'a':1}", "[{'op':'move','from':'/a','path':'/a'}]", "{'a':1}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        patch_gives(json, rows[i][0], rows[i][1], rows[i][2]);
}

static void test_errors(void **state) {
    (void)state;
    static const char current[] = "{'a':{'b':1},'l':[1,2],'n':null}";
    static const char *const rows[][2] = {
        {"[{'op':'add','path':'','value':1}]",
         "add operation does not apply: doc is missing path: \"\": missing value"},
        {"[{'op':'add','path':'a','value':1}]",
         "add operation does not apply: doc is missing path: \"a\": missing value"},
        {"[{'op':'add','path':'/n/x','value':1}]",
         "add operation does not apply: doc is missing path: \"/n/x\": missing value"},
        {"[{'op':'add','path':'/a/b/c','value':1}]",
         "add operation does not apply: doc is missing path: \"/a/b/c\": missing value"},
        {"[{'op':'add','path':'/l/x/c','value':1}]",
         "add operation does not apply: doc is missing path: \"/l/x/c\": missing value"},
        {"[{'op':'add','value':1}]", "add operation failed to decode path: missing value"},
        {"[{'op':'add','path':null,'value':1}]",
         "add operation failed to decode path: missing value"},
        {"[{'op':'add','path':'/l/3','value':1}]",
         "error in add for path: '/l/3': Unable to access invalid index: 3: invalid index "
         "referenced"},
        {"[{'op':'add','path':'/l/-4','value':1}]",
         "error in add for path: '/l/-4': Unable to access invalid index: -4: invalid index "
         "referenced"},
        {"[{'op':'add','path':'/l/x','value':1}]",
         "error in add for path: '/l/x': value was not a proper array index: 'x': strconv.Atoi: "
         "parsing \"x\": invalid syntax"},
        {"[{'op':'add','path':'/l/','value':1}]",
         "error in add for path: '/l/': value was not a proper array index: '': strconv.Atoi: "
         "parsing \"\": invalid syntax"},
        {"[{'op':'remove','path':'/l/9223372036854775808'}]",
         "error in remove for path: '/l/9223372036854775808': strconv.Atoi: parsing "
         "\"9223372036854775808\": value out of range"},
        {"[{'op':'remove','path':'/l/-9223372036854775808'}]",
         "error in remove for path: '/l/-9223372036854775808': Unable to access invalid index: "
         "-9223372036854775808: invalid index referenced"},
        {"[{'op':'remove','path':'/l/-'}]",
         "error in remove for path: '/l/-': strconv.Atoi: parsing \"-\": invalid syntax"},
        {"[{'op':'remove','path':'/x'}]",
         "error in remove for path: '/x': Unable to remove nonexistent key: x: missing value"},
        {"[{'op':'remove','path':''}]",
         "remove operation does not apply: doc is missing path: \"\": missing value"},
        {"[{'op':'replace','path':'/l/2','value':1}]",
         "replace operation does not apply: doc is missing key: /l/2: missing value"},
        {"[{'op':'replace','path':'/x/y','value':1}]",
         "replace operation does not apply: doc is missing path: /x/y: missing value"},
        {"[{'op':'replace','path':'','value':1}]",
         "replace operation value must be object or array: %!w(<nil>)"},
        {"[{'op':'move','from':'/x','path':'/y'}]",
         "error in move for path: 'x': Unable to remove nonexistent key: x: missing value"},
        {"[{'op':'move','from':'/a','path':'/a/c'}]",
         "move operation does not apply: doc is missing destination path: /a/c: missing value"},
        {"[{'op':'move','path':'/a/c'}]",
         "move operation failed to decode from: operation, missing "
         "from field: missing value"},
        {"[{'op':'copy','from':'/l/2','path':'/x'}]",
         "error in copy for from: '/l/2': Unable to access invalid index: 2: invalid index "
         "referenced"},
        {"[{'op':'copy','from':'/a','path':'/l/x'}]",
         "error while adding value during copy: value was not a proper array index: 'x': "
         "strconv.Atoi: parsing \"x\": invalid syntax"},
        {"[{'op':'test','path':'/a/b','value':1.0}]", "testing value /a/b failed: test failed"},
        {"[{'op':'test','path':'/a/b','value':true}]", "testing value /a/b failed: test failed"},
        {"[{'op':'test','path':'/a','value':{'b':1,'c':null}}]",
         "testing value /a failed: test failed"},
        {"[{'op':'test','path':'/a'}]", "testing value /a failed: test failed"},
        {"[{'op':'test','path':'/x/y','value':1}]",
         "test operation does not apply: is missing path: /x/y: missing value"},
        {"[{'path':'/x'}]", "Unexpected kind: unknown"},
        {"[null]", "Unexpected kind: unknown"},
        {"[{'op':'Add','path':'/x','value':1}]", "Unexpected kind: Add"},
        {"[{'op':'add','path':'/a\\u0000b','value':1}]", "\"path\" has a NUL in it"},
        /* all or nothing */
        {"[{'op':'add','path':'/z','value':1},{'op':'test','path':'/z','value':2}]",
         "testing value /z failed: test failed"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        patch_refused(json, current, rows[i][0], 422, rows[i][1]);
        patch_refused(loose, current, rows[i][0], 422, rows[i][1]);
    }
    patch_refused(loose, current, "[{'op':'replace','path':5,'value':1}]", 422,
                  "replace operation failed to decode path: json: cannot unmarshal number into Go "
                  "value of type string");
    patch_refused(loose, current, "[{'op':{}}]", 422, "Unexpected kind: unknown");
    patch_refused(loose, current, "[{'op':'add'},'x']", 400,
                  "json: cannot unmarshal string into Go value of type jsonpatch.Operation");
}

static void test_crashes(void **state) {
    (void)state;
    static const char *const rows[] = {
        "[{'op':'test','path':''}]",
        "[{'op':'replace','path':''}]",
        "[{'op':'test','path':'/l','value':[null]}]",
        "[{'op':'test','path':'/l','value':[1]}]",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        patch_refused(json, "{'l':[null]}", rows[i], 500,
                      "runtime error: invalid memory address or nil pointer dereference");
}

static void test_notes(void **state) {
    (void)state;
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    _cleanup_json_ json_t *live = js("{}"), *out = NULL, *more = NULL;
    _cleanup_json_ json_t *body = js("[{'op':'add','path':'/a','value':{'x':1},'foo':2},{'Op':1,"
                                     "'op':'test','path':'/b'}]");
    struct schema_notes notes = {0};
    struct patch patch = {.kind = PATCH_JSON, .body = body};
    assert_int_equal(patch_apply(&patch, live, &out, &notes, &failure, NULL), 0);
    assert_int_equal(notes.texts.len, 2);
    assert_string_equal(notes.texts.p[0], "json patch unknown field \"[0].foo\"");
    assert_string_equal(notes.texts.p[1], "json patch unknown field \"[1].Op\"");
    patch.unchecked = true;
    assert_int_equal(patch_apply(&patch, live, &more, &notes, &failure, NULL), 0);
    assert_int_equal(notes.texts.len, 2);
    schema_notes_done(&notes);

    /* not more than the real decoder keeps */
    _cleanup_json_ json_t *many = json_array(), *op = js("{'op':'test','path':'/a','foo':1}");
    _cleanup_json_ json_t *same = NULL;
    for (int i = 0; i < 150; i++)
        json_array_append(many, op);
    patch = (struct patch){.kind = PATCH_JSON, .body = many};
    notes = (struct schema_notes){0};
    assert_int_equal(patch_apply(&patch, live, &same, &notes, &failure, NULL), 0);
    assert_int_equal(notes.texts.len, 100);
    schema_notes_done(&notes);
}

/* The text of the patch is known: a test is for how things are written. */
static void test_text(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool passes;
    } rows[] = {
        {"[{\"op\":\"test\",\"path\":\"/a\",\"value\":\"x\\u003cy\"}]", true},
        {"[{\"op\":\"test\",\"path\":\"/a\",\"value\":\"x<y\"}]", false},
        {" [ { \"value\" : 1.5 , \"op\" : \"test\", \"path\" : \"/b\" } ] ", true},
        {"[{\"value\":1.50,\"op\":\"test\",\"path\":\"/b\"}]", false},
        {"[{\"op\":\"test\",\"path\":\"/c\"}]", true},
        /* what the patch itself has written is written as it is */
        {"[{\"op\":\"add\",\"path\":\"/c\",\"value\":\"x<y\"},"
         "{\"op\":\"test\",\"path\":\"/c\",\"value\":\"x<y\"}]",
         true},
    };
    _cleanup_json_ json_t *live = js("{'a':'x<y','b':1.5}");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_failure_ struct failure failure = FAILURE_INIT;
        _cleanup_json_ json_t *body = json_loads(rows[i].text, 0, NULL), *out = NULL, *by = NULL;
        struct patch patch = {.kind = PATCH_JSON, .body = body, .text = view_of(rows[i].text)};
        assert_int_equal(patch_apply(&patch, live, &out, NULL, &failure, NULL),
                         rows[i].passes ? 0 : -1);
        patch.text = (struct view){0};
        assert_int_equal(patch_apply(&patch, live, &by, NULL, &failure, NULL), 0);
    }
}

/* ---- limits ---- */

static json_t *operations(const char *one, int n) {
    _cleanup_json_ json_t *op = js(one);
    json_t *all = json_array();
    for (int i = 0; i < n; i++)
        json_array_append(all, op);
    return all;
}

static void refused(const json_t *live, const json_t *body, const char *why) {
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    json_t *out = NULL;
    struct patch patch = {.kind = PATCH_JSON, .body = body};
    assert_int_equal(patch_apply(&patch, live, &out, NULL, &failure, &err), -1);
    assert_int_equal(failure.code, 422);
    if (strncmp(err_msg(&err), why, strlen(why)) != 0)
        fail_msg("%s instead of %s", err_msg(&err), why);
}

/* Each copy doubles the document: 2^10000 bytes are asked for. */
static void test_doubling(void **state) {
    (void)state;
    _cleanup_json_ json_t *live = js("{'a':[1,2,3,4,5,6,7,8]}");
    _cleanup_json_ json_t *body =
        operations("{'op':'copy','from':'/a','path':'/a/-'}", PATCH_MAX_OPERATIONS);
    refused(live, body, "Unable to complete the copy, the accumulated size increase of copy is ");
}

/* Each operation puts the document one level deeper. Nothing recurses without end in it. */
static void test_nesting(void **state) {
    (void)state;
    _cleanup_json_ json_t *live = js("{'a':{}}");
    _cleanup_json_ json_t *body = json_array();
    for (int i = 0; i < JSON_PARSER_MAX_DEPTH - 2; i++) {
        json_array_append_new(body, js("{'op':'move','from':'/a','path':'/b'}"));
        json_array_append_new(body, js("{'op':'add','path':'/a','value':{}}"));
        json_array_append_new(body, js("{'op':'move','from':'/b','path':'/a/a'}"));
    }
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    _cleanup_json_ json_t *out = NULL, *again = NULL;
    struct patch patch = {.kind = PATCH_JSON, .body = body};
    assert_int_equal(patch_apply(&patch, live, &out, NULL, &failure, NULL), 0);
    /* as deep as can be read again, and no deeper */
    _cleanup_free_ char *text = json_dumps(out, JSON_COMPACT);
    again = json_loads(text, 0, NULL);
    assert_non_null(again);
    for (size_t i = 0; i < 3; i++)
        json_array_append(body, json_array_get(body, i));
    refused(live, body, "error in move for path: '/a/a': exceeded max depth");
    for (size_t i = 0; i < 3; i++)
        json_array_remove(body, json_array_size(body) - 1);
    _cleanup_str_ struct str leaf = STR_INIT;
    for (int i = 0; i < JSON_PARSER_MAX_DEPTH; i++)
        str_add(&leaf, "/a");
    json_array_append_new(
        body, json_pack("{s:s,s:s,s:i}", "op", "add", "path", str_get(&leaf), "value", 1));
    _cleanup_free_ char *too_deep =
        xasprintf("error in add for path: '%s': exceeded max depth", str_get(&leaf));
    refused(live, body, too_deep);

    /* by copies: twice as deep each time */
    _cleanup_str_ struct str path = STR_INIT;
    _cleanup_json_ json_t *copies = json_array();
    for (int i = 0; i < 12; i++) {
        json_t *op = js("{'op':'copy','from':'/a'}");
        str_reset(&path);
        str_add(&path, "/a");
        for (int k = 0; k < 1 << i; k++)
            str_add(&path, "/a");
        json_object_set_new(op, "path", json_string(str_get(&path)));
        json_array_append_new(copies, op);
    }
    refused(live, copies, "error while adding value during copy: exceeded max depth");
    _cleanup_json_ json_t *deepest = js("[{'op':'replace','path':'/a/a','value':{}}]");
    json_t *nested = json_object_get(json_array_get(deepest, 0), "value");
    for (int i = 0; i < JSON_PARSER_MAX_DEPTH - 1; i++) {
        json_object_set_new(nested, "a", json_object());
        nested = json_object_get(nested, "a");
    }
    refused(live, deepest, "exceeded max depth");
}

/* A list of a million items that loses its first, again and again. */
static void test_shifting(void **state) {
    (void)state;
    _cleanup_json_ json_t *live = js("{'a':[]}"), *out = NULL;
    _cleanup_json_ json_t *body = operations("{'op':'remove','path':'/a/0'}", 200);
    for (int i = 0; i < 1 << 20; i++)
        json_array_append_new(json_object_get(live, "a"), json_null());
    refused(live, body, "error in remove for path: '/a/0': too many items of lists to move");
    /* at its end it costs nothing */
    _cleanup_json_ json_t *last = operations("{'op':'remove','path':'/a/-1'}", 200);
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    struct patch patch = {.kind = PATCH_JSON, .body = last};
    assert_int_equal(patch_apply(&patch, live, &out, NULL, &failure, NULL), 0);
    assert_int_equal(json_array_size(json_object_get(out, "a")), (1 << 20) - 200);
}

/* Go writes maps in the order of their names, and so it writes whatever it has looked into; what it
 * has only handed on stays as it was sent. */
static void test_order(void **state) {
    (void)state;
    _cleanup_json_ json_t *live = js("{'m':{'z':1,'a':{'y':1,'b':1}},'l':[{'q':1,'p':1}],'c':1}");
    _cleanup_json_ json_t *body = js("[{'op':'add','path':'/m/n','value':{'k':1,'j':2}},"
                                     "{'op':'add','path':'/l/0/o','value':1},"
                                     "{'op':'copy','from':'/m/z','path':'/b'}]");
    _cleanup_json_ json_t *out = NULL;
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    struct patch patch = {.kind = PATCH_JSON, .body = body};
    assert_int_equal(patch_apply(&patch, live, &out, NULL, &failure, NULL), 0);
    _cleanup_free_ char *text = json_dumps(out, JSON_COMPACT);
    assert_string_equal(text, "{\"b\":1,\"c\":1,\"l\":[{\"o\":1,\"p\":1,\"q\":1}],"
                              "\"m\":{\"a\":{\"y\":1,\"b\":1},\"n\":{\"k\":1,\"j\":2},"
                              "\"z\":1}}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),    cmocka_unit_test(test_rfc6902),
        cmocka_unit_test(test_generous), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_crashes),  cmocka_unit_test(test_notes),
        cmocka_unit_test(test_text),     cmocka_unit_test(test_doubling),
        cmocka_unit_test(test_nesting),  cmocka_unit_test(test_shifting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
