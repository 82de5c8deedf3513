/* What a seed of the soak of the controller decides: the cluster, its policies, how many replicas
 * there are, who asks for reboots, and what happens to all of them. */
#ifndef TESTS_SIM_FLEET_PLAN_H
#define TESTS_SIM_FLEET_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"
#include "sim/sim.h"

#define FLEET_NS "slipway-system"

enum {
    FLEET_REPLICAS = 3,
    FLEET_NODES = 7,
    FLEET_POLICIES = 2,
};

enum fleet_act {
    FLEET_KILL,   /* a replica: it is begun again some time later */
    FLEET_FREEZE, /* a replica, for `lasts` */
    FLEET_MAINTENANCE,
    FLEET_CANCEL,  /* a Maintenance is deleted */
    FLEET_PAUSE,   /* a Maintenance, for `lasts` */
    FLEET_RESIZE,  /* of a Policy: another maxUnavailable */
    FLEET_CORDON,  /* by kubectl */
    FLEET_LIFT,    /* by kubectl: a cordon, whoever's it is */
    FLEET_REBOOT,  /* a machine, by itself */
    FLEET_HANG,    /* a machine, for `lasts` */
    FLEET_REMOVE,  /* a Node is deleted; its machine registers again */
    FLEET_UNLOCK,  /* somebody lets a slot go that was not granted */
    FLEET_FORGET,  /* a FleetLock client asks no more, for `lasts` */
    FLEET_NO_BOOT, /* a FleetLock client that is told to go reports steady-state instead */
    FLEET_LEASE,   /* the leader's Lease is deleted */
    FLEET_RECORD,  /* a record of slots is deleted, or emptied */
    FLEET_BUDGET,  /* a budget lets nothing go, for `lasts` */
    FLEET_ROLLOUT,
    FLEET_END_ROLLOUT,   /* it is deleted, and its maintenances with it */
    FLEET_PAUSE_ROLLOUT, /* for `lasts` */
    FLEET_STOP,          /* of everything, for `lasts` */
    FLEET_OUTAGE,        /* a replica reaches no server, for `lasts` */
    FLEET_BIND,          /* a pod is made for a node by its name, cordoned or not */
    FLEET_ACTS,
};
const char *fleet_act_word(enum fleet_act act);

struct fleet_event {
    enum fleet_act act;
    int64_t after; /* microseconds from the beginning */
    int64_t lasts;
    unsigned pick;
    /* Not at once, but at the first such moment after that: the phase that a Maintenance has come
     * to, the state of a slot, "asked" for a question. NULL: at once. */
    const char *moment;
};

enum fleet_operation { FLEET_OP_DRAIN, FLEET_OP_REBOOT, FLEET_OP_SHUTDOWN, FLEET_OP_COMMAND };

struct fleet_policy {
    char name[16], pool[4]; /* the nodes with that label; "" : all */
    unsigned max, max_zones;
    bool percent;
    bool impatient; /* a drain that takes long is given up */
};

struct fleet_plan {
    uint64_t seed;
    unsigned nodes, replicas, policies; /* no policy: the built-in one */
    struct fleet_policy policy[FLEET_POLICIES];
    bool client[FLEET_NODES]; /* which nodes have a FleetLock client */
    unsigned rounds;          /* how often each of them wants to reboot */
    int64_t ask_every;
    unsigned deployments, pods;
    double write_faults, read_faults;
    bool slow, skewed;
    unsigned rate;      /* evictions in a second, of each replica */
    int64_t faults_end; /* nothing is done to anybody after that */
    VEC(struct fleet_event) events;
};

void fleet_plan_draw(uint64_t seed, struct fleet_plan *p);
void fleet_plan_done(struct fleet_plan *p);
void fleet_plan_print(const struct fleet_plan *p, struct str *out);

/* The highest maxUnavailable that leaves nodes in service. */
unsigned fleet_plan_most(const struct fleet_plan *p);

/* The policy that has this node (w1, w2, ...). */
const struct fleet_policy *fleet_policy_of(const struct fleet_plan *p, unsigned node);

/* The cluster, settled. */
struct sim *fleet_gen(const struct fleet_plan *p);

#endif
