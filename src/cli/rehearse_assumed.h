/* Of which pods a rehearsal assumes what comes in their place, and where that can go: those of
 * which `plan` says that nobody knows. In the copy something comes in any case. */
#ifndef CLI_REHEARSE_ASSUMED_H
#define CLI_REHEARSE_ASSUMED_H

#include "base/arena.h"
#include "engine/blocker.h"
#include "engine/rules.h"
#include "sim/fleet/fleet.h"

struct rehearse_assumed {
    enum blocker_code code; /* as in a plan: RoomUnknown, OtherScheduler */
    const char *workload;   /* "shop/Workflow/etl" */
    const char *example;    /* one of its pods */
    size_t pods;            /* on the nodes */
    const char *why;        /* what is not known: a sentence without full stop */
    const char *here;       /* what the copy does: "here they are made again at once" */
};

/* Of the pods of these nodes that a drain with these rules (NULL: the built-in ones) evicts; sorted
 * by workload, in the arena. Returns how many. */
size_t rehearse_assumed(const struct fleet *f, const char *const *nodes, size_t n,
                        const struct rules *rules, struct arena *arena,
                        const struct rehearse_assumed **out);

#endif
