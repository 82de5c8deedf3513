/* Of which pods a rehearsal assumes what comes in their place. */
#include "cli/rehearse_assumed.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "engine/maker.h"
#include "engine/moveout.h"
#include "engine/podrole.h"
#include "model/workload.h"

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const struct object *owner_of(const struct fleet *f, const struct pod *pod) {
    const struct owner *o = meta_controller(&pod->meta);
    const struct resource *r = !o                                 ? NULL
                               : str_same(o->kind, "StatefulSet") ? f->stateful_sets
                               : str_same(o->kind, "ReplicaSet")  ? f->replica_sets
                               : str_same(o->kind, "Job")         ? f->jobs
                                                                  : NULL;
    const struct record *found = r && o->name ? shelf_get(r->shelf, pod->meta.ns, o->name) : NULL;
    return found ? found->obj : NULL;
}

/* In the order in which a plan looks for it. False: all is known. */
static bool judge(const struct fleet *f, const struct pod *pod, struct arena *arena,
                  struct rehearse_assumed *out) {
    const struct owner *o = meta_controller(&pod->meta);
    out->code = BLOCKER_ROOM_UNKNOWN;
    if (moveout_placed_by_other(pod)) {
        out->code = BLOCKER_OTHER_SCHEDULER;
        out->why = arena_printf(arena, "scheduler %s places them", pod->spec->scheduler);
        out->here = "here Kubernetes' own does";
        return true;
    }
    out->why = moveout_beyond(pod);
    out->here = "here there are enough";
    if (out->why)
        return true;
    struct maker maker = maker_of(pod, owner_of(f, pod));
    out->why = maker_doubt(arena, pod, &maker);
    out->here = o && maker_is_known(o) ? "here they are made from the template as it is"
                                       : "here they are made again at once, as they are";
    return out->why != NULL;
}

typedef VEC(struct rehearse_assumed) assumed_list;

/* The pods of a workload of which the same is said are one entry. */
static void add(assumed_list *list, const struct rehearse_assumed *a, const struct pod *pod,
                struct arena *arena) {
    _cleanup_str_ struct str name = STR_INIT;
    workload_name(pod, &name);
    for (size_t i = 0; i < list->len; i++)
        if (streq(list->p[i].workload, str_get(&name)) && streq(list->p[i].why, a->why)) {
            list->p[i].pods++;
            return;
        }
    struct rehearse_assumed *new = vec_push(list);
    *new = *a;
    new->workload = arena_strndup(arena, str_get(&name), name.len);
    new->example = arena_printf(arena, "%s", strna(pod->meta.name));
    new->pods = 1;
}

static int compare(const void *a, const void *b) {
    const struct rehearse_assumed *x = a, *y = b;
    int c = strcmp(x->workload, y->workload);
    return c ? c : strcmp(x->why, y->why);
}

size_t rehearse_assumed(const struct fleet *f, const char *const *nodes, size_t n,
                        const struct rules *rules, struct arena *arena,
                        const struct rehearse_assumed **out) {
    assumed_list list = VEC_INIT;
    const char **sorted = xcalloc(n + 1, sizeof *sorted);
    struct rules *own = rules ? NULL : rules_new();
    struct snapshot *snap = shelf_snapshot(f->pods->shelf);
    memcpy(sorted, nodes, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_names);
    for (size_t i = 0; i < snap->n; i++) {
        const struct pod *pod = record_as(pod, snap->items[i]);
        struct rule_verdict rule;
        struct rehearse_assumed a = {0};
        if (!pod->spec || pod_role(pod) != POD_MOVES || str_empty(pod->node_name) ||
            !bsearch(&pod->node_name, sorted, n, sizeof *sorted, compare_names))
            continue;
        rules_apply(rules ? rules : own, pod, &rule);
        if (rule.action != RULE_SKIP && judge(f, pod, arena, &a))
            add(&list, &a, pod, arena);
    }
    snapshot_unref(snap);
    rules_free(own);
    free(sorted);
    size_t len = list.len;
    struct rehearse_assumed *kept = arena_alloc(arena, (len + 1) * sizeof *kept);
    if (len) {
        qsort(list.p, len, sizeof list.p[0], compare);
        memcpy(kept, list.p, len * sizeof *kept);
    }
    vec_done(&list);
    *out = kept;
    return len;
}
