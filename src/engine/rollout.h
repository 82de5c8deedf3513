/* Rollouts: one operation on many nodes. Makes a Maintenance for each of them (engine/keeper.h
 * carries it out), the next one when there is a slot for it, and stops by itself:
 *
 *  - when more nodes have failed than may;
 *  - while it is paused;
 *  - for a while after each node (soak).
 *
 * Nodes come in the order of their names; of the next few that one is begun which is least in the
 * way of those that are out already (rollout_turn.c). Those that are to come are marked for the
 * scheduler, so that pods move once (rollout_mark.c).
 *
 * Has no memory of its own: which nodes are under way is told by the Maintenances that have the
 * Rollout for their owner, whose names are made of the two, so that whoever leads next goes on from
 * there. Those that have ended are in the Rollout's status as well, by name: a Maintenance that
 * has ended keeps its finalizer until it is there (rollout_remembers()), so that no node is begun
 * twice whose Maintenance somebody has deleted, and no failure is forgotten. Only somebody who says
 * so has the failed ones begun again (OWN_RETRY_ANNOTATION).
 *
 *     rollouts_new() -> { rollouts_poke() | time } ->
 *         rollouts_step() -> actions -> rollouts_answer() -> ...
 *
 * Pure. For whoever leads, and as long as it does. */
#ifndef ENGINE_ROLLOUT_H
#define ENGINE_ROLLOUT_H

#include "engine/action.h"
#include "engine/cluster.h"
#include "engine/keeper.h"
#include "engine/policy.h"

/* Of Maintenances, with its name, as far as a label can hold it. */
#define ROLLOUT_LABEL "slipway.dev/rollout"

struct rollouts;

/* Whose slot a node takes. */
struct rollout_policy {
    const struct policy_rules *rules;
    struct keeper *keeper;
};

/* Something that happened to a rollout, once, to be told and recorded. */
struct rollout_note {
    const char *rollout, *uid;
    const char *reason; /* of engine/reason.h */
    const char *text;   /* goes on after the name of the rollout */
    bool warning;
};

struct rollouts_opts {
    struct cluster *cluster;
    struct store *rollouts, *maintenances;
    struct store *maps; /* ConfigMaps of slots, and the one that stops everything */
    const char *ns;     /* theirs */
    /* How many policies have that node, and one of them. */
    size_t (*policy)(void *arg, const struct node *node, struct rollout_policy *out);
    void (*note)(void *arg, const struct rollout_note *note);
    /* Whether the pods of that node are known; NULL: nodes are begun in their order. */
    bool (*watched)(void *arg, const char *node);
    void *arg;
    uint64_t seed;
};

struct rollouts *rollouts_new(const struct rollouts_opts *opts);
void rollouts_free(struct rollouts *rs);

/* Something of that kind has changed, from `before` to `after`; NULL: anything. */
void rollouts_poke(struct rollouts *rs, const struct kind *kind, const struct object *before,
                   const struct object *after);
void rollouts_step(struct rollouts *rs, struct now now, struct actions *out);
bool rollouts_answer(struct rollouts *rs, uint64_t action, const struct answer *a, struct now now);
int64_t rollouts_next(const struct rollouts *rs);

/* The nodes whose pods it has to know, and whether that is one: a few of those that come next are
 * looked at before one of them is begun. */
bool rollouts_needs_pods(const struct rollouts *rs, const char *node);
void rollouts_each_ahead(const struct rollouts *rs, void (*fn)(void *arg, const char *node),
                         void *arg);

/* Whether nobody needs an ended Maintenance any more: its Rollout, of that store, has written down
 * how it ended, or it has none. */
bool rollout_remembers(const struct store *rollouts, const struct maintenance *m);

/* What the Maintenance of that node is called; free() it. */
char *rollout_maintenance_name(const char *rollout, const char *node);

#endif
