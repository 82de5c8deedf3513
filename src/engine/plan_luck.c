/* What of a plan is chance: how much luck a pod needs, and what is said of what does not come out
 * each time. */
#include <stdlib.h>

#include "engine/moveout.h"
#include "engine/plan_internal.h"

enum {
    CLOSE = 10,         /* seconds within which nobody can tell who is first */
    LIFTS_MAX = 200000, /* places that are emptied for questions */
    LUCK_MAX = 1000,    /* pods that wait for one budget */
};

/* --- places that others may get --- */

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

int32_t plan_still_waiting(const struct planning *g, const struct pbudget *b) {
    int32_t waiting = 0;
    for (size_t i = b->head; i < b->queue.len; i++)
        waiting += g->pods.p[b->queue.p[i]].state == PPOD_WAITS;
    return waiting;
}

int32_t plan_luck(struct planning *g, const struct pbudget *b, const struct ppod *homeless) {
    numbers all = VEC_INIT;
    int32_t waiting;
    if (homeless->unmade)
        return 0; /* no place helps it */
    if (g->lifts > LIFTS_MAX)
        return LUCK_MAX; /* nobody has looked */
    waiting = plan_still_waiting(g, b);
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

void plan_luck_begin(struct planning *g) {
    for (unsigned i = 0; i < g->pods.len; i++)
        if (has_place(&g->pods.p[i]))
            *vec_push(&g->placed) = i;
}

void plan_luck_end(struct planning *g) {
    vec_done(&g->placed);
}

/* --- the other way round, where nobody has tried --- */

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
        struct pnode *n = &g->nodes.p[p->node];
        if (p->waited && n->ends != PLAN_NO_TIME && !n->pub->blocker.message)
            plan_blame(n, PLAN_UNSURE,
                       (struct plan_blocker){.code = BLOCKER_PDB_NO_BUDGET,
                                             .object = b->name,
                                             .message = words,
                                             .help = "make room for both"});
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

/* --- what comes out another time --- */

/* One after the other they do not compete, but who is first takes what there is. */
static const char *compete_words(const struct planning *g) {
    return g->nodes.len < 2 ? "pods that leave at the same time compete for the last places: which "
                              "of them get away is chance"
           : g->limit > 1
               ? "nodes that are drained at the same time compete for what it allows and "
                 "for the last places: which of them get through is chance"
               : "it depends on how long pods take who gets the last places: which nodes "
                 "get through is chance";
}

static const char *compete_help(const struct planning *g) {
    return g->limit > 1 && g->nodes.len > 1
               ? "make room, or let fewer nodes go at a time: --parallel"
               : "make room";
}

/* Nothing makes any of them again: no room helps, and the budget has for ever what it has then. */
static bool none_returns(const struct planning *g, const struct pbudget *b) {
    for (size_t i = 0; i < b->all.len; i++)
        if (g->pods.p[b->all.p[i]].back != BACK_NEVER)
            return false;
    return true;
}

/* It waits for its budget when others are quicker; or for its turn, which they keep. */
static void judge_chance(struct planning *g, struct ppod *p) {
    bool waits = p->budget >= 0 && (p->tries_left || !g->tries) && !p->surges;
    struct pbudget *b = waits ? g->budgets.p[p->budget] : NULL;
    plan_judge(p, PLAN_UNSURE, b ? BLOCKER_PDB_NO_BUDGET : BLOCKER_MAX_UNAVAILABLE,
               b ? b->name : g->nodes.p[p->node].pub->name,
               b ? arena_printf(g->arena, "%s; %s", plan_budget_words(g, b), compete_words(g))
                 : "whether its turn comes is chance: others may keep theirs");
    if (p->surges)
        p->pub->blocker = (struct plan_blocker){
            .code = BLOCKER_SURGE_PENDING,
            .object = plan_full_name(g, &p->pod->meta),
            .message = "with --surge a second replica comes first: whether that finds a place is "
                       "chance, others want the same places"};
    p->pub->blocker.help = compete_help(g);
    if (b && none_returns(g, b)) {
        p->pub->blocker.message =
            arena_printf(g->arena,
                         "%s; nothing makes pods of it again that have gone: which of them get "
                         "away is chance",
                         plan_budget_words(g, b));
        p->pub->blocker.help = "let a controller make them, or change the budget";
    }
    p->pub->evicted = p->pub->gone = p->pub->back = PLAN_NO_TIME;
    p->pub->to = NULL;
}

/* Whether its successor has a place is not the same in all tries. */
static bool place_differs(const struct planning *g, const struct ppod *p) {
    return p->tries_homeless + p->tries_unmade && p->tries_homeless < g->tries &&
           p->tries_unmade < g->tries;
}

static void count_without(struct planning *g) {
    for (size_t i = 0; i < g->own_pods; i++) {
        const struct ppod *p = &g->pods.p[i];
        if (p->owner >= 0 && p->tries_gone == g->tries)
            g->owners.p[p->owner].without += p->pub->verdict == PLAN_HOMELESS;
    }
}

/* Of several that are alike, so many fit nowhere each time, and no more than so many at any time:
 * beyond the first of these nothing is sure. */
static bool place_is_open(struct planning *g, const struct ppod *p) {
    struct powner *o = p->owner >= 0 ? &g->owners.p[p->owner] : NULL;
    if (!o)
        return place_differs(g, p);
    if (p->pub->verdict == PLAN_HOMELESS)
        return o->told++ >= o->least;
    return o->without + o->open++ < o->most;
}

/* That it has no place is not sure then; nor that it has one. */
static void tell_place(struct planning *g, struct ppod *p) {
    struct plan_pod *pub = p->pub;
    if (!place_is_open(g, p))
        return;
    plan_judge(p, PLAN_HOMELESS, BLOCKER_NO_ROOM, plan_full_name(g, &p->pod->meta),
               pub->verdict == PLAN_HOMELESS && pub->blocker.code == BLOCKER_NO_ROOM
                   ? arena_printf(g->arena, "%s; whether it stays so is chance",
                                  moveout_words(g->arena, pub->blocker.message))
                   : "whether its replacement finds a place is chance: others want the same "
                     "places");
    pub->blocker.help = compete_help(g);
    pub->back = PLAN_NO_TIME;
    pub->to = NULL;
}

/* What does not come out each time is not sure, however it came out in the one that is told. */
static void tell_pod_tries(struct planning *g, struct ppod *p) {
    if (p->tries_gone && p->tries_gone < g->tries)
        judge_chance(g, p);
    else if (p->tries_gone)
        tell_place(g, p);
}

/* Of a node that is never done, although none of its pods has to stay: another does, then. */
static void tell_others_stay(struct planning *g, struct pnode *n, struct plan_pod told) {
    told.blocker.message =
        arena_printf(g->arena, "%s; which of its pods is left is chance", told.blocker.message);
    plan_blame(n, told.verdict, told.blocker);
}

#define AWAIT_CHANCE                                                                               \
    "with --wait-rescheduled it is drained when the replacements of its pods run: whether they "   \
    "find a place is chance, others want the same places"

static void tell_node_chance(const struct planning *g, struct pnode *n) {
    if (plan_worst(n)->verdict >= PLAN_UNSURE)
        n->ends = PLAN_NO_TIME; /* they say it */
    else
        plan_blame(n, PLAN_UNSURE,
                   (struct plan_blocker){
                       .code = g->in->opts->wait_rescheduled ? BLOCKER_NOT_RESCHEDULED
                                                             : BLOCKER_MAX_UNAVAILABLE,
                       .object = "",
                       .message = g->in->opts->wait_rescheduled
                                      ? AWAIT_CHANCE
                                      : "whether it is drained is chance: others may keep "
                                        "their turn, or a replacement may come here that "
                                        "does not get away",
                       .help = compete_help(g)});
}

/* One of its pods is left each time, for something of which nobody can tell the end: the node is
 * not done because of that, whatever became of the others. */
static bool one_stays(const struct planning *g, const struct pnode *n) {
    for (size_t i = 0; i < n->own; i++) {
        const struct ppod *p = &g->pods.p[n->pods.p[i]];
        if (!p->tries_gone && p->pub->verdict == PLAN_UNSURE)
            return true;
    }
    return false;
}

static void tell_node_tries(struct planning *g, struct pnode *n) {
    struct plan_pod told = *plan_worst(n);
    for (size_t i = 0; i < n->own; i++)
        tell_pod_tries(g, &g->pods.p[n->pods.p[i]]);
    if (n->tries_done && n->tries_done < g->tries)
        tell_node_chance(g, n);
    else if (!n->tries_done && told.verdict > plan_worst(n)->verdict && !one_stays(g, n))
        tell_others_stay(g, n, told);
}

/* --- where nobody has tried --- */

/* Of a budget that has run dry, the last that it allowed went to pods of
 * nodes that began at the same moment as those of others, which wait for it still. */
static bool took_for_good(const struct ppod *p) {
    return p->took && p->homeless && p->state == PPOD_GONE;
}

static void tell_contested(struct planning *g, const struct pbudget *b) {
    const struct ppod *last = NULL;
    bool contested = false;
    for (size_t i = 0; i < b->all.len; i++) {
        const struct ppod *p = &g->pods.p[b->all.p[i]];
        if (took_for_good(p) &&
            (!last || g->nodes.p[p->node].begins > g->nodes.p[last->node].begins))
            last = p;
    }
    int64_t began = last ? g->nodes.p[last->node].begins : 0;
    for (size_t i = 0; last && !contested && i < b->all.len; i++) {
        const struct ppod *p = &g->pods.p[b->all.p[i]];
        contested =
            p->state == PPOD_WAITS && p->node != last->node && g->nodes.p[p->node].begins == began;
    }
    for (size_t i = 0; contested && i < b->all.len; i++) {
        struct ppod *p = &g->pods.p[b->all.p[i]];
        struct pnode *n = &g->nodes.p[p->node];
        if (n->begins != began || !(took_for_good(p) || p->state == PPOD_WAITS))
            continue;
        judge_chance(g, p);
        n->ends = PLAN_NO_TIME;
    }
}

/* With --wait-rescheduled who has a place and who has none decides which nodes are done. */
static void tell_awaited(struct planning *g) {
    bool scarce = false;
    for (size_t i = 0; i < g->pods.len; i++)
        scarce |= g->pods.p[i].homeless && g->pods.p[i].copy;
    for (size_t i = 0; i < g->own_pods && scarce; i++) {
        struct pnode *n = &g->nodes.p[g->pods.p[i].node];
        if (g->pods.p[i].awaited && g->pods.p[i].there && n->ends != PLAN_NO_TIME)
            tell_node_chance(g, n);
    }
}

static void tell_untried(struct planning *g) {
    tell_awaited(g);
    for (size_t i = 0; i < g->budgets.len && g->nodes.len > 1; i++)
        tell_contested(g, g->budgets.p[i]);
    tell_chances(g);
}

/* --- all of it --- */

void plan_tell_luck(struct planning *g) {
    count_without(g);
    for (size_t i = 0; i < g->nodes.len && g->tries; i++)
        tell_node_tries(g, &g->nodes.p[i]);
    if (!g->tries)
        tell_untried(g);
}
