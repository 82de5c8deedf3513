/* Tests of cli/output: what -o takes. */
#include "cli/output.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

static struct arena arena;
static struct err err;

static int reset(void **state) {
    (void)state;
    arena_done(&arena);
    arena = ARENA_INIT;
    err_done(&err);
    return 0;
}

static void formats(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum output_kind kind;
        bool document;
    } t[] = {{"", OUTPUT_TABLE, false},
             {"wide", OUTPUT_WIDE, false},
             {"name", OUTPUT_NAME, false},
             {"json", OUTPUT_JSON, true},
             {"yaml", OUTPUT_YAML, true},
             {"jsonpath={.a}", OUTPUT_JSONPATH, true},
             {"jsonpath=.a", OUTPUT_JSONPATH, true},
             {"custom-columns=A:.a", OUTPUT_COLUMNS, true}};
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct output_format f = {.kind = OUTPUT_YAML};
        assert_int_equal(output_parse(t[i].text, &arena, &f, &err), 0);
        assert_int_equal(f.kind, t[i].kind);
        assert_int_equal(output_is_document(&f), t[i].document);
    }
    assert_string_equal(output_name(OUTPUT_COLUMNS), "custom-columns");
}

static void columns(void **state) {
    (void)state;
    struct output_format f;
    assert_int_equal(
        output_parse("custom-columns=A:.a,B B:.b[0,1],C:{.c['x,y']},D:.d[?(@.e==\",\")]", &arena,
                     &f, &err),
        0);
    assert_int_equal(f.n_columns, 4);
    assert_string_equal(f.columns[0].title, "A");
    assert_string_equal(f.columns[1].title, "B B");
    assert_string_equal(f.columns[3].title, "D");
}

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *msg;
    } t[] = {
        {"jsn", "unknown format \"jsn\" (did you mean \"json\"?)"},
        {"table", "unknown format \"table\": use wide, name, json, yaml, jsonpath=TEMPLATE or "
                  "custom-columns=SPEC"},
        {"go-template={{.a}}",
         "format \"go-template\" needs Go; use jsonpath=TEMPLATE, or json and a "
         "tool like jq"},
        {"template",
         "format \"template\" needs Go; use jsonpath=TEMPLATE, or json and a tool like jq"},
        {"jsonpath", "format \"jsonpath\" needs a value: jsonpath='{.items[*].name}'"},
        {"custom-columns", "format \"custom-columns\" needs a value: custom-columns=NAME:.name"},
        {"json=x", "format \"json\" takes no value"},
        {"jsonpath=", "jsonpath is empty: write for example jsonpath='{.items[*].name}'"},
        {"jsonpath={.a", "jsonpath \"{.a\", column 4: a brace is not closed"},
        {"custom-columns=", "custom-columns: \"\" must be TITLE:PATH, for example NAME:.name"},
        {"custom-columns=A", "custom-columns: \"A\" must be TITLE:PATH, for example NAME:.name"},
        {"custom-columns=A:.a,", "custom-columns: \"\" must be TITLE:PATH, for example NAME:.name"},
        {"custom-columns=:.a",
         "custom-columns: \":.a\" must be TITLE:PATH, for example NAME:.name"},
        {"custom-columns=A:a",
         "custom-columns, column A: jsonpath \"a\", column 1: expected a path "
         "such as {.metadata.name}"},
        {"custom-columns=A:", "custom-columns, column A: jsonpath is empty: write for example "
                              "jsonpath='{.items[*].name}'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct output_format f = {.kind = OUTPUT_NAME};
        assert_int_equal(output_parse(t[i].text, &arena, &f, &err), -EINVAL);
        assert_string_equal(err_msg(&err), t[i].msg);
        assert_int_equal(f.kind, OUTPUT_NAME); /* untouched */
    }
}

static void documents(void **state) {
    (void)state;
    struct output_format f;
    assert_int_equal(output_parse_document("json", &arena, &f, &err), 0);
    assert_int_equal(f.kind, OUTPUT_JSON);
    assert_int_equal(output_parse_document("", &arena, &f, &err), 0);
    assert_int_equal(f.kind, OUTPUT_TABLE);
    assert_int_equal(output_parse_document("jsonpath={.a}", &arena, &f, &err), 0);
    static const char *const no[] = {"wide", "name", "custom-columns=A:.a"};
    for (size_t i = 0; i < ARRAY_LEN(no); i++) {
        assert_int_equal(output_parse_document(no[i], &arena, &f, &err), -EINVAL);
        assert_non_null(strstr(err_msg(&err), "is for tables, and this is none"));
    }
    assert_int_equal(output_parse_document("xyz", &arena, &f, &err), -EINVAL);
    /* with more words */
    assert_int_equal(output_parse_text("wide", &arena, &f, &err), 0);
    assert_int_equal(f.kind, OUTPUT_WIDE);
    assert_int_equal(output_parse_text("yaml", &arena, &f, &err), 0);
    for (size_t i = 1; i < ARRAY_LEN(no); i++)
        assert_int_equal(output_parse_text(no[i], &arena, &f, &err), -EINVAL);
}

/* What completion offers is what the parser takes. */
static void words(void **state) {
    (void)state;
    for (size_t i = 0; output_words[i]; i++) {
        struct output_format f;
        _cleanup_str_ struct str s = STR_INIT;
        str_add(&s, output_words[i]);
        if (str_ends(output_words[i], "="))
            str_add(&s, str_starts(output_words[i], "custom") ? "A:.a" : ".a");
        assert_int_equal(output_parse(str_get(&s), &arena, &f, &err), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(formats, reset), cmocka_unit_test_teardown(columns, reset),
        cmocka_unit_test_teardown(refused, reset), cmocka_unit_test_teardown(documents, reset),
        cmocka_unit_test_teardown(words, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
