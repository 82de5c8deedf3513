/* The picture of the cluster that questions of fit are asked against: nodes, pods, namespaces. */
#include "engine/fit.h"

#include <assert.h>
#include <string.h>

#include "engine/fit_internal.h"
#include "engine/next_mark.h"
#include "engine/podrole.h"

/* --- hashing --- */

struct name {
    const char *ns, *name;
    uint32_t hash; /* of a pod: most that are met on the way to it need no further look */
};

uint32_t fit_hash_name(const struct fit *f, const char *ns, const char *name) {
    uint32_t h = hash_more(f->seed, strna(name), strlen(strna(name)));
    return ns && *ns ? hash_more(h, ns, strlen(ns)) : h;
}

static uint32_t node_hash(const void *entry) {
    return ((const struct fit_node *)entry)->hash;
}

static bool node_equal(const void *entry, const void *key) {
    return str_same(((const struct fit_node *)entry)->meta.name, key);
}

static uint32_t pod_hash(const void *entry) {
    return ((const struct fit_pod *)entry)->hash;
}

static bool pod_equal(const void *entry, const void *key_) {
    const struct fit_pod *p = entry;
    const struct name *key = key_;
    return p->hash == key->hash && str_same(p->name, key->name) && str_same(p->ns, key->ns);
}

static const struct htab_ops node_ops = {node_hash, node_equal};
static const struct htab_ops pod_ops = {pod_hash, pod_equal};

/* Names of nodes in pods are mostly the entry of the pool that the node's own is. */
static struct fit_node **node_near(struct fit *f, const char *name) {
    return &f->near[((uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15)) >> 40 & (FIT_NEAR - 1)];
}

struct fit_node *fit_node_find(struct fit *f, const char *name) {
    struct fit_node **near = node_near(f, name);
    if (*near && (*near)->meta.name == name)
        return *near;
    struct fit_node *n = htab_find(&f->names, fit_hash_name(f, NULL, name), strna(name));
    if (n && n->meta.name == name)
        *near = n;
    return n;
}

static struct fit_pod *pod_find(const struct fit *f, const char *ns, const char *name) {
    struct name key = {ns, name, fit_hash_name(f, ns, name)};
    return htab_find(&f->pods, key.hash, &key);
}

/* --- where pods are --- */

/* What others can see of a pod: only where its node is known, as in the real scheduler, whose
 * picture has no nodes without an object. */
static void count(struct fit *f, struct fit_pod *p, int sign) {
    fit_rules_count(p, sign);
    fit_claims_use(f, p->ns, p->cohort->shape->spec, sign);
}

static const struct fit_load *pod_load(const struct fit_pod *p) {
    return p->own ? p->own : &p->cohort->shape->load;
}

void fit_pod_place(struct fit *f, struct fit_pod *p, struct fit_node *node) {
    struct fit_group *g = p->cohort->group;
    assert(!p->placed);
    p->at = node;
    p->placed = true;
    p->node_at = (uint32_t)node->pods.len;
    *vec_push(&node->pods) = p;
    p->group_at = (uint32_t)g->pods.len;
    *vec_push(&g->pods) = p;
    if (p->cohort->shape->claims) {
        p->claim_at = (uint32_t)node->claimants.len;
        *vec_push(&node->claimants) = p;
    }
    fit_load_add(&node->used, pod_load(p), 1);
    fit_ports_add(&node->ports, &p->cohort->shape->ports, 1);
    if (node->known)
        count(f, p, 1);
}

void fit_pod_unplace(struct fit *f, struct fit_pod *p) {
    struct fit_node *node = p->at;
    struct fit_group *g = p->cohort->group;
    assert(p->placed);
    if (node->known)
        count(f, p, -1);
    fit_ports_add(&node->ports, &p->cohort->shape->ports, -1);
    fit_load_add(&node->used, pod_load(p), -1);
    fit_vec_drop(&g->pods, p->group_at);
    if (p->group_at < g->pods.len)
        g->pods.p[p->group_at]->group_at = p->group_at;
    if (p->cohort->shape->claims) {
        fit_vec_drop(&node->claimants, p->claim_at);
        if (p->claim_at < node->claimants.len)
            node->claimants.p[p->claim_at]->claim_at = p->claim_at;
    }
    fit_vec_drop(&node->pods, p->node_at);
    if (p->node_at < node->pods.len)
        node->pods.p[p->node_at]->node_at = p->node_at;
    p->placed = false;
}

static void pod_nominate(struct fit_pod *p, struct fit_node *node) {
    p->at = node;
    p->nominated = true;
    p->nominated_at = (uint32_t)node->nominated.len;
    *vec_push(&node->nominated) = p;
}

static void pod_withdraw(struct fit_pod *p) {
    struct fit_node *node = p->at;
    fit_vec_drop(&node->nominated, p->nominated_at);
    if (p->nominated_at < node->nominated.len)
        node->nominated.p[p->nominated_at]->nominated_at = p->nominated_at;
    p->nominated = false;
}

/* --- nodes --- */

struct fit_node *fit_node_get(struct fit *f, const char *name) {
    struct fit_node *n = fit_node_find(f, name);
    if (n)
        return n;
    n = xnew(struct fit_node);
    n->meta.name = pool_str(f->pool, name, strlen(name));
    n->hash = fit_hash_name(f, NULL, name);
    htab_insert(&f->names, n);
    return n;
}

void fit_node_put(struct fit *f, struct fit_node *n) {
    if (n->known || n->pods.len || n->nominated.len || n->attached.len || n->drivers)
        return;
    if (*node_near(f, n->meta.name) == n)
        *node_near(f, n->meta.name) = NULL;
    htab_remove(&f->names, n->hash, n->meta.name);
    pool_unref(f->pool, n->meta.name);
    fit_load_done(&n->used);
    fit_amounts_done(&n->room);
    vec_done(&n->pods);
    vec_done(&n->nominated);
    vec_done(&n->claimants);
    vec_done(&n->attached);
    vec_done(&n->ports);
    free(n);
}

static void node_count(struct fit *f, struct fit_node *n, int sign) {
    for (size_t i = 0; i < n->pods.len; i++)
        count(f, n->pods.p[i], sign);
}

/* Labels say which topology domains the node is in, so its pods are counted anew. */
static void node_relabel(struct fit *f, struct fit_node *n, const struct pair *labels) {
    const struct pair *old = n->meta.labels;
    n->meta.labels = pool_ref(labels);
    fit_topo_fill(f, n);
    pool_unref(f->pool, old);
    f->layout++;
}

void fit_put_node(struct fit *f, const struct node *node) {
    if (!node->meta.name)
        return;
    struct fit_node *n = fit_node_get(f, node->meta.name);
    if (n->meta.labels != node->meta.labels || !n->known) {
        if (n->known)
            node_count(f, n, -1);
        node_relabel(f, n, node->meta.labels);
        if (!n->known) {
            n->known = true;
            n->index = (uint32_t)f->nodes.len;
            *vec_push(&f->nodes) = n;
        }
        node_count(f, n, 1);
    }
    if (n->taints != node->taints) {
        pool_ref(node->taints);
        pool_unref(f->pool, n->taints);
        n->taints = node->taints;
        f->tainted++;
    }
    if (n->played)
        f->tainted++;
    if (n->allocatable != node->allocatable) {
        pool_ref(node->allocatable);
        pool_unref(f->pool, n->allocatable);
        n->allocatable = node->allocatable;
        fit_room_of(node->allocatable, &n->room, &n->room_pods);
    }
    n->unschedulable = node->unschedulable;
    n->avoided = n->played = false;
}

void fit_cordon_node(struct fit *f, const char *name, bool on) {
    struct fit_node *n = fit_node_find(f, name);
    if (!n || !n->known)
        return;
    n->unschedulable = on;
    n->played = true;
    n->avoided = false;
    f->tainted++;
}

void fit_avoid_node(struct fit *f, const char *name) {
    struct fit_node *n = fit_node_find(f, name);
    if (!n || !n->known)
        return;
    n->avoided = true;
    for (size_t i = 0; i < list_len(n->taints); i++)
        if (str_same(n->taints[i].key, NEXT_TAINT)) /* it has it: it counts once */
            n->avoided = false;
}

void fit_remove_node(struct fit *f, const char *name) {
    struct fit_node *n = fit_node_find(f, name);
    if (!n || !n->known)
        return;
    node_count(f, n, -1);
    fit_vec_drop(&f->nodes, n->index);
    if (n->index < f->nodes.len)
        f->nodes.p[n->index]->index = n->index;
    n->known = n->unschedulable = n->avoided = n->played = false;
    node_relabel(f, n, NULL);
    pool_unref(f->pool, n->taints);
    pool_unref(f->pool, n->allocatable);
    n->taints = NULL;
    n->allocatable = NULL;
    fit_room_of(NULL, &n->room, &n->room_pods);
    fit_node_put(f, n);
}

size_t fit_node_count(const struct fit *f) {
    return f->nodes.len;
}

const char *fit_node_name(const struct fit *f, size_t i) {
    return f->nodes.p[i]->meta.name;
}

/* --- pods --- */

static void pod_leave(struct fit *f, struct fit_pod *p) {
    struct fit_node *node = p->at;
    if (p->placed)
        fit_pod_unplace(f, p);
    if (p->nominated)
        pod_withdraw(p);
    p->at = NULL;
    fit_node_put(f, node);
    if (p->own)
        fit_load_done(p->own);
    mem_clear(&p->own);
}

static void pod_forget(struct fit *f, struct fit_pod *p) {
    struct name key = {p->ns, p->name, p->hash};
    if (p->name) {
        htab_remove(&f->pods, p->hash, &key);
        return;
    }
    fit_vec_drop(&f->unnamed, p->hash);
    if (p->hash < f->unnamed.len)
        f->unnamed.p[p->hash]->hash = p->hash;
}

static void pod_free(struct fit *f, struct fit_pod *p) {
    if (p->at)
        pod_leave(f, p);
    if (!--p->cohort->pods)
        f->idle++;
    pod_forget(f, p);
    pool_unref(f->pool, p->ns);
    pool_unref(f->pool, p->name);
    pool_unref(f->pool, p->uid);
    free(p);
}

static struct fit_pod *pod_new(struct fit *f, const struct pod *pod) {
    struct fit_pod *p = xnew(struct fit_pod);
    p->ns = pool_ref(pod->meta.ns);
    p->name = pool_ref(pod->meta.name);
    p->uid = pool_ref(pod->meta.uid);
    p->hash = fit_hash_name(f, p->ns, p->name);
    htab_insert(&f->pods, p);
    return p;
}

static void pod_own(struct fit_pod *p, const struct pod *pod) {
    p->own = xnew(struct fit_load);
    fit_load_of(fit_spec(pod->spec), pod, p->own);
}

enum stay { PLACED, ASSUMED, NOMINATED };

/* Puts a pod where it is said to be, whatever was known of it. */
static void pod_set(struct fit *f, struct fit_pod *p, const struct pod *pod, const char *name,
                    enum stay stay) {
    struct fit_cohort *cohort = fit_cohort_get(f, pod);
    bool leaving = pod->meta.deleted, differs = fit_load_differs(fit_spec(pod->spec), pod);
    if (p && p->cohort == cohort && p->at && str_same(p->at->meta.name, name) &&
        p->nominated == (stay == NOMINATED) && p->leaving == leaving && !differs && !p->own) {
        p->assumed = stay == ASSUMED;
        return; /* most changes of a pod are of its status and mean nothing here */
    }
    if (!p)
        p = pod_new(f, pod);
    /* Before the old place is left: what the two have in common need not be made again. */
    if (!cohort->pods++)
        f->idle--;
    struct fit_node *node = fit_node_get(f, name);
    if (p->at && p->at == node)
        node = NULL; /* leaving could free it */
    if (p->at)
        pod_leave(f, p);
    if (p->cohort && !--p->cohort->pods)
        f->idle++;
    p->cohort = cohort;
    p->leaving = leaving;
    p->assumed = stay == ASSUMED;
    if (differs)
        pod_own(p, pod);
    if (!node)
        node = fit_node_get(f, name);
    if (stay == NOMINATED)
        pod_nominate(p, node);
    else
        fit_pod_place(f, p, node);
}

/* What is known of this pod; one of the same name with another uid is gone. */
static struct fit_pod *pod_known(struct fit *f, const struct pod *pod) {
    struct fit_pod *p = pod_find(f, pod->meta.ns, pod->meta.name);
    if (p && !str_same(p->uid, pod->meta.uid)) {
        pod_free(f, p);
        p = NULL;
    }
    return p;
}

void fit_put_pod(struct fit *f, const struct pod *pod) {
    if (!pod->meta.name)
        return;
    struct fit_pod *p = pod_known(f, pod);
    if (pod_finished(pod)) {
        if (p)
            pod_free(f, p);
    } else if (pod->node_name) {
        pod_set(f, p, pod, pod->node_name, PLACED);
    } else if (p && p->assumed) {
        /* by address: pod_set() may free the node's entry before it is done with the name */
        const char *name = pool_ref(p->at->meta.name);
        pod_set(f, p, pod, name, ASSUMED);
        pool_unref(f->pool, name);
    } else if (pod->nominated) {
        pod_set(f, p, pod, pod->nominated, NOMINATED);
    } else if (p) {
        pod_free(f, p);
    }
}

void fit_assume(struct fit *f, const struct pod *pod, const char *node) {
    if (!pod->meta.name || str_empty(node))
        return;
    const char *name = pool_str(f->pool, node, strlen(node));
    pod_set(f, pod_known(f, pod), pod, name, ASSUMED);
    pool_unref(f->pool, name);
}

struct fit_pod *fit_add(struct fit *f, const struct pod *like, const char *node) {
    struct fit_pod *p = xnew(struct fit_pod);
    p->ns = pool_ref(like->meta.ns);
    p->hash = (uint32_t)f->unnamed.len;
    *vec_push(&f->unnamed) = p;
    p->cohort = fit_cohort_get(f, like);
    if (!p->cohort->pods++)
        f->idle--;
    p->leaving = like->meta.deleted;
    p->assumed = true;
    if (fit_load_differs(fit_spec(like->spec), like))
        pod_own(p, like);
    fit_pod_place(f, p, fit_node_get(f, node));
    return p;
}

void fit_take(struct fit *f, struct fit_pod *added) {
    pod_free(f, added);
}

void fit_remove_pod(struct fit *f, const char *ns, const char *name) {
    struct fit_pod *p = pod_find(f, ns, name);
    if (p)
        pod_free(f, p);
}

const char *fit_pod_node(const struct fit *f, const char *ns, const char *name) {
    const struct fit_pod *p = pod_find(f, ns, name);
    return p && p->placed ? p->at->meta.name : NULL;
}

/* --- namespaces --- */

void fit_put_namespace(struct fit *f, const struct ns *ns) {
    if (ns->meta.name)
        fit_space_set(f, fit_space_get(f, ns->meta.name), true, ns->meta.labels);
}

void fit_remove_namespace(struct fit *f, const char *name) {
    struct fit_space *s = fit_space_get(f, name);
    fit_space_set(f, s, false, NULL);
    fit_space_put(f, s);
}

/* --- life cycle --- */

struct fit *fit_new(struct pool *pool) {
    static const char hostname[] = "kubernetes.io/hostname", zone[] = "topology.kubernetes.io/zone";
    struct fit *f = xnew(struct fit);
    f->pool = pool;
    /* Not as a store's: whoever fills the picture from one would put all names side by side. */
    uint32_t seed = pool_seed(pool);
    f->seed = hash_more(0x9e3779b9u, &seed, sizeof seed);
    f->hostname = pool_str(pool, hostname, strlen(hostname));
    f->zone = pool_str(pool, zone, strlen(zone));
    htab_init(&f->names, &node_ops);
    htab_init(&f->pods, &pod_ops);
    fit_cohorts_init(f);
    fit_rules_init(f);
    fit_storage_init(f);
    fit_limits_init(f);
    return f;
}

void **fit_entries(const struct htab *t) {
    void **list = xcalloc(t->len + 1, sizeof *list), *e;
    size_t n = 0;
    for (uint32_t i = 0; (e = htab_next(t, &i));)
        list[n++] = e;
    return list;
}

/* All go: what they count for others need not be counted back one by one. */
static void pod_end(struct fit *f, struct fit_pod *p) {
    if (p->placed && p->at->known)
        fit_claims_use(f, p->ns, p->cohort->shape->spec, -1);
    p->cohort->group->pods.len = 0;
    f->idle += !--p->cohort->pods;
    if (p->own)
        fit_load_done(p->own);
    free(p->own);
    pool_unref(f->pool, p->ns);
    pool_unref(f->pool, p->name);
    pool_unref(f->pool, p->uid);
    free(p);
}

static void pods_end(struct fit *f) {
    struct fit_pod *p;
    for (uint32_t i = 0; (p = htab_next(&f->pods, &i));)
        pod_end(f, p);
    for (size_t i = 0; i < f->unnamed.len; i++)
        pod_end(f, f->unnamed.p[i]);
    f->unnamed.len = 0;
}

static void nodes_end(struct fit *f) {
    _cleanup_free_ void **nodes = fit_entries(&f->names);
    for (size_t i = 0; nodes[i]; i++) {
        struct fit_node *n = nodes[i];
        n->pods.len = n->nominated.len = n->claimants.len = 0;
        if (n->known)
            fit_remove_node(f, n->meta.name);
        else
            fit_node_put(f, n);
    }
}

void fit_free(struct fit *f) {
    if (!f)
        return;
    pods_end(f);
    fit_limits_done(f);
    nodes_end(f);
    fit_tables_done(f);
    _cleanup_free_ void **cohorts = fit_entries(&f->cohorts);
    for (size_t i = 0; cohorts[i]; i++)
        fit_cohort_free(f, cohorts[i]);
    _cleanup_free_ void **spaces = fit_entries(&f->spaces);
    for (size_t i = 0; spaces[i]; i++)
        fit_remove_namespace(f, ((struct fit_space *)spaces[i])->name);
    fit_storage_done(f);
    assert(!f->names.len && !f->rules.len && !f->groups.len && !f->topos.len && !f->shapes.len);
    pool_unref(f->pool, f->hostname);
    pool_unref(f->pool, f->zone);
    htab_done(&f->names);
    htab_done(&f->pods);
    htab_done(&f->cohorts);
    htab_done(&f->shapes);
    htab_done(&f->groups);
    htab_done(&f->rules);
    htab_done(&f->topos);
    htab_done(&f->spaces);
    vec_done(&f->nodes);
    vec_done(&f->unnamed);
    vec_done(&f->wide);
    vec_done(&f->found);
    vec_done(&f->scores);
    vec_done(&f->bindings);
    vec_done(&f->ask.only);
    vec_done(&f->ask.bound);
    vec_done(&f->ask.waiting);
    vec_done(&f->ask.once_pod);
    vec_done(&f->ask.zones);
    vec_done(&f->ask.handles);
    vec_done(&f->ask.reasons);
    arena_done(&f->ask.arena);
    free(f);
}
