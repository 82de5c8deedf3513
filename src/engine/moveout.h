/* Where pods go when their nodes are drained: what plan, why and lint have in common.
 *
 * The scheduler's picture (engine/fit.h) is filled from stores; a pod is made anew as its owner
 * makes it; and one node is emptied in thought, to see which of its pods find no place, and which
 * never get to go because of these.
 *
 *     struct moveout m = {.fit = fit, .stores = &stores, .least_priority = ...};
 *     moveout_wait(&m, pods);
 *     moveout_add(&m, pod, moveout_budget(pod, pdbs, n_pdbs));
 *     moveout_play(&m, node);
 *     ... m.pods.p[i].end; fit_explain() of those without a place
 *     moveout_undo(&m);
 *     moveout_done(&m);
 *
 * A budget gives what it allows to those who come first. What they took comes back when their
 * replacements run; a replacement that fits nowhere keeps it, and when nothing is left those who
 * still wait for the budget wait for ever: it has run dry.
 *
 * Where several replacements want the same last place, who gets it is chance, and what is played is
 * one way in which it may come out. Who would get away in another is `lucky`, and moveout_chance()
 * tells who got away by luck. */
#ifndef ENGINE_MOVEOUT_H
#define ENGINE_MOVEOUT_H

#include "base/arena.h"
#include "base/vec.h"
#include "engine/fit.h"
#include "model/store.h"

enum {
    MOVEOUT_LEAVES_WITHIN = 60
}; /* seconds after its grace period that a pod is still believed
      to go */

/* What only nodes decide, and pods that stay: it is the same as long as no node opens. */
#define MOVEOUT_LASTING                                                                            \
    (1u << FIT_UNSCHEDULABLE | 1u << FIT_TAINT | 1u << FIT_NODE_AFFINITY | 1u << FIT_RESOURCE |    \
     1u << FIT_PODS | 1u << FIT_NODE_NAME | 1u << FIT_VOLUME_NODE | 1u << FIT_VOLUME_NONE |        \
     1u << FIT_VOLUME_ZONE | 1u << FIT_VOLUME_GONE | 1u << FIT_POD | 1u << FIT_GATED |             \
     1u << FIT_NOT_ASKED | 1u << FIT_NO_NODE)

/* What is said of chance: behind "the replacement of X fits nowhere"; with the names of the winner
 * and the loser. The same words everywhere. */
#define MOVEOUT_BY_CHANCE                                                                          \
    " when others that leave at the same time are quicker: who gets the last places is chance"
/* Of the pod that keeps what it took of a budget. */
#define MOVEOUT_KEPT(unmade) ((unmade) ? "is not made" : "fits nowhere")
#define MOVEOUT_LUCK                                                                               \
    "whether the node is drained is chance: the replacement of %s may get the place of that of "   \
    "%s, which then keeps what it took of the budget"

/* Of pods whose volumes could not be read: their number, and "s" unless that is 1. What helps. */
#define MOVEOUT_UNREAD                                                                             \
    "whether there is room for the replacements of %zu pod%s is not known: their volumes cannot "  \
    "be looked at"
#define MOVEOUT_UNREAD_HELP                                                                        \
    "give the permission to list persistentvolumes, persistentvolumeclaims and storageclasses"

/* Of pods that another scheduler places: their number, "s" unless that is 1, and its name. */
#define MOVEOUT_OTHER                                                                              \
    "where the replacements of %zu pod%s go, and whether there is room, is not known: scheduler "  \
    "%s places them"

/* Of pods that ask for something which is not looked at: their number, "s" unless that is 1, and
 * what that is (moveout_beyond()). */
#define MOVEOUT_BEYOND                                                                             \
    "where the replacements of %zu pod%s go, and whether there is room, is not known: %s"

/* --- the picture --- */

/* NULL: not known; claims without volumes are as good as not known. */
struct moveout_stores {
    const struct store *nodes, *pods, *namespaces, *volumes, *claims, *classes, *csi_nodes,
        *attachments;
    int64_t now; /* wall clock: of pods, those that are about to be gone are not put; 0: all are */
};

/* Puts all there is. Nodes by name: which of two equally good ones is taken goes by their order,
 * and a store has none. */
void moveout_fill(struct fit *fit, const struct moveout_stores *s);
/* Whether it terminates, and is believed to be gone soon: it makes room. */
bool moveout_leaves(const struct pod *pod, int64_t now);
int32_t moveout_priority(const struct pod *pod);
/* Of all pods: who has more may push one of them aside. */
int32_t moveout_least_priority(const struct store *pods);

/* --- a pod, made anew --- */

/* The pod as its owner makes it again: nowhere yet, with its name. */
struct pod moveout_successor(const struct pod *pod);
/* Whether it is known where its volumes can be, who places it, and what counts then; what is not is
 * not judged. */
bool moveout_judged(const struct moveout_stores *s, const struct pod *pod);
/* Whether another scheduler than Kubernetes' own places it: nobody here knows what that would do,
 * so it is not judged either. */
bool moveout_placed_by_other(const struct pod *pod);
/* What counts for the scheduler when it places this pod, and is not looked at here, so that it is
 * not judged either: "the devices of ResourceClaims are not looked at". NULL: nothing. */
const char *moveout_beyond(const struct pod *pod);
/* Whether one of both is so: whatever is read, nobody here knows where it goes. */
bool moveout_unknown(const struct pod *pod);
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
/* How much of it that is; also of a text that ends with such a message. */
size_t moveout_words_len(const char *message);

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
    bool unmade; /* it has no replacement, for another reason than room (engine/remake.h) */
    bool last;   /* goes when all others are settled: only what if somebody mends what keeps it */
    /* played */
    enum moveout_end end;
    const char *to; /* where its replacement is; NULL: nowhere, or where others are pushed aside */
    unsigned round; /* in which it left: those of one round leave together */
    bool waited;    /* for its budget */
    bool lucky; /* of those that stay: it goes if a place is not taken by another that leaves at the
                   same time */
    bool gone;
    bool owed; /* what it took of its budget has yet to be given back */
    uint32_t codes;
};

struct moveout_left {
    const struct pdb *budget;
    int32_t allows;
};

/* One that has waited for a node since before the drain (engine/waiting.h). */
struct moveout_seat {
    const struct pod *pod;
    const char *to; /* NULL: it still waits */
    bool early;     /* it had its place before anybody left */
    bool asked;
    unsigned round;
    uint32_t codes, before; /* what keeps it out: now, and before anybody left */
};

struct moveout {
    struct fit *fit;
    const struct moveout_stores *stores;
    int32_t least_priority;
    bool careful; /* the place that the scheduler would take, as a plan of one node has it; else the
                     first that fits, which is cheap */
    VEC(struct moveout_pod) pods;
    VEC(struct moveout_left) left;
    VEC(struct moveout_seat) waiting;
    const struct node *node; /* that is being emptied */
    unsigned round;
    uint64_t left_before; /* pods: what tells nodes apart that are equally good, as in a plan */
    size_t questions;     /* about nodes, of pods that fit nowhere; adds up */
};

/* Those that go, in any order. moveout_judged() has been asked. */
struct moveout_pod *moveout_add(struct moveout *m, const struct pod *pod, const struct pdb *budget);
/* Pods of the store that wait for a node take part, in every play: those that there is room for
 * get it now, the others as soon as somebody who was in their way has gone. Once, at first. */
void moveout_wait(struct moveout *m, const struct store *pods);
/* The node is cordoned, and its pods go, in the order in which a drain asks them. The picture is
 * then as after the drain, for questions. */
void moveout_play(struct moveout *m, const struct node *node);
/* Of a budget that has run dry: the first pod whose replacement fits nowhere, or is not made. */
const struct moveout_pod *moveout_keeper(const struct moveout *m, const struct pdb *budget);
/* Of a budget that has not run dry, with pods that had to wait for it: whether it would have if the
 * replacement of `*winner`, which fits nowhere, had got the place of that of `*loser`. */
bool moveout_chance(struct moveout *m, const struct pdb *budget, const struct pod **winner,
                    const struct pod **loser);
/* The picture is as before, and the pods can be played again, `careful` or not. */
void moveout_rewind(struct moveout *m);
/* The same, and there are no pods: for the next node. */
void moveout_undo(struct moveout *m);
/* The picture, which has to be there, is as it was before moveout_wait(). */
void moveout_done(struct moveout *m);

#endif
