/* Tests of sim/api/patch_value. */
#include "patch_check.h"

static const char everything[] = "{'a':[1,-1.5,'x\\u0000y',true,false,null,[],{}],'b':{'c':null}}";

static void test_copy(void **state) {
    (void)state;
    _cleanup_json_ json_t *v = js(everything), *copy = value_copy(v);
    assert_json(copy, everything);
    /* nothing is shared */
    json_array_clear(json_object_get(copy, "a"));
    json_object_clear(json_object_get(copy, "b"));
    json_object_clear(copy);
    assert_json(v, everything);
    _cleanup_json_ json_t *scalar = js("'x'"), *other = value_copy(scalar);
    assert_ptr_not_equal(scalar, other);
    assert_true(json_equal(scalar, other));
}

/* Members stand in the order in which they stood. */
static void test_order(void **state) {
    (void)state;
    _cleanup_json_ json_t *v = js("{'z':1,'a':2,'m':{'y':1,'b':2}}"), *copy = value_copy(v);
    _cleanup_free_ char *text = json_dumps(copy, JSON_COMPACT);
    assert_string_equal(text, "{\"z\":1,\"a\":2,\"m\":{\"y\":1,\"b\":2}}");
}

static void test_pruned(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"{'a':null}", "{}"},
        {"[null,{'a':null,'b':[{'c':null}]}]", "[null,{'b':[{}]}]"},
        {"{'a':{'b':null}}", "{'a':{}}"},
        {"null", "null"},
        {"'x'", "'x'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_json_ json_t *v = js(rows[i][0]), *copy = value_copy_pruned(v);
        assert_json(copy, rows[i][1]);
        assert_json(v, rows[i][0]);
    }
}

static void test_sorted(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        {"{'b':1,'a':{'d':1,'c':2}}", "{'a':{'d':1,'c':2},'b':1}", "{'a':{'c':2,'d':1},'b':1}"},
        {"{'ab':1,'a':2,'B':[{'y':1,'x':2}],'':3,'\xc3\xa4':4}",
         "{'':3,'B':[{'y':1,'x':2}],'a':2,'ab':1,'\xc3\xa4':4}",
         "{'':3,'B':[{'x':2,'y':1}],'a':2,'ab':1,'\xc3\xa4':4}"},
        {"{}", "{}", "{}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_json_ json_t *v = js(rows[i][0]);
        for (int all = 0; all < 2; all++) {
            _cleanup_json_ json_t *want = js(rows[i][1 + all]);
            if (all)
                value_sort_all(v);
            else
                value_sort(v);
            _cleanup_free_ char *text = json_dumps(v, JSON_COMPACT);
            _cleanup_free_ char *wanted = json_dumps(want, JSON_COMPACT);
            assert_string_equal(text, wanted);
        }
    }
    _cleanup_json_ json_t *scalar = json_integer(7);
    value_sort_all(scalar);
    assert_json(scalar, "7");
}

static void test_depth(void **state) {
    (void)state;
    static const struct {
        const char *value;
        size_t depth;
    } rows[] = {{"1", 1},
                {"null", 1},
                {"[]", 1},
                {"[1]", 2},
                {"{'a':[{}],'b':1}", 3},
                {"[1,[2,[3]],4]", 4}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_json_ json_t *v = js(rows[i].value);
        assert_int_equal(value_depth(v), rows[i].depth);
    }
    assert_int_equal(value_depth(NULL), 1);
    /* as deep as can be, and in time: each level is looked at once */
    _cleanup_json_ json_t *deep = json_array();
    for (int i = 1; i < JSON_PARSER_MAX_DEPTH; i++) {
        json_t *outer = json_array();
        json_array_append_new(outer, deep);
        deep = outer;
    }
    assert_int_equal(value_depth(deep), JSON_PARSER_MAX_DEPTH);
    _cleanup_json_ json_t *copy = value_copy(deep);
    assert_true(json_equal(copy, deep));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy),   cmocka_unit_test(test_order), cmocka_unit_test(test_pruned),
        cmocka_unit_test(test_sorted), cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
