/* Surge: a Deployment with one replica gets a second one before its only pod is evicted, and its
 * count back afterwards.
 *
 * The count it had is never lost: the patch that raises it writes, in the same compare-and-swap,
 * the annotation slipway.dev/surge on the Deployment
 *
 *     {"v":1,"replicas":1,"node":"w1","pod":"<uid>","by":"cli/alice"}
 *
 * and the label slipway.dev/surge=true, by which a restarted process finds what it had begun
 * (surge_resume()). The patch that lowers it removes both. When somebody else has changed the count
 * in between, it is left as it is and only the marks are removed. The record of a newer version is
 * left alone.
 *
 * Pure: wanted actions go into `out`, their answers come back with surge_answer(). */
#ifndef ENGINE_SURGE_H
#define ENGINE_SURGE_H

#include "engine/action.h"
#include "engine/cluster.h"

#define SURGE_MARK "slipway.dev/surge"
enum { SURGE_VERSION = 1 };

enum surge_state {
    SURGE_NONE, /* not a Deployment with one replica: evict it as it is */
    SURGE_WAIT, /* not yet, see the text */
    SURGE_GO,   /* the second one is available: evict */
};

struct surge;

/* `ids`: the counter that actions are numbered from. `by`: the holder. */
struct surge *surge_new(struct cluster *cluster, const char *by, uint64_t *ids);
void surge_free(struct surge *s);

/* May this pod of this node be evicted? Begins what has to be done first. `*text` says what is
 * going on; valid until the next call. Called again whenever something changes. */
enum surge_state surge_ask(struct surge *s, const struct pod *pod, const char *node, struct now now,
                           struct actions *out, const char **text);
/* The pod is on its way out or gone (by UID): its Deployment gets its count back. True when that is
 * over already, and another pod of it may be next. */
bool surge_left(struct surge *s, const char *pod_uid, struct now now, struct actions *out);
/* Nothing more is evicted: everything that was raised goes back. */
void surge_abort(struct surge *s, struct now now, struct actions *out);
/* A Deployment with our record, from an earlier run for one of these nodes: goes back when its pod
 * (by UID) is not on the node any more, else it is gone on with. */
void surge_resume(struct surge *s, const struct deployment *d, struct now now, struct actions *out);

/* Retries and progress; called with every step. */
void surge_step(struct surge *s, struct now now, struct actions *out);
bool surge_answer(struct surge *s, uint64_t action, const struct answer *answer, struct now now);
int64_t surge_next(const struct surge *s); /* monotonic; INT64_MAX */
/* No Deployment has more than it had. */
bool surge_over(const struct surge *s);

#endif
