/* Counts what happens (controller/metrics.h): transitions, evictions, requests. What is so at a
 * moment is controller/gauges.h's. All take a NULL for the metrics. */
#ifndef CONTROLLER_TALLY_H
#define CONTROLLER_TALLY_H

#include "controller/metrics.h"
#include "engine/keeper.h"
#include "fleetlock/message.h"
#include "kube/client.h"

/* Something happened to a slot or a maintenance; `now` is the wall clock. */
void tally_note(struct metrics *m, const struct keeper_note *note, int64_t now);
/* A gate has answered. */
void tally_said(struct metrics *m, const struct keeper_said *said);
/* An action of the engine has ended. */
void tally_action(struct metrics *m, const struct action *action, const struct answer *answer);
/* A request to the API server has. */
void tally_request(struct metrics *m, const struct kube_seen *seen);
/* What is to be done was decided, in so many microseconds. */
void tally_turn(struct metrics *m, int64_t took);
/* A FleetLock client got its answer; `took`: microseconds, of those that had to wait for it. */
void tally_fleetlock(struct metrics *m, enum fleetlock_api api, enum fleetlock_kind kind,
                     int status);
void tally_fleetlock_wait(struct metrics *m, enum fleetlock_api api, int64_t took);

#endif
