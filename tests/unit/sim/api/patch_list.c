/* Tests of sim/api/patch_list. The orders were compared with apimachinery's strategicpatch. */
#include "patch_check.h"

static void test_type(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        int rc;
        const char *why; /* or the item */
    } rows[] = {
        {"[]", "['x']", 0, "'x'"},
        {"[1]", "[2,3]", 0, "1"},
        {"[true]", "[false]", 0, "true"},
        {"[]", "[]", PATCH_BROKEN, "no elements in any of the given slices"},
        {"[1]", "[1.5]", PATCH_BROKEN, "list element types are not identical: [[1] [1.5]]"},
        {"['a',{'b':1}]", "[]", PATCH_BROKEN,
         "list element types are not identical: [[a map[b:1]] []]"},
        {"['a']", "[null]", PATCH_BROKEN, "list element types are not identical: [[a] [<nil>]]"},
        {"[['a']]", "[]", PATCH_UNFIT, "lists of lists are not supported"},
        {"[null]", "['a']", PATCH_CRASH,
         "runtime error: invalid memory address or nil pointer dereference"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_json_ json_t *a = js(rows[i].a), *b = js(rows[i].b);
        _cleanup_err_ struct err err = ERR_INIT;
        const json_t *item = NULL;
        assert_int_equal(list_type(a, b, &item, &err), -rows[i].rc);
        if (rows[i].rc)
            assert_string_equal(err_msg(&err), rows[i].why);
        else
            assert_json(item, rows[i].why);
    }
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_json_ json_t *mixed = js("['a',1]");
    const json_t *item;
    assert_int_equal(list_type(NULL, mixed, &item, &err), -PATCH_BROKEN);
    assert_string_equal(err_msg(&err), "list element types are not identical: [[] [a 1]]");
}

static void test_same_item(void **state) {
    (void)state;
    static const struct {
        const char *a, *b, *key;
        int rc;
        const char *result;
    } rows[] = {
        {"1", "1", "", 0, "same"},
        {"1", "1.0", "", 0, "different"},
        {"'1'", "1", "", 0, "different"},
        {"{}", "[]", "", 0, "different"},
        {"{'k':1,'a':2}", "{'k':1}", "k", 0, "same"},
        {"{'k':null}", "{'k':null}", "k", 0, "same"},
        {"{'k':1}", "{'k':true}", "k", 0, "different"},
        {"{'k':{}}", "{'k':[]}", "k", 0, "different"},
        {"{'a':1}", "{'k':1}", "k", PATCH_BROKEN,
         "map: map[a:1] does not contain declared merge key: k"},
        {"{'k':1}", "{}", "k", PATCH_BROKEN, "map: map[] does not contain declared merge key: k"},
        {"'x'", "{}", "k", PATCH_BROKEN,
         "expected a map[string]interface {}, but received a string"},
        {"{}", "null", "k", PATCH_BROKEN,
         "expected a map[string]interface {}, but received a %!s(<nil>)"},
        {"{}", "{}", "", PATCH_CRASH,
         "runtime error: comparing uncomparable type map[string]interface {}"},
        {"{'k':[1]}", "{'k':[2]}", "k", PATCH_CRASH,
         "runtime error: comparing uncomparable type []interface {}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_json_ json_t *a = js(rows[i].a), *b = js(rows[i].b);
        _cleanup_err_ struct err err = ERR_INIT;
        bool same = false;
        assert_int_equal(list_same_item(a, b, rows[i].key, &same, &err), -rows[i].rc);
        assert_string_equal(rows[i].rc ? err_msg(&err)
                            : same     ? "same"
                                       : "different",
                            rows[i].result);
    }
}

static void test_index(void **state) {
    (void)state;
    static const struct {
        const char *list, *key, *value;
        int rc;
        long index;
    } rows[] = {
        {"['a','b','a']", "", "'a'", 0, 0},
        {"['a','b','a']", "", "'b'", 0, 1},
        {"['a','b','a']", "", "'c'", 0, -1},
        {"[]", "", "'c'", 0, -1},
        /* each type has its own values */
        {"['1',1,1.0,true,null]", "", "1", 0, 1},
        {"['1',1,1.0,true,null]", "", "1.0", 0, 2},
        {"['t','f','n',true,false,null]", "", "null", 0, 5},
        {"['t','f','n',true,false,null]", "", "false", 0, 4},
        {"['i1','s','r0x1p+0',1]", "", "1", 0, 3},
        {"[0.0]", "", "-0.0", 0, 0},
        {"['a\\u0000b','a']", "", "'a'", 0, 1},
        {"[{'k':1},{'k':2},{},{'k':2}]", "k", "2", 0, 1},
        /* a missing key is not null */
        {"[{},{'k':null}]", "k", "null", 0, 1},
        {"[{'k':1},'x',{'k':2}]", "k", "1", 0, 0},
        {"[{'k':1},'x',{'k':2}]", "k", "2", PATCH_BROKEN, 0},
        {"[{'k':1},'x',{'k':2}]", "k", "3", PATCH_BROKEN, 0},
        {"[{'k':1}]", "k", "{}", 0, -1},
        {"[{'k':1},{'k':[]}]", "k", "{}", 0, -1},
        {"[{'k':1},{'k':{}}]", "k", "{}", PATCH_CRASH, 0},
        {"[{'k':1},{'k':[]}]", "k", "[1]", PATCH_CRASH, 0},
        {"['x',{'k':[]}]", "k", "[1]", PATCH_BROKEN, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_json_ json_t *list = js(rows[i].list), *value = js(rows[i].value);
        _cleanup_err_ struct err err = ERR_INIT;
        struct list_index index;
        long found = -2;
        list_index_init(&index, list, rows[i].key);
        assert_int_equal(list_index_find(&index, value, &found, &err), -rows[i].rc);
        if (!rows[i].rc)
            assert_int_equal(found, rows[i].index);
        list_index_done(&index);
    }
    /* it grows with its list */
    _cleanup_json_ json_t *list = js("[{'k':1}]"), *more = js("{'k':2}"), *value = js("2");
    struct list_index index;
    long found = -2;
    list_index_init(&index, list, "k");
    list_index_add(&index, more);
    assert_int_equal(list_index_find(&index, value, &found, NULL), 0);
    assert_int_equal(found, 1);
    list_index_done(&index);
}

static void split_and_arrange(const char *merged, const char *wanted, const char *live,
                              const char *key, int rc, const char *expected) {
    _cleanup_json_ json_t *m = js(merged), *w = js(wanted), *l = js(live), *inside = NULL;
    _cleanup_json_ json_t *others = NULL, *out = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    int got = list_split(m, w, key, &inside, &others, &err);
    if (!got) {
        assert_int_equal(json_array_size(inside) + json_array_size(others), json_array_size(m));
        got = list_arrange(inside, others, w, l, key, *key, &out, &err);
    }
    if (rc) {
        assert_string_equal(err_msg(&err), expected);
        assert_null(out);
    } else {
        assert_json(out, expected);
    }
    assert_int_equal(got, -rc);
}

static void test_order(void **state) {
    (void)state;
    static const char *const rows[][4] = {
        /* merged, wanted, live, what it gives */
        {"['a','b','c']", "['c','b','a']", "['a','b','c']", "['c','b','a']"},
        {"['a','b','c']", "[]", "['a','b','c']", "['a','b','c']"},
        {"[]", "['a']", "['b']", "[]"},
        /* what only the live list has keeps its neighbours as far as it can */
        {"['a','s','b','t']", "['a','b']", "['a','s','b','t']", "['a','s','b','t']"},
        {"['a','s','b','t']", "['b','a']", "['a','s','b','t']", "['s','b','a','t']"},
        {"['s','a','b']", "['b','a']", "['s','a','b']", "['s','b','a']"},
        /* what is new and unknown to the live list stands before what follows it */
        {"['a','s','n']", "['n','a']", "['a','s']", "['n','a','s']"},
        {"['s','n']", "['n']", "['s']", "['n','s']"},
        /* others that are nowhere: each passes those before it */
        {"['x','y','z']", "[]", "[]", "['z','y','x']"},
        {"['x','a','b']", "[]", "['a','b']", "['a','b','x']"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        split_and_arrange(rows[i][0], rows[i][1], rows[i][2], "", 0, rows[i][3]);
    split_and_arrange("[{'k':1,'v':1},{'k':2},{'k':3}]", "[{'k':3},{'k':1}]",
                      "[{'k':1},{'k':2},{'k':3}]", "k", 0, "[{'k':2},{'k':3},{'k':1,'v':1}]");
    /* doomed ones go last */
    split_and_arrange("[{'k':1,'$patch':'delete'},{'k':2},{'k':3}]", "[{'k':1},{'k':2}]",
                      "[{'k':1},{'k':2},{'k':3}]", "k", 0,
                      "[{'k':2},{'k':1,'$patch':'delete'},{'k':3}]");
}

static void test_order_errors(void **state) {
    (void)state;
    split_and_arrange("['a']", "[{}]", "[]", "", PATCH_CRASH,
                      "runtime error: hash of unhashable type map[string]interface {}");
    split_and_arrange("[['a']]", "[]", "[]", "", PATCH_CRASH,
                      "runtime error: hash of unhashable type []interface {}");
    split_and_arrange("[{'a':1}]", "[]", "[]", "k", PATCH_BROKEN,
                      "map: map[a:1] does not contain declared merge key: k");
    split_and_arrange("['x']", "[]", "[]", "k", PATCH_BROKEN,
                      "expected a map[string]interface {}, but received a string");
    split_and_arrange("[{'k':2}]", "[{'k':1},5]", "[]", "k", PATCH_BROKEN,
                      "value for key 1 is not a map");
    split_and_arrange("[{'k':1}]", "[{'k':1},5]", "[]", "k", PATCH_BROKEN,
                      "expected a map[string]interface {}, but received a int64");
    split_and_arrange("[{'k':1}]", "[{'k':1}]", "[{}]", "k", PATCH_BROKEN,
                      "map: map[] does not contain declared merge key: k");
    split_and_arrange("[{'k':{}}]", "[]", "[{'k':{}}]", "k", 0, "[{'k':{}}]");
    /* what is not in the list is not compared any further */
    split_and_arrange("[{'k':{}},{'k':1}]", "[]", "[{'k':{}}]", "k", 0, "[{'k':1},{'k':{}}]");
    split_and_arrange("[{'k':1},{'k':{}}]", "[]", "[{'k':{}}]", "k", PATCH_CRASH,
                      "runtime error: comparing uncomparable type");
}

/* Long lists go through the merging of runs: any order of distinct items comes out sorted. */
static void test_long(void **state) {
    (void)state;
    enum { N = 500 };
    for (size_t n = 1; n < N; n += 1 + n / 4) {
        _cleanup_json_ json_t *live = json_array(), *merged = json_array(), *none = json_array();
        _cleanup_json_ json_t *out = NULL;
        for (size_t i = 0; i < n; i++) {
            json_array_append_new(live, json_integer((json_int_t)i));
            /* 307 is prime: a permutation for every n below it, repeated items above */
            json_array_append_new(merged, json_integer((json_int_t)(i * 307 % n)));
        }
        assert_int_equal(list_arrange(none, merged, none, live, "", false, &out, NULL), 0);
        assert_int_equal(json_array_size(out), n);
        for (size_t i = 1; i < n; i++)
            assert_true(json_integer_value(json_array_get(out, i - 1)) <=
                        json_integer_value(json_array_get(out, i)));
    }
}

/* Equal ones stay as they came. */
static void test_stable(void **state) {
    (void)state;
    enum { N = 300, KEYS = 7 };
    _cleanup_json_ json_t *order = json_array(), *items = json_array(), *none = json_array();
    _cleanup_json_ json_t *out = NULL;
    for (int i = 0; i < KEYS; i++)
        json_array_append_new(order, json_pack("{s:i}", "k", i));
    for (int i = 0; i < N; i++)
        json_array_append_new(items, json_pack("{s:i,s:i}", "k", (i * 5 + i / 9) % KEYS, "n", i));
    assert_int_equal(list_arrange(items, none, order, none, "k", true, &out, NULL), 0);
    for (size_t i = 1; i < N; i++) {
        const json_t *a = json_array_get(out, i - 1), *b = json_array_get(out, i);
        json_int_t ka = json_integer_value(json_object_get(a, "k"));
        json_int_t kb = json_integer_value(json_object_get(b, "k"));
        assert_true(ka < kb || (ka == kb && json_integer_value(json_object_get(a, "n")) <
                                                json_integer_value(json_object_get(b, "n"))));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_type),         cmocka_unit_test(test_same_item),
        cmocka_unit_test(test_index),        cmocka_unit_test(test_order),
        cmocka_unit_test(test_order_errors), cmocka_unit_test(test_long),
        cmocka_unit_test(test_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
