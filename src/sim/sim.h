/* A simulated cluster: world, API and fleet in one. Pure; a face (sim/serve.h, sim/transport.h) or
 * a test moves it.
 *
 *     struct sim *s = sim_new(&(struct sim_options){.seed = 42, .start = now, .speed = 1});
 *     api_serve(sim_api(s), &request, &reply);
 *     clock_run(&sim_world(s)->clock, later);
 *     sim_free(s); */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "sim/api/api.h"

struct sim;
struct fleet;

struct sim_options {
    uint64_t seed;
    int64_t start; /* of its clock, microseconds since 1970 */
    double speed;  /* see api_new() */
    bool no_fleet; /* the API alone: nothing acts by itself */
    const char
        *ca; /* of its face, in PEM: what pods are told of it. It must live as long; or NULL */
};

struct sim *sim_new(const struct sim_options *opts);
void sim_free(struct sim *s); /* takes NULL */

struct world *sim_world(struct sim *s);
struct api *sim_api(struct sim *s);
struct fleet *sim_fleet(struct sim *s); /* without parts when no_fleet */

size_t sim_node_count(struct sim *s);
/* Forgets all history: what was before cannot be watched from. */
void sim_compact(struct sim *s);

/* Lets time pass (jumping) until nothing happens any more but heartbeats: no pod is on its way
 * somewhere. At most `limit` microseconds; false when it was not enough. */
bool sim_settle(struct sim *s, int64_t limit);

#endif
