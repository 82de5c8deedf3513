/* Which volume does for a claim. */
#ifndef SIM_FLEET_VOLUME_MATCH_H
#define SIM_FLEET_VOLUME_MATCH_H

#include "sim/fleet/storage.h"

/* The volume that is reserved for the claim, or else the free one that is nearest to what it asks
 * for: few access modes, then small, then first by name. NULL when there is none. With `waits` only
 * a reserved one: where a claim waits for its first consumer, the scheduler chooses. */
struct record *volume_match(const struct fleet *f, const struct record *claim, bool waits);

/* Why a free volume that the claim names does not do, in the controller's words, or NULL. `buf`
 * must live as long as the answer. */
const char *volume_mismatch(const struct record *volume, const struct record *claim,
                            struct str *buf);

/* File system or block device. */
bool volume_same_mode(const struct pv *pv, const struct pvc *pvc);

#endif
