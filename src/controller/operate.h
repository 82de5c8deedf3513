/* Who carries an operation out, as a Maintenance says: a command beside the controller, a service
 * that is asked by HTTP (controller/hook.h), or the simulator's machine. The node itself
 * (FleetLock) needs nobody.
 *
 * A command gets the node, the operation and the name of the Maintenance in its environment
 * (SLIPWAY_NODE, SLIPWAY_OPERATION, SLIPWAY_MAINTENANCE). That it ended well means that the
 * operation was begun; that it is done, the node shows itself. Whoever may make Maintenances may
 * thereby run commands as the controller: it has to be allowed. A service gets the same as a JSON
 * document, with the node's boot: {"node","operation","maintenance","reason","boot"}. */
#ifndef CONTROLLER_OPERATE_H
#define CONTROLLER_OPERATE_H

#include "base/log.h"
#include "kube/client.h"
#include "model/own.h"

struct operators;

/* A command, or a service, that takes longer has failed. */
enum { OPERATE_WITHIN_S = 600 };

struct operators_opts {
    bool commands, hooks; /* are allowed */
    const struct log *log;
    /* How it ended; `failure`: why it failed, NULL: it did not. From the loop. */
    void (*ended)(void *arg, const char *maintenance, const char *failure);
    void *arg;
};

struct operators *operators_new(struct kube_client *client, const struct operators_opts *opts);
/* Commands that run are killed, and no end is told any more. Takes NULL. */
void operators_free(struct operators *o);

/* Why nobody would carry it out, with what is allowed; NULL: somebody would. `node`: its own; NULL:
 * it is not known, and not looked at. */
const char *operators_refuse(bool commands, bool hooks, const struct maintenance *m,
                             const struct node *node);

void operators_begin(struct operators *o, const struct maintenance *m);
/* How many were begun, and have not ended. */
size_t operators_busy(const struct operators *o);

#endif
