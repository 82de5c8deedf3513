/* Which PodDisruptionBudgets hold which pods. */
#include "model/pdbs.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "model/selector.h"

enum { GROUPS_SPARE = 64 }; /* groups without pods that are not worth a look */

/* A namespace and label set, and the PDBs that select it. */
struct group {
    struct store_key key; /* references of ours to both */
    VEC(const struct pdb *) budgets;
};

struct pdbs {
    struct store *pods, *budgets;
    unsigned by_labels, by_space; /* indexes: of the pods, of the budgets */
    struct htab groups;           /* what was matched; emptied when a selector changes */
};

static uint32_t group_hash(const void *entry) {
    const struct group *g = entry;
    return hash_bytes(&g->key, sizeof g->key);
}

static bool group_equal(const void *entry, const void *key_) {
    const struct group *g = entry;
    const struct store_key *key = key_;
    return g->key.a == key->a && g->key.b == key->b;
}

static const struct htab_ops group_ops = {group_hash, group_equal};

static void forget(struct pdbs *p) {
    struct group *g;
    for (uint32_t i = 0; (g = htab_next(&p->groups, &i));) {
        pool_unref(store_pool(p->pods), g->key.a);
        pool_unref(store_pool(p->pods), g->key.b);
        vec_done(&g->budgets);
        free(g);
    }
    htab_done(&p->groups);
}

static void budget_changed(void *arg, const struct object *before, const struct object *after) {
    struct pdbs *p = arg;
    const struct pdb *old = (const struct pdb *)before, *new = (const struct pdb *)after;
    /* Mostly it is only the status: the selector, one pool entry, is the same, and so is what it
     * matches. */
    if (!old || !new || old->selector != new->selector) {
        forget(p);
        return;
    }
    struct group *g;
    for (uint32_t i = 0; (g = htab_next(&p->groups, &i));)
        for (size_t k = 0; k < g->budgets.len; k++)
            if (g->budgets.p[k] == old)
                g->budgets.p[k] = new;
}

/* Label sets come and go (those of Jobs are unique): what no pod has any more must not pile up. */
static void pod_changed(void *arg, const struct object *before, const struct object *after) {
    struct pdbs *p = arg;
    (void)before;
    (void)after;
    if (p->groups.len > 2 * store_len(p->pods) + GROUPS_SPARE)
        forget(p);
}

static struct store_key key_space(const struct object *obj) {
    return (struct store_key){obj->meta.ns, NULL};
}

struct pdbs *pdbs_new(struct store *pods, struct store *budgets) {
    struct pdbs *p = xnew(struct pdbs);
    p->pods = pods;
    p->budgets = budgets;
    p->by_labels = store_index(pods, store_key_labels);
    p->by_space = store_index(budgets, key_space);
    htab_init(&p->groups, &group_ops);
    store_listen(budgets, budget_changed, p);
    store_listen(pods, pod_changed, p);
    return p;
}

void pdbs_free(struct pdbs *p) {
    if (!p)
        return;
    forget(p);
    free(p);
}

static int compare_budgets(const void *a, const void *b) {
    const struct pdb *x = *(const struct pdb *const *)a, *y = *(const struct pdb *const *)b;
    return strcmp(x->meta.name, y->meta.name);
}

static struct group *group_of(struct pdbs *p, struct store_key key) {
    struct group *g = htab_find(&p->groups, hash_bytes(&key, sizeof key), &key);
    if (g)
        return g;
    g = xnew(struct group);
    g->key = (struct store_key){pool_ref(key.a), pool_ref(key.b)};
    size_t n;
    const char *ns = strna(key.a);
    const void *space = pool_str(store_pool(p->budgets), ns, strlen(ns));
    const struct object *const *list =
        store_find(p->budgets, p->by_space, (struct store_key){space, NULL}, &n);
    for (size_t i = 0; i < n; i++) {
        const struct pdb *pdb = (const struct pdb *)list[i];
        if (pdb->selector && selector_match(pdb->selector, key.b))
            *vec_push(&g->budgets) = pdb;
    }
    pool_unref(store_pool(p->budgets), space);
    if (g->budgets.len)
        qsort(g->budgets.p, g->budgets.len, sizeof g->budgets.p[0], compare_budgets);
    htab_insert(&p->groups, g);
    return g;
}

const struct pdb *const *pdbs_of_pod(struct pdbs *p, const struct pod *pod, size_t *n) {
    const struct group *g = group_of(p, store_key_labels((const struct object *)pod));
    *n = g->budgets.len;
    return g->budgets.p;
}

static int compare_pods(const void *a, const void *b) {
    const struct pod *x = *(const struct pod *const *)a, *y = *(const struct pod *const *)b;
    return strcmp(x->meta.name, y->meta.name);
}

const struct pod **pdbs_pods(struct pdbs *p, const struct pdb *pdb, size_t *n) {
    VEC(const struct pod *) found = VEC_INIT;
    struct store_key key;
    for (uint32_t i = 0; store_next_key(p->pods, p->by_labels, &i, &key);) {
        if (!str_same(key.a, pdb->meta.ns) || !pdb->selector ||
            !selector_match(pdb->selector, key.b))
            continue;
        size_t len;
        const struct object *const *pods = store_find(p->pods, p->by_labels, key, &len);
        for (size_t k = 0; k < len; k++)
            *vec_push(&found) = (const struct pod *)pods[k];
    }
    if (found.len)
        qsort(found.p, found.len, sizeof found.p[0], compare_pods);
    *n = found.len;
    return found.p ? found.p : xcalloc(1, sizeof *found.p);
}
