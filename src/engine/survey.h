/* A look at the nodes: how each one is, who holds it, what runs there, and what would stand in the
 * way of a drain now. Pure: stores in, a picture out. */
#ifndef ENGINE_SURVEY_H
#define ENGINE_SURVEY_H

#include "base/arena.h"
#include "engine/blocker.h"
#include "engine/checks.h"
#include "engine/cordon.h"
#include "model/pdbs.h"
#include "model/store.h"

enum node_ready { NODE_READY, NODE_NOT_READY, NODE_UNKNOWN };

/* What is being done to a node. */
enum node_phase {
    NODE_IDLE,
    NODE_CORDONED,  /* and nothing more */
    NODE_DRAINING,  /* its condition DrainInProgress says so */
    NODE_BLOCKED,   /* the same, and something is in the way */
    NODE_DRAINED,   /* its condition Drained says so */
    NODE_REBOOTING, /* whoever reboots nodes here has marked it so */
    NODE_PHASES,
};
/* "Idle". */
const char *node_phase_word(enum node_phase phase);

/* A reason, and the pods of this node that it concerns. */
struct survey_blocker {
    enum blocker_code code;
    const char *object; /* "web/frontend": the budget or pod; "" for the node itself */
    const char
        *budgets; /* of MultiplePDBs: "web/a,b", which many pods may have in common; or NULL */
    const char *message; /* with numbers */
    unsigned pods;
    int64_t since; /* wall clock; 0: not known */
    bool told;     /* the drain at work has told it in an Event */
};

struct survey_node {
    const struct node *node;
    enum node_ready ready;
    const char *ready_reason; /* when it is not ready; "" else */
    int64_t ready_since;
    struct cordon cordon; /* judged: cordon_judge() */
    enum node_phase phase;
    int64_t phase_since;                   /* 0: not known */
    bool needs_reboot;                     /* its mark says that it waits for one */
    bool next_mark;                        /* a drain is to come to it (engine/next_mark.h) */
    int64_t heard;                         /* while it is drained: of its drain, the last time */
    unsigned pods;                         /* that are there */
    unsigned moves;                        /* that a drain would evict */
    unsigned stays;                        /* DaemonSet and mirror pods */
    unsigned leaving;                      /* terminating */
    unsigned stuck;                        /* of those: that should have been gone long ago */
    const struct survey_blocker *blockers; /* the worst first */
    size_t n_blockers;
};

struct survey {
    struct survey_node *nodes; /* sorted by name */
    size_t n;
    int64_t now; /* when it was taken */
};

/* Which nodes: NULL for all. */
typedef bool survey_filter(void *arg, const struct node *node);

/* `pods` has the index `by_node` (store_key_node). Everything in `out` lives in the arena and is
 * valid until a store changes. `now` in microseconds, wall clock. */
void survey_take(const struct store *nodes, const struct store *pods, unsigned by_node,
                 struct pdbs *pdbs, survey_filter *filter, void *filter_arg, int64_t now,
                 struct arena *arena, struct survey *out);

/* Adds pods whose owner's template names their node: they are put back there however often they are
 * evicted. `pods` as above. */
void survey_pins(struct survey *s, const struct store *pods, unsigned by_node,
                 const struct store *replica_sets, const struct store *stateful_sets,
                 struct arena *arena);
/* Adds what the drains at work have told about their nodes: Events DrainBlocked of this drain that
 * no later DrainUnblocked takes back, where a look at the cluster does not show the same. */
void survey_tell(struct survey *s, const struct store *events, struct arena *arena);
/* What the drain of that node has told since then and has not taken back, in no order. Texts are
 * the arena's or the store's. */
size_t survey_told(const struct store *events, const struct node *node, int64_t since,
                   struct arena *arena, const struct survey_blocker **out);
/* Whether it holds up a drain that has begun: what needs a flag at the start does not. */
bool survey_holds(const struct survey_blocker *b);
/* Adds what checks of storage, databases and quorums say to a drain of each node, or to what comes
 * after it where it is drained already. */
void survey_check(struct survey *s, const struct checks *found, struct arena *arena);
/* Whether some node is being drained: then Events may have more to tell. */
bool survey_drains(const struct survey *s);

#endif
