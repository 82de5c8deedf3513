/* What was reached in a soak of the controller: ways of maintenances, states of slots, answers,
 * blockers, acts. */
#ifndef TESTS_SIM_FLEET_COVER_H
#define TESTS_SIM_FLEET_COVER_H

#include "engine/blocker.h"
#include "fleet_plan.h"
#include "fleetlock/message.h"

enum { COVER_WAYS = 80, COVER_STATES = 6, COVER_ROLLOUTS = 7 };

struct fleet_cover {
    uint64_t ways[COVER_WAYS];                  /* of engine/maintenance.h */
    uint64_t unknown_ways;                      /* that are none of these */
    uint64_t slots[COVER_STATES][COVER_STATES]; /* the first: not there */
    uint64_t answers[2][FLEETLOCK_KINDS];
    uint64_t acts[FLEET_ACTS];
    uint64_t blockers[BLOCKER_CODES];
    uint64_t rollouts[COVER_ROLLOUTS];
};

void fleet_cover_way(struct fleet_cover *c, const char *from, const char *to, const char *reason);
void fleet_cover_slot(struct fleet_cover *c, const char *from, const char *to);
void fleet_cover_blocker(struct fleet_cover *c, const char *code);
/* Why a rollout is where it is. */
void fleet_cover_rollout(struct fleet_cover *c, const char *reason);
void fleet_cover_add(struct fleet_cover *to, const struct fleet_cover *from);

/* Prints it; whether everything was reached that can be. */
bool fleet_cover_table(const struct fleet_cover *c);

#endif
