/* The verb `resume`: what was paused goes on. */
#include "cli/pausing.h"
#include "cli/stopping.h"
#include "cli/target.h"
#include "cli/verb.h"

struct resume_opts {
    struct connection_opts connection;
    int dry_run; /* enum dry_run */
    bool all;
};

static int resume_all(struct session *s, const struct resume_opts *o) {
    struct stopping st = {
        .session = s, .dry_run = (enum dry_run)o->dry_run, .ns = o->connection.flags.ns};
    return stopping_resume(&st);
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct resume_opts *o = cli->opts;
    struct session s;
    if (o->all == (argc > 0))
        return cli_usage(cli, "say what to resume: names, or --all, not both");
    int rc = session_open(cli, &o->connection, &s);
    if (rc)
        return rc;
    rc = o->all ? resume_all(&s, o) : pausing_run(&s, (enum dry_run)o->dry_run, false, argc, argv);
    session_close(&s);
    return rc;
}

#define FIELD(member) offsetof(struct resume_opts, member)
static const struct option_group own_options = {
    "Options", (const struct option[]){{.name = "all",
                                        .kind = OPTION_FLAG,
                                        .offset = FIELD(all),
                                        .help = "Take back '{prog} pause --all', whoever said it"},
                                       TARGET_DRY_RUN_ROW(FIELD(dry_run)),
                                       {0}}};
#undef FIELD

const struct verb verb_resume = {
    .name = "resume",
    .summary = "Let what was paused go on",
    .args = "(NAME... | --all)",
    .text =
        "NAME is maintenance/NAME or rollout/NAME, with kubectl's plurals and short names too, or "
        "a bare name that only one of them has.\n"
        "\n"
        "--all takes back '{prog} pause --all', in the namespace of -n or in all of them. What was "
        "paused by name stays so. When somebody has paused everything anew since it was looked at, "
        "that stays, and the exit status is 5.",
    .examples = {{"Everything goes on", "resume --all"},
                 {"One rollout", "resume rollout/kernel"},
                 {"What would be done", "resume --all --dry-run"}},
    .options = (const struct verb_options[]){{&own_options, 0},
                                             {&connection_options,
                                              offsetof(struct resume_opts, connection)},
                                             {0}},
    .opts_size = sizeof(struct resume_opts),
    .max_args = -1,
    .exits = (const enum exit_code[]){EXIT_ACCESS, EXIT_REFUSED, 0},
    .see_also = (const char *const[]){"pause", "locks", "status", NULL},
    .run = run,
};
