/* What a kubelet does for one pod: starts it, watches it become ready, exit or crash, stops it and
 * takes it out of the API when it has ended. Everything a worker does next follows from the pod's
 * present state, so that a machine that comes back finds its way. */
#ifndef SIM_FLEET_WORKER_H
#define SIM_FLEET_WORKER_H

#include "sim/fleet/machine.h"

struct workers;

struct workers *workers_new(struct fleet *f);
void workers_free(struct workers *all);

/* The machine runs (again): its pods go on. After a power cut their containers start anew. */
void workers_resume(struct workers *all, struct machine *m);
/* The power is gone: nothing runs, and nobody says so. */
void workers_power_off(struct workers *all, struct machine *m);

#endif
