/* What the files of why share; the public face is why.h. */
#ifndef ENGINE_WHY_INTERNAL_H
#define ENGINE_WHY_INTERNAL_H

#include "base/shell.h"
#include "base/str.h"
#include "base/vec.h"
#include "engine/budget.h"
#include "engine/remedy.h"
#include "engine/rules.h"
#include "engine/why.h"

typedef VEC(const struct pod *) why_pods;

struct moveout_pod;

struct making {
    const struct why_world *w;
    struct arena *arena;
    struct why *out;
    struct rules *rules; /* the built-in ones: foreign marks */
    struct budget_owners budget_owners;
    const struct node *node; /* whose drain is looked at; NULL: none */
    const struct pod *pod;   /* that was asked about; NULL: none was */
    VEC(struct why_link *) links;
    VEC(const char *) unread;
    why_pods held;        /* of the node: do not go, or are left alone */
    why_pods unmade;      /* of the node: go, and are not made again */
    why_pods told;        /* of the node: that they stay Pending, or wait, is told already */
    bool no_budgets;      /* they cannot be read */
    unsigned nodes_asked; /* one by one */
    unsigned rooms;       /* pods for which all nodes were asked */
};

/* --- why.c: looking and building --- */

void why_begin(struct making *m, const struct why_world *w, struct arena *arena, struct why *out);
/* Sorts the links and judges the whole. */
void why_end(struct making *m);

/* Whether what is wanted is there; notes what is not. */
bool why_has(struct making *m, const struct why_want *want);
/* True also when it cannot be read: `*cannot`. */
bool why_has_or_cannot(struct making *m, const struct why_want *want, bool *cannot);
/* Adds what is not known because that kind cannot be read: nobody can say then that all is well. */
struct why_link *why_unread_link(struct making *m, const struct kind *kind, const char *text,
                                 const char *help);
#define WHY_NO_BUDGETS                                                                             \
    "whether budgets let pods go is not known: PodDisruptionBudgets cannot be listed"
#define WHY_NO_BUDGETS_HELP "give the permission to list poddisruptionbudgets"
/* Notes a resource that could not be read. */
void why_unread(struct making *m, const char *what);
/* An object by its name, NULL when it is not there (yet). `*gone`, which may be NULL: there is none
 * of that name. */
const void *why_look(struct making *m, const struct kind *kind, const char *ns, const char *name,
                     bool *gone);
/* "ns/name" or "name", in the arena. */
const char *why_name(struct making *m, const struct meta *meta);
const char *why_text(struct making *m, const struct str *text);
/* A new link with the code's severity; WHY_NO_CODE: SEVERITY_WARN. Texts are not copied. */
struct why_link *why_link_new(struct making *m, int code, const char *kind, const char *object,
                              const char *text);
/* Names the pods that the link is about. */
void why_link_pods(struct making *m, struct why_link *l, const struct pod *const *pods, size_t n);
void why_link_cause(struct making *m, struct why_link *l, const struct why_link *cause);
/* Kept in the order of risk; among equals the first stays first. Texts are not copied; NULL is "".
 */
void why_link_remedy(struct making *m, struct why_link *l, enum why_risk risk, const char *text,
                     const char *command, const char *cost);
void why_use_remedies(struct making *m, struct why_link *l, const struct remedies *r);
static inline const char *why_shell(struct making *m, const char *word) {
    return shell_word(m->arena, word);
}

/* --- why_pod.c: what is in the way of pods --- */

struct why_counts {
    unsigned moves, stays, leaving; /* pods */
    unsigned unmade;                /* of moves: not made again, for another reason than room */
    unsigned homeless;              /* of moves: no room elsewhere, as far as that was looked at */
    unsigned never, flag, wait; /* of moves and leaving: those that do not get away, by the worst */
    unsigned chance;            /* of moves: whether they get away is chance */
    bool luck;                  /* they all do, but with less luck they would not */
    unsigned unknown;           /* of moves: whether there is room for them could not be read */
};

/* Adds the links of these pods of a node, folded. */
void why_look_at_pods(struct making *m, const struct pod *const *pods, size_t n,
                      struct why_counts *counts);

/* --- why_budget.c --- */

/* Of a budget that an operator keeps over this pod (engine/guard.h). */
struct why_link *why_guard_link(struct making *m, const struct pdb *pdb, const struct pod *pod);
/* `pods` are those of the target that wait for this budget. */
struct why_link *why_budget_link(struct making *m, enum blocker_code code, const struct pdb *pdb,
                                 const struct pod *const *pods, size_t n);
struct why_link *why_budgets_link(struct making *m, const struct pdb *const *pdbs, size_t n_pdbs,
                                  const struct pod *const *pods, size_t n);
/* Of a budget that allows something now, and nothing more once `keeper` is evicted: for ever, or if
 * others get the last places. */
struct why_link *why_dry_link(struct making *m, const struct pdb *pdb,
                              const struct moveout_pod *keeper, bool chance,
                              const struct pod *const *pods, size_t n);
/* Of a budget that lasts, unless the replacement of `winner` gets the place of that of `loser`. */
struct why_link *why_luck_link(struct making *m, const struct pdb *pdb, const struct pod *winner,
                               const struct pod *loser);
/* What the owners of pods want (engine/budget.h): asks for whatever that takes. */
void why_owners_init(struct making *m);
/* Asks for all pods of a budget; false as long as they are not there. */
bool why_budget_pods(struct making *m, const struct pdb *pdb);

/* The thing to scale: of a pod's controller, a Deployment where it has one. */
struct why_owner {
    const char *resource; /* "deployment"; NULL: there is none that we know of */
    const char *ns, *name;
    int32_t replicas;
    const struct deployment *deployment; /* or NULL */
    const struct pod_template *template; /* or NULL */
};
void why_owner_of(struct making *m, const struct pod *pod, struct why_owner *out);

/* --- why_trouble.c: why pods are not ready --- */

enum why_trouble {
    WHY_TROUBLE_NONE,
    WHY_TROUBLE_NODE,     /* its node does not answer */
    WHY_TROUBLE_NO_NODE,  /* the scheduler finds none */
    WHY_TROUBLE_CRASH,    /* a container ends again and again */
    WHY_TROUBLE_IMAGE,    /* an image cannot be pulled */
    WHY_TROUBLE_CONFIG,   /* a container cannot be made */
    WHY_TROUBLE_MOUNT,    /* volumes, network: what the kubelet's Events tell */
    WHY_TROUBLE_UNREADY,  /* runs, and its probe fails */
    WHY_TROUBLE_STARTING, /* on its way */
    WHY_TROUBLE_LEAVING,  /* terminating */
};

enum why_trouble why_trouble_of(struct making *m, const struct pod *pod);
/* Links for those of the pods that are not ready, folded, added to `to` as causes with what helps
 * against each as remedies of `to`. Returns which troubles there are, as bits. */
unsigned why_add_troubles(struct making *m, struct why_link *to, const struct pod *const *pods,
                          size_t n);

/* --- why_volume.c --- */

/* Adds a link when volumes are attached to the node that none of its pods uses, and that do not get
 * off it: a drain waits for them at its end. True: there is one. */
bool why_look_at_volumes(struct making *m, const struct pod *const *pods, size_t n);
/* Adds causes for volumes of this pod that are attached to other nodes, and what helps. */
void why_add_attached(struct making *m, struct why_link *l, struct why_link *helped,
                      const struct pod *pod);

/* --- why_checks.c --- */

/* How far the drain of a node is. */
enum why_stage {
    WHY_BEFORE,   /* nobody drains it: what a drain would meet */
    WHY_DRAINING, /* it has passed what gates the cordon */
    WHY_DRAINED,  /* what matters is what may be done to it now */
};
/* The worst findings: what keeps a drain from beginning; what it waits for when the pods are gone,
 * or is against the operation once it is drained. NULL: nothing. */
struct why_gates {
    const struct check_finding *begin, *end;
    bool volume; /* the same of volumes that do not get off the node */
};
#define WHY_AT_THE_END "when its pods are gone the drain waits" /* as a plan says it */
/* Adds links for what is in the way of the node. */
struct why_gates why_look_at_checks(struct making *m, enum why_stage stage);

/* --- why_told.c --- */

/* Adds what the drain of the node has told in Events, or how the last one ended; counts pods that
 * it tells to wait, and that nobody had found to. */
void why_look_at_told(struct making *m, enum why_stage stage, const struct pod *const *pods,
                      size_t n, struct why_counts *counts);
/* The same of this pod of the node, as far as it is about that. */
void why_look_at_told_pod(struct making *m, const struct pod *pod, struct why_counts *counts);

/* --- why_room.c --- */

/* What keeps a pod without a node from getting one: adds causes and remedies. */
void why_add_room(struct making *m, struct why_link *l, struct why_link *helped,
                  const struct pod *pod);
/* Tries where these pods of the node would go, in their order, as far as nothing was found that
 * keeps them. Adds links when some find no room, or never get to go because of these, and counts
 * both. */
void why_look_for_room(struct making *m, const struct pod *const *pods, size_t n,
                       struct why_counts *counts);

#endif
