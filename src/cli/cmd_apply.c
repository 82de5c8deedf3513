/* The verb `apply`: carries out a plan that was saved, unless what it rests on has changed. */
#include <string.h>

#include "base/shell.h"
#include "base/str.h"
#include "cli/plan_file.h"
#include "cli/verb.h"

enum { SHOWN = 10 }; /* changes */

struct apply_opts {
    struct drain_flags drain; /* what the file does not say: as whom, why, what is shown */
    bool anyway;
};

static int refuse(struct cli *cli, const struct saved_plan *s, const char *path) {
    int rc = cli_fail(cli, EXIT_REFUSED,
                      "%zu thing%s that the plan rests on changed since it was made (%s)",
                      s->n_changes, s->n_changes == 1 ? "" : "s", s->file.made);
    const char *line = str_get(&s->changes);
    for (size_t i = 0; *line && i < SHOWN; i++) {
        size_t len = strcspn(line, "\n");
        cli_advise(cli, "%.*s", (int)len, line);
        line += len + (line[len] == '\n');
    }
    if (s->n_changes > SHOWN)
        cli_advise(cli, "and %zu more", s->n_changes - SHOWN);
    if (s->busy && !s->foreign)
        cli_advise(cli, "%s", s->busy);
    if (s->foreign)
        cli_advise(cli, "Whatever has these names here, the plan was not made for it.");
    else if (s->unread)
        cli_advise(cli, "Its rules are not read, they may be anybody's: make it anew.");
    else
        cli_advise(cli, "Make it anew, or see '%s diff %s'; --anyway drains all the same.",
                   cli->prog, path);
    return rc;
}

/* Those that there still are, in the order of the plan; of the others it is said. */
static size_t keep_names(struct cli *cli, struct saved_plan *s) {
    size_t n = 0;
    for (size_t i = 0; i < s->file.n; i++)
        if (s->gone[i])
            cli_advise(cli, "node %s of the plan is gone: it is left out", s->names[i]);
        else
            s->names[n++] = s->names[i];
    return n;
}

/* The file is from somebody else, maybe, and so is what may be lost by it: it is said before it is
 * done. That the order is kept goes without saying. */
static void tell_flags(struct cli *cli, const struct drain_flags *f) {
    struct drain_args_list words = VEC_INIT;
    struct drain_flags told = *f;
    _cleanup_str_ struct str text = STR_INIT;
    told.in_order = false;
    drain_args_words(&told, &words);
    for (size_t i = 0; i < words.len; i++)
        if (!streq(words.p[i], DRAIN_RATE_WORD)) {
            str_addc(&text, ' ');
            shell_add(&text, words.p[i]);
        }
    if (text.len)
        cli_note(cli, "The plan drains with%s", str_get(&text));
    drain_args_list_done(&words);
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct apply_opts *o = cli->opts;
    const struct verb *drain = verb_find("drain");
    struct saved_plan s;
    (void)argc;
    int rc = saved_plan_check(cli, argv[0], &o->drain.connection, &s);
    if (!rc && s.n_changes && (!o->anyway || s.foreign || s.unread))
        rc = refuse(cli, &s, argv[0]);
    size_t n = rc ? 0 : keep_names(cli, &s);
    if (!rc && !n)
        rc = cli_fail(cli, EXIT_REFUSED, "%s: no node of the plan exists any more", argv[0]);
    if (!rc) {
        if (o->drain.target.reason)
            s.flags.target.reason = o->drain.target.reason;
        if (o->drain.target.holder)
            s.flags.target.holder = o->drain.target.holder;
        s.flags.target.dry_run = o->drain.target.dry_run;
        s.flags.history = o->drain.history;
        s.flags.progress = o->drain.progress;
        s.flags.json = o->drain.json;
        tell_flags(cli, &s.flags);
        cli->opts = &s.flags;
        cli->verb = drain;
        rc = drain->run(cli, (int)n, (char **)s.names);
    }
    saved_plan_done(&s);
    return rc;
}

static const struct option apply_rows[] = {
    {.name = "anyway",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct apply_opts, anyway),
     .help = "Drain also when something has changed since the plan was made"},
    {0},
};
static const struct option_group apply_options = {"Apply options", apply_rows};

const struct verb verb_apply = {
    .name = "apply",
    .summary = "Carry out a plan that was saved",
    .args = "FILE",
    .text = "Drains the nodes of FILE, as {prog} plan --out has saved it, with the flags and in "
            "the order of the plan. What the plan rests on is looked at first: when nodes, pods "
            "or budgets have come or gone, or something else is true of them now, nothing is done; "
            "nor when FILE or its rules were edited. {prog} diff shows what counts. A plan of "
            "another cluster is not carried out in any "
            "case.\n"
            "\n"
            "A node that somebody drains already, or a drain that was killed has left behind, is "
            "told with who holds it, and drained all the same.",
    .examples = {{"What 'plan --out plan.json' has saved", "apply plan.json"},
                 {"The same, and why", "apply plan.json --reason CHG-1234"},
                 {"What it would do, as the API server sees it",
                  "apply plan.json --dry-run=server"}},
    .options =
        (const struct verb_options[]){
            {&apply_options, 0},
            {&target_how_options, offsetof(struct apply_opts, drain.target)},
            {&drain_history_options, offsetof(struct apply_opts, drain)},
            {&drain_progress_options, offsetof(struct apply_opts, drain)},
            {&connection_options, offsetof(struct apply_opts, drain.connection)},
            {0}},
    .opts_size = sizeof(struct apply_opts),
    .min_args = 1,
    .max_args = 1,
    .arg_hint = HINT_FILE,
    .exits = (const enum exit_code[]){EXIT_BLOCKED, EXIT_ACCESS, EXIT_REFUSED, EXIT_PARTIAL,
                                      EXIT_SIGINT, EXIT_SIGTERM, 0},
    .see_also = (const char *const[]){"plan", "drain", NULL},
    .run = run,
};
