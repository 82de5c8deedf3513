/* What the files of a play share: plan_play.c, in which things happen, and plan_turns.c, which says
 * whose turn it is. */
#ifndef ENGINE_PLAN_PLAY_H
#define ENGINE_PLAN_PLAY_H

#include "engine/plan_internal.h"

enum what {
    POD_GONE,   /* it has stopped */
    POD_MADE,   /* its successor is made, some of those that wait for room are tried again */
    POD_BACK,   /* its successor is ready */
    POD_DELETE, /* a rule does not wait for its budget any longer */
    TOKEN,      /* the rate allows another eviction */
    HEALED,     /* a pod of the budget of that number is ready, which was just starting */
    LATE,       /* the node of that number has had all the time that it may have */
    OVERDUE,    /* the pod has had all the time that its rule gives it */
    POD_COUNTS, /* its successor is ready for so long that its StatefulSet goes on */
    MEMBER,     /* so is a pod of the StatefulSet of that number, which was just starting */
    CORDONED,   /* the node of that number is, and known to be */
    OTHER_GONE, /* the pod of that number of room_leaving() */
};

struct happening {
    int64_t at;
    uint64_t seq; /* what was known of first comes first */
    enum what what;
    unsigned pod;
    unsigned member; /* of a StatefulSet */
};

/* A pod of the node that began in this place was asked to go. */
struct sent {
    unsigned place;
    int64_t at;
};

struct play {
    struct planning *g;
    int64_t now;
    uint64_t seq;
    VEC(struct happening) heap;
    VEC(unsigned) ready;   /* may go as soon as the rate allows: a heap */
    VEC(unsigned) pending; /* successors that fit nowhere */
    bool hopeful;          /* some of them might when another pod has left */
    double tokens;
    int64_t tokens_at;
    bool token_due;
    int64_t idle_from; /* when the rate would allow one more, with nobody there who may go */
    int64_t idle_till; /* the last time that it was so */
    /* The last of each place, but for those after which one of a later place was: the later the
     * place, the longer ago. */
    VEC(struct sent) sent;
    unsigned begun, out, done; /* nodes */
    unsigned refused;          /* that are cordoned and left at that: out of service as well */
    size_t most;
    const unsigned *order;
    size_t from;        /* in it: those before have begun */
    unsigned *zone_out; /* nodes out, by zone */
    unsigned zones;     /* with nodes out */
    unsigned exclusive; /* nodes out of which only one may be */
    bool greedy;
    bool as_given; /* nodes begin in their order, even those that are never done */
    int64_t last;  /* a node was done */
};

/* --- plan_play.c --- */

void play_later(struct play *p, int64_t at, enum what what, unsigned pod);
/* The successor of that pod is made, and has a place or waits for one. Pods may be elsewhere in
 * memory after this. */
void play_make_successor(struct play *p, unsigned i);
/* Of a pod of a StatefulSet that makes one after the other: how it is. */
void play_member_is(struct ppod *pod, unsigned i, enum member_state state);

/* --- plan_turns.c --- */

/* Nothing more is asked to leave a node that was given up; nor is a pod that was. */
bool play_is_late(const struct play *p, unsigned pod);
/* Nothing but the rate keeps it. */
void play_go_now(struct play *p, unsigned pod);
/* To those that wait for it: what it allows goes to those who ask first. */
void play_enqueue(const struct planning *g, struct pbudget *b, unsigned pod);
/* Those that wait go as far as the budget allows. */
void play_use_budget(struct play *p, struct pbudget *b);
/* Those of the lowest order that is left have their turn. */
void play_begin_turns(struct play *p, struct pnode *n);
/* Those that may go are asked, as far as the rate allows. */
void play_run_ready(struct play *p);

#endif
