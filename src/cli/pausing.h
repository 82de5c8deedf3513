/* Pauses and resumes Maintenances and Rollouts, for the verbs of that name: spec.paused.
 *
 * What a pause does not stop is told: a Maintenance stops before its next step that touches pods or
 * the node, and a Rollout begins no further node, while those it has begun go on. */
#ifndef CLI_PAUSING_H
#define CLI_PAUSING_H

#include "cli/own_write.h"

/* Whether it is so already. */
bool pausing_is(const struct own_target *t, bool pause);

/* What goes on all the same, or is over already; false: nothing. */
bool pausing_goes_on(const struct own_targets *all, const struct own_target *t, struct str *out);

/* Those that were named, one after the other; the exit code. */
int pausing_run(struct session *s, enum dry_run dry_run, bool pause, int argc, char **argv);

#endif
