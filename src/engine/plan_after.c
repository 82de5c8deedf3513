/* With --wait-rescheduled a node is drained when the owners of its pods are well again, as drains
 * see it (drain_after.c): which pods that is about, and who is not well to begin with. */
#include "engine/plan_internal.h"
#include "engine/podrole.h"

static const struct kind *kind_of(const struct owner *o) {
    return !o                                 ? NULL
           : str_same(o->kind, "ReplicaSet")  ? &kind_replica_set
           : str_same(o->kind, "StatefulSet") ? &kind_stateful_set
                                              : NULL;
}

static const struct lookup *look(const struct planning *g, const struct pod *pod) {
    const struct owner *o = meta_controller(&pod->meta);
    const struct kind *kind = kind_of(o);
    return kind ? cluster_look(g->in->cluster, kind, strna(pod->meta.ns), strna(o->name)) : NULL;
}

/* What can only come back to this node is not waited for; nor is what nobody makes. */
void plan_await(struct planning *g, struct ppod *p) {
    const struct lookup *l =
        g->in->opts->wait_rescheduled && p->back != BACK_NEVER && p->leaves_at < 0 ? look(g, p->pod)
                                                                                   : NULL;
    bool gone = !l || l->known == KNOWN_GONE ||
                (l->known == KNOWN_THERE &&
                 !str_same(l->obj->meta.uid, meta_controller(&p->pod->meta)->uid));
    p->awaited = !gone && !pod_wants_one_node(p->pod) && !plan_local_volume(g, p->pod);
}

const struct ppod *plan_awaits(const struct planning *g, const struct pnode *n) {
    for (size_t i = 0; i < n->pods.len; i++) {
        const struct ppod *p = &g->pods.p[n->pods.p[i]];
        if (p->awaited && !p->there)
            return p;
    }
    return NULL;
}

static void count(const struct owner *o, const struct object *obj, int32_t *wanted,
                  int32_t *available) {
    if (kind_of(o) == &kind_replica_set) {
        const struct replica_set *r = (const struct replica_set *)obj;
        *wanted = r->replicas;
        *available = r->available;
    } else {
        const struct stateful_set *s = (const struct stateful_set *)obj;
        *wanted = s->replicas;
        *available = s->available;
    }
    *wanted = *wanted == ABSENT32 ? 1 : *wanted;
}

/* Pods of this owner that are on their way. */
static int32_t starting(const struct planning *g, const struct owner *o) {
    const struct object *obj;
    int32_t coming = 0;
    for (uint32_t i = 0; (obj = store_next(g->in->cluster->pods, &i));) {
        const struct pod *pod = (const struct pod *)obj;
        const struct owner *its = meta_controller(&pod->meta);
        coming += its && str_same(its->uid, o->uid) && plan_ready_at(g, pod) >= 0;
    }
    return coming;
}

bool plan_unwell(struct planning *g, const struct pnode *n, struct plan_blocker *out) {
    for (size_t i = 0; i < n->own; i++) {
        const struct ppod *p = &g->pods.p[n->pods.p[i]];
        const struct lookup *l = p->awaited ? look(g, p->pod) : NULL;
        int32_t wanted, available;
        if (!l || l->known != KNOWN_THERE)
            continue;
        const struct owner *o = meta_controller(&p->pod->meta);
        count(o, l->obj, &wanted, &available);
        if (available >= wanted || available + starting(g, o) >= wanted)
            continue;
        *out = (struct plan_blocker){
            .code = BLOCKER_NOT_RESCHEDULED,
            .object = plan_full_name(g, &l->obj->meta),
            .message = arena_printf(g->arena,
                                    "with --wait-rescheduled it is drained when %s %s is well, of "
                                    "which %d of %d replicas are available before anything is done",
                                    o->kind, o->name, available, wanted),
            .help = "look at the pods of it that are not ready"};
        return true;
    }
    return false;
}
