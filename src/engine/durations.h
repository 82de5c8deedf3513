/* How long pods take to stop and to start, as far as that can be told from what is seen: siblings
 * of the same owner show how long a start takes (from being made until Ready, the middle of them).
 * What nothing tells is assumed. */
#ifndef ENGINE_DURATIONS_H
#define ENGINE_DURATIONS_H

#include "base/timefmt.h"
#include "model/store.h"

/* What is assumed: a pod uses its grace period, but hardly more than this; and starts in so long.
 */
#define ASSUMED_STOP  SEC(10)
#define ASSUMED_START SEC(10)
/* A kubelet that kills a pod at the end of its grace period has it gone within so long, mostly less
 * than two seconds: what took longer than both has waited for something else. */
#define KILL_TAKES SEC(2)

struct durations;

/* Microseconds. */
struct pod_durations {
    int64_t stop;   /* from the eviction until it is gone */
    int64_t start;  /* from being made until it is ready */
    bool seen;      /* the start was, of siblings; else it is assumed */
    bool stop_seen; /* the stop was, of earlier drains; else it is assumed */
};

/* From all pods in the store, as they are now. */
struct durations *durations_new(const struct store *pods);
void durations_free(struct durations *t);
struct pod_durations durations_of(const struct durations *t, const struct pod *pod);

#endif
