/* One rehearsal: the real engine and the real executor drain nodes of a simulated cluster, whose
 * clock jumps, and what happens is written down. Times are microseconds since the drain began.
 *
 * The checks of storage and quorums are obeyed as in a drain. They go by objects that nobody
 * changes in a copy, but for pods and nodes: what such a check waits for may never come here. */
#ifndef CLI_REHEARSE_RUN_H
#define CLI_REHEARSE_RUN_H

#include "base/timefmt.h"
#include "base/vec.h"
#include "cli/lags.h"
#include "engine/drain.h"
#include "sim/sim.h"

/* When no pod has moved and no node has got on for so long, nothing will come of it. Longer than
 * any time-out of Kubernetes' controllers (six minutes for a volume of a lost node). */
#define REHEARSAL_HALT SEC(1800)

struct rehearsal_pod {
    char *ns, *name, *owner;
    enum drain_pod_state state;
    bool late;
    int64_t asked, gone; /* -1: it was not, it is not */
    char *why;           /* it is not gone: one sentence; else NULL */
    int code;            /* enum blocker_code that it waits for, or is refused for; -1: none */
};

struct rehearsal_node {
    char *name;
    enum drain_phase phase;
    int64_t began, ended;           /* -1: it did not */
    unsigned total, left;           /* pods */
    bool emptied;                   /* its pods are gone, and it waits for something else */
    char *error;                    /* NULL: none */
    int code;                       /* enum blocker_code that a check denies it for; -1: none */
    VEC(struct rehearsal_pod) pods; /* those that should go; by name */
};

/* Something was waited for: one blocker, over all pods and nodes. */
struct rehearsal_wait {
    enum blocker_code code;
    char *kind, *object, *message;
    unsigned pods;  /* the most at once; 0: nodes waited */
    int64_t begun;  /* when first */
    int64_t waited; /* all together */
    bool open;      /* it never ended */
    /* while it goes on */
    VEC(const void *) waiting; /* nodes that do */
    int64_t since;
};

/* A budget whose numbers moved. */
struct rehearsal_budget {
    char *ns, *name;
    int32_t before, least;     /* disruptions allowed: at the beginning, and the fewest */
    int32_t expected, desired; /* pods, and those that must be healthy */
    int64_t closed;            /* how long none was allowed */
    /* while it goes on */
    int32_t allowed;
    int64_t since;
};

/* Pods of a workload that were made for evicted ones and have no node in the end; or a Job that has
 * failed for good, which has none at all. */
struct rehearsal_pending {
    char *workload; /* model/workload.h: "shop/Deployment/web" */
    char *example;  /* the name of the first; of a Deployment another one in each run */
    char *why;      /* as the scheduler words it, or the Job controller; "" */
    unsigned pods;  /* 0: a Job that has failed */
};

struct rehearsal {
    uint64_t seed;
    int64_t took; /* until all nodes had ended; of one that came to a halt, until then */
    bool halted;  /* nothing moved any more: it would wait for ever */
    int code;     /* what drain would exit with */
    size_t moved; /* pods that came or went before it began: the copy was not at rest */
    VEC(struct rehearsal_node) nodes;      /* in the order in which they began */
    VEC(struct rehearsal_wait) waits;      /* in the order in which they began */
    VEC(struct rehearsal_budget) budgets;  /* those with the least room first */
    VEC(struct rehearsal_pending) pending; /* by workload */
    VEC(char *) remarks;
};

struct rehearse_opts {
    const struct drain_opts *drain; /* without a seed */
    const char *const *names;
    size_t n_names;
    bool selected; /* by a selector */
    uint64_t seed;
    const struct lags *lags; /* NULL: none are known */
    /* By source of the checks: why it was not read; NULL: it was, one or all. */
    const char *const *unread;
};

/* Which source of the checks the resource is ("volumes.longhorn.io") that a snapshot could not
 * read; CHECK_SOURCES: none of other systems. */
size_t rehearse_source(const char *resource);

/* Uses up the cluster: its nodes are drained afterwards. -EIO when the drain could not even begin.
 */
int rehearse_run(struct sim *s, const struct rehearse_opts *opts, struct rehearsal *out,
                 struct err *err);
void rehearsal_done(struct rehearsal *r);

#endif
