/* An answer as people read it, and as a document. */
#include "cli/why_show.h"

#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "cli/text.h"

enum {
    LINKS_SHOWN = 6,    /* of an answer, in text */
    CAUSES_SHOWN = 4,   /* of a link */
    REMEDIES_SHOWN = 4, /* of a link: what comes after that is not what one should try */
};

/* --- text --- */

struct showing {
    struct term *out;
    const struct why *why;
    int64_t now;
    size_t width;
};

/* `text` from column `column` on, further lines indented. It may come from outside. */
static void fill(struct showing *s, const char *text, size_t column, size_t indent) {
    _cleanup_str_ struct str clean = STR_INIT;
    utf8_printable(&clean, text);
    text_fill_to(&s->out->buf, str_get(&clean), column, indent, s->width);
}

static void add_age(struct showing *s, int64_t since, struct str *out) {
    char age[TIMEFMT_LEN];
    if (since && since <= s->now)
        str_addf(out, " (for %s)", duration_format(s->now - since, age));
}

/* "web-7c9d" where its namespace is told already. */
static const char *short_name(const char *name, const char *beside) {
    const char *slash = strchr(name, '/');
    size_t len = slash ? (size_t)(slash + 1 - name) : 0;
    return len && strncmp(name, beside, len) == 0 ? name + len : name;
}

static const char *kind_word(const char *kind) {
    return streq(kind, "PodDisruptionBudget") ? "budget"
           : streq(kind, "PersistentVolume")  ? "volume"
           : streq(kind, "Pod")               ? "pod"
           : streq(kind, "Node")              ? "node"
           : streq(kind, "Namespace")         ? "namespace"
                                              : kind;
}

/* "budget shop/web, 3 pods: web-7c9d-x2x, ...". Of a pod's answer the pod is not named again. */
static void add_subject(struct showing *s, const struct why_link *l, struct str *out) {
    bool of_node = streq(s->why->kind, "Node");
    bool is_pod = streq(l->kind, "Pod");
    if (*l->object && !is_pod)
        str_addf(out, "%s%s%s", kind_word(l->kind), *l->kind ? " " : "", l->object);
    if (!of_node || !l->pods)
        return;
    str_addf(out, "%s%u pod%s: %s%s", out->len ? ", " : "", l->pods, l->pods == 1 ? "" : "s",
             short_name(l->example, is_pod ? "" : l->object), l->pods > 1 ? ", ..." : "");
}

static void show_head(struct showing *s, const struct why_link *l) {
    struct term *t = s->out;
    bool bad = l->severity == SEVERITY_ERROR, note = l->severity == SEVERITY_INFO && !l->blocks;
    const char *glyph = note ? "-" : term_glyph(bad ? GLYPH_BAD : GLYPH_WARN, t->utf8);
    _cleanup_str_ struct str head = STR_INIT;
    size_t column = 2;
    term_styled(t, note ? STYLE_DIM : bad ? STYLE_RED : STYLE_YELLOW, glyph);
    term_printf(t, " ");
    if (l->code != WHY_NO_CODE) {
        const char *name = blocker_row((enum blocker_code)l->code)->name;
        term_styled(t, STYLE_BOLD, name);
        term_printf(t, " ");
        column += strlen(name) + 1;
    }
    add_subject(s, l, &head);
    bool two_lines = head.len > 0;
    if (!two_lines)
        str_add(&head, l->text);
    add_age(s, l->since, &head);
    fill(s, str_get(&head), column, 4);
    if (two_lines) {
        term_printf(t, "    ");
        fill(s, l->text, 4, 4);
    }
}

static void show_cause(struct showing *s, const struct why_link *l, const char *beside,
                       size_t indent) {
    _cleanup_str_ struct str text = STR_INIT;
    if (*l->object)
        str_addf(&text, "%s %s", kind_word(l->kind), short_name(l->object, beside));
    if (l->pods > 1)
        str_addf(&text, " and %u more", l->pods - 1);
    str_addf(&text, "%s%s", text.len ? ": " : "", l->text);
    add_age(s, l->since, &text);
    term_printf(s->out, "%*s- ", (int)indent, "");
    fill(s, str_get(&text), indent + 2, indent + 2);
    for (size_t i = 0; i < l->n_causes && i < CAUSES_SHOWN; i++)
        show_cause(s, l->causes[i], beside, indent + 2);
}

static void show_command(struct showing *s, const char *command, size_t indent) {
    _cleanup_str_ struct str clean = STR_INIT;
    utf8_printable(&clean, command);
    text_command(&s->out->buf, str_get(&clean), indent, s->width);
}

/* What was told with an earlier link helps against this one too: once is enough. */
static bool is_told(const struct showing *s, const struct why_link *l, const struct why_remedy *r) {
    for (size_t i = 0; i < s->why->n_links && s->why->links[i] != l; i++)
        for (size_t k = 0; k < s->why->links[i]->n_remedies; k++) {
            const struct why_remedy *t = &s->why->links[i]->remedies[k];
            if (*r->command && streq(t->command, r->command) && streq(t->text, r->text))
                return true;
        }
    return false;
}

static void show_remedies(struct showing *s, const struct why_link *l) {
    size_t shown = 0;
    for (size_t i = 0; i < l->n_remedies && shown < REMEDIES_SHOWN; i++) {
        const struct why_remedy *r = &l->remedies[i];
        if (is_told(s, l, r))
            continue;
        _cleanup_str_ struct str text = STR_INIT;
        str_add(&text, r->text);
        if (*r->cost)
            str_addf(&text, " (%s: %s)", r->risk >= WHY_RISK_SERVICE ? "RISK" : "mind", r->cost);
        term_printf(s->out, "    %zu. ", ++shown);
        fill(s, str_get(&text), 7, 7);
        if (*r->command)
            show_command(s, r->command, 7);
    }
}

static void show_link(struct showing *s, const struct why_link *l) {
    term_printf(s->out, "\n");
    show_head(s, l);
    for (size_t i = 0; i < l->n_causes && i < CAUSES_SHOWN; i++)
        show_cause(s, l->causes[i], *l->object ? l->object : l->example, 4);
    if (l->n_causes > CAUSES_SHOWN)
        term_printf(s->out, "    - and %zu more\n", l->n_causes - CAUSES_SHOWN);
    show_remedies(s, l);
}

static void show_end(struct showing *s, const char *prog) {
    const struct why *why = s->why;
    struct term *t = s->out;
    if (why->n_links > LINKS_SHOWN)
        term_printf(t, "\n%zu more: see them with -o yaml\n", why->n_links - LINKS_SHOWN);
    if (why->n_unread) {
        _cleanup_str_ struct str text = STR_INIT;
        str_add(&text, "Not looked at, for want of permission or an answer: ");
        for (size_t i = 0; i < why->n_unread; i++)
            str_addf(&text, "%s%s", i ? ", " : "", why->unread[i]);
        term_printf(t, "\n");
        fill(s, str_get(&text), 0, 0);
    }
    for (size_t i = 0; i < why->n_links; i++)
        if (why->links[i]->code != WHY_NO_CODE) {
            term_printf(t, "\nMore: %s explain %s\n", prog,
                        blocker_row((enum blocker_code)why->links[i]->code)->name);
            return;
        }
}

void why_print(struct term *out, const struct why *why, const char *prog, int64_t now) {
    struct showing s = {out, why, now, text_width(out->tty, out->columns)};
    _cleanup_str_ struct str head = STR_INIT;
    str_addf(&head, "%s/%s%s%s: %s", streq(why->kind, "Node") ? "node" : "pod", why->ns,
             *why->ns ? "/" : "", why->name, why->summary);
    fill(&s, str_get(&head), 0, 2);
    for (size_t i = 0; i < why->n_links && i < LINKS_SHOWN; i++)
        show_link(&s, why->links[i]);
    show_end(&s, prog);
}

/* --- documents --- */

static void write_time(struct jsonw *w, const char *key, int64_t t) {
    char buf[TIMEFMT_LEN];
    if (t)
        jsonw_kstr(w, key, time_format(t, false, buf));
}

static void write_remedies(struct jsonw *w, const struct why_link *l) {
    jsonw_kbegin(w, "remedies", '[');
    for (size_t i = 0; i < l->n_remedies; i++) {
        const struct why_remedy *r = &l->remedies[i];
        jsonw_begin(w, '{');
        jsonw_kstr(w, "text", r->text);
        jsonw_kopt(w, "command", r->command);
        jsonw_kstr(w, "risk", why_risk_word(r->risk));
        jsonw_kopt(w, "cost", r->cost);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void write_link(struct jsonw *w, const struct why_link *l) {
    static const char *const severities[] = {
        [SEVERITY_INFO] = "info", [SEVERITY_WARN] = "warn", [SEVERITY_ERROR] = "error"};
    jsonw_begin(w, '{');
    if (l->code != WHY_NO_CODE) {
        const struct blocker_row *row = blocker_row((enum blocker_code)l->code);
        jsonw_kstr(w, "code", row->name);
        jsonw_kstr(w, "clears", row->clears_itself && !l->lasts ? "auto" : "operator");
    }
    jsonw_kstr(w, "severity", severities[l->severity]);
    jsonw_kbool(w, "blocks", l->blocks);
    jsonw_kopt(w, "kind", l->kind);
    jsonw_kopt(w, "object", l->object);
    jsonw_kstr(w, "message", l->text);
    if (l->pods) {
        jsonw_kint(w, "pods", l->pods);
        jsonw_kopt(w, "example", l->example);
    }
    write_time(w, "since", l->since);
    if (l->n_causes) {
        jsonw_kbegin(w, "causes", '[');
        for (size_t i = 0; i < l->n_causes; i++)
            write_link(w, l->causes[i]);
        jsonw_end(w);
    }
    if (l->n_remedies)
        write_remedies(w, l);
    jsonw_end(w);
}

void why_json(struct str *out, const struct why *why) {
    struct jsonw w;
    jsonw_init(&w, out, true);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "schema", WHY_SCHEMA);
    jsonw_kbegin(&w, "target", '{');
    jsonw_kstr(&w, "kind", why->kind);
    jsonw_kopt(&w, "namespace", why->ns);
    jsonw_kstr(&w, "name", why->name);
    jsonw_end(&w);
    jsonw_kstr(&w, "state", why_state_word(why->state));
    jsonw_kstr(&w, "summary", why->summary);
    if (streq(why->kind, "Node")) {
        jsonw_kopt(&w, "heldBy", why->held_by);
        jsonw_kbool(&w, "draining", why->draining);
        if (why->draining)
            write_time(&w, "drainingSince", why->draining_since);
        if (!why->no_pods) {
            jsonw_kint(&w, "podsToMove", why->pods);
            jsonw_kint(&w, "podsThatStay", why->stays);
        }
    }
    jsonw_kbegin(&w, "links", '[');
    for (size_t i = 0; i < why->n_links; i++)
        write_link(&w, why->links[i]);
    jsonw_end(&w);
    jsonw_kbegin(&w, "unread", '[');
    for (size_t i = 0; i < why->n_unread; i++)
        jsonw_str(&w, why->unread[i]);
    jsonw_end(&w);
    jsonw_end(&w);
}
