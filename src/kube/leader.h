/* Leader election on a Lease, by client-go's rules: so that ours and others' can share a Lease, and
 * the same kubectl habits apply.
 *
 * Every candidate looks at the Lease every 2 s (with jitter). Who holds it renews it; anybody else
 * may take it when it has not changed for its duration (15 s), measured by the local monotonic
 * clock from when the change was seen, never by comparing clocks. A leader that could not renew for
 * 10 s, counted from when it sent its last good write, has lost: `stopped` is called and it must
 * stop acting at once. It stays a candidate.
 *
 * A Lease that is deleted ends its holder's leadership; others who knew it wait for its duration
 * all the same, and the transition count goes on from where they saw it.
 *
 * A Lease does not fence: a process that was suspended may still believe that it leads. The
 * transition count of the Lease is therefore handed to `started`; what a leader does must carry it
 * (DESIGN 4.7). */
#ifndef KUBE_LEADER_H
#define KUBE_LEADER_H

#include <stdint.h>

#include "kube/client.h"

struct leader;

struct leader_options {
    const char *ns, *name; /* of the Lease */
    const char *identity;  /* unique: "<hostname>_<random>" */
    int64_t lease;         /* microseconds, cut to whole seconds; 15 s when 0 */
    int64_t renew;         /* deadline; 10 s when 0 */
    int64_t retry;         /* 2 s when 0 */
    uint64_t seed;         /* of the jitter */
    void (*started)(void *arg, int32_t fence);
    void (*stopped)(void *arg, const char *why);
    /* Who leads now: another one, we, or nobody (""); may be NULL. */
    void (*observed)(void *arg, const char *identity);
    /* The Lease could not be read or written, each time; NULL: it could, or is another's. That
     * somebody else was faster is no trouble. May be NULL. */
    void (*troubled)(void *arg, const char *message);
    void *arg;
};

/* Candidates at once. -EINVAL when a name is missing or the durations do not fit: lease > renew >
 * 1.2 retry. None of the callbacks may free the leader. */
int leader_new(struct kube_client *client, const struct leader_options *opts, struct leader **out,
               struct err *err);
/* Just forgets: the Lease runs out by itself. */
void leader_free(struct leader *l);

bool leader_is(const struct leader *l);
/* Valid while leader_is(). */
int32_t leader_fence(const struct leader *l);
/* Microseconds until a leader that cannot renew must stop; 0 when it is not leading. */
int64_t leader_left(const struct leader *l);
/* Somebody has met a term that is not below ours, although we hold the Lease: it was deleted, and
 * counts anew. Stops leading, and begins again with a later one than that. */
void leader_raise(struct leader *l, int32_t fence);
/* Gives the Lease up, so that the next one can take it at once, and stays out. To be called when
 * all guarded work has ended; `done` is called from the loop when the Lease is given up or that
 * failed. */
void leader_resign(struct leader *l, loop_fn *done, void *arg);

#endif
