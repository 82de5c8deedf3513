/* The shortest time in which the whole could be done, whoever does it: with pods that take as long
 * as they are said to. Of that little is known, so the bound is no promise; what is certain,
 * whatever pods do, is kept apart. */
#include <stdlib.h>

#include "engine/plan_internal.h"

/* What evictions under one budget need at least: each of them has one of the budget's disruptions
 * until its replacement is ready; the last ones need not be waited for, but have to stop. */
struct load {
    int64_t held; /* sum of those times */
    int64_t stop; /* the shortest */
    VEC(int64_t) times;
};

static int64_t holds(const struct ppod *p) {
    return p->back == BACK_WHEN_GONE ? p->d.stop + p->d.start : p->d.start;
}

/* It goes, not past its budget, and from a node that gets done: what is never over has no time. */
static bool counts(const struct planning *g, const struct ppod *p) {
    return !p->unsure && p->leaves_at < 0 && p->delete_at < 0 && !p->surges &&
           g->nodes.p[p->node].ends != PLAN_NO_TIME;
}

static void load_add(struct load *l, const struct ppod *p) {
    l->stop = l->times.len ? MIN_OF(l->stop, p->d.stop) : p->d.stop;
    l->held += holds(p);
    *vec_push(&l->times) = holds(p);
}

static int descending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

static int64_t load_least(struct load *l, int32_t cap) {
    int64_t held = l->held;
    if (!l->times.len)
        return 0;
    qsort(l->times.p, l->times.len, sizeof *l->times.p, descending);
    for (size_t i = 0; i < l->times.len && i < (size_t)cap; i++)
        held -= l->times.p[i];
    return held / cap + l->stop;
}

/* Of the evictions among these pods under one budget. */
static int64_t least_of(const struct planning *g, const unsigned *pods, size_t n, int budget,
                        const int32_t *order, size_t *counted) {
    struct load l = {.times = VEC_INIT};
    for (size_t i = 0; i < n; i++) {
        const struct ppod *p = &g->pods.p[pods[i]];
        if (p->budget == budget && counts(g, p) && (!order || p->order == *order))
            load_add(&l, p);
    }
    int64_t least = load_least(&l, g->budgets.p[budget]->cap);
    *counted = l.times.len;
    vec_done(&l.times);
    return least;
}

static bool seen_before(const struct planning *g, const struct pnode *n, size_t k) {
    for (size_t i = 0; i < k; i++)
        if (g->pods.p[n->pods.p[i]].budget == g->pods.p[n->pods.p[k]].budget)
            return true;
    return false;
}

/* How long so many evictions take at the rate, when all that may come at once do. */
static int64_t rated(const struct planning *g, size_t n) {
    double rate = g->in->opts->rate, burst = MAX_OF(rate, 1.0);
    return rate <= 0 || (double)n <= burst ? 0
                                           : (int64_t)(((double)n - burst) / rate * USEC_PER_SEC);
}

/* What the pods of one node need from when the first may go. */
struct need {
    int64_t time;
    int64_t rated;      /* the same with the rate of evictions */
    const char *budget; /* that it is because of; NULL: none */
};

/* Those of one order, or (NULL) all of them. Those that terminate already are not asked to go. */
static struct need need_of(const struct planning *g, const struct pnode *n, const int32_t *order) {
    int64_t shortest = INT64_MAX;
    struct need need = {0};
    size_t asked = 0, pods;
    for (size_t k = 0; k < n->own; k++) {
        const struct ppod *p = &g->pods.p[n->pods.p[k]];
        if (p->unsure || p->leaves_at >= 0 || (order && p->order != *order))
            continue;
        asked++;
        shortest = MIN_OF(shortest, p->d.stop);
        if (p->d.stop >= need.time)
            need = (struct need){.time = p->d.stop};
        if (p->budget < 0 || seen_before(g, n, k))
            continue;
        int64_t here = least_of(g, n->pods.p, n->own, p->budget, order, &pods);
        if (here > need.time)
            need = (struct need){.time = here, .budget = g->budgets.p[p->budget]->name};
    }
    need.rated = asked ? MAX_OF(need.time, rated(g, asked) + shortest) : 0;
    return need;
}

static int compare_orders(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* One order of pods after the other. */
static struct need need_in_turns(const struct planning *g, const struct pnode *n) {
    struct need sum = {0};
    int32_t *orders = xcalloc(n->own + 1, sizeof *orders);
    for (size_t k = 0; k < n->own; k++)
        orders[k] = g->pods.p[n->pods.p[k]].order;
    qsort(orders, n->own, sizeof *orders, compare_orders);
    for (size_t k = 0; k < n->own; k++) {
        if (k && orders[k] == orders[k - 1])
            continue;
        struct need one = need_of(g, n, &orders[k]);
        sum.time += one.time;
        sum.rated += one.rated;
    }
    free(orders);
    return sum;
}

static bool has_orders(const struct planning *g, const struct pnode *n) {
    for (size_t k = 1; k < n->own; k++)
        if (g->pods.p[n->pods.p[k]].order != g->pods.p[n->pods.p[0]].order)
            return true;
    return false;
}

/* How long it is out of service at least, whenever it begins and with nobody else in the way. */
static struct need need_out(const struct planning *g, const struct pnode *n) {
    struct need whole = need_of(g, n, NULL);
    if (!has_orders(g, n))
        return whole;
    struct need turns = need_in_turns(g, n);
    turns.rated = MAX_OF(turns.rated, whole.rated);
    whole.rated = turns.rated;
    return turns.time > whole.time ? turns : whole;
}

/* Those that terminate already may stop at any moment: they keep nobody for certain. */
void plan_least(const struct planning *g, struct pnode *n) {
    struct need need = need_out(g, n);
    n->pub->least = need.time; /* the rate has its own term */
    n->least_out = need.rated;
    n->least_why = need.budget;
}

/* --- the terms --- */

static void set(const struct planning *g, enum plan_term term, int64_t least, const char *object,
                const char *message) {
    g->out->bounds[term] = (struct plan_bound){least, object, message};
}

static void by_nodes(const struct planning *g) {
    int64_t most = -1, sum = 0;
    const struct pnode *longest = NULL;
    size_t n = 0;
    for (size_t i = 0; i < g->nodes.len; i++) {
        const struct pnode *p = &g->nodes.p[i];
        if (p->ends == PLAN_NO_TIME)
            continue;
        n++;
        sum += p->least_out;
        if (p->pub->least > most) {
            most = p->pub->least;
            longest = p;
        }
    }
    if (!longest)
        return;
    char one[TIMEFMT_LEN];
    const char *budget = longest->least_why;
    set(g, TERM_NODE, most, longest->pub->name,
        arena_printf(g->arena, "node %s alone takes %s%s%s", longest->pub->name,
                     duration_format_limit(most, one), budget ? " under budget " : "",
                     budget ? budget : ""));
    if (!g->limit || g->limit >= n)
        return;
    set(g, TERM_SLOTS, sum / g->limit, "",
        arena_printf(g->arena, "%zu nodes, %u at a time, %s each on average", n, g->limit,
                     duration_format_limit(sum / (int64_t)n, one)));
}

/* How long nodes of this zone are out at least, and how many. */
static int64_t zone_least(const struct planning *g, unsigned zone, size_t *nodes) {
    int64_t most = 0, sum = 0;
    *nodes = 0;
    for (size_t i = 0; i < g->nodes.len; i++) {
        const struct pnode *n = &g->nodes.p[i];
        if (n->zone != zone || n->ends == PLAN_NO_TIME)
            continue;
        ++*nodes;
        sum += n->least_out;
        most = MAX_OF(most, n->least_out);
    }
    return g->limit ? MAX_OF(most, sum / g->limit) : most;
}

/* While a node is out its zone is; only so many zones are at the same time. */
static void by_zones(const struct planning *g) {
    unsigned max = g->in->opts->max_zones, zones = 0;
    int64_t sum = 0;
    size_t nodes;
    char one[TIMEFMT_LEN];
    for (unsigned z = 0; max && z < g->zones; z++) {
        sum += zone_least(g, z, &nodes);
        zones += nodes > 0;
    }
    if (!max || zones <= max)
        return;
    set(g, TERM_ZONES, sum / max, "",
        arena_printf(g->arena, "nodes of %u zones, %u zone%s at a time, %s each on average", zones,
                     max, max == 1 ? "" : "s", duration_format_limit(sum / zones, one)));
}

static void by_budgets(const struct planning *g) {
    const struct pbudget *worst = NULL;
    int64_t most = 0;
    size_t pods = 0;
    for (size_t i = 0; i < g->budgets.len; i++) {
        const struct pbudget *b = g->budgets.p[i];
        size_t counted;
        int64_t least = least_of(g, b->all.p, b->all.len, (int)i, NULL, &counted);
        if (least <= most)
            continue;
        most = least;
        worst = b;
        pods = counted;
    }
    if (worst)
        set(g, TERM_BUDGET, most, worst->name,
            arena_printf(g->arena, "budget %s: %zu pod%s, %d at a time", worst->name, pods,
                         pods == 1 ? "" : "s", worst->cap));
}

static void by_rate(const struct planning *g) {
    double rate = g->in->opts->rate;
    size_t n = 0;
    int64_t stop = INT64_MAX;
    for (size_t i = 0; i < g->own_pods; i++) {
        const struct ppod *p = &g->pods.p[i];
        if (p->unsure || p->leaves_at >= 0 || g->nodes.p[p->node].ends == PLAN_NO_TIME)
            continue;
        n++;
        stop = MIN_OF(stop, p->d.stop);
    }
    g->out->certain = rated(g, n);
    if (!rated(g, n))
        return;
    set(g, TERM_RATE, rated(g, n) + stop, "",
        arena_printf(g->arena, "%zu evictions, %g a second", n, rate));
}

void plan_bounds(const struct planning *g) {
    for (int i = 0; i < PLAN_TERMS; i++)
        set(g, (enum plan_term)i, 0, "", "");
    g->out->binds = TERM_NODE;
    by_nodes(g);
    by_zones(g);
    by_budgets(g);
    by_rate(g);
    for (int i = 0; i < PLAN_TERMS; i++)
        if (g->out->bounds[i].least > g->out->bounds[g->out->binds].least)
            g->out->binds = (enum plan_term)i;
}
