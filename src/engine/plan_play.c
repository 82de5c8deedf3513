/* Plays a drain through, in time that is computed: budgets are spent and given back, nodes begin
 * when there is room for them. */
#include <limits.h>
#include <stdlib.h>

#include "engine/plan_internal.h"

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
};

struct happening {
    int64_t at;
    uint64_t seq; /* what was known of first comes first */
    enum what what;
    unsigned pod;
};

struct play {
    struct planning *g;
    int64_t now;
    uint64_t seq;
    VEC(struct happening) heap;
    VEC(unsigned) ready; /* may go as soon as the rate allows */
    size_t ready_from;
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

static void later(struct play *p, int64_t at, enum what what, unsigned pod) {
    struct happening h = {at, p->seq++, what, pod};
    size_t i = p->heap.len;
    *vec_push(&p->heap) = h;
    for (; i && before(&h, &p->heap.p[(i - 1) / 2]); i = (i - 1) / 2)
        p->heap.p[i] = p->heap.p[(i - 1) / 2];
    p->heap.p[i] = h;
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

/* --- pods --- */

/* Nothing more is asked to leave a node that was given up. */
static bool is_late(const struct play *p, unsigned pod) {
    return p->g->nodes.p[p->g->pods.p[pod].node].state == PNODE_LATE;
}

static void go_now(struct play *p, unsigned i) {
    p->g->pods.p[i].state = PPOD_READY;
    *vec_push(&p->ready) = i;
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
    if (pod->leaves_at >= 0) {
        pod->state = PPOD_LEAVING;
        pod->evicted = p->now;
        later(p, MAX_OF(pod->leaves_at, p->now), POD_GONE, i);
        return;
    }
    if (pod->unsure) {
        pod->state = PPOD_WAITS;
        return;
    }
    if (pod->budget < 0) {
        go_now(p, i);
        return;
    }
    struct pbudget *b = p->g->budgets.p[pod->budget];
    pod->state = PPOD_WAITS;
    *vec_push(&b->queue) = i;
    use_budget(p, b);
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
    while (p->ready_from < p->ready.len) {
        unsigned i = p->ready.p[p->ready_from];
        if (!is_late(p, i) && !take_token(p))
            return;
        p->ready_from++;
        if (is_late(p, i))
            continue;
        struct ppod *pod = &p->g->pods.p[i];
        pod->state = PPOD_LEAVING;
        pod->evicted = p->now;
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
        make_successor(p, i);
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
    struct ppod *pod = &p->g->pods.p[i];
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
    }
}

static void reset(struct planning *g) {
    g->pods.len = g->own_pods;
    for (size_t i = 0; i < g->pods.len; i++) {
        struct ppod *p = &g->pods.p[i];
        p->state = PPOD_QUEUED;
        p->waited = p->homeless = p->took = p->local = false;
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
