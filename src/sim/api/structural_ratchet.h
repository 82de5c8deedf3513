/* Which part of an object was which part of the one it replaces: what was wrong before an update
 * and is unchanged by it does not refuse it (apiserver pkg/cel/common: CorrelatedObject).
 *
 * Members are matched by name, items of x-kubernetes-list-type=map by their keys, items of other
 * lists not at all; only what the schema knows is matched. */
#ifndef SIM_API_STRUCTURAL_RATCHET_H
#define SIM_API_STRUCTURAL_RATCHET_H

#include "base/htab.h"
#include "sim/api/structural_internal.h"

struct ratchet {
    const struct snode *schema;
    const json_t *value, *old; /* NULL: not there */
    bool root;                 /* of what is validated */
    bool indexed;              /* a list by keys: the old items are in the table */
    struct htab by_key;
    uint32_t seed;
    struct arena arena;
};

/* `of` is the schema. */
#define RATCHET(of, new, before) ((struct ratchet){.schema = (of), .value = (new), .old = (before)})

/* The member or item, when it has a counterpart; `child` is to be given back by ratchet_done(). */
bool ratchet_key(const struct ratchet *r, const char *name, struct ratchet *child);
bool ratchet_index(struct ratchet *r, size_t i, struct ratchet *child);
/* Is it, as the server sees it, what it was? */
bool ratchet_unchanged(struct ratchet *r);
void ratchet_done(struct ratchet *r);

#endif
