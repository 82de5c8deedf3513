/* What a drain would do with a pod. */
#include "engine/podrole.h"

#include "base/timefmt.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define UNSCHEDULABLE_TAINT "node.kubernetes.io/unschedulable"
#define HOSTNAME_LABEL      "kubernetes.io/hostname"

bool pod_finished(const struct pod *pod) {
    return str_same(pod->phase, "Succeeded") || str_same(pod->phase, "Failed");
}

enum pod_role pod_role(const struct pod *pod) {
    const struct owner *owner = meta_controller(&pod->meta);
    if (map_has(pod->meta.annotations, "kubernetes.io/config.mirror"))
        return POD_MIRROR;
    if (pod_finished(pod))
        return POD_FINISHED;
    if (owner && str_same(owner->kind, "DaemonSet"))
        return POD_DAEMON;
    if (pod->meta.deleted)
        return POD_LEAVING;
    return owner ? POD_MOVES : POD_BARE;
}

bool pod_has_local_data(const struct pod *pod) {
    const struct volume *volumes = pod->spec ? pod->spec->volumes : NULL;
    if (pod_finished(pod))
        return false;
    for (size_t i = 0; i < list_len(volumes); i++)
        if (volumes[i].empty_dir)
            return true;
    return false;
}

bool pod_ready(const struct pod *pod) {
    const struct condition *c = condition_find(pod->conditions, "Ready");
    return c && str_same(c->status, "True");
}

bool pod_tolerates_cordon(const struct pod *pod) {
    const struct toleration *list = pod->spec ? pod->spec->tolerations : NULL;
    for (size_t i = 0; i < list_len(list); i++) {
        const struct toleration *t = &list[i];
        if (!str_empty(t->effect) && !streq(t->effect, "NoSchedule"))
            continue;
        if (!str_empty(t->key) && !streq(t->key, UNSCHEDULABLE_TAINT))
            continue;
        /* Equal is meant when nothing is said; the taint's value is empty. */
        bool equal = str_empty(t->op) || streq(t->op, "Equal");
        if (str_same(t->op, "Exists") || (equal && str_empty(t->value)))
            return true;
    }
    return false;
}

bool pod_may_return(const struct pod *pod) {
    return pod_role(pod) == POD_MOVES && pod_tolerates_cordon(pod);
}

static bool term_names_host(const struct node_term *term) {
    for (size_t i = 0; i < list_len(term->exprs); i++)
        if (str_same(term->exprs[i].key, HOSTNAME_LABEL) && str_same(term->exprs[i].op, "In") &&
            list_len(term->exprs[i].values) == 1)
            return true;
    for (size_t i = 0; i < list_len(term->fields); i++)
        if (str_same(term->fields[i].key, "metadata.name") && str_same(term->fields[i].op, "In"))
            return true;
    return false;
}

static bool selector_names_host(const struct node_selector *sel) {
    return sel && list_len(sel->terms) == 1 && term_names_host(&sel->terms[0]);
}

bool pod_wants_one_node(const struct pod *pod) {
    const struct pod_spec *spec = pod->spec;
    if (!spec)
        return false;
    if (map_has(spec->node_selector, HOSTNAME_LABEL))
        return true;
    return spec->affinity && spec->affinity->node &&
           selector_names_host(spec->affinity->node->required);
}

const char *pod_pinned_to(const struct pod *pod, const struct store *replica_sets,
                          const struct store *stateful_sets) {
    const struct owner *o = meta_controller(&pod->meta);
    if (!o || !str_same(o->api_version, "apps/v1"))
        return NULL;
    if (str_same(o->kind, "StatefulSet") && stateful_sets) {
        const struct stateful_set *s =
            (const struct stateful_set *)store_get(stateful_sets, pod->meta.ns, o->name);
        return s && s->template ? s->template->spec.node_name : NULL;
    }
    if (!str_same(o->kind, "ReplicaSet") || !replica_sets)
        return NULL;
    const struct replica_set *r =
        (const struct replica_set *)store_get(replica_sets, pod->meta.ns, o->name);
    return r && r->template ? r->template->spec.node_name : NULL;
}

static bool is_own_finalizer(const char *name) {
    static const char *const own[] = {"batch.kubernetes.io/job-tracking", "foregroundDeletion",
                                      "orphan"};
    for (size_t k = 0; k < ARRAY_LEN(own); k++)
        if (streq(name, own[k]))
            return true;
    return false;
}

void pod_foreign_finalizers(const struct pod *pod, struct str *out) {
    size_t told = 0;
    for (size_t i = 0; i < list_len(pod->meta.finalizers); i++)
        if (!is_own_finalizer(pod->meta.finalizers[i]))
            str_addf(out, "%s%s", told++ ? ", " : "", pod->meta.finalizers[i]);
}

const char *pod_finalizer(const struct pod *pod) {
    for (size_t i = 0; i < list_len(pod->meta.finalizers); i++)
        if (!is_own_finalizer(pod->meta.finalizers[i]))
            return pod->meta.finalizers[i];
    return NULL;
}

bool node_is_lost(const struct node *node) {
    const struct node_condition *c = node ? node_condition_find(node->conditions, "Ready") : NULL;
    return c && str_same(c->c.status, "Unknown");
}

void node_lost_explain(const struct node *node, struct str *out) {
    const struct node_condition *c = node_condition_find(node->conditions, "Ready");
    char when[TIMEFMT_LEN];
    str_addf(out, "it does not answer (%s)",
             c && !str_empty(c->c.reason) ? c->c.reason : "Ready is Unknown");
    if (c && c->heartbeat)
        str_addf(out, ": last heard of at %s, or soon after",
                 time_format(c->heartbeat, false, when));
}

/* Drivers have labels of their own for the node: topology.topolvm.io/node,
 * topology.hostpath.csi/node, openebs.io/nodename. Those for zones are none of these. */
static bool is_node_key(const char *key) {
    static const char *const names[] = {"node", "nodename", "hostname"};
    const char *slash = strrchr(key, '/');
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (slash && streq(slash + 1, names[i]))
            return true;
    return false;
}

static bool term_names_node(const struct node_term *term) {
    for (size_t i = 0; i < list_len(term->exprs); i++)
        if (is_node_key(strna(term->exprs[i].key)) && str_same(term->exprs[i].op, "In") &&
            list_len(term->exprs[i].values) == 1)
            return true;
    return term_names_host(term);
}

/* How many nodes it names, of which one is enough; 0: it does not go by their names. */
static size_t nodes_named(const struct node_term *term) {
    for (size_t i = 0; i < list_len(term->exprs); i++)
        if (is_node_key(strna(term->exprs[i].key)) && str_same(term->exprs[i].op, "In"))
            return list_len(term->exprs[i].values);
    return term_names_node(term) ? 1 : 0;
}

bool volume_names_nodes(const struct node_selector *sel) {
    for (size_t i = 0; sel && i < list_len(sel->terms); i++)
        if (!nodes_named(&sel->terms[i]))
            return false;
    return sel && list_len(sel->terms);
}

bool volume_is_local(const struct pv *pv) {
    const struct node_selector *sel = pv->affinity ? pv->affinity->required : NULL;
    size_t terms = sel ? list_len(sel->terms) : 0;
    if (pv->local) /* a disk that several nodes have, as it says */
        return terms < 2 && (!terms || nodes_named(&sel->terms[0]) < 2);
    return terms == 1 && term_names_node(&sel->terms[0]);
}

int pod_compare(const void *a, const void *b) {
    const struct meta *x = &(*(const struct pod *const *)a)->meta,
                      *y = &(*(const struct pod *const *)b)->meta;
    int c = strcmp(strna(x->ns), strna(y->ns));
    return c ? c : strcmp(strna(x->name), strna(y->name));
}
