/* What the files of the oracle of the controller share. See fleet_oracle.h for what it is. */
#ifndef TESTS_SIM_FLEET_ORACLE_INTERNAL_H
#define TESTS_SIM_FLEET_ORACLE_INTERNAL_H

#include "base/json.h"
#include "base/timefmt.h"
#include "fleet_oracle.h"

enum {
    FO_TEXT = 96,
    FO_NOBODY = 100, /* the cluster itself */
    FO_PEOPLE = 101,
};

/* Whether something is so, and when it was last. */
struct since {
    bool now;
    int64_t last;
};

/* A holding, as the record has it. */
struct fo_slot {
    char id[FO_TEXT], node[FO_TEXT], uid[FO_TEXT], by[FO_TEXT], boot[FO_TEXT], state[16];
    bool granted;
};

/* A holding that there was: when it was taken, and when it was over. */
struct fo_hold {
    char id[FO_TEXT];
    struct since taken, over;
};

struct fo_node {
    char name[FO_TEXT], uid[FO_TEXT], boot[FO_TEXT];
    char *record; /* of the cordon, "" */
    bool there, ready, unschedulable;
    bool to_come; /* it has the mark of a rollout */
    bool people;  /* they have cordoned it */
    bool murky;   /* they have cordoned it where our record was left */
    bool back;    /* Ready in the present boot */
    unsigned boots;
    int64_t created, gone_at; /* the latter: 0 while it is there */
    int64_t down_at;          /* not Ready since then; 0: it is Ready */
    struct since no_room;     /* it could not get a slot, if it had none */
    int64_t changed;          /* the Node, the last time but for its status */
    struct fo_slot slot;
    bool held, waits, asks; /* the last: its client does */
    int64_t drained;        /* by the record, the last time */
    int64_t steady;         /* it has reported, by the record */
    int64_t unlocked;       /* people have let its slot go */
    struct since drains, may_go, reported;
    VEC(struct fo_hold) holds;
};

struct fo_pod {
    char uid[FO_TEXT], node[FO_TEXT];
    int64_t bound, gone_at;
    bool daemon, gone;
};

struct fo_maintenance {
    char name[FO_TEXT], node[FO_TEXT], phase[16];
    char rollout[FO_TEXT]; /* the UID of its owner, "" */
    const char *operation; /* static */
    bool there, deleted, blocked, ended, finalizer;
    bool operated;              /* it was Operating */
    bool by_machine, by_itself; /* who does it: the simulator's machine, or the node when it asks */
    int64_t since;              /* in its phase */
    int64_t made, failed_at;    /* the latter: 0 while it has not */
    int64_t silent_at;          /* it has no blocker since then; 0: it has one */
    struct since failed;
    unsigned commands, retries, words, boots;
};

struct fo_rollout {
    char name[FO_TEXT], uid[FO_TEXT], phase[16], reason[32], blocker[32];
    char pool[4];          /* by a label; "": all, or by name */
    unsigned upto;         /* w1 to that, by name; 0: by labels */
    char policy[16];       /* "": each node's own */
    const char *operation; /* static */
    unsigned max_failed;
    int64_t soak, created;
    bool there;
    int64_t gone_at, paused_at; /* deleted, paused; 0: it is not */
};

struct fo_ticket {
    uint64_t id;
    unsigned replica;
    char node[FO_TEXT];
    bool steady;
    int64_t at;
};

/* A write of the record, or of a Node, that was sent, and what its sender knew then. */
struct fo_write {
    unsigned replica;
    uint64_t number;
    unsigned limit[FLEET_POLICIES];
    int64_t pods[FLEET_NODES];
    bool stopped;           /* it knew that everything is */
    bool down[FLEET_NODES]; /* it knew that they are */
};

struct fo_limit {
    int64_t at;
    unsigned value;
};

/* A request that fails, and is sent again. */
struct fo_tries {
    char what[FO_TEXT]; /* method and path, the end of it */
    int64_t since;
    unsigned n;
};

struct fo_replica {
    int64_t thawed; /* 0: it never was frozen */
    bool frozen;
    int64_t second; /* of the rate */
    unsigned in_second, idle_calls;
    bool evicts; /* it has, and has so many left at that time: */
    double tokens;
    int64_t tokens_at;
    VEC(struct fo_tries) tries;
    struct fo_write *serving;
};

struct fleet_oracle {
    struct fleet_oracle_options opts;
    struct fleet_seen seen;
    struct world *world;
    struct fo_node nodes[FLEET_NODES];
    VEC(struct fo_pod) pods;
    VEC(struct fo_maintenance) maintenances;
    VEC(struct fo_rollout) rollouts;
    int64_t begun;
    int64_t stop_at; /* everything is stopped since then; 0: it is not */
    VEC(struct fo_ticket) tickets;
    VEC(struct fo_write) writes;
    VEC(struct fo_limit) limits[FLEET_POLICIES];
    struct fo_replica replicas[FLEET_REPLICAS];
    int64_t fence[FLEET_POLICIES];
    bool lost[FLEET_POLICIES]; /* somebody has deleted the record, or emptied it */
    bool lenient;              /* a record that was made again by one that did not know it */
    unsigned actor;
    bool idle;
    char *unfinished;
    VEC(char *) violations;
};

/* fleet_oracle.c */
int64_t fo_now(const struct fleet_oracle *o);
struct fo_node *fo_node(struct fleet_oracle *o, const char *name);
void fo_set(struct fleet_oracle *o, struct since *s, bool now);
/* Whether it was so at some time since then. */
bool fo_was(const struct since *s, int64_t from);
struct fo_hold *fo_hold(struct fo_node *n, const char *id);
struct fo_maintenance *fo_maintenance(struct fleet_oracle *o, const char *name);
/* Pods on it that a drain has to remove and that were bound before that. */
unsigned fo_pods_on(const struct fleet_oracle *o, const char *node, int64_t before);
/* What follows from a Node and its slot together. */
void fo_judge(struct fleet_oracle *o, struct fo_node *n);
void fo_copy(char out[static FO_TEXT], const char *text);

/* fleet_oracle_slots.c */
void fo_record_changed(struct fleet_oracle *o, const struct change *c);
unsigned fo_limit(const struct fleet_oracle *o, unsigned policy, int64_t known);
void fo_policy_changed(struct fleet_oracle *o, const struct change *c);
/* Who could not get a slot now. */
void fo_judge_room(struct fleet_oracle *o);
/* The policy that has the node. */
unsigned fo_policy_of(const struct fleet_oracle *o, const char *node);

/* fleet_oracle_objects.c: Nodes, pods, Maintenances */
void fo_node_changed(struct fleet_oracle *o, const struct change *c);
void fo_pod_changed(struct fleet_oracle *o, const struct change *c);
void fo_maintenance_changed(struct fleet_oracle *o, const struct change *c);
const char *fo_operation(const char *word);
/* A replica says why a Maintenance waits. */
void fo_check_blocker(struct fleet_oracle *o, unsigned replica, const struct chaos_request *req);
/* Nobody waits without a word. */
void fo_check_silence(struct fleet_oracle *o);

/* fleet_oracle_rollouts.c: rollouts, and the stop of everything */
void fo_rollout_changed(struct fleet_oracle *o, const struct change *c);
/* A replica makes a Maintenance. */
void fo_begins(struct fleet_oracle *o, unsigned replica, const struct chaos_request *req);
/* What is left of a rollout; NULL: nothing. */
const char *fo_rollout_left(const struct fo_rollout *r);
/* A replica knows that everything is stopped. */
bool fo_knows_stop(const struct fleet_oracle *o, unsigned replica);
/* It was stopped so long ago that whoever looks before it acts has seen it. */
void fo_check_stop(struct fleet_oracle *o, unsigned replica, const char *node, const char *what);

#endif
