/* The hidden verb `__events`: the page docs/events.md, from the table of reasons. */
#include "cli/cli.h"
#include "cli/verb.h"
#include "engine/reason.h"

static const char head[] =
    "# Events\n"
    "\n"
    "What happens to a node is written as Events, where `kubectl describe node` and `kubectl get "
    "events` show it; what happens to a Maintenance is\n"
    "on it as well, and what happens to a Rollout on that. A reason never changes its meaning:\n"
    "\n"
    "    kubectl get events --field-selector reason=DrainBlocked\n"
    "    kubectl describe maintenance m1\n"
    "    kubectl describe rollout kernel\n"
    "\n"
    "Events of Nodes, Maintenances and Rollouts are in the namespace `default`, since none of them "
    "has one. The "
    "same Event again within ten minutes counts the first\n"
    "one up instead of being another. They are for people, and may be lost: nothing is decided by "
    "them. The controller's log has the same\n"
    "reasons, and `slipway_transitions_total` counts them ([metrics.md](metrics.md)). Conditions "
    "of a Maintenance and of a Rollout have them as their reason, too.\n"
    "\n"
    "This page is made from the table in `src/engine/reason.c` by `slipway __events`; a test "
    "compares the two.\n"
    "\n"
    "| reason | on | type | meaning |\n"
    "|---|---|---|---|\n";

static int run(struct cli *cli, int argc, char **argv) {
    static const char *const places[] = {
        [ON_NODE] = "Node",
        [ON_MAINTENANCE] = "Maintenance",
        [ON_NODE | ON_MAINTENANCE] = "Node, Maintenance",
        [ON_ROLLOUT] = "Rollout",
    };
    (void)argc, (void)argv;
    term_printf(&cli->out, "%s", head);
    for (size_t i = 0; i < n_reason_rows; i++) {
        const struct reason_row *row = &reason_rows[i];
        term_printf(&cli->out, "| `%s` | %s | %s | %s |\n", row->name, places[row->places],
                    row->warning ? "Normal or Warning" : "Normal", row->meaning);
    }
    return EXIT_DONE;
}

const struct verb verb_events = {
    .name = "__events",
    .summary = "Print the page about Events",
    .text = "For docs/events.md.",
    .hidden = true,
    .run = run,
};
