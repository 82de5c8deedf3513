/* A terminal or what stands in for one: what standard output and standard error can show, and how
 * text gets there.
 *
 * Decisions are made per stream and are pure functions of a struct term_env, so that they can be
 * tested. Only SGR 1, 2, 31 to 36 and 0 are ever sent: the user's theme decides about contrast. A
 * colour never stands alone, there is always a word or a glyph.
 *
 * Text is collected and goes out with term_flush(), at the end at the latest. If it is longer than
 * the screen of a terminal it goes through the pager. A write that fails is remembered in `error`
 * and nothing more is written; whoever ends the program reports it (term_close()). */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* What the environment says; each may be NULL. */
struct term_env {
    const char *no_color;       /* $NO_COLOR: non-empty, no colour; beats the next two */
    const char *clicolor_force; /* $CLICOLOR_FORCE: non-empty, colour also in a pipe */
    const char *force_color;    /* $FORCE_COLOR: the same */
    const char *term;           /* $TERM: "dumb" has no colour */
    const char *force_tty; /* $SLIPWAY_FORCE_TTY: act as on a terminal; a number is its width */
    const char *columns;   /* $COLUMNS: beats what the terminal says */
    const char *pager;     /* $SLIPWAY_PAGER, else $PAGER; "" or "cat": none */
    const char *codeset;   /* of the locale: "UTF-8" */
};
/* Reads the environment and the locale (setlocale() is the caller's). */
void term_env_get(struct term_env *env, char *(*get)(const char *name));

/* Colour on a stream: --color first, then $NO_COLOR, then $CLICOLOR_FORCE and $FORCE_COLOR, then
 * whether it is a terminal that can. */
bool term_wants_color(enum color_when when, const struct term_env *env, bool tty);
/* Columns: $SLIPWAY_FORCE_TTY if it is a number, $COLUMNS, what the terminal said (`found`, 0 when
 * it did not), 80. */
int term_columns(const struct term_env *env, int found);
bool term_is_utf8(const struct term_env *env);
/* The pager's command, or NULL when there shall be none. */
const char *term_pager(const struct term_env *env);

enum style {
    STYLE_NONE,
    STYLE_BOLD,
    STYLE_DIM,
    STYLE_RED,
    STYLE_GREEN,
    STYLE_YELLOW,
    STYLE_BLUE,
    STYLE_MAGENTA,
    STYLE_CYAN,
};
#define SGR_RESET "\033[0m"
/* The escape sequence that begins a style; "" for STYLE_NONE. */
const char *term_sgr(enum style style);

enum glyph { GLYPH_NONE, GLYPH_OK, GLYPH_BUSY, GLYPH_WARN, GLYPH_BAD };
const char *term_glyph(enum glyph glyph, bool utf8);

struct term {
    int fd;
    bool tty; /* a terminal, or shall be treated as one */
    bool color;
    bool utf8;
    int columns, rows;
    const char *pager; /* NULL: never */
    struct str buf;    /* add to it freely; trusted or printable text only */
    int error;         /* positive errno of the first write that failed */
    /* Not 0: we shall end, and do not wait for a reader that does not read. May be NULL. */
    const volatile sig_atomic_t *interrupted;
};

/* Looks at the file descriptor; nothing is written. */
void term_open(struct term *t, int fd, enum color_when when, const struct term_env *env);
/* Appends to the buffer. */
void term_printf(struct term *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Text from outside, made printable. */
void term_text(struct term *t, const char *s);
/* In a style if the stream has colour. */
void term_styled(struct term *t, enum style style, const char *s);
/* Writes what was collected, through the pager if it is long and `t` is a real terminal. */
void term_flush(struct term *t);
/* Flushes, closes (standard error stays open), frees, and tells what went wrong since the start: 0,
 * or a negative errno and a sentence. -EPIPE is nobody's fault: the reader had enough. */
int term_close(struct term *t, struct err *err);

#endif
