/* What the files of the plan share. See engine/plan.h for what it is. */
#ifndef ENGINE_PLAN_INTERNAL_H
#define ENGINE_PLAN_INTERNAL_H

#include "base/htab.h"
#include "base/prng.h"
#include "base/vec.h"
#include "engine/budget.h"
#include "engine/fit.h"
#include "engine/guard.h"
#include "engine/plan.h"
#include "engine/remake.h"

#define PLAN_FINALIZER "it has the finalizer %s: a drain waits until that is taken off"

enum ppod_state {
    PPOD_QUEUED, /* its node has not begun, or its turn in the order has not come */
    PPOD_WAITS,  /* for its budget */
    PPOD_READY,  /* for the rate */
    PPOD_LEAVING,
    PPOD_GONE,
};

enum comes_back {
    BACK_NEVER,    /* nothing makes it again */
    BACK_AT_ONCE,  /* a successor is made when it begins to leave */
    BACK_WHEN_GONE /* a StatefulSet's has its name */
};

/* A pod that shall go. What is played through is begun anew for each order of nodes. */
struct ppod {
    struct plan_pod *pub; /* NULL: a replacement that came to a node which is drained later */
    const struct pod *pod;
    unsigned node;
    int budget; /* -1: none is asked */
    struct pod_durations d;
    enum comes_back back;
    int32_t order;
    int64_t grace;               /* its own, seconds: longer ones go first */
    int64_t leaves_at;           /* it terminates already: gone then; -1 */
    int64_t delete_at;           /* a rule does not wait for the budget for longer; -1 */
    int64_t force_at;            /* nor for the pod to stop; -1 */
    int64_t deadline;            /* the rule gives it up then; 0: never */
    const char *rule;            /* its name */
    bool surges;                 /* its Deployment gets a second replica before it goes */
    bool awaited;                /* its node is not done before its successor runs */
    bool unsure;                 /* it waits for something that nobody can tell the end of */
    bool refused;                /* it needs a flag, and its whole node is refused because of it */
    const struct remade *unmade; /* why it has no successor, for another reason than room; NULL */
    const char *doubt;           /* why nobody knows what comes in its place, or where; NULL */
    const char *finalizer;       /* that keeps its object when it has stopped; NULL */
    struct pset *set;            /* that makes its successor when those before it are there; NULL */
    unsigned member;             /* of it */
    int owner;           /* its number in g->owners; -1: its successor is none like others */
    unsigned tries_gone; /* of g->tries: it got away; or was left waiting for its budget */
    unsigned tries_left;
    unsigned tries_homeless; /* it got away, and its successor fitted nowhere, */
    unsigned tries_unmade;   /* or was not made, because another that is made first is not there */
    /* played */
    struct pod_durations takes; /* d, or what chance makes of it */
    uint64_t luck;              /* who has less is first, where chance decides */
    enum ppod_state state;
    bool waited;   /* for its budget */
    bool rated;    /* and would have waited as long for the rate of evictions */
    bool took;     /* one of the budget's disruptions */
    bool raised;   /* its successor was made before it went */
    bool gained;   /* and gave its budget one disruption more */
    bool there;    /* its successor is ready, in the time that its node had */
    bool overdue;  /* its rule has given it up */
    bool homeless; /* its successor fits nowhere */
    int64_t first, evicted, gone, returned;
    const char *to;
    unsigned copy;     /* of its successor, in the room; 0: none */
    unsigned own_copy; /* it is that successor itself; 0: a real pod */
    unsigned origin;   /* of that: the number of the real pod */
    unsigned turn;     /* of its set, when its successor was placed */
    unsigned bounced;  /* times that it came to a node which had to be drained */
};

enum member_state {
    MEMBER_WELL,
    MEMBER_LEAVES,
    MEMBER_GONE,  /* and not made again yet */
    MEMBER_COMES, /* or is there, and not ready */
};

/* A pod of a StatefulSet that makes them in order; those of nodes that stay as well. */
struct pmember {
    const struct pod *pod;
    long ordinal;
    enum member_state first; /* before anything is played */
    int64_t well_at;         /* of one that is not: when it is by itself; -1 */
    /* played */
    enum member_state now;
    int gone;      /* the number of the pod that is to have a successor; -1 */
    unsigned turn; /* so many things were done to it */
};

struct pset {
    const char *uid;
    int64_t min_ready;           /* how long one must be ready before the next is made */
    VEC(struct pmember) members; /* by their ordinal */
};

/* Who makes pods anew that are all alike: which of them finds no place is nobody's business, only
 * how many. */
struct powner {
    unsigned homeless;    /* of the last play */
    unsigned least, most; /* of g->tries */
    /* While they are told: of those that leave for sure, how many have no place; of these, how many
     * were told; and of the others, how many that are not sure to have one. */
    unsigned without, told, open;
};

struct pbudget {
    const struct pdb *pdb;
    int number;
    const char *name;  /* "ns/name" */
    int32_t cap;       /* disruptions when all is well */
    const char *words; /* its arithmetic, when somebody wanted to know */
    /* Why pods still wait for it at the end, and what helps; the same for all of them. */
    const char *end_words, *end_help, *end_pod;
    int32_t luck;       /* of those that wait at the end, so many may get away all the same */
    unsigned told_node; /* of which pods that wait are being told, and how many were */
    int32_t told;
    VEC(int64_t) heals; /* when pods of it are ready that are just starting */
    VEC(unsigned) all;  /* pods that ask it */
    /* played */
    int32_t allowed;
    int32_t wanted;   /* by pods of nodes that are out */
    int32_t short_of; /* so many must be healthy before it allows anything */
    int homeless;     /* of what was spent, never given back: a pod; -1 */
    VEC(unsigned) queue;
    size_t head;
};

enum pnode_state {
    PNODE_WAITS,
    PNODE_OUT,
    PNODE_DONE,
    PNODE_LATE /* given up: it took longer than opts->timeout, or than a rule allows */
};

struct pnode {
    struct plan_node *pub;
    unsigned zone;         /* its number */
    bool hopeless;         /* some pod never goes: it comes last */
    bool refused;          /* it is cordoned and left at that: it keeps nobody waiting */
    size_t objections;     /* of checks to its cordon */
    size_t later;          /* and to what comes after its drain */
    bool exclusive;        /* a check lets only one of these be out at a time */
    VEC(unsigned) pods;    /* that shall go */
    size_t own;            /* of them: the others came during the play */
    int64_t least_out;     /* how long it is out of service at least, at the rate of evictions */
    const char *least_why; /* the budget because of which it takes so long; NULL */
    unsigned tries_done;   /* of g->tries */
    unsigned tries_stuck;  /* in so many it began, and was not done */
    /* played */
    uint64_t luck; /* as of a pod, among nodes that begin together */
    int64_t lag;   /* from its cordon until its first pod is asked */
    enum pnode_state state;
    unsigned left; /* pods */
    unsigned turn; /* of them: whose turn it is */
    bool overdue;  /* a rule has given up one of them: it ends when the others of the turn have */
    int64_t begins, ends;
    unsigned place; /* in the order in which nodes begin, also of those of one moment */
};

struct planning {
    const struct plan_input *in;
    const struct rules *rules;
    struct rules *own_rules;
    struct arena *arena;
    struct durations *durations;
    struct remake remake;
    struct budget_owners budget_owners;
    struct plan *out;
    VEC(struct ppod) pods;
    VEC(struct pbudget *) budgets;
    struct htab by_pdb; /* the same */
    VEC(struct pnode) nodes;
    struct htab by_name; /* struct pnode; they do not move any more */
    VEC(struct pset *) sets;
    VEC(struct powner) owners; /* empty until it is played more than once */
    unsigned zones;
    size_t own_pods;      /* the rest are made during a play */
    struct room *room;    /* NULL: everything fits */
    unsigned limit;       /* nodes out at once */
    VEC(unsigned) placed; /* pods whose successors have a place, when all is played */
    size_t lifts;         /* successors that were taken off their places for a question */
    size_t most, done;    /* of the last play: nodes out at once; nodes that were done */
    struct prng *chance;  /* for a play in which chance decides what is chance; NULL: names do */
    bool scarce;          /* in one of them something was short */
    unsigned tries;       /* such plays, and the one that is told; 0: nobody has looked */
    bool timed;           /* time decides who is given up */
    int64_t begun_at;     /* wall clock */
};

struct pnode *plan_node_find(const struct planning *g, const char *name);

const char *plan_full_name(const struct planning *g, const struct meta *m);
void plan_judge(struct ppod *p, enum plan_verdict verdict, enum blocker_code code,
                const char *object, const char *message);
/* An operator keeps its budget, and lets go of it; nobody can tell when. */
void plan_judge_guard(struct ppod *p, const struct guard *guard, const char *budget);
/* Its arithmetic. Many pods may wait for one budget: its words are made once. */
const char *plan_budget_words(struct planning *g, struct pbudget *b);
/* A pod that is on its way: scheduled not long ago, and nothing is wrong with it. When it will be
 * ready, or -1: nobody can tell. */
int64_t plan_ready_at(const struct planning *g, const struct pod *pod);
/* "longhorn-system/pvc-1": what a check speaks of; "". */
const char *plan_finding_object(const struct planning *g, const struct check_finding *f);
enum plan_verdict plan_finding_verdict(const struct check_finding *f);

/* --- plan_checks.c: what storage and quorums say --- */

/* Sets pub->finding and exclusive of each node; does nothing without opts->checks. */
void plan_checks(struct planning *g);

/* --- plan_surge.c: a second replica first --- */

/* Sets p->surges; judges a pod of which a drain would not know whether it may. */
void plan_surge(struct planning *g, struct ppod *p);
/* Whether the budget allows one more with the second replica; whether it then allows any, when all
 * are well. */
bool plan_surge_gains(const struct pdb *pdb);
bool plan_surge_helps(const struct ppod *p, const struct pdb *pdb);

/* --- plan_after.c: --wait-rescheduled --- */

/* Sets p->awaited. */
void plan_await(struct planning *g, struct ppod *p);
/* Of a node whose pods have all gone: one whose successor does not run; NULL. */
const struct ppod *plan_awaits(const struct planning *g, const struct pnode *n);
/* Why an owner of its pods is not well although nothing has happened yet; false: all are. */
bool plan_unwell(struct planning *g, const struct pnode *n, struct plan_blocker *out);

/* --- plan_budgets.c: what the plan rests on --- */

/* After plan_tell(): g->out->budgets. */
void plan_budgets(struct planning *g);

/* --- plan_sets.c: StatefulSets that make their pods in order --- */

/* Finds those of the pods that shall go. */
void plan_sets(struct planning *g);
void plan_sets_done(struct planning *g);
void plan_sets_reset(struct planning *g);
/* The pod whose successor is made now, or -1: one before it is not ready, or none is to be made. */
int plan_set_next(struct pset *set);
/* After a play, of a pod that is gone: the one because of which its successor is not made; NULL. */
const struct pmember *plan_set_keeper(const struct planning *g, const struct ppod *p);

/* --- plan_room.c: where the successors go --- */

struct room *room_new(const struct planning *g);
void room_free(struct room *r);
/* The node's turn is still to come: pods are put there when nothing else is as good. Until it is
 * closed or opened. */
void room_avoid(struct room *r, const char *node);
/* No pod is put there any more; or again. */
void room_close(struct room *r, const char *node);
void room_open(struct room *r, const char *node);
/* Pods that waited for a place before anything was done get one, as far as there is any. */
void room_seat(struct room *r);
/* A pod has left a node that is open. */
void room_freed(struct room *r);
/* Pods that are leaving nodes that are not the plan's, and have not left yet, in a play in which
 * chance has it so. */
size_t room_leaving(const struct room *r, const struct pod *const **out);
/* A successor of this pod is made, or tried again: the node that it goes to, NULL when there is
 * none, "" when that cannot be judged. `*copy` is its number, 0 before the first time. */
const char *room_place(struct room *r, const struct pod *pod, bool same_name, unsigned *copy);
const struct pod *room_copy(const struct room *r, unsigned copy);
/* The pod itself is gone; or the successor of that number. */
void room_gone(struct room *r, const struct pod *pod, unsigned copy);
/* Why its successor fits nowhere now, as the scheduler words it; in the arena. */
const char *room_why(struct room *r, const struct pod *pod, struct arena *arena);
/* What would make it fit: "500m cpu more on w2 would do", which node would take it without its
 * cordon, or what can be done about the rule that keeps it from the others; "". `whole`, which may
 * be NULL: nothing else would help, since it is not resources that it lacks. */
const char *room_help(struct room *r, const struct pod *pod, struct arena *arena, bool *whole);
/* Whether nothing was said of its successor's place because its volumes could not be read. */
bool room_unread(const struct room *r, const struct pod *pod);
/* Of the last one that fitted nowhere: whether more than a node that opens could help, a pod that
 * leaves for instance; whether a volume ties it to a node. */
bool room_waits_for_others(const struct room *r);
/* What if: the successor of that number is taken off its place, true when it had one; is put back
 * to this node; so many more like the one of that number find a place, at most `most`. */
bool room_lift(struct room *r, unsigned copy);
void room_lower(struct room *r, unsigned copy, const char *node);
int32_t room_for(struct room *r, unsigned copy, int32_t most);

/* --- plan_play.c --- */

/* Plays it through with the nodes in this order; returns when the last node that gets there is
 * done.
 */
int64_t plan_play(struct planning *g, const unsigned *order, bool greedy);
/* The same in a new g->room, which is the caller's afterwards. */
int64_t plan_play_room(struct planning *g, const unsigned *order, bool greedy);

/* --- plan_order.c --- */

/* The order that nodes shall go in, for plan_play(). The caller frees it. */
unsigned *plan_order(struct planning *g, bool *greedy);
/* The order of plan_order(), changed where room is short: who would keep its place for ever because
 * there is none comes after those that get through. It is the order in which they begin. */
void plan_order_settle(struct planning *g, unsigned *order, bool *greedy);

/* --- plan_chance.c --- */

/* Plays that order through so many times, with other chances: nodes get their tries_*, pods as
 * well. Returns how many nodes get through each time. */
size_t plan_chance(struct planning *g, const unsigned *order, bool greedy, unsigned tries);
/* What a play makes of chance, before it begins: how long pods take, who is first. */
void plan_draw(struct planning *g);
/* A play in the room is cheap enough to be done so many times. */
unsigned plan_tries(const struct planning *g);
/* Fewer nodes at a time with which more get through for certain than these `sure`: g->out->better.
 */
void plan_better(struct planning *g, size_t sure);

/* --- plan_tell.c --- */

/* A volume of the pod whose data is on a disk of its node, whatever else keeps it from going
 * elsewhere; NULL. */
const struct pv *plan_local_volume(const struct planning *g, const struct pod *pod);
/* What came out of the last play, to g->out. */
void plan_tell(struct planning *g);
/* The node itself is why it is not drained, or may not be: when it ends is not known then. */
void plan_blame(struct pnode *n, enum plan_verdict verdict, struct plan_blocker why);
/* Of its pods, the one of which the worst is said; one that stays when it has none. */
const struct plan_pod *plan_worst(const struct pnode *n);

/* --- plan_luck.c --- */

/* Around the other two, when the play is over. */
void plan_luck_begin(struct planning *g);
void plan_luck_end(struct planning *g);
/* Of a budget that has run dry because this successor fits nowhere: how many of those that still
 * wait for it would get away if the places were not taken by others that leave at the same time. */
int32_t plan_luck(struct planning *g, const struct pbudget *b, const struct ppod *homeless);
/* Pods that wait for the budget in the end. */
int32_t plan_still_waiting(const struct planning *g, const struct pbudget *b);
/* Corrects what was said of each pod and node by what came out in other tries or, where there were
 * none, might have. */
void plan_tell_luck(struct planning *g);

/* --- plan_bound.c --- */

/* Of one node alone, which gets its least_*. */
void plan_least(const struct planning *g, struct pnode *n);
/* Of all, after a play. */
void plan_bounds(const struct planning *g);

#endif
