/* Which node a FleetLock client speaks for: the ids that clients may come with, and the nodes that
 * have them. Kept current by listening to the store of nodes.
 *
 * A node is known by its machineID, as it stands there and, when it is one, in the notation of
 * machine ids; by what each application derives from it; and by its name, if that is wanted. An id
 * that several nodes have is nobody's: images that were cloned with their /etc/machine-id, and
 * kubelets in containers that report the image's, would else get each other's grants. */
#ifndef FLEETLOCK_ROSTER_H
#define FLEETLOCK_ROSTER_H

#include <stdbool.h>
#include <stddef.h>

#include "fleetlock/machine_id.h"
#include "model/store.h"

struct roster;

struct roster_options {
    const struct machine_id *apps; /* of applications; NULL: Zincati's alone */
    size_t n_apps;
    bool names; /* a node's name is an id of it, too */
};

/* Whether that is one of the node's ids. */
bool roster_is_id(const struct roster_options *opts, const struct node *node, const char *id);

/* The store must outlive it, and have no changes after it is freed. The options are copied. */
struct roster *roster_new(struct store *nodes, const struct roster_options *opts);
void roster_free(struct roster *r);
/* From now on by these options; nothing happens when they are those that it has. */
void roster_use(struct roster *r, const struct roster_options *opts);

/* How many nodes have that id, and the one whose name is the first; NULL when there is none. Valid
 * until the store changes. */
size_t roster_find(const struct roster *r, const char *id, const char **node);

#endif
