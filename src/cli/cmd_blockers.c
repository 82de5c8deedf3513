/* The hidden verb `__blockers`: the page docs/blockers.md, from the table of blockers. */
#include "cli/cli.h"
#include "cli/verb.h"
#include "engine/blocker.h"

static const char head[] =
    "# Blockers\n"
    "\n"
    "Whatever waits says why: with a code that never changes its meaning, an object, numbers, "
    "since "
    "when. The codes are in the lines of\n"
    "`slipway drain`, in its `--json` events ([events-stream.md](events-stream.md)), in the Events "
    "`DrainBlocked` on a node and in `slipway status`,\n"
    "which tells what is in the way right now ([status.md](status.md)). `slipway why` follows one "
    "to "
    "its cause ([why.md](why.md)), `slipway explain CODE`\n"
    "tells about one, `slipway doctor --pdbs` finds them before the night of the maintenance "
    "([doctor.md](doctor.md)). [drain.md](drain.md) is about\n"
    "draining, [drain-rules.md](drain-rules.md) about what may be done to a pod that does not go.\n"
    "\n"
    "This page is made from the table in `src/engine/blocker.c` by `slipway __blockers`; a test "
    "compares the two.\n"
    "\n"
    "`info` is as it should be, `warn` may need somebody, `error` will not pass by itself.\n";

static const char *const severities[] = {
    [SEVERITY_INFO] = "info", [SEVERITY_WARN] = "warn", [SEVERITY_ERROR] = "error"};

/* "Text." from a part of a sentence. */
static void sentence(struct term *out, const char *text) {
    term_printf(out, "%c%s.\n", *text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text, text + 1);
}

static int run(struct cli *cli, int argc, char **argv) {
    struct term *out = &cli->out;
    (void)argc, (void)argv;
    term_printf(out, "%s\n| code | severity | ends by itself |\n|---|---|---|\n", head);
    for (int i = 0; i < BLOCKER_CODES; i++) {
        const struct blocker_row *row = blocker_row((enum blocker_code)i);
        _cleanup_str_ struct str anchor = STR_INIT;
        for (const char *p = row->name; *p; p++)
            str_addc(&anchor, *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p);
        term_printf(out, "| [%s](#%s) | %s | %s |\n", row->name, str_get(&anchor),
                    severities[row->severity], row->clears_itself ? "yes" : "no");
    }
    for (int i = 0; i < BLOCKER_CODES; i++) {
        const struct blocker_row *row = blocker_row((enum blocker_code)i);
        term_printf(out, "\n## %s\n\n", row->name);
        sentence(out, row->meaning);
        term_printf(out, "\n- **Over when:** %s.\n- **What to do:** %s.\n", row->ends, row->hint);
    }
    return EXIT_DONE;
}

const struct verb verb_blockers = {
    .name = "__blockers",
    .summary = "Print the page about blockers",
    .text = "For docs/blockers.md.",
    .hidden = true,
    .run = run,
};
