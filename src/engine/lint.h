/* What is wrong with a cluster's PodDisruptionBudgets before anybody drains: budgets that never
 * allow a disruption, and pods that more than one budget selects. Pure. */
#ifndef ENGINE_LINT_H
#define ENGINE_LINT_H

#include "base/arena.h"
#include "model/pdbs.h"
#include "model/store.h"

/* A budget that can never allow a disruption. */
struct lint_budget {
    const struct pdb *pdb;
    const char *why; /* its arithmetic */
    size_t pods;
};

/* Pods that the same budgets select, more than one. */
struct lint_overlap {
    const struct pdb *const *pdbs;
    size_t n_pdbs;
    const struct pod *example;
    size_t pods;
};

struct lint {
    const struct lint_budget *never;
    size_t n_never;
    const struct lint_overlap *overlaps;
    size_t n_overlaps;
    size_t budgets; /* in all */
};

/* Everything lives in the arena and is valid until a store changes. Sorted by namespace and name.
 */
void lint_budgets(const struct store *pods, const struct store *budgets, struct pdbs *pdbs,
                  struct arena *arena, struct lint *out);

#endif
