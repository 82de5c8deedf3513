/* Keeps one object of a store current by reading it again and again: for those who may get an
 * object by its name, but neither list nor watch. kubectl drain needs no more than that of nodes.
 */
#ifndef EXEC_GETTER_H
#define EXEC_GETTER_H

#include "kube/client.h"
#include "model/store.h"

struct getter;

struct getter_opts {
    const char *ns, *name;
    struct store_scope scope; /* the part of the store that has this object and no other */
    int64_t interval;         /* microseconds between two reads */
    /* The first answer is there: the object, or that there is none. */
    void (*synced)(void *arg);
    /* Each read that failed; it goes on. It must not be freed inside. */
    void (*problem)(void *arg, enum kube_outcome outcome, const char *message);
    void *arg;
};

struct getter *getter_new(struct kube_client *client, struct store *store,
                          const struct getter_opts *opts);
/* Something has changed, we know it: it is read now. */
void getter_hurry(struct getter *g);
void getter_free(struct getter *g); /* takes NULL */

#endif
