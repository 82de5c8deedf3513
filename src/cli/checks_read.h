/* Reads what the checks (engine/checks.h) decide by, once, for verbs that then ask them.
 *
 *     struct checks_read r = CHECKS_READ_INIT;
 *     checks_read(&r, session, &(struct checks_read_opts){.nodes = nodes});
 *     struct check_request req = {.going = names, .n_going = n, .now = cli_now(cli)};
 *     checks_read_out(&r, &req);
 *     checks_run(r.world, &req, &r.arena, &found);
 *     checks_read_done(&r);
 *
 * There are no errors: what cannot be read is a finding. */
#ifndef CLI_CHECKS_READ_H
#define CLI_CHECKS_READ_H

#include "cli/session.h"
#include "exec/checks_feed.h"

struct checks_read {
    struct session *session;
    const struct checks_read_opts *opts;
    struct checks_feed *feed;
    const struct check_world *world;
    struct arena arena; /* for findings; as long as this */
};
#define CHECKS_READ_INIT                                                                           \
    { .arena = ARENA_INIT }

struct checks_read_opts {
    const struct store *nodes; /* all of them; NULL: they are read, if anything is looked at */
    unsigned skip;             /* bit i: row i of the table of checks is not wanted */
    /* Pods that are known already, those of the nodes among them: the control plane's etcd matters
     * when a member of it is there. NULL: it does. */
    const struct store *pods;
    bool remarks; /* also for the checks that only ever remark */
};

void checks_read(struct checks_read *r, struct session *session,
                 const struct checks_read_opts *opts);
/* Fills in which nodes are out of service: those that are held and are not asked about, unless each
 * is asked about by itself. */
void checks_read_out(struct checks_read *r, struct check_request *req);
void checks_read_done(struct checks_read *r);

#endif
