/* A drain on a terminal. */
#include "cli/drain_tty.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "cli/drain_blockers.h"
#include "cli/drain_words.h"
#include "cli/term.h"

enum {
    BAR_CELLS = 10,
    FREE_ROWS = 4,    /* of the screen, for what was there before and the prompt after */
    WORD_WIDTH = 12,  /* of the phases */
    COUNT_WIDTH = 12, /* "18/26 pods" */
    MIN_NAME = 12,
    TEXT_LINES = 2, /* that a reason may take */
    HINT_LINES = 3,
    MIN_REMARK = 16, /* columns: less of a remark says nothing */
};

/* What kubectl warns of where it was told to leave them (engine/drain.h, NOTE_WARNINGS). */
#define DAEMONSETS "ignoring DaemonSet-managed Pods"

static size_t glyph_width(const struct screen *s) {
    return s->utf8 ? 1 : 2; /* "ok", ".." */
}

/* " ! ": what every row begins with. */
static struct line row_begin(struct str *out, const struct screen *s, enum glyph glyph,
                             enum style style) {
    struct line l = line_begin(out, s);
    line_skip(&l, 1);
    line_put(&l, style, term_glyph(glyph, s->utf8));
    line_to(&l, glyph_width(s) + 2);
    return l;
}

/* --- what is drawn --- */

/* A node at work. */
struct busy {
    const struct drain_node *node;
    size_t place;
};

/* Nodes that failed for the same reason. */
struct failed {
    const struct drain_node **nodes;
    size_t n;
};

/* The block while it is made. */
struct block {
    const struct drain_picture *p;
    const struct screen *s;
    struct str *out;
    struct arena arena;
    struct drain_counts counts;
    size_t name_width;
    size_t lines, max; /* so far, and at most */
};

static void fold_places(const struct block *b, const size_t *places, size_t n, struct str *out) {
    const struct drain_node **nodes = xcalloc(n, sizeof *nodes);
    for (size_t i = 0; i < n; i++)
        nodes[i] = b->p->nodes[places[i]];
    drain_fold(nodes, n, out);
    free(nodes);
}

static size_t text_column(const struct block *b) {
    return glyph_width(b->s) + 2 + b->name_width + 2;
}

static void heading(struct block *b) {
    const struct drain_picture *p = b->p;
    const struct drain_counts *c = &b->counts;
    const char *dot = b->s->utf8 ? " \u00b7 " : " - ";
    char buf[TIMEFMT_LEN];
    struct line l = line_begin(b->out, b->s);
    if (p->dry_run)
        line_put(&l, STYLE_BOLD, "Dry run: ");
    if (!p->nodes) {
        line_put(&l, STYLE_BOLD, "Reading the cluster");
        line_putf(&l, STYLE_NONE, "%s%s", dot, time_running(p->now - p->started, buf));
    } else {
        line_putf(&l, STYLE_BOLD, "Draining %u of %u",
                  c->of[STANDING_ACTIVE] + c->of[STANDING_BLOCKED], c->total);
        line_putf(&l, STYLE_NONE, "%s%u done", dot, c->of[STANDING_DONE]);
        if (c->of[STANDING_BLOCKED]) {
            line_put(&l, STYLE_NONE, dot);
            line_putf(&l, STYLE_YELLOW, "%u blocked", c->of[STANDING_BLOCKED]);
        }
        line_put(&l, STYLE_NONE, dot);
        line_putf(&l, c->of[STANDING_FAILED] ? STYLE_RED : STYLE_NONE, "%u failed",
                  c->of[STANDING_FAILED]);
        line_putf(&l, STYLE_NONE, "%s%s%s", dot, time_running(p->now - p->started, buf), dot);
        _cleanup_str_ struct str left = STR_INIT;
        struct eta_left e = eta_left(p->eta, p->nodes, p->n, p->now);
        if (p->stopping)
            str_add(&left, "stopping");
        else
            eta_text(&e, &left);
        /* How many are left out stands in front too. */
        if (utf8_width(str_get(&left)) > line_room(&l)) {
            e.excluded = 0;
            str_reset(&left);
            eta_text(&e, &left);
        }
        line_put(&l, STYLE_NONE, str_get(&left));
    }
    line_end(&l);
    b->lines++;
}

static const char *failed_word(enum drain_phase phase) {
    return phase == DRAIN_TIMED_OUT ? "TIMED OUT" : phase == DRAIN_REFUSED ? "REFUSED" : "FAILED";
}

static void add_name(struct block *b, struct line *l, const char *name) {
    line_put_max(l, STYLE_NONE, name, b->name_width);
    line_to(l, text_column(b));
}

static void failed_row(struct block *b, const struct failed *f) {
    _cleanup_str_ struct str names = STR_INIT;
    drain_fold(f->nodes, f->n, &names);
    struct line l = row_begin(b->out, b->s, GLYPH_BAD, STYLE_RED);
    add_name(b, &l, str_get(&names));
    line_put(&l, STYLE_RED, failed_word(f->nodes[0]->phase));
    line_to(&l, text_column(b) + WORD_WIDTH + 2);
    b->lines +=
        1 + line_fill(&l, STYLE_NONE, strna(f->nodes[0]->error), text_column(b), TEXT_LINES);
    line_end(&l);
}

static void blocked_row(struct block *b, const struct drain_group *g) {
    char buf[TIMEFMT_LEN];
    _cleanup_str_ struct str names = STR_INIT, why = STR_INIT, more = STR_INIT;
    fold_places(b, g->nodes, g->n_nodes, &names);
    drain_blocker_text(g->blocker, &why);
    struct line l = row_begin(b->out, b->s, GLYPH_WARN, STYLE_YELLOW);
    add_name(b, &l, str_get(&names));
    line_put(&l, STYLE_YELLOW, "BLOCKED");
    line_to(&l, text_column(b) + WORD_WIDTH + 2);
    b->lines += 1 + line_fill(&l, STYLE_NONE, str_get(&why), text_column(b), TEXT_LINES);
    line_end(&l);
    if (g->pods)
        str_addf(&more, "%u pod%s, ", g->pods, g->pods == 1 ? " waits" : "s wait");
    if (g->attempts)
        str_addf(&more, "%u %s, ", g->attempts, g->attempts == 1 ? "try" : "tries");
    str_addf(&more, "%s %s %s", time_running(b->p->now - g->blocker->since, buf),
             b->s->utf8 ? "\u2192" : "->", drain_hint(g->blocker));
    l = line_begin(b->out, b->s);
    line_to(&l, text_column(b));
    b->lines += 1 + line_fill(&l, STYLE_DIM, str_get(&more), text_column(b), HINT_LINES);
    line_end(&l);
}

static void add_bar(struct line *l, const struct drain_node *n) {
    _cleanup_str_ struct str bar = STR_INIT;
    unsigned gone = MIN_OF(n->gone, n->total);
    unsigned full = n->total ? (unsigned)((uint64_t)gone * BAR_CELLS / n->total) : BAR_CELLS;
    for (unsigned i = 0; i < BAR_CELLS; i++)
        str_add(&bar, i < full ? (l->s->utf8 ? "\u2588" : "#") : (l->s->utf8 ? "\u2591" : "."));
    line_put(l, STYLE_CYAN, str_get(&bar));
}

/* What an operator may want to know of a node that gets on: "2 failed, 3 wait: PDBNoBudget ...". */
static void busy_remark(const struct drain_node *n, struct str *out) {
    const struct drain_blocker *first = NULL;
    if (n->failed)
        str_addf(out, "%u failed", n->failed);
    for (size_t i = 0; i < n->n_pods && n->blocked_pods; i++)
        if (n->pods[i]->blocked && n->pods[i]->state != DRAIN_POD_GONE &&
            (!first || n->pods[i]->blocker.since < first->since))
            first = &n->pods[i]->blocker;
    if (first) {
        str_addf(out, "%s%u wait%s: ", out->len ? ", " : "", n->blocked_pods,
                 n->blocked_pods == 1 ? "s" : "");
        drain_blocker_text(first, out);
    } else if (n->blocked) {
        str_add(out, out->len ? ", " : "");
        drain_blocker_text(&n->blocker, out);
    }
}

static void busy_row(struct block *b, const struct drain_node *n) {
    char buf[TIMEFMT_LEN], limit[TIMEFMT_LEN];
    struct line l = row_begin(b->out, b->s, GLYPH_BUSY, STYLE_CYAN);
    add_name(b, &l, n->name);
    size_t at = text_column(b);
    line_put_max(&l, STYLE_NONE, drain_phase_word(n->phase), WORD_WIDTH);
    line_to(&l, at += WORD_WIDTH + 2);
    if (n->phase >= DRAIN_EVICTING && n->phase != DRAIN_UNDOING) {
        add_bar(&l, n);
        line_skip(&l, 2);
        line_putf(&l, STYLE_NONE, "%u/%u pod%s", MIN_OF(n->gone, n->total), n->total,
                  n->total == 1 ? "" : "s");
        line_skip(&l, 2);
    }
    line_to(&l, at + BAR_CELLS + 2 + COUNT_WIDTH + 1);
    line_put(&l, STYLE_NONE, time_running(n->started ? b->p->now - n->started : 0, buf));
    if (n->deadline > n->started && n->started)
        line_putf(&l, STYLE_NONE, " / %s", duration_format_limit(n->deadline - n->started, limit));
    _cleanup_str_ struct str remark = STR_INIT;
    busy_remark(n, &remark);
    line_skip(&l, 2);
    if (line_room(&l) >= MIN_REMARK)
        line_put(&l, STYLE_DIM, str_get(&remark));
    line_end(&l);
    b->lines++;
}

/* --- order and room --- */

static int compare_failed(const void *pa, const void *pb) {
    const struct drain_node *a = *(const struct drain_node *const *)pa,
                            *b = *(const struct drain_node *const *)pb;
    if (a->phase != b->phase)
        return a->phase > b->phase ? -1 : 1;
    int c = strcmp(strna(a->error), strna(b->error));
    return c ? c : strcmp(a->name, b->name);
}

/* Those with failed pods first, then those with pods that wait, then the oldest. */
static int compare_busy(const void *pa, const void *pb) {
    const struct busy *a = pa, *b = pb;
    if (!a->node->failed != !b->node->failed)
        return a->node->failed ? -1 : 1;
    if (!a->node->blocked_pods != !b->node->blocked_pods)
        return a->node->blocked_pods ? -1 : 1;
    if (a->node->started != b->node->started)
        return a->node->started < b->node->started ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static size_t take_failed(struct block *b, struct failed **out) {
    size_t n = b->counts.of[STANDING_FAILED], groups = 0, k = 0;
    *out = arena_alloc(&b->arena, n * sizeof **out + 1);
    const struct drain_node **list = arena_alloc(&b->arena, n * sizeof *list + 1);
    for (size_t i = 0; i < b->p->n; i++)
        if (drain_standing(b->p->nodes[i], b->p->now) == STANDING_FAILED)
            list[k++] = b->p->nodes[i];
    qsort(list, k, sizeof *list, compare_failed);
    for (size_t i = 0; i < k; i++) {
        if (i && list[i]->phase == list[i - 1]->phase &&
            str_same(list[i]->error, list[i - 1]->error))
            (*out)[groups - 1].n++;
        else
            (*out)[groups++] = (struct failed){&list[i], 1};
    }
    return groups;
}

static size_t take_busy(struct block *b, struct busy **out) {
    size_t n = b->counts.of[STANDING_ACTIVE], k = 0;
    *out = arena_alloc(&b->arena, n * sizeof **out + 1);
    for (size_t i = 0; i < b->p->n; i++)
        if (drain_standing(b->p->nodes[i], b->p->now) == STANDING_ACTIVE)
            (*out)[k++] = (struct busy){b->p->nodes[i], i};
    qsort(*out, k, sizeof **out, compare_busy);
    return k;
}

static void widen(struct block *b, const char *name) {
    _cleanup_str_ struct str clean = STR_INIT;
    utf8_printable(&clean, name);
    size_t most = MAX_OF((size_t)MIN_NAME, (size_t)MAX_OF(b->s->columns, 0) / 4);
    b->name_width = MAX_OF(b->name_width, MIN_OF(utf8_width(str_get(&clean)), most));
}

/* Room for one more row of at most `lines` lines, when something must be said below it too. */
static bool fits(const struct block *b, size_t lines) {
    return b->lines + lines + 1 <= b->max;
}

/* "... 3 more blocked, 382 waiting, 12 done": what has no row. */
static void rest_row(struct block *b, size_t failed, size_t blocked, size_t busy) {
    const struct drain_node *waits = NULL;
    for (size_t i = 0; i < b->p->n && !waits; i++)
        if (b->p->nodes[i]->phase == DRAIN_WAITING)
            waits = b->p->nodes[i];
    bool cut = failed || blocked || busy;
    if (!cut && !waits)
        return;
    struct line l = line_begin(b->out, b->s);
    line_skip(&l, 1);
    line_put(&l, STYLE_DIM, line_ellipsis(b->s));
    _cleanup_str_ struct str text = STR_INIT;
    const struct {
        size_t n;
        const char *what;
    } parts[] = {{failed, "more failed"},
                 {blocked, blocked == 1 ? "more blocker" : "more blockers"},
                 {busy, "more at work"},
                 {b->counts.of[STANDING_WAITING], "waiting"},
                 {cut ? b->counts.of[STANDING_DONE] : 0, "done"}};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (parts[i].n)
            str_addf(&text, "%s%zu %s", text.len ? ", " : " ", parts[i].n, parts[i].what);
    if (!cut && waits->blocked) {
        str_add(&text, ": ");
        drain_blocker_text(&waits->blocker, &text);
    }
    line_put(&l, STYLE_DIM, str_get(&text));
    line_end(&l);
    b->lines++;
}

static void rows(struct block *b) {
    struct failed *failed;
    struct busy *busy;
    struct drain_groups groups;
    size_t n_failed = take_failed(b, &failed), n_busy = take_busy(b, &busy), f = 0, g = 0, k = 0;
    drain_groups_take(b->p->nodes, b->p->n, true, b->p->now, &b->arena, &groups);
    /* No more than can be shown is looked at: there may be thousands. */
    for (size_t i = 0; i < MIN_OF(n_failed, b->max); i++) {
        _cleanup_str_ struct str names = STR_INIT;
        drain_fold(failed[i].nodes, failed[i].n, &names);
        widen(b, str_get(&names));
    }
    for (size_t i = 0; i < MIN_OF(groups.n, b->max); i++) {
        _cleanup_str_ struct str names = STR_INIT;
        fold_places(b, groups.list[i].nodes, groups.list[i].n_nodes, &names);
        widen(b, str_get(&names));
    }
    for (size_t i = 0; i < MIN_OF(n_busy, b->max); i++)
        widen(b, busy[i].node->name);
    for (; f < n_failed && fits(b, TEXT_LINES); f++)
        failed_row(b, &failed[f]);
    for (; g < groups.n && fits(b, TEXT_LINES + HINT_LINES); g++)
        blocked_row(b, &groups.list[g]);
    for (; k < n_busy && fits(b, 1); k++)
        busy_row(b, busy[k].node);
    if (b->lines >= b->max)
        return;
    size_t more = 0;
    for (size_t i = f; i < n_failed; i++)
        more += failed[i].n;
    rest_row(b, more, groups.n - g, n_busy - k);
}

size_t drain_tty_block(const struct drain_picture *p, const struct screen *s, struct str *out) {
    struct block b = {.p = p, .s = s, .out = out, .max = 1};
    if (s->rows > FREE_ROWS + 1)
        b.max = (size_t)(s->rows - FREE_ROWS);
    if (p->nodes)
        b.counts = drain_count(p->nodes, p->n, p->now);
    heading(&b);
    if (p->nodes)
        rows(&b);
    arena_done(&b.arena);
    return b.lines;
}

/* --- what stays --- */

void drain_tty_done(const struct drain_node *const *nodes, size_t n, const struct screen *s,
                    struct str *out) {
    if (!n)
        return;
    char buf[TIMEFMT_LEN];
    _cleanup_str_ struct str names = STR_INIT;
    drain_fold(nodes, n, &names);
    int64_t *took = xcalloc(n, sizeof *took);
    unsigned pods = 0;
    for (size_t i = 0; i < n; i++) {
        took[i] = nodes[i]->started ? nodes[i]->ended - nodes[i]->started : 0;
        pods += nodes[i]->gone;
    }
    struct line l = row_begin(out, s, GLYPH_OK, STYLE_GREEN);
    size_t most = MAX_OF((size_t)MIN_NAME, (size_t)MAX_OF(s->columns, 0) / 2);
    line_put_max(&l, STYLE_NONE, str_get(&names), most);
    line_skip(&l, 2);
    line_putf(&l, STYLE_NONE, "drained in %s%s, %u pod%s gone",
              time_running(eta_middle(took, n), buf), n > 1 ? " (median)" : "", pods,
              pods == 1 ? "" : "s");
    line_end(&l);
    free(took);
}

void drain_tty_remark(enum log_level level, const char *node, const char *text,
                      const struct screen *s, struct str *out) {
    static const struct {
        enum glyph glyph;
        enum style style;
    } looks[] = {[LOG_ERROR] = {GLYPH_BAD, STYLE_RED},
                 [LOG_WARN] = {GLYPH_WARN, STYLE_YELLOW},
                 [LOG_INFO] = {GLYPH_NONE, STYLE_DIM}};
    level = MIN_OF(level, LOG_INFO);
    /* It stays: nothing of it is cut off, however long it is. */
    _cleanup_str_ struct str clean = STR_INIT;
    if (node) {
        utf8_printable(&clean, node);
        str_add(&clean, "  ");
    }
    utf8_printable(&clean, text);
    const char *sgr = s->color ? term_sgr(looks[level].style) : "";
    str_addf(out, " %s%s%s%*s %s\n", sgr, term_glyph(looks[level].glyph, s->utf8),
             *sgr ? SGR_RESET : "",
             (int)(glyph_width(s) - utf8_width(term_glyph(looks[level].glyph, s->utf8))), "",
             str_get(&clean));
}

void drain_tty_note(const struct drain_note *note, bool verbose, const struct screen *s,
                    struct str *out) {
    switch (note->kind) {
    case NOTE_PHASE: /* in the block, or a line of its own */
    case NOTE_BLOCKED:
    case NOTE_UNBLOCKED:
    case NOTE_CORDON_FAILED:
    case NOTE_CORDONED:
    case NOTE_ALREADY_CORDONED:
        return;
    default:
        break;
    }
    if (drain_note_is_detail(note) && !verbose)
        return;
    /* Nobody has asked for anything else, and every node has some. */
    if (note->kind == NOTE_WARNINGS && !verbose && str_starts(strna(note->text), DAEMONSETS) &&
        !strchr(note->text, ';'))
        return;
    _cleanup_str_ struct str text = STR_INIT;
    drain_note_text(note, &text);
    drain_tty_remark(drain_note_level(note), note->node ? note->node->name : NULL, str_get(&text),
                     s, out);
}
