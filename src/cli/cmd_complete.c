/* The hidden verb `__complete`: what shells ask while somebody types. `__complete -- WORDS...`, or
 * without the dashes, as kubectl calls kubectl_complete-slipway. */
#include "cli/cli.h"
#include "cli/complete.h"
#include "cli/verb.h"

static int run(struct cli *cli, int argc, char **argv) {
    /* Before the first word "--" cannot be meant by the user. */
    if (argc && streq(argv[0], "--")) {
        argc--;
        argv++;
    }
    complete_words(cli, argc, argv, &cli->out.buf);
    return EXIT_DONE;
}

const struct verb verb_complete = {
    .name = "__complete",
    .summary = "Print what can follow the words typed so far",
    .args = "[--] WORD...",
    .text = "For the scripts of the verb completion.",
    .max_args = -1,
    .hidden = true,
    .raw = true,
    .run = run,
};
