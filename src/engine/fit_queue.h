/* The queue of a scheduler: which pod is tried next, and when one that fitted nowhere is tried
 * again.
 *
 * As kube-scheduler's: pods wait in the order of their priority, then of their coming. One that
 * fits no node is put aside until something happens that could change that (fit_queue_event()), at
 * the latest after five minutes. It then takes its place again; while its back-off lasts (1 s, 2 s,
 * ... 10 s, longer with each failure) only behind all others. A pod with scheduling gates is not
 * tried at all.
 *
 *   fit_queue_put(q, pod, now);
 *   while (fit_queue_next(q, now, &turn)) {
 *       node = fit_place(fit, pod of turn, random);
 *       if (node) fit_assume(), bind it, fit_queue_remove();
 *       else fit_queue_failed(q, turn.ns, turn.name, fit_codes(fit), now);
 *   }
 *
 * Times are microseconds of any clock that does not go back. */
#ifndef ENGINE_FIT_QUEUE_H
#define ENGINE_FIT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/object.h"

struct fit_queue;

/* What happened in the cluster; as bits. */
enum fit_event {
    FIT_EVENT_NODE = 1,       /* a node came, or its labels, taints, room or cordon changed */
    FIT_EVENT_POD_HERE = 2,   /* a pod was bound, or one that is bound has other labels */
    FIT_EVENT_POD_GONE = 4,   /* a bound pod is gone, has finished or takes less room */
    FIT_EVENT_STORAGE = 8,    /* a claim, volume or storage class came or changed */
    FIT_EVENT_NAMESPACE = 16, /* its labels changed */
    FIT_EVENT_ATTACHED = 32   /* a volume was detached, or a driver can attach more */
};

struct fit_queue *fit_queue_new(struct pool *pool);
void fit_queue_free(struct fit_queue *q);

/* A pod that is new or has changed. It is forgotten when it needs no node any more: bound, on its
 * way out or finished. A change of what it wants (labels, spec) is a reason to try it again. */
void fit_queue_put(struct fit_queue *q, const struct pod *pod, int64_t now);
void fit_queue_remove(struct fit_queue *q, const char *ns, const char *name);

/* The pod whose turn it is; pool entries, valid until it is removed. */
struct fit_turn {
    const char *ns, *name, *uid;
};
/* Takes the next one out; it comes back by fit_queue_failed() or ends by fit_queue_remove(). */
bool fit_queue_next(struct fit_queue *q, int64_t now, struct fit_turn *out);
/* It fitted nowhere. `codes` are those of enum fit_code that stood in its way, as bits; 0:
 * something else went wrong, try again after the back-off. */
void fit_queue_failed(struct fit_queue *q, const char *ns, const char *name, uint32_t codes,
                      int64_t now);
void fit_queue_event(struct fit_queue *q, unsigned events, int64_t now);

/* When fit_queue_next() should be called again: `now` when there is a pod to try, INT64_MAX when
 * only an event can bring one. */
int64_t fit_queue_due(const struct fit_queue *q, int64_t now);
/* Pods that wait in any way, gated ones included. */
size_t fit_queue_len(const struct fit_queue *q);

#endif
