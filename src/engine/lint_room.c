/* Where the pods of each node would go if that node alone were drained. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/fit.h"
#include "engine/lint_internal.h"
#include "engine/podrole.h"

enum {
    /* Questions about a node, in pods that fit nowhere: a cluster that is full and large would take
     * minutes. Those of nodes that come after are not asked. */
    QUESTIONS_MAX = 8000000,
    /* Workloads whose reasons are told in the scheduler's words: each takes as long as asking every
     * node, with all rules. */
    EXPLAINED_MAX = 64,
};

struct room {
    struct linting *l;
    size_t questions, explained;
    struct fit *fit;
    VEC(const struct pod *) going;    /* of the node at hand */
    VEC(const struct pod *) homeless; /* the same */
};

static void put_all(const struct store *store, struct fit *fit,
                    void put(struct fit *fit, const struct object *obj)) {
    const struct object *obj;
    for (uint32_t i = 0; store && (obj = store_next(store, &i));)
        put(fit, obj);
}

static void put_pod(struct fit *fit, const struct object *obj) {
    fit_put_pod(fit, (const struct pod *)obj);
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

/* Claims that are not bound to a volume that we know are beyond what can be told. A pod whose
 * volume is on its node's disk has a cause of its own. */
static bool is_judged(const struct linting *l, const struct pod *pod) {
    const struct volume *v = pod->spec ? pod->spec->volumes : NULL;
    for (size_t i = 0; i < list_len(v); i++) {
        if (v[i].ephemeral)
            return false;
        if (!v[i].claim)
            continue;
        const struct object *claim =
            l->in->claims ? store_get(l->in->claims, pod->meta.ns, v[i].claim->claim) : NULL;
        const char *name = claim ? ((const struct pvc *)claim)->volume_name : NULL;
        const struct object *pv =
            name && l->in->volumes ? store_get(l->in->volumes, NULL, name) : NULL;
        if (!pv || ((const struct pv *)pv)->local)
            return false;
    }
    return pod->spec != NULL;
}

static bool will_look(const struct linting *l, const struct pod *pod) {
    struct lint_owner owner;
    if (pod_role(pod) != POD_MOVES || !is_judged(l, pod))
        return false;
    lint_owner_of(l, pod, &owner);
    return !owner.pinned;
}

/* As its successor will be. */
static struct pod unbound(const struct pod *pod) {
    struct pod copy = *pod;
    copy.node_name = copy.nominated = NULL;
    return copy;
}

/* One of the same template found nothing a moment ago, and nothing was freed since. */
static bool is_refused(const struct room *r, const struct pod *pod) {
    for (size_t i = 0; i < r->homeless.len; i++)
        if (r->homeless.p[i]->spec == pod->spec &&
            r->homeless.p[i]->meta.labels == pod->meta.labels &&
            r->homeless.p[i]->meta.ns == pod->meta.ns)
            return true;
    return false;
}

static void note_homeless(struct room *r, const struct pod *pod) {
    struct lint_owner owner;
    lint_owner_of(r->l, pod, &owner);
    struct bucket *b = lint_note(r->l, LINT_NO_ROOM, owner.key, pod, NULL, 0);
    if (b->why)
        return;
    if (r->explained++ >= EXPLAINED_MAX) {
        b->why = "no other node fits its pods";
        return;
    }
    struct pod next = unbound(pod);
    _cleanup_str_ struct str why = STR_INIT;
    fit_explain(r->fit, &next, &why);
    /* Its second half is about preemption. */
    const char *end = strstr(str_get(&why), ". no new claims");
    if (!end)
        end = strstr(str_get(&why), ". preemption:");
    b->why =
        arena_strndup(r->l->arena, str_get(&why), end ? (size_t)(end - str_get(&why)) : why.len);
}

static void move_out(struct room *r) {
    for (size_t i = 0; i < r->going.len; i++)
        fit_remove_pod(r->fit, r->going.p[i]->meta.ns, r->going.p[i]->meta.name);
    for (size_t i = 0; i < r->going.len; i++) {
        struct pod next = unbound(r->going.p[i]);
        bool refused = is_refused(r, r->going.p[i]);
        const char *node = refused ? NULL : fit_any(r->fit, &next);
        if (node)
            fit_assume(r->fit, &next, node);
        else
            *vec_push(&r->homeless) = r->going.p[i];
        if (!node && !refused)
            r->questions += fit_node_count(r->fit);
    }
    for (size_t i = 0; i < r->homeless.len; i++)
        note_homeless(r, r->homeless.p[i]);
}

static void move_back(struct room *r) {
    for (size_t i = 0; i < r->going.len; i++)
        fit_remove_pod(r->fit, r->going.p[i]->meta.ns, r->going.p[i]->meta.name);
    for (size_t i = 0; i < r->going.len; i++)
        fit_put_pod(r->fit, r->going.p[i]);
}

static int compare_pods(const void *a, const void *b) {
    const struct meta *x = &(*(const struct pod *const *)a)->meta,
                      *y = &(*(const struct pod *const *)b)->meta;
    int c = strcmp(strna(x->ns), strna(y->ns));
    return c ? c : strcmp(strna(x->name), strna(y->name));
}

static void look_at_node(struct room *r, const struct node *node) {
    size_t n;
    const struct object *const *pods = store_find(r->l->in->pods, r->l->in->pods_by_node,
                                                  (struct store_key){node->meta.name, NULL}, &n);
    r->going.len = r->homeless.len = 0;
    for (size_t i = 0; i < n; i++)
        if (will_look(r->l, (const struct pod *)pods[i]))
            *vec_push(&r->going) = (const struct pod *)pods[i];
    if (!r->going.len)
        return;
    /* Who comes first decides who is left without: the same each time. */
    qsort(r->going.p, r->going.len, sizeof r->going.p[0], compare_pods);
    struct node cordoned = *node;
    cordoned.unschedulable = true;
    fit_put_node(r->fit, &cordoned);
    move_out(r);
    move_back(r);
    fit_put_node(r->fit, node);
}

void lint_look_for_room(struct linting *l) {
    const struct lint_input *in = l->in;
    struct room r = {.l = l, .fit = fit_new(in->pool)};
    size_t n;
    /* By name: which nodes are asked first goes by their order, and a store has none. */
    _cleanup_free_ const struct object **nodes = store_sorted(in->nodes, &n);
    for (size_t i = 0; i < n; i++)
        fit_put_node(r.fit, (const struct node *)nodes[i]);
    put_all(in->namespaces, r.fit, put_namespace);
    put_all(in->volumes, r.fit, put_volume);
    put_all(in->claims, r.fit, put_claim);
    put_all(in->pods, r.fit, put_pod);
    for (size_t i = 0; i < n && r.questions < QUESTIONS_MAX; i++) {
        look_at_node(&r, (const struct node *)nodes[i]);
        l->roomed++;
    }
    vec_done(&r.going);
    vec_done(&r.homeless);
    fit_free(r.fit);
}
