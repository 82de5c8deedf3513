/* Which pods of a plan get a second replica before they go (--surge), as drains decide it
 * (surge_ask.c), and what their budgets make of that. */
#include "engine/budget.h"
#include "engine/plan_internal.h"
#include "engine/podrole.h"
#include "engine/surge_record.h"

static bool in_apps(const struct owner *o, const char *kind) {
    return o && str_same(o->kind, kind) && str_starts(strna(o->api_version), "apps/");
}

/* The owner of that kind; NULL, with `*unknown` when nobody can tell whether there is one. */
static const struct object *owner_of(const struct planning *g, const struct meta *m,
                                     const struct kind *kind, bool *unknown) {
    const struct owner *o = meta_controller(m);
    if (!in_apps(o, kind->name))
        return NULL;
    const struct lookup *l = cluster_look(g->in->cluster, kind, strna(m->ns), strna(o->name));
    *unknown = l->known == KNOWN_NOT_YET || l->known == KNOWN_NEVER;
    return l->known == KNOWN_THERE && str_same(l->obj->meta.uid, o->uid) ? l->obj : NULL;
}

void plan_surge(struct planning *g, struct ppod *p) {
    const struct pod *pod = p->pod;
    bool unknown = false;
    struct surge_record record;
    /* One that is not ready serves nobody; what is deleted is not asked to wait. */
    if (!g->in->opts->surge || g->in->opts->disable_eviction || p->delete_at == 0 ||
        pod_finished(pod) || pod->meta.deleted || !pod_ready(pod))
        return;
    const struct object *set = owner_of(g, &pod->meta, &kind_replica_set, &unknown);
    const struct object *found = set ? owner_of(g, &set->meta, &kind_deployment, &unknown) : NULL;
    const struct deployment *d = (const struct deployment *)found;
    if (unknown) {
        plan_judge(p, PLAN_UNSURE, BLOCKER_SURGE_PENDING, plan_full_name(g, &pod->meta),
                   "with --surge it waits until somebody can tell whether it is the only one of a "
                   "Deployment, and those may not be read");
        return;
    }
    if (!d)
        return;
    enum surge_mark mark = surge_record_of(d, g->arena, &record);
    bool raised = mark == SURGE_MARKED && str_same(record.pod, pod->meta.uid);
    if ((mark == SURGE_MARKED && !raised) || mark == SURGE_STRANGE)
        plan_judge(p, PLAN_UNSURE, BLOCKER_SURGE_PENDING, plan_full_name(g, &d->meta),
                   "somebody else has raised its Deployment (label " SURGE_MARK
                   "): with --surge a drain waits until that is over");
    else
        p->surges = !raised && surge_may_raise(d);
}

bool plan_surge_gains(const struct pdb *pdb) {
    return budget_allows_with(pdb, pdb->expected, 1) > budget_allows_with(pdb, pdb->expected, 0);
}

bool plan_surge_helps(const struct ppod *p, const struct pdb *pdb) {
    return p->surges && budget_allows_with(pdb, pdb->expected, 1) > 0;
}
