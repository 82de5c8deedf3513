/* Members of JSON objects. */
#include "sim/fleet/status_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/timefmt.h"

static void test_members(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    _cleanup_json_ json_t *value = json_pack("[i]", 7);
    str_addc(&out, '{');
    member_count(&out, "none", 0);
    member_str(&out, "empty", "");
    member_str(&out, "absent", NULL);
    member_raw(&out, "nothing", (struct view){0});
    member_number(&out, "zero", 0);
    member_count(&out, "some", 12);
    member_number(&out, "least", INT64_MIN);
    member_number(&out, "most", INT64_MAX);
    member_bool(&out, "yes", true);
    member_bool(&out, "no", false);
    member_str(&out, "text", "a \"b\" <c>");
    member_time(&out, "time", SEC(1794700805) + 999999);
    member_raw(&out, "raw", VIEW("[1,2]"));
    member_value(&out, "value", value);
    member_key(&out, "object");
    str_addc(&out, '{');
    member_number(&out, "first", 1);
    str_add(&out, "}}");
    assert_string_equal(
        str_get(&out),
        "{\"zero\":0,\"some\":12,\"least\":-9223372036854775808,\"most\":9223372036854775807,"
        "\"yes\":true,\"no\":false,\"text\":\"a \\\"b\\\" \\u003cc\\u003e\","
        "\"time\":\"2026-11-15T00:00:05Z\",\"raw\":[1,2],\"value\":[7],\"object\":{\"first\":1}}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
