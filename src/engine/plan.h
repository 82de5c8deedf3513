/* What a drain of these nodes would do, before anything is touched: which pods go, when and where
 * to; which wait, and for what; which never can, and why; how long it takes at best, and as
 * planned.
 *
 * Pure. The live picture comes in (struct cluster, complete: all pods, all owners), a plan comes
 * out. Time is played through: budgets are spent by an eviction and given back when the replacement
 * runs, which it does when it finds room (engine/fit.h) and after the time that such a pod takes;
 * nodes begin when the limits admit them. What is not known (how long a pod takes to stop) is
 * assumed, and the plan says what it rests on.
 *
 * The same input has the same plan, to the byte. */
#ifndef ENGINE_PLAN_H
#define ENGINE_PLAN_H

#include "base/arena.h"
#include "engine/checks.h"
#include "engine/drain.h"
#include "engine/durations.h"

/* Instead of what is assumed; called for each pod that shall go, the same each time. */
typedef struct pod_durations plan_times_fn(void *arg, const struct pod *pod,
                                           struct pod_durations assumed);

struct plan_input {
    const struct drain_opts *opts; /* as for the drain; rules may be NULL */
    struct cluster *cluster;
    /* For room; NULL: not known, and not judged. */
    const struct store *namespaces, *volumes, *claims, *classes;
    const struct store *csi_nodes; /* NULL: drivers attach any number of volumes */
    /* For what makes pods again (engine/remake.h); NULL: not known, and taken to be well. */
    const struct store *jobs, *quotas, *accounts;
    const char *const *names; /* the nodes, each once */
    size_t n_names;
    plan_times_fn *times; /* NULL: engine/durations.h */
    void *times_arg;
    int64_t now;    /* wall clock */
    bool adopt;     /* nobody has said how many nodes may go at a time: where fewer get more of them
                       through, the plan is one of so many */
    unsigned tries; /* orders of nodes to compare when not all can go at once; 0: as many as are
                       worth it */
};

enum plan_verdict {
    PLAN_STAYS,    /* not touched: a DaemonSet's, a mirror pod, skipped by a rule */
    PLAN_GOES,     /* as soon as its node begins */
    PLAN_WAITS,    /* for the blocker, then it goes */
    PLAN_HOMELESS, /* goes, and fits nowhere: the blocker says why */
    PLAN_UNSURE,   /* for the blocker, and nobody can tell for how long, or whether at all; or it is
                      chance whether it goes */
    PLAN_NEVER,    /* for the blocker, which nothing but somebody's help ends */
    PLAN_VERDICTS
};
/* "goes": one word, lower case. */
const char *plan_verdict_word(enum plan_verdict v);

/* How the message begins of a pod that stays because a check does not let its node be cordoned. */
#define PLAN_NO_CORDON "its node may not be cordoned"

/* How the message begins of a node whose drain does not end with its last pod. */
#define PLAN_AT_THE_END "when its pods are gone the drain waits"

/* What a message says of something that may come out either way, depending on who is quicker. */
#define PLAN_IS_CHANCE "is chance"

struct plan_blocker {
    enum blocker_code code;
    const char *object;  /* "web/frontend" */
    const char *message; /* with numbers */
    const char *help;    /* of what finds no room: what would make it fit, or "" */
    bool helped;         /* `help` says all that helps: the code's own hint adds nothing */
    const char *pod;     /* that the message of a budget names, as an example; NULL: none */
};

enum {
    PLAN_NO_TIME = -1, /* it does not happen, or nobody can tell when */
    PLAN_NO_COUNT = -1 /* nobody knows */
};

struct plan_pod {
    const struct pod *pod;
    enum plan_verdict verdict;
    const char *why;             /* of STAYS */
    struct plan_blocker blocker; /* of the others but GOES */
    bool follows; /* the blocker is another pod's, because of which nothing leaves the node */
    int64_t evicted, gone, back; /* microseconds from the start; back: its replacement is ready */
    const char *to;              /* where the replacement would run, or NULL */
};

struct plan_node {
    const char *name;
    const struct node *node; /* NULL: there is none of this name */
    /* The worst of its pods', of the finding's and of `itself`. It ends if and only if that is not
     * worse than PLAN_HOMELESS. */
    enum plan_verdict verdict;
    /* What a check (engine/checks.h) says to its cordon; NULL: nothing stands in the way. */
    const struct check_finding *finding;
    const struct check_finding *const *findings; /* all of them, the worst first */
    size_t n_findings;
    /* What checks say to whatever the node is drained for and not to its cordon, the worst first. A
     * drain does not end while the first is to be waited for; what is denied it leaves to whoever
     * comes next. */
    const struct check_finding *const *later;
    size_t n_later;
    /* What may keep it, or does, and is told of none of its pods: one that comes to it later, a
     * place that is lost to another. Its message is NULL when there is nothing. */
    struct plan_blocker blocker;
    enum plan_verdict itself; /* of the blocker */
    int64_t begins, ends;     /* as above */
    int64_t least;            /* how long it takes at best, alone */
    struct plan_pod *pods;    /* by namespace and name */
    size_t n_pods;
    size_t count[PLAN_VERDICTS];
};

/* With pods that take as long as is assumed of them, nobody is faster than the longest of these. */
enum plan_term { TERM_NODE, TERM_BUDGET, TERM_SLOTS, TERM_ZONES, TERM_RATE, PLAN_TERMS };
struct plan_bound {
    int64_t least;       /* microseconds */
    const char *object;  /* the node, the budget; "" */
    const char *message; /* the arithmetic */
};

/* A budget that selects a pod which shall go. */
struct plan_budget {
    const char *name;      /* "web/frontend" */
    const char *rule;      /* "maxUnavailable 25%" */
    const char *selector;  /* as after -l, in normal form */
    const char *unhealthy; /* its unhealthyPodEvictionPolicy; "" */
    int32_t spare; /* pods that it can do without at a time when all are well; PLAN_NO_COUNT */
    int32_t needs; /* of these, the most that the plan has away at the same time */
};

struct plan {
    struct plan_node *nodes; /* in the order in which they begin */
    size_t n;
    int64_t makespan; /* PLAN_NO_TIME: some node is never done */
    int64_t drained;  /* when the last of those that can be is done */
    struct plan_bound bounds[PLAN_TERMS];
    enum plan_term binds; /* the longest */
    int64_t certain;      /* nobody is faster, however fast pods are: the rate of evictions alone */
    size_t most_at_once;  /* nodes out of service at a time */
    /* Where nodes that go together keep each other from getting through: with so many at a time so
     * many nodes do for certain, more than here; 0: nothing is better. */
    size_t better_limit, better_nodes;
    /* Such a limit that the plan has taken by itself (`adopt`), and of how many nodes it would be
     * certain without; 0: none. */
    size_t adopted_limit, without_nodes;
    size_t assumed;                   /* pods that go whose start was not seen of any sibling */
    size_t stops_seen, stops_assumed; /* pods that go, by what is known of how long they take to */
    size_t attached;                  /* pods that go and have volumes that must be detached */
    size_t count[PLAN_VERDICTS];
    struct plan_budget *budgets; /* by name; none where no budget is asked (--disable-eviction) */
    size_t n_budgets;
};

/* Everything in `out` lives in the arena and is valid until a store changes. */
void plan_make(const struct plan_input *in, struct arena *arena, struct plan *out);

/* What a budget asks for, whether or not the plan has a pod of it. */
void plan_budget_of(const struct pdb *pdb, struct arena *arena, struct plan_budget *out);

/* Somebody knows better (the API server, when it is asked): the pod of this node gets another
 * verdict, and what follows from it for the node and the plan is set right. When other pods would
 * go then is not computed anew. The texts must live as long as the plan. */
void plan_correct(struct plan *plan, struct plan_node *node, struct plan_pod *pod,
                  enum plan_verdict verdict, struct plan_blocker blocker);

#endif
