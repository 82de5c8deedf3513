/* Content types: Go's mime.ParseMediaType() decides. */
#include "sim/api/media_type.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

static void test_good(void **state) {
    (void)state;
    static const char *const rows[] = {
        "application/json",
        "APPLICATION/Json",
        " application/json ",
        "application/json;",
        "application/json ; ",
        "application/json;charset=utf-8",
        "application/json; charset=\"utf-8\"; a=b",
        "application/json; a=\"x;y\\\"z\"; b=c",
        "application/json;stream=watch",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!media_type_is(rows[i], "application/json"))
            fail_msg("%s", rows[i]);
}

static void test_bad(void **state) {
    (void)state;
    static const char *const rows[] = {
        "",
        ";",
        "json",
        "application/jsonx",
        "application/yaml",
        "application/json, text/plain",
        "application/json;;",
        "application/json; a",
        "application/json; a=",
        "application/json; =b",
        "application/json; a=b; A=c",
        "application/json; a=\"b",
        "application/json; a=b c",
        "application/json x",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (media_type_is(rows[i], "application/json"))
            fail_msg("%s", rows[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
