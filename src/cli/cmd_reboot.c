/* The verb `reboot`: nodes are drained, rebooted and put back by the controller. */
#include "cli/ordering.h"
#include "cli/verb.h"

static int run(struct cli *cli, int argc, char **argv) {
    return ordering_main(cli, OPERATION_REBOOT, cli->opts, argc, argv);
}

const struct verb verb_reboot = {
    .name = "reboot",
    .summary = "Have nodes drained, rebooted and put back",
    .args = "NODE... [-- COMMAND...]",
    .text =
        "Orders it of the controller: a Maintenance for one node, a Rollout for several, as many "
        "at "
        "a time as their Policy allows. NODE may be a node set. Each is cordoned, drained, "
        "rebooted, and put back into service when it is Ready with a new boot.\n"
        "\n"
        "Who reboots it: by default the node itself, when its FleetLock client (Zincati) is told "
        "that it may. --by names somebody else; what stands after -- is a command that the "
        "controller runs, with the node in $SLIPWAY_NODE, if it was allowed to "
        "(--allow-commands).\n"
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
    .examples = {{"One node, and wait for it", "reboot w1 --reason 'new kernel'"},
                 {"Twenty, without waiting", "reboot 'w[1-20]' --no-wait"},
                 {"By a command of yours", "reboot w1 -- /opt/bin/power-cycle --hard"}},
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
