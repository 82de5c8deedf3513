/* kubectl's JSONPath: "{.items[*].name}" over a JSON document.
 *
 * Understood: text outside of braces, "{"text\n"}" inside of them, $ and @, .name, .a\.b, ['name'],
 * [0], [-1], [from:to:step], [0,2], ['a','b'], [*], .*, ..name, filters [?(@.a=="b")] with ==, !=,
 * <, <=, >, >= or mere existence, {range PATH}...{end}. A path that leads nowhere prints nothing. A
 * template without any braces is taken as one path.
 *
 * Compiled templates live in the arena they were made with. */
#ifndef CLI_JSONPATH_H
#define CLI_JSONPATH_H

#include <jansson.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

struct jsonpath;

struct jsonpath_values {
    json_t **p; /* borrowed from the document */
    size_t len, cap;
};

/* The message of an error has the column it was found in. */
int jsonpath_parse(const char *text, struct arena *arena, const struct jsonpath **out,
                   struct err *err);
/* Appends the template's text: the values of a path are separated by blanks, texts come as they
 * are, everything else as JSON. */
void jsonpath_print(const struct jsonpath *path, json_t *doc, struct str *out);
/* The values that the paths of a template lead to, without its text. */
void jsonpath_values(const struct jsonpath *path, json_t *doc, struct jsonpath_values *out);
/* One value as jsonpath_print() shows it. */
void jsonpath_print_value(const json_t *value, struct str *out);

#endif
