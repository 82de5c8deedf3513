/* What is in the way of evicting pods of a node: each pod is looked at, pods with the same reason
 * are one link. */
#include <stdlib.h>

#include "base/timefmt.h"
#include "engine/budget.h"
#include "engine/podrole.h"
#include "engine/why_internal.h"

enum {
    /* As a drain counts (engine/drain_pod.c): kubelets report within 10 s or so. */
    STUCK_AFTER = POD_STUCK_AFTER,
};

#define UNSCHEDULABLE_TAINT "node.kubernetes.io/unschedulable"
#define IGNORE_MARKS                                                                               \
    "{apiVersion: slipway.dev/v1alpha1, kind: DrainRules, marks: ignore}" /* engine/rules.h */

/* What makes a reason; those without a code of their own come after the blockers. */
enum reason {
    REASON_LOCAL_VOLUME = BLOCKER_CODES, /* of LocalPV, and no reason for a drain to wait */
    REASON_ONE_NODE,                     /* its selector or affinity names this node alone */
    REASON_FINALIZER,                    /* that somebody will have to take off */
    REASON_ORPHAN,                       /* a DaemonSet's pod without its DaemonSet */
};

/* What needs a flag keeps a drain from beginning at all. */
enum weight { WEIGHT_NONE, WEIGHT_WAIT, WEIGHT_NEVER, WEIGHT_FLAG };

struct group {
    int reason;
    const char *key;
    why_pods pods;
};

struct sorting {
    struct making *m;
    struct why_counts *counts;
    VEC(struct group) groups;
    enum weight weight; /* of the pod at hand */
    bool needs_force, needs_emptydir;
};

static bool needs_flag(int reason) {
    return reason == BLOCKER_BARE_POD || reason == BLOCKER_LOCAL_STORAGE || reason == REASON_ORPHAN;
}

static enum weight weight_of(const struct making *m, int reason) {
    if (needs_flag(reason)) /* a drain that has begun was given it */
        return m->out->draining ? WEIGHT_NONE : WEIGHT_FLAG;
    /* As in a plan: it may well answer again, but nobody can tell when. */
    if (reason == REASON_FINALIZER || reason == BLOCKER_NODE_UNREACHABLE)
        return WEIGHT_WAIT;
    if (reason == BLOCKER_RETURNS) /* a drain that has begun tells when it comes about */
        return m->out->draining ? WEIGHT_NONE : WEIGHT_WAIT;
    if (reason >= BLOCKER_CODES)
        return WEIGHT_NONE;
    return blocker_row((enum blocker_code)reason)->severity == SEVERITY_ERROR ? WEIGHT_NEVER
                                                                              : WEIGHT_WAIT;
}

static void note(struct sorting *s, int reason, const char *key, const struct pod *pod) {
    struct group *g = NULL;
    for (size_t i = 0; i < s->groups.len && !g; i++)
        if (s->groups.p[i].reason == reason && streq(s->groups.p[i].key, key))
            g = &s->groups.p[i];
    if (!g) {
        g = vec_push(&s->groups);
        *g = (struct group){.reason = reason, .key = key};
    }
    *vec_push(&g->pods) = pod;
    enum weight weight = weight_of(s->m, reason);
    s->weight = MAX_OF(s->weight, weight);
    if (reason == REASON_FINALIZER || reason == REASON_LOCAL_VOLUME || reason == REASON_ONE_NODE)
        *vec_push(&s->m->told) = pod; /* it goes all the same */
    else if (weight == WEIGHT_WAIT || weight == WEIGHT_NEVER)
        *vec_push(&s->m->held) = pod;
    s->needs_force |= reason == BLOCKER_BARE_POD || reason == REASON_ORPHAN;
    s->needs_emptydir |= reason == BLOCKER_LOCAL_STORAGE;
}

/* --- one pod --- */

/* The node that its template names in spec.nodeName, or NULL. */
static const char *template_node(struct making *m, const struct pod *pod) {
    const struct owner *o = meta_controller(&pod->meta);
    if (!o || !str_same(o->api_version, "apps/v1"))
        return NULL;
    if (str_same(o->kind, "StatefulSet")) {
        const struct stateful_set *s = why_look(m, &kind_stateful_set, pod->meta.ns, o->name, NULL);
        return s && s->template ? s->template->spec.node_name : NULL;
    }
    if (!str_same(o->kind, "ReplicaSet"))
        return NULL;
    const struct replica_set *r = why_look(m, &kind_replica_set, pod->meta.ns, o->name, NULL);
    return r ? r->template_node : NULL;
}

/* The first of its volumes whose data is on this node and nowhere else, or NULL. */
static const struct pv *local_volume(struct making *m, const struct pod *pod) {
    const struct volume *list = pod->spec ? pod->spec->volumes : NULL;
    for (size_t i = 0; i < list_len(list); i++) {
        const struct pvc *c =
            list[i].claim ? why_look(m, &kind_pvc, pod->meta.ns, list[i].claim->claim, NULL) : NULL;
        const struct pv *pv = c ? why_look(m, &kind_pv, NULL, strna(c->volume_name), NULL) : NULL;
        if (pv && volume_is_local(pv))
            return pv;
    }
    return NULL;
}

/* The finalizers that not Kubernetes itself takes off. */
static const char *finalizers_of(struct making *m, const struct pod *pod) {
    _cleanup_str_ struct str names = STR_INIT;
    pod_foreign_finalizers(pod, &names);
    return why_text(m, &names);
}

static void look_at_leaving(struct sorting *s, const struct pod *pod) {
    struct making *m = s->m;
    bool late = m->w->now - pod->meta.deleted > SEC(STUCK_AFTER);
    const char *finalizers = finalizers_of(m, pod);
    s->counts->leaving++;
    if (node_is_lost(m->node))
        note(s, BLOCKER_NODE_UNREACHABLE, "", pod);
    else if (*finalizers)
        note(s, late || pod_finished(pod) ? BLOCKER_FINALIZER_STUCK : REASON_FINALIZER, finalizers,
             pod);
    else if (late)
        note(s, BLOCKER_TERMINATING_STUCK, "", pod);
}

static bool is_orphan(struct making *m, const struct pod *pod) {
    const struct owner *o = meta_controller(&pod->meta);
    bool gone;
    if (!str_same(o->api_version, "apps/v1"))
        return false; /* of other groups nobody can tell */
    const struct daemon_set *d = why_look(m, &kind_daemon_set, pod->meta.ns, o->name, &gone);
    return gone || (d && !str_same(d->meta.uid, o->uid));
}

static void look_at_budgets(struct sorting *s, const struct pod *pod) {
    static const enum blocker_code codes[] = {
        [BUDGET_WAITS] = BLOCKER_PDB_NO_BUDGET,
        [BUDGET_NEVER] = BLOCKER_PDB_UNSATISFIABLE,
        [BUDGET_FAILED] = BLOCKER_PDB_SYNC_FAILED,
        [BUDGET_MULTIPLE] = BLOCKER_MULTIPLE_PDBS,
    };
    size_t n;
    _cleanup_str_ struct str key = STR_INIT;
    const struct pdb *const *budgets = pdbs_of_pod(s->m->w->pdbs, pod, &n);
    enum budget_verdict verdict = budget_for_pod(pod, budgets, n);
    if (verdict == BUDGET_ALLOWS)
        return;
    for (size_t i = 0; i < n; i++)
        str_addf(&key, "%s/%s ", strna(pod->meta.ns), strna(budgets[i]->meta.name));
    note(s, (int)codes[verdict], why_text(s->m, &key), pod);
}

static bool is_terminating(struct making *m, const char *ns) {
    const struct ns *n = why_look(m, &kind_namespace, NULL, strna(ns), NULL);
    return n && (n->meta.deleted || str_same(n->phase, "Terminating"));
}

/* Of a pod that a drain would ask to go. */
static void look_at_going(struct sorting *s, const struct pod *pod) {
    struct making *m = s->m;
    const struct owner *o = meta_controller(&pod->meta);
    if (!o)
        note(s, BLOCKER_BARE_POD, "", pod);
    if (pod_has_local_data(pod))
        note(s, BLOCKER_LOCAL_STORAGE, "", pod);
    if (is_terminating(m, pod->meta.ns))
        note(s, BLOCKER_NAMESPACE_TERMINATING, strna(pod->meta.ns), pod);
    if (node_is_lost(m->node))
        note(s, BLOCKER_NODE_UNREACHABLE, "", pod);
    const char *pinned = template_node(m, pod);
    if (!str_empty(pinned) && str_same(pinned, pod->node_name))
        note(s, BLOCKER_PINNED, arena_printf(m->arena, "%s/%s", strna(pod->meta.ns), o->name), pod);
    else if (pod_may_return(pod))
        note(s, BLOCKER_RETURNS, "", pod);
    look_at_budgets(s, pod);
    const struct pv *pv = local_volume(m, pod);
    if (pv)
        note(s, REASON_LOCAL_VOLUME, "", pod);
    else if (o && str_empty(pinned) && pod_wants_one_node(pod) && !pod_may_return(pod))
        note(s, REASON_ONE_NODE, "", pod);
    const char *finalizers = finalizers_of(m, pod);
    if (*finalizers)
        note(s, REASON_FINALIZER, finalizers, pod);
}

static void look_at_pod(struct sorting *s, const struct pod *pod) {
    struct making *m = s->m;
    struct rule_verdict rule;
    enum pod_role role = pod_role(pod);
    rules_apply(m->rules, pod, &rule);
    if (role == POD_MIRROR || (role == POD_DAEMON && !is_orphan(m, pod)) ||
        (role != POD_DAEMON && rule.action == RULE_SKIP)) {
        s->counts->stays++;
        *vec_push(&m->held) = pod;
        return;
    }
    if (pod->meta.deleted) {
        look_at_leaving(s, pod);
        return;
    }
    s->counts->moves++;
    if (role == POD_FINISHED)
        return;
    if (role == POD_DAEMON) {
        note(s, REASON_ORPHAN, "", pod);
        return;
    }
    if (rule.action == RULE_HOLD)
        note(s, BLOCKER_DO_NOT_DISRUPT, rule.name, pod);
    if (rule.action == RULE_WAIT)
        note(s, BLOCKER_JOB_RUNNING, rule.name, pod);
    look_at_going(s, pod);
}

/* --- links --- */

static const char *kubectl_pod(struct making *m, const char *before, const struct pod *pod,
                               const char *after) {
    return arena_printf(m->arena, "kubectl -n %s %s %s%s", why_shell(m, strna(pod->meta.ns)),
                        before, why_shell(m, strna(pod->meta.name)), after);
}

static const char *drain_with(struct making *m, const struct pod *pod, const char *flags) {
    return arena_printf(m->arena, "slipway drain %s %s", why_shell(m, strna(pod->node_name)),
                        flags);
}

static const char *flags_needed(const struct sorting *s) {
    return s->needs_force && s->needs_emptydir ? "--force --delete-emptydir-data"
           : s->needs_force                    ? "--force"
                                               : "--delete-emptydir-data";
}

static const char *plural(size_t n, const char *one, const char *more) {
    return n == 1 ? one : more;
}

static struct why_link *bare_link(struct sorting *s, const struct group *g) {
    struct making *m = s->m;
    const struct pod *pod = g->pods.p[0];
    bool orphan = g->reason == REASON_ORPHAN;
    size_t n = g->pods.len;
    const char *text =
        orphan ? arena_printf(m->arena, "its DaemonSet %s is gone: nothing brings it back",
                              strna(meta_controller(&pod->meta)->name))
               : arena_printf(m->arena, "%s no controller: nothing brings %s back",
                              plural(n, "it has", "they have"), plural(n, "it", "them"));
    struct why_link *l = why_link_new(m, BLOCKER_BARE_POD, kind_pod.name, "", text);
    if (!orphan)
        why_link_remedy(m, l, WHY_RISK_NONE, "keep a copy to make it again from",
                        kubectl_pod(m, "get pod", pod,
                                    arena_printf(m->arena, " -o yaml > %s.yaml",
                                                 why_shell(m, strna(pod->meta.name)))),
                        NULL);
    why_link_remedy(m, l, WHY_RISK_SERVICE, "drain with --force",
                    drain_with(m, pod, flags_needed(s)),
                    s->needs_emptydir ? "gone for good, and so is emptyDir data"
                                      : plural(n, "it is gone for good", "they are gone for good"));
    return l;
}

static struct why_link *emptydir_link(struct sorting *s, const struct group *g) {
    struct making *m = s->m;
    size_t n = g->pods.len;
    struct why_link *l = why_link_new(m, BLOCKER_LOCAL_STORAGE, kind_pod.name, "",
                                      arena_printf(m->arena, "emptyDir data of %s is lost when %s",
                                                   plural(n, "the pod", "the pods"),
                                                   plural(n, "it goes", "they go")));
    why_link_remedy(m, l, WHY_RISK_DATA, "drain with --delete-emptydir-data",
                    drain_with(m, g->pods.p[0], flags_needed(s)),
                    "the data is lost: save what matters first");
    return l;
}

static struct why_link *pinned_link(struct making *m, const struct group *g) {
    const struct pod *pod = g->pods.p[0];
    const struct owner *o = meta_controller(&pod->meta);
    struct why_owner up;
    why_owner_of(m, pod, &up);
    const char *resource = up.resource ? up.resource : "replicaset";
    const char *name = up.name ? up.name : strna(o->name);
    struct why_link *l = why_link_new(
        m, BLOCKER_PINNED, kind_pod.name, why_name(m, &pod->meta),
        arena_printf(m->arena,
                     "the template of %s %s names this node in spec.nodeName: evicted, the pod is "
                     "put back here, cordoned or not",
                     resource, name));
    why_link_remedy(
        m, l, WHY_RISK_LOW, "take spec.nodeName out of the template",
        arena_printf(m->arena,
                     "kubectl -n %s patch %s %s --type=json -p "
                     "'[{\"op\":\"remove\",\"path\":\"/spec/template/spec/nodeName\"}]'",
                     why_shell(m, strna(pod->meta.ns)), resource, why_shell(m, name)),
        "its pods are made anew, on other nodes");
    why_link_remedy(
        m, l, WHY_RISK_SERVICE,
        arena_printf(m->arena, "delete the %s; deleting the pod is not enough", resource),
        arena_printf(m->arena, "kubectl -n %s delete %s %s", why_shell(m, strna(pod->meta.ns)),
                     resource, why_shell(m, name)),
        "it is down until somebody creates it again");
    return l;
}

static struct why_link *returns_link(struct making *m, const struct group *g) {
    struct why_link *l =
        why_link_new(m, BLOCKER_RETURNS, kind_pod.name, "",
                     arena_printf(m->arena,
                                  "%s " UNSCHEDULABLE_TAINT
                                  ": the scheduler may put %s back on the cordoned node",
                                  plural(g->pods.len, "it tolerates", "they tolerate"),
                                  plural(g->pods.len, "it", "them")));
    if (m->out->draining || m->pod) {
        l->blocks = false;
        l->severity = SEVERITY_INFO;
    }
    why_link_remedy(m, l, WHY_RISK_LOW, "take the toleration out of the template", NULL,
                    "its pods are made anew");
    return l;
}

static struct why_link *mark_link(struct making *m, const struct group *g) {
    const struct pod *pod = g->pods.p[0];
    const char *end = strchr(g->key, '=');
    size_t len = end ? (size_t)(end - g->key) : strlen(g->key);
    bool job = g->reason == BLOCKER_JOB_RUNNING;
    size_t n = g->pods.len;
    struct why_link *l = why_link_new(
        m, g->reason, kind_pod.name, "",
        job ? arena_printf(m->arena, "%s finish by %s (%s)", plural(n, "it shall", "they shall"),
                           plural(n, "itself", "themselves"), g->key)
            : arena_printf(m->arena,
                           "%s marked %s: a drain waits until the mark is taken off, "
                           "or %s gone",
                           plural(n, "it is", "they are"), g->key, plural(n, "it is", "they are")));
    why_link_remedy(
        m, l, WHY_RISK_NONE,
        plural(g->pods.len, "wait until it has finished", "wait until they have finished"), NULL,
        NULL);
    why_link_remedy(m, l, WHY_RISK_SERVICE, "take the mark off",
                    kubectl_pod(m, job ? "label pod" : "annotate pod", pod,
                                arena_printf(m->arena, " %.*s-", (int)len, g->key)),
                    "what it does is interrupted");
    if (g->pods.len > 1) /* all at once, without touching them */
        why_link_remedy(m, l, WHY_RISK_SERVICE, "drain with rules that ignore marks",
                        arena_printf(m->arena,
                                     "echo '" IGNORE_MARKS "' | slipway drain %s --rules -",
                                     why_shell(m, strna(pod->node_name))),
                        "whatever is marked is interrupted");
    return l;
}

static struct why_link *finalizer_link(struct making *m, const struct group *g) {
    const struct pod *pod = g->pods.p[0];
    size_t n = g->pods.len;
    bool stuck = g->reason == BLOCKER_FINALIZER_STUCK;
    struct why_link *l = why_link_new(
        m, BLOCKER_FINALIZER_STUCK, kind_pod.name, "",
        stuck ? arena_printf(m->arena, "%s, but the finalizer %s keeps %s",
                             pod_finished(pod) ? plural(n, "it has stopped", "they have stopped")
                                               : "the grace period is over",
                             g->key, plural(n, "its object", "their objects"))
              : arena_printf(m->arena, "%s the finalizer %s: a drain waits until that is taken off",
                             plural(n, "it has", "they have"), g->key));
    if (stuck)
        l->since = pod->meta.deleted;
    why_link_remedy(m, l, WHY_RISK_NONE, "find out who sets it, and why that is not done",
                    kubectl_pod(m, "describe pod", pod, ""), NULL);
    why_link_remedy(
        m, l, WHY_RISK_DATA, "take it off",
        kubectl_pod(m, "patch pod", pod, " --type=merge -p '{\"metadata\":{\"finalizers\":null}}'"),
        "what it guards is never done");
    return l;
}

static struct why_link *stuck_link(struct making *m, const struct group *g) {
    const struct pod *pod = g->pods.p[0];
    struct why_link *l = why_link_new(
        m, BLOCKER_TERMINATING_STUCK, kind_pod.name, "",
        plural(g->pods.len, "it should have stopped by now", "they should have stopped by now"));
    l->since = pod->meta.deleted;
    why_link_remedy(m, l, WHY_RISK_NONE, "look at it and at the kubelet of its node",
                    kubectl_pod(m, "describe pod", pod, ""), NULL);
    why_link_remedy(m, l, WHY_RISK_DATA, "remove its object although it may still run",
                    kubectl_pod(m, "delete pod", pod, " --grace-period=0 --force"),
                    "two pods may write to one volume");
    return l;
}

static struct why_link *lost_link(struct making *m, const struct group *g) {
    const struct node *node = m->node;
    const struct node_condition *c = node_condition_find(node->conditions, "Ready");
    const char *name = why_shell(m, node->meta.name);
    struct why_link *l = why_link_new(
        m, BLOCKER_NODE_UNREACHABLE, kind_node.name, node->meta.name,
        arena_printf(m->arena,
                     "the node does not answer (%s): nobody can tell whether its pods have stopped",
                     str_empty(c->c.reason) ? "Ready is Unknown" : c->c.reason));
    (void)g;
    l->since = c->c.changed;
    why_link_remedy(m, l, WHY_RISK_NONE, "bring the node back: it then tells what has stopped",
                    NULL, NULL);
    why_link_remedy(m, l, WHY_RISK_DATA,
                    "if it is off for certain, say so (and take the taint off when it is back)",
                    arena_printf(m->arena,
                                 "kubectl taint node %s "
                                 "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute",
                                 name),
                    "if it still runs, two pods write to one volume");
    return l;
}

static struct why_link *namespace_link(struct making *m, const struct group *g) {
    static const char *const types[] = {
        "NamespaceDeletionDiscoveryFailure", "NamespaceDeletionGroupVersionParsingFailure",
        "NamespaceDeletionContentFailure", "NamespaceContentRemaining",
        "NamespaceFinalizersRemaining"};
    const struct ns *ns = why_look(m, &kind_namespace, NULL, g->key, NULL);
    struct why_link *l =
        why_link_new(m, BLOCKER_NAMESPACE_TERMINATING, kind_namespace.name, g->key,
                     "the namespace is being deleted: its pods go with it, they are not evicted");
    l->since = ns ? ns->meta.deleted : 0;
    for (size_t i = 0; ns && i < ARRAY_LEN(types); i++) {
        const struct condition *c = condition_find(ns->conditions, types[i]);
        if (!c || !str_same(c->status, "True"))
            continue;
        struct why_link *cause =
            why_link_new(m, WHY_NO_CODE, kind_namespace.name, g->key, strna(c->message));
        cause->since = c->changed;
        why_link_cause(m, l, cause);
    }
    why_link_remedy(
        m, l, WHY_RISK_NONE, "wait; if it does not end, look at its conditions",
        arena_printf(m->arena, "kubectl get namespace %s -o yaml", why_shell(m, g->key)), NULL);
    return l;
}

static struct why_link *stays_pending_link(struct making *m, const struct group *g) {
    const struct pod *pod = g->pods.p[0];
    const struct pv *pv = g->reason == REASON_LOCAL_VOLUME ? local_volume(m, pod) : NULL;
    size_t n = g->pods.len;
    const char *text =
        pv ? arena_printf(m->arena,
                          "the data of %s is on a disk of this node (volume %s%s): %s "
                          "Pending until the node is back",
                          plural(n, "the pod", "the pods"), strna(pv->meta.name),
                          n == 1 ? "" : ", ...", plural(n, "it stays", "they stay"))
           : arena_printf(m->arena, "%s for this node alone: evicted, %s Pending until it is back",
                          plural(n, "it asks", "they ask"), plural(n, "it stays", "they stay"));
    struct why_link *l =
        why_link_new(m, pv ? BLOCKER_LOCAL_PV : BLOCKER_NO_ROOM, kind_pod.name, "", text);
    /* The drain itself ends; who asks for room wants to know whether all find some. */
    l->blocks = m->w->room && !m->out->draining && !m->pod;
    why_link_remedy(m, l, WHY_RISK_SERVICE,
                    pv ? "drain only if the node comes back with its disk"
                       : "drain only if the node comes back",
                    NULL, "down as long as the node is");
    return l;
}

static struct why_link *budget_link(struct making *m, const struct group *g) {
    size_t n;
    const struct pdb *const *budgets = pdbs_of_pod(m->w->pdbs, g->pods.p[0], &n);
    return g->reason == BLOCKER_MULTIPLE_PDBS
               ? why_budgets_link(m, budgets, n, g->pods.p, g->pods.len)
               : why_budget_link(m, (enum blocker_code)g->reason, budgets[0], g->pods.p,
                                 g->pods.len);
}

static struct why_link *link_of(struct sorting *s, const struct group *g) {
    struct making *m = s->m;
    switch (g->reason) {
    case BLOCKER_BARE_POD:
    case REASON_ORPHAN:
        return bare_link(s, g);
    case BLOCKER_LOCAL_STORAGE:
        return emptydir_link(s, g);
    case BLOCKER_PINNED:
        return pinned_link(m, g);
    case BLOCKER_RETURNS:
        return returns_link(m, g);
    case BLOCKER_DO_NOT_DISRUPT:
    case BLOCKER_JOB_RUNNING:
        return mark_link(m, g);
    case BLOCKER_FINALIZER_STUCK:
    case REASON_FINALIZER:
        return finalizer_link(m, g);
    case BLOCKER_TERMINATING_STUCK:
        return stuck_link(m, g);
    case BLOCKER_NODE_UNREACHABLE:
        return lost_link(m, g);
    case BLOCKER_NAMESPACE_TERMINATING:
        return namespace_link(m, g);
    case REASON_LOCAL_VOLUME:
    case REASON_ONE_NODE:
        return stays_pending_link(m, g);
    default:
        return budget_link(m, g);
    }
}

void why_look_at_pods(struct making *m, const struct pod *const *pods, size_t n,
                      struct why_counts *counts) {
    struct sorting s = {.m = m, .counts = counts};
    for (size_t i = 0; i < n; i++) {
        s.weight = WEIGHT_NONE;
        look_at_pod(&s, pods[i]);
        counts->never += s.weight == WEIGHT_NEVER;
        counts->flag += s.weight == WEIGHT_FLAG;
        counts->wait += s.weight == WEIGHT_WAIT;
    }
    for (size_t i = 0; i < s.groups.len; i++) {
        struct group *g = &s.groups.p[i];
        struct why_link *l = link_of(&s, g);
        why_link_pods(m, l, g->pods.p, g->pods.len);
        if (needs_flag(g->reason) && m->out->draining) {
            l->blocks = false;
            l->severity = SEVERITY_INFO;
        }
        *vec_push(&m->links) = l;
        vec_done(&g->pods);
    }
    vec_done(&s.groups);
}
