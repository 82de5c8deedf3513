/* One list, now: of a node's pods, or of all VolumeAttachments. The cluster's store is brought up
 * to it. Or of a kind of which there may be none: only whether that is so is told.
 *
 * A watch says nothing about what it has not heard of. Before a node is called empty, one list that
 * began after the cordon tells whether there is a pod, or a volume that is attached, that the watch
 * is late with. */
#ifndef EXEC_CONFIRM_H
#define EXEC_CONFIRM_H

#include "engine/cluster.h"
#include "kube/client.h"

struct confirm;

/* Called once from the loop, KUBE_OK when the list was complete and is in the store. It may be
 * freed inside. */
typedef void confirm_fn(void *arg, enum kube_outcome outcome, const char *message);

/* `node`: its pods; NULL: all VolumeAttachments. `scope`: the part of the store that these are; a
 * part that has come further than the list is left alone. */
struct confirm *confirm_new(struct kube_client *client, const struct cluster *cluster,
                            struct store_scope scope, const char *node, int page, confirm_fn *fn,
                            void *arg);
/* KUBE_OK: there is no object of that kind; KUBE_NOT_FOUND: the server does not even have the kind;
 * KUBE_EXISTS: there is one. */
struct confirm *confirm_new_none(struct kube_client *client, const struct kind *kind, int page,
                                 confirm_fn *fn, void *arg);
void confirm_free(struct confirm *c); /* takes NULL */

#endif
