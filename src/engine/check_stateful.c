/* The remark about StatefulSets: one that looks like a quorum, that nothing guards, and that would
 * lose its majority.
 *
 * Most StatefulSets need no majority, and those that do mostly have a PodDisruptionBudget, which
 * the eviction API enforces better than anybody outside. So this speaks only of those with three
 * and more replicas, without a budget and without an operator of their own, and only when the nodes
 * that go take the majority away; and it never stops anything. */
#include "base/str.h"
#include "engine/check_internal.h"
#include "engine/podrole.h"
#include "model/selector.h"

enum { QUORUM_MIN = 3 }; /* replicas below which there is no majority to lose */

static bool guarded(const struct check_run *r, const struct pod *pod) {
    const struct store *budgets = run_store(r, SOURCE_BUDGETS);
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(budgets, &i));) {
        const struct pdb *b = (const struct pdb *)obj;
        if (str_same(b->meta.ns, pod->meta.ns) && selector_match(b->selector, pod->meta.labels))
            return true;
    }
    return false;
}

static bool owned_by(const struct pod *pod, const struct stateful_set *set) {
    const struct owner *o = meta_controller(&pod->meta);
    return o && str_same(o->kind, "StatefulSet") && str_same(o->name, set->meta.name) &&
           str_same(o->uid, set->meta.uid) && str_same(pod->meta.ns, set->meta.ns);
}

/* The StatefulSet's pods out of those of its namespace. */
static const struct pod **pods_of(struct check_run *r, const struct stateful_set *set, size_t *n) {
    struct check_objects all = run_within(r, SOURCE_STATEFUL_PODS, set->meta.ns);
    const struct pod **pods = arena_alloc(r->arena, (all.n + 1) * sizeof *pods);
    *n = 0;
    for (size_t i = 0; i < all.n; i++)
        if (owned_by((const struct pod *)all.p[i], set))
            pods[(*n)++] = (const struct pod *)all.p[i];
    return pods;
}

static void judge(struct check_run *r, const struct stateful_set *set) {
    size_t n = 0, need = (size_t)set->replicas / 2 + 1;
    const struct pod **pods = pods_of(r, set, &n);
    const char *node;
    for (size_t i = 0; n && (node = run_next(r, &i));) {
        size_t here = 0, ready = 0, staying = 0;
        for (size_t k = 0; k < n; k++) {
            bool is_ready = pod_ready(pods[k]) && !pods[k]->meta.deleted;
            here += str_same(pods[k]->node_name, node);
            ready += is_ready;
            staying += is_ready && !run_lost(r, pods[k]->node_name);
        }
        /* One that has no majority anyway does not need it now. */
        if (!here || ready < need || staying >= need || guarded(r, pods[0]))
            continue;
        run_remark(r, node, CHECK_CORDON, BLOCKER_QUORUM_AT_RISK, &kind_stateful_set, &set->meta,
                   run_printf(r,
                              "StatefulSet %s/%s has no PodDisruptionBudget: %zu of %d pods would "
                              "stay, less than a majority",
                              strna(set->meta.ns), set->meta.name, staying, set->replicas));
    }
}

void check_stateful_set(struct check_run *r) {
    struct check_objects sets = run_sorted(r, SOURCE_STATEFUL_SETS);
    /* What cannot be told apart from guarded is none of our business. */
    if (!run_store(r, SOURCE_BUDGETS))
        return;
    for (size_t i = 0; i < sets.n; i++) {
        const struct stateful_set *set = (const struct stateful_set *)sets.p[i];
        if (set->replicas == ABSENT32 || set->replicas < QUORUM_MIN || meta_controller(&set->meta))
            continue;
        judge(r, set);
    }
}
