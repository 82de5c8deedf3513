/* Whether what an owner makes in the place of a pod is a copy of it. */
#include "engine/maker.h"

#include <string.h>

#include "base/str.h"
#include "engine/podrole.h"

/* The label with the name of the ControllerRevision that a StatefulSet made its pod from. */
#define REVISION_LABEL "controller-revision-hash"
/* "vpaUpdates", "vpaInPlaceUpdated": its requests are those of a VerticalPodAutoscaler, whose
 * webhook gives them to the next one as well. */
#define VPA_MARK "vpa"

/* --- kinds --- */

/* Controllers of which it is known that they make an evicted pod anew, and at once. A kind of NULL
 * is any. */
static const struct {
    const char *group, *kind;
} makers[] = {
    {"apps", "ReplicaSet"},
    {"extensions", "ReplicaSet"},
    {"apps", "StatefulSet"},
    {"apps", "DaemonSet"},
    {"extensions", "DaemonSet"},
    {"batch", "Job"},
    {"", "ReplicationController"},
    {"", "Node"}, /* the kubelet, from a file */
    {"apps.kruise.io", NULL},
    {"core.strimzi.io", "StrimziPodSet"},
    {"etcd.database.coreos.com", "EtcdCluster"},
    {"kubevirt.io", "VirtualMachineInstance"},
    {"longhorn.io", NULL},
    {"postgresql.cnpg.io", "Cluster"},
};

bool maker_is_known(const struct owner *o) {
    const char *version = strna(o->api_version), *slash = strchr(version, '/');
    size_t len = slash ? (size_t)(slash - version) : 0;
    for (size_t i = 0; i < ARRAY_LEN(makers); i++)
        if (strlen(makers[i].group) == len && !strncmp(version, makers[i].group, len) &&
            (!makers[i].kind || str_same(o->kind, makers[i].kind)))
            return true;
    return false;
}

/* --- what a template asks for, and a pod has --- */

static const struct container *container_find(const struct container *list, const char *name) {
    for (size_t i = 0; i < list_len(list); i++)
        if (str_same(list[i].name, name))
            return &list[i];
    return NULL;
}

static bool has_amounts(const struct pair_qty *asked, const struct pair_qty *has) {
    for (size_t i = 0; i < list_len(asked); i++)
        if (map_qty(has, strna(asked[i].key)) != asked[i].milli)
            return false;
    return true;
}

static bool has_requests(const struct container *asked, const struct container *has) {
    for (size_t i = 0; i < list_len(asked); i++) {
        const struct container *c = container_find(has, asked[i].name);
        if (!c || !has_amounts(asked[i].resources.requests, c->resources.requests))
            return false;
    }
    return true;
}

static bool has_ports(const struct container *asked, const struct container *has) {
    for (size_t i = 0; i < list_len(asked); i++) {
        const struct container *c = container_find(has, asked[i].name);
        if (asked[i].ports && (!c || c->ports != asked[i].ports))
            return false;
    }
    return true;
}

static bool has_selector(const struct pair *asked, const struct pair *has, bool whole) {
    for (size_t i = 0; i < list_len(asked); i++)
        if (!str_same(map_get(has, strna(asked[i].key)), asked[i].value))
            return false;
    return !whole || list_len(asked) == list_len(has);
}

/* The API server writes what the keys stand for into the pod's own selector. */
static bool same_term(const struct pod_term *a, const struct pod_term *b) {
    bool keys = list_len(a->match_keys) || list_len(a->mismatch_keys);
    return str_same(a->topology_key, b->topology_key) && a->namespaces == b->namespaces &&
           a->ns_selector == b->ns_selector && (keys || a->selector == b->selector);
}

static bool same_terms(const struct pod_affinity *asked, const struct pod_affinity *has,
                       bool whole) {
    const struct pod_term *a = asked ? asked->required : NULL, *b = has ? has->required : NULL;
    if (!a)
        return !whole || !b;
    if (list_len(a) != list_len(b))
        return false;
    for (size_t i = 0; b && i < list_len(a); i++)
        if (!same_term(&a[i], &b[i]))
            return false;
    return true;
}

static bool has_affinity(const struct affinity *asked, const struct affinity *has, bool whole) {
    static const struct affinity none;
    const struct affinity *a = asked ? asked : &none, *b = has ? has : &none;
    const struct node_selector *wants = a->node ? a->node->required : NULL;
    const struct node_selector *had = b->node ? b->node->required : NULL;
    return ((!wants && !whole) || wants == had) && same_terms(a->pod, b->pod, whole) &&
           same_terms(a->anti, b->anti, whole);
}

static bool same_spread(const struct spread *a, const struct spread *b) {
    return a->max_skew == b->max_skew && str_same(a->topology_key, b->topology_key) &&
           str_same(a->when, b->when) && a->min_domains == b->min_domains &&
           str_same(a->affinity_policy, b->affinity_policy) &&
           str_same(a->taints_policy, b->taints_policy) &&
           (list_len(a->match_keys) || a->selector == b->selector);
}

static bool has_spread(const struct spread *asked, const struct spread *has, bool whole) {
    if (!asked)
        return !whole || !has;
    if (list_len(asked) != list_len(has))
        return false;
    for (size_t i = 0; i < list_len(asked); i++)
        if (!same_spread(&asked[i], &has[i]))
            return false;
    return true;
}

static bool has_tolerations(const struct toleration *asked, const struct toleration *has) {
    for (size_t i = 0; i < list_len(asked); i++) {
        bool found = false;
        for (size_t k = 0; k < list_len(has) && !found; k++)
            found = str_same(asked[i].key, has[k].key) && str_same(asked[i].op, has[k].op) &&
                    str_same(asked[i].value, has[k].value) &&
                    str_same(asked[i].effect, has[k].effect);
        if (!found)
            return false;
    }
    return true;
}

static bool has_claims(const struct volume *asked, const struct volume *has) {
    for (size_t i = 0; i < list_len(asked); i++) {
        bool found = !asked[i].claim && !asked[i].ephemeral;
        for (size_t k = 0; k < list_len(has) && !found; k++)
            found = str_same(asked[i].name, has[k].name) && asked[i].claim == has[k].claim &&
                    asked[i].ephemeral == has[k].ephemeral;
        if (!found)
            return false;
    }
    return true;
}

static bool has_word(const char *asked, const char *has) {
    return str_empty(asked) || str_same(asked, has);
}

static bool is_resized_by_vpa(const struct pod *pod) {
    for (size_t i = 0; i < list_len(pod->meta.annotations); i++)
        if (str_starts(strna(pod->meta.annotations[i].key), VPA_MARK))
            return true;
    return false;
}

static bool has_resources(const struct pod_spec *asked, const struct pod *pod) {
    const struct pod_spec *has = pod->spec;
    bool whole = !asked->resources || (has->resources && has_amounts(asked->resources->requests,
                                                                     has->resources->requests));
    return is_resized_by_vpa(pod) || (whole && has_requests(asked->containers, has->containers) &&
                                      has_requests(asked->init_containers, has->init_containers));
}

/* What is other in the template; NULL: nothing that decides about room. */
static const char *difference(const struct pod_spec *asked, const struct pod *pod, bool whole) {
    const struct pod_spec *has = pod->spec;
    if (!has_resources(asked, pod))
        return "other requests";
    if (!has_selector(asked->node_selector, has->node_selector, whole))
        return "another nodeSelector";
    if (!has_affinity(asked->affinity, has->affinity, whole))
        return "another affinity";
    if (!has_spread(asked->spread, has->spread, whole))
        return "another topology spread";
    if (!has_tolerations(asked->tolerations, has->tolerations))
        return "other tolerations";
    if (!has_claims(asked->volumes, has->volumes))
        return "other claims";
    if (asked->host_network != has->host_network ||
        !has_ports(asked->containers, has->containers) ||
        !has_ports(asked->init_containers, has->init_containers))
        return "other host ports";
    if (!has_word(asked->scheduler, has->scheduler))
        return "another scheduler";
    if (!has_word(asked->priority_class, has->priority_class))
        return "another priority";
    return list_len(asked->claims) && !list_len(has->claims) ? "ResourceClaims" : NULL;
}

/* --- all of it --- */

static bool is_of_other_revision(const struct pod *pod, const struct stateful_set *set) {
    const char *made = set ? map_get(pod->meta.labels, REVISION_LABEL) : NULL;
    return !str_empty(made) && !str_empty(set->update_revision) &&
           !streq(made, set->update_revision);
}

const char *maker_doubt(struct arena *arena, const struct pod *pod, const struct maker *maker) {
    const struct owner *o = meta_controller(&pod->meta);
    if (!o || pod_finished(pod))
        return NULL;
    if (!maker_is_known(o))
        return arena_printf(arena, "whether %s %s makes them again, and when, nobody can tell",
                            strna(o->kind), strna(o->name));
    const struct pod_spec *asked = maker->template ? &maker->template->spec : NULL;
    if (!asked || !pod->spec)
        return NULL;
    if (list_len(asked->gates))
        return arena_printf(arena,
                            "the template of %s %s has the scheduling gate %s, which somebody "
                            "takes off or not",
                            strna(o->kind), strna(o->name), strna(asked->gates[0].name));
    const char *what = difference(asked, pod, is_of_other_revision(pod, maker->set));
    return what ? arena_printf(arena, "the template of %s %s asks for %s than the pod has",
                               strna(o->kind), strna(o->name), what)
                : NULL;
}

struct maker maker_of(const struct pod *pod, const struct object *owner) {
    const struct owner *o = meta_controller(&pod->meta);
    struct maker m = {0};
    if (!o || !owner || !str_same(owner->meta.uid, o->uid))
        return m;
    if (str_same(o->kind, "StatefulSet")) {
        m.set = (const struct stateful_set *)owner;
        m.template = m.set->template;
    } else if (str_same(o->kind, "ReplicaSet")) {
        m.template = ((const struct replica_set *)owner)->template;
    } else if (str_same(o->kind, "Job")) {
        m.template = ((const struct job *)owner)->template;
    }
    return m;
}

struct maker maker_find(const struct pod *pod, const struct store *replica_sets,
                        const struct store *stateful_sets, const struct store *jobs) {
    const struct owner *o = meta_controller(&pod->meta);
    const struct store *store = !o                                 ? NULL
                                : str_same(o->kind, "StatefulSet") ? stateful_sets
                                : str_same(o->kind, "ReplicaSet")  ? replica_sets
                                : str_same(o->kind, "Job")         ? jobs
                                                                   : NULL;
    return maker_of(pod, store && o->name ? store_get(store, pod->meta.ns, o->name) : NULL);
}
