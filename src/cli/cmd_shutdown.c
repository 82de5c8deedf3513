/* The verb `shutdown`: nodes are drained and shut down by the controller. */
#include "cli/ordering.h"
#include "cli/verb.h"

static int run(struct cli *cli, int argc, char **argv) {
    return ordering_main(cli, OPERATION_SHUTDOWN, cli->opts, argc, argv);
}

const struct verb verb_shutdown = {
    .name = "shutdown",
    .summary = "Have nodes drained and shut down",
    .args = "NODE... [-- COMMAND...]",
    .text =
        "Orders it of the controller: a Maintenance for one node, a Rollout for several, as many "
        "at "
        "a time as their Policy allows. NODE may be a node set. Each is cordoned, drained and shut "
        "down; it holds its slot until it is back.\n"
        "\n"
        "Who does it must be said: --by, or a command after -- that the controller runs, with the "
        "node in $SLIPWAY_NODE, if it was allowed to (--allow-commands).\n"
        "\n"
        "Nothing is made that nobody would do: where no controller runs, the custom resources are "
        "not installed, no Policy has the node (without any Policy at all the built-in one "
        "counts), or a Maintenance of it is under way already, that is said, and the exit status "
        "is 5.\n"
        "\n"
        "On a terminal, or with --wait, it is followed until it is over: a line for each change of "
        "what it does and what it waits for. The exit status is 0 when it is done, 3 when it has "
        "halted and somebody must say how it goes on ('{prog} retry', skip or abort), 6 when some "
        "nodes have failed, and 1 when it has failed or was cancelled. Ctrl-C ends the looking, "
        "not the work.",
    .examples = {{"One node, by a command of yours", "shutdown w1 -- /opt/bin/power-off"},
                 {"A rack, by a service", "shutdown 'r7n[1-40]' --by http=http://power/off"},
                 {"What would be made", "shutdown w1 --by sim --dry-run=server"}},
    .options = (const struct verb_options[]){{&ordering_options, 0},
                                             {&connection_options,
                                              offsetof(struct ordering_opts, connection)},
                                             {0}},
    .opts_size = sizeof(struct ordering_opts),
    .max_args = -1,
    .arg_hint = HINT_NODE,
    .exits = (const enum exit_code[]){EXIT_BLOCKED, EXIT_ACCESS, EXIT_REFUSED, EXIT_PARTIAL,
                                      EXIT_SIGINT, EXIT_SIGTERM, 0},
    .see_also = (const char *const[]){"rollout", "history", "pause", "abort", NULL},
    .run = run,
};
