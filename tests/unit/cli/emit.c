/* Tests of cli/emit: YAML that reads back as the same value, text that cannot harm a terminal. */
#include "cli/emit.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/prng.h"
#include "base/utf8.h"
#include "base/yaml.h"

static char *yaml_of(const char *json) {
    _cleanup_json_ json_t *v = json_loads(json, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    assert_non_null(v);
    struct str out = STR_INIT;
    assert_int_equal(emit_yaml(v, &out, NULL), 0);
    return str_take(&out);
}

static void assert_yaml(const char *json, const char *want) {
    _cleanup_free_ char *got = yaml_of(json);
    assert_string_equal(got, want);
}

static void block_style(void **state) {
    (void)state;
    assert_yaml(
        "{\"kind\":\"List\",\"items\":[{\"name\":\"a\",\"n\":1},{\"name\":\"b\"}],"
        "\"list\":[\"x\",\"y\"],\"empty\":{},\"none\":[],\"null\":null,\"t\":true,\"r\":0.25}",
        "kind: List\n"
        "items:\n"
        "- name: a\n"
        "  \"n\": 1\n"
        "- name: b\n"
        "list:\n"
        "- x\n"
        "- \"y\"\n"
        "empty: {}\n"
        "none: []\n"
        "\"null\": null\n"
        "t: true\n"
        "r: 0.25\n");
}

static void quoting(void **state) {
    (void)state;
    /* Texts that would be read as something else. */
    static const char *const quoted[] = {"",           "true",
                                         "False",      "yes",
                                         "NO",         "on",
                                         "off",        "null",
                                         "~",          "y",
                                         "1",          "-1",
                                         "1.5",        "1e3",
                                         "0x1f",       "0o17",
                                         "1_000",      ".5",
                                         "+1",         "12:30:45",
                                         "2026-11-15", "2026-11-15T08:00:00Z",
                                         ".inf",       "-.inf",
                                         ".nan",       "<<",
                                         "=",          "0"};
    for (size_t i = 0; i < ARRAY_LEN(quoted); i++) {
        _cleanup_json_ json_t *v = json_string(quoted[i]);
        _cleanup_str_ struct str out = STR_INIT, want = STR_INIT;
        assert_int_equal(emit_yaml(v, &out, NULL), 0);
        str_addf(&want, "\"%s\"\n", quoted[i]);
        assert_string_equal(str_get(&out), str_get(&want));
    }
    static const char *const plain[] = {"web",     "10.0.0.1", "v1.36.3",     "1.36.3", "a b",
                                        "node/n1", "x=y",      "system:node", "abc",    "no-op"};
    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        _cleanup_json_ json_t *v = json_pack("{s:s}", "k", plain[i]);
        _cleanup_str_ struct str out = STR_INIT, want = STR_INIT;
        assert_int_equal(emit_yaml(v, &out, NULL), 0);
        str_addf(&want, "k: %s\n", plain[i]);
        assert_string_equal(str_get(&out), str_get(&want));
    }
}

static void lines_become_blocks(void **state) {
    (void)state;
    assert_yaml("{\"a\":\"one\\ntwo\\n\",\"b\":\"one\\ntwo\"}",
                "a: |\n  one\n  two\nb: |-\n  one\n  two\n");
}

static void long_text_is_not_folded(void **state) {
    (void)state;
    _cleanup_str_ struct str json = STR_INIT;
    str_add(&json, "{\"a\":\"");
    for (int i = 0; i < 100; i++)
        str_add(&json, "word ");
    str_add(&json, "end\"}");
    _cleanup_free_ char *got = yaml_of(str_get(&json));
    assert_ptr_equal(strchr(got, '\n'), got + strlen(got) - 1);
}

/* Our own reader is strict about everything; it must see the value that was written. */
static void assert_reads_back(const json_t *v) {
    _cleanup_str_ struct str out = STR_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(emit_yaml(v, &out, &err), 0);
    struct yaml_doc *doc = NULL;
    if (yaml_load("out", str_get(&out), out.len, &doc, &err))
        fail_msg("%s\n%s", err_msg(&err), str_get(&out));
    if (!json_equal((json_t *)yaml_root(doc), (json_t *)v))
        fail_msg("%s\nis read as\n%s", str_get(&out), json_dumps(yaml_root(doc), 0));
    yaml_doc_free(doc);
}

static void awkward_texts_read_back(void **state) {
    (void)state;
    static const char *const texts[] = {" lead",
                                        "trail ",
                                        "\n",
                                        "\nlead",
                                        "a\n\n",
                                        "a\n b\n",
                                        " a\nb",
                                        "a \nb",
                                        "a\tb\nc",
                                        "- x",
                                        "? x",
                                        ": x",
                                        "a: b",
                                        "a #b",
                                        "#a",
                                        "&a",
                                        "*a",
                                        "!a",
                                        "|",
                                        ">",
                                        "%a",
                                        "@a",
                                        "`a",
                                        "'a'",
                                        "\"a\"",
                                        "{a}",
                                        "[a]",
                                        "a, b",
                                        "---",
                                        "...",
                                        "--- a",
                                        "\\",
                                        "a\\nb",
                                        "\x7f",
                                        "\x01",
                                        "\xc2\x85",
                                        "\xc2\x9b[31m",
                                        "\xe2\x80\xa8",
                                        "\xef\xbb\xbf",
                                        "\xe2\x80\xae abc",
                                        "\xf0\x9f\x9a\xa2",
                                        "\xc3\xa9\nline",
                                        "a\r\nb",
                                        "\r",
                                        "key:",
                                        ":",
                                        "-",
                                        "?",
                                        "a\n\n\n",
                                        "\t",
                                        "\ta",
                                        "~x",
                                        "NULL",
                                        "0b1",
                                        "1__2",
                                        "-",
                                        "+",
                                        ".",
                                        "..",
                                        "1.",
                                        "e",
                                        "1:2",
                                        "x\n\ty"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        _cleanup_json_ json_t *top = json_string(texts[i]);
        _cleanup_json_ json_t *value = json_pack("{s:s,s:[s]}", "k", texts[i], "l", texts[i]);
        _cleanup_json_ json_t *key = json_pack("{s:i}", texts[i], 1);
        assert_reads_back(top);
        assert_reads_back(value);
        assert_reads_back(key);
    }
}

static size_t pick(struct prng *r, size_t n) {
    return (size_t)prng_range(r, 0, (int64_t)n);
}

/* A random value of limited depth from a small alphabet that is all trouble. */
static json_t *random_value(struct prng *r, int depth) {
    static const char *const pieces[] = {"a", "0",  "-",        ":",        " ", "\n", "#",
                                         "'", "\"", ".",        "\t",       "?", "\\", "y",
                                         "[", "}",  "\xc3\xa9", "\xc2\x9b", "|", "~"};
    size_t kind = pick(r, depth ? 8 : 6);
    json_t *v;
    if (kind >= 6) {
        v = kind == 6 ? json_array() : json_object();
        for (size_t i = pick(r, 4); i; i--) {
            json_t *child = random_value(r, depth - 1);
            char key[8];
            snprintf(key, sizeof key, "%s%d", pieces[pick(r, ARRAY_LEN(pieces))], (int)i);
            if (kind == 6)
                json_array_append_new(v, child);
            else
                json_object_set_new(v, key, child);
        }
        return v;
    }
    if (kind == 0)
        return json_integer((json_int_t)prng_next(r));
    if (kind == 1)
        return json_real((double)pick(r, 1000000) / 3.0);
    if (kind == 2)
        return json_boolean(pick(r, 2) == 1);
    _cleanup_str_ struct str s = STR_INIT;
    for (size_t i = pick(r, 8); i; i--)
        str_add(&s, pieces[pick(r, ARRAY_LEN(pieces))]);
    return json_string(str_get(&s));
}

static void random_values_read_back(void **state) {
    (void)state;
    struct prng r = {20261115};
    for (int i = 0; i < 3000; i++) {
        _cleanup_json_ json_t *v = random_value(&r, 4);
        assert_reads_back(v);
    }
}

static const char hostile[] = "{\"a\":\"x\xc2\x9b"
                              "31m\xe2\x80\xae"
                              "y\xc3\xa9\"}";

static void assert_harmless(const char *s) {
    assert_null(strstr(s, "\xc2\x9b"));
    assert_null(strstr(s, "\xe2\x80\xae"));
    assert_null(strchr(s, '\033'));
}

static void json_is_harmless(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    assert_int_equal(emit_document(hostile, strlen(hostile),
                                   &(struct output_format){.kind = OUTPUT_JSON}, false, false, &out,
                                   NULL),
                     0);
    assert_string_equal(str_get(&out), "{\"a\":\"x\\u009b31m\\u202ey\xc3\xa9\"}\n");
    /* It still means the same. */
    _cleanup_json_ json_t *a = json_loads(hostile, 0, NULL),
                          *b = json_loads(str_get(&out), 0, NULL);
    assert_true(json_equal(a, b));
}

static void yaml_is_harmless(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    assert_int_equal(emit_document(hostile, strlen(hostile),
                                   &(struct output_format){.kind = OUTPUT_YAML}, false, false, &out,
                                   NULL),
                     0);
    assert_harmless(str_get(&out));
    assert_string_equal(str_get(&out), "a: \"x\\x9B31m\\u202Ey\\xE9\"\n");
}

/* Whatever the table is not to show, documents do not show either. */
static void every_unsafe_character(void **state) {
    (void)state;
    static const char *const unsafe[] = {
        "\xc2\x80",     "\xc2\x9f",     "\xd8\x9c",     "\xe2\x80\x8e", "\xe2\x80\x8f",
        "\xe2\x80\xa8", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9", "\xef\xbb\xbf"};
    static const enum output_kind kinds[] = {OUTPUT_JSON, OUTPUT_YAML};
    for (size_t i = 0; i < ARRAY_LEN(unsafe); i++) {
        _cleanup_free_ char *json = xasprintf("{\"a\":\"x%sy\"}", unsafe[i]);
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
            _cleanup_str_ struct str out = STR_INIT;
            assert_int_equal(emit_document(json, strlen(json),
                                           &(struct output_format){.kind = kinds[k]}, false, false,
                                           &out, NULL),
                             0);
            if (strstr(str_get(&out), unsafe[i]))
                fail_msg("character %zu is sent in format %zu: %s", i, k, str_get(&out));
        }
    }
    _cleanup_str_ struct str out = STR_INIT;
    static const char mark[] = "{\"a\":\"\xd8\x9c\"}";
    assert_int_equal(emit_document(mark, strlen(mark), &(struct output_format){.kind = OUTPUT_JSON},
                                   false, false, &out, NULL),
                     0);
    assert_string_equal(str_get(&out), "{\"a\":\"\\u061c\"}\n");
}

static void emit(const char *json, const char *format, bool no_headers, bool printable,
                 struct str *out) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    struct output_format f;
    assert_int_equal(output_parse(format, &arena, &f, NULL), 0);
    if (emit_document(json, strlen(json), &f, no_headers, printable, out, &err))
        fail_msg("%s", err_msg(&err));
}

static void paths_on_a_terminal(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    static const char json[] = "{\"a\":\"x\\u001b[31m\",\"b\":\"1\\n2\"}";
    emit(json, "jsonpath={.a}{\"\\n\"}{.b}", false, true, &out);
    assert_string_equal(str_get(&out), "x\\x1b[31m\n1\n2");
    str_reset(&out);
    /* A program gets the bytes. */
    emit(json, "jsonpath={.a}", false, false, &out);
    assert_string_equal(str_get(&out), "x\033[31m");
}

static void columns(void **state) {
    (void)state;
    static const char json[] = "{\"items\":[{\"name\":\"n1\",\"roles\":[\"a\",\"b\"],\"n\":1},"
                               "{\"name\":\"n2\\u001b\"}]}";
    _cleanup_str_ struct str out = STR_INIT;
    emit(json, "custom-columns=NODE:.name,ROLES:.roles[*],N:.n", false, false, &out);
    assert_string_equal(str_get(&out), "NODE     ROLES    N\n"
                                       "n1       a,b      1\n"
                                       "n2\\x1b   <none>   <none>\n");
    str_reset(&out);
    emit(json, "custom-columns=N:.n", true, false, &out);
    assert_string_equal(str_get(&out), "1\n<none>\n");
    str_reset(&out);
    emit("{\"a\":{\"b\":2}}", "custom-columns=B:.a.b", false, false, &out);
    assert_string_equal(str_get(&out), "B\n2\n");
    str_reset(&out);
    emit("{\"items\":[]}", "custom-columns=B:.a", false, false, &out);
    assert_string_equal(str_get(&out), "B\n");
}

static void not_json(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(emit_document("{", 1, &(struct output_format){.kind = OUTPUT_YAML}, false,
                                   false, &out, &err),
                     -EIO);
    assert_non_null(strstr(err_msg(&err), "the result is not valid JSON (line 1: "));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_style),
        cmocka_unit_test(quoting),
        cmocka_unit_test(lines_become_blocks),
        cmocka_unit_test(long_text_is_not_folded),
        cmocka_unit_test(awkward_texts_read_back),
        cmocka_unit_test(random_values_read_back),
        cmocka_unit_test(json_is_harmless),
        cmocka_unit_test(yaml_is_harmless),
        cmocka_unit_test(every_unsafe_character),
        cmocka_unit_test(paths_on_a_terminal),
        cmocka_unit_test(columns),
        cmocka_unit_test(not_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
