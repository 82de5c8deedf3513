/* Whose turn it is in a play: which pods may be asked to go, in which order, as far as budgets and
 * the rate of evictions allow. */
#include "engine/plan_play.h"
#include "engine/podrole.h"

bool play_is_late(const struct play *p, unsigned pod) {
    const struct ppod *it = &p->g->pods.p[pod];
    return it->overdue || p->g->nodes.p[it->node].state == PNODE_LATE;
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
 * So one that has waited for its budget is before all of the nodes after its own. But which of the
 * nodes that begin together is cordoned first is chance; and so is where the name stands that a
 * successor draws. */
static bool asks_before(const struct planning *g, unsigned a, unsigned b) {
    const struct ppod *x = &g->pods.p[a], *y = &g->pods.p[b];
    const struct pnode *m = &g->nodes.p[x->node], *n = &g->nodes.p[y->node];
    if (m != n && g->chance && m->begins == n->begins)
        return m->luck != n->luck ? m->luck < n->luck : m->place < n->place;
    if (m != n)
        return m->place < n->place;
    if (x->grace != y->grace)
        return x->grace > y->grace;
    bool drawn =
        (x->own_copy && x->back == BACK_AT_ONCE) || (y->own_copy && y->back == BACK_AT_ONCE);
    return drawn && g->chance && x->luck != y->luck ? x->luck < y->luck : named_before(g, a, b);
}

/* Which of the requests that are sent together the server answers first is chance as well, and
 * whose successor is made and tried first. */
static bool goes_before(const struct planning *g, unsigned a, unsigned b) {
    const struct ppod *x = &g->pods.p[a], *y = &g->pods.p[b];
    bool together = g->nodes.p[x->node].begins == g->nodes.p[y->node].begins;
    if (g->chance && together && x->luck != y->luck)
        return x->luck < y->luck;
    return asks_before(g, a, b);
}

void play_go_now(struct play *p, unsigned pod) {
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

void play_enqueue(const struct planning *g, struct pbudget *b, unsigned pod) {
    *vec_push(&b->queue) = pod;
    size_t i = b->queue.len - 1;
    for (; i > b->head && asks_before(g, pod, b->queue.p[i - 1]); i--)
        b->queue.p[i] = b->queue.p[i - 1];
    b->queue.p[i] = pod;
}

static void note_sent(struct play *p, unsigned place) {
    while (p->sent.len && p->sent.p[p->sent.len - 1].place <= place)
        p->sent.len--;
    *vec_push(&p->sent) = (struct sent){place, p->now};
}

/* The last time that a pod of a node after this place was asked; PLAN_NO_TIME: none was. */
static int64_t last_sent_after(const struct play *p, unsigned place) {
    size_t from = 0, to = p->sent.len;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (p->sent.p[mid].place > place)
            from = mid + 1;
        else
            to = mid;
    }
    return from ? p->sent.p[from - 1].at : PLAN_NO_TIME;
}

/* Of a pod that has waited until now for its budget: whether it would not have been asked before
 * without. The rate had nothing left since, and nothing for nodes after its own: those that have
 * taken of the budget wait for the rate themselves. */
static bool only_the_rate(const struct play *p, const struct ppod *pod) {
    return p->idle_till <= pod->first &&
           last_sent_after(p, p->g->nodes.p[pod->node].place) < pod->first;
}

void play_use_budget(struct play *p, struct pbudget *b) {
    while (b->allowed > 0 && b->head < b->queue.len) {
        unsigned i = b->queue.p[b->head++];
        if (p->g->pods.p[i].state != PPOD_WAITS || play_is_late(p, i))
            continue; /* a rule did not wait for it, or nobody does */
        b->allowed--;
        b->wanted--;
        p->g->pods.p[i].took = true;
        p->g->pods.p[i].rated = only_the_rate(p, &p->g->pods.p[i]);
        play_go_now(p, i);
    }
}

/* Its Deployment gets a second replica: it goes when that is ready. */
static void raise_second(struct play *p, unsigned i) {
    struct ppod *pod = &p->g->pods.p[i];
    pod->state = PPOD_WAITS;
    pod->raised = true;
    if (pod->delete_at >= 0)
        play_later(p, p->now + pod->delete_at, POD_DELETE, i);
    play_make_successor(p, i); /* pod is not valid after this */
}

/* Its turn has come. */
static void turn(struct play *p, unsigned i) {
    struct ppod *pod = &p->g->pods.p[i];
    pod->first = p->now;
    if (pod->leaves_at >= 0 && !pod->unsure) { /* by itself */
        pod->evicted = p->now;
        return;
    }
    if (pod->deadline > 0)
        play_later(p, p->now + pod->deadline, OVERDUE, i);
    if (pod->unsure) {
        pod->state = PPOD_WAITS;
        return;
    }
    if (pod->surges) {
        raise_second(p, i);
        return;
    }
    if (pod->budget < 0) {
        play_go_now(p, i);
        return;
    }
    pod->state = PPOD_WAITS;
    play_enqueue(p->g, p->g->budgets.p[pod->budget], i);
}

/* What its budget allows goes to those who are first, among them those of the same turn. */
static void turn_budget(struct play *p, unsigned i) {
    struct ppod *pod = &p->g->pods.p[i];
    if (pod->state != PPOD_WAITS || pod->unsure || pod->raised)
        return;
    play_use_budget(p, p->g->budgets.p[pod->budget]);
    pod->waited = pod->state == PPOD_WAITS;
    if (pod->waited && pod->delete_at >= 0)
        play_later(p, p->now + pod->delete_at, POD_DELETE, i);
}

void play_begin_turns(struct play *p, struct pnode *n) {
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
        if (pod->state != PPOD_GONE && pod->first < 0 && pod->order == lowest)
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
        play_later(p, p->now + (int64_t)((1 - p->tokens) / rate * USEC_PER_SEC) + 1, TOKEN, 0);
    p->token_due = true;
    return false;
}

static void note_idle(struct play *p) {
    double rate = p->g->in->opts->rate, left = p->tokens;
    p->idle_from = p->now;
    if (rate <= 0)
        return;
    left += (double)(p->now - p->tokens_at) / USEC_PER_SEC * rate;
    if (left < 1)
        p->idle_from += (int64_t)((1 - left) / rate * USEC_PER_SEC) + 1;
}

void play_run_ready(struct play *p) {
    p->idle_from = INT64_MAX;
    while (p->ready.len) {
        unsigned i = p->ready.p[0];
        if (!play_is_late(p, i) && !take_token(p))
            return;
        pop_ready(p);
        if (play_is_late(p, i))
            continue;
        struct ppod *pod = &p->g->pods.p[i];
        pod->state = PPOD_LEAVING;
        pod->evicted = p->now;
        note_sent(p, p->g->nodes.p[pod->node].place);
        play_member_is(pod, i, MEMBER_LEAVES);
        int64_t gone = p->now + pod->takes.stop;
        if (pod->force_at >= 0)
            gone = MAX_OF(MIN_OF(gone, pod->first + pod->force_at), p->now);
        play_later(p, gone, POD_GONE, i);
        if (pod->back == BACK_AT_ONCE && !pod->raised)
            play_make_successor(p, i);
    }
    note_idle(p);
}
