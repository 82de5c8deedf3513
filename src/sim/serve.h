/* The simulated API over HTTPS: a thin face of sim/api/api.h for kubectl and everybody else.
 * Whoever has the bearer token may do everything; without it only health and version are answered.
 */
#ifndef SIM_SERVE_H
#define SIM_SERVE_H

#include "net/loop.h"
#include "sim/api/api.h"
#include "sim/pace.h"

struct sim_server;

struct sim_server_options {
    const char *address; /* "127.0.0.1:0" */
    const char *token;
    const char *cert, *key;   /* PEM; NULL: plain HTTP */
    const struct log *log;    /* may be NULL */
    unsigned max_connections; /* 0: the server's default */
};

int sim_server_new(struct loop *loop, struct api *api, struct pace *pace,
                   const struct sim_server_options *opts, struct sim_server **out, struct err *err);
/* Ends all streams at once. Takes NULL. */
void sim_server_free(struct sim_server *s);
/* "127.0.0.1:43210" */
const char *sim_server_address(const struct sim_server *s);

#endif
