/* The verb `pause`: Maintenances and Rollouts stop before their next step, or everything does. */
#include "cli/identity.h"
#include "cli/pausing.h"
#include "cli/stopping.h"
#include "cli/target.h"
#include "cli/verb.h"

struct pause_opts {
    struct connection_opts connection;
    const char *reason;
    int dry_run; /* enum dry_run */
    bool all;
};

static int pause_all(struct session *s, const struct pause_opts *o, const struct identity *me) {
    struct stopping st = {
        .session = s,
        .dry_run = (enum dry_run)o->dry_run,
        .ns = o->connection.flags.ns,
        .stop = {.by = me->by, .reason = o->reason, .since = cli_now(s->cli)},
    };
    return stopping_pause(&st);
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct pause_opts *o = cli->opts;
    _cleanup_err_ struct err err = ERR_INIT;
    struct identity me;
    struct session s;
    if (o->all == (argc > 0))
        return cli_usage(cli, "say what to pause: names, or --all, not both");
    if (o->reason && !o->all)
        return cli_usage(cli, "--reason goes with --all");
    if (identity_check_reason(o->reason, &err) ||
        identity_get(cli->env, NULL, &cli->arena, &me, &err))
        return cli_error(cli, &err);
    int rc = session_open(cli, &o->connection, &s);
    if (rc)
        return rc;
    rc = o->all ? pause_all(&s, o, &me)
                : pausing_run(&s, (enum dry_run)o->dry_run, true, argc, argv);
    session_close(&s);
    return rc;
}

#define FIELD(member) offsetof(struct pause_opts, member)
static const struct option_group own_options = {
    "Options", (const struct option[]){
                   {.name = "all",
                    .kind = OPTION_FLAG,
                    .offset = FIELD(all),
                    .help = "Everything that the controller does, FleetLock clients too"},
                   {.name = "reason",
                    .kind = OPTION_STRING,
                    .offset = FIELD(reason),
                    .arg = "TEXT",
                    .help = "With --all: why, for everybody who wonders why nothing goes on"},
                   TARGET_DRY_RUN_ROW(FIELD(dry_run)),
                   {0}}};
#undef FIELD

const struct verb verb_pause = {
    .name = "pause",
    .summary = "Let maintenances, rollouts or everything wait",
    .args = "(NAME... | --all)",
    .text =
        "NAME is maintenance/NAME or rollout/NAME, with kubectl's plurals and short names too, or "
        "a bare name that only one of them has. A Maintenance then stops before its next step "
        "that touches pods or the node; a Rollout begins no further node, and those that it has "
        "begun go on. Which ones do is told.\n"
        "\n"
        "--all stops everything that the controller does: nobody gets a slot, no pod is evicted, "
        "no node is told that it may go, not even once more. A node that was told so before may "
        "still go, and is put back into service when it is back. It is written in the namespace of "
        "the controller, as the ConfigMap slipway-pause: that of -n, else every namespace with a "
        "Lease slipway-controller. '{prog} locks' and '{prog} status' say that it is so, by whom "
        "and why. Drains from the command line are not stopped.\n"
        "\n"
        "What is paused already is left as it is, and that is said.",
    .examples = {{"Stop everything now", "pause --all --reason 'storage is red'"},
                 {"No further node of a rollout", "pause rollout/kernel"},
                 {"What would be done", "pause maintenance/w1-fan --dry-run=server"}},
    .options =
        (const struct verb_options[]){
            {&own_options, 0}, {&connection_options, offsetof(struct pause_opts, connection)}, {0}},
    .opts_size = sizeof(struct pause_opts),
    .max_args = -1,
    .exits = (const enum exit_code[]){EXIT_ACCESS, EXIT_REFUSED, 0},
    .see_also = (const char *const[]){"resume", "locks", "status", NULL},
    .run = run,
};
