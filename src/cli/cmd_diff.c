/* The verb `diff`: what has changed since a plan was saved. */
#include <string.h>

#include "cli/plan_file.h"
#include "cli/verb.h"

struct diff_opts {
    struct connection_opts connection;
    bool detailed;
};

static int run(struct cli *cli, int argc, char **argv) {
    const struct diff_opts *o = cli->opts;
    struct saved_plan s;
    (void)argc;
    int rc = saved_plan_check(cli, argv[0], &o->connection, &s);
    if (!rc) {
        for (const char *line = str_get(&s.changes); *line;) {
            size_t len = strcspn(line, "\n");
            term_text(&cli->out, arena_strndup(&cli->arena, line, len));
            term_printf(&cli->out, "\n");
            line += len + (line[len] == '\n');
        }
        if (!s.n_changes)
            cli_note(cli, "Nothing has changed since %s", s.file.made);
        rc = s.n_changes && o->detailed ? EXIT_CHANGES : EXIT_DONE;
    }
    saved_plan_done(&s);
    return rc;
}

static const struct option diff_rows[] = {
    {.name = "detailed-exitcode",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct diff_opts, detailed),
     .help = "End with 2 when something has changed"},
    {0},
};
static const struct option_group diff_options = {"Diff options", diff_rows};

const struct verb verb_diff = {
    .name = "diff",
    .summary = "Show what has changed since a plan was saved",
    .args = "FILE",
    .text = "Plans again what is in FILE, as {prog} plan --out has saved it, and shows a line for "
            "everything that the plan rests on and that is not as it was: nodes, pods and budgets "
            "that are gone (-) or have come (+), or are others (~): something else is true of a "
            "pod, a check says another word, a budget asks for something else. What comes and goes "
            "by itself is none: a pod that its controller has made anew on the node, how much a "
            "budget allows just now.",
    .examples = {{"Is last evening's plan still good?", "diff plan.json"},
                 {"The same in a script", "diff plan.json --detailed-exitcode"},
                 {"In another cluster", "diff plan.json --context staging"}},
    .options =
        (const struct verb_options[]){
            {&diff_options, 0}, {&connection_options, offsetof(struct diff_opts, connection)}, {0}},
    .opts_size = sizeof(struct diff_opts),
    .answers = true,
    .min_args = 1,
    .max_args = 1,
    .arg_hint = HINT_FILE,
    .exits = (const enum exit_code[]){EXIT_CHANGES, EXIT_ACCESS, 0},
    .see_also = (const char *const[]){"plan", "apply", NULL},
    .run = run,
};
