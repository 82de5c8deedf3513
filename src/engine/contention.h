/* Which nodes get in each other's way when they are drained at the same time: those whose pods want
 * more of a budget's disruptions than it has left.
 *
 *     contention_init() -> contention_add() for each node that is on its way out ->
 *         contention_of() for those that could be next -> contention_done()
 *
 * It goes by the pods that are known. Between the first and the last call budgets must not change.
 */
#ifndef ENGINE_CONTENTION_H
#define ENGINE_CONTENTION_H

#include "base/htab.h"
#include "engine/budget.h"
#include "engine/cluster.h"

struct contention {
    struct cluster *cluster;
    struct budget_owners *owners; /* NULL: not known */
    struct htab wants;            /* of each budget */
};

/* One of its pods can never be evicted: it would keep its place for ever. */
#define CONTENTION_HOPELESS (1u << 20)

void contention_init(struct contention *c, struct cluster *cluster, struct budget_owners *owners);
void contention_done(struct contention *c);
void contention_add(struct contention *c, const char *node);
/* How many of its pods would have to wait for budgets that the nodes on their way out use up; with
 * `evicts`, which is that budgets are asked at all, CONTENTION_HOPELESS is added. */
unsigned contention_of(const struct contention *c, const char *node, bool evicts);

#endif
