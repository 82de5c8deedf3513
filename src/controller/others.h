/* Others who are at work on our nodes: another manager of reboots (engine/rivals.h), and whoever
 * reboots a node that was to wait until it is told. Noticed when it begins, and said; nothing is
 * decided by it. */
#ifndef CONTROLLER_OTHERS_H
#define CONTROLLER_OTHERS_H

#include "controller/policies.h"
#include "engine/rivals.h"

struct others {
    const struct policies *policies;
    const struct store *nodes;
    /* A sentence about the node, without its name; `reason` is of engine/reason.h. */
    void (*tell)(void *arg, const char *node, const char *reason, const char *text);
    void *arg;
    struct rival_signs signs; /* as far as they are known */
};

/* It is so now (wall clock); `before` may be NULL. Who shows in two ways that he is at work is told
 * of once. */
void others_node(const struct others *o, const struct node *before, const struct node *after,
                 int64_t now);
void others_pod(const struct others *o, const struct pod *before, const struct pod *after);
void others_lock(const struct others *o, const struct kured_lock *before,
                 const struct kured_lock *after, int64_t now);

#endif
