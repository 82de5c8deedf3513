/* The event loop: timers, and for the real one also sockets, signals and children through libevent.
 *
 * There are two implementations. loop_new() runs on libevent and the machine's clocks.
 * loop_new_virtual() has no file descriptors; its clock stands still while callbacks run and jumps
 * to the next timer, so that hours pass in microseconds and every run is the same. Code that only
 * needs time takes a struct loop and cannot tell which one it has.
 *
 * Two clocks, both in microseconds: loop_now() is monotonic, counts while the machine sleeps, and
 * is the only one that timeouts are measured with; loop_wall() is the time of day.
 *
 * Everything runs on one thread. Callbacks may free their own timer. */
#ifndef NET_LOOP_H
#define NET_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct loop;
struct loop_timer;
struct event_base;

typedef void loop_fn(void *arg);

int loop_new(struct loop **out, struct err *err);
struct loop *loop_new_virtual(int64_t wall_start);
void loop_free(struct loop *loop);

int64_t loop_now(const struct loop *loop);
int64_t loop_wall(const struct loop *loop);

/* Runs until loop_stop(), or until nothing is left to wait for. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);
/* Virtual only: runs what is due within `usec` and advances the clock by exactly that much. */
void loop_advance(struct loop *loop, int64_t usec);
/* Virtual only: the clock moves and nothing runs, as for a process that was stopped: what was due
 * meanwhile is, all at once, in the next loop_advance(). */
void loop_jump(struct loop *loop, int64_t usec);
/* Virtual only: microseconds until the next timer, or -1 when there is none. */
int64_t loop_next(const struct loop *loop);

/* libevent's base for those who add sockets or signals; NULL for a virtual loop. */
struct event_base *loop_base(struct loop *loop);

/* A timer that calls fn once each time it is set. Not running at first. */
struct loop_timer *loop_timer_new(struct loop *loop, loop_fn *fn, void *arg);
/* (Re)starts it: due in `delay` microseconds (0 or less: in the next turn, never at once). Timers
 * that are due at the same time fire in the order in which they were set. */
void loop_timer_set(struct loop_timer *t, int64_t delay);
void loop_timer_stop(struct loop_timer *t);
bool loop_timer_pending(const struct loop_timer *t);
/* Microseconds until it is due, 0 when it is overdue or not pending. */
int64_t loop_timer_left(const struct loop_timer *t);
void loop_timer_free(struct loop_timer *t); /* takes NULL */

#endif
