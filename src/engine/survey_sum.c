/* A survey in a few lines. */
#include "engine/survey_sum.h"

#include <stdlib.h>
#include <string.h>

#include "base/htab.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "base/vec.h"

/* A drain that waits writes nothing for as long as nothing changes, so silence proves little. After
 * this long somebody should look whether it is still there. */
#define QUIET_AFTER SEC(15 * 60)

/* One of the things that are put together: which one is told by its key. */
struct fold {
    char *key;
    uint32_t hash;
    VEC(const char *) nodes;
    union {
        struct survey_sum_blocker blocker;
        struct survey_sum_wave wave;
        struct survey_sum_nodes nodes;
        struct survey_sum_lock lock;
        struct survey_sum_left left;
    } u;
};

struct folds {
    struct htab table;
    VEC(struct fold *) list;
    uint32_t seed;
};

static uint32_t fold_hash(const void *entry) {
    return ((const struct fold *)entry)->hash;
}

static bool fold_equal(const void *entry, const void *key) {
    return streq(((const struct fold *)entry)->key, key);
}

static const struct htab_ops fold_ops = {fold_hash, fold_equal};

static void folds_init(struct folds *f) {
    *f = (struct folds){.seed = hash_seed()}; /* names come from the cluster */
    htab_init(&f->table, &fold_ops);
}

static void folds_done(struct folds *f) {
    for (size_t i = 0; i < f->list.len; i++) {
        free(f->list.p[i]->key);
        vec_done(&f->list.p[i]->nodes);
        free(f->list.p[i]);
    }
    vec_done(&f->list);
    htab_done(&f->table);
}

/* The one of that key, to which the node is added; `*new` when it is the first of it. */
static struct fold *fold(struct folds *f, const char *key, const char *node, bool *new) {
    uint32_t hash = hash_more(f->seed, key, strlen(key));
    struct fold *found = htab_find(&f->table, hash, key);
    *new = !found;
    if (!found) {
        found = xnew(struct fold);
        found->key = xstrdup(key);
        found->hash = hash;
        htab_insert(&f->table, found);
        *vec_push(&f->list) = found;
    }
    /* Nodes come one after the other: a node that is there already is the last. */
    if (!found->nodes.len || found->nodes.p[found->nodes.len - 1] != node)
        *vec_push(&found->nodes) = node;
    return found;
}

static struct survey_names names_of(const struct fold *f, struct arena *arena) {
    struct survey_names n = {arena_alloc(arena, (f->nodes.len + 1) * sizeof(char *)), f->nodes.len};
    memcpy(n.p, f->nodes.p, f->nodes.len * sizeof(char *));
    return n;
}

static int64_t earlier(int64_t a, int64_t b) {
    return !a ? b : !b ? a : MIN_OF(a, b);
}

/* --- what is put together --- */

static bool is_gate(enum blocker_code code) {
    return code >= BLOCKER_LAST_REPLICA && code <= BLOCKER_CHECK_UNKNOWN;
}

static bool is_draining(const struct survey_node *sn) {
    return node_phase_drains(sn->phase);
}

/* As long as something is going on, what is in its way is what matters; else what would be. What
 * checks say matters always: a node that waits for one is not cordoned yet. */
static void add_blockers(struct folds *blockers, struct folds *gates, const struct survey_node *sn,
                         bool at_work) {
    for (size_t i = 0; i < sn->n_blockers; i++) {
        const struct survey_blocker *b = &sn->blockers[i];
        bool new;
        if (at_work && !is_gate(b->code) && (!is_draining(sn) || !survey_holds(b)))
            continue;
        const char *object = b->budgets ? b->budgets : b->object;
        _cleanup_free_ char *key = xasprintf("%d %s", (int)b->code, object);
        struct fold *f = fold(is_gate(b->code) ? gates : blockers, key, sn->node->meta.name, &new);
        struct survey_sum_blocker *s = &f->u.blocker;
        if (new)
            *s = (struct survey_sum_blocker){
                .code = b->code, .object = object, .message = b->message};
        s->severity = MAX_OF(s->severity, survey_severity(b));
        s->pods += b->pods;
        s->since = earlier(s->since, b->since);
    }
}

static void add_wave(struct folds *f, const struct survey_node *sn, const char *holder) {
    bool new;
    if (sn->phase < NODE_DRAINING)
        return;
    struct survey_sum_wave *w = &fold(f, holder, sn->node->meta.name, &new)->u.wave;
    if (new)
        *w = (struct survey_sum_wave){.holder = holder};
    w->phases[sn->phase]++;
    w->since = earlier(w->since, sn->phase_since);
    if (is_draining(sn))
        w->pods_left += sn->moves + sn->leaving;
}

static void add_nodes(struct folds *f, const struct survey_node *sn) {
    bool new;
    if (sn->phase == NODE_IDLE && sn->ready == NODE_READY && !sn->node->meta.deleted)
        return;
    _cleanup_free_ char *key = xasprintf("%d %d %d %s", (int)sn->ready, (int)sn->phase,
                                         sn->node->meta.deleted != 0, sn->ready_reason);
    struct survey_sum_nodes *n = &fold(f, key, sn->node->meta.name, &new)->u.nodes;
    if (new)
        *n = (struct survey_sum_nodes){.ready = sn->ready,
                                       .reason = sn->ready_reason,
                                       .phase = sn->phase,
                                       .deleting = sn->node->meta.deleted != 0};
    n->pods += sn->pods;
    n->moves += sn->moves;
    n->since = earlier(n->since, sn->phase_since);
}

static void add_lock(struct folds *f, const struct survey_node *sn, const char *holder) {
    bool new;
    int64_t since = sn->cordon.since;
    if (sn->cordon.owner == CORDON_NONE)
        return;
    for (size_t i = 0; sn->cordon.owner == CORDON_SLIPWAY && i < sn->cordon.n_holders; i++)
        since = earlier(since, sn->cordon.holders[i].since);
    struct survey_sum_lock *l = &fold(f, holder, sn->node->meta.name, &new)->u.lock;
    if (new)
        *l = (struct survey_sum_lock){.holder = holder};
    l->since = earlier(l->since, since);
}

/* A pod that is on its way out may have hours of grace, which a drain waits for in silence. One
 * that is stuck says nothing of the drain. */
static bool is_quiet(const struct survey *s, const struct survey_node *sn) {
    return is_draining(sn) && sn->heard && s->now - sn->heard > QUIET_AFTER &&
           sn->leaving == sn->stuck;
}

/* A drain that is at work keeps its marks. */
static bool is_at_work(const struct survey *s) {
    for (size_t i = 0; i < s->n; i++)
        if (is_draining(&s->nodes[i]) && !is_quiet(s, &s->nodes[i]))
            return true;
    return false;
}

static void add_left(struct folds *f, const struct survey *s, const struct survey_node *sn,
                     const char *holder, bool at_work) {
    bool new;
    if (is_quiet(s, sn)) {
        _cleanup_free_ char *key = xasprintf("d %s", holder);
        struct survey_sum_left *l = &fold(f, key, sn->node->meta.name, &new)->u.left;
        if (new)
            *l = (struct survey_sum_left){.what = LEFT_DRAIN, .holder = holder};
        l->since = MAX_OF(l->since, sn->heard);
    } else if (sn->next_mark && !at_work && !is_draining(sn)) {
        struct survey_sum_left *l = &fold(f, "m", sn->node->meta.name, &new)->u.left;
        *l = (struct survey_sum_left){.what = LEFT_MARK, .holder = ""};
    }
}

/* --- in order --- */

static int compare_blockers(const void *a, const void *b) {
    const struct survey_sum_blocker *x = a, *y = b;
    if (x->severity != y->severity)
        return (int)y->severity - (int)x->severity;
    if (x->nodes.len != y->nodes.len)
        return x->nodes.len < y->nodes.len ? 1 : -1;
    return x->code != y->code ? (int)x->code - (int)y->code : strcmp(x->object, y->object);
}

/* What is furthest from being over first. */
static int compare_nodes(const void *a, const void *b) {
    static const int order[] = {
        [NODE_BLOCKED] = 0,  [NODE_WAITING] = 1, [NODE_DRAINING] = 2, [NODE_REBOOTING] = 3,
        [NODE_CORDONED] = 4, [NODE_DRAINED] = 5, [NODE_IDLE] = 6};
    const struct survey_sum_nodes *x = a, *y = b;
    if (x->phase != y->phase)
        return order[x->phase] - order[y->phase];
    if (x->ready != y->ready)
        return (int)y->ready - (int)x->ready;
    return strcmp(x->nodes.p[0], y->nodes.p[0]);
}

#define KEEP(folds, type, member, into, n)                                                         \
    do {                                                                                           \
        struct type *kept_ = arena_alloc(arena, ((folds).list.len + 1) * sizeof *kept_);           \
        for (size_t i_ = 0; i_ < (folds).list.len; i_++) {                                         \
            kept_[i_] = (folds).list.p[i_]->u.member;                                              \
            kept_[i_].nodes = names_of((folds).list.p[i_], arena);                                 \
        }                                                                                          \
        (into) = kept_;                                                                            \
        (n) = (folds).list.len;                                                                    \
        folds_done(&(folds));                                                                      \
    } while (0)

void survey_sum(const struct survey *s, struct arena *arena, struct survey_sum *out) {
    struct folds blockers, gates, waves, nodes, locks, left;
    struct survey_sum_blocker *found, *held;
    struct survey_sum_nodes *alike;
    folds_init(&blockers), folds_init(&gates), folds_init(&waves), folds_init(&nodes);
    folds_init(&locks), folds_init(&left);
    bool at_work = survey_drains(s), alive = is_at_work(s);
    *out = (struct survey_sum){.n = s->n};
    out->draining.p = arena_alloc(arena, (s->n + 1) * sizeof(char *));
    out->reboot.p = arena_alloc(arena, (s->n + 1) * sizeof(char *));
    for (size_t i = 0; i < s->n; i++) {
        const struct survey_node *sn = &s->nodes[i];
        const char *holder = sn->waits_for_it ? sn->waits_for_it : cordon_text(&sn->cordon, arena);
        out->phases[sn->phase]++;
        out->unready += sn->ready != NODE_READY;
        if (sn->needs_reboot)
            out->reboot.p[out->reboot.len++] = sn->node->meta.name;
        if (is_draining(sn)) {
            out->draining.p[out->draining.len++] = sn->node->meta.name;
            out->pods_left += sn->moves + sn->leaving;
        }
        add_blockers(&blockers, &gates, sn, at_work);
        add_wave(&waves, sn, *holder ? holder : "somebody else");
        add_nodes(&nodes, sn);
        add_lock(&locks, sn, holder);
        add_left(&left, s, sn, holder, alive);
    }
    KEEP(blockers, survey_sum_blocker, blocker, found, out->n_blockers);
    KEEP(gates, survey_sum_blocker, blocker, held, out->n_gates);
    KEEP(waves, survey_sum_wave, wave, out->waves, out->n_waves);
    KEEP(nodes, survey_sum_nodes, nodes, alike, out->n_nodes);
    KEEP(locks, survey_sum_lock, lock, out->locks, out->n_locks);
    KEEP(left, survey_sum_left, left, out->left, out->n_left);
    qsort(found, out->n_blockers, sizeof *found, compare_blockers);
    qsort(held, out->n_gates, sizeof *held, compare_blockers);
    qsort(alike, out->n_nodes, sizeof *alike, compare_nodes);
    out->blockers = found;
    out->gates = held;
    out->nodes = alike;
}
