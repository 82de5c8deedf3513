/* StatefulSets that make their pods in order (OrderedReady): the controller goes through them from
 * the lowest number on and stops at the first that is missing, which it makes, or that leaves or is
 * not ready. What is gone behind that one is not made again before it is. */
#include <stdlib.h>
#include <string.h>

#include "engine/plan_internal.h"
#include "engine/podrole.h"

/* Its number, or -1: the name is not one that a StatefulSet gives. */
static long ordinal_of(const struct pod *pod) {
    const char *dash = strrchr(strna(pod->meta.name), '-');
    char *end = NULL;
    long n = dash && dash[1] >= '0' && dash[1] <= '9' ? strtol(dash + 1, &end, 10) : -1;
    return end && !*end ? n : -1;
}

static const struct owner *set_of(const struct pod *pod) {
    const struct owner *o = meta_controller(&pod->meta);
    return o && o->uid && str_same(o->kind, "StatefulSet") ? o : NULL;
}

/* --- what there is --- */

static uint32_t uid_hash(const char *uid) {
    return hash_bytes(uid, strlen(uid));
}

static uint32_t set_hash(const void *entry) {
    return uid_hash(((const struct pset *)entry)->uid);
}

static bool set_equal(const void *entry, const void *uid) {
    return streq(((const struct pset *)entry)->uid, uid);
}

static const struct htab_ops set_ops = {set_hash, set_equal};

/* NULL: it makes all at once, or is not known. */
static const struct stateful_set *ordered(const struct planning *g, const struct pod *pod,
                                          const struct owner *o) {
    const struct lookup *l =
        cluster_look(g->in->cluster, &kind_stateful_set, pod->meta.ns, strna(o->name));
    const struct stateful_set *set = l->obj ? (const struct stateful_set *)l->obj : NULL;
    bool in_order = set && l->known == KNOWN_THERE && str_same(set->meta.uid, o->uid) &&
                    !str_same(set->pod_management, "Parallel");
    return in_order ? set : NULL;
}

/* The sets of the pods that shall go. */
static void find_sets(struct planning *g, struct htab *by_uid) {
    for (size_t i = 0; i < g->pods.len; i++) {
        const struct ppod *p = &g->pods.p[i];
        const struct owner *o = p->back == BACK_WHEN_GONE ? set_of(p->pod) : NULL;
        if (!o || ordinal_of(p->pod) < 0 || htab_find(by_uid, uid_hash(o->uid), o->uid))
            continue;
        const struct stateful_set *in_order = ordered(g, p->pod, o);
        if (!in_order)
            continue;
        struct pset *set = xnew(struct pset);
        set->uid = o->uid;
        set->min_ready = SEC(MAX_OF(in_order->min_ready_seconds, 0));
        htab_insert(by_uid, set);
        *vec_push(&g->sets) = set;
    }
}

/* Of one that is not well: when it will be, or -1. */
static int64_t well_at(const struct planning *g, const struct pod *pod) {
    if (!pod->meta.deleted)
        return plan_ready_at(g, pod);
    bool played = plan_node_find(g, strna(pod->node_name));
    if (played || pod->meta.deleted < g->begun_at)
        return -1;
    return pod->meta.deleted - g->begun_at + durations_of(g->durations, pod).start;
}

static int by_ordinal(const void *a, const void *b) {
    long x = ((const struct pmember *)a)->ordinal, y = ((const struct pmember *)b)->ordinal;
    return (x > y) - (x < y);
}

void plan_sets(struct planning *g) {
    struct htab by_uid;
    const struct object *obj;
    htab_init(&by_uid, &set_ops);
    find_sets(g, &by_uid);
    for (uint32_t i = 0; g->sets.len && (obj = store_next(g->in->cluster->pods, &i));) {
        const struct pod *pod = (const struct pod *)obj;
        const struct owner *o = set_of(pod);
        struct pset *set = o ? htab_find(&by_uid, uid_hash(o->uid), o->uid) : NULL;
        if (!set || ordinal_of(pod) < 0)
            continue;
        struct pmember m = {.pod = pod, .ordinal = ordinal_of(pod), .well_at = PLAN_NO_TIME};
        m.first = pod->meta.deleted ? MEMBER_LEAVES : pod_ready(pod) ? MEMBER_WELL : MEMBER_COMES;
        if (m.first != MEMBER_WELL)
            m.well_at = well_at(g, pod);
        *vec_push(&set->members) = m;
    }
    for (size_t i = 0; i < g->sets.len; i++) {
        struct pset *set = g->sets.p[i];
        qsort(set->members.p, set->members.len, sizeof *set->members.p, by_ordinal);
    }
    for (size_t i = 0; g->sets.len && i < g->pods.len; i++) {
        struct ppod *p = &g->pods.p[i];
        const struct owner *o = p->back == BACK_WHEN_GONE ? set_of(p->pod) : NULL;
        p->set = o ? htab_find(&by_uid, uid_hash(o->uid), o->uid) : NULL;
        for (size_t k = 0; p->set && k < p->set->members.len; k++)
            if (p->set->members.p[k].pod == p->pod)
                p->member = (unsigned)k;
        if (ordinal_of(p->pod) < 0)
            p->set = NULL;
    }
    htab_done(&by_uid);
}

void plan_sets_done(struct planning *g) {
    for (size_t i = 0; i < g->sets.len; i++) {
        vec_done(&g->sets.p[i]->members);
        free(g->sets.p[i]);
    }
    vec_done(&g->sets);
}

/* --- played --- */

void plan_sets_reset(struct planning *g) {
    for (size_t i = 0; i < g->sets.len; i++)
        for (size_t k = 0; k < g->sets.p[i]->members.len; k++) {
            struct pmember *m = &g->sets.p[i]->members.p[k];
            m->now = m->first;
            m->gone = -1;
            m->turn = 0;
        }
}

int plan_set_next(struct pset *set) {
    for (size_t k = 0; k < set->members.len; k++) {
        struct pmember *m = &set->members.p[k];
        if (m->now == MEMBER_WELL)
            continue;
        if (m->now != MEMBER_GONE)
            return -1;
        m->now = MEMBER_COMES;
        m->turn++;
        return m->gone;
    }
    return -1;
}

const struct pmember *plan_set_keeper(const struct planning *g, const struct ppod *p) {
    if (!p->set)
        return NULL;
    const struct pmember *own = &p->set->members.p[p->member];
    if (own->now != MEMBER_GONE || &g->pods.p[own->gone] != p)
        return NULL;
    for (size_t k = 0; k < p->member; k++)
        if (p->set->members.p[k].now != MEMBER_WELL)
            return &p->set->members.p[k];
    return NULL;
}
