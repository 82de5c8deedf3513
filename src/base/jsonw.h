/* Writes JSON into a struct str: `jsonw_begin(&w, '{'); jsonw_key(&w, "a"); jsonw_int(&w, 1);
 * jsonw_end(&w);`. Compact or indented by two blanks. Commas and nesting are the writer's business.
 * Bytes that are not UTF-8 become U+FFFD, control characters are escaped, so that the output is
 * always valid. */
#ifndef BASE_JSONW_H
#define BASE_JSONW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { JSONW_DEPTH = 64 };

struct jsonw {
    struct str *out;
    bool pretty;
    bool after_key;
    int depth;
    char close[JSONW_DEPTH];
    bool any[JSONW_DEPTH];
};

void jsonw_init(struct jsonw *w, struct str *out, bool pretty);
/* `open` is '{' or '['. */
void jsonw_begin(struct jsonw *w, char open);
void jsonw_end(struct jsonw *w);
void jsonw_key(struct jsonw *w, const char *key);
/* NULL writes null. */
void jsonw_str(struct jsonw *w, const char *s);
void jsonw_strn(struct jsonw *w, const char *s, size_t len);
void jsonw_int(struct jsonw *w, int64_t v);
void jsonw_bool(struct jsonw *w, bool v);
void jsonw_null(struct jsonw *w);
/* Text that is JSON already. */
void jsonw_raw(struct jsonw *w, const char *json);

/* Shorthands for members of an object. */
void jsonw_kstr(struct jsonw *w, const char *key, const char *s);
void jsonw_kint(struct jsonw *w, const char *key, int64_t v);
void jsonw_kbool(struct jsonw *w, const char *key, bool v);
/* As jsonw_kstr(), but an empty or NULL string leaves the member out. */
void jsonw_kopt(struct jsonw *w, const char *key, const char *s);
/* As jsonw_kstr(), but no more than `max` bytes of it, in whole characters. */
void jsonw_kcut(struct jsonw *w, const char *key, const char *s, size_t max);
void jsonw_kbegin(struct jsonw *w, const char *key, char open);

/* A string with its quotes, appended to `out`. */
void json_quote(struct str *out, const char *s, size_t len);

#endif
