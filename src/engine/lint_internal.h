/* What the files of lint share; the public face is lint.h. */
#ifndef ENGINE_LINT_INTERNAL_H
#define ENGINE_LINT_INTERNAL_H

#include "base/htab.h"
#include "base/str.h"
#include "base/vec.h"
#include "engine/lint.h"

/* What is to be scaled or patched to change a pod's template or number: its Deployment where it has
 * one, else its controller. */
struct lint_owner {
    const char *kind, *name; /* "Deployment"; of a bare pod the pod itself */
    const char *resource; /* for kubectl, and only of kinds that we know: "deployment"; or NULL */
    const void *key;      /* what tells it from others: a pool entry */
    int32_t replicas;     /* wanted; 0 where that is not known */
    const struct pod_template *template; /* or NULL */
    const char *pinned;                  /* the node that the template names, or NULL */
    const struct stateful_set *set;      /* or NULL */
};

/* The pods of one object under one cause, as they are collected. */
struct bucket {
    enum lint_cause cause;
    const void *key;
    const struct pdb *const *pdbs; /* of those about budgets */
    size_t n_pdbs;
    struct lint_owner owner; /* of the first pod */
    VEC(const struct pod *) pods;
    /* Of LINT_NO_ROOM and LINT_LOCAL the scheduler's words, or NULL; of LINT_DRY the pod whose
     * replacement has no place; of LINT_CHANCE that, or why it has one by luck. */
    const char *why;
    bool luck; /* of LINT_CHANCE: the latter, and it is the whole sentence */
};

struct linting {
    const struct lint_input *in;
    struct arena *arena;
    struct rules *rules;
    struct htab buckets, selected; /* selected: budgets that have pods */
    VEC(struct bucket *) list;
    size_t roomed;                      /* nodes whose pods were looked for room for */
    VEC(const char *) force, empty_dir; /* nodes whose drain needs the flag; sorted by address */
};

/* Adds the pod to what is known of this object under this cause; `pdbs` for those about budgets. */
struct bucket *lint_note(struct linting *l, enum lint_cause cause, const void *key,
                         const struct pod *pod, const struct pdb *const *pdbs, size_t n_pdbs);
/* The condition that says that the budget could not be computed, or NULL. */
const struct condition *lint_sync_failed(const struct pdb *pdb);
void lint_owner_of(const struct linting *l, const struct pod *pod, struct lint_owner *out);

/* Whether a volume of it is on a disk of its node. */
bool lint_local_volume(const struct linting *l, const struct pod *pod);

/* lint_fix.c: the words and the remedies of a finding; kind, ns and name, too. */
void lint_tell(struct linting *l, const struct bucket *b, struct lint_finding *out);

/* lint_room.c: each node is taken away by itself; notes the pods that find no other,
 * and those that never go because their budget waits for such. */
void lint_look_for_room(struct linting *l);

#endif
