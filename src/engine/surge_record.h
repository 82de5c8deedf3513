/* The record of a surge on its Deployment, and the patches that write and remove it.
 *
 * A Deployment is raised when it has the label; the annotation says the rest. An annotation without
 * the label is no record: the Deployment controller copies annotations to the ReplicaSet and never
 * takes them back, and `kubectl rollout undo` brings them from there to the Deployment again. */
#ifndef ENGINE_SURGE_RECORD_H
#define ENGINE_SURGE_RECORD_H

#include "base/arena.h"
#include "base/str.h"
#include "engine/surge.h"

enum surge_mark {
    SURGE_UNMARKED,
    SURGE_MARKED,
    SURGE_BARE,   /* the label alone: somebody has removed the annotation */
    SURGE_STRANGE /* a record that is not understood: `problem` */
};

struct surge_record {
    int32_t replicas; /* that it had; it has one more now, unless somebody else has changed it */
    const char *pod;  /* UID */
    const char *node, *by;
    const char *problem; /* of SURGE_STRANGE */
};

/* Everything lives in the arena. */
enum surge_mark surge_record_of(const struct deployment *d, struct arena *arena,
                                struct surge_record *out);

/* The wanted number of pods. */
int32_t surge_replicas(const struct deployment *d);
/* Whoever wants its pods one after the other (Recreate) does not want two of them. */
bool surge_may_raise(const struct deployment *d);

/* Both are merge patches with the Deployment's resourceVersion. The first raises by one and writes
 * the record (replicas of `rec` are not read); the second removes it and sets `replicas`, unless
 * that is negative. */
void surge_patch_raise(const struct deployment *d, const struct surge_record *rec,
                       struct str *patch);
void surge_patch_lower(const struct deployment *d, int32_t replicas, struct str *patch);

#endif
