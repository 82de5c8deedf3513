/* What one seed of the soak is about: a cluster, a drain of some of its nodes, what happens to both
 * meanwhile. The drain's options are made from it (soak.c), and the oracle
 * judges by it. Nothing of the engine is in it, so that the two cannot agree on a mistake. */
#ifndef TESTS_SIM_PLAN_H
#define TESTS_SIM_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"

/* A drain rule. A pod has it when all that is given holds. */
enum plan_rule_action { PLAN_EVICT, PLAN_SKIP, PLAN_WAIT };

struct plan_rule {
    char ns[8];        /* "": any */
    char app[16];      /* the label's value; "": any */
    const char *owner; /* kind of the controller, "Bare" for none; NULL: any */
    int order;
    enum plan_rule_action action;
    int64_t grace;        /* seconds, -1: not said */
    int64_t deadline;     /* microseconds, 0: none */
    int64_t delete_after; /* microseconds from the first try, -1: never */
    int64_t force_after;  /* the same */
};

/* What happens while the drain is at work, by somebody else's hand. */
enum plan_act {
    ACT_UNCORDON,         /* kubectl uncordon of a node that is being drained */
    ACT_UNCORDON_CLEANLY, /* the same, and the record is removed too */
    ACT_CORDON,           /* kubectl cordon of any node */
    ACT_HOLD,             /* another holder enters itself into the record */
    ACT_TOUCH_NODE,       /* an annotation: nothing but another resourceVersion */
    ACT_LATE_POD,         /* a pod with spec.nodeName arrives on a node that is being drained */
    ACT_LATE_TOLERANT,    /* a pod that tolerates the cordon and wants this node */
    ACT_DELETE_POD,       /* somebody deletes a pod */
    ACT_SCALE,            /* a Deployment gets another size */
    ACT_BUDGET,           /* a budget is changed to allow more */
    ACT_HANG,             /* a kubelet stops */
    ACT_WAKE,             /* and comes back */
    ACT_COMPACT,          /* the server forgets its history: watches get 410 */
    ACT_RELEASE,          /* finalizers and marks are taken off all pods, stuck volumes let go */
    ACT_KILL,             /* the process is killed, and started again a little later */
    ACT_STOP,             /* it is asked to stop, and started again when it has */
    ACTS,
};

struct plan_event {
    int64_t after; /* microseconds from the start of the drain */
    enum plan_act act;
    unsigned pick; /* which node, pod or workload: modulo how many there are */
};

struct plan {
    uint64_t seed;
    unsigned nodes; /* w1, w2, ... */
    VEC(char *) targets;

    /* the drain's options */
    bool force, ignore_daemonsets, delete_emptydir, disable_eviction;
    int64_t grace;     /* seconds, -1 */
    int64_t timeout;   /* microseconds a node, 0: none */
    int64_t skip_wait; /* seconds, 0: off */
    char selector[32]; /* of pods, "" */
    bool dry_run;      /* on the server */
    unsigned max_unavailable, parallel, max_zones;
    double rate;
    int64_t detach_timeout;
    bool surge, wait_rescheduled, uncordon_on_abort, uncordon_when_done, keep_record;
    bool avoid_next;
    VEC(struct plan_rule) rules;
    bool marks_ignored;
    char *rules_text; /* NULL: none */

    VEC(struct plan_event) events; /* by time */
    unsigned stop_at; /* it is asked to stop right after so many pods were asked to go */

    /* the network */
    double write_faults, read_faults; /* the share of requests that meet one */
    int64_t faults_end;               /* microseconds from the start: from then on none */
    bool no_watch;                    /* watching is forbidden */
    bool slow;                        /* every answer takes up to seconds */

    /* Everything that stands in the way goes away by itself or by an event: the drain must succeed
     * unless its flags forbid. Else it has a timeout. */
    bool benign;
};

/* Who holds our cordons. */
#define PLAN_HOLDER "soak/drain"

enum { PLAN_NAMESPACES = 3 };
extern const char *const plan_namespaces[PLAN_NAMESPACES];

/* Draws everything from the seed; the cluster is made by cluster_gen(). */
void plan_draw(uint64_t seed, struct plan *plan);
void plan_done(struct plan *plan);

/* "uncordon", for traces. */
const char *plan_act_word(enum plan_act act);
/* The options and events in a few lines. */
void plan_print(const struct plan *plan, struct str *out);

#endif
