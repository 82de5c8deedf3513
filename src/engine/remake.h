/* Whether what is evicted is made again, apart from room: an eviction may be the failure that is
 * one too many for a Job, an owner that is being deleted makes nothing any more, and the API server
 * refuses a replacement that a quota has no place for, that does not set what a quota demands, or
 * whose ServiceAccount is gone.
 *
 *     struct remake r = REMAKE_INIT(&arena, look, arg);
 *     remake_quotas(&r, quotas);
 *     remake_judge(&r, pod, &out)     of each pod that goes, in their order
 *     remake_judge_rest(&r, pod, &out)     of each of them again, with what was said of it
 *     remake_done(&r);
 *
 * Pods that go together count together: the seventh of a Job that may lose six is the one that is
 * too many. What cannot be read is taken to be well. */
#ifndef ENGINE_REMAKE_H
#define ENGINE_REMAKE_H

#include "base/arena.h"
#include "base/vec.h"
#include "engine/blocker.h"
#include "model/job.h"
#include "model/store.h"

enum remake_end {
    REMAKE_WELL,
    REMAKE_JOB_FAILS,  /* and with it all that it was to do */
    REMAKE_NO_OWNER,   /* its owner is being deleted, and makes nothing any more */
    REMAKE_NO_ACCOUNT, /* the replacement is refused: its ServiceAccount is gone */
    REMAKE_NO_QUOTA,   /* the replacement is refused: more is in use than a quota allows */
    REMAKE_NO_AMOUNT,  /* the replacement is refused: it does not set what a quota demands */
};

struct remade {
    enum remake_end end;
    /* Of all but REMAKE_WELL: */
    enum blocker_code code;
    const struct kind *kind; /* of the owner, the quota or the account */
    const char *ns, *name;   /* of it */
    const char *text;        /* a sentence about the pod, without full stop */
    const char *help;        /* what to do about it, in few words; "": as the code's hint says */
    int32_t limit;           /* a backoffLimit with which the Job would not fail; 0: none */
    const char *resource;    /* of the quota */
    int64_t used;            /* of it, thousandths */
};

/* The object of this name, or NULL. `*gone`: there is none, for certain. */
typedef const void *remake_look_fn(void *arg, const struct kind *kind, const char *ns,
                                   const char *name, bool *gone);

/* A Job, and how many of its pods go. */
struct remake_job {
    const struct job *job;
    int32_t failures;
    int64_t indexes;         /* of them that fail for good */
    int64_t judged;          /* pods of it */
    const struct pod *fatal; /* the first because of which it fails at once; NULL */
    const char *why;         /* in a few words */
};

/* What is used beyond a quota, of one resource. */
struct remake_excess {
    const struct resource_quota *quota;
    const char *resource;
    int64_t hard, used; /* thousandths */
    int64_t given_back; /* by pods that are not made again */
};

/* What each container must set because a quota counts it. */
struct remake_demand {
    const struct resource_quota *quota;
    const char *resource;
};

struct remake {
    struct arena *arena;
    remake_look_fn *look;
    void *arg;
    enum job_end how; /* pods are evicted, or deleted */
    VEC(struct remake_job) jobs;
    bool keep_all; /* for remake_judge_second(): also quotas that have something left */
    VEC(struct remake_excess) excess;
    VEC(struct remake_excess) rest; /* with keep_all: what is not used beyond its quota */
    VEC(struct remake_demand) demands;
};
#define REMAKE_INIT(arena_, look_, arg_)                                                           \
    { .arena = (arena_), .look = (look_), .arg = (arg_), .how = JOB_POD_EVICTED }

/* Adds those of the store, or of one namespace of it, that refuse replacements. Once. */
void remake_quotas(struct remake *r, const struct store *quotas, const char *ns);
/* True when it is not REMAKE_WELL. */
bool remake_judge(struct remake *r, const struct pod *pod, struct remade *out);
/* The same of one that goes only when its replacement is there (--surge): both are counted. */
bool remake_judge_second(struct remake *r, const struct pod *pod, struct remade *out);
/* When all that go together were judged: a Job that fails because of one of them makes none of the
 * others again, and ends those that do not go. True: `out` says so now. */
bool remake_judge_rest(struct remake *r, const struct pod *pod, struct remade *out);
/* Forgets the pods that went: those that come next go by themselves. */
void remake_again(struct remake *r);
void remake_done(struct remake *r);

/* A look into these stores; NULL: not known. */
struct remake_stores {
    const struct store *jobs, *accounts, *replica_sets, *stateful_sets;
};
const void *remake_look(void *stores, const struct kind *kind, const char *ns, const char *name,
                        bool *gone);

#endif
