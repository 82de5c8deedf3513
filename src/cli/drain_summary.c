/* The end of a drain. */
#include "cli/drain_summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "cli/drain_words.h"
#include "cli/eta.h"

enum {
    PODS_SHOWN = 20, /* that remain; --json has them all */
};

/* As VEC() makes them. */
struct node_list {
    const struct drain_node **p;
    size_t len, cap;
};

/* --- counting --- */

bool drain_pod_remains(const struct drain_pod *p) {
    return p->state != DRAIN_POD_GONE && p->state != DRAIN_POD_STAYS && !p->skipped_wait;
}

void drain_totals_take(const struct drain_node *const *nodes, size_t n, struct drain_totals *out) {
    *out = (struct drain_totals){.nodes = (unsigned)n};
    int64_t *took = xcalloc(n + 1, sizeof *took);
    size_t done = 0;
    for (size_t i = 0; i < n; i++) {
        const struct drain_node *node = nodes[i];
        out->of[node->phase]++;
        if (node->phase == DRAIN_DONE)
            took[done++] = node->started ? node->ended - node->started : 0;
        for (size_t k = 0; k < node->n_pods; k++) {
            const struct drain_pod *p = node->pods[k];
            if (p->state == DRAIN_POD_GONE)
                ++*(!p->first_try ? &out->vanished : p->deleted ? &out->deleted : &out->evicted);
            else if (p->skipped_wait)
                out->skipped++;
            else {
                out->remaining += drain_pod_remains(p);
                out->leaving += p->state == DRAIN_POD_LEAVING;
            }
        }
    }
    out->median = done ? eta_middle(took, done) : 0;
    free(took);
}

void drain_remains_text(const struct drain_pod *p, struct str *out) {
    switch (p->state) {
    case DRAIN_POD_REFUSED:
        str_addf(out, "refused: %s",
                 str_empty(p->why) ? "must not be touched without a flag" : p->why);
        return;
    case DRAIN_POD_FAILED:
        str_add(out, str_empty(p->error) ? "could not be evicted" : p->error);
        return;
    default:
        break;
    }
    if (p->blocked) {
        struct drain_blocker b = p->blocker;
        _cleanup_str_ struct str self = STR_INIT;
        str_addf(&self, "%s/%s", strna(p->ns), strna(p->name));
        if (str_same(b.object, str_get(&self))) /* who reads it knows which pod it is */
            b.object = NULL;
        drain_blocker_text(&b, out);
    } else if (p->state == DRAIN_POD_LEAVING)
        str_add(out, "is terminating");
    else if (p->state == DRAIN_POD_SENT)
        str_add(out, "was asked to go, there is no answer");
    else
        str_add(out, "its turn had not come");
}

int64_t drain_remains_since(const struct drain_pod *p) {
    return p->blocked ? p->blocker.since : p->accepted ? p->accepted : p->first_try;
}

/* --- text --- */

static void add_glyph(struct str *out, const struct screen *s, enum glyph glyph, enum style style) {
    const char *text = term_glyph(glyph, s->utf8);
    const char *sgr = s->color ? term_sgr(style) : "";
    str_addf(out, " %s%s%s%*s ", sgr, text, *sgr ? SGR_RESET : "",
             (int)((s->utf8 ? 1 : 2) - utf8_width(text)), "");
}

static const char *plural(unsigned n) {
    return n == 1 ? "" : "s";
}

/* In a dry run that asks nobody: whether pods of a node would be waited for that is done else. */
static bool would_stay(const struct drain_node *n) {
    return n->phase == DRAIN_DONE && n->blocked_pods;
}

/* Pods that would go if it were no dry run: all of a node that is done but those that are waited
 * for, and of others those that the server would let go. */
static unsigned pods_that_would_go(const struct drain_summary *m) {
    unsigned pods = 0;
    for (size_t i = 0; i < m->n; i++)
        for (size_t k = 0; k < m->nodes[i]->n_pods; k++) {
            enum drain_pod_state state = m->nodes[i]->pods[k]->state;
            bool blocked = m->nodes[i]->pods[k]->blocked;
            pods += m->nodes[i]->phase == DRAIN_DONE ? state != DRAIN_POD_STAYS && !blocked
                                                     : state == DRAIN_POD_GONE;
        }
    return pods;
}

static void first_line(const struct drain_summary *m, const struct drain_totals *t,
                       struct str *out) {
    char buf[TIMEFMT_LEN];
    unsigned done = t->of[DRAIN_DONE];
    if (m->dry_run) {
        unsigned pods = pods_that_would_go(m);
        for (size_t i = 0; i < m->n; i++)
            done -= would_stay(m->nodes[i]);
        str_addf(out, "Dry run: %u of %u node%s would be drained, %u pod%s would go\n", done,
                 t->nodes, plural(t->nodes), pods, plural(pods));
        return;
    }
    if (done == t->nodes)
        str_addf(out, "Drained %u node%s", done, plural(done));
    else
        str_addf(out, "Drained %u of %u node%s", done, t->nodes, plural(t->nodes));
    str_addf(out, " in %s", time_running(m->now - m->started, buf));
    const struct {
        unsigned n;
        const char *what;
    } parts[] = {{t->evicted, "evicted"},
                 {t->deleted, "deleted"},
                 {t->vanished, "gone by themselves"},
                 {t->skipped, "not waited for"},
                 {t->leaving, "asked and still ending"},
                 {t->remaining - t->leaving, "left"}};
    bool any = false;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (!parts[i].n)
            continue;
        str_addf(out, "%s %u%s%s %s", any ? "," : ":", parts[i].n, any ? "" : " pod",
                 any ? "" : plural(parts[i].n), parts[i].what);
        any = true;
    }
    str_addc(out, '\n');
}

static void put_names(const struct node_list *list, struct str *out) {
    drain_fold(list->p, list->len, out);
}

/* Its turn has not come, and that is all there is to say about it. */
static bool is_idle(const struct drain_pod *p) {
    return p->state == DRAIN_POD_QUEUED && !p->blocked;
}

static void add_more(unsigned shown, struct str *out) {
    if (shown > PODS_SHOWN)
        str_addf(out, "     and %u more pod%s\n", shown - PODS_SHOWN, plural(shown - PODS_SHOWN));
}

/* What was shown so far. */
struct shown {
    unsigned pods;
    VEC(const char *) hints; /* each once: on ten nodes the same ten times helps nobody */
};

static bool is_new_hint(struct shown *shown, const char *hint) {
    for (size_t i = 0; i < shown->hints.len; i++)
        if (shown->hints.p[i] == hint)
            return false;
    *vec_push(&shown->hints) = hint;
    return true;
}

/* Pods that remain on a node, up to what is shown. */
static void add_pods(const struct drain_summary *m, const struct drain_node *n,
                     const struct screen *s, struct shown *shown, struct str *out) {
    char buf[TIMEFMT_LEN];
    unsigned queued = 0;
    for (size_t i = 0; i < n->n_pods; i++) {
        const struct drain_pod *p = n->pods[i];
        queued += is_idle(p);
        if (is_idle(p) || !drain_pod_remains(p) || shown->pods++ >= PODS_SHOWN)
            continue;
        _cleanup_str_ struct str text = STR_INIT;
        str_addf(&text, "%s/%s: ", strna(p->ns), strna(p->name));
        drain_remains_text(p, &text);
        str_add(out, "     ");
        utf8_printable(out, str_get(&text));
        int64_t since = drain_remains_since(p);
        if (since)
            str_addf(out, ", for %s", time_running(m->now - since, buf));
        if (p->blocked && p->blocker.attempts)
            str_addf(out, ", %u %s", p->blocker.attempts,
                     p->blocker.attempts == 1 ? "try" : "tries");
        str_addc(out, '\n');
        const char *hint = p->blocked ? drain_hint(&p->blocker) : NULL;
        if (hint && is_new_hint(shown, hint))
            str_addf(out, "       %s %s\n", s->utf8 ? "\u2192" : "->", hint);
    }
    if (queued && n->phase != DRAIN_REFUSED) /* there nothing's turn came */
        str_addf(out, "     %u pod%s whose turn had not come\n", queued, plural(queued));
}

void drain_summary_pods(const struct drain_node *n, int64_t now, const struct screen *s,
                        struct str *out) {
    struct shown shown = {0};
    add_pods(&(struct drain_summary){.now = now}, n, s, &shown, out);
    add_more(shown.pods, out);
    vec_done(&shown.hints);
}

/* --- where to find out more --- */

/* The length of the shell word at `p`, with what is in quotes in it. */
static size_t word_len(const char *p) {
    size_t n = 0;
    bool quoted = false;
    for (; p[n] && (quoted || p[n] != ' '); n++)
        quoted ^= p[n] == '\'';
    return n;
}

/* "slipway why --context prod", from the command that undoes: both are told which cluster, and as
 * whom; a holder is of no interest here. */
static void add_why_command(const char *undo, struct str *out) {
    bool skip = false;
    for (const char *p = undo; *p;) {
        struct view word = {p, word_len(p)};
        bool holder = word.len >= 8 && strncmp(p, "--holder", 8) == 0;
        if (!skip && !holder) {
            str_add(out, out->len ? " " : "");
            if (view_eq(word, VIEW("uncordon")))
                str_add(out, "why");
            else
                str_addn(out, word.p, word.len);
        }
        skip = !skip && view_eq(word, VIEW("--holder")); /* its value is the next word */
        p += word.len;
        while (*p == ' ')
            p++;
    }
}

/* Below a node on which pods wait for something. */
static void add_why(const struct drain_summary *m, const struct drain_node *n,
                    const struct screen *s, struct str *out) {
    bool blocked = false;
    for (size_t i = 0; i < n->n_pods; i++)
        blocked |= n->pods[i]->blocked && drain_pod_remains(n->pods[i]);
    if (!blocked || m->dry_run)
        return;
    _cleanup_str_ struct str command = STR_INIT;
    add_why_command(m->undo, &command);
    str_addf(out, "     %s %s ", s->utf8 ? "\u2192" : "->", str_get(&command));
    utf8_printable(out, n->name);
    str_addc(out, '\n');
}

static int by_error(const void *pa, const void *pb) {
    const struct drain_node *a = *(const struct drain_node *const *)pa,
                            *b = *(const struct drain_node *const *)pb;
    if (a->phase != b->phase)
        return a->phase > b->phase ? -1 : 1;
    int c = strcmp(strna(a->error), strna(b->error));
    return c ? c : strcmp(a->name, b->name);
}

/* Nodes that ended badly: those of one reason in one line, with their pods below. */
static void add_failed(const struct drain_summary *m, const struct screen *s, struct shown *shown,
                       struct str *out) {
    struct node_list bad = VEC_INIT;
    for (size_t i = 0; i < m->n; i++)
        if (drain_standing(m->nodes[i], m->now) == STANDING_FAILED)
            *vec_push(&bad) = m->nodes[i];
    if (bad.len)
        qsort(bad.p, bad.len, sizeof *bad.p, by_error);
    for (size_t i = 0, next; i < bad.len; i = next) {
        const struct drain_node *n = bad.p[i];
        for (next = i + 1; next < bad.len && bad.p[next]->phase == n->phase &&
                           str_same(bad.p[next]->error, n->error);)
            next++;
        bool late = n->phase == DRAIN_TIMED_OUT;
        add_glyph(out, s, late ? GLYPH_WARN : GLYPH_BAD, late ? STYLE_YELLOW : STYLE_RED);
        drain_fold(bad.p + i, next - i, out);
        str_addf(out, "  %s: ", drain_phase_word(n->phase));
        utf8_printable(out, str_empty(n->error) ? "no reason is known" : n->error);
        str_addc(out, '\n');
        for (size_t k = i; k < next; k++) {
            bool room = shown->pods < PODS_SHOWN;
            add_pods(m, bad.p[k], s, shown, out);
            if (room)
                add_why(m, bad.p[k], s, out);
        }
    }
    vec_done(&bad);
}

/* Pods that remain and have something to say about it. */
static unsigned pods_to_show(const struct drain_node *n) {
    unsigned pods = 0;
    for (size_t i = 0; i < n->n_pods; i++)
        pods += drain_pod_remains(n->pods[i]) && !is_idle(n->pods[i]);
    return pods;
}

static void stopped_line(const struct node_list *list, const struct screen *s, struct str *out) {
    unsigned left = 0, total = 0;
    for (size_t i = 0; i < list->len; i++) {
        left += drain_pods_left(list->p[i]);
        total += list->p[i]->total;
    }
    add_glyph(out, s, GLYPH_NONE, STYLE_YELLOW);
    put_names(list, out);
    str_add(out, "  stopped");
    if (total)
        str_addf(out, ", %u of %u pod%s left", left, total, plural(total));
    str_addc(out, '\n');
}

/* Nodes that were stopped on their way or never begun. */
static void add_stopped(const struct drain_summary *m, const struct screen *s, struct shown *shown,
                        struct str *out) {
    struct node_list alike = VEC_INIT, idle = VEC_INIT;
    for (size_t i = 0; i < m->n; i++) {
        const struct drain_node *n = m->nodes[i];
        if (n->phase != DRAIN_STOPPED && drain_ended(n->phase))
            continue;
        unsigned pods = pods_to_show(n);
        if (!n->started) {
            *vec_push(&idle) = n;
        } else if (!pods || shown->pods >= PODS_SHOWN) {
            shown->pods += pods;
            *vec_push(&alike) = n;
        } else {
            stopped_line(&(struct node_list){&n, 1, 1}, s, out);
            add_pods(m, n, s, shown, out);
            add_why(m, n, s, out);
        }
    }
    if (alike.len)
        stopped_line(&alike, s, out);
    if (idle.len) {
        add_glyph(out, s, GLYPH_NONE, STYLE_DIM);
        put_names(&idle, out);
        str_add(out, "  not begun\n");
    }
    vec_done(&alike);
    vec_done(&idle);
}

static void add_would_stay(const struct drain_summary *m, const struct screen *s,
                           struct shown *shown, struct str *out) {
    for (size_t i = 0; i < m->n; i++) {
        const struct drain_node *n = m->nodes[i];
        if (!would_stay(n))
            continue;
        add_glyph(out, s, GLYPH_WARN, STYLE_YELLOW);
        utf8_printable(out, n->name);
        str_addf(out, "  would wait for %u pod%s\n", n->blocked_pods, plural(n->blocked_pods));
        for (size_t k = 0; k < n->n_pods; k++) {
            const struct drain_pod *p = n->pods[k];
            if (!p->blocked || shown->pods++ >= PODS_SHOWN)
                continue;
            _cleanup_str_ struct str text = STR_INIT;
            str_addf(&text, "%s/%s: ", strna(p->ns), strna(p->name));
            drain_remains_text(p, &text);
            str_add(out, "     ");
            utf8_printable(out, str_get(&text));
            str_addc(out, '\n');
        }
    }
}

static void add_done(const struct drain_summary *m, const struct drain_totals *t,
                     const struct screen *s, struct str *out) {
    char buf[TIMEFMT_LEN];
    struct node_list done = VEC_INIT;
    for (size_t i = 0; i < m->n; i++)
        if (m->nodes[i]->phase == DRAIN_DONE && !(m->dry_run && would_stay(m->nodes[i])))
            *vec_push(&done) = m->nodes[i];
    if (done.len) {
        add_glyph(out, s, GLYPH_OK, STYLE_GREEN);
        put_names(&done, out);
        if (m->dry_run)
            str_add(out, "  would be drained\n");
        else
            str_addf(out, "  drained in %s%s\n", time_running(t->median, buf),
                     done.len > 1 ? " (median)" : "");
    }
    vec_done(&done);
}

/* "'w[1-3]'", as a shell wants it. */
static void add_argument(const struct node_list *list, struct str *out) {
    _cleanup_str_ struct str names = STR_INIT;
    put_names(list, &names);
    bool plain = str_get(&names)[strcspn(str_get(&names), "[]!&()*?~' \"\\$")] == 0;
    str_addf(out, plain ? "%s" : "'%s'", str_get(&names));
}

static bool was_released(const struct drain_summary *m, const struct drain_node *n) {
    for (size_t i = 0; i < m->n_released; i++)
        if (m->released[i] == n)
            return true;
    return false;
}

/* By pods and by checks: what is to be done about them differs. */
static void add_refused(const struct drain_summary *m, struct str *out) {
    bool pods = false, checks = false;
    for (size_t i = 0; i < m->n; i++) {
        const struct drain_node *n = m->nodes[i];
        checks |= n->phase == DRAIN_REFUSED && n->denied;
        pods |= n->phase == DRAIN_REFUSED && !n->denied;
    }
    if (pods)
        str_add(out, "See to the pods that were refused, or add the flags that they need.\n");
    if (checks)
        str_add(
            out,
            "See to what the check found, or do without it: --skip-check CHECK --reason WHY.\n");
}

static void add_next(const struct drain_summary *m, const struct drain_totals *t, struct str *out) {
    struct node_list ours = VEC_INIT;
    for (size_t i = 0; i < m->n; i++)
        if (m->nodes[i]->cordoned_by_us && !was_released(m, m->nodes[i]))
            *vec_push(&ours) = m->nodes[i];
    if (m->dry_run) {
        str_add(out, "Nothing was changed.\n");
    } else if (t->of[DRAIN_DONE] != t->nodes) {
        add_refused(m, out);
        str_add(out, m->again ? "To go on:  " : "To go on, run the same command again.\n");
        if (m->again) {
            utf8_printable(out, m->again);
            str_addc(out, '\n');
        }
    }
    if (!m->dry_run && ours.len) {
        str_addf(out, "To put %s back into service:  %s ", ours.len == 1 ? "the node" : "the nodes",
                 m->undo);
        add_argument(&ours, out);
        str_addc(out, '\n');
    }
    vec_done(&ours);
}

void drain_summary_text(const struct drain_summary *m, const struct screen *s, struct str *out) {
    struct drain_totals t;
    struct shown shown = {0};
    drain_totals_take(m->nodes, m->n, &t);
    first_line(m, &t, out);
    add_failed(m, s, &shown, out);
    add_stopped(m, s, &shown, out);
    if (m->dry_run)
        add_would_stay(m, s, &shown, out);
    add_more(shown.pods, out);
    vec_done(&shown.hints);
    add_done(m, &t, s, out);
    add_next(m, &t, out);
}
