/* The mark on nodes that a drain comes to later: a taint that asks the scheduler to prefer others
 * (PreferNoSchedule), so that the pods of the nodes before them are not put there only to move
 * again. It forbids nothing, and goes with the cordon. */
#ifndef ENGINE_NEXT_MARK_H
#define ENGINE_NEXT_MARK_H

#include "base/jsonw.h"
#include "base/str.h"
#include "model/object.h"

#define NEXT_TAINT "slipway.dev/next"

bool next_marked(const struct node *node);
/* The merge patch that puts it on or takes it off: a compare-and-swap, with the node's
 * resourceVersion. */
void next_mark_patch(const struct node *node, bool on, struct str *patch);
/* For the patch of somebody else, inside "spec": the node's taints without it, if it has it. */
void next_mark_drop(struct jsonw *w, const struct node *node);

#endif
