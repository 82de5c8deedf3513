/* Random clusters and what happens to them: what a seed stands for. */
#ifndef TESTS_SIM_CLUSTER_GEN_H
#define TESTS_SIM_CLUSTER_GEN_H

#include "plan.h"
#include "sim/sim.h"

/* Draws everything from the seed and makes the cluster, settled. The simulation is the caller's. */
struct sim *cluster_gen(uint64_t seed, struct plan *plan);

/* A request of somebody else; returns the code. */
int cluster_ask(struct sim *sim, const char *method, const char *path, const char *body);
/* Lets one of the plan's events happen (all but ACT_KILL and ACT_STOP). */
void cluster_act(struct sim *sim, const struct plan *plan, const struct plan_event *event);

#endif
