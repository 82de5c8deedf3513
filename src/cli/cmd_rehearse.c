/* The verb `rehearse`: tries a drain on a copy of the cluster. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/drain_args.h"
#include "cli/history.h"
#include "cli/rehearse_many.h"
#include "cli/rehearse_view.h"
#include "cli/selected.h"
#include "cli/snapshot_load.h"
#include "cli/snapshot_take.h"
#include "cli/verb.h"
#include "model/selector.h"
#include "sim/fleet/fleet.h"

enum {
    RUNS_MAX = 1000,
    MISSING_SHOWN = 5,
};
#define TELL_EVERY SEC(2) /* how far it has come, when it takes long */

struct rehearse_flags {
    struct drain_flags drain;
    struct document_opts output;
    const char *snapshot;
    int runs, seed;
};

struct rehearse {
    struct cli *cli;
    const struct rehearse_flags *opts;
    struct snapshot_reader *file;
    struct habits *habits;
    struct lags lags;
    struct drain_args args;
    struct rehearsal *runs;
    size_t n_runs;
    struct rehearse_basis basis;
};

/* --- the copy --- */

/* Into memory: nobody asked for a file. */
static int read_cluster(struct rehearse *r) {
    struct cli *cli = r->cli;
    struct session session;
    struct snapshot_taken taken;
    _cleanup_err_ struct err err = ERR_INIT;
    int fd = memfd_create("slipway-snapshot", MFD_CLOEXEC);
    if (fd < 0)
        return cli_fail(cli, EXIT_FAILED, "there is no memory for a copy of the cluster: %s",
                        strerror(errno));
    int rc = session_open(cli, &r->opts->drain.connection, &session);
    if (rc) {
        (void)close(fd);
        return rc;
    }
    struct snapshot_writer *w = snapshot_writer_new(dup(fd), true);
    rc = snapshot_take(&session, w, "the copy of the cluster", &taken);
    snapshot_writer_free(w);
    session_close(&session);
    if (rc)
        (void)close(fd);
    else if (snapshot_reader_adopt(fd, "the copy of the cluster", &r->file, &err))
        rc = cli_error(cli, &err);
    r->basis.source = "cluster";
    return rc;
}

static int open_source(struct rehearse *r) {
    _cleanup_err_ struct err err = ERR_INIT;
    if (!r->opts->snapshot)
        return read_cluster(r);
    r->basis.source = r->opts->snapshot;
    return snapshot_reader_open(r->opts->snapshot, &r->file, &err) ? cli_error(r->cli, &err) : 0;
}

/* --- which nodes --- */

static int find_names(struct rehearse *r, const struct fleet *f) {
    size_t missing = 0;
    for (size_t i = 0; i < r->args.target.names.len; i++) {
        const char *name = r->args.target.names.p[i];
        if (shelf_get(f->nodes->shelf, NULL, name))
            continue;
        if (missing++ < MISSING_SHOWN)
            cli_refuse(r->cli, EXIT_FAILED, "Error from server (NotFound): nodes \"%s\" not found",
                       name);
    }
    if (missing > MISSING_SHOWN)
        return cli_fail(r->cli, EXIT_FAILED, "and %zu more nodes do not exist",
                        missing - MISSING_SHOWN);
    return missing ? EXIT_FAILED : 0;
}

static int select_nodes(struct rehearse *r, const struct fleet *f) {
    _cleanup_selector_ struct selector selector = {0};
    _cleanup_err_ struct err err = ERR_INIT;
    if (selector_parse(r->args.target.selector, &selector, &err))
        return cli_usage(r->cli, "--selector: %s", err_msg(&err));
    struct snapshot *snap = shelf_snapshot(f->nodes->shelf);
    struct selected selected;
    selected_init(&selected, r->args.target.selector, r->args.target.control_plane);
    for (size_t i = 0; i < snap->n; i++) {
        const struct meta *m = &snap->items[i]->obj->meta;
        if (requirements_match(selector.list, m->labels) &&
            selected_takes(&selected, (const struct node *)snap->items[i]->obj))
            *vec_push(&r->args.target.names) =
                arena_strndup(&r->cli->arena, m->name, strlen(m->name));
    }
    selected_end(&selected, r->cli);
    snapshot_unref(snap);
    return 0;
}

/* --- runs --- */

/* Everything is a rehearsal here, so nothing needs to be a dry run. */
static void fill(const struct rehearse *r, struct drain_opts *out) {
    drain_args_opts(&r->opts->drain, &r->args, out);
    out->dry_run = DRY_RUN_NONE;
    out->keep_record = true;
    out->holder = (struct cordon_holder){
        .id = "rehearsal", .by = "rehearsal", .reason = strna(r->opts->drain.target.reason)};
}

struct progress_of {
    struct rehearse *r;
    struct loop *clock; /* NULL: nothing is told */
    int64_t told;
};

static void on_run(void *arg, size_t done) {
    struct progress_of *p = arg;
    size_t runs = (size_t)p->r->opts->runs;
    if (!p->clock || done == runs || loop_now(p->clock) - p->told < TELL_EVERY)
        return;
    p->told = loop_now(p->clock);
    cli_note(p->r->cli, "%zu of %zu runs", done, runs);
}

/* What a copy does not have because nobody read it is not what the cluster does not have. */
static void find_unread(struct rehearse *r, const char **out) {
    const json_t *list = json_object_get(snapshot_reader_tail(r->file), "unread");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *u = json_array_get(list, i);
        size_t source = rehearse_source(strna(json_str(u, "resource")));
        if (source < CHECK_SOURCES)
            out[source] = strna(json_str(u, "why"));
    }
}

static int run_all(struct rehearse *r, struct sim *sim) {
    _cleanup_err_ struct err err = ERR_INIT;
    const char *unread[CHECK_SOURCES] = {0};
    find_unread(r, unread);
    struct drain_opts drain;
    struct rehearse_drawn drawn;
    struct progress_of progress = {.r = r};
    (void)loop_new(&progress.clock, NULL);
    progress.told = progress.clock ? loop_now(progress.clock) : 0;
    fill(r, &drain);
    struct rehearse_many many = {
        .sim = sim,
        .habits = r->habits,
        .opts = {.drain = &drain,
                 .names = r->args.target.names.p,
                 .n_names = r->args.target.names.len,
                 .selected = r->args.target.selector != NULL,
                 .seed = (uint64_t)r->opts->seed,
                 .lags = &r->lags,
                 .unread = unread},
        .runs = (size_t)r->opts->runs,
        .told = on_run,
        .arg = &progress,
    };
    r->runs = xcalloc(many.runs, sizeof *r->runs);
    int rc = rehearse_many(&many, r->runs, &drawn, &err) ? cli_error(r->cli, &err) : 0;
    r->n_runs = rc ? 0 : many.runs;
    r->basis.start = drawn.start;
    r->basis.stop = drawn.stop;
    loop_free(progress.clock);
    return rc;
}

static int rehearse(struct rehearse *r) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct sim *sim;
    uint64_t seed = (uint64_t)r->opts->seed;
    if (snapshot_load(r->file, &(struct sim_options){.seed = seed, .speed = 1}, r->habits, true,
                      &sim, &r->basis.gaps, &err))
        return cli_error(r->cli, &err);
    const struct fleet *f = sim_fleet(sim);
    r->basis.nodes = shelf_len(f->nodes->shelf);
    r->basis.pods = shelf_len(f->pods->shelf);
    int rc = r->args.target.selector ? select_nodes(r, f) : find_names(r, f);
    if (!rc && r->args.target.names.len) {
        r->basis.n_assumed = rehearse_assumed(f, (const char *const *)r->args.target.names.p,
                                              r->args.target.names.len, r->args.rules,
                                              &r->cli->arena, &r->basis.assumed);
        rc = run_all(r, sim);
    }
    sim_free(sim);
    return rc;
}

/* --- the end --- */

static int show(struct rehearse *r) {
    struct cli *cli = r->cli;
    struct rehearse_sum sum;
    const struct output_format *format = &r->opts->output.format;
    rehearse_sum(r->runs, r->n_runs, &cli->arena, &sum);
    r->basis.taken = snapshot_reader_head(r->file)->taken;
    r->basis.unread = json_object_get(snapshot_reader_tail(r->file), "unread");
    if (output_is_document(format) || r->opts->drain.json) {
        _cleanup_str_ struct str json = STR_INIT;
        rehearse_json(&sum, r->runs, &r->basis, &json);
        static const struct output_format plain = {.kind = OUTPUT_JSON};
        int rc =
            cli_print_document(cli, &json, output_is_document(format) ? format : &plain, false);
        return rc ? rc : sum.code;
    }
    struct screen screen = {.columns = cli->out.columns,
                            .rows = cli->out.rows,
                            .color = cli->out.color,
                            .utf8 = cli->out.utf8};
    rehearse_text(&sum, &r->basis, &screen, &cli->out.buf);
    return sum.code;
}

static int read_words(struct rehearse *r, int argc, char **argv) {
    const struct rehearse_flags *o = r->opts;
    int rc = drain_args_parse(r->cli, &o->drain, argc, argv, &r->args);
    if (rc) {
        r->args = (struct drain_args){0}; /* nothing of it is left */
        return rc;
    }
    if (o->drain.target.dry_run != DRY_RUN_NONE)
        cli_note(r->cli, "--dry-run changes nothing: a rehearsal writes nothing to the cluster");
    struct history_seen seen = {0};
    rc = history_load(r->cli, o->drain.history, r->habits, &r->lags, &seen);
    r->basis.observed = seen.observations;
    r->basis.ups = seen.ups;
    r->basis.lags = lags_basis(&r->lags);
    return rc;
}

static int run(struct cli *cli, int argc, char **argv) {
    struct rehearse r = {.cli = cli, .opts = cli->opts, .habits = habits_new()};
    int rc = read_words(&r, argc, argv);
    if (!rc)
        rc = open_source(&r);
    if (!rc)
        rc = rehearse(&r);
    if (!rc && !r.args.target.names.len) /* as in drain and plan, that is nothing to do */
        cli_note(cli, "No nodes found");
    else if (!rc)
        rc = show(&r);
    for (size_t i = 0; i < r.n_runs; i++)
        rehearsal_done(&r.runs[i]);
    free(r.runs);
    snapshot_reader_free(r.file);
    drain_args_done(&r.args);
    habits_free(r.habits);
    lags_done(&r.lags);
    return rc;
}

#define FIELD(member) offsetof(struct rehearse_flags, member)
static const struct option_group own_options = {
    "Options",
    (const struct option[]){
        {.name = "runs",
         .kind = OPTION_INT,
         .offset = FIELD(runs),
         .arg = "N",
         .initial = "10",
         .min = 1,
         .max = RUNS_MAX,
         .help = "How often it is tried, each time with other chances"},
        {.name = "seed",
         .kind = OPTION_INT,
         .offset = FIELD(seed),
         .arg = "NUMBER",
         .initial = "1",
         .min = 0,
         .max = 1000000000,
         .help =
             "Where the chances of the first run come from; the second has the next number. The "
             "same seeds on the same snapshot give the same result"},
        {.name = "snapshot",
         .kind = OPTION_STRING,
         .offset = FIELD(snapshot),
         .arg = "FILE",
         .hint = HINT_FILE,
         .help = "Use what 'snapshot --out FILE' has written instead of reading the cluster"},
        {0}}};
#undef FIELD

const struct verb verb_rehearse = {
    .name = "rehearse",
    .summary = "Try a drain on a copy of the cluster, in no time",
    .args = "NODE...|-l SELECTOR",
    .text =
        "Reads the cluster once (or a snapshot of it), puts it up again as a simulated one in this "
        "process, and lets the real drain loose on that, with a clock that jumps. Says how long it "
        "would take, in which order the nodes would go, what it would wait for, which budgets "
        "would be "
        "closest to the edge, what would stay undrained, and what would have no node afterwards. "
        "Nothing is written to the cluster.\n\n"
        "The flags are those of drain and mean the same. Chance plays a part (when pods start and "
        "end, "
        "where they are put), so it is tried several times: the middle duration (p50) is shown "
        "with "
        "those that one run in ten stays below (p10) or goes beyond (p90).\n\n"
        "How long pods take to start is seen from those that run, or comes from earlier drains "
        "(--history). How long they take to end comes from those alone, or is assumed, and said "
        "so. The checks of storage and quorums are obeyed, but nobody rebuilds or moves anything "
        "in the copy: what such a check waits for does not end there. What else it does not have "
        "or does not do is described in docs/rehearse.md.",
    .examples = {{"What would happen if three nodes were drained now", "rehearse 'w[1-3]'"},
                 {"One after another, on a snapshot, fifty times",
                  "rehearse 'w[1-3]' --parallel 1 --snapshot c.json.gz --runs 50"},
                 {"With what earlier drains have seen, for a program",
                  "rehearse -l pool=blue --history h.ndjson -o json"}},
    .options =
        (const struct verb_options[]){
            {&own_options, 0},
            {&document_options, offsetof(struct rehearse_flags, output)},
            {&target_options, offsetof(struct rehearse_flags, drain.target)},
            {&drain_kubectl_options, offsetof(struct rehearse_flags, drain)},
            {&drain_own_options, offsetof(struct rehearse_flags, drain)},
            {&drain_history_options, offsetof(struct rehearse_flags, drain)},
            {&connection_options, offsetof(struct rehearse_flags, drain.connection)},
            {0}},
    .opts_size = sizeof(struct rehearse_flags),
    .answers = true,
    .min_args = 0,
    .max_args = -1,
    .arg_hint = HINT_NODE,
    .exits = (const enum exit_code[]){EXIT_BLOCKED, EXIT_ACCESS, EXIT_REFUSED, EXIT_PARTIAL,
                                      EXIT_SIGINT, EXIT_SIGTERM, 0},
    .see_also = (const char *const[]){"drain", "snapshot", NULL},
    .run = run,
};
