/* Output tables. */
#include "cli/table.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "cli/term.h"
#include "cli/text.h"

/* kubectl's figures for its columns. */
enum { PADDING = 3, MIN_WIDTH = 6 };

enum cell_kind { CELL_EMPTY, CELL_STR, CELL_INT, CELL_TIME, CELL_STATE };

struct cell {
    enum cell_kind kind;
    enum state state;
    int64_t number;
    const char *text;
};

struct row {
    const char *name;
    size_t first; /* its cells begin here */
    size_t n;
};

struct table {
    struct table_column *columns;
    size_t *widths; /* so far, without padding */
    size_t n;
    VEC(struct row) rows;
    VEC(struct cell) cells;
    struct arena arena; /* texts of the cells */
    bool folds;
};

struct table *table_new(const struct table_column *columns, size_t n) {
    struct table *t = xnew(struct table);
    t->columns = xmemdup(columns, n * sizeof *columns);
    t->widths = xcalloc(n, sizeof *t->widths);
    t->n = n;
    return t;
}

void table_free(struct table *t) {
    if (!t)
        return;
    vec_done(&t->rows);
    vec_done(&t->cells);
    arena_done(&t->arena);
    free(t->columns);
    free(t->widths);
    free(t);
}

void table_fold(struct table *t) {
    t->folds = true;
}

void table_clear(struct table *t) {
    t->rows.len = t->cells.len = 0;
    arena_reset(&t->arena);
}

/* ---- filling ---- */

static const char *copy(struct table *t, const char *s) {
    return str_empty(s) ? NULL : arena_strndup(&t->arena, s, strlen(s));
}

void table_row(struct table *t, const char *name) {
    *vec_push(&t->rows) = (struct row){.name = copy(t, name), .first = t->cells.len};
}

static void add(struct table *t, struct cell cell) {
    assert(t->rows.len);
    struct row *row = &t->rows.p[t->rows.len - 1];
    assert(row->n < t->n);
    *vec_push(&t->cells) = cell;
    row->n++;
}

void table_empty(struct table *t) {
    add(t, (struct cell){.kind = CELL_EMPTY});
}

void table_str(struct table *t, const char *s) {
    if (str_empty(s))
        table_empty(t);
    else
        add(t, (struct cell){.kind = CELL_STR, .text = copy(t, s)});
}

void table_int(struct table *t, int64_t v) {
    add(t, (struct cell){.kind = CELL_INT, .number = v});
}

void table_count(struct table *t, int64_t v, bool known) {
    if (known)
        table_int(t, v);
    else
        table_str(t, "?");
}

void table_time(struct table *t, int64_t when) {
    add(t, (struct cell){.kind = CELL_TIME, .number = when});
}

void table_state(struct table *t, enum state state, const char *word) {
    add(t, (struct cell){.kind = CELL_STATE, .state = state, .text = copy(t, word)});
}

/* ---- text ---- */

static enum style state_style(enum state state) {
    static const enum style styles[] = {[STATE_NONE] = STYLE_NONE,
                                        [STATE_GOOD] = STYLE_GREEN,
                                        [STATE_BUSY] = STYLE_CYAN,
                                        [STATE_WARN] = STYLE_YELLOW,
                                        [STATE_BAD] = STYLE_RED};
    return styles[state];
}

static const char *state_glyph(enum state state, bool utf8) {
    static const enum glyph glyphs[] = {[STATE_NONE] = GLYPH_NONE,
                                        [STATE_GOOD] = GLYPH_OK,
                                        [STATE_BUSY] = GLYPH_BUSY,
                                        [STATE_WARN] = GLYPH_WARN,
                                        [STATE_BAD] = GLYPH_BAD};
    return term_glyph(glyphs[state], utf8);
}

/* Appends the cell without colour. */
static void cell_text(const struct cell *c, const struct table_view *view, struct str *out) {
    char buf[TIMEFMT_LEN];
    switch (c->kind) {
    case CELL_EMPTY:
        str_add(out, "<none>");
        break;
    case CELL_STR:
        utf8_printable(out, c->text);
        break;
    case CELL_INT:
        str_addf(out, "%" PRId64, c->number);
        break;
    case CELL_TIME:
        if (!c->number)
            str_add(out, "<unknown>");
        else if (view->absolute)
            str_add(out, time_format(c->number, false, buf));
        else
            str_add(out, duration_format(view->now - c->number, buf));
        break;
    case CELL_STATE:
        if (view->glyphs)
            str_addf(out, "%s ", state_glyph(c->state, view->utf8));
        utf8_printable(out, c->text ? c->text : "<unknown>");
        break;
    }
}

static const struct cell *cell_at(const struct table *t, const struct row *row, size_t column) {
    static const struct cell empty = {.kind = CELL_EMPTY};
    return column < row->n ? &t->cells.p[row->first + column] : &empty;
}

static bool shown(const struct table *t, size_t column, const struct table_view *view) {
    return view->wide || !t->columns[column].wide;
}

static void grow_widths(struct table *t, const struct table_view *view) {
    _cleanup_str_ struct str text = STR_INIT;
    for (size_t i = 0; i < t->n; i++) {
        if (!shown(t, i, view))
            continue;
        if (!view->no_headers)
            t->widths[i] = MAX_OF(t->widths[i], utf8_width(t->columns[i].title));
        for (size_t r = 0; r < t->rows.len; r++) {
            str_reset(&text);
            cell_text(cell_at(t, &t->rows.p[r], i), view, &text);
            t->widths[i] = MAX_OF(t->widths[i], utf8_width(str_get(&text)));
        }
    }
}

/* Ends a line: nothing of it is blank at the end, whatever the last cells were. */
static void end_line(struct str *out, size_t start) {
    while (out->len > start && out->p[out->len - 1] == ' ')
        out->p[--out->len] = '\0';
    str_addc(out, '\n');
}

static size_t full_width(size_t width) {
    return MAX_OF(width + PADDING, (size_t)MIN_WIDTH);
}

static void pad(struct str *out, size_t width, size_t used) {
    for (; used < full_width(width); used++)
        str_addc(out, ' ');
}

static size_t last_shown(const struct table *t, const struct table_view *view) {
    size_t last = 0;
    for (size_t i = 0; i < t->n; i++)
        last = shown(t, i, view) ? i : last;
    return last;
}

static void add_headers(const struct table *t, const struct table_view *view, struct str *out) {
    size_t start = out->len;
    for (size_t i = 0; i < t->n; i++)
        if (shown(t, i, view)) {
            str_add(out, t->columns[i].title);
            pad(out, t->widths[i], utf8_width(t->columns[i].title));
        }
    end_line(out, start);
}

/* Returns how wide it is. */
static size_t add_cell(const struct cell *c, const struct table_view *view, struct str *out) {
    _cleanup_str_ struct str text = STR_INIT;
    enum style style = view->color && c->kind == CELL_STATE ? state_style(c->state) : STYLE_NONE;
    cell_text(c, view, &text);
    str_add(out, term_sgr(style));
    str_addn(out, str_get(&text), text.len);
    if (style != STYLE_NONE)
        str_add(out, SGR_RESET);
    return utf8_width(str_get(&text));
}

/* `fill`: where its last column begins and is filled; 0: it is not. */
static void add_row(const struct table *t, const struct row *row, const struct table_view *view,
                    size_t fill, struct str *out) {
    size_t start = out->len, last = last_shown(t, view);
    for (size_t i = 0; i < t->n; i++) {
        if (!shown(t, i, view))
            continue;
        const struct cell *c = cell_at(t, row, i);
        if (fill && i == last) {
            _cleanup_str_ struct str text = STR_INIT;
            cell_text(c, view, &text);
            text_fill_to(out, str_get(&text), fill, fill, (size_t)view->columns);
            return;
        }
        pad(out, t->widths[i], add_cell(c, view, out));
    }
    end_line(out, start);
}

/* --- where there is no room --- */

/* Nothing, or the dash that stands for it. */
static bool says_nothing(const struct cell *c) {
    return c->kind == CELL_EMPTY ||
           ((c->kind == CELL_STR || c->kind == CELL_STATE) && str_same(c->text, "-"));
}

static size_t widest_title(const struct table *t, const struct table_view *view) {
    size_t widest = 0;
    for (size_t i = 0; i < t->n; i++)
        if (shown(t, i, view))
            widest = MAX_OF(widest, utf8_width(t->columns[i].title));
    return widest;
}

static void add_block(const struct table *t, const struct row *row, const struct table_view *view,
                      struct str *out) {
    size_t column = widest_title(t, view) + 2;
    for (size_t i = 0; i < t->n; i++) {
        const struct cell *c = cell_at(t, row, i);
        if (!shown(t, i, view) || says_nothing(c))
            continue;
        str_addf(out, "%-*s", (int)column, t->columns[i].title);
        if (c->kind == CELL_STATE) { /* a word, in colour */
            add_cell(c, view, out);
            str_addc(out, '\n');
            continue;
        }
        _cleanup_str_ struct str text = STR_INIT;
        cell_text(c, view, &text);
        text_fill_to(out, str_get(&text), column, column, (size_t)view->columns);
    }
}

enum layout { LAYOUT_TABLE, LAYOUT_FILLED, LAYOUT_BLOCKS };

/* `*before`: how wide the columns before the last one are. */
static enum layout layout_of(const struct table *t, const struct table_view *view, size_t *before) {
    enum { LEAST = 30 }; /* columns in which sentences can be read */
    size_t last = last_shown(t, view), room = view->columns > 0 ? (size_t)view->columns : 0;
    *before = 0;
    for (size_t i = 0; i < last; i++)
        if (shown(t, i, view))
            *before += full_width(t->widths[i]);
    if (!t->folds || !room || *before + t->widths[last] <= room)
        return LAYOUT_TABLE;
    return *before && *before + LEAST <= room ? LAYOUT_FILLED : LAYOUT_BLOCKS;
}

void table_text(struct table *t, const struct table_view *view, struct str *out) {
    size_t before;
    grow_widths(t, view);
    enum layout layout = layout_of(t, view, &before);
    if (layout == LAYOUT_BLOCKS) {
        for (size_t r = 0; r < t->rows.len; r++) {
            str_add(out, r ? "\n" : "");
            add_block(t, &t->rows.p[r], view, out);
        }
        return;
    }
    if (!view->no_headers)
        add_headers(t, view, out);
    for (size_t r = 0; r < t->rows.len; r++)
        add_row(t, &t->rows.p[r], view, layout == LAYOUT_FILLED ? before : 0, out);
}

void table_names(const struct table *t, struct str *out) {
    for (size_t r = 0; r < t->rows.len; r++) {
        utf8_printable(out, strna(t->rows.p[r].name));
        str_addc(out, '\n');
    }
}
