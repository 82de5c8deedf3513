/* The verb `plan`: what a drain would do, before anything is touched. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "cli/history.h"
#include "cli/plan_read.h"
#include "cli/plan_server.h"
#include "cli/verb.h"

struct plan_opts {
    struct drain_flags drain; /* first */
    struct document_opts output;
    const char *out;
    bool detailed;
};

static int show(struct cli *cli, const struct plan_opts *o, const struct plan_shown *shown) {
    _cleanup_str_ struct str json = STR_INIT;
    if (o->out || output_is_document(&o->output.format))
        plan_document(shown, &json);
    if (o->out) {
        _cleanup_err_ struct err err = ERR_INIT;
        _cleanup_str_ struct str text = STR_INIT;
        str_addf(&text, "%s\n", str_get(&json));
        if (file_write(o->out, str_get(&text), text.len, &err))
            return cli_fail(cli, EXIT_FAILED, "--out: %s", err_msg(&err));
    }
    if (output_is_document(&o->output.format))
        return cli_print_document(cli, &json, &o->output.format, false);
    struct screen screen = {.columns = cli->out.tty ? cli->out.columns : 100,
                            .rows = cli->out.tty ? MAX_OF(cli->out.rows, 1) : 0,
                            .color = cli->out.color,
                            .utf8 = cli->out.utf8};
    plan_text(shown, &screen, &cli->out.buf);
    return EXIT_DONE;
}

static int code_of(const struct plan_opts *o, const struct plan *p) {
    bool bad = false;
    for (size_t i = 0; i < p->n; i++)
        bad |= p->nodes[i].verdict >= PLAN_HOMELESS || p->nodes[i].blocker.message;
    if (!o->detailed)
        return EXIT_DONE;
    return bad ? EXIT_BLOCKED : p->n ? EXIT_CHANGES : EXIT_DONE;
}

/* `plan drian w1`: there is no node of that name, and the other word that may stand there is near.
 */
static void advise_verb(struct cli *cli, const struct drain_args *args) {
    static const char *const words[] = {"drain"};
    const char *first = args->target.names.len > 1 ? args->target.names.p[0] : NULL;
    if (first && !args->target.nodes.p[0] && suggest_nearest(first, words, ARRAY_LEN(words)))
        cli_advise(cli, "Did you mean '%s plan drain'?", cli->prog);
}

static int plan_with(struct cli *cli, struct drain_args *args) {
    const struct plan_opts *o = cli->opts;
    struct drain_args_list flags = VEC_INIT;
    struct planning_run r;
    struct history_seen seen;
    struct habits *past = o->drain.history ? habits_new() : NULL;
    int rc = history_load(cli, o->drain.history, past, NULL, &seen);
    if (rc) {
        habits_free(past);
        return rc;
    }
    rc = planning_make(cli, &o->drain, args, false, past, &r);
    if (rc == EXIT_FAILED)
        advise_verb(cli, args);
    if (!rc && o->drain.target.dry_run == DRY_RUN_SERVER)
        rc = plan_ask_server(&r.session, &r.opts, &r.plan, &r.arena);
    struct drain_flags given = o->drain;
    if (!rc && r.plan.adopted_limit)
        given.parallel = (int)r.plan.adopted_limit;
    drain_args_words(&given, &flags);
    if (!rc && !args->target.names.len)
        cli_note(cli, "No nodes found");
    else if (!rc)
        rc = show(cli, o,
                  &(struct plan_shown){.plan = &r.plan,
                                       .cluster = r.session.conn.config->server,
                                       .flags = flags.p,
                                       .n_flags = flags.len,
                                       .unread = r.picture.unread,
                                       .n_unread = r.picture.n_unread,
                                       .rules = args->rules_id,
                                       .saved = o->out,
                                       .wide = o->output.format.kind == OUTPUT_WIDE,
                                       .asked = o->drain.target.dry_run == DRY_RUN_SERVER,
                                       .now = r.now});
    rc = rc ? rc : code_of(o, &r.plan);
    drain_args_list_done(&flags);
    planning_done(&r, args);
    habits_free(past);
    return rc;
}

/* Where the words go as well: the one would be in the middle of the other. */
static bool is_printed(const char *path) {
    return streq(path, "-") || streq(path, "/dev/stdout") || streq(path, "/dev/stderr");
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct plan_opts *o = cli->opts;
    struct drain_args args;
    if (argc && streq(argv[0], "drain")) {
        argc--;
        argv++;
    }
    if (o->out && is_printed(o->out))
        return cli_usage(cli, "--out wants a file; -o json prints the plan");
    if (o->out && o->drain.rules && streq(o->drain.rules, "-"))
        return cli_fail(cli, EXIT_USAGE,
                        "--rules - and --out: whoever applies the plan needs the rules in a file");
    int rc = drain_args_parse(cli, &o->drain, argc, argv, &args);
    if (rc)
        return rc;
    rc = args.target.doubt ? cli_usage(cli, "%s", args.target.doubt) : plan_with(cli, &args);
    drain_args_done(&args);
    return rc;
}

static const struct option plan_rows[] = {
    {.name = "out",
     .kind = OPTION_STRING,
     .offset = offsetof(struct plan_opts, out),
     .arg = "FILE",
     .hint = HINT_FILE,
     .filled = true,
     .help = "Save the plan to FILE as well, as -o json prints it"},
    {.name = "detailed-exitcode",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct plan_opts, detailed),
     .help = "End with 2 when all nodes can be drained, with 3 when something is in the way"},
    {.name = "server",
     .kind = OPTION_PARSED,
     .offset = offsetof(struct plan_opts, drain.target.dry_run),
     .implied = "server",
     .bare_unless = connection_is_address,
     .parse = target_parse_dry_run,
     .help =
         "Check each eviction with the dry run of the API server, as --dry-run=server does. With "
         "an address (a URL or HOST:PORT) after it, it says which server"},
    {0},
};
static const struct option_group plan_options = {"Flags of the plan", plan_rows};

static const struct option output_rows[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_PARSED,
     .offset = offsetof(struct document_opts, format),
     .arg = "FORMAT",
     .words = output_text_words,
     .hint = HINT_WORDS,
     .parse = output_parse_text,
     .help = "Format: wide (with each pod that shall go, and where to), json, yaml or "
             "jsonpath=TEMPLATE"},
    {0},
};
static const struct option_group plan_output = {"Output options", output_rows};

const struct verb verb_plan = {
    .name = "plan",
    .summary = "Say what a drain would do, before anything is touched",
    .args = "[drain] NODE...|-l SELECTOR",
    .text =
        "Takes the words and flags of {prog} drain, reads the cluster and plays the drain through: "
        "which pods go (with -o wide each of them, and where to), which wait and for what, which "
        "never can and why; in which "
        "order the nodes go, and how long that takes beside the shortest time in which it could be "
        "done. Nothing is changed.\n"
        "\n"
        "A pod goes; waits for its budget; has no room elsewhere, so that its replacement stays "
        "Pending; waits for something that nobody can tell the end of; or never goes unless "
        "somebody helps. Budgets are given back when the replacement of an evicted pod is ready, "
        "which is as fast as its siblings were. How long pods take to stop is assumed, unless "
        "earlier drains have written down how long they took (--history).\n"
        "\n"
        "With --server, which is short for --dry-run=server, the API server is asked about each "
        "eviction as well, so that admission webhooks have their say. Any word after it that is no "
        "address is a node: --server=URL is always the address.\n"
        "\n"
        "A plan that was saved with --out is carried out by {prog} apply, which refuses when what "
        "it rests on has changed; {prog} diff shows what has.",
    .examples = {{"A node, with each pod, where it goes and when", "plan drain w1 -o wide"},
                 {"A rack, three nodes at a time, saved for apply and diff",
                  "plan drain -l rack=r12 --max-unavailable 3 --out plan.json"},
                 {"In a script: is anything in the way?", "plan drain w1 --detailed-exitcode"}},
    .options =
        (const struct verb_options[]){
            {&plan_options, 0},
            {&drain_kubectl_options, offsetof(struct plan_opts, drain)},
            {&drain_own_options, offsetof(struct plan_opts, drain)},
            {&drain_history_options, offsetof(struct plan_opts, drain)},
            {&target_options, offsetof(struct plan_opts, drain.target)},
            {&plan_output, offsetof(struct plan_opts, output)},
            {&connection_options, offsetof(struct plan_opts, drain.connection)},
            {0}},
    .opts_size = sizeof(struct plan_opts),
    .answers = true,
    .max_args = -1,
    .arg_hint = HINT_NODE,
    .exits = (const enum exit_code[]){EXIT_CHANGES, EXIT_BLOCKED, EXIT_ACCESS, 0},
    .see_also = (const char *const[]){"apply", "drain", NULL},
    .common = true,
    .run = run,
};
