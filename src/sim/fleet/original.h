/* What a simulated cluster that is a copy of another (sim/restore.h) knows of its original. Where
 * there is one (struct fleet, `original`), the fleet goes by it:
 *
 *  - Behind every Node there is a machine.
 *  - Pods take as long as those of the original (habits), and what runs does not end by itself.
 *  - Volumes of every CSI driver are attached and detached, but of those that need not be; and
 * every StorageClass with a driver has its disks made.
 *  - ConfigMaps and Secrets that pods mount are there, though nobody has copied them.
 *  - An owner that was not copied is no reason to delete what it owns.
 *  - What the controllers of unknown kinds made comes back when it goes (sim/fleet/stranger.c), and
 *    the pods that a budget expects of them are as many as in the original.
 *  - Every pod that waits for a scheduler finds one. */
#ifndef SIM_FLEET_ORIGINAL_H
#define SIM_FLEET_ORIGINAL_H

#include <stdbool.h>

#include "sim/fleet/habits.h"

struct original;

/* The habits are the caller's and must outlive it. */
struct original *original_new(struct habits *habits);
void original_free(struct original *o); /* takes NULL */
struct habits *original_habits(const struct original *o);

/* The uid of an owner that was not copied. */
void original_add_stranger(struct original *o, const char *uid);
bool original_is_stranger(const struct original *o, const char *uid);

/* A CSI driver whose volumes need not be attached. */
void original_add_detached_driver(struct original *o, const char *driver);
bool original_driver_attaches(const struct original *o, const char *driver);

#endif
