/* A restoration under way: for restore.c, which puts objects in their places, restore_learn.c,
 * which learns from them how long pods take to start, restore_custom.c, whose kinds are defined
 * by objects, and restore_end.c, which mends what can be mended only when all are there. */
#ifndef SIM_RESTORE_INTERNAL_H
#define SIM_RESTORE_INTERNAL_H

#include "base/htab.h"
#include "base/json.h"
#include "base/vec.h"
#include "sim/api/registry.h"
#include "sim/fleet/machine.h"
#include "sim/fleet/original.h"
#include "sim/restore.h"

/* Something that pods need and that may be missing: an account of a namespace, a priority class. */
struct restore_need {
    char *ns, *name; /* ns "" where there is none */
    int64_t value;   /* of a priority class */
};

/* How long a pod took to start, by the times in its status. */
struct restore_start {
    char *workload;
    int64_t took[2]; /* by enum habit: HABIT_START, HABIT_READY */
};

struct restore {
    struct sim *sim;
    struct fleet *fleet;
    struct habits *habits;
    bool learn;
    struct htab accounts, classes; /* struct restore_need */
    VEC(struct restore_start) starts;
    size_t kept, dropped, refused;
    int64_t wanted; /* pods, by all workloads */
    char *refusal;  /* why the first was */
};

/* Of objects: a time, 0 when there is none; a condition of a status, or NULL. */
int64_t restore_time(const json_t *obj, const char *key);
const json_t *restore_condition(const json_t *status, const char *type);
bool restore_is_true(const json_t *condition);

/* Notes what a pod shows; the end, when all have been seen, tells the habits. */
void restore_learn(struct restore *r, const json_t *obj, const struct pod *pod);
void restore_learn_end(struct restore *r);
void restore_learn_done(struct restore *r);

/* Whether it has the name and the namespace that an object of this resource must have. */
int restore_check_meta(const struct resource *res, const json_t *obj, struct err *err);

/* A CustomResourceDefinition, in force at once; and an object of one. What is not valid is counted
 * and left out. */
int restore_definition(struct restore *r, const json_t *raw, struct err *err);
int restore_custom(struct restore *r, struct resource *res, const json_t *raw, struct err *err);

/* Stores an object of the right form as it is; gives up the value. NULL when it cannot be. */
struct record *restore_put(struct restore *r, struct resource *res, json_t *obj, struct err *err);

#endif
