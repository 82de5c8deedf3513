/* Keys that stand twice. */
#include "sim/api/doubled.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_found(void **state) {
    (void)state;
    struct schema_notes notes = {0};
    doubled_fields(
        VIEW("{\"a\":1,\"b\":{\"c\":1,\"c\":2,\"c\":3},\"l\":[{},{\"x\":\"\\\"}\",\"x\":0}],"
             "\"a\":2}"),
        &notes);
    assert_int_equal(notes.texts.len, 3);
    assert_string_equal(notes.texts.p[0], "duplicate field \"b.c\"");
    assert_string_equal(notes.texts.p[1], "duplicate field \"l[1].x\"");
    assert_string_equal(notes.texts.p[2], "duplicate field \"a\"");
    schema_notes_done(&notes);
}

static void test_hostile(void **state) {
    (void)state;
    static const char *const texts[] = {
        "", "{", "{\"", "{\"a", "{\"a\":", "[[[[", "{\"a\":\"\\", "]", "{,}", "{\"a\" \"a\"}"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct schema_notes notes = {0};
        doubled_fields(view_of(texts[i]), &notes);
        schema_notes_done(&notes);
    }
    _cleanup_str_ struct str deep = STR_INIT;
    for (int i = 0; i < 100000; i++)
        str_addc(&deep, '[');
    struct schema_notes notes = {0};
    doubled_fields((struct view){deep.p, deep.len}, &notes);
    assert_int_equal(notes.texts.len, 0);
    schema_notes_done(&notes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
