/* What a drain with --surge has left behind: Deployments that still have the replica more that they
 * were given (engine/surge.h), because the process was killed or was not permitted to take it back.
 *
 * Their label finds them all with one list. A record does not tell whether the drain that wrote it
 * is still at work: only what is of a node and a holder of one's own is undone, all else is only
 * told. */
#ifndef CLI_LEFTOVERS_H
#define CLI_LEFTOVERS_H

#include "cli/session.h"
#include "engine/surge_record.h"

struct leftover {
    const struct deployment *deployment;
    struct surge_record record;
};

struct leftovers {
    struct session *session;
    struct store *store; /* of Deployments */
    struct arena arena;
    const struct leftover *list; /* by namespace and name; only records that are understood */
    size_t n;
    enum kube_outcome outcome; /* KUBE_OK, or why they are not known */
    char *message;
};

/* One list, one try, ten seconds at most. Nothing is reported. */
void leftovers_read(struct session *s, struct leftovers *out);
void leftovers_done(struct leftovers *l);

/* "Deployment web/solo has 2 replicas instead of 1 since the drain of node w2 by cli/alice". */
void leftover_text(const struct leftover *l, struct str *out);
/* The commands that set it right without us. */
void leftover_commands(const struct leftover *l, struct str *out);

struct leftovers_wish {
    const char *const *nodes; /* that are in service again */
    size_t n_nodes;
    const char *holder; /* whose; NULL: anybody's */
    bool dry_client, dry_server;
};

/* Gives the Deployments of these nodes their count back, each with a compare-and-swap, and says so
 * on standard error; where it cannot, says which one keeps its replica and what to do. A count that
 * somebody has set since is left as it is. */
void leftovers_undo(struct leftovers *l, const struct leftovers_wish *wish);

#endif
