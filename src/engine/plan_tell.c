/* What is said of each pod and node when the drain has been played through. */
#include <stdlib.h>
#include <string.h>

#include "engine/budget.h"
#include "engine/moveout.h"
#include "engine/plan_internal.h"
#include "engine/trouble.h"
#include "model/selector.h"

enum {
    TIES_MAX = 1000,    /* volumes for which all nodes are asked whether they can use them */
    CLOSE = 10,         /* seconds within which nobody can tell who is first */
    LIFTS_MAX = 200000, /* places that are emptied for questions */
    LUCK_MAX = 1000,    /* pods that wait for one budget */
};

static void add_trouble(struct planning *g, const struct pdb *pdb, struct str *out) {
    size_t n;
    const struct pod **pods = pdbs_pods(g->in->cluster->pdbs, pdb, &n);
    _cleanup_str_ struct str words = STR_INIT;
    for (size_t i = 0; i < n; i++)
        if (pod_trouble(pods[i], &words)) {
            str_addf(out, "; %s %s", pods[i]->meta.name, str_get(&words));
            break;
        }
    free(pods);
}

/* How a node that was given up ended; "" of any other. */
static const char *given_up(struct planning *g, const struct ppod *p) {
    char limit[TIMEFMT_LEN];
    if (g->nodes.p[p->node].state != PNODE_LATE)
        return "";
    return arena_printf(g->arena, "its node is given up after %s",
                        duration_format_limit(g->in->opts->timeout, limit));
}

/* --- StatefulSets that make one after the other --- */

/* The pod that is to be made first, when that fits nowhere; NULL. */
static const struct ppod *first_homeless(const struct planning *g, const struct pmember *m) {
    for (size_t i = 0; m->now == MEMBER_COMES && i < g->pods.len; i++) {
        const struct ppod *p = &g->pods.p[i];
        if (p->set && p->homeless && &p->set->members.p[p->member] == m)
            return p;
    }
    return NULL;
}

static const char *unmade_words(struct planning *g, const struct pmember *m) {
    const char *name = strna(m->pod->meta.name);
    const char *why = first_homeless(g, m)      ? "fits nowhere"
                      : m->now == MEMBER_LEAVES ? "does not get away"
                      : m->now == MEMBER_GONE   ? "is not made again"
                                                : "is not ready";
    return arena_printf(g->arena, "its replacement is made after %s, which %s", name, why);
}

static void judge_unmade(struct planning *g, struct ppod *p, const struct pmember *m) {
    const struct ppod *first = first_homeless(g, m);
    plan_judge(p, PLAN_HOMELESS, BLOCKER_NOT_RESCHEDULED, plan_full_name(g, &m->pod->meta),
               unmade_words(g, m));
    if (first)
        p->pub->blocker.help = room_help(g->room, first->pod, g->arena);
}

/* --- chance --- */

/* Where several replacements want the same last place, who gets it is chance, and a budget may run
 * dry or not because of it. What is played through is one way in which it may come out. */

/* When its successor was made. */
static int64_t made_at(const struct ppod *p) {
    return p->back == BACK_WHEN_GONE ? p->gone : p->evicted;
}

static bool has_place(const struct ppod *p) {
    return p->copy && p->to && !p->homeless;
}

typedef VEC(unsigned) numbers; /* of pods */

static void lift(struct planning *g, unsigned i, numbers *all) {
    g->lifts++;
    if (room_lift(g->room, g->pods.p[i].copy))
        *vec_push(all) = i;
}

static void lower_all(struct planning *g, numbers *all) {
    for (size_t i = 0; i < all->len; i++)
        room_lower(g->room, g->pods.p[all->p[i]].copy, g->pods.p[all->p[i]].to);
    vec_done(all);
}

/* Of a budget that has run dry because this successor fits nowhere: how many of those that still
 * wait for it would get away if the places were not taken by others that leave at the same time. */
static int32_t luck_of(struct planning *g, const struct pbudget *b, const struct ppod *homeless) {
    numbers all = VEC_INIT;
    int32_t waiting = 0;
    if (g->lifts > LIFTS_MAX)
        return LUCK_MAX; /* nobody has looked */
    for (size_t i = b->head; i < b->queue.len; i++)
        waiting += g->pods.p[b->queue.p[i]].state == PPOD_WAITS;
    for (size_t i = 0; i < g->placed.len; i++) {
        const struct ppod *p = &g->pods.p[g->placed.p[i]];
        if (p->budget != b->number && made_at(p) >= made_at(homeless) - SEC(CLOSE))
            lift(g, g->placed.p[i], &all);
    }
    /* Each that finds a place lets one more go, which needs one itself before the next goes. */
    int32_t luck = all.len ? room_for(g->room, homeless->copy, MIN_OF(waiting, LUCK_MAX)) : 0;
    lower_all(g, &all);
    return luck;
}

/* --- budgets --- */

/* The pod whose replacement does not run and so keeps what it had of the budget; NULL. */
static const struct ppod *keeper(const struct planning *g, const struct pbudget *b) {
    const struct ppod *p = b->homeless >= 0 ? &g->pods.p[b->homeless] : NULL;
    if (!p || (!p->homeless && !plan_set_keeper(g, p))) /* it found a place in the end */
        return NULL;
    return p;
}

/* The real pod, of one that came to a node which was drained later. */
static const struct ppod *original(const struct planning *g, const struct ppod *p) {
    return p->own_copy ? &g->pods.p[p->origin] : p;
}

/* Of a budget of which something is kept for ever: the one that has no room; else NULL. */
static const struct ppod *without_room(const struct planning *g, const struct ppod *keeper) {
    const struct pmember *before = keeper && !keeper->homeless ? plan_set_keeper(g, keeper) : NULL;
    return before ? first_homeless(g, before) : keeper;
}

static void end_budget(struct planning *g, struct pbudget *b, const struct ppod *keeper) {
    _cleanup_str_ struct str words = STR_INIT;
    const struct ppod *homeless = without_room(g, keeper);
    str_add(&words, plan_budget_words(g, b));
    if (keeper && keeper->homeless)
        str_addf(&words, "; the replacement of %s fits nowhere",
                 original(g, keeper)->pod->meta.name);
    else if (keeper)
        str_addf(&words, "; of %s %s", original(g, keeper)->pod->meta.name,
                 unmade_words(g, plan_set_keeper(g, keeper)));
    else
        add_trouble(g, b->pdb, &words);
    b->luck = homeless ? luck_of(g, b, homeless) : 0;
    if (b->luck)
        str_add(&words, MOVEOUT_BY_CHANCE);
    b->end_words = arena_strndup(g->arena, str_get(&words), words.len);
    if (!homeless)
        return;
    const char *help = room_help(g->room, original(g, homeless)->pod, g->arena);
    b->end_help = arena_printf(g->arena, "until there is room for the replacement: %s",
                               str_empty(help) ? "add a node" : help);
}

/* Whether it may get away all the same. Pods are told node by node; each node may have all the
 * luck that there is. */
static bool is_lucky(struct pbudget *b, const struct ppod *p) {
    if (b->told_node != p->node)
        b->told = 0;
    b->told_node = p->node;
    return b->told++ < b->luck;
}

/* A pod that was still waiting at the end. */
static void end_waiting(struct planning *g, struct ppod *p) {
    struct pbudget *b = p->budget >= 0 ? g->budgets.p[p->budget] : NULL;
    const char *late = given_up(g, p);
    if (!b) {
        plan_judge(p, PLAN_UNSURE, BLOCKER_MAX_UNAVAILABLE, "", "its turn does not come");
        return;
    }
    const struct ppod *kept = keeper(g, b);
    if (!b->end_words)
        end_budget(g, b, kept);
    plan_judge(p, without_room(g, kept) && !is_lucky(b, p) ? PLAN_NEVER : PLAN_UNSURE,
               BLOCKER_PDB_NO_BUDGET, b->name,
               *late ? arena_printf(g->arena, "%s; %s", b->end_words, late) : b->end_words);
    p->pub->blocker.help = b->end_help;
}

/* Its turn had not come when somebody before it did not get through. */
static void end_queued(struct planning *g, struct ppod *p) {
    const struct pnode *n = &g->nodes.p[p->node];
    plan_judge(p, PLAN_UNSURE, BLOCKER_MAX_UNAVAILABLE, n->pub->name,
               n->state == PNODE_WAITS  ? "its node does not get its turn: others keep theirs"
               : n->state == PNODE_LATE ? given_up(g, p)
                                        : "pods that go before it do not");
}

/* Whether one node at most can use this volume. */
static bool is_tied(struct planning *g, const struct pv *pv) {
    const struct object *obj;
    size_t nodes = 0;
    if (pv->local || !pv->affinity || !pv->affinity->required || g->ties++ >= TIES_MAX)
        return pv->local;
    for (uint32_t i = 0; nodes < 2 && (obj = store_next(g->in->cluster->nodes, &i));)
        nodes += node_selector_match(pv->affinity->required, &obj->meta);
    return nodes < 2;
}

/* A volume of the pod that no other node can use, whatever else keeps it from going there: nobody
 * needs to look for room. */
static const struct pv *tied_volume(struct planning *g, const struct pod *pod) {
    const struct plan_input *in = g->in;
    for (size_t i = 0; in->claims && in->volumes && pod->spec && i < list_len(pod->spec->volumes);
         i++) {
        const struct volume *v = &pod->spec->volumes[i];
        const struct pvc *c =
            v->claim ? (const struct pvc *)store_get(in->claims, pod->meta.ns, v->claim->claim)
                     : NULL;
        const struct pv *pv =
            c ? (const struct pv *)store_get(in->volumes, NULL, strna(c->volume_name)) : NULL;
        if (pv && is_tied(g, pv))
            return pv;
    }
    return NULL;
}

static void judge_homeless(struct planning *g, struct ppod *p, const char *name) {
    const struct pv *pv = tied_volume(g, p->pod);
    const char *why = room_why(g->room, p->pod, g->arena);
    if (pv)
        why = arena_printf(g->arena, "its volume %s is on this node alone; %s", pv->meta.name, why);
    plan_judge(p, PLAN_HOMELESS, pv || p->local ? BLOCKER_LOCAL_PV : BLOCKER_NO_ROOM, name, why);
    p->pub->blocker.help = pv ? "" : room_help(g->room, p->pod, g->arena);
}

/* It leaves, but not in the time that its node has. */
static bool is_too_slow(const struct planning *g, const struct ppod *p) {
    const struct pnode *n = &g->nodes.p[p->node];
    return n->state == PNODE_LATE && p->gone - n->begins >= g->in->opts->timeout;
}

static void judge_slow(struct planning *g, struct ppod *p) {
    char needs[TIMEFMT_LEN], first[TIMEFMT_LEN];
    int64_t waits = p->evicted - g->nodes.p[p->node].begins;
    const char *begins =
        waits > 0 ? arena_printf(g->arena, "goes after %s, ", duration_format_limit(waits, first))
                  : "";
    plan_judge(p, PLAN_UNSURE, BLOCKER_TERMINATING_STUCK, plan_full_name(g, &p->pod->meta),
               arena_printf(g->arena, "it %sneeds %s to stop, and %s", begins,
                            duration_format_limit(p->gone - p->evicted, needs), given_up(g, p)));
    p->pub->blocker.help = "give the drain more time: --timeout";
}

static bool has_claims(const struct pod *pod) {
    for (size_t i = 0; pod->spec && i < list_len(pod->spec->volumes); i++)
        if (pod->spec->volumes[i].claim || pod->spec->volumes[i].ephemeral)
            return true;
    return false;
}

static void tell_pod(struct planning *g, struct ppod *p) {
    struct plan_pod *pub = p->pub;
    pub->evicted = p->evicted;
    pub->gone = p->gone;
    pub->back = p->returned;
    pub->to = p->to;
    g->out->assumed += !p->d.seen;
    g->out->attached += has_claims(p->pod);
    if (p->unsure)
        return;
    if (p->leaves_at >= 0 && g->nodes.p[p->node].pub->finding) {
        pub->gone = p->leaves_at; /* nobody has to do anything for that */
    } else if (p->state == PPOD_WAITS) {
        end_waiting(g, p);
    } else if (p->state == PPOD_LEAVING && p->finalizer) {
        plan_judge(p, PLAN_UNSURE, BLOCKER_FINALIZER_STUCK, plan_full_name(g, &p->pod->meta),
                   arena_printf(g->arena, PLAN_FINALIZER, p->finalizer));
    } else if (p->state != PPOD_GONE) {
        end_queued(g, p);
    } else if (is_too_slow(g, p)) {
        judge_slow(g, p);
    } else if (plan_set_keeper(g, p)) {
        judge_unmade(g, p, plan_set_keeper(g, p));
    } else if (p->homeless) {
        judge_homeless(g, p, plan_full_name(g, &p->pod->meta));
    } else if (p->waited) {
        struct pbudget *b = g->budgets.p[p->budget];
        plan_judge(p, PLAN_WAITS, BLOCKER_PDB_NO_BUDGET, b->name, plan_budget_words(g, b));
    }
}

static int compare_nodes(const void *a, const void *b) {
    const struct pnode *x = *(const struct pnode *const *)a, *y = *(const struct pnode *const *)b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return strcmp(x->pub->name, y->pub->name);
}

/* As they begin: who carries it out keeps that order, and of several that begin at the same moment
 * only the one that was taken first may have made way for the next. Those that never begin come
 * last. */
static void sort_nodes(struct planning *g) {
    size_t n = g->nodes.len;
    const struct pnode **order = xcalloc(n + 1, sizeof *order);
    struct plan_node *sorted = arena_alloc(g->arena, (n + 1) * sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        order[i] = &g->nodes.p[i];
    qsort(order, n, sizeof *order, compare_nodes);
    for (size_t i = 0; i < n; i++)
        sorted[i] = *order[i]->pub;
    g->out->nodes = sorted;
    free(order);
}

/* That a successor which had to go once more finds no room is told of the pod. That it does not get
 * away again is nothing to the pod, which has gone: the node that it came to is not done. */
static void tell_successor(struct planning *g, const struct ppod *p) {
    struct plan_pod *pub = g->pods.p[p->origin].pub;
    struct ppod as = *p;
    as.pub = pub;
    if (p->state != PPOD_GONE || pub->verdict >= PLAN_HOMELESS)
        return;
    if (plan_set_keeper(g, p))
        judge_unmade(g, &as, plan_set_keeper(g, p));
    else if (p->homeless)
        judge_homeless(g, &as, plan_full_name(g, &pub->pod->meta));
}

/* --- chance, the other way round --- */

/* The last time that a pod had waited for the budget, and went; PLAN_NO_TIME: none has. */
static int64_t last_wait(const struct planning *g, const struct pbudget *b) {
    int64_t last = PLAN_NO_TIME;
    for (size_t i = 0; i < b->all.len; i++) {
        const struct ppod *p = &g->pods.p[b->all.p[i]];
        if (p->waited && p->state == PPOD_GONE && p->delete_at < 0)
            last = MAX_OF(last, p->evicted);
    }
    return last;
}

/* Of those that fit nowhere: one that would have the place of one whose budget others wait for. */
static const struct ppod *rival(struct planning *g, const numbers *homeless,
                                const struct pbudget *b, const struct ppod **loser) {
    const struct ppod *found = NULL;
    int64_t last = last_wait(g, b);
    for (size_t k = 0; k < homeless->len && last >= 0 && !found && g->lifts <= LIFTS_MAX; k++) {
        const struct ppod *h = &g->pods.p[homeless->p[k]];
        numbers all = VEC_INIT;
        if (h->budget == b->number)
            continue;
        for (size_t i = 0; i < b->all.len; i++) {
            const struct ppod *p = &g->pods.p[b->all.p[i]];
            if (has_place(p) && p->returned <= last && made_at(p) >= made_at(h) - SEC(CLOSE))
                lift(g, b->all.p[i], &all);
        }
        if (all.len && room_for(g->room, h->copy, 1)) {
            *loser = &g->pods.p[all.p[0]];
            found = h;
        }
        g->lifts++;
        lower_all(g, &all);
    }
    return found;
}

static void tell_chance(struct planning *g, const struct pbudget *b, const struct ppod *winner,
                        const struct ppod *loser) {
    const char *words =
        arena_printf(g->arena, MOVEOUT_LUCK, winner->pod->meta.name, loser->pod->meta.name);
    for (size_t i = 0; i < b->all.len; i++) {
        const struct ppod *p = &g->pods.p[b->all.p[i]];
        struct plan_node *n = g->nodes.p[p->node].pub;
        if (p->waited && n->verdict < PLAN_UNSURE && !n->blocker.message)
            n->blocker = (struct plan_blocker){.code = BLOCKER_PDB_NO_BUDGET,
                                               .object = b->name,
                                               .message = words,
                                               .help = "make room for both"};
    }
}

/* Nodes that are done in this play, and would not be if such places went to others: they get their
 * blocker. */
static void tell_chances(struct planning *g) {
    numbers homeless = VEC_INIT;
    for (unsigned i = 0; i < g->own_pods; i++)
        if (g->pods.p[i].homeless && g->pods.p[i].copy)
            *vec_push(&homeless) = i;
    for (size_t i = 0; i < g->budgets.len && homeless.len; i++) {
        const struct pbudget *b = g->budgets.p[i];
        const struct ppod *loser = NULL;
        const struct ppod *winner = rival(g, &homeless, b, &loser);
        if (winner)
            tell_chance(g, b, winner, loser);
    }
    vec_done(&homeless);
}

/* No pod of the node says why it is not done: one that came later does, or its turn. */
static void tell_node(struct planning *g, struct pnode *n) {
    struct plan_pod said = {.verdict = PLAN_GOES};
    for (size_t i = n->own; i < n->pods.len && said.verdict < PLAN_UNSURE; i++) {
        struct ppod as = g->pods.p[n->pods.p[i]];
        as.pub = &said;
        if (as.state == PPOD_WAITS)
            end_waiting(g, &as);
        else if (as.state != PPOD_GONE)
            end_queued(g, &as);
        else if (is_too_slow(g, &as))
            judge_slow(g, &as);
        if (said.verdict < PLAN_UNSURE)
            continue;
        said.blocker.message =
            arena_printf(g->arena, "the replacement of %s comes here and does not get away: %s",
                         original(g, &as)->pod->meta.name, said.blocker.message);
    }
    if (said.verdict < PLAN_UNSURE)
        said.blocker = (struct plan_blocker){
            .code = BLOCKER_MAX_UNAVAILABLE,
            .object = "",
            .message = n->state == PNODE_WAITS ? "its turn does not come: others keep theirs"
                                               : "it is not done in the time that it has",
            .help = ""};
    n->pub->blocker = said.blocker;
    n->pub->verdict = n->pub->itself = PLAN_UNSURE; /* it may as well go elsewhere */
}

/* Replacements of which nobody has looked whether there is room: what is not known is not well. */
static void tell_unread(struct planning *g, struct pnode *n) {
    const struct ppod *first = NULL;
    size_t pods = 0;
    for (size_t i = 0; i < n->own; i++) {
        const struct ppod *p = &g->pods.p[n->pods.p[i]];
        if (!p->copy || p->to || p->homeless || !room_unread(g->room, p->pod))
            continue;
        first = first ? first : p;
        pods++;
    }
    if (!first)
        return;
    n->pub->blocker = (struct plan_blocker){
        .code = BLOCKER_FORBIDDEN,
        .object = plan_full_name(g, &first->pod->meta),
        .message = arena_printf(g->arena, MOVEOUT_UNREAD, pods, pods == 1 ? "" : "s"),
        .help = MOVEOUT_UNREAD_HELP};
    n->pub->verdict = n->pub->itself = PLAN_UNSURE;
}

void plan_tell(struct planning *g) {
    struct plan *out = g->out;
    for (unsigned i = 0; i < g->pods.len; i++)
        if (has_place(&g->pods.p[i]))
            *vec_push(&g->placed) = i;
    for (size_t i = 0; i < g->own_pods; i++)
        tell_pod(g, &g->pods.p[i]);
    for (size_t i = g->own_pods; i < g->pods.len; i++)
        tell_successor(g, &g->pods.p[i]);
    for (size_t i = 0; i < g->nodes.len; i++) {
        struct pnode *n = &g->nodes.p[i];
        n->pub->begins = n->begins;
        n->pub->ends = n->ends;
        for (size_t k = 0; k < n->pub->n_pods; k++) {
            enum plan_verdict v = n->pub->pods[k].verdict;
            n->pub->count[v]++;
            out->count[v]++;
            n->pub->verdict = MAX_OF(n->pub->verdict, v);
        }
        n->pub->verdict = MAX_OF(n->pub->verdict, plan_finding_verdict(n->pub->finding));
        if (n->ends == PLAN_NO_TIME && n->pub->verdict < PLAN_UNSURE)
            tell_node(g, n);
        else if (n->pub->verdict < PLAN_UNSURE)
            tell_unread(g, n);
    }
    tell_chances(g);
    vec_done(&g->placed);
    out->most_at_once = g->most;
    sort_nodes(g);
}
