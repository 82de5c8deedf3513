/* Picking members out of JSON text: against jansson, which parses the whole and drops them then. */
#include "sim/api/table_internal.h"
#include "table_expect.h"

static const char *const keys[] = {"a", "keep", "x/y", NULL};

static void expect_pick(const char *text, const char *picked) {
    /* In memory that ends where the text does, so that a sanitizer sees a step too far. */
    size_t len = strlen(text);
    _cleanup_free_ char *exact = xmemdup(text, len);
    _cleanup_str_ struct str out = STR_INIT;
    bool good = table_pick((struct view){exact, len}, keys, &out);
    assert_int_equal(good, picked != NULL);
    if (picked)
        assert_string_equal(str_get(&out), picked);
}

static void test_pick(void **state) {
    (void)state;
    static const struct {
        const char *text, *picked;
    } rows[] = {
        {"{}", "{}"},
        {" { } ", "{}"},
        {"{\"a\":1}", "{\"a\":1}"},
        {"{\"b\":1}", "{}"},
        {"{\"b\":1,\"a\":2,\"c\":3,\"keep\":4}", "{\"a\":2,\"keep\":4}"},
        {"{\"a\":{\"b\":1,\"keep\":[{\"a\":1,\"b\":2},[],{}]}}",
         "{\"a\":{\"keep\":[{\"a\":1},[],{}]}}"},
        {"{\"b\":{\"a\":1,\"x\":[{\"y\":\"}]\"}]},\"a\":[1,\"b\",null,true,-1.5e3]}",
         "{\"a\":[1,\"b\",null,true,-1.5e3]}"},
        {"{\"ke\":1,\"keeper\":2,\"x/y\":\"\\\"\\\\\"}", "{\"x/y\":\"\\\"\\\\\"}"},
        {"{ \"a\" : [ 1 , 2 ] , \"b\" : 3 }", "{\"a\":[1 ,2 ]}"},
        {"{\"b\":\"\\\\\",\"a\":\"\\\\\"}", "{\"a\":\"\\\\\"}"},
        {"{\"\":1,\"a\":2}", "{\"a\":2}"},
        /* Not the text of an object. */
        {"", NULL},
        {"1", NULL},
        {"[]", NULL},
        {"{", NULL},
        {"{\"a\"}", NULL},
        {"{\"a\":}", NULL},
        {"{\"a\":1", NULL},
        {"{\"a\":1,}", NULL},
        {"{\"a\":1}}", NULL},
        {"{\"a\":1} x", NULL},
        {"{\"a\":[1,2}", NULL},
        {"{\"a\":[1,]}", NULL},
        {"{\"a\":\"x", NULL},
        {"{\"a\":\"x\\", NULL},
        {"{\"a\":\"x\\\"", NULL},
        {"{\"b\":", NULL},
        {"{\"b\":[[]", NULL},
        {"{a:1}", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_pick(rows[i].text, rows[i].picked);
}

/* Depth below what is dropped does not matter; what is kept is never that deep. */
static void test_depth(void **state) {
    (void)state;
    _cleanup_str_ struct str deep = STR_INIT, kept = STR_INIT;
    str_add(&deep, "{\"b\":");
    str_add(&kept, "{\"a\":");
    for (int i = 0; i < 100000; i++)
        str_addc(&deep, '[');
    for (int i = 0; i < 100000; i++)
        str_addc(&deep, ']');
    for (int i = 0; i < 100000; i++)
        str_addc(&kept, '[');
    str_addc(&deep, '}');
    expect_pick(str_get(&deep), "{}");
    expect_pick(str_get(&kept), NULL);
}

/* Drops what is not to be kept. */
static void prune(json_t *value) {
    void *next;
    const char *key;
    json_t *member;
    size_t i;
    json_object_foreach_safe(value, next, key, member) {
        if (streq(key, "a") || streq(key, "keep") || streq(key, "x/y"))
            prune(member);
        else
            json_object_del(value, key);
    }
    json_array_foreach(value, i, member) {
        prune(member);
    }
}

static json_t *random_value(int depth) {
    static const char *const names[] = {"a", "keep", "x/y", "b", "keeper", "", "\"", "\\a", "{"};
    long kind = random() % (depth > 5 ? 4 : 6);
    if (kind == 0)
        return json_integer(random() % 1000 - 500);
    if (kind == 1)
        return json_string(names[random() % (long)ARRAY_LEN(names)]);
    if (kind == 2)
        return json_boolean(random() % 2);
    if (kind == 3)
        return json_null();
    json_t *made = kind == 4 ? json_array() : json_object();
    for (long n = random() % 5; n > 0; n--) {
        json_t *child = random_value(depth + 1);
        if (kind == 4)
            json_array_append_new(made, child);
        else
            json_object_set_new(made, names[random() % (long)ARRAY_LEN(names)], child);
    }
    return made;
}

static void test_random(void **state) {
    (void)state;
    srandom(4);
    for (int i = 0; i < 5000; i++) {
        _cleanup_json_ json_t *value = json_object();
        for (const char *const *k = keys; *k; k++)
            json_object_set_new(value, *k, random_value(0));
        json_object_set_new(value, "other", random_value(0));
        _cleanup_free_ char *text = json_dumps(value, random() % 2 ? JSON_COMPACT : JSON_INDENT(2));
        _cleanup_str_ struct str out = STR_INIT;
        assert_true(table_pick(view_of(text), keys, &out));
        _cleanup_json_ json_t *picked = json_loads(str_get(&out), 0, NULL);
        prune(value);
        assert_true(json_equal(picked, value));
        /* Every beginning of it is no object. */
        str_reset(&out);
        size_t cut = (size_t)random() % strlen(text);
        assert_false(table_pick((struct view){text, cut}, keys, &out));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pick),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests_name("table_pick", tests, NULL, NULL);
}
