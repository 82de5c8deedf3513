/* The report of `doctor`. */
#include "cli/doctor_show.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/nodeset.h"
#include "base/utf8.h"
#include "cli/finding_json.h"
#include "cli/text.h"

#define SCHEMA "slipway.doctor/1.3"

enum {
    SHOWN = 3,         /* of a group, in text */
    CHECKS_SHOWN = 6,  /* findings of checks, in text */
    NODES_SHOWN = 120, /* columns of a node set, in text */
};

static const char *const state_words[] = {
    [STATE_GOOD] = "ok", [STATE_WARN] = "warning", [STATE_BAD] = "bad"};
static const enum glyph state_glyphs[] = {
    [STATE_GOOD] = GLYPH_OK, [STATE_WARN] = GLYPH_WARN, [STATE_BAD] = GLYPH_BAD};
static const enum style state_styles[] = {
    [STATE_GOOD] = STYLE_GREEN, [STATE_WARN] = STYLE_YELLOW, [STATE_BAD] = STYLE_RED};

static const char *plural(size_t n) {
    return n == 1 ? "" : "s";
}

static bool is_budget(enum lint_cause cause) {
    switch (cause) {
    case LINT_MAX_ZERO:
    case LINT_SINGLE:
    case LINT_MIN_ALL:
    case LINT_SYNC_FAILED:
    case LINT_OVERLAP:
    case LINT_UNHEALTHY:
    case LINT_DRY:
    case LINT_CHANCE:
    case LINT_SHORT:
    case LINT_NOTHING:
        return true;
    default:
        return false;
    }
}

static const char *code_of(enum lint_cause cause) {
    int code = lint_row(cause)->code;
    return code == WHY_NO_CODE ? NULL : blocker_row((enum blocker_code)code)->name;
}

/* One mark for one code, whoever tells of it: that of `why` and of `status`. */
static enum state severity_state(enum severity severity) {
    return severity == SEVERITY_ERROR ? STATE_BAD : STATE_WARN;
}

static enum state group_state(const struct lint_group *g) {
    return lint_row(g->cause)->effect == LINT_REMARK ? STATE_NONE
                                                     : severity_state(lint_severity(g->cause));
}

static enum blocker_code check_code(const struct doctor_check *c) {
    return c->finding->code == BLOCKER_CODES ? BLOCKER_CHECK_UNKNOWN : c->finding->code;
}

static enum state check_state(const struct doctor_check *c) {
    bool denied = c->finding->verdict == CHECK_DENY && doctor_check_blocks(c);
    return denied ? STATE_BAD : severity_state(blocker_row(check_code(c))->severity);
}

/* Whether it is chance of some that they block, or not known. */
static bool has_chance(const struct lint *lint) {
    for (size_t i = 0; i < lint->n; i++)
        if (lint->groups[i].cause == LINT_CHANCE || lint->groups[i].cause == LINT_UNREAD ||
            lint->groups[i].cause == LINT_DOUBT)
            return true;
    return false;
}

/* "12 budgets allow no disruption: maxUnavailable 0". */
static void add_title(const struct lint_group *g, struct str *out) {
    const struct lint_row *row = lint_row(g->cause);
    str_addf(out, "%zu %s", g->n, g->n == 1 ? row->one : row->few);
}

/* --- text --- */

/* It may come from outside. */
static void fill(struct term *out, const char *text, size_t column, size_t indent) {
    _cleanup_str_ struct str clean = STR_INIT;
    utf8_printable(&clean, text);
    text_fill_to(&out->buf, str_get(&clean), column, indent, text_width(out->tty, out->columns));
}

/* The same, but one line where it is not for a screen: of a finding, which is looked for with grep,
 * and of a command, which is copied. */
static void fill_screen(struct term *out, const char *text, size_t column, size_t indent) {
    if (out->tty) {
        fill(out, text, column, indent);
        return;
    }
    term_text(out, text);
    term_printf(out, "\n");
}

static void show_command(struct term *out, const char *command, size_t indent) {
    _cleanup_str_ struct str clean = STR_INIT;
    utf8_printable(&clean, command);
    text_command(&out->buf, str_get(&clean), indent,
                 out->tty ? text_width(true, out->columns) : SIZE_MAX);
}

/* "w[1-3]", cut where it would fill the screen. */
static void add_nodes(const char *const *nodes, size_t n, bool all, struct str *out) {
    _cleanup_str_ struct str folded = STR_INIT;
    nodeset_fold(nodes, n, &folded);
    if (all || folded.len <= NODES_SHOWN)
        str_add(out, str_get(&folded));
    else /* a cut through the brackets would be no node set */
        str_addf(out, "%s and %zu more", nodes[0], n - 1);
}

static void show_findings(const struct doctor_findings *f, struct term *out) {
    for (size_t i = 0; i < f->list.len; i++) {
        const struct doctor_finding *d = &f->list.p[i];
        term_styled(out, state_styles[d->state], term_glyph(state_glyphs[d->state], out->utf8));
        term_printf(out, " %s: ", state_words[d->state]);
        fill_screen(out, d->text, strlen(state_words[d->state]) + 4, 4);
        if (d->hint) {
            term_printf(out, "    ");
            fill_screen(out, d->hint, 4, 4);
        }
    }
}

static void show_fix(const struct why_remedy *r, struct term *out) {
    _cleanup_str_ struct str text = STR_INIT;
    str_add(&text, r->text);
    if (*r->cost)
        str_addf(&text, " (%s: %s)", r->risk >= WHY_RISK_SERVICE ? "RISK" : "mind", r->cost);
    term_printf(out, "      - ");
    fill(out, str_get(&text), 8, 8);
    if (*r->command)
        show_command(out, r->command, 8);
}

/* "PodDisruptionBudget shop/web" where the kind says more than the group's title does. */
static void add_object(const struct lint_group *g, const struct lint_finding *f, struct str *out) {
    if (!is_budget(g->cause) && !streq(f->kind, "Pod"))
        str_addf(out, "%s ", f->kind);
    str_addf(out, "%s%s%s", f->ns, *f->ns ? "/" : "", f->name);
}

static void show_finding(const struct lint_group *g, const struct lint_finding *f, bool all,
                         struct term *out) {
    _cleanup_str_ struct str text = STR_INIT;
    add_object(g, f, &text);
    str_addf(&text, ": %s", f->text);
    term_printf(out, "    ");
    fill(out, str_get(&text), 4, 6);
    if (f->n_nodes && f->pods) {
        str_reset(&text);
        str_addf(&text, "%u pod%s on ", f->pods, plural(f->pods));
        add_nodes(f->nodes, f->n_nodes, all, &text);
        term_printf(out, "      ");
        fill(out, str_get(&text), 6, 6);
    }
    for (size_t i = 0; i < f->n_fixes; i++)
        show_fix(&f->fixes[i], out);
}

static void show_group(const struct lint_group *g, bool all, const char *prog, struct term *out) {
    bool bad = group_state(g) == STATE_BAD, remark = group_state(g) == STATE_NONE;
    const char *glyph = remark ? "-" : term_glyph(bad ? GLYPH_BAD : GLYPH_WARN, out->utf8);
    _cleanup_str_ struct str title = STR_INIT;
    add_title(g, &title);
    if (code_of(g->cause))
        str_addf(&title, " (%s)", code_of(g->cause));
    if (out->buf.len)
        term_printf(out, "\n");
    term_styled(out, remark ? STYLE_DIM : bad ? STYLE_RED : STYLE_YELLOW, glyph);
    term_printf(out, " ");
    fill(out, str_get(&title), 2, 2);
    for (size_t i = 0; i < g->n && (all || i < SHOWN); i++)
        show_finding(g, &g->findings[i], all, out);
    if (!all && g->n > SHOWN) {
        str_reset(&title);
        str_addf(&title, "and %zu more", g->n - SHOWN);
        if (g->n_nodes) {
            str_addf(&title, "; %u pod%s in all, on %zu node%s: ", g->pods, plural(g->pods),
                     g->n_nodes, plural(g->n_nodes));
            add_nodes(g->nodes, g->n_nodes, false, &title);
        }
        str_addf(&title, " ('%s doctor --pdbs --all' shows them)", prog);
        term_printf(out, "    ");
        fill(out, str_get(&title), 4, 6);
    }
}

/* "Longhorn denies a drain of w[1-2] (LastReplica)". */
static void add_check_title(const struct doctor_check *c, bool all, struct str *out) {
    const struct check_finding *f = c->finding;
    str_addf(out, "%s %s ", f->check->title, f->verdict == CHECK_DENY ? "denies" : "holds up");
    str_addf(out, "%s of ",
             !doctor_check_blocks(c) ? "what comes after a drain"
             : doctor_check_ends(c)  ? "the end of a drain"
                                     : "a drain");
    add_nodes(c->nodes, c->n_nodes, all, out);
    str_addf(out, " (%s)", blocker_row(check_code(c))->name);
}

static void show_check(const struct doctor_check *c, bool all, struct term *out) {
    const struct check_finding *f = c->finding;
    bool bad = check_state(c) == STATE_BAD;
    _cleanup_str_ struct str title = STR_INIT, text = STR_INIT;
    add_check_title(c, all, &title);
    if (out->buf.len)
        term_printf(out, "\n");
    term_styled(out, bad ? STYLE_RED : STYLE_YELLOW,
                term_glyph(bad ? GLYPH_BAD : GLYPH_WARN, out->utf8));
    term_printf(out, " ");
    fill(out, str_get(&title), 2, 2);
    if (f->name)
        str_addf(&text, "%s %s%s%s: ", f->kind, strna(f->ns), str_empty(f->ns) ? "" : "/", f->name);
    str_add(&text, f->evidence);
    term_printf(out, "    ");
    fill(out, str_get(&text), 4, 6);
    if (!f->hint)
        return;
    term_printf(out, "      - ");
    fill(out, f->hint, 8, 8);
}

static void show_checks(const struct doctor_checks *c, bool all, const char *prog,
                        struct term *out) {
    for (size_t i = 0; i < c->n && (all || i < CHECKS_SHOWN); i++)
        show_check(&c->list[i], all, out);
    if (all || c->n <= CHECKS_SHOWN)
        return;
    _cleanup_free_ char *more =
        xasprintf("and %zu more ('%s checks' shows them)", c->n - CHECKS_SHOWN, prog);
    term_printf(out, "    ");
    fill(out, more, 4, 4);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* --- what comes of it, by node --- */

/* The worst that a drain of a node would meet. */
enum fate {
    FATE_BLOCKED, /* it does not begin or does not end */
    FATE_WAITS,
    FATE_DOWN, /* it ends, and leaves pods without a place */
    FATES,
};

struct fates {
    const char **nodes[FATES]; /* sorted, each once, and under the worst alone */
    size_t n[FATES];
};

static enum fate fate_of(enum lint_effect effect) {
    return effect < LINT_WAITS ? FATE_BLOCKED : effect == LINT_WAITS ? FATE_WAITS : FATE_DOWN;
}

static bool has_name(const char **names, size_t n, const char *name) {
    return n && bsearch(&name, names, n, sizeof *names, compare_names);
}

static void add_names(struct fates *f, enum fate fate, const char *const *names, size_t n) {
    f->nodes[fate] = xrealloc(f->nodes[fate], f->n[fate] + n + 1, sizeof *f->nodes[fate]);
    for (size_t i = 0; i < n; i++)
        f->nodes[fate][f->n[fate]++] = names[i];
}

static void sort_names(struct fates *f, enum fate fate) {
    const char **names = f->nodes[fate];
    size_t kept = 0;
    qsort(names, f->n[fate], sizeof *names, compare_names);
    for (size_t i = 0; i < f->n[fate]; i++) {
        bool known = kept && streq(names[kept - 1], names[i]);
        for (int worse = 0; worse < (int)fate; worse++)
            known = known || has_name(f->nodes[worse], f->n[worse], names[i]);
        if (!known)
            names[kept++] = names[i];
    }
    f->n[fate] = kept;
}

static void fates_of(const struct doctor_report *r, struct fates *out) {
    *out = (struct fates){0};
    for (int fate = 0; fate < FATES; fate++)
        add_names(out, (enum fate)fate, NULL, 0);
    for (size_t i = 0; i < r->lint->n; i++) {
        const struct lint_group *g = &r->lint->groups[i];
        enum lint_effect effect = lint_row(g->cause)->effect;
        if (effect != LINT_REMARK)
            add_names(out, fate_of(effect), g->nodes, g->n_nodes);
    }
    for (size_t i = 0; r->checks && i < r->checks->n; i++) {
        const struct doctor_check *c = &r->checks->list[i];
        if (doctor_check_blocks(c))
            add_names(out, c->finding->verdict == CHECK_DENY ? FATE_BLOCKED : FATE_WAITS, c->nodes,
                      c->n_nodes);
    }
    for (int fate = 0; fate < FATES; fate++)
        sort_names(out, (enum fate)fate);
}

static void fates_done(struct fates *f) {
    for (int fate = 0; fate < FATES; fate++)
        free(f->nodes[fate]);
}

static void show_fates(const struct doctor_report *r, const struct fates *f, struct term *out) {
    const char *const words[] = {[FATE_BLOCKED] = "would be blocked",
                                 [FATE_WAITS] = has_chance(r->lint) ? "would wait, or may have to"
                                                                    : "would wait",
                                 [FATE_DOWN] = "would end, and leave pods that do not run"};
    for (int fate = 0; fate < FATES; fate++) {
        _cleanup_str_ struct str text = STR_INIT;
        if (!f->n[fate])
            continue;
        str_addf(&text, "A drain of %zu of %zu node%s %s: ", f->n[fate], r->lint->nodes,
                 plural(r->lint->nodes), words[fate]);
        add_nodes(f->nodes[fate], f->n[fate], r->all, &text);
        fill(out, str_get(&text), 0, 4);
    }
}

static void show_sum(const struct doctor_report *r, struct term *out) {
    const struct lint *lint = r->lint;
    struct fates fates;
    _cleanup_str_ struct str text = STR_INIT;
    fates_of(r, &fates);
    term_printf(out, "%s", lint->n || (r->checks && r->checks->n) ? "\n" : "");
    if (!fates.n[FATE_BLOCKED] && !fates.n[FATE_WAITS]) {
        str_addf(&text, "Nothing of %zu pod%s and %zu budget%s would block a drain of any node%s.",
                 lint->pods, plural(lint->pods), lint->budgets, plural(lint->budgets),
                 r->n_unread ? ", as far as could be read" : "");
        fill(out, str_get(&text), 0, 4);
    }
    show_fates(r, &fates, out);
    fates_done(&fates);
    if (r->n_unread) {
        str_reset(&text);
        str_add(&text, "Could not be read, so that more may be in the way: ");
        for (size_t i = 0; i < r->n_unread; i++)
            str_addf(&text, "%s%s", i ? ", " : "", r->unread[i]);
        str_addc(&text, '.');
        fill(out, str_get(&text), 0, 4);
    }
    if (lint->roomed && lint->roomed < lint->nodes) {
        str_reset(&text);
        str_addf(&text,
                 "Whether pods find room elsewhere was looked at for %zu of %zu nodes only: the "
                 "cluster is full. 'plan drain' looks at those that you name.",
                 lint->roomed, lint->nodes);
        fill(out, str_get(&text), 0, 4);
    }
    if (lint->unexplained) {
        str_reset(&text);
        str_addf(&text,
                 "Of %zu workload%s without room it was not asked what each node lacks: there are "
                 "too many. 'plan drain' and 'why --room' of a node say it.",
                 lint->unexplained, lint->unexplained == 1 ? "" : "s");
        fill(out, str_get(&text), 0, 4);
    }
    if (lint->rough)
        fill(
            out,
            "The cluster is large: where all pods of a node found a place at the first try, it was "
            "not asked whether the scheduler would choose the same. 'plan drain' of a node does.",
            0, 4);
}

void doctor_text(const struct doctor_report *r, const char *prog, struct term *out) {
    unsigned n[STATE_BAD + 1] = {0};
    show_findings(r->findings, out);
    for (size_t i = 0; i < r->findings->list.len; i++)
        n[r->findings->list.p[i].state]++;
    if (r->checks) {
        show_checks(r->checks, r->all, prog, out);
        for (size_t i = 0; i < r->checks->n; i++)
            n[check_state(&r->checks->list[i])]++;
    }
    for (size_t i = 0; r->lint && i < r->lint->n; i++) {
        show_group(&r->lint->groups[i], r->all, prog, out);
        n[group_state(&r->lint->groups[i])]++;
    }
    if (r->lint)
        show_sum(r, out);
    if (!r->only_lint)
        term_printf(out, "%u ok, %u warning%s, %u bad\n", n[STATE_GOOD], n[STATE_WARN],
                    plural(n[STATE_WARN]), n[STATE_BAD]);
}

/* --- the table --- */

static const struct table_column columns[] = {
    {"CAUSE", false}, {"EFFECT", false}, {"OBJECT", false}, {"PODS", false}, {"NODES", false},
    {"CODE", false},  {"FOUND", true},   {"RISK", true},    {"FIX", true},
};

/* The first that can be pasted, else the first. */
static const struct why_remedy *best_fix(const struct lint_finding *f) {
    for (size_t i = 0; i < f->n_fixes; i++)
        if (*f->fixes[i].command)
            return &f->fixes[i];
    return f->n_fixes ? &f->fixes[0] : NULL;
}

static void add_row(struct table *t, const struct lint_group *g, const struct lint_finding *f) {
    const struct lint_row *row = lint_row(g->cause);
    const struct why_remedy *fix = best_fix(f);
    _cleanup_str_ struct str name = STR_INIT, nodes = STR_INIT, object = STR_INIT;
    for (const char *p = f->kind; *p; p++)
        str_addc(&name, (char)tolower((unsigned char)*p));
    str_addf(&name, "/%s%s%s", f->ns, *f->ns ? "/" : "", f->name);
    str_addf(&object, "%s %s%s%s", f->kind, f->ns, *f->ns ? "/" : "", f->name);
    nodeset_fold(f->nodes, f->n_nodes, &nodes);
    table_row(t, str_get(&name));
    table_str(t, row->name);
    table_state(t, group_state(g), lint_effect_word(row->effect));
    table_str(t, str_get(&object));
    table_int(t, f->pods);
    table_str(t, str_get(&nodes));
    table_str(t, code_of(g->cause));
    table_str(t, f->text);
    table_str(t, fix ? why_risk_word(fix->risk) : NULL);
    table_str(t, fix ? (*fix->command ? fix->command : fix->text) : NULL);
}

static void add_check_row(struct table *t, const struct doctor_check *c) {
    const struct check_finding *f = c->finding;
    _cleanup_str_ struct str name = STR_INIT, nodes = STR_INIT, object = STR_INIT;
    const char *ns = strna(f->ns), *slash = *ns ? "/" : "";
    str_addf(&name, "check/%s", f->check->name);
    if (f->name)
        str_addf(&object, "%s %s%s%s", f->kind, ns, slash, f->name);
    nodeset_fold(c->nodes, c->n_nodes, &nodes);
    table_row(t, str_get(&name));
    table_str(t, str_get(&name));
    table_state(t, check_state(c),
                lint_effect_word(!doctor_check_blocks(c)    ? LINT_REMARK
                                 : f->verdict == CHECK_DENY ? LINT_REFUSED
                                                            : LINT_WAITS));
    table_str(t, str_get(&object));
    table_int(t, 0);
    table_str(t, str_get(&nodes));
    table_str(t, blocker_row(check_code(c))->name);
    table_str(t, f->evidence);
    table_str(t, f->hint ? why_risk_word(WHY_RISK_NONE) : NULL);
    table_str(t, f->hint);
}

struct table *doctor_table(const struct doctor_report *r) {
    struct table *t = table_new(columns, ARRAY_LEN(columns));
    for (size_t i = 0; r->checks && i < r->checks->n; i++)
        add_check_row(t, &r->checks->list[i]);
    for (size_t i = 0; i < r->lint->n; i++)
        for (size_t k = 0; k < r->lint->groups[i].n; k++)
            add_row(t, &r->lint->groups[i], &r->lint->groups[i].findings[k]);
    return t;
}

/* --- the document --- */

static void write_names(struct jsonw *w, const char *key, const char *const *names, size_t n) {
    jsonw_kbegin(w, key, '[');
    for (size_t i = 0; i < n; i++)
        jsonw_str(w, names[i]);
    jsonw_end(w);
}

static void write_finding(struct jsonw *w, const struct lint_finding *f) {
    jsonw_begin(w, '{');
    jsonw_kbegin(w, "object", '{');
    jsonw_kstr(w, "kind", f->kind);
    jsonw_kopt(w, "namespace", f->ns);
    jsonw_kstr(w, "name", f->name);
    jsonw_end(w);
    jsonw_kstr(w, "message", f->text);
    jsonw_kint(w, "pods", f->pods);
    jsonw_kopt(w, "example", f->example);
    write_names(w, "nodes", f->nodes, f->n_nodes);
    jsonw_kbegin(w, "fixes", '[');
    for (size_t i = 0; i < f->n_fixes; i++) {
        jsonw_begin(w, '{');
        jsonw_kstr(w, "risk", why_risk_word(f->fixes[i].risk));
        jsonw_kstr(w, "text", f->fixes[i].text);
        jsonw_kopt(w, "command", f->fixes[i].command);
        jsonw_kopt(w, "cost", f->fixes[i].cost);
        jsonw_end(w);
    }
    jsonw_end(w);
    jsonw_end(w);
}

static void write_group(struct jsonw *w, const struct lint_group *g) {
    const struct lint_row *row = lint_row(g->cause);
    _cleanup_str_ struct str title = STR_INIT;
    add_title(g, &title);
    jsonw_begin(w, '{');
    jsonw_kstr(w, "cause", row->name);
    jsonw_kopt(w, "code", code_of(g->cause));
    jsonw_kstr(w, "effect", lint_effect_word(row->effect));
    jsonw_kstr(w, "message", str_get(&title));
    jsonw_kint(w, "pods", g->pods);
    write_names(w, "nodes", g->nodes, g->n_nodes);
    jsonw_kbegin(w, "findings", '[');
    for (size_t i = 0; i < g->n; i++)
        write_finding(w, &g->findings[i]);
    jsonw_end(w);
    jsonw_end(w);
}

static void write_item(struct jsonw *w, const char *check, enum state state, const char *text,
                       const char *hint) {
    jsonw_begin(w, '{');
    jsonw_kstr(w, "check", check);
    jsonw_kstr(w, "state", state_words[state]);
    jsonw_kstr(w, "message", text);
    jsonw_kopt(w, "hint", hint);
    jsonw_end(w);
}

/* A group is also an item: whoever only counts warnings sees it. */
static void write_group_item(struct jsonw *w, const struct lint_group *g) {
    const struct lint_row *row = lint_row(g->cause);
    _cleanup_str_ struct str title = STR_INIT;
    add_title(g, &title);
    write_item(w, is_budget(g->cause) ? "budget" : "workload",
               group_state(g) == STATE_NONE ? STATE_GOOD : group_state(g), str_get(&title),
               row->code == WHY_NO_CODE ? NULL : blocker_row((enum blocker_code)row->code)->hint);
}

static void write_check_item(struct jsonw *w, const struct doctor_check *c) {
    _cleanup_str_ struct str title = STR_INIT;
    add_check_title(c, true, &title);
    str_addf(&title, ": %s", c->finding->evidence);
    write_item(w, "check", check_state(c), str_get(&title), c->finding->hint);
}

/* As a finding of `checks` (docs/checks.md), with all nodes that it is about. */
static void write_check(struct jsonw *w, const struct doctor_check *c) {
    jsonw_begin(w, '{');
    jsonw_key(w, "finding");
    finding_json(w, c->finding);
    write_names(w, "nodes", c->nodes, c->n_nodes);
    jsonw_end(w);
}

void doctor_json(const struct doctor_report *r, struct str *out) {
    struct jsonw w;
    jsonw_init(&w, out, true);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "schema", SCHEMA);
    jsonw_kbegin(&w, "items", '[');
    for (size_t i = 0; i < r->findings->list.len; i++) {
        const struct doctor_finding *f = &r->findings->list.p[i];
        write_item(&w, f->check, f->state, f->text, f->hint);
    }
    for (size_t i = 0; r->checks && i < r->checks->n; i++)
        write_check_item(&w, &r->checks->list[i]);
    for (size_t i = 0; r->lint && i < r->lint->n; i++)
        write_group_item(&w, &r->lint->groups[i]);
    jsonw_end(&w);
    if (r->n_unread)
        write_names(&w, "unread", r->unread, r->n_unread);
    if (r->checks) {
        jsonw_kbegin(&w, "checks", '[');
        for (size_t i = 0; i < r->checks->n; i++)
            write_check(&w, &r->checks->list[i]);
        jsonw_end(&w);
    }
    if (r->lint) {
        struct fates fates;
        fates_of(r, &fates);
        jsonw_kint(&w, "nodes", (int64_t)r->lint->nodes);
        jsonw_kint(&w, "pods", (int64_t)r->lint->pods);
        jsonw_kint(&w, "budgets", (int64_t)r->lint->budgets);
        jsonw_kint(&w, "nodesLookedAtForRoom", (int64_t)r->lint->roomed);
        jsonw_kbool(&w, "placesAsScheduler", !r->lint->rough);
        jsonw_kint(&w, "workloadsNotExplained", (int64_t)r->lint->unexplained);
        write_names(&w, "waitingNodes", fates.nodes[FATE_WAITS], fates.n[FATE_WAITS]);
        write_names(&w, "nodesWithoutPlaces", fates.nodes[FATE_DOWN], fates.n[FATE_DOWN]);
        /* both, as it always was */
        add_names(&fates, FATE_BLOCKED, fates.nodes[FATE_WAITS], fates.n[FATE_WAITS]);
        sort_names(&fates, FATE_BLOCKED);
        write_names(&w, "blockedNodes", fates.nodes[FATE_BLOCKED], fates.n[FATE_BLOCKED]);
        fates_done(&fates);
        jsonw_kbegin(&w, "groups", '[');
        for (size_t i = 0; i < r->lint->n; i++)
            write_group(&w, &r->lint->groups[i]);
        jsonw_end(&w);
    }
    jsonw_end(&w);
}
