/* The simulated world: its objects, its clock, its chance. Pure: it does nothing by itself, reads
 * no clock and no file, and everything random comes from the seed, so that two worlds with the same
 * seed and the same requests are the same to the byte.
 *
 * What moves it: world_run() (time passes, and what was to happen happens) and the requests of
 * sim/api/api.h. What comes out of it: the answers, the watches, and the log of all changes. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "base/prng.h"
#include "sim/clock.h"
#include "sim/shelf.h"

struct api;
struct fleet;

/* Every change of every object, in order. */
typedef void world_log_fn(void *arg, const struct kind *kind, const struct change *change);

/* The same with the shelf, for those who must hear of everything. */
typedef void world_listener(void *arg, struct shelf *shelf, const struct change *change);
struct world_ear {
    world_listener *fn;
    void *arg;
};

struct world {
    struct clock clock;
    struct prng random;
    struct pool *pool;
    struct codec codec;
    uint64_t version; /* of the last change, as etcd's revision */
    uint64_t stored;  /* bytes of the texts of all objects; see WORLD_QUOTA */
    uint64_t changes;
    /* Microseconds that each part of the control plane takes longer than it would on a machine
     * with nothing else to do, from a change to what it does about it; give or take a half. */
    int64_t lag;
    int64_t budget_lag; /* the same of the one that sees to disruption budgets */
    world_log_fn *log;
    void *log_arg;
    VEC(struct world_ear) ears;
};

/* What etcd takes by default: beyond it nothing more is stored by requests (but what is deleted
 * makes room again). */
#define WORLD_QUOTA (UINT64_C(2) << 30)

struct world *world_new(uint64_t seed, int64_t start);
void world_free(struct world *w); /* after everything that stands in it */

/* Tells the log and the listeners; the shelves call it. */
void world_note(struct world *w, struct shelf *shelf, const struct change *change);
void world_listen(struct world *w, world_listener *fn, void *arg);
void world_unlisten(struct world *w, world_listener *fn, void *arg);

/* One draw of a lag; chance is not touched where there is none. */
int64_t world_lag(struct world *w, int64_t lag);

/* A random version 4 UUID. */
enum { UUID_LEN = 36 };
const char *world_uuid(struct world *w, char buf[static UUID_LEN + 1]);

#endif
