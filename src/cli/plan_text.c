/* A plan in words. */
#include "cli/plan_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/nodeset.h"
#include "base/shell.h"
#include "base/vec.h"
#include "cli/drain_words.h"

enum {
    INDENT = 2,
};

/* --- helpers --- */

static const char *s_of(size_t n) {
    return n == 1 ? "" : "s";
}

static const char *moment(const struct plan_node *n, char buf[static TIMEFMT_LEN]) {
    if (n->begins == PLAN_NO_TIME)
        return n->verdict == PLAN_NEVER ? "never" : "-";
    return n->begins == 0 ? "now" : time_running(n->begins, buf);
}

static const char *lasts(const struct plan_node *n, char buf[static TIMEFMT_LEN]) {
    return n->ends == PLAN_NO_TIME ? "-" : time_running(n->ends - n->begins, buf);
}

/* To the second: nobody tells times apart by less. */
static bool same_second(int64_t a, int64_t b) {
    return a == PLAN_NO_TIME || b == PLAN_NO_TIME ? a == b : a / USEC_PER_SEC == b / USEC_PER_SEC;
}

/* Its replacement is made after another's, which does not come. */
static bool is_unmade(const struct plan_pod *p) {
    return p->verdict == PLAN_HOMELESS && p->blocker.code == BLOCKER_NOT_RESCHEDULED;
}

static size_t unmade_on(const struct plan_node *n) {
    size_t unmade = 0;
    for (size_t i = 0; i < n->n_pods; i++)
        unmade += is_unmade(&n->pods[i]);
    return unmade;
}

/* How the node fares, in a word: that it goes or waits for a while is the same to an operator. */
static const char *fares(const struct plan_node *n) {
    bool unmade = n->count[PLAN_HOMELESS] && unmade_on(n) == n->count[PLAN_HOMELESS];
    return n->verdict == PLAN_NEVER      ? "never"
           : n->verdict == PLAN_UNSURE   ? "unsure"
           : n->verdict != PLAN_HOMELESS ? "drains"
           : unmade                      ? "not made"
                                         : "no room";
}

static bool together(const struct plan_node *a, const struct plan_node *b) {
    return streq(fares(a), fares(b)) && same_second(a->begins, b->begins) &&
           same_second(a->ends, b->ends);
}

/* --- the nodes --- */

static size_t goers(const struct plan_node *n) {
    return n->n_pods - n->count[PLAN_STAYS];
}

static enum style style_of(enum plan_verdict v) {
    return v == PLAN_NEVER                          ? STYLE_RED
           : v == PLAN_UNSURE || v == PLAN_HOMELESS ? STYLE_YELLOW
                                                    : STYLE_NONE;
}

struct row {
    char *nodes;
    size_t n, pods;
    const struct plan_node *first;
};

static void row_add(const struct plan *p, size_t from, size_t to, struct row *out) {
    const char **names = xcalloc(to - from, sizeof *names);
    _cleanup_str_ struct str set = STR_INIT;
    *out = (struct row){.n = to - from, .first = &p->nodes[from]};
    for (size_t i = from; i < to; i++) {
        names[i - from] = p->nodes[i].name;
        out->pods += goers(&p->nodes[i]);
    }
    nodeset_fold(names, to - from, &set);
    out->nodes = str_take(&set);
    free(names);
}

enum {
    FACTS = 43,     /* columns of what is said of nodes beside their names */
    NAMES_MIN = 12, /* and of the names: with less there are no columns */
    NAMES_MAX = 40,
};

/* A set of nodes that may be broken between them. */
static void names_fill(struct line *l, const char *nodes, size_t indent) {
    _cleanup_str_ struct str text = STR_INIT;
    bool inside = false;
    for (; *nodes; nodes++) {
        inside = *nodes == '[' || (inside && *nodes != ']');
        str_addc(&text, *nodes);
        str_add(&text, *nodes == ',' && !inside ? " " : "");
    }
    line_fill(l, STYLE_NONE, str_get(&text), indent, SIZE_MAX);
}

/* In columns. Names that are too long for theirs have lines of their own. */
static void print_row(const struct row *r, const struct screen *s, size_t width, struct str *out) {
    char begins[TIMEFMT_LEN], takes[TIMEFMT_LEN], count[24] = "";
    if (r->n > 1)
        snprintf(count, sizeof count, "(%zu)", r->n);
    struct line l = line_begin(out, s);
    line_to(&l, INDENT);
    if (strlen(r->nodes) <= width) {
        line_put(&l, STYLE_NONE, r->nodes);
    } else {
        names_fill(&l, r->nodes, INDENT + 2);
        line_end(&l);
        l = line_begin(out, s);
    }
    line_to(&l, INDENT + width + 3);
    line_putf(&l, STYLE_NONE, "%-7s %6zu   ", count, r->pods);
    line_putf(&l, style_of(r->first->verdict), "%-8s", fares(r->first));
    line_putf(&l, STYLE_NONE, " %8s %8s", moment(r->first, begins), lasts(r->first, takes));
    line_end(&l);
}

/* On a narrow screen, as a sentence. */
static void print_narrow(const struct row *r, const struct screen *s, struct str *out) {
    char begins[TIMEFMT_LEN], takes[TIMEFMT_LEN];
    _cleanup_str_ struct str text = STR_INIT;
    struct line l = line_begin(out, s);
    line_to(&l, INDENT);
    names_fill(&l, r->nodes, INDENT + 2);
    line_end(&l);
    l = line_begin(out, s);
    line_to(&l, INDENT + 3);
    line_put(&l, style_of(r->first->verdict), fares(r->first));
    line_put(&l, STYLE_NONE, ": ");
    if (r->n > 1)
        str_addf(&text, "%zu nodes, ", r->n);
    str_addf(&text, "%zu pod%s", r->pods, s_of(r->pods));
    if (r->first->begins != PLAN_NO_TIME)
        str_addf(&text, ", %s%s", r->first->begins ? "at " : "", moment(r->first, begins));
    if (r->first->ends != PLAN_NO_TIME)
        str_addf(&text, " for %s", lasts(r->first, takes));
    line_fill(&l, STYLE_NONE, str_get(&text), INDENT + 3, SIZE_MAX);
    line_end(&l);
}

static void print_rows(const struct plan *p, const struct screen *s, struct str *out) {
    VEC(struct row) rows = VEC_INIT;
    size_t width = strlen("NODES"), room = (size_t)MAX_OF(s->columns, 0);
    room = room > INDENT + 3 + FACTS ? room - (INDENT + 3 + FACTS) : 0;
    for (size_t from = 0, to; from < p->n; from = to) {
        for (to = from + 1; to < p->n && together(&p->nodes[from], &p->nodes[to]);)
            to++;
        struct row *r = vec_push(&rows);
        row_add(p, from, to, r);
        width = MAX_OF(width, MIN_OF(strlen(r->nodes), MIN_OF(room, (size_t)NAMES_MAX)));
    }
    bool narrow = room < width && room < NAMES_MIN;
    struct line l = line_begin(out, s);
    line_to(&l, INDENT);
    line_put(&l, STYLE_BOLD, narrow ? "Nodes" : "NODES");
    line_to(&l, INDENT + width + 3);
    if (!narrow)
        line_putf(&l, STYLE_BOLD, "%-7s %6s   %-8s %8s %8s", "", "PODS", "", "BEGINS", "TAKES");
    line_end(&l);
    for (size_t i = 0; i < rows.len; i++) {
        if (narrow)
            print_narrow(&rows.p[i], s, out);
        else
            print_row(&rows.p[i], s, width, out);
        free(rows.p[i].nodes);
    }
    vec_done(&rows);
}

/* --- what is in the way --- */

/* Pods of any nodes with the same trouble. */
struct trouble {
    const struct plan_pod *first;
    size_t pods, others; /* that stay because of these */
    VEC(const char *) nodes;
};

static bool same_trouble(const struct plan_pod *a, const struct plan_pod *b) {
    if (a->verdict != b->verdict || a->blocker.code != b->blocker.code)
        return false;
    /* Of budgets the budget tells; of pods one stands for all with the same message. */
    bool budget = a->blocker.code == BLOCKER_PDB_NO_BUDGET ||
                  a->blocker.code == BLOCKER_PDB_UNSATISFIABLE ||
                  a->blocker.code == BLOCKER_PDB_SYNC_FAILED;
    return budget ? streq(a->blocker.object, b->blocker.object)
                  : streq(a->blocker.message, b->blocker.message);
}

static int compare_troubles(const void *a, const void *b) {
    const struct trouble *x = a, *y = b;
    if (x->first->verdict != y->first->verdict)
        return (int)y->first->verdict - (int)x->first->verdict;
    if (x->pods != y->pods)
        return x->pods < y->pods ? 1 : -1;
    return strcmp(x->first->blocker.object, y->first->blocker.object);
}

static void print_trouble(const struct trouble *t, const struct screen *s, struct str *out) {
    const struct plan_blocker *b = &t->first->blocker;
    const struct blocker_row *row = blocker_row(b->code);
    bool never = t->first->verdict == PLAN_NEVER;
    /* A budget that waits for room is not helped by what else helps budgets. */
    bool instead = !str_empty(b->help) && b->code != BLOCKER_NO_ROOM && b->code != BLOCKER_LOCAL_PV;
    _cleanup_str_ struct str text = STR_INIT, set = STR_INIT;
    nodeset_fold(t->nodes.p, t->nodes.len, &set);
    str_addf(&text, "%s%s%s: %s", row->name, *b->object ? " " : "", b->object, b->message);
    struct line l = line_begin(out, s);
    line_to(&l, INDENT);
    line_put(&l, style_of(t->first->verdict), never ? "x" : "!");
    line_to(&l, INDENT + 3);
    line_fill(&l, STYLE_NONE, str_get(&text), INDENT + 3, SIZE_MAX);
    line_end(&l);
    l = line_begin(out, s);
    line_to(&l, INDENT + 3);
    _cleanup_str_ struct str others = STR_INIT;
    if (t->others)
        str_addf(&others, ", because of which %zu other%s there", t->others,
                 t->others == 1 ? " stays" : "s stay");
    _cleanup_free_ char *where = xasprintf(
        "%zu pod%s on %s%s; %s%s%s%s", t->pods, s_of(t->pods), str_get(&set), str_get(&others),
        strna(b->help), str_empty(b->help) || instead || t->pods == 1 ? "" : " for one",
        str_empty(b->help) || instead ? "" : "; ", instead ? "" : row->hint);
    line_fill(&l, STYLE_DIM, where, INDENT + 3, SIZE_MAX);
    line_end(&l);
}

/* What a check says to nodes. */
struct objection {
    const struct check_finding *first;
    VEC(const char *) nodes;
};

static void print_objection(const struct objection *t, const struct screen *s, struct str *out) {
    const struct check_finding *f = t->first;
    bool never = f->verdict == CHECK_DENY, told = strstr(strna(f->hint), "--skip-check");
    enum style style = style_of(never ? PLAN_NEVER : PLAN_UNSURE);
    _cleanup_str_ struct str text = STR_INIT, set = STR_INIT;
    nodeset_fold(t->nodes.p, t->nodes.len, &set);
    const struct blocker_row *row =
        blocker_row(f->code == BLOCKER_CODES ? BLOCKER_CHECK_UNKNOWN : f->code);
    str_addf(&text, "%s%s%s%s%s: %s: %s", row->name, f->name ? " " : "",
             f->name ? strna(f->ns) : "", f->name && f->ns ? "/" : "", strna(f->name),
             f->check->name, f->evidence);
    struct line l = line_begin(out, s);
    line_to(&l, INDENT);
    line_put(&l, style, never ? "x" : "!");
    line_to(&l, INDENT + 3);
    line_fill(&l, STYLE_NONE, str_get(&text), INDENT + 3, SIZE_MAX);
    line_end(&l);
    l = line_begin(out, s);
    line_to(&l, INDENT + 3);
    _cleanup_free_ char *where = xasprintf("%s %s cordoned%s%s%s%s%s", str_get(&set),
                                           never               ? "cannot be"
                                           : t->nodes.len == 1 ? "is not yet"
                                                               : "are not yet",
                                           str_empty(f->hint) ? "" : "; ", strna(f->hint),
                                           told ? "" : "; all the same: --skip-check ",
                                           told ? "" : f->check->name, told ? "" : " --reason WHY");
    line_fill(&l, STYLE_DIM, where, INDENT + 3, SIZE_MAX);
    line_end(&l);
}

/* True: there are some. The same about several nodes is one. */
static bool print_objections(const struct plan *p, const struct screen *s, struct str *out) {
    VEC(struct objection) all = VEC_INIT;
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < MAX_OF(p->nodes[i].n_findings, (size_t) !!p->nodes[i].finding);
             k++) {
            const struct plan_node *n = &p->nodes[i];
            const struct check_finding *f = n->findings[k];
            struct objection *t = NULL;
            for (size_t m = 0; m < all.len && !t; m++)
                if (all.p[m].first->check == f->check &&
                    streq(all.p[m].first->evidence, f->evidence))
                    t = &all.p[m];
            if (!t) {
                t = vec_push(&all);
                *t = (struct objection){.first = f};
            }
            *vec_push(&t->nodes) = n->name;
        }
    if (all.len)
        str_add(out, "\nIn the way\n");
    for (size_t i = 0; i < all.len; i++) {
        print_objection(&all.p[i], s, out);
        vec_done(&all.p[i].nodes);
    }
    bool any = all.len > 0;
    vec_done(&all);
    return any;
}

/* It stays because its node does. */
static bool is_told_of(const struct plan_node *n, const struct plan_pod *p) {
    return n->finding && str_starts(p->blocker.message, "its node may not be cordoned");
}

/* The one because of which nothing is evicted from its node; itself when it is none of those. */
static const struct plan_pod *refuser(const struct plan_node *n, const struct plan_pod *p) {
    for (size_t i = 0; p->follows && i < n->n_pods; i++)
        if (n->pods[i].verdict == PLAN_NEVER && !n->pods[i].follows &&
            n->pods[i].blocker.code == p->blocker.code &&
            streq(n->pods[i].blocker.object, p->blocker.object))
            return &n->pods[i];
    return p;
}

/* What is told of a node itself. `begun`: something has been said before. */
static void print_blockers(const struct plan *p, const struct screen *s, bool begun,
                           struct str *out) {
    for (size_t i = 0; i < p->n; i++) {
        const struct plan_blocker *b = &p->nodes[i].blocker;
        if (!b->message)
            continue;
        const struct blocker_row *row = blocker_row(b->code);
        _cleanup_str_ struct str text = STR_INIT;
        str_add(out, begun ? "" : "\nIn the way\n");
        begun = true;
        str_addf(&text, "%s%s%s: %s", row->name, *b->object ? " " : "", b->object, b->message);
        struct line l = line_begin(out, s);
        line_to(&l, INDENT);
        line_put(&l, style_of(p->nodes[i].verdict), p->nodes[i].verdict == PLAN_NEVER ? "x" : "!");
        line_to(&l, INDENT + 3);
        line_fill(&l, STYLE_NONE, str_get(&text), INDENT + 3, SIZE_MAX);
        line_end(&l);
        l = line_begin(out, s);
        line_to(&l, INDENT + 3);
        _cleanup_free_ char *where =
            xasprintf("node %s; %s", p->nodes[i].name, str_empty(b->help) ? row->hint : b->help);
        line_fill(&l, STYLE_DIM, where, INDENT + 3, SIZE_MAX);
        line_end(&l);
    }
}

static void print_troubles(const struct plan *p, const struct screen *s, struct str *out) {
    VEC(struct trouble) all = VEC_INIT;
    bool begun = print_objections(p, s, out);
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < p->nodes[i].n_pods; k++) {
            const struct plan_pod *each = &p->nodes[i].pods[k];
            const struct plan_pod *pod = refuser(&p->nodes[i], each);
            struct trouble *t = NULL;
            if (pod->verdict < PLAN_HOMELESS || is_told_of(&p->nodes[i], pod))
                continue;
            for (size_t m = 0; m < all.len && !t; m++)
                if (same_trouble(all.p[m].first, pod))
                    t = &all.p[m];
            if (!t) {
                t = vec_push(&all);
                *t = (struct trouble){.first = pod};
            }
            t->pods += pod == each;
            t->others += pod != each;
            if (!t->nodes.len || t->nodes.p[t->nodes.len - 1] != p->nodes[i].name)
                *vec_push(&t->nodes) = p->nodes[i].name;
        }
    if (all.len) {
        qsort(all.p, all.len, sizeof *all.p, compare_troubles);
        str_add(out, begun ? "" : "\nIn the way\n");
    }
    for (size_t i = 0; i < all.len; i++) {
        print_trouble(&all.p[i], s, out);
        vec_done(&all.p[i].nodes);
    }
    print_blockers(p, s, begun || all.len, out);
    vec_done(&all);
}

/* --- the sums --- */

static void print_counts(const struct plan *p, const struct screen *s, struct str *out) {
    static const struct {
        enum plan_verdict v;
        const char *words;
    } parts[] = {{PLAN_GOES, "at once"},
                 {PLAN_WAITS, "when budgets allow it"},
                 {PLAN_HOMELESS, "without room elsewhere"},
                 {PLAN_UNSURE, "nobody can tell when"},
                 {PLAN_NEVER, "never"}};
    size_t all = 0, unmade = 0;
    _cleanup_str_ struct str text = STR_INIT;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        all += p->count[parts[i].v];
    for (size_t i = 0; i < p->n; i++)
        unmade += unmade_on(&p->nodes[i]);
    str_addf(&text, "%zu pod%s to evict", all, s_of(all));
    for (size_t i = 0, n = 0; i < ARRAY_LEN(parts); i++) {
        size_t count = p->count[parts[i].v] - (parts[i].v == PLAN_HOMELESS ? unmade : 0);
        if (count)
            str_addf(&text, "%s%zu %s", n++ ? ", " : ": ", count, parts[i].words);
        if (parts[i].v == PLAN_HOMELESS && unmade)
            str_addf(&text, "%s%zu not made again", n++ ? ", " : ": ", unmade);
    }
    if (p->count[PLAN_STAYS])
        str_addf(&text, "; %zu stay%s", p->count[PLAN_STAYS], p->count[PLAN_STAYS] == 1 ? "s" : "");
    struct line l = line_begin(out, s);
    line_fill(&l, STYLE_NONE, str_get(&text), 0, SIZE_MAX);
    line_end(&l);
}

static bool some_drain(const struct plan *p) {
    for (size_t i = 0; i < p->n; i++)
        if (p->nodes[i].ends != PLAN_NO_TIME)
            return true;
    return false;
}

static void print_time(const struct plan *p, const struct screen *s, struct str *out) {
    char took[TIMEFMT_LEN], least[TIMEFMT_LEN];
    const struct plan_bound *b = &p->bounds[p->binds];
    _cleanup_str_ struct str text = STR_INIT;
    if (!some_drain(p)) {
        str_add(out, "Time: no node can be drained as things are\n");
        return;
    }
    str_addf(&text, "Time: %s as planned%s, %s at least", time_running(p->drained, took),
             p->makespan == PLAN_NO_TIME ? " for those that can be drained" : "",
             time_running(b->least, least));
    if (*b->message)
        str_addf(&text, " (%s)", b->message);
    struct line l = line_begin(out, s);
    line_fill(&l, STYLE_NONE, str_get(&text), INDENT, SIZE_MAX);
    line_end(&l);
    str_reset(&text);
    str_add(&text, "It rests on: pods stop within their grace period, 10 s at most, and start as "
                   "fast as their siblings did");
    if (p->assumed)
        str_addf(&text, "; in 10 s where there are none to go by (%zu pod%s)", p->assumed,
                 s_of(p->assumed));
    if (p->attached)
        str_addf(&text, "; not on how long the volumes of %zu pod%s take to be detached",
                 p->attached, s_of(p->attached));
    l = line_begin(out, s);
    line_to(&l, INDENT);
    line_fill(&l, STYLE_DIM, str_get(&text), INDENT, SIZE_MAX);
    line_end(&l);
}

static void print_word(const char *word, struct str *out) {
    str_addc(out, ' ');
    shell_add(out, word);
}

/* The nodes and flags, as a shell takes them. */
static void print_command(const struct plan_shown *shown, struct str *out) {
    const struct plan *p = shown->plan;
    const char **names = xcalloc(p->n + 1, sizeof *names);
    _cleanup_str_ struct str set = STR_INIT;
    for (size_t i = 0; i < p->n; i++)
        names[i] = p->nodes[i].name;
    nodeset_fold(names, p->n, &set);
    print_word(str_get(&set), out);
    for (size_t i = 0; i < shown->n_flags; i++)
        if (!streq(shown->flags[i], "--eviction-rate=20")) /* as it is by itself */
            print_word(shown->flags[i], out);
    free(names);
}

void plan_text(const struct plan_shown *shown, const struct screen *s, struct str *out) {
    const struct plan *p = shown->plan;
    struct line l = line_begin(out, s);
    const char *dot = s->utf8 ? "·" : "-";
    _cleanup_str_ struct str rest = STR_INIT;
    line_putf(&l, STYLE_BOLD, "Plan %s", shown->id);
    line_put(&l, STYLE_NONE, " ");
    str_addf(&rest, "%s %zu node%s", dot, p->n, s_of(p->n));
    if (p->most_at_once)
        str_addf(&rest, " %s at most %zu at a time", dot, p->most_at_once);
    line_fill(&l, STYLE_NONE, str_get(&rest), INDENT, SIZE_MAX);
    line_end(&l);
    str_addc(out, '\n');
    print_rows(p, s, out);
    print_troubles(p, s, out);
    str_addc(out, '\n');
    print_counts(p, s, out);
    print_time(p, s, out);
    if (shown->asked)
        str_add(out, "The API server was asked about each eviction (dry run).\n");
    if (!some_drain(p)) /* there is nothing to run as things are */
        return;
    str_add(out, "To run it:  slipway drain");
    print_command(shown, out);
    str_addc(out, '\n');
}
