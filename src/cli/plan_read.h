/* The picture of a whole cluster, read once, and the plan that is made from it: for the verbs plan,
 * apply and diff. */
#ifndef CLI_PLAN_READ_H
#define CLI_PLAN_READ_H

#include "cli/checks_read.h"
#include "cli/drain_args.h"
#include "cli/plan_text.h"
#include "cli/session.h"
#include "engine/plan.h"
#include "sim/fleet/habits.h"

enum { PICTURE_KINDS = 16 };

struct picture {
    struct cluster cluster;
    struct store *namespaces, *volumes, *claims, *classes, *csi_nodes, *daemon_sets, *jobs, *quotas,
        *accounts;
    bool no_namespaces, no_storage, no_classes, no_owners, no_daemons, no_jobs, no_quotas,
        no_accounts, no_attachments, no_limits;
    bool lacks[PICTURE_KINDS];
    const char *unread[PICTURE_KINDS]; /* resources that could not be listed */
    size_t n_unread;
};

/* What may not be read is said and done without, but for nodes, pods and budgets. 0, or the exit
 * code after having said why. Deployments are for --surge alone. picture_done() in any case, after
 * the session's end. */
int picture_read(struct session *s, bool deployments, struct picture *p);
void picture_done(struct picture *p);
/* Fills in the stores that there are. */
void picture_input(struct picture *p, struct plan_input *in);

struct planning_run {
    struct cli *cli;
    struct session session;
    struct picture picture;
    struct checks_read checks;
    struct drain_opts opts;
    struct arena arena;
    struct plan plan;
    int64_t now;
    bool open;
};

/* Connects, reads and plans. No nodes: `plan` has none. With `lenient` a node that does not exist
 * is left out, else it is an error. Pods of `past` stop as they did, NULL: nothing is known of any.
 * 0, or the exit code after having said why; planning_done() in any case. */
int planning_make(struct cli *cli, const struct drain_flags *f, struct drain_args *args,
                  bool lenient, struct habits *past, struct planning_run *r);
void planning_done(struct planning_run *r, struct drain_args *args);

#endif
