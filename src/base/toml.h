/* TOML, as far as configuration files of other programs need it, read into JSON values.
 *
 * Tables, arrays of tables, dotted keys, comments; strings on one line, integers, booleans, and
 * arrays of these. What else TOML has (dates, floats, inline tables, strings of several lines) is
 * refused by name, never misread. */
#ifndef BASE_TOML_H
#define BASE_TOML_H

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"

/* What a reader thinks of a key, or of a table, as soon as it was read. */
struct toml_item {
    const char *path;    /* "lock.groups.name": all tables that it is in, and itself */
    const json_t *value; /* NULL: it is a table */
    bool many;           /* one of an array of tables */
};
struct toml_judge {
    /* False: it is wrong, and why is in `why`: of the value (`*of_value`), or of the key. */
    bool (*good)(void *arg, const struct toml_item *item, struct str *why, bool *of_value);
    void *arg;
};

/* -EINVAL with "NAME:LINE: why", or, of what the judge does not like, "NAME:LINE:COLUMN: why".
 * `judge` may be NULL. */
int toml_load(const char *name, const char *text, const struct toml_judge *judge, json_t **out,
              struct err *err);

#endif
