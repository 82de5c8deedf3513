/* A look at the nodes: how each one is, who holds it, what runs there, and what would stand in the
 * way of a drain now. Pure: stores in, a picture out. */
#ifndef ENGINE_SURVEY_H
#define ENGINE_SURVEY_H

#include "base/arena.h"
#include "engine/blocker.h"
#include "engine/budget.h"
#include "engine/checks.h"
#include "engine/cordon.h"
#include "engine/rivals.h"
#include "model/pdbs.h"
#include "model/store.h"

enum node_ready { NODE_READY, NODE_NOT_READY, NODE_UNKNOWN };

/* What is being done to a node. */
enum node_phase {
    NODE_IDLE,
    NODE_CORDONED,  /* and nothing more */
    NODE_DRAINING,  /* its condition DrainInProgress says so */
    NODE_WAITING,   /* the same, and something is in the way that may well pass by itself */
    NODE_BLOCKED,   /* the same, and something is that somebody has to do something about */
    NODE_DRAINED,   /* its condition Drained says so */
    NODE_REBOOTING, /* whoever reboots nodes here has marked it so */
    NODE_PHASES,
};
/* "Idle". */
const char *node_phase_word(enum node_phase phase);
/* A drain is at it. */
static inline bool node_phase_drains(enum node_phase phase) {
    return phase >= NODE_DRAINING && phase <= NODE_BLOCKED;
}

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
    bool denied;   /* a check denies the drain: that is an error, whatever its code is else */
    bool later;    /* of a check: the drain is not held up by it, not yet or not at all */
};

struct survey_node {
    const struct node *node;
    enum node_ready ready;
    const char *ready_reason; /* when it is not ready; "" else */
    int64_t ready_since;
    struct cordon cordon; /* judged: cordon_judge() */
    enum node_phase phase;
    int64_t phase_since;           /* 0: not known */
    const struct rival_row *rival; /* who else is at work on it (engine/rivals.h), or NULL */
    bool needs_reboot;             /* its mark says that it waits for one */
    bool next_mark;                /* a drain is to come to it (engine/next_mark.h) */
    int64_t heard;                 /* while it is drained: of its drain, the last time */
    const char *waits_for_it; /* who is to drain it and waits before the cordon; NULL: nobody */
    bool no_pods;             /* they could not be read: of the next five nothing is known */
    unsigned pods;            /* that are there */
    unsigned moves;           /* that a drain would evict */
    unsigned stays;           /* DaemonSet and mirror pods */
    unsigned leaving;         /* terminating */
    unsigned stuck;           /* of those: that should have been gone long ago */
    const struct survey_blocker *blockers; /* the worst first */
    size_t n_blockers;
};

struct survey {
    struct survey_node *nodes; /* sorted by name */
    size_t n;
    int64_t now; /* when it was taken */
    /* What could not be read (survey_lacks()): what is said of drains is not all that there is. */
    bool no_pods, no_budgets;
};

/* Which nodes: NULL for all. */
typedef bool survey_filter(void *arg, const struct node *node);

/* `pods` has the index `by_node` (store_key_node); `owners` may be NULL (engine/budget.h).
 * Everything in `out` lives in the arena and is valid until a store changes. `now` in microseconds,
 * wall clock. */
void survey_take(const struct store *nodes, const struct store *pods, unsigned by_node,
                 struct pdbs *pdbs, struct budget_owners *owners, survey_filter *filter,
                 void *filter_arg, int64_t now, struct arena *arena, struct survey *out);

/* The stores of pods or of budgets are empty because they could not be read. */
void survey_lacks(struct survey *s, bool pods, bool budgets);
/* Whether a Node says itself that it waits for a reboot. */
bool survey_is_marked(const struct node *node);
/* Adds pods whose owner's template names their node: they are put back there however often they are
 * evicted. `pods` as above. */
void survey_pins(struct survey *s, const struct store *pods, unsigned by_node,
                 const struct store *replica_sets, const struct store *stateful_sets,
                 struct arena *arena);
/* Adds pods of namespaces that are being deleted: the server refuses to evict them. */
void survey_namespaces(struct survey *s, const struct store *pods, unsigned by_node,
                       const struct store *namespaces, struct arena *arena);
/* Adds whose lock the nodes are in: kured's, of the store's DaemonSets (kind_kured_lock). */
void survey_locks(struct survey *s, const struct store *locks);
/* Adds what the drains at work have told about their nodes: Events DrainBlocked of this drain that
 * no later DrainUnblocked takes back, where a look at the cluster does not show the same. */
void survey_tell(struct survey *s, const struct store *events, struct arena *arena);
/* What the drain of that node has told since then and has not taken back, in no order. Texts are
 * the arena's or the store's. */
size_t survey_told(const struct store *events, const struct node *node, int64_t since,
                   struct arena *arena, const struct survey_blocker **out);
enum severity survey_severity(const struct survey_blocker *b);
/* Whether it holds up a drain that has begun: what needs a flag at the start does not. */
bool survey_holds(const struct survey_blocker *b);
/* Adds what checks of storage, databases and quorums say to a drain of each node, or to what comes
 * after it where it is drained already. */
void survey_check(struct survey *s, const struct checks *found, struct arena *arena);
/* Whether some node is being drained: then Events may have more to tell. */
bool survey_drains(const struct survey *s);
/* Whether Events may have more to tell: also of a drain that waits before its first cordon. */
bool survey_wants_events(const struct survey *s);

#endif
