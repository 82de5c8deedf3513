/* Tests of cli/jsonpath: what templates print. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "cli/jsonpath.h"

static const char document[] =
    "{\"kind\":\"List\",\"count\":2,\"ratio\":0.5,\"none\":null,"
    "\"labels\":{\"app.kubernetes.io/name\":\"web\",\"b\":\"x\"},"
    "\"items\":["
    "{\"name\":\"n1\",\"ready\":true,\"pods\":10,\"roles\":[\"a\",\"b\"],\"zone\":\"z1\"},"
    "{\"name\":\"n2\",\"ready\":false,\"pods\":3,\"roles\":[],\"deep\":{\"name\":\"inner\"}},"
    "{\"name\":\"n3\",\"ready\":true,\"pods\":7,\"zone\":\"n3\"}]}";

static void assert_prints(const char *text, const char *want) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_str_ struct str out = STR_INIT;
    const struct jsonpath *path;
    json_t *doc = json_loads(document, 0, NULL);
    assert_non_null(doc);
    if (jsonpath_parse(text, &arena, &path, &err))
        fail_msg("%s: %s", text, err_msg(&err));
    jsonpath_print(path, doc, &out);
    assert_string_equal(str_get(&out), want);
    json_decref(doc);
}

static void fields(void **state) {
    (void)state;
    assert_prints("{.kind}", "List");
    assert_prints("{$.kind}", "List");
    assert_prints("{@.kind}", "List");
    assert_prints("{['kind']}", "List");
    assert_prints("{.['kind']}", "List");
    assert_prints("{ .kind }", "List");
    assert_prints("{.labels['app.kubernetes.io/name']}", "web");
    assert_prints("{.labels.app\\.kubernetes\\.io/name}", "web");
    assert_prints(".items[0].name", "n1"); /* no braces: one path */
    assert_prints("{.count}", "2");
    assert_prints("{.ratio}", "0.5");
    assert_prints("{.items[1].ready}", "false");
    assert_prints("{.none}", "null");
    assert_prints("{.items[1].deep}", "{\"name\":\"inner\"}");
    assert_prints("{.items[0].roles}", "[\"a\",\"b\"]");
}

static void nowhere(void **state) {
    (void)state;
    assert_prints("[{.nothing}]", "[]");
    assert_prints("[{.kind.nothing}]", "[]");
    assert_prints("[{.items[9].name}]", "[]");
    assert_prints("[{.items[-9].name}]", "[]");
    assert_prints("[{.kind[0]}]", "[]");
    assert_prints("[{.items.name}]", "[]");
    assert_prints("[{.count[*]}]", "[]");
}

static void indexes(void **state) {
    (void)state;
    assert_prints("{.items[-1].name}", "n3");
    assert_prints("{.items[*].name}", "n1 n2 n3");
    assert_prints("{.items.*.name}", "n1 n2 n3");
    assert_prints("{.labels.*}", "web x");
    assert_prints("{.items[0:2].name}", "n1 n2");
    assert_prints("{.items[1:].name}", "n2 n3");
    assert_prints("{.items[:-1].name}", "n1 n2");
    assert_prints("{.items[::2].name}", "n1 n3");
    assert_prints("{.items[5:9].name}|", "|");
    assert_prints("{.items[-99:99].name}", "n1 n2 n3");
    assert_prints("{.items[0,2].name}", "n1 n3");
    assert_prints("{.items[0]['name','zone']}", "n1 z1");
    assert_prints("{.items[0:2147483647:2147483647].name}", "n1");
}

static void descent(void **state) {
    (void)state;
    assert_prints("{..name}", "n1 n2 n3 inner");
    assert_prints("{.items[1]..name}", "n2 inner");
    assert_prints("{..['zone']}", "z1 n3");
    assert_prints("{..roles[0]}", "a");
}

static void filters(void **state) {
    (void)state;
    assert_prints("{.items[?(@.ready==false)].name}", "n2");
    assert_prints("{.items[?(@.ready != true)].name}", "n2");
    assert_prints("{.items[?(@.pods>3)].name}", "n1 n3");
    assert_prints("{.items[?(@.pods>=7)].name}", "n1 n3");
    assert_prints("{.items[?(@.pods<=3)].name}", "n2");
    assert_prints("{.items[?(5<@.pods)].name}", "n1 n3");
    assert_prints("{.items[?(@.name==\"n2\")].pods}", "3");
    assert_prints("{.items[?(@.name=='n2')].pods}", "3");
    assert_prints("{.items[?(@.name>\"n1\")].name}", "n2 n3");
    assert_prints("{.items[?(@.deep)].name}", "n2");
    assert_prints("{.items[?(@.zone==@.name)].name}", "n3");
    assert_prints("{.items[?(@.pods==$.count)].name}|", "|");
    /* Different types are never equal, and not in any order. */
    assert_prints("{.items[?(@.pods==\"10\")].name}|", "|");
    assert_prints("{.items[?(@.pods!=\"10\")].name}", "n1 n2 n3");
    assert_prints("{.items[?(@.name<5)].name}|", "|");
    assert_prints("{.items[?(1==1)].name}", "n1 n2 n3");
    assert_prints("{.items[?(\"a\"==1)].name}|", "|");
    assert_prints("{.*[?(@==\"x\")]}", "x");
}

static void templates(void **state) {
    (void)state;
    assert_prints("kind={.kind}{\"\\n\"}", "kind=List\n");
    assert_prints("{range .items[*]}{.name}{\"\\t\"}{.pods}{\"\\n\"}{end}",
                  "n1\t10\nn2\t3\nn3\t7\n");
    assert_prints("{range .items[*]}{.name}:{range .roles[*]}<{@}>{end} {end}.",
                  "n1:<a><b> n2: n3: .");
    assert_prints("{range .items[0:1]}{.name}/{$.kind}{end}", "n1/List");
    assert_prints("{range .nothing[*]}x{end}", "");
    assert_prints("{'single'} {\"double\"} {'it\\'s'}", "single double it's");
}

static void fractions(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    json_t *doc = json_loads("{\"seconds\":70.597,\"list\":[70.597]}", 0, NULL);
    jsonpath_print_value(json_object_get(doc, "seconds"), &out);
    jsonpath_print_value(json_object_get(doc, "list"), &out);
    assert_string_equal(str_get(&out), "70.597[70.597]");
    json_decref(doc);
}

static void values(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    const struct jsonpath *path;
    json_t *doc = json_loads(document, 0, NULL);
    struct jsonpath_values v = VEC_INIT;
    assert_int_equal(jsonpath_parse("text {.items[*].pods} {.kind}", &arena, &path, NULL), 0);
    jsonpath_values(path, doc, &v);
    assert_int_equal(v.len, 4);
    assert_int_equal(json_integer_value(v.p[0]), 10);
    assert_string_equal(json_string_value(v.p[3]), "List");
    vec_done(&v);
    json_decref(doc);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields),  cmocka_unit_test(nowhere),   cmocka_unit_test(indexes),
        cmocka_unit_test(descent), cmocka_unit_test(filters),   cmocka_unit_test(templates),
        cmocka_unit_test(values),  cmocka_unit_test(fractions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
