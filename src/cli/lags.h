/* How long a control plane takes: to answer a request, and from one step to the next (a pod has
 * left, its controller makes another, the scheduler gives it a node). What earlier drains have seen
 * of it, each for itself, since a control plane that is busy is so for a while; and what is assumed
 * where none has. */
#ifndef CLI_LAGS_H
#define CLI_LAGS_H

#include "base/timefmt.h"
#include "base/vec.h"

/* What is assumed of a request, when nothing is known: of any control plane that is not in trouble.
 * The steps go with it. */
#define LAGS_LEAST MSEC(20)
#define LAGS_MOST  MSEC(400)

struct lags_drain;

struct lags {
    VEC(struct lags_drain *) drains;
};

void lags_done(struct lags *l);

/* What a drain saw of one pod, microseconds: how long the server took to answer; how long it took
 * until a pod that has left was replaced by one with a node, which is two steps; until one could go
 * that had waited for another to be ready, which is a look at its budget and a request; and, once
 * for a drain, until the first pod was asked to go. Negative: not known. */
struct lags_seen {
    int64_t answer, place, turn, begin;
};
void lags_note(struct lags *l, const char *drain, const struct lags_seen *seen);

/* Of one run: in all of it they are about the same. */
struct lags_drawn {
    int64_t answer; /* of a request */
    int64_t step;   /* of a part of the control plane */
    int64_t budget; /* of the one that sees to budgets */
    int64_t begin;  /* until the first pod is asked to go; 0: as long as the requests take */
};
/* As in one of the drains, from three quarters to six times of it, less if it was busy already; `l`
 * may be NULL. */
struct lags_drawn lags_draw(const struct lags *l, uint64_t seed);

/* What runs are drawn from. */
struct lags_basis {
    size_t drains;     /* 0: it is assumed */
    int64_t answer[2]; /* the least and the most */
    int64_t step[2], budget[2], begin[2];
    double times[2]; /* so many times of that, from the least to the most */
};
struct lags_basis lags_basis(const struct lags *l);

#endif
