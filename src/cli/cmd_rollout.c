/* The verb `rollout`: Rollouts, or one of them with its nodes. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "cli/own_target.h"
#include "cli/session.h"
#include "cli/verb.h"
#include "engine/maintenance.h"
#include "engine/own_status.h"

/* The name of the document that -o json and the like are made from. */
#define SCHEMA "slipway.rollout/1.0"

struct rollout_opts {
    struct connection_opts connection;
    struct output_opts output;
};

/* With -w: a row as it was last printed. */
struct shown {
    char *key, *text;
};

struct rollout_run {
    struct session session;
    const struct rollout_opts *opts;
    const char *name; /* NULL: all of them */
    struct own_targets all;
    struct table *table;
    VEC(struct shown) shown;
};

static const struct table_column columns[] = {
    {"NAME", false},      {"OPERATION", false}, {"PHASE", false},  {"NODES", false},
    {"DONE", false},      {"CURRENT", false},   {"FAILED", false}, {"AGE", false},
    {"WAITS FOR", false}, {"REASON", true},     {"POLICY", true},
};

static const struct table_column node_columns[] = {
    {"NODE", false}, {"PHASE", false}, {"SINCE", false}, {"WAITS FOR", false}, {"NAME", true},
};

/* "PDBNoBudget shop/web: needs 2, has 2"; "" when it does not wait. */
static const char *wait_text(const struct own_blocker *b, struct arena *arena) {
    _cleanup_str_ struct str text = STR_INIT;
    if (b)
        own_blocker_text(b, &text);
    return arena_printf(arena, "%s", str_get(&text));
}

/* "BadNodes: node set ..., column 5: ..." of one that has failed before any node was begun, which
 * no node tells of; else what it waits for. */
static const char *why_text(const struct rollout *ro, struct arena *arena) {
    const struct rollout_counts *c = &ro->counts;
    bool begun = c->complete || c->current || c->failed;
    for (size_t i = 0; str_same(ro->phase, "Failed") && !begun && i < list_len(ro->conditions); i++)
        if (str_same(ro->conditions[i].c.type, "Failed"))
            return arena_printf(arena, "%s: %s", strna(ro->conditions[i].c.reason),
                                strna(ro->conditions[i].c.message));
    return wait_text(ro->blocker, arena);
}

static enum state mood_of(const char *phase) {
    return str_same(phase, "Complete")                              ? STATE_GOOD
           : str_same(phase, "Failed")                              ? STATE_BAD
           : str_same(phase, "Halted") || str_same(phase, "Paused") ? STATE_WARN
                                                                    : STATE_BUSY;
}

static const char *phase_or_pending(const char *phase) {
    return str_empty(phase) ? "Pending" : phase;
}

static void add_rollout(struct rollout_run *r, const struct rollout *ro, struct arena *arena) {
    struct table *t = r->table;
    table_row(t, arena_printf(arena, "rollout/%s", ro->meta.name));
    table_str(t, ro->meta.name);
    table_str(t, ro->operation);
    table_state(t, mood_of(ro->phase), phase_or_pending(ro->phase));
    table_int(t, ro->counts.total);
    table_int(t, ro->counts.complete);
    table_int(t, ro->counts.current);
    table_int(t, ro->counts.failed);
    table_time(t, ro->meta.created);
    table_str(t, why_text(ro, arena));
    table_str(t, ro->reason);
    table_str(t, ro->policy);
}

static void add_node(struct rollout_run *r, const struct maintenance *m, struct arena *arena) {
    struct table *t = r->table;
    table_row(t, arena_printf(arena, "maintenance/%s", m->meta.name));
    table_str(t, m->node);
    table_state(t, mood_of(m->phase), phase_or_pending(m->phase));
    table_time(t, m->since ? m->since : m->meta.created);
    table_str(t, wait_text(m->blocker, arena));
    table_str(t, m->meta.name);
}

/* --- documents --- */

static void write_time(struct jsonw *w, const char *key, int64_t at) {
    char buf[TIMEFMT_LEN];
    if (at)
        jsonw_kstr(w, key, time_format(at, false, buf));
}

static void write_blocker(struct jsonw *w, const struct own_blocker *b) {
    if (!b)
        return;
    jsonw_kbegin(w, "blocker", '{');
    jsonw_kopt(w, "code", b->code);
    jsonw_kopt(w, "object", b->object);
    jsonw_kopt(w, "message", b->message);
    jsonw_kopt(w, "hint", b->hint);
    write_time(w, "deadline", b->deadline);
    jsonw_kopt(w, "then", b->then);
    jsonw_end(w);
}

static void write_nodes(struct jsonw *w, const struct rollout_run *r, const struct rollout *ro) {
    size_t n = 0;
    _cleanup_free_ const struct maintenance **list = own_maintenances_of(&r->all, ro, &n);
    jsonw_kbegin(w, "nodes", '[');
    for (size_t i = 0; i < n; i++) {
        jsonw_begin(w, '{');
        jsonw_kopt(w, "node", list[i]->node);
        jsonw_kstr(w, "maintenance", list[i]->meta.name);
        jsonw_kstr(w, "phase", phase_or_pending(list[i]->phase));
        write_time(w, "since", list[i]->since);
        write_blocker(w, list[i]->blocker);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void write_rollout(struct jsonw *w, const struct rollout_run *r, const struct rollout *ro) {
    jsonw_begin(w, '{');
    jsonw_kstr(w, "name", ro->meta.name);
    jsonw_kopt(w, "operation", ro->operation);
    jsonw_kopt(w, "reason", ro->reason);
    jsonw_kopt(w, "policy", ro->policy);
    jsonw_kbool(w, "paused", ro->paused == 1);
    jsonw_kstr(w, "phase", phase_or_pending(ro->phase));
    jsonw_kopt(w, "phaseReason", ro->phase_reason);
    write_time(w, "created", ro->meta.created);
    write_time(w, "since", ro->since);
    jsonw_kint(w, "total", ro->counts.total);
    jsonw_kint(w, "waiting", ro->counts.waiting);
    jsonw_kint(w, "current", ro->counts.current);
    jsonw_kint(w, "complete", ro->counts.complete);
    jsonw_kint(w, "failed", ro->counts.failed);
    write_blocker(w, ro->blocker);
    write_nodes(w, r, ro);
    jsonw_end(w);
}

static int print_document(struct rollout_run *r) {
    _cleanup_str_ struct str json = STR_INIT;
    struct jsonw w;
    size_t n = 0;
    _cleanup_free_ const struct object **list = store_sorted(r->all.rollouts, &n);
    jsonw_init(&w, &json, true);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "schema", SCHEMA);
    jsonw_kbegin(&w, "items", '[');
    for (size_t i = 0; i < n; i++)
        if (!r->name || streq(list[i]->meta.name, r->name))
            write_rollout(&w, r, (const struct rollout *)list[i]);
    jsonw_end(&w);
    jsonw_end(&w);
    return cli_print_document(r->session.cli, &json, &r->opts->output.format,
                              r->opts->output.no_headers);
}

/* --- the table --- */

/* True when it looks otherwise than when it was last printed; always without -w. */
static bool is_news(struct rollout_run *r, const char *key, const char *text) {
    for (size_t i = 0; i < r->shown.len; i++) {
        struct shown *s = &r->shown.p[i];
        if (!streq(s->key, key))
            continue;
        bool news = !streq(s->text, text);
        str_replace(&s->text, text);
        return news;
    }
    *vec_push(&r->shown) = (struct shown){xstrdup(key), xstrdup(text)};
    return true;
}

static void add_rows(struct rollout_run *r, struct arena *arena) {
    size_t n = 0;
    _cleanup_free_ const struct object **list = store_sorted(r->all.rollouts, &n);
    for (size_t i = 0; i < n; i++) {
        const struct rollout *ro = (const struct rollout *)list[i];
        const struct rollout_counts *c = &ro->counts;
        const char *text = arena_printf(arena, "%s %d %d %d %d %s", strna(ro->phase), c->total,
                                        c->complete, c->current, c->failed, why_text(ro, arena));
        if (!r->name && is_news(r, ro->meta.name, text))
            add_rollout(r, ro, arena);
    }
    const struct object *one = r->name ? store_get(r->all.rollouts, NULL, r->name) : NULL;
    if (!one)
        return;
    size_t m = 0;
    _cleanup_free_ const struct maintenance **nodes =
        own_maintenances_of(&r->all, (const struct rollout *)one, &m);
    for (size_t i = 0; i < m; i++) {
        const char *text = arena_printf(arena, "%s %s", strna(nodes[i]->phase),
                                        wait_text(nodes[i]->blocker, arena));
        if (is_news(r, nodes[i]->meta.name, text))
            add_node(r, nodes[i], arena);
    }
}

/* What stands above the nodes of one. */
static void tell_one(struct rollout_run *r, const struct rollout *ro) {
    struct cli *cli = r->session.cli;
    const struct rollout_counts *c = &ro->counts;
    const char *why = why_text(ro, &cli->arena);
    const char *what = str_same(ro->phase, "Failed") ? "; " : "; waits for ";
    cli_note(cli, "%s of %d nodes, %s: %d done, %d under way, %d waiting, %d failed%s%s",
             strna(ro->operation), c->total, phase_or_pending(ro->phase), c->complete, c->current,
             c->waiting, c->failed, *why ? what : "", why);
}

static int print_all(struct rollout_run *r) {
    struct cli *cli = r->session.cli;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    const struct object *one = r->name ? store_get(r->all.rollouts, NULL, r->name) : NULL;
    if (output_is_document(&r->opts->output.format))
        return print_document(r);
    if (one)
        tell_one(r, (const struct rollout *)one);
    add_rows(r, &arena);
    if (!r->shown.len)
        cli_note(cli, "%s",
                 !one ? "There are no Rollouts"
                 : mood_of(((const struct rollout *)one)->phase) == STATE_BAD
                     ? "No node was begun"
                     : "No node was begun yet");
    return r->shown.len ? cli_print_table(cli, r->table, &r->opts->output, session_now(&r->session))
                        : EXIT_DONE;
}

static void on_change(void *arg, const struct object *before, const struct object *after) {
    struct rollout_run *r = arg;
    struct cli *cli = r->session.cli;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct output_opts o = r->opts->output;
    size_t had = r->shown.len;
    (void)before, (void)after;
    table_clear(r->table);
    add_rows(r, &arena);
    o.no_headers = had > 0;
    cli_print_table(cli, r->table, &o, session_now(&r->session));
    term_flush(&cli->out);
    if (cli->out.error)
        loop_stop(r->session.loop);
}

static int run_session(struct rollout_run *r) {
    struct cli *cli = r->session.cli;
    bool live = r->opts->output.watch, missing = false;
    const struct session_feed feed = {.watch = live,
                                      .without = "there is nothing to show",
                                      .missing = &missing,
                                      .optional = true};
    r->all.maintenances = session_feed(&r->session, &kind_maintenance, &feed);
    r->all.rollouts = session_feed(&r->session, &kind_rollout, &feed);
    int rc = session_sync(&r->session);
    if (rc || missing)
        return rc ? rc : EXIT_ACCESS;
    if (r->name && !store_get(r->all.rollouts, NULL, r->name))
        return cli_fail(cli, EXIT_FAILED,
                        "there is no Rollout \"%s\"; '%s rollout' shows those "
                        "there are",
                        r->name, cli->prog);
    rc = print_all(r);
    if (rc || !live)
        return rc;
    cli->out.pager = NULL;
    term_flush(&cli->out);
    store_listen(r->all.rollouts, on_change, r);
    store_listen(r->all.maintenances, on_change, r);
    return session_run(&r->session);
}

static int run(struct cli *cli, int argc, char **argv) {
    struct rollout_run r = {.opts = cli->opts};
    const struct output_opts *o = &r.opts->output;
    if (o->selector)
        return cli_usage(cli, "rollout has no -l");
    if (o->watch && output_is_document(&o->format))
        return cli_usage(cli, "-w goes with a table");
    const char *slash = argc ? strchr(argv[0], '/') : NULL;
    if (slash && own_target_kind(argv[0], (size_t)(slash - argv[0])) != &kind_rollout)
        return cli_usage(cli, "\"%s\" is no rollout/NAME", argv[0]);
    r.name = slash ? slash + 1 : argc ? argv[0] : NULL;
    int rc = session_open(cli, &r.opts->connection, &r.session);
    if (rc)
        return rc;
    r.table = r.name ? table_new(node_columns, ARRAY_LEN(node_columns))
                     : table_new(columns, ARRAY_LEN(columns));
    rc = run_session(&r);
    session_close(&r.session);
    table_free(r.table);
    for (size_t i = 0; i < r.shown.len; i++) {
        free(r.shown.p[i].key);
        free(r.shown.p[i].text);
    }
    vec_done(&r.shown);
    return rc;
}

const struct verb verb_rollout = {
    .name = "rollout",
    .summary = "Show rollouts, or one with its nodes",
    .args = "[NAME]",
    .text =
        "A row for each Rollout: where it is, how many nodes are done, under way and failed, and "
        "what it waits for. With NAME, or rollout/NAME, a row for each node that it has begun, and "
        "on standard error the sum. Nothing is changed.\n"
        "\n"
        "With -w the rows are followed by a line for each that changes.",
    .examples = {{"All of them", "rollout"},
                 {"Follow the nodes of one", "rollout kernel -w"},
                 {"For a program", "rollout kernel -o json"}},
    .options =
        (const struct verb_options[]){
            {&output_options, offsetof(struct rollout_opts, output)},
            {&connection_options, offsetof(struct rollout_opts, connection)},
            {0}},
    .opts_size = sizeof(struct rollout_opts),
    .max_args = 1,
    .exits = (const enum exit_code[]){EXIT_ACCESS, EXIT_SIGINT, EXIT_SIGTERM, 0},
    .see_also = (const char *const[]){"reboot", "pause", "history", NULL},
    .run = run,
};
