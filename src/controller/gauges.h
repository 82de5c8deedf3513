/* What is so when somebody looks at /metrics (controller/metrics.h): policies, slots, nodes,
 * maintenances, the process. */
#ifndef CONTROLLER_GAUGES_H
#define CONTROLLER_GAUGES_H

#include "controller/feeds.h"
#include "controller/metrics.h"
#include "controller/policies.h"
#include "engine/rivals.h"

struct gauges_world {
    const struct policies *policies;
    const struct cluster *cluster;
    const struct store *maps, *policy_store, *maintenances, *rollouts;
    const struct feeds *feeds;
    struct rival_signs rivals;
    int64_t now;        /* wall clock */
    const char *commit; /* of the source, "" when unknown */
    bool leads;
};

/* Forgets the gauges of before. */
void gauges_take(struct metrics *m, const struct gauges_world *w);

#endif
