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
#include "engine/slots.h"
#include "model/own.h"

#define KEEPER_PATIENCE (INT64_C(900) * 1000) /* microseconds */
/* The seed's own mark on a node. */
#define SEED_MARK      "rebootmanager/status"
#define SEED_REBOOTING "Rebooting"
#define SEED_READY     "Ready"
/* Of its ConfigMaps, by which they are watched. */
#define SLOTS_LABEL "slipway.dev/slots"
#define SLOTS_KEY   "slots" /* in their data */
/* The Lease of the one that leads, in the namespace of the records. */
#define KEEPER_LEASE "slipway-controller"
/* What the controller has for `forget` and `same_boot`, microseconds. */
#define KEEPER_FORGET    (INT64_C(30) * 60 * 1000000)
#define KEEPER_SAME_BOOT (INT64_C(5) * 60 * 1000000)
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
    KEEPER_DRAINING, /* it has one, or is about to get one, and is being drained */
    KEEPER_BLOCKED,  /* it has one, and waits for something that does not end by itself */
    KEEPER_UNREADY,  /* its report is written; the node is not Ready, and is released when it is */
    KEEPER_TROUBLE,  /* the API server was not to be asked in time, or the record cannot be read */
};

struct keeper_reply {
    uint64_t ticket;
    enum keeper_say say;
    const char *text; /* a sentence */
};

/* Something that happened to a slot, once, to be told and recorded. */
struct keeper_note {
    const char *node;
    const char *reason; /* "SlotTaken" */
    const char *text;   /* a sentence */
    bool warning;
};

struct keeper_opts {
    const char *ns;                     /* of the ConfigMap */
    const char *policy;                 /* its name is slipway-slots-<policy> */
    const struct label_selector *nodes; /* of the policy; NULL: all */
    struct limit max;                   /* of them out at once; a percentage is of those */
    unsigned max_zones;                 /* in which they may be; 0: any */
    bool down_count;   /* nodes that are down already, without a slot, take one of them */
    bool seed_marks;   /* SEED_MARK is kept, and nodes that have it are taken over */
    int64_t forget;    /* microseconds after which one who has not asked again is forgotten */
    int64_t same_boot; /* microseconds for which a node that reports without a new boot must have
                        * kept the old one */
    struct drain_opts drain;
    drain_note_fn *drain_note;
    void (*note)(void *arg, const struct keeper_note *note);
    void (*reply)(void *arg, const struct keeper_reply *reply);
    /* Maintenances, of all policies; NULL: there are none. `owns` says which are this one's, and
     * `operate` begins what is to be done: how that ended comes back with keeper_operated(), as far
     * as the node itself does not show it. */
    struct store *maintenances;
    bool (*owns)(void *arg, const struct keeper *k, const struct maintenance *m);
    void (*operate)(void *arg, struct keeper *k, const struct maintenance *m);
    /* Whether the pods of that node are watched; NULL: they always are. */
    bool (*watched)(void *arg, const char *node);
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
 * once, unless it is cancelled. */
void keeper_ask(struct keeper *k, uint64_t ticket, const char *node, enum keeper_question question,
                struct now now);
void keeper_cancel(struct keeper *k, uint64_t ticket);

/* Whoever carries it out has come to an end; `failure`: why it failed, NULL: it did not. */
void keeper_operated(struct keeper *k, const char *name, const char *failure);

/* As of a drain. */
void keeper_poke(struct keeper *k, const struct kind *kind, const struct object *before,
                 const struct object *after);
void keeper_step(struct keeper *k, struct now now, struct actions *out);
bool keeper_answer(struct keeper *k, uint64_t action, const struct answer *answer, struct now now);
int64_t keeper_next(const struct keeper *k);

/* The newest that is known; NULL: nothing is, or it cannot be read. Valid until the next call. */
const struct slots *keeper_slots(const struct keeper *k);
/* How many may be out now, as the policy says. */
size_t keeper_limit(struct keeper *k);
/* Nodes that are being drained, or were: see engine/drain.h. NULL when this one does not lead. */
struct drain *keeper_drain(struct keeper *k);
/* The boot of a node; of one that does not tell, all are the same, until it does. */
const char *keeper_boot(const struct node *node);
/* Whose pods it has to know. */
bool keeper_needs_pods(const struct keeper *k, const char *node);

#endif
