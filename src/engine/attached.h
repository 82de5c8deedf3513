/* Volumes that are attached to a node although no pod there uses them: a drain, which waits until
 * its volumes are detached, waits for these as well.
 *
 * One that its last pod has just left is like that for a moment; one that stays so is stuck. */
#ifndef ENGINE_ATTACHED_H
#define ENGINE_ATTACHED_H

#include "base/str.h"
#include "model/object.h"

/* The PersistentVolume of this name, or NULL. */
typedef const struct pv *attached_volume_fn(void *arg, const char *name);

struct attached {
    size_t n;
    const struct volume_attachment *first; /* by the name of the volume; NULL when there is none */
};

/* Adds one of the node's, if none of these pods, which are all of the node, uses it. */
void attached_add(struct attached *a, const struct volume_attachment *va,
                  const struct pod *const *pods, size_t n, attached_volume_fn *volume, void *arg);
/* Whether it should have been detached by now: its driver says that it cannot, it was to go a while
 * ago, or no pod comes to its node any more. */
bool attached_is_stuck(const struct volume_attachment *va, const struct node *node, int64_t now);
/* "2 volumes are still attached, though no pod here uses them: device is busy". */
void attached_explain(const struct attached *a, struct str *out);

#endif
