/* Pauses everything, and lets it go on (`pause --all`, `resume --all`): the ConfigMap slipway-pause
 * (engine/stop.h) in the namespace of each controller.
 *
 * That is the namespace of -n; else every one that has a Lease slipway-controller, whoever holds
 * it: a stop must hold for a controller that is just starting, too. */
#ifndef CLI_STOPPING_H
#define CLI_STOPPING_H

#include "cli/session.h"
#include "engine/drain.h"
#include "engine/stop.h"

struct stopping {
    struct session *session;
    enum dry_run dry_run;
    const char *ns;   /* of -n, or NULL */
    struct stop stop; /* of pause: who we are, and why */
};

/* Each returns the exit code. A line for each namespace on standard output. */
int stopping_pause(struct stopping *st);
int stopping_resume(struct stopping *st);

#endif
