/* Output tables: typed cells once, then a table, a wide table or names from the same data.
 *
 * Columns are fixed when the table is made. A row is begun with table_row() and then gets one cell
 * per column, in their order; cells that are missing at the end are empty. Texts are copied. Rows
 * appear in the order in which they were added.
 *
 * Layout is kubectl's: upper-case headings, columns separated by three blanks and never narrower
 * than six, no line wrapped or cut, unless table_fold() was called. Widths only grow, also over
 * table_clear(), so that the lines of a watch stay under their headings. Texts come from the
 * cluster: they are made printable. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct table;

struct table_column {
    const char *title; /* "NAME" */
    bool wide;         /* only in -o wide */
};

/* How a thing is; decides colour and glyph, never the word. */
enum state { STATE_NONE, STATE_GOOD, STATE_BUSY, STATE_WARN, STATE_BAD };

/* How to show it. */
struct table_view {
    bool wide;
    bool no_headers;
    bool absolute; /* times of day in UTC instead of ages */
    bool color;
    bool glyphs; /* in front of a state's word: on terminals, not in pipes */
    bool utf8;   /* else ASCII glyphs */
    int64_t now; /* microseconds, for ages */
    int columns; /* of the terminal, for table_fold(); 0: there is none */
};

#define _cleanup_table_ __attribute__((cleanup(table_cleanup)))

/* The array of columns is copied, its texts are not. */
struct table *table_new(const struct table_column *columns, size_t n);
void table_free(struct table *t);
static inline void table_cleanup(struct table **t) {
    table_free(*t);
}
/* Its last column has sentences: on a terminal that is too narrow for the table they are filled,
 * and where even that leaves too little, each row becomes a block with a line for each cell that
 * says something. */
void table_fold(struct table *t);
/* Rows go, widths stay. */
void table_clear(struct table *t);

/* `name` is what -o name prints: "node/worker-1". */
void table_row(struct table *t, const char *name);
/* NULL and empty: "<none>". */
void table_str(struct table *t, const char *s);
void table_int(struct table *t, int64_t v);
/* The same of something that may not be known: "?". */
void table_count(struct table *t, int64_t v, bool known);
/* A point in time; 0: "<unknown>". Shown as age ("3h31m") or, if `absolute`, as UTC. */
void table_time(struct table *t, int64_t when);
void table_state(struct table *t, enum state state, const char *word);
void table_empty(struct table *t);

/* Appends headings and rows. */
void table_text(struct table *t, const struct table_view *view, struct str *out);
/* Appends the name of each row, a line each. */
void table_names(const struct table *t, struct str *out);

#endif
