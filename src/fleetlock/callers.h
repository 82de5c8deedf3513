/* Those who ask, by their addresses: whether one of them asks too often, and whether it is the node
 * that it asks for.
 *
 * A caller is an address and the id that it asks with: nodes behind one address do not take each
 * other's share. Each has a bucket of tokens. There are as many buckets as there are and no more:
 * whoever comes when all are taken gets the one that was left alone for longest. */
#ifndef FLEETLOCK_CALLERS_H
#define FLEETLOCK_CALLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/object.h"

struct callers;

struct callers *callers_new(void);
void callers_free(struct callers *c);

/* False: it asks more than `rate` times a minute; it may have asked so often at once. `peer` as of
 * exchange_peer(); `now` of the monotonic clock, microseconds. */
bool callers_admit(struct callers *c, const char *peer, const char *id, unsigned rate, int64_t now);

/* Whether that is an address of the node, as its status has them. */
bool caller_is_node(const char *peer, const struct node *node);

#endif
