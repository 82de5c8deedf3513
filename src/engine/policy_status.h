/* The status of a Policy, and the finalizer that keeps it while nodes hold its slots: what is to be
 * written, if anything. Who holds slots is decided by their record (engine/slots.h) alone; this is
 * for people, and can be made anew from it at any time. Pure. */
#ifndef ENGINE_POLICY_STATUS_H
#define ENGINE_POLICY_STATUS_H

#include "base/str.h"
#include "engine/slots.h"
#include "model/own.h"

/* On each that is in force: nobody gets a slot of one that could vanish. When it is being deleted
 * it stays until nobody holds one any more. */
#define POLICY_FINALIZER "slipway.dev/policy"

enum { POLICY_HOLDERS = 100 }; /* names of holders that are written; `held` counts all */

struct policy_seen {
    size_t nodes; /* it selects */
    size_t limit; /* of them out at once */
    const struct slots
        *slots;            /* NULL: not known; nothing is said of them, and it does not vanish */
    const char *problem;   /* it cannot be used: why; NULL: it can */
    const char *unguarded; /* its finalizer cannot be written: why; NULL: it can, or is there */
    const char *shared;    /* another policy has nodes of it: which; NULL: none has */
};

/* A merge patch of its status, as a compare-and-swap; false: all of it is written already. */
bool policy_status_patch(const struct policy *p, const struct policy_seen *seen, int64_t now,
                         struct str *body);
/* The same of the finalizer. */
bool policy_finalizer_patch(const struct policy *p, const struct policy_seen *seen,
                            struct str *body);

#endif
