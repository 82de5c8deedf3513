/* Tests of schema/build: objects out of the values of their fields. */
#include "sim/schema/build.h"

#include "schema_test.h"
#include "sim/schema/schema_table.h"

static void expect(json_t *value, const char *text) {
    _cleanup_free_ char *found = text_of(value);
    assert_string_equal(found, text);
}

static void empty(void **state) {
    (void)state;
    expect(build_object(kind("Pod"), NULL),
           "{\"metadata\":{},\"spec\":{\"containers\":null},\"status\":{}}");
}

/* In the table's order, whatever the order in which they came. */
static void values(void **state) {
    (void)state;
    json_t *of[SCHEMA_MOST_KEYS] = {0};
    struct schema_place place;
    schema_locate(kind("ConfigMap"), "immutable", 9, &place);
    of[place.at] = json_false();
    schema_locate(kind("ConfigMap"), "kind", 4, &place);
    assert_non_null(place.via);
    of[place.at] = json_string("ConfigMap");
    schema_locate(kind("ConfigMap"), "data", 4, &place);
    of[place.at] = value_of("{\"a\":\"b\"}");
    expect(build_object(kind("ConfigMap"), of),
           "{\"kind\":\"ConfigMap\",\"metadata\":{},\"immutable\":false,\"data\":{\"a\":\"b\"}}");
}

static void dropped(void **state) {
    (void)state;
    json_t *of[SCHEMA_MOST_KEYS] = {0};
    of[0] = json_string("x");
    of[2] = json_object();
    build_drop(kind("Pod"), of); /* the leak checker is the judge */
}

static void zeros(void **state) {
    (void)state;
    static const char *const expected[] = {
        [SCHEMA_STRING] = "\"\"",
        [SCHEMA_BOOL] = "false",
        [SCHEMA_INT32] = "0",
        [SCHEMA_INT64] = "0",
        [SCHEMA_DOUBLE] = "0",
        [SCHEMA_BYTES] = "\"\"",
        [SCHEMA_TIME] = "null",
        [SCHEMA_MICROTIME] = "null",
        [SCHEMA_QUANTITY] = "\"0\"",
        [SCHEMA_INTSTR] = "0",
        [SCHEMA_RAW] = "null",
        [SCHEMA_STRINGS] = "[]",
        [SCHEMA_OBJECT] = "{\"metadata\":{}}",
        [SCHEMA_OR_BOOL] = "false",
        [SCHEMA_OR_LIST] = "null",
        [SCHEMA_OR_STRINGS] = "null",
    };
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        struct schema_field f = {.json = "x", .kind = (uint8_t)i, .of = kind("ServiceAccount")};
        expect(build_zero(&f), expected[i]);
    }
}

static void sorted(void **state) {
    (void)state;
    expect(build_sorted(value_of("{}")), "{}");
    expect(build_sorted(value_of("{\"a\":1,\"b\":2}")), "{\"a\":1,\"b\":2}");
    /* By bytes: a NUL comes before everything but the end, capitals before the rest, UTF-8 last. */
    expect(build_sorted(value_of("{\"\xc3\xa9\":1,\"b\":2,\"a\":3,\"aa\":4,\"B\":5,\"\":6,"
                                 "\"a\\u0000\":7,\"a \":8}")),
           "{\"\":6,\"B\":5,\"a\":3,\"a\\u0000\":7,\"a \":8,\"aa\":4,\"b\":2,\"\xc3\xa9\":1}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty), cmocka_unit_test(values), cmocka_unit_test(dropped),
        cmocka_unit_test(zeros), cmocka_unit_test(sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
