/* What several rehearsals come to: how long, in which order, what was waited for, which budgets
 * were closest to the edge, what would stay. Pure. */
#ifndef CLI_REHEARSE_SUM_H
#define CLI_REHEARSE_SUM_H

#include "base/arena.h"
#include "cli/rehearse_run.h"

/* Durations of several runs, microseconds. */
struct spread_of {
    int64_t p10, p50, p90;
};

struct sum_node {
    const char *name;
    size_t drained;                       /* runs in which it was */
    unsigned left_least, left_most;       /* pods that stayed, in the runs in which it was not */
    struct spread_of began, took;         /* of these runs; -1 when there were none */
    const struct rehearsal_node *example; /* of a run in which it was not, else of the middle one */
};

struct sum_wait {
    const struct rehearsal_wait *example; /* of the longest */
    size_t runs, open;                    /* in which it was waited for, and never ended */
    unsigned pods;                        /* the most at once in any run */
    struct spread_of waited;              /* of the runs in which it was waited for */
};

struct sum_budget {
    const struct rehearsal_budget *example; /* of the run with the least room */
    size_t runs, closed_runs;               /* in which it moved, and in which none was allowed */
    struct spread_of closed; /* how long none was allowed, of the runs in which it moved */
};

struct sum_pod {
    const struct rehearsal_node *node;
    const struct rehearsal_pod *pod;
    size_t runs; /* in which it stayed */
};

struct sum_pending {
    const struct rehearsal_pending *example; /* of the run with the most */
    size_t runs;                             /* in which some of it had no node in the end */
};

struct rehearse_sum {
    size_t runs, whole, halted; /* whole: all nodes were drained */
    struct spread_of took; /* of the runs that drained all nodes; if none did, of those that came to
                              an end; if none did, until nothing moved */
    const struct rehearsal *middle; /* the run whose duration is the p50 */
    int code;                       /* the worst that drain would exit with */
    size_t moved;                   /* the most pods that moved before a drain began */
    struct sum_node *nodes;         /* in the order of the middle run */
    size_t n_nodes;
    struct sum_wait *waits; /* the longest first */
    size_t n_waits;
    struct sum_budget *budgets; /* the least room first */
    size_t n_budgets;
    struct sum_pending *pending; /* by workload */
    size_t n_pending;
    struct sum_pod *pods; /* that stayed in some run; by node and name */
    size_t n_pods;
};

/* At least one run. Everything lives in the arena or in the runs. */
void rehearse_sum(const struct rehearsal *runs, size_t n, struct arena *arena,
                  struct rehearse_sum *out);

/* The quantile of sorted values, between neighbours; at least one value. Of n values the k-th is
 * that of k / (n + 1) (Weibull's plotting positions): so of all that may come, a tenth is below the
 * p10 of however few runs, and eight tenths are between p10 and p90. */
int64_t sum_quantile(const int64_t *sorted, size_t n, double q);

#endif
