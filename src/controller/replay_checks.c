/* What the checks go by, as a recording tells it. */
#include "controller/replay_checks.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"

struct replay_checks {
    struct pool *pool;
    struct check_world world;
    struct store *stores[CHECK_SOURCES]; /* NULL: nothing was told of it */
    char *whys[CHECK_SOURCES];
};

struct replay_checks *replay_checks_new(struct pool *pool, const struct store *nodes) {
    struct replay_checks *c = xnew(struct replay_checks);
    c->pool = pool;
    c->world.nodes = nodes;
    check_world_begin(&c->world, 0, false); /* as the controller wants them */
    return c;
}

void replay_checks_free(struct replay_checks *c) {
    if (!c)
        return;
    for (size_t i = 0; i < CHECK_SOURCES; i++) {
        store_free(c->stores[i]);
        free(c->whys[i]);
    }
    free(c);
}

struct store *replay_checks_store(struct replay_checks *c, enum check_source_id source) {
    if (!c->stores[source])
        c->stores[source] = store_new(check_sources[source].kind, c->pool);
    return c->stores[source];
}

void replay_checks_input(struct replay_checks *c, enum check_source_id source, enum check_read read,
                         const char *why) {
    mem_clear(&c->whys[source]);
    c->whys[source] = why ? xstrdup(why) : NULL;
    c->world.inputs[source] =
        (struct check_input){.read = read,
                             .why = c->whys[source],
                             .store = read == READ_DONE ? replay_checks_store(c, source) : NULL};
}

void replay_checks_told(struct replay_checks *c) {
    c->world.unread = false;
}

const struct check_world *replay_checks_world(const struct replay_checks *c) {
    return &c->world;
}
