/* What a PodDisruptionBudget says about the next eviction, from its spec and status. */
#ifndef ENGINE_BUDGET_H
#define ENGINE_BUDGET_H

#include "base/str.h"
#include "model/object.h"

enum budget_verdict {
    BUDGET_ALLOWS, /* at least one eviction would go through now */
    BUDGET_WAITS,  /* none now; there will be when its pods are healthy */
    BUDGET_NEVER,  /* none ever, with the pods and the numbers there are */
    BUDGET_EMPTY,  /* it selects no pods: nothing is held */
};

enum budget_verdict budget_verdict(const struct pdb *pdb);
/* "needs 3 healthy pods, has 2 of 3": the arithmetic in words. */
void budget_explain(const struct pdb *pdb, struct str *out);

#endif
