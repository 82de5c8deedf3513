/* What a drain would do with a pod. */
#include "engine/podrole.h"

#include "base/str.h"

bool pod_finished(const struct pod *pod) {
    return str_same(pod->phase, "Succeeded") || str_same(pod->phase, "Failed");
}

enum pod_role pod_role(const struct pod *pod) {
    const struct owner *owner = meta_controller(&pod->meta);
    if (map_has(pod->meta.annotations, "kubernetes.io/config.mirror"))
        return POD_MIRROR;
    if (pod_finished(pod))
        return POD_FINISHED;
    if (owner && str_same(owner->kind, "DaemonSet"))
        return POD_DAEMON;
    if (pod->meta.deleted)
        return POD_LEAVING;
    return owner ? POD_MOVES : POD_BARE;
}

bool pod_has_local_data(const struct pod *pod) {
    const struct volume *volumes = pod->spec ? pod->spec->volumes : NULL;
    if (pod_finished(pod))
        return false;
    for (size_t i = 0; i < list_len(volumes); i++)
        if (volumes[i].empty_dir)
            return true;
    return false;
}

bool pod_ready(const struct pod *pod) {
    const struct condition *c = condition_find(pod->conditions, "Ready");
    return c && str_same(c->status, "True");
}
