/* A plan in words. */
#include "cli/plan_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/nodeset.h"
#include "base/shell.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "cli/drain_args.h"
#include "cli/drain_words.h"
#include "cli/table.h"
#include "engine/moveout.h"

enum {
    INDENT = 2,
    TURNS_NAMED = 12,  /* nodes that a command names one by one */
    OBJECTS_NAMED = 5, /* budgets of which the same is said */
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

/* Its replacement is made after another's, which does not come; or is not made at all. */
static bool is_unmade(const struct plan_pod *p) {
    enum blocker_code code = p->blocker.code;
    return p->verdict == PLAN_HOMELESS &&
           (code == BLOCKER_NOT_RESCHEDULED || code == BLOCKER_JOB_WOULD_FAIL ||
            code == BLOCKER_REPLACEMENT_REFUSED);
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

/* --- the pods --- */

static const char *pod_word(const struct plan_pod *p) {
    return p->verdict != PLAN_HOMELESS ? plan_verdict_word(p->verdict)
           : is_unmade(p)              ? "not made"
                                       : "no room";
}

static void pod_time(struct table *t, int64_t at) {
    char when[TIMEFMT_LEN];
    table_str(t, at == PLAN_NO_TIME ? "-" : at == 0 ? "now" : time_running(at, when));
}

/* On a narrow screen, a name and a sentence. */
static void print_pod_narrow(const struct plan_pod *pod, const struct screen *s, struct str *out) {
    char when[TIMEFMT_LEN];
    _cleanup_str_ struct str text = STR_INIT;
    struct line l = line_begin(out, s);
    str_addf(&text, "%s/%s", strna(pod->pod->meta.ns), strna(pod->pod->meta.name));
    line_to(&l, INDENT + 3);
    line_fill(&l, STYLE_NONE, str_get(&text), INDENT + 5, SIZE_MAX);
    line_end(&l);
    str_reset(&text);
    if (pod->to)
        str_addf(&text, "to %s ", pod->to);
    if (pod->evicted != PLAN_NO_TIME)
        str_addf(&text, "%s%s", pod->evicted ? "after " : "",
                 pod->evicted ? time_running(pod->evicted, when) : "now");
    if (pod->back != PLAN_NO_TIME)
        str_addf(&text, ", ready after %s", time_running(pod->back, when));
    l = line_begin(out, s);
    line_to(&l, INDENT + 5);
    line_put(&l, style_of(pod->verdict), pod_word(pod));
    line_put(&l, STYLE_NONE, " ");
    line_fill(&l, STYLE_NONE, str_get(&text), INDENT + 5, SIZE_MAX);
    line_end(&l);
}

static void print_pods_narrow(const struct plan *p, const struct screen *s, struct str *out) {
    struct line l = line_begin(out, s);
    line_to(&l, INDENT);
    line_put(&l, STYLE_BOLD, "Pods");
    line_end(&l);
    for (size_t i = 0; i < p->n; i++) {
        bool named = false;
        for (size_t k = 0; k < p->nodes[i].n_pods; k++) {
            if (p->nodes[i].pods[k].verdict == PLAN_STAYS)
                continue;
            if (!named) {
                l = line_begin(out, s);
                line_to(&l, INDENT);
                line_fill(&l, STYLE_NONE, p->nodes[i].name, INDENT + 2, SIZE_MAX);
                line_end(&l);
            }
            named = true;
            print_pod_narrow(&p->nodes[i].pods[k], s, out);
        }
    }
}

static bool is_wider(const char *text, int columns) {
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        _cleanup_free_ char *line = xstrndup(text, (size_t)(end - text));
        if (utf8_width(line) > (size_t)MAX_OF(columns, 1))
            return true;
    }
    return false;
}

/* Those that shall go: where to, and when. In columns, also where these are wider than a pipe needs
 * them to be; a terminal would break them. */
static void print_pods(const struct plan *p, const struct screen *s, struct str *out) {
    static const struct table_column columns[] = {{"NODE", false},    {"POD", false},
                                                  {"VERDICT", false}, {"TO", false},
                                                  {"EVICTED", false}, {"READY", false}};
    _cleanup_table_ struct table *table = table_new(columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < p->nodes[i].n_pods; k++) {
            const struct plan_pod *pod = &p->nodes[i].pods[k];
            _cleanup_str_ struct str name = STR_INIT;
            if (pod->verdict == PLAN_STAYS)
                continue;
            str_addf(&name, "%s/%s", strna(pod->pod->meta.ns), strna(pod->pod->meta.name));
            table_row(table, str_get(&name));
            table_str(table, p->nodes[i].name);
            table_str(table, str_get(&name));
            table_str(table, pod_word(pod));
            table_str(table, pod->to ? pod->to : "-");
            pod_time(table, pod->evicted);
            pod_time(table, pod->back);
        }
    _cleanup_str_ struct str text = STR_INIT;
    table_text(table, &(struct table_view){.utf8 = s->utf8}, &text);
    str_addc(out, '\n');
    if (s->rows && is_wider(str_get(&text), s->columns))
        print_pods_narrow(p, s, out);
    else
        table_text(table, &(struct table_view){.color = s->color, .utf8 = s->utf8}, out);
}

/* --- what is in the way --- */

/* What is said of some nodes: a sentence, and on the next line where and what helps. */
struct entry {
    enum plan_verdict verdict;
    char *text, *where;
};
typedef VEC(struct entry) entries;

/* Takes the texts. */
static void entry_add(entries *all, enum plan_verdict verdict, char *text, char *where) {
    *vec_push(all) = (struct entry){verdict, text, where};
}

static void print_entry(const struct entry *e, const struct screen *s, struct str *out) {
    struct line l = line_begin(out, s);
    line_to(&l, INDENT);
    line_put(&l, style_of(e->verdict), e->verdict == PLAN_NEVER ? "x" : "!");
    line_to(&l, INDENT + 3);
    line_fill(&l, STYLE_NONE, e->text, INDENT + 3, SIZE_MAX);
    line_end(&l);
    l = line_begin(out, s);
    line_to(&l, INDENT + 3);
    line_fill(&l, STYLE_DIM, e->where, INDENT + 3, SIZE_MAX);
    line_end(&l);
}

/* Whatever it is about, what nothing but somebody's help ends comes first. */
static void print_entries(entries *all, const struct screen *s, struct str *out) {
    if (all->len)
        str_add(out, "\nIn the way\n");
    for (int worst = 1; worst >= 0; worst--)
        for (size_t i = 0; i < all->len; i++)
            if ((all->p[i].verdict == PLAN_NEVER) == worst)
                print_entry(&all->p[i], s, out);
    for (size_t i = 0; i < all->len; i++) {
        free(all->p[i].text);
        free(all->p[i].where);
    }
    vec_done(all);
}

/* Pods of any nodes with the same trouble. */
struct trouble {
    const struct plan_pod *first;
    size_t pods, others; /* that stay because of these */
    VEC(const char *) nodes;
    VEC(const char *) objects; /* each once */
};

static bool is_of_budget(const struct plan_blocker *b) {
    return b->code == BLOCKER_PDB_NO_BUDGET || b->code == BLOCKER_PDB_UNSATISFIABLE ||
           b->code == BLOCKER_PDB_SYNC_FAILED;
}

/* Why nobody may evict it is the same for all pods of a namespace, whose names come before. */
static const char *gist(const struct plan_blocker *b) {
    const char *why = b->code == BLOCKER_FORBIDDEN ? strstr(b->message, " is forbidden: ") : NULL;
    return why ? why : b->message;
}

/* Where it names its pod, after the numbers of the budget; NULL: it names none. */
static const char *naming(const struct plan_blocker *b) {
    const char *after = str_empty(b->pod) ? NULL : strchr(b->message, ';');
    return after ? strstr(after, b->pod) : NULL;
}

/* But for the pod that each names: of many budgets the same is said, of one of its pods each. */
static bool same_gist(const struct plan_blocker *a, const struct plan_blocker *b) {
    const char *x = naming(a), *y = naming(b);
    if (!x || !y)
        return streq(gist(a), gist(b));
    return x - a->message == y - b->message &&
           strncmp(a->message, b->message, (size_t)(x - a->message)) == 0 &&
           streq(x + strlen(a->pod), y + strlen(b->pod));
}

static bool same_trouble(const struct plan_pod *a, const struct plan_pod *b) {
    if (a->verdict != b->verdict || a->blocker.code != b->blocker.code)
        return false;
    /* Of budgets the budget tells; of pods one stands for all with the same message. */
    return (is_of_budget(&a->blocker) && streq(a->blocker.object, b->blocker.object)) ||
           (same_gist(&a->blocker, &b->blocker) &&
            streq(strna(a->blocker.help), strna(b->blocker.help)));
}

static int compare_troubles(const void *a, const void *b) {
    const struct trouble *x = a, *y = b;
    if (x->first->verdict != y->first->verdict)
        return (int)y->first->verdict - (int)x->first->verdict;
    if (x->pods != y->pods)
        return x->pods < y->pods ? 1 : -1;
    return strcmp(x->first->blocker.object, y->first->blocker.object);
}

/* Budgets are named; a pod stands for the others. */
static void add_objects(const struct trouble *t, struct str *out) {
    size_t shown = is_of_budget(&t->first->blocker) ? MIN_OF(t->objects.len, OBJECTS_NAMED) : 1;
    if (!*t->first->blocker.object)
        return;
    for (size_t i = 0; i < shown; i++)
        str_addf(out, "%s%s", i ? ", " : " ", t->objects.p[i]);
    if (shown > 1 && t->objects.len > shown)
        str_addf(out, " and %zu more", t->objects.len - shown);
}

/* Several budgets, of each of which a pod could be named. */
static bool names_many(const struct trouble *t) {
    return t->objects.len > 1 && naming(&t->first->blocker);
}

/* "...; the replacement of web-1 (and 3 more) fits nowhere" */
static void add_message(const struct trouble *t, struct str *out) {
    const struct plan_blocker *b = &t->first->blocker;
    const char *rest = names_many(t) ? naming(b) + strlen(b->pod) : NULL;
    str_add(out, ": ");
    if (!rest) {
        str_addn(out, b->message, moveout_words_len(b->message)); /* the document has all of it */
        return;
    }
    str_addn(out, b->message, (size_t)(rest - b->message));
    str_addf(out, " (and %zu more)%s", t->objects.len - 1, rest);
}

/* What would make one of them fit, and what helps in general; or what helps, said in full. */
static void add_help(const struct trouble *t, struct str *out) {
    const struct plan_blocker *b = &t->first->blocker;
    bool about_room = b->code == BLOCKER_NO_ROOM || b->code == BLOCKER_LOCAL_PV;
    if (!str_empty(b->help) && (b->helped || !about_room || strstr(b->message, PLAN_IS_CHANCE))) {
        str_addf(out, "; %s%s", b->help, names_many(t) ? ", for each of these budgets" : "");
        return;
    }
    if (!str_empty(b->help))
        str_addf(out, "; %s%s", b->help, t->pods == 1 ? "" : " for one");
    str_addf(out, "; %s", blocker_row(b->code)->hint);
}

static void trouble_entry(const struct trouble *t, entries *all) {
    const struct plan_blocker *b = &t->first->blocker;
    struct str text = STR_INIT, where = STR_INIT;
    str_add(&text, blocker_row(b->code)->name);
    add_objects(t, &text);
    add_message(t, &text);
    str_addf(&where, "%zu pod%s on ", t->pods, s_of(t->pods));
    nodeset_fold(t->nodes.p, t->nodes.len, &where);
    if (t->others)
        str_addf(&where, ", because of which %zu other%s there", t->others,
                 t->others == 1 ? " stays" : "s stay");
    add_help(t, &where);
    entry_add(all, t->first->verdict, str_take(&text), str_take(&where));
}

/* What a check says to nodes. */
struct objection {
    const struct check_finding *first;
    size_t more; /* of the same sort, with other words */
    VEC(const char *) nodes;
};
typedef VEC(struct objection) objections;

static bool is_later(const struct check_finding *f) {
    return !(f->when & CHECK_CORDON);
}

static const char *means_to_nodes(const struct objection *t) {
    bool deny = t->first->verdict == CHECK_DENY, one = t->nodes.len == 1;
    if (is_later(t->first) && deny)
        return one ? "can be drained, but nothing more may be done to it"
                   : "can be drained, but nothing more may be done to them";
    if (is_later(t->first))
        return one ? "waits for that" : "wait for that";
    return deny ? "cannot be cordoned" : one ? "is not yet cordoned" : "are not yet cordoned";
}

static void objection_entry(const struct objection *t, entries *all) {
    const struct check_finding *f = t->first;
    bool deny = f->verdict == CHECK_DENY;
    struct str text = STR_INIT, where = STR_INIT;
    const struct blocker_row *row =
        blocker_row(f->code == BLOCKER_CODES ? BLOCKER_CHECK_UNKNOWN : f->code);
    str_addf(&text, "%s%s%s%s%s: %s%s: %s", row->name, f->name ? " " : "",
             f->name ? strna(f->ns) : "", f->name && f->ns ? "/" : "", strna(f->name),
             is_later(f) && !deny ? PLAN_AT_THE_END ": " : "", f->check->name, f->evidence);
    if (t->more)
        str_addf(&text, " (and %zu more)", t->more);
    nodeset_fold(t->nodes.p, t->nodes.len, &where);
    str_addf(&where, " %s%s%s", means_to_nodes(t), str_empty(f->hint) ? "" : "; ", strna(f->hint));
    str_addf(&where, "; all the same: --skip-check %s --reason WHY", f->check->name);
    entry_add(all, deny && !is_later(f) ? PLAN_NEVER : PLAN_UNSURE, str_take(&text),
              str_take(&where));
}

/* The same about several nodes is one; of what a drain waits for at its end, and there may be many
 * machines on a node, the first stands for all with the same cure. */
static bool same_objection(const struct check_finding *a, const struct check_finding *b) {
    if (a->check != b->check || a->when != b->when)
        return false;
    return streq(a->evidence, b->evidence) ||
           (is_later(a) && a->verdict == b->verdict && a->code == b->code &&
            streq(strna(a->hint), strna(b->hint)));
}

static void object(objections *all, const struct plan_node *n, const struct check_finding *f) {
    struct objection *t = NULL;
    for (size_t m = 0; m < all->len && !t; m++)
        if (same_objection(all->p[m].first, f))
            t = &all->p[m];
    if (!t) {
        t = vec_push(all);
        *t = (struct objection){.first = f};
    }
    t->more += !streq(t->first->evidence, f->evidence);
    if (!t->nodes.len || t->nodes.p[t->nodes.len - 1] != n->name)
        *vec_push(&t->nodes) = n->name;
}

static void add_objections(const struct plan *p, entries *out) {
    objections all = VEC_INIT;
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < p->nodes[i].n_findings; k++)
            object(&all, &p->nodes[i], p->nodes[i].findings[k]);
    for (size_t i = 0; i < p->n; i++) {
        const struct plan_node *n = &p->nodes[i];
        bool told = n->blocker.message && str_starts(n->blocker.message, PLAN_AT_THE_END);
        for (size_t k = told; k < n->n_later; k++)
            object(&all, n, n->later[k]);
    }
    for (size_t i = 0; i < all.len; i++) {
        objection_entry(&all.p[i], out);
        vec_done(&all.p[i].nodes);
    }
    vec_done(&all);
}

/* It stays because its node does. */
static bool is_told_of(const struct plan_node *n, const struct plan_pod *p) {
    return n->finding && str_starts(p->blocker.message, PLAN_NO_CORDON);
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

static bool same_blocker(const struct plan_node *a, const struct plan_node *b) {
    const struct plan_blocker *x = &a->blocker, *y = &b->blocker;
    return x->message && y->message && a->itself == b->itself && x->code == y->code &&
           streq(x->object, y->object) && streq(x->message, y->message) &&
           streq(strna(x->help), strna(y->help));
}

/* What is told of a node itself; the same of several nodes once. */
static void add_blockers(const struct plan *p, entries *all) {
    for (size_t i = 0; i < p->n; i++) {
        const struct plan_blocker *b = &p->nodes[i].blocker;
        bool told = false;
        for (size_t k = 0; k < i && b->message && !told; k++)
            told = same_blocker(&p->nodes[k], &p->nodes[i]);
        if (!b->message || told)
            continue;
        VEC(const char *) nodes = VEC_INIT;
        struct str where = STR_INIT;
        for (size_t k = i; k < p->n; k++)
            if (same_blocker(&p->nodes[k], &p->nodes[i]))
                *vec_push(&nodes) = p->nodes[k].name;
        const struct blocker_row *row = blocker_row(b->code);
        str_addf(&where, "node%s ", s_of(nodes.len));
        nodeset_fold(nodes.p, nodes.len, &where);
        str_addf(&where, "; %s", str_empty(b->help) ? row->hint : b->help);
        entry_add(all, p->nodes[i].itself == PLAN_NEVER ? PLAN_NEVER : PLAN_UNSURE,
                  xasprintf("%s%s%s: %s", row->name, *b->object ? " " : "", b->object, b->message),
                  str_take(&where));
        vec_done(&nodes);
    }
}

static void trouble_object(struct trouble *t, const char *object) {
    for (size_t i = 0; i < t->objects.len; i++)
        if (streq(t->objects.p[i], object))
            return;
    if (is_of_budget(&t->first->blocker) || !t->objects.len)
        *vec_push(&t->objects) = object;
}

static void add_troubles(const struct plan *p, entries *out) {
    VEC(struct trouble) all = VEC_INIT;
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
            trouble_object(t, pod->blocker.object);
            if (!t->nodes.len || t->nodes.p[t->nodes.len - 1] != p->nodes[i].name)
                *vec_push(&t->nodes) = p->nodes[i].name;
        }
    if (all.len)
        qsort(all.p, all.len, sizeof *all.p, compare_troubles);
    for (size_t i = 0; i < all.len; i++) {
        trouble_entry(&all.p[i], out);
        vec_done(&all.p[i].nodes);
        vec_done(&all.p[i].objects);
    }
    vec_done(&all);
}

static void print_troubles(const struct plan *p, const struct screen *s, struct str *out) {
    entries all = VEC_INIT;
    add_objections(p, &all);
    add_troubles(p, &all);
    add_blockers(p, &all);
    print_entries(&all, s, out);
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
    size_t all = 0, unmade = 0, second = 0;
    _cleanup_str_ struct str text = STR_INIT;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        all += p->count[parts[i].v];
    for (size_t i = 0; i < p->n; i++)
        unmade += unmade_on(&p->nodes[i]);
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < p->nodes[i].n_pods; k++)
            second += p->nodes[i].pods[k].verdict == PLAN_WAITS &&
                      p->nodes[i].pods[k].blocker.code == BLOCKER_SURGE_PENDING;
    str_addf(&text, "%zu pod%s to evict", all, s_of(all));
    for (size_t i = 0, n = 0; i < ARRAY_LEN(parts); i++) {
        size_t count = p->count[parts[i].v] - (parts[i].v == PLAN_HOMELESS ? unmade : 0) -
                       (parts[i].v == PLAN_WAITS ? second : 0);
        if (parts[i].v == PLAN_WAITS && second)
            str_addf(&text, "%s%zu after a second replica", n++ ? ", " : ": ", second);
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

static bool may_drain(const struct plan *p) {
    for (size_t i = 0; i < p->n; i++)
        if (p->nodes[i].verdict != PLAN_NEVER)
            return true;
    return false;
}

static size_t drained_for_sure(const struct plan *p) {
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        n += p->nodes[i].ends != PLAN_NO_TIME;
    return n;
}

/* What is known of the pods, and what is not: the drain may well be faster, or slower. */
static void print_pace(const struct plan *p, const struct screen *s, struct str *out) {
    char stop[TIMEFMT_LEN], start[TIMEFMT_LEN];
    _cleanup_str_ struct str text = STR_INIT;
    duration_format_limit(ASSUMED_STOP, stop);
    if (p->stops_seen && p->stops_assumed)
        str_addf(&text,
                 "Assumed: %zu pod%s as fast as in earlier drains, the others within their "
                 "grace period, in %s at most; they start as fast as their siblings did",
                 p->stops_seen, p->stops_seen == 1 ? " stops" : "s stop", stop);
    else if (p->stops_seen)
        str_add(&text, "Assumed: pods stop as fast as in earlier drains, and start as fast as "
                       "their siblings did");
    else
        str_addf(&text,
                 "Assumed: pods stop within their grace period, in %s at most, and start as fast "
                 "as their siblings did",
                 stop);
    if (p->assumed)
        str_addf(&text, "; in %s where there are none to go by (%zu pod%s)",
                 duration_format_limit(ASSUMED_START, start), p->assumed, s_of(p->assumed));
    if (p->attached)
        str_addf(&text, "; how long the volumes of %zu pod%s take to be detached is left out",
                 p->attached, s_of(p->attached));
    struct line l = line_begin(out, s);
    line_to(&l, INDENT);
    line_fill(&l, STYLE_DIM, str_get(&text), INDENT, SIZE_MAX);
    line_end(&l);
}

static void print_no_time(const struct plan *p, const struct screen *s, struct str *out) {
    struct line l = line_begin(out, s);
    line_fill(&l, STYLE_NONE,
              may_drain(p) ? "Time: no node is certain to be drained as things are"
                           : "Time: no node can be drained as things are",
              INDENT, SIZE_MAX);
    line_end(&l);
}

static void print_time(const struct plan *p, const struct screen *s, struct str *out) {
    char took[TIMEFMT_LEN], least[TIMEFMT_LEN];
    const struct plan_bound *b = &p->bounds[p->binds];
    _cleanup_str_ struct str text = STR_INIT;
    str_addf(&text, "Time: about %s as planned%s; with such pods no order takes less than %s",
             time_running(p->drained, took),
             p->makespan == PLAN_NO_TIME ? " for those that drain for certain" : "",
             time_running(b->least, least));
    if (*b->message)
        str_addf(&text, " (%s)", b->message);
    if (p->certain >= USEC_PER_SEC) /* what is told in whole seconds */
        str_addf(&text, "; however fast pods are, %s because of --eviction-rate",
                 time_running(p->certain, took));
    struct line l = line_begin(out, s);
    line_fill(&l, STYLE_NONE, str_get(&text), INDENT, SIZE_MAX);
    line_end(&l);
    print_pace(p, s, out);
}

/* Nodes that go together keep each other from getting through. */
static void print_better(const struct plan *p, const struct screen *s, struct str *out) {
    _cleanup_str_ struct str text = STR_INIT;
    if (!p->better_limit && !p->adopted_limit)
        return;
    if (p->adopted_limit)
        str_addf(&text,
                 "At most %zu at a time (--parallel=%zu): with more, pods of the nodes that go "
                 "together would take each other's room, and %zu of the %zu nodes, not %zu, would "
                 "drain for certain.",
                 p->adopted_limit, p->adopted_limit, p->without_nodes, p->n, drained_for_sure(p));
    else
        str_addf(
            &text,
            "With --parallel=%zu %zu of the %zu nodes drain for certain, instead of %zu: fewer at "
            "a time leave each other room. Plan that to see their order.",
            p->better_limit, p->better_nodes, p->n, drained_for_sure(p));
    struct line l = line_begin(out, s);
    line_fill(&l, STYLE_NONE, str_get(&text), INDENT, SIZE_MAX);
    line_end(&l);
}

static void print_word(const char *word, struct str *out) {
    str_addc(out, ' ');
    shell_add(out, word);
}

static bool has_flag(const struct plan_shown *shown, const char *flag) {
    for (size_t i = 0; i < shown->n_flags; i++)
        if (streq(shown->flags[i], flag))
            return true;
    return false;
}

/* Whether some nodes wait for others: then it matters in which order they are named. */
static bool takes_turns(const struct plan *p) {
    for (size_t i = 0; i < p->n; i++)
        if (p->nodes[i].begins > 0 || (p->nodes[i].begins == PLAN_NO_TIME && !p->nodes[i].finding))
            return true;
    return false;
}

/* The nodes and flags, as a shell takes them. In turns a drain would choose the next node by
 * itself, as it sees things by then. */
static void print_command(const struct plan_shown *shown, struct str *out) {
    const struct plan *p = shown->plan;
    const char **names = xcalloc(p->n + 1, sizeof *names);
    bool turns = takes_turns(p);
    _cleanup_str_ struct str set = STR_INIT;
    for (size_t i = 0; i < p->n; i++)
        names[i] = p->nodes[i].name;
    if (!turns)
        nodeset_fold(names, p->n, &set);
    for (size_t i = 0; i < (turns ? p->n : 0); i++)
        print_word(names[i], out);
    if (!turns)
        print_word(str_get(&set), out);
    if (turns && !has_flag(shown, "--in-order"))
        print_word("--in-order", out);
    for (size_t i = 0; i < shown->n_flags; i++)
        if (!streq(shown->flags[i], DRAIN_RATE_WORD))
            print_word(shown->flags[i], out);
    free(names);
}

void plan_text(const struct plan_shown *shown, const struct screen *s, struct str *out) {
    const struct plan *p = shown->plan;
    struct line l = line_begin(out, s);
    const char *dot = s->utf8 ? "·" : "-";
    char id[17];
    _cleanup_str_ struct str rest = STR_INIT;
    plan_id(shown, id);
    line_putf(&l, STYLE_BOLD, "Plan %s", id);
    line_put(&l, STYLE_NONE, " ");
    str_addf(&rest, "%s %zu node%s", dot, p->n, s_of(p->n));
    if (p->most_at_once)
        str_addf(&rest, " %s at most %zu at a time", dot, p->most_at_once);
    line_fill(&l, STYLE_NONE, str_get(&rest), INDENT, SIZE_MAX);
    line_end(&l);
    str_addc(out, '\n');
    print_rows(p, s, out);
    if (shown->wide)
        print_pods(p, s, out);
    print_troubles(p, s, out);
    str_addc(out, '\n');
    print_counts(p, s, out);
    if (some_drain(p))
        print_time(p, s, out);
    else
        print_no_time(p, s, out);
    print_better(p, s, out);
    if (shown->asked)
        str_add(out, "The API server was asked about each eviction (dry run).\n");
    if (!may_drain(p)) /* there is nothing to run as things are */
        return;
    if (shown->saved) {
        str_add(out, "To run it:  slipway apply");
        print_word(shown->saved, out);
        str_addc(out, '\n');
        return;
    }
    if (p->n > TURNS_NAMED && takes_turns(p)) {
        str_add(out, "To run it:  save it with --out FILE, then  slipway apply FILE\n");
        return;
    }
    str_add(out, "To run it:  slipway drain");
    print_command(shown, out);
    str_addc(out, '\n');
}
