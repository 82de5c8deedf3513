/* Topology spread: how pods of a kind are distributed over domains.
 *
 * Which domains there are for a pod depends on which nodes it could use at all. That is worked out
 * in a table of all nodes, which is kept until nodes change, and which all pods share that have the
 * same topology keys, node affinity and tolerations. Clusters have few such sorts of pods. */
#include <math.h>
#include <string.h>

#include "engine/fit_internal.h"

enum {
    TABLES_MAX = 32,
    CELLS_MAX = 4 << 20, /* nodes times constraints, in all tables: 20 MiB */
};

/* For one constraint. Domains are numbered in the order of the nodes. */
struct column {
    struct fit_topo *topo;
    bool by_affinity, by_taints;
    int32_t *domain; /* of each node; -1: it has no such label */
    bool *eligible;  /* each node: pods on it count */
    bool *live;      /* each domain: it has an eligible node */
    uint32_t domains, n_live;
};

/* What decides about nodes; NULL where it does not. */
struct sieve {
    const struct pair *selector;
    const struct node_selector *required;
    const struct toleration *tolerations;
};

struct fit_table {
    struct sieve sieve;
    bool need_all; /* only nodes that have all the keys */
    uint64_t layout, tainted, used;
    struct column *columns;
    size_t n, cells;
};

static void table_free(struct fit *f, struct fit_table *t) {
    for (size_t i = 0; i < t->n; i++) {
        fit_topo_put(f, t->columns[i].topo);
        free(t->columns[i].domain);
        free(t->columns[i].eligible);
        free(t->columns[i].live);
    }
    free(t->columns);
    pool_unref(f->pool, t->sieve.selector);
    pool_unref(f->pool, t->sieve.required);
    pool_unref(f->pool, t->sieve.tolerations);
    free(t);
}

void fit_tables_done(struct fit *f) {
    for (size_t i = 0; i < f->tables.len; i++)
        table_free(f, f->tables.p[i]);
    vec_done(&f->tables);
    f->cells = 0;
}

static struct sieve sieve_of(const struct pod_spec *spec, const fit_constraints *list) {
    struct sieve sieve = {0};
    for (size_t i = 0; i < list->len; i++) {
        if (list->p[i].by_affinity) {
            const struct affinity *a = spec->affinity;
            sieve.selector = spec->node_selector;
            sieve.required = a && a->node ? a->node->required : NULL;
        }
        if (list->p[i].by_taints)
            sieve.tolerations = spec->tolerations;
    }
    return sieve;
}

static bool same_table(const struct fit_table *t, const struct sieve *sieve, bool need_all,
                       const fit_constraints *list) {
    if (t->n != list->len || t->need_all != need_all ||
        memcmp(&t->sieve, sieve, sizeof *sieve) != 0)
        return false;
    for (size_t i = 0; i < t->n; i++) {
        const struct column *col = &t->columns[i];
        const struct fit_constraint *c = &list->p[i];
        if (col->topo != c->topo || col->by_affinity != c->by_affinity ||
            col->by_taints != c->by_taints)
            return false;
    }
    return true;
}

static void number_domains(const struct fit *f, const struct fit_topo *topo, struct column *col) {
    struct fit_counts numbers = {0};
    for (size_t i = 0; i < f->nodes.len; i++) {
        const char *value = fit_topo_value(topo, f->nodes.p[i]);
        col->domain[i] = -1;
        if (!value)
            continue;
        int64_t number = fit_counts_get(&numbers, value);
        if (!number)
            fit_counts_add(&numbers, value, number = ++col->domains);
        col->domain[i] = (int32_t)number - 1;
    }
    fit_counts_done(&numbers);
}

static bool has_all(const fit_constraints *list, const struct fit_node *node) {
    for (size_t i = 0; i < list->len; i++)
        if (!fit_topo_value(list->p[i].topo, node))
            return false;
    return true;
}

/* Decides which nodes count. */
static void sift(const struct fit *f, struct fit_table *t, const struct pod_spec *spec,
                 const fit_constraints *list) {
    for (size_t k = 0; k < f->nodes.len; k++) {
        const struct fit_node *node = f->nodes.p[k];
        if (t->need_all && !has_all(list, node))
            continue;
        bool wanted = fit_node_wanted(spec, node), tolerated = fit_tolerates(spec, node);
        for (size_t i = 0; i < t->n; i++) {
            struct column *col = &t->columns[i];
            if ((col->by_affinity && !wanted) || (col->by_taints && !tolerated) ||
                col->domain[k] < 0)
                continue;
            col->eligible[k] = true;
            if (!col->live[col->domain[k]])
                col->n_live++;
            col->live[col->domain[k]] = true;
        }
    }
}

static struct fit_table *table_new(struct fit *f, const struct sieve *sieve, bool need_all,
                                   const struct pod_spec *spec, const fit_constraints *list) {
    size_t n = f->nodes.len;
    struct fit_table *t = xnew(struct fit_table);
    t->sieve = *sieve;
    pool_ref(sieve->selector);
    pool_ref(sieve->required);
    pool_ref(sieve->tolerations);
    t->need_all = need_all;
    t->layout = f->layout;
    t->tainted = f->tainted;
    t->n = list->len;
    t->columns = xcalloc(t->n, sizeof *t->columns);
    for (size_t i = 0; i < t->n; i++) {
        struct column *col = &t->columns[i];
        col->topo = list->p[i].topo;
        col->topo->refs++;
        col->by_affinity = list->p[i].by_affinity;
        col->by_taints = list->p[i].by_taints;
        col->domain = xcalloc(n + 1, sizeof *col->domain);
        col->eligible = xcalloc(n + 1, sizeof *col->eligible);
        number_domains(f, col->topo, col);
        col->live = xcalloc(col->domains + 1, sizeof *col->live);
    }
    sift(f, t, spec, list);
    return t;
}

/* Taints come and go by the thousand when a drain is played: most tables need not know. */
static bool is_stale(const struct fit *f, const struct fit_table *t) {
    bool by_taints = false;
    for (size_t i = 0; i < t->n; i++)
        by_taints |= t->columns[i].by_taints;
    return t->layout != f->layout || (by_taints && t->tainted != f->tainted);
}

/* The one that was used least lately makes room for a new one; one that nodes have left behind goes
 * first. */
static void make_room(struct fit *f, size_t cells) {
    while (f->tables.len && (f->tables.len >= TABLES_MAX || f->cells + cells > (size_t)CELLS_MAX)) {
        size_t worst = 0;
        for (size_t i = 1; i < f->tables.len; i++) {
            const struct fit_table *t = f->tables.p[i], *w = f->tables.p[worst];
            bool stale = is_stale(f, t), worse = is_stale(f, w);
            if (stale != worse ? stale : t->used < w->used)
                worst = i;
        }
        f->cells -= f->tables.p[worst]->cells;
        table_free(f, f->tables.p[worst]);
        fit_vec_drop(&f->tables, worst);
    }
}

static const struct fit_table *table_get(struct fit *f, const struct fit_cohort *c, bool soft) {
    const fit_constraints *list = soft ? &c->soft : &c->hard;
    const struct pod_spec *spec = fit_spec(c->shape->spec);
    struct sieve sieve = sieve_of(spec, list);
    bool need_all = !soft || !c->soft_default;
    for (size_t i = 0; i < f->tables.len; i++) {
        struct fit_table *t = f->tables.p[i];
        if (!is_stale(f, t) && same_table(t, &sieve, need_all, list)) {
            t->used = ++f->clock;
            return t;
        }
    }
    size_t cells = list->len * f->nodes.len;
    make_room(f, cells);
    struct fit_table *t = table_new(f, &sieve, need_all, spec, list);
    t->used = ++f->clock;
    t->cells = cells;
    f->cells += cells;
    *vec_push(&f->tables) = t;
    return t;
}

/* How many pods that the constraint is about are in each domain. */
static int64_t *domain_counts(const struct column *col, const struct fit_rule *rule,
                              struct arena *arena) {
    int64_t *counts = arena_alloc(arena, (col->domains + 1) * sizeof *counts);
    const struct fit_count *e;
    for (uint32_t i = 0; (e = fit_counts_next(&rule->tallies[0].matched, &i));) {
        uint32_t node = ((const struct fit_node *)e->key)->index;
        if (col->eligible[node])
            counts[col->domain[node]] += e->n;
    }
    return counts;
}

/* --- fitting --- */

void fit_ask_spread(struct fit *f, struct fit_ask *ask) {
    const struct fit_cohort *c = ask->cohort;
    if (!c->hard.len)
        return;
    ask->table = table_get(f, c, false);
    struct fit_sum *sums = arena_alloc(&ask->arena, c->hard.len * sizeof *sums);
    for (size_t i = 0; i < c->hard.len; i++) {
        const struct column *col = &ask->table->columns[i];
        int64_t *counts = domain_counts(col, c->hard.p[i].rule, &ask->arena), min = INT32_MAX;
        for (uint32_t k = 0; k < col->domains; k++)
            if (col->live[k] && counts[k] < min)
                min = counts[k];
        /* Too few domains: more are expected, and those are empty. */
        if ((int64_t)col->n_live < c->hard.p[i].min_domains)
            min = 0;
        sums[i] = (struct fit_sum){&c->hard.p[i], counts, min};
    }
    ask->sums = sums;
}

bool fit_check_spread(struct fit_ask *ask, const struct fit_node *node) {
    for (size_t i = 0; i < ask->cohort->hard.len; i++) {
        const struct fit_sum *s = &ask->sums[i];
        int32_t domain = ask->table->columns[i].domain[node->index];
        if (domain < 0)
            return fit_no(ask, FIT_SPREAD_LABEL, NULL);
        if (s->counts[domain] + s->constraint->self - s->min > s->constraint->max_skew)
            return fit_no(ask, FIT_SPREAD, NULL);
    }
    return true;
}

/* --- scores --- */

/* How many domains the nodes that fit are in; no label at all is a domain here. */
static size_t domains_found(const struct fit *f, const struct column *col, const bool *ignored,
                            struct arena *arena) {
    bool *seen = arena_alloc(arena, (col->domains + 1) * sizeof *seen);
    size_t n = 0;
    for (size_t i = 0; i < f->found.len; i++) {
        bool *s = &seen[col->domain[f->found.p[i]->index] + 1];
        if (ignored[i] || *s)
            continue;
        *s = true;
        n++;
    }
    return n;
}

/* The more pods of the kind are in the node's domains, the larger; small domains weigh less. */
bool fit_score_spread(struct fit *f, struct fit_ask *ask, int64_t *scores, bool *ignored) {
    const struct fit_cohort *c = ask->cohort;
    size_t n = f->found.len, n_ignored = 0;
    if (!c->soft.len)
        return false;
    const struct fit_table *t = table_get(f, c, true);
    double *sums = arena_alloc(&ask->arena, n * sizeof *sums);
    for (size_t i = 0; i < n; i++) {
        ignored[i] = !c->soft_default && !has_all(&c->soft, f->found.p[i]);
        n_ignored += ignored[i];
    }
    for (size_t k = 0; k < c->soft.len; k++) {
        const struct fit_constraint *s = &c->soft.p[k];
        const struct column *col = &t->columns[k];
        bool by_node = s->topo->key == f->hostname;
        const int64_t *counts = domain_counts(col, s->rule, &ask->arena);
        size_t size = by_node ? n - n_ignored : domains_found(f, col, ignored, &ask->arena);
        double weight = log((double)(size + 2));
        for (size_t i = 0; i < n; i++) {
            const struct fit_node *node = f->found.p[i];
            int32_t domain = col->domain[node->index];
            if (ignored[i] || domain < 0)
                continue;
            int64_t pods =
                by_node ? fit_counts_get(&s->rule->tallies[0].matched, node) : counts[domain];
            sums[i] += (double)pods * weight + (s->max_skew - 1);
        }
    }
    for (size_t i = 0; i < n; i++)
        scores[i] = (int64_t)round(sums[i]);
    return true;
}
