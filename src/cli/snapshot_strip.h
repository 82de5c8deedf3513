/* What of an object goes into a snapshot: what a drain, a scheduler and a simulator decide by, and
 * nothing that could be a secret. A snapshot is made to be sent to somebody.
 *
 * What stays is a list (snapshot_keep.h); everything else is left out: Secrets and ConfigMaps
 * altogether, environment, commands and arguments of containers, paths, servers and handles of
 * volumes, addresses, and what a later Kubernetes may add. Where something must be there it is
 * replaced by something that says nothing: a volume of another sort by an empty one, a handle by
 * the name of its PersistentVolume. Of annotations those stay that Kubernetes or Slipway act on, by
 * name (kubectl's last-applied-configuration has the whole object in it, change-cause the command
 * that set a variable). Of custom resources only what is known to be needed is kept. Names, labels,
 * images of containers and messages of conditions stay.
 *
 * The rule is the same for a workload's template and its ReplicaSets', so that what was equal stays
 * equal. */
#ifndef CLI_SNAPSHOT_STRIP_H
#define CLI_SNAPSHOT_STRIP_H

#include <stdbool.h>

#include "base/json.h"
#include "kube/codec.h"
#include "model/object.h"

/* Takes it out of the object. */
void snapshot_strip(json_t *obj);
/* Whether the object says anything at all in a snapshot: not ReplicaSets of the past, without pods
 * and without the wish for any. */
bool snapshot_wants(const json_t *obj);

/* Of a custom resource nothing but what the checks of a drain read of its kind, and its metadata: a
 * new object. Of what cannot be read its metadata, and something that cannot be read either: a
 * check that does not know says so of the copy, too. */
json_t *snapshot_known(struct codec *codec, const struct kind *kind, const json_t *obj);
/* A definition that such objects can be stored under: without any rule of the real one. */
json_t *snapshot_definition(const struct kind *kind);

#endif
