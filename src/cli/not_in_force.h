/* Policies that the controller does not obey: those that it says so of, and those without its
 * finalizer, which it writes before it gives the first slot. Nobody gets a slot of them. */
#ifndef CLI_NOT_IN_FORCE_H
#define CLI_NOT_IN_FORCE_H

#include "base/arena.h"
#include "base/jsonw.h"
#include "model/store.h"

struct idle_policy {
    const char *name, *reason, *message, *hint; /* reason: one word */
};
struct idle_policies {
    const struct idle_policy *rows; /* by name */
    size_t n;
};

/* Texts are the arena's or the store's. One that is being deleted, or was made just now, is none.
 */
void not_in_force_take(const struct store *policies, const char *prog, int64_t now,
                       struct arena *arena, struct idle_policies *out);
/* "Policy workers is not in force, and nobody gets a slot of it: why; what to do", without a
 * newline. */
void not_in_force_text(const struct idle_policy *p, struct str *out);
/* "notInForce": an array; empty when there is none. */
void not_in_force_write(struct jsonw *w, const struct idle_policies *all);

#endif
