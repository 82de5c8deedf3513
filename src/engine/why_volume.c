/* Volumes that are attached where no pod uses them, and what that keeps waiting. */
#include <stdlib.h>

#include "engine/attached.h"
#include "engine/why_internal.h"

static const struct pv *look_up(void *arg, const char *name) {
    return why_look(arg, &kind_pv, NULL, name, NULL);
}

bool why_look_at_volumes(struct making *m, const struct pod *const *pods, size_t n) {
    struct attached left = {0};
    const struct object *obj;
    if (!why_has(m, &(struct why_want){.what = WHY_WANT_ATTACHMENTS}))
        return false;
    for (uint32_t i = 0; (obj = store_next(m->w->attachments, &i));) {
        const struct volume_attachment *va = (const struct volume_attachment *)obj;
        /* Of a node in service, what was only just left by its pod is nobody's business. */
        if (str_same(va->node_name, m->node->meta.name) &&
            attached_is_stuck(va, m->node, m->w->now))
            attached_add(&left, va, pods, n, look_up, m);
    }
    const struct volume_attachment *first = left.first;
    if (!first)
        return false;
    _cleanup_str_ struct str text = STR_INIT;
    if (!m->node->unschedulable)
        str_add(&text, WHY_AT_THE_END ": ");
    attached_explain(&left, &text);
    struct why_link *l = why_link_new(m, BLOCKER_VOLUME_ATTACHED, kind_pv.name, strna(first->pv),
                                      why_text(m, &text));
    l->since = first->meta.deleted;
    struct remedies remedies;
    remedy_attached(m->arena, first, m->node->meta.name, &remedies);
    why_use_remedies(m, l, &remedies);
    *vec_push(&m->links) = l;
    return true;
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

/* It is detached when the pod there is gone and the kubelet has unmounted it; of a node that is
 * lost, six minutes later or when somebody says that it is off. */
static void advise_attached(struct making *m, struct why_link *l,
                            const struct volume_attachment *va) {
    const char *node = strna(va->node_name);
    why_link_remedy(m, l, WHY_RISK_NONE,
                    arena_printf(m->arena, "see what keeps the volume on %s", node),
                    arena_printf(m->arena, "slipway why node/%s", why_shell(m, node)), NULL);
    why_link_remedy(m, l, WHY_RISK_NONE, "see what its driver says",
                    arena_printf(m->arena, "kubectl describe volumeattachment %s",
                                 why_shell(m, strna(va->meta.name))),
                    NULL);
}

void why_add_attached(struct making *m, struct why_link *l, struct why_link *helped,
                      const struct pod *pod) {
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
        advise_attached(m, helped, va);
    }
}
