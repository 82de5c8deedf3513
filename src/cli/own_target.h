/* Which Maintenances and Rollouts are meant on the command line: maintenance/NAME and rollout/NAME,
 * with kubectl's plurals and short names as well, a bare NAME that only one of them has, or a node
 * (node/NAME, or NAME when nothing else is called so), whose Maintenance that is under way is
 * meant, else its last one.
 *
 * Where a verb is about nodes as well, node/NAME is one.
 *
 * When one word does not name exactly one object, nothing is done to the others. */
#ifndef CLI_OWN_TARGET_H
#define CLI_OWN_TARGET_H

#include "base/vec.h"
#include "cli/session.h"
#include "model/own.h"

struct own_target {
    const struct kind *kind;
    const struct object *obj; /* as it was read */
};
struct own_targets {
    struct store *maintenances, *rollouts; /* all there are */
    struct store *nodes;                   /* the same, when one is named; else NULL */
    VEC(struct own_target) list;           /* each once, in the order given */
};

/* The kind that a word before the slash stands for; NULL: none of the two. */
const struct kind *own_target_kind(const char *word, size_t len);
/* "maintenance/w1", as lines of output call it. */
const char *own_target_name(const struct own_target *t, struct arena *arena);

/* Reads both kinds, and nodes where `nodes` says that they may be named. 0, or the exit code after
 * having said why. */
int own_targets_read(struct session *s, bool nodes, int argc, char **argv, struct own_targets *out);
void own_targets_done(struct own_targets *t);

/* The Maintenances that have the Rollout for their owner, by name; to be freed. */
const struct maintenance **own_maintenances_of(const struct own_targets *t, const struct rollout *r,
                                               size_t *n);

#endif
