/* The simulated API over HTTPS: a thin face of sim/api/api.h for kubectl and everybody else.
 * Whoever has the bearer token may do everything; without it only health and version are answered.
 */
#ifndef SIM_SERVE_H
#define SIM_SERVE_H

#include "net/loop.h"
#include "sim/api/api.h"
#include "sim/pace.h"

struct sim_server;

/* What is 0 gets the default. */
struct sim_server_limits {
    unsigned connections;    /* the HTTP server's: 12,000 */
    size_t queued;           /* bytes made for streams (lists, watches) that their clients have not
                              * taken yet: 256 MiB. Beyond it who takes nothing is cut off */
    size_t held;             /* bytes of whole answers on their way: 512 MiB; beyond it 429 */
    int64_t request_timeout; /* for a client to take an answer that is no watch: 60 s, as
                              * kube-apiserver's --request-timeout */
    int64_t patience;        /* with who takes nothing while others need the room: 5 s */
};

struct sim_server_options {
    const char *address; /* "127.0.0.1:0" */
    const char *token;
    const char *cert, *key; /* PEM; NULL: plain HTTP */
    const struct log *log;  /* may be NULL */
    struct sim_server_limits limits;
};

int sim_server_new(struct loop *loop, struct api *api, struct pace *pace,
                   const struct sim_server_options *opts, struct sim_server **out, struct err *err);
/* Ends all streams at once. Takes NULL. */
void sim_server_free(struct sim_server *s);
/* "127.0.0.1:43210" */
const char *sim_server_address(const struct sim_server *s);

#endif
