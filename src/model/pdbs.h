/* Which PodDisruptionBudgets hold which pods, kept over a store of pods and one of PDBs.
 *
 * Pods of one template have the same label set, and the pool keeps equal label sets at one address:
 * selectors are matched once per namespace and label set, not once per pod. */
#ifndef MODEL_PDBS_H
#define MODEL_PDBS_H

#include <stddef.h>

#include "model/store.h"

struct pdbs;

/* Both stores must outlive it; it adds an index to the pods and listens to both. */
struct pdbs *pdbs_new(struct store *pods, struct store *budgets);
/* The stores may not change any more: they would still tell it. */
void pdbs_free(struct pdbs *p);

/* The PDBs that select this pod, sorted by name; valid until a store changes. An invalid selector
 * matches nothing, as in the eviction API. */
const struct pdb *const *pdbs_of_pod(struct pdbs *p, const struct pod *pod, size_t *n);
/* The pods that this PDB selects, sorted by name; free() the array. */
const struct pod **pdbs_pods(struct pdbs *p, const struct pdb *pdb, size_t *n);

#endif
