/* Equal blockers put together. */
#include "cli/drain_blockers.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "cli/drain_words.h"

/* One blocker of one pod or node. */
struct entry {
    const struct drain_blocker *b;
    size_t node;
    bool pod;
};

static int compare_key(const struct drain_blocker *a, const struct drain_blocker *b) {
    if (a->code != b->code)
        return a->code < b->code ? -1 : 1;
    int c = strcmp(strna(a->kind), strna(b->kind));
    return c ? c : strcmp(strna(a->object), strna(b->object));
}

bool drain_blocker_same(const struct drain_blocker *a, const struct drain_blocker *b) {
    return compare_key(a, b) == 0;
}

static int compare_entries(const void *pa, const void *pb) {
    const struct entry *a = pa, *b = pb;
    int c = compare_key(a->b, b->b);
    return c ? c : (a->node > b->node) - (a->node < b->node);
}

/* Worst first; in the end by name, so that rows keep their places. */
static int compare_groups(const void *pa, const void *pb) {
    const struct drain_group *a = pa, *b = pb;
    enum severity sa = blocker_row(a->blocker->code)->severity,
                  sb = blocker_row(b->blocker->code)->severity;
    if (sa != sb)
        return sa > sb ? -1 : 1;
    if (a->n_nodes != b->n_nodes)
        return a->n_nodes > b->n_nodes ? -1 : 1;
    if (a->blocker->since != b->blocker->since)
        return a->blocker->since < b->blocker->since ? -1 : 1;
    return compare_key(a->blocker, b->blocker);
}

void drain_groups_take(const struct drain_node *const *nodes, size_t n, bool stuck, int64_t now,
                       struct arena *arena, struct drain_groups *out) {
    VEC(struct entry) all = VEC_INIT;
    for (size_t i = 0; i < n; i++) {
        const struct drain_node *node = nodes[i];
        bool turn = node->phase == DRAIN_WAITING && !node->gated; /* it waits for its turn alone */
        if (turn || drain_ended(node->phase))
            continue;
        if (!node->blocked && !node->blocked_pods)
            continue;
        if (stuck && drain_standing(node, now) != STANDING_BLOCKED)
            continue;
        if (node->blocked)
            *vec_push(&all) = (struct entry){&node->blocker, i, false};
        for (size_t k = 0; k < node->n_pods; k++)
            if (node->pods[k]->blocked && node->pods[k]->state != DRAIN_POD_GONE)
                *vec_push(&all) = (struct entry){&node->pods[k]->blocker, i, true};
    }
    *out = (struct drain_groups){0};
    if (!all.len)
        return;
    qsort(all.p, all.len, sizeof *all.p, compare_entries);
    out->list = arena_alloc(arena, all.len * sizeof *out->list);
    size_t *places = arena_alloc(arena, all.len * sizeof *places);
    for (size_t i = 0; i < all.len; i++) {
        const struct entry *e = &all.p[i];
        if (!i || !drain_blocker_same(all.p[i - 1].b, e->b)) {
            out->list[out->n++] = (struct drain_group){.blocker = e->b, .nodes = places};
        }
        struct drain_group *g = &out->list[out->n - 1];
        if (e->b->since < g->blocker->since)
            g->blocker = e->b;
        g->pods += e->pod;
        g->attempts = MAX_OF(g->attempts, e->b->attempts);
        if (!g->n_nodes || g->nodes[g->n_nodes - 1] != e->node) {
            *places++ = e->node;
            g->n_nodes++;
        }
    }
    vec_done(&all);
    qsort(out->list, out->n, sizeof *out->list, compare_groups);
}
