/* Scenarios: what a simulated cluster begins with and what happens to it later, as a readable YAML
 * file. Some ship with the program (scenarios/NAME.yaml, built in); users write their own.
 *
 *     description: One sentence for the list.
 *     try:                     # commands worth typing, shown when it starts
 *     - kubectl get nodes
 *     nodes:                   # groups of machines
 *     - name: w                # w1, w2, ...; "w[001-040]" begins at 001 and has 40
 *       count: 6               # of the group that has `default: true` (or the first): --nodes
 *       zones: [a, b, c]       # topology.kubernetes.io/zone, in turn
 *       region: r1
 *       roles: [worker]        # node-role.kubernetes.io/...
 *       cpu: 8                 # capacity; memory: 32Gi, pods: 110, storage: 100Gi
 *       labels: {}
 *       annotations: {}        # sim.slipway.dev/boot: 40s-90s ... (sim/fleet/machine.h)
 *       taints: [{key: k, value: v, effect: NoSchedule}]
 *       unschedulable: false
 *       staticPods: [{...}]    # Pods that the kubelets run from files (sim/fleet/static_pods.h)
 *     objects:                 # any objects, created in this order through the API
 *     - apiVersion: apps/v1
 *       kind: Deployment
 *       copies: 3              # so many of it, {n} in its strings being 1, 2, 3; "nodes": one for
 *       ...                    # each node; "nodes/10": one for every ten nodes, rounded up
 *     settle: 10m              # how long the cluster may take to come to rest before it is served
 *     events:                  # what happens afterwards, in simulated time
 *     - after: 30s
 *       every: 5m              # and again, each time so much later; absent: once
 *       node: w1               # a name, or `any`: drawn anew each time
 *       do: reboot             # reboot, off, on, hang
 *     - after: 45s
 *       delete: {kind: Pod, namespace: default, name: a}
 *     - after: 50s
 *       apply: {...}           # an object: created, or merged into the one that is there
 *
 * Unknown keys are errors, and every error names file, line and column. So are unknown fields and
 * kinds of objects, also of those in events, unless an earlier event applies the kind's
 * CustomResourceDefinition; and annotations of the simulator that mean nothing. */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include "base/err.h"
#include "base/str.h"
#include "sim/sim.h"

struct scenario;

enum { SCENARIO_MAX_NODES = 20000 }; /* of a group */

/* The built-in ones, by name; and the names alone, NULL-terminated. */
struct scenario_row {
    const char *name, *text; /* of the YAML file */
};
extern const struct scenario_row scenario_rows[];
extern const size_t scenario_n_rows;
extern const char *const scenario_names[];

/* A built-in one by its name, or a file (a name with a slash, or ending in .yaml or .yml). -EINVAL
 * with the nearest name when there is none of this name. */
int scenario_load(const char *name, struct scenario **out, struct err *err);
/* The same from a text; `file` is its name in messages. */
int scenario_parse(const char *file, const char *text, size_t len, struct scenario **out,
                   struct err *err);
void scenario_free(struct scenario *s); /* takes NULL */
const char *scenario_description(const struct scenario *s);
/* NULL-terminated; NULL when there are none. */
const char *const *scenario_tries(const struct scenario *s);
/* How many nodes it has when its default group has `nodes`; 0: as the file says. */
size_t scenario_node_count(const struct scenario *s, size_t nodes);

/* Creates its nodes and objects in a fresh cluster and lets it come to rest (the clock jumps).
 * `nodes` is the size of its default group; 0: as the file says. The scenario must outlive the
 * cluster: its events are still to come. */
int scenario_begin(struct scenario *s, struct sim *sim, size_t nodes, struct err *err);

/* Something of it could not happen; `text` is "FILE:LINE:COL: why". */
typedef void scenario_trouble_fn(void *arg, const char *text);
/* From now on its events happen: call it when the clock stands where users come in. `trouble` may
 * be NULL. */
void scenario_play(struct scenario *s, scenario_trouble_fn *trouble, void *arg);
/* Nothing of it happens any more: before the cluster is freed. Takes NULL. */
void scenario_stop(struct scenario *s);

#endif
