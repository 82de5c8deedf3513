/* Lines of text that fit a screen: pieces in styles, columns by display width, what does not fit
 * is cut off and the cut is shown. Pure; text from anywhere is made printable.
 *
 *     struct line l = line_begin(&out, &screen);
 *     line_put(&l, STYLE_RED, "FAILED");
 *     line_to(&l, 20);
 *     line_fill(&l, STYLE_NONE, reason, 20, 2);
 *     line_end(&l);
 *
 * No line gets wider than the screen less one column: some terminals go to the next line by
 * themselves after the last one. No line ends with blanks. */
#ifndef CLI_DRAIN_LINE_H
#define CLI_DRAIN_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "cli/term.h"

struct screen {
    int columns, rows;
    bool color, utf8;
};

/* A line under way. */
struct line {
    struct str *out;
    const struct screen *s;
    size_t width, blanks; /* blanks are kept back until something follows */
    bool full;
};

struct line line_begin(struct str *out, const struct screen *s);
void line_end(struct line *l);
/* Blanks up to a column; nothing when it is past it. */
void line_to(struct line *l, size_t column);
void line_skip(struct line *l, size_t n);
/* Columns that are left. */
size_t line_room(const struct line *l);
void line_put(struct line *l, enum style style, const char *text);
void line_putf(struct line *l, enum style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* At most `max` columns of it. */
void line_put_max(struct line *l, enum style style, const char *text, size_t max);
/* Words of `text` over at most `lines` lines; those after the first begin at `indent`. The last one
 * is cut off when there is more. Returns how many lines were begun. */
size_t line_fill(struct line *l, enum style style, const char *text, size_t indent, size_t lines);

/* Rows that lines take on a screen that may have become narrower than they are. Escape sequences
 * take no room. */
size_t line_rows(const char *text, int columns);

/* What stands for text that was cut off. */
const char *line_ellipsis(const struct screen *s);

#endif
