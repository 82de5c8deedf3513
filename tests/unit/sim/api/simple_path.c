/* Simple JSON paths. */
#include "sim/api/simple_path.h"

#include <errno.h>

#include "structural_test.h"

static const char object[] =
    "{'metadata':{'labels':{'a.b/c':'x'}},'spec':{'n':3,'list':[{'k':'a','v':1,'deep':{'er':true}},"
    "{'k':'b','v':2,'x':0},{'k':'c','v':2.5}],'text':'t','null':null,'map':{'p':1}}}";

static void finds(const char *path, const char *wanted) {
    struct simple_path *p;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_json_ json_t *obj = J(object);
    if (simple_path_compile(path, &p, &err))
        fail_msg("%s", err_msg(&err));
    const json_t *found = simple_path_find(p, obj);
    if (wanted)
        assert_json(found, wanted);
    else
        assert_null(found);
    simple_path_free(p);
}

static void test_finds(void **state) {
    (void)state;
    finds(".spec.n", "3");
    finds("{.spec.n}", "3");
    finds("$.spec.n", "3");
    finds(".spec['n']", "3");
    finds(".spec[\"n\"]", "3");
    finds(".metadata.labels.a\\.b/c", "'x'");
    finds(".metadata.labels['a.b/c']", "'x'");
    finds(".spec.list[0].k", "'a'");
    finds(".spec.list[-1].k", "'c'");
    finds(".spec.list[*].v", "1");
    finds(".spec.map.*", "1");
    finds(".spec.list[1:].k", "'b'");
    finds(".spec.list[-2:-1].k", "'b'");
    finds(".spec.list[?(@.k==\"b\")].v", "2");
    finds(".spec.list[?(@.k == 'b')].v", "2");
    finds(".spec.list[?(@.v>1)].k", "'b'");
    finds(".spec.list[?(@.x)].k", "'b'");
    finds(".spec.list[?(@.k!=\"a\")].k", "'b'");
    finds(".spec.list[?(@.deep.er==true)].k", "'a'");
    finds(".spec.null", "null");
    finds(".spec.list[?(@.k>=\"b\")].k", "'b'");
}

static void test_finds_nothing(void **state) {
    (void)state;
    static const char *const paths[] = {
        ".none",
        ".spec.n.x",
        ".spec.list[9]",
        ".spec.list[-9]",
        ".spec.text[0]",
        ".spec.list.k",
        ".spec.list[?(@.v==\"2\")].k", /* a number is no text: an error of the whole */
        ".spec.map[?(@.p==1)]",
        ".spec.list[?(@.none==1)].k",
        ".spec.list[0:9].k",
        ".spec.list[?(@.v<1)].k"};
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        finds(paths[i], NULL);
}

static void test_the_object_itself(void **state) {
    (void)state;
    struct simple_path *p;
    _cleanup_json_ json_t *obj = J(object);
    assert_int_equal(simple_path_compile(".", &p, NULL), 0);
    assert_ptr_equal(simple_path_find(p, obj), obj);
    simple_path_free(p);
}

static void refused(const char *path, const char *why) {
    struct simple_path *p = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(simple_path_compile(path, &p, &err), -EINVAL);
    assert_null(p);
    assert_string_equal(err_msg(&err), why);
}

static void test_refused(void **state) {
    (void)state;
    refused("", "JSON path \"\", column 1: it is empty");
    refused("spec", "JSON path \"spec\", column 1: a dot or a bracket is missing");
    refused("..a", "JSON path \"..a\", column 2: recursive descent (..) is not simple");
    refused(".a[",
            "JSON path \".a[\", column 4: an index, a quoted name, * or a filter is missing");
    refused(".a[0", "JSON path \".a[0\", column 5: the bracket does not end");
    refused(".a['x]", "JSON path \".a['x]\", column 7: the quoted text does not end");
    refused(".a[?(.k)]", "JSON path \".a[?(.k)]\", column 6: a filter begins with @");
    refused(".a[?(@.k==x)]",
            "JSON path \".a[?(@.k==x)]\", column 12: not a text, a number, true or false");
    refused(".a[?(@.k==[1])]",
            "JSON path \".a[?(@.k==[1])]\", column 14: not a text, a number, true or false");
    refused(".a[::0]", "JSON path \".a[::0]\", column 7: a step is a number above 0");
    refused(".a\\", "JSON path \".a\\\", column 4: a backslash at the end");
    struct str deep = STR_INIT;
    for (int i = 0; i < 1000; i++)
        str_add(&deep, ".a[?(@");
    struct simple_path *p;
    assert_int_equal(simple_path_compile(str_get(&deep), &p, NULL), -EINVAL);
    str_done(&deep);
    simple_path_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds),
        cmocka_unit_test(test_finds_nothing),
        cmocka_unit_test(test_the_object_itself),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
