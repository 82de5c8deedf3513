/* What the files of the keeper share. See engine/keeper.h for what it is. */
#ifndef ENGINE_KEEPER_INTERNAL_H
#define ENGINE_KEEPER_INTERNAL_H

#include "base/prng.h"
#include "base/timefmt.h"
#include "engine/approval.h"
#include "engine/gate.h"
#include "engine/keeper.h"
#include "engine/own_status.h"
#include "engine/reason.h"

/* The newest record that is known. */
struct slot_record {
    struct arena arena;
    struct slots slots;
    char *version; /* of the ConfigMap; NULL: there is none */
    bool known;
    char *trouble; /* it cannot be read: why */
};

/* A change of a Node for a holding: the Node is read, the record is read again, the Node is written
 * on the version that was read. */
enum work {
    WORK_NONE,
    WORK_READ,  /* the Node */
    WORK_SURE,  /* the record, once more */
    WORK_WRITE, /* the Node */
};

/* A list of a node's pods, made before somebody is told that it may go. */
struct pod_list {
    uint64_t action;
    bool done, failed;
    bool denied;        /* it failed because it is not allowed */
    int64_t not_before; /* monotonic */
};

/* A holding that this leader looks after; or a cordon whose holding is over. */
struct hold {
    char *id, *node;
    bool seen;      /* still there */
    char *named_in; /* the version of the Node in which it was looked for; NULL: in none */
    bool named;     /* and the record of its cordon has this holding */
    enum work work;
    bool cordons;        /* else it puts back, or */
    bool disowns;        /* notes that somebody has lifted the cordon */
    uint64_t action;     /* of the work */
    uint64_t sure;       /* the read of the record that it waits for */
    struct object *read; /* the Node */
    unsigned tries;
    int64_t not_before; /* monotonic */
    char *problem;      /* why it could not be read or written, the last time */
    bool denied;        /* that is because it is not allowed */
    int64_t problem_at; /* monotonic: since when there is one; 0: there is none */
    /* Its pods, which are not watched: since when, monotonic, and why they cannot be listed. */
    int64_t unwatched_at;
    char *unlisted;
    uint64_t grant;       /* the read of the record after which it may be granted; 0: none yet */
    char *told;           /* of that, to people */
    struct pod_list list; /* for the grant, too */
    bool doubted;         /* the list is made because of a pod that has come, or seems to have */
    /* Its Maintenance, where the watch knows none of that name: it was read, and is not there. */
    bool left;
    uint64_t left_action;
    int64_t left_at; /* monotonic: not before */
    /* Whether the node's being Ready is to be believed: its lease or its status has moved since its
     * boot was first seen. */
    char *boot;
    enum slot_state state;
    int64_t lease,
        beat; /* as they were then; -1: the lease has not been read; 0: no beat is known */
    bool believed;
    int64_t steady_at;  /* monotonic: since when it is known to be Ready in that boot after its
                         * report; 0: it has not reported */
    bool waited, still; /* for long enough; and it was heard of since */
    uint64_t lease_action;
    int64_t lease_at; /* monotonic: not before */
    int64_t back_at;  /* monotonic: in service and Ready since; 0: it is not */
    bool draining;    /* its drain has begun */
    int64_t drain_at; /* monotonic: a drain that failed is begun again */
};

/* A Maintenance. */
struct upkeep {
    char *name, *uid;
    char *version; /* that we have written last */
    uint64_t action;
    const struct maint_way *ways[MAINT_WAYS_MAX]; /* that are being written, one after the other */
    size_t n_ways;
    int64_t since; /* wall clock: of the phase that they lead from */
    enum maint_work work;
    bool operates;        /* it is to be begun, once its phase is written */
    uint64_t sure;        /* the read of the record after which it may be; 0: none yet */
    struct pod_list list; /* the same: of the pods on its node */
    bool unwritten; /* it was told how it has ended, and what comes of that is not written yet */
    char *failure;
    char *why; /* of the last of them */
    unsigned tries;
    int64_t not_before, blocker_at; /* monotonic */
    int64_t up_at; /* monotonic: since when nobody is at work, and the node is up; 0: it is not */
    int64_t asked_by; /* wall clock: when its client must have asked; 0: it cannot, just now */
    int64_t held_at;  /* wall clock: when a pause last kept it from beginning; 0: never */
};

/* Somebody who waits for a reply. */
struct ticket {
    uint64_t id;
    char *node;
    enum keeper_question question;
    int64_t since; /* monotonic */
    uint64_t sure; /* the read of the record that it waits for; 0: none */
    uint64_t action;
    struct object *read;       /* the Node, after the record */
    enum kube_outcome outcome; /* of reading it */
    bool read_done;
    struct pod_list list;
    bool asked;           /* that it asks is noted */
    bool marking, marked; /* the seed's mark is being written; nobody writes it any more */
    bool late;            /* the Node was another one by then: it is read */
    bool grant;           /* the grant is to be written for it */
    bool hopes;           /* there was a slot left when it came */
};

/* One who has asked, and is not in the record yet. */
struct asked {
    char *node;
    int64_t at;   /* wall clock */
    int64_t came; /* monotonic */
    char *boot;   /* of the node then */
    bool sent;    /* in the write that is under way */
};

/* The nodes of the policy, and of those without a slot of it the ones that are out for another one,
 * or else down. Of the control plane all count, whatever policy they have. */
struct census {
    size_t members, down, elsewhere;
    size_t control_down, control_elsewhere;
    bool unsure; /* who is out for another one is not known yet */
};

/* Of the built-in policy: the list of the Policies that comes before each slot. */
struct none_look {
    char *node;   /* whose slot it is for; NULL: nobody's */
    bool wanted;  /* it is to be made */
    bool found;   /* it was, and there are none */
    int64_t came; /* monotonic: when that was */
    uint64_t action;
    unsigned tries;
    int64_t not_before; /* monotonic */
    char *trouble;      /* why the last one does not let anybody go; NULL: it does */
};

struct taking {
    struct arena arena;
    VEC(const char *) nodes;
};

struct gate_names {
    const char **p;
    size_t len, cap;
};

/* What the checks have found, the last time they were asked, and about whom. */
struct gate_look {
    struct arena arena;
    struct gate_names going, out, back;
    struct checks found; /* only what does not pass */
    bool made;
    int64_t at, due; /* monotonic: when, and when again */
};

/* Whom a gate is asked about. */
struct gate_who {
    const char *node, *operation, *by;
};

/* What they have said to one, at the step that it is about to take. */
struct gate_memory {
    char *node, *by;
    enum check_when at;
    struct gate_each each;
    int64_t shut_at[GATES_MAX]; /* wall clock: since when each has not passed; 0: it does */
};

struct keeper {
    struct keeper_opts opts;
    char *map;               /* name of the ConfigMap */
    struct rules *own_rules; /* those of its drains, where it was given none */
    struct cluster *cluster;
    struct store *maps;
    struct slot_record record;
    bool leads;
    int32_t fence;
    struct drain *drain;
    const struct check_world *checks; /* of the one that leads; NULL: nobody asks them */
    struct gate_look look;
    VEC(struct gate_memory) said;
    VEC(struct hold *) holds;
    VEC(struct upkeep *) upkeeps;
    VEC(struct ticket *) tickets;
    VEC(struct asked) asked;
    struct prng random;
    struct now now; /* of the call under way */
    struct actions *out;
    int64_t next;
    /* Reads of the record, one at a time; they are counted. */
    uint64_t read_action, reads_sent, reads_done, reads_wanted;
    int64_t read_at; /* monotonic: not before */
    unsigned read_tries;
    int64_t read_began,
        confirmed; /* monotonic: of the last one, and of the last good one; 0: none */
    /* Each reads the stop of everything, too: both have to come. */
    uint64_t stop_action;
    bool record_read, stop_read;
    char *stopped;      /* why; NULL: it is not */
    char *stop_version; /* of its object; NULL: there is none */
    struct none_look none;
    struct taking taking;               /* nodes that get a slot by the last write */
    uint64_t write_action, write_after; /* the latter: the read that has to come before the next */
    uint64_t lead_after; /* the read of the record after which the one that leads acts */
    int64_t write_at;    /* monotonic: not before */
    unsigned write_tries;
    char *trouble;      /* why the last of these failed */
    char *refused;      /* why the record cannot be written; NULL: it can, or need not be */
    int64_t refused_at; /* monotonic: since when */
    struct census census;
    bool census_known;
    bool lost;     /* the record was deleted: it is written again, as it was */
    bool empties;  /* one without holders was sent, and may be what stands there */
    bool taken_in; /* of one that leads: all that held a slot are in the record */
    bool takes_in; /* by the write that is under way */
    bool stirred;  /* nodes have to be looked at for cordons that nobody holds */
    bool dirty;    /* something is to be looked at */
    bool act;      /* and more than those who wait for a reply */
};

/* keeper.c */
/* Something has changed that holdings and the record depend on. */
void keeper_stir(struct keeper *k);
/* Looks again then. */
void keeper_wake(struct keeper *k, int64_t at);
int64_t keeper_backoff(struct keeper *k, unsigned tries);
/* The number of a read of the record that begins after now: it is done when reads_done has got
 * there. */
uint64_t keeper_want_read(struct keeper *k);
/* Takes in what was read or written, if it is newer. NULL: there is none. */
void keeper_learn(struct keeper *k, const struct config_map *map);
/* The one place where it is told what has happened; the policy and the text are put in here. */
void keeper_tell(struct keeper *k, struct keeper_note note, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void keeper_depose(struct keeper *k, const char *why);

/* keeper_give.c: who gets a slot */
/* Adds to the copy of the record; whether it has changed. */
bool keeper_give(struct keeper *k, struct slots *s, struct arena *arena);
/* That node gets one, by that id, however many are held; false: it holds one already. */
bool keeper_take_as(struct keeper *k, struct slots *s, const char *id, const struct slot_wish *wish,
                    const struct node *node, struct arena *arena);
/* It holds a slot of another policy. */
bool keeper_holds_elsewhere(const struct keeper *k, const struct node *node);
/* Nodes that are down already and take slots without holding one. */
size_t keeper_down(struct keeper *k);
/* And those that are out for another policy. */
size_t keeper_elsewhere(struct keeper *k);
/* Whether there is a slot left for that node, as far as the record tells. */
bool keeper_has_room(struct keeper *k, const char *node);
/* Whether it is the number of those that are out, and nothing else, for which there is none. */
bool keeper_is_counted_out(struct keeper *k, const char *node);
bool keeper_is_member(const struct keeper *k, const struct node *node);
/* As census_is_own_id(). */
bool keeper_is_own_id(const struct keeper *k, const char *id);

/* The seed's manager has marked and cordoned it, and nobody else has. */
bool keeper_is_left_by_seed(const struct keeper *k, const struct node *node);
/* A slot for such a one: nothing has been done for it yet. It is begun only when it fits into what
 * the policy lets out, and its gates are open. */
bool keeper_is_taken_over(const struct keeper *k, const struct slot *slot);
bool keeper_may_begin(const struct keeper *k, const struct slot *slot);

/* keeper_recover.c: a record that was deleted while nobody led */
/* Of an empty record that no leader has written before: who held a slot, as Nodes and Maintenances
 * tell, gets it back. Whether it has changed. */
bool keeper_recover(struct keeper *k, struct slots *s, struct arena *arena);
/* Of those of which nobody knows whether they were told to go: who is down by now, or in another
 * boot, has gone. */
bool keeper_recover_later(struct keeper *k, struct slots *s, struct arena *arena);
/* The record is such a one, and the node is cordoned for a slot, as far as is known: whoever leads
 * next gives it back. */
bool keeper_is_to_recover(const struct keeper *k, const struct node *node);
/* Nobody leads by it who has found holders, or has written any. */
bool keeper_is_anew(const struct slots *s);

/* keeper_builtin.c: the built-in policy */
/* Whether a list of the Policies, which began after this was first asked for that node, has found
 * none: asks for it. Of other policies always. */
bool keeper_builtin_holds(struct keeper *k, const char *node);
void keeper_builtin_step(struct keeper *k);
bool keeper_builtin_answer(struct keeper *k, uint64_t action, const struct answer *a);
/* Somebody has got a slot by it: the next one needs another. */
void keeper_builtin_spent(struct keeper *k);
void keeper_builtin_done(struct keeper *k);

/* Why nobody gets one at the moment; NULL: somebody may. */
const char *keeper_unguarded(const struct keeper *k);
/* The same, because the picture of the cluster may be old. */
const char *keeper_blind(const struct keeper *k);
/* Why this one gets none, of what the policy says; BLOCKER_CODES: nothing of that. */
enum blocker_code keeper_full(struct keeper *k, const struct node *node, struct str *text);

/* keeper_gate.c: what the gates say */
/* Asks the checks, about everybody in `s`, if that was not done since the last change. */
void keeper_gates_look(struct keeper *k, const struct slots *s);
/* Something has changed that they go by. */
void keeper_gates_stale(struct keeper *k);
/* As of the last look. This one only asks: */
enum maint_gate keeper_gate_ask(const struct keeper *k, const struct gate_who *who,
                                enum check_when at, struct arena *arena, struct gate_answer *out);
/* and by this one it is decided whether somebody takes a step, so that it is told. */
enum maint_gate keeper_gate(struct keeper *k, const struct gate_who *who, enum check_when at,
                            struct arena *arena, struct gate_answer *out);
/* Who has approved of it, and when; NULL: nobody. */
const char *keeper_approval(const struct keeper *k, const char *node, const char *by,
                            struct arena *arena);
/* Puts it into the copy of the record; whether it has changed. */
bool keeper_gates_change(struct keeper *k, struct slots *s, struct arena *arena);
/* It does not lead any more. */
void keeper_gates_forget(struct keeper *k);

/* keeper_hold.c: holdings, and the Nodes they are of */
void keeper_holds_step(struct keeper *k);
/* What the life cycle wants done in the record; whether it has changed. */
bool keeper_holds_change(struct keeper *k, struct slots *s, struct arena *arena);
bool keeper_holds_answer(struct keeper *k, uint64_t action, const struct answer *a);
void keeper_holds_done(struct keeper *k);
/* Whether the node is cordoned for that holding. */
bool keeper_is_cordoned(const struct node *node, const char *id);
/* The seed's mark, on a node that nothing is done with: the number of the action. */
uint64_t keeper_mark_ready(struct keeper *k, const struct node *node);
/* All that is known of a maintenance; `slot` and `u` may be NULL. */
void keeper_facts(struct keeper *k, struct upkeep *u, const struct slot *slot, const char *name,
                  struct maint_facts *f);
const struct hold *keeper_hold_of(const struct keeper *k, const char *id);
/* What keeps it from being cordoned, drained or put back, and is there for long enough to be told.
 */
bool keeper_hold_waits(struct keeper *k, const struct slot *slot, struct arena *arena,
                       struct gate_answer *out);

/* keeper_late.c: pods that come to a node that was drained */
/* The first by name of those that must go before anybody is told to; NULL: there is none. */
const struct pod *keeper_late_pod(const struct keeper *k, const char *node);
/* Whether the pods of the node are listed, now: asks for it. */
bool keeper_list_pods(struct keeper *k, struct pod_list *list, const char *node);
void keeper_list_answer(struct keeper *k, struct pod_list *list, const struct answer *a);
/* A node that was told to go, has not gone yet, and has got a pod since: that is evicted. */
bool keeper_is_cleared(const struct keeper *k, const struct slot *slot);

/* keeper_upkeep.c: maintenances with an object of their own */
/* Those that have come, before anything is decided about them. */
void keeper_upkeeps_take_in(struct keeper *k);
void keeper_upkeeps_step(struct keeper *k);
/* The record cannot be read: nothing is done for them, and they say so. */
void keeper_upkeeps_stuck(struct keeper *k);
/* Their wishes; whether it has changed. */
bool keeper_upkeeps_change(struct keeper *k, struct slots *s, struct arena *arena);
bool keeper_upkeeps_answer(struct keeper *k, uint64_t action, const struct answer *a);
void keeper_upkeeps_done(struct keeper *k);
/* Whose slot it is: NULL when it is none of these, or its object is gone. */
struct upkeep *keeper_upkeep_of(const struct keeper *k, const struct slot *slot);
bool keeper_is_upkeep(const struct slot *slot);
/* Whether the node may be told to go when it asks: not where somebody else does something with
 * it. */
bool keeper_goes_by_itself(const struct keeper *k, const struct slot *slot);
/* Nothing has been done to its node yet that has to wait for a pod which has come: what is begun by
 * whoever leads. */
bool keeper_has_begun(const struct keeper *k, const struct slot *slot);
/* Its Maintenance was taken away by force, as far as the watch tells. Then the report of its
 * FleetLock client is heard: nobody else is there who could end it for a node that was told to go,
 * and has not. Only whoever leads knows for sure. */
bool keeper_seems_left(const struct keeper *k, const struct slot *slot);
bool keeper_is_left(const struct keeper *k, const struct slot *slot);
/* Why nobody is told to go, of that slot: everything is paused, or its Maintenance; NULL: neither
 * is. */
const char *keeper_paused(const struct keeper *k, const struct slot *slot);
/* The node of one that has not got a slot yet, and wants it; else NULL. */
const char *keeper_upkeep_waits(const struct keeper *k, const struct upkeep *u);
/* What its object says. */
void keeper_upkeep_facts(struct keeper *k, struct upkeep *u, struct maint_facts *f);
enum maint_act keeper_upkeep_act(struct keeper *k, struct upkeep *u, const struct maint_facts *f);
/* When it gives up waiting in that phase, wall clock; 0: it does not. */
int64_t keeper_upkeep_due(const struct keeper *k, const struct upkeep *u,
                          const struct maintenance *m, enum maint_phase phase,
                          const struct maint_facts *f);
enum maint_gate keeper_upkeep_gate(const struct keeper *k, const struct maintenance *m,
                                   enum check_when at, struct arena *arena,
                                   struct gate_answer *out);
/* Why nobody knows whose slot it takes; NULL: that is clear. */
const char *keeper_upkeep_unclear(const struct keeper *k, const struct maintenance *m);

/* keeper_phase.c: what stands in their objects */
enum maint_phase keeper_phase(const struct maintenance *m);
/* How it ends once it is undone: that is in the way that has led there. */
enum maint_phase keeper_phase_end(const struct maintenance *m);
/* Where it came from, by the last step that is written down. */
enum maint_phase keeper_phase_before(const struct maintenance *m);
/* Each of these is one patch, whose answer is that of u->action. A step on the way: */
void keeper_phase_write(struct keeper *k, struct upkeep *u, const struct maintenance *m,
                        const struct maint_way *const *ways, size_t n, const struct maint_facts *f);
/* The finalizer, which keeps the object until the node is what it was. */
void keeper_upkeep_finalizer(struct keeper *k, struct upkeep *u, const struct maintenance *m,
                             bool on);
/* What somebody has said was heard: it is taken off. */
void keeper_upkeep_heard(struct keeper *k, struct upkeep *u, const struct maintenance *m);
/* What it waits for, if that is another than stands there, and not too often. NULL: nothing. */
void keeper_upkeep_blocked(struct keeper *k, struct upkeep *u, const struct maintenance *m,
                           enum maint_phase phase, const struct own_wait *wait);
/* The step is written: tells it. `slot` may be NULL. */
void keeper_phase_tell(struct keeper *k, const struct upkeep *u, const struct maintenance *m,
                       const struct slot *slot);

/* keeper_wait.c: what one waits for */
/* False: for nothing. */
bool keeper_upkeep_wait(struct keeper *k, const struct upkeep *u, const struct maintenance *m,
                        enum maint_phase phase, const struct maint_facts *f, struct arena *arena,
                        struct own_wait *out);

/* keeper_ask.c: those who wait for a reply */
/* What its pods wait for, the ones first that wait for somebody's help; NULL: for nothing. */
const struct drain_blocker *keeper_blocker_of(const struct drain_node *n);
void keeper_tickets_step(struct keeper *k);
/* Wishes and reports; whether it has changed. */
bool keeper_tickets_change(struct keeper *k, struct slots *s, struct arena *arena);
/* That change was written, or was not. */
void keeper_tickets_written(struct keeper *k, bool done);
bool keeper_tickets_answer(struct keeper *k, uint64_t action, const struct answer *a);
void keeper_tickets_done(struct keeper *k);

#endif
