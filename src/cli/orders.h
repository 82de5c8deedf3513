/* What was ordered of the controller and is not over: Rollouts, and Maintenances that no Rollout
 * has made, each with how far it is and what it waits for. */
#ifndef CLI_ORDERS_H
#define CLI_ORDERS_H

#include "base/arena.h"
#include "base/jsonw.h"
#include "model/own.h"
#include "model/store.h"

struct order {
    const char *name;      /* "rollout/kernel" */
    const char *operation; /* "Reboot" */
    const char *phase;
    const char *node;             /* of a Maintenance; NULL: it is a Rollout */
    struct rollout_counts counts; /* of a Rollout */
    const struct own_blocker *blocker;
    int64_t since; /* wall clock */
};
struct orders {
    const struct order *rows; /* by name, Rollouts first */
    size_t n;
};

/* Texts are the arena's or the stores'. */
void orders_take(const struct store *rollouts, const struct store *maintenances,
                 struct arena *arena, struct orders *out);
/* "3 of 50 nodes done, 1 failed", or "w1". */
const char *order_progress(const struct order *o, struct arena *arena);
/* "PDBNoBudget shop/web: needs 2, has 2"; "" when it waits for nothing. */
const char *order_waits(const struct order *o, struct arena *arena);
/* "orders": an array; empty when there is none. */
void orders_write(struct jsonw *w, const struct orders *o);

#endif
