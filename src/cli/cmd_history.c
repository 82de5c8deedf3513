/* The verb `history`: Maintenances that are over, and those under way, and how long each took. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/journal.h"
#include "cli/session.h"
#include "cli/target.h"
#include "cli/verb.h"
#include "engine/maintenance.h"

/* The name of the document that -o json and the like are made from. */
#define SCHEMA "slipway.history/1.0"

struct history_opts {
    struct connection_opts connection;
    struct output_opts output;
};

static const struct table_column columns[] = {
    {"NODE", false}, {"OPERATION", false}, {"STATE", false}, {"BEGAN", false},  {"TOOK", false},
    {"WHY", false},  {"PHASES", false},    {"NAME", true},   {"ROLLOUT", true}, {"POLICY", true},
};

static enum state mood_of(enum maint_phase phase) {
    return phase == MAINT_COMPLETE ? STATE_GOOD
           : phase == MAINT_FAILED ? STATE_BAD
           : maint_ended(phase)    ? STATE_NONE
           : phase == MAINT_HALTED ? STATE_WARN
                                   : STATE_BUSY;
}

static const char *rollout_of(const struct maintenance *m) {
    const struct owner *o = meta_controller(&m->meta);
    return o && str_same(o->kind, kind_rollout.name) ? o->name : NULL;
}

static void add_row(struct table *t, const struct maintenance *m, int64_t now,
                    struct arena *arena) {
    enum maint_phase phase = maint_phase_find(m->phase);
    int64_t ended = journal_ended(m);
    char took[TIMEFMT_LEN];
    _cleanup_str_ struct str text = STR_INIT;
    journal_text(m, now, &text);
    table_row(t, arena_printf(arena, "maintenance/%s", m->meta.name));
    table_str(t, m->node);
    table_str(t, m->operation);
    table_state(t, mood_of(phase), maint_phases[phase].word);
    table_time(t, m->meta.created);
    table_str(t, duration_format((ended ? ended : now) - m->meta.created, took));
    table_str(t, m->reason);
    table_str(t, str_get(&text));
    table_str(t, m->meta.name);
    table_str(t, rollout_of(m));
    table_str(t, m->policy);
}

static void write_item(struct jsonw *w, const struct maintenance *m, int64_t now) {
    int64_t ended = journal_ended(m);
    char at[TIMEFMT_LEN];
    jsonw_begin(w, '{');
    jsonw_kstr(w, "name", m->meta.name);
    jsonw_kopt(w, "node", m->node);
    jsonw_kopt(w, "operation", m->operation);
    jsonw_kstr(w, "phase", maint_phases[maint_phase_find(m->phase)].word);
    jsonw_kopt(w, "phaseReason", m->phase_reason);
    jsonw_kopt(w, "reason", m->reason);
    jsonw_kopt(w, "rollout", rollout_of(m));
    jsonw_kopt(w, "policy", m->policy);
    jsonw_kstr(w, "began", time_format(m->meta.created, false, at));
    if (ended)
        jsonw_kstr(w, "ended", time_format(ended, false, at));
    jsonw_kint(w, "seconds", MAX_OF((ended ? ended : now) - m->meta.created, 0) / USEC_PER_SEC);
    jsonw_kopt(w, "bootBefore", m->boot_before);
    jsonw_kopt(w, "bootAfter", m->boot_after);
    journal_write(w, m, now);
    jsonw_end(w);
}

static int newest_first(const void *a, const void *b) {
    const struct object *x = *(const struct object *const *)a,
                        *y = *(const struct object *const *)b;
    if (x->meta.created != y->meta.created)
        return x->meta.created < y->meta.created ? 1 : -1;
    return strcmp(x->meta.name, y->meta.name);
}

static bool wanted(const struct target *target, const struct maintenance *m) {
    for (size_t i = 0; i < target->names.len; i++)
        if (str_same(m->node, target->names.p[i]))
            return true;
    return !target->names.len;
}

static int print_document(struct cli *cli, const struct output_opts *o,
                          const struct object *const *list, size_t n, int64_t now) {
    _cleanup_str_ struct str json = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &json, true);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "schema", SCHEMA);
    jsonw_kbegin(&w, "items", '[');
    for (size_t i = 0; i < n; i++)
        write_item(&w, (const struct maintenance *)list[i], now);
    jsonw_end(&w);
    jsonw_end(&w);
    return cli_print_document(cli, &json, &o->format, o->no_headers);
}

static int print(const struct session *s, const struct output_opts *o, const struct store *store,
                 const struct target *target) {
    struct cli *cli = s->cli;
    int64_t now = session_now(s);
    size_t all = 0, n = 0;
    _cleanup_free_ const struct object **list = store_sorted(store, &all);
    for (size_t i = 0; i < all; i++)
        if (wanted(target, (const struct maintenance *)list[i]))
            list[n++] = list[i];
    if (n)
        qsort(list, n, sizeof(struct object *), newest_first);
    if (output_is_document(&o->format))
        return print_document(cli, o, list, n, now);
    if (!n) {
        cli_note(cli, "There are no Maintenances%s", target->names.len ? " of these nodes" : "");
        return EXIT_DONE;
    }
    _cleanup_table_ struct table *t = table_new(columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < n; i++)
        add_row(t, (const struct maintenance *)list[i], now, &cli->arena);
    return cli_print_table(cli, t, o, now);
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct history_opts *o = cli->opts;
    struct target target = {0};
    struct session s;
    bool missing = false;
    if (o->output.watch || o->output.selector)
        return cli_usage(cli, "history has neither -w nor -l");
    int rc = argc ? target_parse(cli, &(struct target_opts){0}, argc, argv, &target) : 0;
    if (!rc)
        rc = session_open(cli, &o->connection, &s);
    if (!rc) {
        const struct store *store = session_feed(
            &s, &kind_maintenance,
            &(struct session_feed){
                .without = "there is nothing to show", .missing = &missing, .optional = true});
        rc = session_sync(&s);
        if (!rc)
            rc = missing ? EXIT_ACCESS : print(&s, &o->output, store, &target);
        session_close(&s);
    }
    target_forget(&target);
    return rc;
}

const struct verb verb_history = {
    .name = "history",
    .summary = "Show maintenances, newest first, and how long they took",
    .args = "[NODE...]",
    .text =
        "A row for each Maintenance that is over or under way, of all nodes or of those named, the "
        "newest first: what was done, how it ended, and how long each phase took, from its "
        "journal. Phases of less than a second are left out.\n"
        "\n"
        "There is no other memory than the objects: what was deleted is not shown, those of a "
        "Rollout that was deleted among it.",
    .examples = {{"What was done lately", "history"},
                 {"One node, with the rollout it was part of", "history w1 -o wide"},
                 {"For a program", "history -o json"}},
    .options =
        (const struct verb_options[]){
            {&output_options, offsetof(struct history_opts, output)},
            {&connection_options, offsetof(struct history_opts, connection)},
            {0}},
    .opts_size = sizeof(struct history_opts),
    .max_args = -1,
    .arg_hint = HINT_NODE,
    .exits = (const enum exit_code[]){EXIT_ACCESS, 0},
    .see_also = (const char *const[]){"rollout", "locks", NULL},
    .run = run,
};
