/* What the files of the keeper share. See engine/keeper.h for what it is. */
#ifndef ENGINE_KEEPER_INTERNAL_H
#define ENGINE_KEEPER_INTERNAL_H

#include "base/prng.h"
#include "base/timefmt.h"
#include "engine/keeper.h"
#include "engine/maintenance.h"

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

/* A holding that this leader looks after; or a cordon whose holding is over. */
struct hold {
    char *id, *node;
    bool seen; /* still there */
    enum work work;
    bool cordons;        /* else it puts back */
    uint64_t action;     /* of the work */
    uint64_t sure;       /* the read of the record that it waits for */
    struct object *read; /* the Node */
    unsigned tries;
    int64_t not_before; /* monotonic */
    char *problem;      /* why it could not be written, the last time */
    /* Whether the node's being Ready is to be believed: its lease or its status has moved since its
     * boot was first seen. */
    char *boot;
    enum slot_state state;
    int64_t lease,
        beat; /* as they were then; -1: the lease has not been read; 0: no beat is known */
    bool believed;
    uint64_t lease_action;
    int64_t lease_at; /* monotonic: not before */
    bool draining;    /* its drain has begun */
    int64_t drain_at; /* monotonic: a drain that failed is begun again */
};

/* A Maintenance. */
struct upkeep {
    char *name, *uid;
    char *version; /* that we have written last */
    uint64_t action;
    const struct maint_way *told; /* that is being written */
    enum maint_work work;
    bool operates; /* it is to be begun, once its phase is written */
    char *failure;
    unsigned tries;
    int64_t not_before, blocker_at; /* monotonic */
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
    bool asked;           /* that it asks is noted */
    bool marking, marked; /* the seed's mark is being written; nobody writes it any more */
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

/* The nodes of the policy, and of those without a slot the ones that are down. */
struct census {
    size_t members, down, control_down;
};

struct keeper {
    struct keeper_opts opts;
    char *map; /* name of the ConfigMap */
    struct cluster *cluster;
    struct store *maps;
    struct slot_record record;
    bool leads;
    int32_t fence;
    struct drain *drain;
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
    uint64_t write_action, write_after; /* the latter: the read that has to come before the next */
    int64_t write_at;                   /* monotonic: not before */
    unsigned write_tries;
    char *trouble; /* why the last of these failed */
    struct census census;
    bool census_known;
    bool stirred; /* nodes have to be looked at for cordons that nobody holds */
    bool dirty;   /* something is to be looked at */
    bool act;     /* and more than those who wait for a reply */
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
void keeper_tell(struct keeper *k, const char *node, bool warning, const char *reason,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void keeper_depose(struct keeper *k, const char *why);

/* keeper_give.c: who gets a slot */
/* Adds to the copy of the record; whether it has changed. */
bool keeper_give(struct keeper *k, struct slots *s, struct arena *arena);
/* Whether there is a slot left, as far as the record tells. */
bool keeper_has_room(struct keeper *k);
bool keeper_is_member(const struct keeper *k, const struct node *node);

/* keeper_hold.c: holdings, and the Nodes they are of */
void keeper_holds_step(struct keeper *k);
/* What the life cycle wants done in the record; whether it has changed. */
bool keeper_holds_change(struct keeper *k, struct slots *s, struct arena *arena);
bool keeper_holds_answer(struct keeper *k, uint64_t action, const struct answer *a);
void keeper_holds_done(struct keeper *k);
/* Whether the node is cordoned for that holding. */
bool keeper_is_cordoned(const struct node *node, const char *id);
bool keeper_node_ready(const struct node *node);
/* The seed's mark, on a node that nothing is done with: the number of the action. */
uint64_t keeper_mark_ready(struct keeper *k, const struct node *node);
/* All that is known of a maintenance; `slot` and `u` may be NULL. */
void keeper_facts(struct keeper *k, struct upkeep *u, const struct slot *slot, const char *name,
                  struct maint_facts *f);
const struct hold *keeper_hold_of(const struct keeper *k, const char *id);

/* keeper_upkeep.c: maintenances with an object of their own */
void keeper_upkeeps_step(struct keeper *k);
/* Their wishes; whether it has changed. */
bool keeper_upkeeps_change(struct keeper *k, struct slots *s, struct arena *arena);
bool keeper_upkeeps_answer(struct keeper *k, uint64_t action, const struct answer *a);
void keeper_upkeeps_done(struct keeper *k);
/* Whose slot it is: NULL when it is none of these, or its object is gone. */
struct upkeep *keeper_upkeep_of(const struct keeper *k, const struct slot *slot);
bool keeper_is_upkeep(const struct slot *slot);
/* What its object says. */
void keeper_upkeep_facts(struct keeper *k, struct upkeep *u, struct maint_facts *f);
enum maint_act keeper_upkeep_act(struct keeper *k, struct upkeep *u, const struct maint_facts *f);

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
