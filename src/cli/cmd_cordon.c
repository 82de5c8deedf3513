/* The verb `cordon`: no new pods on these nodes, and who wants it so. */
#include "cli/cordoning.h"
#include "cli/verb.h"

struct cordon_opts {
    struct connection_opts connection;
    struct target_opts target;
};

static int run(struct cli *cli, int argc, char **argv) {
    const struct cordon_opts *opts = cli->opts;
    return cordoning_main(cli, &opts->connection, &opts->target, false, true, argc, argv);
}

const struct verb verb_cordon = {
    .name = "cordon",
    .summary = "Keep new pods off nodes",
    .args = "NODE...|-l SELECTOR",
    .text =
        "Marks nodes unschedulable, as kubectl cordon does, with the same arguments and the same "
        "lines on standard output. NODE may be a node set.\n"
        "\n"
        "Who holds a node cordoned, since when and why is recorded on it (annotation "
        "slipway.dev/cordon), and several can hold it at once: a node that is cordoned already "
        "gets one more holder. It becomes schedulable when the last one has uncordoned it, unless "
        "it was cordoned before by somebody who left no record, kubectl cordon for instance. "
        "'{prog} status' shows the holders.",
    .examples = {{"One node, and why", "cordon w1 --reason 'CHG-1234: new disk'"},
                 {"Forty nodes but one", "cordon 'w[001-040]!w007'"},
                 {"What would be done to the nodes of a rack", "cordon -l rack=r12 --dry-run"}},
    .options =
        (const struct verb_options[]){
            {&target_options, offsetof(struct cordon_opts, target)},
            {&connection_options, offsetof(struct cordon_opts, connection)},
            {0}},
    .opts_size = sizeof(struct cordon_opts),
    .max_args = -1,
    .arg_hint = HINT_NODE,
    .exits = (const enum exit_code[]){EXIT_ACCESS, EXIT_REFUSED, 0},
    .see_also = (const char *const[]){"uncordon", "status", NULL},
    .run = run,
};
