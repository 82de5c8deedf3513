/* The stop of everything (`slipway pause --all`): while the ConfigMap slipway-pause is there, in
 * the namespace of the records, nobody gets a slot, no pod is evicted, nothing is granted and
 * nothing is begun. What is under way on a node that was told to go goes on, and what is back is
 * put back into service.
 *
 *     {"v":1,"by":"ops@laptop","reason":"the storage is red","since":"2026-11-16T08:00:00Z"}
 *
 * One that cannot be read stops everything just as well. Pure. */
#ifndef ENGINE_STOP_H
#define ENGINE_STOP_H

#include "base/arena.h"
#include "base/str.h"
#include "model/object.h"

#define STOP_MAP "slipway-pause"
#define STOP_KEY "pause" /* in its data */

enum { STOP_VERSION = 1 };

struct stop {
    const char *by, *reason; /* the latter may be "" */
    int64_t since;           /* wall clock */
};

/* The object, as it is created; it has the label by which records of slots are watched. */
void stop_write(const struct stop *stop, const char *ns, struct str *out);

/* Whether it is this object, and no record of slots, whose label it has. */
bool stop_is(const struct config_map *map);

/* What it says, as far as that can be shown; texts are the arena's. False when it cannot be read:
 * then `by` is "". */
bool stop_read(const struct config_map *map, struct arena *arena, struct stop *out);

/* "everything is paused by ops@laptop since 2026-11-16T08:00:00Z: the storage is red"; free() it.
 * NULL when there is no such object. */
char *stop_text(const struct config_map *map);

#endif
