/* Who holds the slots of each policy, who waits for one, and why: a look at the records
 * (engine/slots.h) beside the Nodes, the Policies and what drains have told.
 *
 * Each row says in a sentence what it waits for and what ends that. A record that cannot be read,
 * of a newer version for instance, is a row of its own; the stop of everything (engine/stop.h) is
 * none, but each row knows of it. Pure: stores in, a picture out. What the
 * controller will do is told by the rules of engine/keeper.h and engine/maintenance.h; where a fact
 * is not known, the sentence is shorter, not wrong. */
#ifndef ENGINE_LOCKS_H
#define ENGINE_LOCKS_H

#include "base/arena.h"
#include "engine/rivals.h"
#include "engine/slots.h"
#include "model/object.h"
#include "model/store.h"

/* The name of the Maintenance that somebody holds a slot for, or waits; NULL: it is none. */
const char *locks_maintenance(const char *by);

struct locks_world {
    const struct store *maps; /* ConfigMaps with SLOTS_LABEL */
    const struct store *nodes;
    const struct store *policies;     /* NULL: may not be read */
    const struct store *events;       /* of Nodes; NULL: not known */
    const struct store *maintenances; /* NULL: not known */
    struct rival_signs rivals;
    int64_t now; /* wall clock */
};

/* Of one ConfigMap. */
struct lock_policy {
    const char *name, *ns, *map;
    bool limited; /* the limit is known */
    size_t limit; /* of nodes out at once, as the Policy says it of the nodes there are */
    size_t held, waiting;
    const char *problem; /* the record cannot be read: why; or NULL */
};

/* How it goes on. */
enum lock_mood {
    LOCK_GOES_ON, /* by itself */
    LOCK_WAITS,   /* for somebody who may take long, or for others */
    LOCK_STUCK,   /* not without help */
};

struct lock_row {
    const struct lock_policy *policy;
    const char *node;             /* "" when the record cannot be read */
    const char *state;            /* of the slot; "waits"; "unreadable" */
    const struct slot *slot;      /* or NULL */
    const struct slot_wish *wish; /* or NULL */
    enum lock_mood mood;
    const char *why; /* a sentence without full stop */
};

/* By policy; of each those who hold before those who wait, in order of their names. */
struct locks {
    struct lock_policy *policies;
    size_t n_policies;
    struct lock_row *rows;
    size_t n;
};

/* Everything lives in the arena, or in the stores until one changes. */
void locks_take(const struct locks_world *w, struct arena *arena, struct locks *out);

/* Whether a node is being drained for its slot: then Events may tell why it takes long. */
bool locks_drains(const struct locks *l);

/* Whether its holder is alive, as far as clocks can be compared. */
bool locks_leads(const struct lease *lease, int64_t now);

/* "12:03 UTC", with the date when it is another day than `now`. */
const char *locks_clock(int64_t at, int64_t now, struct arena *arena);

#endif
