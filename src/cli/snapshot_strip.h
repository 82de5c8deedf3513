/* What of an object goes into a snapshot: what a drain, a scheduler and a simulator decide by, and
 * nothing that could be a secret. A snapshot is made to be sent to somebody.
 *
 * Left out: Secrets and ConfigMaps altogether; of containers the environment (values and names),
 * commands and arguments; what probes and hooks run or send; attributes of volumes and parameters
 * of StorageClasses; what ControllerRevisions keep (templates, with the environment in them);
 * annotations but for those that Kubernetes or Slipway act on, by name (kubectl's last-applied-
 * configuration has the whole object in it, change-cause the command that set a variable);
 * managedFields; addresses of nodes and pods, images that nodes have. Of custom resources only what
 * is known to be needed is kept. Names, labels and images of containers stay.
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
