/* The part of the oracle that reads what a drain says of itself (engine/drain.h's read-only
 * structs): that it says why it waits, and that it says the truth at the end. */
#ifndef TESTS_SIM_ORACLE_STATE_H
#define TESTS_SIM_ORACLE_STATE_H

#include "engine/drain.h"
#include "oracle.h"

struct oracle_state;

struct oracle_state *oracle_state_new(struct oracle *o, const struct plan *plan,
                                      struct chaos *chaos);
void oracle_state_free(struct oracle_state *s);

/* After each event. */
void oracle_state_look(struct oracle_state *s, const struct drain *d);
/* Its process is dead, or the next one begins. */
void oracle_state_reset(struct oracle_state *s);
/* The last process has come to its end by itself. `calm`: since when there have been no faults, so
 * that everything can be asked of it. */
void oracle_state_end(struct oracle_state *s, const struct drain *d, bool calm);

#endif
