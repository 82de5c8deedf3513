/* Pod affinity and anti-affinity, in both directions: what the pod wants near itself or far away,
 * and what pods that are there already want of it. */
#include "engine/fit_internal.h"

static bool empty(const struct fit_rule *r) {
    for (uint32_t i = 0; i < r->n_tallies; i++)
        if (r->tallies[i].matched.len)
            return false;
    return true;
}

/* One and the same pod must meet all terms, but the terms' domains may differ. The first pod of a
 * series that wants to be near its own kind would wait for ever; it may go to any node that has the
 * topology keys. */
static bool near_all(const struct fit_cohort *c, const struct fit_node *node) {
    const struct fit_rule *r = c->all;
    bool there = true;
    for (uint32_t i = 0; i < r->n_tallies; i++) {
        const char *where = fit_topo_value(r->tallies[i].topo, node);
        if (!where)
            return false;
        if (fit_counts_get(&r->tallies[i].matched, where) <= 0)
            there = false;
    }
    return there || (empty(r) && c->all_self);
}

static int64_t matched(const struct fit_rule *r, const struct fit_node *node) {
    const char *where = fit_topo_value(r->tallies[0].topo, node);
    return where ? fit_counts_get(&r->tallies[0].matched, where) : 0;
}

static int64_t held(const struct fit_rule *r, const struct fit_node *node) {
    const char *where = fit_topo_value(r->tallies[0].topo, node);
    return where ? fit_counts_get(&r->held, where) : 0;
}

bool fit_check_affinity(struct fit_ask *ask, const struct fit_node *node) {
    const struct fit_cohort *c = ask->cohort;
    if (c->all && !near_all(c, node))
        return fit_no(ask, FIT_AFFINITY, NULL);
    for (size_t i = 0; i < c->held.len; i++)
        if (c->held.p[i]->key.role == FIT_ROLE_ANTI && matched(c->held.p[i], node) > 0)
            return fit_no(ask, FIT_ANTI_AFFINITY, NULL);
    for (size_t i = 0; i < c->group->links.len; i++) {
        const struct fit_link *l = &c->group->links.p[i];
        if (l->reverse && l->rule->key.role == FIT_ROLE_ANTI && held(l->rule, node) > 0)
            return fit_no(ask, FIT_ANTI_AFFINITY_OF_OTHERS, NULL);
    }
    return true;
}

static int64_t weight(const struct fit_rule *r) {
    return r->key.role == FIT_ROLE_AVOID ? -(int64_t)r->weight : r->weight;
}

/* Preferences count both ways. Pods that require to be near such a pod count a little as well; that
 * they forbid it was a question of fitting. */
int64_t fit_score_affinity(const struct fit_cohort *c, const struct fit_node *node) {
    int64_t sum = 0;
    for (size_t i = 0; i < c->held.len; i++) {
        const struct fit_rule *r = c->held.p[i];
        if (r->key.role == FIT_ROLE_PREFER || r->key.role == FIT_ROLE_AVOID)
            sum += weight(r) * matched(r, node);
    }
    for (size_t i = 0; i < c->group->links.len; i++) {
        const struct fit_link *l = &c->group->links.p[i];
        if (l->reverse && l->rule->key.role != FIT_ROLE_ANTI)
            sum += weight(l->rule) * held(l->rule, node);
    }
    return sum;
}
