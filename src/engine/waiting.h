/* Pods that have no node before anything is done. What a drain frees, or no longer keeps them from,
 * they may take, and then the replacement of a pod that went has none. */
#ifndef ENGINE_WAITING_H
#define ENGINE_WAITING_H

#include "base/vec.h"
#include "engine/moveout.h"
#include "model/store.h"

typedef VEC(const struct pod *) waiting_pods;

/* Whether it has no node, and is to get one. */
bool waiting_for_node(const struct pod *pod);
/* Adds those of the store that the scheduler would take up again, in its order: the most important
 * and oldest first, no more than a few hundred. Left out are those of which it is not known what
 * they wait for: with scheduling gates, of other schedulers, with a reason that is not looked at
 * here, or with volumes that are not in `s`. */
void waiting_find(const struct store *pods, const struct moveout_stores *s, waiting_pods *out);

#endif
