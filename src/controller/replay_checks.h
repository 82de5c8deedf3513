/* What the checks go by (engine/checks.h), as a recording tells it: the world of one that leads,
 * from the first time that the engine wants it, or that something of it is told, up to when it
 * leads no longer. */
#ifndef CONTROLLER_REPLAY_CHECKS_H
#define CONTROLLER_REPLAY_CHECKS_H

#include "engine/checks.h"

struct replay_checks;

/* Of those nodes, and nothing else is known yet. Both must outlive it. */
struct replay_checks *replay_checks_new(struct pool *pool, const struct store *nodes);
void replay_checks_free(struct replay_checks *c);

/* What was read of that source; to be changed. */
struct store *replay_checks_store(struct replay_checks *c, enum check_source_id source);
/* The text is copied; NULL: none. */
void replay_checks_input(struct replay_checks *c, enum check_source_id source, enum check_read read,
                         const char *why);
/* The engine is about to be told that it has changed. */
void replay_checks_told(struct replay_checks *c);
const struct check_world *replay_checks_world(const struct replay_checks *c);

#endif
