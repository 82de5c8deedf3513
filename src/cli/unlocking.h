/* Lets slots go for the verb `unlock`: a human says that a node holds its slot no longer.
 *
 * What is written is that the slot is returned (engine/slots.h), by compare-and-swap; to uncordon
 * the node and to free the slot is for the controller. Who only waits does so no longer. Each
 * holding is known by its id: one that has ended in the meantime, and another of the same node, are
 * left alone, and one that was granted in the meantime is looked at anew. */
#ifndef CLI_UNLOCKING_H
#define CLI_UNLOCKING_H

#include "base/vec.h"
#include "cli/session.h"
#include "engine/drain.h"
#include "engine/slots.h"

struct unlocking {
    struct session *session;
    enum dry_run dry_run;
    const char *by, *reason;
    bool anyway;    /* also one that was told that it may go, or of a Maintenance */
    bool no_events; /* the server did not answer to one */
};

/* What one record says of a node. Texts are the arena's. */
struct unlock_item {
    const char *node, *policy, *ns, *map;
    bool holds;   /* `slot` is its slot; else it waits */
    bool waits;   /* also beside a slot that is being put back */
    bool changed; /* unlocking_run(): by us */
    bool over;    /* the same: it is let go, by us or before */
    struct slot slot;
};
struct unlock_items {
    VEC(struct unlock_item) list;
};

/* Adds what the records say of the node. `unreadable` is the first that cannot be read, "" if all
 * can. */
void unlocking_find(const struct store *maps, const char *node, struct arena *arena,
                    struct unlock_items *items, const char **unreadable);

/* 0, or the exit code after one sentence: it was granted, or is held for a Maintenance, and
 * `anyway` is not set. */
int unlocking_may(const struct unlocking *u, const struct slot *slot);

/* One after the other, a line for each on standard output; one that fails does not keep the rest
 * from being done. Returns the exit code. */
int unlocking_run(struct unlocking *u, struct unlock_items *items);

/* What comes next, on standard error: who frees the slots, or that nobody does. */
void unlocking_tell(struct unlocking *u, const struct unlock_items *items);

#endif
