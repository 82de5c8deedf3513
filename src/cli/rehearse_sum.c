/* Counting over runs. */
#include "cli/rehearse_sum.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

int64_t sum_quantile(const int64_t *sorted, size_t n, double q) {
    double at = q * (double)(n + 1) - 1;
    if (at <= 0)
        return sorted[0];
    size_t i = (size_t)at;
    if (i + 1 >= n)
        return sorted[n - 1];
    return sorted[i] + (int64_t)((at - (double)i) * (double)(sorted[i + 1] - sorted[i]));
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Sorts the values. */
static struct spread_of spread_of(int64_t *v, size_t n) {
    if (!n)
        return (struct spread_of){-1, -1, -1};
    qsort(v, n, sizeof *v, by_size);
    return (struct spread_of){sum_quantile(v, n, 0.1), sum_quantile(v, n, 0.5),
                              sum_quantile(v, n, 0.9)};
}

static bool is_whole(const struct rehearsal *r) {
    for (size_t i = 0; i < r->nodes.len; i++)
        if (r->nodes.p[i].phase != DRAIN_DONE)
            return false;
    return !r->halted;
}

/* --- durations --- */

/* Where some runs drain all nodes, how long that takes is what these took: one that was refused at
 * once says nothing of it. */
static bool counts(const struct rehearse_sum *sum, const struct rehearsal *r) {
    return sum->whole ? is_whole(r) : sum->halted == sum->runs || !r->halted;
}

static void sum_took(const struct rehearsal *runs, size_t n, struct rehearse_sum *out) {
    _cleanup_free_ int64_t *v = xcalloc(n, sizeof *v);
    size_t len = 0;
    for (size_t i = 0; i < n; i++)
        if (counts(out, &runs[i]))
            v[len++] = runs[i].took;
    out->took = spread_of(v, len);
    for (size_t i = 0; i < n; i++) {
        if (!counts(out, &runs[i]))
            continue;
        int64_t off = llabs(runs[i].took - out->took.p50);
        if (!out->middle || off < llabs(out->middle->took - out->took.p50))
            out->middle = &runs[i];
    }
}

/* --- nodes --- */

static const struct rehearsal_node *find_node(const struct rehearsal *r, const char *name) {
    for (size_t i = 0; i < r->nodes.len; i++)
        if (streq(r->nodes.p[i].name, name))
            return &r->nodes.p[i];
    return NULL;
}

static void sum_nodes(const struct rehearsal *runs, size_t n, struct arena *arena,
                      struct rehearse_sum *out) {
    _cleanup_free_ int64_t *began = xcalloc(n, sizeof *began), *took = xcalloc(n, sizeof *took);
    out->n_nodes = out->middle->nodes.len;
    out->nodes = arena_alloc(arena, out->n_nodes * sizeof *out->nodes);
    for (size_t i = 0; i < out->n_nodes; i++) {
        const struct rehearsal_node *middle = &out->middle->nodes.p[i];
        struct sum_node *s = &out->nodes[i];
        *s = (struct sum_node){.name = middle->name, .example = middle};
        size_t len = 0, held = 0;
        for (size_t k = 0; k < n; k++) {
            const struct rehearsal_node *node = find_node(&runs[k], middle->name);
            if (!node)
                continue;
            if (node->phase != DRAIN_DONE) {
                s->left_least = held++ ? MIN_OF(s->left_least, node->left) : node->left;
                s->left_most = MAX_OF(s->left_most, node->left);
                s->example = node;
                continue;
            }
            s->drained++;
            began[len] = MAX_OF(node->began, 0);
            took[len++] = MAX_OF(node->ended, 0) - MAX_OF(node->began, 0);
        }
        s->began = spread_of(began, len);
        s->took = spread_of(took, len);
    }
}

/* --- waits --- */

static const struct rehearsal_wait *find_wait(const struct rehearsal *r,
                                              const struct rehearsal_wait *w) {
    for (size_t i = 0; i < r->waits.len; i++) {
        const struct rehearsal_wait *x = &r->waits.p[i];
        if (x->code == w->code && streq(x->object, w->object) && streq(x->kind, w->kind))
            return x;
    }
    return NULL;
}

static int by_length(const void *pa, const void *pb) {
    const struct sum_wait *a = pa, *b = pb;
    if (!a->open != !b->open)
        return a->open ? -1 : 1;
    if (a->waited.p50 != b->waited.p50)
        return a->waited.p50 > b->waited.p50 ? -1 : 1;
    int c = strcmp(a->example->object, b->example->object);
    return c ? c : (int)a->example->code - (int)b->example->code;
}

static void sum_waits(const struct rehearsal *runs, size_t n, struct arena *arena,
                      struct rehearse_sum *out) {
    _cleanup_free_ int64_t *v = xcalloc(n, sizeof *v);
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most += runs[i].waits.len;
    out->waits = arena_alloc(arena, (most + 1) * sizeof *out->waits);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < runs[i].waits.len; k++) {
            const struct rehearsal_wait *w = &runs[i].waits.p[k];
            bool seen = false;
            for (size_t j = 0; j < i && !seen; j++)
                seen = find_wait(&runs[j], w) != NULL;
            if (seen)
                continue;
            struct sum_wait *s = &out->waits[out->n_waits++];
            *s = (struct sum_wait){.example = w};
            for (size_t j = 0; j < n; j++) {
                const struct rehearsal_wait *x = find_wait(&runs[j], w);
                if (!x)
                    continue;
                v[s->runs++] = x->waited;
                s->open += x->open;
                s->pods = MAX_OF(s->pods, x->pods);
                s->example = x->waited > s->example->waited ? x : s->example;
            }
            s->waited = spread_of(v, s->runs);
        }
    qsort(out->waits, out->n_waits, sizeof *out->waits, by_length);
}

/* --- budgets --- */

static const struct rehearsal_budget *find_budget(const struct rehearsal *r,
                                                  const struct rehearsal_budget *b) {
    for (size_t i = 0; i < r->budgets.len; i++)
        if (streq(r->budgets.p[i].name, b->name) && streq(r->budgets.p[i].ns, b->ns))
            return &r->budgets.p[i];
    return NULL;
}

static int by_room(const void *pa, const void *pb) {
    const struct sum_budget *a = pa, *b = pb;
    if (a->example->least != b->example->least)
        return a->example->least < b->example->least ? -1 : 1;
    if (a->closed.p50 != b->closed.p50)
        return a->closed.p50 > b->closed.p50 ? -1 : 1;
    int c = strcmp(a->example->ns, b->example->ns);
    return c ? c : strcmp(a->example->name, b->example->name);
}

static void sum_budgets(const struct rehearsal *runs, size_t n, struct arena *arena,
                        struct rehearse_sum *out) {
    _cleanup_free_ int64_t *v = xcalloc(n, sizeof *v);
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most += runs[i].budgets.len;
    out->budgets = arena_alloc(arena, (most + 1) * sizeof *out->budgets);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < runs[i].budgets.len; k++) {
            const struct rehearsal_budget *b = &runs[i].budgets.p[k];
            bool seen = false;
            for (size_t j = 0; j < i && !seen; j++)
                seen = find_budget(&runs[j], b) != NULL;
            if (seen)
                continue;
            struct sum_budget *s = &out->budgets[out->n_budgets++];
            *s = (struct sum_budget){.example = b};
            for (size_t j = 0; j < n; j++) {
                const struct rehearsal_budget *x = find_budget(&runs[j], b);
                if (!x)
                    continue;
                v[s->runs++] = x->closed;
                s->closed_runs += x->least <= 0;
                s->example = x->least < s->example->least ? x : s->example;
            }
            s->closed = spread_of(v, s->runs);
        }
    qsort(out->budgets, out->n_budgets, sizeof *out->budgets, by_room);
}

/* --- pods that stay --- */

static int by_pod(const void *pa, const void *pb) {
    const struct sum_pod *a = pa, *b = pb;
    int c = strcmp(a->node->name, b->node->name);
    if (!c)
        c = strcmp(a->pod->ns, b->pod->ns);
    return c ? c : strcmp(a->pod->name, b->pod->name);
}

static void sum_pods(const struct rehearsal *runs, size_t n, struct arena *arena,
                     struct rehearse_sum *out) {
    size_t most = 0, len = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < runs[i].nodes.len; k++)
            most += runs[i].nodes.p[k].left;
    out->pods = arena_alloc(arena, (most + 1) * sizeof *out->pods);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < runs[i].nodes.len; k++) {
            const struct rehearsal_node *node = &runs[i].nodes.p[k];
            for (size_t j = 0; j < node->pods.len; j++)
                if (node->pods.p[j].why)
                    out->pods[len++] = (struct sum_pod){node, &node->pods.p[j], 1};
        }
    qsort(out->pods, len, sizeof *out->pods, by_pod);
    for (size_t i = 0; i < len; i++) {
        struct sum_pod *last = out->n_pods ? &out->pods[out->n_pods - 1] : NULL;
        if (last && !by_pod(last, &out->pods[i]))
            last->runs++;
        else
            out->pods[out->n_pods++] = out->pods[i];
    }
}

/* --- pods without a node --- */

static int by_workload(const void *pa, const void *pb) {
    const struct sum_pending *a = pa, *b = pb;
    return strcmp(a->example->workload, b->example->workload);
}

static void sum_pending(const struct rehearsal *runs, size_t n, struct arena *arena,
                        struct rehearse_sum *out) {
    size_t most = 0, len = 0;
    for (size_t i = 0; i < n; i++)
        most += runs[i].pending.len;
    struct sum_pending *list = out->pending = arena_alloc(arena, (most + 1) * sizeof *list);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < runs[i].pending.len; k++)
            list[len++] = (struct sum_pending){&runs[i].pending.p[k], 1};
    qsort(list, len, sizeof *list, by_workload);
    for (size_t i = 0; i < len; i++) {
        struct sum_pending *last = out->n_pending ? &list[out->n_pending - 1] : NULL;
        if (!last || by_workload(last, &list[i])) {
            list[out->n_pending++] = list[i];
            continue;
        }
        last->runs++;
        if (list[i].example->pods > last->example->pods)
            last->example = list[i].example;
    }
}

void rehearse_sum(const struct rehearsal *runs, size_t n, struct arena *arena,
                  struct rehearse_sum *out) {
    *out = (struct rehearse_sum){.runs = n};
    for (size_t i = 0; i < n; i++) {
        out->whole += is_whole(&runs[i]);
        out->halted += runs[i].halted;
        out->moved = MAX_OF(out->moved, runs[i].moved);
        out->code = out->code ? out->code : runs[i].code;
    }
    sum_took(runs, n, out);
    sum_nodes(runs, n, arena, out);
    sum_waits(runs, n, arena, out);
    sum_budgets(runs, n, arena, out);
    sum_pods(runs, n, arena, out);
    sum_pending(runs, n, arena, out);
}
