/* Writes down how the Policies stand (engine/policy_status.h): their status and their finalizer.
 * Only whoever leads does. It looks not more often than STANDING_EVERY, however much happens; one
 * write at a time for each, on the version that was looked at, and none when nothing has changed.
 * That one cannot be written is said at once and then every STANDING_WARN. */
#ifndef CONTROLLER_STANDING_H
#define CONTROLLER_STANDING_H

#include "base/log.h"
#include "controller/policies.h"
#include "engine/action.h"

struct standing;

#define STANDING_EVERY (INT64_C(2) * 1000000) /* microseconds */
#define STANDING_WARN  (INT64_C(600) * 1000000)

struct standing_opts {
    struct policies *policies; /* are told why a finalizer cannot be written */
    const struct cluster *cluster;
    const struct store *policy_store;
    uint64_t *ids; /* of actions */
    const struct log *log;
};

struct standing *standing_new(const struct standing_opts *opts);
void standing_free(struct standing *s);

/* Something has changed. */
void standing_poke(struct standing *s);
/* Adds what is to be written; to be called when standing_next() has come. */
void standing_step(struct standing *s, struct now now, struct actions *out);
/* True when it was one of those. */
bool standing_answer(struct standing *s, uint64_t action, const struct answer *answer,
                     struct now now);
/* Monotonic: when the next step is due; INT64_MAX: when something changes. */
int64_t standing_next(const struct standing *s);

#endif
