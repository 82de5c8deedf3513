/* The verb `abort`: a maintenance or a rollout is given up. */
#include "cli/target.h"
#include "cli/verb.h"
#include "cli/wording.h"

static int run(struct cli *cli, int argc, char **argv) {
    return wording_main(cli, WORDING_ABORT, cli->opts, argc, argv);
}

#define FIELD(member) offsetof(struct wording_opts, member)
static const struct option_group own_options = {
    "Options", (const struct option[]){{.name = "yes",
                                        .letter = 'y',
                                        .kind = OPTION_FLAG,
                                        .offset = FIELD(yes),
                                        .help = "Do not ask. Needed where there is no terminal"},
                                       TARGET_DRY_RUN_ROW(FIELD(dry_run)),
                                       {0}}};
#undef FIELD

const struct verb verb_abort = {
    .name = "abort",
    .summary = "Give maintenances and rollouts up, and put nodes back",
    .args = "NAME...",
    .text =
        "NAME is maintenance/NAME or rollout/NAME, with kubectl's plurals and short names too, or "
        "a bare name that only one of them has. A Maintenance is cancelled, by deleting it, "
        "at whatever step it is: the node becomes what it was before. One that was told to go "
        "cannot be called back: it is put back into service when it is back, when it has stayed up "
        "for some minutes, or when it is Ready after its policy's returnTimeout. One that is "
        "Halted "
        "is given up when its node is Ready, and is there afterwards, as Cancelled.\n"
        "\n"
        "A Rollout is deleted with all its Maintenances: those under way are cancelled in the same "
        "way, and no further node is begun.\n"
        "\n"
        "On a terminal you are asked once; elsewhere --yes is needed. What is over already is "
        "refused: the exit status is 5, and nothing is done to any of those named.",
    .examples = {{"Not tonight", "abort maintenance/w1-kernel"},
                 {"A whole rollout, from a script", "abort rollout/kernel --yes"},
                 {"What would be done", "abort rollout/kernel --dry-run"}},
    .options = (const struct verb_options[]){{&own_options, 0},
                                             {&connection_options,
                                              offsetof(struct wording_opts, connection)},
                                             {0}},
    .opts_size = sizeof(struct wording_opts),
    .min_args = 1,
    .max_args = -1,
    .exits = (const enum exit_code[]){EXIT_ACCESS, EXIT_REFUSED, 0},
    .see_also = (const char *const[]){"pause", "retry", "skip", NULL},
    .run = run,
};
