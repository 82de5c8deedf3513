/* What keeps a pod from being ready, in one phrase: the scheduler's message, the image that cannot
 * be pulled, the container that crashes. */
#ifndef ENGINE_TROUBLE_H
#define ENGINE_TROUBLE_H

#include "base/str.h"
#include "model/object.h"

/* "is Pending: 0/3 nodes are available: 3 Insufficient memory"; nothing is added for a pod that is
 * well. Returns whether there is trouble. */
bool pod_trouble(const struct pod *pod, struct str *out);

#endif
