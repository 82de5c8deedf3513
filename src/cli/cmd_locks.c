/* The verb `locks`: who holds slots, who waits for one, since when, why, and how to break it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/shell.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "cli/session.h"
#include "cli/stops.h"
#include "cli/target.h"
#include "cli/verb.h"
#include "engine/keeper.h"
#include "engine/locks.h"
#include "model/own.h"
#include "model/selector.h"

/* The name of the document that -o json and the like are made from. */
#define SCHEMA "slipway.locks/1.0"

enum {
    COALESCE_MS = 100, /* changes that come together are shown together */
    LOOK_AGAIN = 15,   /* seconds: what is to happen at a time does so without a change */
};

struct locks_opts {
    struct connection_opts connection;
    struct output_opts output;
};

/* With -w: a row as it was last printed. */
struct shown {
    char *key, *text;
    char *policy, *ns, *node;
    bool seen;
};

struct locks_run {
    struct session session;
    const struct locks_opts *opts;
    struct target target;
    struct selector selector;
    struct store *maps, *nodes, *policies, *maintenances, *events, *leases;
    bool no_policies, no_maintenances, no_events, no_leases; /* may not be read */
    struct store *kured, *plans; /* of others who may be at work, or NULL */
    bool no_kured, no_plans;     /* may not be read */
    bool emitted;                /* a document, before */
    struct table *table;
    struct loop_timer *timer; /* with -w: when to look again */
    VEC(struct shown) shown;
    char *told; /* of what is paused */
};

/* --- which rows --- */

static bool wanted(const struct locks_run *r, const char *name) {
    for (size_t i = 0; i < r->target.names.len; i++)
        if (streq(r->target.names.p[i], name))
            return true;
    if (r->target.names.len)
        return false;
    if (!r->opts->output.selector)
        return true;
    const struct object *node = store_get(r->nodes, NULL, name);
    return node && requirements_match(r->selector.list, node->meta.labels);
}

/* Whatever cannot be read may be about any node. */
static bool wants_row(const struct locks_run *r, const struct lock_row *row) {
    return !*row->node || wanted(r, row->node);
}

static void take(const struct locks_run *r, struct arena *arena, struct locks *out) {
    struct locks_world w = {
        .maps = r->maps,
        .nodes = r->nodes,
        .policies = r->no_policies ? NULL : r->policies,
        .events = r->no_events ? NULL : r->events,
        .maintenances = r->no_maintenances ? NULL : r->maintenances,
        .rivals = {.locks = r->no_kured ? NULL : r->kured, .pods = r->no_plans ? NULL : r->plans},
        .now = cli_now(r->session.cli)};
    size_t kept = 0;
    locks_take(&w, arena, out);
    for (size_t i = 0; i < out->n; i++)
        if (wants_row(r, &out->rows[i]))
            out->rows[kept++] = out->rows[i];
    out->n = kept;
}

/* What takes the slot away, to copy; NULL where that is of no use. */
static const char *break_text(const struct locks_run *r, const struct lock_row *row,
                              struct arena *arena) {
    _cleanup_str_ struct str text = STR_INIT;
    if ((!row->slot && !row->wish) || (row->slot && row->slot->state == SLOT_RETURNED))
        return NULL;
    const char *maintenance = locks_maintenance(row->slot ? row->slot->by : row->wish->by);
    if (maintenance && (!row->slot || row->slot->state < SLOT_GRANTED))
        return arena_printf(arena, "kubectl delete maintenance %s", shell_word(arena, maintenance));
    str_addf(&text, "%s unlock ", r->session.cli->prog);
    shell_add(&text, row->node);
    if (row->slot && (maintenance || row->slot->state == SLOT_GRANTED || row->slot->unsure))
        str_add(&text, " --anyway");
    str_add(&text, " --reason WHY");
    return arena_strndup(arena, str_get(&text), text.len);
}

/* --- the table --- */

static const struct table_column columns[] = {
    {"POLICY", false}, {"NODE", false},       {"STATE", false}, {"SINCE", false},
    {"FOR", false},    {"BY", false},         {"WHY", false},   {"NAMESPACE", true},
    {"ASKED", true},   {"TO BREAK IT", true}, {"ID", true},
};

static const enum state moods[] = {
    [LOCK_GOES_ON] = STATE_BUSY, [LOCK_WAITS] = STATE_WARN, [LOCK_STUCK] = STATE_BAD};

static void add_row(struct locks_run *r, const struct lock_row *row, struct arena *arena) {
    struct table *t = r->table;
    const struct slot *slot = row->slot;
    const struct slot_wish *wish = row->wish;
    table_row(t, *row->node ? arena_printf(arena, "node/%s", row->node)
                            : arena_printf(arena, "configmap/%s", row->policy->map));
    table_str(t, row->policy->name);
    table_str(t, row->node);
    table_state(t, moods[row->mood], row->state);
    if (slot || wish)
        table_time(t, slot ? slot->since : wish->since);
    else
        table_str(t, NULL);
    table_str(t, slot ? slot->operation : wish ? wish->operation : NULL);
    table_str(t, slot ? slot->by : wish ? wish->by : NULL);
    table_str(t, row->why);
    table_str(t, row->policy->ns);
    if (slot || wish)
        table_time(t, slot ? slot->asked : wish->asked);
    else
        table_str(t, NULL);
    table_str(t, break_text(r, row, arena));
    table_str(t, slot ? slot->id : NULL);
}

/* --- documents --- */

static void write_time(struct jsonw *w, const char *key, int64_t at) {
    char buf[TIMEFMT_LEN];
    if (at)
        jsonw_kstr(w, key, time_format(at, false, buf));
}

static void write_row(struct jsonw *w, const struct locks_run *r, const struct lock_row *row,
                      struct arena *arena) {
    static const char *const words[] = {
        [LOCK_GOES_ON] = "goesOn", [LOCK_WAITS] = "waits", [LOCK_STUCK] = "stuck"};
    const struct slot *slot = row->slot;
    const struct slot_wish *wish = row->wish;
    jsonw_begin(w, '{');
    jsonw_kstr(w, "policy", row->policy->name);
    jsonw_kstr(w, "namespace", strna(row->policy->ns));
    jsonw_kopt(w, "node", row->node);
    jsonw_kstr(w, "state", row->state);
    jsonw_kstr(w, "outlook", words[row->mood]);
    jsonw_kopt(w, "operation", slot ? slot->operation : wish ? wish->operation : NULL);
    jsonw_kopt(w, "by", slot ? slot->by : wish ? wish->by : NULL);
    write_time(w, "since", slot ? slot->since : wish ? wish->since : 0);
    write_time(w, "asked", slot ? slot->asked : wish ? wish->asked : 0);
    write_time(w, "granted", slot ? slot->granted : 0);
    write_time(w, "steady", slot ? slot->steady : 0);
    jsonw_kopt(w, "id", slot ? slot->id : NULL);
    jsonw_kopt(w, "nodeUID", slot ? slot->uid : NULL);
    jsonw_kopt(w, "bootID", slot ? slot->boot : NULL);
    jsonw_kstr(w, "why", row->why);
    jsonw_kopt(w, "break", break_text(r, row, arena));
    jsonw_end(w);
}

static void write_policies(struct jsonw *w, const struct locks *l) {
    jsonw_kbegin(w, "policies", '[');
    for (size_t i = 0; i < l->n_policies; i++) {
        const struct lock_policy *p = &l->policies[i];
        jsonw_begin(w, '{');
        jsonw_kstr(w, "name", p->name);
        jsonw_kstr(w, "namespace", strna(p->ns));
        jsonw_kstr(w, "configMap", p->map);
        if (p->limited)
            jsonw_kint(w, "limit", (int64_t)p->limit);
        if (!p->problem) {
            jsonw_kint(w, "held", (int64_t)p->held);
            jsonw_kint(w, "waiting", (int64_t)p->waiting);
        }
        jsonw_kopt(w, "problem", p->problem);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void write_controllers(struct jsonw *w, const struct locks_run *r) {
    size_t n = 0;
    _cleanup_free_ const struct object **all = store_sorted(r->leases, &n);
    if (r->no_leases)
        return;
    jsonw_kbegin(w, "controllers", '[');
    for (size_t i = 0; i < n; i++) {
        const struct lease *lease = (const struct lease *)all[i];
        jsonw_begin(w, '{');
        jsonw_kstr(w, "namespace", strna(lease->meta.ns));
        jsonw_kopt(w, "holder", lease->holder);
        jsonw_kbool(w, "leads", locks_leads(lease, cli_now(r->session.cli)));
        write_time(w, "renewed", lease->renewed);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void begin_document(struct jsonw *w, struct str *json) {
    jsonw_init(w, json, true);
    jsonw_begin(w, '{');
    jsonw_kstr(w, "schema", SCHEMA);
}

/* Documents that follow each other in one stream. */
static int emit(struct locks_run *r, const struct str *json) {
    struct cli *cli = r->session.cli;
    if (r->emitted && r->opts->output.format.kind == OUTPUT_YAML)
        term_printf(&cli->out, "---\n");
    r->emitted = true;
    return cli_print_document(cli, json, &r->opts->output.format, r->opts->output.no_headers);
}

static void write_stops(struct jsonw *w, const struct locks_run *r, struct arena *arena) {
    struct stops stops;
    stops_take(r->maps, arena, &stops);
    stops_write(w, &stops);
}

/* `whole`: not only what has changed. */
static int print_document(struct locks_run *r, const struct locks *l, bool whole,
                          struct arena *arena) {
    _cleanup_str_ struct str json = STR_INIT;
    struct jsonw w;
    begin_document(&w, &json);
    if (whole) {
        write_stops(&w, r, arena);
        write_policies(&w, l);
        write_controllers(&w, r);
    }
    jsonw_kbegin(&w, "items", '[');
    for (size_t i = 0; i < l->n; i++)
        write_row(&w, r, &l->rows[i], arena);
    jsonw_end(&w);
    jsonw_end(&w);
    return emit(r, &json);
}

/* --- what stands beside the table --- */

/* First of all, and with -w again when it changes: nothing below goes on while everything is
 * paused. */
static void tell_stops(struct locks_run *r, struct arena *arena) {
    struct cli *cli = r->session.cli;
    _cleanup_str_ struct str all = STR_INIT;
    struct stops stops;
    stops_take(r->maps, arena, &stops);
    for (size_t i = 0; i < stops.n; i++) {
        if (i)
            str_addc(&all, '\n');
        stops_text(&stops.rows[i], cli->prog, cli_now(cli), &all);
    }
    if (streq(str_get(&all), strna(r->told)))
        return;
    cli_note(cli, "%s", stops.n ? str_get(&all) : "Nothing is paused any more");
    str_replace(&r->told, str_get(&all));
}

static void tell_empty(struct locks_run *r, const struct locks *l) {
    struct cli *cli = r->session.cli;
    const char *ns = r->opts->connection.flags.ns;
    if (!l->n_policies)
        cli_note(cli,
                 "There are no slots%s%s: a record of them is made when a node first asks a "
                 "controller ('%s controller') whether it may reboot",
                 ns ? " in namespace " : "", strna(ns), cli->prog);
    else if (!r->target.names.len)
        cli_note(cli, "Nobody holds a slot and nobody waits for one");
}

/* Nodes that were named and are in no row. */
static int tell_missing(struct locks_run *r, const struct locks *l) {
    int code = EXIT_DONE;
    for (size_t i = 0; i < r->target.names.len; i++) {
        const char *name = r->target.names.p[i];
        bool there = false;
        for (size_t k = 0; k < l->n && !there; k++)
            there = streq(l->rows[k].node, name);
        if (!there && !store_get(r->nodes, NULL, name))
            code = cli_fail(r->session.cli, EXIT_FAILED, "there is no node \"%s\"", name);
        else if (!there && l->n_policies)
            cli_note(r->session.cli, "%s holds no slot and waits for none", name);
    }
    return code;
}

static const struct lease *lease_of(const struct locks_run *r, const char *ns) {
    return (const struct lease *)store_get(r->leases, ns, KEEPER_LEASE);
}

/* Nothing goes on where nobody leads. */
static void tell_controllers(struct locks_run *r, const struct locks *l) {
    struct cli *cli = r->session.cli;
    for (size_t i = 0; i < l->n && !r->no_leases; i++) {
        const char *ns = l->rows[i].policy->ns;
        const struct lease *lease = lease_of(r, ns);
        bool first = true;
        for (size_t k = 0; k < i && first; k++)
            first = !str_same(l->rows[k].policy->ns, ns);
        if (!first || (lease && locks_leads(lease, cli_now(cli))))
            continue;
        cli_note(
            cli, "no controller runs in namespace %s%s%s: nothing of this goes on until one does",
            strna(ns), lease && lease->renewed ? ", the last was heard of at " : "",
            lease && lease->renewed ? locks_clock(lease->renewed, cli_now(cli), &cli->arena) : "");
    }
}

/* Where it is not in a column. */
static void tell_how_to_break(struct locks_run *r, const struct locks *l, struct arena *arena) {
    bool any = false;
    for (size_t i = 0; i < l->n && !any; i++)
        any = l->rows[i].mood != LOCK_GOES_ON && break_text(r, &l->rows[i], arena);
    if (any && r->opts->output.format.kind == OUTPUT_TABLE)
        cli_note(r->session.cli,
                 "'%s unlock NODE --reason WHY' lets a slot go; -o wide has the line for each",
                 r->session.cli->prog);
}

static int print_all(struct locks_run *r) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct locks l;
    int rc = EXIT_DONE;
    take(r, &arena, &l);
    tell_stops(r, &arena);
    for (size_t i = 0; i < l.n; i++)
        add_row(r, &l.rows[i], &arena);
    if (output_is_document(&r->opts->output.format))
        rc = print_document(r, &l, true, &arena);
    else if (l.n)
        rc = cli_print_table(r->session.cli, r->table, &r->opts->output, session_now(&r->session));
    else
        tell_empty(r, &l);
    term_flush(&r->session.cli->out);
    int missing = tell_missing(r, &l);
    tell_controllers(r, &l);
    tell_how_to_break(r, &l, &arena);
    return rc ? rc : missing;
}

/* --- watching --- */

static void shown_free(struct shown *s) {
    free(s->key);
    free(s->text);
    free(s->policy);
    free(s->ns);
    free(s->node);
}

/* The same holding has the same key; a node can hold one and wait for the next. */
static const char *key_of(const struct lock_row *row, struct arena *arena) {
    return arena_printf(arena, "%s/%s/%s/%s", strna(row->policy->ns), row->policy->map, row->node,
                        row->slot ? row->slot->id : row->state);
}

/* True when it looks otherwise than when it was last printed. */
static bool is_news(struct locks_run *r, const struct lock_row *row, struct arena *arena) {
    _cleanup_str_ struct str text = STR_INIT;
    const char *key = key_of(row, arena);
    struct shown *s = NULL;
    str_addf(&text, "%s %s", row->state, row->why);
    for (size_t i = 0; i < r->shown.len && !s; i++)
        if (streq(r->shown.p[i].key, key))
            s = &r->shown.p[i];
    if (!s) {
        s = vec_push(&r->shown);
        *s = (struct shown){.key = xstrdup(key),
                            .policy = xstrdup(row->policy->name),
                            .ns = xstrdup(strna(row->policy->ns)),
                            .node = xstrdup(row->node)};
    }
    s->seen = true;
    if (s->text && streq(s->text, str_get(&text)))
        return false;
    str_replace(&s->text, str_get(&text));
    return true;
}

/* What is over: a last row or a last item for each. */
static void print_over(struct locks_run *r) {
    _cleanup_str_ struct str json = STR_INIT;
    struct jsonw w;
    size_t kept = 0, had = r->shown.len;
    table_clear(r->table);
    begin_document(&w, &json);
    jsonw_kbegin(&w, "items", '[');
    for (size_t i = 0; i < had; i++) {
        struct shown *s = &r->shown.p[i];
        if (s->seen) {
            r->shown.p[kept++] = *s;
            continue;
        }
        _cleanup_free_ char *name = xasprintf("node/%s", s->node);
        table_row(r->table, name);
        table_str(r->table, s->policy);
        table_str(r->table, s->node);
        table_state(r->table, STATE_GOOD, "over");
        jsonw_begin(&w, '{');
        jsonw_kstr(&w, "policy", s->policy);
        jsonw_kstr(&w, "namespace", s->ns);
        jsonw_kopt(&w, "node", s->node);
        jsonw_kstr(&w, "state", "over");
        jsonw_end(&w);
        shown_free(s);
    }
    r->shown.len = kept;
    jsonw_end(&w);
    jsonw_end(&w);
    struct output_opts o = r->opts->output;
    o.no_headers = true;
    if (kept < had && output_is_document(&o.format))
        emit(r, &json);
    else if (kept < had)
        cli_print_table(r->session.cli, r->table, &o, session_now(&r->session));
}

/* Leaves what is news in `l`. */
static void keep_news(struct locks_run *r, struct locks *l, struct arena *arena) {
    size_t kept = 0;
    for (size_t i = 0; i < r->shown.len; i++)
        r->shown.p[i].seen = false;
    for (size_t i = 0; i < l->n; i++)
        if (is_news(r, &l->rows[i], arena))
            l->rows[kept++] = l->rows[i];
    l->n = kept;
}

static void on_timer(void *arg) {
    struct locks_run *r = arg;
    struct cli *cli = r->session.cli;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct locks l;
    struct output_opts o = r->opts->output;
    take(r, &arena, &l);
    tell_stops(r, &arena);
    keep_news(r, &l, &arena);
    table_clear(r->table);
    for (size_t i = 0; i < l.n; i++)
        add_row(r, &l.rows[i], &arena);
    o.no_headers = true;
    if (l.n && output_is_document(&o.format))
        print_document(r, &l, false, &arena);
    else if (l.n)
        cli_print_table(cli, r->table, &o, session_now(&r->session));
    print_over(r);
    loop_timer_set(r->timer, SEC(LOOK_AGAIN));
    term_flush(&cli->out);
    if (cli->out.error)
        loop_stop(r->session.loop);
}

static void on_change(void *arg, const struct object *before, const struct object *after) {
    struct locks_run *r = arg;
    (void)before, (void)after;
    loop_timer_set(r->timer, MSEC(COALESCE_MS));
}

static void on_kured(void *arg, const struct object *before, const struct object *after) {
    if (rival_lock_changed(before, after))
        on_change(arg, before, after);
}

static int watch(struct locks_run *r) {
    struct arena arena = ARENA_INIT;
    struct locks l;
    take(r, &arena, &l);
    keep_news(r, &l, &arena);
    arena_done(&arena);
    r->session.cli->out.pager = NULL;
    r->timer = loop_timer_new(r->session.loop, on_timer, r);
    loop_timer_set(r->timer, SEC(LOOK_AGAIN));
    store_listen(r->maps, on_change, r);
    store_listen(r->nodes, on_change, r);
    store_listen(r->events, on_change, r);
    store_listen(r->maintenances, on_change, r);
    store_listen(r->kured, on_kured, r);
    store_listen(r->plans, on_change, r);
    int rc = session_run(&r->session);
    loop_timer_free(r->timer);
    return rc;
}

/* --- the verb --- */

/* Those of drains, and only while one is at work, unless somebody stays to see it. */
static void feed_events(struct locks_run *r, bool live) {
    r->events = session_feed(&r->session, &kind_event,
                             &(struct session_feed){.ns = "default",
                                                    .field_selector = "involvedObject.kind=Node",
                                                    .watch = live,
                                                    .without = "what drains wait for is not shown",
                                                    .missing = &r->no_events});
}

static void feed_all(struct locks_run *r, bool live) {
    const char *ns = r->opts->connection.flags.ns;
    r->maps = session_feed(
        &r->session, &kind_config_map,
        &(struct session_feed){.ns = ns, .label_selector = SLOTS_LABEL, .watch = live});
    r->nodes = session_feed(&r->session, &kind_node, &(struct session_feed){.watch = live});
    r->policies =
        session_feed(&r->session, &kind_policy,
                     &(struct session_feed){.watch = false,
                                            .without = "how many slots there are is not shown",
                                            .missing = &r->no_policies,
                                            .optional = true});
    r->maintenances =
        session_feed(&r->session, &kind_maintenance,
                     &(struct session_feed){.watch = live,
                                            .without = "which of them are halted is not shown",
                                            .missing = &r->no_maintenances,
                                            .optional = true});
    r->leases =
        session_feed(&r->session, &kind_lease,
                     &(struct session_feed){.ns = ns,
                                            .field_selector = "metadata.name=" KEEPER_LEASE,
                                            .without = "whether a controller runs is not shown",
                                            .missing = &r->no_leases});
}

/* Who else may be at work on the nodes that are shown. */
static void feed_rivals(struct locks_run *r, bool live) {
    r->kured = session_feed(&r->session, &kind_kured_lock,
                            &(struct session_feed){.watch = live,
                                                   .without = "whether kured has locked a node is "
                                                              "not shown",
                                                   .missing = &r->no_kured});
    r->plans = session_feed(&r->session, &kind_pod,
                            &(struct session_feed){.label_selector = RIVAL_POD_LABEL,
                                                   .watch = live,
                                                   .without = "whether system-upgrade-controller "
                                                              "is at work is not shown",
                                                   .missing = &r->no_plans});
}

/* What the rows that there are need. */
static int read_more(struct locks_run *r) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct locks l;
    take(r, &arena, &l);
    if (!l.n)
        return 0;
    feed_rivals(r, false);
    if (locks_drains(&l))
        feed_events(r, false);
    return session_sync(&r->session);
}

static int run_session(struct locks_run *r) {
    bool live = r->opts->output.watch;
    feed_all(r, live);
    if (live) {
        feed_rivals(r, true);
        feed_events(r, true);
    }
    int rc = session_sync(&r->session);
    if (!rc && !live)
        rc = read_more(r);
    r->table = table_new(columns, ARRAY_LEN(columns));
    if (!rc)
        rc = print_all(r);
    if (!rc && live)
        rc = watch(r);
    table_free(r->table);
    return rc;
}

static int run(struct cli *cli, int argc, char **argv) {
    struct locks_run r = {.opts = cli->opts};
    _cleanup_err_ struct err err = ERR_INIT;
    const char *selector = r.opts->output.selector;
    if (argc && selector)
        return cli_usage(cli, "give node names or a selector, not both");
    if (selector && selector_parse(selector, &r.selector, &err))
        return cli_usage(cli, "--selector: %s", err_msg(&err));
    int rc = argc ? target_parse(cli, &(struct target_opts){0}, argc, argv, &r.target) : 0;
    if (!rc)
        rc = session_open(cli, &r.opts->connection, &r.session);
    if (!rc) {
        rc = run_session(&r);
        session_close(&r.session);
    }
    for (size_t i = 0; i < r.shown.len; i++)
        shown_free(&r.shown.p[i]);
    vec_done(&r.shown);
    free(r.told);
    target_forget(&r.target);
    selector_done(&r.selector);
    return rc;
}

const struct verb verb_locks = {
    .name = "locks",
    .summary = "Show who holds slots, who waits, and why",
    .args = "[NODE...]",
    .text =
        "A slot is the right to be out of service; a policy has so many, and a node that asks a "
        "controller whether it may reboot waits for one. A row for each node that holds a slot, or "
        "waits, with the sentence WHY: what it waits for, and what ends that. Nothing is changed.\n"
        "\n"
        "STATE is taken (the node is being cordoned and drained), drained (it may go when it "
        "asks), "
        "granted (it was told that it may go), steady (it has reported that it is back), returned "
        "(it is being put back into service), or waits. Nothing but the node itself, or a human, "
        "ends what was granted. A record that a newer {prog} has written is a row too: "
        "unreadable.\n"
        "\n"
        "The records are ConfigMaps with the label slipway.dev/slots, of all namespaces or of that "
        "of -n. What a drain waits for comes from its Events. Where no controller runs, standard "
        "error says so: nothing goes on there. While everything is paused ('{prog} pause --all'), "
        "it says that first: by whom, since when, why, and how to resume.\n"
        "\n"
        "'{prog} unlock' lets a slot go; -o wide has the line to copy. With -w the rows are "
        "followed by a line for each that changes, and one that ends is over.",
    .examples = {{"Who is out, and who is next", "locks"},
                 {"One node, with the line that lets its slot go", "locks w1 -o wide"},
                 {"Follow what happens", "locks -w"}},
    .options = (const struct verb_options[]){{&output_options, offsetof(struct locks_opts, output)},
                                             {&connection_options,
                                              offsetof(struct locks_opts, connection)},
                                             {0}},
    .opts_size = sizeof(struct locks_opts),
    .max_args = -1,
    .arg_hint = HINT_NODE,
    .exits = (const enum exit_code[]){EXIT_ACCESS, EXIT_SIGINT, EXIT_SIGTERM, 0},
    .see_also = (const char *const[]){"unlock", "status", "why", NULL},
    .run = run,
};
