/* What is in the way of evicting pods of a node: each pod is looked at, pods with the same reason
 * are one link. */
#include <stdlib.h>

#include "base/timefmt.h"
#include "engine/budget.h"
#include "engine/guard.h"
#include "engine/podrole.h"
#include "engine/remedy.h"
#include "engine/why_internal.h"

enum {
    /* As a drain counts (engine/drain_pod.c): kubelets report within 10 s or so. */
    STUCK_AFTER = POD_STUCK_AFTER,
};

#define UNSCHEDULABLE_TAINT "node.kubernetes.io/unschedulable"

/* What makes a reason; those without a code of their own come after the blockers. */
enum reason {
    REASON_LOCAL_VOLUME = BLOCKER_CODES, /* of LocalPV, and no reason for a drain to wait */
    REASON_ONE_NODE,                     /* its selector or affinity names this node alone */
    REASON_FINALIZER,                    /* that somebody will have to take off */
    REASON_GUARD,                        /* a budget that an operator lets go of by itself */
    REASON_ORPHAN,                       /* a DaemonSet's pod without its DaemonSet */
};

/* What needs a flag keeps a drain from beginning at all. */
enum weight { WEIGHT_NONE, WEIGHT_WAIT, WEIGHT_NEVER, WEIGHT_FLAG };

struct group {
    int reason;
    const char *key;
    struct remade remade; /* of those about that */
    why_pods pods;
};

struct sorting {
    struct making *m;
    struct remake remake;
    why_pods remade; /* that are made again, each by itself */
    struct why_counts *counts;
    VEC(struct group) groups;
    enum weight weight; /* of the pod at hand */
    bool needs_force, needs_emptydir;
};

static bool needs_flag(int reason) {
    return reason == BLOCKER_BARE_POD || reason == BLOCKER_LOCAL_STORAGE || reason == REASON_ORPHAN;
}

static bool is_unmade(int reason) {
    return reason == BLOCKER_JOB_WOULD_FAIL || reason == BLOCKER_REPLACEMENT_REFUSED;
}

static enum weight weight_of(const struct making *m, int reason) {
    if (needs_flag(reason)) /* a drain that has begun was given it */
        return m->out->draining ? WEIGHT_NONE : WEIGHT_FLAG;
    /* As in a plan: it may well answer again, but nobody can tell when. */
    if (reason == REASON_FINALIZER || reason == BLOCKER_NODE_UNREACHABLE)
        return WEIGHT_WAIT;
    /* What a drain ends is in nobody's way before it has begun (engine/why_checks.c). */
    if (reason == REASON_GUARD)
        return m->node && m->node->unschedulable ? WEIGHT_WAIT : WEIGHT_NONE;
    if (reason == BLOCKER_RETURNS) /* a drain that has begun tells when it comes about */
        return m->out->draining ? WEIGHT_NONE : WEIGHT_WAIT;
    if (reason >= BLOCKER_CODES || is_unmade(reason)) /* it goes all the same */
        return WEIGHT_NONE;
    return blocker_row((enum blocker_code)reason)->severity == SEVERITY_ERROR ? WEIGHT_NEVER
                                                                              : WEIGHT_WAIT;
}

static struct group *note(struct sorting *s, int reason, const char *key, const struct pod *pod) {
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
    if (reason == REASON_FINALIZER || reason == REASON_LOCAL_VOLUME || reason == REASON_ONE_NODE ||
        is_unmade(reason))
        *vec_push(&s->m->told) = pod; /* it goes all the same */
    else if (weight == WEIGHT_WAIT || weight == WEIGHT_NEVER || reason == REASON_GUARD)
        *vec_push(&s->m->held) = pod;
    s->counts->homeless += reason == REASON_LOCAL_VOLUME || reason == REASON_ONE_NODE;
    s->needs_force |= reason == BLOCKER_BARE_POD || reason == REASON_ORPHAN;
    s->needs_emptydir |= reason == BLOCKER_LOCAL_STORAGE;
    return g;
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
    return r && r->template ? r->template->spec.node_name : NULL;
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
    enum budget_verdict verdict = budget_for_pod(pod, budgets, n, &s->m->budget_owners);
    if (verdict == BUDGET_ALLOWS)
        return;
    for (size_t i = 0; i < n; i++)
        str_addf(&key, "%s/%s ", strna(pod->meta.ns), strna(budgets[i]->meta.name));
    bool guarded = budget_holds(verdict) && guard_of_pod(pod, budgets, n);
    note(s, guarded ? (int)REASON_GUARD : (int)codes[verdict], why_text(s->m, &key), pod);
}

static bool is_terminating(struct making *m, const char *ns) {
    const struct ns *n = why_look(m, &kind_namespace, NULL, strna(ns), NULL);
    return n && (n->meta.deleted || str_same(n->phase, "Terminating"));
}

/* Pods of one Job, or that one thing keeps from being made again, are one link. */
static void note_unmade(struct sorting *s, const struct pod *pod, const struct remade *remade) {
    struct making *m = s->m;
    const char *key =
        arena_printf(m->arena, "%s %s/%s", remade->kind->name, remade->ns, remade->name);
    struct group *g = note(s, (int)remade->code, key, pod);
    if (g->pods.len == 1)
        g->remade = *remade;
    *vec_push(&m->unmade) = pod;
    s->counts->unmade++;
}

static bool look_at_remaking(struct sorting *s, const struct pod *pod) {
    struct remade remade;
    if (!remake_judge(&s->remake, pod, &remade)) {
        *vec_push(&s->remade) = pod;
        return false;
    }
    note_unmade(s, pod, &remade);
    return true;
}

/* Jobs that fail because of one pod, and with it the others. */
static void look_at_rest(struct sorting *s) {
    for (size_t i = 0; i < s->groups.len; i++)
        if (s->groups.p[i].reason == BLOCKER_JOB_WOULD_FAIL)
            remake_judge_rest(&s->remake, s->groups.p[i].pods.p[0], &s->groups.p[i].remade);
    for (size_t i = 0; i < s->remade.len; i++) {
        struct remade remade = {.end = REMAKE_WELL};
        if (remake_judge_rest(&s->remake, s->remade.p[i], &remade))
            note_unmade(s, s->remade.p[i], &remade);
    }
    vec_done(&s->remade);
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
    /* What nobody makes again does not wait for a place. */
    if (!is_terminating(m, pod->meta.ns) && look_at_remaking(s, pod))
        ;
    else if (o && (guard_is_on_disk(pod) || local_volume(m, pod)))
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
    struct remedies remedies;
    remedy_bare(m->arena, pod, n, drain_with(m, pod, flags_needed(s)), orphan, s->needs_emptydir,
                &remedies);
    why_use_remedies(m, l, &remedies);
    return l;
}

static struct why_link *emptydir_link(struct sorting *s, const struct group *g) {
    struct making *m = s->m;
    size_t n = g->pods.len;
    struct why_link *l = why_link_new(m, BLOCKER_LOCAL_STORAGE, kind_pod.name, "",
                                      arena_printf(m->arena, "emptyDir data of %s is lost when %s",
                                                   plural(n, "the pod", "the pods"),
                                                   plural(n, "it goes", "they go")));
    struct remedies remedies;
    remedy_empty_dir(drain_with(m, g->pods.p[0], flags_needed(s)), &remedies);
    why_use_remedies(m, l, &remedies);
    return l;
}

/* Its owner, and of a ReplicaSet that cannot be read at least its name. */
static struct remedy_owner owner_of(struct making *m, const struct pod *pod) {
    const struct owner *o = meta_controller(&pod->meta);
    struct why_owner up;
    why_owner_of(m, pod, &up);
    bool bare = !up.resource && o && str_same(o->kind, "ReplicaSet");
    return (struct remedy_owner){.resource = bare ? "replicaset" : up.resource,
                                 .ns = pod->meta.ns,
                                 .name = up.name ? up.name : strna(o ? o->name : NULL),
                                 .replicas = up.replicas};
}

static struct why_link *pinned_link(struct making *m, const struct group *g) {
    const struct pod *pod = g->pods.p[0];
    struct remedy_owner owner = owner_of(m, pod);
    struct remedies remedies;
    struct why_link *l = why_link_new(
        m, BLOCKER_PINNED, kind_pod.name, why_name(m, &pod->meta),
        arena_printf(m->arena,
                     "the template of %s %s names this node in spec.nodeName: evicted, the pod is "
                     "put back here, cordoned or not",
                     strna(owner.resource), owner.name));
    remedy_pinned(m->arena, &owner, &remedies);
    why_use_remedies(m, l, &remedies);
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
    struct why_owner up;
    struct remedies remedies;
    struct remedy_owner owner = owner_of(m, g->pods.p[0]);
    why_owner_of(m, g->pods.p[0], &up);
    remedy_returns(m->arena, &owner, up.template, &remedies);
    why_use_remedies(m, l, &remedies);
    return l;
}

static struct why_link *mark_link(struct making *m, const struct group *g) {
    const struct pod *pod = g->pods.p[0];
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
    struct remedies remedies;
    remedy_mark(m->arena, pod, n, g->key, job, &remedies);
    why_use_remedies(m, l, &remedies);
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
    struct remedies remedies;
    remedy_finalizer(m->arena, pod, pod->meta.deleted != 0, &remedies);
    why_use_remedies(m, l, &remedies);
    return l;
}

static struct why_link *stuck_link(struct making *m, const struct group *g) {
    const struct pod *pod = g->pods.p[0];
    struct why_link *l = why_link_new(
        m, BLOCKER_TERMINATING_STUCK, kind_pod.name, "",
        plural(g->pods.len, "it should have stopped by now", "they should have stopped by now"));
    l->since = pod->meta.deleted;
    struct remedies remedies;
    remedy_stuck(m->arena, pod, &remedies);
    why_use_remedies(m, l, &remedies);
    return l;
}

static struct why_link *lost_link(struct making *m, const struct group *g) {
    const struct node *node = m->node;
    const struct node_condition *c = node_condition_find(node->conditions, "Ready");
    struct remedies remedies;
    _cleanup_str_ struct str text = STR_INIT;
    node_lost_explain(node, &text);
    str_add(&text, "; nobody can tell whether its pods have stopped");
    struct why_link *l = why_link_new(m, BLOCKER_NODE_UNREACHABLE, kind_node.name, node->meta.name,
                                      why_text(m, &text));
    (void)g;
    l->since = c->c.changed;
    remedy_lost_node(m->arena, node->meta.name, &remedies);
    why_use_remedies(m, l, &remedies);
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
    struct remedies remedies;
    remedy_namespace(m->arena, g->key, &remedies);
    why_use_remedies(m, l, &remedies);
    return l;
}

static struct why_link *stays_pending_link(struct making *m, const struct group *g) {
    const struct pod *pod = g->pods.p[0];
    const struct pv *pv = g->reason == REASON_LOCAL_VOLUME ? local_volume(m, pod) : NULL;
    size_t n = g->pods.len;
    bool disk = guard_is_on_disk(pod);
    const char *text =
        disk ? arena_printf(m->arena,
                            "the data of %s is on disks of this node: down until the node is back",
                            plural(n, "the pod", "the pods"))
        : pv
            ? arena_printf(m->arena,
                           "the data of %s is on a disk of this node (volume %s%s): %s "
                           "Pending until the node is back",
                           plural(n, "the pod", "the pods"), strna(pv->meta.name),
                           n == 1 ? "" : ", ...", plural(n, "it stays", "they stay"))
            : arena_printf(m->arena, "%s for this node alone: evicted, %s Pending until it is back",
                           plural(n, "it asks", "they ask"), plural(n, "it stays", "they stay"));
    struct why_link *l =
        why_link_new(m, pv || disk ? BLOCKER_LOCAL_PV : BLOCKER_NO_ROOM, kind_pod.name, "", text);
    /* The drain itself ends. Before it has begun that it leaves a pod without a place is reason
     * enough to think again, as in a plan. */
    l->blocks = !m->out->draining;
    struct remedies remedies;
    struct remedy_owner owner = owner_of(m, pod);
    if (pv || disk)
        remedy_local_volume(&remedies);
    else
        remedy_one_node(m->arena, pod, &owner, &remedies);
    why_use_remedies(m, l, &remedies);
    return l;
}

static struct why_link *unmade_link(struct making *m, const struct group *g) {
    const struct remade *r = &g->remade;
    struct remedies remedies;
    struct why_link *l = why_link_new(m, (int)r->code, r->kind->name,
                                      arena_printf(m->arena, "%s/%s", r->ns, r->name), r->text);
    l->blocks = !m->out->draining; /* as above */
    remedy_unmade(m->arena, r, &remedies);
    why_use_remedies(m, l, &remedies);
    return l;
}

static struct why_link *budget_link(struct making *m, const struct group *g) {
    size_t n;
    const struct pdb *const *budgets = pdbs_of_pod(m->w->pdbs, g->pods.p[0], &n);
    if (g->reason == REASON_GUARD)
        return why_guard_link(m, budgets[0], g->pods.p[0]);
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
    case BLOCKER_JOB_WOULD_FAIL:
    case BLOCKER_REPLACEMENT_REFUSED:
        return unmade_link(m, g);
    default:
        return budget_link(m, g);
    }
}

static const void *look_for_remake(void *arg, const struct kind *kind, const char *ns,
                                   const char *name, bool *gone) {
    return why_look(arg, kind, ns, name, gone);
}

/* Of the namespace of the one pod that was asked about, or of all. */
static void add_quotas(struct sorting *s, const struct pod *const *pods, size_t n) {
    const char *ns = s->m->pod && n ? pods[0]->meta.ns : NULL;
    if (n && why_has(s->m, &(struct why_want){
                               .what = WHY_WANT_QUOTAS, .kind = &kind_resource_quota, .ns = ns}))
        remake_quotas(&s->remake, s->m->w->quotas, ns);
}

void why_look_at_pods(struct making *m, const struct pod *const *pods, size_t n,
                      struct why_counts *counts) {
    struct sorting s = {
        .m = m, .remake = REMAKE_INIT(m->arena, look_for_remake, m), .counts = counts};
    add_quotas(&s, pods, n);
    for (size_t i = 0; i < n; i++) {
        s.weight = WEIGHT_NONE;
        look_at_pod(&s, pods[i]);
        counts->never += s.weight == WEIGHT_NEVER;
        counts->flag += s.weight == WEIGHT_FLAG;
        counts->wait += s.weight == WEIGHT_WAIT;
    }
    look_at_rest(&s);
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
    remake_done(&s.remake);
}
