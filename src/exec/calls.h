/* Carries out what an engine wants: a request for each action, and its answer.
 *
 * Of each sort only so many are under way at a time: a request's time runs from when it is handed
 * over, and what nobody waits for must not stand in the way of what somebody does. The others wait
 * here, in their order; but not evictions and deletions of pods, which the engine bounds itself. */
#ifndef EXEC_CALLS_H
#define EXEC_CALLS_H

#include "engine/action.h"
#include "engine/cluster.h"
#include "kube/client.h"

struct calls;

struct calls_opts {
    struct kube_client *client;
    struct cluster *cluster; /* what is listed to confirm it is put there, writes are noted there */
    int page;                /* of lists; 500 when 0 */
    /* The part of the pods' store that those of this node are. */
    struct store_scope (*scope)(void *arg, const char *node);
    /* A node was written: whoever polls it can be told. */
    void (*wrote)(void *arg, const char *node);
    /* From the loop, once for each action. */
    void (*answer)(void *arg, uint64_t action, const struct answer *answer);
    /* The same with the action itself, before that, for those who keep count; may be NULL. */
    void (*ended)(void *arg, const struct action *action, const struct answer *answer);
    void *arg;
};

struct calls *calls_new(const struct calls_opts *opts);
/* What is under way is cancelled: nobody is told. */
void calls_free(struct calls *s);
/* The action is copied. */
void calls_add(struct calls *s, const struct action *a);

#endif
