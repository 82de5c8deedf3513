/* -o: the formats of output, and how a JSON document becomes each of them.
 *
 * A verb makes its result once: rows of a struct table, or a JSON document written with jsonw. The
 * formats are renderings of that. Formats that take an expression compile it while the command line
 * is read, so that a wrong one ends before anything is asked of a cluster. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct jsonpath;

enum output_kind {
    OUTPUT_TABLE,
    OUTPUT_WIDE,
    OUTPUT_NAME,
    OUTPUT_JSON,
    OUTPUT_YAML,
    OUTPUT_JSONPATH,
    OUTPUT_COLUMNS,
};

struct output_column {
    const char *title;
    const struct jsonpath *path;
};

struct output_format {
    enum output_kind kind;
    const struct jsonpath *path;   /* of OUTPUT_JSONPATH */
    struct output_column *columns; /* of OUTPUT_COLUMNS */
    size_t n_columns;
};

/* What completion offers; NULL-terminated. */
extern const char *const output_words[];
extern const char *const output_document_words[]; /* for output_parse_document() */

/* "json", "jsonpath={.a}", "custom-columns=A:.a,B:.b" ...; empty is OUTPUT_TABLE. `field` is a
 * struct output_format (the shape of struct option's parse). */
int output_parse(const char *text, struct arena *arena, void *field, struct err *err);
/* The same for a result that has no rows: wide, name and custom-columns are refused. */
int output_parse_document(const char *text, struct arena *arena, void *field, struct err *err);
/* The same for one that has more to say in words: wide is accepted. */
extern const char *const output_text_words[];
int output_parse_text(const char *text, struct arena *arena, void *field, struct err *err);
/* Whether the format is made from a JSON document rather than from a table's rows. */
static inline bool output_is_document(const struct output_format *f) {
    return f->kind >= OUTPUT_JSON;
}
/* The word for messages: "json". */
const char *output_name(enum output_kind kind);

#endif
