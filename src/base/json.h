/* Small additions to jansson. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>

#include "base/mem.h"
#include "base/str.h"

/* "a mapping", "a string", "true or false", ...: for "must be a list, not a string". */
const char *json_type_words(const json_t *v);

/* The member if it is there and a string, else NULL. */
const char *json_str(const json_t *obj, const char *key);

/* The shortest text that reads back as the same number, and as one with a fraction: "70.597". */
enum { JSON_REAL_TEXT = 48 };
const char *json_real_text(double v, char buf[static JSON_REAL_TEXT]);
/* Appends the value in one line, with such numbers: json_dumps() has but one precision for all. */
void json_add_text(const json_t *v, struct str *out);

/* Overwrites every string of the value and gives back the reference: for values that hold keys and
 * tokens. Nobody else may hold a reference. Takes NULL. */
void json_wipe(json_t *v);

static inline void json_cleanup_(json_t **v) {
    json_decref(*v);
}
#define _cleanup_json_ __attribute__((cleanup(json_cleanup_)))

#endif
