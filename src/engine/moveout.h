/* Where pods go when their nodes are drained: what plan, why and lint have in common.
 *
 * The scheduler's picture (engine/fit.h) is filled from stores; a pod is made anew as its owner
 * makes it; and one node is emptied in thought, to see which of its pods find no place, and which
 * never get to go because of these.
 *
 *     struct moveout m = {.fit = fit, .stores = &stores, .least_priority = ...};
 *     moveout_add(&m, pod, moveout_budget(pod, pdbs, n_pdbs));
 *     moveout_play(&m, node);
 *     ... m.pods.p[i].end; fit_explain() of those without a place
 *     moveout_undo(&m);
 *     moveout_done(&m);
 *
 * A budget gives what it allows to those who come first. What they took comes back when their
 * replacements run; a replacement that fits nowhere keeps it, and when nothing is left those who
 * still wait for the budget wait for ever: it has run dry. */
#ifndef ENGINE_MOVEOUT_H
#define ENGINE_MOVEOUT_H

#include "base/arena.h"
#include "base/vec.h"
#include "engine/fit.h"
#include "model/store.h"

/* What only nodes decide, and pods that stay: it is the same as long as no node opens. */
#define MOVEOUT_LASTING                                                                            \
    (1u << FIT_UNSCHEDULABLE | 1u << FIT_TAINT | 1u << FIT_NODE_AFFINITY | 1u << FIT_RESOURCE |    \
     1u << FIT_PODS | 1u << FIT_NODE_NAME | 1u << FIT_VOLUME_NODE | 1u << FIT_VOLUME_NONE |        \
     1u << FIT_VOLUME_ZONE | 1u << FIT_VOLUME_GONE | 1u << FIT_POD | 1u << FIT_GATED |             \
     1u << FIT_NOT_ASKED | 1u << FIT_NO_NODE)

/* --- the picture --- */

/* NULL: not known; claims without volumes are as good as not known. */
struct moveout_stores {
    const struct store *nodes, *pods, *namespaces, *volumes, *claims, *classes;
};

/* Puts all there is. Nodes by name: which of two equally good ones is taken goes by their order,
 * and a store has none. */
void moveout_fill(struct fit *fit, const struct moveout_stores *s);
int32_t moveout_priority(const struct pod *pod);
/* Of all pods: who has more may push one of them aside. */
int32_t moveout_least_priority(const struct store *pods);

/* --- a pod, made anew --- */

/* The pod as its owner makes it again: nowhere yet, with its name. */
struct pod moveout_successor(const struct pod *pod);
/* Whether it is known where its volumes can be; what is not is not judged. */
bool moveout_judged(const struct moveout_stores *s, const struct pod *pod);
/* Of one that is not judged: whether that is because claims, volumes or classes could not be read.
 */
bool moveout_unread(const struct moveout_stores *s, const struct pod *pod);
/* The claims of a successor's ephemeral volumes, as their controller makes them: they wait for a
 * node. Or they are gone. Its name may have a tilde and a number behind that of the pod that it
 * follows. */
void moveout_set_claims(struct fit *fit, const struct moveout_stores *s, const struct pod *copy,
                        bool there);
/* Of a pod that fits nowhere: whether the scheduler would evict less important pods for it. */
bool moveout_preempts(struct fit *fit, const struct pod *pod, int32_t least_priority);

/* A scheduler's message without its second half, which is about preemption; in the arena. */
const char *moveout_words(struct arena *arena, const char *message);

/* --- a node, emptied --- */

/* Whose disruptions the eviction of this pod takes one of; NULL: of none. `pdbs` are those that
 * select it, and let it go now. */
const struct pdb *moveout_budget(const struct pod *pod, const struct pdb *const *pdbs, size_t n);

enum moveout_end {
    MOVEOUT_STAYS,    /* its budget has run dry: moveout_keeper() tells because of whom */
    MOVEOUT_PLACED,   /* or would push others aside */
    MOVEOUT_HOMELESS, /* its replacement fits nowhere */
};

struct moveout_pod {
    const struct pod *pod;
    const struct pdb *budget; /* or NULL */
    bool last; /* goes when all others are settled: only what if somebody mends what keeps it */
    /* played */
    enum moveout_end end;
    bool local; /* of the homeless: a volume ties it to certain nodes */
    bool gone;
    bool owed; /* what it took of its budget has yet to be given back */
    uint32_t codes;
};

struct moveout_left {
    const struct pdb *budget;
    int32_t allows;
};

struct moveout {
    struct fit *fit;
    const struct moveout_stores *stores;
    int32_t least_priority;
    bool careful; /* the place that the scheduler would take; else the first that fits, which is
                     cheap */
    VEC(struct moveout_pod) pods;
    VEC(struct moveout_left) left;
    const struct node *node; /* that is being emptied */
    size_t questions;        /* about nodes, of pods that fit nowhere; adds up */
};

/* Those that go, in the order in which they do. moveout_judged() has been asked. */
struct moveout_pod *moveout_add(struct moveout *m, const struct pod *pod, const struct pdb *budget);
/* The node is cordoned, and its pods go. The picture is then as after the drain, for questions. */
void moveout_play(struct moveout *m, const struct node *node);
/* Of a budget that has run dry: the first pod whose replacement fits nowhere. */
const struct pod *moveout_keeper(const struct moveout *m, const struct pdb *budget);
/* The picture is as before, and there are no pods: for the next node. */
void moveout_undo(struct moveout *m);
void moveout_done(struct moveout *m);

#endif
