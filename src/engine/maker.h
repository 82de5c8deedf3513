/* Whether what an owner makes in the place of a pod is a copy of it.
 *
 * A pod is made from its owner's template as that is then, which may have been changed since: that
 * of a StatefulSet with OnDelete or a partition, that of a ReplicaSet which somebody has edited; a
 * pod may have been resized in place; and scheduling gates that the template has were taken off the
 * pod that runs. An owner of a kind that nobody here knows may make none at all.
 *
 * What the API server, its admission or a webhook adds to each pod that is made is no difference:
 * it will be added again. So only what the template asks for, and the pod does not have so, counts;
 * of a StatefulSet that says itself that the pod is of another revision also what the pod has and
 * the template does not. Only what decides about room is looked at. */
#ifndef ENGINE_MAKER_H
#define ENGINE_MAKER_H

#include "base/arena.h"
#include "model/object.h"
#include "model/store.h"

/* Who makes the pod again, as far as it could be read: all may be NULL. */
struct maker {
    const struct pod_template *template;
    const struct stateful_set *set;
};

/* Whether pods of such an owner are known to be made again at once. */
bool maker_is_known(const struct owner *o);

/* Why nobody knows what comes in its place, in the arena: "the template of StatefulSet db asks for
 * other requests than the pod has". NULL: a copy does, or nothing, since it has no owner. */
const char *maker_doubt(struct arena *arena, const struct pod *pod, const struct maker *maker);

/* `owner` is the object of the pod's controller, or NULL. */
struct maker maker_of(const struct pod *pod, const struct object *owner);
/* From stores, each of which may be NULL. */
struct maker maker_find(const struct pod *pod, const struct store *replica_sets,
                        const struct store *stateful_sets, const struct store *jobs);

#endif
