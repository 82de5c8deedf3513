/* Tests of api/strategy_labels: labels, annotations, selectors. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_labels");
}

static void expect_match(const char *selector, const char *labels, bool matches) {
    _cleanup_json_ json_t *s = expect_json(selector), *l = expect_json(labels);
    if (label_selector_matches(s, l) != matches)
        fail_msg("%s and %s", selector, labels);
}

static void test_matches(void **state) {
    _cleanup_json_ json_t *labels = expect_json("{'a':'1'}");
    (void)state;
    assert_false(label_selector_matches(NULL, labels));
    expect_match("{}", "{}", true);
    expect_match("{}", "{'a':'1'}", true);
    expect_match("{'matchLabels':{'a':'1'}}", "{'a':'1','b':'2'}", true);
    expect_match("{'matchLabels':{'a':'1','c':'3'}}", "{'a':'1','b':'2'}", false);
    expect_match("{'matchLabels':{'a':''}}", "{}", false);
    expect_match("{'matchExpressions':[{'key':'a','operator':'In','values':['1','2']}]}",
                 "{'a':'2'}", true);
    expect_match("{'matchExpressions':[{'key':'a','operator':'In','values':['1','2']}]}", "{}",
                 false);
    expect_match("{'matchExpressions':[{'key':'a','operator':'NotIn','values':['1']}]}", "{}",
                 true);
    expect_match("{'matchExpressions':[{'key':'a','operator':'NotIn','values':['1']}]}",
                 "{'a':'1'}", false);
    expect_match("{'matchExpressions':[{'key':'a','operator':'Exists'}]}", "{'a':''}", true);
    expect_match("{'matchExpressions':[{'key':'a','operator':'DoesNotExist'}]}", "{'a':''}", false);
    expect_match("{'matchLabels':{'a':'1'},'matchExpressions':[{'key':'b','operator':'Exists'}]}",
                 "{'a':'1'}", false);
}

static void test_selectors(void **state) {
    _cleanup_json_ json_t *v = expect_json(
        "{'matchExpressions':[{'key':'a','operator':'In'},{'key':'','operator':'Exists',"
        "'values':['x']},{'key':'c','operator':'Gt','values':['a b']}]}");
    struct field_errors e = {0};
    struct at root = at_root(NULL), at = at_named(&root, "selector", v);
    (void)state;
    check_label_selector(&e, &at, true);
    assert_int_equal(e.v.len, 5);
    assert_string_equal(e.v.p[0].body,
                        "Required value: must be specified when `operator` is 'In' or 'NotIn'");
    assert_string_equal(e.v.p[1].field, "selector.matchExpressions[1].values");
    assert_string_equal(e.v.p[1].body, "Forbidden: may not be specified when `operator` is "
                                       "'Exists' or 'DoesNotExist'");
    assert_string_equal(e.v.p[2].body, "Invalid value: \"\": name part must be non-empty");
    assert_string_equal(e.v.p[4].body, "Invalid value: \"Gt\": not a valid selector operator");
    field_errors_done(&e);
    assert_false(label_selector_valid(v));
    assert_true(label_selector_valid(NULL));
    assert_true(label_selector_has_bad_value(v));
}

/* TotalAnnotationSizeLimitB: keys count, too. */
static void test_annotation_size(void **state) {
    enum { MOST = 256 * 1024 };
    _cleanup_free_ char *value = xmalloc(MOST + 1);
    (void)state;
    memset(value, 'x', MOST);
    for (int over = 0; over < 2; over++) {
        value[MOST - 3 + over] = '\0';
        _cleanup_json_ json_t *v = json_pack("{s:s}", "key", value);
        struct field_errors e = {0};
        struct at root = at_root(NULL), at = at_named(&root, "annotations", v);
        check_annotations(&e, &at);
        expect_errors(&e, over ? "annotations: Too long: may not be more than 262144 bytes" : "");
        value[MOST - 3 + over] = 'x';
    }
}

/* Keys of annotations may have capital letters before the slash; those of labels may not. */
static void test_keys(void **state) {
    _cleanup_json_ json_t *v = expect_json("{'Example.com/a':'x'}");
    struct field_errors e = {0};
    struct at root = at_root(NULL), at = at_named(&root, "m", v);
    (void)state;
    check_annotations(&e, &at);
    expect_errors(&e, "");
    check_labels(&e, &at);
    assert_int_equal(e.v.len, 1);
    field_errors_done(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),  cmocka_unit_test(test_matches),
        cmocka_unit_test(test_selectors), cmocka_unit_test(test_annotation_size),
        cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
