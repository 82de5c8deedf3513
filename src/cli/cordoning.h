/* Cordons and uncordons nodes for the verbs of that name: kubectl's lines on standard output, the
 * record of who holds a node (engine/cordon.h), an Event on the node, the conditions of a drain
 * that is over, and the replicas that a drain with --surge has left behind (cli/leftovers.h).
 *
 * Each change is a compare-and-swap. When somebody else has changed the node in between it is read
 * and decided again, a few times: kubelets write to their nodes all the time. */
#ifndef CLI_CORDONING_H
#define CLI_CORDONING_H

#include "cli/target.h"

struct cordoning {
    struct session *session;
    enum dry_run dry_run;
    struct cordon_holder holder; /* who we are; its `since` is the present */
    bool any;                    /* uncordon: all holders leave */
    bool no_events;              /* the server did not answer to one */
};

/* The nodes of the target one after the other; one that fails does not keep the rest from being
 * done. Returns the exit code: of what went wrong the gravest, EXIT_REFUSED when others hold a node
 * that should have been uncordoned. */
int cordoning_run(struct cordoning *c, struct target *target, bool cordon);

/* What both verbs do from here on: connects, reads the nodes, runs. */
int cordoning_main(struct cli *cli, const struct connection_opts *connection,
                   const struct target_opts *opts, bool any, bool cordon, int argc, char **argv);

#endif
