/* Budgets that an operator keeps over its own pods, and takes away or moves by itself.
 *
 * By their numbers they allow nothing, for ever: one instance manager, one primary, and at least
 * one must stay. They are no mistake of anybody's. The operator lets go when it has seen the
 * cordon and what it guards is safe, so that a drain waits for it; who changes the budget instead,
 * or deletes its pods, takes away the only thing that keeps the data. What is in the way of letting
 * go is for the check of that system to say (engine/checks.h).
 *
 * They are known by what the operators themselves call them and select, so that everybody who looks
 * at a budget says the same of it, whether or not the operator's own objects were read. */
#ifndef ENGINE_GUARD_H
#define ENGINE_GUARD_H

#include "engine/blocker.h"
#include "model/object.h"

enum guard_id {
    GUARD_LONGHORN,     /* of an instance manager */
    GUARD_CNPG_PRIMARY, /* of a primary */
    GUARD_ZALANDO_MASTER,
    GUARD_ROOK_OSD, /* of all OSDs, or of those of one failure domain */
    GUARD_ROOK_MON,
    GUARDS,
};

struct guard {
    const char *check;      /* the name of the check that it belongs to */
    enum blocker_code code; /* what a drain that waits for it waits for */
    const char *words;      /* a sentence: whose budget it is, and what becomes of it */
    const char *hint;       /* what to do, which is mostly nothing */
};

extern const struct guard guards[GUARDS];

/* The guard that this budget is of this pod, which it selects; NULL: it is an ordinary budget. */
const struct guard *guard_of(const struct pdb *pdb, const struct pod *pod);
/* The same, of a pod that `n` budgets select. */
const struct guard *guard_of_pod(const struct pod *pod, const struct pdb *const *pdbs, size_t n);

/* The pod is a storage daemon whose data is on disks of its node: it has no business elsewhere, and
 * comes back with the node. */
bool guard_is_on_disk(const struct pod *pod);
#define GUARD_ON_DISK "its data is on disks of this node: it is back when the node is"

#endif
