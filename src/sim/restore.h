/* Puts up a copy of another cluster: objects as they were read there, with their uids, times and
 * states, and behind them machines, a scheduler and controllers that go on from there.
 *
 *     struct sim *s = sim_new(&(struct sim_options){.seed = 7, .start = when it was read});
 *     struct restore *r = restore_new(s, habits, true);
 *     restore_object(r, text, &err);         for each; Nodes and volumes before pods
 *     restore_end(r);                        now the clock may run
 *     restore_free(r);
 *
 * Objects are not created as a client would: no defaults of a later day, no admission, no new uids.
 * What Slipway leaves out of a snapshot (cli/snapshot_strip.h) is put up again where the simulated
 * parts need it: service accounts, priority classes, namespaces, templates in ControllerRevisions.
 *
 * The original may be a simulated cluster that had the same seed: chance in the copy goes on from
 * another state than a seed's, or new objects would get the uids that old ones have.
 *
 * What a copy cannot know is taken to stay as it is: a pod that is not ready does not get ready,
 * one that has not started for minutes does not start, one whose grace period is long over stays, a
 * Node that is not Ready stays so. (As annotations of the simulator, so that one can see and change
 * it.) */
#ifndef SIM_RESTORE_H
#define SIM_RESTORE_H

#include "base/err.h"
#include "base/str.h"
#include "sim/fleet/habits.h"
#include "sim/sim.h"

struct restore;

/* A fresh cluster with a fleet. The habits must outlive it; with `learn` they are told what the
 * objects say about starts. */
struct restore *restore_new(struct sim *s, struct habits *habits, bool learn);
void restore_free(struct restore *r); /* takes NULL; the cluster stays */

/* One object with its apiVersion and kind, as JSON; a CustomResourceDefinition before its objects,
 * which nobody acts on here. -EINVAL when it is none, or its values have the
 * wrong types; -EFBIG when all together are more than a cluster holds. Of kinds that are not
 * simulated nothing is kept, nor of objects that are not valid (restore_refused()). */
int restore_object(struct restore *r, struct view text, struct err *err);
void restore_end(struct restore *r);

/* How many objects there are, and how many of kinds that are not simulated. */
size_t restore_kept(const struct restore *r);
size_t restore_dropped(const struct restore *r);
/* How many are not there because they are not valid: no server would have stored them. `why` (may
 * be NULL) gets what is wrong with the first; valid as long as the restoration. */
size_t restore_refused(const struct restore *r, const char **why);

#endif
