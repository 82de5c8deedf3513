/* The verb `status`: what is going on, what is in the way, who holds which nodes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "cli/checks_read.h"
#include "cli/leftovers.h"
#include "cli/session.h"
#include "cli/status_show.h"
#include "cli/verb.h"
#include "engine/keeper.h"
#include "engine/podrole.h"
#include "model/selector.h"

/* The name of the document that -o json and the like are made from. */
#define SCHEMA "slipway.status/1.5"

struct status_opts {
    struct connection_opts connection;
    struct output_opts output;
    int details; /* enum status_detail */
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
    struct store *nodes, *pods, *budgets, *maps, *locks;
    bool no_pods, no_budgets, no_maps, no_locks; /* they may not be read */
    struct store *namespaces;
    bool no_namespaces; /* they may not be read, or nobody needs them */
    struct store *rollouts, *maintenances;
    bool no_orders; /* they may not be read */
    struct store *policies;
    bool no_policies; /* they may not be read, or there are none */
    struct store *replica_sets, *stateful_sets;
    bool no_owners;       /* they may not be read, or nobody needs them */
    struct store *events; /* or NULL */
    struct checks_read checks;
    bool checked; /* there is something that they look at */
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
    table_count(t, sn->pods, !sn->no_pods);
    table_count(t, sn->moves, !sn->no_pods);
    add_blockers(t, sn, r->opts->output.format.kind == OUTPUT_WIDE);
    table_time(t, n->meta.created);
    table_str(t, map_get(n->meta.labels, "topology.kubernetes.io/zone"));
    table_str(t, n->info.kubelet);
    table_str(t, n->info.kernel);
    table_str(t, n->info.boot_id);
}

/* --- one picture --- */

static bool wanted(void *arg, const struct node *node) {
    const struct status_run *r = arg;
    for (int i = 0; i < r->n_names; i++)
        if (streq(r->names[i], node->meta.name))
            return true;
    return r->n_names == 0;
}

/* Each node by itself. */
static void ask_checks(struct status_run *r, int64_t now, struct arena *arena, struct survey *s) {
    const char **going = arena_alloc(arena, (s->n + 1) * sizeof *going);
    struct check_request req = {.going = going, .n_going = s->n, .alone = true, .now = now};
    struct checks found;
    for (size_t i = 0; i < s->n; i++)
        going[i] = s->nodes[i].node->meta.name;
    checks_read_out(&r->checks, &req);
    checks_run(r->checks.world, &req, arena, &found);
    survey_check(s, &found, arena);
}

static void take(struct status_run *r, struct arena *arena, struct survey *out) {
    int64_t now = session_now(&r->session);
    struct budget_stores sets = {r->replica_sets, r->stateful_sets};
    struct budget_owners owners;
    budget_owners_init(&owners, r->pdbs, budget_look_stores, &sets);
    survey_take(r->nodes, r->pods, r->by_node, r->pdbs, r->no_owners ? NULL : &owners, wanted, r,
                now, arena, out);
    budget_owners_done(&owners);
    survey_lacks(out, r->no_pods, r->no_budgets);
    if (!r->no_locks)
        survey_locks(out, r->locks);
    if (!r->no_owners)
        survey_pins(out, r->pods, r->by_node, r->replica_sets, r->stateful_sets, arena);
    if (!r->no_namespaces)
        survey_namespaces(out, r->pods, r->by_node, r->namespaces, arena);
    if (r->events)
        survey_tell(out, r->events, arena);
    if (r->checked)
        ask_checks(r, now, arena, out);
}

/* What the drains at work have told: read only when there are any. */
static int read_events(struct status_run *r) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct survey s;
    bool missing = false;
    take(r, &arena, &s);
    if (!survey_wants_events(&s))
        return 0;
    struct store *events =
        session_feed(&r->session, &kind_event,
                     &(struct session_feed){.ns = "default",
                                            .field_selector = "involvedObject.kind=Node",
                                            .without = "what drains have told is not shown",
                                            .missing = &missing});
    int rc = session_sync(&r->session);
    if (!rc && !missing)
        r->events = events;
    return rc;
}

/* Which owners the pods of these nodes have that may name a node in their template: only these are
 * read, of one namespace where that is enough. */
struct wanted_owners {
    bool replica_sets, stateful_sets;
    const char *ns; /* of all of them; "": of several */
};

static struct wanted_owners find_owners(struct status_run *r) {
    struct wanted_owners w = {0};
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(r->pods, &i));) {
        const struct pod *pod = (const struct pod *)obj;
        const struct owner *o = meta_controller(&pod->meta);
        const struct node *node =
            pod->node_name ? (const struct node *)store_get(r->nodes, NULL, pod->node_name) : NULL;
        if (!o || !node || !wanted(r, node) || pod_role(pod) != POD_MOVES)
            continue;
        bool set = str_same(o->kind, "ReplicaSet"), stateful = str_same(o->kind, "StatefulSet");
        w.replica_sets |= set;
        w.stateful_sets |= stateful;
        if (set || stateful)
            w.ns = !w.ns || str_same(w.ns, pod->meta.ns) ? pod->meta.ns : "";
    }
    return w;
}

/* Once, also with -w: templates do not change often. */
static int read_owners(struct status_run *r) {
    struct wanted_owners w = find_owners(r);
    const struct session_feed feed = {.ns = str_empty(w.ns) ? NULL : w.ns,
                                      .without = "pods that are pinned to a node are not named",
                                      .missing = &r->no_owners};
    r->no_owners = !w.replica_sets && !w.stateful_sets;
    if (w.replica_sets)
        r->replica_sets = session_feed(&r->session, &kind_replica_set, &feed);
    if (w.stateful_sets)
        r->stateful_sets = session_feed(&r->session, &kind_stateful_set, &feed);
    return r->no_owners ? 0 : session_sync(&r->session);
}

/* Once as well: those that are being deleted, if a pod would have to go. */
static int read_namespaces(struct status_run *r) {
    const struct object *obj;
    r->no_namespaces = true;
    for (uint32_t i = 0; r->no_namespaces && (obj = store_next(r->pods, &i));) {
        enum pod_role role = pod_role((const struct pod *)obj);
        r->no_namespaces = role != POD_MOVES && role != POD_BARE;
    }
    if (r->no_namespaces)
        return 0;
    r->namespaces =
        session_feed(&r->session, &kind_namespace,
                     &(struct session_feed){.without = "namespaces that are being deleted are not "
                                                       "told apart",
                                            .missing = &r->no_namespaces});
    return session_sync(&r->session);
}

/* Where no controller has ever given a slot nothing that was ordered is under way. */
static int read_orders(struct status_run *r) {
    const struct session_feed feed = {
        .without = "what was ordered is not shown", .missing = &r->no_orders, .optional = true};
    if (r->no_maps || !store_len(r->maps))
        return 0;
    r->rollouts = session_feed(&r->session, &kind_rollout, &feed);
    r->maintenances = session_feed(&r->session, &kind_maintenance, &feed);
    return session_sync(&r->session);
}

/* Whoever may not read them has no use for being told so: most clusters have none, and are not
 * asked for them. */
static int read_policies(struct status_run *r) {
    if (!checks_feed_own(r->checks.feed))
        return 0;
    r->policies = session_feed(&r->session, &kind_policy,
                               &(struct session_feed){.silent = true, .missing = &r->no_policies});
    return session_sync(&r->session);
}

static void read_checks(struct status_run *r) {
    bool all = !r->n_names && !r->opts->output.selector;
    checks_read(&r->checks, &r->session,
                &(struct checks_read_opts){.nodes = all ? r->nodes : NULL,
                                           .pods = r->no_pods ? NULL : r->pods});
    r->checked = checks_feed_any(r->checks.feed);
}

/* Documents that follow each other in one stream. */
static int emit(struct status_run *r, const struct str *json) {
    struct cli *cli = r->session.cli;
    if (r->emitted && r->opts->output.format.kind == OUTPUT_YAML)
        term_printf(&cli->out, "---\n");
    r->emitted = true;
    return cli_print_document(cli, json, &r->opts->output.format, r->opts->output.no_headers);
}

/* `view` is NULL where only nodes that have changed are told. */
static int print_document(struct status_run *r, const struct survey *s,
                          const struct status_view *view, struct arena *arena) {
    _cleanup_str_ struct str json = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &json, true);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "schema", SCHEMA);
    if (view)
        status_write_sum(&w, view);
    jsonw_kbegin(&w, "items", '[');
    for (size_t i = 0; i < s->n; i++)
        status_write_node(&w, &s->nodes[i], arena);
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

/* Sections for people; the rows alone where a program or somebody who waits for changes reads. */
static bool wants_sections(const struct status_run *r) {
    return r->opts->output.format.kind == OUTPUT_TABLE && !r->opts->output.watch;
}

static int print_sections(struct status_run *r, const struct status_view *view) {
    struct cli *cli = r->session.cli;
    bool rows = r->n_names || r->opts->details & DETAILS_NODES;
    _cleanup_str_ struct str text = STR_INIT;
    if (rows) {
        table_fold(r->table);
        table_text(r->table,
                   &(struct table_view){
                       .columns = cli->out.tty ? MAX_OF(cli->out.columns - STATUS_INDENT, 1) : 0,
                       .no_headers = r->opts->output.no_headers,
                       .absolute = r->opts->output.utc,
                       .color = cli->out.color,
                       .glyphs = cli->out.tty,
                       .utf8 = cli->out.utf8,
                       .now = view->now},
                   &text);
    }
    status_text(view, rows ? &text : NULL, &cli->out);
    return EXIT_DONE;
}

/* Where there is no section for it. */
static void tell_warnings(struct status_run *r, const struct stops *stops,
                          const struct idle_policies *idle) {
    for (size_t i = 0; i < stops->n; i++) {
        _cleanup_str_ struct str text = STR_INIT;
        stops_text(&stops->rows[i], r->session.cli->prog, session_now(&r->session), &text);
        cli_note(r->session.cli, "%s", str_get(&text));
    }
    for (size_t i = 0; i < idle->n; i++) {
        _cleanup_str_ struct str text = STR_INIT;
        not_in_force_text(&idle->rows[i], &text);
        cli_note(r->session.cli, "%s", str_get(&text));
    }
}

static int print_all(struct status_run *r) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct survey s;
    struct survey_sum sum;
    struct stops stops;
    struct orders orders = {0};
    struct idle_policies idle = {0};
    take(r, &arena, &s);
    survey_sum(&s, &arena, &sum);
    stops_take(r->maps, &arena, &stops);
    if (r->rollouts)
        orders_take(r->rollouts, r->maintenances, &arena, &orders);
    bool known = r->policies && !r->no_policies;
    if (known)
        not_in_force_take(r->policies, r->session.cli->prog, session_now(&r->session), &arena,
                          &idle);
    struct status_view view = {.survey = &s,
                               .sum = &sum,
                               .stops = r->no_maps ? NULL : &stops,
                               .orders = r->no_orders ? NULL : &orders,
                               .idle = known ? &idle : NULL,
                               .prog = r->session.cli->prog,
                               .details = (unsigned)r->opts->details,
                               .utc = r->opts->output.utc,
                               .now = session_now(&r->session)};
    if (output_is_document(&r->opts->output.format))
        return print_document(r, &s, &view, &arena);
    for (size_t i = 0; i < s.n; i++)
        add_row(r, &s.nodes[i], &arena);
    if (!s.n || !wants_sections(r))
        tell_warnings(r, &stops, &idle);
    if (!s.n) {
        if (!r->n_names)
            cli_note(r->session.cli, "No nodes found");
        return EXIT_DONE;
    }
    return wants_sections(r) ? print_sections(r, &view)
                             : cli_print_table(r->session.cli, r->table, &r->opts->output,
                                               session_now(&r->session));
}

/* Deployments of these nodes that a drain with --surge has in hand, or has left behind. */
static void tell_leftovers(struct status_run *r) {
    struct leftovers l;
    bool cordoned = false;
    const struct object *obj;
    for (uint32_t i = 0; !cordoned && (obj = store_next(r->nodes, &i));) {
        const struct node *node = (const struct node *)obj;
        cordoned = node->unschedulable && wanted(r, node);
    }
    if (!cordoned) /* a drain that was killed has left its node so; doctor looks at all */
        return;
    leftovers_read(&r->session, &l);
    for (size_t i = 0; i < l.n; i++) {
        const struct object *node = store_get(r->nodes, NULL, l.list[i].record.node);
        if (r->n_names && !(node && wanted(r, (const struct node *)node)))
            continue;
        _cleanup_str_ struct str text = STR_INIT;
        leftover_text(&l.list[i], &text);
        cli_note(r->session.cli, "%s: it is still at work, or was ended before it was done",
                 str_get(&text));
    }
    leftovers_done(&l);
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
    status_write_node(&w, sn, arena);
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
        cli_print_table(cli, r->table, &o, session_now(&r->session));
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
        print_document(r, &changed, NULL, &arena);
    else if (changed.n)
        cli_print_table(cli, r->table, &o, session_now(&r->session));
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

static void on_lock(void *arg, const struct object *before, const struct object *after) {
    if (rival_lock_changed(before, after))
        on_change(arg, before, after);
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
    store_listen(r->locks, on_lock, r);
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
                           &(struct session_feed){.field_selector = node,
                                                  .watch = live,
                                                  .without = "how many there are, and what is in "
                                                             "the way because of them, is not "
                                                             "shown",
                                                  .missing = &r->no_pods});
    r->budgets = session_feed(&r->session, &kind_pdb,
                              &(struct session_feed){.watch = live,
                                                     .without = "which pods they keep is not shown",
                                                     .missing = &r->no_budgets});
    r->maps = session_feed(&r->session, &kind_config_map,
                           &(struct session_feed){.label_selector = SLOTS_LABEL,
                                                  .without = "whether everything is paused is "
                                                             "not shown",
                                                  .missing = &r->no_maps});
    r->locks = session_feed(&r->session, &kind_kured_lock,
                            &(struct session_feed){.watch = live,
                                                   .without = "whether kured is at work is known "
                                                              "from its marks on nodes alone",
                                                   .missing = &r->no_locks});
    r->by_node = store_index(r->pods, store_key_node);
    r->pdbs = pdbs_new(r->pods, r->budgets);
    r->table = table_new(columns, ARRAY_LEN(columns));
    int rc = session_sync(&r->session);
    if (!rc)
        rc = read_owners(r);
    if (!rc)
        rc = read_namespaces(r);
    if (!rc && !live)
        rc = read_orders(r);
    if (!rc && !live)
        rc = read_events(r);
    if (!rc && !live)
        read_checks(r);
    if (!rc && !live)
        rc = read_policies(r);
    if (!rc)
        rc = report_missing(r, print_all(r));
    if (!rc)
        tell_leftovers(r);
    if (!rc && live)
        rc = watch(r);
    checks_read_done(&r->checks);
    pdbs_free(r->pdbs);
    table_free(r->table);
    return rc;
}

static int run(struct cli *cli, int argc, char **argv) {
    struct status_opts *opts = cli->opts;
    struct status_run r = {
        .opts = opts, .n_names = argc, .names = argv, .checks = CHECKS_READ_INIT};
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

static const char *const details_words[] = {"none", "nodes", "health", "all", NULL};

static int parse_details(const char *text, struct arena *arena, void *field, struct err *err) {
    static const enum status_detail values[] = {DETAILS_NONE, DETAILS_NODES, DETAILS_HEALTH,
                                                DETAILS_ALL};
    (void)arena;
    for (size_t i = 0; details_words[i]; i++)
        if (streq(text, details_words[i])) {
            *(int *)field = (int)values[i];
            return 0;
        }
    return err_set(err, -EINVAL, "\"%s\" is none of none, nodes, health and all", text);
}

static const struct option_group own_options = {
    "Options",
    (const struct option[]){
        {.name = "details",
         .kind = OPTION_PARSED,
         .offset = offsetof(struct status_opts, details),
         .arg = "WHAT",
         .words = details_words,
         .hint = HINT_WORDS,
         .parse = parse_details,
         .help = "Show more: nodes (a row for each), health (every blocker, and what to do), all"},
        {0}}};

const struct verb verb_status = {
    .name = "status",
    .summary = "Show what is going on, what blocks and who holds nodes",
    .args = "[NODE...]",
    .text =
        "What is going on, in this order: that everything is paused, if it is, and Policies that "
        "are not in force; a sentence (what is "
        "being drained, is it well); what is "
        "in the way, or would be if a node were drained now; the drains at work by who runs them; "
        "the nodes that are not idle, equal ones together; who holds nodes cordoned; which checks "
        "of storage, databases and quorums hold a drain back; what a drain that was killed may "
        "have left behind, with the command that takes it away. What is empty is left out. When "
        "nothing is going on: nodes that wait for a reboot, and what to do next. Nothing is "
        "changed.\n"
        "\n"
        "With node names, --details=nodes, -o wide or -w there is a row for each node: whether it "
        "is Ready and cordoned, HELD BY whom (the holders that {prog} recorded when it cordoned "
        "the node, cluster-autoscaler or karpenter by their taints, and \"somebody else\" for a "
        "cordon without a mark, such as kubectl's), its pods, those that a drain would MOVE, and "
        "what blocks. Deployments that a drain with --surge has given one replica more, and has "
        "not taken it back, are named on standard error.\n"
        "\n"
        "With -w the rows are followed by a line for each node that changes.",
    .examples = {{"The whole cluster on one screen", "status"},
                 {"Two nodes with everything that is known", "status w1 w2 -o wide"},
                 {"Watch the nodes of a zone", "status -l topology.kubernetes.io/zone=a -w"}},
    .options =
        (const struct verb_options[]){
            {&own_options, 0},
            {&output_options, offsetof(struct status_opts, output)},
            {&connection_options, offsetof(struct status_opts, connection)},
            {0}},
    .opts_size = sizeof(struct status_opts),
    .max_args = -1,
    .arg_hint = HINT_NODE,
    .exits = (const enum exit_code[]){EXIT_ACCESS, EXIT_SIGINT, EXIT_SIGTERM, 0},
    .see_also = (const char *const[]){"doctor", "why", NULL},
    .common = true,
    .run = run,
};
