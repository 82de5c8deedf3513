/* In which order the nodes go, when not all can at once: several are played through, with the time
 * alone, and the best is bettered step by step. Whether there is room is asked once, at the end. */
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "engine/plan_internal.h"

enum {
    TRIES_NODES = 64, /* up to so many nodes, and pods, several orders are compared */
    TRIES_PODS = 5000,
    TRIES = 32,
    STEPS = 4000,         /* small changes to the best of these */
    STEPS_PODS = 3000000, /* pods played for that: half a second */
    IN_VAIN = 1000,       /* changes one after the other that did not make it shorter */
    SETTLES = 8,          /* times that those without room are put last */
    SETTLE_TRIES = 10,    /* and each time so many ways in which it may come out are looked at */
};

/* Longest first is rarely far from the best. */
struct ranked {
    unsigned number;
    int64_t least;
};

static int longest_first(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->least != y->least)
        return x->least < y->least ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

static void rank(struct ranked *all, size_t n, unsigned *order) {
    qsort(all, n, sizeof *all, longest_first);
    for (size_t i = 0; i < n; i++)
        order[i] = all[i].number;
    free(all);
}

static void by_length(const struct planning *g, unsigned *order) {
    struct ranked *all = xcalloc(g->nodes.len + 1, sizeof *all);
    for (size_t i = 0; i < g->nodes.len; i++)
        all[i] = (struct ranked){(unsigned)i, g->nodes.p[i].pub->least};
    rank(all, g->nodes.len, order);
}

static void shuffle(unsigned *order, size_t n, struct prng *random) {
    for (size_t i = n; i > 1; i--) {
        size_t k = (size_t)prng_range(random, 0, (int64_t)i);
        unsigned swap = order[i - 1];
        order[i - 1] = order[k];
        order[k] = swap;
    }
}

struct candidate {
    unsigned *order;
    bool greedy;
    size_t done;
    int64_t took;
    int64_t least;  /* nobody is faster */
    size_t bounded; /* nodes done when that was computed */
};

/* `equal`: one that takes as long is as good. */
static void consider(struct planning *g, const unsigned *order, bool greedy, bool equal,
                     struct candidate *best) {
    int64_t took = plan_play(g, order, greedy);
    bool better = g->done != best->done ? g->done > best->done : took < best->took + equal;
    if (best->took >= 0 && !better)
        return;
    best->took = took;
    best->done = g->done;
    best->greedy = greedy;
    memcpy(best->order, order, g->nodes.len * sizeof *order);
}

/* No order is better by a thousandth. The bound is of the nodes that get done, which are the same
 * in nearly all orders: it is computed when there are more than before. */
static bool is_best(const struct planning *g, struct candidate *c) {
    if (!c->least || c->bounded != c->done) {
        plan_bounds(g);
        c->least = g->out->bounds[g->out->binds].least;
        c->bounded = c->done;
    }
    return c->done == g->nodes.len && c->took - c->least <= c->least / 1000;
}

/* One node is put elsewhere in the order; or two change places. */
static void disturb(unsigned *order, size_t n, struct prng *random) {
    size_t from = (size_t)prng_range(random, 0, (int64_t)n);
    size_t to = (size_t)prng_range(random, 0, (int64_t)n);
    unsigned moved = order[from];
    if (prng_range(random, 0, 2)) {
        order[from] = order[to];
    } else if (from < to) {
        memmove(order + from, order + from + 1, (to - from) * sizeof *order);
    } else {
        memmove(order + to + 1, order + to, (from - to) * sizeof *order);
    }
    order[to] = moved;
}

/* The nodes as they began in the last play, those that did not last. */
static void as_begun(const struct planning *g, unsigned *order) {
    struct ranked *all = xcalloc(g->nodes.len + 1, sizeof *all);
    for (size_t i = 0; i < g->nodes.len; i++)
        all[i] = (struct ranked){(unsigned)i, -(int64_t)g->nodes.p[i].place};
    rank(all, g->nodes.len, order);
}

/* Of those that take as long the later is kept: so it gets away from where nothing gets better. Who
 * gains nothing by it keeps the order that he has. */
static void improve(struct planning *g, struct candidate *best, unsigned *order, unsigned steps,
                    struct prng *random) {
    size_t n = g->nodes.len;
    struct candidate c = {.order = xmalloc(n * sizeof *c.order), .took = -1};
    unsigned in_vain = 0;
    /* A small change of its order is to be a small change of what it does. */
    plan_play(g, best->order, best->greedy);
    as_begun(g, order);
    consider(g, order, false, true, &c);
    for (unsigned i = 0; i < steps && in_vain < IN_VAIN && !is_best(g, &c); i++) {
        int64_t before = c.took;
        memcpy(order, c.order, n * sizeof *order);
        disturb(order, n, random);
        consider(g, order, false, true, &c);
        in_vain = c.took < before ? 0 : in_vain + 1;
    }
    consider(g, c.order, false, false, best);
    free(c.order);
}

unsigned *plan_order(struct planning *g, bool *greedy) {
    size_t n = g->nodes.len;
    struct candidate best = {.order = xcalloc(n + 1, sizeof *best.order), .took = -1};
    unsigned *order = xcalloc(n + 1, sizeof *order);
    bool given = n < 2 || g->in->opts->in_order || (g->limit >= n && !g->in->opts->max_zones);
    bool few = n <= TRIES_NODES && g->pods.len <= TRIES_PODS;
    unsigned tries = g->in->tries ? g->in->tries : few ? TRIES : 0;
    unsigned steps = few ? MIN_OF(STEPS, (unsigned)(STEPS_PODS / (g->pods.len + 1))) : 0;
    struct prng random = {.state = 1};
    for (size_t i = 0; i < n; i++)
        best.order[i] = order[i] = (unsigned)i;
    best.greedy = !g->in->opts->in_order;
    if (!given)
        consider(g, order, true, false, &best);
    if (!given && !is_best(g, &best)) {
        by_length(g, order);
        consider(g, order, true, false, &best);
        consider(g, order, false, false, &best);
        for (unsigned i = 0; i < tries; i++) {
            shuffle(order, n, &random);
            consider(g, order, false, false, &best);
        }
        if (steps)
            improve(g, &best, order, steps, &random);
    }
    free(order);
    *greedy = best.greedy;
    return best.order;
}

/* --- room --- */

/* Those that did not get through each time last, the surest of them first: they would keep their
 * place, and others would not get theirs. False: that is no other order. */
static bool put_last(const struct planning *g, unsigned *order) {
    struct ranked *all = xcalloc(g->nodes.len + 1, sizeof *all);
    unsigned *before = xmalloc((g->nodes.len + 1) * sizeof *before);
    memcpy(before, order, g->nodes.len * sizeof *order);
    for (size_t i = 0; i < g->nodes.len; i++)
        all[i] = (struct ranked){(unsigned)i, -(int64_t)g->nodes.p[order[i]].tries_stuck};
    rank(all, g->nodes.len, order);
    for (size_t i = 0; i < g->nodes.len; i++)
        order[i] = before[order[i]];
    bool other = memcmp(order, before, g->nodes.len * sizeof *order) != 0;
    free(before);
    return other;
}

static bool all_at_once(const struct planning *g) {
    return g->limit >= g->nodes.len && !g->in->opts->max_zones;
}

void plan_order_settle(struct planning *g, unsigned *order, bool *greedy) {
    size_t n = g->nodes.len, best = 0;
    unsigned tries = MIN_OF(plan_tries(g), (unsigned)SETTLE_TRIES);
    unsigned *kept = xmalloc((n + 1) * sizeof *kept);
    bool other = n > 1 && tries && !g->in->opts->in_order && !all_at_once(g);
    if (other) {
        plan_play(g, order, *greedy);
        as_begun(g, order);
        *greedy = false;
    }
    memcpy(kept, order, n * sizeof *order);
    for (unsigned i = 0; other && i < SETTLES && best < n; i++) {
        size_t sure = plan_chance(g, order, false, tries);
        if (sure > best)
            memcpy(kept, order, n * sizeof *order);
        best = MAX_OF(best, sure);
        other = put_last(g, order);
    }
    memcpy(order, kept, n * sizeof *order);
    free(kept);
}
