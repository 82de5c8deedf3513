/* Where the successors of evicted pods go: the scheduler's picture, changed as the play goes on. */
#include <stdlib.h>
#include <string.h>

#include "engine/fit_lack.h"
#include "engine/plan_internal.h"

/* Up to so many questions, each of them about every node, places are looked for as the scheduler
 * does; beyond that the first that fits is taken. */
enum {
    CAREFUL_MAX = 4000000,
    LEAVES_WITHIN = 60, /* seconds after its grace period that a pod is still believed to go */
};

/* What only nodes decide, and pods that stay: it is the same as long as no node opens. */
#define LASTING                                                                                    \
    (1u << FIT_UNSCHEDULABLE | 1u << FIT_TAINT | 1u << FIT_NODE_AFFINITY | 1u << FIT_RESOURCE |    \
     1u << FIT_PODS | 1u << FIT_NODE_NAME | 1u << FIT_VOLUME_NODE | 1u << FIT_VOLUME_NONE |        \
     1u << FIT_VOLUME_ZONE | 1u << FIT_VOLUME_GONE | 1u << FIT_POD | 1u << FIT_GATED |             \
     1u << FIT_NOT_ASKED | 1u << FIT_NO_NODE)

/* Templates for which all nodes are asked what they lack: each takes a while. */
enum { HELPS_MAX = 16 };

/* Pods of this template fitted nowhere. */
struct refused {
    const void *spec, *labels, *ns;
    unsigned opened;
    uint32_t codes;
    const char *help; /* what would make it fit, when somebody wanted to know */
    const char *why;  /* in the words of the scheduler, when somebody wanted to know */
    bool preempts;    /* but would push others aside */
};

struct copy {
    struct pod pod;        /* its name is an entry of the pool; only few need one */
    struct fit_pod *added; /* of one without a name: where it is */
};

struct room {
    const struct planning *g;
    struct pool *pool;
    struct fit *fit;
    struct htab refused;
    VEC(struct copy *) copies; /* number 1 is the first */
    unsigned opened;           /* how often a node was */
    unsigned helped;           /* templates for which all nodes were asked what they lack */
    bool careful;
    uint32_t codes;         /* of the last question that nothing fitted */
    int32_t least_priority; /* of all pods: who has more may push one of them aside */
};

/* --- templates that fit nowhere --- */

static uint32_t key_hash(const struct refused *r) {
    return hash_more(hash_more(hash_bytes(&r->spec, sizeof r->spec), &r->labels, sizeof r->labels),
                     &r->ns, sizeof r->ns);
}

static uint32_t refused_hash(const void *entry) {
    return key_hash(entry);
}

static bool refused_equal(const void *entry, const void *key) {
    const struct refused *a = entry, *b = key;
    return a->spec == b->spec && a->labels == b->labels && a->ns == b->ns;
}

static const struct htab_ops refused_ops = {refused_hash, refused_equal};

static struct refused key_of(const struct pod *pod) {
    return (struct refused){.spec = pod->spec, .labels = pod->meta.labels, .ns = pod->meta.ns};
}

/* --- the picture --- */

static void put_all(const struct store *store, struct fit *fit,
                    void put(struct fit *fit, const struct object *obj)) {
    const struct object *obj;
    for (uint32_t i = 0; store && (obj = store_next(store, &i));)
        put(fit, obj);
}

/* By name: which of two equally good nodes is taken goes by their order, and a store has none. */
static void put_nodes(const struct store *nodes, struct fit *fit) {
    size_t n;
    const struct object **all = store_sorted(nodes, &n);
    for (size_t i = 0; i < n; i++)
        fit_put_node(fit, (const struct node *)all[i]);
    free(all);
}

/* Those that are leaving other nodes by themselves make room there soon; on the plan's nodes they
 * are played. */
static void put_pods(const struct planning *g, struct fit *fit) {
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(g->in->cluster->pods, &i));) {
        const struct pod *pod = (const struct pod *)obj;
        bool leaves = pod->meta.deleted && g->begun_at - pod->meta.deleted <= SEC(LEAVES_WITHIN);
        if (!leaves || plan_node_find(g, strna(pod->node_name)))
            fit_put_pod(fit, pod);
    }
}

static void put_namespace(struct fit *fit, const struct object *obj) {
    fit_put_namespace(fit, (const struct ns *)obj);
}

static void put_volume(struct fit *fit, const struct object *obj) {
    fit_put_volume(fit, (const struct pv *)obj);
}

static void put_claim(struct fit *fit, const struct object *obj) {
    fit_put_claim(fit, (const struct pvc *)obj);
}

static void put_class(struct fit *fit, const struct object *obj) {
    const struct storage_class *c = (const struct storage_class *)obj;
    fit_put_class(fit, &(struct fit_class){
                           .name = c->meta.name,
                           .waits = str_same(c->binding_mode, "WaitForFirstConsumer"),
                           .provisions = !str_same(c->provisioner, "kubernetes.io/no-provisioner"),
                           .topologies = c->topologies,
                       });
}

static int32_t priority_of(const struct pod *pod) {
    return pod->spec && pod->spec->priority != ABSENT32 ? pod->spec->priority : 0;
}

static int32_t least_priority(const struct store *pods) {
    int32_t least = INT32_MAX;
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(pods, &i));)
        least = MIN_OF(least, priority_of((const struct pod *)obj));
    return least;
}

struct room *room_new(const struct planning *g) {
    struct room *r = xnew(struct room);
    const struct cluster *c = g->in->cluster;
    r->g = g;
    r->pool = c->pool;
    r->fit = fit_new(c->pool);
    r->careful = g->pods.len * store_len(c->nodes) <= CAREFUL_MAX;
    htab_init(&r->refused, &refused_ops);
    put_nodes(c->nodes, r->fit);
    put_all(g->in->namespaces, r->fit, put_namespace);
    put_all(g->in->volumes, r->fit, put_volume);
    put_all(g->in->claims, r->fit, put_claim);
    put_all(g->in->classes, r->fit, put_class);
    put_pods(g, r->fit);
    r->least_priority = least_priority(c->pods);
    return r;
}

static void copy_free(struct room *r, struct copy *c) {
    pool_unref(r->pool, c->pod.meta.name);
    free(c);
}

void room_free(struct room *r) {
    void *e;
    if (!r)
        return;
    for (uint32_t i = 0; (e = htab_next(&r->refused, &i));)
        free(e);
    htab_done(&r->refused);
    fit_free(r->fit);
    for (size_t i = 0; i < r->copies.len; i++)
        copy_free(r, r->copies.p[i]);
    vec_done(&r->copies);
    free(r);
}

static void set_cordon(struct room *r, const char *name, bool on) {
    const struct node *node = cluster_node(r->g->in->cluster, name);
    if (!node)
        return;
    struct node copy = *node;
    copy.unschedulable = on;
    fit_put_node(r->fit, &copy);
}

void room_close(struct room *r, const char *node) {
    set_cordon(r, node, true);
}

void room_open(struct room *r, const char *node) {
    set_cordon(r, node, false);
    r->opened++;
}

void room_avoid(struct room *r, const char *node) {
    fit_avoid_node(r->fit, node);
}

/* --- claims --- */

static const struct volume *volumes_of(const struct pod *pod) {
    return pod->spec ? pod->spec->volumes : NULL;
}

static const struct pvc *claim_find(const struct room *r, const char *ns, const char *name) {
    return (const struct pvc *)store_get(r->g->in->claims, ns, strna(name));
}

/* The claim that was made for this volume of the pod, or of the one that it is a successor of: a
 * number after a tilde tells these apart. */
static const struct pvc *ephemeral_claim(const struct room *r, const struct pod *pod,
                                         const struct volume *v) {
    const char *name = strna(pod->meta.name);
    _cleanup_free_ char *claim =
        xasprintf("%.*s-%s", (int)strcspn(name, "~"), name, strna(v->name));
    return claim_find(r, pod->meta.ns, claim);
}

static bool waits_for_node(const struct room *r, const struct pvc *claim) {
    const struct storage_class *class = (const struct storage_class *)store_get(
        r->g->in->classes, NULL, strna(claim->storage_class));
    return class && str_same(class->binding_mode, "WaitForFirstConsumer");
}

/* Whether it is known where the volume can be; what is not is not judged. */
static bool volume_is_judged(const struct room *r, const struct pod *pod, const struct volume *v) {
    const struct plan_input *in = r->g->in;
    if (!v->claim && !v->ephemeral)
        return true;
    if (!in->claims || !in->volumes)
        return false;
    const struct pvc *claim =
        v->claim ? claim_find(r, pod->meta.ns, v->claim->claim) : ephemeral_claim(r, pod, v);
    if (v->claim)
        return !claim || !str_empty(claim->volume_name) || in->classes;
    /* A new one is made with the successor. Where its volume is made before the pod has a node,
     * nobody can tell where that will be. */
    return claim && in->classes && waits_for_node(r, claim);
}

static bool is_judged(const struct room *r, const struct pod *pod) {
    for (size_t i = 0; i < list_len(volumes_of(pod)); i++)
        if (!volume_is_judged(r, pod, &volumes_of(pod)[i]))
            return false;
    return true;
}

/* The claims of a successor's ephemeral volumes, as their controller makes them: they wait for a
 * node. Or they are gone. */
static void set_claims(struct room *r, const struct pod *copy, bool there) {
    const struct volume *list = volumes_of(copy);
    for (size_t i = 0; i < list_len(list); i++) {
        const struct pvc *old =
            list[i].ephemeral && r->g->in->claims ? ephemeral_claim(r, copy, &list[i]) : NULL;
        if (!old)
            continue;
        _cleanup_free_ char *name = xasprintf("%s-%s", copy->meta.name, strna(list[i].name));
        struct pvc claim = *old;
        claim.meta.name = claim.meta.uid = pool_str(r->pool, name, strlen(name));
        claim.meta.annotations = NULL;
        claim.meta.deleted = 0;
        claim.volume_name = claim.phase = NULL;
        if (there)
            fit_put_claim(r->fit, &claim);
        else
            fit_remove_claim(r->fit, claim.meta.ns, claim.meta.name);
        pool_unref(r->pool, claim.meta.name);
    }
}

/* Volumes that its claims are bound to now are no more to be had by others. */
static void take_volumes(struct room *r, const struct pod *copy, const char *node) {
    size_t n = 0;
    const struct fit_binding *list = volumes_of(copy) ? fit_bindings(r->fit, copy, node, &n) : NULL;
    const char **names = xcalloc(n + 1, sizeof *names); /* a step ends the list */
    for (size_t i = 0; i < n; i++)
        names[i] = pool_ref(list[i].volume);
    for (size_t i = 0; i < n; i++) {
        if (names[i])
            fit_remove_volume(r->fit, names[i]);
        pool_unref(r->pool, names[i]);
    }
    free(names);
}

/* --- questions --- */

/* Whether the scheduler would evict less important pods for it. Then its message does not say why
 * preemption is of no use. */
static bool would_preempt(struct room *r, const struct pod *pod) {
    if (priority_of(pod) <= r->least_priority || str_same(pod->spec->preemption, "Never") ||
        r->codes & (1u << FIT_POD | 1u << FIT_GATED))
        return false;
    _cleanup_str_ struct str words = STR_INIT;
    return fit_explain(r->fit, pod, &words) && !strstr(str_get(&words), " preemption: ");
}

static const char *ask(struct room *r, const struct pod *pod) {
    struct refused key = key_of(pod);
    struct refused *known = htab_find(&r->refused, key_hash(&key), &key);
    if (known && known->opened == r->opened && !(known->codes & ~LASTING)) {
        r->codes = known->codes;
        return known->preempts ? "" : NULL;
    }
    const char *to = r->careful ? fit_place(r->fit, pod, r->copies.len) : fit_any(r->fit, pod);
    if (to)
        return to;
    r->codes = fit_codes(r->fit);
    if (!known) {
        known = xnew(struct refused);
        *known = key;
        htab_insert(&r->refused, known);
    }
    known->opened = r->opened;
    known->codes = r->codes;
    known->preempts = would_preempt(r, pod);
    return known->preempts ? "" : NULL;
}

/* Their claims have its name. */
static bool has_ephemeral(const struct pod *pod) {
    for (size_t i = 0; i < list_len(volumes_of(pod)); i++)
        if (volumes_of(pod)[i].ephemeral)
            return true;
    return false;
}

/* The pod as its owner makes it anew. */
static struct pod successor(const struct room *r, const struct pod *pod, bool same_name) {
    struct pod copy = *pod;
    copy.node_name = copy.nominated = NULL;
    copy.phase = NULL;
    copy.conditions = NULL;
    copy.containers = copy.init_containers = NULL;
    copy.meta.deleted = 0;
    if (!has_ephemeral(pod)) { /* nobody needs its name, and there are many of them */
        copy.meta.name = copy.meta.uid = NULL;
        return copy;
    }
    _cleanup_free_ char *name = xasprintf("%s%s", pod->meta.name, same_name ? "" : "~");
    _cleanup_free_ char *numbered = same_name ? NULL : xasprintf("%s%zu", name, r->copies.len + 1);
    const char *text = same_name ? name : numbered;
    copy.meta.name = pool_str(r->pool, text, strlen(text));
    copy.meta.uid = pod->meta.uid; /* its claims are known by their owner's */
    return copy;
}

/* It is being deleted: it still takes room, but where pods are to be spread the scheduler does not
 * count it any more. */
static void mark_leaving(struct room *r, const struct pod *pod) {
    struct pod leaving = *pod;
    if (!pod->meta.name || !pod->spec || !list_len(pod->spec->spread))
        return;
    leaving.meta.deleted = MAX_OF(r->g->begun_at, 1);
    fit_put_pod(r->fit, &leaving);
}

const char *room_place(struct room *r, const struct pod *pod, bool same_name, unsigned *copy) {
    if (!*copy && !same_name)
        mark_leaving(r, pod);
    if (!*copy) {
        struct copy *new = xnew(struct copy);
        new->pod = successor(r, pod, same_name);
        *vec_push(&r->copies) = new;
        *copy = (unsigned)r->copies.len;
        set_claims(r, &new->pod, true);
    }
    struct copy *c = r->copies.p[*copy - 1];
    if (!is_judged(r, pod))
        return "";
    const char *to = ask(r, &c->pod);
    if (str_empty(to))
        return to;
    take_volumes(r, &c->pod, to);
    if (c->pod.meta.name)
        fit_assume(r->fit, &c->pod, to);
    else
        c->added = fit_add(r->fit, &c->pod, to);
    return to;
}

const struct pod *room_copy(const struct room *r, unsigned copy) {
    return &r->copies.p[copy - 1]->pod;
}

void room_gone(struct room *r, const struct pod *pod, unsigned copy) {
    struct copy *c = copy ? r->copies.p[copy - 1] : NULL;
    const struct pod *gone = c ? &c->pod : pod;
    if (c && c->added)
        fit_take(r->fit, c->added);
    else if (gone->meta.name)
        fit_remove_pod(r->fit, gone->meta.ns, gone->meta.name);
    if (c)
        c->added = NULL;
    set_claims(r, gone, false);
}

const char *room_why(struct room *r, const struct pod *pod, struct arena *arena) {
    struct refused key = key_of(pod), *known = htab_find(&r->refused, key_hash(&key), &key);
    if (known && known->why)
        return known->why;
    struct pod copy = successor(r, pod, false);
    _cleanup_str_ struct str words = STR_INIT;
    set_claims(r, &copy, true);
    bool none = fit_explain(r->fit, &copy, &words);
    set_claims(r, &copy, false);
    pool_unref(r->pool, copy.meta.name);
    const char *why = none ? arena_strndup(arena, str_get(&words), words.len) : "";
    if (known) /* others of its template have the same reasons */
        known->why = why;
    return why;
}

const char *room_help(struct room *r, const struct pod *pod, struct arena *arena) {
    struct refused key = key_of(pod), *known = htab_find(&r->refused, key_hash(&key), &key);
    struct fit_lack lack;
    if (known && known->help)
        return known->help;
    if (!known || r->helped++ >= HELPS_MAX)
        return "";
    struct pod copy = successor(r, pod, false);
    set_claims(r, &copy, true);
    fit_lack_of(r->fit, NULL, &copy, NULL, &lack);
    set_claims(r, &copy, false);
    pool_unref(r->pool, copy.meta.name);
    known->help = lack.nearest ? arena_printf(arena, "%s more on %s would do", str_get(&lack.lack),
                                              lack.nearest)
                               : "";
    fit_lack_done(&lack);
    return known->help;
}

bool room_waits_for_others(const struct room *r) {
    return r->codes & ~LASTING;
}

bool room_is_local(const struct room *r) {
    return r->codes & 1u << FIT_VOLUME_NODE;
}
