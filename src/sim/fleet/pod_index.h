/* Pods by their node and by their controller, kept current by listening: what nearly every part of
 * the fleet asks for. The order of a list means nothing, but is the same in every run. */
#ifndef SIM_FLEET_POD_INDEX_H
#define SIM_FLEET_POD_INDEX_H

#include "sim/world.h"

struct pod_index;

struct pod_index *pod_index_new(struct shelf *pods, struct world *w);
void pod_index_free(struct pod_index *x); /* before the shelf; takes NULL */

/* Borrowed records, valid until the next change of any pod. */
struct pod_list {
    struct record *const *p;
    size_t len;
};
struct pod_list pods_on_node(const struct pod_index *x, const char *node);
/* By the uid of the controlling owner. */
struct pod_list pods_of_owner(const struct pod_index *x, const char *uid);
/* Those of a namespace that no controller owns. */
struct pod_list pods_without_owner(const struct pod_index *x, const char *ns);
struct pod_list pods_in_namespace(const struct pod_index *x, const char *ns);

#endif
