/* A look at the nodes: how each one is, who holds it, what runs there, and what would stand in the
 * way of a drain now. Pure: stores in, a picture out. */
#ifndef ENGINE_SURVEY_H
#define ENGINE_SURVEY_H

#include "base/arena.h"
#include "engine/blocker.h"
#include "engine/cordon.h"
#include "model/pdbs.h"
#include "model/store.h"

enum node_ready { NODE_READY, NODE_NOT_READY, NODE_UNKNOWN };

/* A reason, and the pods of this node that it concerns. */
struct survey_blocker {
    enum blocker_code code;
    const char *object;  /* "web/frontend": the budget or pod; "" for the node itself */
    const char *message; /* with numbers */
    unsigned pods;
};

struct survey_node {
    const struct node *node;
    enum node_ready ready;
    const char *ready_reason; /* when it is not ready; "" else */
    int64_t ready_since;
    struct cordon cordon;
    unsigned pods;                         /* that are there */
    unsigned moves;                        /* that a drain would evict */
    unsigned stays;                        /* DaemonSet and mirror pods */
    unsigned leaving;                      /* terminating */
    const struct survey_blocker *blockers; /* the worst first */
    size_t n_blockers;
};

struct survey {
    struct survey_node *nodes; /* sorted by name */
    size_t n;
};

/* Which nodes: NULL for all. */
typedef bool survey_filter(void *arg, const struct node *node);

/* `pods` has the index `by_node` (store_key_node). Everything in `out` lives in the arena and is
 * valid until a store changes. `now` in microseconds, wall clock. */
void survey_take(const struct store *nodes, const struct store *pods, unsigned by_node,
                 struct pdbs *pdbs, survey_filter *filter, void *filter_arg, int64_t now,
                 struct arena *arena, struct survey *out);

#endif
