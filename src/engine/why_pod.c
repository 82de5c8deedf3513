/* Why a pod does not go, or is not ready, and whom that holds up. */
#include <stdlib.h>

#include "base/timefmt.h"
#include "engine/budget.h"
#include "engine/podrole.h"
#include "engine/why_internal.h"

enum {
    NODES_LOOKED_AT = 16, /* of a budget's other pods: is somebody draining them? */
    NODES_NAMED = 3,
};

/* --- not ready --- */

/* Its trouble as a link of its own, with what helps. */
static struct why_link *add_trouble(struct making *m, const struct pod *pod) {
    struct why_link *holder = why_link_new(m, WHY_NO_CODE, "", "", "");
    if (pod->meta.deleted || pod_finished(pod))
        return NULL; /* told of as a pod that leaves */
    if (!why_add_troubles(m, holder, &pod, 1))
        return NULL;
    struct why_link *l = arena_new(m->arena, struct why_link);
    *l = *holder->causes[0];
    l->remedies = holder->remedies;
    l->n_remedies = holder->n_remedies;
    l->blocks = true;
    if (l->code == BLOCKER_NODE_UNREACHABLE)
        l->code = WHY_NO_CODE; /* the node's own link follows */
    *vec_push(&m->links) = l;
    return l;
}

/* --- whom it holds up --- */

struct names {
    VEC(const char *) list;
};

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_name(struct names *names, const char *name) {
    for (size_t i = 0; i < names->list.len; i++)
        if (streq(names->list.p[i], name))
            return;
    *vec_push(&names->list) = name;
}

static void print_names(struct names *names, struct str *out) {
    size_t n = names->list.len;
    qsort(names->list.p, n, sizeof names->list.p[0], compare_names);
    for (size_t i = 0; i < n && i < NODES_NAMED; i++)
        str_addf(out, "%s%s", i ? ", " : "", names->list.p[i]);
    if (n > NODES_NAMED)
        str_addf(out, " and %zu more", n - NODES_NAMED);
}

/* The nodes of the budget's healthy pods, and those of them that are being drained. */
static void find_nodes(struct making *m, const struct pdb *pdb, struct names *all,
                       struct names *drained) {
    size_t n;
    _cleanup_free_ const struct pod **pods = pdbs_pods(m->w->pdbs, pdb, &n);
    for (size_t i = 0; i < n; i++)
        if (pod_ready(pods[i]) && !pods[i]->meta.deleted && !str_empty(pods[i]->node_name))
            add_name(all, pods[i]->node_name);
    for (size_t i = 0; i < all->list.len && i < NODES_LOOKED_AT; i++) {
        const struct node *node = why_look(m, &kind_node, NULL, all->list.p[i], NULL);
        const struct node_condition *c =
            node ? node_condition_find(node->conditions, "DrainInProgress") : NULL;
        if (node && node->unschedulable && c && str_same(c->c.status, "True"))
            add_name(drained, all->list.p[i]);
    }
}

static void add_held_up(struct making *m, struct why_link *trouble, const struct pdb *pdb) {
    struct names all = {0}, drained = {0};
    _cleanup_str_ struct str text = STR_INIT, where = STR_INIT;
    if (!why_budget_pods(m, pdb))
        return;
    find_nodes(m, pdb, &all, &drained);
    if (!all.list.len && !drained.list.len)
        goto out;
    if (drained.list.len) {
        print_names(&drained, &where);
        str_addf(&text, "the drain of %s waits for it", str_get(&where));
    } else {
        print_names(&all, &where);
        str_addf(&text, "a drain of %s would wait for it", str_get(&where));
    }
    str_add(&text, ": ");
    budget_explain(pdb, &m->budget_owners, &text);
    struct why_link *l = why_link_new(m, BLOCKER_PDB_NO_BUDGET, kind_pdb.name,
                                      why_name(m, &pdb->meta), why_text(m, &text));
    l->blocks = false;
    why_link_cause(m, trouble, l);
out:
    vec_done(&all.list);
    vec_done(&drained.list);
}

static void look_at_held_up(struct making *m, struct why_link *trouble, const struct pod *pod) {
    size_t n;
    const struct pdb *const *budgets = pdbs_of_pod(m->w->pdbs, pod, &n);
    for (size_t i = 0; i < n; i++)
        if (budget_verdict(budgets[i], &m->budget_owners) == BUDGET_WAITS)
            add_held_up(m, trouble, budgets[i]);
}

/* --- the sentence --- */

static const struct why_link *worst(const struct making *m, bool about_eviction) {
    for (size_t i = 0; i < m->links.len; i++)
        if (m->links.p[i]->blocks && (m->links.p[i]->code != WHY_NO_CODE) == about_eviction)
            return m->links.p[i];
    return NULL;
}

static bool held_otherwise(const struct why_counts *c) {
    return c->never || c->flag || c->wait || c->unmade || c->homeless;
}

static void summarize(struct making *m, const struct pod *pod, const struct why_counts *c) {
    _cleanup_str_ struct str text = STR_INIT;
    const struct why_link *evict = worst(m, true), *trouble = worst(m, false);
    if (!str_empty(pod->node_name))
        str_addf(&text, "on %s, ", pod->node_name);
    if (pod_finished(pod) && !pod->meta.deleted)
        str_addf(&text, "finished (%s)", pod->phase);
    else if (trouble)
        str_add(&text, str_empty(pod->node_name) ? "has no node" : "not ready");
    else if (pod->meta.deleted)
        str_add(&text, evict ? "terminating, and does not end" : "terminating");
    else
        str_add(&text, node_is_lost(m->node) ? "which does not answer" : "well");
    if (c->stays)
        str_add(&text, "; a drain leaves it where it is");
    else if (pod->meta.deleted || str_empty(pod->node_name))
        ;
    else if (m->no_budgets && !held_otherwise(c))
        str_add(&text, "; whether a budget keeps it from being evicted is not known");
    else if (!evict)
        str_add(&text, "; nothing keeps it from being evicted");
    else if (c->never)
        str_add(&text, "; it can never be evicted");
    else if (c->unmade && !c->flag && !c->wait)
        str_add(&text, "; evicted, it is not made again");
    else if (c->homeless && !c->flag && !c->wait)
        str_add(&text, "; evicted, it has no other node to go to");
    else
        str_add(&text,
                c->flag ? "; a drain needs a flag to evict it" : "; it cannot be evicted now");
    m->out->summary = why_text(m, &text);
}

/* --- all of it --- */

static void look_at_pod(struct making *m, const struct pod *pod) {
    struct why_counts counts = {0};
    const struct why_want budgets = {
        .what = WHY_WANT_BUDGETS, .kind = &kind_pdb, .ns = pod->meta.ns};
    bool there = why_has_or_cannot(m, &budgets, &m->no_budgets);
    m->pod = pod;
    if (!str_empty(pod->node_name))
        m->node = why_look(m, &kind_node, NULL, pod->node_name, NULL);
    if (!there)
        return;
    struct why_link *trouble = add_trouble(m, pod);
    if (trouble)
        look_at_held_up(m, trouble, pod);
    if (!str_empty(pod->node_name))
        why_look_at_pods(m, &pod, 1, &counts);
    if (m->node)
        why_look_at_told_pod(m, pod, &counts);
    if (m->no_budgets && counts.moves)
        why_unread_link(m, &kind_pdb, WHY_NO_BUDGETS, WHY_NO_BUDGETS_HELP);
    summarize(m, pod, &counts);
}

void why_pod(const struct why_world *w, const char *ns, const char *name, struct arena *arena,
             struct why *out) {
    struct making m;
    why_begin(&m, w, arena, out);
    const struct pod *pod = why_look(&m, &kind_pod, ns, name, NULL);
    out->kind = kind_pod.name;
    out->ns = arena_printf(arena, "%s", ns);
    out->name = arena_printf(arena, "%s", name);
    out->found = pod != NULL;
    if (pod)
        look_at_pod(&m, pod);
    why_end(&m);
}
