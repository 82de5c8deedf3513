/* Volumes tie pods to nodes: through where a volume can be reached, which volumes are still free,
 * and claims that only one pod may use. */
#include <stdlib.h>
#include <string.h>

#include "engine/fit_internal.h"
#include "model/selector.h"

/* --- what the pod's claims are --- */

static bool trouble(struct fit_ask *ask, const char *text) {
    ask->trouble = text;
    return false;
}

/* The claim of a volume, known or not; NULL: the volume has none. */
static const char *claim_name(struct fit_ask *ask, const struct volume *v) {
    if (v->claim)
        return strna(v->claim->claim);
    if (v->ephemeral)
        return arena_printf(&ask->arena, "%s-%s", strna(ask->pod->meta.name), strna(v->name));
    return NULL;
}

/* VolumeRestrictions: notes claims for one pod alone. Whether others use them is asked later. */
static bool read_restrictions(struct fit *f, struct fit_ask *ask) {
    const struct volume *list = ask->spec->volumes;
    for (size_t i = 0; i < list_len(list); i++) {
        if (!list[i].claim)
            continue;
        const char *name = claim_name(ask, &list[i]);
        const struct fit_claim *c = fit_claim_find(f, ask->pod->meta.ns, name);
        if (!c || !c->known)
            return trouble(
                ask, arena_printf(&ask->arena, "persistentvolumeclaim \"%s\" not found", name));
        if (c->once_pod)
            *vec_push(&ask->once_pod) = c;
    }
    return true;
}

static bool belongs_to(const struct fit_claim *c, const struct pod *pod) {
    for (size_t i = 0; i < list_len(c->owners); i++)
        if (c->owners[i].controller)
            return str_same(c->owners[i].uid, pod->meta.uid);
    return false;
}

static const char *claim_problem(struct fit_ask *ask, const struct volume *v,
                                 const struct fit_claim *c, const char *name) {
    const struct meta *pod = &ask->pod->meta;
    if (!c || !c->known)
        return v->claim ? arena_printf(&ask->arena, "persistentvolumeclaim \"%s\" not found", name)
                        : arena_printf(&ask->arena,
                                       "waiting for ephemeral volume controller to create the "
                                       "persistentvolumeclaim \"%s\"",
                                       name);
    if (c->lost)
        return arena_printf(&ask->arena,
                            "persistentvolumeclaim \"%s\" bound to non-existent persistentvolume "
                            "\"%s\"",
                            name, strna(c->volume));
    if (c->leaving)
        return arena_printf(&ask->arena, "persistentvolumeclaim \"%s\" is being deleted", name);
    if (!v->claim && !belongs_to(c, ask->pod))
        return arena_printf(&ask->arena,
                            "PVC %s/%s was not created for pod %s/%s (pod is not owner)",
                            strna(c->ns), strna(c->name), strna(pod->ns), strna(pod->name));
    return NULL;
}

/* VolumeBinding: sorts the claims into bound ones and those that wait for a node. */
static bool read_claims(struct fit *f, struct fit_ask *ask) {
    const struct volume *list = ask->spec->volumes;
    bool unbound = false;
    for (size_t i = 0; i < list_len(list); i++) {
        const char *name = claim_name(ask, &list[i]);
        if (!name)
            continue;
        const struct fit_claim *c = fit_claim_find(f, ask->pod->meta.ns, name);
        const char *problem = claim_problem(ask, &list[i], c, name);
        if (problem)
            return trouble(ask, problem);
        if (c->bound) {
            *vec_push(&ask->bound) = fit_volume_find(f, c->volume);
            continue;
        }
        const struct fit_storage *s = c->class ? fit_storage_find(f, c->class) : NULL;
        if (s && s->waits && !c->volume)
            *vec_push(&ask->waiting) = c;
        else
            unbound = true;
    }
    return !unbound || trouble(ask, "pod has unbound immediate PersistentVolumeClaims");
}

static const char *const zone_labels[] = {
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
};

/* The next of the values in "a__b"; true while there is one. */
static bool next_zone(const char **at, struct view *out) {
    if (!*at)
        return false;
    const char *end = strstr(*at, "__");
    *out = (struct view){*at, end ? (size_t)(end - *at) : strlen(*at)};
    *at = end ? end + 2 : NULL;
    return true;
}

static bool is_zone_list(const char *values) {
    struct view one;
    for (const char *at = values; next_zone(&at, &one);)
        if (!one.len)
            return false;
    return true;
}

/* VolumeZone: labels of bound volumes, from before volumes had an affinity. */
static bool read_zones(struct fit *f, struct fit_ask *ask) {
    const struct volume *list = ask->spec->volumes;
    for (size_t i = 0; i < list_len(list); i++) {
        if (!list[i].claim)
            continue;
        const struct fit_claim *c = fit_claim_find(f, ask->pod->meta.ns, claim_name(ask, &list[i]));
        if (!c || !c->volume)
            continue;
        const struct fit_volume *v = fit_volume_find(f, c->volume);
        if (!v)
            return trouble(
                ask, arena_printf(&ask->arena, "persistentvolume \"%s\" not found", c->volume));
        for (size_t k = 0; k < ARRAY_LEN(zone_labels); k++) {
            const char *values = map_get(v->labels, zone_labels[k]);
            if (values && is_zone_list(values))
                *vec_push(&ask->zones) = (struct fit_zone){zone_labels[k], values};
        }
    }
    return true;
}

/* The smallest claims first, so that they take the smallest volumes. */
static int compare_claims(const void *a, const void *b) {
    const struct fit_claim *x = *(const struct fit_claim *const *)a,
                           *y = *(const struct fit_claim *const *)b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return strcmp(strna(x->name), strna(y->name));
}

bool fit_ask_volumes(struct fit *f, struct fit_ask *ask) {
    ask->bound.len = ask->waiting.len = ask->once_pod.len = ask->zones.len = ask->handles.len = 0;
    if (!ask->spec->volumes)
        return true;
    if (!read_restrictions(f, ask) || !read_claims(f, ask) || !read_zones(f, ask))
        return false;
    if (ask->waiting.len > 1)
        qsort(ask->waiting.p, ask->waiting.len, sizeof ask->waiting.p[0], compare_claims);
    fit_ask_limits(f, ask);
    return true;
}

/* --- whether a node will do --- */

bool fit_check_claim_use(struct fit_ask *ask, const struct fit_node *node) {
    (void)node; /* another pod anywhere is one too many */
    for (size_t i = 0; i < ask->once_pod.len; i++)
        if (ask->once_pod.p[i]->users)
            return fit_no(ask, FIT_CLAIM_USE, NULL);
    return true;
}

/* A volume's affinity is about labels alone, not about the node's name. */
static bool reachable(const struct fit_volume *v, const struct fit_node *node) {
    struct meta meta = {.labels = node->meta.labels};
    return !v->affinity || !v->affinity->required ||
           node_selector_match(v->affinity->required, &meta);
}

static bool same_mode(const char *a, const char *b) {
    return str_same(a ? a : "Filesystem", b ? b : "Filesystem");
}

static bool large_enough(const struct fit_volume *v, const struct fit_claim *c) {
    return v->size >= c->size && same_mode(v->mode, c->mode) && !v->leaving;
}

static bool has_modes(const struct fit_volume *v, const struct fit_claim *c) {
    for (size_t i = 0; i < list_len(c->access_modes); i++) {
        bool found = false;
        for (size_t k = 0; !found && k < list_len(v->access_modes); k++)
            found = str_same(v->access_modes[k], c->access_modes[i]);
        if (!found)
            return false;
    }
    return true;
}

static bool taken(const struct fit_binding *chosen, size_t n, const struct fit_volume *v) {
    for (size_t i = 0; i < n; i++)
        if (chosen[i].volume == v->name)
            return true;
    return false;
}

/* Whether the volume's claimRef means this claim: a uid may still be missing in it. */
static bool refers_to(const struct fit_volume *v, const struct fit_claim *c) {
    return !v->ref->uid || str_same(v->ref->uid, c->uid);
}

/* The volume that the claim would be bound to: the one that is reserved for it, else the smallest
 * free one that does. */
static const struct fit_volume *find_volume(const struct fit *f, const struct fit_claim *c,
                                            const struct fit_node *node,
                                            const struct fit_binding *chosen, size_t n_chosen) {
    const struct fit_storage *s = fit_storage_find(f, c->class);
    const struct fit_volume *best = NULL;
    for (size_t i = 0; i < c->volumes.len; i++) {
        const struct fit_volume *v = c->volumes.p[i];
        if (str_same(v->class, c->class) && refers_to(v, c) && large_enough(v, c) &&
            !taken(chosen, n_chosen, v))
            return reachable(v, node) ? v : NULL;
    }
    for (size_t i = 0; s && i < s->free.len; i++) {
        const struct fit_volume *v = s->free.p[i];
        if ((best && (v->size > best->size ||
                      (v->size == best->size && strcmp(v->name, best->name) > 0))) ||
            !large_enough(v, c) || taken(chosen, n_chosen, v) || !str_same(v->phase, "Available") ||
            (c->selector && !selector_match(c->selector, v->labels)) || !has_modes(v, c) ||
            !reachable(v, node))
            continue;
        best = v;
    }
    return best;
}

static bool topology_allows(const struct node_term *terms, const struct pair *labels) {
    if (!list_len(terms))
        return true;
    for (size_t i = 0; i < list_len(terms); i++) {
        bool all = list_len(terms[i].exprs);
        for (size_t k = 0; all && k < list_len(terms[i].exprs); k++) {
            struct requirement r = terms[i].exprs[k];
            r.op = "In"; /* the only one there is: the API has no field for it */
            all = requirement_match(&r, labels);
        }
        if (all)
            return true;
    }
    return false;
}

/* Whether a volume could be made for the claim on this node. How much room the driver has is not
 * known here. */
static bool can_provision(const struct fit *f, const struct fit_claim *c,
                          const struct fit_node *node) {
    const struct fit_storage *s = fit_storage_find(f, c->class);
    return s && s->provisions && topology_allows(s->topologies, node->meta.labels);
}

/* Decides for each claim that waits; false when there is one for which nothing can be done. */
static bool bind_claims(const struct fit *f, const struct fit_ask *ask, const struct fit_node *node,
                        struct fit_binding *out) {
    for (size_t i = 0; i < ask->waiting.len; i++) {
        const struct fit_claim *c = ask->waiting.p[i];
        /* A volume is being made for it on a node that was chosen before. */
        if (c->node && !streq(c->node, node->meta.name))
            return false;
    }
    for (size_t i = 0; i < ask->waiting.len; i++) {
        const struct fit_claim *c = ask->waiting.p[i];
        const struct fit_volume *v = c->node ? NULL : find_volume(f, c, node, out, i);
        if (!v && !can_provision(f, c, node))
            return false;
        out[i] = (struct fit_binding){c->name, v ? v->name : NULL};
    }
    return true;
}

bool fit_check_volumes(const struct fit *f, struct fit_ask *ask, const struct fit_node *node) {
    bool there = true, near = true;
    for (size_t i = 0; there && near && i < ask->bound.len; i++) {
        there = ask->bound.p[i];
        near = !there || reachable(ask->bound.p[i], node);
    }
    if (!near)
        fit_no(ask, FIT_VOLUME_NODE, NULL);
    if (ask->waiting.len) {
        struct fit_binding few[8], *list = few;
        if (ask->waiting.len > ARRAY_LEN(few))
            list = xcalloc(ask->waiting.len, sizeof *list);
        if (!bind_claims(f, ask, node, list))
            fit_no(ask, FIT_VOLUME_NONE, NULL);
        if (list != few)
            free(list);
    }
    if (!there)
        fit_no(ask, FIT_VOLUME_GONE, NULL);
    return !ask->reasons.len;
}

bool fit_check_zones(struct fit_ask *ask, const struct fit_node *node) {
    const struct pair *labels = node->meta.labels;
    bool zoned = false;
    if (!ask->zones.len)
        return true;
    for (size_t i = 0; !zoned && i < ARRAY_LEN(zone_labels); i++)
        zoned = map_has(labels, zone_labels[i]);
    /* A cluster of one zone need not say so. */
    for (size_t i = 0; zoned && i < ask->zones.len; i++) {
        const char *key = ask->zones.p[i].key, *has = map_get(labels, key);
        if (!has && str_starts(key, "failure-domain.beta."))
            has = map_get(labels, str_ends(key, "/zone") ? zone_labels[2] : zone_labels[3]);
        struct view one;
        bool in = false;
        for (const char *at = ask->zones.p[i].values; has && !in && next_zone(&at, &one);)
            in = view_eq(one, view_of(has));
        if (!in)
            return fit_no(ask, FIT_VOLUME_ZONE, NULL);
    }
    return true;
}

/* --- the public question --- */

const struct fit_binding *fit_bindings(struct fit *f, const struct pod *pod, const char *node,
                                       size_t *n) {
    struct fit_verdict verdict;
    *n = 0;
    f->bindings.len = 0;
    if (!fit_check(f, pod, node, &verdict))
        return f->bindings.p;
    for (size_t i = 0; i < f->ask.waiting.len; i++)
        *vec_push(&f->bindings) = (struct fit_binding){0};
    bind_claims(f, &f->ask, fit_node_find(f, node), f->bindings.p);
    *n = f->bindings.len;
    return f->bindings.p;
}
