/* A look at the nodes. */
#include "engine/survey.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "engine/budget.h"
#include "engine/podrole.h"

enum {
    /* A pod that still terminates this long after its grace period ended is stuck: kubelets report
     * within 10 s or so. */
    STUCK_AFTER = 60,
};

struct taking {
    struct pdbs *pdbs;
    struct arena *arena;
    int64_t now;
    VEC(struct survey_blocker) blockers; /* of the node at hand */
};

/* Adds a pod to the blocker of this code and object, or makes one. */
static void block(struct taking *t, enum blocker_code code, const char *object, const char *message,
                  unsigned pods) {
    for (size_t i = 0; i < t->blockers.len; i++) {
        struct survey_blocker *b = &t->blockers.p[i];
        if (b->code == code && streq(b->object, object)) {
            b->pods += pods;
            return;
        }
    }
    *vec_push(&t->blockers) = (struct survey_blocker){code, object, message, pods};
}

static const char *full_name(struct taking *t, const struct meta *meta) {
    return meta->ns ? arena_printf(t->arena, "%s/%s", meta->ns, meta->name)
                    : arena_printf(t->arena, "%s", strna(meta->name));
}

static void look_at_budgets(struct taking *t, const struct pod *pod) {
    static const enum blocker_code codes[] = {
        [BUDGET_WAITS] = BLOCKER_PDB_NO_BUDGET,
        [BUDGET_NEVER] = BLOCKER_PDB_UNSATISFIABLE,
        [BUDGET_FAILED] = BLOCKER_PDB_SYNC_FAILED,
    };
    size_t n;
    const struct pdb *const *budgets = pdbs_of_pod(t->pdbs, pod, &n);
    enum budget_verdict verdict = budget_for_pod(pod, budgets, n);
    _cleanup_str_ struct str words = STR_INIT;
    if (verdict == BUDGET_ALLOWS)
        return;
    if (verdict == BUDGET_MULTIPLE) {
        for (size_t i = 0; i < n; i++)
            str_addf(&words, "%s%s", i ? ", " : "", budgets[i]->meta.name);
        block(t, BLOCKER_MULTIPLE_PDBS, full_name(t, &pod->meta),
              arena_printf(t->arena, "pod %s is selected by %zu budgets: %s",
                           full_name(t, &pod->meta), n, str_get(&words)),
              1);
        return;
    }
    budget_explain(budgets[0], &words);
    const char *name = full_name(t, &budgets[0]->meta);
    block(t, codes[verdict], name, arena_printf(t->arena, "budget %s: %s", name, str_get(&words)),
          1);
}

static void look_at_pod(struct taking *t, struct survey_node *sn, const struct pod *pod) {
    enum pod_role role = pod_role(pod);
    sn->pods++;
    switch (role) {
    case POD_DAEMON:
    case POD_MIRROR:
        sn->stays++;
        return;
    case POD_FINISHED:
        sn->moves++;
        return;
    case POD_LEAVING:
        sn->leaving++;
        /* deletionTimestamp is when the grace period ends. */
        if (t->now - pod->meta.deleted > SEC(STUCK_AFTER)) {
            char when[TIMEFMT_LEN];
            block(t, BLOCKER_TERMINATING_STUCK, full_name(t, &pod->meta),
                  arena_printf(t->arena, "pod %s should have stopped by %s",
                               full_name(t, &pod->meta),
                               time_format(pod->meta.deleted, false, when)),
                  1);
        }
        return;
    case POD_BARE:
        block(t, BLOCKER_BARE_POD, full_name(t, &pod->meta),
              arena_printf(t->arena, "pod %s has no controller", full_name(t, &pod->meta)), 1);
        break;
    case POD_MOVES:
        break;
    }
    sn->moves++;
    if (pod_has_local_data(pod))
        block(t, BLOCKER_LOCAL_STORAGE, "", "pods with emptyDir data", 1);
    look_at_budgets(t, pod);
}

static void look_at_health(struct taking *t, struct survey_node *sn) {
    const struct node_condition *c = node_condition_find(sn->node->conditions, "Ready");
    sn->ready_reason = "";
    sn->ready = NODE_UNKNOWN;
    if (c) {
        sn->ready_since = c->c.changed;
        sn->ready_reason = strna(c->c.reason);
        if (str_same(c->c.status, "True"))
            sn->ready = NODE_READY;
        else if (str_same(c->c.status, "False"))
            sn->ready = NODE_NOT_READY;
    }
    if (sn->ready == NODE_READY)
        sn->ready_reason = "";
    else
        block(t, BLOCKER_NODE_NOT_READY, "",
              arena_printf(t->arena, "the node is not Ready%s%s", *sn->ready_reason ? ": " : "",
                           sn->ready_reason),
              0);
}

/* Errors before warnings, then by code, then what holds more pods, then by name. */
static int compare_blockers(const void *a, const void *b) {
    const struct survey_blocker *x = a, *y = b;
    int sx = blocker_row(x->code)->severity, sy = blocker_row(y->code)->severity;
    if (sx != sy)
        return sy - sx;
    if (x->code != y->code)
        return (int)x->code - (int)y->code;
    if (x->pods != y->pods)
        return x->pods < y->pods ? 1 : -1;
    return strcmp(x->object, y->object);
}

static void look_at_node(struct taking *t, struct survey_node *sn, const struct store *pods,
                         unsigned by_node) {
    size_t n;
    struct store_key key = {sn->node->meta.name, NULL};
    t->blockers.len = 0;
    look_at_health(t, sn);
    cordon_of(sn->node, t->arena, &sn->cordon);
    const struct object *const *list = store_find(pods, by_node, key, &n);
    for (size_t i = 0; i < n; i++)
        look_at_pod(t, sn, (const struct pod *)list[i]);
    if (!t->blockers.len)
        return;
    qsort(t->blockers.p, t->blockers.len, sizeof t->blockers.p[0], compare_blockers);
    struct survey_blocker *copy = arena_alloc(t->arena, t->blockers.len * sizeof *copy);
    memcpy(copy, t->blockers.p, t->blockers.len * sizeof *copy);
    sn->blockers = copy;
    sn->n_blockers = t->blockers.len;
}

void survey_take(const struct store *nodes, const struct store *pods, unsigned by_node,
                 struct pdbs *pdbs, survey_filter *filter, void *filter_arg, int64_t now,
                 struct arena *arena, struct survey *out) {
    size_t n, kept = 0;
    const struct object **sorted = store_sorted(nodes, &n);
    struct taking t = {.pdbs = pdbs, .arena = arena, .now = now};
    struct survey_node *list = arena_alloc(arena, (n + 1) * sizeof *list);
    for (size_t i = 0; i < n; i++) {
        const struct node *node = (const struct node *)sorted[i];
        if (filter && !filter(filter_arg, node))
            continue;
        list[kept].node = node;
        look_at_node(&t, &list[kept++], pods, by_node);
    }
    vec_done(&t.blockers);
    free(sorted);
    *out = (struct survey){list, kept};
}
