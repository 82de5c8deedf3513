/* Equal blockers put together: those of one code and one object, over all pods and nodes. One
 * PodDisruptionBudget that holds up forty nodes is told once. Pure. */
#ifndef CLI_DRAIN_BLOCKERS_H
#define CLI_DRAIN_BLOCKERS_H

#include "base/arena.h"
#include "engine/drain.h"

struct drain_group {
    const struct drain_blocker *blocker; /* the one that began first */
    unsigned pods;                       /* that wait; 0: the nodes themselves do */
    unsigned attempts;                   /* the most that one pod has made */
    const size_t *nodes;                 /* places in the list of nodes, ascending */
    size_t n_nodes;
};

struct drain_groups {
    struct drain_group *list; /* worst first: severity, then nodes, then age */
    size_t n;
};

/* Of the nodes that are at work; `stuck` of those alone that drain_standing() calls blocked. Lives
 * in the arena; valid until the drain changes. */
void drain_groups_take(const struct drain_node *const *nodes, size_t n, bool stuck, int64_t now,
                       struct arena *arena, struct drain_groups *out);

/* Whether two blockers are of the same group. */
bool drain_blocker_same(const struct drain_blocker *a, const struct drain_blocker *b);

#endif
