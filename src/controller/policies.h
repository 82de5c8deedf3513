/* The policies of the cluster, and a keeper (engine/keeper.h) for each.
 *
 * Without any Policy there is the built-in one. A record of slots whose Policy is gone is kept,
 * too, until nobody holds one of them any more: nobody gets one. */
#ifndef CONTROLLER_POLICIES_H
#define CONTROLLER_POLICIES_H

#include "base/log.h"
#include "engine/keeper.h"
#include "engine/policy.h"

struct policies;

struct policies_opts {
    struct keeper_opts keeper; /* of all of them, as far as no Policy says it */
    struct cluster *cluster;
    struct store *maps, *policies;
    const struct log *log;
    /* This keeper is about to be replaced: who waits for its replies asks again. */
    void (*replaced)(void *arg, const struct keeper *k);
    void *arg;
};

struct policies *policies_new(const struct policies_opts *opts);
void policies_free(struct policies *p);

/* Takes in what has changed in the stores. */
void policies_look(struct policies *p);

/* One of them: valid until the next policies_look(). `problem`: why it cannot be used. */
struct policy_kept {
    struct policy_rules *rules; /* NULL with a problem */
    struct keeper *keeper;      /* the same */
    const char *name, *problem;
};
size_t policies_len(const struct policies *p);
const struct policy_kept *policies_at(const struct policies *p, size_t i);
/* How many have that node, and the first of them. */
size_t policies_find(const struct policies *p, const struct node *node,
                     const struct policy_kept **out);

void policies_lead(struct policies *p, int32_t fence);
void policies_follow(struct policies *p);

#endif
