/* Keeps the slots of one policy (engine/slots.h): who asks for one is noted, who reports is
 * released, and whoever leads gives them out, cordons, drains, grants, uncordons and takes them
 * back, by the life cycle of engine/maintenance.h.
 *
 * Every replica has one for each policy and answers by it; only one of them leads. What is kept is
 * in the ConfigMap and in the Nodes, so that any replica can be killed at any time, and another
 * leads on.
 *
 *     keeper_new() -> { keeper_ask() | keeper_lead() | keeper_poke() | time } ->
 *         keeper_step() -> actions -> keeper_answer() -> ...
 *
 * Pure, as the drain is. An answer to somebody who asks comes within KEEPER_PATIENCE. What is
 * denied may be denied by an old picture; that a node may go, and that a report is written, is said
 * only after the record was read from the quorum, by a read that began after the question came. */
#ifndef ENGINE_KEEPER_H
#define ENGINE_KEEPER_H

#include "engine/drain.h"
#include "engine/maintenance.h"
#include "engine/slots.h"
#include "model/own.h"

#define KEEPER_PATIENCE (INT64_C(900) * 1000) /* microseconds */
/* The seed's own mark on a node. */
#define SEED_MARK      "rebootmanager/status"
#define SEED_REBOOTING "Rebooting"
#define SEED_READY     "Ready"
/* Tells cluster-autoscaler to leave a node alone, and beside it for which holding we have said so:
 * it is taken back with the cordon, and only where it was ours. */
#define AUTOSCALER_MARK "cluster-autoscaler.kubernetes.io/scale-down-disabled"
#define KEEPER_KEPT     "slipway.dev/scale-down-disabled"
#define KEPT_WAS        ',' /* after the id of the holding: what AUTOSCALER_MARK said before */
/* The simulator's (sim/fleet/machine.h): there is a machine behind that Node, and what it is told
 * to do, which it takes away when it has done it. */
#define SIM_MACHINE "sim.slipway.dev/machine"
#define SIM_DO      "sim.slipway.dev/do"
/* Of its ConfigMaps, by which they are watched. */
#define SLOTS_LABEL "slipway.dev/slots"
#define SLOTS_KEY   "slots"          /* in their data */
#define SLOTS_MAP   "slipway-slots-" /* their names: that of the policy follows */
/* Of which policy it is: its name says so. The label has only as much of it as a label may have. */
const char *keeper_policy_of(const struct config_map *map);
/* The Lease of the one that leads, in the namespace of the records. */
#define KEEPER_LEASE "slipway-controller"
/* What the controller has for `forget` and `same_boot`, microseconds. */
#define KEEPER_FORGET    (INT64_C(30) * 60 * 1000000)
#define KEEPER_SAME_BOOT (INT64_C(5) * 60 * 1000000)
/* And for `unclaimed`: Zincati asks again after 300 to 330 s, so that it has missed two turns by
 * then; that it has asked is written a minute late at most. */
#define KEEPER_UNCLAIMED (INT64_C(12) * 60 * 1000000)
/* Who holds a slot, or waits, for a Maintenance: its name follows. */
#define KEEPER_BY_MAINTENANCE "maintenance/"
/* Of Maintenances: they stay until their node is what it was. */
#define KEEPER_FINALIZER "slipway.dev/maintenance"

struct keeper;

enum keeper_question {
    KEEPER_MAY_GO, /* pre-reboot */
    KEEPER_STEADY, /* steady-state */
};

enum keeper_say {
    KEEPER_GO,       /* it may go now */
    KEEPER_NOTED,    /* its report is written, or there was nothing to write */
    KEEPER_FULL,     /* others hold the slots */
    KEEPER_DRAINING, /* it has one and is being drained, or is about to get one */
    KEEPER_BLOCKED,  /* it has one, and waits for something that does not end by itself */
    KEEPER_UNREADY,  /* its report is written; the node is not Ready, and is released when it is */
    KEEPER_TROUBLE,  /* the API server was not to be asked in time, or the record cannot be read */
};

struct keeper_reply {
    uint64_t ticket;
    enum keeper_say say;
    const char *text; /* a sentence */
};

/* Something that happened to a slot or a maintenance, once, to be told, counted and recorded. Only
 * the one that leads tells. */
struct keeper_note {
    const char *policy, *node;
    const char *maintenance; /* whose phase has changed; NULL: it is about the slot */
    const char *by;          /* who wants it: "fleetlock", "maintenance/m1"; "" when not known */
    const char *operation;   /* "Reboot" */
    const struct slot *slot; /* as it is, or was; NULL: it holds none */
    const char *reason;      /* of engine/reason.h */
    const char *text;        /* goes on after the name of the node */
    bool warning;
    /* Of those that lead from one phase to another. A slot that a Maintenance holds does not: what
     * its Maintenance tells does. */
    bool moves;
    enum maint_phase from, to;
    int64_t since; /* wall clock: when it came to `from`; 0: not known */
};

/* What a gate (engine/gate.h) says to one that is about to take a step of its life cycle. */
struct keeper_said {
    const char *policy, *node;
    const char *by;   /* as of a note */
    const char *gate; /* its name */
    enum maint_gate verdict;
    int64_t shut; /* microseconds for which it was shut; 0: it has passed from the beginning */
};
typedef void keeper_said_fn(void *arg, const struct keeper_said *said);

typedef void keeper_out_fn(void *arg, const char *node);

struct keeper_opts {
    const char *ns;                     /* of the ConfigMap */
    const char *policy;                 /* its name is SLOTS_MAP and that */
    const struct label_selector *nodes; /* of the policy; NULL: all */
    struct limit max;                   /* of them out at once; a percentage is of those */
    unsigned max_zones;                 /* in which they may be; 0: any */
    bool approval;                      /* somebody has to approve of each: engine/approval.h */
    bool down_count;   /* nodes that are down already, without a slot, take one of them */
    bool builtin;      /* it holds only as long as there is no Policy: keeper_builtin.c */
    bool no_clients;   /* FleetLock clients get no slot: their wishes are forgotten */
    bool seed_marks;   /* SEED_MARK is kept, and nodes that have it are taken over */
    int64_t forget;    /* microseconds after which one who has not asked again is forgotten */
    int64_t settle;    /* microseconds for which a node must have been back, and Ready, before its
                        * slot is free */
    int64_t unclaimed; /* the same, of one whose node is drained and could go; 0: as `forget` */
    int64_t same_boot; /* microseconds for which a node that reports without a new boot must have
                        * kept the old one */
    /* Microseconds that the node of a Maintenance has to go, and then to be back, and its FleetLock
     * client to ask; 0: any time. */
    int64_t return_timeout;
    struct drain_opts drain;
    drain_note_fn *drain_note;
    void (*note)(void *arg, const struct keeper_note *note);
    void (*reply)(void *arg, const struct keeper_reply *reply);
    /* A gate was asked about that step for the first time, or answers another than before. NULL:
     * nobody wants to know. */
    keeper_said_fn *said;
    /* Maintenances, of all policies; NULL: there are none. `owns` says which are this one's, and
     * `operate` begins what is to be done: how that ended comes back with keeper_operated(), as far
     * as the node itself does not show it. */
    struct store *maintenances;
    bool (*owns)(void *arg, const struct keeper *k, const struct maintenance *m);
    void (*operate)(void *arg, struct keeper *k, const struct maintenance *m);
    /* Whether somebody still needs one that has ended, which is kept until then; NULL: nobody. */
    bool (*needed)(void *arg, const struct maintenance *m);
    /* Whether no further operation is begun: who would carry it out is about to end. NULL: never.
     */
    bool (*held)(void *arg);
    /* Why it is not clear whose slot one takes; NULL: it is. Until then it does not begin. */
    const char *(*unclear)(void *arg, const struct maintenance *m);
    /* Why nobody could ever carry it out; NULL, or the answer: somebody could. */
    const char *(*unfit)(void *arg, const struct maintenance *m);
    /* Calls `fn` for each node that holds a slot of another policy, or is about to: see
     * keeper_each_out(). False: not all of them are known, and nobody gets a slot until they are.
     * NULL: there is no other policy. */
    bool (*elsewhere)(void *arg, const struct keeper *k, keeper_out_fn *fn, void *fn_arg);
    /* Why nobody may get a slot yet, for the time being; NULL, or the answer: somebody may. */
    const char *(*unguarded)(void *arg, const struct keeper *k);
    /* Why what is known of the cluster may be old, so that nobody gets a slot by it; NULL, or the
     * answer: it is as new as it can be. */
    const char *(*blind)(void *arg);
    /* Whether the pods of that node are watched; NULL: they always are. */
    bool (*watched)(void *arg, const char *node);
    /* What the checks go by, of one that leads: kept current by the caller, who tells with
     * keeper_checks_changed(). NULL, or the answer: nobody asks them. */
    const struct check_world *(*checks)(void *arg);
    /* A later leader was met: this one has to stop. */
    void (*deposed)(void *arg, const char *why);
    void *arg;
    uint64_t seed; /* of ids and jitter: another one for each process */
};

/* `maps`: the ConfigMaps with SLOTS_LABEL in that namespace. Both must outlive it, and so must what
 * the options point to. */
struct keeper *keeper_new(const struct keeper_opts *opts, struct cluster *cluster,
                          struct store *maps);
void keeper_free(struct keeper *k);

/* Leads from now on, in that term, or does not any more. */
void keeper_lead(struct keeper *k, int32_t fence);
void keeper_follow(struct keeper *k);

/* Somebody asks for a node, which must be one of the policy. Exactly one reply follows, maybe at
 * once, unless it is cancelled, because whoever asked has gone: what it wished is not written then,
 * if it is not yet. */
void keeper_ask(struct keeper *k, uint64_t ticket, const char *node, enum keeper_question question,
                struct now now);
void keeper_cancel(struct keeper *k, uint64_t ticket);

/* Whoever carries it out has come to an end; `failure`: why it failed, NULL: it did not. */
void keeper_operated(struct keeper *k, const char *name, const char *failure);
/* Whether what comes of that is still to be written, or to be seen to be. */
bool keeper_owes(const struct keeper *k);

/* Whether its slot is one of these. */
bool keeper_holds_for(const struct keeper *k, const struct maintenance *m);

/* What the checks go by has changed. */
void keeper_checks_changed(struct keeper *k);

/* As of a drain. */
void keeper_poke(struct keeper *k, const struct kind *kind, const struct object *before,
                 const struct object *after);
void keeper_step(struct keeper *k, struct now now, struct actions *out);
bool keeper_answer(struct keeper *k, uint64_t action, const struct answer *answer, struct now now);
int64_t keeper_next(const struct keeper *k);

/* The newest that is known; NULL: nothing is, or it cannot be read. Valid until the next call. */
const struct slots *keeper_slots(const struct keeper *k);
/* Why what is to be in the record cannot be written, so that nobody gets a slot; NULL: it can, or
 * nothing is, or it has not lasted yet: a write that fails is tried again at once. */
const char *keeper_refused(const struct keeper *k);
/* Why the record cannot be read; NULL: it can. Nothing is done for the policy meanwhile. */
const char *keeper_trouble(const struct keeper *k);
/* Those of the record, and those that are being written to it by this one: whoever leads leads all
 * policies, so that it knows of every slot before anybody else can. False: the record is not known,
 * or another leader may still write to it. One that cannot be read is passed over: its nodes carry
 * their cordons. */
bool keeper_each_out(const struct keeper *k, keeper_out_fn *fn, void *arg);
/* How many may be out now, as the policy says. */
size_t keeper_limit(struct keeper *k);
/* Who would get a slot: a copy of what is held, on which one after the other is tried. NULL as
 * keeper_slots(); valid until anything changes. */
struct keeper_ahead;
struct keeper_ahead *keeper_ahead_new(struct keeper *k);
void keeper_ahead_free(struct keeper_ahead *a);
/* This one is about to take one, whether there is room or not. */
void keeper_ahead_count(struct keeper_ahead *a, const struct node *node);
/* Whether it would get one. */
bool keeper_ahead_may(const struct keeper_ahead *a, const struct node *node);
/* Calls `fn` for each that holds one, or is about to take one. */
void keeper_ahead_each(const struct keeper_ahead *a, keeper_out_fn *fn, void *arg);
/* Nodes that are being drained, or were: see engine/drain.h. NULL when this one does not lead. */
struct drain *keeper_drain(struct keeper *k);
/* The boot of a node; of one that does not tell, all are the same, until it does. */
const char *keeper_boot(const struct node *node);
/* What a node that holds a slot waits for, the things first that need somebody's help; NULL: for
 * nothing, or this one does not lead. */
const struct drain_blocker *keeper_blocker(const struct keeper *k, const char *node);
/* Why one that waits gets no slot, whatever the gates say, which is in its wish; BLOCKER_CODES:
 * there is one for it. */
enum blocker_code keeper_wish_blocker(struct keeper *k, const struct slot_wish *wish);
/* What the gates have said, the last time that they were asked, to each one that has not gone on
 * since; of one that does not lead there is none. */
void keeper_each_said(const struct keeper *k, keeper_said_fn *fn, void *arg);
/* Whose pods it has to know. */
bool keeper_needs_pods(const struct keeper *k, const char *node);

#endif
