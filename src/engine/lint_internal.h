/* What the files of lint share; the public face is lint.h. */
#ifndef ENGINE_LINT_INTERNAL_H
#define ENGINE_LINT_INTERNAL_H

#include "base/htab.h"
#include "base/str.h"
#include "base/vec.h"
#include "engine/attached.h"
#include "engine/budget.h"
#include "engine/lint.h"
#include "engine/remake.h"

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
    const struct node *node; /* of LINT_ATTACHED, and what is attached to it */
    struct attached attached;
    const struct remade *remade; /* of LINT_JOB_FAILS and LINT_UNMADE */
    bool unmade;                 /* of LINT_DRY: that replacement is not made at all */
    bool luck;                   /* of LINT_CHANCE: the latter, and it is the whole sentence */
};

struct linting {
    const struct lint_input *in;
    struct arena *arena;
    struct rules *rules;
    struct budget_stores sets;
    struct budget_owners budget_owners;
    struct htab buckets, selected; /* selected: budgets that have pods */
    struct htab unmade;            /* pods that are not made again when their node is drained */
    VEC(struct bucket *) list;
    bool rough;         /* the first place that fits was taken for the scheduler's */
    size_t unexplained; /* workloads without room whose reasons were not asked for */
    size_t roomed;      /* nodes whose pods were looked for room for */
    VEC(const char *) force, empty_dir; /* nodes whose drain needs the flag; sorted by address */
};

/* Adds the pod to what is known of this object under this cause; `pdbs` for those about budgets. */
struct bucket *lint_note(struct linting *l, enum lint_cause cause, const void *key,
                         const struct pod *pod, const struct pdb *const *pdbs, size_t n_pdbs);
/* The namespace of the pod, if it is being deleted, or NULL. */
const struct ns *lint_terminating(const struct linting *l, const struct pod *pod);
void lint_owner_of(const struct linting *l, const struct pod *pod, struct lint_owner *out);

/* Whether it has data on a disk of its node: a volume, or the disks of a storage daemon. */
bool lint_on_disk(const struct linting *l, const struct pod *pod);

/* Whether it is not made again when its node is drained: of those that lint_look_at_remaking() has
 * found. */
void lint_set_unmade(struct linting *l, const struct pod *pod);
/* Why nobody knows what its owner makes in its place (engine/maker.h); NULL. */
const char *lint_doubt(const struct linting *l, const struct pod *pod);
bool lint_is_unmade(const struct linting *l, const struct pod *pod);

/* lint_remake.c: each node is drained by itself; notes the pods that are not made again. */
void lint_look_at_remaking(struct linting *l);

/* lint_fix.c: the words and the remedies of a finding; kind, ns and name, too. */
void lint_tell(struct linting *l, const struct bucket *b, struct lint_finding *out);

/* lint_room.c: each node is taken away by itself; notes the pods that find no other,
 * and those that never go because their budget waits for such. */
void lint_look_for_room(struct linting *l);

#endif
