/* What a PodDisruptionBudget says about the next eviction, from its spec and status. */
#ifndef ENGINE_BUDGET_H
#define ENGINE_BUDGET_H

#include "base/str.h"
#include "model/object.h"

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

/* The budget as such, for pods that are healthy. */
enum budget_verdict budget_verdict(const struct pdb *pdb);
/* It never allows anything because it counts none of its pods, healthy as they are: they have no
 * controller, and maxUnavailable and percentages go by that. */
bool budget_uncounted(const struct pdb *pdb);
#define BUDGET_UNCOUNTED_HELP                                                                      \
    "say in the budget how many must stay as a number (minAvailable), or give its pods a "         \
    "controller"
/* An eviction of this pod now, by the eviction API's own rules; `pdbs` are those that select it. */
enum budget_verdict budget_for_pod(const struct pod *pod, const struct pdb *const *pdbs, size_t n);
/* Whether the API looks at budgets at all when this pod is evicted: not for one that has finished,
 * is pending or is terminating already. */
bool budget_is_asked(const struct pod *pod);
/* How many it would allow with `healthy` pods, and with so many more, which are all healthy. */
int64_t budget_allows_with(const struct pdb *pdb, int64_t healthy, int64_t more);
/* Of two that select the same pods, which of them the server allows none of: whether it is better
 * to keep `a`. One that can allow something, then the one that guards more, then the stricter. */
bool budget_better(const struct pdb *a, const struct pdb *b);
/* "maxUnavailable 25%": what it asks for. */
void budget_rule(const struct pdb *pdb, struct str *out);
/* "needs 3 healthy pods, has 2 of 3": the arithmetic in words. */
void budget_explain(const struct pdb *pdb, struct str *out);

#endif
