/* Tests of cli/jsonpath: what is refused, and where. What templates print is in jsonpath_eval.c. */
#include "cli/jsonpath.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *msg;
    } t[] = {
        {"", "jsonpath is empty: write for example jsonpath='{.items[*].name}'"},
        {"name", "jsonpath \"name\", column 1: expected a path such as {.metadata.name}"},
        {"{.a", "jsonpath \"{.a\", column 4: a brace is not closed"},
        {"{.a b}", "jsonpath \"{.a b}\", column 5: unexpected character"},
        {"{}", "jsonpath \"{}\", column 2: expected a path such as .metadata.name"},
        {"{a}", "jsonpath \"{a}\", column 2: expected a path such as .metadata.name"},
        {"{.a..}", "jsonpath \"{.a..}\", column 6: a name is missing"},
        {"{.a[}",
         "jsonpath \"{.a[}\", column 5: expected a number, *, 'name' or ?(filter) after ["},
        {"{.a[0}", "jsonpath \"{.a[0}\", column 6: expected ]"},
        {"{.a['x}", "jsonpath \"{.a['x}\", column 8: a quote is not closed"},
        {"{.a['\\x']}",
         "jsonpath \"{.a['\\x']}\", column 6: unknown escape; write \\n, \\t, \\r, \\\\ "
         "or a quote"},
        {"{.a[0:1:0]}",
         "jsonpath \"{.a[0:1:0]}\", column 10: the step of a slice must be 1 or more"},
        {"{.a[0:1:]}", "jsonpath \"{.a[0:1:]}\", column 9: the step of a slice must be 1 or more"},
        {"{.a[99999999999999999999]}",
         "jsonpath \"{.a[99999999999999999999]}\", column 5: the index is too large"},
        {"{end}", "jsonpath \"{end}\", column 2: {end} without {range}"},
        {"{range .a}x", "jsonpath \"{range .a}x\", column 12: {range} without {end}"},
        {"{range}{end}",
         "jsonpath \"{range}{end}\", column 7: expected a path such as .metadata.name"},
        {"{.a[?(@.b=1)]}",
         "jsonpath \"{.a[?(@.b=1)]}\", column 10: expected ) at the end of the filter"},
        {"{.a[?(1)]}", "jsonpath \"{.a[?(1)]}\", column 8: expected ==, !=, <, <=, > or >="},
        {"{.a[?(@.b==maybe)]}", "jsonpath \"{.a[?(@.b==maybe)]}\", column 17: expected @.path, a "
                                "quoted text, a number, true, false or null"},
        {"{\"abc}", "jsonpath \"{\"abc}\", column 7: a quote is not closed"},
        {".a }", "jsonpath \".a }\", column 3: unexpected character"},
        {"{.a\\", "jsonpath \"{.a\\\", column 5: a brace is not closed"},
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        _cleanup_arena_ struct arena arena = ARENA_INIT;
        const struct jsonpath *path = NULL;
        assert_int_equal(jsonpath_parse(t[i].text, &arena, &path, &err), -EINVAL);
        assert_string_equal(err_msg(&err), t[i].msg);
        assert_null(path);
    }
}

static void nesting_is_limited(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    const struct jsonpath *path;
    for (int i = 0; i < 100000; i++)
        str_add(&s, "{range .a}");
    assert_int_equal(jsonpath_parse(str_get(&s), &arena, &path, &err), -EINVAL);
    assert_non_null(strstr(err_msg(&err), "too many ranges or filters inside each other"));
    str_reset(&s);
    str_add(&s, "{.a");
    for (int i = 0; i < 100000; i++)
        str_add(&s, "[?(@.a");
    assert_int_equal(jsonpath_parse(str_get(&s), &arena, &path, &err), -EINVAL);
    assert_non_null(strstr(err_msg(&err), "too many ranges or filters inside each other"));
}

/* Every prefix and every one-byte change of a rich template: an error or a path, never a crash. */
static void mutations(void **state) {
    (void)state;
    static const char rich[] =
        "a{.x['y']..z[1:-2:3][0,'b'][?(@.p!=\"q\")]}{range .*[*]}{\"\\n\"}{end}";
    static const char bytes[] = "{}[]().,:'\"\\?@$*-0a= \x80";
    char text[sizeof rich];
    for (size_t i = 0; i < sizeof rich - 1; i++)
        for (size_t b = 0; b < sizeof bytes; b++) { /* with the NUL: prefixes */
            _cleanup_arena_ struct arena arena = ARENA_INIT;
            _cleanup_err_ struct err err = ERR_INIT;
            const struct jsonpath *path = NULL;
            memcpy(text, rich, sizeof rich);
            text[i] = bytes[b];
            int r = jsonpath_parse(text, &arena, &path, &err);
            assert_true(r ? err.code == EINVAL && !path : path != NULL);
        }
}

static void long_paths_need_little_memory(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    const struct jsonpath *path;
    for (int i = 0; i < 60000; i++)
        str_add(&s, ".a");
    assert_int_equal(jsonpath_parse(str_get(&s), &arena, &path, NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(mutations),
        cmocka_unit_test(long_paths_need_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
