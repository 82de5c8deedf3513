/* The Deployments that a surge has in hand, for whoever tells people about them: above all those
 * that the server does not let go back to their count. */
#ifndef ENGINE_SURGE_LIST_H
#define ENGINE_SURGE_LIST_H

#include "engine/surge.h"

struct surge_item {
    const char *ns, *name; /* of the Deployment */
    const char *node;
    bool raised;     /* it has one more than it had, as far as is known */
    bool going_back; /* it is getting its count back, or its marks removed */
    const char *why; /* the last request did not succeed, in the server's words; "" */
    bool refused;    /* and it will not by itself: somebody must do something */
};

/* for (size_t i = 0; surge_list(s, &i, &item);) in the order in which they began; texts are valid
 * until the next call that changes the surge. */
bool surge_list(const struct surge *s, size_t *i, struct surge_item *out);

#endif
