/* One seed of the soak of the controller: a cluster, replicas that die and freeze, people and
 * FleetLock clients, and the judgement. */
#ifndef TESTS_SIM_FLEET_SOAK_H
#define TESTS_SIM_FLEET_SOAK_H

#include "chaos.h"
#include "fleet_cover.h"

struct fleet_soak_options {
    bool trace;                  /* tell everything on standard error */
    struct chaos_counts *counts; /* added to */
    struct fleet_cover *cover;   /* the same */
};

struct fleet_soak_result {
    char *violations; /* one a line; NULL: none */
    uint64_t requests, kills, freezes, events, questions, grants, simulated;
    uint64_t digest; /* of everything that was sent and answered */
};

void fleet_soak_run(uint64_t seed, const struct fleet_soak_options *opts,
                    struct fleet_soak_result *out);

#endif
