/* The verb `status`: the nodes, who holds them, and what would stand in the way of a drain. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "cli/session.h"
#include "cli/verb.h"
#include "engine/survey.h"
#include "model/selector.h"

/* The name of the document that -o json and the like are made from. */
#define SCHEMA "slipway.status/1.0"

struct status_opts {
    struct connection_opts connection;
    struct output_opts output;
};

enum {
    SHOWN_BLOCKERS = 2, /* of a node, unless wide */
    COALESCE_MS = 100,  /* changes that come together are shown together */
    COST_SHARE = 20,    /* of the time: looking at a large cluster takes at most a twentieth */
    LOOK_AGAIN = 15,    /* seconds: time alone makes a pod overdue */
};

struct status_run {
    struct session session;
    const struct status_opts *opts;
    int n_names;
    char **names;
    struct store *nodes, *pods, *budgets;
    unsigned by_node;
    struct pdbs *pdbs;
    struct table *table;
    bool emitted;             /* a document, before */
    struct loop_timer *timer; /* with -w: when to look again */
    bool soon;                /* because something changed */
    int64_t looked, cost;     /* the last look: when, and how long it took */
    struct htab shown;        /* with -w: the rows as they were last printed */
};

/* --- rows --- */

static const struct table_column columns[] = {
    {"NAME", false},   {"STATUS", false},         {"HELD BY", false}, {"PODS", false},
    {"MOVE", false},   {"BLOCKS A DRAIN", false}, {"AGE", false},     {"ZONE", true},
    {"VERSION", true}, {"KERNEL-VERSION", true},  {"BOOT-ID", true},
};

static const char *const ready_words[] = {
    [NODE_READY] = "Ready", [NODE_NOT_READY] = "NotReady", [NODE_UNKNOWN] = "Unknown"};

static void add_status(struct table *t, const struct survey_node *sn) {
    enum state state = sn->ready != NODE_READY   ? STATE_BAD
                       : sn->node->unschedulable ? STATE_WARN
                                                 : STATE_GOOD;
    _cleanup_free_ char *word =
        xasprintf("%s%s%s", ready_words[sn->ready], sn->node->unschedulable ? ",Cordoned" : "",
                  sn->node->meta.deleted ? ",Deleting" : "");
    table_state(t, state, word);
}

/* "PDBNoBudget web/frontend (2 pods), BarePod dev/debug, 3 more". */
static void add_blockers(struct table *t, const struct survey_node *sn, bool wide) {
    _cleanup_str_ struct str text = STR_INIT;
    for (size_t i = 0; i < sn->n_blockers; i++) {
        const struct survey_blocker *b = &sn->blockers[i];
        if (!wide && i == SHOWN_BLOCKERS && sn->n_blockers > SHOWN_BLOCKERS + 1) {
            str_addf(&text, ", %zu more", sn->n_blockers - i);
            break;
        }
        str_addf(&text, "%s%s%s%s", i ? ", " : "", blocker_row(b->code)->name,
                 *b->object ? " " : "", b->object);
        if (b->pods > 1)
            str_addf(&text, " (%u pods)", b->pods);
    }
    table_str(t, str_get(&text));
}

static void add_row(struct status_run *r, const struct survey_node *sn, struct arena *arena) {
    const struct node *n = sn->node;
    struct table *t = r->table;
    table_row(t, arena_printf(arena, "node/%s", n->meta.name));
    table_str(t, n->meta.name);
    add_status(t, sn);
    table_str(t, cordon_text(&sn->cordon, arena));
    table_int(t, sn->pods);
    table_int(t, sn->moves);
    add_blockers(t, sn, r->opts->output.format.kind == OUTPUT_WIDE);
    table_time(t, n->meta.created);
    table_str(t, map_get(n->meta.labels, "topology.kubernetes.io/zone"));
    table_str(t, n->info.kubelet);
    table_str(t, n->info.kernel);
    table_str(t, n->info.boot_id);
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
    for (size_t i = 0; i < c->n_holders; i++) {
        jsonw_begin(w, '{');
        jsonw_kopt(w, "id", c->holders[i].id);
        jsonw_kopt(w, "by", c->holders[i].by);
        jsonw_kopt(w, "reason", c->holders[i].reason);
        write_time(w, "since", c->holders[i].since);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void write_node(struct jsonw *w, const struct survey_node *sn, struct arena *arena) {
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
    write_cordon(w, &sn->cordon, arena);
    jsonw_kint(w, "pods", sn->pods);
    jsonw_kint(w, "podsToMove", sn->moves);
    jsonw_kint(w, "podsThatStay", sn->stays);
    jsonw_kint(w, "podsLeaving", sn->leaving);
    jsonw_kbegin(w, "blockers", '[');
    for (size_t i = 0; i < sn->n_blockers; i++) {
        const struct survey_blocker *b = &sn->blockers[i];
        const struct blocker_row *row = blocker_row(b->code);
        jsonw_begin(w, '{');
        jsonw_kstr(w, "code", row->name);
        jsonw_kopt(w, "object", b->object);
        jsonw_kstr(w, "message", b->message);
        jsonw_kint(w, "pods", b->pods);
        jsonw_kstr(w, "hint", row->hint);
        jsonw_kstr(w, "clears", row->clears_itself ? "auto" : "operator");
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

/* --- one picture --- */

static bool wanted(void *arg, const struct node *node) {
    const struct status_run *r = arg;
    for (int i = 0; i < r->n_names; i++)
        if (streq(r->names[i], node->meta.name))
            return true;
    return r->n_names == 0;
}

static void take(struct status_run *r, struct arena *arena, struct survey *out) {
    survey_take(r->nodes, r->pods, r->by_node, r->pdbs, wanted, r, cli_now(r->session.cli), arena,
                out);
}

/* Documents that follow each other in one stream. */
static int emit(struct status_run *r, const struct str *json) {
    struct cli *cli = r->session.cli;
    if (r->emitted && r->opts->output.format.kind == OUTPUT_YAML)
        term_printf(&cli->out, "---\n");
    r->emitted = true;
    return cli_print_document(cli, json, &r->opts->output.format, r->opts->output.no_headers);
}

static int print_document(struct status_run *r, const struct survey *s, struct arena *arena) {
    _cleanup_str_ struct str json = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &json, true);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "schema", SCHEMA);
    jsonw_kbegin(&w, "items", '[');
    for (size_t i = 0; i < s->n; i++)
        write_node(&w, &s->nodes[i], arena);
    jsonw_end(&w);
    jsonw_end(&w);
    return emit(r, &json);
}

/* Names that were asked for and are not there. */
static int report_missing(struct status_run *r, int code) {
    for (int i = 0; i < r->n_names; i++)
        if (!store_get(r->nodes, NULL, r->names[i]))
            code = cli_fail(r->session.cli, EXIT_FAILED, "there is no node \"%s\"", r->names[i]);
    return code;
}

static int print_all(struct status_run *r) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct survey s;
    take(r, &arena, &s);
    if (output_is_document(&r->opts->output.format))
        return print_document(r, &s, &arena);
    for (size_t i = 0; i < s.n; i++)
        add_row(r, &s.nodes[i], &arena);
    if (!s.n) {
        if (!r->n_names)
            cli_note(r->session.cli, "No nodes found");
        return EXIT_DONE;
    }
    return cli_print_table(r->session.cli, r->table, &r->opts->output);
}

/* --- watching --- */

/* What was last printed of a node. */
struct shown {
    char *name, *text;
};

static uint32_t shown_hash(const void *entry) {
    const struct shown *s = entry;
    return hash_bytes(s->name, strlen(s->name));
}

static bool shown_equal(const void *entry, const void *key) {
    return streq(((const struct shown *)entry)->name, key);
}

static void shown_free(struct shown *s) {
    free(s->name);
    free(s->text);
    free(s);
}

static const struct htab_ops shown_ops = {shown_hash, shown_equal};

/* What a node looks like but for its age; true when that is news. */
static bool is_news(struct status_run *r, const struct survey_node *sn, struct arena *arena) {
    _cleanup_str_ struct str text = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &text, false);
    write_node(&w, sn, arena);
    const char *name = sn->node->meta.name;
    struct shown *s = htab_find(&r->shown, hash_bytes(name, strlen(name)), name);
    if (!s) {
        s = xnew(struct shown);
        s->name = xstrdup(name);
        htab_insert(&r->shown, s);
    } else if (streq(s->text, str_get(&text))) {
        return false;
    }
    str_replace(&s->text, str_get(&text));
    return true;
}

/* Nodes that were shown and are there no longer: a last row or document for each. */
static void print_gone(struct status_run *r) {
    struct cli *cli = r->session.cli;
    VEC(struct shown *) gone = VEC_INIT;
    struct shown *s;
    for (uint32_t i = 0; (s = htab_next(&r->shown, &i));)
        if (!store_get(r->nodes, NULL, s->name))
            *vec_push(&gone) = s;
    table_clear(r->table);
    _cleanup_str_ struct str json = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &json, true);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "schema", SCHEMA);
    jsonw_kbegin(&w, "items", '[');
    for (size_t i = 0; i < gone.len; i++) {
        s = gone.p[i];
        table_row(r->table, arena_printf(&cli->arena, "node/%s", s->name));
        table_str(r->table, s->name);
        table_state(r->table, STATE_BAD, "Gone");
        jsonw_begin(&w, '{');
        jsonw_kstr(&w, "name", s->name);
        jsonw_kbool(&w, "gone", true);
        jsonw_end(&w);
        htab_remove(&r->shown, hash_bytes(s->name, strlen(s->name)), s->name);
        shown_free(s);
    }
    jsonw_end(&w);
    jsonw_end(&w);
    struct output_opts o = r->opts->output;
    o.no_headers = true;
    if (gone.len && output_is_document(&o.format))
        emit(r, &json);
    else if (gone.len)
        cli_print_table(cli, r->table, &o);
    vec_done(&gone);
}

static void on_timer(void *arg) {
    struct status_run *r = arg;
    struct cli *cli = r->session.cli;
    int64_t start = loop_now(r->session.loop);
    bool document = output_is_document(&r->opts->output.format);
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct survey s, changed = {0};
    take(r, &arena, &s);
    table_clear(r->table);
    changed.nodes = s.nodes;
    for (size_t i = 0; i < s.n; i++) {
        if (!is_news(r, &s.nodes[i], &arena))
            continue;
        struct survey_node sn = s.nodes[i];
        add_row(r, &sn, &arena);
        changed.nodes[changed.n++] = sn;
    }
    struct output_opts o = r->opts->output;
    o.no_headers = true;
    if (changed.n && document)
        print_document(r, &changed, &arena);
    else if (changed.n)
        cli_print_table(cli, r->table, &o);
    print_gone(r);
    r->cost = loop_now(r->session.loop) - start;
    r->looked = start;
    loop_timer_set(r->timer, SEC(LOOK_AGAIN));
    r->soon = false;
    term_flush(&cli->out);
    if (cli->out.error)
        loop_stop(r->session.loop);
}

static void on_change(void *arg, const struct object *before, const struct object *after) {
    struct status_run *r = arg;
    (void)before, (void)after;
    if (r->soon)
        return;
    r->soon = true;
    int64_t rest = r->looked + r->cost * COST_SHARE - loop_now(r->session.loop);
    loop_timer_set(r->timer, MAX_OF(MSEC(COALESCE_MS), rest));
}

static int watch(struct status_run *r) {
    struct arena arena = ARENA_INIT;
    struct survey s;
    take(r, &arena, &s);
    for (size_t i = 0; i < s.n; i++)
        is_news(r, &s.nodes[i], &arena);
    arena_done(&arena);
    r->session.cli->out.pager = NULL;
    term_flush(&r->session.cli->out);
    r->timer = loop_timer_new(r->session.loop, on_timer, r);
    loop_timer_set(r->timer, SEC(LOOK_AGAIN));
    store_listen(r->nodes, on_change, r);
    store_listen(r->pods, on_change, r);
    store_listen(r->budgets, on_change, r);
    int rc = session_run(&r->session);
    loop_timer_free(r->timer);
    return rc;
}

/* --- the verb --- */

static int run_session(struct status_run *r) {
    bool live = r->opts->output.watch;
    /* One node: only its pods. Its budgets are judged by their status, not by counting pods. */
    _cleanup_free_ char *name = r->n_names == 1 ? xasprintf("metadata.name=%s", r->names[0]) : NULL;
    _cleanup_free_ char *node = r->n_names == 1 ? xasprintf("spec.nodeName=%s", r->names[0]) : NULL;
    r->nodes = session_feed(&r->session, &kind_node,
                            &(struct session_feed){.field_selector = name,
                                                   .label_selector = r->opts->output.selector,
                                                   .watch = live});
    r->pods = session_feed(&r->session, &kind_pod,
                           &(struct session_feed){.field_selector = node, .watch = live});
    r->budgets = session_feed(&r->session, &kind_pdb, &(struct session_feed){.watch = live});
    r->by_node = store_index(r->pods, store_key_node);
    r->pdbs = pdbs_new(r->pods, r->budgets);
    r->table = table_new(columns, ARRAY_LEN(columns));
    int rc = session_sync(&r->session);
    if (!rc)
        rc = report_missing(r, print_all(r));
    if (!rc && live)
        rc = watch(r);
    pdbs_free(r->pdbs);
    table_free(r->table);
    return rc;
}

static int run(struct cli *cli, int argc, char **argv) {
    struct status_opts *opts = cli->opts;
    struct status_run r = {.opts = opts, .n_names = argc, .names = argv};
    _cleanup_err_ struct err err = ERR_INIT;
    struct selector selector = {0};
    if (argc && opts->output.selector)
        return cli_usage(cli, "give node names or a selector, not both");
    if (opts->output.selector && selector_parse(opts->output.selector, &selector, &err))
        return cli_usage(cli, "--selector: %s", err_msg(&err));
    selector_done(&selector);
    int rc = session_open(cli, &opts->connection, &r.session);
    if (rc)
        return rc;
    htab_init(&r.shown, &shown_ops);
    rc = run_session(&r);
    struct shown *s;
    for (uint32_t i = 0; (s = htab_next(&r.shown, &i));)
        shown_free(s);
    htab_done(&r.shown);
    session_close(&r.session);
    return rc;
}

const struct verb verb_status = {
    .name = "status",
    .summary = "Show the nodes, who holds them and what would block a drain",
    .args = "[NODE...]",
    .text =
        "For each node: whether it is Ready, whether it is cordoned and by whom, how many pods it "
        "runs and how many of them a drain would move, and what would stand in the way of a drain "
        "right now. Nothing is changed.\n"
        "\n"
        "HELD BY names the holders that {prog} recorded when it cordoned the node (annotation "
        "slipway.dev/cordon), cluster-autoscaler or karpenter by their taints, and \"somebody "
        "else\" for a cordon without a mark, such as kubectl's.\n"
        "\n"
        "With -w the table is followed by a line for each node that changes.",
    .examples = {{"All nodes", "status"},
                 {"Two nodes with everything that is known", "status w1 w2 -o wide"},
                 {"Watch the nodes of a zone", "status -l topology.kubernetes.io/zone=a -w"}},
    .options =
        (const struct verb_options[]){
            {&output_options, offsetof(struct status_opts, output)},
            {&connection_options, offsetof(struct status_opts, connection)},
            {0}},
    .opts_size = sizeof(struct status_opts),
    .max_args = -1,
    .arg_hint = HINT_NODE,
    .exits = (const enum exit_code[]){EXIT_ACCESS, EXIT_SIGINT, EXIT_SIGTERM, 0},
    .see_also = (const char *const[]){"doctor", "output", NULL},
    .common = true,
    .run = run,
};
