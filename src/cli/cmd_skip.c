/* The verb `skip`: a maintenance that has halted goes on without its operation. */
#include "cli/target.h"
#include "cli/verb.h"
#include "cli/wording.h"

static int run(struct cli *cli, int argc, char **argv) {
    return wording_main(cli, WORDING_SKIP, cli->opts, argc, argv);
}

#define FIELD(member) offsetof(struct wording_opts, member)
static const struct option_group own_options = {
    "Options", (const struct option[]){TARGET_DRY_RUN_ROW(FIELD(dry_run)), {0}}};
#undef FIELD

const struct verb verb_skip = {
    .name = "skip",
    .summary = "Take what has halted for done, and go on",
    .args = "NAME...",
    .text =
        "NAME is maintenance/NAME or rollout/NAME, with kubectl's plurals and short names too, or "
        "a bare name that only one of them has. A Maintenance whose operation has failed, or whose "
        "node is not back in time, is Halted, and waits for somebody to say how it goes on: skip "
        "takes the operation for done, "
        "because you have done it by hand or it is not needed. The node is put back into service "
        "when it is Ready.\n"
        "\n"
        "Of a Rollout that is said to every Maintenance that is Halted.\n"
        "\n"
        "Of one that is Operating or Returning it is heard when it is clear whether its node goes: "
        "when it is back, or has stayed up. Everything else is refused with the reason: the exit "
        "status is 5, and nothing is done to any of those named.",
    .examples = {{"A node that was rebooted by hand", "skip maintenance/w1-kernel"},
                 {"All that has halted of a rollout", "skip rollout/kernel"},
                 {"What would be done", "skip rollout/kernel --dry-run"}},
    .options = (const struct verb_options[]){{&own_options, 0},
                                             {&connection_options,
                                              offsetof(struct wording_opts, connection)},
                                             {0}},
    .opts_size = sizeof(struct wording_opts),
    .min_args = 1,
    .max_args = -1,
    .exits = (const enum exit_code[]){EXIT_ACCESS, EXIT_REFUSED, 0},
    .see_also = (const char *const[]){"retry", "abort", NULL},
    .run = run,
};
