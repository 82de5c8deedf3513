/* The listener for machines that look after the controller: /metrics, /healthz, /readyz.
 *
 * /healthz says 200 as long as the process answers: one that does not is to be started again, and
 * nothing else would be mended by that. /readyz says 503 until each of its checks is passed, with a
 * line for each: "[+]caches ok", "[-]lease not known yet"; but for minor ones. It changes nothing,
 * and is open to whoever reaches it; FleetLock has a listener of its own. */
#ifndef CONTROLLER_HEALTH_H
#define CONTROLLER_HEALTH_H

#include "base/log.h"
#include "controller/metrics.h"
#include "net/server.h"

struct health;

struct health_check {
    const char *name;
    /* NULL: it is passed; else why it is not. Called when somebody asks. */
    const char *(*problem)(void *arg);
    bool minor; /* has its line, and is no reason to send everybody away */
};

struct health_opts {
    const struct health_check *checks; /* ends with one without a name */
    struct metrics *metrics;
    void (*gauges)(void *arg); /* brings the metrics up to date */
    const struct log *log;
    void *arg;
};

int health_new(struct loop *loop, const char *address, const struct health_opts *opts,
               struct health **out, struct err *err);
void health_free(struct health *h);
const char *health_address(const struct health *h);

/* What a request gets; the status. For tests, and for those who have another server. */
int health_answer(const struct health_opts *opts, const char *method, const char *path,
                  const char *accept, const char **type, struct str *body);

#endif
