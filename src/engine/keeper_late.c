/* Pods that come to a node after it was drained: bound by name, or by a toleration of the cordon.
 * Nobody is told that it may go while one is there.
 *
 * As long as the node is only drained, its slot goes back to `taken`. One that was told already may
 * be on its way down, and nothing leads back from that: what has come is evicted all the same, and
 * who asks once more is told to wait for it. Whoever leads gives no command before it is gone. */
#include <string.h>

#include "engine/filter.h"
#include "engine/keeper_internal.h"

enum { LIST_AGAIN_S = 1 }; /* after one that failed */

static bool is_before(const struct pod *a, const struct pod *b) {
    int c = strcmp(strna(a->meta.ns), strna(b->meta.ns));
    return c ? c < 0 : strcmp(a->meta.name, b->meta.name) < 0;
}

const struct pod *keeper_late_pod(const struct keeper *k, const char *node) {
    const struct pod *found = NULL;
    size_t n;
    const struct pod *const *pods = cluster_pods_on(k->cluster, node, &n);
    for (size_t i = 0; i < n; i++)
        if ((!found || is_before(pods[i], found)) &&
            filter_must_go(&k->opts.drain, k->now.wall + k->opts.drain.skew, pods[i]))
            found = pods[i];
    return found;
}

bool keeper_list_pods(struct keeper *k, struct pod_list *list, const char *node) {
    if (list->done || list->action)
        return list->done;
    if (list->not_before > k->now.mono) {
        keeper_wake(k, list->not_before);
        return false;
    }
    list->failed = false;
    list->action = actions_add(
        k->out, &k->cluster->actions,
        &(struct action){.verb = ACTION_CONFIRM, .kind = &kind_pod, .name = node, .grace = -1});
    return false;
}

void keeper_list_answer(struct keeper *k, struct pod_list *list, const struct answer *a) {
    list->action = 0;
    list->done = a->outcome == KUBE_OK;
    list->failed = !list->done;
    list->denied = a->outcome == KUBE_FORBIDDEN;
    if (list->done)
        return;
    str_replace(&k->trouble, a->message);
    list->not_before = k->now.mono + SEC(LIST_AGAIN_S);
}

bool keeper_is_cleared(const struct keeper *k, const struct slot *slot) {
    const struct node *node = cluster_node(k->cluster, slot->node);
    bool waits = keeper_goes_by_itself(k, slot) || !keeper_has_begun(k, slot);
    return slot->state == SLOT_GRANTED && waits && !keeper_paused(k, slot) && node &&
           slots_may_go(&k->record.slots, slot->node, strna(node->meta.uid), keeper_boot(node)) &&
           keeper_is_cordoned(node, slot->id) && keeper_late_pod(k, slot->node);
}
