/* Scenarios: what a simulated cluster begins with and what happens to it later, as a readable YAML
 * file. Some ship with the program (scenarios/NAME.yaml, built in); users write their own.
 *
 *     description: One sentence for the list.
 *     try:                     # commands worth typing, shown when it starts
 *     - kubectl get nodes
 *     nodes:                   # groups of machines
 *     - name: w                # w1, w2, ...; "w[001-040]" numbers them with zeros
 *       count: 6               # of the group that has `default: true` (or the first): --nodes
 *       zones: [a, b, c]       # topology.kubernetes.io/zone, in turn
 *       region: r1
 *       roles: [worker]        # node-role.kubernetes.io/...
 *       cpu: 8                 # capacity; memory: 32Gi, pods: 110, storage: 100Gi
 *       labels: {}
 *       annotations: {}        # sim.slipway.dev/boot: 40s-90s ... (sim/fleet/machine.h)
 *       taints: [{key: k, value: v, effect: NoSchedule}]
 *       unschedulable: false
 *     objects:                 # any objects, created in this order through the API; `copies: N`
 *     - apiVersion: apps/v1    # beside kind makes N of them, with {n} in names replaced
 *       kind: Deployment
 *       ...
 *     settle: 10m              # how long the cluster may take to come to rest before it is served
 *     events:                  # what happens afterwards, in simulated time
 *     - after: 30s
 *       node: w1               # a name, or `any`
 *       do: reboot             # reboot, off, on, hang
 *     - after: 45s
 *       delete: {kind: Pod, namespace: default, name: a}
 *     - after: 50s
 *       apply: {...}           # an object: created, or replaced
 *
 * Unknown keys are errors, and every error names file, line and column. */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include "base/err.h"
#include "base/str.h"
#include "sim/sim.h"

struct scenario;

/* The built-in ones, by name. */
struct scenario_row {
    const char *name, *text; /* of the YAML file */
};
extern const struct scenario_row scenario_rows[];
extern const size_t scenario_n_rows;

/* A built-in one by its name, or a file (a name with a slash, or ending in .yaml). -ENOENT with the
 * nearest name. */
int scenario_load(const char *name, struct scenario **out, struct err *err);
void scenario_free(struct scenario *s); /* takes NULL */
const char *scenario_description(const struct scenario *s);
/* NULL-terminated. */
const char *const *scenario_tries(const struct scenario *s);

/* Creates its nodes and objects in a fresh cluster and lets it come to rest (the clock jumps).
 * `nodes` is the size of its default group; 0: as the file says. The scenario must outlive the
 * cluster: its events are still to come. */
int scenario_begin(struct scenario *s, struct sim *sim, size_t nodes, struct err *err);
/* Nothing of it happens any more: before the cluster is freed. Takes NULL. */
void scenario_stop(struct scenario *s);

#endif
