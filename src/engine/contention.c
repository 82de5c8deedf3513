/* Which nodes get in each other's way when they are drained at the same time. */
#include "engine/contention.h"

#include <stdlib.h>

#include "base/mem.h"
#include "engine/guard.h"
#include "engine/podrole.h"

/* How many of a budget's disruptions are wanted. */
struct want {
    const struct pdb *pdb;
    unsigned pods;
};

static uint32_t hash_pdb(const struct pdb *pdb) {
    return hash_bytes(&pdb, sizeof pdb);
}

static uint32_t want_hash(const void *entry) {
    return hash_pdb(((const struct want *)entry)->pdb);
}

static bool want_equal(const void *entry, const void *pdb) {
    return ((const struct want *)entry)->pdb == pdb;
}

static const struct htab_ops want_ops = {want_hash, want_equal};

static struct want *want_of(struct htab *wants, const struct pdb *pdb) {
    struct want *w = htab_find(wants, hash_pdb(pdb), pdb);
    if (w)
        return w;
    w = xnew(struct want);
    w->pdb = pdb;
    htab_insert(wants, w);
    return w;
}

static void wants_done(struct htab *wants) {
    void *w;
    for (uint32_t i = 0; (w = htab_next(wants, &i));)
        free(w);
    htab_done(wants);
}

void contention_init(struct contention *c, struct cluster *cluster, struct budget_owners *owners) {
    c->cluster = cluster;
    c->owners = owners;
    htab_init(&c->wants, &want_ops);
}

void contention_done(struct contention *c) {
    wants_done(&c->wants);
}

/* Its pods that a budget is asked for, one after the other; NULL: there are no more. */
static const struct pod *next_asked(struct cluster *cluster, const char *node, size_t *i,
                                    const struct pdb *const **pdbs, size_t *n) {
    size_t len;
    const struct pod *const *list = cluster_pods_on(cluster, node, &len);
    while (*i < len) {
        const struct pod *pod = list[(*i)++];
        if (pod_role(pod) != POD_MOVES || !budget_is_asked(pod))
            continue;
        *pdbs = pdbs_of_pod(cluster->pdbs, pod, n);
        return pod;
    }
    return NULL;
}

static void count(struct cluster *cluster, const char *node, struct htab *wants) {
    const struct pdb *const *pdbs;
    size_t i = 0, n;
    while (next_asked(cluster, node, &i, &pdbs, &n))
        if (n == 1)
            want_of(wants, pdbs[0])->pods++;
}

void contention_add(struct contention *c, const char *node) {
    count(c->cluster, node, &c->wants);
}

static bool is_hopeless(const struct contention *c, const char *node) {
    const struct pdb *const *pdbs;
    const struct pod *pod;
    size_t i = 0, n;
    while ((pod = next_asked(c->cluster, node, &i, &pdbs, &n))) {
        enum budget_verdict v = budget_for_pod(pod, pdbs, n, c->owners);
        if (v == BUDGET_NEVER && guard_of_pod(pod, pdbs, n))
            continue; /* its operator lets go */
        if (v == BUDGET_NEVER || v == BUDGET_MULTIPLE || v == BUDGET_FAILED)
            return true;
    }
    return false;
}

/* Of its disruptions, those that are in use: of pods that went and whose replacements are not ready
 * yet, or of pods that are not well. */
static unsigned in_use(const struct pdb *pdb) {
    int32_t spare = pdb->expected - pdb->desired;
    return spare > pdb->allowed ? (unsigned)(spare - MAX_OF(pdb->allowed, 0)) : 0;
}

unsigned contention_of(const struct contention *c, const char *node, bool evicts) {
    struct htab mine;
    const struct want *m;
    unsigned in_the_way = 0;
    htab_init(&mine, &want_ops);
    count(c->cluster, node, &mine);
    for (uint32_t i = 0; (m = htab_next(&mine, &i));) {
        const struct want *o = htab_find(&c->wants, hash_pdb(m->pdb), m->pdb);
        unsigned allowed = (unsigned)MAX_OF(m->pdb->allowed, 0);
        unsigned taken = o ? o->pods : 0;
        unsigned free_now = allowed > taken ? allowed - taken : 0;
        if ((taken || in_use(m->pdb)) && m->pods > free_now)
            in_the_way += m->pods - free_now;
    }
    wants_done(&mine);
    return in_the_way + (evicts && is_hopeless(c, node) ? CONTENTION_HOPELESS : 0);
}
