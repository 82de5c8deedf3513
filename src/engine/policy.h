/* The rules for a set of nodes, as the engine goes by them: made of a Policy (model/own.h), or
 * built in, where there is none.
 *
 * The built-in one is the reboot manager of seed 002: all nodes, one at a time, everything evicted
 * but what DaemonSets and kubelets run, any group, 404. */
#ifndef ENGINE_POLICY_H
#define ENGINE_POLICY_H

#include "engine/drain.h"
#include "model/own.h"

enum caller_check { CALLER_OFF, CALLER_REPORT, CALLER_ENFORCE };

/* Texts are its own, or of the Policy's copy in it. */
struct policy_rules {
    const char *name;
    bool builtin;
    bool ends; /* the Policy is being deleted: nobody gets a slot any more */
    const struct label_selector *selector; /* NULL: all nodes */
    struct limit max;
    unsigned max_zones; /* 0: any */
    bool down_count;
    struct rules *drain;
    int64_t drain_timeout; /* microseconds; 0: none */
    bool release;          /* then the node is put back; else it is waited for */
    bool wait_rescheduled;
    int64_t return_timeout; /* microseconds; 0: none */
    int64_t settle, soak;   /* microseconds */
    unsigned max_failed;
    bool checks;               /* storage, databases and quorums are asked */
    unsigned skip_checks;      /* bit i: row i of their table is not */
    bool approval;             /* somebody has to approve */
    bool fleetlock;            /* its nodes may ask by FleetLock */
    const char *const *groups; /* NULL: any */
    bool unknown_group;        /* one that is not among them is taken for one that is */
    int deny_status;
    enum caller_check caller;
    unsigned rate; /* requests a minute; 0: any */

    struct pool *pool;
    struct policy *source;
};

struct policy_rules *policy_builtin(void);
/* The Policy is copied and completed with its defaults. -EINVAL: it cannot be used, and the error
 * names the field. */
int policy_rules_read(const struct policy *p, struct pool *pool, struct policy_rules **out,
                      struct err *err);
void policy_rules_free(struct policy_rules *r);

bool policy_has_node(const struct policy_rules *r, const struct node *node);
bool policy_has_group(const struct policy_rules *r, const char *group);
/* A time that a Policy or a Rollout says, microseconds: 0 when it says none. */
int64_t policy_duration(const char *text);
/* What a drain by it does; the identity of the holder is not in it. */
void policy_drain_opts(const struct policy_rules *r, struct drain_opts *out);

#endif
