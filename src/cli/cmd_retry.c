/* The verb `retry`: a maintenance that has halted tries its operation again. */
#include "cli/target.h"
#include "cli/verb.h"
#include "cli/wording.h"

static int run(struct cli *cli, int argc, char **argv) {
    return wording_main(cli, WORDING_RETRY, cli->opts, argc, argv);
}

#define FIELD(member) offsetof(struct wording_opts, member)
static const struct option_group own_options = {
    "Options", (const struct option[]){TARGET_DRY_RUN_ROW(FIELD(dry_run)), {0}}};
#undef FIELD

const struct verb verb_retry = {
    .name = "retry",
    .summary = "Try again what has halted or failed",
    .args = "NAME...",
    .text =
        "NAME is maintenance/NAME or rollout/NAME, with kubectl's plurals and short names too, or "
        "a bare name that only one of them has. A Maintenance whose operation has failed, or whose "
        "node is not back in time, is Halted, and waits for somebody to say how it goes on: retry "
        "lets it be carried out once "
        "more. The node stays cordoned and drained in between.\n"
        "\n"
        "Of a Rollout every Maintenance that is Halted is retried, and each that has Failed or was "
        "Cancelled is deleted, and the Rollout told (by the annotation slipway.dev/retry) that its "
        "nodes that have failed are to be begun again when their turn comes, also those whose "
        "Maintenance somebody has deleted before.\n"
        "\n"
        "Of one that is Operating or Returning it is heard when it is clear whether its node goes: "
        "when it is back, or has stayed up. Everything else is refused with the reason: the exit "
        "status is 5, and nothing is done to any of those named.",
    .examples = {{"A reboot that has failed", "retry maintenance/w1-kernel"},
                 {"All that has failed of a rollout", "retry rollout/kernel"},
                 {"What would be done", "retry rollout/kernel --dry-run"}},
    .options = (const struct verb_options[]){{&own_options, 0},
                                             {&connection_options,
                                              offsetof(struct wording_opts, connection)},
                                             {0}},
    .opts_size = sizeof(struct wording_opts),
    .min_args = 1,
    .max_args = -1,
    .exits = (const enum exit_code[]){EXIT_ACCESS, EXIT_REFUSED, 0},
    .see_also = (const char *const[]){"skip", "abort", NULL},
    .run = run,
};
