/* The hidden verb `__metrics`: the page docs/metrics.md, from the table of metrics. */
#include "cli/cli.h"
#include "cli/verb.h"
#include "controller/metrics.h"

static const char head[] =
    "# Metrics\n"
    "\n"
    "`slipway controller --http-listen :8081` serves `/metrics` there, beside `/healthz` and "
    "`/readyz`: as plain text, or as OpenMetrics for a client\n"
    "that asks for it. Every replica tells what it sees; `slipway_leader` says which one leads, "
    "and what only the leader can know (blockers,\n"
    "transitions, how long phases took) is the leader's. Counters begin anew with the process.\n"
    "\n"
    "`/healthz` answers 200 as long as the process lives. `/readyz` answers 200, or 503 with a "
    "line "
    "for each of: `caches`, the cluster is known, and all\n"
    "of it can be watched (not so after ten seconds in which something cannot be: nobody gets a "
    "slot by an old picture); `lease`, it is\n"
    "known who leads (not so when the Lease cannot be read or written for ten seconds, or never "
    "could); `records`, the ConfigMap with the slots of at\n"
    "least one policy can be read and written (not so when that has failed for ten seconds, in "
    "which "
    "it is tried again and again). The line says\n"
    "what the API server said, and so does a warning in the log, then and once a minute, for each "
    "policy that is concerned; FleetLock clients of its\n"
    "nodes get 503 and `unavailable` with the same words from the beginning. The others are "
    "served, "
    "and only `slipway_policy_usable` and the log tell.\n"
    "With `--fleetlock-tls-listen` there is a line `https`: there is a certificate, and HTTPS is "
    "served; where HTTP is as well it is not waited for.\n"
    "\n"
    "Points in time are timestamps, so that an alert is `time() - x`. `policy` is the name of a "
    "Policy, `node` of a Node that something is done\n"
    "with, `phase` one of a maintenance, `code` one of [blockers.md](blockers.md), `reason` one of "
    "[events.md](events.md). Series of nodes are there\n"
    "as long as they are true. Names of pods and messages are in no label. Reboots are "
    "`slipway_operations_total{operation=\"Reboot\"}`; gates that are shut are\n"
    "`slipway_node_blocked` with their code and `slipway_gate_status` with their name, and "
    "`slipway_transitions_total{reason=\"GateShut\"}` counts how often\n"
    "one has shut. Slots and holders are a policy's, whatever FleetLock groups it answers; by "
    "group "
    "they are among the names of others.\n"
    "\n"
    "    - alert: SlipwayNodeBlocked\n"
    "      expr: time() - slipway_node_blocked_start_timestamp_seconds > 1800\n"
    "    - alert: SlipwaySlotHeldTooLong\n"
    "      expr: time() - slipway_slot_start_timestamp_seconds > 7200\n"
    "    - alert: SlipwayGateDenies\n"
    "      expr: slipway_gate_status < 0\n"
    "      for: 15m\n"
    "    - alert: SlipwayNoLeader\n"
    "      expr: max(slipway_leader) < 1\n"
    "      for: 2m\n"
    "\n"
    "This page is made from the table in `src/controller/metrics.c` by `slipway __metrics`; a test "
    "compares the two. The same is in\n"
    "`slipway help metrics`.\n";

static const char others[] =
    "\n"
    "## Names of others\n"
    "\n"
    "Alerts that were written for another manager go on working with `--metrics-compat`, one or "
    "several of `kured`, `airlock` and `fleetlock`\n"
    "(poseidon's), with commas between.\n";

static void table(struct term *out, bool compat) {
    static const char *const types[] = {[EXPOSE_GAUGE] = "gauge",
                                        [EXPOSE_COUNTER] = "counter",
                                        [EXPOSE_HISTOGRAM] = "histogram",
                                        [EXPOSE_UNKNOWN] = "untyped"};
    term_printf(out, "\n| name | type | labels | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < METRICS; i++) {
        const struct metric_row *row = &metric_rows[i];
        if ((row->compat != COMPAT_NONE) != compat)
            continue;
        term_printf(out, "| `%s` | %s | ", row->name, types[row->type]);
        for (size_t j = 0; row->labels[j]; j++)
            term_printf(out, "%s`%s`", j ? ", " : "", row->labels[j]);
        term_printf(out, " | %s |\n", row->help);
    }
}

static int run(struct cli *cli, int argc, char **argv) {
    (void)argc, (void)argv;
    term_printf(&cli->out, "%s", head);
    table(&cli->out, false);
    term_printf(&cli->out, "%s", others);
    table(&cli->out, true);
    return EXIT_DONE;
}

const struct verb verb_metrics = {
    .name = "__metrics",
    .summary = "Print the page about metrics",
    .text = "For docs/metrics.md.",
    .hidden = true,
    .run = run,
};
