/* What is chance: which of several pods that leave at the same time gets the last place, or the
 * last disruption of a budget; how long each takes to stop. A drain is played through several times
 * with other chances: what comes out each time is certain as far as anybody can tell, what does not
 * is told as what it is.
 *
 * And what follows from it: nodes that go together may keep each other from getting through, where
 * fewer at a time would. */
#include <stdlib.h>
#include <string.h>

#include "engine/plan_internal.h"

enum {
    TRIES = 100,         /* what happens once in fifty times is seen as well */
    TRIES_LEAST = 8,     /* fewer say little; more are not needed where there is enough of all */
    WORK = 4000000,      /* questions and pods put, for all of them: half a second */
    BETTER_WORK = 20000, /* up to so many for one, other limits are tried as well */
    BETTER_NODES = 64,
    QUARTER = 4,
};

/* A play asks all nodes for each pod, in a picture that all pods of the cluster are put into. */
static size_t work_of(const struct planning *g) {
    const struct cluster *c = g->in->cluster;
    return store_len(c->pods) + store_len(c->nodes) * (10 + g->own_pods) + 1;
}

unsigned plan_tries(const struct planning *g) {
    size_t tries = WORK / work_of(g);
    return tries < TRIES_LEAST ? 0 : (unsigned)MIN_OF(tries, (size_t)TRIES);
}

/* --- what differs from time to time --- */

/* Who of those that take as long as each other is first is told by names; who takes how long, by
 * this. */
enum pace {
    PACE_BY_POD,   /* each by itself: nodes end one after the other, in any order */
    PACE_BY_OWNER, /* those of an owner the same, as they mostly do: nodes with the same pods end
                      at the same moment, and the next begin together */
    PACE_OF_ALL,   /* all by the same factor */
    PACES,
};

/* What a server takes, from the cordon of a node until the first of its pods is asked: four
 * requests, one after the other (cli/rehearse_run.c), by how busy it is. Meanwhile the next node
 * may be cordoned. */
static const int64_t lags[] = {0, MSEC(400), SEC(2)};

/* Those of one owner draw the same. */
static struct prng drawn_for(const struct pod *pod, uint64_t seed) {
    const struct owner *o = meta_controller(&pod->meta);
    const char *uid = o ? strna(o->uid) : strna(pod->meta.uid);
    return (struct prng){seed ^ hash_bytes(uid, strlen(uid))};
}

static struct pod_durations draw_times(struct pod_durations d, struct prng *random) {
    /* In thousandths: of two that are assumed to take as long, both do. */
    int64_t stop = prng_range(random, 100, 3000), start = prng_range(random, 500, 2000);
    d.stop = d.stop / 1000 * stop;
    d.start = d.start / 1000 * start;
    return d;
}

/* Where time decides who is given up, what is assumed is not made worse. */
void plan_draw(struct planning *g) {
    bool any = g->chance && !g->timed;
    enum pace pace = any ? (enum pace)prng_range(g->chance, 0, PACES) : PACE_BY_POD;
    int64_t lag = any ? lags[prng_range(g->chance, 0, (int64_t)ARRAY_LEN(lags))] : 0;
    uint64_t seed = any ? prng_next(g->chance) : 0;
    for (size_t i = 0; i < g->own_pods; i++) {
        struct ppod *p = &g->pods.p[i];
        struct prng same =
            pace == PACE_BY_OWNER ? drawn_for(p->pod, seed) : (struct prng){.state = seed};
        p->takes = any ? draw_times(p->d, pace == PACE_BY_POD ? g->chance : &same) : p->d;
        p->luck = g->chance ? prng_next(g->chance) : 0;
    }
    for (size_t i = 0; i < g->nodes.len; i++) {
        struct pnode *n = &g->nodes.p[i];
        n->luck = g->chance ? prng_next(g->chance) : 0;
        n->lag = any ? prng_range(g->chance, 0, lag + 1) : 0;
    }
}

/* --- those who make pods anew --- */

/* Pods of one owner and one template. */
struct alike {
    const char *uid;
    const void *spec, *labels;
    int number;
};

static uint32_t alike_hash(const void *entry) {
    const struct alike *a = entry;
    return hash_more(hash_bytes(&a->spec, sizeof a->spec), &a->labels, sizeof a->labels);
}

static bool alike_equal(const void *entry, const void *key) {
    const struct alike *a = entry, *b = key;
    return a->spec == b->spec && a->labels == b->labels && str_same(a->uid, b->uid);
}

static const struct htab_ops alike_ops = {alike_hash, alike_equal};

static void find_owners(struct planning *g) {
    struct htab all;
    struct alike *a;
    htab_init(&all, &alike_ops);
    for (size_t i = 0; i < g->own_pods; i++) {
        struct ppod *p = &g->pods.p[i];
        const struct owner *o = p->back == BACK_AT_ONCE ? meta_controller(&p->pod->meta) : NULL;
        if (!o)
            continue;
        struct alike key = {.uid = o->uid, .spec = p->pod->spec, .labels = p->pod->meta.labels};
        a = htab_find(&all, alike_hash(&key), &key);
        if (!a) {
            a = xnew(struct alike);
            *a = key;
            a->number = (int)g->owners.len;
            htab_insert(&all, a);
            *vec_push(&g->owners) = (struct powner){0};
        }
        p->owner = a->number;
    }
    for (uint32_t i = 0; (a = htab_next(&all, &i));)
        free(a);
    htab_done(&all);
}

static void note_owners(struct planning *g) {
    for (size_t i = 0; i < g->owners.len; i++)
        g->owners.p[i].homeless = 0;
    for (size_t i = 0; i < g->pods.len; i++) {
        const struct ppod *p = &g->pods.p[i];
        if (p->owner >= 0)
            g->owners.p[p->owner].homeless += p->homeless;
    }
    for (size_t i = 0; i < g->owners.len; i++) {
        struct powner *o = &g->owners.p[i];
        o->least = g->tries ? MIN_OF(o->least, o->homeless) : o->homeless;
        o->most = g->tries ? MAX_OF(o->most, o->homeless) : o->homeless;
    }
}

/* --- tries --- */

/* What became of the successor; of one that had to go once more, of the last. */
static void note_successor(struct planning *g, const struct ppod *last, struct ppod *real) {
    if (last->state != PPOD_GONE || (last != real && real->state != PPOD_GONE))
        return;
    bool unmade = plan_set_keeper(g, last);
    real->tries_unmade += unmade;
    real->tries_homeless += !unmade && last->homeless;
}

/* Of the last play. True: something was short, and somebody else might have got it. */
static bool note(struct planning *g) {
    bool scarce = false;
    for (size_t i = 0; i < g->nodes.len; i++) {
        struct pnode *n = &g->nodes.p[i];
        scarce |= n->ends == PLAN_NO_TIME;
        n->tries_done += n->ends != PLAN_NO_TIME;
        n->tries_stuck += n->state == PNODE_OUT;
    }
    for (size_t i = 0; i < g->own_pods; i++) {
        struct ppod *p = &g->pods.p[i];
        scarce |= p->homeless;
        p->tries_gone += p->state == PPOD_GONE;
        p->tries_left += p->state == PPOD_WAITS;
        note_successor(g, p, p);
    }
    for (size_t i = g->own_pods; i < g->pods.len; i++)
        note_successor(g, &g->pods.p[i], &g->pods.p[g->pods.p[i].origin]);
    note_owners(g);
    return scarce;
}

static void forget(struct planning *g) {
    for (size_t i = 0; i < g->nodes.len; i++)
        g->nodes.p[i].tries_done = g->nodes.p[i].tries_stuck = 0;
    for (size_t i = 0; i < g->own_pods; i++) {
        struct ppod *p = &g->pods.p[i];
        p->tries_gone = p->tries_left = p->tries_homeless = p->tries_unmade = 0;
    }
}

static bool play_once(struct planning *g, const unsigned *order, bool greedy) {
    plan_play_room(g, order, greedy);
    bool scarce = note(g);
    room_free(g->room);
    g->room = NULL;
    g->tries++;
    return scarce;
}

size_t plan_chance(struct planning *g, const unsigned *order, bool greedy, unsigned tries) {
    struct prng random = {.state = 2};
    size_t sure = 0;
    if (tries && !g->owners.len)
        find_owners(g);
    forget(g);
    g->tries = 0;
    if (!tries)
        return g->nodes.len;
    bool scarce = play_once(g, order, greedy); /* the one that is told */
    g->chance = &random;
    for (unsigned i = 1; i < tries && (scarce || i < TRIES_LEAST); i++)
        scarce |= play_once(g, order, greedy);
    g->chance = NULL;
    g->scarce |= scarce;
    for (size_t i = 0; i < g->nodes.len; i++)
        sure += g->nodes.p[i].tries_done == g->tries;
    return sure;
}

/* --- fewer at a time --- */

/* Nodes that get through for certain with so many at a time. */
static size_t sure_with(struct planning *g, unsigned limit) {
    bool greedy;
    g->limit = limit;
    unsigned *order = plan_order(g, &greedy);
    plan_order_settle(g, order, &greedy);
    size_t sure = plan_chance(g, order, greedy, plan_tries(g));
    free(order);
    return sure;
}

static size_t never_done(const struct planning *g) {
    size_t n = 0;
    for (size_t i = 0; i < g->nodes.len; i++)
        n += g->nodes.p[i].hopeless;
    return n;
}

/* What is known of the plan itself, while others are tried. */
struct noted {
    unsigned tries;
    struct noted_node {
        unsigned done, stuck;
    } * nodes;
    struct noted_pod {
        unsigned gone, left, homeless, unmade;
    } * pods;
    struct powner *owners;
};

static struct noted save(const struct planning *g) {
    struct noted n = {g->tries, xcalloc(g->nodes.len + 1, sizeof *n.nodes),
                      xcalloc(g->own_pods + 1, sizeof *n.pods),
                      xcalloc(g->owners.len + 1, sizeof *n.owners)};
    for (size_t i = 0; i < g->owners.len; i++)
        n.owners[i] = g->owners.p[i];
    for (size_t i = 0; i < g->nodes.len; i++)
        n.nodes[i] = (struct noted_node){g->nodes.p[i].tries_done, g->nodes.p[i].tries_stuck};
    for (size_t i = 0; i < g->own_pods; i++) {
        const struct ppod *p = &g->pods.p[i];
        n.pods[i] =
            (struct noted_pod){p->tries_gone, p->tries_left, p->tries_homeless, p->tries_unmade};
    }
    return n;
}

static void restore(struct planning *g, struct noted *n) {
    g->tries = n->tries;
    for (size_t i = 0; i < g->nodes.len; i++) {
        g->nodes.p[i].tries_done = n->nodes[i].done;
        g->nodes.p[i].tries_stuck = n->nodes[i].stuck;
    }
    for (size_t i = 0; i < g->own_pods; i++) {
        struct ppod *p = &g->pods.p[i];
        p->tries_gone = n->pods[i].gone;
        p->tries_left = n->pods[i].left;
        p->tries_homeless = n->pods[i].homeless;
        p->tries_unmade = n->pods[i].unmade;
    }
    for (size_t i = 0; i < g->owners.len; i++)
        g->owners.p[i] = n->owners[i];
    free(n->nodes);
    free(n->pods);
    free(n->owners);
}

/* Half as many, a quarter, or one: the most that get as many through. */
void plan_better(struct planning *g, size_t sure) {
    unsigned before = g->limit, limit = MIN_OF(g->limit, (unsigned)g->nodes.len);
    unsigned fewer[] = {limit / 2, limit / QUARTER, 1};
    size_t best = sure, could = g->nodes.len - never_done(g);
    if (limit < 2 || !g->tries || sure >= could || g->nodes.len > BETTER_NODES ||
        work_of(g) > BETTER_WORK)
        return;
    struct noted noted = save(g);
    for (size_t i = 0; i < ARRAY_LEN(fewer) && best < could; i++) {
        if (!fewer[i] || (i && fewer[i] == fewer[i - 1]))
            continue;
        size_t with = sure_with(g, fewer[i]);
        if (with <= best)
            continue;
        best = with;
        g->out->better_limit = fewer[i];
        g->out->better_nodes = with;
    }
    g->limit = before;
    restore(g, &noted);
}
