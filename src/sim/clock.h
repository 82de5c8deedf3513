/* The clock of the simulated world, and everything that will happen by itself.
 *
 * Time is microseconds since 1970 and moves only in clock_run(). An alarm is embedded in what it
 * belongs to; alarms that are due at the same time ring in the order in which they were set, so
 * that a run is the same every time. In its function an alarm may be set again, stopped or freed,
 * and so may any other. */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct alarm;
typedef void alarm_fn(void *arg);

struct alarm {
    int64_t due;
    uint64_t order; /* among those due at the same time */
    size_t place;   /* in the heap, from 1; 0: not set */
    alarm_fn *fn;
    void *arg;
};

struct clock {
    int64_t now;
    uint64_t order;
    uint64_t rung; /* how many alarms have gone off */
    VEC(struct alarm *) heap;
};

/* Seconds that somebody else has written, in microseconds, as Kubernetes' own programs have them:
 * in nanoseconds, of which 64 bits are kept. After three centuries they begin anew. */
static inline int64_t clock_go_seconds(int64_t n) {
    return (int64_t)((uint64_t)n * UINT64_C(1000000000)) / 1000;
}

void clock_init(struct clock *c, int64_t now);
void clock_done(struct clock *c); /* leaves the alarms to their owners */

/* (Re)sets the alarm to `due`; a time that has passed is now. */
void clock_set(struct clock *c, struct alarm *a, int64_t due, alarm_fn *fn, void *arg);
void clock_stop(struct clock *c, struct alarm *a);
static inline bool alarm_pending(const struct alarm *a) {
    return a->place != 0;
}

/* When the next alarm is due; INT64_MAX when there is none. */
int64_t clock_next(const struct clock *c);
/* Rings the next alarm if it is due by `until`, moving `now` to its time. False when none is. */
bool clock_step(struct clock *c, int64_t until);
/* Rings everything that is due by `until`, then moves `now` there. Never moves back. */
void clock_run(struct clock *c, int64_t until);

#endif
