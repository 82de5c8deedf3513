/* Lets a simulated world move with a loop: at real speed, faster, or as fast as it can.
 *
 * On a virtual loop (net/loop.h) both clocks jump together from event to event. The world is
 * brought up to date before it is asked anything: pace_catch_up(). */
#ifndef SIM_PACE_H
#define SIM_PACE_H

#include "net/loop.h"
#include "sim/world.h"

struct pace;

/* `speed` is simulated seconds per second; 0: jump from event to event without waiting. */
struct pace *pace_new(struct loop *loop, struct world *world, double speed);
void pace_free(struct pace *p); /* takes NULL */

/* Lets everything happen that was due by now; a world that cannot keep up with its speed is let lag
 * behind, so that this takes a few milliseconds at most (on a virtual loop it never lags). */
void pace_catch_up(struct pace *p);
/* What the world's clock says, which may lag behind: the time that its objects are stamped with. */
int64_t pace_time(const struct pace *p);
/* Looks again when the next thing is due: after the world was asked to do something. */
void pace_update(struct pace *p);

#endif
