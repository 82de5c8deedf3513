/* Who has cordoned a node: the record that Slipway keeps in the annotation slipway.dev/cordon, and
 * the marks that others leave.
 *
 *     {"v":1,"before":false,"holders":[{"id":"...","by":"...","reason":"...","since":"2026-11-15T08:00:00Z"}]}
 *
 * A record of a newer version is not read at all (CORDON_UNREADABLE): misreading it could uncordon
 * a node that somebody needs cordoned. */
#ifndef ENGINE_CORDON_H
#define ENGINE_CORDON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/object.h"

#define CORDON_ANNOTATION "slipway.dev/cordon"
enum { CORDON_VERSION = 1 };

struct cordon_holder {
    const char *id, *by, *reason; /* "" when absent */
    int64_t since;
};

enum cordon_owner {
    CORDON_NONE,       /* not cordoned */
    CORDON_SLIPWAY,    /* the record says who */
    CORDON_OTHER,      /* somebody who left no mark, kubectl cordon for instance */
    CORDON_AUTOSCALER, /* cluster-autoscaler is removing the node */
    CORDON_KARPENTER,  /* karpenter is */
    CORDON_UNREADABLE, /* there is a record, but not one that we understand */
};

struct cordon {
    enum cordon_owner owner;
    bool before; /* it was cordoned by somebody else before Slipway */
    const struct cordon_holder *holders;
    size_t n_holders;
    const char *problem; /* of CORDON_UNREADABLE: what is wrong with it */
};

/* Everything lives in the arena. */
void cordon_of(const struct node *node, struct arena *arena, struct cordon *out);
/* "alice: kernel update", "cluster-autoscaler", "somebody else"; "" when not cordoned. */
const char *cordon_text(const struct cordon *cordon, struct arena *arena);

#endif
