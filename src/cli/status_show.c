/* What `status` prints. */
#include "cli/status_show.h"

#include <string.h>

#include "base/mem.h"
#include "base/nodeset.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "cli/left_behind.h"
#include "cli/table.h"
#include "cli/text.h"

enum {
    BLOCKERS_SHOWN = 5, /* unless --details=health */
    NODES_SHOWN = 60,   /* columns of a node set, in a line of text */
};

static const char *const ready_words[] = {
    [NODE_READY] = "Ready", [NODE_NOT_READY] = "NotReady", [NODE_UNKNOWN] = "Unknown"};

static const char *plural(size_t n) {
    return n == 1 ? "" : "s";
}

static void add_nodes(const struct survey_names *n, bool all, struct str *out) {
    _cleanup_str_ struct str folded = STR_INIT;
    nodeset_fold(n->p, n->len, &folded);
    if (all || folded.len <= NODES_SHOWN || n->len < 3) {
        str_add(out, str_get(&folded));
        return;
    }
    utf8_printable(out, n->p[0]); /* a cut through the brackets would be no node set */
    str_addf(out, " and %zu more", n->len - 1);
}

/* --- the headline --- */

/* "3 idle, 1 cordoned". */
static void add_phases(const struct survey_sum *s, struct str *out) {
    static const struct {
        enum node_phase phase;
        const char *word;
    } words[] = {{NODE_IDLE, "idle"},          {NODE_CORDONED, "cordoned"},
                 {NODE_DRAINED, "drained"},    {NODE_DRAINING, "draining"},
                 {NODE_WAITING, "waiting"},    {NODE_BLOCKED, "blocked"},
                 {NODE_REBOOTING, "rebooting"}};
    bool any = false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (s->phases[words[i].phase]) {
            str_addf(out, "%s%u %s", any ? ", " : "", s->phases[words[i].phase], words[i].word);
            any = true;
        }
}

/* What waits may go on by itself; what is blocked needs somebody. */
static void say_draining(const struct status_view *v, struct str *out) {
    const struct survey_sum *s = v->sum;
    unsigned blocked = s->phases[NODE_BLOCKED], waiting = s->phases[NODE_WAITING];
    str_addf(out, "Draining %zu of %zu node%s", s->draining.len, s->n, plural(s->n));
    if (!v->survey->no_pods)
        str_addf(out, ", %u pod%s to go", s->pods_left, plural(s->pods_left));
    str_add(out, ": ");
    if (!blocked && !waiting)
        str_addf(out, "nothing is in the way%s.",
                 v->survey->no_pods || v->survey->no_budgets ? ", as far as could be read" : "");
    else if (!blocked && waiting == s->draining.len)
        str_add(out, "waiting, which may well end by itself.");
    else if (!blocked)
        str_addf(out, "%u of them %s waiting, which may well end by itself.", waiting,
                 waiting == 1 ? "is" : "are");
    else if (blocked == s->draining.len)
        str_add(out, "blocked, this does not end before something below changes.");
    else
        str_addf(out, "%u of them %s blocked, and not done before something below changes.",
                 blocked, blocked == 1 ? "is" : "are");
}

void status_headline(const struct status_view *v, struct str *out) {
    const struct survey_sum *s = v->sum;
    unsigned done = s->phases[NODE_DRAINED], other = s->phases[NODE_REBOOTING];
    if (s->draining.len)
        say_draining(v, out);
    else if (s->phases[NODE_IDLE] == s->n)
        str_addf(out, "All idle: %zu node%s.", s->n, plural(s->n));
    else if (other)
        str_addf(out, "Rebooting %u of %zu node%s.", other, s->n, plural(s->n));
    else if (done)
        str_addf(out, "Nothing is being drained; %u of %zu node%s %s drained and out of service.",
                 done, s->n, plural(s->n), done == 1 ? "is" : "are");
    else
        str_addf(out, "Nothing is being drained; %u of %zu node%s %s cordoned.",
                 s->phases[NODE_CORDONED], s->n, plural(s->n),
                 s->phases[NODE_CORDONED] == 1 ? "is" : "are");
    if (s->phases[NODE_IDLE] != s->n) {
        str_addf(out, " Of %zu: ", s->n);
        add_phases(s, out);
        str_addc(out, '.');
    }
    if (s->unready)
        str_addf(out, " %u node%s %s not Ready.", s->unready, plural(s->unready),
                 s->unready == 1 ? "is" : "are");
    else
        str_add(out, " Every node is Ready.");
    if (v->survey->no_pods)
        str_add(out, " Pods could not be read: what they are in the way of is not known.");
    else if (v->survey->no_budgets)
        str_add(out, " Budgets could not be read: which pods they keep is not known.");
}

/* --- sections --- */

static void section(struct term *out, const char *title) {
    term_printf(out, "\n");
    term_styled(out, STYLE_BOLD, title);
    term_printf(out, "\n");
}

static void fill(struct term *out, const char *text, size_t column, size_t indent) {
    _cleanup_str_ struct str clean = STR_INIT;
    utf8_printable(&clean, text);
    text_fill_to(&out->buf, str_get(&clean), column, indent, text_width(out->tty, out->columns));
}

static void add_age(const struct status_view *v, int64_t since, struct str *out) {
    char buf[TIMEFMT_LEN];
    if (since && v->utc)
        str_addf(out, ", since %s", time_format(since, false, buf));
    else if (since && since <= v->now)
        str_addf(out, ", for %s", duration_format(v->now - since, buf));
}

static void show_blocker(const struct status_view *v, const struct survey_sum_blocker *b,
                         struct term *out) {
    const struct blocker_row *row = blocker_row(b->code);
    bool bad = b->severity == SEVERITY_ERROR, all = v->details & DETAILS_HEALTH;
    _cleanup_str_ struct str text = STR_INIT;
    str_addf(&text, "%s%s%s on ", row->name, *b->object ? " " : "", b->object);
    add_nodes(&b->nodes, all, &text);
    if (b->pods)
        str_addf(&text, ", %u pod%s", b->pods, plural(b->pods));
    add_age(v, b->since, &text);
    term_printf(out, "  ");
    term_styled(out, bad ? STYLE_RED : STYLE_YELLOW,
                term_glyph(bad ? GLYPH_BAD : GLYPH_WARN, out->utf8));
    term_printf(out, " ");
    fill(out, str_get(&text), 4, 4);
    if (!all)
        return;
    term_printf(out, "    ");
    fill(out, b->message, 4, 4);
    str_reset(&text);
    str_addf(&text, "%s", row->hint);
    term_printf(out, "    ");
    fill(out, str_get(&text), 4, 4);
}

static void show_blockers(const struct status_view *v, const struct survey_sum_blocker *list,
                          size_t n, const char *title, struct term *out) {
    const struct survey_names *which = n ? &list[0].nodes : NULL;
    bool all = v->details & DETAILS_HEALTH;
    if (!n)
        return;
    section(out, title);
    for (size_t i = 0; i < n && (all || i < BLOCKERS_SHOWN); i++)
        show_blocker(v, &list[i], out);
    if (!all && n > BLOCKERS_SHOWN)
        term_printf(out, "  and %zu more: %s status --details=health\n", n - BLOCKERS_SHOWN,
                    v->prog);
    term_printf(out, "  -> %s why ", v->prog);
    term_text(out, which->p[0]);
    term_printf(out, "\n");
}

/* The rows of a table, a little in. */
static void show_rows(const struct str *rows, struct term *out) {
    for (const char *p = str_get(rows); *p;) {
        size_t len = strcspn(p, "\n");
        term_printf(out, "%*s%.*s\n", len ? STATUS_INDENT : 0, "", (int)len, p);
        p += len + (p[len] == '\n');
    }
}

static void show_table(struct table *t, const struct status_view *v, struct term *out) {
    _cleanup_str_ struct str text = STR_INIT;
    table_fold(t);
    table_text(
        t,
        &(struct table_view){.columns = out->tty ? MAX_OF(out->columns - STATUS_INDENT, 1) : 0,
                             .absolute = v->utc,
                             .color = out->color,
                             .glyphs = out->tty,
                             .utf8 = out->utf8,
                             .now = v->now},
        &text);
    show_rows(&text, out);
}

static void add_set(struct table *t, const struct survey_names *n, bool all) {
    _cleanup_str_ struct str folded = STR_INIT;
    add_nodes(n, all, &folded);
    table_str(t, str_get(&folded));
}

static void show_waves(const struct status_view *v, struct term *out) {
    static const struct table_column columns[] = {
        {"HELD BY", false},   {"NODES", false},     {"DRAINING", false},
        {"WAITING", false},   {"BLOCKED", false},   {"DRAINED", false},
        {"REBOOTING", false}, {"PODS LEFT", false}, {"SINCE", false}};
    static const enum node_phase shown[] = {NODE_DRAINING, NODE_WAITING, NODE_BLOCKED, NODE_DRAINED,
                                            NODE_REBOOTING};
    if (!v->sum->n_waves)
        return;
    section(out, "Waves");
    _cleanup_table_ struct table *t = table_new(columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < v->sum->n_waves; i++) {
        const struct survey_sum_wave *w = &v->sum->waves[i];
        table_row(t, "");
        table_str(t, w->holder);
        add_set(t, &w->nodes, v->details & DETAILS_NODES);
        for (size_t k = 0; k < ARRAY_LEN(shown); k++)
            table_int(t, w->phases[shown[k]]);
        table_count(t, w->pods_left, !v->survey->no_pods);
        table_time(t, w->since);
    }
    show_table(t, v, out);
}

static void show_nodes(const struct status_view *v, const struct str *rows, struct term *out) {
    static const struct table_column columns[] = {{"NODES", false}, {"STATUS", false},
                                                  {"PHASE", false}, {"PODS", false},
                                                  {"MOVE", false},  {"SINCE", false}};
    if (rows) {
        section(out, "Nodes");
        show_rows(rows, out);
        return;
    }
    if (!v->sum->n_nodes)
        return;
    section(out, "Nodes");
    _cleanup_table_ struct table *t = table_new(columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < v->sum->n_nodes; i++) {
        const struct survey_sum_nodes *n = &v->sum->nodes[i];
        bool bad = n->ready != NODE_READY || n->phase == NODE_BLOCKED;
        _cleanup_free_ char *status =
            xasprintf("%s%s%s%s%s", ready_words[n->ready], *n->reason ? " (" : "", n->reason,
                      *n->reason ? ")" : "", n->deleting ? ",Deleting" : "");
        table_row(t, "");
        add_set(t, &n->nodes, false);
        table_str(t, status);
        table_state(t,
                    bad                     ? STATE_BAD
                    : n->phase == NODE_IDLE ? STATE_NONE
                                            : STATE_BUSY,
                    node_phase_word(n->phase));
        table_count(t, n->pods, !v->survey->no_pods);
        table_count(t, n->moves, !v->survey->no_pods);
        table_time(t, n->since);
    }
    show_table(t, v, out);
}

/* A line for each of those who are at work on nodes beside us. */
static void show_rivals(const struct status_view *v, struct term *out) {
    static const struct table_column columns[] = {
        {"MANAGER", false}, {"WHAT IT DOES", false}, {"NODES", false}};
    _cleanup_table_ struct table *t = NULL;
    for (size_t i = 0; i < n_rival_rows; i++) {
        VEC(const char *) names = VEC_INIT;
        for (size_t k = 0; k < v->survey->n; k++)
            if (v->survey->nodes[k].rival == &rival_rows[i])
                *vec_push(&names) = v->survey->nodes[k].node->meta.name;
        if (names.len) {
            t = t ? t : table_new(columns, ARRAY_LEN(columns));
            table_row(t, "");
            table_str(t, rival_rows[i].name);
            table_str(t, rival_rows[i].doing);
            add_set(t, &(struct survey_names){names.p, names.len}, v->details & DETAILS_NODES);
        }
        vec_done(&names);
    }
    if (!t)
        return;
    section(out, "Other managers at work");
    show_table(t, v, out);
}

static void show_locks(const struct status_view *v, struct term *out) {
    static const struct table_column columns[] = {
        {"HELD BY", false}, {"NODES", false}, {"SINCE", false}};
    if (!v->sum->n_locks)
        return;
    section(out, "Locks");
    _cleanup_table_ struct table *t = table_new(columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < v->sum->n_locks; i++) {
        const struct survey_sum_lock *l = &v->sum->locks[i];
        table_row(t, "");
        table_str(t, l->holder);
        add_set(t, &l->nodes, v->details & DETAILS_NODES);
        table_time(t, l->since);
    }
    show_table(t, v, out);
}

/* What may be over already: nobody can tell from the cluster, so it is for whoever reads it. */
static void show_left(const struct status_view *v, struct term *out) {
    if (!v->sum->n_left)
        return;
    section(out, "Left behind, if no drain is at work any more");
    for (size_t i = 0; i < v->sum->n_left; i++) {
        _cleanup_str_ struct str text = STR_INIT, command = STR_INIT;
        left_text(&v->sum->left[i], v->now, &text);
        left_command(&v->sum->left[i], v->prog, &command);
        term_printf(out, "  ");
        term_styled(out, STYLE_YELLOW, term_glyph(GLYPH_WARN, out->utf8));
        term_printf(out, " ");
        fill(out, str_get(&text), 4, 4);
        term_printf(out, "  -> ");
        term_text(out, str_get(&command));
        term_printf(out, "\n");
    }
}

static bool is_worker(const struct node *node) {
    return !map_has(node->meta.labels, "node-role.kubernetes.io/control-plane") &&
           !map_has(node->meta.labels, "node-role.kubernetes.io/master") &&
           !map_has(node->meta.labels, "node-role.kubernetes.io/etcd");
}

/* One to try it with: nobody is sent to the control plane without having asked for it. */
static const char *any_worker(const struct status_view *v) {
    for (size_t i = 0; i < v->sum->n; i++)
        if (v->survey->nodes[i].phase == NODE_IDLE && is_worker(v->survey->nodes[i].node))
            return v->survey->nodes[i].node->meta.name;
    return NULL;
}

/* What one would do next, for whom nothing is going on. */
static void show_next(const struct status_view *v, struct term *out) {
    const struct survey_sum *s = v->sum;
    const char *node = s->reboot.len ? s->reboot.p[0] : any_worker(v);
    if (s->draining.len || !node)
        return;
    if (s->reboot.len) {
        _cleanup_str_ struct str text = STR_INIT;
        str_addf(&text, "%zu node%s a reboot: ", s->reboot.len,
                 s->reboot.len == 1 ? " needs" : "s need");
        add_nodes(&s->reboot, true, &text);
        term_printf(out, "\n");
        fill(out, str_get(&text), 0, 2);
    }
    term_printf(out, "\nNext: %s ", v->prog);
    if (s->n_gates) {
        term_printf(out, "checks");
    } else if (s->n_blockers) {
        term_printf(out, "doctor --pdbs");
    } else {
        term_printf(out, "plan drain ");
        term_text(out, node);
    }
    term_printf(out, "\n");
}

/* A sentence before everything else. */
static void show_warning(const struct str *text, struct term *out) {
    term_styled(out, STYLE_YELLOW, term_glyph(GLYPH_WARN, out->utf8));
    term_printf(out, " ");
    fill(out, str_get(text), 2, 2);
}

static void show_warnings(const struct status_view *v, struct term *out) {
    size_t stops = v->stops ? v->stops->n : 0, idle = v->idle ? v->idle->n : 0;
    for (size_t i = 0; i < stops; i++) {
        _cleanup_str_ struct str text = STR_INIT;
        stops_text(&v->stops->rows[i], v->prog, v->now, &text);
        str_addc(&text, '.');
        show_warning(&text, out);
    }
    for (size_t i = 0; i < idle; i++) {
        _cleanup_str_ struct str text = STR_INIT;
        not_in_force_text(&v->idle->rows[i], &text);
        str_addc(&text, '.');
        show_warning(&text, out);
    }
    if (stops || idle)
        term_printf(out, "\n");
}

static void show_orders(const struct status_view *v, struct term *out) {
    static const struct table_column columns[] = {{"NAME", false},  {"OPERATION", false},
                                                  {"PHASE", false}, {"NODES", false},
                                                  {"SINCE", false}, {"WAITS FOR", false}};
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    if (!v->orders || !v->orders->n)
        return;
    section(out, "Orders");
    _cleanup_table_ struct table *t = table_new(columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < v->orders->n; i++) {
        const struct order *o = &v->orders->rows[i];
        table_row(t, "");
        table_str(t, o->name);
        table_str(t, o->operation);
        table_str(t, o->phase);
        table_str(t, order_progress(o, &arena));
        table_time(t, o->since);
        table_str(t, order_waits(o, &arena));
    }
    show_table(t, v, out);
}

void status_text(const struct status_view *v, const struct str *table, struct term *out) {
    _cleanup_str_ struct str head = STR_INIT;
    show_warnings(v, out);
    status_headline(v, &head);
    fill(out, str_get(&head), 0, 0);
    show_blockers(v, v->sum->blockers, v->sum->n_blockers,
                  v->sum->draining.len ? "Blockers" : "Blockers, should one of these be drained",
                  out);
    show_orders(v, out);
    show_waves(v, out);
    show_nodes(v, table, out);
    show_locks(v, out);
    show_rivals(v, out);
    show_blockers(v, v->sum->gates, v->sum->n_gates, "Gates", out);
    show_left(v, out);
    show_next(v, out);
}

/* --- documents --- */

static void write_time(struct jsonw *w, const char *key, int64_t t) {
    char buf[TIMEFMT_LEN];
    if (t)
        jsonw_kstr(w, key, time_format(t, false, buf));
}

static void write_cordon(struct jsonw *w, const struct cordon *c, struct arena *arena) {
    if (c->owner == CORDON_NONE)
        return;
    jsonw_kstr(w, "heldBy", cordon_text(c, arena));
    jsonw_kbegin(w, "holders", '[');
    for (size_t i = 0; i < c->n_holders && c->owner == CORDON_SLIPWAY; i++) {
        jsonw_begin(w, '{');
        jsonw_kopt(w, "id", c->holders[i].id);
        jsonw_kopt(w, "by", c->holders[i].by);
        jsonw_kopt(w, "reason", c->holders[i].reason);
        write_time(w, "since", c->holders[i].since);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void write_blocker(struct jsonw *w, enum blocker_code code, const char *object,
                          const char *message, unsigned pods, int64_t since) {
    const struct blocker_row *row = blocker_row(code);
    jsonw_kstr(w, "code", row->name);
    jsonw_kopt(w, "object", object);
    jsonw_kstr(w, "message", message);
    jsonw_kint(w, "pods", pods);
    write_time(w, "since", since);
    jsonw_kstr(w, "hint", row->hint);
    jsonw_kstr(w, "clears", row->clears_itself ? "auto" : "operator");
}

void status_write_node(struct jsonw *w, const struct survey_node *sn, struct arena *arena) {
    const struct node *n = sn->node;
    static const char *const ready_status[] = {
        [NODE_READY] = "True", [NODE_NOT_READY] = "False", [NODE_UNKNOWN] = "Unknown"};
    jsonw_begin(w, '{');
    jsonw_kstr(w, "name", n->meta.name);
    jsonw_kstr(w, "uid", n->meta.uid);
    jsonw_kstr(w, "ready", ready_status[sn->ready]);
    jsonw_kopt(w, "readyReason", sn->ready_reason);
    write_time(w, "readySince", sn->ready_since);
    jsonw_kbool(w, "cordoned", n->unschedulable);
    jsonw_kstr(w, "phase", node_phase_word(sn->phase));
    write_time(w, "phaseSince", sn->phase_since);
    if (sn->needs_reboot)
        jsonw_kbool(w, "needsReboot", true);
    jsonw_kopt(w, "rival", sn->rival ? sn->rival->name : NULL);
    write_cordon(w, &sn->cordon, arena);
    if (!sn->no_pods) {
        jsonw_kint(w, "pods", sn->pods);
        jsonw_kint(w, "podsToMove", sn->moves);
        jsonw_kint(w, "podsThatStay", sn->stays);
        jsonw_kint(w, "podsLeaving", sn->leaving);
    }
    jsonw_kbegin(w, "blockers", '[');
    for (size_t i = 0; i < sn->n_blockers; i++) {
        const struct survey_blocker *b = &sn->blockers[i];
        jsonw_begin(w, '{');
        write_blocker(w, b->code, b->object, b->message, b->pods, b->since);
        jsonw_end(w);
    }
    jsonw_end(w);
    jsonw_kopt(w, "zone", map_get(n->meta.labels, "topology.kubernetes.io/zone"));
    jsonw_kopt(w, "kubeletVersion", n->info.kubelet);
    jsonw_kopt(w, "kernelVersion", n->info.kernel);
    jsonw_kopt(w, "bootID", n->info.boot_id);
    write_time(w, "created", n->meta.created);
    jsonw_end(w);
}

static void write_names(struct jsonw *w, const char *key, const struct survey_names *n) {
    jsonw_kbegin(w, key, '[');
    for (size_t i = 0; i < n->len; i++)
        jsonw_str(w, n->p[i]);
    jsonw_end(w);
}

static void write_blockers(struct jsonw *w, const char *key, const struct survey_sum_blocker *list,
                           size_t n) {
    jsonw_kbegin(w, key, '[');
    for (size_t i = 0; i < n; i++) {
        jsonw_begin(w, '{');
        write_blocker(w, list[i].code, list[i].object, list[i].message, list[i].pods,
                      list[i].since);
        write_names(w, "nodes", &list[i].nodes);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void write_left(struct jsonw *w, const struct status_view *v) {
    jsonw_kbegin(w, "leftBehind", '[');
    for (size_t i = 0; i < v->sum->n_left; i++) {
        const struct survey_sum_left *l = &v->sum->left[i];
        _cleanup_str_ struct str text = STR_INIT, command = STR_INIT;
        left_text(l, v->now, &text);
        left_command(l, v->prog, &command);
        jsonw_begin(w, '{');
        jsonw_kstr(w, "what", left_word(l));
        jsonw_kstr(w, "message", str_get(&text));
        jsonw_kstr(w, "command", str_get(&command));
        jsonw_kopt(w, "heldBy", l->holder);
        write_time(w, "lastHeard", l->since);
        write_names(w, "nodes", &l->nodes);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void write_unread(struct jsonw *w, const struct survey *s) {
    if (!s->no_pods && !s->no_budgets)
        return;
    jsonw_kbegin(w, "unread", '[');
    if (s->no_pods)
        jsonw_str(w, kind_pod.resource);
    if (s->no_budgets)
        jsonw_str(w, kind_pdb.resource);
    jsonw_end(w);
}

void status_write_sum(struct jsonw *w, const struct status_view *v) {
    const struct survey_sum *s = v->sum;
    _cleanup_str_ struct str head = STR_INIT;
    if (v->stops)
        stops_write(w, v->stops);
    if (v->idle)
        not_in_force_write(w, v->idle);
    status_headline(v, &head);
    jsonw_kstr(w, "summary", str_get(&head));
    write_unread(w, v->survey);
    write_blockers(w, "blockers", s->blockers, s->n_blockers);
    if (v->orders)
        orders_write(w, v->orders);
    jsonw_kbegin(w, "waves", '[');
    for (size_t i = 0; i < s->n_waves; i++) {
        const struct survey_sum_wave *x = &s->waves[i];
        jsonw_begin(w, '{');
        jsonw_kstr(w, "heldBy", x->holder);
        write_names(w, "nodes", &x->nodes);
        jsonw_kint(w, "draining", x->phases[NODE_DRAINING]);
        jsonw_kint(w, "waiting", x->phases[NODE_WAITING]);
        jsonw_kint(w, "blocked", x->phases[NODE_BLOCKED]);
        jsonw_kint(w, "drained", x->phases[NODE_DRAINED]);
        jsonw_kint(w, "rebooting", x->phases[NODE_REBOOTING]);
        if (!v->survey->no_pods)
            jsonw_kint(w, "podsLeft", x->pods_left);
        write_time(w, "since", x->since);
        jsonw_end(w);
    }
    jsonw_end(w);
    jsonw_kbegin(w, "locks", '[');
    for (size_t i = 0; i < s->n_locks; i++) {
        jsonw_begin(w, '{');
        jsonw_kstr(w, "heldBy", s->locks[i].holder);
        write_names(w, "nodes", &s->locks[i].nodes);
        write_time(w, "since", s->locks[i].since);
        jsonw_end(w);
    }
    jsonw_end(w);
    write_blockers(w, "gates", s->gates, s->n_gates);
    write_names(w, "needReboot", &s->reboot);
    write_left(w, v);
}
