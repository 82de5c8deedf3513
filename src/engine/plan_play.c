/* Plays a drain through, in time that is computed: budgets are spent and given back, nodes begin
 * when there is room for them. */
#include <limits.h>
#include <stdlib.h>

#include "engine/plan_internal.h"
#include "engine/podrole.h"

enum {
    PENDING_MAX = 1000, /* successors without a place that are tried again when a pod is gone */
    BOUNCES_MAX = 3,    /* times that a pod may come to a node which is drained after it */
};

enum what {
    POD_GONE,   /* it has stopped */
    POD_BACK,   /* its successor is ready */
    POD_DELETE, /* a rule does not wait for its budget any longer */
    TOKEN,      /* the rate allows another eviction */
    HEALED,     /* a pod of the budget of that number is ready, which was just starting */
    LATE,       /* the node of that number has had all the time that it may have */
    POD_COUNTS, /* its successor is ready for so long that its StatefulSet goes on */
    MEMBER,     /* so is a pod of the StatefulSet of that number, which was just starting */
};

struct happening {
    int64_t at;
    uint64_t seq; /* what was known of first comes first */
    enum what what;
    unsigned pod;
    unsigned member; /* of a StatefulSet */
};

struct play {
    struct planning *g;
    int64_t now;
    uint64_t seq;
    VEC(struct happening) heap;
    VEC(unsigned) ready;   /* may go as soon as the rate allows: a heap */
    VEC(unsigned) pending; /* successors that fit nowhere */
    bool hopeful;          /* some of them might when another pod has left */
    double tokens;
    int64_t tokens_at;
    bool token_due;
    unsigned begun, out, done; /* nodes */
    size_t most;
    const unsigned *order;
    size_t from;        /* in it: those before have begun */
    unsigned *zone_out; /* nodes out, by zone */
    unsigned zones;     /* with nodes out */
    unsigned exclusive; /* nodes out of which only one may be */
    bool greedy;
    bool as_given; /* nodes begin in their order, even those that are never done */
    int64_t last;  /* a node was done */
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

static void later(struct play *p, int64_t at, enum what what, unsigned pod) {
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
                       .d = old->d,
                       .back = old->back,
                       .order = old->order,
                       .grace = old->grace,
                       .set = old->set,
                       .member = old->member,
                       .leaves_at = PLAN_NO_TIME,
                       .delete_at = old->delete_at,
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
    if (g->room)
        to = room_place(g->room, pod->pod, pod->back == BACK_WHEN_GONE, &pod->copy);
    if (!to) {
        pod->homeless = true;
        if (pod->budget >= 0)
            g->budgets.p[pod->budget]->homeless = (int)i;
        p->hopeful |= room_waits_for_others(g->room);
        return false;
    }
    pod->homeless = false;
    pod->to = *to ? to : NULL;
    pod->returned = p->now + pod->d.start;
    if (pod->set)
        pod->turn = pod->set->members.p[pod->member].turn;
    later(p, pod->returned, POD_BACK, i);
    if (*to)
        bounce(p, i, to); /* pod is not valid after this */
    return true;
}

static void make_successor(struct play *p, unsigned i) {
    if (place(p, i))
        return;
    *vec_push(&p->pending) = i;
    struct ppod *pod = &p->g->pods.p[i];
    pod->local = room_is_local(p->g->room);
}

/* Something has become free. */
static void try_pending(struct play *p) {
    size_t kept = 0;
    if (p->pending.len > PENDING_MAX)
        return;
    p->hopeful = false;
    for (size_t k = 0; k < p->pending.len; k++)
        if (!place(p, p->pending.p[k]))
            p->pending.p[kept++] = p->pending.p[k];
    p->pending.len = kept;
}

/* --- StatefulSets that make one after the other --- */

static void member_is(struct ppod *pod, unsigned i, enum member_state state) {
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
        make_successor(p, (unsigned)i);
}

static void make_in_order(struct play *p, unsigned i) {
    struct ppod *pod = &p->g->pods.p[i];
    struct pset *set = pod->set;
    unsigned member = pod->member;
    if (!set) {
        make_successor(p, i);
        return;
    }
    member_is(pod, i, MEMBER_GONE);
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

/* --- pods --- */

/* Nothing more is asked to leave a node that was given up. */
static bool is_late(const struct play *p, unsigned pod) {
    return p->g->nodes.p[p->g->pods.p[pod].node].state == PNODE_LATE;
}

/* As in the lists that drains go through, which are by name. A successor is called like its pod,
 * but for what nobody can tell: of pods of one owner, which of the names it draws comes first. */
static bool named_before(const struct planning *g, unsigned a, unsigned b) {
    const struct ppod *x = &g->pods.p[a], *y = &g->pods.p[b];
    if (!x->own_copy && !y->own_copy)
        return a < b; /* the real ones are in order */
    const struct pod *p = x->own_copy ? g->pods.p[x->origin].pod : x->pod;
    const struct pod *q = y->own_copy ? g->pods.p[y->origin].pod : y->pod;
    const struct owner *o = meta_controller(&p->meta), *r = meta_controller(&q->meta);
    bool drawn = o && r && str_same(o->uid, r->uid) && x->back != BACK_WHEN_GONE;
    int c = drawn ? 0 : pod_compare(&p, &q);
    return c ? c < 0 : a < b;
}

/* Whose request is sent first, as drains do it (drain_evict.c): they go through the nodes in their
 * order, whenever there is something to send, and through the pods of each by their grace period.
 * So one that has waited for its budget is before all of the nodes after its own. */
static bool goes_before(const struct planning *g, unsigned a, unsigned b) {
    const struct ppod *x = &g->pods.p[a], *y = &g->pods.p[b];
    if (x->node != y->node)
        return g->nodes.p[x->node].place < g->nodes.p[y->node].place;
    return x->grace != y->grace ? x->grace > y->grace : named_before(g, a, b);
}

static void go_now(struct play *p, unsigned pod) {
    size_t i = p->ready.len;
    p->g->pods.p[pod].state = PPOD_READY;
    *vec_push(&p->ready) = pod;
    for (; i && goes_before(p->g, pod, p->ready.p[(i - 1) / 2]); i = (i - 1) / 2)
        p->ready.p[i] = p->ready.p[(i - 1) / 2];
    p->ready.p[i] = pod;
}

/* The first of them is taken off. */
static void pop_ready(struct play *p) {
    unsigned last = p->ready.p[--p->ready.len];
    size_t i = 0, n = p->ready.len;
    for (size_t k; (k = 2 * i + 1) < n; i = k) {
        k += k + 1 < n && goes_before(p->g, p->ready.p[k + 1], p->ready.p[k]);
        if (!goes_before(p->g, p->ready.p[k], last))
            break;
        p->ready.p[i] = p->ready.p[k];
    }
    if (n)
        p->ready.p[i] = last;
}

/* To those that wait for it, in the same order. */
static void enqueue(const struct planning *g, struct pbudget *b, unsigned pod) {
    *vec_push(&b->queue) = pod;
    size_t i = b->queue.len - 1;
    for (; i > b->head && goes_before(g, pod, b->queue.p[i - 1]); i--)
        b->queue.p[i] = b->queue.p[i - 1];
    b->queue.p[i] = pod;
}

/* Those that wait go as far as the budget allows. */
static void use_budget(struct play *p, struct pbudget *b) {
    while (b->allowed > 0 && b->head < b->queue.len) {
        unsigned i = b->queue.p[b->head++];
        if (p->g->pods.p[i].state != PPOD_WAITS || is_late(p, i))
            continue; /* a rule did not wait for it, or nobody does */
        b->allowed--;
        b->wanted--;
        p->g->pods.p[i].took = true;
        go_now(p, i);
    }
}

/* Its turn has come. */
static void turn(struct play *p, unsigned i) {
    struct ppod *pod = &p->g->pods.p[i];
    pod->first = p->now;
    if (pod->unsure) {
        pod->state = PPOD_WAITS;
        return;
    }
    if (pod->leaves_at >= 0) {
        pod->state = PPOD_LEAVING;
        pod->evicted = p->now;
        later(p, MAX_OF(pod->leaves_at, p->now), POD_GONE, i);
        return;
    }
    if (pod->budget < 0) {
        go_now(p, i);
        return;
    }
    pod->state = PPOD_WAITS;
    enqueue(p->g, p->g->budgets.p[pod->budget], i);
}

/* What its budget allows goes to those who are first, among them those of the same turn. */
static void turn_budget(struct play *p, unsigned i) {
    struct ppod *pod = &p->g->pods.p[i];
    if (pod->state != PPOD_WAITS || pod->unsure)
        return;
    use_budget(p, p->g->budgets.p[pod->budget]);
    pod->waited = pod->state == PPOD_WAITS;
    if (pod->waited && pod->delete_at >= 0)
        later(p, p->now + pod->delete_at, POD_DELETE, i);
}

/* Those of the lowest order that is left. */
static void begin_turns(struct play *p, struct pnode *n) {
    int32_t lowest = INT32_MAX;
    n->turn = 0;
    for (size_t k = 0; k < n->pods.len; k++) {
        const struct ppod *pod = &p->g->pods.p[n->pods.p[k]];
        if (pod->state == PPOD_GONE || pod->order > lowest)
            continue;
        n->turn = pod->order < lowest ? 1 : n->turn + 1;
        lowest = pod->order;
    }
    for (size_t k = 0; k < n->pods.len; k++) {
        const struct ppod *pod = &p->g->pods.p[n->pods.p[k]];
        if (pod->state == PPOD_QUEUED && pod->order == lowest)
            turn(p, n->pods.p[k]);
    }
    for (size_t k = 0; k < n->pods.len; k++) {
        const struct ppod *pod = &p->g->pods.p[n->pods.p[k]];
        if (pod->order == lowest && pod->first == p->now)
            turn_budget(p, n->pods.p[k]);
    }
}

static bool take_token(struct play *p) {
    double rate = p->g->in->opts->rate;
    if (rate <= 0) /* as fast as it goes */
        return true;
    double full = MAX_OF(rate, 1.0);
    p->tokens += (double)(p->now - p->tokens_at) / USEC_PER_SEC * rate;
    p->tokens = MIN_OF(p->tokens, full);
    p->tokens_at = p->now;
    if (p->tokens >= 1) {
        p->tokens -= 1;
        return true;
    }
    if (!p->token_due)
        later(p, p->now + (int64_t)((1 - p->tokens) / rate * USEC_PER_SEC) + 1, TOKEN, 0);
    p->token_due = true;
    return false;
}

static void run_ready(struct play *p) {
    while (p->ready.len) {
        unsigned i = p->ready.p[0];
        if (!is_late(p, i) && !take_token(p))
            return;
        pop_ready(p);
        if (is_late(p, i))
            continue;
        struct ppod *pod = &p->g->pods.p[i];
        pod->state = PPOD_LEAVING;
        pod->evicted = p->now;
        member_is(pod, i, MEMBER_LEAVES);
        later(p, p->now + pod->d.stop, POD_GONE, i);
        if (pod->back == BACK_AT_ONCE)
            make_successor(p, i);
    }
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

static void node_late(struct play *p, struct pnode *n) {
    if (n->state != PNODE_OUT)
        return;
    n->state = PNODE_LATE;
    give_back(p, n);
    for (size_t k = 0; k < n->pods.len; k++) {
        struct ppod *pod = &p->g->pods.p[n->pods.p[k]];
        if (pod->budget < 0 || pod->unsure || pod->state > PPOD_READY)
            continue;
        struct pbudget *b = p->g->budgets.p[pod->budget];
        b->wanted -= pod->state != PPOD_READY;
        b->allowed += pod->took;
        pod->took = false;
        use_budget(p, b);
    }
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
    n->left = (unsigned)n->pods.len;
    if (p->g->room)
        room_close(p->g->room, n->pub->name);
    if (n->refused)
        return;
    p->out++;
    p->zones += !p->zone_out[n->zone]++;
    p->exclusive += n->exclusive;
    p->most = MAX_OF(p->most, (size_t)p->out);
    want(p, n);
    if (p->g->in->opts->timeout > 0)
        later(p, p->now + p->g->in->opts->timeout, LATE, (unsigned)(n - p->g->nodes.p));
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
        for (size_t k = 0; k < begun.len; k++) {
            struct pnode *n = &p->g->nodes.p[begun.p[k]];
            if (n->left)
                begin_turns(p, n);
            else
                node_done(p, n);
        }
    } while (begun.len && p->out < p->g->limit);
    vec_done(&begun);
}

/* --- the play --- */

static void pod_gone(struct play *p, unsigned i) {
    struct planning *g = p->g;
    struct ppod *pod = &g->pods.p[i];
    struct pnode *n = &g->nodes.p[pod->node];
    if (g->room)
        room_gone(g->room, pod->pod, pod->own_copy);
    if (pod->finalizer) { /* it has stopped, and its node is never done */
        if (p->hopeful)
            try_pending(p);
        return;
    }
    pod->state = PPOD_GONE;
    pod->gone = p->now;
    if (pod->back == BACK_WHEN_GONE)
        make_in_order(p, i);
    if (p->hopeful)
        try_pending(p);
    n->turn--;
    n->left--;
    if (n->state != PNODE_OUT)
        return;
    if (!n->left)
        node_done(p, n);
    else if (!n->turn)
        begin_turns(p, n);
}

static void pod_back(struct play *p, unsigned i) {
    const struct ppod *pod = &p->g->pods.p[i];
    if (pod->set && pod->set->min_ready)
        later(p, p->now + pod->set->min_ready, POD_COUNTS, i);
    else if (pod->set)
        member_well(p, pod->set, pod->member, pod->turn);
    pod = &p->g->pods.p[i]; /* others may have been made */
    if (!pod->took)
        return;
    struct pbudget *b = p->g->budgets.p[pod->budget];
    b->allowed++;
    use_budget(p, b);
}

static void healed(struct play *p, struct pbudget *b) {
    if (b->short_of > 0) {
        b->short_of--;
        return;
    }
    b->allowed++;
    use_budget(p, b);
}

static void happen(struct play *p, const struct happening *h) {
    switch (h->what) {
    case POD_GONE:
        pod_gone(p, h->pod);
        break;
    case POD_BACK:
        pod_back(p, h->pod);
        break;
    case POD_DELETE:
        if (p->g->pods.p[h->pod].state == PPOD_WAITS && !is_late(p, h->pod)) {
            p->g->budgets.p[p->g->pods.p[h->pod].budget]->wanted--;
            go_now(p, h->pod);
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
    case POD_COUNTS:
        member_well(p, p->g->pods.p[h->pod].set, p->g->pods.p[h->pod].member,
                    p->g->pods.p[h->pod].turn);
        break;
    case MEMBER:
        member_well(p, p->g->sets.p[h->pod], h->member, 0);
        break;
    }
}

static void reset(struct planning *g) {
    g->pods.len = g->own_pods;
    plan_sets_reset(g);
    for (size_t i = 0; i < g->pods.len; i++) {
        struct ppod *p = &g->pods.p[i];
        p->state = PPOD_QUEUED;
        p->waited = p->homeless = p->took = p->local = false;
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
    }
}

int64_t plan_play(struct planning *g, const unsigned *order, bool greedy) {
    struct play p = {.g = g,
                     .heap = VEC_INIT,
                     .ready = VEC_INIT,
                     .pending = VEC_INIT,
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
            later(&p, g->budgets.p[i]->heals.p[k], HEALED, (unsigned)i);
    for (size_t i = 0; i < g->sets.len; i++)
        for (size_t k = 0; k < g->sets.p[i]->members.len; k++)
            if (g->sets.p[i]->members.p[k].well_at >= 0)
                later_of(&p, g->sets.p[i]->members.p[k].well_at, MEMBER, (unsigned)i, (unsigned)k);
    admit(&p);
    run_ready(&p);
    while (next(&p, &h)) {
        p.now = h.at;
        happen(&p, &h);
        while (p.heap.len && p.heap.p[0].at == p.now && next(&p, &h))
            happen(&p, &h);
        admit(&p);
        run_ready(&p);
    }
    g->most = p.most;
    g->done = p.done;
    free(p.zone_out);
    vec_done(&p.heap);
    vec_done(&p.ready);
    vec_done(&p.pending);
    return p.last;
}
