/* Plays a drain through, in time that is computed: budgets are spent and given back, nodes begin
 * when there is room for them. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "engine/plan_play.h"
#include "engine/podrole.h"

enum {
    PENDING_MAX = 1000, /* successors that are tried again in vain at one moment */
    BOUNCES_MAX = 3,    /* times that a pod may come to a node which is drained after it */
};

/* --- what happens next --- */

static bool before(const struct happening *a, const struct happening *b) {
    return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static void later_of(struct play *p, int64_t at, enum what what, unsigned pod, unsigned member) {
    struct happening h = {at, p->seq++, what, pod, member};
    size_t i = p->heap.len;
    *vec_push(&p->heap) = h;
    for (; i && before(&h, &p->heap.p[(i - 1) / 2]); i = (i - 1) / 2)
        p->heap.p[i] = p->heap.p[(i - 1) / 2];
    p->heap.p[i] = h;
}

void play_later(struct play *p, int64_t at, enum what what, unsigned pod) {
    later_of(p, at, what, pod, 0);
}

static bool next(struct play *p, struct happening *out) {
    if (!p->heap.len)
        return false;
    *out = p->heap.p[0];
    struct happening h = p->heap.p[--p->heap.len];
    size_t i = 0, n = p->heap.len;
    for (size_t k; (k = 2 * i + 1) < n; i = k) {
        k += k + 1 < n && before(&p->heap.p[k + 1], &p->heap.p[k]);
        if (!before(&p->heap.p[k], &h))
            break;
        p->heap.p[i] = p->heap.p[k];
    }
    if (n)
        p->heap.p[i] = h;
    return true;
}

/* --- successors --- */

/* A pod that came to a node which has yet to be drained has to go once more. */
static void bounce(struct play *p, unsigned number, const char *to) {
    struct planning *g = p->g;
    const struct ppod *old = &g->pods.p[number];
    struct pnode *n = plan_node_find(g, to);
    bool goes = n && n->state == PNODE_WAITS && !n->pub->finding && !n->refused;
    if (!goes || old->bounced >= BOUNCES_MAX)
        return;
    struct ppod new = {.pod = room_copy(g->room, old->copy),
                       .node = (unsigned)(n - g->nodes.p),
                       .budget = old->budget,
                       .owner = old->owner,
                       .d = old->d,
                       .takes = old->takes,
                       .luck = old->luck,
                       .back = old->back,
                       .order = old->order,
                       .grace = old->grace,
                       .unmade = old->unmade,
                       .doubt = old->doubt,
                       .set = old->set,
                       .member = old->member,
                       .leaves_at = PLAN_NO_TIME,
                       .delete_at = old->delete_at,
                       .force_at = old->force_at,
                       .deadline = old->deadline,
                       .rule = old->rule,
                       .surges = old->surges,
                       .awaited = old->awaited,
                       .own_copy = old->copy,
                       .origin = old->own_copy ? old->origin : number,
                       .bounced = old->bounced + 1,
                       .first = PLAN_NO_TIME,
                       .evicted = PLAN_NO_TIME,
                       .gone = PLAN_NO_TIME,
                       .returned = PLAN_NO_TIME};
    *vec_push(&n->pods) = (unsigned)g->pods.len;
    *vec_push(&g->pods) = new;
}

/* True when it has a place, or needs none. */
static bool place(struct play *p, unsigned i) {
    struct planning *g = p->g;
    struct ppod *pod = &g->pods.p[i];
    const char *to = "";
    if (pod->unmade)
        to = NULL;
    else if (g->room)
        to = room_place(g->room, pod->pod, pod->back == BACK_WHEN_GONE, &pod->copy);
    /* What was found is a guess then, which takes room all the same. */
    if (pod->doubt && !pod->unmade)
        to = "";
    if (!to) {
        pod->homeless = true;
        /* What has not gone yet, because its second replica fits nowhere, keeps nothing of it. */
        if (pod->budget >= 0 && !(pod->raised && pod->state == PPOD_WAITS))
            g->budgets.p[pod->budget]->homeless = (int)i;
        p->hopeful |= !pod->unmade && room_waits_for_others(g->room);
        return false;
    }
    pod->homeless = false;
    pod->to = *to ? to : NULL;
    pod->returned = p->now + pod->takes.start;
    if (pod->set)
        pod->turn = pod->set->members.p[pod->member].turn;
    play_later(p, pod->returned, POD_BACK, i);
    if (*to)
        bounce(p, i, to); /* pod is not valid after this */
    return true;
}

void play_make_successor(struct play *p, unsigned i) {
    if (place(p, i))
        return;
    *vec_push(&p->pending) = i;
}

/* The scheduler tries them when their back-off is over, whoever that is first. */
static void shuffle_pending(struct play *p) {
    for (size_t i = p->pending.len; i > 1; i--) {
        size_t k = (size_t)prng_range(p->g->chance, 0, (int64_t)i);
        unsigned swap = p->pending.p[i - 1];
        p->pending.p[i - 1] = p->pending.p[k];
        p->pending.p[k] = swap;
    }
}

/* All of the plan's own that wait for a place; of very many, as many as find nothing one after the
 * other, who have to wait for their next turn. */
static void try_own(struct play *p) {
    size_t had = p->pending.len, tried = 0, in_vain = 0;
    if (p->g->chance)
        shuffle_pending(p);
    for (p->hopeful = false; tried < had && in_vain < PENDING_MAX; tried++) {
        unsigned i = p->pending.p[tried];
        bool placed = place(p, i);
        if (!placed)
            *vec_push(&p->pending) = i;
        in_vain = placed ? 0 : in_vain + 1;
    }
    if (!tried)
        return;
    p->pending.len -= tried;
    memmove(p->pending.p, p->pending.p + tried, p->pending.len * sizeof *p->pending.p);
}

/* Something has become free. Those that waited before all this have waited longer, so that their
 * back-off may be longer, too. */
static void try_pending(struct play *p) {
    const struct planning *g = p->g;
    bool late = g->chance && prng_range(g->chance, 0, 2);
    if (g->room && !late)
        room_seat(g->room);
    try_own(p);
    if (g->room && late)
        room_seat(g->room);
}

/* --- StatefulSets that make one after the other --- */

void play_member_is(struct ppod *pod, unsigned i, enum member_state state) {
    if (!pod->set)
        return;
    struct pmember *m = &pod->set->members.p[pod->member];
    m->now = state;
    m->gone = state == MEMBER_GONE ? (int)i : -1;
    m->turn++;
}

/* Whoever waits for one that is not made keeps what it has of the budget. */
static void keep_budget(struct play *p, unsigned i) {
    const struct planning *g = p->g;
    const struct ppod *pod = &g->pods.p[i];
    struct pbudget *b = pod->budget >= 0 ? g->budgets.p[pod->budget] : NULL;
    if (b && (b->homeless < 0 || !g->pods.p[b->homeless].homeless))
        b->homeless = (int)i;
}

static void make_next(struct play *p, struct pset *set) {
    int i = plan_set_next(set);
    if (i >= 0)
        play_make_successor(p, (unsigned)i);
}

static void make_in_order(struct play *p, unsigned i) {
    struct ppod *pod = &p->g->pods.p[i];
    struct pset *set = pod->set;
    unsigned member = pod->member;
    if (!set) {
        play_make_successor(p, i);
        return;
    }
    play_member_is(pod, i, MEMBER_GONE);
    make_next(p, set); /* pod is not valid after this */
    if (set->members.p[member].now == MEMBER_GONE)
        keep_budget(p, i);
}

/* One that has had to go by then does not count, whatever was expected of it. */
static void member_well(struct play *p, struct pset *set, unsigned member, unsigned turn) {
    if (set->members.p[member].turn != turn)
        return;
    set->members.p[member].now = MEMBER_WELL;
    make_next(p, set);
}

/* --- nodes --- */

static void want(struct play *p, const struct pnode *n) {
    for (size_t k = 0; k < n->pods.len; k++) {
        const struct ppod *pod = &p->g->pods.p[n->pods.p[k]];
        if (pod->budget >= 0 && !pod->unsure)
            p->g->budgets.p[pod->budget]->wanted++;
    }
}

static unsigned conflicts(const struct play *p, const struct pnode *n) {
    unsigned in_the_way = 0;
    for (size_t k = 0; k < n->pods.len; k++) {
        const struct ppod *pod = &p->g->pods.p[n->pods.p[k]];
        if (pod->budget < 0)
            continue;
        const struct pbudget *b = p->g->budgets.p[pod->budget];
        in_the_way += b->allowed <= b->wanted;
    }
    return in_the_way;
}

static bool zone_is_full(const struct play *p, const struct pnode *n) {
    unsigned max = p->g->in->opts->max_zones;
    return max && p->zones >= max && !p->zone_out[n->zone];
}

/* Whether it may begin now. One that a check denies its cordon never does. Where nodes do not come
 * back, those of which only one may be out have been judged before. */
static bool may_begin(const struct play *p, const struct pnode *n) {
    bool alone = n->exclusive && p->exclusive && p->g->in->opts->uncordon_when_done;
    return n->state == PNODE_WAITS && !n->pub->finding && !alone && !zone_is_full(p, n);
}

/* The next in order; or, of the next few, the one that is least in the way. */
static int choose(struct play *p) {
    enum { LOOK_AT = 50 };
    int best = -1;
    unsigned least = 0, seen = 0;
    const struct planning *g = p->g;
    for (; p->from < g->nodes.len; p->from++) {
        const struct pnode *n = &g->nodes.p[p->order[p->from]];
        if (n->state == PNODE_WAITS && !n->pub->finding)
            break;
    }
    for (size_t i = p->from; i < g->nodes.len && seen < LOOK_AT; i++) {
        const struct pnode *n = &g->nodes.p[p->order[i]];
        /* Those that are never done would keep their place: they come when nobody else does. */
        if (!may_begin(p, n) || (best >= 0 && n->hopeless > g->nodes.p[best].hopeless))
            continue;
        if (p->as_given)
            return (int)p->order[i];
        unsigned c = p->greedy ? conflicts(p, n) : 0;
        seen++;
        if (best < 0 || c < least || n->hopeless < g->nodes.p[best].hopeless) {
            best = (int)p->order[i];
            least = c;
        }
        if (!least && !n->hopeless)
            break;
    }
    return best;
}

static void give_back(struct play *p, const struct pnode *n) {
    p->out--;
    p->zones -= !--p->zone_out[n->zone];
    p->exclusive -= n->exclusive;
}

/* It is not asked to go any more: others may have what it would have had of its budget. */
static void let_be(struct play *p, struct ppod *pod) {
    if (pod->budget < 0 || pod->unsure || pod->state > PPOD_READY)
        return;
    struct pbudget *b = p->g->budgets.p[pod->budget];
    b->wanted -= pod->state != PPOD_READY;
    b->allowed += pod->took;
    pod->took = false;
    play_use_budget(p, b);
}

static void node_late(struct play *p, struct pnode *n) {
    if (n->state != PNODE_OUT)
        return;
    n->state = PNODE_LATE;
    give_back(p, n);
    for (size_t k = 0; k < n->pods.len; k++) {
        struct ppod *pod = &p->g->pods.p[n->pods.p[k]];
        if (!pod->overdue)
            let_be(p, pod);
    }
}

/* Those of its turn go on; it has failed when they are done, and nobody comes after them. */
static void pod_overdue(struct play *p, unsigned i) {
    struct ppod *pod = &p->g->pods.p[i];
    struct pnode *n = &p->g->nodes.p[pod->node];
    if (pod->state == PPOD_GONE || n->state != PNODE_OUT || n->refused)
        return;
    pod->overdue = n->overdue = true;
    let_be(p, pod);
    if (!--n->turn)
        node_late(p, n);
}

static void node_done(struct play *p, struct pnode *n) {
    n->state = PNODE_DONE;
    n->ends = p->last = p->now;
    give_back(p, n);
    p->done++;
    if (!p->g->in->opts->uncordon_when_done || !p->g->room)
        return;
    room_open(p->g->room, n->pub->name);
    try_pending(p);
}

static void begin(struct play *p, struct pnode *n) {
    n->state = PNODE_OUT;
    n->begins = p->now;
    n->place = p->begun++;
    n->left = 0;
    for (size_t k = 0; k < n->pods.len; k++)
        n->left += p->g->pods.p[n->pods.p[k]].state != PPOD_GONE;
    if (p->g->room)
        room_close(p->g->room, n->pub->name);
    p->out += !n->refused;
    p->refused += n->refused;
    p->most = MAX_OF(p->most, (size_t)MIN_OF(p->out + p->refused, p->g->limit));
    if (n->refused)
        return;
    p->zones += !p->zone_out[n->zone]++;
    p->exclusive += n->exclusive;
    want(p, n);
    if (p->g->in->opts->timeout > 0)
        play_later(p, p->now + p->g->in->opts->timeout, LATE, (unsigned)(n - p->g->nodes.p));
}

/* The one that is cordoned first asks first. */
static void sort_begun(const struct planning *g, unsigned *begun, size_t n) {
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k && g->nodes.p[begun[k]].luck < g->nodes.p[begun[k - 1]].luck; k--) {
            unsigned swap = begun[k];
            begun[k] = begun[k - 1];
            begun[k - 1] = swap;
        }
}

/* It is known to be: its pods are asked to go. */
static void cordoned(struct play *p, struct pnode *n) {
    if (n->state != PNODE_OUT)
        return; /* those that were leaving were all that it had */
    if (n->left)
        play_begin_turns(p, n);
    else
        node_done(p, n);
}

/* Nodes that begin together are cordoned before the first of their pods goes. */
static void admit(struct play *p) {
    VEC(unsigned) begun = VEC_INIT;
    do {
        begun.len = 0;
        for (int i; p->out < p->g->limit && (i = choose(p)) >= 0;) {
            begin(p, &p->g->nodes.p[i]);
            *vec_push(&begun) = (unsigned)i;
        }
        if (begun.len && p->hopeful) /* where pods are to be spread, those nodes count no more */
            try_pending(p);
        if (p->g->chance)
            sort_begun(p->g, begun.p, begun.len);
        for (size_t k = 0; k < begun.len; k++) {
            struct pnode *n = &p->g->nodes.p[begun.p[k]];
            if (n->lag)
                play_later(p, p->now + n->lag, CORDONED, begun.p[k]);
            else
                cordoned(p, n);
        }
    } while (begun.len && p->out < p->g->limit);
    vec_done(&begun);
}

/* --- the play --- */

/* What follows when it has gone. */
static void pod_made(struct play *p, unsigned i) {
    const struct ppod *pod = &p->g->pods.p[i];
    bool opens = p->g->room && p->g->nodes.p[pod->node].begins < 0;
    if (pod->state == PPOD_GONE && pod->back == BACK_WHEN_GONE)
        make_in_order(p, i);
    if (opens) /* it was leaving, and leaves a node that others may come to */
        room_freed(p->g->room);
    if (opens || p->hopeful)
        try_pending(p);
}

/* With --wait-rescheduled it is not done yet. */
static void all_gone(struct play *p, struct pnode *n) {
    if (!plan_awaits(p->g, n))
        node_done(p, n);
}

/* Its Deployment has one replica again, and the budget what it had before. */
static void lower(struct play *p, const struct ppod *pod) {
    if (!pod->raised || pod->budget < 0)
        return;
    struct pbudget *b = p->g->budgets.p[pod->budget];
    b->allowed += (int)pod->took - (int)pod->gained;
    play_use_budget(p, b);
}

static void pod_gone(struct play *p, unsigned i) {
    struct planning *g = p->g;
    struct ppod *pod = &g->pods.p[i];
    struct pnode *n = &g->nodes.p[pod->node];
    if (g->room)
        room_gone(g->room, pod->pod, pod->own_copy);
    /* Those that waited for it to go are looked at first, unless their back-off is not over. */
    if (g->room && !(g->chance && prng_range(g->chance, 0, 2)))
        room_seat(g->room);
    if (!pod->finalizer) { /* else it has stopped, and its node is never done */
        pod->state = PPOD_GONE;
        pod->gone = p->now;
    }
    /* Whether others are quicker to cordon the node whose turn it is then is chance. */
    if (g->chance && prng_range(g->chance, 0, 2))
        play_later(p, p->now + 1, POD_MADE, i);
    else
        pod_made(p, i);
    if (g->pods.p[i].finalizer)
        return;
    if (n->begins < 0) { /* it was leaving, and has not waited for its node */
        g->pods.p[i].evicted = p->now;
        return;
    }
    lower(p, &g->pods.p[i]);
    n->turn -= g->pods.p[i].first >= 0 && !g->pods.p[i].overdue;
    n->left--;
    if (n->state != PNODE_OUT)
        return;
    if (n->overdue && !n->turn)
        node_late(p, n);
    else if (!n->left)
        all_gone(p, n);
    else if (!n->turn)
        play_begin_turns(p, n);
}

static void healed(struct play *p, struct pbudget *b) {
    if (b->short_of > 0) {
        b->short_of--;
        return;
    }
    b->allowed++;
    play_use_budget(p, b);
}

/* The second replica is there: the first can go, as far as its budget allows. */
static void raised(struct play *p, unsigned i) {
    struct ppod *pod = &p->g->pods.p[i];
    if (pod->state != PPOD_WAITS || play_is_late(p, i))
        return;
    if (pod->budget < 0) {
        play_go_now(p, i);
        return;
    }
    struct pbudget *b = p->g->budgets.p[pod->budget];
    pod->gained = plan_surge_gains(b->pdb);
    play_enqueue(p->g, b, i);
    if (pod->gained)
        healed(p, b);
    else
        play_use_budget(p, b);
}

static void pod_back(struct play *p, unsigned i) {
    const struct ppod *pod = &p->g->pods.p[i];
    struct pnode *n = &p->g->nodes.p[pod->node];
    p->g->pods.p[i].there = !play_is_late(p, i); /* what comes then is nothing to it any more */
    if (n->state == PNODE_OUT && !n->left && pod->awaited)
        all_gone(p, n);
    if (pod->raised) {
        raised(p, i);
        return;
    }
    if (pod->set && pod->set->min_ready)
        play_later(p, p->now + pod->set->min_ready, POD_COUNTS, i);
    else if (pod->set)
        member_well(p, pod->set, pod->member, pod->turn);
    pod = &p->g->pods.p[i]; /* others may have been made */
    if (!pod->took)
        return;
    struct pbudget *b = p->g->budgets.p[pod->budget];
    b->allowed++;
    play_use_budget(p, b);
}

/* It was leaving a node that is not the plan's. */
static void other_gone(struct play *p, unsigned i) {
    const struct pod *const *leaving;
    room_leaving(p->g->room, &leaving);
    room_gone(p->g->room, leaving[i], 0);
    room_freed(p->g->room);
    try_pending(p);
}

static void happen(struct play *p, const struct happening *h) {
    switch (h->what) {
    case POD_GONE:
        pod_gone(p, h->pod);
        break;
    case POD_MADE:
        pod_made(p, h->pod);
        break;
    case POD_BACK:
        pod_back(p, h->pod);
        break;
    case POD_DELETE:
        if (p->g->pods.p[h->pod].state == PPOD_WAITS && !play_is_late(p, h->pod)) {
            int budget = p->g->pods.p[h->pod].budget;
            if (budget >= 0)
                p->g->budgets.p[budget]->wanted--;
            play_go_now(p, h->pod);
        }
        break;
    case TOKEN:
        p->token_due = false;
        break;
    case HEALED:
        healed(p, p->g->budgets.p[h->pod]);
        break;
    case LATE:
        node_late(p, &p->g->nodes.p[h->pod]);
        break;
    case OVERDUE:
        pod_overdue(p, h->pod);
        break;
    case POD_COUNTS:
        member_well(p, p->g->pods.p[h->pod].set, p->g->pods.p[h->pod].member,
                    p->g->pods.p[h->pod].turn);
        break;
    case MEMBER:
        member_well(p, p->g->sets.p[h->pod], h->member, 0);
        break;
    case CORDONED:
        cordoned(p, &p->g->nodes.p[h->pod]);
        break;
    case OTHER_GONE:
        other_gone(p, h->pod);
        break;
    }
}

static void reset(struct planning *g) {
    g->pods.len = g->own_pods;
    plan_sets_reset(g);
    for (size_t i = 0; i < g->pods.len; i++) {
        struct ppod *p = &g->pods.p[i];
        p->state = PPOD_QUEUED;
        p->waited = p->rated = p->homeless = p->took = false;
        p->raised = p->gained = p->there = p->overdue = false;
        p->turn = 0;
        p->first = p->evicted = p->gone = p->returned = PLAN_NO_TIME;
        p->to = NULL;
        p->copy = 0;
    }
    for (size_t i = 0; i < g->budgets.len; i++) {
        struct pbudget *b = g->budgets.p[i];
        b->allowed = MAX_OF(b->pdb->allowed, 0);
        b->wanted = 0;
        b->short_of = MAX_OF(b->pdb->desired - b->pdb->healthy, 0);
        b->homeless = -1;
        b->queue.len = b->head = 0;
    }
    for (size_t i = 0; i < g->nodes.len; i++) {
        struct pnode *n = &g->nodes.p[i];
        n->state = PNODE_WAITS;
        n->begins = n->ends = PLAN_NO_TIME;
        n->place = UINT_MAX;
        n->pods.len = n->own;
        n->left = n->turn = 0;
        n->overdue = false;
    }
    plan_draw(g);
}

/* Pods that terminate already are gone whatever becomes of their nodes; at the latest when their
 * grace period is over. */
static void play_leaving(struct play *p) {
    struct planning *g = p->g;
    for (size_t i = 0; i < g->own_pods; i++) {
        struct ppod *pod = &g->pods.p[i];
        if (pod->leaves_at < 0 || pod->unsure)
            continue;
        pod->state = PPOD_LEAVING;
        bool any = g->chance && !g->timed;
        int64_t at = any ? prng_range(g->chance, 0, pod->leaves_at + 1) : pod->leaves_at;
        play_later(p, at, POD_GONE, (unsigned)i);
    }
    const struct pod *const *others = NULL;
    size_t n = g->room && g->chance ? room_leaving(g->room, &others) : 0;
    for (size_t i = 0; i < n; i++)
        play_later(p,
                   prng_range(g->chance, 0, MAX_OF(others[i]->meta.deleted - g->begun_at, 0) + 1),
                   OTHER_GONE, (unsigned)i);
}

int64_t plan_play(struct planning *g, const unsigned *order, bool greedy) {
    struct play p = {.g = g,
                     .heap = VEC_INIT,
                     .ready = VEC_INIT,
                     .pending = VEC_INIT,
                     .sent = VEC_INIT,
                     .tokens = MAX_OF(g->in->opts->rate, 1.0),
                     .order = order,
                     .zone_out = xcalloc(g->zones + 1, sizeof *p.zone_out),
                     .greedy = greedy};
    struct happening h;
    /* As drains do it (drain_admit.c): those that can go together go as they are given. */
    p.as_given = g->in->opts->in_order || (g->limit >= g->nodes.len && !g->in->opts->max_zones);
    reset(g);
    for (size_t i = 0; i < g->budgets.len; i++)
        for (size_t k = 0; k < g->budgets.p[i]->heals.len; k++)
            play_later(&p, g->budgets.p[i]->heals.p[k], HEALED, (unsigned)i);
    for (size_t i = 0; i < g->sets.len; i++)
        for (size_t k = 0; k < g->sets.p[i]->members.len; k++)
            if (g->sets.p[i]->members.p[k].well_at >= 0)
                later_of(&p, g->sets.p[i]->members.p[k].well_at, MEMBER, (unsigned)i, (unsigned)k);
    play_leaving(&p);
    admit(&p);
    play_run_ready(&p);
    while (next(&p, &h)) {
        if (p.idle_from < h.at)
            p.idle_till = h.at;
        p.now = h.at;
        happen(&p, &h);
        while (p.heap.len && p.heap.p[0].at == p.now && next(&p, &h))
            happen(&p, &h);
        admit(&p);
        play_run_ready(&p);
    }
    g->most = p.most;
    g->done = p.done;
    free(p.zone_out);
    vec_done(&p.heap);
    vec_done(&p.ready);
    vec_done(&p.pending);
    vec_done(&p.sent);
    return p.last;
}

int64_t plan_play_room(struct planning *g, const unsigned *order, bool greedy) {
    g->room = room_new(g);
    for (size_t i = 0; i < g->nodes.len && g->in->opts->avoid_next; i++)
        if (!g->nodes.p[i].pub->finding)
            room_avoid(g->room, g->nodes.p[i].pub->name);
    return plan_play(g, order, greedy);
}
