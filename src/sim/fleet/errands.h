/* Errands: what somebody does for an object and what takes a while, one at a time for each. Asking
 * for one that is under way changes nothing. */
#ifndef SIM_FLEET_ERRANDS_H
#define SIM_FLEET_ERRANDS_H

#include "sim/world.h"

struct errands;

/* One has been run. It is no longer under way, and may be started again here. */
typedef void errand_fn(void *arg, const char *ns, const char *name);

struct errands *errands_new(struct world *w, errand_fn *fn, void *arg);
void errands_free(struct errands *e); /* takes NULL */

/* Takes `delay` microseconds. False when one is under way for this object. `ns` is NULL or "" for
 * what has no namespace. */
bool errands_start(struct errands *e, const char *ns, const char *name, int64_t delay);
bool errands_running(const struct errands *e, const char *ns, const char *name);
/* Forgets one, if there is one. */
void errands_cancel(struct errands *e, const char *ns, const char *name);

#endif
