/* Tells people what happened, as Events: of a slot on its Node, of a Maintenance on it, and where
 * somebody has to do something on its Node as well. What a drain tells, it tells itself.
 *
 * The same again within EVENTS_SAME counts the first one up. They may be lost, and there are only
 * so many at a time: nothing is decided by them. */
#ifndef CONTROLLER_EVENTS_H
#define CONTROLLER_EVENTS_H

#include "engine/action.h"
#include "engine/event.h"
#include "engine/keeper.h"
#include "engine/rollout.h"

struct events;

#define EVENTS_SAME (INT64_C(10) * 60 * 1000000) /* microseconds */
enum {
    EVENTS_BURST = 100, /* so many at once */
    EVENTS_RATE = 5,    /* and so many a second after that */
};

struct events_opts {
    const char *by; /* who tells: the identity of this replica */
    /* It is to be sent; its id is 0. */
    void (*send)(void *arg, const struct action *action);
    /* One was left out: there were too many. */
    void (*dropped)(void *arg);
    void *arg;
};

struct events *events_new(const struct events_opts *opts);
void events_free(struct events *e);

/* `uid`: of its Maintenance; "" when it has none, or it is not known. */
void events_note(struct events *e, const struct keeper_note *note, const char *uid, struct now now);
/* On the Rollout. */
void events_rollout(struct events *e, const struct rollout_note *note, struct now now);
/* Any other, about a Node; `by` and `at` are put in here. */
void events_tell(struct events *e, struct event event, struct now now);

#endif
