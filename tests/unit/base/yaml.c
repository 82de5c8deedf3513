/* Tests of base/yaml: where things stand, and errors that say so. */
#include "base/yaml.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct yaml_doc *load(const char *text) {
    struct yaml_doc *doc = NULL;
    assert_int_equal(yaml_load("f.yaml", text, strlen(text), &doc, NULL), 0);
    return doc;
}

static void assert_pos(struct yaml_pos pos, unsigned line, unsigned col) {
    assert_int_equal(pos.line, line);
    assert_int_equal(pos.col, col);
}

static void places(void **state) {
    (void)state;
    _cleanup_yaml_doc_ struct yaml_doc *doc = load("# c\n"
                                                   "a: 1\n"
                                                   "b:\n"
                                                   "  - x\n"
                                                   "  - {k: true, l: true}\n"
                                                   "\"c\":   null\n"
                                                   "\xc3\xa4\xc3\xb6: {d: ~}\n");
    const json_t *root = yaml_root(doc);
    assert_pos(yaml_root_pos(doc), 2, 1);
    assert_pos(yaml_key_pos(doc, root, "a"), 2, 1);
    assert_pos(yaml_value_pos(doc, root, "a"), 2, 4);
    const json_t *b = json_object_get(root, "b");
    assert_pos(yaml_key_pos(doc, root, "b"), 3, 1);
    assert_pos(yaml_value_pos(doc, root, "b"), 4, 3);
    assert_pos(yaml_item_pos(doc, b, 0), 4, 5);
    assert_pos(yaml_item_pos(doc, b, 1), 5, 5);
    const json_t *map = json_array_get(b, 1);
    /* The same singleton twice, told apart by its keys. */
    assert_ptr_equal(json_object_get(map, "k"), json_object_get(map, "l"));
    assert_pos(yaml_value_pos(doc, map, "k"), 5, 9);
    assert_pos(yaml_value_pos(doc, map, "l"), 5, 18);
    assert_pos(yaml_value_pos(doc, root, "c"), 6, 8);
    /* Columns are characters, not bytes. */
    const json_t *umlaut = json_object_get(root, "\xc3\xa4\xc3\xb6");
    assert_pos(yaml_value_pos(doc, root, "\xc3\xa4\xc3\xb6"), 7, 5);
    assert_pos(yaml_value_pos(doc, umlaut, "d"), 7, 9);
    assert_pos(yaml_value_pos(doc, root, "nix"), 0, 0);
    assert_pos(yaml_item_pos(doc, b, 2), 0, 0);

    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(yaml_err(doc, yaml_key_pos(doc, map, "l"), &err, "%s!", "no"), -EINVAL);
    assert_string_equal(err_msg(&err), "f.yaml:5:15: no!");
    yaml_err(doc, (struct yaml_pos){0, 0}, &err, "no");
    assert_string_equal(err_msg(&err), "f.yaml: no");
}

/* More than the table holds at first, with keys that are numbers next to list elements. */
static void many_places(void **state) {
    (void)state;
    char text[20000];
    size_t n = 0;
    for (int i = 0; i < 1000; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%d: [x]\n", i);
    _cleanup_yaml_doc_ struct yaml_doc *doc = load(text);
    for (unsigned i = 0; i < 1000; i++) {
        char key[16];
        snprintf(key, sizeof key, "%u", i);
        const json_t *list = json_object_get(yaml_root(doc), key);
        assert_pos(yaml_key_pos(doc, yaml_root(doc), key), i + 1, 1);
        assert_pos(yaml_item_pos(doc, list, 0), i + 1, (unsigned)strlen(key) + 4);
        assert_pos(yaml_value_pos(doc, list, "0"), 0, 0);
    }
}

static void nothing_to_free(void **state) {
    (void)state;
    yaml_doc_free(NULL);
    struct yaml_docs docs = {0};
    yaml_docs_done(&docs);
    _cleanup_yaml_doc_ struct yaml_doc *doc = load("");
    assert_true(json_is_null(yaml_root(doc)));
    assert_pos(yaml_root_pos(doc), 1, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places),
        cmocka_unit_test(many_places),
        cmocka_unit_test(nothing_to_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
