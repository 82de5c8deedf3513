/* What a PodDisruptionBudget says about the next eviction, from its spec and status. */
#ifndef ENGINE_BUDGET_H
#define ENGINE_BUDGET_H

#include "base/htab.h"
#include "base/str.h"
#include "engine/cluster.h"
#include "model/object.h"
#include "model/pdbs.h"

enum budget_verdict {
    BUDGET_ALLOWS,   /* at least one eviction would go through now */
    BUDGET_WAITS,    /* none now; there will be when its pods are healthy */
    BUDGET_NEVER,    /* none ever, with the pods and the numbers there are */
    BUDGET_FAILED,   /* none: its controller cannot compute it, somebody must look */
    BUDGET_MULTIPLE, /* more than one budget selects the pod: none ever */
};

/* It does not let pods go by its numbers, and one that operators keep (engine/guard.h) may all the
 * same. */
static inline bool budget_holds(enum budget_verdict v) {
    return v == BUDGET_NEVER || v == BUDGET_WAITS;
}

/* --- what the owners of its pods want --- */

/* Where minAvailable is a number, what a budget expects are the pods that there are, not those that
 * their owners want: a StatefulSet that makes its pods in order may be short of some. Whether that
 * lasts only the owners know.
 *
 * Answers are kept until budget_owners_forget(), which is due when a store changes. Everybody takes
 * NULL for it: the owners are not known. */

/* The StatefulSet or ReplicaSet of that name, or NULL: not known. */
typedef const struct object *budget_look_fn(void *arg, const struct kind *kind, const char *ns,
                                            const char *name);
/* Whether the pods of the budget are there to be looked at. */
typedef bool budget_pods_fn(void *arg, const struct pdb *pdb);

struct budget_owners {
    struct pdbs *pdbs; /* over the pods that are known */
    budget_look_fn *look;
    budget_pods_fn *ready; /* NULL: they always are */
    void *arg;
    struct htab known;
};
void budget_owners_init(struct budget_owners *o, struct pdbs *pdbs, budget_look_fn *look,
                        void *arg);
void budget_owners_done(struct budget_owners *o);
void budget_owners_forget(struct budget_owners *o);

/* `arg` is a struct budget_stores, whose stores may be NULL. */
struct budget_stores {
    const struct store *replica_sets, *stateful_sets;
};
budget_look_fn budget_look_stores;
/* `arg` is a struct cluster: what is not there is asked for. */
budget_look_fn budget_look_cluster;

/* Pods that are wanted and not made yet, of a budget whose verdict hangs on that; else 0. */
int64_t budget_unmade(const struct pdb *pdb, struct budget_owners *o);
/* Pods that it can do without at a time when all are well; BUDGET_UNKNOWN. */
enum { BUDGET_UNKNOWN = -1 };
int64_t budget_spare(const struct pdb *pdb, struct budget_owners *o);

/* --- verdicts --- */

/* The budget as such, for pods that are healthy. */
enum budget_verdict budget_verdict(const struct pdb *pdb, struct budget_owners *o);
/* It never allows anything because it counts none of its pods, healthy as they are: they have no
 * controller, and maxUnavailable and percentages go by that. */
bool budget_uncounted(const struct pdb *pdb);
#define BUDGET_UNCOUNTED_HELP                                                                      \
    "say in the budget how many must stay as a number (minAvailable), or give its pods a "         \
    "controller"
/* An eviction of this pod now, by the eviction API's own rules; `pdbs` are those that select it. */
enum budget_verdict budget_for_pod(const struct pod *pod, const struct pdb *const *pdbs, size_t n,
                                   struct budget_owners *o);
/* Whether the API looks at budgets at all when this pod is evicted: not for one that has finished,
 * is pending or is terminating already. */
bool budget_is_asked(const struct pod *pod);
/* How many it would allow with `healthy` pods, and with so many more, which are all healthy. */
int64_t budget_allows_with(const struct pdb *pdb, int64_t healthy, int64_t more);
/* Of two that select the same pods, which of them the server allows none of: whether it is better
 * to keep `a`. One that can allow something, then the one that guards more, then the stricter. */
bool budget_better(const struct pdb *a, const struct pdb *b, struct budget_owners *o);
/* "maxUnavailable 25%": what it asks for. */
void budget_rule(const struct pdb *pdb, struct str *out);
/* "needs 3 healthy pods, has 2 of 3": the arithmetic in words. */
void budget_explain(const struct pdb *pdb, struct budget_owners *o, struct str *out);

#endif
