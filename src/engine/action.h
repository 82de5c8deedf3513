/* What the engine wants done: a list of requests to the API server, each with a number under which
 * its answer comes back. The engine makes them, the executor (src/exec) carries them out and knows
 * nothing else about them.
 *
 * Every request is safe to repeat: an eviction and a deletion carry the pod's UID, a patch the
 * resourceVersion that it was decided on, a creation a name that is always the same. */
#ifndef ENGINE_ACTION_H
#define ENGINE_ACTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/prng.h"
#include "base/vec.h"
#include "model/object.h"
#include "model/outcome.h"

enum action_verb {
    ACTION_EVICT,  /* pod, with uid and grace */
    ACTION_DELETE, /* with uid and grace */
    ACTION_PATCH,  /* a merge patch, or a strategic one: body; subresource or NULL */
    ACTION_CREATE, /* body */
    ACTION_READ, /* one object: it comes back in the answer and is put where cluster_look() finds it
                  */
    ACTION_CONFIRM, /* a list of the pods of node `name`, now: what is not in the store comes into
                       it. Of Policies: whether there are any (KUBE_EXISTS) */
};

struct action {
    uint64_t id;
    enum action_verb verb;
    const struct kind *kind;
    const char *ns, *name, *uid, *subresource; /* NULL where there is none */
    const char *node;                          /* of a pod that is told to go; else NULL */
    int64_t grace;                             /* seconds; negative: the object's own */
    const char *body;                          /* JSON */
    bool strategic;                            /* the patch */
    bool dry_run;
    bool minor; /* nobody waits for it and it may fail: Events, conditions */
};

/* Wanted actions; texts live in the arena. */
struct actions {
    struct arena arena;
    VEC(struct action) list;
};
#define ACTIONS_INIT ((struct actions){0})
void actions_done(struct actions *a);
/* Empties it for the next step. */
void actions_reset(struct actions *a);
/* Adds one; its texts are copied. Returns its number: *ids, counted up. */
uint64_t actions_add(struct actions *a, uint64_t *ids, const struct action *what);

/* How one ended. */
struct answer {
    enum kube_outcome outcome;
    int code;
    const char *message;      /* the server's, or why there is none; never NULL */
    const char *cause;        /* of its first cause, or NULL */
    int64_t retry_after;      /* seconds the server asks us to wait, -1 */
    int64_t date;             /* the server's clock, to the second; 0 when unknown */
    const struct object *obj; /* what came back, decoded; NULL: nothing */
    const struct kind *kind;  /* of that */
};

/* How long to wait before a request is tried again that has failed so often: twice as long each
 * time, from `first` up to `max`, and up to half as much again by chance, so that many do not come
 * back at the same moment. */
int64_t action_backoff(struct prng *random, unsigned tries, int64_t first, int64_t max);

/* Two clocks, microseconds: `mono` never jumps and measures how long we wait; `wall` is compared
 * with the times that are in objects. */
struct now {
    int64_t mono, wall;
};

#endif
