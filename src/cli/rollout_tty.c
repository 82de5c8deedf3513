/* A rollout on a terminal. */
#include "cli/rollout_tty.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "cli/drain_words.h"
#include "engine/blocker.h"
#include "engine/maintenance.h"

enum {
    BAR_CELLS = 20,
    FREE_ROWS = 4,   /* of the screen, for what was there before and the prompt after */
    FEWEST_ROWS = 3, /* of nodes, however small it is */
    OTHER_ROWS = 4,  /* the heading, what holds up the whole, and how many more there are */
    PHASE_WIDTH = 11,
    TIME_WIDTH = 5,
    TEXT_LINES = 2, /* that a reason may take */
};

/* --- pieces --- */

static const char *dot(const struct screen *s) {
    return s->utf8 ? " \u00b7 " : " - ";
}

static size_t text_column(const struct screen *s) {
    return s->utf8 ? 3 : 4; /* " ! ", " .. " */
}

static struct line row_begin(struct str *out, const struct screen *s, enum glyph glyph,
                             enum style style) {
    struct line l = line_begin(out, s);
    line_skip(&l, 1);
    line_put(&l, style, term_glyph(glyph, s->utf8));
    line_to(&l, text_column(s));
    return l;
}

static void blocker_text(const struct own_blocker *b, struct str *out) {
    str_addf(out, "%s%s%s", strna(b->code), str_empty(b->object) ? "" : " ", strna(b->object));
    if (!str_empty(b->message))
        str_addf(out, ": %s", b->message);
}

static void add_bar(struct line *l, const struct rollout_counts *c) {
    _cleanup_str_ struct str bar = STR_INIT;
    int full = c->total > 0 ? (int)((int64_t)c->complete * BAR_CELLS / c->total) : 0;
    for (int i = 0; i < BAR_CELLS; i++)
        str_add(&bar, i < full ? (l->s->utf8 ? "\u2588" : "#") : (l->s->utf8 ? "\u2591" : "."));
    line_put(l, STYLE_CYAN, str_get(&bar));
}

/* --- the heading --- */

static void heading(const struct rollout_picture *p, const struct screen *s, struct str *out) {
    const struct rollout *r = p->rollout;
    const struct rollout_counts *c = &r->counts;
    char buf[TIMEFMT_LEN];
    struct line l = line_begin(out, s);
    line_putf(&l, STYLE_BOLD, "%s %s", strna(r->operation), r->meta.name);
    line_skip(&l, 1);
    add_bar(&l, c);
    line_skip(&l, 1);
    line_putf(&l, STYLE_NONE, "%d of %d done", c->complete, c->total);
    if (c->failed > 0) {
        line_put(&l, STYLE_NONE, dot(s));
        line_putf(&l, STYLE_RED, "%d failed", c->failed);
    }
    line_putf(&l, STYLE_NONE, "%s%d waiting%s%s", dot(s), c->waiting, dot(s),
              time_running(p->now - r->meta.created, buf));
    line_end(&l);
}

/* That there is no slot for the next node is what a rollout always waits for. */
static bool is_worth_a_line(const struct rollout *r) {
    return r->blocker && !str_same(r->blocker->code, blocker_row(BLOCKER_MAX_UNAVAILABLE)->name);
}

static void standing(const struct rollout_picture *p, const struct screen *s, struct str *out) {
    const struct rollout *r = p->rollout;
    bool failed = str_same(r->phase, "Failed");
    _cleanup_str_ struct str why = STR_INIT;
    if (!is_worth_a_line(r))
        return;
    blocker_text(r->blocker, &why);
    struct line l =
        row_begin(out, s, failed ? GLYPH_BAD : GLYPH_WARN, failed ? STYLE_RED : STYLE_YELLOW);
    line_putf(&l, failed ? STYLE_RED : STYLE_YELLOW, "%s", strna(r->phase));
    line_put(&l, STYLE_NONE, ": ");
    line_fill(&l, STYLE_NONE, str_get(&why), text_column(s), TEXT_LINES);
    line_end(&l);
}

/* --- nodes --- */

static bool is_stuck(const struct maintenance *m) {
    return maint_phase_find(m->phase) == MAINT_HALTED;
}

static int by_need(const void *a, const void *b) {
    const struct maintenance *x = *(const struct maintenance *const *)a,
                             *y = *(const struct maintenance *const *)b;
    if (is_stuck(x) != is_stuck(y))
        return is_stuck(x) ? -1 : 1;
    if (!x->blocker != !y->blocker)
        return x->blocker ? -1 : 1;
    if (x->since != y->since)
        return x->since < y->since ? -1 : 1;
    return strcmp(x->meta.name, y->meta.name);
}

static void node_row(const struct maintenance *m, const struct screen *s, size_t names, int64_t now,
                     struct str *out) {
    char buf[TIMEFMT_LEN];
    bool stuck = is_stuck(m);
    enum glyph glyph = stuck ? GLYPH_BAD : m->blocker ? GLYPH_WARN : GLYPH_BUSY;
    enum style style = stuck ? STYLE_RED : m->blocker ? STYLE_YELLOW : STYLE_CYAN;
    struct line l = row_begin(out, s, glyph, style);
    size_t at = text_column(s);
    line_put_max(&l, STYLE_NONE, strna(m->node), names);
    line_to(&l, at += names + 2);
    line_put(&l, style, maint_phases[maint_phase_find(m->phase)].word);
    line_to(&l, at += PHASE_WIDTH + 2);
    line_put(&l, STYLE_NONE, time_running(now - (m->since ? m->since : m->meta.created), buf));
    line_to(&l, at + TIME_WIDTH + 2);
    if (m->blocker) {
        _cleanup_str_ struct str why = STR_INIT;
        blocker_text(m->blocker, &why);
        line_put(&l, STYLE_DIM, str_get(&why));
    }
    line_end(&l);
}

void rollout_tty_block(const struct rollout_picture *p, const struct screen *s, struct str *out) {
    VEC(const struct maintenance *) busy = VEC_INIT;
    size_t names = 4, room = (size_t)MAX_OF(s->rows - FREE_ROWS - OTHER_ROWS, (int)FEWEST_ROWS);
    for (size_t i = 0; i < p->n; i++)
        if (!maint_ended(maint_phase_find(p->nodes[i]->phase))) {
            *vec_push(&busy) = p->nodes[i];
            names = MAX_OF(names, utf8_width(strna(p->nodes[i]->node)));
        }
    names = MIN_OF(names, (size_t)MAX_OF(s->columns / 3, 4));
    if (busy.len)
        qsort(busy.p, busy.len, sizeof *busy.p, by_need);
    heading(p, s, out);
    standing(p, s, out);
    for (size_t i = 0; i < busy.len && i < room; i++)
        node_row(busy.p[i], s, names, p->now, out);
    if (busy.len > room) {
        struct line l = line_begin(out, s);
        line_to(&l, text_column(s));
        line_putf(&l, STYLE_DIM, "and %zu more under way", busy.len - room);
        line_end(&l);
    }
    vec_done(&busy);
}

void rollout_tty_done(const struct maintenance *m, const struct screen *s, struct str *out) {
    char buf[TIMEFMT_LEN];
    enum maint_phase phase = maint_phase_find(m->phase);
    bool good = phase == MAINT_COMPLETE;
    struct line l = row_begin(out, s, good ? GLYPH_OK : GLYPH_BAD, good ? STYLE_GREEN : STYLE_RED);
    line_putf(&l, STYLE_NONE, "%s ", strna(m->node));
    line_putf(&l, good ? STYLE_NONE : STYLE_RED, "%s", good ? "done" : maint_phases[phase].word);
    if (m->since > m->meta.created)
        line_putf(&l, STYLE_DIM, " after %s", time_running(m->since - m->meta.created, buf));
    line_end(&l);
}
