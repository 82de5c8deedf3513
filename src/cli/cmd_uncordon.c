/* The verb `uncordon`: lets new pods onto nodes again, as far as we are concerned. */
#include "cli/cordoning.h"
#include "cli/verb.h"

struct uncordon_opts {
    struct connection_opts connection;
    struct target_opts target;
    bool any;
};

static int run(struct cli *cli, int argc, char **argv) {
    const struct uncordon_opts *opts = cli->opts;
    struct target_opts target = opts->target;
    target.control_plane = true; /* nobody is taken out of service */
    return cordoning_main(cli, &opts->connection, &target, opts->any, false, argc, argv);
}

static const struct option_group uncordon_options = {
    "Uncordon options",
    (const struct option[]){{.name = "any-holder",
                             .kind = OPTION_FLAG,
                             .offset = offsetof(struct uncordon_opts, any),
                             .help = "Make the nodes schedulable whoever holds them cordoned. Who "
                                     "relies on it is not asked"},
                            {0}}};

const struct verb verb_uncordon = {
    .name = "uncordon",
    .summary = "Let new pods onto nodes again",
    .args = "NODE...|-l SELECTOR",
    .text =
        "Marks nodes schedulable, with the arguments of kubectl uncordon and the same lines on "
        "standard output. NODE may be a node set.\n"
        "\n"
        "Only what {prog} had cordoned for you is undone: by cordon or drain, under your name or "
        "that of --holder. A node that others hold stays cordoned; that is said on standard error, "
        "with who they are, and the exit code is 5. The same is true of a node that was cordoned "
        "without a record, by kubectl cordon for instance, also when an earlier cordon was yours. "
        "--any-holder lifts every cordon.\n"
        "\n"
        "The node conditions DrainInProgress and Drained that a drain had set are ended. A "
        "Deployment that a drain with --surge of the node has left with one replica more, because "
        "it was killed for instance, gets its count back; where that is not permitted, standard "
        "error says which one it is and the command.",
    .examples = {{"One node", "uncordon w1"},
                 {"What a team held", "uncordon 'w[001-040]' --holder storage-team"},
                 {"Whoever holds it", "uncordon w1 --any-holder"}},
    .options =
        (const struct verb_options[]){
            {&uncordon_options, 0},
            {&target_back_options, offsetof(struct uncordon_opts, target)},
            {&connection_options, offsetof(struct uncordon_opts, connection)},
            {0}},
    .opts_size = sizeof(struct uncordon_opts),
    .max_args = -1,
    .arg_hint = HINT_NODE,
    .exits = (const enum exit_code[]){EXIT_ACCESS, EXIT_REFUSED, 0},
    .see_also = (const char *const[]){"cordon", "status", NULL},
    .run = run,
};
