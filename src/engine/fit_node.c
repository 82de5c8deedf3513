/* What a node says by itself, whatever other nodes and pods there are: cordoned, its name, its
 * taints, its labels, its host ports. */
#include <stdlib.h>
#include <string.h>

#include "engine/fit_internal.h"
#include "engine/next_mark.h"
#include "model/selector.h"

/* --- taints --- */

static bool tolerated(const struct toleration *list, const struct taint *taint) {
    for (size_t i = 0; i < list_len(list); i++) {
        const struct toleration *t = &list[i];
        if ((t->effect && !str_same(t->effect, taint->effect)) ||
            (t->key && !str_same(t->key, taint->key)))
            continue;
        if (str_same(t->op, "Exists") ||
            ((!t->op || streq(t->op, "Equal")) && str_same(t->value, taint->value)))
            return true;
        /* Lt and Gt are behind a feature gate that is off: such a toleration tolerates nothing */
    }
    return false;
}

/* PreferNoSchedule keeps nobody out. */
static bool keeps_out(const struct pod_spec *spec, const struct taint *t) {
    return (str_same(t->effect, "NoSchedule") || str_same(t->effect, "NoExecute")) &&
           !tolerated(spec->tolerations, t);
}

static const struct taint cordon_taint = {.key = "node.kubernetes.io/unschedulable",
                                          .effect = "NoSchedule"};

bool fit_tolerates(const struct pod_spec *spec, const struct fit_node *node) {
    for (size_t i = 0; i < list_len(node->taints); i++)
        if (!(node->played && str_same(node->taints[i].key, cordon_taint.key)) &&
            keeps_out(spec, &node->taints[i]))
            return false;
    return !node->played || !node->unschedulable || tolerated(spec->tolerations, &cordon_taint);
}

bool fit_check_taints(struct fit_ask *ask, const struct fit_node *node) {
    return fit_tolerates(ask->spec, node) || fit_no(ask, FIT_TAINT, NULL);
}

/* Who tolerates the taint that comes with a cordon tolerates the cordon before the taint is there.
 */
bool fit_check_unschedulable(struct fit_ask *ask, const struct fit_node *node) {
    return !node->unschedulable || tolerated(ask->spec->tolerations, &cordon_taint) ||
           fit_no(ask, FIT_UNSCHEDULABLE, NULL);
}

/* How many PreferNoSchedule taints the pod does not tolerate. A toleration of another effect does
 * not match them anyway. */
int64_t fit_score_taints(const struct pod_spec *spec, const struct fit_node *node) {
    static const struct taint avoid = {.key = NEXT_TAINT, .effect = "PreferNoSchedule"};
    int64_t n = node->avoided && !tolerated(spec->tolerations, &avoid);
    for (size_t i = 0; i < list_len(node->taints); i++)
        if (str_same(node->taints[i].effect, "PreferNoSchedule") &&
            !tolerated(spec->tolerations, &node->taints[i]))
            n++;
    return n;
}

/* --- names and labels --- */

bool fit_check_name(struct fit_ask *ask, const struct fit_node *node) {
    return !ask->pod->node_name || streq(ask->pod->node_name, node->meta.name) ||
           fit_no(ask, FIT_NODE_NAME, NULL);
}

static const struct node_selector *required(const struct pod_spec *spec) {
    const struct affinity *a = spec->affinity;
    return a && a->node ? a->node->required : NULL;
}

bool fit_node_wanted(const struct pod_spec *spec, const struct fit_node *node) {
    const struct node_selector *terms = required(spec);
    return (!spec->node_selector || labels_contain(node->meta.labels, spec->node_selector)) &&
           (!terms || node_selector_match(terms, &node->meta));
}

bool fit_check_node_affinity(struct fit_ask *ask, const struct fit_node *node) {
    return fit_node_wanted(ask->spec, node) || fit_no(ask, FIT_NODE_AFFINITY, NULL);
}

int64_t fit_score_node(const struct pod_spec *spec, const struct fit_node *node) {
    const struct affinity *a = spec->affinity;
    const struct preferred_node_term *list = a && a->node ? a->node->preferred : NULL;
    int64_t sum = 0;
    for (size_t i = 0; i < list_len(list); i++)
        if (list[i].weight && node_term_match(&list[i].term, &node->meta))
            sum += list[i].weight;
    return sum;
}

static bool has_string(const char *const *list, size_t n, const char *s) {
    for (size_t i = 0; i < n; i++)
        if (str_same(list[i], s))
            return true;
    return false;
}

static bool is_name(const struct requirement *r) {
    return str_same(r->key, "metadata.name") && str_same(r->op, "In");
}

/* Adds the names that all of the term's name fields allow; false when it has no such field. */
static bool term_names(const struct node_term *t, struct fit_ask *ask) {
    const struct requirement *first = NULL;
    for (size_t i = 0; !first && i < list_len(t->fields); i++)
        if (is_name(&t->fields[i]))
            first = &t->fields[i];
    if (!first)
        return false;
    for (size_t i = 0; i < list_len(first->values); i++) {
        const char *name = strna(first->values[i]);
        bool all = true;
        for (size_t k = 0; all && k < list_len(t->fields); k++)
            all = !is_name(&t->fields[k]) ||
                  has_string(t->fields[k].values, list_len(t->fields[k].values), name);
        if (all)
            *vec_push(&ask->only) = name;
    }
    return true;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool fit_ask_names(struct fit_ask *ask) {
    const struct node_selector *sel = required(ask->spec);
    ask->only.len = 0;
    ask->only_some = false;
    if (!sel || !list_len(sel->terms))
        return true;
    for (size_t i = 0; i < list_len(sel->terms); i++)
        if (!term_names(&sel->terms[i], ask))
            return true; /* any of the terms is enough, and this one may match any node */
    ask->only_some = true;
    if (ask->only.len > 1)
        qsort(ask->only.p, ask->only.len, sizeof ask->only.p[0], compare_names);
    size_t n = 0;
    for (size_t i = 0; i < ask->only.len; i++)
        if (!i || !streq(ask->only.p[i], ask->only.p[n - 1]))
            ask->only.p[n++] = ask->only.p[i];
    ask->only.len = n;
    if (n)
        return true;
    ask->trouble = "pod affinity terms conflict";
    return false;
}

/* --- host ports --- */

static void add_ports(const struct container *c, fit_ports *out) {
    for (size_t i = 0; i < list_len(c->ports); i++) {
        const struct port *p = &c->ports[i];
        if (p->host_port <= 0)
            continue;
        *vec_push(out) = (struct fit_port){
            .ip = p->host_ip && !streq(p->host_ip, "0.0.0.0") ? p->host_ip : NULL,
            .protocol = p->protocol && !streq(p->protocol, "TCP") ? p->protocol : NULL,
            .port = p->host_port,
        };
    }
}

void fit_ports_of(const struct pod_spec *spec, fit_ports *out) {
    for (size_t i = 0; i < list_len(spec->init_containers); i++)
        if (str_same(spec->init_containers[i].restart_policy, "Always"))
            add_ports(&spec->init_containers[i], out);
    for (size_t i = 0; i < list_len(spec->containers); i++)
        add_ports(&spec->containers[i], out);
}

static bool same_port(const struct fit_port *a, const struct fit_port *b) {
    return a->port == b->port && a->protocol == b->protocol && a->ip == b->ip;
}

static void add_port(fit_ports *to, const struct fit_port *port, int sign) {
    for (size_t i = 0; i < to->len; i++) {
        if (!same_port(&to->p[i], port))
            continue;
        if (sign > 0)
            to->p[i].users++;
        else if (!--to->p[i].users)
            fit_vec_drop(to, i);
        return;
    }
    *vec_push(to) = *port;
    to->p[to->len - 1].users = 1;
}

void fit_ports_add(fit_ports *to, const fit_ports *ports, int sign) {
    for (size_t i = 0; i < ports->len; i++)
        add_port(to, &ports->p[i], sign);
}

/* A port on all addresses conflicts with the same on any. */
static bool conflict(const struct fit_port *a, const struct fit_port *b) {
    return a->port == b->port && a->protocol == b->protocol && (!a->ip || !b->ip || a->ip == b->ip);
}

bool fit_check_ports(struct fit_ask *ask, const struct fit_node *node) {
    const fit_ports *want = &ask->cohort->shape->ports;
    for (size_t i = 0; i < want->len; i++)
        for (size_t k = 0; k < node->ports.len; k++)
            if (conflict(&want->p[i], &node->ports.p[k]))
                return fit_no(ask, FIT_PORTS, NULL);
    return true;
}
