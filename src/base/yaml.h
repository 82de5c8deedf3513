/* YAML (and so JSON), read into jansson values that remember where they stood.
 *
 * A document is a tree of ordinary json_t values, to be read only, and a table beside it that knows
 * the line and column of every key, value and list element. Errors in a file can thus always name
 * the place: `FILE:LINE:COL: what`.
 *
 * What is read:
 *  - Plain scalars by the core schema of YAML 1.2: null and ~, true and false, numbers; all else is
 *    a string, also `yes`, `no`, `on` and `off` (kubectl's parser takes those for booleans),
 * `1_000` and dates. 0777 is seven hundred and seventy-seven. Quoted scalars and block scalars are
 * strings.
 *  - The tags !!str, !!int, !!float, !!bool, !!null, !!map and !!seq; any other tag is an error.
 *  - Anchors and aliases: an alias becomes a copy, whose positions are those of the original. The
 *    number of values made by copying is limited (no "billion laughs"); an alias inside its own
 *    anchor is an error.
 *  - Merge keys: `<<` (not quoted) with a mapping or a list of mappings. Keys that stand in the
 *    mapping itself win, then the earlier of the merged ones.
 * What is refused, with its place: a key twice in one mapping, keys that are no scalars, NUL in
 * strings, numbers that fit neither int64 nor a finite double, nesting deeper than YAML_MAX_DEPTH.
 *
 * Strings may be secrets: yaml_doc_free() overwrites them. */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

/* Limits against hostile or accidental input. The largest files that are read, bundles of custom
 * resource definitions, are near 5 MiB, 300,000 values and 40 levels. */
enum {
    YAML_MAX_BYTES = 16 << 20,
    YAML_MAX_NODES = 1000000,
    YAML_MAX_COPIES = 100000, /* of which made by aliases */
    YAML_MAX_ANCHORS = 1000,
    YAML_MAX_DEPTH = 100,
};

/* Counted from 1, columns in characters; line 0: not known. */
struct yaml_pos {
    unsigned line, col;
};

struct yaml_doc;

/* Reads a text with one document; `name` is the file for messages. An empty text is the document
 * null. A second document is an error, unless it is empty. */
int yaml_load(const char *name, const char *text, size_t len, struct yaml_doc **out,
              struct err *err);
int yaml_load_file(const char *path, struct yaml_doc **out, struct err *err);
void yaml_doc_free(struct yaml_doc *doc);
#define _cleanup_yaml_doc_ __attribute__((cleanup(yaml_doc_cleanup_)))

/* All documents of a stream (manifests). Empty ones are left out. */
struct yaml_docs {
    struct yaml_doc **p;
    size_t len;
};
int yaml_load_all(const char *name, const char *text, size_t len, struct yaml_docs *out,
                  struct err *err);
void yaml_docs_done(struct yaml_docs *docs);

/* The value of the document; borrowed, never NULL. */
const json_t *yaml_root(const struct yaml_doc *doc);

/* Where things stand. Objects and lists must be those of this document. */
struct yaml_pos yaml_root_pos(const struct yaml_doc *doc);
struct yaml_pos yaml_key_pos(const struct yaml_doc *doc, const json_t *obj, const char *key);
struct yaml_pos yaml_value_pos(const struct yaml_doc *doc, const json_t *obj, const char *key);
struct yaml_pos yaml_item_pos(const struct yaml_doc *doc, const json_t *list, size_t i);

/* Sets `err` to "NAME:LINE:COL: ..." (EINVAL) and returns -EINVAL. */
int yaml_err(const struct yaml_doc *doc, struct yaml_pos pos, struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static inline void yaml_doc_cleanup_(struct yaml_doc **doc) {
    yaml_doc_free(*doc);
}

#endif
