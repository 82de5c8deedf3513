/* Cells that kinds have in common, through the kinds that use them. */
#include "sim/api/table_internal.h"
#include "table_expect.h"

static void expect_selector(const char *selector, const char *text) {
    _cleanup_json_ json_t *value = json_of(selector);
    _cleanup_str_ struct str out = STR_INIT;
    bool valid = label_selector_text(value, &out);
    assert_int_equal(valid, text != NULL);
    if (text)
        assert_string_equal(str_get(&out), text);
}

/* As labels.Selector.String() of apimachinery prints them: by key, values sorted. */
static void test_selector(void **state) {
    (void)state;
    static const struct {
        const char *selector, *text;
    } rows[] = {
        {"null", ""},
        {"{}", ""},
        {"{'matchLabels':{}}", ""},
        {"{'matchLabels':{'b':'2','a':'1','c.dev/x':''}}", "a=1,b=2,c.dev/x="},
        {"{'matchExpressions':[{'key':'b','operator':'In','values':['z','','a']},"
         "{'key':'a','operator':'NotIn','values':['x']}]}",
         "a notin (x),b in (,a,z)"},
        {"{'matchExpressions':[{'key':'z','operator':'Exists'},"
         "{'key':'a','operator':'DoesNotExist'},{'key':'b','operator':'Exists','values':[]}]}",
         "!a,b,z"},
        /* Equal keys: the label first, then the expressions in their order. */
        {"{'matchExpressions':[{'key':'a','operator':'In','values':['2']},"
         "{'key':'a','operator':'Exists'}],'matchLabels':{'a':'1'}}",
         "a=1,a in (2),a"},
        /* What is none. */
        {"{'matchExpressions':[{'key':'a','operator':'Gt','values':['2']}]}", NULL},
        {"{'matchExpressions':[{'key':'a','operator':'in','values':['2']}]}", NULL},
        {"{'matchExpressions':[{'key':'a','operator':'In','values':[]}]}", NULL},
        {"{'matchExpressions':[{'key':'a','operator':'NotIn'}]}", NULL},
        {"{'matchExpressions':[{'key':'a','operator':'Exists','values':['x']}]}", NULL},
        {"{'matchExpressions':[{'key':'a','operator':'In','values':['x y']}]}", NULL},
        {"{'matchExpressions':[{'key':'a','operator':'In','values':[7]}]}", NULL},
        {"{'matchExpressions':[{'key':'','operator':'Exists'}]}", NULL},
        {"{'matchExpressions':[{'operator':'Exists'}]}", NULL},
        {"{'matchExpressions':[7]}", NULL},
        {"{'matchLabels':{'a b':'1'}}", NULL},
        {"{'matchLabels':{'a':'-'}}", NULL},
        {"{'matchLabels':{'a':1}}", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_selector(rows[i].selector, rows[i].text);
}

static void test_at(void **state) {
    (void)state;
    _cleanup_json_ json_t *value = json_of("{'a':{'b':{'c':7}},'x':[1]}");
    assert_int_equal(json_integer_value(json_at(value, "a.b.c")), 7);
    assert_true(json_is_object(json_at(value, "a")));
    assert_null(json_at(value, "a.c"));
    assert_null(json_at(value, "a.b.c.d"));
    assert_null(json_at(value, "x.b"));
    assert_null(json_at(value, "aa"));
    assert_null(json_at(NULL, "a"));
}

/* Labels are sorted as "key=value", which is not the order of the keys. */
static void test_labels(void **state) {
    (void)state;
    expect_cells("", "Service",
                 "{'spec':{'type':'ClusterIP','selector':{'b':'2','a-b':'1','a':'3'}}}",
                 "['','ClusterIP','<none>','<none>','<none>','<unknown>','a-b=1,a=3,b=2']");
    expect_cells("", "Service", "{'spec':{'type':'ClusterIP','selector':{}}}",
                 "['','ClusterIP','<none>','<none>','<none>','<unknown>','<none>']");
}

static void test_sorted(void **state) {
    (void)state;
    static const struct {
        const char *list[4];
        size_t n;
        bool unique;
        const char *text;
    } rows[] = {
        {{0}, 0, true, "\"none\""},
        {{"a"}, 1, true, "\"a\""},
        {{"b", "a", "b", "a"}, 4, true, "\"a,b\""},
        {{"b", "a", "b", "a"}, 4, false, "\"a,a,b,b\""},
        {{"a", "B", "-"}, 3, true, "\"-,B,a\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_str_ struct str out = STR_INIT;
        struct jsonw w;
        jsonw_init(&w, &out, false);
        struct api_row row = {.w = &w};
        const char *list[4];
        memcpy(list, rows[i].list, sizeof list);
        cell_sorted(&row, list, rows[i].n, rows[i].unique, "none");
        assert_string_equal(str_get(&out), rows[i].text);
        str_done(&row.text);
    }
}

static void test_age(void **state) {
    (void)state;
    static const struct {
        const char *created, *age;
    } rows[] = {
        {"'2026-11-15T08:00:00Z'", "0s"},        {"'2026-11-15T07:58:01Z'", "119s"},
        {"'2026-11-15T07:58:00Z'", "2m"},        {"'2026-11-14T07:00:00Z'", "25h"},
        {"'2026-11-15T08:00:01Z'", "0s"},        {"'2026-11-15T09:00:00Z'", "<invalid>"},
        {"'2020-01-01T00:00:00Z'", "6y320d"},    {"null", "<unknown>"},
        {"'0001-01-01T00:00:00Z'", "<unknown>"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *object =
            xasprintf("{'metadata':{'name':'n','creationTimestamp':%s}}", rows[i].created);
        _cleanup_free_ char *cells = xasprintf("['n','%s']", rows[i].age);
        expect_cells("", "ServiceAccount", object, cells);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selector), cmocka_unit_test(test_at),  cmocka_unit_test(test_labels),
        cmocka_unit_test(test_sorted),   cmocka_unit_test(test_age),
    };
    return cmocka_run_group_tests_name("table_cells", tests, NULL, NULL);
}
