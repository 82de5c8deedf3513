/* Says how Maintenances go on that are halted, for the verbs retry, skip and abort.
 *
 * To one that is halted the word is written as its annotation (OWN_WORD_ANNOTATION), which the
 * controller takes off when it has heard it. To a Rollout it is said to its Maintenances that are
 * halted; retry deletes those of it that have failed or were cancelled, so that they are begun
 * again. Abort deletes a Maintenance that is not over, which cancels it, and a Rollout with all
 * that it has begun. */
#ifndef CLI_WORDING_H
#define CLI_WORDING_H

#include "cli/own_write.h"

enum wording { WORDING_RETRY, WORDING_SKIP, WORDING_ABORT }; /* as in own_words */

/* What is to be done to one object. */
struct wording_step {
    struct own_target target;
    bool deletes; /* else the annotation is written */
};
struct wording_steps {
    VEC(struct wording_step) list;
};

/* What the word means for that object, as it was read. NULL, or why nothing can be done: a sentence
 * in the arena. */
const char *wording_plan(const struct own_targets *all, const struct own_target *t,
                         enum wording word, struct arena *arena, struct wording_steps *steps);

struct wording_opts {
    struct connection_opts connection;
    int dry_run; /* enum dry_run */
    bool yes;
};

/* What the verbs do; the exit code. */
int wording_main(struct cli *cli, enum wording word, const struct wording_opts *o, int argc,
                 char **argv);

#endif
