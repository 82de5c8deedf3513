/* The picture of the cluster. */
#include "engine/cluster.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "model/selector.h"

enum {
    PEERS_MAX = 8,   /* budgets whose pods are watched: each is a stream of its own */
    PEERS_IDLE = 60, /* seconds that they are kept when nobody wants them */
};

struct lookup_key {
    const struct kind *kind;
    const char *ns, *name;
};

static uint32_t key_hash(const struct lookup_key *k) {
    uint32_t h = hash_bytes(k->kind->resource, strlen(k->kind->resource));
    h = hash_more(h, k->name, strlen(k->name));
    return hash_more(h, strna(k->ns), strlen(strna(k->ns)));
}

static uint32_t lookup_hash(const void *entry) {
    const struct lookup *l = entry;
    return key_hash(&(struct lookup_key){l->kind, l->ns, l->name});
}

static bool lookup_equal(const void *entry, const void *key_) {
    const struct lookup *l = entry;
    const struct lookup_key *key = key_;
    return l->kind == key->kind && streq(l->name, key->name) && str_same(l->ns, key->ns);
}

static uint32_t hash_action(uint64_t action) {
    return hash_bytes(&action, sizeof action);
}

static uint32_t read_hash(const void *entry) {
    return hash_action(((const struct lookup *)entry)->action);
}

static bool read_equal(const void *entry, const void *action) {
    return ((const struct lookup *)entry)->action == *(const uint64_t *)action;
}

static const struct htab_ops lookup_ops = {lookup_hash, lookup_equal};
static const struct htab_ops read_ops = {read_hash, read_equal};

void cluster_init(struct cluster *c, struct pool *pool) {
    *c = (struct cluster){.pool = pool, .budgets_known = true, .attachments_known = true};
    c->nodes = store_new(&kind_node, pool);
    c->pods = store_new(&kind_pod, pool);
    c->budgets = store_new(&kind_pdb, pool);
    c->attachments = store_new(&kind_volume_attachment, pool);
    c->replica_sets = store_new(&kind_replica_set, pool);
    c->stateful_sets = store_new(&kind_stateful_set, pool);
    c->deployments = store_new(&kind_deployment, pool);
    c->pods_by_node = store_index(c->pods, store_key_node);
    c->pdbs = pdbs_new(c->pods, c->budgets);
    c->attachments_by_node = store_index(c->attachments, store_key_attached);
    htab_init(&c->lookups, &lookup_ops);
    htab_init(&c->reads, &read_ops);
}

static void lookup_free(struct cluster *c, struct lookup *l) {
    object_free(l->kind, c->pool, l->obj);
    free(l->ns);
    free(l->name);
    free(l->why);
    free(l);
}

static void peers_free(struct peers *p) {
    store_free(p->pods);
    free(p->ns);
    free(p->name);
    free(p->uid);
    free(p->selector);
    free(p);
}

void cluster_forget(struct cluster *c) {
    void *l;
    for (uint32_t i = 0; (l = htab_next(&c->lookups, &i));)
        lookup_free(c, l);
    htab_done(&c->lookups);
    htab_done(&c->reads);
    vec_done(&c->wanted);
    c->wanted_from = 0;
    c->misses = 0;
    c->troubled = NULL;
}

void cluster_done(struct cluster *c) {
    struct store *stores[] = {c->nodes,        c->pods,          c->budgets,    c->attachments,
                              c->replica_sets, c->stateful_sets, c->deployments};
    cluster_forget(c);
    for (size_t i = 0; i < c->peers.len; i++)
        peers_free(c->peers.p[i]);
    vec_done(&c->peers);
    pdbs_free(c->pdbs);
    for (size_t i = 0; i < ARRAY_LEN(stores); i++)
        store_free(stores[i]);
}

/* --- single objects --- */

static struct store *watched(const struct cluster *c, const struct kind *kind) {
    if (kind == &kind_daemon_set)
        return c->daemon_sets;
    if (!c->owners_watched)
        return NULL;
    return kind == &kind_replica_set    ? c->replica_sets
           : kind == &kind_stateful_set ? c->stateful_sets
           : kind == &kind_deployment   ? c->deployments
                                        : NULL;
}

void cluster_want(struct cluster *c, struct lookup *l) {
    if (l->wanted || l->action)
        return;
    l->wanted = true;
    *vec_push(&c->wanted) = l;
}

static struct lookup *find(struct cluster *c, const struct kind *kind, const char *ns,
                           const char *name) {
    struct lookup_key key = {kind, ns, name};
    struct lookup *l = htab_find(&c->lookups, key_hash(&key), &key);
    if (l)
        return l;
    l = xnew(struct lookup);
    l->kind = kind;
    l->ns = ns ? xstrdup(ns) : NULL;
    l->name = xstrdup(name);
    l->known = KNOWN_NOT_YET;
    htab_insert(&c->lookups, l);
    return l;
}

static void set_object(struct cluster *c, struct lookup *l, const struct object *obj) {
    struct object *old = l->obj;
    l->obj = obj ? object_copy(l->kind, obj) : NULL;
    object_free(l->kind, c->pool, old);
}

static int by_name(const struct lookup *a, const struct lookup *b) {
    int c = strcmp(a->kind->resource, b->kind->resource);
    if (!c)
        c = strcmp(strna(a->ns), strna(b->ns));
    return c ? c : strcmp(a->name, b->name);
}

const struct lookup *cluster_look(struct cluster *c, const struct kind *kind, const char *ns,
                                  const char *name) {
    struct lookup *l = find(c, kind, ns, name);
    struct store *store = watched(c, kind);
    if (store) {
        const struct object *obj = store_get(store, ns, name);
        /* The same object is not copied again. */
        if (!obj || !l->obj || !str_same(obj->meta.version, l->obj->meta.version))
            set_object(c, l, obj);
        l->known = obj ? KNOWN_THERE : KNOWN_GONE;
    } else if (l->known == KNOWN_NOT_YET) {
        c->misses++;
        if (l->failures && (!c->troubled || by_name(l, c->troubled) < 0))
            c->troubled = l;
        cluster_want(c, l);
    }
    return l;
}

void cluster_refresh(struct cluster *c, const struct kind *kind, const char *ns, const char *name) {
    if (!watched(c, kind))
        cluster_want(c, find(c, kind, ns, name));
}

const struct object *cluster_peek(const struct cluster *c, const struct kind *kind, const char *ns,
                                  const char *name) {
    const struct store *store = watched(c, kind);
    if (store)
        return store_get(store, ns, name);
    struct lookup_key key = {kind, ns, name};
    const struct lookup *l = htab_find(&c->lookups, key_hash(&key), &key);
    return l ? l->obj : NULL;
}

struct lookup *cluster_next_wanted(struct cluster *c) {
    if (c->wanted_from == c->wanted.len) {
        c->wanted_from = c->wanted.len = 0;
        return NULL;
    }
    struct lookup *l = c->wanted.p[c->wanted_from++];
    l->wanted = false;
    return l;
}

void cluster_reading(struct cluster *c, struct lookup *l, uint64_t action) {
    l->action = action;
    htab_insert(&c->reads, l);
}

struct lookup *cluster_read_of(const struct cluster *c, uint64_t action) {
    return htab_find(&c->reads, hash_action(action), &action);
}

bool cluster_read_done(struct cluster *c, uint64_t action, enum kube_outcome outcome,
                       const char *message, const struct object *obj) {
    struct lookup *l = htab_remove(&c->reads, hash_action(action), &action);
    if (!l)
        return false;
    l->action = 0;
    if (outcome == KUBE_OK && obj) {
        l->known = KNOWN_THERE;
        set_object(c, l, obj);
    } else if (outcome == KUBE_NOT_FOUND) {
        l->known = KNOWN_GONE;
        set_object(c, l, NULL);
    } else if (!kube_outcome_row(outcome)->retry) {
        l->known = KNOWN_NEVER;
    } /* else what is known stays known, and the rest is asked for again */
    str_replace(&l->why, message);
    return true;
}

/* --- the pods of a budget --- */

/* As after -l, or NULL for a selector that cannot be written so. */
static char *selector_text(const struct label_selector *sel) {
    _cleanup_str_ struct str text = STR_INIT;
    _cleanup_str_ struct str exprs = STR_INIT;
    if (!sel || selector_check(sel, NULL))
        return NULL;
    for (size_t i = 0; i < list_len(sel->labels); i++)
        str_addf(&text, "%s%s=%s", i ? "," : "", sel->labels[i].key, strna(sel->labels[i].value));
    requirements_print(&exprs, sel->exprs);
    str_addf(&text, "%s%s", text.len && exprs.len ? "," : "", str_get(&exprs));
    return str_take(&text);
}

static struct peers *find_peers(struct cluster *c, const struct pdb *pdb) {
    for (size_t i = 0; i < c->peers.len; i++)
        if (str_same(c->peers.p[i]->uid, pdb->meta.uid))
            return c->peers.p[i];
    char *selector = c->peers.len < PEERS_MAX ? selector_text(pdb->selector) : NULL;
    if (!selector)
        return NULL;
    struct peers *p = xnew(struct peers);
    p->ns = xstrdup(strna(pdb->meta.ns));
    p->name = xstrdup(pdb->meta.name);
    p->uid = xstrdup(strna(pdb->meta.uid));
    p->selector = selector;
    p->pods = store_new(&kind_pod, c->pool);
    *vec_push(&c->peers) = p;
    return p;
}

const struct pod **cluster_peers(struct cluster *c, const struct pdb *pdb, int64_t now, size_t *n) {
    *n = 0;
    if (c->all_pods)
        return pdbs_pods(c->pdbs, pdb, n);
    struct peers *p = find_peers(c, pdb);
    if (p)
        p->asked = now;
    if (!p || !store_synced(p->pods))
        return NULL;
    return (const struct pod **)store_sorted(p->pods, n);
}

struct peers *cluster_next_peers(struct cluster *c) {
    for (size_t i = 0; i < c->peers.len; i++)
        if (!c->peers.p[i]->started)
            return c->peers.p[i];
    return NULL;
}

struct peers *cluster_idle_peers(struct cluster *c, int64_t now) {
    for (size_t i = 0; i < c->peers.len; i++) {
        struct peers *p = c->peers.p[i];
        const struct pdb *pdb = (const struct pdb *)store_get(c->budgets, p->ns, p->name);
        bool same = pdb && str_same(pdb->meta.uid, p->uid);
        if (p->started && (!same || now - p->asked > SEC(PEERS_IDLE)))
            return p;
    }
    return NULL;
}

void cluster_drop_peers(struct cluster *c, struct peers *p) {
    for (size_t i = 0; i < c->peers.len; i++)
        if (c->peers.p[i] == p)
            c->peers.p[i] = c->peers.p[--c->peers.len];
    peers_free(p);
}

/* --- shorthands --- */

static const struct object *const *of_node(const struct cluster *c, const struct store *store,
                                           unsigned index, const char *node, size_t *n) {
    /* Index keys are addresses of pool entries: a name that no object has is in no pool. */
    const char *key = pool_str(c->pool, node, strlen(node));
    const struct object *const *found = store_find(store, index, (struct store_key){key, NULL}, n);
    pool_unref(c->pool, key);
    return found;
}

const struct pod *const *cluster_pods_on(const struct cluster *c, const char *node, size_t *n) {
    return (const struct pod *const *)of_node(c, c->pods, c->pods_by_node, node, n);
}

const struct volume_attachment *const *cluster_attached_to(const struct cluster *c,
                                                           const char *node, size_t *n) {
    return (const struct volume_attachment *const *)of_node(c, c->attachments,
                                                            c->attachments_by_node, node, n);
}

const struct node *cluster_node(const struct cluster *c, const char *name) {
    return (const struct node *)store_get(c->nodes, NULL, name);
}
