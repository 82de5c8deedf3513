/* Where pods go when their nodes are drained. */
#include "engine/moveout.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "engine/budget.h"
#include "engine/fit_internal.h"
#include "engine/guard.h"
#include "engine/podrole.h"
#include "engine/waiting.h"

/* --- the picture --- */

static void put_all(const struct store *store, struct fit *fit,
                    void put(struct fit *fit, const struct object *obj)) {
    const struct object *obj;
    for (uint32_t i = 0; store && (obj = store_next(store, &i));)
        put(fit, obj);
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

bool moveout_leaves(const struct pod *pod, int64_t now) {
    return pod->meta.deleted && now - pod->meta.deleted <= SEC(MOVEOUT_LEAVES_WITHIN);
}

static void put_pods(struct fit *fit, const struct store *pods, int64_t now) {
    const struct object *obj;
    for (uint32_t i = 0; pods && (obj = store_next(pods, &i));)
        if (!now || !moveout_leaves((const struct pod *)obj, now))
            fit_put_pod(fit, (const struct pod *)obj);
}

static void put_class(struct fit *fit, const struct object *obj) {
    const struct storage_class *c = (const struct storage_class *)obj;
    fit_put_class(fit, &(struct fit_class){
                           .name = c->meta.name,
                           .waits = str_same(c->binding_mode, "WaitForFirstConsumer"),
                           .provisions = !str_same(c->provisioner, "kubernetes.io/no-provisioner"),
                           .provisioner = c->provisioner,
                           .topologies = c->topologies,
                       });
}

static void put_csi_node(struct fit *fit, const struct object *obj) {
    fit_put_csi_node(fit, (const struct csi_node *)obj);
}

static void put_attachment(struct fit *fit, const struct object *obj) {
    fit_put_attachment(fit, (const struct volume_attachment *)obj);
}

static void put_nodes(const struct store *nodes, struct fit *fit) {
    size_t n;
    _cleanup_free_ const struct object **all = store_sorted(nodes, &n);
    for (size_t i = 0; i < n; i++)
        fit_put_node(fit, (const struct node *)all[i]);
}

void moveout_fill(struct fit *fit, const struct moveout_stores *s) {
    if (s->nodes)
        put_nodes(s->nodes, fit);
    put_all(s->namespaces, fit, put_namespace);
    put_all(s->volumes, fit, put_volume);
    put_all(s->claims, fit, put_claim);
    put_all(s->classes, fit, put_class);
    put_all(s->csi_nodes, fit, put_csi_node);
    put_all(s->attachments, fit, put_attachment);
    put_pods(fit, s->pods, s->now);
}

int32_t moveout_priority(const struct pod *pod) {
    return pod->spec && pod->spec->priority != ABSENT32 ? pod->spec->priority : 0;
}

int32_t moveout_least_priority(const struct store *pods) {
    int32_t least = INT32_MAX;
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(pods, &i));)
        least = MIN_OF(least, moveout_priority((const struct pod *)obj));
    return least;
}

/* --- volumes --- */

static const struct volume *volumes_of(const struct pod *pod) {
    return pod->spec ? pod->spec->volumes : NULL;
}

static const struct pvc *claim_find(const struct moveout_stores *s, const char *ns,
                                    const char *name) {
    return (const struct pvc *)store_get(s->claims, ns, strna(name));
}

/* The claim that was made for this volume of the pod, or of the one that it is a successor of: a
 * number after a tilde tells these apart. */
static const struct pvc *ephemeral_claim(const struct moveout_stores *s, const struct pod *pod,
                                         const struct volume *v) {
    const char *name = strna(pod->meta.name);
    _cleanup_free_ char *claim =
        xasprintf("%.*s-%s", (int)strcspn(name, "~"), name, strna(v->name));
    return claim_find(s, pod->meta.ns, claim);
}

static bool waits_for_node(const struct moveout_stores *s, const struct pvc *claim) {
    const struct storage_class *class =
        (const struct storage_class *)store_get(s->classes, NULL, strna(claim->storage_class));
    return class && str_same(class->binding_mode, "WaitForFirstConsumer");
}

static bool volume_is_judged(const struct moveout_stores *s, const struct pod *pod,
                             const struct volume *v) {
    if (!v->claim && !v->ephemeral)
        return true;
    if (!s->claims || !s->volumes)
        return false;
    const struct pvc *claim =
        v->claim ? claim_find(s, pod->meta.ns, v->claim->claim) : ephemeral_claim(s, pod, v);
    if (v->claim)
        return !claim || !str_empty(claim->volume_name) || s->classes;
    /* A new one is made with the successor. Where its volume is made before the pod has a node,
     * nobody can tell where that will be. */
    return claim && s->classes && waits_for_node(s, claim);
}

bool moveout_placed_by_other(const struct pod *pod) {
    const char *name = pod->spec ? pod->spec->scheduler : NULL;
    return !str_empty(name) && !streq(name, "default-scheduler");
}

const char *moveout_beyond(const struct pod *pod) {
    return pod->spec && list_len(pod->spec->claims)
               ? "the devices of ResourceClaims are not looked at"
               : NULL;
}

bool moveout_unknown(const struct pod *pod) {
    return moveout_placed_by_other(pod) || moveout_beyond(pod);
}

static bool volumes_are_judged(const struct moveout_stores *s, const struct pod *pod) {
    for (size_t i = 0; i < list_len(volumes_of(pod)); i++)
        if (!volume_is_judged(s, pod, &volumes_of(pod)[i]))
            return false;
    return true;
}

bool moveout_judged(const struct moveout_stores *s, const struct pod *pod) {
    return !moveout_unknown(pod) && volumes_are_judged(s, pod);
}

bool moveout_unread(const struct moveout_stores *s, const struct pod *pod) {
    bool all = s->claims && s->volumes && s->classes;
    return !all && !volumes_are_judged(s, pod);
}

void moveout_set_claims(struct fit *fit, const struct moveout_stores *s, const struct pod *copy,
                        bool there) {
    const struct volume *list = volumes_of(copy);
    for (size_t i = 0; i < list_len(list); i++) {
        const struct pvc *old =
            list[i].ephemeral && s->claims ? ephemeral_claim(s, copy, &list[i]) : NULL;
        if (!old)
            continue;
        _cleanup_free_ char *name = xasprintf("%s-%s", copy->meta.name, strna(list[i].name));
        struct pvc claim = *old;
        claim.meta.name = claim.meta.uid = pool_str(fit->pool, name, strlen(name));
        claim.meta.annotations = NULL;
        claim.meta.deleted = 0;
        claim.volume_name = claim.phase = NULL;
        if (there)
            fit_put_claim(fit, &claim);
        else
            fit_remove_claim(fit, claim.meta.ns, claim.meta.name);
        pool_unref(fit->pool, claim.meta.name);
    }
}

/* --- a pod, made anew --- */

struct pod moveout_successor(const struct pod *pod) {
    struct pod copy = *pod;
    copy.node_name = copy.nominated = NULL;
    copy.phase = NULL;
    copy.conditions = NULL;
    copy.containers = copy.init_containers = NULL;
    copy.meta.deleted = 0;
    return copy;
}

bool moveout_preempts(struct fit *fit, const struct pod *pod, int32_t least_priority) {
    if (!pod->spec || moveout_priority(pod) <= least_priority ||
        str_same(pod->spec->preemption, "Never") ||
        fit_codes(fit) & (1u << FIT_POD | 1u << FIT_GATED))
        return false;
    /* Its message then does not say why preemption is of no use. */
    _cleanup_str_ struct str words = STR_INIT;
    return fit_explain(fit, pod, &words) && !strstr(str_get(&words), " preemption: ");
}

/* "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: ...". The
 * second half begins with what the plugin for ResourceClaims has to say (PostFilter() of
 * dynamicresources.go in kube-scheduler v1.36), if it was asked. */
size_t moveout_words_len(const char *message) {
    static const char *const seconds[] = {
        ". no new claims to deallocate",
        ". still not schedulable",
        ". deallocation of ResourceClaim completed",
        ". preemption:",
    };
    size_t len = strlen(message);
    for (size_t i = 0; i < ARRAY_LEN(seconds); i++) {
        const char *at = strstr(message, seconds[i]);
        len = at ? MIN_OF(len, (size_t)(at - message)) : len;
    }
    while (len && (message[len - 1] == '.' || message[len - 1] == ' '))
        len--;
    return len;
}

const char *moveout_words(struct arena *arena, const char *message) {
    return arena_strndup(arena, message, moveout_words_len(message));
}

/* --- a node, emptied --- */

const struct pdb *moveout_budget(const struct pod *pod, const struct pdb *const *pdbs, size_t n) {
    /* One that is not ready and may go all the same takes nothing (engine/budget.c); what operators
     * keep does not run dry, they see to it. */
    return n == 1 && !guard_of(pdbs[0], pod) && budget_is_asked(pod) && pod_ready(pod) ? pdbs[0]
                                                                                       : NULL;
}

static struct moveout_left *left_of(const struct moveout *m, const struct pdb *budget) {
    for (size_t i = 0; budget && i < m->left.len; i++)
        if (m->left.p[i].budget == budget)
            return &m->left.p[i];
    return NULL;
}

struct moveout_pod *moveout_add(struct moveout *m, const struct pod *pod,
                                const struct pdb *budget) {
    struct moveout_pod *p = vec_push(&m->pods);
    *p = (struct moveout_pod){.pod = pod, .budget = budget};
    if (budget && !left_of(m, budget))
        *vec_push(&m->left) = (struct moveout_left){budget, MAX_OF(budget->allowed, 0)};
    return p;
}

/* One of the same template found nothing a moment ago, and nothing that leaves could help it. */
static const struct moveout_pod *refused_before(const struct moveout *m,
                                                const struct moveout_pod *p) {
    for (size_t i = 0; i < m->pods.len; i++) {
        const struct moveout_pod *o = &m->pods.p[i];
        if (o != p && o->gone && !o->unmade && o->end == MOVEOUT_HOMELESS &&
            !(o->codes & ~MOVEOUT_LASTING) && o->pod->spec == p->pod->spec &&
            o->pod->meta.labels == p->pod->meta.labels && o->pod->meta.ns == p->pod->meta.ns)
            return o;
    }
    return NULL;
}

static void find_place(struct moveout *m, struct moveout_pod *p) {
    if (p->unmade) {
        p->end = MOVEOUT_HOMELESS;
        return;
    }
    struct pod next = moveout_successor(p->pod);
    const struct moveout_pod *refused = refused_before(m, p);
    const char *to = refused      ? NULL
                     : m->careful ? fit_place(m->fit, &next, m->left_before)
                                  : fit_any(m->fit, &next);
    p->end = MOVEOUT_PLACED;
    p->to = to;
    if (to) {
        fit_assume(m->fit, &next, to);
        return;
    }
    if (!refused) {
        p->codes = fit_codes(m->fit);
        m->questions += fit_node_count(m->fit);
        if (moveout_preempts(m->fit, &next, m->least_priority))
            return;
    } else {
        p->codes = refused->codes;
    }
    p->end = MOVEOUT_HOMELESS;
}

/* --- those that waited before --- */

/* One of the same template that found nothing, and that nothing that leaves could help. */
static const struct moveout_seat *refused_seat(const struct moveout *m,
                                               const struct moveout_seat *w) {
    for (const struct moveout_seat *o = m->waiting.p; o <= w; o++)
        if (o->asked && !o->to && !(o->codes & ~MOVEOUT_LASTING) && o->pod->spec == w->pod->spec &&
            o->pod->meta.labels == w->pod->meta.labels && o->pod->meta.ns == w->pod->meta.ns)
            return o;
    return NULL;
}

static void seat(struct moveout *m, bool early) {
    for (size_t i = 0; i < m->waiting.len; i++) {
        struct moveout_seat *w = &m->waiting.p[i];
        if (w->to || refused_seat(m, w))
            continue;
        w->to = m->careful ? fit_place(m->fit, w->pod, m->left_before) : fit_any(m->fit, w->pod);
        w->asked = true;
        w->early = early;
        w->round = m->round;
        if (w->to) {
            fit_assume(m->fit, w->pod, w->to);
            continue;
        }
        w->codes = fit_codes(m->fit);
        if (early)
            w->before = w->codes;
        m->questions += fit_node_count(m->fit);
    }
}

/* Somebody has gone. Where any place will do nobody is asked so often. */
static void seat_next(struct moveout *m) {
    if (m->careful)
        seat(m, false);
}

static void unseat(struct moveout *m, bool early) {
    for (size_t i = 0; i < m->waiting.len; i++) {
        struct moveout_seat *w = &m->waiting.p[i];
        w->codes = w->before;
        if (!w->to || (w->early && !early))
            continue;
        fit_remove_pod(m->fit, w->pod->meta.ns, w->pod->meta.name);
        fit_put_pod(m->fit, w->pod);
        w->to = NULL;
    }
}

void moveout_wait(struct moveout *m, const struct store *pods) {
    waiting_pods list = VEC_INIT;
    waiting_find(pods, m->stores, &list);
    for (size_t i = 0; i < list.len; i++)
        *vec_push(&m->waiting) = (struct moveout_seat){.pod = list.p[i]};
    vec_done(&list);
    seat(m, true);
}

/* A StatefulSet makes the next one when the last is gone, since it has its name. */
static bool comes_later(const struct pod *pod) {
    const struct owner *o = meta_controller(&pod->meta);
    return o && str_same(o->kind, "StatefulSet");
}

static void leave(struct moveout *m, struct moveout_pod *p) {
    struct moveout_left *left = left_of(m, p->budget);
    struct pod next = moveout_successor(p->pod);
    if (left)
        left->allows--;
    p->owed = left != NULL;
    p->gone = true;
    p->round = m->round;
    m->left_before++;
    fit_remove_pod(m->fit, p->pod->meta.ns, p->pod->meta.name);
    if (comes_later(p->pod))
        seat_next(m);
    moveout_set_claims(m->fit, m->stores, &next, true);
    find_place(m, p);
}

/* Those who may go do, together, as long as their budgets last. */
static bool leave_all(struct moveout *m, bool last) {
    bool any = false;
    for (size_t i = 0; i < m->pods.len; i++) {
        struct moveout_pod *p = &m->pods.p[i];
        const struct moveout_left *left = left_of(m, p->budget);
        if (p->gone || p->last != last)
            continue;
        if (left && left->allows <= 0) {
            p->waited = true;
            continue;
        }
        leave(m, p);
        any = true;
    }
    m->round++;
    return any;
}

/* Others have left since: some may fit now. */
static void try_again(struct moveout *m) {
    seat_next(m);
    for (size_t i = 0; i < m->pods.len; i++) {
        struct moveout_pod *p = &m->pods.p[i];
        if (p->gone && p->end == MOVEOUT_HOMELESS && p->codes & ~MOVEOUT_LASTING)
            find_place(m, p);
    }
}

/* The replacements run. */
static void give_back(struct moveout *m) {
    for (size_t i = 0; i < m->pods.len; i++) {
        struct moveout_pod *p = &m->pods.p[i];
        if (!p->owed || p->end != MOVEOUT_PLACED)
            continue;
        left_of(m, p->budget)->allows++;
        p->owed = false;
    }
}

/* --- chance --- */

struct place {
    const struct pod *pod;
    const char *to;
};
typedef VEC(struct place) lifted;

static bool has_ephemeral(const struct pod *pod) {
    for (size_t i = 0; i < list_len(volumes_of(pod)); i++)
        if (volumes_of(pod)[i].ephemeral)
            return true;
    return false;
}

/* Its place is free, for a question. */
static void lift(struct moveout *m, const struct pod *pod, const char *to, lifted *all) {
    if (!to || has_ephemeral(pod)) /* the claims of the latter have a place as well */
        return;
    fit_remove_pod(m->fit, pod->meta.ns, pod->meta.name);
    *vec_push(all) = (struct place){pod, to};
}

static void lower_all(struct moveout *m, lifted *all) {
    for (size_t i = 0; i < all->len; i++) {
        struct pod next = moveout_successor(all->p[i].pod);
        fit_assume(m->fit, &next, all->p[i].to);
    }
    m->questions += all->len;
    vec_done(all);
}

/* So many replacements like this pod's find a place, at most `most`. */
static int32_t room_for(struct moveout *m, const struct pod *pod, int32_t most) {
    struct pod next = moveout_successor(pod);
    VEC(struct fit_pod *) added = VEC_INIT;
    int32_t n = 0;
    next.meta.name = next.meta.uid = NULL;
    for (const char *to; n < most && (to = fit_any(m->fit, &next)); n++)
        *vec_push(&added) = fit_add(m->fit, &next, to);
    for (size_t i = 0; i < added.len; i++)
        fit_take(m->fit, added.p[i]);
    vec_done(&added);
    m->questions += fit_node_count(m->fit);
    return n;
}

static const struct moveout_pod *keeper_of(const struct moveout *m, const struct pdb *budget) {
    for (size_t i = 0; i < m->pods.len; i++)
        if (m->pods.p[i].budget == budget && m->pods.p[i].owed)
            return &m->pods.p[i];
    return NULL;
}

/* As engine/plan_tell.c counts: each that finds a place lets one more go, which needs one itself
 * before the next goes. */
static void find_lucky(struct moveout *m, const struct pdb *budget) {
    const struct moveout_pod *keeper = keeper_of(m, budget);
    int32_t waiting = 0, luck = 0;
    lifted all = VEC_INIT;
    for (size_t i = 0; keeper && i < m->pods.len; i++)
        waiting += m->pods.p[i].budget == budget && m->pods.p[i].end == MOVEOUT_STAYS;
    if (!waiting || keeper->unmade || has_ephemeral(keeper->pod))
        return;
    for (size_t i = 0; i < m->pods.len; i++)
        if (m->pods.p[i].budget != budget && !m->pods.p[i].last &&
            m->pods.p[i].round >= keeper->round)
            lift(m, m->pods.p[i].pod, m->pods.p[i].to, &all);
    for (size_t i = 0; i < m->waiting.len; i++)
        if (!m->waiting.p[i].early && m->waiting.p[i].round >= keeper->round)
            lift(m, m->waiting.p[i].pod, m->waiting.p[i].to, &all);
    if (all.len)
        luck = room_for(m, keeper->pod, waiting);
    lower_all(m, &all);
    for (size_t i = 0; i < m->pods.len && luck; i++) {
        struct moveout_pod *p = &m->pods.p[i];
        if (p->budget != budget || p->end != MOVEOUT_STAYS)
            continue;
        p->lucky = true;
        luck--;
    }
}

/* The last round in which one went that had waited for the budget; -1: none has. */
static int64_t last_wait(const struct moveout *m, const struct pdb *budget) {
    int64_t last = -1;
    for (size_t i = 0; i < m->pods.len; i++) {
        const struct moveout_pod *p = &m->pods.p[i];
        if (p->budget == budget && p->waited && p->gone)
            last = MAX_OF(last, (int64_t)p->round);
    }
    return last;
}

/* What the replacement of `winner`, which fits nowhere, would have to get; NULL: nothing helps. */
static const struct pod *loser_to(struct moveout *m, const struct pod *winner, unsigned round,
                                  const struct pdb *budget, int64_t last) {
    lifted all = VEC_INIT;
    for (size_t i = 0; i < m->pods.len; i++) {
        struct moveout_pod *p = &m->pods.p[i];
        if (p->budget == budget && p->round < last && p->round >= round)
            lift(m, p->pod, p->to, &all);
    }
    const struct pod *loser = all.len && room_for(m, winner, 1) ? all.p[0].pod : NULL;
    lower_all(m, &all);
    return loser;
}

bool moveout_chance(struct moveout *m, const struct pdb *budget, const struct pod **winner,
                    const struct pod **loser) {
    int64_t last = last_wait(m, budget);
    for (size_t i = 0; last >= 0 && i < m->pods.len; i++) {
        const struct moveout_pod *p = &m->pods.p[i];
        if (p->end != MOVEOUT_HOMELESS || p->unmade || p->budget == budget || p->last ||
            has_ephemeral(p->pod))
            continue;
        *loser = loser_to(m, p->pod, p->round, budget, last);
        *winner = p->pod;
        if (*loser)
            return true;
    }
    for (size_t i = 0; last >= 0 && i < m->waiting.len; i++) {
        const struct moveout_seat *w = &m->waiting.p[i];
        if (w->to || !(w->codes & ~MOVEOUT_LASTING) || has_ephemeral(w->pod))
            continue;
        *loser = loser_to(m, w->pod, 0, budget, last);
        *winner = w->pod;
        if (*loser)
            return true;
    }
    return false;
}

/* As engine/plan_play.c has it from engine/drain_evict.c: those with the longest grace period
 * first. */
static int compare_pods(const void *a, const void *b) {
    const struct moveout_pod *x = a, *y = b;
    int64_t first = x->pod->spec ? x->pod->spec->grace : 0,
            second = y->pod->spec ? y->pod->spec->grace : 0;
    return first != second ? (first > second ? -1 : 1) : pod_compare(&x->pod, &y->pod);
}

void moveout_play(struct moveout *m, const struct node *node) {
    m->node = node;
    m->round = 0;
    m->left_before = 0;
    if (m->pods.len)
        qsort(m->pods.p, m->pods.len, sizeof m->pods.p[0], compare_pods);
    fit_cordon_node(m->fit, node->meta.name, true);
    for (int last = 0; last < 2; last++)
        while (leave_all(m, last)) {
            try_again(m);
            give_back(m);
        }
    for (size_t i = 0; i < m->left.len; i++)
        find_lucky(m, m->left.p[i].budget);
}

const struct moveout_pod *moveout_keeper(const struct moveout *m, const struct pdb *budget) {
    return keeper_of(m, budget);
}

static void put_claims_back(struct moveout *m, const struct pod *pod) {
    const struct volume *list = volumes_of(pod);
    for (size_t i = 0; i < list_len(list); i++) {
        const struct pvc *old = list[i].ephemeral && m->stores->claims
                                    ? ephemeral_claim(m->stores, pod, &list[i])
                                    : NULL;
        if (old)
            fit_put_claim(m->fit, old);
    }
}

static void put_all_back(struct moveout *m) {
    for (size_t i = 0; i < m->pods.len; i++)
        if (m->pods.p[i].gone)
            fit_remove_pod(m->fit, m->pods.p[i].pod->meta.ns, m->pods.p[i].pod->meta.name);
    for (size_t i = 0; i < m->pods.len; i++) {
        const struct moveout_pod *p = &m->pods.p[i];
        if (!p->gone)
            continue;
        put_claims_back(m, p->pod);
        fit_put_pod(m->fit, p->pod);
    }
    fit_put_node(m->fit, m->node);
    m->node = NULL;
    unseat(m, false);
}

void moveout_rewind(struct moveout *m) {
    put_all_back(m);
    for (size_t i = 0; i < m->pods.len; i++) {
        const struct moveout_pod *p = &m->pods.p[i];
        m->pods.p[i] = (struct moveout_pod){
            .pod = p->pod, .budget = p->budget, .unmade = p->unmade, .last = p->last};
    }
    for (size_t i = 0; i < m->left.len; i++)
        m->left.p[i].allows = MAX_OF(m->left.p[i].budget->allowed, 0);
}

void moveout_undo(struct moveout *m) {
    put_all_back(m);
    m->pods.len = m->left.len = 0;
}

void moveout_done(struct moveout *m) {
    unseat(m, true);
    vec_done(&m->waiting);
    vec_done(&m->pods);
    vec_done(&m->left);
}
