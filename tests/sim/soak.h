/* One seed of the soak: a cluster, a drain of it through a bad network, and the judgement. */
#ifndef TESTS_SIM_SOAK_H
#define TESTS_SIM_SOAK_H

#include "chaos.h"
#include "engine/drain.h"

struct soak_options {
    bool trace;                  /* tell everything on standard error */
    bool calm;                   /* the same cluster and drain without faults, events and deaths */
    struct chaos_counts *counts; /* added to */
};

/* How a node ended, by its place among the targets. */
enum { SOAK_NODES_MAX = 16 };

struct soak_result {
    char *violations; /* one a line; NULL: none */
    uint64_t requests, kills, stops, events;
    int64_t took;    /* simulated microseconds */
    uint64_t digest; /* of everything that was sent and of how it ended */
    size_t n_nodes;
    enum drain_phase phases[SOAK_NODES_MAX];
    bool benign;
};

void soak_run(uint64_t seed, const struct soak_options *opts, struct soak_result *out);

#endif
