/* Tests of cli/table: layout, colours, hostile text. */
#include "cli/table.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/timefmt.h"

static const struct table_column columns[] = {
    {"NAME", false}, {"STATE", false}, {"PODS", false},
    {"AGE", false},  {"ROLES", true},  {"X", true},
};

enum { NOW = 1000000 };

static struct table *sample(void) {
    struct table *t = table_new(columns, ARRAY_LEN(columns));
    table_row(t, "node/worker-1");
    table_str(t, "worker-1");
    table_state(t, STATE_GOOD, "Ready");
    table_int(t, 12);
    table_time(t, SEC(NOW - 90));
    table_str(t, "a,b");
    table_int(t, -1);
    table_row(t, "node/m");
    table_str(t, "m");
    table_state(t, STATE_BAD, "NotReady");
    table_int(t, 0);
    table_time(t, 0);
    return t;
}

static void assert_text(struct table *t, struct table_view view, const char *want) {
    _cleanup_str_ struct str s = STR_INIT;
    view.now = SEC(NOW);
    table_text(t, &view, &s);
    assert_string_equal(str_get(&s), want);
}

static void layout(void **state) {
    (void)state;
    _cleanup_table_ struct table *t = sample();
    assert_text(t, (struct table_view){0},
                "NAME       STATE      PODS   AGE\n"
                "worker-1   Ready      12     90s\n"
                "m          NotReady   0      <unknown>\n");
}

static void wide(void **state) {
    (void)state;
    _cleanup_table_ struct table *t = sample();
    assert_text(t, (struct table_view){.wide = true, .absolute = true},
                "NAME       STATE      PODS   AGE                    ROLES    X\n"
                "worker-1   Ready      12     1970-01-12T13:45:10Z   a,b      -1\n"
                "m          NotReady   0      <unknown>              <none>   <none>\n");
}

static void no_headers(void **state) {
    (void)state;
    _cleanup_table_ struct table *t = table_new(columns, 2);
    table_row(t, "node/a");
    table_str(t, "a");
    table_str(t, "b");
    /* Columns are at least six wide, as kubectl's. */
    assert_text(t, (struct table_view){.no_headers = true}, "a     b\n");
}

static void nothing(void **state) {
    (void)state;
    _cleanup_table_ struct table *t = table_new(columns, 2);
    assert_text(t, (struct table_view){0}, "NAME   STATE\n");
    assert_text(t, (struct table_view){.no_headers = true}, "");
}

static void color_and_glyphs(void **state) {
    (void)state;
    _cleanup_table_ struct table *t = sample();
    assert_text(t, (struct table_view){.color = true, .glyphs = true, .utf8 = true},
                "NAME       STATE        PODS   AGE\n"
                "worker-1   \033[32m\xe2\x9c\x93 Ready\033[0m      12     90s\n"
                "m          \033[31m\xe2\x9c\x97 NotReady\033[0m   0      <unknown>\n");
}

static void ascii_glyphs(void **state) {
    (void)state;
    _cleanup_table_ struct table *t = sample();
    assert_text(t, (struct table_view){.glyphs = true},
                "NAME       STATE        PODS   AGE\n"
                "worker-1   ok Ready     12     90s\n"
                "m          x NotReady   0      <unknown>\n");
}

static void hostile_text(void **state) {
    (void)state;
    _cleanup_table_ struct table *t = table_new(columns, 3);
    table_row(t, "node/\033]0;evil\007");
    table_str(t, "a\033[31m\nb\xff");
    table_state(t, STATE_NONE,
                "\xe2\x80\xae"
                "dab");
    table_str(t, "x\ty");
    _cleanup_str_ struct str s = STR_INIT;
    table_text(t, &(struct table_view){.color = true}, &s);
    assert_null(strchr(str_get(&s), '\033'));
    assert_null(strchr(str_get(&s), '\t'));
    assert_non_null(strstr(str_get(&s), "a\\x1b[31m\\nb\\xff   \\u{202e}dab   x\\ty\n"));
    str_reset(&s);
    table_names(t, &s);
    assert_string_equal(str_get(&s), "node/\\x1b]0;evil\\x07\n");
}

static void widths_of_characters(void **state) {
    (void)state;
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        skip();
    _cleanup_table_ struct table *t = table_new(columns, 2);
    table_row(t, NULL);
    table_str(t, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"); /* three characters, six columns */
    table_str(t, "x");
    table_row(t, NULL);
    table_str(t, "abcdef");
    table_str(t, "y");
    assert_text(t, (struct table_view){.no_headers = true},
                "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e   x\nabcdef   y\n");
    setlocale(LC_CTYPE, "C");
}

static void names(void **state) {
    (void)state;
    _cleanup_table_ struct table *t = sample();
    _cleanup_str_ struct str s = STR_INIT;
    table_names(t, &s);
    assert_string_equal(str_get(&s), "node/worker-1\nnode/m\n");
}

static void watching_keeps_the_columns(void **state) {
    (void)state;
    _cleanup_table_ struct table *t = table_new(columns, 2);
    table_row(t, NULL);
    table_str(t, "a-long-name");
    table_str(t, "x");
    assert_text(t, (struct table_view){0}, "NAME          STATE\na-long-name   x\n");
    table_clear(t);
    table_row(t, NULL);
    table_str(t, "b");
    table_str(t, "1/2");
    assert_text(t, (struct table_view){.no_headers = true}, "b             1/2\n");
}

/* Where it is too wide, if it is a table that may: the last column is filled, or rows are blocks.
 */
static void folds(void **state) {
    (void)state;
    static const struct table_column two[] = {{"CHECK", false}, {"NODES", false}, {"FOUND", false}};
    static const char sentence[] = "the last healthy replica of the volume is there";
    struct table *t = table_new(two, ARRAY_LEN(two));
    for (int i = 0; i < 2; i++) {
        table_row(t, NULL);
        table_str(t, i ? "etcd" : "longhorn");
        table_str(t, i ? "-" : "w1");
        table_str(t, i ? NULL : sentence);
    }
    const char *whole = "CHECK      NODES   FOUND\n"
                        "longhorn   w1      the last healthy replica of the volume is there\n"
                        "etcd       -       <none>\n";
    assert_text(t, (struct table_view){.columns = 30}, whole);
    table_fold(t);
    assert_text(t, (struct table_view){.columns = 0}, whole);
    assert_text(t, (struct table_view){.columns = 66}, whole);
    assert_text(t, (struct table_view){.columns = 65},
                "CHECK      NODES   FOUND\n"
                "longhorn   w1      the last healthy replica of the volume is\n"
                "                   there\n"
                "etcd       -       <none>\n");
    assert_text(t, (struct table_view){.columns = 30},
                "CHECK  longhorn\n"
                "NODES  w1\n"
                "FOUND  the last healthy\n"
                "       replica of the volume\n"
                "       is there\n"
                "\n"
                "CHECK  etcd\n");
    table_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout),
        cmocka_unit_test(wide),
        cmocka_unit_test(no_headers),
        cmocka_unit_test(nothing),
        cmocka_unit_test(color_and_glyphs),
        cmocka_unit_test(ascii_glyphs),
        cmocka_unit_test(hostile_text),
        cmocka_unit_test(widths_of_characters),
        cmocka_unit_test(names),
        cmocka_unit_test(folds),
        cmocka_unit_test(watching_keeps_the_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
