/* A maintenance: one operation on one node, from the request to the release, as a table of states
 * and a table of ways between them; maint_dot() draws both.
 *
 *     request, gates, slot, cordon, drain, operate, return, restore, uncordon, release
 *
 * Pure, and without a memory of its own: what was done is written in the slot (engine/slots.h) and
 * in the Node, and is among the facts each time, so that whoever takes over goes on from there.
 * maint_next() says which way is open, maint_act() what is to be done in a state; whoever calls
 * them carries that out, in the order that engine/slots.h asks for, and comes back with new facts.
 *
 * No way leads from before `Granted` to beyond it except through it, and none from it back by time
 * alone. A FleetLock client may be told to go by any replica, while the one that leads undoes: what
 * is granted then leads back from `Undoing`. */
#ifndef ENGINE_MAINTENANCE_H
#define ENGINE_MAINTENANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "engine/slots.h"
#include "model/object.h"

enum operation {
    OPERATION_DRAIN, /* holds it drained until it is cancelled */
    OPERATION_REBOOT,
    OPERATION_SHUTDOWN,
    OPERATION_UPDATE,  /* of the system's image */
    OPERATION_UPGRADE, /* of software */
    OPERATION_REBUILD,
    OPERATION_REMOVE,
    OPERATIONS,
};
const char *operation_word(enum operation op); /* "Reboot" */
/* OPERATIONS: it is none. NULL is none, too. */
enum operation operation_find(const char *word);

/* Of a command that has failed: by then a node is seen not to be Ready that has gone all the same
 * (Kubernetes: 50 s). What is said before is heard then. */
enum { MAINT_DOUBT_S = 60 };

enum maint_phase {
    MAINT_PENDING,
    MAINT_QUEUED,
    MAINT_DRAINING,
    MAINT_DRAINED, /* and its FleetLock client has not asked yet; others need no such wait */
    MAINT_GRANTED,
    MAINT_OPERATING,
    MAINT_RETURNING,
    MAINT_RESTORING,
    MAINT_UNCORDONING,
    MAINT_SETTLING,
    MAINT_HALTED,
    MAINT_UNDOING,
    MAINT_COMPLETE, /* the rest are ends */
    MAINT_FAILED,
    MAINT_CANCELLED,
    MAINT_PHASES,
};
static inline bool maint_ended(enum maint_phase p) {
    return p >= MAINT_COMPLETE;
}

struct maint_phase_row {
    const char *word;    /* "Draining" */
    const char *meaning; /* a sentence */
    bool disruptive;     /* pods or the node itself are touched: not begun while paused */
};
extern const struct maint_phase_row maint_phases[MAINT_PHASES];
/* By its word; MAINT_PENDING when it is none, as of one that nobody has looked at yet. */
enum maint_phase maint_phase_find(const char *word);

/* --- what is known --- */

enum maint_gate { MAINT_PASS, MAINT_WAIT, MAINT_DENY };

enum maint_drain {
    MAINT_DRAIN_NONE,
    MAINT_DRAIN_AT_WORK,
    MAINT_DRAIN_DONE,
    MAINT_DRAIN_REFUSED,
    MAINT_DRAIN_TIMED_OUT,
    MAINT_DRAIN_UNCORDONED, /* by somebody else */
};

/* Who carries the operation out: the node itself, an agent, a hook. */
enum maint_work {
    MAINT_WORK_NONE, /* has not begun */
    MAINT_WORK_BEGUN,
    MAINT_WORK_DONE,
    MAINT_WORK_FAILED,
};

enum maint_word { MAINT_SAYS_NOTHING, MAINT_SAYS_RETRY, MAINT_SAYS_SKIP, MAINT_SAYS_ABORT };

struct maint_facts {
    enum operation operation;
    bool cancelled;
    bool paused;          /* this one, its rollout, or everything */
    bool asks;            /* whoever wants it still does; of a FleetLock client: has asked lately */
    bool by_request;      /* the node goes by itself when it is told that it may */
    enum maint_word word; /* what somebody has said about one that is halted, or under way */

    enum maint_gate to_cordon, to_operate, to_return;
    const struct slot *slot; /* NULL: it holds none */

    bool node_there; /* with the UID that it had when the slot was taken */
    bool node_down;  /* it is not, or says that it is not Ready */
    bool node_ready; /* and believed: its lease is newer than its boot */
    const char *node_boot;
    bool cordoned;  /* for this holding */
    bool lifted;    /* and somebody else has uncordoned it since */
    bool same_boot; /* it has reported, and its boot has been the same for long enough since */
    bool crowded;   /* it was drained, and a pod has come since */
    bool hasty;     /* of one that is undone: whoever decided so knew of no grant */
    bool doubtful;  /* of one that has just failed: if its node had gone, that would not be seen */
    /* Of its phase, so that they are not true of one that has just begun. */
    bool overdue;  /* what it waits for has not come by the time that it had */
    bool still_up; /* nobody is at work on it that is known, and it has been Ready, in the same
                    * boot, for so long that nothing of what was begun can still take it down */

    enum maint_drain drain;
    enum maint_work work;
    bool again; /* it is to be carried out once more, and that has not begun */
    bool restored, settled;
};

/* --- ways --- */

struct maint_way {
    enum maint_phase from, to;
    const char *reason;  /* "SlotTaken": of Events and conditions; stable */
    const char *meaning; /* when it is open: a sentence */
    bool (*open)(const struct maint_facts *f);
};
extern const struct maint_way maint_ways[];
extern const size_t n_maint_ways;

/* The way that is open, the first of several; NULL: it stays where it is. One may lead on at
 * once, so this is called until there is none. `end` is where undoing leads to when it is over
 * (MAINT_FAILED or MAINT_CANCELLED): it is written down with the way that led there. */
const struct maint_way *maint_next(enum maint_phase phase, enum maint_phase end,
                                   const struct maint_facts *f);
/* The same, and the ways that lead on from there at once, through phases in which nothing is done
 * but wait: how many there are. Only those that lead back into service: what
 * leads elsewhere is judged when it is there, by facts of that phase. */
enum { MAINT_WAYS_MAX = 3 };
size_t maint_ways_on(enum maint_phase phase, enum maint_phase end, const struct maint_facts *f,
                     const struct maint_way *out[MAINT_WAYS_MAX]);
/* Where a maintenance ends that goes this way to MAINT_UNDOING. */
enum maint_phase maint_way_end(const struct maint_way *way);

/* Where one is that has no object of its own (a FleetLock client's), by its slot, or NULL: it only
 * asks. Of one that has, the phase is written there, before anything is done in it: that a slot was
 * freed tells nobody that the node has rebooted, and it would do so twice. */
enum maint_phase maint_resume(const struct slot *slot);

/* The phase of such a one as people call it, and since when (wall clock; 0: not known). Others than
 * maint_resume(): that a node is drained, or on its way, is no state of its own there. `node` is
 * the one that it holds the slot for, as it is known to be; NULL: it is not there. */
struct maint_seen {
    enum maint_phase phase;
    int64_t since;
};
struct maint_seen maint_seen(const struct slot *slot, const struct node *node);

enum maint_act {
    MAINT_ACT_NONE,
    MAINT_ACT_ASK,      /* to be among those who wait for a slot */
    MAINT_ACT_WITHDRAW, /* not to be among them any more */
    MAINT_ACT_DRAIN,
    MAINT_ACT_DRAINED,     /* the slot is written to be */
    MAINT_ACT_DRAIN_AGAIN, /* the slot is written to be taken, as before: a pod has come */
    MAINT_ACT_GRANT,       /* the same; not where the node asks by itself */
    MAINT_ACT_OPERATE,
    MAINT_ACT_RETURN, /* the slot is written to be returned */
    MAINT_ACT_UNCORDON,
    MAINT_ACT_FREE,
};

/* What is to be done in that state, one thing at a time. */
enum maint_act maint_act(enum maint_phase phase, const struct maint_facts *f);

/* The graph for dot(1). */
void maint_dot(struct str *out);

#endif
