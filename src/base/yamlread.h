/* Reads a mapping of a YAML document into a C struct by a table of its keys.
 *
 * Every configuration file of the program goes through this, so that all of them treat mistakes the
 * same way: an unknown key is refused with file, line and column and the nearest valid key, a value
 * of the wrong type with what was expected; null is the same as absent.
 *
 *     struct thing { char *name; bool loud; };
 *     static const struct yaml_field fields[] = {
 *         YAML_FIELD("name", YAML_T_STR, struct thing, name, .required = true),
 *         YAML_FIELD("loud", YAML_T_BOOL, struct thing, loud),
 *     };
 *     yaml_read(doc, obj, pos, "thing", fields, ARRAY_LEN(fields), &thing, err);
 */
#ifndef BASE_YAMLREAD_H
#define BASE_YAMLREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/yaml.h"

enum yaml_type {
    YAML_T_STR,    /* char *: a copy, owned by the struct */
    YAML_T_BOOL,   /* bool */
    YAML_T_INT,    /* int64_t; when min < max it must lie between them */
    YAML_T_STRS,   /* char **: a list of strings, copied, NULL-terminated */
    YAML_T_OBJECT, /* const json_t *: borrowed from the document */
    YAML_T_LIST,   /* const json_t * */
    YAML_T_ANY,    /* const json_t * */
    YAML_T_IGNORE, /* a valid key that is not read: YAML_IGNORED("preferences") */
};

struct yaml_field {
    const char *key;
    enum yaml_type type;
    size_t offset;
    bool required;
    int64_t min, max;
};

#define YAML_FIELD(key_, type_, struct_, member_, ...)                                             \
    { .key = (key_), .type = (type_), .offset = offsetof(struct_, member_), ##__VA_ARGS__ }
#define YAML_IGNORED(key_)                                                                         \
    { .key = (key_), .type = YAML_T_IGNORE }

/* `out` must be zeroed (or hold defaults of plain types) and may be partly filled after a failure:
 * its owner frees it as always. `what` names the mapping in messages ("cluster"); `pos` is where it
 * stands. A null `obj` is an empty mapping. */
int yaml_read(const struct yaml_doc *doc, const json_t *obj, struct yaml_pos pos, const char *what,
              const struct yaml_field *fields, size_t n, void *out, struct err *err);

/* The error of a string that is none of the valid ones: "FILE:L:C: "x" is no valid `what`; did you
 * mean "y"?", or the valid ones when none is near. Returns -EINVAL. */
int yaml_bad_word(const struct yaml_doc *doc, struct yaml_pos pos, const char *what,
                  const char *word, const char *const *words, size_t n, struct err *err);

void yaml_strs_free(char **strs);

#endif
