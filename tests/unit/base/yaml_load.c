/* Tests of base/yaml_load: values, anchors and merges, limits, every refusal with its place. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/yaml.h"

static struct yaml_doc *load(const char *text) {
    struct yaml_doc *doc = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    if (yaml_load("f.yaml", text, strlen(text), &doc, &err) < 0)
        fail_msg("%s", err_msg(&err));
    return doc;
}

static void assert_json(const char *text, const char *json) {
    _cleanup_yaml_doc_ struct yaml_doc *doc = load(text);
    _cleanup_free_ char *dump =
        json_dumps(yaml_root(doc), JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    assert_string_equal(dump, json);
}

static void assert_refused(const char *text, const char *message) {
    struct yaml_doc *doc = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(yaml_load("f.yaml", text, strlen(text), &doc, &err), -EINVAL);
    assert_string_equal(err_msg(&err), message);
    assert_null(doc);
    assert_int_equal(yaml_load("f.yaml", text, strlen(text), &doc, NULL), -EINVAL);
}

static void assert_pos(struct yaml_pos pos, unsigned line, unsigned col) {
    assert_int_equal(pos.line, line);
    assert_int_equal(pos.col, col);
}

static void plain_scalars(void **state) {
    (void)state;
    assert_json("- null\n- Null\n- NULL\n- ~\n-\n- ''\n", "[null,null,null,null,null,\"\"]");
    assert_json("[true, True, TRUE, false, False, FALSE]", "[true,true,true,false,false,false]");
    assert_json("[yes, no, on, off, Y, N, tRue, nULL]",
                "[\"yes\",\"no\",\"on\",\"off\",\"Y\",\"N\",\"tRue\",\"nULL\"]");
    assert_json("[0, -1, +2, 0777, 0o17, 0xfF, -0]", "[0,-1,2,777,15,255,0]");
    assert_json("[9223372036854775807, -9223372036854775808]",
                "[9223372036854775807,-9223372036854775808]");
    assert_json("[1.5, -0.25, .5, 5., 1e3, 1E-2, +1.e+1]", "[1.5,-0.25,0.5,5.0,1000.0,0.01,10.0]");
    assert_json("[1_000, 0b1, 0o8, 0xg, -0x1, 1e, '.', '-', ., -x, 1.2.3, 12:30:45, 2026-11-15]",
                "[\"1_000\",\"0b1\",\"0o8\",\"0xg\",\"-0x1\",\"1e\",\".\",\"-\",\".\",\"-x\","
                "\"1.2.3\",\"12:30:45\",\"2026-11-15\"]");
    assert_json("a: |\n  1\nb: >\n  true\nc: \"1\"\nd: '~'\n",
                "{\"a\":\"1\\n\",\"b\":\"true\\n\",\"c\":\"1\",\"d\":\"~\"}");
    assert_json("{1: a, true: b, ~: c, 1.0: d, \"\": e}",
                "{\"1\":\"a\",\"true\":\"b\",\"~\":\"c\",\"1.0\":\"d\",\"\":\"e\"}");
}

static void tags(void **state) {
    (void)state;
    assert_json(
        "[!!str 1, !!int \"7\", !!float 1, !!bool 'true', !!null '', ! 5, !!map {}, !!seq []]",
        "[\"1\",7,1,true,null,\"5\",{},[]]");
    assert_refused("a: !!binary aGk=", "f.yaml:1:4: the tag \"tag:yaml.org,2002:binary\" is not "
                                       "supported here");
    assert_refused("a: !!int x",
                   "f.yaml:1:4: the tag \"tag:yaml.org,2002:int\" does not fit the value");
    assert_refused("a: !Thing {}", "f.yaml:1:4: the tag \"!Thing\" is not supported here");
    assert_refused("a: !!map []",
                   "f.yaml:1:4: the tag \"tag:yaml.org,2002:map\" is not supported here");
    assert_refused("!!int 1: x",
                   "f.yaml:1:1: the tag \"tag:yaml.org,2002:int\" is not supported for keys");
}

static void json_is_yaml(void **state) {
    (void)state;
    assert_json(
        "{\n\t\"a\" : [1, 2.5, \"x\\ty\\/\\u00e9\", null, true],\n\t\"b\":{\"c\":\"\"}\n}\n",
        "{\"a\":[1,2.5,\"x\\ty/\xc3\xa9\",null,true],\"b\":{\"c\":\"\"}}");
}

static void empty_documents(void **state) {
    (void)state;
    static const char *const texts[] = {"",       "\n", "# only this\n", "---\n",
                                        "null\n", "~",  "---\n---\n",    "--- # a\n...\n"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_json(texts[i], "null");
    assert_json("a: 1\n---\n# nothing follows\n", "{\"a\":1}");
    assert_json("---\n---\na: 1\n", "{\"a\":1}");
}

static void anchors(void **state) {
    (void)state;
    assert_json("a: &x {k: [1, 2]}\nb: *x\nc: &x 5\nd: *x\n",
                "{\"a\":{\"k\":[1,2]},\"b\":{\"k\":[1,2]},\"c\":5,\"d\":5}");
    _cleanup_yaml_doc_ struct yaml_doc *doc = load("a: &x\n  k: [1, 2]\nb: *x\n");
    const json_t *root = yaml_root(doc), *a = json_object_get(root, "a"),
                 *b = json_object_get(root, "b");
    assert_ptr_not_equal(a, b);
    assert_pos(yaml_value_pos(doc, root, "b"), 3, 4);
    assert_pos(yaml_key_pos(doc, b, "k"), 2, 3);
    assert_pos(yaml_item_pos(doc, json_object_get(b, "k"), 1), 2, 10);

    assert_refused("a: *x\n", "f.yaml:1:4: the alias *x has no anchor &x before it");
    assert_refused("a: &x [*x]\n", "f.yaml:1:8: the alias *x has no anchor &x before it");
    assert_refused("a: &x {b: {c: *x}}\n", "f.yaml:1:15: the alias *x has no anchor &x before it");
    assert_refused("a: &x k\n*x : 1\n", "f.yaml:2:1: a key must be a plain or quoted word");
}

static void anchors_end_with_their_document(void **state) {
    (void)state;
    static const char text[] = "a: &x 1\n---\nb: *x\n";
    struct yaml_docs docs;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(yaml_load_all("f.yaml", text, sizeof text - 1, &docs, &err), -EINVAL);
    assert_string_equal(err_msg(&err), "f.yaml:3:4: the alias *x has no anchor &x before it");
}

static void merge_keys(void **state) {
    (void)state;
    assert_json("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\nc: {x: 4, <<: *a}\n",
                "{\"a\":{\"x\":1,\"y\":2},\"b\":{\"x\":3,\"y\":2},\"c\":{\"x\":4,\"y\":2}}");
    assert_json("a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc: {<<: [*a, *b, {z: 3}]}\n",
                "{\"a\":{\"x\":1},\"b\":{\"x\":2,\"y\":2},\"c\":{\"x\":1,\"y\":2,\"z\":3}}");
    assert_json("{\"<<\": 1}", "{\"<<\":1}");
    /* A merged mapping that is merged again. */
    assert_json("a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b, z: 3}\n",
                "{\"a\":{\"x\":1},\"b\":{\"y\":2,\"x\":1},\"c\":{\"z\":3,\"y\":2,\"x\":1}}");
    _cleanup_yaml_doc_ struct yaml_doc *doc =
        load("a: &a {x: 1, m: {n: 1}}\nb:\n  <<: *a\n  z: 1\n");
    const json_t *b = json_object_get(yaml_root(doc), "b");
    assert_pos(yaml_key_pos(doc, b, "x"), 1, 8);
    assert_pos(yaml_key_pos(doc, b, "z"), 4, 3);
    assert_pos(yaml_value_pos(doc, json_object_get(b, "m"), "n"), 1, 21);
    assert_refused("a: {<<: 1}", "f.yaml:1:9: \"<<\" needs a mapping or a list of mappings");
    assert_refused("a: {<<: [{}, 1]}", "f.yaml:1:14: \"<<\" needs a mapping or a list of mappings");
    assert_refused("a: {<<: {}, <<: {}}", "f.yaml:1:13: the key \"<<\" stands here a second time");
}

static void duplicates(void **state) {
    (void)state;
    assert_refused("a: 1\nb: 2\n\"a\": 3\n",
                   "f.yaml:3:1: the key \"a\" stands here a second time (first in line 1)");
    assert_refused("x: {a: 1, a: 1}",
                   "f.yaml:1:11: the key \"a\" stands here a second time (first in line 1)");
    assert_json("a: {a: {a: 1}}", "{\"a\":{\"a\":{\"a\":1}}}");
}

static void syntax(void **state) {
    (void)state;
    assert_refused("a: 1\nb: [1, 2\nc: 3\n",
                   "f.yaml:3:2: did not find expected ',' or ']' (while parsing a flow sequence "
                   "that begins in line 2)");
    assert_refused("a: 1\n b: 2\n", "f.yaml:2:3: mapping values are not allowed in this context");
    assert_refused("a:\n\tb: 1\n", "f.yaml:2:1: a tab cannot be used for indentation: use blanks");
    assert_refused("\xc3\xa4:\n  b: 1\n\tc: 1\n",
                   "f.yaml:3:1: a tab cannot be used for indentation: use blanks");
    assert_refused("a: \"x\n",
                   "f.yaml:2:1: found unexpected end of stream (while scanning a quoted "
                   "scalar that begins in line 1)");
    assert_refused("a: @x\n", "f.yaml:1:4: found character that cannot start any token (while "
                              "scanning for the next token)");
    assert_refused("?\n: x\n", "f.yaml:1:2: a key is missing before the \":\"");
    assert_refused("{[a]: 1}\n", "f.yaml:1:2: a key must be a plain or quoted word");
    assert_refused("ab\n\xff\n", "f.yaml:2:1: invalid leading UTF-8 octet");
    assert_refused("ab\xed\xa0\x80\n", "f.yaml:1:3: invalid Unicode character");
    assert_refused(
        "a: \"\\ud83d\\ude00\"\n",
        "f.yaml:1:7: found invalid Unicode character escape code (while parsing a quoted "
        "scalar)");
    assert_refused("a: \x01\n", "f.yaml:1:4: control characters are not allowed");
    assert_refused("a: 1\n---\nb: 1\n",
                   "f.yaml:3:1: a second document begins here: only one is expected");
}

static void hostile_values(void **state) {
    (void)state;
    assert_refused("a: \"x\\0y\"", "f.yaml:1:4: a string with a NUL character");
    assert_refused("\"x\\0y\": 1", "f.yaml:1:1: a key with a NUL character");
    static const char *const too_large[] = {"9223372036854775808", "0xfffffffffffffffff", "1e999"};
    for (size_t i = 0; i < ARRAY_LEN(too_large); i++) {
        _cleanup_free_ char *text = xasprintf("a: %s", too_large[i]);
        _cleanup_free_ char *why = xasprintf("f.yaml:1:4: %s cannot be used as a number: put it in "
                                             "quotes if it is a text",
                                             too_large[i]);
        assert_refused(text, why);
    }
    assert_refused(
        "a: -.inf",
        "f.yaml:1:4: -.inf cannot be used as a number: put it in quotes if it is a text");
    assert_refused("a: .NaN",
                   "f.yaml:1:4: .NaN cannot be used as a number: put it in quotes if it is a text");
    assert_refused("\"\\e[31m\": 1\n\"\\e[31m\": 1",
                   "f.yaml:2:1: the key \"\\x1b[31m\" stands here a second time (first in line 1)");
}

static void depth_limit(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    for (int i = 0; i < YAML_MAX_DEPTH - 1; i++)
        str_addc(&s, '[');
    str_addc(&s, '1');
    for (int i = 0; i < YAML_MAX_DEPTH - 1; i++)
        str_addc(&s, ']');
    yaml_doc_free(load(str_get(&s)));
    str_reset(&s);
    for (int i = 0; i < 50000; i++)
        str_addc(&s, '[');
    assert_refused(str_get(&s), "f.yaml:1:101: nested deeper than 100 levels");
    /* An alias deepens what it stands in. */
    str_reset(&s);
    str_add(&s, "a: &a ");
    for (int i = 0; i < 60; i++)
        str_addc(&s, '[');
    for (int i = 0; i < 60; i++)
        str_addc(&s, ']');
    str_add(&s, "\nb: ");
    for (int i = 0; i < 60; i++)
        str_addc(&s, '[');
    str_add(&s, "*a");
    for (int i = 0; i < 60; i++)
        str_addc(&s, ']');
    assert_refused(str_get(&s), "f.yaml:2:64: nested deeper than 100 levels");
}

static void billion_laughs(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    str_add(&s, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 12; i++) {
        str_addf(&s, "a%d: &a%d [", i, i);
        for (int j = 0; j < 10; j++)
            str_addf(&s, "%s*a%d", j ? "," : "", i - 1);
        str_add(&s, "]\n");
    }
    struct yaml_doc *doc = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(yaml_load("f.yaml", str_get(&s), s.len, &doc, &err), -EINVAL);
    assert_true(str_ends(err_msg(&err), ": aliases expand to more than 100000 values"));
}

static void too_many(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    for (int i = 0; i <= YAML_MAX_ANCHORS; i++)
        str_addf(&s, "- &a%d x\n", i);
    assert_refused(str_get(&s), "f.yaml:1001:3: more than 1000 anchors");
    str_reset(&s);
    str_addc(&s, '[');
    for (int i = 0; i <= YAML_MAX_NODES; i++)
        str_add(&s, "1,");
    struct yaml_doc *doc = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(yaml_load("f.yaml", str_get(&s), s.len, &doc, &err), -EINVAL);
    assert_true(str_ends(err_msg(&err), ": more than 1000000 values: too much for one file"));
    str_reserve(&s, YAML_MAX_BYTES);
    assert_int_equal(yaml_load("f.yaml", s.p, YAML_MAX_BYTES + 1, &doc, &err), -EFBIG);
    assert_string_equal(err_msg(&err), "f.yaml: longer than the 16777216 bytes that are accepted");
    assert_null(doc);
}

static void streams(void **state) {
    (void)state;
    static const char text[] = "# head\n---\na: 1\n---\n---\n# none\n---\nb: 2\n...\n---\nnull\n";
    struct yaml_docs docs;
    assert_int_equal(yaml_load_all("f.yaml", text, sizeof text - 1, &docs, NULL), 0);
    assert_int_equal(docs.len, 3);
    assert_pos(yaml_root_pos(docs.p[0]), 3, 1);
    assert_pos(yaml_root_pos(docs.p[1]), 8, 1);
    assert_pos(yaml_value_pos(docs.p[1], yaml_root(docs.p[1]), "b"), 8, 4);
    assert_true(json_is_null(yaml_root(docs.p[2])));
    yaml_docs_done(&docs);
    assert_int_equal(yaml_load_all("f.yaml", "", 0, &docs, NULL), 0);
    assert_int_equal(docs.len, 0);
    yaml_docs_done(&docs);
    /* A mistake in a later document spoils all; nothing is left over. */
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(yaml_load_all("f.yaml", "a: 1\n---\nb: {\n", 15, &docs, &err), -EINVAL);
    assert_int_equal(strncmp(err_msg(&err), "f.yaml:4:1: ", 12), 0);
}

/* Whatever is cut off or changed: an answer, no crash, no leak (the sanitizers look on). */
static void damaged_input(void **state) {
    (void)state;
    static const char text[] = "a: &x {k: [1, \"two\", !!str 3]}\nb:\n  <<: *x\n  c: |\n    text\n"
                               "d: [*x, ~]\n? e\n: 'f'\n...\n---\ng: >-\n  h\n";
    static const char junk[] = "\0\t:[]{}&*!|>'\"%@`-?#,\n\xff\xc3 ax1~<";
    char copy[sizeof text];
    for (size_t n = 0; n < sizeof text; n++) {
        struct yaml_docs docs;
        if (yaml_load_all("f", text, n, &docs, NULL) == 0)
            yaml_docs_done(&docs);
        for (size_t j = 0; j < sizeof junk; j++) {
            memcpy(copy, text, sizeof text);
            copy[n] = junk[j];
            if (yaml_load_all("f", copy, sizeof text - 1, &docs, NULL) == 0)
                yaml_docs_done(&docs);
        }
    }
}

static void files(void **state) {
    (void)state;
    char path[] = "/tmp/slipway-yaml-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "a: [1\n", 6), 6);
    close(fd);
    struct yaml_doc *doc;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(yaml_load_file(path, &doc, &err), -EINVAL);
    _cleanup_free_ char *want = xasprintf("%s:2:1: ", path);
    assert_int_equal(strncmp(err_msg(&err), want, strlen(want)), 0);
    unlink(path);
    assert_int_equal(yaml_load_file(path, &doc, &err), -ENOENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_scalars), cmocka_unit_test(tags),
        cmocka_unit_test(json_is_yaml),  cmocka_unit_test(empty_documents),
        cmocka_unit_test(anchors),       cmocka_unit_test(anchors_end_with_their_document),
        cmocka_unit_test(merge_keys),    cmocka_unit_test(duplicates),
        cmocka_unit_test(syntax),        cmocka_unit_test(hostile_values),
        cmocka_unit_test(depth_limit),   cmocka_unit_test(billion_laughs),
        cmocka_unit_test(too_many),      cmocka_unit_test(streams),
        cmocka_unit_test(damaged_input), cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
