/* Where the successors of evicted pods go: the scheduler's picture, changed as the play goes on. */
#include <stdlib.h>
#include <string.h>

#include "engine/fit_lack.h"
#include "engine/moveout.h"
#include "engine/plan_internal.h"
#include "engine/podrole.h"
#include "engine/waiting.h"

/* Up to so many questions, each of them about every node, places are looked for as the scheduler
 * does; beyond that the first that fits is taken. */
enum {
    CAREFUL_MAX = 4000000,
};

/* Templates for which all nodes are asked what they lack: each takes a while. */
enum { HELPS_MAX = 16 };

/* Pods of this template fitted nowhere. */
struct refused {
    const void *spec, *labels, *ns;
    unsigned opened;
    uint32_t codes;
    const char *help; /* what would make it fit, when somebody wanted to know */
    bool bound;       /* and it is not resources that it lacks */
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
    struct moveout_stores stores; /* pods are not of them: some are leaving */
    struct htab refused;
    VEC(struct copy *) copies;       /* number 1 is the first */
    VEC(const struct pod *) leaving; /* nodes that nobody drains, and still there */
    waiting_pods waiting;            /* that have no node yet, in the order of the scheduler */
    unsigned opened;                 /* how often a node was, or has become emptier */
    unsigned helped;                 /* templates for which all nodes were asked what they lack */
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

/* Those that are leaving other nodes by themselves make room there soon; on the plan's nodes they
 * are played. Whether soon is before others come is chance. */
static void put_pods(struct room *r) {
    const struct planning *g = r->g;
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(g->in->cluster->pods, &i));) {
        const struct pod *pod = (const struct pod *)obj;
        if (!moveout_leaves(pod, g->begun_at) || plan_node_find(g, strna(pod->node_name)))
            fit_put_pod(r->fit, pod);
        else if (g->chance && !g->timed)
            *vec_push(&r->leaving) = pod;
    }
    if (!r->leaving.len || !g->chance || prng_range(g->chance, 0, 2))
        r->leaving.len = 0;
    if (r->leaving.len) /* where a store has them depends on chance of another sort */
        qsort(r->leaving.p, r->leaving.len, sizeof *r->leaving.p, pod_compare);
    for (size_t i = 0; i < r->leaving.len; i++)
        fit_put_pod(r->fit, r->leaving.p[i]);
}

size_t room_leaving(const struct room *r, const struct pod *const **out) {
    *out = r->leaving.p;
    return r->leaving.len;
}

struct room *room_new(const struct planning *g) {
    struct room *r = xnew(struct room);
    const struct cluster *c = g->in->cluster;
    r->g = g;
    r->pool = c->pool;
    r->fit = fit_new(c->pool);
    r->careful = g->pods.len * store_len(c->nodes) <= CAREFUL_MAX;
    htab_init(&r->refused, &refused_ops);
    r->stores =
        (struct moveout_stores){.nodes = c->nodes,
                                .namespaces = g->in->namespaces,
                                .volumes = g->in->volumes,
                                .claims = g->in->claims,
                                .classes = g->in->classes,
                                .csi_nodes = g->in->csi_nodes,
                                .attachments = c->attachments_known ? c->attachments : NULL};
    moveout_fill(r->fit, &r->stores);
    put_pods(r);
    r->least_priority = moveout_least_priority(c->pods);
    waiting_find(c->pods, &r->stores, &r->waiting);
    room_seat(r);
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
    vec_done(&r->leaving);
    vec_done(&r->waiting);
    free(r);
}

void room_close(struct room *r, const char *node) {
    fit_cordon_node(r->fit, node, true);
}

void room_open(struct room *r, const char *node) {
    fit_cordon_node(r->fit, node, false);
    r->opened++;
}

void room_freed(struct room *r) {
    r->opened++;
}

void room_avoid(struct room *r, const char *node) {
    fit_avoid_node(r->fit, node);
}

/* --- claims --- */

static const struct volume *volumes_of(const struct pod *pod) {
    return pod->spec ? pod->spec->volumes : NULL;
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

static const char *ask(struct room *r, const struct pod *pod) {
    struct refused key = key_of(pod);
    struct refused *known = htab_find(&r->refused, key_hash(&key), &key);
    if (known && known->opened == r->opened && !(known->codes & ~MOVEOUT_LASTING)) {
        r->codes = known->codes;
        return known->preempts ? "" : NULL;
    }
    uint64_t random = r->g->chance ? prng_next(r->g->chance) : r->copies.len;
    const char *to = r->careful ? fit_place(r->fit, pod, random) : fit_any(r->fit, pod);
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
    known->preempts = moveout_preempts(r->fit, pod, r->least_priority);
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
    struct pod copy = moveout_successor(pod);
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
        moveout_set_claims(r->fit, &r->stores, &new->pod, true);
    }
    struct copy *c = r->copies.p[*copy - 1];
    if (!moveout_judged(&r->stores, pod))
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

void room_seat(struct room *r) {
    size_t left = 0;
    for (size_t i = 0; i < r->waiting.len; i++) {
        const struct pod *pod = r->waiting.p[i];
        const char *to = ask(r, pod);
        if (str_empty(to)) {
            r->waiting.p[left++] = pod;
            continue;
        }
        take_volumes(r, pod, to);
        fit_assume(r->fit, pod, to);
    }
    r->waiting.len = left;
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
    moveout_set_claims(r->fit, &r->stores, gone, false);
}

const char *room_why(struct room *r, const struct pod *pod, struct arena *arena) {
    struct refused key = key_of(pod), *known = htab_find(&r->refused, key_hash(&key), &key);
    if (known && known->why)
        return known->why;
    struct pod copy = successor(r, pod, false);
    _cleanup_str_ struct str words = STR_INIT;
    moveout_set_claims(r->fit, &r->stores, &copy, true);
    bool none = fit_explain(r->fit, &copy, &words);
    moveout_set_claims(r->fit, &r->stores, &copy, false);
    pool_unref(r->pool, copy.meta.name);
    const char *why = none ? arena_strndup(arena, str_get(&words), words.len) : "";
    if (known) /* others of its template have the same reasons */
        known->why = why;
    return why;
}

const char *room_help(struct room *r, const struct pod *pod, struct arena *arena, bool *whole) {
    struct refused key = key_of(pod), *known = htab_find(&r->refused, key_hash(&key), &key);
    struct fit_lack lack;
    if (whole)
        *whole = known && known->help && known->bound;
    if (known && known->help)
        return known->help;
    if (!known || r->helped++ >= HELPS_MAX)
        return "";
    struct pod copy = successor(r, pod, false);
    moveout_set_claims(r->fit, &r->stores, &copy, true);
    fit_lack_of(r->fit, r->g->in->cluster->nodes, &copy, NULL, &lack);
    moveout_set_claims(r->fit, &r->stores, &copy, false);
    pool_unref(r->pool, copy.meta.name);
    bool behind = lack.behind && !plan_node_find(r->g, lack.behind);
    const char *helps[FIT_HELPS];
    size_t n = fit_lack_help(&lack, helps);
    _cleanup_str_ struct str text = STR_INIT;
    if (lack.nearest)
        str_addf(&text, "%s more on %s would do", str_get(&lack.lack), lack.nearest);
    else if (behind)
        str_addf(&text, "it would fit on %s if that were uncordoned", lack.behind);
    for (size_t i = 0; i < n && !lack.nearest; i++)
        str_addf(&text, "%s%s", text.len ? "; or " : "", helps[i]);
    known->help = arena_strndup(arena, str_get(&text), text.len);
    known->bound = n && !lack.nearest;
    if (whole)
        *whole = known->bound;
    fit_lack_done(&lack);
    return known->help;
}

bool room_unread(const struct room *r, const struct pod *pod) {
    return moveout_unread(&r->stores, pod);
}

bool room_lift(struct room *r, unsigned copy) {
    struct copy *c = r->copies.p[copy - 1];
    if (!c->added) /* it has gone again; or has claims, whose volumes are taken for good */
        return false;
    fit_take(r->fit, c->added);
    c->added = NULL;
    return true;
}

void room_lower(struct room *r, unsigned copy, const char *node) {
    struct copy *c = r->copies.p[copy - 1];
    c->added = fit_add(r->fit, &c->pod, node);
}

int32_t room_for(struct room *r, unsigned copy, int32_t most) {
    const struct pod *pod = &r->copies.p[copy - 1]->pod;
    VEC(struct fit_pod *) added = VEC_INIT;
    int32_t n = 0;
    for (const char *to; n < most && (to = fit_any(r->fit, pod)); n++)
        *vec_push(&added) = fit_add(r->fit, pod, to);
    for (size_t i = 0; i < added.len; i++)
        fit_take(r->fit, added.p[i]);
    vec_done(&added);
    return n;
}

bool room_waits_for_others(const struct room *r) {
    return r->codes & ~MOVEOUT_LASTING;
}
