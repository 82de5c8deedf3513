/* Watches for the signs of others (engine/rivals.h) that are not on the Nodes: the lock in kured's
 * DaemonSet, and the pods of system-upgrade-controller, of all nodes. Of whoever leads; nothing is
 * decided by it, and so nothing waits for it: what may not be read is logged and tried again. */
#ifndef CONTROLLER_RIVALS_FEED_H
#define CONTROLLER_RIVALS_FEED_H

#include "base/log.h"
#include "engine/rivals.h"
#include "kube/client.h"

struct rivals_feed;

struct rivals_feed_opts {
    const struct log *log;
    uint64_t seed;
    /* `before` and `after` as of a store: of a struct kured_lock, or of a struct pod. */
    store_changed_fn *lock_changed, *pod_changed;
    void *arg;
};

struct rivals_feed *rivals_feed_new(struct kube_client *client,
                                    const struct rivals_feed_opts *opts);
void rivals_feed_free(struct rivals_feed *f); /* takes NULL; not inside a callback */

/* What was read so far, valid as long as the feed; nothing of NULL. */
struct rival_signs rivals_feed_signs(const struct rivals_feed *f);

#endif
