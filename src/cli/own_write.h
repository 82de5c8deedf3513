/* Changes to Maintenances and Rollouts: patches by compare-and-swap, and deletions of the very
 * object that was looked at. What somebody else has changed in between is read and decided again;
 * one that is gone, or another of the same name, is left alone. */
#ifndef CLI_OWN_WRITE_H
#define CLI_OWN_WRITE_H

#include "base/jsonw.h"
#include "cli/own_target.h"
#include "engine/drain.h"

struct own_writing {
    struct session *session;
    enum dry_run dry_run;
    const char *verb; /* for messages: "unable to VERB maintenance/w1: ..." */
};

/* What is to become of the object as it is now: 1 when `w`, which is within "metadata" of a merge
 * patch, has got what is to be changed and "metadata" is closed; 0: it is so already; minus the
 * exit code: it is refused, and that was told. */
typedef int own_decide_fn(void *arg, const struct object *obj, struct jsonw *w);

/* Each returns 0, or the exit code after having said why; *changed when we did it. */
int own_patch(const struct own_writing *w, const struct own_target *t, own_decide_fn *decide,
              void *arg, bool *changed);
int own_delete(const struct own_writing *w, const struct own_target *t, bool *changed);

/* "maintenance/w1 paused", or "already paused", on standard output. */
void own_tell(const struct own_writing *w, const struct own_target *t, bool changed,
              const char *done);

#endif
