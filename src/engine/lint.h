/* What would block a drain somewhere, before anybody drains: budgets, Deployments, StatefulSets and
 * pods, grouped by cause, with the nodes that they block and with what mends them.
 *
 *     struct lint_input in = {.nodes = ..., .pods = ..., ...};
 *     lint_make(&in, &arena, &lint);
 *
 * Pure: stores in, a report out. One pass over the pods, whatever their number; a drain with the
 * default flags is what is judged. Where the room of the cluster is looked at, each node is taken
 * away by itself, the others staying as they are.
 *
 * Everything in the report lives in the arena and is valid until a store changes. The same cluster
 * has the same report, to the byte. */
#ifndef ENGINE_LINT_H
#define ENGINE_LINT_H

#include "base/arena.h"
#include "engine/blocker.h"
#include "engine/why.h"
#include "model/pdbs.h"
#include "model/store.h"

/* What comes of it, the worst first. */
enum lint_effect {
    LINT_NEVER,   /* the drain does not end unless somebody helps */
    LINT_REFUSED, /* the drain does not begin without a flag */
    LINT_WAITS,   /* the drain waits; how long, nobody can tell */
    LINT_DOWN,    /* the drain ends, but what it evicts does not come up again */
    LINT_REMARK,  /* no drain is blocked */
    LINT_EFFECTS,
};
/* "never", "refused", "waits", "down", "remark". */
const char *lint_effect_word(enum lint_effect effect);
/* Whether a drain with the default flags gets past it. */
static inline bool lint_blocks(enum lint_effect effect) {
    return effect <= LINT_WAITS;
}

/* In the order in which groups of one effect are shown. */
enum lint_cause {
    LINT_MAX_ZERO,    /* a budget with maxUnavailable 0 */
    LINT_SINGLE,      /* a budget that needs the only replica there is */
    LINT_MIN_ALL,     /* a budget that needs all replicas */
    LINT_UNCOUNTED,   /* a budget by shares or maxUnavailable of pods without a controller */
    LINT_SYNC_FAILED, /* a budget that its controller cannot compute */
    LINT_OVERLAP,     /* several budgets on one pod */
    LINT_DRY,         /* a budget that replacements without a place keep at nothing */
    LINT_LOST,        /* a node that does not answer */
    LINT_PINNED,      /* a template that names a node */
    LINT_BARE,        /* a pod without a controller */
    LINT_EMPTY_DIR,   /* pods with emptyDir data */
    LINT_CHANCE,      /* a budget that may come to that: who gets the last places is chance */
    LINT_UNREAD,      /* pods whose volumes could not be read: where they can go is not known */
    LINT_DOUBT,       /* what their owner makes in their place is not known */
    LINT_UNHEALTHY,   /* pods that are not ready, and a budget that keeps them all the same */
    LINT_SHORT,       /* a budget that has nothing to spare, since some of its pods are not ready */
    LINT_MARK,        /* a pod that is marked as not to be evicted */
    LINT_JOB,         /* a pod that is marked as to be waited for */
    LINT_NAMESPACE,   /* a namespace that is being deleted: its pods go with it */
    LINT_STUCK,       /* a pod that terminates for ever */
    LINT_HELD,        /* a pod that has stopped, and that a finalizer keeps */
    LINT_FINALIZER,   /* pods with a finalizer that somebody has to take off when they go */
    LINT_ATTACHED,    /* a node with volumes that no pod there uses, and that do not get off it */
    LINT_ORDERED,     /* a StatefulSet that makes no pod before an earlier one is ready */
    LINT_NO_ROOM,     /* pods that fit on no other node */
    LINT_JOB_FAILS,   /* a Job that cannot have its pod evicted without failing */
    LINT_UNMADE,      /* pods whose replacements the API server refuses: a quota, an account */
    LINT_LOCAL,       /* pods whose volume is on a disk of their node */
    LINT_RETURNS,     /* pods that may come back to a cordoned node */
    LINT_SCHEDULER,   /* pods that another scheduler places */
    LINT_BEYOND,      /* pods that ask for something which is not looked at */
    LINT_GUARD,       /* a budget that an operator keeps, and lets go of by itself */
    LINT_NOTHING,     /* a budget that selects no pod */
    LINT_CAUSES,
};

struct lint_row {
    const char *name; /* stable word: "max-unavailable-zero" */
    enum lint_effect effect;
    int code;              /* enum blocker_code, or WHY_NO_CODE */
    const char *one, *few; /* after the number: "budget allows no disruption" */
};
const struct lint_row *lint_row(enum lint_cause cause);
/* How bad it is, in marks: as `why` and `status` mark the code, and worse where it never ends. */
enum severity lint_severity(enum lint_cause cause);

/* One object, and all that is to be said of it under this cause. */
struct lint_finding {
    const char *kind, *ns, *name; /* of the object; ns is "" of nodes */
    const char *text;             /* a sentence without full stop, with numbers */
    unsigned pods;                /* that are held, or would not come back */
    const char *example;          /* the first of them by name, without namespace; "" */
    const char *const *nodes;     /* that they are on, sorted, each once */
    size_t n_nodes;
    const struct why_remedy *fixes; /* in the order of their risk */
    size_t n_fixes;
};

struct lint_group {
    enum lint_cause cause;
    const struct lint_finding *findings; /* those on the most nodes first, then by name */
    size_t n;
    unsigned pods;            /* of all */
    const char *const *nodes; /* of all, sorted, each once */
    size_t n_nodes;
};

struct lint {
    const struct lint_group *groups; /* by effect, then by cause; none is empty */
    size_t n;
    size_t nodes, pods, budgets; /* that were looked at */
    size_t roomed; /* of the nodes: whether their pods find room was looked at. In a cluster that is
                      large and full not of all, for want of time */
    size_t unexplained; /* workloads without room of which nobody has asked what each node lacks:
                           there are too many, it would take long */
    bool rough; /* the cluster is large: where all pods of a node found some place at once, it
                   was not asked whether that is the scheduler's, as a plan does */
    const char *const *blocked; /* nodes that a drain with the default flags does not get
                                   empty: sorted, each once */
    size_t n_blocked;
};

struct lint_input {
    const struct store *nodes, *pods, *budgets;
    struct pdbs *pdbs;     /* over pods and budgets */
    unsigned pods_by_node; /* index of pods: store_key_node */
    /* NULL: not known, what rests on them is left out. */
    const struct store *replica_sets, *deployments, *stateful_sets, *volumes, *claims, *classes,
        *namespaces, *jobs, *quotas, *accounts, *attachments, *csi_nodes;
    struct pool *pool; /* of all objects; not NULL: look for room, too */
    int64_t now;       /* wall clock, microseconds */
};

void lint_make(const struct lint_input *in, struct arena *arena, struct lint *out);

#endif
