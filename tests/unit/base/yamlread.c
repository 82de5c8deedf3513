/* Tests of base/yamlread: every type, every refusal with its place and its advice. */
#include "base/yamlread.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

struct thing {
    char *name;
    bool loud;
    int64_t size, level;
    char **tags;
    const json_t *map, *list, *any;
};

static const struct yaml_field fields[] = {
    YAML_FIELD("name", YAML_T_STR, struct thing, name, .required = true),
    YAML_FIELD("loud", YAML_T_BOOL, struct thing, loud),
    YAML_FIELD("size", YAML_T_INT, struct thing, size),
    YAML_FIELD("level", YAML_T_INT, struct thing, level, .min = 1, .max = 9),
    YAML_FIELD("tags", YAML_T_STRS, struct thing, tags),
    YAML_FIELD("some-map", YAML_T_OBJECT, struct thing, map),
    YAML_FIELD("some-list", YAML_T_LIST, struct thing, list),
    YAML_FIELD("any", YAML_T_ANY, struct thing, any),
    YAML_IGNORED("old"),
};

static void thing_done(struct thing *t) {
    free(t->name);
    yaml_strs_free(t->tags);
}

static int read_text(const char *text, struct yaml_doc **doc, struct thing *t, struct err *err) {
    assert_int_equal(yaml_load("f", text, strlen(text), doc, NULL), 0);
    return yaml_read(*doc, yaml_root(*doc), yaml_root_pos(*doc), "thing", fields, ARRAY_LEN(fields),
                     t, err);
}

static void assert_refused(const char *text, const char *message) {
    _cleanup_yaml_doc_ struct yaml_doc *doc = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    struct thing t = {0};
    assert_int_equal(read_text(text, &doc, &t, &err), -EINVAL);
    assert_string_equal(err_msg(&err), message);
    thing_done(&t);
}

static void all_types(void **state) {
    (void)state;
    _cleanup_yaml_doc_ struct yaml_doc *doc = NULL;
    struct thing t = {0};
    assert_int_equal(read_text("name: n\nloud: true\nsize: -5\nlevel: 9\ntags: [a, '']\n"
                               "some-map: {x: 1}\nsome-list: [1]\nany: 7\nold: [whatever]\n",
                               &doc, &t, NULL),
                     0);
    assert_string_equal(t.name, "n");
    assert_true(t.loud);
    assert_int_equal(t.size, -5);
    assert_int_equal(t.level, 9);
    assert_string_equal(t.tags[0], "a");
    assert_string_equal(t.tags[1], "");
    assert_null(t.tags[2]);
    assert_ptr_equal(t.map, json_object_get(yaml_root(doc), "some-map"));
    assert_ptr_equal(t.list, json_object_get(yaml_root(doc), "some-list"));
    assert_int_equal(json_integer_value(t.any), 7);
    thing_done(&t);
}

static void null_is_absent(void **state) {
    (void)state;
    _cleanup_yaml_doc_ struct yaml_doc *doc = NULL;
    struct thing t = {.loud = true, .size = 3};
    assert_int_equal(read_text("name: n\nloud: null\nsize: ~\ntags:\nsome-map: null\nany: null\n",
                               &doc, &t, NULL),
                     0);
    assert_true(t.loud);
    assert_int_equal(t.size, 3);
    assert_null(t.tags);
    assert_null(t.map);
    assert_null(t.any);
    thing_done(&t);
}

#define KEYS                                                                                       \
    "\"name\", \"loud\", \"size\", \"level\", \"tags\", \"some-map\", \"some-list\", \"any\", "    \
    "\"old\""

static void unknown_keys(void **state) {
    (void)state;
    assert_refused("name: n\nnaem: x\n",
                   "f:2:1: unknown key \"naem\" in thing; did you mean \"name\"?");
    assert_refused("name: n\nsomeMap: {}\n",
                   "f:2:1: unknown key \"someMap\" in thing; did you mean \"some-map\"?");
    assert_refused("name: n\n  \nquaternion: x\n",
                   "f:3:1: unknown key \"quaternion\" in thing; valid keys: " KEYS);
    assert_refused("{\"\\e[2J\": 1}",
                   "f:1:2: unknown key \"\\x1b[2J\" in thing; valid keys: " KEYS);
}

static void wrong_types(void **state) {
    (void)state;
    assert_refused("name: 12\n",
                   "f:1:7: thing: name must be a string, not a number: put it in quotes");
    assert_refused("name: true\n",
                   "f:1:7: thing: name must be a string, not true or false: put it in quotes");
    assert_refused("name: {}\n", "f:1:7: thing: name must be a string, not a mapping");
    assert_refused("name: n\nloud: yes\n", "f:2:7: thing: loud must be written as true or false");
    assert_refused("name: n\nloud: 'true'\n",
                   "f:2:7: thing: loud must be true or false, without quotes");
    assert_refused("name: n\nloud: 1\n", "f:2:7: thing: loud must be true or false, not a number");
    assert_refused("name: n\nsize: 1.5\n",
                   "f:2:7: thing: size must be a whole number, not a number");
    assert_refused("name: n\nsize: x\n", "f:2:7: thing: size must be a whole number, not a string");
    assert_refused("name: n\nlevel: 0\n", "f:2:8: thing: level must be between 1 and 9, not 0");
    assert_refused("name: n\nlevel: 10\n", "f:2:8: thing: level must be between 1 and 9, not 10");
    assert_refused("name: n\ntags: a\n",
                   "f:2:7: thing: tags must be a list of strings, not a string");
    assert_refused("name: n\ntags:\n- a\n- 5\n",
                   "f:4:3: thing: tags[1] must be a string, not a number: put it in quotes");
    assert_refused("name: n\nsome-map: []\n",
                   "f:2:11: thing: some-map must be a mapping, not a list");
    assert_refused("name: n\nsome-list: {}\n",
                   "f:2:12: thing: some-list must be a list, not a mapping");
    assert_refused("- 1\n", "f:1:1: thing must be a mapping, not a list");
    assert_refused("text\n", "f:1:1: thing must be a mapping, not a string");
}

static void required_keys(void **state) {
    (void)state;
    assert_refused("loud: true\n", "f:1:1: thing: name is missing");
    assert_refused("name: null\n", "f:1:1: thing: name is missing");
    assert_refused("", "f:1:1: thing: name is missing");
}

static void the_first_mistake_is_reported(void **state) {
    (void)state;
    assert_refused("size: x\nnaem: y\n", "f:1:7: thing: size must be a whole number, not a string");
}

static void words(void **state) {
    (void)state;
    static const char *const modes[] = {"Never", "IfAvailable", "Always"};
    _cleanup_yaml_doc_ struct yaml_doc *doc = NULL;
    assert_int_equal(yaml_load("f", "m: x", 4, &doc, NULL), 0);
    _cleanup_err_ struct err err = ERR_INIT;
    struct yaml_pos pos = yaml_value_pos(doc, yaml_root(doc), "m");
    assert_int_equal(yaml_bad_word(doc, pos, "mode", "never", modes, 3, &err), -EINVAL);
    assert_string_equal(err_msg(&err),
                        "f:1:4: \"never\" is no valid mode; did you mean \"Never\"?");
    yaml_bad_word(doc, pos, "mode", "x\n", modes, 3, &err);
    assert_string_equal(err_msg(&err), "f:1:4: \"x\\n\" is no valid mode; valid: \"Never\", "
                                       "\"IfAvailable\", \"Always\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_types),     cmocka_unit_test(null_is_absent),
        cmocka_unit_test(unknown_keys),  cmocka_unit_test(wrong_types),
        cmocka_unit_test(required_keys), cmocka_unit_test(the_first_mistake_is_reported),
        cmocka_unit_test(words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
