/* A simulated cluster in a unit test: requests in, answers out, time moved by hand.
 *
 *     struct sim_site s;
 *     sim_site_init(&s, true);
 *     json_t *pod = sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods", "{...}");
 *     sim_site_done(&s);
 *
 * A wrong code fails the test with the answer's text. Values belong to the site. */
#ifndef SUPPORT_SIM_SITE_H
#define SUPPORT_SIM_SITE_H

#include "base/json.h"
#include "base/timefmt.h"
#include "sim/fleet/fleet.h"
#include "sim/sim.h"

#define SIM_START SEC(1794700800) /* 2026-11-15 00:00:00 UTC */

struct sim_site {
    struct sim *sim;
    struct api *api;
    struct fleet *fleet;
    struct world *world;
    struct api_reply last; /* of the last request */
    VEC(json_t *) values;
};

/* With the fleet, or the API alone. */
void sim_site_init(struct sim_site *s, bool fleet);
void sim_site_seed(struct sim_site *s, bool fleet, uint64_t seed);
void sim_site_done(struct sim_site *s);

/* The JSON of the answer; NULL when it is none. `body` may be NULL. */
json_t *sim_ask(struct sim_site *s, int code, const char *method, const char *target,
                const char *body);
/* With its own headers. */
json_t *sim_ask_as(struct sim_site *s, int code, const char *method, const char *target,
                   const char *accept, const char *content_type, const char *body);
/* The text of the last answer, with all of a stream that ends. */
const char *sim_text(struct sim_site *s);

/* A member by path: "status.phase", "items.0.metadata.name". */
const json_t *sim_at(const json_t *v, const char *path);
const char *sim_str(const json_t *v, const char *path);
int64_t sim_int(const json_t *v, const char *path);

/* A node with a machine, and time to register. */
void sim_add_node(struct sim_site *s, const char *name);
void sim_pass(struct sim_site *s, int64_t usec);

#endif
