/* Approvals: where a policy asks for them (spec.approval), somebody has to say yes before a node
 * gets its slot.
 *
 * It is an annotation, written by `slipway approve` (or anybody else who may change the object):
 * {"v":1,"by":"alice","at":"2026-11-15T12:00:00Z"}. On a Maintenance it is good for that one; on a
 * Rollout for all that it makes; on a Node, for one that asks by FleetLock, it has "boot" in it,
 * and is spent when the node has rebooted. Pure. */
#ifndef ENGINE_APPROVAL_H
#define ENGINE_APPROVAL_H

#include "base/arena.h"
#include "model/object.h"

#define APPROVAL_ANNOTATION "slipway.dev/approved"

/* Who has approved, and when, for people: "alice at 2026-11-15T12:00:00Z"; NULL: nobody has, or it
 * cannot be read. */
const char *approval_of_object(const struct meta *meta, struct arena *arena);
/* The same of a Node in that boot; NULL as well when there is no node. */
const char *approval_of_node(const struct node *node, const char *boot, struct arena *arena);

/* The annotation's value; `boot` NULL: of an object that is no node. */
const char *approval_write(const char *by, int64_t at, const char *boot, struct arena *arena);

#endif
