/* Keeps the controller's picture of the cluster current: nodes, budgets, volumes, owners and the
 * records of slots as a whole, pods only of the nodes that are being worked on.
 *
 * What cannot be read at the moment is tried again for as long as the program runs, and logged once
 * in a while; decisions wait for it. A watch in which nothing happens is none of that: what counts
 * is that the server refuses it, cannot be reached, or is silent where it has sent bookmarks. */
#ifndef CONTROLLER_FEEDS_H
#define CONTROLLER_FEEDS_H

#include "base/log.h"
#include "engine/cluster.h"
#include "kube/client.h"

struct feeds;

struct feeds_opts {
    struct cluster *cluster;
    /* May not be installed: then there are none. */
    struct store *policies, *maintenances, *rollouts;
    struct store *maps; /* ConfigMaps of slots */
    const char *ns;     /* their namespace */
    const char *maps_selector;
    bool owners; /* ReplicaSets, StatefulSets and Deployments are watched */
    const struct log *log;
    uint64_t seed;
    void (*changed)(void *arg, const struct kind *kind, const struct object *before,
                    const struct object *after);
    /* Something has become complete. */
    void (*synced)(void *arg);
    /* Something that is watched as a whole cannot be for a while already, and why: what is known of
     * it may be old. NULL: all of it can be again. */
    void (*blind)(void *arg, const char *why);
    void *arg;
};

struct feeds *feeds_new(struct kube_client *client, const struct feeds_opts *opts);
void feeds_free(struct feeds *f);

/* Whether all that is watched as a whole is complete. */
bool feeds_ready(const struct feeds *f);
/* The first kind that is not, NULL when all is. */
const struct kind *feeds_missing(const struct feeds *f);
/* Tells for each kind how often it had to be watched or listed again since the beginning. */
void feeds_restarts(const struct feeds *f,
                    void (*fn)(void *arg, const struct kind *kind, uint64_t restarts), void *arg);
/* The server has Policies by now, we know it: kinds that it did not have are looked for at once. */
void feeds_retry(struct feeds *f);
/* Its pods are watched from now on, or are not any more. */
void feeds_watch(struct feeds *f, const char *node);
void feeds_unwatch(struct feeds *f, const char *node);
/* Whether its pods are known. */
bool feeds_knows(const struct feeds *f, const char *node);
/* Calls fn for each node whose pods are watched; it may unwatch that one. */
void feeds_each(struct feeds *f, void (*fn)(void *arg, const char *node), void *arg);
/* The part of the pods' store that those of this node are. */
struct store_scope feeds_scope(const struct feeds *f, const char *node);

#endif
