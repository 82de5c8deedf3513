/* A controller's queue of keys that need a look. A key that is added again before its turn comes is
 * still looked at once; the earlier of the two times holds. Failed keys are tried again with a
 * back-off that doubles, as Kubernetes' work queues do. */
#ifndef SIM_FLEET_QUEUE_H
#define SIM_FLEET_QUEUE_H

#include "sim/world.h"

struct queue;

/* Looks at one object. Returns false to be called again after the back-off. */
typedef bool queue_fn(void *arg, const char *ns, const char *name);

/* Each key waits `min` to `max` microseconds, drawn from the world's seed, before its turn, and the
 * world's lag. */
struct queue *queue_new(struct world *w, int64_t min, int64_t max, queue_fn *fn, void *arg);
void queue_free(struct queue *q); /* takes NULL */
/* Another lag than the world's own: one of its members. */
void queue_lag(struct queue *q, const int64_t *lag);

/* `ns` is NULL or "" for what has no namespace. */
void queue_add(struct queue *q, const char *ns, const char *name);
/* Not before `delay` microseconds from now. */
void queue_add_after(struct queue *q, const char *ns, const char *name, int64_t delay);
size_t queue_len(const struct queue *q);

#endif
