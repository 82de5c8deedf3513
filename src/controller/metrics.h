/* The controller's metrics: one table, from which /metrics, `slipway help metrics` and
 * docs/metrics.md are made, and what has been counted so far.
 *
 * Counters and histograms are kept from when the process began. Gauges are what is so when somebody
 * looks: metrics_forget_gauges(), then metrics_set() for each, then metrics_write().
 *
 * Points in time are timestamps, not ages, so that an alert is `time() - x`. Labels are of bounded
 * sets: names of policies, of nodes that something is done with, words of tables; never names of
 * pods, nor messages. */
#ifndef CONTROLLER_METRICS_H
#define CONTROLLER_METRICS_H

#include "base/err.h"
#include "base/exposition.h"

enum metric {
    METRIC_BUILD_INFO,
    METRIC_LEADER,
    METRIC_NODES,
    METRIC_NODE_PHASE,
    METRIC_NODE_PHASE_START,
    METRIC_NODE_BLOCKED,
    METRIC_NODE_BLOCKED_START,
    METRIC_BLOCKED_NODES,
    METRIC_NODE_REBOOT_REQUIRED,
    METRIC_POLICY_USABLE,
    METRIC_SLOTS,
    METRIC_SLOTS_HELD,
    METRIC_SLOTS_WAITING,
    METRIC_SLOT_HOLDER,
    METRIC_SLOT_START,
    METRIC_MAINTENANCES,
    METRIC_ROLLOUTS,
    METRIC_ROLLOUT_NODES,
    METRIC_ROLLOUT_START,
    METRIC_RIVAL,
    METRIC_GATE_STATUS,
    METRIC_GATE_CHECKS,
    METRIC_GATE_DURATION,
    METRIC_TRANSITIONS,
    METRIC_PHASE_DURATION,
    METRIC_OPERATIONS,
    METRIC_EVICTIONS,
    METRIC_FLEETLOCK_REQUESTS,
    METRIC_FLEETLOCK_DURATION,
    METRIC_API_REQUESTS,
    METRIC_API_DURATION,
    METRIC_RECONCILE_DURATION,
    METRIC_WATCH_RESTARTS,
    METRIC_CACHE_OBJECTS,
    METRIC_AUDIT_RECORDS,
    METRIC_EVENTS,
    METRIC_PROCESS_CPU,
    METRIC_PROCESS_MEMORY,
    METRIC_PROCESS_FDS,
    METRIC_PROCESS_MAX_FDS,
    METRIC_PROCESS_START,
    /* Names that others have, on request. */
    METRIC_KURED_REBOOT_REQUIRED,
    METRIC_AIRLOCK_GROUPS,
    METRIC_AIRLOCK_CONFIG_SLOTS,
    METRIC_AIRLOCK_HOLDERS,
    METRIC_AIRLOCK_SLOTS,
    METRIC_AIRLOCK_LOCKS,
    METRIC_AIRLOCK_UNLOCKS,
    METRIC_FLEETLOCK_STATE,
    METRIC_FLEETLOCK_TRANSITIONS,
    METRIC_FLEETLOCK_LOCKS,
    METRIC_FLEETLOCK_UNLOCKS,
    METRICS,
};

/* Whose names are written, too. */
enum metric_compat {
    COMPAT_NONE = 0,
    COMPAT_KURED = 1,
    COMPAT_AIRLOCK = 2,
    COMPAT_FLEETLOCK = 4, /* poseidon/fleetlock */
};

enum { METRIC_LABELS = 4 }; /* at most */

struct metric_row {
    const char *name; /* with "slipway_", except of those that have a name of their own */
    enum exposition_type type;
    const char *labels[METRIC_LABELS + 1]; /* NULL after the last */
    const char *help;                      /* a sentence */
    const double *bounds;                  /* of a histogram; 0 after the last */
    enum metric_compat compat;
};
extern const struct metric_row metric_rows[METRICS];

/* "kured,airlock": -EINVAL when it is none of them. */
int metrics_compat(const char *text, unsigned *out, struct err *err);
extern const char *const metrics_compat_words[]; /* NULL-terminated */

struct metrics;
/* `compat`: of enum metric_compat. */
struct metrics *metrics_new(unsigned compat);
void metrics_free(struct metrics *m);
unsigned metrics_compat_of(const struct metrics *m);

/* `values`: as many as the row has labels, or NULL for none. All take a NULL for the metrics:
 * nobody counts. */
void metrics_add(struct metrics *m, enum metric which, double by, const char *const *values);
void metrics_observe(struct metrics *m, enum metric which, double value, const char *const *values);
/* A counter that somebody else counts: what it has come to. */
void metrics_raise(struct metrics *m, enum metric which, double to, const char *const *values);
/* Each combination of values at most once after metrics_forget_gauges(). */
void metrics_set(struct metrics *m, enum metric which, double value, const char *const *values);
void metrics_forget_gauges(struct metrics *m);

/* METRIC_ADD(m, METRIC_EVICTIONS, 1, "evicted"): of one with labels. */
#define METRIC_VALUES(...)            ((const char *const[]){__VA_ARGS__})
#define METRIC_ADD(m, which, by, ...) metrics_add(m, which, by, METRIC_VALUES(__VA_ARGS__))
#define METRIC_OBSERVE(m, which, value, ...)                                                       \
    metrics_observe(m, which, value, METRIC_VALUES(__VA_ARGS__))
#define METRIC_RAISE(m, which, to, ...)  metrics_raise(m, which, to, METRIC_VALUES(__VA_ARGS__))
#define METRIC_SET(m, which, value, ...) metrics_set(m, which, value, METRIC_VALUES(__VA_ARGS__))

/* All of them; a family without a sample is left out. */
void metrics_write(const struct metrics *m, bool open, struct str *out);

#endif
