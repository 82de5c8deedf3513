/* The mark on nodes that a drain or a rollout comes to later: a taint that asks the scheduler to
 * prefer others (PreferNoSchedule), so that the pods of the nodes before them are not put there
 * only to move again. It forbids nothing, and goes with the cordon. */
#ifndef ENGINE_NEXT_MARK_H
#define ENGINE_NEXT_MARK_H

#include "base/jsonw.h"
#include "base/str.h"
#include "model/object.h"

#define NEXT_TAINT "slipway.dev/next"

/* Whose it is, as the taint's value says: a rollout's is taken off by whoever leads, a drain's by
 * that drain. */
#define NEXT_OF_DRAIN   ""
#define NEXT_OF_ROLLOUT "rollout"

bool next_marked(const struct node *node);
bool next_marked_by(const struct node *node, const char *whose);
/* The merge patch that puts it on, or with NULL takes it off: a compare-and-swap, with the node's
 * resourceVersion. */
void next_mark_patch(const struct node *node, const char *whose, struct str *patch);
/* For the patch of somebody else, inside "spec": the node's taints without it, if it has it. */
void next_mark_drop(struct jsonw *w, const struct node *node);

#endif
