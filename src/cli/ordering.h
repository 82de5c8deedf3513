/* Orders an operation of the controller, for the verbs reboot and shutdown: a Maintenance for one
 * node, a Rollout for several.
 *
 * Nothing is made that nobody would carry out: there must be the custom resources, a controller
 * that leads, exactly one Policy for each node (or none at all: then the built-in one counts), and
 * no other Maintenance of the node that is not over. */
#ifndef CLI_ORDERING_H
#define CLI_ORDERING_H

#include "cli/cli.h"
#include "cli/target.h"
#include "engine/maintenance.h"

struct ordering_opts {
    struct connection_opts connection;
    const char *selector, *reason, *by, *name;
    int dry_run; /* enum dry_run */
    bool control_plane, wait, no_wait;
};
extern const struct option_group ordering_options;

/* Who carries it out. */
struct ordering_by {
    const char *word;           /* "fleetlock" or "sim", or NULL */
    const char *url;            /* of a service, or NULL */
    const char *const *command; /* `n_command` words, or NULL */
    size_t n_command;
};
/* From --by and the words after "--"; NULL `by` is fleetlock for a reboot. -EINVAL with a sentence.
 */
int ordering_parse_by(enum operation op, const char *by, int n_command, char **command,
                      struct ordering_by *out, struct err *err);

/* What one that nobody has named is called: "reboot-w1-20261116-120500", and of several nodes
 * "reboot-20261116-120500". Node NULL: several. */
const char *ordering_name(enum operation op, const char *node, int64_t now, struct arena *arena);

/* The object, as it is created. */
struct ordering_order {
    enum operation operation;
    const char *name, *reason;
    const char *const *nodes;
    size_t n_nodes;
    const struct ordering_by *by;
};
void ordering_write(const struct ordering_order *o, struct str *out);

int ordering_main(struct cli *cli, enum operation op, const struct ordering_opts *o, int argc,
                  char **argv);

#endif
