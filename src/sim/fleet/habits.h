/* How long the pods of a cluster take to start, to be ready and to stop, workload by workload
 * (model/workload.h): what was seen of them, and what is assumed where nothing was.
 *
 *     h = habits_new();
 *     habits_note(h, "default/Deployment/web", HABIT_STOP, SEC(8)); ...
 *     habits_begin(h, seed);                 before each run
 *     habits_draw(h, pod, HABIT_STOP);
 *
 * Where a workload was seen, a duration is drawn from what was seen: between the least and
 * the most, and a little beyond, the more so the less was seen. What is far off (more than OUTLIER
 * times the median: a readiness that was lost and came back) does not count. How well the mean is
 * known from so many shows in how far runs differ: in each it is another one. Where it was not:
 *
 *  - start and ready: from what was seen of all other workloads; if nothing was, 1 to 10 s for both
 *    together.
 *  - stop: one time is drawn for each workload in each run, and its pods take that, give or take a
 *    tenth: from what was seen of all others, but no more than their grace period; if nothing was,
 *    because no drain was watched yet, from a second up to the grace period, but no more than
 *    ASSUMED_STOP, which plans reckon with. So what is not known shows in how far runs differ. */
#ifndef SIM_FLEET_HABITS_H
#define SIM_FLEET_HABITS_H

#include "base/timefmt.h"
#include "engine/durations.h"
#include "model/object.h"

enum habit {
    HABIT_START, /* from binding to running */
    HABIT_READY, /* from running to ready */
    HABIT_STOP,  /* from deletion to gone */
    HABIT_UP, /* from binding to ready: to be noted only, and counts more than the first two, from
               * three on */
    HABITS,
};

/* Longer than that nothing is taken for a habit: a day. */
#define HABITS_MOST SEC(86400)

struct habits;

struct habits *habits_new(void);
void habits_free(struct habits *h); /* takes NULL */

/* One more observation, microseconds. What is negative or more than HABITS_MOST does not count. Of
 * one workload the last few hundred are kept. */
void habits_note(struct habits *h, const char *workload, enum habit habit, int64_t usec);
/* A pod that has had time enough to be ready, and whether it is. Where none of a workload's pods
 * is, those that replace them will not be either. */
void habits_note_state(struct habits *h, const char *workload, bool ready);

/* A run begins: all chance comes from the seed. */
void habits_begin(struct habits *h, uint64_t seed);
/* INT64_MAX: never. */
int64_t habits_draw(struct habits *h, const struct pod *pod, enum habit habit);

/* What the draws of all runs so far rested on: workloads that were drawn for, how many of them had
 * not been seen, and whether any was. */
struct habits_basis {
    size_t workloads, assumed;
    bool others;
};
struct habits_basis habits_basis(const struct habits *h, enum habit habit);
/* The median of what was seen of a workload, -1 when nothing was. */
int64_t habits_median(struct habits *h, const char *workload, enum habit habit);

#endif
