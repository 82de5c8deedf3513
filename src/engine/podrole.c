/* What a drain would do with a pod. */
#include "engine/podrole.h"

#include "base/str.h"

#define UNSCHEDULABLE_TAINT "node.kubernetes.io/unschedulable"

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

bool pod_tolerates_cordon(const struct pod *pod) {
    const struct toleration *list = pod->spec ? pod->spec->tolerations : NULL;
    for (size_t i = 0; i < list_len(list); i++) {
        const struct toleration *t = &list[i];
        if (!str_empty(t->effect) && !streq(t->effect, "NoSchedule"))
            continue;
        if (!str_empty(t->key) && !streq(t->key, UNSCHEDULABLE_TAINT))
            continue;
        /* Equal is meant when nothing is said; the taint's value is empty. */
        bool equal = str_empty(t->op) || streq(t->op, "Equal");
        if (str_same(t->op, "Exists") || (equal && str_empty(t->value)))
            return true;
    }
    return false;
}
