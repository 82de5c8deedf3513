/* Putting a cluster together. */
#include "sim/sim.h"

#include "sim/fleet/fleet.h"

struct sim {
    struct world *world;
    struct api *api;
    struct fleet *fleet;
};

struct sim *sim_new(const struct sim_options *opts) {
    struct sim *s = xnew(struct sim);
    s->world = world_new(opts->seed, opts->start);
    s->api = api_new(s->world, opts->speed > 0 ? opts->speed : 1);
    s->fleet = fleet_new(s->api, !opts->no_fleet, opts->ca);
    return s;
}

void sim_free(struct sim *s) {
    if (!s)
        return;
    fleet_free(s->fleet);
    api_free(s->api);
    world_free(s->world);
    free(s);
}

struct world *sim_world(struct sim *s) {
    return s->world;
}
struct api *sim_api(struct sim *s) {
    return s->api;
}
struct fleet *sim_fleet(struct sim *s) {
    return s->fleet;
}

size_t sim_node_count(struct sim *s) {
    return shelf_len(s->fleet->nodes->shelf);
}

void sim_compact(struct sim *s) {
    for (size_t i = 0; i < s->api->resources.len; i++)
        if (s->api->resources.p[i]->shelf)
            shelf_compact(s->api->resources.p[i]->shelf);
}

/* What else changes is somebody's doing. */
static bool heartbeat(const struct kind *kind) {
    return kind == &kind_lease || kind == &kind_node || kind == &kind_event;
}

struct quiet {
    int64_t last;
    struct world *world;
    world_log_fn *log;
    void *log_arg;
};

static void note(void *arg, const struct kind *kind, const struct change *change) {
    struct quiet *q = arg;
    if (!heartbeat(kind))
        q->last = q->world->clock.now;
    if (q->log)
        q->log(q->log_arg, kind, change);
}

/* As long as the slowest usual step of a pod. */
#define QUIET SEC(15)

bool sim_settle(struct sim *s, int64_t limit) {
    struct world *w = s->world;
    struct quiet q = {w->clock.now, w, w->log, w->log_arg};
    int64_t end = w->clock.now + limit;
    w->log = note;
    w->log_arg = &q;
    bool quiet = false;
    while (!(quiet = w->clock.now - q.last >= QUIET) && clock_step(&w->clock, end))
        ;
    w->log = q.log;
    w->log_arg = q.log_arg;
    return quiet;
}
