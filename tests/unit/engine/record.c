/* Tests of src/engine/record.c: what is not known is kept. */
#include "engine/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

static void what_is_not_known_is_written_again(void **state) {
    (void)state;
    static const char *const known[] = {"a", "b", NULL};
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"{}", "{\"a\":1}"},
        {"{\"a\":7,\"b\":[]}", "{\"a\":1}"},
        {"{\"x\":\"\\u00e4\\n\",\"a\":7}", "{\"a\":1,\"x\":\"\xc3\xa4\\n\"}"},
        {"{\"y\":{\"a\":[null,1.5,true]},\"x\":-3}",
         "{\"a\":1,\"y\":{\"a\":[null,1.5,true]},\"x\":-3}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_arena_ struct arena arena = ARENA_INIT;
        _cleanup_str_ struct str out = STR_INIT;
        _cleanup_json_ json_t *obj = json_loads(cases[i].in, 0, NULL);
        const char *rest = record_rest(obj, known, &arena);
        struct jsonw w;
        jsonw_init(&w, &out, false);
        jsonw_begin(&w, '{');
        jsonw_kint(&w, "a", 1);
        record_write_rest(&w, rest);
        jsonw_end(&w);
        assert_string_equal(str_get(&out), cases[i].out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_known_is_written_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
