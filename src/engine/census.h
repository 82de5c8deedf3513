/* Which nodes are out of service without a slot of a policy, and count for it all the same: what
 * the one who gives slots goes by (engine/keeper.h), and whoever tells why somebody waits for one
 * (engine/locks.h).
 *
 * A node counts that is out for another policy: it holds a slot of that, or its cordon says so,
 * where the record cannot be read or is another Slipway's. Else it counts when it is down. Pure. */
#ifndef ENGINE_CENSUS_H
#define ENGINE_CENSUS_H

#include "base/arena.h"
#include "engine/cordon.h"
#include "engine/drain.h"
#include "model/object.h"

struct census_world {
    const char *ns, *policy; /* whose slots are counted */
    /* The nodes that hold a slot of another policy of that namespace, in order of strcmp(). */
    const char *const *elsewhere;
    size_t n_elsewhere;
};

enum census_as { CENSUS_IN, CENSUS_DOWN, CENSUS_ELSEWHERE };
/* Of a node that holds no slot of the policy. */
enum census_as census_as(const struct census_world *w, const struct node *node);

/* Whether it is one of `elsewhere`: such a one gets no slot until that one is free, since nobody
 * holds two, of which only one would ever be given back. */
bool census_holds_elsewhere(const struct census_world *w, const char *node);

/* Whether a holding of that id is, or was, of this policy of this Slipway. Those that earlier
 * releases have given do not name their namespace: they are taken for ours. */
bool census_is_own_id(const char *ns, const char *policy, const char *id);
/* Its cordon, where that may name a slot; else false. */
bool census_cordon(const struct node *node, struct arena *arena, struct cordon *out);

/* How many of so many nodes may be out: of a percentage at least one, unless it is none. */
size_t census_limit(const struct limit *max, size_t members);

#endif
