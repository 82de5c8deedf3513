/* Why a pod gets no node: the scheduler's own message, ours for the cluster as it is now, what is
 * missing on the node that is nearest to having room, and whether a cordon keeps it out. */
#include "base/timefmt.h"
#include "engine/fit_lack.h"
#include "engine/maker.h"
#include "engine/moveout.h"
#include "engine/podrole.h"
#include "engine/waiting.h"
#include "engine/why_internal.h"

/* Of the pods of one answer: each asks all nodes, 2 ms for 5,000. */
enum { ROOMS_LOOKED_AT = 4 };

/* --- words --- */

static void tell(struct making *m, struct why_link *l, const char *text) {
    struct why_link *c = why_link_new(m, WHY_NO_CODE, "", "", text);
    c->severity = SEVERITY_INFO;
    why_link_cause(m, l, c);
}

/* Of `n` pods the first is asked about. */
static void tell_lack(struct making *m, struct why_link *l, struct why_link *helped,
                      const struct fit_lack *lack, size_t n) {
    struct arena *a = m->arena;
    if (lack->fits)
        tell(m, l,
             arena_printf(a, "node %s has room for it now; the scheduler has not tried since",
                          lack->fits));
    if (lack->short_of && lack->lack.len) {
        tell(m, l,
             arena_printf(a, "%zu node%s too full; the nearest is %s: %s more would do%s",
                          lack->short_of, lack->short_of == 1 ? " is" : "s are", lack->nearest,
                          str_get(&lack->lack), n > 1 ? " for the first of them" : ""));
        why_link_remedy(m, helped, WHY_RISK_LOW,
                        n > 1 ? arena_printf(a, "add nodes, or free room, %s on %s to begin with",
                                             str_get(&lack->lack), lack->nearest)
                              : arena_printf(a, "add a node, or free %s on %s",
                                             str_get(&lack->lack), lack->nearest),
                        NULL, NULL);
    }
    const char *helps[FIT_HELPS];
    size_t n_helps = fit_lack_help(lack, helps);
    for (size_t i = 0; i < n_helps; i++)
        why_link_remedy(m, helped, WHY_RISK_LOW, helps[i], NULL, NULL);
    /* No other node is in service, or all that are are full beyond telling. */
    if (!lack->fits && !n_helps && !lack->nearest)
        why_link_remedy(m, helped, WHY_RISK_LOW, "add a node", NULL, NULL);
    if (!lack->cordoned)
        return;
    struct cordon cordon;
    const struct node *behind = (const struct node *)store_get(m->w->nodes, NULL, lack->behind);
    cordon_of(behind, a, &cordon);
    const char *more =
        lack->cordoned > 1 ? arena_printf(a, " (or %zu more)", lack->cordoned - 1) : "";
    tell(m, l,
         arena_printf(a, "node %s%s would take it if it were not cordoned", lack->behind, more));
    why_link_remedy(m, helped, WHY_RISK_LOW, "put a cordoned node back into service",
                    arena_printf(a, "slipway uncordon %s", why_shell(m, lack->behind)),
                    arena_printf(a, "cordoned by %s", cordon_text(&cordon, a)));
}

/* What is known of volumes. */
static struct moveout_stores stores_of(const struct making *m) {
    const struct why_world *w = m->w;
    return (struct moveout_stores){.nodes = w->nodes,
                                   .volumes = w->room_volumes ? w->volumes : NULL,
                                   .claims = w->room_volumes ? w->claims : NULL,
                                   .classes = w->room_classes ? w->classes : NULL};
}

static bool has_claims(const struct pod *pod) {
    for (size_t i = 0; i < list_len(pod->spec->volumes); i++)
        if (pod->spec->volumes[i].claim || pod->spec->volumes[i].ephemeral)
            return true;
    return false;
}

static bool has_limits(const struct store *csi_nodes) {
    const struct object *obj;
    for (uint32_t i = 0; csi_nodes && (obj = store_next(csi_nodes, &i));) {
        const struct csi_node *n = (const struct csi_node *)obj;
        for (size_t k = 0; k < list_len(n->drivers); k++)
            if (n->drivers[k].count != ABSENT32)
                return true;
    }
    return false;
}

/* Where the number of volumes is limited, those count as well that are attached and used by none.
 */
static void count_attached(struct making *m) {
    if (m->w->no_limits)
        why_unread(m, kind_csi_node.resource);
    if (has_limits(m->w->csi_nodes) && why_has(m, &(struct why_want){.what = WHY_WANT_ATTACHMENTS}))
        moveout_fill(m->w->fit, &(struct moveout_stores){.attachments = m->w->attachments});
}

/* Of one that has a node: what its owner makes in its place. */
static const char *doubt(struct making *m, const struct pod *pod) {
    struct maker maker = {0};
    const struct owner *o = meta_controller(&pod->meta);
    bool apps = o && str_same(o->api_version, "apps/v1");
    if (!o || str_empty(pod->node_name))
        return NULL;
    if (apps && str_same(o->kind, "StatefulSet")) {
        maker.set = why_look(m, &kind_stateful_set, pod->meta.ns, o->name, NULL);
        maker.template = maker.set ? maker.set->template : NULL;
    } else if (apps && str_same(o->kind, "ReplicaSet")) {
        const struct replica_set *r = why_look(m, &kind_replica_set, pod->meta.ns, o->name, NULL);
        maker.template = r ? r->template : NULL;
    } else if (str_same(o->api_version, "batch/v1") && str_same(o->kind, "Job")) {
        const struct job *j = why_look(m, &kind_job, pod->meta.ns, o->name, NULL);
        maker.template = j ? j->template : NULL;
    }
    return maker_doubt(m->arena, pod, &maker);
}

static const char *beyond(struct making *m, const struct pod *pod) {
    const char *why = moveout_beyond(pod);
    return why ? why : doubt(m, pod);
}

static bool is_unknown(struct making *m, const struct pod *pod) {
    return moveout_placed_by_other(pod) || beyond(m, pod);
}

/* The picture is there. */
static bool can_judge(struct making *m, const struct pod *pod) {
    if (!pod->spec || is_unknown(m, pod))
        return false;
    if (!has_claims(pod))
        return true;
    if (!why_has(m, &(struct why_want){.what = WHY_WANT_VOLUMES}))
        return false;
    count_attached(m);
    struct moveout_stores stores = stores_of(m);
    if (!stores.claims)
        why_unread(m, kind_pvc.resource);
    if (!stores.classes)
        why_unread(m, kind_storage_class.resource);
    return moveout_judged(&stores, pod);
}

/* That the node that is being drained would take it back is no news. */
static const char *drained(const struct making *m) {
    return m->node ? m->node->meta.name : NULL;
}

/* Whoever has put a gate there takes it off: its name begins with whose it is. */
static void tell_gates(struct making *m, struct why_link *l, struct why_link *helped,
                       const struct pod *pod) {
    const struct named *gates = pod->spec ? pod->spec->gates : NULL;
    for (size_t i = 0; i < list_len(gates); i++) {
        const char *name = strna(gates[i].name);
        bool kueue = str_starts(name, "kueue.x-k8s.io/");
        tell(m, l, arena_printf(m->arena, "scheduling gate %s", name));
        why_link_remedy(m, helped, WHY_RISK_NONE,
                        kueue
                            ? "look at why Kueue does not admit it: its Workload tells, and the "
                              "ClusterQueue what it has left"
                            : arena_printf(m->arena,
                                           "look at the controller that has put the gate %s there "
                                           "and takes it off",
                                           name),
                        kueue ? arena_printf(m->arena, "kubectl -n %s get workloads.kueue.x-k8s.io",
                                             why_shell(m, strna(pod->meta.ns)))
                              : NULL,
                        NULL);
    }
}

void why_add_room(struct making *m, struct why_link *l, struct why_link *helped,
                  const struct pod *pod) {
    const struct condition *c = condition_find(pod->conditions, "PodScheduled");
    const char *said = c ? moveout_words(m->arena, strna(c->message)) : "";
    bool gated = c && str_same(c->reason, "SchedulingGated"); /* no node can mend that */
    bool judge =
        !gated && why_has(m, &(struct why_want){.what = WHY_WANT_ROOM}) && can_judge(m, pod);
    _cleanup_str_ struct str ours = STR_INIT, text = STR_INIT;
    struct fit *fit = m->w->fit;
    struct fit_lack lack;
    const char *now = "";
    str_add(&text, "Pending");
    if (!str_empty(said))
        str_addf(&text, ": %s", said);
    else if (c && !str_empty(c->reason))
        str_addf(&text, ": %s",
                 gated ? "it has scheduling gates that somebody must take off" : c->reason);
    l->text = why_text(m, &text);
    if (gated)
        tell_gates(m, l, helped, pod);
    if (!gated && moveout_beyond(pod))
        tell(m, l,
             arena_printf(m->arena, "whether a node has room for it now is not known: %s",
                          moveout_beyond(pod)));
    if (!judge || !fit || m->rooms++ >= ROOMS_LOOKED_AT)
        return;
    if (fit_explain(fit, pod, &ours))
        now = moveout_words(m->arena, str_get(&ours));
    /* The cluster has changed since the scheduler looked. */
    if (*now && !streq(now, said))
        tell(m, l, arena_printf(m->arena, "as the cluster is now: %s", now));
    fit_lack_of(fit, m->w->nodes, pod, drained(m), &lack);
    /* That there is room is no answer to a reason that nobody here knows. */
    if ((lack.fits || lack.cordoned) && !fit_knows(said)) {
        tell(m, l,
             "whether a node has room for it now is not known: not all that the scheduler says is "
             "looked at");
        lack.fits = NULL;
        lack.cordoned = 0;
    }
    tell_lack(m, l, helped, &lack, 1);
    fit_lack_done(&lack);
}

/* --- the pods of a node --- */

static bool has(const why_pods *list, const struct pod *pod) {
    for (size_t i = 0; i < list->len; i++)
        if (list->p[i] == pod)
            return true;
    return false;
}

/* Only what the drain moves, and what comes back by itself, looks for a place. */
static bool will_look(struct making *m, const struct pod *pod) {
    return pod_role(pod) == POD_MOVES && !has(&m->held, pod) && can_judge(m, pod);
}

/* One that would look for a place, if somebody could tell where its volumes may be. */
static bool is_unread(struct making *m, const struct pod *pod) {
    struct moveout_stores stores = stores_of(m);
    return pod_role(pod) == POD_MOVES && !has(&m->held, pod) && pod->spec &&
           (!m->w->fit || moveout_unread(&stores, pod));
}

/* What is not known is not well: the same words as in a plan. */
static void add_unread(struct making *m, const struct pod *const *pods, size_t n,
                       struct why_counts *counts) {
    why_pods list = VEC_INIT;
    for (size_t i = 0; i < n; i++)
        if (is_unread(m, pods[i]))
            *vec_push(&list) = pods[i];
    counts->unknown = (unsigned)list.len;
    if (list.len) {
        const char *text =
            m->w->fit ? arena_printf(m->arena, MOVEOUT_UNREAD, list.len, list.len == 1 ? "" : "s")
                      : "whether there is room elsewhere is not known: the nodes and pods of the "
                        "cluster cannot be looked at";
        struct why_link *l =
            why_unread_link(m, &kind_pod, text,
                            m->w->fit ? MOVEOUT_UNREAD_HELP
                                      : "give the permission to list nodes, pods and namespaces");
        why_link_pods(m, l, list.p, list.len);
    }
    vec_done(&list);
}

/* Nothing is in the way of the drain: only that nobody knows where they go is to be said. */
static void add_unknown(struct making *m, const struct pod *const *pods, size_t n,
                        enum blocker_code code, struct why_counts *counts) {
    why_pods list = VEC_INIT;
    bool other = code == BLOCKER_OTHER_SCHEDULER;
    for (size_t i = 0; i < n; i++)
        if (pod_role(pods[i]) == POD_MOVES && !has(&m->held, pods[i]) &&
            !has(&m->unmade, pods[i]) && is_unknown(m, pods[i]) &&
            moveout_placed_by_other(pods[i]) == other)
            *vec_push(&list) = pods[i];
    /* What asks for devices comes back as it is; of these not even that is known. */
    unsigned doubts = 0;
    for (size_t i = 0; i < list.len && !other; i++)
        doubts += !moveout_beyond(list.p[i]);
    counts->unknown += doubts;
    if (list.len) {
        const struct pod *first = list.p[0];
        const char *s = list.len == 1 ? "" : "s";
        const char *text =
            other ? arena_printf(m->arena, MOVEOUT_OTHER, list.len, s, first->spec->scheduler)
                  : arena_printf(m->arena, MOVEOUT_BEYOND, list.len, s, beyond(m, first));
        struct why_link *l = why_link_new(m, code, kind_pod.name, "", text);
        l->blocks = doubts;
        l->severity = doubts ? SEVERITY_WARN : l->severity;
        why_link_pods(m, l, list.p, list.len);
        why_link_remedy(m, l, WHY_RISK_NONE, blocker_row(code)->hint, NULL, NULL);
        *vec_push(&m->links) = l;
    }
    vec_done(&list);
}

static const char *no_room_words(struct making *m, const struct pod *pod) {
    struct pod next = moveout_successor(pod);
    _cleanup_str_ struct str why = STR_INIT;
    fit_explain(m->w->fit, &next, &why);
    return arena_printf(m->arena, "%s", moveout_words(m->arena, str_get(&why)));
}

/* Pods whose replacements stay Pending, for the same reason. */
static struct why_link *homeless_link(struct making *m, const why_pods *homeless, const char *why) {
    struct fit_lack lack;
    size_t n = homeless->len;
    struct pod next = moveout_successor(homeless->p[0]);
    struct why_link *l =
        why_link_new(m, BLOCKER_NO_ROOM, kind_pod.name, "",
                     arena_printf(m->arena, "no room elsewhere: evicted, %s Pending: %s",
                                  n == 1 ? "it stays" : "they stay", why));
    fit_lack_of(m->w->fit, m->w->nodes, &next, drained(m), &lack);
    tell_lack(m, l, l, &lack, n);
    fit_lack_done(&lack);
    why_link_pods(m, l, homeless->p, n);
    return l;
}

/* A link for each reason: what helps one pod does nothing for another that lacks something else. */
static void add_reasons(struct making *m, const why_pods *homeless) {
    const char **why = arena_alloc(m->arena, (homeless->len + 1) * sizeof *why);
    for (size_t i = 0; i < homeless->len; i++) {
        const struct pod *pod = homeless->p[i], *last = i ? homeless->p[i - 1] : NULL;
        const struct owner *o = meta_controller(&pod->meta);
        const struct owner *p = last ? meta_controller(&last->meta) : NULL;
        bool alike = o && p && str_same(o->uid, p->uid) && pod->spec == last->spec;
        why[i] = alike ? why[i - 1] : no_room_words(m, pod);
    }
    for (size_t i = 0; i < homeless->len; i++) {
        why_pods list = VEC_INIT;
        bool told = false;
        for (size_t k = 0; k < homeless->len; k++) {
            told |= k < i && streq(why[k], why[i]);
            if (k >= i && streq(why[k], why[i]))
                *vec_push(&list) = homeless->p[k];
        }
        if (!told)
            *vec_push(&m->links) = homeless_link(m, &list, why[i]);
        vec_done(&list);
    }
}

static unsigned add_homeless(struct making *m, const struct moveout *out) {
    why_pods list = VEC_INIT;
    unsigned all = 0;
    for (size_t i = 0; i < out->pods.len; i++) {
        const struct moveout_pod *p = &out->pods.p[i];
        if (p->end != MOVEOUT_HOMELESS || p->unmade)
            continue;
        all++;
        if (!has(&m->told, p->pod))
            *vec_push(&list) = p->pod;
    }
    add_reasons(m, &list);
    vec_done(&list);
    return all;
}

/* Pods that wait for a budget for ever, since what others took of it does not come back; or those
 * of them that have a chance. */
static void add_dry(struct making *m, const struct moveout *out, const struct pdb *budget,
                    bool lucky, struct why_counts *counts) {
    why_pods list = VEC_INIT;
    const struct moveout_pod *keeper = moveout_keeper(out, budget);
    unsigned *counted = lucky ? &counts->chance : &counts->never;
    for (size_t i = 0; i < out->pods.len; i++) {
        const struct moveout_pod *p = &out->pods.p[i];
        if (p->end != MOVEOUT_STAYS || p->budget != budget || p->lucky != lucky)
            continue;
        *vec_push(&list) = p->pod;
        *counted += !pod_has_local_data(p->pod); /* those that need a flag are counted */
    }
    if (list.len && keeper)
        *vec_push(&m->links) = why_dry_link(m, budget, keeper, lucky, list.p, list.len);
    vec_done(&list);
}

/* Of a budget that lasts: whether that is luck. */
static void add_luck(struct making *m, struct moveout *out, const struct pdb *budget,
                     struct why_counts *counts) {
    const struct pod *winner, *loser;
    if (!moveout_chance(out, budget, &winner, &loser))
        return;
    *vec_push(&m->links) = why_luck_link(m, budget, winner, loser);
    counts->luck = true;
}

/* Whoever has no node yet takes part as well (engine/waiting.h); where its volumes may be is read,
 * too. */
static void ask_for_waiting(struct making *m) {
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(m->w->waiting, &i));) {
        const struct pod *pod = (const struct pod *)obj;
        if (waiting_for_node(pod) && has_claims(pod) && !can_judge(m, pod))
            return;
    }
}

void why_look_for_room(struct making *m, const struct pod *const *pods, size_t n,
                       struct why_counts *counts) {
    if (!why_has(m, &(struct why_want){.what = WHY_WANT_ROOM}) || !m->w->fit) {
        if (m->out->complete) /* it is not to come either */
            add_unread(m, pods, n, counts);
        return;
    }
    struct moveout_stores stores = stores_of(m);
    struct moveout out = {.fit = m->w->fit,
                          .stores = &stores,
                          .least_priority = m->w->least_priority,
                          .careful = true};
    for (size_t i = 0; i < n; i++) { /* first: what is read for it is in the picture then */
        size_t n_pdbs;
        const struct pdb *const *pdbs = pdbs_of_pod(m->w->pdbs, pods[i], &n_pdbs);
        if (will_look(m, pods[i]))
            moveout_add(&out, pods[i], moveout_budget(pods[i], pdbs, n_pdbs))->unmade =
                has(&m->unmade, pods[i]);
    }
    ask_for_waiting(m);
    stores = stores_of(m);
    moveout_wait(&out, m->w->waiting);
    moveout_play(&out, m->node);
    counts->homeless = add_homeless(m, &out);
    for (size_t i = 0; i < out.left.len; i++) {
        add_dry(m, &out, out.left.p[i].budget, false, counts);
        add_dry(m, &out, out.left.p[i].budget, true, counts);
    }
    /* Where something does not get away in any case nobody asks what else might not. */
    unsigned held = counts->never + counts->chance + counts->flag + counts->wait;
    for (size_t i = 0; i < out.left.len && !held && !counts->luck; i++)
        add_luck(m, &out, out.left.p[i].budget, counts);
    moveout_undo(&out);
    moveout_done(&out);
    add_unread(m, pods, n, counts);
    add_unknown(m, pods, n, BLOCKER_OTHER_SCHEDULER, counts);
    add_unknown(m, pods, n, BLOCKER_ROOM_UNKNOWN, counts);
}
