/* Tests of api/strategy_walk. */
#include "strategy_expect.h"

static void expect_path(const struct at *at, const char *child, const char *text) {
    _cleanup_str_ struct str out = STR_INIT;
    at_path(at, child, &out);
    assert_string_equal(str_get(&out), text);
}

static void test_paths(void **state) {
    _cleanup_json_ json_t *pod =
        expect_json("{'spec':{'containers':[{'name':'a'},{'name':'b','limits':{'a.b/c':'1'}}]}}");
    struct at root = at_root(pod), spec = at_child(&root, "spec");
    struct at list = at_child(&spec, "containers"), second = at_index(&list, 1);
    struct at limits = at_child(&second, "limits"), one = at_key(&limits, "a.b/c");
    (void)state;
    expect_path(&root, NULL, "");
    expect_path(&root, "spec", "spec");
    expect_path(&second, NULL, "spec.containers[1]");
    expect_path(&second, "name", "spec.containers[1].name");
    expect_path(&second, "", "spec.containers[1]");
    expect_path(&one, NULL, "spec.containers[1].limits[a.b/c]");
    assert_string_equal(json_string_value(one.v), "1");
}

/* What is not there, or of another type, is nothing. */
static void test_nothing(void **state) {
    _cleanup_json_ json_t *v = expect_json("{'s':'x','n':3,'b':true,'l':[1,2],'o':{'a':1}}");
    struct at at = at_root(v), none = at_child(&at, "none"), deep = at_child(&none, "deeper");
    struct at beyond = at_index(&none, 5);
    int seen = 0;
    (void)state;
    assert_string_equal(at_str(&at, "s"), "x");
    assert_string_equal(at_str(&at, "n"), "");
    assert_string_equal(at_str(&deep, "s"), "");
    assert_int_equal(at_int(&at, "n"), 3);
    assert_int_equal(at_int(&at, "s"), 0);
    assert_true(at_bool(&at, "b"));
    assert_false(at_bool(&at, "n"));
    assert_int_equal(at_len(&at, "l"), 2);
    assert_int_equal(at_len(&at, "o"), 1);
    assert_int_equal(at_len(&at, "s"), 0);
    assert_null(beyond.v);
    assert_false(at_has(&deep, "x"));
    at_each(item, &none) seen++;
    assert_int_equal(seen, 0);
}

static void test_each(void **state) {
    _cleanup_json_ json_t *v = expect_json("[4,5,6]");
    struct at at = at_root(v);
    int64_t sum = 0;
    size_t indexes = 0;
    (void)state;
    at_each(item, &at) {
        if (json_integer_value(item.v) == 5)
            continue;
        sum += json_integer_value(item.v);
        indexes += item.index;
    }
    assert_int_equal(sum, 10);
    assert_int_equal(indexes, 2);
}

static void test_complaints(void **state) {
    _cleanup_json_ json_t *v = expect_json("{'spec':{'a':['x']}}"), *list = expect_json("['x']");
    struct field_errors e = {0};
    struct at root = at_root(v), spec = at_child(&root, "spec");
    static const char *const allowed[] = {"B", "A", NULL};
    _cleanup_json_ json_t *shown = json_string("C");
    (void)state;
    bad_required(&e, &spec, "name", "");
    bad_required(&e, &spec, "name", "say it");
    bad_forbidden(&e, &spec, NULL, "not %s", "now");
    bad_string(&e, &spec, "a.b", "q\"\n", "must be %d", 1);
    bad_int(&e, &spec, "n", -1, "must not be");
    bad_value(&e, &spec, "a", list, "no list");
    bad_value(&e, &spec, "a", NULL, "no list");
    bad_omitted(&e, &spec, "o", "never shown");
    bad_unsupported(&e, &spec, "u", shown, allowed);
    bad_duplicate(&e, &spec, "d", "x");
    bad_not_found(&e, &spec, "f", "x");
    bad_too_long(&e, &spec, "l", 5);
    bad_too_many(&e, &spec, "m", 3, 2);
    expect_errors(&e, "spec.name: Required value\n"
                      "spec.name: Required value: say it\n"
                      "spec: Forbidden: not now\n"
                      "spec.a.b: Invalid value: \"q\\\"\\n\": must be 1\n"
                      "spec.n: Invalid value: -1: must not be\n"
                      "spec.a: Invalid value: [\"x\"]: no list\n"
                      "spec.a: Invalid value: null: no list\n"
                      "spec.o: Invalid value: never shown\n"
                      "spec.u: Unsupported value: \"C\": supported values: \"B\", \"A\"\n"
                      "spec.d: Duplicate value: \"x\"\n"
                      "spec.f: Not found: \"x\"\n"
                      "spec.l: Too long: may not be more than 5 bytes\n"
                      "spec.m: Too many: 3: must have at most 2 items");
}

static void test_rules(void **state) {
    static const char *const modes[] = {"One", "Two", NULL};
    _cleanup_json_ json_t *v = expect_json("{'mode':'Three','n':-2,'good':'Two','name':'A b'}");
    struct field_errors e = {0};
    struct at at = at_root(v);
    (void)state;
    check_not_negative(&e, &at, "n");
    check_not_negative(&e, &at, "missing");
    expect_errors(&e, "n: Invalid value: -2: must be greater than or equal to 0");
    check_one_of(&e, &at, "mode", modes);
    check_one_of(&e, &at, "missing", modes);
    check_one_of(&e, &at, "good", modes);
    expect_errors(&e, "mode: Unsupported value: \"Three\": supported values: \"One\", \"Two\"\n"
                      "missing: Unsupported value: \"\": supported values: \"One\", \"Two\"");
    check_enum(&e, &at, "missing", modes);
    check_enum(&e, &at, "good", modes);
    expect_errors(&e, "missing: Required value");
    check_name(&e, &at, "name", "ok", name_dns1123_label);
    expect_errors(&e, "");
}

static void expect_percent(const char *text, const char *problem, const char *above) {
    _cleanup_json_ json_t *v = expect_json(text);
    struct field_errors e = {0};
    struct at at = at_named(&(struct at){0}, "n", v);
    check_int_or_percent(&e, &at);
    expect_errors(&e, problem);
    check_at_most_100_percent(&e, &at);
    expect_errors(&e, above);
}

/* ValidatePositiveIntOrPercent() and IsNotMoreThan100Percent() of pkg/apis/apps/validation. */
static void test_int_or_percent(void **state) {
    (void)state;
    expect_percent("5", "", "");
    expect_percent("500", "", "");
    expect_percent("'0%'", "", "");
    expect_percent("'100%'", "", "");
    expect_percent("'101%'", "", "n: Invalid value: \"101%\": must not be greater than 100%");
    expect_percent("-1", "n: Invalid value: -1: must be greater than or equal to 0", "");
    expect_percent("'5'",
                   "n: Invalid value: \"5\": a valid percent string must be a numeric string "
                   "followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is "
                   "'[0-9]+%')",
                   "");
    expect_percent("'-5%'",
                   "n: Invalid value: \"-5%\": a valid percent string must be a numeric string "
                   "followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is "
                   "'[0-9]+%')",
                   "");
}

static void expect_same(const char *a, const char *b, bool same) {
    _cleanup_json_ json_t *x = a ? expect_json(a) : NULL, *y = b ? expect_json(b) : NULL;
    if (same_value(x, y) != same || same_value(y, x) != same)
        fail_msg("%s and %s", a, b);
}

static void test_same(void **state) {
    (void)state;
    expect_same(NULL, NULL, true);
    expect_same(NULL, "[]", true);
    expect_same(NULL, "{}", false);
    expect_same(NULL, "''", false);
    expect_same("{'a':1}", "{}", false);
    expect_same("{'emptyDir':{}}", "{}", false);
    expect_same("[1,2]", "[2,1]", false);
    expect_same("[1]", "[1,1]", false);
    /* quantities are numbers, the same text elsewhere is text */
    expect_same("{'limits':{'cpu':'1'}}", "{'limits':{'cpu':'1000m'}}", true);
    expect_same("{'limits':{'memory':'1Gi'}}", "{'limits':{'memory':'1073741824'}}", true);
    expect_same("{'limits':{'cpu':'1'}}", "{'limits':{'cpu':'1001m'}}", false);
    expect_same("{'labels':{'cpu':'1'}}", "{'labels':{'cpu':'1000m'}}", false);
}

static void test_immutable(void **state) {
    _cleanup_json_ json_t *v = expect_json("{'a':'x','b':{'c':1}}"), *old = json_string("y");
    struct field_errors e = {0};
    struct at root = at_root(v), a = at_child(&root, "a"), none = at_child(&root, "none");
    (void)state;
    check_immutable(&e, &a, a.v, NULL);
    check_immutable(&e, &none, NULL, NULL);
    expect_errors(&e, "");
    check_immutable(&e, &a, old, NULL);
    check_immutable(&e, &none, old, NULL);
    expect_errors(&e, "a: Invalid value: \"x\": field is immutable\n"
                      "none: Invalid value: null: field is immutable");
}

static void test_changes(void **state) {
    _cleanup_json_ json_t *v = expect_json("{'zero':0,'no':false,'empty':'','s':'x','wrong':1}");
    _cleanup_json_ json_t *from = expect_json("{'s':'y'}");
    (void)state;
    set_string(object_at(v, "made"), "k", "v");
    json_array_append_new(array_at(v, "list"), json_integer(1));
    set_int(object_at(v, "wrong"), "n", 2);
    default_string(v, "s", "z");
    default_string(v, "empty", "filled");
    default_int(v, "zero", 5);
    default_int(v, "n", 5);
    default_bool(v, "no", true);
    default_bool(v, "b", true);
    expect_member(v, "made/k", "'v'");
    expect_member(v, "list", "[1]");
    expect_member(v, "wrong", "{'n':2}");
    expect_member(v, "s", "'x'");
    expect_member(v, "empty", "'filled'");
    expect_member(v, "zero", "0");
    expect_member(v, "n", "5");
    expect_member(v, "no", "false");
    expect_member(v, "b", "true");
    copy_member(v, from, "s");
    copy_member(v, from, "n");
    expect_member(v, "s", "'y'");
    expect_member(v, "n", NULL);
}

static void test_quantities(void **state) {
    _cleanup_json_ json_t *half = json_string("500m"), *many = json_string("2Ki");
    _cleanup_json_ json_t *huge = json_string("9E"), *none = json_string("x");
    (void)state;
    assert_int_equal(quantity_of(half), 500);
    assert_int_equal(quantity_of(many), 2048000);
    assert_true(quantity_of(huge) > 0);
    assert_int_equal(quantity_of(none), 0);
    assert_int_equal(quantity_of(NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),   cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_each),    cmocka_unit_test(test_complaints),
        cmocka_unit_test(test_rules),   cmocka_unit_test(test_int_or_percent),
        cmocka_unit_test(test_same),    cmocka_unit_test(test_immutable),
        cmocka_unit_test(test_changes), cmocka_unit_test(test_quantities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
