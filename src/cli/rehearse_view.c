/* Rehearsals as text. */
#include "cli/rehearse_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/nodeset.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "cli/drain_words.h"

enum {
    COLUMNS = 80,       /* where there is no terminal */
    COLUMNS_MOST = 120, /* nobody reads longer lines */
    HANG = 2,           /* columns that the rest of a line stands further in */
    NAME_LESS = 8,      /* columns that a name which is cut leaves free: as far as lines hang */
    NODES_SHOWN = 20,
    WAITS_SHOWN = 10,
    BUDGETS_SHOWN = 10,
    PODS_SHOWN = 20, /* -o json has them all */
};

static const char *plural(size_t n) {
    return n == 1 ? "" : "s";
}

static void printable(struct str *out, const char *text) {
    utf8_printable(out, strna(text));
}

/* The name of an object, and its namespace if it has one. On a terminal that is narrower than the
 * name alone it is cut, as in the view of a drain: a name that the terminal breaks is read as two.
 * Elsewhere it is whole. */
static void add_name(struct str *out, const struct screen *s, const char *ns, const char *name) {
    _cleanup_str_ struct str text = STR_INIT;
    size_t columns = s->columns > 0 ? (size_t)s->columns : SIZE_MAX;
    if (ns) {
        printable(&text, ns);
        str_addc(&text, '/');
    }
    printable(&text, name);
    if (utf8_width(str_get(&text)) + 1 <= columns) { /* a colon may follow */
        str_add(out, str_get(&text));
        return;
    }
    struct line l = line_begin(out, s);
    line_put_max(&l, STYLE_NONE, str_get(&text), columns > NAME_LESS ? columns - NAME_LESS : 1);
}

static void add_glyph(struct str *out, const struct screen *s, enum glyph glyph, enum style style) {
    const char *text = term_glyph(glyph, s->utf8);
    const char *sgr = s->color ? term_sgr(style) : "";
    str_addf(out, " %s%s%s%*s ", sgr, text, *sgr ? SGR_RESET : "",
             (int)((s->utf8 ? 1 : 2) - utf8_width(text)), "");
}

/* "36s (p10 31s, p90 42s)", or one time when they are all the same. */
static void add_spread(struct str *out, const struct spread_of *v, size_t runs) {
    char mid[TIMEFMT_LEN], low[TIMEFMT_LEN], high[TIMEFMT_LEN];
    time_running(v->p50, mid);
    time_running(v->p10, low);
    time_running(v->p90, high);
    str_add(out, mid);
    if (runs > 1 && (!streq(low, mid) || !streq(high, mid)))
        str_addf(out, " (p10 %s, p90 %s)", low, high);
}

/* "in all runs", "in 3 of 10 runs"; nothing when there was one. */
static void add_runs(struct str *out, size_t n, size_t runs) {
    if (runs > 1 && n == runs)
        str_addf(out, " in all %zu runs", runs);
    else if (runs > 1)
        str_addf(out, " in %zu of %zu runs", n, runs);
}

static void fold(struct str *out, const char *const *names, size_t n) {
    _cleanup_str_ struct str text = STR_INIT;
    nodeset_fold(names, n, &text);
    printable(out, str_get(&text));
}

/* --- lines --- */

/* Columns of a word: of our own colours none. */
static size_t word_width(const char *p, size_t len) {
    _cleanup_str_ struct str shown = STR_INIT;
    for (size_t i = 0; i < len; i++) {
        if (p[i] != '\x1b') {
            str_addc(&shown, p[i]);
            continue;
        }
        while (i < len && p[i] != 'm')
            i++;
    }
    return utf8_width(str_get(&shown));
}

/* A word that fits the line only where it is indented less is so. */
static size_t indent_for(size_t width, size_t indent, size_t columns) {
    return width + indent <= columns || width > columns ? indent : columns - width;
}

/* One line without its end; what does not fit stands under the text of its beginning. */
static void fill_line(struct str *out, const char *p, size_t len, size_t columns) {
    size_t at = 0, hang = 0, words = 0;
    bool glyph = false;
    while (len) {
        size_t skipped = MIN_OF(strspn(p, " "), len), blanks = skipped;
        size_t n = strcspn(p + skipped, " \n");
        n = MIN_OF(n, len - skipped);
        size_t width = word_width(p + skipped, n);
        if (words == 0) {
            glyph = blanks == 1; /* " ! text" */
            hang = blanks + (glyph ? 0 : HANG);
            blanks = indent_for(width, blanks, columns);
        } else if (words == 1 && glyph) {
            hang = at + blanks + HANG;
        }
        if (words && at > hang && at + blanks + width > columns) {
            at = indent_for(width, hang, columns);
            str_addf(out, "\n%*s", (int)at, "");
        } else {
            str_addf(out, "%*s", (int)blanks, "");
            at += blanks;
        }
        str_addn(out, p + skipped, n);
        at += width;
        words++;
        p += skipped + n;
        len -= skipped + n;
    }
}

static void fill_lines(struct str *out, const struct str *text, const struct screen *s) {
    size_t columns = s->columns > 0 ? (size_t)MIN_OF(s->columns, (int)COLUMNS_MOST) : COLUMNS;
    for (const char *p = str_get(text), *end; (end = strchr(p, '\n')); p = end + 1) {
        fill_line(out, p, (size_t)(end - p), columns);
        str_addc(out, '\n');
    }
}

/* --- parts --- */

static void add_headline(const struct rehearse_sum *m, struct str *out) {
    size_t n = m->n_nodes;
    if (m->whole == m->runs) {
        str_addf(out, "Rehearsed: %zu node%s would be drained in ", n, plural(n));
        add_spread(out, &m->took, m->runs);
    } else if (m->whole) {
        str_addf(out, "Rehearsed: %zu node%s would be drained", n, plural(n));
        add_runs(out, m->whole, m->runs);
        str_add(out, ", in ");
        add_spread(out, &m->took, m->runs);
    } else {
        size_t done = 0; /* in one and the same run */
        for (size_t i = 0; i < m->middle->nodes.len; i++)
            done += m->middle->nodes.p[i].phase == DRAIN_DONE;
        str_addf(out, "Rehearsed: %zu of %zu node%s would be drained", done, n, plural(n));
        str_add(out, m->halted == m->runs ? "; nothing moves any more after " : ", in ");
        add_spread(out, &m->took, m->runs);
    }
    str_addc(out, '\n');
}

/* What stays: nodes with their pods, and why. */
static void add_left(const struct rehearse_sum *m, const struct screen *s, struct str *out) {
    unsigned shown = 0;
    for (size_t i = 0; i < m->n_nodes; i++) {
        const struct sum_node *n = &m->nodes[i];
        const struct rehearsal_node *e = n->example;
        if (n->drained == m->runs)
            continue;
        bool refused = e->phase == DRAIN_REFUSED || e->phase == DRAIN_FAILED;
        add_glyph(out, s, refused ? GLYPH_BAD : GLYPH_WARN, refused ? STYLE_RED : STYLE_YELLOW);
        printable(out, n->name);
        str_addf(out, "  %s",
                 drain_ended(e->phase) ? drain_phase_word(e->phase)
                 : e->began < 0        ? "would not be begun"
                 : e->emptied          ? "would be empty, but not drained"
                 : e->left || e->total ? "would stay undrained"
                                       : drain_phase_word(e->phase));
        add_runs(out, m->runs - n->drained, m->runs);
        if (e->error) {
            str_add(out, ": ");
            printable(out, e->error);
        } else if (n->left_most) { /* which of them may be others in each run */
            str_add(out, ": ");
            if (n->left_least < n->left_most)
                str_addf(out, "%u to ", n->left_least);
            str_addf(out, "%u of %u pod%s left", n->left_most, e->total, plural(e->total));
        }
        str_addc(out, '\n');
        for (size_t k = 0; k < m->n_pods; k++) {
            const struct sum_pod *p = &m->pods[k];
            if (!streq(p->node->name, n->name) || shown++ >= PODS_SHOWN)
                continue;
            str_add(out, "     ");
            add_name(out, s, p->pod->ns, p->pod->name);
            str_add(out, ": ");
            printable(out, p->pod->why);
            if (p->runs < m->runs - n->drained)
                add_runs(out, p->runs, m->runs);
            str_addc(out, '\n');
        }
    }
    if (shown > PODS_SHOWN)
        str_addf(out, "     and %u more pod%s; -o json has them all\n", shown - PODS_SHOWN,
                 plural(shown - PODS_SHOWN));
}

/* Of those without a node, or of Jobs that have failed: how many, and the first of them. */
static void add_workloads(const struct rehearse_sum *m, bool failed, const char *heading,
                          const struct screen *s, struct str *out) {
    size_t n = 0;
    for (size_t i = 0; i < m->n_pending; i++) {
        const struct rehearsal_pending *p = m->pending[i].example;
        if (failed != !p->pods)
            continue;
        if (!n)
            str_addf(out, "%s\n", heading);
        if (n++ >= PODS_SHOWN)
            continue;
        add_glyph(out, s, GLYPH_WARN, STYLE_YELLOW);
        add_name(out, s, NULL, p->workload);
        if (!failed) {
            str_addf(out, "  %s%u pod%s, ", m->pending[i].runs > 1 && p->pods > 1 ? "up to " : "",
                     p->pods, plural(p->pods));
            add_name(out, s, NULL, p->example);
        }
        if (m->pending[i].runs < m->runs)
            add_runs(out, m->pending[i].runs, m->runs);
        str_add(out, *p->why ? ": " : "");
        printable(out, p->why);
        str_addc(out, '\n');
    }
    if (n > PODS_SHOWN)
        str_addf(out, "   and %zu more workload%s; -o json has them all\n", n - PODS_SHOWN,
                 plural(n - PODS_SHOWN));
}

/* What the drain evicts and what then has no node, or is not made again: it ends all the same, and
 * the service is down. */
static void add_pending(const struct rehearse_sum *m, const struct screen *s, struct str *out) {
    add_workloads(m, false, "Without a node afterwards", s, out);
    add_workloads(m, true, "Failed for good", s, out);
}

/* Nodes that go together are told together: those that began and ended within the same second. */
static void add_order(const struct rehearse_sum *m, struct str *out) {
    char from[TIMEFMT_LEN], to[TIMEFMT_LEN];
    size_t lines = 0, rest = 0;
    const char **names = xcalloc(m->n_nodes + 1, sizeof *names);
    bool any = false;
    for (size_t i = 0; i < m->n_nodes;) {
        size_t n = 0, pods = 0;
        const struct rehearsal_node *first = &m->middle->nodes.p[i];
        for (; i < m->n_nodes; i++) {
            const struct rehearsal_node *x = &m->middle->nodes.p[i];
            if (n && (x->began / USEC_PER_SEC != first->began / USEC_PER_SEC ||
                      x->ended / USEC_PER_SEC != first->ended / USEC_PER_SEC ||
                      x->phase != first->phase))
                break;
            names[n++] = x->name;
            pods += x->total;
        }
        if (first->phase != DRAIN_DONE)
            continue;
        if (lines++ >= NODES_SHOWN) {
            rest += n;
            continue;
        }
        if (!any)
            str_addf(out, "Order%s\n", m->runs > 1 ? " (of the middle run)" : "");
        any = true;
        time_running(MAX_OF(first->began, 0), from);
        time_running(MAX_OF(first->ended, 0), to);
        str_addf(out, "  %7s to %-7s  ", from, to);
        fold(out, names, n);
        str_addf(out, "  %zu pod%s\n", pods, plural(pods));
    }
    if (rest)
        str_addf(out, "  and %zu more node%s; -o json has them all\n", rest, plural(rest));
    free(names);
}

/* Its messages begin with its name. */
const char *rehearse_check(const struct rehearsal_wait *w) {
    const char *text = strna(w->message);
    for (size_t i = 0; i < n_checks; i++) {
        const char *rest =
            str_starts(text, checks_table[i].name) ? text + strlen(checks_table[i].name) : "";
        if (rest[0] == ':' && rest[1] == ' ')
            return checks_table[i].name;
    }
    return NULL;
}

static void add_waits(const struct rehearse_sum *m, const struct screen *s, struct str *out) {
    if (m->n_waits)
        str_add(out, "Waited for\n");
    for (size_t i = 0; i < m->n_waits && i < WAITS_SHOWN; i++) {
        const struct sum_wait *w = &m->waits[i];
        const struct blocker_row *row = blocker_row(w->example->code);
        bool bad = w->open > 0;
        add_glyph(out, s, bad ? GLYPH_WARN : GLYPH_BUSY, bad ? STYLE_YELLOW : STYLE_NONE);
        str_addf(out, "%s", row->name);
        if (*w->example->object) {
            str_addc(out, ' ');
            add_name(out, s, NULL, w->example->object);
        }
        str_add(out, "  ");
        const char *check = rehearse_check(w->example);
        if (w->open == w->runs)
            str_add(out, check ? "does not end here" : "never ends");
        else
            add_spread(out, &w->waited, w->runs);
        if (w->pods)
            str_addf(out, ", %s%u pod%s", w->pods > 1 ? "up to " : "", w->pods, plural(w->pods));
        if (w->runs < m->runs)
            add_runs(out, w->runs, m->runs);
        if (!str_empty(w->example->message)) {
            str_add(out, ": ");
            printable(out, w->example->message);
        }
        str_addc(out, '\n');
        if (bad && check)
            str_addf(
                out,
                "     %s it would wait for that: nobody rebuilds, moves or heals anything in a "
                "rehearsal. How long it takes in the cluster is not known; with --skip-check "
                "%s --reason WHY what follows is rehearsed\n",
                s->utf8 ? "\u2192" : "->", check);
        else if (bad)
            str_addf(out, "     %s %s\n", s->utf8 ? "\u2192" : "->", row->hint);
    }
    if (m->n_waits > WAITS_SHOWN)
        str_addf(out, "   and %zu more\n", m->n_waits - WAITS_SHOWN);
}

static void add_budgets(const struct rehearse_sum *m, const struct screen *s, struct str *out) {
    if (m->n_budgets)
        str_add(out, "Budgets closest to the edge\n");
    for (size_t i = 0; i < m->n_budgets && i < BUDGETS_SHOWN; i++) {
        const struct sum_budget *b = &m->budgets[i];
        const struct rehearsal_budget *e = b->example;
        str_add(out, "   ");
        add_name(out, s, e->ns, e->name);
        if (e->before > 0)
            str_addf(out, "  %d of %d disruption%s left", e->least, e->before,
                     plural((size_t)e->before));
        else
            str_add(out, "  allowed none from the beginning");
        str_addf(out, " (needs %d healthy of %d)", e->desired, e->expected);
        if (e->before > 0 && b->closed.p50 > 0) {
            str_add(out, ", none for ");
            add_spread(out, &b->closed, b->runs);
        }
        str_addc(out, '\n');
    }
    if (m->n_budgets > BUDGETS_SHOWN)
        str_addf(out, "   and %zu more; -o json has them all\n", m->n_budgets - BUDGETS_SHOWN);
}

static void add_range(struct str *out, const int64_t range[2]) {
    long least = (long)((range[0] + 500) / 1000), most = (long)((range[1] + 500) / 1000);
    if (least == most)
        str_addf(out, "%ld ms", most);
    else
        str_addf(out, "%ld to %ld ms", least, most);
}

static void add_lags(const struct lags_basis *l, struct str *out) {
    str_add(out,
            l->drains ? "A request to the API took " : "A request to the API is assumed to take ");
    add_range(out, l->answer);
    if (!l->drains) {
        str_add(out, ", and what controllers and scheduler take is in that.\n");
        return;
    }
    str_add(out, ", a step of a controller or the scheduler ");
    add_range(out, l->step);
    str_add(out, ", a budget to be counted anew ");
    add_range(out, l->budget);
    if (l->begin[1]) {
        str_add(out, ", the drain itself to begin ");
        add_range(out, l->begin);
    }
    str_addf(out, ", in %zu earlier drain%s. ", l->drains, plural(l->drains));
    str_addf(out, "How busy it will be is not known: each run takes %g to %g times that.\n",
             l->times[0], l->times[1]);
}

/* The copy does one thing or another; what the cluster does nobody knows, as a plan says. */
static void add_assumed(const struct rehearse_basis *b, const struct screen *s, struct str *out) {
    if (b->n_assumed)
        str_add(out,
                "Assumed, since it is not known what comes in their place, or where it goes\n");
    for (size_t i = 0; i < b->n_assumed && i < PODS_SHOWN; i++) {
        const struct rehearse_assumed *a = &b->assumed[i];
        add_glyph(out, s, GLYPH_WARN, STYLE_YELLOW);
        str_addf(out, "%s ", blocker_row(a->code)->name);
        add_name(out, s, NULL, a->workload);
        str_addf(out, "  %zu pod%s: ", a->pods, plural(a->pods));
        printable(out, a->why);
        str_addf(out, "; %s\n", a->here);
    }
    if (b->n_assumed > PODS_SHOWN)
        str_addf(out, "   and %zu more workload%s; -o json has them all\n",
                 b->n_assumed - PODS_SHOWN, plural(b->n_assumed - PODS_SHOWN));
}

static void add_basis(const struct rehearse_sum *m, const struct rehearse_basis *b,
                      struct str *out) {
    char time[TIMEFMT_LEN];
    str_addf(out, "Based on %s", streq(b->source, "cluster") ? "the cluster" : "");
    if (!streq(b->source, "cluster"))
        printable(out, b->source);
    str_addf(out, " as it was at %s (%zu node%s, %zu pod%s), %zu run%s.\n",
             time_format(b->taken, false, time), b->nodes, plural(b->nodes), b->pods,
             plural(b->pods), m->runs, plural(m->runs));
    size_t stops = b->observed - b->ups;
    if (stops && b->stop.workloads > b->stop.assumed)
        str_addf(out,
                 "How long pods take to end is known for %zu of %zu workload%s, from %zu "
                 "observation%s in earlier drains.\n",
                 b->stop.workloads - b->stop.assumed, b->stop.workloads, plural(b->stop.workloads),
                 stops, plural(stops));
    if (b->ups)
        str_addf(out, "How long they take to start was seen %zu time%s in earlier drains.\n",
                 b->ups, plural(b->ups));
    if (b->stop.workloads && b->stop.assumed)
        str_addf(out,
                 "How long pods take to end is assumed for %zu of %zu workload%s: %s. A file that "
                 "'drain --history FILE' has written makes it known.\n",
                 b->stop.assumed, b->stop.workloads, plural(b->stop.workloads),
                 b->stop.others
                     ? "as long as some other workload in earlier drains"
                     : "from 1s up to their grace period, in 10s at most, as plan assumes it");
    if (b->start.workloads && b->start.assumed)
        str_addf(out,
                 "How long pods take to start was not to be seen for %zu of %zu workload%s: %s.\n",
                 b->start.assumed, b->start.workloads, plural(b->start.workloads),
                 b->start.others ? "it is taken from the others"
                                 : "from 1s to 10s is assumed, since no pod shows it");
    add_lags(&b->lags, out);
    if (m->halted)
        str_addf(out,
                 "%s given up when nothing had moved for %s of the copy's time; a drain without "
                 "--timeout would wait on.\n",
                 m->runs == 1           ? "The run was"
                 : m->halted == m->runs ? "All runs were"
                                        : "Some runs were",
                 time_running(REHEARSAL_HALT, time));
    if (m->moved)
        str_addf(out,
                 "The copy was not at rest: %zu pod%s came or went before the drain began. A "
                 "rollout may be under way.\n",
                 m->moved, plural(m->moved));
    if (b->gaps.invalid) {
        str_addf(out,
                 "Not in the copy, because not valid: %zu object%s, the first: ", b->gaps.invalid,
                 plural(b->gaps.invalid));
        printable(out, b->gaps.first);
        str_addc(out, '\n');
    }
    for (size_t i = 0; i < json_array_size(b->unread); i++) {
        const json_t *u = json_array_get(b->unread, i);
        const char *resource = strna(json_str(u, "resource"));
        str_add(out, "Not read, and so not in the copy: ");
        printable(out, resource);
        str_add(out, rehearse_source(resource) < CHECK_SOURCES
                         ? ". The check that goes by them waits, as in a drain that cannot read "
                           "them.\n"
                         : "\n");
    }
    str_add(out, "Nothing was changed in the cluster.\n");
}

void rehearse_text(const struct rehearse_sum *sum, const struct rehearse_basis *basis,
                   const struct screen *s, struct str *out) {
    _cleanup_str_ struct str text = STR_INIT;
    add_headline(sum, &text);
    add_left(sum, s, &text);
    add_pending(sum, s, &text);
    add_order(sum, &text);
    add_waits(sum, s, &text);
    add_budgets(sum, s, &text);
    add_assumed(basis, s, &text);
    add_basis(sum, basis, &text);
    fill_lines(out, &text, s);
}
