/* Volumes that are attached where no pod uses them, and what that keeps waiting. */
#include <stdlib.h>

#include "engine/why_internal.h"

static bool pod_uses(const struct pod *pod, const struct object_ref *claim) {
    const struct volume *v = pod->spec ? pod->spec->volumes : NULL;
    for (size_t i = 0; i < list_len(v) && str_same(pod->meta.ns, claim->ns); i++)
        if (v[i].claim && str_same(v[i].claim->claim, claim->name))
            return true;
    return false;
}

/* Attached to the node, and no pod there uses it. */
static bool is_left(struct making *m, const struct volume_attachment *va,
                    const struct pod *const *pods, size_t n) {
    if (!str_same(va->node_name, m->node->meta.name) || str_empty(va->pv))
        return false;
    const struct pv *pv = why_look(m, &kind_pv, NULL, va->pv, NULL);
    for (size_t i = 0; pv && pv->claim && i < n; i++)
        if (pod_uses(pods[i], pv->claim))
            return false;
    return true;
}

void why_look_at_volumes(struct making *m, const struct pod *const *pods, size_t n) {
    const struct volume_attachment *first = NULL;
    const struct object *obj;
    size_t left = 0;
    /* Of a node in service this is nobody's business. */
    if (!m->node->unschedulable || !why_has(m, &(struct why_want){.what = WHY_WANT_ATTACHMENTS}))
        return;
    for (uint32_t i = 0; (obj = store_next(m->w->attachments, &i));) {
        const struct volume_attachment *va = (const struct volume_attachment *)obj;
        if (!is_left(m, va, pods, n))
            continue;
        left++;
        if (!first || strcmp(strna(va->pv), strna(first->pv)) < 0)
            first = va;
    }
    if (!first)
        return;
    _cleanup_str_ struct str text = STR_INIT;
    str_addf(&text, "%zu volume%s still attached, though no pod here uses %s", left,
             left == 1 ? " is" : "s are", left == 1 ? "it" : "them");
    if (first->detach_error && !str_empty(first->detach_error->message))
        str_addf(&text, ": %s", first->detach_error->message);
    struct why_link *l = why_link_new(m, BLOCKER_VOLUME_ATTACHED, kind_pv.name, strna(first->pv),
                                      why_text(m, &text));
    l->since = first->meta.deleted;
    why_link_remedy(m, l, WHY_RISK_NONE, "wait; if it lasts, look at the CSI driver",
                    arena_printf(m->arena, "kubectl describe volumeattachment %s",
                                 why_shell(m, strna(first->meta.name))),
                    NULL);
    why_link_remedy(m, l, WHY_RISK_DATA, "let the drain go on without it",
                    arena_printf(m->arena, "slipway drain %s --volume-detach-timeout=1m",
                                 why_shell(m, m->node->meta.name)),
                    "a disk that is not unmounted may lose its last writes");
    *vec_push(&m->links) = l;
}

/* The volume of one of the pod's claims that is attached to another node, or NULL. */
static const struct volume_attachment *attached_elsewhere(struct making *m, const struct pod *pod,
                                                          const char *pv) {
    const struct object *obj;
    const struct volume_attachment *found = NULL;
    for (uint32_t i = 0; (obj = store_next(m->w->attachments, &i));) {
        const struct volume_attachment *va = (const struct volume_attachment *)obj;
        if (str_same(va->pv, pv) && !str_same(va->node_name, pod->node_name) &&
            (!found || strcmp(strna(va->meta.name), strna(found->meta.name)) < 0))
            found = va;
    }
    return found;
}

void why_add_attached(struct making *m, struct why_link *l, const struct pod *pod) {
    const struct volume *v = pod->spec ? pod->spec->volumes : NULL;
    for (size_t i = 0; i < list_len(v); i++) {
        const struct pvc *c =
            v[i].claim ? why_look(m, &kind_pvc, pod->meta.ns, v[i].claim->claim, NULL) : NULL;
        if (!c || str_empty(c->volume_name) ||
            !why_has(m, &(struct why_want){.what = WHY_WANT_ATTACHMENTS}))
            continue;
        const struct volume_attachment *va = attached_elsewhere(m, pod, c->volume_name);
        if (!va)
            continue;
        struct why_link *cause =
            why_link_new(m, BLOCKER_VOLUME_ATTACHED, kind_pv.name, c->volume_name,
                         arena_printf(m->arena, "still attached to node %s", strna(va->node_name)));
        cause->blocks = false;
        cause->since = va->meta.deleted;
        why_link_cause(m, l, cause);
    }
}
